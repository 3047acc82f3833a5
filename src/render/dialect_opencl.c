/*
** OpenCL C 1.2. Memory has handles there: an address among the arguments is how far into memory, which is an argument
** of its own, something lies. To be compiled without contracting products and sums, which have other bits.
*/
#include "render/dialect.h"

#define NO_DOUBLES "tt_this_device_has_no_float64"

static const char before[] =
    "#ifdef cl_khr_int64_extended_atomics\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
    "#endif\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define TT_DIALECT_TYPES\n"
    "typedef uchar tt_b8; typedef char tt_i8; typedef short tt_i16; typedef int tt_i32; typedef long tt_i64;\n"
    "typedef uchar tt_u8; typedef ushort tt_u16; typedef uint tt_u32; typedef ulong tt_u64;\n"
    "typedef ushort tt_f16; typedef ushort tt_bf16; typedef float tt_f32;\n"
    "#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)\n"
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "typedef double tt_f64;\n"
    "#define TT_DOUBLE_OF_SCALAR tt_f64 f64;\n"
    "#else\n" /* who needs it is told so by this name in the compiler's words (tt_dialect.no_doubles) */
    "#define tt_f64 " NO_DOUBLES
    "\n"
    "#define TT_NO_DOUBLES\n"
    "#define TT_DOUBLE_OF_SCALAR\n"
    "#endif\n"
    "#define TT_U64(x) x##ul\n"
    "#define TT_I64(x) x##l\n"
    "#define TT_FN static inline __attribute__((always_inline))\n"
    "#define TT_RARE static __attribute__((noinline))\n"
    "#define TT_CONST __constant const\n"
    "#define TT_SQRT_F32(x) sqrt(x)\n"
    "#define TT_SQRT_F64(x) sqrt(x)\n"
    "#define TT_FMA_F32(a, b, c) fma(a, b, c)\n"
    "#define TT_FMA_F64(a, b, c) fma(a, b, c)\n"
    "#define TT_ROUND_INLINE\n"
    "#define __builtin_rintf rint\n"
    "#define __builtin_floorf floor\n"
    "#define __builtin_ceilf ceil\n"
    "#define __builtin_truncf trunc\n"
    "#define __builtin_rint rint\n"
    "#define __builtin_floor floor\n"
    "#define __builtin_ceil ceil\n"
    "#define __builtin_trunc trunc\n"
    "#define TT_DIALECT_BITS\n"
    "#define tt__bits_f32(x) as_uint(x)\n"
    "#define tt__from_f32(x) as_float(x)\n"
    "#define tt__bits_f64(x) as_ulong(x)\n"
    "#define tt__from_f64(x) as_double(x)\n";

