/*
** The public functions of tutti/device.h: arguments, locks and statuses, nothing else.
*/
#include "tutti/device.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/os/find.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "base/version.h"
#include "device/cache_alloc.h"
#include "device/cpu/vm.h"
#include "device/streams.h"
#include "device/describe.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/build.h"
#include "graph/call.h"
#include "graph/eager/compute.h"
#include "graph/session.h"
#include "graph/slab.h"
#include "lib/product/blas_host.h"
#include "lib/product/device.h"
#include "lib/fft/plan.h"
#include "run/outofcore/double_buffer.h"
#include "run/exec.h"
#include "run/exec_call.h"
#include "run/report/explain.h"
#include "run/cache/cache_files.h"
#include "run/report/profile.h"
#include "run/realize.h"

const char *tt_version(void) { return TUTTI_VERSION; }

void tt_ledger_read(tt_ledger *out) {
#define READ(name, what) out->name = __atomic_load_n(&tt__ledger.name, __ATOMIC_RELAXED);
  TT_LEDGER_ROWS(READ)
#undef READ
}

void tt_ledger_reset(void) {
#define RESET(name, what) __atomic_store_n(&tt__ledger.name, 0, __ATOMIC_RELAXED);
  TT_LEDGER_ROWS(RESET)
#undef RESET
}

void tt_strict(bool copy, bool fallback) {
  tt__session_strict_copy = copy;
  tt__session_strict_fallback = fallback;
}

bool tt_defer_checks(bool on) {
  bool before = tt__session_defer;
  tt__session_defer = on;
  return before;
}

int tt_threads(void) { return tt__pool_size(); }
void tt_set_threads(int n) { tt__pool_resize(n); }

void tt_memory_read(tt_memory *out) { tt__describe_host_memory(out); }
void tt_memory_reset_peak(void) { tt__mem_reset_peak(); }

void tt_memory_trim(void) {
  tt__session_lock();
  tt__realize_trim();
  tt__slab_trim();
  tt__session_unlock();
  tt__fft_plans_drop();
  tt__mem_trim();
}

/* ---- devices */

int tt_device_count(void) { return tt__describe_count(); }
int tt_device_at(int k) { return tt__describe_at(k); }

tt_code tt_device_named(const char *name, int *device, tt_error *err) {
  *device = TT_AUTO;
  return tt__device_named(name, device, err);
}

bool tt_device_name(int device, char *out, size_t size) { return tt__describe_name(device, out, size); }

const char *tt_device_missing(const char *type) {
  tt__session_lock();
  const char *why = tt__describe_missing(type);
  tt__session_unlock();
  return why;
}

tt_code tt_device_read(int device, tt_device_info *out, tt_error *err) { return tt__describe(device, out, err); }

/* ---- memory */

tt_code tt_device_memory(int device, tt_memory *out, tt_error *err) { return tt__describe_memory(device, out, err); }
tt_code tt_pinned_memory(int device, tt_memory *out, tt_error *err) { return tt__describe_pinned(device, out, err); }

tt_code tt_pinned_trim(int device, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  if (d) tt__pinned_drop(d);
  return TT_OK;
}

tt_code tt_device_memory_reset_peak(int device, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  if (d) {
    tt__dmem_reset_peak(d);
  } else {
    tt_memory_reset_peak();
  }
  return TT_OK;
}

tt_code tt_device_trim(int device, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  if (d) {
    tt__session_lock(); /* an evaluation under way may have gathered work on freed memory */
    tt__double_buffer_drop(d);
    tt__dmem_trim(d);
    tt__session_unlock();
  } else {
    tt_memory_trim();
  }
  return TT_OK;
}

tt_code tt_device_set_limit(int device, int64_t bytes, tt_error *err) {
  tt_device *d;
  if (bytes < 0) return tt__fail(err, TT_EVALUE, "a limit of memory is not negative");
  TT_TRY(tt__device_open(device, &d, err));
  if (d) {
    tt__dmem_set_limit(d, bytes);
  } else {
    tt__mem_set_limit(bytes);
  }
  return TT_OK;
}

