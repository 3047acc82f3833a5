/*
** The order of steps; see order.h. A plan lists them as its targets need them. So the gradients of a network's weights
** would come last of all, when the whole way back has been gone, and everything on it would wait for them in memory:
** as much again as what the way forward has left. A step that gives back more than it makes goes first.
*/
#include "sched/order.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "sched/fuse.h"

/* Less is not worth another order. */
#define FREED_BYTES (1 << 16)

/* ---- the graph */

static bool goes_on(const tt_step *s, int32_t node) {
  for (int r = 0; r < s->nroot; r++)
    if (s->root[r].base == node) return true;
  return false;
}

/* The steps before which step `i` stands because of its k-th need, or behind which: at most two edges. */
static int edges_of_need(const tt_plan *p, int i, int32_t node, tt_step_edge *out) {
  const tt_pvalue *v = node == TT_P_NONE ? NULL : tt__plan_value(p, node);
  int n = 0;
  if (v && v->from >= 0 && v->from < i) out[n++] = (tt_step_edge){v->from, i};
  if (v && v->until > i && v->until < p->n && goes_on(&p->step[v->until], node)) out[n++] = (tt_step_edge){i, v->until};
  return n;
}

/* Counts the edges of each step into first[step + 1], or, with `edge`, puts them in their places. */
static void walk_edges(tt_step_order *g) {
  tt_step_edge e[2];
  int32_t node;
  for (int i = 0; i < g->plan->n; i++)
    for (int k = 0; (node = tt__step_need(&g->plan->step[i], k)) != TT_P_END; k++)
      for (int n = edges_of_need(g->plan, i, node, e); n-- > 0;)
        if (g->edge)
          g->edge[g->first[e[n].from]++] = e[n];
        else
          g->first[e[n].from + 1]++;
}

static bool open_graph(tt_step_order *g, tt_arena *arena) {
  int n = g->plan->n;
  int32_t **list[] = {&g->first, &g->node_of, &g->next, &g->place, &g->order, &g->depth, &g->waits, &g->ready};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (!(*list[i] = tt__arena_alloc(arena, sizeof(int32_t) * ((size_t)n + 2)))) return false;
  g->kept = tt__arena_alloc(arena, sizeof *g->kept * (size_t)n);
  g->readers = tt__arena_alloc(arena, sizeof *g->readers * (size_t)g->plan->nvalue);
  memset(g->first, 0, sizeof *g->first * ((size_t)n + 2));
  walk_edges(g);
  for (int i = 0; i < n; i++) g->first[i + 1] += g->first[i];
  g->edge = tt__arena_alloc(arena, sizeof *g->edge * (size_t)g->first[n]);
  if (!g->kept || !g->readers || !g->edge) return false;
  walk_edges(g);
  memmove(g->first + 1, g->first, sizeof *g->first * (size_t)n); /* each stands where the next one begins */
  g->first[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    g->node_of[i] = g->place[i] = i;
    g->next[i] = -1;
  }
  return true;
}

/* ---- memory */

/* The value of a node if the plan computes and ends it, else NULL. */
static const tt_pvalue *passing(const tt_plan *p, int32_t node) {
  const tt_pvalue *v = node == TT_P_NONE ? NULL : tt__plan_value(p, node);
  return v && v->memory >= 0 && v->from >= 0 && v->until < p->n ? v : NULL;
}

static void count_readers(tt_step_order *g, const tt_step *s, int by) {
  int32_t node;
  for (int k = 0; (node = tt__step_need(s, k)) != TT_P_END; k++) {
    const tt_pvalue *v = passing(g->plan, node);
    if (v) g->readers[v - g->plan->value] += by;
  }
}

/* Bytes that the node frees, less those that it makes; of a value that others need too it frees its part. */
static int64_t frees(const tt_step_order *g, int32_t node) {
  const tt_plan *p = g->plan;
  int64_t bytes = 0;
  int32_t need;
  for (int32_t s = node; s >= 0; s = g->next[s]) {
    const tt_step *st = &p->step[s];
    for (int k = 0; (need = tt__step_need(st, k)) != TT_P_END; k++) {
      const tt_pvalue *v = passing(p, need);
      if (v) bytes += tt__value_bytes(g->walk, need) / g->readers[v - p->value];
    }
    for (int r = 0; r < st->nroot; r++)
      if (!st->root[r].in_place) bytes -= tt__value_bytes(g->walk, st->root[r].node);
  }
  return bytes;
}

/* The most that the node could free: all that it needs. */
static int64_t could_free(const tt_step_order *g, int32_t node) {
  int64_t bytes = 0;
  int32_t need;
  for (int32_t s = node; s >= 0; s = g->next[s])
    for (int k = 0; (need = tt__step_need(&g->plan->step[s], k)) != TT_P_END; k++)
      if (passing(g->plan, need)) bytes += tt__value_bytes(g->walk, need);
  return bytes;
}

/* ---- the order */

static bool is_before(const tt_step_order *g, int32_t a, int32_t b) { return g->place[a] < g->place[b]; }

