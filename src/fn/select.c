/*
** Choosing elements: by condition, by place, by value. Masks and places whose number decides a shape are looked at when
** the function is called; everything else stays in the graph.
*/
#include <string.h>

#include "fn/fn.h"

/* ---- the places of what is true */

/* One index array per axis out of flat places. */
static bool give_indices(tt_composer *c, tt_call_frame *f, tt_array *flat, int rank, const int64_t *len) {
  int64_t inner[TT_MAX_RANK];
  tt__shape_steps(rank, len, inner);
  for (int d = 0; d < rank; d++) {
    tt_array *i = inner[d] == 1 ? flat : tt__compose_opi(c, TT_FLOORDIV, flat, inner[d]);
    if (d > 0 && len[d] > 0) i = tt__compose_opi(c, TT_MOD, i, len[d]);
    if (!tt__fn_give(c, f, i)) return false;
  }
  return true;
}

enum { FEW_REPEATED = 4096 }; /* as in graph/repeat.c */

/* Of 2^40 elements that one of them stands for, and that are false, there is nothing to make. */
static bool has_none(tt_composer *c, tt_array *a) {
  if (!a || a->size < FEW_REPEATED) return false; /* they cost less than to ask */
  uint64_t axes = a->rank ? ~UINT64_C(0) >> (64 - a->rank) : 0;
  int64_t count;
  tt_array *few = axes ? tt__compose_once(c, TT_RED_ANY, tt__compose_cast(c, a, TT_BOOL), axes, &count) : NULL;
  const uint8_t *any =
      few && count > 1 ? tt__compose_peek(c, tt__compose_reduce(c, TT_RED_ANY, few, axes, false)) : NULL;
  return any && !*any;
}

static tt_array *true_places(tt_composer *c, tt_array *a) {
  tt_lib_attr attr = {0};
  tt_array *flat;
  if (has_none(c, a)) return tt__compose_empty(c, TT_I64, 1, (const int64_t[]){0});
  return a && tt__compose_make(c, "nonzero", &attr, &a, 1, &flat) ? flat : NULL;
}

static tt_array *fail_rank_0(tt_composer *c) {
  return tt__compose_fail(c, TT_EVALUE,
                          "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.");
}

static tt_array *nonzero(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->rank == 0) return fail_rank_0(c);
  tt_array *flat = true_places(c, a);
  f->tuple = true;
  if (flat) give_indices(c, f, flat, a->rank, tt__array_len(a));
  return NULL;
}
TT_HANDLER(nonzero)

static tt_array *flatnonzero(tt_composer *c, tt_call_frame *f) { return true_places(c, tt__arg_array(c, f, 0)); }
TT_HANDLER(flatnonzero)

static tt_array *argwhere(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *flat = true_places(c, a);
  if (!flat) return NULL;
  int64_t len[2] = {flat->size, a->rank}, inner[TT_MAX_RANK];
  if (a->rank == 1) return tt__compose_reshape(c, flat, 2, len);
  tt_array *out = tt__compose_empty(c, TT_I64, 2, len);
  tt__shape_steps(a->rank, tt__array_len(a), inner);
  for (int d = 0; d < a->rank && out && flat->size; d++) {
    tt_array *i = tt__compose_opi(c, TT_MOD, tt__compose_opi(c, TT_FLOORDIV, flat, inner[d]), tt__array_len(a)[d]);
    if (!tt__compose_set(c, tt__compose_slice(c, out, 1, d, 1, 1), tt_v_array(tt__compose_expand(c, i, 1))))
      return NULL;
  }
  return out;
}
TT_HANDLER(argwhere)

static tt_array *where(tt_composer *c, tt_call_frame *f) {
  bool x = f->narg > 1 && f->arg[1].tag != TT_V_MISSING, y = f->narg > 2 && f->arg[2].tag != TT_V_MISSING;
  if (x != y) return tt__compose_fail(c, TT_EVALUE, "either both or neither of x and y should be given");
  if (!x) {
    tt_array *a = tt__arg_array(c, f, 0), *flat = true_places(c, a);
    f->tuple = true;
    if (a && a->rank == 0) return fail_rank_0(c);
    if (flat) give_indices(c, f, flat, a->rank, tt__array_len(a));
    return NULL;
  }
  return tt__compose_where(c, tt__arg_array(c, f, 0), tt__arg_value(c, f, 1), tt__arg_value(c, f, 2));
}
TT_HANDLER(where)

/* ---- by place */

typedef enum mode { RAISE, WRAP, CLIP } mode;

