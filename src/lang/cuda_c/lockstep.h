/*
** Kernels whose warps exchange values: all threads of a block come to an exchange together, as they do to a barrier, so
** it is a step of its own between two loops over the threads, and no thread needs a stack.
*/
#ifndef TT_LANG_CUDA_C_LOCKSTEP_H
#define TT_LANG_CUDA_C_LOCKSTEP_H

#include "lang/cuda_c/scan.h"

/*
** Append the whole text with the kernel written so that cuda_c/split.c can split it: statements with shuffles become
** "tt_exchange_KIND(to, from, by, width);" and a statement that reads `to`, conditions around them become variables
** that guard what stands inside, and functions that shuffle are written out where they are called. False: it has
** no shuffle, or one that is not of this kind.
*/
TT_HIDDEN bool tt__cudac_lockstep(tt_cudac_scan *s, const tt_cudac_kernel *k, tt_str *out);

#endif