static const char after[] =
    "#define TT_TX ((tt_i32)get_local_id(0))\n"
    "#define TT_TY ((tt_i32)get_local_id(1))\n"
    "#define TT_BX ((tt_i32)get_local_size(0))\n"
    "#define TT_BY ((tt_i32)get_local_size(1))\n"
    "#define TT_GX ((tt_i32)get_group_id(0))\n"
    "#define TT_GY ((tt_i32)get_group_id(1))\n"
    "#define TT_NX ((tt_i32)get_num_groups(0))\n"
    "#define TT_NY ((tt_i32)get_num_groups(1))\n"
    "#define TT_GZ ((tt_i32)get_group_id(2))\n"
    "#define TT_NZ ((tt_i32)get_num_groups(2))\n"
    "#define TT_SHARED __local\n"
    "#define TT_SHARED_AT __local\n"
    "#define TT_ADDRESS(type) tt_u64\n"
    "#define TT_WORK (m_work + args->work)\n"
    "#define TT_FAULT ((__global tt_kfault *)(m_fault + args->fault))\n"
    "#define TT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "#define TT_FIRST(p, x, y) atomic_cmpxchg(p, x, y)\n"
    "TT_FN void tt__most_u32(volatile __global tt_u32 *p, tt_u32 x) { atomic_max(p, x); }\n"
    "#ifdef cl_khr_int64_extended_atomics\n" /* else no launch asks for it (tt_target.narrow_atomics) */
    "TT_FN void tt__most_u64(volatile __global tt_u64 *p, tt_u64 x) { atom_max(p, x); }\n"
    "#else\n"
    "TT_FN void tt__most_u64(volatile __global tt_u64 *p, tt_u64 x) {}\n"
    "#endif\n"
    "#define TT_MOST(p, x) \\\n"
    "  (sizeof *(p) == 8 ? tt__most_u64((volatile __global tt_u64 *)(p), x) \\\n"
    "                    : tt__most_u32((volatile __global tt_u32 *)(p), (tt_u32)(x)))\n"
    "#define TT_ALIGNED(n) __attribute__((aligned(n)))\n"
    /* Threads read each other's registers by instructions of the maker's, where the device says so (its .warp). */
    "#ifdef TT_PTX\n"
    "#define TT_LANE(name, how, last, type, other, as, back) \\\n"
    "  TT_FN __attribute__((overloadable)) type name(type x, tt_i32 by) { \\\n"
    "    other y, given = as(x); \\\n"
    "    __asm__ volatile(\"shfl.sync.\" how \".b32 %0, %1, %2, \" last \", 0xffffffff;\" \\\n"
    "                     : \"=r\"(y) : \"r\"(given), \"r\"(by)); \\\n"
    "    return back(y); \\\n"
    "  }\n"
    "#define TT_LANE_WIDE(name, type, as, back) \\\n"
    "  TT_FN __attribute__((overloadable)) type name(type x, tt_i32 by) { \\\n"
    "    const uint2 given = as(x); \\\n"
    "    return back((uint2)(name(given.x, by), name(given.y, by))); \\\n"
    "  }\n"
    "#ifdef TT_NO_DOUBLES\n"
    "#define TT_LANE_F64(name)\n"
    "#else\n"
    "#define TT_LANE_F64(name) TT_LANE_WIDE(name, tt_f64, as_uint2, as_double)\n"
    "#endif\n"
    "#define TT_LANES(name, how, last) \\\n"
    "  TT_LANE(name, how, last, tt_u32, tt_u32, , ) \\\n"
    "  TT_LANE(name, how, last, tt_i32, tt_i32, , ) \\\n"
    "  TT_LANE(name, how, last, tt_f32, tt_u32, as_uint, as_float) \\\n"
    "  TT_LANE_WIDE(name, tt_u64, as_uint2, as_ulong) \\\n"
    "  TT_LANE_WIDE(name, tt_i64, as_uint2, as_long) \\\n"
    "  TT_LANE_F64(name)\n"
    "TT_LANES(tt__down, \"down\", \"31\")\n"
    "TT_LANES(tt__from, \"idx\", \"31\")\n"
    "TT_FN tt_u32 tt__ballot(tt_u32 x) {\n"
    "  tt_u32 y;\n"
    "  __asm__ volatile(\"{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}\"\n"
    "                   : \"=r\"(y) : \"r\"(x));\n"
    "  return y;\n"
    "}\n"
    "#define TT_DOWN(x, by) tt__down(x, by)\n"
    "#define TT_FROM(x, i) tt__from(x, i)\n"
    "#define TT_ANY(x) (tt__ballot(x) != 0)\n"
    "#define TT_PRAGMA(x) _Pragma(#x)\n"
    "#define TT_UNROLL(n) TT_PRAGMA(unroll n)\n"
    "#define TT_UNROLLED _Pragma(\"unroll\")\n"
    "#else\n"
    "#define TT_UNROLL(n)\n"
    "#define TT_UNROLLED\n"
    "#endif\n"
    "#define TT_BOUNDS(n, m)\n"
    "#define TT_EXACTLY(n, m) __attribute__((reqd_work_group_size(n, 1, 1)))\n"
    "typedef union {\n"
    "  tt_b8 b8; tt_i8 i8; tt_i16 i16; tt_i32 i32; tt_i64 i64; tt_u8 u8; tt_u16 u16; tt_u32 u32; tt_u64 u64;\n"
    "  tt_f32 f32; TT_DOUBLE_OF_SCALAR\n"
    "} tt_scalar;\n"
    "typedef struct { tt_i32 access; tt_i64 index, len; } tt_kfault;\n"
    /* The first fault of all threads wins the exchange; the rest of the launch goes on and touches nothing bad. */
    "static int tt_fault(__global tt_kfault *f, tt_i32 access, tt_i64 index, tt_i64 len) {\n"
    "  if (TT_FIRST((volatile __global tt_i32 *)&f->access, 0, access + 1) == 0) { f->index = index; f->len = len; }\n"
    "  return 0;\n"
    "}\n"
    "#define TT_INBOUNDS(a, b, i) \\\n"
    "  ((tt_u64)(i) < (tt_u64)args->buf_len[b] || tt_fault(TT_FAULT, a, i, args->buf_len[b]))\n"
    "#ifdef __clang__\n"
    "#ifdef __AVX512F__\n"
    "#define TT_INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety) vectorize_width(tt_width)\")\n"
    "#define TT_CORE __attribute__((min_vector_width(512)))\n"
    "#else\n"
    "#define TT_CORE\n"
    "#define TT_INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety)\")\n"
    "#endif\n"
    "#define TT_GROUP _Pragma(\"clang loop interleave_count(4)\")\n" /* 64 lanes at once */
    "#else\n"
    "#define TT_CORE\n"
    "#define TT_INDEPENDENT\n"
    "#define TT_GROUP\n"
    "#endif\n"
    "#ifdef __AVX512BW__\n" /* to load some lanes costs what all cost */
    "#define TT_MASKS 1\n"
    "#define TT_TAIL(m) 64\n"
    "#define TT_IN(w, m) ((tt_i32)(w) < (m))\n"
    "#define TT_HOLDS(n, h) 1\n"
    "#define TT_LAST_GROUP TT_GROUP\n"
    "#else\n"
    "#define TT_MASKS 0\n"
    "#define TT_TAIL(m) m\n"
    "#define TT_IN(w, m) 1\n"
    "#define TT_HOLDS(n, h) ((n) > (h))\n"
    "#define TT_LAST_GROUP\n"
    "#endif\n"
    "#define TT_AHEAD(p, m)\n"
    "#define TT_PRODUCT(x) (x)\n";

