/*
** Kernel steps in pieces; see stream_kernel.h. A pipeline (device/pipeline.h) moves the bytes; this file says where
** they lie and asks for the launches.
**
** The whole fits: every buffer of the kernel has all its memory on the device, pieces only say when which part of it
** comes and goes, and operands and results are there afterwards, as if the step had run whole. In windows: what comes
** apart has TT_CUT_DEPTH slots, each large enough for a piece. A reduction that is cut along its row gives results
** piece by piece; they come down and are folded here.
*/
#include "run/outofcore/stream_kernel.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "device/cache_alloc.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/build.h"
#include "graph/session.h"
#include "render/gpu/threads.h"
#include "run/device/device_code.h"
#include "run/elements.h"
#include "run/device/exec_device.h"
#include "run/report/profile.h"
#include "run/device/batch.h"
#include "run/residency.h"

enum { MOST_DEPTH = 32, MOST_ARGS = 32768, ALIGNED = 256 };

/* The node that buffer `b` of the kernel belongs to, the size of an element, and how many it has. */
static const tt_node *node_of(const tt_walk *walk, const tt_step *step, int b, size_t *size, int64_t *count) {
  const tt_lowered *l = step->lowered;
  const tt_node *n = walk->node[step->operand[l->buf_operand[b]].node];
  *size = tt__dtype_size((tt_dtype)n->dtype) / l->buf_parts[b];
  *count = n->size * l->buf_parts[b];
  return n;
}

/* Must the bytes of an operand come up from the host? */
static bool comes_up(const tt_device *d, const tt_node *n) {
  return n->attr.buf->data && !n->attr.buf->elsewhere && !tt__is_resident(d->id, n->attr.buf);
}

/* ---- a run */

/* A buffer of the kernel. */
typedef struct lane {
  tt_buffer *buffer; /* an operand's, held; a result's */
  char *host;        /* its element 0, if it moves; (folds) of the first piece's results */
  char *at;          /* element 0 on the device; in windows, of what comes apart: the first slot */
  tt_dmem *block;    /* memory of ours on the device, to be given back */
  size_t size;       /* of an element */
  int64_t count;     /* elements */
  size_t slot;       /* bytes of a slot; 0: it lies there whole */
  bool moves;
} lane;

/* A piece as a launch of its own. */
typedef struct turn {
  tt_launch launch;
  tt_lowered lowered;
} turn;

typedef struct run {
  tt_device *device;
  tt_stream *stream;
  const tt_kernel_cut *how;
  const tt_kernel *kernel;
  int64_t pieces, depth;
  lane lane[TT_PARTITION_BUFFERS];
  int64_t buf_len[TT_PARTITION_BUFFERS];
  turn *turn;       /* [pieces] */
  int64_t *numbers; /* of the turns: len and off */
  size_t turn_size, numbers_size;
  tt_scalar scalar[TT_CUT_SCALARS];
  tt_cut cut[2]; /* of a full piece, of the last one */
  tt_routine *routine[2][TT_MOST_PASSES];
  tt_dmem *work;
  tt_event *up[MOST_DEPTH], *done[MOST_DEPTH], *down[MOST_DEPTH];
  pthread_t caller;
  const tt_origin *origin;
} run;

static bool is_last(const run *r, int64_t piece) { return piece == r->pieces - 1; }

/* The elements of a buffer that move with a piece. What lies there whole comes up once: what no earlier piece
 * brought. */
static void moving(const run *r, int b, int64_t piece, int64_t *from, int64_t *to) {
  const tt_partition *s = &r->how->parts;
  const lane *x = &r->lane[b];
  int64_t other_from, other_to;
  tt__partition_part(s, b, piece, from, to);
  if (s->buf[b].write || x->slot) return;
  if (piece > 0) {
    tt__partition_part(s, b, piece - 1, &other_from, &other_to);
    if (s->buf[b].step > 0 && other_to > *from) *from = other_to;
    if (s->buf[b].step < 0 && other_from < *to) *to = other_from;
  }
  bool first = piece == 0, last = is_last(r, piece), rises = s->buf[b].step > 0;
  if (rises ? first : last) *from = 0;
  if (rises ? last : first) *to = x->count;
  if (*to < *from) *to = *from;
}

/* Bytes of a buffer before what a piece's slot holds of it. */
static uintptr_t before_slot(const run *r, int b, int64_t piece) {
  int64_t from, to;
  if (!r->lane[b].slot) return 0;
  tt__partition_part(&r->how->parts, b, piece, &from, &to);
  uintptr_t skip = (uintptr_t)from * r->lane[b].size;
  return skip - skip % ALIGNED;
}

