/*
** float16 and bfloat16 products: sums are kept in f32 and rounded once. Matrices are widened where they are packed, or
** multiplied as pairs by processors that can; vectors and small ones are widened first.
*/
#ifndef TT_LIB_PRODUCT_GEMM_HALF_H
#define TT_LIB_PRODUCT_GEMM_HALF_H

#include "lib/product/gemm_own.h"

/* The product of f32 matrices; sets C or adds to it. */
typedef tt_code (*tt_gemm_f32_fn)(const tt_gemm *g, tt_error *err);

/* g->type is TT_F16 or TT_BF16, g->put TT_GEMM_SET. Any k. Failure: TT_ENOMEM. */
TT_HIDDEN tt_code tt__gemm_half(const tt_gemm *g, tt_gemm_f32_fn product, tt_error *err);

/* n neighbours of a type of 16 bits as float32. */
TT_HIDDEN void tt__half_widen(tt_dtype t, const uint16_t *from, float *to, int64_t n);

#endif
