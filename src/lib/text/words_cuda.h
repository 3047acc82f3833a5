/*
** The words of hand-written kernels (common.h) for CUDA. Stands below the dialect's header.
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
#define TT_WARP_MATCH(x) __match_any_sync(0xffffffffu, x) /* the lanes that have the same x */
#define TT_POPCOUNT(x) ((tt_u32)__popc(x))
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
/* 16 bytes from the device's memory to shared memory, some time before the thread's next TT_ASYNC_WAIT. */
#if __CUDA_ARCH__ >= 800
#define TT_ASYNC_COPY16(to, from)                                                                       \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((tt_u32)__cvta_generic_to_shared(to)), \
               "l"((tt_u64)(from))                                                                      \
               : "memory")
#define TT_ASYNC_WAIT() asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define TT_ASYNC_COPY16(to, from) (*(to) = *(from))
#define TT_ASYNC_WAIT()
#endif
#define TT_RELAX()
#define TT_REST() __nanosleep(40) /* the same for a while */
#define TT_BLOCKS_START_IN_ORDER
#define TT_UNROLLED _Pragma("unroll")
#define TT_UNROLLED_8 _Pragma("unroll 8")
typedef uint4 tt_vec16;
