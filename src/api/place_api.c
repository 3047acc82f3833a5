/*
** Where arrays live: the public functions of tutti/device.h that makers of arrays need. Apart from the others of that
** header, because these must not draw the evaluator in: a program of the graph alone links without it.
*/
#include <pthread.h>

#include "base/os.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/session.h"
#include "tutti/device.h"

_Static_assert(TT_CUDA(3) == (TT_DEVICE_CUDA << 8 | 3), "the public number of a GPU");

static int first_device = TT_AUTO; /* what TUTTI_DEVICE says */

static void read_environment(void) {
  const char *name = tt__env("TUTTI_DEVICE");
  tt_error ignored; /* bindings check the name when they are loaded, tt_info shows what was understood */
  if (name && tt__device_named(name, &first_device, &ignored) != TT_OK) first_device = TT_AUTO;
}

int tt_get_device(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static __thread bool started;
  if (!started) {
    started = true;
    pthread_once(&once, read_environment);
    tt__session_device = first_device;
  }
  return tt__session_device;
}

int tt_set_device(int device) {
  int before = tt_get_device();
  tt__session_device = device;
  return before;
}

int tt_array_device(tt_array *a) {
  tt__session_lock();
  int device = tt__array_device(a);
  tt__session_unlock();
  return device;
}

tt_code tt_array_to(tt_array *a, int device, tt_array **out, tt_error *err) {
  tt_device *d;
  tt_error local;
  *out = NULL;
  if (!err) err = &local;
  TT_TRY(tt__device_open(device, &d, err)); /* the first use may take long: not under the lock */
  tt__session_lock();
  err->code = TT_OK;
  tt_code code = tt__array_to(a, device, out, err);
  tt__session_unlock();
  return code != TT_OK && err->code != TT_OK ? err->code : code;
}
