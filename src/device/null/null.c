/* The null device: the contract of ir/device.h over queues of commands (null_run.c). */
#include "device/null/null.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "device/device.h"
#include "device/null/null_int.h"

enum { MOST_DEVICES = 8, GARBAGE = 0xa5, GARBAGE_MOST = 16 << 20 };

/* The machine it plays: microseconds of a launch and of asking for one, bytes that pass in a microsecond. */
static const double LAUNCH_US = 4, ASK_US = 2, LINK = 50e3, MEMORY = 2e6;

/* ---- how many */

static atomic_int shown = -1;

void tt__null_show(int n) { atomic_store(&shown, n); }

static int null_count(char *why, size_t size) {
  int n = atomic_load(&shown);
  const char *text = tt__env("TUTTI_NULL_DEVICE");
  if (n < 0) n = text ? atoi(text) : 0;
  if (n <= 0 && why && size) snprintf(why, size, "the null device is for tests (TUTTI_NULL_DEVICE=1)");
  return n < 0 ? 0 : n < MOST_DEVICES ? n : MOST_DEVICES;
}

static int64_t env_number(const char *name, int64_t otherwise) {
  const char *text = tt__env(name);
  int64_t n = text ? strtoll(text, NULL, 10) : 0;
  return n > 0 ? n : otherwise;
}

static tt_code null_open(tt_device *d, tt_error *err) {
  tt_null *n = tt__mem_zalloc(sizeof *n);
  if (!n) return tt__fail_memory(err, sizeof *n);
  *n = (tt_null){.lock = TT_LOCK_INIT, .most = env_number("TUTTI_NULL_MEMORY", 1 << 30)};
  d->state = n;
  d->target = (tt_target){.kind = TT_DEVICE_NULL,
                          .units = 16,
                          .warp = 32,
                          .block_threads = 1024,
                          .unit_threads = 2048,
                          .shared_block = 48 << 10,
                          .shared_unit = 96 << 10,
                          .cache_bytes = 8 << 20,
                          .memory_bytes = n->most,
                          .param_bytes = 4096,
                          .grid_max = {INT32_MAX, 65535, 65535},
                          .block_max = {1024, 1024, 64}};
  snprintf(d->label, sizeof d->label, "simulated device");
  tt__null_seed(d, (uint64_t)env_number("TUTTI_NULL_SEED", 1));
  return TT_OK;
}

void tt__null_seed(tt_device *d, uint64_t seed) { tt__null_of(d)->random = (seed + 1) * 0x9e3779b97f4a7c15u; }

static void free_routines(tt_module *m) {
  for (tt_routine *r = m->routines, *next; r; r = next) {
    next = r->next;
    tt__mem_free(r, sizeof *r);
  }
}

static void free_ranges(tt_null_range *r, void (*give)(tt_null_range *r)) {
  for (tt_null_range *next; r; r = next) {
    next = r->next;
    give(r);
    tt__mem_free(r, sizeof *r);
  }
}

static void give_memory(tt_null_range *r) { munmap(r->p, r->size); }
static void give_pinned(tt_null_range *r) { tt__mem_free_data(r->p, r->size); }

/* Takes everything with it that was not given back: on a lost device nothing could be. */
static void null_close(tt_device *d) {
  tt_null *n = tt__null_of(d);
  for (tt_graph *g = n->graphs, *next; g; g = next) {
    next = g->next;
    tt__null_drop(n, &g->queue);
    tt__mem_free(g, sizeof *g);
  }
  for (tt_stream *s = n->streams, *next; s; s = next) {
    next = s->next;
    tt__null_drop(n, &s->queue);
    tt__launch_log_close(&s->log);
    tt__mem_free(s, sizeof *s);
  }
  for (tt_event *e = n->events, *next; e; e = next) {
    next = e->next;
    tt__mem_free(e, sizeof *e);
  }
  for (tt_module *m = n->modules, *next; m; m = next) {
    next = m->next;
    free_routines(m);
    tt__mem_free(m->text, m->size + 1);
    tt__mem_free(m, sizeof *m);
  }
  free_ranges(n->memory, give_memory);
  free_ranges(n->pinned, give_pinned);
  tt__mem_free(n, sizeof *n);
  d->state = NULL;
}

