/*
** The emitter: the function, and the loops of its mode (loops*.c) around the bodies of body.c. ir/kernel.h says what a
** kernel means and fixes the order of its arithmetic; the interpreter follows the same text and
** must give the same bits.
*/
#include "render/render.h"

#include <assert.h>
#include <stdio.h>

#include "base/mem.h"
#include "render/cpu/loops_int.h"

void tt__render_name(const tt_kernel *k, char name[TT_RENDER_NAME]) {
  char hex[33];
  tt__digest_hex(k->key, hex);
  snprintf(name, TT_RENDER_NAME, "tt_k_%s", hex);
}

static bool is_placed(const tt_emit *e, int a) { return e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, -1); }

static void put_pointers(tt_emit *e) {
  const tt_kernel *k = e->k;
  for (int a = 0; a < k->naccess; a++) {
    const tt_kaccess *acc = &k->access[a];
    char from[160];
    if (acc->buf == -1) continue;
    if (acc->buf >= 0)
      snprintf(from, sizeof from, e->d->buffer, (int)acc->buf, (int)acc->buf);
    else
      snprintf(from, sizeof from, e->d->scratch, -2 - (int)acc->buf);
    const char *type = tt__type_word(acc->dtype);
    tt__emit_line(e, "%s%s *const p%d = (%s%s *)%s;", e->d->global, type, a, e->d->global, type, from);
  }
  for (int a = 0; a < k->naccess; a++)
    if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY && e->lane_axis < 0)
      tt__emit_line(e, "const tt_i64 s%d = 0;", a);
    else if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY)
      tt__emit_line(e, "const tt_i64 s%d = step[%d];", a, a * k->naxes + e->lane_axis);
}

/* ---- maps */

static void put_map(tt_emit *e) {
  tt_region body = {TT_SCOPE_ROW, 0};
  tt_loop_walk outer = {'o', 0, e->k->naxes > 0 ? e->k->naxes - 1 : 0, -1};
  tt__emit_open_walk(e, &outer, "lo");
  tt__emit_open(e, "for (tt_i64 at = lo; at < hi; at++)");
  tt__emit_uniform(e, body);
  if (tt__emit_has_lanes(e, body)) tt__emit_lane_loops(e, body, "lane_lo", "lane_hi");
  tt__emit_next_walk(e, &outer);
  tt__emit_close(e);
}

/*
** Are stores to neighbouring places written as such, for vectors of both? Not where functions are long: products and
** sums in them would have to be kept apart.
*/
static bool stores_side_by_side(const tt_emit *e) {
  bool any = false;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (q->op < TT_OP_COUNT && tt__ops[q->op].flags & TT_OPF_SLOW) return false;
    any |= q->op == TT_K_STORE && e->k->access[q->slot].next;
  }
  return any && e->d->neighbours;
}

/* ---- the function */

enum { MOST_BY_LENGTH = 32 }; /* instructions: each is compiled three times */

/*
** What goes with a row's chunks, and with groups of lanes that a row may have, is most of what a short row takes. So
** rows that are one line are compiled for known bounds: shorter than a group, one chunk, and any.
*/
static bool is_by_length(tt_emit *e) {
  const tt_kernel *k = e->k;
  bool is_plain = e->d->inlined && k->mode == TT_MODE_ROW && e->nrow == 1 && !k->serial && k->ninst <= MOST_BY_LENGTH;
  for (int p = 0; p < k->nphase && is_plain; p++) is_plain = !tt__emit_is_slow(e, (tt_region){TT_SCOPE_ROW, p});
  return is_plain;
}

static void put_lengths(tt_emit *e, const char *fn_name) {
  tt__str_addf(e->out, "%s%s%s {\n", e->d->kernel, fn_name, e->d->params);
  tt__emit_line(e, "const tt_i64 nlane = %s[%d];", e->d->len, e->lane_axis);
  tt__emit_line(e, "if (range->part == %d && nlane < %d) %s_rows(args, range, %d, %d);", TT_PART_WHOLE, TT_LANES,
                fn_name, TT_PART_WHOLE, TT_LANES - 1);
  tt__emit_line(e, "else if (range->part == %d && nlane <= %d) %s_rows(args, range, %d, %d);", TT_PART_WHOLE, TT_CHUNK,
                fn_name, TT_PART_WHOLE, TT_CHUNK);
  tt__emit_line(e, "else %s_rows(args, range, -1, nlane);", fn_name);
  tt__str_add(e->out, "}\n");
}

/* An array of the arguments; a struct that is made for a kernel without axes has none. */
static const char *array_of(const char *word, int n) { return n > 0 ? word : "0"; }

void tt__emit_loops(tt_emit *e, const char *enter) {
  const tt_dialect *d = e->d;
  const tt_kernel *k = e->k;
  assert(d->partial && d->scratch);
  e->parts = tt__kernel_splits(k);
  e->side_by_side = stores_side_by_side(e);
  tt__str_addf(e->out, "  %s\n", enter);
  tt__emit_line(e, "const tt_i64 *const len = %s, *const off = %s, *const step = %s;", array_of(d->len, k->naxes),
                array_of(d->off, k->naccess), array_of(d->step, k->naccess * k->naxes));
  put_pointers(e);
  tt__emit_uniform(e, (tt_region){TT_SCOPE_CONST, 0});
  switch (k->mode) {
    case TT_MODE_MAP:
      put_map(e);
      break;
    case TT_MODE_ROW:
      tt__emit_row(e);
      break;
    default:
      tt__emit_col(e);
      break;
  }
}

static void put_function(tt_emit *e, const char *fn_name) {
  const tt_dialect *d = e->d;
  if (e->by_length)
    tt__str_addf(e->out, "%s%s_rows(const tt_kargs *args, const tt_krange *range, int only, tt_i64 most) {\n",
                 d->inlined, fn_name);
  else
    tt__str_addf(e->out, "%s%s%s {\n", d->kernel, fn_name, d->params);
  e->indent = 1;
  tt__emit_loops(e, d->enter);
  tt__str_add(e->out, "}\n");
  if (e->by_length) put_lengths(e, fn_name);
}

tt_code tt__render_kernel(const tt_kernel *k, const tt_dialect *d, const char *fn_name, tt_str *out, tt_error *err) {
  TT_TRY(tt__check_words(k, d, err));
  size_t n = (size_t)k->ninst, size = 5 * n + 1;
  bool *flags = tt__mem_zalloc(size);
  if (!flags) return tt__fail_memory(err, size);
  tt_emit e = {.k = k, .d = d, .out = out, .at = "w", .uniform = flags, .kept = flags + n, .seen = flags + 2 * n};
  e.crosses = flags + 3 * n;
  e.stage = (uint8_t *)(flags + 4 * n);
  e.nrow = k->naxes - k->nouter;
  e.lane_axis = k->mode == TT_MODE_COL ? k->nouter - 1 : k->naxes - 1;
  tt__emit_classify(&e);
  e.by_length = is_by_length(&e);
  put_function(&e, fn_name);
  tt__mem_free(flags, size);
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}
