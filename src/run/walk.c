/*
** The walk; see walk.h.
*/
#include "run/walk.h"

#include <assert.h>

#include "graph/session.h"
#include "ir/user/call.h"
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

/* ---- parts of an old value that pending work outside the walk reads */

static bool count_edges(tt_walker *w) {
  int64_t have = w->edges.n;
  while (w->edges.n < w->node.n)
    if (!TT_VEC_PUSH(&w->edges, 0)) return false;
  for (int64_t i = have; i < w->node.n; i++) {
    const tt_node *n = w->node.data[i];
    for (int k = 0; k < n->nsrc; k++) w->edges.data[n->src[k]->slot]++;
  }
  return true;
}

/* Nodes that somebody outside holds, and that this evaluation mostly leaves as they are, and all below them. */
static bool mark_outliving(tt_walker *w) {
  enum { EVALUATED = 2 };
  w->outlives.n = 0;
  while (w->outlives.n < w->node.n)
    if (!TT_VEC_PUSH(&w->outlives, 0)) return false;
  uint8_t *mark = w->outlives.data;
  for (int64_t t = 0; t < w->target.n; t++) mark[w->target.data[t]] = EVALUATED;
  for (int64_t i = w->node.n - 1; i >= 0; i--) {
    const tt_node *n = w->node.data[i];
    bool stays = n->op < TT_OP_COUNT || n->op == TT_N_REDUCE || n->op == TT_N_VIEW || n->op == TT_N_GATHER;
    if (!stays || mark[i] & EVALUATED) continue;
    if (n->refs > w->edges.data[i]) mark[i] = 1;
    for (int k = 0; k < n->nsrc && mark[i]; k++) mark[n->src[k]->slot] |= 1;
  }
  for (int64_t t = 0; t < w->target.n; t++) mark[w->target.data[t]] = 0;
  return true;
}

/* Does the reader stay, with its hold on what it reads? */
static bool is_wanted(const tt_walker *w, const tt_node *reader, uint32_t done) {
  return reader->mark != done || (reader->slot < w->outlives.n && w->outlives.data[reader->slot]);
}

static bool is_simple(const tt_node *reader, const tt_node *base) {
  return reader->device == base->device && (reader->op == TT_N_VIEW || reader->src[1]->op == TT_N_BUFFER);
}

/* Would these parts, kept, free the old value of a store of all others who hold it, and move less than a copy of it? */
static bool frees(const tt_walker *w, const tt_node *store, uint32_t done) {
  const tt_node *base = store->src[0];
  int64_t left = store->size - store->src[1]->size;
  int32_t refs = w->edges.data[base->slot];
  bool any = false;
  for (const tt_node *r = base->readers; r; r = r->src[TT_NEXT_READER]) {
    refs += r->mark != done;
    if (!is_wanted(w, r, done)) continue;
    any = true;
    left -= r->size;
    if (left <= 0 || !is_simple(r, base)) return false;
  }
  return any && refs == base->refs;
}

/* Unless it is one already. */
static bool add_target(tt_walker *w, int32_t slot) {
  for (int64_t t = 0; t < w->target.n; t++)
    if (w->target.data[t] == slot) return true;
  return TT_VEC_PUSH(&w->target, slot);
}

/*
** Before a part of an array is written over, what others are still to read of it is computed: they keep these parts.
** Otherwise the array would be copied for them. (Those in the walk that only the walk reads are left to the plan.)
*/
static bool add_old_readers(tt_walker *w, uint32_t open, uint32_t done) {
  w->edges.n = w->outlives.n = 0;
  for (int64_t i = 0; i < w->node.n; i++) {
    const tt_node *n = w->node.data[i];
    if ((n->op != TT_N_STORE && n->op != TT_N_SCATTER) || !n->src[0]->readers || n->src[0]->held) continue;
    if (!count_edges(w) || (!w->outlives.n && !mark_outliving(w))) return false;
    if (!frees(w, n, done)) continue;
    for (tt_node *r = n->src[0]->readers; r; r = r->src[TT_NEXT_READER]) {
      if (!is_wanted(w, r, done)) continue;
      if (!visit(w, r, open, done) || !count_edges(w) || !add_target(w, r->slot)) return false;
    }
  }
  return true;
}

