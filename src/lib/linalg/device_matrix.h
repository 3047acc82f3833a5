/*
** Kernels of ours around a vendor's factorizations (matrix.text.h), as functions. Types: f32, f64, c64, c128. Pointers
** are the device's; work goes on the stream.
*/
#ifndef TT_LIB_LINALG_DEVICE_MATRIX_H
#define TT_LIB_LINALG_DEVICE_MATRIX_H

#include "ir/library.h"

typedef enum tt_triangle { TT_WHOLE, TT_UPPER, TT_LOWER } tt_triangle;

/* Matrices [rows, cols], `step` elements apart. */
typedef struct tt_matrices {
  void *data;
  int64_t row, col, step; /* elements */
} tt_matrices;

static inline tt_matrices tt__by_rows(const void *data, int64_t rows, int64_t cols) {
  return (tt_matrices){(void *)(uintptr_t)data, cols, 1, rows * cols};
}
static inline tt_matrices tt__by_columns(const void *data, int64_t rows, int64_t cols) {
  return (tt_matrices){(void *)(uintptr_t)data, 1, rows, rows * cols};
}

/* Copy `batch` matrices; elements beside the triangle become 0. from.data NULL: identities. */
TT_HIDDEN tt_code tt__device_move(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t rows, int64_t cols,
                                  tt_matrices from, tt_matrices to, tt_triangle part, bool conjugated, tt_error *err);
/* The eigenvectors of real matrices as LAPACK packs them become complex ones of type `t`; all by columns. */
TT_HIDDEN tt_code tt__device_unpack(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t n, const void *packed,
                                    const void *w, void *to, tt_error *err);
/* to[i] = base + i * step elements. */
TT_HIDDEN tt_code tt__device_addresses(const tt_lib_device *on, tt_dtype t, void *base, int64_t step, int64_t batch,
                                       void **to, tt_error *err);
/* Is every element of the triangle of each matrix [rows, cols] finite? Waits. */
TT_HIDDEN tt_code tt__device_finite(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t rows, int64_t cols,
                                    const void *a, tt_triangle part, bool *finite, tt_error *err);
/* The matrices [size] whose info is positive become NaN. */
TT_HIDDEN tt_code tt__device_spoil(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t size, void *a,
                                   const int32_t *info, tt_error *err);
/* From LU factors [batch, n, n] with LAPACK's pivots, of 8 bytes or of 4. logabs NULL: `sign` gets the determinant. */
TT_HIDDEN tt_code tt__device_determinant(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t n, const void *lu,
                                         const void *pivot, bool wide, void *sign, void *logabs, tt_error *err);
/*
** Systems of at most TT_SMALL unknowns, all in one kernel: a [n, n], b [n, k] (NULL: the identity, k = n), x [n, k], by
** rows. info[i] > 0: matrix i is singular, its x is NaN. x NULL: determinants, as tt__device_determinant gives them.
*/
#define TT_SMALL 32
TT_HIDDEN tt_code tt__device_small(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t n, int64_t k,
                                   const void *a, const void *b, void *x, void *sign, void *logabs, int32_t *info,
                                   tt_error *err);
/* Waits, and fails with TT_ELINALG in these words when the info of some matrix is positive. */
TT_HIDDEN tt_code tt__device_check(const tt_lib_device *on, const int32_t *info, int64_t batch, const char *words,
                                   tt_error *err);
/* c[small, k] divided by s, 0 where s <= cut * s[0]; *rank: how many were greater. */
TT_HIDDEN tt_code tt__device_divide(const tt_lib_device *on, tt_dtype t, int64_t small, int64_t k, void *c,
                                    const void *s, double cut, int64_t *rank, tt_error *err);
/* Sums of squares of the columns of ax - b [m, k]. */
TT_HIDDEN tt_code tt__device_residual(const tt_lib_device *on, tt_dtype t, int64_t m, int64_t k, const void *ax,
                                      const void *b, void *to, tt_error *err);

#endif
