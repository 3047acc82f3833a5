/* Where a thread wants its new arrays; see wanted.h. */
#include "run/wanted.h"

#include <assert.h>
#include <pthread.h>

#include "base/lock.h"
#include "base/os/os.h"
#include "base/warn.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/session.h"

static int first_device = TT_AUTO; /* what TUTTI_DEVICE says */

static void read_environment(void) {
  const char *name = tt__env("TUTTI_DEVICE");
  tt_error ignored; /* bindings check the name when they are loaded, tt_info shows what was understood */
  if (name && tt__device_named(name, &first_device, &ignored) != TT_OK) first_device = TT_AUTO;
}

/* ---- fork */

static bool is_child;
static int left; /* the device for new arrays, until it has been said that it is no more */

int tt__wanted_here(int device) { return is_child && device > TT_CPU && !tt__device_usable(device) ? TT_CPU : device; }

static void fork_child(void) {
  int *device[] = {&first_device, &tt__session_device};
  is_child = true;
  for (int k = 0; k < 2; k++) {
    if (tt__wanted_here(*device[k]) == *device[k]) continue;
    left = *device[k];
    *device[k] = TT_CPU;
  }
}
/* After the devices' own handlers. */
TT_AT_LOAD(2) static void at_load(void) { pthread_atfork(NULL, NULL, fork_child); }

static void say_left(void) {
  char name[16];
  tt__warn(TT_WARN_RUNTIME,
           "%s cannot be used in a process forked after it was opened: new arrays are on the CPU; use the spawn start "
           "method",
           tt__device_name(left, name));
  left = 0;
}

/* ---- */

int tt__wanted(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static __thread bool started;
  if (!started) {
    started = true;
    pthread_once(&once, read_environment);
    tt__session_device = first_device;
  }
  if (left) say_left();
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
