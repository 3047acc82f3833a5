/*
** Small work done at once; see eager.h. It must not know who records, nor wait for an evaluation.
*/
#include "graph/eager/eager.h"

#include <assert.h>
#include <string.h>

#include "graph/eager/block.h"
#include "graph/eager/compute.h"
#include "graph/index/alias.h"
#include "graph/session.h"
#include "graph/tape.h"

/*
** Elements written at once, and bytes of a value that is copied or filled so that it can be written. Beyond, recording
** costs little beside the work, and may save a pass over memory. Copies that only pending readers ask for are kept
** small: each of them may come to hold an old value of its own.
*/
enum { MOST_ELEMENTS = TT_EAGER_MOST, MOST_TAKEN = 4096, MOST_COPIED = 4 << 20, MOST_KEPT = 2048 };
enum { MOST_OPERANDS = 3 }; /* of an op of constants */

/* ---- memory to write */

/* What is written at once is told to nobody: values with an entry, other than a leaf's, are recorded. */
static bool is_followed(const tt_storage *s) {
  const tt_tape *t = s->node->tape;
  return t && (t->op != TT_TAPE_LEAF || tt__session_tape);
}

static bool is_alone(const tt_node *n) {
  const tt_buffer *b = n->op == TT_N_BUFFER ? n->attr.buf : NULL;
  return b && n->refs == 1 && b->refs == 1 && !b->readonly;
}

/* Give the storage memory of its own with its current value. Declines where that is more than a little work. */
static bool make_alone(tt_storage *s) {
  tt_node *old = s->node;
  size_t item = tt__dtype_size((tt_dtype)old->dtype), bytes = (size_t)old->size * item;
  bool known = old->op == TT_N_BUFFER || old->op == TT_N_CONST || old->op == TT_N_EMPTY;
  bool read = old->op == TT_N_BUFFER && old->refs > old->held; /* by work that is pending, or by this very store */
  if (!known || bytes > (read ? MOST_KEPT : MOST_COPIED)) return false;
  if (old->op == TT_N_EMPTY && old->refs > 1) return false; /* all who hold it are to see one value */
  tt_buffer *b = tt__buffer_new(bytes, NULL);
  tt_node *n = b ? tt__node_new(TT_N_BUFFER, (tt_dtype)old->dtype, old->rank, old->dim, 0, NULL) : NULL;
  if (!n) {
    tt__buffer_release(b);
    return false;
  }
  static const int64_t one = 1, none = 0;
  if (old->op == TT_N_BUFFER) memcpy(b->data, old->attr.buf->data, bytes);
  if (old->op == TT_N_CONST) tt__block_copy(1, &old->size, b->data, &one, &old->attr.scalar, &none, item);
  n->attr.buf = b;
  if (tt__storage_leaf(s)) n->tape = tt__tape_retain(old->tape);
  tt__node_hold(n);
  tt__node_release(n);
  tt__node_unhold(old);
  s->node = n;
  return true;
}

/* ---- stores */

