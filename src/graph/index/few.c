/*
** Few places at hand: the flat positions that one index array or one mask in front names, found by a walk at the call.
*/
#include <assert.h>
#include <string.h>

#include "base/mask.h"
#include "graph/eager/block.h"
#include "graph/eager/compute.h"
#include "graph/eager/eager.h"
#include "graph/index/index_int.h"
#include "graph/tape.h"

static int64_t place[TT_EAGER_MOST]; /* under the session's lock */

/* The array's elements next to each other: where they lie, or in `room`. */
static const void *dense(tt_array *a, void *room) {
  size_t item = tt__dtype_size((tt_dtype)a->dtype);
  const char *from = (const char *)a->storage->node->attr.buf->data + a->off * (int64_t)item;
  int64_t step[TT_MAX_RANK];
  if (tt__array_is_c(a)) return from;
  tt__shape_steps(a->rank, a->dim, step);
  tt__block_copy(a->rank, a->dim, room, step, from, tt__array_step(a), item);
  return room;
}

/* Of integers, -1: one is out of range. No branch ends the loop early: it would be asked at every element. */
static int64_t find_places(const tt_subscript *x, tt_array *index) {
  int64_t len = x->a->dim[0], step = tt__array_step(x->a)[0], off = x->off, n = index->size, bad = 0;
  const int64_t *at = dense(index, place);
  if (step == 1) {
    for (int64_t i = 0; i < n; i++) {
      int64_t k = at[i] + (at[i] < 0 ? len : 0);
      bad |= k | (len - 1 - k); /* negative, or beyond the last */
      place[i] = off + k;
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      int64_t k = at[i] + (at[i] < 0 ? len : 0);
      bad |= k | (len - 1 - k);
      place[i] = off + k * step;
    }
  }
  return bad < 0 ? -1 : n;
}

/* Of what is true in a mask. */
static int64_t find_true(const tt_subscript *x, tt_array *mask) {
  static uint8_t room[TT_EAGER_MOST];
  const uint8_t *m = dense(mask, room);
  const int64_t *step = tt__array_step(x->a);
  int64_t index[TT_MAX_RANK], n = 0, at = x->off;
  int last = mask->rank - 1;
  for (int k = 0; k < last; k++) index[k] = 0;
  for (int64_t i = 0; i < mask->size; i += mask->dim[last], m += mask->dim[last]) {
    n += tt__mask_places(m, mask->dim[last], at, step[last], place + n, TT_EAGER_MOST - n);
    for (int k = last - 1; k >= 0; k--) {
      at += step[k];
      if (++index[k] < mask->dim[k]) break;
      at -= step[k] * mask->dim[k];
      index[k] = 0;
    }
  }
  return n;
}

/* Every place, and from there all elements of the axes that are not indexed. */
static void fill(const tt_subscript *x, int64_t n, int64_t inner, int64_t *to) {
  int64_t index[TT_MAX_RANK];
  if (inner == 1) {
    memcpy(to, place, (size_t)n * sizeof *to);
    return;
  }
  int last = x->rank - 1;
  for (int k = 0; k < last; k++) index[k] = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = place[i], line = x->len[last];
    for (int64_t done = 0; done < inner; done += line) {
      for (int64_t j = 0; j < line; j++) *to++ = at + j * x->step[last];
      for (int k = last - 1; k >= 0; k--) {
        at += x->step[k];
        if (++index[k] < x->len[k]) break;
        at -= x->step[k] * x->len[k];
        index[k] = 0;
      }
    }
  }
}

static bool is_lone(const tt_subscript *x) {
  for (int k = 1; k < x->n; k++)
    if (x->item[k].kind != TT_INDEX_REST) return false;
  tt_array *a = x->item[0].array;
  bool array = x->item[0].kind == TT_INDEX_ARRAY && a->dtype == TT_I64 && a->rank > 0;
  bool mask = x->item[0].kind == TT_INDEX_MASK && a->rank > 0;
  return (array || mask) && a->size > 0 && a->size < TT_EAGER_MOST && tt__eager_few(a->size) &&
         a->storage->node->op == TT_N_BUFFER && tt__eager_ready(a->storage->node);
}

/* The shape of what is picked, the places being in `place`. */
typedef struct picked {
  int64_t n, inner; /* places, and elements at each */
  int rank;
  int64_t len[TT_MAX_RANK + 1];
} picked;

/* `times`: of the elements that other work is done on; lines are copied, not elements. */
static bool pick(const tt_subscript *x, int64_t times, picked *p) {
  if (x->n == 0 || x->a->storage->node->device > 0 || !is_lone(x)) return false;
  tt_array *a = x->item[0].array;
  bool mask = x->item[0].kind == TT_INDEX_MASK;
  int rank = mask ? 1 : a->rank;
  p->n = mask ? find_true(x, a) : find_places(x, a);
  p->inner = 1;
  p->rank = rank + x->rank;
  for (int k = 0; k < x->rank; k++) p->inner *= x->len[k];
  if (p->n < 0 || p->inner == 0 || p->rank > TT_MAX_RANK || !tt__eager_few(p->n) ||
      !tt__eager_few(p->n * p->inner / times))
    return false;
  assert(x->at == 0);
  if (mask) p->len[0] = p->n;
  if (!mask) memcpy(p->len, a->dim, (size_t)rank * sizeof *p->len);
  memcpy(p->len + rank, x->len, (size_t)x->rank * sizeof *p->len);
  return true;
}