/* Alive, and locked when TT_OK. */
static tt_code enter(tt_device *d, tt_error *err) {
  TT_TRY(tt__device_alive(d, err));
  tt__lock(&tt__null_of(d)->lock);
  tt__null_of(d)->us += ASK_US;
  return TT_OK;
}

static tt_code leave(tt_device *d, tt_code code) {
  tt__unlock(&tt__null_of(d)->lock);
  return code;
}

/* ---- memory */

static tt_code null_mem_info(tt_device *d, int64_t *free_bytes, int64_t *total_bytes, tt_error *err) {
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  *free_bytes = n->most - n->used;
  *total_bytes = n->most;
  return leave(d, TT_OK);
}

static tt_code fail_alloc(tt_device *d, const char *what, size_t size, tt_error *err) {
  return tt__fail(err, TT_ENOMEM, "%s is out of memory: cannot allocate %zu bytes of %s memory", d->name, size, what);
}

static tt_code null_alloc(tt_device *d, size_t size, void **out, tt_error *err) {
  *out = NULL;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  bool fits = !tt__fault(TT_FAULT_DEVICE_MEMORY) && size <= (size_t)(n->most - n->used);
  tt_null_range *r = fits ? tt__mem_alloc(sizeof *r) : NULL;
  void *p =
      r ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  if (p == MAP_FAILED) {
    tt__mem_free(r, r ? sizeof *r : 0);
    return leave(d, fail_alloc(d, "device", size, err));
  }
  memset(p, GARBAGE, size < GARBAGE_MOST ? size : GARBAGE_MOST);
  *r = (tt_null_range){p, size, n->memory};
  n->memory = r;
  n->used += (int64_t)size;
  *out = p;
  return leave(d, TT_OK);
}

static tt_null_range *take_range(tt_null_range **list, const void *p) {
  while (*list && (*list)->p != p) list = &(*list)->next;
  tt_null_range *r = *list;
  if (r) *list = r->next;
  return r;
}

/* Waits for the device, as drivers do. */
static void null_free(tt_device *d, void *p, size_t size) {
  (void)size;
  if (!p || enter(d, NULL) != TT_OK) return;
  tt_null *n = tt__null_of(d);
  tt__null_run_all(d, NULL);
  tt_null_range *r = take_range(&n->memory, p);
  if (r) {
    n->used -= (int64_t)r->size;
    give_memory(r);
    tt__mem_free(r, sizeof *r);
  }
  leave(d, TT_OK);
}

static tt_code null_host_alloc(tt_device *d, size_t size, void **out, tt_error *err) {
  *out = NULL;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  tt_null_range *r = tt__fault(TT_FAULT_DEVICE_MEMORY) ? NULL : tt__mem_alloc(sizeof *r);
  char *p = r ? tt__mem_alloc_data(size) : NULL;
  if (!p) {
    tt__mem_free(r, r ? sizeof *r : 0);
    return leave(d, fail_alloc(d, "pinned host", size, err));
  }
  *r = (tt_null_range){p, size, n->pinned};
  n->pinned = r;
  n->pinned_bytes += (int64_t)size;
  *out = p;
  return leave(d, TT_OK);
}

static void null_host_free(tt_device *d, void *p, size_t size) {
  (void)size;
  if (!p || enter(d, NULL) != TT_OK) return;
  tt_null *n = tt__null_of(d);
  tt__null_run_all(d, NULL);
  tt_null_range *r = take_range(&n->pinned, p);
  if (r) {
    n->pinned_bytes -= (int64_t)r->size;
    give_pinned(r);
    tt__mem_free(r, sizeof *r);
  }
  leave(d, TT_OK);
}

static bool is_inside(const tt_null_range *r, const void *p, size_t size) {
  for (; r; r = r->next) {
    size_t at = (size_t)((const char *)p - r->p);
    if ((const char *)p >= r->p && at <= r->size && size <= r->size - at) return true;
  }
  return false;
}

