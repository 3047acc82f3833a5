/*
** Complex arithmetic in real instructions. Formulas follow C99's annex G where
** infinities and zeros matter, and NumPy where the two differ.
*/
#include "kernel/decompose.h"

#include <assert.h>

typedef struct maker {
  tt_decomposer *r;
  uint8_t t; /* real type of the parts */
} maker;

static int op1(maker m, int op, int a) { return tt__decompose_op(m.r, op, m.t, m.t, a, -1, -1); }
static int op2(maker m, int op, int a, int b) { return tt__decompose_op(m.r, op, m.t, m.t, a, b, -1); }
static int test(maker m, int op, int a, int b) { return tt__decompose_op(m.r, op, TT_BOOL, m.t, a, b, -1); }
static int both(maker m, int op, int a, int b) { return tt__decompose_op(m.r, op, TT_BOOL, TT_BOOL, a, b, -1); }
static int not(maker m, int a) { return tt__decompose_op(m.r, TT_LNOT, TT_BOOL, TT_BOOL, a, -1, -1); }
static int pick(maker m, int c, int a, int b) { return tt__decompose_op(m.r, TT_WHERE, m.t, m.t, c, a, b); }
static int number(maker m, double x) { return tt__decompose_number(m.r, m.t, x); }
static int add(maker m, int a, int b) { return op2(m, TT_ADD, a, b); }
static int sub(maker m, int a, int b) { return op2(m, TT_SUB, a, b); }
static int mul(maker m, int a, int b) { return op2(m, TT_MUL, a, b); }
static int quot(maker m, int a, int b) { return op2(m, TT_DIV, a, b); }
static int neg(maker m, int a) { return op1(m, TT_NEG, a); }
static tt_pair pair(int re, int im) { return (tt_pair){re, im}; }
static tt_pair c_pick(maker m, int c, tt_pair a, tt_pair b) {
  return pair(pick(m, c, a.re, b.re), pick(m, c, a.im, b.im));
}

static tt_pair c_add(maker m, tt_pair a, tt_pair b) { return pair(add(m, a.re, b.re), add(m, a.im, b.im)); }
static tt_pair c_sub(maker m, tt_pair a, tt_pair b) { return pair(sub(m, a.re, b.re), sub(m, a.im, b.im)); }
static tt_pair c_mul(maker m, tt_pair a, tt_pair b) {
  return pair(sub(m, mul(m, a.re, b.re), mul(m, a.im, b.im)), add(m, mul(m, a.re, b.im), mul(m, a.im, b.re)));
}
static tt_pair c_scale(maker m, tt_pair a, int s) { return pair(mul(m, a.re, s), mul(m, a.im, s)); }
static tt_pair c_times_i(maker m, tt_pair a) { return pair(neg(m, a.im), a.re); }
static tt_pair c_over_i(maker m, tt_pair a) { return pair(a.im, neg(m, a.re)); }

/* Smith's quotient: scale by the larger part of the divisor, so that nothing overflows early. */
static tt_pair c_div(maker m, tt_pair a, tt_pair b) {
  int one = number(m, 1);
  int abr = op1(m, TT_ABS, b.re), abi = op1(m, TT_ABS, b.im);
  int wide = test(m, TT_GE, abr, abi);
  int big = pick(m, wide, b.re, b.im), small = pick(m, wide, b.im, b.re);
  int zero = test(m, TT_EQ, op2(m, TT_MAXIMUM, abr, abi), number(m, 0));
  int ratio = quot(m, small, big);
  int scale = quot(m, one, add(m, big, mul(m, small, ratio)));
  tt_pair w = pair(mul(m, add(m, a.re, mul(m, a.im, ratio)), scale), mul(m, sub(m, a.im, mul(m, a.re, ratio)), scale));
  tt_pair n = pair(mul(m, add(m, mul(m, a.re, ratio), a.im), scale), mul(m, sub(m, mul(m, a.im, ratio), a.re), scale));
  return c_pick(m, zero, pair(quot(m, a.re, abr), quot(m, a.im, abr)), c_pick(m, wide, w, n));
}

