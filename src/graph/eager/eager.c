/*
** Small work done at once; see now.h. It must not know who records, nor wait for an evaluation.
*/
#include "graph/eager/eager.h"

#include <assert.h>
#include <string.h>

#include "graph/index/alias.h"
#include "graph/session.h"

/*
** Elements written at once, and bytes of a value that is copied or filled so that it can be written. Beyond, recording
** costs little beside the work, and may save a pass over memory. Copies that only pending readers ask for are kept
** small: each of them may come to hold an old value of its own.
*/
enum { MOST_ELEMENTS = 4096, MOST_COPIED = 256 << 10, MOST_KEPT = 2048 };
/* Ops that are done at once, on how many elements, of how many bytes: an evaluation costs about as much as a thousand
** sums. More ops than these are better off in one kernel. */
enum { MOST_OPS = 4, MOST_WORKED = 1024, MOST_ITEM = 8, MOST_OPERANDS = 3 };

/* ---- elements */

typedef struct line {
  char *to;
  const char *from;
  int64_t n, to_step, from_step; /* elements */
} line;

#define COPY_AS(type)                                                               \
  do {                                                                              \
    type *to = (type *)(void *)l->to;                                               \
    const type *from = (const type *)(const void *)l->from, first = *from;          \
    if (is_fill) {                                                                  \
      for (int64_t i = 0; i < l->n; i++) to[i] = first;                             \
      return;                                                                       \
    }                                                                               \
    for (int64_t i = 0; i < l->n; i++) to[i * l->to_step] = from[i * l->from_step]; \
  } while (0)

static void copy_line(const line *l, size_t item) {
  bool is_fill = l->to_step == 1 && l->from_step == 0;
  if (l->to_step == 1 && l->from_step == 1) {
    memcpy(l->to, l->from, (size_t)l->n * item);
    return;
  }
  switch (item) {
    case 1:
      COPY_AS(uint8_t);
      return;
    case 2:
      COPY_AS(uint16_t);
      return;
    case 4:
      COPY_AS(uint32_t);
      return;
    case 8:
      COPY_AS(uint64_t);
      return;
    default:
      for (int64_t i = 0; i < l->n; i++)
        memcpy(l->to + i * l->to_step * (int64_t)item, l->from + i * l->from_step * (int64_t)item, item);
  }
}

/* Every element of a block of shape `len`, lines of its last axis at a time. */
static void copy_all(int rank, const int64_t *len, char *to, const int64_t *to_step, const char *from,
                     const int64_t *from_step, size_t item) {
  int64_t index[TT_MAX_RANK], size = (int64_t)item;
  int last = rank - 1;
  line l = {.to = to, .from = from, .n = 1};
  if (rank == 0) {
    copy_line(&l, item);
    return;
  }
  l.n = len[last];
  l.to_step = to_step[last];
  l.from_step = from_step[last];
  for (int k = 0; k < last; k++) index[k] = 0;
  for (;;) {
    copy_line(&l, item);
    int k = last - 1;
    for (; k >= 0; k--) {
      l.to += to_step[k] * size;
      l.from += from_step[k] * size;
      if (++index[k] < len[k]) break;
      l.to -= to_step[k] * len[k] * size;
      l.from -= from_step[k] * len[k] * size;
      index[k] = 0;
    }
    if (k < 0) return;
  }
}

/* ---- memory to write */

/* Values that live on a device are written there. */
static bool is_at_hand(const tt_node *n) {
  return n->device <= 0 && (n->op != TT_N_BUFFER || n->attr.buf->data || n->size == 0);
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
  if (old->op == TT_N_CONST) copy_all(1, &old->size, b->data, &one, (const char *)&old->attr.scalar, &none, item);
  n->attr.buf = b;
  tt__node_hold(n);
  tt__node_release(n);
  tt__node_unhold(old);
  s->node = n;
  return true;
}

/* ---- small values */

/* What an op's operands are made of. */
static bool is_ready(const tt_node *n) {
  const tt_node *memory = n->op == TT_N_VIEW ? n->src[0] : n;
  return is_at_hand(memory) && (n->op == TT_N_CONST || memory->op == TT_N_BUFFER);
}

/* A reduction of all of one row: how it is folded does not depend on what stands around it. */
static bool is_row_fold(const tt_node *n) {
  return n->op == TT_N_REDUCE && n->src[0]->rank == 1 && n->src[0]->size > 0 && n->src[0]->size <= MOST_WORKED;
}

static bool is_quick(const tt_node *n, int *ops) {
  if (is_ready(n)) return true;
  bool quick = is_row_fold(n) || (n->op < TT_OP_COUNT && n->nsrc <= MOST_OPERANDS && (*ops)-- > 0);
  for (int k = 0; quick && k < n->nsrc; k++) quick = is_quick(n->src[k], ops);
  return quick;
}

