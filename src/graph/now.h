/*
** Work that costs less done than recorded: elements in and out of values that lie in memory, and arithmetic of
** constants. Same answers as the recorded way; every function may decline, and the caller records.
*/
#ifndef TT_GRAPH_NOW_H
#define TT_GRAPH_NOW_H

#include "graph/build.h"

/* Write `value` through the view `a` (writable, not empty) into the memory of its storage, if nobody else can see that
 * memory. A small value of the storage that others hold, or that is a constant, gets memory first. */
TT_HIDDEN bool tt__now_store(tt_array *a, tt_node *value);
/* Element `off` of a value that is known without computing. */
TT_HIDDEN bool tt__now_element(const tt_node *n, int64_t off, tt_scalar *out);
/* The op of constants: the scalar that every element of the result is. */
TT_HIDDEN bool tt__now_op(tt_op op, tt_dtype dtype, tt_node *const *src, int n, tt_scalar *out);

#endif
