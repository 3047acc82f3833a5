/*
** ufunc.at: the operation at places of an array, one after the other, so that a place that comes twice is changed
** twice.
**
** Where the array lies in the host's memory and nobody else holds it, element after element is changed there.
** Elsewhere values are picked, folded by place, and written back: equal places hold equal values then, so it does not
** matter which of them is written last, nor where.
*/
#include "graph/index/alias.h"
#include "fn/ufunc/methods.h"
#include "graph/eager/eager.h"
#include "graph/promote.h"
#include "graph/session.h"
#include "graph/tape.h"

enum { ARRAY = 1, INDEX = 2, SECOND = 3 };

typedef struct change {
  const tt_ufunc_info *u;
  tt_array *a, *b; /* b: NULL for one operand; as the picked values */
  const tt_value *index;
  tt_array *value, *place; /* what is picked, and its flat places in a */
} change;

static bool check(tt_composer *c, const tt_call_frame *f, const tt_ufunc_info *u) {
  if (!u) return false;
  bool second = tt__arg_given(f, SECOND);
  if (u->signature)
    tt__compose_fail(c, TT_ETYPE, "%s.at does not support ufunc with non-trivial signature: %s has signature %s.",
                     u->name, u->name, u->signature);
  else if (u->nout != 1)
    tt__compose_fail(c, TT_EVALUE, "Only single output ufuncs supported at this time");
  else if (u->nin == 2 && !second)
    tt__compose_fail(c, TT_EVALUE, "second operand needed for ufunc");
  else if (u->nin == 1 && second)
    tt__compose_fail(c, TT_EVALUE, "second operand provided when ufunc is unary");
  else if (f->arg[ARRAY].tag != TT_V_ARRAY)
    tt__compose_fail(c, TT_ETYPE, "first operand must be array");
  else
    c->code = tt__array_check_writable(f->arg[ARRAY].as.array, c->err);
  return c->code == TT_OK;
}

static tt_array *operate(tt_composer *c, const change *w, tt_array *a, tt_array *b) {
  if (!a || (w->b && !b)) return NULL;
  tt_value v[2] = {tt_v_array(a), {.tag = TT_V_NONE}};
  if (b) v[1] = tt_v_array(b);
  return tt__compose_cast(c, tt__ufunc_apply(c, w->u, v), (tt_dtype)w->a->dtype);
}

static bool write_back(tt_composer *c, const change *w, const tt_value *index, tt_array *value) {
  tt_value v;
  if (!value) return false;
  v = tt_v_array(value);
  c->code = tt__set(w->a, index, &v, c->err);
  return c->code == TT_OK;
}

/* The type in which the library's loops take an array's values; TT_DTYPE_NONE: there are none. */
static tt_dtype plain(tt_dtype t) {
  return tt__is_complex(t) ? TT_DTYPE_NONE : t == TT_F16 || t == TT_BF16 ? TT_F32 : t;
}

static tt_dtype plain_or_complex(tt_dtype t) { return tt__is_complex(t) ? t : plain(t) == t ? t : TT_DTYPE_NONE; }

/* By the library's loops. False: they lack the types (nothing has been done), or a failure. */
static bool in_library(tt_composer *c, const change *w, bool *done) {
  static const tt_scalar zero;
  const void *none[2] = {&zero, &zero};
  tt_scalar room;
  tt_types types;
  tt_value v[2] = {tt_v_array(w->a), {.tag = TT_V_NONE}};
  *done = false;
  if (w->u->op == TT_OP_COUNT || !tt__session_elements) return false;
  if (w->b) v[1] = tt_v_array(w->b);
  if ((c->code = tt__op_types(w->u->op, v, w->u->nin, TT_DTYPE_NONE, &types, c->err)) != TT_OK) return false;
  tt_dtype own = plain((tt_dtype)w->a->dtype), compute = plain(types.compute), result = plain(types.result);
  if (own == TT_DTYPE_NONE || compute == TT_DTYPE_NONE || result == TT_DTYPE_NONE) return false;
  if (!tt__session_elements(w->u->op, compute, result, none, w->u->nin, &room, 0)) return false;
  int64_t n = w->value->size;
  tt_array *src[3] = {tt__compose_cast(c, tt__compose_ravel(c, w->value), own), tt__compose_ravel(c, w->place),
                      w->b ? tt__compose_cast(c, tt__compose_ravel(c, w->b), compute) : NULL};
  if (!src[0] || !src[1] || (w->b && !src[2])) return false;
  tt_lib_attr attr = {.row = tt__lib_row(w->b ? "fold_at" : "fold_at_one"), .i = {w->u->op, compute, result}};
  tt_array *r = tt__compose_library(c, &attr, src, w->b ? 3 : 2, own, 1, &n);
  r = tt__compose_reshape(c, tt__compose_cast(c, r, (tt_dtype)w->a->dtype), w->value->rank, tt__array_len(w->value));
  *done = write_back(c, w, w->index, r);
  return *done;
}