static int is_zero(maker m, int a) { return test(m, TT_EQ, a, number(m, 0)); }
/* `a` where it is 0, else b. CUDA's compiler takes either zero for the other where they compare equal. */
static int zero_or(maker m, int a, int b) { return pick(m, is_zero(m, a), op2(m, TT_COPYSIGN, number(m, 0), a), b); }

/*
** A size with the sign of `of`. The sign of a NaN is whatever made it, and processors make others: it shows in no zero
** and in no infinity beside it.
*/
static int on_side(maker m, int size, int of) {
  return op2(m, TT_COPYSIGN, size, pick(m, test(m, TT_ISNAN, of, -1), number(m, 1), of));
}

/* An angle that is infinite or NaN has no direction. */
static int is_wild(maker m, int angle) { return not(m, test(m, TT_ISFINITE, angle, -1)); }
/* At an infinite end an angle without direction spoils only what is not 0 there, and no infinity. */
static int at_end(maker m, tt_pair a) { return both(m, TT_LAND, is_wild(m, a.im), test(m, TT_ISINF, a.re, -1)); }

/* e * sin(angle), of e = exp(a.re): zeros stay zeros, of a flat angle and at the lower end. */
static int rise(maker m, tt_pair a, int e) {
  int zero = number(m, 0), gone = both(m, TT_LAND, at_end(m, a), test(m, TT_LT, a.re, zero));
  return zero_or(m, a.im, pick(m, gone, on_side(m, zero, a.im), mul(m, e, op1(m, TT_SIN, a.im))));
}

static tt_pair c_exp(maker m, tt_pair a) {
  int e = op1(m, TT_EXP, a.re);
  int kept = both(m, TT_LOR, is_zero(m, a.im), at_end(m, a)); /* exp(x + 0i) is real, infinities included */
  return pair(pick(m, kept, e, mul(m, e, op1(m, TT_COS, a.im))), rise(m, a, e));
}

/* log|z| beside 1 from the difference to 1, which hypot() would round away. */
static tt_pair c_log(maker m, tt_pair a) {
  int one = number(m, 1), x = op1(m, TT_ABS, a.re), y = op1(m, TT_ABS, a.im);
  int large = op2(m, TT_MAXIMUM, x, y), small = op2(m, TT_MINIMUM, x, y), h = op2(m, TT_HYPOT, x, y);
  int over = add(m, mul(m, sub(m, large, one), add(m, large, one)), mul(m, small, small));
  int beside = both(m, TT_LAND, test(m, TT_GT, h, number(m, 0.7)), test(m, TT_LT, h, number(m, 1.4)));
  int re = pick(m, beside, mul(m, number(m, 0.5), op1(m, TT_LOG1P, over)), op1(m, TT_LOG, h));
  return pair(re, op2(m, TT_ATAN2, a.im, a.re));
}

static tt_pair c_log1p(maker m, tt_pair a) {
  int x = a.re, y = a.im, u = add(m, mul(m, x, add(m, number(m, 2), x)), mul(m, y, y));
  int near = test(m, TT_LT, op1(m, TT_ABS, u), number(m, 0.5));
  int re_near = mul(m, number(m, 0.5), op1(m, TT_LOG1P, u));
  int x1 = add(m, number(m, 1), x);
  return pair(pick(m, near, re_near, op1(m, TT_LOG, op2(m, TT_HYPOT, x1, y))), op2(m, TT_ATAN2, y, x1));
}

