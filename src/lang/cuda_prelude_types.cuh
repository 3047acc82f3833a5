/*
** CUDA C's vector types and 16-bit floats for programs that run on the CPU. Behind cuda_prelude_math.cuh.
*/
#define TT_VECTOR(T, name, A2, A4)                                                            \
  struct name##1 {                                                                            \
    T x;                                                                                      \
  };                                                                                          \
  struct alignas(A2) name##2 {                                                                \
    T x, y;                                                                                   \
  };                                                                                          \
  struct name##3 {                                                                            \
    T x, y, z;                                                                                \
  };                                                                                          \
  struct alignas(A4) name##4 {                                                                \
    T x, y, z, w;                                                                             \
  };                                                                                          \
  static constexpr inline name##1 make_##name##1(T x) { return name##1 {x}; }                 \
  static constexpr inline name##2 make_##name##2(T x, T y) { return name##2 {x, y}; }         \
  static constexpr inline name##3 make_##name##3(T x, T y, T z) { return name##3 {x, y, z}; } \
  static constexpr inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4 {x, y, z, w}; }
struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
static constexpr inline uint1 make_uint1(unsigned x) { return uint1{x}; }
static constexpr inline uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
static constexpr inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return uint3{x, y, z}; }
static constexpr inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return uint4{x, y, z, w}; }
TT_VECTOR(signed char, char, 2, 4)
TT_VECTOR(unsigned char, uchar, 2, 4)
TT_VECTOR(short, short, 4, 8)
TT_VECTOR(unsigned short, ushort, 4, 8)
TT_VECTOR(int, int, 8, 16)
TT_VECTOR(long, long, 16, 16)
TT_VECTOR(unsigned long, ulong, 16, 16)
TT_VECTOR(long long, longlong, 16, 16)
TT_VECTOR(unsigned long long, ulonglong, 16, 16)
TT_VECTOR(float, float, 8, 16)
TT_VECTOR(double, double, 16, 16)

