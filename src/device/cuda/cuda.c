/*
** The CUDA back end: devices, memory, copies, streams and events. Code is in code.c, captures in graph.c.
*/
#include "device/cuda/cuda.h"

#include <assert.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "device/cuda/cuda_int.h"
#include "device/cuda/nvrtc.h"
#include "device/device.h"

/* ---- the frame around driver calls */

tt_code tt__cuda_enter(tt_device *d, void **before, tt_error *err) {
  TT_TRY(tt__device_alive(d, err));
  tt_cuda *c = tt__cuda_of(d);
  *before = NULL;
  c->api->context_get(before);
  if (*before != c->context) {
    int result = c->api->context_set(c->context);
    if (result != TT_CUDA_OK) return tt__cuda_leave(d, NULL, result, "make its context current", err);
  }
  return TT_OK;
}

enum { FIRST_KERNEL_FAULT = 700, LAST_KERNEL_FAULT = 719 };

tt_code tt__cuda_leave(tt_device *d, void *before, int result, const char *what, tt_error *err) {
  assert(result == TT_CUDA_OK || (what && what[0]));
  tt_cuda *c = tt__cuda_of(d);
  if (before && before != c->context) c->api->context_set(before);
  if (result == TT_CUDA_OK) return TT_OK;
  char text[200], suspects[400] = "";
  tt__cuda_text(c->api, result, text, sizeof text);
  if (tt__cuda_is_final(result)) {
    bool is_kernel = result >= FIRST_KERNEL_FAULT && result <= LAST_KERNEL_FAULT && !c->check;
    if (is_kernel) tt__launch_log_suspects(d, suspects, sizeof suspects);
    return tt__device_lose(d, err, "%s is lost: cannot %s: %s%s%s", d->name, what, text, suspects,
                           is_kernel ? "; TUTTI_CHECK=1 names the kernel" : "");
  }
  tt_code code = result == TT_CUDA_NO_MEMORY ? TT_ENOMEM : TT_EDEVICE;
  return tt__fail(err, code, "%s: cannot %s: %s", d->name, what, text);
}

/* One driver call in its frame; for functions that only hand on. */
#define CALL(d, err, what, call)                                   \
  do {                                                             \
    void *call_before;                                             \
    TT_TRY(tt__cuda_enter(d, &call_before, err));                  \
    const tt_cuda_api *api = tt__cuda_of(d)->api;                  \
    int call_result = (call);                                      \
    return tt__cuda_leave(d, call_before, call_result, what, err); \
  } while (0)

/* The same where nothing can be reported. */
#define GIVE_BACK(d, call)                                                      \
  do {                                                                          \
    void *call_before;                                                          \
    if (tt__cuda_enter(d, &call_before, NULL) == TT_OK) {                       \
      const tt_cuda_api *api = tt__cuda_of(d)->api;                             \
      int call_result = (call);                                                 \
      tt__cuda_leave(d, call_before, call_result, "give something back", NULL); \
    }                                                                           \
  } while (0)

static tt_cuda_pointer address(const void *p) { return (tt_cuda_pointer)(uintptr_t)p; }

/* ---- devices */

static int cuda_count(char *why, size_t size) {
  const tt_cuda_api *api = tt__cuda_driver(why, size);
  if (!api) return 0;
  return api->devices < TT_CUDA_MOST ? api->devices : TT_CUDA_MOST;
}

