/*
** Medians and quantiles: every line is sorted by the library, and the rest is elementwise, also where NaN is left out
** and each line has its own count.
*/
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"

/* The lines to be summarized: reduced axes merged into a last one, and what the result's shape is made of. */
typedef struct lines {
  tt_array *a;   /* [rest..., n / times] */
  int64_t times; /* that each of its elements stands in a line: most often 1 */
  int64_t n, len[TT_MAX_RANK];
  int rank; /* of the result for one quantile */
} lines;

/* whole: no repetitions are left out. */
static bool make_lines(tt_composer *c, const tt_call_frame *f, int axis, int keepdims, bool whole, lines *l) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return false;
  uint64_t axes = tt__arg_axes(c, f, axis, a->rank);
  bool keep = tt__arg_bool(c, f, keepdims, false);
  int order[TT_MAX_RANK], n = 0, rest;
  int64_t flat[TT_MAX_RANK + 1];
  l->rank = 0;
  l->n = l->times = 1;
  if (!whole && !(a = tt__compose_once(c, TT_RED_MAX, a, axes, &l->times))) return false;
  for (int d = 0; d < a->rank; d++) {
    bool gone = axes >> d & 1;
    if (!gone) flat[n] = tt__array_len(a)[d], order[n++] = d;
    if (!gone || keep) l->len[l->rank++] = gone ? 1 : tt__array_len(a)[d];
  }
  rest = n;
  for (int d = 0; d < a->rank; d++)
    if (axes >> d & 1) l->n *= tt__array_len(a)[d], order[n++] = d;
  flat[rest] = l->n;
  l->a = c->code == TT_OK ? tt__compose_reshape(c, tt__compose_transpose(c, a, order), rest + 1, flat) : NULL;
  l->n *= l->times;
  return l->a != NULL;
}

static bool is_half(tt_dtype t) { return t == TT_F16 || t == TT_BF16; }
static bool can_be_nan(tt_array *a) { return tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype); }

static tt_array *sorted(tt_composer *c, tt_array *a, const tt_lib_attr *attr) {
  return tt__compose_library(c, attr, &a, 1, (tt_dtype)a->dtype, a->rank, tt__array_len(a));
}

static tt_array *line_at(tt_composer *c, tt_array *a, int64_t k) {
  return tt__compose_slice(c, a, a->rank - 1, k, 1, 1);
}

/* Of sorted lines the greatest. */
static tt_array *last_of(tt_composer *c, const lines *l, tt_array *s) { return line_at(c, s, l->n / l->times - 1); }

/* How many elements of each line are no NaN: [rest..., 1], float64. */
static tt_array *count_valid(tt_composer *c, const lines *l) {
  tt_array *valid = tt__compose_cast(c, tt__compose_op1(c, TT_LNOT, tt__compose_op1(c, TT_ISNAN, l->a)), TT_F64);
  valid = valid ? tt__compose_reduce(c, TT_RED_SUM, valid, UINT64_C(1) << (l->a->rank - 1), true) : NULL;
  return valid && l->times > 1 ? tt__compose_opf(c, TT_MUL, valid, (double)l->times) : valid;
}

/* The mean of two values in NumPy's type of a mean. */
static tt_array *middle_of(tt_composer *c, tt_array *lo, tt_array *hi) {
  if (!lo || !hi) return NULL;
  tt_dtype t = (tt_dtype)lo->dtype, type = t == TT_BOOL || tt__is_int(t) ? TT_F64 : t,
           work = is_half(type) ? TT_F32 : type;
  tt_array *s =
      lo == hi
          ? tt__compose_cast(c, lo, work)
          : tt__compose_opf(
                c, TT_DIV, tt__compose_op2(c, TT_ADD, tt__compose_cast(c, lo, work), tt__compose_cast(c, hi, work)), 2);
  return tt__compose_cast(c, s, type);
}

