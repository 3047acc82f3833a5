/*
** Library steps in tiles; see stream_library.h. Turn by turn: the device is asked for the work on what came up, and
** while it does that, one pipeline (device/pipeline.h) brings the next turn's parts up and what the turn before gave
** down.
**
** A side has slots of device memory; a part stays in its slot until the slot is needed for another one, the least
** recently used first. The events of a slot say when the device is done with it.
*/
#include "run/outofcore/stream_library.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "device/cache_alloc.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/exec.h"
#include "run/device/exec_device.h"
#include "run/outofcore/external_sort.h"
#include "run/report/profile.h"
#include "run/device/batch.h"
#include "run/residency.h"
#include "run/outofcore/stream_null.h"

enum { ALIGNED = 256 };

/* ---- a run */

/* Memory of the device for one part. */
typedef struct slot {
  tt_tile_part part;
  bool holds;     /* the part is there, or on its way */
  int64_t used;   /* turn of its last use */
  tt_event *done; /* behind the work that used it last */
} slot;

/* A side of the step. */
typedef struct lane {
  const tt_tile_side *side;
  tt_buffer *buffer; /* held */
  char *host, *at;   /* element 0 of the buffer; the first slot, or (there) element 0 */
  slot *slot;
  size_t slot_bytes;
  tt_dtype dtype;
} lane;

/* A part that moves. */
typedef struct journey {
  const lane *lane; /* NULL: none */
  tt_tile_part part;
  char *at;
} journey;

typedef struct run {
  tt_device *device;
  tt_stream *stream;
  const tt_tiles *how;
  const tt_lib_attr *attr;
  int64_t turns;
  lane lane[TT_TILE_SIDES];
  tt_dmem *block; /* all slots, and behind them: */
  void *sums;     /* of the tile of the result that is being summed, if that is of another type */
  tt_event *up;
  journey goes_up[TT_NODE_SRC], comes_down;
  tt_code null_code; /* of the simulated device's work */
} run;

static bool is_result(const run *r, const lane *x) { return x == &r->lane[r->how->nside - 1]; }

/* ---- moves */

static int64_t part_size(const tt_tile_part *p) { return p->len[0] * p->len[1] * p->len[2]; }

/* The i-th move of a part: a matrix of it, or, where no elements are neighbours, a line. Matrices that follow one
 * another are one. */
static bool move_of_part(const journey *j, int i, tt_move *out) {
  if (!j->lane) return false;
  const tt_tile_side *s = j->lane->side;
  const int64_t *len = j->part.len, *step = s->step;
  const int64_t size = (int64_t)s->size;
  bool is_plain = step[2] == 1 || len[2] == 1;
  bool is_one = is_plain && (len[0] == 1 || step[0] == len[1] * step[1]);
  int64_t moves = is_one ? 1 : is_plain ? len[0] : len[0] * len[1];
  if (i >= moves) return false;
  int64_t elements = part_size(&j->part) / moves, from = j->part.off;
  if (!is_one) from += is_plain ? i * step[0] : i / len[1] * step[0] + i % len[1] * step[1];
  *out = (tt_move){
      .host = j->lane->host + from * size, .at = j->at + i * elements * size, .size = (size_t)(elements * size)};
  int64_t row = is_plain ? len[2] : 1, pitch = is_plain ? step[1] : step[2];
  if (elements == row || row == pitch) return true;
  out->row = (size_t)(row * size);
  out->pitch = (ptrdiff_t)(pitch * size);
  return true;
}

/* Of the first piece the moves down, of the second the moves up: so neither waits for the other. */
static bool move_of(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  const run *r = ctx;
  if (is_down != (piece == 0)) return false;
  if (is_down) return move_of_part(&r->comes_down, i, out);
  for (int k = 0; k < r->how->nside - 1; k++)
    for (int n = 0; r->goes_up[k].lane && move_of_part(&r->goes_up[k], n, out); n++)
      if (i-- == 0) return true;
  return false;
}

