/*
** Kernel steps in pieces, as sched/cut_kernel.h cut them: what a step reads comes up from the host piece by piece, and
** what it gives goes down, while the device works on the pieces between. Private to run/.
*/
#ifndef TT_RUN_OUTOFCORE_STREAM_KERNEL_H
#define TT_RUN_OUTOFCORE_STREAM_KERNEL_H

#include "ir/device.h"
#include "sched/cut_kernel.h"

/*
** Run it; waits for results that come down. TT_ENOTIMPL and TT_ENOMEM leave everything as it was. Session lock held,
** and given up while bytes move.
*/
TT_HIDDEN tt_code tt__stream_kernel(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_kernel_cut *how,
                                    tt_error *err);

#endif
