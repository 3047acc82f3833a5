/*
** Small values computed when they are recorded; see compute.h. A value is computed alone, from operands in memory:
** what that loses against a fused kernel is less than an evaluation costs. It must not wait for an evaluation.
*/
#include "graph/eager/compute.h"

#include <assert.h>
#include <string.h>

#include "graph/eager/block.h"
#include "graph/session.h"

/*
** Operands of an op; bytes of an element. A reduction's operand may be
** larger than other work: it is read once, and nothing else would have been fused into that pass.
*/
enum { MOST_OPERANDS = 3, MOST_ITEM = 16, MOST_FOLDED = 4096, FOLDED_TIMES = 4 };

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

bool tt__eager_take(tt_node *n) {
  size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
  tt_buffer *b = tt__buffer_new(size, NULL);
  if (!b) return false;
  const void *from = tt__eager_dense(n, b->data);
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

static bool elementwise(tt_node *n, void *out) {
  const void *arg[MOST_OPERANDS];
  tt_dtype last = (tt_dtype)n->src[n->nsrc - 1]->dtype, dtype = (tt_dtype)n->dtype;
  for (int k = 0; k < n->nsrc; k++) arg[k] = tt__eager_dense(n->src[k], room[k]);
  return tt__session_elements((tt_op)n->op, tt__op_type((tt_op)n->op, last, dtype), dtype, arg, n->nsrc, out, n->size);
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

/* How the node is computed, if it is little work. */
static way way_of(const tt_node *n) {
  if (n->op < TT_OP_COUNT) {
    bool small = n->size <= limit && n->nsrc <= MOST_OPERANDS && tt__dtype_size((tt_dtype)n->dtype) <= MOST_ITEM;
    return small && tt__session_elements && all_ready(n, -1, MOST_ITEM) ? elementwise : NULL;
  }
  int64_t more = limit * FOLDED_TIMES < MOST_FOLDED ? limit * FOLDED_TIMES : MOST_FOLDED;
  switch (n->op) {
    case TT_N_IOTA:
      return n->size <= limit ? iota : NULL;
    case TT_N_REDUCE:
      return tt__session_small_fold && all_ready(n, more, MOST_ITEM) ? reduction : NULL;
    case TT_N_GATHER:
      return n->size <= limit && all_ready(n, -1, MOST_ITEM) && tt__dtype_size((tt_dtype)n->dtype) <= MOST_ITEM ? gather
                                                                                                                : NULL;
    case TT_N_PICK:
      if (n->src[0]->op != TT_N_LIB || n->src[0]->attr.lib->row->nout != 1 || n->size > more) return NULL;
      return tt__session_library && all_ready(n->src[0], 2 * more, MOST_ITEM) ? library : NULL;
    default:
      return NULL;
  }
}

void tt__eager_compute(tt_node *n) {
  if (n->size == 0 || n->device > 0 || n->device == TT_TORN) return;
  way compute = way_of(n);
  if (!compute) return;
  tt_buffer *b = tt__buffer_new((size_t)n->size * tt__dtype_size((tt_dtype)n->dtype), NULL);
  if (!b) return;
  if (!compute(n, b->data)) {
    tt__buffer_release(b);
    return;
  }
  n->flags |= TT_NODE_AT_ONCE;
  TT_COUNT(at_once, 1);
  tt__node_become_buffer(n, b);
}
