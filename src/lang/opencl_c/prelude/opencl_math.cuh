/*
** OpenCL C's functions of numbers and vectors for programs that run on the CPU, section by section as the
** specification has them (6.15 of version 3.0). First of scalars, then mapped over vectors.
*/
/* ---- mathematical functions */
#define TT_MATH1(name)                                             \
  TT_INLINE float name(float x) { return __builtin_##name##f(x); } \
  TT_INLINE double name(double x) { return __builtin_##name(x); }  \
  TT_MAP(name)
#define TT_MATH2(name)                                                         \
  TT_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); } \
  TT_INLINE double name(double x, double y) { return __builtin_##name(x, y); } \
  TT_MAP(name)
#define TT_MATH_AS1(name, expr)     \
  TT_INLINE float name(float x) {   \
    typedef float T;                \
    (void)sizeof(T);                \
    return expr;                    \
  }                                 \
  TT_INLINE double name(double x) { \
    typedef double T;               \
    (void)sizeof(T);                \
    return expr;                    \
  }                                 \
  TT_MAP(name)
#define TT_MATH_AS2(name, expr)               \
  TT_INLINE float name(float x, float y) {    \
    typedef float T;                          \
    (void)sizeof(T);                          \
    return expr;                              \
  }                                           \
  TT_INLINE double name(double x, double y) { \
    typedef double T;                         \
    (void)sizeof(T);                          \
    return expr;                              \
  }                                           \
  TT_MAP(name)
#define TT_PI 3.14159265358979323846
TT_MATH1(acos)
TT_MATH1(acosh)
TT_MATH1(asin)
TT_MATH1(asinh)
TT_MATH1(atan)
TT_MATH1(atanh)
TT_MATH1(cbrt)
TT_MATH1(ceil)
TT_MATH1(cos)
TT_MATH1(cosh)
TT_MATH1(erf)
TT_MATH1(erfc)
TT_MATH1(exp)
TT_MATH1(exp2)
TT_MATH1(expm1)
TT_MATH1(fabs)
TT_MATH1(floor)
TT_MATH1(lgamma)
TT_MATH1(log)
TT_MATH1(log2)
TT_MATH1(log10)
TT_MATH1(log1p)
TT_MATH1(logb)
TT_MATH1(rint)
TT_MATH1(round)
TT_MATH1(sin)
TT_MATH1(sinh)
TT_MATH1(sqrt)
TT_MATH1(tan)
TT_MATH1(tanh)
TT_MATH1(tgamma)
TT_MATH1(trunc)
TT_MATH2(atan2)
TT_MATH2(copysign)
TT_MATH2(fdim)
TT_MATH2(fmod)
TT_MATH2(hypot)
TT_MATH2(nextafter)
TT_MATH2(pow)
TT_MATH2(remainder)
/* A number is preferred to NaN; as comparisons, they are vectorised. */
TT_MATH_AS2(fmin, (x < y || y != y) ? x : y)
TT_MATH_AS2(fmax, (y < x || y != y) ? x : y)
TT_MATH_AS2(maxmag, fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y))
TT_MATH_AS2(minmag, fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y))
TT_MATH_AS2(powr, x < 0 ? (T)__builtin_nan("") : pow(x, y))
TT_MATH_AS1(acospi, (T)(acos((double)x) / TT_PI))
TT_MATH_AS1(asinpi, (T)(asin((double)x) / TT_PI))
TT_MATH_AS1(atanpi, (T)(atan((double)x) / TT_PI))
TT_MATH_AS2(atan2pi, (T)(atan2((double)x, (double)y) / TT_PI))
/* Of a multiple of pi, brought to [-1, 1] and from there to a quarter turn, exactly: zeros are zeros. */
TT_INLINE double tt_turn(double x) { return x - 2 * rint(x / 2); }
TT_INLINE double tt_sinpi(double x) {
  const double r = tt_turn(x), a = fabs(r);
  return copysign(sin(TT_PI * (a > 0.5 ? 1 - a : a)), a == 1 ? x : r);
}
TT_INLINE double tt_cospi(double x) { return sin(TT_PI * (0.5 - fabs(tt_turn(x)))); }
TT_MATH_AS1(sinpi, (T)tt_sinpi((double)x))
TT_MATH_AS1(cospi, (T)tt_cospi((double)x))
TT_MATH_AS1(tanpi, (T)(tt_sinpi((double)x) / tt_cospi((double)x)))
TT_MATH_AS1(exp10, (T)pow(10.0, (double)x))
TT_MATH_AS1(rsqrt, (T)1 / sqrt(x))
TT_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TT_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TT_MAP(fma)
TT_INLINE float mad(float a, float b, float c) { return a * b + c; }
TT_INLINE double mad(double a, double b, double c) { return a * b + c; }
TT_MAP(mad)
TT_INLINE int ilogb(float x) { return __builtin_ilogbf(x); }
TT_INLINE int ilogb(double x) { return __builtin_ilogb(x); }
TT_MAP(ilogb)
TT_INLINE float nan(unsigned code) { return __builtin_bit_cast(float, 0x7fc00000u | (code & 0x3fffffu)); }
TT_INLINE double nan(unsigned long code) {
  return __builtin_bit_cast(double, 0x7ff8000000000000ul | (code & 0x7fffffffffffful));
}
TT_MAP(nan)
TT_INLINE float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
TT_INLINE double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
TT_MAP(ldexp)
TT_INLINE float pown(float x, int n) { return (float)__builtin_pow((double)x, (double)n); }
TT_INLINE double pown(double x, int n) { return __builtin_pow(x, (double)n); }
TT_MAP(pown)
TT_INLINE double tt_root(double x, int n) {
  double r = __builtin_pow(__builtin_fabs(x), 1.0 / n);
  return x < 0 ? (n & 1 ? -r : __builtin_nan("")) : r;
}
TT_INLINE float rootn(float x, int n) { return (float)tt_root(x, n); }
TT_INLINE double rootn(double x, int n) { return tt_root(x, n); }
TT_MAP(rootn)
#define TT_MATH_OUT(name, O, expr)                          \
  template <class T, typename tt_if<tt_float<T>>::type = 0> \
  TT_INLINE T name(T x, O *out) {                           \
    expr;                                                   \
  }                                                         \
  TT_MAP(name)
