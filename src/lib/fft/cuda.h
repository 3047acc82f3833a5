/*
** Transforms on CUDA devices through cuFFT, which is found at run time. Plans are kept for the next transform of the
** same shape, within a bound. Nothing is scaled.
*/
#ifndef TT_LIB_FFT_CUDA_H
#define TT_LIB_FFT_CUDA_H

#include "ir/library.h"
#include "lib/vendor.h"

typedef enum tt_cufft_kind { TT_CUFFT_COMPLEX, TT_CUFFT_FROM_REAL, TT_CUFFT_TO_REAL } tt_cufft_kind;

/* `batch` transforms over 1 to 3 axes of n points. Steps are in elements of each side; with real numbers on one side
 * the last axis has n / 2 + 1 complex ones on the other. Filled over zeros, compared as bytes. */
typedef struct tt_cufft_shape {
  int64_t n[3];
  int64_t in_step, in_apart, out_step, out_apart; /* between points of the last axis, between transforms */
  int64_t batch;
  int32_t rank;
  int32_t kind; /* tt_cufft_kind */
  int32_t wide; /* float64 */
  int32_t pad;
} tt_cufft_shape;

/*
** The transforms of `s`, and the same `calls` times in all, each `hop` elements further on both sides. A transform to
** real numbers may destroy what it reads. TT_ENOTIMPL, with nothing done: there is no cuFFT here, or it has no such
** transform.
*/
TT_HIDDEN tt_code tt__cufft_run(const tt_lib_device *on, const tt_cufft_shape *s, bool backward, int64_t calls,
                                int64_t hop, const void *in, void *out, tt_error *err);

/* ---- the library's own face: for fft/cuda.c, and for tests that play the library */

typedef struct tt_cufft {
#define TT_CUFFT_FN(field, symbol, params) int(*field) params;
#include "lib/fft/cuda_api.def"
#undef TT_CUFFT_FN
} tt_cufft;

TT_HIDDEN extern tt_vendor tt__vendor_cufft; /* fn is a tt_cufft */

#endif
