/*
** Matrix products of any type and any steps, for what no library has: integers, bools, and floats where there is no
** library. C is dense. Specialised by
**   T         element in memory      A   what is summed      LOAD(x)   T to A      STORE(x)   A to T
**   C         element of the result     SUM(x)    C to A, where the sums go on from what the result holds
**   ADD_MUL(s, x, y)   s with the product of x and y in it      ZERO   the empty sum, as an initial value
**   THREADS   of a block, which makes a tile of SIDE_M x SIDE_N, DEEP columns of the left factor at a time
**   V         LANES sums side by side as one value; a thread makes pieces of DOWN x ACROSS of these
*/
#if THREADS == 1 && !defined(PACK) /* nobody waits for one thread, and a compiler may not see that */
#undef TT_BARRIER
#define TT_BARRIER()
#endif
#define AXES 8

#ifndef PACK
#define COLUMNS (LANES * ACROSS) /* of a piece */
#define PIECES (SIDE_M * SIDE_N / (THREADS * DOWN * COLUMNS))
#define PAD (THREADS > 1) /* so that threads side by side are not in each other's way */
#if LANES > 1
#define ONE(x, j) (((A *)&(x)[(j) / LANES])[(j) % LANES])
#else
#define ONE(x, j) (x)[j]
#endif

typedef struct product_args {
  const TT_GLOBAL T *a, *b;
  TT_GLOBAL C *c;
  tt_i64 m, n, k;
  tt_i64 a_row, a_col, b_row, b_col;
  tt_i64 tiles_m, tiles_n, tiles; /* of one product, of all */
  tt_i32 naxes, goes_on;
  tt_i64 len[AXES], a_step[AXES], b_step[AXES]; /* the batch, outermost first */
} product_args;

TT_FN A zero_sum(void) {
  A z = ZERO;
  return z;
}

TT_FN A product_element(const TT_GLOBAL T *p) {
  T e = *p;
  return LOAD(e);
}

/* One tile's left or right side, `all` long, for DEEP steps of the sum: [deep][side], zero where the matrix ends. The
** order follows the operand's, so that threads, or one thread, read neighbours one after the other. */
TT_FN void product_fetch(const TT_GLOBAL T *p, tt_i64 side_step, tt_i64 deep_step, tt_i64 side, tt_i64 deep, int all,
                         TT_SHARED_AT A *to) {
  const int pitch = all + PAD;
#if THREADS == 1
  const int most = side < all ? (int)side : all, deepest = deep < DEEP ? (int)deep : DEEP;
  if (most < all || deepest < DEEP)
    for (int i = 0; i < DEEP * all; i++) to[i] = zero_sum();
  if (side_step == 1) {
    for (int d = 0; d < deepest; d++)
      for (int s = 0; s < most; s++) to[d * pitch + s] = product_element(p + s + d * deep_step);
  } else {
    for (int s = 0; s < most; s++)
      for (int d = 0; d < deepest; d++) to[d * pitch + s] = product_element(p + s * side_step + d * deep_step);
  }
#else
  const int by_depth = deep_step == 1;
  for (int i = (int)TT_THREAD; i < all * DEEP; i += THREADS) {
    const int s = by_depth ? i / DEEP : i % all, d = by_depth ? i % DEEP : i / all;
    to[d * pitch + s] = s < side && d < deep ? product_element(p + s * side_step + d * deep_step) : zero_sum();
  }
#endif
}

/* A piece's sums go on by DEEP steps. */
TT_FN void product_piece(const TT_SHARED_AT A *left, const TT_SHARED_AT V *right, V (*sum)[ACROSS]) {
  V s[DOWN][ACROSS];
  TT_UNROLLED_FEW
  for (int i = 0; i < DOWN; i++) {
    TT_UNROLLED_FEW
    for (int j = 0; j < ACROSS; j++) s[i][j] = sum[i][j];
  }
  TT_UNROLLED
  for (int d = 0; d < DEEP; d++) {
    A x[DOWN];
    V y[ACROSS];
    TT_UNROLLED_FEW
    for (int i = 0; i < DOWN; i++) x[i] = left[d * (SIDE_M + PAD) + i];
    TT_UNROLLED_FEW
    for (int j = 0; j < ACROSS; j++) y[j] = right[d * ((SIDE_N + PAD) / LANES) + j];
    TT_UNROLLED_FEW
    for (int i = 0; i < DOWN; i++) {
      TT_UNROLLED_FEW
      for (int j = 0; j < ACROSS; j++) ADD_MUL(s[i][j], x[i], y[j]);
    }
  }
  TT_UNROLLED_FEW
  for (int i = 0; i < DOWN; i++) {
    TT_UNROLLED_FEW
    for (int j = 0; j < ACROSS; j++) sum[i][j] = s[i][j];
  }
}

