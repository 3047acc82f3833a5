/*
** Memory shown as several types; see alias.h.
**
** A storage has one type, and its value is a node of that type. What shows its memory as another type is a storage
** that knows its root and which of the root's elements it shows: a window, a view whose last axis is dense. Its value
** is the root's value through the window with the bytes read as the other type (BITCAST); a value written to it goes
** the same way back. Both cost nothing where the window is the whole: a BITCAST of memory is that memory.
**
** Elements that do not lie at multiples of their size (rows of 3 floats read as pairs) have no whole number of steps
** between rows: such a window is shown as a block whose rows are padded, so that what is no view of the memory is no
** view of the block either.
*/
#include "graph/index/alias.h"

#include <assert.h>
#include <string.h>

#include "graph/slab.h"

/* In elements of the root. The window's elements of the other type are a block of the same shape, its last axis
 * shorter or longer. */
struct tt_window {
  uint8_t dtype; /* of the storage that shows it */
  uint8_t rank;  /* at least 1 */
  bool padded;   /* one more element of the other type along the last axis */
  int64_t off;
  int64_t dim[]; /* len[rank], step[rank], the last step 1 */
};

static size_t window_bytes(int rank) { return sizeof(tt_window) + 2 * (size_t)rank * sizeof(int64_t); }

static int64_t item_of(const tt_storage *s) { return (int64_t)tt__dtype_size((tt_dtype)s->node->dtype); }

/* The block's shape, without padding. */
static void block_shape(const tt_window *w, int64_t root_item, int64_t *len) {
  memcpy(len, w->dim, sizeof *len * w->rank);
  len[w->rank - 1] = len[w->rank - 1] * root_item / (int64_t)tt__dtype_size((tt_dtype)w->dtype);
}

/* ---- values through windows */

/* The value of a storage that shows `w`, of the root's value. */
static tt_node *shown(const tt_window *w, tt_node *root, tt_error *err) {
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  int last = w->rank - 1;
  tt_dtype dtype = (tt_dtype)w->dtype;
  block_shape(w, (int64_t)tt__dtype_size((tt_dtype)root->dtype), len);
  tt_node *part = tt__node_view(root, w->rank, w->dim, w->dim + w->rank, w->off, err);
  tt_node *n = part ? tt__node_bitcast(part, dtype == TT_BOOL ? TT_U8 : dtype, w->rank, len, err) : NULL;
  tt__node_release(part);
  if (dtype == TT_BOOL) { /* a bool is 0 or 1, whatever the byte */
    tt_node *zero = n ? tt__node_const_at(n->device, TT_U8, (tt_scalar){.bits = {0, 0}}, w->rank, len, err) : NULL;
    n = tt__node_take2(TT_NE, TT_BOOL, n, zero, err);
  }
  if (!n || !w->padded) return n;
  len[last]++;
  tt__shape_steps(w->rank, len, step);
  tt_node *room = tt__node_new(TT_N_EMPTY, dtype, w->rank, len, 0, err);
  tt_node *block = room ? tt__node_store(room, n, step, 0, err) : NULL;
  tt__node_release(room);
  tt__node_release(n);
  return block;
}

/* The root's value after `value` was written to a storage that shows `w`. */
static tt_node *written(const tt_window *w, tt_node *root, tt_node *value, tt_error *err) {
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  if (w->rank == 1 && w->dim[0] == root->size)
    return tt__node_bitcast(value, (tt_dtype)root->dtype, root->rank, root->dim, err);
  block_shape(w, (int64_t)tt__dtype_size((tt_dtype)root->dtype), len);
  tt__shape_steps(value->rank, value->dim, step);
  tt_node *block = w->padded ? tt__node_view(value, w->rank, len, step, 0, err) : tt__node_retain(value);
  tt_node *bytes = block ? tt__node_bitcast(block, (tt_dtype)root->dtype, w->rank, w->dim, err) : NULL;
  tt_node *out = bytes ? tt__node_store(root, bytes, w->dim + w->rank, w->off, err) : NULL;
  tt__node_release(block);
  tt__node_release(bytes);
  return out;
}

