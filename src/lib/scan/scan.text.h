/*
** Running sums and their like over the middle axis of [outer][n][inner]. Stands below back.text.h. Specialised by
**   LOAD(x)   T to A      STORE(x)   A to T     START   the value (A) that a scan with `initial` begins with
**   VEC       elements a lane takes at once, CHUNKS     how often, of each tile of THREADS threads
** BY_TILES: scan_tiles cuts long rows. Element after element go, BY_ROWS, scan_rows (few short rows) and scan_many
** (many of them), and BY_COLUMNS, scan_columns (columns side by side).
*/
#define ITEMS (VEC * CHUNKS)
#define TILE (THREADS * ITEMS)
#define WARPS (THREADS / WARP)
#define ROW_THREADS 128
#define COLUMN_THREADS 64
#define AHEAD (WORDS == 1 ? 32 : 32 / WORDS) /* elements of a column on their way */
#define ROW_ROOM (32768 / (4 * WORDS))       /* elements of A in a block's shared memory */

typedef struct scan_args {
  const TT_GLOBAL T *in;
  TT_GLOBAL T *out;
  TT_GLOBAL tt_u32 *ticket; /* zero at the start, as are the messages */
  TT_GLOBAL tt_u64 *sum;    /* messages: of each tile */
  TT_GLOBAL tt_u64 *before; /* of each group of tiles and all before it */
  tt_i64 rows, n, inner, n_out;
  tt_i64 tiles, all, ahead; /* of a row, of all rows; those whose sums are ahead of the scan */
  tt_i32 initial, in_aligned, out_aligned;
  tt_i32 per_block, width; /* scan_rows: rows of a block, elements of each that it has at once */
} scan_args;

TT_FN const TT_GLOBAL T *row_in(const scan_args *a, tt_i64 row) {
  if (a->inner == 1) return a->in + row * a->n;
  return a->in + row / a->inner * a->n * a->inner + row % a->inner;
}

/* Of the first element that is not initial. */
TT_FN TT_GLOBAL T *row_out(const scan_args *a, tt_i64 row) {
  if (a->inner == 1) return a->out + row * a->n_out + a->initial;
  return a->out + (row / a->inner * a->n_out + a->initial) * a->inner + row % a->inner;
}

#ifdef BY_TILES
#define WHOLES (VEC * SIZE / 16)
typedef union slice {
  tt_vec16 whole[WHOLES];
  T one[VEC];
} slice;

TT_FN void load_whole(const TT_GLOBAL T *in, A *x) {
  slice s;
  TT_UNROLLED
  for (int k = 0; k < WHOLES; k++) s.whole[k] = ((const TT_GLOBAL tt_vec16 *)in)[k];
  TT_UNROLLED
  for (int k = 0; k < VEC; k++) x[k] = LOAD(s.one[k]);
}

TT_FN void load_slice(const scan_args *a, const TT_GLOBAL T *in, tt_i64 at, A *x) {
  TT_UNROLLED
  for (int k = 0; k < VEC; k++) x[k] = LOAD(in[(at + k < a->n ? at + k : a->n - 1) * a->inner]);
}

TT_FN void store_whole(TT_GLOBAL T *out, const A *x) {
  slice s;
  TT_UNROLLED
  for (int k = 0; k < VEC; k++) s.one[k] = STORE(x[k]);
  TT_UNROLLED
  for (int k = 0; k < WHOLES; k++) ((TT_GLOBAL tt_vec16 *)out)[k] = s.whole[k];
}

TT_FN void store_slice(const scan_args *a, TT_GLOBAL T *out, tt_i64 at, const A *x) {
  TT_UNROLLED
  for (int k = 0; k < VEC; k++)
    if (at + k < a->n) out[(at + k) * a->inner] = STORE(x[k]);
}

/* The tile's elements combined with all before them in their warp; what the warps before each, and it, come to. */
TT_FN A scan_tile(A (*x)[VEC], TT_SHARED_AT A *warp_sum) {
  A acc;
  TT_UNROLLED
  for (int c = 0; c < CHUNKS; c++) {
    TT_UNROLLED
    for (int k = 1; k < VEC; k++) x[c][k] = op(x[c][k - 1], x[c][k]);
    A all = warp_scan(x[c][VEC - 1]), left = warp_up(all, 1); /* lane 0 has nothing on its left */
    all = warp_read(all, WARP - 1);
    if (c > 0) left = LANE ? op(acc, left) : acc;
    acc = c ? op(acc, all) : all;
    if (c > 0 || LANE > 0) {
      TT_UNROLLED
      for (int k = 0; k < VEC; k++) x[c][k] = op(left, x[c][k]);
    }
  }
  if (LANE == 0) warp_sum[WARP_NUMBER] = acc;
  TT_BARRIER();
  return warp_scan(warp_sum[LANE < WARPS ? LANE : WARPS - 1]);
}

