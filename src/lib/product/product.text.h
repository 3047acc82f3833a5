/*
** Matrix products of any type and any steps, for what no library has: integers, bools, and floats where there is no
** library. C is dense. Specialised by
**   T         element in memory      A   what is summed      LOAD(x)   T to A      STORE(x)   A to T
**   C         element of the result     SUM(x)    C to A, where the sums go on from what the result holds
**   ADD_MUL(s, x, y)   s with the product of x and y in it      ZERO   the empty sum, as an initial value
** A block of 256 threads makes a tile of 64 x 64, each thread 4 x 4 of it, 16 columns of A at a time.
*/
#define SIDE 64
#define DEEP 16
#define EACH 4
#define AXES 8

#ifndef PACK
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

/* One tile's left or right side for 16 steps of the sum: [deep][side], zero where the matrix ends. The thread order
** follows the operand's, so that neighbours read neighbours. */
TT_FN void product_fetch(const TT_GLOBAL T *p, tt_i64 side_step, tt_i64 deep_step, tt_i64 side, tt_i64 deep,
                         TT_SHARED_AT A *to) {
  int by_depth = deep_step == 1;
  for (int i = (int)TT_THREAD; i < SIDE * DEEP; i += 256) {
    int s = by_depth ? i / DEEP : i % SIDE, d = by_depth ? i % DEEP : i / SIDE;
    A x = zero_sum();
    if (s < side && d < deep) {
      T e = p[s * side_step + d * deep_step];
      x = LOAD(e);
    }
    to[d * (SIDE + 1) + s] = x;
  }
}

TT_KERNEL(product, product_args, 256) {
  TT_UNPACK(product_args);
  TT_SHARED A left[DEEP * (SIDE + 1)], right[DEEP * (SIDE + 1)];
  int row = (int)TT_THREAD / 16 * EACH, col = (int)TT_THREAD % 16 * EACH;
  for (tt_i64 tile = TT_BLOCK; tile < a.tiles; tile += TT_BLOCKS) {
    tt_i64 batch = tile / (a.tiles_m * a.tiles_n), at = tile % (a.tiles_m * a.tiles_n), rest = batch;
    tt_i64 i0 = at / a.tiles_n * SIDE, j0 = at % a.tiles_n * SIDE;
    const TT_GLOBAL T *pa = a.a + i0 * a.a_row, *pb = a.b + j0 * a.b_col;
    for (int d = a.naxes - 1; d >= 0; d--) {
      tt_i64 i = rest % a.len[d];
      rest /= a.len[d];
      pa += i * a.a_step[d];
      pb += i * a.b_step[d];
    }
    TT_GLOBAL C *c = a.c + batch * a.m * a.n;
    A sum[EACH][EACH];
    TT_UNROLLED
    for (int i = 0; i < EACH; i++) {
      TT_UNROLLED
      for (int j = 0; j < EACH; j++) {
        sum[i][j] = zero_sum();
        if (a.goes_on && i0 + row + i < a.m && j0 + col + j < a.n) {
          C before = c[(i0 + row + i) * a.n + j0 + col + j];
          sum[i][j] = SUM(before);
        }
      }
    }
    for (tt_i64 k = 0; k < a.k; k += DEEP) {
      TT_BARRIER();
      product_fetch(pa + k * a.a_col, a.a_row, a.a_col, a.m - i0, a.k - k, left);
      product_fetch(pb + k * a.b_row, a.b_col, a.b_row, a.n - j0, a.k - k, right);
      TT_BARRIER();
      TT_UNROLLED
      for (int d = 0; d < DEEP; d++) {
        A x[EACH], y[EACH];
        TT_UNROLLED
        for (int i = 0; i < EACH; i++) {
          x[i] = left[d * (SIDE + 1) + row + i];
          y[i] = right[d * (SIDE + 1) + col + i];
        }
        TT_UNROLLED
        for (int i = 0; i < EACH; i++) {
          TT_UNROLLED
          for (int j = 0; j < EACH; j++) ADD_MUL(sum[i][j], x[i], y[j]);
        }
      }
    }
    TT_UNROLLED
    for (int i = 0; i < EACH; i++) {
      TT_UNROLLED
      for (int j = 0; j < EACH; j++)
        if (i0 + row + i < a.m && j0 + col + j < a.n) c[(i0 + row + i) * a.n + j0 + col + j] = STORE(sum[i][j]);
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
