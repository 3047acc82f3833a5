/*
** Gathered launches; see batch.h.
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
  tt_gathered list[MOST_LAUNCHES];
  _Alignas(16) char args[ARGS_BYTES];
} pending;

static tt_code launch_each(tt_error *err) {
  tt_device *d = pending.device;
  tt_code code = TT_OK;
  const tt_origin *before = tt__origin_now();
  for (int i = 0; code == TT_OK && i < pending.n; i++) {
    const tt_gathered *l = &pending.list[i];
    tt__origin_use(l->origin.what[0] ? &l->origin : NULL);
    code = d->ops->launch(d, pending.stream, l->routine, &l->grid, pending.args + l->at, l->size, err);
  }
  tt__origin_use(before);
  return code;
}

/* What was gathered is gone, for good or bad. A failure stays: the evaluation must not come out well, whoever asked. */
static tt_code settle(tt_code code) {
  pending.n = pending.older = 0;
  pending.used = 0;
  if (code != TT_OK) pending.failed = code;
  if (code != TT_OK || !pending.partly) tt__resident_launched(pending.device, code, &pending.why);
  return code;
}

static tt_code launch_all(void) { return settle(launch_each(&pending.why)); }

static tt_code report(tt_error *err) {
  if (pending.failed != TT_OK && err) *err = pending.why;
  return pending.failed;
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
  if (r->device != pending.device || r->n != pending.n) return false;
  for (int i = 0; i < pending.n; i++)
    if (r->launch[i].routine != pending.list[i].routine) return false;
  return true;
}

/* Remember this run of launches, to see whether the next one is the same. */
static void remember(tt_replay *r) {
  tt__replay_free(r);
  r->launch = tt__mem_dup(pending.list, sizeof *r->launch * (size_t)pending.n);
  if (!r->launch) return;
  r->device = pending.device;
  r->n = pending.n;
}

/* To messages it is one launch, named after its first. */
static tt_code launch_graph(const tt_replay *r, tt_error *err) {
  tt_origin o;
  const tt_origin *first = &pending.list[0].origin;
  snprintf(o.what, sizeof o.what, "%d kernels, first %.28s", pending.n, first->what[0] ? first->what : "a kernel");
  memcpy(o.where, first->where, sizeof o.where);
  const tt_origin *before = tt__origin_use(&o);
  tt_code code = pending.device->ops->graph_launch(pending.device, r->graph, pending.stream, err);
  tt__origin_use(before);
  return code;
}

/* The graph has these arguments now; without memory it is told of them all the next time. */
static void keep_args(tt_replay *r) {
  if (r->used != pending.used) {
    tt__mem_free(r->args, r->used);
    r->args = tt__mem_alloc(pending.used);
    r->used = r->args ? pending.used : 0;
  }
  if (r->args) memcpy(r->args, pending.args, pending.used);
  memcpy(r->launch, pending.list, sizeof *r->launch * (size_t)pending.n);
}

/* Has the graph's k-th launch these arguments already? A loop over the same arrays repeats them. */
static bool has_args(const tt_replay *r, int k) {
  const tt_gathered *had = &r->launch[k], *l = &pending.list[k];
  return r->args && had->at == l->at && had->size == l->size && memcmp(&had->grid, &l->grid, sizeof l->grid) == 0 &&
         memcmp(r->args + l->at, pending.args + l->at, l->size) == 0;
}

