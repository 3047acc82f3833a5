/*
** Reductions that pass over NaN, averages, covariances: spelled in the plain reductions.
*/
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"
#include "fn/linalg/matrix.h"

/* A copy of a call's arguments, to be changed and handed to another row. */
typedef struct args {
  tt_value v[12];
  int n;
} args;

static args args_of(const tt_call_frame *f) {
  args a = {.n = f->narg};
  memcpy(a.v, f->arg, sizeof *a.v * (size_t)f->narg);
  return a;
}

static bool has_nan(tt_array *a) { return tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype); }

/* a with a value in the place of each NaN; a itself when its type has none. */
static tt_array *without_nan(tt_composer *c, tt_array *a, tt_value with) {
  if (!a || !has_nan(a)) return a;
  tt_array *r = tt__compose_where(c, tt__compose_op1(c, TT_ISNAN, a), with, tt_v_array(a));
  return tt__compose_cast(c, r, (tt_dtype)a->dtype);
}

static tt_array *filled_call(tt_composer *c, tt_call_frame *f, const char *row, tt_value with) {
  tt_array *a = without_nan(c, tt__arg_array(c, f, 0), with);
  if (!a) return NULL;
  args v = args_of(f);
  v.v[0] = tt_v_array(a);
  return tt__fn_call(c, row, v.v, v.n);
}

static tt_array *nansum(tt_composer *c, tt_call_frame *f) { return filled_call(c, f, "sum", tt_v_int(0)); }
static tt_array *nanprod(tt_composer *c, tt_call_frame *f) { return filled_call(c, f, "prod", tt_v_int(1)); }
TT_HANDLER(nansum)
TT_HANDLER(nanprod)

/* Is everything along the axes NaN? */
static tt_array *all_nan(tt_composer *c, tt_array *a, uint64_t axes, bool keep) {
  tt_array *nan = tt__compose_op1(c, TT_ISNAN, a);
  return nan ? tt__compose_reduce(c, TT_RED_ALL, nan, axes, keep) : NULL;
}

/* (a, axis, out, keepdims, initial, where): the extreme of what is no NaN; NaN where nothing is left. */
static tt_array *nan_extreme(tt_composer *c, tt_call_frame *f, bool largest) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  if (c->code != TT_OK) return NULL;
  int64_t n = 1;
  for (int d = 0; d < a->rank; d++)
    if (axes >> d & 1) n *= tt__array_len(a)[d];
  if (n == 0 && !tt__arg_given(f, 4))
    return tt__compose_fail(c, TT_EVALUE, "zero-size array to reduction operation %s which has no identity",
                            largest ? "fmax" : "fmin");
  args v = args_of(f);
  if (v.n > 2) v.v[2] = (tt_value){.tag = TT_V_MISSING};
  v.v[0] = tt_v_array(without_nan(c, a, tt_v_float(largest ? -(double)INFINITY : (double)INFINITY)));
  tt_array *r = c->code == TT_OK ? tt__fn_call(c, largest ? "max" : "min", v.v, v.n) : NULL;
  if (r && has_nan(a) && !tt__arg_given(f, 4)) {
    tt_array *lost = all_nan(c, a, axes, tt__arg_bool(c, f, 3, false));
    r = tt__compose_cast(c, tt__compose_where(c, lost, tt_v_float((double)NAN), tt_v_array(r)), (tt_dtype)a->dtype);
    r = tt__compose_warn_where(c, lost, r, "All-NaN slice encountered");
  }
  return tt__arg_out(c, f, 2, r);
}

static tt_array *nanmax(tt_composer *c, tt_call_frame *f) { return nan_extreme(c, f, true); }
static tt_array *nanmin(tt_composer *c, tt_call_frame *f) { return nan_extreme(c, f, false); }
TT_HANDLER(nanmax)
TT_HANDLER(nanmin)

