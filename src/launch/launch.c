/*
** The one way of a launch; see launch.h.
*/
#include "launch/launch.h"

#include <assert.h>
#include <string.h>

#include "device/streams.h"
#include "device/device.h"
#include "run/exec_call.h"
#include "run/wanted.h"

/* ---- the grid */

tt_code tt__grid_check(const tt_grid *g, const tt_target *t, const tt_launch_need *need, const char *name,
                       tt_error *err) {
  assert(name && t->block_threads > 0);
  const uint32_t *n = g->grid, *b = g->block;
  int threads = need->threads && need->threads < t->block_threads ? need->threads : t->block_threads;
  int64_t most = need->most && need->most < t->shared_block ? need->most : t->shared_block, shared = g->shared;
  for (int k = 0; k < 3; k++) {
    if (n[k] == 0 || b[k] == 0)
      return tt__fail(err, TT_EVALUE,
                      "a launch needs at least one block of one thread: grid (%u,%u,%u), block (%u,%u,%u)", n[0], n[1],
                      n[2], b[0], b[1], b[2]);
    if (n[k] > t->grid_max[k])
      return tt__fail(err, TT_EVALUE, "grid (%u,%u,%u): at most (%lld,%lld,%lld)", n[0], n[1], n[2],
                      (long long)t->grid_max[0], (long long)t->grid_max[1], (long long)t->grid_max[2]);
    if (b[k] > t->block_max[k])
      return tt__fail(err, TT_EVALUE, "block (%u,%u,%u): at most (%lld,%lld,%lld)", b[0], b[1], b[2],
                      (long long)t->block_max[0], (long long)t->block_max[1], (long long)t->block_max[2]);
  }
  if (tt__grid_threads(g) > threads)
    return tt__fail(err, TT_EVALUE, "a block of %u x %u x %u is %lld threads; kernel %s takes at most %d", b[0], b[1],
                    b[2], (long long)tt__grid_threads(g), name, threads);
  if (shared < 0 || shared > most - need->own)
    return tt__fail(err, TT_EVALUE, "kernel %s: %lld bytes of %s memory, at most %lld are there", name,
                    (long long)(shared + need->own), need->memory ? need->memory : "shared", (long long)most);
  return TT_OK;
}

static tt_code check(const tt_kernel_launch *l, const tt_device *d, tt_error *err) {
  tt_launch_need need = {0};
  tt__languages[l->language]->need(l, &need);
  return tt__grid_check(&l->grid, tt__runs_host_code(d) ? &tt__target_host : &d->target, &need, l->name, err);
}

/* At least so many threads along x, in blocks that suit where it runs. */
static void spread(tt_kernel_launch *l, tt_device *d, tt_routine *routine) {
  int block = tt__languages[l->language]->block(l, d, routine);
  int64_t blocks = (l->how->threads + block - 1) / block;
  uint32_t most = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks; /* too many: the check says so */
  for (int k = 0; k < 3; k++) {
    l->grid.block[k] = k ? 1 : (uint32_t)block;
    l->grid.grid[k] = k ? 1 : most;
  }
}

/* ---- where */

static tt_code choose(tt_kernel_launch *l, tt_device **d, tt_error *err) {
  const tt_launch_options *how = l->how;
  int chosen = tt__wanted(), otherwise = how->stream ? how->device : chosen >= 0 ? chosen : l->home;
  if (l->prefer) otherwise = l->prefer;
  if (how->on_cpu) otherwise = TT_CPU;
  TT_TRY(tt__call_device(l->array, l->narray, l->name, otherwise, &l->id, err));
  if (l->prefer && l->bound && l->prefer != l->id)
    return tt__fail(err, TT_EVALUE, "kernel %s: its arrays and its addresses lie on different devices", l->name);
  if (how->on_cpu ? l->id || l->raw : l->raw && !l->id)
    return tt__fail(err, TT_ETYPE, "an argument lies on a GPU and kernel %s runs on the CPU", l->name);
  if (how->stream && how->device != l->id)
    return tt__fail(err, TT_EVALUE, "kernel %s: its stream and its arrays belong to different devices", l->name);
  return tt__device_open(l->id, d, err);
}

