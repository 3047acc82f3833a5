/*
** Running steps on a device; see exec_device.h.
*/
#include "run/device/exec_device.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "device/streams.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/outofcore/double_buffer.h"
#include "run/copy_around.h"
#include "run/machine/library_pace.h"
#include "run/device/device_code.h"
#include "run/device/host_rows.h"
#include "run/device/later.h"
#include "run/memory.h"
#include "run/report/profile.h"
#include "run/device/batch.h"
#include "run/residency.h"

#define MOST_BUFFERS 64
#define MOST_ARGS 32768
#define ALIGNED 256 /* what the allocator's memory is aligned to, at least */

/* How a launch runs on one device, decided once. */
typedef struct tt_launch_on {
  struct tt_launch_on *next;
  tt_device *device;
  bool aligned; /* made for operands that are all aligned */
  tt_code code; /* TT_ENOTIMPL: the host must run it */
  tt_cut cut;
  tt_routine *routine[TT_MOST_PASSES]; /* NULL: not asked for yet */
} tt_launch_on;

/* The simulated device reads a launch when it comes to it. */
static void settle_null(const tt_launch *l) {
  if (l->origin.what[0]) (void)!tt__batch_flush(NULL);
  for (int i = 0; l->origin.what[0] && i < tt__device_count(TT_DEVICE_NULL, NULL, 0); i++) {
    tt_device *d = tt__device_peek(tt__device_id(TT_DEVICE_NULL, i));
    if (d) (void)!d->ops->wait_all(d, NULL);
  }
}

void tt__exec_forget(tt_launch *l) {
  settle_null(l);
  while (l->on) {
    tt_launch_on *next = l->on->next;
    tt__mem_free(l->on, sizeof *l->on);
    l->on = next;
  }
}

/* ---- results */

typedef struct result {
  tt_buffer *buffer;
  void *at;
  uint64_t border; /* what a store left of other memory; 0: it is no such store */
} result;

static tt_code new_result(tt_device *d, tt_stream *s, const tt_node *n, result *out, tt_error *err) {
  size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
  return tt__resident_new(d, s, size, n, &out->buffer, &out->at, err);
}

/* With what a STORE or SCATTER leaves of the value it writes over. */
static tt_code stored_result(tt_device *d, tt_stream *s, tt_node *n, tt_buffer *base, result *out, tt_error *err) {
  tt_stored stored = {.item = (int64_t)tt__dtype_size((tt_dtype)n->dtype), .size = base->size};
  void *from;
  TT_TRY(tt__resident(d, s, base, &from, err));
  TT_COUNT(kept_bytes, (int64_t)base->size);
  if (n->op != TT_N_STORE || !tt__memory_runs(n, &stored.runs)) {
    TT_TRY(new_result(d, s, n, out, err));
    TT_TRY(tt__batch_flush(err));
    return d->ops->copy_within(d, s, out->at, from, base->size, err);
  }
  out->border = tt__double_buffer_of(d, s, base, &stored);
  tt_dmem *block = tt__double_buffer_take(out->border);
  if (block) {
    out->at = tt__dmem_at(block);
    return tt__resident_adopt(d, s, block, stored.size, n, &out->buffer, err);
  }
  TT_TRY(new_result(d, s, n, out, err));
  return tt__copy_around(d, s, &stored.runs, stored.item, (int64_t)stored.size, out->at, from, err);
}

static tt_code result_of(tt_device *d, tt_stream *s, const tt_walk *walk, const tt_proot *root, tt_buffer *donor,
                         result *out, tt_error *err) {
  tt_node *n = walk->node[root->node];
  if (donor && !donor->drop) {
    out->buffer = tt__buffer_retain(donor);
    return tt__resident(d, s, donor, &out->at, err);
  }
  if (root->base < 0) return new_result(d, s, n, out, err);
  return stored_result(d, s, n, walk->node[root->base]->attr.buf, out, err);
}

/* One result per root; on failure those made so far stand in `out`, the others are NULL. */
static tt_code results_of(tt_device *d, tt_stream *s, const tt_walk *walk, const tt_step *step, result *out,
                          tt_error *err) {
  tt_buffer *donor[TT_MOST_ROOTS];
  memset(out, 0, sizeof *out * (size_t)step->nroot);
  tt__memory_donors(walk, step, donor);
  for (int r = 0; r < step->nroot; r++) TT_TRY(result_of(d, s, walk, &step->root[r], donor[r], &out[r], err));
  return TT_OK;
}

static void hand_over(tt_device *d, const tt_walk *walk, const tt_step *step, const result *out, bool good) {
  for (int r = 0; r < step->nroot; r++) {
    if (!out[r].buffer) continue;
    if (good) {
      tt__resident_written(d, out[r].buffer);
      tt__resident_set_border(d, out[r].buffer, out[r].border);
      tt__node_settle(walk->node[step->root[r].node], out[r].buffer);
    } else {
      tt__buffer_release(out[r].buffer);
    }
  }
}

