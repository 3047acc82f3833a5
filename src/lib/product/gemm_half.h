/*
** float16 and bfloat16 products: panels widened to f32, an f32 product of them, sums kept in f32 and rounded once.
*/
#ifndef TT_LIB_PRODUCT_GEMM_HALF_H
#define TT_LIB_PRODUCT_GEMM_HALF_H

#include "lib/product/gemm_own.h"

/* The product of two f32 panels; sets C or adds to it. */
typedef tt_code (*tt_gemm_f32_fn)(const tt_gemm *g, tt_error *err);

/* g->type is TT_F16 or TT_BF16, g->put TT_GEMM_SET. Any k. Failure: TT_ENOMEM. */
TT_HIDDEN tt_code tt__gemm_half(const tt_gemm *g, tt_gemm_f32_fn product, tt_error *err);

#endif
