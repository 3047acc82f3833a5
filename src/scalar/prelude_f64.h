/*
** The second part of the prelude: f64 functions made of polynomials, and the float
** remainders. It follows prelude.h, includes nothing itself, and keeps its rules.
*/
#ifndef TT_SCALAR_PRELUDE_F64_H
#define TT_SCALAR_PRELUDE_F64_H

/* ---- double-double ------------------------------------------------------- */
#ifndef TT_NO_DOUBLES /* a device may have none: what names these below is not for it */
typedef struct tt__dd {
  tt_f64 hi, lo;
} tt__dd;
/* The sum exactly, for |a| >= |b| or a == 0. */
TT_FN tt__dd tt__fast_sum(tt_f64 a, tt_f64 b) {
  tt__dd r;
  r.hi = a + b;
  r.lo = b - (r.hi - a);
  return r;
}
TT_FN tt__dd tt__two_sum(tt_f64 a, tt_f64 b) {
  tt__dd r;
  tt_f64 t;
  r.hi = a + b;
  t = r.hi - a;
  r.lo = (a - (r.hi - t)) + (b - t);
  return r;
}
#endif
/* ---- the ends of powers --------------------------------------------------
** TT__POW_ENDS gives C's special cases, r elsewhere; the sign of odd powers is a mask, because a choice between calls
** is a jump to gcc.
*/
#define TT__POW_ENDS(S, F, U, TOP)                                            \
  TT_FN F tt__pow_ends_##S(F x, F y, F r) {                                   \
    F ax = tt_abs_##S(x), y2 = y * (F)0.5;                                    \
    int whole = tt_trunc_##S(y) == y, odd = whole & (tt_trunc_##S(y2) != y2); \
    int none = ax == 0, end = none | !(ax < TT__INF_##S);                     \
    F edge = none == (y < 0) ? TT__INF_##S : 0;                               \
    r = end ? edge : r;                                                       \
    r = ((x < 0) & !whole & !end) ? TT__NAN_##S : r;                          \
    U sign = (U)odd << TOP;                                                   \
    r = tt__from_##S((tt__bits_##S(r) & ~sign) | (tt__bits_##S(x) & sign));   \
    r = ((x != x) | (y != y)) ? x + y : r;                                    \
    return ((y == 0) | (x == 1)) ? 1 : r;                                     \
  }
TT__POW_ENDS(f32, tt_f32, tt_u32, 31)
#ifndef TT_NO_DOUBLES
TT__POW_ENDS(f64, tt_f64, tt_u64, 63)
#endif

#ifndef TT_NARROW_MATH
#ifndef TT_NO_DOUBLES
/* A value to 26 bits, rounded; what remains has 26 too. */
TT_FN tt_f64 tt__upper(tt_f64 x) {
  return tt__from_f64((tt__bits_f64(x) + TT_U64(0x4000000)) & TT_U64(0xfffffffff8000000));
}
/*
** The product exactly (barring underflow of its lower half). With a fused multiply-add the lower half is one
** instruction and, being exact both ways, the same bits.
*/
TT_FN tt__dd tt__two_prod(tt_f64 a, tt_f64 b) {
  tt__dd r;
  r.hi = a * b;
#ifdef TT_FMA_F64
  r.lo = TT_FMA_F64(a, b, -r.hi);
#else
  tt_f64 ah = tt__upper(a), al = a - ah, bh = tt__upper(b), bl = b - bh;
  r.lo = (((ah * bh - r.hi) + ah * bl) + al * bh) + al * bl;
#endif
  return r;
}

/*
** a * b + c, rounded once, for what neither overflows nor vanishes. Without the instruction: what the product and its
** sum lose is added up and rounded to odd (what that lost goes into its last bit), which leaves the right bits for the
** last rounding.
*/
#ifndef TT_FMA_F64
#define TT_FMA_F64(a, b, c) tt__fma_f64(a, b, c)
TT_RARE tt_f64 tt__fma_f64(tt_f64 a, tt_f64 b, tt_f64 c) {
  tt__dd p = tt__two_prod(a, b), t = tt__two_sum(c, p.lo), v = tt__two_sum(p.hi, t.hi), s = tt__two_sum(t.lo, v.lo);
  tt_u64 u = tt__bits_f64(s.hi), down = (u ^ tt__bits_f64(s.lo)) >> 63;
  tt_f64 odd = tt__from_f64(u + ((1 - 2 * down) & ((u & 1) - 1)));
  tt_f64 y = v.hi + (((s.lo > 0) | (s.lo < 0)) != 0 ? odd : s.hi);
  return ((p.lo == 0) | (y != y)) != 0 ? p.hi + c : y; /* infinities lose nothing, and zeros have signs */
}
#endif
#endif
/*
** Polynomials of fused multiply-adds, constant term first: even and odd terms apart, each by Horner's rule in x*x. That
** halves the chain of operations that wait for one another.
*/
#define TT__H1(x, a) (a)
#define TT__H2(x, a, b) TT_FMA_F64(x, TT__H1(x, b), a)
#define TT__H3(x, a, b, c) TT_FMA_F64(x, TT__H2(x, b, c), a)
#define TT__H4(x, a, b, c, d) TT_FMA_F64(x, TT__H3(x, b, c, d), a)
#define TT__H5(x, a, b, c, d, e) TT_FMA_F64(x, TT__H4(x, b, c, d, e), a)
#define TT__H6(x, a, b, c, d, e, f) TT_FMA_F64(x, TT__H5(x, b, c, d, e, f), a)
#define TT__H7(x, a, b, c, d, e, f, g) TT_FMA_F64(x, TT__H6(x, b, c, d, e, f, g), a)
#define TT__P3(x, a, b, c) TT_FMA_F64(x, TT__H1((x) * (x), b), TT__H2((x) * (x), a, c))
#define TT__P4(x, a, b, c, d) TT_FMA_F64(x, TT__H2((x) * (x), b, d), TT__H2((x) * (x), a, c))
#define TT__P5(x, a, b, c, d, e) TT_FMA_F64(x, TT__H2((x) * (x), b, d), TT__H3((x) * (x), a, c, e))
#define TT__P6(x, a, b, c, d, e, f) TT_FMA_F64(x, TT__H3((x) * (x), b, d, f), TT__H3((x) * (x), a, c, e))
#define TT__P7(x, a, b, c, d, e, f, g) TT_FMA_F64(x, TT__H3((x) * (x), b, d, f), TT__H4((x) * (x), a, c, e, g))
#define TT__P8(x, a, b, c, d, e, f, g, h) TT_FMA_F64(x, TT__H4((x) * (x), b, d, f, h), TT__H4((x) * (x), a, c, e, g))
#define TT__P9(x, a, b, c, d, e, f, g, h, i) \
  TT_FMA_F64(x, TT__H4((x) * (x), b, d, f, h), TT__H5((x) * (x), a, c, e, g, i))
