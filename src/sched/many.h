/*
** Steps of a plan become one launch (tt_step.many), once it is known which kernels they are.
*/
#ifndef TT_SCHED_MANY_H
#define TT_SCHED_MANY_H

#include "ir/plan.h"

/*
** Of a plan that was made for this walk and whose steps are lowered: steps that may be one launch are put together,
** and what is written in place is settled anew. TT_ENOMEM leaves a plan that can only be freed.
*/
TT_HIDDEN tt_code tt__sched_many(const tt_walk *walk, tt_plan *plan, tt_error *err);

#endif
