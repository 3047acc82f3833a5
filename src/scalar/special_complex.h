/*
** The last part of the text of scalar functions: special functions of complex numbers. Lowering takes complex numbers
** apart, so each is a function of the real part, the imaginary one, and which part of the value is wanted (0 or 1).
** Values are right to some units of float64 of the larger part, not of each (tests/oracle/test_special_complex.py).
**
** Sources: modified trapezoidal rules for the Faddeeva function (Al Azah and Chandler-Wilde 2021), Hare's choice of
** regions for the logarithm of gamma (1997), series and continued fraction of E1, Halley's steps for Lambert's W.
*/
#ifndef TT_SCALAR_SPECIAL_COMPLEX_H
#define TT_SCALAR_SPECIAL_COMPLEX_H

typedef struct tt__z {
  tt_f64 re, im;
} tt__z;

TT_FN tt__z tt__z_of(tt_f64 re, tt_f64 im) {
  tt__z z;
  z.re = re;
  z.im = im;
  return z;
}
TT_FN tt_f64 tt__z_part(tt__z z, tt_f64 part) { return part == 0 ? z.re : z.im; }
TT_FN tt__z tt__z_add(tt__z a, tt__z b) { return tt__z_of(a.re + b.re, a.im + b.im); }
TT_FN tt__z tt__z_sub(tt__z a, tt__z b) { return tt__z_of(a.re - b.re, a.im - b.im); }
TT_FN tt__z tt__z_mul(tt__z a, tt__z b) { return tt__z_of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
TT_FN tt__z tt__z_scale(tt__z a, tt_f64 s) { return tt__z_of(a.re * s, a.im * s); }
TT_FN tt__z tt__z_minus(tt__z a) { return tt__z_of(-a.re, -a.im); }
/* The larger part divides, so that nothing overflows early. */
TT_FN tt__z tt__z_div(tt__z a, tt__z b) {
  tt_f64 r, d;
  if (tt_abs_f64(b.re) >= tt_abs_f64(b.im)) {
    r = b.im / b.re;
    d = b.re + b.im * r;
    return tt__z_of((a.re + a.im * r) / d, (a.im - a.re * r) / d);
  }
  r = b.re / b.im;
  d = b.im + b.re * r;
  return tt__z_of((a.re * r + a.im) / d, (a.im * r - a.re) / d);
}
TT_LONG_FN tt__z tt__z_exp(tt__z z) {
  tt_f64 e = tt_exp_f64(z.re), root;
  if (z.im == 0) return tt__z_of(e, z.im);
  if (e == 0) return tt__z_of(0, 0);
  if (z.re < 700) return tt__z_of(e * tt_cos_f64(z.im), e * tt_sin_f64(z.im));
  root = tt_exp_f64(0.5 * z.re); /* a part may be finite where e is not */
  return tt__z_of(root * (root * tt_cos_f64(z.im)), root * (root * tt_sin_f64(z.im)));
}
TT_LONG_FN tt__z tt__z_log(tt__z z) {
  tt_f64 x = tt_abs_f64(z.re), y = tt_abs_f64(z.im), large = x > y ? x : y, small = x > y ? y : x;
  tt_f64 size = tt_hypot_f64(x, y), re = tt_log_f64(size);
  if (size > 0.7 && size < 1.4) re = 0.5 * tt_log1p_f64((large - 1) * (large + 1) + small * small);
  return tt__z_of(re, tt_atan2_f64(z.im, z.re));
}

/* ---- the Faddeeva function w(z) = e^(-z^2) erfc(-iz) and its relatives */

#define TT__TURN_STEP 0x1.05f8bd37c0e62p-1  /* h = sqrt(pi / 12): the steps of the rules */
#define TT__TURN_SCALE 0x1.f45437857749ap+0 /* 1 / h */
/* Nodes squared and their weights: (k + 1/2) h, then k h without 0. */
/* clang-format off */
TT_CONST tt_f64 tt__w_node[2][12] = {
    {0x1.0c152382d7366p-4, 0x1.2d97c7f3321d2p-1, 0x1.a2e1077c7044fp+0, 0x1.9a805e60598b3p+1,
     0x1.534ac0f19860cp+2, 0x1.fad7f7235ee2cp+2, 0x1.61f3e8e2c025cp+3, 0x1.d73d286bfe4d8p+3,
     0x1.2ea3dd16b4f46p+4, 0x1.7a09cf13817bap+4, 0x1.cdd06a2c64bcap+4, 0x1.14fbd730af5bap+5},
    {0x1.0c152382d7366p-2, 0x1.0c152382d7366p+0, 0x1.2d97c7f3321d2p+1, 0x1.0c152382d7366p+2,
     0x1.a2e1077c7044fp+2, 0x1.2d97c7f3321d2p+3, 0x1.9a805e60598b3p+3, 0x1.0c152382d7366p+4,
     0x1.534ac0f19860cp+4, 0x1.a2e1077c7044fp+4, 0x1.fad7f7235ee2cp+4, 0x1.2d97c7f3321d2p+5}};
TT_CONST tt_f64 tt__w_weight[2][12] = {
    {0x1.df90113a4786ep-1, 0x1.1c15f15a52bbcp-1, 0x1.8ec3e530c115fp-3, 0x1.4b94a0aaedabbp-5,
     0x1.46a8be57e7a68p-8, 0x1.7d458b47fb6f7p-12, 0x1.079eb0245734dp-16, 0x1.afe709cf13b29p-22,
     0x1.a32d4137e44bcp-28, 0x1.e1fec0fee65d7p-35, 0x1.4850e49975109p-42, 0x1.08f4fbff0bbbcp-50},
    {0x1.8a1195bf0aa84p-1, 0x1.6757859d664c8p-2, 0x1.843844e012c47p-4, 0x1.f0ea0d2fef994p-7,
     0x1.78c7fa70532d5p-10, 0x1.527a727b2a691p-14, 0x1.6840851c9c3b6p-19, 0x1.c645a1d814488p-25,
     0x1.5355ead05bd3cp-31, 0x1.2c509c01fe451p-38, 0x1.3ae3b7284fc47p-46, 0x1.872d59d9a5cfbp-55}};
/* clang-format on */

TT_FN tt__z tt__minus_square(tt__z z) { return tt__z_of((z.im - z.re) * (z.im + z.re), -2 * z.re * z.im); }
/* e^(-z^2), of the exact square: rounded, that of a z of size 6 moves the exponential by 36 units. */
TT_LONG_FN tt__z tt__exp_minus_square(tt__z z) {
  tt__z s = tt__minus_square(z), e;
  tt__dd re, im;
  if (!(tt_abs_f64(s.re) < 700 && tt_abs_f64(s.im) < 0x1p60)) return tt__z_exp(s); /* 0, infinite, or without digits */
  re = tt__dd_sum(tt__two_prod(z.im, z.im), tt__dd_minus(tt__two_prod(z.re, z.re)));
  im = tt__two_prod(-2 * z.re, z.im);
  e = tt__z_exp(tt__z_of(re.hi, im.hi));
  /* Lower halves of products so close to 0 would underflow, and differ by whether they were fused. */
  if (tt_abs_f64(im.hi) < 0x1p-900) return tt__z_of(e.re + e.re * re.lo, e.im + e.im * re.lo);
  return tt__z_add(e, tt__z_mul(e, tt__z_of(re.lo, im.lo)));
}
/* What the pole at z adds to a rule: 2 e^(-z^2) / (1 + sign e^(-2 pi i z / h)). */
TT_LONG_FN tt__z tt__w_pole(tt__z z, tt_f64 sign) {
  tt_f64 turns = 2 * (z.re * TT__TURN_SCALE), e = sign * tt_exp_f64(2 * TT__PI * TT__TURN_SCALE * z.im);
  tt__z below = tt__z_of(1 + e * tt__cospi(turns), -e * tt__sinpi(turns));
  return tt__z_div(tt__z_scale(tt__exp_minus_square(z), 2), below);
}
/* x, y >= 0. The nodes are those that z is not close to; the rules' error is below 3e-15. */
TT_LONG_FN tt__z tt__w_quadrant(tt__z z) {
  tt__z square = tt__z_minus(tt__minus_square(z)), sum = tt__z_of(0, 0);
  tt_f64 at = z.re * TT__TURN_SCALE, between = at - tt_floor_f64(at);
  int whole = z.im < z.re && between >= 0.25 && between <= 0.75;
  if (z.re > 1e8 || z.im > 1e8) return tt__z_div(tt__z_of(0, 0x1.20dd750429b6dp-1), z);
  for (int k = 11; k >= 0; k--) {
    tt__z below = tt__z_of(square.re - tt__w_node[whole][k], square.im);
    sum = tt__z_add(sum, tt__z_div(tt__z_of(tt__w_weight[whole][k], 0), below));
  }
  sum = tt__z_mul(sum, tt__z_of(-2 * z.im, 2 * z.re)); /* 2 i z */
  if (whole) sum = tt__z_add(sum, tt__z_div(tt__z_of(0, 1), z));
  sum = tt__z_scale(sum, TT__TURN_STEP / TT__PI);
  if (z.im >= 6.1 || square.re > 750) return sum;
  return tt__z_add(sum, tt__w_pole(z, whole ? -1 : 1));
}
TT_LONG_FN tt__z tt__w(tt__z z) {
  tt__z a = tt__z_of(tt_abs_f64(z.re), tt_abs_f64(z.im)), w = tt__w_quadrant(a);
  if (z.im < 0) { /* w(z) + w(-z) = 2 e^(-z^2), and w(-conj z) = conj w(z) */
    tt__z e = tt__exp_minus_square(a);
    w = tt__z_of(2 * e.re - w.re, w.im - 2 * e.im);
  }
  return z.re < 0 ? tt__z_of(w.re, -w.im) : w;
}
/* 2/sqrt(pi) times the sum of (-1)^k z^(2k+1) / (k! (2k + 1)); z times that of (-2 z^2)^k / (2k + 1)!!. */
TT_FN tt__z tt__erf_series(tt__z z) {
  tt__z turn = tt__minus_square(z), term = tt__z_scale(z, 0x1.20dd750429b6dp+0), sum = term;
  for (int k = 1; k < 24; k++) {
    term = tt__z_scale(tt__z_mul(term, turn), 1.0 / k);
    sum = tt__z_add(sum, tt__z_scale(term, 1.0 / (2 * k + 1)));
  }
  return sum;
}
TT_FN tt__z tt__dawsn_series(tt__z z) {
  tt__z turn = tt__minus_square(z), sum = z, term = z;
  for (int k = 1; k < 28; k++) {
    term = tt__z_scale(tt__z_mul(term, turn), 2.0 / (2 * k + 1));
    sum = tt__z_add(sum, term);
  }
  return sum;
}
TT_FN int tt__z_is_small(tt__z z) { return z.re * z.re + z.im * z.im < 1; }
/* For a real part from 0 on. A large exponential in two factors, so that a part out of range is infinite, not NaN. */
TT_LONG_FN tt__z tt__erfc_right(tt__z z) {
  tt__z s = tt__minus_square(z), y = tt__w(tt__z_of(-z.im, z.re));
  tt_f64 root = tt_exp_f64(s.re > 1400 ? 700 : 0.5 * s.re);
  if (tt_abs_f64(s.re) < 650) {
    y = tt__z_mul(y, tt__exp_minus_square(z));
    return tt__z_of(z.re == 0 ? 1 : y.re, y.im);
  }
  if (root == 0) return tt__z_of(0, 0);
  y = tt__z_mul(y, tt__z_exp(tt__z_of(s.re > 1400 ? 700 : 0.5 * s.re, s.im)));
  return tt__z_of(z.re == 0 ? 1 : y.re * root, y.im * root);
}
TT_LONG_FN tt__z tt__z_erf(tt__z z) {
  tt__z y;
  if (tt__z_is_small(z)) return tt__erf_series(z);
  if (z.re < 0) return tt__z_minus(tt__z_sub(tt__z_of(1, 0), tt__erfc_right(tt__z_minus(z))));
  y = tt__erfc_right(z);
  return tt__z_of(1 - y.re, -y.im);
}
TT_LONG_FN tt__z tt__z_erfc(tt__z z) {
  tt__z y;
  if (tt__z_is_small(z)) return tt__z_sub(tt__z_of(1, 0), tt__erf_series(z));
  if (z.re >= 0) return tt__erfc_right(z);
  y = tt__erfc_right(tt__z_minus(z));
  return tt__z_of(2 - y.re, -y.im);
}
/* i sqrt(pi)/2 (e^(-z^2) - w(z)), for an imaginary part from 0 on. */
TT_LONG_FN tt__z tt__dawsn_up(tt__z z) {
  tt__z e = tt__exp_minus_square(z), w = tt__w(z);
  return tt__z_scale(tt__z_of(w.im - e.im, e.re - w.re), 0x1.c5bf891b4ef6bp-1);
}
TT_LONG_FN tt__z tt__z_dawsn(tt__z z) {
  if (tt__z_is_small(z)) return tt__dawsn_series(z);
  if (z.im < 0) return tt__z_minus(tt__dawsn_up(tt__z_minus(z)));
  return tt__dawsn_up(z);
}
TT_LONG_FN tt_f64 tt_erf_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  return tt__z_part(tt__z_erf(tt__z_of(re, im)), part);
}
TT_LONG_FN tt_f64 tt_erfc_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  return tt__z_part(tt__z_erfc(tt__z_of(re, im)), part);
}
/* erfcx z = w(iz) */
TT_LONG_FN tt_f64 tt_erfcx_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  return tt__z_part(tt__w(tt__z_of(-im, re)), part);
}
TT_LONG_FN tt_f64 tt_dawsn_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  return tt__z_part(tt__z_dawsn(tt__z_of(re, im)), part);
}

