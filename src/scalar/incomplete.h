/*
** Part of the text of scalar functions: incomplete gamma and beta functions, and the distributions made of them. It
** follows special.h, includes nothing itself, and keeps prelude.h's rules. Their inverses are in quantiles.h.
*/
#ifndef TT_SCALAR_INCOMPLETE_H
#define TT_SCALAR_INCOMPLETE_H

/* ---- incomplete gamma functions
** Lower by its series for x below a + 1, upper by Legendre's continued fraction above (a small: by what the series
** leaves of 1, without taking it from 1). x^a e^-x / gamma(a + 1) has a double-double as its exponent.
*/
TT_LONG_FN tt__dd tt__gamma_power_log(tt_f64 a, tt_f64 x) {
  tt__dd e, l;
  if (a > 3000 && tt_abs_f64(x - a) < 0.5 * a) { /* a (log(1 + d) - d) - log(2 pi a) / 2, less Stirling's rest */
    tt_f64 d = (x - a) / a, r = 1 / a, t = 128 * r * r - 1, y, lost;
    tt__dd n = tt__two_sum(x, -a), q = tt__two_prod(d, a);
    TT__SECTION(y, tt__stirling_table, 9, 0, t);
    lost = (((n.hi - q.hi) - q.lo) + n.lo) / a;
    e = tt__two_prod(a, tt_log1pmx_f64(d) - d / (1 + d) * lost);
    l = tt__log_dd(2 * TT__PI * a);
    return tt__dd_sum(e, tt__two_sum(-0.5 * l.hi, -0.5 * l.lo - y * r));
  }
  e = tt__dd_times(tt__log_dd(x), a);
  return tt__dd_sum(tt__dd_sum(e, tt__dd_minus(tt__lgamma_of_sum(a, 1))), tt__two_sum(-x, 0));
}
TT_LONG_FN tt_f64 tt__gamma_power(tt_f64 a, tt_f64 x) {
  tt__dd e = tt__gamma_power_log(a, x);
  return e.hi < -750 ? 0 : tt__exp_scaled(e.hi, e.lo, 0);
}
/* 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., from the last term that counts. */
TT_LONG_FN tt__dd tt__gammainc_sum(tt_f64 a, tt_f64 x) {
  tt_f64 k = 1, term = 1;
  tt__dd s = tt__dd_of(1);
  for (; k < 40000 && term > 0x1p-58; k += 1) term *= x / (a + k);
  for (; k > 0; k -= 1) s = tt__dd_sum(tt__dd_of(1), tt__dd_quotient(tt__dd_times(s, x), tt__two_sum(a, k)));
  return s;
}
TT_LONG_FN tt_f64 tt__gammainc_series(tt_f64 a, tt_f64 x) { return tt__gamma_power(a, x) * tt__gammainc_sum(a, x).hi; }
/* As many terms as Lentz's way needs to settle and half of that, then from the end backwards, which keeps digits. */
TT_LONG_FN tt__dd tt__gammaincc_over(tt_f64 a, tt_f64 x) {
  tt_f64 b = x + 1 - a, c = b, d = 0, k = 1;
  tt__dd f, rest = tt__two_sum(x, 1);
  for (; k < 40000; k += 1) {
    tt_f64 n = k * (a - k);
    b += 2;
    d = 1 / (n * d + b);
    c = b + n / c;
    if (tt_abs_f64(d * c - 1) < 0x1p-50) break;
  }
  k = tt_floor_f64(1.6 * k) + 2;
  rest = tt__dd_sum(rest, tt__dd_of(-a));
  f = tt__dd_sum(rest, tt__dd_of(2 * k));
  for (; k > 0; k -= 1)
    f = tt__dd_sum(tt__dd_sum(rest, tt__dd_of(2 * (k - 1))), tt__dd_quotient(tt__dd_times(tt__two_sum(a, -k), k), f));
  return f;
}
TT_LONG_FN tt_f64 tt__gammaincc_fraction(tt_f64 a, tt_f64 x) {
  return tt__gamma_power(a, x) * (a / tt__gammaincc_over(a, x).hi);
}
/* 1 - P for x below 0.6 and a below 1: -(x^a / gamma(1 + a) - 1) less the series without its first term. */
TT_LONG_FN tt_f64 tt__gammaincc_small(tt_f64 a, tt_f64 x) {
  tt_f64 l, g, sum = 0, term = 1;
  TT__TABLE(g, tt__lgamma1_table, 8, 14, -0.5, 8, a);
  l = a < 0.5 ? a * (tt_log_f64(x) - g) : a * tt_log_f64(x) - tt_lgamma_f64(1 + a);
  for (tt_f64 k = 1; k < 60; k += 1) {
    term *= -x / k;
    sum += term / (a + k);
    if (tt_abs_f64(term) < 0x1p-60) break;
  }
  return -tt_expm1_f64(l) - tt_exp_f64(l) * a * sum;
}
TT_LONG_FN tt_f64 tt_gammaincc_f64(tt_f64 a, tt_f64 x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0)) return TT__NAN_f64;
  if (a == 0 || x == TT__INF_f64) return a == TT__INF_f64 ? TT__NAN_f64 : 0;
  if (x == 0 || a == TT__INF_f64) return 1;
  if (a < 1) return x < 0.6 ? tt__gammaincc_small(a, x) : tt__gammaincc_fraction(a, x);
  return x < a + 1 ? 1 - tt__gammainc_series(a, x) : tt__gammaincc_fraction(a, x);
}
TT_LONG_FN tt_f64 tt_gammainc_f64(tt_f64 a, tt_f64 x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0)) return TT__NAN_f64;
  if (a == 0 || x == TT__INF_f64) return a == TT__INF_f64 ? TT__NAN_f64 : 1;
  if (x == 0 || a == TT__INF_f64) return 0;
  if (x < a + 1) return a < 0.3 * x ? 1 - tt_gammaincc_f64(a, x) : tt__gammainc_series(a, x);
  return 1 - tt__gammaincc_fraction(a, x);
}

