/*
** COL mode: the lanes are outer points, the row is walked point by point and each lane has an
** accumulator of its own. Outer values are whole blocks of lanes.
*/

#include "device/cpu/vm_int.h"

#include <assert.h>

enum { FEW_LANES = 128 };

/* Which part of the row, and where this block's partials are. */
typedef struct col_plan {
  int row_axis; /* the first row axis */
  int64_t rows; /* points of the row */
  int64_t chunks;
  int64_t line;    /* over the outer axes but the lane */
  int64_t lane, n; /* the block's lanes */
  int64_t nlane;   /* of a line */
  bool flat;       /* few lanes: many row points share a block */
} col_plan;

static void open_chunk(tt_vm_space *w, const tt_vm_segment *g, bool first, int64_t n) {
  const tt_vm_program *p = w->p;
  for (int32_t i = g->red_lo; i < g->red_hi; i++) {
    const tt_vm_reduction *r = &p->red[i];
    /* The first chunk is folded where the row's value belongs. */
    w->acc[i] = !first ? w->mem + r->acc : r->arg ? w->mem + r->total : w->ptr[r->inst];
    p->table->splat[r->shift](w->acc[i], &r->identity, n);
    if (!r->arg) continue;
    int64_t none = -1;
    w->acc_at[i] = first ? w->ptr[r->inst] : (int64_t *)(void *)(w->mem + r->acc_at);
    p->table->splat[3](w->acc_at[i], &none, n);
  }
}

/* The rows' values (n lanes) take in those of one more chunk. */
static void combine(tt_vm_space *w, const tt_vm_reduction *r, const char *v, const int64_t *at, int64_t n) {
  if (!r->arg) {
    r->op(w->ptr[r->inst], w->ptr[r->inst], v, NULL, n);
    return;
  }
  char *best = w->mem + r->total;
  int64_t *best_at = w->ptr[r->inst];
  for (int64_t l = 0; l < n; l++)
    if (at[l] >= 0) r->arg_lanes(best + (l << r->shift), best_at + l, v + (l << r->shift), at[l], 0, 1, 1);
}

/* Where the block's partials of a chunk begin: those of neighbouring lanes are neighbours. */
static int64_t first_partial(const tt_vm_space *w, const col_plan *c, int64_t chunk) {
  return (c->line * w->args->npartial + chunk) * c->nlane + c->lane;
}

static void keep_partials(tt_vm_space *w, const tt_vm_segment *g, const col_plan *c, int64_t chunk) {
  const tt_vm_table *t = w->p->table;
  int64_t cell = first_partial(w, c, chunk);
  for (int32_t i = g->red_lo; i < g->red_hi; i++) {
    const tt_vm_reduction *r = &w->p->red[i];
    t->store[r->shift]((char *)w->args->partial[2 * r->slot] + (cell << r->shift), 1, w->acc[i], c->n);
    if (r->arg) t->store[3]((int64_t *)w->args->partial[2 * r->slot + 1] + cell, 1, w->acc_at[i], c->n);
  }
}

static void finish(tt_vm_space *w, const tt_vm_segment *g, const col_plan *c) {
  const tt_vm_table *t = w->p->table;
  for (int64_t chunk = 0; chunk < w->args->npartial; chunk++) {
    int64_t cell = first_partial(w, c, chunk);
    open_chunk(w, g, chunk == 0, c->n);
    for (int32_t i = g->red_lo; i < g->red_hi; i++) {
      const tt_vm_reduction *r = &w->p->red[i];
      t->load[r->shift](w->acc[i], (const char *)w->args->partial[2 * r->slot] + (cell << r->shift), 1, c->n);
      if (r->arg) t->load[3](w->acc_at[i], (const int64_t *)w->args->partial[2 * r->slot + 1] + cell, 1, c->n);
      if (chunk > 0) combine(w, r, w->acc[i], r->arg ? w->acc_at[i] : NULL, c->n);
    }
  }
}

/* Row points [w->row_at, hi) a block of lines at a time. */
static void run_flat(tt_vm_space *w, const tt_vm_segment *g, const col_plan *c, int64_t hi) {
  const tt_vm_program *p = w->p;
  const int axis = p->naxes - 1;
  int64_t most = p->block / c->n;
  for (int64_t lines; w->row_at < hi; w->row_at += lines) {
    lines = 0;
    w->runs.n = 0;
    while (w->row_at + lines < hi && lines < most && w->runs.n < TT_VM_RUN_MAX) {
      int64_t n = w->args->len[axis] - w->index[axis];
      if (n > hi - w->row_at - lines) n = hi - w->row_at - lines;
      if (n > most - lines) n = most - lines;
      for (int32_t a = g->access_lo; a < g->access_hi; a++) {
        w->run_at[a * TT_VM_RUN_MAX + w->runs.n] = w->cursor[a].row + c->lane * w->cursor[a].lane;
        w->cursor[a].row += (n - 1) * w->step[a * p->naxes + axis];
      }
      w->index[axis] += n - 1;
      tt__vm_next_row(w, g, c->row_axis, p->naxes);
      w->runs.lines[w->runs.n++] = (int32_t)n;
      lines += n;
    }
    tt__vm_block(w, g, lines * c->n);
  }
  w->runs.n = 0;
}

