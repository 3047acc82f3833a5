/*
** Makers on devices: library functions whose results have a size that their values decide, run when they are recorded.
** Their operands need not lie in memory: what computes them by element becomes part of the maker's kernel. Where
** they have no room, they come up in pieces.
*/
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/exec.h"
#include "run/device/exec_device.h"
#include "run/device/host_rows.h"
#include "run/device/batch.h"
#include "run/realize.h"
#include "run/residency.h"

enum { ALIGNED = 256, COPY_GRAIN = 1 << 20 };

/* ---- memory of results */

static int find_block(const tt_lib_use *u, const void *p) {
  int at = 0;
  while (tt__dmem_at(u->temp[at]) != p) at++;
  return at;
}

/* The block that begins at `p`, which is no longer the maker's. */
static tt_dmem *take_block(tt_lib_use *u, const void *p) {
  int at = find_block(u, p);
  tt_dmem *block = u->temp[at];
  u->temp[at] = u->temp[--u->ntemp];
  return block;
}

static void shrink(const tt_lib_device *on, void *p, size_t size) {
  tt_lib_use *u = (tt_lib_use *)(uintptr_t)on;
  tt__dmem_shrink(on->device, u->temp[find_block(u, p)], size);
}

/* ---- operands */

/* All of them by one function. What has been computed for others before, without being kept, is evaluated now. */
static tt_code producer_of(const tt_lib_maker *m, tt_device *d, tt_node *const *src, tt_fused_producer *out,
                           tt_error *err) {
  tt_node *root[TT_NODE_SRC];
  bool pending = false;
  int have = 0;
  for (int i = 0; i < m->nsrc; i++) {
    tt_node *n = src[i];
    if (n->flags & TT_NODE_SEEN) TT_TRY(tt__evaluate(&n, 1, err));
    pending |= n->op != TT_N_BUFFER;
  }
  if (!m->produced || !pending) return tt__fail(err, TT_ENOTIMPL, "%s reads memory", m->name);
  for (; have < m->nsrc; have++) {
    tt_node *n = src[have];
    int64_t dense[TT_MAX_RANK];
    tt__shape_steps(n->rank, n->dim, dense);
    root[have] = n->op == TT_N_BUFFER ? tt__node_view_plain(n, n->rank, n->dim, dense, 0, err) : tt__node_retain(n);
    if (!root[have]) break;
  }
  tt_code code = have == m->nsrc ? tt__realize_producer(root, have, d, out, err) : TT_ENOMEM;
  while (have > 0) tt__node_release(root[--have]);
  return code;
}

static tt_code operands_of(const tt_lib_maker *m, tt_device *d, tt_node *const *src, bool produced, tt_operand *out,
                           int64_t (*dense)[TT_MAX_RANK], tt_error *err) {
  for (int i = 0; i < m->nsrc && !produced; i++) {
    tt_node *n = src[i];
    TT_TRY(tt__evaluate(&n, 1, err));
  }
  if (!produced) tt__resident_step(false); /* what one operand needs does not move another one out */
  for (int i = 0; i < m->nsrc; i++) {
    tt_node *n = src[i];
    void *at = NULL;
    if (!produced) TT_TRY(tt__resident(d, tt__stream_current(d), n->attr.buf, &at, err));
    tt__shape_steps(n->rank, n->dim, dense[i]);
    out[i] = (tt_operand){
        .data = at, .dtype = (tt_dtype)n->dtype, .rank = n->rank, .len = n->dim, .step = dense[i], .size = n->size};
  }
  return TT_OK;
}

/* ---- the call */

static tt_code hand_over(const tt_lib_maker *m, tt_lib_use *u, const tt_made *made, tt_make_result *out,
                         tt_error *err) {
  tt_code code = TT_OK;
  for (int k = 0; k < m->nout; k++) {
    out[k].n = made[k].n;
    out[k].dtype = made[k].dtype;
    size_t size = (size_t)made[k].n * tt__dtype_size(made[k].dtype);
    if (code != TT_OK || !size) continue;
    tt_dmem *block = take_block(u, made[k].data);
    code = tt__resident_adopt(u->on.device, u->on.stream, block, size, NULL, &out[k].buffer, err);
  }
  return code;
}

