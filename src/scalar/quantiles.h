/*
** Part of the text of scalar functions: inverses of incomplete gamma and beta functions, and of the distributions made
** of them. It follows incomplete.h, includes nothing itself, and keeps prelude.h's rules.
**
** The logarithm of a probability is concave in the logarithm of x (or of the odds x / (1 - x)), so Newton's steps come
** to the root from one side without passing it, from wherever they start. Its slope is the continued fraction, or one
** over the series, that the probability is made of. The smaller of p and 1 - p is solved for; the error is that of the
** probability over the slope, so it grows where x moves little mass: for a far below 1. The logarithm of the
** probability is therefore a double-double, from gamma functions with more digits than a float has.
*/
#ifndef TT_SCALAR_QUANTILES_H
#define TT_SCALAR_QUANTILES_H

#define TT__MOST_SHAPE 1e7 /* beyond, sums and fractions have too many terms */
/* How far log(value) lies below its goal, and its slope. */
typedef struct tt__miss {
  tt_f64 off, slope;
} tt__miss;
TT_FN tt__miss tt__miss_of(tt_f64 p, tt__dd value, tt_f64 slope) {
  tt__dd d = tt__dd_sum(tt__log_dd(p), tt__dd_minus(value));
  tt__miss m;
  m.off = d.hi + d.lo;
  m.slope = slope;
  return m;
}

/* ---- gamma: x of the lower (or upper) part p + lost, the second what rounding took from it */
TT_LONG_FN tt__miss tt__gamma_miss(tt_f64 a, tt_f64 x, tt_f64 p, tt_f64 lost, int upper) {
  tt__dd e = tt__gamma_power_log(a, x), s, l;
  if (!upper) {
    s = tt__gammainc_sum(a, x);
    l = tt__dd_sum(tt__log_dd(s.hi), tt__dd_of(s.lo / s.hi - lost / p));
    return tt__miss_of(p, tt__dd_sum(e, l), a / s.hi);
  }
  if (x > a + 1 || (a < 1 && x >= 0.6)) {
    s = tt__gammaincc_over(a, x);
    l = tt__dd_sum(tt__log_dd(s.hi), tt__dd_of(s.lo / s.hi));
    l = tt__dd_sum(tt__log_dd(a), tt__dd_minus(l));
    return tt__miss_of(p, tt__dd_sum(e, l), -s.hi);
  }
  tt_f64 q = tt_gammaincc_f64(a, x);
  return tt__miss_of(p, tt__log_dd(q), -a * tt_exp_f64(e.hi) / q);
}
TT_LONG_FN tt_f64 tt__gamma_solve(tt_f64 a, tt_f64 p, tt_f64 lost, int upper) {
  tt_f64 l = -tt_log_f64(p), low = tt_exp_f64((tt_lgamma_f64(a + 1) - l) / a),
         high = a + l + TT_SQRT_F64(l * (2 * a + l));
  tt_f64 x = upper ? high : low;
  if (!upper && high < 0.6) high = 0.6; /* of a lower part above 1/2 */
  low = upper ? 0 : low * 0.999999;     /* it is the root itself where x is small, but for its rounding */
  high = high < low ? 1.000002 * low : high * 1.000001;
  if (a > 1) { /* the cube root of a quantile is about normal */
    tt_f64 z = tt_ndtri_f64(p), c = 1 - 1 / (9 * a) + (upper ? -z : z) / (3 * TT_SQRT_F64(a));
    x = c > 0 ? tt__clamp(a * (c * c * c), low, high) : x;
  }
  if (!(x > 0x1p-1000)) return 0;
  for (int k = 0; k < 40; k++) {
    tt__miss m = tt__gamma_miss(a, x, p, lost, upper);
    tt_f64 step = tt__clamp(m.off / m.slope, -700, 700);
    if (!(step == step)) break;
    x = tt__clamp(x + x * tt_expm1_f64(step), low, high);
    if (!(x > 0x1p-1000) || tt_abs_f64(step) < 0x1p-28) break; /* what is left is its square */
  }
  return x;
}
/*
** x of the lower part p and the upper part q = 1 - p, of which the smaller one is taken; but the lower one where it is
** the series that has all digits (a below 1, x below 0.6).
*/
TT_LONG_FN tt_f64 tt__gamma_quantile(tt_f64 a, tt_f64 p, tt_f64 q) {
  if (!(a >= 0 && p >= 0 && q >= 0)) return TT__NAN_f64;
  if (p == 0 || a == 0) return 0;
  if (q == 0 || a == TT__INF_f64) return TT__INF_f64;
  if (a > TT__MOST_SHAPE) return TT__NAN_f64;
  tt__dd rest = tt__two_sum(1, -q);
  if (p <= q || (a < 1 && p < tt_gammainc_f64(a, 0.6))) return tt__gamma_solve(a, p, p <= q ? 0 : rest.lo, 0);
  return tt__gamma_solve(a, q, 0, 1);
}
TT_LONG_FN tt_f64 tt_gammaincinv_f64(tt_f64 a, tt_f64 p) { return tt__gamma_quantile(a, p, 1 - p); }
TT_LONG_FN tt_f64 tt_gammainccinv_f64(tt_f64 a, tt_f64 q) { return tt__gamma_quantile(a, 1 - q, q); }