static int fill_target(tt_device *d, const tt_cuda_api *api, int device) {
  enum {
    BLOCK_THREADS = 1,
    BLOCK_X = 2,
    BLOCK_Y = 3,
    BLOCK_Z = 4,
    GRID_X = 5,
    GRID_Y,
    GRID_Z,
    SHARED = 8,
    WARP = 10,
    UNITS = 16,
    CACHE = 38,
    UNIT_THREADS = 39,
    MAJOR = 75,
    MINOR = 76,
    UNIT_SHARED = 81,
    DOUBLE_RATIO = 87,
    MOST_SHARED = 97
  };
  static const int asked[] = {BLOCK_THREADS, BLOCK_X, BLOCK_Y, BLOCK_Z,      GRID_X, GRID_Y, GRID_Z,      SHARED,
                              WARP,          UNITS,   CACHE,   UNIT_THREADS, MAJOR,  MINOR,  UNIT_SHARED, MOST_SHARED};
  int value[MOST_SHARED + 1] = {0};
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
    int result = api->device_attribute(&value[asked[i]], asked[i], device);
    if (result != TT_CUDA_OK) return result;
  }
  size_t bytes = 0;
  int result = api->device_memory(&bytes, device);
  int arch = value[MAJOR] * 10 + value[MINOR];
  (void)api->device_attribute(&value[DOUBLE_RATIO], DOUBLE_RATIO, device); /* a driver may have given it up */
  bool wide = arch >= 70 && api->version >= 12010;
  d->target = (tt_target){.kind = TT_DEVICE_CUDA,
                          .arch = arch,
                          .units = value[UNITS],
                          .warp = value[WARP],
                          .block_threads = value[BLOCK_THREADS],
                          .unit_threads = value[UNIT_THREADS],
                          .double_ratio = value[DOUBLE_RATIO],
                          .shared_block = value[MOST_SHARED] > value[SHARED] ? value[MOST_SHARED] : value[SHARED],
                          .shared_unit = value[UNIT_SHARED],
                          .cache_bytes = value[CACHE],
                          .memory_bytes = (int64_t)bytes,
                          .param_bytes = wide ? 32764 : 4096,
                          .grid_max = {value[GRID_X], value[GRID_Y], value[GRID_Z]},
                          .block_max = {value[BLOCK_X], value[BLOCK_Y], value[BLOCK_Z]}};
  return result;
}

static tt_code cuda_open(tt_device *d, tt_error *err) {
  char why[400];
  const tt_cuda_api *api = tt__cuda_driver(why, sizeof why);
  if (!api) return tt__fail(err, TT_EDEVICE, "%s: %s", d->name, why);
  tt_cuda *c = tt__mem_zalloc(sizeof *c);
  if (!c) return tt__fail_memory(err, sizeof *c);
  *c = (tt_cuda){.api = api, .lock = TT_LOCK_INIT, .check = tt__env_on("TUTTI_CHECK")};
  int result = api->device_get(&c->device, d->index);
  if (result == TT_CUDA_OK) result = api->device_name(d->label, (int)sizeof d->label, c->device);
  if (result == TT_CUDA_OK) result = fill_target(d, api, c->device);
  if (result == TT_CUDA_OK) { /* the two things that take long, side by side */
    tt_nvrtc_warm w;
    tt__nvrtc_warm_begin(&w, d->target.arch, api->version);
    result = api->context_retain(&c->context, c->device);
    tt__nvrtc_warm_end(&w);
  }
  if (result != TT_CUDA_OK) {
    char text[200];
    tt__cuda_text(api, result, text, sizeof text);
    tt__mem_free(c, sizeof *c);
    return tt__fail(err, result == TT_CUDA_NO_MEMORY ? TT_ENOMEM : TT_EDEVICE, "%s cannot be opened: %s", d->name,
                    text);
  }
  api->device_bus(d->bus, (int)sizeof d->bus, c->device);
  d->state = c;
  return TT_OK;
}

static void cuda_close(tt_device *d) {
  tt_cuda *c = tt__cuda_of(d);
  if (!tt__device_lost(d)) c->api->context_release(c->device);
  tt__mem_free(c, sizeof *c);
  d->state = NULL;
}

/* ---- memory */

static tt_code cuda_mem_info(tt_device *d, int64_t *free_bytes, int64_t *total_bytes, tt_error *err) {
  void *before;
  size_t left = 0, total = 0;
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = tt__cuda_of(d)->api->memory_info(&left, &total);
  TT_TRY(tt__cuda_leave(d, before, result, "tell its free memory", err));
  *free_bytes = (int64_t)left;
  *total_bytes = (int64_t)total;
  return TT_OK;
}

