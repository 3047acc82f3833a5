/*
** Norms, and the functions that are made of singular values: rank, condition, pseudo-inverse.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "fn/linalg/linalg.h"
#include "fn/linalg/matrix.h"
#include "graph/session.h"
#include "graph/tape.h"

typedef enum norm_kind { NORM_DEFAULT, NORM_NUMBER, NORM_FRO, NORM_NUC, NORM_OTHER } norm_kind;

typedef struct norm_order {
  norm_kind kind;
  double p;
  const char *text;
} norm_order;

static norm_order read_order(tt_composer *c, const tt_call_frame *f, int k, norm_order fallback) {
  if (!tt__arg_given(f, k)) return fallback;
  if (f->arg[k].tag == TT_V_STRING) {
    const char *s = f->arg[k].as.s;
    return (norm_order){strcmp(s, "fro") == 0 || strcmp(s, "f") == 0 ? NORM_FRO
                        : strcmp(s, "nuc") == 0                      ? NORM_NUC
                                                                     : NORM_OTHER,
                        0, s};
  }
  return (norm_order){NORM_NUMBER, tt__arg_float(c, f, k, 0), NULL};
}

/* Integers become float64: what norms are computed in. */
static tt_array *inexact(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  return tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype) ? a : tt__compose_cast(c, a, TT_F64);
}

static tt_array *absolute(tt_composer *c, tt_array *a) { return tt__compose_op1(c, TT_ABS, a); }

/* |a| squared: no root on the way. */
static tt_array *squares(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  if (!tt__is_complex((tt_dtype)a->dtype)) return tt__compose_op1(c, TT_SQUARE, a);
  return tt__compose_op2(c, TT_ADD, tt__compose_op1(c, TT_SQUARE, tt__compose_op1(c, TT_REAL, a)),
                         tt__compose_op1(c, TT_SQUARE, tt__compose_op1(c, TT_IMAG, a)));
}

/* The Euclidean norm: one kernel, rounded to float16 only at the end. */
static tt_array *euclid(tt_composer *c, tt_array *a, uint64_t axes, bool keep) {
  if (!a) return NULL;
  tt_dtype type = tt__real_of((tt_dtype)a->dtype);
  bool half = type == TT_F16 || type == TT_BF16;
  tt_array *s = squares(c, half ? tt__compose_cast(c, a, TT_F32) : a);
  return tt__compose_cast(c, tt__fn_root(c, tt__compose_reduce(c, TT_RED_SUM, s, axes, keep)), type);
}

/* The largest (or smallest) over axes; NumPy 2 starts the largest at 0, so that nothing has norm 0. */
static tt_array *extreme(tt_composer *c, tt_array *a, uint64_t axes, bool keep, bool largest) {
  if (!a) return NULL;
  int64_t len[TT_MAX_RANK];
  int n = 0;
  bool none = false;
  for (int d = 0; d < a->rank; d++) {
    bool gone = axes >> d & 1;
    none |= gone && tt__array_len(a)[d] == 0;
    if (!gone || keep) len[n++] = gone ? 1 : tt__array_len(a)[d];
  }
  if (none && largest) return tt__compose_full(c, (tt_dtype)a->dtype, n, len, tt_v_int(0));
  return tt__compose_reduce(c, largest ? TT_RED_MAX : TT_RED_MIN, a, axes, keep);
}

/* a to the power p, a >= 0. With a history the numbers are the same, and 0 and infinity have no slope. */
static tt_array *power(tt_composer *c, tt_array *a, double p) {
  if (!a || !tt__is_taped(a->storage->node)) return tt__compose_opf(c, TT_POW, a, p);
  tt_array *none = tt__compose_opi(c, TT_EQ, a, 0), *much = tt__compose_opf(c, TT_EQ, a, INFINITY);
  tt_array *ends = tt__compose_op2(c, TT_LOR, none, much);
  tt_array *some = ends ? tt__compose_where(c, ends, tt_v_int(1), tt_v_array(a)) : NULL;
  tt_array *r = some ? tt__compose_opf(c, TT_POW, some, p) : NULL;
  r = r ? tt__compose_where(c, none, tt_v_float(p > 0 ? 0 : INFINITY), tt_v_array(r)) : NULL;
  return r ? tt__compose_where(c, much, tt_v_float(p > 0 ? INFINITY : 0), tt_v_array(r)) : NULL;
}

