/*
** Launches as steps; see exec_call.h.
*/
#include "run/exec_call.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "graph/build.h"
#include "graph/call.h"
#include "graph/session.h"
#include "run/memory.h"
#include "run/report/profile.h"
#include "run/device/batch.h"
#include "run/residency.h"

/* Everything that a launch holds while it runs. */
typedef struct running {
  tt_node *node;
  const tt_step *step;
  bool held; /* tt_walk.held */
  const tt_kernel_call *call;
  tt_buffer *buffer[TT_CALL_ARRAYS]; /* one hold each */
  void *at[TT_CALL_ARRAYS];
  int n; /* operands that are taken */
  int64_t bytes_read, bytes_written;
} running;

/* ---- what kernels print */

TT_LOCK(left_lock, 0); /* guards what kernels leave behind */
static tt_str printed;

void tt__call_print(const char *text, size_t n) {
  if (!n) return;
  tt__lock(&left_lock);
  tt__str_add_n(&printed, text, n);
  tt__unlock(&left_lock);
}

char *tt__call_printed(void) {
  tt__lock(&left_lock);
  char *text = printed.len ? tt__mem_dup(printed.data, printed.len + 1) : NULL;
  for (size_t k = 0; text && k < printed.len; k++)
    if (!text[k]) text[k] = ' '; /* a text ends at the first zero */
  tt__str_free(&printed);
  tt__unlock(&left_lock);
  return text;
}

/* ---- operands */

/* Nobody but this launch, and the plan until it is done, wants operand k, so that it may be written where it lies. */
static bool is_ours(const running *r, int k) {
  const tt_node *n = tt__call_operand(r->node, k);
  const tt_buffer *b = n->attr.buf;
  return tt__step_ends(r->step, r->step->src[k].node) && n->refs == 1 + r->held && b->refs == 1 && !b->readonly;
}

static tt_code take_here(tt_node *n, bool writes, bool ours, tt_buffer **out, void **at, tt_error *err) {
  tt_buffer *b = n->attr.buf;
  if (writes && !ours) {
    *out = tt__buffer_new(b->size, err);
    if (!*out) return TT_ENOMEM;
    tt__memory_copy((*out)->data, b->data, (int64_t)b->size);
  } else {
    *out = tt__buffer_retain(b);
    if (writes) tt__buffer_only_host(b);
  }
  *at = (*out)->data;
  return TT_OK;
}

static tt_code take_there(tt_device *d, tt_stream *s, tt_node *n, bool writes, bool ours, tt_buffer **out, void **at,
                          tt_error *err) {
  tt_buffer *b = n->attr.buf;
  void *from;
  if (!writes || (ours && !b->drop)) {
    TT_TRY(tt__resident(d, s, b, at, err));
    *out = tt__buffer_retain(b);
    return TT_OK;
  }
  TT_TRY(tt__resident(d, s, b, &from, err));
  TT_TRY(tt__resident_new(d, s, b->size, n, out, at, err));
  tt_code code = tt__batch_flush(err);
  if (code == TT_OK && b->size) code = d->ops->copy_within(d, s, *at, from, b->size, err);
  if (code == TT_OK) return TT_OK;
  tt__buffer_release(*out);
  return code;
}

/* The lock may be given up until every operand lies where it is needed, and not from then on. */
static tt_code take_operands(running *r, tt_device *d, tt_error *err) {
  const tt_kernel_call *c = r->call;
  for (int k = 0; k < c->noperand && !d; k++) TT_TRY(tt__buffer_host(tt__call_operand(r->node, k)->attr.buf, err));
  for (; r->n < c->noperand; r->n++) {
    tt_node *n = tt__call_operand(r->node, r->n);
    bool writes = c->operand[r->n].writes, ours = is_ours(r, r->n);
    TT_TRY(d ? take_there(d, c->stream, n, writes, ours, &r->buffer[r->n], &r->at[r->n], err)
             : take_here(n, writes, ours, &r->buffer[r->n], &r->at[r->n], err));
    int64_t bytes = n->size * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
    r->bytes_read += bytes;
    if (writes) r->bytes_written += bytes;
  }
  return TT_OK;
}

