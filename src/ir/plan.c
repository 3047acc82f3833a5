/*
** Plans: what steps need and when it ends, and their text. The text, line by line (parse_plan.c reads it back):
**
**   plan steps=2 nodes=9
**   value n3: memory=3 version=0 from=-1 until=0      node 3 of the walk, there before the plan
**   value n8: memory=8 version=0 from=0 until=1
**   step 0: kernel outer=1 space=4,5          outer axes first, the others are the row
**     why asked for
**     operand 0: n3 read
**     access 0: float64 operand=0 read off=0 step=5,1
**     literal 0: 000000000000f03f 0000000000000000
**     %0 = load float64 ref=0
**     %1 = reduce.sum float64 ref=0 %0
**     root 0: n8 operand=1 base=-1 in_place=0 donor=-1
**     move n3 host to device 0                  where and how it runs, if that was decided: the head of decision.c
**     place device 0 whole
**   step 1: library lib=n4                    or: step 1: empty, or: step 1: call lib=n4
**   step 2: kernel many=3 outer=1 space=4     one launch with the two steps after it
**     source 0: n8 off=0 len=4,5 step=5,1     (of a call: off, len and step are empty)
*/
#include "ir/plan.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "ir/decision.h"
#include "ir/reach.h"
#include "ir/text/kernel_int.h"

void tt__plan_free(tt_plan *p) {
  if (!p) return;
  assert(p->n <= p->cap);
  tt__mem_free(p->step, sizeof *p->step * (size_t)p->cap);
  tt__arena_free(&p->arena);
  tt__mem_free(p, sizeof *p);
}

/* ---- what steps need */

int32_t tt__step_need(const tt_step *s, int k) {
  assert(k >= 0);
  if (k < s->noperand) return s->operand[k].write ? TT_P_NONE : s->operand[k].node;
  k -= s->noperand;
  if (k < s->ninst) return s->inst[k].op == TT_P_CONST && s->inst[k].ref >= 0 ? s->inst[k].ref : TT_P_NONE;
  k -= s->ninst;
  if (k < s->nsrc) return s->src[k].node;
  k -= s->nsrc;
  if (k < s->nroot) return s->root[k].base >= 0 ? s->root[k].base : TT_P_NONE;
  return k == s->nroot && s->kind == TT_STEP_LIB ? s->lib : TT_P_END;
}

static bool same_place(const tt_space *s, const tt_paccess *a, const tt_paccess *b) {
  bool same = a->off == b->off;
  for (int k = 0; k < s->naxes; k++) same = same && (s->len[k] == 1 || a->step[k] == b->step[k]);
  return same;
}

static bool apart(const tt_space *s, const tt_paccess *a, const tt_paccess *b) {
  tt_reach from = {.naxes = s->naxes, .off = a->off, .len = s->len, .step = a->step};
  tt_reach to = {.naxes = s->naxes, .off = b->off, .len = s->len, .step = b->step};
  return tt__reach_apart(&from, &to);
}

/*
** With a row, an operand is read in several phases, after stores of earlier ones; with places that are computed, nobody
** knows: then what is read must lie elsewhere. Else each point reads before it writes, if it does so in the program.
*/
bool tt__step_may_overwrite(const tt_step *s, int r, int32_t node) {
  assert(r >= 0 && r < s->nroot && node >= 0);
  const tt_paccess *to = NULL;
  bool anywhere = s->nouter < s->space.naxes, computed = false;
  int written = 0;
  for (int i = 0; i < s->ninst; i++) {
    const tt_pinst *in = &s->inst[i];
    if (in->op != TT_P_STORE && in->op != TT_P_STOREX) continue;
    if (s->access[in->ref].operand == s->root[r].operand) to = &s->access[in->ref], written = i;
    computed |= in->op == TT_P_STOREX;
  }
  for (int i = 0; i < s->ninst; i++) {
    const tt_pinst *in = &s->inst[i];
    if (in->op != TT_P_LOAD && in->op != TT_P_LOADX) continue;
    const tt_paccess *from = &s->access[in->ref];
    if (s->operand[from->operand].node != node) continue;
    if (computed || in->op == TT_P_LOADX || !to) return false;
    bool same = !anywhere && i < written && same_place(&s->space, from, to);
    if (!same && !apart(&s->space, from, to)) return false;
  }
  return true;
}

