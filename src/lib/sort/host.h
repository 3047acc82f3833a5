/*
** Sorting on the host: rows of raw memory, every data type, the same answer for any number of threads.
**
** Order: NumPy's. NaNs come after +inf; a complex number with a NaN comes after all without, in NumPy's order
** of the kinds. -0.0 and 0.0 are equal. Descending is the exact opposite of that order (NaNs first), and
** equal elements keep their order of appearance in both directions.
** rows x n elements lie row after row; in and out must not overlap unless a function says so.
*/
#ifndef TT_LIB_SORT_HOST_H
#define TT_LIB_SORT_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* Each row sorted. TT_ENOMEM is the only failure; `out` is then undefined. */
TT_HIDDEN tt_code tt__sort_rows(tt_dtype t, const void *in, void *out, int64_t rows, int64_t n, bool descending,
                                tt_error *err);

/* out[i]: the place in its row of the i-th element of the sorted row; always stable. */
TT_HIDDEN tt_code tt__argsort_rows(tt_dtype t, const void *in, int64_t *out, int64_t rows, int64_t n, bool descending,
                                   tt_error *err);

/*
** Each row partly sorted: the elements at the `kths` places kth[] (each in [0, n)) are those of the sorted row, nothing
** before such a place is greater and nothing behind it is less. NaNs may lose their payload.
*/
TT_HIDDEN tt_code tt__select_rows(tt_dtype t, const void *in, void *out, int64_t rows, int64_t n, const int64_t *kth,
                                  int64_t kths, tt_error *err);

/* out[i]: the places of such a partition. Of one place kth[0]: what is below it, its equals, what is above, each in
** order of appearance; of more places, and where there are no vectors, those of the sorted row. */
TT_HIDDEN tt_code tt__argselect_rows(tt_dtype t, const void *in, int64_t *out, int64_t rows, int64_t n,
                                     const int64_t *kth, int64_t kths, tt_error *err);

/* Stable argsort of n records by `keys` columns, the last one first in rank, as numpy.lexsort. */
TT_HIDDEN tt_code tt__lexsort(const tt_dtype *t, const void *const *column, int keys, int64_t n, int64_t *out,
                              tt_error *err);

#endif
