/*
** Launches over OpenCL's index spaces: checked, and turned into a grid of blocks.
*/
#ifndef TT_LAUNCH_RANGE_H
#define TT_LAUNCH_RANGE_H

#include "launch/cuda_c/program.h"
#include "tutti/opencl.h"

/* Session lock held; given up while code is compiled. tt_entry_range has the errors. */
TT_HIDDEN tt_code tt__entry_range(tt_entry *r, const tt_range *range, const tt_argument *arg, int n, tt_error *err);

#endif
