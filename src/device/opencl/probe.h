/*
** Drivers of OpenCL that end or stop the process that loads them. They are asked in a process of its own first, and
** what came of it is kept on disk, with the drivers' files and when these were written.
**
** That process runs the file which this code is part of: the program, or any program with the shared library loaded
** before all others. A constructor sees that it is one and ends it before the program begins.
**
** TUTTI_OPENCL_PROBE is how many seconds drivers have to answer, 30; 0: they are not asked elsewhere first.
*/
#ifndef TT_DEVICE_OPENCL_PROBE_H
#define TT_DEVICE_OPENCL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* What came of it. */
typedef struct tt_cl_verdict {
  bool is_known;    /* false: nothing was learned (no process could be started, Ctrl-C), so it may be asked again */
  bool is_safe;     /* platforms may be asked for here; else `why` says why not */
  bool has_gpu;     /* (safe) among their devices is one, or nobody has looked */
  uint32_t avoided; /* bit k: nothing is to be asked of the k-th platform */
  char why[300];    /* what became of the last of those; "" where there are none */
} tt_cl_verdict;

/* Ask, or remember. `library`: the path or name of the loader, as it will be opened. Slow where nothing is known. */
TT_HIDDEN void tt__cl_probe(const char *library, tt_cl_verdict *out);

/* ---- between the two processes: lines on the standard output, each behind TT_CL_LINE. Drivers may say what they like
 * beside them. */

#define TT_CL_CHILD "TUTTI_OPENCL_CHILD" /* the variable: "<seconds> <avoided> <library>" */
#define TT_CL_LINE "tutti-opencl "

/*
** What is done there, once what is in the variable was read: says "at K" before the K-th platform is asked (-1: the
** loader), "name TEXT", which is what that is called, and "gpu" for each device that is one; at the end, good or bad,
** "file PATH" for each file of code that is loaded, then "signal N" (a driver failed so) or "done". Ends the process.
*/
_Noreturn TT_HIDDEN void tt__cl_probe_here(int seconds, uint32_t avoided, const char *library);

#endif