static tt_code capture(tt_replay *r, tt_error *err) {
  tt_device *d = pending.device;
  TT_TRY(d->ops->capture_begin(d, pending.stream, err));
  tt_error ignored;
  tt_code code = launch_each(err);
  tt_code end = d->ops->capture_end(d, pending.stream, &r->graph, code == TT_OK ? err : &ignored);
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
  tt_device *d = pending.device;
  for (int i = 0; i < pending.n; i++) {
    const tt_gathered *l = &pending.list[i];
    if (has_args(r, i)) continue;
    TT_TRY(d->ops->graph_args(d, r->graph, i, &l->grid, pending.args + l->at, l->size, err));
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
  tt_code code = r->graph ? replay(r, &pending.why) : capture(r, &pending.why);
  if (code != TT_OK && !tt__device_lost(pending.device)) { /* nothing of it ran */
    tt__replay_free(r);
    code = launch_each(&pending.why);
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
  tt_replay *r = pending.n >= LEAST_LAUNCHES ? series_of(&known) : NULL;
  if (r)
    play(r, known);
  else if (pending.n)
    launch_all();
}

/* Launch those of older evaluations; what is left begins the list. */
static void launch_older(void) {
  int own = pending.n - pending.older, from = pending.older;
  size_t used = pending.used, at = own ? pending.list[from].at : used;
  pending.n = from;
  pending.used = at;
  pending.partly = true;
  launch_waiting();
  pending.partly = false;
  if (pending.failed != TT_OK) return; /* all is over */
  memmove(pending.list, pending.list + from, sizeof *pending.list * (size_t)own);
  memmove(pending.args, pending.args + at, used - at);
  for (int i = 0; i < own; i++) pending.list[i].at -= at;
  pending.n = own;
  pending.used = used - at;
}

/* ---- */

void tt__batch_begin(tt_device *d, tt_stream *s) {
  if (pending.n && (pending.device != d || pending.stream != s)) launch_waiting();
  pending.device = d;
  pending.stream = s;
  pending.gathering = d->ops->capture_begin && d->ops->graph_args;
  pending.whole = true;
  pending.older = pending.n;
  pending.failed = TT_OK;
  if (!pending.n) tt__resident_launched(d, TT_OK, NULL);
}

tt_code tt__batch_flush(tt_error *err) {
  if (!pending.gathering) {
    launch_waiting();
    return TT_OK;
  }
  if (pending.n > pending.older) {
    pending.whole = false;
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
  if (!pending.gathering || d != pending.device || s != pending.stream)
    return d->ops->launch(d, s, f, g, args, size, err);
  if (g->together) { /* graphs are of plain launches */
    TT_TRY(tt__batch_flush(err));
    return d->ops->launch(d, s, f, g, args, size, err);
  }
  if (pending.older && (pending.n == MOST_LAUNCHES || pending.used + room > ARGS_BYTES)) launch_older();
  if (pending.n == MOST_LAUNCHES || pending.used + room > ARGS_BYTES) TT_TRY(tt__batch_flush(err));
  if (room > ARGS_BYTES) return d->ops->launch(d, s, f, g, args, size, err);
  tt_gathered *l = &pending.list[pending.n++];
  const tt_origin *origin = tt__origin_now();
  l->routine = f;
  l->grid = *g;
  l->at = pending.used;
  l->size = size;
  if (origin)
    l->origin = *origin;
  else
    l->origin.what[0] = l->origin.where[0] = 0;
  memcpy(pending.args + pending.used, args, size);
  pending.used += room;
  return TT_OK;
}

tt_code tt__batch_end(tt_replay *r, bool may_wait, tt_error *err) {
  if (!pending.gathering) return TT_OK;
  pending.gathering = false;
  int own = pending.n - pending.older;
  if (pending.whole && own >= LEAST_LAUNCHES) { /* a graph by itself */
    if (pending.older) launch_older();
    if (pending.n) play(r, is_same(r));
  } else if (!may_wait || pending.hurry || !pending.whole || pending.n >= MOST_WAITING || tt__batch_timer_ends()) {
    launch_waiting();
  }
  return report(err);
}

void tt__batch_hurry(void) { pending.hurry = true; }

void tt__batch_trim(void) {
  launch_waiting();
  for (int i = 0; i < SERIES; i++) tt__replay_free(&series[i].replay);
}

static void settle_all(void) { (void)!tt__batch_flush(NULL); }

__attribute__((constructor)) static void register_queue(void) { tt__calls_set_settle(settle_all); }
