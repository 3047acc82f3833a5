/*
** Vendor libraries found by pattern, whatever their version and wherever they were installed. Knows no vendor.
*/
#ifndef TT_BASE_OS_FIND_H
#define TT_BASE_OS_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Is this the library that is wanted (its symbols are there, it serves this driver)? */
typedef bool (*tt_library_fits)(void *lib, const char *path, void *ctx);

/*
** The first library called `stem` ("libcublasLt.so") or stem.VERSION for which `fits` (NULL: any) says yes:
**   0. $TUTTI_CUBLASLT (the stem in capitals) and nothing else, if it is set: a path or a name, or "none"
**   1. one that the process has loaded already
**   2. in a folder DIR/nvidia/ANY/lib of tt__find_path (the wheels)
**   3. in $CONDA_PREFIX/lib and $LD_LIBRARY_PATH, newest version first; then by the loader's own rules
**   4. in $CUDA_HOME, $CUDA_PATH, /usr/local/cuda and /usr/local/cuda-*, newest first
** NULL when there is none. `path` (NULL: not wanted) gets where it lies, or a line that says why nothing was found.
** What was opened stays loaded. Slow: the caller remembers the answer. Thread-safe.
*/
TT_HIDDEN void *tt__find_library(const char *stem, tt_library_fits fits, void *ctx, char *path, size_t size);

/* Folders that wheels are installed in, separated by ':' (an interpreter's sys.path). NULL clears it. */
TT_HIDDEN void tt__find_path(const char *dirs);
/* Grows with every call of tt__find_path: who found nothing may look again when it moved. */
TT_HIDDEN int tt__find_path_changes(void);

#endif
