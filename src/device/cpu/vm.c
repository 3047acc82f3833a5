/*
** One call of the interpreter: bind the launch to the space, walk the points. Maps are
** walked here, reductions in vm_row.c and vm_col.c.
*/
#include "device/cpu/vm.h"

#include <assert.h>

#include "device/cpu/vm_int.h"

/* ---- the walk over points */

void tt__vm_seek_outer(tt_vm_space *w, int n, int64_t q) {
  assert(n >= 0 && n <= w->p->nouter && q >= 0);
  const tt_vm_program *p = w->p;
  for (int k = n - 1; k >= 0; k--) {
    int64_t len = w->args->len[k], at = q ? q % len : 0;
    q = q ? q / len : 0;
    w->index[k] = at;
    if (at == 0) continue;
    for (int32_t a = 0; a < p->naccess; a++) w->cursor[a].base += at * w->step[a * p->naxes + k];
  }
}

void tt__vm_next_outer(tt_vm_space *w, int n) {
  assert(n >= 0 && n <= w->p->nouter);
  const tt_vm_program *p = w->p;
  for (int k = n - 1; k >= 0; k--) {
    bool wraps = ++w->index[k] == w->args->len[k];
    int64_t by = wraps ? 1 - w->args->len[k] : 1;
    for (int32_t a = 0; a < p->naccess; a++) w->cursor[a].base += by * w->step[a * p->naxes + k];
    if (!wraps) return;
    w->index[k] = 0;
  }
}

void tt__vm_seek_row(tt_vm_space *w, const tt_vm_segment *g, int lo, int hi, int64_t q) {
  assert(lo >= w->p->nouter && hi <= w->p->naxes && q >= 0);
  const int naxes = w->p->naxes;
  for (int32_t a = g->access_lo; a < g->access_hi; a++) w->cursor[a].row = w->cursor[a].base;
  for (int k = hi - 1; k >= lo; k--) {
    int64_t len = w->args->len[k], at = q ? q % len : 0;
    q = q ? q / len : 0;
    w->index[k] = at;
    if (at == 0) continue;
    for (int32_t a = g->access_lo; a < g->access_hi; a++) w->cursor[a].row += at * w->step[a * naxes + k];
  }
}

void tt__vm_next_row(tt_vm_space *w, const tt_vm_segment *g, int lo, int hi) {
  assert(lo >= w->p->nouter && hi <= w->p->naxes);
  const int naxes = w->p->naxes;
  for (int k = hi - 1; k >= lo; k--) {
    bool wraps = ++w->index[k] == w->args->len[k];
    int64_t by = wraps ? 1 - w->args->len[k] : 1;
    for (int32_t a = g->access_lo; a < g->access_hi; a++) w->cursor[a].row += by * w->step[a * naxes + k];
    if (!wraps) return;
    w->index[k] = 0;
  }
}

/* ---- binding */

static int lane_axis(const tt_vm_program *p) { return p->mode == TT_MODE_COL ? p->nouter - 1 : p->naxes - 1; }

static uint8_t choose_how(const tt_vm_program *p, const tt_vm_access *a, int64_t lane) {
  bool dense = a->scalar || lane == (int64_t)1 << a->shift;
  if (a->buf == -1) return TT_VM_RANGE;
  if (p->checked && a->buf >= 0) return TT_VM_CHECK;
  if (a->fixed && lane == 0) return TT_VM_FIXED;
  if (a->half) return dense ? TT_VM_CONVERT : TT_VM_CONVERT_STRIDE;
  if (!dense) return TT_VM_STRIDE;
  return !a->write && (a->copy || a->scalar) ? TT_VM_COPY : TT_VM_DIRECT;
}

/* A scratch is dense over the row and knows no outer axes. */
static void bind_scratch(tt_vm_space *w, const tt_vm_access *a, tt_vm_cursor *c, int64_t *step) {
  int64_t dense = (int64_t)1 << a->shift;
  c->base = (int64_t)(intptr_t)w->args->scratch[-2 - a->buf];
  for (int k = w->p->naxes - 1; k >= 0; k--) {
    step[k] = k < w->p->nouter ? 0 : dense;
    dense *= w->args->len[k];
  }
}

