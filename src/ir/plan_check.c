/*
** The verifier of plans: what tt__plan_check proves is said at the head of plan.h. It looks at each step as the plan
** lists it and trusts nothing that was known when the plan was made.
*/
#include "ir/plan.h"

/* ---- structure */

static const char *check_inst(const tt_step *s, int i) {
  const tt_pinst *p = &s->inst[i];
  if (!tt__plan_code_name(p->op)) return "unknown code";
  if (p->dtype >= TT_DTYPE_COUNT) return "unknown type";
  int arity = tt__plan_code_arity(p->op);
  for (int k = 0; k < 3; k++)
    if (k < arity ? p->src[k] < 0 || p->src[k] >= i : p->src[k] != -1) return "bad operand of an instruction";
  if (p->op == TT_P_REDUCE) return p->red < TT_RED_COUNT && s->nouter < s->space.naxes ? NULL : "bad reduction";
  if (p->op < TT_OP_COUNT) return NULL;
  if (p->op == TT_P_CONST) return p->ref >= -s->nliteral ? NULL : "no such literal";
  if (p->ref < 0 || p->ref >= s->naccess) return "no such access";
  const tt_paccess *a = &s->access[p->ref];
  bool writes = p->op == TT_P_STORE || p->op == TT_P_STOREX;
  if ((a->operand < 0) != (p->op == TT_P_INDEX) || a->write != writes) return "an access of another kind";
  return NULL;
}

static const char *check_kernel(const tt_plan *p, const tt_step *s) {
  if (s->space.naxes < 0 || s->space.naxes > TT_MAX_AXES || s->nouter < 0 || s->nouter > s->space.naxes)
    return "bad number of axes";
  for (int k = 0; k < s->space.naxes; k++)
    if (s->space.len[k] < 1 || s->space.row[k] != (k >= s->nouter)) return "bad axis";
  for (int i = 0; i < s->noperand; i++)
    if (s->operand[i].node < 0 || s->operand[i].node >= p->nnode) return "an operand outside the walk";
  for (int i = 0; i < s->naccess; i++) {
    const tt_paccess *a = &s->access[i];
    if (a->operand < -1 || a->operand >= s->noperand || a->dtype >= TT_DTYPE_COUNT) return "bad access";
    if (a->operand >= 0 ? a->write != s->operand[a->operand].write : a->write) return "an access against its operand";
  }
  for (int i = 0; i < s->ninst; i++) {
    const char *what = check_inst(s, i);
    if (what) return what;
    if (s->inst[i].op == TT_P_CONST && s->inst[i].ref >= p->nnode) return "a constant outside the walk";
  }
  return NULL;
}

static const char *check_library(const tt_plan *p, const tt_step *s) {
  if (s->lib < 0 || s->lib >= p->nnode) return "a library node outside the walk";
  for (int i = 0; i < s->nsrc; i++) {
    const tt_plib_src *a = &s->src[i];
    if (a->node < 0 || a->node >= p->nnode || a->rank < 0 || a->rank > TT_MAX_RANK) return "bad source";
    for (int d = 0; d < a->rank; d++)
      if (a->len[d] < 0) return "negative length of a source";
  }
  return NULL;
}

static const char *check_root(const tt_plan *p, const tt_step *s, const tt_proot *r) {
  if (r->node < 0 || r->node >= p->nnode || r->base < -1 || r->base >= p->nnode) return "a root outside the walk";
  if (s->kind != TT_STEP_KERNEL) return r->operand == 0 && r->donor == -1 ? NULL : "bad root";
  if (r->operand < 0 || r->operand >= s->noperand || !s->operand[r->operand].write) return "a root without a buffer";
  return r->donor >= -1 && r->donor < s->noperand ? NULL : "no such donor";
}

static const char *check_step(const tt_plan *p, const tt_step *s) {
  const char *what = s->kind == TT_STEP_KERNEL                           ? check_kernel(p, s)
                     : s->kind == TT_STEP_LIB || s->kind == TT_STEP_CALL ? check_library(p, s)
                                                                         : NULL;
  if (s->nroot < 1) what = "a step without a root";
  for (int r = 0; r < s->nroot && !what; r++) what = check_root(p, s, &s->root[r]);
  return what;
}

/* ---- memory */

static const char *check_values(const tt_plan *p) {
  for (int i = 0; i < p->nvalue; i++) {
    const tt_pvalue *v = &p->value[i];
    if (v->node < 0 || v->node >= p->nnode) return "a value outside the walk";
    if (i > 0 && v[-1].node >= v->node) return "values out of order";
    if (v->from < -1 || v->from >= p->n || v->until < 0 || v->until > p->n || v->until < v->from)
      return "a value of no time";
    if (v->from < 0 && (v->version != 0 || (v->memory != v->node && v->memory != -1)))
      return "a version that nobody wrote";
  }
  return NULL;
}

/* Is the k-th need no memory but what the node says: a constant's number, before and after it is written out, or what
 * a library is to do? */
static bool is_known(const tt_step *s, int k) {
  bool constant = k >= s->noperand && k < s->noperand + s->ninst;
  return constant || k == s->noperand + s->ninst + s->nsrc + s->nroot;
}