/* ---- launches */

typedef struct bound {
  void *buf[MOST_BUFFERS];
  int64_t buf_len[MOST_BUFFERS];
  size_t align[MOST_BUFFERS];
  bool aligned;
} bound;

static tt_code bind(tt_device *d, tt_stream *s, const tt_walk *walk, const tt_step *step, const result *res, bound *b,
                    tt_error *err) {
  const tt_launch *launch = step->launch;
  const tt_lowered *l = launch->lowered;
  b->aligned = true;
  for (int i = 0; i < launch->unit->kernel->nbuf; i++) {
    const tt_poperand *o = &step->operand[l->buf_operand[i]];
    const tt_node *n = walk->node[o->node];
    b->buf_len[i] = n->size * l->buf_parts[i];
    if (o->write) {
      for (int r = 0; r < step->nroot; r++)
        if (step->root[r].operand == l->buf_operand[i]) b->buf[i] = res[r].at;
    } else {
      TT_TRY(tt__resident(d, s, n->attr.buf, &b->buf[i], err));
    }
    uintptr_t at = (uintptr_t)b->buf[i];
    b->align[i] = at ? (size_t)(at & (~at + 1)) : ALIGNED;
    if (b->align[i] > ALIGNED) b->align[i] = ALIGNED;
    b->aligned &= b->align[i] == ALIGNED;
  }
  return TT_OK;
}

/* The cut of a launch: found, or made and kept when all operands are aligned as ours always are. */
static tt_code cut_launch(tt_device *d, tt_launch *launch, const bound *b, tt_launch_on **out, tt_error *err) {
  for (tt_launch_on *on = launch->on; on; on = on->next) {
    if (on->device != d || on->aligned != b->aligned || !b->aligned) continue;
    *out = on;
    return on->code == TT_OK ? TT_OK : tt__fail(err, on->code, "this kernel runs on the host");
  }
  tt_launch_on *on = tt__mem_zalloc(sizeof *on);
  if (!on) return tt__fail_memory(err, sizeof *on);
  const tt_kernel *k = launch->unit->kernel;
  on->device = d;
  on->aligned = b->aligned;
  tt_code code = tt__gpu_schedule(k, launch->lowered, &d->target, b->align, b->buf_len, &on->cut, err);
  on->code = code;
  if (code != TT_OK && code != TT_ENOTIMPL) {
    tt__mem_free(on, sizeof *on);
    return code;
  }
  on->next = launch->on;
  launch->on = on;
  *out = on;
  return code;
}

/* And its code. What the compiler will not have is the host's from then on. */
static tt_code prepare(tt_device *d, tt_launch *launch, const bound *b, tt_launch_on **out, tt_error *err) {
  TT_TRY(cut_launch(d, launch, b, out, err));
  tt_code code = TT_OK;
  for (int p = 0; code == TT_OK && p < (*out)->cut.npass; p++)
    if (!(*out)->routine[p])
      code = tt__device_kernel(d, launch->unit->kernel, &(*out)->cut.pass[p].variant, &(*out)->routine[p], err);
  if (code == TT_ENOTIMPL) (*out)->code = code;
  return code;
}

/* A cut that was made for this once. */
static void drop_cut(tt_launch *launch, tt_launch_on *on, const bound *b) {
  if (!on || b->aligned || launch->on != on) return;
  launch->on = on->next;
  tt__mem_free(on, sizeof *on);
}

/* Checked kernels: wait, and look. */
static tt_code look_for_fault(tt_device *d, tt_stream *s, void *at, tt_error *err) {
  tt_kfault fault = {0, 0, 0};
  TT_TRY(tt__batch_flush(err));
  TT_TRY(d->ops->copy_out(d, s, &fault, at, sizeof fault, err));
  TT_TRY(d->ops->stream_wait_idle(d, s, err));
  return fault.access ? tt__exec_fault(&fault, err) : TT_OK;
}