static mode mode_of(tt_composer *c, const tt_call_frame *f, int k) {
  const char *s = tt__arg_string(c, f, k, "raise");
  mode m = strcmp(s, "wrap") == 0 ? WRAP : strcmp(s, "clip") == 0 ? CLIP : RAISE;
  if (m == RAISE && strcmp(s, "raise") != 0)
    tt__compose_fail(c, TT_EVALUE, "Use one of 'clip', 'raise', or 'wrap' for clip mode");
  return m;
}

/* An integer argument as int64 places; NumPy casts bool, unsigned and single numbers, and refuses arrays of floats. */
static tt_array *places_of(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  bool ok = tt__is_int((tt_dtype)a->dtype) || a->dtype == TT_BOOL || a->size == 0 || a->rank == 0;
  if (!ok)
    return tt__compose_fail(c, TT_ETYPE,
                            "Cannot cast array data from dtype('%s') to dtype('int64') according to the rule 'safe'",
                            tt__dtypes[a->dtype].name);
  return tt__compose_cast(c, a, TT_I64);
}

/* NumPy names the first place that is out of range. */
static tt_array *refuse(tt_composer *c, tt_array *at, int64_t n, int axis) {
  const int64_t *data = tt__compose_peek(c, at);
  int64_t i = 0;
  while (data && data[i] >= -n && data[i] < n) i++;
  return tt__compose_fail(c, TT_EINDEX, "index %lld is out of bounds for axis %d with size %lld",
                          data ? (long long)data[i] : 0, axis, (long long)n);
}

/* Places brought into [0, n): wrapped around, clipped, or refused ("index 9 is out of bounds for axis 0 with size
 * 5"). */
static tt_array *in_range(tt_composer *c, tt_array *at, int64_t n, int axis, mode m) {
  if (!at) return NULL;
  if (at->size && n == 0) return tt__compose_fail(c, TT_EINDEX, "cannot do a non-empty take from an empty axes.");
  if (at->size == 0) return at;
  if (m == WRAP) return tt__compose_opi(c, TT_MOD, at, n);
  if (m == CLIP) return tt__compose_opi(c, TT_MINIMUM, tt__compose_opi(c, TT_MAXIMUM, at, 0), n - 1);
  int64_t least, most;
  if (c->code != TT_OK || (c->code = tt__array_range(at, n, &least, &most, c->err)) != TT_OK) return NULL;
  if (least < -n || most >= n) return refuse(c, at, n, axis);
  if (least >= 0) return at;
  return tt__compose_where(c, tt__compose_opi(c, TT_LT, at, 0), tt_v_array(tt__compose_opi(c, TT_ADD, at, n)),
                           tt_v_array(at));
}

/* The elements of the storage behind `a` at flat positions (int64, in range). */
tt_array *tt__compose_gather(tt_composer *c, tt_array *a, tt_array *flat) {
  if (!a || !flat) return NULL;
  tt_node *index = tt__compose_node(c, flat);
  tt_node *n = index ? tt__node_gather(a->storage->node, index, c->err) : NULL;
  tt__node_release(index);
  return index ? tt__compose_of_node(c, n) : NULL;
}

static bool scatter(tt_composer *c, tt_array *a, tt_array *flat, tt_array *value) {
  if (a->readonly || a->storage->readonly) tt__compose_fail(c, TT_EVALUE, "assignment destination is read-only");
  tt_node *index = tt__compose_node(c, flat), *v = tt__compose_node(c, tt__compose_cast(c, value, (tt_dtype)a->dtype));
  if (index && v) c->code = tt__array_scatter(a, index, v, c->err);
  tt__node_release(index);
  tt__node_release(v);
  return c->code == TT_OK;
}

/* Where the elements at C-order places of `a` lie in its storage. */
static tt_array *storage_places(tt_composer *c, tt_array *a, tt_array *at) {
  if (tt__array_is_c(a)) return a->off ? tt__compose_opi(c, TT_ADD, at, a->off) : at;
  int64_t inner[TT_MAX_RANK];
  tt_array *flat = NULL;
  tt__shape_steps(a->rank, tt__array_len(a), inner);
  for (int d = 0; d < a->rank; d++) {
    int64_t n = tt__array_len(a)[d];
    if (n == 1) continue;
    tt_array *i = tt__compose_opi(c, TT_MOD, tt__compose_opi(c, TT_FLOORDIV, at, inner[d]), n);
    i = tt__compose_opi(c, TT_MUL, i, tt__array_step(a)[d]);
    flat = flat ? tt__compose_op2(c, TT_ADD, flat, i) : i;
  }
  return tt__compose_opi(c, TT_ADD, flat, a->off);
}