/* Quarter the operand first where it is huge: |z| may overflow though the root does not. */
static tt_pair c_sqrt(maker m, tt_pair a) {
  int zero = number(m, 0), half = number(m, 0.5), quarter = number(m, 0.25);
  int x = mul(m, op1(m, TT_ABS, a.re), quarter), y = mul(m, a.im, quarter);
  int t = op1(m, TT_SQRT, mul(m, half, add(m, x, op2(m, TT_HYPOT, x, y))));
  int other = mul(m, half, quot(m, op1(m, TT_ABS, y), t));
  int two = number(m, 2);
  int big = mul(m, two, t), small = mul(m, two, other);
  int none = test(m, TT_EQ, t, zero);
  small = pick(m, none, zero, small);
  int right = test(m, TT_GE, a.re, zero);
  tt_pair z = pair(pick(m, right, big, small), on_side(m, pick(m, right, small, big), a.im));
  int tall = test(m, TT_ISINF, a.im, -1);
  return pair(pick(m, tall, number(m, __builtin_inf()), z.re), pick(m, tall, a.im, z.im));
}

/* Where the angle is infinite or NaN, a part that is 0 stays 0 and an infinity stays one: C99's annex G. */
static tt_pair c_sinh(maker m, tt_pair a) {
  int re = mul(m, op1(m, TT_SINH, a.re), op1(m, TT_COS, a.im)),
      im = mul(m, op1(m, TT_COSH, a.re), op1(m, TT_SIN, a.im));
  int end = both(m, TT_LOR, is_zero(m, a.re), test(m, TT_ISINF, a.re, -1));
  return pair(pick(m, both(m, TT_LAND, is_wild(m, a.im), end), a.re, re), zero_or(m, a.im, im));
}
static tt_pair c_cosh(maker m, tt_pair a) {
  int re = mul(m, op1(m, TT_COSH, a.re), op1(m, TT_COS, a.im)),
      im = mul(m, op1(m, TT_SINH, a.re), op1(m, TT_SIN, a.im));
  int zero = number(m, 0), tall = at_end(m, a);
  int none = mul(m, on_side(m, zero, a.re), on_side(m, number(m, 1), a.im));
  int real = both(m, TT_LOR, is_zero(m, a.re), is_zero(m, a.im));
  return pair(pick(m, tall, op1(m, TT_ABS, a.re), re), pick(m, real, none, im));
}

/* Kahan's form; far out, where sinh overflows, the limit. */
static tt_pair c_tanh(maker m, tt_pair a) {
  int one = number(m, 1), ax = op1(m, TT_ABS, a.re);
  int far = test(m, TT_GT, ax, number(m, m.t == TT_F32 ? 9 : 20));
  int x = pick(m, far, number(m, 0), a.re);
  int t = op1(m, TT_TAN, a.im), s = op1(m, TT_SINH, x);
  int beta = add(m, one, mul(m, t, t)), rho = op1(m, TT_SQRT, add(m, one, mul(m, s, s)));
  int d = add(m, one, mul(m, beta, mul(m, s, s)));
  tt_pair near = pair(quot(m, mul(m, beta, mul(m, rho, s)), d), quot(m, t, d));
  int decay = op1(m, TT_EXP, mul(m, number(m, -2), ax));
  int wave = mul(m, number(m, 4), mul(m, op1(m, TT_SIN, a.im), op1(m, TT_COS, a.im)));
  int end = at_end(m, a), lost = both(m, TT_LAND, is_wild(m, a.im), not(m, end));
  int tail = pick(m, end, on_side(m, number(m, 0), a.im), mul(m, wave, decay));
  int limit = pick(m, lost, number(m, __builtin_nan("")), op2(m, TT_COPYSIGN, one, a.re));
  tt_pair z = c_pick(m, far, pair(limit, tail), near);
  return pair(zero_or(m, a.re, z.re), zero_or(m, a.im, z.im));
}

static int is_far(maker m, tt_pair a) {
  return both(m, TT_LOR, test(m, TT_ISINF, a.re, -1), test(m, TT_ISINF, a.im, -1));
}

