/*
** Time inside a kernel: which loop over the row computes what. Private to kernel/.
*/
#ifndef TT_KERNEL_PHASES_H
#define TT_KERNEL_PHASES_H

#include "kernel/axes.h"

/* Values kept between phases, at most. Each may add an access per phase (of at most 31). */
#define TT_MOST_SCRATCH 8

/* Write k's instruction list (and scratches). `scratch`: rows are short enough to keep values between phases. */
TT_HIDDEN bool tt__phases_emit(tt_decomposer *r, const tt_axes *axes, bool scratch, tt_kernel *k);

#endif
