/*
** Elements in and out of the caller's memory, behind the public functions of the same name. Under the session lock,
** which copies of many elements give up while they run.
*/
#ifndef TT_GRAPH_HOST_H
#define TT_GRAPH_HOST_H

#include "graph/build.h"

TT_HIDDEN tt_code tt__from_data(tt_dtype dtype, int rank, const int64_t *len, const void *data, const int64_t *stride,
                                tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__from_rows(tt_dtype dtype, int rank, const int64_t *len, const void *const *row, tt_array **out,
                                tt_error *err);
TT_HIDDEN tt_code tt__read(tt_array *a, void *data, size_t size, tt_error *err);
TT_HIDDEN tt_code tt__item(tt_array *a, tt_value *out, tt_error *err);
TT_HIDDEN tt_code tt__peek(tt_array *a, const void **data, void **hold, tt_error *err);
/* Elements of `item` bytes at byte strides into C order; shared out over the pool when there are many. */
TT_HIDDEN void tt__host_copy(void *to, const void *from, size_t item, int rank, const int64_t *len,
                             const int64_t *stride);
/* What tt__from_data was seen to take for a copy of about so many bytes, in nanoseconds; 0: it made none. */
TT_HIDDEN double tt__from_data_ns(double bytes);

#endif
