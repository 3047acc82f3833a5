/*
** The OpenCL back end: devices, streams and events. Memory is in memory.c, code in code.c.
**
** A stream is a queue in order, an event a marker in it.
*/
#include "device/opencl/opencl.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "device/device.h"
#include "device/opencl/opencl_int.h"

tt_code tt__cl_fail(tt_device *d, int result, const char *what, tt_error *err) {
  assert(result != 0);
  char text[80], suspects[400] = "";
  tt__cl_text(result, text, sizeof text);
  if (tt__cl_is_final(result)) {
    if (!tt__cl_of(d)->check) tt__launch_log_suspects(d, suspects, sizeof suspects);
    return tt__device_lose(d, err, "%s is lost: cannot %s: %s%s", d->name, what, text, suspects);
  }
  bool memory = result == TT_CL_NO_OBJECT_MEMORY || result == TT_CL_NO_HOST_MEMORY;
  return tt__fail(err, memory ? TT_ENOMEM : TT_EDEVICE, "%s: cannot %s: %s", d->name, what, text);
}

/* ---- devices */

static int cl_count(char *why, size_t size) {
  const tt_cl_machine *m = tt__cl_machine(why, size);
  if (m && why && size) snprintf(why, size, "%s", m->note);
  return m ? m->n : 0;
}

/* The standard's numbers of what a device tells, and how long they are. */
enum {
  TYPE = 0x1000,
  UNITS = 0x1002,
  GROUP_THREADS = 0x1004,
  GROUP_SIZES = 0x1005,
  MOST_BLOCK = 0x1010,
  PARAMETER = 0x1017,
  CACHE = 0x101e,
  MEMORY = 0x101f,
  LOCAL = 0x1023,
  NAME = 0x102b,
  DRIVER = 0x102d,
  EXTENSIONS = 0x1030,
  DOUBLES = 0x1032,
  ALIGN_BITS = 0x1019
};

/* Is the word among the device's extensions? */
static bool extends(const tt_cl_api *api, void *device, const char *word) {
  char list[8192];
  size_t len = strlen(word);
  tt__cl_string(api, device, EXTENSIONS, list, sizeof list);
  for (const char *at = list; (at = strstr(at, word)); at += len)
    if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == 0)) return true;
  return false;
}

/* OpenCL 1.2 has the question, and the extension where it is asked for by name. */
static bool has_doubles(const tt_cl_api *api, void *device) {
  return tt__cl_number(api, device, DOUBLES, 8) != 0 || extends(api, device, "cl_khr_fp64");
}

/* Threads of a warp where they read each other's registers by NVIDIA's instructions, whose driver takes no words of
 * OpenCL for it. Elsewhere 1: each thread is alone. */
static int warp_of(const tt_cl_api *api, void *device) {
  enum { WARP_SIZE = 0x4003, PTX_WARP = 32 };
  return extends(api, device, "cl_nv_device_attribute_query") && tt__cl_number(api, device, WARP_SIZE, 4) == PTX_WARP
             ? PTX_WARP
             : 1;
}

static void fill_cl_target(tt_device *d, const tt_cl *c) {
  enum { CPU = 2, MOST_THREADS = 4096, FLIGHT = 2048 }; /* threads of a unit, which the standard has no question for */
  void *device = c->place.device;
  size_t sizes[3] = {1, 1, 1};
  c->api->device_info(device, GROUP_SIZES, sizeof sizes, sizes, NULL);
  int64_t threads = tt__cl_number(c->api, device, GROUP_THREADS, sizeof(size_t)), most = 1;
  while (most * 2 <= threads && most < MOST_THREADS) most *= 2;
  int64_t local = tt__cl_number(c->api, device, LOCAL, 8), align = tt__cl_number(c->api, device, ALIGN_BITS, 4) / 8;
  bool cpu = (tt__cl_number(c->api, device, TYPE, 8) & CPU) != 0;
  d->target = (tt_target){.kind = TT_DEVICE_OPENCL,
                          .units = (int)tt__cl_number(c->api, device, UNITS, 4),
                          .warp = warp_of(c->api, device),
                          .block_threads = (int)most,
                          .unit_threads = FLIGHT,
                          .shared_block = local,
                          .shared_unit = local,
                          .cache_bytes = tt__cl_number(c->api, device, CACHE, 8),
                          .memory_bytes = c->total,
                          .param_bytes = tt__cl_number(c->api, device, PARAMETER, sizeof(size_t)),
                          .grid_max = {INT32_MAX, INT32_MAX, INT32_MAX},
                          .block_max = {(int64_t)sizes[0], (int64_t)sizes[1], (int64_t)sizes[2]},
                          .serial = cpu,
                          .is_host = cpu && !tt__env_on("TUTTI_OPENCL_TEXTS"),
                          .lacks = has_doubles(c->api, device) ? 0 : 1u << TT_F64,
                          .narrow_atomics = !extends(c->api, device, "cl_khr_int64_base_atomics") ||
                                            !extends(c->api, device, "cl_khr_int64_extended_atomics"),
                          .handles = true,
                          .part_align = align > 0 ? align : 1};
}

