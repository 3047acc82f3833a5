/*
** Nodes and buffers: birth, sharing, death. Every constructor folds what is trivially known, so that
** the stages below see less. It must not know arrays, nor evaluate anything.
**
** `pending` of a new node is 1 plus its operands' counts, or as many nodes as were made since the
** oldest below it if that is less: never too small, too large where operands are shared and others
** were recorded in between. Whoever must know counts again (array.c).
*/
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/warn.h"
#include "graph/build.h"
#include "graph/eager/compute.h"
#include "graph/eager/eager.h"
#include "graph/session.h"
#include "graph/slab.h"
#include "graph/tape.h"
#include "ir/user/call.h"

static uint32_t made; /* nodes so far; it may wrap: only distances count */

static size_t node_bytes(int rank, int nstep) { return sizeof(tt_node) + (size_t)(rank + nstep) * sizeof(int64_t); }

/* ---- buffers */

tt_buffer *tt__buffer_new(size_t size, tt_error *err) {
  tt_buffer *b = tt__slab_alloc(sizeof *b);
  if (!b) {
    tt__fail_memory(err, sizeof *b);
    return NULL;
  }
  *b = (tt_buffer){.refs = 1, .size = size};
  if (size == 0) return b;
  b->data = tt__mem_alloc_data(size);
  if (b->data) return b;
  tt__slab_free(b, sizeof *b);
  tt__fail_memory(err, size);
  return NULL;
}

tt_buffer *tt__buffer_new_elsewhere(size_t size, tt_error *err) {
  tt_buffer *b = tt__buffer_new(0, err);
  if (b) b->size = size;
  return b;
}

tt_code tt__buffer_host(tt_buffer *b, tt_error *err) {
  assert(tt__session_is_held() && b->refs > 0);
  return (b->data && !b->elsewhere) || b->size == 0 ? TT_OK : tt__session_residency->to_host(b, err);
}

void tt__buffer_only_host(tt_buffer *b) {
  b->ranged = false;
  if (b->replicas) tt__session_residency->drop_replicas(b);
}

tt_buffer *tt__buffer_adopt(void *data, size_t size, bool readonly, void (*drop)(void *), void *ctx, tt_error *err) {
  tt_buffer *b = tt__slab_alloc(sizeof *b);
  if (!b) {
    tt__fail_memory(err, sizeof *b);
    return NULL;
  }
  *b = (tt_buffer){.refs = 1, .readonly = readonly, .data = data, .size = size, .drop = drop, .ctx = ctx};
  return b;
}

tt_buffer *tt__buffer_retain(tt_buffer *b) {
  assert(b->refs > 0 && tt__session_is_held());
  b->refs++;
  return b;
}

void tt__buffer_dispose(tt_buffer *b) { tt__slab_free(b, sizeof *b); }

void tt__buffer_release(tt_buffer *b) {
  assert(!b || (b->refs > 0 && tt__session_is_held()));
  if (!b || --b->refs > 0) return;
  assert(b->refs == 0);
  if (b->kind) tt__session_residency->forget(b);
  tt__buffer_only_host(b);
  if (b->drop) {
    if (b->elsewhere && b->data) tt__mem_free_data(b->data, b->size);
    tt__session_bury(b);
    return;
  }
  if (b->data) tt__mem_free_data(b->data, b->size);
  tt__buffer_dispose(b);
}

/* ---- birth */

