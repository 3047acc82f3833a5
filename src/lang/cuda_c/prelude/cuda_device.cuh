/*
** What stands before a program for CUDA: names of the usual headers, which the run-time compiler does not have, and how
** the types of a kernel's parameters are told to the host.
*/
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#ifndef CUDART_VERSION
#define CUDART_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define LONG_MIN (-9223372036854775807l - 1l)
#define ULONG_MAX 18446744073709551615ul
#define INT8_MAX 127
#define INT8_MIN (-128)
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807l - 1l)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define SIZE_MAX 18446744073709551615ul
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-9223372036854775807ll - 1ll)
#define ULLONG_MAX 18446744073709551615ull
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807l
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ul
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
#ifndef NULL
#define NULL 0
#endif
#define TT_MEMBER __host__ __device__ __forceinline__
#define TT_CUDA_DEVICE 1

/*
** Whole numbers, and numbers of two types, given to functions that the compiler has for floats and doubles alone or for
** some mixes: it would call them ambiguous. What a program may say is then what the CPU takes (cuda_prelude_math.cuh).
*/
template <bool B, class T>
struct tt_if {};
template <class T>
struct tt_if<true, T> {
  typedef T type;
};
template <class T>
struct tt_class { /* 1: a whole number, 2: a float or double */
  static constexpr int of = 0;
};
#define TT_CLASS(T, K)           \
  template <>                    \
  struct tt_class<T> {           \
    static constexpr int of = K; \
  };
TT_CLASS(bool, 1) TT_CLASS(char, 1) TT_CLASS(signed char, 1) TT_CLASS(unsigned char, 1) TT_CLASS(short, 1)
TT_CLASS(unsigned short, 1) TT_CLASS(int, 1) TT_CLASS(unsigned, 1) TT_CLASS(long, 1) TT_CLASS(unsigned long, 1)
TT_CLASS(long long, 1) TT_CLASS(unsigned long long, 1) TT_CLASS(float, 2) TT_CLASS(double, 2)
template <class A, class B, bool numbers = tt_class<A>::of != 0 && tt_class<B>::of != 0>
struct tt_mix {
  static constexpr int of = 0;
};
template <class A, class B>
struct tt_mix<A, B, true> { /* of two types: what C makes of them */
  typedef decltype(true ? A() : B()) type;
  static constexpr int of = tt_class<type>::of;
};
template <class A>
struct tt_mix<A, A, true> { /* two floats or doubles have functions of their own */
  typedef A type;
  static constexpr int of = tt_class<A>::of == 1;
};
#define TT_WHOLE1(R, name)                                                \
  template <class T, typename tt_if<tt_class<T>::of == 1, int>::type = 0> \
  static TT_MEMBER R name(T x) {                                          \
    return name((double)x);                                               \
  }
#define TT_WHOLE2(name)                                                             \
  template <class A, class B, typename tt_if<tt_mix<A, B>::of != 0, int>::type = 0> \
  static TT_MEMBER double name(A x, B y) {                                          \
    return name((double)x, (double)y);                                              \
  }
TT_WHOLE1(double, sin) TT_WHOLE1(double, cos) TT_WHOLE1(double, tan) TT_WHOLE1(double, asin) TT_WHOLE1(double, acos)
TT_WHOLE1(double, atan) TT_WHOLE1(double, sinh) TT_WHOLE1(double, cosh) TT_WHOLE1(double, tanh)
TT_WHOLE1(double, asinh) TT_WHOLE1(double, acosh) TT_WHOLE1(double, atanh) TT_WHOLE1(double, exp)
TT_WHOLE1(double, exp2) TT_WHOLE1(double, expm1) TT_WHOLE1(double, log) TT_WHOLE1(double, log2)
TT_WHOLE1(double, log10) TT_WHOLE1(double, log1p) TT_WHOLE1(double, sqrt) TT_WHOLE1(double, cbrt)
TT_WHOLE1(double, floor) TT_WHOLE1(double, ceil) TT_WHOLE1(double, trunc) TT_WHOLE1(double, round)
TT_WHOLE1(double, rint) TT_WHOLE1(double, nearbyint) TT_WHOLE1(double, fabs) TT_WHOLE1(double, erf)
TT_WHOLE1(double, erfc) TT_WHOLE1(double, tgamma) TT_WHOLE1(double, lgamma) TT_WHOLE1(double, logb)
TT_WHOLE1(double, rsqrt) TT_WHOLE1(double, exp10) TT_WHOLE1(double, rcbrt) TT_WHOLE1(bool, isnan)
TT_WHOLE1(bool, isinf) TT_WHOLE1(bool, isfinite) TT_WHOLE1(bool, signbit) TT_WHOLE2(pow) TT_WHOLE2(atan2)
TT_WHOLE2(fmod) TT_WHOLE2(remainder) TT_WHOLE2(hypot) TT_WHOLE2(fmin) TT_WHOLE2(fmax) TT_WHOLE2(copysign)
TT_WHOLE2(fdim) TT_WHOLE2(nextafter)
#define TT_CHOICE(name, choose)                                                     \
  template <class A, class B, typename tt_if<tt_mix<A, B>::of == 1, int>::type = 0> \
  static TT_MEMBER typename tt_mix<A, B>::type name(A x, B y) {                     \
    typedef typename tt_mix<A, B>::type T;                                          \
    return (T)x choose (T)y ? (T)x : (T)y;                                          \
  }                                                                                 \
  template <class A, class B, typename tt_if<tt_mix<A, B>::of == 2, int>::type = 0> \
  static TT_MEMBER typename tt_mix<A, B>::type name(A x, B y) {                     \
    typedef typename tt_mix<A, B>::type T;                                          \
    return name((T)x, (T)y);                                                        \
  }
