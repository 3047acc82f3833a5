/*
** Attention by tiles, and its cotangents: no matrix of queries by keys is stored. A block has a tile of rows (queries,
** or keys on the way back) and walks over tiles of the others; of a pair of tiles the scores are a product in
** registers, what becomes of them goes through shared memory, a slab at a time, into a second product. Stands below
** attention_above.text.h. Specialised by
**   T, SIZE     an element in memory      S   what is summed     LOAD(x), STORE(x)   one to the other
**   FMA(a, b, c)   a * b + c in S         EXP(x), LOG(x)   in S
**   INDEX       an integer that counts the elements of a matrix and steps over them
**   SLAB        of how many terms the factors lie in shared memory at a time
**   COLS        columns of results of a block, 64 or 128
**   VEC         rows of q, k and v come apart into fours that lie as vectors do
**   RESIDENT    blocks that a unit has registers for
**   WAY         0 forward, 1 back to q, 2 back to k and v
**   DROP        1: shares are dropped by chance
**   PARTS       1: there are too few tiles for the device, so a walk is cut; the parts are put together afterwards
**   MASK        0 there is none, 1 of truth values, 2 of numbers that are added
*/
#define THREADS 128
#define STEP (SIDE + 4)  /* between the terms of a factor */
#define EACH (COLS / 16) /* columns of a thread */
#define ROOM (2 * SLAB * (STEP + (COLS > STEP ? COLS : STEP)))

typedef struct TT_ALIGNED(16) four {
  S x[4];
} four;
#if SIZE < 4
typedef struct TT_ALIGNED(8) four_stored {
#else
typedef struct TT_ALIGNED(16) four_stored {
#endif
  T x[4];
} four_stored;

/* Four elements of a row, those from `have` on 0. `sums`: the matrix has S's. */
TT_FN four four_of(const matrix *m, int sums, INDEX row, int column, int have) {
  const INDEX at = row * m->row + column * m->column;
  four v = {{0, 0, 0, 0}};
  if (VEC && !sums) {
    if (have > 0) {
      four_stored s = *(const TT_GLOBAL four_stored *)((const TT_GLOBAL T *)m->data + at);
      TT_UNROLLED
      for (int j = 0; j < 4; j++) v.x[j] = LOAD(s.x[j]);
    }
    return v;
  }
  TT_UNROLLED
  for (int j = 0; j < 4; j++)
    if (j < have) {
      if (sums) {
        v.x[j] = ((const TT_GLOBAL S *)m->data)[at + j * m->column];
      } else {
        T e = ((const TT_GLOBAL T *)m->data)[at + j * m->column];
        v.x[j] = LOAD(e);
      }
    }
  return v;
}

/* ---- scores: a product along the columns of both matrices */

#define SCORE_FOURS (SLAB * SIDE / 4 / THREADS)
#define QUADS (SLAB / 4)
/* Rows of the second pair of fours lie 8 further, around, so that threads store to different banks. */
#define TURN(k) ((k) / 8 % 2 * 8)

TT_FN void fetch_turned(const matrix *m, int sums, INDEX row, INDEX rows, int column, int columns, four *to) {
  TT_UNROLLED
  for (int e = 0; e < SCORE_FOURS; e++) {
    const int i = (int)TT_THREAD + e * THREADS, r = i / QUADS, c = column + i % QUADS * 4;
    to[e] = four_of(m, sums, row + r, c, row + r < rows ? columns - c : 0);
  }
}

TT_FN void put_turned(const four *from, TT_SHARED_AT S *to) {
  TT_UNROLLED
  for (int e = 0; e < SCORE_FOURS; e++) {
    const int i = (int)TT_THREAD + e * THREADS, r = i / QUADS, k = i % QUADS * 4;
    TT_UNROLLED
    for (int j = 0; j < 4; j++) to[(k + j) * STEP + (r ^ TURN(k))] = from[e].x[j];
  }
}

/* s[i][j]: the product of row i of x and row j of y, of a thread's own. */
TT_FN void scores(const matrix *x, int sums_x, INDEX row_x, INDEX rows_x, const matrix *y, int sums_y, INDEX row_y,
                  INDEX rows_y, int columns, TT_SHARED_AT S *room, S s[8][4]) {
  const int row = (int)TT_THREAD / 16 * 8, other = (int)TT_THREAD % 16 * 4;
  four l[SCORE_FOURS], r[SCORE_FOURS];
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int j = 0; j < 4; j++) s[i][j] = 0;
  }
  fetch_turned(x, sums_x, row_x, rows_x, 0, columns, l);
  fetch_turned(y, sums_y, row_y, rows_y, 0, columns, r);
  TT_BARRIER();
  put_turned(l, room);
  put_turned(r, room + SLAB * STEP);
  TT_BARRIER();
  int now = 0;
  TT_ROLLED
  for (int k = 0; k < columns; k += SLAB, now ^= 1) {
    const TT_SHARED_AT S *left = room + now * (2 * SLAB * STEP), *right = left + SLAB * STEP;
    const int more = k + SLAB < columns;
    if (more) {
      fetch_turned(x, sums_x, row_x, rows_x, k + SLAB, columns, l);
      fetch_turned(y, sums_y, row_y, rows_y, k + SLAB, columns, r);
    }
    TT_UNROLLED
    for (int d = 0; d < SLAB; d++) {
      const four a = *(const TT_SHARED_AT four *)(left + d * STEP + (row ^ TURN(d)));
      const four b = *(const TT_SHARED_AT four *)(left + d * STEP + (row ^ TURN(d)) + 4);
      const four c = *(const TT_SHARED_AT four *)(right + d * STEP + (other ^ TURN(d)));
      TT_UNROLLED
      for (int i = 0; i < 4; i++) {
        TT_UNROLLED
        for (int j = 0; j < 4; j++) {
          s[i][j] = FMA(a.x[i], c.x[j], s[i][j]);
          s[i + 4][j] = FMA(b.x[i], c.x[j], s[i + 4][j]);
        }
      }
    }
    if (more) {
      TT_SHARED_AT S *next = room + (now ^ 1) * (2 * SLAB * STEP);
      put_turned(l, next);
      put_turned(r, next + SLAB * STEP);
    }
    TT_BARRIER();
  }
}

