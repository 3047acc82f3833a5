/*
** What linear algebra needs around a vendor's factorizations: matrices moved between rows and columns, cut to a
** triangle, checked; determinants from LU factors; least squares from singular values. Specialised by
**   T   f32, f64, c64 or c128    R   its real type    COMPLEX   0 or 1
*/
#if COMPLEX
TT_FN T make(tt_f64 re, tt_f64 im) {
  T x;
  x.re = (R)re;
  x.im = (R)im;
  return x;
}
TT_FN T conjugate(T x) {
  x.im = -x.im;
  return x;
}
#define RE(x) ((x).re)
#define IM(x) ((x).im)
#else
TT_FN T make(tt_f64 re, tt_f64 im) {
  (void)im;
  return (T)re;
}
TT_FN T conjugate(T x) { return x; }
#define RE(x) (x)
#define IM(x) ((R)0)
#endif

enum { ALL, UPPER, LOWER };

/*
** to[i, j] = from[i, j] for a batch of matrices with steps of their own; conjugated on demand; elements beside the
** triangle `part` become 0. `from` NULL: the identity. A block moves tiles of 32 x 32, each side in the order it lies.
*/
typedef struct move_args {
  const TT_GLOBAL T *from;
  TT_GLOBAL T *to;
  tt_i64 rows, cols, batch;
  tt_i64 from_row, from_col, from_step, to_row, to_col, to_step;
  tt_i32 part, conjugated;
} move_args;

TT_KERNEL(move, move_args, 256) {
  TT_SHARED T tile[32 * 33];
  tt_i64 down = (a.rows + 31) / 32, across = (a.cols + 31) / 32, tiles = down * across * a.batch;
  for (tt_i64 at = TT_BLOCK; at < tiles; at += TT_BLOCKS) {
    tt_i64 m = at / (down * across), i0 = at / across % down * 32, j0 = at % across * 32;
    TT_BARRIER();
    for (int e = (int)TT_THREAD; e < 1024; e += 256) {
      int r = a.from_col == 1 ? e / 32 : e % 32, c = a.from_col == 1 ? e % 32 : e / 32;
      tt_i64 i = i0 + r, j = j0 + c;
      if (i >= a.rows || j >= a.cols) continue;
      T x = make(i == j, 0);
      if (a.from) x = a.from[m * a.from_step + i * a.from_row + j * a.from_col];
      if (a.conjugated) x = conjugate(x);
      if ((a.part == UPPER && i > j) || (a.part == LOWER && i < j)) x = make(0, 0);
      tile[r * 33 + c] = x;
    }
    TT_BARRIER();
    for (int e = (int)TT_THREAD; e < 1024; e += 256) {
      int r = a.to_col == 1 ? e / 32 : e % 32, c = a.to_col == 1 ? e % 32 : e / 32;
      tt_i64 i = i0 + r, j = j0 + c;
      if (i < a.rows && j < a.cols) a.to[m * a.to_step + i * a.to_row + j * a.to_col] = tile[r * 33 + c];
    }
  }
}

/*
** Eigenvectors of real matrices, complex, by columns: those of a pair are the two columns that LAPACK packs, as real
** and imaginary part, and their conjugate. `packed` is of the real type.
*/
typedef struct unpack_args {
  const TT_GLOBAL R *packed;
  const TT_GLOBAL T *w;
  TT_GLOBAL T *to;
  tt_i64 n, batch;
} unpack_args;

TT_KERNEL(unpack, unpack_args, 256) {
  for (tt_i64 at = (tt_i64)TT_BLOCK * 256 + TT_THREAD; at < a.batch * a.n * a.n; at += (tt_i64)TT_BLOCKS * 256) {
    tt_i64 j = at / a.n % a.n;
    R im = IM(a.w[at / a.n]);
    if (im > 0 && j + 1 < a.n)
      a.to[at] = make(a.packed[at], a.packed[at + a.n]);
    else if (im < 0 && j > 0)
      a.to[at] = make(a.packed[at - a.n], -a.packed[at]);
    else
      a.to[at] = make(a.packed[at], 0);
  }
}

