/*
** Integer and boolean index arrays as flat positions in a storage: per item an int64 node of the offsets it adds.
** Index arrays are evaluated here: their bounds are checked, and masks are counted, when the operation is recorded.
** The arithmetic on them stays in the graph, where it fuses.
*/
#include <assert.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "graph/index/index_int.h"
#include "graph/session.h"
#include "graph/tape.h"

/* ---- bounds of integer arrays */

enum { SCAN_GRAIN = 1 << 16 };

typedef struct scan {
  const void *data;
  tt_dtype dtype;
  tt_lock lock;
  int64_t least, most;
} scan;

#define SCAN_CASE(E, T)                 \
  case E: {                             \
    const T *p = s->data;               \
    T a = p[lo], b = p[lo];             \
    for (int64_t i = lo; i < hi; i++) { \
      a = p[i] < a ? p[i] : a;          \
      b = p[i] > b ? p[i] : b;          \
    }                                   \
    least = (int64_t)a;                 \
    most = (int64_t)b;                  \
    break;                              \
  }

static void scan_range(void *ctx, int64_t lo, int64_t hi, int worker) {
  scan *s = ctx;
  int64_t least = 0, most = 0;
  (void)worker;
  switch (s->dtype) {
    SCAN_CASE(TT_I8, int8_t)
    SCAN_CASE(TT_I16, int16_t)
    SCAN_CASE(TT_I32, int32_t)
    SCAN_CASE(TT_I64, int64_t)
    SCAN_CASE(TT_U8, uint8_t)
    SCAN_CASE(TT_U16, uint16_t)
    SCAN_CASE(TT_U32, uint32_t)
    SCAN_CASE(TT_U64, uint64_t)
    default:
      assert(false); /* parse_array lets integers through only */
  }
  if (s->dtype == TT_U64 && most < 0) most = INT64_MAX; /* beyond any axis */
  tt__lock(&s->lock);
  if (least < s->least) s->least = least;
  if (most > s->most) s->most = most;
  tt__unlock(&s->lock);
}

/* Least and most of a value on a device, found there. */
static tt_code range_there(tt_node *n, int64_t *least, int64_t *most, tt_error *err) {
  static const tt_red red[2] = {TT_RED_MIN, TT_RED_MAX};
  int64_t *const to[2] = {least, most};
  tt_node *end[2] = {NULL, NULL};
  uint64_t all = n->rank ? ~UINT64_C(0) >> (64 - n->rank) : 0;
  tt_code code = tt__evaluate(&n, 1, err);
  for (int k = 0; code == TT_OK && k < 2; k++)
    if (!(end[k] = tt__node_reduce(red[k], n, all, err))) code = TT_ENOMEM;
  if (code == TT_OK) code = tt__evaluate(end, 2, err);
  for (int k = 0; code == TT_OK && k < 2; k++) {
    code = tt__evaluate_home(end[k], err);
    if (code != TT_OK) break;
    tt_value v = tt__scalar_load((tt_dtype)end[k]->dtype, end[k]->attr.buf->data);
    *to[k] = v.tag == TT_V_UINT && v.as.u > INT64_MAX ? INT64_MAX : v.as.i;
  }
  for (int k = 0; k < 2; k++) tt__node_release(end[k]);
  return code;
}

static tt_code range_here(tt_array *index, int64_t *least, int64_t *most, tt_error *err) {
  scan s = {.dtype = (tt_dtype)index->dtype, .lock = TT_LOCK_INIT, .least = INT64_MAX, .most = INT64_MIN};
  tt_buffer *hold;
  TT_TRY(tt__array_peek_dense(index, &s.data, &hold, err));
  int depth = tt__session_suspend();
  tt__pool_run(index->size, SCAN_GRAIN, scan_range, &s);
  tt__session_resume(depth);
  tt__buffer_release(hold);
  *least = s.least;
  *most = s.most;
  return TT_OK;
}

