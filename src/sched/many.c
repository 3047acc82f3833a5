/*
** Steps that become one launch: the same kernel over other buffers, none of them needing another's result, as the
** steps of an optimiser over its parameters. The plan's steps are put into another order for it, in which those of a
** launch stand together, where the last of them stood.
**
** Steps are the nodes of a graph without cycles: a step stands behind those whose results it needs, and behind those
** that read what it writes over. Of the steps with one kernel, those with equally many others of that kernel above
** them have no way to each other, whatever else lies between; so they may become one node, and the graph stays
** without cycles. That is done for one kernel after the other.
*/
#include "sched/many.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "ir/kernel.h"
#include "sched/fuse.h"

/* A value as large as this, kept until a later step, costs more than a launch; and so do all of a launch together. */
#define KEPT_BYTES (1 << 20)
#define KEPT_TOGETHER (16 << 20)

typedef struct edge {
  int32_t from, to;
} edge;

typedef struct regroup {
  const tt_walk *walk;
  tt_plan *plan;
  edge *edge;       /* by rising `from` */
  int32_t *first;   /* [n + 1] by step: its first edge */
  int32_t *node_of; /* by step: the first of the steps that it is one launch with */
  int32_t *next;    /* by step: the next one of its launch, -1 */
  int32_t *place;   /* by node: where its last step stood */
  int64_t *kept;    /* by node: bytes that are kept longer than by launches of their own, at most */
  int32_t *order;   /* the nodes, each behind what it stands behind */
  int32_t *depth, *waits, *ready;
  int norder, nready;
} regroup;

/* ---- the graph */

static bool goes_on(const tt_step *s, int32_t node) {
  for (int r = 0; r < s->nroot; r++)
    if (s->root[r].base == node) return true;
  return false;
}

/* The steps before which step `i` stands because of its k-th need, or behind which: at most two edges. */
static int edges_of_need(const tt_plan *p, int i, int32_t node, edge *out) {
  const tt_pvalue *v = node == TT_P_NONE ? NULL : tt__plan_value(p, node);
  int n = 0;
  if (v && v->from >= 0 && v->from < i) out[n++] = (edge){v->from, i};
  if (v && v->until > i && v->until < p->n && goes_on(&p->step[v->until], node)) out[n++] = (edge){i, v->until};
  return n;
}

/* Counts the edges of each step into first[step + 1], or, with `edge`, puts them in their places. */
static void walk_edges(regroup *g) {
  edge e[2];
  int32_t node;
  for (int i = 0; i < g->plan->n; i++)
    for (int k = 0; (node = tt__step_need(&g->plan->step[i], k)) != TT_P_END; k++)
      for (int n = edges_of_need(g->plan, i, node, e); n-- > 0;)
        if (g->edge)
          g->edge[g->first[e[n].from]++] = e[n];
        else
          g->first[e[n].from + 1]++;
}

static bool open_graph(regroup *g, tt_arena *arena) {
  int n = g->plan->n;
  int32_t **list[] = {&g->first, &g->node_of, &g->next, &g->place, &g->order, &g->depth, &g->waits, &g->ready};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (!(*list[i] = tt__arena_alloc(arena, sizeof(int32_t) * ((size_t)n + 2)))) return false;
  g->kept = tt__arena_alloc(arena, sizeof *g->kept * (size_t)n);
  memset(g->first, 0, sizeof *g->first * ((size_t)n + 2));
  walk_edges(g);
  for (int i = 0; i < n; i++) g->first[i + 1] += g->first[i];
  g->edge = tt__arena_alloc(arena, sizeof *g->edge * (size_t)g->first[n]);
  if (!g->kept || !g->edge) return false;
  walk_edges(g);
  memmove(g->first + 1, g->first, sizeof *g->first * (size_t)n); /* each stands where the next one begins */
  g->first[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    g->node_of[i] = g->place[i] = i;
    g->next[i] = -1;
  }
  return true;
}

/* ---- the order: of the nodes that are ready, always the one whose last step stood first */

static void push_ready(regroup *g, int32_t node) {
  int at = g->nready++;
  for (; at > 0 && g->place[g->ready[(at - 1) / 2]] > g->place[node]; at = (at - 1) / 2)
    g->ready[at] = g->ready[(at - 1) / 2];
  g->ready[at] = node;
}

static int32_t pop_ready(regroup *g) {
  int32_t top = g->ready[0], last = g->ready[--g->nready];
  int at = 0;
  for (int k; (k = 2 * at + 1) < g->nready; at = k) {
    if (k + 1 < g->nready && g->place[g->ready[k + 1]] < g->place[g->ready[k]]) k++;
    if (g->place[g->ready[k]] >= g->place[last]) break;
    g->ready[at] = g->ready[k];
  }
  g->ready[at] = last;
  return top;
}

static void put_in_order(regroup *g) {
  int n = g->plan->n;
  memset(g->waits, 0, sizeof *g->waits * (size_t)n);
  for (int e = 0; e < g->first[n]; e++)
    if (g->node_of[g->edge[e].from] != g->node_of[g->edge[e].to]) g->waits[g->node_of[g->edge[e].to]]++;
  g->norder = g->nready = 0;
  for (int32_t i = 0; i < n; i++)
    if (g->node_of[i] == i && !g->waits[i]) push_ready(g, i);
  while (g->nready) {
    int32_t node = g->order[g->norder++] = pop_ready(g);
    for (int32_t s = node; s >= 0; s = g->next[s])
      for (int e = g->first[s]; e < g->first[s + 1]; e++) {
        int32_t to = g->node_of[g->edge[e].to];
        if (to != node && --g->waits[to] == 0) push_ready(g, to);
      }
  }
}

