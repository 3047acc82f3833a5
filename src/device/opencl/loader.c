/* Loads libOpenCL.so.1, resolves opencl_api.def in it and lists its devices, once in a process. */
#include "device/opencl/loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/os/os.h"
#include "device/opencl/probe.h"

static tt_lock lock = TT_LOCK_RANKED(1); /* guards what stands below until `ready` or `failed` is set */
static tt_cl_machine machine;
static char reason[400]; /* why there is none */
static _Atomic(const tt_cl_machine *) ready;
static atomic_bool failed;

static const struct {
  bool is_needed;
  const char *symbol;
} cl_rows[] = {
#define TT_CL_FN(need, type, field, symbol, args) {need, symbol},
#include "device/opencl/opencl_api.def"
#undef TT_CL_FN
};
enum { CL_ROWS = sizeof cl_rows / sizeof cl_rows[0] };

const char *tt__cl_resolve(void *lib, tt_cl_api *api) {
  void *fn[CL_ROWS];
  for (int i = 0; i < CL_ROWS; i++) {
    fn[i] = tt__lib_sym(lib, cl_rows[i].symbol);
    if (!fn[i] && cl_rows[i].is_needed) return cl_rows[i].symbol;
  }
  int row = 0;
#define TT_CL_FN(need, type, field, symbol, args) memcpy(&api->field, &fn[row++], sizeof fn[0]);
#include "device/opencl/opencl_api.def"
#undef TT_CL_FN
  return NULL;
}

/* ---- errors */

static const char *const words[] = {
    [0] = "success",
    [1] = "device not found",
    [2] = "device not available",
    [3] = "compiler not available",
    [4] = "memory object allocation failure",
    [5] = "out of resources",
    [6] = "out of host memory",
    [7] = "profiling info not available",
    [8] = "memory copy overlap",
    [11] = "build program failure",
    [12] = "map failure",
    [13] = "misaligned sub-buffer offset",
    [14] = "an event that was waited for failed",
    [30] = "invalid value",
    [34] = "invalid context",
    [36] = "invalid command queue",
    [38] = "invalid memory object",
    [42] = "invalid binary",
    [43] = "invalid build options",
    [44] = "invalid program",
    [45] = "invalid program executable",
    [46] = "invalid kernel name",
    [48] = "invalid kernel",
    [49] = "invalid argument index",
    [50] = "invalid argument value",
    [51] = "invalid argument size",
    [52] = "invalid kernel arguments",
    [53] = "invalid work dimension",
    [54] = "invalid work group size",
    [55] = "invalid work item size",
    [57] = "invalid event wait list",
    [58] = "invalid event",
    [59] = "invalid operation",
    [61] = "invalid buffer size",
    [63] = "invalid global work size",
};

void tt__cl_text(int result, char *out, size_t size) {
  int n = result < 0 && result > -1000 ? -result : 0;
  const char *text = n < (int)(sizeof words / sizeof words[0]) && words[n] ? words[n] : "unknown error";
  if (result == -1001) text = "no platform is registered";
  snprintf(out, size, "%s (%d)", text, result);
}

bool tt__cl_is_final(int result) {
  switch (result) {
    case -2:    /* the device went away */
    case -14:   /* work before it failed */
    case -34:   /* no valid context */
    case -36:   /* nor queue */
    case -9999: /* NVIDIA: an illegal access */
      return true;
    default:
      return false;
  }
}

/* ---- devices */

int64_t tt__cl_number(const tt_cl_api *api, void *device, unsigned what, size_t size) {
  int64_t value = 0;
  return api->device_info(device, what, size, &value, NULL) == 0 ? value : 0;
}

void tt__cl_string(const tt_cl_api *api, void *device, unsigned what, char *out, size_t size) {
  out[0] = 0;
  if (api->device_info(device, what, size, out, NULL) != 0) out[0] = 0;
  out[size - 1] = 0;
}

/* May it be ours: is it there, and has it a compiler? */
static bool serves(void *device) {
  enum { AVAILABLE = 0x1027, COMPILER = 0x1028 };
  return tt__cl_number(&machine.api, device, AVAILABLE, 4) && tt__cl_number(&machine.api, device, COMPILER, 4);
}

static void list_devices_of(void *platform, uint64_t type, bool other) {
  void *device[TT_CL_MOST];
  unsigned n = 0;
  if (machine.api.devices(platform, ~(uint64_t)0 >> 32, TT_CL_MOST, device, &n) != 0) return;
  for (unsigned i = 0; i < n && i < TT_CL_MOST && machine.n < TT_CL_MOST; i++) {
    enum { TYPE = 0x1000 };
    bool is_type = (tt__cl_number(&machine.api, device[i], TYPE, 8) & (int64_t)type) != 0;
    if (is_type != other && serves(device[i])) machine.at[machine.n++] = (tt_cl_place){platform, device[i]};
  }
}

