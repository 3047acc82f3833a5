/*
** The same elements again, elsewhere or not at all: tile, repeat, roll, resize, insert, delete.
*/
#include <stdlib.h>
#include <string.h>

#include "fn/fn.h"

static tt_array *tile(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  int64_t reps[TT_MAX_RANK], len[TT_MAX_RANK], whole[TT_MAX_RANK];
  int n = tt__arg_ints(c, f, 1, reps, TT_MAX_RANK);
  if (!a || c->code != TT_OK) return NULL;
  int rank = a->rank > n ? a->rank : n;
  if (2 * rank > TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "tile: more than 32 axes");
  memmove(reps + rank - n, reps, sizeof *reps * (size_t)n);
  for (int d = 0; d < rank - n; d++) reps[d] = 1;
  bool once = true;
  for (int d = 0; d < rank; d++) once &= reps[d] == 1;
  /* Each axis becomes (times, length), repeated without moving anything, then read out as one. */
  while (a && a->rank < rank) a = tt__compose_expand(c, a, 0);
  if (once) return tt__compose_copy_in(c, a, 'K');
  for (int d = 0; d < rank && a; d++) a = tt__compose_expand(c, a, 2 * d);
  for (int d = 0; d < rank && a; d++) {
    whole[2 * d] = reps[d];
    whole[2 * d + 1] = tt__array_len(a)[2 * d + 1];
    if (__builtin_mul_overflow(reps[d], whole[2 * d + 1], &len[d]))
      return tt__compose_fail(c, TT_EVALUE, "array is too big");
    if (reps[d] < 0) return tt__compose_fail(c, TT_EVALUE, "negative dimensions are not allowed");
  }
  tt_array *out = tt__compose_reshape(c, tt__compose_broadcast(c, a, 2 * rank, whole), rank, len);
  return tt__compose_copy(c, out);
}
TT_HANDLER(tile)

/* Each element `times` times along an axis. */
static tt_array *repeat_evenly(tt_composer *c, tt_array *a, int64_t times, int axis) {
  if (times < 0) return tt__compose_fail(c, TT_EVALUE, "negative dimensions are not allowed");
  if (a->rank == TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "repeat: too many axes");
  int64_t len[TT_MAX_RANK], whole[TT_MAX_RANK + 1];
  int rank = a->rank;
  memcpy(len, tt__array_len(a), sizeof *len * (size_t)rank);
  a = tt__compose_expand(c, a, axis + 1);
  if (!a) return NULL;
  memcpy(whole, tt__array_len(a), sizeof *whole * a->rank);
  whole[axis + 1] = times;
  if (__builtin_mul_overflow(len[axis], times, &len[axis])) return tt__compose_fail(c, TT_EVALUE, "array is too big");
  return tt__compose_copy(c, tt__compose_reshape(c, tt__compose_broadcast(c, a, rank + 1, whole), rank, len));
}

static tt_array *repeat(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *times = tt__arg_array(c, f, 1);
  if (!a || !times) return NULL;
  if (!tt__arg_given(f, 2) || a->rank == 0) a = tt__compose_ravel(c, a);
  int axis = a ? tt__arg_axis(c, f, 2, a->rank, 0) : 0;
  if (!a || c->code != TT_OK) return NULL;
  bool whole = (tt__is_int((tt_dtype)times->dtype) && times->dtype != TT_U64) || times->dtype == TT_BOOL;
  if (!whole && times->rank > 0 && times->size > 0)
    return tt__compose_fail(c, TT_ETYPE,
                            "Cannot cast array data from dtype('%s') to dtype('int64') according to the rule 'safe'",
                            tt__dtypes[times->dtype].name);
  if (times->rank == 0 && f->arg[1].tag == TT_V_ARRAY && !tt__is_int((tt_dtype)times->dtype) && times->dtype != TT_BOOL)
    return tt__compose_fail(c, TT_ETYPE,
                            "Cannot cast scalar from dtype('%s') to dtype('int64') according to the rule 'safe'",
                            tt__dtypes[times->dtype].name);
  if (times->rank > 1) return tt__compose_fail(c, TT_EVALUE, "object too deep for desired array");
  times = tt__compose_cast(c, times, TT_I64);
  int64_t n = tt__array_len(a)[axis];
  if (times && times->size == 1) {
    const int64_t *one = tt__compose_peek(c, times);
    return one ? repeat_evenly(c, a, *one, axis) : NULL;
  }
  if (times && times->size != n) {
    return tt__compose_fail(c, TT_EVALUE, "operands could not be broadcast together with shape (%lld,) (%lld,)",
                            (long long)n, (long long)times->size);
  }
  tt_lib_attr attr = {0};
  tt_array *index;
  if (!tt__compose_make(c, "repeat_index", &attr, &times, 1, &index)) return NULL;
  return tt__compose_take(c, a, index, axis);
}
TT_HANDLER(repeat)

