/*
** Sorting in runs; see external_sort.h. A turn is a run or a block: its elements come up from one or from many places
** of the host, and what the device made of them goes to one. One pipeline (device/pipeline.h) brings the next turn's up
** and what the turn before gave down, while the device sorts.
*/
#include "run/outofcore/external_sort.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cache_alloc.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/build.h"
#include "graph/session.h"
#include "lib/sort/sort_int.h"
#include "run/exec.h"
#include "run/device/exec_device.h"
#include "run/report/profile.h"
#include "run/device/batch.h"
#include "run/residency.h"

enum { ALIGNED = 256 };

/* ---- a run */

/* Elements of the host, and their places (argsort). */
typedef struct span {
  char *keys;
  int64_t *places;
  int64_t n;
} span;

/* Where the parts of a turn lie on the device. */
typedef struct slot {
  char *in, *out;
  int64_t *in_places, *out_places;
  tt_event *done;
} slot;

typedef struct sorting {
  tt_device *device;
  tt_stream *stream;
  const tt_sort_cut *how;
  const tt_lib_attr *attr;
  tt_dtype dtype;
  size_t size;
  tt_key_rule rule;
  tt_buffer *source, *result;
  char *runs; /* the sorted runs of a row, if there are several, and the places of their elements */
  int64_t *run_places;
  int64_t *cut; /* [count + 1][count]: of each run, what lies before each block */
  tt_dmem *block;
  slot slot[TT_SORT_SLOTS];
  tt_event *up;
  span *goes_up; /* [count], of the turn that comes next */
  int64_t spans;
  slot *up_slot;
  span comes_down;
  const slot *down_slot;
  int64_t turns, up_bytes, down_bytes; /* done */
  tt_code null_code;
} sorting;

/* ---- moves: of each span the keys, then the places */

static bool move_span(const span *x, char *keys, int64_t *places, int64_t at, size_t size, int *i, tt_move *out) {
  if (x->keys && (*i)-- == 0) {
    *out = (tt_move){.host = x->keys, .at = keys + (size_t)at * size, .size = (size_t)x->n * size};
    return true;
  }
  if (!x->places || (*i)-- != 0) return false;
  *out = (tt_move){.host = x->places, .at = places + at, .size = (size_t)x->n * sizeof(int64_t)};
  return true;
}

static bool move_of(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  const sorting *r = ctx;
  if (is_down != (piece == 0)) return false;
  if (is_down)
    return r->comes_down.n &&
           move_span(&r->comes_down, r->down_slot->out, r->down_slot->out_places, 0, r->size, &i, out);
  int64_t at = 0;
  for (int64_t k = 0; k < r->spans; at += r->goes_up[k++].n)
    if (r->goes_up[k].n && move_span(&r->goes_up[k], r->up_slot->in, r->up_slot->in_places, at, r->size, &i, out))
      return true;
  return false;
}

static size_t span_bytes(const span *x, size_t size) {
  return (size_t)x->n * ((x->keys ? size : 0) + (x->places ? sizeof(int64_t) : 0));
}

tt_code tt__stream_move(tt_device *d, tt_pipeline_move_fn *move, void *ctx, size_t up, size_t down, tt_error *err) {
  const tt_pipeline f = {.device = d, .up = d->up, .down = d->down, .pieces = 2, .depth = 2, .move = move, .ctx = ctx};
  int depth = tt__session_suspend();
  tt_code code = tt__staging_pipeline(&f, up, down, err);
  tt__session_resume(depth);
  return code;
}

static tt_code move_all(sorting *r, tt_error *err) {
  size_t up = 0, down = span_bytes(&r->comes_down, r->size);
  for (int64_t k = 0; k < r->spans; k++) up += span_bytes(&r->goes_up[k], r->size);
  if (!up && !down) return TT_OK;
  tt_code code = tt__stream_move(r->device, move_of, r, up, down, err);
  r->up_bytes += (int64_t)up;
  r->down_bytes += (int64_t)down;
  r->spans = 0;
  r->comes_down.n = 0;
  return code;
}

/* ---- the work of a turn */

typedef struct part_args {
  tt_null_launch head;
  const tt_lib_attr *attr;
  tt_lib_part part;
  tt_code *failed;
} part_args;

static void run_null(const void *args) {
  part_args a;
  tt_error err = {0};
  memcpy(&a, args, sizeof a);
  tt_code code = a.attr->row->part(a.attr, &a.part, &err);
  if (code != TT_OK) *a.failed = code;
}

