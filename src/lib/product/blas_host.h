/*
** The host's BLAS and LAPACK, found at run time and never linked.
**
** Order of search, once, at the first call:
**   1. TUTTI_BLAS: "none" (our own code), or the path or name of a library (OpenBLAS, MKL's libmkl_rt, BLIS)
**   2. libopenblas.so.0 and its siblings by the loader's own rules
**   3. any libopenblas*.so* in LD_LIBRARY_PATH and the usual library folders
**   4. the wheels scipy-openblas32/-openblas64 and the copies bundled with NumPy and SciPy, in the
**      folders given to tt__blas_search_path
** libblas.so.3 is never loaded: it may be the reference BLAS, tens of times slower than our own code.
**
** Threads: the library is told to use tt__pool_size() threads, but no more than there are cores that nobody else uses
** (its threads wait for each other in loops), and one inside a pool loop. NumPy's bundled copy, when
** that is what is found, is the one NumPy itself calls, so its thread count changes with ours.
** Fork: OpenBLAS built on pthreads stops its threads before fork and starts new ones at the child's first
** call (its own pthread_atfork handlers); one built on OpenMP cannot, so a child runs it on one thread.
** Thread-safe.
*/
#ifndef TT_LIB_PRODUCT_BLAS_HOST_H
#define TT_LIB_PRODUCT_BLAS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The library's integer: 32 bits ("lp64") or 64 ("ilp64"). Made by tt__blas_int, read by tt__blas_get. */
typedef union tt_blas_int {
  int32_t i32;
  int64_t i64;
} tt_blas_int;

/* Which of the four names of a row: the index into the fields of tt_blas. */
typedef enum tt_blas_type { TT_BLAS_S, TT_BLAS_D, TT_BLAS_C, TT_BLAS_Z } tt_blas_type;

typedef const tt_blas_int *tt_blas_n; /* Fortran passes everything by address */

/* Trailing size_t arguments are the lengths of the character arguments, as gfortran passes them: always 1. */
typedef void (*tt_blas_gemm_fn)(const char *ta, const char *tb, tt_blas_n m, tt_blas_n n, tt_blas_n k,
                                const void *alpha, const void *a, tt_blas_n lda, const void *b, tt_blas_n ldb,
                                const void *beta, void *c, tt_blas_n ldc, size_t, size_t);
typedef void (*tt_blas_gemv_fn)(const char *ta, tt_blas_n m, tt_blas_n n, const void *alpha, const void *a,
                                tt_blas_n lda, const void *x, tt_blas_n incx, const void *beta, void *y, tt_blas_n incy,
                                size_t);
typedef void (*tt_blas_gesv_fn)(tt_blas_n n, tt_blas_n nrhs, void *a, tt_blas_n lda, void *ipiv, void *b, tt_blas_n ldb,
                                tt_blas_int *info);
typedef void (*tt_blas_getrf_fn)(tt_blas_n m, tt_blas_n n, void *a, tt_blas_n lda, void *ipiv, tt_blas_int *info);
typedef void (*tt_blas_potrf_fn)(const char *uplo, tt_blas_n n, void *a, tt_blas_n lda, tt_blas_int *info, size_t);
typedef void (*tt_blas_geqrf_fn)(tt_blas_n m, tt_blas_n n, void *a, tt_blas_n lda, void *tau, void *work,
                                 tt_blas_n lwork, tt_blas_int *info);
typedef void (*tt_blas_orgqr_fn)(tt_blas_n m, tt_blas_n n, tt_blas_n k, void *a, tt_blas_n lda, const void *tau,
                                 void *work, tt_blas_n lwork, tt_blas_int *info);
/*
** The real and complex forms of the next four differ by a real workspace: the last pointers before `info`.
** They are kept untyped and cast where they are called (linalg/host.c).
*/
typedef void (*tt_blas_gesdd_fn)(void);
typedef void (*tt_blas_syevd_fn)(void);
typedef void (*tt_blas_gelsd_fn)(void);
typedef void (*tt_blas_geev_fn)(void);

typedef struct tt_blas {
  int int_bytes;   /* 4 or 8 */
  bool has_lapack; /* every LAPACK row was found */
  bool is_narrow;  /* its kernels use half of this CPU's vectors: our own matrix product is faster */
#define TT_BLAS_FN(field, lapack, s, d, c, z) tt_blas_##field##_fn field[4];
#include "lib/product/blas_api.def"
#undef TT_BLAS_FN
} tt_blas;

/*
** Folders to look into for the wheels, separated by ':' (the interpreter's sys.path). Empty entries are skipped.
** Called before the first use, or later: then it counts only if nothing had been found. NULL clears it.
*/
TT_HIDDEN void tt__blas_search_path(const char *dirs);

/* The library, or NULL: our own code must do it. */
TT_HIDDEN const tt_blas *tt__blas_find(void);

/* The same to call it: with the threads that the calling place may use, or with one where the work is not shared. */
TT_HIDDEN const tt_blas *tt__blas_enter(bool is_shared);

/* Around a pool loop whose bodies call the library: set it to one thread before, back after. */
TT_HIDDEN void tt__blas_serial(bool on);

/* Name, version, integer width and threads of what is used, or "own fallback" and why. Always NUL-terminated. */
TT_HIDDEN void tt__blas_info(char *out, size_t size);

/* Whether v fits the library's integer. */
static inline bool tt__blas_fits(const tt_blas *b, int64_t v) { return b->int_bytes == 8 || v <= INT32_MAX; }

static inline tt_blas_int tt__blas_int(const tt_blas *b, int64_t v) {
  tt_blas_int r = {.i64 = 0};
  if (b->int_bytes == 8) {
    r.i64 = v;
  } else {
    r.i32 = (int32_t)v;
  }
  return r;
}

static inline int64_t tt__blas_get(const tt_blas *b, tt_blas_int v) { return b->int_bytes == 8 ? v.i64 : v.i32; }

#endif
