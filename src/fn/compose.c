/*
** Calculations; see compose.h.
*/
#include "fn/compose.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/os/apart.h"
#include "base/mem.h"
#include "base/warn.h"
#include "graph/eager/compute.h"
#include "graph/eager/join.h"
#include "graph/order.h"
#include "graph/session.h"
#include "graph/tape.h"
#include "ir/grad.h"

#define APART_BYTES 1.6e7 /* as run/exec_library.c's */
/* As many elements as these times the limit of what is done at the call are made under the lock. */
enum { FEW_TIMES = 4 };

void tt__compose_end(tt_composer *c) {
  for (int64_t i = 0; i < c->held.n; i++) tt__array_release(c->held.data[i]);
  TT_VEC_FEW_FREE(&c->held);
  for (int64_t i = 0; i < c->peeked.n; i++) tt__buffer_release(c->peeked.data[i]);
  TT_VEC_FEW_FREE(&c->peeked);
  TT_VEC_FREE(&c->looked);
  tt__arena_free(&c->scratch);
}

void *tt__compose_scratch(tt_composer *c, int64_t n, size_t item) {
  assert(n >= 0 && item > 0);
  size_t size;
  if (c->code != TT_OK) return NULL;
  void *p = __builtin_mul_overflow((size_t)n, item, &size) ? NULL : tt__arena_alloc(&c->scratch, size);
  if (!p) tt__compose_fail(c, TT_ENOMEM, "out of memory");
  return p;
}

tt_array *tt__compose_fail(tt_composer *c, tt_code code, const char *fmt, ...) {
  assert(code != TT_OK);
  if (c->code != TT_OK) return NULL;
  char text[sizeof c->err->message];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  c->code = tt__fail(c->err, code, "%s", text);
  return NULL;
}

tt_array *tt__compose_keep(tt_composer *c, tt_code code, tt_array *const *made) {
  if (code != TT_OK) {
    if (c->code == TT_OK) c->code = code;
    return NULL;
  }
  if (TT_VEC_FEW_PUSH(&c->held, *made)) return *made;
  tt__array_release(*made);
  return tt__compose_fail(c, TT_ENOMEM, "out of memory");
}

tt_array *tt__compose_apply(tt_composer *c, tt_op op, const tt_value *arg, int n, tt_dtype dtype) {
  assert((unsigned)op < TT_OP_COUNT && n == tt__ops[op].arity);
  if (c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  if (dtype == TT_DTYPE_NONE) return tt__compose_keep(c, tt__apply(op, arg, n, NULL, &out, c->err), &out);
  tt_apply_options options = {.dtype = dtype};
  return tt__compose_keep(c, tt__apply(op, arg, n, &options, &out, c->err), &out);
}

tt_array *tt__compose_op1(tt_composer *c, tt_op op, tt_array *a) {
  if (!a) return NULL;
  tt_value v = tt_v_array(a);
  return tt__compose_apply(c, op, &v, 1, TT_DTYPE_NONE);
}

tt_array *tt__compose_op2(tt_composer *c, tt_op op, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_array(b)};
  return tt__compose_apply(c, op, v, 2, TT_DTYPE_NONE);
}

tt_array *tt__compose_opi(tt_composer *c, tt_op op, tt_array *a, int64_t i) {
  if (!a) return NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_int(i)};
  return tt__compose_apply(c, op, v, 2, TT_DTYPE_NONE);
}

tt_array *tt__compose_opf(tt_composer *c, tt_op op, tt_array *a, double f) {
  if (!a) return NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_float(f)};
  return tt__compose_apply(c, op, v, 2, TT_DTYPE_NONE);
}

tt_array *tt__compose_where(tt_composer *c, tt_array *mask, tt_value a, tt_value b) {
  if (!mask) return NULL;
  tt_value v[3] = {tt_v_array(mask), a, b};
  return tt__compose_apply(c, TT_WHERE, v, 3, TT_DTYPE_NONE);
}