/* ---- roll */

static tt_array *rolled(tt_composer *c, tt_array *a, int64_t shift, int axis) {
  if (!a) return NULL;
  int64_t n = tt__array_len(a)[axis];
  if (n == 0) return a;
  shift %= n;
  if (shift < 0) shift += n;
  if (shift == 0) return a;
  tt_array *part[2] = {tt__compose_slice(c, a, axis, n - shift, shift, 1),
                       tt__compose_slice(c, a, axis, 0, n - shift, 1)};
  return part[0] && part[1] ? tt__compose_concat(c, part, 2, axis) : NULL;
}

/* A shift as Python's int() has it: what is behind the point goes. */
static tt_value whole_shift(tt_composer *c, tt_value v) {
  if (v.tag == TT_V_ARRAY && tt__is_float((tt_dtype)v.as.array->dtype))
    return tt_v_array(tt__compose_cast(c, v.as.array, TT_I64));
  if (v.tag != TT_V_FLOAT) return v;
  if (v.as.f != v.as.f) tt__compose_fail(c, TT_EVALUE, "cannot convert float NaN to integer");
  if (!(v.as.f > -0x1p63 && v.as.f < 0x1p63))
    tt__compose_fail(c, TT_EOVERFLOW, "cannot convert float infinity to integer");
  return tt_v_int(c->code == TT_OK ? (int64_t)v.as.f : 0);
}

static int shifts_of(tt_composer *c, const tt_call_frame *f, int64_t *out) {
  tt_value item[TT_MAX_RANK], v = f->arg[1];
  bool many = v.tag == TT_V_TUPLE && v.as.tuple.n <= TT_MAX_RANK;
  for (int64_t k = 0; many && k < v.as.tuple.n; k++) item[k] = whole_shift(c, v.as.tuple.item[k]);
  if (many) v.as.tuple.item = item;
  v = whole_shift(c, v);
  tt_call_frame one = {.arg = &v, .narg = 1};
  return tt__arg_ints(c, &one, 0, out, TT_MAX_RANK);
}

static tt_array *roll(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *out;
  int64_t shift[TT_MAX_RANK], axis[TT_MAX_RANK];
  int n = shifts_of(c, f, shift), m = tt__arg_ints(c, f, 2, axis, TT_MAX_RANK);
  if (!a || c->code != TT_OK) return NULL;
  if (!tt__arg_given(f, 2)) {
    int64_t by = 0; /* several shifts add up */
    for (int i = 0; i < n; i++) by = (int64_t)((uint64_t)by + (uint64_t)(a->size ? shift[i] % a->size : 0));
    out = rolled(c, tt__compose_ravel(c, a), by, 0);
    if (out) out = tt__compose_reshape(c, out, a->rank, tt__array_len(a));
  } else {
    if (n != m && n != 1 && m != 1)
      return tt__compose_fail(c, TT_EVALUE, "shape mismatch: objects cannot be broadcast to a single shape");
    int at[TT_MAX_RANK];
    for (int k = 0; k < m; k++)
      if ((c->code = tt__shape_axis(axis[k], a->rank, &at[k], c->err)) != TT_OK) return NULL;
    out = a;
    for (int i = 0; i < (n == 1 ? m : n); i++) /* no axes: no shift */
      out = rolled(c, out, shift[n == 1 ? 0 : i], at[m == 1 ? 0 : i]);
  }
  return out && out->storage == a->storage ? tt__compose_copy(c, out) : out;
}

