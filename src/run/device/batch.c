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

#define MOST_LAUNCHES 512
#define ARGS_BYTES (256 * 1024)
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

/* `captured`: into a graph, in which launches have numbers. */
static tt_code launch_each(bool captured, tt_error *err) {
  tt_device *d = pending.device;
  tt_code code = TT_OK;
  const tt_origin *before = tt__origin_now();
  for (int i = 0; code == TT_OK && i < pending.n; i++) {
    tt_gathered *l = &pending.list[i];
    const char *args = pending.args + l->at;
    tt__origin_use(l->origin.what[0] || l->origin.where[0] ? &l->origin : NULL);
    if (captured) l->number = d->ops->graphs->launches(d, pending.stream);
    code = l->ask ? l->ask(d, pending.stream, args, err)
                  : d->ops->launch(d, pending.stream, l->routine, &l->grid, args, l->size, err);
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

static tt_code launch_all(void) { return settle(launch_each(false, &pending.why)); }

static tt_code report(tt_error *err) {
  if (pending.failed != TT_OK && err) *err = pending.why;
  return pending.failed;
}

static void drop_played(const tt_replay *r, tt_played *p) {
  if (p->graph) r->device->ops->graphs->free(r->device, p->graph);
  tt__mem_free(p->launch, p->launch ? sizeof *p->launch * (size_t)r->n : 0);
  tt__mem_free(p->args, p->used);
  *p = (tt_played){0};
}

void tt__replay_free(tt_replay *r) {
  assert(r->n >= 0);
  for (int i = 0; i < TT_PLAYED; i++) drop_played(r, &r->played[i]);
  tt__mem_free(r->launch, sizeof *r->launch * (size_t)r->n);
  *r = (tt_replay){0};
}

/* ---- runs of launches that repeat */

static bool is_same(const tt_replay *r) {
  if (r->device != pending.device || r->n != pending.n) return false;
  for (int i = 0; i < pending.n; i++)
    if (r->launch[i].routine != pending.list[i].routine || r->launch[i].ask != pending.list[i].ask) return false;
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
static tt_code launch_graph(tt_played *p, tt_error *err) {
  static uint64_t turns;
  tt_origin o;
  const tt_origin *first = &pending.list[0].origin;
  p->turn = ++turns;
  snprintf(o.what, sizeof o.what, "%d kernels, first %.28s", pending.n, first->what[0] ? first->what : "a kernel");
  memcpy(o.where, first->where, sizeof o.where);
  const tt_origin *before = tt__origin_use(&o);
  tt_code code = pending.device->ops->graphs->launch(pending.device, p->graph, pending.stream, err);
  tt__origin_use(before);
  return code;
}

/* The graph has these arguments now; without memory it is told of them all the next time. */
static void keep_args(tt_played *p) {
  size_t size = sizeof *p->launch * (size_t)pending.n;
  if (!p->launch) p->launch = tt__mem_alloc(size);
  if (p->used != pending.used) {
    tt__mem_free(p->args, p->used);
    p->args = tt__mem_alloc(pending.used);
    p->used = p->args ? pending.used : 0;
  }
  if (p->args) memcpy(p->args, pending.args, pending.used);
  if (p->launch) memcpy(p->launch, pending.list, size);
}

/* Has the graph's k-th entry these arguments already? A loop over the same arrays repeats them. */
static bool has_args(const tt_played *p, int k) {
  const tt_gathered *had = &p->launch[k], *l = &pending.list[k];
  return p->args && had->at == l->at && had->size == l->size && memcmp(&had->grid, &l->grid, sizeof l->grid) == 0 &&
         memcmp(p->args + l->at, pending.args + l->at, l->size) == 0;
}

/* Could it do this list with new arguments for its launches alone? */
static bool fits(const tt_played *p) {
  if (!p->graph || !p->launch) return false;
  for (int i = 0; i < pending.n; i++)
    if (pending.list[i].ask && !has_args(p, i)) return false;
  return true;
}

/* What was asked for meanwhile is forgotten. */
static void give_up_capture(void) {
  tt_device *d = pending.device;
  tt_graph *g = NULL;
  tt_error ignored;
  (void)!d->ops->graphs->end(d, pending.stream, &g, &ignored);
  if (g) d->ops->graphs->free(d, g);
}

/* Capture the list, as a graph or as the new arguments of one. */
static tt_code capture(tt_played *p, tt_error *err) {
  tt_device *d = pending.device;
  TT_TRY(d->ops->graphs->begin(d, pending.stream, err));
  tt_code code = launch_each(true, err);
  if (code != TT_OK) {
    give_up_capture();
    return code;
  }
  if (p->graph) {
    TT_COUNT(graphs_renewed, 1);
    code = d->ops->graphs->renew(d, pending.stream, p->graph, err);
  } else {
    TT_COUNT(graphs_made, 1);
    code = d->ops->graphs->end(d, pending.stream, &p->graph, err);
  }
  if (code == TT_OK) keep_args(p);
  return code;
}

static tt_code give_args(tt_played *p, tt_error *err) {
  tt_device *d = pending.device;
  for (int i = 0; i < pending.n; i++) {
    tt_gathered *l = &pending.list[i];
    l->number = p->launch[i].number;
    if (l->ask || has_args(p, i)) continue;
    TT_TRY(d->ops->graphs->args(d, p->graph, l->number, &l->grid, pending.args + l->at, l->size, err));
  }
  keep_args(p);
  return TT_OK;
}

/* By the graph that fits; else by a new one, or the one that was not launched for longest. */
static tt_code replay(tt_replay *r, tt_error *err) {
  tt_played *p = &r->played[0];
  for (int i = 0; i < TT_PLAYED; i++) {
    tt_played *q = &r->played[i];
    if (fits(q)) {
      TT_TRY(give_args(q, err));
      TT_COUNT(graph_launches, 1);
      return launch_graph(q, err);
    }
    if (q->turn < p->turn) p = q;
  }
  TT_TRY(capture(p, err));
  TT_COUNT(graph_launches, 1);
  return launch_graph(p, err);
}

/* Launch the list as one, when `r` has seen it (`known`: it is r's run) often enough; else one by one. */
static void play(tt_replay *r, bool known) {
  if (!known) remember(r);
  if (!known || (r->seen < REPEATS && ++r->seen < REPEATS)) {
    launch_all();
    return;
  }
  tt_code code = replay(r, &pending.why);
  if (code != TT_OK && !tt__device_lost(pending.device)) { /* nothing of it ran */
    tt__replay_free(r);
    code = launch_each(false, &pending.why);
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
  pending.gathering = d->ops->graphs != NULL;
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

tt_code tt__batch_failed(tt_error *err) { return report(err); }

/* Put an entry with a copy of its bytes into the list; *out is NULL where there is no room for so many. */
static tt_code gather(const void *args, size_t size, tt_gathered **out, tt_error *err) {
  size_t room = (size + 15) & ~(size_t)15;
  *out = NULL;
  if (pending.older && (pending.n == MOST_LAUNCHES || pending.used + room > ARGS_BYTES)) launch_older();
  if (pending.n == MOST_LAUNCHES || pending.used + room > ARGS_BYTES) TT_TRY(tt__batch_flush(err));
  if (room > ARGS_BYTES) return TT_OK;
  tt_gathered *l = &pending.list[pending.n++];
  const tt_origin *origin = tt__origin_now();
  memset(l, 0, sizeof *l);
  l->at = pending.used;
  l->size = size;
  if (origin) l->origin = *origin;
  memcpy(pending.args + pending.used, args, size);
  pending.used += room;
  *out = l;
  return TT_OK;
}

tt_code tt__batch_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args, size_t size,
                         tt_error *err) {
  assert(d && s && g->block[0] && g->grid[0]);
  if (!pending.gathering || d != pending.device || s != pending.stream)
    return d->ops->launch(d, s, f, g, args, size, err);
  if (g->together) { /* graphs are of plain launches */
    TT_TRY(tt__batch_flush(err));
    return d->ops->launch(d, s, f, g, args, size, err);
  }
  tt_gathered *l;
  TT_TRY(gather(args, size, &l, err));
  if (!l) return d->ops->launch(d, s, f, g, args, size, err);
  l->routine = f;
  l->grid = *g;
  return TT_OK;
}

tt_code tt__batch_ask(tt_device *d, tt_stream *s, tt_asker ask, const void *what, size_t size, tt_error *err) {
  assert(d && s && ask && size);
  if (!pending.gathering || d != pending.device || s != pending.stream) return ask(d, s, what, err);
  tt_gathered *l;
  TT_TRY(gather(what, size, &l, err));
  if (!l) return ask(d, s, what, err);
  l->ask = ask;
  return TT_OK;
}

typedef struct zeros {
  void *p;
  size_t size;
} zeros;

static tt_code ask_for_zeros(tt_device *d, tt_stream *s, const void *what, tt_error *err) {
  const zeros *z = what;
  return d->ops->fill(d, s, z->p, 0, z->size, err);
}

tt_code tt__batch_zero(tt_device *d, tt_stream *s, void *p, size_t size, tt_error *err) {
  zeros z = {p, size};
  return tt__batch_ask(d, s, ask_for_zeros, &z, sizeof z, err);
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

__attribute__((constructor)) static void register_settle(void) { tt__calls_set_settle(settle_all); }
