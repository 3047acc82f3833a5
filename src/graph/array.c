/*
** Arrays: views on storages. Reading makes (and keeps) the node that reads the view; writing gives the
** storage a new value and forgets the kept readers. It must not know promotion or indexing.
**
** Invariant: an array is in its storage's `cached` list exactly while its `cache` is not NULL, and the
** cache reads the storage's current value.
*/
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "graph/index/alias.h"
#include "graph/build.h"
#include "graph/eager/eager.h"
#include "graph/session.h"
#include "graph/slab.h"
#include "graph/tape.h"

enum { SMALL_PART = 8 };
enum { TURN_STORES = 16 }; /* stores of one loop's turn that are looked at */

static size_t array_bytes(int rank) { return sizeof(tt_array) + 2 * (size_t)rank * sizeof(int64_t); }

/* ---- storages */

tt_storage *tt__storage_new(tt_node *n, tt_error *err) {
  assert(n->refs > 0 && tt__session_is_held());
  tt_storage *s = tt__slab_alloc(sizeof *s);
  if (!s) {
    tt__fail_memory(err, sizeof *s);
    return NULL;
  }
  *s = (tt_storage){.node = n};
  tt__node_hold(n);
  return s;
}

void tt__storage_release(tt_storage *s) {
  assert(s->refs > 0 && tt__session_is_held());
  if (--s->refs > 0) return;
  assert(!s->cached && !s->showing);
  if (s->root) tt__alias_leave(s);
  if (tt__storage_leaf(s)) tt__storage_leave_leaf(s);
  tt__node_unhold(s->node);
  tt__slab_free(s, sizeof *s);
}

void tt__array_forget(tt_array *a) {
  if (!a->cache) return;
  assert(a->cache_prev ? a->cache_prev->cache_next == a : a->storage->cached == a);
  *(a->cache_prev ? &a->cache_prev->cache_next : &a->storage->cached) = a->cache_next;
  if (a->cache_next) a->cache_next->cache_prev = a->cache_prev;
  tt__node_release(a->cache);
  a->cache = NULL;
}

static void remember(tt_array *a, tt_node *n) {
  assert(!a->cache && a->size == n->size && a->dtype == n->dtype);
  a->cache = tt__node_retain(n);
  a->cache_prev = NULL;
  a->cache_next = a->storage->cached;
  if (a->cache_next) a->cache_next->cache_prev = a;
  a->storage->cached = a;
}

/* ---- pending work */

/* Unevaluated nodes below `n`, exactly, as long as there are not more than TT_PENDING_NODES. Leaves the figure in
 * n->pending. */
static bool is_too_deep(tt_node *n) {
  if (n->pending <= TT_PENDING_NODES) return false;
  tt_node *walk[TT_PENDING_NODES + 1];
  uint32_t stamp = tt__session_stamp();
  int found = 0;
  n->mark = stamp;
  walk[found++] = n;
  for (int at = 0; at < found; at++) {
    for (int k = 0; k < walk[at]->nsrc; k++) {
      tt_node *s = walk[at]->src[k];
      if (s->pending == 0 || s->mark == stamp) continue;
      s->mark = stamp;
      if (found > TT_PENDING_NODES) return true;
      walk[found++] = s;
    }
  }
  n->pending = (uint32_t)found;
  return found > TT_PENDING_NODES;
}

/* Whether two stores write the same elements of one block. */
static bool same_view(tt_node *a, tt_node *b) {
  size_t bytes = a->src[1]->rank * sizeof(int64_t);
  return a->attr.off == b->attr.off && a->src[1]->rank == b->src[1]->rank &&
         memcmp(a->src[1]->dim, b->src[1]->dim, bytes) == 0 && memcmp(tt__node_step(a), tt__node_step(b), bytes) == 0;
}

/*
** Whether the same elements were written before, a few stores ago: then a loop has come round, and what the last turn
** recorded is worth computing by itself. Each turn is then the same small plan; a flush at some count of nodes would
** cut turns at places that differ.
*/
static bool closes_turn(tt_node *store) {
  if (store->op != TT_N_STORE) return false;
  tt_node *old = store->src[0];
  for (int k = 0; k < TURN_STORES && old->op == TT_N_STORE; k++, old = old->src[0])
    if (same_view(store, old)) return true;
  return false;
}

/* Whether a storage's new value must be computed before more is recorded on top. */
static bool is_over_bounds(tt_node *n) {
  bool deep = n->flags & TT_NODE_STEP ? n->pending > TT_STEP_NODES : is_too_deep(n);
  return n->pending && (deep || tt__session_pending_bytes > tt__session_pending_cap());
}