/* The buffer whose elements are exactly those of a node, and that nobody but us writes to. */
static tt_buffer *own_buffer(tt_node *n) { return n->op == TT_N_BUFFER && !n->attr.buf->drop ? n->attr.buf : NULL; }

static bool recall(tt_node *whole, int64_t *least, int64_t *most) {
  const tt_buffer *b = own_buffer(whole);
  if (!b || !b->ranged || b->ranged_as != whole->dtype) return false;
  *least = b->least;
  *most = b->most;
  return true;
}

static void remember(tt_node *whole, int64_t least, int64_t most) {
  tt_buffer *b = own_buffer(whole);
  if (!b) return;
  b->least = least;
  b->most = most;
  b->ranged = true;
  b->ranged_as = whole->dtype;
}

/* Of all elements of a storage on a device: a loop over parts of it, batches for example, waits once. */
static tt_code range_of_whole(tt_array *part, int64_t *least, int64_t *most, tt_error *err) {
  tt_node *whole = tt__node_retain(part->storage->node);
  tt_code code = recall(whole, least, most) ? TT_OK : range_there(whole, least, most, err);
  if (code == TT_OK) remember(whole, *least, *most); /* evaluated by now */
  tt__node_release(whole);
  return code;
}

/* Of these elements alone. */
static tt_code range_of(tt_array *index, int64_t *least, int64_t *most, tt_error *err) {
  bool all = index->storage->node->size == index->size;
  if (all && recall(index->storage->node, least, most)) return TT_OK;
  if (!tt__array_at_hand(index)) {
    tt_node *n = tt__array_node(index, err);
    tt_code code = n ? range_there(n, least, most, err) : TT_ENOMEM;
    tt__node_release(n);
    TT_TRY(code);
  } else {
    TT_TRY(range_here(index, least, most, err));
  }
  if (all) remember(index->storage->node, *least, *most); /* evaluated by now */
  return TT_OK;
}

tt_code tt__array_range(tt_array *index, int64_t len, int64_t *least, int64_t *most, tt_error *err) {
  *least = *most = 0;
  if (index->size == 0) return TT_OK;
  if (!tt__array_at_hand(index) && index->size < index->storage->node->size) {
    TT_TRY(range_of_whole(index, least, most, err));
    if (*least >= -len && *most < len) return TT_OK;
  }
  return range_of(index, least, most, err);
}

/* The first of the two that is out of range decides the message, as NumPy meets some index first. */
static tt_code check_bounds(tt_array *index, int axis, int64_t len, int64_t *least, int64_t *most, tt_error *err) {
  TT_TRY(tt__array_range(index, len, least, most, err));
  if (index->size == 0) return TT_OK;
  if (*least >= -len && *most < len) return TT_OK;
  return tt__fail(err, TT_EINDEX, "index %lld is out of bounds for axis %d with size %lld",
                  (long long)(*most >= len ? *most : *least), axis, (long long)len);
}

/* A constant of n's shape. */
static tt_node *number(int64_t what, const tt_node *n, tt_error *err) {
  return tt__node_const(TT_I64, (tt_scalar){.i64 = what}, n->rank, n->dim, err);
}

static tt_node *scaled(tt_node *n, int64_t by, tt_error *err) {
  if (!n || by == 1) return n;
  return tt__node_take2(TT_MUL, TT_I64, n, number(by, n, err), err);
}

static tt_node *added(tt_node *n, int64_t what, tt_error *err) {
  if (!n || what == 0) return n;
  return tt__node_take2(TT_ADD, TT_I64, n, number(what, n, err), err);
}

