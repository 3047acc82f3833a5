/*
** Reductions along axes where every element is the same one: broadcast arrays, and what is computed of them element by
** element. They are reduced once, as if the axis had one element, so that 2^40 of them take neither time nor memory.
*/
#include "graph/build.h"
#include "ir/dtype.h"
#include "ir/ops.h"

/* So many repetitions are worth the nodes; a sum of floats is rounded otherwise than one by one, so it takes more. */
#define MANY 4096
#define MANY_FLOATS (1 << 20)
/* Nodes that are looked at. */
#define MOST_NODES 32

static bool is_elementwise(const tt_node *n) { return n->op < TT_OP_COUNT && tt__ops[n->op].cls != TT_CLASS_DRAW; }

/* Those of the axes along which the node's value does not change. */
static uint64_t constant_axes(tt_node *n, uint64_t axes, int *budget) {
  if (--*budget < 0) return 0;
  if (n->op == TT_N_CONST) return axes;
  if (n->op == TT_N_VIEW)
    for (int k = 0; k < n->rank; k++)
      if (tt__node_step(n)[k] != 0 && n->dim[k] > 1) axes &= ~(UINT64_C(1) << k);
  for (int k = 0; is_elementwise(n) && k < n->nsrc && axes; k++) axes = constant_axes(n->src[k], axes, budget);
  return is_elementwise(n) || n->op == TT_N_VIEW ? axes : 0;
}

/* The same with one element along each of these axes. */
static tt_node *once(tt_node *n, uint64_t axes, tt_error *err) {
  int64_t len[TT_MAX_RANK];
  for (int k = 0; k < n->rank; k++) len[k] = axes >> k & 1 ? 1 : n->dim[k];
  if (n->op == TT_N_CONST) return tt__node_const_at(n->device, (tt_dtype)n->dtype, n->attr.scalar, n->rank, len, err);
  if (n->op == TT_N_VIEW) return tt__node_view(n->src[0], n->rank, len, tt__node_step(n), n->attr.off, err);
  tt_node *src[TT_NODE_SRC], *out = NULL;
  int made = 0;
  while (made < n->nsrc && (src[made] = once(n->src[made], axes, err))) made++;
  if (made == n->nsrc) out = tt__node_op((tt_op)n->op, (tt_dtype)n->dtype, src, made, err);
  while (made > 0) tt__node_release(src[--made]);
  return out;
}

/* A sum of `count` times the same. */
static tt_node *times(tt_node *sum, double count, tt_error *err) {
  tt_dtype dtype = (tt_dtype)sum->dtype;
  tt_dtype wide = tt__is_float(dtype) && tt__dtype_size(dtype) < 4 ? TT_F32 : dtype;
  tt_value v = tt__is_int(dtype) ? tt_v_int((int64_t)count) : tt_v_float(count);
  tt_node *factor = tt__node_const_at(sum->device, wide, tt__scalar_from(&v, wide), sum->rank, sum->dim, err);
  tt_node *src[2] = {tt__node_cast(sum, wide, err), factor};
  tt_node *product = src[0] && factor ? tt__node_op(TT_MUL, wide, src, 2, err) : NULL;
  tt_node *out = product ? tt__node_cast(product, dtype, err) : NULL;
  for (int k = 0; k < 2; k++) tt__node_release(src[k]);
  tt__node_release(product);
  return out;
}

/* Does leaving out repetitions say the same, but for `times` of a sum? */
static bool knows(tt_red red, tt_dtype dtype, uint64_t axes, uint64_t constant, double count) {
  switch (red) {
    case TT_RED_SUM:
      return tt__is_int(dtype) || (tt__is_float(dtype) && count >= MANY_FLOATS);
    case TT_RED_MAX:
    case TT_RED_MIN:
    case TT_RED_ANY:
    case TT_RED_ALL:
      return true;
    case TT_RED_ARGMAX:
    case TT_RED_ARGMIN:
      return axes == constant; /* the first; else the place counts the axes that are left out */
    default:
      return false;
  }
}

tt_node *tt__node_reduce(tt_red red, tt_node *a, uint64_t axes, tt_error *err) {
  int budget = MOST_NODES;
  double count = 1;
  uint64_t constant = a->size >= MANY && axes ? constant_axes(a, axes, &budget) : 0;
  for (int k = 0; k < a->rank; k++) count *= constant >> k & 1 ? (double)a->dim[k] : 1;
  if (budget < 0 || count < MANY || count > 0x1p53 || !knows(red, (tt_dtype)a->dtype, axes, constant, count))
    return tt__node_reduce_plain(red, a, axes, err);
  tt_node *few = once(a, constant, err);
  tt_node *reduced = few ? tt__node_reduce_plain(red, few, axes, err) : NULL;
  tt__node_release(few);
  if (red != TT_RED_SUM || !reduced) return reduced;
  tt_node *out = times(reduced, count, err);
  tt__node_release(reduced);
  return out;
}
