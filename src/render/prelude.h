/*
** Scalar functions, one text for every place where an element is computed: the
** interpreter's loops (compiled ahead), rendered C, CUDA C and OpenCL C. It
** travels as text inside the library, so it includes nothing and knows nothing
** of arrays, kernels or devices.
**
** tt_<op>_<type>(...)       a row of ops.def on a kernel type (b8 i8..u64 f32 f64)
** tt_cast_<from>_<to>(x)    NumPy's conversions, f16 and bf16 as bit patterns
** tt_round_f16_f32(x)       an f32 rounded to a narrower type's values (and bf16)
** tt_where_<type>(c, a, b)  both sides are computed
** tt__...                   ours, not for rendered text
**
** The meaning is NumPy's, to the last special case. Every function gives the
** same bits on every machine: only IEEE +, -, *, /, sqrt and integers are used,
** never a fused multiply-add, never the C library. Compile with
**   -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv
** (CUDA: --fmad=false). Selects instead of branches let a compiler turn a loop
** over any of them into vector code.
**
** Coefficients written as hex floats come from tools/minimax.py; the job is
** named beside them. Error bounds are asserted by tests/unit/test_prelude_math.c.
**
** A dialect may define, before this text:
**   TT_DIALECT_TYPES  the types are there         TT_FN     qualifiers of a function
**   TT_DIALECT_BITS   tt__bits_*, tt__from_* are  TT_CONST  qualifiers of a constant table
**   TT_SQRT_F32/F64   correctly rounded roots     TT_ROUND_INLINE  floor, ceil, trunc, rint as one instruction
*/
#ifndef TT_RENDER_PRELUDE_H
#define TT_RENDER_PRELUDE_H

#ifndef TT_DIALECT_TYPES
typedef unsigned char tt_b8;
typedef signed char tt_i8;
typedef short tt_i16;
typedef int tt_i32;
typedef long long tt_i64;
typedef unsigned char tt_u8;
typedef unsigned short tt_u16;
typedef unsigned int tt_u32;
typedef unsigned long long tt_u64;
typedef unsigned short tt_f16;
typedef unsigned short tt_bf16;
typedef float tt_f32;
typedef double tt_f64;
#endif

#ifndef TT_FN
#define TT_FN static inline __attribute__((always_inline, unused))
#endif
#ifndef TT_CONST
#define TT_CONST static const __attribute__((unused))
#endif
#ifndef TT_SQRT_F64
#define TT_SQRT_F32(x) __builtin_sqrtf(x)
#define TT_SQRT_F64(x) __builtin_sqrt(x)
#endif
#if !defined(TT_ROUND_INLINE) && defined(__SSE4_1__)
#define TT_ROUND_INLINE
#endif

#ifndef TT_DIALECT_BITS
TT_FN tt_u32 tt__bits_f32(tt_f32 x) {
  tt_u32 u;
  __builtin_memcpy(&u, &x, 4);
  return u;
}
TT_FN tt_f32 tt__from_f32(tt_u32 u) {
  tt_f32 x;
  __builtin_memcpy(&x, &u, 4);
  return x;
}
TT_FN tt_u64 tt__bits_f64(tt_f64 x) {
  tt_u64 u;
  __builtin_memcpy(&u, &x, 8);
  return u;
}
TT_FN tt_f64 tt__from_f64(tt_u64 u) {
  tt_f64 x;
  __builtin_memcpy(&x, &u, 8);
  return x;
}
#endif

#define TT__NAN_F32 tt__from_f32(0x7fc00000u)
#define TT__INF_F32 tt__from_f32(0x7f800000u)
#define TT__NAN_F64 tt__from_f64(0x7ff8000000000000ull)
#define TT__INF_F64 tt__from_f64(0x7ff0000000000000ull)

/* ---- casts ---------------------------------------------------------------
** Out of range and NaN behave as x86-64's conversion instructions do under
** NumPy; the selects keep C's undefined cases out of the compiler's sight.
*/
TT_FN tt_f32 tt_cast_f16_f32(tt_f16 h) {
  tt_u32 a = ((tt_u32)h & 0x7fffu) << 13;
  tt_u32 u = tt__bits_f32(tt__from_f32(a) * 0x1p112f); /* exact, subnormals included */
  u = (h & 0x7c00u) == 0x7c00u ? a | 0x7f800000u : u;
  return tt__from_f32(u | ((tt_u32)h & 0x8000u) << 16);
}
TT_FN tt_f32 tt_cast_bf16_f32(tt_bf16 h) { return tt__from_f32((tt_u32)h << 16); }

TT_FN tt_f16 tt_cast_f32_f16(tt_f32 x) {
  tt_u32 u = tt__bits_f32(x), a = u & 0x7fffffffu;
  tt_u32 normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  tt_u32 tiny = tt__bits_f32(tt__from_f32(a) + 0.5f) - 0x3f000000u; /* an addition rounds at 2^-24 */
  tt_u32 big = a > 0x7f800000u ? 0x7e00u | ((a >> 13) & 0x3ffu) : 0x7c00u;
  tt_u32 r = a < 0x38800000u ? tiny : a < 0x47800000u ? normal : big;
  return (tt_f16)(r | ((u >> 16) & 0x8000u));
}
TT_FN tt_bf16 tt_cast_f32_bf16(tt_f32 x) {
  tt_u32 u = tt__bits_f32(x);
  tt_u32 r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (tt_bf16)((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : r);
}
/* f64 to f32 rounded to odd, so that a second rounding to fewer bits is correct. */
TT_FN tt_f32 tt__narrow_odd(tt_f64 x) {
  tt_f32 f = (tt_f32)x;
  tt_f64 back = (tt_f64)f;
  tt_u32 u = tt__bits_f32(f);
  tt_u32 over = (x < 0 ? back < x : back > x) ? 1u : 0u;
  return tt__from_f32(back == x || x != x ? u : (u - over) | 1u);
}
TT_FN tt_f16 tt_cast_f64_f16(tt_f64 x) { return tt_cast_f32_f16(tt__narrow_odd(x)); }
TT_FN tt_bf16 tt_cast_f64_bf16(tt_f64 x) { return tt_cast_f32_bf16(tt__narrow_odd(x)); }
TT_FN tt_f32 tt_round_f16_f32(tt_f32 x) { return tt_cast_f16_f32(tt_cast_f32_f16(x)); }
TT_FN tt_f32 tt_round_bf16_f32(tt_f32 x) { return tt_cast_bf16_f32(tt_cast_f32_bf16(x)); }

/* Large integers lose bits to a double; a sticky bit keeps the later rounding to bf16 correct. */
TT_FN tt_u64 tt__sticky(tt_u64 x) { return (x & ~0xfffull) | ((x & 0xfffull) != 0 ? 0x1000ull : 0ull); }
TT_FN tt_bf16 tt__bf16_i64(tt_i64 x) {
  int small = x < (1ll << 52) && x > -(1ll << 52);
  return tt_cast_f64_bf16((tt_f64)(small ? x : (tt_i64)tt__sticky((tt_u64)x)));
}
TT_FN tt_bf16 tt__bf16_u64(tt_u64 x) { return tt_cast_f64_bf16((tt_f64)(x < (1ull << 52) ? x : tt__sticky(x))); }

TT_FN tt_i32 tt_cast_f64_i32(tt_f64 x) {
  int ok = (x > -2147483649.0) & (x < 2147483648.0);
  tt_i32 v = (tt_i32)(ok ? x : 0.0);
  return ok ? v : -2147483647 - 1;
}
TT_FN tt_i32 tt_cast_f32_i32(tt_f32 x) {
  int ok = (x >= -2147483648.0f) & (x < 2147483648.0f);
  tt_i32 v = (tt_i32)(ok ? x : 0.0f);
  return ok ? v : -2147483647 - 1;
}
TT_FN tt_i64 tt_cast_f64_i64(tt_f64 x) {
  int ok = (x >= -0x1p63) & (x < 0x1p63);
  tt_i64 v = (tt_i64)(ok ? x : 0.0);
  return ok ? v : -0x7fffffffffffffffll - 1;
}
TT_FN tt_i64 tt_cast_f32_i64(tt_f32 x) {
  int ok = (x >= -0x1p63f) & (x < 0x1p63f);
  tt_i64 v = (tt_i64)(ok ? x : 0.0f);
  return ok ? v : -0x7fffffffffffffffll - 1;
}
/* Unsigned types of 32 and 64 bits: the upper half is converted less 2^(bits-1), then the top bit is flipped. */
#define TT__CAST_UPPER(S, F)                                                         \
  TT_FN tt_u32 tt_cast_##S##_u32(F x) {                                              \
    int up = x >= (F)0x1p31;                                                         \
    return (tt_u32)tt_cast_##S##_i32(up ? x - (F)0x1p31 : x) ^ (up ? 1u << 31 : 0u); \
  }                                                                                  \
  TT_FN tt_u64 tt_cast_##S##_u64(F x) {                                              \
    int up = x >= (F)0x1p63;                                                         \
    return (tt_u64)tt_cast_##S##_i64(up ? x - (F)0x1p63 : x) ^ (up ? 1ull << 63 : 0ull); \
  }