/* Addresses of the matrices of a batch. */
typedef struct address_args {
  TT_GLOBAL T *base;
  TT_GLOBAL T *TT_GLOBAL *to;
  tt_i64 step, batch;
} address_args;

TT_KERNEL(addresses, address_args, 256) {
  tt_i64 at = (tt_i64)TT_BLOCK * 256 + TT_THREAD;
  if (at < a.batch) a.to[at] = a.base + at * a.step;
}

/* *found becomes 1 when an element of a triangle of one of the matrices [n, n] (or any of `n` rows of `cols`) is not
 * finite. */
typedef struct finite_args {
  const TT_GLOBAL T *from;
  TT_GLOBAL tt_u32 *found;
  tt_i64 rows, cols, size; /* size: of all matrices */
  tt_i32 part, pad;
} finite_args;

TT_KERNEL(finite, finite_args, 256) {
  for (tt_i64 at = (tt_i64)TT_BLOCK * 256 + TT_THREAD; at < a.size; at += (tt_i64)TT_BLOCKS * 256) {
    tt_i64 i = at / a.cols % a.rows, j = at % a.cols;
    if ((a.part == UPPER && i > j) || (a.part == LOWER && i < j)) continue;
    T x = a.from[at];
    R d = (RE(x) - RE(x)) + (IM(x) - IM(x)); /* 0, or NaN */
    if (!(d == 0)) TT_ATOMIC_OR(a.found, 1u);
  }
}

/* Matrices whose factorization failed (info > 0) become NaN: [batch][size]. */
typedef struct spoil_args {
  TT_GLOBAL T *to;
  const TT_GLOBAL tt_i32 *info;
  tt_i64 size, batch;
} spoil_args;

TT_KERNEL(spoil, spoil_args, 256) {
  for (tt_i64 m = TT_BLOCK; m < a.batch; m += TT_BLOCKS) {
    if (a.info[m] <= 0) continue;
    for (tt_i64 i = TT_THREAD; i < a.size; i += 256)
      a.to[m * a.size + i] = make(TT__NAN_f64, COMPLEX ? TT__NAN_f64 : 0);
  }
}

/* A pivot's share of a determinant: a number of size 1 (0 for 0) and the logarithm of the size. */
typedef struct share {
  tt_f64 re, im, log;
} share;

TT_FN share share_of(T d) {
  share s;
  tt_f64 x = RE(d), y = IM(d), size, big = x < 0 ? -x : x, small = y < 0 ? -y : y;
  if (small > big) size = big, big = small, small = size;
  size = COMPLEX && big > 0 && big < TT__INF_f64 ? big * tt_sqrt_f64(1 + small / big * (small / big)) : big + small;
  s.log = tt_log_f64(size);
  s.re = size == 0 ? 0 : COMPLEX ? x / size : x < 0 ? -1 : 1; /* infinity and NaN have a sign too */
  s.im = COMPLEX && size != 0 ? y / size : 0;
  return s;
}

/* Shares of two sets of pivots as one. */
TT_FN share joined(share a, share b) {
  share s;
  s.re = a.re * b.re - a.im * b.im;
  s.im = a.re * b.im + a.im * b.re;
  s.log = a.log + b.log;
  return s;
}

TT_FN void put_determinant(share s, int whole, TT_GLOBAL T *sign, TT_GLOBAL R *logabs) {
  if (s.re == 0 && s.im == 0) s.log = -TT__INF_f64;
  tt_f64 size = tt_exp_f64(s.log);
  *sign = whole ? make(s.re * size, s.im * size) : make(s.re, s.im);
  if (!whole) *logabs = (R)s.log;
}

/* Sign and logarithm of the determinant of each LU factorization [n, n]; or, `whole`, the determinant itself. */
typedef struct determinant_args {
  const TT_GLOBAL T *lu;
  const TT_GLOBAL tt_i64 *pivot64; /* row i was swapped with row pivot - 1; one of the two is not NULL */
  const TT_GLOBAL tt_i32 *pivot32;
  TT_GLOBAL T *sign;
  TT_GLOBAL R *logabs;
  tt_i64 n, batch;
  tt_i32 whole, pad;
} determinant_args;