static tt_array *take(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *at = places_of(c, tt__arg_array(c, f, 1));
  mode m = mode_of(c, f, 4);
  if (!a || !at) return NULL;
  tt_dtype own = (tt_dtype)a->dtype, into = own;
  if (tt__arg_given(f, 3) && f->arg[3].tag == TT_V_ARRAY) into = (tt_dtype)f->arg[3].as.array->dtype;
  bool kept = tt__can_cast_same_kind(own, into); /* NumPy asks that from 2.5 on; before, the other way round */
  if (!kept && !tt__compose_may_cast(c, into, own, "safe")) return NULL;
  if (!tt__arg_given(f, 2)) a = tt__compose_ravel(c, a);
  if (!a) return NULL;
  if (a->rank == 0) a = tt__compose_ravel(c, a);
  int axis = a ? tt__arg_axis(c, f, 2, a->rank, 0) : 0;
  if (!a || c->code != TT_OK) return NULL;
  int64_t n = tt__array_len(a)[axis];
  if (m != RAISE || n == 0) at = in_range(c, at, n, axis, m);
  return tt__arg_out_any(c, f, 3, tt__compose_take(c, a, at, axis));
}
TT_HANDLER(take)

/* For take_along_axis: positions in a's storage, all axes but one side by side. */
static tt_array *along_places(tt_composer *c, tt_array *a, tt_array *at, int axis, bool check) {
  int64_t len[TT_MAX_RANK], own[TT_MAX_RANK];
  if (a->rank != at->rank)
    return tt__compose_fail(c, TT_EVALUE, "`indices` and `arr` must have the same number of dimensions");
  if (!tt__is_int((tt_dtype)at->dtype)) return tt__compose_fail(c, TT_EINDEX, "`indices` must be an integer array");
  at = tt__compose_cast(c, at, TT_I64);
  if (check) at = in_range(c, at, tt__array_len(a)[axis], axis, RAISE);
  if (!at) return NULL;
  const int64_t *lens[2] = {own, tt__array_len(at)};
  int ranks[2] = {a->rank, a->rank}, rank;
  memcpy(own, tt__array_len(a), sizeof *own * a->rank);
  own[axis] = 1;
  if (tt__shape_broadcast(2, ranks, lens, &rank, len, c->err) != TT_OK) {
    c->err->code = TT_OK;
    return tt__compose_fail(c, TT_EINDEX, "shape mismatch: indexing arrays could not be broadcast together");
  }
  tt_array *flat = tt__compose_broadcast(c, tt__compose_opi(c, TT_MUL, at, tt__array_step(a)[axis]), rank, len);
  for (int d = 0; d < rank && flat; d++) {
    int64_t n = tt__array_len(a)[d];
    if (d == axis || n == 1) continue;
    tt_array *i = tt__compose_opi(c, TT_MUL, tt__compose_iota(c, n), tt__array_step(a)[d]);
    for (int e = d + 1; e < rank; e++) i = tt__compose_expand(c, i, i ? i->rank : 0);
    flat = tt__compose_op2(c, TT_ADD, flat, i);
  }
  return tt__compose_opi(c, TT_ADD, flat, a->off);
}

/* The array and axis that an "along axis" function means; None flattens. */
static tt_array *array_and_axis(tt_composer *c, const tt_call_frame *f, int k, int fallback, int *axis) {
  tt_array *a = tt__arg_array(c, f, 0);
  *axis = 0;
  if (a && k < f->narg && f->arg[k].tag == TT_V_NONE) return tt__compose_ravel(c, a);
  if (a && !tt__arg_given(f, k))
    *axis = fallback < 0 ? a->rank + fallback : fallback;
  else if (a)
    *axis = tt__arg_axis(c, f, k, a->rank, 0);
  if (a && a->rank == 0 && c->code == TT_OK)
    return tt__compose_fail(c, TT_EAXIS, "axis %d is out of bounds for array of dimension 0", fallback);
  return c->code == TT_OK ? a : NULL;
}

tt_array *tt__compose_take_lines(tt_composer *c, tt_array *a, tt_array *at, int axis, bool check) {
  if (!a || !at) return NULL;
  tt_array *flat = along_places(c, a, at, axis, check);
  return flat ? tt__compose_gather(c, a, flat) : NULL;
}

static tt_array *take_along_axis(tt_composer *c, tt_call_frame *f) {
  int axis;
  tt_array *a = array_and_axis(c, f, 2, -1, &axis), *at = tt__arg_array(c, f, 1);
  return tt__compose_take_lines(c, a, at, axis, true);
}
TT_HANDLER(take_along_axis)