tt_code tt__alias_put(tt_storage *s, tt_node *n, tt_error *err) {
  assert(n->size == s->node->size && n->dtype == s->node->dtype);
  tt_storage *root = s->root ? s->root : s;
  tt_node *value = s->root ? written(s->window, root->node, n, err) : tt__node_retain(n);
  tt_storage *m = value ? root->showing : NULL;
  for (; m; m = m->beside) {
    m->coming = m == s ? tt__node_retain(n) : shown(m->window, value, err);
    if (!m->coming) break;
  }
  tt__node_release(n);
  if (m || !value) { /* all or none */
    for (tt_storage *k = root->showing; k && k != m; k = k->beside) tt__node_release(k->coming);
    tt__node_release(value);
    return TT_ENOMEM;
  }
  tt__storage_become(root, value);
  for (m = root->showing; m; m = m->beside) tt__storage_become(m, m->coming);
  return TT_OK;
}

/* ---- storages over one memory */

static void join(tt_storage *root, tt_storage *m, tt_window *w) {
  m->root = root;
  m->window = w;
  m->beside = root->showing;
  root->showing = m;
  root->refs++;
}

void tt__alias_leave(tt_storage *s) {
  assert(s->root && s->root != s && s->root->showing);
  tt_storage *root = s->root, **at = &root->showing;
  while (*at != s) at = &(*at)->beside;
  *at = s->beside;
  s->root = NULL;
  tt__slab_free(s->window, window_bytes(s->window->rank));
  tt__storage_release(root);
}

static tt_window *window_new(tt_dtype dtype, int rank, const int64_t *len, const int64_t *step, int64_t off,
                             tt_error *err) {
  tt_window *w = tt__slab_alloc(window_bytes(rank));
  if (!w) {
    tt__fail_memory(err, window_bytes(rank));
    return NULL;
  }
  *w = (tt_window){.dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .off = off};
  memcpy(w->dim, len, sizeof *len * (size_t)rank);
  memcpy(w->dim + rank, step, sizeof *step * (size_t)rank);
  return w;
}

/* Windows that are one run of elements. */
static tt_window *run_new(tt_dtype dtype, int64_t n, int64_t off, tt_error *err) {
  static const int64_t one = 1;
  return window_new(dtype, 1, &n, &one, off, err);
}

/* Count the window in elements of which `times` make one of those it was counted in. */
static void refine(tt_window *w, int64_t times) {
  w->off *= times;
  w->dim[w->rank - 1] *= times;
  for (int k = 0; k + 1 < w->rank; k++) w->dim[w->rank + k] *= times;
}

/* A root of smaller elements, unsigned ones, for all that show one memory; the old root shows it like others. */
static tt_storage *rooted(tt_storage *old, int64_t item, tt_error *err) {
  tt_dtype dtype = item == 1 ? TT_U8 : item == 2 ? TT_U16 : item == 4 ? TT_U32 : TT_U64;
  int64_t times = item_of(old) / item, n = old->node->size * times;
  tt_window *w = run_new((tt_dtype)old->node->dtype, n, 0, err);
  tt_node *bytes = w ? tt__node_bitcast(old->node, dtype, 1, &n, err) : NULL;
  tt_storage *root = bytes ? tt__storage_new(bytes, err) : NULL;
  tt__node_release(bytes);
  if (!root) {
    if (w) tt__slab_free(w, window_bytes(1));
    return NULL;
  }
  root->readonly = old->readonly;
  tt_storage *m = old->showing;
  old->showing = NULL;
  old->refs++; /* those that go over may be all that held it */
  join(root, old, w);
  while (m) {
    tt_storage *next = m->beside;
    refine(m->window, times);
    join(root, m, m->window);
    old->refs--;
    m = next;
  }
  tt__storage_release(old);
  return root;
}

