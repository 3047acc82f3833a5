/* The registry of devices. Knows the back ends by their structs of functions alone. */
#include "device/device.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "device/cache_alloc.h"
#include "device/cuda/cuda.h"
#include "device/opencl/opencl.h"
#include "device/streams.h"
#include "device/null/null.h"
#include "device/staging.h"

enum { MOST = 64 }; /* devices of a kind */

static tt_lock lock = TT_LOCK_RANKED(2); /* held while one is opened */
static tt_device *_Atomic opened[TT_DEVICE_KINDS][MOST];
static tt_device *_Atomic last;

static const tt_device_ops *ops_of(tt_device_kind kind) {
  static const tt_device_ops *const ops[TT_DEVICE_KINDS] = {
      [TT_DEVICE_CUDA] = &tt__cuda_ops,
      [TT_DEVICE_OPENCL] = &tt__opencl_ops,
#ifndef TT_ONE_FILE /* the simulated device is for tests */
      [TT_DEVICE_NULL] = &tt__null_ops,
#endif
  };
  return ops[kind];
}

/* ---- loss */

tt_code tt__device_alive(const tt_device *d, tt_error *err) {
  return tt__device_lost(d) ? tt__fail(err, TT_EDEVICE, "%s", d->fault) : TT_OK;
}

/* The first letter is written last: a reader that sees it sees the rest. */
static void set_fault(tt_device *d, const char *text) {
  assert(text[0]);
  static tt_lock fault_lock = TT_LOCK_RANKED(0);
  tt__lock(&fault_lock);
  if (!tt__device_lost(d)) {
    snprintf(d->fault + 1, sizeof d->fault - 1, "%s", text + 1);
    __atomic_store_n(&d->fault[0], text[0], __ATOMIC_RELEASE);
  }
  tt__unlock(&fault_lock);
}

tt_code tt__device_lose(tt_device *d, tt_error *err, const char *fmt, ...) {
  char text[sizeof d->fault];
  va_list args;
  va_start(args, fmt);
  if (vsnprintf(text, sizeof text, fmt, args) < 1) snprintf(text, sizeof text, "device lost");
  va_end(args);
  set_fault(d, text);
  return tt__fail(err, TT_EDEVICE, "%s", d->fault);
}

/* ---- fork */

/* No TT_LOCK_FORKS: a child's devices are lost. */
static void fork_prepare(void) { tt__fork_lock(&lock); }
static void fork_parent(void) { tt__fork_unlock(&lock); }
static void fork_child(void) {
  for (int k = 0; k < TT_DEVICE_KINDS; k++) {
    for (int i = 0; i < MOST; i++) {
      tt_device *d = atomic_load(&opened[k][i]);
      if (!d || tt__device_lost(d)) continue;
      snprintf(d->fault, sizeof d->fault,
               "%s cannot be used in a process forked after it was opened: use the spawn start method", d->name);
    }
  }
  tt__fork_unlock(&lock);
}
TT_AT_LOAD(2) static void at_load(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

/* ---- what there is */

static bool null_is_shown(void) {
  const tt_device_ops *ops = ops_of(TT_DEVICE_NULL);
  return ops && ops->count(NULL, 0) > 0;
}

int tt__device_count(tt_device_kind kind, char *why, size_t size) {
  if (why && size) why[0] = 0;
  if (kind == TT_DEVICE_CPU) return 1;
  const tt_device_ops *ops = ops_of(kind);
  if (!ops) {
    if (why && size) snprintf(why, size, "%s devices are not supported", tt__device_kinds[kind]);
    return 0;
  }
  int n = ops->count(why, size);
  return n < MOST ? n : MOST;
}

/* "cpu:0, cuda:0". */
static void list_devices(tt_str *out) {
  tt__str_add(out, "cpu:0");
  for (int k = 1; k < TT_DEVICE_KINDS; k++) {
    int n = tt__device_count((tt_device_kind)k, NULL, 0);
    for (int i = 0; i < n; i++) tt__str_addf(out, ", %s:%d", tt__device_kinds[k], i);
  }
}

static tt_code fail_absent(const char *name, const char *why, tt_error *err) {
  tt_str list = {0};
  list_devices(&list);
  tt_code code = tt__fail(err, TT_EDEVICE, "no such device '%.40s': there are %.500s%s%s", name,
                          list.data ? list.data : "cpu:0", *why ? "; " : "", why);
  tt__str_free(&list);
  return code;
}

static tt_code fail_name(const char *name, tt_error *err) {
  tt_str list = {0};
  list_devices(&list);
  tt_code code = tt__fail(err, TT_EVALUE,
                          "'%.40s' is not the name of a device: names are 'cpu', 'gpu', 'cuda', 'cuda:0' and so on; "
                          "there are %.500s",
                          name, list.data ? list.data : "cpu:0");
  tt__str_free(&list);
  return code;
}

tt_code tt__device_named(const char *name, int *id, tt_error *err) {
  size_t len = strcspn(name, ":");
  int kind = 0;
  long index = 0;
  if (len == 3 && memcmp(name, "gpu", 3) == 0)
    kind = TT_DEVICE_CUDA;
  else
    while (kind < TT_DEVICE_KINDS &&
           (strlen(tt__device_kinds[kind]) != len || memcmp(tt__device_kinds[kind], name, len) != 0))
      kind++;
  if (kind == TT_DEVICE_KINDS || (kind == TT_DEVICE_NULL && !null_is_shown())) return fail_name(name, err);
  if (name[len]) {
    char *end;
    if (name[len + 1] < '0' || name[len + 1] > '9') return fail_name(name, err);
    index = strtol(name + len + 1, &end, 10);
    if (*end) return fail_name(name, err);
  }
  char why[400] = "";
  int n = tt__device_count((tt_device_kind)kind, why, sizeof why);
  if (index >= n) return fail_absent(name, n ? "" : why, err);
  *id = tt__device_id((tt_device_kind)kind, (int)index);
  return TT_OK;
}

int tt__device_gpu(void) {
  static const tt_device_kind order[] = {TT_DEVICE_CUDA, TT_DEVICE_OPENCL};
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
    const tt_device_ops *ops = ops_of(order[i]);
    if (ops->leads_with_gpu && !ops->leads_with_gpu()) continue;
    if (tt__device_count(order[i], NULL, 0) > 0) return tt__device_id(order[i], 0);
  }
  return -1;
}

