/*
** CUDA C's vector types and cuComplex's for programs that run on the CPU. Behind cuda_prelude_math.cuh.
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
typedef tt_uint3 uint3;
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

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef float2 cuComplex;
TT_INLINE cuFloatComplex make_cuFloatComplex(float x, float y) { return float2{x, y}; }
TT_INLINE cuDoubleComplex make_cuDoubleComplex(double x, double y) { return double2{x, y}; }
TT_INLINE cuFloatComplex cuCaddf(float2 a, float2 b) { return float2{a.x + b.x, a.y + b.y}; }
TT_INLINE cuFloatComplex cuCmulf(float2 a, float2 b) { return float2{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
TT_INLINE cuDoubleComplex cuCadd(double2 a, double2 b) { return double2{a.x + b.x, a.y + b.y}; }
TT_INLINE cuDoubleComplex cuCmul(double2 a, double2 b) { return double2{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
#define TT_CU_COMPLEX(T, V, f, hypot)                                                                    \
  TT_INLINE V cuConj##f(V a) { return V{a.x, -a.y}; }                                                    \
  TT_INLINE V cuCsub##f(V a, V b) { return V{a.x - b.x, a.y - b.y}; }                                    \
  TT_INLINE V cuCdiv##f(V a, V b) { /* scaled, so that squares do not leave the type */                  \
    T s = 1 / (fabs(b.x) + fabs(b.y)), ax = a.x * s, ay = a.y * s, bx = b.x * s, by = b.y * s;           \
    T d = 1 / (bx * bx + by * by);                                                                       \
    return V{(ax * bx + ay * by) * d, (ay * bx - ax * by) * d};                                          \
  }                                                                                                      \
  TT_INLINE V cuCfma##f(V a, V b, V c) {                                                                 \
    return V{a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                                  \
  }                                                                                                      \
  TT_INLINE T cuCreal##f(V a) { return a.x; }                                                            \
  TT_INLINE T cuCimag##f(V a) { return a.y; }                                                            \
  TT_INLINE T cuCabs##f(V a) { return hypot(a.x, a.y); }
TT_CU_COMPLEX(float, float2, f, hypotf)
TT_CU_COMPLEX(double, double2, , hypot)
TT_INLINE cuComplex make_cuComplex(float x, float y) { return float2{x, y}; }
TT_INLINE double2 cuComplexFloatToDouble(float2 a) { return double2{a.x, a.y}; }
TT_INLINE float2 cuComplexDoubleToFloat(double2 a) { return float2{(float)a.x, (float)a.y}; }
