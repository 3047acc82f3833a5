/*
** The third part of the prelude: f32 functions. It follows prelude_f64.h, includes
** nothing itself, and keeps prelude.h's rules.
*/
#ifndef TT_SCALAR_PRELUDE_F32_H
#define TT_SCALAR_PRELUDE_F32_H

/* ---- f32 in f32 ----------------------------------------------------------
** The same methods with shorter polynomials, for the functions whose speed is felt.
*/
#define TT__MAGIC_F 0x1.8p23f
#define TT__LN2_HI_F 0x1.62e4p-1f /* 15 bits */
#define TT__LN2_LO_F 0x1.7f7d1cp-20f
/*
** a * b + c, rounded once. Without the instruction: the product is exact in f64, the sum there is rounded to odd (what
** it lost goes into its last bit), which leaves the right bits for the rounding to f32.
*/
#ifndef TT_FMA_F32
#define TT_FMA_F32(a, b, c) tt__fma_f32(a, b, c)
#define TT__EXACT_F32(a, b, c) ((a) * (b) + (c)) /* where the product is exact: the same bits */
TT_FN tt_f32 tt__fma_f32(tt_f32 a, tt_f32 b, tt_f32 c) {
  tt__dd s = tt__two_sum((tt_f64)a * (tt_f64)b, (tt_f64)c);
  tt_u64 u = tt__bits_f64(s.hi), down = (u ^ tt__bits_f64(s.lo)) >> 63;
  tt_f64 odd = tt__from_f64(u + ((1 - 2 * down) & ((u & 1) - 1)));
  return (tt_f32)(((s.lo > 0) | (s.lo < 0)) != 0 ? odd : s.hi); /* nothing is lost of infinities and NaN */
}
#else
#define TT__EXACT_F32(a, b, c) TT_FMA_F32(a, b, c)
#endif
/* Polynomials as TT__P3 and on, of fused multiply-adds. */
#define TT__G2(x, a, b) TT_FMA_F32(x, b, a)
#define TT__G3(x, a, b, c) TT_FMA_F32(x, TT__G2(x, b, c), a)
#define TT__G4(x, a, b, c, d) TT_FMA_F32(x, TT__G3(x, b, c, d), a)
#define TT__Q3(x, a, b, c) TT_FMA_F32(x, b, TT__G2((x) * (x), a, c))
#define TT__Q4(x, a, b, c, d) TT_FMA_F32(x, TT__G2((x) * (x), b, d), TT__G2((x) * (x), a, c))
#define TT__Q5(x, a, b, c, d, e) TT_FMA_F32(x, TT__G2((x) * (x), b, d), TT__G3((x) * (x), a, c, e))
#define TT__Q6(x, a, b, c, d, e, f) TT_FMA_F32(x, TT__G3((x) * (x), b, d, f), TT__G3((x) * (x), a, c, e))
#define TT__Q8(x, a, b, c, d, e, f, g, h) TT_FMA_F32(x, TT__G4((x) * (x), b, d, f, h), TT__G4((x) * (x), a, c, e, g))
TT_FN tt_f32 tt__pow2_f32(tt_f32 t) { return tt__from_f32((tt__bits_f32(t) + 127) << 23); }
/*
** y * 2^k for y in [0.5, 2), |k| <= 180, t = TT__MAGIC_F + k. The exponent is moved by 64 too little and the rest
** multiplied, which rounds once. y - y: a NaN's bits do not outlive the first step.
*/
TT_FN tt_f32 tt__power_f32(tt_f32 y, tt_f32 t, tt_f32 k) {
  tt_u32 m = 0x5f800000u ^ (tt__bits_f32(k) >> 1 & 0x40000000u); /* 2^64, 2^-64 */
  tt_f32 most = tt__from_f32(tt__bits_f32(y) + (tt__bits_f32(t) << 23) - (m - 0x3f800000u));
  return TT__EXACT_F32(most, tt__from_f32(m), y - y);
}
#ifdef TT_CLAMP_F32
TT_FN tt_f32 tt__clamp_f32(tt_f32 x, tt_f32 low, tt_f32 high) { return TT_CLAMP_F32(x, low, high); }
#else
TT_FN tt_f32 tt__clamp_f32(tt_f32 x, tt_f32 low, tt_f32 high) { return x < low ? low : x > high ? high : x; }
#endif
/* x / ln 2 rounded, above TT__MAGIC_F; e to what x has beyond k ln 2, less 1, in [-0.3, 0.42] (job expf). */
TT_FN tt_f32 tt__exp_turn_f32(tt_f32 x) { return TT_FMA_F32(x, 0x1.715476p+0f, TT__MAGIC_F); }
TT_FN tt_f32 tt__exp_left_f32(tt_f32 x, tt_f32 k) {
  return TT_FMA_F32(-k, TT__LN2_LO_F, TT__EXACT_F32(-k, TT__LN2_HI_F, x));
}
TT_FN tt_f32 tt__exp_poly_f32(tt_f32 r) {
  return TT__Q5(r, 0x1.fffffcp-2f, 0x1.555496p-3f, 0x1.5558d6p-5f, 0x1.1237ccp-7f, 0x1.6a2d5ap-10f);
}
TT_FN tt_f32 tt__exp_rest_f32(tt_f32 x, tt_f32 k) {
  tt_f32 r = tt__exp_left_f32(x, k);
  return TT_FMA_F32(r * r, tt__exp_poly_f32(r), r);
}
/* e^x * 2^shift, |x| <= 110, |shift| <= 1. */
TT_FN tt_f32 tt__exp_scaled_f32(tt_f32 x, tt_f32 shift) {
  tt_f32 t = tt__exp_turn_f32(x), k = t - TT__MAGIC_F, y = 1 + tt__exp_rest_f32(x, k);
  return shift == 0 ? tt__power_f32(y, t, k) : tt__power_f32(y, t + shift, k);
}
TT_FN tt_f32 tt_exp_f32(tt_f32 x) { return tt__exp_scaled_f32(tt__clamp_f32(x, -110, 100), 0); }
/* 2^r - 1, |r| <= 0.5 (job exp2f) */
TT_FN tt_f32 tt__exp2_rest_f32(tt_f32 r) {
  tt_f32 p;
  p = TT__Q6(r, 0x1.ebfbe0p-3f, 0x1.c6b08ep-5f, 0x1.3b29fcp-7f, 0x1.5d8744p-10f, 0x1.445796p-13f, 0x1.00e256p-16f);
  p = TT_FMA_F32(r * r, p, r * -0x1.05c610p-29f);
  return TT_FMA_F32(r, 0x1.62e430p-1f, p);
}
TT_FN tt_f32 tt_exp2_f32(tt_f32 x) {
  tt_f32 v = tt__clamp_f32(x, -160, 140), t = v + TT__MAGIC_F, k = t - TT__MAGIC_F;
  return tt__power_f32(1 + tt__exp2_rest_f32(v - k), t, k);
}
/* 2^k (e^r - 1 - r) + (2^k r + (2^k - 1)), each half as large, so that 2^128 has a place. */
TT_FN tt_f32 tt_expm1_f32(tt_f32 x) {
  tt_f32 v = tt__clamp_f32(x, -25, 89), t = tt__exp_turn_f32(v), k = t - TT__MAGIC_F, r = tt__exp_left_f32(v, k);
  tt_f32 part = tt__from_f32((tt__bits_f32(t) + 126) << 23), e = r * r * tt__exp_poly_f32(r);
  tt_f32 y = 2 * TT_FMA_F32(part, e, TT_FMA_F32(part, r, part - 0.5f));
  y = k == 0 ? r + e : y;
  return x == 0 ? x : y;
}