/* In turns, each with the elements whose places have come so often before. */
static bool in_turns(tt_composer *c, const change *w) {
  int64_t n = w->value->size, turns = 0;
  tt_array *place = tt__compose_ravel(c, w->place), *flat = tt__compose_ravel(c, w->a), *b = NULL;
  tt_lib_attr attr = {.row = tt__lib_row("fold_turns")};
  tt_array *turn = place ? tt__compose_library(c, &attr, &place, 1, TT_I64, 1, &n) : NULL;
  const int64_t *p = turn ? tt__compose_peek(c, turn) : NULL;
  if (w->b)
    b = tt__compose_ravel(c, tt__storage_root(w->b->storage) == tt__storage_root(w->a->storage)
                                 ? tt__compose_copy(c, w->b)
                                 : w->b); /* as it was */
  if (!p || !flat || (w->b && !b)) return false;
  for (int64_t i = 0; i < n; i++) turns = p[i] >= turns ? p[i] + 1 : turns;
  for (int64_t t = 0; t < turns; t++) {
    tt_array *now = tt__compose_opi(c, TT_EQ, turn, t);
    if (!now) return false;
    tt_value v = tt_v_array(now);
    tt_array *at = tt__compose_get(c, place, &v), *second = b ? tt__compose_get(c, b, &v) : NULL;
    if (!at || (b && !second)) return false;
    tt_value index = tt_v_array(at);
    change flat_change = *w;
    flat_change.a = flat;
    if (!write_back(c, &flat_change, &index, operate(c, w, tt__compose_get(c, flat, &index), second))) return false;
  }
  bool copied = flat->storage != w->a->storage; /* a did not lie in order */
  tt_array *whole = copied ? tt__compose_reshape(c, flat, w->a->rank, tt__array_len(w->a)) : NULL;
  return !copied || (whole && tt__compose_set(c, w->a, tt_v_array(whole)));
}

/* ---- at once */

/* The type that all of it may be computed in; TT_DTYPE_NONE: there is none. Whole numbers wrap in theirs as well as in
 * a wider one. */
static tt_dtype one_type(tt_composer *c, const change *w) {
  tt_types t;
  tt_dtype own = (tt_dtype)w->a->dtype;
  tt_value v[2] = {tt_v_array(w->a), tt_v_array(w->b)};
  bool wraps = w->u->op == TT_ADD || w->u->op == TT_SUB || w->u->op == TT_MUL;
  if (w->u->op == TT_OP_COUNT || plain_or_complex(own) == TT_DTYPE_NONE) return TT_DTYPE_NONE;
  if ((c->code = tt__op_types(w->u->op, v, 2, TT_DTYPE_NONE, &t, c->err)) != TT_OK) return TT_DTYPE_NONE;
  if (t.compute == own && t.result == own) return own;
  return wraps && tt__is_int(own) && tt__is_int(t.compute) ? own : TT_DTYPE_NONE;
}

/* The elements of an array in C order and in a type, for as long as the calculation lives. NULL: they are not at hand,
 * or a failure. */
static const void *elements_as(tt_composer *c, tt_array *a, tt_dtype dtype) {
  const void *from = tt__compose_peek(c, a);
  if (!from || a->dtype == dtype) return from;
  void *to = tt__compose_scratch(c, a->size, tt__dtype_size(dtype));
  return to && tt__session_elements(TT_CAST, (tt_dtype)a->dtype, dtype, &from, 1, to, a->size) ? to : NULL;
}

/* The one number that is to meet every place, without an evaluation. */
static bool one_number(const tt_array *b, tt_dtype dtype, tt_scalar *out) {
  tt_scalar own;
  const void *from = &own;
  if (!tt__eager_element(b->storage->node, b->off, &own)) return false;
  *out = own;
  return b->dtype == dtype || tt__session_elements(TT_CAST, (tt_dtype)b->dtype, dtype, &from, 1, out, 1);
}

/* Has b what meets each place: an element, or where places are rows of `a`, one of those? */
static bool is_second(const change *w, const tt_array *at, bool rows) {
  const tt_array *b = w->b;
  int row = rows ? w->a->rank - 1 : 0;
  return b->rank == at->rank + row && tt__shape_same(at->rank, b->dim, at->dim) &&
         tt__shape_same(row, b->dim + at->rank, w->a->dim + 1);
}