static tt_array *nan_position(tt_composer *c, tt_call_frame *f, bool largest) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  if (c->code == TT_OK && has_nan(a) && a->size > 0) {
    tt_array *some = all_nan(c, a, axes, false);
    uint64_t rest = some ? (UINT64_C(1) << some->rank) - 1 : 0;
    some = some && rest ? tt__compose_reduce(c, TT_RED_ANY, some, rest, false) : some;
    const bool *lost = tt__compose_peek(c, some);
    if (lost && *lost) return tt__compose_fail(c, TT_EVALUE, "All-NaN slice encountered");
  }
  return filled_call(c, f, largest ? "argmax" : "argmin", tt_v_float(largest ? -(double)INFINITY : (double)INFINITY));
}

static tt_array *nanargmax(tt_composer *c, tt_call_frame *f) { return nan_position(c, f, true); }
static tt_array *nanargmin(tt_composer *c, tt_call_frame *f) { return nan_position(c, f, false); }
TT_HANDLER(nanargmax)
TT_HANDLER(nanargmin)

/* The moment with a mask that leaves NaN out; `where` is where the row takes it. The row warns of what is left. */
static tt_array *masked_call(tt_composer *c, tt_call_frame *f, const char *row, int where) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  args v = args_of(f);
  if (has_nan(a)) {
    tt_array *valid = tt__compose_op1(c, TT_LNOT, tt__compose_op1(c, TT_ISNAN, a));
    tt_array *mask = tt__arg_mask(c, f, where);
    if (mask) valid = tt__compose_op2(c, TT_LAND, valid, mask);
    if (!valid) return NULL;
    for (; v.n <= where; v.n++) v.v[v.n].tag = TT_V_MISSING;
    v.v[where] = tt_v_array(valid);
  }
  v.v[0] = tt_v_array(a);
  return tt__fn_call(c, row, v.v, v.n);
}

static tt_array *nanmean(tt_composer *c, tt_call_frame *f) { return masked_call(c, f, "mean", 5); }
static tt_array *nanvar(tt_composer *c, tt_call_frame *f) { return masked_call(c, f, "var", 6); }
static tt_array *nanstd(tt_composer *c, tt_call_frame *f) { return masked_call(c, f, "std", 6); }
TT_HANDLER(nanmean)
TT_HANDLER(nanvar)
TT_HANDLER(nanstd)

/* ---- average */

static tt_array *call2(tt_composer *c, const char *row, tt_array *a, tt_value axis, bool keep) {
  tt_value v[5] = {tt_v_array(a), axis, {TT_V_MISSING, {0}}, {TT_V_MISSING, {0}}, {.tag = TT_V_BOOL, .as.b = keep}};
  return a ? tt__fn_call(c, row, v, 5) : NULL;
}

/* Weights as they lie along a: the same shape, or one for each place along the axes. */
static tt_array *weights_along(tt_composer *c, const tt_call_frame *f, tt_array *a, tt_array *w, uint64_t axes) {
  if (w->rank == a->rank && memcmp(tt__array_len(w), tt__array_len(a), sizeof(int64_t) * a->rank) == 0) return w;
  if (!tt__arg_given(f, 1))
    return tt__compose_fail(c, TT_ETYPE, "Axis must be specified when shapes of a and weights differ.");
  int64_t raw[TT_MAX_RANK], len[TT_MAX_RANK];
  int n = tt__arg_ints(c, f, 1, raw, TT_MAX_RANK), order[TT_MAX_RANK], at = 0;
  bool fits = n == w->rank && c->code == TT_OK;
  for (int k = 0; k < n && fits; k++)
    fits = tt__array_len(w)[k] == tt__array_len(a)[raw[k] < 0 ? raw[k] + a->rank : raw[k]];
  if (!fits)
    return tt__compose_fail(c, TT_EVALUE, "Shape of weights must be consistent with shape of a along specified axis.");
  for (int d = 0; d < a->rank; d++) {
    len[d] = axes >> d & 1 ? tt__array_len(a)[d] : 1;
    for (int k = 0; k < n; k++)
      if ((raw[k] < 0 ? raw[k] + a->rank : raw[k]) == d) order[at++] = k;
  }
  return tt__compose_reshape(c, tt__compose_transpose(c, w, order), a->rank, len);
}

