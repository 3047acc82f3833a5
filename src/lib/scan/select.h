/*
** Picking elements on the host: the places of true elements, repetition by counts.
** Raw contiguous memory; the same answer for any number of threads.
*/
#ifndef TT_LIB_SCAN_SELECT_H
#define TT_LIB_SCAN_SELECT_H

#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* How many of n elements are not zero (NaN counts as not zero). Needs no memory. */
TT_HIDDEN int64_t tt__count_nonzero(tt_dtype t, const void *in, int64_t n);

/* Their places, in order; `out` has room for tt__count_nonzero() of them. */
TT_HIDDEN tt_code tt__nonzero(tt_dtype t, const void *in, int64_t n, int64_t *out, tt_error *err);

/* The sum of n counts. TT_EVALUE for a negative one or a sum beyond int64. */
TT_HIDDEN tt_code tt__repeat_total(const int64_t *count, int64_t n, int64_t *total, tt_error *err);

/* The number i, count[i] times, for each i in order; `out` has room for tt__repeat_total() numbers. */
TT_HIDDEN tt_code tt__repeat_index(const int64_t *count, int64_t n, int64_t *out, tt_error *err);

#endif
