/*
** Staged copies. A ring of pinned slots per direction; slot k holds chunk k, k + n, k + 2n ... of a copy. Chunks begin
** small, so that the device starts early, and double until a slot is full.
*/
#include "device/stage.h"

#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "device/device.h"

enum { MOST_SLOTS = 8, GRAIN = 256 << 10 };
static const size_t FIRST = 1 << 20;        /* the first chunk */
static const size_t SHORT_COPY = 128 << 10; /* up to here the driver's own staging is as fast */
static const size_t LONG_COPY = 4 << 20;    /* pinned memory is staged below, rather than waiting for the stream */

static size_t chunk_bytes = 8 << 20;
static int slot_count = 4;

void tt__stage_tune(size_t chunk, int slots) {
  chunk_bytes = chunk ? chunk : 8 << 20;
  slot_count = slots <= 0 ? 4 : slots < MOST_SLOTS ? slots : MOST_SLOTS;
}

typedef struct slot {
  void *memory;    /* pinned, ring.bytes */
  tt_event *event; /* of the last copy that used it */
  void *to;        /* (out) where its bytes belong */
  size_t size;
} slot;

/* Held from the first chunk to the last, so a ring serves one copy at a time. */
typedef struct ring {
  tt_lock lock;
  slot slot[MOST_SLOTS];
  int n;
  size_t bytes; /* of a slot */
} ring;

typedef struct stage {
  ring in, out;
} stage;

/* ---- copying by threads */

typedef struct copy_job {
  char *to;
  const char *from;
} copy_job;

static void copy_piece(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const copy_job *c = ctx;
  memcpy(c->to + lo, c->from + lo, (size_t)(hi - lo));
}

static void copy_bytes(void *to, const void *from, size_t size) {
  copy_job c = {to, from};
  tt__pool_run((int64_t)size, GRAIN, copy_piece, &c);
}

/* ---- rings */

static void empty_ring(tt_device *d, ring *r) {
  for (int k = 0; k < MOST_SLOTS; k++) {
    if (r->slot[k].event) d->ops->event_wait(d, r->slot[k].event, NULL);
    if (r->slot[k].event) d->ops->event_free(d, r->slot[k].event);
    tt__pinned_free(d, r->slot[k].memory, r->bytes);
    r->slot[k] = (slot){0};
  }
  r->n = 0;
}

/* At least one slot, at most as many as the size asks for. What cannot be had is done without. */
static tt_code fill_ring(tt_device *d, ring *r, size_t size, tt_error *err) {
  if (r->n && r->bytes != chunk_bytes) empty_ring(d, r);
  r->bytes = chunk_bytes;
  tt_code code = TT_OK;
  while (code == TT_OK && r->n < slot_count && (r->n < 2 || (size_t)r->n * r->bytes < size)) {
    slot *s = &r->slot[r->n];
    code = s->event ? TT_OK : d->ops->event_new(d, false, &s->event, err);
    if (code == TT_OK) code = tt__pinned_alloc(d, r->bytes, &s->memory, err);
    if (code == TT_OK) r->n++;
  }
  return r->n ? TT_OK : code;
}

static size_t chunk_of(const ring *r, int64_t k, size_t left) {
  size_t size = r->bytes;
  if (k < 16 && FIRST << k < size) size = FIRST << k;
  return size < left ? size : left;
}

/* ---- the two directions */

static tt_code stage_chunks_in(tt_device *d, ring *r, tt_stream *s, char *to, const char *from, size_t size,
                               tt_error *err) {
  size_t n;
  for (int64_t k = 0; size; k++, to += n, from += n, size -= n) {
    slot *at = &r->slot[k % r->n];
    n = chunk_of(r, k, size);
    TT_TRY(d->ops->event_wait(d, at->event, err)); /* never recorded counts as done */
    copy_bytes(at->memory, from, n);
    TT_TRY(d->ops->copy_in(d, s, to, at->memory, n, err));
    TT_TRY(d->ops->event_record(d, at->event, s, err));
  }
  return TT_OK;
}

static tt_code fetch(tt_device *d, slot *at, tt_error *err) {
  TT_TRY(d->ops->event_wait(d, at->event, err));
  copy_bytes(at->to, at->memory, at->size);
  return TT_OK;
}

static tt_code stage_chunks_out(tt_device *d, ring *r, tt_stream *s, char *to, const char *from, size_t size,
                                tt_error *err) {
  size_t n;
  int64_t asked = 0, done = 0;
  for (; size; asked++, to += n, from += n, size -= n) {
    slot *at = &r->slot[asked % r->n];
    n = chunk_of(r, asked, size);
    if (asked - done == r->n) TT_TRY(fetch(d, &r->slot[done++ % r->n], err));
    at->to = to;
    at->size = n;
    TT_TRY(d->ops->copy_out(d, s, at->memory, from, n, err));
    TT_TRY(d->ops->event_record(d, at->event, s, err));
  }
  while (done < asked) TT_TRY(fetch(d, &r->slot[done++ % r->n], err));
  return TT_OK;
}

/* A copy that failed half way may leave the device reading or writing a slot. */
static void settle(tt_device *d, ring *r, tt_stream *s) {
  d->ops->stream_wait_idle(d, s, NULL);
  empty_ring(d, r);
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

tt_code tt__stage_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  TT_TRY(tt__device_alive(d, err)); /* in a forked child the lock may be another thread's for ever */
  bool is_pinned = d->ops->is_pinned(d, from, size);
  if (is_pinned ? size >= LONG_COPY : size <= SHORT_COPY) return copy_in_now(d, s, to, from, size, is_pinned, err);
  ring *r = &((stage *)d->stage)->in;
  tt__lock(&r->lock);
  bool is_staged = fill_ring(d, r, size, NULL) == TT_OK; /* without pinned memory: slower, and as right */
  tt_code code = is_staged ? stage_chunks_in(d, r, s, to, from, size, err) : TT_OK;
  if (code != TT_OK) settle(d, r, s);
  tt__unlock(&r->lock);
  return is_staged ? code : copy_in_now(d, s, to, from, size, is_pinned, err);
}

tt_code tt__stage_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  TT_TRY(tt__device_alive(d, err));
  if (size <= SHORT_COPY || d->ops->is_pinned(d, to, size)) return copy_out_now(d, s, to, from, size, err);
  ring *r = &((stage *)d->stage)->out;
  tt__lock(&r->lock);
  bool is_staged = fill_ring(d, r, size, NULL) == TT_OK;
  tt_code code = is_staged ? stage_chunks_out(d, r, s, to, from, size, err) : TT_OK;
  if (code != TT_OK) settle(d, r, s);
  tt__unlock(&r->lock);
  return is_staged ? code : copy_out_now(d, s, to, from, size, err);
}

tt_code tt__stage_open(tt_device *d, tt_error *err) {
  stage *g = tt__mem_zalloc(sizeof *g);
  if (!g) return tt__fail_memory(err, sizeof *g);
  *g = (stage){.in.lock = TT_LOCK_INIT, .out.lock = TT_LOCK_INIT};
  d->stage = g;
  return TT_OK;
}

void tt__stage_close(tt_device *d) {
  stage *g = d->stage;
  empty_ring(d, &g->in);
  empty_ring(d, &g->out);
  tt__mem_free(g, sizeof *g);
  d->stage = NULL;
}
