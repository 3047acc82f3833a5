/*
** Series of polynomials at points: values, fits, roots, quadratures.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/linalg/linalg.h"
#include "fn/linalg/matrix.h"
#include "fn/series/series.h"

/* ---- values: Clenshaw's rule, which fuses into one pass over the points */

/* a times x times factor; x may be a weak number. */
static tt_array *scaled(tt_composer *c, tt_array *a, tt_value x, double factor) {
  if (!a) return NULL;
  a = tt__compose_apply(c, TT_MUL, (tt_value[2]){tt_v_array(a), x}, 2, TT_DTYPE_NONE);
  return factor == 1 ? a : tt__compose_opf(c, TT_MUL, a, factor);
}

static tt_array *plus(tt_composer *c, tt_array *a, tt_array *b) {
  return !a ? b : !b ? a : tt__compose_op2(c, TT_ADD, a, b);
}

/* a without factor times b. */
static tt_array *less(tt_composer *c, tt_array *a, tt_array *b, double factor) {
  if (!a || !b || factor == 0) return a;
  return tt__compose_op2(c, TT_SUB, a, factor == 1 ? b : tt__compose_opf(c, TT_MUL, b, factor));
}

/* Coefficients with the first axis taken at k. */
static tt_array *coefficient(tt_composer *c, tt_array *a, int64_t k) {
  return tt__compose_view(c, a, a->rank - 1, tt__array_len(a) + 1, tt__array_step(a) + 1,
                          a->off + k * tt__array_step(a)[0]);
}

static tt_array *zeros_like(tt_composer *c, tt_array *a) {
  return a ? tt__compose_full(c, (tt_dtype)a->dtype, a->rank, tt__array_len(a), tt_v_int(0)) : NULL;
}

/* val(family, x, c, tensor) */
static tt_array *series_val(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_value x = tt__arg_value(c, f, 1);
  tt_array *a = tt__arg_array(c, f, 2), *b[2] = {NULL, NULL};
  bool tensor = tt__arg_bool(c, f, 3, true);
  int64_t len[TT_MAX_RANK], rank = x.tag == TT_V_ARRAY ? x.as.array->rank : 0;
  if (!a || c->code != TT_OK) return NULL;
  if (a->rank == 0) a = tt__compose_ravel(c, a);
  a = a ? tt__compose_cast(c, a, tt__series_type((tt_dtype)a->dtype)) : NULL;
  if (!a) return NULL;
  int64_t n = tt__array_len(a)[0];
  if (n == 0) return tt__compose_fail(c, TT_EINDEX, "index -1 is out of bounds for axis 0 with size 0");
  if (tensor && rank) {
    if (a->rank + rank > TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "too many axes");
    memcpy(len, tt__array_len(a), sizeof *len * (size_t)a->rank);
    for (int d = a->rank; d < a->rank + rank; d++) len[d] = 1;
    a = tt__compose_reshape(c, a, a->rank + (int)rank, len);
  }
  for (int64_t k = n - 1; k >= 0 && a && c->code == TT_OK; k--) {
    tt_recurrence r = tt__series_step(family, k), next = tt__series_step(family, k + 1);
    tt_array *now = coefficient(c, a, k);
    if (k == n - 1) now = plus(c, now, scaled(c, zeros_like(c, now), x, 1)); /* its shape and type */
    now = plus(c, now, scaled(c, b[0], x, r.s / r.u));
    now = less(c, now, b[0], r.m / r.u);
    now = less(c, now, b[1], next.d / next.u);
    b[1] = b[0];
    b[0] = now;
  }
  return b[0];
}
TT_HANDLER(series_val)

/* valfromroots(x, r, tensor): the product of the distances to the roots. */
static tt_array *series_valfromroots(tt_composer *c, tt_call_frame *f) {
  tt_value x = tt__arg_value(c, f, 0);
  tt_array *r = tt__arg_array(c, f, 1);
  bool tensor = tt__arg_bool(c, f, 2, true);
  int rank = x.tag == TT_V_ARRAY ? x.as.array->rank : 0;
  if (!r || c->code != TT_OK) return NULL;
  if (r->rank == 0) r = tt__compose_ravel(c, r);
  if (r && (r->dtype == TT_BOOL || tt__is_int((tt_dtype)r->dtype))) r = tt__compose_cast(c, r, TT_F64);
  if (!r) return NULL;
  if (tensor) {
    for (int k = 0; k < rank && r; k++) r = tt__compose_expand(c, r, r->rank);
  } else if (rank >= r->rank) {
    return tt__compose_fail(c, TT_EVALUE, "x.ndim must be < r.ndim when tensor == False");
  }
  tt_array *far = r ? tt__compose_apply(c, TT_SUB, (tt_value[2]){x, tt_v_array(r)}, 2, TT_DTYPE_NONE) : NULL;
  return far ? tt__fn_call(c, "prod", (tt_value[2]){tt_v_array(far), tt_v_int(0)}, 2) : NULL;
}
TT_HANDLER(series_valfromroots)