/*
** What is computed on the way to `n` and somebody holds, the newest first: a loop carries several values from turn to
** turn, and each of the others would compute all of it once more.
*/
static int held_below(tt_node *n, tt_node **out, int most) {
  tt_node *walk[TT_PENDING_NODES];
  uint32_t stamp = tt__session_stamp();
  int found = 0, held = 0;
  n->mark = stamp;
  walk[found++] = n;
  for (int at = 0; at < found && held < most; at++) {
    for (int k = 0; k < walk[at]->nsrc && held < most; k++) {
      tt_node *s = walk[at]->src[k];
      if (s->pending == 0 || s->mark == stamp || found == TT_PENDING_NODES) continue;
      s->mark = stamp;
      walk[found++] = s;
      if (s->held && s->op < TT_OP_COUNT && s->size == n->size && s->device == n->device) out[held++] = s;
    }
  }
  return held;
}

static tt_code flush(tt_node *n, tt_error *err) {
  enum { MOST = 6 };
  tt_node *all[1 + MOST] = {n};
  int count = 1 + (n->op < TT_OP_COUNT ? held_below(n, all + 1, MOST) : 0);
  TT_COUNT(flushes, 1);
  for (int i = 0; i < count; i++) tt__node_retain(all[i]); /* the evaluator may let others in, who may write */
  tt_code code = tt__evaluate(all, count, err);
  for (int i = 0; i < count; i++) tt__node_release(all[i]);
  return code;
}

/* ---- birth and death */

static tt_array *array_new(tt_storage *s, tt_dtype dtype, int rank, const int64_t *len, int64_t size, tt_error *err) {
  tt_array *a = tt__slab_alloc(array_bytes(rank));
  if (!a) {
    tt__fail_memory(err, array_bytes(rank));
    return NULL;
  }
  *a = (tt_array){.refs = 1, .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .size = size, .storage = s};
  s->refs++;
  if (rank) memcpy(a->dim, len, (size_t)rank * sizeof *len);
  return a;
}

tt_array *tt__array_of(tt_node *n, tt_error *err) {
  assert(n->refs > 0 && n->op != TT_N_LIB && n->op != TT_N_CALL && n->op != TT_N_LIST);
  if (n->device == TT_TORN) {
    tt__fail_torn(n, err);
    return NULL;
  }
  tt_storage *s = tt__storage_new(n, err);
  if (!s) return NULL;
  tt_array *a = array_new(s, (tt_dtype)n->dtype, n->rank, n->dim, n->size, err);
  if (!a) {
    s->refs = 1;
    tt__storage_release(s);
    return NULL;
  }
  tt__shape_steps(a->rank, a->dim, tt__array_step(a));
  if (is_over_bounds(n) && flush(n, err) != TT_OK) {
    tt__array_release(a);
    return NULL;
  }
  return a;
}

#ifndef NDEBUG
/* Whether a view stays between the first and the last element of its storage. */
static bool is_inside(const tt_storage *s, int rank, const int64_t *len, const int64_t *step, int64_t off) {
  int64_t least = off, most = off;
  for (int k = 0; k < rank; k++) {
    if (len[k] == 0) return true;
    *(step[k] < 0 ? &least : &most) += (len[k] - 1) * step[k];
  }
  return least >= 0 && most < s->node->size;
}
#endif

tt_array *tt__storage_array(tt_storage *s, int rank, const int64_t *len, const int64_t *step, int64_t off,
                            tt_error *err) {
  assert(is_inside(s, rank, len, step, off));
  int64_t size = 1;
  for (int k = 0; k < rank; k++) size *= len[k];
  s->refs++;
  tt_array *v = array_new(s, (tt_dtype)s->node->dtype, rank, len, size, err);
  tt__storage_release(s);
  if (!v) return NULL;
  memcpy(tt__array_step(v), step, (size_t)rank * sizeof *step);
  v->off = off;
  return v;
}

tt_array *tt__array_view(tt_array *a, int rank, const int64_t *len, const int64_t *step, int64_t off, tt_error *err) {
  tt_array *v = tt__storage_array(a->storage, rank, len, step, off, err);
  if (v) v->readonly = a->readonly;
  return v;
}

tt_array *tt__array_retain(tt_array *a) {
  assert(a->refs > 0 && tt__session_is_held());
  a->refs++;
  return a;
}

void tt__array_release(tt_array *a) {
  assert(!a || (a->refs > 0 && tt__session_is_held()));
  if (!a || --a->refs > 0) return;
  assert(a->refs == 0);
  tt__array_forget(a);
  tt__storage_release(a->storage);
  tt__slab_free(a, array_bytes(a->rank));
}