/* The storage of this type that shows the elements from `off` (in bytes) on, or those of a window; takes the window. */
static tt_storage *showing(tt_storage *root, tt_window *w, tt_error *err) {
  for (tt_storage *m = w->rank == 1 && !w->padded ? root->showing : NULL; m; m = m->beside) {
    const tt_window *have = m->window;
    if (have->dtype != w->dtype || have->rank != 1 || have->padded || have->off != w->off || have->dim[0] != w->dim[0])
      continue;
    tt__slab_free(w, window_bytes(w->rank));
    return m;
  }
  tt_node *n = shown(w, root->node, err);
  tt_storage *m = n ? tt__storage_new(n, err) : NULL;
  tt__node_release(n);
  if (!m) {
    tt__slab_free(w, window_bytes(w->rank));
    return NULL;
  }
  m->readonly = root->readonly;
  join(root, m, w);
  return m;
}

/* ---- where elements lie */

/* Byte of the root's memory at which an element of the storage lies. */
static int64_t place_of(const tt_storage *s, int64_t at) {
  const tt_window *w = s->window;
  int64_t start = w ? w->off * item_of(s->root) : 0;
  if (!w || !w->padded) return start + at * item_of(s);
  int64_t len[TT_MAX_RANK], unit[TT_MAX_RANK], root_item = item_of(s->root);
  block_shape(w, root_item, len);
  len[w->rank - 1]++;
  tt__shape_steps(w->rank, len, unit);
  for (int k = 0; k + 1 < w->rank; k++) {
    start += at / unit[k] * w->dim[w->rank + k] * root_item;
    at %= unit[k];
  }
  return start + at * item_of(s);
}

void tt__array_place(const tt_array *a, int64_t *off, int64_t *stride) {
  const tt_storage *s = a->storage;
  *off = place_of(s, a->off);
  for (int k = 0; k < a->rank; k++) {
    int64_t step = a->dim[a->rank + k];
    bool walks = s->window && s->window->padded && a->dim[k] > 1;
    stride[k] = walks ? place_of(s, a->off + step) - *off : step * item_of(s);
  }
}

bool tt__storage_lies(const tt_storage *s) { return s->window && s->window->rank == 1 && !s->window->padded; }

/* ---- arrays */