/* Argument k as what is written into a: a number becomes an element of its type, an array must be castable by the rule
 * (NULL: any). */
static tt_array *value_for(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, const char *rule) {
  const tt_value *v = &f->arg[k];
  tt_array *made = NULL;
  if (!a || c->code != TT_OK) return NULL;
  if (v->tag != TT_V_ARRAY) return tt__compose_keep(c, tt__value_array(v, (tt_dtype)a->dtype, &made, c->err), &made);
  made = v->as.array;
  return !rule || tt__compose_may_cast(c, (tt_dtype)made->dtype, (tt_dtype)a->dtype, rule) ? made : NULL;
}

static tt_array *put_along_axis(tt_composer *c, tt_call_frame *f) {
  int axis;
  tt_array *a = array_and_axis(c, f, 3, -1, &axis), *at = tt__arg_array(c, f, 1),
           *v = a ? value_for(c, f, 2, a, NULL) : NULL;
  f->none = true;
  if (!a || !at || !v) return NULL;
  tt_array *flat = along_places(c, a, at, axis, true);
  if (flat) scatter(c, a, flat, tt__compose_broadcast(c, v, flat->rank, tt__array_len(flat)));
  return NULL;
}
TT_HANDLER(put_along_axis)

/* The first n elements of v's C order, begun again where they end. */
static tt_array *cycled(tt_composer *c, tt_array *v, int64_t n) {
  v = tt__compose_ravel(c, v);
  if (!v || v->size >= n) return tt__compose_slice(c, v, 0, 0, n, 1);
  int64_t whole[2] = {(n - 1) / v->size + 1, v->size}, flat = whole[0] * whole[1];
  return tt__compose_slice(c, tt__compose_reshape(c, tt__compose_broadcast(c, v, 2, whole), 1, &flat), 0, 0, n, 1);
}

/* The array that is written; `words`: what is said of one that is read-only. */
static tt_array *written(tt_composer *c, const tt_call_frame *f, const char *words) {
  bool ok = f->arg[0].tag == TT_V_ARRAY;
  if (ok && f->arg[0].as.array->readonly) return tt__compose_fail(c, TT_EVALUE, "%s", words);
  if (ok) return f->arg[0].as.array;
  return tt__compose_fail(c, TT_ETYPE, "argument 1 must be an array");
}

static tt_array *put(tt_composer *c, tt_call_frame *f) {
  tt_array *a = written(c, f, "put: output array is read-only"), *at = places_of(c, tt__arg_array(c, f, 1)),
           *v = value_for(c, f, 2, a, NULL);
  mode m = mode_of(c, f, 3);
  f->none = true;
  if (!a || !at || !v || c->code != TT_OK || at->size == 0 || v->size == 0) return NULL;
  if (a->size == 0) return tt__compose_fail(c, TT_EINDEX, "cannot replace elements of an empty array");
  at = in_range(c, tt__compose_ravel(c, at), a->size, 0, m);
  if (at) scatter(c, a, storage_places(c, a, at), cycled(c, v, at->size));
  return NULL;
}
TT_HANDLER(put)

static tt_array *place(tt_composer *c, tt_call_frame *f) {
  tt_array *a = written(c, f, "WRITEBACKIFCOPY base is read-only"), *mask = tt__arg_array(c, f, 1),
           *v = value_for(c, f, 2, a, "safe");
  f->none = true;
  if (!a || !mask || !v) return NULL;
  if (mask->size != a->size) return tt__compose_fail(c, TT_EVALUE, "place: mask and data must be the same size");
  tt_array *at = true_places(c, tt__compose_cast(c, mask, TT_BOOL));
  if (!at || at->size == 0) return NULL;
  if (v->size == 0) return tt__compose_fail(c, TT_EVALUE, "Cannot insert from an empty array!");
  scatter(c, a, storage_places(c, a, at), cycled(c, v, at->size));
  return NULL;
}
TT_HANDLER(place)

static tt_array *putmask(tt_composer *c, tt_call_frame *f) {
  tt_array *a = written(c, f, "putmask: output array is read-only"), *mask = tt__arg_array(c, f, 1),
           *v = value_for(c, f, 2, a, "safe");
  f->none = true;
  if (!a || !mask || !v) return NULL;
  if (mask->size != a->size) return tt__compose_fail(c, TT_EVALUE, "putmask: mask and data must be the same size");
  if (v->size == 0 || a->size == 0) return NULL;
  v = tt__compose_reshape(c, cycled(c, v, a->size), a->rank, tt__array_len(a));
  mask = tt__compose_reshape(c, tt__compose_cast(c, mask, TT_BOOL), a->rank, tt__array_len(a));
  if (v && mask)
    tt__compose_set(
        c, a,
        tt_v_array(tt__compose_where(c, mask, tt_v_array(tt__compose_cast(c, v, (tt_dtype)a->dtype)), tt_v_array(a))));
  return NULL;
}
TT_HANDLER(putmask)

