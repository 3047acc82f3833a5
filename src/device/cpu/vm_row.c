/*
** ROW mode: each outer point has a row, folded in 64 accumulators per chunk. Values of
** outer scope are one lane; the row loop reads them spread over a register.
*/
#include <assert.h>
#include <string.h>

#include "device/cpu/vm_int.h"

enum { SHORT_LINE = 16 };

/* How a row is cut: chunks of `per` lines, or, where the row is one line, of TT_CHUNK lanes. */
typedef struct row_plan {
  int lane;      /* the last axis */
  int64_t len;   /* lanes in a line */
  int64_t lines; /* in a row */
  int64_t per;   /* units in a chunk: lines, or lanes of the only line */
  int64_t chunks;
  bool one_line;
} row_plan;

static row_plan plan_row(const tt_vm_space *w) {
  const tt_vm_program *p = w->p;
  row_plan r = {.lane = p->naxes - 1, .len = w->args->len[p->naxes - 1], .lines = 1};
  for (int k = p->nouter; k < r.lane; k++) r.lines *= w->args->len[k];
  r.one_line = p->naxes - p->nouter == 1;
  r.per = r.one_line ? TT_CHUNK : tt__chunk_lines(r.len);
  r.chunks = ((r.one_line ? r.len : r.lines) + r.per - 1) / r.per;
  return r;
}

/* ---- accumulators */

/*
** How many accumulators elements of such a line reach, a power of two: the others stay what they begin with, and no
** value that an accumulator took in changes by it. Beyond SHORT_LINE all are used.
*/
static int lanes_of(int64_t len) {
  int lanes = 1;
  while (lanes < len && lanes < TT_LANES) lanes *= 2;
  return lanes <= SHORT_LINE ? lanes : TT_LANES;
}

static void open_chunk(tt_vm_space *w, const tt_vm_segment *g) {
  const tt_vm_program *p = w->p;
  for (int32_t n = g->red_lo; n < g->red_hi; n++) {
    const tt_vm_reduction *r = &p->red[n];
    w->acc[n] = w->mem + r->acc;
    p->table->splat[r->shift](w->acc[n], &r->identity, r->arg ? TT_LANES : w->lanes);
    if (!r->arg) continue;
    int64_t none = -1;
    w->acc_at[n] = (int64_t *)(void *)(w->mem + r->acc_at);
    p->table->splat[3](w->acc_at[n], &none, TT_LANES);
  }
}

/* `out` (ARG*: with its index) takes in one more value. */
static void take(const tt_vm_reduction *r, void *out, void *out_at, const void *v, int64_t at, bool first) {
  if (first) {
    memcpy(out, v, (size_t)1 << r->shift);
    if (r->arg) memcpy(out_at, &at, sizeof at);
  } else if (!r->arg) {
    r->op(out, out, v, NULL, 1);
  } else if (at >= 0) {
    r->arg_lanes(out, out_at, v, at, 0, 1, 1);
  }
}

/* The row's value takes in one more chunk's, by way of its group's. */
static void combine(tt_vm_space *w, const tt_vm_reduction *r, const void *v, int64_t at, int64_t chunk, bool is_last) {
  void *out = r->arg ? (void *)(w->mem + r->total) : w->ptr[r->inst], *group = w->mem + r->group;
  int64_t *group_at = (int64_t *)(void *)(w->mem + r->group_at);
  take(r, group, group_at, v, at, chunk % TT_GROUP == 0);
  if (is_last || chunk % TT_GROUP == TT_GROUP - 1)
    take(r, out, w->ptr[r->inst], group, r->arg ? *group_at : 0, chunk < TT_GROUP);
}

/* The last steps of the fold: in those before, accumulators that no element reached take in one another. */
static void fold_few(const tt_vm_reduction *r, char *acc, int lanes) {
  for (int half = lanes / 2; half > 0; half /= 2) r->op(acc, acc, acc + ((size_t)half << r->shift), NULL, half);
}

static void close_chunk(tt_vm_space *w, const tt_vm_segment *g, const tt_krange *range, int64_t point, int64_t chunk,
                        bool is_last) {
  for (int32_t n = g->red_lo; n < g->red_hi; n++) {
    const tt_vm_reduction *r = &w->p->red[n];
    if (r->arg)
      r->arg_fold(w->acc[n], w->acc_at[n]);
    else if (w->lanes == TT_LANES)
      r->fold(w->acc[n]);
    else
      fold_few(r, w->acc[n], w->lanes);
    int64_t at = r->arg ? w->acc_at[n][0] : 0;
    if (range->part != TT_PART_CHUNK) {
      combine(w, r, w->acc[n], at, chunk, is_last);
      continue;
    }
    int64_t cell = point * w->args->npartial + chunk;
    memcpy((char *)w->args->partial[2 * r->slot] + (cell << r->shift), w->acc[n], (size_t)1 << r->shift);
    if (r->arg) ((int64_t *)w->args->partial[2 * r->slot + 1])[cell] = at;
  }
}

