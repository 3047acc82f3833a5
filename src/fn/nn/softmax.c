/*
** Functions along one axis, with PyTorch's parameters: shares, unit vectors, likeness and distance of vectors,
** and classes by chance.
*/
#include <float.h>
#include <math.h>

#include "fn/grad/leaf.h"
#include "fn/nn/nn.h"
#include "fn/random/draw.h"

/* ---- shares: input, dim, _stacklevel, dtype */

typedef tt_array *(*rows_fn)(tt_composer *c, tt_array *x, int axis);

static tt_array *shares(tt_composer *c, const tt_call_frame *f, const char *name, rows_fn of, bool turned) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return NULL;
  x = tt__compose_cast(c, x, tt__arg_dtype(c, f, 3, (tt_dtype)x->dtype));
  tt_array *wide = tt__nn_floats(c, x, name);
  if (!wide) return NULL;
  int axis = tt__nn_axis(c, f, 1, x->rank, tt__nn_softmax_axis(x->rank));
  if (c->code != TT_OK) return NULL;
  return tt__nn_result(c, f, of(c, turned ? tt__compose_op1(c, TT_NEG, wide) : wide, axis), x, -1);
}

static tt_array *nn_softmax(tt_composer *c, tt_call_frame *f) { return shares(c, f, "softmax", tt__nn_softmax, false); }
TT_HANDLER(nn_softmax)
static tt_array *nn_softmin(tt_composer *c, tt_call_frame *f) { return shares(c, f, "softmin", tt__nn_softmax, true); }
TT_HANDLER(nn_softmin)
static tt_array *nn_log_softmax(tt_composer *c, tt_call_frame *f) {
  return shares(c, f, "log_softmax", tt__nn_log_softmax, false);
}
TT_HANDLER(nn_log_softmax)

/* ---- lengths of vectors */

static tt_array *length(tt_composer *c, tt_array *x, double p, int axis, bool keep) {
  const tt_value arg[] = {tt_v_array(x), tt_v_float(p), tt_v_int(axis), {.tag = TT_V_BOOL, .as.b = keep}};
  return x ? tt__fn_call(c, "linalg.norm", arg, 4) : NULL;
}

/* input, p, dim, eps */
static tt_array *nn_normalize(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *wide = tt__nn_floats(c, x, "normalize");
  double p = tt__arg_float(c, f, 1, 2), least = tt__arg_float(c, f, 3, 1e-12);
  if (!wide || x->rank == 0) return tt__nn_result(c, f, wide, x, -1);
  int axis = tt__nn_axis(c, f, 2, x->rank, 1);
  if (c->code == TT_OK && axis >= x->rank)
    tt__compose_fail(c, TT_EINDEX, "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  if (c->code != TT_OK) return NULL;
  tt_array *by = tt__compose_opf(c, TT_MAXIMUM, length(c, wide, p, axis, true), least);
  return tt__nn_result(c, f, tt__compose_op2(c, TT_DIV, wide, by), x, -1);
}
TT_HANDLER(nn_normalize)

/* Two arrays of floats, broadcast against each other, in the type that they promote to. */
static bool meet(tt_composer *c, const tt_call_frame *f, const char *name, tt_array **a, tt_array **b, tt_dtype *t) {
  *a = tt__arg_array(c, f, 0);
  *b = tt__arg_array(c, f, 1);
  if (!*a || !*b) return false;
  *t = tt__promote((tt_dtype)(*a)->dtype, (tt_dtype)(*b)->dtype);
  *a = tt__nn_floats(c, tt__compose_cast(c, *a, *t), name);
  *b = tt__nn_floats(c, tt__compose_cast(c, *b, *t), name);
  if (!*a || !*b) return false;
  const int64_t *lens[2] = {tt__array_len(*a), tt__array_len(*b)};
  int ranks[2] = {(*a)->rank, (*b)->rank}, rank;
  int64_t len[TT_MAX_RANK];
  if (c->code != TT_OK || (c->code = tt__shape_broadcast(2, ranks, lens, &rank, len, c->err)) != TT_OK) return false;
  *a = tt__compose_broadcast(c, *a, rank, len);
  *b = tt__compose_broadcast(c, *b, rank, len);
  return *a && *b;
}

static tt_array *dot_along(tt_composer *c, tt_array *a, tt_array *b, int axis) {
  return tt__compose_reduce(c, TT_RED_SUM, tt__compose_op2(c, TT_MUL, a, b), UINT64_C(1) << axis, false);
}

/* x1, x2, dim, eps: each length is at least eps. */
static tt_array *nn_cosine_similarity(tt_composer *c, tt_call_frame *f) {
  tt_array *a, *b;
  tt_dtype t;
  double eps = tt__arg_float(c, f, 3, 1e-8);
  if (!meet(c, f, "cosine_similarity", &a, &b, &t)) return NULL;
  int axis = tt__nn_axis(c, f, 2, a->rank, a->rank > 1 ? 1 : 0);
  if (c->code != TT_OK) return NULL;
  if (a->rank == 0) return tt__compose_fail(c, TT_EINDEX, "Dimension specified as 1 but tensor has no dimensions");
  tt_array *la = tt__compose_opf(c, TT_MAXIMUM, length(c, a, 2, axis, false), eps);
  tt_array *lb = tt__compose_opf(c, TT_MAXIMUM, length(c, b, 2, axis, false), eps);
  return tt__compose_cast(c, tt__compose_op2(c, TT_DIV, dot_along(c, a, b, axis), tt__compose_op2(c, TT_MUL, la, lb)),
                          t);
}
TT_HANDLER(nn_cosine_similarity)

/* x1, x2, p, eps, keepdim: along the last axis. */
static tt_array *nn_pairwise_distance(tt_composer *c, tt_call_frame *f) {
  tt_array *a, *b;
  tt_dtype t;
  double p = tt__arg_float(c, f, 2, 2), eps = tt__arg_float(c, f, 3, 1e-6);
  bool keep = tt__arg_bool(c, f, 4, false);
  if (!meet(c, f, "pairwise_distance", &a, &b, &t) || c->code != TT_OK) return NULL;
  if (a->rank == 0) return tt__compose_fail(c, TT_EINDEX, "pairwise_distance: the vectors have no dimensions");
  tt_array *apart = tt__compose_opf(c, TT_ADD, tt__compose_op2(c, TT_SUB, a, b), eps);
  return tt__compose_cast(c, length(c, apart, p, a->rank - 1, keep), t);
}
TT_HANDLER(nn_pairwise_distance)

/* x, p: between all pairs of rows, those of the first row first. */
static tt_array *nn_pdist(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "pdist");
  double p = tt__arg_float(c, f, 1, 2);
  if (!x || c->code != TT_OK) return NULL;
  if (x->rank != 2) return tt__compose_fail(c, TT_EVALUE, "pdist only supports 2D tensors, got: %dD", x->rank);
  if (!(p >= 0)) return tt__compose_fail(c, TT_EVALUE, "pdist only supports non-negative p values");
  int64_t n = tt__array_len(x)[0], pairs = n > 1 ? n * (n - 1) / 2 : 0, at = 0;
  void *first, *second;
  tt_array *a = tt__compose_block(c, TT_I64, 1, &pairs, &first), *b = tt__compose_block(c, TT_I64, 1, &pairs, &second);
  if (!a || !b) return NULL;
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = i + 1; k < n; k++, at++) {
      ((int64_t *)first)[at] = i;
      ((int64_t *)second)[at] = k;
    }
  tt_array *apart = tt__compose_op2(c, TT_SUB, tt__compose_take(c, x, a, 0), tt__compose_take(c, x, b, 0));
  return tt__nn_result(c, f, length(c, apart, p, 1, false), given, -1);
}
TT_HANDLER(nn_pdist)