/* May a Python number be written into elements of a type? Integers that do not fit are refused later. */
static bool may_write_number(tt_composer *c, const tt_array *v, tt_dtype to, const char *rule) {
  tt_dtype from = (tt_dtype)v->dtype;
  bool lossy = (from == TT_F64 && tt__is_int(to)) || (from != TT_BOOL && to == TT_BOOL) ||
               (tt__is_complex(from) && !tt__is_complex(to));
  if (strcmp(rule, "unsafe") == 0 || !lossy) return true;
  tt__compose_fail(c, TT_ETYPE, "Cannot cast scalar from dtype('%s') to dtype('%s') according to the rule '%s'",
                   tt__dtypes[from].name, tt__dtypes[to].name, rule);
  return false;
}

/* `v` as the rank of `a` has it: leading axes of length 1 that are too many go. */
static tt_array *without_leading(tt_composer *c, tt_array *v, int rank) {
  int more = v ? v->rank - rank : 0;
  for (int k = 0; k < more; k++)
    if (tt__array_len(v)[k] != 1) return v;
  return more > 0 ? tt__compose_reshape(c, v, rank, tt__array_len(v) + more) : v;
}

/* Are two arrays the very same elements? Not asked of those without axes, as in NumPy. */
static bool same_elements(tt_array *a, tt_array *b) {
  size_t n = sizeof(int64_t) * a->rank;
  return a->rank && a->storage == b->storage && a->off == b->off && a->rank == b->rank && a->dtype == b->dtype &&
         memcmp(tt__array_len(a), tt__array_len(b), n) == 0 && memcmp(tt__array_step(a), tt__array_step(b), n) == 0;
}

/* Two arrays of the same elements that may differ in the direction of an axis of length 1, which has no step here. */
static bool may_be_turned(tt_array *a, tt_array *b) {
  bool single = false;
  for (int k = 0; k < a->rank; k++) single |= tt__array_len(a)[k] == 1;
  return a != b && single;
}

static tt_array *copyto(tt_composer *c, tt_call_frame *f) {
  tt_array *v = tt__arg_array(c, f, 1);
  bool itself = v && f->arg[0].tag == TT_V_ARRAY && same_elements(f->arg[0].as.array, v);
  tt_array *a = itself ? v : written(c, f, "assignment destination is read-only");
  f->none = true;
  if (!a || !v) return NULL;
  const char *rule = tt__arg_string(c, f, 2, "same_kind");
  bool weak = f->arg[1].tag != TT_V_ARRAY;
  tt_dtype type = (tt_dtype)a->dtype;
  if (weak && !may_write_number(c, v, type, rule)) return NULL;
  if (!tt__compose_may_cast(c, weak ? type : (tt_dtype)v->dtype, type, rule)) return NULL;
  tt_array *mask = tt__arg_mask(c, f, 3);
  if (itself) { /* NumPy asks no more of it, not even that it may be written */
    if (mask && may_be_turned(f->arg[0].as.array, v)) tt__compose_broadcast(c, mask, a->rank, tt__array_len(a));
    return NULL;
  }
  if (!mask) {
    bool number = weak && f->arg[1].tag != TT_V_COMPLEX; /* which is cast, with a warning */
    if (c->code == TT_OK) tt__compose_set(c, a, number ? f->arg[1] : tt_v_array(v));
    return NULL;
  }
  mask = tt__compose_broadcast(c, mask, a->rank, tt__array_len(a));
  bool whole = f->arg[1].tag == TT_V_INT || f->arg[1].tag == TT_V_UINT; /* must fit */
  v = whole ? value_for(c, f, 1, a, NULL) : tt__compose_cast(c, v, type);
  v = tt__compose_broadcast(c, without_leading(c, v, a->rank), a->rank, tt__array_len(a));
  if (mask && v) tt__compose_set(c, a, tt_v_array(tt__compose_where(c, mask, tt_v_array(v), tt_v_array(a))));
  return NULL;
}
TT_HANDLER(copyto)

/* ---- by condition */