TT__CAST_UPPER(f32, tt_f32)
TT__CAST_UPPER(f64, tt_f64)

TT_FN tt_f64 tt_cast_f32_f64(tt_f32 x) { return (tt_f64)x; }
TT_FN tt_f32 tt_cast_f64_f32(tt_f64 x) { return (tt_f32)x; }
#define TT__CAST_FLOAT(S, F)                                                           \
  TT_FN tt_b8 tt_cast_##S##_b8(F x) { return (tt_b8)(x != 0); }                        \
  TT_FN tt_i8 tt_cast_##S##_i8(F x) { return (tt_i8)tt_cast_##S##_i32(x); }            \
  TT_FN tt_i16 tt_cast_##S##_i16(F x) { return (tt_i16)tt_cast_##S##_i32(x); }         \
  TT_FN tt_u8 tt_cast_##S##_u8(F x) { return (tt_u8)tt_cast_##S##_i32(x); }            \
  TT_FN tt_u16 tt_cast_##S##_u16(F x) { return (tt_u16)tt_cast_##S##_i32(x); }         \
  TT_FN F tt_cast_##S##_##S(F x) { return x; }
TT__CAST_FLOAT(f32, tt_f32)
TT__CAST_FLOAT(f64, tt_f64)

#define TT__CAST_NARROW_TO(S, D, T) \
  TT_FN T tt_cast_##S##_##D(tt_##S h) { return tt_cast_f32_##D(tt_cast_##S##_f32(h)); }
#define TT__CAST_NARROW(S)                                                              \
  TT__CAST_NARROW_TO(S, b8, tt_b8)                                                      \
  TT__CAST_NARROW_TO(S, i8, tt_i8)                                                      \
  TT__CAST_NARROW_TO(S, i16, tt_i16)                                                    \
  TT__CAST_NARROW_TO(S, i32, tt_i32)                                                    \
  TT__CAST_NARROW_TO(S, i64, tt_i64)                                                    \
  TT__CAST_NARROW_TO(S, u8, tt_u8)                                                      \
  TT__CAST_NARROW_TO(S, u16, tt_u16)                                                    \
  TT__CAST_NARROW_TO(S, u32, tt_u32)                                                    \
  TT__CAST_NARROW_TO(S, u64, tt_u64)                                                    \
  TT__CAST_NARROW_TO(S, f64, tt_f64)                                                    \
  TT_FN tt_##S tt_cast_##S##_##S(tt_##S h) { return h; }
TT__CAST_NARROW(f16)
TT__CAST_NARROW(bf16)
TT_FN tt_bf16 tt_cast_f16_bf16(tt_f16 h) { return tt_cast_f32_bf16(tt_cast_f16_f32(h)); }
TT_FN tt_f16 tt_cast_bf16_f16(tt_bf16 h) { return tt_cast_f32_f16(tt_cast_bf16_f32(h)); }

#define TT__CAST_INT(S, T, BF16)                                                    \
  TT_FN tt_b8 tt_cast_##S##_b8(T x) { return (tt_b8)(x != 0); }                     \
  TT_FN tt_i8 tt_cast_##S##_i8(T x) { return (tt_i8)x; }                            \
  TT_FN tt_i16 tt_cast_##S##_i16(T x) { return (tt_i16)x; }                         \
  TT_FN tt_i32 tt_cast_##S##_i32(T x) { return (tt_i32)x; }                         \
  TT_FN tt_i64 tt_cast_##S##_i64(T x) { return (tt_i64)x; }                         \
  TT_FN tt_u8 tt_cast_##S##_u8(T x) { return (tt_u8)x; }                            \
  TT_FN tt_u16 tt_cast_##S##_u16(T x) { return (tt_u16)x; }                         \
  TT_FN tt_u32 tt_cast_##S##_u32(T x) { return (tt_u32)x; }                         \
  TT_FN tt_u64 tt_cast_##S##_u64(T x) { return (tt_u64)x; }                         \
  TT_FN tt_f32 tt_cast_##S##_f32(T x) { return (tt_f32)x; }                         \
  TT_FN tt_f64 tt_cast_##S##_f64(T x) { return (tt_f64)x; }                         \
  TT_FN tt_f16 tt_cast_##S##_f16(T x) { return tt_cast_f32_f16((tt_f32)x); }        \
  TT_FN tt_bf16 tt_cast_##S##_bf16(T x) { return BF16; }
