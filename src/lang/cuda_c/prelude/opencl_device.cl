/*
** CUDA C's words in OpenCL C 1.2, above programs that lang/cuda_c/opencl_text.c has made ready for it. Functions of one
** name for several types are what compilers of OpenCL have built-in functions by.
*/
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#ifdef TT_NO_FMAD
#pragma OPENCL FP_CONTRACT OFF
#else
#pragma OPENCL FP_CONTRACT ON
#endif
#define __device__
#define __host__
#define __noinline__
#define __forceinline__
#define __restrict__ restrict
#define __restrict restrict
#define __align__(n) __attribute__((aligned(n)))
#ifndef NULL
#define NULL 0
#endif
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

#define threadIdx ((uint3)((uint)get_local_id(0), (uint)get_local_id(1), (uint)get_local_id(2)))
#define blockIdx ((uint3)((uint)get_group_id(0), (uint)get_group_id(1), (uint)get_group_id(2)))
#define blockDim ((uint3)((uint)get_local_size(0), (uint)get_local_size(1), (uint)get_local_size(2)))
#define gridDim ((uint3)((uint)get_num_groups(0), (uint)get_num_groups(1), (uint)get_num_groups(2)))
#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define __threadfence() mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define __threadfence_block() mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define __ldg(p) (*(p))
#define __popc popcount
#define __popcll popcount
#define __clz clz
#define __clzll clz
#define __mul24 mul24
#define __umul24 mul24
#define __int_as_float(x) as_float((int)(x))
#define __uint_as_float(x) as_float((uint)(x))
#define __float_as_int(x) as_int((float)(x))
#define __float_as_uint(x) as_uint((float)(x))
#define __longlong_as_double(x) as_double((long)(x))
#define __double_as_longlong(x) as_long((double)(x))
#define make_float2(x, y) ((float2)(x, y))
#define make_float4(x, y, z, w) ((float4)(x, y, z, w))
#define make_double2(x, y) ((double2)(x, y))
#define make_int2(x, y) ((int2)(x, y))
#define make_int4(x, y, z, w) ((int4)(x, y, z, w))
#define make_uint2(x, y) ((uint2)(x, y))

#define sinf(x) sin((float)(x))
#define cosf(x) cos((float)(x))
#define tanf(x) tan((float)(x))
#define asinf(x) asin((float)(x))
#define acosf(x) acos((float)(x))
#define atanf(x) atan((float)(x))
#define sinhf(x) sinh((float)(x))
#define coshf(x) cosh((float)(x))
#define tanhf(x) tanh((float)(x))
#define expf(x) exp((float)(x))
#define exp2f(x) exp2((float)(x))
#define exp10f(x) exp10((float)(x))
#define expm1f(x) expm1((float)(x))
#define logf(x) log((float)(x))
#define log2f(x) log2((float)(x))
#define log10f(x) log10((float)(x))
#define log1pf(x) log1p((float)(x))
#define sqrtf(x) sqrt((float)(x))
#define rsqrtf(x) rsqrt((float)(x))
#define cbrtf(x) cbrt((float)(x))
#define fabsf(x) fabs((float)(x))
#define floorf(x) floor((float)(x))
#define ceilf(x) ceil((float)(x))
#define truncf(x) trunc((float)(x))
#define roundf(x) round((float)(x))
#define rintf(x) rint((float)(x))
#define erff(x) erf((float)(x))
#define erfcf(x) erfc((float)(x))
#define tgammaf(x) tgamma((float)(x))
#define lgammaf(x) lgamma((float)(x))
#define atan2f(x, y) atan2((float)(x), (float)(y))
#define powf(x, y) pow((float)(x), (float)(y))
#define fmodf(x, y) fmod((float)(x), (float)(y))
#define fmaxf(x, y) fmax((float)(x), (float)(y))
#define fminf(x, y) fmin((float)(x), (float)(y))
#define hypotf(x, y) hypot((float)(x), (float)(y))
#define copysignf(x, y) copysign((float)(x), (float)(y))
#define fmaf(x, y, z) fma((float)(x), (float)(y), (float)(z))
#define __fmaf_rn(x, y, z) fma((float)(x), (float)(y), (float)(z))
#define ldexpf(x, n) ldexp((float)(x), (int)(n))
#define __expf(x) exp((float)(x))
#define __logf(x) log((float)(x))
#define __sinf(x) sin((float)(x))
#define __cosf(x) cos((float)(x))
#define __powf(x, y) pow((float)(x), (float)(y))
#define __fdividef(x, y) ((float)(x) / (float)(y))