/* log1p(4x / |1 - z|^2) / 4 for x = |re|, and half the angle of (1 + z) / (1 - z). */
static tt_pair c_atanh(maker m, tt_pair a) {
  int one = number(m, 1), zero = number(m, 0), two = number(m, 2), x = op1(m, TT_ABS, a.re), far = is_far(m, a);
  int h = op2(m, TT_HYPOT, sub(m, one, x), a.im), by = quot(m, quot(m, mul(m, number(m, 4), x), h), h);
  int re = pick(m, far, zero, mul(m, number(m, 0.25), op1(m, TT_LOG1P, by)));
  int across = sub(m, mul(m, sub(m, one, x), add(m, one, x)), mul(m, a.im, a.im));
  int quarter = op2(m, TT_ATAN2, mul(m, two, a.im), pick(m, far, number(m, -__builtin_inf()), across));
  quarter = pick(m, test(m, TT_ISINF, a.im, -1), op2(m, TT_COPYSIGN, number(m, 3.14159265358979323846), a.im), quarter);
  return pair(zero_or(m, a.re, on_side(m, re, a.re)), mul(m, number(m, 0.5), quarter));
}

/* sqrt(1 - z) and sqrt(1 + z). The signs of zeros tell the sides of the cuts, so 1 - z is not a complex difference. */
static void roots_beside(maker m, tt_pair z, tt_pair *down, tt_pair *up) {
  int one = number(m, 1);
  *down = c_sqrt(m, pair(sub(m, one, z.re), neg(m, z.im)));
  *up = c_sqrt(m, pair(add(m, one, z.re), z.im));
}

/* Im(conj(a) * b) */
static int across(maker m, tt_pair a, tt_pair b) { return sub(m, mul(m, a.re, b.im), mul(m, a.im, b.re)); }

/* Kahan's forms (Branch Cuts for Complex Elementary Functions, 1987): neither cancel nor overflow. */
static tt_pair c_asin(maker m, tt_pair a) {
  tt_pair down, up;
  roots_beside(m, a, &down, &up);
  int near = sub(m, mul(m, down.re, up.re), mul(m, down.im, up.im));
  int far = is_far(m, a), inf = number(m, __builtin_inf());
  int re = op2(m, TT_ATAN2, a.re, pick(m, far, op1(m, TT_ABS, a.im), near));
  return pair(zero_or(m, a.re, re), pick(m, far, on_side(m, inf, a.im), op1(m, TT_ASINH, across(m, down, up))));
}

static tt_pair c_acos(maker m, tt_pair a) {
  tt_pair down, up;
  roots_beside(m, a, &down, &up);
  int far = is_far(m, a), inf = number(m, __builtin_inf());
  int half = op2(m, TT_ATAN2, down.re, up.re);
  int re = pick(m, far, op2(m, TT_ATAN2, op1(m, TT_ABS, a.im), a.re), mul(m, number(m, 2), half));
  re = pick(m, is_zero(m, a.re), number(m, 1.57079632679489661923), re);
  int im = pick(m, far, on_side(m, inf, neg(m, a.im)), op1(m, TT_ASINH, across(m, up, down)));
  return pair(re, im);
}

static tt_pair c_asinh(maker m, tt_pair a) { return c_over_i(m, c_asin(m, c_times_i(m, a))); }

static tt_pair c_acosh(maker m, tt_pair a) {
  tt_pair w = c_acos(m, a);
  return pair(op1(m, TT_ABS, w.im), on_side(m, w.re, a.im));
}

static tt_pair c_expm1(maker m, tt_pair a) {
  int half = op1(m, TT_SIN, mul(m, number(m, 0.5), a.im));
  int drop = sub(m, number(m, 0), mul(m, number(m, 2), mul(m, half, half))), e = op1(m, TT_EXPM1, a.re);
  int re = pick(m, at_end(m, a), e, add(m, mul(m, e, op1(m, TT_COS, a.im)), drop)); /* 0 of -0 as well */
  return pair(re, rise(m, a, op1(m, TT_EXP, a.re)));
}