static tt_array *nan_where(tt_composer *c, tt_array *mask, tt_array *r) {
  if (!mask || !r) return NULL;
  return tt__compose_cast(c, tt__compose_where(c, mask, tt_v_float((double)NAN), tt_v_array(r)), (tt_dtype)r->dtype);
}

static tt_array *all_nan(tt_composer *c, const lines *l) {
  tt__warn(TT_WARN_RUNTIME, "Mean of empty slice");
  tt_dtype t = (tt_dtype)l->a->dtype;
  return tt__compose_full(c, can_be_nan(l->a) ? t : TT_F64, l->rank, l->len, tt_v_float((double)NAN));
}

/* median(a, axis, out, overwrite_input, keepdims) */
static tt_array *median(tt_composer *c, tt_call_frame *f) {
  lines l;
  if (!make_lines(c, f, 1, 4, false, &l)) return NULL;
  if (l.n == 0) return tt__arg_out_any(c, f, 2, all_nan(c, &l));
  int64_t below = (l.n - 1) / 2 / l.times, above = l.n / 2 / l.times;
  tt_lib_attr attr = {.row = tt__lib_row("select"), .i = {3, below, above, l.n / l.times - 1}};
  tt_array *s = sorted(c, l.a, &attr);
  if (!s) return NULL;
  tt_array *lo = line_at(c, s, below), *hi = below == above ? lo : line_at(c, s, above), *r = middle_of(c, lo, hi);
  if (can_be_nan(l.a)) r = nan_where(c, tt__compose_op1(c, TT_ISNAN, last_of(c, &l, s)), r);
  return tt__arg_out_any(c, f, 2, tt__compose_reshape(c, r, l.rank, l.len));
}
TT_HANDLER_LAID(median, 'A')

static tt_array *floor_half(tt_composer *c, tt_array *n) {
  return tt__compose_op1(c, TT_FLOOR, tt__compose_opf(c, TT_DIV, n, 2));
}

/* Places in whole lines as places in those that are kept. */
static tt_array *places(tt_composer *c, const lines *l, tt_array *p) {
  p = tt__compose_cast(c, tt__compose_opf(c, TT_MAXIMUM, p, 0), TT_I64);
  return p && l->times > 1 ? tt__compose_opi(c, TT_FLOORDIV, p, l->times) : p;
}

/* r, of lines with n elements that are no NaN each. */
static tt_array *warn_of_none(tt_composer *c, tt_array *n, tt_array *r) {
  return r ? tt__compose_warn_where(c, tt__compose_opf(c, TT_EQ, n, 0), r, "All-NaN slice encountered") : NULL;
}

/* nanmedian: the count, and so the middle, differs from line to line. */
static tt_array *nanmedian(tt_composer *c, tt_call_frame *f) {
  lines l;
  if (!make_lines(c, f, 1, 4, false, &l)) return NULL;
  if (!can_be_nan(l.a)) return median(c, f);
  if (l.n == 0) return tt__arg_out_any(c, f, 2, all_nan(c, &l));
  tt_lib_attr attr = {.row = tt__lib_row("sort")};
  tt_array *s = sorted(c, l.a, &attr), *n = count_valid(c, &l);
  if (!s || !n) return NULL;
  int axis = s->rank - 1;
  tt_array *lo =
      tt__compose_take_lines(c, s, places(c, &l, floor_half(c, tt__compose_opf(c, TT_SUB, n, 1))), axis, false);
  tt_array *hi = tt__compose_take_lines(c, s, places(c, &l, floor_half(c, n)), axis, false);
  return tt__arg_out_any(c, f, 2, tt__compose_reshape(c, warn_of_none(c, n, middle_of(c, lo, hi)), l.rank, l.len));
}
TT_HANDLER_LAID(nanmedian, 'A')

/* ---- quantiles */

typedef enum method {
  INVERTED_CDF,
  AVERAGED_INVERTED_CDF,
  CLOSEST_OBSERVATION,
  INTERPOLATED_INVERTED_CDF,
  HAZEN,
  WEIBULL,
  LINEAR,
  MEDIAN_UNBIASED,
  NORMAL_UNBIASED,
  LOWER,
  HIGHER,
  MIDPOINT,
  NEAREST,
  METHODS
} method;

