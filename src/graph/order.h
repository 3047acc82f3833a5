/*
** Orders of memory: in which order of its axes an array's elements lie, and results laid like their operands.
**
** An order is a list of axes, the outermost first. A value is dense in its own order of axes; what is to lie in another
** one is recorded with its axes in that order, and the array over it is a transpose.
*/
#ifndef TT_GRAPH_ORDER_H
#define TT_GRAPH_ORDER_H

#include "graph/build.h"

/* The order for 'C', 'F', 'A' (Fortran's if the array is in that and not in C's) or 'K' (as the array's memory goes,
 * the longest steps first) or 'W' (as tt__order_walk goes over it, which differs from 'K' where it is broadcast). */
TT_HIDDEN void tt__order_of(tt_array *a, char order, int *axes);
/* The order 'K' of memory of items of so many bytes at byte strides. True: it is C's. */
TT_HIDDEN bool tt__order_of_strides(int rank, const int64_t *len, const int64_t *stride, int64_t item, int *axes);
/* The order in which NumPy's iterator walks `n` operands that are broadcast to a shape of `rank` axes, and lays its
 * results: as all of them lie that agree, C's for what they do not agree on. False: it is C's. */
TT_HIDDEN bool tt__order_walk(tt_array *const *a, int n, int rank, int *axes);
/* The same for parts that are joined, which settles otherwise where axes of length 1 lie. */
TT_HIDDEN bool tt__order_join(tt_array *const *a, int n, int rank, int *axes);
/* A new array of the node's value and shape, laid in an order. May flush. */
TT_HIDDEN tt_array *tt__array_laid(tt_node *n, const int *axes, tt_error *err);
/* A view whose axes stand in the order, and one of it with the axes back where they were. */
TT_HIDDEN tt_array *tt__array_ordered(tt_array *a, const int *axes, tt_error *err);
TT_HIDDEN tt_array *tt__array_restored(tt_array *a, const int *axes, tt_error *err);
/* A copy of a type, laid in an order. */
TT_HIDDEN tt_code tt__copy_as(tt_array *a, tt_dtype dtype, char order, tt_array **out, tt_error *err);

#endif