/* x is (1 + f) 2^(k / 2^23), f in [-1/3, 1/3]: k is a shift away from the exponent, and goes without it. */
typedef struct tt__split_f32 {
  tt_f32 k, f;
} tt__split_f32;
TT_FN tt__split_f32 tt__log_split_normal(tt_f32 x) {
  tt_u32 u = tt__bits_f32(x), e = (u - 0x3f2aaaabu) & 0xff800000u; /* 2/3 */
  tt__split_f32 r;
  r.k = (tt_f32)(tt_i32)e;
  r.f = tt__from_f32(u - e) - 1;
  return r;
}
TT_FN tt__split_f32 tt__log_split_f32(tt_f32 x) {
  int tiny = x < 0x1p-126f;
  tt__split_f32 r = tt__log_split_normal(tiny ? x * 0x1p24f : x);
  r.k -= tiny ? 24 * 0x1p23f : 0;
  return r;
}
/* (log(1 + f) - f + f^2/2) / f^3 (job logf) */
TT_FN tt_f32 tt__log_poly_f32(tt_f32 f) {
  return TT__Q8(f, 0x1.55551ap-2f, -0x1.fffe80p-3f, 0x1.99c95ap-3f, -0x1.55b32ep-3f, 0x1.1f36d4p-3f, -0x1.f0a7d2p-4f,
                0x1.1cc60ap-3f, -0x1.0d64d4p-3f);
}
TT_FN tt_f32 tt__log_ends_f32(tt_f32 x, tt_f32 y) {
#ifdef TT_SCALAR_LANES
  if (tt__bits_f32(x) - 1u < 0x7f7fffffu) return y; /* above 0 and finite */
#endif
  y = x == TT__INF_f32 ? x : y;
  y = x == 0 ? -TT__INF_f32 : y;
  y = x < 0 ? TT__NAN_f32 : y;
  return x != x ? x : y;
}
/* The logarithm of what was split, `more` added to the lower part of that of the power of two. */
TT_FN tt_f32 tt__log_join_f32(tt__split_f32 a, tt_f32 more) {
  tt_f32 y = TT_FMA_F32(a.f * a.f, TT_FMA_F32(a.f, tt__log_poly_f32(a.f), -0.5f), a.f);
  return TT__EXACT_F32(a.k, TT__LN2_HI_F * 0x1p-23f, TT_FMA_F32(a.k, TT__LN2_LO_F * 0x1p-23f, y + more));
}
TT_FN tt_f32 tt_log_f32(tt_f32 x) {
#ifdef TT_SCALAR_LANES
  if (tt__bits_f32(x) - 0x800000u < 0x7f000000u) /* positive, finite and normal */
    return tt__log_join_f32(tt__log_split_normal(x), -0.0f);
#endif
  return tt__log_ends_f32(x, tt__log_join_f32(tt__log_split_f32(x), -0.0f));
}
#ifdef TT_NEAR_F32
/* ---- near forms without a branch ------------------------------------------
** Devices divide in ten instructions and a branch to a function for operands far out; a branch for each quotient keeps
** a thread's lanes from being computed side by side. Near forms have the ten instructions less the branch, and what
** tells that a result is not right is looked at once for many lanes.
**
** Quotients: y is 1/b rounded (tests/gpu has it for every b), q is within a unit of a/b, and what q leaves of a is
** exact; then q + rest * y, rounded once, is a/b rounded (Markstein). This holds where nothing on the way leaves the
** normal numbers: b and 1/b, or else the guess is 0 or infinite, and the quotient 0 or NaN; the quotient itself; the
** rest, whose last bit is 2^-47 of a. Neither 0 nor NaN nor what is too small passes the comparisons, and an infinite
** q leaves a NaN. Roots: the same with s = sqrt(x), of which every x is tested. |y|: -0 and less than 0 give no +inf.
*/
TT_FN tt_f32 tt_near_reciprocal_f32(tt_f32 b) {
  tt_f32 y = tt__guess_reciprocal(b);
  return TT_FMA_F32(y, TT_FMA_F32(-b, y, 1), y);
}
TT_FN tt_b8 tt_far_reciprocal_f32(tt_f32 b) { return (tt_b8) !(TT_SIZE_F32(tt_near_reciprocal_f32(b)) > 0x1p-126f); }
TT_FN tt_f32 tt_near_div_f32(tt_f32 a, tt_f32 b) {
  tt_f32 y = tt_near_reciprocal_f32(b), q = a * y;
  return TT_FMA_F32(y, TT_FMA_F32(-b, q, a), q);
}
TT_FN tt_b8 tt_far_div_f32(tt_f32 a, tt_f32 b) {
  return (tt_b8)(!(TT_SIZE_F32(tt_near_div_f32(a, b)) > 0x1p-124f) | !(TT_SIZE_F32(a) > 0x1p-100f));
}
TT_FN tt_f32 tt_near_sqrt_f32(tt_f32 x) {
  tt_f32 y = tt__guess_root(x), s = x * TT_SIZE_F32(y);
  return TT_FMA_F32(0.5f * y, TT_FMA_F32(-s, s, x), s);
}
TT_FN tt_b8 tt_far_sqrt_f32(tt_f32 x) { return (tt_b8) !(tt_near_sqrt_f32(x) > 0x1p-50f); }
/* The exponent is 125 at most for positive, normal, finite numbers alone, if not for all of them. */
TT_FN tt_f32 tt_near_log_f32(tt_f32 x) { return tt__log_join_f32(tt__log_split_normal(x), -0.0f); }
TT_FN tt_b8 tt_far_log_f32(tt_f32 x) { return (tt_b8) !(TT_SIZE_F32(tt__log_split_normal(x).k) < 125.5f * 0x1p23f); }
/* Up to 2^103, 2^(k + 24) and then 2^-24 are factors for all k: the second product rounds where it is subnormal. */
TT_FN tt_f32 tt_near_exp_f32(tt_f32 x) {
  tt_f32 v = TT_MOST_F32(x, -104), t = tt__exp_turn_f32(v), y = tt__exp_rest_f32(v, t - TT__MAGIC_F);
  tt_f32 power = tt__from_f32((tt__bits_f32(t) << 23) + ((127u + 24u) << 23));
  return TT_FMA_F32(y, power, power) * 0x1p-24f;
}
TT_FN tt_b8 tt_far_exp_f32(tt_f32 x) { return (tt_b8) !(x < 71.0f); }
#endif
TT_FN tt_f32 tt_log1p_f32(tt_f32 x) {
  tt_f32 u = 1 + x, t = u - 1, c = ((1 - (u - t)) + (x - t)) / u, y;
  tt__split_f32 a = tt__log_split_f32(u);
  y = tt__log_ends_f32(u, tt__log_join_f32(a, x > 0x1p30f ? 0 : c));
  return x == 0 ? x : y;
}
/* k log_b 2 + log(1 + f) / log b: both factors in two parts, the first of the power of two short, so that k times it is
 * exact. */
