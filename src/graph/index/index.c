/*
** a[index] and a[index] = value. Integers, slices, None and Ellipsis make views; integer and boolean arrays become
** flat positions for GATHER and SCATTER. It must not compute positions itself (index/fancy.c).
*/

#include "graph/host.h"
#include "graph/index/index_int.h"
#include "graph/eager/eager.h"
#include "graph/eager/number.h"
#include "graph/session.h"
#include "graph/tape.h"

/* ---- taking an index apart */

static tt_code fail_kind(tt_error *err) {
  return tt__fail(
      err, TT_EINDEX,
      "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
      "valid indices");
}

/* An integer or bool that came as an array of rank 0 is looked at. */
static tt_code parse_array(tt_subscript *x, tt_array *a, tt_index_item *item, tt_error *err) {
  bool is_bool = a->dtype == TT_BOOL;
  if (!is_bool && !tt__is_int((tt_dtype)a->dtype))
    return tt__fail(err, TT_EINDEX, "arrays used as indices must be of integer (or boolean) type");
  if (a->rank > 0) {
    item->kind = is_bool ? TT_INDEX_MASK : TT_INDEX_ARRAY;
    item->array = a;
    x->fancy = true;
    return TT_OK;
  }
  const void *data;
  tt_buffer *hold;
  TT_TRY(tt__array_peek_dense(a, &data, &hold, err));
  tt_value v = tt__scalar_load((tt_dtype)a->dtype, data);
  tt__buffer_release(hold);
  item->kind = is_bool ? TT_INDEX_BOOL : TT_INDEX_INT;
  item->value = is_bool ? v.as.b : v.tag == TT_V_UINT ? INT64_MAX : v.as.i;
  if (is_bool)
    x->fancy = true;
  else
    x->detached = true;
  return TT_OK;
}

static tt_code parse_item(tt_subscript *x, const tt_value *v, tt_error *err) {
  if (x->n == TT_INDEX_ITEMS) return tt__fail(err, TT_EINDEX, "too many indices for array");
  tt_index_item *item = &x->item[x->n++];
  *item = (tt_index_item){.kind = TT_INDEX_INT};
  switch (v->tag) {
    case TT_V_INT:
      item->value = v->as.i;
      return TT_OK;
    case TT_V_UINT:
      item->value = INT64_MAX;
      return TT_OK; /* out of range for any axis */
    case TT_V_NONE:
      item->kind = TT_INDEX_NEW;
      return TT_OK;
    case TT_V_SLICE:
      item->kind = TT_INDEX_SLICE;
      item->slice = v;
      return TT_OK;
    case TT_V_ELLIPSIS:
      if (x->has_rest) return tt__fail(err, TT_EINDEX, "an index can only have a single ellipsis ('...')");
      item->kind = TT_INDEX_REST;
      x->has_rest = true;
      return TT_OK;
    case TT_V_BOOL:
      item->kind = TT_INDEX_BOOL;
      item->value = v->as.b;
      x->fancy = true;
      return TT_OK;
    case TT_V_ARRAY:
      return v->as.array ? parse_array(x, v->as.array, item, err) : fail_kind(err);
    default:
      return fail_kind(err);
  }
}

static int axes_of(const tt_index_item *item) {
  switch (item->kind) {
    case TT_INDEX_NEW:
    case TT_INDEX_REST:
    case TT_INDEX_BOOL:
      return 0;
    case TT_INDEX_MASK:
      return item->array->rank;
    default:
      return 1;
  }
}

/* ---- slices, Python's way */

static int64_t clip(int64_t i, int64_t len, bool backward) {
  if (i < 0) i += len; /* len >= 0: no overflow */
  int64_t least = backward ? -1 : 0, most = backward ? len - 1 : len;
  return i < least ? least : i > most ? most : i;
}

static tt_code resolve_slice(const tt_value *v, int64_t len, int64_t *start, int64_t *count, int64_t *step,
                             tt_error *err) {
  *step = v->as.slice.has_step ? v->as.slice.step : 1;
  if (*step == 0) return tt__fail(err, TT_EVALUE, "slice step cannot be zero");
  if (*step == INT64_MIN) *step = -INT64_MAX;
  bool back = *step < 0;
  *start = v->as.slice.has_start ? clip(v->as.slice.start, len, back) : back ? len - 1 : 0;
  int64_t stop = v->as.slice.has_stop ? clip(v->as.slice.stop, len, back) : back ? -1 : len;
  int64_t far = back ? *start - stop : stop - *start, stride = back ? -*step : *step;
  *count = far > 0 ? (far - 1) / stride + 1 : 0;
  return TT_OK;
}

