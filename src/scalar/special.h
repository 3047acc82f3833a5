/*
** The fourth part of the text of scalar functions: special functions. It follows prelude_f32.h and special_tables.h,
** includes nothing itself, and keeps prelude.h's rules. Kernels that call none of these are rendered without it.
**
** Most functions are polynomials in sections of a table (tools/special_tables.py), multiplied by what the function
** does far out; where it becomes small or large quickly, by an exponential whose argument is a double-double. Those of
** f32 are those of f64, rounded. Error bounds are asserted by tests/oracle/test_special.py, functions' zeros other than
** those at whole numbers excepted: there the error is small beside the function's neighbourhood.
*/
#ifndef TT_SCALAR_SPECIAL_H
#define TT_SCALAR_SPECIAL_H

/* A function with a body too long to be made where it is called. */
#ifndef TT_LONG_FN
#ifdef TT_SCALAR_LANES
#define TT_LONG_FN TT_RARE
#else
#define TT_LONG_FN static __attribute__((noinline, unused))
#endif
#endif

/* `y` becomes the polynomial in section `at` of a table of `n` coefficients, at t in [-1, 1]. */
#define TT__SECTION(y, table, n, at, t)                                \
  do {                                                                 \
    y = (table)[at][(n)-1];                                            \
    for (int k_ = (n)-2; k_ >= 0; k_--) y = y * (t) + (table)[at][k_]; \
  } while (0)
/* The same for a table over [low, low + sections/scale]; x beyond its ends is taken to them. NaN gives NaN. */
#define TT__TABLE(y, table, sections, n, low, scale, x)                     \
  do {                                                                      \
    tt_f64 u_ = ((x) - (low)) * (scale), w_ = tt__clamp(u_, 0, (sections)); \
    int at_ = w_ < (sections) ? (int)w_ : (sections)-1;                     \
    tt_f64 t_ = 2 * (u_ - at_) - 1;                                         \
    TT__SECTION(y, table, n, at_, t_);                                      \
  } while (0)
#define TT__THROUGH_1(name) \
  TT_FN tt_f32 tt_##name##_f32(tt_f32 x) { return (tt_f32)tt_##name##_f64((tt_f64)x); }
#define TT__THROUGH_2(name) \
  TT_FN tt_f32 tt_##name##_f32(tt_f32 x, tt_f32 y) { return (tt_f32)tt_##name##_f64((tt_f64)x, (tt_f64)y); }
#define TT__THROUGH_3(name)                                          \
  TT_FN tt_f32 tt_##name##_f32(tt_f32 x, tt_f32 y, tt_f32 z) {       \
    return (tt_f32)tt_##name##_f64((tt_f64)x, (tt_f64)y, (tt_f64)z); \
  }

