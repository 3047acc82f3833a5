/*
** Attention of 16-bit floats by the units that multiply matrices of them, with sums in float32. A block has a tile of
** 64 rows, a warp 16 of them; tiles of the others are copied into shared memory ahead of their turn. Scores stay where
** a product leaves them, which is where the next one wants its left factor. Rows are made of vectors of 16 bytes.
** Stands below attention_above.text.h. Specialised by
**   T, LOAD(x), STORE(x), S, INDEX, EXP(x), LOG(x), MASK, RESIDENT   as attention.text.h has it
**   MULTIPLY, PAIR   of T, as the dialect has them
**   WIDE, DEEP   the columns of q and k, and of v, rounded up to a multiple of 16
**   WAY          0 forward, 1 back to q, 2 back to k and v, 3 what the way back reads
*/
#define THREADS 128
#define TILES (SIDE / 8)     /* of scores, for a warp's 16 rows */
#define STEP_OF(W) ((W) + 8) /* between rows: eight of them begin at different banks */
#define TILE_OF(W) (SIDE * STEP_OF(W))
#define MOST_OF(a, b) ((a) > (b) ? (a) : (b))
#define HALVES ((TT_SHARED_AT T *)TT_SHARED_BYTES)

#if WAY < 3

/* A tile on its way into shared memory. */
TT_FN void copy_tile(const matrix *m, INDEX row, INDEX rows, int columns, const int wide, TT_SHARED_AT T *to) {
  TT_UNROLLED
  for (int e = 0; e < wide / 16; e++) {
    const int i = (int)TT_THREAD + e * THREADS, r = i / (wide / 8), c = i % (wide / 8) * 8;
    const int there = row + r < rows && c < columns;
    const TT_GLOBAL T *from = (const TT_GLOBAL T *)m->data + (there ? (row + r) * m->row + c : 0);
    TT_COPY_16(to + r * STEP_OF(wide) + c, from, there ? 16 : 0);
  }
}

/* The warp's rows of a tile as left factors, 16 columns each. */
TT_FN void left_factors(const TT_SHARED_AT T *tile, const int wide, tt_u32 (*to)[4]) {
  const int row = (int)(WARP_NUMBER * 16 + LANE % 16), column = (int)LANE / 16 * 8;
  TT_UNROLLED
  for (int k = 0; k < wide / 16; k++) TT_MATRICES(to[k], tile + row * STEP_OF(wide) + k * 16 + column);
}

/* sum += left * tile^T: the tile's rows become columns. */
TT_FN void multiply_turned(const tt_u32 *left, const TT_SHARED_AT T *tile, const int wide, int k,
                           tt_f32 sum[TILES][4]) {
  const int row = (int)(LANE % 8 + LANE / 16 * 8), column = (int)(LANE / 8 % 2 * 8);
  TT_UNROLLED
  for (int n = 0; n < TILES; n += 2) {
    tt_u32 right[4];
    TT_MATRICES(right, tile + (n * 8 + row) * STEP_OF(wide) + k * 16 + column);
    MULTIPLY(sum[n], left, right);
    MULTIPLY(sum[n + 1], left, right + 2);
  }
}

/* sum += left * tile, of 16 of the tile's rows. */
TT_FN void multiply(const tt_u32 *left, const TT_SHARED_AT T *tile, const int wide, int k, tt_f32 (*sum)[4]) {
  const int row = (int)(LANE % 16), column = (int)LANE / 16 * 8;
  TT_UNROLLED
  for (int n = 0; n < wide / 8; n += 2) {
    tt_u32 right[4];
    TT_MATRICES_TURNED(right, tile + (k * 16 + row) * STEP_OF(wide) + n * 8 + column);
    MULTIPLY(sum[n], left, right);
    MULTIPLY(sum[n + 1], left, right + 2);
  }
}

/* sum += s * tile, of all scores s. */
TT_FN void multiply_scores(tt_f32 s[TILES][4], const TT_SHARED_AT T *tile, const int wide, tt_f32 (*sum)[4]) {
  TT_UNROLLED
  for (int k = 0; k < TILES / 2; k++) {
    tt_u32 left[4];
    TT_UNROLLED
    for (int h = 0; h < 4; h++) left[h] = PAIR(s[2 * k + h / 2][h % 2 * 2], s[2 * k + h / 2][h % 2 * 2 + 1]);
    multiply(left, tile, wide, k, sum);
  }
}

