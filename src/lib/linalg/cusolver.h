/*
** Factorizations on CUDA devices through cuSOLVER and the batched part of cuBLAS, both found at run time. One call of
** a library row is one tt_solver: begun, used, ended. Matrices lie by columns without gaps; f32, f64, c64, c128.
**
** Each function asks for work on the stream and returns; what went wrong with the numbers stands in `info`, one int32 a
** matrix on the device, which tt__solver_check reads. TT_ENOTIMPL: the libraries are missing or have no such function.
*/
#ifndef TT_LIB_LINALG_CUSOLVER_H
#define TT_LIB_LINALG_CUSOLVER_H

#include "ir/library.h"
#include "lib/vendor.h"

#define TT_BATCH_SIDE 1024 /* a batch of matrices up to this side goes in one call where there is one */
#define TT_MOST_TURNS 64   /* matrices that are worked on one after the other; more are sooner done by the host */
#define TT_SVD_SMALL 32    /* a batch of matrices up to this side goes to tt__solver_svd_small */
/* Up to this side Jacobi's method is quicker than QR steps, which need 24 to 32 ms for 512 x 512 on an H200. */
#define TT_JACOBI_SIDE 512

typedef struct tt_solver {
  const tt_lib_device *on;
  tt_dtype type;
  int64_t batch;
  int32_t *info; /* device [batch], zero at first */
  void *handle, *batch_handle;
  void *work, *host_work; /* reused by every matrix of the batch */
  size_t work_size, host_size;
  bool entered, batch_entered;
} tt_solver;

TT_HIDDEN tt_code tt__solver_begin(const tt_lib_device *on, tt_dtype t, int64_t batch, tt_solver *s, tt_error *err);
/* Waits, and fails with TT_ELINALG in these words when the numbers of some matrix failed. */
TT_HIDDEN tt_code tt__solver_check(tt_solver *s, const char *words, tt_error *err);
/* Give everything back; also after a failed begin. */
TT_HIDDEN void tt__solver_end(tt_solver *s);

/* All matrices a [n, n] of the batch become LU factors. *wide: the pivots are int64, else int32; `pivot` has 8 bytes
 * for each. */
TT_HIDDEN tt_code tt__solver_lu(tt_solver *s, int64_t n, void *a, void *pivot, bool *wide, tt_error *err);
/* b [n, k] of the batch becomes the solution. */
TT_HIDDEN tt_code tt__solver_lu_solve(tt_solver *s, int64_t n, int64_t k, const void *lu, const void *pivot, bool wide,
                                      void *b, tt_error *err);
/* The lower triangle of each a [n, n] becomes L; the other one is not written. */
TT_HIDDEN tt_code tt__solver_cholesky(tt_solver *s, int64_t n, void *a, tt_error *err);

/* ---- matrix number `at` of the batch alone */
TT_HIDDEN tt_code tt__solver_qr(tt_solver *s, int64_t at, int64_t m, int64_t n, void *a, void *tau, tt_error *err);
/* a [m, cols] with k reflectors becomes the first columns of Q. */
TT_HIDDEN tt_code tt__solver_form_q(tt_solver *s, int64_t at, int64_t m, int64_t cols, int64_t k, void *a,
                                    const void *tau, tt_error *err);
/* m >= n. `job`: 'N' values alone, 'S' the first n columns of U, 'A' all m; vt is [n, n]. a is destroyed. */
TT_HIDDEN tt_code tt__solver_svd(tt_solver *s, int64_t at, char job, int64_t m, int64_t n, void *a, void *values,
                                 void *u, void *vt, tt_error *err);
/* All of a batch of small matrices, at most TT_SVD_SMALL on a side: u [m, m] and v [n, n] (not its adjoint), or both
 * NULL. a is destroyed. */
TT_HIDDEN tt_code tt__solver_svd_small(tt_solver *s, bool vectors, int64_t m, int64_t n, void *a, void *values, void *u,
                                       void *v, tt_error *err);
/* Matrix `at` alone, by Jacobi's method: with `thin` u is [m, k] and v [n, k], k = min(m, n). info > 0: not
 * converged. */
TT_HIDDEN tt_code tt__solver_svd_jacobi(tt_solver *s, int64_t at, bool vectors, bool thin, int64_t m, int64_t n,
                                        void *a, void *values, void *u, void *v, tt_error *err);
/* Right eigenvectors of a general matrix, of its own type: a real matrix's are packed as LAPACK does it. w is complex.
** a is destroyed; v NULL: values alone. */
TT_HIDDEN tt_code tt__solver_eig(tt_solver *s, int64_t at, int64_t n, void *a, void *w, void *v, tt_error *err);

/* Why there is no tt__solver_eig on this device; NULL: there is. */
TT_HIDDEN const char *tt__solver_eig_missing(tt_device *d);

/* All of the batch: from the lower triangle (or the upper one) of a [n, n]; w [n] ascending, a becomes the vectors. */
TT_HIDDEN tt_code tt__solver_eigh(tt_solver *s, bool upper, bool vectors, int64_t n, void *a, void *w, tt_error *err);

/* ---- the libraries' own faces: for cusolver.c, and for tests that play them */

typedef struct tt_cusolver {
#define TT_CUSOLVER_FN(field, symbol, params) int(*field) params;
#define TT_CUSOLVER_FN4(field, s, d, c, z, params) int(*field[4]) params;
#include "lib/linalg/cusolver_api.def"
#undef TT_CUSOLVER_FN
#undef TT_CUSOLVER_FN4
} tt_cusolver;

typedef struct tt_cublas_batch {
#define TT_CUBLAS_FN(field, symbol, params) int(*field) params;
#define TT_CUBLAS_FN4(field, s, d, c, z, params) int(*field[4]) params;
#include "lib/product/cublas_batch_api.def"
#undef TT_CUBLAS_FN
#undef TT_CUBLAS_FN4
} tt_cublas_batch;

TT_HIDDEN extern tt_vendor tt__vendor_cusolver, tt__vendor_cublas;

#endif