static bool null_is_pinned(tt_device *d, const void *p, size_t size) {
  if (enter(d, NULL) != TT_OK) return false;
  bool is = is_inside(tt__null_of(d)->pinned, p, size);
  leave(d, TT_OK);
  return is;
}

static int null_owner(const void *p) {
  int n = null_count(NULL, 0), found = -1;
  for (int i = 0; i < n && found < 0; i++) {
    tt_device *d = tt__device_peek(tt__device_id(TT_DEVICE_NULL, i));
    if (!d || enter(d, NULL) != TT_OK) continue;
    if (is_inside(tt__null_of(d)->memory, p, 1)) found = i;
    leave(d, TT_OK);
  }
  return found;
}

/* ---- asking */

/* Put a command into its stream's queue or capture; lock held; NULL: memory was out. */
static tt_code ask(tt_device *d, tt_stream *s, tt_null_command *c, tt_error *err) {
  if (!c) return tt__fail_memory(err, sizeof *c);
  c->asked_us = tt__null_of(d)->us;
  if (c->event) c->event->users++;
  tt__null_push(s->capture ? &s->capture->queue : &s->queue, c);
  return TT_OK;
}

static tt_code fail_address(tt_device *d, const char *what, const void *p, size_t size, tt_error *err) {
  return tt__fail(err, TT_EDEVICE, "%s: cannot %s: %zu bytes at %p are not memory of its own", d->name, what, size, p);
}

static tt_code told_to_fail(tt_device *d, const char *what, tt_error *err) {
  return tt__fail(err, TT_EDEVICE, "%s: cannot %s: told to fail", d->name, what);
}

static tt_code null_fill(tt_device *d, tt_stream *s, void *p, uint8_t byte, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(enter(d, err));
  if (tt__fault(TT_FAULT_COPY)) return leave(d, told_to_fail(d, "fill memory", err));
  if (!is_inside(tt__null_of(d)->memory, p, size)) return leave(d, fail_address(d, "fill memory", p, size, err));
  tt_null_command *c = tt__null_command(TT_NULL_FILL, 0);
  if (c) {
    c->to = p;
    c->byte = byte;
    c->size = size;
    c->us = LAUNCH_US + (double)size / MEMORY;
  }
  return leave(d, ask(d, s, c, err));
}

/* `keep`: the bytes are taken now, because they need not stay. Lock held. */
static tt_code ask_copy(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, bool keep, double speed,
                        tt_error *err) {
  tt_null_command *c = tt__null_command(TT_NULL_COPY, keep ? size : 0);
  if (c) {
    c->to = to;
    c->from = keep ? memcpy(c + 1, from, size) : from;
    c->size = size;
    c->us = LAUNCH_US + (double)size / speed;
  }
  return ask(d, s, c, err);
}

static tt_code null_copy_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  if (tt__fault(TT_FAULT_COPY)) return leave(d, told_to_fail(d, "copy to it", err));
  if (!is_inside(n->memory, to, size)) return leave(d, fail_address(d, "copy to it", to, size, err));
  bool keep = !is_inside(n->pinned, from, size);
  if (keep && s->capture)
    return leave(d, tt__fail(err, TT_EDEVICE, "%s: a capture copies pinned memory only", d->name));
  return leave(d, ask_copy(d, s, to, from, size, keep, LINK, err));
}

static tt_code null_copy_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  if (tt__fault(TT_FAULT_COPY)) return leave(d, told_to_fail(d, "copy from it", err));
  if (!is_inside(n->memory, from, size)) return leave(d, fail_address(d, "copy from it", from, size, err));
  bool wait = !is_inside(n->pinned, to, size);
  if (wait && s->capture)
    return leave(d, tt__fail(err, TT_EDEVICE, "%s: a capture copies pinned memory only", d->name));
  tt_code code = ask_copy(d, s, to, from, size, false, LINK, err);
  if (code == TT_OK && wait) code = tt__null_run_stream(d, s, err);
  return leave(d, code);
}

