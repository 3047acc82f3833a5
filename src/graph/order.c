/*
** Orders of memory; see order.h.
*/
#include "graph/order.h"

#include <assert.h>

#include "graph/eager/compute.h"

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

static bool is_c(int rank, const int *axes) {
  for (int k = 0; k < rank; k++)
    if (axes[k] != k) return false;
  return true;
}

void tt__order_of(tt_array *a, char order, int *axes) {
  if (order == 'W' && !tt__array_is_c(a)) {
    tt__order_walk(&a, 1, a->rank, axes);
    return;
  }
  bool f = order == 'F' || (order != 'C' && tt__array_is_f(a) && !tt__array_is_c(a));
  bool sorted = order == 'K' && !f && !tt__array_is_c(a);
  for (int d = 0; d < a->rank; d++) {
    int at = d;
    for (; sorted && at > 0; at--) {
      if (magnitude(tt__array_step(a)[axes[at - 1]]) >= magnitude(tt__array_step(a)[d])) break;
      axes[at] = axes[at - 1];
    }
    axes[at] = f ? a->rank - 1 - d : d;
  }
}

bool tt__order_of_strides(int rank, const int64_t *len, const int64_t *stride, int64_t item, int *axes) {
  bool c = true;
  int64_t dense = item;
  for (int d = rank - 1; d >= 0; dense *= len[d--]) c &= len[d] == 1 || stride[d] == dense;
  for (int d = 0; d < rank; d++) {
    int at = d;
    for (; !c && at > 0 && magnitude(stride[axes[at - 1]]) < magnitude(stride[d]); at--) axes[at] = axes[at - 1];
    axes[at] = d;
  }
  return is_c(rank, axes);
}

/* The step of an operand along an axis of the broadcast shape; 0: it does not move. */
static uint64_t step_along(tt_array *a, int rank, int axis) {
  int own = axis - (rank - a->rank);
  return own < 0 || a->dim[own] == 1 ? 0 : magnitude(tt__array_step(a)[own]);
}

/* Which of two axes lies inside the other: 1 if `outer` does as it stands, -1 the other way round, 0: nobody knows. */
static int compare(tt_array *const *a, int n, int rank, int outer, int inner) {
  int found = 0;
  for (int k = 0; k < n; k++) {
    uint64_t o = step_along(a[k], rank, outer), i = step_along(a[k], rank, inner);
    if (o == 0 || i == 0) continue;
    if (o >= i) return 1; /* C's order wins where operands do not agree */
    found = -1;
  }
  return found;
}

bool tt__order_walk(tt_array *const *a, int n, int rank, int *axes) {
  assert(n >= 0 && rank >= 0 && rank <= TT_MAX_RANK);
  int inside[TT_MAX_RANK]; /* from the innermost */
  for (int d = 0; d < rank; d++) {
    int axis = rank - 1 - d, at = d;
    for (int k = d - 1; k >= 0; k--) {
      int known = compare(a, n, rank, axis, inside[k]);
      if (known > 0) break;
      if (known < 0) at = k;
    }
    for (int k = d; k > at; k--) inside[k] = inside[k - 1];
    inside[at] = axis;
  }
  for (int d = 0; d < rank; d++) axes[d] = inside[rank - 1 - d];
  return !is_c(rank, axes);
}

/* The same of arrays of one rank that are joined: there NumPy counts what does not move as the smallest step, and
 * nothing moves where there are no elements. */
static int compare_joined(tt_array *const *a, int n, int outer, int inner) {
  int found = 0;
  for (int k = 0; k < n; k++) {
    if (a[k]->dim[outer] == 1 || a[k]->dim[inner] == 1) continue;
    if (a[k]->size == 0) return 1;
    if (magnitude(tt__array_step(a[k])[outer]) >= magnitude(tt__array_step(a[k])[inner])) return 1;
    found = -1;
  }
  return found;
}

bool tt__order_join(tt_array *const *a, int n, int rank, int *axes) {
  assert(n >= 0 && rank >= 0 && rank <= TT_MAX_RANK);
  for (int d = 0; d < rank; d++) {
    int at = d;
    for (int k = d - 1; k >= 0; k--) {
      int known = compare_joined(a, n, axes[k], d);
      if (known > 0) break;
      if (known < 0) at = k;
    }
    for (int k = d; k > at; k--) axes[k] = axes[k - 1];
    axes[at] = d;
  }
  return !is_c(rank, axes);
}

tt_array *tt__array_ordered(tt_array *a, const int *axes, tt_error *err) {
  for (int k = 0; k < a->rank; k++) assert(axes[k] >= 0 && axes[k] < a->rank);
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  for (int k = 0; k < a->rank; k++) {
    len[k] = a->dim[axes[k]];
    step[k] = tt__array_step(a)[axes[k]];
  }
  return tt__array_view(a, a->rank, len, step, a->off, err);
}

tt_array *tt__array_restored(tt_array *a, const int *axes, tt_error *err) {
  for (int k = 0; k < a->rank; k++) assert(axes[k] >= 0 && axes[k] < a->rank);
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  for (int k = 0; k < a->rank; k++) {
    len[axes[k]] = a->dim[k];
    step[axes[k]] = tt__array_step(a)[k];
  }
  return tt__array_view(a, a->rank, len, step, a->off, err);
}

tt_array *tt__array_laid(tt_node *n, const int *axes, tt_error *err) {
  assert(n->rank <= TT_MAX_RANK);
  if (is_c(n->rank, axes)) return tt__array_of(n, err);
  int64_t own[TT_MAX_RANK], len[TT_MAX_RANK], step[TT_MAX_RANK];
  tt__shape_steps(n->rank, n->dim, own);
  for (int k = 0; k < n->rank; k++) {
    len[k] = n->dim[axes[k]];
    step[k] = own[axes[k]];
  }
  tt_node *turned = tt__node_view(n, n->rank, len, step, 0, err);
  if (turned && turned->op == TT_N_VIEW && tt__eager_few(n->size) && tt__eager_ready(turned)) tt__eager_take(turned);
  tt_array *memory = turned ? tt__array_of(turned, err) : NULL;
  tt_array *out = memory ? tt__array_restored(memory, axes, err) : NULL;
  tt__array_release(memory);
  tt__node_release(turned);
  return out;
}

tt_code tt__copy_as(tt_array *a, tt_dtype dtype, char order, tt_array **out, tt_error *err) {
  int axes[TT_MAX_RANK];
  *out = NULL;
  tt__order_of(a, order, axes);
  if (dtype != (tt_dtype)a->dtype) {
    tt_node *n = tt__node_take_cast(tt__array_node(a, err), dtype, err);
    *out = n ? tt__array_laid(n, axes, err) : NULL;
    tt__node_release(n);
    return *out ? TT_OK : TT_ENOMEM;
  }
  if (is_c(a->rank, axes)) return tt__copy(a, out, err);
  tt_array *turned = tt__array_ordered(a, axes, err), *dense = NULL;
  tt_code code = turned ? tt__copy(turned, &dense, err) : TT_ENOMEM;
  if (code == TT_OK && !(*out = tt__array_restored(dense, axes, err))) code = TT_ENOMEM;
  tt__array_release(turned);
  tt__array_release(dense);
  return code;
}
