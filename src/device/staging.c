/* Staged copies: pipelines (device/pipeline.h) of one piece with one move. */
#include "device/staging.h"

#include <assert.h>

#include "base/mem.h"
#include "device/device.h"

static const size_t SHORT_COPY = 128 << 10; /* up to here the driver's own staging is as fast */
static const size_t LONG_COPY = 4 << 20; /* pinned memory is staged from here on, rather than waiting for the stream */

typedef struct stage {
  tt_pipeline_ring in, out;
} stage;

static bool one_move(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  (void)is_down, (void)piece;
  if (i > 0) return false;
  *out = *(const tt_move *)ctx;
  return true;
}

/* Without a ring. The driver reads memory that is not pinned before it returns; pinned memory must be waited for. */
static tt_code copy_in_now(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, bool is_pinned,
                           tt_error *err) {
  TT_TRY(d->ops->copy_in(d, s, to, from, size, err));
  return is_pinned ? d->ops->stream_wait_idle(d, s, err) : TT_OK;
}

static tt_code copy_out_now(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  TT_TRY(d->ops->copy_out(d, s, to, from, size, err));
  return d->ops->stream_wait_idle(d, s, err);
}

tt_code tt__staging_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  assert(s);
  TT_TRY(tt__device_alive(d, err)); /* in a forked child the lock may be another thread's for ever */
  bool is_pinned = d->ops->is_pinned(d, from, size);
  if (is_pinned ? size >= LONG_COPY : size <= SHORT_COPY) return copy_in_now(d, s, to, from, size, is_pinned, err);
  tt_pipeline_ring *r = &((stage *)d->stage)->in;
  tt_move m = {.host = (void *)(uintptr_t)from, .at = to, .size = size};
  tt_pipeline f = {.device = d, .up = s, .pieces = 1, .depth = 1, .move = one_move, .ctx = &m};
  tt__lock(&r->lock);
  bool is_staged = tt__pipeline_ring_fill(d, r, size, NULL) == TT_OK; /* without pinned memory: slower, and as right */
  tt_code code = is_staged ? tt__pipeline_run(&f, r, NULL, size, err) : TT_OK;
  tt__unlock(&r->lock);
  return is_staged ? code : copy_in_now(d, s, to, from, size, is_pinned, err);
}

tt_code tt__staging_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  assert(s);
  TT_TRY(tt__device_alive(d, err));
  if (size <= SHORT_COPY || d->ops->is_pinned(d, to, size)) return copy_out_now(d, s, to, from, size, err);
  tt_pipeline_ring *r = &((stage *)d->stage)->out;
  tt_move m = {.host = to, .at = (void *)(uintptr_t)from, .size = size};
  tt_pipeline f = {.device = d, .down = s, .pieces = 1, .depth = 1, .move = one_move, .ctx = &m};
  tt__lock(&r->lock);
  bool is_staged = tt__pipeline_ring_fill(d, r, size, NULL) == TT_OK;
  tt_code code = is_staged ? tt__pipeline_run(&f, NULL, r, size, err) : TT_OK;
  tt__unlock(&r->lock);
  return is_staged ? code : copy_out_now(d, s, to, from, size, err);
}

tt_code tt__staging_pipeline(const tt_pipeline *f, size_t up_bytes, size_t down_bytes, tt_error *err) {
  tt_device *d = f->device;
  TT_TRY(tt__device_alive(d, err));
  tt_pipeline_ring *in = up_bytes ? &((stage *)d->stage)->in : NULL;
  tt_pipeline_ring *out = down_bytes ? &((stage *)d->stage)->out : NULL;
  tt_code code = TT_OK;
  if (in) tt__lock(&in->lock);
  if (out) tt__lock(&out->lock);
  if (in) code = tt__pipeline_ring_fill(d, in, up_bytes, err);
  if (out && code == TT_OK) code = tt__pipeline_ring_fill(d, out, down_bytes, err);
  if (code == TT_OK) code = tt__pipeline_run(f, in, out, up_bytes + down_bytes, err);
  if (out) tt__unlock(&out->lock);
  if (in) tt__unlock(&in->lock);
  return code;
}

tt_code tt__staging_open(tt_device *d, tt_error *err) {
  stage *g = tt__mem_zalloc(sizeof *g);
  if (!g) return tt__fail_memory(err, sizeof *g);
  g->in.lock = g->out.lock = (tt_lock)TT_LOCK_INIT;
  g->out.is_down = true;
  d->stage = g;
  return TT_OK;
}

void tt__staging_close(tt_device *d) {
  stage *g = d->stage;
  tt__pipeline_ring_empty(d, &g->in);
  tt__pipeline_ring_empty(d, &g->out);
  tt__mem_free(g, sizeof *g);
  d->stage = NULL;
}
