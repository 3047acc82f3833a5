/*
** The Bessel function i0 and Kaiser's window, softmax and factorials, functions that are complex, the parts of floats,
** real numbers out of complex ones.
*/
#include <float.h>
#include <math.h>

#include "fn/fn.h"

/* ---- i0 */

static tt_array *bessel(tt_composer *c, tt_array *x) {
  return x ? tt__compose_cast(c, tt__compose_op1(c, TT_I0, tt__compose_cast(c, x, TT_F64)), (tt_dtype)x->dtype) : NULL;
}

static tt_array *bessel_i0(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return NULL;
  if (tt__is_complex((tt_dtype)x->dtype)) return tt__compose_fail(c, TT_ETYPE, "i0 not supported for complex values");
  return bessel(c, tt__is_float((tt_dtype)x->dtype) ? x : tt__compose_cast(c, x, TT_F64));
}
TT_HANDLER(bessel_i0)

/* kaiser(M, beta) */
static tt_array *kaiser(tt_composer *c, tt_call_frame *f) {
  double asked = tt__arg_float(c, f, 0, 0), beta = tt__arg_float(c, f, 1, 0);
  int64_t m = asked < 1 ? 0 : asked < 9e15 ? (int64_t)ceil(asked) : -1;
  if (c->code != TT_OK) return NULL;
  if (m < 0) return tt__compose_fail(c, TT_EVALUE, "Maximum allowed size exceeded");
  if (asked <= 1) return tt__compose_full(c, TT_F64, 1, &m, tt_v_int(1));
  double half = (asked - 1) / 2;
  tt_array *n = tt__compose_cast(c, tt__compose_iota(c, m), TT_F64);
  n = tt__compose_opf(c, TT_DIV, tt__compose_opf(c, TT_SUB, n, half), half);
  tt_array *bow = tt__compose_opf(c, TT_ADD, tt__compose_op1(c, TT_NEG, tt__compose_op2(c, TT_MUL, n, n)), 1);
  bow = tt__compose_op1(c, TT_SQRT, tt__compose_opf(c, TT_MAXIMUM, bow, 0));
  tt_array *top = tt__compose_full(c, TT_F64, 0, NULL, tt_v_float(beta));
  tt_array *shape = tt__compose_opf(c, TT_MUL, bow, beta);
  return shape && top ? tt__compose_op2(c, TT_DIV, bessel(c, shape), bessel(c, top)) : NULL;
}
TT_HANDLER(kaiser)

/* ---- along axes: softmax and its logarithm, the logarithm of a sum of exponentials */

typedef struct rows {
  tt_array *x;    /* of floats */
  tt_array *most; /* the largest along the axes, which stay */
  uint64_t axes;
} rows;

static bool read_rows(tt_composer *c, const tt_call_frame *f, rows *r) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return false;
  tt_dtype t = (tt_dtype)x->dtype;
  if (tt__is_complex(t)) return tt__compose_fail(c, TT_ETYPE, "complex values have no largest one") != NULL;
  r->x = tt__is_float(t) ? x : tt__compose_cast(c, x, TT_F64);
  r->axes = tt__arg_axes(c, f, 1, x->rank);
  if (c->code != TT_OK) return false;
  if (x->size == 0) return tt__compose_fail(c, TT_EVALUE, "zero-size array has no largest element") != NULL;
  r->most = tt__compose_reduce(c, TT_RED_MAX, r->x, r->axes, true);
  return r->most != NULL;
}

static tt_array *sum_of_exps(tt_composer *c, const rows *r, tt_array *shifted, bool keep) {
  return tt__compose_reduce(c, TT_RED_SUM, tt__compose_op1(c, TT_EXP, shifted), r->axes, keep);
}

/* What is not finite is not taken away, so that infinities stay what they are. */
static tt_array *finite_most(tt_composer *c, const rows *r) {
  tt_array *ok = tt__compose_op1(c, TT_ISFINITE, r->most);
  return ok ? tt__compose_where(c, ok, tt_v_array(r->most), tt_v_float(0)) : NULL;
}

