/*
** Liveness: when the steps are known, the values they need are listed with their first and last step, and it is
** settled which memory is written again. The rule is at the head of ir/plan.h.
*/
#include <assert.h>
#include <string.h>

#include "sched/fuse.h"

enum { NOT_NEEDED = -2, BEFORE = -1 };

typedef struct lives {
  const tt_walk *walk;
  tt_plan *plan;
  int32_t *from, *until; /* by node: steps; until NOT_NEEDED */
  tt_proot **root;       /* by node: where it is written, or NULL */
  int32_t *begin;        /* by step: the first of those it is one launch with */
  int32_t *needed;       /* by node: the last step but `until` that needs it, BEFORE without one */
} lives;

static bool look_at_steps(lives *l, tt_arena *scratch) {
  size_t n = (size_t)l->walk->n;
  l->from = tt__arena_alloc(scratch, n * sizeof *l->from);
  l->until = tt__arena_alloc(scratch, n * sizeof *l->until);
  l->root = tt__arena_alloc(scratch, n * sizeof *l->root);
  l->needed = tt__arena_alloc(scratch, n * sizeof *l->needed);
  l->begin = tt__arena_alloc(scratch, (size_t)l->plan->n * sizeof *l->begin);
  if (!l->from || !l->until || !l->root || !l->needed || !l->begin) return false;
  for (size_t i = 0; i < n; i++) {
    l->from[i] = l->needed[i] = BEFORE;
    l->until[i] = NOT_NEEDED;
  }
  for (int i = 0, launch = 0; i < l->plan->n; i++) {
    tt_step *s = &l->plan->step[i];
    int32_t node;
    if (i >= launch + l->plan->step[launch].many) launch = i;
    l->begin[i] = launch;
    for (int k = 0; (node = tt__step_need(s, k)) != TT_P_END; k++) {
      if (node == TT_P_NONE) continue;
      if (l->until[node] >= 0 && l->until[node] != i) l->needed[node] = l->until[node];
      l->until[node] = i;
    }
    for (int r = 0; r < s->nroot; r++) {
      node = s->root[r].node;
      l->root[node] = &s->root[r];
      l->from[node] = l->until[node] = i;
    }
  }
  for (int t = 0; t < l->walk->ntarget; t++) l->until[l->walk->target[t]] = l->plan->n;
  return true;
}

/* ---- which memory is written again */

static int count_sources(const tt_step *s, int32_t node) {
  int n = 0;
  for (int i = 0; i < s->nsrc; i++) n += s->src[i].node == node;
  return n;
}

/* Does the node end at step `at`, and needs no other step of its launch it? */
static bool ends_at(const lives *l, int32_t node, int at) {
  return l->until[node] == at && l->needed[node] < l->begin[at];
}

static bool may_write_over(const tt_step *s, int r) {
  if (s->kind == TT_STEP_KERNEL) return tt__step_may_overwrite(s, r, s->root[r].base);
  return s->kind != TT_STEP_CALL || count_sources(s, s->root[r].base) == 1;
}

/* Do results before `r` take the memory of `node`? */
static bool is_taken(const tt_step *s, int r, int32_t node) {
  while (r-- > 0)
    if (tt__root_takes(s, r, node)) return true;
  return false;
}

/* The first operand that ends here, is as large as the result and is read only where that is written; -1: none. */
static int16_t donor_of(const lives *l, int at, int r) {
  const tt_step *s = &l->plan->step[at];
  const tt_node *n = l->walk->node[s->root[r].node];
  for (int i = 0; i < s->noperand; i++) {
    int32_t node = s->operand[i].node;
    const tt_node *o = l->walk->node[node];
    if (s->operand[i].write || !ends_at(l, node, at) || o->size != n->size) continue;
    if (tt__dtype_size((tt_dtype)o->dtype) != tt__dtype_size((tt_dtype)n->dtype) || is_taken(s, r, node)) continue;
    if (tt__step_may_overwrite(s, r, node)) return (int16_t)i;
  }
  return -1;
}

static void settle_roots(lives *l) {
  for (int i = 0; i < l->plan->n; i++) {
    tt_step *s = &l->plan->step[i];
    for (int r = 0; r < s->nroot; r++) {
      tt_proot *root = &s->root[r];
      root->in_place =
          root->base >= 0 && ends_at(l, root->base, i) && may_write_over(s, r) && !is_taken(s, r, root->base);
      root->donor = -1;
      if (s->kind == TT_STEP_KERNEL && root->base < 0) root->donor = donor_of(l, i, r);
    }
  }
}

/* ---- the list */

static bool list_values(lives *l) {
  tt_plan *p = l->plan;
  p->nvalue = 0;
  for (int i = 0; i < l->walk->n; i++) p->nvalue += l->until[i] != NOT_NEEDED;
  p->value = tt__arena_alloc(&p->arena, sizeof *p->value * (size_t)p->nvalue);
  if (!p->value) return false;
  p->nvalue = 0;
  for (int32_t i = 0; i < l->walk->n; i++) {
    if (l->until[i] == NOT_NEEDED) continue;
    const tt_proot *root = l->root[i];
    int op = l->walk->node[i]->op;
    bool has_memory = root || (op != TT_N_CONST && op != TT_N_LIB);
    tt_pvalue v = {.node = i, .memory = has_memory ? i : -1, .from = l->from[i], .until = l->until[i]};
    if (root && root->in_place) { /* children come first: it is listed */
      const tt_pvalue *base = tt__plan_value(p, root->base);
      v.memory = base->memory;
      v.version = base->version + 1;
    }
    p->value[p->nvalue++] = v;
  }
  return true;
}

bool tt__settle_memory(const tt_walk *walk, tt_plan *plan, tt_arena *scratch) {
  assert(plan->nnode == walk->n && plan->n <= plan->cap);
  lives l = {.walk = walk, .plan = plan};
  if (!look_at_steps(&l, scratch)) return false;
  settle_roots(&l);
  return list_values(&l) && tt__plan_index(plan);
}
