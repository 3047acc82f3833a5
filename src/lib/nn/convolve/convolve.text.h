/*
** Convolutions as products of tiles: outputs by places, summed over channels and taps. The matrix of windows is never
** stored; its elements are looked up where they lie. A thread makes 8 by 8 of a tile. Stands below
** convolve_above.text.h. Specialised by what that says, and
**   FMA(a, b, c)   a * b + c in S
*/
#define COLUMN_THREADS (TILE_N / 8)
#define M_STEP (TILE_M + 4)
#define N_STEP (TILE_N + 4)

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

#define EACH_M (TILE_M * SLAB / THREADS)
#define EACH_N (TILE_N * SLAB / THREADS)
#define M_OF(i) (W_BY_DEPTH ? (i) / SLAB : (i) % TILE_M)
#define K_OF_M(i) (W_BY_DEPTH ? (i) % SLAB : (i) / TILE_M)
#define N_OF(i) (X_BY_DEPTH ? (i) / SLAB : (i) % TILE_N)
#define K_OF_N(i) (X_BY_DEPTH ? (i) % SLAB : (i) / TILE_N)

/* A thread's share of a slab's factors. Rows of the tile that are no outputs have those of the last. */
TT_FN void fetch(const convolve_args *a, const TT_GLOBAL T *x, const TT_GLOBAL T *w, tt_i32 outputs,
                 const TT_SHARED_AT window *windows, const TT_SHARED_AT terms_of *terms, S *left, S *right) {
  TT_UNROLLED
  for (int e = 0; e < EACH_N; e++) {
    int i = (int)TT_THREAD + e * THREADS;
    const term t = terms->of[K_OF_N(i)];
    const window at = windows[N_OF(i)];
    right[e] = 0;
    if (is_seen(a, &at, &t)) {
      T v = x[at.x + t.x];
      right[e] = LOAD(v);
    }
  }
  TT_UNROLLED
  for (int e = 0; e < EACH_M; e++) {
    int i = (int)TT_THREAD + e * THREADS, m = M_OF(i), k = K_OF_M(i);
    T v = w[(m < outputs ? m : outputs - 1) * (INDEX)a->w_output + terms->w[k]];
    left[e] = LOAD(v);
    if (terms->of[k].at[AXES - 1] == OUTSIDE) left[e] = 0;
  }
}

TT_FN void put_factors(const S *left, const S *right, TT_SHARED_AT S *to_left, TT_SHARED_AT S *to_right) {
  TT_UNROLLED
  for (int e = 0; e < EACH_M; e++) {
    int i = (int)TT_THREAD + e * THREADS;
    to_left[K_OF_M(i) * M_STEP + M_OF(i)] = left[e];
  }
  TT_UNROLLED
  for (int e = 0; e < EACH_N; e++) {
    int i = (int)TT_THREAD + e * THREADS;
    to_right[K_OF_N(i) * N_STEP + N_OF(i)] = right[e];
  }
}

/* Where a thread's eight rows or columns of a tile begin: four of each half. */
TT_FN void multiply(const TT_SHARED_AT S *left, const TT_SHARED_AT S *right, S sum[8][8]) {
  TT_UNROLLED
  for (int d = 0; d < SLAB; d++) {
    four l[2], r[2];
    TT_UNROLLED
    for (int h = 0; h < 2; h++) {
      l[h] = *(const TT_SHARED_AT four *)(left + d * M_STEP + h * (TILE_M / 2));
      r[h] = *(const TT_SHARED_AT four *)(right + d * N_STEP + h * (TILE_N / 2));
    }
    TT_UNROLLED
    for (int i = 0; i < 8; i++) {
      TT_UNROLLED
      for (int j = 0; j < 8; j++) sum[i][j] = FMA(l[i / 4].x[i % 4], r[j / 4].x[j % 4], sum[i][j]);
    }
  }
}

/* Four results of an output, side by side if they lie so. */
TT_FN void store_four(TT_GLOBAL T *y, const INDEX *at, int n, const S *sum, S bias) {
  four_stored v;
  TT_UNROLLED
  for (int j = 0; j < 4; j++) v.x[j] = STORE(sum[j] + bias);
  if (n >= 4 && at[3] - at[0] == 3 && at[2] - at[0] == 2 && at[1] - at[0] == 1 &&
      (tt_u64)(y + at[0]) % sizeof(four_stored) % 16 == 0) {
    *(TT_GLOBAL four_stored *)(y + at[0]) = v;
    return;
  }
  TT_UNROLLED
  for (int j = 0; j < 4; j++)
    if (j < n) y[at[j]] = v.x[j];
}

TT_FN void give(const convolve_args *a, const share *of, int row, int column, S sum[8][8]) {
  TT_UNROLLED
  for (int h = 0; h < 2; h++) {
    INDEX n = of->n + column + h * (TILE_N / 2), at[4];
    const INDEX left = (INDEX)a->places - n;
    for (int j = 0; j < 4; j++) at[j] = a->terms ? n + j : stored_at(a, j < left ? n + j : n);
    TT_UNROLLED
    for (int i = 0; i < 8; i++) {
      const tt_i32 m = of->m + row + i / 4 * (TILE_M / 2) + i % 4;
      if (m >= a->outputs || left <= 0) continue;
      if (a->terms) {
        TT_GLOBAL S *to = terms_at(a, of, m);
        for (int j = 0; j < 4; j++)
          if (j < left) to[at[j]] = sum[i][h * 4 + j];
      } else {
        store_four(a->y + of->group * a->y_group + m * a->y_output, at, left < 4 ? (int)left : 4, sum[i] + h * 4,
                   bias_of(a, of->group, m));
      }
    }
  }
}

TT_KERNEL_OF_MANY(convolve, convolve_args, THREADS, RESIDENT) {
  TT_SHARED TT_ALIGNED(16) S left[2][SLAB * M_STEP];
  TT_SHARED TT_ALIGNED(16) S right[2][SLAB * N_STEP];
  TT_SHARED window windows[TILE_N];
  TT_SHARED terms_of terms[2];
  const share of = share_of_block(&a);
  const TT_GLOBAL T *x = a.x + of.group * a.x_group, *w = a.w + of.group * a.w_group + of.m * a.w_output;
  const int row = (int)TT_THREAD / COLUMN_THREADS * 4, column = (int)TT_THREAD % COLUMN_THREADS * 4;
  S sum[8][8], my_left[EACH_M], my_right[EACH_N];
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int j = 0; j < 8; j++) sum[i][j] = 0;
  }
  walker walk = begin(&a, &of, windows, terms);
  fetch(&a, x, w, a.outputs - of.m, windows, &terms[0], my_left, my_right);
  put_factors(my_left, my_right, left[0], right[0]);
  TT_BARRIER();
  int now = 0;
  TT_ROLLED
  for (INDEX k = of.first; k < of.end; k += SLAB, now ^= 1) {
    const int more = k + SLAB < of.end;
    if (more) fetch(&a, x, w, a.outputs - of.m, windows, &terms[now ^ 1], my_left, my_right);
    multiply(left[now] + row, right[now] + column, sum);
    if (more) put_factors(my_left, my_right, left[now ^ 1], right[now ^ 1]);
    go_on(&a, &walk, &terms[now]);
    TT_BARRIER();
  }
  give(&a, &of, row, column, sum);
}