static tt_array *softmax(tt_composer *c, tt_call_frame *f) {
  rows r;
  if (!read_rows(c, f, &r)) return NULL;
  tt_array *e = tt__compose_op1(c, TT_EXP, tt__compose_op2(c, TT_SUB, r.x, r.most));
  return tt__compose_op2(c, TT_DIV, e, tt__compose_reduce(c, TT_RED_SUM, e, r.axes, true));
}
TT_HANDLER(softmax)

static tt_array *log_softmax(tt_composer *c, tt_call_frame *f) {
  rows r;
  if (!read_rows(c, f, &r)) return NULL;
  tt_array *shifted = tt__compose_op2(c, TT_SUB, r.x, finite_most(c, &r));
  return tt__compose_op2(c, TT_SUB, shifted, tt__compose_op1(c, TT_LOG, sum_of_exps(c, &r, shifted, true)));
}
TT_HANDLER(log_softmax)

static tt_array *logsumexp(tt_composer *c, tt_call_frame *f) {
  rows r;
  if (!read_rows(c, f, &r)) return NULL;
  tt_array *most = finite_most(c, &r), *shifted = tt__compose_op2(c, TT_SUB, r.x, most);
  bool keep = tt__arg_bool(c, f, 2, false);
  tt_array *sum = tt__compose_op1(c, TT_LOG, sum_of_exps(c, &r, shifted, keep));
  if (!keep) most = tt__compose_reduce(c, TT_RED_MAX, most, r.axes, false); /* one element each: the axes go */
  return tt__compose_op2(c, TT_ADD, sum, most);
}
TT_HANDLER(logsumexp)

/* n! is gamma(n + 1), 0 left of 0. */
static tt_array *factorial(tt_composer *c, tt_call_frame *f) {
  tt_array *n = tt__arg_array(c, f, 0);
  if (!n) return NULL;
  if (!tt__is_float((tt_dtype)n->dtype)) n = tt__compose_cast(c, n, TT_F64);
  tt_array *y = tt__compose_op1(c, TT_GAMMA, tt__compose_opf(c, TT_ADD, n, 1)), *left = tt__compose_opf(c, TT_LT, n, 0);
  return y && left ? tt__compose_where(c, left, tt_v_float(0), tt_v_array(y)) : NULL;
}
TT_HANDLER(factorial)

/* ---- functions of two results, an operation each */

static tt_array *two_of(tt_composer *c, tt_call_frame *f, tt_op first, tt_op second) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (tt__fn_give(c, f, tt__compose_op1(c, first, x))) tt__fn_give(c, f, tt__compose_op1(c, second, x));
  return NULL;
}
static tt_array *sici(tt_composer *c, tt_call_frame *f) { return two_of(c, f, TT_SI, TT_CI); }
TT_HANDLER(sici)
static tt_array *shichi(tt_composer *c, tt_call_frame *f) { return two_of(c, f, TT_SHI, TT_CHI); }
TT_HANDLER(shichi)
static tt_array *fresnel(tt_composer *c, tt_call_frame *f) { return two_of(c, f, TT_FRESNEL_SIN, TT_FRESNEL_COS); }
TT_HANDLER(fresnel)

/* Riemann's zeta function, or with a second argument Hurwitz'. */
static tt_array *zeta(tt_composer *c, tt_call_frame *f) {
  tt_value v[2] = {tt__arg_value(c, f, 0), {.tag = TT_V_NONE}};
  bool two = tt__arg_given(f, 1);
  if (two) v[1] = tt__arg_value(c, f, 1);
  if (c->code != TT_OK) return NULL;
  return tt__arg_out(c, f, 2, tt__compose_apply(c, two ? TT_HURWITZ : TT_RIEMANN, v, two ? 2 : 1, TT_DTYPE_NONE));
}
TT_HANDLER(zeta)

/* ---- functions of complex numbers */

/* A real argument becomes the complex one of its precision. */
static tt_array *as_complex(tt_composer *c, tt_array *z) {
  if (!z || tt__is_complex((tt_dtype)z->dtype)) return z;
  bool narrow = z->dtype == TT_F32 || tt__dtype_size((tt_dtype)z->dtype) < sizeof(float);
  return tt__compose_cast(c, z, narrow ? TT_C64 : TT_C128);
}

