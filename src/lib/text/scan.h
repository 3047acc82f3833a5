/*
** Running sums and their like over the middle axis of [outer][n][inner]. Specialised by
**   A         what is added up, of 4 * WORDS bytes      LOAD(x)   T to A      STORE(x)   A to T
**   OP(x, y)  combine, x before y                       START     the value (A) that a scan with `initial` begins with
**   VEC       elements a lane takes at once, CHUNKS     how often, of each tile of THREADS threads
** BY_TILES: scan_tiles cuts long rows. Element after element go, BY_ROWS, scan_rows (few short rows) and scan_many
** (many of them), and BY_COLUMNS, scan_columns (columns side by side).
*/
#define ITEMS (VEC * CHUNKS)
#define TILE (THREADS * ITEMS)
#define WARPS (THREADS / 32)
#define GROUP (ROUNDS * 32) /* tiles that look at each other's sums */
#define ROW_THREADS 128
#define COLUMN_THREADS 64
#define AHEAD (WORDS == 1 ? 32 : 32 / WORDS) /* elements of a column on their way */
#define ROW_ROOM (32768 / (4 * WORDS))       /* elements of A in a block's shared memory */

#ifdef COMPLEX
TT_FN A complex_make(COMPLEX re) {
  A z;
  z.re = re;
  z.im = 0;
  return z;
}
TT_FN A complex_add(A x, A y) {
  x.re += y.re;
  x.im += y.im;
  return x;
}
TT_FN A complex_mul(A x, A y) {
  A z;
  z.re = x.re * y.re - x.im * y.im;
  z.im = x.re * y.im + x.im * y.re;
  return z;
}
#endif

TT_FN A op(A x, A y) { return OP(x, y); }

typedef union packed {
  A value;
  tt_u32 word[WORDS];
} packed;

TT_FN A warp_read(A x, tt_u32 lane) {
  packed p;
  p.value = x;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) p.word[i] = TT_WARP_READ(p.word[i], lane);
  return p.value;
}

TT_FN A warp_up(A x, tt_u32 by) {
  packed p;
  p.value = x;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) p.word[i] = TT_WARP_UP(p.word[i], by);
  return p.value;
}

/* Each lane's value combined with those of all lanes before it. */
TT_FN A warp_scan(A x) {
  TT_UNROLLED
  for (tt_u32 by = 1; by < WARP; by *= 2) {
    A y = warp_up(x, by);
    if (LANE >= by) x = op(y, x);
  }
  return x;
}

typedef struct scan_args {
  const TT_GLOBAL T *in;
  TT_GLOBAL T *out;
  tt_i64 rows, n, inner, n_out;
  tt_i64 tiles;             /* of a row */
  TT_GLOBAL tt_u32 *ticket; /* zero at the start, as are the messages */
  TT_GLOBAL tt_u64 *sum;    /* messages: of each tile */
  TT_GLOBAL tt_u64 *before; /* of each group of tiles and all before it */
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
/* A message is complete when each of its words is: the upper half says so, the lower half is the value. */
TT_FN void post(TT_GLOBAL tt_u64 *to, A x) {
  packed p;
  p.value = x;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) TT_POKE(to + i, TT_U64(1) << 32 | p.word[i]);
}

/* A message as it is now, and when it has come. Looking at many before waiting for one takes the time of one look. */
TT_FN void peek(const TT_GLOBAL tt_u64 *from, tt_u64 *w) {
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) w[i] = TT_PEEK(from + i);
}

TT_FN A collect(const TT_GLOBAL tt_u64 *from, tt_u64 *w) {
  packed p;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) {
    while (!(w[i] >> 32)) {
      TT_RELAX();
      w[i] = TT_PEEK(from + i);
    }
    p.word[i] = (tt_u32)w[i];
  }
  return p.value;
}

/*
** What lies before tile t > 0 of a row, and for the last tile of a group the message to the next group. The operations
** have an order that depends on t alone: the sums of the group's tiles before t, in rounds of 32, behind the sum of
** all groups before. Run by one warp; every lane has the result. Few words are waited for, since all that look disturb
** who posts: when the tile before and the group before are done, nearly all others are.
*/
TT_FN A look_back(const TT_GLOBAL tt_u64 *sum, TT_GLOBAL tt_u64 *before, tt_u32 m, int is_first, int is_last, A own) {
  tt_u64 w[ROUNDS][WORDS], wide[WORDS];
  A acc = own;
#ifdef GATE
  if (LANE < 2) {
    const TT_GLOBAL tt_u64 *from = LANE == 0 && m > 0 ? sum + (m - 1) * WORDS : is_first ? 0 : before - WORDS;
    while (from && !(TT_PEEK(from) >> 32)) PAUSE;
  }
  TT_WARP_SYNC();
#endif
  if (!is_first) peek(before - WORDS, wide);
  TT_UNROLLED
  for (tt_u32 r = 0; r < ROUNDS; r++)
    if (r * WARP + LANE < m) peek(sum + (r * WARP + LANE) * WORDS, w[r]);
  TT_UNROLLED
  for (tt_u32 r = 0; r < ROUNDS; r++) {
    if (r * WARP >= m) break;
    A x = own;
    if (r * WARP + LANE < m) x = collect(sum + (r * WARP + LANE) * WORDS, w[r]);
    A all = warp_read(warp_scan(x), m - r * WARP < WARP ? m - r * WARP - 1 : WARP - 1);
    acc = r ? op(acc, all) : all;
  }
  if (!is_first) {
    A far = collect(before - WORDS, wide);
    acc = m ? op(far, acc) : far;
  }
  if (m == GROUP - 1 && !is_last && LANE == 0) post(before, op(acc, own));
  return acc;
}