/* ---- incomplete beta functions: a continued fraction (DLMF 8.17.22), of the smaller side. y is 1 - x. */
/* The m-th terms of the even part of the fraction. */
TT_FN tt_f64 tt__betainc_over(tt_f64 a, tt_f64 b, tt_f64 x, tt_f64 m) {
  tt_f64 n = a + 2 * m - 1;
  return (a + m - 1) / n * ((a + b + m - 1) / n) * (m * (b - m)) * (x * x);
}
TT_FN tt_f64 tt__betainc_plus(tt_f64 a, tt_f64 b, tt_f64 x, tt_f64 y, tt_f64 m) {
  tt_f64 first = m == 0 ? 0 : m * (b - m) * x / (a + 2 * m - 1);
  return m + first + (a + m) / (a + 2 * m + 1) * ((a * y - b * x) + 1 + m * (1 + y));
}
/* The same in double-double. */
TT_LONG_FN tt__dd tt__betainc_over_dd(tt_f64 a, tt_f64 b, tt__dd x, tt_f64 m) {
  tt__dd n = tt__two_sum(a, 2 * m - 1), u = tt__dd_quotient(tt__dd_product(tt__two_sum(a, m - 1), x), n);
  tt__dd w = tt__dd_sum(tt__two_sum(a, m - 1), tt__dd_of(b));
  w = tt__dd_quotient(tt__dd_product(w, x), n);
  return tt__dd_product(tt__dd_product(u, w), tt__dd_times(tt__two_sum(b, -m), m));
}
TT_LONG_FN tt__dd tt__betainc_plus_dd(tt_f64 a, tt_f64 b, tt__dd x, tt__dd y, tt_f64 m) {
  tt__dd u = tt__dd_quotient(tt__dd_times(tt__dd_product(tt__two_sum(b, -m), x), m), tt__two_sum(a, 2 * m - 1)), w;
  w = tt__dd_sum(tt__dd_times(y, a), tt__dd_minus(tt__dd_times(x, b)));
  w = tt__dd_sum(w, tt__dd_sum(tt__two_sum(m, 1), tt__dd_times(y, m)));
  w = tt__dd_quotient(tt__dd_product(w, tt__two_sum(a, m)), tt__two_sum(a, 2 * m + 1));
  if (m == 0) return w;
  return tt__dd_sum(tt__dd_sum(tt__dd_of(m), u), w);
}
/* The fraction by which x^a y^b / B(a, b) is divided. */
TT_LONG_FN tt__dd tt__betainc_over_sum(tt_f64 a, tt_f64 b, tt__dd x, tt__dd y) {
  tt_f64 c = tt__betainc_plus(a, b, x.hi, y.hi, 0), d = 0, m = 1;
  tt__dd f;
  for (; m < 20000; m += 1) {
    tt_f64 over = tt__betainc_over(a, b, x.hi, m), plus = tt__betainc_plus(a, b, x.hi, y.hi, m);
    d = 1 / (plus + over * d);
    c = plus + over / c;
    if (tt_abs_f64(c * d - 1) < 0x1p-50) break;
  }
  m = tt_floor_f64(1.3 * m) + 3;
  for (f = tt__betainc_plus_dd(a, b, x, y, m); m > 0; m -= 1)
    f = tt__dd_sum(tt__betainc_plus_dd(a, b, x, y, m - 1), tt__dd_quotient(tt__betainc_over_dd(a, b, x, m), f));
  return f;
}
/* log of x^a y^b / B(a, b) */
TT_LONG_FN tt__dd tt__beta_power(tt_f64 a, tt_f64 b, tt__dd x, tt__dd y) {
  tt__dd e, l;
  l = tt__log_dd(x.hi);
  l.lo += x.lo / x.hi;
  e = tt__dd_times(l, a);
  l = tt__log_dd(y.hi);
  l.lo += y.lo / y.hi;
  e = tt__dd_sum(e, tt__dd_times(l, b));
  e = tt__dd_sum(e, tt__lgamma_of_sum(a, b));
  e = tt__dd_sum(e, tt__dd_minus(tt__dd_sum(tt__lgamma_dd(a), tt__lgamma_dd(b))));
  return e;
}
TT_LONG_FN tt_f64 tt__betainc_fraction(tt_f64 a, tt_f64 b, tt__dd x, tt__dd y) {
  tt__dd e = tt__beta_power(a, b, x, y);
  return e.hi < -750 ? 0 : tt__exp_scaled(e.hi, e.lo, 0) / tt__betainc_over_sum(a, b, x, y).hi;
}
/* I_x(a, b), or 1 less that where `upper`. */
TT_LONG_FN tt_f64 tt__betainc_of(tt_f64 a, tt_f64 b, tt__dd x, tt__dd y, int upper) {
  int swap = x.hi * (a + b) > a;
  tt_f64 f = swap ? tt__betainc_fraction(b, a, y, x) : tt__betainc_fraction(a, b, x, y);
  return swap != upper ? 1 - f : f;
}
TT_LONG_FN tt_f64 tt__betainc_ends(tt_f64 a, tt_f64 b, tt_f64 x, int upper) {
  tt__dd left, right;
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1) || (a == 0 && b == 0)) return TT__NAN_f64;
  if (x == 0 || b == 0) return a == 0 ? !upper : x == 1 ? !upper : upper;
  if (x == 1 || a == 0) return !upper;
  left.hi = x;
  left.lo = 0;
  right = tt__two_sum(1, -x);
  return tt__betainc_of(a, b, left, right, upper);
}
TT_LONG_FN tt_f64 tt_betainc_f64(tt_f64 a, tt_f64 b, tt_f64 x) { return tt__betainc_ends(a, b, x, 0); }
TT_LONG_FN tt_f64 tt_betaincc_f64(tt_f64 a, tt_f64 b, tt_f64 x) { return tt__betainc_ends(a, b, x, 1); }
/* The same of x = u / (u + v), which leaves 1 - x without a difference. */
TT_LONG_FN tt_f64 tt__betainc_odds(tt_f64 a, tt_f64 b, tt__dd u, tt__dd v, int upper) {
  tt__dd n = tt__dd_sum(u, v);
  if (!(u.hi > 1e-250 && u.hi < 1e250 && v.hi > 1e-250 && v.hi < 1e250)) { /* halves of products may vanish */
    tt_f64 r = u.hi / v.hi;
    return tt__betainc_of(a, b, tt__dd_of(r < 1 ? r / (1 + r) : 1 / (1 + 1 / r)), tt__dd_of(1 / (1 + r)), upper);
  }
  return tt__betainc_of(a, b, tt__dd_quotient(u, n), tt__dd_quotient(v, n), upper);
}