static void bind_access(tt_vm_space *w, int32_t n, int lane) {
  const tt_vm_program *p = w->p;
  const tt_vm_access *a = &p->access[n];
  tt_vm_cursor *c = &w->cursor[n];
  int64_t *step = w->step + n * p->naxes;
  c->base = 0;
  if (a->flatx) { /* its elements are found by value: the cursor stays where it is */
    for (int k = 0; k < p->naxes; k++) step[k] = 0;
  } else if (a->buf <= -2) {
    bind_scratch(w, a, c, step);
  } else {
    const int64_t *from = w->args->step + (int64_t)a->slot * p->naxes;
    for (int k = 0; k < p->naxes; k++) step[k] = from[k] << a->shift;
    if (a->buf >= 0) c->base = (int64_t)(intptr_t)w->args->buf[a->buf];
    c->base += w->args->off[a->slot] << a->shift;
  }
  c->lane = lane >= 0 && !a->scalar ? step[lane] : 0;
  c->how = choose_how(p, a, c->lane);
}

/* Constants fill their registers once per call, as far as this call will read. */
static void fill_constants(tt_vm_space *w, int64_t lanes) {
  const tt_vm_program *p = w->p;
  if (lanes > p->block) lanes = p->block;
  for (int n = 0; n < p->nconst; n++) {
    int i = p->constant[n];
    size_t size = tt__dtype_size((tt_dtype)p->type[i]);
    int shift = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    p->table->splat[shift](w->ptr[i], &w->args->scalar[p->constant_of[n]], lanes);
  }
}

static void bind(tt_vm_space *w) {
  const tt_vm_program *p = w->p;
  int lane = lane_axis(p);
  w->ptr = (void **)(void *)w->mem;
  w->cursor = (tt_vm_cursor *)(void *)(w->mem + p->at_access);
  w->step = (int64_t *)(void *)(w->mem + p->at_step);
  w->index = (int64_t *)(void *)(w->mem + p->at_index);
  w->acc = (void **)(void *)(w->mem + p->at_acc);
  w->acc_at = (int64_t **)(void *)(w->mem + p->at_acc) + p->nred;
  w->run_at = (int64_t *)(void *)(w->mem + p->at_run);
  w->temp = w->mem + p->at_temp;
  for (int i = 0; i < p->ninst; i++) w->ptr[i] = w->mem + p->reg[i];
  for (int32_t a = 0; a < p->naccess; a++) bind_access(w, a, lane);
}

/* ---- maps */

static void run_lines(tt_vm_space *w, const tt_krange *r) {
  const tt_vm_program *p = w->p;
  const tt_vm_segment *g = &p->row[0];
  int outer = p->naxes > 1 ? p->naxes - 1 : 0;
  int64_t block = p->by_point ? 1 : tt__vm_block_lanes(w, g), lanes = r->lane_hi - r->lane_lo;
  int64_t fill = lanes < p->block ? lanes : p->block;
  tt__vm_seek_outer(w, outer, r->lo);
  for (int64_t q = r->lo;;) {
    for (int32_t a = 0; a < p->naccess; a++) w->cursor[a].at = w->cursor[a].base + r->lane_lo * w->cursor[a].lane;
    tt__vm_fill_fixed(w, g, fill);
    for (int64_t left = lanes; left > 0; left -= block) tt__vm_block(w, g, left < block ? left : block);
    if (++q >= r->hi) break;
    tt__vm_next_outer(w, outer);
  }
}

static void run_map(tt_vm_space *w, const tt_krange *r) {
  const tt_vm_program *p = w->p;
  tt_krange point = {.lo = 0, .hi = 1, .lane_lo = 0, .lane_hi = 1};
  if (p->naxes == 0) r = &point;
  int64_t lanes = r->lane_hi - r->lane_lo;
  if (lanes <= 0 || r->lo >= r->hi) return;
  bool flat = p->flat && lanes <= TT_VM_SHORT && 2 * lanes <= p->block && r->hi - r->lo > 1;
  fill_constants(w, flat ? p->block : lanes);
  if (flat)
    tt__vm_run_flat(w, r);
  else
    run_lines(w, r);
}

void tt__vm_run(const tt_vm_program *p, const tt_kargs *args, const tt_krange *range) {
  for (int k = 0; k < p->naxes; k++) assert(args->len[k] >= 1);
  assert(range->lo <= range->hi && range->part <= TT_PART_FINISH);
  tt_vm_space w = {.p = p, .args = args};
  w.mem = tt__vm_take_space(p->space);
  bind(&w);
  switch (p->mode) {
    case TT_MODE_MAP:
      run_map(&w, range);
      break;
    case TT_MODE_ROW:
      fill_constants(&w, args->len[p->naxes - 1]);
      tt__vm_run_row(&w, range);
      break;
    default:
      fill_constants(&w, p->flat ? p->block : range->lane_hi - range->lane_lo);
      tt__vm_run_col(&w, range);
  }
  tt__vm_give_space(w.mem);
}
