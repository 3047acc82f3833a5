/* Pipelines; see pipeline.h. */
#include "device/pipeline.h"

#include <assert.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/copy.h"
#include "base/pool/pool.h"
#include "device/staging.h"

/* The first copies of a pipeline are short, so that the other end starts early. */
enum { GRAIN = 128 << 10, FIRST_CHUNK = 256 << 10, CHUNK = 2 << 20, MOST_CHUNK = 8 << 20 };
enum { RING = 32 << 20, LEAST_RING = 1 << 20, SHORT_FLOW = 4 /* rings */ };
/* A conductor with nothing to do looks again so often, then it lets the device wake it. */
enum { LOOKS = 100, PATIENCE = 50 };

static size_t chunk_bytes = CHUNK, ring_bytes = RING, grain_bytes = GRAIN, first_bytes = FIRST_CHUNK;

void tt__pipeline_tune(size_t chunk, size_t ring, size_t grain, size_t first) {
  first_bytes = first ? first : FIRST_CHUNK;
  grain_bytes = grain ? grain : GRAIN;
  const size_t most = (size_t)TT_PIPELINE_SLOTS * grain_bytes;
  chunk_bytes = chunk ? chunk : CHUNK;
  ring_bytes = ring ? ring : RING;
  if (ring_bytes > most) ring_bytes = most;
}

/* ---- rings */

static bool has_chunks(const tt_pipeline_ring *r) { return r->first_chunk < r->next_chunk; }
static bool has_room(const tt_pipeline_ring *r) { return r->next_chunk - r->first_chunk < TT_PIPELINE_CHUNKS; }
static bool is_full(const tt_pipeline_ring *r) { return r->planned - r->freed == r->slots; }
static tt_pipeline_grain *grain_at(tt_pipeline_ring *r, int64_t g) { return &r->grain[g % r->slots]; }
static char *slot_at(const tt_pipeline_ring *r, int64_t g) {
  return r->memory + (size_t)(g % r->slots) * r->grain_bytes;
}

/* Nothing is under way any more. */
static void reset(tt_pipeline_ring *r) {
  r->first_chunk = r->next_chunk;
  r->freed = r->asked = r->planned;
  atomic_store(&r->claimed, r->planned);
  atomic_store(&r->ready, r->planned);
}

void tt__pipeline_ring_empty(tt_device *d, tt_pipeline_ring *r) {
  for (; has_chunks(r); r->first_chunk++)
    (void)!d->ops->event_wait(d, r->event[r->first_chunk % TT_PIPELINE_CHUNKS], NULL);
  reset(r);
  for (int k = 0; k < TT_PIPELINE_CHUNKS; k++) {
    if (r->event[k]) d->ops->event_free(d, r->event[k]);
    r->event[k] = NULL;
  }
  tt__pinned_free(d, r->memory, (size_t)r->slots * r->grain_bytes);
  r->memory = NULL;
  r->slots = 0;
}

tt_code tt__pipeline_ring_fill(tt_device *d, tt_pipeline_ring *r, size_t size, tt_error *err) {
  assert(size > 0);
  size_t want = LEAST_RING;
  while (want < size && want < ring_bytes) want *= 2;
  if (want > ring_bytes) want = ring_bytes;
  if (r->memory && r->grain_bytes == grain_bytes && (size_t)r->slots * grain_bytes >= want) return TT_OK;
  tt__pipeline_ring_empty(d, r);
  tt_code code = TT_ENOMEM;
  void *memory = NULL;
  r->grain_bytes = grain_bytes;
  for (; code == TT_ENOMEM && want >= grain_bytes; want /= 2) {
    r->slots = (int64_t)(want / grain_bytes);
    code = tt__pinned_alloc(d, (size_t)r->slots * grain_bytes, &memory, err);
  }
  r->memory = memory;
  for (int k = 0; k < TT_PIPELINE_CHUNKS && code == TT_OK; k++) code = d->ops->event_new(d, false, &r->event[k], err);
  if (code != TT_OK) tt__pipeline_ring_empty(d, r);
  return code;
}

/* ---- what all threads do */

enum { UP, DOWN };

typedef struct pipeline {
  const tt_pipeline *f;
  tt_pipeline_ring *ring[2]; /* NULL: nothing moves that way */
  atomic_bool has_conductor, has_helpers, is_over;
  /* The conductor's. */
  tt_code code;
  tt_error *err;
  struct {
    int64_t piece;
    int move;
    size_t bytes;               /* of the move, planned */
  } at[2];                      /* where planning stands */
  int64_t begun, ran, returned; /* pieces */
  size_t moved[2];              /* bytes asked for */
} pipeline;

