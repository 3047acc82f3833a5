/*
** The CUDA back end of ir/device.h, over the driver's own interface. Without a driver, count() is 0 and says why.
*/
#ifndef TT_DEVICE_CUDA_CUDA_H
#define TT_DEVICE_CUDA_CUDA_H

#include "ir/device.h"

TT_HIDDEN extern const tt_device_ops tt__cuda_ops;

#endif