tt_code tt_device_synchronize(int device, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  TT_TRY(tt__calls_flush(err));
  if (d) TT_TRY(d->ops->wait_all(d, err));
  return tt__call_late(err);
}

/* ---- plans and texts */

char *tt_explain(tt_array *const *arrays, int n) {
  tt__session_lock();
  char *text = tt__explain(arrays, n);
  tt__session_unlock();
  return text;
}

char *tt_info(void) {
  tt__session_lock();
  char *text = tt__info(tt_version());
  tt__session_unlock();
  return text;
}

void tt_text_free(char *text) {
  if (text) tt__mem_free(text, strlen(text) + 1);
}

tt_code tt_profile_start(tt_error *err) {
  (void)err;
  tt__session_lock();
  tt__profile_start();
  tt__eager_pause(true);
  tt__session_unlock();
  return TT_OK;
}

void tt_profile_stop(void) {
  tt__session_lock();
  tt__profile_stop();
  tt__eager_pause(false);
  tt__session_unlock();
}

char *tt_profile_table(void) {
  tt__session_lock();
  char *text = tt__profile_table();
  tt__session_unlock();
  return text;
}

char *tt_profile_trace(void) {
  tt__session_lock();
  char *text = tt__profile_trace();
  tt__session_unlock();
  return text;
}

void tt_compile_wait(void) { tt__pool_background_wait(); }

/* Failures of array operations stay with the results of the work that failed. */
tt_code tt_synchronize(tt_error *err) {
  tt_error ignored;
  tt_code code = tt__calls_flush(err);
  for (tt_device *d = tt__device_last(); d; d = d->before) (void)!d->ops->wait_all(d, &ignored);
  return code == TT_OK ? tt__call_late(err) : code;
}

void tt_set_tier(int tier) { tt__unit_tier = tier; }

void tt_set_fuse(bool fuse) { tt__realize_set_fuse(fuse); }

void tt_set_eager(int64_t elements) {
  tt__session_lock();
  tt__eager_limit(elements);
  tt__session_unlock();
}

tt_code tt_set_matmul_precision(const char *precision, tt_error *err) {
  bool fast = precision && strcmp(precision, "high") == 0;
  if (!fast && (!precision || strcmp(precision, "highest") != 0))
    return tt__fail(err, TT_EVALUE, "matmul precision must be 'highest' or 'high', not '%s'",
                    precision ? precision : "");
  tt__product_set_fast(fast);
  return TT_OK;
}
const char *tt_matmul_precision(void) { return tt__product_is_fast() ? "high" : "highest"; }

void tt_kept_files(bool remove, tt_kept *out) { tt__cache_files(remove, out); }

void tt_library_path(const char *dirs) {
  tt__blas_search_path(dirs);
  tt__find_path(dirs);
}

bool tt_busy(void) { return tt__realize_busy(); }
void tt_interrupt(void) { tt__interrupt(); }
void tt_set_interrupt_check(int (*check)(void)) { tt__interrupt_set_check(check); }
void tt_set_interrupt_handled(bool handled) { tt__interrupt_set_handled(handled); }
void tt_set_blocking(void (*begin)(void), void (*end)(void)) { tt__session_set_blocking(begin, end); }

void tt_set_line(uint32_t id) { tt__session_line = id; }
void tt_set_line_name(void (*name)(uint32_t id, char *out, size_t size)) { tt__session_set_line_name(name); }

tt_code tt_test_fail(const char *kind, int64_t n, bool sticky, tt_error *err) {
  tt_fault k = tt__fault_named(kind, strlen(kind));
  if (k == TT_FAULT_COUNT) return tt__fail(err, TT_EVALUE, "unknown kind of fault '%s'", kind);
  tt__fault_arm(k, n, sticky);
  return TT_OK;
}

int64_t tt_test_calls(const char *kind, bool *fired) {
  tt_fault k = tt__fault_named(kind, strlen(kind));
  if (fired) *fired = false;
  return k == TT_FAULT_COUNT ? -1 : tt__fault_calls(k, fired);
}

int64_t tt_test_live(void) {
  tt__session_lock();
  int64_t bytes = tt__mem_stats().live - tt__slab_slack() - tt__vm_kept();
  tt__session_unlock();
  return bytes;
}
