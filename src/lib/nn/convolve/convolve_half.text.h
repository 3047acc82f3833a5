/*
** Convolutions of 16-bit floats as products of tiles, by the units that multiply matrices of them, with sums in
** float32. Eight warps share a tile, two along the outputs and four along the places. Stands below
** convolve_above.text.h. Specialised by what that says, and
**   MULTIPLY, PAIR   of T, as the dialect has them
*/
#define STEP (SLAB + 8) /* between rows of a factor: eight of them begin at different banks */
#define RUNS (SLAB / 8) /* eight terms of a row that a thread brings together */
#define WARP_M (TILE_M / 2)
#define WARP_N (TILE_N / 4)
#define TILES_M (WARP_M / 16)
#define TILES_N (WARP_N / 8)
#define EACH_M ((TILE_M * RUNS + THREADS - 1) / THREADS)
#define EACH_N (TILE_N * RUNS / THREADS)
#define M_OF(i) (W_BY_DEPTH ? (i) / RUNS : (i) % TILE_M)
#define RUN_OF_M(i) (W_BY_DEPTH ? (i) % RUNS : (i) / TILE_M)
#define N_OF(i) (X_BY_DEPTH ? (i) / RUNS : (i) % TILE_N)
#define RUN_OF_N(i) (X_BY_DEPTH ? (i) % RUNS : (i) / TILE_N)

typedef struct TT_ALIGNED(16) run {
  tt_u32 pair[4];
} run;

TT_FN run run_of(const T *x) {
  run r;
  TT_UNROLLED
  for (int i = 0; i < 4; i++) r.pair[i] = x[2 * i] | (tt_u32)x[2 * i + 1] << 16;
  return r;
}

/* A thread's share of a slab's factors. Rows of the tile that are no outputs have those of the last. */
TT_FN void fetch(const convolve_args *a, const TT_GLOBAL T *x, const TT_GLOBAL T *w, tt_i32 outputs,
                 const TT_SHARED_AT window *windows, const TT_SHARED_AT terms_of *terms, run *left, run *right) {
  TT_UNROLLED
  for (int e = 0; e < EACH_N; e++) {
    const int i = (int)TT_THREAD + e * THREADS, k = RUN_OF_N(i) * 8;
    const window at = windows[N_OF(i)];
    T v[8];
    TT_UNROLLED
    for (int j = 0; j < 8; j++) {
      const term t = terms->of[k + j];
      v[j] = 0;
      if (is_seen(a, &at, &t)) v[j] = x[at.x + t.x];
    }
    right[e] = run_of(v);
  }
  TT_UNROLLED
  for (int e = 0; e < EACH_M; e++) {
    const int i = (int)TT_THREAD + e * THREADS, m = M_OF(i), k = RUN_OF_M(i) * 8;
    if (i >= TILE_M * RUNS) continue;
    const TT_GLOBAL T *from = w + (m < outputs ? m : outputs - 1) * (INDEX)a->w_output;
    T v[8];
    TT_UNROLLED
    for (int j = 0; j < 8; j++) {
      v[j] = from[terms->w[k + j]];
      if (terms->of[k + j].at[AXES - 1] == OUTSIDE) v[j] = 0;
    }
    left[e] = run_of(v);
  }
}

TT_FN void put_factors(const run *left, const run *right, TT_SHARED_AT T *to_left, TT_SHARED_AT T *to_right) {
  TT_UNROLLED
  for (int e = 0; e < EACH_M; e++) {
    const int i = (int)TT_THREAD + e * THREADS;
    if (i < TILE_M * RUNS) *(TT_SHARED_AT run *)(to_left + M_OF(i) * STEP + RUN_OF_M(i) * 8) = left[e];
  }
  TT_UNROLLED
  for (int e = 0; e < EACH_N; e++) {
    const int i = (int)TT_THREAD + e * THREADS;
    *(TT_SHARED_AT run *)(to_right + N_OF(i) * STEP + RUN_OF_N(i) * 8) = right[e];
  }
}