static tt_code fail_alloc(tt_device *d, const char *what, size_t size, tt_error *err) {
  size_t left = 0, total = 0;
  tt__cuda_of(d)->api->memory_info(&left, &total);
  return tt__fail(err, TT_ENOMEM, "%s is out of memory: cannot allocate %zu bytes of %s memory (%zu of %zu are free)",
                  d->name, size, what, left, total);
}

static tt_code cuda_alloc(tt_device *d, size_t size, void **out, tt_error *err) {
  void *before;
  tt_cuda_pointer p = 0;
  *out = NULL;
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = tt__fault(TT_FAULT_DEVICE_MEMORY) ? TT_CUDA_NO_MEMORY : tt__cuda_of(d)->api->memory_alloc(&p, size);
  tt_code code = result == TT_CUDA_NO_MEMORY ? fail_alloc(d, "device", size, err) : TT_OK;
  if (code != TT_OK) {
    tt__cuda_leave(d, before, TT_CUDA_OK, "", NULL);
    return code;
  }
  *out = (void *)(uintptr_t)p;
  return tt__cuda_leave(d, before, result, "allocate memory", err);
}

static void cuda_free(tt_device *d, void *p, size_t size) {
  (void)size;
  if (p) GIVE_BACK(d, api->memory_free(address(p)));
}

/* The driver's numbers: attributes of an address, and kinds of memory. */
enum { KIND = 2, INDEX = 9, HOST_MEMORY = 1, DEVICE_MEMORY = 2 };

static bool cuda_is_pinned(tt_device *d, const void *p, size_t size) {
  const tt_cuda_api *api = tt__cuda_of(d)->api;
  int first = 0, last = 0;
  if (size == 0 || tt__device_lost(d)) return false;
  if (api->pointer_attribute(&first, KIND, address(p)) != TT_CUDA_OK || first != HOST_MEMORY) return false;
  return api->pointer_attribute(&last, KIND, address((const char *)p + size - 1)) == TT_CUDA_OK && last == first;
}

static int cuda_owner(const void *p) {
  const tt_cuda_api *api = tt__cuda_driver(NULL, 0);
  int kind = 0, index = -1;
  if (!api || api->pointer_attribute(&kind, KIND, address(p)) != TT_CUDA_OK || kind != DEVICE_MEMORY) return -1;
  return api->pointer_attribute(&index, INDEX, address(p)) == TT_CUDA_OK ? index : -1;
}

static tt_code cuda_host_alloc(tt_device *d, size_t size, void **out, tt_error *err) {
  enum { PORTABLE = 1 };
  *out = NULL;
  if (tt__fault(TT_FAULT_DEVICE_MEMORY))
    return tt__fail(err, TT_ENOMEM, "%s: cannot allocate %zu bytes of pinned host memory", d->name, size);
  CALL(d, err, "allocate pinned host memory", api->host_alloc(out, size, PORTABLE));
}

static void cuda_host_free(tt_device *d, void *p, size_t size) {
  (void)size;
  if (p) GIVE_BACK(d, api->host_free(p));
}

static tt_code cuda_managed_alloc(tt_device *d, size_t size, tt_attach how, void **out, tt_error *err) {
  enum { HAS_MANAGED = 83 };
  const tt_cuda_api *api = tt__cuda_of(d)->api;
  void *before;
  tt_cuda_pointer p = 0;
  int has = 0;
  *out = NULL;
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = api->device_attribute(&has, HAS_MANAGED, tt__cuda_of(d)->device);
  bool can = result == TT_CUDA_OK && has && api->managed_alloc;
  if (can) result = tt__fault(TT_FAULT_DEVICE_MEMORY) ? TT_CUDA_NO_MEMORY : api->managed_alloc(&p, size, (unsigned)how);
  tt_code code = result == TT_CUDA_NO_MEMORY ? fail_alloc(d, "managed", size, err) : TT_OK;
  if (code == TT_OK)
    code = tt__cuda_leave(d, before, result, "allocate managed memory", err);
  else
    (void)tt__cuda_leave(d, before, TT_CUDA_OK, "", NULL);
  if (code == TT_OK && !can) return tt__fail(err, TT_ENOTIMPL, "%s has no managed memory", d->name);
  *out = (void *)(uintptr_t)p;
  return code;
}

