/*
** What linear algebra needs around a vendor's factorizations: matrices moved between rows and columns, cut to a
*triangle,
** checked; determinants from LU factors; least squares from singular values. Specialised by
**   T   f32, f64, c64 or c128    R   its real type    C   its complex type    COMPLEX   0 or 1
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
  TT_SHARED tt_f64 part_re[256], part_im[256], part_log[256];
  for (tt_i64 m = TT_BLOCK; m < a.batch; m += TT_BLOCKS) {
    tt_f64 re = 1, im = 0, sum = 0;
    for (tt_i64 i = TT_THREAD; i < a.n; i += 256) {
      T d = a.lu[m * a.n * a.n + i * (a.n + 1)];
      tt_i64 swap = a.pivot64 ? a.pivot64[m * a.n + i] : (tt_i64)a.pivot32[m * a.n + i];
      tt_f64 x = RE(d), y = IM(d), size, u, v;
      tt_f64 big = x < 0 ? -x : x, small = y < 0 ? -y : y;
      if (small > big) size = big, big = small, small = size;
      size = COMPLEX && big > 0 && big < TT__INF_f64 ? big * tt_sqrt_f64(1 + small / big * (small / big)) : big + small;
      sum += tt_log_f64(size);
      u = COMPLEX ? x / size : x < 0 ? -1 : 1; /* infinity and NaN have a sign too */
      v = COMPLEX ? y / size : 0;
      if (size == 0) u = v = 0;
      if (swap != i + 1) u = -u, v = -v;
      tt_f64 next = re * u - im * v;
      im = re * v + im * u;
      re = next;
    }
    TT_BARRIER();
    part_re[TT_THREAD] = re;
    part_im[TT_THREAD] = im;
    part_log[TT_THREAD] = sum;
    TT_BARRIER();
    if (TT_THREAD != 0) continue;
    for (int i = 1; i < 256; i++) {
      tt_f64 next = re * part_re[i] - im * part_im[i];
      im = re * part_im[i] + im * part_re[i];
      re = next;
      sum += part_log[i];
    }
    if (re == 0 && im == 0) sum = -TT__INF_f64;
    tt_f64 size = tt_exp_f64(sum);
    a.sign[m] = a.whole ? make(re * size, im * size) : make(re, im);
    if (!a.whole) a.logabs[m] = (R)sum;
  }
}

#if !COMPLEX
/*
** Eigenvectors of real matrices as LAPACK packs them, by columns: a real one is a column, a pair of conjugate ones is two
** columns, real part and imaginary part. To complex ones by rows.
*/
typedef struct unpack_args {
  const TT_GLOBAL T *from;
  const TT_GLOBAL C *w;
  TT_GLOBAL C *to;
  tt_i64 n, size; /* size: of all matrices */
} unpack_args;

TT_KERNEL(unpack, unpack_args, 256) {
  for (tt_i64 at = (tt_i64)TT_BLOCK * 256 + TT_THREAD; at < a.size; at += (tt_i64)TT_BLOCKS * 256) {
    tt_i64 m = at / (a.n * a.n), i = at / a.n % a.n, j = at % a.n;
    const TT_GLOBAL T *v = a.from + m * a.n * a.n + i;
    R im = a.w[m * a.n + j].im;
    C x;
    x.re = im < 0 ? v[(j - 1) * a.n] : v[j * a.n];
    x.im = im < 0 ? -v[j * a.n] : im > 0 ? v[(j + 1) * a.n] : (R)0;
    a.to[at] = x;
  }
}
#endif

/*
** Least squares: c[small, k] = U^H B divided row by row by the singular values; 0 for those at most `cut` of the
*largest.
** Thread 0 of block 0 counts the others.
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