static tt_code run_part(sorting *r, const tt_lib_part *p, tt_error *err) {
  tt_device *d = r->device;
  if (d->target.kind == TT_DEVICE_NULL) {
    const part_args a = {.head = {.run = run_null, .us = 10}, .attr = r->attr, .part = *p, .failed = &r->null_code};
    const tt_grid grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    return d->ops->launch(d, r->stream, NULL, &grid, &a, sizeof a, err);
  }
  tt_lib_use use;
  tt__exec_lib_open(&use, d, r->stream);
  tt_code code = r->attr->row->part_on(&use.on, r->attr, p, err);
  tt__exec_lib_close(&use);
  return code;
}

/* A pass over a row: its runs, or (`merges`) the blocks of its result. */
typedef struct pass {
  char *from; /* the row; NULL: the runs are what it reads */
  span to;    /* of the whole row */
  bool merges;
} pass;

static int64_t turn_size(const sorting *r, int64_t turn) {
  int64_t left = r->how->n - turn * r->how->run;
  return left < r->how->run ? left : r->how->run;
}

static tt_code plan_up(sorting *r, const pass *p, int64_t turn, tt_error *err) {
  int64_t runs = r->how->count;
  if (turn >= runs) return TT_OK;
  r->up_slot = &r->slot[turn % TT_SORT_SLOTS];
  TT_TRY(r->device->ops->stream_wait(r->device, r->device->up, r->up_slot->done, err));
  if (!p->merges) {
    r->goes_up[0] = (span){p->from + (size_t)(turn * r->how->run) * r->size, NULL, turn_size(r, turn)};
    r->spans = 1;
    return TT_OK;
  }
  for (int64_t k = 0; k < runs; k++) {
    int64_t lo = r->cut[turn * runs + k], hi = r->cut[(turn + 1) * runs + k], at = k * r->how->run + lo;
    r->goes_up[k] = (span){r->runs + (size_t)at * r->size, r->run_places ? r->run_places + at : NULL, hi - lo};
  }
  r->spans = runs;
  return TT_OK;
}

static tt_code launch(sorting *r, const pass *p, int64_t turn, tt_error *err) {
  tt_device *d = r->device;
  slot *s = &r->slot[turn % TT_SORT_SLOTS];
  tt_lib_part part = {.dtype = r->dtype,
                      .in = s->in,
                      .first = p->merges ? s->in_places : NULL,
                      .base = turn * r->how->run,
                      .n = turn_size(r, turn),
                      .sorted = p->to.keys ? s->out : NULL,
                      .places = r->how->places ? s->out_places : NULL};
  TT_TRY(d->ops->event_record(d, r->up, d->up, err));
  TT_TRY(d->ops->stream_wait(d, r->stream, r->up, err));
  TT_TRY(run_part(r, &part, err));
  r->turns++;
  return d->ops->event_record(d, s->done, r->stream, err);
}

static tt_code plan_down(sorting *r, const pass *p, int64_t turn, tt_error *err) {
  int64_t at = turn * r->how->run;
  if (turn < 0) return TT_OK;
  r->down_slot = &r->slot[turn % TT_SORT_SLOTS];
  r->comes_down = (span){p->to.keys ? p->to.keys + (size_t)at * r->size : NULL, p->to.places ? p->to.places + at : NULL,
                         turn_size(r, turn)};
  return r->device->ops->stream_wait(r->device, r->device->down, r->down_slot->done, err);
}

static tt_code run_pass(sorting *r, const pass *p, tt_error *err) {
  TT_TRY(plan_up(r, p, 0, err));
  TT_TRY(move_all(r, err));
  for (int64_t turn = 0; turn < r->how->count; turn++) {
    if (tt__interrupted()) return tt__fail(err, TT_EINTERRUPT, "interrupted");
    TT_TRY(launch(r, p, turn, err));
    TT_TRY(plan_down(r, p, turn - 1, err));
    TT_TRY(plan_up(r, p, turn + 1, err));
    TT_TRY(move_all(r, err));
  }
  TT_TRY(plan_down(r, p, r->how->count - 1, err));
  TT_TRY(move_all(r, err));
  return r->null_code == TT_OK ? TT_OK : tt__fail(err, r->null_code, "the simulated device failed");
}

/* ---- where blocks begin in the runs */

static const char *run_at(const sorting *r, int64_t k) { return r->runs + (size_t)(k * r->how->run) * r->size; }