/* ---- a class by chance: logits, tau, hard, eps, dim */

/* 1 at the largest along an axis, with the slope of the shares. */
static tt_array *one_of(tt_composer *c, tt_array *y, int axis) {
  const tt_value arg[] = {tt_v_array(y), tt_v_int(axis), {.tag = TT_V_NONE}, {.tag = TT_V_BOOL, .as.b = true}};
  tt_array *all = tt__nn_along(c, tt__compose_iota(c, tt__array_len(y)[axis]), y->rank, axis), *still = NULL;
  tt_array *is = tt__compose_op2(c, TT_EQ, all, tt__fn_call(c, "argmax", arg, 4));
  if (!is || !tt__compose_keep(c, tt__leaf_detach(y, &still, c->err), &still)) return NULL;
  tt_array *hard = tt__compose_cast(c, is, (tt_dtype)y->dtype);
  return tt__compose_op2(c, TT_ADD, tt__compose_op2(c, TT_SUB, hard, still), y);
}

static tt_array *nn_gumbel_softmax(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "gumbel_softmax");
  double tau = tt__arg_float(c, f, 1, 1);
  bool hard = tt__arg_bool(c, f, 2, false);
  if (!x || c->code != TT_OK) return NULL;
  if (x->rank == 0) return tt__compose_fail(c, TT_EVALUE, "gumbel_softmax: there is no axis of classes");
  int axis = tt__nn_axis(c, f, 4, x->rank, x->rank - 1);
  tt_draw d = {.c = c, .f = f, .real = (tt_dtype)x->dtype};
  if (c->code != TT_OK || !tt__draw_shape_fixed(&d, x->rank, tt__array_len(x))) return NULL;
  tt_array *waits = tt__compose_op1(c, TT_LOG1P, tt__compose_op1(c, TT_NEG, tt__draw_uniform(&d, d.real)));
  waits = tt__compose_opf(c, TT_MAXIMUM, tt__compose_op1(c, TT_NEG, waits), FLT_MIN); /* a draw of 0 waits no time */
  tt_array *more = tt__compose_op2(c, TT_SUB, x, tt__compose_op1(c, TT_LOG, waits));
  tt_array *y = tt__nn_softmax(c, tt__compose_opf(c, TT_DIV, more, tau), axis);
  return tt__nn_result(c, f, y && hard ? one_of(c, y, axis) : y, given, -1);
}
TT_HANDLER(nn_gumbel_softmax)
