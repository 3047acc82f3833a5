/*
** Thread kernels to text: the function, its arguments, and the launch's side of these. What a
** thread does stands in threads_lanes.c; the three modes in threads_map.c, threads_row.c, threads_col.c.
*/
#include "render/threads.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "render/threads_int.h"

int tt__threads_lane_axis(const tt_kernel *k) { return k->mode == TT_MODE_COL ? k->nouter - 1 : k->naxes - 1; }

void tt__threads_extent(const tt_kernel *k, const int64_t *len, tt_extent *out) {
  int lane = tt__threads_lane_axis(k);
  tt_extent x = {.outer = 1, .lanes = lane >= 0 ? len[lane] : 1, .points = 1, .per = 1, .chunks = 1, .parts = 0};
  for (int i = 0; i < k->nouter; i++) x.outer *= i == lane ? 1 : len[i];
  for (int i = k->nouter; i < k->naxes; i++) x.points *= i == lane ? 1 : len[i];
  if (k->mode == TT_MODE_ROW) {
    x.per = x.lanes < TT_CHUNK ? TT_CHUNK / x.lanes : 1;
    x.chunks = k->naxes - k->nouter == 1 ? (x.lanes + TT_CHUNK - 1) / TT_CHUNK : (x.points + x.per - 1) / x.per;
    x.parts = x.outer * x.chunks;
  } else if (k->mode == TT_MODE_COL) {
    x.per = TT_CHUNK_COL;
    x.chunks = (x.points + x.per - 1) / x.per;
    x.parts = x.outer * x.lanes * x.chunks;
  }
  *out = x;
}

int64_t tt__threads_shift(const tt_kernel *k, const tt_lowered *l) {
  enum { LINE = 32 }; /* elements; of 4 bytes, 128 bytes */
  int store = -1;
  if (k->mode != TT_MODE_MAP || k->checked || k->naxes == 0) return 0;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op == TT_K_LOADX || q->op == TT_K_STOREX) return 0;
    if (q->op == TT_K_STORE && k->access[q->slot].lane == TT_LANE_UNIT) store = q->slot;
  }
  if (store < 0) return 0;
  for (int x = 0; x < k->naxes - 1; x++)
    if (l->len[x] > 1 && l->step[store * k->naxes + x] % LINE != 0) return 0;
  return (l->off[store] % LINE + LINE) % LINE;
}

/* ---- arguments. ORDER ARGS: put_struct, tt__threads_args_size and tt__threads_args name the same fields. */

enum { ARGS_EXTRA = 9 }; /* work, fault, the six numbers of tt_extent, the shift */

size_t tt__threads_args_size(const tt_kernel *k) {
  size_t words = (size_t)k->nbuf * (k->checked ? 2 : 1) + (size_t)k->naxes + (size_t)k->naccess;
  return 8 * (words + (size_t)k->naccess * k->naxes + (size_t)k->nscalar + ARGS_EXTRA);
}

void tt__threads_args(const tt_kernel *k, const tt_lowered *l, const tt_pass *p, void *const *buf,
                      const int64_t *buf_len, const tt_scalar *scalar, void *work, void *fault, void *args) {
  uint64_t *w = args;
  tt_extent x;
  (void)p;
  tt__threads_extent(k, l->len, &x);
  for (int b = 0; b < k->nbuf; b++) *w++ = (uint64_t)(uintptr_t)buf[b];
  for (int b = 0; k->checked && b < k->nbuf; b++) *w++ = (uint64_t)buf_len[b];
  for (int i = 0; i < k->naxes; i++) *w++ = (uint64_t)l->len[i];
  for (int a = 0; a < k->naccess; a++) *w++ = (uint64_t)l->off[a];
  for (int i = 0; i < k->naccess * k->naxes; i++) *w++ = (uint64_t)l->step[i];
  for (int s = 0; s < k->nscalar; s++) *w++ = scalar[s].bits[0];
  *w++ = (uint64_t)(uintptr_t)work;
  *w++ = (uint64_t)(uintptr_t)fault;
  const int64_t more[] = {x.outer, x.lanes, x.points, x.per, x.chunks, x.parts, tt__threads_shift(k, l)};
  memcpy(w, more, sizeof more);
  assert((size_t)((char *)(w + 7) - (char *)args) == tt__threads_args_size(k));
}

static void put_array(tt_str *out, const char *type, const char *name, int n) {
  if (n > 0) tt__str_addf(out, "  %s %s[%d];\n", type, name, n);
}

static void put_struct(tt_thread_emit *t) {
  const tt_kernel *k = t->e.k;
  tt_str *out = t->e.out;
  tt__str_add(out, "typedef struct {\n");
  put_array(out, "void *", "buf", k->nbuf);
  put_array(out, "tt_i64", "buf_len", k->checked ? k->nbuf : 0);
  put_array(out, "tt_i64", "len", k->naxes);
  put_array(out, "tt_i64", "off", k->naccess);
  put_array(out, "tt_i64", "step", k->naccess * k->naxes);
  put_array(out, "tt_scalar", "scalar", k->nscalar);
  tt__str_addf(out,
               "  void *work; tt_kfault *fault;\n"
               "  tt_i64 outer, lanes, points, per, chunks, parts, shift;\n} %s_args;\n",
               t->name);
}

static void put_pack(tt_thread_emit *t, int type) {
  size_t size = t->v->vec * tt__dtype_size((tt_dtype)type);
  tt__str_addf(t->e.out, "typedef struct TT_ALIGNED(%d) { %s v[%d]; } %s_%s;\n", size > 16 ? 16 : (int)size,
               tt__type_word(type), t->v->vec, t->name, tt__dtypes[type].suffix);
}

