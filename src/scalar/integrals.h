/*
** Part of the text of scalar functions: sine, cosine and their hyperbolic integrals, Fresnel's, those of exponentials
** over powers, and Riemann's zeta function. It follows special.h and integral_tables.h, includes nothing itself, and
** keeps prelude.h's rules. Beside a zero other than 0 the error is small beside the function's neighbourhood.
*/
#ifndef TT_SCALAR_INTEGRALS_H
#define TT_SCALAR_INTEGRALS_H

#define TT__EULER 0x1.2788cfc6fb619p-1

/* ---- sine and cosine integrals: of a > 4, f and g times sine and cosine */
/* pi/2 - Si(a), or Ci(a). */
TT_LONG_FN tt_f64 tt__sine_rest(tt_f64 a, int is_cosine) {
  tt_f64 u = 1 / a, f, g, s = tt_sin_f64(a), c = tt_cos_f64(a);
  TT__TABLE(f, tt__sine_f_table, 12, 12, 0, 48, u);
  TT__TABLE(g, tt__sine_g_table, 12, 12, 0, 48, u);
  f *= u;
  g *= u * u;
  return is_cosine ? f * s - g * c : f * c + g * s;
}
TT_LONG_FN tt_f64 tt_si_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, t = 0.125 * x * x - 1;
  if (a <= 4) {
    TT__SECTION(y, tt__si_near_table, 13, 0, t);
    return x * y;
  }
  if (!(a < TT__INF_f64)) return x != x ? x : tt_copysign_f64(0.5 * TT__PI, x);
  return tt_copysign_f64(0.5 * TT__PI - tt__sine_rest(a, 0), x);
}
/* Of negative numbers: that of their size, as the real part is. */
TT_LONG_FN tt_f64 tt_ci_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, z = x * x, t = 2 * z - 1;
  if (a == 0) return -TT__INF_f64;
  if (a <= 1) {
    TT__SECTION(y, tt__ci_near_table, 7, 0, t);
    return z * y + (TT__EULER + tt_log_f64(a));
  }
  if (a <= 4) {
    TT__TABLE(y, tt__ci_table, 6, 17, 1, 2, a);
    return y;
  }
  if (!(a < TT__INF_f64)) return x < 0 ? TT__NAN_f64 : x > 0 ? 0 : x;
  return tt__sine_rest(a, 1);
}
TT_LONG_FN tt_f64 tt_shi_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, t = 2 * x * x - 1;
  if (a < 1) {
    TT__SECTION(y, tt__shi_near_table, 7, 0, t);
    return x * y;
  }
  return x != x ? x : tt_copysign_f64(0.5 * tt_expi_f64(a) + 0.5 * tt_exp1_f64(a), x);
}
TT_LONG_FN tt_f64 tt_chi_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, z = x * x, t = 2 * z - 1;
  if (a == 0) return -TT__INF_f64;
  if (a < 1) {
    TT__SECTION(y, tt__chi_near_table, 7, 0, t);
    return z * y + (TT__EULER + tt_log_f64(a));
  }
  return x != x ? x : 0.5 * tt_expi_f64(a) - 0.5 * tt_exp1_f64(a);
}

/* ---- Fresnel's integrals of sin and cos of pi t^2 / 2 */
/* 1/2 - S(a), or 1/2 - C(a), for a > 1.6: f and g times sine and cosine, whose angle is exact. */
TT_LONG_FN tt_f64 tt__fresnel_rest(tt_f64 a, int is_cosine) {
  tt_f64 u = 1 / a, f, g, s, c, t, w;
  tt__dd p = tt__two_prod(a, 0.5 * a);
  TT__TABLE(f, tt__fresnel_f_table, 10, 12, 0, 16, u);
  TT__TABLE(g, tt__fresnel_g_table, 10, 12, 0, 16, u);
  f *= u * (1 / TT__PI);
  g *= u * u * u * (1 / (TT__PI * TT__PI));
  t = tt__sinpi(p.lo);
  w = tt__cospi(p.lo);
  s = tt__sinpi(p.hi);
  c = tt__cospi(p.hi);
  u = s * w + c * t;
  c = c * w - s * t;
  return is_cosine ? g * c - f * u : f * c + g * u;
}
TT_LONG_FN tt_f64 tt_fresnel_sin_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, z = x * x, t = 0.25 * z * z - 1;
  if (z * z <= 8) {
    TT__SECTION(y, tt__fresnel_s_table, 12, 0, t);
    return x * (z * y);
  }
  return x != x ? x : tt_copysign_f64(a < 1e17 ? 0.5 - tt__fresnel_rest(a, 0) : 0.5, x);
}
TT_LONG_FN tt_f64 tt_fresnel_cos_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, z = x * x, t = 0.25 * z * z - 1;
  if (z * z <= 8) {
    TT__SECTION(y, tt__fresnel_c_table, 13, 0, t);
    return x * y;
  }
  return x != x ? x : tt_copysign_f64(a < 1e17 ? 0.5 - tt__fresnel_rest(a, 1) : 0.5, x);
}

