/*
** Matrices between the user's rows and the columns that LAPACK wants, with conversion between float and double, and
** the small things done to whole matrices on the way. Types: TT_F32, TT_F64, TT_C64, TT_C128; a conversion keeps
** real real and complex complex. Column-major matrices here have leading dimension = rows unless `ld` says otherwise.
*/
#ifndef TT_LIB_LINALG_MOVE_H
#define TT_LIB_LINALG_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* dst column-major [rows, cols] with leading dimension ld, from src row-major. */
TT_HIDDEN void tt__matrix_load(tt_dtype from, tt_dtype to, const void *src, int64_t rows, int64_t cols, void *dst,
                               int64_t ld);
/* dst row-major [rows, cols] from src column-major. */
TT_HIDDEN void tt__matrix_store(tt_dtype from, tt_dtype to, const void *src, int64_t ld, void *dst, int64_t rows,
                                int64_t cols);

TT_HIDDEN tt_c128 tt__matrix_get(tt_dtype t, const void *m, int64_t at);
TT_HIDDEN void tt__matrix_set(tt_dtype t, void *m, int64_t at, tt_c128 value);

TT_HIDDEN void tt__matrix_identity(tt_dtype t, int64_t n, void *m);
TT_HIDDEN void tt__matrix_adjoint(tt_dtype t, int64_t n, void *m); /* in place */
TT_HIDDEN void tt__matrix_zero_above(tt_dtype t, int64_t rows, int64_t cols, void *m);
TT_HIDDEN void tt__matrix_zero_below(tt_dtype t, int64_t rows, int64_t cols, void *m);

/* Whether no number is NaN or infinite: of `count`, or of the lower (upper) triangle of a column-major [n, n]. */
TT_HIDDEN bool tt__matrix_finite(tt_dtype t, int64_t count, const void *m);
TT_HIDDEN bool tt__matrix_finite_lower(tt_dtype t, int64_t n, bool upper, const void *m);

#endif
