/*
** Movement functions: the same elements seen through other axes. Views wherever the layout permits.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fn/fn.h"

static tt_array *reshape(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  int64_t len[TT_MAX_RANK];
  int rank = tt__arg_ints(c, f, 1, len, TT_MAX_RANK);
  char order = tt__arg_order(c, f, 2, a, "C");
  if (!a || c->code != TT_OK) return NULL;
  if (order == 'K') return tt__compose_fail(c, TT_EVALUE, "order 'K' is not permitted for reshaping");
  bool fixed = tt__arg_given(f, 3), copy = tt__arg_bool(c, f, 3, false);
  if (copy) a = tt__compose_copy_in(c, a, order);
  if (order == 'F') tt__reverse_axes(rank, len);
  tt_array *out = tt__compose_reshape(c, order == 'F' ? tt__compose_transpose(c, a, NULL) : a, rank, len);
  if (fixed && !copy && out && out->storage != a->storage)
    return tt__compose_fail(c, TT_EVALUE, "Unable to avoid creating a copy while reshaping.");
  return tt__compose_turned(c, order == 'F', out);
}
TT_HANDLER(reshape)

static tt_array *flat(tt_composer *c, tt_call_frame *f, bool copy) {
  tt_array *a = tt__arg_array(c, f, 0);
  return tt__compose_flat(c, a, tt__arg_order(c, f, 1, a, "C"), copy);
}

static tt_array *ravel(tt_composer *c, tt_call_frame *f) { return flat(c, f, false); }
static tt_array *flatten(tt_composer *c, tt_call_frame *f) { return flat(c, f, true); }
TT_HANDLER(ravel)
TT_HANDLER(flatten)

static tt_array *transpose(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!tt__arg_given(f, 1)) return tt__compose_transpose(c, a, NULL);
  int64_t raw[TT_MAX_RANK];
  int axes[TT_MAX_RANK], n = tt__arg_ints(c, f, 1, raw, TT_MAX_RANK);
  if (!a || c->code != TT_OK) return NULL;
  if (n != a->rank) return tt__compose_fail(c, TT_EVALUE, "axes don't match array");
  for (int d = 0; d < n; d++)
    if ((c->code = tt__shape_axis(raw[d], a->rank, &axes[d], c->err)) != TT_OK) return NULL;
  return tt__compose_transpose(c, a, axes);
}
TT_HANDLER(transpose)

static tt_array *matrix_transpose(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->rank < 2)
    return tt__compose_fail(c, TT_EVALUE, "Input array must be at least 2-dimensional, but it is %d", a->rank);
  return a ? tt__compose_move(c, a, a->rank - 1, a->rank - 2) : NULL;
}
TT_HANDLER(matrix_transpose)

/* Axes of an argument, in range and without repeats, with the argument's name in the words. */
static int axes_named(tt_composer *c, const tt_call_frame *f, int k, int rank, const char *name, int *out) {
  int64_t raw[TT_MAX_RANK];
  int n = tt__arg_ints(c, f, k, raw, TT_MAX_RANK);
  uint64_t seen = 0;
  for (int i = 0; i < n && c->code == TT_OK; i++) {
    if (raw[i] < -rank || raw[i] >= rank) {
      tt__compose_fail(c, TT_EAXIS, "%s%saxis %lld is out of bounds for array of dimension %d", name,
                       name[0] ? ": " : "", (long long)raw[i], rank);
      return 0;
    }
    out[i] = (int)(raw[i] < 0 ? raw[i] + rank : raw[i]);
    if (seen >> out[i] & 1) {
      if (name[0])
        tt__compose_fail(c, TT_EVALUE, "repeated axis in `%s` argument", name);
      else
        tt__compose_fail(c, TT_EVALUE, "repeated axis");
      return 0;
    }
    seen |= UINT64_C(1) << out[i];
  }
  return c->code == TT_OK ? n : 0;
}

static tt_array *moveaxis(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  int from[TT_MAX_RANK], to[TT_MAX_RANK], order[TT_MAX_RANK], left = 0;
  int n = axes_named(c, f, 1, a->rank, "source", from), m = axes_named(c, f, 2, a->rank, "destination", to);
  if (c->code != TT_OK) return NULL;
  if (n != m)
    return tt__compose_fail(c, TT_EVALUE, "`source` and `destination` arguments must have the same number of elements");
  uint64_t moved = 0;
  for (int d = 0; d < a->rank; d++) order[d] = -1;
  for (int i = 0; i < n; i++) {
    order[to[i]] = from[i];
    moved |= UINT64_C(1) << from[i];
  }
  for (int d = 0; d < a->rank; d++) {
    if (order[d] >= 0) continue;
    while (moved >> left & 1) left++;
    order[d] = left++;
  }
  return tt__compose_transpose(c, a, order);
}
TT_HANDLER(moveaxis)