static tt_code null_copy_within(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  if (tt__fault(TT_FAULT_COPY)) return leave(d, told_to_fail(d, "copy within it", err));
  if (!is_inside(n->memory, to, size)) return leave(d, fail_address(d, "copy within it", to, size, err));
  if (!is_inside(n->memory, from, size)) return leave(d, fail_address(d, "copy within it", from, size, err));
  return leave(d, ask_copy(d, s, to, from, size, false, MEMORY, err));
}

static tt_code null_copy_peer(tt_device *d, tt_stream *s, void *to, tt_device *source, const void *from, size_t size,
                              tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(enter(source, err));
  bool ok = is_inside(tt__null_of(source)->memory, from, size);
  leave(source, TT_OK);
  if (!ok) return fail_address(source, "copy from it", from, size, err);
  TT_TRY(enter(d, err));
  if (tt__fault(TT_FAULT_COPY)) return leave(d, told_to_fail(d, "copy from another device", err));
  if (!is_inside(tt__null_of(d)->memory, to, size)) return leave(d, fail_address(d, "copy to it", to, size, err));
  return leave(d, ask_copy(d, s, to, from, size, false, LINK, err));
}

/* ---- code */

static tt_code null_compile(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err) {
  (void)options;
  TT_TRY(tt__device_alive(d, err));
  if (tt__fault(TT_FAULT_COMPILE)) return told_to_fail(d, "compile", err);
  tt__str_add_n(binary, source, strlen(source));
  return binary->failed ? tt__fail_memory(err, strlen(source)) : TT_OK;
}

static void null_identity(tt_device *d, tt_str *out) {
  (void)d;
  tt__str_add(out, "null 1");
}

static tt_code null_load(tt_device *d, const void *binary, size_t size, tt_module **out, tt_error *err) {
  *out = NULL;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  tt_module *m = tt__mem_zalloc(sizeof *m);
  char *text = m ? tt__mem_zalloc(size + 1) : NULL;
  if (!text) {
    tt__mem_free(m, m ? sizeof *m : 0);
    return leave(d, tt__fail_memory(err, size + 1));
  }
  memcpy(text, binary, size);
  *m = (tt_module){.text = text, .size = size, .next = n->modules};
  n->modules = *out = m;
  return leave(d, TT_OK);
}

static void null_unload(tt_device *d, tt_module *m) {
  if (!m || enter(d, NULL) != TT_OK) return;
  tt_module **at = &tt__null_of(d)->modules;
  tt__null_run_all(d, NULL);
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  free_routines(m);
  tt__mem_free(m->text, m->size + 1);
  tt__mem_free(m, sizeof *m);
  leave(d, TT_OK);
}

static tt_code null_routine(tt_device *d, tt_module *m, const char *name, tt_routine **out, tt_routine_info *info,
                            tt_error *err) {
  *out = NULL;
  TT_TRY(enter(d, err));
  if (!strstr(m->text, name))
    return leave(d, tt__fail(err, TT_EDEVICE, "%s: cannot find the kernel '%.80s'", d->name, name));
  tt_routine *r = tt__mem_zalloc(sizeof *r);
  if (!r) return leave(d, tt__fail_memory(err, sizeof *r));
  r->next = m->routines;
  m->routines = *out = r;
  if (info) *info = (tt_routine_info){.registers = 32, .block_threads = 1024};
  return leave(d, TT_OK);
}

static const char *grid_fault(const tt_target *t, const tt_grid *g, size_t size) {
  uint64_t threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
  for (int k = 0; k < 3; k++)
    if (g->grid[k] == 0 || (int64_t)g->grid[k] > t->grid_max[k]) return "the grid is empty or too large";
  if (threads == 0 || threads > (uint64_t)t->block_threads) return "the block is empty or too large";
  if (g->shared > t->shared_block) return "too much shared memory";
  return (int64_t)size > t->param_bytes ? "too many bytes of arguments" : NULL;
}

