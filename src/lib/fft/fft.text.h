/*
** What stands around a library's Fourier transforms. Specialised by R, the real type, and C, the pair of it.
*/
typedef struct fft_args {
  const TT_GLOBAL C *from;
  TT_GLOBAL C *to;
  tt_i64 size, n, half; /* numbers to write; points of a real row and of its half spectrum */
  tt_f64 factor;
  tt_i32 flag, pad;
} fft_args;

#define EACH(i) for (tt_i64 i = (tt_i64)TT_BLOCK * 256 + TT_THREAD; i < a.size; i += (tt_i64)TT_BLOCKS * 256)

TT_KERNEL(fft_scale, fft_args, 256) {
  EACH(i) {
    C x = a.from[i];
    x.re = x.re * (R)a.factor;
    x.im = x.im * (R)a.factor;
    a.to[i] = x;
  }
}

/* A copy of half spectra whose first number, and for even n the last, is real; the transform may destroy it. */
TT_KERNEL(fft_half, fft_args, 256) {
  EACH(i) {
    C x = a.from[i];
    tt_i64 k = i % a.half;
    x.re = x.re * (R)a.factor;
    x.im = k == 0 || 2 * k == a.n ? (R)0 : x.im * (R)a.factor;
    a.to[i] = x;
  }
}

/* Whole spectra from their halves: the rest is conjugate (flag: what comes first is). */
TT_KERNEL(fft_whole, fft_args, 256) {
  EACH(i) {
    tt_i64 row = i / a.n, k = i % a.n;
    int mirrored = k >= a.half;
    C x = a.from[row * a.half + (mirrored ? a.n - k : k)];
    x.re = x.re * (R)a.factor;
    x.im = x.im * (R)(mirrored != (a.flag != 0) ? -a.factor : a.factor);
    a.to[i] = x;
  }
}
