/*
** Small values computed when they are recorded. Same answers as the recorded way; every function may decline, and the
** value stays pending.
*/
#ifndef TT_GRAPH_EAGER_COMPUTE_H
#define TT_GRAPH_EAGER_COMPUTE_H

#include "graph/build.h"

/* Elements on which work is done at the call; the default is found by measuring (docs/decisions.md). */
#define TT_EAGER_DEFAULT 1024
/* On more it never is: operands are made dense in rooms of this size. */
#define TT_EAGER_MOST (1 << 14)
/* Set it: 0, nothing is; below 0, the default. */
TT_HIDDEN void tt__eager_limit(int64_t elements);
/* Record everything for a while: what is profiled shall be steps. */
TT_HIDDEN void tt__eager_pause(bool on);

/* Compute a node that was just made, where its operands are at hand and that is little work. */
TT_HIDDEN void tt__eager_compute(tt_node *n);

/* Is it a value whose elements can be read now: memory on the host, a view of it, or a constant? */
TT_HIDDEN bool tt__eager_ready(const tt_node *n);
/* Few enough to be worked on at the call? */
TT_HIDDEN bool tt__eager_few(int64_t elements);
/* The elements of a ready value, dense: where they lie, or written into `room`. */
TT_HIDDEN const void *tt__eager_dense(tt_node *n, void *room);
/* The same of an array of at most TT_EAGER_MOST elements; NULL: it is not at hand, or larger. */
TT_HIDDEN const void *tt__eager_elements(tt_array *a, void *room);
/* Memory for a result that is computed at the call, to be filled. NULL: there is none. */
TT_HIDDEN tt_node *tt__eager_room(tt_dtype dtype, int rank, const int64_t *len);
/* Give a constant, a view of memory at hand or what has no value memory of its own. */
TT_HIDDEN bool tt__eager_take(tt_node *n);
/* Bring down a pending node that is one step on few elements at hand: it costs less than to find a plan. */
TT_HIDDEN bool tt__eager_bring(tt_node *n);
/* Compute a node whose operands are ready, of at most TT_EAGER_MOST elements. */
TT_HIDDEN bool tt__eager_step(tt_node *n);
/* Is anything done at the call? */
TT_HIDDEN bool tt__eager_on(void);
/* Values that live on a device are written there. */
static inline bool tt__eager_at_hand(const tt_node *n) {
  return n->device <= 0 && (n->op != TT_N_BUFFER || n->attr.buf->data || n->size == 0);
}

#endif