static tt_code null_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args, size_t size,
                           tt_error *err) {
  (void)f;
  TT_TRY(enter(d, err));
  if (tt__fault(TT_FAULT_LAUNCH)) return leave(d, told_to_fail(d, "launch a kernel", err));
  const char *fault = grid_fault(&d->target, g, size);
  if (fault) return leave(d, tt__fail(err, TT_EDEVICE, "%s: cannot launch a kernel: %s", d->name, fault));
  tt_null_command *c = tt__null_command(TT_NULL_LAUNCH, size);
  if (c) {
    if (size) memcpy(c + 1, args, size);
    c->args_size = size;
    c->is_fatal = tt__fault(TT_FAULT_LOSS);
    c->us = LAUNCH_US + (size >= sizeof(tt_null_launch) ? ((tt_null_launch *)(void *)(c + 1))->us : 0);
    if (!s->capture) tt__launch_log_note(&s->log, NULL);
  }
  return leave(d, ask(d, s, c, err));
}

/* No library serves this device; a test may say that one did. */
static tt_code null_asked(tt_device *d, tt_stream *s, const char *what, tt_error *err) {
  TT_TRY(enter(d, err));
  tt__launch_log_note(&s->log, what);
  return leave(d, TT_OK);
}

/* ---- order */

static tt_code null_stream_new(tt_device *d, int priority, tt_stream **out, tt_error *err) {
  (void)priority;
  *out = NULL;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  tt_stream *s = tt__mem_zalloc(sizeof *s);
  if (!s) return leave(d, tt__fail_memory(err, sizeof *s));
  tt__launch_log_open(d, &s->log);
  s->next = n->streams;
  n->streams = *out = s;
  return leave(d, TT_OK);
}

/* Drivers let the work of a freed stream go on; here it is done at once. */
static void null_stream_free(tt_device *d, tt_stream *s) {
  if (!s || enter(d, NULL) != TT_OK) return;
  tt_null *n = tt__null_of(d);
  if (tt__null_run_stream(d, s, NULL) == TT_OK) {
    tt_stream **at = &n->streams;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    for (tt_event *e = n->events; e; e = e->next)
      if (e->stream == s) e->stream = NULL;
    tt__launch_log_close(&s->log);
    tt__mem_free(s, sizeof *s);
  }
  leave(d, TT_OK);
}

static tt_code null_stream_wait_idle(tt_device *d, tt_stream *s, tt_error *err) {
  TT_TRY(enter(d, err));
  return leave(d, tt__null_run_stream(d, s, err));
}

static tt_code null_wait_all(tt_device *d, tt_error *err) {
  TT_TRY(enter(d, err));
  return leave(d, tt__null_run_all(d, err));
}

/* An adopted stream is one of ours here; it goes on. */
static void null_stream_turn(tt_device *d, tt_stream *s, tt_stream *to) { (void)d, (void)s, (void)to; }

static tt_code null_stream_done(tt_device *d, tt_stream *s, bool *done, tt_error *err) {
  TT_TRY(enter(d, err));
  tt_code code = tt__null_run_some(d, err);
  *done = !s->queue.first;
  return leave(d, code);
}

static tt_code null_stream_wait(tt_device *d, tt_stream *s, tt_event *e, tt_error *err) {
  TT_TRY(enter(d, err));
  if (s->capture) return leave(d, tt__fail(err, TT_ENOTIMPL, "%s: a capture is of one stream alone", d->name));
  if (e->asked == 0) return leave(d, TT_OK);
  tt_null_command *c = tt__null_command(TT_NULL_WAIT, 0);
  if (c) {
    c->event = e;
    c->turn = e->asked;
  }
  return leave(d, ask(d, s, c, err));
}

static tt_code null_event_new(tt_device *d, bool timed, tt_event **out, tt_error *err) {
  (void)timed;
  *out = NULL;
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  tt_event *e = tt__mem_zalloc(sizeof *e);
  if (!e) return leave(d, tt__fail_memory(err, sizeof *e));
  e->next = n->events;
  n->events = *out = e;
  return leave(d, TT_OK);
}