static tt_array *swapaxes(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  int order[TT_MAX_RANK], i = tt__arg_axis(c, f, 1, a->rank, 0), j = tt__arg_axis(c, f, 2, a->rank, 0);
  if (c->code != TT_OK) return NULL;
  for (int d = 0; d < a->rank; d++) order[d] = d == i ? j : d == j ? i : d;
  return tt__compose_transpose(c, a, order);
}
TT_HANDLER(swapaxes)

static tt_array *rollaxis(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  int axis = tt__arg_axis(c, f, 1, a->rank, 0);
  int64_t start = tt__arg_int(c, f, 2, 0), n = a->rank;
  if (c->code != TT_OK) return NULL;
  if (start < -n || start > n)
    return tt__compose_fail(c, TT_EAXIS, "'start' arg requires %lld <= start < %lld, but %lld was passed in",
                            (long long)-n, (long long)n + 1, (long long)start);
  if (start < 0) start += n;
  return tt__compose_move(c, a, axis, (int)(axis < start ? start - 1 : start));
}
TT_HANDLER(rollaxis)

static tt_array *squeeze(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  bool all = !tt__arg_given(f, 1);
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < a->rank && c->code == TT_OK; d++) {
    int64_t n = tt__array_len(a)[d];
    if (!all && (axes >> d & 1) && n != 1)
      return tt__compose_fail(c, TT_EVALUE, "cannot select an axis to squeeze out which has size not equal to one");
    if ((axes >> d & 1) && n == 1) continue;
    len[rank] = n;
    step[rank++] = tt__array_step(a)[d];
  }
  return tt__compose_view(c, a, rank, len, step, a->off);
}
TT_HANDLER(squeeze)

static tt_array *expand_dims(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  int64_t raw[TT_MAX_RANK];
  int axes[TT_MAX_RANK], n = tt__arg_ints(c, f, 1, raw, TT_MAX_RANK);
  if (a->rank + n > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found %d",
                            a->rank + n);
  axes_named(c, f, 1, a->rank + n, "", axes);
  uint64_t set = 0;
  for (int i = 0; i < n && c->code == TT_OK; i++) set |= UINT64_C(1) << axes[i];
  for (int d = 0; d < TT_MAX_RANK && a; d++)
    if (set >> d & 1) a = tt__compose_expand(c, a, d);
  return a;
}
TT_HANDLER(expand_dims)

/* ---- broadcasting */

static tt_array *broadcast_to(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  int64_t len[TT_MAX_RANK];
  int rank = tt__arg_ints(c, f, 1, len, TT_MAX_RANK);
  return tt__compose_broadcast(c, a, rank, len);
}
TT_HANDLER(broadcast_to)

/* The common shape of some shapes, or -1. */
static int common_shape(tt_composer *c, int64_t n, const int *rank, const int64_t *const *len, int64_t *out) {
  int most = -1;
  if (c->code == TT_OK) c->code = tt__shape_common(n, rank, len, &most, out, c->err);
  return most;
}

static tt_array *broadcast_arrays(tt_composer *c, tt_call_frame *f) {
  int64_t n, len[TT_MAX_RANK];
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  int *ranks = tt__compose_scratch(c, n, sizeof *ranks);
  const int64_t **lens = tt__compose_scratch(c, n, sizeof *lens);
  if (c->code != TT_OK) return NULL;
  for (int64_t i = 0; i < n; i++) {
    ranks[i] = a[i]->rank;
    lens[i] = tt__array_len(a[i]);
  }
  int rank = common_shape(c, n, ranks, lens, len);
  f->tuple = true;
  for (int64_t i = 0; i < n; i++) {
    bool same = rank == ranks[i] && memcmp(len, lens[i], sizeof *len * (size_t)rank) == 0;
    if (!tt__fn_give(c, f, same ? a[i] : tt__compose_broadcast(c, a[i], rank, len))) return NULL;
  }
  return NULL;
}
TT_HANDLER(broadcast_arrays)

