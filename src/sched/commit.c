/*
** A successful fusion attempt becomes a step: outer axes first, row axes last, everything
** copied into the plan.
*/

#include "sched/fuse.h"

#include <assert.h>

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

bool tt__fuse_commit(tt_fuser *f, tt_plan *plan, tt_step *step) {
  assert(f->nroot > 0 && f->ninst > 0 && f->noperand > 0);
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
    step->fold[k] = f->nreduce ? f->fold[order[k]] : 0;
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