tt_array *tt__compose_cast(tt_composer *c, tt_array *a, tt_dtype dtype) {
  assert((unsigned)dtype < TT_DTYPE_COUNT);
  if (!a || c->code != TT_OK) return NULL;
  if (a->dtype == dtype) return a;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__copy_as(a, dtype, 'W', &out, c->err), &out);
}

tt_array *tt__compose_reduce(tt_composer *c, tt_red red, tt_array *a, uint64_t axes, bool keepdims) {
  assert((unsigned)red < TT_RED_COUNT);
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__reduce(red, a, axes, keepdims, &out, c->err), &out);
}

tt_array *tt__compose_once(tt_composer *c, tt_red red, tt_array *a, uint64_t axes, int64_t *count) {
  tt_node *n = a && c->code == TT_OK ? tt__compose_node(c, a) : NULL, *few = NULL;
  *count = 1;
  if (!n) return NULL;
  few = tt__node_once(red, n, axes, count, c->err);
  tt__node_release(n);
  if (*count > 1) return tt__compose_of_node(c, few);
  tt__node_release(few);
  return a;
}

tt_array *tt__compose_of_all(tt_composer *c, tt_red red, tt_array *one, tt_array *a, uint64_t axes) {
  tt_node *n = one && c->code == TT_OK ? tt__compose_node(c, a) : NULL, *some = n ? tt__compose_node(c, one) : NULL;
  tt_node *all = some ? tt__node_of_all(red, some, n, axes, c->err) : NULL;
  tt__node_release(n);
  tt__node_release(some);
  return n && some ? tt__compose_of_node(c, all) : NULL;
}

tt_array *tt__compose_reshape(tt_composer *c, tt_array *a, int rank, const int64_t *len) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__reshape(a, rank, len, &out, c->err), &out);
}

tt_array *tt__compose_transpose(tt_composer *c, tt_array *a, const int *axes) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__transpose(a, axes, &out, c->err), &out);
}

tt_array *tt__compose_broadcast(tt_composer *c, tt_array *a, int rank, const int64_t *len) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__broadcast_to(a, rank, len, &out, c->err), &out);
}

tt_array *tt__compose_view(tt_composer *c, tt_array *a, int rank, const int64_t *len, const int64_t *step,
                           int64_t off) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = tt__array_view(a, rank, len, step, off, c->err);
  return tt__compose_keep(c, out ? TT_OK : TT_ENOMEM, &out);
}

tt_array *tt__compose_slice(tt_composer *c, tt_array *a, int axis, int64_t start, int64_t n, int64_t step) {
  if (!a || c->code != TT_OK) return NULL;
  int64_t len[TT_MAX_RANK], steps[TT_MAX_RANK];
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  memcpy(steps, tt__array_step(a), sizeof *steps * a->rank);
  int64_t off = a->off + (n > 0 ? start * steps[axis] : 0);
  len[axis] = n;
  steps[axis] *= step;
  return tt__compose_view(c, a, a->rank, len, steps, off);
}

tt_array *tt__compose_get(tt_composer *c, tt_array *a, const tt_value *index) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__get(a, index, &out, c->err), &out);
}

bool tt__compose_set_at(tt_composer *c, tt_array *a, const tt_value *index, tt_value value) {
  if (!a || c->code != TT_OK) return false;
  c->code = tt__set(a, index, &value, c->err);
  return c->code == TT_OK;
}

bool tt__compose_set(tt_composer *c, tt_array *a, tt_value value) {
  const tt_value all = {.tag = TT_V_ELLIPSIS};
  return tt__compose_set_at(c, a, &all, value);
}

tt_array *tt__compose_empty(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len) {
  assert((unsigned)dtype < TT_DTYPE_COUNT && rank >= 0 && rank <= TT_MAX_RANK);
  if (c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__empty(dtype, rank, len, &out, c->err), &out);
}

tt_array *tt__compose_full(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len, tt_value value) {
  assert((unsigned)dtype < TT_DTYPE_COUNT && rank >= 0 && rank <= TT_MAX_RANK);
  if (c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__full(dtype, rank, len, &value, &out, c->err), &out);
}