/* The elements of a ready value, dense: where they lie, or written into `room`. */
static const void *dense_elements(tt_node *n, char *room) {
  static const int64_t one = 1, none = 0;
  size_t item = tt__dtype_size((tt_dtype)n->dtype);
  int64_t step[TT_MAX_RANK];
  if (n->op == TT_N_BUFFER) return n->attr.buf->data;
  if (n->op == TT_N_CONST) {
    copy_all(1, &n->size, room, &one, (const char *)&n->attr.scalar, &none, item);
    return room;
  }
  const char *from = (const char *)n->src[0]->attr.buf->data + n->attr.off * (int64_t)item;
  tt__shape_steps(n->rank, n->dim, step);
  if (memcmp(step, tt__node_step(n), n->rank * sizeof *step) == 0) return from;
  copy_all(n->rank, n->dim, room, step, from, tt__node_step(n), item);
  return room;
}

/* The elements of an operation or a row's reduction, from those of its operands. */
static bool apply(const tt_node *n, const void *const *arg, void *out) {
  tt_dtype last = (tt_dtype)n->src[n->nsrc - 1]->dtype, dtype = (tt_dtype)n->dtype;
  if (n->op == TT_N_REDUCE)
    return last == dtype && tt__session_elements_fold(n->attr.reduce.red, dtype, arg[0], n->src[0]->size, out);
  return tt__session_elements((tt_op)n->op, tt__op_type((tt_op)n->op, last, dtype), dtype, arg, n->nsrc, out, n->size);
}

/* Turn a quick value into memory, operands first. */
static bool compute(tt_node *n) {
  static _Alignas(64) char room[MOST_OPERANDS][MOST_WORKED * MOST_ITEM];
  const void *arg[MOST_OPERANDS];
  for (int k = 0; k < n->nsrc; k++) {
    if (!is_ready(n->src[k]) && !compute(n->src[k])) return false;
    if (tt__dtype_size((tt_dtype)n->src[k]->dtype) > MOST_ITEM) return false;
  }
  tt_buffer *b = tt__buffer_new((size_t)n->size * tt__dtype_size((tt_dtype)n->dtype), NULL);
  if (!b) return false;
  for (int k = 0; k < n->nsrc; k++) arg[k] = dense_elements(n->src[k], room[k]);
  if (!apply(n, arg, b->data)) {
    tt__buffer_release(b);
    return false;
  }
  tt__node_become_buffer(n, b);
  return true;
}

/* Give a view of memory at hand memory of its own. */
static bool take(tt_node *n) {
  size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
  tt_buffer *b = tt__buffer_new(size, NULL);
  if (!b) return false;
  const void *from = dense_elements(n, b->data);
  if (size && from != b->data) memcpy(b->data, from, size);
  tt__node_become_buffer(n, b);
  return true;
}

void tt__eager_fold(tt_node *n) {
  int ops = MOST_OPS;
  if (tt__session_elements_fold && is_row_fold(n) && is_quick(n, &ops)) (void)compute(n);
}

static bool compute_now(tt_node *n) {
  int ops = MOST_OPS;
  return n->size <= MOST_WORKED && tt__session_elements && is_quick(n, &ops) && compute(n);
}

/* ---- stores */

bool tt__eager_store(tt_array *a, tt_node *value) {
  tt_storage *s = a->storage;
  if (value->size > MOST_ELEMENTS || value->size == s->node->size) return false; /* all of it: a new value, no copy */
  if (tt__storage_aliased(s)) return false;                                      /* others show this memory */
  bool computed = value->op < TT_OP_COUNT || value->op == TT_N_REDUCE;
  if (computed && !(is_ready(s->node) && compute_now(value))) return false;
  bool own = value->op == TT_N_VIEW && value->src[0] == s->node; /* x[i] = x[j] */
  if (own && is_ready(value) && !take(value)) return false;
  const tt_node *memory = value->op == TT_N_VIEW ? value->src[0] : value;
  if (memory->op != TT_N_BUFFER && value->op != TT_N_CONST) return false;
  if (!is_at_hand(s->node) || !is_at_hand(memory)) return false;
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
  copy_all(a->rank, a->dim, to, tt__array_step(a), from, step, (size_t)item);
  return true;
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
  if (s->cached || s->node->size == 1 || tt__storage_aliased(s) || !is_at_hand(s->node) || !is_alone(s->node))
    return false;
  tt__buffer_only_host(s->node->attr.buf);
  size_t item = tt__dtype_size((tt_dtype)s->node->dtype);
  copy_item((char *)s->node->attr.buf->data + (size_t)off * item, value, item);
  return true;
}

void *tt__eager_memory(tt_storage *s) {
  if (s->cached || tt__storage_aliased(s) || !is_at_hand(s->node) || (!is_alone(s->node) && !make_alone(s)))
    return NULL;
  tt__buffer_only_host(s->node->attr.buf);
  return s->node->attr.buf->data;
}

bool tt__eager_copies(const tt_array *a) {
  const tt_node *whole = a->storage->node;
  return whole->op == TT_N_BUFFER && is_at_hand(whole) && a->size <= MOST_ELEMENTS && a->size <= whole->size / 2;
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
