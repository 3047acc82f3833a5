/*
** Moving without computing: transposes, reshapes, broadcasts; casts, copies, reductions and ranges as arrays.
** It must not know promotion.
*/
#include <stdio.h>

#include "graph/build.h"
#include "graph/eager/eager.h"
#include "graph/host.h"
#include "graph/order.h"
#include "graph/tape.h"

static tt_code view_of(tt_array *a, int rank, const int64_t *len, const int64_t *step, int64_t off, tt_array **out,
                       tt_error *err) {
  *out = tt__array_view(a, rank, len, step, off, err);
  return *out ? TT_OK : TT_ENOMEM;
}

/* An array over a node whose hold is taken; NULL is a failure that err knows. */
static tt_code array_taking(tt_node *n, tt_array **out, tt_error *err) {
  *out = n ? tt__array_of(n, err) : NULL;
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

tt_code tt__transpose(tt_array *a, const int *axes, tt_array **out, tt_error *err) {
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  uint64_t seen = 0;
  *out = NULL;
  for (int k = 0; k < a->rank; k++) {
    int from = a->rank - 1 - k;
    if (axes) TT_TRY(tt__shape_axis(axes[k], a->rank, &from, err));
    if (seen >> from & 1) return tt__fail(err, TT_EVALUE, "repeated axis in transpose");
    seen |= UINT64_C(1) << from;
    len[k] = a->dim[from];
    step[k] = tt__array_step(a)[from];
  }
  return view_of(a, a->rank, len, step, a->off, out, err);
}

/* ---- reshape */

static tt_code fail_reshape(const tt_array *a, int rank, const int64_t *len, int unknown, tt_error *err) {
  char text[512];
  size_t at = 0;
  for (int k = 0; k < rank && at < sizeof text; k++) {
    int n = k == unknown ? snprintf(text + at, sizeof text - at, "%snewaxis", k ? "," : "")
                         : snprintf(text + at, sizeof text - at, "%s%lld", k ? "," : "", (long long)len[k]);
    if (n < 0) break;
    at += (size_t)n;
  }
  const char *end = rank == 1 ? "," : "";
  return tt__fail(err, TT_EVALUE, "cannot reshape array of size %lld into shape (%s%s)", (long long)a->size,
                  rank ? text : "", end);
}

static tt_code resolve_shape(const tt_array *a, int rank, const int64_t *len, int64_t *full, tt_error *err) {
  int unknown = -1;
  int64_t known = 1;
  bool over = false;
  if (rank < 0 || rank > TT_MAX_RANK)
    return tt__fail(err, TT_EVALUE, "maximum supported dimension for an ndarray is currently %d, found %d", TT_MAX_RANK,
                    rank);
  for (int k = 0; k < rank; k++) {
    full[k] = len[k];
    if (len[k] < 0 && unknown >= 0) return tt__fail(err, TT_EVALUE, "can only specify one unknown dimension");
    if (len[k] < 0)
      unknown = k;
    else
      over |= __builtin_mul_overflow(known, len[k], &known);
  }
  if (unknown >= 0 && !over && known > 0 && a->size % known == 0) {
    full[unknown] = a->size / known;
    return TT_OK;
  }
  return unknown >= 0 || over || known != a->size ? fail_reshape(a, rank, len, unknown, err) : TT_OK;
}

tt_code tt__reshape(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  int64_t full[TT_MAX_RANK], step[TT_MAX_RANK];
  *out = NULL;
  TT_TRY(resolve_shape(a, rank, len, full, err));
  if (tt__shape_reshape(a->rank, a->dim, tt__array_step(a), rank, full, step))
    return view_of(a, rank, full, step, a->off, out, err);
  tt_node *n = tt__array_node(a, err);
  tt__shape_steps(rank, full, step);
  tt_node *flat = n ? tt__node_view(n, rank, full, step, 0, err) : NULL;
  tt__node_release(n);
  return array_taking(flat, out, err);
}

/* ---- broadcast */

tt_code tt__broadcast_to(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  int64_t step[TT_MAX_RANK], size;
  *out = NULL;
  for (int k = 0; k < rank; k++)
    if (len[k] < 0) return tt__fail(err, TT_EVALUE, "all elements of broadcast shape must be non-negative");
  TT_TRY(tt__shape_size(rank, len, (tt_dtype)a->dtype, &size, err));
  int lead = rank - a->rank;
  if (lead < 0) return tt__fail(err, TT_EVALUE, "input operand has more dimensions than allowed by the axis remapping");
  for (int k = 0; k < rank; k++) {
    int64_t have = k < lead ? 1 : a->dim[k - lead];
    step[k] = have == 1 ? 0 : tt__array_step(a)[k - lead];
    if (have == 1 || have == len[k]) continue;
    char from[256], to[256];
    tt__shape_text(a->rank, a->dim, from, sizeof from);
    tt__shape_text(rank, len, to, sizeof to);
    return tt__fail(
        err, TT_EVALUE,
        "operands could not be broadcast together with remapped shapes [original->remapped]: %s  and requested "
        "shape %s",
        from, to);
  }
  TT_TRY(view_of(a, rank, len, step, a->off, out, err));
  (*out)->readonly = true;
  return TT_OK;
}

/* ---- copies and casts */

/* Memory that somebody else may change is read now: a copy must not see later changes. */
static tt_node *snapshot(tt_array *a, const tt_buffer *foreign, tt_error *err) {
  size_t item = tt__dtype_size((tt_dtype)a->dtype);
  int64_t stride[TT_MAX_RANK];
  tt_buffer *b = tt__buffer_new((size_t)a->size * item, err);
  if (!b) return NULL;
  tt_node *out = tt__node_new(TT_N_BUFFER, (tt_dtype)a->dtype, a->rank, a->dim, 0, err);
  if (!out) {
    tt__buffer_release(b);
    return NULL;
  }
  out->attr.buf = b;
  for (int k = 0; k < a->rank; k++) stride[k] = tt__array_step(a)[k] * (int64_t)item;
  if (a->size)
    tt__host_copy(b->data, (const char *)foreign->data + a->off * (int64_t)item, item, a->rank, a->dim, stride);
  return out;
}

tt_code tt__copy(tt_array *a, tt_array **out, tt_error *err) {
  tt_node *whole = a->storage->node;
  *out = NULL;
  if (tt__is_taped(whole)) return array_taking(tt__array_node(a, err), out, err);
  if (whole->op == TT_N_BUFFER && whole->attr.buf->drop && !whole->attr.buf->elsewhere)
    return array_taking(snapshot(a, whole->attr.buf, err), out, err);
  if (tt__eager_copies(a)) return array_taking(snapshot(a, whole->attr.buf, err), out, err);
  if (whole->op == TT_N_EMPTY)
    return tt__empty((tt_dtype)a->dtype, a->rank, a->dim, out, err); /* what no one wrote, no one compares */
  return array_taking(tt__array_node(a, err), out, err);
}

tt_code tt__cast(tt_array *a, tt_dtype dtype, bool copy, tt_array **out, tt_error *err) {
  *out = NULL;
  if (a->dtype == dtype && !copy) {
    *out = tt__array_retain(a);
    return TT_OK;
  }
  return tt__copy_as(a, dtype, 'K', out, err);
}

/* ---- reductions */

static tt_code check_reduction(tt_red red, const tt_array *a, uint64_t axes, tt_error *err) {
  bool empty = false;
  for (int k = 0; k < a->rank; k++) empty |= (axes >> k & 1) && a->dim[k] == 0;
  if (!empty) return TT_OK;
  switch (red) {
    case TT_RED_MAX:
      return tt__fail(err, TT_EVALUE, "zero-size array to reduction operation maximum which has no identity");
    case TT_RED_MIN:
      return tt__fail(err, TT_EVALUE, "zero-size array to reduction operation minimum which has no identity");
    case TT_RED_ARGMAX:
      return tt__fail(err, TT_EVALUE, "attempt to get argmax of an empty sequence");
    case TT_RED_ARGMIN:
      return tt__fail(err, TT_EVALUE, "attempt to get argmin of an empty sequence");
    default:
      return TT_OK;
  }
}

/*
** Fold `axes` in the order in which `a` lies, all[k] its axis k from the outermost: so the order of a fold is known
** here, whatever is computed with it later. What is left lies as it did.
*/
static tt_code reduce_as_it_lies(tt_red red, tt_array *a, uint64_t axes, const int *all, tt_array **out,
                                 tt_error *err) {
  int left[TT_MAX_RANK], number[TT_MAX_RANK], n = 0, at = 0;
  uint64_t turned = 0;
  for (int k = 0; k < a->rank; k++) {
    if (axes >> all[k] & 1) turned |= UINT64_C(1) << k;
    if (!(axes >> k & 1)) number[k] = n++;
  }
  for (int k = 0; k < a->rank; k++)
    if (!(axes >> all[k] & 1)) left[at++] = number[all[k]];
  tt_array *ordered = tt__array_ordered(a, all, err);
  tt_node *from = ordered ? tt__array_node(ordered, err) : NULL;
  tt_node *r = from ? tt__node_reduce(red, from, turned, err) : NULL;
  tt__node_release(from);
  tt__array_release(ordered);
  tt_array *memory = NULL;
  TT_TRY(array_taking(r, &memory, err));
  *out = tt__array_restored(memory, left, err);
  tt__array_release(memory);
  return *out ? TT_OK : TT_ENOMEM;
}

static tt_code reduce(tt_red red, tt_array *a, uint64_t axes, tt_array **out, tt_error *err) {
  int all[TT_MAX_RANK];
  bool by_place = red == TT_RED_ARGMAX || red == TT_RED_ARGMIN; /* NumPy's have C's order */
  if (!by_place && a->rank > 1 && tt__order_walk(&a, 1, a->rank, all))
    return reduce_as_it_lies(red, a, axes, all, out, err);
  tt_node *n = tt__array_node(a, err);
  tt_node *r = n ? tt__node_reduce(red, n, axes, err) : NULL;
  tt__node_release(n);
  return array_taking(r, out, err);
}

tt_code tt__reduce(tt_red red, tt_array *a, uint64_t axes, bool keepdims, tt_array **out, tt_error *err) {
  *out = NULL;
  TT_TRY(check_reduction(red, a, axes, err));
  TT_TRY(reduce(red, a, axes, out, err));
  if (!keepdims || axes == 0) return TT_OK;
  tt_array *flat = *out;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  for (int k = 0, at = 0; k < a->rank; k++) {
    bool gone = axes >> k & 1;
    len[k] = gone ? 1 : a->dim[k];
    step[k] = gone ? 1 : tt__array_step(flat)[at++];
  }
  tt_code code = view_of(flat, a->rank, len, step, 0, out, err);
  tt__array_release(flat);
  return code;
}

/* ---- ranges */

static tt_value sum_of(const tt_value *a, const tt_value *b) {
  if (a->tag == TT_V_INT && b->tag == TT_V_INT) return tt_v_int((int64_t)((uint64_t)a->as.i + (uint64_t)b->as.i));
  tt_scalar x = tt__scalar_from(a, TT_C128), y = tt__scalar_from(b, TT_C128);
  tt_value v = {.tag = TT_V_COMPLEX};
  v.as.z = (tt_c128){x.c128.re + y.c128.re, x.c128.im + y.c128.im};
  if (a->tag == TT_V_COMPLEX || b->tag == TT_V_COMPLEX) return v;
  return tt_v_float(v.as.z.re);
}

/*
** NumPy's way: the first two elements in the type, then first + i * (second - first). float16 and bfloat16 are filled
** in float32.
*/
tt_code tt__arange(tt_dtype dtype, const tt_value *start, const tt_value *step, int64_t n, tt_array **out,
                   tt_error *err) {
  int64_t size;
  tt_scalar first, second;
  *out = NULL;
  TT_TRY(tt__shape_size(1, &n, dtype, &size, err));
  TT_TRY(tt__value_scalar(start, dtype, &first, err));
  tt_value next = sum_of(start, step);
  if (n > 1)
    TT_TRY(tt__value_scalar(&next, dtype, &second, err));
  else
    second = first;
  tt_dtype work = dtype == TT_F16 || dtype == TT_BF16 ? TT_F32 : dtype == TT_BOOL ? TT_I64 : dtype;
  tt_value a = tt__scalar_load(dtype, &first), b = tt__scalar_load(dtype, &second), minus = tt_v_int(0);
  if (tt__is_int(work) || work == TT_I64) {
    uint64_t d = tt__scalar_from(&b, TT_I64).u64 - tt__scalar_from(&a, TT_I64).u64;
    minus = tt_v_int((int64_t)d);
  } else if (work == TT_F32) {
    minus = tt_v_float((double)((float)b.as.f - (float)a.as.f));
  } else if (work == TT_F64) {
    minus = tt_v_float(b.as.f - a.as.f);
  } else {
    tt_value back = a;
    back.as.z = (tt_c128){-a.as.z.re, -a.as.z.im};
    minus = sum_of(&b, &back);
  }
  tt_node *i = tt__node_take_cast(tt__node_iota(1, &n, err), work, err);
  tt_node *delta = tt__node_const(work, tt__scalar_from(&minus, work), 1, &n, err);
  tt_node *base = tt__node_const(work, tt__scalar_from(&a, work), 1, &n, err);
  tt_node *v = tt__node_take2(TT_ADD, work, tt__node_take2(TT_MUL, work, i, delta, err), base, err);
  return array_taking(tt__node_take_cast(v, dtype, err), out, err);
}