static tt_code cuda_managed_attach(tt_device *d, tt_stream *s, void *p, tt_attach how, tt_error *err) {
  if (!tt__cuda_of(d)->api->managed_attach) return tt__fail(err, TT_ENOTIMPL, "%s cannot attach memory", d->name);
  CALL(d, err, "attach managed memory", api->managed_attach(s->handle, address(p), 0, (unsigned)how));
}

/* ---- copies */

static tt_code told_to_fail(tt_device *d, const char *what, tt_error *err) {
  if (!tt__fault(TT_FAULT_COPY)) return TT_OK;
  return tt__fail(err, TT_EDEVICE, "%s: cannot %s: told to fail", d->name, what);
}

static tt_code cuda_fill(tt_device *d, tt_stream *s, void *p, uint8_t byte, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(told_to_fail(d, "fill memory", err));
  CALL(d, err, "fill memory", api->fill(address(p), byte, size, s->handle));
}

static tt_code cuda_copy_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(told_to_fail(d, "copy to it", err));
  CALL(d, err, "copy to it", api->copy_in(address(to), from, size, s->handle));
}

static tt_code cuda_copy_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(told_to_fail(d, "copy from it", err));
  CALL(d, err, "copy from it", api->copy_out(to, address(from), size, s->handle));
}

static tt_code cuda_copy_within(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(told_to_fail(d, "copy within it", err));
  CALL(d, err, "copy within it", api->copy_within(address(to), address(from), size, s->handle));
}

/* Direct access to the other device's memory, where the machine can: asked for once. Without it the driver goes by way
 * of the host. Called with the context current. */
static void enable_peer(tt_device *d, tt_device *source) {
  tt_cuda *c = tt__cuda_of(d), *other = tt__cuda_of(source);
  int can = 0;
  tt__lock(&c->lock);
  if (!c->peer[source->index]) {
    c->peer[source->index] = true;
    if (c->api->peer_can(&can, c->device, other->device) == TT_CUDA_OK && can) c->api->peer_enable(other->context, 0);
  }
  tt__unlock(&c->lock);
}

static tt_code cuda_copy_peer(tt_device *d, tt_stream *s, void *to, tt_device *source, const void *from, size_t size,
                              tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(told_to_fail(d, "copy from another device", err));
  TT_TRY(tt__device_alive(source, err));
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  TT_TRY(tt__cuda_enter(d, &before, err));
  if (source != d) enable_peer(d, source);
  int result = c->api->copy_peer(address(to), c->context, address(from), tt__cuda_of(source)->context, size, s->handle);
  return tt__cuda_leave(d, before, result, "copy from another device", err);
}

/* ---- order */

static tt_code cuda_stream_adopt(tt_device *d, void *handle, tt_stream **out, tt_error *err) {
  TT_TRY(tt__device_alive(d, err));
  tt_stream *s = *out = tt__mem_alloc(sizeof *s);
  if (!s) return tt__fail_memory(err, sizeof *s);
  *s = (tt_stream){.handle = handle};
  tt__launch_log_open(d, &s->log);
  return TT_OK;
}

static void cuda_stream_turn(tt_device *d, tt_stream *s, tt_stream *to) {
  (void)d;
  s->handle = to->handle;
}

static tt_code cuda_wait_all(tt_device *d, tt_error *err) { CALL(d, err, "finish its work", api->context_wait()); }