typedef union slice {
  tt_vec16 whole;
  T one[VEC];
} slice;

TT_FN void load_slice(const scan_args *a, const TT_GLOBAL T *in, tt_i64 at, A *x) {
  if (a->in_aligned && at + VEC <= a->n) {
    slice s;
    s.whole = *(const TT_GLOBAL tt_vec16 *)(in + at);
    TT_UNROLLED
    for (int k = 0; k < VEC; k++) x[k] = LOAD(s.one[k]);
  } else {
    TT_UNROLLED
    for (int k = 0; k < VEC; k++) x[k] = LOAD(in[(at + k < a->n ? at + k : a->n - 1) * a->inner]);
  }
}

TT_FN void store_slice(const scan_args *a, TT_GLOBAL T *out, tt_i64 at, const A *x) {
  if (a->out_aligned && at + VEC <= a->n) {
    slice s;
    TT_UNROLLED
    for (int k = 0; k < VEC; k++) s.one[k] = STORE(x[k]);
    *(TT_GLOBAL tt_vec16 *)(out + at) = s.whole;
  } else {
    TT_UNROLLED
    for (int k = 0; k < VEC; k++)
      if (at + k < a->n) out[(at + k) * a->inner] = STORE(x[k]);
  }
}

TT_KERNEL_OF_MANY(scan_tiles, scan_args, THREADS, RESIDENT) {
  TT_SHARED tt_u32 shared_turn;
  TT_SHARED A warp_sum[WARPS], tile_before;
  const tt_u32 turn = TURN(a.ticket, &shared_turn), tiles = (tt_u32)a.tiles; /* a division of 64 bits is long */
  const tt_i64 row = turn / tiles, t = turn % tiles;
  const TT_GLOBAL T *in = row_in(&a, row);
  TT_GLOBAL T *out = row_out(&a, row);
  tt_i64 at = t * TILE + WARP_NUMBER * (WARP * ITEMS) + LANE * VEC;
  A x[CHUNKS][VEC], left[CHUNKS], acc;
  TT_UNROLLED
  for (int c = 0; c < CHUNKS; c++) load_slice(&a, in, at + c * (tt_i64)(WARP * VEC), x[c]);
  TT_UNROLLED
  for (int c = 0; c < CHUNKS; c++) {
    TT_UNROLLED
    for (int k = 1; k < VEC; k++) x[c][k] = op(x[c][k - 1], x[c][k]);
    A all = warp_scan(x[c][VEC - 1]);
    left[c] = warp_up(all, 1); /* lane 0 has nothing on its left */
    all = warp_read(all, WARP - 1);
    if (c == 0) {
      acc = all;
    } else {
      left[c] = LANE ? op(acc, left[c]) : acc;
      acc = op(acc, all);
    }
  }
  if (LANE == 0) warp_sum[WARP_NUMBER] = acc;
  TT_BARRIER();
  const A sums = warp_scan(warp_sum[LANE < WARPS ? LANE : WARPS - 1]), own = warp_read(sums, WARPS - 1);
  A far = warp_read(sums, WARP_NUMBER > 0 ? WARP_NUMBER - 1 : 0);
  const int has = t > 0 || WARP_NUMBER > 0;
  if (WARP_NUMBER == 0) {
    const tt_u32 group = (tt_u32)t / GROUP, groups = (tiles + GROUP - 1) / GROUP, m = (tt_u32)t % GROUP;
    TT_GLOBAL tt_u64 *sum = a.sum + (row * tiles + t) * WORDS;
    if (t + 1 < tiles && LANE == 0) post(sum, own);
    if (t > 0) {
      TT_GLOBAL tt_u64 *before = a.before + (row * groups + group) * WORDS;
      const A x = look_back(sum - m * WORDS, before, m, group == 0, t + 1 == tiles, own);
      if (LANE == 0) tile_before = x;
    }
  }
  TT_BARRIER();
  if (t > 0) far = WARP_NUMBER > 0 ? op(tile_before, far) : tile_before;
  TT_UNROLLED
  for (int c = 0; c < CHUNKS; c++) {
    const int some = c > 0 || LANE > 0;
    A base = has ? (some ? op(far, left[c]) : far) : left[c];
    if (has || some) {
      TT_UNROLLED
      for (int k = 0; k < VEC; k++) x[c][k] = op(base, x[c][k]);
    }
    store_slice(&a, out, at + c * (tt_i64)(WARP * VEC), x[c]);
  }
  if (a.initial && t == 0 && TT_THREAD == 0) out[-a.inner] = STORE(START);
}

#endif

#ifdef BY_ROWS
/* Contiguous rows (inner is 1); a stretch of `width` elements of each passes through shared memory. */
TT_KERNEL(scan_rows, scan_args, ROW_THREADS) {
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
      A *x = room + TT_THREAD * pitch;
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
      A *y = room[TT_THREAD];
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
