/*
** Below program_text.h when a program calls polynomials: functions of complex numbers, and math's that no op has.
*/
#ifndef TT_SCALAR_PROGRAM_MATH_H
#define TT_SCALAR_PROGRAM_MATH_H

#define TT__COMPLEX_MATH(S, Z, F, R)                                                                               \
  TT_FN F tt_abs_##S(Z a) { return tt_hypot_##R(a.re, a.im); }                                                     \
  TT_FN Z tt_exp_##S(Z a) {                                                                                        \
    F r = tt_exp_##R(a.re);                                                                                        \
    return tt__pair_##S(r * tt_cos_##R(a.im), r * tt_sin_##R(a.im));                                               \
  }                                                                                                                \
  TT_FN Z tt_log_##S(Z a) { return tt__pair_##S(tt_log_##R(tt_hypot_##R(a.re, a.im)), tt_atan2_##R(a.im, a.re)); } \
  TT_FN Z tt_sqrt_##S(Z a) {                                                                                       \
    F r = tt_hypot_##R(a.re, a.im), u = tt_sqrt_##R((r + tt_abs_##R(a.re)) * (F)0.5);                              \
    F v = u != 0 ? a.im / (2 * u) : 0;                                                                             \
    return a.re >= 0 ? tt__pair_##S(u, v) : tt__pair_##S(tt_abs_##R(v), a.im < 0 ? -u : u);                        \
  }                                                                                                                \
  TT_FN Z tt_pow_##S(Z a, Z b) {                                                                                   \
    if (b.re == 0 && b.im == 0) return tt__pair_##S(1, 0);                                                         \
    if (a.re == 0 && a.im == 0) return tt__pair_##S(0, 0);                                                         \
    return tt_exp_##S(tt_mul_##S(b, tt_log_##S(a)));                                                               \
  }                                                                                                                \
  TT_FN Z tt_sin_##S(Z a) {                                                                                        \
    return tt__pair_##S(tt_sin_##R(a.re) * tt_cosh_##R(a.im), tt_cos_##R(a.re) * tt_sinh_##R(a.im));               \
  }                                                                                                                \
  TT_FN Z tt_cos_##S(Z a) {                                                                                        \
    return tt__pair_##S(tt_cos_##R(a.re) * tt_cosh_##R(a.im), -tt_sin_##R(a.re) * tt_sinh_##R(a.im));              \
  }
TT__COMPLEX_MATH(c64, tt_c64, tt_f32, f32)
TT__COMPLEX_MATH(c128, tt_c128, tt_f64, f64)

/* The error function: its series near 0, a continued fraction of its complement (from the end backwards) beyond. */
TT_FN tt_f64 tt__erfc_far(tt_f64 x) {
  tt_f64 f = x;
  for (int k = 60; k > 0; k--) f = x + (tt_f64)k * 0.5 / f;
  return tt_exp_f64(-x * x) / (f * 1.7724538509055160273);
}
TT_FN tt_f64 tt__erf_near(tt_f64 x) {
  tt_f64 term = x, sum = x, y = x * x;
  for (int k = 1; k < 60; k++) {
    term *= 2 * y / (tt_f64)(2 * k + 1);
    sum += term;
  }
  return sum * 1.1283791670955125739 * tt_exp_f64(-y);
}
TT_FN tt_f64 tt_erf_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  if (x != x) return x;
  return a < 2.2 ? tt__erf_near(x) : tt_copysign_f64(a > 6 ? 1 : 1 - tt__erfc_far(a), x);
}
TT_FN tt_f64 tt_erfc_f64(tt_f64 x) {
  if (x != x) return x;
  return x < 2.2 ? 1 - tt_erf_f64(x) : x > 28 ? 0 : tt__erfc_far(x);
}
/* log gamma: Stirling's series for large arguments, the recurrence below, the reflection left of 1/2. */
TT_FN tt_f64 tt__lgamma_right(tt_f64 x) {
  tt_f64 shift = 1;
  for (; x < 16; x += 1) shift *= x;
  tt_f64 r = 1 / x, r2 = r * r;
  tt_f64 tail = r * (0x1.5555555555555p-4 +
                     r2 * (-0x1.6c16c16c16c17p-9 +
                           r2 * (0x1.a01a01a01a01ap-11 + r2 * (-0x1.3813813813814p-11 + r2 * 0x1.b951e2b18ff23p-11))));
  return (x - 0.5) * tt_log_f64(x) - x + 0.91893853320467274178 + tail - tt_log_f64(shift);
}
TT_FN tt_f64 tt_lgamma_f64(tt_f64 x) {
  if (x != x) return x;
  if (x <= 0 && x == tt_floor_f64(x)) return TT__INF_f64;
  if (x >= 0.5) return x > 1e17 ? x * (tt_log_f64(x) - 1) : tt__lgamma_right(x);
  tt_f64 s = tt_sin_f64(3.14159265358979323846 * (x - 2 * tt_floor_f64(x * 0.5)));
  return 1.1447298858494001741 - tt_log_f64(tt_abs_f64(s)) - tt__lgamma_right(1 - x);
}
TT_FN tt_f64 tt_gamma_f64(tt_f64 x) {
  if (x > 0 && x < 24 && x == tt_floor_f64(x)) {
    tt_f64 r = 1;
    for (tt_f64 k = 2; k < x; k += 1) r *= k;
    return r;
  }
  if (x <= 0 && x == tt_floor_f64(x)) return TT__NAN_f64;
  tt_f64 size = tt_exp_f64(tt_lgamma_f64(x)), odd = tt_floor_f64(x) - 2 * tt_floor_f64(tt_floor_f64(x) * 0.5);
  return x < 0 && odd != 0 ? -size : size;
}
#ifndef TT_PROGRAM_CUDA
TT_FN tt_f64 tt_random_normal(tt_pcall *call) {
  tt_f64 u = 1 - tt_random_f64(call), v = tt_random_f64(call);
  return tt_sqrt_f64(-2 * tt_log_f64(u)) * tt_cos_f64(6.28318530717958647692 * v);
}
#endif

#endif
