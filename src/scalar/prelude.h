/*
** Scalar functions, one text for every place where an element is computed: the
** interpreter's loops (compiled ahead), rendered C, CUDA C and OpenCL C. It
** travels as text inside the library, so it includes nothing and knows nothing
** of arrays, kernels or devices. Three files, joined in this order into one text:
** prelude.h (types, casts, integers, plain float work), prelude_f64.h, prelude_f32.h.
**
** tt_<op>_<type>(...)       a row of ops.def on a kernel type (b8 i8..u64 f32 f64)
** tt_cast_<from>_<to>(x)    NumPy's conversions, f16 and bf16 as bit patterns
** tt_widen_f16(x, o, n), tt_narrow_f16(x, o, n), tt_rounded_f16(x, o, n)   n in a row (not where lanes are threads)
** tt_round_f16_f32(x)       an f32 rounded to a narrower type's values (and bf16)
** tt_where_<type>(c, a, b)  both sides are computed
** tt__...                   ours, not for rendered text
**
** Sine, cosine, tangent and float remainders have arguments so large that the work is of another kind. For them,
** tt_far_<op>_<type>(...) says that the arguments are such, tt_near_<op>_<type>(...) is right elsewhere and cheaper,
** and tt_<op>_<type> is always right, with the same bits where both are. A loop may look at its block first and then
** run over near or over all. Where lanes are threads, near is taken for all lanes until one is far
** (gpu/main_loop.c).
**
** The meaning is NumPy's, to the last special case. Every function gives the
** same bits on every machine: only IEEE +, -, *, /, sqrt, integers and the fused multiply-add are used (where the
** machine has none, a sum that is rounded to odd first), never the C library. Compile with
**   -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv
** (CUDA: --fmad=false). Selects instead of branches let a compiler turn a loop
** over any of them into vector code.
**
** Coefficients written as hex floats come from tools/minimax.py; the job is
** named beside them. Error bounds are asserted by tests/unit/scalar/test_prelude_math.c.
**
** A dialect may define, before this text:
**   TT_DIALECT_TYPES  the types are there         TT_FN     qualifiers of a function (TT_RARE: of a rarely needed one)
**   TT_DIALECT_BITS   tt__bits_*, tt__from_* are  TT_CONST  qualifiers of a constant table
**   TT_SQRT_F32/F64   correctly rounded roots     TT_ROUND_INLINE  floor, ceil, trunc, rint as one instruction
**   TT_FMA_F32/F64    a fused multiply-add in hardware     TT_U64, TT_I64  how a 64-bit literal is written
**   TT_WIDE_U32(a, b) the product in 64 bits, where that is an instruction which the compiler misses
**   TT_INT_DIVIDE     integer division is as good as float division
**   TT_VECTOR_QUOTIENT  loops over elements are vectors that convert integers of 64 bits and floats: so do quotients
**   TT_SCALAR_LANES   lanes are threads: integers cost no more than floats, a branch that most take alike costs little
**   TT_CLAMP_F32      (x, low, high) between the two, any NaN for a NaN
**   TT_NEAR_F32       division, 1/x, square root, exp and log of f32 have near forms too (prelude_f32.h); there
**                     are TT_SIZE_F32(x), the absolute value, and TT_MOST_F32(a, b), the greater, any NaN for a NaN;
**                     tt__guess_reciprocal(x), tt__guess_root(x): 1/x and 1/sqrt(x) within a unit of the last place,
**                     which take a subnormal for the zero of its sign and give that zero where 1/x would be one
**   TT_NARROW_MATH    the polynomials of f32 that need none of f64 are enough
**   TT_ONLY_WIDE      no arithmetic on integers below 64 bits
**   TT_DIALECT_HALVES tt_cast_f16_f32, tt_cast_f32_f16 and tt_cast_f32_bf16 are there
*/
#ifndef TT_SCALAR_PRELUDE_H
#define TT_SCALAR_PRELUDE_H

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

#ifndef TT_U64 /* a literal of 64 bits */
#define TT_U64(x) x##ull
#define TT_I64(x) x##ll
#endif
#ifndef TT_FN
#define TT_FN static inline __attribute__((always_inline, unused))
#endif
/*
** A function that every lane calls and few lanes need. GCC makes vector forms of it, which look at their lanes one by
** one, so that a loop over its callers stays vector code; elsewhere it is a function like any other.
*/
#ifndef TT_RARE
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__CUDACC__)
#define TT_RARE static __attribute__((simd("notinbranch"), noinline, const, unused))
#else
#define TT_RARE TT_FN
#endif
#endif
#ifndef TT_CONST
#define TT_CONST static const __attribute__((unused))
#endif
#ifndef TT_SQRT_F64
#define TT_SQRT_F32(x) __builtin_sqrtf(x)
#define TT_SQRT_F64(x) __builtin_sqrt(x)
#endif
#if !defined(TT_FMA_F64) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
#define TT_FMA_F32(a, b, c) __builtin_fmaf(a, b, c)
#define TT_FMA_F64(a, b, c) __builtin_fma(a, b, c)
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

#define TT__NAN_f32 tt__from_f32(0x7fc00000u)
#define TT__INF_f32 tt__from_f32(0x7f800000u)
#define TT__NAN_f64 tt__from_f64(TT_U64(0x7ff8000000000000))
#define TT__INF_f64 tt__from_f64(TT_U64(0x7ff0000000000000))

