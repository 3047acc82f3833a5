/*
** Running sums, products, maxima and minima on the host, over the middle axis of [outer][n][inner].
**
** The order of the operations depends on n alone, never on the number of threads: up to 4096 elements one after the
** other, as NumPy; longer rows in lanes of 496 that are scanned on their own and then moved by the sum of all before.
** So a running sum of non-negative numbers never decreases.
*/
#ifndef TT_LIB_SCAN_HOST_H
#define TT_LIB_SCAN_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

typedef enum tt_scan { TT_SCAN_SUM, TT_SCAN_PROD, TT_SCAN_MAX, TT_SCAN_MIN, TT_SCAN_COUNT } tt_scan;

/*
** in and out have type t (promote before); float16 and bfloat16 accumulate in float32. Integers wrap, NaNs win
** over everything in MAX and MIN, bool sums are "or", bool products "and". With `initial` the output has n + 1 elements
** along the axis and starts with 0 (SUM) or 1 (PROD). in == out is allowed without `initial`.
** Fails with TT_ENOMEM, and TT_ETYPE for the maximum or minimum of complex numbers.
*/
TT_HIDDEN tt_code tt__scan_rows(tt_scan op, tt_dtype t, const void *in, void *out, int64_t outer, int64_t n,
                                int64_t inner, bool initial, tt_error *err);

#endif
