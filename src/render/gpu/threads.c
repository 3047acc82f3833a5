/*
** Thread kernels to text: the function, its arguments, and the launch's side of these. What a
** thread does stands in gpu/lanes.c; the three modes in gpu/map.c, gpu/row.c, gpu/col.c.
*/
#include "render/gpu/threads.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "render/gpu/threads_int.h"

int tt__threads_lane_axis(const tt_kernel *k) { return k->mode == TT_MODE_COL ? k->nouter - 1 : k->naxes - 1; }

void tt__threads_extent(const tt_kernel *k, const int64_t *len, tt_extent *out) {
  for (int i = 0; i < k->naxes; i++) assert(len[i] >= 1);
  assert(k->nouter <= k->naxes);
  int lane = tt__threads_lane_axis(k);
  tt_extent x = {.outer = 1, .lanes = lane >= 0 ? len[lane] : 1, .points = 1, .per = 1, .chunks = 1, .parts = 0};
  for (int i = 0; i < k->nouter; i++) x.outer *= i == lane ? 1 : len[i];
  for (int i = k->nouter; i < k->naxes; i++) x.points *= i == lane ? 1 : len[i];
  if (k->mode == TT_MODE_ROW) {
    x.per = tt__chunk_lines(x.lanes);
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

/* ---- arguments. ORDER ARGS: put_struct, tt__threads_args_size, tt__threads_addresses and tt__threads_args name the
** same fields, addresses first. */

enum { ARGS_EXTRA = 9 }; /* work, fault, the six numbers of tt_extent, the shift */

size_t tt__threads_args_size(const tt_kernel *k) {
  size_t words = (size_t)k->nbuf * (k->checked ? 2 : 1) + (size_t)k->naxes + (size_t)k->naccess;
  return 8 * (words + (size_t)k->naccess * k->naxes + (size_t)k->nscalar + ARGS_EXTRA);
}

int tt__threads_addresses(const tt_kernel *k) { return k->nbuf + 2; }

void tt__threads_args(const tt_kernel *k, const tt_lowered *l, const tt_pass *p, void *const *buf,
                      const int64_t *buf_len, const tt_scalar *scalar, void *work, void *fault, void *args) {
  assert(k->nscalar == 0 || scalar);
  uint64_t *w = args;
  tt_extent x;
  (void)p;
  tt__threads_extent(k, l->len, &x);
  for (int b = 0; b < k->nbuf; b++) *w++ = (uint64_t)(uintptr_t)buf[b];
  *w++ = (uint64_t)(uintptr_t)work;
  *w++ = (uint64_t)(uintptr_t)fault;
  for (int b = 0; k->checked && b < k->nbuf; b++) *w++ = (uint64_t)buf_len[b];
  for (int i = 0; i < k->naxes; i++) *w++ = (uint64_t)l->len[i];
  for (int a = 0; a < k->naccess; a++) *w++ = (uint64_t)l->off[a];
  for (int i = 0; i < k->naccess * k->naxes; i++) *w++ = (uint64_t)l->step[i];
  for (int s = 0; s < k->nscalar; s++) *w++ = scalar[s].bits[0];
  const int64_t more[] = {x.outer, x.lanes, x.points, x.per, x.chunks, x.parts, tt__threads_shift(k, l)};
  memcpy(w, more, sizeof more);
  assert((size_t)((char *)(w + 7) - (char *)args) == tt__threads_args_size(k));
}

/* ---- tables. ORDER ROW: put_table, tt__threads_row_size and tt__threads_row_blocks name the same fields. */

enum { ROW_BLOCK = 256 }; /* threads */

bool tt__threads_joins(const tt_kernel *k, const tt_lowered *l, const tt_cut *cut, tt_pass *out) {
  assert(cut->npass >= 1);
  *out = cut->pass[0];
  const tt_variant *v = &out->variant;
  tt_extent x;
  tt__threads_extent(k, l->len, &x);
  if (k->mode != TT_MODE_MAP || k->checked || cut->npass != 1 || cut->work_bytes) return false;
  if (v->tiled || v->far || v->loops) return false;
  if (v->vec == 1 && v->unroll == 1 && x.outer == 1) { /* its text is for blocks of all sizes */
    out->grid.block[0] = ROW_BLOCK;
    out->grid.grid[0] = (uint32_t)((x.lanes + ROW_BLOCK - 1) / ROW_BLOCK);
  }
  return out->grid.grid[1] == 1;
}

size_t tt__threads_row_size(const tt_kernel *k) { return tt__threads_args_size(k) + 16; }

void tt__threads_row_blocks(const tt_kernel *k, int64_t first, int64_t blocks, void *row) {
  assert(first >= 0 && blocks > 0);
  const int64_t more[] = {first, blocks};
  memcpy((char *)row + tt__threads_args_size(k), more, sizeof more);
}

static void put_array(tt_str *out, const char *type, const char *name, int n) {
  if (n > 0) tt__str_addf(out, "  %s %s[%d];\n", type, name, n);
}

static void put_struct(tt_thread_emit *t) {
  const tt_kernel *k = t->e.k;
  tt_str *out = t->e.out;
  tt__str_add(out, "typedef struct {\n");
  put_array(out, "TT_ADDRESS(void)", "buf", k->nbuf);
  tt__str_add(out, "  TT_ADDRESS(void) work; TT_ADDRESS(tt_kfault) fault;\n");
  put_array(out, "tt_i64", "buf_len", k->checked ? k->nbuf : 0);
  put_array(out, "tt_i64", "len", k->naxes);
  put_array(out, "tt_i64", "off", k->naccess);
  put_array(out, "tt_i64", "step", k->naccess * k->naxes);
  put_array(out, "tt_scalar", "scalar", k->nscalar);
  tt__str_addf(out, "  tt_i64 outer, lanes, points, per, chunks, parts, shift;\n} %s_args;\n", t->name);
}

static void put_table(tt_thread_emit *t) {
  const tt_variant *v = t->v;
  if (!v->many) return;
  tt__str_addf(t->e.out, "typedef struct { %s_args own; tt_i64 first, blocks; } %s_row;\n", t->name, t->name);
  if (v->far)
    tt__str_addf(t->e.out, "typedef struct { tt_i64 n; const %s_row *row; } %s_table;\n", t->name, t->name);
  else
    tt__str_addf(t->e.out, "typedef struct { tt_i64 n; %s_row row[%d]; } %s_table;\n", t->name, v->many, t->name);
}

/* The row of a block, what the text calls its arguments, and the number of the block among those of the row. */
static void put_row(tt_emit *e) {
  tt__emit_line(e, "tt_i32 row = 0;");
  tt__emit_open(e, "for (tt_i32 end = (tt_i32)given.n; end - row > 1;)");
  tt__emit_line(e, "const tt_i32 mid = row + (end - row) / 2;");
  tt__emit_line(e, "if (given.row[mid].first <= TT_GX) row = mid; else end = mid;");
  tt__emit_close(e);
}

/* Lanes that are 64 bytes of the widest type of a kernel's loops. */
static int loop_width(const tt_kernel *k) {
  size_t widest = 4;
  for (int i = 0; i < k->ninst; i++) {
    size_t size = tt__dtype_size((tt_dtype)k->inst[i].dtype);
    if (k->inst[i].scope == TT_SCOPE_ROW && size > widest) widest = size;
  }
  return (int)(64 / widest);
}

static void put_names(tt_thread_emit *t) {
  if (t->v->loops) {
    tt__str_addf(t->e.out, "#define args (%sgiven)\n#define tt_part %d\n#define tt_width %d\n", t->v->far ? "" : "&",
                 t->v->part, loop_width(t->e.k));
    return;
  }
  tt__str_addf(t->e.out, "#define tt_ix %s\n#define tt_uix %s\n", t->v->wide ? "tt_i64" : "tt_i32",
               t->v->wide ? "tt_u64" : "tt_u32");
  if (t->v->many)
    tt__str_add(t->e.out,
                "#define args (&given.row[row].own)\n"
                "#define tt_gx (TT_GX - (tt_i32)given.row[row].first)\n"
                "#define tt_nx ((tt_i32)given.row[row].blocks)\n");
  else
    tt__str_addf(t->e.out, "#define args (%sgiven)\n#define tt_gx TT_GX\n#define tt_nx TT_NX\n", t->v->far ? "" : "&");
}

static void put_pack(tt_thread_emit *t, int type) {
  int vec = t->v->tiled ? t->v->unroll : t->v->vec;
  int align = (int)tt__vector_align(vec, tt__dtype_size((tt_dtype)type));
  tt__str_addf(t->e.out, "typedef struct TT_ALIGNED(%d) { %s v[%d]; } %s_%s;\n", align, tt__type_word(type), vec,
               t->name, tt__dtypes[type].suffix);
}

/* Where memory has handles: that of each address among the arguments, and memory of the block. */
static void put_memory(const tt_thread_emit *t, tt_str *out) {
  const tt_dialect *d = t->e.d;
  if (!d->memory) return;
  for (int b = 0; b < t->e.k->nbuf; b++) tt__str_addf(out, ", %sm%d", d->memory, b);
  tt__str_addf(out, ", %sm_work, %sm_fault, %sTT_SHARED_BYTES", d->memory, d->memory, d->shared);
}

/* A struct of `vec` elements for each type that is loaded, stored or staged so. */
static void put_packs(tt_thread_emit *t) {
  uint32_t done = 0;
  int vec = t->v->tiled ? t->v->unroll : t->v->vec;
  for (int a = 0; vec > 1 && a < t->e.k->naccess; a++) {
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

/* A block's share of the space, by its number. Lanes are shared out by lines of the cache. */
static const char loops_enter[] =
    "const tt_i64 lo = tt_share(args->outer, 1, TT_GY, TT_NY), hi = tt_share(args->outer, 1, TT_GY + 1, TT_NY);\n"
    "  const tt_i64 lane_lo = tt_share(args->lanes, 16, TT_GX, TT_NX);\n"
    "  const tt_i64 lane_hi = tt_share(args->lanes, 16, TT_GX + 1, TT_NX);\n"
    "  const tt_i64 npartial = args->chunks, chunk_lo = tt_share(npartial, 1, TT_GZ, TT_NZ);\n"
    "  const tt_i64 chunk_hi = tt_share(npartial, 1, TT_GZ + 1, TT_NZ);\n"
    "  const int part = tt_part;";

static bool is_placed(const tt_emit *e, int a) { return e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, -1); }

static void put_pointers(tt_emit *e) {
  const tt_kernel *k = e->k;
  for (int a = 0; a < k->naccess; a++) {
    const tt_kaccess *acc = &k->access[a];
    char from[64];
    if (acc->buf < 0) continue;
    snprintf(from, sizeof from, e->d->buffer, (int)acc->buf, (int)acc->buf);
    const char *type = tt__type_word(acc->dtype);
    tt__emit_line(e, "%s%s *const p%d = (%s%s *)%s;", e->d->global, type, a, e->d->global, type, from);
  }
  for (int a = 0; a < k->naccess; a++)
    if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY && e->lane_axis < 0)
      tt__emit_line(e, "const tt_ix s%d = 0;", a);
    else if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY)
      tt__emit_line(e, "const tt_ix s%d = (tt_ix)args->step[%d];", a, a * k->naxes + e->lane_axis);
}

static int block_threads(const tt_kernel *k, const tt_variant *v) {
  return v->loops ? 1 : k->mode == TT_MODE_ROW ? 1 << v->block : v->speculates ? 128 : 256;
}

/*
** Memory is waited for least where many threads wait, so quick kernels are held to 40 registers, as are rows and chunks
** of few elements a thread; rows (whose blocks are large) and slow kernels to 64. Small blocks (ORDER MEND) leave and
** come a few warps at a time.
*/
int tt__threads_resident(const tt_kernel *k, const tt_variant *v) {
  bool quick = k->mode == TT_MODE_MAP && !v->tiled && tt__render_scalar_text(k) == TT_SCALAR_PLAIN;
  for (int a = 0; a < k->naccess; a++) quick &= tt__dtype_size((tt_dtype)k->access[a].dtype) <= 4 && k->naccess <= 6;
  int block = block_threads(k, v), most = 1024 / block;
  bool small = v->staged && (v->kept || v->part == TT_PART_CHUNK) && tt__threads_each(v) <= 16;
  small &= k->naccess <= 6 && block < 1024;
  for (int a = 0; a < k->naccess; a++)
    if (!k->access[a].write || v->part != TT_PART_CHUNK) /* chunks store nothing there: not an argmax's index */
      small &= tt__dtype_size((tt_dtype)k->access[a].dtype) <= 4;
  /* Rows that keep many arrays: 80 registers spill half of what 64 do, and fewer blocks lose more than that brings. */
  bool full = v->kept && !v->staged && k->naccess > 6;
  return quick ? 6 : small ? 1536 / block : most < 4 || v->speculates ? most : full ? 3 : 4;
}

static void put_bounds(const tt_thread_emit *t, tt_str *out) {
  const tt_kernel *k = t->e.k;
  const char *word = k->mode == TT_MODE_ROW || t->v->loops ? "TT_EXACTLY" : "TT_BOUNDS";
  tt__str_addf(out, "%s%s(%d, %d) ", t->e.d->kernel, word, block_threads(k, t->v), tt__threads_resident(k, t->v));
}

static void put_function(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt_str *out = e->out;
  put_struct(t);
  put_table(t);
  put_packs(t);
  put_names(t);
  put_bounds(t, out);
  tt__str_addf(out, "%s(const %s_%s %sgiven", t->name, t->name, t->v->many ? "table" : "args",
               t->v->far && !t->v->many ? "*" : "");
  put_memory(t, out);
  tt__str_add(out, ") {\n");
  e->indent = 1;
  if (t->v->loops) {
    tt__emit_loops(e, loops_enter);
    tt__str_add(out, "}\n#undef args\n#undef tt_part\n#undef tt_width\n");
    return;
  }
  if (t->v->many) put_row(e);
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
  tt__str_add(out, "}\n#undef tt_ix\n#undef tt_uix\n#undef args\n#undef tt_gx\n#undef tt_nx\n");
}

/* The emitter of a kernel's text; `flags` is to be freed, with that size. */
static tt_code begin(tt_thread_emit *t, const tt_kernel *k, const tt_dialect *d, const tt_variant *v, const char *name,
                     tt_str *out, bool **flags, size_t *size, tt_error *err) {
  TT_TRY(tt__check_words(k, d, err));
  size_t n = (size_t)k->ninst;
  *size = 5 * n + (size_t)k->naccess + 1;
  bool *f = *flags = tt__mem_zalloc(*size);
  if (!f) return tt__fail_memory(err, *size);
  *t = (tt_thread_emit){.v = v, .name = name, .stride = "TT_BX", .loaded = f + 5 * n};
  tt_emit *e = &t->e;
  *e = (tt_emit){.k = k, .d = d, .out = out, .at = "w", .uniform = f, .kept = f + n, .seen = f + 2 * n};
  e->crosses = f + 3 * n;
  e->stage = (uint8_t *)(f + 4 * n);
  e->nrow = k->naxes - k->nouter;
  e->lane_axis = tt__threads_lane_axis(k);
  tt__emit_classify(e);
  return TT_OK;
}

tt_code tt__threads_render(const tt_kernel *k, const tt_dialect *d, const tt_variant *v, const char *name, tt_str *out,
                           tt_error *err) {
  assert(v->vec >= 1 && v->unroll >= 1);
  assert(!k->serial || v->scatter || v->loops);
  tt_thread_emit t;
  bool *flags;
  size_t size;
  TT_TRY(begin(&t, k, d, v, name, out, &flags, &size, err));
  put_function(&t);
  tt__mem_free(flags, size);
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}

/* ---- one lane, for other texts */

bool tt__threads_has_element(const tt_kernel *k) {
  if (k->mode != TT_MODE_MAP || k->naxes > 1 || k->serial || k->checked) return false;
  for (int i = 0; i < k->ninst; i++) /* all lanes would write one place */
    if (k->inst[i].op == TT_K_STORE && k->access[k->inst[i].slot].lane == TT_LANE_NONE && k->naxes > 0) return false;
  return true;
}

static void put_value(tt_thread_emit *t, int vec) {
  const tt_kernel *k = t->e.k;
  tt__str_add(t->e.out, "typedef struct {");
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_STORE)
      tt__str_addf(t->e.out, " %s b%d[%d];", tt__type_word(k->access[k->inst[i].slot].dtype),
                   k->access[k->inst[i].slot].buf, vec);
  tt__str_addf(t->e.out, " } %s_%d_value;\n", t->name, vec);
}

