/*
** Convolutions as products of tiles: outputs by places, summed over channels and taps. The matrix of windows is never
** stored; its elements are looked up where they lie. Specialised by
**   T, SIZE     an element in memory      S   what is summed     LOAD(x), STORE(x)   one to the other
**   FMA(a, b, c)   a * b + c in S         INDEX   an integer that counts all elements and steps over them
**   TILE_M, TILE_N, SLAB   a tile, and of how many terms the factors lie in shared memory at a time
**   RESIDENT               tiles that a unit has registers for
**   CHECK_0, CHECK_1       along these axes, too, windows may reach outside
**   W_BY_DEPTH, X_BY_DEPTH   neighbours among the terms lie beside each other, else neighbours of the tile
** A thread makes 8 x 8 of a tile.
*/
#define AXES 3
#define THREADS (TILE_M * TILE_N / 64)
#define COLUMN_THREADS (TILE_N / 8)
#define M_STEP (TILE_M + 4)
#define N_STEP (TILE_N + 4)
#define OUTSIDE (-(1 << 30)) /* a coordinate that is outside whatever is added */

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

typedef struct convolve_args {
  const TT_GLOBAL T *x, *w, *bias;
  TT_GLOBAL T *y;
  TT_GLOBAL S *terms; /* where the sum is cut: of each part, group, output and place; or NULL */
  tt_i64 x_image, x_group, x_channel, x_at[AXES];
  tt_i64 w_group, w_output, w_channel, w_at[AXES];
  tt_i64 bias_group, bias_output;
  tt_i64 y_image, y_group, y_output, y_at[AXES];
  tt_i64 places, depth, part; /* of all images; terms of a sum, and of a part of it */
  tt_i64 tiles_n;
  tt_i32 tiles_m, groups, parts, outputs;
  tt_i32 in[AXES], kernel[AXES], out[AXES], stride[AXES], dilation[AXES], pad[AXES];
  tt_i32 slab_at[AXES + 1]; /* how SLAB counts in taps, then channels */
  tt_i32 unused;
} convolve_args;

/* A place's digits: image, then a coordinate for each axis. */
TT_FN void digits_of(INDEX n, const tt_i32 *out, INDEX *digit) {
  TT_UNROLLED
  for (int d = AXES - 1; d >= 0; d--) {
    digit[d + 1] = n % out[d];
    n /= out[d];
  }
  digit[0] = n;
}

TT_FN INDEX stored_at(const convolve_args *a, INDEX n) {
  INDEX digit[AXES + 1];
  digits_of(n, a->out, digit);
  INDEX at = digit[0] * (INDEX)a->y_image;
  TT_UNROLLED
  for (int d = 0; d < AXES; d++) at += digit[d + 1] * (INDEX)a->y_at[d];
  return at;
}

/* Where a term of the sums lies in x, from where a window begins, and the coordinates that its tap adds. */
typedef struct TT_ALIGNED(16) term {
  INDEX x;
  tt_i32 at[AXES];
} term;

/* Where the window of a place begins. */
typedef struct TT_ALIGNED(16) window {
  INDEX x;
  tt_i32 at[AXES];
} window;

/* The terms that a slab has, a thread each. */
typedef struct terms_of {
  term of[SLAB];
  INDEX w[SLAB];
} terms_of;

typedef struct walker {
  INDEX left; /* terms from this on */
  tt_i32 channel, tap[AXES];
} walker;

TT_FN walker walk_from(const convolve_args *a, INDEX k, INDEX end) {
  walker w;
  w.left = end - k;
  TT_UNROLLED
  for (int d = AXES - 1; d >= 0; d--) {
    w.tap[d] = (tt_i32)(k % a->kernel[d]);
    k /= a->kernel[d];
  }
  w.channel = (tt_i32)k;
  return w;
}

TT_FN void walk_on(const convolve_args *a, walker *w) {
  tt_i32 carry = 0;
  w->left -= SLAB;
  TT_UNROLLED
  for (int d = AXES - 1; d >= 0; d--) {
    w->tap[d] += a->slab_at[d] + carry;
    carry = w->tap[d] >= a->kernel[d];
    w->tap[d] -= carry ? a->kernel[d] : 0;
  }
  w->channel += a->slab_at[AXES] + carry;
}

