/*
** The kernel as text, a line per instruction; parse_kernel.c reads it back.
**
**   kernel row outer=1 axes=2 phases=2 bufs=2 reds=1 serial checked
**   s0: f32                               scalars
**   t0: f32                               scratches
**   a0: read f16 buf0 unit                accesses: read or write, or "index any"; "any by 2" is a step that is known,
**                                         "any by 2 next" lies one element after the access before it
**   a1: write f32 scratch0 unit
**   %0 = const.f32 s0
**   %1 = load.f32 a0 @row0                scope and phase
**   %2 = add.f32 %1 %0 @row0              the suffix is the operand type
**   %3 = cast.f32.i64 %2 @row0
**   %4 = sum.f32 r0 %2 @row0
**   %5 = store.f32 a1 %4 @outer1
*/
#include "ir/text/kernel_int.h"

const char *const tt__mode_names[3] = {"map", "row", "col"};
const char *const tt__lane_names[3] = {"none", "unit", "any"};
const char *const tt__red_names[TT_RED_COUNT] = {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"};

/* "any by 2 next". */
static void print_lane(const tt_kaccess *x, tt_str *out) {
  tt__str_add(out, tt__lane_names[x->lane]);
  if (x->by) tt__str_addf(out, " by %d", x->by);
  tt__str_add(out, x->next ? " next\n" : "\n");
}

static void print_access(const tt_kernel *k, int a, tt_str *out) {
  const tt_kaccess *x = &k->access[a];
  tt__str_addf(out, "a%d: ", a);
  if (x->buf == -1) {
    tt__str_add(out, "index ");
    print_lane(x, out);
    return;
  }
  tt__str_addf(out, "%s %s ", x->write ? "write" : "read", tt__dtypes[x->dtype].suffix);
  tt__str_addf(out, x->buf >= 0 ? "buf%d" : "scratch%d", x->buf >= 0 ? x->buf : -2 - x->buf);
  tt__str_add(out, " ");
  print_lane(x, out);
}

static void print_inst(const tt_kernel *k, int i, tt_str *out) {
  const tt_kinst *in = &k->inst[i];
  const char *type = tt__dtypes[in->dtype].suffix, *from = tt__dtypes[in->from].suffix;
  tt__str_addf(out, "%%%d = ", i);
  if (in->op == TT_CAST) {
    tt__str_addf(out, "cast.%s.%s %%%d", from, type, in->src[0]);
  } else if (in->op < TT_OP_COUNT) {
    tt__str_addf(out, "%s.%s", tt__ops[in->op].lower, from);
    for (int s = 0; s < tt__ops[in->op].arity; s++) tt__str_addf(out, " %%%d", in->src[s]);
  } else {
    switch (in->op) {
      case TT_K_CONST:
        tt__str_addf(out, "const.%s s%d", type, in->slot);
        break;
      case TT_K_LOAD:
        tt__str_addf(out, "load.%s a%d", type, in->slot);
        break;
      case TT_K_INDEX:
        tt__str_addf(out, "index.%s a%d", type, in->slot);
        break;
      case TT_K_LOADX:
        tt__str_addf(out, "loadx.%s a%d %%%d", type, in->slot, in->src[0]);
        break;
      case TT_K_STORE:
        tt__str_addf(out, "store.%s a%d %%%d", type, in->slot, in->src[0]);
        break;
      case TT_K_STOREX:
        tt__str_addf(out, "storex.%s a%d %%%d %%%d", type, in->slot, in->src[0], in->src[1]);
        break;
      case TT_K_REDUCE:
        tt__str_addf(out, "%s.%s r%d %%%d", tt__red_names[in->red], from, in->slot, in->src[0]);
        break;
      default:
        tt__str_addf(out, "round.%s %%%d", from, in->src[0]);
        break;
    }
  }
  if (in->scope != TT_SCOPE_CONST) tt__str_addf(out, " @%s%d", in->scope == TT_SCOPE_ROW ? "row" : "outer", in->phase);
  tt__str_add(out, "\n");
}

void tt__kernel_print(const tt_kernel *k, tt_str *out) {
  tt__str_addf(out, "kernel %s outer=%d axes=%d phases=%d bufs=%d reds=%d%s%s\n", tt__mode_names[k->mode], k->nouter,
               k->naxes, k->nphase, k->nbuf, k->nred, k->serial ? " serial" : "", k->checked ? " checked" : "");
  for (int s = 0; s < k->nscalar; s++) tt__str_addf(out, "s%d: %s\n", s, tt__dtypes[k->scalar_type[s]].suffix);
  for (int s = 0; s < k->nscratch; s++) tt__str_addf(out, "t%d: %s\n", s, tt__dtypes[k->scratch_type[s]].suffix);
  for (int a = 0; a < k->naccess; a++) print_access(k, a, out);
  for (int i = 0; i < k->ninst; i++) print_inst(k, i, out);
}
