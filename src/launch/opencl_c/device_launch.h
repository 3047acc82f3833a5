/*
** Launches of kernels in OpenCL C where memory has handles and arguments are set one by one.
*/
#ifndef TT_LAUNCH_OPENCL_C_DEVICE_LAUNCH_H
#define TT_LAUNCH_OPENCL_C_DEVICE_LAUNCH_H

#include "launch/cuda_c/program.h"
#include "launch/record.h"

/* The arguments of a launch, and the arrays among them with where they stand. */
typedef struct tt_device_launch {
  const tt_entry *entry;
  const tt_argument *arg;
  int n;
  const tt_call_array *array;
  int narray;
} tt_device_launch;

/*
** What begins at no multiple of the device's alignment is copied for the launch and back behind it. Then no other
** argument may name some of the same bytes, unless all are only read or are the same: TT_EVALUE.
*/
TT_HIDDEN tt_code tt__device_launch_parts(const tt_device_launch *l, const tt_device *d, tt_error *err);

/* A build says what a kernel takes: TT_EDEVICE if that is something else than in the first build. */
TT_HIDDEN tt_code tt__entry_same(const tt_entry *e, const tt_cudac_param *param, int n, const char *where,
                                 tt_error *err);
/* Tell the device where the arguments stand; from `sizes` on follow the bytes behind each address. */
TT_HIDDEN tt_code tt__entry_place(const tt_entry *e, tt_device *d, tt_device_entry *there, size_t sizes, tt_error *err);

#endif
