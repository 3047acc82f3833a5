/*
** Below proc/proc_text.h when a program calls polynomials: functions of complex numbers, and normal draws.
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

#ifndef TT_PROGRAM_CUDA
TT_FN tt_f64 tt_random_normal(tt_pcall *call) {
  tt_f64 u = 1 - tt_random_f64(call), v = tt_random_f64(call);
  return tt_sqrt_f64(-2 * tt_log_f64(u)) * tt_cos_f64(6.28318530717958647692 * v);
}
#endif

#endif