tt_array *tt__compose_of_node(tt_composer *c, tt_node *n) {
  if (!n) return tt__compose_keep(c, c->err->code ? c->err->code : TT_ENOMEM, NULL);
  tt_array *a = tt__array_of(n, c->err);
  tt__node_release(n);
  return tt__compose_keep(c, a ? TT_OK : TT_ENOMEM, &a);
}

tt_node *tt__compose_node(tt_composer *c, tt_array *a) {
  if (!a || c->code != TT_OK) return NULL;
  tt_node *n = tt__array_node(a, c->err);
  if (!n) c->code = TT_ENOMEM;
  return n;
}

tt_array *tt__compose_iota(tt_composer *c, int64_t n) {
  assert(n >= 0);
  if (c->code != TT_OK) return NULL;
  return tt__compose_of_node(c, tt__node_iota(1, &n, c->err));
}

/* A LIB node over arrays: one hold, or NULL. */
static tt_node *library_node(tt_composer *c, const tt_lib_attr *attr, tt_array *const *src, int n) {
  tt_node *operand[TT_NODE_SRC] = {NULL}, *lib = NULL;
  bool ok = c->code == TT_OK;
  for (int i = 0; i < n && ok; i++) ok = (operand[i] = tt__compose_node(c, src[i])) != NULL;
  if (ok && !(lib = tt__node_lib(attr, operand, n, c->err))) c->code = TT_ENOMEM;
  for (int i = 0; i < n; i++) tt__node_release(operand[i]);
  return lib;
}

tt_array *tt__compose_library(tt_composer *c, const tt_lib_attr *attr, tt_array *const *src, int n, tt_dtype dtype,
                              int rank, const int64_t *len) {
  assert(n >= 0 && rank >= 0 && rank <= TT_MAX_RANK);
  tt_node *lib = library_node(c, attr, src, n), *pick = lib ? tt__node_pick(lib, 0, dtype, rank, len, c->err) : NULL;
  tt__node_release(lib);
  return lib ? tt__compose_of_node(c, pick) : NULL;
}

bool tt__compose_library_many(tt_composer *c, const tt_lib_attr *attr, tt_array *const *src, int n,
                              const tt_compose_want *want, int nout, tt_array **out) {
  assert(n >= 0 && nout > 0);
  tt_node *lib = library_node(c, attr, src, n), *pick[TT_LIB_PICKS] = {NULL};
  bool ok = lib != NULL;
  /* All picks before the first array: making an array may evaluate, and one run should give every result. */
  for (int k = 0; k < nout && ok; k++)
    ok = (pick[k] = tt__node_pick(lib, k, want[k].dtype, want[k].rank, want[k].len, c->err)) != NULL;
  if (lib && !ok) c->code = TT_ENOMEM;
  for (int k = 0; k < nout; k++) {
    out[k] = NULL;
    if (ok && (out[k] = tt__compose_of_node(c, pick[k]))) continue;
    if (!ok) tt__node_release(pick[k]);
    ok = false;
  }
  tt__node_release(lib);
  return ok;
}

/* ---- spelled in the above */

tt_array *tt__compose_expand(tt_composer *c, tt_array *a, int axis) {
  if (!a) return NULL;
  int64_t len[TT_MAX_RANK + 1], step[TT_MAX_RANK + 1];
  if (a->rank == TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found 65");
  for (int d = 0; d <= a->rank; d++) {
    int from = d < axis ? d : d - 1;
    len[d] = d == axis ? 1 : tt__array_len(a)[from];
    step[d] = d == axis ? 0 : tt__array_step(a)[from];
  }
  return tt__compose_view(c, a, a->rank + 1, len, step, a->off);
}

tt_array *tt__compose_move(tt_composer *c, tt_array *a, int from, int to) {
  if (!a || from == to) return a;
  int order[TT_MAX_RANK], n = 0;
  for (int d = 0; d < a->rank; d++)
    if (d != from) order[n++] = d;
  memmove(order + to + 1, order + to, sizeof *order * (size_t)(n - to));
  order[to] = from;
  return tt__compose_transpose(c, a, order);
}

tt_array *tt__compose_flip(tt_composer *c, tt_array *a, int axis) {
  if (!a) return NULL;
  int64_t n = tt__array_len(a)[axis];
  return tt__compose_slice(c, a, axis, n > 0 ? n - 1 : 0, n, -1);
}

tt_array *tt__compose_ravel(tt_composer *c, tt_array *a) { return a ? tt__compose_reshape(c, a, 1, &a->size) : NULL; }

tt_array *tt__compose_copy(tt_composer *c, tt_array *a) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__copy(a, &out, c->err), &out);
}

