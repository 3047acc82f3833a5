/*
** Views of nodes. A view of a view is one view wherever an affine map can say it exactly, so chains
** of slices stay one node deep. It must not know arrays.
**
** The argument of composition: the inner view numbers its elements in C order of its axes. A step of
** the outer view is an exact move along inner axes when it is a sum of d[j] whole inner steps and no
** element it reaches leaves an inner axis (no carry): then flat numbers and axis positions agree.
*/
#include <assert.h>
#include <stdlib.h>

#include "graph/build.h"
#include "graph/tape.h"

/* The axes of a view without those of length 1, neighbours that walk memory as one merged. */
typedef struct axes {
  int n;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  int64_t unit[TT_MAX_RANK]; /* flat elements a move of 1 makes */
} axes;

static void collapse(tt_node *view, axes *out) {
  assert(view->op == TT_N_VIEW && view->nstep == view->rank);
  const int64_t *len = tt__node_len(view), *step = tt__node_step(view);
  out->n = 0;
  for (int k = 0; k < view->rank; k++) {
    if (len[k] == 1) continue;
    int last = out->n - 1;
    if (last >= 0 && out->step[last] == len[k] * step[k]) {
      out->len[last] *= len[k];
      out->step[last] = step[k];
      continue;
    }
    out->len[out->n] = len[k];
    out->step[out->n++] = step[k];
  }
  tt__shape_steps(out->n, out->len, out->unit);
}

/* How far the elements reach along each inner axis. */
typedef struct reach {
  int64_t lo[TT_MAX_RANK], hi[TT_MAX_RANK];
} reach;

/*
** Spell `step`, walked `n` times, as whole inner steps: digits by division towards zero, or to the nearest (a step
** of -1 column and +1 row). *moved gets what it moves in the inner view's source.
*/
static bool spell(const axes *in, int64_t step, int64_t n, bool nearest, reach *r, int64_t *moved) {
  assert(n >= 1 && in->n <= TT_MAX_RANK);
  *moved = 0;
  for (int j = 0; j < in->n; j++) {
    int64_t d = step / in->unit[j], rest = step % in->unit[j];
    if (nearest && 2 * llabs(rest) > in->unit[j]) d += rest > 0 ? 1 : -1;
    step -= d * in->unit[j];
    int64_t far;
    if (__builtin_mul_overflow(d, n - 1, &far)) return false;
    *(far < 0 ? &r->lo[j] : &r->hi[j]) += far;
    if (r->lo[j] < 0 || r->hi[j] >= in->len[j]) return false;
    *moved += d * in->step[j];
  }
  return step == 0;
}

/* The view (len, step, off) of the view `inner`, as a view of inner's source. False: it cannot be said. */
static bool compose(tt_node *inner, int rank, const int64_t *len, const int64_t *step, int64_t off, int64_t *out_step,
                    int64_t *out_off) {
  axes in;
  collapse(inner, &in);
  reach r;
  *out_off = inner->attr.off;
  for (int j = 0; j < in.n; j++) {
    r.lo[j] = r.hi[j] = off / in.unit[j];
    off -= r.lo[j] * in.unit[j];
    *out_off += r.lo[j] * in.step[j];
  }
  assert(off == 0);
  for (int k = 0; k < rank; k++) {
    out_step[k] = 0;
    if (len[k] == 1 || step[k] == 0) continue;
    reach before = r;
    if (spell(&in, step[k], len[k], false, &r, &out_step[k])) continue;
    r = before;
    if (!spell(&in, step[k], len[k], true, &r, &out_step[k])) return false;
  }
  return true;
}

static bool is_same_block(tt_node *a, int rank, const int64_t *len, const int64_t *step, int64_t off) {
  if (off != 0 || a->rank != rank) return false;
  int64_t run = 1;
  for (int k = rank; k-- > 0; run *= len[k])
    if (a->dim[k] != len[k] || (len[k] != 1 && step[k] != run)) return false;
  return true;
}

/* Does a view of a complex value's numbers see only real parts, or only imaginary ones? */
static bool shows_parts(const tt_node *a, int rank, const int64_t *len, const int64_t *step) {
  if (a->op != TT_N_BITCAST || tt__is_opaque(a) || a->src[0]->dtype != (a->dtype == TT_F64 ? TT_C128 : TT_C64))
    return false;
  if (a->dtype != TT_F64 && a->dtype != TT_F32) return false;
  for (int k = 0; k < rank; k++)
    if (len[k] > 1 && step[k] % 2 != 0) return false;
  return true;
}

/* Then it is an operation on the complex value, which need not be in memory for it. */
static tt_node *part_view(tt_node *a, int rank, const int64_t *len, const int64_t *step, int64_t off, tt_error *err) {
  int64_t half[TT_MAX_RANK];
  for (int k = 0; k < rank; k++) half[k] = step[k] / 2;
  tt_node *whole = tt__node_view(a->src[0], rank, len, half, off / 2, err);
  return tt__node_take1(off % 2 ? TT_IMAG : TT_REAL, (tt_dtype)a->dtype, whole, err);
}

tt_node *tt__node_view(tt_node *a, int rank, const int64_t *len, const int64_t *step, int64_t off, tt_error *err) {
  assert(a->op != TT_N_LIB && a->op != TT_N_CALL && a->op != TT_N_LIST);
  assert(rank >= 0 && rank <= TT_MAX_RANK && a->refs > 0);
  if (is_same_block(a, rank, len, step, off)) return tt__node_retain(a);
  int64_t size = 1;
  for (int k = 0; k < rank; k++) size *= len[k];
  if (size == 0) {
    tt_scalar zero = {.bits = {0, 0}};
    return tt__tape_of_none(tt__node_const_at(a->device, (tt_dtype)a->dtype, zero, rank, len, err), a, err);
  }
  if (a->op == TT_N_CONST) return tt__node_const_at(a->device, (tt_dtype)a->dtype, a->attr.scalar, rank, len, err);
  int device = a->device; /* what a view of a view reads may not carry it */
  int64_t through[TT_MAX_RANK], start;
  if (a->op == TT_N_VIEW && !tt__is_opaque(a) && compose(a, rank, len, step, off, through, &start)) {
    a = a->src[0];
    step = through;
    off = start;
    if (a->device == device && is_same_block(a, rank, len, step, off)) return tt__node_retain(a);
  }
  tt_node *n = shows_parts(a, rank, len, step) ? part_view(a, rank, len, step, off, err)
                                               : tt__node_view_plain(a, rank, len, step, off, err);
  if (n) tt__node_put(n, device);
  return n;
}

tt_node *tt__node_view_plain(tt_node *a, int rank, const int64_t *len, const int64_t *step, int64_t off,
                             tt_error *err) {
  tt_node *n = tt__node_new(TT_N_VIEW, (tt_dtype)a->dtype, rank, len, rank, err);
  if (!n) return NULL;
  for (int k = 0; k < rank; k++) tt__node_step(n)[k] = len[k] == 1 ? 0 : step[k];
  n->attr.off = off;
  n->src[n->nsrc++] = tt__node_retain(a);
  n->pending = 1;
  tt__node_account(n, a);
  tt__node_list_reader(n);
  if (a->tape) n->flags |= TT_NODE_STEP;
  if (a->pending) n->flags |= a->flags & TT_NODE_STEP;
  if (tt__is_taped(a) && !tt__tape_record(n, err)) {
    tt__node_release(n);
    return NULL;
  }
  return n;
}
