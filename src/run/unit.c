/*
** Units and the compiler's queue; see unit.h. All but the queue runs under the session lock.
*/
#include "run/unit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/os/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "graph/session.h"
#include "ir/ops.h"
#include "run/compile.h"

#define BUCKETS 1024
/* Units kept for the next evaluation; beyond, those that no plan holds go. */
#define MOST_UNITS 2048
/* Interpreted work after which a kernel is worth the compiler's 50 ms: about as much time again. */
#define HOT_WORK 2e7
/* The same by the clock: rows of three elements cost the interpreter fifty times what they seem to. */
#define HOT_NS 20000000
#define HOT_LAUNCHES 200
#define BATCH 16

int tt__unit_tier = 2;

static tt_unit *bucket[BUCKETS];
static int nunit;

static tt_lock queue_lock = TT_LOCK_RANKED(1);
static tt_unit *queue[256];
static int nqueue;
static bool compiling;

static bool same_kernel(const tt_kernel *a, const tt_kernel *b) {
  return a->key.lo == b->key.lo && a->key.hi == b->key.hi && a->ninst == b->ninst && a->naccess == b->naccess;
}

static void weigh(tt_unit *u) {
  const tt_kernel *k = u->kernel;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *p = &k->inst[i];
    bool is_op = p->op < TT_OP_COUNT;
    u->text += is_op ? tt__op_text((tt_op)p->op, (tt_dtype)p->from) : p->op == TT_K_REDUCE ? TT_TEXT_REDUCE : 1;
    if (p->scope != TT_SCOPE_ROW) continue;
    bool moves = p->op == TT_WHERE || p->op == TT_NEG || p->op == TT_ABS;
    int w = is_op && tt__ops[p->op].flags & TT_OPF_SLOW ? 8 : 1;
    u->weight += w;
    if ((is_op && !moves && p->from == TT_F64) || (p->op == TT_K_REDUCE && p->dtype == TT_F64)) u->wide += w;
  }
  if (!u->weight) u->weight = 1;
}

void tt__unit_release(tt_unit *u) {
  assert(!u || atomic_load(&u->refs) > 0);
  if (!u || atomic_fetch_sub(&u->refs, 1) > 1) return;
  tt__vm_free(u->vm);
  tt__kernel_free(u->kernel);
  tt__mem_free(u, sizeof *u);
}

void tt__unit_trim(bool compiled) {
  for (int b = 0; b < BUCKETS; b++) {
    for (tt_unit **at = &bucket[b]; *at;) {
      tt_unit *u = *at;
      if (atomic_load(&u->refs) > 1 || (!compiled && atomic_load(&u->fn))) {
        at = &u->next;
        continue;
      }
      *at = u->next;
      nunit--;
      tt__unit_release(u);
    }
  }
}

tt_code tt__unit_of(tt_kernel *k, tt_unit **out, tt_error *err) {
  assert(k->nouter <= k->naxes && (k->key.lo || k->key.hi));
  tt_unit **chain = &bucket[k->key.lo % BUCKETS];
  for (tt_unit *u = *chain; u; u = u->next) {
    if (!same_kernel(u->kernel, k)) continue;
    tt__kernel_free(k);
    atomic_fetch_add(&u->refs, 1);
    *out = u;
    return TT_OK;
  }
  if (nunit >= MOST_UNITS) tt__unit_trim(true);
  tt_unit *u = tt__mem_zalloc(sizeof *u);
  if (!u) {
    tt__kernel_free(k);
    return tt__fail_memory(err, sizeof *u);
  }
  tt_code code = tt__vm_build(k, &u->vm, err);
  if (code != TT_OK) {
    tt__kernel_free(k);
    tt__mem_free(u, sizeof *u);
    return code;
  }
  u->kernel = k;
  weigh(u);
  atomic_store(&u->refs, 2); /* the table's and the caller's */
  u->next = *chain;
  *chain = u;
  nunit++;
  TT_COUNT(kernels_made, 1);
  if (tt__log_on(TT_LOG_KERNEL)) {
    tt_str text = {0};
    tt__kernel_print(k, &text);
    if (!text.failed && text.data) tt__log_artefact(TT_LOG_KERNEL, "kernel", text.data);
    tt__str_free(&text);
  }
  if (tt__unit_tier != 0) {
    tt_kernel_fn fn = tt__compile_peek(k);
    atomic_store(&u->fn, fn);
    if (fn)
      TT_COUNT(cache_hits, 1);
    else
      TT_COUNT(cache_misses, 1);
  }
  *out = u;
  return TT_OK;
}

/* ---- the compiler's queue: filled under the session lock, drained on the background lane */

