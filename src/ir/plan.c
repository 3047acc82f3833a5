/*
** Plans: their text and their end.
*/
#include "ir/plan.h"

#include "base/mem.h"

void tt__plan_free(tt_plan *p) {
  if (!p) return;
  tt__mem_free(p->step, sizeof *p->step * (size_t)p->cap);
  tt__arena_free(&p->arena);
  tt__mem_free(p, sizeof *p);
}

static const char *red_name(uint8_t red) {
  static const char *const name[TT_RED_COUNT] = {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"};
  return name[red];
}

static const char *inst_name(uint8_t op) {
  switch (op) {
    case TT_P_CONST: return "const";
    case TT_P_LOAD: return "load";
    case TT_P_INDEX: return "index";
    case TT_P_LOADX: return "loadx";
    case TT_P_STORE: return "store";
    case TT_P_STOREX: return "storex";
    case TT_P_REDUCE: return "reduce";
    default: return tt__ops[op].lower;
  }
}

static void print_list(tt_str *out, const int64_t *x, int n) {
  for (int i = 0; i < n; i++) tt__str_addf(out, "%s%lld", i ? "," : "", (long long)x[i]);
}

static void print_kernel_step(const tt_step *s, tt_str *out) {
  tt__str_addf(out, " outer=%d space=", s->nouter);
  print_list(out, s->space.len, s->space.naxes);
  tt__str_add(out, "\n");
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
    tt__str_addf(out, "  %%%d = %s", i, inst_name(p->op));
    if (p->op == TT_P_REDUCE) tt__str_addf(out, ".%s", red_name(p->red));
    tt__str_addf(out, " %s ref=%d", tt__dtypes[p->dtype].name, p->ref);
    for (int k = 0; k < 3 && p->src[k] >= 0; k++) tt__str_addf(out, " %%%d", p->src[k]);
    tt__str_add(out, "\n");
  }
}

static void print_library_step(const tt_step *s, tt_str *out) {
  tt__str_addf(out, " lib=n%d\n", s->lib);
  for (int i = 0; i < s->nsrc; i++) {
    tt__str_addf(out, "  source %d: n%d off=%lld len=", i, s->src[i].node, (long long)s->src[i].off);
    print_list(out, s->src[i].len, s->src[i].rank);
    tt__str_add(out, " step=");
    print_list(out, s->src[i].step, s->src[i].rank);
    tt__str_add(out, "\n");
  }
}

void tt__plan_print(const tt_plan *p, tt_str *out) {
  static const char *const kind[] = {"kernel", "library", "empty"};
  tt__str_addf(out, "plan steps=%d nodes=%d\n", p->n, p->nnode);
  for (int i = 0; i < p->n; i++) {
    const tt_step *s = &p->step[i];
    tt__str_addf(out, "step %d: %s", i, kind[s->kind]);
    if (s->kind == TT_STEP_KERNEL) print_kernel_step(s, out);
    else if (s->kind == TT_STEP_LIB) print_library_step(s, out);
    else tt__str_add(out, "\n");
    for (int r = 0; r < s->nroot; r++)
      tt__str_addf(out, "  root %d: n%d operand=%d base=%d in_place=%d donor=%d\n", r, s->root[r].node, s->root[r].operand,
                   s->root[r].base, s->root[r].in_place, s->root[r].donor);
  }
}