/* What the host has made, for a device that is the host. */
static tt_code hand_made(const tt_lib_maker *m, const tt_made *made, tt_make_result *out, tt_error *err) {
  tt_code code = TT_OK;
  for (int k = 0; k < m->nout; k++) {
    size_t size = (size_t)made[k].n * tt__dtype_size(made[k].dtype);
    out[k] = (tt_make_result){.n = made[k].n, .dtype = made[k].dtype};
    if (!made[k].data) continue;
    if (code == TT_OK && !(out[k].buffer = tt__buffer_adopt(made[k].data, size, false, NULL, NULL, err)))
      code = TT_ENOMEM;
    if (!out[k].buffer) tt__mem_free_data(made[k].data, size);
  }
  return code;
}

static tt_code make_by_host(tt_device *d, const tt_lib_maker *m, const tt_lib_attr *attr, tt_node *const *src,
                            tt_make_result *out, tt_error *err) {
  tt_operand operand[TT_NODE_SRC];
  int64_t dense[TT_NODE_SRC][TT_MAX_RANK];
  tt_made made[TT_NODE_SRC] = {{0}};
  TT_TRY(operands_of(m, d, src, false, operand, dense, err));
  TT_TRY(tt__batch_flush(err));
  TT_TRY(tt__host_maker(d, tt__stream_current(d), m, attr, operand, made, err));
  tt_code code = hand_made(m, made, out, err);
  for (int k = 0; code != TT_OK && k < m->nout; k++) {
    tt__buffer_release(out[k].buffer);
    out[k].buffer = NULL;
  }
  return code;
}

static tt_code make_whole(tt_device *d, const tt_lib_maker *m, const tt_lib_attr *attr, tt_node *const *src,
                          tt_make_result *out, tt_error *err) {
  tt_operand operand[TT_NODE_SRC];
  int64_t dense[TT_NODE_SRC][TT_MAX_RANK];
  tt_made made[TT_NODE_SRC] = {{0}};
  tt_fused_producer producer = {.lib.text = NULL};
  tt_error why = {0};
  if (d->target.is_host) return make_by_host(d, m, attr, src, out, err);
  tt_code code = producer_of(m, d, src, &producer, &why);
  bool produced = code == TT_OK;
  if (code == TT_ENOTIMPL) code = TT_OK;
  if (code != TT_OK && err) *err = why;
  if (code == TT_OK) code = operands_of(m, d, src, produced, operand, dense, err);
  if (code == TT_OK) code = tt__batch_flush(err);
  tt_lib_use use;
  tt__exec_lib_open(&use, d, tt__stream_current(d));
  use.on.result = use.on.temp;
  use.on.shrink = shrink;
  use.on.producer = produced ? &producer.lib : NULL;
  if (code == TT_OK) code = m->run_on(&use.on, attr, operand, made, err);
  if (code == TT_OK) code = hand_over(m, &use, made, out, err);
  tt__exec_lib_close(&use);
  tt__fused_producer_free(&producer);
  if (code == TT_OK) return TT_OK;
  for (int k = 0; k < m->nout; k++) tt__buffer_release(out[k].buffer);
  memset(out, 0, sizeof *out * (size_t)m->nout);
  return code;
}

/* ---- in pieces: operands that have no room come up part by part, and what is made of the parts is joined here */

/* Bytes of the host that grow. */
typedef struct joined {
  char *data;
  size_t used, room;
  int64_t n; /* elements */
  tt_dtype dtype;
} joined;

typedef struct copying {
  char *to;
  const char *from;
} copying;

static void copy_some(void *ctx, int64_t lo, int64_t hi, int worker) {
  const copying *c = ctx;
  (void)worker;
  memcpy(c->to + lo, c->from + lo, (size_t)(hi - lo));
}

static void copy_wide(char *to, const char *from, size_t size) {
  copying c = {to, from};
  int depth = tt__session_suspend();
  tt__pool_run((int64_t)size, COPY_GRAIN, copy_some, &c);
  tt__session_resume(depth);
}