TT_FN void clear(tt_f32 (*sum)[4], const int n) {
  TT_UNROLLED
  for (int i = 0; i < n; i++) {
    TT_UNROLLED
    for (int j = 0; j < 4; j++) sum[i][j] = 0;
  }
}

TT_FN void scale_by(tt_f32 s[TILES][4], tt_f32 scale) {
  TT_UNROLLED
  for (int n = 0; n < TILES; n++) {
    TT_UNROLLED
    for (int i = 0; i < 4; i++) s[n][i] = s[n][i] * scale;
  }
}

/* Rows are queries. */
TT_FN void mask_scores(const attention_args *a, const matrix *mask, INDEX query, INDEX key, tt_f32 s[TILES][4]) {
  TT_UNROLLED
  for (int n = 0; n < TILES; n++) {
    TT_UNROLLED
    for (int i = 0; i < 4; i++)
      s[n][i] = masked(a, mask, query + i / 2 * 8, key + (INDEX)(n * 8 + LANE % 4 * 2 + i % 2), s[n][i]);
  }
}

/* Rows are keys. */
TT_FN void mask_turned(const attention_args *a, const matrix *mask, INDEX query, INDEX key, tt_f32 s[TILES][4]) {
  TT_UNROLLED
  for (int n = 0; n < TILES; n++) {
    TT_UNROLLED
    for (int i = 0; i < 4; i++)
      s[n][i] = masked(a, mask, query + (INDEX)(n * 8 + LANE % 4 * 2 + i % 2), key + i / 2 * 8, s[n][i]);
  }
}

/* The thread's two rows of results, each times a factor; rows that are there begin at `to`. */
TT_FN void give(TT_GLOBAL T *to, tt_f32 (*sum)[4], const int wide, const tt_f32 *by, tt_i64 rows, int columns) {
  const int row = (int)(WARP_NUMBER * 16 + LANE / 4), column = (int)LANE % 4 * 2;
  TT_UNROLLED
  for (int h = 0; h < 2; h++) {
    if (row + h * 8 >= rows) continue;
    TT_UNROLLED
    for (int n = 0; n < wide / 8; n++)
      if (n * 8 + column < columns)
        *(TT_GLOBAL tt_u32 *)(to + (tt_i64)(row + h * 8) * columns + n * 8 + column) =
            PAIR(sum[n][h * 2] * by[h], sum[n][h * 2 + 1] * by[h]);
  }
}

#endif

#if WAY == 0 /* forward */

typedef struct softmax {
  tt_f32 top[2], sum[2]; /* of each row: the largest score, and the thread's part of the sum */
} softmax;

/* Of the four threads that have a row. */
TT_FN tt_f32 most_of_row(tt_f32 x) {
  TT_UNROLLED
  for (tt_u32 by = 2; by; by /= 2) {
    const tt_f32 y = TT_WARP_XOR(x, by);
    x = x > y ? x : y;
  }
  return x;
}

TT_FN tt_f32 sum_of_row(tt_f32 x) {
  TT_UNROLLED
  for (tt_u32 by = 2; by; by /= 2) x += TT_WARP_XOR(x, by);
  return x;
}

/* Scores become shares of the sum so far; fade: what is left of earlier sums. */
TT_FN void take_in(softmax *m, tt_f32 s[TILES][4], tt_f32 *fade) {
  TT_UNROLLED
  for (int h = 0; h < 2; h++) {
    tt_f32 most = m->top[h], sum = 0;
    TT_UNROLLED
    for (int n = 0; n < TILES * 2; n++) {
      const tt_f32 x = s[n / 2][h * 2 + n % 2];
      most = x > most ? x : most;
    }
    most = most_of_row(most);
    const tt_f32 from = most == NEVER ? 0 : most;
    fade[h] = EXP(m->top[h] - from);
    m->top[h] = most;
    TT_UNROLLED
    for (int n = 0; n < TILES * 2; n++) {
      const tt_f32 x = EXP(s[n / 2][h * 2 + n % 2] - from);
      s[n / 2][h * 2 + n % 2] = x;
      sum += x;
    }
    m->sum[h] = m->sum[h] * fade[h] + sum;
  }
}