TT_MATH_OUT(fract, T, *out = floor(x); T r = x - *out;
            return x - x != 0 ? (x != x ? x : copysign((T)0, x))
                   : r < 1    ? r
                              : (T)(sizeof(T) == 4 ? 0x1.fffffep-1 : 0x1.fffffffffffffp-1))
TT_MATH_OUT(modf, T, *out = trunc(x); return copysign(x - x != 0 && x == x ? (T)0 : x - *out, x))
TT_MATH_OUT(sincos, T, *out = cos(x); return sin(x))
TT_MATH_OUT(frexp, int, *out = 0; return x - x != 0 ? x : (T)__builtin_frexp((double)x, out))
TT_MATH_OUT(lgamma_r, int, *out = x < 0 && x != floor(x) && ((long)floor(x) & 1) ? -1 : 1; return lgamma(x))
template <class T, typename tt_if<tt_float<T>>::type = 0>
TT_INLINE T remquo(T x, T y, int *q) {
  return (T)__builtin_remquo((double)x, (double)y, q);
}
TT_MAP(remquo)
#define TT_NATIVE1(name)                                     \
  TT_INLINE float native_##name(float x) { return name(x); } \
  TT_INLINE float half_##name(float x) { return name(x); }   \
  TT_MAP(native_##name)                                      \
  TT_MAP(half_##name)
#define TT_NATIVE2(name, expr)                                     \
  TT_INLINE float native_##name(float x, float y) { return expr; } \
  TT_INLINE float half_##name(float x, float y) { return expr; }   \
  TT_MAP(native_##name)                                            \
  TT_MAP(half_##name)
TT_INLINE float recip(float x) { return 1.0f / x; }
TT_NATIVE1(cos)
TT_NATIVE1(exp)
TT_NATIVE1(exp2)
TT_NATIVE1(exp10)
TT_NATIVE1(log)
TT_NATIVE1(log2)
TT_NATIVE1(log10)
TT_NATIVE1(recip)
TT_NATIVE1(rsqrt)
TT_NATIVE1(sin)
TT_NATIVE1(sqrt)
TT_NATIVE1(tan)
TT_NATIVE2(powr, powr(x, y))
TT_NATIVE2(divide, x / y)

/* ---- functions of whole numbers */
template <class A, class B>
struct tt_common {
  typedef decltype(true ? A() : B()) type;
};
template <class A>
struct tt_common<A, A> {
  typedef A type;
};
#define TT_INT1(name, R, expr)                                 \
  template <class T, typename tt_if<tt_integral<T>>::type = 0> \
  TT_INLINE auto name(T x) {                                   \
    typedef typename tt_whole<T>::without U;                   \
    constexpr int bits = (int)sizeof(T) * 8;                   \
    (void)bits;                                                \
    (void)sizeof(U);                                           \
    return (R)(expr);                                          \
  }                                                            \
  TT_MAP(name)
/* Two types that differ (a literal among them) are computed in their common one. */
#define TT_INT2(name, R, expr)                                                                                       \
  template <class A, class B, typename tt_if<tt_integral<A> && tt_integral<B>>::type = 0>                            \
  TT_INLINE auto name(A tt_a, B tt_b) {                                                                              \
    typedef typename tt_common<A, B>::type T;                                                                        \
    typedef typename tt_whole<T>::without U;                                                                         \
    constexpr int bits = (int)sizeof(T) * 8;                                                                         \
    constexpr bool is_signed = (T)-1 < (T)0;                                                                         \
    constexpr T top = (T)(is_signed ? (U) ~(U)0 >> 1 : (U) ~(U)0), low = is_signed ? (T)((U)1 << (bits - 1)) : (T)0; \
    const T x = (T)tt_a, y = (T)tt_b;                                                                                \
    (void)bits, (void)top, (void)low;                                                                                \
    return (R)(expr);                                                                                                \
  }                                                                                                                  \
  TT_MAP(name)
template <class T, int SIZE = sizeof(T)>
struct tt_twice {
  typedef long type;
};
template <class T>
struct tt_twice<T, 8> {
  typedef __int128 type;
};
TT_INT1(abs, U, x < (T)0 ? (U)0 - (U)x : (U)x)
TT_INT1(clz, T,
        sizeof(T) == 8 ? (x ? __builtin_clzl((U)x) : 64) : (x ? __builtin_clz((unsigned)(U)x) - (32 - bits) : bits))
TT_INT1(ctz, T, sizeof(T) == 8 ? (x ? __builtin_ctzl((U)x) : 64) : (x ? __builtin_ctz((unsigned)(U)x) : bits))
TT_INT1(popcount, T, sizeof(T) == 8 ? __builtin_popcountl((U)x) : __builtin_popcount((unsigned)(U)x))
TT_INT2(abs_diff, U, x < y ? (U)y - (U)x : (U)x - (U)y)
TT_INT2(add_sat, T, __extension__({
          T r;
          __builtin_add_overflow(x, y, &r) ? (is_signed && x < 0 ? low : top) : r;
        }))
TT_INT2(sub_sat, T, __extension__({
          T r;
          __builtin_sub_overflow(x, y, &r) ? (is_signed && x >= 0 ? top : low) : r;
        }))
TT_INT2(hadd, T, (x >> 1) + (y >> 1) + (x & y & 1))
TT_INT2(rhadd, T, (x >> 1) + (y >> 1) + ((x | y) & 1))
TT_INLINE unsigned long tt_high(unsigned long x, unsigned long y) {
  return (unsigned long)(((unsigned __int128)x * y) >> 64);
}
TT_INLINE long tt_high(long x, long y) { return (long)(((__int128)x * y) >> 64); }
template <class T>
TT_INLINE T tt_high(T x, T y) {
  return (T)(((typename tt_twice<T>::type)x * y) >> (sizeof(T) * 8));
}
TT_INT2(mul_hi, T, tt_high(x, y))
TT_INT2(rotate, T, (U)x << ((U)y & (U)(bits - 1)) | (U)x >> ((U)-y & (U)(bits - 1)))
TT_INT2(mul24, T, x *y)
#define TT_INT3(name, expr)                                                      \
  template <class T, class A, class B, typename tt_if<tt_integral<T>>::type = 0> \
  TT_INLINE T name(T x, A tt_y, B tt_z) {                                        \
    const T y = (T)tt_y, z = (T)tt_z;                                            \
    return (T)(expr);                                                            \
  }                                                                              \
  TT_MAP(name)
TT_INT3(mad24, x *y + z)
TT_INT3(mad_hi, mul_hi(x, y) + z)
template <class T>
TT_INLINE T tt_mad_sat(T x, T y, T z) {
  T p, r;
  if (!__builtin_mul_overflow(x, y, &p) && !__builtin_add_overflow(p, z, &r)) return r;
  if (!tt_ends<T>::is_signed) return tt_ends<T>::top;
  const __int128 wide = (__int128)x * y + z; /* it may come back: a product beyond the type, and a sum within */
  return wide > (__int128)tt_ends<T>::top   ? tt_ends<T>::top
         : wide < (__int128)tt_ends<T>::low ? tt_ends<T>::low
                                            : (T)wide;
}
TT_INT3(mad_sat, tt_mad_sat(x, y, z))
#define TT_UPSAMPLE(R, H, L) \
  TT_INLINE R upsample(H hi, L lo) { return (R)((R)hi << (sizeof(L) * 8) | lo); }
TT_UPSAMPLE(short, char, unsigned char)
TT_UPSAMPLE(unsigned short, unsigned char, unsigned char)
TT_UPSAMPLE(int, short, unsigned short)
TT_UPSAMPLE(unsigned, unsigned short, unsigned short)
TT_UPSAMPLE(long, int, unsigned)
TT_UPSAMPLE(unsigned long, unsigned, unsigned)
TT_MAP(upsample)

/* ---- common functions */
template <class A, class B, typename tt_if<tt_number<A> && tt_number<B>>::type = 0>
TT_INLINE auto min(A a, B b) {
  typedef typename tt_common<A, B>::type T;
  return (T)((T)b < (T)a ? (T)b : (T)a);
}
template <class A, class B, typename tt_if<tt_number<A> && tt_number<B>>::type = 0>
TT_INLINE auto max(A a, B b) {
  typedef typename tt_common<A, B>::type T;
  return (T)((T)a < (T)b ? (T)b : (T)a);
}
TT_MAP(min)
TT_MAP(max)
template <class T, class A, class B, typename tt_if<tt_number<T> && tt_number<A> && tt_number<B>>::type = 0>
TT_INLINE T clamp(T x, A low, B top) {
  return min(max(x, (T)low), (T)top);
}
TT_MAP(clamp)
TT_MATH_AS1(degrees, x *(T)(180.0 / TT_PI))
TT_MATH_AS1(radians, x *(T)(TT_PI / 180.0))
TT_MATH_AS2(step, y < x ? (T)0 : (T)1)
TT_MATH_AS1(sign, x != x ? (T)0 : x > 0 ? (T)1 : x < 0 ? (T)-1 : x)
TT_INLINE float mix(float x, float y, float a) { return x + (y - x) * a; }
TT_INLINE double mix(double x, double y, double a) { return x + (y - x) * a; }
TT_MAP(mix)
template <class T>
TT_INLINE T tt_smooth(T low, T top, T x) {
  const T t = clamp((x - low) / (top - low), (T)0, (T)1);
  return t * t * ((T)3 - (T)2 * t);
}
TT_INLINE float smoothstep(float low, float top, float x) { return tt_smooth(low, top, x); }
TT_INLINE double smoothstep(double low, double top, double x) { return tt_smooth(low, top, x); }
TT_MAP(smoothstep)

/* ---- geometric functions */
TT_INLINE float dot(float a, float b) { return a * b; }
TT_INLINE double dot(double a, double b) { return a * b; }
template <class T, int N>
TT_INLINE T dot(tt_vec<T, N> a, tt_vec<T, N> b) {
  T sum = a.tt_s[0] * b.tt_s[0];
  _Pragma("GCC unroll 16") for (int k = 1; k < N; k++) sum += a.tt_s[k] * b.tt_s[k];
  return sum;
}
template <class T>
TT_INLINE tt_vec<T, 3> cross(tt_vec<T, 3> a, tt_vec<T, 3> b) {
  return tt_vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
template <class T>
TT_INLINE tt_vec<T, 4> cross(tt_vec<T, 4> a, tt_vec<T, 4> b) {
  return tt_vec<T, 4>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, (T)0);
}
template <class V>
TT_INLINE auto length(V a) {
  return sqrt(dot(a, a));
}
template <class V>
TT_INLINE auto distance(V a, V b) {
  return length(a - b);
}
template <class V>
TT_INLINE V normalize(V a) {
  auto n = length(a);
  return n > 0 ? V(a / n) : a;
}
template <class V>
TT_INLINE auto fast_length(V a) {
  return length(a);
}
template <class V>
TT_INLINE auto fast_distance(V a, V b) {
  return length(a - b);
}
template <class V>
TT_INLINE V fast_normalize(V a) {
  return normalize(a);
}

/* ---- relational functions */
#define TT_RELATION1(name, expr)                \
  TT_INLINE int name(float x) { return expr; }  \
  TT_INLINE int name(double x) { return expr; } \
  TT_MAP_TRUTH(name)
#define TT_RELATION2(name, expr)                          \
  TT_INLINE int name(float x, float y) { return expr; }   \
  TT_INLINE int name(double x, double y) { return expr; } \
  TT_MAP_TRUTH(name)
TT_RELATION1(isfinite, x - x == 0)
TT_RELATION1(isinf, x == x && x - x != 0)
TT_RELATION1(isnan, x != x)
TT_RELATION1(isnormal, __builtin_isnormal(x) != 0)
TT_RELATION1(signbit, __builtin_signbit(x) != 0)
TT_RELATION2(isequal, x == y)
TT_RELATION2(isnotequal, x != y)
TT_RELATION2(isgreater, x > y)
TT_RELATION2(isgreaterequal, x >= y)
TT_RELATION2(isless, x < y)
TT_RELATION2(islessequal, x <= y)
TT_RELATION2(islessgreater, x<y || x> y)
TT_RELATION2(isordered, x == x && y == y)
TT_RELATION2(isunordered, x != x || y != y)
template <class T, typename tt_if<tt_integral<T>>::type = 0>
TT_INLINE int any(T x) {
  return (typename tt_whole<T>::with)x < 0;
}
template <class T, typename tt_if<tt_integral<T>>::type = 0>
TT_INLINE int all(T x) {
  return (typename tt_whole<T>::with)x < 0;
}
template <class T, int N>
TT_INLINE int any(tt_vec<T, N> v) {
  int r = 0;
  TT_EACH(N) r |= v.tt_s[k] < 0;
  return r;
}
template <class T, int N>
TT_INLINE int all(tt_vec<T, N> v) {
  int r = 1;
  TT_EACH(N) r &= v.tt_s[k] < 0;
  return r;
}
template <class T, typename tt_if<tt_number<T>>::type = 0>
TT_INLINE T bitselect(T a, T b, T c) {
  typedef typename tt_whole<T>::without U;
  const U x = __builtin_bit_cast(U, a), y = __builtin_bit_cast(U, b), z = __builtin_bit_cast(U, c);
  return __builtin_bit_cast(T, (U)((x & ~z) | (y & z)));
}
TT_MAP(bitselect)
template <class A, class B, class C, typename tt_if<tt_number<A> && tt_number<B> && tt_integral<C>>::type = 0>
TT_INLINE A select(A a, B b, C c) {
  return c ? (A)b : a;
}
template <class T, int N, class C>
TT_INLINE tt_vec<T, N> select(tt_vec<T, N> a, tt_vec<T, N> b, tt_vec<C, N> c) {
  static_assert(sizeof(C) == sizeof(T), "select: the condition is as wide as the values");
  tt_vec<T, N> r;
  TT_EACH(N) r.tt_s[k] = (typename tt_whole<C>::with)c.tt_s[k] < 0 ? b.tt_s[k] : a.tt_s[k];
  return r;
}
/* `c ? a : b` of vectors, as the translation writes it. */
template <class C, class A, class B>
TT_INLINE auto tt_choose(C c, A a, B b) {
  if constexpr (__is_class(C)) {
    typedef typename tt_first<decltype(a()), decltype(b())>::type V;
    return select((V)b(), (V)a(), c);
  } else {
    return c ? a() : b();
  }
}

/* ---- vectors of other shapes */
template <class T, int N, class M, int K>
TT_INLINE tt_vec<T, K> shuffle(tt_vec<T, N> v, tt_vec<M, K> mask) {
  tt_vec<T, K> r;
  TT_EACH(K) r.tt_s[k] = v.tt_s[mask.tt_s[k] & (N - 1)];
  return r;
}
template <class T, int N, class M, int K>
TT_INLINE tt_vec<T, K> shuffle2(tt_vec<T, N> v, tt_vec<T, N> w, tt_vec<M, K> mask) {
  tt_vec<T, K> r;
  TT_EACH(K) {
    const int at = (int)mask.tt_s[k] & (2 * N - 1);
    r.tt_s[k] = at < N ? v.tt_s[at] : w.tt_s[at - N];
  }
  return r;
}
template <class V>
constexpr int tt_vec_step_of() {
  if constexpr (__is_class(V))
    return V::n == 3 ? 4 : V::n;
  else
    return 1;
}
#define vec_step(x) (tt_vec_step_of<__typeof__(x)>())
