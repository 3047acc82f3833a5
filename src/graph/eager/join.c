/*
** Joining what is at hand; see join.h. Each part is copied once: to record it would take a store for each.
*/
#include "graph/eager/join.h"

#include <assert.h>

#include "graph/eager/block.h"
#include "graph/eager/compute.h"
#include "graph/tape.h"

/* Copies cost less than other work: as many elements as these times the limit of that. */
enum { JOINED_TIMES = 16 };

static bool can_read(const tt_array *a) {
  const tt_node *n = a->storage->node;
  return n->device == TT_ANYWHERE && n->op != TT_N_VIEW && tt__eager_ready(n) && !tt__is_taped(n);
}

/* Element 0 of a part and its steps in `step`. */
static const char *first(tt_array *a, int64_t *step) {
  tt_node *n = a->storage->node;
  bool constant = n->op == TT_N_CONST;
  for (int k = 0; k < a->rank; k++) step[k] = constant ? 0 : tt__array_step(a)[k];
  if (constant) return (const char *)&n->attr.scalar;
  return (const char *)n->attr.buf->data + a->off * (int64_t)tt__dtype_size((tt_dtype)a->dtype);
}

tt_node *tt__eager_join(tt_array *const *part, int64_t n, int axis, const int64_t *len) {
  int64_t size = 1, to_step[TT_MAX_RANK], step[TT_MAX_RANK];
  int rank = part[0]->rank;
  for (int k = 0; k < rank; k++)
    if (__builtin_mul_overflow(size, len[k], &size)) return NULL;
  if (size == 0 || !tt__eager_few(size / JOINED_TIMES)) return NULL;
  for (int64_t i = 0; i < n; i++)
    if (!can_read(part[i])) return NULL;
  tt_dtype dtype = (tt_dtype)part[0]->dtype;
  size_t item = tt__dtype_size(dtype);
  tt_node *made = tt__eager_room(dtype, rank, len);
  if (!made) return NULL;
  tt__shape_steps(rank, len, to_step);
  char *to = made->attr.buf->data;
  for (int64_t i = 0; i < n; i++) {
    assert(part[i]->rank == rank && (tt_dtype)part[i]->dtype == dtype);
    const char *from = first(part[i], step);
    if (part[i]->size) tt__block_copy(rank, part[i]->dim, to, to_step, from, step, item);
    to += part[i]->dim[axis] * to_step[axis] * (int64_t)item;
  }
  return made;
}