static tt_code launch_passes(tt_device *d, tt_stream *s, const tt_walk *walk, const tt_step *step, tt_launch_on *on,
                             const bound *b, tt_error *err) {
  const tt_launch *launch = step->launch;
  const tt_kernel *k = launch->unit->kernel;
  size_t size = tt__threads_args_size(k);
  _Alignas(16) char args[MOST_ARGS];
  tt_scalar scalar[256];
  tt_dmem *block = NULL;
  if (size > sizeof args || k->nscalar > 256) return tt__fail(err, TT_ENOTIMPL, "too many arguments for a launch");
  TT_TRY(tt__exec_scalars(walk, step, launch, scalar, err));
  bool is_far = on->cut.pass[0].variant.far;
  bool need = on->cut.work_bytes || k->checked || is_far;
  size_t args_at = (on->cut.work_bytes + sizeof(tt_kfault) + 255) & ~(size_t)255;
  if (need) TT_TRY(tt__resident_temp(d, s, args_at + (is_far ? size : 0), &block, err));
  void *work = block ? tt__dmem_at(block) : NULL;
  char *fault = k->checked ? (char *)work + on->cut.work_bytes : NULL, *far = is_far ? (char *)work + args_at : NULL;
  tt_code code = TT_OK;
  if (is_far) code = tt__batch_flush(err); /* their arguments are copied up first */
  if (code == TT_OK && on->cut.zero_bytes) code = tt__batch_zero(d, s, work, on->cut.zero_bytes, err);
  if (code == TT_OK && fault) code = tt__batch_zero(d, s, fault, sizeof(tt_kfault), err);
  for (int p = 0; code == TT_OK && p < on->cut.npass; p++) {
    const tt_pass *pass = &on->cut.pass[p];
    tt__threads_args(k, launch->lowered, pass, b->buf, b->buf_len, scalar, work, fault, args);
    if (pass->variant.far) {
      code = d->ops->copy_in(d, s, far, args, size, err);
      if (code == TT_OK) code = tt__batch_launch(d, s, on->routine[p], &pass->grid, &far, sizeof far, err);
    } else {
      code = tt__batch_launch(d, s, on->routine[p], &pass->grid, args, size, err);
    }
  }
  if (code == TT_OK && fault) code = look_for_fault(d, s, fault, err);
  if (block) tt__dmem_free(d, block);
  return code;
}

/* ---- the null device runs the interpreter */

typedef struct null_args {
  tt_null_launch head;
  const tt_launch *launch;
  void *buf[MOST_BUFFERS];
  int64_t buf_len[MOST_BUFFERS];
  tt_scalar scalar[32];
} null_args;

static void run_null(const void *args) {
  null_args a;
  memcpy(&a, args, sizeof a);
  tt_kfault fault = {0, 0, 0};
  const tt_lowered *l = a.launch->lowered;
  tt_kargs kargs = {.buf = a.buf,
                    .buf_len = a.buf_len,
                    .len = l->len,
                    .off = l->off,
                    .step = l->step,
                    .scalar = a.scalar,
                    .fault = &fault};
  tt_code code = tt__exec_launch(a.launch, &kargs, NULL, false, NULL);
  (void)code;
}

tt_code tt__exec_null(tt_device *d, tt_stream *s, const tt_launch *launch, void *const *buf, const int64_t *buf_len,
                      const tt_scalar *scalar, bool gathered, tt_error *err) {
  const tt_kernel *k = launch->unit->kernel;
  null_args a = {.head = {.run = run_null, .us = launch->work.points / 1e5}, .launch = launch};
  if (k->nscalar > 32) return tt__fail(err, TT_ENOTIMPL, "too many arguments for a launch");
  memcpy(a.buf, buf, sizeof *buf * (size_t)k->nbuf);
  memcpy(a.buf_len, buf_len, sizeof *buf_len * (size_t)k->nbuf);
  memcpy(a.scalar, scalar, sizeof *scalar * (size_t)k->nscalar);
  tt_grid grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  if (!gathered) return d->ops->launch(d, s, NULL, &grid, &a, sizeof a, err);
  return tt__batch_launch(d, s, NULL, &grid, &a, sizeof a, err);
}

static tt_code launch_null(tt_device *d, tt_stream *s, const tt_walk *walk, const tt_step *step, const bound *b,
                           tt_error *err) {
  const tt_launch *launch = step->launch;
  tt_scalar scalar[256];
  if (launch->unit->kernel->nscalar > 256) return tt__fail(err, TT_ENOTIMPL, "too many arguments for a launch");
  TT_TRY(tt__exec_scalars(walk, step, launch, scalar, err));
  return tt__exec_null(d, s, launch, b->buf, b->buf_len, scalar, true, err);
}

/* ---- the null device, several launches of a kernel: the same by a table */

/* A step of several that are one launch. */
typedef struct member {
  const tt_step *step;
  tt_pass pass;
  bound bound;
  result res[TT_MOST_ROOTS];
  bool listed; /* in a table */
} member;

typedef struct null_table {
  tt_null_launch head;
  const tt_step *step;
  const char *row; /* in device memory, or NULL: behind this. Scalars, then addresses and lengths of the operands */
  int n;
} null_table;

static size_t null_row_size(const tt_kernel *k) {
  return (size_t)k->nbuf * (sizeof(void *) + sizeof(int64_t)) + (size_t)k->nscalar * sizeof(tt_scalar);
}

