/*
** The words of hand-written kernels (lib/common.text.h) for OpenCL C 1.2, below the dialect's header, which has
** TT_UNROLLED. Threads do not read each other's registers there: a warp is one thread, and what warps do together is
** done by each alone; but for one maker's (TT_PTX), whose warps of 32 have instructions for it, the dialect's and more.
**
** A kernel gets its arguments as words, and as many memories as POINTERS says, which stand first among the words as
** how far into its memory each address is. TT_UNPACK makes of them what other dialects get: the struct `a`.
*/
#define TT_KERNEL(NAME, ARGS, THREADS) TT__KERNEL(NAME, ARGS, POINTERS)
#define TT_KERNEL_OF_MANY(NAME, ARGS, THREADS, BLOCKS) TT__KERNEL(NAME, ARGS, POINTERS)
#define TT__KERNEL(NAME, ARGS, N) TT__KERNEL_OF(NAME, ARGS, N)
#define TT__KERNEL_OF(NAME, ARGS, N) \
  typedef struct {                   \
    tt_u64 word[sizeof(ARGS) / 8];   \
  } NAME##_words;                    \
  __kernel void NAME(const NAME##_words tt__words, TT__MEMORY_##N)
#define TT_UNPACK(ARGS)                                                                \
  union {                                                                              \
    tt_u64 word[sizeof(ARGS) / 8];                                                     \
    TT_GLOBAL tt_u8 *at[POINTERS];                                                     \
    ARGS args;                                                                         \
  } tt__a;                                                                             \
  for (int i = 0; i < (int)(sizeof(ARGS) / 8); i++) tt__a.word[i] = tt__words.word[i]; \
  TT__PLACES(POINTERS)                                                                 \
  const ARGS a = tt__a.args
#define TT__PLACES(N) TT__PLACES_OF(N)
#define TT__PLACES_OF(N) TT__PLACE_##N
#define TT__PLACE(K) tt__a.at[K] = tt__m##K + tt__words.word[K];
#define TT__PLACE_1 TT__PLACE(0)
#define TT__PLACE_2 TT__PLACE_1 TT__PLACE(1)
#define TT__PLACE_3 TT__PLACE_2 TT__PLACE(2)
#define TT__PLACE_4 TT__PLACE_3 TT__PLACE(3)
#define TT__PLACE_5 TT__PLACE_4 TT__PLACE(4)
#define TT__PLACE_6 TT__PLACE_5 TT__PLACE(5)
#define TT__PLACE_7 TT__PLACE_6 TT__PLACE(6)
#define TT__PLACE_8 TT__PLACE_7 TT__PLACE(7)
#define TT__PLACE_9 TT__PLACE_8 TT__PLACE(8)
#define TT__PLACE_10 TT__PLACE_9 TT__PLACE(9)
#define TT__PLACE_11 TT__PLACE_10 TT__PLACE(10)
#define TT__PLACE_12 TT__PLACE_11 TT__PLACE(11)
#define TT__PLACE_13 TT__PLACE_12 TT__PLACE(12)
#define TT__MEMORY(K) TT_GLOBAL tt_u8 *tt__m##K
#define TT__MEMORY_1 TT__MEMORY(0)
#define TT__MEMORY_2 TT__MEMORY_1, TT__MEMORY(1)
#define TT__MEMORY_3 TT__MEMORY_2, TT__MEMORY(2)
#define TT__MEMORY_4 TT__MEMORY_3, TT__MEMORY(3)
#define TT__MEMORY_5 TT__MEMORY_4, TT__MEMORY(4)
#define TT__MEMORY_6 TT__MEMORY_5, TT__MEMORY(5)
#define TT__MEMORY_7 TT__MEMORY_6, TT__MEMORY(6)
#define TT__MEMORY_8 TT__MEMORY_7, TT__MEMORY(7)
#define TT__MEMORY_9 TT__MEMORY_8, TT__MEMORY(8)
#define TT__MEMORY_10 TT__MEMORY_9, TT__MEMORY(9)
#define TT__MEMORY_11 TT__MEMORY_10, TT__MEMORY(10)
#define TT__MEMORY_12 TT__MEMORY_11, TT__MEMORY(11)
#define TT__MEMORY_13 TT__MEMORY_12, TT__MEMORY(12)
#define TT_GLOBAL __global
#define TT_SHARED __local
#define TT_SHARED_AT __local
#define TT_THREAD ((tt_u32)get_local_id(0))
#define TT_BLOCK ((tt_u32)get_group_id(0))
#define TT_BLOCKS ((tt_u32)get_num_groups(0))
#define TT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#ifdef TT_PTX
#define WARP 32u
TT_FN tt_u32 tt__warp_up(tt_u32 x, tt_u32 by) {
  tt_u32 y;
  __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(y) : "r"(x), "r"(by));
  return y;
}
TT_FN tt_u32 tt__warp_match(tt_u32 x) {
  tt_u32 y;
  __asm__ volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(x));
  return y;
}
TT_FN void tt__warp_sync(void) { __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }
#define TT_WARP_SYNC() tt__warp_sync()
#define TT_WARP_BALLOT(x) tt__ballot((x) ? 1u : 0u)
#define TT_WARP_READ(x, lane) TT_FROM(x, lane)
#define TT_WARP_UP(x, by) tt__warp_up(x, by)
#define TT_WARP_MATCH(x) tt__warp_match(x)
#define TT_ROLLED _Pragma("unroll 1")
#define TT_UNROLLED_8 _Pragma("unroll 8")
#else
#define WARP 1u
#define TT_WARP_SYNC()
#define TT_WARP_BALLOT(x) ((x) ? 1u : 0u)
#define TT_WARP_READ(x, lane) (x)
#define TT_WARP_UP(x, by) (x)
#define TT_WARP_MATCH(x) 1u
#define TT_ROLLED
#define TT_UNROLLED_8
#endif
#define TT_POPCOUNT(x) ((tt_u32)popcount((tt_u32)(x)))
#define TT_TOP_BIT(x) (31u - (tt_u32)clz((tt_u32)(x)))
#define TT_ATOMIC_ADD(p, v) atom_add(p, v)
#define TT_ATOMIC_OR(p, v) atom_or(p, v)
#define TT_ATOMIC_MIN(p, v) atom_min(p, v)
#define TT_ATOMIC_MAX(p, v) atom_max(p, v)
#define TT_PEEK(p) (*(const volatile TT_GLOBAL tt_u64 *)(p))
#define TT_PEEK_U32(p) (*(const volatile TT_GLOBAL tt_u32 *)(p))
#define TT_POKE(p, v) (*(volatile TT_GLOBAL tt_u64 *)(p) = (v))
#define TT_POKE_U32(p, v) (*(volatile TT_GLOBAL tt_u32 *)(p) = (v))
#define TT_RELAX()
#define TT_UNROLLED_FEW _Pragma("unroll")
/* x of one number, y and s of as many as stand side by side */
#define TT_MULTIPLY_ADD(x, y, s) fma((V)(x), y, s)
#define tt_vec16 uint4