TT_KERNEL(determinant, determinant_args, 256) {
  TT_SHARED share part[256];
  for (tt_i64 m = TT_BLOCK; m < a.batch; m += TT_BLOCKS) {
    share all;
    all.re = 1;
    all.im = all.log = 0;
    for (tt_i64 i = TT_THREAD; i < a.n; i += 256) {
      share s = share_of(a.lu[m * a.n * a.n + i * (a.n + 1)]);
      tt_i64 swap = a.pivot64 ? a.pivot64[m * a.n + i] : (tt_i64)a.pivot32[m * a.n + i];
      if (swap != i + 1) s.re = -s.re, s.im = -s.im;
      all = joined(all, s);
    }
    TT_BARRIER();
    part[TT_THREAD] = all;
    TT_BARRIER();
    if (TT_THREAD != 0) continue;
    for (int i = 1; i < 256; i++) all = joined(all, part[i]);
    put_determinant(all, a.whole, a.sign + m, a.whole ? 0 : a.logabs + m);
  }
}

/*
** Systems of at most 32 unknowns and right-hand sides, a warp each: LU with LAPACK's pivots on rows in the block's
** memory, the right-hand sides beside them. x NULL: determinants alone.
*/
#define SMALL_WARPS (SIZE == 4 ? 4 : SIZE == 8 ? 2 : 1)

TT_FN T times(T x, T y) { return make(RE(x) * RE(y) - IM(x) * IM(y), RE(x) * IM(y) + IM(x) * RE(y)); }
TT_FN T minus(T x, T y) { return make(RE(x) - RE(y), IM(x) - IM(y)); }
TT_FN R length(R x) { return x < 0 ? -x : x; }
TT_FN T quotient(T x, T y) {
#if COMPLEX
  R r, d;
  if (length(y.re) >= length(y.im)) {
    r = y.im / y.re;
    d = y.re + y.im * r;
    return make((x.re + x.im * r) / d, (x.im - x.re * r) / d);
  }
  r = y.re / y.im;
  d = y.im + y.re * r;
  return make((x.re * r + x.im) / d, (x.im * r - x.re) / d);
#else
  return x / y;
#endif
}

typedef struct small_args {
  const TT_GLOBAL T *a, *b; /* by rows [n, n] and [n, k]; b NULL: the identity */
  TT_GLOBAL T *x;           /* [n, k] by rows; NaN where there is none */
  TT_GLOBAL T *sign;
  TT_GLOBAL R *logabs;
  TT_GLOBAL tt_i32 *info; /* number of the first pivot that is 0, counted from 1; else 0 */
  tt_i64 batch;
  tt_i32 n, k, whole, pad;
} small_args;

