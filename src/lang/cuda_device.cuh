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
#define CHAR_BIT 8
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

template <class T>
struct tt_kind {
  static constexpr int kind = TT_CUDAC_VOID;
};
#define TT_KIND(T, K)                  \
  template <>                          \
  struct tt_kind<T> {                  \
    static constexpr int kind = K;     \
  };
TT_KIND(bool, TT_D_BOOL)
TT_KIND(char, TT_D_I8)
TT_KIND(signed char, TT_D_I8)
TT_KIND(short, TT_D_I16)
TT_KIND(int, TT_D_I32)
TT_KIND(long, TT_D_I64)
TT_KIND(long long, TT_D_I64)
TT_KIND(unsigned char, TT_D_U8)
TT_KIND(unsigned short, TT_D_U16)
TT_KIND(unsigned, TT_D_U32)
TT_KIND(unsigned long, TT_D_U64)
TT_KIND(unsigned long long, TT_D_U64)
TT_KIND(float, TT_D_F32)
TT_KIND(double, TT_D_F64)
template <class T>
struct tt_kind<volatile T> : tt_kind<T> {};
template <class T>
struct tt_param {
  static constexpr int kind = tt_kind<T>::kind == TT_CUDAC_VOID ? TT_CUDAC_STRUCT : tt_kind<T>::kind;
};
template <class T>
struct tt_param<T *> {
  static constexpr int kind = TT_CUDAC_POINTER | tt_kind<T>::kind;
};
template <class T>
struct tt_param<const T *> {
  static constexpr int kind = TT_CUDAC_POINTER | TT_CUDAC_CONST | tt_kind<T>::kind;
};
template <class T>
struct tt_param<const T> : tt_param<T> {};
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
