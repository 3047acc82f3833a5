/*
** Steps that become one launch: the same kernel over other buffers, none of them needing another's result, as the
** steps of an optimiser over its parameters.
**
** Of the steps with one kernel, those with equally many others of that kernel above them have no way to each other,
** whatever else lies between; so they may become one node of the graph, and it stays without cycles. That is done for
** one kernel after the other.
*/
#include <assert.h>
#include <string.h>

#include "ir/kernel.h"
#include "sched/order.h"

/* A value as large as this, kept until a later step, costs more than a launch; and so do all of a launch together. */
#define KEPT_BYTES (1 << 20)
#define KEPT_TOGETHER (16 << 20)

/* What the plan computes and ends, and lives longer when step `i` waits for others or others wait for it; -1: that is
 * not worth a launch. */
static int64_t kept_by(const tt_step_order *g, int i) {
  const tt_plan *p = g->plan;
  const tt_step *s = &p->step[i];
  int64_t kept = 0;
  for (int k = 0; k < s->nend + s->nroot; k++) {
    int32_t node = k < s->nend ? s->end[k] : s->root[k - s->nend].node;
    const tt_pvalue *v = tt__plan_value(p, node);
    if (v->from < 0 || v->memory < 0 || v->until == p->n) continue;
    if (tt__value_bytes(g->walk, node) > KEPT_BYTES) return -1;
    kept += tt__value_bytes(g->walk, node);
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
static void count_above(tt_step_order *g, const tt_step *like) {
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
static bool join(tt_step_order *g, int from, int i) {
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

bool tt__join_steps(tt_step_order *g, int from) {
  bool any = false;
  count_above(g, &g->plan->step[from]);
  for (int i = from; i < g->plan->n; i++)
    if (is_same(&g->plan->step[from], &g->plan->step[i])) any |= join(g, from, i);
  return any;
}

bool tt__joins_first(const tt_plan *p, int i) {
  int later = 0;
  if (!may_join(&p->step[i])) return false;
  for (int k = 0; k < p->n; k++) {
    if (k == i || !is_same(&p->step[i], &p->step[k])) continue;
    if (k < i) return false;
    later++;
  }
  return later > 0;
}