static tt_array *vector_norm(tt_composer *c, tt_array *a, norm_order ord, uint64_t axes, bool keep) {
  if (!a) return NULL;
  if (ord.kind == NORM_DEFAULT || (ord.kind == NORM_NUMBER && ord.p == 2)) return euclid(c, a, axes, keep);
  if (ord.kind != NORM_NUMBER) return tt__compose_fail(c, TT_EVALUE, "Invalid norm order '%s' for vectors", ord.text);
  if (isinf(ord.p)) return extreme(c, absolute(c, a), axes, keep, ord.p > 0);
  tt_dtype type = tt__real_of((tt_dtype)a->dtype);
  if (ord.p == 0) return tt__compose_sum(c, tt__compose_cast(c, tt__compose_opi(c, TT_NE, a, 0), type), axes, keep);
  if (ord.p == 1) return tt__compose_sum(c, absolute(c, a), axes, keep);
  return power(c, tt__compose_sum(c, power(c, absolute(c, a), ord.p), axes, keep), 1 / ord.p);
}

/* Sums along one of the last two axes, then the extreme along the other. */
static tt_array *line_norm(tt_composer *c, tt_array *a, bool rows, bool largest) {
  uint64_t last = UINT64_C(1) << (a->rank - 1), before = last >> 1;
  tt_array *s = tt__compose_sum(c, absolute(c, a), rows ? last : before, true);
  return extreme(c, s, rows ? before : last, true, largest);
}

/* Of the last two axes; they are gone unless `keep`. */
static tt_array *matrix_norm(tt_composer *c, tt_array *a, norm_order ord, bool keep) {
  if (!a) return NULL;
  uint64_t last = UINT64_C(1) << (a->rank - 1), both = last | last >> 1;
  if (ord.kind == NORM_DEFAULT || ord.kind == NORM_FRO) return euclid(c, a, both, keep);
  bool singular = ord.kind == NORM_NUC || (ord.kind == NORM_NUMBER && fabs(ord.p) == 2);
  bool lines = ord.kind == NORM_NUMBER && (fabs(ord.p) == 1 || isinf(ord.p));
  if (!singular && !lines) return tt__compose_fail(c, TT_EVALUE, "Invalid norm order for matrices.");
  tt_array *r;
  if (singular) {
    tt_array *s = tt__linalg_svdvals_of(c, a);
    if (!s) return NULL;
    uint64_t values = UINT64_C(1) << (s->rank - 1);
    r = ord.kind == NORM_NUC ? tt__compose_sum(c, s, values, false) : extreme(c, s, values, false, ord.p > 0);
  } else {
    r = line_norm(c, a, isinf(ord.p), ord.p > 0);
  }
  int64_t len[TT_MAX_RANK];
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  len[a->rank - 2] = len[a->rank - 1] = 1;
  return tt__compose_reshape(c, r, keep ? a->rank : a->rank - 2, len);
}

/* Axes i and j moved to the end, the result's axes of length 1 back to where they were. */
static tt_array *matrix_norm_at(tt_composer *c, tt_array *a, norm_order ord, int i, int j, bool keep) {
  if (!a) return NULL;
  int order[TT_MAX_RANK], n = 0;
  for (int d = 0; d < a->rank; d++)
    if (d != i && d != j) order[n++] = d;
  order[n] = i;
  order[n + 1] = j;
  tt_array *r = matrix_norm(c, tt__compose_transpose(c, a, order), ord, false);
  if (!r || !keep) return r;
  int64_t len[TT_MAX_RANK];
  for (int d = 0; d < a->rank; d++) len[d] = d == i || d == j ? 1 : tt__array_len(a)[d];
  return tt__compose_reshape(c, r, a->rank, len);
}

