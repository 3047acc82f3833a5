/*
** The road from kernels to functions. Kernels are taken in batches: one compiler run of ten kernels
** costs a third of ten runs.
*/
#include "run/compile.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "device/cpu/cc.h"
#include "render/render.h"
#include "render/trim.h"
#include "run/cache/cache.h"

enum { BATCH = 16 }; /* kernels of one compiler run; its time grows with the text, others wait for it */

/* A kernel on its way. */
typedef struct job {
  tt_str text, source;
  char symbol[TT_RENDER_NAME];
  int at; /* position in the caller's arrays */
} job;

static void free_job(job *j) {
  tt__str_free(&j->text);
  tt__str_free(&j->source);
}

static tt_code render_job(job *j, const tt_kernel *k, int at, tt_error *err) {
  j->at = at;
  tt__render_name(k, j->symbol);
  tt__kernel_print(k, &j->text);
  if (j->text.failed) return tt__fail_memory(err, j->text.len);
  return tt__render_kernel(k, &tt__dialect_c, j->symbol, &j->source, err);
}

static tt_cache_item item_of(const job *j, const tt_kernel *k) {
  return (tt_cache_item){.key = k->key, .text = j->text.data, .source = j->source.data, .symbol = j->symbol};
}

/* The digest of the header, which never changes, worked out once. Zero when memory was out. */
static tt_digest find_header(void) {
  static _Atomic uint64_t lo, hi; /* lo is written last; two threads may both do the work */
  tt_digest d = {.lo = atomic_load(&lo)};
  d.hi = atomic_load(&hi);
  if (d.lo) return d;
  d = tt__render_digest(&tt__dialect_c);
  atomic_store(&hi, d.hi);
  atomic_store(&lo, d.lo);
  return d;
}

/* What binaries of this process depend on. `identity` holds the text that `place` points at. */
static bool find_place(tt_str *identity, tt_cache_place *place) {
  tt__cc_identity(identity);
  *place = (tt_cache_place){.identity = identity->data, .header = find_header()};
  return !identity->failed && identity->len > 0 && place->header.lo;
}

/* One compiler run for jobs [0, n); all of them or none. */
static tt_code compile_batch(const tt_kernel *const *k, job *jobs, int n, const tt_cache_place *place, tt_kernel_fn *fn,
                             tt_error *err) {
  tt_str header = {0}, source = {0}, text = {0}, binary = {0};
  const char *names[BATCH];
  tt_kernel_fn got[BATCH];
  tt_cache_item items[BATCH];
  tt_scalar_text scalar = TT_SCALAR_PLAIN;
  for (int i = 0; i < n; i++) {
    tt_scalar_text need = tt__render_scalar_text(k[jobs[i].at]);
    if (need > scalar) scalar = need;
  }
  tt__render_header(&tt__dialect_c, scalar, &header);
  for (int i = 0; i < n; i++) {
    tt__str_add(&source, jobs[i].source.data);
    names[i] = jobs[i].symbol;
    items[i] = item_of(&jobs[i], k[jobs[i].at]);
    if (tt__log_on(TT_LOG_RENDER)) tt__log_artefact(TT_LOG_RENDER, jobs[i].symbol, jobs[i].source.data);
  }
  bool failed = header.failed || source.failed;
  if (!failed) {
    tt__trim(header.data, source.data, &text);
    tt__str_add(&text, source.data);
  }
  tt_code c = failed || text.failed ? tt__fail_memory(err, source.len) : TT_OK;
  if (c == TT_OK) c = tt__cc_compile(text.data, names, n, got, &binary, err);
  if (c == TT_OK) {
    for (int i = 0; i < n; i++) fn[jobs[i].at] = got[i];
    if (place) tt__cache_store(place, items, n, binary.data, binary.len);
  }
  tt__str_free(&header);
  tt__str_free(&source);
  tt__str_free(&text);
  tt__str_free(&binary);
  return c;
}

/* A batch; when it fails, each kernel by itself, so that a bad one does not take the others along. */
static tt_code compile_jobs(const tt_kernel *const *k, job *jobs, int n, const tt_cache_place *place, tt_kernel_fn *fn,
                            tt_error *err) {
  tt_code c = compile_batch(k, jobs, n, place, fn, err);
  if (c != TT_EDEVICE || n == 1) return c;
  c = TT_OK;
  for (int i = 0; i < n; i++) {
    tt_code one = tt__cc_usable() ? compile_batch(k, &jobs[i], 1, place, fn, c == TT_OK ? err : NULL) : TT_EDEVICE;
    if (c == TT_OK) c = one;
  }
  return c;
}

static bool same_key(const tt_kernel *a, const tt_kernel *b) {
  return a->key.lo == b->key.lo && a->key.hi == b->key.hi;
}

/* The same kernel earlier in the list, or `at` itself. */
static int first_of(const tt_kernel *const *k, int at) {
  int i = 0;
  while (!same_key(k[i], k[at])) i++;
  return i;
}

tt_code tt__compile_kernels(const tt_kernel *const *k, int n, tt_kernel_fn *fn, tt_error *err) {
  job jobs[BATCH];
  tt_str identity = {0};
  tt_cache_place place;
  tt_code first = TT_OK;
  bool cached = find_place(&identity, &place);
  memset(fn, 0, (size_t)n * sizeof *fn);
  for (int at = 0; at < n;) {
    int pending = 0;
    for (; at < n && pending < BATCH; at++) {
      if (first_of(k, at) != at) continue;
      job *j = &jobs[pending];
      memset(j, 0, sizeof *j);
      tt_code c = render_job(j, k[at], at, first == TT_OK ? err : NULL);
      if (c == TT_OK && cached) {
        tt_cache_item item = item_of(j, k[at]);
        fn[at] = tt__cache_find(&place, &item);
      }
      if (c == TT_OK && !fn[at]) {
        pending++;
      } else {
        free_job(j);
        if (first == TT_OK) first = c;
      }
    }
    if (pending) {
      tt_code c = compile_jobs(k, jobs, pending, cached ? &place : NULL, fn, first == TT_OK ? err : NULL);
      if (first == TT_OK) first = c;
    }
    for (int i = 0; i < pending; i++) free_job(&jobs[i]);
  }
  for (int at = 0; at < n; at++) fn[at] = fn[first_of(k, at)];
  tt__str_free(&identity);
  return first;
}

tt_kernel_fn tt__compile_peek(const tt_kernel *k) {
  tt_str identity = {0};
  tt_cache_place place;
  tt_kernel_fn fn = NULL;
  job j = {0};
  if (find_place(&identity, &place) && render_job(&j, k, 0, NULL) == TT_OK) {
    tt_cache_item item = item_of(&j, k);
    fn = tt__cache_find(&place, &item);
  }
  free_job(&j);
  tt__str_free(&identity);
  return fn;
}
