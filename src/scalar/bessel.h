/*
** The fifth part of the text of scalar functions: Bessel functions of the orders 0 and 1. It follows special.h and
** bessel_tables.h, includes nothing itself, and keeps prelude.h's rules.
**
** J and Y are right to a few units in the last place of their envelope sqrt(2 / (pi x)): beside a zero other than 0 the
** error is small beside that, not beside the function.
*/
#ifndef TT_SCALAR_BESSEL_H
#define TT_SCALAR_BESSEL_H

/* ---- modified: e^-x I(x), e^x K(x) */
TT_LONG_FN tt_f64 tt_i0e_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), b = a < 1e300 ? a : 1e300, y;
  TT__TABLE(y, tt__i0e_table, 32, 12, 0, 32, b / (4 + b));
  y = y / TT_SQRT_F64(1 + 2 * b);
  if (a > 1e15) y = 0.3989422804014327 / TT_SQRT_F64(a);
  return x != x ? x : y;
}
TT_LONG_FN tt_f64 tt_i1e_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), b = a < 1e300 ? a : 1e300, y, d = 1 + 2 * b;
  TT__TABLE(y, tt__i1e_table, 32, 12, 0, 32, b / (4 + b));
  y = x * (y / (d * TT_SQRT_F64(d)));
  if (a > 1e15) y = tt_copysign_f64(0.3989422804014327 / TT_SQRT_F64(a), x);
  return x != x ? x : y;
}
TT_LONG_FN tt_f64 tt_i0_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  return a > 720 ? TT__INF_f64 : tt__exp_times(a, tt_i0e_f64(a));
}
TT_LONG_FN tt_f64 tt_i1_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  if (a < 1e-20) return 0.5 * x;
  return a > 720 ? tt_copysign_f64(TT__INF_f64, x) : tt__exp_times(a, tt_i1e_f64(x));
}
/* Near 0, K is a series in x*x less log x times I. */
TT_LONG_FN tt_f64 tt__k0_near(tt_f64 x) {
  tt_f64 t = 2 * x * x - 1, y;
  TT__SECTION(y, tt__k0_near_table, 10, 0, t);
  return y - tt_log_f64(x) * tt_i0_f64(x);
}
TT_LONG_FN tt_f64 tt__k1_near(tt_f64 x) {
  tt_f64 t = 2 * x * x - 1, y;
  TT__SECTION(y, tt__k1_near_table, 10, 0, t);
  return x < 1e-10 ? 1 / x : y / x + tt_log_f64(x) * tt_i1_f64(x);
}
TT_LONG_FN tt_f64 tt__k0e_far(tt_f64 x) {
  tt_f64 y;
  TT__TABLE(y, tt__k0e_table, 16, 13, 0, 16, 1 / x);
  return y / TT_SQRT_F64(x);
}
TT_LONG_FN tt_f64 tt__k1e_far(tt_f64 x) {
  tt_f64 y;
  TT__TABLE(y, tt__k1e_table, 16, 13, 0, 16, 1 / x);
  return y / TT_SQRT_F64(x);
}
#define TT__BESSEL_K(N)                                                           \
  TT_LONG_FN tt_f64 tt_k##N##_f64(tt_f64 x) {                                     \
    if (!(x > 0)) return x == 0 ? TT__INF_f64 : TT__NAN_f64;                      \
    if (x > 760) return 0;                                                        \
    if (x > 690) return tt__exp_scaled(-x, 0, 64) * tt__k##N##e_far(x) * 0x1p-64; \
    return x <= 1 ? tt__k##N##_near(x) : tt_exp_f64(-x) * tt__k##N##e_far(x);     \
  }                                                                               \
  TT_LONG_FN tt_f64 tt_k##N##e_f64(tt_f64 x) {                                    \
    if (!(x > 0)) return x == 0 ? TT__INF_f64 : TT__NAN_f64;                      \
    return x <= 1 ? tt_exp_f64(x) * tt__k##N##_near(x) : tt__k##N##e_far(x);      \
  }
TT__BESSEL_K(0)
TT__BESSEL_K(1)