TT_HIDDEN tt_code tt__fn_roll(tt_call_frame *f, tt_error *err);
tt_code tt__fn_roll(tt_call_frame *f, tt_error *err) {
  char order = tt__arg_given(f, 2) ? 'K' : 'C'; /* without an axis it is flattened first */
  return tt__fn_run_laid(f, roll, "roll", order, err);
}

static tt_array *resize(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__compose_ravel(c, tt__arg_array(c, f, 0));
  int64_t len[TT_MAX_RANK], size;
  int rank = tt__arg_ints(c, f, 1, len, TT_MAX_RANK);
  if (!a || c->code != TT_OK) return NULL;
  for (int d = 0; d < rank; d++)
    if (len[d] < 0) return tt__compose_fail(c, TT_EVALUE, "all elements of `new_shape` must be non-negative");
  if ((c->code = tt__shape_size(rank, len, (tt_dtype)a->dtype, &size, c->err)) != TT_OK) return NULL;
  if (a->size == 0 || size == 0) return tt__compose_full(c, (tt_dtype)a->dtype, rank, len, tt_v_int(0));
  int64_t whole[2] = {(size - 1) / a->size + 1, a->size}, flat;
  if (__builtin_mul_overflow(whole[0], whole[1], &flat)) return tt__compose_fail(c, TT_EVALUE, "array is too big");
  a = tt__compose_reshape(c, tt__compose_broadcast(c, a, 2, whole), 1, &flat);
  return tt__compose_copy(c, tt__compose_reshape(c, tt__compose_slice(c, a, 0, 0, size, 1), rank, len));
}
TT_HANDLER(resize)

/* ---- delete and insert */

/* Start, count and step of a slice over n elements. */
static int64_t slice_count(const tt_value *v, int64_t n, int64_t *start, int64_t *step) {
  int64_t s = v->as.slice.has_step ? v->as.slice.step : 1, least = s < 0 ? -1 : 0, most = s < 0 ? n - 1 : n;
  int64_t a = v->as.slice.has_start ? v->as.slice.start : s < 0 ? n - 1 : 0;
  int64_t b = v->as.slice.has_stop ? v->as.slice.stop : s < 0 ? -1 - n : n;
  if (a < 0) a += n;
  if (b < 0) b += n;
  a = a < least ? least : a > most ? most : a;
  b = b < least ? least : b > most ? most : b;
  *start = a;
  *step = s;
  if (s > 0) return b > a ? (b - a - 1) / s + 1 : 0;
  return a > b ? (a - b - 1) / -s + 1 : 0;
}