static tt_code cl_open(tt_device *d, tt_error *err) {
  enum { PLATFORM = 0x1084 };
  char why[400];
  const tt_cl_machine *m = tt__cl_machine(why, sizeof why);
  if (!m) return tt__fail(err, TT_EDEVICE, "%s: %s", d->name, why);
  tt_cl *c = tt__mem_zalloc(sizeof *c);
  if (!c) return tt__fail_memory(err, sizeof *c);
  *c = (tt_cl){.api = &m->api, .place = m->at[d->index], .lock = TT_LOCK_INIT, .check = tt__env_on("TUTTI_CHECK")};
  const intptr_t properties[] = {PLATFORM, (intptr_t)c->place.platform, 0};
  int result = 0;
  c->context = c->api->context_new(properties, 1, &c->place.device, NULL, NULL, &result);
  if (result != 0) {
    char text[80];
    tt__cl_text(result, text, sizeof text);
    tt__mem_free(c, sizeof *c);
    return tt__fail(err, TT_EDEVICE, "%s cannot be opened: %s", d->name, text);
  }
  char name[80], driver[40];
  tt__cl_string(c->api, c->place.device, NAME, name, sizeof name);
  tt__cl_string(c->api, c->place.device, DRIVER, driver, sizeof driver);
  snprintf(d->label, sizeof d->label, "%.65s, driver %.20s", name, driver);
  c->total = tt__cl_number(c->api, c->place.device, MEMORY, 8);
  c->most_block = tt__cl_number(c->api, c->place.device, MOST_BLOCK, 8);
  fill_cl_target(d, c);
  d->state = c;
  return TT_OK;
}

static void cl_close(tt_device *d) {
  tt_cl *c = tt__cl_of(d);
  if (!tt__device_lost(d)) c->api->context_free(c->context);
  tt__mem_free(c, sizeof *c);
  d->state = NULL;
}

/* ---- streams */

static tt_code cl_stream_of(tt_device *d, void *queue, bool is_ours, tt_stream **out, tt_error *err) {
  tt_cl *c = tt__cl_of(d);
  tt_cl_stream *s = tt__mem_zalloc(sizeof *s);
  *out = (tt_stream *)s;
  if (!s) return tt__fail_memory(err, sizeof *s);
  *s = (tt_cl_stream){.queue = queue, .is_ours = is_ours};
  tt__launch_log_open(d, &s->log);
  tt__lock(&c->lock);
  s->next = c->streams;
  c->streams = s;
  tt__unlock(&c->lock);
  return TT_OK;
}

static tt_code cl_stream_new(tt_device *d, int priority, tt_stream **out, tt_error *err) {
  enum { PROFILING = 2 };
  tt_cl *c = tt__cl_of(d);
  int result = 0;
  (void)priority; /* OpenCL's are an extension that few have */
  *out = NULL;
  TT_TRY(tt__device_alive(d, err));
  void *queue = c->api->queue_new(c->context, c->place.device, PROFILING, &result);
  TT_TRY(tt__cl_done(d, result, "make a stream", err));
  tt_code code = cl_stream_of(d, queue, true, out, err);
  if (code != TT_OK) c->api->queue_free(queue);
  return code;
}

static tt_code cl_stream_adopt(tt_device *d, void *handle, tt_stream **out, tt_error *err) {
  TT_TRY(tt__device_alive(d, err));
  return cl_stream_of(d, handle, false, out, err);
}

static void cl_stream_turn(tt_device *d, tt_stream *s, tt_stream *to) {
  (void)d;
  TT_CL_STREAM(s)->queue = TT_CL_STREAM(to)->queue;
}

static void cl_stream_free(tt_device *d, tt_stream *stream) {
  tt_cl_stream *s = TT_CL_STREAM(stream);
  tt_cl *c = tt__cl_of(d);
  if (!s) return;
  tt__lock(&c->lock);
  tt_cl_stream **at = &c->streams;
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  tt__unlock(&c->lock);
  if (!tt__device_lost(d)) {
    if (s->probe) c->api->event_free(s->probe);
    if (s->is_ours) c->api->queue_free(s->queue);
  }
  tt__launch_log_close(&s->log);
  tt__mem_free(s, sizeof *s);
}