TT__CAST_INT(b8, tt_b8, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(i8, tt_i8, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(i16, tt_i16, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(i32, tt_i32, tt_cast_f64_bf16((tt_f64)x))
TT__CAST_INT(i64, tt_i64, tt__bf16_i64(x))
TT__CAST_INT(u8, tt_u8, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(u16, tt_u16, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(u32, tt_u32, tt_cast_f64_bf16((tt_f64)x))
TT__CAST_INT(u64, tt_u64, tt__bf16_u64(x))

/* ---- every kernel type: comparisons and selection ------------------------ */
#define TT__ANY(S, T)                                                     \
  TT_FN tt_b8 tt_eq_##S(T a, T b) { return (tt_b8)(a == b); }             \
  TT_FN tt_b8 tt_ne_##S(T a, T b) { return (tt_b8)(a != b); }             \
  TT_FN tt_b8 tt_lt_##S(T a, T b) { return (tt_b8)(a < b); }              \
  TT_FN tt_b8 tt_le_##S(T a, T b) { return (tt_b8)(a <= b); }             \
  TT_FN tt_b8 tt_gt_##S(T a, T b) { return (tt_b8)(a > b); }              \
  TT_FN tt_b8 tt_ge_##S(T a, T b) { return (tt_b8)(a >= b); }             \
  TT_FN T tt_where_##S(tt_b8 c, T a, T b) { return c ? a : b; }
/* Ordered types without NaN. */
#define TT__ORDERED(S, T)                                                 \
  TT_FN T tt_maximum_##S(T a, T b) { return a > b ? a : b; }              \
  TT_FN T tt_minimum_##S(T a, T b) { return a < b ? a : b; }              \
  TT_FN T tt_fmax_##S(T a, T b) { return a > b ? a : b; }                 \
  TT_FN T tt_fmin_##S(T a, T b) { return a < b ? a : b; }                 \
  TT_FN T tt_and_##S(T a, T b) { return (T)(a & b); }                     \
  TT_FN T tt_or_##S(T a, T b) { return (T)(a | b); }                      \
  TT_FN T tt_xor_##S(T a, T b) { return (T)(a ^ b); }

/* ---- bool ---------------------------------------------------------------- */
TT__ANY(b8, tt_b8)
TT__ORDERED(b8, tt_b8)
TT_FN tt_b8 tt_add_b8(tt_b8 a, tt_b8 b) { return (tt_b8)(a | b); }
TT_FN tt_b8 tt_mul_b8(tt_b8 a, tt_b8 b) { return (tt_b8)(a & b); }
TT_FN tt_b8 tt_abs_b8(tt_b8 a) { return a; }
TT_FN tt_b8 tt_not_b8(tt_b8 a) { return (tt_b8)(a == 0); }
TT_FN tt_b8 tt_land_b8(tt_b8 a, tt_b8 b) { return (tt_b8)((a != 0) & (b != 0)); }
TT_FN tt_b8 tt_lor_b8(tt_b8 a, tt_b8 b) { return (tt_b8)((a | b) != 0); }
TT_FN tt_b8 tt_lxor_b8(tt_b8 a, tt_b8 b) { return (tt_b8)((a != 0) != (b != 0)); }
TT_FN tt_b8 tt_lnot_b8(tt_b8 a) { return (tt_b8)(a == 0); }

/* ---- integers ------------------------------------------------------------
** S suffix, T type, W the unsigned type arithmetic is done in (wrapping).
*/
#define TT__BELOW_0(b) ((b) < 0)
#define TT__NEVER(b) 0
#define TT__INT(S, T, W, BITS, NEGATIVE)                                                              \
  TT__ANY(S, T)                                                                             \
  TT__ORDERED(S, T)                                                                         \
  TT_FN T tt_not_##S(T a) { return (T)~a; }                                                 \
  TT_FN T tt_add_##S(T a, T b) { return (T)((W)a + (W)b); }                                 \
  TT_FN T tt_sub_##S(T a, T b) { return (T)((W)a - (W)b); }                                 \
  TT_FN T tt_mul_##S(T a, T b) { return (T)((W)a * (W)b); }                                 \
  TT_FN T tt_neg_##S(T a) { return (T)(0 - (W)a); }                                         \
  TT_FN T tt_square_##S(T a) { return (T)((W)a * (W)a); }                                   \
  TT_FN T tt_reciprocal_##S(T a) { return tt_cast_f64_##S(1.0 / (tt_f64)a); }               \
  TT_FN T tt_shl_##S(T a, T b) {                                                            \
    W n = (W)b, in = n < (W)BITS;                                                           \
    W v = (W)a << (in ? n : 0);                                                             \
    return in ? (T)v : (T)0;                                                                \
  }                                                                                         \
  /* By squaring. A negative exponent was refused above; here it gives the rounded-down inverse. */ \
  TT_FN T tt_pow_##S(T a, T b) {                                                            \
    W r = 1, x = (W)a, n = NEGATIVE(b) ? 0 : (W)b;                                                \
    for (; n != 0; n >>= 1) {                                                               \
      r = (n & 1) != 0 ? r * x : r;                                                         \
      x *= x;                                                                               \
    }                                                                                       \
    return NEGATIVE(b) ? tt__inverse_##S(a, b) : (T)r;                                            \
  }

/* Division never traps: x//0 = x%0 = 0, and the least value divided by -1 is itself. */
#define TT__SIGNED(S, T, W, BITS)                                                           \
  TT_FN T tt__inverse_##S(T a, T b) { return (T)(a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0); } \
  TT__INT(S, T, W, BITS, TT__BELOW_0)                                                                    \
  TT_FN T tt_abs_##S(T a) { return (T)(a < 0 ? 0 - (W)a : (W)a); }                          \
  TT_FN T tt_sign_##S(T a) { return (T)((a > 0) - (a < 0)); }                               \
  TT_FN T tt_shr_##S(T a, T b) {                                                            \
    W n = (W)b, in = n < (W)BITS;                                                           \
    return (T)(a >> (in ? n : (W)BITS - 1));                                                \
  }                                                                                         \
  TT_FN T tt_floordiv_##S(T a, T b) {                                                       \
    T d = (T)(((b == 0) | (b == -1)) ? 1 : b), q = (T)(a / d), r = (T)(a % d);                \
    q = (T)(q - ((r != 0) & ((r < 0) != (d < 0))));                                         \
    return b == 0 ? (T)0 : b == -1 ? (T)(0 - (W)a) : q;                                     \
  }                                                                                         \
  TT_FN T tt_fmod_##S(T a, T b) { return (T)(a % (T)(((b == 0) | (b == -1)) ? 1 : b)); }      \
  TT_FN T tt_mod_##S(T a, T b) {                                                            \
    T r = tt_fmod_##S(a, b);                                                                \
    return (T)(((r != 0) & ((r < 0) != (b < 0))) ? r + b : r);                                \
  }
#define TT__UNSIGNED(S, T, W, BITS)                                                         \
  TT_FN T tt__inverse_##S(T a, T b) { return b == 0 ? (T)1 : a; }                       \
  TT__INT(S, T, W, BITS, TT__NEVER)                                                                    \
  TT_FN T tt_abs_##S(T a) { return a; }                                                     \
  TT_FN T tt_sign_##S(T a) { return (T)(a > 0); }                                           \
  TT_FN T tt_shr_##S(T a, T b) {                                                            \
    T v = (T)(a >> (b < BITS ? b : 0));                                                     \
    return b < BITS ? v : (T)0;                                                             \
  }                                                                                         \
  TT_FN T tt_floordiv_##S(T a, T b) {                                                       \
    T q = (T)(a / (T)(b == 0 ? 1 : b));                                                     \
    return b == 0 ? (T)0 : q;                                                               \
  }                                                                                         \
  TT_FN T tt_mod_##S(T a, T b) { return (T)(a % (T)(b == 0 ? 1 : b)); }                     \
  TT_FN T tt_fmod_##S(T a, T b) { return tt_mod_##S(a, b); }

TT__SIGNED(i8, tt_i8, tt_u32, 8)
TT__SIGNED(i16, tt_i16, tt_u32, 16)
TT__SIGNED(i32, tt_i32, tt_u32, 32)
TT__SIGNED(i64, tt_i64, tt_u64, 64)
TT__UNSIGNED(u8, tt_u8, tt_u32, 8)
TT__UNSIGNED(u16, tt_u16, tt_u32, 16)
TT__UNSIGNED(u32, tt_u32, tt_u32, 32)
TT__UNSIGNED(u64, tt_u64, tt_u64, 64)