TT_FN tt_f32 tt__log_base_join_f32(tt__split_f32 a, tt_f32 ihi, tt_f32 ilo, tt_f32 khi, tt_f32 klo) {
  tt_f32 r = a.f * a.f * TT_FMA_F32(a.f, tt__log_poly_f32(a.f), -0.5f);
  tt_f32 y = a.k * khi, b = a.f * ihi, v = y + b, e = b - (v - y); /* |b| < |y|, or y is 0 */
  tt_f32 low = TT_FMA_F32(a.f, ilo, TT_FMA_F32(a.k, klo, TT_FMA_F32(a.f, ihi, -b)));
  return v + (TT_FMA_F32(r, ihi, low) + e);
}
TT_FN tt_f32 tt__log_base_f32(tt_f32 x, tt_f32 ihi, tt_f32 ilo, tt_f32 khi, tt_f32 klo) {
#ifdef TT_SCALAR_LANES
  if (tt__bits_f32(x) - 0x800000u < 0x7f000000u) /* positive, finite and normal */
    return tt__log_base_join_f32(tt__log_split_normal(x), ihi, ilo, khi, klo);
#endif
  return tt__log_ends_f32(x, tt__log_base_join_f32(tt__log_split_f32(x), ihi, ilo, khi, klo));
}
TT_FN tt_f32 tt_log2_f32(tt_f32 x) { return tt__log_base_f32(x, 0x1.715476p+0f, 0x1.4ae0c0p-26f, 0x1p-23f, 0); }
TT_FN tt_f32 tt_log10_f32(tt_f32 x) {
  return tt__log_base_f32(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-25f, 0x1.3509f8p-41f);
}

