/*
** Work that costs less done than recorded: elements in and out of values that lie in memory, arithmetic of constants,
** and small values that are written into a part of an array. Same answers as the recorded way; every function may
** decline, and the caller records.
*/
#ifndef TT_GRAPH_EAGER_EAGER_H
#define TT_GRAPH_EAGER_EAGER_H

#include "graph/build.h"

/* Write `value` through the view `a` (writable, not empty) into the memory of its storage, if nobody else can see that
 * memory. A small value of the storage that others hold, or that is a constant, gets memory first. */
TT_HIDDEN bool tt__eager_store(tt_array *a, tt_node *value);
/* Axes of a storage that are written: not the very axes of an array, for which nothing need be made. */
typedef struct tt_written {
  tt_storage *s;
  int rank;
  const int64_t *len, *step;
  int64_t off;
} tt_written;
/* Write an array of the storage's type or a number there, likewise, without nodes for the part and the value. */
TT_HIDDEN bool tt__eager_write(const tt_written *p, const tt_value *v);
/* Write `value` at flat elements of the storage (`index`, int64, in range), in order, likewise. */
TT_HIDDEN bool tt__eager_scatter(tt_storage *s, tt_node *index, tt_node *value);
/* The same of n places and elements in memory, or of one element for all of them; these may not lie in the storage. */
TT_HIDDEN bool tt__eager_scatter_few(tt_storage *s, const int64_t *at, int64_t n, const void *from, bool one);
/* Write element `off` of a storage, if that memory is at hand and nobody else can see it. */
TT_HIDDEN bool tt__eager_set(tt_storage *s, int64_t off, const void *value);
/* The memory of a storage, to be written at once: nobody else can see it then. NULL: it is not at hand, or others hold
 * it and it is not small. */
TT_HIDDEN void *tt__eager_memory(tt_storage *s);
/* Is the view a part of values at hand, small or of few elements, so that a copy is best taken now? A pending one would
 * keep all of them from being written in place. */
TT_HIDDEN bool tt__eager_copies(const tt_array *a);
/* Element `off` of a value that is known without computing. */
TT_HIDDEN bool tt__eager_element(const tt_node *n, int64_t off, tt_scalar *out);
/* The op of constants: the scalar that every element of the result is. */
TT_HIDDEN bool tt__eager_op(tt_op op, tt_dtype dtype, tt_node *const *src, int n, tt_scalar *out);

#endif
