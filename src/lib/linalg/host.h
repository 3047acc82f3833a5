/*
** numpy.linalg on host memory: batches of row-major contiguous matrices of f32, f64, c64 or c128, by the host's LAPACK
** or by our own code. Raw pointers; knows nothing of arrays.
**
** The caller checks ranks and squareness. Inputs are not changed; outputs must not overlap them. Sizes may be 0, and
** so may `batch`; then the answers are NumPy's (det is 1, an identity is empty). `real` below is f32 for f32 and c64,
** f64 for f64 and c128; `complex` is c64 or c128.
**
** Failures: TT_ELINALG in NumPy's words (outputs undefined), TT_ENOMEM, TT_ETYPE for another dtype. A NaN in the input
** gives NaN where NumPy gives NaN and TT_ELINALG where NumPy raises. Thread-safe; parallel over the batch when its
** matrices are small.
*/
#ifndef TT_LIB_LINALG_HOST_H
#define TT_LIB_LINALG_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* Matrices of a batch up to this side are shared out whole; larger ones are parallel inside. */
#define TT_SERIAL_SIDE 96

/* A[n, n] X[n, k] = B[n, k]. "Singular matrix". */
TT_HIDDEN tt_code tt__linalg_solve(tt_dtype t, int64_t batch, int64_t n, int64_t k, const void *a, const void *b,
                                   void *x, tt_error *err);
/* "Singular matrix". */
TT_HIDDEN tt_code tt__linalg_inv(tt_dtype t, int64_t batch, int64_t n, const void *a, void *out, tt_error *err);
/* One number of type t for each matrix. */
TT_HIDDEN tt_code tt__linalg_det(tt_dtype t, int64_t batch, int64_t n, const void *a, void *det, tt_error *err);
/* sign of type t (0 when singular), logabs of type real (-inf then). */
TT_HIDDEN tt_code tt__linalg_slogdet(tt_dtype t, int64_t batch, int64_t n, const void *a, void *sign, void *logabs,
                                     tt_error *err);
/* out[n, n] = L with A = L L^H from the lower triangle, or U with A = U^H U from the upper one. "Matrix is not positive
** definite". */
TT_HIDDEN tt_code tt__linalg_cholesky(tt_dtype t, int64_t batch, int64_t n, bool upper, const void *a, void *out,
                                      tt_error *err);

typedef enum tt_qr_mode {
  TT_QR_REDUCED,  /* q[m, k] r[k, n], k = min(m, n) */
  TT_QR_COMPLETE, /* q[m, m] r[m, n] */
  TT_QR_R         /* r[k, n]; q is NULL */
} tt_qr_mode;
TT_HIDDEN tt_code tt__linalg_qr(tt_dtype t, int64_t batch, int64_t m, int64_t n, tt_qr_mode mode, const void *a,
                                void *q, void *r, tt_error *err);

/*
** s[k] real, descending, k = min(m, n). u[m, k] vh[k, n], or u[m, m] vh[n, n] with `full`; u and vh both NULL: values
** only (svdvals). "SVD did not converge".
*/
TT_HIDDEN tt_code tt__linalg_svd(tt_dtype t, int64_t batch, int64_t m, int64_t n, bool full, const void *a, void *u,
                                 void *s, void *vh, tt_error *err);
/* w[n] real, ascending, from one triangle of A; v[n, n] has the vectors in its columns, NULL: values only (eigvalsh).
** "Eigenvalues did not converge". */
TT_HIDDEN tt_code tt__linalg_eigh(tt_dtype t, int64_t batch, int64_t n, bool upper, const void *a, void *w, void *v,
                                  tt_error *err);
/* w[n] and v[n, n] complex, also for real A (NumPy narrows them when every imaginary part is 0); v NULL: values only.
** "Array must not contain infs or NaNs", "Eigenvalues did not converge". */
TT_HIDDEN tt_code tt__linalg_eig(tt_dtype t, int64_t batch, int64_t n, const void *a, void *w, void *v, tt_error *err);
/*
** x[n, k] of least norm that minimizes |A[m, n] x - B[m, k]|. Singular values at most rcond times the largest count as
** 0 (rcond < 0: machine precision; NumPy's default is eps * max(m, n)). s[min(m, n)] real; resid[k] real gets the sums
** of squares, and means something only if rank == n and m > n. "SVD did not converge in Linear Least Squares".
*/
TT_HIDDEN tt_code tt__linalg_lstsq(tt_dtype t, int64_t m, int64_t n, int64_t k, const void *a, const void *b,
                                   double rcond, void *x, void *resid, int64_t *rank, void *s, tt_error *err);

#endif