/* Is access `a` read by whole vectors? */
static bool is_read_packed(const tt_emit *e, int a, int vec) {
  const tt_kaccess *acc = &e->k->access[a];
  return vec > 1 && acc->buf >= 0 && acc->lane == TT_LANE_UNIT && !acc->write && tt__emit_is_walked(e, a, 0);
}

static void put_element_inst(tt_emit *e, int i, int vec) {
  const tt_kinst *q = &e->k->inst[i];
  const tt_kaccess *a = q->op == TT_K_LOAD || q->op == TT_K_STORE ? &e->k->access[q->slot] : NULL;
  bool half = a && (a->dtype == TT_F16 || a->dtype == TT_BF16);
  const char *suffix = a ? tt__dtypes[a->dtype].suffix : "";
  if (q->op == TT_K_STORE)
    tt__emit_line(e, "value.b%d[u] = %s%s(v%d);", (int)a->buf, half ? "tt_cast_f32_" : "", half ? suffix : "",
                  q->src[0]);
  else if (q->op == TT_K_LOAD && is_read_packed(e, q->slot, vec))
    tt__emit_line(e, "const %s v%d = %s%s%s(L%d.v[u]);", tt__type_word(q->dtype), i, half ? "tt_cast_" : "",
                  half ? suffix : "", half ? "_f32" : "", q->slot);
  else
    tt__emit_inst(e, i);
}