/* index * step, negative indices counted from the end. */
static tt_code part_of_array(const tt_subscript *x, const tt_index_item *item, tt_node **out, tt_error *err) {
  int64_t len = x->a->dim[item->axis], least, most;
  TT_TRY(check_bounds(item->array, item->axis, len, &least, &most, err));
  tt_node *n = tt__node_take_cast(tt__array_node(item->array, err), TT_I64, err);
  if (n && most < 0) {
    n = added(n, len, err);
  } else if (n && least < 0) {
    tt_node *zero = tt__node_const(TT_I64, (tt_scalar){.i64 = 0}, n->rank, n->dim, err);
    tt_node *negative = tt__node_take2(TT_LT, TT_BOOL, tt__node_retain(n), zero, err);
    tt_node *wrapped = added(tt__node_retain(n), len, err);
    n = tt__node_take_where(negative, wrapped, n, err);
  }
  *out = scaled(n, tt__array_step(x->a)[item->axis], err);
  return *out ? TT_OK : TT_ENOMEM;
}

/* ---- masks */

enum { MASK_CHUNK = 1 << 15 };

typedef struct mask_job {
  const uint8_t *mask;
  int64_t size, *count; /* per chunk; then where the chunk's positions start */
  int64_t *to;
  int rank;
  const int64_t *len, *step; /* of the mask's axes in the indexed array */
} mask_job;

#define LOW_BITS 0x7f7f7f7f7f7f7f7full
#define ONE_EACH 0x0101010101010101ull
/* The upper bit of each of eight bytes that is not 0. */
static uint64_t set_bytes(const uint8_t *mask) {
  uint64_t w;
  memcpy(&w, mask, sizeof w);
  return (((w & LOW_BITS) + LOW_BITS) | w) & ~LOW_BITS;
}

static void mask_count(void *ctx, int64_t lo, int64_t hi, int worker) {
  mask_job *j = ctx;
  (void)worker;
  for (int64_t c = lo; c < hi; c++) {
    int64_t from = c * MASK_CHUNK, to = from + MASK_CHUNK < j->size ? from + MASK_CHUNK : j->size, n = 0;
    for (; from + 8 <= to; from += 8) n += (int64_t)((set_bytes(j->mask + from) >> 7) * ONE_EACH >> 56);
    for (; from < to; from++) n += j->mask[from] != 0;
    j->count[c] = n;
  }
}

/* base + at * step for each of a line's elements `at` that are set, from `at` to `stop`. Gives where the next goes. */
static int64_t *places_in_line(const uint8_t *mask, int64_t at, int64_t stop, int64_t base, int64_t step, int64_t *to) {
  for (; at + 8 <= stop; at += 8) {
    uint64_t set = set_bytes(mask + at);
    if (set == ~LOW_BITS) { /* nothing to look for, and nothing to wait for */
      for (int k = 0; k < 8; k++) *to++ = base + (at + k) * step;
      continue;
    }
    for (; set; set &= set - 1) *to++ = base + (at + __builtin_ctzll(set) / 8) * step;
  }
  for (; at < stop; at++)
    if (mask[at]) *to++ = base + at * step;
  return to;
}

static void mask_fill(void *ctx, int64_t lo, int64_t hi, int worker) {
  mask_job *j = ctx;
  (void)worker;
  int last = j->rank - 1;
  for (int64_t c = lo; c < hi; c++) {
    int64_t i = c * MASK_CHUNK, end = i + MASK_CHUNK < j->size ? i + MASK_CHUNK : j->size;
    int64_t *to = j->to + j->count[c], base = 0, rest = i / j->len[last], at = i % j->len[last];
    while (i < end) { /* a line, or what the chunk has of it, at a time */
      int64_t line = rest;
      base = 0;
      for (int k = last; k-- > 0; line /= j->len[k]) base += line % j->len[k] * j->step[k];
      int64_t stop = j->len[last] - at < end - i ? j->len[last] : at + (end - i);
      to = places_in_line(j->mask + i - at, at, stop, base, j->step[last], to);
      i += stop - at;
      at = 0;
      rest++;
    }
  }
}

