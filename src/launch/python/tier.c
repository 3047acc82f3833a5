/*
** Which code a call runs, and the way from the first to the compiler's.
*/
#include "launch/python/tier.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cpu/cc.h"
#include "device/cpu/baseline/baseline.h"
#include "render/proc/proc.h"
#include "render/trim.h"

typedef enum mode { AUTO, COMPILED, BASELINE, ONLY, OSR } mode;

typedef int (*resume_fn)(tt_pcall *call, const int64_t *frame, int64_t *out, int64_t loop);

struct tt_tier {
  struct tt_jit *jit;
  void (*compile)(struct tt_jit *j);
  tt_baseline baseline;
  resume_fn *resume; /* of each function of the program; NULL: it has no loops */
  int32_t inside;    /* calls that run baseline code now */
  int32_t process;   /* that compiles it: a child of fork must begin anew */
  int64_t turn;      /* OSR: the turn of a call that goes over; else 0 */
};

static _Thread_local int64_t turns; /* OSR: of the call of this thread */

static mode find_mode(int64_t *turn) {
  const char *text = tt__env("TUTTI_JIT_TIER");
  *turn = 0;
  if (!text || strcmp(text, "auto") == 0) return AUTO;
  if (strcmp(text, "baseline") == 0) return BASELINE;
  if (strcmp(text, "only") == 0) return ONLY;
  if (strncmp(text, "osr:", 4) == 0) {
    *turn = strtoll(text + 4, NULL, 10);
    return *turn > 0 ? OSR : AUTO;
  }
  return strcmp(text, "compiled") == 0 ? COMPILED : AUTO;
}

bool tt__tier_wanted(bool *alone) {
  int64_t turn;
  mode how = find_mode(&turn);
  *alone = how != AUTO && how != COMPILED;
  return how != COMPILED;
}

/* ---- going over */

/* Compile what goes on with frames, and find it for each function. */
static tt_code make_resume(tt_tier *t, tt_error *err) {
  const tt_proc *p = &t->jit->program;
  const char *name[TT_CC_MOST];
  tt_kernel_fn fn[TT_CC_MOST];
  int32_t number[TT_CC_MOST];
  char names[TT_CC_MOST][64];
  int n = 0;
  for (int32_t k = 0; k < p->funcs.n; k++) {
    if (tt__program_loops(p->funcs.data[k]->body) == 0) continue;
    if (n == TT_CC_MOST - 1) return tt__fail(err, TT_ENOTIMPL, "too many functions");
    snprintf(names[n], sizeof names[n], "%s_r%d", t->jit->name, (int)k);
    name[n] = names[n];
    number[n++] = k;
  }
  tt_str header = {0}, text = {0}, source = {0};
  resume_fn *resume = tt__mem_zalloc((size_t)(p->funcs.n + 1) * sizeof *resume);
  tt_code c = resume ? tt__program_resume(p, t->jit->name, &text, err) : tt__fail_memory(err, sizeof *resume);
  tt__program_header(p, TT_PROGRAM_C, &header);
  if (c == TT_OK && !header.failed) tt__trim(header.data, text.data, &source);
  tt__str_add(&source, text.data ? text.data : "");
  if (c == TT_OK && (header.failed || source.failed || text.failed)) c = tt__fail_memory(err, source.len);
  if (c == TT_OK && n) c = tt__cc_compile_first(source.data, name, n, fn, NULL, err);
  for (int k = 0; c == TT_OK && k < n; k++) memcpy(&resume[number[k]], &fn[k], sizeof fn[k]);
  if (c == TT_OK)
    __atomic_store_n(&t->resume, resume, __ATOMIC_RELEASE);
  else
    tt__mem_free(resume, (size_t)(p->funcs.n + 1) * sizeof *resume);
  tt__str_free(&header);
  tt__str_free(&text);
  tt__str_free(&source);
  return c;
}