static tt_code grow(joined *j, size_t size, tt_error *err) {
  if (size <= j->room) return TT_OK;
  size_t room = size > 2 * j->room ? size : 2 * j->room;
  char *more = tt__mem_alloc_data(room);
  if (!more) return tt__fail_memory(err, room);
  if (j->used) copy_wide(more, j->data, j->used);
  if (j->room) tt__mem_free_data(j->data, j->room);
  j->data = more;
  j->room = room;
  return TT_OK;
}

/* What was made of a part, whose elements begin with element `from`; `data` is on the host, perhaps already where it
 * belongs, behind what there is. */
static tt_code join(joined *j, tt_lib_join how, const tt_made *made, const void *data, int64_t from, tt_error *err) {
  size_t size = (size_t)made->n * tt__dtype_size(made->dtype);
  j->dtype = made->dtype;
  if (how == TT_JOIN_SUMS) {
    TT_TRY(grow(j, size, err));
    if (size > j->used) memset(j->data + j->used, 0, size - j->used);
    if (size > j->used) j->used = size;
    for (int64_t i = 0; i < made->n; i++) ((int64_t *)(void *)j->data)[i] += ((const int64_t *)data)[i];
    j->n = (int64_t)(j->used / sizeof(int64_t));
    return TT_OK;
  }
  TT_TRY(grow(j, j->used + size, err));
  if (size && data != j->data + j->used) memcpy(j->data + j->used, data, size);
  int64_t *place = (int64_t *)(void *)(j->data + j->used);
  for (int64_t i = 0; i < made->n && how == TT_JOIN_PLACES; i++) place[i] += from;
  j->used += size;
  j->n += made->n;
  return TT_OK;
}

/* The simulated device's part: by the host's function. */
typedef struct null_make {
  tt_null_launch head;
  const tt_lib_maker *maker;
  const tt_lib_attr *attr;
  tt_operand src[TT_NODE_SRC];
  int64_t len, step;
  tt_made *made;
  tt_code *code;
  tt_error *err;
} null_make;

static void run_null(const void *args) {
  null_make a;
  memcpy(&a, args, sizeof a);
  for (int i = 0; i < a.maker->nsrc; i++) a.src[i].len = &a.len, a.src[i].step = &a.step;
  *a.code = a.maker->run(a.attr, a.src, a.made, a.err);
}

static tt_code make_null(tt_device *d, tt_stream *s, const tt_lib_maker *m, const tt_lib_attr *attr,
                         const tt_operand *src, tt_made *made, tt_error *err) {
  tt_code code = TT_EDEVICE;
  null_make a = {.head = {run_null, 10}, .maker = m, .attr = attr, .len = src->size, .step = 1, .made = made};
  const tt_grid grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  memcpy(a.src, src, sizeof *src * m->nsrc);
  a.code = &code;
  a.err = err;
  TT_TRY(d->ops->launch(d, s, NULL, &grid, &a, sizeof a, err));
  TT_TRY(d->ops->stream_wait_idle(d, s, err));
  return code;
}

static tt_code fetch(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  int depth = tt__session_suspend();
  tt_code code = tt__staging_out(d, s, to, from, size, err);
  tt__session_resume(depth);
  TT_COUNT(downloads, 1);
  TT_COUNT(download_bytes, size);
  return code;
}

/* Make of operands that lie on the device, and join; of several results the first counts. */
static tt_code make_part(tt_device *d, const tt_lib_maker *m, const tt_lib_attr *attr, const tt_operand *src,
                         int64_t from, tt_lib_join how, joined *j, tt_error *err) {
  tt_stream *s = tt__stream_current(d);
  tt_made made[TT_NODE_SRC] = {{0}};
  if (d->target.kind == TT_DEVICE_NULL) {
    TT_TRY(make_null(d, s, m, attr, src, made, err));
    tt_code code = join(j, how, &made[0], made[0].data, from, err);
    for (int k = 0; k < m->nout; k++)
      if (made[k].data) tt__mem_free_data(made[k].data, (size_t)made[k].n * tt__dtype_size(made[k].dtype));
    return code;
  }
  tt_lib_use use;
  tt__exec_lib_open(&use, d, s);
  use.on.result = use.on.temp;
  use.on.shrink = shrink;
  void *host = NULL;
  tt_code code = m->run_on(&use.on, attr, src, made, err);
  size_t size = (size_t)made[0].n * tt__dtype_size(made[0].dtype);
  bool apart = how == TT_JOIN_SUMS;
  if (code == TT_OK && !apart) code = grow(j, j->used + size, err);
  if (code == TT_OK && apart && size && !(host = tt__mem_alloc_data(size))) code = tt__fail_memory(err, size);
  void *to = apart ? host : j->data + j->used;
  if (code == TT_OK && size) code = fetch(d, s, to, made[0].data, size, err);
  if (code == TT_OK) code = join(j, how, &made[0], to, from, err);
  if (host) tt__mem_free_data(host, size);
  tt__exec_lib_close(&use);
  return code;
}