/* ---- from items to axes */

static tt_code add_axis(tt_subscript *x, int64_t len, int64_t step, tt_error *err) {
  if (x->rank == TT_MAX_RANK)
    return tt__fail(err, TT_EINDEX, "number of dimensions must be within [0, %d], indexing result would have %d",
                    TT_MAX_RANK, TT_MAX_RANK + 1);
  x->len[x->rank] = len;
  x->step[x->rank++] = step;
  return TT_OK;
}

static tt_code place(tt_subscript *x, tt_index_item *item, int rest, tt_error *err) {
  tt_array *a = x->a;
  const int64_t *step = tt__array_step(a);
  switch (item->kind) {
    case TT_INDEX_NEW:
      return add_axis(x, 1, 0, err);
    case TT_INDEX_REST:
      for (int k = item->axis; k < item->axis + rest; k++) TT_TRY(add_axis(x, a->dim[k], step[k], err));
      return TT_OK;
    case TT_INDEX_SLICE: {
      int64_t start = 0, count = 0, by = 1;
      TT_TRY(resolve_slice(item->slice, a->dim[item->axis], &start, &count, &by, err));
      if (count > 0) x->off += start * step[item->axis];
      return add_axis(x, count, count > 1 ? by * step[item->axis] : step[item->axis], err);
    }
    case TT_INDEX_INT: {
      int64_t len = a->dim[item->axis], i = item->value;
      if (i < -len || i >= len)
        return tt__fail(err, TT_EINDEX, "index %lld is out of bounds for axis %d with size %lld", (long long)i,
                        item->axis, (long long)len);
      x->off += (i < 0 ? i + len : i) * step[item->axis];
      return TT_OK;
    }
    default:
      return TT_OK;
  }
}

/* Where the fancy axes go: in the place of the fancy items (integers among them) when those are neighbours, else in
 * front. */
static bool joins_fancy(const tt_index_item *item) {
  return item->kind != TT_INDEX_NEW && item->kind != TT_INDEX_REST && item->kind != TT_INDEX_SLICE;
}

/* A mask without elements fits whatever it is laid on, as in NumPy. */
static tt_code check_mask(const tt_subscript *x, const tt_index_item *item, tt_error *err) {
  for (int k = 0; k < item->array->rank; k++)
    if (item->array->dim[k] != 0 && item->array->dim[k] != x->a->dim[item->axis + k])
      return tt__fail(err, TT_EINDEX,
                      "boolean index did not match indexed array along axis %d; size of axis is %lld but size of "
                      "corresponding boolean axis is %lld",
                      item->axis + k, (long long)x->a->dim[item->axis + k], (long long)item->array->dim[k]);
  return TT_OK;
}

static tt_code place_all(tt_subscript *x, int rest, tt_error *err) {
  int axis = 0;
  enum { BEFORE, INSIDE, AFTER, APART } state = BEFORE;
  x->off = x->a->off;
  for (int k = 0; k < x->n; k++) {
    tt_index_item *item = &x->item[k];
    item->axis = axis;
    axis += item->kind == TT_INDEX_REST ? rest : axes_of(item);
    if (item->kind == TT_INDEX_MASK) TT_TRY(check_mask(x, item, err));
  }
  for (int k = 0; k < x->n; k++) {
    tt_index_item *item = &x->item[k];
    if (joins_fancy(item)) {
      if (state == BEFORE) x->at = x->rank;
      state = state == BEFORE || state == INSIDE ? INSIDE : APART;
    } else if (state == INSIDE) {
      state = AFTER;
    }
    TT_TRY(place(x, item, rest, err));
  }
  if (state == APART) x->at = 0;
  return TT_OK;
}

/* The axes that an ellipsis before these items stands for. */
static int rest_of(const tt_array *a, int axis, const tt_value *item, int64_t n) {
  for (int64_t k = 0; k < n; k++) axis += item[k].tag == TT_V_INT || item[k].tag == TT_V_SLICE;
  return a->rank - axis;
}