static const char *const method_names[METHODS] = {"inverted_cdf",
                                                  "averaged_inverted_cdf",
                                                  "closest_observation",
                                                  "interpolated_inverted_cdf",
                                                  "hazen",
                                                  "weibull",
                                                  "linear",
                                                  "median_unbiased",
                                                  "normal_unbiased",
                                                  "lower",
                                                  "higher",
                                                  "midpoint",
                                                  "nearest"};

static method read_method(tt_composer *c, const tt_call_frame *f, int k) {
  const char *s = tt__arg_string(c, f, k, "linear");
  for (int m = 0; m < METHODS; m++)
    if (strcmp(s, method_names[m]) == 0) return (method)m;
  tt__compose_fail(c, TT_EVALUE,
                   "'%s' is not a valid method. Use one of: dict_keys(['inverted_cdf', 'averaged_inverted_cdf', "
                   "'closest_observation', "
                   "'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', 'normal_unbiased', "
                   "'lower', 'higher', "
                   "'midpoint', 'nearest'])",
                   s);
  return LINEAR;
}

/* n*q + (alpha + q*(1 - alpha - beta)) - 1 */
static tt_array *fitted(tt_composer *c, tt_array *n, tt_array *q, double alpha, double beta) {
  tt_array *shift = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, q, 1 - alpha - beta), alpha);
  return tt__compose_opf(c, TT_SUB, tt__compose_op2(c, TT_ADD, tt__compose_op2(c, TT_MUL, n, q), shift), 1);
}

/* The place between sorted elements that each method asks for. */
static tt_array *virtual_place(tt_composer *c, method m, tt_array *n, tt_array *q) {
  tt_array *span = tt__compose_op2(c, TT_MUL, tt__compose_opf(c, TT_SUB, n, 1), q);
  tt_array *step = tt__compose_opf(c, TT_SUB, tt__compose_op2(c, TT_MUL, n, q), 1), *low, *next;
  switch (m) {
    case INVERTED_CDF:
      return tt__compose_op1(c, TT_CEIL, step);
    case CLOSEST_OBSERVATION: /* nearest, halves to the even one when counted from 1 */
      low = tt__compose_op1(c, TT_FLOOR, tt__compose_opf(c, TT_SUB, step, 0.5));
      next = tt__compose_opf(c, TT_ADD, low, 1);
      if (!next) return NULL;
      return tt__compose_where(
          c,
          tt__compose_op2(c, TT_AND, tt__compose_op2(c, TT_EQ, low, tt__compose_opf(c, TT_SUB, step, 0.5)),
                          tt__compose_opf(c, TT_EQ, tt__compose_opf(c, TT_MOD, low, 2), 1)),
          tt_v_array(low), tt_v_array(next));
    case AVERAGED_INVERTED_CDF:
      return step;
    case INTERPOLATED_INVERTED_CDF:
      return fitted(c, n, q, 0, 1);
    case HAZEN:
      return fitted(c, n, q, 0.5, 0.5);
    case WEIBULL:
      return fitted(c, n, q, 0, 0);
    case MEDIAN_UNBIASED:
      return fitted(c, n, q, 1 / 3.0, 1 / 3.0);
    case NORMAL_UNBIASED:
      return fitted(c, n, q, 3 / 8.0, 3 / 8.0);
    case LOWER:
      return tt__compose_op1(c, TT_FLOOR, span);
    case HIGHER:
      return tt__compose_op1(c, TT_CEIL, span);
    case NEAREST:
      return tt__compose_op1(c, TT_RINT, span);
    case MIDPOINT:
      return tt__compose_opf(
          c, TT_MUL, tt__compose_op2(c, TT_ADD, tt__compose_op1(c, TT_FLOOR, span), tt__compose_op1(c, TT_CEIL, span)),
          0.5);
    default:
      return span;
  }
}

