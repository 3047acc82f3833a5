/*
** Histograms in several dimensions: one number per point says which cell it falls in.
*/
#include <string.h>

#include "fn/fn.h"

/* The coordinates of the points, an array for each of *n dimensions: the columns of a matrix, or a list's items. */
static tt_array **coordinates(tt_composer *c, const tt_call_frame *f, int64_t *n) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  if (a->rank > 2) return tt__compose_fail(c, TT_EVALUE, "too many values to unpack (expected 2)"), NULL;
  bool listed = f->arg[0].tag == TT_V_TUPLE && a->rank == 2;
  if (a->dtype == TT_BOOL && !(a = tt__compose_cast(c, a, TT_U8))) return NULL;
  *n = a->rank < 2 ? 1 : tt__array_len(a)[listed ? 0 : 1];
  tt_array **out = tt__compose_scratch(c, *n + 1, sizeof(tt_array *));
  for (int64_t k = 0; out && k < *n; k++)
    if (!(out[k] = tt__compose_ravel(c, a->rank < 2 ? a : tt__compose_slice(c, a, listed ? 0 : 1, k, 1, 1))))
      return NULL;
  return out;
}

static int64_t items(const tt_value *v) {
  if (v->tag == TT_V_TUPLE) return v->as.tuple.n;
  return v->tag == TT_V_ARRAY && v->as.array->rank > 0 ? tt__array_len(v->as.array)[0] : -1;
}

/* What the k-th dimension gets of an argument for all. */
static tt_value of_dimension(tt_composer *c, const tt_value *v, int64_t k, bool one_for_all) {
  if (v->tag == TT_V_TUPLE) return v->as.tuple.item[k];
  if (one_for_all || v->tag != TT_V_ARRAY) return *v;
  tt_value index = tt_v_int(k);
  tt_array *a = tt__compose_get(c, v->as.array, &index);
  return a ? tt_v_array(a) : (tt_value){.tag = TT_V_MISSING};
}

/* The edges along dimension k. */
static tt_array *edges_of(tt_composer *c, const tt_call_frame *f, tt_array *x, int64_t k, int64_t n) {
  static const tt_value ten = {TT_V_INT, {.i = 10}};
  const tt_value *bins = tt__arg_given(f, 1) ? &f->arg[1] : &ten;
  tt_value v[3] = {tt_v_array(x), of_dimension(c, bins, k, items(bins) < 0), {.tag = TT_V_MISSING}};
  if (items(bins) >= 0 && items(bins) != n)
    return tt__compose_fail(c, TT_EVALUE, "The dimension of bins must be equal to the dimension of the sample x.");
  if (tt__arg_given(f, 2)) {
    if (items(&f->arg[2]) != n)
      return tt__compose_fail(c, TT_EVALUE, "range argument must have one entry per dimension");
    v[2] = of_dimension(c, &f->arg[2], k, false);
  }
  if (c->code != TT_OK) return NULL;
  tt_array *b = tt__value_as_array(c, &v[1]);
  if (b && b->rank > 1)
    return tt__compose_fail(c, TT_EVALUE, "`bins[%lld]` must be a scalar or 1d array", (long long)k);
  if (b && b->rank == 0) {
    if (tt__arg_float(c, &(tt_call_frame){.arg = &v[1], .narg = 1}, 0, 0) < 1)
      return tt__compose_fail(c, TT_EVALUE, "`bins[%lld]` must be positive, when an integer", (long long)k);
    v[1] = tt_v_int(tt__arg_int(c, &(tt_call_frame){.arg = &v[1], .narg = 1}, 0, 0));
    tt_dtype type = (tt_dtype)x->dtype; /* of edges between what the data span theirs */
    if (!tt__is_float(type) || x->size == 0 || tt__arg_given(f, 2)) type = TT_F64;
    if (tt__arg_given(f, 2))
      v[0] = tt_v_array(tt__compose_cast(c, x, TT_F64)); /* or the edges are rounded to its type */
    return c->code == TT_OK ? tt__compose_cast(c, tt__fn_call(c, "histogram_bin_edges", v, 3), type) : NULL;
  }
  if (b && b->size == 0) return tt__compose_fail(c, TT_EINDEX, "index -1 is out of bounds for axis 0 with size 0");
  const double *e = b ? tt__compose_peek(c, tt__compose_cast(c, b, TT_F64)) : NULL;
  for (int64_t i = 1; e && i < b->size; i++)
    if (e[i - 1] > e[i])
      return tt__compose_fail(c, TT_EVALUE, "`bins[%lld]` must be monotonically increasing, when an array",
                              (long long)k);
  return b;
}

