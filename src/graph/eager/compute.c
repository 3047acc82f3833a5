/*
** Small values computed when they are recorded; see compute.h. A value is computed alone, from operands in memory:
** what that loses against a fused kernel is less than an evaluation costs. It must not wait for an evaluation.
*/
#include "graph/eager/compute.h"

#include <assert.h>
#include <string.h>

#include "graph/eager/block.h"
#include "graph/session.h"
#include "graph/tape.h"

/*
** Operands of an op; bytes of an element. What a reduction or a library row reads may be larger than other work:
** nothing else would have been fused into that pass. All operands of a row together fit into one room.
*/
enum { MOST_OPERANDS = 3, MOST_ITEM = 16, MOST_FOLDED = TT_EAGER_MOST, MOST_OF_LIBRARY = TT_EAGER_MOST / 2 };
enum { FOLDED_TIMES = 16, LIBRARY_TIMES = 8, SPREAD = 512 };

static int64_t limit = TT_EAGER_DEFAULT, chosen = TT_EAGER_DEFAULT; /* `chosen`: while nothing pauses it */
static bool paused;
static _Alignas(64) char room[MOST_OPERANDS][TT_EAGER_MOST * MOST_ITEM]; /* dense operands; under the session's lock */

void tt__eager_limit(int64_t elements) {
  chosen = elements < 0 ? TT_EAGER_DEFAULT : elements < TT_EAGER_MOST ? elements : TT_EAGER_MOST;
  limit = paused ? 0 : chosen;
}

void tt__eager_pause(bool on) {
  paused = on;
  limit = paused ? 0 : chosen;
}

bool tt__eager_on(void) { return limit > 0; }

bool tt__eager_few(int64_t elements) { return elements <= limit; }

bool tt__eager_ready(const tt_node *n) {
  if (n->op == TT_N_CONST) return n->device <= 0;
  const tt_node *memory = n->op == TT_N_VIEW ? n->src[0] : n;
  return memory->op == TT_N_BUFFER && tt__eager_at_hand(memory);
}

const void *tt__eager_dense(tt_node *n, void *to) {
  static const int64_t one = 1, none = 0;
  size_t item = tt__dtype_size((tt_dtype)n->dtype);
  int64_t step[TT_MAX_RANK];
  if (n->op == TT_N_BUFFER) return n->attr.buf->data;
  if (n->op == TT_N_CONST) {
    tt__block_copy(1, &n->size, to, &one, &n->attr.scalar, &none, item);
    return to;
  }
  const char *from = (const char *)n->src[0]->attr.buf->data + n->attr.off * (int64_t)item;
  tt__shape_steps(n->rank, n->dim, step);
  if (tt__shape_same(n->rank, step, tt__node_step(n))) return from;
  tt__block_copy(n->rank, n->dim, to, step, from, tt__node_step(n), item);
  return to;
}

const void *tt__eager_elements(tt_array *a, void *to) {
  tt_node *n = a->storage->node;
  size_t item = tt__dtype_size((tt_dtype)a->dtype);
  static const int64_t still[TT_MAX_RANK];
  int64_t dense[TT_MAX_RANK];
  if (a->size > TT_EAGER_MOST || n->op == TT_N_VIEW || !tt__eager_ready(n) || tt__is_taped(n)) return NULL;
  const char *from =
      n->op == TT_N_CONST ? (const char *)&n->attr.scalar : (const char *)n->attr.buf->data + a->off * (int64_t)item;
  if (n->op == TT_N_BUFFER && tt__array_is_c(a)) return from;
  tt__shape_steps(a->rank, a->dim, dense);
  if (a->size) tt__block_copy(a->rank, a->dim, to, dense, from, n->op == TT_N_CONST ? still : tt__array_step(a), item);
  return to;
}

tt_node *tt__eager_room(tt_dtype dtype, int rank, const int64_t *len) {
  int64_t size = 1;
  for (int k = 0; k < rank; k++) size *= len[k];
  tt_buffer *b = tt__buffer_new((size_t)size * tt__dtype_size(dtype), NULL);
  tt_node *n = b ? tt__node_new(TT_N_BUFFER, dtype, rank, len, 0, NULL) : NULL;
  if (!n) {
    tt__buffer_release(b);
    return NULL;
  }
  n->attr.buf = b;
  n->flags |= TT_NODE_AT_ONCE;
  tt__session_count_at_once();
  return n;
}

bool tt__eager_take(tt_node *n) {
  size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
  tt_buffer *b = tt__buffer_new(size, NULL);
  if (!b) return false;
  const void *from = n->op == TT_N_EMPTY ? b->data : tt__eager_dense(n, b->data);
  if (size && from != b->data) memcpy(b->data, from, size);
  tt__node_become_buffer(n, b);
  return true;
}

