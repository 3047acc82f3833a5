/*
** A float vector times a matrix, as fast as memory gives the matrix. Sums are fused; an element's order does not
** depend on what lies beside it or on threads. Knows no BLAS and no batches.
*/
#ifndef TT_LIB_PRODUCT_GEMV_H
#define TT_LIB_PRODUCT_GEMV_H

#include <stdbool.h>

#include "lib/product/gemm_own.h"

/* For m == 1. False, and nothing done: not such a product, or no processor with fused vectors. */
TT_HIDDEN bool tt__gemv(const tt_gemm *g);

#endif