static void put_addresses(const running *r, char *args) {
  const tt_kernel_call *c = r->call;
  memcpy(args, c->args, c->args_size);
  for (int k = 0; k < c->npointer; k++) {
    const tt_call_pointer *p = &c->pointer[k];
    char *at = (char *)r->at[p->operand] + p->off;
    memcpy(args + p->at, &at, sizeof at);
  }
}

/* ---- the launch itself */

static tt_code run_here(const running *r, char *args, bool *ran, tt_error *err) {
  int depth = tt__session_suspend();
  tt_code code = r->call->kind->run(r->call, args, ran, err);
  tt__session_resume(depth);
  return code;
}

/* The null device runs the CPU's code when its stream comes to it: in a call that may hold any lock, so that failures
** and kernels that are no longer needed wait for the next launch. */
typedef struct null_call {
  tt_null_launch head;
  tt_kernel_call call;
} null_call;

static TT_VEC(tt_kernel_call) graves;
static tt_error late;

static void run_null(const void *args) {
  _Alignas(16) char copy[TT_CALL_ARGS];
  null_call n;
  tt_error err = {0};
  bool ran = false;
  memcpy(&n, args, sizeof n);
  memcpy(copy, (const char *)args + sizeof n, n.call.args_size);
  tt_code code = n.call.kind->run(&n.call, copy, &ran, &err);
  tt__lock(&left_lock);
  if (code != TT_OK && late.code == TT_OK) late = err;
  (void)TT_VEC_PUSH(&graves, n.call); /* without memory a kernel stays for good */
  tt__unlock(&left_lock);
}

tt_code tt__call_late(tt_error *err) {
  tt__lock(&left_lock);
  tt_code code = late.code;
  if (code != TT_OK && err) *err = late;
  late.code = TT_OK;
  tt__unlock(&left_lock);
  return code;
}

static void bury(void) {
  tt__lock(&left_lock);
  while (graves.n) {
    const tt_kernel_call c = graves.data[--graves.n];
    tt__unlock(&left_lock);
    c.kind->release(c.kernel);
    tt__lock(&left_lock);
  }
  TT_VEC_FREE(&graves);
  tt__unlock(&left_lock);
}

static tt_code launch_null(const running *r, tt_device *d, const char *args, tt_error *err) {
  const tt_kernel_call *c = r->call;
  char packed[sizeof(null_call) + TT_CALL_ARGS];
  null_call n = {.head = {.run = run_null, .us = 1}, .call = *c};
  memcpy(packed, &n, sizeof n);
  memcpy(packed + sizeof n, args, c->args_size);
  tt_grid one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  c->kind->retain(c->kernel); /* until it has run */
  tt_code code = tt__batch_launch(d, c->stream, NULL, &one, packed, sizeof n + c->args_size, err);
  if (code != TT_OK) c->kind->release(c->kernel);
  return code;
}

static tt_code run_there(const running *r, tt_device *d, const char *args, tt_error *err) {
  const tt_kernel_call *c = r->call;
  tt_routine *routine;
  if (d->target.kind == TT_DEVICE_NULL) {
    bury();
    return launch_null(r, d, args, err);
  }
  TT_TRY(c->kind->routine(c, d, &routine, err));
  return tt__batch_launch(d, c->stream, routine, &c->grid, args, c->args_size, err);
}

tt_code tt__call_together(tt_device *d, tt_routine *f, const tt_grid *g, const char *name, tt_error *err) {
  assert(g->grid[0] && g->grid[1] && g->grid[2] && g->block[0] && g->block[1] && g->block[2]);
  int64_t blocks = (int64_t)g->grid[0] * g->grid[1] * g->grid[2], most = 0;
  int threads = (int)(g->block[0] * g->block[1] * g->block[2]);
  if (!d->ops->occupancy)
    return tt__fail(err, TT_ENOTIMPL, "kernel %s: its blocks wait for each other, which %s cannot", name, d->name);
  TT_TRY(d->ops->occupancy->at_once(d, f, threads, (uint32_t)g->shared, &most, err));
  if (blocks <= most) return TT_OK;
  return tt__fail(err, TT_EVALUE,
                  "kernel %s: its %lld blocks of %d threads wait for each other, so all must run at once, and %s runs "
                  "%lld: make the grid smaller and let threads take several elements",
                  name, (long long)blocks, threads, d->name, (long long)most);
}

