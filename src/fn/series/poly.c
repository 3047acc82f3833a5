/*
** Polynomials as arrays of coefficients, highest power first.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"
#include "fn/linalg/linalg.h"
#include "fn/linalg/matrix.h"
#include "fn/series/series.h"

static tt_array *vector(tt_composer *c, const tt_call_frame *f, int k) {
  tt_array *a = tt__arg_array(c, f, k);
  return a && a->rank == 0 ? tt__compose_ravel(c, a) : a;
}

/* Powers n-1..0 of x in the columns. */
static tt_array *powers(tt_composer *c, tt_array *x, int64_t n) {
  tt_value v[2] = {tt_v_array(x), tt_v_int(n)};
  return tt__fn_call(c, "vander", v, 2);
}

static tt_array *inexact(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  return tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype) ? a : tt__compose_cast(c, a, TT_F64);
}

/* A number of times, as int() cuts it off. */
static int64_t whole(tt_composer *c, const tt_call_frame *f, int k, int64_t fallback) {
  double d = tt__arg_float(c, f, k, (double)fallback);
  if (c->code == TT_OK && !(fabs(d) < 0x1p53)) tt__compose_fail(c, TT_EVALUE, "cannot convert float %g to integer", d);
  return c->code == TT_OK ? (int64_t)d : fallback;
}

static bool check_fit(tt_composer *c, tt_array *x, tt_array *y, tt_array *w, int64_t degree) {
  if (c->code != TT_OK || !x || !y) return false;
  if (degree < 0) return tt__compose_fail(c, TT_EVALUE, "expected deg >= 0"), false;
  if (!tt__series_fits(c, x, y)) return false;
  if (w && w->rank != 1) return tt__compose_fail(c, TT_ETYPE, "expected a 1-d array for weights"), false;
  if (w && w->size != x->size) return tt__compose_fail(c, TT_ETYPE, "expected w and y to have the same length"), false;
  return true;
}

/* The covariance of the coefficients: the inverse of the normal matrix, scaled by the residuals. */
static tt_array *fit_covariance(tt_composer *c, const tt_call_frame *f, tt_array *m, tt_array *scale, tt_array *resid,
                                bool many) {
  tt_array *base = tt__linalg_inv_of(c, tt__compose_matmul(c, tt__compose_swap(c, m), m), false);
  base = base ? tt__compose_op2(c, TT_DIV, base, tt__compose_op2(c, TT_MUL, tt__compose_expand(c, scale, 1), scale))
              : NULL;
  if (!base) return NULL;
  bool raw = f->arg[6].tag == TT_V_STRING && strcmp(f->arg[6].as.s, "unscaled") == 0;
  if (many) base = tt__compose_expand(c, base, 2);
  if (raw) return base;
  int64_t n = tt__array_len(m)[0], order = tt__array_len(m)[1];
  if (n <= order)
    return tt__compose_fail(c, TT_EVALUE, "the number of data points must exceed order to scale the covariance matrix");
  return tt__compose_op2(c, TT_MUL, base, tt__compose_opf(c, TT_DIV, resid, (double)(n - order)));
}

/* Lines times their weights, in the type of the lines: NumPy multiplies in place. */
static tt_array *weighted(tt_composer *c, tt_array *lines, tt_array *w) {
  if (!lines || !w) return NULL;
  tt_dtype type = (tt_dtype)lines->dtype;
  if (tt__is_complex((tt_dtype)w->dtype) && !tt__is_complex(type))
    return tt__compose_fail(
        c, TT_ETYPE,
        "Cannot cast ufunc 'multiply' output from dtype('complex128') to dtype('%s') with casting rule 'same_kind'",
        tt__dtypes[type].name);
  return tt__compose_cast(c, tt__compose_op2(c, TT_MUL, lines, tt__compose_expand(c, w, 1)), type);
}