/* ---- a product with what became of scores, along the rows of a matrix */

#define SUM_FOURS (SLAB * COLS / 4 / THREADS)

TT_FN void fetch_rows(const matrix *m, int sums, INDEX row, INDEX rows, int column, int columns, four *to) {
  TT_UNROLLED
  for (int e = 0; e < SUM_FOURS; e++) {
    const int i = (int)TT_THREAD + e * THREADS, r = i / (COLS / 4), c = column + i % (COLS / 4) * 4;
    to[e] = four_of(m, sums, row + r, c, row + r < rows ? columns - c : 0);
  }
}

/* The same, and of the thread's p those that belong to the slab. */
TT_FN void put_rows(const four *from, S p[8][4], int slab, TT_SHARED_AT S *to) {
  const int row = (int)TT_THREAD / 16 * 8, other = (int)TT_THREAD % 16 * 4;
  TT_UNROLLED
  for (int e = 0; e < SUM_FOURS; e++)
    *(TT_SHARED_AT four *)(to + SLAB * STEP + ((int)TT_THREAD + e * THREADS) * 4) = from[e];
  if (other / SLAB != slab) return;
  TT_UNROLLED
  for (int j = 0; j < 4; j++) {
    TT_SHARED_AT S *at = to + (other % SLAB + j) * STEP + row;
    TT_UNROLLED
    for (int h = 0; h < 8; h += 4) {
      const four v = {{p[h][j], p[h + 1][j], p[h + 2][j], p[h + 3][j]}};
      *(TT_SHARED_AT four *)(at + h) = v;
    }
  }
}

