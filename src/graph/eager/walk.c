/*
** Small graphs step by step; see walk.h.
*/
#include "graph/eager/walk.h"

#include <assert.h>
#include <string.h>

#include "graph/eager/block.h"
#include "graph/eager/compute.h"
#include "graph/session.h"

/* Steps, and elements for each: a plan takes some 50 us a step to be made, work on so many elements as much. */
enum { MOST_STEPS = 512, MOST_EACH = TT_EAGER_MOST };

typedef struct budget {
  int steps;
  uint32_t mark; /* of nodes that were counted */
} budget;

static bool is_there(const tt_node *n) { return n->op == TT_N_CONST || (n->op == TT_N_BUFFER && tt__eager_ready(n)); }

/* Does it lie, or will it be computed, in C order from what lies so? Then a kernel folds it as the call does. */
static bool is_plain(const tt_node *n, int depth) {
  if (is_there(n)) return true;
  if (n->op >= TT_OP_COUNT || depth == 0) return false;
  for (int k = 0; k < n->nsrc; k++)
    if (!is_plain(n->src[k], depth - 1)) return false;
  return true;
}

static bool can_fold(const tt_node *n) {
  bool exact = !tt__is_float((tt_dtype)n->src[0]->dtype) && !tt__is_complex((tt_dtype)n->src[0]->dtype);
  return exact || is_plain(n->src[0], 8);
}

static bool can_do(tt_node *n, budget *b);

static bool can_do_all(tt_node *n, budget *b) {
  for (int k = 0; k < n->nsrc; k++)
    if (!can_do(n->src[k], b)) return false;
  return true;
}

static bool can_do(tt_node *n, budget *b) {
  if (n->mark == b->mark || is_there(n)) return true;
  if (--b->steps < 0 || n->size == 0 || n->size > MOST_EACH || n->device > 0 || n->device == TT_TORN) return false;
  n->mark = b->mark;
  if (n->op < TT_OP_COUNT) return can_do_all(n, b);
  switch (n->op) {
    case TT_N_EMPTY:
    case TT_N_IOTA:
      return true;
    case TT_N_VIEW:
      return can_do(n->src[0], b);
    case TT_N_GATHER:
    case TT_N_STORE:
      return can_do(n->src[0], b) && can_do(n->src[1], b);
    case TT_N_REDUCE:
      return can_fold(n) && can_do(n->src[0], b);
    default:
      return false;
  }
}

/* The memory of the value that is written over, if nobody else wants it as it is; or a copy. NULL: there is none. */
static tt_buffer *written_over(tt_node *n) {
  tt_node *base = n->src[0];
  tt_buffer *b = base->op == TT_N_BUFFER ? base->attr.buf : NULL;
  if (b && base->refs == 1 && b->refs == 1 && !b->readonly) {
    tt__buffer_only_host(b);
    return tt__buffer_retain(b);
  }
  size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
  tt_buffer *copy = tt__buffer_new(size, NULL);
  if (!copy) return NULL;
  const void *from = tt__eager_dense(base, copy->data);
  if (from != copy->data) memcpy(copy->data, from, size);
  return copy;
}

static bool store(tt_node *n) {
  tt_node *value = n->src[1];
  bool constant = value->op == TT_N_CONST;
  size_t item = tt__dtype_size((tt_dtype)n->dtype);
  static const int64_t still[TT_MAX_RANK];
  int64_t dense[TT_MAX_RANK];
  if (value->op == TT_N_VIEW && !tt__eager_take(value)) return false; /* of what is written over, perhaps */
  tt_buffer *b = written_over(n);
  if (!b) return false;
  tt__shape_steps(value->rank, value->dim, dense);
  tt__block_copy(value->rank, value->dim, (char *)b->data + n->attr.off * (int64_t)item, tt__node_step(n),
                 constant ? (const void *)&value->attr.scalar : value->attr.buf->data, constant ? still : dense, item);
  tt__node_become_buffer(n, b);
  return true;
}

static bool bring(tt_node *n) {
  if (is_there(n) || (n->op == TT_N_VIEW && tt__eager_ready(n))) return true;
  for (int k = 0; k < (n->op == TT_N_VIEW ? 1 : n->nsrc); k++)
    if (!bring(n->src[k])) return false;
  if (n->op == TT_N_VIEW) return tt__eager_ready(n);
  if (n->op == TT_N_EMPTY) return tt__eager_take(n);
  return n->op == TT_N_STORE ? store(n) : tt__eager_step(n);
}

bool tt__eager_walk(tt_node *const *target, int n) {
  if (!tt__eager_on()) return false;
  budget b = {.steps = MOST_STEPS, .mark = tt__session_stamp()};
  for (int k = 0; k < n; k++)
    if (!can_do(target[k], &b)) return false;
  for (int k = 0; k < n; k++) {
    if (!bring(target[k])) return false;
    if (target[k]->op != TT_N_BUFFER && !tt__eager_take(target[k])) return false;
  }
  return true;
}
