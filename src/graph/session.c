/*
** The session: one recursive lock, walk stamps, the ledger, the way up to the evaluator.
** It must not know what a node means, nor include run/.
*/
#include "graph/session.h"

#include <assert.h>
#include <pthread.h>

#include "base/log.h"
#include "base/os/os.h"
#include "base/quick.h"
#include "graph/build.h"
#include "graph/eager/compute.h"
#include "graph/tape.h"
#include "graph/text/print.h"

tt_ledger tt__ledger;
__thread uint32_t tt__session_line;
__thread bool tt__session_looking;
__thread bool tt__session_prompt;
__thread int tt__session_device = TT_ANYWHERE;
__thread bool tt__session_defer;
__thread bool tt__session_tape = true;
bool tt__session_strict_copy, tt__session_strict_fallback;
int64_t tt__session_pending_bytes;
const tt_residency *tt__session_residency;
tt_make_fn tt__session_make;

static tt_quick lock = TT_QUICK_RANKED(3);
static __thread int depth; /* levels this thread holds; the lock is taken by the first */

static tt_buffer *graves; /* linked through `data`, which nobody reads any more */

/* ---- the lock */

/* Runs without the lock: a drop() may wait for another lock whose owner waits for ours. */
static void drop_all(tt_buffer *b) {
  assert(depth == 0);
  for (tt_buffer *next; b; b = next) {
    next = b->data;
    b->drop(b->ctx);
    tt__session_lock();
    tt__buffer_dispose(b);
    tt__session_unlock();
  }
}

bool tt__session_is_held(void) { return depth > 0; }

void tt__session_lock(void) {
  if (depth++ == 0) tt__quick_lock(&lock);
}

static void leave(void) {
  assert(depth == 0 && tt__lock_is_mine(&lock.lock));
  tt_buffer *b = graves;
  graves = NULL;
  tt__quick_unlock(&lock);
  if (b) drop_all(b);
}

void tt__session_unlock(void) {
  assert(depth > 0);
  if (--depth == 0) leave();
}

static void (*blocking_begin)(void), (*blocking_end)(void);

void tt__session_set_blocking(void (*begin)(void), void (*end)(void)) {
  blocking_begin = begin;
  blocking_end = end;
}

int tt__session_suspend(void) {
  assert(depth >= 0);
  int held = depth;
  depth = 0;
  if (held > 0) leave();
  if (held > 0 && blocking_begin) blocking_begin();
  return held;
}

void tt__session_resume(int held) {
  assert(depth == 0 && held >= 0);
  if (held > 0 && blocking_end) blocking_end(); /* before the lock: nobody waits for the binding's lock holding ours */
  if (held > 0) tt__quick_lock(&lock);
  depth = held;
}

void tt__session_bury(tt_buffer *b) {
  assert(tt__session_is_held() && b->refs == 0 && b->drop);
  b->data = graves;
  graves = b;
}

/* A child must find the lock free and the graph whole; who forks may hold it, hence no TT_LOCK_FORKS. */
static void fork_prepare(void) { tt__session_lock(); }
static void fork_done(void) {
  if (--depth == 0) tt__quick_unlock(&lock);
}
static void fork_child(void) {
  tt__quick_forget(&lock);
  fork_done();
}
TT_AT_LOAD(3) static void at_load(void) { pthread_atfork(fork_prepare, fork_done, fork_child); }

/* ---- walks */

uint32_t tt__session_stamp(void) {
  assert(tt__session_is_held());
  static uint32_t stamp;
  /* 0 is what new nodes carry. A mark can lie only about a node that was last walked exactly 2^32 walks ago. */
  if (++stamp == 0) stamp = 1;
  return stamp;
}

/* ---- the evaluator */

tt_elements_fn tt__session_elements;
tt_elements_loop_fn tt__session_elements_loop;
tt_small_fold_fn tt__session_small_fold;
tt_library_fn tt__session_library;
tt_fold_into_fn tt__session_fold_into;
static tt_evaluate_fn evaluator;

void tt__session_set_evaluator(tt_evaluate_fn fn) { evaluator = fn; }

/* TUTTI_DEBUG=graph */
static void show(tt_node *const *node, int n) {
  tt_str text = {0};
  if (tt__graph_print(node, n, &text)) tt__log_artefact(TT_LOG_GRAPH, "to evaluate", text.data);
  tt__str_free(&text);
}

tt_code tt__evaluate(tt_node *const *node, int n, tt_error *err) {
  assert(tt__session_is_held() && n >= 0);
  int k = 0;
  while (k < n && node[k]->op == TT_N_BUFFER) k++;
  if (k == n) return TT_OK;
  if (n == 1 && tt__eager_bring(node[0])) return TT_OK;
  if (!evaluator) return tt__fail(err, TT_EINTERNAL, "no evaluator is registered");
  if (tt__log_on(TT_LOG_GRAPH)) show(node, n);
  for (k = 0; k < n; k++)
    if (node[k]->pending && node[k]->flags & TT_NODE_STEP) return tt__tape_evaluate(node, n, evaluator, err);
  return evaluator(node, n, err);
}

tt_code tt__evaluate_to_look(tt_node *node, tt_error *err) {
  tt__session_looking = true;
  tt_code code = tt__evaluate(&node, 1, err);
  tt__session_looking = false;
  return code;
}

tt_code tt__evaluate_home(tt_node *node, tt_error *err) {
  tt_code code = tt__evaluate_to_look(node, err);
  assert(code != TT_OK || node->op == TT_N_BUFFER);
  return code == TT_OK ? tt__buffer_host(node->attr.buf, err) : code;
}

int64_t tt__session_pending_cap(void) {
  static int64_t cap;
  if (cap == 0) {
    int64_t ram = tt__ram_bytes();
    cap = ram > 0 ? ram / TT_PENDING_SHARE : INT64_MAX;
  }
  return cap;
}

/* ---- lines */

static void (*line_name)(uint32_t id, char *out, size_t size);

void tt__session_line_name(uint32_t id, char *out, size_t size) {
  if (size == 0) return;
  out[0] = 0;
  if (line_name && id) line_name(id, out, size);
}

void tt__session_set_line_name(void (*name)(uint32_t id, char *out, size_t size)) { line_name = name; }
