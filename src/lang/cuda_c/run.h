/*
** Launches of compiled CUDA C kernels on the processor's cores. It knows entries and raw arguments, not arrays.
*/
#ifndef TT_LANG_CUDA_C_RUN_H
#define TT_LANG_CUDA_C_RUN_H

#include "base/err.h"
#include "base/str.h"
#include "lang/check/check.h"
#include "lang/cuda_c/cudac_abi.h"
#include "tutti/types.h"

/* Can this grid run? TT_EVALUE: its blocks wait for each other, and are too many. */
TT_HIDDEN tt_code tt__cudac_fits(const tt_cudac_entry *e, const tt_grid *g, bool check, tt_error *err);

/*
** Run all blocks; arg[k] points at the k-th argument. Waits. What the kernel printed is appended to `output`.
** TT_EDEVICE: an assertion or a trap, a barrier that not all threads reach, an access to memory that is not there.
** TT_EINTERRUPT: Ctrl-C. In each of these cases some threads have run and others not. With a `check` (not begun) that
** watches them all threads run on the calling one, and what it finds is the error, TT_EINDEX or TT_EDEVICE; the entry
** must be one of threads that may wait (sync 1).
*/
TT_HIDDEN tt_code tt__cudac_run(const tt_cudac_entry *e, const tt_grid *g, void *const *arg, tt_check *check,
                                tt_str *output, tt_error *err);

/* What compiled programs call. Its barriers take the place they are called from; other programs say theirs. */
TT_HIDDEN void tt__cudac_barrier(int value, int *sum, int *threads, const void *site);
TT_HIDDEN void tt__cudac_grid_barrier(const void *site);
TT_HIDDEN extern const tt_cudac_core tt__cudac_core;

#endif