tt_node *tt__node_new(int op, tt_dtype dtype, int rank, const int64_t *len, int nstep, tt_error *err) {
  assert(tt__session_is_held() && (len || rank == 0));
  assert((unsigned)dtype < TT_DTYPE_COUNT && op >= 0 && op <= TT_N_BITCAST);
  assert(rank >= 0 && rank <= TT_MAX_RANK && nstep >= 0 && nstep <= TT_MAX_RANK);
  size_t bytes = node_bytes(rank, nstep);
  tt_node *n = tt__slab_alloc(bytes);
  if (!n) {
    tt__fail_memory(err, bytes);
    return NULL;
  }
  memset(n, 0, sizeof *n);
  n->refs = 1;
  n->op = (uint8_t)op;
  n->dtype = (uint8_t)dtype;
  n->rank = (uint8_t)rank;
  n->nstep = (uint8_t)nstep;
  n->line = tt__session_line;
  n->device = TT_ANYWHERE;
  n->oldest = ++made;
  n->size = 1;
  for (int k = 0; k < rank; k++) {
    assert(len[k] >= 0);
    n->dim[k] = len[k];
    n->size *= len[k];
  }
  /* The lock is held: no atomic add is needed, but a reader may look meanwhile. */
  __atomic_store_n(&tt__ledger.nodes, tt__ledger.nodes + 1, __ATOMIC_RELAXED);
  return n;
}

