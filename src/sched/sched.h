/*
** The scheduling stage: a walk over pending nodes becomes a plan. It decides what is
** computed together, what must lie in memory, and in which order. It knows no device, no
** kernel text and no addresses.
*/
#ifndef TT_SCHED_SCHED_H
#define TT_SCHED_SCHED_H

#include "ir/grad.h"
#include "ir/plan.h"

/*
** Rows that leave workers idle when each is one's: fewer than `few` and longer than these (points). What reads their
** reductions again in the same row is then a step of its own, so that all workers share each of the reductions.
*/
typedef struct tt_few_rows {
  int few, columns;            /* columns are worked on so many at a time */
  int64_t line, lines, column; /* rows of one stretch of elements, of several, and columns */
} tt_few_rows;

typedef struct tt_sched_options {
  bool fuse; /* false: every op is a step of its own (tests: the second opinion) */
  tt_few_rows few_rows;
  tt_keep keep; /* of steps of training */
} tt_sched_options;

/*
** Make the plan that brings the walk's targets into memory. Every node that a step needs in
** memory is a root of an earlier step or evaluated already.
*/
TT_HIDDEN tt_code tt__schedule(const tt_walk *walk, const tt_sched_options *options, tt_plan **out, tt_error *err);

#endif