/* p_0(x), ... p_n(x) side by side along a new last axis. */
static tt_array *columns(tt_composer *c, tt_family family, tt_array *x, int64_t n) {
  tt_array **p = tt__compose_scratch(c, n + 1, sizeof(tt_array *));
  if (!p || !x) return NULL;
  p[0] = tt__compose_opi(c, TT_ADD, tt__compose_opi(c, TT_MUL, x, 0), 1);
  for (int64_t k = 0; k < n; k++) {
    tt_recurrence r = tt__series_step(family, k);
    tt_array *next = k ? scaled(c, p[k], tt_v_array(x), r.s / r.u) : scaled(c, x, tt_v_float(r.s / r.u), 1);
    if (k == 0 && r.s == r.u) next = x;
    next = less(c, next, p[k], r.m / r.u);
    p[k + 1] = k ? less(c, next, p[k - 1], r.d / r.u) : next;
    if (!p[k + 1]) return NULL;
  }
  for (int64_t k = 0; k <= n; k++)
    if (!(p[k] = tt__compose_expand(c, p[k], x->rank))) return NULL;
  return tt__compose_concat(c, p, n + 1, x->rank);
}

static tt_array *inexact(tt_composer *c, tt_array *a) {
  return a ? tt__compose_cast(c, a, tt__series_type((tt_dtype)a->dtype)) : NULL;
}

/* vander(family, x, deg) */
static tt_array *series_vander(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *x = inexact(c, tt__arg_array(c, f, 1));
  int64_t n = tt__arg_int(c, f, 2, 0);
  if (!x || c->code != TT_OK) return NULL;
  if (n < 0) return tt__compose_fail(c, TT_EVALUE, "deg must be non-negative");
  if (x->rank == 0) x = tt__compose_ravel(c, x);
  return columns(c, family, x, n);
}
TT_HANDLER(series_vander)

/* ---- fits */

bool tt__series_fits(tt_composer *c, tt_array *x, tt_array *y) {
  if (x->rank != 1) return tt__compose_fail(c, TT_ETYPE, "expected 1D vector for x"), false;
  if (x->size == 0) return tt__compose_fail(c, TT_ETYPE, "expected non-empty vector for x"), false;
  if (y->rank < 1 || y->rank > 2) return tt__compose_fail(c, TT_ETYPE, "expected 1D or 2D array for y"), false;
  if (x->size != tt__array_len(y)[0])
    return tt__compose_fail(c, TT_ETYPE, "expected x and y to have same length"), false;
  return true;
}

static bool check_fit(tt_composer *c, tt_array *x, tt_array *y, tt_array *deg, tt_array *w) {
  if (!x || !y || !deg || c->code != TT_OK) return false;
  if (deg->rank > 1 || !tt__is_int((tt_dtype)deg->dtype) || deg->size == 0)
    return tt__compose_fail(c, TT_ETYPE, "deg must be an int or non-empty 1-D array of int"), false;
  if (!tt__series_fits(c, x, y)) return false;
  if (w && w->rank != 1) return tt__compose_fail(c, TT_ETYPE, "expected 1D vector for w"), false;
  if (w && w->size != x->size) return tt__compose_fail(c, TT_ETYPE, "expected x and w to have same length"), false;
  return true;
}

/* The norm of each column; one where it is zero. */
static tt_array *column_norms(tt_composer *c, tt_array *m) {
  tt_array *size = m ? tt__compose_op1(c, TT_ABS, m) : NULL;
  size =
      size ? tt__compose_op1(c, TT_SQRT, tt__compose_sum(c, tt__compose_op2(c, TT_MUL, size, size), 1, false)) : NULL;
  tt_array *zero = tt__compose_opi(c, TT_EQ, size, 0);
  return zero ? tt__compose_where(c, zero, tt_v_float(1), tt_v_array(size)) : NULL;
}