#define TT__PI 0x1.921fb54442d18p+1
#define TT__PI_LO 0x1.1a62633145c07p-53
/* e^-(a*a) * 2^shift for any a. */
TT_LONG_FN tt_f64 tt__exp_square(tt_f64 a, tt_f64 shift) {
  tt_f64 b = tt__clamp(a, -40, 40);
  tt__dd p = tt__two_prod(b, b);
  return p.hi < 750 ? tt__exp_scaled(-p.hi, -p.lo, shift) : p.hi == p.hi ? 0 : p.hi;
}
/* e^x y without overflow of the first factor; y at most 1 or so. */
TT_FN tt_f64 tt__exp_times(tt_f64 x, tt_f64 y) {
  return tt__exp_scaled(tt__clamp(x, -750, 750), 0, -32) * (y * 0x1p32);
}
/* (a.hi + a.lo) * b */
TT_FN tt__dd tt__dd_times(tt__dd a, tt_f64 b) {
  tt__dd p = tt__two_prod(a.hi, b);
  return tt__fast_sum(p.hi, p.lo + a.lo * b);
}
TT_FN tt__dd tt__dd_sum(tt__dd a, tt__dd b) {
  tt__dd s = tt__two_sum(a.hi, b.hi);
  return tt__fast_sum(s.hi, s.lo + (a.lo + b.lo));
}
TT_FN tt__dd tt__dd_minus(tt__dd a) {
  a.hi = -a.hi;
  a.lo = -a.lo;
  return a;
}
TT_FN tt__dd tt__dd_of(tt_f64 a) {
  tt__dd r;
  r.hi = a;
  r.lo = 0;
  return r;
}
TT_FN tt__dd tt__dd_product(tt__dd a, tt__dd b) {
  tt__dd p = tt__two_prod(a.hi, b.hi);
  return tt__fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
TT_FN tt__dd tt__dd_quotient(tt__dd a, tt__dd b) {
  tt_f64 q = a.hi / b.hi;
  tt__dd p = tt__two_prod(q, b.hi);
  return tt__fast_sum(q, ((((a.hi - p.hi) - p.lo) + a.lo) - q * b.lo) / b.hi);
}
/* sin and cos of pi x, with their signs at zeros. */
TT_FN tt__angle tt__half_turns(tt_f64 x) {
  tt_f64 twice = 2 * x, whole = tt_rint_f64(twice), r = 0.5 * (twice - whole);
  tt_f64 quarter = whole - 4 * tt_floor_f64(whole * 0.25);
  tt__dd p = tt__two_prod(r, TT__PI);
  tt__angle g;
  g.r = p.hi;
  g.lo = p.lo + r * TT__PI_LO;
  g.q = (tt_u64)(tt_i64)(quarter == quarter ? quarter : 0);
  return g;
}
/* So close to 0 the lower halves of products would underflow, and differ by whether they were fused. */
TT_LONG_FN tt_f64 tt__sinpi(tt_f64 x) {
  tt_f64 size = tt_abs_f64(x);
  return size < 0x1p-900 ? TT__PI * x : size < 0x1p53 ? tt__sin_turn(tt__half_turns(x), 0) : x * 0;
}
TT_LONG_FN tt_f64 tt__cospi(tt_f64 x) {
  return tt_abs_f64(x) < 0x1p54 ? tt__sin_turn(tt__half_turns(x), 1) : x * 0 + 1;
}

/* ---- the error function and its relatives */

/* e^(x^2) erfc x for x >= 0. */
TT_LONG_FN tt_f64 tt__erfcx_right(tt_f64 x) {
  tt_f64 y;
  TT__TABLE(y, tt__erfcx_table, 32, 11, 0, 32, x / (4 + x));
  return y / (x + 2);
}
TT_FN tt_f64 tt__erf_near(tt_f64 x) {
  tt_f64 y, t = 2 * x * x - 1;
  TT__SECTION(y, tt__erf_table, 15, 0, t);
  return x * y;
}
TT_LONG_FN tt_f64 tt_erfc_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  if (a < 0.5) return 1 - tt__erf_near(x);
  if (a > 28) return x > 0 ? 0 : 2;
  tt_f64 y = tt__exp_square(a, 0) * tt__erfcx_right(a);
  if (x > 26) y = tt__exp_square(a, 64) * tt__erfcx_right(a) * 0x1p-64; /* rounded once where it is subnormal */
  return x < 0 ? 2 - y : y;
}
TT_LONG_FN tt_f64 tt_erf_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  if (a < 1) return tt__erf_near(x);
  if (a > 6) return x != x ? x : tt_copysign_f64(1, x);
  return tt_copysign_f64(1 - tt__exp_square(a, 0) * tt__erfcx_right(a), x);
}
TT_LONG_FN tt_f64 tt_erfcx_f64(tt_f64 x) {
  if (!(x < 0)) return x > 1e200 ? 0.5641895835477563 / x : tt__erfcx_right(x);
  if (x < -27) return TT__INF_f64;
  tt__dd p = tt__two_prod(x, x);
  tt_f64 y = tt__exp_scaled(p.hi, p.lo, -16) * 0x1p17;
  return y < 0x1p60 ? y - tt__erfcx_right(-x) : y;
}
/* erf's inverse for |x| <= 1/2, erfc's for y in (0, 1/2]. */
TT_FN tt_f64 tt__erfinv_near(tt_f64 x) {
  tt_f64 y, t = 8 * x * x - 1;
  TT__SECTION(y, tt__erfinv_table, 16, 0, t);
  return x * y;
}
TT_LONG_FN tt_f64 tt__erfcinv_far(tt_f64 y) {
  tt_f64 s = TT_SQRT_F64(-tt_log_f64(y)), r;
  if (s < 2.8)
    TT__TABLE(r, tt__erfcinv_near_table, 8, 15, 0.8, 4, s);
  else
    TT__TABLE(r, tt__erfcinv_table, 25, 15, 2.8, 1, s);
  return r;
}
TT_LONG_FN tt_f64 tt_erfinv_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  if (a <= 0.5) return tt__erfinv_near(x);
  if (!(a < 1)) return a == 1 ? tt_copysign_f64(TT__INF_f64, x) : x != x ? x : TT__NAN_f64;
  return tt_copysign_f64(tt__erfcinv_far(1 - a), x);
}
TT_LONG_FN tt_f64 tt_erfcinv_f64(tt_f64 y) {
  if (y >= 0.5 && y <= 1.5) return tt__erfinv_near(1 - y);
  if (!(y > 0 && y < 2)) return y == 0 ? TT__INF_f64 : y == 2 ? -TT__INF_f64 : y != y ? y : TT__NAN_f64;
  return y < 1 ? tt__erfcinv_far(y) : -tt__erfcinv_far(2 - y);
}
/* The normal distribution to the left of x: erfc(-x / sqrt 2) / 2, its exponential of x*x/2 exactly. */
#define TT__ROOT_HALF 0x1.6a09e667f3bcdp-1
TT_LONG_FN tt_f64 tt__normal_tail(tt_f64 a, tt_f64 shift) {
  tt_f64 b = a < 50 ? a : 50;
  tt__dd p = tt__two_prod(b, b);
  return tt__exp_scaled(-0.5 * p.hi < -750 ? -750 : -0.5 * p.hi, -0.5 * p.lo, shift) *
         tt__erfcx_right(b * TT__ROOT_HALF) * 0.5;
}
TT_LONG_FN tt_f64 tt_ndtr_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), z = x * TT__ROOT_HALF;
  if (!(a >= 0.7)) return 0.5 + 0.5 * tt__erf_near(z);
  if (x < -37) return tt__normal_tail(a, 64) * 0x1p-64;
  return x < 0 ? tt__normal_tail(a, 0) : 1 - tt__normal_tail(a, 0);
}
TT_LONG_FN tt_f64 tt_ndtri_f64(tt_f64 p) {
  if (p >= 0.25 && p <= 0.75) return 0x1.6a09e667f3bcdp+0 * tt__erfinv_near(2 * (p - 0.5));
  if (!(p > 0 && p < 1)) return p == 0 ? -TT__INF_f64 : p == 1 ? TT__INF_f64 : p != p ? p : TT__NAN_f64;
  tt_f64 y = 0x1.6a09e667f3bcdp+0 * tt__erfcinv_far(2 * (p < 0.5 ? p : 1 - p));
  return p < 0.5 ? -y : y;
}
TT_LONG_FN tt_f64 tt_log_ndtr_f64(tt_f64 x) {
  if (x < -1) {
    tt_f64 a = -x;
    if (a > 1e8) return -0.5 * x * x;
    return tt_log_f64(0.5 * tt__erfcx_right(a * TT__ROOT_HALF)) - 0.5 * a * a;
  }
  return tt_log1p_f64(-tt_ndtr_f64(-x));
}
TT_LONG_FN tt_f64 tt_dawsn_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y;
  if (a > 1e8) return 0.5 / x;
  TT__TABLE(y, tt__dawsn_table, 32, 13, 0, 32, a / (4 + a));
  return x * (y / (1 + x * x));
}