#define OPTIONS "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"

const tt_dialect tt__dialect_opencl = {
    .name = "opencl",
    .before = before,
    .after = after,
    .options = OPTIONS,
    .kernel = "__kernel void ",
    .global = "__global ",
    .buffer = "(m%d + args->buf[%d])",
    .memory = "__global tt_u8 *",
    .shared = "__local uint4 *", /* which is aligned for all that is put there */
    .scalar = "args->scalar[%d].%s",
    .independent = "",
    .unrolled = "TT_UNROLLED",
    .branches = false,
    .inbounds = "TT_INBOUNDS(%d, %d, %s)",
    .no_doubles = NO_DOUBLES,
    .lacks = 1u << TT_C64 | 1u << TT_C128,
};

/* Where a block's threads take turns on one core, a block is one thread with the CPU's loops. */
const tt_dialect tt__dialect_opencl_loops = {
    .name = "opencl",
    .before = before,
    .after = after,
    .options = OPTIONS,
    .kernel = "__kernel TT_CORE void ",
    .global = "__global ",
    .buffer = "(m%d + args->buf[%d])",
    .scratch = "(m_work + args->work + (%d * (tt_i64)TT_NY + TT_GY) * 8 * args->points * args->lanes)",
    .partial = "(m_work + args->work + %d * 8 * args->parts)",
    .memory = "__global tt_u8 *",
    .shared = "__local tt_u8 *",
    .scalar = "args->scalar[%d].%s",
    .len = "args->len",
    .off = "args->off",
    .step = "args->step",
    .independent = "TT_INDEPENDENT",
    .unrolled = "TT_GROUP",
    .masked = "TT_LAST_GROUP",
    .inbounds = "TT_INBOUNDS(%d, %d, %s)",
    .no_doubles = NO_DOUBLES,
    .neighbours = true,
    .lacks = 1u << TT_C64 | 1u << TT_C128,
};