static void run_null_many(const void *args) {
  null_table t;
  memcpy(&t, args, sizeof t);
  if (!t.row) t.row = (const char *)args + sizeof t;
  const tt_kernel *k = ((const tt_launch *)t.step->launch)->unit->kernel;
  for (int i = 0; i < t.n; i++, t.row += null_row_size(k)) {
    const tt_launch *launch = t.step[i].launch;
    tt_kfault fault = {0, 0, 0};
    tt_kargs a = {.scalar = (const tt_scalar *)t.row, .fault = &fault};
    a.buf = (void *const *)(t.row + sizeof(tt_scalar) * (size_t)k->nscalar);
    a.buf_len = (const int64_t *)(a.buf + k->nbuf);
    a.len = launch->lowered->len;
    a.off = launch->lowered->off;
    a.step = launch->lowered->step;
    (void)!tt__exec_launch(launch, &a, NULL, false, NULL);
  }
}

static tt_code launch_null_many(tt_device *d, tt_stream *s, const tt_walk *walk, const member *m, int n, int *launches,
                                tt_error *err) {
  const tt_launch *first = m->step->launch;
  const tt_kernel *k = first->unit->kernel;
  size_t row = null_row_size(k), size = row * (size_t)n, scalars = sizeof(tt_scalar) * (size_t)k->nscalar;
  null_table t = {.head = {.run = run_null_many, .us = first->work.points * n / 1e5}, .step = m->step, .n = n};
  tt_grid grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  tt_dmem *block = NULL;
  size_t all = sizeof t + size;
  char *table = tt__mem_zalloc(all);
  if (!table) return tt__fail_memory(err, all);
  tt_code code = TT_OK;
  for (int i = 0; i < n && code == TT_OK; i++) {
    char *at = table + sizeof t + row * (size_t)i;
    size_t pointers = sizeof(void *) * (size_t)k->nbuf;
    code = tt__exec_scalars(walk, m[i].step, m[i].step->launch, (tt_scalar *)at, err);
    memcpy(at + scalars, m[i].bound.buf, pointers);
    memcpy(at + scalars + pointers, m[i].bound.buf_len, sizeof(int64_t) * (size_t)k->nbuf);
  }
  bool far = (int64_t)all > d->target.param_bytes;
  if (code == TT_OK && far) code = tt__resident_temp(d, s, size, &block, err);
  if (code == TT_OK && far) code = tt__batch_flush(err); /* it is copied up first */
  if (code == TT_OK && far) code = d->ops->copy_in(d, s, tt__dmem_at(block), table + sizeof t, size, err);
  if (block) t.row = tt__dmem_at(block);
  memcpy(table, &t, sizeof t);
  if (code == TT_OK) code = tt__batch_launch(d, s, NULL, &grid, table, far ? sizeof t : all, err);
  if (code == TT_OK) ++*launches;
  if (block) tt__dmem_free(d, block);
  tt__mem_free(table, all);
  return code;
}

const tt_origin *tt__exec_origin(const tt_walk *walk, const tt_step *step) {
  tt_launch *l = step->launch;
  const tt_node *n = walk->node[step->root[0].node];
  if (!l->origin.what[0]) {
    char name[28];
    tt__profile_name(step, name, sizeof name);
    snprintf(l->origin.what, sizeof l->origin.what, "%s of %s[%lld]", name, tt__dtypes[n->dtype].name,
             (long long)n->size);
  }
  if (l->line != n->line) tt__session_line_name(l->line = n->line, l->origin.where, sizeof l->origin.where);
  return &l->origin;
}

static tt_code exec_kernel_on(tt_device *d, const tt_walk *walk, const tt_step *step, tt_error *err) {
  tt_launch *launch = step->launch;
  tt_stream *s = tt__stream_current(d);
  result res[TT_MOST_ROOTS];
  bound b;
  tt_launch_on *on = NULL;
  int64_t start = tt__profile_on ? tt__clock_ns() : 0;
  const tt_origin *before = tt__origin_use(tt__exec_origin(walk, step));
  tt_code code = results_of(d, s, walk, step, res, err);
  if (code == TT_OK) code = bind(d, s, walk, step, res, &b, err);
  if (code == TT_OK && d->target.kind == TT_DEVICE_NULL) {
    code = launch_null(d, s, walk, step, &b, err);
  } else if (code == TT_OK) {
    code = prepare(d, launch, &b, &on, err);
    if (code == TT_OK) code = launch_passes(d, s, walk, step, on, &b, err);
    if (code == TT_OK) code = tt__batch_failed(err); /* giving memory back may have asked for it already */
  }
  if (code == TT_OK) {
    TT_COUNT(launches, 1);
    TT_COUNT(device_launches, 1);
    TT_COUNT(bytes_read, launch->work.bytes_read);
    TT_COUNT(bytes_written, launch->work.bytes_written);
    if (tt__profile_on) {
      code = tt__batch_flush(err);
      if (code == TT_OK) code = d->ops->stream_wait_idle(d, s, err);
      tt__profile_add(step, true, start, tt__clock_ns());
    }
  }
  tt__origin_use(before);
  hand_over(d, walk, step, res, code == TT_OK);
  drop_cut(launch, on, &b);
  return code;
}

