/*
** Makers on devices: library functions whose results have a size that their values decide, run when they are recorded.
** Their operands need not lie in memory: what computes them element by element becomes part of the maker's kernel.
*/
#include <string.h>

#include "graph/build.h"
#include "graph/session.h"
#include "device/current.h"
#include "device/device.h"
#include "run/exec_device.h"
#include "run/queue.h"
#include "run/realize.h"
#include "run/residency.h"

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
static tt_code feed_of(const tt_lib_maker *m, tt_device *d, tt_node *const *src, tt_feed *out, tt_error *err) {
  tt_node *root[TT_NODE_SRC];
  bool pending = false;
  int have = 0;
  for (int i = 0; i < m->nsrc; i++) {
    tt_node *n = src[i];
    if (n->flags & TT_NODE_SEEN) TT_TRY(tt__evaluate(&n, 1, err));
    pending |= n->op != TT_N_BUFFER;
  }
  if (!m->fed || !pending) return tt__fail(err, TT_ENOTIMPL, "%s reads memory", m->name);
  for (; have < m->nsrc; have++) {
    tt_node *n = src[have];
    int64_t dense[TT_MAX_RANK];
    tt__shape_steps(n->rank, n->dim, dense);
    root[have] = n->op == TT_N_BUFFER ? tt__node_view_plain(n, n->rank, n->dim, dense, 0, err) : tt__node_retain(n);
    if (!root[have]) break;
  }
  tt_code code = have == m->nsrc ? tt__realize_feed(root, have, d, out, err) : TT_ENOMEM;
  while (have > 0) tt__node_release(root[--have]);
  return code;
}

static tt_code operands_of(const tt_lib_maker *m, tt_device *d, tt_node *const *src, bool fed, tt_operand *out,
                           int64_t (*dense)[TT_MAX_RANK], tt_error *err) {
  for (int i = 0; i < m->nsrc && !fed; i++) {
    tt_node *n = src[i];
    TT_TRY(tt__evaluate(&n, 1, err));
  }
  if (!fed) tt__resident_step(false); /* what one operand needs does not move another one out */
  for (int i = 0; i < m->nsrc; i++) {
    tt_node *n = src[i];
    void *at = NULL;
    if (!fed) TT_TRY(tt__resident(d, tt__stream_current(d), n->attr.buf, &at, err));
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

static tt_code make_on(const char *name, const tt_lib_attr *attr, tt_node *const *src, int id, tt_make_result *out,
                       tt_error *err) {
  const tt_lib_maker *m = tt__lib_maker(name);
  tt_device *d;
  tt_operand operand[TT_NODE_SRC];
  int64_t dense[TT_NODE_SRC][TT_MAX_RANK];
  tt_made made[TT_NODE_SRC] = {{0}};
  tt_feed feed = {.lib.text = NULL};
  tt_error why = {0};
  TT_TRY(tt__device_open(id, &d, err));
  if (!m->run_on || d->target.kind == TT_DEVICE_NULL) return tt__fail(err, TT_ENOTIMPL, "%s runs on the host", name);
  tt_code code = feed_of(m, d, src, &feed, &why);
  bool fed = code == TT_OK;
  if (code == TT_ENOTIMPL) code = TT_OK;
  if (code != TT_OK && err) *err = why;
  if (code == TT_OK) code = operands_of(m, d, src, fed, operand, dense, err);
  if (code == TT_OK) code = tt__queue_flush(err);
  tt_lib_use use;
  tt__exec_lib_open(&use, d, tt__stream_current(d));
  use.on.result = use.on.temp;
  use.on.shrink = shrink;
  use.on.feed = fed ? &feed.lib : NULL;
  if (code == TT_OK) code = m->run_on(&use.on, attr, operand, made, err);
  if (code == TT_OK) code = hand_over(m, &use, made, out, err);
  tt__exec_lib_close(&use);
  tt__feed_free(&feed);
  if (code == TT_OK) {
    TT_COUNT(library_calls, 1);
    return TT_OK;
  }
  for (int k = 0; k < m->nout; k++) tt__buffer_release(out[k].buffer);
  memset(out, 0, sizeof *out * (size_t)m->nout);
  return code;
}

__attribute__((constructor)) static void register_maker(void) { tt__session_make = make_on; }