static uint64_t every_axis(tt_array *a) { return a->rank == 64 ? ~UINT64_C(0) : (UINT64_C(1) << a->rank) - 1; }

static tt_array *norm(tt_composer *c, tt_call_frame *f) {
  tt_array *a = inexact(c, tt__arg_array(c, f, 0));
  norm_order none = {NORM_DEFAULT, 0, NULL}, ord = read_order(c, f, 1, none);
  bool keep = tt__arg_bool(c, f, 3, false);
  if (!a || c->code != TT_OK) return NULL;
  if (!tt__arg_given(f, 2)) {
    bool plain = ord.kind == NORM_DEFAULT || (ord.kind == NORM_FRO && a->rank == 2) ||
                 (ord.kind == NORM_NUMBER && ord.p == 2 && a->rank == 1);
    if (plain) return euclid(c, a, every_axis(a), keep);
    if (a->rank == 1) return vector_norm(c, a, ord, 1, keep);
    if (a->rank == 2) return matrix_norm(c, a, ord, keep);
    return tt__compose_fail(c, TT_EVALUE, "Improper number of dimensions to norm.");
  }
  int64_t raw[TT_MAX_RANK];
  int axis[2] = {0, 0}, n = tt__arg_ints(c, f, 2, raw, TT_MAX_RANK);
  if (c->code == TT_OK && n != 1 && n != 2)
    return tt__compose_fail(c, TT_EVALUE, "Improper number of dimensions to norm.");
  for (int k = 0; k < n && c->code == TT_OK; k++) c->code = tt__shape_axis(raw[k], a->rank, &axis[k], c->err);
  if (c->code != TT_OK) return NULL;
  if (n == 1) return vector_norm(c, a, ord, UINT64_C(1) << axis[0], keep);
  if (axis[0] == axis[1]) return tt__compose_fail(c, TT_EVALUE, "Duplicate axes given.");
  return matrix_norm_at(c, a, ord, axis[0], axis[1], keep);
}
TT_HANDLER(norm)

/* vector_norm(x, axis, keepdims, ord) */
static tt_array *linalg_vector_norm(tt_composer *c, tt_call_frame *f) {
  tt_array *a = inexact(c, tt__arg_array(c, f, 0));
  norm_order two = {NORM_NUMBER, 2, NULL}, ord = read_order(c, f, 3, two);
  return a ? vector_norm(c, a, ord, tt__arg_axes(c, f, 1, a->rank), tt__arg_bool(c, f, 2, false)) : NULL;
}
TT_HANDLER(linalg_vector_norm)

/* matrix_norm(x, keepdims, ord) */
static tt_array *linalg_matrix_norm(tt_composer *c, tt_call_frame *f) {
  tt_array *a = inexact(c, tt__arg_array(c, f, 0));
  norm_order fro = {NORM_FRO, 0, "fro"}, ord = read_order(c, f, 2, fro);
  if (a && a->rank < 2)
    return tt__compose_fail(c, TT_EAXIS, "axis -2 is out of bounds for array of dimension %d", a->rank);
  return matrix_norm(c, a, ord, tt__arg_bool(c, f, 1, false));
}
TT_HANDLER(linalg_matrix_norm)

/* ---- condition, rank, pseudo-inverse */

/* In double precision: what is next to nothing decides. */
static tt_array *wide_operand(tt_composer *c, tt_array *a) {
  a = tt__linalg_operand(c, a, false);
  return a ? tt__compose_cast(c, a, tt__is_complex((tt_dtype)a->dtype) ? TT_C128 : TT_F64) : NULL;
}

static bool is_empty(tt_array *a) {
  return a->size == 0 && tt__array_len(a)[a->rank - 1] * tt__array_len(a)[a->rank - 2] == 0;
}

/* Value k of the last axis. */
static tt_array *last_at(tt_composer *c, tt_array *a, int64_t k) {
  if (!a) return NULL;
  int n = a->rank - 1;
  return tt__compose_view(c, a, n, tt__array_len(a), tt__array_step(a),
                          a->off + (a->size ? k * tt__array_step(a)[n] : 0));
}

