/* Where a thread wants its new arrays; see wanted.h. */
#include "run/wanted.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

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

/* ---- results of functions */

static bool has_array(const tt_value *arg, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    if (arg[k].tag == TT_V_ARRAY) return true;
    if (arg[k].tag == TT_V_TUPLE && has_array(arg[k].as.tuple.item, arg[k].as.tuple.n)) return true;
  }
  return false;
}

/* Does the row make arrays out of nothing that lies anywhere? Then they go where the thread wants new ones. */
static bool is_maker(const tt_function_info *row, const tt_value *arg, int narg) {
  if (strncmp(row->name, "generator.", 10) == 0) return strcmp(row->name + 10, "new") != 0;
  if (strncmp(row->name, "random.", 7) != 0 && !strstr(row->signature, "device") && !strstr(row->signature, ":dtype"))
    return false;
  return !has_array(arg, narg);
}

/* Where the row's results are to live: what looks like another array lives where that one was put. */
static int place_of(const tt_function_info *row, const tt_value *arg, int narg) {
  if (narg > 0 && arg[0].tag == TT_V_ARRAY && arg[0].as.array->storage->node->device >= 0) {
    const char *like = strstr(row->name, "_like");
    if (like && !like[5]) return arg[0].as.array->storage->node->device;
  }
  return tt__wanted() != TT_AUTO && is_maker(row, arg, narg) ? tt__wanted() : TT_AUTO;
}

tt_code tt__wanted_results(const tt_function_info *row, tt_call_frame *f, tt_error *err) {
  int device = f->scalar ? TT_AUTO : place_of(row, f->arg, f->narg);
  tt_code code = TT_OK;
  for (int i = 0; device != TT_AUTO && code == TT_OK && i < f->out.n; i++) {
    bool placed = f->out.data[i]->storage->node->device != TT_ANYWHERE;
    if (!placed) code = tt__wanted_put(&f->out.data[i], device, err);
  }
  while (code != TT_OK && f->out.n > 0) tt__array_release(f->out.data[--f->out.n]);
  return code;
}
