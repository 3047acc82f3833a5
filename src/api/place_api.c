/*
** Where arrays live: the public functions of tutti/device.h that makers of arrays need. Apart from the others of that
** header, because these must not draw the evaluator in: a program of the graph alone links without it.
*/
#include "api/enter.h"
#include "device/device.h"
#include "graph/build.h"
#include "run/wanted.h"
#include "tutti/device.h"

_Static_assert(TT_CUDA(3) == (TT_DEVICE_CUDA << 8 | 3), "the public number of a GPU");
_Static_assert(TT_OPENCL(3) == (TT_DEVICE_OPENCL << 8 | 3), "the public number of an OpenCL device");

int tt_get_device(void) { return tt__wanted(); }
int tt_set_device(int device) { return tt__wanted_set(device); }

int tt_array_device(tt_array *a) {
  tt__session_lock();
  int device = tt__array_device(a);
  tt__session_unlock();
  return device;
}

tt_code tt_array_to(tt_array *a, int device, tt_array **out, tt_error *err) {
  tt_device *d;
  tt_entered c;
  *out = NULL;
  TT_TRY(tt__device_open(device, &d, err)); /* the first use may take long: not under the lock */
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__array_to(a, device, out, err));
}