/* average(a, axis, weights, returned, keepdims) */
static tt_array *average(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *r, *total;
  bool returned = tt__arg_bool(c, f, 3, false), keep = tt__arg_bool(c, f, 4, false);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  tt_value axis = f->narg > 1 ? f->arg[1] : (tt_value){.tag = TT_V_MISSING};
  if (c->code != TT_OK) return NULL;
  if (!tt__arg_given(f, 2)) {
    if (!(r = call2(c, "mean", a, axis, keep)) || !returned) return r;
    double n = r->size ? (double)a->size / (double)r->size : 0;
    total = tt__compose_full(c, (tt_dtype)r->dtype, r->rank, tt__array_len(r), tt_v_float(n));
  } else {
    tt_array *w = tt__arg_array(c, f, 2);
    if (!w || !(w = weights_along(c, f, a, w, axes))) return NULL;
    tt_dtype type = tt__promote((tt_dtype)a->dtype, (tt_dtype)w->dtype);
    if (a->dtype == TT_BOOL || tt__is_int((tt_dtype)a->dtype)) type = tt__promote(type, TT_F64);
    w = tt__compose_cast(c, w, type);
    tt_array *wide = w ? tt__compose_broadcast(c, w, a->rank, tt__array_len(a)) : NULL;
    total = call2(c, "sum", wide, axis, keep);
    tt_array *zero = tt__compose_opi(c, TT_EQ, total, 0);
    if (!zero) return NULL;
    if (zero->rank) zero = tt__compose_reduce(c, TT_RED_ANY, zero, (UINT64_C(1) << zero->rank) - 1, false);
    const bool *none = tt__compose_peek(c, zero);
    if (!none) return NULL;
    if (*none) return tt__compose_fail(c, TT_EZERODIV, "Weights sum to zero, can't be normalized");
    r = tt__compose_op2(c, TT_DIV, call2(c, "sum", tt__compose_op2(c, TT_MUL, a, w), axis, keep), total);
  }
  if (!returned) return r;
  return r && tt__fn_give(c, f, r) && tt__fn_give(c, f, tt__compose_copy(c, total)) ? r : NULL;
}
TT_HANDLER(average)

/* ---- covariance: variables in rows */

static tt_array *variables(tt_composer *c, const tt_call_frame *f, int k, bool rowvar, tt_dtype type, bool turn) {
  tt_array *a = tt__compose_cast(c, tt__arg_array(c, f, k), type);
  if (!a) return NULL;
  int64_t len[2] = {1, a->size};
  if (a->rank < 2) a = tt__compose_reshape(c, a, 2, len);
  bool row = a && tt__array_len(a)[0] == 1; /* of y that is one variable either way, as NumPy has it */
  return a && !rowvar && turn && (k == 0 || !row) ? tt__compose_swap(c, a) : a;
}

static tt_array *observations(tt_composer *c, const tt_call_frame *f, bool rowvar, tt_dtype type) {
  tt_array *m = tt__arg_array(c, f, 0), *y = tt__arg_given(f, 1) ? tt__arg_array(c, f, 1) : NULL;
  if (!m || c->code != TT_OK) return NULL;
  if (m->rank > 2) return tt__compose_fail(c, TT_EVALUE, "m has more than 2 dimensions");
  if (y && y->rank > 2) return tt__compose_fail(c, TT_EVALUE, "y has more than 2 dimensions");
  tt_array *part[2] = {variables(c, f, 0, rowvar, type, m->rank > 1), NULL};
  if (!y || !part[0] || tt__array_len(part[0])[0] == 0) return part[0]; /* of nothing there is no covariance */
  part[1] = variables(c, f, 1, rowvar, type, true);
  if (!part[1]) return NULL;
  int64_t n = tt__array_len(part[0])[1], k = tt__array_len(part[1])[1];
  if (n != k)
    return tt__compose_fail(
        c, TT_EVALUE,
        "all the input array dimensions except for the concatenation axis must match exactly, but along dimension 1, "
        "the array at index 0 has size %lld and the array at index 1 has size %lld",
        (long long)n, (long long)k);
  return tt__compose_concat(c, part, 2, 0);
}