/* What the row loop reads of the outer scope, once for each line of a block. */
static void widen(tt_vm_space *w, const tt_vm_segment *g, const col_plan *c) {
  for (int32_t n = 0; n < g->nwiden; n++) {
    int64_t line = c->n * (int64_t)tt__dtype_size((tt_dtype)w->p->type[g->widen[n]]);
    tt__vm_repeat_line(w->ptr[g->widen[n]], line, w->p->block / c->n);
  }
}

static void run_chunk(tt_vm_space *w, const tt_vm_segment *g, const col_plan *c, int64_t chunk) {
  int64_t lo = chunk * TT_CHUNK_COL, hi = lo + TT_CHUNK_COL;
  if (hi > c->rows) hi = c->rows;
  w->row_at = lo;
  if (c->flat) {
    run_flat(w, g, c, hi);
    return;
  }
  for (; w->row_at < hi; w->row_at++) {
    for (int32_t a = g->access_lo; a < g->access_hi; a++)
      w->cursor[a].at = w->cursor[a].row + c->lane * w->cursor[a].lane;
    tt__vm_block(w, g, c->n);
    tt__vm_next_row(w, g, c->row_axis, w->p->naxes);
  }
}

static void run_phase(tt_vm_space *w, const col_plan *c, int phase, const tt_krange *range) {
  const tt_vm_segment *g = &w->p->row[phase];
  bool part = range->part == TT_PART_CHUNK;
  int64_t lo = part ? range->chunk_lo : 0, hi = part ? range->chunk_hi : c->chunks;
  if (c->flat) widen(w, g, c);
  tt__vm_seek_row(w, g, c->row_axis, w->p->naxes, lo * TT_CHUNK_COL);
  for (int64_t chunk = lo; chunk < hi; chunk++) {
    open_chunk(w, g, chunk == lo, c->n);
    run_chunk(w, g, c, chunk);
    if (part) {
      keep_partials(w, g, c, chunk);
    } else if (chunk > lo) {
      for (int32_t i = g->red_lo; i < g->red_hi; i++)
        combine(w, &w->p->red[i], w->acc[i], w->p->red[i].arg ? w->acc_at[i] : NULL, c->n);
    }
  }
}

static void run_outer(tt_vm_space *w, const col_plan *c, int phase) {
  const tt_vm_segment *g = &w->p->outer[phase];
  if (g->nstep == 0) return;
  for (int32_t a = g->access_lo; a < g->access_hi; a++)
    w->cursor[a].at = w->cursor[a].base + c->lane * w->cursor[a].lane;
  tt__vm_block(w, g, c->n);
}

static void run_block(tt_vm_space *w, const col_plan *c, const tt_krange *range) {
  const tt_vm_program *p = w->p;
  if (range->part == TT_PART_CHUNK) {
    w->quiet = true;
    run_outer(w, c, 0);
    w->quiet = false;
    run_phase(w, c, 0, range);
    return;
  }
  for (int phase = 0; phase < p->nphase; phase++) {
    run_outer(w, c, phase);
    if (range->part == TT_PART_FINISH)
      finish(w, &p->row[phase], c);
    else
      run_phase(w, c, phase, range);
  }
  run_outer(w, c, p->nphase);
}

void tt__vm_run_col(tt_vm_space *w, const tt_krange *range) {
  assert(w->p->nouter >= 1 && w->p->nouter < w->p->naxes);
  const tt_vm_program *p = w->p;
  int outer = p->nouter - 1;
  int64_t len = w->args->len[outer];
  col_plan c = {.row_axis = p->nouter, .rows = 1, .nlane = len};
  if (range->lo >= range->hi || range->lane_lo >= range->lane_hi) return;
  for (int k = p->nouter; k < p->naxes; k++) c.rows *= w->args->len[k];
  c.chunks = (c.rows + TT_CHUNK_COL - 1) / TT_CHUNK_COL;
  int64_t lanes = range->lane_hi - range->lane_lo;
  c.flat = p->flat && lanes <= FEW_LANES && 2 * lanes <= p->block;
  if (c.flat) {
    w->runs.lanes = (int32_t)lanes;
    w->runs.axis = p->naxes - 1;
    for (int phase = 0; phase < p->nphase; phase++)
      for (int32_t a = p->row[phase].access_lo; a < p->row[phase].access_hi; a++) w->cursor[a].how = TT_VM_RUNS;
  }
  tt__vm_seek_outer(w, outer, range->lo);
  for (c.line = range->lo;;) {
    for (c.lane = range->lane_lo; c.lane < range->lane_hi; c.lane += c.n) {
      c.n = range->lane_hi - c.lane < p->block ? range->lane_hi - c.lane : p->block;
      run_block(w, &c, range);
    }
    if (++c.line >= range->hi) break;
    tt__vm_next_outer(w, outer);
  }
}
