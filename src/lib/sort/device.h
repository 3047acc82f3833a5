/*
** Sorting device memory: the order and the stability of lib/sort/host.h.
*/
#ifndef TT_LIB_SORT_DEVICE_H
#define TT_LIB_SORT_DEVICE_H

#include "ir/library.h"

/* Each row of n sorted. Work is asked for, not waited for. TT_ENOTIMPL: more than the kernels count. */
TT_HIDDEN tt_code tt__device_sort_rows(const tt_lib_device *on, tt_dtype t, const void *in, void *out, int64_t rows,
                                       int64_t n, bool descending, tt_error *err);

/*
** The places of the sorted elements in their row. `first` (NULL: 0, 1, 2 ...) says which place an element of `in` has;
** it is not `out`. `sorted` (may be NULL) gets the elements.
*/
TT_HIDDEN tt_code tt__device_argsort_rows(const tt_lib_device *on, tt_dtype t, const void *in, const int64_t *first,
                                          int64_t *out, void *sorted, int64_t rows, int64_t n, bool descending,
                                          tt_error *err);

/* out[i] = in[place[i]]; with several rows, the places are in their row. */
TT_HIDDEN tt_code tt__device_gather(const tt_lib_device *on, tt_dtype t, const void *in, const int64_t *place,
                                    void *out, int64_t rows, int64_t n, tt_error *err);

#endif
