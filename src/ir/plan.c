/*
** Plans: their text, their checker and their end. The text, line by line (parse_plan.c reads it back):
**
**   plan steps=2 nodes=9
**   step 0: kernel outer=1 space=4,5          outer axes first, the others are the row
**     why asked for
**     operand 0: n3 read                      node 3 of the walk
**     access 0: float64 operand=0 read off=0 step=5,1
**     literal 0: 000000000000f03f 0000000000000000
**     %0 = load float64 ref=0
**     %1 = reduce.sum float64 ref=0 %0
**     root 0: n8 operand=1 base=-1 in_place=0 donor=-1
**   step 1: library lib=n4                    or: step 1: empty, or: step 1: call lib=n4
**     source 0: n8 off=0 len=4,5 step=5,1     (of a call: off, len and step are empty)
*/
#include "ir/plan.h"

#include "base/mem.h"
#include "ir/kernel_int.h"

void tt__plan_free(tt_plan *p) {
  if (!p) return;
  tt__mem_free(p->step, sizeof *p->step * (size_t)p->cap);
  tt__arena_free(&p->arena);
  tt__mem_free(p, sizeof *p);
}

const char *const tt__step_names[4] = {"kernel", "library", "empty", "call"};
static const char *const code_name[] = {"const", "load", "index", "loadx", "store", "storex", "reduce"};
_Static_assert(sizeof code_name / sizeof *code_name == TT_P_REDUCE - TT_P_CONST + 1, "a name for each code");

const char *tt__plan_code_name(int code) {
  if (code >= 0 && code < TT_OP_COUNT) return tt__ops[code].lower;
  return code >= TT_P_CONST && code <= TT_P_REDUCE ? code_name[code - TT_P_CONST] : NULL;
}

int tt__plan_code_arity(int code) {
  if (code < TT_OP_COUNT) return tt__ops[code].arity;
  switch (code) {
    case TT_P_LOADX:
    case TT_P_STORE:
    case TT_P_REDUCE:
      return 1;
    case TT_P_STOREX:
      return 2;
    default:
      return 0;
  }
}

static void print_list(tt_str *out, const int64_t *x, int n) {
  for (int i = 0; i < n; i++) tt__str_addf(out, "%s%lld", i ? "," : "", (long long)x[i]);
}

static void print_why(const tt_step *s, tt_str *out) {
  if (s->why && s->why[0]) tt__str_addf(out, "  why %s\n", s->why);
}

static void print_kernel_step(const tt_step *s, tt_str *out) {
  tt__str_addf(out, " outer=%d space=", s->nouter);
  print_list(out, s->space.len, s->space.naxes);
  tt__str_add(out, "\n");
  print_why(s, out);
  for (int i = 0; i < s->noperand; i++)
    tt__str_addf(out, "  operand %d: n%d %s\n", i, s->operand[i].node, s->operand[i].write ? "write" : "read");
  for (int i = 0; i < s->naccess; i++) {
    const tt_paccess *a = &s->access[i];
    tt__str_addf(out, "  access %d: %s operand=%d %s off=%lld step=", i, tt__dtypes[a->dtype].name, a->operand,
                 a->write ? "write" : "read", (long long)a->off);
    print_list(out, a->step, s->space.naxes);
    tt__str_add(out, "\n");
  }
  for (int i = 0; i < s->nliteral; i++)
    tt__str_addf(out, "  literal %d: %016llx %016llx\n", i, (unsigned long long)s->literal[i].bits[0],
                 (unsigned long long)s->literal[i].bits[1]);
  for (int i = 0; i < s->ninst; i++) {
    const tt_pinst *p = &s->inst[i];
    tt__str_addf(out, "  %%%d = %s", i, tt__plan_code_name(p->op));
    if (p->op == TT_P_REDUCE) tt__str_addf(out, ".%s", tt__red_names[p->red]);
    tt__str_addf(out, " %s ref=%d", tt__dtypes[p->dtype].name, p->ref);
    for (int k = 0; k < 3 && p->src[k] >= 0; k++) tt__str_addf(out, " %%%d", p->src[k]);
    tt__str_add(out, "\n");
  }
}

static void print_library_step(const tt_step *s, tt_str *out) {
  tt__str_addf(out, " lib=n%d\n", s->lib);
  print_why(s, out);
  for (int i = 0; i < s->nsrc; i++) {
    tt__str_addf(out, "  source %d: n%d off=%lld len=", i, s->src[i].node, (long long)s->src[i].off);
    print_list(out, s->src[i].len, s->src[i].rank);
    tt__str_add(out, " step=");
    print_list(out, s->src[i].step, s->src[i].rank);
    tt__str_add(out, "\n");
  }
}

void tt__plan_print(const tt_plan *p, tt_str *out) {
  tt__str_addf(out, "plan steps=%d nodes=%d\n", p->n, p->nnode);
  for (int i = 0; i < p->n; i++) {
    const tt_step *s = &p->step[i];
    tt__str_addf(out, "step %d: %s", i, tt__step_names[s->kind]);
    if (s->kind == TT_STEP_KERNEL) {
      print_kernel_step(s, out);
    } else if (s->kind == TT_STEP_LIB || s->kind == TT_STEP_CALL) {
      print_library_step(s, out);
    } else {
      tt__str_add(out, "\n");
      print_why(s, out);
    }
    for (int r = 0; r < s->nroot; r++)
      tt__str_addf(out, "  root %d: n%d operand=%d base=%d in_place=%d donor=%d\n", r, s->root[r].node,
                   s->root[r].operand, s->root[r].base, s->root[r].in_place, s->root[r].donor);
  }
}

/* ---- the checker */

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

const char *tt__plan_check(const tt_plan *p) {
  for (int i = 0; i < p->n; i++) {
    const tt_step *s = &p->step[i];
    const char *what = s->kind == TT_STEP_KERNEL                           ? check_kernel(p, s)
                       : s->kind == TT_STEP_LIB || s->kind == TT_STEP_CALL ? check_library(p, s)
                                                                           : NULL;
    if (s->nroot < 1) what = "a step without a root";
    for (int r = 0; r < s->nroot && !what; r++) what = check_root(p, s, &s->root[r]);
    if (what) return what;
  }
  return NULL;
}
