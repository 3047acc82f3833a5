/*
** CUDA C's mathematical functions and vector types for programs that run on the CPU. Behind cuda_prelude.cuh.
*/

/* ---- functions of the C library, under their names for float, double and both */
#define TT_MATH1(name)                                                \
  TT_INLINE double name(double x) { return __builtin_##name(x); }     \
  TT_INLINE float name(float x) { return __builtin_##name##f(x); }    \
  TT_INLINE float name##f(float x) { return __builtin_##name##f(x); } \
  template <class T, typename tt_if<tt_integral<T>, int>::type = 0>   \
  TT_INLINE double name(T x) {                                        \
    return __builtin_##name((double)x);                               \
  }
#define TT_MATH2(name)                                                                                     \
  TT_INLINE double name(double x, double y) { return __builtin_##name(x, y); }                             \
  TT_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }                             \
  TT_INLINE float name##f(float x, float y) { return __builtin_##name##f(x, y); }                          \
  template <class A, class B, typename tt_if<tt_number<A> && tt_number<B> && !tt_is<A, B>, int>::type = 0> \
  TT_INLINE double name(A x, B y) {                                                                        \
    return __builtin_##name((double)x, (double)y);                                                         \
  }                                                                                                        \
  template <class A, typename tt_if<tt_integral<A>, int>::type = 0>                                        \
  TT_INLINE double name(A x, A y) {                                                                        \
    return __builtin_##name((double)x, (double)y);                                                         \
  }

TT_MATH1(sin)
TT_MATH1(cos)
TT_MATH1(tan) TT_MATH1(asin) TT_MATH1(acos) TT_MATH1(atan) TT_MATH1(sinh) TT_MATH1(cosh) TT_MATH1(tanh) TT_MATH1(asinh)
    TT_MATH1(acosh) TT_MATH1(atanh) TT_MATH1(exp) TT_MATH1(exp2) TT_MATH1(expm1) TT_MATH1(log) TT_MATH1(log2)
        TT_MATH1(log10) TT_MATH1(log1p) TT_MATH1(sqrt) TT_MATH1(cbrt) TT_MATH1(floor) TT_MATH1(ceil) TT_MATH1(trunc)
            TT_MATH1(round) TT_MATH1(rint) TT_MATH1(nearbyint) TT_MATH1(fabs) TT_MATH1(erf) TT_MATH1(erfc)
                TT_MATH1(tgamma) TT_MATH1(lgamma) TT_MATH1(logb) TT_MATH2(pow) TT_MATH2(atan2) TT_MATH2(fmod)
                    TT_MATH2(remainder) TT_MATH2(hypot) TT_MATH2(fmin) TT_MATH2(fmax) TT_MATH2(copysign) TT_MATH2(fdim)
                        TT_MATH2(nextafter)

                            TT_INLINE double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
TT_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TT_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TT_INLINE double exp10(double x) { return __builtin_pow(10.0, x); }
TT_INLINE float exp10(float x) { return __builtin_powf(10.0f, x); }
TT_INLINE float exp10f(float x) { return __builtin_powf(10.0f, x); }
TT_INLINE double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
TT_INLINE float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
TT_INLINE float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
TT_INLINE double scalbn(double x, int e) { return __builtin_ldexp(x, e); }
TT_INLINE float scalbnf(float x, int e) { return __builtin_ldexpf(x, e); }
TT_INLINE double frexp(double x, int *e) { return __builtin_frexp(x, e); }
TT_INLINE float frexp(float x, int *e) { return __builtin_frexpf(x, e); }
TT_INLINE float frexpf(float x, int *e) { return __builtin_frexpf(x, e); }
TT_INLINE double modf(double x, double *i) { return __builtin_modf(x, i); }
TT_INLINE float modff(float x, float *i) { return __builtin_modff(x, i); }
TT_INLINE int ilogb(double x) { return __builtin_ilogb(x); }
TT_INLINE int ilogbf(float x) { return __builtin_ilogbf(x); }
TT_INLINE long lrint(double x) { return __builtin_lrint(x); }
TT_INLINE long lrintf(float x) { return __builtin_lrintf(x); }
TT_INLINE long lround(double x) { return __builtin_lround(x); }
TT_INLINE long lroundf(float x) { return __builtin_lroundf(x); }
TT_INLINE long long llrint(double x) { return __builtin_llrint(x); }
TT_INLINE long long llround(double x) { return __builtin_llround(x); }
TT_INLINE void sincos(double x, double *s, double *c) { *s = __builtin_sin(x), *c = __builtin_cos(x); }
TT_INLINE void sincosf(float x, float *s, float *c) { *s = __builtin_sinf(x), *c = __builtin_cosf(x); }
#define TT_PI 3.14159265358979323846
TT_INLINE double sinpi(double x) { return __builtin_sin(TT_PI * __builtin_fmod(x, 2.0)); }
TT_INLINE float sinpif(float x) { return (float)sinpi((double)x); }
TT_INLINE double cospi(double x) { return __builtin_cos(TT_PI * __builtin_fmod(x, 2.0)); }
TT_INLINE float cospif(float x) { return (float)cospi((double)x); }
TT_INLINE void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
TT_INLINE void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
TT_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
TT_INLINE float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
TT_INLINE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
TT_INLINE double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
#define TT_OF_WHOLE(name)                                           \
  template <class T, typename tt_if<tt_integral<T>, int>::type = 0> \
  TT_INLINE double name(T x) {                                      \
    return name((double)x);                                         \
  }
TT_OF_WHOLE(exp10)
TT_OF_WHOLE(rsqrt)
TT_OF_WHOLE(rcbrt)
TT_INLINE float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
TT_INLINE double rhypot(double x, double y) { return 1.0 / __builtin_hypot(x, y); }
TT_INLINE float rhypotf(float x, float y) { return 1.0f / __builtin_hypotf(x, y); }
TT_INLINE double norm3d(double x, double y, double z) { return __builtin_sqrt(x * x + y * y + z * z); }
TT_INLINE float norm3df(float x, float y, float z) { return __builtin_sqrtf(x * x + y * y + z * z); }
TT_INLINE double rnorm3d(double x, double y, double z) { return 1.0 / __builtin_sqrt(x * x + y * y + z * z); }
TT_INLINE float rnorm3df(float x, float y, float z) { return 1.0f / __builtin_sqrtf(x * x + y * y + z * z); }
TT_INLINE double normcdf(double x) { return 0.5 * __builtin_erfc(-x * 0.70710678118654752440); }
TT_INLINE float normcdff(float x) { return (float)normcdf((double)x); }
TT_INLINE long long llrintf(float x) { return __builtin_llrintf(x); }
TT_INLINE long long llroundf(float x) { return __builtin_llroundf(x); }
TT_INLINE double scalbln(double x, long e) { return __builtin_scalbln(x, e); }
TT_INLINE float scalblnf(float x, long e) { return __builtin_scalblnf(x, e); }
TT_INLINE double remquo(double x, double y, int *q) { return __builtin_remquo(x, y, q); }
TT_INLINE float remquof(float x, float y, int *q) { return __builtin_remquof(x, y, q); }
TT_INLINE double nan(const char *) { return __builtin_nan(""); }
TT_INLINE float nanf(const char *) { return __builtin_nanf(""); }
TT_INLINE double norm(int n, const double *p) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += p[k] * p[k];
  return __builtin_sqrt(sum);
}
TT_INLINE float normf(int n, const float *p) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += (double)p[k] * p[k];
  return (float)__builtin_sqrt(sum);
}
TT_INLINE double rnorm(int n, const double *p) { return 1.0 / norm(n, p); }
TT_INLINE float rnormf(int n, const float *p) { return 1.0f / normf(n, p); }
TT_INLINE double norm4d(double x, double y, double z, double w) {
  return __builtin_sqrt(x * x + y * y + z * z + w * w);
}
TT_INLINE float norm4df(float x, float y, float z, float w) { return (float)norm4d(x, y, z, w); }
TT_INLINE double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
TT_INLINE float rnorm4df(float x, float y, float z, float w) { return (float)rnorm4d(x, y, z, w); }
/* Newton's steps with the second derivative, on the smaller of erf and erfc, so that no digits are lost. */
static inline double erfcinv(double y);
static inline double erfinv(double y) {
  if (!(__builtin_fabs(y) < 0.5)) return y < 0 ? -erfcinv(1 + y) : erfcinv(1 - y);
  double x = y * 0.886226925452758;
  for (int k = 0; k < 4; k++) {
    double step = (__builtin_erf(x) - y) / (1.12837916709551257 * __builtin_exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}
static inline double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? __builtin_inf() : y == 2 ? -__builtin_inf() : __builtin_nan("");
  if (y > 0.5 && y < 1.5) return erfinv(1 - y);
  double tail = y < 1 ? y : 2 - y, t = __builtin_sqrt(-2 * __builtin_log(tail / 2));
  double x = 0.70711 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
  for (int k = 0; k < 3; k++) {
    double step = (__builtin_erfc(x) - tail) / (1.12837916709551257 * __builtin_exp(-x * x));
    x += step / (1 - x * step);
  }
  return y < 1 ? x : -x;
}
TT_INLINE float erfinvf(float y) { return (float)erfinv((double)y); }
TT_INLINE float erfcinvf(float y) { return (float)erfcinv((double)y); }
TT_INLINE double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2 * y); }
TT_INLINE float normcdfinvf(float y) { return (float)normcdfinv((double)y); }
/* exp(x * x) * erfc(x), beyond where that has a product: a continued fraction, from its end. */
static inline double erfcx(double x) {
  if (x < 8) {
    double square = x * x;
    return __builtin_exp(square) * (1 + __builtin_fma(x, x, -square)) * __builtin_erfc(x);
  }
  double f = x;
  for (int k = 30; k > 0; k--) f = x + 0.5 * k / f;
  return 0.56418958354775628695 / f;
}
TT_INLINE float erfcxf(float x) { return (float)erfcx((double)x); }
/* Modified Bessel functions: all terms of the series have one sign. */
static inline double tt_bessel(double x, int order) {
  double term = order ? x / 2 : 1, sum = term, square = x * x / 4;
  for (int k = 1; k < 2000 && __builtin_fabs(term) > __builtin_fabs(sum) * 1e-17; k++)
    sum += term *= square / ((double)k * (k + order));
  return sum;
}
TT_INLINE double cyl_bessel_i0(double x) { return tt_bessel(x, 0); }
TT_INLINE double cyl_bessel_i1(double x) { return tt_bessel(x, 1); }
TT_INLINE float cyl_bessel_i0f(float x) { return (float)tt_bessel((double)x, 0); }
TT_INLINE float cyl_bessel_i1f(float x) { return (float)tt_bessel((double)x, 1); }
TT_INLINE float fdividef(float x, float y) { return x / y; }
TT_INLINE float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
TT_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

