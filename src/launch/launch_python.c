/*
** Launches of Python kernels: words and arrays become a recorded call (graph/call.h), which runs by the kernel's C code
** or, on a GPU, by its CUDA text.
*/
#include <string.h>

#include "launch/raw.h"
#include "device/current.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/call.h"
#include "graph/session.h"
#include "run/device_code.h"
#include "run/exec_call.h"
#include "run/wanted.h"
#include "launch/jit.h"

enum { MOST_WORDS = TT_CALL_ARGS / 8 - 1 }; /* the last one is the size of dynamic shared memory */

/* ---- its code */

/* Compiled at the first launch there: up to a second, with the lock given up. */
static tt_code find_routine(struct tt_jit *j, tt_device *d, tt_routine **out, tt_error *err) {
  bool slot = d->index < TT_JIT_DEVICES;
  if (slot && (*out = __atomic_load_n(&j->routine[d->index], __ATOMIC_ACQUIRE)) != NULL) return TT_OK;
  tt_str text = {0};
  tt_code c = tt__jit_cuda_text(j, &text, err);
  if (c == TT_OK) c = tt__device_text(d, text.data, TT_HEADER_NONE, j->name, out, err);
  if (c == TT_OK && slot) __atomic_store_n(&j->routine[d->index], *out, __ATOMIC_RELEASE);
  tt__str_free(&text);
  return c;
}

static tt_code find_code(struct tt_jit *j, tt_device *d, tt_routine **routine, tt_error *err) {
  *routine = NULL;
  if (d && d->target.kind != TT_DEVICE_NULL) return find_routine(j, d, routine, err);
  int depth = tt__session_suspend();
  tt_code code = tt__jit_ready(j, err);
  tt__session_resume(depth);
  return code;
}

/* ---- what runs it (ir/call.h) */

static tt_code run_python(const tt_kernel_call *c, char *args, bool *ran, tt_error *err) {
  struct tt_jit *j = c->kernel;
  const int64_t *word = (const int64_t *)(const void *)args;
  struct tt_jit_run *run = NULL;
  tt_jit_grid grid = {.shared = c->grid.shared};
  for (int k = 0; k < 3; k++) {
    grid.grid[k] = c->grid.grid[k];
    grid.block[k] = c->grid.block[k];
  }
  tt_code code = tt__jit_launch(j, word, word + j->nword, &grid, &run, err);
  *ran = code != TT_ENOMEM;
  const char *text = tt__jit_run_text(run);
  tt__call_print(text, strlen(text));
  tt__jit_run_free(run);
  return code;
}

static tt_code python_routine(const tt_kernel_call *c, tt_device *d, tt_routine **out, tt_error *err) {
  return find_routine(c->kernel, d, out, err);
}

static void stay(void *kernel) { (void)kernel; } /* code lives until the process ends */

static const tt_call_kind python_kind = {run_python, python_routine, stay, stay};

/* ---- launching */

/* Threads of a block: what keeps most of the device busy, once asked for each kernel; on the CPU a block is a loop. */
static int64_t choose_block(struct tt_jit *j, tt_device *d, tt_routine *routine, int64_t shared) {
  enum { USUAL = 128 };
  int grid, block = USUAL;
  bool slot = d && d->index < TT_JIT_DEVICES;
  if (!routine || !d->ops->suggest) return USUAL;
  if (slot && shared == 0 && j->block[d->index]) return j->block[d->index];
  if (d->ops->suggest(d, routine, (uint32_t)shared, &grid, &block, NULL) != TT_OK) block = USUAL;
  if (slot && shared == 0) j->block[d->index] = block;
  return block;
}

typedef struct launch {
  struct tt_jit *jit;
  const tt_jit_launch_options *how;
  const tt_jit_argument *arg;
  int n, id;   /* `id`: where it runs */
  int managed; /* the device of the caller's memory that lies there, too */
  tt_call_array array[TT_CALL_ARRAYS];
  int narray;
  tt_call_memory memory; /* the caller's own */
  _Alignas(16) int64_t word[MOST_WORDS + 1];
} launch;

static void put_arrays(launch *l) {
  bool on_cpu = l->how->on_cpu || tt__wanted() == TT_CPU;
  for (int k = 0; k < l->n; k++) {
    const tt_jit_argument *a = &l->arg[k];
    int managed = a->array || on_cpu ? TT_CPU : tt__managed_at(a->low, a->size);
    if (managed)
      l->managed = managed; /* its words say where */
    else if (a->array)
      l->array[l->narray++] =
          (tt_call_array){.array = a->array, .at = 8 * a->word, .writes = a->writes, .inside = a->inside};
    else
      l->memory.arg[l->memory.n++] = (tt_call_span){.low = a->low,
                                                    .high = (char *)a->low + a->size,
                                                    .address = (const char *)(intptr_t)l->word[a->word],
                                                    .at = 8 * a->word,
                                                    .writes = a->writes};
  }
}

