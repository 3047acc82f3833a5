/*
** Sorting and searching, by the library's host functions; all but what they find is lazy.
*/
#include <string.h>

#include "fn/fn.h"
#include "graph/session.h"

/* ---- along an axis: the library works on the last one */

/* The array and the axis of a sorting function; None flattens, and rank 0 counts as one axis where places are asked
 * for. */
static tt_array *along(tt_composer *c, const tt_call_frame *f, int k, bool places, int *axis) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->rank == 0 && places) a = tt__compose_ravel(c, a);
  *axis = 0;
  if (!a) return NULL;
  if (k < f->narg && f->arg[k].tag == TT_V_NONE) return tt__compose_ravel(c, a);
  if (a->rank == 0) {
    int64_t asked = tt__arg_int(c, f, k, -1);
    return tt__compose_fail(c, TT_EAXIS, "axis %lld is out of bounds for array of dimension 0", (long long)asked);
  }
  *axis = tt__arg_axis(c, f, k, a->rank, a->rank - 1);
  return c->code == TT_OK ? a : NULL;
}

static tt_array *by_row(tt_composer *c, tt_array *a, int axis, const tt_lib_attr *attr, tt_dtype type) {
  tt_array *m = tt__compose_move(c, a, axis, a->rank - 1);
  if (!m) return NULL;
  tt_array *out = tt__compose_library(c, attr, &m, 1, type, m->rank, tt__array_len(m));
  return out ? tt__compose_move(c, out, out->rank - 1, axis) : NULL;
}

static void check_kind(tt_composer *c, const tt_call_frame *f, int k) {
  const char *s = tt__arg_string(c, f, k, "quick");
  if (!strchr("qhsmQHSM", s[0]) || !s[0])
    tt__compose_fail(c, TT_EVALUE, "sort kind must be one of 'quick', 'heap', or 'stable' (got '%s')", s);
}

static void check_fields(tt_composer *c, const tt_call_frame *f, int k) {
  if (tt__arg_given(f, k)) tt__compose_fail(c, TT_EVALUE, "Cannot specify order when the array has no fields.");
}

static tt_array *sorted(tt_composer *c, tt_call_frame *f, const char *row, bool places) {
  int axis;
  tt_array *a = along(c, f, 1, places, &axis);
  check_kind(c, f, 2);
  check_fields(c, f, 3);
  if (tt__arg_given(f, 2) && tt__arg_given(f, 4))
    tt__compose_fail(c, TT_EVALUE,
                     "`kind` and keyword parameters can't be provided at the same time. Use only one of them.");
  tt_lib_attr attr = {.row = tt__lib_row(row), .i = {tt__arg_bool(c, f, 5, false)}};
  if (!a || c->code != TT_OK) return NULL;
  return by_row(c, a, axis, &attr, places ? TT_I64 : (tt_dtype)a->dtype);
}

static tt_array *sort(tt_composer *c, tt_call_frame *f) { return sorted(c, f, "sort", false); }
static tt_array *argsort(tt_composer *c, tt_call_frame *f) { return sorted(c, f, "argsort", true); }
TT_HANDLER_LAID(sort, 'K')
TT_HANDLER_LAID(argsort, 'C')

/* NumPy's words for places that are no integers: what it would make an array of, an empty list too, is asked. */
static bool are_places(tt_composer *c, const tt_value *v) {
  bool bools = v->tag == TT_V_BOOL || (v->tag == TT_V_ARRAY && v->as.array->dtype == TT_BOOL), others = false;
  if (v->tag == TT_V_ARRAY) others = !bools && !tt__is_int((tt_dtype)v->as.array->dtype);
  if (v->tag == TT_V_TUPLE) {
    int64_t n = v->as.tuple.n, true_or_false = 0;
    for (int64_t i = 0; i < n; i++) true_or_false += v->as.tuple.item[i].tag == TT_V_BOOL;
    bools = n > 0 && true_or_false == n;
    others = n == 0;
  }
  if (bools) tt__compose_fail(c, TT_EVALUE, "Booleans unacceptable as partition index");
  if (others || v->tag == TT_V_FLOAT) tt__compose_fail(c, TT_ETYPE, "Partition index must be integer");
  return c->code == TT_OK;
}