tt_array *tt__compose_copy_in(tt_composer *c, tt_array *a, char order) {
  if (!a || c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__copy_as(a, (tt_dtype)a->dtype, order, &out, c->err), &out);
}

tt_array *tt__compose_flat(tt_composer *c, tt_array *a, char order, bool copy) {
  int axes[TT_MAX_RANK];
  if (!a || c->code != TT_OK) return NULL;
  bool walked = order == 'K' && !tt__array_is_c(a) && !tt__array_is_f(a);
  if (walked)
    tt__order_walk(&a, 1, a->rank, axes); /* axes that do not move stay where they are */
  else
    tt__order_of(a, order, axes);
  tt_array *turned = tt__compose_transpose(c, a, axes);
  copy = copy || (turned && !tt__array_is_c(turned));
  return copy ? tt__compose_copy(c, tt__compose_ravel(c, turned)) : tt__compose_ravel(c, turned);
}

/* The imaginary part is turned by a product, so an infinite or NaN part takes the real one along. */
tt_array *tt__compose_complex(tt_composer *c, tt_array *re, tt_array *im) {
  if (!re || !im) return NULL;
  tt_dtype type = tt__complex_of((tt_dtype)re->dtype);
  tt_value v[2] = {tt_v_array(tt__compose_cast(c, im, type)), {.tag = TT_V_COMPLEX, .as.z = {0, 1}}};
  if (c->code != TT_OK) return NULL;
  return tt__compose_op2(c, TT_ADD, tt__compose_cast(c, re, type), tt__compose_apply(c, TT_MUL, v, 2, TT_DTYPE_NONE));
}

tt_array *tt__compose_concat(tt_composer *c, tt_array *const *part, int64_t n, int axis) {
  assert(n > 0);
  if (c->code != TT_OK) return NULL;
  int64_t len[TT_MAX_RANK], at = 0;
  memcpy(len, tt__array_len(part[0]), sizeof *len * part[0]->rank);
  for (int64_t i = 1; i < n; i++)
    if (__builtin_add_overflow(len[axis], tt__array_len(part[i])[axis], &len[axis]))
      return tt__compose_fail(c, TT_EVALUE, "array is too big");
  tt_node *joined = tt__eager_join(part, n, axis, len);
  if (joined) return tt__compose_of_node(c, joined);
  tt_array *out = tt__compose_empty(c, (tt_dtype)part[0]->dtype, part[0]->rank, len);
  for (int64_t i = 0; i < n && out; i++) {
    int64_t m = tt__array_len(part[i])[axis];
    if (part[i]->size && !tt__compose_set(c, tt__compose_slice(c, out, axis, at, m, 1), tt_v_array(part[i])))
      return NULL;
    at += m;
  }
  return out;
}

tt_array *tt__compose_take(tt_composer *c, tt_array *a, tt_array *index, int axis) {
  if (!a || !index) return NULL;
  tt_value item[TT_MAX_RANK];
  for (int d = 0; d < axis; d++) item[d] = (tt_value){.tag = TT_V_SLICE};
  item[axis] = tt_v_array(index);
  tt_value all = {.tag = TT_V_TUPLE, .as.tuple = {.item = item, .n = axis + 1}};
  return tt__compose_get(c, a, &all);
}

/* ---- looking */

static bool has_slope(const tt_array *a) {
  return tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype);
}

static bool is_followed(const tt_array *a) { return has_slope(a) && tt__is_taped(a->storage->node); }