bool tt__eager_store(tt_array *a, tt_node *value) {
  tt_storage *s = a->storage;
  if (value->size > MOST_ELEMENTS || value->size == s->node->size) return false; /* all of it: a new value, no copy */
  if (tt__storage_aliased(s)) return false;                                      /* others show this memory */
  if (is_followed(s) || tt__is_taped(value)) return false;
  bool own = value->op == TT_N_VIEW && value->src[0] == s->node; /* x[i] = x[j] */
  if (own && tt__eager_ready(value) && !tt__eager_take(value)) return false;
  const tt_node *memory = value->op == TT_N_VIEW ? value->src[0] : value;
  if (memory->op != TT_N_BUFFER && value->op != TT_N_CONST) return false;
  if (!tt__eager_at_hand(s->node) || !tt__eager_at_hand(memory)) return false;
  assert(!s->cached); /* what reads the old value would hold it */
  if (!is_alone(s->node) && !make_alone(s)) return false;
  tt__buffer_only_host(s->node->attr.buf);
  static const int64_t still[TT_MAX_RANK];
  int64_t dense[TT_MAX_RANK], item = (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  const int64_t *step = still;
  const char *from = (const char *)&value->attr.scalar;
  if (value->op == TT_N_VIEW) {
    from = (const char *)memory->attr.buf->data + value->attr.off * item;
    step = tt__node_step(value);
  } else if (value->op == TT_N_BUFFER) {
    from = memory->attr.buf->data;
    tt__shape_steps(value->rank, value->dim, dense);
    step = dense;
  }
  char *to = (char *)s->node->attr.buf->data + a->off * item;
  tt__block_copy(a->rank, a->dim, to, tt__array_step(a), from, step, (size_t)item);
  return true;
}

/* The memory of the storage for who writes some places of it; who only waits to read the old value takes it along. */
static void *memory_for_places(tt_storage *s) {
  if (tt__storage_aliased(s) || is_followed(s) || !tt__eager_at_hand(s->node)) return NULL;
  while (s->cached) tt__array_forget(s->cached);
  if (!is_alone(s->node) && !make_alone(s)) return NULL;
  tt__buffer_only_host(s->node->attr.buf);
  return s->node->attr.buf->data;
}

/* The operand of a write: where its elements lie, in steps of the part's axes. */
typedef struct source {
  const void *data;
  int64_t step[TT_MAX_RANK];
  tt_scalar scalar;
} source;

/* An array of the same type that fits, where it lies; of the same storage a copy, as places may be read after they are
 * written. */
static bool find_source(const tt_written *p, tt_array *from, source *out) {
  static _Alignas(64) char room[MOST_ELEMENTS * sizeof(tt_scalar)];
  const tt_node *n = from->storage->node;
  int lead = p->rank - from->rank;
  bool own = from->storage == p->s;
  if (lead < 0 || from->dtype != n->dtype || n->dtype != p->s->node->dtype || from->size > MOST_ELEMENTS) return false;
  if ((n->op != TT_N_BUFFER && n->op != TT_N_CONST) || !tt__eager_at_hand(n) || tt__is_taped(n)) return false;
  size_t item = tt__dtype_size((tt_dtype)n->dtype);
  int64_t dense[TT_MAX_RANK];
  tt__shape_steps(from->rank, from->dim, dense);
  const int64_t *step = own ? dense : tt__array_step(from);
  for (int k = 0; k < p->rank; k++) {
    int64_t have = k < lead ? 1 : from->dim[k - lead];
    if (have != 1 && have != p->len[k]) return false;
    out->step[k] = have == 1 || n->op == TT_N_CONST ? 0 : step[k - lead];
  }
  if (n->op == TT_N_CONST) return out->scalar = n->attr.scalar, out->data = &out->scalar, true;
  out->data = (const char *)n->attr.buf->data + from->off * (int64_t)item;
  if (!own) return true;
  tt__block_copy(from->rank, from->dim, room, dense, out->data, tt__array_step(from), item);
  return out->data = room, true;
}

bool tt__eager_write(const tt_written *p, const tt_value *v) {
  source from;
  int64_t size = 1;
  tt_dtype dtype = (tt_dtype)p->s->node->dtype;
  for (int k = 0; k < p->rank; k++) {
    if (p->len[k] > 1 && p->step[k] == 0) return false; /* one cell, many writers: an error */
    size *= p->len[k];
  }
  if (size == 0 || size > MOST_ELEMENTS || size == p->s->node->size) return false; /* all of it: a new value, no copy */
  if (v->tag == TT_V_ARRAY) {
    if (!find_source(p, v->as.array, &from)) return false;
  } else {
    if (tt__value_scalar(v, dtype, &from.scalar, NULL) != TT_OK) return false;
    memset(from.step, 0, (size_t)p->rank * sizeof *from.step);
    from.data = &from.scalar;
  }
  char *memory = memory_for_places(p->s);
  if (!memory) return false;
  size_t item = tt__dtype_size(dtype);
  tt__block_copy(p->rank, p->len, memory + p->off * (int64_t)item, p->step, from.data, from.step, item);
  tt__session_count_at_once();
  return true;
}

bool tt__eager_scatter_few(tt_storage *s, const int64_t *at, int64_t n, const void *from, bool one) {
  void *memory = memory_for_places(s);
  if (!memory) return false;
  tt__block_scatter(memory, at, from, !one, n, tt__dtype_size((tt_dtype)s->node->dtype));
  tt__session_count_at_once();
  return true;
}

bool tt__eager_scatter(tt_storage *s, tt_node *index, tt_node *value) {
  if (!tt__eager_few(value->size) || tt__storage_aliased(s)) return false;
  if (is_followed(s) || tt__is_taped(value)) return false;
  if (index->op == TT_N_CONST && index->size > 1) return false; /* one place, written many times */
  if (!tt__eager_ready(index) || !tt__eager_ready(value)) return false;
  if (index->op == TT_N_VIEW && !tt__eager_take(index)) return false;
  if (value->op == TT_N_VIEW && !tt__eager_take(value)) return false;
  const int64_t *at = index->op == TT_N_CONST ? &index->attr.scalar.i64 : index->attr.buf->data;
  const void *from = value->op == TT_N_CONST ? (const void *)&value->attr.scalar : value->attr.buf->data;
  return tt__eager_scatter_few(s, at, value->size, from, value->op == TT_N_CONST);
}

/* memcpy, without the call for the sizes most met. */
static inline void copy_item(void *to, const void *from, size_t item) {
  if (item == 8)
    memcpy(to, from, 8);
  else if (item == 4)
    memcpy(to, from, 4);
  else
    memcpy(to, from, item);
}

bool tt__eager_set(tt_storage *s, int64_t off, const void *value) {
  if (s->cached || s->node->size == 1 || is_followed(s) || tt__storage_aliased(s) || !tt__eager_at_hand(s->node) ||
      !is_alone(s->node))
    return false;
  tt__buffer_only_host(s->node->attr.buf);
  size_t item = tt__dtype_size((tt_dtype)s->node->dtype);
  copy_item((char *)s->node->attr.buf->data + (size_t)off * item, value, item);
  return true;
}

void *tt__eager_memory(tt_storage *s) {
  if (s->cached || is_followed(s) || tt__storage_aliased(s) || !tt__eager_at_hand(s->node) ||
      (!is_alone(s->node) && !make_alone(s)))
    return NULL;
  tt__buffer_only_host(s->node->attr.buf);
  return s->node->attr.buf->data;
}

bool tt__eager_copies(const tt_array *a) {
  const tt_node *whole = a->storage->node;
  if (tt__is_taped(whole)) return false;
  if (whole->op != TT_N_BUFFER || !tt__eager_at_hand(whole) || a->size > MOST_TAKEN) return false;
  return a->size <= whole->size / 2 || (a->size < whole->size && tt__eager_few(a->size));
}

bool tt__eager_element(const tt_node *n, int64_t off, tt_scalar *out) {
  *out = (tt_scalar){.bits = {0, 0}};
  if (n->op == TT_N_CONST) {
    *out = n->attr.scalar;
    return true;
  }
  if (n->op != TT_N_BUFFER || !n->attr.buf->data) return false;
  copy_item(out, (const char *)n->attr.buf->data + (size_t)off * tt__dtype_size((tt_dtype)n->dtype),
            tt__dtype_size((tt_dtype)n->dtype));
  return true;
}

/* ---- arithmetic */

bool tt__eager_op(tt_op op, tt_dtype dtype, tt_node *const *src, int n, tt_scalar *out) {
  const void *arg[MOST_OPERANDS];
  if (!tt__session_elements || n > MOST_OPERANDS) return false;
  for (int k = 0; k < n; k++) {
    if (src[k]->op != TT_N_CONST) return false;
    arg[k] = &src[k]->attr.scalar;
  }
  *out = (tt_scalar){.bits = {0, 0}};
  return tt__session_elements(op, tt__op_type(op, (tt_dtype)src[n - 1]->dtype, dtype), dtype, arg, n, out, 1);
}
