/*
** Joining and cutting: many arrays into one, one into many.
*/
#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "graph/order.h"

/* ---- joining */

/* What "dtype" and "casting" of a joining function stand for; out decides where it is given. */
typedef struct join_places {
  int out, dtype, casting;
  const tt_value *weak; /* the parts as they were given, where Python's numbers among them take the others' type */
} join_places;

/* weak: what was given, of which Python's numbers have no type of their own; NULL: the arrays alone. */
static tt_dtype common_type(tt_composer *c, tt_array **a, const tt_value *weak, int64_t n) {
  tt_value *v = tt__compose_scratch(c, n, sizeof *v);
  tt_dtype type = TT_F64;
  for (int64_t i = 0; v && i < n; i++) {
    v[i] = tt_v_array(a[i]);
    if (!weak || weak[i].tag < TT_V_INT || weak[i].tag > TT_V_COMPLEX) continue;
    v[i] = tt__is_complex((tt_dtype)a[i]->dtype) ? (tt_value){.tag = TT_V_COMPLEX}
                                                 : /* whose values may wrap: a kind is enough */
               tt__is_float((tt_dtype)a[i]->dtype) ? tt_v_float(0)
                                                   : tt_v_int(0);
  }
  if (v && n) c->code = tt__result_type(v, (int)n, &type, c->err);
  return type;
}

static bool lengths_agree(tt_composer *c, tt_array **a, int64_t n, int axis) {
  for (int64_t i = 1; i < n; i++) {
    if (a[i]->rank != a[0]->rank) {
      tt__compose_fail(c, TT_EVALUE,
                       "all the input arrays must have same number of dimensions, but the array at index 0 has %d "
                       "dimension(s) and the array at index %lld has %d dimension(s)",
                       a[0]->rank, (long long)i, a[i]->rank);
      return false;
    }
    for (int d = 0; d < a[0]->rank; d++) {
      if (d == axis || tt__array_len(a[i])[d] == tt__array_len(a[0])[d]) continue;
      tt__compose_fail(c, TT_EVALUE,
                       "all the input array dimensions except for the concatenation axis must match exactly, but along "
                       "dimension %d, the array at index 0 has size %lld and the array at index %lld has size %lld",
                       d, (long long)tt__array_len(a[0])[d], (long long)i, (long long)tt__array_len(a[i])[d]);
      return false;
    }
  }
  return true;
}

/* The result's memory goes as the parts' does. */
static tt_array *laid_as(tt_composer *c, tt_array *const *a, int64_t n, tt_array *whole) {
  enum { MOST = 64 }; /* parts that are asked */
  int axes[TT_MAX_RANK];
  if (!whole || whole->rank < 2 || !tt__order_join(a, n < MOST ? (int)n : MOST, whole->rank, axes)) return whole;
  tt_node *v = tt__compose_node(c, whole);
  tt_array *out = v ? tt__array_laid(v, axes, c->err) : NULL;
  tt__node_release(v);
  return tt__compose_keep(c, out ? TT_OK : TT_ENOMEM, &out);
}