static void put_element(tt_thread_emit *t, int vec) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  const tt_region body = {TT_SCOPE_ROW, 0};
  put_value(t, vec);
  tt__str_addf(e->out, "TT_FN %s_%d_value %s_%d(const %s_args *args, tt_i64 j) {\n", t->name, vec, t->name, vec,
               t->name);
  e->indent = 1;
  tt__emit_line(e, "%s_%d_value value;", t->name, vec);
  put_pointers(e);
  tt__emit_uniform(e, (tt_region){TT_SCOPE_CONST, 0});
  tt__threads_place(e, 'o', 0, 0, -1);
  for (int a = 0; a < k->naccess; a++)
    if (is_read_packed(e, a, vec))
      tt__emit_line(e, "const %s_%s L%d = *(const %s%s_%s *)(p%d + (o%d + j));", t->name,
                    tt__dtypes[k->access[a].dtype].suffix, a, e->d->global, t->name,
                    tt__dtypes[k->access[a].dtype].suffix, a, a);
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)", vec);
  tt__emit_line(e, "const tt_i64 l = j + u;");
  for (int i = 0; i < k->ninst; i++)
    if (tt__emit_in_region(e, body, i)) put_element_inst(e, i, vec);
  tt__emit_close(e);
  tt__emit_line(e, "return value;");
  tt__str_add(e->out, "}\n");
}

tt_code tt__threads_element(const tt_kernel *k, const tt_dialect *d, int vec, const char *name, tt_str *out,
                            tt_error *err) {
  assert(vec == 1 || vec == 2 || vec == 4);
  const tt_variant v = {.vec = (uint8_t)vec, .unroll = 1, .wide = 1};
  assert(tt__threads_has_element(k));
  tt_thread_emit t;
  bool *flags;
  size_t size;
  TT_TRY(begin(&t, k, d, &v, name, out, &flags, &size, err));
  put_struct(&t);
  put_packs(&t);
  tt__str_add(out, "#define tt_ix tt_i64\n#define tt_uix tt_u64\n");
  put_element(&t, 1);
  if (vec > 1) put_element(&t, vec);
  tt__str_add(out, "#undef tt_ix\n#undef tt_uix\n");
  tt__mem_free(flags, size);
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}
