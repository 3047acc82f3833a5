/*
** Reductions of complex rows. T is the number, COMPLEX its parts' type; TIMES, LARGEST, LEAST, INDEX say what is
** wanted. Products are made in double precision and rounded to COMPLEX after each step, as on the host.
*/
#define THREADS 256

typedef struct reduce_args {
  const TT_GLOBAL T *in;
  TT_GLOBAL void *out;
  tt_i64 rows, n;
} reduce_args;

typedef struct best {
  T x;
  tt_i64 at;
} best;

#ifdef TIMES
TT_FN best combine(best x, best y) {
  const tt_f64 a = x.x.re, b = x.x.im, c = y.x.re, d = y.x.im;
  x.x.re = (COMPLEX)(a * c - b * d);
  x.x.im = (COMPLEX)(a * d + b * c);
  return x;
}
#else
TT_FN int is_nan(T x) { return x.re != x.re || x.im != x.im; }

/* The first of the best ones: y replaces x, which comes before it, only when it is better. A NaN is the best. */
TT_FN best combine(best x, best y) {
  int better;
  if (is_nan(x.x) || is_nan(y.x))
    better = !is_nan(x.x);
  else if (x.x.re != y.x.re)
    better = LARGEST ? y.x.re > x.x.re : y.x.re < x.x.re;
  else
    better = LARGEST ? y.x.im > x.x.im : y.x.im < x.x.im;
  return better ? y : x;
}
#endif

/* A block for each row; each thread has a stretch of it. A product that overflows on its way is another one in another
** order: short rows have one stretch. */
#ifdef TIMES
#define LEAST 4096
#else
#define LEAST 16
#endif

TT_KERNEL(reduce_rows, reduce_args, THREADS) {
  TT_UNPACK(reduce_args);
  TT_SHARED best part[THREADS];
  const TT_GLOBAL T *in = a.in + (tt_i64)TT_BLOCK * a.n;
  const tt_i64 share = (a.n + THREADS - 1) / THREADS < LEAST ? LEAST : (a.n + THREADS - 1) / THREADS;
  const tt_i64 from = TT_THREAD * share, to = from + share < a.n ? from + share : a.n;
  best b;
  b.at = from;
#ifdef TIMES
  b.x.re = 1;
  b.x.im = 0;
  for (tt_i64 i = from; i < to; i++) {
    best y;
    y.x = in[i];
    y.at = i;
    b = combine(b, y);
  }
#else
  if (from < to) b.x = in[from];
  for (tt_i64 i = from + 1; i < to; i++) {
    best y;
    y.x = in[i];
    y.at = i;
    b = combine(b, y);
  }
#endif
  part[TT_THREAD] = b;
  TT_BARRIER();
  for (tt_u32 step = 1; step < THREADS; step *= 2) {
    if (TT_THREAD % (2 * step) == 0 && (TT_THREAD + step) * share < a.n)
      part[TT_THREAD] = combine(part[TT_THREAD], part[TT_THREAD + step]);
    TT_BARRIER();
  }
  if (TT_THREAD > 0) return;
#ifdef INDEX
  ((TT_GLOBAL tt_i64 *)a.out)[TT_BLOCK] = part[0].at;
#else
  ((TT_GLOBAL T *)a.out)[TT_BLOCK] = part[0].x;
#endif
}