/* Philox-4x32-10: the first 64 bits of block (counter, 0) under the key. */
TT_FN tt_u64 tt_philox_u64(tt_u64 counter, tt_u64 key) {
  tt_u32 c0 = (tt_u32)counter, c1 = (tt_u32)(counter >> 32), c2 = 0, c3 = 0;
  tt_u32 k0 = (tt_u32)key, k1 = (tt_u32)(key >> 32);
  for (int i = 0; i < 10; i++) {
    tt_u64 p0 = (tt_u64)c0 * 0xD2511F53u, p1 = (tt_u64)c2 * 0xCD9E8D57u;
    tt_u32 n0 = (tt_u32)(p1 >> 32) ^ c1 ^ k0, n2 = (tt_u32)(p0 >> 32) ^ c3 ^ k1;
    c1 = (tt_u32)p1;
    c3 = (tt_u32)p0;
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (tt_u64)c1 << 32 | c0;
}

/* ---- floats: what both sizes share ---------------------------------------
** S suffix, F type, U its bits, SIGN the sign bit, MAGIC 1.5 * 2^(mantissa bits),
** WHOLE the least power of two from which on every value is an integer.
*/
#define TT__FLOAT(S, F, U, SIGN, INF, MAGIC, WHOLE)                                         \
  TT__ANY(S, F)                                                                             \
  TT_FN tt_b8 tt_isnan_##S(F a) { return (tt_b8)(a != a); }                                 \
  TT_FN tt_b8 tt_isinf_##S(F a) { return (tt_b8)((tt__bits_##S(a) & ~(U)SIGN) == (U)INF); } \
  TT_FN tt_b8 tt_isfinite_##S(F a) { return (tt_b8)((tt__bits_##S(a) & ~(U)SIGN) < (U)INF); } \
  TT_FN tt_b8 tt_signbit_##S(F a) { return (tt_b8)(tt__bits_##S(a) >= (U)SIGN); }           \
  TT_FN F tt_add_##S(F a, F b) { return a + b; }                                            \
  TT_FN F tt_sub_##S(F a, F b) { return a - b; }                                            \
  TT_FN F tt_mul_##S(F a, F b) { return a * b; }                                            \
  TT_FN F tt_div_##S(F a, F b) { return a / b; }                                            \
  TT_FN F tt_neg_##S(F a) { return -a; }                                                    \
  TT_FN F tt_square_##S(F a) { return a * a; }                                              \
  TT_FN F tt_reciprocal_##S(F a) { return (F)1 / a; }                                       \
  TT_FN F tt_abs_##S(F a) { return tt__from_##S(tt__bits_##S(a) & ~(U)SIGN); }              \
  TT_FN F tt_copysign_##S(F a, F b) {                                                       \
    return tt__from_##S((tt__bits_##S(a) & ~(U)SIGN) | (tt__bits_##S(b) & (U)SIGN));        \
  }                                                                                         \
  TT_FN F tt_sign_##S(F a) { return a > 0 ? (F)1 : a < 0 ? (F)-1 : a == 0 ? (F)0 : a; }     \
  /* Equal operands (0 and -0): the second, as vector NumPy. */                             \
  TT_FN F tt_maximum_##S(F a, F b) { return ((a > b) | (a != a)) ? a : b; }                   \
  TT_FN F tt_minimum_##S(F a, F b) { return ((a < b) | (a != a)) ? a : b; }                   \
  TT_FN F tt_fmax_##S(F a, F b) { return ((a > b) | (b != b)) ? a : b; }                      \
  TT_FN F tt_fmin_##S(F a, F b) { return ((a < b) | (b != b)) ? a : b; }                      \
  TT_FN F tt_nextafter_##S(F a, F b) {                                                      \
    U u = tt__bits_##S(a), sign = u & (U)SIGN;                                              \
    U away = (U)((b > a) == (a > 0)); /* from zero */                                       \
    F r = tt__from_##S(a == 0 ? (tt__bits_##S(b) & (U)SIGN) | 1 : away ? u + 1 : u - 1);    \
    (void)sign;                                                                             \
    return ((a != a) | (b != b)) ? a + b : a == b ? b : r;                                    \
  }
TT__FLOAT(f32, tt_f32, tt_u32, 0x80000000u, 0x7f800000u, 0x1.8p23f, 0x1p23f)
TT__FLOAT(f64, tt_f64, tt_u64, 0x8000000000000000ull, 0x7ff0000000000000ull, 0x1.8p52, 0x1p52)
TT_FN tt_f32 tt_sqrt_f32(tt_f32 x) { return TT_SQRT_F32(x); }
TT_FN tt_f64 tt_sqrt_f64(tt_f64 x) { return TT_SQRT_F64(x); }

/* Rounding to integers: one instruction where the target has it, else by adding and taking away 2^(mantissa bits). */
#ifdef TT_ROUND_INLINE
TT_FN tt_f32 tt_rint_f32(tt_f32 x) { return __builtin_rintf(x); }
TT_FN tt_f32 tt_floor_f32(tt_f32 x) { return __builtin_floorf(x); }
TT_FN tt_f32 tt_ceil_f32(tt_f32 x) { return __builtin_ceilf(x); }
TT_FN tt_f32 tt_trunc_f32(tt_f32 x) { return __builtin_truncf(x); }
TT_FN tt_f64 tt_rint_f64(tt_f64 x) { return __builtin_rint(x); }
TT_FN tt_f64 tt_floor_f64(tt_f64 x) { return __builtin_floor(x); }
TT_FN tt_f64 tt_ceil_f64(tt_f64 x) { return __builtin_ceil(x); }
TT_FN tt_f64 tt_trunc_f64(tt_f64 x) { return __builtin_trunc(x); }
#else
#define TT__ROUND(S, F, WHOLE)                                                    \
  TT_FN F tt_rint_##S(F x) {                                                      \
    F a = tt_abs_##S(x), r = (a + WHOLE) - WHOLE;                                 \
    return a < WHOLE ? tt_copysign_##S(r, x) : x;                                 \
  }                                                                               \
  TT_FN F tt_floor_##S(F x) {                                                     \
    F r = tt_rint_##S(x);                                                         \
    return r > x ? tt_copysign_##S(r - 1, x) : r;                                 \
  }                                                                               \
  TT_FN F tt_ceil_##S(F x) {                                                      \
    F r = tt_rint_##S(x);                                                         \
    return r < x ? tt_copysign_##S(r + 1, x) : r;                                 \
  }                                                                               \
  TT_FN F tt_trunc_##S(F x) {                                                     \
    F a = tt_abs_##S(x), r = tt_rint_##S(a);                                      \
    return tt_copysign_##S(r > a ? r - 1 : r, x);                                 \
  }
TT__ROUND(f32, tt_f32, 0x1p23f)
TT__ROUND(f64, tt_f64, 0x1p52)
#endif

/* ---- double-double ------------------------------------------------------- */
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
/* The upper 26 bits of a value; what remains has 27. */
TT_FN tt_f64 tt__upper(tt_f64 x) { return tt__from_f64(tt__bits_f64(x) & 0xfffffffff8000000ull); }
/* The product to 106 bits (the last partial product may round at 2^-107). */
TT_FN tt__dd tt__two_prod(tt_f64 a, tt_f64 b) {
  tt_f64 ah = tt__upper(a), al = a - ah, bh = tt__upper(b), bl = b - bh;
  tt__dd r;
  r.hi = a * b;
  r.lo = (((ah * bh - r.hi) + ah * bl) + al * bh) + al * bl;
  return r;
}

