/*
** What calls of library rows were seen to take, here and on a device, and which a device left to the host: facts for
** sched/cost.h. Private to run/. Session lock held. Below, d NULL: on the CPU.
*/
#ifndef TT_RUN_MACHINE_LIBRARY_PACE_H
#define TT_RUN_MACHINE_LIBRARY_PACE_H

#include "ir/device.h"
#include "sched/cost.h"

/* By the machine's figures alone. */
TT_HIDDEN double tt__library_likely(const tt_cost_call *call, tt_device *d);
/* By what was measured of such calls of about that size, or of one up to `far` classes of size away; 0: nothing was. */
TT_HIDDEN double tt__library_measured(const tt_cost_call *call, tt_device *d, int far);
/* It was done, in so many nanoseconds; 0: nobody looked. */
TT_HIDDEN void tt__library_took(const tt_cost_call *call, tt_device *d, double ns);
/* The device left it to the host: such calls are expected to go that way from now on. */
TT_HIDDEN void tt__library_left(const tt_cost_call *call);
/* Will the device leave it to the host? */
TT_HIDDEN bool tt__library_leaves(const tt_cost_call *call, tt_device *d);

#endif