TT_CHOICE(min, <)
TT_CHOICE(max, >)

/*
** Atomic operations on types that CUDA has none for: by those of the same width. They are templates, so that what a
** program defines itself under these names stands before them.
*/
template <class T>
struct tt_atom { /* as: of the same width; wide: whole numbers that are no unsigned long long; real */
  static constexpr bool wide = false, real = false, is_long = false, is_widest = false;
};
#define TT_ATOM(T, AS, WIDE, REAL, LONG)                                                        \
  template <>                                                                                   \
  struct tt_atom<T> {                                                                           \
    typedef AS as;                                                                              \
    typedef T type;                                                                             \
    static constexpr bool wide = WIDE, real = REAL, is_long = LONG, is_widest = !WIDE && !REAL; \
  };
TT_ATOM(long, long long, true, false, true)
TT_ATOM(unsigned long, unsigned long long, true, false, true)
TT_ATOM(long long, long long, true, false, false)
TT_ATOM(unsigned long long, unsigned long long, false, false, false)
TT_ATOM(float, unsigned, false, true, false)
TT_ATOM(double, unsigned long long, false, true, false)
typedef unsigned long long tt_wide;
#define TT_ATOMIC(name, which, ...)                                             \
  template <class T, typename tt_if<tt_atom<T>::which, int>::type = 0>          \
  static __device__ __forceinline__ T name(T *p, typename tt_atom<T>::type v) { \
    return (T)(__VA_ARGS__);                                                    \
  }
TT_ATOMIC(atomicAdd, wide, atomicAdd((tt_wide *)p, (tt_wide)v))
TT_ATOMIC(atomicSub, wide, atomicAdd((tt_wide *)p, 0 - (tt_wide)v))
TT_ATOMIC(atomicExch, wide, atomicExch((tt_wide *)p, (tt_wide)v))
TT_ATOMIC(atomicAnd, wide, atomicAnd((tt_wide *)p, (tt_wide)v))
TT_ATOMIC(atomicOr, wide, atomicOr((tt_wide *)p, (tt_wide)v))
TT_ATOMIC(atomicXor, wide, atomicXor((tt_wide *)p, (tt_wide)v))
TT_ATOMIC(atomicMin, is_long, atomicMin((typename tt_atom<T>::as *)p, (typename tt_atom<T>::as)v))
TT_ATOMIC(atomicMax, is_long, atomicMax((typename tt_atom<T>::as *)p, (typename tt_atom<T>::as)v))
template <class T, typename tt_if<tt_atom<T>::wide, int>::type = 0>
static __device__ __forceinline__ T atomicCAS(T *p, typename tt_atom<T>::type want, typename tt_atom<T>::type v) {
  return (T)atomicCAS((tt_wide *)p, (tt_wide)want, (tt_wide)v);
}
template <class T, typename tt_if<tt_atom<T>::is_widest, int>::type = 0>
static __device__ __forceinline__ T atomicSub(T *p, typename tt_atom<T>::type v) {
  return atomicAdd(p, 0 - v);
}
static __device__ __forceinline__ unsigned tt_bits_of(float v) { return __float_as_uint(v); }
static __device__ __forceinline__ tt_wide tt_bits_of(double v) { return (tt_wide)__double_as_longlong(v); }
static __device__ __forceinline__ float tt_real_of(unsigned v) { return __uint_as_float(v); }
static __device__ __forceinline__ double tt_real_of(tt_wide v) { return __longlong_as_double((long long)v); }
TT_ATOMIC(atomicExch, real, tt_real_of(atomicExch((typename tt_atom<T>::as *)p, tt_bits_of((T)v))))
#define TT_ATOMIC_CHOICE(name, better)                                          \
  template <class T, typename tt_if<tt_atom<T>::real, int>::type = 0>           \
  static __device__ __forceinline__ T name(T *p, typename tt_atom<T>::type v) { \
    typedef typename tt_atom<T>::as W;                                          \
    W old = *(volatile W *)p, was;                                              \
    do {                                                                        \
      T x = tt_real_of(was = old);                                              \
      if (better) old = atomicCAS((W *)p, was, tt_bits_of((T)v));               \
    } while (was != old);                                                       \
    return tt_real_of(old);                                                     \
  }
TT_ATOMIC_CHOICE(atomicMin, v < x)
TT_ATOMIC_CHOICE(atomicMax, x < v)

/* A kernel by its name, which is no function's alone: CUDA has an all and an any of its own. */
template <class... A>
__device__ void (*tt_the_kernel(void (*kernel)(A...)))(A...);
template <class S>
struct tt_table;
template <class... A>
struct tt_table<void (*)(A...)> {
  struct row {
    int kind, size, align;
  };
  struct type {
    int n;
    row of[sizeof...(A) + 1];
  };
  static constexpr type value = {(int)sizeof...(A), {{tt_param<A>::kind, (int)sizeof(A), (int)alignof(A)}..., {0, 0, 0}}};
};