static tt_array *compress_along(tt_composer *c, tt_array *mask, tt_array *a, int axis) {
  if (!mask || !a) return NULL;
  if (mask->rank != 1) return tt__compose_fail(c, TT_EVALUE, "condition must be a 1-d array");
  int64_t n = tt__array_len(a)[axis];
  if (a->rank == 1 && mask->size == n && n > 0 && tt__array_device(mask) > 0) { /* in one pass there */
    tt_array *src[2] = {tt__compose_cast(c, mask, TT_BOOL), a}, *out;
    tt_lib_attr attr = {0};
    return src[0] && tt__compose_make(c, "compress", &attr, src, 2, &out) ? out : NULL;
  }
  tt_array *at = true_places(c, mask);
  return tt__compose_take(c, a, in_range(c, at, n, axis, RAISE), axis);
}

static tt_array *compress(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 1);
  if (a && (!tt__arg_given(f, 2) || a->rank == 0)) a = tt__compose_ravel(c, a);
  int axis = a ? tt__arg_axis(c, f, 2, a->rank, 0) : 0;
  if (c->code != TT_OK) return NULL;
  return tt__arg_out(c, f, 3, compress_along(c, tt__arg_array(c, f, 0), a, axis));
}
TT_HANDLER(compress)

static tt_array *extract(tt_composer *c, tt_call_frame *f) {
  return compress_along(c, tt__compose_ravel(c, tt__arg_array(c, f, 0)), tt__compose_ravel(c, tt__arg_array(c, f, 1)),
                        0);
}
TT_HANDLER(extract)

static tt_array *choose(tt_composer *c, tt_call_frame *f) {
  mode m = mode_of(c, f, 3);
  tt_array *at = places_of(c, tt__arg_array(c, f, 0));
  if (!at || c->code != TT_OK) return NULL;
  int64_t n;
  tt_array **x = tt__arg_arrays(c, f, 1, &n);
  tt_value *all = tt__compose_scratch(c, n, sizeof *all);
  if (!x || !all) return NULL;
  if (n == 0) return tt__compose_fail(c, TT_EVALUE, "0-length sequence.");
  const tt_value *given = f->arg[1].tag == TT_V_TUPLE ? f->arg[1].as.tuple.item : NULL;
  for (int64_t i = 0; i < n; i++) { /* numbers take the type of the arrays beside them */
    bool number = given && (given[i].tag == TT_V_INT || given[i].tag == TT_V_FLOAT || given[i].tag == TT_V_COMPLEX);
    all[i] = number ? given[i] : tt_v_array(x[i]);
  }
  tt_dtype type;
  if ((c->code = tt__result_type(all, (int)n, &type, c->err)) != TT_OK) return NULL;
  if (m == RAISE) {
    const int64_t *data = tt__compose_peek(c, at);
    bool looked_at = true; /* where a choice is empty, no place is */
    for (int64_t i = 0; i < n; i++) looked_at &= x[i]->size > 0;
    for (int64_t i = 0; data && looked_at && i < at->size; i++)
      if (data[i] < 0 || data[i] >= n) return tt__compose_fail(c, TT_EVALUE, "invalid entry in choice array");
  } else {
    at = in_range(c, at, n, 0, m);
  }
  tt_array *out = tt__compose_cast(c, x[n - 1], type);
  for (int64_t i = n - 1; i-- > 0;)
    out = out ? tt__compose_where(c, tt__compose_opi(c, TT_EQ, at, i), tt_v_array(tt__compose_cast(c, x[i], type)),
                                  tt_v_array(out))
              : NULL;
  if (out && n == 1) out = tt__compose_where(c, tt__compose_opi(c, TT_GE, at, 0), tt_v_array(out), tt_v_array(out));
  return tt__arg_out(c, f, 2, out);
}
TT_HANDLER_LAID(choose, 'C')

