/*
** Products of small float matrices on their own memory: what a BLAS does to prepare takes longer than they do. Sums go
** along k in order, fused, so an element has the same bits whatever lies beside it. Knows no BLAS and no batches.
*/
#ifndef TT_LIB_PRODUCT_GEMM_DIRECT_H
#define TT_LIB_PRODUCT_GEMM_DIRECT_H

#include <stdbool.h>

#include "lib/product/gemm_own.h"

/* False, and nothing done: not such a product, or no processor with fused vectors. */
TT_HIDDEN bool tt__gemm_direct(const tt_gemm *g);

#endif