/* ---- the integral of e^(-x t) / t^n from 1 on
** Of large n or x a continued fraction, from its end; else up from n = 1, which keeps digits for x below n.
*/
TT_LONG_FN tt_f64 tt__expn_fraction(tt_f64 n, tt_f64 x) {
  tt_f64 k = tt_floor_f64(n < 20 ? 20 + 90 / x : 60), f = x + n + 2 * k;
  for (; k > 0; k -= 1) f = x + n + 2 * (k - 1) - k * (n + k - 1) / f;
  return f;
}
TT_LONG_FN tt_f64 tt_expn_f64(tt_f64 n, tt_f64 x) {
  if (x != x || n != n) return x + n;
  n = tt_trunc_f64(n);
  if (n < 0 || x < 0) return TT__NAN_f64;
  if (x == 0) return n < 2 ? TT__INF_f64 : 1 / (n - 1);
  if (n == 1) return tt__exp1_right(x);
  if (x > 745) return 0;
  if (n == 0 || n >= 20 || x >= 0.25) {
    tt_f64 f = n == 0 ? x : tt__expn_fraction(n, x);
    return x > 690 ? tt__exp_scaled(-x, 0, 64) / f * 0x1p-64 : tt_exp_f64(-x) / f;
  }
  tt_f64 y = tt__exp1_right(x), e = tt_exp_f64(-x);
  for (tt_f64 k = 1; k < n; k += 1) y = (e - x * y) / k;
  return y;
}

/* ---- the zeta function: (s - 1) zeta(s) on [0, 3), a sum above, its reflection below */
/* 2 (2 pi)^-a sin(pi x / 2) gamma(a) zeta(a) for x < 0, a = 1 - x; its rounding is made good. */
TT_LONG_FN tt_f64 tt__zeta_left(tt_f64 x) {
  tt__dd a = tt__two_sum(1, -x), e, two_pi;
  tt_f64 y = 2 * tt__sinpi(0.5 * x), z;
  if (x > -0x1p-60) return -0.5;
  if (y == 0) return 0;
  two_pi.hi = 0x1.d67f1c864beb5p+0;
  two_pi.lo = -0x1.65b5a1b7ff5dfp-54;
  e = tt__dd_minus(tt__dd_times(two_pi, a.hi));
  e = tt__dd_sum(e, tt__lgamma_dd(a.hi));
  e.lo += a.lo * (tt__digamma_right(a.hi) - two_pi.hi);
  if (a.hi < 3) {
    TT__TABLE(z, tt__zeta_table, 3, 12, 0, 1, a.hi);
    z /= -x;
  } else {
    z = tt__zeta_sum(a.hi, 1);
  }
  return tt__exp_scaled(tt__clamp(e.hi, -750, 750), e.hi < 750 ? e.lo : 0, -16) * (y * z) * 0x1p16;
}
TT_LONG_FN tt_f64 tt_riemann_f64(tt_f64 x) {
  tt_f64 y;
  if (x != x) return x;
  if (x < 0) return tt__zeta_left(x);
  if (x == 1) return TT__INF_f64;
  if (x >= 3) return x > 60 ? 1 : tt__zeta_sum(x, 1);
  TT__TABLE(y, tt__zeta_table, 3, 12, 0, 1, x);
  return y / (x - 1);
}
TT_LONG_FN tt_f64 tt_zetac_f64(tt_f64 x) {
  if (!(x > 1.5)) return tt_riemann_f64(x) - 1;
  return x > 1080 ? 0 : tt__zeta_sum(x, 2);
}

/* ---- float32: the same, rounded */
TT__THROUGH_1(si)
TT__THROUGH_1(ci)
TT__THROUGH_1(shi)
TT__THROUGH_1(chi)
TT__THROUGH_1(fresnel_sin)
TT__THROUGH_1(fresnel_cos)
TT__THROUGH_2(expn)
TT__THROUGH_1(riemann)
TT__THROUGH_1(zetac)

#endif
