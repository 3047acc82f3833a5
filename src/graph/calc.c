/*
** Calculations; see calc.h.
*/
#include "graph/calc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tt__calc_end(tt_calc *c) {
  for (int64_t i = 0; i < c->held.n; i++) tt__array_release(c->held.data[i]);
  TT_VEC_FREE(&c->held);
}

tt_array *tt__calc_fail(tt_calc *c, tt_code code, const char *fmt, ...) {
  if (c->code != TT_OK) return NULL;
  char text[sizeof c->err->message];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  c->code = tt__fail(c->err, code, "%s", text);
  return NULL;
}

tt_array *tt__calc_keep(tt_calc *c, tt_code code, tt_array *const *made) {
  if (code != TT_OK) {
    if (c->code == TT_OK) c->code = code;
    return NULL;
  }
  if (TT_VEC_PUSH(&c->held, *made)) return *made;
  tt__array_release(*made);
  return tt__calc_fail(c, TT_ENOMEM, "out of memory");
}

tt_code tt__calc_result(tt_calc *c, tt_array *a, tt_array **out) {
  if (c->code != TT_OK) return c->code;
  *out = tt__array_retain(a);
  return TT_OK;
}

tt_array *tt__calc_apply(tt_calc *c, tt_op op, const tt_value *arg, int n, tt_dtype dtype) {
  if (c->code != TT_OK) return NULL;
  tt_apply_options options = {.dtype = dtype};
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__apply(op, arg, n, &options, &out, c->err), &out);
}

tt_array *tt__calc_op1(tt_calc *c, tt_op op, tt_array *a) {
  if (!a) return NULL;
  tt_value v = tt_v_array(a);
  return tt__calc_apply(c, op, &v, 1, TT_DTYPE_NONE);
}

tt_array *tt__calc_op2(tt_calc *c, tt_op op, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_array(b)};
  return tt__calc_apply(c, op, v, 2, TT_DTYPE_NONE);
}

tt_array *tt__calc_opi(tt_calc *c, tt_op op, tt_array *a, int64_t i) {
  if (!a) return NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_int(i)};
  return tt__calc_apply(c, op, v, 2, TT_DTYPE_NONE);
}

tt_array *tt__calc_opf(tt_calc *c, tt_op op, tt_array *a, double f) {
  if (!a) return NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_float(f)};
  return tt__calc_apply(c, op, v, 2, TT_DTYPE_NONE);
}

tt_array *tt__calc_where(tt_calc *c, tt_array *mask, tt_value a, tt_value b) {
  if (!mask) return NULL;
  tt_value v[3] = {tt_v_array(mask), a, b};
  return tt__calc_apply(c, TT_WHERE, v, 3, TT_DTYPE_NONE);
}

tt_array *tt__calc_cast(tt_calc *c, tt_array *a, tt_dtype dtype) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__cast(a, dtype, false, &out, c->err), &out);
}

tt_array *tt__calc_reduce(tt_calc *c, tt_red red, tt_array *a, uint64_t axes, bool keepdims) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__reduce(red, a, axes, keepdims, &out, c->err), &out);
}

tt_array *tt__calc_reshape(tt_calc *c, tt_array *a, int rank, const int64_t *len) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__reshape(a, rank, len, &out, c->err), &out);
}

tt_array *tt__calc_transpose(tt_calc *c, tt_array *a, const int *axes) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__transpose(a, axes, &out, c->err), &out);
}

tt_array *tt__calc_broadcast(tt_calc *c, tt_array *a, int rank, const int64_t *len) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__broadcast_to(a, rank, len, &out, c->err), &out);
}

tt_array *tt__calc_view(tt_calc *c, tt_array *a, int rank, const int64_t *len, const int64_t *step, int64_t off) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = tt__array_view(a, rank, len, step, off, c->err);
  return tt__calc_keep(c, out ? TT_OK : TT_ENOMEM, &out);
}

tt_array *tt__calc_slice(tt_calc *c, tt_array *a, int axis, int64_t start, int64_t n, int64_t step) {
  if (!a || c->code != TT_OK) return NULL;
  int64_t len[TT_MAX_RANK], steps[TT_MAX_RANK];
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  memcpy(steps, tt__array_step(a), sizeof *steps * a->rank);
  int64_t off = a->off + (n > 0 ? start * steps[axis] : 0);
  len[axis] = n;
  steps[axis] *= step;
  return tt__calc_view(c, a, a->rank, len, steps, off);
}

tt_array *tt__calc_get(tt_calc *c, tt_array *a, const tt_value *index) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__get(a, index, &out, c->err), &out);
}

bool tt__calc_set(tt_calc *c, tt_array *a, tt_value value) {
  if (!a || c->code != TT_OK) return false;
  tt_value all = {.tag = TT_V_ELLIPSIS};
  c->code = tt__set(a, &all, &value, c->err);
  return c->code == TT_OK;
}

tt_array *tt__calc_empty(tt_calc *c, tt_dtype dtype, int rank, const int64_t *len) {
  if (c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__empty(dtype, rank, len, &out, c->err), &out);
}

tt_array *tt__calc_full(tt_calc *c, tt_dtype dtype, int rank, const int64_t *len, tt_value value) {
  if (c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__calc_keep(c, tt__full(dtype, rank, len, &value, &out, c->err), &out);
}

tt_array *tt__calc_of_node(tt_calc *c, tt_node *n) {
  if (!n) return tt__calc_keep(c, c->err->code ? c->err->code : TT_ENOMEM, NULL);
  tt_array *a = tt__array_of(n, c->err);
  tt__node_release(n);
  return tt__calc_keep(c, a ? TT_OK : TT_ENOMEM, &a);
}

tt_node *tt__calc_node(tt_calc *c, tt_array *a) {
  if (!a || c->code != TT_OK) return NULL;
  tt_node *n = tt__array_node(a, c->err);
  if (!n) c->code = TT_ENOMEM;
  return n;
}

tt_array *tt__calc_iota(tt_calc *c, int64_t n) {
  if (c->code != TT_OK) return NULL;
  return tt__calc_of_node(c, tt__node_iota(1, &n, c->err));
}

tt_array *tt__calc_library(tt_calc *c, const tt_lib_attr *attr, tt_array *const *src, int n, tt_dtype dtype, int rank,
                           const int64_t *len) {
  tt_node *operand[TT_NODE_SRC] = {NULL}, *lib = NULL, *pick = NULL;
  bool ok = c->code == TT_OK;
  for (int i = 0; i < n && ok; i++) ok = (operand[i] = tt__calc_node(c, src[i])) != NULL;
  if (ok) lib = tt__node_lib(attr, operand, n, c->err);
  if (lib) pick = tt__node_pick(lib, 0, dtype, rank, len, c->err);
  tt__node_release(lib);
  for (int i = 0; i < n; i++) tt__node_release(operand[i]);
  return ok ? tt__calc_of_node(c, pick) : NULL;
}
