/*
** The words of hand-written kernels (lib/common.text.h) for CUDA. Stands below the dialect's header.
** A block runs at most 1024 threads; warps of 32 run every TT_WARP function together, all lanes of them.
*/
#define TT_KERNEL(NAME, ARGS, THREADS) extern "C" __global__ void __launch_bounds__(THREADS) NAME(const ARGS a)
/* The registers of a unit should do for so many blocks. */
#define TT_KERNEL_OF_MANY(NAME, ARGS, THREADS, BLOCKS) \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) NAME(const ARGS a)
#define TT_GLOBAL
#define TT_SHARED __shared__
#define TT_THREAD ((tt_u32)threadIdx.x)
#define TT_BLOCK ((tt_u32)blockIdx.x)
#define TT_BLOCKS ((tt_u32)gridDim.x)
#define TT_BARRIER() __syncthreads()
#define TT_WARP_SYNC() __syncwarp()
#define TT_WARP_BALLOT(x) __ballot_sync(0xffffffffu, x)
#define TT_WARP_READ(x, lane) __shfl_sync(0xffffffffu, x, lane)
#define TT_WARP_UP(x, by) __shfl_up_sync(0xffffffffu, x, by)
#define TT_WARP_XOR(x, by) __shfl_xor_sync(0xffffffffu, x, by) /* of the lane whose number differs by these bits */
#define TT_WARP_MATCH(x) __match_any_sync(0xffffffffu, x)      /* the lanes that have the same x */
#define TT_POPCOUNT(x) ((tt_u32)__popc(x))
#define TT_EXP2_F32(x) tt__exp2(x) /* to a few units in the last place; what is subnormal is 0 */
TT_FN float tt__exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#define TT_TOP_BIT(x) (31u - (tt_u32)__clz((int)(x)))
/* Atomic, returning what was there; on tt_u32 and tt_u64, of the device's memory or shared. */
#define TT_ATOMIC_ADD(p, v) atomicAdd(p, v)
#define TT_ATOMIC_OR(p, v) atomicOr(p, v)
#define TT_ATOMIC_MIN(p, v) atomicMin(p, v)
#define TT_ATOMIC_MAX(p, v) atomicMax(p, v)
/* Words that other blocks look at meanwhile: whole, never from a stale cache. */
#define TT_PEEK(p) (*(const volatile tt_u64 *)(p))
#define TT_PEEK_U32(p) (*(const volatile tt_u32 *)(p))
#define TT_POKE(p, v) (*(volatile tt_u64 *)(p) = (v))
#define TT_POKE_U32(p, v) (*(volatile tt_u32 *)(p) = (v))
#define TT_RELAX()
#define TT_BLOCKS_START_IN_ORDER
#define TT_UNROLLED _Pragma("unroll")
#define TT_UNROLLED_FEW TT_UNROLLED
#define TT_ROLLED _Pragma("unroll 1")
#define TT_UNROLLED_8 _Pragma("unroll 8")
#define TT_MULTIPLY_ADD(x, y, s) tt__multiply_add(x, y, s) /* rounded once */
TT_FN float tt__multiply_add(float x, float y, float s) { return __fmaf_rn(x, y, s); }
TT_FN double tt__multiply_add(double x, double y, double s) { return __fma_rn(x, y, s); }
typedef uint4 tt_vec16;

/*
** Products of small matrices of 16-bit floats by a warp (compute capability 8.0). A lane has of the left factor, 16 by
** 16, four words, of the right one, 16 by 8, two, and of the sums, 16 by 8, four. TT_MATRICES reads four matrices of
** 8 by 8 from a block's memory, lane i tells where row i of them begins, in order; TT_MATRICES_TURNED turns each.
** TT_COPY_16 and TT_COPY_4 bring bytes, or zeros where there are none, into a block's memory later on, until
** TT_COPIES_DONE.
*/
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
TT_FN tt_u32 tt__shared_at(const void *p) { return (tt_u32)__cvta_generic_to_shared(p); }
TT_FN void tt__matrices(tt_u32 *to, const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(tt__shared_at(row))
               : "memory");
}
TT_FN void tt__matrices_turned(tt_u32 *to, const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(tt__shared_at(row))
               : "memory");
}
#define TT__MULTIPLY(NAME, TYPE)                                                        \
  TT_FN void NAME(float *c, const tt_u32 *a, const tt_u32 *b) {                         \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                 \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                       \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));   \
  }
TT__MULTIPLY(tt__multiply_f16, "f16")
TT__MULTIPLY(tt__multiply_bf16, "bf16")
TT_FN tt_u32 tt__pair_f16(float low, float high) {
  tt_u32 y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
TT_FN tt_u32 tt__pair_bf16(float low, float high) {
  tt_u32 y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
  return y;
}
TT_FN void tt__copy_16(void *to, const void *from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(tt__shared_at(to)), "l"(from), "r"(bytes)
               : "memory");
}
TT_FN void tt__copy_4(void *to, const void *from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(tt__shared_at(to)), "l"(from), "r"(bytes)
               : "memory");
}
#define TT_MATRICES(to, row) tt__matrices(to, row)
#define TT_MATRICES_TURNED(to, row) tt__matrices_turned(to, row)
#define TT_MULTIPLY_F16(c, a, b) tt__multiply_f16(c, a, b)
#define TT_MULTIPLY_BF16(c, a, b) tt__multiply_bf16(c, a, b)
#define TT_PAIR_F16(low, high) tt__pair_f16(low, high)
#define TT_PAIR_BF16(low, high) tt__pair_bf16(low, high)
#define TT_COPY_16(to, from, bytes) tt__copy_16(to, from, bytes)
#define TT_COPY_4(to, from, bytes) tt__copy_4(to, from, bytes)
#define TT_COPIES_DONE() asm volatile("cp.async.wait_all;" ::: "memory")
#endif