static tt_code move_all(run *r, tt_error *err) {
  size_t up = 0, down = 0;
  for (int k = 0; k < r->how->nside - 1; k++)
    if (r->goes_up[k].lane) up += (size_t)part_size(&r->goes_up[k].part) * r->goes_up[k].lane->side->size;
  if (r->comes_down.lane) down = (size_t)part_size(&r->comes_down.part) * r->comes_down.lane->side->size;
  if (!up && !down) return TT_OK;
  tt_code code = tt__stream_move(r->device, move_of, r, up, down, err);
  TT_COUNT(uploads, up > 0);
  TT_COUNT(upload_bytes, up);
  TT_COUNT(downloads, down > 0);
  TT_COUNT(download_bytes, down);
  for (int k = 0; k < TT_NODE_SRC; k++) r->goes_up[k].lane = NULL;
  r->comes_down.lane = NULL;
  return code;
}

/* ---- turns */

static bool same_part(const tt_tile_part *a, const tt_tile_part *b) { return memcmp(a, b, sizeof *a) == 0; }

/* The slot of a part: the one that holds it, else the one that was used longest ago. */
static slot *slot_of(const lane *x, const tt_tile_part *p) {
  slot *oldest = x->slot;
  for (int64_t k = 0; k < x->side->slots; k++) {
    slot *s = &x->slot[k];
    if (s->holds && same_part(&s->part, p)) return s;
    if (s->used < oldest->used) oldest = s;
  }
  return oldest;
}

static char *at_slot(const lane *x, const slot *s) { return x->at + (size_t)(s - x->slot) * x->slot_bytes; }

static tt_tile_part part_of(const run *r, int64_t turn, const lane *x, int64_t at[TT_TILE_AXES]) {
  int64_t loop[TT_MAX_RANK] = {0};
  tt__tiles_turn(r->how, turn, at, loop);
  return tt__tiles_part(r->how, x->side, at, loop);
}

/* Say what of a turn's operands must come up, behind the work on what the slots hold. */
static tt_code plan_up(run *r, int64_t turn, tt_error *err) {
  for (int k = 0; k < r->how->nside - 1 && turn < r->turns; k++) {
    lane *x = &r->lane[k];
    int64_t at[TT_TILE_AXES];
    if (x->side->there) continue;
    tt_tile_part p = part_of(r, turn, x, at);
    slot *s = slot_of(x, &p);
    if (s->holds && same_part(&s->part, &p)) continue;
    TT_TRY(r->device->ops->stream_wait(r->device, r->device->up, s->done, err));
    s->part = p;
    s->holds = true;
    s->used = turn;
    r->goes_up[k] = (journey){x, p, at_slot(x, s)};
  }
  return TT_OK;
}

/* An operand of a turn as it lies there: what its levels are in the order of the operand's axes. */
static tt_operand operand_of(run *r, int64_t turn, int k, int64_t batch, int64_t *len, int64_t *step) {
  lane *x = &r->lane[k];
  const tt_tile_side *s = x->side;
  int64_t at[TT_TILE_AXES], steps[TT_TILE_LEVELS];
  tt_tile_part p = part_of(r, turn, x, at);
  const char *data = x->at;
  if (s->there) {
    data += p.off * (int64_t)s->size;
    memcpy(steps, s->step, sizeof steps);
  } else {
    slot *found = slot_of(x, &p);
    found->used = turn;
    data = at_slot(x, found);
    steps[0] = s->step[0] ? p.len[1] * p.len[2] : 0;
    steps[1] = p.len[2];
    steps[2] = 1;
  }
  bool is_product = r->attr->row->cut == TT_CUT_PRODUCT;
  int first = is_product && s->axis[1] == (k == 0 ? TT_TILE_DEEP : TT_TILE_COLS) ? 2 : 1;
  int rank = 0;
  len[rank] = batch, step[rank++] = steps[0];
  if (is_product) len[rank] = p.len[first], step[rank++] = steps[first];
  len[rank] = p.len[3 - first], step[rank++] = steps[3 - first];
  tt_operand out = {.data = data, .dtype = x->dtype, .rank = rank, .len = len, .step = step, .size = 1};
  for (int d = 0; d < rank; d++) out.size *= len[d];
  return out;
}

