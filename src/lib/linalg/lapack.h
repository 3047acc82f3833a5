/*
** One factorization of one column-major matrix: the contract that the host's LAPACK (lapack_call.c) and our own code
** (fallback/lapack.c) both fill in. Knows no batches, no row order and no NumPy.
**
** A matrix [m, n] has leading dimension max(m, 1). Sizes are at least 1. Every function returns LINALG_OK, a positive
** number for a numerical failure (singular, indefinite, not converged), or one of the negative LINALG_ codes.
** NaN and infinities may give any result, but every function returns.
*/
#ifndef TT_LIB_LINALG_LAPACK_H
#define TT_LIB_LINALG_LAPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

enum { LINALG_OK = 0, LINALG_NO_MEMORY = -1, LINALG_TOO_LARGE = -2 };

/* SVD: no vectors, the first min(m, n), or all of them. */
typedef enum tt_svd_vectors { TT_SVD_NONE, TT_SVD_SOME, TT_SVD_ALL } tt_svd_vectors;

typedef struct tt_lapack {
  bool is_wide; /* computes in TT_F64 and TT_C128 only: the caller converts */
  /* A [n, n] becomes its LU factors; row i was swapped with row pivot[i], i going up. A zero pivot is not a failure. */
  int (*lu)(tt_dtype t, int64_t n, void *a, int64_t *pivot);
  /* B [n, k] becomes the solution of A X = B; A is destroyed. > 0: singular. */
  int (*solve)(tt_dtype t, int64_t n, int64_t k, void *a, void *b);
  /* The lower triangle of A becomes L with A = L L^H; the strict upper one is neither read nor written. */
  int (*cholesky)(tt_dtype t, int64_t n, void *a);
  /* R in the upper triangle of A [m, n], reflectors below it and in tau [min(m, n)]. */
  int (*qr)(tt_dtype t, int64_t m, int64_t n, void *a, void *tau);
  /* A [m, cols] holds `k` reflectors made by qr, m >= cols >= k; it becomes the first `cols` columns of Q. */
  int (*form_q)(tt_dtype t, int64_t m, int64_t cols, int64_t k, void *a, const void *tau);
  /* A = U diag(s) VH, s descending; A is destroyed. u [m, min or m] and vh [min or n, n] are unused without vectors. */
  int (*svd)(tt_dtype t, int64_t m, int64_t n, tt_svd_vectors vectors, void *a, void *s, void *u, void *vh);
  /* From the lower triangle: w ascending; with vectors A becomes them, else it is destroyed. */
  int (*eigh)(tt_dtype t, int64_t n, bool vectors, void *a, void *w);
  /* min |A X - B|, B [max(m, n), k] in, X in its first n rows out; rcond < 0: machine precision. */
  int (*lstsq)(tt_dtype t, int64_t m, int64_t n, int64_t k, void *a, void *b, double rcond, void *s, int64_t *rank);
  /* A X = X diag(w), w and x complex of A's precision; x NULL: values only. Columns of x have norm 1. */
  int (*eig)(tt_dtype t, int64_t n, void *a, void *w, void *x);
} tt_lapack;

/* The host's LAPACK, or NULL when there is none. Its threads are set for the calling place. */
TT_HIDDEN const tt_lapack *tt__lapack_host(void);
/* Our own. Never NULL. */
TT_HIDDEN const tt_lapack *tt__fallback_lapack(void);

#endif