/* Join along an axis already in range, with the casts and the checks of concatenate. */
static tt_array *join(tt_composer *c, const tt_call_frame *f, join_places at, tt_array **a, int64_t n, int axis) {
  if (c->code != TT_OK) return NULL;
  if (n == 0) return tt__compose_fail(c, TT_EVALUE, "need at least one array to concatenate");
  if (!lengths_agree(c, a, n, axis)) return NULL;
  const char *rule = tt__arg_string(c, f, at.casting, "same_kind");
  bool into = tt__arg_given(f, at.out);
  if (into && tt__arg_given(f, at.dtype))
    return tt__compose_fail(c, TT_ETYPE,
                            "concatenate() only takes `out` or `dtype` as an argument, but both were provided.");
  tt_dtype type = tt__arg_dtype(c, f, at.dtype, common_type(c, a, at.weak, n));
  if (into && f->arg[at.out].tag == TT_V_ARRAY) type = (tt_dtype)f->arg[at.out].as.array->dtype;
  for (int64_t i = 0; i < n && c->code == TT_OK; i++) {
    bool number = at.weak && at.weak[i].tag != TT_V_ARRAY && !tt__arg_given(f, at.dtype);
    if (!number && !tt__compose_may_cast(c, (tt_dtype)a[i]->dtype, type, rule)) return NULL;
    a[i] = tt__compose_cast(c, a[i], type);
  }
  tt_array *whole = laid_as(c, a, n, tt__compose_concat(c, a, n, axis));
  if (into && whole) {
    tt_array *out = f->arg[at.out].as.array;
    if (f->arg[at.out].tag != TT_V_ARRAY || out->rank != whole->rank ||
        memcmp(tt__array_len(out), tt__array_len(whole), sizeof(int64_t) * out->rank) != 0)
      return tt__compose_fail(c, TT_EVALUE, "Output array is the wrong shape");
  }
  return tt__arg_out(c, f, at.out, whole);
}

static tt_array *concatenate(tt_composer *c, tt_call_frame *f) {
  int64_t n, axis = tt__arg_int(c, f, 1, 0);
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  if (c->code != TT_OK) return NULL;
  if (n == 0) return tt__compose_fail(c, TT_EVALUE, "need at least one array to concatenate");
  int at = 0;
  join_places places = {.out = 2, .dtype = 3, .casting = 4};
  if (f->narg > 1 && f->arg[1].tag == TT_V_NONE) {
    places.weak = f->arg[0].as.tuple.item;
    for (int64_t i = 0; i < n; i++)
      if (!(a[i] = tt__compose_ravel(c, a[i]))) return NULL;
  } else {
    if (a[0]->rank == 0) return tt__compose_fail(c, TT_EVALUE, "zero-dimensional arrays cannot be concatenated");
    if ((c->code = tt__shape_axis(axis, a[0]->rank, &at, c->err)) != TT_OK) return NULL;
  }
  return join(c, f, places, a, n, at);
}
TT_HANDLER(concatenate)

static tt_array *stack(tt_composer *c, tt_call_frame *f) {
  int64_t n;
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  if (c->code != TT_OK) return NULL;
  if (n == 0) return tt__compose_fail(c, TT_EVALUE, "need at least one array to stack");
  int axis = tt__arg_axis(c, f, 1, a[0]->rank + 1, 0);
  for (int64_t i = 1; i < n; i++)
    if (a[i]->rank != a[0]->rank || memcmp(tt__array_len(a[i]), tt__array_len(a[0]), sizeof(int64_t) * a[0]->rank) != 0)
      return tt__compose_fail(c, TT_EVALUE, "all input arrays must have the same shape");
  for (int64_t i = 0; i < n && c->code == TT_OK; i++) a[i] = tt__compose_expand(c, a[i], axis);
  return join(c, f, (join_places){2, 3, 4, NULL}, a, n, axis);
}
TT_HANDLER(stack)

/* Arrays raised to at least so many axes, joined along `axis` (hstack: 0 for vectors). */
static tt_array *stack_axes(tt_composer *c, tt_call_frame *f, int least, int axis) {
  int64_t n;
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  for (int64_t i = 0; i < n && c->code == TT_OK; i++) {
    if (least == 3 && a[i]->rank == 1) a[i] = tt__compose_expand(c, a[i], 0);
    while (a[i] && a[i]->rank < least) a[i] = tt__compose_expand(c, a[i], a[i]->rank == 2 ? 2 : 0);
  }
  if (c->code == TT_OK && n && a[0]->rank == 1) axis = 0;
  return join(c, f, (join_places){-1, 1, 2, NULL}, a, n, axis);
}