static bool is_discrete(method m) {
  return m == INVERTED_CDF || m == CLOSEST_OBSERVATION || m == LOWER || m == HIGHER || m == NEAREST;
}

/* How far between its neighbours a place lies, by the method's own rule. */
static tt_array *weight(tt_composer *c, method m, tt_array *place, tt_array *low) {
  tt_array *g = tt__compose_op2(c, TT_SUB, place, low);
  if (!g || (m != AVERAGED_INVERTED_CDF && m != MIDPOINT)) return g;
  bool average = m == AVERAGED_INVERTED_CDF;
  return tt__compose_where(c, tt__compose_opf(c, TT_EQ, g, 0), tt_v_float(average ? 0.5 : 0),
                           tt_v_float(average ? 1 : 0.5));
}

/*
** Between a and b in `type`, from the nearer end: exact at both. The steps are NumPy's, each in its type, so that the
** last bits are: floats are subtracted in their own, 1 - t is taken in that of t.
*/
static tt_array *between(tt_composer *c, tt_array *a, tt_array *b, tt_array *t, tt_dtype type) {
  bool whole = !can_be_nan(a); /* differences of whole numbers could wrap */
  if (whole) a = tt__compose_cast(c, a, type), b = tt__compose_cast(c, b, type);
  tt_array *d = tt__compose_cast(c, tt__compose_op2(c, TT_SUB, b, a), type);
  tt_array *rest = tt__compose_cast(c, tt__compose_opf(c, TT_ADD, tt__compose_op1(c, TT_NEG, t), 1), type);
  tt_array *up = tt__compose_op2(c, TT_ADD, a, tt__compose_op2(c, TT_MUL, d, tt__compose_cast(c, t, type)));
  tt_array *down = tt__compose_op2(c, TT_SUB, b, tt__compose_op2(c, TT_MUL, d, rest));
  return up && down ? tt__compose_where(c, tt__compose_opf(c, TT_GE, t, 0.5), tt_v_array(down), tt_v_array(up)) : NULL;
}

/* The values of sorted lines at the places [rest..., nq], in `type`. Places have the type of q. */
static tt_array *values_at(tt_composer *c, const lines *l, method m, tt_array *s, tt_array *n, tt_array *q,
                           tt_dtype type) {
  n = q ? tt__compose_cast(c, n, (tt_dtype)q->dtype) : NULL;
  tt_array *place = virtual_place(c, m, n, q), *top = tt__compose_opf(c, TT_SUB, n, 1);
  if (!place || !top) return NULL;
  int axis = s->rank - 1;
  tt_array *low = tt__compose_op1(c, TT_FLOOR, place);
  tt_array *first = places(c, l, tt__compose_op2(c, TT_MINIMUM, low, top));
  if (is_discrete(m)) return tt__compose_take_lines(c, s, first, axis, false);
  tt_array *next = tt__compose_op2(c, TT_MINIMUM, tt__compose_opf(c, TT_ADD, low, 1), top);
  if (!next) return NULL;
  next = tt__compose_where(c, tt__compose_opf(c, TT_LT, place, 0), tt_v_float(0), tt_v_array(next));
  tt_array *a = tt__compose_take_lines(c, s, first, axis, false);
  tt_array *b = tt__compose_take_lines(c, s, places(c, l, next), axis, false), *t = weight(c, m, place, low);
  return a && b && t ? between(c, a, b, t, type) : NULL;
}