/* ---- casts ---------------------------------------------------------------
** Out of range and NaN behave as x86-64's conversion instructions do under
** NumPy; the selects keep C's undefined cases out of the compiler's sight.
*/
#ifndef TT_DIALECT_HALVES
TT_FN tt_f32 tt_cast_f16_f32(tt_f16 h) {
  tt_u32 a = ((tt_u32)h & 0x7fffu) << 13;
  tt_u32 u = tt__bits_f32(tt__from_f32(a) * 0x1p112f); /* exact, subnormals included */
  u = (h & 0x7c00u) == 0x7c00u ? a | 0x7f800000u : u;
  return tt__from_f32(u | ((tt_u32)h & 0x8000u) << 16);
}
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
#endif
TT_FN tt_f32 tt_cast_bf16_f32(tt_bf16 h) { return tt__from_f32((tt_u32)h << 16); }
/* f64 to f32 rounded to odd, so that a second rounding to fewer bits is correct. */
TT_FN tt_f32 tt__narrow_odd(tt_f64 x) {
  tt_f32 f = (tt_f32)x;
  tt_f64 back = (tt_f64)f, size = x < 0 ? -x : x, near = x < 0 ? -back : back;
  tt_u32 u = tt__bits_f32(f), odd = (u - (near > size)) | 1u;
  return tt__from_f32(((near < size) | (near > size)) ? odd : u);
}
TT_FN tt_f16 tt_cast_f64_f16(tt_f64 x) { return tt_cast_f32_f16(tt__narrow_odd(x)); }
TT_FN tt_bf16 tt_cast_f64_bf16(tt_f64 x) { return tt_cast_f32_bf16(tt__narrow_odd(x)); }
#ifdef TT_DIALECT_HALVES
TT_FN tt_f32 tt_round_f16_f32(tt_f32 x) { return tt_cast_f16_f32(tt_cast_f32_f16(x)); }
TT_FN tt_f32 tt_round_bf16_f32(tt_f32 x) { return tt_cast_bf16_f32(tt_cast_f32_bf16(x)); }
#else
/* Without the way over 16 bits: beside 2^13 times the power of two of x, an addition leaves the 11 bits of a half. */
TT_FN tt_f32 tt_round_f16_f32(tt_f32 x) {
  tt_u32 u = tt__bits_f32(x), sign = u & 0x80000000u, power = u & 0x7f800000u;
  power = power > 0x38800000u ? power : 0x38800000u; /* below, halves are as far apart as at 2^-14 */
  power = power < 0x47800000u ? power : 0x47800000u; /* there are none from 2^16 on */
  tt_f32 beside = tt__from_f32(power + (13u << 23)), r = (tt__from_f32(u ^ sign) + beside) - beside;
  r = r > 65504 ? TT__INF_f32 : r;
  return tt__from_f32((tt__bits_f32(r) & 0x7fffe000u) | sign); /* of a NaN what a half has room for */
}
TT_FN tt_f32 tt_round_bf16_f32(tt_f32 x) {
  tt_u32 u = tt__bits_f32(x), r = u + 0x7fffu + ((u >> 16) & 1u);
  r = (u & 0x7fffffffu) > 0x7f800000u ? u | 0x400000u : r;
  return tt__from_f32(r & 0xffff0000u);
}
#endif

#ifndef TT_SCALAR_LANES
/*
** The same of n in a row, by the processor's own conversions, of which compilers make no vectors. A half's NaN keeps
** its bits when it is widened, which they do not, so what has one is done again. All f32 have room for whole vectors.
*/
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define TT__HALVES 16
#define TT__WIDEN(h) __builtin_ia32_vcvtph2ps512_mask(h, (tt__floats){0}, (unsigned short)-1, 4)
#define TT__NARROW(f) (tt__halves) __builtin_ia32_vcvtps2ph512_mask(f, 0, (tt__halves){0}, (unsigned short)-1)
#define TT__LOAD_HALVES(p, mask) __builtin_ia32_loaddquhi256_mask((const void *)(p), (tt__halves){0}, mask)
#define TT__STORE_HALVES(p, h, mask) __builtin_ia32_storedquhi256_mask((void *)(p), h, mask)
#elif defined(__F16C__) && defined(__AVX2__) && !defined(__clang__)
#define TT__HALVES 8
#define TT__WIDEN(h) __builtin_ia32_vcvtph2ps256(h)
#define TT__NARROW(f) (tt__halves) __builtin_ia32_vcvtps2ph256(f, 0)
#endif
#ifdef TT__HALVES
typedef float tt__floats __attribute__((vector_size(4 * TT__HALVES)));
typedef short tt__halves __attribute__((vector_size(2 * TT__HALVES)));
/* The first m of a vector, the others 0. */
TT_FN tt__halves tt__load_halves(const tt_f16 *x, tt_i64 m) {
  tt__halves h = {0};
#ifdef TT__LOAD_HALVES
  if (m < TT__HALVES) return TT__LOAD_HALVES(x, (unsigned short)((1u << m) - 1));
#else
  tt_f16 few[TT__HALVES] = {0};
  for (tt_i64 k = 0; k < m && m < TT__HALVES; k++) few[k] = x[k];
  if (m < TT__HALVES) x = few;
#endif
  __builtin_memcpy(&h, x, sizeof h);
  return h;
}
TT_FN void tt__store_halves(tt_f16 *o, tt__halves h, tt_i64 m) {
#ifdef TT__STORE_HALVES
  if (m < TT__HALVES)
    TT__STORE_HALVES(o, h, (unsigned short)((1u << m) - 1));
  else
    __builtin_memcpy(o, &h, sizeof h);
#else
  tt_f16 few[TT__HALVES];
  __builtin_memcpy(m < TT__HALVES ? few : o, &h, sizeof h);
  for (tt_i64 k = 0; k < m && m < TT__HALVES; k++) o[k] = few[k];
#endif
}
TT_FN void tt_widen_f16(const tt_f16 *x, tt_f32 *o, tt_i64 n) {
  tt__halves nan = {0};
  short any[TT__HALVES], found = 0;
  for (tt_i64 i = 0; i < n; i += TT__HALVES) {
    tt__halves h = tt__load_halves(x + i, n - i);
    tt__floats f = TT__WIDEN(h);
    __builtin_memcpy(o + i, &f, sizeof f);
    nan |= (h & 0x7fff) > 0x7c00;
  }
  __builtin_memcpy(any, &nan, sizeof nan);
  for (int k = 0; k < TT__HALVES; k++) found |= any[k];
  for (tt_i64 i = 0; found && i < n; i++) o[i] = tt_cast_f16_f32(x[i]);
}
TT_FN void tt_narrow_f16(const tt_f32 *x, tt_f16 *o, tt_i64 n) {
  for (tt_i64 i = 0; i < n; i += TT__HALVES) {
    tt__floats f;
    __builtin_memcpy(&f, x + i, sizeof f);
    tt__store_halves(o + i, TT__NARROW(f), n - i);
  }
}
TT_FN void tt_rounded_f16(const tt_f32 *x, tt_f32 *o, tt_i64 n) {
  for (tt_i64 i = 0; i < n; i += TT__HALVES) {
    tt__floats f;
    __builtin_memcpy(&f, x + i, sizeof f);
    f = TT__WIDEN(TT__NARROW(f));
    __builtin_memcpy(o + i, &f, sizeof f);
  }
}
#else
TT_FN void tt_widen_f16(const tt_f16 *x, tt_f32 *o, tt_i64 n) {
  for (tt_i64 i = 0; i < n; i++) o[i] = tt_cast_f16_f32(x[i]);
}
TT_FN void tt_narrow_f16(const tt_f32 *x, tt_f16 *o, tt_i64 n) {
  for (tt_i64 i = 0; i < n; i++) o[i] = tt_cast_f32_f16(x[i]);
}
TT_FN void tt_rounded_f16(const tt_f32 *x, tt_f32 *o, tt_i64 n) {
  for (tt_i64 i = 0; i < n; i++) o[i] = tt_round_f16_f32(x[i]);
}
#endif
#endif