/* The places kth of a partition, in range. */
static int kth_of(tt_composer *c, const tt_call_frame *f, int64_t n, int64_t *kth, int most) {
  if (c->code != TT_OK || !are_places(c, &f->arg[1])) return 0;
  if (f->arg[1].tag == TT_V_ARRAY && f->arg[1].as.array->rank > 1)
    return tt__compose_fail(c, TT_EVALUE, "kth must be at most 1-D"), 0;
  int count = tt__arg_ints(c, f, 1, kth, most);
  for (int i = 0; i < count && c->code == TT_OK; i++) {
    if (kth[i] < 0) kth[i] += n;
    if (n > 0 && (kth[i] < 0 || kth[i] >= n))
      tt__compose_fail(c, TT_EVALUE, "kth(=%lld) out of bounds (%lld)", (long long)kth[i], (long long)n);
  }
  return c->code == TT_OK ? count : 0;
}

/* Few places are selected; for many, and for places in an order, everything is sorted: that is a partition too. */
static tt_array *partition_by(tt_composer *c, tt_call_frame *f, bool places) {
  enum { MOST = 1024, FEW = 7 };
  int axis;
  int64_t kth[MOST];
  tt_array *a = along(c, f, 2, places, &axis);
  if (!a) return NULL;
  int count = kth_of(c, f, a->size ? tt__array_len(a)[axis] : 0, kth, MOST);
  const char *kind = tt__arg_string(c, f, 3, "introselect");
  check_fields(c, f, 4);
  if (strcmp(kind, "introselect") != 0)
    tt__compose_fail(c, TT_EVALUE, "select kind must be 'introselect' (got '%s')", kind);
  if (c->code != TT_OK) return NULL;
  static const char *const row[2][2] = {{"sort", "argsort"}, {"select", "argselect"}};
  tt_lib_attr attr = {.row = tt__lib_row(row[count <= FEW][places])};
  if (count <= FEW) {
    attr.i[0] = count;
    memcpy(attr.i + 1, kth, sizeof *kth * (size_t)count);
  }
  if (a->size == 0) return tt__compose_empty(c, places ? TT_I64 : (tt_dtype)a->dtype, a->rank, a->dim);
  return by_row(c, a, axis, &attr, places ? TT_I64 : (tt_dtype)a->dtype);
}

static tt_array *partition(tt_composer *c, tt_call_frame *f) { return partition_by(c, f, false); }
static tt_array *argpartition(tt_composer *c, tt_call_frame *f) { return partition_by(c, f, true); }
TT_HANDLER_LAID(partition, 'K')
TT_HANDLER_LAID(argpartition, 'C')

/* keys: arrays of one shape, the last one counts first. */
static tt_array *lexsort(tt_composer *c, tt_call_frame *f) {
  int64_t n;
  tt_array **key = tt__arg_arrays(c, f, 0, &n);
  tt_value *v = tt__compose_scratch(c, n, sizeof *v);
  if (!key || !v) return NULL;
  if (n == 0) return tt__compose_fail(c, TT_ETYPE, "need sequence of keys with len > 0 in lexsort");
  int rank = key[0]->rank;
  for (int64_t i = 0; i < n; i++) {
    v[i] = tt_v_array(key[i]);
    if (key[i]->rank != rank ||
        memcmp(tt__array_len(key[i]), tt__array_len(key[0]), sizeof(int64_t) * (size_t)rank) != 0)
      return tt__compose_fail(c, TT_EVALUE, "all keys need to be the same shape");
  }
  int64_t at = tt__arg_int(c, f, 1, -1);
  int axis = 0;
  if (c->code != TT_OK) return NULL;
  if (rank == 0 && (at == 0 || at == -1)) return tt__compose_full(c, TT_I64, 0, NULL, tt_v_int(0));
  if ((c->code = tt__shape_axis(at, rank, &axis, c->err)) != TT_OK) return NULL;
  tt_dtype type;
  if (c->code != TT_OK || (c->code = tt__result_type(v, (int)n, &type, c->err)) != TT_OK) return NULL;
  for (int64_t i = 0; i < n; i++) {
    key[i] = tt__compose_expand(c, tt__compose_cast(c, tt__compose_move(c, key[i], axis, rank - 1), type), 0);
    if (!key[i]) return NULL;
  }
  int64_t len[TT_MAX_RANK];
  memcpy(len, tt__array_len(key[0]) + 1, sizeof *len * (size_t)rank);
  int64_t cube[3] = {n, len[rank - 1] ? key[0]->size / len[rank - 1] : 0, len[rank - 1]};
  tt_array *keys = tt__compose_reshape(c, tt__compose_concat(c, key, n, 0), 3, cube);
  tt_lib_attr attr = {.row = tt__lib_row("lexsort")};
  tt_array *out = tt__compose_library(c, &attr, &keys, 1, TT_I64, rank, len);
  return out ? tt__compose_move(c, out, rank - 1, axis) : NULL;
}
TT_HANDLER(lexsort)