template <class T>
TT_INLINE bool tt_isnan(T x) {
  return __builtin_isnan(x);
}
#define TT_CLASS(name)                                            \
  template <class T, typename tt_if<tt_number<T>, int>::type = 0> \
  TT_INLINE bool name(T x) {                                      \
    if constexpr (tt_is<T, float>)                                \
      return __builtin_##name(x);                                 \
    else                                                          \
      return __builtin_##name((double)x);                         \
  }
TT_CLASS(isnan)
TT_CLASS(isinf)
TT_CLASS(isfinite) TT_CLASS(signbit)

    /* ---- min, max, abs: over every mix of numbers, as CUDA's overloads choose */
    template <class A, class B>
    struct tt_common {
  typedef decltype(true ? A() : B()) type;
};
template <class A, class B, typename tt_if<tt_number<A> && tt_number<B>, int>::type = 0>
TT_INLINE auto min(A a, B b) -> typename tt_common<A, B>::type {
  typedef typename tt_common<A, B>::type T;
  if constexpr (tt_is<T, float>)
    return __builtin_fminf((T)a, (T)b);
  else if constexpr (tt_is<T, double>)
    return __builtin_fmin((T)a, (T)b);
  else
    return (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B, typename tt_if<tt_number<A> && tt_number<B>, int>::type = 0>
TT_INLINE auto max(A a, B b) -> typename tt_common<A, B>::type {
  typedef typename tt_common<A, B>::type T;
  if constexpr (tt_is<T, float>)
    return __builtin_fmaxf((T)a, (T)b);
  else if constexpr (tt_is<T, double>)
    return __builtin_fmax((T)a, (T)b);
  else
    return (T)a < (T)b ? (T)b : (T)a;
}
TT_INLINE int abs(int x) { return x < 0 ? -x : x; }
TT_INLINE long abs(long x) { return x < 0 ? -x : x; }
TT_INLINE long long abs(long long x) { return x < 0 ? -x : x; }
TT_INLINE float abs(float x) { return __builtin_fabsf(x); }
TT_INLINE double abs(double x) { return __builtin_fabs(x); }
TT_INLINE long labs(long x) { return x < 0 ? -x : x; }
TT_INLINE long long llabs(long long x) { return x < 0 ? -x : x; }
TT_INLINE unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
TT_INLINE unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
TT_INLINE long long llmin(long long a, long long b) { return a < b ? a : b; }
TT_INLINE long long llmax(long long a, long long b) { return a < b ? b : a; }

/* ---- intrinsics: as exact as the functions */
#define TT_ALIAS1(name, R, A, expr) \
  TT_INLINE R name(A x) { return expr; }
#define TT_ALIAS2(name, R, A, expr) \
  TT_INLINE R name(A x, A y) { return expr; }
TT_ALIAS1(__sinf, float, float, sinf(x))
TT_ALIAS1(__cosf, float, float, cosf(x))
TT_ALIAS1(__tanf, float, float, tanf(x)) TT_ALIAS1(__expf, float, float, expf(x))
    TT_ALIAS1(__exp10f, float, float, exp10f(x)) TT_ALIAS1(__logf, float, float, logf(x))
        TT_ALIAS1(__log2f, float, float, log2f(x)) TT_ALIAS1(__log10f, float, float, log10f(x))
            TT_ALIAS2(__powf, float, float, powf(x, y)) TT_ALIAS2(__fdividef, float, float, x / y) TT_INLINE
    float __tanhf(float x) {
  return tanhf(x);
}
TT_INLINE double fdivide(double x, double y) { return x / y; }
TT_INLINE void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
TT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
TT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TT_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
TT_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
TT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
TT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
TT_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
TT_INLINE unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
TT_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (int k = 0; k < 4; k++) {
    unsigned sel = s >> (4 * k) & 0xf, byte = (unsigned)(both >> (8 * (sel & 7))) & 0xff;
    if (sel & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << (8 * k);
  }
  return r;
}
TT_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (s & 31) >> 32);
}
TT_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31));
}
TT_INLINE int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
TT_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
TT_INLINE long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
TT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
TT_INLINE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
TT_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
TT_INLINE unsigned __sad(int a, int b, unsigned c) { return (unsigned)(a < b ? b - a : a - b) + c; }
TT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
TT_INLINE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
TT_INLINE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
TT_INLINE unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
TT_INLINE unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
TT_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
TT_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
TT_INLINE int __dp4a(int a, int b, int c) {
  for (int k = 0; k < 4; k++) c += (int)(signed char)(a >> (8 * k)) * (int)(signed char)(b >> (8 * k));
  return c;
}

