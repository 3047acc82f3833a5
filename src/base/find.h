/*
** Vendor libraries found by pattern, whatever their version and wherever they were installed. Knows no vendor.
*/
#ifndef TT_BASE_FIND_H
#define TT_BASE_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Is this the library that is wanted (its symbols are there, it serves this driver)? */
typedef bool (*tt_library_fits)(void *lib, const char *path, void *ctx);

/*
** The first library called `stem` ("libcublasLt.so") or stem.VERSION for which `fits` (NULL: any) says yes:
**   1. one that the process has loaded already
**   2. in a folder DIR/nvidia/ANY/lib of tt__find_path (the wheels)
**   3. by the loader's own rules, newest version first
**   4. in $CUDA_HOME, $CUDA_PATH and /usr/local/cuda*, newest first
** NULL when there is none. `path` (NULL: not wanted) gets where it lies. A library that did not fit is let go. Slow:
** the caller remembers the answer.
*/
TT_HIDDEN void *tt__find_library(const char *stem, tt_library_fits fits, void *ctx, char *path, size_t size);

/* Folders that wheels are installed in, separated by ':' (an interpreter's sys.path). NULL clears it. */
TT_HIDDEN void tt__find_path(const char *dirs);

#endif