/* ---- layout */

bool tt__array_is_c(tt_array *a) { return a->size == 0 || tt__shape_is_c(a->rank, a->dim, tt__array_step(a)); }

bool tt__array_is_f(tt_array *a) {
  if (a->size == 0) return true;
  int64_t run = 1;
  for (int k = 0; k < a->rank; run *= a->dim[k++])
    if (a->dim[k] != 1 && tt__array_step(a)[k] != run) return false;
  return true;
}

/* ---- reading */

tt_node *tt__array_node(tt_array *a, tt_error *err) {
  assert((!a->cache) || (a->cache->size == a->size && a->cache->dtype == a->dtype));
  assert(tt__session_is_held() && a->refs > 0 && a->storage->node);
  if (a->cache) return tt__node_retain(a->cache);
  tt_node *n = tt__node_view(a->storage->node, a->rank, a->dim, tt__array_step(a), a->off, err);
  /* The value itself needs no second hold: it would look shared to whoever writes in place. What is read while nothing
   * is followed is not what the next reader needs. */
  bool whole = n == a->storage->node, lost = n && !n->tape && a->storage->node->tape;
  if (n && !whole && !lost) remember(a, n);
  return n;
}

tt_code tt__arrays_evaluate(tt_array *const *array, int n, tt_error *err) {
  size_t bytes = (size_t)n * sizeof(tt_node *);
  tt_node *few[8] = {0}, **node = n <= 8 ? few : tt__mem_alloc(bytes);
  if (!node) return tt__fail_memory(err, bytes);
  for (int k = 0; k < n; k++) node[k] = tt__node_retain(array[k]->storage->node);
  tt_code code = tt__evaluate(node, n, err);
  for (int k = 0; k < n; k++) tt__node_release(node[k]);
  if (node != few) tt__mem_free(node, bytes);
  return code;
}

tt_node *tt__array_node_as(tt_array *a, int rank, const int64_t *len, tt_error *err) {
  assert(rank <= TT_MAX_RANK);
  if (a->rank == rank && tt__shape_same(rank, a->dim, len)) return tt__array_node(a, err);
  int64_t step[TT_MAX_RANK];
  int lead = rank - a->rank;
  assert(lead >= 0);
  for (int k = 0; k < rank; k++) {
    assert(k < lead || a->dim[k - lead] == 1 || a->dim[k - lead] == len[k]);
    step[k] = k < lead || a->dim[k - lead] == 1 ? 0 : tt__array_step(a)[k - lead];
  }
  return tt__node_view(a->storage->node, rank, len, step, a->off, err);
}

/* ---- writing */

/* A leaf that was written on would be a leaf no more. */
static tt_code check_leaf(const tt_storage *s, tt_error *err) {
  if (!tt__storage_leaf(s) || !tt__session_tape) return TT_OK;
  return tt__fail(err, TT_EGRAD, "a leaf Variable that requires grad is being used in an in-place operation.");
}

static tt_code check_writable(tt_array *a, tt_error *err) {
  bool refused = a->readonly || a->storage->readonly;
  for (int k = 0; k < a->rank; k++) refused |= a->dim[k] > 1 && tt__array_step(a)[k] == 0; /* one cell, many writers */
  if (refused) return tt__fail(err, TT_EVALUE, "assignment destination is read-only");
  return check_leaf(a->storage, err);
}

void tt__storage_become(tt_storage *s, tt_node *n) {
  assert(n->size == s->node->size && n->dtype == s->node->dtype);
  while (s->cached) tt__array_forget(s->cached);
  tt__node_hold(n);
  tt__node_release(n);
  tt__node_unhold(s->node);
  s->node = n;
}

tt_code tt__storage_put(tt_storage *s, tt_node *n, tt_error *err) {
  assert(n->size == s->node->size && n->dtype == s->node->dtype);
  if (n->device != s->node->device && s->node->device != TT_ANYWHERE) { /* the storage stays where it was put */
    if (n->device != TT_ANYWHERE) {
      tt_code code = n->device == TT_TORN ? tt__fail_torn(n, err)
                                          : tt__fail(err, TT_EVALUE, "the value to write lies on another device");
      tt__node_release(n);
      return code;
    }
    n = tt__node_at(n, s->node->device, err);
    if (!n) return TT_ENOMEM;
  }
  if (tt__storage_leaf(s) && !(n = tt__storage_leaf_value(s, n, err))) return TT_ENOMEM;
  if (tt__storage_aliased(s)) return tt__alias_put(s, n, err);
  tt__storage_become(s, n);
  return TT_OK;
}

