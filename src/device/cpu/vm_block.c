/*
** One block of lanes through the steps of a segment, and how loads and stores meet memory.
** Knows cursors and registers, nothing of the walk over points that places the cursors.
*/
#include <assert.h>
#include <string.h>

#include "device/cpu/vm_int.h"

/* ---- checked accesses */

/* May element `at` of the buffer be touched? The first one that may not is kept for the caller of the launch. */
static bool in_bounds(const tt_vm_space *w, const tt_vm_access *a, int64_t at) {
  int64_t len = w->args->buf_len[a->buf];
  if (at >= 0 && at < len) return true;
  tt_kfault *f = w->args->fault;
  int32_t none = 0;
  if (__atomic_compare_exchange_n(&f->access, &none, a->slot + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    f->index = at;
    f->len = len;
  }
  return false;
}

/* Element `at` into `out` in its register type, or 0. */
static void load_checked(const tt_vm_space *w, const tt_vm_access *a, int64_t at, char *out) {
  const char *from = w->args->buf[a->buf];
  bool ok = in_bounds(w, a, at);
  if (!a->half) {
    memset(out, 0, (size_t)1 << a->shift);
    if (ok) memcpy(out, from + (at << a->shift), (size_t)1 << a->shift);
  } else {
    memset(out, 0, sizeof(float));
    if (ok) w->p->table->cast[a->dtype][TT_F32](out, from + (at << a->shift), NULL, NULL, 1);
  }
}

static void store_checked(const tt_vm_space *w, const tt_vm_access *a, int64_t at, const char *value) {
  char *to = w->args->buf[a->buf];
  if (!in_bounds(w, a, at)) return;
  if (a->half)
    w->p->table->cast[TT_F32][a->dtype](to + (at << a->shift), value, NULL, NULL, 1);
  else
    memcpy(to + (at << a->shift), value, (size_t)1 << a->shift);
}

/* The flat element under a cursor. */
static int64_t element_at(const tt_vm_space *w, const tt_vm_access *a, const tt_vm_cursor *c) {
  return (c->at - (int64_t)(intptr_t)w->args->buf[a->buf]) >> a->shift;
}

static int reg_shift(const tt_vm_access *a) { return a->half ? 2 : a->shift; }

/* ---- loads and stores */

static void load(tt_vm_space *w, const tt_vm_step *s, int64_t n) {
  const tt_vm_access *a = &w->p->access[s->access];
  const tt_vm_cursor *c = &w->cursor[s->access];
  const tt_vm_table *t = w->p->table;
  const void *from = (const void *)(intptr_t)c->at;
  char *out = w->ptr[s->out];
  switch (c->how) {
    case TT_VM_DIRECT:
      w->ptr[s->out] = (void *)(intptr_t)c->at;
      return;
    case TT_VM_FIXED:
      return;
    case TT_VM_COPY:
      memcpy(out, from, (size_t)n << a->shift);
      return;
    case TT_VM_STRIDE:
      t->load[a->shift](out, from, c->lane >> a->shift, n);
      return;
    case TT_VM_CONVERT:
      t->cast[a->dtype][TT_F32](out, from, NULL, NULL, n);
      return;
    case TT_VM_CONVERT_STRIDE:
      t->load[a->shift](w->temp, from, c->lane >> a->shift, n);
      t->cast[a->dtype][TT_F32](out, w->temp, NULL, NULL, n);
      return;
    case TT_VM_RANGE:
      t->iota((int64_t *)(void *)out, c->at, c->lane, n);
      return;
    case TT_VM_RUNS:
      tt__vm_load_runs(w, s, a);
      return;
    default:
      break;
  }
  int64_t at = element_at(w, a, c), step = c->lane >> a->shift;
  for (int64_t i = 0; i < n; i++) load_checked(w, a, at + i * step, out + (i << reg_shift(a)));
}

static void store(tt_vm_space *w, const tt_vm_step *s, int64_t n) {
  const tt_vm_access *a = &w->p->access[s->access];
  const tt_vm_cursor *c = &w->cursor[s->access];
  const tt_vm_table *t = w->p->table;
  void *to = (void *)(intptr_t)c->at;
  const char *from = w->ptr[s->src[0]];
  switch (c->how) {
    case TT_VM_DIRECT:
      if (from != to) memmove(to, from, (size_t)n << a->shift);
      return;
    case TT_VM_STRIDE:
      t->store[a->shift](to, c->lane >> a->shift, from, n);
      return;
    case TT_VM_CONVERT:
      t->cast[TT_F32][a->dtype](to, from, NULL, NULL, n);
      return;
    case TT_VM_CONVERT_STRIDE:
      t->cast[TT_F32][a->dtype](w->temp, from, NULL, NULL, n);
      t->store[a->shift](to, c->lane >> a->shift, w->temp, n);
      return;
    case TT_VM_RUNS:
      tt__vm_store_runs(w, s, a);
      return;
    default:
      break;
  }
  int64_t at = element_at(w, a, c), step = c->lane >> a->shift;
  for (int64_t i = 0; i < n; i++) store_checked(w, a, at + i * step, from + (i << reg_shift(a)));
}

static void load_index(tt_vm_space *w, const tt_vm_step *s, int64_t n) {
  const tt_vm_access *a = &w->p->access[s->access];
  const tt_vm_table *t = w->p->table;
  const int64_t *at = w->ptr[s->src[0]];
  const void *from = w->args->buf[a->buf];
  char *out = w->ptr[s->out];
  if (w->p->checked) {
    for (int64_t i = 0; i < n; i++) load_checked(w, a, at[i], out + (i << reg_shift(a)));
  } else if (a->half) {
    t->gather[a->shift](w->temp, from, at, n);
    t->cast[a->dtype][TT_F32](out, w->temp, NULL, NULL, n);
  } else {
    t->gather[a->shift](out, from, at, n);
  }
}

static void store_index(tt_vm_space *w, const tt_vm_step *s, int64_t n) {
  const tt_vm_access *a = &w->p->access[s->access];
  const tt_vm_table *t = w->p->table;
  const int64_t *at = w->ptr[s->src[0]];
  const char *from = w->ptr[s->src[1]];
  void *to = w->args->buf[a->buf];
  if (w->p->checked) {
    for (int64_t i = 0; i < n; i++) store_checked(w, a, at[i], from + (i << reg_shift(a)));
  } else if (a->half) {
    t->cast[TT_F32][a->dtype](w->temp, from, NULL, NULL, n);
    t->scatter[a->shift](to, at, w->temp, n);
  } else {
    t->scatter[a->shift](to, at, from, n);
  }
}

/* ---- the steps */

static void aim(tt_vm_space *w, const tt_vm_step *s) {
  const tt_vm_access *a = &w->p->access[s->access];
  const tt_vm_cursor *c = &w->cursor[s->access];
  bool dense = c->how == TT_VM_DIRECT || (c->how == TT_VM_RUNS && tt__vm_runs_dense(w, a));
  int64_t at = c->how == TT_VM_RUNS ? w->run_at[s->access * TT_VM_RUN_MAX] : c->at;
  w->ptr[s->out] = dense ? (void *)(intptr_t)at : tt__vm_reg(w, s->out);
}

/* COL: `lines` row points of `n` lanes each, in order. */
static void reduce_lines(const tt_vm_space *w, const tt_vm_step *s, int64_t lines, int64_t n) {
  const tt_vm_reduction *r = &w->p->red[s->access];
  const char *v = w->ptr[s->src[0]];
  void *acc = w->acc[s->access];
  for (int64_t j = 0; j < lines; j++, v += n << r->shift) {
    if (r->arg)
      r->arg_lanes(acc, w->acc_at[s->access], v, w->row_at + j, 0, n, n);
    else
      r->op(acc, acc, v, NULL, n);
  }
}

static void reduce(const tt_vm_space *w, const tt_vm_step *s, int64_t n) {
  const tt_vm_reduction *r = &w->p->red[s->access];
  if (w->p->mode == TT_MODE_COL) {
    int64_t lanes = w->runs.n ? w->runs.lanes : n;
    reduce_lines(w, s, n / lanes, lanes);
  } else if (r->arg) {
    r->arg_lanes(w->acc[s->access], w->acc_at[s->access], w->ptr[s->src[0]], w->row_at, 1, TT_LANES, n);
  } else if (w->lanes == TT_LANES) {
    r->lanes(w->acc[s->access], w->ptr[s->src[0]], n);
  } else { /* a short line: no accumulator takes in two of its elements */
    r->op(w->acc[s->access], w->acc[s->access], w->ptr[s->src[0]], NULL, n);
  }
}

void tt__vm_block(tt_vm_space *w, const tt_vm_segment *g, int64_t n) {
  assert(n >= 0 && g->nstep >= 0);
  void **const ptr = w->ptr;
  for (const tt_vm_step *s = g->step, *end = s + g->nstep; s < end; s++) {
    switch (s->kind) {
      case TT_VM_OP:
        s->fn(ptr[s->out], ptr[s->src[0]], ptr[s->src[1]], ptr[s->src[2]], n);
        break;
      case TT_VM_AIM:
        aim(w, s);
        break;
      case TT_VM_LOAD:
        load(w, s, n);
        break;
      case TT_VM_STORE:
        if (!w->quiet) store(w, s, n);
        break;
      case TT_VM_REDUCE:
        reduce(w, s, n);
        break;
      case TT_VM_ROUND:
        w->p->table->cast[TT_F32][s->half](w->temp, ptr[s->src[0]], NULL, NULL, n);
        w->p->table->cast[s->half][TT_F32](ptr[s->out], w->temp, NULL, NULL, n);
        break;
      case TT_VM_LOADX:
        load_index(w, s, n);
        break;
      default:
        if (!w->quiet) store_index(w, s, n);
    }
  }
  for (int32_t a = g->access_lo; a < g->access_hi; a++) w->cursor[a].at += n * w->cursor[a].lane;
}

void tt__vm_fill_fixed(tt_vm_space *w, const tt_vm_segment *g, int64_t n) {
  assert(n >= 0 && g->access_lo <= g->access_hi);
  const tt_vm_table *t = w->p->table;
  for (int32_t i = g->access_lo; i < g->access_hi; i++) {
    const tt_vm_cursor *c = &w->cursor[i];
    const tt_vm_access *a = &w->p->access[i];
    if (c->how != TT_VM_FIXED) continue;
    const void *from = (const void *)(intptr_t)c->at;
    float wide;
    if (a->half) t->cast[a->dtype][TT_F32](&wide, from, NULL, NULL, 1);
    t->splat[reg_shift(a)](tt__vm_reg(w, a->inst), a->half ? &wide : from, n);
  }
}

int64_t tt__vm_block_lanes(const tt_vm_space *w, const tt_vm_segment *g) {
  bool lean = g->lean;
  for (int32_t a = g->access_lo; lean && a < g->access_hi; a++) lean = w->cursor[a].how == TT_VM_DIRECT;
  return lean ? (int64_t)1 << 30 : w->p->block;
}
