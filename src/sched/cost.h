/*
** What steps of a plan are predicted to take: a roofline of the machine's figures, or what was measured of such steps.
** Moves are left aside.
*/
#ifndef TT_SCHED_COST_H
#define TT_SCHED_COST_H

#include "ir/library.h"
#include "sched/situation.h"

/* Nanoseconds of a step on the host; on a device: with its operands there, in a row of steps. */
TT_HIDDEN double tt__cost_here(const tt_situation *s, int step);
TT_HIDDEN double tt__cost_there(const tt_situation *s, int step, tt_where device);

/* Does the device not compute in a type of this kernel? Then the host does. */
TT_HIDDEN bool tt__cost_lacks(const tt_situation *s, int step, tt_where device);

/* Of a kernel, by the machine's figures alone. */
TT_HIDDEN double tt__cost_kernel_here(const tt_step_work *work, const tt_machine *m);
TT_HIDDEN double tt__cost_kernel_there(const tt_step_work *work, const tt_machine_device *d);

/* A call of a library row. */
typedef struct tt_cost_call {
  const tt_lib_row *row;
  tt_dtype dtype;
  double bytes; /* read and written */
  tt_lib_work work;
} tt_cost_call;

/* Of a library step that has not run. */
TT_HIDDEN tt_cost_call tt__cost_call(const tt_walk *walk, const tt_step *step);
/* By the machine's figures alone. */
TT_HIDDEN double tt__cost_call_here(const tt_cost_call *call, const tt_machine *m);
TT_HIDDEN double tt__cost_call_there(const tt_cost_call *call, const tt_machine_device *d);

#endif
