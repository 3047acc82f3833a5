/*
** The matrix product on host memory, for every dtype: the host's BLAS where it has the type and pays, our own code
** elsewhere. Raw pointers and strides; knows nothing of arrays.
**
**   f32 f64 c64 c128   BLAS, own code for tiny sizes, dot products, and without BLAS
**   f16 bf16           panels widened to f32, summed in f32, rounded once
**   integers           own code, wraps
**   bool               own code: any(a and b)
**
** Strides are in elements and may have any sign; those of A and B may be 0. C must not overlap A or B, and its
** elements must be apart. Data is aligned to its element. Sizes are at least 0; k == 0 gives zeros.
** NaN and infinities propagate. Failures: TT_ENOMEM; TT_EVALUE for a negative size; TT_ETYPE for no such type.
** Thread-safe; parallel inside unless called in a pool loop.
*/
#ifndef TT_LIB_PRODUCT_GEMM_H
#define TT_LIB_PRODUCT_GEMM_H

#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* C[m, n] = A[m, k] @ B[k, n]. */
TT_HIDDEN tt_code tt__gemm(tt_dtype t, int64_t m, int64_t n, int64_t k, const void *a, int64_t rsa, int64_t csa,
                           const void *b, int64_t rsb, int64_t csb, void *c, int64_t rsc, int64_t csc, tt_error *err);

/* `batch` products; operand x of product i begins i * bsx elements after the first. bsa and bsb may be 0, bsc not. */
TT_HIDDEN tt_code tt__gemm_batch(tt_dtype t, int64_t batch, int64_t m, int64_t n, int64_t k, const void *a, int64_t bsa,
                                 int64_t rsa, int64_t csa, const void *b, int64_t bsb, int64_t rsb, int64_t csb,
                                 void *c, int64_t bsc, int64_t rsc, int64_t csc, tt_error *err);

#endif
