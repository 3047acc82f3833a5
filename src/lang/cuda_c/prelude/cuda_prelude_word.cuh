/*
** CUDA C's instructions on numbers as bits, for programs that run on the CPU: arithmetic in a rounding that is asked for,
** several small integers in a word. Behind cuda_prelude_types.cuh.
*/
#ifdef TT_WORD /* the program names some of them */
/* ---- roundings: -1 down, 1 up, 0 towards zero, 2 to the nearest */

/* The neighbour of x on one side; not of a NaN, nor beyond infinity. */
TT_INLINE double tt_neighbour(double x, int side) {
  unsigned long long u = __builtin_bit_cast(unsigned long long, x);
  if (x == 0) return side > 0 ? 0x1p-1074 : -0x1p-1074;
  return __builtin_bit_cast(double, u + ((side > 0) == (x > 0) ? 1 : ~0ull));
}
TT_INLINE float tt_neighbour(float x, int side) {
  unsigned u = __builtin_bit_cast(unsigned, x);
  if (x == 0) return side > 0 ? 0x1p-149f : -0x1p-149f;
  return __builtin_bit_cast(float, u + ((side > 0) == (x > 0) ? 1 : ~0u));
}
/* `near`, rounded to the nearest, is too small by what `rest` has the sign of. */
template <class T>
TT_INLINE T tt_rounded(T near, T rest, int side) {
  if (side == 0) side = near < 0 ? 1 : -1;
  if (side == 2 || !(side > 0 ? rest > 0 : rest < 0)) return near;
  return tt_neighbour(near, side);
}
TT_INLINE float tt_to_float(double x, int side) {
  float near = (float)x;
  double rest = x - (double)near;
  return tt_rounded(near, rest > 0 ? 1.0f : rest < 0 ? -1.0f : 0.0f, side);
}
/* The exact rest of a sum. */
TT_INLINE double tt_sum_rest(double x, double y, double sum) {
  double back = sum - x;
  return (x - (sum - back)) + (y - back);
}
/* A sum whose last digit says whether something was cut off, so that it can be rounded again. */
TT_INLINE double tt_odd_sum(double x, double y) {
  double sum = x + y, rest = tt_sum_rest(x, y, sum);
  if (!(rest != 0) || rest != rest || (__builtin_bit_cast(unsigned long long, sum) & 1)) return sum;
  return tt_neighbour(sum, rest > 0 ? 1 : -1);
}
/* a * b + c: products and sums are exact in two parts. */
TT_INLINE double tt_fma(double a, double b, double c, int side) {
  double near = __builtin_fma(a, b, c), high = a * b, low = __builtin_fma(a, b, -high);
  double sum = high + c, rest = tt_sum_rest(high, c, sum), over = sum - near, both = over + rest;
  return tt_rounded(near, both + low + tt_sum_rest(over, rest, both), side);
}
TT_INLINE double tt_quotient(double x, double y, int side) {
  double near = x / y, rest = __builtin_fma(-near, y, x);
  return tt_rounded(near, y < 0 ? -rest : rest, side);
}
TT_INLINE double tt_root(double x, int side) {
  double near = __builtin_sqrt(x);
  return tt_rounded(near, __builtin_fma(-near, near, x), side);
}
TT_INLINE double tt_product(double x, double y, int side) {
  double near = x * y;
  return tt_rounded(near, __builtin_fma(x, y, -near), side);
}
TT_INLINE double tt_sum(double x, double y, int side) {
  double near = x + y;
  return tt_rounded(near, tt_sum_rest(x, y, near), side);
}
#define TT_ROUNDINGS(s, side)                                                                                       \
  TT_INLINE float __fadd_##s(float x, float y) { return tt_to_float(tt_odd_sum(x, y), side); }                      \
  TT_INLINE float __fsub_##s(float x, float y) { return tt_to_float(tt_odd_sum(x, -y), side); }                     \
  TT_INLINE float __fmul_##s(float x, float y) { return tt_to_float((double)x * y, side); }                         \
  TT_INLINE float __fdiv_##s(float x, float y) { return tt_to_float((double)x / y, side); }                         \
  TT_INLINE float __frcp_##s(float x) { return tt_to_float(1.0 / x, side); }                                        \
  TT_INLINE float __fsqrt_##s(float x) { return tt_to_float(__builtin_sqrt((double)x), side); }                     \
  TT_INLINE float __fmaf_##s(float a, float b, float c) { return tt_to_float(tt_odd_sum((double)a * b, c), side); } \
  TT_INLINE float __fmaf_ieee_##s(float a, float b, float c) { return __fmaf_##s(a, b, c); }                        \
  TT_INLINE double __dadd_##s(double x, double y) { return tt_sum(x, y, side); }                                    \
  TT_INLINE double __dsub_##s(double x, double y) { return tt_sum(x, -y, side); }                                   \
  TT_INLINE double __dmul_##s(double x, double y) { return tt_product(x, y, side); }                                \
  TT_INLINE double __ddiv_##s(double x, double y) { return tt_quotient(x, y, side); }                               \
  TT_INLINE double __drcp_##s(double x) { return tt_quotient(1.0, x, side); }                                       \
  TT_INLINE double __dsqrt_##s(double x) { return tt_root(x, side); }                                               \
  TT_INLINE double __fma_##s(double a, double b, double c) { return tt_fma(a, b, c, side); }                        \
  TT_INLINE float __double2float_##s(double x) { return tt_to_float(x, side); }                                     \
  TT_INLINE float __int2float_##s(int x) { return tt_to_float((double)x, side); }                                   \
  TT_INLINE float __uint2float_##s(unsigned x) { return tt_to_float((double)x, side); }                             \
  TT_INLINE double __ll2double_##s(long long x) { return tt_whole(x, side); }                                       \
  TT_INLINE double __ull2double_##s(unsigned long long x) { return tt_whole(x, side); }                             \
  TT_INLINE float __ll2float_##s(long long x) { return tt_to_float(tt_whole(x, 3), side); }                         \
  TT_INLINE float __ull2float_##s(unsigned long long x) { return tt_to_float(tt_whole(x, 3), side); }
