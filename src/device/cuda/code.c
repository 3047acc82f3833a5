/* Code on a CUDA device: compile, load, find, launch. */
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "device/cuda/cuda_int.h"
#include "device/cuda/nvrtc.h"
#include "device/device.h"

enum { SHARED_BYTES = 1, LOCAL_BYTES = 3, REGISTERS = 4, BLOCK_THREADS = 0, DYNAMIC_SHARED = 8 };

tt_code tt__cuda_compile(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err) {
  if (tt__fault(TT_FAULT_COMPILE)) return tt__fail(err, TT_EDEVICE, "%s: cannot compile: told to fail", d->name);
  return tt__nvrtc_compile(d->target.arch, tt__cuda_of(d)->api->version, source, options, binary, err);
}

void tt__cuda_identity(tt_device *d, tt_str *out) {
  tt__nvrtc_identity(d->target.arch, tt__cuda_of(d)->api->version, out);
}

tt_code tt__cuda_load(tt_device *d, const void *binary, size_t size, tt_module **out, tt_error *err) {
  enum { LOG = 5, LOG_SIZE = 6, LOG_BYTES = 600 };
  char log[LOG_BYTES] = "";
  int option[] = {LOG, LOG_SIZE};
  void *value[] = {log, (void *)(uintptr_t)sizeof log};
  (void)size; /* the image tells its own */
  void *before;
  *out = NULL;
  TT_TRY(tt__cuda_enter(d, &before, err));
  tt_module *m = tt__mem_zalloc(sizeof *m);
  int result = m ? tt__cuda_of(d)->api->module_load(&m->handle, binary, 2, option, value) : TT_CUDA_OK;
  tt_code code = tt__cuda_leave(d, before, result, "load a binary", err);
  if (!m) return tt__fail_memory(err, sizeof *m);
  if (code == TT_OK) {
    *out = m;
    return TT_OK;
  }
  tt__mem_free(m, sizeof *m);
  log[LOG_BYTES - 1] = 0;
  if (err && *log) {
    size_t len = strlen(err->message);
    snprintf(err->message + len, sizeof err->message - len, ": %s", log);
  }
  return code;
}

void tt__cuda_unload(tt_device *d, tt_module *m) {
  void *before;
  if (!m) return;
  if (tt__cuda_enter(d, &before, NULL) == TT_OK)
    tt__cuda_leave(d, before, tt__cuda_of(d)->api->module_unload(m->handle), "unload a binary", NULL);
  for (tt_routine *f = m->routines, *next; f; f = next) {
    next = f->next;
    tt__mem_free(f, sizeof *f);
  }
  tt__mem_free(m, sizeof *m);
}

/* Everything that is asked later is asked now: it also brings the code onto the device, which a capture may not do. */
static int look(const tt_cuda_api *api, tt_module *m, const char *name, void **handle, tt_routine_info *info) {
  int result = api->module_function(handle, m->handle, name);
  if (result == TT_CUDA_OK && api->function_load) result = api->function_load(*handle);
  if (result == TT_CUDA_OK) result = api->function_attribute(&info->registers, REGISTERS, *handle);
  if (result == TT_CUDA_OK) result = api->function_attribute(&info->shared, SHARED_BYTES, *handle);
  if (result == TT_CUDA_OK) result = api->function_attribute(&info->local, LOCAL_BYTES, *handle);
  if (result == TT_CUDA_OK) result = api->function_attribute(&info->block_threads, BLOCK_THREADS, *handle);
  return result;
}

tt_code tt__cuda_routine(tt_device *d, tt_module *m, const char *name, tt_routine **out, tt_routine_info *info,
                         tt_error *err) {
  enum { FREE_SHARED = 48 << 10 }; /* a kernel's own and what a launch adds: so much needs no asking */
  tt_cuda *c = tt__cuda_of(d);
  void *before, *handle = NULL;
  tt_routine_info found = {0};
  char what[120];
  *out = NULL;
  snprintf(what, sizeof what, "find the kernel '%.80s'", name);
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = look(c->api, m, name, &handle, &found);
  TT_TRY(tt__cuda_leave(d, before, result, what, err));
  tt_routine *f = tt__mem_zalloc(sizeof *f);
  if (!f) return tt__fail_memory(err, sizeof *f);
  f->handle = handle;
  snprintf(f->name, sizeof f->name, "%s", name);
  atomic_init(&f->shared, FREE_SHARED - found.shared);
  tt__lock(&c->lock);
  f->next = m->routines;
  m->routines = f;
  tt__unlock(&c->lock);
  if (info) *info = found;
  *out = f;
  return TT_OK;
}

tt_code tt__cuda_global(tt_device *d, tt_module *m, const char *name, void **at, size_t *size, tt_error *err) {
  char what[120];
  void *before;
  tt_cuda_pointer p = 0;
  snprintf(what, sizeof what, "find the variable '%.80s'", name);
  if (!tt__cuda_of(d)->api->module_global) return tt__fail(err, TT_EDEVICE, "%s: this driver cannot %s", d->name, what);
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = tt__cuda_of(d)->api->module_global(&p, size, m->handle, name);
  TT_TRY(tt__cuda_leave(d, before, result, what, err));
  *at = (void *)(uintptr_t)p;
  return TT_OK;
}