/* What was computed at once gets a history where its operands have one: by a name, or as a call of a row. */
static bool follow(tt_composer *c, const char *name, const tt_lib_attr *row, unsigned keeps, tt_array *const *src,
                   int n, tt_array **out, int nout) {
  bool any = false;
  for (int i = 0; i < n; i++) any |= is_followed(src[i]);
  if (!any) return true;
  int have = 0;
  tt_node **node = tt__compose_scratch(c, n, sizeof *node);
  for (; node && have < n && (node[have] = tt__compose_node(c, src[have])); have++) continue;
  tt_tape *t = node && have == n ? tt__tape_made(name, row, keeps, node, n, nout, c->err) : NULL;
  if (!t && c->code == TT_OK) c->code = TT_ENOMEM;
  for (int k = 0; t && k < nout && c->code == TT_OK; k++) {
    tt_node *value = has_slope(out[k]) ? tt__compose_node(c, out[k]) : NULL;
    if (value) out[k] = tt__compose_of_node(c, tt__tape_result(t, k, value, c->err));
    tt__node_release(value);
  }
  tt__tape_release(t);
  for (int i = 0; i < have; i++) tt__node_release(node[i]);
  return c->code == TT_OK;
}

tt_array *tt__compose_derived(tt_composer *c, const char *name, tt_array *const *src, int n, tt_array *result) {
  return result && follow(c, name, NULL, tt__grad_library_keeps(name), src, n, &result, 1) ? result : NULL;
}

tt_array *tt__compose_derived_call(tt_composer *c, const tt_lib_attr *attr, tt_array *const *src, int n,
                                   tt_array *result) {
  unsigned keeps = tt__grad_library_keeps(attr->row->name);
  return result && follow(c, NULL, attr, keeps, src, n, &result, 1) ? result : NULL;
}

bool tt__compose_look(tt_composer *c, tt_array *a) {
  if (!is_followed(a) || TT_VEC_PUSH(&c->looked, a)) return true;
  tt__compose_fail(c, TT_ENOMEM, "out of memory");
  return false;
}

bool tt__compose_follow_looks(tt_composer *c, tt_array **out, int n) {
  const char *name = c->name ? c->name : "a function that looks at elements";
  if (c->looked.n == 0) return true;
  for (int k = 0; k < n; k++)
    if (out[k]->size > 0 && !out[k]->storage->node->tape &&
        !follow(c, name, NULL, 0, c->looked.data, (int)c->looked.n, &out[k], 1))
      return false;
  return true;
}

const void *tt__compose_peek(tt_composer *c, tt_array *a) {
  if (!a || c->code != TT_OK) return NULL;
  const void *data;
  tt_buffer *hold;
  if (!tt__compose_look(c, a)) return NULL;
  c->code = tt__array_peek_dense(a, &data, &hold, c->err);
  if (c->code != TT_OK) return NULL;
  if (!hold || TT_VEC_FEW_PUSH(&c->peeked, hold)) return data;
  tt__buffer_release(hold);
  tt__compose_fail(c, TT_ENOMEM, "out of memory");
  return NULL;
}

bool tt__compose_at_hand(tt_array *a) {
  const tt_node *n = a->storage->node;
  return n->op == TT_N_CONST || n->op == TT_N_IOTA || tt__array_at_hand(a);
}

bool tt__compose_settle(tt_composer *c, tt_array *const *a, int n) {
  tt_node *node[TT_LIB_PICKS] = {NULL};
  int have = 0;
  if (c->code != TT_OK) return false;
  if (tt__session_defer) return true;
  for (; have < n && have < TT_LIB_PICKS && c->code == TT_OK; have++)
    if (!(node[have] = tt__array_node(a[have], c->err))) c->code = TT_ENOMEM;
  if (c->code == TT_OK) c->code = tt__evaluate(node, have, c->err);
  for (int k = 0; k < have; k++) tt__node_release(node[k]);
  return c->code == TT_OK;
}

