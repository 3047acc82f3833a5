/*
** The driver: the only code that knows every stage. Pending nodes in, memory out.
*/
#ifndef TT_RUN_REALIZE_H
#define TT_RUN_REALIZE_H

#include "ir/plan.h"
#include "run/outofcore/fused_producer.h"

/*
** Bring the nodes into memory. Session lock held (once or more); others may record while kernels run. One
** evaluation runs at a time. On failure what was computed stays computed, the rest stays pending.
*/
TT_HIDDEN tt_code tt__realize(tt_node *const *target, int n, tt_error *err);

/* The plan for these nodes, made or found, without running it; NULL plan: nothing to do. Session lock held. */
TT_HIDDEN tt_code tt__realize_plan(tt_node *const *target, int n, const tt_plan **plan, const tt_walk **walk,
                                   bool *found, tt_error *err);

/* What computes these nodes, element by element (outofcore/fused_producer.h), by their plan; they stay pending. Session
 * lock held. */
TT_HIDDEN tt_code tt__realize_producer(tt_node *const *target, int n, tt_device *d, tt_fused_producer *out,
                                       tt_error *err);

/* Is a thread evaluating? */
TT_HIDDEN bool tt__realize_busy(void);

/* Off: every op is a kernel of its own, plans are made anew. */
TT_HIDDEN void tt__realize_set_fuse(bool fuse);
/* Forget all plans (tests of leaks, memory pressure). Session lock held. */
TT_HIDDEN void tt__realize_trim(void);

#endif