/* Counts divided by their sum and by the sizes of the cells. */
static tt_array *as_density(tt_composer *c, tt_array *count, tt_array *const *edge, int n) {
  int64_t len[TT_MAX_RANK];
  tt_array *sum = tt__compose_reduce(c, TT_RED_SUM, tt__compose_ravel(c, count), 1, false);
  for (int k = 0; k < n && count && c->code == TT_OK; k++) {
    tt_array *width = tt__fn_call(c, "diff", (tt_value[1]){tt_v_array(edge[k])}, 1);
    for (int d = 0; d < n; d++) len[d] = d == k ? tt__array_len(count)[d] : 1;
    count = width ? tt__compose_op2(c, TT_DIV, count, tt__compose_reshape(c, width, n, len)) : NULL;
  }
  return count && sum ? tt__compose_op2(c, TT_DIV, count, sum) : NULL;
}

/* histogramdd(sample, bins, range, density, weights): counts, then the edges along each dimension. */
static tt_array *histogramdd(tt_composer *c, tt_call_frame *f) {
  int64_t n = 0, cells = 1, len[TT_MAX_RANK];
  tt_array **x = coordinates(c, f, &n), *flat = NULL, *w = NULL;
  bool density = tt__arg_bool(c, f, 3, false);
  if (!x || c->code != TT_OK) return NULL;
  if (n == 0) return tt__compose_fail(c, TT_EVALUE, "object of too small depth for desired array");
  if (n > TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is 64");
  tt_array **edge = tt__compose_scratch(c, n + 1, sizeof(tt_array *));
  for (int64_t k = 0; edge && k < n; k++) {
    if (!(edge[k] = edges_of(c, f, x[k], k, n))) return NULL;
    tt_array *cell = tt__fn_cell(c, tt__compose_cast(c, x[k], TT_F64), tt__compose_cast(c, edge[k], TT_F64));
    len[k] = edge[k]->size;
    if (__builtin_mul_overflow(cells, len[k], &cells)) return tt__compose_fail(c, TT_EVALUE, "array is too big");
    flat = flat ? tt__compose_op2(c, TT_ADD, tt__compose_opi(c, TT_MUL, flat, len[k]), cell) : cell;
    if (!flat) return NULL;
  }
  if (!edge || !flat) return NULL;
  if (tt__arg_given(f, 4)) w = tt__compose_cast(c, tt__arg_array(c, f, 4), TT_F64);
  if (c->code != TT_OK) return NULL;
  tt_value v[3] = {tt_v_array(flat), {.tag = TT_V_MISSING}, tt_v_int(cells)};
  if (w) v[1] = tt_v_array(w);
  tt_array *count = tt__compose_cast(c, tt__fn_call(c, "bincount", v, 3), TT_F64);
  count = count ? tt__compose_reshape(c, count, (int)n, len) : NULL;
  for (int d = 0; d < n && count; d++) count = tt__compose_slice(c, count, d, 0, len[d] - 1, 1);
  count = count ? tt__compose_copy(c, count) : NULL;
  if (density && count) count = as_density(c, count, edge, (int)n);
  bool given = tt__fn_give(c, f, count);
  for (int64_t k = 0; k < n && given; k++) given = tt__fn_give(c, f, edge[k]);
  return NULL;
}
TT_HANDLER(histogramdd)