static tt_array *select_by(tt_composer *c, tt_call_frame *f) {
  int64_t n, m;
  tt_array **mask = tt__arg_arrays(c, f, 0, &n);
  m = f->arg[1].tag == TT_V_TUPLE ? f->arg[1].as.tuple.n : 0;
  if (c->code != TT_OK) return NULL;
  if (n != m) return tt__compose_fail(c, TT_EVALUE, "list of cases must be same length as list of conditions");
  if (n == 0) return tt__compose_fail(c, TT_EVALUE, "select with an empty condition list is not possible");
  tt_value *v = tt__compose_scratch(c, n + 1, sizeof *v);
  if (!v) return NULL;
  memcpy(v, f->arg[1].as.tuple.item, sizeof *v * (size_t)n);
  v[n] = tt__arg_given(f, 2) ? f->arg[2] : tt_v_int(0);
  for (int64_t i = 0; i <= n; i++)
    if (v[i].tag == TT_V_TUPLE) v[i] = tt_v_array(tt__value_as_array(c, &v[i]));
  for (int64_t i = 0; i < n; i++)
    if (mask[i]->dtype != TT_BOOL)
      return tt__compose_fail(c, TT_ETYPE, "invalid entry %lld in condlist: should be boolean ndarray", (long long)i);
  tt_dtype type;
  if (c->code != TT_OK || (c->code = tt__result_type(v, (int)n + 1, &type, c->err)) != TT_OK) return NULL;
  for (int64_t i = 0; i < n; i++) /* NumPy writes choices over the default, as copyto does */
    if (!tt__compose_may_cast(c, tt__value_dtype(&v[i]), type, "same_kind")) return NULL;
  tt_array *out = tt__compose_cast(c, tt__value_as_array(c, &v[n]), type);
  for (int64_t i = n; i-- > 0 && out;)
    out = tt__compose_where(c, mask[i], tt_v_array(tt__compose_cast(c, tt__value_as_array(c, &v[i]), type)),
                            tt_v_array(out));
  return out;
}
TT_HANDLER_LAID(select_by, 'C')

/* ---- places of several axes */

static bool fortran_order(tt_composer *c, const tt_call_frame *f, int k) {
  char order = tt__arg_order(c, f, k, NULL, "C");
  if (order != 'C' && order != 'F') tt__compose_fail(c, TT_EVALUE, "only 'C' or 'F' order is permitted");
  return order == 'F';
}

static tt_array *ravel_multi_index(tt_composer *c, tt_call_frame *f) {
  int64_t n, len[TT_MAX_RANK], step[TT_MAX_RANK];
  int rank = tt__arg_ints(c, f, 1, len, TT_MAX_RANK);
  mode m = mode_of(c, f, 2);
  bool fortran = fortran_order(c, f, 3);
  tt_array **at = tt__arg_arrays(c, f, 0, &n), *out = NULL;
  if (c->code != TT_OK) return NULL;
  if (n != rank) return tt__compose_fail(c, TT_EVALUE, "parameter multi_index must be a sequence of length %d", rank);
  if (rank == 0) return tt__compose_full(c, TT_I64, 0, NULL, tt_v_int(0)); /* the one place of no axes */
  int64_t run = 1;
  for (int k = 0; k < rank; k++) {
    int d = fortran ? k : rank - 1 - k;
    step[d] = run;
    if (__builtin_mul_overflow(run, len[d], &run))
      return tt__compose_fail(c, TT_EVALUE,
                              "invalid dims: array size defined by dims is larger than the maximum possible size.");
  }
  for (int d = 0; d < rank; d++) {
    tt_array *i = places_of(c, at[d]);
    if (m == RAISE) {
      const int64_t *data = tt__compose_peek(c, i);
      for (int64_t k = 0; data && k < i->size; k++)
        if (data[k] < 0 || data[k] >= len[d])
          return tt__compose_fail(c, TT_EVALUE, "invalid entry in coordinates array");
    } else {
      i = in_range(c, i, len[d], d, m);
    }
    i = tt__compose_opi(c, TT_MUL, i, step[d]);
    out = out ? tt__compose_op2(c, TT_ADD, out, i) : i;
  }
  return out;
}
TT_HANDLER(ravel_multi_index)

static tt_array *unravel_index(tt_composer *c, tt_call_frame *f) {
  int64_t len[TT_MAX_RANK], size, run = 1;
  int rank = tt__arg_ints(c, f, 1, len, TT_MAX_RANK); /* what is wrong with it is said first */
  bool fortran = fortran_order(c, f, 2);
  tt_array *given = tt__arg_array(c, f, 0);
  if (given && !tt__is_int((tt_dtype)given->dtype))
    return tt__compose_fail(c, TT_ETYPE, "%s",
                            given->size
                                ? "only int indices permitted"
                                : "indices must be integral: the provided empty sequence was inferred as float. "
                                  "Wrap it with 'np.array(indices, dtype=np.intp)'");
  tt_array *at = places_of(c, given);
  if (!at || c->code != TT_OK || (c->code = tt__shape_size(rank, len, TT_I64, &size, c->err)) != TT_OK) return NULL;
  if (rank == 0 && at->rank > 0)
    return tt__compose_fail(c, TT_EVALUE, "multiple indices are not supported for 0d arrays");
  const int64_t *data = tt__compose_peek(c, at);
  for (int64_t k = 0; data && k < at->size; k++)
    if (data[k] < 0 || data[k] >= size)
      return tt__compose_fail(c, TT_EVALUE, "index %lld is out of bounds for array with size %lld", (long long)data[k],
                              (long long)size);
  f->tuple = true;
  if (!fortran) {
    if (data) give_indices(c, f, at, rank, len);
    return NULL;
  }
  for (int d = 0; d < rank && c->code == TT_OK; run *= len[d++])
    tt__fn_give(c, f, tt__compose_opi(c, TT_MOD, tt__compose_opi(c, TT_FLOORDIV, at, run), len[d]));
  return NULL;
}
TT_HANDLER(unravel_index)