TT_FN void tell_term(const convolve_args *a, const walker *w, TT_SHARED_AT terms_of *to) {
  INDEX x = w->channel * (INDEX)a->x_channel, f = w->channel * (INDEX)a->w_channel;
  term t;
  TT_UNROLLED
  for (int d = 0; d < AXES; d++) {
    t.at[d] = w->tap[d] * a->dilation[d];
    x += t.at[d] * (INDEX)a->x_at[d];
    f += w->tap[d] * (INDEX)a->w_at[d];
  }
  t.x = x;
  if (w->left <= 0) {
    t.at[AXES - 1] = OUTSIDE;
    f = 0;
  }
  to->of[TT_THREAD] = t;
  to->w[TT_THREAD] = f;
}

TT_FN void tell_windows(const convolve_args *a, INDEX first, TT_SHARED_AT window *to) {
  for (int i = (int)TT_THREAD; i < TILE_N; i += THREADS) {
    INDEX digit[AXES + 1];
    digits_of(first + i, a->out, digit);
    window w;
    w.x = digit[0] * (INDEX)a->x_image;
    TT_UNROLLED
    for (int d = 0; d < AXES; d++) {
      w.at[d] = (tt_i32)digit[d + 1] * a->stride[d] - a->pad[d];
      w.x += w.at[d] * (INDEX)a->x_at[d];
    }
    if (first + i >= a->places) w.at[AXES - 1] = OUTSIDE;
    to[i] = w;
  }
}

#define EACH_M (TILE_M * SLAB / THREADS)
#define EACH_N (TILE_N * SLAB / THREADS)
#define M_OF(i) (W_BY_DEPTH ? (i) / SLAB : (i) % TILE_M)
#define K_OF_M(i) (W_BY_DEPTH ? (i) % SLAB : (i) / TILE_M)
#define N_OF(i) (X_BY_DEPTH ? (i) / SLAB : (i) % TILE_N)
#define K_OF_N(i) (X_BY_DEPTH ? (i) % SLAB : (i) / TILE_N)

TT_FN int is_inside(const convolve_args *a, int d, tt_i32 at) { return (tt_u32)at < (tt_u32)a->in[d]; }

