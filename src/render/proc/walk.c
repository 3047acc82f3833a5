/* Walks over what statements hold: which locals they use, and whether something stands anywhere in them. */
#include "render/proc/proc_int.h"

void tt__pw_each_expr(const tt_pexpr *e, tt_pw_see see, void *ctx) {
  if (!e) return;
  if (e->op == TT_X_LOCAL) see(ctx, e->k, false);
  for (int k = 0; k < e->n; k++) tt__pw_each_expr(e->arg[k], see, ctx);
}

void tt__pw_each_stmt(const tt_pstmt *s, tt_pw_see see, void *ctx) {
  for (; s; s = s->next) {
    tt__pw_each_expr(s->a, see, ctx);
    tt__pw_each_expr(s->b, see, ctx);
    tt__pw_each_expr(s->c, see, ctx);
    for (int k = 0; s->arg && k < s->n; k++) tt__pw_each_expr(s->arg[k], see, ctx);
    if (s->local >= 0) see(ctx, s->local, true);
    for (int k = 0; s->op == TT_X_PARFOR && k < s->n; k++) see(ctx, s->reduced[k], true);
    tt__pw_each_stmt(s->body, see, ctx);
    tt__pw_each_stmt(s->other, see, ctx);
  }
}

bool tt__pw_some_expr(const tt_pexpr *e, bool (*test)(const tt_pexpr *e)) {
  if (!e) return false;
  if (test(e)) return true;
  for (int k = 0; k < e->n; k++)
    if (tt__pw_some_expr(e->arg[k], test)) return true;
  return false;
}

bool tt__pw_some(const tt_pstmt *s, bool (*test)(const tt_pexpr *e)) {
  for (; s; s = s->next) {
    if (tt__pw_some_expr(s->a, test) || tt__pw_some_expr(s->b, test) || tt__pw_some_expr(s->c, test)) return true;
    for (int k = 0; s->arg && k < s->n; k++)
      if (tt__pw_some_expr(s->arg[k], test)) return true;
    if (tt__pw_some(s->body, test) || tt__pw_some(s->other, test)) return true;
  }
  return false;
}

bool tt__pw_some_in(const tt_proc *p, bool (*test)(const tt_pexpr *e)) {
  for (int64_t k = 0; k < p->funcs.n; k++)
    if (tt__pw_some(p->funcs.data[k]->body, test)) return true;
  return false;
}
