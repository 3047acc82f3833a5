/*
** CUDA C for NVRTC. The text includes nothing; everything named here is known to the compiler itself.
** To be compiled with --fmad=false: a contracted sum has other bits.
*/
#include "render/dialect.h"

static const char before[] =
    "#define TT_FN static __device__ __forceinline__\n"
    "#define TT_RARE static __device__ __noinline__\n"
    "#define TT_CONST static __device__ const\n"
    "#define TT_SQRT_F32(x) __fsqrt_rn(x)\n"
    "#define TT_SQRT_F64(x) __dsqrt_rn(x)\n"
    "#define TT_FMA_F32(a, b, c) __fmaf_rn(a, b, c)\n"
    "#define TT_FMA_F64(a, b, c) __fma_rn(a, b, c)\n"
    "#define TT_INT_DIVIDE\n"
    "TT_FN unsigned long long tt__wide(unsigned a, unsigned b) {\n"
    "  unsigned long long y;\n"
    "  asm(\"mul.wide.u32 %0, %1, %2;\" : \"=l\"(y) : \"r\"(a), \"r\"(b));\n"
    "  return y;\n"
    "}\n"
    "#define TT_WIDE_U32(a, b) tt__wide(a, b)\n"
    "#define TT_ROUND_INLINE\n"
    "#define __builtin_rintf rintf\n"
    "#define __builtin_floorf floorf\n"
    "#define __builtin_ceilf ceilf\n"
    "#define __builtin_truncf truncf\n"
    "#define __builtin_rint rint\n"
    "#define __builtin_floor floor\n"
    "#define __builtin_ceil ceil\n"
    "#define __builtin_trunc trunc\n"
    "#define TT_DIALECT_BITS\n"
    "#define tt__bits_f32(x) __float_as_uint(x)\n"
    "#define tt__from_f32(x) __uint_as_float(x)\n"
    "#define tt__bits_f64(x) ((tt_u64)__double_as_longlong(x))\n"
    "#define tt__from_f64(x) __longlong_as_double((tt_i64)(x))\n"
    "#define TT_SCALAR_LANES\n"
    "#define TT_CLAMP_F32(x, low, high) tt__least(tt__most(x, low), high)\n"
    "TT_FN float tt__most(float a, float b) { float y; asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), "
    "\"f\"(b)); return y; }\n"
    "TT_FN float tt__least(float a, float b) { float y; asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), "
    "\"f\"(b)); return y; }\n"
    "#define TT_NEAR_F32\n"
    "#define TT_SIZE_F32(x) fabsf(x)\n"
    "#define TT_MOST_F32(a, b) tt__most(a, b)\n"
    "TT_FN float tt__guess_reciprocal(float x) { float y; asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); "
    "return y; }\n"
    "TT_FN float tt__guess_root(float x) { float y; asm(\"rsqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x)); "
    "return y; }\n"
    /* conversions of 16-bit floats are instructions; they forget a NaN's sign and bits, which are kept here */
    "#define TT_DIALECT_HALVES\n"
    "TT_FN float tt_cast_f16_f32(unsigned short h) {\n"
    "  float x;\n"
    "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(h));\n"
    "  const unsigned nan = 0x7f800000u | (h & 0x3ffu) << 13 | (h & 0x8000u) << 16;\n"
    "  return (h & 0x7fffu) > 0x7c00u ? __uint_as_float(nan) : x;\n"
    "}\n"
    "TT_FN unsigned short tt_cast_f32_f16(float x) {\n"
    "  unsigned short h;\n"
    "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));\n"
    "  const unsigned u = __float_as_uint(x), nan = 0x7e00u | (u >> 13 & 0x3ffu) | (u >> 16 & 0x8000u);\n"
    "  return x != x ? (unsigned short)nan : h;\n"
    "}\n"
    "TT_FN unsigned short tt_cast_f32_bf16(float x) {\n"
    "  unsigned short h;\n"
    "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));\n"
    "  return x != x ? (unsigned short)(__float_as_uint(x) >> 16 | 0x40u) : h;\n"
    "}\n";

static const char after[] =
    "#define TT_TX ((tt_i32)threadIdx.x)\n"
    "#define TT_TY ((tt_i32)threadIdx.y)\n"
    "#define TT_BX ((tt_i32)blockDim.x)\n"
    "#define TT_BY ((tt_i32)blockDim.y)\n"
    "#define TT_GX ((tt_i32)blockIdx.x)\n"
    "#define TT_GY ((tt_i32)blockIdx.y)\n"
    "#define TT_NX ((tt_i32)gridDim.x)\n"
    "#define TT_NY ((tt_i32)gridDim.y)\n"
    "#define TT_SHARED __shared__\n"
    "#define TT_SHARED_AT\n"
    "#define TT_ADDRESS(type) type *\n"
    "#define TT_WORK (args->work)\n"
    "#define TT_FAULT (args->fault)\n"
    "#define TT_BARRIER() __syncthreads()\n"
    "#define TT_DOWN(x, by) __shfl_down_sync(0xffffffffu, x, by)\n"
    "#define TT_FROM(x, i) __shfl_sync(0xffffffffu, x, i)\n"
    "#define TT_ANY(x) __any_sync(0xffffffffu, x)\n"
    "#define TT_FIRST(p, x, y) atomicCAS(p, x, y)\n"
    "#define TT_MOST(p, x) atomicMax(p, x)\n"
    "#define TT_ALIGNED(n) __align__(n)\n"
    "#define TT_PRAGMA(x) _Pragma(#x)\n"
    "#define TT_UNROLL(n) TT_PRAGMA(unroll n)\n"
    "#define TT_BOUNDS(n, m) __launch_bounds__(n, m)\n"
    "#define TT_EXACTLY(n, m) __launch_bounds__(n, m)\n"
    "extern __shared__ TT_ALIGNED(16) tt_u8 TT_SHARED_BYTES[];\n"
    "typedef union {\n"
    "  tt_b8 b8; tt_i8 i8; tt_i16 i16; tt_i32 i32; tt_i64 i64; tt_u8 u8; tt_u16 u16; tt_u32 u32; tt_u64 u64;\n"
    "  tt_f32 f32; tt_f64 f64;\n"
    "} tt_scalar;\n"
    "typedef struct { tt_i32 access; tt_i64 index, len; } tt_kfault;\n"
    /* The first fault of all threads wins the exchange; the rest of the launch goes on and touches nothing bad. */
    "static __device__ __noinline__ int tt_fault(tt_kfault *f, tt_i32 access, tt_i64 index, tt_i64 len) {\n"
    "  if (TT_FIRST(&f->access, 0, access + 1) == 0) { f->index = index; f->len = len; }\n"
    "  return 0;\n"
    "}\n"
    "#define TT_INBOUNDS(a, b, i) \\\n"
    "  ((tt_u64)(i) < (tt_u64)args->buf_len[b] || tt_fault(TT_FAULT, a, i, args->buf_len[b]))\n";

const tt_dialect tt__dialect_cuda = {
    .name = "cuda",
    .before = before,
    .after = after,
    .options = "--fmad=false --minimal", /* nothing of the CUDA runtime's headers is used */
    .kernel = "extern \"C\" __global__ void ",
    .global = "",
    .buffer = "args->buf[%d]",
    .scalar = "args->scalar[%d].%s",
    .independent = "",
    .unrolled = "#pragma unroll",
    .branches = true,
    .inbounds = "TT_INBOUNDS(%d, %d, %s)",
    .lacks = 1u << TT_C64 | 1u << TT_C128,
};