bool tt__root_takes(const tt_step *s, int r, int32_t node) {
  assert(r >= 0 && r < s->nroot && node >= 0);
  const tt_proot *root = &s->root[r];
  return (root->in_place && root->base == node) || (root->donor >= 0 && s->operand[root->donor].node == node);
}

bool tt__step_ends(const tt_step *s, int32_t node) {
  assert(s->nend == 0 || s->end);
  for (int i = 0; i < s->nend; i++)
    if (s->end[i] == node) return true;
  return false;
}

bool tt__step_is_alike(const tt_step *a, const tt_step *b) {
  bool alike = a->kind == TT_STEP_KERNEL && b->kind == TT_STEP_KERNEL && a->ninst == b->ninst;
  for (int i = 0; i < a->ninst && alike; i++) {
    const tt_pinst *x = &a->inst[i], *y = &b->inst[i];
    alike = x->op == y->op && x->dtype == y->dtype && x->red == y->red && memcmp(x->src, y->src, sizeof x->src) == 0;
  }
  return alike;
}

const tt_pvalue *tt__plan_value(const tt_plan *p, int32_t node) {
  int lo = 0, hi = p->nvalue;
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (p->value[mid].node < node)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < p->nvalue && p->value[lo].node == node ? &p->value[lo] : NULL;
}

bool tt__plan_index(tt_plan *p) {
  int32_t *all = tt__arena_alloc(&p->arena, sizeof *all * (size_t)p->nvalue);
  if (!all) return false;
  for (int i = 0; i < p->n; i++) p->step[i].nend = 0;
  for (int i = 0; i < p->nvalue; i++)
    if (p->value[i].until >= 0 && p->value[i].until < p->n) p->step[p->value[i].until].nend++;
  for (int i = 0; i < p->n; i++) {
    p->step[i].end = all;
    all += p->step[i].nend;
    p->step[i].nend = 0;
  }
  for (int i = 0; i < p->nvalue; i++) {
    if (p->value[i].until < 0 || p->value[i].until >= p->n) continue;
    tt_step *s = &p->step[p->value[i].until];
    s->end[s->nend++] = p->value[i].node;
  }
  return true;
}

/* ---- text */

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

/* Where it is not the order of the axes as they stand. */
static void print_fold(const tt_step *s, tt_str *out) {
  bool plain = true;
  for (int k = 0; k < s->space.naxes; k++) plain &= s->fold[k] == tt__step_plain_fold(s, k);
  if (plain) return;
  int64_t fold[TT_MAX_AXES];
  for (int k = 0; k < s->space.naxes; k++) fold[k] = s->fold[k];
  tt__str_add(out, " fold=");
  print_list(out, fold, s->space.naxes);
}

static void print_kernel_step(const tt_step *s, tt_str *out) {
  if (s->many) tt__str_addf(out, " many=%d", s->many);
  tt__str_addf(out, " outer=%d space=", s->nouter);
  print_list(out, s->space.len, s->space.naxes);
  print_fold(s, out);
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
  assert(p->n >= 0 && p->n <= p->cap);
  tt__plan_print_placed(p, NULL, out);
}

void tt__plan_print_placed(const tt_plan *p, const tt_decisions *d, tt_str *out) {
  tt__str_addf(out, "plan steps=%d nodes=%d\n", p->n, p->nnode);
  for (int i = 0; i < p->nvalue; i++) {
    const tt_pvalue *v = &p->value[i];
    tt__str_addf(out, "value n%d: memory=%d version=%d from=%d until=%d\n", v->node, v->memory, v->version, v->from,
                 v->until);
  }
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
    if (d && d->step) tt__decision_print(&d->step[i], out);
  }
}