/*
** A device fetches lines that lie changed in the caches of cores at half the rate at which it fetches them from
** memory. In a short pipeline it is close behind the threads; in a long one they are a ring ahead, and the caches have
** written back.
*/
static void copy_up(const tt_pipeline_ring *r, int64_t g, const tt_pipeline_grain *x) {
  if (r->is_short)
    tt__copy_out_of_caches(slot_at(r, g), x->host + x->from, x->size);
  else
    memcpy(slot_at(r, g), x->host + x->from, x->size);
}

/* Between a slot and rows of the caller's memory. */
static void copy_rows(const tt_pipeline_grain *x, char *slot, bool is_down) {
  size_t row = x->from / x->row, col = x->from % x->row;
  for (size_t done = 0, n; done < x->size; done += n) {
    char *host = x->host + (ptrdiff_t)row++ * x->pitch + col;
    n = x->row - col < x->size - done ? x->row - col : x->size - done;
    if (is_down)
      memcpy(host, slot + done, n);
    else
      memcpy(slot + done, host, n);
    col = 0;
  }
}

static bool copy_one(tt_pipeline_ring *r) {
  if (!r) return false;
  long long g = atomic_load_explicit(&r->claimed, memory_order_relaxed);
  do {
    if (g >= atomic_load_explicit(&r->ready, memory_order_acquire)) return false;
  } while (!atomic_compare_exchange_weak(&r->claimed, &g, g + 1));
  tt_pipeline_grain *x = grain_at(r, g);
  if (x->size && x->row)
    copy_rows(x, slot_at(r, g), r->is_down);
  else if (x->size && r->is_down)
    memcpy(x->host + x->from, slot_at(r, g), x->size);
  else if (x->size)
    copy_up(r, g, x);
  atomic_store_explicit(&x->done, true, memory_order_release);
  return true;
}

/* Nothing to do for the n-th time in a row. */
static void idle(int n) {
  static const struct timespec nap = {0, 50000};
  if (n < 100)
    for (int i = 0; i < 50; i++) tt__relax();
  else if (n < 1000)
    sched_yield();
  else
    nanosleep(&nap, NULL);
}

static void help(pipeline *w, int64_t lane) {
  atomic_store_explicit(&w->has_helpers, true, memory_order_relaxed);
  for (int n = 0; !atomic_load_explicit(&w->is_over, memory_order_acquire);) {
    bool did = copy_one(w->ring[lane % 2]) || copy_one(w->ring[1 - lane % 2]);
    n = did ? 0 : n + 1;
    if (!did) idle(n);
  }
}

/* ---- planning */

static bool tell(pipeline *w, int64_t piece, tt_pipeline_point point) {
  if (w->f->at && w->code == TT_OK) w->code = w->f->at(w->f->ctx, piece, point, w->err);
  return w->code == TT_OK;
}

static bool move_at(const pipeline *w, int way, int64_t piece, int i, tt_move *out) {
  if (w->f->move(w->f->ctx, way == DOWN, piece, i, out)) return true;
  *out = (tt_move){0};
  return false;
}

/* The next grain of a direction. A piece without moves has one without bytes. */
static const tt_pipeline_grain *plan_grain(pipeline *w, int way) {
  tt_pipeline_ring *r = w->ring[way];
  tt_pipeline_grain *x = grain_at(r, r->planned++);
  tt_move m, next;
  int64_t piece = w->at[way].piece;
  size_t from = w->at[way].bytes;
  move_at(w, way, piece, w->at[way].move, &m);
  x->size = m.size - from < r->grain_bytes ? m.size - from : r->grain_bytes;
  x->host = m.host;
  x->from = from;
  x->row = m.row;
  x->pitch = m.pitch;
  x->at = x->size ? (char *)m.at + from : NULL;
  x->piece = piece;
  x->begins_piece = from == 0 && w->at[way].move == 0;
  x->ends_move = from + x->size == m.size;
  x->ends_piece = x->ends_move && !move_at(w, way, piece, w->at[way].move + 1, &next);
  atomic_store_explicit(&x->done, false, memory_order_relaxed);
  w->at[way].bytes = x->ends_move ? 0 : from + x->size;
  w->at[way].move = x->ends_piece ? 0 : w->at[way].move + x->ends_move;
  w->at[way].piece += x->ends_piece;
  return x;
}