/* ---- powers, f32 ---------------------------------------------------------
** |x|^y = 2^(y log2|x|). x = 2^k m, m in [sqrt(1/2), sqrt(2)), f = m - 1, s = f/(2 + f), z = s*s: the logarithm of m is
** s 2/ln2 + s z p(z) (job powf), in two numbers: s and its product with 2/ln2 leave what they lost, which counts
** 1/(1 - z) times in s. Near ones: see those of f64.
*/
typedef struct tt__two_f32 {
  tt_f32 hi, lo;
} tt__two_f32;
TT_FN tt__split_f32 tt__pow_split_normal(tt_f32 x) {
  tt_u32 u = tt__bits_f32(x), e = (u - 0x3f3504f3u) & 0xff800000u; /* sqrt(1/2) */
  tt__split_f32 r;
  r.k = (tt_f32)(tt_i32)e;
  r.f = tt__from_f32(u - e) - 1;
  return r;
}
TT_FN tt__split_f32 tt__pow_split(tt_f32 x) {
  int tiny = x < 0x1p-126f;
  tt__split_f32 r = tt__pow_split_normal(tiny ? x * 0x1p24f : x);
  r.k -= tiny ? 24 * 0x1p23f : 0;
  return r;
}
TT_FN tt__two_f32 tt__log2_two(tt__split_f32 a) {
  tt_f32 d = 2 + a.f, dl = a.f - (d - 2), inv = 1 / d, s = a.f * inv, z = s * s, k = a.k * 0x1p-23f, sl, t, low;
  tt__two_f32 r;
  sl = TT_FMA_F32(-s, dl, TT_FMA_F32(-s, d, a.f)) * inv;
  t = s * 0x1.715476p+1f;
  low = TT_FMA_F32(s, 0x1.4ae0c0p-25f, TT_FMA_F32(s, 0x1.715476p+1f, -t));
  low = TT_FMA_F32(sl, TT_FMA_F32(z, 0x1.715476p+1f, 0x1.715476p+1f), low);
  low = TT_FMA_F32(s * z, TT__Q4(z, 0x1.ec709cp-1f, 0x1.27782ap-1f, 0x1.a5366cp-2f, 0x1.63268ep-2f), low);
  r.hi = k + t; /* |t| < |k|, or k is 0 */
  r.lo = ((k - r.hi) + t) + low;
  return r;
}
TT_FN tt__two_f32 tt__pow_exponent_f32(tt__split_f32 a, tt_f32 y) {
  tt__two_f32 l = tt__log2_two(a), e;
  tt_f32 p = y * l.hi, q = TT_FMA_F32(y, l.lo, TT_FMA_F32(y, l.hi, -p));
  e.hi = p + q;
  e.lo = (p - e.hi) + q;
  return e;
}
TT_FN tt_f32 tt_pow_f32(tt_f32 x, tt_f32 y) {
  tt__two_f32 e = tt__pow_exponent_f32(tt__pow_split(tt_abs_f32(x)), tt__clamp_f32(y, -0x1p33f, 0x1p33f));
  tt_f32 v = tt__clamp_f32(e.hi, -160, 140), lo = v == e.hi ? e.lo : 0, t = v + TT__MAGIC_F, k = t - TT__MAGIC_F;
  return tt__pow_ends_f32(x, y, tt__power_f32(1 + tt__exp2_rest_f32((v - k) + lo), t, k));
}
TT_FN tt_f32 tt_near_pow_f32(tt_f32 x, tt_f32 y) {
  tt__two_f32 e = tt__pow_exponent_f32(tt__pow_split_normal(x), y);
  tt_f32 t = e.hi + TT__MAGIC_F, r = 1 + tt__exp2_rest_f32((e.hi - (t - TT__MAGIC_F)) + e.lo);
  r = tt__from_f32(tt__bits_f32(r) + (tt__bits_f32(t) << 23));
  return x == 0 ? 0 : r;
}
TT_FN tt_b8 tt_far_pow_f32(tt_f32 x, tt_f32 y) {
  tt_u32 u = tt__bits_f32(x);
  tt_f32 reach = (tt_abs_f32(tt__pow_split_normal(x).k) + 0x1p23f) * tt_abs_f32(y);
  int near = (u - 0x800000u < 0x7f000000u) & (reach < 126 * 0x1p23f), none = (u == 0) & (y > 0);
  return (tt_b8) !(near | none);
}