static tt_array *cond(tt_composer *c, tt_call_frame *f) {
  norm_order none = {NORM_DEFAULT, 0, NULL}, p = read_order(c, f, 1, none);
  tt_array *x = tt__arg_array(c, f, 0);
  if (x && is_empty(x)) return tt__compose_fail(c, TT_ELINALG, "cond is not defined on empty arrays");
  tt_array *a = wide_operand(c, x), *r;
  if (!a) return NULL;
  tt_dtype type = tt__real_of(tt__linalg_type(c, &x, 1));
  if (p.kind == NORM_DEFAULT || (p.kind == NORM_NUMBER && fabs(p.p) == 2)) {
    tt_array *s = tt__linalg_svdvals_of(c, a);
    if (!s) return NULL;
    int64_t n = tt__array_len(s)[s->rank - 1];
    bool inverse = p.kind == NORM_NUMBER && p.p < 0;
    r = tt__compose_op2(c, TT_DIV, last_at(c, s, inverse ? n - 1 : 0), last_at(c, s, inverse ? 0 : n - 1));
  } else {
    if (!tt__compose_is_square(c, a)) return NULL;
    r = tt__compose_op2(c, TT_MUL, matrix_norm(c, a, p, false),
                        matrix_norm(c, tt__linalg_inv_of(c, a, true), p, false));
  }
  r = tt__compose_cast(c, r, type);
  tt_array *nan = tt__compose_op1(c, TT_ISNAN, a);
  if (!r || !nan) return NULL;
  tt_array *given = tt__compose_reduce(c, TT_RED_ANY, nan, UINT64_C(3) << (a->rank - 2), false);
  tt_array *lost = tt__compose_op2(c, TT_AND, tt__compose_op1(c, TT_ISNAN, r), tt__compose_op1(c, TT_LNOT, given));
  return tt__compose_where(c, lost, tt_v_float((double)INFINITY), tt_v_array(r));
}
TT_HANDLER(cond)

/* An argument that is a number or one number per matrix, with an axis of length 1 behind. */
static tt_array *per_matrix(tt_composer *c, const tt_call_frame *f, int k) {
  tt_array *a = tt__arg_array(c, f, k);
  return a ? tt__compose_expand(c, a, a->rank) : NULL;
}

static double epsilon(tt_dtype t) { return tt__real_of(t) == TT_F32 ? (double)FLT_EPSILON : DBL_EPSILON; }

static double longer_side(tt_array *a) {
  int64_t m = tt__array_len(a)[a->rank - 2], n = tt__array_len(a)[a->rank - 1];
  return (double)(m > n ? m : n);
}

/* matrix_rank(A, tol, hermitian, rtol) */
static tt_array *matrix_rank(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  if (tt__arg_given(f, 1) && tt__arg_given(f, 3))
    return tt__compose_fail(c, TT_EVALUE, "`tol` and `rtol` can't be both set.");
  if (a->rank < 2) {
    tt_array *some = tt__compose_reduce(c, TT_RED_ANY, tt__compose_opi(c, TT_NE, a, 0), every_axis(a), false);
    return tt__compose_cast(c, some, TT_I64);
  }
  tt_array *s = tt__linalg_svdvals_of(c, a), *tol;
  if (!s) return NULL;
  uint64_t values = UINT64_C(1) << (s->rank - 1);
  if (tt__arg_given(f, 1)) {
    tol = per_matrix(c, f, 1);
  } else {
    tt_array *top = extreme(c, s, values, true, true);
    tol = tt__arg_given(f, 3) ? tt__compose_op2(c, TT_MUL, top, per_matrix(c, f, 3))
                              : tt__compose_opf(c, TT_MUL, top, longer_side(a) * epsilon((tt_dtype)s->dtype));
  }
  tt_array *counts = tt__compose_cast(c, tt__compose_op2(c, TT_GT, s, tol), TT_I64);
  return counts ? tt__compose_reduce(c, TT_RED_SUM, counts, UINT64_C(1) << (counts->rank - 1), false) : NULL;
}
TT_HANDLER(matrix_rank)

