/*
** Where a thread wants its new arrays: on the device that it chose, else on that of TUTTI_DEVICE. Apart from what
** evaluates, because a program of the graph alone links without that.
**
** A child of fork cannot use a device of its parent's. Where that was the one for new arrays they go to the CPU, with a
** warning: a pool's worker that fails as it reads its task leaves its parent waiting for ever. What lay there, or is
** sent there by name, is an error.
*/
#ifndef TT_RUN_WANTED_H
#define TT_RUN_WANTED_H

#include "fn/function.h"

/* A device's id, or TT_AUTO: nowhere in particular. */
TT_HIDDEN int tt__wanted(void);
/* Choose; returns what it was before. */
TT_HIDDEN int tt__wanted_set(int device);
/* The device meant by `device` in this process: in a child of fork the CPU, for one that its parent had in use. */
TT_HIDDEN int tt__wanted_here(int device);
/* Put a new array on `device` (TT_AUTO: it stays as it is). Session lock held. On failure the hold on *a is gone. */
TT_HIDDEN tt_code tt__wanted_put(tt_array **a, int device, tt_error *err);
/* Put the results of a function's call where they are to live. Session lock held. On failure the call has none. */
TT_HIDDEN tt_code tt__wanted_results(const tt_function_info *row, tt_call_frame *f, tt_error *err);

#endif