/* side 3: an odd last digit where something was cut off. */
template <class T>
TT_INLINE double tt_whole(T x, int side) {
  double near = (double)x;
  constexpr double end = (T(-1) < T(0) ? 1.0 : 2.0) * 0x1p63; /* beyond the type */
  long long rest = near >= end ? -1 : (long long)(x - (T)near);
  if (side == 3) {
    if (rest == 0 || (__builtin_bit_cast(unsigned long long, near) & 1)) return near;
    return tt_neighbour(near, rest > 0 ? 1 : -1);
  }
  return tt_rounded(near, rest > 0 ? 1.0 : rest < 0 ? -1.0 : 0.0, side);
}
TT_ROUNDINGS(rz, 0)
TT_ROUNDINGS(ru, 1)
TT_ROUNDINGS(rd, -1)
/* To the nearest, which is what the processor does; a product and a sum are not made one. */
#if __has_builtin(__builtin_assoc_barrier)
#define TT_ALONE(x) __builtin_assoc_barrier(x)
#elif __has_builtin(__arithmetic_fence)
#define TT_ALONE(x) __arithmetic_fence(x)
#else
#define TT_ALONE(x) (x)
#endif
#define TT_NEAREST(T, p)                                          \
  TT_INLINE T __##p##add_rn(T x, T y) { return TT_ALONE(x + y); } \
  TT_INLINE T __##p##sub_rn(T x, T y) { return TT_ALONE(x - y); } \
  TT_INLINE T __##p##mul_rn(T x, T y) { return TT_ALONE(x * y); } \
  TT_INLINE T __##p##div_rn(T x, T y) { return x / y; }           \
  TT_INLINE T __##p##rcp_rn(T x) { return T(1) / x; }             \
  TT_INLINE T __##p##sqrt_rn(T x) { return sqrt(x); }
TT_NEAREST(float, f)
TT_NEAREST(double, d)
TT_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TT_INLINE float __fmaf_ieee_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TT_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
TT_INLINE float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
TT_INLINE float __double2float_rn(double x) { return (float)x; }
TT_INLINE float __int2float_rn(int x) { return (float)x; }
TT_INLINE float __uint2float_rn(unsigned x) { return (float)x; }
TT_INLINE float __ll2float_rn(long long x) { return (float)x; }
TT_INLINE float __ull2float_rn(unsigned long long x) { return (float)x; }
TT_INLINE double __ll2double_rn(long long x) { return (double)x; }
TT_INLINE double __ull2double_rn(unsigned long long x) { return (double)x; }

