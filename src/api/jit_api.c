/*
** The functions of tutti/jit.h.
*/
#include "tutti/jit.h"

#include <stdio.h>

#include "api/enter.h"
#include "base/hash.h"
#include "base/mem.h"
#include "device/cpu/cc.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/call.h"
#include "launch/python/jit.h"
#include "launch/language.h"

_Static_assert(TT_PROGRAM_LONGEST == TT_JIT_LONGEST, "the longest axis");

tt_code tt_jit_compile(const char *text, size_t size, const char *signature, uint32_t flags, tt_jit **out,
                       tt_error *err) {
  tt_py_options options = {.kernel = flags & TT_JIT_KERNEL,
                           .check = flags & TT_JIT_CHECK,
                           .parallel = flags & TT_JIT_PARALLEL,
                           .bounds = flags & TT_JIT_BOUNDS,
                           .numpy_errors = flags & (TT_JIT_NUMPY_ERRORS | TT_JIT_KERNEL)};
  void *made;
  tt_source source = {.language = TT_PYTHON, .text = text, .size = size, .signature = signature, .python = &options};
  *out = NULL;
  TT_TRY(tt__source_read(&source, &made, err));
  *out = made;
  return TT_OK;
}

bool tt_jit_expect(const void *key, size_t size) {
  bool waits;
  tt__jit_expect(tt__digest(key, size), &waits);
  return waits;
}

void tt_jit_settle(const void *key, size_t size, bool compiled) { tt__jit_settle(tt__digest(key, size), compiled); }

const char *tt_jit_result(const tt_jit *j) { return j->result.data; }
uint64_t tt_jit_writes(const tt_jit *j) { return j->program.entry->writes; }
bool tt_jit_is_brief(const tt_jit *j) { return j->brief && __atomic_load_n(&j->fn, __ATOMIC_ACQUIRE); }
const char *tt_jit_source(const tt_jit *j) { return j->source.data; }
const char *tt_jit_types(const tt_jit *j) { return j->types.data; }
char *tt_jit_cuda_source(const tt_jit *j, tt_error *err) {
  tt_str text = {0};
  tt_code c = tt__jit_device_text(j, TT_PROGRAM_CUDA, &text, err);
  char *kept = c == TT_OK ? tt__mem_dup(text.data, text.len + 1) : NULL;
  if (c == TT_OK && !kept) (void)tt__fail_memory(err, text.len);
  tt__str_free(&text);
  return kept;
}
tt_jit_info tt_jit_ask(const tt_jit *j) {
  return (tt_jit_info){.shared = j->shared, .local = j->local, .barriers = j->program.entry->splits};
}

tt_code tt_jit_call(const tt_jit *j, const int64_t *word, const int64_t *hidden, int64_t *out, tt_jit_run **run,
                    tt_error *err) {
  return tt__jit_call(j, word, hidden, out, run, err);
}

tt_code tt_jit_next(const tt_jit *j, tt_jit_list *generator, const int64_t *hidden, tt_jit_run **run, bool *more,
                    tt_error *err) {
  return tt__jit_next(j, generator, hidden, run, more, err);
}

tt_code tt_jit_launch(tt_jit *j, const tt_launch_options *how, const int64_t *word, int nword, int nhidden,
                      const tt_jit_argument *arg, int n, bool raw, int *where, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__jit_record(j, how, word, nword, nhidden, arg, n, raw, where, err));
}

tt_code tt_jit_at_once(tt_jit *j, int device, int threads, int64_t shared, int64_t *blocks, tt_error *err) {
  tt_error local;
  return tt__jit_at_once(j, device, threads, shared, blocks, err ? err : &local);
}

/* ---- plain memory */

tt_code tt_device_copy_in(int device, void *to, const void *from, int64_t size, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  TT_TRY(tt__calls_flush(err));
  return d ? tt__staging_in(d, tt__stream_current(d), to, from, (size_t)size, err)
           : tt__fail(err, TT_EVALUE, "device %d is the CPU", device);
}

tt_code tt_device_copy_out(int device, void *to, const void *from, int64_t size, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  TT_TRY(tt__calls_flush(err));
  return d ? tt__staging_out(d, tt__stream_current(d), to, from, (size_t)size, err)
           : tt__fail(err, TT_EVALUE, "device %d is the CPU", device);
}

const char *tt_jit_run_text(const tt_jit_run *run) { return tt__jit_run_text(run); }
bool tt_jit_run_take(tt_jit_run *run, const void *p, void **data, size_t *size) {
  return tt__jit_run_take(run, p, data, size);
}
void tt_jit_free(void *data, size_t size) { tt__mem_free_data(data, size); }
void tt_jit_run_release(tt_jit_run **run) {
  tt__jit_run_free(*run);
  *run = NULL;
}
bool tt_jit_usable(void) { return tt__cc_usable(); }
void tt_jit_missing(char *out, size_t size) {
  tt_cc_info info = tt__cc_info();
  snprintf(out, size, "%s", info.usable ? "" : info.why);
}
