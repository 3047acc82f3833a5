/*
** Gathered launches; see queue.h.
*/
#include "run/device/batch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "graph/call.h"
#include "graph/session.h"
#include "run/device/batch_timer.h"
#include "run/residency.h"

#define MOST_LAUNCHES 128
#define ARGS_BYTES (64 * 1024)
/* Launches of several evaluations that are asked for together, and how many such runs are known. */
#define MOST_WAITING 32
#define SERIES 8
/* A graph of fewer launches saves little: its own launch costs about two. One is made when a plan repeats this
 * often. */
#define LEAST_LAUNCHES 4
#define REPEATS 3

static struct {
  tt_device *device;
  tt_stream *stream;
  bool gathering, whole; /* an evaluation is under way; nothing of it was flushed since its beginning */
  bool partly;           /* what is launched now is not the whole list */
  bool hurry;
  int n, older; /* launches; the first `older` are those of evaluations before */
  size_t used;
  tt_code failed; /* the first failure of this evaluation, and its message */
  tt_error why;
  tt_queued list[MOST_LAUNCHES];
  _Alignas(16) char args[ARGS_BYTES];
} queue;

static tt_code launch_each(tt_error *err) {
  tt_device *d = queue.device;
  tt_code code = TT_OK;
  const tt_origin *before = tt__origin_now();
  for (int i = 0; code == TT_OK && i < queue.n; i++) {
    const tt_queued *l = &queue.list[i];
    tt__origin_use(l->origin.what[0] ? &l->origin : NULL);
    code = d->ops->launch(d, queue.stream, l->routine, &l->grid, queue.args + l->at, l->size, err);
  }
  tt__origin_use(before);
  return code;
}

/* What was gathered is gone, for good or bad. A failure stays: the evaluation must not come out well, whoever asked. */
static tt_code settle(tt_code code) {
  queue.n = queue.older = 0;
  queue.used = 0;
  if (code != TT_OK) queue.failed = code;
  if (code != TT_OK || !queue.partly) tt__resident_launched(queue.device, code, &queue.why);
  return code;
}

static tt_code launch_all(void) { return settle(launch_each(&queue.why)); }

static tt_code report(tt_error *err) {
  if (queue.failed != TT_OK && err) *err = queue.why;
  return queue.failed;
}

void tt__replay_free(tt_replay *r) {
  assert(r->n >= 0);
  if (r->graph) r->device->ops->graph_free(r->device, r->graph);
  tt__mem_free(r->launch, sizeof *r->launch * (size_t)r->n);
  tt__mem_free(r->args, r->used);
  *r = (tt_replay){0};
}

/* ---- runs of launches that repeat */

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
  tt_origin o;
  const tt_origin *first = &queue.list[0].origin;
  snprintf(o.what, sizeof o.what, "%d kernels, first %.28s", queue.n, first->what[0] ? first->what : "a kernel");
  memcpy(o.where, first->where, sizeof o.where);
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

/* Launch the list as one, when `r` has seen it (`known`: it is r's run) often enough; else one by one. */
static void play(tt_replay *r, bool known) {
  if (!known) remember(r);
  if (!known || (!r->graph && ++r->seen < REPEATS)) {
    launch_all();
    return;
  }
  tt_code code = r->graph ? replay(r, &queue.why) : capture(r, &queue.why);
  if (code != TT_OK && !tt__device_lost(queue.device)) { /* nothing of it ran */
    tt__replay_free(r);
    code = launch_each(&queue.why);
  }
  settle(code);
}

/* ---- launches of several evaluations */

static struct {
  tt_replay replay;
  uint64_t used; /* when, in runs */
} series[SERIES];

/* The run of these launches, or the place of the one that was met longest ago. */
static tt_replay *series_of(bool *known) {
  static uint64_t runs;
  int at = 0;
  *known = false;
  for (int i = 0; i < SERIES && !*known; i++) {
    *known = is_same(&series[i].replay);
    if (*known || series[i].used < series[at].used) at = i;
  }
  series[at].used = ++runs;
  return &series[at].replay;
}

