/*
** An elementwise op done at the call; see apply.h.
*/
#include "graph/eager/apply.h"

#include <assert.h>
#include <string.h>

#include "graph/eager/block.h"
#include "graph/eager/compute.h"
#include "graph/session.h"
#include "graph/tape.h"

/* Dense operands, and one of them before it is converted; under the session's lock. */
enum { MOST_OPERANDS = 3, MOST_ITEM = 16 };
static _Alignas(64) char room[MOST_OPERANDS + 1][TT_EAGER_MOST * MOST_ITEM];

/* May the result have an entry of the tape? */
static bool has_slope(const tt_eager_op *f) { return tt__is_float(f->to) || tt__is_complex(f->to); }

static const void *spread(const void *value, int64_t size, size_t item, void *to) {
  static const int64_t one = 1, none = 0;
  tt__block_copy(1, &size, to, &one, value, &none, item);
  return to;
}

/* The array's elements in the result's shape, dense: where they lie, or in `to`. NULL: they are not at hand. */
static const void *elements(const tt_eager_op *f, tt_array *a, int64_t size, void *to) {
  const tt_node *n = a->storage->node;
  size_t item = tt__dtype_size((tt_dtype)a->dtype);
  if (item > MOST_ITEM || !tt__eager_ready(n) || (has_slope(f) && tt__is_taped(n))) return NULL;
  if (n->op == TT_N_CONST) return spread(&n->attr.scalar, size, item, to);
  const int64_t *own = tt__array_step(a);
  int64_t off = a->off;
  bool dense_here = tt__array_is_c(a);
  if (n->op == TT_N_VIEW) { /* all of a part of what lies in memory */
    if (!dense_here || a->size != n->size || a->rank != n->rank || !tt__shape_same(a->rank, a->dim, n->dim))
      return NULL;
    own = tt__node_step((tt_node *)n);
    off = n->attr.off;
    n = n->src[0];
    dense_here = tt__shape_is_c(a->rank, a->dim, own);
  }
  if (n->op != TT_N_BUFFER) return NULL;
  const char *from = (const char *)n->attr.buf->data + off * (int64_t)item;
  if (a->size == size && dense_here) return from; /* axes of length 1 aside it has the result's shape */
  int64_t dense[TT_MAX_RANK], step[TT_MAX_RANK];
  int lead = f->rank - a->rank;
  for (int k = 0; k < f->rank; k++) step[k] = k < lead || a->dim[k - lead] == 1 ? 0 : own[k - lead];
  tt__shape_steps(f->rank, f->len, dense);
  tt__block_copy(f->rank, f->len, to, dense, from, step, item);
  return to;
}

/* Operand k, converted and dense. */
static const void *operand(const tt_eager_op *f, int k, int64_t size) {
  const tt_value *v = &f->arg[k];
  if (v->tag != TT_V_ARRAY) {
    tt_scalar s;
    if (f->wrap)
      s = tt__scalar_from(v, f->from[k]);
    else if (tt__value_scalar(v, f->from[k], &s, NULL) != TT_OK)
      return NULL;
    return spread(&s, size, tt__dtype_size(f->from[k]), room[k]);
  }
  tt_dtype own = (tt_dtype)v->as.array->dtype;
  const void *at = elements(f, v->as.array, size, own == f->from[k] ? room[k] : room[MOST_OPERANDS]);
  if (!at || own == f->from[k]) return at;
  return tt__session_elements(TT_CAST, own, f->from[k], &at, 1, room[k], size) ? room[k] : NULL;
}

/* The device that the result is put on; TT_TORN: it is not this way's to say, or all are constants, and so is the
 * result. */
static int device_of(const tt_eager_op *f) {
  int device = TT_ANYWHERE;
  bool constant = true;
  for (int k = 0; k < f->n; k++) {
    if (f->arg[k].tag != TT_V_ARRAY) continue;
    int own = f->arg[k].as.array->storage->node->device;
    constant &= f->arg[k].as.array->storage->node->op == TT_N_CONST;
    if (own > 0 || own == TT_TORN) return TT_TORN;
    if (own != TT_ANYWHERE) device = own;
  }
  return constant ? TT_TORN : device;
}

tt_node *tt__eager_apply(const tt_eager_op *f) {
  const void *arg[MOST_OPERANDS];
  int64_t size = 1;
  int device = device_of(f);
  assert(f->n <= MOST_OPERANDS);
  for (int k = 0; k < f->rank; k++) size *= f->len[k];
  if (size == 0 || !tt__eager_few(size) || !tt__session_elements || device == TT_TORN) return NULL;
  for (int k = 0; k < f->n; k++)
    if (tt__dtype_size(f->from[k]) > MOST_ITEM || !(arg[k] = operand(f, k, size))) return NULL;
  tt_node *n = tt__node_new(TT_N_BUFFER, f->to, f->rank, f->len, 0, NULL);
  if (!n) return NULL;
  n->attr.buf = tt__buffer_new((size_t)size * tt__dtype_size(f->to), NULL);
  tt_dtype type = tt__op_type(f->op, f->from[f->n - 1], f->to);
  if (!n->attr.buf || !tt__session_elements(f->op, type, f->to, arg, f->n, n->attr.buf->data, size)) {
    tt__node_release(n);
    return NULL;
  }
  n->device = (int16_t)device;
  n->flags |= TT_NODE_AT_ONCE;
  tt__session_count_at_once();
  return n;
}