#define TT__P10(x, a, b, c, d, e, f, g, h, i, j) \
  TT_FMA_F64(x, TT__H5((x) * (x), b, d, f, h, j), TT__H5((x) * (x), a, c, e, g, i))
#define TT__P11(x, a, b, c, d, e, f, g, h, i, j, k) \
  TT_FMA_F64(x, TT__H5((x) * (x), b, d, f, h, j), TT__H6((x) * (x), a, c, e, g, i, k))
#define TT__P12(x, a, b, c, d, e, f, g, h, i, j, k, l) \
  TT_FMA_F64(x, TT__H6((x) * (x), b, d, f, h, j, l), TT__H6((x) * (x), a, c, e, g, i, k))
#define TT__P13(x, a, b, c, d, e, f, g, h, i, j, k, l, m) \
  TT_FMA_F64(x, TT__H6((x) * (x), b, d, f, h, j, l), TT__H7((x) * (x), a, c, e, g, i, k, m))

/* ---- remainders ---------------------------------------------------------- */
/* |x| mod |y| by long division of the significands, 11 bits a step: for quotients of 2^52 and more. */
TT_FN tt_f64 tt__fmod_far(tt_f64 x, tt_f64 y) {
  tt_f64 a = tt_abs_f64(x), b = tt_abs_f64(y);
  tt_f64 sb = b < 0x1p-1022 ? b * 0x1p54 : b;
  tt_u64 ub = tt__bits_f64(sb), ua = tt__bits_f64(a);
  tt_i32 eb = (tt_i32)(ub >> 52) - (b < 0x1p-1022 ? 54 : 0), n = (tt_i32)(ua >> 52) - eb;
  tt_u64 mb = (ub & TT_U64(0xfffffffffffff)) | TT_U64(0x10000000000000);
  tt_u64 r = ((ua & TT_U64(0xfffffffffffff)) | TT_U64(0x10000000000000)) % mb;
  for (; n > 0; n -= 11) r = (r << (n < 11 ? n : 11)) % mb;
  /* r * 2^(eb - 1075), in two steps that are both exact. */
  return eb > 0 ? (tt_f64)r * tt__from_f64((tt_u64)(eb > 60 ? eb - 52 : 1) << 52) *
                      (eb > 60 ? 1.0 : tt__from_f64((tt_u64)(1023 + eb - 53) << 52))
                : (tt_f64)(r >> (1 - eb)) * 0x1p-1074;
}
/* |x| mod |y| for quotients below 2^52: the quotient may be one too large. */
TT_FN tt_f64 tt__fmod_near(tt_f64 a, tt_f64 b) {
  tt__dd p = tt__two_prod(tt_trunc_f64(a / b), b);
  tt_f64 r = (a - p.hi) - p.lo;
  r = r < 0 ? r + b : r;
  return b == TT__INF_f64 ? (a < b ? a : a - b) : r;
}
/* The same for f32, where a double holds quotient times divisor below quotients of 2^28. */
TT_FN tt_f64 tt__fmod_narrow(tt_f64 a, tt_f64 b) {
  tt_f64 r = a - tt_trunc_f64(a / b) * b;
  r = r < 0 ? r + b : r;
  return b == TT__INF_f64 ? (a < b ? a : a - b) : r;
}
/* From an fmod, near or full, the two functions that NumPy makes of it. */
#define TT__DIVMOD(S, F, FMOD, MOD, FLOORDIV)                           \
  TT_FN F tt_##MOD##_##S(F a, F b) {                                    \
    F m = tt_##FMOD##_##S(a, b), up = ((b < 0) != (m < 0)) ? m + b : m; \
    F r = m == 0 ? tt_copysign_##S((F)0, b) : up;                       \
    return b == 0 ? m : r;                                              \
  }                                                                     \
  TT_FN F tt_##FLOORDIV##_##S(F a, F b) {                               \
    F m = tt_##FMOD##_##S(a, b), q = a / b, d = (a - m) / b, f;         \
    d = ((m != 0) & ((b < 0) != (m < 0))) ? d - 1 : d;                  \
    f = tt_floor_##S(d);                                                \
    f = d - f > (F)0.5 ? f + 1 : f;                                     \
    f = d == 0 ? tt_copysign_##S((F)0, q) : f;                          \
    return b == 0 ? q : f;                                              \
  }
#define TT__FMOD(S, F, NEAR, REACH)                                                         \
  TT_FN tt_b8 tt_far_fmod_##S(F x, F y) {                                                   \
    F a = tt_abs_##S(x), b = tt_abs_##S(y);                                                 \
    return (tt_b8)((a >= b * (F)REACH) & (b > 0) & (a < TT__INF_##S));                      \
  }                                                                                         \
  TT_FN tt_b8 tt_far_mod_##S(F x, F y) { return tt_far_fmod_##S(x, y); }                    \
  TT_FN tt_b8 tt_far_floordiv_##S(F x, F y) { return tt_far_fmod_##S(x, y); }               \
  TT_FN F tt_near_fmod_##S(F x, F y) {                                                      \
    F r = (F)NEAR(tt_abs_f64((tt_f64)x), tt_abs_f64((tt_f64)y));                            \
    return r == r ? tt_copysign_##S(r, x) : r;                                              \
  }                                                                                         \
  TT_RARE F tt__fmod_rare_##S(F x, F y, F near) {                                           \
    if (tt_far_fmod_##S(x, y) == 0) return near;                                            \
    return tt_copysign_##S((F)tt__fmod_far((tt_f64)x, (tt_f64)y), x);                       \
  }                                                                                         \
  TT_FN F tt_fmod_##S(F x, F y) { return tt__fmod_rare_##S(x, y, tt_near_fmod_##S(x, y)); } \
  TT__DIVMOD(S, F, fmod, mod, floordiv)                                                     \
  TT__DIVMOD(S, F, near_fmod, near_mod, near_floordiv)
TT__FMOD(f32, tt_f32, tt__fmod_narrow, 0x1p28)
TT__FMOD(f64, tt_f64, tt__fmod_near, 0x1p52)