static void null_event_free(tt_device *d, tt_event *e) {
  if (!e || enter(d, NULL) != TT_OK) return;
  e->is_freed = true;
  tt__null_forget(tt__null_of(d), e);
  leave(d, TT_OK);
}

static tt_code null_event_record(tt_device *d, tt_event *e, tt_stream *s, tt_error *err) {
  TT_TRY(enter(d, err));
  if (s->capture) return leave(d, tt__fail(err, TT_ENOTIMPL, "%s: a capture is of one stream alone", d->name));
  tt_null_command *c = tt__null_command(TT_NULL_RECORD, 0);
  if (c) {
    c->event = e;
    c->turn = e->asked + 1;
  }
  tt_code code = ask(d, s, c, err);
  if (code == TT_OK) {
    e->asked++;
    e->stream = s;
    e->mark = tt__launch_log_mark(&s->log);
  }
  return leave(d, code);
}

static tt_code null_event_done(tt_device *d, tt_event *e, bool *done, tt_error *err) {
  TT_TRY(enter(d, err));
  tt_code code = tt__null_run_some(d, err);
  *done = e->done >= e->asked;
  if (*done && e->stream) tt__launch_log_done(&e->stream->log, e->mark);
  return leave(d, code);
}

static tt_code null_event_wait(tt_device *d, tt_event *e, tt_error *err) {
  TT_TRY(enter(d, err));
  return leave(d, tt__null_run_event(d, e, e->asked, err));
}

static tt_code null_event_ms(tt_device *d, tt_event *from, tt_event *to, double *ms, tt_error *err) {
  TT_TRY(enter(d, err));
  bool done = from->asked && to->asked && from->done >= from->asked && to->done >= to->asked;
  *ms = (to->us - from->us) / 1000;
  if (done) return leave(d, TT_OK);
  return leave(d, tt__fail(err, TT_EDEVICE, "%s: cannot tell the time between two events: not done", d->name));
}

static void *null_stream_handle(tt_device *d, tt_stream *s) {
  (void)d;
  return s;
}

static tt_code null_stream_adopt(tt_device *d, void *handle, tt_stream **out, tt_error *err) {
  (void)handle;
  return null_stream_new(d, 0, out, err);
}

/* ---- captures */

static void drop_graph(tt_null *n, tt_graph *g) {
  tt_graph **at = &n->graphs;
  while (*at != g) at = &(*at)->next;
  *at = g->next;
  tt__null_drop(n, &g->queue);
  tt__mem_free(g, sizeof *g);
}

static tt_code null_capture_begin(tt_device *d, tt_stream *s, tt_error *err) {
  TT_TRY(enter(d, err));
  tt_null *n = tt__null_of(d);
  if (s->capture) return leave(d, tt__fail(err, TT_EDEVICE, "%s: the stream is being captured already", d->name));
  tt_graph *g = tt__mem_zalloc(sizeof *g);
  if (!g) return leave(d, tt__fail_memory(err, sizeof *g));
  g->next = n->graphs;
  n->graphs = s->capture = g;
  return leave(d, TT_OK);
}

static tt_code null_capture_end(tt_device *d, tt_stream *s, tt_graph **out, tt_error *err) {
  *out = NULL;
  TT_TRY(enter(d, err));
  if (!s->capture) return leave(d, tt__fail(err, TT_EVALUE, "%s: no capture began on this stream", d->name));
  *out = s->capture;
  s->capture = NULL;
  return leave(d, TT_OK);
}

static int null_captured(tt_device *d, tt_stream *s) {
  int n = 0;
  if (enter(d, NULL) != TT_OK) return 0;
  for (const tt_null_command *c = s->capture ? s->capture->queue.first : NULL; c; c = c->next)
    n += c->kind == TT_NULL_LAUNCH;
  leave(d, TT_OK);
  return n;
}

static tt_code null_capture_renew(tt_device *d, tt_stream *s, tt_graph *g, tt_error *err) {
  TT_TRY(enter(d, err));
  tt_graph *next = s->capture;
  if (!next) return leave(d, tt__fail(err, TT_EVALUE, "%s: no capture began on this stream", d->name));
  s->capture = NULL;
  tt_null_queue old = g->queue;
  g->queue = next->queue;
  next->queue = old;
  drop_graph(tt__null_of(d), next);
  return leave(d, TT_OK);
}