tt_array *tt__compose_warn_where(tt_composer *c, tt_array *flag, tt_array *result, const char *words) {
  if (!flag || c->code != TT_OK) return NULL;
  if (tt__session_defer) return result;
  if (flag->rank > 0) flag = tt__compose_reduce(c, TT_RED_ANY, flag, ~UINT64_C(0) >> (64 - flag->rank), false);
  tt_array *both[2] = {flag, result};
  if (!flag || !tt__compose_settle(c, both, result ? 2 : 1)) return NULL;
  const bool *holds = tt__compose_peek(c, flag);
  if (holds && *holds) tt__warn(TT_WARN_RUNTIME, "%s", words);
  return holds ? result : NULL;
}

/* An array over a buffer whose hold is taken. */
static tt_array *over_buffer(tt_composer *c, tt_buffer *b, tt_dtype dtype, int rank, const int64_t *len) {
  tt_node *n = b ? tt__node_new(TT_N_BUFFER, dtype, rank, len, 0, c->err) : NULL;
  if (!n) {
    tt__buffer_release(b);
    return tt__compose_keep(c, TT_ENOMEM, NULL);
  }
  n->attr.buf = b;
  return tt__compose_of_node(c, n);
}

tt_array *tt__compose_block(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len, void **data) {
  assert(rank >= 0 && rank <= TT_MAX_RANK && data);
  int64_t size;
  *data = NULL;
  if (c->code != TT_OK || (c->code = tt__shape_size(rank, len, dtype, &size, c->err)) != TT_OK) return NULL;
  tt_buffer *b = tt__buffer_new((size_t)size * tt__dtype_size(dtype), c->err);
  void *elements = b ? b->data : NULL;
  tt_array *out = over_buffer(c, b, dtype, rank, len);
  if (!out || !tt__compose_follow_looks(c, &out, 1)) return NULL;
  *data = elements;
  return out;
}

/* Take memory of tt__mem_alloc_data of exactly n elements as an array on one axis. NULL in `*data` is left behind. */
static tt_array *adopt(tt_composer *c, tt_dtype dtype, int64_t n, void **data) {
  if (c->code != TT_OK) return NULL;
  if (n == 0) return tt__compose_empty(c, dtype, 1, &n);
  tt_buffer *b = tt__buffer_adopt(*data, (size_t)n * tt__dtype_size(dtype), false, NULL, NULL, c->err);
  if (b) *data = NULL;
  return over_buffer(c, b, dtype, 1, &n);
}

/* The maker on the device where its first operand lies; false: on the host, or c->code says why not at all. */
static bool make_there(tt_composer *c, const tt_lib_maker *m, const tt_lib_attr *attr, tt_array *const *src, int n,
                       tt_array **out) {
  int id = tt__array_device(src[0]), have = 0;
  tt_node *node[TT_NODE_SRC];
  tt_make_result made[TT_NODE_SRC] = {{0}};
  if (id <= 0) return false;
  while (have < n && (node[have] = tt__array_node(src[have], c->err))) have++;
  tt_code code = have == n ? tt__session_make(m->name, attr, node, id, made, c->err) : TT_ENOMEM;
  while (have > 0) tt__node_release(node[--have]);
  if (code == TT_ENOTIMPL) return false;
  c->code = code;
  for (int k = 0; k < m->nout; k++) {
    if (!made[k].buffer) {
      int64_t none = 0;
      out[k] = tt__compose_empty(c, made[k].dtype, 1, &none);
      continue;
    }
    out[k] = over_buffer(c, made[k].buffer, made[k].dtype, 1, &made[k].n);
    if (out[k] && src[0]->storage->node->device > 0) out[k]->storage->node->device = (int16_t)id;
  }
  return code == TT_OK;
}

/* A maker's call with all that it needs, so that it may outlive who asked for it; unless its operands are few: then it
 * is done under the lock. */
typedef struct make_call {
  bool few;
  const tt_lib_maker *m;
  tt_lib_attr attr;
  tt_operand src[TT_NODE_SRC];
  tt_made made[TT_NODE_SRC];
  tt_buffer *source[TT_NODE_SRC]; /* retained */
  tt_code code;
  tt_error err;
  int64_t len[TT_NODE_SRC][TT_MAX_RANK], step[TT_NODE_SRC][TT_MAX_RANK];
} make_call;