#define TT_SEVERAL static inline __attribute__((overloadable))
TT_SEVERAL int tt_abs(int x) { return x < 0 ? -x : x; }
TT_SEVERAL long tt_abs(long x) { return x < 0 ? -x : x; }
TT_SEVERAL float tt_abs(float x) { return fabs(x); }
TT_SEVERAL double tt_abs(double x) { return fabs(x); }
#define abs(x) tt_abs(x)

/* ---- atomics: each gives the old value */
#define TT_SWAP_LOOP(NAME, M, T, U, SWAP, TO, FROM, NEW)               \
  TT_SEVERAL T NAME(volatile M T *p, T v) {                            \
    T old = *p;                                                        \
    for (;;) {                                                         \
      U seen = SWAP((volatile M U *)p, TO(old), TO((T)(NEW)));         \
      if (seen == TO(old)) return old;                                 \
      old = FROM(seen);                                                \
    }                                                                  \
  }
#define TT_AS_IT_IS(x) (x)
#define TT_ATOMICS_WHOLE(M, T, PRE)                                                                       \
  TT_SEVERAL T atomicAdd(volatile M T *p, T v) { return PRE##_add(p, v); }                                \
  TT_SEVERAL T atomicSub(volatile M T *p, T v) { return PRE##_sub(p, v); }                                \
  TT_SEVERAL T atomicExch(volatile M T *p, T v) { return PRE##_xchg(p, v); }                              \
  TT_SEVERAL T atomicCAS(volatile M T *p, T old, T v) { return PRE##_cmpxchg(p, old, v); }                \
  TT_SWAP_LOOP(atomicMax, M, T, T, PRE##_cmpxchg, TT_AS_IT_IS, TT_AS_IT_IS, v > old ? v : old)            \
  TT_SWAP_LOOP(atomicMin, M, T, T, PRE##_cmpxchg, TT_AS_IT_IS, TT_AS_IT_IS, v < old ? v : old)            \
  TT_SWAP_LOOP(atomicAnd, M, T, T, PRE##_cmpxchg, TT_AS_IT_IS, TT_AS_IT_IS, old & v)                      \
  TT_SWAP_LOOP(atomicOr, M, T, T, PRE##_cmpxchg, TT_AS_IT_IS, TT_AS_IT_IS, old | v)                       \
  TT_SWAP_LOOP(atomicXor, M, T, T, PRE##_cmpxchg, TT_AS_IT_IS, TT_AS_IT_IS, old ^ v)
#define TT_ATOMICS(M)                                                                                      \
  TT_ATOMICS_WHOLE(M, int, atomic)                                                                         \
  TT_ATOMICS_WHOLE(M, uint, atomic)                                                                        \
  TT_SWAP_LOOP(atomicInc, M, uint, uint, atomic_cmpxchg, TT_AS_IT_IS, TT_AS_IT_IS, old >= v ? 0 : old + 1) \
  TT_SWAP_LOOP(atomicDec, M, uint, uint, atomic_cmpxchg, TT_AS_IT_IS, TT_AS_IT_IS,                         \
               old == 0 || old > v ? v : old - 1)                                                          \
  TT_SWAP_LOOP(atomicAdd, M, float, uint, atomic_cmpxchg, as_uint, as_float, old + v)                      \
  TT_SWAP_LOOP(atomicExch, M, float, uint, atomic_cmpxchg, as_uint, as_float, v)
TT_ATOMICS(__global)
TT_ATOMICS(__local)
#ifdef cl_khr_int64_base_atomics
#define TT_ATOMICS_WIDE(M)                                                               \
  TT_ATOMICS_WHOLE(M, long, atom)                                                        \
  TT_ATOMICS_WHOLE(M, ulong, atom)                                                       \
  TT_SWAP_LOOP(atomicAdd, M, double, ulong, atom_cmpxchg, as_ulong, as_double, old + v)
TT_ATOMICS_WIDE(__global)
TT_ATOMICS_WIDE(__local)
#endif