static tt_array *broadcast_shapes(tt_composer *c, tt_call_frame *f) {
  int64_t n = f->narg ? f->arg[0].as.tuple.n : 0, len[TT_MAX_RANK];
  int *ranks = tt__compose_scratch(c, n, sizeof *ranks);
  const int64_t **lens = tt__compose_scratch(c, n, sizeof *lens);
  for (int64_t i = 0; i < n && c->code == TT_OK; i++) {
    tt_call_frame one = {.arg = &f->arg[0].as.tuple.item[i], .narg = 1};
    int64_t *own = tt__compose_scratch(c, TT_MAX_RANK, sizeof *own);
    if (!own) return NULL;
    ranks[i] = tt__arg_ints(c, &one, 0, own, TT_MAX_RANK);
    lens[i] = own;
    for (int d = 0; d < ranks[i]; d++)
      if (own[d] < 0) return tt__compose_fail(c, TT_EVALUE, "negative dimensions are not allowed");
  }
  int64_t rank = c->code == TT_OK ? common_shape(c, n, ranks, lens, len) : -1;
  void *data;
  tt_array *out = rank < 0 ? NULL : tt__compose_block(c, TT_I64, 1, &rank, &data);
  if (out && rank) memcpy(data, len, sizeof *len * (size_t)rank);
  f->tuple = true;
  return out;
}
TT_HANDLER(broadcast_shapes)

/* ---- at least so many axes */

static tt_array *with_axes(tt_composer *c, tt_array *a, int least) {
  if (!a || a->rank >= least) return a;
  if (least == 3 && a->rank == 2) return tt__compose_expand(c, a, 2);
  if (least == 3 && a->rank == 1) return tt__compose_expand(c, tt__compose_expand(c, a, 0), 2);
  while (a && a->rank < least) a = tt__compose_expand(c, a, 0);
  return a;
}

static tt_array *at_least(tt_composer *c, tt_call_frame *f, int least) {
  int64_t n;
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  if (n == 1) return with_axes(c, a[0], least);
  f->tuple = true;
  for (int64_t i = 0; i < n; i++)
    if (!tt__fn_give(c, f, with_axes(c, a[i], least))) return NULL;
  return NULL;
}

static tt_array *atleast_1d(tt_composer *c, tt_call_frame *f) { return at_least(c, f, 1); }
static tt_array *atleast_2d(tt_composer *c, tt_call_frame *f) { return at_least(c, f, 2); }
static tt_array *atleast_3d(tt_composer *c, tt_call_frame *f) { return at_least(c, f, 3); }
TT_HANDLER(atleast_1d)
TT_HANDLER(atleast_2d)
TT_HANDLER(atleast_3d)

/* ---- turning around */

static tt_array *flip(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  uint64_t axes = a ? tt__arg_axes(c, f, 1, a->rank) : 0;
  if (a && a->rank == 0 && tt__arg_given(f, 1) && f->arg[1].tag != TT_V_TUPLE) tt__arg_axis(c, f, 1, 0, 0);
  for (int d = 0; a && d < a->rank; d++)
    if (axes >> d & 1) a = tt__compose_flip(c, a, d);
  return a;
}
TT_HANDLER(flip)

static tt_array *flip_one(tt_composer *c, tt_call_frame *f, int axis) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->rank <= axis) return tt__compose_fail(c, TT_EVALUE, "Input must be >= %d-d.", axis + 1);
  return tt__compose_flip(c, a, axis);
}

static tt_array *flipud(tt_composer *c, tt_call_frame *f) { return flip_one(c, f, 0); }
static tt_array *fliplr(tt_composer *c, tt_call_frame *f) { return flip_one(c, f, 1); }
TT_HANDLER(flipud)
TT_HANDLER(fliplr)

static tt_array *rot90(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  int64_t times = tt__arg_int(c, f, 1, 1), raw[TT_MAX_RANK] = {0, 1};
  int n = tt__arg_given(f, 2) ? tt__arg_ints(c, f, 2, raw, TT_MAX_RANK) : 2;
  if (!a || c->code != TT_OK) return NULL;
  if (n != 2) return tt__compose_fail(c, TT_EVALUE, "len(axes) must be 2.");
  int64_t r = a->rank;
  if (raw[0] == raw[1] || llabs(raw[0] - raw[1]) == r) return tt__compose_fail(c, TT_EVALUE, "Axes must be different.");
  if (raw[0] >= r || raw[0] < -r || raw[1] >= r || raw[1] < -r)
    return tt__compose_fail(c, TT_EVALUE, "Axes=(%lld, %lld) out of range for array of ndim=%lld.", (long long)raw[0],
                            (long long)raw[1], (long long)r);
  int i = (int)(raw[0] < 0 ? raw[0] + r : raw[0]), j = (int)(raw[1] < 0 ? raw[1] + r : raw[1]), order[TT_MAX_RANK];
  for (int d = 0; d < r; d++) order[d] = d == i ? j : d == j ? i : d;
  switch (((times % 4) + 4) % 4) {
    case 0:
      return tt__compose_view(c, a, a->rank, tt__array_len(a), tt__array_step(a), a->off);
    case 1:
      return tt__compose_transpose(c, tt__compose_flip(c, a, j), order);
    case 2:
      return tt__compose_flip(c, tt__compose_flip(c, a, i), j);
    default:
      return tt__compose_flip(c, tt__compose_transpose(c, a, order), j);
  }
}
TT_HANDLER(rot90)