TT_FN tt_b8 tt__log_base_far_f32(tt_f32 x) { return (tt_b8) !(tt__bits_f32(x) - 0x800000u < 0x7f000000u); }
TT_FN tt_f32 tt_near_log2_f32(tt_f32 x) {
  return tt__log_base_join_f32(tt__log_split_normal(x), 0x1.715476p+0f, 0x1.4ae0c0p-26f, 0x1p-23f, 0);
}
TT_FN tt_b8 tt_far_log2_f32(tt_f32 x) { return tt__log_base_far_f32(x); }
TT_FN tt_f32 tt_near_log10_f32(tt_f32 x) {
  return tt__log_base_join_f32(tt__log_split_normal(x), 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-25f,
                               0x1.3509f8p-41f);
}
TT_FN tt_b8 tt_far_log10_f32(tt_f32 x) { return tt__log_base_far_f32(x); }
TT_FN tt_f32 tt_logaddexp_f32(tt_f32 a, tt_f32 b) {
  tt_f32 m = a > b ? a : b, d = a > b ? b - a : a - b, y = m + tt_log1p_f32(tt_exp_f32(d));
  y = a == b ? a + 0x1.62e430p-1f : y;
  return ((a != a) | (b != b)) ? a + b : y;
}

/* Scaled so that squares neither overflow nor vanish; near where they need not be. */
TT_FN tt_f32 tt__squares_f32(tt_f32 a, tt_f32 b) { return TT_SQRT_F32(TT_FMA_F32(a, a, b * b)); }
TT_FN tt_f32 tt_hypot_f32(tt_f32 x, tt_f32 y) {
  tt_f32 a = tt_abs_f32(x), b = tt_abs_f32(y), m = a > b ? a : b, up, down, h;
  int big = m > 0x1p60f, tiny = m < 0x1p-50f;
  up = big ? 0x1p-70f : 1;
  down = big ? 0x1p70f : 1;
  up = tiny ? 0x1p90f : up;
  down = tiny ? 0x1p-90f : down;
  h = tt__squares_f32(a * up, b * up) * down;
  return (tt_isinf_f32(x) | tt_isinf_f32(y)) != 0 ? TT__INF_f32 : h;
}
TT_FN tt_f32 tt_near_hypot_f32(tt_f32 x, tt_f32 y) { return tt__squares_f32(x, y); }
TT_FN tt_b8 tt_far_hypot_f32(tt_f32 x, tt_f32 y) {
  tt_f32 a = tt_abs_f32(x), b = tt_abs_f32(y), m = a > b ? a : b;
  return (tt_b8) !((a <= 0x1p60f) & (b <= 0x1p60f) & ((m >= 0x1p-50f) | (m == 0)));
}