/* The places that `obj` names along an axis of n elements, in range of [0, n + slack). NULL: failure. */
static int64_t *places(tt_composer *c, const tt_value *obj, int64_t n, int64_t slack, int axis, int64_t *count,
                       bool *single) {
  int64_t *out, start, step;
  *single = false;
  if (obj->tag == TT_V_SLICE) {
    if (obj->as.slice.has_step && obj->as.slice.step == 0)
      return (void *)tt__compose_fail(c, TT_EVALUE, "slice step cannot be zero");
    *count = slice_count(obj, n, &start, &step);
    out = tt__compose_scratch(c, *count, sizeof *out);
    for (int64_t i = 0; out && i < *count; i++) out[i] = start + i * step;
    return out;
  }
  tt_array *a = tt__value_as_array(c, obj);
  if (!a) return NULL;
  if (a->dtype == TT_BOOL && slack == 0 && (a->rank != 1 || a->size != n))
    return (void *)tt__compose_fail(
        c, TT_EVALUE, "boolean array argument obj to delete must be one dimensional and match the axis length of %lld",
        (long long)n);
  if (a->rank > 1 && slack == 0 && !(a = tt__compose_ravel(c, a))) return NULL; /* delete takes places of any shape */
  if (a->rank > 1)
    return (void *)tt__compose_fail(c, TT_EVALUE,
                                    "index array argument `obj` to insert must be one dimensional or scalar");
  bool mask = a->dtype == TT_BOOL && a->rank > 0;
  if (!mask && a->size && !tt__is_int((tt_dtype)a->dtype))
    return (void *)tt__compose_fail(c, TT_EINDEX, "arrays used as indices must be of integer (or boolean) type");
  const int64_t *data = tt__compose_peek(c, tt__compose_cast(c, a, TT_I64));
  out = tt__compose_scratch(c, a->size, sizeof *out);
  if (!data || !out) return NULL;
  *single = !mask && a->size == 1 && (a->rank == 0 || slack);
  *count = 0;
  for (int64_t i = 0; i < a->size; i++) {
    if (mask) {
      if (data[i]) out[(*count)++] = i;
      continue;
    }
    int64_t at = data[i] < 0 ? data[i] + n : data[i];
    if (at < 0 || at >= n + slack) {
      tt__compose_fail(c, TT_EINDEX, "index %lld is out of bounds for axis %d with size %lld", (long long)data[i], axis,
                       (long long)n);
      return NULL;
    }
    out[(*count)++] = at;
  }
  return out;
}

/* The positions of [0, n) whose mark is not set, as an index array. */
static tt_array *unmarked(tt_composer *c, const uint8_t *mark, int64_t n, int64_t left) {
  void *data;
  tt_array *index = tt__compose_block(c, TT_I64, 1, &left, &data);
  int64_t *to = data;
  for (int64_t i = 0; index && i < n; i++)
    if (!mark[i]) *to++ = i;
  return index;
}

/* The array and axis that delete and insert work on: without an axis, all elements in a row. */
static tt_array *along(tt_composer *c, tt_call_frame *f, int k, int *axis) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && !tt__arg_given(f, k)) {
    *axis = 0;
    return tt__compose_ravel(c, a);
  }
  *axis = a ? tt__arg_axis(c, f, k, a->rank, 0) : 0;
  return c->code == TT_OK ? a : NULL;
}

static tt_array *delete (tt_composer *c, tt_call_frame *f) {
  int axis;
  int64_t count;
  bool single;
  tt_array *a = along(c, f, 2, &axis);
  if (!a) return NULL;
  int64_t n = tt__array_len(a)[axis], left = n;
  int64_t *at = places(c, &f->arg[1], n, 0, axis, &count, &single);
  uint8_t *mark = tt__compose_scratch(c, n, 1);
  if (!at || !mark) return NULL;
  for (int64_t i = 0; i < count; i++) {
    left -= !mark[at[i]];
    mark[at[i]] = 1;
  }
  if (left == n) return tt__compose_copy(c, a);
  if (n - left == 1) {
    tt_array *part[2] = {tt__compose_slice(c, a, axis, 0, at[0], 1),
                         tt__compose_slice(c, a, axis, at[0] + 1, n - at[0] - 1, 1)};
    return part[0] && part[1] ? tt__compose_concat(c, part, 2, axis) : NULL;
  }
  tt_array *index = unmarked(c, mark, n, left);
  return tt__compose_take(c, a, index, axis);
}
TT_HANDLER_LAID(delete, 'A')