/* The node stands at `at` of the heap, or where it belongs from there. */
static void put_ready(tt_step_order *g, int at, int32_t node) {
  for (; at > 0 && is_before(g, node, g->ready[(at - 1) / 2]); at = (at - 1) / 2) g->ready[at] = g->ready[(at - 1) / 2];
  for (int k; (k = 2 * at + 1) < g->nready; at = k) {
    if (k + 1 < g->nready && is_before(g, g->ready[k + 1], g->ready[k])) k++;
    if (!is_before(g, g->ready[k], node)) break;
    g->ready[at] = g->ready[k];
  }
  g->ready[at] = node;
}

static int32_t take_ready(tt_step_order *g, int at) {
  int32_t node = g->ready[at], last = g->ready[--g->nready];
  if (at < g->nready) put_ready(g, at, last);
  return node;
}

/* The place in the heap of what frees most, if that is worth it; else of what stood first. */
static int best_ready(tt_step_order *g) {
  int64_t most = FREED_BYTES - 1;
  int best = 0;
  for (int i = 0; i < g->nready && g->by_memory; i++) {
    int32_t node = g->ready[i];
    if (g->kept[node] <= most) continue;
    int64_t bytes = frees(g, node);
    if (bytes > most) {
      most = bytes;
      best = i;
    }
  }
  return best;
}

static void prepare(tt_step_order *g) {
  const tt_plan *p = g->plan;
  memset(g->waits, 0, sizeof *g->waits * (size_t)p->n);
  for (int e = 0; e < g->first[p->n]; e++)
    if (g->node_of[g->edge[e].from] != g->node_of[g->edge[e].to]) g->waits[g->node_of[g->edge[e].to]]++;
  g->norder = g->nready = 0;
  for (int32_t i = 0; i < p->n; i++)
    if (g->node_of[i] == i && !g->waits[i]) put_ready(g, g->nready++, i);
  memset(g->readers, 0, sizeof *g->readers * (size_t)p->nvalue);
  for (int i = 0; i < p->n && g->by_memory; i++) {
    count_readers(g, &p->step[i], 1);
    if (g->node_of[i] == i) g->kept[i] = could_free(g, i);
  }
}

void tt__order_steps(tt_step_order *g) {
  prepare(g);
  while (g->nready) {
    int32_t node = g->order[g->norder++] = take_ready(g, best_ready(g));
    for (int32_t s = node; s >= 0; s = g->next[s]) {
      if (g->by_memory) count_readers(g, &g->plan->step[s], -1);
      for (int e = g->first[s]; e < g->first[s + 1]; e++) {
        int32_t to = g->node_of[g->edge[e].to];
        if (to != node && --g->waits[to] == 0) put_ready(g, g->nready++, to);
      }
    }
  }
}

static bool is_as_it_was(const tt_step_order *g) {
  for (int i = 0; i < g->norder; i++)
    if (g->order[i] != i) return false;
  return g->norder == g->plan->n;
}

static void put_steps(const tt_step_order *g, const tt_step *old) {
  int n = 0;
  for (int i = 0; i < g->norder; i++) {
    int first = n;
    for (int32_t s = g->order[i]; s >= 0; s = g->next[s]) g->plan->step[n++] = old[s];
    if (n - first > 1) g->plan->step[first].many = n - first;
  }
  assert(n == g->plan->n);
}

/* Is there something in the plan that is worth being freed early? */
static bool has_passing(const tt_walk *walk, const tt_plan *p) {
  for (int i = 0; i < p->nvalue; i++)
    if (passing(p, p->value[i].node) && tt__value_bytes(walk, p->value[i].node) >= FREED_BYTES) return true;
  return false;
}

static void find_order(tt_step_order *g) {
  bool known = false;
  for (int i = 0; i < g->plan->n; i++) {
    if (!tt__joins_first(g->plan, i)) continue;
    if (!known) tt__order_steps(g);
    known = !tt__join_steps(g, i);
  }
  g->by_memory = has_passing(g->walk, g->plan);
  tt__order_steps(g);
}

tt_code tt__sched_order(const tt_walk *walk, tt_plan *plan, tt_error *err) {
  tt_step_order g = {.walk = walk, .plan = plan};
  tt_arena arena = {0};
  if (plan->n < 2) return TT_OK;
  for (int i = 0; i < plan->n; i++) /* launches of users' kernels keep the order in which they were recorded */
    if (plan->step[i].kind == TT_STEP_CALL) return TT_OK;
  bool ok = open_graph(&g, &arena);
  if (ok) find_order(&g);
  if (ok && !is_as_it_was(&g)) {
    tt_step *old = tt__arena_dup(&arena, plan->step, sizeof *old * (size_t)plan->n);
    if (old) put_steps(&g, old);
    ok = old && tt__settle_memory(walk, plan, &arena);
  }
  tt__arena_free(&arena);
  assert(!ok || !tt__plan_check(plan));
  return ok ? TT_OK : tt__fail(err, TT_ENOMEM, "out of memory while planning");
}