/* ---- several steps as one launch */

/* Rows that a table of `n` has room for: few sizes, for each is a text of its own. 0: it lies in device memory. */
static int table_rows(const tt_kernel *k, const tt_device *d, int n) {
  int most = (int)(((size_t)d->target.param_bytes - 8) / tt__threads_row_size(k)), rows = 8;
  if (most > UINT8_MAX) most = UINT8_MAX;
  while (rows < n) rows *= 4;
  return rows <= most ? rows : n <= most ? most : 0;
}

/* Those of the members, from `first` on, that one launch can do; they are marked as listed. */
static int same_table(member *m, int n, int first, int32_t *list) {
  int have = 0;
  for (int i = first; i < n; i++) {
    const tt_pass *p = &m[i].pass, *q = &m[first].pass;
    if (m[i].listed || memcmp(&p->variant, &q->variant, sizeof p->variant) != 0 ||
        memcmp(p->grid.block, q->grid.block, sizeof p->grid.block) != 0)
      continue;
    m[i].listed = true;
    list[have++] = i;
  }
  return have;
}

static tt_code fill_table(const tt_walk *walk, const member *m, const int32_t *list, int n, char *row, uint32_t *blocks,
                          tt_error *err) {
  const tt_kernel *k = ((const tt_launch *)m->step->launch)->unit->kernel;
  size_t size = tt__threads_row_size(k);
  tt_scalar scalar[256];
  *blocks = 0;
  for (int i = 0; i < n; i++, row += size) {
    const member *x = &m[list[i]];
    const tt_launch *l = x->step->launch;
    TT_TRY(tt__exec_scalars(walk, x->step, l, scalar, err));
    tt__threads_args(k, l->lowered, &x->pass, x->bound.buf, x->bound.buf_len, scalar, NULL, NULL, row);
    tt__threads_row_blocks(k, *blocks, x->pass.grid.grid[0], row);
    *blocks += x->pass.grid.grid[0];
  }
  return TT_OK;
}

/* A table that is ready to be launched. */
typedef struct table {
  tt_routine *routine;
  tt_grid grid;
  char *bytes; /* what goes with the launch; of a table in device memory its head */
  size_t size, room;
  tt_dmem *block;
} table;

/* In device memory: there are more rows than go with a launch. */
static tt_code copy_table(tt_device *d, tt_stream *s, table *t, int n, tt_error *err) {
  int64_t head[2] = {n, 0};
  TT_TRY(tt__resident_temp(d, s, t->room, &t->block, err));
  TT_TRY(tt__batch_flush(err));
  TT_TRY(d->ops->copy_in(d, s, tt__dmem_at(t->block), t->bytes + 8, t->room - 8, err));
  head[1] = (int64_t)(intptr_t)tt__dmem_at(t->block);
  memcpy(t->bytes, head, sizeof head);
  t->size = sizeof head;
  return TT_OK;
}

static tt_code make_table(tt_device *d, tt_stream *s, const tt_walk *walk, const member *m, const int32_t *list, int n,
                          table *t, tt_error *err) {
  const tt_kernel *k = ((const tt_launch *)m->step->launch)->unit->kernel;
  int rows = table_rows(k, d, n);
  tt_variant v = m[list[0]].pass.variant;
  int64_t number = n;
  v.many = (uint8_t)(rows ? rows : 1);
  v.far = !rows;
  TT_TRY(tt__device_kernel(d, k, &v, &t->routine, err));
  t->size = t->room = 8 + tt__threads_row_size(k) * (size_t)(rows ? rows : n);
  t->bytes = tt__mem_zalloc(t->room);
  if (!t->bytes) return tt__fail_memory(err, t->room);
  memcpy(t->bytes, &number, sizeof number);
  t->grid = m[list[0]].pass.grid;
  t->grid.pointers = 0;
  TT_TRY(fill_table(walk, m, list, n, t->bytes + 8, &t->grid.grid[0], err));
  return rows ? TT_OK : copy_table(d, s, t, n, err);
}