/* Elements of a run below `key`, or (`equals`) not above it. */
static int64_t below(const sorting *r, int64_t k, uint64_t key, bool equals) {
  const char *run = run_at(r, k);
  int64_t lo = 0, hi = turn_size(r, k);
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    uint64_t x = tt_key_at(r->rule, run, mid);
    if (x < key || (equals && x == key))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* The first `rank` elements of the result: the least key that has so many not above it, and of its equals those of the
 * earlier runs. */
static void cut_at(const sorting *r, int64_t rank, int64_t *cut) {
  uint64_t lo = 0, hi = r->rule.width == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * r->rule.width)) - 1;
  while (lo < hi) {
    uint64_t mid = lo + (hi - lo) / 2;
    int64_t have = 0;
    for (int64_t k = 0; k < r->how->count && have < rank; k++) have += below(r, k, mid, true);
    if (have >= rank)
      hi = mid;
    else
      lo = mid + 1;
  }
  int64_t left = rank;
  for (int64_t k = 0; k < r->how->count; k++) left -= cut[k] = below(r, k, lo, false);
  for (int64_t k = 0; k < r->how->count && left > 0; k++) {
    int64_t equal = below(r, k, lo, true) - cut[k], take = equal < left ? equal : left;
    cut[k] += take;
    left -= take;
  }
  assert(left == 0);
}

static void cut_some(void *ctx, int64_t lo, int64_t hi, int worker) {
  sorting *r = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t runs = r->how->count, rank = b < runs ? b * r->how->run : r->how->n;
    cut_at(r, rank, r->cut + b * runs);
  }
}

static void cut_blocks(sorting *r) {
  int depth = tt__session_suspend();
  tt__pool_run(r->how->count + 1, 1, cut_some, r);
  tt__session_resume(depth);
}

static tt_code sort_row(sorting *r, int64_t row, int64_t off, tt_error *err) {
  size_t at = (size_t)(row * r->how->n);
  char *from = (char *)r->source->data + ((size_t)off + at) * r->size;
  span result = {.n = r->how->n};
  if (r->how->places)
    result.places = (int64_t *)r->result->data + at;
  else
    result.keys = (char *)r->result->data + at * r->size;
  bool one = r->how->count == 1;
  const pass first = {.from = from, .to = one ? result : (span){r->runs, r->run_places, r->how->n}};
  const pass second = {.to = result, .merges = true};
  TT_TRY(run_pass(r, &first, err));
  if (one) return TT_OK;
  cut_blocks(r);
  return run_pass(r, &second, err);
}

/* ---- around it */

static size_t piece(size_t *at, size_t size) {
  size_t was = *at;
  *at += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
  return was;
}

static tt_code open_device(sorting *r, tt_error *err) {
  tt_device *d = r->device;
  size_t keys = (size_t)r->how->run * r->size, places = (size_t)r->how->run * sizeof(int64_t), size = 0;
  size_t at[TT_SORT_SLOTS][4];
  for (int k = 0; k < TT_SORT_SLOTS; k++) {
    at[k][0] = piece(&size, keys);
    at[k][1] = piece(&size, keys);
    at[k][2] = r->how->places ? piece(&size, places) : 0;
    at[k][3] = r->how->places ? piece(&size, places) : 0;
  }
  TT_TRY(tt__resident_temp(d, r->stream, size, &r->block, err));
  char *m = tt__dmem_at(r->block);
  for (int k = 0; k < TT_SORT_SLOTS; k++) {
    r->slot[k] = (slot){.in = m + at[k][0], .out = m + at[k][1]};
    if (r->how->places) r->slot[k].in_places = (int64_t *)(void *)(m + at[k][2]);
    if (r->how->places) r->slot[k].out_places = (int64_t *)(void *)(m + at[k][3]);
  }
  for (int k = 0; k < TT_SORT_SLOTS; k++) TT_TRY(d->ops->event_new(d, false, &r->slot[k].done, err));
  TT_TRY(d->ops->event_new(d, false, &r->up, err));
  /* The memory we were given may still be in use by earlier work of the stream. */
  TT_TRY(d->ops->event_record(d, r->up, r->stream, err));
  TT_TRY(d->ops->stream_wait(d, d->up, r->up, err));
  return d->ops->stream_wait(d, d->down, r->up, err);
}

static size_t cut_size(const tt_sort_cut *how) { return sizeof(int64_t) * (size_t)((how->count + 1) * how->count); }