static tt_pair c_pow(maker m, tt_pair a, tt_pair b) {
  int zero = number(m, 0), one = number(m, 1);
  int a0 = both(m, TT_LAND, test(m, TT_EQ, a.re, zero), test(m, TT_EQ, a.im, zero));
  int b0 = both(m, TT_LAND, test(m, TT_EQ, b.re, zero), test(m, TT_EQ, b.im, zero));
  int b1 = both(m, TT_LAND, test(m, TT_EQ, b.re, one), test(m, TT_EQ, b.im, zero));
  int b2 = both(m, TT_LAND, test(m, TT_EQ, b.re, number(m, 2)), test(m, TT_EQ, b.im, zero));
  tt_pair z = c_exp(m, c_mul(m, b, c_log(m, a)));
  z = c_pick(m, b2, c_mul(m, a, a), c_pick(m, b1, a, z));
  int grows = test(m, TT_GT, b.re, zero), of0 = pick(m, grows, zero, number(m, __builtin_nan("")));
  z = c_pick(m, a0, pair(of0, of0), z);
  return c_pick(m, b0, pair(one, zero), z);
}

/* A NaN in either half is in no order. */
static int c_less(maker m, tt_pair a, tt_pair b, int strict) {
  int same = both(m, TT_LAND, test(m, TT_EQ, a.re, b.re), test(m, strict, a.im, b.im));
  int lost = both(m, TT_LOR, test(m, TT_ISNAN, a.im, -1), test(m, TT_ISNAN, b.im, -1));
  return both(m, TT_LOR, both(m, TT_LAND, test(m, TT_LT, a.re, b.re), not(m, lost)), same);
}

static int c_isnan(maker m, tt_pair a) {
  return both(m, TT_LOR, test(m, TT_ISNAN, a.re, -1), test(m, TT_ISNAN, a.im, -1));
}

static tt_pair c_choose(maker m, tt_pair a, tt_pair b, bool larger) {
  int keep_a = larger ? c_less(m, b, a, TT_LE) : c_less(m, a, b, TT_LE);
  tt_pair z = c_pick(m, keep_a, a, b);
  return c_pick(m, c_isnan(m, a), a, c_pick(m, c_isnan(m, b), b, z));
}

static tt_pair c_sign(maker m, tt_pair a) {
  int h = op2(m, TT_HYPOT, a.re, a.im), zero = number(m, 0), none = test(m, TT_EQ, h, zero);
  tt_pair near = c_pick(m, none, pair(zero, zero), pair(quot(m, a.re, h), quot(m, a.im, h)));
  int flat = test(m, TT_ISINF, a.re, -1), tall = test(m, TT_ISINF, a.im, -1), one = number(m, 1);
  tt_pair end = c_pick(m, flat, pair(op2(m, TT_COPYSIGN, one, a.re), zero), pair(zero, op2(m, TT_COPYSIGN, one, a.im)));
  int nan = number(m, __builtin_nan(""));
  end = c_pick(m, both(m, TT_LAND, flat, tall), pair(nan, nan), end); /* between the axes it has no direction */
  return c_pick(m, test(m, TT_ISINF, h, -1), end, near);
}

/* Functions whose parts are rows of their own, of the operand's parts and which of the value's is wanted. */
static const struct {
  uint8_t op, parts;
} in_parts[] = {{TT_ERF, TT_ERF_PART},         {TT_ERFC, TT_ERFC_PART},   {TT_ERFCX, TT_ERFCX_PART},
                {TT_DAWSN, TT_DAWSN_PART},     {TT_GAMMA, TT_GAMMA_PART}, {TT_LOGGAMMA, TT_LOGGAMMA_PART},
                {TT_DIGAMMA, TT_DIGAMMA_PART}, {TT_EXP1, TT_EXP1_PART},   {TT_EXPI, TT_EXPI_PART}};

