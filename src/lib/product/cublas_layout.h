/*
** A row-major product with any strides, said in the words of a column-major library. Pure arithmetic on lengths and
** steps; knows no device and no memory.
**
** C = A @ B in rows is C' = B' @ A' in columns (' is the transpose), and a row-major matrix read by columns IS its
** transpose: no data moves. So the library's left operand is our b, its right one our a, its m our n. An operand that
** lies by columns is transposed by the library (`turned`); one that lies neither way is packed first.
*/
#ifndef TT_LIB_PRODUCT_CUBLAS_LAYOUT_H
#define TT_LIB_PRODUCT_CUBLAS_LAYOUT_H

#include "ir/library.h"

/* A matrix as it lies, by columns: element (i, j) at i + j * ld. */
typedef struct tt_gemm_side {
  int64_t rows, cols, ld; /* ld >= max(rows, 1) */
  bool turned;            /* the library is to transpose it */
} tt_gemm_side;

/* Batch axes that are not of length 1, outermost first, neighbours merged where both operands allow it. */
typedef struct tt_gemm_axis {
  int64_t len, a, b, c; /* steps of the operands and the result, in elements; 0: the same matrix again */
} tt_gemm_axis;

/*
** What is called: for every point of `loop`, `batch` products of m x k by k x n, in OUR words (m: rows of C). C is
** dense. A packed operand is dense, in the order of the original's axes without those it does not move along.
*/
typedef struct tt_gemm_plan {
  bool empty; /* no element in the result */
  bool pack_a, pack_b;
  int64_t m, n, k;
  tt_gemm_side a, b, c;
  tt_gemm_axis batch; /* len 1: one product */
  int nloop;
  tt_gemm_axis loop[TT_MAX_RANK];
} tt_gemm_plan;

/* Plan the product of two operands of equal rank >= 2 with equal batch lengths. */
TT_HIDDEN void tt__gemm_plan(const tt_operand *a, const tt_operand *b, tt_gemm_plan *out);

/* Steps of the packed copy of an operand, and the elements that it needs. */
TT_HIDDEN int64_t tt__gemm_packed(const tt_operand *a, int64_t step[TT_MAX_RANK]);

#endif
