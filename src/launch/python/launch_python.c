/*
** Launches of Python kernels: words and arrays become a recorded call (graph/call.h), which runs by the kernel's C code
** or, on a GPU, by its CUDA text.
*/
#include <assert.h>
#include <string.h>

#include "launch/python/jit.h"
#include "launch/launch.h"
#include "launch/raw.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/device/device_code.h"
#include "run/exec_call.h"
#include "run/wanted.h"
#include "launch/python/jit.h"

enum { MOST_WORDS = TT_CALL_ARGS / 8 - 1 }; /* the last one is the size of dynamic shared memory */

/* ---- its code */

/* Devices of two kinds have the same numbers; -1: a device that nobody remembers. */
static int slot_of(const tt_device *d) {
  enum { EACH = TT_JIT_DEVICES / 2 };
  return d->index < EACH ? (d->target.handles ? EACH : 0) + d->index : -1;
}

/* What cannot be had was said of the kernel, not of where. */
static void name_place(const struct tt_jit *j, const tt_device *d, tt_error *err) {
  tt_error why = *err;
  tt__fail(err, TT_ENOTIMPL, "kernel %s: %s has none of this: %s", j->program.entry->name, d->name, why.message);
}

/* Compiled at the first launch there: up to a second, with the lock given up. */
static tt_code find_routine(struct tt_jit *j, tt_device *d, tt_routine **out, tt_error *err) {
  int slot = slot_of(d);
  if (slot >= 0 && (*out = __atomic_load_n(&j->routine[slot], __ATOMIC_ACQUIRE)) != NULL) return TT_OK;
  tt_str text = {0};
  tt_code c = tt__jit_device_text(j, d->target.handles ? TT_PROGRAM_OPENCL : TT_PROGRAM_CUDA, &text, err);
  if (c == TT_OK && d->target.narrow_atomics && tt__program_atomic64(&j->program))
    c = tt__fail(err, TT_ENOTIMPL, "atomic operations on 64 bits");
  if (c == TT_ENOTIMPL) name_place(j, d, err);
  if (c == TT_OK) c = tt__device_text(d, text.data, TT_HEADER_NONE, j->name, out, err);
  if (c == TT_OK && slot >= 0) __atomic_store_n(&j->routine[slot], *out, __ATOMIC_RELEASE);
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

/* ---- what runs it (ir/user/call.h) */

static tt_code run_python(const tt_kernel_call *c, char *args, bool *ran, tt_error *err) {
  struct tt_jit *j = c->kernel;
  const int64_t *word = (const int64_t *)(const void *)args;
  struct tt_jit_run *run = NULL;
  tt_code code = tt__jit_launch(j, word, word + j->nword, &c->grid, &run, err);
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

/* Threads of a block: what keeps most of the device busy, once asked for each kernel; on the CPU a block is a loop. */
static int block_python(const tt_kernel_launch *l, tt_device *d, tt_routine *routine) {
  enum { USUAL = 128 };
  struct tt_jit *j = l->kernel;
  int64_t shared = l->grid.shared;
  int grid, block = USUAL, slot = d ? slot_of(d) : -1;
  if (!routine || !d->ops->occupancy) return USUAL;
  if (slot >= 0 && shared == 0 && j->block[slot]) return j->block[slot];
  if (d->ops->occupancy->suggest(d, routine, (uint32_t)shared, &grid, &block, NULL) != TT_OK) block = USUAL;
  if (slot >= 0 && shared == 0) j->block[slot] = block;
  return block;
}

/* ---- the language's row */

static tt_code read_python(const tt_source *s, void **out, tt_error *err) {
  struct tt_jit *j;
  TT_TRY(tt__jit_compile(s->text, s->size, s->signature, s->python, &j, err));
  *out = j;
  return TT_OK;
}

static void need_python(const tt_kernel_launch *l, tt_launch_need *out) {
  out->own = ((struct tt_jit *)l->kernel)->shared;
}

static tt_code code_python(tt_kernel_launch *l, tt_device *d, tt_launch_code *out, tt_error *err) {
  TT_TRY(find_code(l->kernel, d, &out->routine, err));
  out->together = ((struct tt_jit *)l->kernel)->program.grid && out->routine;
  return TT_OK;
}

/* Where memory has handles: the arrays' addresses stand before the words, one for each, in their order. */
static tt_code place_python(tt_kernel_launch *l, tt_device *d, tt_error *err) {
  const struct tt_jit *j = l->kernel;
  int word[TT_PROGRAM_ADDRESSES], n = 0;
  if (!d || !d->target.handles) return TT_OK;
  n = tt__program_addresses(&j->program, word); /* its text was written, so there is room */
  size_t before = 8 * (size_t)n;
  TT_TRY(tt__launch_lead(l, d, n, before, 8, err));
  for (int k = 0; k < l->narray; k++) {
    int i = 0;
    while (i < n && 8 * word[i] != l->array[k].at) i++;
    if (i == n) return tt__fail(err, TT_EINTERNAL, "kernel %s: an address that is none of an array", l->name);
    memset(l->args + before + l->array[k].at, 0, 8); /* the host's means nothing there */
    l->array[k].at = 8 * i;
  }
  return TT_OK;
}

const tt_language tt__python = {.name = "Python",
                                .parse = read_python,
                                .need = need_python,
                                .code = code_python,
                                .block = block_python,
                                .place = place_python,
                                .call = {run_python, python_routine, stay, stay}};

/* ---- launching */

static void put_array(tt_kernel_launch *l, const tt_jit_argument *a, bool on_cpu) {
  const int64_t *word = (const int64_t *)(const void *)l->args;
  int managed = a->array || on_cpu ? TT_CPU : tt__managed_at(a->low, (size_t)a->size);
  if (managed) { /* its words say where */
    l->prefer = managed;
    l->raw = true;
  } else if (a->array) {
    l->array[l->narray++] =
        (tt_call_array){.array = a->array, .at = 8 * a->word, .writes = a->writes, .inside = a->inside};
  } else {
    l->memory.arg[l->memory.n++] = (tt_call_span){.low = a->low,
                                                  .high = (char *)a->low + a->size,
                                                  .address = (const char *)(intptr_t)word[a->word],
                                                  .at = 8 * a->word,
                                                  .writes = a->writes};
  }
}

tt_code tt__jit_record(struct tt_jit *j, const tt_launch_options *how, const int64_t *word, int nword, int nhidden,
                       const tt_jit_argument *arg, int n, bool raw, int *where, tt_error *err) {
  const char *name = j->program.entry->name;
  if (nword + nhidden > MOST_WORDS || n > TT_CALL_ARRAYS)
    return tt__fail(err, TT_ENOTIMPL, "kernel %s: more than %d words of arguments", name, MOST_WORDS);
  assert(nword >= 0 && nhidden >= 0 && where);
  tt_kernel_launch l;
  tt__launch_begin(&l, TT_PYTHON, j, name, how);
  size_t size = sizeof *word * (size_t)(nword + nhidden);
  memcpy(l.args, word, size);
  memcpy(l.args + size, &how->grid.shared, sizeof how->grid.shared);
  l.args_size = size + sizeof how->grid.shared;
  l.home = how->otherwise;
  l.prints = j->program.prints;
  l.raw = raw;
  j->nword = nword;
  bool on_cpu = how->on_cpu || tt__wanted() == TT_CPU;
  for (int k = 0; k < n; k++) put_array(&l, &arg[k], on_cpu);
  tt_code code = tt__launch(&l, err);
  *where = l.id;
  return code;
}

tt_code tt__jit_at_once(struct tt_jit *j, int device, int threads, int64_t shared, int64_t *blocks, tt_error *err) {
  tt_device *d;
  tt_routine *routine;
  *blocks = INT32_MAX; /* the CPU runs the whole grid as one block */
  TT_TRY(tt__device_open(device, &d, err));
  if (!d || d->target.kind == TT_DEVICE_NULL) return TT_OK;
  if (!d->ops->occupancy)
    return tt__fail(err, TT_ENOTIMPL, "%s runs no grids whose blocks wait for each other", d->name);
  TT_TRY(find_routine(j, d, &routine, err));
  return d->ops->occupancy->at_once(d, routine, threads, (uint32_t)shared, blocks, err);
}