/* The row's work on a turn's operands. `sums`: the inner axis is cut, its parts are summed there. */
static tt_code run_row(run *r, const tt_operand *src, const tt_block *out, void *sums, bool is_first, bool is_last,
                       tt_error *err) {
  const tt_lib_row *row = r->attr->row;
  tt_device *d = r->device;
  tt_dtype type = r->how->sums;
  int epilogue = r->how->match.epilogue;
  const void *term = epilogue && r->how->match.term >= 0 ? src[row->nsrc].data : NULL;
  if (d->target.kind == TT_DEVICE_NULL) {
    const tt_null_tile t = {sums, type, is_first, is_last, epilogue, term};
    return tt__stream_null(d, r->stream, r->attr, src, out, &t, &r->null_code, err);
  }
  tt_lib_use use;
  tt__exec_lib_open(&use, d, r->stream);
  tt_block partial = *out;
  partial.data = sums;
  partial.dtype = type;
  tt_code code = sums ? row->run_on_then(&use.on, r->attr, src, &partial, TT_EPILOGUE_SUMS, is_first ? NULL : sums, err)
                 : epilogue ? row->run_on_then(&use.on, r->attr, src, out, epilogue, term, err)
                            : row->run_on(&use.on, r->attr, src, out, err);
  if (code == TT_OK && sums && is_last && sums != out->data) code = row->end_sums(&use.on, sums, out, err);
  tt__exec_lib_close(&use);
  return code;
}

static tt_code launch(run *r, int64_t turn, tt_error *err) {
  tt_device *d = r->device;
  lane *result = &r->lane[r->how->nside - 1];
  int64_t at[TT_TILE_AXES], len[TT_TILE_SIDES][3], step[TT_NODE_SRC][3];
  tt_operand src[TT_NODE_SRC];
  tt_tile_part p = part_of(r, turn, result, at);
  int64_t deeps = r->how->count[TT_TILE_DEEP], deep = at[TT_TILE_DEEP];
  slot *into = slot_of(result, &p);
  TT_TRY(d->ops->event_record(d, r->up, d->up, err));
  TT_TRY(d->ops->stream_wait(d, r->stream, r->up, err));
  for (int k = 0; k < r->how->nside - 1; k++) src[k] = operand_of(r, turn, k, p.len[0], len[k], step[k]);
  into->part = p;
  into->holds = true;
  into->used = turn;
  bool is_product = r->attr->row->cut == TT_CUT_PRODUCT;
  int64_t *shape = len[r->how->nside - 1];
  shape[0] = p.len[0], shape[1] = is_product ? p.len[1] : p.len[2], shape[2] = p.len[2];
  tt_block out = {.data = at_slot(result, into),
                  .dtype = result->dtype,
                  .rank = is_product ? 3 : 2,
                  .len = shape,
                  .size = part_size(&p)};
  void *sums = deeps == 1 ? NULL : r->sums ? r->sums : out.data;
  TT_TRY(run_row(r, src, &out, sums, deep == 0, deep == deeps - 1, err));
  for (int k = 0; k < r->how->nside; k++) {
    lane *x = &r->lane[k];
    if (x->side->there) continue;
    tt_tile_part part = part_of(r, turn, x, at);
    TT_TRY(d->ops->event_record(d, slot_of(x, &part)->done, r->stream, err));
  }
  return TT_OK;
}

