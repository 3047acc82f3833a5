/* Devices of OpenCL 1.2 and up, whoever makes them: "opencl:0" and so on. Needs no headers of OpenCL to build. */
#ifndef TT_DEVICE_OPENCL_OPENCL_H
#define TT_DEVICE_OPENCL_OPENCL_H

#include "ir/device.h"

TT_HIDDEN extern const tt_device_ops tt__opencl_ops;

#endif