static int part_of(maker m, int op, tt_pair a, int which) {
  return tt__decompose_op(m.r, op, m.t, m.t, a.re, a.im, which);
}

static bool c_in_parts(maker m, int op, tt_pair a, tt_pair *out) {
  for (size_t k = 0; k < sizeof in_parts / sizeof *in_parts; k++) {
    if (in_parts[k].op != op) continue;
    *out = pair(part_of(m, in_parts[k].parts, a, number(m, 0)), part_of(m, in_parts[k].parts, a, number(m, 1)));
    return true;
  }
  return false;
}

/* The normal distribution is erfc(-z / sqrt 2) / 2. */
static tt_pair c_ndtr(maker m, tt_pair a) {
  tt_pair y;
  c_in_parts(m, TT_ERFC, c_scale(m, a, number(m, -0.70710678118654752440)), &y);
  return c_scale(m, y, number(m, 0.5));
}

static tt_pair c_lambertw(maker m, tt_pair z, tt_pair branch) {
  int twice = mul(m, number(m, 2), branch.re);
  return pair(part_of(m, TT_LAMBERTW_PART, z, twice), part_of(m, TT_LAMBERTW_PART, z, add(m, twice, number(m, 1))));
}

/* x log y, 0 where x is and y is a number. */
static tt_pair c_times_log(maker m, tt_pair x, tt_pair y, tt_pair log) {
  int lost = both(m, TT_LOR, test(m, TT_ISNAN, y.re, -1), test(m, TT_ISNAN, y.im, -1)), zero = number(m, 0);
  int none = both(m, TT_LAND, both(m, TT_LAND, is_zero(m, x.re), is_zero(m, x.im)), not(m, lost));
  return c_pick(m, none, pair(zero, zero), c_mul(m, x, log));
}

static tt_pair c_log_base(maker m, tt_pair a, double scale) { return c_scale(m, c_log(m, a), number(m, scale)); }

static bool transcendental(maker m, int op, tt_pair a, tt_pair *out) {
  switch (op) {
    case TT_SQRT:
      *out = c_sqrt(m, a);
      return true;
    case TT_EXP:
      *out = c_exp(m, a);
      return true;
    case TT_EXP2:
      *out = c_exp(m, c_scale(m, a, number(m, 0.69314718055994530942)));
      return true;
    case TT_EXPM1:
      *out = c_expm1(m, a);
      return true;
    case TT_LOG:
      *out = c_log(m, a);
      return true;
    case TT_LOG2:
      *out = c_log_base(m, a, 1.44269504088896340736);
      return true;
    case TT_LOG10:
      *out = c_log_base(m, a, 0.43429448190325182765);
      return true;
    case TT_LOG1P:
      *out = c_log1p(m, a);
      return true;
    case TT_SINH:
      *out = c_sinh(m, a);
      return true;
    case TT_COSH:
      *out = c_cosh(m, a);
      return true;
    case TT_TANH:
      *out = c_tanh(m, a);
      return true;
    case TT_SIN:
      *out = c_over_i(m, c_sinh(m, c_times_i(m, a)));
      return true;
    case TT_COS:
      *out = c_cosh(m, c_times_i(m, a));
      return true;
    case TT_TAN:
      *out = c_over_i(m, c_tanh(m, c_times_i(m, a)));
      return true;
    case TT_ASINH:
      *out = c_asinh(m, a);
      return true;
    case TT_ASIN:
      *out = c_asin(m, a);
      return true;
    case TT_ACOS:
      *out = c_acos(m, a);
      return true;
    case TT_ACOSH:
      *out = c_acosh(m, a);
      return true;
    case TT_ATANH:
      *out = c_atanh(m, a);
      return true;
    case TT_ATAN:
      *out = c_over_i(m, c_atanh(m, c_times_i(m, a)));
      return true;
    default:
      return false;
  }
}