/* What one item leaves of the array from `*axis` on, `left` items behind it. False: see parse_plain. */
static inline bool plain_item(tt_subscript *x, const tt_value *v, int64_t left, int *axis) {
  const tt_array *a = x->a;
  const int64_t *step = tt__array_step((tt_array *)a);
  int64_t start = 0, count = 0, by = 1;
  int rest = 0;
  switch (v->tag) {
    case TT_V_INT:
      if (*axis == a->rank || v->as.i < -a->dim[*axis] || v->as.i >= a->dim[*axis]) return false;
      x->off += (v->as.i < 0 ? v->as.i + a->dim[*axis] : v->as.i) * step[*axis];
      ++*axis;
      return true;
    case TT_V_SLICE:
      if (*axis == a->rank || x->rank == TT_MAX_RANK) return false;
      if (resolve_slice(v, a->dim[*axis], &start, &count, &by, NULL) != TT_OK) return false;
      if (count > 0) x->off += start * step[*axis];
      x->len[x->rank] = count;
      x->step[x->rank++] = count > 1 ? by * step[*axis] : step[*axis];
      ++*axis;
      return true;
    case TT_V_NONE:
      if (x->rank == TT_MAX_RANK) return false;
      x->len[x->rank] = 1;
      x->step[x->rank++] = 0;
      return true;
    case TT_V_ELLIPSIS:
      rest = rest_of(a, *axis, v + 1, left);
      if (x->has_rest || rest < 0 || x->rank + rest > TT_MAX_RANK) return false;
      for (x->has_rest = true; rest-- > 0; ++*axis) {
        x->len[x->rank] = a->dim[*axis];
        x->step[x->rank++] = step[*axis];
      }
      return true;
    default:
      return false;
  }
}

/* Integers, slices, None and one ellipsis, in one walk: most indices. False: any other, or one that is wrong. */
static bool parse_plain(tt_subscript *x, const tt_value *index) {
  bool many = index->tag == TT_V_TUPLE;
  const tt_value *item = many ? index->as.tuple.item : index;
  int64_t n = many ? index->as.tuple.n : 1;
  const int64_t *step = tt__array_step(x->a);
  int axis = 0;
  x->off = x->a->off;
  for (int64_t k = 0; k < n; k++)
    if (!plain_item(x, &item[k], n - k - 1, &axis)) return false;
  if (x->rank + x->a->rank - axis > TT_MAX_RANK) return false;
  for (; axis < x->a->rank; axis++) {
    x->len[x->rank] = x->a->dim[axis];
    x->step[x->rank++] = step[axis];
  }
  return true;
}

static tt_code parse(tt_array *a, const tt_value *index, tt_subscript *x, tt_error *err) {
  x->a = a;
  x->n = x->rank = x->at = 0;
  x->fancy = x->has_rest = x->detached = false;
  if (parse_plain(x, index)) return TT_OK;
  x->rank = 0;
  x->has_rest = false;
  if (index->tag == TT_V_TUPLE) {
    for (int64_t k = 0; k < index->as.tuple.n; k++) TT_TRY(parse_item(x, &index->as.tuple.item[k], err));
  } else {
    TT_TRY(parse_item(x, index, err));
  }
  int used = 0;
  for (int k = 0; k < x->n; k++) used += axes_of(&x->item[k]);
  if (used > a->rank)
    return tt__fail(err, TT_EINDEX, "too many indices for array: array is %d-dimensional, but %d were indexed", a->rank,
                    used);
  if (!x->has_rest && used < a->rank) {
    if (x->n == TT_INDEX_ITEMS) return tt__fail(err, TT_EINDEX, "too many indices for array");
    x->item[x->n++] = (tt_index_item){.kind = TT_INDEX_REST};
  }
  return place_all(x, a->rank - used, err);
}

/* ---- reading */

/* A single element is a value of its own, as NumPy's scalars are. If it lies in memory it is taken now: a node
   that waits for it would keep the whole array's old value alive. */