/* How each of them would be launched alone; TT_ENOTIMPL when one must be. */
static tt_code cut_members(tt_device *d, member *m, int n, tt_error *err) {
  tt_code code = TT_OK;
  if (d->target.handles) return tt__fail(err, TT_ENOTIMPL, "a table has addresses in memory");
  for (int i = 0; i < n && code == TT_OK; i++) {
    tt_launch *launch = m[i].step->launch;
    tt_launch_on *on = NULL;
    code = cut_launch(d, launch, &m[i].bound, &on, err);
    if (code == TT_OK && !tt__threads_joins(launch->unit->kernel, launch->lowered, &on->cut, &m[i].pass))
      code = tt__fail(err, TT_ENOTIMPL, "launches of their own");
    drop_cut(launch, on, &m[i].bound);
  }
  return code;
}

/* Nothing is launched before all tables are made: a launch may write where its operands lie. */
static tt_code launch_members(tt_device *d, tt_stream *s, const tt_walk *walk, member *m, int n, int *launches,
                              tt_error *err) {
  size_t size = (sizeof(table) + sizeof(int32_t)) * (size_t)n;
  TT_TRY(cut_members(d, m, n, err));
  table *t = tt__mem_zalloc(size);
  if (!t) return tt__fail_memory(err, size);
  int32_t *list = (int32_t *)(t + n);
  tt_code code = TT_OK;
  int made = 0;
  for (int i = 0; i < n && code == TT_OK; i++)
    if (!m[i].listed) code = make_table(d, s, walk, m, list, same_table(m, n, i, list), &t[made++], err);
  for (int i = 0; i < made && code == TT_OK; i++, ++*launches)
    code = tt__batch_launch(d, s, t[i].routine, &t[i].grid, t[i].bytes, t[i].size, err);
  for (int i = 0; i < made; i++) {
    if (t[i].block) tt__dmem_free(d, t[i].block);
    tt__mem_free(t[i].bytes, t[i].bytes ? t[i].room : 0);
  }
  tt__mem_free(t, size);
  return code;
}

static tt_code run_members(tt_device *d, const tt_walk *walk, const tt_step *step, member *m, int n, tt_error *err) {
  tt_stream *s = tt__stream_current(d);
  tt_code code = TT_OK;
  int launches = 0;
  for (int i = 0; i < n && code == TT_OK; i++) {
    m[i].step = &step[i];
    code = results_of(d, s, walk, &step[i], m[i].res, err);
    if (code == TT_OK) code = bind(d, s, walk, &step[i], m[i].res, &m[i].bound, err);
  }
  if (code == TT_OK && d->target.kind == TT_DEVICE_NULL)
    code = launch_null_many(d, s, walk, m, n, &launches, err);
  else if (code == TT_OK)
    code = launch_members(d, s, walk, m, n, &launches, err);
  if (code == TT_OK) code = tt__batch_failed(err); /* giving memory back may have asked for it already */
  if (code != TT_OK) return code;
  TT_COUNT(launches, launches);
  TT_COUNT(device_launches, launches);
  for (int i = 0; i < n; i++) {
    const tt_launch *launch = step[i].launch;
    TT_COUNT(bytes_read, launch->work.bytes_read);
    TT_COUNT(bytes_written, launch->work.bytes_written);
  }
  return TT_OK;
}

tt_code tt__exec_many_on(tt_device *d, const tt_walk *walk, const tt_step *step, int n, tt_error *err) {
  const tt_kernel *k = ((const tt_launch *)step->launch)->unit->kernel;
  assert(n > 1 && n <= step->many);
  if (k->nscalar > 256) return tt__fail(err, TT_ENOTIMPL, "too many arguments for a launch");
  size_t size = sizeof(member) * (size_t)n;
  member *m = tt__mem_zalloc(size);
  if (!m) return tt__fail_memory(err, size);
  int64_t start = tt__profile_on ? tt__clock_ns() : 0;
  const tt_origin *before = tt__origin_use(tt__exec_origin(walk, step));
  tt_code code = run_members(d, walk, step, m, n, err);
  if (code == TT_OK && tt__profile_on) {
    code = tt__batch_flush(err);
    if (code == TT_OK) code = d->ops->stream_wait_idle(d, tt__stream_current(d), err);
    tt__profile_add_many(step, n, true, start, tt__clock_ns());
  }
  tt__origin_use(before);
  for (int i = 0; i < n; i++)
    if (m[i].step) hand_over(d, walk, &step[i], m[i].res, code == TT_OK);
  tt__mem_free(m, size);
  return code;
}

/* ---- library steps */

