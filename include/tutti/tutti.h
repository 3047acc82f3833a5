/*
** tutti: one include for C programs.
**
**   cc prog.c $(pkg-config --cflags --libs tutti)
*/
#ifndef TUTTI_H
#define TUTTI_H

#include "tutti/array.h"
#include "tutti/autocast.h"
#include "tutti/device.h"
#include "tutti/elementwise.h"
#include "tutti/expression.h"
#include "tutti/grad.h"
#include "tutti/kernel.h"
#include "tutti/jit.h"
#include "tutti/monitor.h"
#include "tutti/opencl.h"
#include "tutti/optim.h"
#include "tutti/parallel.h"
#include "tutti/safetensors.h"
#include "tutti/segment.h"
#include "tutti/status.h"
#include "tutti/stream.h"
#include "tutti/types.h"

#endif
