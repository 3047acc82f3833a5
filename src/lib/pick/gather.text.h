/*
** Elements by their places, row by row: T is an element. Or (SHIFT) places moved on.
*/
#define THREADS 256

#ifdef SHIFT
typedef struct shift_args {
  TT_GLOBAL tt_i64 *place;
  tt_i64 base, n;
} shift_args;

TT_KERNEL(shift, shift_args, THREADS) {
  TT_UNPACK(shift_args);
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS)
    a.place[i] += a.base;
}

#else
typedef struct gather_args {
  const TT_GLOBAL T *in;
  TT_GLOBAL T *to;
  const TT_GLOBAL tt_i64 *place; /* in the row */
  tt_i64 rows, n;
} gather_args;

TT_KERNEL(gather, gather_args, THREADS) {
  TT_UNPACK(gather_args);
  const tt_i64 all = a.rows * a.n;
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < all; i += (tt_i64)TT_BLOCKS * THREADS)
    a.to[i] = a.in[(a.rows > 1 ? i / a.n * a.n : 0) + a.place[i]];
}
#endif