/* ---- J and Y
** From 25 on sqrt(1 / (pi x)) (P (c + s) - Q (s - c)) and its like, c and s the cosine and the sine of x.
*/
TT_FN tt_f64 tt__bessel_root(tt_f64 x) { return 0x1.20dd750429b6dp-1 / TT_SQRT_F64(x); }
TT_LONG_FN tt_f64 tt__hankel0(tt_f64 x, int is_y) {
  tt_f64 r = 1 / x, w = r * r, t = 1250 * w - 1, p, q, s = tt_sin_f64(x), c = tt_cos_f64(x);
  TT__SECTION(p, tt__hankel_p0_table, 8, 0, t);
  TT__SECTION(q, tt__hankel_q0_table, 8, 0, t);
  q *= r;
  return tt__bessel_root(x) * (is_y ? p * (s - c) + q * (c + s) : p * (c + s) - q * (s - c));
}
TT_LONG_FN tt_f64 tt__hankel1(tt_f64 x, int is_y) {
  tt_f64 r = 1 / x, w = r * r, t = 1250 * w - 1, p, q, s = tt_sin_f64(x), c = tt_cos_f64(x);
  TT__SECTION(p, tt__hankel_p1_table, 8, 0, t);
  TT__SECTION(q, tt__hankel_q1_table, 8, 0, t);
  q *= r;
  return tt__bessel_root(x) * (is_y ? q * (s - c) - p * (s + c) : p * (s - c) + q * (s + c));
}
TT_LONG_FN tt_f64 tt_j0_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y;
  if (a >= 25) return a < TT__INF_f64 ? tt__hankel0(a, 0) : 0;
  TT__TABLE(y, tt__j0_table, 25, 14, 0, 1, a);
  return x != x ? x : y;
}
TT_LONG_FN tt_f64 tt_j1_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y;
  if (a >= 25) return a < TT__INF_f64 ? tt_copysign_f64(1, x) * tt__hankel1(a, 0) : 0;
  if (a < 1) {
    tt_f64 z = x * x; /* x/2 less its multiples by (x/2)^2k / (k! (k + 1)!) */
    return x * (0.5 - z * (0x1p-4 - z * (0x1.5555555555555p-9 -
                                         z * (0x1.c71c71c71c71cp-15 -
                                              z * (0x1.6c16c16c16c17p-21 -
                                                   z * (0x1.845c8a0ce5129p-28 -
                                                        z * (0x1.27e4fb7789f5cp-35 - z * 0x1.522a43f65486ap-43)))))));
  }
  TT__TABLE(y, tt__j1_table, 25, 14, 0, 1, a);
  return x < 0 ? -y : x != x ? x : y;
}
TT_LONG_FN tt_f64 tt_y0_f64(tt_f64 x) {
  tt_f64 y, t = 0.5 * x * x - 1;
  if (!(x > 0)) return x == 0 ? -TT__INF_f64 : TT__NAN_f64;
  if (x >= 25) return x < TT__INF_f64 ? tt__hankel0(x, 1) : 0;
  if (x < 2) {
    TT__SECTION(y, tt__y0_near_table, 15, 0, t);
    return y + 0x1.45f306dc9c883p-1 * tt_log_f64(x) * tt_j0_f64(x);
  }
  TT__TABLE(y, tt__y0_table, 23, 17, 2, 1, x);
  return y;
}
TT_LONG_FN tt_f64 tt_y1_f64(tt_f64 x) {
  tt_f64 y, t = 0.5 * x * x - 1;
  if (!(x > 0)) return x == 0 ? -TT__INF_f64 : TT__NAN_f64;
  if (x >= 25) return x < TT__INF_f64 ? tt__hankel1(x, 1) : 0;
  if (x < 2) {
    TT__SECTION(y, tt__y1_near_table, 15, 0, t);
    return y / x + 0x1.45f306dc9c883p-1 * tt_log_f64(x) * tt_j1_f64(x);
  }
  TT__TABLE(y, tt__y1_table, 23, 17, 2, 1, x);
  return y;
}

/* ---- float32: the same, rounded */
TT__THROUGH_1(i0)
TT__THROUGH_1(i0e)
TT__THROUGH_1(i1)
TT__THROUGH_1(i1e)
TT__THROUGH_1(k0)
TT__THROUGH_1(k0e)
TT__THROUGH_1(k1)
TT__THROUGH_1(k1e)
TT__THROUGH_1(j0)
TT__THROUGH_1(j1)
TT__THROUGH_1(y0)
TT__THROUGH_1(y1)

#endif
