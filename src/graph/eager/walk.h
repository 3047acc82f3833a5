/*
** A pending value of few steps on few elements, brought down step by step: what costs less than to make a plan for it.
** Same bits as by a plan.
*/
#ifndef TT_GRAPH_EAGER_WALK_H
#define TT_GRAPH_EAGER_WALK_H

#include "graph/build.h"

/* False: it is another kind of work, or there was no memory; steps that are done stay done. */
TT_HIDDEN bool tt__eager_walk(tt_node *const *target, int n);

#endif
