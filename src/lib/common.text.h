/*
** What all hand-written kernels share. The text stands below the dialect's header (types, tt_cast_*), the dialect's
** words (words_*.h) and the lines that specialise it:
**   T       element type in memory        SIZE    its bytes
*/
#ifndef TT_SHARED_AT /* before what a pointer to a block's memory points at */
#define TT_SHARED_AT
#endif
#ifndef WARP
#define WARP 32u
#endif
#ifndef TT_UNPACK /* a dialect whose kernels get no struct of addresses makes `a` of what they get, first of all */
#define TT_UNPACK(ARGS)
#endif
#define LANE (TT_THREAD % WARP)
#define WARP_NUMBER (TT_THREAD / WARP)

typedef struct c64 {
  tt_f32 re, im;
} c64;
typedef struct c128 {
  tt_f64 re, im;
} c128;

/* Lanes below this one. */
#define LANES_BELOW ((1u << LANE) - 1u)

/*
** The number of this block in the order in which blocks start, for those that wait for the ones before. Where the
** device starts them in order it is the block's own; else blocks take numbers from a counter that was zero.
*/
#ifdef TT_BLOCKS_START_IN_ORDER
#define TURN(counter, shared) TT_BLOCK
#else
TT_FN tt_u32 take_turn(TT_GLOBAL tt_u32 *counter, TT_SHARED_AT tt_u32 *shared) {
  if (TT_THREAD == 0) *shared = TT_ATOMIC_ADD(counter, 1u);
  TT_BARRIER();
  return *shared;
}
#define TURN(counter, shared) take_turn(counter, shared)
#endif
