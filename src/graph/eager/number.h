/*
** Elements on their own: taken out of an array, put into one, and computed with, without a node. Every function may
** decline, and the caller takes the way of arrays, which gives the same answer.
*/
#ifndef TT_GRAPH_EAGER_NUMBER_H
#define TT_GRAPH_EAGER_NUMBER_H

#include "graph/build.h"

/* Where element at[0], at[1], ... of a lies in its storage. False: not one index for each axis, or out of range. */
TT_HIDDEN bool tt__number_find(tt_array *a, int64_t n, const int64_t *at, int64_t *off);
/* Write element `off` of the storage, where it can be written now. */
TT_HIDDEN bool tt__number_store(tt_array *a, int64_t off, const tt_value *value);
/* What tt_number_apply says; needs no lock. */
TT_HIDDEN bool tt__number_apply(tt_op op, const tt_value *arg, int n, tt_number *out);
/* An array of rank 0 that cannot be written. */
TT_HIDDEN tt_code tt__number_array(const tt_number *x, tt_array **out, tt_error *err);

#endif