/* Bits and conversions. Out of range, a GPU saturates and turns NaN into 0; so here. */
#define TT_REBITS(name, R, A) \
  TT_INLINE R name(A x) { return __builtin_bit_cast(R, x); }
TT_REBITS(__float_as_int, int, float)
TT_REBITS(__int_as_float, float, int)
TT_REBITS(__float_as_uint, unsigned, float) TT_REBITS(__uint_as_float, float, unsigned)
    TT_REBITS(__double_as_longlong, long long, double) TT_REBITS(__longlong_as_double, double, long long) TT_INLINE
    int __double2hiint(double x) {
  return (int)(__builtin_bit_cast(unsigned long long, x) >> 32);
}
TT_INLINE int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
TT_INLINE double __hiloint2double(int hi, int lo) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}
template <class R>
TT_INLINE R tt_to_int(double x) {
  constexpr bool is_signed = R(-1) < R(0);
  constexpr int bits = (int)sizeof(R) * 8 - is_signed;
  constexpr double top = (double)(1ull << (bits - 1)) * 2;
  if (x != x) return 0;
  if (x >= top) return (R)(~0ull >> (64 - bits));
  if (x < (is_signed ? -top : 0.0)) return is_signed ? (R)(1ull << bits) : (R)0;
  return (R)x;
}
#define TT_CONVERT(A, a, R, r)                                                           \
  TT_INLINE R __##a##2##r##_rn(A x) { return tt_to_int<R>(__builtin_rint((double)x)); }  \
  TT_INLINE R __##a##2##r##_rz(A x) { return tt_to_int<R>((double)x); }                  \
  TT_INLINE R __##a##2##r##_rd(A x) { return tt_to_int<R>(__builtin_floor((double)x)); } \
  TT_INLINE R __##a##2##r##_ru(A x) { return tt_to_int<R>(__builtin_ceil((double)x)); }