/* ---- 16-bit floats: kept as bits, computed as float */
TT_INLINE unsigned short tt_half_bits(float f) {
  unsigned u = __builtin_bit_cast(unsigned, f), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u >= 0x47800000u) return (unsigned short)(sign | (u > 0x7f800000u ? 0x7e00u : 0x7c00u)); /* NaN, too big */
  if (u < 0x38800000u) { /* the addition rounds to a multiple of the least subnormal */
    float tiny = __builtin_bit_cast(float, u) + 0.5f;
    return (unsigned short)(sign | (__builtin_bit_cast(unsigned, tiny) - 0x3f000000u));
  }
  return (unsigned short)(sign | ((u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13));
}
TT_INLINE float tt_half_float(unsigned short h) {
  unsigned sign = (unsigned)(h & 0x8000) << 16, e = h >> 10 & 31u, m = h & 0x3ffu;
  if (e == 31) return __builtin_bit_cast(float, sign | 0x7f800000u | m << 13);
  if (e == 0) return __builtin_bit_cast(float, sign | __builtin_bit_cast(unsigned, (float)m * 0x1p-24f));
  return __builtin_bit_cast(float, sign | (e + 112) << 23 | m << 13);
}
TT_INLINE unsigned short tt_bfloat_bits(float f) {
  unsigned u = __builtin_bit_cast(unsigned, f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(u >> 16 | 0x40u);
  return (unsigned short)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
TT_INLINE float tt_bfloat_float(unsigned short h) { return __builtin_bit_cast(float, (unsigned)h << 16); }

#define TT_SHORT_FLOAT(type, to_bits, to_float)                                                                \
  struct type {                                                                                                \
    unsigned short bits;                                                                                       \
    type() = default;                                                                                          \
    TT_MEMBER type(float f) : bits(to_bits(f)) {}                                                              \
    TT_MEMBER type(double f) : bits(to_bits((float)f)) {}                                                      \
    TT_MEMBER type(int f) : bits(to_bits((float)f)) {}                                                         \
    TT_MEMBER type(unsigned f) : bits(to_bits((float)f)) {}                                                    \
    TT_MEMBER type(long f) : bits(to_bits((float)f)) {}                                                        \
    TT_MEMBER type(unsigned long f) : bits(to_bits((float)f)) {}                                               \
    TT_MEMBER operator float() const { return to_float(bits); }                                                \
    TT_MEMBER type &operator+=(type o) { return *this = type((float)*this + (float)o); }                       \
    TT_MEMBER type &operator-=(type o) { return *this = type((float)*this - (float)o); }                       \
    TT_MEMBER type &operator*=(type o) { return *this = type((float)*this * (float)o); }                       \
    TT_MEMBER type &operator/=(type o) { return *this = type((float)*this / (float)o); }                       \
    TT_MEMBER type operator-() const { return type(-(float)*this); }                                           \
  };                                                                                                           \
  TT_INLINE type operator+(type a, type b) { return type((float)a + (float)b); }                               \
  TT_INLINE type operator-(type a, type b) { return type((float)a - (float)b); }                               \
  TT_INLINE type operator*(type a, type b) { return type((float)a * (float)b); }                               \
  TT_INLINE type operator/(type a, type b) { return type((float)a / (float)b); }                               \
  TT_INLINE bool operator<(type a, type b) { return (float)a < (float)b; }                                     \
  TT_INLINE bool operator>(type a, type b) { return (float)a > (float)b; }                                     \
  TT_INLINE bool operator<=(type a, type b) { return (float)a <= (float)b; }                                   \
  TT_INLINE bool operator>=(type a, type b) { return (float)a >= (float)b; }                                   \
  TT_INLINE bool operator==(type a, type b) { return (float)a == (float)b; }                                   \
  TT_INLINE bool operator!=(type a, type b) { return (float)a != (float)b; }                                   \
  struct alignas(4) type##2 {                                                                                  \
    type x, y;                                                                                                 \
  };                                                                                                           \
  TT_INLINE type##2 __halves2##type##2(type x, type y) { return type##2 {x, y}; }                              \
  TT_INLINE type __hadd(type a, type b) { return a + b; }                                                      \
  TT_INLINE type __hsub(type a, type b) { return a - b; }                                                      \
  TT_INLINE type __hmul(type a, type b) { return a * b; }                                                      \
  TT_INLINE type __hdiv(type a, type b) { return a / b; }                                                      \
  TT_INLINE type __hneg(type a) { return -a; }                                                                 \
  TT_INLINE type __habs(type a) { return type(__builtin_fabsf((float)a)); }                                    \
  TT_INLINE type __hfma(type a, type b, type c) { return type(__builtin_fmaf((float)a, (float)b, (float)c)); } \
  TT_INLINE bool __hlt(type a, type b) { return a < b; }                                                       \
  TT_INLINE bool __hgt(type a, type b) { return a > b; }                                                       \
  TT_INLINE bool __hle(type a, type b) { return a <= b; }                                                      \
  TT_INLINE bool __hge(type a, type b) { return a >= b; }                                                      \
  TT_INLINE bool __heq(type a, type b) { return a == b; }                                                      \
  TT_INLINE bool __hne(type a, type b) { return a != b; }                                                      \
  TT_INLINE bool __hisnan(type a) { return __builtin_isnan((float)a); }                                        \
  TT_INLINE bool __hisinf(type a) { return __builtin_isinf((float)a); }                                        \
  TT_INLINE type __hmax(type a, type b) { return type(__builtin_fmaxf((float)a, (float)b)); }                  \
  TT_INLINE type __hmin(type a, type b) { return type(__builtin_fminf((float)a, (float)b)); }                  \
  TT_INLINE type hsqrt(type a) { return type(__builtin_sqrtf((float)a)); }                                     \
  TT_INLINE type hrsqrt(type a) { return type(1.0f / __builtin_sqrtf((float)a)); }                             \
  TT_INLINE type hexp(type a) { return type(expf((float)a)); }                                                 \
  TT_INLINE type hlog(type a) { return type(logf((float)a)); }                                                 \
  TT_INLINE type hsin(type a) { return type(sinf((float)a)); }                                                 \
  TT_INLINE type hcos(type a) { return type(cosf((float)a)); }                                                 \
  TT_INLINE type hfloor(type a) { return type(__builtin_floorf((float)a)); }                                   \
  TT_INLINE type hceil(type a) { return type(__builtin_ceilf((float)a)); }                                     \
  TT_INLINE type##2 __hadd2(type##2 a, type##2 b) { return type##2 {a.x + b.x, a.y + b.y}; }                   \
  TT_INLINE type##2 __hsub2(type##2 a, type##2 b) { return type##2 {a.x - b.x, a.y - b.y}; }                   \
  TT_INLINE type##2 __hmul2(type##2 a, type##2 b) { return type##2 {a.x * b.x, a.y * b.y}; }                   \
  TT_INLINE type##2 __hfma2(type##2 a, type##2 b, type##2 c) {                                                 \
    return type##2 {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                             \
  }                                                                                                            \
  TT_INLINE type __low2##type(type##2 a) { return a.x; }                                                       \
  TT_INLINE type __high2##type(type##2 a) { return a.y; }