/* q as [n], in range, in its own type or float64; `type` gets what the result has. Halves could not count places. */
static tt_array *read_q(tt_composer *c, const tt_call_frame *f, double scale, tt_array *a, tt_array **given,
                        tt_dtype *type) {
  tt_array *q = tt__arg_array(c, f, 1);
  if (!q) return NULL;
  bool scalar = f->arg[1].tag != TT_V_ARRAY && f->arg[1].tag != TT_V_TUPLE;
  tt_dtype own = (tt_dtype)a->dtype, of_q = tt__is_float((tt_dtype)q->dtype) ? (tt_dtype)q->dtype : TT_F64;
  *type = scalar && tt__is_float(own) ? own : tt__promote(own, of_q);
  *given = q;
  if (q->rank > 2) return tt__compose_fail(c, TT_EVALUE, "q must be a scalar or 1d");
  q = tt__compose_ravel(c, tt__compose_cast(c, q, of_q == TT_F32 ? TT_F32 : TT_F64));
  if (scale != 1) q = tt__compose_opf(c, TT_DIV, q, scale);
  const double *v = tt__compose_peek(c, tt__compose_cast(c, q, TT_F64));
  for (int64_t i = 0; v && i < q->size; i++)
    if (!(v[i] >= 0 && v[i] <= 1))
      return tt__compose_fail(
          c, TT_EVALUE,
          scale == 1 ? "Quantiles must be in the range [0, 1]" : "Percentiles must be in the range [0, 100]");
  return c->code == TT_OK ? q : NULL;
}

/* ---- weights: the first element whose share of the weight, with all before it, reaches q */

/* Weights in the shape of `a`: given so, or for the reduced axes alone, in the order in which those were named. */
static tt_array *full_weights(tt_composer *c, const tt_call_frame *f, tt_array *a) {
  tt_array *w = tt__arg_array(c, f, 7);
  if (!w || !a) return NULL;
  const int64_t *len = tt__array_len(a);
  if (w->rank == a->rank && memcmp(tt__array_len(w), len, sizeof *len * a->rank) == 0) return w;
  if (!tt__arg_given(f, 2))
    return tt__compose_fail(c, TT_ETYPE, "Axis must be specified when shapes of a and weights differ.");
  int64_t axis[TT_MAX_RANK], shape[TT_MAX_RANK];
  int n = tt__arg_ints(c, f, 2, axis, TT_MAX_RANK), order[TT_MAX_RANK], k = 0;
  bool fits = c->code == TT_OK && n == w->rank;
  for (int i = 0; i < n && fits; i++) {
    int at;
    if ((c->code = tt__shape_axis(axis[i], a->rank, &at, c->err)) != TT_OK) return NULL;
    axis[i] = at;
    fits = tt__array_len(w)[i] == len[at];
  }
  if (!fits)
    return tt__compose_fail(c, TT_EVALUE, "Shape of weights must be consistent with shape of a along specified axis.");
  for (int d = 0; d < a->rank; d++) {
    shape[d] = 1;
    for (int i = 0; i < n; i++)
      if (axis[i] == d) order[k++] = i, shape[d] = len[d];
  }
  w = tt__compose_reshape(c, tt__compose_transpose(c, w, order), a->rank, shape);
  return tt__compose_broadcast(c, w, a->rank, len);
}

static bool any_of(tt_composer *c, tt_array *mask) {
  uint64_t axes = mask && mask->rank ? ~UINT64_C(0) >> (64 - mask->rank) : 0;
  const uint8_t *found = tt__compose_peek(c, axes ? tt__compose_reduce(c, TT_RED_ANY, mask, axes, false) : mask);
  return found && *found;
}

static tt_array *weight_lines(tt_composer *c, const tt_call_frame *f) {
  const char *name = tt__arg_string(c, f, 5, "linear");
  if (c->code == TT_OK && strcmp(name, "inverted_cdf") != 0)
    return tt__compose_fail(c, TT_EVALUE, "Only method 'inverted_cdf' supports weights. Got: %s.", name);
  tt_array *w = full_weights(c, f, tt__arg_array(c, f, 0));
  if (w && any_of(c, tt__compose_opi(c, TT_LT, w, 0)))
    return tt__compose_fail(c, TT_EVALUE, "Weights must be non-negative.");
  tt_value arg[8];
  if (!w) return NULL;
  memcpy(arg, f->arg, sizeof *arg * (size_t)f->narg);
  arg[0] = tt_v_array(w);
  tt_call_frame g = {.arg = arg, .narg = f->narg};
  lines l;
  return make_lines(c, &g, 2, 6, true, &l) ? tt__compose_cast(c, l.a, TT_F64) : NULL;
}

