/*
** Kernels whose barriers all threads of a block reach together, by how they stand in the text: the loop over the
** threads is split at them, so that what lies between runs for all threads in one loop, which the compiler turns into
** vectors. Values that a thread keeps across a barrier lie in arrays, one element a thread.
*/
#ifndef TT_LANG_CUDA_C_SPLIT_H
#define TT_LANG_CUDA_C_SPLIT_H

#include "lang/cuda_c/scan.h"

/*
** Append a function "tt_split_NAME" with the parameters of the kernel `k`, that runs one block of it. False: the kernel
** is not of that kind, or nobody can tell; nothing is appended.
*/
TT_HIDDEN bool tt__cudac_split(tt_cudac_scan *s, const tt_cudac_kernel *k, tt_str *out);

#endif