/* In the array's own memory, at places that count `len` elements or rows, `step` apart. False: nothing is done. */
static bool in_memory(tt_composer *c, const change *w, tt_array *at, int64_t len, int64_t step, bool rows) {
  tt_array *a = w->a;
  tt_scalar one;
  if (!w->b || at->rank == 0 || at->size == 0 || !tt__is_int((tt_dtype)at->dtype)) return false;
  if (tt__is_taped(a->storage->node) || tt__is_taped(w->b->storage->node))
    return false; /* written at once: no history */
  bool same = is_second(w, at, rows), number = !rows && w->b->size == 1 && w->b->rank <= at->rank;
  if ((!same && !number) || a->storage->node->device > 0) return false;
  tt_dtype dtype = one_type(c, w);
  if (dtype == TT_DTYPE_NONE || !tt__session_fold_into || !tt__session_elements) return false;
  tt_fold_into f = {.op = w->u->op, .dtype = dtype, .len = len, .step = step, .n = at->size};
  f.width = rows ? step : 1;
  f.b_step = number ? 0 : f.width;
  f.place = elements_as(c, at, TT_I64);
  if (f.place && f.b_step) f.b = elements_as(c, w->b, dtype);
  if (f.place && !f.b_step && one_number(w->b, dtype, &one)) f.b = &one;
  if (!f.b) return false;
  tt_node *whole = tt__node_retain(a->storage->node); /* what is pending is computed: it is to be written on */
  c->code = tt__evaluate(&whole, 1, c->err);
  tt__node_release(whole);
  char *memory = c->code == TT_OK ? tt__eager_memory(a->storage) : NULL;
  if (!memory) return false;
  f.a = memory + a->off * (int64_t)tt__dtype_size(dtype);
  return tt__session_fold_into(&f);
}

/* The flat places of what the index picks, or the numbers of the rows that it does. */
static tt_array *places(tt_composer *c, const change *w, bool rows, bool *once) {
  tt_array *iota = tt__compose_iota(c, rows ? w->a->dim[0] : w->a->size);
  if (!rows) iota = tt__compose_reshape(c, iota, w->a->rank, tt__array_len(w->a));
  tt_array *at = tt__compose_get(c, iota, w->index);
  *once = at && at->storage == iota->storage; /* slices and numbers meet no place twice */
  return at;
}

/* What the second operand is to each value that the index picks. False: a failure. */
static bool spread_second(tt_composer *c, change *w) {
  tt_array *out = NULL;
  tt_code code = w->b ? tt__broadcast_to(w->b, w->value->rank, tt__array_len(w->value), &out, c->err) : TT_OK;
  if (code == TT_EVALUE) return tt__compose_fail(c, code, "array is not broadcastable to correct shape"), false;
  return w->b && (w->b = tt__compose_keep(c, code, &out));
}

static tt_array *ufunc_at(tt_composer *c, tt_call_frame *f) {
  change w = {.u = tt__ufunc_arg(c, f), .index = &f->arg[INDEX]};
  bool done;
  if (!check(c, f, w.u)) return NULL;
  f->none = true;
  w.a = f->arg[ARRAY].as.array;
  if (w.u->nin == 2 && !(w.b = tt__arg_array(c, f, SECOND))) return NULL;
  bool rows = w.a->rank > 1 && tt__array_is_c(w.a) && w.a->size > 0;
  tt_array *at = w.index->tag == TT_V_ARRAY && (w.a->rank == 1 || rows) ? w.index->as.array : NULL;
  if (at && (in_memory(c, &w, at, w.a->dim[0], tt__array_step(w.a)[0], rows) || c->code != TT_OK)) return NULL;
  bool by_row = at && rows && tt__is_int((tt_dtype)at->dtype) && w.a->storage->node->device > 0, once;
  if (rows) at = NULL;
  if (!(w.place = places(c, &w, by_row, &once))) return NULL;
  bool flat = !at && !once && !by_row && tt__array_is_c(w.a);
  if (flat && (in_memory(c, &w, w.place, w.a->size, 1, false) || c->code != TT_OK)) return NULL;
  if (!(w.value = tt__compose_get(c, w.a, w.index))) return NULL;
  if (w.u->nin == 2 && !spread_second(c, &w)) return NULL;
  if (w.value->size == 0) return operate(c, &w, w.value, w.b), NULL; /* for what is wrong with the types */
  if (once) {
    write_back(c, &w, w.index, operate(c, &w, w.value, w.b));
    return NULL;
  }
  in_library(c, &w, &done);
  if (done || c->code != TT_OK) return NULL;
  if (by_row && !(w.place = places(c, &w, false, &once))) return NULL;
  in_turns(c, &w);
  return NULL;
}
TT_HANDLER(ufunc_at)
