/*
** Products of small vectors and matrices at hand, without a node. Same bits as the recorded way.
*/
#ifndef TT_GRAPH_EAGER_PRODUCT_H
#define TT_GRAPH_EAGER_PRODUCT_H

#include "graph/build.h"

/* a @ b of one type of floats, each a vector or a matrix, as a new array. NULL: the other way. */
TT_HIDDEN tt_array *tt__eager_product(tt_array *a, tt_array *b);

#endif