/* ---- what goes together */

static int64_t bytes_of(const regroup *g, int32_t node) {
  const tt_node *n = g->walk->node[node];
  return n->size * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
}

/* What the plan computes and ends, and lives longer when step `i` waits for others or others wait for it; -1: that is
 * not worth a launch. */
static int64_t kept_by(const regroup *g, int i) {
  const tt_plan *p = g->plan;
  const tt_step *s = &p->step[i];
  int64_t kept = 0;
  for (int k = 0; k < s->nend + s->nroot; k++) {
    int32_t node = k < s->nend ? s->end[k] : s->root[k - s->nend].node;
    const tt_pvalue *v = tt__plan_value(p, node);
    if (v->from < 0 || v->memory < 0 || v->until == p->n) continue;
    if (bytes_of(g, node) > KEPT_BYTES) return -1;
    kept += bytes_of(g, node);
  }
  return kept;
}

/* Each point is computed by itself, in any order. */
static bool may_join(const tt_step *s) {
  const tt_kernel *k = s->kernel;
  return s->kind == TT_STEP_KERNEL && k->mode == TT_MODE_MAP && !k->serial && !k->checked && !k->nscratch;
}

static bool is_same(const tt_step *a, const tt_step *b) {
  return may_join(b) && a->kernel == b->kernel && tt__step_is_alike(a, b);
}

/* How many nodes with the kernel of step `like` lie above each. */
static void count_above(regroup *g, const tt_step *like) {
  memset(g->depth, 0, sizeof *g->depth * (size_t)g->plan->n);
  for (int i = 0; i < g->norder; i++) {
    int32_t node = g->order[i], below = g->depth[node] + is_same(like, &g->plan->step[node]);
    for (int32_t s = node; s >= 0; s = g->next[s])
      for (int e = g->first[s]; e < g->first[s + 1]; e++) {
        int32_t to = g->node_of[g->edge[e].to];
        if (to != node && g->depth[to] < below) g->depth[to] = below;
      }
  }
}

/* Step `i` joins a launch of that kernel at the same depth, if there is one before it. */
static bool join(regroup *g, int from, int i) {
  int64_t kept = kept_by(g, i);
  for (int at = i - 1; at >= from && kept >= 0; at--) {
    int32_t node = g->node_of[at], last = node;
    if (node != at || !is_same(&g->plan->step[i], &g->plan->step[at])) continue;
    if (g->depth[at] != g->depth[i] || g->kept[at] < 0 || g->kept[at] + kept > KEPT_TOGETHER) continue;
    while (g->next[last] >= 0) last = g->next[last];
    g->next[last] = i;
    g->node_of[i] = node;
    g->place[node] = i;
    g->kept[node] += kept;
    return true;
  }
  g->kept[i] = kept;
  return false;
}

/* Steps with the kernel of step `from`, which is the first. True: some go together. */
static bool join_all(regroup *g, int from) {
  bool any = false;
  count_above(g, &g->plan->step[from]);
  for (int i = from; i < g->plan->n; i++)
    if (is_same(&g->plan->step[from], &g->plan->step[i])) any |= join(g, from, i);
  return any;
}

static bool is_first_of_several(const tt_plan *p, int i) {
  int later = 0;
  if (!may_join(&p->step[i])) return false;
  for (int k = 0; k < p->n; k++) {
    if (k == i || !is_same(&p->step[i], &p->step[k])) continue;
    if (k < i) return false;
    later++;
  }
  return later > 0;
}

/* ---- */

static void put_steps(const regroup *g, const tt_step *old) {
  int n = 0;
  for (int i = 0; i < g->norder; i++) {
    int first = n;
    for (int32_t s = g->order[i]; s >= 0; s = g->next[s]) g->plan->step[n++] = old[s];
    if (n - first > 1) g->plan->step[first].many = n - first;
  }
  assert(n == g->plan->n);
}

tt_code tt__sched_many(const tt_walk *walk, tt_plan *plan, tt_error *err) {
  regroup g = {.walk = walk, .plan = plan};
  tt_arena arena = {0};
  bool any = false, ok = true;
  for (int i = 0; i < plan->n; i++) /* launches of users' kernels keep the order in which they were recorded */
    if (plan->step[i].kind == TT_STEP_CALL) return TT_OK;
  for (int i = 0; i < plan->n && ok; i++) {
    if (!is_first_of_several(plan, i)) continue;
    if (!g.first && !(ok = open_graph(&g, &arena))) break;
    if (!any) put_in_order(&g);
    if (!join_all(&g, i)) continue;
    put_in_order(&g);
    any = true;
  }
  tt_step *old = ok && any ? tt__arena_dup(&arena, plan->step, sizeof *old * (size_t)plan->n) : NULL;
  if (old) put_steps(&g, old);
  ok = ok && (!any || (old && tt__settle_memory(walk, plan, &arena)));
  tt__arena_free(&arena);
  assert(!ok || !tt__plan_check(plan));
  return ok ? TT_OK : tt__fail(err, TT_ENOMEM, "out of memory while planning");
}
