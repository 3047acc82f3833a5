/*
** The pending graph below some targets as a list, and its key. Private to run/.
*/
#ifndef TT_RUN_WALK_H
#define TT_RUN_WALK_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "ir/plan.h"

/* A walk and the memory it is made in, kept from one evaluation to the next. */
typedef struct tt_walker {
  tt_walk walk;
  TT_VEC(tt_node *) node;
  TT_VEC(tt_node *) stack;
  TT_VEC(int32_t) target;
  TT_VEC(int32_t) edges;    /* scratch: by node, how often it is an operand in the walk */
  TT_VEC(uint8_t) outlives; /* and whether its operands stay held, because it does, unevaluated */
  TT_VEC(int64_t)
  key; /* everything that plans depend on: kinds, types, shapes, edges; no scalar values, no addresses of data */
  bool has_calls; /* launches of users' kernels are among the nodes */
} tt_walker;

/* List what must be computed for the targets, children first; nodes get their number in node->slot. */
TT_HIDDEN tt_code tt__walk_make(tt_walker *w, tt_node *const *target, int n, tt_error *err);
/* Fill w->key. */
TT_HIDDEN tt_code tt__walk_key(tt_walker *w, int64_t salt, tt_error *err);
TT_HIDDEN void tt__walk_free(tt_walker *w);

#endif