/* ---- the gamma function */

/* The logarithm of gamma(2 + z) over z: 1 - Euler's constant, then (-1)^n (zeta(n) - 1) / n. */
TT_CONST tt_f64 tt__loggamma_series[48] = {
    0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,  -0x1.13e001a557607p-4,  0x1.51322ac7d8483p-6,
    -0x1.e404fc218f5f2p-8,  0x1.7add6eadb6c30p-9,  -0x1.38ac5c2bf8e08p-10, 0x1.0b36af86396e9p-11,
    -0x1.d3fd4c76d2fc8p-13, 0x1.a127b0f17d65ap-14, -0x1.78de5bd7c81efp-15, 0x1.580dcee66eb02p-16,
    -0x1.3cbc963ce2243p-17, 0x1.2597a39f34aacp-18, -0x1.11b2eb7679541p-19, 0x1.0064cdeb22f0fp-20,
    -0x1.e2600d93cfd2fp-22, 0x1.c76bbb3f07a4dp-23, -0x1.af5a6cbbf8a97p-24, 0x1.99b93c2070b0fp-25,
    -0x1.862c734df3eacp-26, 0x1.7469daccfadcdp-27, -0x1.6434a8447aeadp-28, 0x1.555a877ffd2c3p-29,
    -0x1.47b1679258d0ep-30, 0x1.3b15d2b2fc10cp-31, -0x1.2f69a9fabe3e0p-32, 0x1.24932a337434cp-33,
    -0x1.1a7c26ec2523cp-34, 0x1.11116e693ed98p-35, -0x1.08424cbc543d8p-36, 0x1.000026e3f644fp-37,
    -0x1.f07c514fc9f0ap-39, 0x1.e1e2026aafcd8p-40, -0x1.d41d56e5ee2e2p-41, 0x1.c71c7f6f10e37p-42,
    -0x1.bacf9a27bc89bp-43, 0x1.af28718a10d6ep-44, -0x1.a41a45603e5b6p-45, 0x1.99999c0716ee9p-46,
    -0x1.8f9c1a8df9d78p-47, 0x1.8618628d28905p-48, -0x1.7d05f4c31c560p-49, 0x1.745d17b56ba4ap-50,
    -0x1.6c16c1b4d6456p-51, 0x1.642c85c023d9dp-52, -0x1.5c9882d825e9dp-53, 0x1.555555698a866p-54};