int tt__cuda_allow_shared(tt_cuda *c, tt_routine *f, uint32_t shared) {
  int now = atomic_load_explicit(&f->shared, memory_order_relaxed);
  if ((int64_t)shared <= now) return TT_CUDA_OK;
  int result = c->api->function_set(f->handle, DYNAMIC_SHARED, (int)shared);
  if (result == TT_CUDA_OK) atomic_store(&f->shared, (int)shared);
  return result;
}

/* Wait for the work just asked for, and name it if it failed. */
static tt_code finish(tt_device *d, tt_stream *s, const char *kind, const char *name, void *before, tt_error *err) {
  char what[120];
  snprintf(what, sizeof what, "run %s '%s'", kind, name);
  return tt__cuda_leave(d, before, tt__cuda_of(d)->api->stream_wait_idle(s->handle), what, err);
}

/* Work is on its way. Every now and then: how far has the stream come, as far as it can be known without waiting? */
static void follow(tt_cuda *c, tt_stream *s, const char *name) {
  enum { EVERY = TT_LAUNCH_LOG_MOST / 2, WITHOUT_TIME = 2 };
  uint64_t now = tt__launch_log_note(&s->log, name);
  if (now % EVERY != 0) return;
  if (!s->milestone && c->api->event_new(&s->milestone, WITHOUT_TIME) != TT_CUDA_OK) return;
  if (s->milestone_at && c->api->event_query(s->milestone) != TT_CUDA_OK) return;
  if (s->milestone_at) tt__launch_log_done(&s->log, s->milestone_at);
  s->milestone_at = c->api->event_record(s->milestone, s->handle) == TT_CUDA_OK ? now : 0;
}

tt_code tt__cuda_suggest(tt_device *d, tt_routine *f, uint32_t shared, int *grid, int *block, tt_error *err) {
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  if (!c->api->best_block) return tt__fail(err, TT_ENOTIMPL, "%s: the driver does not say", d->name);
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = c->api->best_block(grid, block, f->handle, NULL, shared, 0);
  return tt__cuda_leave(d, before, result, "choose a block", err);
}

tt_code tt__cuda_at_once(tt_device *d, tt_routine *f, int threads, uint32_t shared, int64_t *blocks, tt_error *err) {
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  int n = 0;
  if (!c->api->launch_ex || !c->api->blocks_at_once)
    return tt__fail(err, TT_ENOTIMPL, "%s: the driver is too old for grids whose blocks wait for each other", d->name);
  TT_TRY(tt__cuda_enter(d, &before, err));
  int result = tt__cuda_allow_shared(c, f, shared);
  if (result == TT_CUDA_OK) result = c->api->blocks_at_once(&n, f->handle, threads, shared);
  *blocks = (int64_t)n * d->target.units;
  return tt__cuda_leave(d, before, result, "count the blocks that run at once", err);
}

/* The driver refuses a grid that is not under way as a whole. */
static int launch_together(tt_cuda *c, tt_stream *s, tt_routine *f, const tt_grid *g, void **extra) {
  enum { COOPERATIVE = 2, NOT_SUPPORTED = 801 };
  tt_cuda_attribute one = {.id = COOPERATIVE, .value.cooperative = 1};
  tt_cuda_launch launch = {.shared = (unsigned)g->shared, .stream = s->handle, .attribute = &one, .n = 1};
  memcpy(launch.grid, g->grid, sizeof launch.grid);
  memcpy(launch.block, g->block, sizeof launch.block);
  return c->api->launch_ex ? c->api->launch_ex(&launch, f->handle, NULL, extra) : NOT_SUPPORTED;
}

tt_code tt__cuda_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args, size_t size,
                        tt_error *err) {
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  if (tt__fault(TT_FAULT_LAUNCH)) return tt__fail(err, TT_EDEVICE, "%s: cannot launch: told to fail", d->name);
  if (tt__fault(TT_FAULT_LOSS)) return tt__device_lose(d, err, "%s is lost: told to fail", d->name);
  TT_TRY(tt__cuda_enter(d, &before, err));
  /* The driver's marks: 1 before the address of the packed arguments, 2 before that of their size, 0 at the end. */
  void *extra[] = {(void *)1, (void *)(uintptr_t)args, (void *)2, &size, NULL};
  int result = tt__cuda_allow_shared(c, f, (unsigned)g->shared);
  if (result == TT_CUDA_OK && g->together)
    result = launch_together(c, s, f, g, size ? extra : NULL);
  else if (result == TT_CUDA_OK)
    result = c->api->launch(f->handle, g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2],
                            (unsigned)g->shared, s->handle, NULL, size ? extra : NULL);
  if (result == TT_CUDA_OK && atomic_load_explicit(&c->capturing, memory_order_relaxed))
    result = tt__cuda_note_launch(d, s, f, g);
  else if (result == TT_CUDA_OK && c->check)
    return finish(d, s, "the kernel", f->name, before, err);
  else if (result == TT_CUDA_OK)
    follow(c, s, f->name);
  return tt__cuda_leave(d, before, result, "launch a kernel", err);
}

tt_code tt__cuda_asked(tt_device *d, tt_stream *s, const char *what, tt_error *err) {
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  TT_TRY(tt__cuda_enter(d, &before, err));
  if (c->check) return finish(d, s, "the library's", what, before, err);
  follow(c, s, what);
  return tt__cuda_leave(d, before, TT_CUDA_OK, what, err);
}