static tt_code cl_stream_wait_idle(tt_device *d, tt_stream *stream, tt_error *err) {
  tt_cl_stream *s = TT_CL_STREAM(stream);
  TT_TRY(tt__device_alive(d, err));
  uint64_t mark = tt__launch_log_mark(&s->log);
  TT_TRY(tt__cl_done(d, tt__cl_of(d)->api->finish(s->queue), "finish its work", err));
  tt__launch_log_done(&s->log, mark);
  return TT_OK;
}

static tt_code cl_wait_all(tt_device *d, tt_error *err) {
  tt_cl *c = tt__cl_of(d);
  int result = 0;
  TT_TRY(tt__device_alive(d, err));
  tt__lock(&c->lock);
  for (tt_cl_stream *s = c->streams; s && result == 0; s = s->next) result = c->api->finish(s->queue);
  tt__unlock(&c->lock);
  return tt__cl_done(d, result, "finish its work", err);
}

/* Has what the event stands for come to pass? OpenCL's result; less than 0 also where work before it failed. */
static int has_passed_cl(const tt_cl_api *api, void *event, bool *done) {
  enum { STATUS = 0x11d3, COMPLETE = 0 };
  int status = 1, result = api->event_info(event, STATUS, sizeof status, &status, NULL);
  *done = result == 0 && status == COMPLETE;
  return result ? result : status < 0 ? TT_CL_WAIT_FAILURE : 0;
}

/* OpenCL has no such question: a marker behind all that was asked so far has the answer. */
static tt_code cl_stream_done(tt_device *d, tt_stream *stream, bool *done, tt_error *err) {
  tt_cl_stream *s = TT_CL_STREAM(stream);
  tt_cl *c = tt__cl_of(d);
  int result = 0;
  *done = false;
  TT_TRY(tt__device_alive(d, err));
  tt__lock(&c->lock);
  uint64_t asked = __atomic_load_n(&s->asked, __ATOMIC_RELAXED);
  if (s->probe && s->probe_at != asked) {
    c->api->event_free(s->probe);
    s->probe = NULL;
  }
  if (!s->probe) {
    s->probe_at = asked;
    s->probe_log = tt__launch_log_mark(&s->log);
    result = c->api->marker(s->queue, 0, NULL, &s->probe);
    if (result == 0) result = c->api->flush(s->queue);
  }
  if (result == 0) result = has_passed_cl(c->api, s->probe, done);
  uint64_t mark = s->probe_log;
  tt__unlock(&c->lock);
  if (*done) tt__launch_log_done(&s->log, mark);
  return tt__cl_done(d, result, "finish its work", err);
}

static void *cl_stream_handle(tt_device *d, tt_stream *stream) {
  tt_cl_stream *s = TT_CL_STREAM(stream);
  (void)d;
  return s->queue;
}

/* ---- events */

static tt_code cl_event_new(tt_device *d, bool timed, tt_event **out, tt_error *err) {
  (void)timed; /* all of them tell the time */
  *out = NULL;
  TT_TRY(tt__device_alive(d, err));
  *out = tt__mem_zalloc(sizeof(tt_cl_event));
  return *out ? TT_OK : tt__fail_memory(err, sizeof(tt_cl_event));
}

static void cl_event_free(tt_device *d, tt_event *event) {
  tt_cl_event *e = TT_CL_EVENT(event);
  if (!e) return;
  if (e->handle && !tt__device_lost(d)) tt__cl_of(d)->api->event_free(e->handle);
  tt__mem_free(e, sizeof *e);
}

static tt_code cl_event_record(tt_device *d, tt_event *event, tt_stream *s, tt_error *err) {
  tt_cl_event *e = TT_CL_EVENT(event);
  const tt_cl_api *api = tt__cl_of(d)->api;
  void *handle = NULL;
  TT_TRY(tt__device_alive(d, err));
  int result = api->marker(TT_CL_STREAM(s)->queue, 0, NULL, &handle);
  if (result == 0)
    result = api->flush(TT_CL_STREAM(s)->queue); /* who waits for it in another queue must not wait for ever */
  TT_TRY(tt__cl_done(d, result, "record an event", err));
  if (e->handle) api->event_free(e->handle);
  *e = (tt_cl_event){.handle = handle, .stream = TT_CL_STREAM(s), .mark = tt__launch_log_mark(&TT_CL_STREAM(s)->log)};
  __atomic_fetch_add(&TT_CL_STREAM(s)->asked, 1, __ATOMIC_RELAXED);
  return TT_OK;
}