#define TT_MEMBER __attribute__((always_inline)) inline
TT_SHORT_FLOAT(__half, tt_half_bits, tt_half_float)
TT_SHORT_FLOAT(__nv_bfloat16, tt_bfloat_bits, tt_bfloat_float)
typedef __half half;
typedef __half2 half2;
typedef __half float16;
typedef __half __half_raw;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
TT_INLINE __half __float2half(float f) { return __half(f); }
TT_INLINE __half __float2half_rn(float f) { return __half(f); }
TT_INLINE __half __double2half(double f) { return __half(f); }
TT_INLINE __half __int2half_rn(int f) { return __half(f); }
TT_INLINE float __half2float(__half h) { return (float)h; }
TT_INLINE int __half2int_rn(__half h) { return __float2int_rn((float)h); }
TT_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2{__half(x), __half(y)}; }
TT_INLINE __half2 __float22half2_rn(float2 f) { return __half2{__half(f.x), __half(f.y)}; }
TT_INLINE __half2 __float2half2_rn(float f) { return __half2{__half(f), __half(f)}; }
TT_INLINE __half2 __half2half2(__half h) { return __half2{h, h}; }
TT_INLINE __half2 __halves2half2(__half x, __half y) { return __half2{x, y}; }
TT_INLINE float2 __half22float2(__half2 h) { return float2{(float)h.x, (float)h.y}; }
TT_INLINE float __low2float(__half2 h) { return (float)h.x; }
TT_INLINE float __high2float(__half2 h) { return (float)h.y; }
TT_INLINE unsigned short __half_as_ushort(__half h) { return h.bits; }
TT_INLINE __half __ushort_as_half(unsigned short u) { return __builtin_bit_cast(__half, u); }
TT_INLINE __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
TT_INLINE __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
TT_INLINE float __bfloat162float(__nv_bfloat16 h) { return (float)h; }
TT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162{__nv_bfloat16(x), __nv_bfloat16(y)};
}
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef float2 cuComplex;
TT_INLINE cuFloatComplex make_cuFloatComplex(float x, float y) { return float2{x, y}; }
TT_INLINE cuDoubleComplex make_cuDoubleComplex(double x, double y) { return double2{x, y}; }
TT_INLINE cuFloatComplex cuCaddf(float2 a, float2 b) { return float2{a.x + b.x, a.y + b.y}; }
TT_INLINE cuFloatComplex cuCmulf(float2 a, float2 b) { return float2{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
TT_INLINE cuDoubleComplex cuCadd(double2 a, double2 b) { return double2{a.x + b.x, a.y + b.y}; }
TT_INLINE cuDoubleComplex cuCmul(double2 a, double2 b) { return double2{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
TT_INLINE float cuCrealf(float2 a) { return a.x; }
TT_INLINE float cuCimagf(float2 a) { return a.y; }
TT_INLINE double cuCreal(double2 a) { return a.x; }
TT_INLINE double cuCimag(double2 a) { return a.y; }
TT_INLINE float cuCabsf(float2 a) { return hypotf(a.x, a.y); }
TT_INLINE double cuCabs(double2 a) { return hypot(a.x, a.y); }