TT_KERNEL(product, product_args, THREADS) {
  TT_UNPACK(product_args);
  TT_SHARED A left[DEEP * (SIDE_M + PAD)];
  TT_SHARED V right[DEEP * (SIDE_N + PAD) / LANES];
  for (tt_i64 tile = TT_BLOCK; tile < a.tiles; tile += TT_BLOCKS) {
    tt_i64 batch = tile / (a.tiles_m * a.tiles_n), at = tile % (a.tiles_m * a.tiles_n), rest = batch;
    tt_i64 i0 = at / a.tiles_n * SIDE_M, j0 = at % a.tiles_n * SIDE_N;
    const TT_GLOBAL T *pa = a.a + i0 * a.a_row, *pb = a.b + j0 * a.b_col;
    for (int d = a.naxes - 1; d >= 0; d--) {
      tt_i64 i = rest % a.len[d];
      rest /= a.len[d];
      pa += i * a.a_step[d];
      pb += i * a.b_step[d];
    }
    TT_GLOBAL C *c = a.c + batch * a.m * a.n;
    V sum[PIECES][DOWN][ACROSS];
    TT_UNROLLED
    for (int u = 0; u < PIECES; u++) {
      const int piece = (int)TT_THREAD + u * THREADS;
      const tt_i64 row = i0 + piece / (SIDE_N / COLUMNS) * DOWN, col = j0 + piece % (SIDE_N / COLUMNS) * COLUMNS;
      TT_UNROLLED
      for (int i = 0; i < DOWN; i++) {
        TT_UNROLLED
        for (int j = 0; j < COLUMNS; j++) {
          ONE(sum[u][i], j) = zero_sum();
          if (a.goes_on && row + i < a.m && col + j < a.n) {
            C before = c[(row + i) * a.n + col + j];
            ONE(sum[u][i], j) = SUM(before);
          }
        }
      }
    }
    for (tt_i64 k = 0; k < a.k; k += DEEP) {
      TT_BARRIER();
      product_fetch(pa + k * a.a_col, a.a_row, a.a_col, a.m - i0, a.k - k, SIDE_M, left);
      product_fetch(pb + k * a.b_row, a.b_col, a.b_row, a.n - j0, a.k - k, SIDE_N, (TT_SHARED_AT A *)right);
      TT_BARRIER();
      TT_UNROLLED
      for (int u = 0; u < PIECES; u++) {
        const int piece = (int)TT_THREAD + u * THREADS;
        const int row = piece / (SIDE_N / COLUMNS) * DOWN, across = piece % (SIDE_N / COLUMNS) * ACROSS;
        product_piece(left + row, right + across, sum[u]);
      }
    }
    TT_UNROLLED
    for (int u = 0; u < PIECES; u++) {
      const int piece = (int)TT_THREAD + u * THREADS;
      const tt_i64 row = i0 + piece / (SIDE_N / COLUMNS) * DOWN, col = j0 + piece % (SIDE_N / COLUMNS) * COLUMNS;
      TT_UNROLLED
      for (int i = 0; i < DOWN; i++) {
        TT_UNROLLED
        for (int j = 0; j < COLUMNS; j++)
          if (row + i < a.m && col + j < a.n) c[(row + i) * a.n + col + j] = STORE(ONE(sum[u][i], j));
      }
    }
  }
}

#else /* PACK: T, and of the copy TO and STORE */

/* A dense copy of a view: element after element in the order of the copy. */
typedef struct pack_args {
  const TT_GLOBAL T *from;
  TT_GLOBAL TO *to;
  tt_i64 size;
  tt_i32 naxes, pad;
  tt_i64 len[AXES], step[AXES]; /* outermost first */
} pack_args;

TT_KERNEL(pack, pack_args, 256) {
  TT_UNPACK(pack_args);
  for (tt_i64 at = (tt_i64)TT_BLOCK * 256 + TT_THREAD; at < a.size; at += (tt_i64)TT_BLOCKS * 256) {
    tt_i64 rest = at, from = 0;
    for (int d = a.naxes - 1; d > 0; d--) {
      from += rest % a.len[d] * a.step[d];
      rest /= a.len[d];
    }
    T x = a.from[from + rest * a.step[0]];
    a.to[at] = STORE(x);
  }
}

#endif