/* ---- remainders ---------------------------------------------------------- */
/* |x| mod |y| by long division of the significands, 11 bits a step: for quotients of 2^52 and more. */
TT_FN tt_f64 tt__fmod_far(tt_f64 x, tt_f64 y) {
  tt_f64 a = tt_abs_f64(x), b = tt_abs_f64(y);
  if (!(a < TT__INF_F64) || !(b > 0)) return TT__NAN_F64;
  tt_f64 sb = b < 0x1p-1022 ? b * 0x1p54 : b;
  tt_u64 ub = tt__bits_f64(sb), ua = tt__bits_f64(a);
  tt_i32 eb = (tt_i32)(ub >> 52) - (b < 0x1p-1022 ? 54 : 0), n = (tt_i32)(ua >> 52) - eb;
  tt_u64 mb = (ub & 0xfffffffffffffull) | 0x10000000000000ull;
  tt_u64 r = ((ua & 0xfffffffffffffull) | 0x10000000000000ull) % mb;
  for (; n > 0; n -= 11) r = (r << (n < 11 ? n : 11)) % mb;
  /* r * 2^(eb - 1075), in two steps that are both exact. */
  return eb > 0 ? (tt_f64)r * tt__from_f64((tt_u64)(eb > 60 ? eb - 52 : 1) << 52) *
                      (eb > 60 ? 1.0 : tt__from_f64((tt_u64)(1023 + eb - 53) << 52))
                : (tt_f64)(r >> (1 - eb)) * 0x1p-1074;
}
/* |x| mod |y| for |x| < 2^52 |y|: the quotient may be one too large. */
TT_FN tt_f64 tt__fmod_near(tt_f64 a, tt_f64 b) {
  tt_f64 q = tt_trunc_f64(a / b);
  tt__dd p = tt__two_prod(q, b);
  tt_f64 r = (a - p.hi) - p.lo;
  return b == TT__INF_F64 ? a : r < 0 ? r + b : r;
}
TT_FN tt_f64 tt_fmod_f64(tt_f64 x, tt_f64 y) {
  tt_f64 a = tt_abs_f64(x), b = tt_abs_f64(y), r;
  if ((a != a) | (b != b)) return x + y;
  r = a < b * 0x1p52 ? tt__fmod_near(a, b) : tt__fmod_far(a, b);
  return r != r ? r : tt_copysign_f64(r, x);
}
TT_FN tt_f32 tt_fmod_f32(tt_f32 x, tt_f32 y) { return (tt_f32)tt_fmod_f64((tt_f64)x, (tt_f64)y); }

#define TT__DIVMOD(S, F)                                                        \
  TT_FN F tt_mod_##S(F a, F b) {                                                \
    F m = tt_fmod_##S(a, b);                                                    \
    F up = (b < 0) != (m < 0) ? m + b : m;                                      \
    return b == 0 ? m : m == 0 ? tt_copysign_##S((F)0, b) : up;                 \
  }                                                                             \
  TT_FN F tt_floordiv_##S(F a, F b) {                                           \
    F m = tt_fmod_##S(a, b), d = (a - m) / b, f;                                \
    d = ((m != 0) & ((b < 0) != (m < 0))) ? d - 1 : d;                            \
    f = tt_floor_##S(d);                                                        \
    f = d - f > (F)0.5 ? f + 1 : f;                                             \
    return b == 0 ? a / b : d == 0 ? tt_copysign_##S((F)0, a / b) : f;          \
  }
TT__DIVMOD(f32, tt_f32)
TT__DIVMOD(f64, tt_f64)

/* ---- exponentials, f64 ---------------------------------------------------
** x = k ln2 + r, |r| <= ln2/2; e^r = 1 + r + r^2 p(r), p of 10 terms (job exp).
** k is found by adding 1.5*2^52: its low bits are then those of the sum.
*/
#define TT__MAGIC 0x1.8p52
#define TT__LN2_HI 0x1.62e42fefa3800p-1 /* 42 bits: k times it is exact */
#define TT__LN2_LO 0x1.ef35793c76730p-45
#define TT__LOG2E 0x1.71547652b82fep+0

/* 2^k for the integer k in a sum t = TT__MAGIC + k, -1022 <= k <= 1023. */
TT_FN tt_f64 tt__pow2(tt_f64 t) { return tt__from_f64((tt__bits_f64(t) + 1023) << 52); }
/* y * 2^k, k as TT__MAGIC + k, in two factors, so that overflow and gradual underflow are right. */
TT_FN tt_f64 tt__scale(tt_f64 y, tt_f64 t) {
  tt_f64 half = (t - TT__MAGIC) * 0.5 + TT__MAGIC;
  tt_f64 rest = (t - TT__MAGIC) - (half - TT__MAGIC) + TT__MAGIC;
  return y * tt__pow2(half) * tt__pow2(rest);
}
TT_FN tt_f64 tt__exp_poly(tt_f64 r) {
  tt_f64 p = 0x1.ad6e9256d21c6p-26;
  p = p * r + 0x1.28a99dc2cd992p-22;
  p = p * r + 0x1.71df2b67b270ep-19;
  p = p * r + 0x1.a0199ec0e9808p-16;
  p = p * r + 0x1.a01a012a5daecp-13;
  p = p * r + 0x1.6c16c18225537p-10;
  p = p * r + 0x1.111111112707dp-7;
  p = p * r + 0x1.55555555513a7p-5;
  p = p * r + 0x1.5555555555501p-3;
  return p * r + 0x1.0000000000007p-1;
}
/* e^(x + lo) * 2^shift, |x| <= 750 or NaN, |lo| tiny. */
TT_FN tt_f64 tt__exp_scaled(tt_f64 x, tt_f64 lo, tt_f64 shift) {
  tt_f64 t = x * TT__LOG2E + TT__MAGIC, k = t - TT__MAGIC;
  tt_f64 a = x - k * TT__LN2_HI, b = k * TT__LN2_LO - lo, r = a - b, c = (a - r) - b;
  return tt__scale(1 + (r + (r * r * tt__exp_poly(r) + c)), t + shift);
}
TT_FN tt_f64 tt__clamp(tt_f64 x, tt_f64 low, tt_f64 high) { return x < low ? low : x > high ? high : x; }
TT_FN tt_f64 tt_exp_f64(tt_f64 x) { return tt__exp_scaled(tt__clamp(x, -750, 750), 0, 0); }

/* The same in base 2: 2^r = 1 + r ln2 + r^2 p(r) (job exp2). */
TT_FN tt_f64 tt_exp2_f64(tt_f64 x) {
  tt_f64 v = tt__clamp(x, -1080, 1030), t = v + TT__MAGIC, r = v - (t - TT__MAGIC), p, u;
  p = 0x1.ea0e6701f6456p-32;
  p = p * r + 0x1.e615297f30904p-28;
  p = p * r + 0x1.b524d5c816fd1p-24;
  p = p * r + 0x1.62bfcba30e214p-20;
  p = p * r + 0x1.ffcbfc77939efp-17;
  p = p * r + 0x1.4309130cfe24cp-13;
  p = p * r + 0x1.5d87fe78a22ccp-10;
  p = p * r + 0x1.3b2ab6fba0c44p-7;
  p = p * r + 0x1.c6b08d704a0cdp-5;
  p = p * r + 0x1.ebfbdff82c59fp-3;
  u = r * r * p + r * 0x1.abc9e3b39803fp-56;
  return tt__scale(1 + (r * 0x1.62e42fefa39efp-1 + u), t);
}