/* acc += p m, of the columns from `column`. */
TT_FN void accumulate(S p[8][4], const matrix *m, int sums, INDEX row, INDEX rows, int column, int columns,
                      TT_SHARED_AT S *room, S acc[8][EACH]) {
  const int mine = (int)TT_THREAD / 16 * 8, other = (int)TT_THREAD % 16 * 4;
  four v[SUM_FOURS];
  fetch_rows(m, sums, row, rows, column, columns, v);
  put_rows(v, p, 0, room);
  TT_BARRIER();
  TT_ROLLED
  for (int slab = 0; slab < SIDE / SLAB; slab++) {
    const TT_SHARED_AT S *left = room + slab % 2 * (SLAB * (STEP + COLS)), *right = left + SLAB * STEP;
    const int more = slab + 1 < SIDE / SLAB;
    if (more) fetch_rows(m, sums, row + (slab + 1) * SLAB, rows, column, columns, v);
    TT_UNROLLED
    for (int d = 0; d < SLAB; d++) {
      const four a = *(const TT_SHARED_AT four *)(left + d * STEP + mine);
      const four b = *(const TT_SHARED_AT four *)(left + d * STEP + mine + 4);
      TT_UNROLLED
      for (int e = 0; e < EACH; e += 4) {
        const four c = *(const TT_SHARED_AT four *)(right + d * COLS + e * 16 + other);
        TT_UNROLLED
        for (int i = 0; i < 4; i++) {
          TT_UNROLLED
          for (int j = 0; j < 4; j++) {
            acc[i][e + j] = FMA(a.x[i], c.x[j], acc[i][e + j]);
            acc[i + 4][e + j] = FMA(b.x[i], c.x[j], acc[i + 4][e + j]);
          }
        }
      }
    }
    if (more) put_rows(v, p, slab + 1, room + (slab + 1) % 2 * (SLAB * (STEP + COLS)));
    TT_BARRIER();
  }
}

TT_FN void clear(S acc[8][EACH]) {
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int e = 0; e < EACH; e++) acc[i][e] = 0;
  }
}

#if PARTS /* what a part leaves is summed later */
#define RESULT S
#define RESULT_OF(x) (x)
#else
#define RESULT T
#define RESULT_OF(x) STORE(x)
#endif

/* Rows of results, `step` from one to the next, each times a factor. */
TT_FN void give(TT_GLOBAL RESULT *to, S acc[8][EACH], const S *by, tt_i64 step, tt_i64 rows, int column, int columns) {
  const int first = (int)TT_THREAD / 16 * 8, other = column + (int)TT_THREAD % 16 * 4;
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    if (first + i >= rows) continue;
    TT_UNROLLED
    for (int e = 0; e < EACH; e++) {
      const int c = other + e / 4 * 64 + e % 4;
      if (c < columns) to[(first + i) * step + c] = RESULT_OF(acc[i][e] * by[i]);
    }
  }
}

/* ---- a block's work */

typedef struct work {
  tt_i64 batch, part;
  INDEX first, from, to; /* of its rows; the others that it walks over */
  int column;            /* the first of its results' */
} work;

/* Of rows that all see the others from `begin` to `end`, this block's part. */
TT_FN void cut(const attention_args *a, work *w, INDEX begin, INDEX end) {
  w->from = begin;
  w->to = end;
#if PARTS
  const INDEX tiles = end > begin ? (end - begin + SIDE - 1) / SIDE : 0;
  const INDEX each = (tiles + a->parts - 1) / a->parts * SIDE;
  w->from = begin + (INDEX)w->part * each;
  w->to = w->from + each < end ? w->from + each : end;
#endif
}

TT_FN work work_of(const attention_args *a) {
  const tt_u32 sides = (tt_u32)a->sides;
  tt_i64 rest = TT_BLOCK / sides;
  work w;
  w.column = (int)(TT_BLOCK % sides) * COLS;
  w.part = 0;
#if PARTS
  w.part = rest % a->parts;
  rest /= a->parts;
#endif
  w.batch = rest / a->tiles;
  /* Those that see most begin. */
  w.first = (INDEX)(WAY == 2 ? rest % a->tiles : a->tiles - 1 - rest % a->tiles) * SIDE;
  if (WAY == 2)
    cut(a, &w, a->causal ? w.first : 0, (INDEX)a->queries);
  else
    cut(a, &w, 0, a->causal && w.first + SIDE < (INDEX)a->keys ? w.first + SIDE : (INDEX)a->keys);
  return w;
}

/* ---- scores on their own */

TT_FN void scale_by(S s[8][4], S scale) {
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int j = 0; j < 4; j++) s[i][j] = s[i][j] * scale;
  }
}

/* Rows are queries. */
TT_FN void mask_scores(const attention_args *a, const matrix *mask, INDEX query, INDEX key, S s[8][4]) {
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int j = 0; j < 4; j++) s[i][j] = masked(a, mask, query + i, key + j, s[i][j]);
  }
}