/* fit(family, x, y, deg, rcond, full, w): the coefficients; with `full` residuals, rank, singular values, rcond too. */
static tt_array *series_fit(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *x = inexact(c, tt__arg_array(c, f, 1)), *y = inexact(c, tt__arg_array(c, f, 2));
  tt_array *deg = tt__arg_array(c, f, 3), *w = tt__arg_given(f, 6) ? inexact(c, tt__arg_array(c, f, 6)) : NULL;
  tt_array *out[4];
  if (!check_fit(c, x, y, deg, w)) return NULL;
  bool some = deg->rank == 1, many = y->rank == 2;
  int64_t top = 0, rank;
  deg = tt__fn_call(c, "sort", (tt_value[1]){tt_v_array(tt__compose_cast(c, tt__compose_ravel(c, deg), TT_I64))}, 1);
  const int64_t *degree = deg ? tt__compose_peek(c, deg) : NULL;
  if (!degree) return NULL;
  if (degree[0] < 0) return tt__compose_fail(c, TT_EVALUE, "expected deg >= 0");
  top = degree[deg->size - 1];
  tt_array *m = columns(c, family, x, top), *rhs = many ? y : tt__compose_expand(c, y, 1);
  if (some && m) m = tt__compose_take(c, m, deg, 1);
  if (w && m) {
    tt_array *column = tt__compose_expand(c, w, 1);
    m = tt__compose_op2(c, TT_MUL, m, column);
    rhs = tt__compose_op2(c, TT_MUL, rhs, column);
  }
  double epsilon = tt__real_of((tt_dtype)x->dtype) == TT_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
  double rcond = tt__arg_float(c, f, 4, (double)x->size * epsilon);
  tt_array *norm = column_norms(c, m);
  m = norm ? tt__compose_op2(c, TT_DIV, m, norm) : NULL;
  if (!m || !rhs || !tt__linalg_lstsq_of(c, m, rhs, rcond, out, &rank)) return NULL;
  tt_array *p = tt__compose_op2(c, TT_DIV, out[0], tt__compose_expand(c, norm, 1));
  if (some && p) { /* the degrees that were not asked for have zeros */
    int64_t len[2] = {top + 1, tt__array_len(p)[1]};
    tt_array *whole = tt__compose_full(c, (tt_dtype)p->dtype, 2, len, tt_v_int(0));
    tt_value at = tt_v_array(deg), value = tt_v_array(p);
    if (whole) c->code = tt__set(whole, &at, &value, c->err);
    p = c->code == TT_OK ? whole : NULL;
  }
  if (p && !many) p = tt__compose_ravel(c, p);
  bool full = tt__arg_bool(c, f, 5, false);
  if (!full && rank != (some ? deg->size : top + 1)) tt__warn(TT_WARN_RANK, "The fit may be poorly conditioned");
  if (!p || !full) return p;
  tt_array *limit = tt__compose_full(c, TT_F64, 0, NULL, tt_v_float(rcond));
  bool given = tt__fn_give(c, f, p);
  for (int k = 1; k < 4 && given; k++) given = tt__fn_give(c, f, out[k]);
  if (given) tt__fn_give(c, f, limit);
  return NULL;
}
TT_HANDLER(series_fit)

/* ---- roots */

/* sqrt of what the weight of p_{k+1} is to that of p_k; without a recurrence both ways there is nothing to balance. */
static double balance(tt_family family, int64_t k) {
  tt_recurrence r = tt__series_step(family, k), next = tt__series_step(family, k + 1);
  return next.d == 0 ? 1 : sqrt((next.d / next.s) / (r.u / r.s));
}

/*
** Multiplication by x modulo the series of degree n, over basis functions of equal weight: symmetric but for the last
** column, into m[n][n] of `parts` numbers each.
*/
static void companion_matrix(tt_family family, const double *a, int parts, int64_t n, double *m) {
  double weight = 1;
  const double *top = a + n * parts;
  double size = top[0] * top[0] + (parts == 2 ? top[1] * top[1] : 0);
  for (int64_t k = 0; k < n; k++) {
    tt_recurrence r = tt__series_step(family, k);
    if (r.m != 0) m[(k * n + k) * parts] = r.m / r.s;
    if (k + 1 == n) break;
    double off = r.u / r.s * balance(family, k), back = tt__series_step(family, k + 1).d == 0 ? 0 : off;
    m[((k + 1) * n + k) * parts] = off;
    m[(k * n + k + 1) * parts] = back;
  }
  tt_recurrence last = tt__series_step(family, n - 1);
  for (int64_t k = n - 1; k >= 0; k--) {
    const double *z = a + k * parts;
    double re = z[0] * top[0] + (parts == 2 ? z[1] * top[1] : 0), im = parts == 2 ? z[1] * top[0] - z[0] * top[1] : 0;
    double *to = m + (k * n + n - 1) * parts, factor = weight * (last.u / last.s);
    to[0] -= parts == 2 ? re / size * factor : z[0] / top[0] * factor;
    if (parts == 2) to[1] -= im / size * factor;
    if (k > 0) weight /= balance(family, k - 1);
  }
}