#ifndef TT_NARROW_MATH
/*
** Angles of f32: near, below TT__TRIG_NEAR_F, by pi/2 in three parts, the first product exact and so the difference;
** else in f64 by the bits of 2/pi that matter for one of three ranges of the exponent, in parts of 29 bits (then 53)
** whose products with x are exact, whole turns dropped.
*/
/* 2/pi from the bit of weight 2^-1, 2^-35 and 2^-70 down. */
#define TT__TURN_A0 0x1.45f306d000000p-1
#define TT__TURN_A1 0x1.9391054000000p-30
#define TT__TURN_A2 0x1.4fe13ab000000p-59
#define TT__TURN_A3 0x1.d1f534ddc0db6p-88
#define TT__TURN_B0 0x1.c882a50000000p-37
#define TT__TURN_B1 0x1.fc2757d000000p-64
#define TT__TURN_B2 0x1.f534dd8000000p-96
#define TT__TURN_B3 0x1.036d8a5664f11p-122
#define TT__TURN_C0 0x1.09d5f47000000p-70
#define TT__TURN_C1 0x1.a9a6ee0000000p-99
#define TT__TURN_C2 0x1.b6c52b2000000p-129
#define TT__TURN_C3 0x1.278872083fca3p-157
typedef struct tt__angle_f32 {
  tt_f32 r, lo;
  tt_u32 q;
} tt__angle_f32;
TT_FN tt__angle_f32 tt__angle_narrow(tt_f64 r, tt_f64 t) {
  tt__angle_f32 g;
  g.r = (tt_f32)r;
  g.lo = (tt_f32)(r - (tt_f64)g.r);
  g.q = (tt_u32)tt__bits_f64(t);
  return g;
}
#define TT__TRIG_NEAR_F 0x1p17f
TT_FN tt__angle_f32 tt__angle_near_f32(tt_f32 x) {
  tt_f32 t = TT_FMA_F32(x, 0x1.45f306p-1f, TT__MAGIC_F), k = t - TT__MAGIC_F, r = TT_FMA_F32(-k, 0x1.921fb6p+0f, x);
  tt_f32 p = k * 0x1.777a5cp-25f, low = TT_FMA_F32(k, 0x1.ee59dap-50f, TT_FMA_F32(k, 0x1.777a5cp-25f, -p)), b;
  tt__angle_f32 g;
  g.r = r + p;
  b = g.r - r;
  g.lo = ((r - (g.r - b)) + (p - b)) + low;
  g.q = tt__bits_f32(t);
  return g;
}
TT_FN tt__angle_f32 tt__angle_f32_of(tt_f32 x) {
  tt_f64 v = (tt_f64)x, a = tt_abs_f64(v), t, k, r;
  int near = a < TT__TRIG_NEAR_F, mid = a < 0x1p59, high = a < 0x1p94;
  tt_f64 c0 = mid ? TT__TURN_A0 : high ? TT__TURN_B0 : TT__TURN_C0;
  tt_f64 c1 = mid ? TT__TURN_A1 : high ? TT__TURN_B1 : TT__TURN_C1;
  tt_f64 c2 = mid ? TT__TURN_A2 : high ? TT__TURN_B2 : TT__TURN_C2;
  tt_f64 c3 = mid ? TT__TURN_A3 : high ? TT__TURN_B3 : TT__TURN_C3;
  tt_f64 p0 = v * c0, p1 = v * c1, p2 = v * c2;
  tt__angle_f32 g, n;
  tt__dd s;
  p0 -= 4 * tt_rint_f64(p0 * 0.25);
  p1 -= 4 * tt_rint_f64(p1 * 0.25);
  t = ((p0 + p1) + p2) + TT__MAGIC;
  k = t - TT__MAGIC;
  s = tt__two_sum(p0 - k, p1);
  r = (s.hi + (p2 + (s.lo + v * c3))) * TT__PIO2_HI;
  g = tt__angle_narrow(a < TT__INF_f64 ? r : TT__NAN_f64, t);
  n = tt__angle_near_f32(x);
  g.r = near ? n.r : g.r;
  g.lo = near ? n.lo : g.lo;
  g.q = near ? n.q : g.q;
  return g;
}
#define TT__SINF(z) TT__Q3(z, -0x1.555548p-3f, 0x1.11080ep-7f, -0x1.997db0p-13f) /* job sinf */
#define TT__COSF(z) TT__Q3(z, 0x1.55554cp-5f, -0x1.6c0d00p-10f, 0x1.9a1f76p-16f) /* job cosf */
TT_FN tt_f32 tt__sin_poly_f32(tt__angle_f32 g) {
  tt_f32 z = g.r * g.r;
  return g.r + TT_FMA_F32(g.r * z, TT__SINF(z), g.lo * TT_FMA_F32(-0.5f, z, 1));
}
TT_FN tt_f32 tt__cos_poly_f32(tt__angle_f32 g) {
  tt_f32 z = g.r * g.r, w = TT_FMA_F32(-0.5f, z, 1);
  return w + (TT_FMA_F32(-0.5f, z, 1 - w) + TT_FMA_F32(z * z, TT__COSF(z), -(g.r * g.lo)));
}
TT_FN tt_f32 tt__sin_turn_f32(tt__angle_f32 g, tt_u32 add) {
  tt_u32 q = g.q + add;
  tt_f32 s = tt__sin_poly_f32(g), c = tt__cos_poly_f32(g), y = (q & 1) != 0 ? c : s;
  return (q & 2) != 0 ? -y : y;
}
TT_FN tt_f32 tt__tan_turn_f32(tt__angle_f32 g) {
  tt_f32 z = g.r * g.r, w = 1 - 0.5f * z, t;
  tt_f32 ps = g.r * z * TT__SINF(z) + g.lo * w, pc = ((1 - w) - 0.5f * z) + (z * z * TT__COSF(z) - g.r * g.lo);
  tt_f32 s = g.r + ps, c = w + pc, sl = ps - (s - g.r), cl = pc - (c - w);
  int odd = (g.q & 1) != 0;
  tt_f32 n = odd ? -c : s, nl = odd ? -cl : sl, d = odd ? s : c, dl = odd ? sl : cl;
  t = n / d;
  return t + (nl - t * dl) / d;
}
#define TT__TRIG_F32(NAME, ANGLE)                                                     \
  TT_FN tt_f32 tt_##NAME##sin_f32(tt_f32 x) {                                         \
    tt_f32 y = tt__sin_turn_f32(ANGLE(x), 0);                                         \
    return x == 0 ? x : y;                                                            \
  }                                                                                   \
  TT_FN tt_f32 tt_##NAME##cos_f32(tt_f32 x) { return tt__sin_turn_f32(ANGLE(x), 1); } \
  TT_FN tt_f32 tt_##NAME##tan_f32(tt_f32 x) {                                         \
    tt_f32 y = tt__tan_turn_f32(ANGLE(x));                                            \
    return x == 0 ? x : y;                                                            \
  }
TT__TRIG_F32(, tt__angle_f32_of)
TT__TRIG_F32(near_, tt__angle_near_f32)
TT_FN tt_b8 tt_far_sin_f32(tt_f32 x) { return (tt_b8)(tt_abs_f32(x) >= TT__TRIG_NEAR_F); }
TT_FN tt_b8 tt_far_cos_f32(tt_f32 x) { return tt_far_sin_f32(x); }
TT_FN tt_b8 tt_far_tan_f32(tt_f32 x) { return tt_far_sin_f32(x); }
#endif

