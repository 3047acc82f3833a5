/*
** Second forms of kernels. In the user's own form the built-in variables are thread-local memory, which device
** functions can see; every access is a call. Where the text tells who looks at them, they are arguments and local
** variables.
*/
#ifndef TT_LANG_CUDA_C_FORM_H
#define TT_LANG_CUDA_C_FORM_H

#include "lang/cuda_c/scan.h"

/*
** The head of another form of kernel `k` up to its brace: the user's, with `prefix` before the name and `hidden`
** (parameters) before the others.
*/
TT_HIDDEN void tt__cudac_form_head(const tt_cudac_scan *s, const tt_cudac_kernel *k, const char *prefix,
                                   const char *hidden, tt_str *out);

/*
** Append a function "tt_thread_NAME", one thread of a kernel that waits for nobody, told its place by five parameters
** before the kernel's own; sets k->is_strip.
*/
TT_HIDDEN void tt__cudac_form_thread(tt_cudac_scan *s, tt_cudac_kernel *k, tt_str *out);

/* Does anything but the kernel's own text look at the thread's place? Then it must be in the thread-local variables. */
TT_HIDDEN bool tt__cudac_form_tells(tt_cudac_scan *s, const tt_cudac_kernel *k);

#endif