/* Its code, and the grid that it is launched over. */
static tt_code ready(tt_kernel_launch *l, tt_device *d, tt_launch_code *code, tt_error *err) {
  l->grid = l->how->grid;
  if (!l->how->threads) TT_TRY(check(l, d, err));
  TT_TRY(tt__languages[l->language]->code(l, d, code, err));
  if (l->how->threads) {
    spread(l, d, code->routine);
    TT_TRY(check(l, d, err));
  }
  l->grid.together = code->together;
  return code->together && code->routine ? tt__call_together(d, code->routine, &l->grid, l->name, err) : TT_OK;
}

tt_code tt__launch_lead(tt_kernel_launch *l, const tt_device *d, int n, size_t before, size_t align, tt_error *err) {
  size_t size = (before + l->args_size + align - 1) / align * align;
  assert(d->target.handles && before >= 8 * (size_t)n && align > 0);
  if (size > sizeof l->args || (int64_t)size > d->target.param_bytes)
    return tt__fail(err, TT_ENOTIMPL, "kernel %s: %zu bytes of arguments, of which %s takes %lld", l->name, size,
                    d->name, (long long)d->target.param_bytes);
  memmove(l->args + before, l->args, l->args_size);
  memset(l->args, 0, before);
  memset(l->args + before + l->args_size, 0, size - before - l->args_size);
  l->args_size = size;
  l->grid.pointers = n;
  return TT_OK;
}

/* ---- recording */

static tt_code bring(tt_kernel_launch *l, tt_error *err) {
  if (l->narray + l->memory.n > TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->name);
  TT_TRY(tt__call_bring(&l->memory, l->id, l->array + l->narray, err));
  l->narray += l->memory.n;
  return TT_OK;
}

static tt_code record(const tt_kernel_launch *l, tt_device *d, tt_error *err) {
  tt_kernel_call call = {.kind = &tt__languages[l->language]->call,
                         .kernel = l->kernel,
                         .name = l->name,
                         .grid = l->grid,
                         .device = l->id,
                         .args = (char *)l->args,
                         .args_size = l->args_size};
  if (d) call.stream = l->how->stream ? l->how->stream : tt__stream_current(d);
  bool now = l->raw || (!d && (l->memory.n || l->prints));
  return now ? tt__call_now(&call, l->array, l->narray, err) : tt__call_record(&call, l->array, l->narray, err);
}

static tt_code launch(tt_kernel_launch *l, tt_error *err) {
  const tt_language *language = tt__languages[l->language];
  tt_launch_code code = {0};
  tt_device *d;
  TT_TRY(choose(l, &d, err));
  TT_TRY(ready(l, d, &code, err));
  bool away = d && l->memory.n;
  if (away) TT_TRY(bring(l, err));
  if (l->how->copied) *l->how->copied = away;
  if (language->place) TT_TRY(language->place(l, d, err));
  TT_TRY(record(l, d, err));
  return away ? tt__call_bring_back(&l->memory, err) : TT_OK;
}

void tt__launch_begin(tt_kernel_launch *l, tt_language_id language, void *kernel, const char *name,
                      const tt_launch_options *how) {
  assert(kernel && name && how && tt__languages[language]->code);
  l->language = language;
  l->kernel = kernel;
  l->name = name;
  l->how = how;
  l->home = l->prefer = l->id = TT_CPU;
  l->bound = l->raw = l->prints = false;
  l->args_size = 0;
  l->narray = l->memory.n = 0;
}

tt_code tt__launch(tt_kernel_launch *l, tt_error *err) {
  assert(l->args_size <= sizeof l->args && l->narray <= TT_CALL_ARRAYS && err);
  tt_code code = launch(l, err);
  tt__call_forget(&l->memory);
  return code;
}