/* w(z) = erfcx(-iz), a turn that is exact. */
static tt_array *wofz(tt_composer *c, tt_call_frame *f) {
  tt_array *z = as_complex(c, tt__arg_array(c, f, 0));
  tt_value v[2] = {tt_v_array(z), {.tag = TT_V_COMPLEX, .as.z = {0, -1}}};
  if (!z || c->code != TT_OK) return NULL;
  return tt__arg_out(c, f, 1, tt__compose_op1(c, TT_ERFCX, tt__compose_apply(c, TT_MUL, v, 2, TT_DTYPE_NONE)));
}
TT_HANDLER(wofz)

/* Every value is as close as its type allows, so `tol` says nothing. */
static tt_array *lambertw(tt_composer *c, tt_call_frame *f) {
  tt_array *z = as_complex(c, tt__arg_array(c, f, 0));
  if (!z) return NULL;
  tt_dtype type = (tt_dtype)z->dtype;
  tt_array *k = tt__arg_given(f, 1) ? tt__arg_array(c, f, 1) : tt__compose_full(c, type, 0, NULL, tt_v_int(0));
  return k ? tt__compose_op2(c, TT_LAMBERTW, z, tt__compose_cast(c, k, type)) : NULL;
}
TT_HANDLER(lambertw)

/* ---- counting: n and k as floats, 0 unless 0 <= k <= n */

static bool read_counts(tt_composer *c, const tt_call_frame *f, tt_array **n, tt_array **k) {
  *n = tt__arg_array(c, f, 0);
  *k = tt__arg_array(c, f, 1);
  if (*n && !tt__is_float((tt_dtype)(*n)->dtype)) *n = tt__compose_cast(c, *n, TT_F64);
  if (*k && !tt__is_float((tt_dtype)(*k)->dtype)) *k = tt__compose_cast(c, *k, TT_F64);
  return *n && *k;
}

static tt_array *where_counts(tt_composer *c, tt_array *n, tt_array *k, tt_array *y) {
  tt_array *ok = tt__compose_op2(c, TT_LAND, tt__compose_op2(c, TT_LE, k, n), tt__compose_opf(c, TT_GE, k, 0));
  return ok && y ? tt__compose_where(c, ok, tt_v_array(y), tt_v_float(0)) : NULL;
}

/* How many ways there are to take k of n; with repetition, k of n + k - 1. */
static tt_array *comb(tt_composer *c, tt_call_frame *f) {
  tt_array *n, *k;
  if (!read_counts(c, f, &n, &k)) return NULL;
  if (tt__arg_bool(c, f, 2, false))
    n = tt__compose_opf(c, TT_MAXIMUM, tt__compose_opf(c, TT_SUB, tt__compose_op2(c, TT_ADD, n, k), 1), 0);
  return where_counts(c, n, k, tt__compose_op2(c, TT_BINOM, n, k));
}
TT_HANDLER(comb)

/* The same in an order: (n - k + 1) (n - k + 2) ... n. */
static tt_array *perm(tt_composer *c, tt_call_frame *f) {
  tt_array *n, *k;
  if (!read_counts(c, f, &n, &k)) return NULL;
  tt_array *first = tt__compose_opf(c, TT_ADD, tt__compose_op2(c, TT_SUB, n, k), 1);
  return where_counts(c, n, k, tt__compose_op2(c, TT_POCH, first, k));
}
TT_HANDLER(perm)

/* ---- frexp: x is mantissa * 2^exponent, the mantissa in [0.5, 1) */

static tt_array *times_power(tt_composer *c, tt_array *x, tt_array *power) {
  return x && power ? tt__fn_call(c, "ldexp", (tt_value[2]){tt_v_array(x), tt_v_array(power)}, 2) : NULL;
}