/* ---- diagonals */

/* The diagonal of two axes as a view; it becomes the last axis. */
static tt_array *diagonal_view(tt_composer *c, tt_array *a, int64_t offset, int i, int j) {
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK], off = a->off;
  int rank = 0;
  for (int d = 0; d < a->rank; d++) {
    if (d == i || d == j) continue;
    len[rank] = tt__array_len(a)[d];
    step[rank++] = tt__array_step(a)[d];
  }
  int64_t rows = tt__array_len(a)[i], columns = tt__array_len(a)[j], n;
  if (offset >= 0)
    n = columns - offset < rows ? columns - offset : rows;
  else
    n = rows + offset < columns ? rows + offset : columns;
  if (n <= 0)
    n = 0;
  else
    off += offset >= 0 ? offset * tt__array_step(a)[j] : -offset * tt__array_step(a)[i];
  len[rank] = n;
  step[rank++] = tt__array_step(a)[i] + tt__array_step(a)[j];
  tt_array *v = tt__compose_view(c, a, rank, len, step, off);
  if (v) v->readonly = true;
  return v;
}

static tt_array *diagonal_of(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  if (a->rank < 2) return tt__compose_fail(c, TT_EVALUE, "diag requires an array of at least two dimensions");
  int64_t offset = tt__arg_int(c, f, 1, 0);
  int i = tt__arg_axis(c, f, 2, a->rank, 0), j = tt__arg_axis(c, f, 3, a->rank, 1);
  if (c->code != TT_OK) return NULL;
  if (i == j) return tt__compose_fail(c, TT_EVALUE, "axis1 and axis2 cannot be the same");
  return diagonal_view(c, a, offset, i, j);
}

static tt_array *diagonal(tt_composer *c, tt_call_frame *f) { return diagonal_of(c, f); }
TT_HANDLER(diagonal)

static tt_array *trace(tt_composer *c, tt_call_frame *f) {
  tt_array *d = diagonal_of(c, f);
  if (!d) return NULL;
  tt_dtype type = tt__arg_dtype(c, f, 4, tt__fn_sum_type((tt_dtype)d->dtype));
  bool half = type == TT_F16 || type == TT_BF16;
  tt_array *s = tt__compose_reduce(c, TT_RED_SUM, tt__compose_cast(c, d, half ? TT_F32 : type),
                                   UINT64_C(1) << (d->rank - 1), false);
  return tt__arg_out(c, f, 5, tt__compose_cast(c, s, type));
}
TT_HANDLER(trace)

/* A square matrix of zeros with v (one axis) on its diagonal k. */
static tt_array *matrix_with(tt_composer *c, tt_array *v, int64_t k) {
  if (!v) return NULL;
  int64_t n = v->size + llabs(k), len[2] = {n, n};
  tt_array *out = tt__compose_full(c, (tt_dtype)v->dtype, 2, len, tt_v_int(0));
  tt_array *d = out ? diagonal_view(c, out, k, 0, 1) : NULL;
  if (!d) return NULL;
  d->readonly = false;
  return tt__compose_set(c, d, tt_v_array(v)) ? out : NULL;
}

static tt_array *diag(tt_composer *c, tt_call_frame *f) {
  tt_array *v = tt__arg_array(c, f, 0);
  int64_t k = tt__arg_int(c, f, 1, 0);
  if (!v) return NULL;
  if (v->rank == 1) return matrix_with(c, v, k);
  if (v->rank == 2) return diagonal_view(c, v, k, 0, 1);
  return tt__compose_fail(c, TT_EVALUE, "Input must be 1- or 2-d.");
}
TT_HANDLER(diag)

static tt_array *diagflat(tt_composer *c, tt_call_frame *f) {
  return matrix_with(c, tt__compose_ravel(c, tt__arg_array(c, f, 0)), tt__arg_int(c, f, 1, 0));
}
TT_HANDLER(diagflat)
