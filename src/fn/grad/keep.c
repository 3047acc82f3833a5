/*
** What the way back computes once more; see keep.h. The graph says what is computed, not when: a value that the way
** forward has in memory for a product, and the way back needs for another, would lie there all the time between. Two
** nodes with the same work do not.
*/
#include "fn/grad/keep.h"

#include <assert.h>

#include "graph/tape.h"
#include "ir/grad.h"

/* Nodes of a chain that is worth computing again. */
enum { MOST_CHAIN = 32 };

typedef struct chain {
  tt_node *node[MOST_CHAIN], *again[MOST_CHAIN]; /* elementwise and pending, children first; and their copies */
  tt_node *base[MOST_CHAIN];                     /* what they are computed from */
  bool needed[MOST_CHAIN];                       /* the way back reads it all the same */
  bool seen[MOST_CHAIN];                         /* of a node: through a view, which stays as it is */
  int n, nbase;
} chain;

static bool is_link(const tt_node *n) { return n->op < TT_OP_COUNT && n->pending && !tt__is_opaque(n); }

static int find(tt_node *const *list, int n, const tt_node *node) {
  int i = 0;
  while (i < n && list[i] != node) i++;
  return i < n ? i : -1;
}

/* False: it is long. */
static bool collect(chain *c, tt_node *n, bool seen) {
  for (; n->op == TT_N_VIEW; n = n->src[0]) seen = true; /* its elements, or some of them */
  if (is_link(n)) {
    if (find(c->node, c->n, n) >= 0) return true;
    for (int k = 0; k < n->nsrc; k++)
      if (!collect(c, n->src[k], seen)) return false;
    if (c->n == MOST_CHAIN) return false;
    c->seen[c->n] = seen;
    c->node[c->n++] = n;
    return true;
  }
  if (n->op == TT_N_CONST || n->op == TT_N_IOTA || find(c->base, c->nbase, n) >= 0) return true;
  if (c->nbase == MOST_CHAIN || (n->pending && n->op != TT_N_PICK)) return false;
  c->base[c->nbase++] = n;
  return true;
}

/* What is kept for the derivatives of the chain is read, and all that it is computed from. */
static void mark_needed(chain *c, const tt_node *n) {
  while (n->op == TT_N_VIEW) n = n->src[0];
  int at = find(c->base, c->nbase, n);
  if (at >= 0) c->needed[at] = true;
  if (at >= 0 || find(c->node, c->n, n) < 0) return;
  for (int k = 0; k < n->nsrc; k++) mark_needed(c, n->src[k]);
}

static int64_t bytes_of(const tt_node *n) { return n->size * (int64_t)tt__dtype_size((tt_dtype)n->dtype); }

/* Would computing it again read less than it takes? */
static bool pays(chain *c, const tt_node *value) {
  int64_t more = 0;
  for (int i = 0; i < c->n; i++) {
    const tt_tape *t = c->node[i]->tape;
    for (int k = 0; t && k < t->n; k++)
      if (t->src && t->src[k] && t->src[k] != value) mark_needed(c, t->src[k]);
    if (t && t->result == value) return false; /* it is read itself */
    if (t && t->result) mark_needed(c, t->result);
  }
  for (int i = 0; i < c->nbase; i++)
    if (!c->needed[i]) more += bytes_of(c->base[i]);
  return more < bytes_of(value);
}

static tt_node *value_again(tt_node *n, tt_error *err) {
  chain c = {.n = 0};
  tt_keep told = tt__keep_told();
  bool again = is_link(n) && !tt__session_tape && told != TT_KEEP_ALL && collect(&c, n, false);
  if (!again || !(told == TT_KEEP_NONE || pays(&c, n))) return tt__node_retain(n);
  int made = 0;
  for (; made < c.n; made++) {
    tt_node *of = c.node[made], *src[TT_NODE_SRC];
    for (int k = 0; k < of->nsrc; k++) {
      int at = find(c.node, made, of->src[k]);
      src[k] = at >= 0 ? c.again[at] : of->src[k];
    }
    c.again[made] = c.seen[made] ? tt__node_retain(of) : NULL;
    if (!c.again[made] && !(c.again[made] = tt__node_op((tt_op)of->op, (tt_dtype)of->dtype, src, of->nsrc, err))) break;
  }
  tt_node *out = made == c.n ? tt__node_retain(c.again[made - 1]) : NULL;
  while (made-- > 0) tt__node_release(c.again[made]);
  return out;
}

tt_node *tt__keep_or_recompute(tt_node *n, tt_error *err) {
  assert(n->refs > 0);
  if (n->op != TT_N_VIEW || !n->pending || tt__is_opaque(n)) return value_again(n, err);
  tt_node *below = n->src[0], *again = tt__keep_or_recompute(below, err), *view = NULL;
  if (again == below)
    view = tt__node_retain(n);
  else if (again)
    view = tt__node_view_plain(again, n->rank, tt__node_len(n), tt__node_step(n), n->attr.off, err);
  tt__node_release(again);
  return view;
}
