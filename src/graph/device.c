/*
** Arrays on devices: putting them there and asking where they are. A label on nodes says where a
** value was put; operations inherit it. It must not know what a device is: bytes move through session.h.
*/
#include "graph/build.h"
#include "graph/order.h"
#include "graph/session.h"
#include "graph/tape.h"
#include "ir/user/call.h"
#include "ir/target.h"

tt_code tt__fail_torn(const tt_node *n, tt_error *err) {
  int first = TT_ANYWHERE, other = TT_ANYWHERE;
  for (int k = 0; k < n->nsrc; k++) {
    int at = n->src[k]->device;
    if (at < 0) continue;
    if (first == TT_ANYWHERE)
      first = at;
    else if (at != first)
      other = at;
  }
  char a[16], b[16];
  if (other == TT_ANYWHERE) return tt__fail(err, TT_EVALUE, "operands are on different devices");
  return tt__fail(err, TT_EVALUE, "operands are on different devices: %s and %s (move one with .to())",
                  tt__device_name(first, a), tt__device_name(other, b));
}

/* A node that reads `value` and is labelled. */
static tt_node *labelled(tt_node *value, int id, tt_error *err) {
  if (value->op == TT_N_CONST)
    return tt__node_const_at(id, (tt_dtype)value->dtype, value->attr.scalar, value->rank, value->dim, err);
  int64_t step[TT_MAX_RANK];
  tt__shape_steps(value->rank, value->dim, step);
  tt_node *n = tt__node_view_plain(value, value->rank, value->dim, step, 0, err);
  if (n) tt__node_put(n, id);
  return n;
}

tt_node *tt__node_at(tt_node *value, int id, tt_error *err) {
  if (id == TT_ANYWHERE || value->device == id) return value;
  tt_node *n = labelled(value, id, err);
  tt__node_release(value);
  return n;
}

/* A node over the same buffer, which is brought to the device. */
static tt_node *moved(tt_node *value, int id, tt_error *err) {
  tt_buffer *b = value->attr.buf;
  tt_code code = TT_OK;
  if (id == 0)
    code = tt__buffer_host(b, err);
  else if (b->drop && b->data && !b->elsewhere) /* its owner may change it: what is there now is what moves */
    code = tt__session_residency->from_host(b->data, b->size, id, &b, err);
  else
    code = tt__session_residency->to_device(b, id, err);
  if (code != TT_OK) return NULL;
  if (b == value->attr.buf) tt__buffer_retain(b);
  tt_node *n = tt__node_new(TT_N_BUFFER, (tt_dtype)value->dtype, value->rank, value->dim, 0, err);
  if (!n) {
    tt__buffer_release(b);
    return NULL;
  }
  n->attr.buf = b;
  n->device = (int16_t)id;
  return n;
}

static tt_code put(tt_array *a, int id, tt_array **out, tt_error *err) {
  tt_node *n = tt__array_node(a, err), *to = NULL;
  if (!n) return TT_ENOMEM;
  bool pending = n->op != TT_N_BUFFER && n->device == TT_ANYWHERE;
  tt_code code = pending ? TT_OK : tt__evaluate(&n, 1, err);
  if (code == TT_OK) to = pending ? labelled(n, id, err) : moved(n, id, err);
  if (code == TT_OK && !to) code = err ? err->code : TT_ENOMEM;
  if (code == TT_OK && tt__is_taped(n) && !to->tape) code = tt__tape_follow(to, n, err);
  tt__node_release(n);
  if (code == TT_OK && !(*out = tt__array_of(to, err))) code = TT_ENOMEM;
  tt__node_release(to);
  return code;
}

/* What moves has C's order there, so an array in another order moves with its axes in that. */
tt_code tt__array_to(tt_array *a, int id, tt_array **out, tt_error *err) {
  int axes[TT_MAX_RANK];
  *out = NULL;
  if (a->storage->node->device == id) {
    *out = tt__array_retain(a);
    return TT_OK;
  }
  if (tt__array_is_c(a)) return put(a, id, out, err);
  tt__order_of(a, 'K', axes);
  tt_array *there = NULL, *ordered = tt__array_ordered(a, axes, err);
  tt_code code = ordered ? put(ordered, id, &there, err) : TT_ENOMEM;
  if (code == TT_OK && !(*out = tt__array_restored(there, axes, err))) code = TT_ENOMEM;
  tt__array_release(there);
  tt__array_release(ordered);
  return code;
}

bool tt__array_at_hand(tt_array *a) {
  const tt_node *n = a->storage->node;
  if (n->op != TT_N_BUFFER) return tt__array_device(a) == 0;
  return a->size == 0 || (n->attr.buf->data && !n->attr.buf->elsewhere);
}

int tt__array_device(tt_array *a) {
  const tt_node *n = a->storage->node;
  if (n->device >= 0) return n->device;
  while (n->op != TT_N_BUFFER && n->nsrc) {
    if (n->op == TT_N_CALL) return n->attr.call->device;
    n = n->src[0];
  }
  if (n->op != TT_N_BUFFER || n->attr.buf->data || !n->attr.buf->replicas) return 0;
  return tt__session_residency->where(n->attr.buf);
}
