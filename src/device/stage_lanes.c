/* Staged copies in lanes; see the header. */
#include "device/stage_lanes.h"

#include <stdatomic.h>
#include <string.h>

#include "base/lock.h"
#include "base/pool.h"
#include "device/stage.h"

static const size_t LEAST_PIECE = 128 << 10;

static size_t bytes_of(const tt_lanes *l) { return (size_t)l->n * (size_t)l->slots * l->piece; }

void tt__lanes_empty(tt_device *d, tt_lanes *l) {
  for (int i = 0; i < l->n * l->slots; i++) {
    tt_event *e = l->event[i / l->slots][i % l->slots];
    if (!e) continue;
    (void)!d->ops->event_wait(d, e, NULL);
    d->ops->event_free(d, e);
  }
  tt__pinned_free(d, l->memory, bytes_of(l));
  *l = (tt_lanes){0};
}

bool tt__lanes_fill(tt_device *d, tt_lanes *l, int n, int slots, size_t piece) {
  if (n > TT_MOST_LANES) n = TT_MOST_LANES;
  if (l->n >= n && l->slots == slots && l->piece == piece) return true;
  tt__lanes_empty(d, l);
  void *memory = NULL;
  for (; n > 0; n /= 2)
    if (tt__pinned_alloc(d, (size_t)n * (size_t)slots * piece, &memory, NULL) == TT_OK) break;
  if (n == 0) return false;
  *l = (tt_lanes){.memory = memory, .n = n, .slots = slots, .piece = piece};
  for (int i = 0; i < n * slots; i++) {
    if (d->ops->event_new(d, false, &l->event[i / slots][i % slots], NULL) == TT_OK) continue;
    tt__lanes_empty(d, l);
    return false;
  }
  return true;
}

/* One copy under way. */
typedef struct job {
  tt_device *device;
  tt_lanes *lanes;
  tt_stream *stream;
  char *to;
  const char *from;
  size_t size, piece;
  int64_t n;          /* pieces */
  atomic_llong next;  /* the first that nobody took */
  atomic_bool failed; /* nobody goes on */
  tt_lock lock;       /* guards code and why */
  tt_code code;       /* of the first failure */
  tt_error why;
} job;

static bool take(job *j, int64_t *k) {
  if (atomic_load_explicit(&j->failed, memory_order_relaxed)) return false;
  *k = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
  return *k < j->n;
}

static size_t piece_at(const job *j, int64_t k, size_t *size) {
  size_t at = (size_t)k * j->piece;
  *size = j->size - at < j->piece ? j->size - at : j->piece;
  return at;
}

static char *slot_of(const tt_lanes *l, int lane, int64_t turn) {
  return l->memory + ((size_t)lane * (size_t)l->slots + (size_t)(turn % l->slots)) * l->piece;
}

static tt_code lane_in(job *j, int lane, tt_error *err) {
  tt_device *d = j->device;
  int64_t k;
  for (int64_t turn = 0; take(j, &k); turn++) {
    tt_event *e = j->lanes->event[lane][turn % j->lanes->slots];
    char *slot = slot_of(j->lanes, lane, turn);
    size_t size, at = piece_at(j, k, &size);
    TT_TRY(d->ops->event_wait(d, e, err)); /* one that was never recorded counts as done */
    memcpy(slot, j->from + at, size);
    TT_TRY(d->ops->copy_in(d, j->stream, j->to + at, slot, size, err));
    TT_TRY(d->ops->event_record(d, e, j->stream, err));
  }
  return TT_OK;
}

/* All slots of the lane are asked for before the first is waited for. */
static tt_code lane_out(job *j, int lane, tt_error *err) {
  tt_device *d = j->device;
  int64_t piece[TT_MOST_LANE_SLOTS], asked = 0, done = 0, k;
  int slots = j->lanes->slots;
  size_t size;
  for (;;) {
    while (asked - done < slots && take(j, &k)) {
      size_t at = piece_at(j, k, &size);
      piece[asked % slots] = k;
      TT_TRY(d->ops->copy_out(d, j->stream, slot_of(j->lanes, lane, asked), j->from + at, size, err));
      TT_TRY(d->ops->event_record(d, j->lanes->event[lane][asked % slots], j->stream, err));
      asked++;
    }
    if (done == asked) return TT_OK;
    TT_TRY(d->ops->event_wait(d, j->lanes->event[lane][done % slots], err));
    size_t at = piece_at(j, piece[done % slots], &size);
    memcpy(j->to + at, slot_of(j->lanes, lane, done), size);
    done++;
  }
}

static void run_lanes(job *j, int64_t lo, int64_t hi, tt_code (*lane_fn)(job *, int, tt_error *)) {
  for (int64_t lane = lo; lane < hi; lane++) {
    tt_error why;
    tt_code code = lane_fn(j, (int)lane, &why);
    if (code == TT_OK) continue;
    tt__lock(&j->lock);
    if (j->code == TT_OK) {
      j->code = code;
      j->why = why;
    }
    tt__unlock(&j->lock);
    atomic_store(&j->failed, true);
  }
}

static void run_in(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  run_lanes(ctx, lo, hi, lane_in);
}

static void run_out(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  run_lanes(ctx, lo, hi, lane_out);
}

/* Every lane gets a few pieces, so that none waits long for the last one. */
static size_t piece_of(const tt_lanes *l, size_t size) {
  size_t piece = size / ((size_t)l->n * 4);
  piece = (piece + LEAST_PIECE - 1) / LEAST_PIECE * LEAST_PIECE;
  if (piece < LEAST_PIECE) piece = LEAST_PIECE;
  return piece < l->piece ? piece : l->piece;
}

tt_code tt__lanes_copy(tt_device *d, tt_lanes *l, tt_stream *s, void *to, const void *from, size_t size, bool out,
                       tt_error *err) {
  job j = {.device = d, .lanes = l, .stream = s, .to = to, .from = from, .size = size, .lock = TT_LOCK_INIT};
  j.piece = piece_of(l, size);
  j.n = (int64_t)((size + j.piece - 1) / j.piece);
  tt__pool_run(l->n < j.n ? l->n : j.n, 1, out ? run_out : run_in, &j);
  if (j.code != TT_OK && err) *err = j.why;
  return j.code;
}
