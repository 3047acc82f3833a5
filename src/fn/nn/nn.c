/*
** What functions of networks share; see nn.h.
*/
#include "fn/nn/nn.h"

#include <math.h>
#include <string.h>

#include "fn/random/draw.h"
#include "graph/tape.h"

tt_array *tt__nn_floats(tt_composer *c, tt_array *x, const char *name) {
  if (!x) return NULL;
  tt_dtype t = (tt_dtype)x->dtype;
  if (!tt__is_float(t)) return tt__compose_fail(c, TT_ETYPE, "%s: not implemented for %s", name, tt__dtypes[t].name);
  return tt__compose_cast(c, x, t == TT_F16 || t == TT_BF16 ? TT_F32 : t);
}

tt_array *tt__nn_result(tt_composer *c, const tt_call_frame *f, tt_array *y, tt_array *x, int inplace) {
  y = y ? tt__compose_cast(c, y, (tt_dtype)x->dtype) : NULL;
  if (!y || inplace < 0 || !tt__arg_bool(c, f, inplace, false)) return c->code == TT_OK ? y : NULL;
  return tt__compose_set(c, x, tt_v_array(y)) ? x : NULL;
}

int tt__nn_axis(tt_composer *c, const tt_call_frame *f, int k, int rank, int fallback) {
  if (!tt__arg_given(f, k)) return fallback;
  int64_t axis = tt__arg_int(c, f, k, 0), n = rank > 0 ? rank : 1;
  if (c->code == TT_OK && (axis < -n || axis >= n))
    tt__compose_fail(c, TT_EINDEX, "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                     (long long)-n, (long long)n - 1, (long long)axis);
  return (int)(axis < 0 ? axis + n : axis);
}

/* ---- along axes */

int tt__nn_softmax_axis(int rank) { return rank == 0 || rank == 1 || rank == 3 ? 0 : 1; }

tt_array *tt__nn_largest(tt_composer *c, tt_array *x, int axis) {
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *most = tt__compose_reduce(c, TT_RED_MAX, x, UINT64_C(1) << axis, true);
  tt_array *ok = tt__compose_op1(c, TT_ISFINITE, most);
  most = ok ? tt__compose_where(c, ok, tt_v_array(most), tt_v_float(0)) : NULL;
  tt__session_tape = before;
  return most;
}

static tt_array *sum_of(tt_composer *c, tt_array *e, int axis) {
  return tt__compose_reduce(c, TT_RED_SUM, e, UINT64_C(1) << axis, true);
}

/* A number stands for one along an axis of its own. */
static tt_array *with_axis(tt_composer *c, tt_array *x) { return x && x->rank == 0 ? tt__compose_expand(c, x, 0) : x; }

static tt_array *as_was(tt_composer *c, tt_array *y, const tt_array *x) {
  return y && y->rank != x->rank ? tt__compose_reshape(c, y, 0, NULL) : y;
}

tt_array *tt__nn_softmax(tt_composer *c, tt_array *x, int axis) {
  tt_array *a = with_axis(c, x);
  if (!a || a->size == 0) return x;
  tt_array *e = tt__compose_op1(c, TT_EXP, tt__compose_op2(c, TT_SUB, a, tt__nn_largest(c, a, axis)));
  return as_was(c, tt__compose_op2(c, TT_DIV, e, sum_of(c, e, axis)), x);
}

tt_array *tt__nn_log_softmax(tt_composer *c, tt_array *x, int axis) {
  tt_array *a = with_axis(c, x);
  if (!a || a->size == 0) return x;
  tt_array *shifted = tt__compose_op2(c, TT_SUB, a, tt__nn_largest(c, a, axis));
  tt_array *sum = sum_of(c, tt__compose_op1(c, TT_EXP, shifted), axis);
  return as_was(c, tt__compose_op2(c, TT_SUB, shifted, tt__compose_op1(c, TT_LOG, sum)), x);
}

tt_array *tt__nn_mean(tt_composer *c, tt_array *x, uint64_t axes) {
  if (!x) return NULL;
  double n = 1;
  for (int d = 0; d < x->rank; d++) n *= axes >> d & 1 ? (double)tt__array_len(x)[d] : 1;
  return tt__compose_opf(c, TT_DIV, tt__compose_reduce(c, TT_RED_SUM, x, axes, true), n);
}

tt_array *tt__nn_along(tt_composer *c, tt_array *a, int rank, int axis) {
  int64_t len[TT_MAX_RANK];
  for (int d = 0; a && d < rank; d++) len[d] = d == axis ? a->size : 1;
  return a ? tt__compose_reshape(c, a, rank, len) : NULL;
}

/* ---- losses */

bool tt__nn_meet(tt_composer *c, const tt_call_frame *f, const char *name, int n, tt_array **a, tt_dtype *t) {
  const int64_t *lens[3];
  int ranks[3], rank;
  int64_t len[TT_MAX_RANK];
  for (int k = 0; k < n; k++) {
    if (!(a[k] = tt__arg_array(c, f, k))) return false;
    *t = k == 0 ? (tt_dtype)a[0]->dtype : tt__promote(*t, (tt_dtype)a[k]->dtype);
  }
  for (int k = 0; k < n; k++) {
    if (!(a[k] = tt__nn_floats(c, tt__compose_cast(c, a[k], *t), name))) return false;
    ranks[k] = a[k]->rank;
    lens[k] = tt__array_len(a[k]);
  }
  if (c->code != TT_OK || (c->code = tt__shape_broadcast(n, ranks, lens, &rank, len, c->err)) != TT_OK) return false;
  for (int k = 0; k < n; k++)
    if (!(a[k] = tt__compose_broadcast(c, a[k], rank, len))) return false;
  return true;
}

tt_array *tt__nn_weighted(tt_composer *c, const tt_call_frame *f, int k, tt_array *loss) {
  if (!loss || !tt__arg_given(f, k)) return loss;
  tt_array *w = tt__compose_cast(c, tt__arg_array(c, f, k), (tt_dtype)loss->dtype);
  return tt__compose_op2(c, TT_MUL, loss, w);
}

tt_nn_reduction tt__nn_reduction(tt_composer *c, const tt_call_frame *f, int before, int k) {
  if (before >= 0 && (tt__arg_given(f, before) || tt__arg_given(f, before + 1))) {
    if (!tt__arg_bool(c, f, before + 1, true)) return TT_NN_EACH;
    return tt__arg_bool(c, f, before, true) ? TT_NN_MEAN : TT_NN_SUM;
  }
  const char *how = tt__arg_string(c, f, k, "mean");
  if (c->code != TT_OK || strcmp(how, "mean") == 0) return TT_NN_MEAN;
  if (strcmp(how, "sum") == 0) return TT_NN_SUM;
  if (strcmp(how, "none") != 0) tt__compose_fail(c, TT_EVALUE, "%s is not a valid value for reduction", how);
  return TT_NN_EACH;
}

bool tt__nn_is_whole(tt_array *a) { return a->size == a->storage->node->size && tt__array_is_c(a); }

static tt_array *sum_of_all(tt_composer *c, tt_array *a) {
  return a && a->rank > 0 ? tt__compose_reduce(c, TT_RED_SUM, a, ~UINT64_C(0) >> (64 - a->rank), false) : a;
}

tt_array *tt__nn_reduced(tt_composer *c, tt_array *loss, tt_nn_reduction how, tt_dtype t) {
  if (!loss || how == TT_NN_EACH) return tt__compose_cast(c, loss, t);
  tt_array *sum = sum_of_all(c, loss);
  return tt__compose_cast(c, how == TT_NN_MEAN ? tt__compose_opf(c, TT_DIV, sum, (double)loss->size) : sum, t);
}

/* ---- chance */

tt_array *tt__nn_stays(tt_composer *c, const tt_call_frame *f, int rank, const int64_t *len, double chance) {
  tt_draw d = {.c = c, .f = f, .real = TT_F32};
  if (c->code != TT_OK || !tt__draw_shape_fixed(&d, rank, len)) return NULL;
  return tt__compose_opf(c, TT_GE, tt__draw_uniform(&d, TT_F32), chance);
}