/* Large integers lose bits to a double; a sticky bit keeps the later rounding to bf16 correct. */
TT_FN tt_u64 tt__sticky(tt_u64 x) {
  return (x & ~TT_U64(0xfff)) | ((x & TT_U64(0xfff)) != 0 ? TT_U64(0x1000) : TT_U64(0));
}
TT_FN tt_bf16 tt__bf16_i64(tt_i64 x) {
  int small = x < (TT_I64(1) << 52) && x > -(TT_I64(1) << 52);
  return tt_cast_f64_bf16((tt_f64)(small ? x : (tt_i64)tt__sticky((tt_u64)x)));
}
TT_FN tt_bf16 tt__bf16_u64(tt_u64 x) { return tt_cast_f64_bf16((tt_f64)(x < (TT_U64(1) << 52) ? x : tt__sticky(x))); }

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
  return ok ? v : -TT_I64(0x7fffffffffffffff) - 1;
}
TT_FN tt_i64 tt_cast_f32_i64(tt_f32 x) {
  int ok = (x >= -0x1p63f) & (x < 0x1p63f);
  tt_i64 v = (tt_i64)(ok ? x : 0.0f);
  return ok ? v : -TT_I64(0x7fffffffffffffff) - 1;
}
/* Unsigned types of 32 and 64 bits: the upper half is converted less 2^(bits-1), then the top bit is flipped. */
#define TT__CAST_UPPER(S, F)                                                                       \
  TT_FN tt_u32 tt_cast_##S##_u32(F x) {                                                            \
    int up = x >= (F)0x1p31;                                                                       \
    return (tt_u32)tt_cast_##S##_i32(up ? x - (F)0x1p31 : x) ^ (up ? 1u << 31 : 0u);               \
  }                                                                                                \
  TT_FN tt_u64 tt_cast_##S##_u64(F x) {                                                            \
    int up = x >= (F)0x1p63;                                                                       \
    return (tt_u64)tt_cast_##S##_i64(up ? x - (F)0x1p63 : x) ^ (up ? TT_U64(1) << 63 : TT_U64(0)); \
  }
TT__CAST_UPPER(f32, tt_f32)
TT__CAST_UPPER(f64, tt_f64)

TT_FN tt_f64 tt_cast_f32_f64(tt_f32 x) { return (tt_f64)x; }
TT_FN tt_f32 tt_cast_f64_f32(tt_f64 x) { return (tt_f32)x; }
#define TT__CAST_FLOAT(S, F)                                                   \
  TT_FN tt_b8 tt_cast_##S##_b8(F x) { return (tt_b8)(x != 0); }                \
  TT_FN tt_i8 tt_cast_##S##_i8(F x) { return (tt_i8)tt_cast_##S##_i32(x); }    \
  TT_FN tt_i16 tt_cast_##S##_i16(F x) { return (tt_i16)tt_cast_##S##_i32(x); } \
  TT_FN tt_u8 tt_cast_##S##_u8(F x) { return (tt_u8)tt_cast_##S##_i32(x); }    \
  TT_FN tt_u16 tt_cast_##S##_u16(F x) { return (tt_u16)tt_cast_##S##_i32(x); } \
  TT_FN F tt_cast_##S##_##S(F x) { return x; }
TT__CAST_FLOAT(f32, tt_f32)
TT__CAST_FLOAT(f64, tt_f64)

#define TT__CAST_NARROW_TO(S, D, T) \
  TT_FN T tt_cast_##S##_##D(tt_##S h) { return tt_cast_f32_##D(tt_cast_##S##_f32(h)); }
#define TT__CAST_NARROW(S)                                                                           \
  TT__CAST_NARROW_TO(S, b8, tt_b8)                                                                   \
  TT__CAST_NARROW_TO(S, i8, tt_i8)                                                                   \
  TT__CAST_NARROW_TO(S, i16, tt_i16)                                                                 \
  TT__CAST_NARROW_TO(S, i32, tt_i32)                                                                 \
  TT__CAST_NARROW_TO(S, i64, tt_i64)                                                                 \
  TT__CAST_NARROW_TO(S, u8, tt_u8)                                                                   \
  TT__CAST_NARROW_TO(S, u16, tt_u16)                                                                 \
  /* NumPy takes these to u32 through i64, so that infinities and NaN give 0. */                     \
  TT_FN tt_u32 tt_cast_##S##_u32(tt_##S h) { return (tt_u32)tt_cast_f32_i64(tt_cast_##S##_f32(h)); } \
  TT__CAST_NARROW_TO(S, u64, tt_u64)                                                                 \
  TT__CAST_NARROW_TO(S, f64, tt_f64)                                                                 \
  TT_FN tt_##S tt_cast_##S##_##S(tt_##S h) { return h; }