static tt_array *pinv_of(tt_composer *c, tt_call_frame *f, tt_array *given, tt_dtype type) {
  tt_array *a = wide_operand(c, given), *out[3], *cut;
  if (!a) return NULL;
  bool has_rtol = f->narg > 3 && f->arg[3].tag != TT_V_MISSING;
  if (tt__arg_given(f, 1) && has_rtol) return tt__compose_fail(c, TT_EVALUE, "`rtol` and `rcond` can't be both set.");
  if (is_empty(a)) {
    tt_array *turned = tt__compose_swap(c, a);
    return turned ? tt__compose_empty(c, (tt_dtype)given->dtype, turned->rank, tt__array_len(turned)) : NULL;
  }
  if (!tt__linalg_svd_of(c, tt__compose_conj(c, a), false, out)) return NULL;
  tt_array *s = out[1], *top = extreme(c, s, UINT64_C(1) << (s->rank - 1), true, true);
  if (tt__arg_given(f, 1))
    cut = tt__compose_op2(c, TT_MUL, top, per_matrix(c, f, 1));
  else if (tt__arg_given(f, 3))
    cut = tt__compose_op2(c, TT_MUL, top, per_matrix(c, f, 3));
  else
    cut = tt__compose_opf(c, TT_MUL, top, has_rtol ? longer_side(a) * epsilon(type) : 1e-15);
  tt_array *large = tt__compose_op2(c, TT_GT, s, cut), *inverse = tt__compose_op1(c, TT_RECIPROCAL, s);
  if (!large || !inverse) return NULL;
  s = tt__compose_where(c, large, tt_v_array(inverse), tt_v_float(0));
  s = s ? tt__compose_expand(c, s, s->rank) : NULL;
  tt_array *r =
      tt__compose_matmul(c, tt__compose_swap(c, out[2]), tt__compose_op2(c, TT_MUL, s, tt__compose_swap(c, out[0])));
  return tt__compose_cast(c, r, type);
}

/*
** pinv(a, rcond, hermitian, rtol). Where nothing but rounding is cut its derivative is its own: equal singular values
** have vectors without one.
*/
static tt_array *pinv(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0);
  if (!given) return NULL;
  bool before = tt__session_tape, own = !tt__arg_given(f, 1) && !tt__arg_given(f, 3);
  tt_dtype type = tt__linalg_type(c, &given, 1);
  if (own) tt__session_tape = false;
  tt_array *r = pinv_of(c, f, given, type);
  tt__session_tape = before;
  tt_array *a = own && r ? tt__compose_cast(c, given, type) : NULL;
  return own ? tt__compose_derived(c, "pinv", &a, 1, a ? r : NULL) : r;
}
TT_HANDLER(pinv)

/* ---- diagonals of the last two axes */

static tt_array *last_diagonal(tt_composer *c, const tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->rank < 2) return tt__compose_fail(c, TT_EVALUE, "diag requires an array of at least two dimensions");
  return a ? tt__compose_diagonal(c, a, tt__arg_int(c, f, 1, 0), a->rank - 2, a->rank - 1) : NULL;
}

static tt_array *linalg_diagonal(tt_composer *c, tt_call_frame *f) {
  tt_array *d = last_diagonal(c, f);
  if (d) d->readonly = true;
  return d;
}
TT_HANDLER(linalg_diagonal)

static tt_array *linalg_trace(tt_composer *c, tt_call_frame *f) {
  tt_array *d = last_diagonal(c, f);
  if (!d) return NULL;
  tt_dtype type = tt__arg_dtype(c, f, 2, tt__fn_sum_type((tt_dtype)d->dtype));
  return tt__compose_sum(c, tt__compose_cast(c, d, type), UINT64_C(1) << (d->rank - 1), false);
}
TT_HANDLER(linalg_trace)
