/*
** The walk; see walk.h.
*/
#include "run/walk.h"

#include "graph/session.h"
#include "ir/call.h"
#include "ir/library.h"

static tt_code no_memory(tt_error *err) {
  return tt__fail(err, TT_ENOMEM, "out of memory while collecting pending work");
}

/* Depth first with an explicit stack: a node is pushed once unvisited (its children follow) and listed when met
 * again. */
static bool visit(tt_walker *w, tt_node *root, uint32_t open, uint32_t done) {
  if (root->mark == done) return true;
  if (!TT_VEC_PUSH(&w->stack, root)) return false;
  while (w->stack.n) {
    tt_node *n = w->stack.data[w->stack.n - 1];
    if (n->mark == done) {
      w->stack.n--;
    } else if (n->mark == open || n->op == TT_N_BUFFER) {
      w->stack.n--;
      n->mark = done;
      n->slot = (int32_t)w->node.n;
      if (!TT_VEC_PUSH(&w->node, n)) return false;
    } else {
      n->mark = open;
      for (int k = n->nsrc - 1; k >= 0; k--)
        if (n->src[k]->mark != done && !TT_VEC_PUSH(&w->stack, n->src[k])) return false;
    }
  }
  return true;
}

/* The live result k of a library call or a launch; *last: there is none from k on. */
static tt_node *result_of(const tt_node *n, int k, bool *last) {
  *last = k >= (n->op == TT_N_LIB ? TT_LIB_PICKS : n->attr.call->noperand);
  if (*last) return NULL;
  return n->op == TT_N_LIB ? n->attr.lib->pick[k] : n->attr.call->operand[k].pick;
}

/* Results of library calls and launches that somebody holds, although nobody asked for them now: they come with the
 * ones asked for. */
static bool add_siblings(tt_walker *w, uint32_t open, uint32_t done) {
  for (int64_t i = 0; i < w->node.n; i++) {
    bool last = w->node.data[i]->op != TT_N_LIB && w->node.data[i]->op != TT_N_CALL;
    w->has_calls |= w->node.data[i]->op == TT_N_CALL;
    for (int k = 0; !last; k++) {
      tt_node *pick = result_of(w->node.data[i], k, &last);
      if (!pick || pick->mark == done) continue;
      if (!visit(w, pick, open, done) || !TT_VEC_PUSH(&w->target, pick->slot)) return false;
    }
  }
  return true;
}

tt_code tt__walk_make(tt_walker *w, tt_node *const *target, int n, tt_error *err) {
  w->node.n = w->stack.n = w->target.n = 0;
  w->has_calls = false;
  uint32_t open = tt__session_stamp(), done = tt__session_stamp();
  for (int i = 0; i < n; i++) {
    if (target[i]->op == TT_N_BUFFER) continue;
    bool again = target[i]->mark == done;
    if (!visit(w, target[i], open, done)) return no_memory(err);
    bool listed = false;
    for (int64_t t = 0; again && t < w->target.n; t++) listed |= w->target.data[t] == target[i]->slot;
    if (!listed && !TT_VEC_PUSH(&w->target, target[i]->slot)) return no_memory(err);
  }
  if (!add_siblings(w, open, done)) return no_memory(err);
  w->walk = (tt_walk){.node = w->node.data, .n = (int)w->node.n, .target = w->target.data, .ntarget = (int)w->target.n};
  return TT_OK;
}

static bool push_all(tt_walker *w, const int64_t *x, int n) {
  for (int i = 0; i < n; i++)
    if (!TT_VEC_PUSH(&w->key, x[i])) return false;
  return true;
}

static bool key_attr(tt_walker *w, tt_node *n) {
  switch (n->op) {
    case TT_N_VIEW:
    case TT_N_STORE:
      return TT_VEC_PUSH(&w->key, n->attr.off) && push_all(w, tt__node_step(n), n->nstep);
    case TT_N_REDUCE:
      return TT_VEC_PUSH(&w->key, (int64_t)n->attr.reduce.axes) && TT_VEC_PUSH(&w->key, (int64_t)n->attr.reduce.red);
    case TT_N_PICK:
      return TT_VEC_PUSH(&w->key, (int64_t)n->attr.pick);
    case TT_N_LIB:
      return TT_VEC_PUSH(&w->key, (int64_t)(intptr_t)n->attr.lib->row);
    case TT_N_CALL:
      return TT_VEC_PUSH(&w->key, (int64_t)n->attr.call->noperand);
    default:
      return true;
  }
}

tt_code tt__walk_key(tt_walker *w, int64_t salt, tt_error *err) {
  w->key.n = 0;
  bool ok = TT_VEC_PUSH(&w->key, salt);
  for (int i = 0; i < w->walk.n && ok; i++) {
    tt_node *n = w->walk.node[i];
    int64_t head = n->op | n->dtype << 8 | n->rank << 16 | (n->op == TT_N_BUFFER ? 0 : n->nsrc) << 24;
    head |= (int64_t)(n->op == TT_N_BUFFER ? 0 : n->flags & TT_NODE_SEEN) << 32;
    ok = TT_VEC_PUSH(&w->key, head) && push_all(w, tt__node_len(n), n->rank);
    if (n->op == TT_N_BUFFER) continue;
    for (int k = 0; k < n->nsrc && ok; k++) ok = TT_VEC_PUSH(&w->key, (int64_t)n->src[k]->slot);
    ok = ok && key_attr(w, n);
  }
  for (int t = 0; t < w->walk.ntarget && ok; t++) ok = TT_VEC_PUSH(&w->key, (int64_t)w->walk.target[t]);
  return ok ? TT_OK : no_memory(err);
}

void tt__walk_free(tt_walker *w) {
  TT_VEC_FREE(&w->node);
  TT_VEC_FREE(&w->stack);
  TT_VEC_FREE(&w->target);
  TT_VEC_FREE(&w->key);
}
