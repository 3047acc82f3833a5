/*
** Few places at hand: the flat positions that one index array or one mask in front names, found by a walk at the call.
*/
#include <assert.h>
#include <string.h>

#include "graph/eager/block.h"
#include "graph/eager/compute.h"
#include "graph/index/index_int.h"

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

/* Of integers, -1: one is out of range. */
static int64_t find_places(const tt_subscript *x, tt_array *index) {
  int64_t len = x->a->dim[0], step = tt__array_step(x->a)[0];
  const int64_t *at = dense(index, place);
  for (int64_t i = 0; i < index->size; i++) {
    int64_t k = at[i] < 0 ? at[i] + len : at[i];
    if (k < 0 || k >= len) return -1;
    place[i] = x->off + k * step;
  }
  return index->size;
}

/* Of what is true in a mask. */
static int64_t find_true(const tt_subscript *x, tt_array *mask) {
  static uint8_t room[TT_EAGER_MOST];
  const uint8_t *m = dense(mask, room);
  const int64_t *step = tt__array_step(x->a);
  int64_t index[TT_MAX_RANK] = {0}, n = 0, at = x->off;
  int last = mask->rank - 1;
  for (int64_t i = 0; i < mask->size; i += mask->dim[last], m += mask->dim[last]) {
    for (int64_t j = 0; j < mask->dim[last]; j++) {
      place[n] = at + j * step[last];
      n += m[j] != 0;
    }
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
  int64_t index[TT_MAX_RANK] = {0};
  if (inner == 1) {
    memcpy(to, place, (size_t)n * sizeof *to);
    return;
  }
  int last = x->rank - 1;
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

tt_node *tt__index_few(const tt_subscript *x) {
  if (x->n == 0 || x->a->storage->node->device > 0 || !is_lone(x)) return NULL;
  tt_array *a = x->item[0].array;
  bool mask = x->item[0].kind == TT_INDEX_MASK;
  int64_t inner = 1, len[TT_MAX_RANK + 1], n = mask ? find_true(x, a) : find_places(x, a);
  int rank = mask ? 1 : a->rank;
  for (int k = 0; k < x->rank; k++) inner *= x->len[k];
  if (n < 0 || inner == 0 || rank + x->rank > TT_MAX_RANK || !tt__eager_few(n) || !tt__eager_few(n * inner))
    return NULL;
  assert(x->at == 0);
  if (mask) len[0] = n;
  if (!mask) memcpy(len, a->dim, (size_t)rank * sizeof *len);
  memcpy(len + rank, x->len, (size_t)x->rank * sizeof *len);
  if (n == 0) return tt__node_const(TT_I64, (tt_scalar){.bits = {0, 0}}, rank + x->rank, len, NULL);
  tt_buffer *b = tt__buffer_new((size_t)(n * inner) * sizeof *place, NULL);
  tt_node *out = b ? tt__node_new(TT_N_BUFFER, TT_I64, rank + x->rank, len, 0, NULL) : NULL;
  if (!out) {
    tt__buffer_release(b);
    return NULL;
  }
  out->attr.buf = b;
  fill(x, n, inner, b->data);
  return out;
}