/* tt_baseline_host.over */
static int32_t go_over(void *ctx, tt_pcall *call, const int64_t *frame, int64_t *out, int64_t function, int64_t loop) {
  tt_tier *t = ctx;
  resume_fn resume = __atomic_load_n(&t->resume, __ATOMIC_ACQUIRE)[function];
  if (++turns < __atomic_load_n(&t->turn, __ATOMIC_RELAXED)) return 0;
  return resume(call, frame, out, loop) ? 1 : 2;
}

static void ask(tt_tier *t) { __atomic_store_n(t->baseline.over, 1, __ATOMIC_RELEASE); }

/* On the background lane. A failure leaves the baseline code in use: it is as right, and slower. */
static void run_compile(void *ctx) {
  tt_tier *t = ctx;
  t->compile(t->jit);
  /* Whoever comes now sees the compiler's code, or was counted before: both sides write first, then look. */
  if (!__atomic_load_n(&t->jit->fn, __ATOMIC_SEQ_CST) || __atomic_load_n(&t->inside, __ATOMIC_SEQ_CST) == 0) return;
  if (make_resume(t, NULL) == TT_OK) ask(t);
}

/* ---- beginning */

static void free_tier(tt_tier *t) {
  tt__baseline_free(&t->baseline);
  tt__mem_free(t, sizeof *t);
}

tt_code tt__tier_begin(struct tt_jit *j, void (*compile)(struct tt_jit *j), bool *begun, tt_error *err) {
  assert(compile && begun);
  int64_t turn;
  mode how = find_mode(&turn);
  char why[128] = "no memory";
  tt_tier *t = tt__mem_zalloc(sizeof *t);
  tt_baseline_host host = {.ctx = t, .over = go_over};
  *begun = false;
  if (!t) return how == ONLY ? tt__fail_memory(err, sizeof *t) : TT_OK;
  t->jit = j;
  t->compile = compile;
  t->process = (int32_t)getpid();
  bool made = tt__baseline_make(&j->program, &host, &t->baseline, why, sizeof why);
  if (tt__log_on(TT_LOG_RENDER)) tt__log_artefact(TT_LOG_RENDER, j->name, made ? "baseline code" : why);
  if (!made) {
    tt__mem_free(t, sizeof *t);
    return how == ONLY ? tt__fail(err, TT_ENOTIMPL, "baseline code declines %s(): %s", j->program.entry->name, why)
                       : TT_OK;
  }
  tt_code c = TT_OK;
  if (how == OSR) {
    t->turn = turn;
    c = make_resume(t, err);
    if (c == TT_OK) ask(t);
  }
  bool runs = c == TT_OK && (how != AUTO || tt__pool_background(run_compile, t));
  if (!runs) {
    free_tier(t);
    return c;
  }
  j->tier = t;
  *begun = true;
  return TT_OK;
}

/* ---- calls */

/* A child of fork has no thread that compiles: the one that did is its parent's. */
static void begin_again(tt_tier *t) {
  int32_t here = (int32_t)getpid(), process = __atomic_load_n(&t->process, __ATOMIC_RELAXED);
  int64_t turn;
  if (process == here || find_mode(&turn) != AUTO) return;
  if (__atomic_compare_exchange_n(&t->process, &process, here, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    (void)tt__pool_background(run_compile, t);
}

void tt__tier_call(const struct tt_jit *j, tt_pcall *call, const int64_t *word, int64_t *out) {
  tt_tier *t = j->tier;
  int64_t turn;
  if (t->turn && find_mode(&turn) == OSR) __atomic_store_n(&t->turn, turn, __ATOMIC_RELAXED); /* tests try many */
  turns = 0;
  begin_again(t);
  __atomic_fetch_add(&t->inside, 1, __ATOMIC_SEQ_CST);
  tt_program_fn fn = __atomic_load_n(&j->fn, __ATOMIC_SEQ_CST);
  if (fn)
    fn(call, word, out);
  else
    (void)t->baseline.entry(call, word, out);
  __atomic_fetch_sub(&t->inside, 1, __ATOMIC_SEQ_CST);
}
