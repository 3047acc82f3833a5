/*
** Counting on the host: bincount and histograms over raw contiguous memory, with or without weights.
** The same bits for any number of threads: weights are added up in blocks of 65536 elements, in order.
*/
#ifndef TT_LIB_PICK_SEARCH_COUNT_H
#define TT_LIB_PICK_SEARCH_COUNT_H

#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* The least and greatest of n > 0 elements of an integer type (or bool), as int64; uint64 wraps above 2^63. */
TT_HIDDEN void tt__int_range(tt_dtype t, const void *in, int64_t n, int64_t *min, int64_t *max);

/* How many bins a bincount of n integers has: max + 1, at least `minlength`. TT_EVALUE for a negative element. */
TT_HIDDEN tt_code tt__bincount_size(tt_dtype t, const void *in, int64_t n, int64_t minlength, int64_t *bins,
                                    tt_error *err);

/*
** out[b]: how many of n integers equal min + b (NumPy's bincount: min = 0), as int64; with weights (NULL: none) the sum
** of their weights, as double. Every element must lie in [min, min + bins).
*/
TT_HIDDEN tt_code tt__bincount(tt_dtype t, const void *in, int64_t n, int64_t min, const double *weights, int64_t bins,
                               void *out, tt_error *err);

/*
** NumPy's histogram of equal bins, bit for bit. Elements outside [first, last] and NaNs are left out. denom is
** last - first as NumPy computes it. `edge` has bins + 1 edges, of type float32 for t = float32, float64 for float64
** and integers; no other types (TT_ETYPE). out: int64 counts, or double sums of weights.
*/
TT_HIDDEN tt_code tt__histogram_uniform(tt_dtype t, const void *in, int64_t n, const double *weights, double first,
                                        double last, double denom, const void *edge, int64_t bins, void *out,
                                        tt_error *err);

/* The same over bins + 1 increasing edges of type t, each bin open at its end but the last. Any type. */
TT_HIDDEN tt_code tt__histogram_edges(tt_dtype t, const void *in, int64_t n, const double *weights, const void *edge,
                                      int64_t bins, void *out, tt_error *err);

#endif