/* ---- exponentials, f64 ---------------------------------------------------
** x = k ln2 + r, |r| <= ln2/2; e^r = 1 + r + r^2 p(r), p of 10 terms (job exp). ln2 is taken away in two parts: what
** the first leaves is a multiple of 2^-54 below 1/2, so exact.
** k is found by adding 1.5*2^52: its low bits are then those of the sum.
*/
#define TT__MAGIC 0x1.8p52
#define TT__LN2_HI 0x1.62e42fefa3800p-1 /* 42 bits: k times it is exact */
#define TT__LN2_LO 0x1.ef35793c76730p-45
#define TT__LOG2E 0x1.71547652b82fep+0
#define TT__LN2 0x1.62e42fefa39efp-1
#define TT__LN2_REST 0x1.abc9e3b39803fp-56

/* 2^k for the integer k in a sum t = TT__MAGIC + k, -1022 <= k <= 1023. */
TT_FN tt_f64 tt__pow2(tt_f64 t) { return tt__from_f64((tt__bits_f64(t) + 1023) << 52); }
/* y * 2^k, k as TT__MAGIC + k, in two factors, so that overflow and gradual underflow are right. */
TT_FN tt_f64 tt__scale(tt_f64 y, tt_f64 t) {
  tt_u64 both = tt__bits_f64(t) + 2 * 1023, part = both >> 1; /* exponents: what lies above them is shifted out */
  return y * tt__from_f64(part << 52) * tt__from_f64((both - part) << 52);
}
TT_FN tt_f64 tt__exp_poly(tt_f64 r) {
  return TT__P10(r, 0x1.0000000000007p-1, 0x1.5555555555501p-3, 0x1.55555555513a7p-5, 0x1.111111112707dp-7,
                 0x1.6c16c18225537p-10, 0x1.a01a012a5daecp-13, 0x1.a0199ec0e9808p-16, 0x1.71df2b67b270ep-19,
                 0x1.28a99dc2cd992p-22, 0x1.ad6e9256d21c6p-26);
}
/* e^(x + lo - k ln2) */
TT_FN tt_f64 tt__exp_left(tt_f64 x, tt_f64 lo, tt_f64 k) {
  tt_f64 a = TT_FMA_F64(-k, TT__LN2, x), b = TT_FMA_F64(-k, TT__LN2_REST, lo), r = a + b;
  return 1 + (a + TT_FMA_F64(r * r, tt__exp_poly(r), b));
}
/* e^(x + lo) * 2^shift, |x| <= 750 or NaN, |lo| tiny. */
TT_FN tt_f64 tt__exp_scaled(tt_f64 x, tt_f64 lo, tt_f64 shift) {
  tt_f64 t = TT_FMA_F64(x, TT__LOG2E, TT__MAGIC);
  return tt__scale(tt__exp_left(x, lo, t - TT__MAGIC), t + shift);
}
TT_FN tt_f64 tt__clamp(tt_f64 x, tt_f64 low, tt_f64 high) {
  x = x < low ? low : x; /* one choice a statement: gcc makes jumps of two in a row */
  return x > high ? high : x;
}
TT_FN tt_f64 tt_exp_f64(tt_f64 x) { return tt__exp_scaled(tt__clamp(x, -750, 750), 0, 0); }

/* The same in base 2: 2^r = 1 + r ln2 + r^2 p(r) (job exp2). */
TT_FN tt_f64 tt_exp2_f64(tt_f64 x) {
  tt_f64 v = tt__clamp(x, -1080, 1030), t = v + TT__MAGIC, r = v - (t - TT__MAGIC), p, u;
  p = TT__P10(r, 0x1.ebfbdff82c59fp-3, 0x1.c6b08d704a0cdp-5, 0x1.3b2ab6fba0c44p-7, 0x1.5d87fe78a22ccp-10,
              0x1.4309130cfe24cp-13, 0x1.ffcbfc77939efp-17, 0x1.62bfcba30e214p-20, 0x1.b524d5c816fd1p-24,
              0x1.e615297f30904p-28, 0x1.ea0e6701f6456p-32);
  u = TT_FMA_F64(r * r, p, r * TT__LN2_REST);
  return tt__scale(1 + TT_FMA_F64(r, TT__LN2, u), t);
}

TT_FN tt_f64 tt__expm1_poly(tt_f64 r) {
  return TT__P10(r, 0x1.5555555555558p-3, 0x1.5555555555558p-5, 0x1.111111110fb1cp-7, 0x1.6c16c16c14d9bp-10,
                 0x1.a01a01ae55e65p-13, 0x1.a01a01ae8218dp-16, 0x1.71ddfbe5d48bdp-19, 0x1.27e4c9785dac2p-22,
                 0x1.af5900bccbcaep-26, 0x1.1f905f2298eccp-29);
}
/* e^(r + c) - 1 - r for tiny c */
TT_FN tt_f64 tt__expm1_rest(tt_f64 r, tt_f64 c) {
  return TT_FMA_F64(r * r, TT_FMA_F64(r, tt__expm1_poly(r), 0.5), TT_FMA_F64(c, r, c));
}
/* e^x - 1 = 2^k ((1 - 2^-k) + (e^r - 1)), e^r - 1 = r + r^2/2 + r^3 p(r) (job expm1). */
TT_FN tt_f64 tt_expm1_f64(tt_f64 x) {
  tt_f64 v = tt__clamp(x, -50, 750), t = TT_FMA_F64(v, TT__LOG2E, TT__MAGIC), k = t - TT__MAGIC;
  tt_f64 a = TT_FMA_F64(-k, TT__LN2, v), b = -k * TT__LN2_REST, r = a + b, e = tt__expm1_rest(r, (a - r) + b), s;
  tt__dd h;
  s = 1 - tt__from_f64((1023 - (tt__bits_f64(t) - tt__bits_f64(TT__MAGIC))) << 52);
  s = k > 1000 ? 1.0 : s;
  h = tt__two_sum(s, r);
  e = k == 0 ? r + e : h.hi + (h.lo + e);
  return ((x == 0) | (x != x)) ? x : tt__scale(e, t);
}

