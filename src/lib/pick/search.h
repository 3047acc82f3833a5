/*
** Binary search on the host, in parallel over the queries. Raw contiguous memory.
*/
#ifndef TT_LIB_PICK_SEARCH_H
#define TT_LIB_PICK_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/*
** out[i]: where query[i] goes in the n sorted elements (in the order of tt__sort_rows) so that they stay sorted,
** before its equals or, with `right`, behind them. Both sides have type t. Cannot fail.
*/
TT_HIDDEN void tt__searchsorted(tt_dtype t, const void *sorted, int64_t n, const void *query, int64_t queries,
                                bool right, int64_t *out);

#endif