/* Bernoulli numbers over 2k (2k - 1), over 2k: of the asymptotic series of log gamma and of digamma. */
TT_CONST tt_f64 tt__bernoulli_over[2][9] = {
    {0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11, -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11,
     -0x1.f6ab0d9993c7dp-10, 0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6, 0x1.6fe96381e0680p-3},
    {0x1.5555555555555p-4, -0x1.1111111111111p-7, 0x1.0410410410410p-8, -0x1.1111111111111p-8, 0x1.f07c1f07c1f08p-8,
     -0x1.5995995995996p-6, 0x1.5555555555555p-4, -0x1.c5e5e5e5e5e5ep-2, 0x1.86e7f9b9fe6e8p+1}};

/* The sum of row[k] / z^2k. */
TT_LONG_FN tt__z tt__bernoulli_tail(int row, tt__z z) {
  tt__z r = tt__z_div(tt__z_of(1, 0), tt__z_mul(z, z)), y = tt__z_of(tt__bernoulli_over[row][8], 0);
  for (int k = 7; k >= 0; k--) {
    y = tt__z_mul(y, r);
    y.re += tt__bernoulli_over[row][k];
  }
  return row ? tt__z_mul(y, r) : tt__z_div(y, z);
}
TT_LONG_FN tt__z tt__z_stirling(tt__z z) {
  tt__z y = tt__z_mul(tt__z_of(z.re - 0.5, z.im), tt__z_log(z));
  y = tt__z_of((y.re - z.re) + 0x1.d67f1c864beb5p-1, y.im - z.im); /* log(2 pi) / 2 */
  return tt__z_add(y, tt__bernoulli_tail(0, z));
}
/* Its zeros are at 1 and 2; |z| < 0.9. */
TT_LONG_FN tt__z tt__loggamma_beside_2(tt__z z) {
  tt__z y = tt__z_of(tt__loggamma_series[47], 0);
  for (int k = 46; k >= 0; k--) {
    y = tt__z_mul(y, z);
    y.re += tt__loggamma_series[k];
  }
  return tt__z_mul(y, z);
}
/* By the recurrence from where Stirling's series holds; the product's angle is counted where it passes a root turn. */
TT_LONG_FN tt__z tt__loggamma_up(tt__z z) {
  tt__z product = z, s;
  int turns = 0, below = 0;
  tt_f64 flip = z.im < 0 ? -1 : 1;
  z.im *= flip;
  product.im *= flip;
  for (z.re += 1; z.re <= 8; z.re += 1) {
    int now = 0;
    product = tt__z_mul(product, z);
    now = product.im < 0;
    turns += now && !below;
    below = now;
  }
  s = tt__z_sub(tt__z_stirling(z), tt__z_log(product));
  return tt__z_of(s.re, flip * (s.im - turns * (2 * TT__PI)));
}
/* sin(pi z), of an imaginary part that is not large. */
TT_LONG_FN tt__z tt__z_sinpi(tt__z z) {
  tt_f64 y = TT__PI * z.im;
  return tt__z_of(tt__sinpi(z.re) * tt_cosh_f64(y), tt__cospi(z.re) * tt_sinh_f64(y));
}
/* From 0 on, and anywhere where the imaginary part is large. */
TT_LONG_FN tt__z tt__loggamma_right(tt__z z) {
  tt__z from_1 = tt__z_of(z.re - 1, z.im), from_2 = tt__z_of(z.re - 2, z.im);
  if (z.re > 8 || tt_abs_f64(z.im) > 8) return tt__z_stirling(z);
  if (from_2.re * from_2.re + z.im * z.im < 0.8) return tt__loggamma_beside_2(from_2);
  if (from_1.re * from_1.re + z.im * z.im < 0.8)
    return tt__z_sub(tt__loggamma_beside_2(from_1), tt__z_log(z)); /* gamma(z) = gamma(1 + z) / z */
  return tt__loggamma_up(z);
}
TT_LONG_FN tt__z tt__z_loggamma(tt__z z) {
  tt_f64 turns;
  tt__z s, y;
  if (z.re != z.re || z.im != z.im) return tt__z_of(z.re + z.im, z.re + z.im);
  if (z.im == 0 && z.re <= 0 && z.re == tt_floor_f64(z.re)) return tt__z_of(TT__NAN_f64, TT__NAN_f64);
  if (z.re >= 0.1 || tt_abs_f64(z.im) > 8) return tt__loggamma_right(z);
  s = tt__z_log(tt__z_sinpi(z)); /* gamma(z) gamma(1 - z) = pi / sin(pi z) */
  y = tt__loggamma_right(tt__z_of(1 - z.re, -z.im));
  turns = tt_copysign_f64(2 * TT__PI, z.im) * tt_floor_f64(0.5 * z.re + 0.25);
  return tt__z_of((0x1.250d048e7a1bdp+0 - s.re) - y.re, (turns - s.im) - y.im); /* log pi */
}
TT_LONG_FN tt_f64 tt_loggamma_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  return tt__z_part(tt__z_loggamma(tt__z_of(re, im)), part);
}
TT_LONG_FN tt_f64 tt_gamma_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  if (im == 0 && re <= 0 && re == tt_floor_f64(re)) return TT__NAN_f64;
  if (im == 0) return part == 0 ? tt_gamma_f64(re) : im;
  return tt__z_part(tt__z_exp(tt__z_loggamma(tt__z_of(re, im))), part);
}
TT_LONG_FN tt__z tt__z_digamma_right(tt__z z) {
  tt__z sum = tt__z_of(0, 0), r, one = tt__z_of(1, 0);
  for (; z.re < 10 && tt_abs_f64(z.im) < 10; z.re += 1) sum = tt__z_add(sum, tt__z_div(one, z));
  r = tt__z_add(tt__z_scale(tt__z_div(one, z), 0.5), tt__bernoulli_tail(1, z));
  return tt__z_sub(tt__z_sub(tt__z_log(z), r), sum);
}
/* pi / tan(pi z); far from the axis that is -+ pi i. */
TT_LONG_FN tt__z tt__z_pi_cot(tt__z z) {
  tt_f64 y = TT__PI * z.im, s = tt__sinpi(z.re), c = tt__cospi(z.re), sh, ch;
  if (tt_abs_f64(y) > 20) return tt__z_of(0, tt_copysign_f64(TT__PI, -y));
  sh = tt_sinh_f64(y);
  ch = tt_cosh_f64(y);
  return tt__z_scale(tt__z_div(tt__z_of(c * ch, -s * sh), tt__z_of(s * ch, c * sh)), TT__PI);
}
TT_LONG_FN tt_f64 tt_digamma_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  tt__z z = tt__z_of(re, im);
  if (im == 0 && re <= 0 && re == tt_floor_f64(re)) return TT__NAN_f64;
  if (im == 0) return part == 0 ? tt_digamma_f64(re) : im;
  if (re >= 0 || tt_abs_f64(im) > 10) return tt__z_part(tt__z_digamma_right(z), part);
  return tt__z_part(tt__z_sub(tt__z_digamma_right(tt__z_of(1 - re, -im)), tt__z_pi_cot(z)), part);
}