/* ---- logarithms, f64 -----------------------------------------------------
** x = 2^k m, m in [sqrt(1/2), sqrt(2)); f = m - 1, s = f/(2 + f), z = s*s;
** log m = 2 atanh s = 2 s + s z p(z) (job log), written so that f is added last.
*/
typedef struct tt__split {
  tt_f64 k, f;
} tt__split;
/* For x > 0, finite and normal (else anything). */
TT_FN tt__split tt__log_split_normal_f64(tt_f64 x) {
  tt_u64 e = (tt__bits_f64(x) - TT_U64(0x3fe6a09e667f3bcd)) + (TT_U64(1023) << 52);
  tt__split r;
  r.k = tt__from_f64(TT_U64(0x4330000000000000) | e >> 52) - (0x1p52 + 1023);
  r.f = tt__from_f64((e & TT_U64(0xfffffffffffff)) + TT_U64(0x3fe6a09e667f3bcd)) - 1;
  return r;
}
TT_FN tt__split tt__log_split(tt_f64 x) {
  int tiny = x < 0x1p-1022;
  tt__split r = tt__log_split_normal_f64(tiny ? x * 0x1p54 : x);
  r.k -= tiny ? 54 : 0;
  return r;
}
/* log(1 + f) + f^2/2 - f for f = m - 1. */
TT_FN tt_f64 tt__log_poly(tt_f64 f) {
  tt_f64 s = f / (2 + f), z = s * s, p;
  p = TT__P7(z, 0x1.555555555556bp-1, 0x1.999999998adb9p-2, 0x1.24924939669f7p-2, 0x1.c71c584a47f4bp-3,
             0x1.746511c3dc994p-3, 0x1.39bde803b671fp-3, 0x1.2dfb5f3048d43p-3);
  return s * TT_FMA_F64(z, p, 0.5 * f * f);
}
/* What a logarithm is at 0, below 0, at infinity and at NaN; y elsewhere. */
TT_FN tt_f64 tt__log_ends(tt_f64 x, tt_f64 y) {
  y = x == TT__INF_f64 ? x : y;
  y = x == 0 ? -TT__INF_f64 : y;
  return x < 0 ? TT__NAN_f64 : x != x ? x : y;
}
TT_FN tt_f64 tt_log_f64(tt_f64 x) {
  tt__split a = tt__log_split(x);
  tt_f64 h = 0.5 * a.f * a.f, r = tt__log_poly(a.f);
  return tt__log_ends(x, a.k * TT__LN2_HI - ((h - (r + a.k * TT__LN2_LO)) - a.f));
}
/* k log_b 2 + log(1 + f) / log b: both factors in two parts, the first of the power of two short, so that k times it is
 * exact. */
TT_FN tt_f64 tt__log_base_join(tt__split a, tt_f64 ihi, tt_f64 ilo, tt_f64 khi, tt_f64 klo) {
  tt_f64 r = tt__log_poly(a.f) - 0.5 * a.f * a.f;
  tt_f64 y = a.k * khi, b = a.f * ihi, v = y + b, e = b - (v - y); /* |b| < |y|, or y is 0 */
  tt_f64 low = TT_FMA_F64(a.f, ilo, TT_FMA_F64(a.k, klo, TT_FMA_F64(a.f, ihi, -b)));
  return v + (TT_FMA_F64(r, ihi, low) + e);
}
/* A row of a base's constants for each function: near arguments are positive, finite and normal. */
#define TT__LOG_BASE(NAME, ...)                                                                                        \
  TT_FN tt_f64 tt_##NAME##_f64(tt_f64 x) { return tt__log_ends(x, tt__log_base_join(tt__log_split(x), __VA_ARGS__)); } \
  TT_FN tt_f64 tt_near_##NAME##_f64(tt_f64 x) { return tt__log_base_join(tt__log_split_normal_f64(x), __VA_ARGS__); }  \
  TT_FN tt_b8 tt_far_##NAME##_f64(tt_f64 x) {                                                                          \
    return (tt_b8) !(tt__bits_f64(x) - (TT_U64(1) << 52) < TT_U64(0x7fe0000000000000));                                \
  }
TT__LOG_BASE(log2, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1, 0)
TT__LOG_BASE(log10, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f7800p-2, 0x1.fef311f12b358p-46)
/* log(u + c), c a correction below half an ulp of u. */
TT_FN tt_f64 tt__log_sum(tt_f64 u, tt_f64 c) {
  tt__split a = tt__log_split(u);
  tt_f64 h = 0.5 * a.f * a.f, r = tt__log_poly(a.f);
  return a.k * TT__LN2_HI - ((h - (r + (a.k * TT__LN2_LO + c / u))) - a.f);
}
TT_FN tt_f64 tt_log1p_f64(tt_f64 x) {
  tt__dd u = tt__two_sum(1, x);
  tt_f64 y = tt__log_ends(u.hi, tt__log_sum(u.hi, x > 0x1p60 ? 0 : u.lo));
  return x == 0 ? x : y;
}

/* The logarithm of what was split, to about 2^-65 of itself; the lower part is what is left, not rounded away. */
TT_FN tt__dd tt__log_two(tt__split a) {
  tt_f64 d = 2 + a.f, dl = a.f - (d - 2), inv = 1 / d, s = a.f * inv, sl, q, t, tl;
  tt__dd z, u, w, r, e;
  sl = TT_FMA_F64(-s, dl, TT_FMA_F64(-s, d, a.f)) * inv;
  z.hi = s * s;
  z.lo = TT_FMA_F64(2 * s, sl, TT_FMA_F64(s, s, -z.hi));
  /* job pow */
  q = z.hi * TT__P8(z.hi, 0x1.9999999999998p-2, 0x1.2492492492b62p-2, 0x1.c71c71c60128ep-3, 0x1.745d17fb4dc00p-3,
                    0x1.3b136ff04de01p-3, 0x1.111ee620a9183p-3, 0x1.de76eb5f2bd13p-4, 0x1.e909cabb68d12p-4);
  u = tt__fast_sum(0x1.5555555555555p-1, q);
  u.lo += TT_FMA_F64(z.lo, 0x1.9999999999998p-2, 0x1.5555555555555p-55);
  t = z.hi * u.hi;
  tl = TT_FMA_F64(z.lo, u.hi, TT_FMA_F64(z.hi, u.lo, TT_FMA_F64(z.hi, u.hi, -t)));
  w.hi = s * t;
  w.lo = TT_FMA_F64(sl, t, TT_FMA_F64(s, tl, TT_FMA_F64(s, t, -w.hi)));
  r = tt__fast_sum(a.k * TT__LN2_HI, 2 * s);
  e = tt__fast_sum(r.hi, w.hi);
  e.lo = r.lo + e.lo + (TT_FMA_F64(a.k, TT__LN2_LO, w.lo) + 2 * sl);
  return e;
}
/* log x for x > 0, to about 2^-65 of itself. */
TT_FN tt__dd tt__log_dd(tt_f64 x) {
  tt__dd l = tt__log_two(tt__log_split(x));
  return tt__fast_sum(l.hi, l.lo);
}