TT_CONVERT(float, float, int, int)
TT_CONVERT(float, float, unsigned, uint)
TT_CONVERT(float, float, long long, ll) TT_CONVERT(float, float, unsigned long long, ull)
    TT_CONVERT(double, double, int, int) TT_CONVERT(double, double, unsigned, uint)
        TT_CONVERT(double, double, long long, ll) TT_CONVERT(double, double, unsigned long long, ull)
            TT_ALIAS1(__int2double_rn, double, int, (double)x) TT_ALIAS1(__uint2double_rn, double, unsigned, (double)x)

/* Loads that only say something about caches. */
#define TT_LOAD(name)            \
  template <class T>             \
  TT_INLINE T name(const T *p) { \
    return *p;                   \
  }
                TT_LOAD(__ldg) TT_LOAD(__ldca) TT_LOAD(__ldcg) TT_LOAD(__ldcs) TT_LOAD(__ldlu) TT_LOAD(__ldcv)
#define TT_SAVE(name)              \
  template <class T>               \
  TT_INLINE void name(T *p, T v) { \
    *p = v;                        \
  }
                    TT_SAVE(__stwb) TT_SAVE(__stcg) TT_SAVE(__stcs) TT_SAVE(__stwt)

/* ---- limits and constants of the usual headers */
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1l)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1ll)
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ull + 1ull)
#define CHAR_BIT 8
#define SCHAR_MAX __SCHAR_MAX__
#define SCHAR_MIN (-__SCHAR_MAX__ - 1)
#define UCHAR_MAX (__SCHAR_MAX__ * 2 + 1)
#define CHAR_MAX __SCHAR_MAX__
#define CHAR_MIN (-__SCHAR_MAX__ - 1)
#define SHRT_MAX __SHRT_MAX__
#define SHRT_MIN (-__SHRT_MAX__ - 1)
#define USHRT_MAX (__SHRT_MAX__ * 2 + 1)
#define ULONG_MAX (__LONG_MAX__ * 2ul + 1ul)
#define INT8_MAX __INT8_MAX__
#define INT8_MIN (-__INT8_MAX__ - 1)
#define INT16_MAX __INT16_MAX__
#define INT16_MIN (-__INT16_MAX__ - 1)
#define INT32_MIN (-__INT32_MAX__ - 1)
#define INT64_MIN (-__INT64_MAX__ - 1)
#define UINT8_MAX __UINT8_MAX__
#define UINT16_MAX __UINT16_MAX__
#define SIZE_MAX __SIZE_MAX__
#define FLT_DIG __FLT_DIG__
#define DBL_DIG __DBL_DIG__
#define FLT_MANT_DIG __FLT_MANT_DIG__
#define DBL_MANT_DIG __DBL_MANT_DIG__
#define FLT_TRUE_MIN __FLT_DENORM_MIN__
#define DBL_TRUE_MIN __DBL_DENORM_MIN__
#define INT32_MAX __INT32_MAX__
#define INT64_MAX __INT64_MAX__
#define UINT32_MAX __UINT32_MAX__
#define UINT64_MAX __UINT64_MAX__
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define M_PI TT_PI
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_2_SQRTPI 1.12837916709551257390
#define HUGE_VALF __builtin_huge_valf()
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI TT_PI
#define CUDART_MIN_DENORM_F __FLT_DENORM_MIN__
#define CUDART_MAX_NORMAL_F __FLT_MAX__
#define CUDART_NEG_ZERO_F -0.0f
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_THIRD_F 0.333333333f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_3PIO4_F 2.356194490f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_SQRT_2_OVER_PI_F 0.797884561f
#define CUDART_L2E_F 1.442695041f
#define CUDART_L2T_F 3.321928094f
#define CUDART_LG2_F 0.301029996f
#define CUDART_LGE_F 0.434294482f
#define CUDART_LN2_F 0.693147181f
#define CUDART_LNT_F 2.302585093f
#define CUDART_LNPI_F 1.144729886f
#define CUDART_MIN_DENORM __DBL_DENORM_MIN__
#define CUDART_NEG_ZERO -0.0
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_SQRT_TWO M_SQRT2
#define CUDART_SQRT_HALF M_SQRT1_2
#define CUDART_THIRD (1.0 / 3.0)
#define CUDART_TWOTHIRD (2.0 / 3.0)
#define CUDART_PIO4 M_PI_4
#define CUDART_PIO2 M_PI_2
#define CUDART_3PIO4 2.3561944901923448
#define CUDART_2_OVER_PI M_2_PI
#define CUDART_SQRT_2PI 2.5066282746310007
#define CUDART_SQRT_PIO2 1.2533141373155003
#define CUDART_SQRT_2OPI 0.79788456080286536
#define CUDART_L2E M_LOG2E
#define CUDART_L2T 3.3219280948873626
#define CUDART_LG2 0.30102999566398120
#define CUDART_LGE M_LOG10E
#define CUDART_LN2 M_LN2
#define CUDART_LNT M_LN10
#define CUDART_LNPI 1.1447298858494002
#ifndef NULL
#define NULL 0
#endif
                        extern "C" double j0(double);