TT__CAST_NARROW(f16)
TT__CAST_NARROW(bf16)
TT_FN tt_bf16 tt_cast_f16_bf16(tt_f16 h) { return tt_cast_f32_bf16(tt_cast_f16_f32(h)); }
TT_FN tt_f16 tt_cast_bf16_f16(tt_bf16 h) { return tt_cast_f32_f16(tt_cast_bf16_f32(h)); }

/* W: what becomes a float; int where it holds all of T: gcc makes no vectors of the byte of a comparison as a float. */
#define TT__CAST_INT(S, T, W, BF16)                                             \
  TT_FN tt_b8 tt_cast_##S##_b8(T x) { return (tt_b8)(x != 0); }                 \
  TT_FN tt_i8 tt_cast_##S##_i8(T x) { return (tt_i8)x; }                        \
  TT_FN tt_i16 tt_cast_##S##_i16(T x) { return (tt_i16)x; }                     \
  TT_FN tt_i32 tt_cast_##S##_i32(T x) { return (tt_i32)x; }                     \
  TT_FN tt_i64 tt_cast_##S##_i64(T x) { return (tt_i64)x; }                     \
  TT_FN tt_u8 tt_cast_##S##_u8(T x) { return (tt_u8)x; }                        \
  TT_FN tt_u16 tt_cast_##S##_u16(T x) { return (tt_u16)x; }                     \
  TT_FN tt_u32 tt_cast_##S##_u32(T x) { return (tt_u32)x; }                     \
  TT_FN tt_u64 tt_cast_##S##_u64(T x) { return (tt_u64)x; }                     \
  TT_FN tt_f32 tt_cast_##S##_f32(T x) { return (tt_f32)(W)x; }                  \
  TT_FN tt_f64 tt_cast_##S##_f64(T x) { return (tt_f64)(W)x; }                  \
  TT_FN tt_f16 tt_cast_##S##_f16(T x) { return tt_cast_f32_f16((tt_f32)(W)x); } \
  TT_FN tt_bf16 tt_cast_##S##_bf16(T x) { return BF16; }
TT__CAST_INT(b8, tt_b8, int, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(i8, tt_i8, int, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(i16, tt_i16, int, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(i32, tt_i32, tt_i32, tt_cast_f64_bf16((tt_f64)x))
TT__CAST_INT(i64, tt_i64, tt_i64, tt__bf16_i64(x))
TT__CAST_INT(u8, tt_u8, int, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(u16, tt_u16, int, tt_cast_f32_bf16((tt_f32)x))
TT__CAST_INT(u32, tt_u32, tt_u32, tt_cast_f64_bf16((tt_f64)x))
TT__CAST_INT(u64, tt_u64, tt_u64, tt__bf16_u64(x))

/* ---- every kernel type: comparisons and selection ------------------------ */
#define TT__ANY(S, T)                                         \
  TT_FN tt_b8 tt_eq_##S(T a, T b) { return (tt_b8)(a == b); } \
  TT_FN tt_b8 tt_ne_##S(T a, T b) { return (tt_b8)(a != b); } \
  TT_FN tt_b8 tt_lt_##S(T a, T b) { return (tt_b8)(a < b); }  \
  TT_FN tt_b8 tt_le_##S(T a, T b) { return (tt_b8)(a <= b); } \
  TT_FN tt_b8 tt_gt_##S(T a, T b) { return (tt_b8)(a > b); }  \
  TT_FN tt_b8 tt_ge_##S(T a, T b) { return (tt_b8)(a >= b); } \
  TT_FN T tt_where_##S(tt_b8 c, T a, T b) { return c ? a : b; }
/* Ordered types without NaN. */
#define TT__ORDERED(S, T)                                    \
  TT_FN T tt_maximum_##S(T a, T b) { return a > b ? a : b; } \
  TT_FN T tt_minimum_##S(T a, T b) { return a < b ? a : b; } \
  TT_FN T tt_fmax_##S(T a, T b) { return a > b ? a : b; }    \
  TT_FN T tt_fmin_##S(T a, T b) { return a < b ? a : b; }    \
  TT_FN T tt_and_##S(T a, T b) { return (T)(a & b); }        \
  TT_FN T tt_or_##S(T a, T b) { return (T)(a | b); }         \
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
#define TT__INT(S, T, W, BITS, NEGATIVE)                                                            \
  TT__ANY(S, T)                                                                                     \
  TT__ORDERED(S, T)                                                                                 \
  TT_FN T tt_not_##S(T a) { return (T)~a; }                                                         \
  TT_FN T tt_add_##S(T a, T b) { return (T)((W)a + (W)b); }                                         \
  TT_FN T tt_sub_##S(T a, T b) { return (T)((W)a - (W)b); }                                         \
  TT_FN T tt_mul_##S(T a, T b) { return (T)((W)a * (W)b); }                                         \
  TT_FN T tt_neg_##S(T a) { return (T)(0 - (W)a); }                                                 \
  TT_FN T tt_square_##S(T a) { return (T)((W)a * (W)a); }                                           \
  TT_FN T tt_reciprocal_##S(T a) { return tt_cast_f64_##S(1.0 / (tt_f64)a); }                       \
  TT_FN T tt_shl_##S(T a, T b) {                                                                    \
    W n = (W)b, in = n < (W)BITS;                                                                   \
    W v = (W)a << (in ? n : 0);                                                                     \
    return in ? (T)v : (T)0;                                                                        \
  }                                                                                                 \
  TT_FN W tt__gcd_##S(W x, W y) {                                                                   \
    while (y != 0) {                                                                                \
      W rest = x % y;                                                                               \
      x = y;                                                                                        \
      y = rest;                                                                                     \
    }                                                                                               \
    return x;                                                                                       \
  }                                                                                                 \
  TT_FN T tt_gcd_##S(T a, T b) {                                                                    \
    return (T)tt__gcd_##S((W)(NEGATIVE(a) ? 0 - (W)a : (W)a), (W)(NEGATIVE(b) ? 0 - (W)b : (W)b));  \
  }                                                                                                 \
  TT_FN T tt_lcm_##S(T a, T b) {                                                                    \
    W x = (W)(NEGATIVE(a) ? 0 - (W)a : (W)a), y = (W)(NEGATIVE(b) ? 0 - (W)b : (W)b);               \
    W g = tt__gcd_##S(x, y);                                                                        \
    return (T)(g == 0 ? 0 : x / g * y);                                                             \
  }                                                                                                 \
  /* By squaring. A negative exponent was refused above; here it gives the rounded-down inverse. */ \
  TT_FN T tt_pow_##S(T a, T b) {                                                                    \
    W r = 1, x = (W)a, n = NEGATIVE(b) ? 0 : (W)b;                                                  \
    for (; n != 0; n >>= 1) {                                                                       \
      r = (n & 1) != 0 ? r * x : r;                                                                 \
      x *= x;                                                                                       \
    }                                                                                               \
    return NEGATIVE(b) ? tt__inverse_##S(a, b) : (T)r;                                              \
  }

