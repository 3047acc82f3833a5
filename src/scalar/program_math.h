/*
** Below proc/proc_text.h when a program calls polynomials: functions of complex numbers, and normal draws.
*/
#ifndef TT_SCALAR_PROGRAM_MATH_H
#define TT_SCALAR_PROGRAM_MATH_H

/* The formulas of kernel/complex.c, operation by operation: what a program computes has the bits of an array's. */
#define TT__COMPLEX_MATH(S, Z, F, R)                                                                                  \
  TT_FN F tt_abs_##S(Z a) { return tt_hypot_##R(a.re, a.im); }                                                        \
  /* The sign of a NaN shows nowhere. */                                                                              \
  TT_FN F tt__on_side_##S(F size, F of) { return tt_copysign_##R(size, of != of ? (F)1 : of); }                       \
  /* An angle that is infinite or NaN has no direction; at an infinite end it spoils only what is not 0 there. */     \
  TT_FN int tt__at_end_##S(Z a) { return !tt_isfinite_##R(a.im) && tt_isinf_##R(a.re); }                              \
  TT_FN Z tt_exp_##S(Z a) {                                                                                           \
    F e = tt_exp_##R(a.re), none = tt__on_side_##S(0, a.im);                                                          \
    if (a.im == 0) return tt__pair_##S(e, none);                                                                      \
    if (tt__at_end_##S(a)) return tt__pair_##S(e, a.re < 0 ? none : e * tt_sin_##R(a.im));                            \
    return tt__pair_##S(e * tt_cos_##R(a.im), e * tt_sin_##R(a.im));                                                  \
  }                                                                                                                   \
  /* Beside 1 from the difference to 1, which hypot() would round away. */                                            \
  TT_FN Z tt_log_##S(Z a) {                                                                                           \
    F x = tt_abs_##R(a.re), y = tt_abs_##R(a.im), h = tt_hypot_##R(x, y), re;                                         \
    F large = tt_maximum_##R(x, y), small = tt_minimum_##R(x, y);                                                     \
    if (h > (F)0.7 && h < (F)1.4)                                                                                     \
      re = (F)0.5 * tt_log1p_##R((large - 1) * (large + 1) + small * small);                                          \
    else                                                                                                              \
      re = tt_log_##R(h);                                                                                             \
    return tt__pair_##S(re, tt_atan2_##R(a.im, a.re));                                                                \
  }                                                                                                                   \
  /* Of a quarter: |z| may overflow though the root does not. */                                                      \
  TT_FN Z tt_sqrt_##S(Z a) {                                                                                          \
    F x = tt_abs_##R(a.re) * (F)0.25, y = a.im * (F)0.25;                                                             \
    F t = tt_sqrt_##R((F)0.5 * (x + tt_hypot_##R(x, y)));                                                             \
    F big = 2 * t, small = t == 0 ? 0 : 2 * ((F)0.5 * (tt_abs_##R(y) / t));                                           \
    if (tt_isinf_##R(a.im)) return tt__pair_##S(TT__INF_##R, a.im);                                                   \
    return a.re >= 0 ? tt__pair_##S(big, tt__on_side_##S(small, a.im))                                                \
                     : tt__pair_##S(small, tt__on_side_##S(big, a.im));                                               \
  }                                                                                                                   \
  TT_FN Z tt_pow_##S(Z a, Z b) {                                                                                      \
    F of_zero = b.re > 0 ? 0 : TT__NAN_##R;                                                                           \
    if (b.re == 0 && b.im == 0) return tt__pair_##S(1, 0);                                                            \
    if (a.re == 0 && a.im == 0) return tt__pair_##S(of_zero, of_zero);                                                \
    if (b.re == 2 && b.im == 0) return tt_mul_##S(a, a);                                                              \
    if (b.re == 1 && b.im == 0) return a;                                                                             \
    return tt_exp_##S(tt_mul_##S(b, tt_log_##S(a)));                                                                  \
  }                                                                                                                   \
  TT_FN Z tt_sinh_##S(Z a) {                                                                                          \
    F re = tt_sinh_##R(a.re) * tt_cos_##R(a.im), im = tt_cosh_##R(a.re) * tt_sin_##R(a.im);                           \
    if (!tt_isfinite_##R(a.im) && (a.re == 0 || tt_isinf_##R(a.re))) re = a.re;                                       \
    return tt__pair_##S(re, a.im == 0 ? tt_copysign_##R(0, a.im) : im);                                               \
  }                                                                                                                   \
  TT_FN Z tt_cosh_##S(Z a) {                                                                                          \
    F re = tt_cosh_##R(a.re) * tt_cos_##R(a.im), im = tt_sinh_##R(a.re) * tt_sin_##R(a.im);                           \
    if (a.re == 0 || a.im == 0) im = tt__on_side_##S(0, a.re) * tt__on_side_##S(1, a.im);                             \
    return tt__pair_##S(tt__at_end_##S(a) ? tt_abs_##R(a.re) : re, im);                                               \
  }                                                                                                                   \
  TT_FN Z tt_sin_##S(Z a) {                                                                                           \
    Z w = tt_sinh_##S(tt__pair_##S(-a.im, a.re));                                                                     \
    return tt__pair_##S(w.im, -w.re);                                                                                 \
  }                                                                                                                   \
  TT_FN Z tt_cos_##S(Z a) { return tt_cosh_##S(tt__pair_##S(-a.im, a.re)); }                                          \
  TT_FN int tt__is_far_##S(Z a) { return tt_isinf_##R(a.re) || tt_isinf_##R(a.im); }                                  \
  /* Zeros stay zeros, with their sign. */                                                                            \
  TT_FN F tt__zero_or_##S(F a, F b) { return a == 0 ? tt_copysign_##R(0, a) : b; }                                    \
  TT_FN Z tt__times_i_##S(Z a) { return tt__pair_##S(-a.im, a.re); }                                                  \
  TT_FN Z tt__over_i_##S(Z a) { return tt__pair_##S(a.im, -a.re); }                                                   \
  /* Kahan's form; far out, where sinh overflows, the limit. */                                                       \
  TT_FN Z tt_tanh_##S(Z a) {                                                                                          \
    F x = tt_abs_##R(a.re), far = sizeof(F) == 4 ? 9 : 20, s = tt_sinh_##R(a.re), t = tt_tan_##R(a.im), beta, rho, d; \
    F wave = 4 * (tt_sin_##R(a.im) * tt_cos_##R(a.im)), decay = tt_exp_##R(-2 * x), limit = tt_copysign_##R(1, a.re); \
    if (x > far) {                                                                                                    \
      int end = tt__at_end_##S(a);                                                                                    \
      F tail = end ? tt__on_side_##S(0, a.im) : wave * decay;                                                         \
      limit = !tt_isfinite_##R(a.im) && !end ? TT__NAN_##R : limit;                                                   \
      return tt__pair_##S(limit, tt__zero_or_##S(a.im, tail));                                                        \
    }                                                                                                                 \
    beta = 1 + t * t;                                                                                                 \
    rho = tt_sqrt_##R(1 + s * s);                                                                                     \
    d = 1 + beta * (s * s);                                                                                           \
    return tt__pair_##S(tt__zero_or_##S(a.re, beta * (rho * s) / d), tt__zero_or_##S(a.im, t / d));                   \
  }                                                                                                                   \
  TT_FN Z tt_tan_##S(Z a) { return tt__over_i_##S(tt_tanh_##S(tt__times_i_##S(a))); }                                 \
  /* log1p(4x / |1 - z|^2) / 4 for x = |re|, and half the angle of (1 + z) / (1 - z). */                              \
  TT_FN Z tt_atanh_##S(Z a) {                                                                                         \
    F x = tt_abs_##R(a.re), h = tt_hypot_##R(1 - x, a.im), re = (F)0.25 * tt_log1p_##R(4 * x / h / h), angle;         \
    F across = (1 - x) * (1 + x) - a.im * a.im;                                                                       \
    if (tt__is_far_##S(a)) {                                                                                          \
      re = 0;                                                                                                         \
      across = -TT__INF_##R;                                                                                          \
    }                                                                                                                 \
    angle = tt_isinf_##R(a.im) ? tt_copysign_##R((F)3.14159265358979323846, a.im) : tt_atan2_##R(2 * a.im, across);   \
    return tt__pair_##S(tt__zero_or_##S(a.re, tt__on_side_##S(re, a.re)), (F)0.5 * angle);                            \
  }                                                                                                                   \
  TT_FN Z tt_atan_##S(Z a) { return tt__over_i_##S(tt_atanh_##S(tt__times_i_##S(a))); }                               \
  /* Kahan's forms (1987): neither cancel nor overflow. */                                                            \
  TT_FN Z tt_asin_##S(Z a) {                                                                                          \
    Z down = tt_sqrt_##S(tt__pair_##S(1 - a.re, -a.im)), up = tt_sqrt_##S(tt__pair_##S(1 + a.re, a.im));              \
    F near = down.re * up.re - down.im * up.im, im = tt_asinh_##R(down.re * up.im - down.im * up.re);                 \
    if (tt__is_far_##S(a)) {                                                                                          \
      near = tt_abs_##R(a.im);                                                                                        \
      im = tt__on_side_##S(TT__INF_##R, a.im);                                                                        \
    }                                                                                                                 \
    return tt__pair_##S(tt__zero_or_##S(a.re, tt_atan2_##R(a.re, near)), im);                                         \
  }                                                                                                                   \
  TT_FN Z tt_acos_##S(Z a) {                                                                                          \
    Z down = tt_sqrt_##S(tt__pair_##S(1 - a.re, -a.im)), up = tt_sqrt_##S(tt__pair_##S(1 + a.re, a.im));              \
    F re = 2 * tt_atan2_##R(down.re, up.re), im = tt_asinh_##R(up.re * down.im - up.im * down.re);                    \
    if (tt__is_far_##S(a)) {                                                                                          \
      re = tt_atan2_##R(tt_abs_##R(a.im), a.re);                                                                      \
      im = tt__on_side_##S(TT__INF_##R, -a.im);                                                                       \
    }                                                                                                                 \
    return tt__pair_##S(a.re == 0 ? (F)1.57079632679489661923 : re, im);                                              \
  }                                                                                                                   \
  TT_FN Z tt_asinh_##S(Z a) { return tt__over_i_##S(tt_asin_##S(tt__times_i_##S(a))); }                               \
  TT_FN Z tt_acosh_##S(Z a) {                                                                                         \
    Z w = tt_acos_##S(a);                                                                                             \
    return tt__pair_##S(tt_abs_##R(w.im), tt__on_side_##S(w.re, a.im));                                               \
  }                                                                                                                   \
  TT_FN Z tt_log2_##S(Z a) {                                                                                          \
    Z w = tt_log_##S(a);                                                                                              \
    return tt__pair_##S(w.re * (F)1.44269504088896340736, w.im * (F)1.44269504088896340736);                          \
  }                                                                                                                   \
  TT_FN Z tt_log10_##S(Z a) {                                                                                         \
    Z w = tt_log_##S(a);                                                                                              \
    return tt__pair_##S(w.re * (F)0.43429448190325182765, w.im * (F)0.43429448190325182765);                          \
  }
TT__COMPLEX_MATH(c64, tt_c64, tt_f32, f32)
TT__COMPLEX_MATH(c128, tt_c128, tt_f64, f64)

#ifndef TT_PROGRAM_GPU
TT_FN tt_f64 tt_random_normal(tt_pcall *call) {
  tt_f64 u = 1 - tt_random_f64(call), v = tt_random_f64(call);
  return tt_sqrt_f64(-2 * tt_log_f64(u)) * tt_cos_f64(6.28318530717958647692 * v);
}
TT_FN tt_f64 tt_random_np_normal(tt_pcall *call) {
  return TT_RARELY(call->draw != 0) ? call->draw(call, 1) : tt_random_normal(call);
}
#endif

#endif