static bool may_begin(const pipeline *w, int64_t piece) {
  return piece < w->f->pieces && piece - w->f->depth < w->returned;
}

static bool plan_up(pipeline *w) {
  tt_pipeline_ring *r = w->ring[UP];
  int64_t before = r->planned;
  while (!is_full(r) && may_begin(w, w->at[UP].piece)) plan_grain(w, UP);
  atomic_store_explicit(&r->ready, r->planned, memory_order_release);
  return r->planned > before;
}

/* ---- asking the device */

/* The grains from r->asked to `to`, which lie side by side, in one copy. */
static bool ask(pipeline *w, int way, int64_t to, size_t size) {
  tt_pipeline_ring *r = w->ring[way];
  tt_device *d = w->f->device;
  tt_stream *s = way == UP ? w->f->up : w->f->down;
  char *slot = slot_at(r, r->asked), *at = grain_at(r, r->asked)->at;
  w->code = way == UP ? d->ops->copy_in(d, s, at, slot, size, w->err) : d->ops->copy_out(d, s, slot, at, size, w->err);
  if (w->code == TT_OK) w->code = d->ops->event_record(d, r->event[r->next_chunk % TT_PIPELINE_CHUNKS], s, w->err);
  if (w->code != TT_OK) return false;
  r->chunk_end[r->next_chunk++ % TT_PIPELINE_CHUNKS] = to;
  r->asked = to;
  w->moved[way] += size;
  return true;
}

/* Bytes that a copy should have by now, in whole grains. */
static size_t chunk_now(const pipeline *w, int way) {
  size_t grain = w->ring[way]->grain_bytes, most = (size_t)w->ring[way]->slots * grain / 4, size = chunk_bytes;
  if (w->moved[way] < 2 * first_bytes && size > first_bytes) size = first_bytes;
  if (size > most) size = most;
  return size > grain ? size / grain * grain : grain;
}

static void ran(pipeline *w) {
  tell(w, w->ran++, TT_FLOW_RUN);
  if (!w->ring[DOWN]) w->returned++;
}

/* Copies up of what threads have brought into the ring; the work of pieces that are there. */
static bool ask_up(pipeline *w) {
  tt_pipeline_ring *r = w->ring[UP];
  size_t size = 0;
  int64_t to = r->asked;
  bool ends = false;
  while (!ends && to < r->planned && atomic_load_explicit(&grain_at(r, to)->done, memory_order_acquire)) {
    const tt_pipeline_grain *x = grain_at(r, to++);
    size += x->size;
    ends = x->ends_move || to % r->slots == 0 || size >= MOST_CHUNK;
  }
  if (to == r->asked || !has_room(r) || (!ends && size < chunk_now(w, UP))) return false;
  if (grain_at(r, r->asked)->begins_piece && !tell(w, w->begun++, TT_FLOW_BEGIN)) return false;
  if (ask(w, UP, to, size) && grain_at(r, to - 1)->ends_piece) ran(w);
  return w->code == TT_OK;
}

/* Without moves up, pieces run as soon as they may. */
static bool run_next(pipeline *w) {
  if (!may_begin(w, w->ran)) return false;
  if (tell(w, w->begun++, TT_FLOW_BEGIN)) ran(w);
  return w->code == TT_OK;
}

/* Copies down of pieces that have been run. */
static bool ask_down(pipeline *w) {
  tt_pipeline_ring *r = w->ring[DOWN];
  size_t size = 0, want = chunk_now(w, DOWN);
  int64_t room = r->slots - (r->planned - r->freed);
  if (w->at[DOWN].piece >= w->ran || !has_room(r) || room < (int64_t)(want / r->grain_bytes)) return false;
  bool ends = false;
  const tt_pipeline_grain *x = NULL;
  while (!ends && size < want) {
    x = plan_grain(w, DOWN);
    size += x->size;
    ends = x->ends_move || r->planned % r->slots == 0;
  }
  if (grain_at(r, r->asked)->begins_piece && !tell(w, x->piece, TT_FLOW_RETURN)) return false;
  if (ask(w, DOWN, r->planned, size) && x->ends_piece) tell(w, w->returned++, TT_FLOW_RETURNED);
  return w->code == TT_OK;
}

/* ---- looking at what is done */