/*
** Division never traps: x//0 = x%0 = 0, and the least value divided by -1 is itself. Such divisors are met by masks:
** a choice that is the same for all lanes, as by one divisor of all, gcc 12 makes no vector of.
*/
/*
** Vector units divide floats only. A float of more bits than the operands truncates to the exact quotient: two
** different quotients a/d are at least 1/a of themselves apart. (TT_INT_DIVIDE: this machine's lanes divide integers.)
*/
#define TT__DIVIDE(T, a, d) ((T)((a) / (d)))
#ifdef TT_INT_DIVIDE
#define TT__DIVIDE_F32 TT__DIVIDE
#define TT__DIVIDE_F64 TT__DIVIDE
#else
#define TT__DIVIDE_F32(T, a, d) ((T)(tt_i32)((tt_f32)(a) / (tt_f32)(d)))
#define TT__DIVIDE_F64(T, a, d) ((T)((tt_f64)(a) / (tt_f64)(d)))
#endif
#define TT__SIGNED(S, T, W, BITS, QUOTIENT)                                                             \
  TT_FN T tt__inverse_##S(T a, T b) { return (T)(a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0); } \
  TT__INT(S, T, W, BITS, TT__BELOW_0)                                                                   \
  TT_FN T tt_abs_##S(T a) { return (T)(a < 0 ? 0 - (W)a : (W)a); }                                      \
  TT_FN T tt_sign_##S(T a) { return (T)((a > 0) - (a < 0)); }                                           \
  TT_FN T tt_shr_##S(T a, T b) {                                                                        \
    W n = (W)b, in = n < (W)BITS;                                                                       \
    return (T)(a >> (in ? n : (W)BITS - 1));                                                            \
  }                                                                                                     \
  TT_FN T tt_fmod_##S(T a, T b) {                                                                       \
    T d = (T)(((b == 0) | (b == -1)) ? 1 : b);                                                          \
    return (T)((W)a - (W)QUOTIENT(T, a, d) * (W)d);                                                     \
  }                                                                                                     \
  TT_FN T tt_floordiv_##S(T a, T b) {                                                                   \
    T d = (T)(((b == 0) | (b == -1)) ? 1 : b), q = QUOTIENT(T, a, d), r = (T)((W)a - (W)q * (W)d);      \
    W minus = (W)0 - (W)(b == -1), kept = (W)0 - (W)(b != 0);                                           \
    q = (T)(q - ((r != 0) & ((r < 0) != (d < 0))));                                                     \
    return (T)((((W)q ^ minus) - minus) & kept);                                                        \
  }                                                                                                     \
  TT_FN T tt_mod_##S(T a, T b) {                                                                        \
    T r = tt_fmod_##S(a, b);                                                                            \
    return (T)(((r != 0) & ((r < 0) != (b < 0))) ? r + b : r);                                          \
  }                                                                                                     \
  TT_FN T tt_quotient_##S(T a, T b) {                                                                   \
    T d = (T)(((b == 0) | (b == -1)) ? 1 : b), q = QUOTIENT(T, a, d);                                   \
    W minus = (W)0 - (W)(b == -1), none = (W)0 - (W)(b == 0);                                           \
    return (T)((((W)q ^ minus) - minus) | none);                                                        \
  }
#define TT__UNSIGNED(S, T, W, BITS, QUOTIENT)                     \
  TT_FN T tt__inverse_##S(T a, T b) { return b == 0 ? (T)1 : a; } \
  TT__INT(S, T, W, BITS, TT__NEVER)                               \
  TT_FN T tt_abs_##S(T a) { return a; }                           \
  TT_FN T tt_sign_##S(T a) { return (T)(a > 0); }                 \
  TT_FN T tt_shr_##S(T a, T b) {                                  \
    T v = (T)(a >> (b < BITS ? b : 0));                           \
    return b < BITS ? v : (T)0;                                   \
  }                                                               \
  TT_FN T tt_floordiv_##S(T a, T b) {                             \
    T q = QUOTIENT(T, a, (T)(b == 0 ? 1 : b));                    \
    return (T)((W)q & ((W)0 - (W)(b != 0)));                      \
  }                                                               \
  TT_FN T tt_mod_##S(T a, T b) {                                  \
    T d = (T)(b == 0 ? 1 : b);                                    \
    return (T)((W)a - (W)QUOTIENT(T, a, d) * (W)d);               \
  }                                                               \
  TT_FN T tt_fmod_##S(T a, T b) { return tt_mod_##S(a, b); }      \
  TT_FN T tt_quotient_##S(T a, T b) {                             \
    T q = QUOTIENT(T, a, (T)(b == 0 ? 1 : b));                    \
    return (T)((W)q | ((W)0 - (W)(b == 0)));                      \
  }