/* A thread's share of a slab's factors. Rows of the tile that are no outputs have those of the last. */
TT_FN void fetch(const convolve_args *a, const TT_GLOBAL T *x, const TT_GLOBAL T *w, tt_i32 outputs,
                 const TT_SHARED_AT window *windows, const TT_SHARED_AT terms_of *terms, S *left, S *right) {
  TT_UNROLLED
  for (int e = 0; e < EACH_N; e++) {
    int i = (int)TT_THREAD + e * THREADS;
    const term t = terms->of[K_OF_N(i)];
    const window at = windows[N_OF(i)];
    int inside = is_inside(a, 2, at.at[2] + t.at[2]);
    if (CHECK_0) inside &= is_inside(a, 0, at.at[0] + t.at[0]);
    if (CHECK_1) inside &= is_inside(a, 1, at.at[1] + t.at[1]);
    right[e] = 0;
    if (inside) {
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

TT_FN void give(const convolve_args *a, tt_i32 group, tt_i32 part, tt_i32 m0, INDEX n0, S sum[8][8]) {
  TT_UNROLLED
  for (int h = 0; h < 2; h++) {
    INDEX n = n0 + h * (TILE_N / 2), at[4];
    const INDEX left = (INDEX)a->places - n;
    for (int j = 0; j < 4; j++) at[j] = a->terms ? n + j : stored_at(a, j < left ? n + j : n);
    TT_UNROLLED
    for (int i = 0; i < 8; i++) {
      const tt_i32 m = m0 + i / 4 * (TILE_M / 2) + i % 4;
      if (m >= a->outputs || left <= 0) continue;
      if (a->terms) {
        TT_GLOBAL S *to = a->terms + (((tt_i64)part * a->groups + group) * a->outputs + m) * a->places;
        for (int j = 0; j < 4; j++)
          if (j < left) to[at[j]] = sum[i][h * 4 + j];
        continue;
      }
      S bias = 0;
      if (a->bias) {
        T b = a->bias[group * a->bias_group + m * a->bias_output];
        bias = LOAD(b);
      }
      store_four(a->y + group * a->y_group + m * a->y_output, at, left < 4 ? (int)left : 4, sum[i] + h * 4, bias);
    }
  }
}

TT_KERNEL_OF_MANY(convolve, convolve_args, THREADS, RESIDENT) {
  TT_SHARED TT_ALIGNED(16) S left[2][SLAB * M_STEP];
  TT_SHARED TT_ALIGNED(16) S right[2][SLAB * N_STEP];
  TT_SHARED window windows[TILE_N];
  TT_SHARED terms_of terms[2];
  const tt_i32 m0 = (tt_i32)(TT_BLOCK % (tt_u32)a.tiles_m) * TILE_M;
  const tt_u32 above = TT_BLOCK / (tt_u32)a.tiles_m, rest = above / (tt_u32)a.tiles_n;
  const INDEX n0 = (INDEX)(above % (tt_u32)a.tiles_n) * TILE_N;
  const tt_i32 group = (tt_i32)(rest % (tt_u32)a.groups), part = (tt_i32)(rest / (tt_u32)a.groups);
  const INDEX first = (INDEX)(part * a.part), most = (INDEX)(first + a.part);
  const INDEX end = most < (INDEX)a.depth ? most : (INDEX)a.depth;
  const TT_GLOBAL T *x = a.x + group * a.x_group, *w = a.w + group * a.w_group + m0 * a.w_output;
  const int row = (int)TT_THREAD / COLUMN_THREADS * 4, column = (int)TT_THREAD % COLUMN_THREADS * 4;
  S sum[8][8], my_left[EACH_M], my_right[EACH_N];
  TT_UNROLLED
  for (int i = 0; i < 8; i++) {
    TT_UNROLLED
    for (int j = 0; j < 8; j++) sum[i][j] = 0;
  }
  walker walk = walk_from(&a, first + (INDEX)TT_THREAD, end);
  tell_windows(&a, n0, windows);
  for (int ahead = 0; ahead < 2; ahead++)
    if (TT_THREAD < SLAB) {
      tell_term(&a, &walk, &terms[ahead]);
      walk_on(&a, &walk);
    }
  TT_BARRIER();
  fetch(&a, x, w, a.outputs - m0, windows, &terms[0], my_left, my_right);
  put_factors(my_left, my_right, left[0], right[0]);
  TT_BARRIER();
  int now = 0;
  TT_ROLLED
  for (INDEX k = first; k < end; k += SLAB, now ^= 1) {
    const int more = k + SLAB < end;
    if (more) fetch(&a, x, w, a.outputs - m0, windows, &terms[now ^ 1], my_left, my_right);
    multiply(left[now] + row, right[now] + column, sum);
    if (more) put_factors(my_left, my_right, left[now ^ 1], right[now ^ 1]);
    if (TT_THREAD < SLAB) {
      tell_term(&a, &walk, &terms[now]);
      walk_on(&a, &walk);
    }
    TT_BARRIER();
  }
  give(&a, group, part, m0 + row, n0 + column, sum);
}

/* The parts of each sum, in their order. */
TT_KERNEL(convolve_end, convolve_args, 256) {
  const tt_i64 all = (tt_i64)a.groups * a.outputs * a.places;
  for (tt_i64 i = (tt_i64)TT_BLOCK * 256 + TT_THREAD; i < all; i += (tt_i64)TT_BLOCKS * 256) {
    const tt_i64 n = i % a.places, m = i / a.places % a.outputs, group = i / a.places / a.outputs;
    S sum = 0;
    for (tt_i32 p = 0; p < a.parts; p++) sum += a.terms[p * all + i];
    if (a.bias) {
      T b = a.bias[group * a.bias_group + m * a.bias_output];
      sum += LOAD(b);
    }
    a.y[group * a.y_group + m * a.y_output + stored_at(&a, (INDEX)n)] = STORE(sum);
  }
}