static tt_code open_host(sorting *r, const tt_walk *walk, const tt_step *step, tt_error *err) {
  const tt_node *root = walk->node[step->root[0].node];
  const tt_sort_cut *how = r->how;
  if (!r->source->data) TT_TRY(tt__session_residency->to_host(r->source, err));
  r->result = tt__buffer_new((size_t)root->size * tt__dtype_size((tt_dtype)root->dtype), err);
  if (!r->result) return TT_ENOMEM;
  size_t spans = sizeof *r->goes_up * (size_t)how->count, keys = (size_t)how->n * r->size;
  r->goes_up = tt__mem_zalloc(spans);
  if (!r->goes_up) return tt__fail_memory(err, spans);
  if (how->count == 1) return TT_OK;
  r->cut = tt__mem_alloc_data(cut_size(how));
  r->runs = tt__mem_alloc_data(keys);
  if (!r->cut || !r->runs) return tt__fail_memory(err, keys);
  if (!how->places) return TT_OK;
  r->run_places = tt__mem_alloc_data((size_t)how->n * sizeof(int64_t));
  return r->run_places ? TT_OK : tt__fail_memory(err, (size_t)how->n * sizeof(int64_t));
}

static void close_all(sorting *r) {
  tt_device *d = r->device;
  if (r->up) d->ops->event_free(d, r->up);
  for (int k = 0; k < TT_SORT_SLOTS; k++)
    if (r->slot[k].done) d->ops->event_free(d, r->slot[k].done);
  if (r->block) tt__dmem_free(d, r->block);
  if (r->run_places) tt__mem_free_data(r->run_places, (size_t)r->how->n * sizeof(int64_t));
  if (r->runs) tt__mem_free_data(r->runs, (size_t)r->how->n * r->size);
  if (r->cut) tt__mem_free_data(r->cut, cut_size(r->how));
  if (r->goes_up) tt__mem_free(r->goes_up, sizeof *r->goes_up * (size_t)r->how->count);
  if (r->result) tt__buffer_release(r->result);
  tt__buffer_release(r->source);
}

static void count(const sorting *r, const tt_step *step, int64_t start) {
  TT_COUNT(library_calls, 1);
  TT_COUNT(device_launches, r->turns);
  TT_COUNT(uploads, r->turns);
  TT_COUNT(upload_bytes, r->up_bytes);
  TT_COUNT(downloads, r->turns);
  TT_COUNT(download_bytes, r->down_bytes);
  TT_COUNT(streamed, 1);
  TT_COUNT(pieces, r->turns);
  TT_COUNT(syncs, 1);
  if (tt__profile_on) tt__profile_add_pieces(step, r->turns, start, tt__clock_ns());
}

tt_code tt__external_sort(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_sort_cut *how,
                          tt_error *err) {
  assert(step->kind == TT_STEP_LIB && how->count > 0 && how->run > 0);
  int64_t start = tt__profile_on ? tt__clock_ns() : 0;
  tt_node *root = walk->node[step->root[0].node];
  const tt_node *source = walk->node[step->src[0].node];
  const tt_lib_attr *attr = walk->node[step->lib]->attr.lib;
  sorting *r = tt__mem_zalloc(sizeof *r);
  if (!r) return tt__fail_memory(err, sizeof *r);
  *r = (sorting){.device = d, .stream = tt__stream_current(d), .how = how, .attr = attr};
  r->dtype = (tt_dtype)source->dtype;
  r->size = tt__dtype_size(r->dtype);
  r->rule = tt__key_rule(r->dtype, attr->i[0] != 0, true);
  r->source = tt__buffer_retain(source->attr.buf);
  tt_origin o = {.what = ""};
  tt__session_line_name(root->line, o.where, sizeof o.where);
  const tt_origin *before = tt__origin_use(&o);
  tt_code code = open_host(r, walk, step, err);
  if (code == TT_OK) code = open_device(r, err);
  if (code == TT_OK) code = tt__batch_flush(err);
  for (int64_t row = 0; row < how->rows && code == TT_OK; row++) code = sort_row(r, row, step->src[0].off, err);
  if (code != TT_OK && r->block) (void)!d->ops->stream_wait_idle(d, r->stream, NULL);
  if (code == TT_OK) {
    count(r, step, start);
    tt__node_become_buffer(root, r->result);
    r->result = NULL;
  }
  tt__origin_use(before);
  close_all(r);
  tt__mem_free(r, sizeof *r);
  return code;
}
