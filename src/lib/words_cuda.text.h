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
#define TT_EXP2_F32(x) exp2f(x) /* to a few units in the last place */
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
#define TT_ROLLED _Pragma("unroll 1")
#define TT_UNROLLED_8 _Pragma("unroll 8")
typedef uint4 tt_vec16;
