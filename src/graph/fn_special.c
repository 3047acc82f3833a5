/*
** The Bessel function i0 and Kaiser's window, the parts of floats, real numbers out of complex ones.
*/
#include <float.h>
#include <math.h>

#include "graph/fn.h"

/* ---- i0: Chebyshev series of exp(-x) i0(x) for x up to 8, and of exp(-x) sqrt(x) i0(x) beyond (Cephes) */

static const double near[] = {
    -4.41534164647933937950E-18, 3.33079451882223809783E-17, -2.43127984654795469359E-16, 1.71539128555513303061E-15,
    -1.16853328779934516808E-14, 7.67618549860493561688E-14, -4.85644678311192946090E-13, 2.95505266312963983461E-12,
    -1.72682629144155570723E-11, 9.67580903537323691224E-11, -5.18979560163526290666E-10, 2.65982372468238665035E-9,
    -1.30002500998624804212E-8,  6.04699502254191894932E-8,  -2.67079385394061173391E-7,  1.11738753912010371815E-6,
    -4.41673835845875056359E-6,  1.64484480707288970893E-5,  -5.75419501008210370398E-5,  1.88502885095841655729E-4,
    -5.76375574538582365885E-4,  1.63947561694133579842E-3,  -4.32430999505057594430E-3,  1.05464603945949983183E-2,
    -2.37374148058994688156E-2,  4.93052842396707084878E-2,  -9.49010970480476444210E-2,  1.71620901522208775349E-1,
    -3.04682672343198398683E-1,  6.76795274409476084995E-1};
static const double far[] = {
    -7.23318048787475395456E-18, -4.83050448594418207126E-18, 4.46562142029675999901E-17,  3.46122286769746109310E-17,
    -2.82762398051658348494E-16, -3.42548561967721913462E-16, 1.77256013305652638360E-15,  3.81168066935262242075E-15,
    -9.55484669882830764870E-15, -4.15056934728722208663E-14, 1.54008621752140982691E-14,  3.85277838274214270114E-13,
    7.18012445138366623367E-13,  -1.79417853150680611778E-12, -1.32158118404477131188E-11, -3.14991652796324136454E-11,
    1.18891471078464383424E-11,  4.94060238822496958910E-10,  3.39623202570838634515E-9,   2.26666899049817806459E-8,
    2.04891858946906374183E-7,   2.89137052083475648297E-6,   6.88975834691682398426E-5,   3.36911647825569408990E-3,
    8.04490411014108831608E-1};

static tt_array *chebyshev(tt_calc *c, tt_array *x, const double *a, int n) {
  tt_array *b[3] = {NULL, NULL, NULL};
  for (int k = 0; k < n; k++) {
    tt_array *next = b[0] ? tt__calc_op2(c, TT_MUL, x, b[0]) : tt__calc_opf(c, TT_MUL, x, 0);
    if (b[1]) next = tt__calc_op2(c, TT_SUB, next, b[1]);
    b[2] = b[1];
    b[1] = b[0];
    b[0] = tt__calc_opf(c, TT_ADD, next, a[k]);
  }
  return tt__calc_opf(c, TT_MUL, tt__calc_op2(c, TT_SUB, b[0], b[2]), 0.5);
}

static tt_array *bessel(tt_calc *c, tt_array *x) {
  tt_dtype type = (tt_dtype)x->dtype;
  x = tt__calc_op1(c, TT_ABS, tt__calc_cast(c, x, TT_F64));
  tt_array *small = chebyshev(c, tt__calc_opf(c, TT_SUB, tt__calc_opf(c, TT_DIV, x, 2), 2), near, 30);
  tt_array *safe = tt__calc_opf(c, TT_MAXIMUM, x, 8), *over = tt__calc_op1(c, TT_RECIPROCAL, safe);
  tt_array *large = chebyshev(c, tt__calc_opf(c, TT_SUB, tt__calc_opf(c, TT_MUL, over, 32), 2), far, 25);
  large = tt__calc_op2(c, TT_DIV, large, tt__calc_op1(c, TT_SQRT, safe));
  tt_array *is_small = tt__calc_opf(c, TT_LE, x, 8);
  if (!is_small || !small || !large) return NULL;
  tt_array *scaled = tt__calc_where(c, is_small, tt_v_array(small), tt_v_array(large));
  return tt__calc_cast(c, tt__calc_op2(c, TT_MUL, tt__calc_op1(c, TT_EXP, x), scaled), type);
}

static tt_array *bessel_i0(tt_calc *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return NULL;
  if (tt__is_complex((tt_dtype)x->dtype)) return tt__calc_fail(c, TT_ETYPE, "i0 not supported for complex values");
  return bessel(c, tt__is_float((tt_dtype)x->dtype) ? x : tt__calc_cast(c, x, TT_F64));
}
TT_HANDLER(bessel_i0)