extern "C" double j1(double);
extern "C" double y0(double);
extern "C" double y1(double);
extern "C" float j0f(float);
extern "C" float j1f(float);
extern "C" float y0f(float);
extern "C" float y1f(float);
extern "C" double jn(int, double);
extern "C" double yn(int, double);
extern "C" float jnf(int, float);
extern "C" float ynf(int, float);
extern "C" void *memcpy(void *, const void *, size_t);
extern "C" void *memset(void *, int, size_t);
extern "C" void *memmove(void *, const void *, size_t);
extern "C" int memcmp(const void *, const void *, size_t);
extern "C" size_t strlen(const char *);

/* ---- memory of the heap: the processor's */
extern "C" void *malloc(size_t);
#ifdef TT_CHECK
static __attribute__((no_sanitize("thread"))) void *tt_malloc(size_t n) {
  void *p = malloc(n);
  tt_core->touch(p, n, TT_CUDAC_HEAP, nullptr);
  return p;
}
#define malloc tt_malloc
#endif
extern "C" void free(void *);
void *operator new(size_t n) { return malloc(n); }
void *operator new[](size_t n) { return malloc(n); }
void operator delete(void *p) noexcept { free(p); }
void operator delete[](void *p) noexcept { free(p); }
void operator delete(void *p, size_t) noexcept { free(p); }
void operator delete[](void *p, size_t) noexcept { free(p); }
inline __attribute__((always_inline)) void *operator new(size_t, void *p) noexcept { return p; }
inline __attribute__((always_inline)) void *operator new[](size_t, void *p) noexcept { return p; }
