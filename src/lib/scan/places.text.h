/*
** Values added up at their places, each place's in their own order, so that the bits are those of the host. T is an
** element, ADD(x, y) adds to it. Places that follow each other `width` at a time, again and again, are one row.
*/
#define THREADS 256

typedef struct places_args {
  const TT_GLOBAL tt_i64 *place;
  tt_i64 n, width, len;
  TT_GLOBAL tt_i64 *row;  /* where each row begins */
  TT_GLOBAL tt_u32 *flag; /* 1: a place out of range; 2: rows that are none */
  const TT_GLOBAL tt_i64 *sorted, *order;
  const TT_GLOBAL T *value;
  TT_GLOBAL T *out;
} places_args;

TT_KERNEL(rows_of_places, places_args, THREADS) {
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
  const tt_i64 rows = a.n / a.width;
  for (tt_i64 r = (tt_i64)TT_BLOCK * THREADS + TT_THREAD + 1; r < rows; r += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i64 gap = a.sorted[r] - a.sorted[r - 1];
    if (gap && gap < a.width) TT_ATOMIC_OR(a.flag, 2u);
  }
}

/* A thread goes through all rows of one place, for one of their elements. Where rows are known nobody has looked
 * whether they lie in the result. */
TT_KERNEL(sums_of_rows, places_args, THREADS) {
  const tt_i64 rows = a.n / a.width;
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i64 first = i / a.width, in = i % a.width, at = a.sorted[first];
    if ((first && a.sorted[first - 1] == at) || at < 0 || at > a.len - a.width) continue;
    T sum = a.out[at + in];
    for (tt_i64 r = first; r < rows && a.sorted[r] == at; r++) ADD(sum, a.value[a.order[r] * a.width + in]);
    a.out[at + in] = sum;
  }
}
