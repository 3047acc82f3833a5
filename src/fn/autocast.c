/* What enters functions under mixed precision, cast by the rows of autocast.def. */
#include "fn/autocast.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/session.h"
#include "graph/tape.h"
#include "ir/dtype.h"

static const bool full_op[TT_OP_COUNT] = {
#define TT_AUTOCAST(rule, name)
#define TT_AUTOCAST_OP(op) [TT_##op] = true,
#include "fn/autocast.def"
#undef TT_AUTOCAST
#undef TT_AUTOCAST_OP
};

/* ---- what holds on a thread, and the casts of parameters that it keeps */

/* A parameter's value and its cast, both held. A write makes another value, so a cast is never of an old one. */
typedef struct kept {
  tt_node *value;
  tt_array *cast;
} kept;

bool tt__autocast_used;
static __thread tt_autocast now = {TT_DTYPE_NONE, true};
static __thread TT_VEC(kept) casts;

bool tt__autocast_holds(void) { return now.low != TT_DTYPE_NONE; }

tt_autocast tt__autocast_get(void) { return now; }

static void forget_casts(void) {
  while (casts.n > 0) {
    kept k = casts.data[--casts.n];
    tt__node_release(k.value);
    tt__array_release(k.cast);
  }
  TT_VEC_FREE(&casts);
}

void tt__autocast_set(tt_autocast next) {
  __atomic_store_n(&tt__autocast_used, true, __ATOMIC_RELAXED);
  if (next.low != now.low || !next.caches) forget_casts();
  now = next;
}

/* All of a leaf whose gradient is asked for, as it lies: what a model reads in each of its calls. */
static bool is_parameter(const tt_array *a) {
  const tt_storage *s = a->storage;
  return tt__session_tape && tt__storage_leaf(s) && a->size == s->node->size && tt__array_is_c((tt_array *)a) &&
         tt__is_taped(s->node);
}

/* The same values as an array of its own: a function may give its operand back, and then it may be written. */
static tt_array *own_array(tt_array *a, tt_error *err) {
  tt_node *n = tt__array_node(a, err);
  tt_array *own = n ? tt__array_of(n, err) : NULL;
  tt__node_release(n);
  return own;
}

static tt_array *cast_kept(const tt_array *a, tt_error *err) {
  for (int64_t k = 0; k < casts.n; k++) {
    tt_array *cast = casts.data[k].cast;
    bool same = casts.data[k].value == a->storage->node && cast->rank == a->rank;
    if (same && memcmp(cast->dim, a->dim, sizeof *a->dim * (size_t)a->rank) == 0) return own_array(cast, err);
  }
  return NULL;
}

static void keep_cast(const tt_array *a, tt_array *cast) {
  kept k = {a->storage->node, cast};
  if (!TT_VEC_PUSH(&casts, k)) return; /* it is cast again next time */
  tt__node_retain(k.value);
  tt__array_retain(cast);
}

static tt_code cast_array(tt_array *a, tt_dtype to, tt_array **out, tt_error *err) {
  bool keeps = now.caches && to == now.low && is_parameter(a);
  tt_array *made;
  *out = keeps ? cast_kept(a, err) : NULL;
  if (*out) return TT_OK;
  TT_TRY(tt__cast(a, to, false, keeps ? &made : out, err));
  if (!keeps) return TT_OK;
  keep_cast(a, made);
  *out = own_array(made, err);
  tt__array_release(made);
  return *out ? TT_OK : TT_ENOMEM;
}

/* ---- casting */

/* The type for an operand of type t under the rule. */
static tt_dtype type_for(tt_cast_rule r, tt_dtype t) {
  if (r == TT_CAST_LOW && (t == TT_F32 || t == TT_F16 || t == TT_BF16)) return now.low;
  return r == TT_CAST_FULL && (t == TT_F16 || t == TT_BF16) ? TT_F32 : t;
}

static tt_value *copy_values(tt_cast_call *c, const tt_value *v, int64_t n, tt_error *err) {
  size_t size = sizeof *v * (size_t)n;
  tt_value *copy = tt__mem_dup(v, size);
  if (copy && TT_VEC_PUSH(&c->size, (int64_t)size) && TT_VEC_PUSH(&c->list, copy)) return copy;
  tt__mem_free(copy, size);
  tt__fail_memory(err, size);
  return NULL;
}

/* The value, or what it is cast to; a tuple of arrays gets other items. */
static tt_code cast_value(tt_cast_call *c, tt_cast_rule r, tt_value *v, tt_error *err) {
  if (v->tag == TT_V_TUPLE && v->as.tuple.n > 0) {
    tt_value *item = copy_values(c, v->as.tuple.item, v->as.tuple.n, err);
    if (!item) return TT_ENOMEM;
    for (int64_t k = 0; k < v->as.tuple.n; k++)
      if (item[k].tag == TT_V_ARRAY) TT_TRY(cast_value(c, r, &item[k], err));
    v->as.tuple.item = item;
    return TT_OK;
  }
  if (v->tag != TT_V_ARRAY) return TT_OK;
  tt_array *a = v->as.array, *made;
  tt_dtype to = type_for(r, (tt_dtype)a->dtype);
  if (to == (tt_dtype)a->dtype) return TT_OK;
  TT_TRY(cast_array(a, to, &made, err));
  if (!TT_VEC_PUSH(&c->hold, made)) {
    tt__array_release(made);
    return tt__fail_memory(err, sizeof made);
  }
  v->as.array = made;
  return TT_OK;
}

tt_code tt__cast_arguments(tt_cast_call *c, tt_cast_rule r, uint32_t which, const tt_value *arg, int n, tt_error *err) {
  tt_value *copy = copy_values(c, arg, n, err);
  if (!copy) return TT_ENOMEM;
  for (int k = 0; k < n && k < 32; k++)
    if (which & (1u << k)) TT_TRY(cast_value(c, r, &copy[k], err));
  c->arg = copy;
  return TT_OK;
}

bool tt__casts_op(tt_op op) { return full_op[op]; }

tt_code tt__cast_op(tt_cast_call *c, tt_op op, const tt_value *arg, int n, tt_error *err) {
  c->arg = arg;
  return full_op[op] && n > 0 ? tt__cast_arguments(c, TT_CAST_FULL, UINT32_MAX, arg, n, err) : TT_OK;
}

void tt__cast_end(tt_cast_call *c) {
  while (c->hold.n > 0) tt__array_release(c->hold.data[--c->hold.n]);
  for (int64_t k = 0; k < c->list.n; k++) tt__mem_free(c->list.data[k], (size_t)c->size.data[k]);
  TT_VEC_FREE(&c->hold);
  TT_VEC_FREE(&c->list);
  TT_VEC_FREE(&c->size);
}

tt_code tt__cast_apply(tt_op op, const tt_value *arg, int n, const tt_apply_options *options, tt_array **out,
                       tt_error *err) {
  tt_cast_call cast = {0};
  tt_code code = tt__cast_op(&cast, op, arg, n, err);
  if (code == TT_OK) code = tt__apply(op, cast.arg, n, options, out, err);
  tt__cast_end(&cast);
  return code;
}