TT_KERNEL_OF_MANY(scan_tiles, scan_args, THREADS, RESIDENT) {
  TT_UNPACK(scan_args);
  TT_SHARED tt_u32 shared_turn;
  TT_SHARED A warp_sum[WARPS], tile_before;
  const turn now = turn_of(TURN(a.ticket, &shared_turn), (tt_u32)a.all, (tt_u32)a.ahead);
  const tt_u32 tiles = (tt_u32)a.tiles; /* a division of 64 bits is long */
  const tt_i64 row = now.tile / tiles;
  const tt_u32 t = now.tile % tiles, groups = (tiles + GROUP - 1) / GROUP, m = t % GROUP;
  const int closes = m == GROUP - 1 && t + 1 < tiles, posts = now.sums || a.ahead == 0;
  TT_GLOBAL tt_u64 *sum = a.sum + (row * tiles + t) * WORDS, *before = a.before + (row * groups + t / GROUP) * WORDS;
  if (now.sums && t + 1 == tiles) return; /* nothing comes after it */
  const TT_GLOBAL T *in = row_in(&a, row);
  TT_GLOBAL T *out = row_out(&a, row);
  const tt_i64 at = t * (tt_i64)TILE + WARP_NUMBER * (WARP * ITEMS) + LANE * VEC;
  const int whole = (t + 1) * (tt_i64)TILE <= a.n; /* then no branch stands between its loads */
  A x[CHUNKS][VEC];
  if (whole && a.in_aligned) {
    TT_UNROLLED
    for (int c = 0; c < CHUNKS; c++) load_whole(in + at + c * (WARP * VEC), x[c]);
  } else {
    TT_UNROLLED
    for (int c = 0; c < CHUNKS; c++) load_slice(&a, in, at + c * (tt_i64)(WARP * VEC), x[c]);
  }
  const A sums = scan_tile(x, warp_sum);
  if (WARP_NUMBER == 0) {
    const A own = warp_read(sums, WARPS - 1);
    if (posts && t + 1 < tiles && LANE == 0) post(sum, own);
    if (t > 0 && (closes || !now.sums)) {
      const A y = look_back(sum - m * WORDS, before, m, t < GROUP);
      if (LANE == 0) tile_before = y;
      if (closes && posts && LANE == 0) post(before, op(y, own));
    }
  }
  if (now.sums) return;
  TT_BARRIER();
  A far = warp_read(sums, WARP_NUMBER > 0 ? WARP_NUMBER - 1 : 0);
  const int has = t > 0 || WARP_NUMBER > 0;
  if (t > 0) far = WARP_NUMBER > 0 ? op(tile_before, far) : tile_before;
  if (has) {
    TT_UNROLLED
    for (int k = 0; k < ITEMS; k++) x[k / VEC][k % VEC] = op(far, x[k / VEC][k % VEC]);
  }
  if (whole && a.out_aligned) {
    TT_UNROLLED
    for (int c = 0; c < CHUNKS; c++) store_whole(out + at + c * (WARP * VEC), x[c]);
  } else {
    TT_UNROLLED
    for (int c = 0; c < CHUNKS; c++) store_slice(&a, out, at + c * (tt_i64)(WARP * VEC), x[c]);
  }
  if (a.initial && t == 0 && TT_THREAD == 0) out[-a.inner] = STORE(START);
}

#endif

#ifdef BY_ROWS
/* Contiguous rows (inner is 1); a stretch of `width` elements of each passes through shared memory. */
TT_KERNEL(scan_rows, scan_args, ROW_THREADS) {
  TT_UNPACK(scan_args);
  TT_SHARED A room[ROW_ROOM];
  const tt_u32 width = (tt_u32)a.width, pitch = width + 1;
  tt_i64 first = (tt_i64)TT_BLOCK * a.per_block;
  const tt_u32 rows = (tt_u32)(a.rows - first < a.per_block ? a.rows - first : a.per_block);
  A acc;
  for (tt_i64 from = 0; from < a.n; from += width) {
    const tt_u32 m = (tt_u32)(a.n - from < width ? a.n - from : width);
    TT_BARRIER();
    for (tt_u32 i = TT_THREAD; i < rows * m; i += ROW_THREADS)
      room[i / m * pitch + i % m] = LOAD(a.in[(first + i / m) * a.n + from + i % m]);
    TT_BARRIER();
    if (TT_THREAD < rows) {
      TT_SHARED_AT A *x = room + TT_THREAD * pitch;
      acc = from ? op(acc, x[0]) : x[0];
      x[0] = acc;
      TT_UNROLLED_8
      for (tt_u32 i = 1; i < m; i++) x[i] = acc = op(acc, x[i]);
    }
    TT_BARRIER();
    for (tt_u32 i = TT_THREAD; i < rows * m; i += ROW_THREADS)
      a.out[(first + i / m) * a.n_out + a.initial + from + i % m] = STORE(room[i / m * pitch + i % m]);
  }
  if (a.initial && TT_THREAD < rows) a.out[(first + TT_THREAD) * a.n_out] = STORE(START);
}

