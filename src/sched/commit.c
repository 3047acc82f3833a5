/*
** A successful fusion attempt becomes a step: outer axes first, row axes last, everything
** copied into the plan, and the proofs that later save memory: whether a store may
** happen in place, and which operand's memory could hold a result.
*/

#include "sched/fuse.h"

/* order[i] is the attempt's axis that becomes axis i. */
static int order_axes(const tt_space *s, int *order) {
  int n = 0, nouter;
  for (int k = 0; k < s->naxes; k++)
    if (!s->row[k]) order[n++] = k;
  nouter = n;
  for (int k = 0; k < s->naxes; k++)
    if (s->row[k]) order[n++] = k;
  return nouter;
}

/* Is every read of `operand` at the place that `map` names? Reads by index are anywhere. */
static bool reads_only_at(const tt_fuser *f, int operand, const tt_map *map) {
  for (int i = 0; i < f->ninst; i++) {
    const tt_pinst *p = &f->inst[i];
    if (p->op != TT_P_LOAD && p->op != TT_P_LOADX) continue;
    const tt_fuse_access *a = &f->access[p->ref];
    if (a->operand != operand) continue;
    if (p->op == TT_P_LOADX || !tt__map_equal(&f->space, a->map, map)) return false;
  }
  return true;
}

static int find_operand(const tt_fuser *f, int32_t node) {
  for (int i = 0; i < f->noperand; i++)
    if (f->operand[i].node == node && !f->operand[i].write) return i;
  return -1;
}

static bool has_row(const tt_space *s) {
  for (int k = 0; k < s->naxes; k++)
    if (s->row[k]) return true;
  return false;
}

/*
** With a row, an operand is read in several phases, after stores of earlier ones; with several results, one may be
** stored before another has read: nothing happens in place then.
*/
static void prove_memory(tt_fuser *f) {
  bool rows = has_row(&f->space) || f->nroot > 1;
  for (int r = 0; r < f->nroot; r++) {
    tt_proot *root = &f->root[r];
    if (root->base >= 0) {
      int base = find_operand(f, root->base);
      root->in_place = base < 0 || (!rows && !f->serial && reads_only_at(f, base, f->root_map[r]));
      continue;
    }
    const tt_node *n = f->walk->node[root->node];
    for (int i = 0; i < f->noperand && !rows && root->donor < 0; i++) {
      const tt_node *o = f->walk->node[f->operand[i].node];
      if (f->operand[i].write || o->size != n->size || tt__dtype_size(o->dtype) != tt__dtype_size(n->dtype)) continue;
      if (reads_only_at(f, i, f->root_map[r])) root->donor = (int16_t)i;
    }
  }
}

bool tt__fuse_commit(tt_fuser *f, tt_plan *plan, tt_step *step) {
  prove_memory(f);
  tt_arena *a = &plan->arena;
  int order[TT_MAX_AXES];
  *step = (tt_step){.kind = TT_STEP_KERNEL,
                    .nroot = f->nroot,
                    .ninst = f->ninst,
                    .naccess = f->naccess,
                    .noperand = f->noperand,
                    .nliteral = f->nliteral,
                    .lib = -1,
                    .why = f->why};
  step->nouter = order_axes(&f->space, order);
  step->space.naxes = f->space.naxes;
  for (int k = 0; k < f->space.naxes; k++) {
    step->space.len[k] = f->space.len[order[k]];
    step->space.row[k] = f->space.row[order[k]];
  }
  step->root = tt__arena_dup(a, f->root, sizeof(tt_proot) * (size_t)f->nroot);
  step->inst = tt__arena_dup(a, f->inst, sizeof(tt_pinst) * (size_t)f->ninst);
  step->operand = tt__arena_dup(a, f->operand, sizeof(tt_poperand) * (size_t)f->noperand);
  step->literal = tt__arena_dup(a, f->literal, sizeof(tt_scalar) * (size_t)f->nliteral);
  step->access = tt__arena_alloc(a, sizeof(tt_paccess) * (size_t)f->naccess);
  if (!step->root || !step->inst || !step->operand || !step->literal || !step->access) return false;
  for (int i = 0; i < f->naccess; i++) {
    const tt_fuse_access *from = &f->access[i];
    tt_paccess *to = &step->access[i];
    *to = (tt_paccess){.operand = from->operand, .dtype = from->dtype, .write = from->write, .off = from->map->off};
    to->step = tt__arena_alloc(a, sizeof(int64_t) * (size_t)f->space.naxes);
    if (!to->step) return false;
    for (int k = 0; k < f->space.naxes; k++) to->step[k] = from->map->step[order[k]];
  }
  return true;
}