/* ---- powers, f64 ---------------------------------------------------------
** |x|^y = exp(y log|x|), the logarithm and the product as double-doubles. Near ones: x is 0 or a normal number above,
** and the power is normal, because y times what the exponent of x says of its logarithm is.
*/
TT_FN tt__dd tt__pow_exponent(tt__split a, tt_f64 y) {
  tt__dd l = tt__log_two(a), e;
  e.hi = y * l.hi;
  e.lo = TT_FMA_F64(y, l.lo, TT_FMA_F64(y, l.hi, -e.hi));
  return e;
}
TT_FN tt_f64 tt_pow_f64(tt_f64 x, tt_f64 y) {
  tt__dd e = tt__pow_exponent(tt__log_split(tt_abs_f64(x)), tt__clamp(y, -0x1p70, 0x1p70));
  tt_f64 lo = tt_abs_f64(e.hi) < 750 ? e.lo : 0;
  return tt__pow_ends_f64(x, y, tt__exp_scaled(tt__clamp(e.hi, -750, 750), lo, 0));
}
TT_FN tt_f64 tt_near_pow_f64(tt_f64 x, tt_f64 y) {
  tt__dd e = tt__pow_exponent(tt__log_split_normal_f64(x), y);
  tt_f64 t = TT_FMA_F64(e.hi, TT__LOG2E, TT__MAGIC), r = tt__exp_left(e.hi, e.lo, t - TT__MAGIC);
  r = tt__from_f64(tt__bits_f64(r) + (tt__bits_f64(t) << 52));
  return x == 0 ? 0 : r;
}
TT_FN tt_b8 tt_far_pow_f64(tt_f64 x, tt_f64 y) {
  tt_u64 u = tt__bits_f64(x), one = TT_U64(1) << 52;
  tt_f64 reach = (tt_abs_f64(tt__log_split_normal_f64(x).k) + 1) * tt_abs_f64(y);
  int near = (u - one < TT_U64(0x7ff0000000000000) - one) & (reach < 1020), none = (u == 0) & (y > 0);
  return (tt_b8) !(near | none);
}

/*
** y near 1 over the root: a third of the exponent and the fraction as one number, taken from a constant, leaves
** |h| < 0.1103 of h = 1 - x y^3, and y (1 - h)^(-1/3) is the root's inverse to 2^-31 (job cbrt; of f32 2^-18, job
** cbrtf). Then x y y = c + low is the root but for a last h, of which the square no longer counts.
*/
TT_FN tt_f64 tt_cbrt_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), s = a < 0x1p-1022 ? a * 0x1p54 : a, y, h, c, r, low;
  tt_f64 b = tt__from_f64(TT_U64(0x4330000000000000) | tt__bits_f64(s) >> 32) - 0x1p52;
  y = tt__from_f64(tt__bits_f64((0x1.8p52 + 1430186294) - b * 0x1.5555555555555p-2) << 32);
  h = TT_FMA_F64(-(s * y), y * y, 1);
  y = TT_FMA_F64(y * h,
                 TT__P6(h, 0x1.555556a5be264p-2, 0x1.c71c78f4f545ap-3, 0x1.61f2cc56acb13p-3, 0x1.26efa8767e0d8p-3,
                        0x1.0413a536e3041p-3, 0x1.d0c131f9933ecp-4),
                 y);
  r = s * y;
  c = r * y;
  low = TT_FMA_F64(TT_FMA_F64(s, y, -r), y, TT_FMA_F64(r, y, -c));
  h = TT_FMA_F64(-low, y, TT_FMA_F64(-c, y, 1));
  y = (c + TT_FMA_F64(c * h, 0x1.5555555555555p-1, low)) * (a < 0x1p-1022 ? 0x1p-18 : 1);
  return ((a == 0) | !(a < TT__INF_f64)) ? x : tt_copysign_f64(y, x);
}

/* Scaled so that squares neither overflow nor vanish. */
TT_FN tt_f64 tt_hypot_f64(tt_f64 x, tt_f64 y) {
  tt_f64 a = tt_abs_f64(x), b = tt_abs_f64(y), m = a > b ? a : b, up, down, h;
  int big = m > 0x1p500, tiny = m < 0x1p-500;
  up = big ? 0x1p-600 : 1;
  down = big ? 0x1p600 : 1;
  up = tiny ? 0x1p600 : up;
  down = tiny ? 0x1p-600 : down;
  a *= up;
  b *= up;
  h = TT_SQRT_F64(a * a + b * b) * down;
  return (tt_isinf_f64(x) | tt_isinf_f64(y)) != 0 ? TT__INF_f64 : h;
}
TT_FN tt_f64 tt_near_hypot_f64(tt_f64 x, tt_f64 y) { return TT_SQRT_F64(x * x + y * y); }
TT_FN tt_b8 tt_far_hypot_f64(tt_f64 x, tt_f64 y) {
  tt_f64 a = tt_abs_f64(x), b = tt_abs_f64(y), m = a > b ? a : b;
  return (tt_b8) !((a <= 0x1p500) & (b <= 0x1p500) & ((m >= 0x1p-500) | (m == 0)));
}

/* ---- sine, cosine, tangent, f64 ------------------------------------------
** x = q pi/2 + r + lo, |r| <= pi/4 and a little. Below TT__TRIG_SMALL pi/2 is
** taken away in four parts (29 bits each, then 53), so that q times a part is
** exact; above, by Payne and Hanek: the fraction of x * 2/pi from the bits of
** 2/pi that matter.
*/
#define TT__TRIG_SMALL 25165824.0 /* 1.5 * 2^24 */
typedef struct tt__angle {
  tt_f64 r, lo;
  tt_u64 q;
} tt__angle;
TT_FN tt__angle tt__angle_small(tt_f64 x) {
  tt_f64 t = x * 0x1.45f306dc9c883p-1 + TT__MAGIC, k = t - TT__MAGIC;
  tt__dd a = tt__two_sum(x - k * 0x1.921fb54000000p+0, -(k * 0x1.10b4611000000p-30));
  tt__dd b = tt__two_sum(a.hi, -(k * 0x1.4c4c662000000p-59));
  tt__dd c = tt__fast_sum(b.hi, (a.lo + b.lo) - k * 0x1.1701b839a2520p-88);
  tt__angle g;
  g.r = c.hi;
  g.lo = c.lo;
  g.q = tt__bits_f64(t);
  return g;
}
/* 2/pi, 32 bits a word, after one word of zeros. */
TT_CONST tt_u32 tt__two_over_pi[42] = {
    0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u,
    0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u,
    0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu,
    0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
    0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du, 0u};
