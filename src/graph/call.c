/*
** The list of recorded launches; see call.h.
*/
#include "graph/call.h"

#include <assert.h>
#include <string.h>

#include "graph/build.h"
#include "graph/session.h"

static tt_node *pending[TT_CALLS_PENDING + 1]; /* held, in order */
static int npending;
static int64_t pending_bytes; /* of what they write */
static tt_calls_fn runner;
static void (*settle)(void);

void tt__calls_set_runner(tt_calls_fn fn) { runner = fn; }
void tt__calls_set_settle(void (*fn)(void)) { settle = fn; }

bool tt__calls_on_devices(void) {
  int k = 0;
  while (k < npending && pending[k]->attr.call->device != 0) k++;
  return npending > 0 && k == npending;
}

/* ---- recording */

tt_code tt__calls_make_room(tt_error *err) { return npending > TT_CALLS_PENDING ? tt__calls_run(err) : TT_OK; }

void tt__calls_add(tt_node *node) {
  for (int k = 0; k < npending; k++) assert(pending[k] != node);
  assert(tt__session_is_held() && node->refs > 0);
  const tt_kernel_call *c = node->attr.call;
  assert(node->op == TT_N_CALL && npending <= TT_CALLS_PENDING);
  for (int k = 0; k < c->noperand; k++)
    if (c->operand[k].pick)
      pending_bytes += c->operand[k].pick->size * (int64_t)tt__dtype_size((tt_dtype)c->operand[k].pick->dtype);
  pending[npending++] = node;
}

bool tt__calls_full(void) { return npending >= TT_CALLS_PENDING || pending_bytes > tt__session_pending_cap(); }

void tt__calls_remove(const tt_node *node) {
  assert(tt__session_is_held());
  int at = 0;
  while (at < npending && pending[at] != node) at++;
  if (at == npending) return;
  tt_node *held = pending[at];
  npending--;
  memmove(pending + at, pending + at + 1, (size_t)(npending - at) * sizeof *pending);
  tt__node_release(held);
}

/* ---- running */

tt_code tt__calls_run(tt_error *err) { return npending ? runner(err) : TT_OK; }

tt_code tt__calls_flush(tt_error *err) {
  tt__session_lock();
  tt_code code = tt__calls_run(err);
  settle();
  tt__session_unlock();
  return code;
}

int tt__calls_baseline(tt_node **out, int most) {
  assert(tt__session_is_held() && most >= 0);
  int n = 0;
  while (n < npending && n < most) {
    const tt_kernel_call *c = pending[n]->attr.call, *first = pending[0]->attr.call;
    if (c->device != first->device || c->stream != first->stream) break;
    out[n] = pending[n];
    n++;
  }
  return n;
}

void tt__calls_done(void) {
  assert(tt__session_is_held());
  int done = 0;
  while (done < npending && pending[done]->op == TT_N_BUFFER) tt__node_release(pending[done++]);
  npending -= done;
  memmove(pending, pending + done, (size_t)npending * sizeof *pending);
  if (!npending) pending_bytes = 0;
}