/* The shape in elements of `item` bytes, or a failure in NumPy's words. */
static tt_code view_shape(const tt_array *a, int64_t item, int64_t *len, int64_t *stride, tt_error *err) {
  int64_t old = (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  int last = a->rank - 1;
  memcpy(len, a->dim, sizeof *len * a->rank);
  if (old == item) return TT_OK;
  if (a->rank == 0)
    return tt__fail(err, TT_EVALUE, "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
  if (len[last] != 1 && a->size != 0 && stride[last] != old)
    return tt__fail(err, TT_EVALUE, "To change to a dtype of a different size, the last axis must be contiguous");
  if (old < item && len[last] * old % item != 0)
    return tt__fail(err, TT_EVALUE,
                    "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the "
                    "last axis of the array.");
  len[last] = len[last] * old / item;
  stride[last] = item;
  return TT_OK;
}

static int64_t common(int64_t a, int64_t b) { /* both powers of two but for b, which may be anything */
  while (b % a != 0) a /= 2;
  return a;
}

/* A view of `shape`, its elements at byte `off` and `stride` of the root's memory. */
typedef struct place {
  tt_dtype dtype;
  int rank;
  int64_t *len, *stride, off, item;
} place;

/* The largest run of elements of an item's size at the places' own remainder. */
static tt_storage *whole_showing(tt_storage *root, place *p, tt_error *err) {
  int64_t item = item_of(root), total = root->node->size * item, start = p->off % p->item;
  int64_t n = (total - start) / p->item * p->item / item;
  p->off = (p->off - start) / p->item;
  for (int k = 0; k < p->rank; k++) p->stride[k] /= p->item;
  if (start == 0 && p->dtype == (tt_dtype)root->node->dtype) return root;
  tt_window *w = run_new(p->dtype, n, start / item, err);
  return w ? showing(root, w, err) : NULL;
}

/* The elements of a view whose rows do not lie at multiples of their size from each other. */
static tt_storage *rows_showing(tt_storage *root, place *p, tt_error *err) {
  int64_t item = item_of(root), len[TT_MAX_RANK], step[TT_MAX_RANK];
  int last = p->rank - 1;
  for (int k = 0; k < p->rank; k++) {
    len[k] = p->len[k];
    step[k] = p->stride[k] / item;
  }
  bool dense = p->stride[last] == p->item || len[last] == 1;
  int rank = dense ? p->rank : p->rank + 1; /* elements that do not follow each other are rows of one */
  if (rank > TT_MAX_RANK) return tt__fail(err, TT_ENOTIMPL, "a view of this type has too many axes"), NULL;
  len[rank - 1] = (dense ? p->len[last] : 1) * p->item / item;
  step[rank - 1] = 1;
  tt_window *w = window_new(p->dtype, rank, len, step, p->off / item, err);
  if (!w) return NULL;
  w->padded = true;
  block_shape(w, item, len);
  len[rank - 1]++;
  tt__shape_steps(rank, len, step);
  p->off = 0;
  memcpy(p->stride, step, sizeof *step * (size_t)p->rank);
  return showing(root, w, err);
}

static tt_code array_at(tt_storage *from, place *p, tt_array **out, tt_error *err) {
  tt_storage *root = from->root ? from->root : from;
  bool whole = true, empty = false;
  for (int k = 0; k < p->rank; k++) empty |= p->len[k] == 0;
  if (empty) p->off = 0; /* it lies nowhere: any steps do */
  int64_t item = common(common(item_of(root) < 8 ? item_of(root) : 8, p->off), p->item), own = item_of(root);
  for (int k = 0; k < p->rank; k++) {
    if (empty || p->len[k] == 1) p->stride[k] = p->item;
    item = common(item, p->stride[k]);
    whole &= p->stride[k] % p->item == 0;
  }
  bool even = p->off % own == 0 || (own > p->item && p->off % p->item == 0);
  bool coarse = whole ? !even : item < own;
  if (coarse || (root->node->dtype == TT_BOOL && p->dtype != TT_BOOL)) root = rooted(root, item, err);
  if (!root) return TT_ENOMEM;
  tt_storage *s = whole ? whole_showing(root, p, err) : rows_showing(root, p, err);
  *out = s ? tt__storage_array(s, p->rank, p->len, p->stride, p->off, err) : NULL;
  return *out ? TT_OK : TT_ENOMEM;
}

tt_code tt__array_as(tt_array *a, tt_dtype dtype, tt_array **out, tt_error *err) {
  int64_t len[TT_MAX_RANK + 1], stride[TT_MAX_RANK + 1];
  place p = {.dtype = dtype, .rank = a->rank, .len = len, .stride = stride};
  *out = NULL;
  if (dtype == (tt_dtype)a->dtype) {
    *out = tt__array_view(a, a->rank, a->dim, tt__array_step(a), a->off, err);
    return *out ? TT_OK : TT_ENOMEM;
  }
  p.item = (int64_t)tt__dtype_size(dtype);
  tt__array_place(a, &p.off, stride);
  TT_TRY(view_shape(a, p.item, len, stride, err));
  TT_TRY(array_at(a->storage, &p, out, err));
  (*out)->readonly = a->readonly;
  return TT_OK;
}

tt_code tt__array_part(tt_array *a, bool imag, tt_array **out, tt_error *err) {
  int64_t len[TT_MAX_RANK], stride[TT_MAX_RANK];
  tt_dtype dtype = a->dtype == TT_C64 ? TT_F32 : TT_F64;
  place p = {.dtype = dtype, .rank = a->rank, .len = len, .stride = stride};
  *out = NULL;
  p.item = (int64_t)tt__dtype_size(dtype);
  memcpy(len, a->dim, sizeof *len * a->rank);
  tt__array_place(a, &p.off, stride);
  if (imag) p.off += p.item;
  TT_TRY(array_at(a->storage, &p, out, err));
  (*out)->readonly = a->readonly;
  return TT_OK;
}

tt_code tt__alias_bytes(tt_array *a, tt_array **out, tt_error *err) {
  *out = NULL;
  return a->dtype == TT_BOOL && a->storage->root ? tt__array_as(a, TT_U8, out, err) : TT_OK;
}
