/* Gathered arrays; see gathered.h. */
#include "fn/grad/gathered.h"

#include <string.h>

#include "graph/eager/compute.h"

static bool copy_of(tt_composer *c, tt_array *a, char *to) {
  tt_node *n = tt__compose_node(c, a);
  bool ready = n && tt__eager_ready(n);
  const void *from = ready ? tt__eager_dense(n, to) : NULL;
  if (from && from != to) memcpy(to, from, (size_t)a->size * tt__dtype_size((tt_dtype)a->dtype));
  tt__node_release(n);
  return ready;
}

tt_array *tt__gathered(tt_composer *c, tt_array *const *a, int n) {
  int64_t size = 0;
  size_t item = tt__dtype_size((tt_dtype)a[0]->dtype);
  for (int k = 0; k < n; k++) size += a[k]->size;
  tt_node *all = tt__eager_room((tt_dtype)a[0]->dtype, 1, &size);
  char *to = all ? all->attr.buf->data : NULL;
  bool ok = all != NULL;
  for (int k = 0; k < n && ok; to += (size_t)a[k++]->size * item) ok = copy_of(c, a[k], to);
  if (ok) return tt__compose_of_node(c, all);
  tt__node_release(all);
  return NULL;
}

tt_array *tt__gathered_part(tt_composer *c, tt_array *all, int64_t from, const tt_array *like) {
  const tt_node *n = all ? all->storage->node : NULL;
  size_t item = n ? tt__dtype_size((tt_dtype)n->dtype) : 0;
  if (!n || n->op != TT_N_BUFFER || !tt__eager_ready(n)) return NULL;
  tt_node *part = tt__eager_room((tt_dtype)n->dtype, like->rank, like->dim);
  if (!part) return NULL;
  part->device = like->storage->node->device;
  memcpy(part->attr.buf->data, (const char *)n->attr.buf->data + (size_t)from * item, (size_t)like->size * item);
  return tt__compose_of_node(c, part);
}