/* e^x - 1 = 2^k ((1 - 2^-k) + (e^r - 1)), e^r - 1 = r + r^2/2 + r^3 p(r) (job expm1). */
TT_FN tt_f64 tt_expm1_f64(tt_f64 x) {
  tt_f64 v = tt__clamp(x, -50, 750), t = v * TT__LOG2E + TT__MAGIC, k = t - TT__MAGIC;
  tt_f64 a = v - k * TT__LN2_HI, b = k * TT__LN2_LO, r = a - b, c = (a - r) - b, p, e, s;
  tt__dd h;
  p = 0x1.1f905f2298eccp-29;
  p = p * r + 0x1.af5900bccbcaep-26;
  p = p * r + 0x1.27e4c9785dac2p-22;
  p = p * r + 0x1.71ddfbe5d48bdp-19;
  p = p * r + 0x1.a01a01ae8218dp-16;
  p = p * r + 0x1.a01a01ae55e65p-13;
  p = p * r + 0x1.6c16c16c14d9bp-10;
  p = p * r + 0x1.111111110fb1cp-7;
  p = p * r + 0x1.5555555555558p-5;
  p = p * r + 0x1.5555555555558p-3;
  e = r * r * 0.5 + (r * r * r * p + (c + c * r)); /* e^r - 1 - r */
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
/* For x > 0 and finite (else anything). */
TT_FN tt__split tt__log_split(tt_f64 x) {
  int tiny = x < 0x1p-1022;
  tt_u64 u = tt__bits_f64(tiny ? x * 0x1p54 : x);
  tt_u64 e = (u - 0x3fe6a09e667f3bcdull) + (1023ull << 52);
  tt__split r;
  r.k = tt__from_f64(0x4330000000000000ull | e >> 52) - (tiny ? 0x1p52 + 1077 : 0x1p52 + 1023);
  r.f = tt__from_f64((e & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1;
  return r;
}
/* log(1 + f) + f^2/2 - f for f = m - 1. */
TT_FN tt_f64 tt__log_poly(tt_f64 f) {
  tt_f64 s = f / (2 + f), z = s * s, p;
  p = 0x1.2dfb5f3048d43p-3;
  p = p * z + 0x1.39bde803b671fp-3;
  p = p * z + 0x1.746511c3dc994p-3;
  p = p * z + 0x1.c71c584a47f4bp-3;
  p = p * z + 0x1.24924939669f7p-2;
  p = p * z + 0x1.999999998adb9p-2;
  p = p * z + 0x1.555555555556bp-1;
  return s * (0.5 * f * f + z * p);
}
/* What a logarithm is at 0, below 0, at infinity and at NaN; y elsewhere. */
TT_FN tt_f64 tt__log_ends(tt_f64 x, tt_f64 y) {
  y = x == TT__INF_F64 ? x : y;
  y = x == 0 ? -TT__INF_F64 : y;
  return x < 0 ? TT__NAN_F64 : x != x ? x : y;
}
TT_FN tt_f64 tt_log_f64(tt_f64 x) {
  tt__split a = tt__log_split(x);
  tt_f64 h = 0.5 * a.f * a.f, r = tt__log_poly(a.f);
  return tt__log_ends(x, a.k * TT__LN2_HI - ((h - (r + a.k * TT__LN2_LO)) - a.f));
}
/* (k + log(1+f)/log b) with 1/log b in two parts, the first of 24 bits, and log b of 2 likewise. */
TT_FN tt_f64 tt__log_base(tt_f64 x, tt_f64 ihi, tt_f64 ilo, tt_f64 khi, tt_f64 klo) {
  tt__split a = tt__log_split(x);
  tt_f64 h = 0.5 * a.f * a.f, r = tt__log_poly(a.f);
  tt_f64 hi = tt__from_f64(tt__bits_f64(a.f - h) & 0xffffffff00000000ull), lo = ((a.f - hi) - h) + r;
  tt_f64 v = hi * ihi, y = a.k * khi;
  tt__dd w = tt__two_sum(y, v);
  tt_f64 low = lo * (ihi + ilo) + hi * ilo + a.k * klo;
  return tt__log_ends(x, w.hi + (low + w.lo));
}
TT_FN tt_f64 tt_log2_f64(tt_f64 x) { return tt__log_base(x, 0x1.7154760000000p+0, 0x1.4ae0bf85ddf44p-26, 1, 0); }
TT_FN tt_f64 tt_log10_f64(tt_f64 x) {
  return tt__log_base(x, 0x1.bcb7b00000000p-2, 0x1.526e50e32a6abp-26, 0x1.34413509f7800p-2, 0x1.fef311f12b358p-46);
}
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

/* log x for x > 0, to about 2^-65 of itself. */
TT_FN tt__dd tt__log_dd(tt_f64 x) {
  tt__split a = tt__log_split(x);
  tt_f64 d = 2 + a.f, dl = a.f - (d - 2), inv = 1 / d, s = a.f * inv, sl, p, v;
  tt__dd t = tt__two_prod(s, d), z, u, w, r, e;
  sl = (((a.f - t.hi) - t.lo) - s * dl) * inv;
  z = tt__two_prod(s, s);
  z.lo += 2 * s * sl;
  p = 0x1.e909cabb68d12p-4; /* job pow */
  p = p * z.hi + 0x1.de76eb5f2bd13p-4;
  p = p * z.hi + 0x1.111ee620a9183p-3;
  p = p * z.hi + 0x1.3b136ff04de01p-3;
  p = p * z.hi + 0x1.745d17fb4dc00p-3;
  p = p * z.hi + 0x1.c71c71c60128ep-3;
  p = p * z.hi + 0x1.2492492492b62p-2;
  p = p * z.hi + 0x1.9999999999998p-2;
  u = tt__fast_sum(0x1.5555555555555p-1, z.hi * p + z.lo * 0x1.9999999999998p-2);
  u.lo += 0x1.5555555555555p-55;
  t = tt__two_prod(z.hi, u.hi);
  t.lo += z.hi * u.lo + z.lo * u.hi;
  w = tt__two_prod(s, t.hi);
  w.lo += s * t.lo + sl * t.hi;
  r = tt__fast_sum(a.k * TT__LN2_HI, 2 * s);
  e = tt__two_sum(r.hi, w.hi);
  v = r.lo + e.lo + (2 * sl + w.lo + a.k * TT__LN2_LO);
  return tt__fast_sum(e.hi, v);
}

/* ---- powers, f64 ---------------------------------------------------------
** |x|^y = exp(y log|x|), the logarithm and the product as double-doubles.
*/
TT_FN tt_f64 tt_pow_f64(tt_f64 x, tt_f64 y) {
  tt_f64 ax = tt_abs_f64(x), v = tt__clamp(y, -0x1p70, 0x1p70), lo, r;
  tt__dd l = tt__log_dd(ax), e;
  int whole = tt_trunc_f64(y) == y;
  int odd = whole & (tt_abs_f64(y) < 0x1p53) & (tt_trunc_f64(y * 0.5) != y * 0.5);
  int end = (ax == 0) | (ax == TT__INF_F64);
  e = tt__two_prod(v, l.hi);
  lo = e.lo + v * l.lo;
  lo = tt_abs_f64(e.hi) < 750 ? lo : 0;
  r = tt__exp_scaled(tt__clamp(e.hi, -750, 750), lo, 0);
  r = end ? ((ax == 0) == (y < 0) ? TT__INF_F64 : 0) : r;
  r = ((x < 0) & !whole & !end) ? TT__NAN_F64 : r;
  r = odd ? tt_copysign_f64(r, x) : r;
  r = ((x != x) | (y != y)) ? x + y : r;
  return ((y == 0) | (x == 1)) ? 1 : r;
}

/* m * 2^(3q), m in [1/2, 4): Halley's step on a polynomial start (job cbrt), then Newton's on a value whose square is exact. */
TT_FN tt_f64 tt_cbrt_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), s = a < 0x1p-1022 ? a * 0x1p54 : a, k, q, m, j, t, w, p;
  tt_u64 u = tt__bits_f64(s);
  k = tt__from_f64(0x4330000000000000ull | u >> 52) - (0x1p52 + 1022);
  q = ((k - 1) * 0x1.5555555555555p-2 + TT__MAGIC) - TT__MAGIC;
  j = k - 3 * q;
  m = tt__from_f64((u & 0xfffffffffffffull) | 0x3fe0000000000000ull);
  p = -0x1.13c993683b054p-3;
  p = p * m + 0x1.17e2457f46d5cp-1;
  p = p * m - 0x1.e8a51b6134116p-1;
  p = p * m + 0x1.23d701d426e5ap+0;
  p = p * m + 0x1.9c0c044e4a28bp-2;
  t = p * (j == 0 ? 1 : j == 1 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0);
  m = m * (j == 0 ? 1 : j == 1 ? 2 : 4);
  w = t * t * t;
  t = t * ((w + 2 * m) / (2 * w + m));
  t = tt__upper(t);
  w = m / (t * t);
  t = t + t * ((w - t) / (2 * t + w));
  t = t * tt__pow2(q - (a < 0x1p-1022 ? 18 : 0) + TT__MAGIC);
  return ((a == 0) | !(a < TT__INF_F64)) ? x : tt_copysign_f64(t, x);
}

/* Scaled so that squares neither overflow nor vanish. */
TT_FN tt_f64 tt_hypot_f64(tt_f64 x, tt_f64 y) {
  tt_f64 a = tt_abs_f64(x), b = tt_abs_f64(y), m = a > b ? a : b, up, h;
  up = m > 0x1p500 ? 0x1p-600 : m < 0x1p-500 ? 0x1p600 : 1;
  h = TT_SQRT_F64((a * up) * (a * up) + (b * up) * (b * up)) * (m > 0x1p500 ? 0x1p600 : m < 0x1p-500 ? 0x1p-600 : 1);
  h = ((x != x) | (y != y)) ? x + y : h;
  return (tt_isinf_f64(a) | tt_isinf_f64(b)) != 0 ? TT__INF_F64 : h;
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
  tt_u64 u = tt__bits_f64(x) & 0x7fffffffffffffffull;
  tt_i32 e = (tt_i32)(u >> 52) - 1075 + 30; /* |x| = m 2^(e - 30) */
  tt_i32 at = e < 0 ? 0 : e > 1006 ? 31 : e >> 5, sh = e & 31;
  tt_u64 ml = u & 0xffffffffull, mh = ((u & 0xfffffffffffffull) | 0x10000000000000ull) >> 32;
  tt_u64 v[6], c = 0, q, hi, lo;
  tt_f64 h0, h1, flip;
  tt__dd f, p, r;
  tt__angle g;
  for (int j = 0; j < 6; j++)
    v[j] = (((tt_u64)tt__two_over_pi[at + j] << 32 | tt__two_over_pi[at + j + 1]) >> (32 - sh)) & 0xffffffffull;
  /* The fraction of m * 0.v, 32 bits a word, most significant first: v becomes the product. */
  tt_u64 w[6];
  for (int j = 5; j >= 0; j--) {
    c += v[j] * ml;
    w[j] = c & 0xffffffffull;
    c >>= 32;
  }
  c = 0;
  for (int j = 5; j >= 1; j--) {
    c += v[j] * mh + w[j - 1];
    w[j - 1] = c & 0xffffffffull;
    c >>= 32;
  }
  hi = w[0] << 32 | w[1];
  lo = w[2] << 32 | w[3];
  q = (hi + (1ull << 61)) >> 62;
  hi -= q << 62; /* a signed fraction of a turn */
  h0 = tt__from_f64(0x4330000000000000ull | (((hi >> 32) + 0x80000000ull) & 0xffffffffull)) - (0x1p52 + 0x1p31);
  h1 = tt__from_f64(0x4330000000000000ull | (hi & 0xffffffffull)) - 0x1p52;
  f = tt__two_sum(h0 * 0x1p-32, h1 * 0x1p-64);
  h0 = tt__from_f64(0x4330000000000000ull | lo >> 32) - 0x1p52;
  h1 = tt__from_f64(0x4330000000000000ull | (lo & 0xffffffffull)) - 0x1p52;
  f = tt__fast_sum(f.hi, f.lo + (h0 * 0x1p-96 + h1 * 0x1p-128));
  p = tt__two_prod(f.hi, 0x1.921fb54442d18p+2);
  r = tt__fast_sum(p.hi, p.lo + (f.hi * 0x1.1a62633145c07p-52 + f.lo * 0x1.921fb54442d18p+2));
  flip = x < 0 ? -1 : 1;
  g.r = r.hi * flip;
  g.lo = r.lo * flip;
  g.q = x < 0 ? 0 - q : q;
  return g;
}
TT_FN tt__angle tt__angle_of(tt_f64 x) {
  tt__angle g;
  if (tt_abs_f64(x) < TT__TRIG_SMALL) return tt__angle_small(x);
  g = tt__angle_huge(x);
  g.r = tt_isfinite_f64(x) ? g.r : TT__NAN_F64;
  return g;
}
/* Jobs sin and cos. */
TT_FN tt_f64 tt__sin_poly(tt__angle g) {
  tt_f64 z = g.r * g.r, p = 0x1.5db2bd0db12f0p-33;
  p = p * z - 0x1.ae5edf053747ap-26;
  p = p * z + 0x1.71de3624b078ap-19;
  p = p * z - 0x1.a01a019cf64aep-13;
  p = p * z + 0x1.11111111100f3p-7;
  p = p * z - 0x1.5555555555550p-3;
  return g.r + (g.r * z * p + g.lo * (1 - 0.5 * z));
}
TT_FN tt_f64 tt__cos_poly(tt__angle g) {
  tt_f64 z = g.r * g.r, w = 1 - 0.5 * z, p = -0x1.8fcb03dd97d6fp-37;
  p = p * z + 0x1.1eea26ac554bcp-29;
  p = p * z - 0x1.27e4f8674e82bp-22;
  p = p * z + 0x1.a01a019d3ecf6p-16;
  p = p * z - 0x1.6c16c16c157bdp-10;
  p = p * z + 0x1.555555555554fp-5;
  return w + (((1 - w) - 0.5 * z) + (z * z * p - g.r * g.lo));
}
TT_FN tt_f64 tt__sin_turn(tt__angle g, tt_u64 add) {
  tt_u64 q = g.q + add;
  tt_f64 s = tt__sin_poly(g), c = tt__cos_poly(g), y = (q & 1) != 0 ? c : s;
  return (q & 2) != 0 ? -y : y;
}
TT_FN tt_f64 tt_sin_f64(tt_f64 x) {
  tt_f64 y = tt__sin_turn(tt__angle_of(x), 0);
  return x == 0 ? x : y;
}
TT_FN tt_f64 tt_cos_f64(tt_f64 x) { return tt__sin_turn(tt__angle_of(x), 1); }
TT_FN tt_f64 tt_tan_f64(tt_f64 x) {
  tt__angle g = tt__angle_of(x);
  tt_f64 s = tt__sin_poly(g), c = tt__cos_poly(g);
  tt_f64 y = (g.q & 1) != 0 ? -c / s : s / c;
  return x == 0 ? x : y;
}

/* ---- inverse circular functions, f64 -------------------------------------
** asin x = x + x z p(z), z = x*x <= 1/4 (job asin); above 1/2,
** asin x = pi/2 - 2 asin(sqrt((1 - x)/2)), the root with its rounding error.
*/
#define TT__PIO2_HI 0x1.921fb54442d18p+0
#define TT__PIO2_LO 0x1.1a62633145c07p-54
TT_FN tt_f64 tt__asin_poly(tt_f64 z) {
  tt_f64 p = 0x1.f89c032c626b2p-6;
  p = p * z - 0x1.dbbd0ee79a962p-7;
  p = p * z + 0x1.2d2e95efb67f7p-6;
  p = p * z + 0x1.c8d6bce147bb6p-8;
  p = p * z + 0x1.8b32183f6bfb0p-7;
  p = p * z + 0x1.c7923f6161711p-7;
  p = p * z + 0x1.1c63ce5d73f68p-6;
  p = p * z + 0x1.6e8a888cfe227p-6;
  p = p * z + 0x1.f1c72579d6c1ep-6;
  p = p * z + 0x1.6db6db598d3fap-5;
  p = p * z + 0x1.33333333469a2p-4;
  p = p * z + 0x1.5555555555516p-3;
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
  return a > 1 ? TT__NAN_F64 : x != x ? x : y;
}
TT_FN tt_f64 tt_acos_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), y, big;
  tt__dd r = tt__asin_root(0.5 * (1 - a));
  y = TT__PIO2_HI - (x - (TT__PIO2_LO - x * tt__asin_poly(a * a)));
  big = x > 0 ? 2 * (r.hi + r.lo) : 2 * ((TT__PIO2_HI - r.hi) + (TT__PIO2_LO - r.lo));
  y = a <= 0.5 ? y : big;
  return a > 1 ? TT__NAN_F64 : x != x ? x : y;
}