static tt_code lib_temp(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  tt_lib_use *u = (tt_lib_use *)(uintptr_t)on;
  if (u->ntemp == u->cap) {
    size_t old = sizeof *u->temp * (size_t)u->cap;
    tt_dmem **more = tt__mem_alloc(old + 16 * sizeof *more);
    if (!more) return tt__fail_memory(err, old);
    if (u->ntemp) memcpy(more, u->temp, old);
    tt__mem_free(u->temp, old);
    u->temp = more;
    u->cap += 16;
  }
  TT_TRY(tt__resident_temp(on->device, on->stream, size, &u->temp[u->ntemp], err));
  if (u->ntemp < TT_LATER_TEMPS) u->first[u->ntemp] = size;
  *out = tt__dmem_at(u->temp[u->ntemp++]);
  return TT_OK;
}

static tt_code lib_routine(const tt_lib_device *on, const char *source, tt_scalar_text scalar, const char *name,
                           tt_routine **out, tt_error *err) {
  return tt__device_text(on->device, source, scalar, name, out, err);
}

static tt_code lib_read(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err) {
  tt_device *d = on->device;
  TT_TRY(d->ops->copy_out(d, on->stream, to, from, size, err));
  TT_COUNT(syncs, 1);
  return d->ops->stream_wait_idle(d, on->stream, err);
}

void tt__exec_lib_open(tt_lib_use *u, tt_device *d, tt_stream *s) {
  *u = (tt_lib_use){.on = {.device = d, .stream = s, .temp = lib_temp, .routine = lib_routine, .read = lib_read}};
}

void tt__exec_lib_close(tt_lib_use *u) {
  for (int i = 0; i < u->ntemp; i++) tt__dmem_free(u->on.device, u->temp[i]);
  tt__mem_free(u->temp, sizeof *u->temp * (size_t)u->cap);
}

/* The operands of a library step on the device, and how many bytes they have. */
static tt_code library_operands(tt_device *d, tt_stream *s, const tt_walk *walk, const tt_step *step, tt_operand *src,
                                int64_t *bytes, tt_error *err) {
  *bytes = 0;
  for (int i = 0; i < step->nsrc; i++) {
    const tt_plib_src *p = &step->src[i];
    tt_node *n = walk->node[p->node];
    size_t size = tt__dtype_size((tt_dtype)n->dtype);
    void *at;
    TT_TRY(tt__resident(d, s, n->attr.buf, &at, err));
    src[i] = (tt_operand){.dtype = (tt_dtype)n->dtype, .rank = p->rank, .len = p->len, .step = p->step, .size = 1};
    src[i].data = (char *)at + p->off * (int64_t)size;
    for (int k = 0; k < p->rank; k++) src[i].size *= p->len[k];
    *bytes += src[i].size * (int64_t)size;
  }
  return TT_OK;
}

/*
** The row's work, with what is done to its result on the way: gathered if it was done before, else asked for now. Its
** kernels and the vendor's are called by their own names, and where they come from is the line of `n`.
*/
static tt_code run_row(tt_device *d, tt_stream *s, const tt_step *step, const tt_node *n, const tt_later_call *call,
                       tt_error *err) {
  tt_later_known *known = step->known;
  tt_origin o = {.what = ""};
  tt__session_line_name(n->line, o.where, sizeof o.where);
  const tt_origin *before = tt__origin_use(&o);
  tt_code code;
  if (known && !tt__profile_on && tt__later_knows(known, d, call)) {
    code = tt__later_gather(known, d, s, call, err);
  } else if ((code = tt__batch_flush(err)) == TT_OK && d->target.is_host) {
    code = tt__host_row(d, s, call->attr, call->src, step->nsrc, call->out, err);
  } else if (code == TT_OK) { /* what computes the operands is asked for before it */
    const tt_lib_row *row = call->attr->row;
    tt_lib_use u;
    tt__exec_lib_open(&u, d, s);
    code = call->then ? row->run_on_then(&u.on, call->attr, call->src, call->out, call->epilogue, call->term, err)
                      : row->run_on(&u.on, call->attr, call->src, call->out, err);
    if (code == TT_OK && known) tt__later_learn(known, d, call, u.first, u.ntemp);
    tt__exec_lib_close(&u);
  }
  tt__origin_use(before);
  return code;
}

/* What a library step did stands in the ledger and in the profile. */
static tt_code library_ran(tt_device *d, tt_stream *s, const tt_step *step, const tt_cost_call *call, int64_t read,
                           int64_t written, int64_t start, tt_error *err) {
  TT_COUNT(library_calls, 1);
  TT_COUNT(bytes_read, read);
  TT_COUNT(bytes_written, written);
  if (!tt__profile_on) return tt__library_took(call, d, 0), TT_OK;
  TT_TRY(d->ops->stream_wait_idle(d, s, err));
  int64_t end = tt__clock_ns();
  tt__library_took(call, d, (double)(end - start));
  tt__profile_add(step, true, start, end);
  return TT_OK;
}