static char *slot_of(const run *r, int b, int64_t piece) {
  const lane *x = &r->lane[b];
  return x->at + (uintptr_t)(piece % r->depth) * x->slot;
}

/*
** Where element 0 of a buffer would lie for a piece. As far from a multiple of ALIGNED as it would be in the whole.
** Where memory has handles an address must lie in it: there it is the slot, and the offsets of the piece say the rest.
*/
static char *base_of(const run *r, int b, int64_t piece) {
  char *slot = slot_of(r, b, piece);
  return r->device->target.handles ? slot : (char *)((uintptr_t)slot - before_slot(r, b, piece));
}

/* The offsets of pieces count from their slots (see base_of). */
static void count_from_slots(run *r) {
  const tt_kernel *k = r->kernel;
  size_t each = (size_t)(k->naxes + k->naccess);
  for (int64_t p = 0; p < r->pieces; p++)
    for (int a = 0; a < k->naccess; a++) {
      int b = k->access[a].buf;
      if (b < 0) continue;
      r->numbers[(size_t)p * each + (size_t)(k->naxes + a)] -= (int64_t)(before_slot(r, b, p) / r->lane[b].size);
    }
}

static bool move_of(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  const run *r = ctx;
  for (int b = 0; b < r->kernel->nbuf; b++) {
    const lane *x = &r->lane[b];
    if (!x->moves || r->how->parts.buf[b].write != is_down || i-- > 0) continue;
    int64_t from, to;
    moving(r, b, piece, &from, &to);
    uintptr_t skip = (uintptr_t)from * x->size;
    bool mine = is_down && r->how->parts.folds;
    *out = (tt_move){.host = x->host + skip + (mine ? (uintptr_t)(piece * x->count) * x->size : 0),
                     .at = slot_of(r, b, piece) + (skip - before_slot(r, b, piece)),
                     .size = (size_t)(to - from) * x->size};
    return true;
  }
  return false;
}

static tt_code launch_named(run *r, int64_t piece, tt_error *err) {
  tt_device *d = r->device;
  const turn *t = &r->turn[piece];
  void *buf[TT_PARTITION_BUFFERS];
  _Alignas(16) char args[MOST_ARGS];
  for (int b = 0; b < r->kernel->nbuf; b++) buf[b] = base_of(r, b, piece);
  if (d->target.kind == TT_DEVICE_NULL)
    return tt__exec_null(d, r->stream, &t->launch, buf, r->buf_len, r->scalar, false, err);
  const tt_cut *cut = &r->cut[is_last(r, piece)];
  void *work = r->work ? tt__dmem_at(r->work) : NULL;
  if (cut->zero_bytes) TT_TRY(d->ops->fill(d, r->stream, work, 0, cut->zero_bytes, err));
  for (int p = 0; p < cut->npass; p++) {
    tt__threads_args(r->kernel, &t->lowered, &cut->pass[p], buf, r->buf_len, r->scalar, work, NULL, args);
    TT_TRY(d->ops->launch(d, r->stream, r->routine[is_last(r, piece)][p], &cut->pass[p].grid, args,
                          tt__threads_args_size(r->kernel), err));
  }
  return TT_OK;
}

static tt_code launch_piece(run *r, int64_t piece, tt_error *err) {
  const tt_origin *before = tt__origin_use(r->origin);
  tt_code code = launch_named(r, piece, err);
  tt__origin_use(before);
  return code;
}

static tt_code at_point(void *ctx, int64_t piece, tt_pipeline_point point, tt_error *err) {
  run *r = ctx;
  tt_device *d = r->device;
  int64_t k = piece % r->depth;
  switch (point) {
    case TT_FLOW_BEGIN: /* the slot's last piece has been worked on */
      if (tt__interrupt_check(pthread_equal(pthread_self(), r->caller) != 0))
        return tt__fail(err, TT_EINTERRUPT, "interrupted");
      return d->ops->stream_wait(d, d->up, r->done[k], err);
    case TT_FLOW_RUN:
      TT_TRY(d->ops->event_record(d, r->up[k], d->up, err));
      TT_TRY(d->ops->stream_wait(d, r->stream, r->up[k], err));
      TT_TRY(d->ops->stream_wait(d, r->stream, r->down[k], err)); /* and its results have gone */
      TT_TRY(launch_piece(r, piece, err));
      return d->ops->event_record(d, r->done[k], r->stream, err);
    case TT_FLOW_RETURN:
      return d->ops->stream_wait(d, d->down, r->done[k], err);
    default:
      return d->ops->event_record(d, r->down[k], d->down, err);
  }
}