/* polyfit(x, y, deg, rcond, full, w, cov) */
static tt_array *polyfit(tt_composer *c, tt_call_frame *f) {
  tt_array *x = inexact(c, tt__arg_array(c, f, 0)), *y = inexact(c, tt__arg_array(c, f, 1));
  tt_array *w = tt__arg_given(f, 5) ? inexact(c, tt__arg_array(c, f, 5)) : NULL, *out[4];
  int64_t order = whole(c, f, 2, 0) + 1, rank;
  if (!check_fit(c, x, y, w, order - 1)) return NULL;
  double epsilon = tt__real_of((tt_dtype)x->dtype) == TT_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
  double rcond = tt__arg_float(c, f, 3, (double)x->size * epsilon);
  bool many = y->rank == 2;
  tt_array *m = powers(c, x, order), *rhs = many ? y : tt__compose_expand(c, y, 1);
  if (w) m = weighted(c, m, w), rhs = weighted(c, rhs, w);
  tt_array *scale =
      m ? tt__compose_op1(c, TT_SQRT, tt__compose_sum(c, tt__compose_op2(c, TT_MUL, m, m), 1, false)) : NULL;
  m = tt__compose_op2(c, TT_DIV, m, scale);
  if (!m || !rhs || !tt__linalg_lstsq_of(c, m, rhs, rcond, out, &rank)) return NULL;
  tt_array *p = tt__compose_op2(c, TT_DIV, out[0], tt__compose_expand(c, scale, 1));
  if (!many) p = tt__compose_reshape(c, p, 1, &order);
  if (!p) return NULL;
  if (tt__arg_bool(c, f, 4, false)) {
    tt_array *limit =
        tt__compose_full(c, tt__arg_given(f, 3) ? TT_F64 : tt__real_of((tt_dtype)x->dtype), 0, NULL, tt_v_float(rcond));
    return tt__fn_give(c, f, p) && tt__fn_give(c, f, out[1]) && tt__fn_give(c, f, out[2]) &&
                   tt__fn_give(c, f, out[3]) && tt__fn_give(c, f, limit)
               ? p
               : NULL;
  }
  if (rank != order) tt__warn(TT_WARN_RANK, "Polyfit may be poorly conditioned");
  bool cov = tt__arg_given(f, 6) && (f->arg[6].tag != TT_V_BOOL || f->arg[6].as.b);
  if (!cov) return p;
  return tt__fn_give(c, f, p) && tt__fn_give(c, f, fit_covariance(c, f, m, scale, out[1], many)) ? p : NULL;
}
TT_HANDLER(polyfit)

/* ---- arithmetic */

/* The shorter one with zeros in front. */
static tt_array *combined(tt_composer *c, tt_call_frame *f, tt_op op) {
  tt_array *a[2] = {vector(c, f, 0), vector(c, f, 1)};
  if (!a[0] || !a[1]) return NULL;
  int64_t len[2] = {tt__array_len(a[0])[0], tt__array_len(a[1])[0]}, missing = len[1] - len[0];
  int shorter = missing > 0 ? 0 : 1;
  if (missing == 0) return tt__compose_op2(c, op, a[0], a[1]);
  missing = missing < 0 ? -missing : missing;
  tt_array *zeros = tt__compose_full(c, (tt_dtype)a[shorter]->dtype, 1, &missing, tt_v_int(0));
  tt_value pair[2] = {tt_v_array(zeros), tt_v_array(a[shorter])};
  tt_value both = {.tag = TT_V_TUPLE, .as.tuple = {.item = pair, .n = 2}};
  a[shorter] = zeros ? tt__fn_call(c, "concatenate", &both, 1) : NULL;
  return tt__compose_op2(c, op, a[0], a[1]);
}

static tt_array *polyadd(tt_composer *c, tt_call_frame *f) { return combined(c, f, TT_ADD); }
static tt_array *polysub(tt_composer *c, tt_call_frame *f) { return combined(c, f, TT_SUB); }
TT_HANDLER(polyadd)
TT_HANDLER(polysub)

/* How many zeros stand at the front (and the back): one has to look. */
static bool outer_zeros(tt_composer *c, tt_array *a, int64_t *front, int64_t *back) {
  tt_array *mask = tt__compose_opi(c, TT_NE, a, 0);
  const bool *some = tt__compose_peek(c, mask);
  *front = *back = 0;
  if (!some && a->size) return false;
  while (*front < a->size && !some[*front]) ++*front;
  while (*back < a->size - *front && !some[a->size - 1 - *back]) ++*back;
  return true;
}