tt_node *tt__index_few(const tt_subscript *x) {
  picked p;
  if (!pick(x, 1, &p)) return NULL;
  if (p.n == 0) return tt__node_const(TT_I64, (tt_scalar){.bits = {0, 0}}, p.rank, p.len, NULL);
  tt_node *out = tt__eager_room(TT_I64, p.rank, p.len);
  if (out) fill(x, p.n, p.inner, out->attr.buf->data);
  return out;
}

/* Elements of one axis by integers in one pass; false: one is out of range. */
#define READ_AS(type)                                 \
  do {                                                \
    const type *from = (const type *)data + x->off;   \
    type *put = (type *)to;                           \
    for (int64_t i = 0; i < n; i++) {                 \
      int64_t k = at[i] + (at[i] < 0 ? len : 0);      \
      if ((uint64_t)k >= (uint64_t)len) return false; \
      put[i] = from[k * step];                        \
    }                                                 \
    return true;                                      \
  } while (0)

static bool read_elements(const tt_subscript *x, const int64_t *at, int64_t n, const void *data, void *to) {
  int64_t len = x->a->dim[0], step = tt__array_step(x->a)[0];
  switch (tt__dtype_size((tt_dtype)x->a->dtype)) {
    case 8:
      READ_AS(uint64_t);
    case 4:
      READ_AS(uint32_t);
    default:
      READ_AS(uint8_t);
  }
}

/* One index array for the only axis, of elements of such a size. */
static tt_node *read_line(const tt_subscript *x) {
  tt_array *index = x->item[0].array;
  picked p = {.n = index->size, .inner = 1, .rank = index->rank};
  size_t item = tt__dtype_size((tt_dtype)x->a->dtype);
  if (item != 8 && item != 4 && item != 1) return NULL;
  memcpy(p.len, index->dim, (size_t)index->rank * sizeof *p.len);
  tt_node *out = tt__eager_room((tt_dtype)x->a->dtype, p.rank, p.len);
  if (!out || read_elements(x, dense(index, place), p.n, x->a->storage->node->attr.buf->data, out->attr.buf->data))
    return out;
  tt__node_release(out);
  return NULL;
}

enum { TIMES_BY_LINES = 16 };

static tt_node *read_places(const tt_subscript *x) {
  picked p;
  tt_dtype dtype = (tt_dtype)x->a->dtype;
  size_t item = tt__dtype_size(dtype);
  if (!pick(x, x->rank > 0 ? TIMES_BY_LINES : 1, &p)) return NULL;
  if (p.n == 0) return tt__node_const(dtype, (tt_scalar){.bits = {0, 0}}, p.rank, p.len, NULL);
  tt_node *out = tt__eager_room(dtype, p.rank, p.len);
  if (!out) return NULL;
  const char *data = x->a->storage->node->attr.buf->data;
  char *to = out->attr.buf->data;
  if (p.inner == 1) {
    tt__block_gather(to, data, place, p.n, item);
    return out;
  }
  int64_t dense_step[TT_MAX_RANK];
  tt__shape_steps(x->rank, x->len, dense_step);
  for (int64_t i = 0; i < p.n; i++, to += (size_t)p.inner * item)
    tt__block_copy(x->rank, x->len, to, dense_step, data + (size_t)place[i] * item, x->step, item);
  return out;
}

tt_node *tt__index_few_read(const tt_subscript *x) {
  const tt_node *from = x->a->storage->node;
  if (from->op != TT_N_BUFFER || from->device != TT_ANYWHERE || !tt__eager_ready(from) || tt__is_taped(from))
    return NULL;
  bool line = x->n == 1 && x->a->rank == 1 && x->item[0].kind == TT_INDEX_ARRAY && is_lone(x);
  tt_node *out = line ? read_line(x) : NULL;
  return out ? out : read_places(x);
}

/* Elements of the target's type in exactly the shape of what is picked, or one for all of it; NULL: neither. */
static const void *elements_for(const tt_subscript *x, const picked *p, const tt_value *v, tt_scalar *scalar,
                                bool *one) {
  static _Alignas(64) char room[TT_EAGER_MOST * sizeof(tt_scalar)];
  tt_dtype dtype = (tt_dtype)x->a->dtype;
  *one = v->tag != TT_V_ARRAY;
  if (*one) return tt__value_scalar(v, dtype, scalar, NULL) == TT_OK ? scalar : NULL;
  tt_array *from = v->as.array;
  if (from->dtype != dtype || from->rank != p->rank || !tt__shape_same(p->rank, from->dim, p->len)) return NULL;
  if (tt__dtype_size(dtype) > sizeof *scalar || from->storage->node->device > 0) return NULL;
  const void *data = tt__eager_elements(from, room);
  bool own = from->storage == x->a->storage && data != room && data; /* read before the first is written */
  return own ? memcpy(room, data, (size_t)from->size * tt__dtype_size(dtype)) : data;
}

bool tt__index_few_write(const tt_subscript *x, const tt_value *v) {
  static int64_t all[TT_EAGER_MOST];
  picked p;
  tt_scalar scalar;
  bool one;
  if (tt__array_check_writable(x->a, NULL) != TT_OK || !pick(x, 1, &p) || p.n == 0) return false;
  const void *from = elements_for(x, &p, v, &scalar, &one);
  if (!from) return false;
  fill(x, p.n, p.inner, all);
  return tt__eager_scatter_few(x->a->storage, all, p.n * p.inner, from, one);
}
