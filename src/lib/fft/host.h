/*
** Discrete Fourier transforms on host memory, complex and real, along one axis of a dense array. Raw pointers; knows
** nothing of nodes. Parallel over the pool; thread-safe. `backward` is the transform with exp(+2 pi i jk / n); every
** result is multiplied by `scale`. Types are TT_C64 and TT_C128; real numbers are the float32 or float64 of that.
*/
#ifndef TT_LIB_FFT_HOST_H
#define TT_LIB_FFT_HOST_H

#include "lib/fft/plan.h"

/* An array [outer, n, inner], transformed along n; n >= 1, outer or inner may be 0. dst may be src. */
TT_HIDDEN tt_code tt__fft_complex(tt_dtype t, int64_t outer, int64_t n, int64_t inner, bool backward, double scale,
                                  const void *src, void *dst, tt_error *err);
/* Rows of n real numbers to rows of n/2 + 1 complex ones; `full`: all n, the others being conjugates. */
TT_HIDDEN tt_code tt__fft_from_real(tt_dtype t, int64_t rows, int64_t n, bool backward, bool full, double scale,
                                    const void *src, void *dst, tt_error *err);
/* Rows of n/2 + 1 complex numbers to n real ones; the imaginary part of the first (and for even n the last) counts as
** zero. */
TT_HIDDEN tt_code tt__fft_to_real(tt_dtype t, int64_t rows, int64_t n, double scale, const void *src, void *dst,
                                  tt_error *err);

/* One row by a plan, by the calling thread alone; dst may be src. */
TT_HIDDEN tt_code tt__fft_row(const tt_fft_plan *p, const void *src, void *dst, bool backward, double scale,
                              tt_error *err);

#endif