/* Elements [from, from + n) of the operands, come up to `at`. */
static tt_code bring(tt_device *d, int nsrc, const void *const *host, const tt_dtype *dtype, char *at, int64_t from,
                     int64_t n, const int64_t *len, tt_operand *out, tt_error *err) {
  static const int64_t one = 1;
  for (int i = 0; i < nsrc; i++) {
    size_t size = tt__dtype_size(dtype[i]), bytes = size * (size_t)n;
    out[i] = (tt_operand){.data = at, .dtype = dtype[i], .rank = 1, .len = len, .step = &one, .size = n};
    int depth = tt__session_suspend();
    tt_code code =
        tt__staging_in(d, tt__stream_current(d), at, (const char *)host[i] + size * (size_t)from, bytes, err);
    tt__session_resume(depth);
    if (code != TT_OK) return code;
    at += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    TT_COUNT(uploads, 1);
    TT_COUNT(upload_bytes, bytes);
  }
  return TT_OK;
}

static tt_code make_parts(tt_device *d, const tt_lib_maker *m, const tt_lib_attr *attr, int nsrc,
                          const void *const *host, const tt_dtype *dtype, int64_t all, int64_t part, tt_lib_join how,
                          joined *j, tt_error *err) {
  size_t bytes = 0;
  tt_dmem *block;
  for (int i = 0; i < nsrc; i++) bytes += tt__dtype_size(dtype[i]) * (size_t)part + ALIGNED;
  TT_TRY(tt__resident_temp(d, tt__stream_current(d), bytes, &block, err));
  tt_code code = TT_OK;
  for (int64_t from = 0; from < all && code == TT_OK; from += part) {
    int64_t n = all - from < part ? all - from : part;
    tt_operand src[TT_NODE_SRC];
    if (tt__interrupted()) code = tt__fail(err, TT_EINTERRUPT, "interrupted");
    if (code == TT_OK) code = bring(d, nsrc, host, dtype, tt__dmem_at(block), from, n, &n, src, err);
    if (code == TT_OK) code = make_part(d, m, attr, src, from, how, j, err);
    /* The first part says about how much it will be. */
    if (code == TT_OK && from == 0 && all > part && how != TT_JOIN_SUMS)
      code = grow(j, (size_t)(1.1 * (double)j->used * (double)all / (double)part), err);
    TT_COUNT(pieces, 1);
  }
  if (code != TT_OK) (void)!d->ops->stream_wait_idle(d, tt__stream_current(d), NULL);
  tt__dmem_free(d, block);
  return code;
}

static tt_code hand_joined(const tt_lib_maker *m, joined *j, tt_make_result *out, tt_error *err) {
  for (int k = 0; k < m->nout; k++) out[k] = (tt_make_result){.dtype = k ? TT_I64 : j->dtype};
  out[0].n = j->n;
  if (!j->used) return TT_OK;
  char *exact = tt__mem_alloc_data(j->used);
  if (!exact) return tt__fail_memory(err, j->used);
  copy_wide(exact, j->data, j->used);
  out[0].buffer = tt__buffer_adopt(exact, j->used, false, NULL, NULL, err);
  if (out[0].buffer) return TT_OK;
  tt__mem_free_data(exact, j->used);
  return TT_ENOMEM;
}

static double room_of(tt_device *d) {
  int64_t limit = tt__dmem_stats(d).limit, all = d->target.memory_bytes;
  return 0.9 * (double)(limit > 0 && limit < all ? limit : all);
}

/* Have the operands no room? Those that a device computes on the way, or has already, take none; the simulated one
 * has all in memory. */