/* Element 0 and the steps of a ready value as it lies. False: it is a constant. */
static bool as_it_lies(tt_node *n, const void **data, int64_t *step) {
  if (n->op == TT_N_CONST) return false;
  if (n->op == TT_N_BUFFER) {
    *data = n->attr.buf->data;
    tt__shape_steps(n->rank, n->dim, step);
    return true;
  }
  *data = (const char *)n->src[0]->attr.buf->data + n->attr.off * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
  memcpy(step, tt__node_step(n), n->rank * sizeof *step);
  return true;
}

/* ---- by what the node is */

/* The same element everywhere? */
static const void *only_element(const tt_node *n) {
  if (n->op == TT_N_CONST) return &n->attr.scalar;
  if (n->op != TT_N_VIEW) return NULL;
  for (int k = 0; k < n->rank; k++)
    if (n->dim[k] > 1 && n->dim[n->rank + k] != 0) return NULL;
  return (const char *)n->src[0]->attr.buf->data + n->attr.off * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
}

/* Block by block where an operand is one element, which is spread over a block only. */
static bool elementwise(tt_node *n, void *out) {
  static const int64_t one = 1, none = 0;
  const char *arg[MOST_OPERANDS];
  size_t move[MOST_OPERANDS];
  int64_t block = n->size, room_for = n->size < SPREAD ? n->size : SPREAD;
  tt_dtype last = (tt_dtype)n->src[n->nsrc - 1]->dtype, dtype = (tt_dtype)n->dtype;
  tt_dtype type = tt__op_type((tt_op)n->op, last, dtype);
  for (int k = 0; k < n->nsrc; k++) {
    size_t item = tt__dtype_size((tt_dtype)n->src[k]->dtype);
    const void *only = only_element(n->src[k]);
    if (only) tt__block_copy(1, &room_for, room[k], &one, only, &none, item);
    arg[k] = only ? room[k] : tt__eager_dense(n->src[k], room[k]);
    move[k] = only ? 0 : item;
    if (only) block = room_for;
  }
  for (int64_t i = 0; i < n->size; i += block) {
    const void *at[MOST_OPERANDS];
    int64_t left = n->size - i;
    for (int k = 0; k < n->nsrc; k++) at[k] = arg[k] + (size_t)i * move[k];
    if (!tt__session_elements((tt_op)n->op, type, dtype, at, n->nsrc, (char *)out + (size_t)i * tt__dtype_size(dtype),
                              left < block ? left : block))
      return false;
  }
  return true;
}

static bool reduction(tt_node *n, void *out) {
  tt_node *a = n->src[0];
  int64_t step[TT_MAX_RANK];
  tt_small_fold f = {.red = n->attr.reduce.red,
                     .dtype = (tt_dtype)a->dtype,
                     .rank = a->rank,
                     .len = a->dim,
                     .step = step,
                     .axes = n->attr.reduce.axes,
                     .room = room[0],
                     .more = room[1]};
  return as_it_lies(a, &f.data, step) && tt__session_small_fold(&f, out);
}

static bool iota(tt_node *n, void *out) {
  int64_t *to = out;
  for (int64_t i = 0; i < n->size; i++) to[i] = i;
  return true;
}

static bool gather(tt_node *n, void *out) {
  tt_node *a = n->src[0];
  if (a->op != TT_N_BUFFER && a->size > TT_EAGER_MOST) return false;
  const void *from = tt__eager_dense(a, room[0]);
  tt__block_gather(out, from, tt__eager_dense(n->src[1], room[1]), n->size, tt__dtype_size((tt_dtype)n->dtype));
  return true;
}

static bool library(tt_node *n, void *out) {
  tt_node *lib = n->src[0];
  tt_operand src[TT_NODE_SRC] = {{0}};
  int64_t step[TT_NODE_SRC][TT_MAX_RANK];
  for (int k = 0; k < lib->nsrc; k++) {
    tt_node *a = lib->src[k];
    src[k] =
        (tt_operand){.dtype = (tt_dtype)a->dtype, .rank = a->rank, .len = a->dim, .step = step[k], .size = a->size};
    if (lib->attr.lib->row->strided && as_it_lies(a, &src[k].data, step[k])) continue;
    if (k >= MOST_OPERANDS || tt__dtype_size((tt_dtype)a->dtype) > MOST_ITEM) return false;
    src[k].data = tt__eager_dense(a, room[k]);
    tt__shape_steps(a->rank, a->dim, step[k]);
  }
  tt_block to = {.data = out, .dtype = (tt_dtype)n->dtype, .rank = n->rank, .len = n->dim, .size = n->size};
  return tt__session_library(lib->attr.lib, src, &to);
}

typedef bool (*way)(tt_node *n, void *out);

