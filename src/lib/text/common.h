/*
** What all hand-written kernels share. The text stands below the dialect's header (types, tt_cast_*), the dialect's
** words (words_*.h) and the lines that specialise it:
**   T       element type in memory        SIZE    its bytes
*/
#define WARP 32u
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
