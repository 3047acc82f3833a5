/*
** Cutting kernel steps: whether a step shall run in pieces on a device, what it reads coming up from the host and what
** it gives going down while the device works on the pieces between, and in which. For steps whose operands lie on the
** host and whose results are asked for there, and for steps that have no room on the device as a whole.
*/
#ifndef TT_SCHED_CUT_KERNEL_H
#define TT_SCHED_CUT_KERNEL_H

#include "sched/situation.h"

/* Pieces of which the device holds parts at once in windows; the most scalars of a kernel. */
enum { TT_CUT_DEPTH = 3, TT_CUT_SCALARS = 256 };

/* May it? Enough moves, or there is no room for the whole. Asked of every step, so it looks at no more than it must. */
TT_HIDDEN bool tt__cut_kernel_may(const tt_situation *s, int step, tt_where device);

/* Shall the step run so? It must (there is no room for the whole), or it is predicted to be done sooner. */
TT_HIDDEN bool tt__cut_kernel_pays(const tt_situation *s, int step, tt_where device, tt_kernel_cut *out);

/* The same when the whole has been found to have no room: can it be done in windows? */
TT_HIDDEN bool tt__cut_kernel_fits(const tt_situation *s, int step, tt_where device, tt_kernel_cut *out);

#endif