TT_FN tt__angle tt__angle_huge(tt_f64 x) {
  tt_u64 u = tt__bits_f64(x) & TT_U64(0x7fffffffffffffff);
  tt_i32 e = (tt_i32)(u >> 52) - 1075 + 30; /* |x| = m 2^(e - 30) */
  tt_i32 at = e >> 5, sh = e & 31;
  tt_u64 ml = u & TT_U64(0xffffffff), mh = ((u & TT_U64(0xfffffffffffff)) | TT_U64(0x10000000000000)) >> 32;
  tt_u64 v[6], c = 0, q, hi, lo;
  tt_f64 h0, h1, flip;
  tt__dd f, p, r;
  tt__angle g;
  for (int j = 0; j < 6; j++)
    v[j] = (((tt_u64)tt__two_over_pi[at + j] << 32 | tt__two_over_pi[at + j + 1]) >> (32 - sh)) & TT_U64(0xffffffff);
  /* The fraction of m * 0.v, 32 bits a word, most significant first: v becomes the product. */
  tt_u64 w[6];
  for (int j = 5; j >= 0; j--) {
    c += v[j] * ml;
    w[j] = c & TT_U64(0xffffffff);
    c >>= 32;
  }
  c = 0;
  for (int j = 5; j >= 1; j--) {
    c += v[j] * mh + w[j - 1];
    w[j - 1] = c & TT_U64(0xffffffff);
    c >>= 32;
  }
  hi = w[0] << 32 | w[1];
  lo = w[2] << 32 | w[3];
  q = (hi + (TT_U64(1) << 61)) >> 62;
  hi -= q << 62; /* a signed fraction of a turn */
  h0 = tt__from_f64(TT_U64(0x4330000000000000) | (((hi >> 32) + TT_U64(0x80000000)) & TT_U64(0xffffffff))) -
       (0x1p52 + 0x1p31);
  h1 = tt__from_f64(TT_U64(0x4330000000000000) | (hi & TT_U64(0xffffffff))) - 0x1p52;
  f = tt__two_sum(h0 * 0x1p-32, h1 * 0x1p-64);
  h0 = tt__from_f64(TT_U64(0x4330000000000000) | lo >> 32) - 0x1p52;
  h1 = tt__from_f64(TT_U64(0x4330000000000000) | (lo & TT_U64(0xffffffff))) - 0x1p52;
  f = tt__fast_sum(f.hi, f.lo + (h0 * 0x1p-96 + h1 * 0x1p-128));
  p = tt__two_prod(f.hi, 0x1.921fb54442d18p+2);
  r = tt__fast_sum(p.hi, p.lo + (f.hi * 0x1.1a62633145c07p-52 + f.lo * 0x1.921fb54442d18p+2));
  flip = x < 0 ? -1 : 1;
  g.r = tt_isfinite_f64(x) ? r.hi * flip : TT__NAN_f64;
  g.lo = r.lo * flip;
  g.q = x < 0 ? 0 - q : q;
  return g;
}
/* Jobs sin and cos; value and rounding error. */
TT_FN tt__dd tt__sin_poly(tt__angle g) {
  tt_f64 z = g.r * g.r;
  tt_f64 p = TT__P6(z, -0x1.5555555555550p-3, 0x1.11111111100f3p-7, -0x1.a01a019cf64aep-13, 0x1.71de3624b078ap-19,
                    -0x1.ae5edf053747ap-26, 0x1.5db2bd0db12f0p-33);
  return tt__fast_sum(g.r, g.r * z * p + g.lo * (1 - 0.5 * z));
}
TT_FN tt__dd tt__cos_poly(tt__angle g) {
  tt_f64 z = g.r * g.r, w = 1 - 0.5 * z;
  tt_f64 p = TT__P6(z, 0x1.555555555554fp-5, -0x1.6c16c16c157bdp-10, 0x1.a01a019d3ecf6p-16, -0x1.27e4f8674e82bp-22,
                    0x1.1eea26ac554bcp-29, -0x1.8fcb03dd97d6fp-37);
  return tt__fast_sum(w, ((1 - w) - 0.5 * z) + (z * z * p - g.r * g.lo));
}
TT_FN tt_f64 tt__sin_turn(tt__angle g, tt_u64 add) {
  tt_u64 q = g.q + add;
  tt_f64 s = tt__sin_poly(g).hi, c = tt__cos_poly(g).hi, y = (q & 1) != 0 ? c : s;
  return (q & 2) != 0 ? -y : y;
}
/* The quotient, corrected by what its operands lost to rounding. */
TT_FN tt_f64 tt__tan_turn(tt__angle g) {
  tt__dd s = tt__sin_poly(g), c = tt__cos_poly(g);
  int odd = (g.q & 1) != 0;
  tt_f64 n = odd ? -c.hi : s.hi, nl = odd ? -c.lo : s.lo, d = odd ? s.hi : c.hi, dl = odd ? s.lo : c.lo, t = n / d;
  return t + (nl - t * dl) / d;
}
/* NaN is not far. */
TT_FN tt_b8 tt_far_sin_f64(tt_f64 x) { return (tt_b8)(tt_abs_f64(x) >= TT__TRIG_SMALL); }
TT_FN tt_b8 tt_far_cos_f64(tt_f64 x) { return tt_far_sin_f64(x); }
TT_FN tt_b8 tt_far_tan_f64(tt_f64 x) { return tt_far_sin_f64(x); }
TT_FN tt_f64 tt_near_sin_f64(tt_f64 x) {
  tt_f64 y = tt__sin_turn(tt__angle_small(x), 0);
  return x == 0 ? x : y;
}
TT_FN tt_f64 tt_near_cos_f64(tt_f64 x) { return tt__sin_turn(tt__angle_small(x), 1); }
TT_FN tt_f64 tt_near_tan_f64(tt_f64 x) {
  tt_f64 y = tt__tan_turn(tt__angle_small(x));
  return x == 0 ? x : y;
}
TT_RARE tt_f64 tt__sin_rare(tt_f64 x, tt_f64 near) {
  return tt_far_sin_f64(x) ? tt__sin_turn(tt__angle_huge(x), 0) : near;
}
TT_RARE tt_f64 tt__cos_rare(tt_f64 x, tt_f64 near) {
  return tt_far_sin_f64(x) ? tt__sin_turn(tt__angle_huge(x), 1) : near;
}
TT_RARE tt_f64 tt__tan_rare(tt_f64 x, tt_f64 near) {
  return tt_far_sin_f64(x) ? tt__tan_turn(tt__angle_huge(x)) : near;
}
TT_FN tt_f64 tt_sin_f64(tt_f64 x) { return tt__sin_rare(x, tt_near_sin_f64(x)); }
TT_FN tt_f64 tt_cos_f64(tt_f64 x) { return tt__cos_rare(x, tt_near_cos_f64(x)); }
TT_FN tt_f64 tt_tan_f64(tt_f64 x) { return tt__tan_rare(x, tt_near_tan_f64(x)); }