static void finish(tt_vm_space *w, const tt_vm_segment *g, int64_t point) {
  for (int32_t n = g->red_lo; n < g->red_hi; n++) {
    const tt_vm_reduction *r = &w->p->red[n];
    const int64_t np = w->args->npartial;
    for (int64_t chunk = 0; chunk < np; chunk++) {
      int64_t cell = point * np + chunk;
      int64_t at = r->arg ? ((const int64_t *)w->args->partial[2 * r->slot + 1])[cell] : 0;
      combine(w, r, (const char *)w->args->partial[2 * r->slot] + (cell << r->shift), at, chunk, chunk == np - 1);
    }
  }
}

/* ---- the walk */

/* Lanes [lo, hi) of the line at cursor.row. */
static void run_line(tt_vm_space *w, const tt_vm_segment *g, int64_t lo, int64_t hi, int64_t block) {
  for (int32_t a = g->access_lo; a < g->access_hi; a++) w->cursor[a].at = w->cursor[a].row + lo * w->cursor[a].lane;
  tt__vm_fill_fixed(w, g, hi - lo < w->p->block ? hi - lo : w->p->block);
  for (int64_t left = hi - lo; left > 0; left -= block) {
    int64_t n = left < block ? left : block;
    tt__vm_block(w, g, n);
    w->row_at += n;
  }
}

static void run_chunk(tt_vm_space *w, const tt_vm_segment *g, const row_plan *r, int64_t chunk, int64_t block) {
  int64_t lo = chunk * r->per, hi = lo + r->per;
  if (r->one_line) {
    if (hi > r->len) hi = r->len;
    w->row_at = lo;
    run_line(w, g, lo, hi, block);
    return;
  }
  if (hi > r->lines) hi = r->lines;
  w->row_at = lo * r->len;
  for (int64_t line = lo; line < hi; line++) {
    run_line(w, g, 0, r->len, block);
    tt__vm_next_row(w, g, w->p->nouter, r->lane);
  }
}

/* Copy lane 0 of what the row loop reads of the outer scope to all lanes of a block. */
static void widen(tt_vm_space *w, const tt_vm_segment *g, int64_t lanes) {
  if (lanes > w->p->block) lanes = w->p->block;
  for (int32_t n = 0; n < g->nwiden; n++) {
    int i = g->widen[n];
    size_t size = tt__dtype_size((tt_dtype)w->p->type[i]);
    int shift = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    tt_scalar value;
    memcpy(&value, w->ptr[i], size);
    w->p->table->splat[shift](w->ptr[i], &value, lanes);
  }
}

static void run_phase(tt_vm_space *w, const row_plan *r, int phase, const tt_krange *range, int64_t point) {
  const tt_vm_segment *g = &w->p->row[phase];
  bool part = range->part == TT_PART_CHUNK;
  int64_t lo = part ? range->chunk_lo : 0, hi = part ? range->chunk_hi : r->chunks;
  int64_t block = tt__vm_block_lanes(w, g);
  w->lanes = lanes_of(r->len);
  widen(w, g, r->len);
  tt__vm_seek_row(w, g, w->p->nouter, r->lane, r->one_line ? 0 : lo * r->per);
  for (int64_t chunk = lo; chunk < hi; chunk++) {
    open_chunk(w, g);
    run_chunk(w, g, r, chunk, block);
    close_chunk(w, g, range, point, chunk, chunk == hi - 1);
  }
}

static void run_outer(tt_vm_space *w, int phase) {
  const tt_vm_segment *g = &w->p->outer[phase];
  if (g->nstep == 0) return;
  for (int32_t a = g->access_lo; a < g->access_hi; a++) w->cursor[a].at = w->cursor[a].base;
  tt__vm_block(w, g, 1);
}

void tt__vm_run_row(tt_vm_space *w, const tt_krange *range) {
  assert(w->p->nouter < w->p->naxes);
  const tt_vm_program *p = w->p;
  row_plan r = plan_row(w);
  if (range->lo >= range->hi) return;
  tt__vm_seek_outer(w, p->nouter, range->lo);
  for (int64_t q = range->lo;;) {
    if (range->part == TT_PART_CHUNK) {
      w->quiet = true;
      run_outer(w, 0);
      w->quiet = false;
      run_phase(w, &r, 0, range, q);
    } else {
      for (int phase = 0; phase < p->nphase; phase++) {
        run_outer(w, phase);
        if (range->part == TT_PART_FINISH)
          finish(w, &p->row[phase], q);
        else
          run_phase(w, &r, phase, range, q);
      }
      run_outer(w, p->nphase);
    }
    if (++q >= range->hi) break;
    tt__vm_next_outer(w, p->nouter);
  }
}