/* MANY contiguous rows a block; a thread of the first warp has a row. The next stretch comes while one is added up. */
#define MANY 32
#define STRETCH (64 / WORDS)
#define LINES (ROW_THREADS / STRETCH) /* rows that the block's threads cover at once */
#define SHARE (MANY / LINES)

TT_FN void load_stretch(const scan_args *a, tt_i64 first, tt_i64 from, A *x) {
  const tt_u32 line = TT_THREAD / STRETCH, column = TT_THREAD % STRETCH;
  const TT_GLOBAL T *in = a->in + (first + line) * a->n + from + column;
  const tt_u32 rows = a->rows - first < MANY ? (tt_u32)(a->rows - first) : MANY;
  if (from + column >= a->n) return;
  TT_UNROLLED
  for (tt_u32 k = 0; k < SHARE; k++, in += LINES * a->n)
    if (line + k * LINES < rows) x[k] = LOAD(*in);
}

TT_KERNEL(scan_many, scan_args, ROW_THREADS) {
  TT_UNPACK(scan_args);
  TT_SHARED A room[MANY][STRETCH + 1];
  const tt_i64 first = (tt_i64)TT_BLOCK * MANY;
  const tt_u32 rows = a.rows - first < MANY ? (tt_u32)(a.rows - first) : MANY;
  const tt_u32 line = TT_THREAD / STRETCH, column = TT_THREAD % STRETCH;
  TT_GLOBAL T *out = a.out + (first + line) * a.n_out + a.initial + column;
  A x[SHARE], acc;
  load_stretch(&a, first, 0, x);
  for (tt_i64 from = 0; from < a.n; from += STRETCH, out += STRETCH) {
    const tt_u32 m = (tt_u32)(a.n - from < STRETCH ? a.n - from : STRETCH);
    TT_BARRIER();
    TT_UNROLLED
    for (tt_u32 k = 0; k < SHARE; k++) room[line + k * LINES][column] = x[k];
    TT_BARRIER();
    if (from + STRETCH < a.n) load_stretch(&a, first, from + STRETCH, x);
    if (TT_THREAD < rows) {
      TT_SHARED_AT A *y = room[TT_THREAD];
      acc = from ? op(acc, y[0]) : y[0];
      y[0] = acc;
      TT_UNROLLED_8
      for (tt_u32 i = 1; i < m; i++) y[i] = acc = op(acc, y[i]);
    }
    TT_BARRIER();
    if (column >= m) continue;
    TT_GLOBAL T *to = out;
    TT_UNROLLED
    for (tt_u32 k = 0; k < SHARE; k++, to += LINES * a.n_out)
      if (line + k * LINES < rows) *to = STORE(room[line + k * LINES][column]);
  }
  if (a.initial && TT_THREAD < rows) a.out[(first + TT_THREAD) * a.n_out] = STORE(START);
}

#endif

#ifdef BY_COLUMNS
TT_KERNEL(scan_columns, scan_args, COLUMN_THREADS) {
  TT_UNPACK(scan_args);
  tt_i64 row = (tt_i64)TT_BLOCK * COLUMN_THREADS + TT_THREAD;
  if (row >= a.rows) return;
  const TT_GLOBAL T *in = row_in(&a, row);
  TT_GLOBAL T *out = row_out(&a, row);
  if (a.initial) out[-a.inner] = STORE(START);
  if (a.n == 0) return;
  A acc, x[AHEAD];
  TT_UNROLLED
  for (int k = 0; k < AHEAD; k++) x[k] = LOAD(in[(k < a.n ? k : a.n - 1) * a.inner]);
  for (tt_i64 i = 0; i < a.n; i += AHEAD) { /* the loads of the next turn go out before the stores of this one */
    A now[AHEAD];
    TT_UNROLLED
    for (int k = 0; k < AHEAD; k++) {
      const tt_i64 next = i + AHEAD + k;
      now[k] = x[k];
      if (next < a.n) x[k] = LOAD(in[next * a.inner]);
    }
    TT_UNROLLED
    for (int k = 0; k < AHEAD; k++) {
      if (i + k >= a.n) break;
      acc = i + k ? op(acc, now[k]) : now[k];
      out[(i + k) * a.inner] = STORE(acc);
    }
  }
}
#endif
