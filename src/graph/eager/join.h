/*
** Arrays joined at the call.
*/
#ifndef TT_GRAPH_EAGER_JOIN_H
#define TT_GRAPH_EAGER_JOIN_H

#include "graph/build.h"

/* The parts, of one type and rank, along `axis`, as one block of shape `len`. NULL: not at hand, or not few. */
TT_HIDDEN tt_node *tt__eager_join(tt_array *const *part, int64_t n, int axis, const int64_t *len);

#endif
