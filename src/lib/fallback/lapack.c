/*
** Our own factorizations behind tt_lapack, in double precision: the text is fallback/lapack.inc, for real and for
** complex.
*/
#include "lib/fallback/lapack.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "lib/product/gemm_own.h"
#include "lib/linalg/lapack.h"

enum { PANEL = 64 }; /* columns factored at a time, between products */

#define OWN(x) x##_real
#define NUM double
#define NUM_DTYPE TT_F64
#define MUL(x, y) ((x) * (y))
#define CONJ(x) (x)
#define RE(x) (x)
#define IM(x) 0.0
#define ABS(x) fabs(x)
#define ABS1(x) fabs(x)
#define ABS2(x) ((x) * (x))
#include "lib/fallback/lapack.inc"

static inline double square(double _Complex x) { return creal(x) * creal(x) + cimag(x) * cimag(x); }

#define OWN(x) x##_complex
#define NUM double _Complex
#define NUM_DTYPE TT_C128
#define MUL(x, y) tt__complex_mul(x, y)
#define CONJ(x) conj(x)
#define RE(x) creal(x)
#define IM(x) cimag(x)
#define ABS(x) cabs(x)
#define ABS1(x) (fabs(creal(x)) + fabs(cimag(x)))
#define ABS2(x) square(x)
#include "lib/fallback/lapack.inc"

/* ---- tt_lapack: one entry for both types */

static bool is_complex(tt_dtype t) {
  assert(t == TT_F64 || t == TT_C128);
  return t == TT_C128;
}

static int own_lu(tt_dtype t, int64_t n, void *a, int64_t *pivot) {
  return is_complex(t) ? lu_complex(n, a, pivot) : lu_real(n, a, pivot);
}

static int own_solve(tt_dtype t, int64_t n, int64_t k, void *a, void *b) {
  return is_complex(t) ? solve_complex(n, k, a, b) : solve_real(n, k, a, b);
}

static int own_cholesky(tt_dtype t, int64_t n, void *a) {
  return is_complex(t) ? cholesky_complex(n, a) : cholesky_real(n, a);
}

static int own_qr(tt_dtype t, int64_t m, int64_t n, void *a, void *tau) {
  return is_complex(t) ? qr_complex(m, n, a, tau) : qr_real(m, n, a, tau);
}

static int own_form_q(tt_dtype t, int64_t m, int64_t cols, int64_t k, void *a, const void *tau) {
  if (is_complex(t)) {
    form_q_complex(m, cols, k, a, m, tau);
  } else {
    form_q_real(m, cols, k, a, m, tau);
  }
  return LINALG_OK;
}

static int own_svd(tt_dtype t, int64_t m, int64_t n, tt_svd_vectors vectors, void *a, void *s, void *u, void *vh) {
  return is_complex(t) ? svd_complex(m, n, vectors, a, s, u, vh) : svd_real(m, n, vectors, a, s, u, vh);
}

static int own_eigh(tt_dtype t, int64_t n, bool vectors, void *a, void *w) {
  return is_complex(t) ? eigh_complex(n, vectors, a, w) : eigh_real(n, vectors, a, w);
}

static int own_lstsq(tt_dtype t, int64_t m, int64_t n, int64_t k, void *a, void *b, double rcond, void *s,
                     int64_t *rank) {
  return is_complex(t) ? lstsq_complex(m, n, k, a, b, rcond, s, rank) : lstsq_real(m, n, k, a, b, rcond, s, rank);
}

static int own_eig(tt_dtype t, int64_t n, void *a, void *w, void *x) {
  if (is_complex(t)) return tt__eig_own(n, false, a, w, x);
  size_t size = (size_t)(n * n) * sizeof(double _Complex);
  double _Complex *wide = tt__mem_alloc_data(size);
  if (!wide) return LINALG_NO_MEMORY;
  for (int64_t i = 0; i < n * n; i++) wide[i] = ((const double *)a)[i];
  int code = tt__eig_own(n, true, wide, w, x);
  tt__mem_free_data(wide, size);
  return code;
}

const tt_lapack *tt__fallback_lapack(void) {
  static const tt_lapack own = {true,       own_lu,  own_solve, own_cholesky, own_qr,
                                own_form_q, own_svd, own_eigh,  own_lstsq,    own_eig};
  return &own;
}