/* What is NaN weighs nothing, unless a line has nothing else. */
static tt_array *without_nans(tt_composer *c, tt_array *a, tt_array *w) {
  tt_array *nan = tt__compose_op1(c, TT_ISNAN, a);
  tt_array *all = nan ? tt__compose_reduce(c, TT_RED_ALL, nan, UINT64_C(1) << (a->rank - 1), true) : NULL;
  w = nan && w ? tt__compose_where(c, nan, tt_v_float(0), tt_v_array(w)) : NULL;
  return w && all ? tt__compose_where(c, all, tt_v_float(1), tt_v_array(w)) : NULL;
}

/* Values of the lines at q [1..., nq]; *last: the greatest of each line, NaN if one is there. */
static tt_array *weighted_at(tt_composer *c, const lines *l, tt_array *w, tt_array *q, tt_dtype precision,
                             tt_array **last) {
  int axis = l->a->rank - 1;
  tt_value v[2] = {tt_v_array(l->a), tt_v_int(axis)};
  tt_array *order = tt__fn_call(c, "argsort", v, 2);
  tt_array *s = order ? tt__compose_take_lines(c, l->a, order, axis, false) : NULL;
  w = order && w ? tt__compose_take_lines(c, w, order, axis, false) : NULL;
  if (!s || !w) return NULL;
  v[0] = tt_v_array(w);
  tt_array *share = tt__fn_call(c, "cumsum", v, 2);
  share = share ? tt__compose_op2(c, TT_DIV, share, line_at(c, share, l->n - 1)) : NULL;
  if (share && any_of(c, tt__compose_op1(c, TT_ISNAN, line_at(c, share, l->n - 1))))
    return tt__compose_fail(c, TT_EVALUE, "Weights included NaN, inf or were all zero.");
  share = tt__compose_cast(c, share, precision);
  /* Zeros in front are passed over even for q = 0. */
  share = share ? tt__compose_where(c, tt__compose_opi(c, TT_EQ, share, 0), tt_v_float(-1), tt_v_array(share)) : NULL;
  tt_array *less = tt__compose_op2(c, TT_LT, tt__compose_expand(c, share, axis),
                                   tt__compose_expand(c, tt__compose_cast(c, q, precision), axis + 1));
  tt_array *at =
      less ? tt__compose_reduce(c, TT_RED_SUM, tt__compose_cast(c, less, TT_I64), UINT64_C(1) << (axis + 1), false)
           : NULL;
  at = tt__compose_opi(c, TT_MINIMUM, at, l->n - 1);
  *last = line_at(c, s, l->n - 1);
  return at ? tt__compose_take_lines(c, s, at, axis, false) : NULL;
}

/* The type in which shares of weight are compared with q. */
static tt_dtype share_type(const tt_call_frame *f, tt_array *a, tt_array *q) {
  bool scalar = f->arg[1].tag != TT_V_ARRAY && f->arg[1].tag != TT_V_TUPLE;
  if (scalar && tt__is_float((tt_dtype)a->dtype)) return (tt_dtype)a->dtype;
  return tt__is_float((tt_dtype)q->dtype) ? (tt_dtype)q->dtype : TT_F64;
}

/* Where a line has a NaN, so has its result. */
static tt_array *with_nans(tt_composer *c, const lines *l, bool skip_nan, tt_array *last, tt_array *r) {
  return !skip_nan && can_be_nan(l->a) && last ? nan_where(c, tt__compose_op1(c, TT_ISNAN, last), r) : r;
}

