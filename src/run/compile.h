/*
** Tier 1: kernels to machine code. Rendered, looked up on disk, and what is not there compiled in
** one run of the system's compiler and kept.
*/
#ifndef TT_RUN_COMPILE_H
#define TT_RUN_COMPILE_H

#include "ir/kernel.h"

/*
** fn[i] for each of the `n` sealed kernels; any order, any number, duplicates allowed. Slow (tens of
** milliseconds): for the background lane. On failure fn[i] is NULL for those kernels that have no code, the
** others are there, and the first reason is in `err` (TT_EDEVICE: no compiler, or it failed). The kernels are
** borrowed for the call; the functions live as long as the process.
*/
TT_HIDDEN tt_code tt__compile_kernels(const tt_kernel *const *k, int n, tt_kernel_fn *fn, tt_error *err);

/* Only what is on disk (or was loaded from it): cheap enough to ask before the first interpreted run. NULL: not
 * there. */
TT_HIDDEN tt_kernel_fn tt__compile_peek(const tt_kernel *k);

#endif
