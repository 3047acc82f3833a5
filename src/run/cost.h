/*
** What steps of a plan are predicted to take: a roofline of the machine's figures, or what was measured of such steps.
** Moves are left aside. Private to run/. Session lock held.
*/
#ifndef TT_RUN_COST_H
#define TT_RUN_COST_H

#include "ir/device.h"
#include "ir/library.h"
#include "ir/plan.h"

struct tt_launch;

/* Nanoseconds on the CPU. */
TT_HIDDEN double tt__cost_here(const tt_walk *walk, const tt_step *s);
/* On a device: with its operands there, in a row of steps. */
TT_HIDDEN double tt__cost_there(const tt_walk *walk, const tt_step *s, tt_device *d);
TT_HIDDEN double tt__cost_kernel(const struct tt_launch *l, tt_device *d);

/* A call of a library row. Below, d NULL: on the CPU. */
typedef struct tt_cost_call {
  const tt_lib_row *row;
  tt_dtype dtype;
  double bytes; /* read and written */
  tt_lib_work work;
} tt_cost_call;

/* Of a library step that has not run. */
TT_HIDDEN tt_cost_call tt__cost_call(const tt_walk *walk, const tt_step *s);
/* By the machine's figures, and what was measured of such calls; 0: nothing was. */
TT_HIDDEN double tt__cost_likely(const tt_cost_call *call, tt_device *d);
TT_HIDDEN double tt__cost_measured(const tt_cost_call *call, tt_device *d);
/* It was done, in so many nanoseconds; 0: nobody looked. */
TT_HIDDEN void tt__cost_took(const tt_cost_call *call, tt_device *d, double ns);
/* The device left it to the host: such calls are expected to go that way from now on. */
TT_HIDDEN void tt__cost_left(const tt_cost_call *call);
/* Will the device leave it to the host? */
TT_HIDDEN bool tt__cost_leaves(const tt_cost_call *call, tt_device *d);

#endif