TT_KERNEL_OF_MANY(attention, attention_args, THREADS, RESIDENT) {
  TT_SHARED_AT T *k_tile = HALVES, *v_tile = k_tile + TILE_OF(WIDE);
  const tt_i64 rest = TT_BLOCK, batch = rest / a.tiles;
  const INDEX first = (INDEX)(a.tiles - 1 - rest % a.tiles) * SIDE; /* those that see most keys begin */
  const INDEX my_row = first + (INDEX)(WARP_NUMBER * 16 + LANE / 4), queries = (INDEX)a.queries, keys = (INDEX)a.keys;
  const matrix q = MATRIX(q, T), k = MATRIX(k, T), v = MATRIX(v, T), mask = MATRIX(mask, MASK_TYPE);
  const INDEX last = a.causal && first + SIDE < keys ? first + SIDE : keys;
  const tt_f32 scale = (tt_f32)a.scale;
  tt_u32 left[WIDE / 16][4];
  tt_f32 s[TILES][4], acc[DEEP / 8][4], fade[2];
  softmax m = {{NEVER, NEVER}, {0, 0}};
  clear(acc, DEEP / 8);
  copy_tile(&q, first, queries, a.width, WIDE, k_tile);
  TT_COPIES_DONE();
  TT_BARRIER();
  left_factors(k_tile, WIDE, left);
  TT_BARRIER();
  copy_tile(&k, 0, keys, a.width, WIDE, k_tile);
  TT_ROLLED
  for (INDEX key = 0; key < last; key += SIDE) {
    TT_COPIES_DONE();
    TT_BARRIER();
    copy_tile(&v, key, keys, a.deep, DEEP, v_tile);
    clear(s, TILES);
    TT_UNROLLED
    for (int i = 0; i < WIDE / 16; i++) multiply_turned(left[i], k_tile, WIDE, i, s);
    TT_COPIES_DONE();
    TT_BARRIER();
    if (key + SIDE < last) copy_tile(&k, key + SIDE, keys, a.width, WIDE, k_tile);
    scale_by(s, scale);
    if (!is_inner(&a, first, key)) mask_scores(&a, &mask, my_row, key, s);
    take_in(&m, s, fade);
    TT_UNROLLED
    for (int n = 0; n < DEEP / 8; n++) {
      TT_UNROLLED
      for (int i = 0; i < 4; i++) acc[n][i] = acc[n][i] * fade[i / 2];
    }
    multiply_scores(s, v_tile, DEEP, acc);
  }
  TT_COPIES_DONE();
  TT_UNROLLED
  for (int h = 0; h < 2; h++) {
    const tt_f32 sum = sum_of_row(m.sum[h]);
    fade[h] = sum == 0 ? 0 : 1 / sum;
    if (a.lse && LANE % 4 == 0 && my_row + h * 8 < queries)
      a.lse[batch * a.queries + my_row + h * 8] = sum == 0 ? NEVER : m.top[h] + LOG(sum);
  }
  if (a.o) give(a.o + (batch * a.queries + first) * a.deep, acc, DEEP, fade, a.queries - first, a.deep);
}

#elif WAY == 1