static tt_code cl_stream_wait(tt_device *d, tt_stream *s, tt_event *event, tt_error *err) {
  tt_cl_event *e = TT_CL_EVENT(event);
  TT_TRY(tt__device_alive(d, err));
  if (!e->handle) return TT_OK;
  __atomic_fetch_add(&TT_CL_STREAM(s)->asked, 1, __ATOMIC_RELAXED);
  return tt__cl_done(d, tt__cl_of(d)->api->barrier(TT_CL_STREAM(s)->queue, 1, &e->handle, NULL), "make a stream wait",
                     err);
}

static tt_code cl_event_done(tt_device *d, tt_event *event, bool *done, tt_error *err) {
  tt_cl_event *e = TT_CL_EVENT(event);
  *done = true;
  TT_TRY(tt__device_alive(d, err));
  if (!e->handle) return TT_OK;
  int result = has_passed_cl(tt__cl_of(d)->api, e->handle, done);
  if (*done) tt__launch_log_done(&e->stream->log, e->mark);
  return tt__cl_done(d, result, "finish its work", err);
}

static tt_code cl_event_wait(tt_device *d, tt_event *event, tt_error *err) {
  tt_cl_event *e = TT_CL_EVENT(event);
  TT_TRY(tt__device_alive(d, err));
  if (!e->handle) return TT_OK;
  TT_TRY(tt__cl_done(d, tt__cl_of(d)->api->wait(1, &e->handle), "finish its work", err));
  tt__launch_log_done(&e->stream->log, e->mark);
  return TT_OK;
}

static tt_code cl_event_ms(tt_device *d, tt_event *from, tt_event *to, double *ms, tt_error *err) {
  enum { END = 0x1283 };
  const tt_cl_api *api = tt__cl_of(d)->api;
  uint64_t start = 0, end = 0; /* ns */
  TT_TRY(tt__device_alive(d, err));
  if (!TT_CL_EVENT(from)->handle || !TT_CL_EVENT(to)->handle)
    return tt__fail(err, TT_EVALUE, "%s: the event was not recorded", d->name);
  int result = api->event_time(TT_CL_EVENT(from)->handle, END, sizeof start, &start, NULL);
  if (result == 0) result = api->event_time(TT_CL_EVENT(to)->handle, END, sizeof end, &end, NULL);
  *ms = ((double)end - (double)start) / 1e6;
  return tt__cl_done(d, result, "tell the time between two events", err);
}

static const tt_interop_ops cl_interop = {.handle = cl_stream_handle, .adopt = cl_stream_adopt, .turn = cl_stream_turn};

static const tt_source_ops cl_sources = {.build = tt__cl_build, .fields = tt__cl_fields};

static const tt_shared_ops cl_shared = {.map = tt__cl_map, .unmap = tt__cl_unmap};

const tt_device_ops tt__opencl_ops = {
    .name = "opencl",
    .count = cl_count,
    .leads_with_gpu = tt__cl_leads_with_gpu,
    .open = cl_open,
    .close = cl_close,
    .mem_info = tt__cl_mem_info,
    .alloc = tt__cl_alloc,
    .free = tt__cl_free,
    .owner = tt__cl_owner,
    .is_pinned = tt__cl_is_pinned,
    .host_alloc = tt__cl_host_alloc,
    .host_free = tt__cl_host_free,
    .fill = tt__cl_fill,
    .copy_in = tt__cl_copy_in,
    .copy_out = tt__cl_copy_out,
    .copy_within = tt__cl_copy_within,
    .copy_peer = tt__cl_copy_peer,
    .compile = tt__cl_compile,
    .identity = tt__cl_identity,
    .load = tt__cl_load,
    .unload = tt__cl_unload,
    .routine = tt__cl_routine,
    .launch = tt__cl_launch,
    .stream_new = cl_stream_new,
    .stream_free = cl_stream_free,
    .stream_wait_idle = cl_stream_wait_idle,
    .stream_wait = cl_stream_wait,
    .event_new = cl_event_new,
    .event_free = cl_event_free,
    .event_record = cl_event_record,
    .event_done = cl_event_done,
    .event_wait = cl_event_wait,
    .event_ms = cl_event_ms,
    .wait_all = cl_wait_all,
    .stream_done = cl_stream_done,
    .interop = &cl_interop,
    .sources = &cl_sources,
    .shared = &cl_shared,
};