/* Where it runs. */
static tt_code choose(launch *l, bool raw, tt_device **d, tt_error *err) {
  const tt_jit_launch_options *how = l->how;
  const char *name = l->jit->program.entry->name;
  int chosen = tt__wanted(), otherwise = how->stream ? how->device : chosen >= 0 ? chosen : how->otherwise;
  if (l->managed) otherwise = l->managed;
  if (how->on_cpu) otherwise = 0;
  TT_TRY(tt__call_device(l->array, l->narray, name, otherwise, &l->id, err));
  if (how->on_cpu ? l->id || raw : raw && !l->id)
    return tt__fail(err, TT_ETYPE, "an argument lies on a GPU and kernel %s runs on the CPU", name);
  if (how->stream && how->device != l->id)
    return tt__fail(err, TT_EVALUE, "kernel %s: its stream and its arrays belong to different devices", name);
  return tt__device_open(l->id, d, err);
}

static tt_code record(launch *l, int nword, bool raw, tt_error *err) {
  struct tt_jit *j = l->jit;
  const tt_jit_launch_options *how = l->how;
  tt_device *d;
  tt_routine *routine;
  put_arrays(l);
  raw |= l->managed != 0;
  TT_TRY(choose(l, raw, &d, err));
  TT_TRY(find_code(j, d, &routine, err));
  tt_jit_grid grid = {.shared = how->shared};
  int64_t blocks, block = how->threads ? choose_block(j, d, routine, how->shared) : 0;
  for (int k = 0; k < 3; k++) {
    grid.block[k] = !block ? how->block[k] : k ? 1 : block;
    grid.grid[k] = !block ? how->grid[k] : k ? 1 : (how->threads + block - 1) / block;
  }
  TT_TRY(tt__jit_check_grid(j, &grid, &blocks, err));
  bool away = d && l->memory.n;
  if (away) TT_TRY(tt__call_bring(&l->memory, l->id, l->array + l->narray, err));
  if (away) l->narray += l->memory.n;
  tt_kernel_call call = {.kind = &python_kind,
                         .kernel = j,
                         .name = j->program.entry->name,
                         .device = l->id,
                         .args = (char *)l->word,
                         .args_size = sizeof(int64_t) * (size_t)(nword + 1)};
  for (int k = 0; k < 3; k++) {
    call.grid.grid[k] = (uint32_t)grid.grid[k];
    call.grid.block[k] = (uint32_t)grid.block[k];
  }
  call.grid.shared = (uint32_t)how->shared;
  call.grid.together = j->program.grid && routine;
  if (call.grid.together) TT_TRY(tt__call_together(d, routine, &call.grid, call.name, err));
  if (d) call.stream = how->stream ? how->stream : tt__stream_current(d);
  bool now = raw || (!d && (l->memory.n || j->program.prints));
  TT_TRY(now ? tt__call_now(&call, l->array, l->narray, err) : tt__call_record(&call, l->array, l->narray, err));
  return away ? tt__call_bring_back(&l->memory, err) : TT_OK;
}

tt_code tt__jit_at_once(struct tt_jit *j, int device, int threads, int64_t shared, int64_t *blocks, tt_error *err) {
  tt_device *d;
  tt_routine *routine;
  *blocks = INT32_MAX; /* the CPU runs the whole grid as one block */
  TT_TRY(tt__device_open(device, &d, err));
  if (!d || d->target.kind == TT_DEVICE_NULL) return TT_OK;
  if (!d->ops->at_once) return tt__fail(err, TT_ENOTIMPL, "%s runs no grids whose blocks wait for each other", d->name);
  TT_TRY(find_routine(j, d, &routine, err));
  return d->ops->at_once(d, routine, threads, (uint32_t)shared, blocks, err);
}

tt_code tt__jit_record(struct tt_jit *j, const tt_jit_launch_options *how, const int64_t *word, int nword, int nhidden,
                       const tt_jit_argument *arg, int n, bool raw, int *where, tt_error *err) {
  if (nword + nhidden > MOST_WORDS || n > TT_CALL_ARRAYS)
    return tt__fail(err, TT_ENOTIMPL, "kernel %s: more than %d words of arguments", j->program.entry->name, MOST_WORDS);
  launch l;
  l.jit = j;
  l.how = how;
  l.arg = arg;
  l.n = n;
  l.id = l.managed = 0;
  l.narray = l.memory.n = 0;
  memcpy(l.word, word, sizeof *word * (size_t)(nword + nhidden));
  l.word[nword + nhidden] = how->shared;
  j->nword = nword;
  tt_code code = record(&l, nword + nhidden, raw, err);
  tt__call_forget(&l.memory);
  *where = l.id;
  return code;
}
