/*
** Our own matrix product on strided host memory. Used where no BLAS is found or where BLAS has no such type, and for
** shapes too small to be worth a call. Knows no BLAS and no batches. The C of 16-bit floats is float32.
**
** Each element is summed in one order, whatever the number of threads: the same bits every time.
** NaN and infinities propagate: nothing is skipped for being zero.
*/
#ifndef TT_LIB_PRODUCT_GEMM_OWN_H
#define TT_LIB_PRODUCT_GEMM_OWN_H

#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* What happens to what C holds. */
typedef enum tt_gemm_put { TT_GEMM_SET, TT_GEMM_ADD, TT_GEMM_SUB } tt_gemm_put;

/* C[m, n] = A[m, k] @ B[k, n]. Strides are in elements, of any sign; those of A and B may be 0. C overlaps neither. */
typedef struct tt_gemm {
  tt_dtype type;
  tt_gemm_put put;
  int64_t m, n, k;
  const void *a;
  int64_t rsa, csa;
  const void *b;
  int64_t rsb, csb;
  void *c;
  int64_t rsc, csc;
} tt_gemm;

/* Blocked and parallel. Any size, for 16-bit floats with at least two rows and columns; k == 0 gives zeros (or leaves C
 * unless it is set). TT_ENOMEM is the only failure. */
TT_HIDDEN tt_code tt__gemm_own(const tt_gemm *g, tt_error *err);

/* Row by row, serial, without memory: for a few thousand products, or for vectors; no 16-bit floats. Cannot fail. */
TT_HIDDEN void tt__gemm_small(const tt_gemm *g);

/* The transposed product: C^T = B^T A^T, on the same memory. */
TT_HIDDEN tt_gemm tt__gemm_flip(const tt_gemm *g);

#endif