static tt_dtype wide_type(tt_composer *c, const tt_call_frame *f, int dtype) {
  tt_dtype type = TT_F64;
  for (int k = 0; k < 2; k++) {
    tt_array *a = tt__arg_given(f, k) ? tt__arg_array(c, f, k) : NULL;
    if (a) type = tt__promote(type, (tt_dtype)a->dtype);
  }
  return tt__arg_dtype(c, f, dtype, type);
}

/* Are the weights what they are called? Looked at now: of negative ones a covariance would be wrong without a word. */
static bool are_weights(tt_composer *c, tt_array *a, const char *name, bool whole) {
  const double *w = tt__compose_peek(c, a);
  for (int64_t i = 0; w && whole && i < a->size; i++)
    if (w[i] != rint(w[i])) return tt__compose_fail(c, TT_ETYPE, "%s must be integer", name), false;
  for (int64_t i = 0; w && i < a->size; i++)
    if (w[i] < 0) return tt__compose_fail(c, TT_EVALUE, "%s cannot be negative", name), false;
  return w != NULL;
}

/* Frequencies and importances as one weight for each observation; NULL without either. */
static tt_array *weights_of(tt_composer *c, const tt_call_frame *f, int64_t n) {
  tt_array *w = NULL;
  for (int k = 5; k <= 6; k++) {
    const char *name = k == 5 ? "fweights" : "aweights";
    if (!tt__arg_given(f, k)) continue;
    tt_array *a = tt__arg_array(c, f, k);
    if (!a) return NULL;
    if (a->rank > 1) return tt__compose_fail(c, TT_EVALUE, "cannot handle multidimensional %s", name);
    if (a->size != n) return tt__compose_fail(c, TT_EVALUE, "incompatible numbers of samples and %s", name);
    a = tt__compose_cast(c, a, TT_F64);
    if (!a || !are_weights(c, a, name, k == 5)) return NULL;
    w = w ? tt__compose_op2(c, TT_MUL, w, a) : a;
  }
  return w;
}

static tt_array *sum_all(tt_composer *c, tt_array *a) {
  return a ? tt__compose_sum(c, a, (UINT64_C(1) << a->rank) - 1, false) : NULL;
}

/* n - ddof (of m variables), with weights the sum of them less what the estimate takes; at least 0. */
static tt_array *degrees_of_freedom(tt_composer *c, const tt_call_frame *f, tt_array *w, int64_t m, int64_t n,
                                    double ddof) {
  static const char words[] = "Degrees of freedom <= 0 for slice";
  int64_t *none = NULL;
  if (!w && (double)n - ddof <= 0 && m > 0) tt__warn(TT_WARN_RUNTIME, "%s", words);
  if (!w) return tt__compose_full(c, TT_F64, 0, none, tt_v_float((double)n - ddof > 0 ? (double)n - ddof : 0));
  tt_array *total = sum_all(c, w);
  if (tt__arg_given(f, 6)) {
    tt_array *own = tt__compose_op2(c, TT_MUL, w, tt__compose_cast(c, tt__arg_array(c, f, 6), TT_F64));
    total = tt__compose_op2(c, TT_SUB, total,
                            tt__compose_op2(c, TT_DIV, tt__compose_opf(c, TT_MUL, sum_all(c, own), ddof), total));
  } else {
    total = tt__compose_opf(c, TT_SUB, total, ddof);
  }
  total = tt__compose_warn_where(c, tt__compose_opf(c, TT_LE, total, 0), total, words);
  return tt__compose_opf(c, TT_MAXIMUM, total, 0);
}