/* ---- bits */
TT_INLINE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) {
  return s >= 32 ? lo : __funnelshift_l(lo, hi, s);
}
TT_INLINE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) {
  return s >= 32 ? hi : __funnelshift_r(lo, hi, s);
}
/* The place of the n-th set bit from `base` on, upwards (n > 0) or downwards; all bits when there is none. */
static inline unsigned __fns(unsigned mask, unsigned base, int n) {
  int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n, at = (int)base;
  if (n == 0) return mask >> (base & 31) & 1 ? base : ~0u;
  for (; at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && --left == 0) return (unsigned)at;
  return ~0u;
}
TT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int k = 0; k < 32; k += 8) c += (a >> k & 0xff) * (b >> k & 0xff);
  return c;
}
TT_INLINE int tt_dp2a(int a, int b, int c) {
  return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8);
}
TT_INLINE unsigned tt_dp2a(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
TT_INLINE int __dp2a_lo(int a, int b, int c) { return tt_dp2a(a, b, c); }
TT_INLINE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return tt_dp2a(a, b, c); }
TT_INLINE int __dp2a_hi(int a, int b, int c) { return tt_dp2a(a, b >> 16, c); }
TT_INLINE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return tt_dp2a(a, b >> 16, c); }

/* ---- 2 or 4 integers in a word: S signed, U unsigned */
template <class T, class F>
TT_INLINE unsigned tt_lanes(unsigned a, unsigned b, F f) {
  constexpr int bits = (int)sizeof(T) * 8;
  constexpr unsigned all = (1u << bits) - 1;
  unsigned r = 0;
  for (int k = 0; k < 32; k += bits) r |= ((unsigned)f((int)(T)(a >> k), (int)(T)(b >> k)) & all) << k;
  return r;
}
template <class T>
TT_INLINE int tt_clamp(int x) {
  constexpr int bits = (int)sizeof(T) * 8;
  constexpr bool is_signed = T(-1) < T(0);
  constexpr int top = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1, bottom = is_signed ? -top - 1 : 0;
  return x > top ? top : x < bottom ? bottom : x;
}
#define TT_LANES(name, T, expr)                                  \
  TT_INLINE unsigned name(unsigned a, unsigned b) {              \
    return tt_lanes<T>(a, b, [](int x, int y) { return expr; }); \
  }
#define TT_LANES_OF(name, T, expr)                             \
  TT_INLINE unsigned name(unsigned a) {                        \
    return tt_lanes<T>(a, 0, [](int x, int) { return expr; }); \
  }
