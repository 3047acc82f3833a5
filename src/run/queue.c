/*
** Gathered launches; see queue.h.
*/
#include "run/queue.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/trail.h"
#include "graph/session.h"
#include "run/residency.h"

#define MOST_LAUNCHES 128
#define ARGS_BYTES (64 * 1024)
/* A graph of fewer launches saves little: its own launch costs about two. One is made when a plan repeats this
 * often. */
#define LEAST_LAUNCHES 4
#define REPEATS 3

static struct {
  tt_device *device;
  tt_stream *stream;
  bool gathering, whole; /* `whole`: nothing was flushed since the beginning */
  int n;
  size_t used;
  tt_code failed; /* the first failure of this evaluation, and its message */
  tt_error why;
  tt_queued list[MOST_LAUNCHES];
  _Alignas(16) char args[ARGS_BYTES];
} queue;

void tt__queue_begin(tt_device *d, tt_stream *s) {
  queue.device = d;
  queue.stream = s;
  queue.gathering = d->ops->capture_begin && d->ops->graph_args;
  queue.whole = true;
  queue.n = 0;
  queue.used = 0;
  queue.failed = TT_OK;
  tt__resident_launched(TT_OK, NULL);
}

static tt_code launch_each(tt_error *err) {
  tt_device *d = queue.device;
  tt_code code = TT_OK;
  const tt_origin *before = tt__origin_now();
  for (int i = 0; code == TT_OK && i < queue.n; i++) {
    const tt_queued *l = &queue.list[i];
    tt__origin_use(l->origin);
    code = d->ops->launch(d, queue.stream, l->routine, &l->grid, queue.args + l->at, l->size, err);
  }
  tt__origin_use(before);
  return code;
}

/* What was gathered is gone, for good or bad. A failure stays: the evaluation must not come out well, whoever asked. */
static tt_code settle(tt_code code) {
  queue.n = 0;
  queue.used = 0;
  if (code != TT_OK) queue.failed = code;
  tt__resident_launched(code, &queue.why);
  return code;
}

static tt_code launch_all(void) { return settle(launch_each(&queue.why)); }

static tt_code report(tt_error *err) {
  if (queue.failed != TT_OK && err) *err = queue.why;
  return queue.failed;
}

tt_code tt__queue_flush(tt_error *err) {
  if (!queue.gathering) return TT_OK;
  queue.whole = false;
  if (queue.n) launch_all();
  return report(err);
}

tt_code tt__queue_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args, size_t size,
                         tt_error *err) {
  size_t room = (size + 15) & ~(size_t)15;
  if (!queue.gathering || d != queue.device || s != queue.stream) return d->ops->launch(d, s, f, g, args, size, err);
  if (g->together) { /* graphs are of plain launches */
    TT_TRY(tt__queue_flush(err));
    return d->ops->launch(d, s, f, g, args, size, err);
  }
  if (queue.n == MOST_LAUNCHES || queue.used + room > ARGS_BYTES) TT_TRY(tt__queue_flush(err));
  if (room > ARGS_BYTES) return d->ops->launch(d, s, f, g, args, size, err);
  queue.list[queue.n++] =
      (tt_queued){.routine = f, .grid = *g, .at = queue.used, .size = size, .origin = tt__origin_now()};
  memcpy(queue.args + queue.used, args, size);
  queue.used += room;
  return TT_OK;
}

void tt__replay_free(tt_replay *r) {
  if (r->graph) r->device->ops->graph_free(r->device, r->graph);
  tt__mem_free(r->launch, sizeof *r->launch * (size_t)r->n);
  tt__mem_free(r->args, r->used);
  *r = (tt_replay){0};
}

static bool is_same(const tt_replay *r) {
  if (r->device != queue.device || r->n != queue.n) return false;
  for (int i = 0; i < queue.n; i++)
    if (r->launch[i].routine != queue.list[i].routine) return false;
  return true;
}

/* Remember this run of launches, to see whether the next one is the same. */
static void remember(tt_replay *r) {
  tt__replay_free(r);
  r->launch = tt__mem_dup(queue.list, sizeof *r->launch * (size_t)queue.n);
  if (!r->launch) return;
  r->device = queue.device;
  r->n = queue.n;
}

/* To messages it is one launch, named after its first. */
static tt_code launch_graph(const tt_replay *r, tt_error *err) {
  tt_origin o = {.what = ""};
  const tt_origin *first = queue.list[0].origin;
  snprintf(o.what, sizeof o.what, "%d kernels, first %.28s", queue.n, first ? first->what : "a kernel");
  if (first) memcpy(o.where, first->where, sizeof o.where);
  const tt_origin *before = tt__origin_use(&o);
  tt_code code = queue.device->ops->graph_launch(queue.device, r->graph, queue.stream, err);
  tt__origin_use(before);
  return code;
}

/* The graph has these arguments now; without memory it is told of them all the next time. */
static void keep_args(tt_replay *r) {
  if (r->used != queue.used) {
    tt__mem_free(r->args, r->used);
    r->args = tt__mem_alloc(queue.used);
    r->used = r->args ? queue.used : 0;
  }
  if (r->args) memcpy(r->args, queue.args, queue.used);
  memcpy(r->launch, queue.list, sizeof *r->launch * (size_t)queue.n);
}

/* Has the graph's k-th launch these arguments already? A loop over the same arrays repeats them. */
static bool has_args(const tt_replay *r, int k) {
  const tt_queued *had = &r->launch[k], *l = &queue.list[k];
  return r->args && had->at == l->at && had->size == l->size && memcmp(&had->grid, &l->grid, sizeof l->grid) == 0 &&
         memcmp(r->args + l->at, queue.args + l->at, l->size) == 0;
}

static tt_code capture(tt_replay *r, tt_error *err) {
  tt_device *d = queue.device;
  TT_TRY(d->ops->capture_begin(d, queue.stream, err));
  tt_error ignored;
  tt_code code = launch_each(err);
  tt_code end = d->ops->capture_end(d, queue.stream, &r->graph, code == TT_OK ? err : &ignored);
  if (code == TT_OK) code = end;
  if (code == TT_OK) {
    TT_COUNT(graphs_made, 1);
    keep_args(r);
    return launch_graph(r, err);
  }
  if (r->graph) d->ops->graph_free(d, r->graph);
  r->graph = NULL;
  return code;
}

static tt_code replay(tt_replay *r, tt_error *err) {
  tt_device *d = queue.device;
  for (int i = 0; i < queue.n; i++) {
    const tt_queued *l = &queue.list[i];
    if (has_args(r, i)) continue;
    TT_TRY(d->ops->graph_args(d, r->graph, i, &l->grid, queue.args + l->at, l->size, err));
  }
  keep_args(r);
  TT_COUNT(graph_launches, 1);
  return launch_graph(r, err);
}

tt_code tt__queue_end(tt_replay *r, tt_error *err) {
  if (!queue.gathering) return TT_OK;
  bool fits = queue.whole && queue.n >= LEAST_LAUNCHES;
  queue.gathering = false;
  if (fits && !is_same(r)) {
    remember(r);
    fits = false;
  }
  if (fits && (r->graph || ++r->seen >= REPEATS)) {
    tt_code code = r->graph ? replay(r, &queue.why) : capture(r, &queue.why);
    if (code != TT_OK && !tt__device_lost(queue.device)) { /* nothing of it ran */
      tt__replay_free(r);
      code = launch_each(&queue.why);
    }
    settle(code);
  } else if (queue.n) {
    launch_all();
  }
  return report(err);
}