static void *open_loader(const char *library) {
  tt_error why = {0};
  void *lib = tt__lib_open(library, &why);
  const char *missing = lib ? tt__cl_resolve(lib, &machine.api) : NULL;
  if (!lib) snprintf(reason, sizeof reason, "no OpenCL loader (%.300s)", why.message);
  if (missing) snprintf(reason, sizeof reason, "this OpenCL loader is too old: it has no %.60s", missing);
  return missing ? NULL : lib;
}

/* The devices of all platforms but those that are avoided. */
static bool list_machine(uint32_t avoided) {
  void *platform[TT_CL_MOST];
  unsigned n = 0;
  int result = machine.api.platforms(TT_CL_MOST, platform, &n);
  if (result != 0 || n == 0) {
    char text[80];
    tt__cl_text(result ? result : -1001, text, sizeof text);
    snprintf(reason, sizeof reason, "OpenCL has no platform: %s", text);
    return false;
  }
  for (int other = 0; other < 2; other++)
    for (unsigned i = 0; i < n && i < TT_CL_MOST; i++)
      if (!(avoided >> i & 1)) list_devices_of(platform[i], TT_CL_TYPE_GPU, other);
  if (machine.n == 0 && !avoided)
    snprintf(reason, sizeof reason, "no device of OpenCL's %u platforms has a compiler", n);
  return machine.n > 0;
}

/* The loader's name or path; false: there is to be none. */
static bool cl_library(const char **out) {
  const char *asked = tt__env("TUTTI_OPENCL");
  *out = asked ? asked : "libOpenCL.so.1";
  return strcmp(*out, "none") != 0;
}

/* Called under the lock. False with the reason; `again`: the next who asks may find another. */
static bool start_cl(bool *again) {
  const char *library;
  if (!cl_library(&library)) {
    snprintf(reason, sizeof reason, "OpenCL is switched off (TUTTI_OPENCL=none)");
    return false;
  }
  /* What is asked for by name is a list of drivers and loads none when it is opened; a file may be a driver itself. */
  bool is_list = !strchr(library, '/') || access(library, R_OK) != 0;
  tt_cl_verdict verdict;
  if (is_list && !open_loader(library)) return false;
  tt__cl_probe(library, &verdict);
  *again = !verdict.is_known;
  snprintf(machine.note, sizeof machine.note, "%s", verdict.why);
  snprintf(reason, sizeof reason, "%s", verdict.why);
  return verdict.is_safe && (is_list || open_loader(library)) && list_machine(verdict.avoided);
}

/* No TT_LOCK_FORKS: see fork_child. */
static void cl_fork_prepare(void) { tt__fork_lock(&lock); }
static void cl_fork_parent(void) { tt__fork_unlock(&lock); }
/* Drivers do not survive a fork, and what does not work must not be called. */
static void cl_fork_child(void) {
  if (atomic_load(&ready)) {
    atomic_store(&ready, NULL);
    atomic_store(&failed, true);
    snprintf(reason, sizeof reason,
             "OpenCL cannot be used in a process forked after it was started: use the spawn start method");
  }
  tt__fork_unlock(&lock);
}
TT_AT_LOAD(1) static void cl_at_load(void) { pthread_atfork(cl_fork_prepare, cl_fork_parent, cl_fork_child); }

bool tt__cl_leads_with_gpu(void) {
  enum { TYPE = 0x1000 };
  const char *library;
  const tt_cl_machine *m = atomic_load_explicit(&ready, memory_order_acquire);
  if (!m && !atomic_load(&failed) && cl_library(&library)) {
    tt_cl_verdict verdict;
    tt__cl_probe(library, &verdict);
    if (verdict.is_safe && !verdict.has_gpu) return false;
    m = tt__cl_machine(NULL, 0);
  }
  return m && (tt__cl_number(&m->api, m->at[0].device, TYPE, 8) & TT_CL_TYPE_GPU) != 0;
}

const tt_cl_machine *tt__cl_machine(char *why, size_t size) {
  const tt_cl_machine *m = atomic_load_explicit(&ready, memory_order_acquire);
  if (m) return m;
  tt__lock(&lock);
  if (!atomic_load(&ready) && !atomic_load(&failed)) {
    bool again = false;
    if (start_cl(&again))
      atomic_store(&ready, &machine);
    else
      atomic_store(&failed, !again);
  }
  m = atomic_load(&ready);
  if (!m && why && size) snprintf(why, size, "%s", reason);
  tt__unlock(&lock);
  return m;
}