/* Has the oldest copy asked for been done? `waits`: it has, on return. */
static bool is_chunk_done(pipeline *w, tt_pipeline_ring *r, bool waits) {
  tt_device *d = w->f->device;
  tt_event *e = r->event[r->first_chunk % TT_PIPELINE_CHUNKS];
  bool done = true;
  w->code = waits ? d->ops->event_wait(d, e, w->err) : d->ops->event_done(d, e, &done, w->err);
  return w->code == TT_OK && done;
}

static void chunk_is_done(tt_pipeline_ring *r) {
  int64_t end = r->chunk_end[r->first_chunk++ % TT_PIPELINE_CHUNKS];
  if (r->is_down)
    atomic_store_explicit(&r->ready, end, memory_order_release);
  else
    r->freed = end;
}

static bool look(pipeline *w, tt_pipeline_ring *r) {
  bool did = false;
  if (!r->is_down && has_room(r) && r->planned - r->freed <= r->slots / 2) return false; /* its slots are not missed */
  while (has_chunks(r) && is_chunk_done(w, r, false)) {
    chunk_is_done(r);
    did = true;
  }
  int64_t ready = atomic_load_explicit(&r->ready, memory_order_relaxed);
  for (; r->is_down && r->freed < ready; r->freed++)
    if (!atomic_load_explicit(&grain_at(r, r->freed)->done, memory_order_acquire)) break;
  return did;
}

/* Nothing has happened for a while: wait for the device, if it is what everything waits for. */
static void wait(pipeline *w, int n) {
  tt_pipeline_ring *down = w->ring[DOWN], *up = w->ring[UP];
  tt_pipeline_ring *r = down && has_chunks(down) ? down : up && has_chunks(up) && is_full(up) ? up : NULL;
  if (n < LOOKS || !r) {
    idle(n);
  } else if (is_chunk_done(w, r, true)) {
    chunk_is_done(r);
  }
}

static bool is_done(const pipeline *w) {
  const tt_pipeline_ring *down = w->ring[DOWN];
  return w->ran == w->f->pieces && (!down || (w->returned == w->f->pieces && down->freed == down->planned));
}

static void conduct(pipeline *w) {
  for (int n = 0; w->code == TT_OK && !is_done(w);) {
    bool did = false;
    if (w->ring[UP]) {
      did |= look(w, w->ring[UP]);
      did |= w->code == TT_OK && plan_up(w);
      while (w->code == TT_OK && ask_up(w)) did = true;
    } else {
      while (w->code == TT_OK && run_next(w)) did = true;
    }
    if (w->ring[DOWN] && w->code == TT_OK) {
      did |= look(w, w->ring[DOWN]);
      while (w->code == TT_OK && ask_down(w)) did = true;
    }
    /* A conductor who copies lets the device wait: it does so alone, or when the others are not quick. */
    if (!did && (n >= PATIENCE || !atomic_load_explicit(&w->has_helpers, memory_order_relaxed)))
      did = copy_one(w->ring[DOWN]) || copy_one(w->ring[UP]);
    n = did ? 0 : n + 1;
    if (!did && w->code == TT_OK) wait(w, n);
  }
  atomic_store_explicit(&w->is_over, true, memory_order_release);
}

static void take_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)hi, (void)worker;
  pipeline *w = ctx;
  if (!atomic_exchange(&w->has_conductor, true))
    conduct(w);
  else
    help(w, lo);
}

tt_code tt__pipeline_run(const tt_pipeline *f, tt_pipeline_ring *in, tt_pipeline_ring *out, size_t bytes,
                         tt_error *err) {
  assert(in || out);
  pipeline w = {.f = f, .ring = {in, out}, .err = err};
  int64_t lanes = (int64_t)(bytes / grain_bytes) + 1;
  assert((!out || (out->is_down && !has_chunks(out))) && (!in || !in->is_down));
  if (in) in->is_short = bytes <= SHORT_FLOW * ring_bytes;
  tt__pool_run(lanes < tt__pool_size() ? lanes : tt__pool_size(), 1, take_part, &w);
  if (w.code == TT_OK) return TT_OK;
  if (f->up) (void)!f->device->ops->stream_wait_idle(f->device, f->up, NULL);
  if (f->down) (void)!f->device->ops->stream_wait_idle(f->device, f->down, NULL);
  if (in) reset(in);
  if (out) reset(out);
  return w.code;
}