/* What a step needs was written before it and is still there. */
static const char *check_needs(const tt_plan *p, int at) {
  const tt_step *s = &p->step[at];
  int32_t node;
  for (int k = 0; (node = tt__step_need(s, k)) != TT_P_END; k++) {
    if (node == TT_P_NONE) continue;
    const tt_pvalue *v = tt__plan_value(p, node);
    if (!v) return "a step needs what is not listed";
    if (v->until < at) return "a value is read after its end";
    if (is_known(s, k)) continue;
    if (v->memory < 0) return "what has no memory is read from memory";
    if (v->from >= at) return "a value is read before it is written";
  }
  return NULL;
}

static int count_sources(const tt_step *s, int32_t node) {
  int n = 0;
  for (int i = 0; i < s->nsrc; i++) n += s->src[i].node == node;
  return n;
}

/* A root in place makes the next version of a memory whose last one ends here; any other has memory of its own. */
static const char *check_write(const tt_plan *p, int at, int r) {
  const tt_step *s = &p->step[at];
  const tt_proot *root = &s->root[r];
  const tt_pvalue *v = tt__plan_value(p, root->node), *base = NULL;
  if (!v || v->from != at) return "a root that is not listed as written here";
  if (root->base >= 0) base = tt__plan_value(p, root->base);
  if (!root->in_place && (v->memory != v->node || v->version != 0)) return "a root without memory of its own";
  if (root->in_place) {
    if (!base) return "in place of nothing";
    if (base->until != at) return "a version is written over that is read later";
    if (v->memory != base->memory || v->version != base->version + 1) return "not the next version of what it writes";
    if (s->kind == TT_STEP_KERNEL && !tt__step_may_overwrite(s, r, root->base))
      return "a step reads elsewhere what it writes over";
    if (s->kind == TT_STEP_CALL && count_sources(s, root->base) > 1) return "a launch reads what it writes over";
  }
  int32_t takes = root->in_place ? root->base : root->donor >= 0 ? s->operand[root->donor].node : TT_P_NONE;
  for (int q = 0; q < r && takes >= 0; q++)
    if (tt__root_takes(s, q, takes)) return "two results take one memory";
  if (root->donor < 0) return NULL;
  const tt_poperand *donor = &s->operand[root->donor];
  if (donor->write || !tt__step_ends(s, donor->node)) return "memory is taken of what is read later";
  return tt__step_may_overwrite(s, r, donor->node) ? NULL : "a step reads elsewhere the memory that it takes";
}

static bool is_used(const tt_step *s, int32_t node) {
  int32_t need;
  for (int k = 0; (need = tt__step_need(s, k)) != TT_P_END; k++)
    if (need == node) return true;
  for (int r = 0; r < s->nroot; r++)
    if (s->root[r].node == node) return true;
  return false;
}

/* ---- steps that are one launch */

static bool writes_over(const tt_step *s, int32_t node) {
  for (int r = 0; r < s->nroot; r++)
    if (tt__root_takes(s, r, node)) return true;
  return false;
}

/* One of the steps from `first` on, among the others. */
static const char *check_one_of(const tt_plan *p, int first, int at) {
  const tt_step *s = &p->step[at], *leader = &p->step[first];
  int32_t node;
  if (!tt__step_is_alike(s, leader) || (at > first && s->many)) return "a launch of different steps";
  for (int k = 0; (node = tt__step_need(s, k)) != TT_P_END; k++) {
    const tt_pvalue *v = node == TT_P_NONE ? NULL : tt__plan_value(p, node);
    if (!v) continue;
    if (v->from == at) continue; /* a constant that it stores is named as what it is made of */
    if (v->from >= first) return "a step needs what another of its launch writes";
    for (int i = first; i < first + leader->many; i++)
      if (i != at && writes_over(&p->step[i], node)) return "a step needs what another of its launch writes over";
  }
  return NULL;
}

static const char *check_launches(const tt_plan *p) {
  const char *what = NULL;
  for (int i = 0; i < p->n && !what; i++) {
    int many = p->step[i].many;
    if (!many) continue;
    if (p->step[i].kind != TT_STEP_KERNEL || many < 2 || many > p->n - i) return "bad number of steps in a launch";
    for (int k = i; k < i + many && !what; k++) what = check_one_of(p, i, k);
    i += many - 1;
  }
  return what;
}

static const char *check_memory(const tt_plan *p) {
  int64_t written = 0, roots = 0;
  const char *what = check_values(p);
  for (int i = 0; i < p->nvalue; i++) written += p->value[i].from >= 0;
  for (int i = 0; i < p->n && !what; i++) {
    const tt_step *s = &p->step[i];
    roots += s->nroot;
    what = check_needs(p, i);
    for (int r = 0; r < s->nroot && !what; r++) what = check_write(p, i, r);
    for (int k = 0; k < s->nend && !what; k++)
      if (!is_used(s, s->end[k])) what = "a value is kept longer than it is needed";
  }
  if (!what && written != roots) what = "a value that is written never, or twice";
  return what;
}

const char *tt__plan_check(const tt_plan *p) {
  const char *what = NULL;
  for (int i = 0; i < p->n && !what; i++) what = check_step(p, &p->step[i]);
  if (!what) what = check_memory(p);
  return what ? what : check_launches(p);
}