/*
** atan a = atan c + atan((a - c)/(1 + a c)), c one of 0, 1/2, 1, 3/2, infinity, so that
** the last argument t is at most 7/16; atan t = t + t z p(z), z = t*t (job atan).
*/
TT_FN tt_f64 tt_atan_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), n, d, hi, lo, t, z, p;
  n = a < 0.4375 ? a : a < 0.6875 ? 2 * a - 1 : a < 1.1875 ? a - 1 : a < 2.4375 ? a - 1.5 : -1;
  d = a < 0.4375 ? 1 : a < 0.6875 ? 2 + a : a < 1.1875 ? a + 1 : a < 2.4375 ? 1 + 1.5 * a : a;
  hi = a < 0.4375   ? 0
       : a < 0.6875 ? 0x1.dac670561bb4fp-2
       : a < 1.1875 ? 0x1.921fb54442d18p-1
       : a < 2.4375 ? 0x1.f730bd281f69bp-1
                    : TT__PIO2_HI;
  lo = a < 0.4375   ? 0
       : a < 0.6875 ? 0x1.a2b7f222f65e2p-56
       : a < 1.1875 ? 0x1.1a62633145c07p-55
       : a < 2.4375 ? 0x1.007887af0cbbdp-56
                    : TT__PIO2_LO;
  t = n / d;
  z = t * t;
  p = -0x1.1197b1ec0f347p-6;
  p = p * z + 0x1.2ee35ea184dafp-5;
  p = p * z - 0x1.9961f07678096p-5;
  p = p * z + 0x1.de5353927d802p-5;
  p = p * z - 0x1.10df955e8dc24p-4;
  p = p * z + 0x1.3b102131c20efp-4;
  p = p * z - 0x1.745cecf06f03ap-4;
  p = p * z + 0x1.c71c7094eb415p-4;
  p = p * z - 0x1.249249223664ep-3;
  p = p * z + 0x1.999999999591cp-3;
  p = p * z - 0x1.5555555555549p-2;
  p = hi + (t + (t * z * p + lo));
  return x != x ? x : tt_copysign_f64(p, x);
}
TT_FN tt_f64 tt_atan2_f64(tt_f64 y, tt_f64 x) {
  tt_f64 a = tt_abs_f64(y), b = tt_abs_f64(x);
  int both = tt_isinf_f64(a) & tt_isinf_f64(b);
  tt_f64 t = tt_atan_f64(both ? 1 : a == 0 ? 0 : a / b), neg = tt_signbit_f64(x);
  t = neg != 0 ? 2 * TT__PIO2_HI - (t - 2 * TT__PIO2_LO) : t;
  return ((x != x) | (y != y)) ? x + y : tt_copysign_f64(t, y);
}