/* A warp's part of the tile. */
TT_FN void multiply(const TT_SHARED_AT T *left, const TT_SHARED_AT T *right, tt_f32 sum[TILES_M][TILES_N][4]) {
  const TT_SHARED_AT T *l = left + (LANE % 16) * STEP + LANE / 16 * 8;
  const TT_SHARED_AT T *r = right + (LANE % 8 + LANE / 16 * 8) * STEP + LANE / 8 % 2 * 8;
  TT_UNROLLED
  for (int k = 0; k < SLAB; k += 16) {
    tt_u32 a[TILES_M][4], b[TILES_N / 2][4];
    TT_UNROLLED
    for (int i = 0; i < TILES_M; i++) TT_MATRICES(a[i], l + i * 16 * STEP + k);
    TT_UNROLLED
    for (int j = 0; j < TILES_N / 2; j++) TT_MATRICES(b[j], r + j * 16 * STEP + k);
    TT_UNROLLED
    for (int i = 0; i < TILES_M; i++) {
      TT_UNROLLED
      for (int j = 0; j < TILES_N; j++) MULTIPLY(sum[i][j], a[i], b[j / 2] + j % 2 * 2);
    }
  }
}

/* Two results of an output, as one word if they lie so. */
TT_FN void store_two(TT_GLOBAL T *y, const INDEX *at, int n, const tt_f32 *sum, tt_f32 bias) {
  if (n >= 2 && at[1] - at[0] == 1 && (tt_u64)(y + at[0]) % 4 == 0) {
    *(TT_GLOBAL tt_u32 *)(y + at[0]) = PAIR(sum[0] + bias, sum[1] + bias);
    return;
  }
  y[at[0]] = STORE(sum[0] + bias);
  if (n >= 2) y[at[1]] = STORE(sum[1] + bias);
}

TT_FN void give(const convolve_args *a, const share *of, int row, int column, tt_f32 sum[TILES_M][TILES_N][4]) {
  TT_UNROLLED
  for (int j = 0; j < TILES_N; j++) {
    const INDEX n = of->n + column + j * 8, left = (INDEX)a->places - n;
    if (left <= 0) continue;
    const INDEX at[2] = {a->terms ? n : stored_at(a, n), a->terms ? n + 1 : stored_at(a, left > 1 ? n + 1 : n)};
    TT_UNROLLED
    for (int i = 0; i < TILES_M * 2; i++) {
      const tt_i32 m = of->m + row + i * 8;
      const tt_f32 *two = sum[i / 2][j] + i % 2 * 2;
      if (m >= a->outputs) continue;
      if (a->terms) {
        TT_GLOBAL S *to = terms_at(a, of, m);
        to[at[0]] = two[0];
        if (left > 1) to[at[1]] = two[1];
      } else {
        store_two(a->y + of->group * a->y_group + m * a->y_output, at, left > 1 ? 2 : 1, two, bias_of(a, of->group, m));
      }
    }
  }
}

TT_KERNEL_OF_MANY(convolve, convolve_args, THREADS, RESIDENT) {
  TT_SHARED TT_ALIGNED(16) T left[2][TILE_M * STEP];
  TT_SHARED TT_ALIGNED(16) T right[2][TILE_N * STEP];
  TT_SHARED window windows[TILE_N];
  TT_SHARED terms_of terms[2];
  const share of = share_of_block(&a);
  const TT_GLOBAL T *x = a.x + of.group * a.x_group, *w = a.w + of.group * a.w_group + of.m * a.w_output;
  const int row = (int)WARP_NUMBER / 4 * WARP_M, column = (int)WARP_NUMBER % 4 * WARP_N;
  tt_f32 sum[TILES_M][TILES_N][4];
  run my_left[EACH_M], my_right[EACH_N];
  TT_UNROLLED
  for (int i = 0; i < TILES_M * TILES_N * 4; i++) sum[i / 4 / TILES_N][i / 4 % TILES_N][i % 4] = 0;
  walker walk = begin(&a, &of, windows, terms);
  fetch(&a, x, w, a.outputs - of.m, windows, &terms[0], my_left, my_right);
  put_factors(my_left, my_right, left[0], right[0]);
  TT_BARRIER();
  int now = 0;
  TT_ROLLED
  for (INDEX k = of.first; k < of.end; k += SLAB, now ^= 1) {
    const int more = k + SLAB < of.end;
    if (more) fetch(&a, x, w, a.outputs - of.m, windows, &terms[now ^ 1], my_left, my_right);
    multiply(left[now] + row * STEP, right[now] + column * STEP, sum);
    if (more) put_factors(my_left, my_right, left[now ^ 1], right[now ^ 1]);
    go_on(&a, &walk, &terms[now]);
    TT_BARRIER();
  }
  give(&a, &of, row + (int)LANE / 4, column + (int)LANE % 4 * 2, sum);
}