bool tt__complex_op(tt_decomposer *r, int op, uint8_t t, const tt_pair *arg, tt_pair *out) {
  assert(t == TT_F32 || t == TT_F64);
  maker m = {r, t};
  tt_pair a = arg[0], b = arg[1];
  switch (op) {
    case TT_ADD:
      *out = c_add(m, a, b);
      return true;
    case TT_SUB:
      *out = c_sub(m, a, b);
      return true;
    case TT_MUL:
      *out = c_mul(m, a, b);
      return true;
    case TT_DIV:
      *out = c_div(m, a, b);
      return true;
    case TT_POW:
      *out = c_pow(m, a, b);
      return true;
    case TT_NEG:
      *out = pair(neg(m, a.re), neg(m, a.im));
      return true;
    case TT_CONJ:
      *out = pair(a.re, neg(m, a.im));
      return true;
    case TT_SIGN:
      *out = c_sign(m, a);
      return true;
    case TT_SQUARE:
      *out = c_mul(m, a, a);
      return true;
    case TT_RECIPROCAL:
      *out = c_div(m, pair(number(m, 1), number(m, 0)), a);
      return true;
    case TT_RINT:
      *out = pair(op1(m, TT_RINT, a.re), op1(m, TT_RINT, a.im));
      return true;
    case TT_MAXIMUM:
      *out = c_choose(m, a, b, true);
      return true;
    case TT_MINIMUM:
      *out = c_choose(m, a, b, false);
      return true;
    case TT_FMAX:
      *out = c_pick(m, c_isnan(m, a), b, c_pick(m, c_isnan(m, b), a, c_choose(m, a, b, true)));
      return true;
    case TT_FMIN:
      *out = c_pick(m, c_isnan(m, a), b, c_pick(m, c_isnan(m, b), a, c_choose(m, a, b, false)));
      return true;
    case TT_XLOGY:
      *out = c_times_log(m, a, b, c_log(m, b));
      return true;
    case TT_XLOG1PY:
      *out = c_times_log(m, a, b, c_log1p(m, b));
      return true;
    case TT_LAMBERTW:
      *out = c_lambertw(m, a, b);
      return true;
    case TT_NDTR:
      *out = c_ndtr(m, a);
      return true;
    default:
      return c_in_parts(m, op, a, out) || transcendental(m, op, a, out);
  }
}

bool tt__complex_to_real(tt_decomposer *r, int op, uint8_t t, const tt_pair *arg, int *out) {
  assert(t == TT_F32 || t == TT_F64);
  maker m = {r, t};
  tt_pair a = arg[0], b = arg[1];
  switch (op) {
    case TT_ABS:
      *out = op2(m, TT_HYPOT, a.re, a.im);
      return true;
    case TT_REAL:
      *out = a.re;
      return true;
    case TT_IMAG:
      *out = a.im;
      return true;
    case TT_EQ:
      *out = both(m, TT_LAND, test(m, TT_EQ, a.re, b.re), test(m, TT_EQ, a.im, b.im));
      return true;
    case TT_NE:
      *out = both(m, TT_LOR, test(m, TT_NE, a.re, b.re), test(m, TT_NE, a.im, b.im));
      return true;
    case TT_LT:
      *out = c_less(m, a, b, TT_LT);
      return true;
    case TT_LE:
      *out = c_less(m, a, b, TT_LE);
      return true;
    case TT_GT:
      *out = c_less(m, b, a, TT_LT);
      return true;
    case TT_GE:
      *out = c_less(m, b, a, TT_LE);
      return true;
    case TT_ISNAN:
      *out = c_isnan(m, a);
      return true;
    case TT_ISINF:
      *out = both(m, TT_LOR, test(m, TT_ISINF, a.re, -1), test(m, TT_ISINF, a.im, -1));
      return true;
    case TT_ISFINITE:
      *out = both(m, TT_LAND, test(m, TT_ISFINITE, a.re, -1), test(m, TT_ISFINITE, a.im, -1));
      return true;
    default:
      return false;
  }
}