/* ---- hyperbolic functions, f64 ------------------------------------------- */
TT_FN tt_f64 tt_sinh_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), z = x * x, p, e, y;
  p = 0x1.b499b8aad202ap-41; /* sinh x = x + x z p(z), |x| <= 1 (job sinh) */
  p = p * z + 0x1.611afb71e75e3p-33;
  p = p * z + 0x1.ae6465427ca6cp-26;
  p = p * z + 0x1.71de3a48fbe83p-19;
  p = p * z + 0x1.a01a01a024c01p-13;
  p = p * z + 0x1.11111111110d1p-7;
  p = p * z + 0x1.5555555555555p-3;
  e = tt__exp_scaled(tt__clamp(a, 0, 750), 0, -1);
  y = e - 0.25 / e;
  return a < 1 ? x + x * z * p : tt_copysign_f64(y, x);
}
TT_FN tt_f64 tt_cosh_f64(tt_f64 x) {
  tt_f64 e = tt__exp_scaled(tt__clamp(tt_abs_f64(x), 0, 750), 0, -1);
  return e + 0.25 / e;
}
TT_FN tt_f64 tt_tanh_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), t = tt_expm1_f64(2 * (a > 30 ? 30 : a));
  return x != x ? x : tt_copysign_f64(t / (t + 2), x);
}
TT_FN tt_f64 tt_asinh_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x), b = a > 0x1p28 ? 0x1p28 : a, z = b * b;
  tt__dd u = tt__two_sum(1, b + z / (1 + TT_SQRT_F64(z + 1)));
  tt_f64 y = tt__log_sum(a > 0x1p28 ? a : u.hi, a > 0x1p28 ? 0 : u.lo) + (a > 0x1p28 ? 0x1.62e42fefa39efp-1 : 0);
  return ((a == 0) | !(a < TT__INF_F64)) ? x : tt_copysign_f64(y, x);
}
TT_FN tt_f64 tt_acosh_f64(tt_f64 x) {
  tt_f64 b = x > 0x1p28 ? 0x1p28 : x, t = b - 1;
  tt__dd u = tt__two_sum(1, t + TT_SQRT_F64(2 * t + t * t));
  tt_f64 y = tt__log_sum(x > 0x1p28 ? x : u.hi, x > 0x1p28 ? 0 : u.lo) + (x > 0x1p28 ? 0x1.62e42fefa39efp-1 : 0);
  return x < 1 ? TT__NAN_F64 : !(x < TT__INF_F64) ? x : y;
}
TT_FN tt_f64 tt_atanh_f64(tt_f64 x) {
  tt_f64 a = tt_abs_f64(x);
  tt_f64 y = 0.5 * tt_log1p_f64(2 * a / (1 - a));
  return x != x ? x : a > 1 ? TT__NAN_F64 : tt_copysign_f64(y, x);
}
TT_FN tt_f64 tt_logaddexp_f64(tt_f64 a, tt_f64 b) {
  tt_f64 m = a > b ? a : b, d = a > b ? b - a : a - b;
  tt_f64 y = m + tt_log1p_f64(tt_exp_f64(d));
  return ((a != a) | (b != b)) ? a + b : a == b ? a + 0x1.62e42fefa39efp-1 : y;
}

/* ---- f32 through f64 ------------------------------------------------------ */
#define TT__F32_1(name) \
  TT_FN tt_f32 tt_##name##_f32(tt_f32 x) { return (tt_f32)tt_##name##_f64((tt_f64)x); }
#define TT__F32_2(name) \
  TT_FN tt_f32 tt_##name##_f32(tt_f32 x, tt_f32 y) { return (tt_f32)tt_##name##_f64((tt_f64)x, (tt_f64)y); }
TT__F32_1(cbrt)
TT__F32_1(exp)
TT__F32_1(exp2)
TT__F32_1(expm1)
TT__F32_1(log)
TT__F32_1(log2)
TT__F32_1(log10)
TT__F32_1(log1p)
TT__F32_1(sin)
TT__F32_1(cos)
TT__F32_1(tan)
TT__F32_1(asin)
TT__F32_1(acos)
TT__F32_1(atan)
TT__F32_1(sinh)
TT__F32_1(cosh)
TT__F32_1(tanh)
TT__F32_1(asinh)
TT__F32_1(acosh)
TT__F32_1(atanh)
TT__F32_2(atan2)
TT__F32_2(pow)
TT__F32_2(logaddexp)
TT__F32_2(hypot)

#endif