static tt_array *plain_at(tt_composer *c, const lines *l, method m, tt_array *q, tt_dtype type, bool skip_nan,
                          const int64_t *len) {
  tt_lib_attr attr = {.row = tt__lib_row("sort")};
  tt_array *s = sorted(c, l->a, &attr);
  tt_array *n =
      skip_nan && can_be_nan(l->a) ? count_valid(c, l) : tt__compose_full(c, TT_F64, 0, NULL, tt_v_float((double)l->n));
  tt_array *r = s ? values_at(c, l, m, s, n, q, type) : NULL;
  if (r && !tt__shape_same(l->a->rank, r->dim, len)) r = tt__compose_broadcast(c, r, l->a->rank, len);
  if (skip_nan && can_be_nan(l->a)) r = warn_of_none(c, n, r);
  return r ? with_nans(c, l, skip_nan, last_of(c, l, s), r) : NULL;
}

/* (a, q, axis, out, overwrite_input, method, keepdims, weights) */
static tt_array *quantiles(tt_composer *c, tt_call_frame *f, double scale, bool skip_nan) {
  lines l;
  tt_array *given = NULL, *weights = NULL, *last = NULL, *r;
  tt_dtype type = TT_F64;
  if (!make_lines(c, f, 2, 6, tt__arg_given(f, 7), &l)) return NULL;
  if (tt__is_complex((tt_dtype)l.a->dtype)) return tt__compose_fail(c, TT_ETYPE, "a must be an array of real numbers");
  tt_array *q = read_q(c, f, scale, l.a, &given, &type);
  method m = read_method(c, f, 5);
  if (!q || c->code != TT_OK) return NULL;
  bool counts = given->dtype == TT_BOOL || tt__is_int((tt_dtype)given->dtype);
  if (counts && scale == 1 && m == LINEAR && !tt__arg_given(f, 7)) m = LOWER; /* an end is an element, as it is */
  if (tt__arg_given(f, 7) && !(weights = weight_lines(c, f))) return NULL;
  if (l.a->dtype == TT_BOOL && !is_discrete(m))
    return tt__compose_op2(c, TT_SUB, l.a, l.a); /* NumPy's words for no such difference */
  if (l.n == 0 && !skip_nan) return tt__compose_fail(c, TT_EINDEX, "index -1 is out of bounds for axis 0 with size 0");
  int64_t len[TT_MAX_RANK + 2], behind[TT_MAX_RANK + 1];
  int rank = l.a->rank;
  for (int d = 0; d < rank; d++) {
    len[d] = d == rank - 1 ? q->size : tt__array_len(l.a)[d];
    behind[d] = d == rank - 1 ? q->size : 1;
  }
  q = tt__compose_reshape(c, q, rank, behind);
  if (l.n == 0) {
    tt__warn(TT_WARN_RUNTIME, "Mean of empty slice");
    r = tt__compose_full(c, type, rank, len, tt_v_float((double)NAN));
  } else if (weights) {
    if (skip_nan && can_be_nan(l.a)) weights = without_nans(c, l.a, weights);
    r = weighted_at(c, &l, weights, q, share_type(f, l.a, given), &last);
    r = with_nans(c, &l, skip_nan, last, r);
  } else {
    r = plain_at(c, &l, m, q, type, skip_nan, len);
  }
  if (!r) return NULL;
  r = tt__compose_move(c, r, rank - 1, 0);
  if (given->rank + l.rank > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64");
  memcpy(len, tt__array_len(given), sizeof *len * given->rank);
  memcpy(len + given->rank, l.len, sizeof *len * (size_t)l.rank);
  return tt__arg_out(c, f, 3, tt__compose_reshape(c, r, given->rank + l.rank, len));
}

static tt_array *quantile(tt_composer *c, tt_call_frame *f) { return quantiles(c, f, 1, false); }
static tt_array *percentile(tt_composer *c, tt_call_frame *f) { return quantiles(c, f, 100, false); }
static tt_array *nanquantile(tt_composer *c, tt_call_frame *f) { return quantiles(c, f, 1, true); }
static tt_array *nanpercentile(tt_composer *c, tt_call_frame *f) { return quantiles(c, f, 100, true); }
TT_HANDLER_LAID(quantile, 'C')
TT_HANDLER_LAID(percentile, 'C')
TT_HANDLER(nanquantile)
TT_HANDLER(nanpercentile)