static bool are_large(tt_device *d, const tt_lib_maker *m, tt_node *const *src) {
  double bytes = 0;
  for (int i = 0; i < m->nsrc; i++) {
    const tt_node *n = src[i];
    bool takes = n->op == TT_N_BUFFER ? !tt__is_resident(d->id, n->attr.buf) : d->target.kind == TT_DEVICE_NULL;
    if (takes) bytes += (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype);
  }
  return bytes > room_of(d);
}

/* TT_ENOTIMPL: it has no pieces. */
static tt_code make_in_pieces(tt_device *d, const tt_lib_maker *m, const tt_lib_attr *attr, tt_node *const *src,
                              tt_make_result *out, tt_error *err) {
  const void *host[TT_NODE_SRC];
  tt_dtype dtype[TT_NODE_SRC];
  double each = 0;
  joined first = {0};
  bool distinct = m->join == TT_JOIN_DISTINCT;
  if (m->join == TT_JOIN_NOT || (distinct && attr->i[0] != 0)) return TT_ENOTIMPL;
  for (int i = 0; i < m->nsrc; i++) {
    tt_node *n = src[i];
    TT_TRY(tt__evaluate(&n, 1, err));
    if (!n->attr.buf->data && n->size) TT_TRY(tt__session_residency->to_host(n->attr.buf, err));
    host[i] = n->attr.buf->data;
    dtype[i] = (tt_dtype)n->dtype;
    each += 4 * (double)tt__dtype_size(dtype[i]) + 16; /* with what a maker takes beside */
  }
  int64_t part = (int64_t)(room_of(d) / each), all = src[0]->size;
  if (part < 1) return TT_ENOTIMPL;
  if (part > INT32_MAX) part = INT32_MAX;
  tt__resident_step(false);
  TT_TRY(tt__batch_flush(err));
  tt_code code = make_parts(d, m, attr, m->nsrc, host, dtype, all, part, m->join, &first, err);
  for (bool more = distinct; code == TT_OK && more;) { /* of what all parts had, as long as that grows less */
    const void *again = first.data;
    joined less = {0};
    more = first.n > part;
    code = make_parts(d, m, attr, 1, &again, dtype, first.n, part, m->join, &less, err);
    if (code == TT_OK && more && less.n > first.n / 2) code = TT_ENOTIMPL; /* the host sorts better than this */
    if (first.room) tt__mem_free_data(first.data, first.room);
    first = less;
  }
  if (code == TT_OK) code = hand_joined(m, &first, out, err);
  if (code == TT_OK) TT_COUNT(streamed, 1);
  if (first.room) tt__mem_free_data(first.data, first.room);
  return code;
}

/* ---- */

static tt_code make_on(const char *name, const tt_lib_attr *attr, tt_node *const *src, int id, tt_make_result *out,
                       tt_error *err) {
  const tt_lib_maker *m = tt__lib_maker(name);
  tt_device *d;
  tt_error why; /* not cleared as a whole: its message is a kilobyte */
  why.code = TT_OK;
  why.message[0] = 0;
  TT_TRY(tt__device_open(id, &d, err));
  if (!m->run_on && !d->target.is_host) return tt__fail(err, TT_ENOTIMPL, "%s runs on the host", name);
  bool large = are_large(d, m, src);
  if (d->target.kind == TT_DEVICE_NULL && (!large || !m->join))
    return tt__fail(err, TT_ENOTIMPL, "%s runs on the host", name);
  tt_code code = large && m->join ? TT_ENOMEM : make_whole(d, m, attr, src, out, &why);
  if (code == TT_ENOMEM) {
    tt_code pieces = make_in_pieces(d, m, attr, src, out, &why);
    if (pieces != TT_ENOTIMPL) code = pieces;
  }
  if (code == TT_OK) {
    TT_COUNT(library_calls, 1);
    return TT_OK;
  }
  if (code == TT_ENOMEM && tt__session_strict_fallback)
    return tt__fail(err, TT_ESTRICT, "strict: a fallback to the host is not allowed (%.900s)", why.message);
  TT_COUNT(fallbacks, code == TT_ENOMEM);
  if (err) *err = why;
  return code == TT_ENOMEM ? TT_ENOTIMPL : code; /* the host has more room */
}

__attribute__((constructor)) static void register_maker(void) { tt__session_make = make_on; }