static bool are_few(tt_array *const *src, int n) {
  bool few = true;
  for (int i = 0; i < n; i++) few &= src[i] && tt__eager_few(src[i]->size / FEW_TIMES);
  return few;
}

static void run_maker(void *ctx) {
  make_call *f = ctx;
  f->code = f->m->run(&f->attr, f->src, f->made, &f->err);
}

/* Session lock held. */
static void free_maker(make_call *f) {
  for (int i = 0; i < TT_NODE_SRC; i++) {
    tt__buffer_release(f->source[i]);
    if (f->made[i].data) tt__mem_free_data(f->made[i].data, (size_t)f->made[i].n * tt__dtype_size(f->made[i].dtype));
  }
  if (!f->few) tt__mem_free(f, sizeof *f);
}

static void end_left_maker(void *ctx) {
  tt__session_lock();
  free_maker(ctx);
  tt__session_unlock();
}

static bool take_operand(tt_composer *c, make_call *f, int i, tt_array *a) {
  int64_t before = c->peeked.n, looks = c->looked.n;
  const void *data = tt__compose_peek(c, a);
  c->looked.n = looks; /* what the maker gives has a history of its own */
  if (!data) return false;
  if (c->peeked.n > before) f->source[i] = tt__buffer_retain(c->peeked.data[before]);
  if (a->rank) memcpy(f->len[i], tt__array_len(a), sizeof f->len[i][0] * (size_t)a->rank);
  tt__shape_steps(a->rank, f->len[i], f->step[i]);
  f->src[i] = (tt_operand){.data = data,
                           .dtype = (tt_dtype)a->dtype,
                           .rank = a->rank,
                           .len = f->len[i],
                           .step = f->step[i],
                           .size = a->size};
  return true;
}

/* What takes longer than somebody waits who has pressed Ctrl-C is run apart. False: `f` is free, or no longer ours. */
static bool make_here(tt_composer *c, make_call *f) {
  double bytes = 0;
  for (int i = 0; i < f->m->nsrc; i++) bytes += (double)f->src[i].size * (double)tt__dtype_size(f->src[i].dtype);
  int depth = f->few ? 0 : tt__session_suspend();
  if (bytes > APART_BYTES && !f->few)
    c->code = tt__apart_run(run_maker, end_left_maker, f, c->err);
  else
    run_maker(f);
  if (!f->few) tt__session_resume(depth);
  if (c->code == TT_EINTERRUPT) return false;
  if (c->code == TT_OK && f->code != TT_OK) {
    c->code = f->code;
    if (c->err) *c->err = f->err;
  }
  if (c->code != TT_OK) free_maker(f);
  return c->code == TT_OK;
}

static bool make(tt_composer *c, const tt_lib_maker *m, const tt_lib_attr *attr, tt_array *const *src, int n,
                 tt_array **out) {
  if (make_there(c, m, attr, src, n, out)) return true;
  if (c->code != TT_OK) return false;
  bool few = are_few(src, n);
  make_call here, *f = few ? &here : tt__mem_alloc(sizeof *f);
  if (!f) return tt__compose_fail(c, TT_ENOMEM, "out of memory") != NULL;
  memset(f, 0, offsetof(make_call, len));
  f->few = few;
  f->m = m;
  f->attr = *attr;
  for (int i = 0; i < n; i++) {
    if (take_operand(c, f, i, src[i])) continue;
    free_maker(f);
    return false;
  }
  if (!make_here(c, f)) return false;
  TT_COUNT(library_calls, 1);
  for (int k = 0; k < m->nout; k++) out[k] = adopt(c, f->made[k].dtype, f->made[k].n, &f->made[k].data);
  free_maker(f);
  return c->code == TT_OK;
}

bool tt__compose_make(tt_composer *c, const char *name, const tt_lib_attr *attr, tt_array *const *src, int n,
                      tt_array **out) {
  const tt_lib_maker *m = tt__lib_maker(name);
  assert(m && m->nsrc == n && m->nout <= TT_NODE_SRC);
  return c->code == TT_OK && make(c, m, attr, src, n, out) &&
         follow(c, m->name, NULL, tt__grad_library_keeps(m->name), src, n, out, m->nout);
}