static tt_array *frexp_of(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return NULL;
  tt_dtype t = (tt_dtype)x->dtype;
  if (tt__is_complex(t))
    return tt__compose_fail(
        c, TT_ETYPE,
        "ufunc 'frexp' not supported for the input types, and the inputs could not be safely coerced "
        "to any supported types according to the casting rule ''safe''");
  bool whole = t == TT_BOOL || tt__is_int(t);
  size_t size = tt__dtype_size(t);
  tt_dtype own = !whole ? t : size == 1 ? TT_F16 : size == 2 ? TT_F32 : TT_F64;
  tt_array *wide = tt__compose_cast(c, tt__compose_cast(c, x, own), TT_F64),
           *size_of = tt__compose_op1(c, TT_ABS, wide);
  tt_array *tiny = tt__compose_opf(c, TT_LT, size_of, DBL_MIN);
  tt_array *lifted = tt__compose_opf(c, TT_MUL, wide, 18014398509481984.0); /* 2^54: subnormals become normal */
  tt_array *plain =
      tt__compose_op2(c, TT_LAND, tt__compose_op1(c, TT_ISFINITE, wide), tt__compose_opf(c, TT_NE, wide, 0));
  if (!tiny || !lifted || !plain) return NULL;
  tt_array *at = tt__compose_where(c, tiny, tt_v_array(lifted), tt_v_array(wide));
  tt_array *safe = at ? tt__compose_where(c, plain, tt_v_array(at), tt_v_float(1)) : NULL;
  /* The logarithm may miss by one beside powers of two: the mantissa shows it. */
  tt_array *e = tt__compose_op1(c, TT_FLOOR, tt__compose_op1(c, TT_LOG2, tt__compose_op1(c, TT_ABS, safe)));
  e = tt__compose_opi(c, TT_ADD, tt__compose_cast(c, e, TT_I64), 1);
  tt_array *m = times_power(c, safe, tt__compose_op1(c, TT_NEG, e)), *level = tt__compose_op1(c, TT_ABS, m);
  tt_array *high = tt__compose_cast(c, tt__compose_opf(c, TT_GE, level, 1), TT_I64);
  tt_array *low = tt__compose_cast(c, tt__compose_opf(c, TT_LT, level, 0.5), TT_I64),
           *fix = tt__compose_op2(c, TT_SUB, high, low);
  m = times_power(c, m, tt__compose_op1(c, TT_NEG, fix));
  e = tt__compose_op2(c, TT_ADD, e, fix);
  e = tt__compose_op2(c, TT_SUB, e, tt__compose_opi(c, TT_MUL, tt__compose_cast(c, tiny, TT_I64), 54));
  if (!m || !e) return NULL;
  m = tt__compose_cast(c, tt__compose_where(c, plain, tt_v_array(m), tt_v_array(wide)), own);
  e = tt__compose_cast(c, tt__compose_where(c, plain, tt_v_array(e), tt_v_int(0)), TT_I32);
  if (tt__fn_give(c, f, m)) tt__fn_give(c, f, e);
  return NULL;
}
TT_HANDLER(frexp_of)

/* real_if_close(a, tol): the real parts where no imaginary part is above tol, in units of the type if above 1. */
static tt_array *real_if_close(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a || !tt__is_complex((tt_dtype)a->dtype)) return a;
  if (f->narg > 1 && f->arg[1].tag == TT_V_NONE)
    return tt__compose_fail(c, TT_ETYPE, "'>' not supported between instances of 'NoneType' and 'int'");
  double tol = tt__arg_float(c, f, 1, 100);
  if (c->code != TT_OK) return NULL;
  if (tol > 1) tol *= a->dtype == TT_C64 ? (double)FLT_EPSILON : DBL_EPSILON;
  tt_array *small = tt__compose_opf(c, TT_LT, tt__compose_op1(c, TT_ABS, tt__compose_op1(c, TT_IMAG, a)), tol);
  tt_array *all = small ? tt__compose_reduce(c, TT_RED_ALL, tt__compose_ravel(c, small), 1, false) : NULL;
  const bool *yes = all ? tt__compose_peek(c, all) : NULL;
  return !yes ? NULL : *yes ? tt__compose_op1(c, TT_REAL, a) : a;
}
TT_HANDLER(real_if_close)