/* ---- distributions: the probability up to a value, and (c) beyond it */
TT_LONG_FN tt_f64 tt_chdtr_f64(tt_f64 v, tt_f64 x) { return x < 0 ? 0 : tt_gammainc_f64(0.5 * v, 0.5 * x); }
TT_LONG_FN tt_f64 tt_chdtrc_f64(tt_f64 v, tt_f64 x) { return x < 0 ? 1 : tt_gammaincc_f64(0.5 * v, 0.5 * x); }
TT_LONG_FN tt_f64 tt_pdtr_f64(tt_f64 k, tt_f64 m) {
  if (!(k >= 0 && m >= 0)) return TT__NAN_f64;
  return m == 0 ? 1 : tt_gammaincc_f64(tt_floor_f64(k) + 1, m);
}
TT_LONG_FN tt_f64 tt_pdtrc_f64(tt_f64 k, tt_f64 m) {
  if (!(k >= 0 && m >= 0)) return TT__NAN_f64;
  return m == 0 ? 0 : tt_gammainc_f64(tt_floor_f64(k) + 1, m);
}
/* What rounding a * x costs, made good by the density. */
TT_LONG_FN tt_f64 tt__gdtr_of(tt_f64 a, tt_f64 b, tt_f64 x, int upper) {
  tt__dd p = tt__two_prod(a, x);
  tt_f64 y = upper ? tt_gammaincc_f64(b, p.hi) : tt_gammainc_f64(b, p.hi), lost;
  if (x < 0) return TT__NAN_f64;
  if (!(b > 0 && y > 0 && p.hi > 0x1p-900 && p.hi < 0x1p900)) return y;
  lost = b * tt__gamma_power(b, p.hi) * (p.lo / p.hi);
  return upper ? y - lost : y + lost;
}
TT_LONG_FN tt_f64 tt_gdtr_f64(tt_f64 a, tt_f64 b, tt_f64 x) { return tt__gdtr_of(a, b, x, 0); }
TT_LONG_FN tt_f64 tt_gdtrc_f64(tt_f64 a, tt_f64 b, tt_f64 x) { return tt__gdtr_of(a, b, x, 1); }
TT_LONG_FN tt_f64 tt_stdtr_f64(tt_f64 df, tt_f64 t) {
  if (!(df > 0) || t != t) return TT__NAN_f64;
  if (df > 1e200) return tt_ndtr_f64(t);
  if (t == 0) return 0.5;
  if (tt_abs_f64(t) > 1e150) return t > 0;
  tt_f64 tail = 0.5 * tt__betainc_odds(0.5 * df, 0.5, tt__dd_of(df), tt__two_prod(t, t), 0);
  return t > 0 ? 1 - tail : tail;
}
TT_LONG_FN tt_f64 tt_fdtr_f64(tt_f64 n, tt_f64 d, tt_f64 x) {
  if (!(n > 0 && d > 0 && x >= 0)) return TT__NAN_f64;
  if (x == 0 || x == TT__INF_f64) return x > 0;
  return tt__betainc_odds(0.5 * n, 0.5 * d, tt__two_prod(n, x), tt__dd_of(d), 0);
}
TT_LONG_FN tt_f64 tt_fdtrc_f64(tt_f64 n, tt_f64 d, tt_f64 x) {
  if (!(n > 0 && d > 0 && x >= 0)) return TT__NAN_f64;
  if (x == 0 || x == TT__INF_f64) return x == 0;
  return tt__betainc_odds(0.5 * n, 0.5 * d, tt__two_prod(n, x), tt__dd_of(d), 1);
}
TT_LONG_FN tt_f64 tt_bdtr_f64(tt_f64 k, tt_f64 n, tt_f64 p) {
  k = tt_floor_f64(k);
  if (!(k >= 0 && n >= k && p >= 0 && p <= 1)) return TT__NAN_f64;
  return k == n ? 1 : tt_betaincc_f64(k + 1, n - k, p);
}
TT_LONG_FN tt_f64 tt_bdtrc_f64(tt_f64 k, tt_f64 n, tt_f64 p) {
  k = tt_floor_f64(k);
  if (!(n >= k && p >= 0 && p <= 1)) return TT__NAN_f64;
  return k < 0 ? 1 : k == n ? 0 : tt_betainc_f64(k + 1, n - k, p);
}
TT_LONG_FN tt_f64 tt_nbdtr_f64(tt_f64 k, tt_f64 n, tt_f64 p) {
  k = tt_floor_f64(k);
  return k >= 0 && n > 0 && p >= 0 && p <= 1 ? tt_betainc_f64(n, k + 1, p) : TT__NAN_f64;
}
TT_LONG_FN tt_f64 tt_nbdtrc_f64(tt_f64 k, tt_f64 n, tt_f64 p) {
  k = tt_floor_f64(k);
  return k >= 0 && n > 0 && p >= 0 && p <= 1 ? tt_betaincc_f64(n, k + 1, p) : TT__NAN_f64;
}

/* ---- float32: the same, rounded */
TT__THROUGH_2(gammainc)
TT__THROUGH_2(gammaincc)
TT__THROUGH_3(betainc)
TT__THROUGH_3(betaincc)
TT__THROUGH_2(chdtr)
TT__THROUGH_2(chdtrc)
TT__THROUGH_2(pdtr)
TT__THROUGH_2(pdtrc)
TT__THROUGH_3(gdtr)
TT__THROUGH_3(gdtrc)
TT__THROUGH_2(stdtr)
TT__THROUGH_3(fdtr)
TT__THROUGH_3(fdtrc)
TT__THROUGH_3(bdtr)
TT__THROUGH_3(bdtrc)
TT__THROUGH_3(nbdtr)
TT__THROUGH_3(nbdtrc)

#endif