TT_KERNEL(small, small_args, 128) {
  TT_SHARED T left[SMALL_WARPS][32 * 33], right[SMALL_WARPS][32 * 33];
  TT_SHARED share part[SMALL_WARPS][32];
  TT_SHARED R size[SMALL_WARPS][32];
  int warp = (int)WARP_NUMBER, lane = (int)LANE, n = a.n, k = a.k, info = 0, odd = 0;
  tt_i64 m = (tt_i64)TT_BLOCK * SMALL_WARPS + warp;
  if (m >= a.batch) return; /* whole warps, and nothing here waits for the block */
#define A(i, j) left[warp][(i)*33 + (j)]
#define B(i, j) right[warp][(i)*33 + (j)]
  for (int e = lane; e < n * n; e += 32) A(e / n, e % n) = a.a[m * n * n + e];
  for (int e = lane; e < n * k; e += 32) B(e / k, e % k) = a.b ? a.b[m * n * k + e] : make(e / k == e % k, 0);
  TT_WARP_SYNC();
  for (int p = 0; p < n; p++) {
    int best = p;
    if (lane < n) size[warp][lane] = length(RE(A(lane, p))) + length(IM(A(lane, p)));
    TT_WARP_SYNC();
    R top = size[warp][p];
    for (int i = p + 1; i < n; i++)
      if (size[warp][i] > top) best = i, top = size[warp][i];
    if (top == 0 && !info) info = p + 1;
    if (best != p) {
      odd ^= 1;
      if (lane < n) {
        T t = A(p, lane);
        A(p, lane) = A(best, lane);
        A(best, lane) = t;
      }
      if (lane < k) {
        T t = B(p, lane);
        B(p, lane) = B(best, lane);
        B(best, lane) = t;
      }
    }
    TT_WARP_SYNC();
    if (lane > p && lane < n && top != 0) {
      T f = quotient(A(lane, p), A(p, p));
      for (int j = p + 1; j < n; j++) A(lane, j) = minus(A(lane, j), times(f, A(p, j)));
      for (int j = 0; j < k; j++) B(lane, j) = minus(B(lane, j), times(f, B(p, j)));
    }
    TT_WARP_SYNC();
  }
  if (lane == 0) a.info[m] = info;
  if (a.x) {
    for (int p = n - 1; p >= 0 && !info; p--) {
      if (lane < k) B(p, lane) = quotient(B(p, lane), A(p, p));
      TT_WARP_SYNC();
      if (lane < p)
        for (int j = 0; j < k; j++) B(lane, j) = minus(B(lane, j), times(A(lane, p), B(p, j)));
      TT_WARP_SYNC();
    }
    for (int e = lane; e < n * k; e += 32)
      a.x[m * n * k + e] = info ? make(TT__NAN_f64, COMPLEX ? TT__NAN_f64 : 0) : B(e / k, e % k);
    return;
  }
  if (lane < n) part[warp][lane] = share_of(A(lane, lane));
  TT_WARP_SYNC();
  if (lane != 0) return;
  share all = part[warp][0];
  for (int i = 1; i < n; i++) all = joined(all, part[warp][i]);
  if (odd) all.re = -all.re, all.im = -all.im;
  put_determinant(all, a.whole, a.sign + m, a.whole ? 0 : a.logabs + m);
#undef A
#undef B
}

/*
** Least squares: c[small, k] = U^H B divided row by row by the singular values; 0 for those at most `cut` of the
** largest. Thread 0 of block 0 counts the others.
*/
typedef struct divide_args {
  TT_GLOBAL T *c;
  const TT_GLOBAL R *s;
  TT_GLOBAL tt_i64 *rank;
  tt_i64 small, k;
  tt_f64 cut;
} divide_args;

TT_KERNEL(divide, divide_args, 256) {
  tt_f64 least = a.cut * a.s[0];
  for (tt_i64 at = (tt_i64)TT_BLOCK * 256 + TT_THREAD; at < a.small * a.k; at += (tt_i64)TT_BLOCKS * 256) {
    R s = a.s[at / a.k];
    T x = a.c[at];
    a.c[at] = s > least ? make(RE(x) / s, IM(x) / s) : make(0, 0);
  }
  if (TT_BLOCK == 0 && TT_THREAD == 0) {
    tt_i64 rank = 0;
    for (tt_i64 i = 0; i < a.small; i++) rank += a.s[i] > least;
    *a.rank = rank;
  }
}

/* Sums of squares of the columns of ax - b [m, k]: a block each. */
typedef struct residual_args {
  const TT_GLOBAL T *ax, *b;
  TT_GLOBAL R *to;
  tt_i64 m, k;
} residual_args;

TT_KERNEL(residual, residual_args, 256) {
  TT_SHARED tt_f64 part[256];
  for (tt_i64 c = TT_BLOCK; c < a.k; c += TT_BLOCKS) {
    tt_f64 sum = 0;
    for (tt_i64 i = TT_THREAD; i < a.m; i += 256) {
      tt_f64 x = RE(a.ax[i * a.k + c]) - RE(a.b[i * a.k + c]), y = IM(a.ax[i * a.k + c]) - IM(a.b[i * a.k + c]);
      sum += x * x + y * y;
    }
    TT_BARRIER();
    part[TT_THREAD] = sum;
    TT_BARRIER();
    if (TT_THREAD != 0) continue;
    for (int i = 1; i < 256; i++) sum += part[i];
    a.to[c] = (R)sum;
  }
}
