/*
** Values added up at their places, each place's in their own order, so that the bits are those of the host. T is an
** element, ADD(x, y) adds to it, or (FOLD) does what else is done there. Places that follow each other `width` at a
** time, again and again, are one row; with FOLD places are of rows.
*/
#define THREADS 256

typedef struct places_args {
  const TT_GLOBAL tt_i64 *place;
  TT_GLOBAL tt_i64 *row;  /* where each row begins */
  TT_GLOBAL tt_u32 *flag; /* 1: a place out of range; 2: rows that are none */
  const TT_GLOBAL tt_i64 *sorted, *order;
  const TT_GLOBAL T *value;
  const TT_GLOBAL T *before; /* FOLD: what lies at the places of the rows */
  TT_GLOBAL T *out;
  tt_i64 n, width, len;
} places_args;

TT_KERNEL(rows_of_places, places_args, THREADS) {
  TT_UNPACK(places_args);
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i64 at = a.place[i] < 0 ? a.place[i] + a.len : a.place[i], in = i % a.width;
    if (at < 0 || at >= a.len) TT_ATOMIC_OR(a.flag, 1u);
    if (in && a.place[i] != a.place[i - 1] + 1) TT_ATOMIC_OR(a.flag, 2u);
    if (!in) a.row[i / a.width] = at;
    if (!in && at > a.len - a.width) TT_ATOMIC_OR(a.flag, 2u);
  }
}

/* Rows of one place are one behind the other; others must not reach into them. */
TT_KERNEL(rows_apart, places_args, THREADS) {
  TT_UNPACK(places_args);
  const tt_i64 rows = a.n / a.width;
  for (tt_i64 r = (tt_i64)TT_BLOCK * THREADS + TT_THREAD + 1; r < rows; r += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i64 gap = a.sorted[r] - a.sorted[r - 1];
    if (gap && gap < a.width) TT_ATOMIC_OR(a.flag, 2u);
  }
}

/* Where the rows end that have the place of row `first`. */
TT_FN tt_i64 end_of_place(const places_args *a, tt_i64 first, tt_i64 rows) {
  const tt_i64 at = a->sorted[first];
  tt_i64 step = 1, low = first + 1, high;
  while (first + step < rows && a->sorted[first + step] == at) {
    low = first + step + 1;
    step *= 2;
  }
  high = first + step < rows ? first + step : rows;
  while (low < high) {
    const tt_i64 mid = low + (high - low) / 2;
    if (a->sorted[mid] == at)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

#ifdef FOLD /* the elements met already lie beside the rows, and each row gets what its place is in the end */
#define OUTSIDE(at) 0
#define BEGIN(at, first, in) a.before[a.order[first] * a.width + (in)]
#define LEAVE(at, first, end, in, x) \
  for (tt_i64 r = first; r < end; r++) a.out[a.order[r] * a.width + (in)] = x
#else
#define OUTSIDE(at) ((at) < 0 || (at) > a.len - a.width)
#define BEGIN(at, first, in) a.out[(at) + (in)]
#define LEAVE(at, first, end, in, x) a.out[(at) + (in)] = x
#endif

/* A thread goes through all rows of one place, for one of their elements. Where rows are known nobody has looked
 * whether they lie in the result. */
TT_KERNEL(fold_rows, places_args, THREADS) {
  TT_UNPACK(places_args);
  const tt_i64 rows = a.n / a.width;
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i64 first = i / a.width, in = i % a.width, at = a.sorted[first];
    if ((first && a.sorted[first - 1] == at) || OUTSIDE(at)) continue;
    const tt_i64 end = end_of_place(&a, first, rows);
    T x = BEGIN(at, first, in);
    TT_UNROLLED_8
    for (tt_i64 r = first; r < end; r++) ADD(x, a.value[a.order[r] * a.width + in]);
    LEAVE(at, first, end, in, x);
  }
}

/* Single elements: many of one place are fetched by a warp, 32 at a time, and folded by each of its lanes. */
TT_KERNEL(fold_elements, places_args, THREADS) {
  TT_UNPACK(places_args);
  TT_SHARED T part[THREADS];
  TT_SHARED_AT T *mine = part + WARP_NUMBER * WARP;
  for (tt_i64 base = ((tt_i64)TT_BLOCK * THREADS + TT_THREAD) / WARP * WARP; base < a.n;
       base += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i64 i = base + LANE, at = i < a.n ? a.sorted[i] : -1;
    const int head = i < a.n && (i == 0 || a.sorted[i - 1] != at) && !OUTSIDE(at);
    const tt_i64 end = head ? end_of_place(&a, i, a.n) : i;
    const int many = end - i > WARP;
    if (head && !many) {
      T x = BEGIN(at, i, 0);
      for (tt_i64 r = i; r < end; r++) ADD(x, a.value[a.order[r]]);
      LEAVE(at, i, end, 0, x);
    }
    for (tt_u32 left = TT_WARP_BALLOT(many); left; left &= left - 1) {
      const tt_u32 lane = TT_TOP_BIT(left & (~left + 1u));
      const tt_i64 from = base + lane, to = TT_WARP_READ(end, lane), place = TT_WARP_READ(at, lane);
      T x = BEGIN(place, from, 0);
      for (tt_i64 r = from; r < to; r += WARP) {
        const tt_u32 count = to - r < WARP ? (tt_u32)(to - r) : WARP;
        if (LANE < count) mine[LANE] = a.value[a.order[r + LANE]];
        TT_WARP_SYNC();
        for (tt_u32 w = 0; w < count; w++) ADD(x, mine[w]);
        TT_WARP_SYNC();
      }
#ifdef FOLD
      for (tt_i64 r = from + LANE; r < to; r += WARP) a.out[a.order[r]] = x;
#else
      if (LANE == 0) a.out[place] = x;
#endif
    }
  }
}