/* The same; work that piles up is done. (What the caller holds of the new value reads the old one, so that this cannot
 * be written over: whoever can evaluates the old value first.) */
static tt_code storage_set(tt_storage *s, tt_node *n, tt_error *err) {
  TT_TRY(tt__storage_put(s, n, err));
  return is_over_bounds(s->node) ? flush(s->node, err) : TT_OK;
}

static tt_code store_bytes(tt_array *bytes, tt_node *index, tt_node *value, tt_error *err) {
  tt_node *n = tt__node_cast(value, TT_U8, err);
  tt_code code = !n ? TT_ENOMEM : index ? tt__array_scatter(bytes, index, n, err) : tt__array_store(bytes, n, err);
  tt__node_release(n);
  tt__array_release(bytes);
  return code;
}

tt_code tt__array_store(tt_array *a, tt_node *value, tt_error *err) {
  assert(value->dtype == a->dtype && value->size == a->size);
  TT_TRY(check_writable(a, err));
  if (a->size == 0) return TT_OK;
  tt_array *bytes;
  TT_TRY(tt__alias_bytes(a, &bytes, err));
  if (bytes) return store_bytes(bytes, NULL, value, err);
  tt_storage *s = a->storage;
  for (bool again = false;; again = true) {
    while (s->cached) tt__array_forget(s->cached);
    if (tt__eager_store(a, value)) return TT_OK;
    tt_node *n = tt__node_store(s->node, value, tt__array_step(a), a->off, err);
    if (!n) return TT_ENOMEM;
    if (again || !s->node->pending || !(closes_turn(n) || is_over_bounds(n))) return storage_set(s, n, err);
    tt__node_release(n); /* others may write while this evaluates: begin anew */
    TT_TRY(flush(s->node, err));
  }
}

tt_code tt__array_scatter(tt_array *a, tt_node *index, tt_node *value, tt_error *err) {
  assert(value->dtype == a->dtype);
  assert(index->dtype == TT_I64 && index->size == value->size);
  TT_TRY(check_writable(a, err));
  if (value->size == 0) return TT_OK;
  tt_array *bytes;
  TT_TRY(tt__alias_bytes(a, &bytes, err));
  if (bytes) return store_bytes(bytes, index, value, err);
  if (tt__eager_scatter(a->storage, index, value)) return TT_OK;
  tt_storage *s = a->storage;
  for (bool again = false;; again = true) {
    while (s->cached) tt__array_forget(s->cached);
    tt_node *n = tt__node_scatter(s->node, index, value, err);
    if (!n) return TT_ENOMEM;
    if (again || !s->node->pending || !is_over_bounds(n)) return storage_set(s, n, err);
    tt__node_release(n);
    TT_TRY(flush(s->node, err));
  }
}

tt_code tt__array_check_writable(const tt_array *a, tt_error *err) { return check_writable((tt_array *)a, err); }

/* ---- creation */