/*
** Normal draws, as those of f64: two words are a radius, at most 6.76 (the root of 66 log 2), and an angle. A word that
** rounds to 1 has log 0; what is added then keeps the root's short form right, and changes nothing else.
*/
typedef struct tt__pair_f32 {
  tt_f32 even, odd;
} tt__pair_f32;
#ifdef TT_NEAR_F32
#define TT__ROOT_NEAR_F32(x) tt_near_sqrt_f32(x)
#else
#define TT__ROOT_NEAR_F32(x) TT_SQRT_F32(x)
#endif
TT_FN tt__pair_f32 tt__normals_f32(tt_u32 r, tt_u32 t) {
  tt_f32 y = tt__log_join_f32(tt__log_split_normal(TT__EXACT_F32((tt_f32)r, 0x1p-32f, 0x1p-33f)), -0.0f);
  tt_f32 x = (tt_f32)(tt_i32)(t << 2) * 0x1.921fb6p-32f, z = x * x, s, c;
  tt_u32 q = t + (1u << 29);
  tt__pair_f32 out;
  y = TT__ROOT_NEAR_F32(TT__EXACT_F32(y, -2, 0x1p-80f));
  s = TT_FMA_F32(x * z, TT__G3(z, -0x1.555548p-3f, 0x1.11080ep-7f, -0x1.997db0p-13f), x); /* jobs sinf, cosf */
  c = TT_FMA_F32(z, TT__G4(z, -0.5f, 0x1.55554cp-5f, -0x1.6c0d00p-10f, 0x1.9a1f76p-16f), 1);
  out.even = y * tt__from_f32(tt__pick_u32(q >> 30, tt__bits_f32(c), tt__bits_f32(s)));
  out.odd = y * tt__from_f32(tt__pick_u32(q >> 30, tt__bits_f32(s), tt__bits_f32(c)));
  out.even = tt__from_f32(tt__bits_f32(out.even) ^ ((q + (1u << 30)) & 1u << 31));
  out.odd = tt__from_f32(tt__bits_f32(out.odd) ^ (q & 1u << 31));
  return out;
}
TT_FN tt_f32 tt_normal_f32(tt_u64 place, tt_u64 start, tt_u64 key) {
  tt__block w = tt__philox(start + (place >> 2), key);
  tt__pair_f32 z = tt__normals_f32(tt__pick_u32(place >> 1, w.a, w.c), tt__pick_u32(place >> 1, w.b, w.d));
  return tt__from_f32(tt__pick_u32(place, tt__bits_f32(z.even), tt__bits_f32(z.odd)));
}
TT_FN void tt__put_normals_f32(tt_f32 *o, tt_u32 r, tt_u32 t) {
  tt__pair_f32 z = tt__normals_f32(r, t);
  o[0] = z.even;
  o[1] = z.odd;
}
TT_FN void tt_block_normal_f32(tt_f32 *o, tt_u64 n, tt_u64 key) {
  tt__block w = tt__philox(n, key);
  tt__put_normals_f32(o, w.a, w.b);
  tt__put_normals_f32(o + 2, w.c, w.d);
}
#ifndef TT_SCALAR_LANES
TT_FN void tt__blocks_normal_f32(tt_f32 *o, tt_u64 n, tt_u64 key, tt_i64 m) {
  tt_u64 w[128];
  tt__blocks_philox_u64(w, n, key, m);
  for (tt_i64 g = 0; g < 2 * m; g++) tt__put_normals_f32(o + 2 * g, (tt_u32)w[g], (tt_u32)(w[g] >> 32));
}
TT__RUN(normal, f32, 2, tt__blocks_normal_f32)
#endif

TT_FN tt_f32 tt_sinh_f32(tt_f32 x) {
  tt_f32 a = tt_abs_f32(x), z = x * x, p, e, y;
  p = TT__Q4(z, 0x1.555556p-3f, 0x1.111130p-7f, 0x1.a00030p-13f, 0x1.79e43cp-19f); /* job sinhf */
  e = tt__exp_scaled_f32(tt__clamp_f32(a, 0, 100), -1);
  y = e - 0.25f / e;
  y = a < 1 ? TT_FMA_F32(a * z, p, a) : y;
  return tt_copysign_f32(y, x);
}
TT_FN tt_f32 tt_cosh_f32(tt_f32 x) {
  tt_f32 e = tt__exp_scaled_f32(tt__clamp_f32(tt_abs_f32(x), 0, 100), -1);
  return e + 0.25f / e;
}
/*
** (e^v - 1) / (e^v + 1), v = 2|x| = k ln2 + r, 0 <= r: divided by 2^k both are sums without cancellation. Where k is 0
** it is what is left of |x|: that is little, and so are its errors.
*/
TT_FN tt_f32 tt_tanh_f32(tt_f32 x) {
  tt_f32 a = tt_abs_f32(x), v = 2 * (a > 10 ? 10 : a), t = TT_FMA_F32(v, 0x1.715476p+0f, -0.5f) + TT__MAGIC_F;
  tt_f32 k = t - TT__MAGIC_F, r = TT_FMA_F32(-k, TT__LN2_LO_F, TT__EXACT_F32(-k, TT__LN2_HI_F, v)), p, e, part, n, y;
  p = r * r * TT__Q6(r, 0.5f, 0x1.555588p-3f, 0x1.554aeap-5f, 0x1.11e4b0p-7f, 0x1.5c62f2p-10f, 0x1.1511f4p-12f);
  e = r + p; /* e^r - 1 (job tanhf) */
  part = tt__from_f32(0x3f800000u - (tt__bits_f32(t) << 23));
  n = (1 - part) + e;
  y = (k == 0 ? TT_FMA_F32(-0.5f * v, e, p) : n) / TT_FMA_F32(2, part, n);
  return tt_copysign_f32(k == 0 ? 0.5f * v + y : y, x);
}