static tt_code get_element(const tt_array *a, int64_t off, tt_array **out, tt_error *err) {
  tt_node *whole = a->storage->node, *n;
  tt_scalar s;
  if (!tt__is_taped(whole) && tt__eager_element(whole, off, &s))
    n = tt__node_const((tt_dtype)a->dtype, s, 0, NULL, err);
  else
    n = tt__node_view(whole, 0, NULL, NULL, off, err);
  *out = n ? tt__array_of(n, err) : NULL;
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

/* a[k] of one axis, a[i, j] of two: the indices of most loops. Where it is; false: any other, or out of range. */
static bool find_element(tt_array *a, const tt_value *index, int64_t *off) {
  bool many = index->tag == TT_V_TUPLE;
  const tt_value *item = many ? index->as.tuple.item : index;
  int64_t at[TT_MAX_RANK];
  if (a->rank != (many ? index->as.tuple.n : 1) || a->rank == 0) return false;
  for (int k = 0; k < a->rank; k++) {
    if (item[k].tag != TT_V_INT) return false;
    at[k] = item[k].as.i;
  }
  return tt__number_find(a, a->rank, at, off);
}

tt_code tt__get_item(tt_array *a, const tt_value *index, tt_value *out, tt_error *err) {
  int64_t off;
  tt_scalar s;
  tt_array *one;
  if (find_element(a, index, &off) && tt__eager_element(a->storage->node, off, &s)) {
    *out = tt__scalar_load((tt_dtype)a->dtype, &s);
    return TT_OK;
  }
  TT_TRY(tt__get(a, index, &one, err));
  tt_code code = tt__item(one, out, err);
  tt__array_release(one);
  return code;
}

/* The one mask of an index like a[mask] or a[mask, ...], or NULL. */
static tt_array *lone_mask(const tt_subscript *x) {
  if (x->n == 0 || x->item[0].kind != TT_INDEX_MASK) return NULL;
  for (int k = 1; k < x->n; k++)
    if (x->item[k].kind != TT_INDEX_REST) return NULL;
  return x->item[0].array;
}

tt_code tt__get(tt_array *a, const tt_value *index, tt_array **out, tt_error *err) {
  tt_subscript x;
  int64_t off;
  *out = NULL;
  if (find_element(a, index, &off)) return get_element(a, off, out, err);
  TT_TRY(parse(a, index, &x, err));
  if (!x.fancy) {
    if (x.rank == 0 && !x.has_rest) return get_element(a, x.off, out, err);
    tt_array *view = tt__array_view(a, x.rank, x.len, x.step, x.off, err);
    if (!view) return TT_ENOMEM;
    if (!x.detached) {
      *out = view;
      return TT_OK;
    }
    tt_code code = tt__copy(view, out, err);
    tt__array_release(view);
    return code;
  }
  tt_array *mask = lone_mask(&x);
  tt_code code = mask ? tt__index_pick(a, mask, out, err) : TT_ENOTIMPL;
  if (code != TT_ENOTIMPL) return code;
  tt_node *flat, *n = tt__index_few_read(&x);
  if (n) {
    *out = tt__array_of(n, err);
    tt__node_release(n);
    return *out ? TT_OK : TT_ENOMEM;
  }
  TT_TRY(tt__index_flat(&x, &flat, err));
  n = tt__node_gather(a->storage->node, flat, err);
  tt__node_release(flat);
  *out = n ? tt__array_of(n, err) : NULL;
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

/* ---- writing */

/* What is assigned: a node of the value's own shape (without leading axes of length 1 that the target lacks), in the
 * target's type. */
static tt_code value_node(const tt_array *a, const tt_value *v, int rank, const int64_t *len, const char *words,
                          bool strip, tt_node **out, tt_error *err) {
  *out = NULL;
  if (v->tag != TT_V_ARRAY || !v->as.array) {
    tt_scalar s;
    TT_TRY(tt__value_scalar(v, (tt_dtype)a->dtype, &s, err));
    *out = tt__node_const((tt_dtype)a->dtype, s, rank, len, err);
    return *out ? TT_OK : TT_ENOMEM;
  }
  tt_array *from = v->as.array;
  int64_t step[TT_MAX_RANK];
  int lead = rank - from->rank;
  bool fits = true;
  for (int k = 0; k < -lead; k++) fits &= from->dim[k] == 1;
  for (int k = 0; k < rank && fits; k++) {
    int64_t have = k < lead ? 1 : from->dim[k - lead];
    step[k] = have == 1 ? 0 : tt__array_step(from)[k - lead];
    fits = have == 1 || have == len[k];
  }
  if (!fits) { /* for views NumPy names the shape without leading ones that the target has no axis for */
    char have[256], want[256];
    int skip = 0;
    while (strip && from->rank - skip > rank && from->dim[skip] == 1) skip++;
    tt__shape_text(from->rank - skip, from->dim + skip, have, sizeof have);
    tt__shape_text(rank, len, want, sizeof want);
    return tt__fail(err, TT_EVALUE, words, have, want);
  }
  bool same = lead == 0 && tt__shape_same(rank, from->dim, len);
  tt_node *n = same ? tt__array_node(from, err) : tt__node_view(from->storage->node, rank, len, step, from->off, err);
  *out = tt__node_take_cast(n, (tt_dtype)a->dtype, err);
  return *out ? TT_OK : TT_ENOMEM;
}

/* Is the value the very view that is written? x[i] += y ends with x[i] = x[i]. */
static bool is_itself(const tt_subscript *x, const tt_value *v) {
  tt_array *from = v->tag == TT_V_ARRAY ? v->as.array : NULL;
  if (!from || from->storage != x->a->storage || from->dtype != x->a->dtype) return false;
  if (from->off != x->off || from->rank != x->rank) return false;
  for (int k = 0; k < x->rank; k++) {
    int64_t step = tt__array_step(from)[k];
    if (from->dim[k] != x->len[k] || step != x->step[k] || step == 0) return false;
  }
  return true;
}

static tt_code set_view(const tt_subscript *x, const tt_value *value, tt_error *err) {
  static const char words[] = "could not broadcast input array from shape %s into shape %s";
  tt_node *n;
  if (x->rank == 0 && !x->has_rest && value->tag == TT_V_ARRAY && value->as.array->rank > 0) {
    if (tt__is_complex(x->a->dtype)) /* NumPy asks for complex(value) there */
      return tt__fail(err, TT_ETYPE, "only 0-dimensional arrays can be converted to Python scalars");
    return tt__fail(err, TT_EVALUE, "setting an array element with a sequence.");
  }
  if (is_itself(x, value)) return TT_OK;
  tt_written part = {.s = x->a->storage, .rank = x->rank, .len = x->len, .step = x->step, .off = x->off};
  if (tt__eager_write(&part, value)) return TT_OK;
  tt_array *view = tt__array_view(x->a, x->rank, x->len, x->step, x->off, err);
  if (!view) return TT_ENOMEM;
  tt_code code = value_node(x->a, value, x->rank, x->len, words, true, &n, err);
  if (code == TT_OK) code = tt__array_store(view, n, err);
  tt__node_release(n);
  tt__array_release(view);
  return code;
}

/* a[mask] = one value: a select over the whole array, and nobody has to look at the mask. */
static tt_code set_masked(tt_array *a, tt_array *mask, const tt_value *value, tt_error *err) {
  int64_t step[TT_MAX_RANK];
  for (int k = 0; k < a->rank; k++) step[k] = k < mask->rank ? tt__array_step(mask)[k] : 0;
  tt_node *v;
  TT_TRY(value_node(a, value, a->rank, a->dim, "", false, &v, err));
  tt_node *m = tt__node_view(mask->storage->node, a->rank, a->dim, step, mask->off, err);
  tt_node *n = tt__node_take_where(m, v, m ? tt__array_node(a, err) : NULL, err);
  tt_code code = n ? tt__array_store(a, n, err) : TT_ENOMEM;
  tt__node_release(n);
  return code;
}

/* NumPy's own words where the mask has the array's rank. */
static tt_code check_masked_values(const tt_array *value, int64_t count, tt_error *err) {
  if (value->rank > 1)
    return tt__fail(
        err, TT_ETYPE,
        "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has %d dimensions",
        value->rank);
  if (value->size != count && value->size != 1)
    return tt__fail(err, TT_EVALUE,
                    "NumPy boolean array indexing assignment cannot assign %lld input values to the %lld output values "
                    "where the mask is true",
                    (long long)value->size, (long long)count);
  return TT_OK;
}

static tt_code set_fancy(const tt_subscript *x, const tt_value *value, tt_error *err) {
  static const char words[] =
      "shape mismatch: value array of shape %s could not be broadcast to indexing result of shape %s";
  tt_array *mask = lone_mask(x), *from = value->tag == TT_V_ARRAY ? value->as.array : NULL;
  /* (a mask without elements need not have the array's shape) */
  if (mask && mask->size > 0 && (!from || (from->size == 1 && from->rank <= 1)))
    return set_masked(x->a, mask, value, err);
  if (tt__index_few_write(x, value)) return TT_OK;
  tt_node *flat, *n = NULL;
  TT_TRY(tt__index_flat(x, &flat, err));
  tt_code code = TT_OK;
  bool exact = mask ? mask->rank == x->a->rank : x->a->rank == 0 && x->item[0].kind == TT_INDEX_BOOL && from;
  if (exact && from) code = check_masked_values(from, flat->size, err);
  if (code == TT_OK) code = value_node(x->a, value, flat->rank, flat->dim, words, false, &n, err);
  if (code == TT_OK) code = tt__array_scatter(x->a, flat, n, err);
  tt__node_release(n);
  tt__node_release(flat);
  return code;
}

tt_code tt__set(tt_array *a, const tt_value *index, const tt_value *value, tt_error *err) {
  tt_subscript x;
  int64_t off;
  if (a->readonly || a->storage->readonly) return tt__fail(err, TT_EVALUE, "assignment destination is read-only");
  if (find_element(a, index, &off) && tt__number_store(a, off, value)) return TT_OK;
  TT_TRY(parse(a, index, &x, err));
  return x.fancy ? set_fancy(&x, value, err) : set_view(&x, value, err);
}