void tt__node_account(tt_node *n, const tt_node *src) {
  assert(n != src && src->refs > 0);
  if (!src->pending) return;
  if (made - src->oldest > made - n->oldest) n->oldest = src->oldest;
  uint64_t sum = (uint64_t)n->pending + src->pending, since = (uint64_t)(made - n->oldest) + 1;
  if (sum > since) sum = since;
  n->pending = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* Take a new hold on an operand and account for the work below it. */
static void add_src(tt_node *n, tt_node *src) {
  assert(src->op != TT_N_LIST || n->op == TT_N_CALL || n->op == TT_N_LIST);
  assert(src->op != TT_N_LIB || n->op == TT_N_PICK);
  assert(src != n && src->refs > 0);
  assert(n->nsrc < TT_NODE_SRC);
  n->src[n->nsrc++] = tt__node_retain(src);
  if (src->tape) n->flags |= TT_NODE_TAPES | TT_NODE_STEP;
  if (src->pending) n->flags |= src->flags & TT_NODE_STEP;
  if (src->device != n->device && src->device != TT_ANYWHERE)
    n->device = n->device == TT_ANYWHERE ? src->device : TT_TORN;
  tt__node_account(n, src);
}

/* A node with all its operands: on the tape where gradients flow through it, and computed where that is little work. */
static tt_node *finished(tt_node *n, tt_error *err) {
  if (n->flags & TT_NODE_TAPES && tt__session_tape && !tt__tape_record(n, err)) {
    tt__node_release(n);
    return NULL;
  }
  tt__eager_compute(n);
  return n;
}

static tt_node *op_node(int op, tt_dtype dtype, int rank, const int64_t *len, int nstep, tt_error *err) {
  tt_node *n = tt__node_new(op, dtype, rank, len, nstep, err);
  if (n) n->pending = 1;
  return n;
}

tt_node *tt__node_retain(tt_node *n) {
  assert(n->refs > 0 && tt__session_is_held());
  n->refs++;
  return n;
}

/* ---- who reads a part of what */

void tt__node_list_reader(tt_node *n) {
  assert((n->op == TT_N_VIEW || n->op == TT_N_GATHER) && n->nsrc <= TT_NEXT_READER && n->src[0]->readers != n);
  tt_node *of = n->src[0], *first = of->readers;
  n->src[TT_NEXT_READER] = first;
  if (first) first->src[TT_LAST_READER] = n;
  of->readers = n;
}

static void unlist_reader(tt_node *n) {
  tt_node *next = n->src[TT_NEXT_READER], *last = n->src[TT_LAST_READER];
  assert(last ? last->src[TT_NEXT_READER] == n : n->src[0]->readers == n);
  *(last ? &last->src[TT_NEXT_READER] : &n->src[0]->readers) = next;
  if (next) next->src[TT_LAST_READER] = last;
  n->src[TT_NEXT_READER] = n->src[TT_LAST_READER] = NULL;
}

/* ---- death, of any depth: dying nodes wait in a list linked through `size` */

/* Where a LIB or CALL node remembers its PICK of result k; NULL: nowhere. */
static tt_node **pick_place(tt_node *from, int k) {
  if (from->op == TT_N_CALL) return &from->attr.call->operand[k].pick;
  return from->op == TT_N_LIB && k < TT_LIB_PICKS ? &from->attr.lib->pick[k] : NULL;
}

/* The LIB or CALL node of a dying or evaluated PICK forgets it. */
static void forget_pick(tt_node *n) {
  assert(n->op == TT_N_PICK &&
         (n->src[0]->op == TT_N_LIB || n->src[0]->op == TT_N_CALL || n->src[0]->op == TT_N_BUFFER));
  tt_node **place = pick_place(n->src[0], n->attr.pick);
  if (place && *place == n) *place = NULL;
}

/* What a node owns besides its operands. */
static void drop_attr(tt_node *n) {
  if (n->op == TT_N_LIB) tt__slab_free(n->attr.lib, sizeof(tt_lib_attr));
  if (n->op == TT_N_CALL) {
    n->attr.call->kind->release(n->attr.call->kernel);
    tt__slab_free(n->attr.call, n->attr.call->size);
  }
}

/* Is the last to hold the node what remembers how it was made? */
static inline bool is_own(tt_node *n) { return n->refs == 1 && n->tape && tt__tape_is_last(n); }

static void drop_src(tt_node *n, tt_node **dying) {
  if (n->op == TT_N_PICK && n->nsrc == 1) forget_pick(n);
  if ((n->op == TT_N_VIEW || n->op == TT_N_GATHER) && n->nsrc > 0) unlist_reader(n);
  for (int k = 0; k < n->nsrc; k++) {
    tt_node *s = n->src[k];
    n->src[k] = NULL;
    if (--s->refs > 0 && !is_own(s)) continue;
    assert(s->refs == 0 && s->held == 0);
    s->size = (int64_t)(intptr_t)*dying;
    *dying = s;
  }
  n->nsrc = 0;
}

static void bury_all(tt_node *dying) {
  while (dying) {
    tt_node *n = dying;
    dying = (tt_node *)(intptr_t)n->size;
    if (n->flags & TT_NODE_OUTPUT) tt__tape_forget_output(n);
    if (n->tape) tt__tape_leave(n);
    drop_src(n, &dying);
    if (n->op == TT_N_BUFFER) tt__buffer_release(n->attr.buf);
    drop_attr(n);
    tt__slab_free(n, node_bytes(n->rank, n->nstep));
  }
}

void tt__node_release(tt_node *n) {
  assert(!n || (n->refs > 0 && tt__session_is_held()));
  if (!n || (--n->refs > 0 && !is_own(n))) return;
  assert(n->refs == 0 && n->held == 0);
  n->size = 0;
  bury_all(n);
}

/* What is beyond the bound alone is not computed before it is asked for: it may be broadcast, and only be reduced. */
static int64_t pending_bytes(const tt_node *n) {
  double bytes = n->pending ? (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype) : 0;
  return bytes > (double)tt__session_pending_cap() ? 0 : (int64_t)bytes;
}

void tt__node_become_buffer(tt_node *n, tt_buffer *buf) {
  assert(buf->refs > 0 && n->refs > 0 && tt__session_is_held());
  assert(n->op != TT_N_BUFFER);
  assert((size_t)n->size * tt__dtype_size((tt_dtype)n->dtype) <= buf->size);
  if (n->held) tt__session_pending_bytes -= pending_bytes(n);
  tt_node *dying = NULL;
  drop_src(n, &dying);
  drop_attr(n);
  n->op = TT_N_BUFFER;
  n->pending = 0;
  n->attr.buf = buf;
  bury_all(dying);
  assert(n->nsrc == 0);
}

void tt__node_settle(tt_node *n, tt_buffer *buf) {
  if (n->op == TT_N_BUFFER)
    tt__buffer_release(buf);
  else
    tt__node_become_buffer(n, buf);
}

void tt__node_hold(tt_node *n) {
  assert(n->held >= 0 && n->op != TT_N_LIB && n->op != TT_N_CALL && n->op != TT_N_LIST);
  tt__node_retain(n);
  if (n->held++ == 0) tt__session_pending_bytes += pending_bytes(n);
}

void tt__node_unhold(tt_node *n) {
  assert(n->refs >= n->held);
  assert(n->held > 0);
  if (--n->held == 0) tt__session_pending_bytes -= pending_bytes(n);
  tt__node_release(n);
}

/* ---- values */

tt_node *tt__node_const(tt_dtype dtype, tt_scalar value, int rank, const int64_t *len, tt_error *err) {
  tt_node *n = tt__node_new(TT_N_CONST, dtype, rank, len, 0, err);
  if (n) n->attr.scalar = value;
  return n;
}

tt_node *tt__node_iota(int rank, const int64_t *len, tt_error *err) {
  tt_node *n = tt__node_new(TT_N_IOTA, TT_I64, rank, len, 0, err);
  if (n && tt__session_device <= 0) tt__eager_compute(n);
  return n;
}

tt_node *tt__node_const_at(int device, tt_dtype dtype, tt_scalar value, int rank, const int64_t *len, tt_error *err) {
  tt_node *n = tt__node_const(dtype, value, rank, len, err);
  if (n) n->device = (int16_t)device;
  return n;
}

/* ---- elementwise */

static bool is_const(const tt_node *n, double value) {
  if (n->op != TT_N_CONST || tt__is_complex((tt_dtype)n->dtype)) return false;
  tt_value v = tt__scalar_load((tt_dtype)n->dtype, &n->attr.scalar);
  switch (v.tag) {
    case TT_V_INT:
      return v.as.i == (int64_t)value;
    case TT_V_FLOAT:
      return v.as.f == value;
    default:
      return false;
  }
}

/* x*1, x/1, x-0, and for integers x+0, x|0, x^0, x<<0, x>>0: the operand that is the answer, or NULL. Never x+0.0:
 * -0.0. */
static tt_node *fold(tt_op op, tt_dtype dtype, tt_node *const *src) {
  tt_node *a = src[0], *b = src[1];
  if (b->op != TT_N_CONST || a->dtype != dtype) return NULL;
  switch (op) {
    case TT_MUL:
    case TT_DIV:
      return is_const(b, 1) ? a : NULL;
    case TT_SUB:
      return is_const(b, 0) && !(tt__is_float(dtype) && (b->attr.scalar.bits[0] != 0)) ? a : NULL;
    case TT_ADD:
    case TT_OR:
    case TT_XOR:
    case TT_SHL:
    case TT_SHR:
      return tt__is_int(dtype) && is_const(b, 0) ? a : NULL;
    default:
      return NULL;
  }
}

tt_node *tt__node_op(tt_op op, tt_dtype dtype, tt_node *const *src, int n, tt_error *err) {
  assert((unsigned)op < TT_OP_COUNT && n > 0 && n <= TT_NODE_SRC);
  assert(n == tt__ops[op].arity);
  if (n == 2) {
    tt_node *same = fold(op, dtype, src);
    if (same && (src[1]->device == TT_ANYWHERE || src[1]->device == same->device)) return tt__node_retain(same);
  }
  /* 1/x: devices have it for half the instructions of a division. */
  if (op == TT_DIV && (dtype == TT_F32 || dtype == TT_F64) && is_const(src[0], 1) && src[1]->op != TT_N_CONST &&
      (src[0]->device == TT_ANYWHERE || src[0]->device == src[1]->device)) {
    op = TT_RECIPROCAL;
    src++;
    n = 1;
  }
  tt_scalar known;
  bool scattered = false; /* operands were put on devices, perhaps on two: let add_src say */
  for (int k = 0; k < n; k++) scattered |= src[k]->device != src[0]->device;
  if (src[0]->op == TT_N_CONST && !scattered && tt__eager_op(op, dtype, src, n, &known))
    return tt__node_const_at(src[0]->device, dtype, known, src[0]->rank, src[0]->dim, err);
  tt_node *out = op_node(op, dtype, src[0]->rank, src[0]->dim, 0, err);
  if (!out) return NULL;
  for (int k = 0; k < n; k++) {
    assert(src[k]->size == out->size);
    assert(src[k]->rank == out->rank);
    add_src(out, src[k]);
  }
  return finished(out, err);
}

/* What is meant to drop an imaginary part takes the real one (TT_REAL). */
tt_node *tt__node_cast(tt_node *a, tt_dtype dtype, tt_error *err) {
  if (a->dtype == dtype) return tt__node_retain(a);
  if (tt__is_complex((tt_dtype)a->dtype) && !tt__is_complex(dtype) && dtype != TT_BOOL) tt__warn_discarded();
  if (a->op == TT_N_CONST) {
    tt_value v = tt__scalar_load((tt_dtype)a->dtype, &a->attr.scalar);
    /* What a cast makes of numbers outside the type is the kernels' to say. */
    if (!tt__is_int(dtype) || v.tag == TT_V_BOOL || v.tag == TT_V_INT || v.tag == TT_V_UINT)
      return tt__node_const_at(a->device, dtype, tt__scalar_from(&v, dtype), a->rank, a->dim, err);
  }
  return tt__node_op(TT_CAST, dtype, &a, 1, err);
}

/* ---- structure */

tt_node *tt__node_reduce_plain(tt_red red, tt_node *a, uint64_t axes, tt_error *err) {
  assert((unsigned)red <= TT_RED_ARGMIN);
  assert(a->rank >= 64 || axes >> a->rank == 0);
  bool arg = red == TT_RED_ARGMAX || red == TT_RED_ARGMIN;
  tt_dtype dtype = arg ? TT_I64 : (tt_dtype)a->dtype;
  assert((red != TT_RED_ANY && red != TT_RED_ALL) || dtype == TT_BOOL);
  if (axes == 0)
    return arg ? tt__node_const_at(a->device, TT_I64, (tt_scalar){.i64 = 0}, a->rank, a->dim, err) : tt__node_retain(a);
  int64_t len[TT_MAX_RANK];
  int rank = 0;
  for (int k = 0; k < a->rank; k++)
    if (!(axes >> k & 1)) len[rank++] = a->dim[k];
  if (a->size == 0 && (red == TT_RED_SUM || red == TT_RED_PROD || red == TT_RED_ANY || red == TT_RED_ALL)) {
    tt_value identity = tt_v_int(red == TT_RED_PROD || red == TT_RED_ALL);
    tt_node *none = tt__node_const_at(a->device, dtype, tt__scalar_from(&identity, dtype), rank, len, err);
    return tt__tape_of_none(none, a, err);
  }
  tt_node *n = op_node(TT_N_REDUCE, dtype, rank, len, 0, err);
  if (!n) return NULL;
  n->attr.reduce.axes = axes;
  n->attr.reduce.red = (uint8_t)red;
  add_src(n, a);
  return finished(n, err);
}

tt_node *tt__node_gather(tt_node *a, tt_node *index, tt_error *err) {
  assert(index->size == 0 || a->size > 0);
  assert(index->dtype == TT_I64);
  if (index->size == 0) {
    tt_scalar zero = {.bits = {0, 0}};
    return tt__tape_of_none(tt__node_const((tt_dtype)a->dtype, zero, index->rank, index->dim, err), a, err);
  }
  if (a->op == TT_N_CONST)
    return tt__node_const_at(a->device, (tt_dtype)a->dtype, a->attr.scalar, index->rank, index->dim, err);
  tt_node *n = op_node(TT_N_GATHER, (tt_dtype)a->dtype, index->rank, index->dim, 0, err);
  if (!n) return NULL;
  n->flags = TT_NODE_CHECKED;
  add_src(n, a);
  add_src(n, index);
  tt__node_list_reader(n);
  return finished(n, err);
}

tt_node *tt__node_scatter(tt_node *old, tt_node *index, tt_node *value, tt_error *err) {
  assert(value->size == 0 || old->size > 0);
  assert(index->dtype == TT_I64 && index->size == value->size && old->dtype == value->dtype);
  if (value->size == 0) return tt__node_retain(old);
  tt_node *n = op_node(TT_N_SCATTER, (tt_dtype)old->dtype, old->rank, old->dim, 0, err);
  if (!n) return NULL;
  n->flags = TT_NODE_CHECKED;
  add_src(n, old);
  add_src(n, index);
  add_src(n, value);
  return finished(n, err);
}

/* Whether the view visits every element of a block of `size` in order. */
static bool is_identity(int64_t size, int rank, const int64_t *len, const int64_t *step, int64_t off) {
  int64_t run = 1;
  for (int k = rank; k-- > 0; run *= len[k])
    if (len[k] != 1 && step[k] != run) return false;
  return off == 0 && run == size;
}

tt_node *tt__node_store(tt_node *old, tt_node *value, const int64_t *step, int64_t off, tt_error *err) {
  assert(old->dtype == value->dtype);
  if (value->size == 0) return tt__node_retain(old);
  assert(off >= 0 && off < old->size);
  if (is_identity(old->size, value->rank, value->dim, step, off)) return tt__node_retain(value);
  int64_t flat[TT_MAX_RANK]; /* axes of length 1 do not move: one spelling for one view */
  for (int k = 0; k < value->rank; k++) flat[k] = value->dim[k] == 1 ? 0 : step[k];
  size_t bytes = value->rank * sizeof *step;
  bool read = old->refs > old->held; /* then it is computed all the same, and this store goes on where it lies */
  if (!read && old->op == TT_N_STORE && old->nstep == value->rank && old->attr.off == off &&
      old->src[1]->size == value->size && memcmp(old->src[1]->dim, value->dim, bytes) == 0 &&
      memcmp(tt__node_step(old), flat, bytes) == 0)
    old = old->src[0]; /* what was written there before is overwritten */
  tt_node *n = op_node(TT_N_STORE, (tt_dtype)old->dtype, old->rank, old->dim, value->rank, err);
  if (!n) return NULL;
  n->attr.off = off;
  memcpy(tt__node_step(n), flat, bytes);
  add_src(n, old);
  add_src(n, value);
  return finished(n, err);
}

/* The bits of a constant as another type, where every element of that is the same. */
static bool same_bits(const tt_node *a, tt_dtype dtype, tt_scalar *out) {
  char bytes[2 * sizeof(tt_scalar)];
  size_t item = tt__dtype_size((tt_dtype)a->dtype), want = tt__dtype_size(dtype);
  for (size_t k = 0; k < sizeof bytes; k += item) memcpy(bytes + k, &a->attr.scalar, item);
  *out = (tt_scalar){.bits = {0, 0}};
  memcpy(out, bytes, want);
  for (size_t k = want; k < item; k += want)
    if (memcmp(bytes, bytes + k, want) != 0) return false;
  return true;
}

tt_node *tt__node_bitcast(tt_node *a, tt_dtype dtype, int rank, const int64_t *len, tt_error *err) {
  int64_t step[TT_MAX_RANK];
  tt_scalar bits;
  while (!tt__is_opaque(a) &&
         (a->op == TT_N_BITCAST ||
          (a->op == TT_N_VIEW && is_identity(a->src[0]->size, a->rank, a->dim, tt__node_step(a), a->attr.off))) &&
         a->src[0]->device == a->device)
    a = a->src[0];
  if (a->dtype == dtype) {
    tt__shape_steps(rank, len, step);
    return tt__node_view(a, rank, len, step, 0, err);
  }
  if (a->op == TT_N_CONST && same_bits(a, dtype, &bits))
    return tt__node_const_at(a->device, dtype, bits, rank, len, err);
  bool here = a->op == TT_N_BUFFER && !tt__is_taped(a);
  tt_node *n =
      here ? tt__node_new(TT_N_BUFFER, dtype, rank, len, 0, err) : op_node(TT_N_BITCAST, dtype, rank, len, 0, err);
  if (!n) return NULL;
  assert((size_t)n->size * tt__dtype_size(dtype) == (size_t)a->size * tt__dtype_size((tt_dtype)a->dtype));
  if (!here) {
    add_src(n, a);
    return finished(n, err);
  }
  n->attr.buf = tt__buffer_retain(a->attr.buf); /* the same memory, no work */
  n->device = a->device;
  return n;
}

tt_node *tt__node_lib(const tt_lib_attr *attr, tt_node *const *src, int n, tt_error *err) {
  assert(attr->row->run && attr->row->nout > 0);
  assert(n == attr->row->nsrc && n <= TT_NODE_SRC);
  tt_lib_attr *copy = tt__slab_alloc(sizeof *copy);
  if (!copy) {
    tt__fail_memory(err, sizeof *copy);
    return NULL;
  }
  *copy = *attr;
  memset(copy->pick, 0, sizeof copy->pick);
  tt_node *out = op_node(TT_N_LIB, TT_BOOL, 0, NULL, 0, err);
  if (!out) {
    tt__slab_free(copy, sizeof *copy);
    return NULL;
  }
  out->size = 0;
  out->attr.lib = copy;
  for (int k = 0; k < n; k++) add_src(out, src[k]);
  return finished(out, err);
}

tt_node *tt__node_pick(tt_node *lib, int k, tt_dtype dtype, int rank, const int64_t *len, tt_error *err) {
  assert(lib->op != TT_N_CALL || lib->attr.call->operand[k].writes);
  assert(lib->op == TT_N_CALL || lib->op == TT_N_LIB);
  assert(k >= 0 && (lib->op == TT_N_CALL ? k < lib->attr.call->noperand : k < lib->attr.lib->row->nout));
  tt_node *n = op_node(TT_N_PICK, dtype, rank, len, 0, err);
  if (!n) return NULL;
  n->attr.pick = k;
  add_src(n, lib);
  tt_node **place = pick_place(lib, k);
  if (place) *place = n;
  return finished(n, err);
}

static tt_node *add_all(tt_node *out, tt_node *const *src, int n, tt_error *err);

/* A LIST of operands, or NULL; of more than fit, the last is another LIST. */
static tt_node *list_of(tt_node *const *src, int n, tt_error *err) {
  tt_node *out = op_node(TT_N_LIST, TT_BOOL, 0, NULL, 0, err);
  if (!out) return NULL;
  out->size = 0;
  return add_all(out, src, n, err);
}

static tt_node *add_all(tt_node *out, tt_node *const *src, int n, tt_error *err) {
  int here = n > TT_NODE_SRC ? TT_NODE_SRC - 1 : n;
  for (int k = 0; k < here; k++) add_src(out, src[k]);
  if (here == n) return out;
  tt_node *rest = list_of(src + here, n - here, err);
  if (!rest) {
    tt__node_release(out);
    return NULL;
  }
  add_src(out, rest);
  out->flags |= rest->flags & TT_NODE_TAPES;
  tt__node_release(rest);
  return out;
}

tt_node *tt__node_call(tt_kernel_call *call, tt_node *const *src, tt_error *err) {
  for (int k = 0; k < call->npointer; k++) assert((size_t)call->pointer[k].at + sizeof(void *) <= call->args_size);
  for (int k = 0; k < call->npointer; k++) assert((unsigned)call->pointer[k].operand < (unsigned)call->noperand);
  assert(call->noperand >= 0 && call->noperand <= TT_CALL_ARRAYS && call->args_size <= TT_CALL_ARGS);
  tt_node *out = op_node(TT_N_CALL, TT_BOOL, 0, NULL, 0, err);
  if (!out) {
    tt__slab_free(call, call->size);
    return NULL;
  }
  out->size = 0;
  out->attr.call = call;
  call->kind->retain(call->kernel);
  out = add_all(out, src, call->noperand, err);
  return out ? finished(out, err) : NULL;
}
