/*
** A compiler's object file as running code, without a linker: starting one costs as much as compiling a short loop.
** Only what compilers make of position independent C is known; the rest is for the linker.
*/
#ifndef TT_DEVICE_CPU_OBJECT_H
#define TT_DEVICE_CPU_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Is it a relocatable object, not a shared library? */
TT_HIDDEN bool tt__object_is(const void *bytes, size_t size);

/*
** Load it and find its `n` global functions. Names that it lacks are looked up in the process. The code stays until the
** process ends. TT_ENOTIMPL: it holds something that is not known here, or memory may not be made executable: link it.
** TT_EDEVICE: it lacks one of the functions.
*/
TT_HIDDEN tt_code tt__object_load(const void *bytes, size_t size, const char *const *names, int n, void **fns,
                                  tt_error *err);

#endif