/* ---- beta: the odds x / (1 - x) of the lower part p <= 1/2 */
TT_LONG_FN tt__miss tt__beta_miss(tt_f64 a, tt_f64 b, tt_f64 r, tt_f64 p) {
  tt__dd n = tt__two_sum(r, 1), x = tt__dd_quotient(tt__dd_of(r), n), y = tt__dd_quotient(tt__dd_of(1), n), e, f, l;
  int far = x.hi * (a + b) > a;
  tt__miss m;
  e = tt__beta_power(a, b, x, y);
  f = far ? tt__betainc_over_sum(b, a, y, x) : tt__betainc_over_sum(a, b, x, y);
  l = tt__dd_sum(e, tt__dd_minus(tt__log_dd(f.hi)));
  l.lo -= f.lo / f.hi;
  if (!far) return tt__miss_of(p, l, f.hi);
  /* The fraction is of the upper part, which is 1 - p times 1 + g: the lower one is p - (1 - p) g. */
  f = tt__two_sum(1, -p);
  l = tt__dd_sum(l, tt__dd_minus(tt__log_dd(f.hi)));
  tt_f64 g = f.hi * tt_expm1_f64(l.hi + (l.lo - f.lo / f.hi));
  m.off = -tt_log1p_f64(-g / p);
  m.slope = tt_exp_f64(e.hi) / (p - g);
  return m;
}
TT_LONG_FN tt_f64 tt__beta_solve(tt_f64 a, tt_f64 b, tt_f64 p) {
  tt_f64 l = (tt_log_f64(p) + tt_log_f64(a) + tt_betaln_f64(a, b)) / a, x = tt_exp_f64(l < 0 ? l : 0);
  tt_f64 r = x * (a + b) < a ? x / (1 - x) : a / b;
  if (!(r > 0x1p-1000)) return 0;
  for (int k = 0; k < 40; k++) {
    tt__miss m = tt__beta_miss(a, b, r, p);
    tt_f64 step = tt__clamp(m.off / m.slope, -200, 200);
    if (!(step == step)) break;
    r += r * tt_expm1_f64(step);
    if (!(r > 0x1p-1000 && r < 0x1p1000) || tt_abs_f64(step) < 0x1p-28) break;
  }
  return r;
}
TT_LONG_FN tt_f64 tt__beta_odds(tt_f64 a, tt_f64 b, tt_f64 p, tt_f64 q) {
  if (!(a > 0 && b > 0 && p >= 0 && q >= 0)) return TT__NAN_f64;
  if (p == 0) return 0;
  if (q == 0) return TT__INF_f64;
  if (a + b > TT__MOST_SHAPE) return TT__NAN_f64;
  return p <= q ? tt__beta_solve(a, b, p) : 1 / tt__beta_solve(b, a, q);
}
TT_FN tt_f64 tt__of_odds(tt_f64 r) { return r < 1 ? r / (1 + r) : 1 / (1 + 1 / r); }
TT_LONG_FN tt_f64 tt_betaincinv_f64(tt_f64 a, tt_f64 b, tt_f64 p) { return tt__of_odds(tt__beta_odds(a, b, p, 1 - p)); }
TT_LONG_FN tt_f64 tt_betainccinv_f64(tt_f64 a, tt_f64 b, tt_f64 q) {
  return tt__of_odds(tt__beta_odds(a, b, 1 - q, q));
}