/* ---- before it */

/* Bytes that hold any piece of a buffer, wherever between two multiples of ALIGNED it begins (see base_of). */
static size_t slot_size(const run *r, int b) {
  size_t most = (size_t)tt__partition_most(&r->how->parts, b) * r->lane[b].size;
  return (most + 2 * ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* An operand: there whole, or coming in pieces to memory of ours. */
static tt_code open_operand(run *r, int b, const tt_node *n, tt_error *err) {
  lane *x = &r->lane[b];
  const tt_partition_buf *part = &r->how->parts.buf[b];
  void *at;
  x->buffer = tt__buffer_retain(n->attr.buf);
  if (part->whole || !comes_up(r->device, n)) {
    TT_TRY(tt__resident(r->device, r->stream, x->buffer, &at, err));
    x->at = at;
    return TT_OK;
  }
  x->moves = true;
  x->host = x->buffer->data;
  if (r->how->windows) x->slot = slot_size(r, b);
  TT_TRY(
      tt__resident_temp(r->device, r->stream, x->slot ? x->slot * (size_t)r->depth : x->buffer->size, &x->block, err));
  x->at = tt__dmem_at(x->block);
  return TT_OK;
}

static tt_code open_result(run *r, int b, const tt_node *n, tt_error *err) {
  lane *x = &r->lane[b];
  void *at;
  size_t bytes = x->size * (size_t)x->count;
  x->moves = r->how->down;
  if (!r->how->windows) {
    TT_TRY(tt__resident_new(r->device, r->stream, bytes, n, &x->buffer, &at, err));
    x->at = at;
    if (x->moves && !(x->host = tt__mem_alloc_data(bytes))) return tt__fail_memory(err, bytes);
    return TT_OK;
  }
  x->buffer = tt__buffer_new(bytes, err);
  if (!x->buffer) return TT_ENOMEM;
  x->host = x->buffer->data;
  size_t all = bytes * (size_t)r->pieces;
  if (r->how->parts.folds && !(x->host = tt__mem_alloc_data(all))) return tt__fail_memory(err, all);
  x->slot = slot_size(r, b);
  TT_TRY(tt__resident_temp(r->device, r->stream, x->slot * (size_t)r->depth, &x->block, err));
  x->at = tt__dmem_at(x->block);
  return TT_OK;
}

static tt_code open_lanes(run *r, const tt_walk *walk, const tt_step *step, tt_error *err) {
  for (int b = 0; b < r->kernel->nbuf; b++) {
    lane *x = &r->lane[b];
    const tt_node *n = node_of(walk, step, b, &x->size, &x->count);
    r->buf_len[b] = x->count;
    if (r->how->parts.buf[b].write)
      TT_TRY(open_result(r, b, n, err));
    else
      TT_TRY(open_operand(r, b, n, err));
  }
  return TT_OK;
}

static tt_code open_turns(run *r, const tt_launch *whole, tt_error *err) {
  const tt_kernel *k = r->kernel;
  size_t each = (size_t)(k->naxes + k->naccess);
  r->turn_size = sizeof *r->turn * (size_t)r->pieces;
  r->numbers_size = sizeof *r->numbers * each * (size_t)r->pieces;
  r->turn = tt__mem_zalloc(r->turn_size);
  r->numbers = tt__mem_zalloc(r->numbers_size);
  if (!r->turn || !r->numbers) return tt__fail_memory(err, r->turn_size + r->numbers_size);
  for (int64_t p = 0; p < r->pieces; p++) {
    turn *t = &r->turn[p];
    int64_t *len = r->numbers + (size_t)p * each, lo, hi;
    tt__partition_points(&r->how->parts, p, &lo, &hi);
    tt__partition_lower(&r->how->parts, k, whole->lowered, p, len, len + k->naxes, &t->lowered);
    t->launch = *whole;
    t->launch.lowered = &t->lowered;
    t->launch.work.points = whole->work.points / (double)r->how->parts.len * (double)(hi - lo);
  }
  return TT_OK;
}

/* How piece `p` is cut into threads. */
static tt_code cut_turn(const run *r, int64_t p, const size_t *align, tt_cut *out, tt_error *err) {
  return tt__gpu_schedule(r->kernel, &r->turn[p].lowered, &r->device->target, align, r->buf_len, out, err);
}

/* The code of full pieces and of the last one; all begin at the same distance from aligned addresses. Indices are
 * largest in the first piece or in the last of the full ones: what is wide there is wide for all. */
static tt_code open_code(run *r, tt_error *err) {
  size_t align[TT_PARTITION_BUFFERS], work = 0;
  if (r->device->target.handles) count_from_slots(r);
  for (int b = 0; b < r->kernel->nbuf; b++) {
    uintptr_t at = (uintptr_t)base_of(r, b, 0);
    align[b] = at % ALIGNED ? (size_t)(at & (~at + 1)) : ALIGNED;
  }
  for (int i = 0; i < 2 && r->device->target.kind != TT_DEVICE_NULL; i++) {
    tt_cut *c = &r->cut[i];
    TT_TRY(cut_turn(r, i ? r->pieces - 1 : 0, align, c, err));
    if (!i && r->pieces > 2 && !c->pass[0].variant.wide) TT_TRY(cut_turn(r, r->pieces - 2, align, c, err));
    if (c->pass[0].variant.far) return tt__fail(err, TT_ENOTIMPL, "too many arguments for a launch");
    for (int p = 0; p < c->npass; p++)
      TT_TRY(tt__device_kernel(r->device, r->kernel, &c->pass[p].variant, &r->routine[i][p], err));
    if (c->work_bytes > work) work = c->work_bytes;
  }
  return work ? tt__resident_temp(r->device, r->stream, work, &r->work, err) : TT_OK;
}

static tt_code open_events(run *r, tt_error *err) {
  tt_device *d = r->device;
  for (int64_t k = 0; k < r->depth; k++) {
    TT_TRY(d->ops->event_new(d, false, &r->up[k], err));
    TT_TRY(d->ops->event_new(d, false, &r->done[k], err));
    TT_TRY(d->ops->event_new(d, false, &r->down[k], err));
  }
  /* The memory we were given may still be in use by earlier work of the stream. */
  TT_TRY(d->ops->event_record(d, r->done[0], r->stream, err));
  TT_TRY(d->ops->stream_wait(d, d->up, r->done[0], err));
  return d->ops->stream_wait(d, d->down, r->done[0], err);
}

/* ---- after it */

static void close_run(run *r) {
  tt_device *d = r->device;
  for (int64_t k = 0; k < r->depth; k++) {
    d->ops->event_free(d, r->down[k]);
    d->ops->event_free(d, r->done[k]);
    d->ops->event_free(d, r->up[k]);
  }
  if (r->work) tt__dmem_free(d, r->work);
  tt__mem_free(r->numbers, r->numbers_size);
  tt__mem_free(r->turn, r->turn_size);
  for (int b = 0; b < r->kernel->nbuf; b++) {
    lane *x = &r->lane[b];
    if (x->block) tt__dmem_free(d, x->block);
    bool folds = r->how->parts.folds, write = r->how->parts.buf[b].write;
    if (x->host && write && (folds || !r->how->windows))
      tt__mem_free_data(x->host, x->size * (size_t)x->count * (folds ? (size_t)r->pieces : 1));
    if (x->buffer) tt__buffer_release(x->buffer);
  }
}

/* acc[] = op(acc[], x[]) */
static void fold_in(const lane *x, const tt_partition_buf *part, void *acc, const void *other) {
  static const uint8_t op[] = {[TT_RED_SUM] = TT_ADD,     [TT_RED_PROD] = TT_MUL, [TT_RED_MAX] = TT_MAXIMUM,
                               [TT_RED_MIN] = TT_MINIMUM, [TT_RED_ANY] = TT_LOR,  [TT_RED_ALL] = TT_LAND};
  tt__elements_loop((tt_op)op[part->red], (tt_dtype)part->dtype, (tt_dtype)part->dtype)(acc, acc, other, NULL,
                                                                                        x->count);
}

/* The results of all pieces as one: in order, group by group (head of ir/kernel.h). They are lost by that. */
static void fold_results(const run *r, int b) {
  const lane *x = &r->lane[b];
  const tt_partition_buf *part = &r->how->parts.buf[b];
  size_t bytes = x->size * (size_t)x->count;
  int64_t group = r->how->parts.group;
  for (int64_t from = 0; from < r->pieces; from += group) {
    char *first = x->host + (size_t)from * bytes;
    for (int64_t p = from + 1; p < from + group && p < r->pieces; p++)
      fold_in(x, part, first, x->host + (size_t)p * bytes);
    if (from) fold_in(x, part, x->host, first);
  }
  memcpy(x->buffer->data, x->host, bytes);
}

/* Results become the values of their nodes; operands that came up whole stay. */
static tt_code hand_over(run *r, const tt_walk *walk, const tt_step *step, tt_error *err) {
  tt_code code = TT_OK;
  for (int b = 0; b < r->kernel->nbuf && code == TT_OK; b++) {
    lane *x = &r->lane[b];
    if (r->how->parts.buf[b].write || !x->moves || x->slot) continue;
    code = tt__resident_arrived(r->device, r->stream, x->buffer, x->block, err);
    x->block = NULL;
  }
  for (int b = 0; b < r->kernel->nbuf && code == TT_OK; b++) {
    lane *x = &r->lane[b];
    if (!r->how->parts.buf[b].write) continue;
    if (!x->slot) tt__resident_written(r->device, x->buffer);
    if (!x->slot && x->moves) x->buffer->data = x->host;
    bool folds = r->how->parts.folds;
    if (folds)
      fold_results(r, b);
    else
      x->host = NULL;
    TT_COUNT(downloads, x->moves);
    TT_COUNT(download_bytes, x->moves ? x->buffer->size * (folds ? (size_t)r->pieces : 1) : 0);
    for (int i = 0; i < step->nroot; i++)
      if (step->root[i].operand == ((const tt_launch *)step->launch)->lowered->buf_operand[b])
        tt__node_become_buffer(walk->node[step->root[i].node], x->buffer);
    x->buffer = NULL;
  }
  tt__resident_launched(r->device, TT_OK, NULL); /* what is gathered later is another turn */
  return code;
}

static void count(const run *r, const tt_step *step, int64_t start) {
  const tt_launch *l = step->launch;
  TT_COUNT(launches, r->pieces);
  TT_COUNT(device_launches, r->pieces);
  TT_COUNT(bytes_read, l->work.bytes_read);
  TT_COUNT(bytes_written, l->work.bytes_written);
  TT_COUNT(streamed, 1);
  TT_COUNT(pieces, r->pieces);
  TT_COUNT(syncs, r->how->down);
  if (tt__profile_on) tt__profile_add_pieces(step, r->pieces, start, tt__clock_ns());
}

tt_code tt__stream_kernel(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_kernel_cut *how,
                          tt_error *err) {
  assert(how->parts.piece > 0);
  assert(step->kind == TT_STEP_KERNEL && how->parts.nbuf == step->kernel->nbuf);
  const tt_launch *whole = step->launch;
  int64_t start = tt__profile_on ? tt__clock_ns() : 0;
  if (tt__threads_args_size(step->kernel) > MOST_ARGS)
    return tt__fail(err, TT_ENOTIMPL, "too many arguments for a launch");
  run *r = tt__mem_zalloc(sizeof *r);
  if (!r) return tt__fail_memory(err, sizeof *r);
  *r = (run){.device = d, .stream = tt__stream_current(d), .how = how, .kernel = whole->unit->kernel};
  r->pieces = tt__partition_pieces(&how->parts);
  r->depth = how->windows ? TT_CUT_DEPTH : r->pieces < MOST_DEPTH ? r->pieces : MOST_DEPTH;
  r->caller = pthread_self();
  r->origin = tt__exec_origin(walk, step);
  tt_code code = tt__exec_scalars(walk, step, whole, r->scalar, err);
  if (code == TT_OK) code = open_lanes(r, walk, step, err);
  if (code == TT_OK) code = open_turns(r, whole, err);
  if (code == TT_OK) code = open_code(r, err);
  if (code == TT_OK) code = tt__batch_flush(err);
  if (code == TT_OK) code = open_events(r, err);
  if (code == TT_OK) {
    tt_pipeline f = {.device = d,
                     .up = d->up,
                     .down = d->down,
                     .pieces = r->pieces,
                     .depth = r->depth,
                     .move = move_of,
                     .at = at_point,
                     .ctx = r};
    int depth = tt__session_suspend();
    code = tt__staging_pipeline(&f, (size_t)how->up_bytes, (size_t)how->down_bytes, err);
    /* The simulated device reads our turns when it comes to them. */
    bool waits = code == TT_OK && (d->target.kind == TT_DEVICE_NULL || tt__profile_on);
    if (code != TT_OK || waits) {
      tt_code end = d->ops->stream_wait_idle(d, r->stream, code == TT_OK ? err : NULL);
      if (code == TT_OK) code = end;
    }
    tt__session_resume(depth);
  }
  if (code == TT_OK) count(r, step, start);
  if (code == TT_OK) code = hand_over(r, walk, step, err);
  close_run(r);
  tt__mem_free(r, sizeof *r);
  return code;
}