/* ---- logistic functions */
TT_FN tt_f64 tt_expit_f64(tt_f64 x) {
  tt_f64 e = tt_exp_f64(-tt_abs_f64(x));
  return (x < 0 ? e : 1) / (1 + e);
}
TT_FN tt_f64 tt_log_expit_f64(tt_f64 x) {
  tt_f64 e = tt_log1p_f64(tt_exp_f64(-tt_abs_f64(x)));
  return x < 0 ? x - e : -e;
}
TT_LONG_FN tt_f64 tt_logit_f64(tt_f64 p) {
  if (p >= 0.25 && p <= 0.75) return 2 * tt_atanh_f64(2 * (p - 0.5));
  return p < 0 || p > 1 ? TT__NAN_f64 : tt_log_f64(p / (1 - p));
}

/* ---- the gamma function
** Of a = |x|: near 1 and 2 from tables, above by the recurrence with a product in double-double, from 8 on by
** Stirling's formula whose exponent is a double-double. x below 0: gamma(x) gamma(-x) = -pi / (x sin pi x).
*/
/* (a - 1/2) log a - a + log(2 pi)/2 + what the series adds, for a >= 8. */
TT_LONG_FN tt__dd tt__stirling(tt_f64 a) {
  tt_f64 r = 1 / a, w = r * r, t = 128 * w - 1, y;
  TT__SECTION(y, tt__stirling_table, 9, 0, t);
  tt__dd l = tt__log_dd(a), p = tt__dd_times(l, a - 0.5), s = tt__two_sum(p.hi, -a);
  tt__dd all = tt__two_sum(s.hi, 0x1.d67f1c864beb5p-1); /* log(2 pi) / 2 */
  return tt__fast_sum(all.hi, all.lo + (s.lo + (p.lo + (y * r - 0x1.65b5a1b7ff5dfp-55))));
}
/* gamma of 0 < a < 8 as table value times product; a <= 1.5: gamma(1 + y) over what is left of a. */
TT_LONG_FN tt_f64 tt__gamma_small(tt_f64 a) {
  tt_f64 y = a < 0.5 ? a : a - 1, g, over = a < 0.5 ? a : 1;
  tt__dd p;
  p.hi = 1;
  p.lo = 0;
  for (; y >= 0.5; y -= 1) p = tt__dd_times(p, y);
  TT__TABLE(g, tt__gamma_table, 8, 14, -0.5, 8, y);
  return (p.hi * g + p.lo * g) / over;
}
TT_LONG_FN tt_f64 tt__gamma_right(tt_f64 a) {
  if (a <= 23 && a == tt_floor_f64(a)) {
    tt_f64 r = 1;
    for (tt_f64 k = 2; k < a; k += 1) r *= k;
    return r;
  }
  if (a < 8) return tt__gamma_small(a);
  if (!(a < 172)) return a != a ? a : TT__INF_f64;
  tt__dd e = tt__stirling(a);
  return tt__exp_scaled(e.hi, e.lo, 0);
}
TT_LONG_FN tt_f64 tt_gamma_f64(tt_f64 x) {
  if (x > 0) return tt__gamma_right(x);
  if (x == 0) return tt_copysign_f64(TT__INF_f64, x);
  if (!(x == x) || x == tt_floor_f64(x)) return TT__NAN_f64;
  tt_f64 a = -x, s = x * tt__sinpi(x);
  if (a < 170) return a < 0x1p-60 ? 1 / x : -TT__PI / (s * tt__gamma_right(a));
  if (a > 190) return tt__sinpi(x) < 0 ? 0 : -0.0;
  tt__dd e = tt__stirling(a);
  return tt__exp_scaled(-e.hi, -e.lo, 64) * (-TT__PI / s) * 0x1p-64;
}
TT_LONG_FN tt_f64 tt__lgamma_right(tt_f64 a) {
  tt_f64 y = a < 0.5 ? a : a - 1, g;
  tt__dd p;
  if (a >= 8) {
    if (a > 1e17) return a < TT__INF_f64 ? a * (tt_log_f64(a) - 1) : a;
    p = tt__stirling(a);
    return p.hi + p.lo;
  }
  if (a < 1.5) {
    TT__TABLE(g, tt__lgamma1_table, 8, 14, -0.5, 8, y);
    return a < 0.5 ? y * g - tt_log_f64(a) : y * g + 0; /* 0 at 1, not -0 */
  }
  p.hi = 1;
  p.lo = 0;
  for (; y >= 1.5; y -= 1) p = tt__dd_times(p, y);
  y -= 1;
  TT__TABLE(g, tt__lgamma2_table, 8, 11, -0.5, 8, y);
  return a < 2.5 ? y * g : tt__log_sum(p.hi, p.lo) + y * g;
}
/* log |gamma x| */
TT_LONG_FN tt_f64 tt_lgamma_f64(tt_f64 x) {
  if (x > 0) return tt__lgamma_right(x);
  if (x != x) return x;
  if (x == tt_floor_f64(x)) return TT__INF_f64;
  tt_f64 s = tt_abs_f64(x * tt__sinpi(x));
  if (x > -0x1p-60) return -tt_log_f64(-x);
  return tt_log_f64(TT__PI / s) - tt__lgamma_right(-x);
}
/* NaN to the left of 0, where the logarithm has an imaginary part. */
TT_FN tt_f64 tt_loggamma_f64(tt_f64 x) { return x < 0 ? TT__NAN_f64 : tt_lgamma_f64(x); }
TT_LONG_FN tt_f64 tt__digamma_right(tt_f64 x) {
  tt_f64 sum = 0, y;
  if (x >= 10) {
    tt_f64 r = 1 / x, w = r * r, t = 200 * w - 1;
    TT__SECTION(y, tt__psi_tail_table, 10, 0, t);
    return tt_log_f64(x) - (0.5 * r + w * y);
  }
  for (; x >= 3; sum += 1 / x) x -= 1;
  TT__TABLE(y, tt__digamma_table, 8, 15, 1, 4, x);
  return y * ((x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) + sum;
}
TT_LONG_FN tt_f64 tt_digamma_f64(tt_f64 x) {
  if (x >= 1) return tt__digamma_right(x);
  if (x > 0) return tt__digamma_right(1 + x) - 1 / x;
  if (x == 0) return tt_copysign_f64(TT__INF_f64, -x);
  if (x != x || x == tt_floor_f64(x)) return TT__NAN_f64;
  return tt__digamma_right(1 - x) - TT__PI * tt__cospi(x) / tt__sinpi(x);
}

/* ---- products with logarithms */
TT_FN tt_f64 tt_xlogy_f64(tt_f64 x, tt_f64 y) { return x == 0 && y == y ? 0 : x * tt_log_f64(y); }
TT_FN tt_f64 tt_xlog1py_f64(tt_f64 x, tt_f64 y) { return x == 0 && y == y ? 0 : x * tt_log1p_f64(y); }
TT_FN tt_f64 tt_entr_f64(tt_f64 x) { return x > 0 ? -x * tt_log_f64(x) : x == 0 ? 0 : x != x ? x : -TT__INF_f64; }
/* log(x / y), close to 1 without the quotient's rounding, far apart without its overflow. */
TT_LONG_FN tt_f64 tt__log_ratio(tt_f64 x, tt_f64 y) {
  tt_f64 r = x / y;
  if (r > 0.5 && r < 2) return tt_log1p_f64((x - y) / y);
  return r > 0x1p-1000 && r < 0x1p1000 ? tt_log_f64(r) : tt_log_f64(x) - tt_log_f64(y);
}
TT_LONG_FN tt_f64 tt_rel_entr_f64(tt_f64 x, tt_f64 y) {
  if (x != x || y != y) return x + y;
  if (x > 0 && y > 0) return x * tt__log_ratio(x, y);
  return x == 0 && y >= 0 ? 0 : TT__INF_f64;
}
/* log(1 + x) - x, by its series near 0. */
TT_LONG_FN tt_f64 tt_log1pmx_f64(tt_f64 x) {
  if (!(x > -0.5 && x < 1)) return tt_log1p_f64(x) - x;
  tt_f64 s = x / (2 + x), z = s * s, p = 0; /* log(1 + x) = 2 atanh s = 2 s + 2 s^3/3 + ...; 2 s - x = -s x */
  for (int k = 35; k >= 3; k -= 2) p = p * z + 2.0 / k;
  return s * (z * p - x);
}
TT_LONG_FN tt_f64 tt_kl_div_f64(tt_f64 x, tt_f64 y) {
  if (x != x || y != y) return x + y;
  if (x > 0 && y > 0) {
    tt_f64 d = (y - x) / x; /* x log(x/y) - x + y = -x (log(1 + d) - d) */
    if (d > -0.75 && d < 3) {
      tt__dd n = tt__two_sum(y, -x), q = tt__two_prod(d, x); /* what the quotient lost */
      tt_f64 lost = (((n.hi - q.hi) - q.lo) + n.lo) / x;
      return -x * (tt_log1pmx_f64(d) - d / (1 + d) * lost);
    }
    return x * tt__log_ratio(x, y) - x + y;
  }
  return x == 0 && y >= 0 ? y : TT__INF_f64;
}

/* ---- exponentials' partners */
TT_FN tt_f64 tt_exp10_f64(tt_f64 x) { return tt_pow_f64(10, x); }
TT_FN tt_f64 tt_exprel_f64(tt_f64 x) {
  tt_f64 y = tt_expm1_f64(x) / x;
  return tt_abs_f64(x) < 0x1p-54 ? 1 : x > 720 ? TT__INF_f64 : x > 700 ? tt__exp_times(x, 1 / x) : y;
}
TT_LONG_FN tt_f64 tt_cosm1_f64(tt_f64 x) {
  tt_f64 s = tt_sin_f64(0.5 * x);
  return 0 - 2 * s * s;
}
/* (x^lambda - 1) / lambda, the power where it is far from 1. */
TT_LONG_FN tt_f64 tt_boxcox_f64(tt_f64 x, tt_f64 lambda) {
  tt_f64 l = tt_log_f64(x), e = lambda * l;
  if (tt_abs_f64(lambda) < 1e-19) return l;
  return (tt_abs_f64(e) > 1 ? tt_pow_f64(x, lambda) - 1 : tt_expm1_f64(e)) / lambda;
}
/* log(1 + x.hi + x.lo), to more than the digits of a double. */
TT_LONG_FN tt__dd tt__log1p_dd(tt__dd x) {
  tt__dd u = tt__two_sum(1, x.hi), l = tt__log_dd(u.hi);
  return tt__dd_sum(l, tt__two_sum(u.lo / u.hi, x.lo / u.hi));
}
/* e^(e.hi + e.lo) - 1 */
TT_LONG_FN tt_f64 tt__expm1_dd(tt__dd e) {
  if (!(tt_abs_f64(e.hi) < 700)) return e.hi > 0 ? TT__INF_f64 : e.hi < 0 ? -1 : e.hi;
  tt_f64 y = tt_abs_f64(e.hi) > 1 ? tt__exp_scaled(e.hi, e.lo, 0) - 1 : tt_expm1_f64(e.hi);
  return tt_abs_f64(e.hi) > 1 ? y : y + e.lo * (1 + y);
}
TT_LONG_FN tt_f64 tt_boxcox1p_f64(tt_f64 x, tt_f64 lambda) {
  tt_f64 size = tt_abs_f64(lambda), l = tt_log1p_f64(x);
  if (size < 1e-19) return l;
  /* where halves of products vanish, or there are none */
  if (!(x > -1 && x < TT__INF_f64 && tt_abs_f64(x) > 1e-200 && size < 1e100)) return tt_expm1_f64(lambda * l) / lambda;
  tt__dd e = tt__dd_times(tt__log1p_dd(tt__dd_of(x)), lambda);
  return e.hi > 700 ? tt_expm1_f64(e.hi) / lambda : tt__expm1_dd(e) / lambda;
}
/* log(1 + lambda y) / lambda; beyond the ends what tt_log1p_f64 has. */
TT_LONG_FN tt__dd tt__inv_boxcox_power(tt_f64 y, tt_f64 lambda) {
  tt__dd p = tt__two_prod(lambda, y);
  tt_f64 size = tt_abs_f64(lambda);
  if (!(p.hi > -1 && p.hi < 1e200 && tt_abs_f64(p.hi) > 1e-200 && size > 1e-100 && size < 1e100))
    return tt__dd_of(tt_log1p_f64(p.hi) / lambda);
  return tt__dd_quotient(tt__log1p_dd(p), tt__dd_of(lambda));
}
TT_LONG_FN tt_f64 tt_inv_boxcox_f64(tt_f64 y, tt_f64 lambda) {
  if (lambda == 0) return tt_exp_f64(y);
  tt__dd e = tt__inv_boxcox_power(y, lambda);
  return tt_abs_f64(e.hi) < 750 ? tt__exp_scaled(e.hi, e.lo, 0) : tt_exp_f64(e.hi);
}
TT_LONG_FN tt_f64 tt_inv_boxcox1p_f64(tt_f64 y, tt_f64 lambda) {
  if (lambda == 0) return tt_expm1_f64(y);
  tt__dd e = tt__inv_boxcox_power(y, lambda);
  return e.hi > 700 ? tt_expm1_f64(e.hi) : tt__expm1_dd(e);
}
TT_FN tt_f64 tt_huber_f64(tt_f64 delta, tt_f64 r) {
  tt_f64 a = tt_abs_f64(r);
  return delta < 0 ? TT__INF_f64 : a <= delta ? 0.5 * r * r : delta * (a - 0.5 * delta);
}
/* delta^2 (sqrt(1 + (r/delta)^2) - 1) */
TT_FN tt_f64 tt_pseudo_huber_f64(tt_f64 delta, tt_f64 r) {
  tt_f64 u = r / delta, y = r * (u / (1 + tt_hypot_f64(1, u))) * delta;
  return delta < 0 ? TT__INF_f64 : ((delta == 0) | (r == 0)) != 0 ? 0 * r : y;
}

/* ---- elliptic integrals: the arithmetic-geometric mean */
TT_LONG_FN tt_f64 tt__mean(tt_f64 b) {
  tt_f64 a = 1;
  for (int k = 0; k < 12 && tt_abs_f64(a - b) > 0x1p-27 * a; k++) {
    tt_f64 m = 0.5 * (a + b);
    b = TT_SQRT_F64(a * b);
    a = m;
  }
  return 0.5 * (a + b);
}
/* K of 1 - p near 1: log(4 / sqrt p) and its multiples by the series of p. */
TT_LONG_FN tt_f64 tt__ellipk_edge(tt_f64 p) {
  tt_f64 l = 0x1.62e42fefa39efp+0 - 0.5 * tt_log_f64(p), rest = 0, factor = 1, less = 0;
  for (int k = 1; k < 9; k++) {
    tt_f64 odd = 2 * k - 1, even = 2 * k;
    factor *= odd / even * (odd / even) * p;
    less += 2 / (odd * even);
    rest += factor * (l - less);
  }
  return l + rest;
}
TT_LONG_FN tt_f64 tt_ellipkm1_f64(tt_f64 p) {
  if (!(p > 0)) return p == 0 ? TT__INF_f64 : TT__NAN_f64;
  if (p == TT__INF_f64) return 0;
  tt_f64 over = p > 1 ? TT_SQRT_F64(p) : 1, q = p > 1 ? 1 / p : p;
  return (q < 0x1p-8 ? tt__ellipk_edge(q) : 0.5 * TT__PI / tt__mean(TT_SQRT_F64(q))) / over;
}
TT_FN tt_f64 tt_ellipk_f64(tt_f64 m) { return tt_ellipkm1_f64(1 - m); }
/*
** E by the same mean, E = K (1 - sum of 2^(n-1) c_n^2), for p = 1 - m >= 1/4; nearer to 1 the series
** 1 + p/2 (l - 1/2) + ..., left of 0 by E(m) = sqrt(p) E(m / (m - 1)).
*/
TT_LONG_FN tt_f64 tt__ellipe_mean(tt_f64 m) {
  tt_f64 a = 1, b = TT_SQRT_F64(1 - m), sum = 0.5 * m, power = 0.5;
  for (int k = 0; k < 6; k++) {
    tt_f64 c = 0.5 * (a - b), w = 0.5 * (a + b);
    b = TT_SQRT_F64(a * b);
    a = w;
    power *= 2;
    sum += power * c * c;
  }
  return 0.5 * TT__PI / a * (1 - sum);
}
TT_LONG_FN tt_f64 tt__ellipe_edge(tt_f64 p) {
  tt_f64 l = 0x1.62e42fefa39efp+0 - 0.5 * tt_log_f64(p), rest = 0, factor = 0.5 * p, less = 0.5;
  for (int k = 1; k < 40 && factor > 0x1p-60; k++) {
    tt_f64 odd = 2 * k - 1, even = 2 * k, next = odd + 2;
    rest += factor * (l - less);
    less += 1 / (odd * even) + 1 / (next * (even + 2));
    factor *= odd / even * (next / (even + 2)) * p;
  }
  return 1 + rest;
}
TT_LONG_FN tt_f64 tt_ellipe_f64(tt_f64 m) {
  if (!(m < 1)) return m == 1 ? 1 : TT__NAN_f64;
  if (m < -1e300) return TT_SQRT_F64(-m);
  tt_f64 p = 1 - m, over = 1;
  if (m < 0) {
    over = TT_SQRT_F64(p);
    p = 1 / p;
    m = m < -0x1p60 ? 1 : -m * p;
  }
  return over * (p < 0.25 ? tt__ellipe_edge(p) : tt__ellipe_mean(m));
}

/* ---- the zeta function of Hurwitz: a sum, and Euler's formula for what follows it */
/* Bernoulli numbers B_2k / (2k)!, k from 1 on. */
TT_CONST tt_f64 tt__euler[12] = {0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15,
                                 -0x1.bbd779334ef0bp-21, 0x1.66a8f2bf70ebep-26,  -0x1.22805d644267fp-31,
                                 0x1.d6db2c4e09162p-37,  -0x1.7da4e1f79955cp-42, 0x1.355871d652e9ep-47,
                                 -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58,  -0x1.497d9033a2b5cp-63};
/* (q + k)^-s: what rounding leaves of the sum counts s times. */
TT_FN tt_f64 tt__zeta_term(tt_f64 s, tt_f64 q, tt_f64 k) {
  tt__dd n = tt__two_sum(q, k);
  return tt_pow_f64(n.hi, -s) * (1 - s * (n.lo / n.hi));
}
TT_LONG_FN tt_f64 tt__zeta_sum(tt_f64 s, tt_f64 q) {
  tt_f64 k = 0, n, term = 1, factor, tail;
  tt__dd sum;
  sum.hi = sum.lo = 0;
  for (; q + k < 10 + 0.8 * s; k += 1) { /* what the formula leaves out there is below (1 / 5)^24 */
    term = tt__zeta_term(s, q, k);
    sum = tt__dd_sum(sum, tt__two_sum(term, 0));
    if (!(term > sum.hi * 0x1p-60)) return sum.hi;
  }
  n = q + k;
  term = tt__zeta_term(s, q, k);
  tail = term * (n / (s - 1) + 0.5);
  factor = s * term / n;
  for (int i = 0; i < 12; i++) {
    tail += tt__euler[i] * factor;
    factor *= (s + 2 * i + 1) * (s + 2 * i + 2) / (n * n);
  }
  return sum.hi + (sum.lo + tail);
}
TT_LONG_FN tt_f64 tt_hurwitz_f64(tt_f64 s, tt_f64 q) {
  if (s != s || q != q) return s + q;
  if (s == 1) return TT__INF_f64;
  if (s < 1) return TT__NAN_f64;
  if (q <= 0) {
    if (q == tt_floor_f64(q)) return TT__INF_f64;
    if (s != tt_floor_f64(s)) return TT__NAN_f64;
    if (q < -1e4) return TT__NAN_f64;
    tt_f64 sum = 0;
    for (; q < 0; q += 1) sum += tt_pow_f64(q, -s);
    return sum + tt__zeta_sum(s, q);
  }
  if (s > 1100) return q > 1 ? 0 : q == 1 ? 1 : TT__INF_f64;
  if (q > 1e8) return (1 / (s - 1) + 1 / (2 * q)) * tt_pow_f64(q, 1 - s);
  return tt__zeta_sum(s, q);
}
/* (-1)^(n+1) n! zeta(n + 1, x); n = 0 is digamma. */
TT_LONG_FN tt_f64 tt_polygamma_f64(tt_f64 n, tt_f64 x) {
  if (n == 0) return tt_digamma_f64(x);
  if (n < 0 || n != tt_floor_f64(n)) return TT__NAN_f64;
  tt_f64 y = tt_gamma_f64(n + 1) * tt_hurwitz_f64(n + 1, x);
  return 0.5 * n == tt_floor_f64(0.5 * n) ? -y : y;
}

/* ---- beta and what is made of gamma functions */
/* gamma of 0 < a < 8 as a sum of two: as tt__gamma_small, with the last sum and what comes before it exact. */
TT_LONG_FN tt__dd tt__gamma_small_dd(tt_f64 a) {
  tt_f64 y = a < 0.5 ? a : a - 1, t, q = 0;
  tt__dd p = tt__dd_of(1), u, g;
  for (; y >= 0.5; y -= 1) p = tt__dd_times(p, y);
  u = tt__two_sum(y, 0.5);
  int at = u.hi < 1 ? (int)(8 * u.hi) : 7;
  t = 2 * (8 * u.hi - at) - 1;
  for (int k = 13; k > 0; k--) q = q * t + tt__gamma_table[at][k];
  g = tt__dd_sum(tt__two_prod(q, t), tt__dd_of(tt__gamma_table[at][0]));
  g.lo += tt__gamma_rest[at] + 16 * u.lo * tt__gamma_table[at][1];
  return tt__dd_quotient(tt__dd_product(p, g), tt__dd_of(a < 0.5 ? a : 1));
}
/* log of gamma(a), a > 0, as a sum of two. */
TT_LONG_FN tt__dd tt__lgamma_dd(tt_f64 a) {
  tt__dd g, r;
  if (a >= 8) return tt__stirling(a);
  if (a == tt_floor_f64(a)) return tt__log_dd(tt__gamma_right(a));
  g = tt__gamma_small_dd(a);
  r = tt__log_dd(g.hi);
  return tt__fast_sum(r.hi, r.lo + g.lo / g.hi);
}
/* log gamma of a + b, b the smaller part that rounding leaves of the sum. */
TT_LONG_FN tt__dd tt__lgamma_of_sum(tt_f64 a, tt_f64 b) {
  tt__dd n = tt__two_sum(a, b), l = tt__lgamma_dd(n.hi);
  tt_f64 slope = n.hi < 1 ? tt__digamma_right(n.hi + 1) - 1 / n.hi : tt__digamma_right(n.hi);
  return tt__fast_sum(l.hi, l.lo + (n.lo == 0 ? 0 : n.lo * slope));
}
TT_LONG_FN tt_f64 tt_beta_f64(tt_f64 a, tt_f64 b) {
  if (a > 0 && b > 0) {
    tt_f64 n = a + b;
    if (n < 8 && n > 0.1) {
      tt_f64 lost = tt__two_sum(a, b).lo * tt_digamma_f64(n);
      return tt__gamma_right(a) / tt__gamma_right(n) * tt__gamma_right(b) * (1 - lost);
    }
    if (n <= 0.1) return tt__gamma_right(1 + a) * tt__gamma_right(1 + b) / tt__gamma_right(1 + n) * (1 / a + 1 / b);
    tt__dd e = tt__dd_sum(tt__dd_sum(tt__lgamma_dd(a), tt__lgamma_dd(b)), tt__dd_minus(tt__lgamma_of_sum(a, b)));
    return e.hi < -750 ? 0 : tt__exp_scaled(e.hi, e.lo, 0);
  }
  return tt_gamma_f64(a) * (tt_gamma_f64(b) / tt_gamma_f64(a + b));
}
TT_LONG_FN tt_f64 tt_betaln_f64(tt_f64 a, tt_f64 b) {
  if (a > 0 && b > 0) {
    tt__dd e = tt__dd_sum(tt__dd_sum(tt__lgamma_dd(a), tt__lgamma_dd(b)), tt__dd_minus(tt__lgamma_of_sum(a, b)));
    return e.hi + e.lo;
  }
  return tt_lgamma_f64(a) + tt_lgamma_f64(b) - tt_lgamma_f64(a + b);
}
/* gamma(a + n) / gamma(a) */
TT_LONG_FN tt_f64 tt_poch_f64(tt_f64 a, tt_f64 n) {
  if (n == tt_floor_f64(n) && n >= 0 && n <= 20) {
    tt__dd p;
    p.hi = 1;
    p.lo = 0;
    for (tt_f64 k = 0; k < n; k += 1) {
      tt__dd f = tt__two_sum(a, k);
      tt_f64 lost = p.hi * f.lo;
      p = tt__dd_times(p, f.hi);
      p.lo += lost;
    }
    return p.hi + p.lo;
  }
  if (a > 0 && a + n > 0) {
    tt__dd e = tt__dd_sum(tt__lgamma_of_sum(a, n), tt__dd_minus(tt__lgamma_dd(a)));
    return e.hi < -750 ? 0 : tt__exp_scaled(e.hi > 750 ? 750 : e.hi, e.lo, 0);
  }
  return tt_gamma_f64(a + n) / tt_gamma_f64(a);
}
TT_LONG_FN tt_f64 tt_binom_f64(tt_f64 n, tt_f64 k) {
  tt_f64 whole = tt_floor_f64(k);
  if (n != n || k != k) return n + k;
  if (n == tt_floor_f64(n) && n > 0 && n - k < k && k <= n && k == whole) k = n - k, whole = k;
  if (k == whole && k >= 0 && k <= 20 && tt_abs_f64(n) > 1e-8) { /* a product of quotients */
    tt__dd p;
    tt_f64 den = 1;
    p.hi = 1;
    p.lo = 0;
    for (tt_f64 j = 1; j <= k; j += 1) {
      tt__dd f = tt__two_sum(n, j - k);
      tt_f64 lost = p.hi * f.lo;
      p = tt__dd_times(p, f.hi);
      p.lo += lost;
      den *= j;
    }
    return (p.hi + p.lo) / den;
  }
  if (n > -1 && k > -1 && n - k > -1) {
    tt__dd rest = tt__two_sum(n, -k), e = tt__lgamma_of_sum(rest.hi, 1);
    e.lo += rest.lo * tt_digamma_f64(rest.hi + 1);
    e = tt__dd_minus(tt__dd_sum(tt__lgamma_of_sum(k, 1), e));
    e = tt__dd_sum(tt__lgamma_of_sum(n, 1), e);
    tt_f64 y = tt__exp_scaled(tt__clamp(e.hi, -750, 750), e.lo, 0);
    return n == tt_floor_f64(n) && k == whole && y < 0x1p52 ? tt_rint_f64(y) : y;
  }
  if (n < 0 && n == tt_floor_f64(n)) return TT__NAN_f64;
  return 1 / ((n + 1) * tt_beta_f64(1 + n - k, 1 + k));
}

/* ---- exponential integrals */
TT_LONG_FN tt_f64 tt__exp1_right(tt_f64 x) {
  tt_f64 y, t = 2 * x - 1;
  if (x <= 1) {
    TT__SECTION(y, tt__exp1_near_table, 19, 0, t);
    return y - tt_log_f64(x);
  }
  if (x > 745) return 0;
  TT__TABLE(y, tt__exp1_table, 24, 14, 0, 24, 1 / x);
  return x > 690 ? tt__exp_scaled(-x, 0, 64) * (y / x) * 0x1p-64 : tt_exp_f64(-x) * (y / x);
}
TT_LONG_FN tt_f64 tt_exp1_f64(tt_f64 x) { return x > 0 ? tt__exp1_right(x) : x == 0 ? TT__INF_f64 : TT__NAN_f64; }
TT_LONG_FN tt_f64 tt_expi_f64(tt_f64 x) {
  tt_f64 y, d;
  if (!(x > 0)) return x == 0 ? -TT__INF_f64 : x != x ? x : -tt__exp1_right(-x);
  if (x >= 6) {
    TT__TABLE(y, tt__expi_table, 24, 15, 0, 144, 1 / x);
    return x > 720 ? TT__INF_f64 : tt__exp_times(x, y / x);
  }
  d = (x - 0x1.7d72952b4b5fcp-2) - 0x1.e4c986021c6f2p-57; /* from the zero */
  TT__TABLE(y, tt__expi_near_table, 6, 16, 0, 1, x);
  return d * y + (tt_abs_f64(d) < 0.18 ? tt_log1p_f64(d * 0x1.579e09014632dp+1) : tt_log_f64(x * 0x1.579e09014632dp+1));
}

/* ---- float32: the same, rounded */
TT__THROUGH_1(erf)
TT__THROUGH_1(erfc)
TT__THROUGH_1(erfcx)
TT__THROUGH_1(erfinv)
TT__THROUGH_1(erfcinv)
/* Networks ask for it by the million (gelu), so it has no tables and no branches: e^(x*x/2) times it to the left of 0
 * is a polynomial of (a - 4) / (a + 4) over a + 4 (job ndtrf); the lower halves of the square and of the quotient are
 * made up for. Off by 4.5 units at most. */
TT_FN tt_f32 tt_ndtr_f32(tt_f32 x) {
  tt_f32 a = tt__clamp_f32(tt_abs_f32(x), 0, 14.8f), hi = a * a, lo = TT_FMA_F32(a, a, -hi), b = a + 4, r = 1 / b;
  tt_f32 rest = TT_FMA_F32(-b, r, 1) - (a - (b - 4)) * r; /* of the quotient, as a part of it */
  tt_f32 t = TT_FMA_F32(r * rest, -8, TT_FMA_F32(r, -8, 1)), s = t * t, e = tt__exp_scaled_f32(-0.5f * hi, 0), p, tail;
  p = TT_FMA_F32(t, -0x1.179daap-13f, 0x1.721704p-13f);
  p = TT_FMA_F32(s, p, TT_FMA_F32(t, 0x1.9b4bc0p-10f, -0x1.cc3632p-9f));
  p = TT_FMA_F32(s, p, TT_FMA_F32(t, -0x1.ed1ffep-8f, 0x1.eed398p-5f));
  p = TT_FMA_F32(s, p, TT_FMA_F32(t, -0x1.7e0012p-3f, 0x1.8c6d9ep-2f));
  p = TT_FMA_F32(s, p, TT_FMA_F32(t, -0x1.373e38p-1f, 0x1.82b4bcp-1f));
  tail = p * r * TT_FMA_F32(e, TT_FMA_F32(lo, -0.5f, rest), e);
  tail = x < 0 ? tail : 1 - tail;
  return x != x ? x : tail;
}
TT__THROUGH_1(ndtri)
TT__THROUGH_1(log_ndtr)
TT__THROUGH_1(dawsn)
TT__THROUGH_1(expit)
TT__THROUGH_1(logit)
TT__THROUGH_1(log_expit)
TT__THROUGH_1(gamma)
TT__THROUGH_1(lgamma)
TT__THROUGH_1(loggamma)
TT__THROUGH_1(digamma)
TT__THROUGH_2(polygamma)
TT__THROUGH_2(hurwitz)
TT__THROUGH_2(beta)
TT__THROUGH_2(betaln)
TT__THROUGH_2(poch)
TT__THROUGH_2(binom)
TT__THROUGH_2(xlogy)
TT__THROUGH_2(xlog1py)
TT__THROUGH_1(entr)
TT__THROUGH_2(rel_entr)
TT__THROUGH_2(kl_div)
TT__THROUGH_1(log1pmx)
TT__THROUGH_1(exp10)
TT__THROUGH_1(exprel)
TT__THROUGH_1(cosm1)
TT__THROUGH_2(boxcox)
TT__THROUGH_2(boxcox1p)
TT__THROUGH_2(inv_boxcox)
TT__THROUGH_2(inv_boxcox1p)
TT__THROUGH_2(huber)
TT__THROUGH_2(pseudo_huber)
TT__THROUGH_1(ellipk)
TT__THROUGH_1(ellipkm1)
TT__THROUGH_1(ellipe)
TT__THROUGH_1(exp1)
TT__THROUGH_1(expi)

#endif