static tt_array *trimmed(tt_composer *c, tt_array *a) {
  int64_t front, back, one = 1;
  if (a && a->rank > 1) return tt__compose_fail(c, TT_EVALUE, "Polynomial must be 1d only.");
  if (!a || !outer_zeros(c, a, &front, &back)) return NULL;
  if (a->size == 0) return tt__compose_full(c, (tt_dtype)a->dtype, 1, &one, tt_v_int(0));
  if (front == a->size) front--; /* a zero is a polynomial too */
  return tt__compose_slice(c, a, 0, front, a->size - front, 1);
}

static tt_array *polymul(tt_composer *c, tt_call_frame *f) {
  tt_array *a = trimmed(c, vector(c, f, 0)), *b = trimmed(c, vector(c, f, 1));
  tt_value v[2] = {tt_v_array(a), tt_v_array(b)};
  return a && b ? tt__fn_call(c, "convolve", v, 2) : NULL;
}
TT_HANDLER(polymul)

/* n, n - 1, ... 1; nothing of n < 1. */
static tt_array *falling(tt_composer *c, int64_t n) {
  return tt__compose_opi(c, TT_ADD, tt__compose_op1(c, TT_NEG, tt__compose_iota(c, n < 0 ? 0 : n)), n);
}

/* How many coefficients there are: the length of the first axis. */
static bool coefficients(tt_composer *c, tt_array *p, int64_t *n) {
  if (!p) return false;
  if (p->rank == 0) return tt__compose_fail(c, TT_ETYPE, "len() of unsized object"), false;
  *n = tt__array_len(p)[0];
  return true;
}

/* polyder(p, m) */
static tt_array *polyder(tt_composer *c, tt_call_frame *f) {
  tt_array *p = tt__arg_array(c, f, 0);
  int64_t m = whole(c, f, 1, 1), n;
  if (m < 0) return tt__compose_fail(c, TT_EVALUE, "Order of derivative must be positive (see polyint)");
  if (!coefficients(c, p, &n)) return NULL;
  for (;;
       m--, n = n > 0 ? n - 1 : 0) { /* the next one is recorded, as in NumPy, before the last is given: it may fail */
    tt_array *next = tt__compose_op2(c, TT_MUL, tt__compose_slice(c, p, 0, 0, n > 0 ? n - 1 : 0, 1), falling(c, n - 1));
    if (m == 0 || !next) return next ? p : NULL;
    p = next;
  }
}
TT_HANDLER(polyder)

/* One integration: the coefficients over their new powers, and the constant behind them. */
static tt_array *integrated(tt_composer *c, tt_array *p, tt_array *constant) {
  int64_t n;
  if (!coefficients(c, p, &n)) return NULL;
  tt_array *head = tt__compose_op2(c, TT_DIV, p, falling(c, n));
  tt_value pair[2] = {tt_v_array(head), tt_v_array(constant)};
  tt_value both = {.tag = TT_V_TUPLE, .as.tuple = {.item = pair, .n = 2}};
  return head && constant ? tt__fn_call(c, "concatenate", &both, 1) : NULL;
}

/* polyint(p, m, k): k are the constants, one for all or one each */
static tt_array *polyint(tt_composer *c, tt_call_frame *f) {
  tt_array *p = tt__arg_array(c, f, 0), *k = tt__arg_given(f, 2) ? tt__compose_ravel(c, tt__arg_array(c, f, 2)) : NULL;
  int64_t m = whole(c, f, 1, 1), one = 1;
  if (m < 0) return tt__compose_fail(c, TT_EVALUE, "Order of integral must be positive (see polyder)");
  if (k && k->size != 1 && k->size < m)
    return tt__compose_fail(c, TT_EVALUE, "k must be a scalar or a rank-1 array of length 1 or >m.");
  for (int64_t i = 0; i < m && p; i++)
    p = integrated(
        c, p,
        k ? tt__compose_slice(c, k, 0, k->size == 1 ? 0 : i, 1, 1) : tt__compose_full(c, TT_F64, 1, &one, tt_v_int(0)));
  return p;
}
TT_HANDLER(polyint)