#define TT__PIO2_HI_F 0x1.921fb6p+0f
#define TT__PIO2_LO_F -0x1.777a5cp-25f
/* (asin(sqrt z) - sqrt z) / sqrt z (job asinf) */
TT_FN tt_f32 tt__asin_poly_f32(tt_f32 z) {
  return z * TT__Q5(z, 0x1.55559ap-3f, 0x1.330db6p-4f, 0x1.737e7ap-5f, 0x1.94f298p-6f, 0x1.52a278p-5f);
}
TT_FN tt_f32 tt_asin_f32(tt_f32 x) {
  tt_f32 a = tt_abs_f32(x), z = 0.5f * (1 - a), s = TT_SQRT_F32(z), h = tt__from_f32(tt__bits_f32(s) & 0xfffff000u), c,
         y;
  c = (z - h * h) / (s + h); /* what the root lost with its lower bits; NaN at 1 */
  y = (TT__PIO2_HI_F - 2 * h) - (2 * ((z > 0 ? c : 0) + s * tt__asin_poly_f32(z)) - TT__PIO2_LO_F);
  y = a <= 0.5f ? TT_FMA_F32(a, tt__asin_poly_f32(a * a), a) : y;
  return a > 1 ? TT__NAN_f32 : x != x ? x : tt_copysign_f32(y, x);
}
TT_FN tt_f32 tt_acos_f32(tt_f32 x) {
  tt_f32 a = tt_abs_f32(x), z = 0.5f * (1 - a), s = 2 * TT_SQRT_F32(z), y, big;
  y = TT__PIO2_HI_F - (x + (x * tt__asin_poly_f32(a * a) - TT__PIO2_LO_F));
  big = TT_FMA_F32(s, tt__asin_poly_f32(z), s);
  big = x < 0 ? 2 * TT__PIO2_HI_F - (big - 2 * TT__PIO2_LO_F) : big;
  y = a <= 0.5f ? y : big;
  return a > 1 ? TT__NAN_f32 : x != x ? x : y;
}
/* As tt__atan_ratio (job atanf). */
TT_FN tt_f32 tt__atan_ratio_f32(tt_f32 a, tt_f32 b) {
  tt_f32 n, d, hi, lo, t, z, p;
  int up = a > 0.5f * b, top = a > 2 * b;
  n = up ? a - b : a;
  d = up ? a + b : b;
  hi = up ? 0.5f * TT__PIO2_HI_F : 0;
  lo = up ? 0.5f * TT__PIO2_LO_F : 0;
  n = top ? -b : n;
  d = top ? a : d;
  hi = top ? TT__PIO2_HI_F : hi;
  lo = top ? TT__PIO2_LO_F : lo;
  t = n / d;
  z = t * t;
  p = TT__Q6(z, -0x1.555554p-2f, 0x1.9997dep-3f, -0x1.245aaep-3f, 0x1.c11482p-4f, -0x1.4a4a4cp-4f, 0x1.45c136p-5f);
  return hi + (t + TT_FMA_F32(t * z, p, lo));
}
TT_FN tt_f32 tt_atan_f32(tt_f32 x) { return tt_copysign_f32(tt__atan_ratio_f32(tt_abs_f32(x), 1), x); }
TT_FN tt_f32 tt_atan2_f32(tt_f32 y, tt_f32 x) { /* as tt_atan2_f64 */
  tt_f32 a = tt_abs_f32(y), b = tt_abs_f32(x), least = a < b ? a : b, most = a > b ? a : b, t;
  tt_f32 down = most > 0x1p120f ? 0.25f : 1;
  a = least == TT__INF_f32 ? 1 : a * down;
  b = least == TT__INF_f32 ? 1 : b * down;
  b = a == 0 ? 1 : b;
  t = tt__atan_ratio_f32(a, b);
  t = tt_copysign_f32(1, x) < 0 ? 2 * TT__PIO2_HI_F - (t - 2 * TT__PIO2_LO_F) : t;
  t = tt_copysign_f32(t, y);
  t = x != x ? x + y : t;
  return y != y ? x + y : t;
}

/* As tt_cbrt_f64. */
TT_FN tt_f32 tt_cbrt_f32(tt_f32 x) {
  tt_f32 a = tt_abs_f32(x), s = a < 0x1p-126f ? a * 0x1p24f : a, b = (tt_f32)(tt_i32)tt__bits_f32(s), y, h, c, r, low;
  y = tt__from_f32((tt_u32)(tt_i32)(0x1.5287d2p+30f - b * 0x1.555556p-2f));
  h = TT_FMA_F32(-(s * y), y * y, 1);
  y = TT_FMA_F32(y * h, TT__G3(h, 0x1.555346p-2f, 0x1.ca1ec8p-3f, 0x1.6671f2p-3f), y);
  r = s * y;
  c = r * y;
  low = TT_FMA_F32(TT_FMA_F32(s, y, -r), y, TT_FMA_F32(r, y, -c));
  h = TT_FMA_F32(-low, y, TT_FMA_F32(-c, y, 1));
  y = (c + TT_FMA_F32(c * h, 0x1.555556p-1f, low)) * (a < 0x1p-126f ? 0x1p-8f : 1);
  return ((a == 0) | !(a < TT__INF_f32)) ? x : tt_copysign_f32(y, x);
}

#ifndef TT_NARROW_MATH
/* ---- f32 through f64 ------------------------------------------------------ */
TT_FN tt_f32 tt_asinh_f32(tt_f32 x) { return (tt_f32)tt_asinh_f64((tt_f64)x); }
TT_FN tt_f32 tt_acosh_f32(tt_f32 x) { return (tt_f32)tt_acosh_f64((tt_f64)x); }
TT_FN tt_f32 tt_atanh_f32(tt_f32 x) { return (tt_f32)tt_atanh_f64((tt_f64)x); }
#endif

#endif
