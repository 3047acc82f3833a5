/* Where a thread wants its new arrays; see wanted.h. */
#include "run/wanted.h"

#include <assert.h>
#include <pthread.h>

#include "base/os.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/session.h"

static int first_device = TT_AUTO; /* what TUTTI_DEVICE says */

static void read_environment(void) {
  const char *name = tt__env("TUTTI_DEVICE");
  tt_error ignored; /* bindings check the name when they are loaded, tt_info shows what was understood */
  if (name && tt__device_named(name, &first_device, &ignored) != TT_OK) first_device = TT_AUTO;
}

int tt__wanted(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static __thread bool started;
  if (!started) {
    started = true;
    pthread_once(&once, read_environment);
    tt__session_device = first_device;
  }
  return tt__session_device;
}

int tt__wanted_set(int device) {
  int before = tt__wanted();
  tt__session_device = device;
  return before;
}

tt_code tt__wanted_put(tt_array **a, int device, tt_error *err) {
  tt_array *made = *a;
  assert(made);
  if (device == TT_AUTO) return TT_OK;
  tt_code code = tt__array_to(made, device, a, err);
  tt__array_release(made);
  return code;
}
