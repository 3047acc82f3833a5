/*
** Reductions along axes where every element is the same one: broadcast arrays, and what is computed of them element by
** element. They are reduced once, as if the axis had one element, so that 2^40 of them take neither time nor memory.
*/
#include "graph/build.h"

#include <assert.h>

#include "graph/session.h"
#include "graph/tape.h"
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
  if (--*budget < 0 || tt__is_opaque(n)) return 0;
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

/* A number in every element of a shape. */
static tt_node *number(const tt_node *like, tt_dtype dtype, tt_value v, tt_error *err) {
  return tt__node_const_at(like->device, dtype, tt__scalar_from(&v, dtype), like->rank, like->dim, err);
}

/* a op v, computed in `wide`, in a's own type. */
static tt_node *with_number(tt_op op, tt_node *a, tt_dtype wide, tt_value v, tt_error *err) {
  tt_node *out = tt__node_take2(op, wide, tt__node_cast(a, wide, err), number(a, wide, v, err), err);
  return tt__node_take_cast(out, (tt_dtype)a->dtype, err);
}

/* a op a op a ..., `count` of them, by doubling: what is not finite goes its way as it would one by one. */
static tt_node *doubled(tt_op op, tt_node *a, int64_t count, tt_error *err) {
  tt_dtype dtype = (tt_dtype)a->dtype;
  tt_node *power = tt__node_retain(a), *out = NULL;
  for (bool ok = true; ok && count; count >>= 1) {
    if (count & 1) {
      out = out ? tt__node_take2(op, dtype, out, tt__node_retain(power), err) : tt__node_retain(power);
      ok = out != NULL;
    }
    if (ok && count > 1) ok = (power = tt__node_take2(op, dtype, power, tt__node_retain(power), err)) != NULL;
    if (!ok) {
      tt__node_release(out);
      out = NULL;
    }
  }
  tt__node_release(power);
  return out;
}

/* A sum of `count` times the same. */
static tt_node *times(tt_node *sum, double count, tt_error *err) {
  tt_dtype dtype = (tt_dtype)sum->dtype;
  if (tt__is_complex(dtype)) return doubled(TT_ADD, sum, (int64_t)count, err);
  tt_dtype wide = tt__is_float(dtype) && tt__dtype_size(dtype) < 4 ? TT_F32 : dtype;
  tt_value v = tt__is_int(dtype) ? tt_v_int((int64_t)count) : tt_v_float(count);
  return with_number(TT_MUL, sum, wide, v, err);
}

/* A product of `count` times the same; in a type that tells odd counts from even ones. */
static tt_node *raised(tt_node *product, double count, tt_error *err) {
  tt_dtype dtype = (tt_dtype)product->dtype;
  if (tt__is_complex(dtype)) return doubled(TT_MUL, product, (int64_t)count, err);
  if (tt__is_int(dtype)) return with_number(TT_POW, product, TT_I64, tt_v_int((int64_t)count), err);
  return with_number(TT_POW, product, TT_F64, tt_v_float(count), err);
}

/*
** Places along the reduced axes of `a`, from places along those of them that do not repeat: of equal elements the first
** is where the others stand at 0.
*/
static tt_node *places(tt_node *place, const tt_node *a, uint64_t axes, uint64_t constant, tt_error *err) {
  int64_t inner = 1, outer = 1; /* elements behind this axis: of those that do not repeat, of all reduced ones */
  tt_node *out = number(place, TT_I64, tt_v_int(0), err);
  for (int k = a->rank - 1; k >= 0 && out; k--) {
    if (!(axes >> k & 1)) continue;
    if (!(constant >> k & 1) && a->dim[k] > 1) {
      tt_node *at = with_number(TT_FLOORDIV, place, TT_I64, tt_v_int(inner), err);
      at = tt__node_take2(TT_MOD, TT_I64, at, number(place, TT_I64, tt_v_int(a->dim[k]), err), err);
      at = tt__node_take2(TT_MUL, TT_I64, at, number(place, TT_I64, tt_v_int(outer), err), err);
      out = tt__node_take2(TT_ADD, TT_I64, out, at, err);
      inner *= a->dim[k];
    }
    outer *= a->dim[k];
  }
  return out;
}

/* Are repetitions left out? Rounded otherwise than one by one they are worth it when there are more. */
static bool knows(tt_red red, tt_dtype dtype, double count) {
  if (red != TT_RED_SUM && red != TT_RED_PROD) return true;
  return tt__is_int(dtype) || (dtype != TT_BOOL && count >= MANY_FLOATS);
}

/* How often each element stands along axes of which some repeat; 1: not often enough to leave anything out. */
static double repetitions(tt_node *a, uint64_t axes, uint64_t *constant) {
  int budget = MOST_NODES;
  double count = 1;
  *constant = a->size >= MANY && axes ? constant_axes(a, axes, &budget) : 0;
  for (int k = 0; k < a->rank; k++) count *= *constant >> k & 1 ? (double)a->dim[k] : 1;
  return budget < 0 || count < MANY || count > 0x1p53 ? 1 : count;
}

tt_node *tt__node_of_all(tt_red red, tt_node *one, tt_node *a, uint64_t axes, tt_error *err) {
  assert(a->rank >= 64 || axes >> a->rank == 0);
  uint64_t constant;
  double count = repetitions(a, axes, &constant);
  switch (red) {
    case TT_RED_SUM:
      return times(one, count, err);
    case TT_RED_PROD:
      return raised(one, count, err);
    case TT_RED_ARGMAX:
    case TT_RED_ARGMIN:
      return places(one, a, axes, constant, err);
    default:
      return tt__node_retain(one);
  }
}

tt_node *tt__node_once(tt_red red, tt_node *a, uint64_t axes, int64_t *count, tt_error *err) {
  assert(a->rank >= 64 || axes >> a->rank == 0);
  uint64_t constant;
  *count = (int64_t)repetitions(a, axes, &constant);
  if (*count > 1 && knows(red, (tt_dtype)a->dtype, (double)*count)) return once(a, constant, err);
  *count = 1;
  return tt__node_retain(a);
}

tt_node *tt__node_reduce(tt_red red, tt_node *a, uint64_t axes, tt_error *err) {
  assert(tt__session_is_held());
  int64_t count;
  tt_node *few = tt__node_once(red, a, axes, &count, err);
  tt_node *one = few ? tt__node_reduce_plain(red, few, axes, err) : NULL;
  tt__node_release(few);
  if (count == 1 || !one) return one;
  tt_node *out = tt__node_of_all(red, one, a, axes, err);
  tt__node_release(one);
  return out;
}
