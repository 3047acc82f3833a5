/*
** Programs in OpenCL C on OpenCL's devices, which compile the text themselves.
*/
#ifndef TT_LAUNCH_OPENCL_C_DEVICE_TEXT_H
#define TT_LAUNCH_OPENCL_C_DEVICE_TEXT_H

#include "launch/cuda_c/device_program.h"

/*
** Compile `source` (or find it on disk) for `d`, load it, ask what its kernels take. `file` is what messages call it,
** `options` as clBuildProgram takes them, or NULL. Takes long, waits; the session's lock is not held. TT_ECOMPILE: what
** the device's compiler said, or images and their like. TT_ENOTIMPL: a device that compiles no OpenCL C.
*/
TT_HIDDEN tt_code tt__device_program_opencl(tt_device *d, const char *source, const char *file, const char *options,
                                            tt_device_program **out, tt_error *err);

#endif
