/*
** Programs in OpenCL C for the processor. They go the way of CUDA C (lang/cuda_c): behind the preprocessor the text is
** written in CUDA C's words, and runs as such behind a prelude of its own. What the words do not say (vectors,
** functions, conversions) is in that prelude.
*/
#ifndef TT_LANG_OPENCL_C_OPENCL_H
#define TT_LANG_OPENCL_C_OPENCL_H

#include "lang/cuda_c/cudac.h"

/* What tt__cudac_build has to know to take OpenCL C. */
TT_HIDDEN extern const tt_cudac_language tt__opencl_language;

/*
** Options as clBuildProgram takes them, in one text, as flags of tt__cudac_build: those that say nothing here are left
** out. Each flag in `out` ends with a null byte; *n is how many. TT_EVALUE: an option that OpenCL does not have.
*/
TT_HIDDEN tt_code tt__opencl_flags(const char *options, tt_str *out, int *n, tt_error *err);

#endif