/* ---- normal draws, f64 ---------------------------------------------------
** Box and Muller: a block's words are a radius and an angle, whose cosine and sine give two draws. The angle is taken
** apart while it is an integer: its upper two bits, rounded, are quarters of a turn, and the rest is within one eighth.
** A radius is made of 52 bits in the middle of their step: at most 8.57, the root of 106 log 2, and never of log 1.
*/
typedef struct tt__pair_f64 {
  tt_f64 even, odd;
} tt__pair_f64;
TT_FN tt__pair_f64 tt__normals_f64(tt__block w) {
  tt_u64 r = (tt_u64)w.b << 32 | w.a, t = (tt_u64)w.d << 32 | w.c, q = t + (TT_U64(1) << 61);
  tt_f64 u = (tt__from_f64(TT_U64(0x4330000000000000) | r >> 12) - (0x1p52 - 0.5)) * 0x1p-52;
  tt__split a = tt__log_split_normal_f64(u);
  tt_f64 h = 0.5 * a.f * a.f, y = a.k * TT__LN2_HI - ((h - (tt__log_poly(a.f) + a.k * TT__LN2_LO)) - a.f), s, c;
  tt__pair_f64 out;
  tt__angle g;
  y = TT_SQRT_F64(-2 * y);
  /* the rest as a number from -2^51 on, beside 2^52 */
  g.r = (tt__from_f64(TT_U64(0x4330000000000000) | ((t << 2) ^ (TT_U64(1) << 63)) >> 12) - (0x1p52 + 0x1p51)) *
        0x1.921fb54442d18p-52;
  g.lo = 0;
  g.q = q >> 62;
  s = tt__sin_poly(g).hi;
  c = tt__cos_poly(g).hi;
  out.even = y * tt__from_f64(tt__pick_u64(g.q, tt__bits_f64(c), tt__bits_f64(s)));
  out.odd = y * tt__from_f64(tt__pick_u64(g.q, tt__bits_f64(s), tt__bits_f64(c)));
  out.even = tt__from_f64(tt__bits_f64(out.even) ^ ((q + (TT_U64(1) << 62)) & (TT_U64(1) << 63)));
  out.odd = tt__from_f64(tt__bits_f64(out.odd) ^ (q & (TT_U64(1) << 63)));
  return out;
}
TT_FN tt_f64 tt_normal_f64(tt_u64 place, tt_u64 start, tt_u64 key) {
  tt__pair_f64 z = tt__normals_f64(tt__philox(start + (place >> 1), key));
  return tt__from_f64(tt__pick_u64(place, tt__bits_f64(z.even), tt__bits_f64(z.odd)));
}
TT_FN void tt__put_normals_f64(tt_f64 *o, tt__block w) {
  tt__pair_f64 z = tt__normals_f64(w);
  o[0] = z.even;
  o[1] = z.odd;
}
TT_FN void tt_block_normal_f64(tt_f64 *o, tt_u64 n, tt_u64 key) { tt__put_normals_f64(o, tt__philox(n, key)); }
#ifndef TT_SCALAR_LANES
TT_FN void tt__blocks_normal_f64(tt_f64 *o, tt_u64 n, tt_u64 key, tt_i64 m) {
  tt_u64 w[128];
  tt__blocks_philox_u64(w, n, key, m);
  for (tt_i64 g = 0; g < m; g++) {
    tt__block b = {(tt_u32)w[2 * g], (tt_u32)(w[2 * g] >> 32), (tt_u32)w[2 * g + 1], (tt_u32)(w[2 * g + 1] >> 32)};
    tt__put_normals_f64(o + 2 * g, b);
  }
}
TT__RUN(normal, f64, 1, tt__blocks_normal_f64)
#endif

/* ---- inverse circular functions, f64 -------------------------------------
** asin x = x + x z p(z), z = x*x <= 1/4 (job asin); above 1/2,
** asin x = pi/2 - 2 asin(sqrt((1 - x)/2)), the root with its rounding error.
*/
#define TT__PIO2_HI 0x1.921fb54442d18p+0
#define TT__PIO2_LO 0x1.1a62633145c07p-54
TT_FN tt_f64 tt__asin_poly(tt_f64 z) {
  tt_f64 p = TT__P12(z, 0x1.5555555555516p-3, 0x1.33333333469a2p-4, 0x1.6db6db598d3fap-5, 0x1.f1c72579d6c1ep-6,
                     0x1.6e8a888cfe227p-6, 0x1.1c63ce5d73f68p-6, 0x1.c7923f6161711p-7, 0x1.8b32183f6bfb0p-7,
                     0x1.c8d6bce147bb6p-8, 0x1.2d2e95efb67f7p-6, -0x1.dbbd0ee79a962p-7, 0x1.f89c032c626b2p-6);
  return z * p;
}
/* asin(sqrt(z)) for z = (1 - |x|)/2 in [0, 1/4], as a sum. */
TT_FN tt__dd tt__asin_root(tt_f64 z) {
  tt_f64 s = TT_SQRT_F64(z), h = tt__upper(s), c = (z - h * h) / (s + h);
  tt__dd r;
  r.hi = h;
  r.lo = (z > 0 ? c : 0) + s * tt__asin_poly(z);
  return r;
}
TT_FN tt_f64 tt_asin_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y = a + a * tt__asin_poly(a * a), big;
  tt__dd r = tt__asin_root(0.5 * (1 - a));
  big = (TT__PIO2_HI - 2 * r.hi) + (TT__PIO2_LO - 2 * r.lo);
  y = tt_copysign_f64(a <= 0.5 ? y : big, x);
  return a > 1 ? TT__NAN_f64 : x != x ? x : y;
}
TT_FN tt_f64 tt_acos_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, big;
  tt__dd r = tt__asin_root(0.5 * (1 - a));
  y = TT__PIO2_HI - (x - (TT__PIO2_LO - x * tt__asin_poly(a * a)));
  big = x > 0 ? 2 * (r.hi + r.lo) : 2 * ((TT__PIO2_HI - r.hi) + (TT__PIO2_LO - r.lo));
  y = a <= 0.5 ? y : big;
  return a > 1 ? TT__NAN_f64 : x != x ? x : y;
}

