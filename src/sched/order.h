/*
** The order in which a plan's steps run, once it is known which kernels they are.
**
** Steps are the nodes of a graph without cycles: a step stands behind those whose results it needs, and behind those
** that read what it writes over. Steps that become one launch (many.c) become one node. Private to sched/, but for
** tt__sched_order.
*/
#ifndef TT_SCHED_ORDER_H
#define TT_SCHED_ORDER_H

#include "ir/plan.h"

/*
** Of a plan that was made for this walk and whose steps are lowered: steps that may be one launch are put together
** (tt_step.many), what frees memory is done early, and what is written in place is settled anew. TT_ENOMEM leaves a
** plan that can only be freed.
*/
TT_HIDDEN tt_code tt__sched_order(const tt_walk *walk, tt_plan *plan, tt_error *err);

typedef struct tt_step_edge {
  int32_t from, to;
} tt_step_edge;

typedef struct tt_step_order {
  const tt_walk *walk;
  tt_plan *plan;
  tt_step_edge *edge; /* by rising `from` */
  int32_t *first;     /* [n + 1] by step: its first edge */
  int32_t *node_of;   /* by step: the first of the steps that it is one launch with */
  int32_t *next;      /* by step: the next one of its launch, -1 */
  int32_t *place;     /* by node: where its last step stood */
  int64_t *kept;      /* by node: bytes that a launch of many keeps longer; by memory: that the node can free at most */
  int32_t *order;     /* the nodes, each behind what it stands behind */
  int32_t *depth, *waits, *ready;
  int32_t *readers; /* by value of the plan: steps that still need it */
  int norder, nready;
  bool by_memory; /* what frees memory goes first */
} tt_step_order;

/* Put the nodes in order: of those that are ready the one whose last step stood first. */
TT_HIDDEN void tt__order_steps(tt_step_order *g);
/* Steps with the kernel of step `from`, the first with it, become one launch where they may. True: some did. */
TT_HIDDEN bool tt__join_steps(tt_step_order *g, int from);
/* Has step `i` a kernel that later steps have too, and none before it? */
TT_HIDDEN bool tt__joins_first(const tt_plan *p, int i);

/* Bytes of a node's value. */
static inline int64_t tt__value_bytes(const tt_walk *walk, int32_t node) {
  const tt_node *n = walk->node[node];
  return n->size * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
}

#endif