#ifndef TT_ONLY_WIDE /* a text that calls none of these is read in half the time without them */
TT__SIGNED(i8, tt_i8, tt_u32, 8, TT__DIVIDE_F32)
TT__SIGNED(i16, tt_i16, tt_u32, 16, TT__DIVIDE_F32)
TT__SIGNED(i32, tt_i32, tt_u32, 32, TT__DIVIDE_F64)
TT__UNSIGNED(u8, tt_u8, tt_u32, 8, TT__DIVIDE_F32)
TT__UNSIGNED(u16, tt_u16, tt_u32, 16, TT__DIVIDE_F32)
TT__UNSIGNED(u32, tt_u32, tt_u32, 32, TT__DIVIDE_F64)
#endif
#ifdef TT_VECTOR_QUOTIENT
/*
** No float has the bits for a quotient of 64. The factor is less than 1/d by more than all roundings make of it, so
** no guess is above the quotient and no rest below 0: the first leaves at most 2^15 + 1 times d, the second less than
** twice.
*/
TT_FN tt_u64 tt__by_floats_u64(tt_u64 a, tt_u64 d) {
  tt_f64 factor = 0x1.ffffffffffff8p-1 / (tt_f64)d;
  tt_u64 q = (tt_u64)((tt_f64)a * factor), r = a - q * d;
  tt_u64 more = (tt_u64)((tt_f64)r * factor);
  r -= more * d;
  return q + more + (r >= d);
}
TT_FN tt_i64 tt__by_floats_i64(tt_i64 a, tt_i64 d) {
  tt_u64 x = (tt_u64)(a >> 63), y = (tt_u64)(d >> 63); /* all ones below 0 */
  tt_u64 q = tt__by_floats_u64(((tt_u64)a ^ x) - x, ((tt_u64)d ^ y) - y);
  return (tt_i64)((q ^ x ^ y) - (x ^ y));
}
#define TT__DIVIDE_I64(T, a, d) tt__by_floats_i64(a, d)
#define TT__DIVIDE_U64(T, a, d) tt__by_floats_u64(a, d)
#else
#define TT__DIVIDE_I64 TT__DIVIDE
#define TT__DIVIDE_U64 TT__DIVIDE
#endif
TT__SIGNED(i64, tt_i64, tt_u64, 64, TT__DIVIDE_I64)
TT__UNSIGNED(u64, tt_u64, tt_u64, 64, TT__DIVIDE_U64)

#ifndef TT_WIDE_U32
#define TT_WIDE_U32(a, b) ((tt_u64)(a) * (b))
#endif
/* ---- random numbers ------------------------------------------------------
** Philox-4x32-10: four words for each number of a block, under a key. Draws of 4 bytes are four to a block, those of 8
** bytes two: place p of a stream is in block start + p / 4 (p / 2), in the order of its words. So a draw is a function
** of its place alone, and neighbours that are made together share a block:
**   tt_<draw>_<type>(place, start, key)         one draw
**   tt_block_<draw>_<type>(out, block, key)     all draws of a block
**   tt_run_<draw>_<type>(out, place, start, key, n)  draws of n places in a row (not where lanes are threads)
*/
typedef struct tt__block {
  tt_u32 a, b, c, d;
} tt__block;
TT_FN tt__block tt__philox(tt_u64 n, tt_u64 key) {
  tt__block r;
  tt_u32 k0 = (tt_u32)key, k1 = (tt_u32)(key >> 32);
  r.a = (tt_u32)n;
  r.b = (tt_u32)(n >> 32);
  r.c = r.d = 0;
  for (int i = 0; i < 10; i++) {
    tt_u64 p = TT_WIDE_U32(r.a, 0xD2511F53u), q = TT_WIDE_U32(r.c, 0xCD9E8D57u);
    r.a = (tt_u32)(q >> 32) ^ r.b ^ k0;
    r.c = (tt_u32)(p >> 32) ^ r.d ^ k1;
    r.b = (tt_u32)q;
    r.d = (tt_u32)p;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return r;
}
/* b where the lowest bit is set, else a: without what compilers might make a branch of. */
TT_FN tt_u32 tt__pick_u32(tt_u64 bit, tt_u32 a, tt_u32 b) { return a ^ ((a ^ b) & (0 - ((tt_u32)bit & 1))); }
TT_FN tt_u64 tt__pick_u64(tt_u64 bit, tt_u64 a, tt_u64 b) { return a ^ ((a ^ b) & (0 - (bit & 1))); }
TT_FN tt_u32 tt__word_u32(tt_u64 place, tt_u64 start, tt_u64 key) {
  tt__block w = tt__philox(start + (place >> 2), key);
  return tt__pick_u32(place, tt__pick_u32(place >> 1, w.a, w.c), tt__pick_u32(place >> 1, w.b, w.d));
}
TT_FN tt_u64 tt_philox_u64(tt_u64 place, tt_u64 start, tt_u64 key) {
  tt__block w = tt__philox(start + (place >> 1), key);
  return tt__pick_u64(place, (tt_u64)w.b << 32 | w.a, (tt_u64)w.d << 32 | w.c);
}
TT_FN void tt_block_philox_u64(tt_u64 *o, tt_u64 n, tt_u64 key) {
  tt__block w = tt__philox(n, key);
  o[0] = (tt_u64)w.b << 32 | w.a;
  o[1] = (tt_u64)w.d << 32 | w.c;
}
/* The upper 24 or 53 bits of a word as a fraction of one; the 53rd makes the 1 smaller that is taken away. */
TT_FN tt_f32 tt__fraction_f32(tt_u32 w) { return (tt_f32)(tt_i32)(w >> 8) * 0x1p-24f; }
TT_FN tt_f64 tt__fraction_f64(tt_u64 w) {
  const tt_u64 one = TT_U64(0x3ff0000000000000);
  return tt__from_f64(one | w >> 12) - tt__from_f64(one - (w >> 11 & 1));
}
TT_FN tt_f32 tt_uniform_f32(tt_u64 place, tt_u64 start, tt_u64 key) {
  return tt__fraction_f32(tt__word_u32(place, start, key));
}
TT_FN tt_f64 tt_uniform_f64(tt_u64 place, tt_u64 start, tt_u64 key) {
  return tt__fraction_f64(tt_philox_u64(place, start, key));
}
TT_FN void tt_block_uniform_f32(tt_f32 *o, tt_u64 n, tt_u64 key) {
  tt__block w = tt__philox(n, key);
  o[0] = tt__fraction_f32(w.a);
  o[1] = tt__fraction_f32(w.b);
  o[2] = tt__fraction_f32(w.c);
  o[3] = tt__fraction_f32(w.d);
}
TT_FN void tt_block_uniform_f64(tt_f64 *o, tt_u64 n, tt_u64 key) {
  tt__block w = tt__philox(n, key);
  o[0] = tt__fraction_f64((tt_u64)w.b << 32 | w.a);
  o[1] = tt__fraction_f64((tt_u64)w.d << 32 | w.c);
}
/* Single draws to the first whole block and after the last; DO(o, n, key, m): the draws of m <= 64 blocks from n on. */
#define TT__RUN(NAME, S, SHIFT, DO)                                                             \
  TT_FN void tt_run_##NAME##_##S(tt_##S *o, tt_u64 place, tt_u64 start, tt_u64 key, tt_i64 n) { \
    tt_i64 i = 0, whole = (tt_i64)((0 - place) & ((1u << SHIFT) - 1));                          \
    for (; i < n && i < whole; i++) o[i] = tt_##NAME##_##S(place + (tt_u64)i, start, key);      \
    for (tt_i64 m; (m = (n - i) >> SHIFT) > 0; i += m << SHIFT) {                               \
      m = m < 64 ? m : 64;                                                                      \
      DO(o + i, start + ((place + (tt_u64)i) >> SHIFT), key, m);                                \
    }                                                                                           \
    for (; i < n; i++) o[i] = tt_##NAME##_##S(place + (tt_u64)i, start, key);                   \
  }