/* A struct of `vec` elements for each type that is loaded, stored or staged so. */
static void put_packs(tt_thread_emit *t) {
  uint32_t done = 0;
  for (int a = 0; t->v->vec > 1 && !t->v->tiled && a < t->e.k->naccess; a++) {
    int type = t->e.k->access[a].dtype;
    if (t->e.k->access[a].buf < 0 || done & 1u << type) continue;
    put_pack(t, type);
    done |= 1u << type;
  }
  for (int i = 0; t->v->vec > 1 && t->v->staged && i < t->e.k->ninst; i++) {
    int type = t->e.k->inst[i].from;
    if (t->e.k->inst[i].op != TT_K_REDUCE || done & 1u << type) continue;
    put_pack(t, type);
    done |= 1u << type;
  }
}

/* ---- the function */

static bool is_placed(const tt_emit *e, int a) { return e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, -1); }

static void put_pointers(tt_emit *e) {
  const tt_kernel *k = e->k;
  for (int a = 0; a < k->naccess; a++) {
    const tt_kaccess *acc = &k->access[a];
    char from[64];
    if (acc->buf < 0) continue;
    snprintf(from, sizeof from, e->d->buffer, (int)acc->buf);
    const char *type = tt__type_word(acc->dtype);
    tt__emit_line(e, "%s%s *const p%d = (%s%s *)%s;", e->d->global, type, a, e->d->global, type, from);
  }
  for (int a = 0; a < k->naccess; a++)
    if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY && e->lane_axis < 0)
      tt__emit_line(e, "const tt_ix s%d = 0;", a);
    else if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY)
      tt__emit_line(e, "const tt_ix s%d = (tt_ix)args->step[%d];", a, a * k->naxes + e->lane_axis);
}

/*
** How many blocks there should be room for. Memory is waited for least where many threads wait, so quick kernels are
** held to 40 registers, as are rows of few elements a thread; rows (whose blocks are large) and slow kernels to 64.
*/
static void put_bounds(const tt_thread_emit *t, tt_str *out) {
  const tt_kernel *k = t->e.k;
  bool quick = k->mode == TT_MODE_MAP && !t->v->tiled && !tt__render_needs_math(k);
  for (int a = 0; a < k->naccess; a++) quick &= tt__dtype_size((tt_dtype)k->access[a].dtype) <= 4 && k->naccess <= 6;
  int block = k->mode == TT_MODE_ROW ? 1 << t->v->block : 256, most = 1024 / block;
  bool small = t->v->kept && t->v->staged && tt__threads_each(t->v) <= 16 && k->naccess <= 6 && block < 1024;
  for (int a = 0; a < k->naccess; a++) small &= tt__dtype_size((tt_dtype)k->access[a].dtype) <= 4;
  tt__str_addf(out, "%sTT_BOUNDS(%d, %d) ", t->e.d->kernel, block,
               quick      ? 6
               : small    ? 1536 / block
               : most < 4 ? most
                          : 4);
}

static void put_function(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt_str *out = e->out;
  put_struct(t);
  put_packs(t);
  tt__str_addf(out, "#define tt_ix %s\n#define tt_uix %s\n#define args (%sgiven)\n", t->v->wide ? "tt_i64" : "tt_i32",
               t->v->wide ? "tt_u64" : "tt_u32", t->v->far ? "" : "&");
  put_bounds(t, out);
  tt__str_addf(out, "%s(const %s_args %sgiven) {\n", t->name, t->name, t->v->far ? "*" : "");
  e->indent = 1;
  tt__emit_line(e, "const tt_ix outer = (tt_ix)args->outer, nlane = (tt_ix)args->lanes;");
  put_pointers(e);
  tt__emit_uniform(e, (tt_region){TT_SCOPE_CONST, 0});
  switch (e->k->mode) {
    case TT_MODE_MAP:
      tt__threads_map(t);
      break;
    case TT_MODE_ROW:
      if (t->v->part == TT_PART_FINISH)
        tt__threads_row_finish(t);
      else
        tt__threads_row(t);
      break;
    default:
      tt__threads_col(t);
      break;
  }
  tt__str_add(out, "}\n#undef tt_ix\n#undef tt_uix\n#undef args\n");
}

tt_code tt__threads_render(const tt_kernel *k, const tt_dialect *d, const tt_variant *v, const char *name, tt_str *out,
                           tt_error *err) {
  assert(!k->serial || v->scatter);
  TT_TRY(tt__check_words(k, d, err));
  size_t n = (size_t)k->ninst, size = 5 * n + (size_t)k->naccess + 1;
  bool *flags = tt__mem_zalloc(size);
  if (!flags) return tt__fail_memory(err, size);
  tt_thread_emit t = {.v = v, .name = name, .stride = "TT_BX"};
  t.loaded = flags + 5 * n;
  tt_emit *e = &t.e;
  *e = (tt_emit){.k = k, .d = d, .out = out, .at = "w", .uniform = flags, .kept = flags + n, .seen = flags + 2 * n};
  e->crosses = flags + 3 * n;
  e->stage = (uint8_t *)(flags + 4 * n);
  e->nrow = k->naxes - k->nouter;
  e->lane_axis = tt__threads_lane_axis(k);
  tt__emit_classify(e);
  put_function(&t);
  tt__mem_free(flags, size);
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}
