/*
** CUDA C for a device of OpenCL: the part of the language that has a counterpart in OpenCL C 1.2, by its words. What
** has none is refused with its line.
*/
#ifndef TT_LANG_CUDA_C_OPENCL_TEXT_H
#define TT_LANG_CUDA_C_OPENCL_TEXT_H

#include "lang/cuda_c/device.h"

/* Before the names of functions and kernels, which may be words of OpenCL C. */
#define TT_CUDAC_OPENCL_NAME "tt_user_"

/*
** The program as text and options for a compiler of OpenCL C, with its kernels' names (a line each, as
** tt_cudac_device_text.entries has them; there are no tables of types). A kernel takes one struct by value: an address
** for each pointer among its parameters, one more where their number is odd, and then the parameters as they are, those
** that are pointers as 8 bytes that nobody reads; behind it the memory of each address; and memory of the block where
** it declares some of a size that the launch says.
** TT_ECOMPILE, with the line: what OpenCL C has no words for.
*/
TT_HIDDEN tt_code tt__cudac_opencl_text(const char *source, const tt_cudac_options *o, tt_cudac_device_text *out,
                                        tt_error *err);

#endif