tt_code tt__empty(tt_dtype dtype, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  int64_t size;
  *out = NULL;
  TT_TRY(tt__shape_size(rank, len, dtype, &size, err));
  tt_node *n = size ? tt__node_new(TT_N_EMPTY, dtype, rank, len, 0, err)
                    : tt__node_const(dtype, (tt_scalar){.bits = {0, 0}}, rank, len, err);
  if (!n) return TT_ENOMEM;
  *out = tt__array_of(n, err);
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

tt_code tt__full(tt_dtype dtype, int rank, const int64_t *len, const tt_value *value, tt_array **out, tt_error *err) {
  int64_t size;
  tt_scalar scalar;
  *out = NULL;
  TT_TRY(tt__shape_size(rank, len, dtype, &size, err));
  TT_TRY(tt__value_scalar(value, dtype, &scalar, err));
  tt_node *n = tt__node_const(dtype, scalar, rank, len, err);
  if (!n) return TT_ENOMEM;
  *out = tt__array_of(n, err);
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

/*
** The first and last element that the strides reach, in elements from the first index; false when they and their bytes
** cannot be counted.
*/
static bool span_of(int rank, const int64_t *len, const int64_t *step, int64_t item, int64_t *lo, int64_t *hi) {
  int64_t span;
  *lo = *hi = 0;
  for (int k = 0; k < rank; k++) {
    int64_t far;
    if (__builtin_mul_overflow(len[k] - 1, step[k], &far)) return false;
    if (__builtin_add_overflow(*(far < 0 ? lo : hi), far, far < 0 ? lo : hi)) return false;
  }
  return !__builtin_sub_overflow(*hi, *lo, &span) && span < INT64_MAX / item;
}

static tt_code adopt_bytes(int device, char *at, size_t size, bool readonly, void (*drop)(void *), void *ctx,
                           tt_buffer **out, tt_error *err) {
  if (device > 0 && size > 0) return tt__session_residency->adopt(at, size, device, readonly, drop, ctx, out, err);
  *out = tt__buffer_adopt(at, size, readonly, drop, ctx, err);
  return *out ? TT_OK : TT_ENOMEM;
}

/* Let go of adopted memory that its owner keeps after all. */
static void disown(tt_buffer *b) {
  b->drop = NULL;
  b->data = NULL;
}

tt_code tt__array_adopt(int device, tt_dtype dtype, int rank, const int64_t *len, void *data, const int64_t *stride,
                        bool readonly, void (*drop)(void *), void *ctx, tt_array **out, tt_error *err) {
  int64_t size, item = (int64_t)tt__dtype_size(dtype), step[TT_MAX_RANK], lo, hi, span;
  *out = NULL;
  TT_TRY(tt__shape_size(rank, len, dtype, &size, err));
  tt__shape_steps(rank, len, step);
  for (int k = 0; stride && k < rank; k++) {
    if (len[k] > 1 && stride[k] % item != 0)
      return tt__fail(err, TT_EVALUE, "strides must be multiples of the element size: %lld bytes for %s",
                      (long long)stride[k], tt__dtypes[dtype].name);
    if (len[k] > 1) step[k] = stride[k] / item;
  }
  if (size && !data) return tt__fail(err, TT_EVALUE, "there is no memory at address 0");
  int64_t align = tt__is_complex(dtype) ? item / 2 : item;
  if (size && (uintptr_t)data % (uintptr_t)align)
    return tt__fail(err, TT_EVALUE, "memory of %s must be aligned to %lld bytes", tt__dtypes[dtype].name,
                    (long long)align);
  if (size == 0) {
    lo = 0;
    hi = -1;
  } else if (!span_of(rank, len, step, item, &lo, &hi)) {
    return tt__fail(err, TT_EVALUE, "strides reach beyond the address space");
  }
  span = hi - lo + 1;
  tt_buffer *b;
  TT_TRY(adopt_bytes(device, (char *)data + lo * item, (size_t)(span * item), readonly, drop, ctx, &b, err));
  tt_node *n = tt__node_new(TT_N_BUFFER, dtype, 1, &span, 0, err);
  if (!n) {
    disown(b);
    tt__buffer_release(b);
    return TT_ENOMEM;
  }
  n->attr.buf = b;
  if (device > 0) n->device = (int16_t)device;
  tt_array *whole = tt__array_of(n, err);
  *out = whole ? tt__array_view(whole, rank, len, step, -lo, err) : NULL;
  if (*out) {
    (*out)->readonly = readonly;
  } else {
    disown(b);
  }
  tt__array_release(whole);
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

/* ---- looking */

tt_code tt__array_peek_dense(tt_array *a, const void **data, tt_buffer **hold, tt_error *err) {
  static const int64_t nothing[2];
  *data = nothing;
  *hold = NULL;
  if (a->size == 0) return TT_OK;
  tt_node *whole = tt__node_retain(a->storage->node);
  tt_code code = TT_OK;
  bool dense = tt__array_is_c(a);
  /* Values nobody computed are not worth the whole storage for a part of it. */
  bool whole_first = whole->op != TT_N_CONST && whole->op != TT_N_IOTA && whole->op != TT_N_EMPTY;
  bool most = a->size >= whole->size / SMALL_PART;
  if (whole_first) code = most ? tt__evaluate_to_look(whole, err) : tt__evaluate(&whole, 1, err);
  bool home = whole->op == TT_N_BUFFER && whole->attr.buf->data;
  bool small = !home && !most; /* of what lies on a device: only that part travels */
  if (code == TT_OK && dense && !small && whole->op == TT_N_BUFFER) {
    code = tt__buffer_host(whole->attr.buf, err);
    if (code != TT_OK) goto done;
    *hold = tt__buffer_retain(whole->attr.buf);
    *data = (char *)whole->attr.buf->data + a->off * (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  } else if (code == TT_OK) {
    tt_node *n = tt__node_view(whole, a->rank, a->dim, tt__array_step(a), a->off, err);
    code = n ? tt__evaluate_home(n, err) : TT_ENOMEM;
    if (code == TT_OK) {
      *hold = tt__buffer_retain(n->attr.buf);
      *data = n->attr.buf->data;
    }
    tt__node_release(n);
  }
done:
  tt__node_release(whole);
  return code;
}