/*
** atan a/b = atan c + atan((a - c b)/(b + a c)), c one of 0, 1, infinity, so that the
** last argument t is at most 1/2; atan t = t + t z p(z), z = t*t (job atan).
*/
TT_FN tt_f64 tt__atan_ratio(tt_f64 a, tt_f64 b) {
  tt_f64 n, d, hi, lo, t, z, p;
  int up = a > 0.5 * b, top = a > 2 * b;
  n = up ? a - b : a; /* exact */
  d = up ? a + b : b;
  hi = up ? 0.5 * TT__PIO2_HI : 0;
  lo = up ? 0.5 * TT__PIO2_LO : 0;
  n = top ? -b : n;
  d = top ? a : d;
  hi = top ? TT__PIO2_HI : hi;
  lo = top ? TT__PIO2_LO : lo;
  t = n / d;
  z = t * t;
  p = TT__P13(z, -0x1.5555555555555p-2, 0x1.99999999996c4p-3, -0x1.24924924751d3p-3, 0x1.c71c71b6fa867p-4,
              -0x1.745d14d32650ep-4, 0x1.3b13766f06eabp-4, -0x1.110d6b3dbee52p-4, 0x1.e19238d85da65p-5,
              -0x1.acc5d3d18cb7ep-5, 0x1.792bb9369cd34p-5, -0x1.32e8b8f0b03dfp-5, 0x1.8b56751f115b7p-6,
              -0x1.1b93234c5b298p-7);
  return hi + (t + (t * z * p + lo));
}
TT_FN tt_f64 tt_atan_f64(tt_f64 x) { return tt_copysign_f64(tt__atan_ratio(tt_abs_f64(x), 1), x); }
/* Selects of one condition each: of joined ones gcc makes no vectors. */
TT_FN tt_f64 tt_atan2_f64(tt_f64 y, tt_f64 x) {
  tt_f64 a = tt_abs_f64(y), b = tt_abs_f64(x), least = a < b ? a : b, most = a > b ? a : b, t;
  tt_f64 down = most > 0x1p1000 ? 0.25 : 1;
  a = least == TT__INF_f64 ? 1 : a * down; /* both are infinite */
  b = least == TT__INF_f64 ? 1 : b * down;
  b = a == 0 ? 1 : b;
  t = tt__atan_ratio(a, b);
  t = tt_copysign_f64(1, x) < 0 ? 2 * TT__PIO2_HI - (t - 2 * TT__PIO2_LO) : t;
  t = tt_copysign_f64(t, y);
  t = x != x ? x + y : t;
  return y != y ? x + y : t;
}

/* ---- hyperbolic functions, f64 ------------------------------------------- */
TT_FN tt_f64 tt_sinh_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), z = x * x, p, e, y;
  p = TT__P7(z, 0x1.5555555555555p-3, 0x1.11111111110d1p-7, 0x1.a01a01a024c01p-13, 0x1.71de3a48fbe83p-19,
             0x1.ae6465427ca6cp-26, 0x1.611afb71e75e3p-33, 0x1.b499b8aad202ap-41); /* sinh x = x + x z p(z),
             |x| <= 1 (job sinh) */
  e = tt__exp_scaled(tt__clamp(a, 0, 750), 0, -1);
  y = e - 0.25 / e;
  return a < 1 ? x + x * z * p : tt_copysign_f64(y, x);
}
TT_FN tt_f64 tt_cosh_f64(tt_f64 x) {
  tt_f64 e = tt__exp_scaled(tt__clamp(tt_abs_f64(x), 0, 750), 0, -1);
  return e + 0.25 / e;
}
/*
** (e^v - 1) / (e^v + 1), v = 2|x|, where e^v - 1 = 2^k ((1 - 2^-k) + (e^r - 1)) as in expm1; the 2^k falls out. Where
** k is 0 it is what is left of |x|: that is little, and so are its errors.
*/
TT_FN tt_f64 tt_tanh_f64(tt_f64 x) {
  tt_f64 v = 2 * tt__clamp(tt_abs_f64(x), 0, 20), t = TT_FMA_F64(v, TT__LOG2E, TT__MAGIC), k = t - TT__MAGIC;
  tt_f64 r = TT_FMA_F64(-k, TT__LN2, v), c = -k * TT__LN2_REST, e = tt__expm1_rest(r, c), part, n, y;
  tt__dd h;
  part = tt__from_f64((1023 - (tt__bits_f64(t) - tt__bits_f64(TT__MAGIC))) << 52);
  h = tt__fast_sum(1 - part, r);
  n = h.hi + (h.lo + e);
  y = (k == 0 ? e - 0.5 * v * n : n) / (n + 2 * part);
  y = k == 0 ? 0.5 * v + y : y;
  return x != x ? x : tt_copysign_f64(y, x);
}
TT_FN tt_f64 tt_asinh_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), b = a > 0x1p28 ? 0x1p28 : a, z = b * b;
  tt__dd u = tt__two_sum(1, b + z / (1 + TT_SQRT_F64(z + 1)));
  tt_f64 y = tt__log_sum(a > 0x1p28 ? a : u.hi, a > 0x1p28 ? 0 : u.lo) + (a > 0x1p28 ? 0x1.62e42fefa39efp-1 : 0);
  return ((a == 0) | !(a < TT__INF_f64)) ? x : tt_copysign_f64(y, x);
}
TT_FN tt_f64 tt_acosh_f64(tt_f64 x) {
  tt_f64 b = x > 0x1p28 ? 0x1p28 : x, t = b - 1;
  tt__dd u = tt__two_sum(1, t + TT_SQRT_F64(2 * t + t * t));
  tt_f64 y = tt__log_sum(x > 0x1p28 ? x : u.hi, x > 0x1p28 ? 0 : u.lo) + (x > 0x1p28 ? 0x1.62e42fefa39efp-1 : 0);
  return x < 1 ? TT__NAN_f64 : !(x < TT__INF_f64) ? x : y;
}
TT_FN tt_f64 tt_atanh_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  tt_f64 y = 0.5 * tt_log1p_f64(2 * a / (1 - a));
  return x != x ? x : a > 1 ? TT__NAN_f64 : tt_copysign_f64(y, x);
}
TT_FN tt_f64 tt_logaddexp_f64(tt_f64 a, tt_f64 b) {
  tt_f64 m = a > b ? a : b, d = a > b ? b - a : a - b;
  tt_f64 y = m + tt_log1p_f64(tt_exp_f64(d));
  return ((a != a) | (b != b)) ? a + b : a == b ? a + 0x1.62e42fefa39efp-1 : y;
}
#endif

#endif