/* ---- searching */

static tt_array *search(tt_composer *c, tt_array *in, tt_array *what, bool right) {
  if (!in || !what) return NULL;
  tt_dtype type = tt__promote((tt_dtype)in->dtype, (tt_dtype)what->dtype);
  tt_array *src[2] = {tt__compose_cast(c, in, type), tt__compose_cast(c, what, type)};
  tt_lib_attr attr = {.row = tt__lib_row("searchsorted"), .i = {right}};
  if (!src[0] || !src[1]) return NULL;
  return tt__compose_library(c, &attr, src, 2, TT_I64, what->rank, tt__array_len(what));
}

static tt_array *searchsorted(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *v = tt__arg_array(c, f, 1);
  const char *side = tt__arg_string(c, f, 2, "left");
  if (!a || !v || c->code != TT_OK) return NULL;
  if (strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
    return tt__compose_fail(c, TT_EVALUE, "search side must be 'left' or 'right' (got '%s')", side);
  if (a->rank > 1) return tt__compose_fail(c, TT_EVALUE, "object too deep for desired array");
  if (a->rank == 0) return tt__compose_fail(c, TT_EVALUE, "object of too small depth for desired array");
  if (tt__arg_given(f, 3)) {
    tt_array *order = tt__arg_array(c, f, 3);
    if (!order) return NULL;
    if (!tt__is_int((tt_dtype)order->dtype)) return tt__compose_fail(c, TT_ETYPE, "sorter must only contain integers");
    if (order->rank != 1 || order->size != a->size)
      return tt__compose_fail(c, TT_EVALUE, "sorter.size must equal a.size");
    a = tt__compose_take(c, a, order, 0);
  }
  return search(c, a, v, side[0] == 'r');
}
TT_HANDLER(searchsorted)

static tt_array *digitize(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *bins = tt__arg_array(c, f, 1);
  bool right = tt__arg_bool(c, f, 2, false);
  if (!x || !bins) return NULL;
  if (tt__is_complex((tt_dtype)x->dtype)) return tt__compose_fail(c, TT_ETYPE, "x may not be complex");
  if (bins->rank != 1)
    return tt__compose_fail(c, TT_EVALUE, "object %s for desired array",
                            bins->rank ? "too deep" : "of too small depth");
  const double *edge = tt__compose_peek(c, tt__compose_cast(c, bins, TT_F64));
  int64_t i = 1; /* the first two that differ decide the direction, as in NumPy, where NaN is neither less nor more */
  while (edge && i < bins->size && edge[i] == edge[i - 1]) i++;
  bool up = !edge || i >= bins->size || edge[i] > edge[i - 1], ordered = true;
  for (; edge && i < bins->size; i++) ordered &= up ? !(edge[i] < edge[i - 1]) : !(edge[i] > edge[i - 1]);
  if (!ordered) return tt__compose_fail(c, TT_EVALUE, "bins must be monotonically increasing or decreasing");
  if (up) return search(c, bins, x, !right);
  tt_array *back = search(c, tt__compose_flip(c, bins, 0), x, !right);
  return back ? tt__compose_apply(c, TT_SUB, (tt_value[2]){tt_v_int(bins->size), tt_v_array(back)}, 2, TT_DTYPE_NONE)
              : NULL;
}
TT_HANDLER(digitize)

/* ---- membership */

enum {
  TABLE_FROM = 16384, /* elements on both sides, from where on a table is asked for */
  TABLE_RATE = 6      /* places of it for each element: NumPy's bound */
};

/* The ends of what whole numbers of at most 64 bits with a sign there are; false: a failure, or a range too large. */
static bool find_ends(tt_composer *c, tt_array *a, int64_t most, int64_t *low, int64_t *n) {
  tt_array *end[2] = {tt__compose_reduce(c, TT_RED_MIN, a, 1, false), tt__compose_reduce(c, TT_RED_MAX, a, 1, false)};
  if (!end[0] || !end[1] || !tt__compose_settle(c, end, 2)) return false;
  const int64_t *first = tt__compose_peek(c, end[0]), *last = tt__compose_peek(c, end[1]);
  if (!first || !last || (uint64_t)*last - (uint64_t)*first >= (uint64_t)most) return false;
  *low = *first;
  *n = *last - *first + 1;
  return true;
}

/*
** Whole numbers of a small range: a table of those that are there, looked up. NULL without an error: their range is too
** large, or nothing may be computed yet.
*/
static tt_array *isin_table(tt_composer *c, tt_array *a, tt_array *test, bool invert) {
  int64_t low, n, size = a->size + test->size;
  if (size < TABLE_FROM || tt__session_defer) return NULL;
  a = tt__compose_cast(c, a, TT_I64);
  test = tt__compose_cast(c, test, TT_I64);
  if (!a || !test || !find_ends(c, test, TABLE_RATE * size, &low, &n)) return NULL;
  tt_array *there = tt__compose_full(c, TT_BOOL, 1, &n, tt_v_int(0));
  tt_node *at = tt__compose_node(c, tt__compose_opi(c, TT_SUB, test, low));
  tt_node *yes = tt__compose_node(c, tt__compose_full(c, TT_BOOL, 1, &test->size, tt_v_int(1)));
  if (there && at && yes) c->code = tt__array_scatter(there, at, yes, c->err);
  tt__node_release(at);
  tt__node_release(yes);
  tt_array *place = tt__compose_opi(c, TT_SUB, a, low);
  tt_array *near = tt__compose_opi(c, TT_MAXIMUM, tt__compose_opi(c, TT_MINIMUM, place, n - 1), 0);
  tt_array *found =
      tt__compose_op2(c, TT_AND, tt__compose_gather(c, there, near), tt__compose_op2(c, TT_EQ, near, place));
  return invert ? tt__compose_op1(c, TT_NOT, found) : found;
}

/* Is the element at its place in the sorted test elements its equal? */
static bool is_counted(const tt_array *a) { return tt__is_int((tt_dtype)a->dtype) || a->dtype == TT_BOOL; }

static tt_array *isin(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *test = tt__compose_ravel(c, tt__arg_array(c, f, 1));
  bool invert = tt__arg_bool(c, f, 3, false);
  if (!a || !test) return NULL;
  if (strcmp(tt__arg_string(c, f, 4, ""), "table") == 0 && !(is_counted(a) && is_counted(test)))
    return tt__compose_fail(c, TT_EVALUE,
                            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' "
                            "or None for kind.");
  if (test->size == 0 || a->size == 0) return tt__compose_full(c, TT_BOOL, a->rank, tt__array_len(a), tt_v_int(invert));
  tt_dtype type = tt__promote((tt_dtype)a->dtype, (tt_dtype)test->dtype);
  a = tt__compose_cast(c, a, type);
  test = tt__compose_cast(c, test, type);
  tt_array *found = tt__is_int(type) && type != TT_U64 && a && test ? isin_table(c, a, test, invert) : NULL;
  if (found || c->code != TT_OK) return found;
  tt_lib_attr attr = {.row = tt__lib_row("sort")};
  test = test ? by_row(c, test, 0, &attr, type) : NULL;
  tt_array *at = tt__compose_opi(c, TT_MINIMUM, search(c, test, a, false), test ? test->size - 1 : 0);
  return tt__compose_op2(c, invert ? TT_NE : TT_EQ, tt__compose_gather(c, test, at), a);
}
TT_HANDLER(isin)

/* ---- distinct elements */

enum { INDEX = 1, INVERSE = 2, COUNTS = 4 };

/* Give back the results that are wanted, in NumPy's order. */
static void give_unique(tt_composer *c, tt_call_frame *f, int want, tt_array *const *out) {
  f->tuple = want != 0;
  tt__fn_give(c, f, out[0]);
  for (int k = 1; k < 4; k++)
    if (want & (1 << (k - 1))) tt__fn_give(c, f, out[k]);
}

static void unique_of(tt_composer *c, tt_call_frame *f, tt_array *a, int want, bool equal_nan) {
  tt_lib_attr attr = {.i = {want, equal_nan}};
  tt_array *out[4];
  if (!a || !tt__compose_make(c, "unique", &attr, &a, 1, out)) return;
  if (want & INVERSE) out[2] = tt__compose_reshape(c, out[2], a->rank, tt__array_len(a));
  give_unique(c, f, want, out);
}

/* Rows in order, with the places of the first of each kind. */
typedef struct rows {
  tt_array *all, *order, *is_first, *first;
} rows;

static bool sort_rows(tt_composer *c, tt_array *m, rows *r) {
  int64_t n = tt__array_len(m)[0], keys = tt__array_len(m)[1], cube[3] = {keys, 1, n};
  if (n == 0 || keys == 0) {
    r->order = tt__compose_iota(c, n);
  } else { /* the first column counts first: lexsort takes it last */
    tt_array *key = tt__compose_reshape(c, tt__compose_flip(c, tt__compose_transpose(c, m, NULL), 0), 3, cube);
    tt_lib_attr attr = {.row = tt__lib_row("lexsort")};
    r->order = key ? tt__compose_library(c, &attr, &key, 1, TT_I64, 1, &n) : NULL;
  }
  r->all = tt__compose_take(c, m, r->order, 0);
  r->is_first = tt__compose_full(c, TT_BOOL, 1, &n, tt_v_int(1));
  if (!r->all || !r->is_first) return false;
  if (n > 1) {
    tt_array *differs = tt__compose_op2(c, TT_NE, tt__compose_slice(c, r->all, 0, 1, n - 1, 1),
                                        tt__compose_slice(c, r->all, 0, 0, n - 1, 1));
    differs = tt__compose_reduce(c, TT_RED_ANY, differs, 2, false);
    if (!differs || !tt__compose_set(c, tt__compose_slice(c, r->is_first, 0, 1, n - 1, 1), tt_v_array(differs)))
      return false;
  }
  tt_lib_attr none = {0};
  return tt__compose_make(c, "nonzero", &none, &r->is_first, 1, &r->first);
}

static void unique_along(tt_composer *c, tt_call_frame *f, tt_array *a, int axis, int want) {
  a = tt__compose_move(c, a, axis, 0);
  if (!a) return;
  int64_t n = tt__array_len(a)[0], flat[2] = {n, n ? a->size / n : 0}, len[TT_MAX_RANK];
  rows r;
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  tt_array *m = tt__compose_reshape(c, a, 2, flat), *out[4] = {NULL};
  if (!m || !sort_rows(c, m, &r)) return;
  len[0] = r.first->size;
  out[0] = tt__compose_reshape(c, tt__compose_take(c, r.all, r.first, 0), a->rank, len);
  out[0] = out[0] ? tt__compose_move(c, out[0], 0, axis) : NULL;
  out[1] = tt__compose_take(c, r.order, r.first, 0);
  if (want & INVERSE) {
    tt_lib_attr scan = {.row = tt__lib_row("scan"), .i = {0, n, 1}};
    tt_array *wide = tt__compose_cast(c, r.is_first, TT_I64);
    tt_array *kind =
        wide ? tt__compose_opi(c, TT_SUB, tt__compose_library(c, &scan, &wide, 1, TT_I64, 1, &n), 1) : NULL;
    out[2] = tt__compose_empty(c, TT_I64, 1, &n);
    if (!kind || !out[2]) return;
    tt_value at = tt_v_array(r.order), v = tt_v_array(kind);
    if ((c->code = tt__set(out[2], &at, &v, c->err)) != TT_OK) return;
  }
  if (want & COUNTS) {
    tt_array *end = tt__compose_full(c, TT_I64, 1, (int64_t[1]){1}, tt_v_int(n)), *part[2] = {r.first, end};
    tt_array *cut = end ? tt__compose_concat(c, part, 2, 0) : NULL;
    out[3] = tt__compose_op2(c, TT_SUB, tt__compose_slice(c, cut, 0, 1, r.first->size, 1), r.first);
  }
  give_unique(c, f, want, out);
}

static tt_array *unique(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  int want = (tt__arg_bool(c, f, 1, false) ? INDEX : 0) | (tt__arg_bool(c, f, 2, false) ? INVERSE : 0) |
             (tt__arg_bool(c, f, 3, false) ? COUNTS : 0);
  bool equal_nan = tt__arg_bool(c, f, 5, true);
  if (!a || c->code != TT_OK) return NULL;
  if (!tt__arg_given(f, 4)) {
    unique_of(c, f, a, want, equal_nan);
    return NULL;
  }
  int axis = tt__arg_axis(c, f, 4, a->rank, 0);
  if (c->code != TT_OK) return NULL;
  if (a->rank == 1)
    unique_of(c, f, a, want, equal_nan);
  else
    unique_along(c, f, a, axis, want);
  return NULL;
}
TT_HANDLER(unique)

static tt_array *unique_fixed(tt_composer *c, tt_call_frame *f, int want) {
  unique_of(c, f, tt__arg_array(c, f, 0), want, false);
  return NULL;
}

static tt_array *unique_values(tt_composer *c, tt_call_frame *f) { return unique_fixed(c, f, 0); }
static tt_array *unique_counts(tt_composer *c, tt_call_frame *f) { return unique_fixed(c, f, COUNTS); }
static tt_array *unique_inverse(tt_composer *c, tt_call_frame *f) { return unique_fixed(c, f, INVERSE); }
static tt_array *unique_all(tt_composer *c, tt_call_frame *f) { return unique_fixed(c, f, INDEX | INVERSE | COUNTS); }
TT_HANDLER(unique_values)
TT_HANDLER(unique_counts)
TT_HANDLER(unique_inverse)
TT_HANDLER(unique_all)
