/*
** What is kept of a step of training. Its way back reads what its way forward computed; mostly that is sooner computed
** once more, in the kernel that reads it, than stored: a kernel waits for memory, not for arithmetic, and what is not
** stored takes no memory in between. So a value is stored if and only if computing it again, in all kernels that read
** it, would read more bytes than storing it writes and reads. Masks that are drawn read nothing, and chains of
** elementwise operations what the kernel mostly reads anyway; sums read their whole operand, and are stored. So is what
** each layer adds to, every layer or two: it would read what all layers before it added.
*/
#include <assert.h>

#include "ir/grad.h"
#include "ir/ops.h"
#include "sched/fuse.h"

/* Where more than this lies below a value it is stored: somebody computes a chain turn by turn and looks at each. */
#define MOST_WEIGHT 96
#define MOST_BELOW 64

typedef struct below {
  int32_t node[MOST_BELOW];
  int n;
  double bytes;
} below;

static double bytes_of(const tt_node *n) { return (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype); }

static bool is_stored(const tt_fuser *f, const tt_node *n) {
  return n->op == TT_N_BUFFER || n->op == TT_N_PICK || f->cut[n->slot];
}

/* Counts what is read to compute the node. False: it is much. */
static bool count_below(const tt_fuser *f, const tt_node *n, below *b) {
  for (int i = 0; i < b->n; i++)
    if (b->node[i] == n->slot) return true;
  if (b->n == MOST_BELOW) return false;
  b->node[b->n++] = n->slot;
  for (int k = 0; k < n->nsrc; k++) {
    const tt_node *s = n->src[k];
    bool again = false;
    if (!is_stored(f, s)) {
      if (!count_below(f, s, b)) return false;
      continue;
    }
    for (int i = 0; i < b->n; i++) again |= b->node[i] == s->slot;
    if (again) continue;
    if (b->n == MOST_BELOW) return false;
    b->node[b->n++] = s->slot;
    b->bytes += bytes_of(s);
  }
  return true;
}

/* So many kernels compute the node: is it sooner stored by one of them and read by the others? */
bool tt__keeps(const tt_fuser *f, int32_t node, int kernels) {
  const tt_node *n = f->walk->node[node];
  below b = {.n = 0};
  assert(f->walk->is_step && kernels >= 2);
  if (f->keep == TT_KEEP_ALL) return true;
  if (f->keep == TT_KEEP_NONE && n->op < TT_OP_COUNT) return false;
  return !count_below(f, n, &b) || b.bytes * (kernels - 1) > bytes_of(n) * kernels;
}

/* What an earlier evaluation computed and threw away, because it lies below a value that somebody looked at. */
void tt__keep_seen(tt_fuser *f) {
  for (int i = 0; i < f->walk->n; i++) {
    const tt_node *n = f->walk->node[i];
    bool computed = n->op < TT_OP_COUNT || n->op == TT_N_REDUCE || n->op == TT_N_GATHER;
    unsigned weight = 1;
    if (is_stored(f, n)) continue;
    if (n->op < TT_OP_COUNT && tt__ops[n->op].flags & TT_OPF_SLOW) weight = 8;
    for (int k = 0; k < n->nsrc; k++)
      if (!is_stored(f, n->src[k])) weight += f->weight[n->src[k]->slot];
    f->weight[i] = (uint16_t)(weight > MOST_WEIGHT ? MOST_WEIGHT + 1 : weight);
    if (!computed || !(n->flags & TT_NODE_SEEN)) continue;
    f->cut[i] = n->held > 0 || weight > MOST_WEIGHT || tt__keeps(f, i, 2);
  }
}