/* Rows are keys. */
TT_FN void mask_turned(const attention_args *a, const matrix *mask, INDEX query, INDEX key, S s[8][4]) {
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int j = 0; j < 4; j++) s[i][j] = masked(a, mask, query + j, key + i, s[i][j]);
  }
}

#if DROP
/* ---- shares that are dropped, a bit for each that stays: row i, column j has bit 4 i + j */

TT_FN tt_u32 stays_of_block(const attention_args *a, tt_i64 batch, INDEX query, INDEX key, tt_u32 by) {
  const tt_i64 row = batch * a->queries + query, blocks = (a->keys + 3) / 4;
  const tt__block w = tt__philox((tt_u64)(row * blocks + key / 4), *a->key);
  const tt_f32 chance = (tt_f32)a->chance;
  tt_u32 bits = tt__fraction_f32(w.a) >= chance ? 1u : 0u;
  bits |= tt__fraction_f32(w.b) >= chance ? 1u << by : 0u;
  bits |= tt__fraction_f32(w.c) >= chance ? 1u << 2 * by : 0u;
  return bits | (tt__fraction_f32(w.d) >= chance ? 1u << 3 * by : 0u);
}

/* Rows are queries. */
TT_FN tt_u32 stays_of(const attention_args *a, tt_i64 batch, INDEX query, INDEX key) {
  tt_u32 bits = 0;
  TT_ROLLED
  for (int i = 0; i < 8; i++) bits |= stays_of_block(a, batch, query + i, key, 1) << 4 * i;
  return bits;
}

/* Rows are keys. */
TT_FN tt_u32 stays_turned(const attention_args *a, tt_i64 batch, INDEX query, INDEX key) {
  tt_u32 bits = 0;
  TT_ROLLED
  for (int j = 0; j < 8; j++)
    bits |= stays_of_block(a, batch, query + j / 2, key + j % 2 * 4, 4) << (j % 2 * 16 + j / 2);
  return bits;
}

TT_FN void drop(const attention_args *a, tt_u32 stays, S from[8][4], S to[8][4]) {
  const S more = a->chance < 1 ? (S)(1 / (1 - a->chance)) : 1;
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int j = 0; j < 4; j++) to[i][j] = from[i][j] * (stays >> (4 * i + j) & 1 ? more : 0);
  }
}
#endif

#if WAY == 0 /* forward */

typedef struct softmax {
  S top[8], sum[8], fade[8]; /* of each row: the largest score, its part of the sum, what is left of earlier sums */
} softmax;

TT_FN S most_of_row(S x) {
  TT_UNROLLED
  for (tt_u32 by = 8; by; by /= 2) {
    const S y = TT_WARP_XOR(x, by);
    x = x > y ? x : y;
  }
  return x;
}

TT_FN S sum_of_row(S x) {
  TT_UNROLLED
  for (tt_u32 by = 8; by; by /= 2) x += TT_WARP_XOR(x, by);
  return x;
}

/* Scores become shares of the sum so far. */
TT_FN void take_in(softmax *m, S s[8][4]) {
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    S most = m->top[i], sum = 0;
    TT_UNROLLED
    for (int j = 0; j < 4; j++) most = s[i][j] > most ? s[i][j] : most;
    most = most_of_row(most);
    const S from = most == NEVER ? 0 : most;
    m->fade[i] = EXP(m->top[i] - from);
    m->top[i] = most;
    TT_UNROLLED
    for (int j = 0; j < 4; j++) {
      s[i][j] = EXP(s[i][j] - from);
      sum += s[i][j];
    }
    m->sum[i] = m->sum[i] * m->fade[i] + sum;
  }
}