/* What a turn gave goes down in the next pipeline. */
static tt_code plan_down(run *r, int64_t turn, tt_error *err) {
  lane *x = &r->lane[r->how->nside - 1];
  int64_t at[TT_TILE_AXES];
  if (turn < 0) return TT_OK;
  tt_tile_part p = part_of(r, turn, x, at);
  if (at[TT_TILE_DEEP] != r->how->count[TT_TILE_DEEP] - 1) return TT_OK;
  slot *s = slot_of(x, &p);
  r->comes_down = (journey){x, p, at_slot(x, s)};
  return r->device->ops->stream_wait(r->device, r->device->down, s->done, err);
}

static tt_code run_turns(run *r, tt_error *err) {
  TT_TRY(plan_up(r, 0, err));
  TT_TRY(move_all(r, err));
  for (int64_t turn = 0; turn < r->turns; turn++) {
    if (tt__interrupted()) return tt__fail(err, TT_EINTERRUPT, "interrupted");
    TT_TRY(launch(r, turn, err));
    TT_TRY(plan_down(r, turn - 1, err));
    TT_TRY(plan_up(r, turn + 1, err));
    TT_TRY(move_all(r, err));
  }
  TT_TRY(plan_down(r, r->turns - 1, err));
  return move_all(r, err);
}

/* ---- around it */

/* Bytes of a side's slots. */
static size_t slots_size(const run *r, lane *x) {
  size_t most = x->side->size;
  for (int k = 0; k < TT_TILE_LEVELS; k++)
    most *= (size_t)(x->side->axis[k] >= 0 && x->side->step[k] ? r->how->tile[x->side->axis[k]] : x->side->len[k]);
  x->slot_bytes = (most + ALIGNED - 1) / ALIGNED * ALIGNED;
  return x->slot_bytes * (size_t)x->side->slots;
}

/* One block for all: the allocator's blocks are large. */
static tt_code open_slots(run *r, tt_error *err) {
  tt_device *d = r->device;
  const tt_tiles *how = r->how;
  size_t size = 0, at[TT_TILE_SIDES], sums_at;
  for (int i = 0; i < how->nside; i++) {
    at[i] = size;
    if (!how->side[i].there) size += slots_size(r, &r->lane[i]);
  }
  sums_at = size;
  bool sums = how->count[TT_TILE_DEEP] > 1 && how->sums != r->lane[how->nside - 1].dtype;
  if (sums)
    size += (size_t)(how->tile[TT_TILE_BATCH] * how->tile[TT_TILE_ROWS] * how->tile[TT_TILE_COLS]) *
            tt__dtype_size(how->sums);
  TT_TRY(tt__resident_temp(d, r->stream, size, &r->block, err));
  char *memory = tt__dmem_at(r->block);
  if (sums) r->sums = memory + sums_at;
  for (int i = 0; i < how->nside; i++) {
    lane *x = &r->lane[i];
    if (x->side->there) continue;
    x->at = memory + at[i];
    x->slot = tt__mem_zalloc(sizeof *x->slot * (size_t)x->side->slots);
    if (!x->slot) return tt__fail_memory(err, sizeof *x->slot * (size_t)x->side->slots);
    for (int64_t k = 0; k < x->side->slots; k++) {
      x->slot[k].used = k - x->side->slots;
      TT_TRY(d->ops->event_new(d, false, &x->slot[k].done, err));
    }
  }
  return TT_OK;
}

static tt_code open_lanes(run *r, const tt_walk *walk, const tt_step *step, tt_error *err) {
  for (int i = 0; i < r->how->nside; i++) {
    lane *x = &r->lane[i];
    x->side = &r->how->side[i];
    tt_node *n = is_result(r, x) ? walk->node[step->root[0].node] : walk->node[tt__tiles_node(step, r->how, i)];
    x->dtype = (tt_dtype)n->dtype;
    if (is_result(r, x)) {
      x->buffer = tt__buffer_new((size_t)n->size * tt__dtype_size(x->dtype), err);
      if (!x->buffer) return TT_ENOMEM;
    } else {
      x->buffer = tt__buffer_retain(n->attr.buf);
    }
    if (x->side->there) {
      void *at;
      TT_TRY(tt__resident(r->device, r->stream, x->buffer, &at, err));
      x->at = at;
      continue;
    }
    if (!x->buffer->data) TT_TRY(tt__session_residency->to_host(x->buffer, err));
    x->host = x->buffer->data;
  }
  return TT_OK;
}