static tt_code null_graph_args(tt_device *d, tt_graph *g, int k, const tt_grid *grid, const void *args, size_t size,
                               tt_error *err) {
  (void)grid;
  TT_TRY(enter(d, err));
  tt_null_command *c = g->queue.first;
  for (int i = k; c && (c->kind != TT_NULL_LAUNCH || i-- > 0);) c = c->next;
  if (!c || k < 0 || c->args_size != size)
    return leave(
        d, tt__fail(err, TT_EVALUE, "%s: the graph has no launch %d with %zu bytes of arguments", d->name, k, size));
  if (size) memcpy(c + 1, args, size);
  return leave(d, TT_OK);
}

static tt_code null_graph_launch(tt_device *d, tt_graph *g, tt_stream *s, tt_error *err) {
  TT_TRY(enter(d, err));
  tt_null_queue copy = {0};
  for (const tt_null_command *c = g->queue.first; c; c = c->next) {
    tt_null_command *own = tt__mem_dup(c, c->bytes);
    if (!own) {
      tt__null_drop(tt__null_of(d), &copy);
      return leave(d, tt__fail_memory(err, c->bytes));
    }
    tt__null_push(&copy, own);
  }
  tt__launch_log_note(&s->log, "a graph");
  while (copy.first) {
    tt_null_command *c = copy.first;
    copy.first = c->next;
    ask(d, s, c, NULL);
  }
  return leave(d, TT_OK);
}

static void null_graph_free(tt_device *d, tt_graph *g) {
  if (!g || enter(d, NULL) != TT_OK) return;
  drop_graph(tt__null_of(d), g);
  leave(d, TT_OK);
}

/* ---- what tests ask */

double tt__null_us(tt_device *d) { return tt__null_of(d)->us; }

int64_t tt__null_pending(tt_device *d) {
  int64_t n = 0;
  for (const tt_stream *s = tt__null_of(d)->streams; s; s = s->next) n += s->queue.n;
  return n;
}

int64_t tt__null_bytes(tt_device *d) { return tt__null_of(d)->used + tt__null_of(d)->pinned_bytes; }

static const tt_graph_ops null_graphs = {.begin = null_capture_begin,
                                         .end = null_capture_end,
                                         .launches = null_captured,
                                         .renew = null_capture_renew,
                                         .args = null_graph_args,
                                         .launch = null_graph_launch,
                                         .free = null_graph_free};
static const tt_interop_ops null_interop = {
    .handle = null_stream_handle, .adopt = null_stream_adopt, .turn = null_stream_turn, .asked = null_asked};

const tt_device_ops tt__null_ops = {
    .name = "null",
    .count = null_count,
    .open = null_open,
    .close = null_close,
    .mem_info = null_mem_info,
    .alloc = null_alloc,
    .free = null_free,
    .owner = null_owner,
    .is_pinned = null_is_pinned,
    .host_alloc = null_host_alloc,
    .host_free = null_host_free,
    .fill = null_fill,
    .copy_in = null_copy_in,
    .copy_out = null_copy_out,
    .copy_within = null_copy_within,
    .copy_peer = null_copy_peer,
    .compile = null_compile,
    .identity = null_identity,
    .load = null_load,
    .unload = null_unload,
    .routine = null_routine,
    .launch = null_launch,
    .stream_new = null_stream_new,
    .stream_free = null_stream_free,
    .stream_wait_idle = null_stream_wait_idle,
    .stream_wait = null_stream_wait,
    .event_new = null_event_new,
    .event_free = null_event_free,
    .event_record = null_event_record,
    .event_done = null_event_done,
    .event_wait = null_event_wait,
    .event_ms = null_event_ms,
    .wait_all = null_wait_all,
    .stream_done = null_stream_done,
    .graphs = &null_graphs,
    .interop = &null_interop,
};