/* The covariance matrix, always with two axes. */
static tt_array *covariance(tt_composer *c, const tt_call_frame *f, int dtype, bool weighted, double ddof) {
  bool rowvar = tt__arg_bool(c, f, 2, true);
  tt_dtype type = wide_type(c, f, dtype);
  tt_array *x = observations(c, f, rowvar, type), *w = NULL;
  if (!x || c->code != TT_OK) return NULL;
  int64_t n = tt__array_len(x)[1], none[2] = {0, 0};
  if (tt__array_len(x)[0] == 0) return tt__compose_empty(c, TT_F64, 2, none);
  if (weighted) w = weights_of(c, f, n);
  if (c->code != TT_OK) return NULL;
  if (type == TT_BOOL || tt__is_int(type))
    return tt__compose_fail(
        c, TT_ETYPE,
        "Cannot cast ufunc 'subtract' output from dtype('float64') to dtype('%s') with casting rule "
        "'same_kind'",
        tt__dtypes[type].name);
  tt_array *mean = tt__compose_sum(c, w ? tt__compose_op2(c, TT_MUL, x, w) : x, 2, true);
  mean = w ? tt__compose_op2(c, TT_DIV, mean, sum_all(c, w)) : tt__compose_opf(c, TT_DIV, mean, (double)n);
  tt_array *d = tt__compose_op2(c, TT_SUB, x, mean), *e = w ? tt__compose_op2(c, TT_MUL, d, w) : d;
  tt_array *s = e ? tt__compose_matmul(c, d, tt__compose_adjoint(c, e)) : NULL;
  tt_array *part = degrees_of_freedom(c, f, w, tt__array_len(x)[0], n, ddof);
  part = part ? tt__compose_apply(c, TT_DIV, (tt_value[2]){tt_v_float(1), tt_v_array(part)}, 2, TT_DTYPE_NONE) : NULL;
  tt_array *r = tt__compose_op2(c, TT_MUL, s, part); /* as NumPy rounds it */
  return r ? tt__compose_cast(c, r, (tt_dtype)x->dtype) : NULL;
}

static tt_array *squeezed(tt_composer *c, tt_array *a) {
  return a && a->size == 1 ? tt__compose_reshape(c, a, 0, tt__array_len(a)) : a;
}

/* cov(m, y, rowvar, bias, ddof, fweights, aweights, dtype) */
static tt_array *cov(tt_composer *c, tt_call_frame *f) {
  double ddof = tt__arg_float(c, f, 4, tt__arg_bool(c, f, 3, false) ? 0 : 1);
  if (ddof != floor(ddof)) return tt__compose_fail(c, TT_EVALUE, "ddof must be integer");
  return squeezed(c, covariance(c, f, 7, true, ddof));
}
TT_HANDLER(cov)

static tt_array *within_one(tt_composer *c, tt_array *a) {
  return tt__compose_opf(c, TT_MAXIMUM, tt__compose_opf(c, TT_MINIMUM, a, 1), -1);
}

/* corrcoef(x, y, rowvar, dtype) */
static tt_array *corrcoef(tt_composer *c, tt_call_frame *f) {
  tt_array *s = covariance(c, f, 3, false, 1);
  if (!s) return NULL;
  tt_array *d = tt__compose_diagonal(c, s, 0, 0, 1);
  if (d && tt__is_complex((tt_dtype)d->dtype)) d = tt__compose_op1(c, TT_REAL, d);
  d = tt__compose_op1(c, TT_SQRT, d);
  if (!d) return NULL;
  tt_array *r = tt__compose_op2(c, TT_DIV, tt__compose_op2(c, TT_DIV, s, tt__compose_expand(c, d, 1)),
                                tt__compose_expand(c, d, 0));
  if (!r || !tt__is_complex((tt_dtype)r->dtype)) return squeezed(c, within_one(c, r));
  tt_array *re = within_one(c, tt__compose_op1(c, TT_REAL, r)), *im = within_one(c, tt__compose_op1(c, TT_IMAG, r));
  return squeezed(c, tt__compose_complex(c, re, im));
}
TT_HANDLER(corrcoef)