#ifndef TT_SCALAR_LANES
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__OPENCL_C_VERSION__)
/*
** Blocks in vectors, one a lane of 64 bits, whose upper half is ignored: the product of two lower halves is one
** instruction then, where a compiler spreads words of 32 bits and gathers them again. GCC takes its name for it.
*/
#ifdef __AVX512F__
#define TT__LANES 8
#define TT__TIMES_GCC(a, b) \
  (tt__lanes) __builtin_ia32_pmuludq512_mask((tt__lanes_i32)(a), (tt__lanes_i32)(b), (tt__lanes_i64){0}, 255)
#elif defined(__AVX2__)
#define TT__LANES 4
#define TT__TIMES_GCC(a, b) (tt__lanes) __builtin_ia32_pmuludq256((tt__lanes_i32)(a), (tt__lanes_i32)(b))
#else
#define TT__LANES 2
#define TT__TIMES_GCC(a, b) (tt__lanes) __builtin_ia32_pmuludq128((tt__lanes_i32)(a), (tt__lanes_i32)(b))
#endif
typedef tt_u64 tt__lanes __attribute__((vector_size(8 * TT__LANES)));
typedef tt_i64 tt__lanes_i64 __attribute__((vector_size(8 * TT__LANES)));
typedef int tt__lanes_i32 __attribute__((vector_size(8 * TT__LANES)));
#ifdef __clang__
#define TT__TIMES(a, b) (((a)&0xffffffffu) * ((b)&0xffffffffu))
#else
#define TT__TIMES(a, b) TT__TIMES_GCC(a, b)
#endif
/* tt__philox of each lane: words 0 and 1, then 2 and 3, as one number each. */
TT_FN void tt__philox_wide(tt__lanes n, tt__lanes key, tt__lanes *first, tt__lanes *second) {
  tt__lanes a = n, b = n >> 32, c = n ^ n, d = c, k0 = key, k1 = key >> 32;
  const tt__lanes m0 = c + 0xD2511F53u, m1 = c + 0xCD9E8D57u, w0 = c + 0x9E3779B9u, w1 = c + 0xBB67AE85u;
  for (int i = 0; i < 10; i++) {
    tt__lanes p = TT__TIMES(a, m0), q = TT__TIMES(c, m1);
    a = (q >> 32) ^ b ^ k0;
    c = (p >> 32) ^ d ^ k1;
    b = q;
    d = p;
    k0 += w0;
    k1 += w1;
  }
  *first = b << 32 | (a & 0xffffffffu);
  *second = d << 32 | (c & 0xffffffffu);
}
/* The words of blocks n, n + 1 ... m of them, at most 64, two numbers each. */
TT_FN void tt__blocks_philox_u64(tt_u64 *o, tt_u64 n, tt_u64 key, tt_i64 m) {
  tt_u64 first[64], second[64];
  tt__lanes at, keys = {0};
  for (int l = 0; l < TT__LANES; l++) at[l] = n + (tt_u64)l;
  keys += key;
  for (tt_i64 g = 0; g < m; g += TT__LANES, at += TT__LANES) {
    tt__lanes x, y;
    tt__philox_wide(at, keys, &x, &y);
    __builtin_memcpy(first + g, &x, sizeof x);
    __builtin_memcpy(second + g, &y, sizeof y);
  }
  for (tt_i64 g = 0; g < m; g++) {
    o[2 * g] = first[g];
    o[2 * g + 1] = second[g];
  }
}
#else
TT_FN void tt__blocks_philox_u64(tt_u64 *o, tt_u64 n, tt_u64 key, tt_i64 m) {
  for (tt_i64 g = 0; g < m; g++) tt_block_philox_u64(o + 2 * g, n + (tt_u64)g, key);
}
#endif
TT_FN void tt__blocks_uniform_f32(tt_f32 *o, tt_u64 n, tt_u64 key, tt_i64 m) {
  tt_u64 w[128];
  tt__blocks_philox_u64(w, n, key, m);
  for (tt_i64 i = 0; i < 2 * m; i++) {
    o[2 * i] = tt__fraction_f32((tt_u32)w[i]);
    o[2 * i + 1] = tt__fraction_f32((tt_u32)(w[i] >> 32));
  }
}
TT_FN void tt__blocks_uniform_f64(tt_f64 *o, tt_u64 n, tt_u64 key, tt_i64 m) {
  tt_u64 w[128];
  tt__blocks_philox_u64(w, n, key, m);
  for (tt_i64 i = 0; i < 2 * m; i++) o[i] = tt__fraction_f64(w[i]);
}
TT__RUN(philox, u64, 1, tt__blocks_philox_u64)
TT__RUN(uniform, f32, 2, tt__blocks_uniform_f32)
TT__RUN(uniform, f64, 1, tt__blocks_uniform_f64)
#endif