/* The eigenvalues of the companion matrix, and a root 0 for every zero at the end. */
static tt_array *roots(tt_composer *c, tt_call_frame *f) {
  tt_array *p = vector(c, f, 0);
  int64_t front, back, none = 0;
  if (p && p->rank != 1) return tt__compose_fail(c, TT_EVALUE, "Input must be a rank-1 array.");
  if (!p || !outer_zeros(c, p, &front, &back)) return NULL;
  if (front == p->size) return tt__compose_empty(c, TT_F64, 1, &none);
  p = inexact(c, tt__compose_slice(c, p, 0, front, p->size - front - back, 1));
  if (!p) return NULL;
  int64_t n = p->size - 1, square[2] = {n, n};
  if (n == 0) return tt__compose_full(c, TT_F64, 1, &back, tt_v_int(0));
  tt_array *part[2] = {NULL, tt__compose_full(c, (tt_dtype)p->dtype, 1, &back, tt_v_int(0))};
  tt_array *m = tt__compose_full(c, (tt_dtype)p->dtype, 2, square, tt_v_int(0));
  if (n > 1 && !tt__compose_set(c, tt__compose_diagonal(c, m, -1, 0, 1), tt_v_int(1))) return NULL;
  tt_array *top = tt__compose_op2(c, TT_DIV, tt__compose_op1(c, TT_NEG, tt__compose_slice(c, p, 0, 1, n, 1)),
                                  tt__compose_slice(c, p, 0, 0, 1, 1));
  if (!top || !tt__compose_set(c, tt__compose_slice(c, m, 0, 0, 1, 1), tt_v_array(top))) return NULL;
  tt_value v = tt_v_array(m);
  part[0] = tt__fn_call(c, "linalg.eigvals", &v, 1);
  part[1] = part[0] ? tt__compose_cast(c, part[1], (tt_dtype)part[0]->dtype) : NULL;
  return part[0] && part[1] ? tt__compose_concat(c, part, 2, 0) : NULL;
}
TT_HANDLER(roots)

/* The polynomial with given roots, or a matrix' characteristic one. */
static tt_array *poly(tt_composer *c, tt_call_frame *f) {
  tt_array *z = vector(c, f, 0);
  int64_t one = 1, two = 2;
  if (!z) return NULL;
  if (z->rank == 2 && tt__array_len(z)[0] == tt__array_len(z)[1] && z->size > 0) {
    tt_value v = tt_v_array(z);
    z = tt__fn_call(c, "linalg.eigvals", &v, 1);
  } else if (z->rank != 1) {
    return tt__compose_fail(c, TT_EVALUE, "input must be 1d or non-empty square 2d array.");
  }
  if (!z) return NULL;
  if (z->size == 0) return tt__compose_full(c, TT_F64, 0, NULL, tt_v_int(1));
  if (!tt__is_complex((tt_dtype)z->dtype) && z->dtype != TT_F32 && !(z = tt__compose_cast(c, z, TT_F64))) return NULL;
  tt_array *a = tt__compose_full(c, (tt_dtype)z->dtype, 1, &one, tt_v_int(1));
  for (int64_t k = 0; k < z->size && a; k++) {
    tt_array *factor = tt__compose_full(c, (tt_dtype)z->dtype, 1, &two, tt_v_int(1));
    if (!tt__compose_set(c, tt__compose_slice(c, factor, 0, 1, 1, 1),
                         tt_v_array(tt__compose_op1(c, TT_NEG, tt__compose_slice(c, z, 0, k, 1, 1)))))
      return NULL;
    tt_value v[2] = {tt_v_array(a), tt_v_array(factor)};
    a = tt__fn_call(c, "convolve", v, 2);
  }
  if (!a || !tt__is_complex((tt_dtype)z->dtype)) return a;
  tt_value v = tt_v_array(z), w = tt_v_array(tt__compose_conj(c, z)); /* roots in conjugate pairs: real coefficients */
  tt_array *s = tt__fn_call(c, "sort", &v, 1), *t = w.as.array ? tt__fn_call(c, "sort", &w, 1) : NULL;
  tt_array *same = tt__compose_op2(c, TT_EQ, s, t);
  same = same ? tt__compose_reduce(c, TT_RED_ALL, same, 1, false) : NULL;
  const bool *paired = tt__compose_peek(c, same);
  return paired && *paired ? tt__compose_op1(c, TT_REAL, a) : a;
}
TT_HANDLER(poly)