/* ---- afterwards */

/* The node and what is left of its operands become values; it lets go of them. */
static void settle(running *r, tt_device *d, tt_buffer *nothing) {
  const tt_kernel_call *c = r->call;
  for (int k = 0; k < r->n; k++) {
    tt_node *pick = c->operand[k].pick;
    if (d && c->operand[k].writes) tt__resident_written(d, r->buffer[k]);
    if (!pick) continue;
    tt__node_become_buffer(pick, r->buffer[k]);
    r->buffer[k] = NULL;
  }
  tt__node_become_buffer(r->node, nothing);
}

static void count(const running *r, const tt_device *d) {
  TT_COUNT(launches, 1);
  TT_COUNT(kernel_calls, 1);
  if (d)
    TT_COUNT(device_launches, 1);
  else
    TT_COUNT(launches_tier1, 1);
  TT_COUNT(bytes_read, r->bytes_read);
  TT_COUNT(bytes_written, r->bytes_written);
}

static tt_code note(const running *r, tt_device *d, int64_t start, tt_error *err) {
  char name[64];
  const uint32_t *g = r->call->grid.grid, *b = r->call->grid.block;
  if (d) TT_TRY(tt__batch_flush(err));
  if (d) TT_TRY(d->ops->stream_wait_idle(d, r->call->stream, err));
  snprintf(name, sizeof name, "%.30s <%u,%u,%u> <%u,%u,%u>", r->call->name, g[0], g[1], g[2], b[0], b[1], b[2]);
  tt__profile_add_named(name, r->bytes_read + r->bytes_written, start, tt__clock_ns());
  return TT_OK;
}

/* Whose failure it is must be said where it surfaces, far from the launch. */
static void name_kernel(const running *r, tt_error *err) {
  const char *name = r->call->name;
  size_t more = strlen(name) + sizeof "kernel : " - 1, have = strlen(err->message);
  if (strstr(err->message, name) || have + more >= sizeof err->message) return;
  memmove(err->message + more, err->message, have + 1);
  memcpy(err->message, "kernel ", 7);
  memcpy(err->message + 7, name, more - 9);
  memcpy(err->message + more - 2, ": ", 2);
}

static tt_code run(running *r, tt_device *d, tt_error *err) {
  _Alignas(16) char args[TT_CALL_ARGS];
  bool ran = false, noted = tt__profile_on;
  int64_t start = noted ? tt__clock_ns() : 0;
  tt_buffer *nothing = tt__buffer_new(0, err); /* the node's own value: once the kernel has run nothing may fail */
  if (!nothing) return TT_ENOMEM;
  tt_code code = take_operands(r, d, err);
  if (code == TT_OK) {
    put_addresses(r, args);
    code = d ? run_there(r, d, args, err) : run_here(r, args, &ran, err);
    ran |= d && code == TT_OK;
  }
  if (!ran) {
    tt__buffer_release(nothing);
    return code;
  }
  if (code != TT_OK && err) name_kernel(r, err);
  count(r, d);
  if (noted && code == TT_OK) code = note(r, d, start, err);
  settle(r, d, nothing);
  return code;
}

tt_code tt__exec_call(const tt_walk *walk, const tt_step *step, tt_device *d, tt_error *err) {
  assert(step->kind == TT_STEP_CALL && walk->node[step->lib]->op == TT_N_CALL);
  running r = {.node = walk->node[step->lib], .step = step, .held = walk->held};
  r.call = r.node->attr.call;
  tt_code code = run(&r, d, err);
  for (int k = 0; k < r.n; k++)
    if (r.buffer[k]) tt__buffer_release(r.buffer[k]);
  return code;
}
