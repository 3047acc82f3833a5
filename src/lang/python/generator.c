/*
** Functions that yield. A call makes a generator: what the function needs to go on, as words (render/proc/generator.c).
** Whoever has it makes it go on and reads what it gave.
*/
#include <string.h>

#include "lang/python/py_int.h"

bool py__yields(const tt_tree *t) {
  if (t->tag != TT_TREE_LIST) return false;
  if (tt__tree_is(t, "yield")) return true;
  for (int k = 0; k < t->n; k++)
    if (py__yields(t->item[k])) return true;
  return false;
}

/* (yield line value) */
void py__yield(lower *l, const tt_tree *t) {
  frame *f = l->f;
  if (l->options.kernel) py__fail(l, TT_ENOTIMPL, "a generator in a kernel");
  if (f->parallel) py__fail(l, TT_ENOTIMPL, "yield inside a parallel loop");
  if (f->attempts) py__fail(l, TT_ENOTIMPL, "yield inside try");
  expr *e = py__listed(l, py__materialise(l, py__value(l, py__at(l, t, 2))));
  if (e->type->tag == TT_T_META) py__fail(l, TT_ENOTIMPL, "yield of a %s", e->type->meta);
  type *both = py__unify(l, f->result, e->type);
  if (!both)
    py__fail(l, TT_ETYPE, "Cannot unify what is yielded, %s and %s", py__type_name(l, f->result),
             py__type_name(l, e->type));
  if (both != f->result) f->changed = true;
  if (f->final && !py__is_complete(both)) py__fail(l, TT_ETYPE, "the type of what is yielded cannot be told");
  f->result = both;
  stmt *s = py__stmt(l, TT_X_YIELD);
  s->a = py__convert(l, e, both);
}

expr *py__has_next(lower *l, expr *generator) {
  expr *e = py__expr(l, TT_X_NEXT, py__scalar(l, TT_BOOL), 1);
  e->arg[0] = generator;
  l->f->func->can_fail = true;
  return py__keep(l, e);
}

expr *py__yielded(lower *l, expr *generator) {
  expr *e = py__expr(l, TT_X_YIELDED, generator->type->item[0], 1);
  e->arg[0] = generator;
  return py__keep(l, e);
}

expr *py__next(lower *l, expr *generator) {
  generator = py__keep(l, generator);
  py__raise_unless(l, py__has_next(l, generator), TT_X_STOP, "");
  return py__yielded(l, generator);
}

expr *py__drained(lower *l, expr *generator) {
  block b, inner;
  generator = py__keep(l, generator);
  expr *list = py__keep(l, py__new_list(l, py__plain_item(l, generator->type->item[0])));
  stmt *s = py__stmt(l, TT_X_WHILE);
  s->a = py__bool(l, true);
  py__block_begin(l, &b);
  expr *more = py__has_next(l, generator);
  stmt *leave = py__stmt(l, TT_X_IF);
  leave->a = py__elem(l, TT_LNOT, more, NULL);
  py__block_begin(l, &inner);
  py__stmt(l, TT_X_BREAK);
  leave->body = py__block_end(l, &inner);
  py__list_append(l, list, py__yielded(l, generator));
  s->body = py__block_end(l, &b);
  return list;
}

expr *py__sequence(lower *l, expr *e) {
  if (py__is_generator(e)) return py__drained(l, e);
  return py__is_dict(e) || py__is_set(e) ? py__dict_keys(l, e) : e;
}