#define TT_LANES_TEST(name, n, S, U, op)             \
  TT_LANES(__vcmp##name##s##n, S, (x op y) ? -1 : 0) \
  TT_LANES(__vcmp##name##u##n, U, (x op y) ? -1 : 0) \
  TT_LANES(__vset##name##s##n, S, (x op y) ? 1 : 0)  \
  TT_LANES(__vset##name##u##n, U, (x op y) ? 1 : 0)
#define TT_WORDS(n, S, U)                                                                                \
  TT_LANES_OF(__vabs##n, S, x < 0 ? -x : x)                                                              \
  TT_LANES_OF(__vabsss##n, S, tt_clamp<S>(x < 0 ? -x : x))                                               \
  TT_LANES_OF(__vneg##n, S, -x)                                                                          \
  TT_LANES_OF(__vnegss##n, S, tt_clamp<S>(-x))                                                           \
  TT_LANES(__vadd##n, U, x + y)                                                                          \
  TT_LANES(__vaddss##n, S, tt_clamp<S>(x + y))                                                           \
  TT_LANES(__vaddus##n, U, tt_clamp<U>(x + y))                                                           \
  TT_LANES(__vsub##n, U, x - y)                                                                          \
  TT_LANES(__vsubss##n, S, tt_clamp<S>(x - y))                                                           \
  TT_LANES(__vsubus##n, U, tt_clamp<U>(x - y))                                                           \
  TT_LANES(__vavgs##n, S, (x + y + (x + y >= 0)) >> 1)                                                   \
  TT_LANES(__vavgu##n, U, (x + y + 1) >> 1)                                                              \
  TT_LANES(__vhaddu##n, U, (x + y) >> 1)                                                                 \
  TT_LANES(__vabsdiffs##n, S, x < y ? y - x : x - y)                                                     \
  TT_LANES(__vabsdiffu##n, U, x < y ? y - x : x - y)                                                     \
  TT_LANES(__vmaxs##n, S, x < y ? y : x)                                                                 \
  TT_LANES(__vmaxu##n, U, x < y ? y : x)                                                                 \
  TT_LANES(__vmins##n, S, y < x ? y : x)                                                                 \
  TT_LANES(__vminu##n, U, y < x ? y : x)                                                                 \
  TT_LANES(__vcmpeq##n, U, x == y ? -1 : 0)                                                              \
  TT_LANES(__vcmpne##n, U, x != y ? -1 : 0)                                                              \
  TT_LANES(__vseteq##n, U, x == y)                                                                       \
  TT_LANES(__vsetne##n, U, x != y)                                                                       \
  TT_LANES_TEST(gt, n, S, U, >)                                                                          \
  TT_LANES_TEST(ge, n, S, U, >=)                                                                         \
  TT_LANES_TEST(lt, n, S, U, <)                                                                          \
  TT_LANES_TEST(le, n, S, U, <=)                                                                         \
  TT_INLINE unsigned __vsads##n(unsigned a, unsigned b) { return tt_lane_sum<U>(__vabsdiffs##n(a, b)); } \
  TT_INLINE unsigned __vsadu##n(unsigned a, unsigned b) { return tt_lane_sum<U>(__vabsdiffu##n(a, b)); }
template <class T>
TT_INLINE unsigned tt_lane_sum(unsigned a) {
  unsigned sum = 0;
  for (int k = 0; k < 32; k += (int)sizeof(T) * 8) sum += (T)(a >> k);
  return sum;
}
TT_WORDS(2, short, unsigned short)
TT_WORDS(4, signed char, unsigned char)

/* ---- the best of two or three, of a sum and another, not below zero */
#define TT_BEST(name, T, t, op)                                                                      \
  TT_INLINE T __vi##name##3_##t(T a, T b, T c) { return name(name(a, b), c); }                       \
  TT_INLINE T __viadd##name##_##t(T a, T b, T c) { return name((T)((unsigned)a + (unsigned)b), c); } \
  TT_INLINE T __vib##name##_##t(T a, T b, bool *first) { return (*first = a op b) ? a : b; }
TT_BEST(max, int, s32, >=)
TT_BEST(max, unsigned, u32, >=)
TT_BEST(min, int, s32, <=)
TT_BEST(min, unsigned, u32, <=)
#define TT_BEST_RELU(name)                                                                                 \
  TT_INLINE int __vi##name##_s32_relu(int a, int b) { return max(name(a, b), 0); }                         \
  TT_INLINE int __vi##name##3_s32_relu(int a, int b, int c) { return max(__vi##name##3_s32(a, b, c), 0); } \
  TT_INLINE int __viadd##name##_s32_relu(int a, int b, int c) { return max(__viadd##name##_s32(a, b, c), 0); }
TT_BEST_RELU(max)
TT_BEST_RELU(min)
#define TT_BEST_PAIR(name, t, best)                                                                        \
  TT_INLINE unsigned __vi##name##3_##t(unsigned a, unsigned b, unsigned c) { return best(best(a, b), c); } \
  TT_INLINE unsigned __viadd##name##_##t(unsigned a, unsigned b, unsigned c) { return best(__vadd2(a, b), c); }
TT_BEST_PAIR(max, s16x2, __vmaxs2)
TT_BEST_PAIR(min, s16x2, __vmins2)
TT_BEST_PAIR(max, u16x2, __vmaxu2)
TT_BEST_PAIR(min, u16x2, __vminu2)
#define TT_BEST_PAIR_RELU(name, best)                                                                     \
  TT_INLINE unsigned __vi##name##_s16x2_relu(unsigned a, unsigned b) { return __vmaxs2(best(a, b), 0); }  \
  TT_INLINE unsigned __vi##name##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {                       \
    return __vmaxs2(__vi##name##3_s16x2(a, b, c), 0);                                                     \
  }                                                                                                       \
  TT_INLINE unsigned __viadd##name##_s16x2_relu(unsigned a, unsigned b, unsigned c) {                     \
    return __vmaxs2(__viadd##name##_s16x2(a, b, c), 0);                                                   \
  }
TT_BEST_PAIR_RELU(max, __vmaxs2)
TT_BEST_PAIR_RELU(min, __vmins2)
/* Whether the first is taken, of the upper and of the lower half. */
#define TT_BEST_OF_PAIR(name, t, best, test)                                                                \
  TT_INLINE unsigned __vib##name##_##t(unsigned a, unsigned b, bool *const high, bool *const low) {         \
    unsigned yes = test(a, b);                                                                              \
    *high = yes >> 16 != 0;                                                                                 \
    *low = (yes & 0xffffu) != 0;                                                                            \
    return best(a, b);                                                                                      \
  }
TT_BEST_OF_PAIR(max, s16x2, __vmaxs2, __vcmpges2)
TT_BEST_OF_PAIR(max, u16x2, __vmaxu2, __vcmpgeu2)
TT_BEST_OF_PAIR(min, s16x2, __vmins2, __vcmples2)
TT_BEST_OF_PAIR(min, u16x2, __vminu2, __vcmpleu2)
#endif