static tt_code count_and_fill(mask_job *j, tt_node **out, tt_error *err) {
  int64_t chunks = (j->size + MASK_CHUNK - 1) / MASK_CHUNK, total = 0;
  size_t bytes = (size_t)chunks * sizeof *j->count;
  tt_buffer *b = NULL;
  tt_code code = TT_ENOMEM;
  j->count = tt__mem_alloc(bytes);
  if (!j->count) return tt__fail_memory(err, bytes);
  int depth = tt__session_suspend();
  tt__pool_run(chunks, 1, mask_count, j);
  for (int64_t c = 0; c < chunks; c++) {
    int64_t n = j->count[c];
    j->count[c] = total;
    total += n;
  }
  tt__session_resume(depth);
  b = tt__buffer_new((size_t)total * sizeof *j->to, err);
  if (!b) goto done;
  j->to = b->data;
  depth = tt__session_suspend();
  if (total) tt__pool_run(chunks, 1, mask_fill, j);
  tt__session_resume(depth);
  *out = tt__node_new(TT_N_BUFFER, TT_I64, 1, &total, 0, err);
  if (!*out) {
    tt__buffer_release(b);
    goto done;
  }
  (*out)->attr.buf = b;
  code = TT_OK;
done:
  tt__mem_free(j->count, bytes);
  return code;
}

/* What a device made, as a node. Takes the buffer. */
static tt_node *node_of(const tt_make_result *made, tt_error *err) {
  tt_dtype t = made->dtype;
  tt_node *n = made->buffer ? tt__node_new(TT_N_BUFFER, t, 1, &made->n, 0, err)
                            : tt__node_const(t, (tt_scalar){.bits = {0, 0}}, 1, &made->n, err);
  if (n && made->buffer) n->attr.buf = made->buffer;
  if (!n) tt__buffer_release(made->buffer);
  return n;
}

/*
** The same on the device where the mask lies: the flat places of what is true, taken apart into places along the
** mask's axes. TT_ENOTIMPL: the host has to.
*/
static tt_code mask_there(tt_array *mask, const int64_t *step, tt_node **out, tt_error *err) {
  tt_node *n = tt__array_node(mask, err), *sum = NULL;
  static const tt_lib_attr plain;
  tt_make_result made = {0};
  tt_code code = n ? tt__session_make("nonzero", &plain, &n, tt__array_device(mask), &made, err) : TT_ENOMEM;
  tt__node_release(n);
  if (code != TT_OK) return code;
  tt_node *flat = node_of(&made, err);
  if (!flat) return TT_ENOMEM;
  int64_t below = 1; /* points of the axes inside axis k */
  bool even = true;  /* one step for all of them */
  for (int k = mask->rank - 1; k > 0; k--) even &= step[k - 1] == step[k] * mask->dim[k];
  if (even) {
    *out = scaled(flat, step[mask->rank - 1], err);
    return *out ? TT_OK : TT_ENOMEM;
  }
  for (int k = mask->rank - 1; k >= 0; below *= mask->dim[k--]) {
    tt_node *at = tt__node_retain(flat);
    if (below > 1) at = tt__node_take2(TT_FLOORDIV, TT_I64, at, number(below, flat, err), err);
    if (k > 0) at = tt__node_take2(TT_MOD, TT_I64, at, number(mask->dim[k], flat, err), err);
    at = scaled(at, step[k], err);
    sum = sum ? tt__node_take2(TT_ADD, TT_I64, sum, at, err) : at;
    if (!sum) break;
  }
  tt__node_release(flat);
  *out = sum;
  return sum ? TT_OK : TT_ENOMEM;
}