/* The memory we were given may still be in use by earlier work of the stream. */
static tt_code open_order(run *r, tt_error *err) {
  tt_device *d = r->device;
  TT_TRY(d->ops->event_new(d, false, &r->up, err));
  TT_TRY(d->ops->event_record(d, r->up, r->stream, err));
  TT_TRY(d->ops->stream_wait(d, d->up, r->up, err));
  return d->ops->stream_wait(d, d->down, r->up, err);
}

static tt_code open_run(run *r, const tt_walk *walk, const tt_step *step, tt_error *err) {
  TT_TRY(open_lanes(r, walk, step, err));
  TT_TRY(open_slots(r, err));
  TT_TRY(tt__batch_flush(err));
  return open_order(r, err);
}

static void close_run(run *r) {
  tt_device *d = r->device;
  if (r->up) d->ops->event_free(d, r->up);
  if (r->block) tt__dmem_free(d, r->block);
  for (int i = 0; i < r->how->nside; i++) {
    lane *x = &r->lane[i];
    for (int64_t k = 0; x->slot && k < x->side->slots; k++)
      if (x->slot[k].done) d->ops->event_free(d, x->slot[k].done);
    if (x->slot) tt__mem_free(x->slot, sizeof *x->slot * (size_t)x->side->slots);
    if (x->buffer) tt__buffer_release(x->buffer);
  }
}

static void count(const run *r, const tt_step *step, int64_t start) {
  TT_COUNT(library_calls, 1);
  TT_COUNT(device_launches, r->turns);
  TT_COUNT(bytes_read, r->how->up_bytes);
  TT_COUNT(bytes_written, r->how->down_bytes);
  TT_COUNT(streamed, 1);
  TT_COUNT(pieces, r->turns);
  TT_COUNT(syncs, 1);
  if (tt__profile_on) tt__profile_add_pieces(step, r->turns, start, tt__clock_ns());
}

tt_code tt__stream_library(tt_device *d, const tt_walk *walk, const tt_plan *plan, int at, const tt_tiles *how,
                           tt_error *err) {
  assert(at >= 0 && at < plan->n && plan->step[at].kind == TT_STEP_LIB);
  const tt_step *step = &plan->step[at];
  if (how->sort.count > 0) return tt__external_sort(d, walk, step, &how->sort, err);
  int64_t start = tt__profile_on ? tt__clock_ns() : 0;
  tt_node *root = walk->node[(how->match.epilogue ? &plan->step[how->match.step] : step)->root[0].node];
  run *r = tt__mem_zalloc(sizeof *r);
  if (!r) return tt__fail_memory(err, sizeof *r);
  *r = (run){.device = d, .stream = tt__stream_current(d), .how = how, .attr = walk->node[step->lib]->attr.lib};
  r->turns = tt__tiles_turns(how);
  tt_origin o = {.what = ""};
  tt__session_line_name(root->line, o.where, sizeof o.where);
  const tt_origin *before = tt__origin_use(&o);
  tt_code code = open_run(r, walk, step, err);
  if (code == TT_OK) {
    code = run_turns(r, err);
    /* The simulated device reads our memory when it comes to it. */
    if (code != TT_OK || d->target.kind == TT_DEVICE_NULL) (void)!d->ops->stream_wait_idle(d, r->stream, NULL);
    if (code == TT_OK && r->null_code != TT_OK) code = tt__fail(err, r->null_code, "the simulated device failed");
  }
  if (code == TT_OK) {
    count(r, step, start);
    lane *result = &r->lane[how->nside - 1];
    tt__node_become_buffer(root, result->buffer);
    result->buffer = NULL;
  }
  tt__origin_use(before);
  close_run(r);
  tt__mem_free(r, sizeof *r);
  return code;
}