static tt_array *hstack(tt_composer *c, tt_call_frame *f) { return stack_axes(c, f, 1, 1); }
static tt_array *vstack(tt_composer *c, tt_call_frame *f) { return stack_axes(c, f, 2, 0); }
static tt_array *dstack(tt_composer *c, tt_call_frame *f) { return stack_axes(c, f, 3, 2); }
TT_HANDLER(hstack)
TT_HANDLER(vstack)
TT_HANDLER(dstack)

static tt_array *column_stack(tt_composer *c, tt_call_frame *f) {
  int64_t n;
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  for (int64_t i = 0; i < n && c->code == TT_OK; i++) {
    if (a[i]->rank == 0) a[i] = tt__compose_expand(c, a[i], 0);
    if (a[i] && a[i]->rank == 1) a[i] = tt__compose_expand(c, a[i], 1);
  }
  return join(c, f, (join_places){-1, -1, -1, NULL}, a, n, 1);
}
TT_HANDLER(column_stack)

static tt_array *append(tt_composer *c, tt_call_frame *f) {
  tt_array *a[2] = {tt__arg_array(c, f, 0), tt__arg_array(c, f, 1)};
  int axis = 0;
  if (!a[0] || !a[1]) return NULL;
  if (tt__arg_given(f, 2)) {
    axis = tt__arg_axis(c, f, 2, a[0]->rank, 0);
  } else {
    a[0] = tt__compose_ravel(c, a[0]);
    a[1] = tt__compose_ravel(c, a[1]);
  }
  return join(c, f, (join_places){-1, -1, -1, NULL}, a, 2, axis);
}
TT_HANDLER(append)

/* ---- cutting: views */

/* Give a[begin:end] along the axis, with NumPy's slice rules for bounds out of range. */
static bool give_section(tt_composer *c, tt_call_frame *f, tt_array *a, int axis, int64_t begin, int64_t end) {
  int64_t n = tt__array_len(a)[axis];
  if (begin < 0) begin = begin + n < 0 ? 0 : begin + n;
  if (end < 0) end = end + n < 0 ? 0 : end + n;
  if (end > n) end = n;
  return tt__fn_give(c, f, tt__compose_slice(c, a, axis, begin, begin < end ? end - begin : 0, 1));
}

/* A number of sections; a float is cut to one, once it was asked whether it divides. */
static int64_t sections_of(tt_composer *c, const tt_call_frame *f, int64_t n, bool equal) {
  tt_value v = f->arg[1];
  bool inexact = v.tag == TT_V_FLOAT || (v.tag == TT_V_ARRAY && tt__is_float((tt_dtype)v.as.array->dtype));
  double parts = inexact ? tt__arg_float(c, f, 1, 0) : (double)tt__arg_int(c, f, 1, 0);
  if (c->code != TT_OK) return 0;
  if (equal && parts == 0) return tt__compose_fail(c, TT_EZERODIV, "integer modulo by zero"), 0;
  if (equal && !(fmod((double)n, parts) == 0))
    return tt__compose_fail(c, TT_EVALUE, "array split does not result in an equal division"), 0;
  if (isnan(parts)) return tt__compose_fail(c, TT_EVALUE, "cannot convert float NaN to integer"), 0;
  if (isinf(parts)) return tt__compose_fail(c, TT_EOVERFLOW, "cannot convert float infinity to integer"), 0;
  if (parts < 1) return tt__compose_fail(c, TT_EVALUE, "number sections must be larger than 0."), 0;
  return parts < 0x1p53 ? (int64_t)parts : tt__arg_int(c, f, 1, 0);
}