static void launch_waiting(void) {
  bool known;
  tt_replay *r = queue.n >= LEAST_LAUNCHES ? series_of(&known) : NULL;
  if (r)
    play(r, known);
  else if (queue.n)
    launch_all();
}

/* Launch those of older evaluations; what is left begins the list. */
static void launch_older(void) {
  int own = queue.n - queue.older, from = queue.older;
  size_t used = queue.used, at = own ? queue.list[from].at : used;
  queue.n = from;
  queue.used = at;
  queue.partly = true;
  launch_waiting();
  queue.partly = false;
  if (queue.failed != TT_OK) return; /* all is over */
  memmove(queue.list, queue.list + from, sizeof *queue.list * (size_t)own);
  memmove(queue.args, queue.args + at, used - at);
  for (int i = 0; i < own; i++) queue.list[i].at -= at;
  queue.n = own;
  queue.used = used - at;
}

/* ---- */

void tt__batch_begin(tt_device *d, tt_stream *s) {
  if (queue.n && (queue.device != d || queue.stream != s)) launch_waiting();
  queue.device = d;
  queue.stream = s;
  queue.gathering = d->ops->capture_begin && d->ops->graph_args;
  queue.whole = true;
  queue.older = queue.n;
  queue.failed = TT_OK;
  if (!queue.n) tt__resident_launched(d, TT_OK, NULL);
}

tt_code tt__batch_flush(tt_error *err) {
  if (!queue.gathering) {
    launch_waiting();
    return TT_OK;
  }
  if (queue.n > queue.older) {
    queue.whole = false;
    launch_all();
  } else { /* what comes between comes before all of this evaluation's, as when operands are brought up first */
    launch_waiting();
  }
  return report(err);
}

tt_code tt__batch_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args, size_t size,
                         tt_error *err) {
  assert(d && s && g->block[0] && g->grid[0]);
  size_t room = (size + 15) & ~(size_t)15;
  if (!queue.gathering || d != queue.device || s != queue.stream) return d->ops->launch(d, s, f, g, args, size, err);
  if (g->together) { /* graphs are of plain launches */
    TT_TRY(tt__batch_flush(err));
    return d->ops->launch(d, s, f, g, args, size, err);
  }
  if (queue.older && (queue.n == MOST_LAUNCHES || queue.used + room > ARGS_BYTES)) launch_older();
  if (queue.n == MOST_LAUNCHES || queue.used + room > ARGS_BYTES) TT_TRY(tt__batch_flush(err));
  if (room > ARGS_BYTES) return d->ops->launch(d, s, f, g, args, size, err);
  tt_queued *l = &queue.list[queue.n++];
  const tt_origin *origin = tt__origin_now();
  l->routine = f;
  l->grid = *g;
  l->at = queue.used;
  l->size = size;
  if (origin)
    l->origin = *origin;
  else
    l->origin.what[0] = l->origin.where[0] = 0;
  memcpy(queue.args + queue.used, args, size);
  queue.used += room;
  return TT_OK;
}

tt_code tt__batch_end(tt_replay *r, bool may_wait, tt_error *err) {
  if (!queue.gathering) return TT_OK;
  queue.gathering = false;
  int own = queue.n - queue.older;
  if (queue.whole && own >= LEAST_LAUNCHES) { /* a graph by itself */
    if (queue.older) launch_older();
    if (queue.n) play(r, is_same(r));
  } else if (!may_wait || queue.hurry || !queue.whole || queue.n >= MOST_WAITING || tt__batch_timer_ends()) {
    launch_waiting();
  }
  return report(err);
}

void tt__batch_hurry(void) { queue.hurry = true; }

void tt__batch_trim(void) {
  launch_waiting();
  for (int i = 0; i < SERIES; i++) tt__replay_free(&series[i].replay);
}

static void settle_all(void) { (void)!tt__batch_flush(NULL); }

__attribute__((constructor)) static void register_queue(void) { tt__calls_set_settle(settle_all); }
