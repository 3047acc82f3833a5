/*
** Python kernels on a GPU: the program's CUDA text compiled for it, arguments as one struct of words, host arrays
** copied there and back around the launch.
*/
#include <string.h>

#include "device/cache_alloc.h"
#include "device/current.h"
#include "device/device.h"
#include "device/stage.h"
#include "graph/session.h"
#include "run/device_code.h"
#include "run/jit.h"

enum { MOST_WORDS = 510, MOST_SPANS = 80 };

/* Compiled at the first launch there: up to a second. */
static tt_code find_routine(struct tt_jit *j, tt_device *d, tt_routine **out, tt_error *err) {
  bool slot = d->index < TT_JIT_DEVICES;
  if (slot && (*out = __atomic_load_n(&j->routine[d->index], __ATOMIC_ACQUIRE)) != NULL) return TT_OK;
  tt_str text = {0};
  tt_code c = tt__jit_cuda_text(j, false, &text, err);
  if (c == TT_OK) {
    tt__session_lock();
    c = tt__device_text(d, text.data, j->program.math, j->name, out, err);
    tt__session_unlock();
  }
  if (c == TT_OK && slot) __atomic_store_n(&j->routine[d->index], *out, __ATOMIC_RELEASE);
  tt__str_free(&text);
  return c;
}

typedef struct trip {
  tt_device *d;
  tt_stream *s;
  int64_t word[MOST_WORDS + 1];
  int nword, nhidden;
  tt_dmem *memory[MOST_SPANS];
} trip;

/* The word that a span tells of points at the copy from here on. */
static tt_code bring(trip *t, const tt_jit_span *span, int k, tt_error *err) {
  int64_t *w = span->word >= 0 ? &t->word[span->word] : &t->word[t->nword + (-1 - span->word)];
  int64_t inside = *w - (int64_t)(intptr_t)span->low;
  TT_TRY(tt__dmem_alloc(t->d, t->s, (size_t)span->size, &t->memory[k], err));
  char *there = tt__dmem_at(t->memory[k]);
  *w = (int64_t)(intptr_t)there + inside;
  TT_COUNT(copies, 1);
  TT_COUNT(copy_bytes, span->size);
  return span->size ? tt__stage_in(t->d, t->s, there, span->low, (size_t)span->size, err) : TT_OK;
}

static tt_code run_trip(trip *t, tt_routine *routine, const tt_jit_grid *l, const tt_jit_span *span, int nspan,
                        tt_error *err) {
  tt_grid g = {.shared = (uint32_t)l->shared};
  for (int k = 0; k < 3; k++) {
    g.grid[k] = (uint32_t)l->grid[k];
    g.block[k] = (uint32_t)l->block[k];
  }
  for (int k = 0; k < nspan; k++) TT_TRY(bring(t, &span[k], k, err));
  TT_COUNT(launches, 1);
  size_t size = (size_t)(t->nword + t->nhidden + 1) * sizeof *t->word;
  TT_TRY(t->d->ops->launch(t->d, t->s, routine, &g, t->word, size, err));
  for (int k = 0; k < nspan; k++)
    if (span[k].writes && span[k].size)
      TT_TRY(tt__stage_out(t->d, t->s, span[k].low, tt__dmem_at(t->memory[k]), (size_t)span[k].size, err));
  return TT_OK;
}

tt_code tt__jit_launch_on(struct tt_jit *j, int device, const int64_t *word, int nword, const int64_t *hidden,
                          int nhidden, const tt_jit_grid *launch, const tt_jit_span *span, int nspan, tt_error *err) {
  trip t = {.nword = nword, .nhidden = nhidden};
  tt_routine *routine = NULL;
  int64_t blocks;
  TT_TRY(tt__jit_check_grid(j, launch, &blocks, err));
  if (nword + nhidden > MOST_WORDS || nspan > MOST_SPANS)
    return tt__fail(err, TT_ENOTIMPL, "more than %d words of arguments on a GPU", MOST_WORDS);
  TT_TRY(tt__device_open(device, &t.d, err));
  if (!t.d) return tt__fail(err, TT_EVALUE, "device %d is the CPU", device);
  if (t.d->target.kind != TT_DEVICE_CUDA) return tt__fail(err, TT_ENOTIMPL, "Python kernels on %s", t.d->name);
  TT_TRY(find_routine(j, t.d, &routine, err));
  t.s = tt__stream_current(t.d);
  memcpy(t.word, word, (size_t)nword * sizeof *word);
  memcpy(t.word + nword, hidden, (size_t)nhidden * sizeof *hidden);
  t.word[nword + nhidden] = launch->shared;
  tt_code c = run_trip(&t, routine, launch, span, nspan, err);
  for (int k = 0; k < nspan; k++)
    if (t.memory[k]) tt__dmem_free(t.d, t.memory[k]);
  return c;
}
