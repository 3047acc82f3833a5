/* Loads libcuda.so.1, resolves cuda_api.def in it and starts it, once in a process. */
#include "device/cuda/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/os/os.h"

enum { OLDEST_DRIVER = 12000 };

static tt_lock lock = TT_LOCK_RANKED(1); /* guards what stands below until `ready` or `failed` is set */
static tt_cuda_api table;
static char reason[400]; /* why there is none */
static _Atomic(const tt_cuda_api *) ready;
static atomic_bool failed;

typedef void (*any_fn)(void);

static const struct {
  bool is_needed;
  const char *symbol;
} rows[] = {
#define TT_CUDA_FN(need, field, symbol, args) {need, symbol},
#include "device/cuda/cuda_api.def"
#undef TT_CUDA_FN
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The first name that is missing, or NULL. */
static const char *resolve(void *lib) {
  void *fn[ROWS];
  for (int i = 0; i < ROWS; i++) {
    fn[i] = tt__lib_sym(lib, rows[i].symbol);
    if (!fn[i] && rows[i].is_needed) return rows[i].symbol;
  }
  int row = 0;
#define TT_CUDA_FN(need, field, symbol, args) memcpy(&table.field, &fn[row++], sizeof fn[0]);
#include "device/cuda/cuda_api.def"
#undef TT_CUDA_FN
  return NULL;
}

void tt__cuda_text(const tt_cuda_api *api, int result, char *out, size_t size) {
  const char *name = NULL, *text = NULL;
  api->error_name(result, &name);
  api->error_text(result, &text);
  snprintf(out, size, "%s (%s)", text ? text : "unknown error", name ? name : "no name");
}

bool tt__cuda_is_final(int result) {
  switch (result) {
    case 46:  /* the device went away */
    case 201: /* no valid context */
    case 214: /* memory error that could not be corrected */
    case 220: /* the same on a link */
    case 226: /* contained memory error: this context is lost */
    case 700: /* illegal address */
    case 702: /* a kernel ran too long */
    case 709: /* context destroyed */
    case 710: /* assert on the device */
    case 714: /* stack */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* address space */
    case 718: /* program counter */
    case 719: /* launch failed */
    case 721: /* tensor memory leak */
    case TT_CUDA_SHUTDOWN:
      return true;
    default:
      return false;
  }
}

static const char *visible(char out[160]) {
  const char *text = getenv("CUDA_VISIBLE_DEVICES");
  snprintf(out, 160, text ? " (CUDA_VISIBLE_DEVICES: '%.100s')" : "", text);
  return out;
}

/* Called once, under the lock. False with the reason. */
static bool start(void) {
  const char *asked = tt__env("TUTTI_CUDA");
  if (asked && strcmp(asked, "none") == 0) {
    snprintf(reason, sizeof reason, "CUDA is switched off (TUTTI_CUDA=none)");
    return false;
  }
  tt_error why = {0};
  void *lib = tt__lib_open(asked ? asked : "libcuda.so.1", &why);
  if (!lib && !asked) lib = tt__lib_open("/usr/lib/wsl/lib/libcuda.so.1", NULL);
  if (!lib) {
    snprintf(reason, sizeof reason, "no NVIDIA driver (%.300s)", why.message);
    return false;
  }
  const char *missing = resolve(lib);
  if (table.driver_version) table.driver_version(&table.version);
  if (missing || table.version < OLDEST_DRIVER) {
    snprintf(reason, sizeof reason, "the NVIDIA driver is too old: it knows CUDA %d.%d, at least %d.%d is needed%s%s",
             table.version / 1000, table.version % 1000 / 10, OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10,
             missing ? "; missing: " : "", missing ? missing : "");
    return false;
  }
  int result = table.init(0);
  if (result == TT_CUDA_OK) result = table.device_count(&table.devices);
  if (result == TT_CUDA_OK && table.devices == 0) result = TT_CUDA_NO_DEVICE;
  if (result == TT_CUDA_NO_DEVICE) {
    char hidden[160];
    snprintf(reason, sizeof reason, "no CUDA device is visible%s", visible(hidden));
  } else if (result != TT_CUDA_OK) {
    char text[200];
    tt__cuda_text(&table, result, text, sizeof text);
    snprintf(reason, sizeof reason, "the NVIDIA driver does not start: %s", text);
  }
  return result == TT_CUDA_OK;
}

/* No TT_LOCK_FORKS: see fork_child. */
static void fork_prepare(void) { tt__fork_lock(&lock); }
static void fork_parent(void) { tt__fork_unlock(&lock); }
/* The driver does not survive a fork, and what does not work must not be called. */
static void fork_child(void) {
  if (atomic_load(&ready)) {
    atomic_store(&ready, NULL);
    atomic_store(&failed, true);
    snprintf(reason, sizeof reason,
             "CUDA cannot be used in a process forked after it was started: use the spawn start method");
  }
  tt__fork_unlock(&lock);
}
TT_AT_LOAD(1) static void at_load(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

const tt_cuda_api *tt__cuda_driver(char *why, size_t size) {
  const tt_cuda_api *api = atomic_load_explicit(&ready, memory_order_acquire);
  if (api) return api;
  tt__lock(&lock);
  if (!atomic_load(&ready) && !atomic_load(&failed)) {
    if (start())
      atomic_store(&ready, &table);
    else
      atomic_store(&failed, true);
  }
  api = atomic_load(&ready);
  if (!api && why && size) snprintf(why, size, "%s", reason);
  tt__unlock(&lock);
  return api;
}