/* ---- floats: what both sizes share ---------------------------------------
** S suffix, F type, U its bits, SIGN the sign bit, INF the bits of infinity.
*/
#define TT__FLOAT(S, F, U, SIGN, INF)                                                         \
  TT__ANY(S, F)                                                                               \
  TT_FN tt_b8 tt_isnan_##S(F a) { return (tt_b8)(a != a); }                                   \
  TT_FN tt_b8 tt_isinf_##S(F a) { return (tt_b8)((tt__bits_##S(a) & ~(U)SIGN) == (U)INF); }   \
  TT_FN tt_b8 tt_isfinite_##S(F a) { return (tt_b8)((tt__bits_##S(a) & ~(U)SIGN) < (U)INF); } \
  TT_FN tt_b8 tt_signbit_##S(F a) { return (tt_b8)(tt__bits_##S(a) >= (U)SIGN); }             \
  TT_FN F tt_add_##S(F a, F b) { return a + b; }                                              \
  TT_FN F tt_sub_##S(F a, F b) { return a - b; }                                              \
  TT_FN F tt_mul_##S(F a, F b) { return a * b; }                                              \
  TT_FN F tt_div_##S(F a, F b) { return a / b; }                                              \
  TT_FN F tt_neg_##S(F a) { return -a; }                                                      \
  TT_FN F tt_square_##S(F a) { return a * a; }                                                \
  TT_FN F tt_reciprocal_##S(F a) { return (F)1 / a; }                                         \
  TT_FN F tt_abs_##S(F a) { return tt__from_##S(tt__bits_##S(a) & ~(U)SIGN); }                \
  TT_FN F tt_copysign_##S(F a, F b) {                                                         \
    return tt__from_##S((tt__bits_##S(a) & ~(U)SIGN) | (tt__bits_##S(b) & (U)SIGN));          \
  }                                                                                           \
  TT_FN F tt_sign_##S(F a) { return a > 0 ? (F)1 : a < 0 ? (F)-1 : a == 0 ? (F)0 : a; }       \
  /* Equal operands (0 and -0): the second, as vector NumPy. */                               \
  TT_FN F tt_maximum_##S(F a, F b) {                                                          \
    const F most = a > b ? a : b; /* one instruction */                                       \
    return a != a ? a : most;                                                                 \
  }                                                                                           \
  TT_FN F tt_minimum_##S(F a, F b) {                                                          \
    const F least = a < b ? a : b;                                                            \
    return a != a ? a : least;                                                                \
  }                                                                                           \
  TT_FN F tt_fmax_##S(F a, F b) {                                                             \
    const F most = a > b ? a : b;                                                             \
    return b != b ? a : most;                                                                 \
  }                                                                                           \
  TT_FN F tt_fmin_##S(F a, F b) {                                                             \
    const F least = a < b ? a : b;                                                            \
    return b != b ? a : least;                                                                \
  }                                                                                           \
  TT_FN F tt_nextafter_##S(F a, F b) {                                                        \
    U u = tt__bits_##S(a);                                                                    \
    U away = (U)((b > a) == (a > 0)); /* from zero */                                         \
    F r = tt__from_##S(a == 0 ? (tt__bits_##S(b) & (U)SIGN) | 1 : away ? u + 1 : u - 1);      \
    return ((a != a) | (b != b)) ? a + b : a == b ? b : r;                                    \
  }
TT__FLOAT(f32, tt_f32, tt_u32, 0x80000000u, 0x7f800000u)
TT__FLOAT(f64, tt_f64, tt_u64, TT_U64(0x8000000000000000), TT_U64(0x7ff0000000000000))
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
#define TT__ROUND(S, F, WHOLE)                    \
  TT_FN F tt_rint_##S(F x) {                      \
    F a = tt_abs_##S(x), r = (a + WHOLE) - WHOLE; \
    return a < WHOLE ? tt_copysign_##S(r, x) : x; \
  }                                               \
  TT_FN F tt_floor_##S(F x) {                     \
    F r = tt_rint_##S(x);                         \
    return r > x ? tt_copysign_##S(r - 1, x) : r; \
  }                                               \
  TT_FN F tt_ceil_##S(F x) {                      \
    F r = tt_rint_##S(x);                         \
    return r < x ? tt_copysign_##S(r + 1, x) : r; \
  }                                               \
  TT_FN F tt_trunc_##S(F x) {                     \
    F a = tt_abs_##S(x), r = tt_rint_##S(a);      \
    return tt_copysign_##S(r > a ? r - 1 : r, x); \
  }
TT__ROUND(f32, tt_f32, 0x1p23f)
TT__ROUND(f64, tt_f64, 0x1p52)
#endif

#endif