int tt__device_owner(tt_device_kind kind, const void *p) {
  const tt_device_ops *ops = ops_of(kind);
  return p && ops && ops->owner && tt__device_count(kind, NULL, 0) > 0 ? ops->owner(p) : -1;
}

/* ---- opening */

static void close_streams(tt_device *d) {
  tt__stream_close(d);
  if (d->down) d->ops->stream_free(d, d->down);
  if (d->up) d->ops->stream_free(d, d->up);
  if (d->work) d->ops->stream_free(d, d->work);
}

static tt_code open_new(tt_device_kind kind, int index, tt_device **out, tt_error *err) {
  tt_device *d = tt__mem_zalloc(sizeof *d);
  if (!d) return tt__fail_memory(err, sizeof *d);
  tt_code c;
  d->ops = ops_of(kind);
  d->index = index;
  d->id = tt__device_id(kind, index);
  d->target.kind = kind;
  tt__device_name(d->id, d->name);
  if ((c = d->ops->open(d, err)) != TT_OK) goto fail_open;
  if ((c = d->ops->stream_new(d, 0, &d->work, err)) != TT_OK) goto fail_streams;
  if ((c = d->ops->stream_new(d, 0, &d->up, err)) != TT_OK) goto fail_streams;
  if ((c = d->ops->stream_new(d, 0, &d->down, err)) != TT_OK) goto fail_streams;
  if ((c = tt__dmem_open(d, err)) != TT_OK) goto fail_streams;
  if ((c = tt__staging_open(d, err)) != TT_OK) goto fail_cache;
  *out = d;
  return TT_OK;
fail_cache:
  tt__dmem_close(d);
fail_streams:
  close_streams(d);
  d->ops->close(d);
fail_open:
  tt__mem_free(d, sizeof *d);
  return c;
}

tt_device *tt__device_peek(int id) {
  int kind = tt__device_kind(id), index = tt__device_index(id);
  if (kind <= 0 || kind >= TT_DEVICE_KINDS || index >= MOST) return NULL;
  return atomic_load_explicit(&opened[kind][index], memory_order_acquire);
}

bool tt__device_usable(int id) {
  const tt_device *d = tt__device_peek(id);
  if (d) return !tt__device_lost(d);
  return id == 0 || tt__device_index(id) < tt__device_count((tt_device_kind)tt__device_kind(id), NULL, 0);
}

tt_device *tt__device_last(void) { return atomic_load_explicit(&last, memory_order_acquire); }

/* Lock held. */
static tt_code open_and_list(int kind, int index, tt_device **out, tt_error *err) {
  TT_TRY(open_new((tt_device_kind)kind, index, out, err));
  (*out)->before = atomic_load(&last);
  atomic_store(&opened[kind][index], *out);
  atomic_store(&last, *out);
  return TT_OK;
}

tt_code tt__device_open(int id, tt_device **out, tt_error *err) {
  *out = NULL;
  if (id == 0) return TT_OK;
  if ((*out = tt__device_peek(id)) != NULL) return TT_OK;
  int kind = tt__device_kind(id), index = tt__device_index(id);
  if (kind < 0 || kind >= TT_DEVICE_KINDS) return tt__fail(err, TT_EVALUE, "%d is not the number of a device", id);
  char why[400], name[16];
  int n = tt__device_count((tt_device_kind)kind, why, sizeof why);
  tt__device_name(id, name);
  if (index >= n) return fail_absent(name, n ? "" : why, err);
  tt__lock(&lock);
  tt_code code = TT_OK;
  tt_device *d = atomic_load(&opened[kind][index]);
  if (!d) code = open_and_list(kind, index, &d, err);
  tt__unlock(&lock);
  *out = d;
  return code;
}

void tt__device_close_all(void) {
  tt__lock(&lock);
  atomic_store(&last, NULL);
  for (int k = 0; k < TT_DEVICE_KINDS; k++) {
    for (int i = 0; i < MOST; i++) {
      tt_device *d = atomic_exchange(&opened[k][i], NULL);
      if (!d) continue;
      tt__staging_close(d);
      tt__dmem_close(d);
      close_streams(d);
      d->ops->close(d);
      tt__mem_free(d, sizeof *d);
    }
  }
  tt__unlock(&lock);
}
