/*
** Short transforms, one in each lane of a vector: the loops under every transform of lib/fft/host.h. Data lies as
** pairs of vectors, the real parts of all lanes and then the imaginary ones; each lane is a transform of its own, so no
** pass ever moves a number to another lane. What brings interleaved complex numbers into that form and back is here
** too. All transforms are forward; a backward one is the same with real and imaginary parts swapped on both ends.
*/
#ifndef TT_LIB_FFT_LANES_H
#define TT_LIB_FFT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

#define TT_FFT_PASSES 20
#define TT_FFT_PRIME 127 /* the largest radix that a pass can have */
#define TT_FFT_LANES 16  /* most lanes of a vector */

/* A transform of n points in passes of small radices, for one kind of vectors. */
typedef struct tt_fft_passes {
  int64_t n;
  int count;
  int radix[TT_FFT_PASSES];
  const void *turns[TT_FFT_PASSES]; /* of one pass: (radix - 1) pairs for each of its blocks */
  const void *roots[TT_FFT_PASSES]; /* cos and sin of 2 pi k / radix, where the pass has no constants of its own */
} tt_fft_passes;

/* How complex numbers on one end lie in memory. */
typedef struct tt_fft_side {
  int64_t step; /* complex numbers from one element of a transform to the next (columns) or from row to row (rows) */
  int valid;    /* lanes that exist */
  bool swap;    /* real and imaginary parts change places */
} tt_fft_side;

typedef struct tt_fft_lanes {
  int lanes;
  int bytes; /* of a vector */
  /* Transform x with the help of a and b, n pairs each; the result is in one of the three. x may be a. */
  void *(*run)(const tt_fft_passes *p, void *x, void *a, void *b);
  /* Lane l is the column src[k * step + l]. Lanes that do not exist get zeros. */
  void (*load_columns)(const void *src, tt_fft_side s, int64_t n, void *to);
  void (*store_columns)(const void *from, int64_t n, double scale, tt_fft_side s, void *dst);
  /* Lane l is the row src[l * step + k]. */
  void (*load_rows)(const void *src, tt_fft_side s, int64_t n, void *to);
  void (*store_rows)(const void *from, int64_t n, double scale, tt_fft_side s, void *dst);
  /*
  ** Between the two halves of a long transform: from[k] holds `valid` numbers, one a lane; multiply by table[k] and,
  ** when `factor` is given, by factor[k] (pairs), and put number l of k to lane k % lanes of
  ** to[(k / lanes) * stride + l].
  */
  void (*turn)(const void *from, int64_t n, int valid, const void *table, const double *factor, int64_t stride,
               void *to);
  /* The same multiplications in place, and nothing moves. */
  void (*rotate)(void *x, int64_t n, const void *table, const double *factor);
  /* Rows of real transforms: the n/2 complex points z in x[0..h) to the n/2 + 1 of the real row, in place; the table
   * has exp(-2 pi i k / n), k <= h / 2, real parts first, `span` apart. And back: x[0..h] to z[0..h), z may be x. */
  void (*unfold)(void *x, int64_t h, const void *table, int64_t span);
  void (*fold)(const void *x, int64_t h, const void *table, int64_t span, void *z);
  /* to[i] = a[i] * b[i] * scale, complex, i < n; real and imaginary parts of a and of the result swapped as told */
  void (*multiply)(const void *a, bool swap_in, const void *b, int64_t n, double scale, bool swap_out, void *to);
} tt_fft_lanes;

/* For TT_C64 or TT_C128, by what the processor has. */
TT_HIDDEN const tt_fft_lanes *tt__fft_lanes(tt_dtype t);
/* (tests) As if the processor had no more than this level (tt__cpu_level). Plans made before stay as they are. */
TT_HIDDEN void tt__fft_limit(int level);

#endif