/* All operands of `of` are ready, together of at most so many elements (most < 0: of any number). */
static bool all_ready(const tt_node *of, int64_t most, size_t item) {
  int64_t sum = 0;
  for (int k = 0; k < of->nsrc; k++) {
    const tt_node *a = of->src[k];
    if (a->size == 0 || !tt__eager_ready(a) || tt__dtype_size((tt_dtype)a->dtype) > item) return false;
    sum += a->size;
  }
  return most < 0 || sum <= most;
}

static int64_t at_most(int64_t times, int64_t most) { return limit * times < most ? limit * times : most; }

/* How the node is computed, if its operands are ready and it is little work: of ops of each element, on `few`. */
static way way_of(const tt_node *n, int64_t few) {
  if (tt__dtype_size((tt_dtype)n->dtype) > MOST_ITEM) return NULL;
  if (n->op < TT_OP_COUNT) {
    bool small = n->size <= few && n->nsrc <= MOST_OPERANDS;
    return small && tt__session_elements && all_ready(n, -1, MOST_ITEM) ? elementwise : NULL;
  }
  int64_t most = at_most(LIBRARY_TIMES, MOST_OF_LIBRARY);
  switch (n->op) {
    case TT_N_IOTA:
      return n->size <= few ? iota : NULL;
    case TT_N_REDUCE:
      return tt__session_small_fold && all_ready(n, at_most(FOLDED_TIMES, MOST_FOLDED), MOST_ITEM) ? reduction : NULL;
    case TT_N_GATHER:
      return n->size <= few && all_ready(n, -1, MOST_ITEM) ? gather : NULL;
    case TT_N_PICK:
      if (n->src[0]->op != TT_N_LIB || n->src[0]->attr.lib->row->nout != 1 || n->size > most) return NULL;
      return tt__session_library && all_ready(n->src[0], 2 * most, MOST_ITEM) ? library : NULL;
    default:
      return NULL;
  }
}

static bool compute(tt_node *n, int64_t few) {
  if (n->size == 0 || n->device > 0 || n->device == TT_TORN) return false;
  way how = way_of(n, few);
  if (!how) return false;
  tt_buffer *b = tt__buffer_new((size_t)n->size * tt__dtype_size((tt_dtype)n->dtype), NULL);
  if (!b) return false;
  if (!how(n, b->data)) {
    tt__buffer_release(b);
    return false;
  }
  tt__session_count_at_once();
  tt__node_become_buffer(n, b);
  return true;
}

/* What a reduction casts is cast first where both together are little work: integers added up as int64, say. Of floats
** only what lies in C order, which a kernel folds as the reduction does. */
static void bring_cast(const tt_node *n) {
  tt_node *a = n->src[0];
  if (a->op != TT_CAST || a->size > at_most(FOLDED_TIMES, MOST_FOLDED) || !tt__eager_ready(a->src[0])) return;
  if (tt__is_complex((tt_dtype)a->dtype)) return;
  if (!tt__is_float((tt_dtype)a->dtype) || a->src[0]->op == TT_N_BUFFER) compute(a, MOST_FOLDED);
}

void tt__eager_compute(tt_node *n) {
  if (n->op == TT_N_REDUCE && tt__session_small_fold) bring_cast(n);
  if (compute(n, limit)) n->flags |= TT_NODE_AT_ONCE;
}

/* Of a slow op one of whose operands is one element a compiler makes less: powers of one exponent take half. */
static bool gains_compiled(const tt_node *n) {
  bool one = false;
  for (int k = 0; k < n->nsrc; k++) one |= tt__eager_ready(n->src[k]) && only_element(n->src[k]);
  return one && tt__ops[n->op].flags & TT_OPF_SLOW;
}

/* Two ops on up to MOST_OF_TWO elements cost less one after the other than a plan for both; of three fused ones win. */
static bool bring_operand(tt_node *n) {
  enum { MOST_OF_TWO = 4096 };
  tt_node *pending = NULL;
  for (int k = 0; k < n->nsrc && n->op < TT_OP_COUNT; k++) {
    if (tt__eager_ready(n->src[k])) continue;
    if (pending && pending != n->src[k]) return false;
    pending = n->src[k];
  }
  bool two = pending && pending->op < TT_OP_COUNT && n->size <= MOST_OF_TWO;
  return !pending || (two && !gains_compiled(pending) && compute(pending, TT_EAGER_MOST));
}

bool tt__eager_bring(tt_node *n) {
  if (limit == 0 || n->size == 0 || n->size > TT_EAGER_MOST || n->device > 0) return false;
  if (n->op == TT_N_CONST || n->op == TT_N_EMPTY || (n->op == TT_N_VIEW && tt__eager_ready(n)))
    return tt__eager_take(n);
  if (n->op < TT_OP_COUNT && gains_compiled(n)) return false;
  return bring_operand(n) && compute(n, TT_EAGER_MOST);
}

bool tt__eager_step(tt_node *n) { return compute(n, TT_EAGER_MOST); }