/* ---- exponential integrals: cut along the negative axis, whose sides the sign of zero tells */

TT_LONG_FN tt__z tt__exp1_series(tt__z z) {
  tt__z sum = tt__z_of(1, 0), term = sum, log = tt__z_log(z), y;
  for (int k = 1; k < 150; k++) {
    term = tt__z_scale(tt__z_mul(term, z), -(tt_f64)k / ((k + 1.0) * (k + 1.0)));
    sum = tt__z_add(sum, term);
    if (tt_abs_f64(term.re) + tt_abs_f64(term.im) <= 0x1p-56 * (tt_abs_f64(sum.re) + tt_abs_f64(sum.im))) break;
  }
  y = tt__z_mul(z, sum);
  return tt__z_of((y.re - log.re) - 0x1.2788cfc6fb619p-1, y.im - log.im); /* Euler's constant */
}
/* The continued fraction, term by term: z e^z E1(z) = 1 / (1 + 1 / (z + 1 / (1 + 2 / (z + ...)))). */
TT_LONG_FN tt__z tt__exp1_fraction(tt__z z) {
  tt__z one = tt__z_of(1, 0), d = tt__z_div(one, z), step = d, sum = d;
  for (int k = 1; k < 500; k++) {
    d = tt__z_div(one, tt__z_add(tt__z_scale(d, k), one));
    step = tt__z_mul(step, tt__z_sub(d, one));
    sum = tt__z_add(sum, step);
    d = tt__z_div(one, tt__z_add(tt__z_scale(d, k), z));
    step = tt__z_mul(step, tt__z_sub(tt__z_mul(z, d), one));
    sum = tt__z_add(sum, step);
    if (tt_abs_f64(step.re) + tt_abs_f64(step.im) <= 0x1p-54 * (tt_abs_f64(sum.re) + tt_abs_f64(sum.im))) break;
  }
  return sum;
}
TT_LONG_FN tt__z tt__z_exp1(tt__z z) {
  tt_f64 size = tt_hypot_f64(z.re, z.im);
  tt__z y;
  if (size == 0) return tt__z_of(TT__INF_f64, -z.im);
  if (z.re == TT__INF_f64) return tt__z_of(0, 0);
  /* beside the imaginary axis and to the right the series cancels, close to the cut the fraction does not converge */
  if (size <= (z.re > -0.5 * tt_abs_f64(z.im) ? 1.5 : 5) || (z.re < -2 * tt_abs_f64(z.im) && size < 40))
    return tt__exp1_series(z);
  y = tt__z_mul(tt__z_exp(tt__z_minus(z)), tt__exp1_fraction(z));
  if (z.im == 0 && z.re < 0) y.im -= tt_copysign_f64(TT__PI, z.im);
  return y;
}
TT_LONG_FN tt_f64 tt_exp1_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  return tt__z_part(tt__z_exp1(tt__z_of(re, im)), part);
}
/* Ei z = -E1(-z) and root a turn, towards the side of the axis on which z is. */
TT_LONG_FN tt_f64 tt_expi_part_f64(tt_f64 re, tt_f64 im, tt_f64 part) {
  tt__z y = tt__z_minus(tt__z_exp1(tt__z_of(-re, -im)));
  if (im != 0 || re > 0) y.im += tt_copysign_f64(TT__PI, im);
  return tt__z_part(y, part);
}