static void compile_batch(tt_unit **batch, int n) {
  const tt_kernel *k[BATCH];
  tt_kernel_fn fn[BATCH] = {0};
  for (int i = 0; i < n; i++) k[i] = batch[i]->kernel;
  tt_error err = {0};
  int64_t start = tt__clock_ns();
  tt_code code = tt__compile_kernels(k, n, fn, &err);
  if (code == TT_EINTERRUPT)
    tt__interrupt(); /* the step that asked will say so */
  else if (code != TT_OK)
    TT_COUNT(compile_failures, 1);
  TT_COUNT(compile_us, (tt__clock_ns() - start) / 1000);
  for (int i = 0; i < n; i++) {
    if (fn[i]) {
      TT_COUNT(compiles, 1);
      atomic_store(&batch[i]->fn, fn[i]);
    }
    atomic_store(&batch[i]->queued, code == TT_EINTERRUPT ? 0 : 2);
    tt__unit_release(batch[i]);
  }
}

/* The next in the queue is the one that took the interpreter longest so far: where compilers are slow, or many kernels
 * wait, a step of training is soonest short again. */
static void longest_first(int at) {
  int longest = at;
  for (int i = at + 1; i < nqueue; i++)
    if (atomic_load(&queue[i]->spent) > atomic_load(&queue[longest]->spent)) longest = i;
  tt_unit *u = queue[longest];
  queue[longest] = queue[at];
  queue[at] = u;
}

static void drain(void *ctx) {
  (void)ctx;
  for (;;) {
    tt_unit *batch[BATCH];
    int n = 0;
    tt__lock(&queue_lock);
    for (int text = 0; n < BATCH && n < nqueue; n++) { /* what is long is compiled alone: others wait for it */
      longest_first(n);
      batch[n] = queue[n];
      text += batch[n]->text;
      if (n > 0 && text > TT_TEXT_MOST) break;
    }
    for (int i = n; i < nqueue; i++) queue[i - n] = queue[i];
    nqueue -= n;
    if (n == 0) compiling = false;
    tt__unlock(&queue_lock);
    if (n == 0) return;
    compile_batch(batch, n);
  }
}

/* No TT_LOCK_FORKS: the parent's batch is the parent's; a child asks anew. */
static void fork_prepare(void) { tt__fork_lock(&queue_lock); }
static void fork_parent(void) { tt__fork_unlock(&queue_lock); }
static void fork_child(void) {
  compiling = false;
  tt__fork_unlock(&queue_lock);
}
TT_AT_LOAD(1) static void at_load(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

static void ask_for_code(tt_unit *u) {
  tt__lock(&queue_lock);
  bool room = nqueue < (int)(sizeof queue / sizeof *queue);
  if (room) {
    atomic_store(&u->queued, 1);
    atomic_fetch_add(&u->refs, 1);
    queue[nqueue++] = u;
  }
  bool start = room && !compiling;
  if (start) compiling = true;
  tt__unlock(&queue_lock);
  if (start && !tt__pool_background(drain, NULL)) {
    tt__lock(&queue_lock); /* no thread: stay interpreted, and ask again with the next launch */
    compiling = false;
    nqueue = 0;
    tt__unlock(&queue_lock);
    atomic_store(&u->queued, 0);
    tt__unit_release(u);
  }
}

tt_kernel_fn tt__unit_code(tt_unit *u) {
  if (tt__unit_tier == 0) return NULL;
  tt_kernel_fn fn = atomic_load_explicit(&u->fn, memory_order_acquire);
  if (fn || tt__unit_tier != 1 || atomic_load(&u->queued) == 2) return fn;
  atomic_fetch_add(&u->refs, 1);
  compile_batch(&u, 1);
  return atomic_load(&u->fn);
}

/* ---- measured times */

static void measured(tt_unit *u, bool compiled, double points, double ns) {
  if (u->pace_compiled != compiled) u->pace = (tt_pace){0};
  u->pace_compiled = compiled;
  u->paced = true;
  tt__pace_add(&u->pace, points, ns);
}

double tt__unit_ns(const tt_unit *u, double points) {
  assert(points >= 0);
  return u->paced ? tt__pace_ns(&u->pace, points, TT_PACE_SIZES) : 0;
}

bool tt__unit_improves(const tt_unit *u) {
  bool compiled = atomic_load(&u->fn) != NULL;
  return !u->pace_compiled && (compiled || (tt__unit_tier == 2 && atomic_load(&u->queued) != 2));
}

void tt__unit_ran(tt_unit *u, tt_kernel_fn fn, double points, double ns) {
  u->launches++;
  if (ns > 0 && points >= 1) measured(u, fn != NULL, points, ns);
  TT_COUNT(launches, 1);
  if (fn) {
    TT_COUNT(launches_tier1, 1);
    return;
  }
  TT_COUNT(launches_tier0, 1);
  u->work += points * u->weight;
  int64_t spent = atomic_load(&u->spent) + (int64_t)ns;
  atomic_store(&u->spent, spent); /* under the session lock: nobody else adds */
  bool hot = u->work > HOT_WORK || spent > HOT_NS || u->launches > HOT_LAUNCHES;
  if (tt__unit_tier == 2 && hot && atomic_load(&u->queued) == 0) ask_for_code(u);
}