/* kaiser(M, beta) */
static tt_array *kaiser(tt_calc *c, tt_call_frame *f) {
  double asked = tt__arg_float(c, f, 0, 0), beta = tt__arg_float(c, f, 1, 0);
  int64_t m = asked < 1 ? 0 : asked < 9e15 ? (int64_t)ceil(asked) : -1;
  if (c->code != TT_OK) return NULL;
  if (m < 0) return tt__calc_fail(c, TT_EVALUE, "Maximum allowed size exceeded");
  if (asked <= 1) return tt__calc_full(c, TT_F64, 1, &m, tt_v_int(1));
  double half = (asked - 1) / 2;
  tt_array *n = tt__calc_cast(c, tt__calc_iota(c, m), TT_F64);
  n = tt__calc_opf(c, TT_DIV, tt__calc_opf(c, TT_SUB, n, half), half);
  tt_array *bow = tt__calc_opf(c, TT_ADD, tt__calc_op1(c, TT_NEG, tt__calc_op2(c, TT_MUL, n, n)), 1);
  bow = tt__calc_op1(c, TT_SQRT, tt__calc_opf(c, TT_MAXIMUM, bow, 0));
  tt_array *top = tt__calc_full(c, TT_F64, 0, NULL, tt_v_float(beta));
  tt_array *shape = tt__calc_opf(c, TT_MUL, bow, beta);
  return shape && top ? tt__calc_op2(c, TT_DIV, bessel(c, shape), bessel(c, top)) : NULL;
}
TT_HANDLER(kaiser)

/* ---- frexp: x is mantissa * 2^exponent, the mantissa in [0.5, 1) */

static tt_array *times_power(tt_calc *c, tt_array *x, tt_array *power) {
  return x && power ? tt__fn_call(c, "ldexp", (tt_value[2]){tt_v_array(x), tt_v_array(power)}, 2) : NULL;
}

static tt_array *frexp_of(tt_calc *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return NULL;
  tt_dtype t = (tt_dtype)x->dtype;
  if (tt__is_complex(t))
    return tt__calc_fail(c, TT_ETYPE,
                         "ufunc 'frexp' not supported for the input types, and the inputs could not be safely coerced "
                         "to any supported types according to the casting rule ''safe''");
  bool whole = t == TT_BOOL || tt__is_int(t);
  size_t size = tt__dtype_size(t);
  tt_dtype own = !whole ? t : size == 1 ? TT_F16 : size == 2 ? TT_F32 : TT_F64;
  tt_array *wide = tt__calc_cast(c, tt__calc_cast(c, x, own), TT_F64), *size_of = tt__calc_op1(c, TT_ABS, wide);
  tt_array *tiny = tt__calc_opf(c, TT_LT, size_of, DBL_MIN);
  tt_array *lifted = tt__calc_opf(c, TT_MUL, wide, 18014398509481984.0); /* 2^54: subnormals become normal */
  tt_array *plain = tt__calc_op2(c, TT_LAND, tt__calc_op1(c, TT_ISFINITE, wide), tt__calc_opf(c, TT_NE, wide, 0));
  if (!tiny || !lifted || !plain) return NULL;
  tt_array *at = tt__calc_where(c, tiny, tt_v_array(lifted), tt_v_array(wide));
  tt_array *safe = at ? tt__calc_where(c, plain, tt_v_array(at), tt_v_float(1)) : NULL;
  /* The logarithm may miss by one beside powers of two: the mantissa shows it. */
  tt_array *e = tt__calc_op1(c, TT_FLOOR, tt__calc_op1(c, TT_LOG2, tt__calc_op1(c, TT_ABS, safe)));
  e = tt__calc_opi(c, TT_ADD, tt__calc_cast(c, e, TT_I64), 1);
  tt_array *m = times_power(c, safe, tt__calc_op1(c, TT_NEG, e)), *level = tt__calc_op1(c, TT_ABS, m);
  tt_array *high = tt__calc_cast(c, tt__calc_opf(c, TT_GE, level, 1), TT_I64);
  tt_array *low = tt__calc_cast(c, tt__calc_opf(c, TT_LT, level, 0.5), TT_I64),
           *fix = tt__calc_op2(c, TT_SUB, high, low);
  m = times_power(c, m, tt__calc_op1(c, TT_NEG, fix));
  e = tt__calc_op2(c, TT_ADD, e, fix);
  e = tt__calc_op2(c, TT_SUB, e, tt__calc_opi(c, TT_MUL, tt__calc_cast(c, tiny, TT_I64), 54));
  if (!m || !e) return NULL;
  m = tt__calc_cast(c, tt__calc_where(c, plain, tt_v_array(m), tt_v_array(wide)), own);
  e = tt__calc_cast(c, tt__calc_where(c, plain, tt_v_array(e), tt_v_int(0)), TT_I32);
  if (tt__fn_give(c, f, m)) tt__fn_give(c, f, e);
  return NULL;
}
TT_HANDLER(frexp_of)

/* real_if_close(a, tol): the real parts where no imaginary part is above tol, in units of the type if above 1. */
static tt_array *real_if_close(tt_calc *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  double tol = tt__arg_float(c, f, 1, 100);
  if (!a || c->code != TT_OK || !tt__is_complex((tt_dtype)a->dtype)) return a;
  if (tol > 1) tol *= a->dtype == TT_C64 ? (double)FLT_EPSILON : DBL_EPSILON;
  tt_array *small = tt__calc_opf(c, TT_LT, tt__calc_op1(c, TT_ABS, tt__calc_op1(c, TT_IMAG, a)), tol);
  tt_array *all = small ? tt__calc_reduce(c, TT_RED_ALL, tt__calc_ravel(c, small), 1, false) : NULL;
  const bool *yes = all ? tt__calc_peek(c, all) : NULL;
  return !yes ? NULL : *yes ? tt__calc_op1(c, TT_REAL, a) : a;
}
TT_HANDLER(real_if_close)