/* The cotangent of q: a block has a tile of queries. */
TT_KERNEL_OF_MANY(attention_dq, attention_args, THREADS, RESIDENT) {
  TT_SHARED_AT T *tile[2] = {HALVES, HALVES + TILE_OF(WIDE) + TILE_OF(DEEP)}; /* of k, then of v */
  const tt_i64 rest = TT_BLOCK, batch = rest / a.tiles;
  const INDEX first = (INDEX)(a.tiles - 1 - rest % a.tiles) * SIDE;
  const INDEX my_row = first + (INDEX)(WARP_NUMBER * 16 + LANE / 4), queries = (INDEX)a.queries, keys = (INDEX)a.keys;
  const matrix q = MATRIX(q, T), k = MATRIX(k, T), v = MATRIX(v, T), g = MATRIX(g, T), mask = MATRIX(mask, MASK_TYPE);
  const INDEX last = a.causal && first + SIDE < keys ? first + SIDE : keys;
  const tt_f32 scale = (tt_f32)a.scale, by[2] = {scale, scale};
  tt_u32 left[WIDE / 16][4], left_g[DEEP / 16][4];
  tt_f32 s[TILES][4], d[TILES][4], acc[WIDE / 8][4], lse[2], less[2];
  clear(acc, WIDE / 8);
  TT_UNROLLED
  for (int h = 0; h < 2; h++) {
    const tt_i64 at = batch * a.queries + my_row + h * 8;
    lse[h] = my_row + h * 8 < queries ? a.numbers[at] : ENDLESS;
    less[h] = my_row + h * 8 < queries ? a.numbers[a.all + at] : 0;
  }
  copy_tile(&q, first, queries, a.width, WIDE, tile[0]);
  copy_tile(&g, first, queries, a.deep, DEEP, tile[0] + TILE_OF(WIDE));
  TT_COPIES_DONE();
  TT_BARRIER();
  left_factors(tile[0], WIDE, left);
  left_factors(tile[0] + TILE_OF(WIDE), DEEP, left_g);
  TT_BARRIER();
  copy_tile(&k, 0, keys, a.width, WIDE, tile[0]);
  copy_tile(&v, 0, keys, a.deep, DEEP, tile[0] + TILE_OF(WIDE));
  int now = 0;
  TT_ROLLED
  for (INDEX key = 0; key < last; key += SIDE, now ^= 1) {
    const TT_SHARED_AT T *k_tile = now ? tile[1] : tile[0], *v_tile = k_tile + TILE_OF(WIDE);
    TT_SHARED_AT T *next = now ? tile[0] : tile[1];
    TT_COPIES_DONE();
    TT_BARRIER();
    if (key + SIDE < last) {
      copy_tile(&k, key + SIDE, keys, a.width, WIDE, next);
      copy_tile(&v, key + SIDE, keys, a.deep, DEEP, next + TILE_OF(WIDE));
    }
    clear(s, TILES);
    clear(d, TILES);
    TT_UNROLLED
    for (int i = 0; i < WIDE / 16; i++) multiply_turned(left[i], k_tile, WIDE, i, s);
    TT_UNROLLED
    for (int i = 0; i < DEEP / 16; i++) multiply_turned(left_g[i], v_tile, DEEP, i, d);
    scale_by(s, scale);
    if (!is_inner(&a, first, key)) mask_scores(&a, &mask, my_row, key, s);
    TT_UNROLLED
    for (int n = 0; n < TILES; n++) {
      TT_UNROLLED
      for (int i = 0; i < 4; i++) d[n][i] = EXP(s[n][i] - lse[i / 2]) * (d[n][i] - less[i / 2]);
    }
    multiply_scores(d, k_tile, WIDE, acc);
  }
  TT_COPIES_DONE();
  give(a.dq + (batch * a.queries + first) * a.width, acc, WIDE, by, a.queries - first, a.width);
}

#elif WAY == 2

/* A tile of queries with what belongs to it, on its way into shared memory. */
typedef struct TT_ALIGNED(16) of_queries {
  T q[TILE_OF(WIDE)], g[TILE_OF(DEEP)];
  tt_f32 lse[SIDE], less[SIDE];
} of_queries;

TT_FN void copy_queries(const attention_args *a, const matrix *q, const matrix *g, tt_i64 batch, INDEX query,
                        TT_SHARED_AT of_queries *to) {
  const int i = (int)TT_THREAD % SIDE;
  const int there = query + i < (INDEX)a->queries;
  const TT_GLOBAL tt_f32 *from = a->numbers + (TT_THREAD < SIDE ? 0 : a->all) + batch * a->queries;
  copy_tile(q, query, (INDEX)a->queries, a->width, WIDE, to->q);
  copy_tile(g, query, (INDEX)a->queries, a->deep, DEEP, to->g);
  TT_COPY_4(TT_THREAD < SIDE ? to->lse + i : to->less + i, from + (there ? query + i : 0), there ? 4 : 0);
}