static tt_array *companion_of(tt_composer *c, tt_family family, tt_array *a) {
  int64_t n = a->size - 1, len[2] = {n, n};
  bool two = tt__is_complex((tt_dtype)a->dtype);
  void *data;
  tt_array *wide = tt__compose_cast(c, a, two ? TT_C128 : TT_F64);
  const double *v = wide ? tt__compose_peek(c, wide) : NULL;
  tt_array *m = v ? tt__compose_block(c, two ? TT_C128 : TT_F64, 2, len, &data) : NULL;
  if (!m) return NULL;
  memset(data, 0, sizeof(double) * (size_t)(n * n * (two ? 2 : 1)));
  companion_matrix(family, v, two ? 2 : 1, n, data);
  return tt__compose_cast(c, m, (tt_dtype)a->dtype);
}

/* companion(family, c) */
static tt_array *series_companion(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *a = tt__series_of(c, f, 1);
  if (!a || c->code != TT_OK) return NULL;
  if (a->size < 2) return tt__compose_fail(c, TT_EVALUE, "Series must have maximum degree of at least 1.");
  return companion_of(c, family, a);
}
TT_HANDLER(series_companion)

/* roots(family, c), sorted. The matrix is turned by half: its eigenvalues lose less that way. */
static tt_array *series_roots(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *a = tt__series_of(c, f, 1);
  int64_t none = 0;
  if (!a || c->code != TT_OK) return NULL;
  if (a->size == 1) return tt__compose_full(c, (tt_dtype)a->dtype, 1, &none, tt_v_int(0));
  tt_array *m = companion_of(c, family, a);
  if (a->size == 2) return m ? tt__compose_ravel(c, m) : NULL;
  m = m ? tt__compose_flip(c, tt__compose_flip(c, m, 0), 1) : NULL;
  tt_array *r = m ? tt__fn_call(c, "linalg.eigvals", (tt_value[1]){tt_v_array(m)}, 1) : NULL;
  return r ? tt__fn_call(c, "sort", (tt_value[1]){tt_v_array(r)}, 1) : NULL;
}
TT_HANDLER(series_roots)

/* ---- quadrature */

/* The integral of the family's weight. */
static double mass(tt_family family) {
  return family == TT_SERIES_LEG     ? 2
         : family == TT_SERIES_HERM  ? sqrt(M_PI)
         : family == TT_SERIES_HERME ? sqrt(2 * M_PI)
                                     : 1;
}

/*
** One step of Newton's for a root of the n-th of the orthonormal functions, and the weight there: one over the sum of
** the squares of those before, of which the first is 1.
*/
static void polish(tt_family family, int64_t n, double *x, double *w) {
  for (int pass = 0; pass < 2; pass++) {
    double p = 1, before = 0, slope = 0, slope_before = 0, sum = 1, off_before = 0;
    for (int64_t k = 0; k < n; k++) {
      tt_recurrence r = tt__series_step(family, k);
      double off = r.u / r.s * balance(family, k), at = *x - r.m / r.s;
      double next = (at * p - off_before * before) / off;
      double slope_next = (p + at * slope - off_before * slope_before) / off;
      before = p;
      slope_before = slope;
      p = next;
      slope = slope_next;
      off_before = off;
      if (k + 1 < n) sum += p * p;
    }
    if (pass == 0 && isfinite(p) && isfinite(slope) && slope != 0) *x -= p / slope;
    *w = 1 / sum;
  }
}

/* gauss(family, deg): points and weights. */
static tt_array *series_gauss(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  int64_t n = tt__arg_int(c, f, 1, 0), len[2] = {n, n};
  void *data;
  double *at[2], sum = 0;
  if (c->code != TT_OK) return NULL;
  if (n <= 0) return tt__compose_fail(c, TT_EVALUE, "deg must be a positive integer");
  if (family < TT_SERIES_LEG)
    return tt__compose_fail(c, TT_EVALUE, "no quadrature of this family is found by its matrix");
  tt_array *m = tt__compose_block(c, TT_F64, 2, len, &data);
  double *a = tt__compose_scratch(c, n + 1, sizeof *a);
  if (!m || !a) return NULL;
  memset(data, 0, sizeof(double) * (size_t)(n * n));
  a[n] = 1;
  companion_matrix(family, a, 1, n, data);
  tt_array *found = tt__fn_call(c, "linalg.eigvalsh", (tt_value[1]){tt_v_array(m)}, 1), *out[2];
  const double *x = found ? tt__compose_peek(c, found) : NULL;
  for (int k = 0; k < 2; k++) {
    out[k] = x ? tt__compose_block(c, TT_F64, 1, &n, &data) : NULL;
    at[k] = data;
    if (!out[k]) return NULL;
  }
  memcpy(at[0], x, sizeof(double) * (size_t)n);
  for (int64_t i = 0; i < n; i++) polish(family, n, &at[0][i], &at[1][i]);
  for (int64_t i = 0; family != TT_SERIES_LAG && i < (n + 1) / 2; i++) { /* both sides alike */
    double half = (at[0][n - 1 - i] - at[0][i]) / 2, w = (at[1][i] + at[1][n - 1 - i]) / 2;
    at[0][i] = 0 - half;
    at[0][n - 1 - i] = half;
    at[1][i] = at[1][n - 1 - i] = w;
  }
  for (int64_t i = 0; i < n; i++) sum += at[1][i];
  for (int64_t i = 0; i < n; i++) at[1][i] *= mass(family) / sum;
  if (tt__fn_give(c, f, out[0])) tt__fn_give(c, f, out[1]);
  return NULL;
}
TT_HANDLER(series_gauss)

