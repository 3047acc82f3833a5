/*
** Picking elements in two rounds over blocks of BLOCK: count, then, when the places of all blocks are known, fill.
** Specialised by
**   T, SIZE    the element
**   NONZERO(x)             the places of elements that are not zero
**   UNIQUE, IS_NAN(x), DIFFERS(x, y), JOIN   the first of each run of equals in sorted elements; JOIN: all NaNs are one
**   REPEAT     places, as often as tt_i64 counts say
*/
#define THREADS 256
#define ITEMS 16
#define BLOCK (THREADS * ITEMS)
#define PLACES_THREADS 1024

typedef struct pick_args {
  const TT_GLOBAL T *in;
  const TT_GLOBAL tt_i64 *place; /* of the elements before they were sorted, or NULL */
  tt_i64 n, blocks;
  TT_GLOBAL tt_i64 *count; /* [blocks + 1]: of each block; then what lies before it, and in all; [+1]: a fault */
  TT_GLOBAL T *value;
  TT_GLOBAL tt_i64 *start, *index, *inverse; /* NULL: not wanted */
  tt_i64 m;                                  /* picked in all */
} pick_args;

TT_FN tt_i64 warp_sums(tt_i64 x) {
  TT_UNROLLED
  for (tt_u32 by = 1; by < WARP; by *= 2) {
    const tt_u64 low = TT_WARP_UP((tt_u32)x, by), high = TT_WARP_UP((tt_u32)((tt_u64)x >> 32), by);
    if (LANE >= by) x += (tt_i64)(high << 32 | low);
  }
  return x;
}

/* The sum over all threads before this one; `all` is the one over all of them. sums: 33 numbers. */
TT_FN tt_i64 scan_block(tt_i64 x, tt_i64 *sums, tt_u32 warps, tt_i64 *all) {
  const tt_i64 own = warp_sums(x);
  TT_BARRIER();
  if (LANE == WARP - 1) sums[WARP_NUMBER] = own;
  TT_BARRIER();
  if (WARP_NUMBER == 0) {
    const tt_i64 w = LANE < warps ? sums[LANE] : 0, to = warp_sums(w);
    sums[LANE] = to - w;
    if (LANE == WARP - 1) sums[WARP] = to;
  }
  TT_BARRIER();
  *all = sums[WARP];
  return sums[WARP_NUMBER] + own - x;
}

/* One block: counts become what lies before; sums of negative numbers, or beyond 2^63, are a fault. */
TT_KERNEL(pick_places, pick_args, PLACES_THREADS) {
  TT_SHARED tt_i64 sums[33];
  tt_i64 before = 0, bad = 0, all;
  for (tt_i64 from = 0; from < a.blocks; from += PLACES_THREADS) {
    const tt_i64 i = from + TT_THREAD, x = i < a.blocks ? a.count[i] : 0;
    const tt_i64 at = before + scan_block(x, sums, PLACES_THREADS / 32, &all);
    bad |= x < 0 || at < 0 || at + x < 0;
    if (i < a.blocks) a.count[i] = at;
    before += all;
  }
  if (TT_THREAD == 0) a.count[a.blocks] = before;
  if (bad) a.count[a.blocks + 1] = 1;
}

#if defined(NONZERO)
#define PICK
#define IS(i) (NONZERO(a.in[i]))
#define FILL(i, r, is) \
  if (is) a.index[r] = i
#elif defined(UNIQUE)
#define PICK
#define IS(i) begins(a.in, i)
#define FILL(i, r, is)                                         \
  do {                                                         \
    if (is) a.value[r] = a.in[i];                              \
    if (is && a.start) a.start[r] = i;                         \
    if (is && a.index) a.index[r] = a.place[i];                \
    if (a.inverse) a.inverse[a.place[i]] = r + (tt_i64)is - 1; \
  } while (0)
TT_FN int begins(const TT_GLOBAL T *x, tt_i64 i) {
  if (i == 0) return 1;
  if (IS_NAN(x[i])) return !JOIN || !IS_NAN(x[i - 1]);
  return DIFFERS(x[i], x[i - 1]);
}
#endif

#ifdef PICK
/* Which of the thread's elements from i on are picked, a bit each. No lane waits here, so all loads go out at once. */
TT_FN tt_u32 picked(pick_args a, tt_i64 i) {
  tt_u32 bits = 0;
  TT_UNROLLED
  for (int k = 0; k < ITEMS; k++, i += WARP) {
    const tt_i64 at = i < a.n ? i : a.n - 1;
    bits |= (tt_u32)(IS(at) && i < a.n) << k;
  }
  return bits;
}

