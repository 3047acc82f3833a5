/*
** The axes of a kernel: their order, which is the lane, what can be merged. Private to kernel/.
*/
#ifndef TT_KERNEL_AXES_H
#define TT_KERNEL_AXES_H

#include "kernel/decompose.h"

typedef struct tt_axes {
  tt_mode mode;
  int naxes, nouter, lane;
  int64_t len[TT_MAX_AXES];
  int64_t *step; /* [access * naxes], in r's arena */
} tt_axes;

/* False: out of memory. */
TT_HIDDEN bool tt__axes_choose(tt_decomposer *r, tt_axes *out);

#endif
