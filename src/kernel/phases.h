/*
** Time inside a kernel: which loop over the row computes what. Private to kernel/.
*/
#ifndef TT_KERNEL_PHASES_H
#define TT_KERNEL_PHASES_H

#include "kernel/axes.h"

/* Write k's instruction list (and scratches). `scratch`: rows are short enough to keep values between phases. */
TT_HIDDEN bool tt__phases_emit(tt_real *r, const tt_axes *axes, bool scratch, tt_kernel *k);

#endif