static tt_code cuda_stream_new(tt_device *d, int priority, tt_stream **out, tt_error *err) {
  enum { NON_BLOCKING = 1 };
  void *before;
  TT_TRY(cuda_stream_adopt(d, NULL, out, err));
  tt_stream *s = *out;
  s->is_ours = true;
  tt_code code = tt__cuda_enter(d, &before, err);
  if (code == TT_OK) {
    int result = tt__cuda_of(d)->api->stream_new(&s->handle, NON_BLOCKING, priority);
    code = tt__cuda_leave(d, before, result, "make a stream", err);
  }
  if (code == TT_OK) return TT_OK;
  tt__launch_log_close(&s->log);
  tt__mem_free(s, sizeof *s);
  *out = NULL;
  return code;
}

static void cuda_stream_free(tt_device *d, tt_stream *s) {
  if (!s) return;
  if (s->milestone) GIVE_BACK(d, api->event_free(s->milestone));
  if (s->is_ours) GIVE_BACK(d, api->stream_free(s->handle));
  tt__launch_log_close(&s->log);
  tt__mem_free(s, sizeof *s);
}

static tt_code stream_wait_idle(tt_device *d, tt_stream *s, tt_error *err) {
  CALL(d, err, "finish its work", api->stream_wait_idle(s->handle));
}

static tt_code cuda_stream_wait_idle(tt_device *d, tt_stream *s, tt_error *err) {
  uint64_t mark = tt__launch_log_mark(&s->log);
  TT_TRY(stream_wait_idle(d, s, err));
  tt__launch_log_done(&s->log, mark);
  return TT_OK;
}

static tt_code cuda_stream_done(tt_device *d, tt_stream *s, bool *done, tt_error *err) {
  void *before;
  uint64_t mark = tt__launch_log_mark(&s->log);
  *done = false;
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = tt__cuda_of(d)->api->stream_query(s->handle);
  *done = result == TT_CUDA_OK;
  if (*done) tt__launch_log_done(&s->log, mark);
  return tt__cuda_leave(d, before, result == TT_CUDA_NOT_READY ? TT_CUDA_OK : result, "finish its work", err);
}

/* Unlike the calls of ours, this one stays. */
static tt_code cuda_enter(tt_device *d, tt_error *err) {
  void *before;
  TT_TRY(tt__cuda_enter(d, &before, err));
  return tt__cuda_leave(d, NULL, TT_CUDA_OK, "", err);
}

static tt_code cuda_stream_wait(tt_device *d, tt_stream *s, tt_event *e, tt_error *err) {
  CALL(d, err, "make a stream wait", api->stream_wait(s->handle, e->handle, 0));
}

static tt_code cuda_event_new(tt_device *d, bool timed, tt_event **out, tt_error *err) {
  enum { WITHOUT_TIME = 2 };
  void *before;
  *out = NULL;
  TT_TRY(tt__cuda_enter(d, &before, err));
  tt_event *e = tt__mem_zalloc(sizeof *e);
  int result = e ? tt__cuda_of(d)->api->event_new(&e->handle, timed ? 0 : WITHOUT_TIME) : TT_CUDA_OK;
  tt_code code = tt__cuda_leave(d, before, result, "make an event", err);
  if (!e) return tt__fail_memory(err, sizeof *e);
  if (code == TT_OK)
    *out = e;
  else
    tt__mem_free(e, sizeof *e);
  return code;
}

static void cuda_event_free(tt_device *d, tt_event *e) {
  if (!e) return;
  GIVE_BACK(d, api->event_free(e->handle));
  tt__mem_free(e, sizeof *e);
}

static tt_code cuda_event_record(tt_device *d, tt_event *e, tt_stream *s, tt_error *err) {
  enum { STREAM_IS_GONE = 709 };
  void *before;
  TT_TRY(tt__cuda_enter(d, &before, err));
  const tt_cuda_api *api = tt__cuda_of(d)->api;
  e->stream = s;
  e->mark = tt__launch_log_mark(&s->log);
  int result = api->event_record(e->handle, s->handle);
  if (result == STREAM_IS_GONE && !s->is_ours) { /* its owner did not wait for us: we wait for all, and forget it */
    result = api->context_wait();
    cuda_stream_turn(d, s, d->work);
    if (result == TT_CUDA_OK) result = api->event_record(e->handle, s->handle);
  }
  return tt__cuda_leave(d, before, result, "record an event", err);
}

