/*
** Running sums and products, and differences of neighbours.
*/
#include <string.h>

#include "fn/fn.h"

/* ---- running sums and products: the library's tt_scan numbers */

enum { SUM = 0, PROD = 1 };

static tt_array *scan(tt_composer *c, tt_array *a, int axis, int op, bool initial) {
  if (!a) return NULL;
  int64_t len[TT_MAX_RANK], n = tt__array_len(a)[axis], inner = 1;
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  for (int d = axis + 1; d < a->rank; d++) inner *= len[d];
  len[axis] += initial;
  tt_lib_attr attr = {.row = tt__lib_row("scan"), .i = {op, n, inner, initial}};
  return tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, a->rank, len);
}

static tt_array *running(tt_composer *c, tt_call_frame *f, int op, bool skip_nan) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  if (!tt__arg_given(f, 1) || a->rank == 0) a = tt__compose_ravel(c, a);
  int axis = a ? tt__arg_axis(c, f, 1, a->rank, 0) : 0;
  tt_dtype type = a ? tt__arg_dtype(c, f, 2, tt__fn_sum_type((tt_dtype)a->dtype)) : TT_F64;
  if (skip_nan && a && (tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype)))
    a = tt__compose_where(c, tt__compose_op1(c, TT_ISNAN, a), tt_v_int(op), tt_v_array(a));
  return tt__arg_out_any(c, f, 3, scan(c, tt__compose_cast(c, a, type), axis, op, false));
}

static tt_array *cumsum(tt_composer *c, tt_call_frame *f) { return running(c, f, SUM, false); }
static tt_array *cumprod(tt_composer *c, tt_call_frame *f) { return running(c, f, PROD, false); }
static tt_array *nancumsum(tt_composer *c, tt_call_frame *f) { return running(c, f, SUM, true); }
static tt_array *nancumprod(tt_composer *c, tt_call_frame *f) { return running(c, f, PROD, true); }
TT_HANDLER_LAID(cumsum, 'W')
TT_HANDLER_LAID(cumprod, 'W')
TT_HANDLER_LAID(nancumsum, 'K')
TT_HANDLER_LAID(nancumprod, 'K')

static tt_array *cumulative(tt_composer *c, tt_call_frame *f, int op) {
  tt_array *a = tt__arg_array(c, f, 0);
  bool initial = tt__arg_bool(c, f, 4, false);
  if (!a) return NULL;
  if (a->rank == 0) a = tt__compose_ravel(c, a);
  if (a && a->rank > 1 && !tt__arg_given(f, 1))
    return tt__compose_fail(c, TT_EVALUE,
                            "For arrays which have more than one dimension ``axis`` argument is required.");
  int axis = a ? tt__arg_axis(c, f, 1, a->rank, 0) : 0;
  tt_dtype type = a ? tt__arg_dtype(c, f, 2, tt__fn_sum_type((tt_dtype)a->dtype)) : TT_F64;
  return tt__arg_out_any(c, f, 3, scan(c, tt__compose_cast(c, a, type), axis, op, initial));
}

static tt_array *cumulative_sum(tt_composer *c, tt_call_frame *f) { return cumulative(c, f, SUM); }
static tt_array *cumulative_prod(tt_composer *c, tt_call_frame *f) { return cumulative(c, f, PROD); }
TT_HANDLER_LAID(cumulative_sum, 'W')
TT_HANDLER_LAID(cumulative_prod, 'W')

/* ---- differences */

/* What is put before or behind: a number becomes one slice along the axis. */
static tt_array *beside(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, int axis) {
  tt_array *x = tt__arg_array(c, f, k);
  if (!x || x->rank > 0) return x;
  int64_t len[TT_MAX_RANK];
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  len[axis] = 1;
  return tt__compose_broadcast(c, x, a->rank, len);
}

/* Arrays joined by the row "concatenate", with its checks and its promotion. */
static tt_array *joined(tt_composer *c, tt_array *const *part, int n, int axis) {
  tt_value item[3], arg[2] = {{.tag = TT_V_TUPLE, .as.tuple = {item, n}}, tt_v_int(axis)};
  for (int i = 0; i < n; i++) {
    if (!part[i]) return NULL;
    item[i] = tt_v_array(part[i]);
  }
  return tt__fn_call(c, "concatenate", arg, 2);
}

/* A None that is put before or behind is an object among others. */
static tt_array *differ_from_none(tt_composer *c, const tt_array *a, bool before) {
  tt_dtype t = (tt_dtype)a->dtype;
  const char *kind = t == TT_BOOL ? "bool" : tt__is_int(t) ? "int" : tt__is_complex(t) ? "complex" : "float";
  return tt__compose_fail(c, TT_ETYPE, "unsupported operand type(s) for -: '%s' and '%s'", before ? kind : "NoneType",
                          before ? "NoneType" : kind);
}

static tt_array *diff(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *part[3];
  int64_t n = tt__arg_int(c, f, 1, 1);
  int parts = 0;
  if (!a || c->code != TT_OK) return NULL;
  if (n == 0) return a;
  if (n < 0) return tt__compose_fail(c, TT_EVALUE, "order must be non-negative but got %lld", (long long)n);
  if (a->rank == 0) return tt__compose_fail(c, TT_EVALUE, "diff requires input that is at least one dimensional");
  int axis = tt__arg_axis(c, f, 2, a->rank, a->rank - 1);
  if (c->code != TT_OK) return NULL;
  for (int k = 3; k < 5; k++)
    if (k < f->narg && f->arg[k].tag == TT_V_NONE) return differ_from_none(c, a, k == 3);
  if (tt__arg_given(f, 3)) part[parts++] = beside(c, f, 3, a, axis);
  part[parts++] = a;
  if (tt__arg_given(f, 4)) part[parts++] = beside(c, f, 4, a, axis);
  if (parts > 1) a = joined(c, part, parts, axis);
  for (; n > 0 && a; n--) {
    int64_t m = tt__array_len(a)[axis], left = m > 0 ? m - 1 : 0;
    tt_op op = a->dtype == TT_BOOL ? TT_NE : TT_SUB;
    a = tt__compose_op2(c, op, tt__compose_slice(c, a, axis, m > 0, left, 1),
                        tt__compose_slice(c, a, axis, 0, left, 1));
  }
  return a;
}
TT_HANDLER(diff)

static tt_array *end_of(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, const char *name) {
  tt_array *x = tt__arg_array(c, f, k);
  if (x && !tt__can_cast_same_kind((tt_dtype)x->dtype, (tt_dtype)a->dtype))
    return tt__compose_fail(c, TT_ETYPE,
                            "dtype of `%s` must be compatible with input `ary` under the `same_kind` rule.", name);
  return tt__compose_cast(c, tt__compose_ravel(c, x), (tt_dtype)a->dtype);
}

static tt_array *ediff1d(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__compose_ravel(c, tt__arg_array(c, f, 0)), *part[3];
  if (!a) return NULL;
  int parts = 0;
  int64_t left = a->size > 0 ? a->size - 1 : 0;
  if (tt__arg_given(f, 2)) part[parts++] = end_of(c, f, 2, a, "to_begin");
  part[parts++] = tt__compose_op2(c, TT_SUB, tt__compose_slice(c, a, 0, a->size > 0, left, 1),
                                  tt__compose_slice(c, a, 0, 0, left, 1));
  if (tt__arg_given(f, 1)) part[parts++] = end_of(c, f, 1, a, "to_end");
  return parts > 1 ? joined(c, part, parts, 0) : part[0];
}
TT_HANDLER(ediff1d)
