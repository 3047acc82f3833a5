/*
** Matrix products on CUDA devices through cuBLASLt, which is found at run time. Takes products planned by
** cublas_layout.h; packs nothing.
*/
#ifndef TT_LIB_PRODUCT_CUBLAS_H
#define TT_LIB_PRODUCT_CUBLAS_H

#include "ir/library.h"
#include "lib/product/cublas_layout.h"
#include "lib/vendor.h"

/*
** c = a @ b as planned, of type t: f16, bf16 (summed in f32), f32, f64, c64, c128. `fast`: f32 may be rounded to tf32
** on the way. `epilogue`: TT_EPILOGUE_ bits; `term`: what is added, of type t, or NULL.
** TT_ENOTIMPL, with nothing done: there is no cuBLASLt, or it has no such product.
*/
TT_HIDDEN tt_code tt__cublas_product(const tt_lib_device *on, const tt_gemm_plan *p, tt_dtype t, bool fast,
                                     int epilogue, const void *a, const void *b, const void *term, void *c,
                                     tt_error *err);

/* Has the device such a library and that the type? It is looked for when this is first asked. */
TT_HIDDEN bool tt__cublas_serves(const tt_lib_device *on, tt_dtype t);

/* ---- the library's own face: for cublas.c, and for tests that play the library */

typedef struct tt_cublaslt_algo {
  uint64_t data[8];
} tt_cublaslt_algo;

typedef struct tt_cublaslt_choice {
  tt_cublaslt_algo algo;
  size_t work;
  int status;
  float waves;
  int reserved[4];
} tt_cublaslt_choice;

typedef struct tt_cublaslt {
#define TT_CUBLASLT_FN(field, symbol, params) int(*field) params;
#include "lib/product/cublas_api.def"
#undef TT_CUBLASLT_FN
} tt_cublaslt;

TT_HIDDEN extern tt_vendor tt__vendor_cublaslt; /* fn is a tt_cublaslt */

#endif