/* What its stream was asked for before it is done. */
static void has_passed(const tt_event *e) {
  if (e->stream) tt__launch_log_done(&e->stream->log, e->mark);
}

static tt_code cuda_event_done(tt_device *d, tt_event *e, bool *done, tt_error *err) {
  void *before;
  *done = false;
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = tt__cuda_of(d)->api->event_query(e->handle);
  *done = result == TT_CUDA_OK;
  if (*done) has_passed(e);
  return tt__cuda_leave(d, before, result == TT_CUDA_NOT_READY ? TT_CUDA_OK : result, "finish its work", err);
}

static tt_code event_wait(tt_device *d, tt_event *e, tt_error *err) {
  CALL(d, err, "finish its work", api->event_wait(e->handle));
}

static tt_code cuda_event_wait(tt_device *d, tt_event *e, tt_error *err) {
  TT_TRY(event_wait(d, e, err));
  has_passed(e);
  return TT_OK;
}

static tt_code cuda_event_ms(tt_device *d, tt_event *from, tt_event *to, double *ms, tt_error *err) {
  void *before;
  float value = 0;
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = tt__cuda_of(d)->api->event_ms(&value, from->handle, to->handle);
  *ms = value;
  return tt__cuda_leave(d, before, result, "tell the time between two events", err);
}

static void *cuda_stream_handle(tt_device *d, tt_stream *s) {
  (void)d;
  return s->handle;
}

static const tt_graph_ops cuda_graphs = {.begin = tt__cuda_capture_begin,
                                         .end = tt__cuda_capture_end,
                                         .launches = tt__cuda_captured,
                                         .renew = tt__cuda_capture_renew,
                                         .args = tt__cuda_graph_args,
                                         .launch = tt__cuda_graph_launch,
                                         .free = tt__cuda_graph_free};
static const tt_managed_ops cuda_managed = {.alloc = cuda_managed_alloc, .attach = cuda_managed_attach};
static const tt_occupancy_ops cuda_occupancy = {.suggest = tt__cuda_suggest, .at_once = tt__cuda_at_once};
static const tt_interop_ops cuda_interop = {.handle = cuda_stream_handle,
                                            .adopt = cuda_stream_adopt,
                                            .turn = cuda_stream_turn,
                                            .enter = cuda_enter,
                                            .asked = tt__cuda_asked};

const tt_device_ops tt__cuda_ops = {
    .name = "cuda",
    .count = cuda_count,
    .open = cuda_open,
    .close = cuda_close,
    .mem_info = cuda_mem_info,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .owner = cuda_owner,
    .is_pinned = cuda_is_pinned,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .fill = cuda_fill,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .copy_within = cuda_copy_within,
    .copy_peer = cuda_copy_peer,
    .compile = tt__cuda_compile,
    .identity = tt__cuda_identity,
    .load = tt__cuda_load,
    .unload = tt__cuda_unload,
    .routine = tt__cuda_routine,
    .global = tt__cuda_global,
    .launch = tt__cuda_launch,
    .stream_new = cuda_stream_new,
    .stream_free = cuda_stream_free,
    .stream_wait_idle = cuda_stream_wait_idle,
    .stream_wait = cuda_stream_wait,
    .event_new = cuda_event_new,
    .event_free = cuda_event_free,
    .event_record = cuda_event_record,
    .event_done = cuda_event_done,
    .event_wait = cuda_event_wait,
    .event_ms = cuda_event_ms,
    .wait_all = cuda_wait_all,
    .stream_done = cuda_stream_done,
    .graphs = &cuda_graphs,
    .managed = &cuda_managed,
    .occupancy = &cuda_occupancy,
    .interop = &cuda_interop,
};