static tt_array *ix_(tt_composer *c, tt_call_frame *f) {
  int64_t n;
  tt_array **x = tt__arg_arrays(c, f, 0, &n);
  f->tuple = true;
  for (int64_t k = 0; k < n && c->code == TT_OK; k++) {
    tt_array *i = x[k];
    if (i->rank != 1) return tt__compose_fail(c, TT_EVALUE, "Cross index must be 1 dimensional");
    if (i->size == 0)
      i = tt__compose_cast(c, i, TT_I64);
    else if (i->dtype == TT_BOOL)
      i = true_places(c, i);
    for (int64_t d = 0; d < n && i; d++)
      if (d != k) i = tt__compose_expand(c, i, d < k ? 0 : i->rank);
    tt__fn_give(c, f, i);
  }
  return NULL;
}
TT_HANDLER(ix_)

/* ---- places of triangles and diagonals */

static tt_array *fill_diagonal(tt_composer *c, tt_call_frame *f) {
  tt_array *a = written(c, f, "underlying array is read-only"), *v = value_for(c, f, 1, a, NULL);
  bool wrap = tt__arg_bool(c, f, 2, false);
  f->none = true;
  if (!a || !v || c->code != TT_OK) return NULL;
  if (a->rank < 2) return tt__compose_fail(c, TT_EVALUE, "array must be at least 2-d");
  int64_t step = 1, end = a->size, n = tt__array_len(a)[a->rank - 1];
  if (a->rank == 2) {
    step = n + 1;
    if (!wrap && end > n * n) end = n * n;
  } else {
    for (int d = 1; d < a->rank; d++)
      if (tt__array_len(a)[d] != tt__array_len(a)[0])
        return tt__compose_fail(c, TT_EVALUE, "All dimensions of input must be of equal length");
    int64_t run = 1;
    for (int d = a->rank - 1; d > 0; d--) step += run *= n;
  }
  int64_t count = end > 0 ? (end - 1) / step + 1 : 0;
  if (count == 0 || v->size == 0) return NULL;
  tt_array *at = tt__compose_opi(c, TT_MUL, tt__compose_iota(c, count), step);
  if (at) scatter(c, a, storage_places(c, a, at), cycled(c, v, count));
  return NULL;
}
TT_HANDLER(fill_diagonal)

static tt_array *diag_indices(tt_composer *c, tt_call_frame *f) {
  int64_t n = tt__arg_int(c, f, 0, 0), rank = tt__arg_int(c, f, 1, 2);
  tt_array *i = tt__compose_iota(c, n < 0 ? 0 : n);
  f->tuple = true;
  for (int64_t k = 0; k < rank && i; k++)
    if (!tt__fn_give(c, f, i)) return NULL;
  return NULL;
}
TT_HANDLER(diag_indices)

/* Rows and columns of the elements at, below (lower) or above diagonal k. */
static tt_array *triangle_indices(tt_composer *c, tt_call_frame *f, bool lower) {
  int64_t n = tt__arg_int(c, f, 0, 0), k = tt__arg_int(c, f, 1, 0), m = tt__arg_int(c, f, 2, n);
  if (c->code != TT_OK) return NULL;
  n = n > 0 ? n : 0, m = m > 0 ? m : 0;
  tt_array *i = tt__compose_expand(c, tt__compose_iota(c, n), 1),
           *j = tt__compose_opi(c, TT_SUB, tt__compose_iota(c, m), k);
  tt_array *mask = tt__compose_op2(c, lower ? TT_GE : TT_LE, i, j), *flat = true_places(c, mask);
  f->tuple = true;
  if (flat) give_indices(c, f, flat, 2, tt__array_len(mask));
  return NULL;
}

static tt_array *tril_indices(tt_composer *c, tt_call_frame *f) { return triangle_indices(c, f, true); }
static tt_array *triu_indices(tt_composer *c, tt_call_frame *f) { return triangle_indices(c, f, false); }
TT_HANDLER(tril_indices)
TT_HANDLER(triu_indices)