static tt_code exec_library_on(tt_device *d, const tt_walk *walk, const tt_step *step, tt_error *err) {
  const tt_node *lib = walk->node[step->lib];
  const tt_lib_row *row = lib->attr.lib->row;
  tt_operand src[TT_NODE_SRC];
  tt_block out[TT_MOST_ROOTS] = {{0}};
  result res[TT_MOST_ROOTS] = {{0}};
  tt_stream *s = tt__stream_current(d);
  int64_t read, written = 0, start = 0;
  if (!d->target.is_host && (!row->run_on || d->target.kind == TT_DEVICE_NULL))
    return tt__fail(err, TT_ENOTIMPL, "%s runs on the host", row->name);
  const tt_cost_call call = tt__cost_call(walk, step);
  tt_code code = library_operands(d, s, walk, step, src, &read, err);
  for (int r = 0; code == TT_OK && r < step->nroot; r++) {
    tt_node *n = walk->node[step->root[r].node];
    size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
    code = tt__resident_new(d, s, size, n, &res[r].buffer, &res[r].at, err);
    out[n->attr.pick] = (tt_block){
        .data = res[r].at, .dtype = (tt_dtype)n->dtype, .rank = n->rank, .len = tt__node_len(n), .size = n->size};
    written += (int64_t)size;
  }
  if (code == TT_OK && tt__profile_on) { /* what comes before is not its */
    code = tt__batch_flush(err);
    if (code == TT_OK) code = d->ops->stream_wait_idle(d, s, err);
    start = tt__clock_ns();
  }
  if (code == TT_OK) {
    tt_later_call c = {.attr = lib->attr.lib, .src = src, .out = out};
    code = run_row(d, s, step, walk->node[step->root[0].node], &c, err);
  }
  if (code == TT_OK) code = library_ran(d, s, step, &call, read, written, start, err);
  hand_over(d, walk, step, res, code == TT_OK);
  return code;
}

tt_code tt__exec_epilogue_on(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_step *then,
                             const tt_epilogue_match *match, tt_error *err) {
  const tt_lib_attr *attr = walk->node[step->lib]->attr.lib;
  tt_node *product = walk->node[step->root[0].node], *n = walk->node[then->root[0].node];
  tt_operand src[TT_NODE_SRC];
  result res = {0};
  void *term = NULL;
  tt_stream *s = tt__stream_current(d);
  size_t size = tt__dtype_size((tt_dtype)n->dtype);
  int64_t read, written = n->size * (int64_t)size, start = tt__profile_on ? tt__clock_ns() : 0;
  const tt_cost_call call = tt__cost_call(walk, step);
  if (!attr->row->run_on_then || d->target.kind == TT_DEVICE_NULL || n->dtype != product->dtype)
    return tt__fail(err, TT_ENOTIMPL, "%s does nothing but itself", attr->row->name);
  TT_TRY(library_operands(d, s, walk, step, src, &read, err));
  if (match->term >= 0) TT_TRY(tt__resident(d, s, walk->node[match->term]->attr.buf, &term, err));
  if (term) term = (char *)term + match->offset * (int64_t)size;
  TT_TRY(tt__resident_new(d, s, (size_t)written, n, &res.buffer, &res.at, err));
  tt_block out = {.data = res.at,
                  .dtype = (tt_dtype)product->dtype,
                  .rank = product->rank,
                  .len = tt__node_len(product),
                  .size = product->size};
  tt_later_call c = {.attr = attr, .src = src, .out = &out, .epilogue = match->epilogue, .then = true, .term = term};
  tt_code code = run_row(d, s, step, n, &c, err);
  if (code == TT_OK) code = library_ran(d, s, step, &call, read, written, start, err);
  hand_over(d, walk, then, &res, code == TT_OK);
  return code;
}

/* ---- */

static tt_code exec_empty_on(tt_device *d, const tt_walk *walk, const tt_step *step, tt_error *err) {
  result res = {0};
  if (step->root[0].base >= 0) {
    tt_node *base = walk->node[step->root[0].base];
    tt__node_become_buffer(walk->node[step->root[0].node], tt__buffer_retain(base->attr.buf));
    return TT_OK;
  }
  tt_node *n = walk->node[step->root[0].node];
  TT_TRY(result_of(d, tt__stream_current(d), walk, &step->root[0], NULL, &res, err));
  tt__node_become_buffer(n, res.buffer);
  return TT_OK;
}

tt_code tt__exec_step_on(tt_device *d, const tt_walk *walk, const tt_step *step, tt_error *err) {
  switch (step->kind) {
    case TT_STEP_KERNEL:
      return exec_kernel_on(d, walk, step, err);
    case TT_STEP_LIB:
      return exec_library_on(d, walk, step, err);
    default:
      return exec_empty_on(d, walk, step, err);
  }
}