TT_KERNEL_OF_MANY(attention, attention_args, THREADS, RESIDENT) {
  TT_SHARED TT_ALIGNED(16) S room[ROOM];
  const work w = work_of(&a);
  const tt_i64 batch = w.batch;
  const int column = w.column;
  const INDEX first = w.first;
  const INDEX my_row = first + (INDEX)TT_THREAD / 16 * 8, queries = (INDEX)a.queries, keys = (INDEX)a.keys;
  const matrix q = MATRIX(q, T), k = MATRIX(k, T), v = MATRIX(v, T), mask = MATRIX(mask, MASK_TYPE);
  const S scale = (S)a.scale;
  S s[8][4], acc[8][EACH];
  softmax m;
  clear(acc);
  TT_UNROLLED
  for (int i = 0; i < 8; i++) m.top[i] = NEVER, m.sum[i] = 0;
  TT_ROLLED
  for (INDEX key = w.from; key < w.to; key += SIDE) {
    const INDEX mine = key + (INDEX)TT_THREAD % 16 * 4;
    scores(&q, 0, first, queries, &k, 0, key, keys, a.width, room, s);
    scale_by(s, scale);
    if (!is_inner(&a, first, key)) mask_scores(&a, &mask, my_row, mine, s);
    take_in(&m, s);
#if DROP
    drop(&a, stays_of(&a, batch, my_row, mine), s, s);
#endif
    TT_UNROLLED
    for (int i = 0; i < 8; i++) {
      TT_UNROLLED
      for (int e = 0; e < EACH; e++) acc[i][e] = acc[i][e] * m.fade[i];
    }
    accumulate(s, &v, 0, key, keys, column, a.deep, room, acc);
  }
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    m.sum[i] = sum_of_row(m.sum[i]);
    m.fade[i] = PARTS ? 1 : m.sum[i] == 0 ? 0 : 1 / m.sum[i];
  }
#if PARTS
  const tt_i64 step = a.deep + 2;
  TT_GLOBAL S *to = a.part + (w.part * a.all + batch * a.queries + first) * step;
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    if (column > 0 || TT_THREAD % 16 > 0 || my_row + i >= queries) continue;
    to[(my_row - first + i) * step + a.deep] = m.top[i];
    to[(my_row - first + i) * step + a.deep + 1] = m.sum[i];
  }
  give(to, acc, m.fade, step, a.queries - first, column, a.deep);
#else
  TT_UNROLLED
  for (int i = 0; i < 8; i++)
    if (a.lse && column == 0 && TT_THREAD % 16 == 0 && my_row + i < queries)
      a.lse[batch * a.queries + my_row + i] = m.sum[i] == 0 ? NEVER : m.top[i] + LOG(m.sum[i]);
  if (a.o) give(a.o + (batch * a.queries + first) * a.deep, acc, m.fade, a.deep, a.queries - first, column, a.deep);
#endif
}

#else /* WAY: backward */

/* Of a query: the logarithm of its sum, and the sum of the cotangent times o. Without a key it has no share of any. */
TT_FN void numbers_of(const attention_args *a, const matrix *g, INDEX query, S *lse, S *less) {
  const TT_GLOBAL S *at = (const TT_GLOBAL S *)g->data + query * g->row + a->deep * g->column;
  *lse = query < (INDEX)a->queries ? at[0] : NEVER;
  *less = query < (INDEX)a->queries ? at[g->column] : 0;
  if (*lse == NEVER) *lse = ENDLESS;
}

#if WAY == 1

/* The cotangent of q: a block has a tile of queries. */
TT_KERNEL_OF_MANY(attention_dq, attention_args, THREADS, RESIDENT) {
  TT_SHARED TT_ALIGNED(16) S room[ROOM];
  const work w = work_of(&a);
  const tt_i64 batch = w.batch;
  const int column = w.column;
  const INDEX first = w.first;
  const INDEX my_row = first + (INDEX)TT_THREAD / 16 * 8, queries = (INDEX)a.queries, keys = (INDEX)a.keys;
  const matrix q = MATRIX(q, T), k = MATRIX(k, T), v = MATRIX(v, T), g = MATRIX(g, S), mask = MATRIX(mask, MASK_TYPE);
  const S scale = (S)a.scale;
  S s[8][4], d[8][4], acc[8][EACH], lse[8], less[8], by[8];
  clear(acc);
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    numbers_of(&a, &g, my_row + i, &lse[i], &less[i]);
    by[i] = scale;
  }
  TT_ROLLED
  for (INDEX key = w.from; key < w.to; key += SIDE) {
    const INDEX mine = key + (INDEX)TT_THREAD % 16 * 4;
    scores(&q, 0, first, queries, &k, 0, key, keys, a.width, room, s);
    scale_by(s, scale);
    if (!is_inner(&a, first, key)) mask_scores(&a, &mask, my_row, mine, s);
    TT_UNROLLED
    for (int i = 0; i < 8; i++) {
      TT_UNROLLED
      for (int j = 0; j < 4; j++) s[i][j] = EXP(s[i][j] - lse[i]);
    }
    scores(&g, 1, first, queries, &v, 0, key, keys, a.deep, room, d);
#if DROP
    drop(&a, stays_of(&a, batch, my_row, mine), d, d);
#endif
    TT_UNROLLED
    for (int i = 0; i < 8; i++) {
      TT_UNROLLED
      for (int j = 0; j < 4; j++) d[i][j] = s[i][j] * (d[i][j] - less[i]);
    }
    accumulate(d, &k, 0, key, keys, column, a.width, room, acc);
  }
  const tt_i64 row = w.part * a.all + batch * a.queries + first;
  give((PARTS ? (TT_GLOBAL RESULT *)a.part : (TT_GLOBAL RESULT *)a.dq) + row * a.width, acc, by, a.width,
       a.queries - first, column, a.width);
}