tt_code tt__index_pick(tt_array *a, tt_array *mask, tt_array **out, tt_error *err) {
  static const tt_lib_attr plain;
  int id = tt__array_device(mask);
  tt_make_result made = {0};
  if (id <= 0 || tt__array_device(a) != id || mask->rank != a->rank || a->size == 0 || mask->size == 0)
    return TT_ENOTIMPL;
  if (tt__is_taped(a->storage->node)) return TT_ENOTIMPL; /* the way back takes the places */
  tt_node *src[2] = {tt__array_node(mask, err), tt__array_node(a, err)};
  tt_code code = src[0] && src[1] ? tt__session_make("compress", &plain, src, id, &made, err) : TT_ENOMEM;
  tt__node_release(src[0]);
  tt__node_release(src[1]);
  if (code != TT_OK) return code;
  tt_node *n = node_of(&made, err);
  if (!n) return TT_ENOMEM;
  if (a->storage->node->device > 0 || mask->storage->node->device > 0) n->device = (int16_t)id;
  *out = tt__array_of(n, err);
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

static tt_code part_of_mask(const tt_subscript *x, const tt_index_item *item, tt_node **out, tt_error *err) {
  tt_array *mask = item->array, *a = x->a;
  if (mask->size == 0) {
    int64_t none = 0;
    *out = tt__node_const(TT_I64, (tt_scalar){.i64 = 0}, 1, &none, err);
    return *out ? TT_OK : TT_ENOMEM;
  }
  mask_job j = {.size = mask->size, .rank = mask->rank, .len = mask->dim, .step = tt__array_step(a) + item->axis};
  if (tt__array_device(mask) > 0) {
    tt_code code = mask_there(mask, j.step, out, err);
    if (code != TT_ENOTIMPL) return code;
  }
  tt_buffer *hold;
  const void *data;
  TT_TRY(tt__array_peek_dense(mask, &data, &hold, err));
  j.mask = data;
  tt_code code = count_and_fill(&j, out, err);
  tt__buffer_release(hold);
  return code;
}

/* ---- all together */

static tt_code fail_shapes(int n, const int *rank, const int64_t *const *len, tt_error *err) {
  char text[768], shape[256];
  size_t at = 0;
  text[0] = 0;
  for (int k = 0; k < n; k++) {
    tt__shape_text(rank[k], len[k], shape, sizeof shape);
    size_t room = strlen(shape);
    if (at + room + 2 > sizeof text) break;
    memcpy(text + at, shape, room);
    at += room;
    text[at++] = ' ';
    text[at] = 0;
  }
  return tt__fail(err, TT_EINDEX, "shape mismatch: indexing arrays could not be broadcast together with shapes %s",
                  text);
}

/* The result's shape: `both` (the fancy axes) put before plain axis `at`. */
static tt_code result_shape(const tt_subscript *x, int rank, const int64_t *both, int *out_rank, int64_t *len,
                            tt_error *err) {
  *out_rank = x->rank + rank;
  if (*out_rank > TT_MAX_RANK)
    return tt__fail(err, TT_EINDEX, "number of dimensions must be within [0, %d], indexing result would have %d",
                    TT_MAX_RANK, *out_rank);
  memcpy(len, x->len, (size_t)x->at * sizeof *len);
  memcpy(len + x->at, both, (size_t)rank * sizeof *len);
  memcpy(len + x->at + rank, x->len + x->at, (size_t)(x->rank - x->at) * sizeof *len);
  return TT_OK;
}

/* Offsets of the plain axes: an affine map, so a view of the flat index. */
static tt_node *plain_part(const tt_subscript *x, int fancy_rank, int rank, const int64_t *len, tt_error *err) {
  int64_t size = x->a->storage->node->size, step[TT_MAX_RANK];
  for (int k = 0; k < rank; k++) {
    int plain = k < x->at ? k : k - fancy_rank;
    step[k] = k >= x->at && k < x->at + fancy_rank ? 0 : x->step[plain];
  }
  bool moves = false;
  for (int k = 0; k < rank; k++) moves |= len[k] > 1 && step[k] != 0;
  if (!moves) return tt__node_const(TT_I64, (tt_scalar){.i64 = x->off}, rank, len, err);
  tt_node *iota = tt__node_iota(1, &size, err);
  tt_node *n = iota ? tt__node_view(iota, rank, len, step, x->off, err) : NULL;
  tt__node_release(iota);
  return n;
}

static tt_node *spread(const tt_subscript *x, tt_node *p, int fancy_rank, int rank, const int64_t *len, tt_error *err) {
  int64_t step[TT_MAX_RANK] = {0}, own[TT_MAX_RANK];
  tt__shape_steps(p->rank, p->dim, own);
  for (int k = 0; k < p->rank; k++)
    if (p->dim[k] != 1) step[x->at + fancy_rank - p->rank + k] = own[k];
  return tt__node_view(p, rank, len, step, 0, err);
}

/* The broadcast shape of the fancy items. A mask of many axes counts, and is named in errors, as that many index
 * arrays. */
static tt_code fancy_shape(const tt_subscript *x, tt_node *const *p, int *out_rank, int64_t *out, tt_error *err) {
  int rank[TT_INDEX_ITEMS], n = 0;
  const int64_t *len[TT_INDEX_ITEMS];
  for (int k = 0; k < x->n; k++) {
    const tt_index_item *item = &x->item[k];
    int times = item->kind == TT_INDEX_MASK ? item->array->rank : item->kind == TT_INDEX_ARRAY || p[k] ? 1 : 0;
    for (int t = 0; t < times && n < TT_INDEX_ITEMS; t++, n++) {
      rank[n] = p[k] ? p[k]->rank : item->array->rank;
      len[n] = p[k] ? p[k]->dim : item->array->dim;
    }
  }
  if (tt__shape_broadcast(n, rank, len, out_rank, out, NULL) == TT_OK) return TT_OK;
  return fail_shapes(n, rank, len, err);
}

static tt_code combine(const tt_subscript *x, tt_node **p, int fancy_rank, int rank, const int64_t *len, tt_node **out,
                       tt_error *err) {
  tt_node *sum = plain_part(x, fancy_rank, rank, len, err);
  for (int k = 0; k < x->n && sum; k++)
    if (p[k]) sum = tt__node_take2(TT_ADD, TT_I64, spread(x, p[k], fancy_rank, rank, len, err), sum, err);
  *out = sum;
  return sum ? TT_OK : TT_ENOMEM;
}

/* p[k]: the part of item k, or NULL. NumPy's order of complaints: masks, then shapes, then bounds (unless nothing is
 * picked). */
static tt_code flat_of(const tt_subscript *x, tt_node **p, tt_node **out, tt_error *err) {
  int fancy_rank, rank;
  int64_t both[TT_MAX_RANK], len[TT_MAX_RANK], size, picked = 1;
  for (int k = 0; k < x->n; k++) {
    const tt_index_item *item = &x->item[k];
    if (item->kind == TT_INDEX_MASK) TT_TRY(part_of_mask(x, item, &p[k], err));
    if (item->kind == TT_INDEX_BOOL) {
      p[k] = tt__node_const(TT_I64, (tt_scalar){.i64 = 0}, 1, &item->value, err);
      if (!p[k]) return TT_ENOMEM;
    }
  }
  TT_TRY(fancy_shape(x, p, &fancy_rank, both, err));
  for (int k = 0; k < fancy_rank; k++) picked *= both[k];
  for (int k = 0; k < x->n && picked; k++)
    if (x->item[k].kind == TT_INDEX_ARRAY) TT_TRY(part_of_array(x, &x->item[k], &p[k], err));
  TT_TRY(result_shape(x, fancy_rank, both, &rank, len, err));
  TT_TRY(tt__shape_size(rank, len, (tt_dtype)x->a->dtype, &size, err));
  if (size) return combine(x, p, fancy_rank, rank, len, out, err);
  *out = tt__node_const(TT_I64, (tt_scalar){.i64 = 0}, rank, len, err);
  return *out ? TT_OK : TT_ENOMEM;
}

tt_code tt__index_flat(const tt_subscript *x, tt_node **out, tt_error *err) {
  tt_node *p[TT_INDEX_ITEMS];
  *out = tt__index_few(x);
  if (*out) return TT_OK;
  memset(p, 0, sizeof *p * (size_t)x->n);
  tt_code code = flat_of(x, p, out, err);
  for (int k = 0; k < x->n; k++) tt__node_release(p[k]);
  return code;
}