/* ---- distributions: for which value, or (pdtri, bdtri, nbdtri, gdtria) parameter, a probability is the given one */
TT_LONG_FN tt_f64 tt_chdtri_f64(tt_f64 v, tt_f64 q) { return 2 * tt_gammainccinv_f64(0.5 * v, q); }
TT_LONG_FN tt_f64 tt_pdtri_f64(tt_f64 k, tt_f64 p) {
  return k >= 0 && p < 1 ? tt_gammainccinv_f64(tt_floor_f64(k) + 1, p) : TT__NAN_f64;
}
TT_LONG_FN tt_f64 tt_gdtrix_f64(tt_f64 a, tt_f64 b, tt_f64 p) { return tt_gammaincinv_f64(b, p) / a; }
TT_LONG_FN tt_f64 tt_gdtria_f64(tt_f64 p, tt_f64 b, tt_f64 x) { return tt_gammaincinv_f64(b, p) / x; }
TT_LONG_FN tt_f64 tt_stdtrit_f64(tt_f64 df, tt_f64 p) {
  tt_f64 tail = p < 0.5 ? p : 1 - p, t;
  if (!(df > 0 && p >= 0 && p <= 1)) return TT__NAN_f64;
  if (df > 1e200) return tt_ndtri_f64(p);
  if (tail < 0.25) /* of df / (df + t^2), or of t^2 over that sum where it is the smaller one */
    t = TT_SQRT_F64(df / tt__beta_odds(0.5 * df, 0.5, 2 * tail, 1 - 2 * tail));
  else
    t = TT_SQRT_F64(df * tt__beta_odds(0.5, 0.5 * df, 2 * (0.5 - tail), 2 * tail));
  return p < 0.5 ? -t : t;
}
TT_LONG_FN tt_f64 tt_fdtri_f64(tt_f64 n, tt_f64 d, tt_f64 p) {
  return tt__beta_odds(0.5 * n, 0.5 * d, p, 1 - p) * d / n;
}
TT_LONG_FN tt_f64 tt_bdtri_f64(tt_f64 k, tt_f64 n, tt_f64 p) {
  k = tt_floor_f64(k);
  return k >= 0 && n > k ? tt_betainccinv_f64(k + 1, n - k, p) : TT__NAN_f64;
}
TT_LONG_FN tt_f64 tt_nbdtri_f64(tt_f64 k, tt_f64 n, tt_f64 p) {
  k = tt_floor_f64(k);
  return k >= 0 && n > 0 ? tt_betaincinv_f64(n, k + 1, p) : TT__NAN_f64;
}

/* ---- float32: the same, rounded */
TT__THROUGH_2(gammaincinv)
TT__THROUGH_2(gammainccinv)
TT__THROUGH_3(betaincinv)
TT__THROUGH_3(betainccinv)
TT__THROUGH_2(chdtri)
TT__THROUGH_2(pdtri)
TT__THROUGH_3(gdtrix)
TT__THROUGH_3(gdtria)
TT__THROUGH_2(stdtrit)
TT__THROUGH_3(fdtri)
TT__THROUGH_3(bdtri)
TT__THROUGH_3(nbdtri)

#endif