/* weight(family, x) */
static tt_array *series_weight(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *x = inexact(c, tt__arg_array(c, f, 1));
  if (!x || c->code != TT_OK) return NULL;
  switch (family) {
    case TT_SERIES_CHEB: {
      tt_array *up = tt__compose_op1(c, TT_SQRT, tt__compose_opf(c, TT_ADD, x, 1));
      tt_array *down = tt__compose_op1(c, TT_SQRT, tt__compose_opf(c, TT_ADD, tt__compose_op1(c, TT_NEG, x), 1));
      return tt__compose_op1(c, TT_RECIPROCAL, tt__compose_op2(c, TT_MUL, up, down));
    }
    case TT_SERIES_HERM:
      return tt__compose_op1(c, TT_EXP, tt__compose_op1(c, TT_NEG, tt__compose_op1(c, TT_SQUARE, x)));
    case TT_SERIES_HERME:
      return tt__compose_op1(c, TT_EXP, tt__compose_opf(c, TT_MUL, tt__compose_op1(c, TT_SQUARE, x), -0.5));
    case TT_SERIES_LAG:
      return tt__compose_op1(c, TT_EXP, tt__compose_op1(c, TT_NEG, x));
    default:
      return tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, x, 0), 1);
  }
}
TT_HANDLER(series_weight)

/* ---- intervals */

/* mapparms(old, new): offset and scale that take one interval to the other. */
static tt_array *series_mapparms(tt_composer *c, tt_call_frame *f) {
  tt_array *d[2], *end[2][2];
  for (int k = 0; k < 2; k++) {
    d[k] = inexact(c, tt__arg_array(c, f, k));
    if (!d[k]) return NULL;
    if (d[k]->rank != 1 || d[k]->size < 2) return tt__compose_fail(c, TT_EINDEX, "an interval is two numbers");
    for (int i = 0; i < 2; i++) end[k][i] = tt__series_at(c, d[k], i);
  }
  tt_array *from = tt__compose_op2(c, TT_SUB, end[0][1], end[0][0]),
           *to = tt__compose_op2(c, TT_SUB, end[1][1], end[1][0]);
  tt_array *cross = tt__compose_op2(c, TT_SUB, tt__compose_op2(c, TT_MUL, end[0][1], end[1][0]),
                                    tt__compose_op2(c, TT_MUL, end[0][0], end[1][1]));
  if (tt__fn_give(c, f, tt__compose_op2(c, TT_DIV, cross, from)))
    tt__fn_give(c, f, tt__compose_op2(c, TT_DIV, to, from));
  return NULL;
}
TT_HANDLER(series_mapparms)

/* domain(x): the interval (of complex numbers: the rectangle) that the points span. */
static tt_array *series_domain(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__series_whole(c, f, 0), *part[2], *end[2];
  if (!x) return NULL;
  bool two = tt__is_complex((tt_dtype)x->dtype);
  part[0] = two ? tt__compose_op1(c, TT_REAL, x) : x;
  part[1] = two ? tt__compose_op1(c, TT_IMAG, x) : NULL;
  for (int k = 0; k < 2; k++) {
    tt_red red = k ? TT_RED_MAX : TT_RED_MIN;
    end[k] = tt__compose_reduce(c, red, part[0], 1, true);
    if (two) end[k] = tt__compose_complex(c, end[k], tt__compose_reduce(c, red, part[1], 1, true));
    if (!end[k]) return NULL;
  }
  return tt__compose_concat(c, end, 2, 0);
}
TT_HANDLER(series_domain)
