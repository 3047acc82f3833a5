/*
** The CUDA back end of ir/device.h, over the driver's own interface. Without a driver, count() is 0 and says why.
*/
#ifndef TT_DEVICE_CUDA_CUDA_H
#define TT_DEVICE_CUDA_CUDA_H

#include "ir/device.h"

TT_HIDDEN extern const tt_device_ops tt__cuda_ops;

/* "driver CUDA 13.0, NVRTC 13.0 (path)", or what is missing. */
TT_HIDDEN void tt__cuda_info(char *out, size_t size);

#endif