/*
** Of a step of training, what others go on with: arrays that somebody holds (the states of an optimiser), and what
** the library computed and a derivative is going to read. Other kept values are cheaper to compute again, in the
** kernel that reads them, than to store.
*/
static bool add_step_values(tt_walker *w, bool *is_step) {
  bool any = false;
  for (int64_t i = 0; i < w->node.n; i++) any |= w->node.data[i]->pending && w->node.data[i]->flags & TT_NODE_STEP;
  *is_step = any;
  if (!any) return true;
  w->edges.n = w->outlives.n = 0;
  if (!count_edges(w)) return false;
  while (w->outlives.n < w->node.n)
    if (!TT_VEC_PUSH(&w->outlives, 0)) return false;
  for (int64_t t = 0; t < w->target.n; t++) w->outlives.data[w->target.data[t]] = 1;
  for (int64_t i = 0; i < w->node.n; i++) {
    const tt_node *n = w->node.data[i];
    if (!n->pending || !(n->flags & TT_NODE_STEP) || w->outlives.data[i]) continue;
    bool kept = n->op == TT_N_PICK && n->tape && n->refs > w->edges.data[i];
    if ((kept || (n->held > 0 && n->op != TT_N_VIEW)) && !TT_VEC_PUSH(&w->target, (int32_t)i)) return false;
  }
  return true;
}

tt_code tt__walk_make(tt_walker *w, tt_node *const *target, int n, tt_error *err) {
  assert(tt__session_is_held() && n > 0);
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
  bool is_step;
  if (!add_step_values(w, &is_step) || !add_old_readers(w, open, done) || !add_siblings(w, open, done))
    return no_memory(err);
  w->walk = (tt_walk){.node = w->node.data,
                      .n = (int)w->node.n,
                      .target = w->target.data,
                      .ntarget = (int)w->target.n,
                      .is_step = is_step};
  for (int i = 0; i < w->walk.n; i++) assert(w->walk.node[i]->slot == i);
  return TT_OK;
}

static int64_t *put_all(int64_t *at, const int64_t *x, int n) {
  for (int i = 0; i < n; i++) at[i] = x[i];
  return at + n;
}

static int64_t *put_attr(int64_t *at, tt_node *n) {
  switch (n->op) {
    case TT_N_VIEW:
    case TT_N_STORE:
      *at++ = n->attr.off;
      return put_all(at, tt__node_step(n), n->nstep);
    case TT_N_REDUCE:
      *at++ = (int64_t)n->attr.reduce.axes;
      *at++ = n->attr.reduce.red;
      return at;
    case TT_N_PICK:
      *at++ = n->attr.pick;
      return at;
    case TT_N_LIB:
      *at++ = (int64_t)(intptr_t)n->attr.lib->row;
      return at;
    case TT_N_CALL:
      *at++ = n->attr.call->noperand;
      return at;
    default:
      return at;
  }
}

static int64_t *put_node(int64_t *at, tt_node *n) {
  bool is_leaf = n->op == TT_N_BUFFER;
  int64_t head = n->op | n->dtype << 8 | n->rank << 16 | (is_leaf ? 0 : n->nsrc) << 24;
  *at++ = head | (int64_t)(is_leaf ? 0 : n->flags & TT_NODE_SEEN) << 32;
  at = put_all(at, tt__node_len(n), n->rank);
  if (is_leaf) return at;
  for (int k = 0; k < n->nsrc; k++) *at++ = n->src[k]->slot;
  return put_attr(at, n);
}

tt_code tt__walk_key(tt_walker *w, int64_t salt, tt_error *err) {
  assert(tt__session_is_held() && w->walk.n >= 0);
  enum { HEAD_AND_ATTR = 3 };
  int64_t most = 1 + w->walk.ntarget;
  for (int i = 0; i < w->walk.n; i++)
    most += HEAD_AND_ATTR + w->walk.node[i]->rank + w->walk.node[i]->nsrc + w->walk.node[i]->nstep;
  while (w->key.cap < most)
    if (!tt__vec_grow((void **)&w->key.data, &w->key.cap, sizeof *w->key.data)) return no_memory(err);
  int64_t *at = w->key.data;
  *at++ = salt;
  for (int i = 0; i < w->walk.n; i++) at = put_node(at, w->walk.node[i]);
  for (int t = 0; t < w->walk.ntarget; t++) *at++ = w->walk.target[t];
  w->key.n = at - w->key.data;
  return TT_OK;
}

void tt__walk_free(tt_walker *w) {
  TT_VEC_FREE(&w->node);
  TT_VEC_FREE(&w->stack);
  TT_VEC_FREE(&w->target);
  TT_VEC_FREE(&w->edges);
  TT_VEC_FREE(&w->outlives);
  TT_VEC_FREE(&w->key);
}