/* ---- Lambert's W: w e^w = z, of branch k */

TT_LONG_FN tt__z tt__lambertw_start(tt__z z, tt_f64 k) {
  tt__z from = tt__z_of(z.re + 0x1.78b56362cef38p-2, z.im), p, w; /* 1/e */
  tt_f64 beside = from.re * from.re + from.im * from.im;
  if (k == 0 && beside < 0.09) { /* -1 + p - p^2/3 + 11 p^3/72 with p = sqrt(2 (e z + 1)) */
    p = tt__z_scale(tt__z_log(tt__z_scale(from, 0x1.5bf0a8b145769p+2)), 0.5);
    p = beside == 0 ? tt__z_of(0, 0) : tt__z_exp(p);
    w = tt__z_add(tt__z_scale(p, 11.0 / 72), tt__z_of(-1.0 / 3, 0));
    return tt__z_sub(tt__z_mul(tt__z_add(tt__z_mul(w, p), tt__z_of(1, 0)), p), tt__z_of(1, 0));
  }
  /* beside 0, but not towards the cut, where log(1 + z) goes elsewhere */
  if (k == 0 && tt_abs_f64(z.im) < 1 && z.re > -1 && z.re < 1.5 && z.re > -0.2 - 2.5 * tt_abs_f64(z.im))
    return tt__z_log(tt__z_of(1 + z.re, z.im));
  if (k == -1 && z.im == 0 && z.re < 0 && z.re >= -0x1.78b56362cef38p-2) {
    p = tt__z_of(-1 - TT_SQRT_F64(2 * (0x1.5bf0a8b145769p+1 * from.re > 0 ? 0x1.5bf0a8b145769p+1 * from.re : 0)), 0);
    return z.re < -0.2 ? p : tt__z_of(tt_log_f64(-z.re) - tt_log_f64(-tt_log_f64(-z.re)), 0);
  }
  w = tt__z_log(z);
  w.im += 2 * TT__PI * k;
  return tt__z_sub(w, tt__z_log(w));
}
TT_LONG_FN tt__z tt__z_lambertw(tt__z z, tt_f64 k) {
  tt__z w, one = tt__z_of(1, 0);
  if (z.re != z.re || z.im != z.im) return z;
  if (z.re == TT__INF_f64) return tt__z_of(z.re, z.im + 2 * TT__PI * k);
  if (z.re == -TT__INF_f64) return tt__z_of(-z.re, z.im + 2 * TT__PI * k + TT__PI);
  if (z.re == 0 && z.im == 0) return k == 0 ? z : tt__z_of(-TT__INF_f64, 0);
  w = tt__lambertw_start(z, k);
  for (int turn = 0; turn < 60; turn++) {
    /* Halley's step; e^w where it is small, e^-w where it is not */
    int right = w.re >= 0;
    tt__z e = tt__z_exp(right ? tt__z_minus(w) : w), up = tt__z_add(w, one), miss, below, by;
    miss = right ? tt__z_sub(w, tt__z_mul(z, e)) : tt__z_sub(tt__z_mul(w, e), z);
    if (miss.re == 0 && miss.im == 0) break;
    below = right ? up : tt__z_mul(e, up);
    by = tt__z_div(tt__z_mul(tt__z_add(up, one), miss), tt__z_scale(up, 2));
    by = tt__z_div(miss, tt__z_sub(below, by));
    w = tt__z_sub(w, by);
    if (tt_abs_f64(by.re) + tt_abs_f64(by.im) <= 0x1p-51 * (tt_abs_f64(w.re) + tt_abs_f64(w.im))) break;
  }
  return w;
}
/* `which` is 2 k + part: functions have three operands at most. */
TT_LONG_FN tt_f64 tt_lambertw_part_f64(tt_f64 re, tt_f64 im, tt_f64 which) {
  tt_f64 k = tt_floor_f64(0.5 * which);
  return k == k ? tt__z_part(tt__z_lambertw(tt__z_of(re, im), k), which - 2 * k) : k;
}
/* The branches that are real: 0 from -1/e on, -1 between that and 0. */
TT_LONG_FN tt_f64 tt_lambertw_f64(tt_f64 x, tt_f64 k) {
  tt__z w = tt__z_lambertw(tt__z_of(x, 0), tt_floor_f64(k));
  return w.im == 0 && x == x ? w.re : TT__NAN_f64;
}

/* ---- float32: the same, rounded */
TT__THROUGH_3(erf_part)
TT__THROUGH_3(erfc_part)
TT__THROUGH_3(erfcx_part)
TT__THROUGH_3(dawsn_part)
TT__THROUGH_3(gamma_part)
TT__THROUGH_3(loggamma_part)
TT__THROUGH_3(digamma_part)
TT__THROUGH_3(exp1_part)
TT__THROUGH_3(expi_part)
TT__THROUGH_3(lambertw_part)
TT__THROUGH_2(lambertw)

#endif