TT_KERNEL(pick_count, pick_args, THREADS) {
  TT_SHARED tt_u32 count;
  const tt_i64 from = (tt_i64)TT_BLOCK * BLOCK + WARP_NUMBER * (WARP * ITEMS) + LANE;
  if (TT_THREAD == 0) count = 0;
  TT_BARRIER();
  const tt_u32 mine = TT_POPCOUNT(picked(a, from));
  if (mine) TT_ATOMIC_ADD(&count, mine);
  TT_BARRIER();
  if (TT_THREAD == 0) a.count[TT_BLOCK] = count;
}

TT_KERNEL(pick_fill, pick_args, THREADS) {
  TT_SHARED tt_u32 count[THREADS / 32];
  const tt_i64 from = (tt_i64)TT_BLOCK * BLOCK + WARP_NUMBER * (WARP * ITEMS) + LANE;
  const tt_u32 bits = picked(a, from);
  tt_u32 who[ITEMS], mine = 0;
  TT_UNROLLED
  for (int k = 0; k < ITEMS; k++) {
    who[k] = TT_WARP_BALLOT(bits >> k & 1u);
    mine += TT_POPCOUNT(who[k]);
  }
  if (LANE == 0) count[WARP_NUMBER] = mine;
  TT_BARRIER();
  tt_i64 r = a.count[TT_BLOCK];
  for (tt_u32 w = 0; w < WARP_NUMBER; w++) r += count[w];
  TT_UNROLLED
  for (int k = 0; k < ITEMS; k++) {
    const tt_i64 i = from + k * (tt_i64)WARP;
    if (i < a.n) FILL(i, r + TT_POPCOUNT(who[k] & LANES_BELOW), (who[k] >> LANE & 1u));
    r += TT_POPCOUNT(who[k]);
  }
}
#endif

#ifdef UNIQUE
/* From where runs begin to how long they are. */
TT_KERNEL(pick_lengths, pick_args, THREADS) {
  const tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD;
  if (i < a.m) a.index[i] = (i + 1 < a.m ? a.start[i + 1] : a.n) - a.start[i];
}
#endif

#ifdef REPEAT
/* T is tt_i64: how often each place is repeated. */
TT_KERNEL(repeat_sum, pick_args, THREADS) {
  TT_SHARED tt_i64 sums[33];
  const tt_i64 from = (tt_i64)TT_BLOCK * BLOCK + TT_THREAD * (tt_i64)ITEMS;
  tt_i64 sum = 0, bad = 0, all;
  for (tt_i64 i = from; i < from + ITEMS && i < a.n; i++) {
    sum += a.in[i];
    bad |= a.in[i] < 0 || sum < 0;
  }
  const tt_i64 before = scan_block(sum, sums, THREADS / 32, &all);
  bad |= before < 0 || before + sum < 0;
  if (bad) a.count[a.blocks + 1] = 1;
  if (TT_THREAD == 0) a.count[TT_BLOCK] = all;
}

/* Where the repetitions of each place begin. */
TT_KERNEL(repeat_start, pick_args, THREADS) {
  TT_SHARED tt_i64 sums[33];
  const tt_i64 from = (tt_i64)TT_BLOCK * BLOCK + TT_THREAD * (tt_i64)ITEMS;
  tt_i64 sum = 0, all;
  for (tt_i64 i = from; i < from + ITEMS && i < a.n; i++) sum += a.in[i];
  sum = a.count[TT_BLOCK] + scan_block(sum, sums, THREADS / 32, &all);
  for (tt_i64 i = from; i < from + ITEMS && i < a.n; i++) {
    a.start[i] = sum;
    sum += a.in[i];
  }
}

/* Of each result, the last place that begins at it or before. */
TT_KERNEL(repeat_fill, pick_args, THREADS) {
  for (tt_i64 r = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; r < a.m; r += (tt_i64)TT_BLOCKS * THREADS) {
    tt_i64 lo = 0, hi = a.n;
    while (lo + 1 < hi) {
      const tt_i64 mid = lo + (hi - lo) / 2;
      if (a.start[mid] <= r)
        lo = mid;
      else
        hi = mid;
    }
    a.index[r] = lo;
  }
}
#endif