#else /* WAY 2 */

/* The cotangents of k and v: a block has a tile of keys. */
TT_KERNEL_OF_MANY(attention_dkv, attention_args, THREADS, RESIDENT) {
  TT_SHARED TT_ALIGNED(16) S room[ROOM];
  const work w = work_of(&a);
  const tt_i64 batch = w.batch;
  const int column = w.column;
  const INDEX first = w.first;
  const INDEX my_row = first + (INDEX)TT_THREAD / 16 * 8, queries = (INDEX)a.queries, keys = (INDEX)a.keys;
  const matrix q = MATRIX(q, T), k = MATRIX(k, T), v = MATRIX(v, T), g = MATRIX(g, S), mask = MATRIX(mask, MASK_TYPE);
  const S scale = (S)a.scale;
  S s[8][4], d[8][4], to_k[8][EACH], to_v[8][EACH], by[8], ones[8];
  clear(to_k);
  clear(to_v);
  TT_UNROLLED
  for (int i = 0; i < 8; i++) by[i] = scale, ones[i] = 1;
  TT_ROLLED
  for (INDEX query = w.from; query < w.to; query += SIDE) {
    const INDEX mine = query + (INDEX)TT_THREAD % 16 * 4;
    S lse[4], less[4];
    scores(&k, 0, first, keys, &q, 0, query, queries, a.width, room, s);
    scale_by(s, scale);
    if (!is_inner(&a, query, first)) mask_turned(&a, &mask, mine, my_row, s);
    TT_UNROLLED
    for (int j = 0; j < 4; j++) {
      numbers_of(&a, &g, mine + j, &lse[j], &less[j]);
      TT_UNROLLED
      for (int i = 0; i < 8; i++) s[i][j] = EXP(s[i][j] - lse[j]);
    }
#if DROP
    const tt_u32 stays = stays_turned(&a, batch, mine, my_row);
    drop(&a, stays, s, d);
    if (a.dv) accumulate(d, &g, 1, query, queries, column, a.deep, room, to_v);
#else
    if (a.dv) accumulate(s, &g, 1, query, queries, column, a.deep, room, to_v);
#endif
    if (!a.dk) continue;
    scores(&v, 0, first, keys, &g, 1, query, queries, a.deep, room, d);
#if DROP
    drop(&a, stays, d, d);
#endif
    TT_UNROLLED
    for (int i = 0; i < 8; i++) {
      TT_UNROLLED
      for (int j = 0; j < 4; j++) d[i][j] = s[i][j] * (d[i][j] - less[j]);
    }
    accumulate(d, &q, 0, query, queries, column, a.width, room, to_k);
  }
#if PARTS
  const tt_i64 step_k = (a.dk ? a.width : 0) + (a.dv ? a.deep : 0), step_v = step_k;
  TT_GLOBAL S *at_k = a.part + (w.part * a.all / a.queries * a.keys + batch * a.keys + first) * step_k;
  TT_GLOBAL S *at_v = at_k + (a.dk ? a.width : 0);
#else
  const tt_i64 step_k = a.width, step_v = a.deep;
  TT_GLOBAL T *at_k = a.dk + (batch * a.keys + first) * step_k, *at_v = a.dv + (batch * a.keys + first) * step_v;
#endif
  if (a.dk) give(at_k, to_k, by, step_k, a.keys - first, column, a.width);
  if (a.dv) give(at_v, to_v, ones, step_v, a.keys - first, column, a.deep);
}

#endif
#endif