/* One place: any number of values go there, broadcast over the other axes. */
static tt_array *insert_one(tt_composer *c, tt_array *a, tt_array *values, int64_t at, int axis, bool scalar_place) {
  while (values && values->rank < a->rank) values = tt__compose_expand(c, values, 0);
  if (values && scalar_place) values = tt__compose_move(c, values, 0, axis);
  if (!values) return NULL;
  if (values->rank > a->rank) return tt__compose_fail(c, TT_EVALUE, "could not broadcast input array");
  int64_t len[TT_MAX_RANK], more = tt__array_len(values)[axis], n = tt__array_len(a)[axis];
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  len[axis] = n + more;
  tt_array *out = tt__compose_empty(c, (tt_dtype)a->dtype, a->rank, len);
  if (!out) return NULL;
  bool ok = tt__compose_set(c, tt__compose_slice(c, out, axis, 0, at, 1),
                            tt_v_array(tt__compose_slice(c, a, axis, 0, at, 1)));
  ok = ok && tt__compose_set(c, tt__compose_slice(c, out, axis, at, more, 1), tt_v_array(values));
  ok = ok && tt__compose_set(c, tt__compose_slice(c, out, axis, at + more, n - at, 1),
                             tt_v_array(tt__compose_slice(c, a, axis, at, n - at, 1)));
  return ok ? out : NULL;
}

typedef struct place {
  int64_t at, order;
} place;

static int compare_places(const void *a, const void *b) {
  const place *p = a, *q = b;
  if (p->at != q->at) return p->at < q->at ? -1 : 1;
  return p->order < q->order ? -1 : 1;
}

static bool set_along(tt_composer *c, tt_array *a, tt_array *index, int axis, tt_array *value) {
  tt_value item[TT_MAX_RANK];
  for (int d = 0; d < axis; d++) item[d] = (tt_value){.tag = TT_V_SLICE};
  if (!a || !index || !value) return false;
  item[axis] = tt_v_array(index);
  tt_value all = {.tag = TT_V_TUPLE, .as.tuple = {.item = item, .n = axis + 1}}, v = tt_v_array(value);
  c->code = tt__set(a, &all, &v, c->err);
  return c->code == TT_OK;
}

static tt_array *insert_many(tt_composer *c, tt_array *a, tt_array *values, const int64_t *at, int64_t count,
                             int axis) {
  int64_t n = tt__array_len(a)[axis], whole = n + count, len[TT_MAX_RANK];
  place *p = tt__compose_scratch(c, count, sizeof *p);
  uint8_t *mark = tt__compose_scratch(c, whole, 1);
  void *data;
  tt_array *to = tt__compose_block(c, TT_I64, 1, &count, &data);
  if (!p || !mark || !to) return NULL;
  for (int64_t i = 0; i < count; i++) p[i] = (place){at[i], i};
  qsort(p, (size_t)count, sizeof *p, compare_places);
  for (int64_t i = 0; i < count; i++) {
    ((int64_t *)data)[p[i].order] = p[i].at + i;
    mark[p[i].at + i] = 1;
  }
  tt_array *from = unmarked(c, mark, whole, n);
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  len[axis] = whole;
  tt_array *out = tt__compose_empty(c, (tt_dtype)a->dtype, a->rank, len);
  return set_along(c, out, to, axis, values) && set_along(c, out, from, axis, a) ? out : NULL;
}

static tt_array *insert(tt_composer *c, tt_call_frame *f) {
  int axis;
  int64_t count;
  bool single;
  tt_array *a = along(c, f, 3, &axis), *values = a ? tt__arg_array_of(c, f, 2, (tt_dtype)a->dtype) : NULL;
  if (!a || !values) return NULL;
  int64_t *at = places(c, &f->arg[1], tt__array_len(a)[axis], 1, axis, &count, &single);
  if (!at) return NULL;
  bool is_number = f->arg[1].tag != TT_V_TUPLE && f->arg[1].tag != TT_V_SLICE &&
                   !(f->arg[1].tag == TT_V_ARRAY && f->arg[1].as.array->rank > 0);
  if (single) return insert_one(c, a, values, at[0], axis, is_number);
  return insert_many(c, a, values, at, count, axis);
}
TT_HANDLER_LAID(insert, 'A')
