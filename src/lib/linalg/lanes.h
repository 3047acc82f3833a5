/*
** Small real matrices, one in each lane of a vector: of a batch of these a loop over each matrix is too short for
** vectors. A matrix is rows of vectors here, and has the bits that fallback/lapack.c gives it alone.
*/
#ifndef TT_LIB_LINALG_LANES_H
#define TT_LIB_LINALG_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

#define TT_MATRIX_LANES 8
#define TT_FEW_ROWS 4 /* that are exchanged sooner than it is seen which of them have to be */
/* A determinant is a product whose every step stays between these; beyond, it is the exponential of a sum. */
#define TT_LEAST_PRODUCT 1e-280
#define TT_MOST_PRODUCT 1e280

typedef struct tt_matrix_lanes {
  /* A [n, n] beside B, rows of `cols` vectors: A becomes U (below it is rubbish), B becomes L^-1 P B; sign: of P. A
  ** lane with a 0 on U's diagonal is singular, and nothing else in it has a meaning. */
  void (*eliminate)(int64_t n, int64_t cols, double *ab, double *sign);
  /* B = U^-1 B */
  void (*substitute)(int64_t n, int64_t cols, double *ab);
  /* result *= the diagonal; safe: -1 where no step of that came near the end of double's range, else 0 */
  void (*product)(int64_t n, int64_t cols, const double *ab, double *result, int64_t *safe);
  /* The determinants of groups of TT_MATRIX_LANES matrices with 1 to TT_FEW_ROWS rows, that lie one after the other;
  ** false: a step of a product came near the end of double's range. */
  bool (*few_f32)(int64_t n, const float *m, int64_t groups, float *result);
  bool (*few_f64)(int64_t n, const double *m, int64_t groups, double *result);
  /* The lower triangle becomes L; false: not positive definite */
  bool (*cholesky)(int64_t n, double *a);
  /* Of a matrix alone, rows of `cols` numbers; the first gives the sign. */
  double (*eliminate_one)(int64_t n, int64_t cols, double *ab);
  void (*substitute_one)(int64_t n, int64_t cols, double *ab);
} tt_matrix_lanes;

/* By what the processor has. */
TT_HIDDEN const tt_matrix_lanes *tt__matrix_lanes(void);

/* Matrices [rows, cols] of TT_F32 or TT_F64, one after the other, to rows of `step` vectors; lanes from `valid` on
** repeat the last one. transposed: element (i, j) from (j, i). */
TT_HIDDEN void tt__lanes_load(tt_dtype t, const void *src, int64_t valid, int64_t rows, int64_t cols, bool transposed,
                              double *to, int64_t step);
TT_HIDDEN void tt__lanes_store(tt_dtype t, const double *from, int64_t step, int64_t valid, int64_t rows, int64_t cols,
                               bool transposed, void *dst);
/* A matrix alone [rows, cols], to rows of `step` numbers and back. */
TT_HIDDEN void tt__rows_load(tt_dtype t, const void *src, int64_t rows, int64_t cols, double *to, int64_t step);
TT_HIDDEN void tt__rows_store(tt_dtype t, const double *from, int64_t step, int64_t rows, int64_t cols, void *dst);

#endif