/* The cotangents of k and v: a block has a tile of keys. */
TT_KERNEL_OF_MANY(attention_dkv, attention_args, THREADS, RESIDENT) {
  TT_SHARED_AT T *k_tile = HALVES, *v_tile = k_tile + TILE_OF(WIDE);
  TT_SHARED_AT of_queries *of = (TT_SHARED_AT of_queries *)(v_tile + TILE_OF(DEEP));
  const tt_i64 rest = TT_BLOCK, batch = rest / a.tiles;
  const INDEX first = (INDEX)(rest % a.tiles) * SIDE;
  const INDEX my_row = first + (INDEX)(WARP_NUMBER * 16 + LANE / 4), queries = (INDEX)a.queries, keys = (INDEX)a.keys;
  const matrix q = MATRIX(q, T), k = MATRIX(k, T), v = MATRIX(v, T), g = MATRIX(g, T), mask = MATRIX(mask, MASK_TYPE);
  const int row = (int)(WARP_NUMBER * 16 + LANE % 16), column = (int)LANE / 16 * 8;
  const tt_f32 scale = (tt_f32)a.scale, by[2] = {scale, scale}, ones[2] = {1, 1};
  tt_f32 s[TILES][4], d[TILES][4], to_k[WIDE / 8][4], to_v[DEEP / 8][4];
  clear(to_k, WIDE / 8);
  clear(to_v, DEEP / 8);
  copy_tile(&k, first, keys, a.width, WIDE, k_tile);
  copy_tile(&v, first, keys, a.deep, DEEP, v_tile);
  const INDEX start = a.causal ? first : 0;
  if (start < queries) copy_queries(&a, &q, &g, batch, start, of);
  int now = 0;
  TT_ROLLED
  for (INDEX query = start; query < queries; query += SIDE, now ^= 1) {
    const TT_SHARED_AT of_queries *mine = of + now;
    TT_COPIES_DONE();
    TT_BARRIER();
    if (query + SIDE < queries) copy_queries(&a, &q, &g, batch, query + SIDE, of + (now ^ 1));
    clear(s, TILES);
    clear(d, TILES);
    TT_UNROLLED
    for (int i = 0; i < WIDE / 16; i++) {
      tt_u32 left[4];
      TT_MATRICES(left, k_tile + row * STEP_OF(WIDE) + i * 16 + column);
      multiply_turned(left, mine->q, WIDE, i, s);
    }
    TT_UNROLLED
    for (int i = 0; i < DEEP / 16; i++) {
      tt_u32 left[4];
      TT_MATRICES(left, v_tile + row * STEP_OF(DEEP) + i * 16 + column);
      multiply_turned(left, mine->g, DEEP, i, d);
    }
    scale_by(s, scale);
    if (!is_inner(&a, query, first)) mask_turned(&a, &mask, query, my_row, s);
    TT_UNROLLED
    for (int n = 0; n < TILES; n++) {
      TT_UNROLLED
      for (int i = 0; i < 4; i++) {
        const int in = n * 8 + (int)LANE % 4 * 2 + i % 2;
        s[n][i] = EXP(s[n][i] - mine->lse[in]);
        d[n][i] = s[n][i] * (d[n][i] - mine->less[in]);
      }
    }
    multiply_scores(s, mine->g, DEEP, to_v);
    multiply_scores(d, mine->q, WIDE, to_k);
  }
  TT_COPIES_DONE();
  if (a.dk) give(a.dk + (batch * a.keys + first) * a.width, to_k, WIDE, by, a.keys - first, a.width);
  if (a.dv) give(a.dv + (batch * a.keys + first) * a.deep, to_v, DEEP, ones, a.keys - first, a.deep);
}

#else /* WAY 3 */

/* Cotangents as elements, and the two numbers of each query, dense. Without a key a query has no share of any. */
TT_KERNEL(attention_split, attention_args, 256) {
  const tt_i64 wide = a.deep + 2, all = a.all * wide;
  for (tt_i64 i = (tt_i64)TT_BLOCK * 256 + TT_THREAD; i < all; i += (tt_i64)TT_BLOCKS * 256) {
    const tt_i64 column = i % wide, row = i / wide, batch = row / a.queries, query = row % a.queries;
    const tt_f32 x =
        ((const TT_GLOBAL tt_f32 *)a.g.data)[batch_at(&a, &a.g, batch) + query * a.g.row + column * a.g.column];
    if (column < a.deep)
      a.o[row * a.deep + column] = STORE(x);
    else if (column == a.deep)
      a.numbers[row] = x == NEVER ? ENDLESS : x;
    else
      a.numbers[a.all + row] = x;
  }
}

#endif