static tt_array *split_along(tt_composer *c, tt_call_frame *f, tt_array *a, int axis, bool equal) {
  if (!a || c->code != TT_OK) return NULL;
  int64_t n = tt__array_len(a)[axis];
  const tt_value *v = &f->arg[1];
  f->tuple = true;
  bool points = v->tag == TT_V_TUPLE || (v->tag == TT_V_ARRAY && v->as.array->rank == 1);
  if (!points) {
    int64_t parts = sections_of(c, f, n, equal);
    if (c->code != TT_OK) return NULL;
    int64_t each = n / parts, more = n % parts, at = 0;
    for (int64_t i = 0; i < parts; i++) {
      int64_t m = each + (i < more);
      if (!tt__fn_give(c, f, tt__compose_slice(c, a, axis, at, m, 1))) return NULL;
      at += m;
    }
    return NULL;
  }
  int64_t count = v->tag == TT_V_TUPLE ? v->as.tuple.n : v->as.array->size, at = 0;
  int64_t *cut = tt__compose_scratch(c, count, sizeof *cut);
  for (int64_t i = 0; cut && v->tag == TT_V_TUPLE && i < count; i++) {
    tt_call_frame one = {.arg = &v->as.tuple.item[i], .narg = 1};
    cut[i] = tt__arg_int(c, &one, 0, 0);
  }
  if (v->tag == TT_V_ARRAY && v->as.array->size && v->as.array->dtype != TT_BOOL &&
      !tt__is_int((tt_dtype)v->as.array->dtype))
    return tt__compose_fail(c, TT_ETYPE, "slice indices must be integers or None or have an __index__ method");
  if (cut && v->tag == TT_V_ARRAY) {
    const int64_t *data = tt__compose_peek(c, tt__compose_cast(c, v->as.array, TT_I64));
    if (data && count) memcpy(cut, data, sizeof *cut * (size_t)count);
  }
  for (int64_t i = 0; c->code == TT_OK && i <= count; i++) {
    if (!give_section(c, f, a, axis, at, i < count ? cut[i] : n)) return NULL;
    if (i < count) at = cut[i];
  }
  return NULL;
}

static tt_array *split_axis(tt_composer *c, tt_call_frame *f, bool equal) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->rank == 0) return tt__compose_fail(c, TT_EINDEX, "tuple index out of range");
  return a ? split_along(c, f, a, tt__arg_axis(c, f, 2, a->rank, 0), equal) : NULL;
}

static tt_array *split(tt_composer *c, tt_call_frame *f) { return split_axis(c, f, true); }
static tt_array *array_split(tt_composer *c, tt_call_frame *f) { return split_axis(c, f, false); }
TT_HANDLER(split)
TT_HANDLER(array_split)

static tt_array *split_named(tt_composer *c, tt_call_frame *f, const char *name, int least, int axis) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->rank < least)
    return tt__compose_fail(c, TT_EVALUE, "%s only works on arrays of %d or more dimensions", name, least);
  return split_along(c, f, a, a && a->rank == 1 ? 0 : axis, true);
}

static tt_array *hsplit(tt_composer *c, tt_call_frame *f) { return split_named(c, f, "hsplit", 1, 1); }
static tt_array *vsplit(tt_composer *c, tt_call_frame *f) { return split_named(c, f, "vsplit", 2, 0); }
static tt_array *dsplit(tt_composer *c, tt_call_frame *f) { return split_named(c, f, "dsplit", 3, 2); }
TT_HANDLER(hsplit)
TT_HANDLER(vsplit)
TT_HANDLER(dsplit)

static tt_array *unstack(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  if (a->rank == 0) return tt__compose_fail(c, TT_EVALUE, "Input array must be at least 1-d.");
  int axis = tt__arg_axis(c, f, 1, a->rank, 0);
  a = tt__compose_move(c, a, axis, 0);
  f->tuple = true;
  for (int64_t i = 0; a && i < tt__array_len(a)[0]; i++) {
    tt_array *part = tt__compose_view(c, a, a->rank - 1, tt__array_len(a) + 1, tt__array_step(a) + 1,
                                      a->off + i * tt__array_step(a)[0]);
    if (!tt__fn_give(c, f, part)) return NULL;
  }
  return NULL;
}
TT_HANDLER(unstack)
