/*
** Values that are None on some ways through a function: a truth, is it there, and the value, under a name that no
** other tuple has. Who only hands one on, asks for its truth or compares it has both; for everything else it is the
** value, and a TypeError where it is None.
*/
#include <stdio.h>
#include <string.h>

#include "lang/python/py_int.h"

static const char optional_name[] = "Ooptional";

static bool is_optional(const type *t) {
  return t->tag == TT_T_TUPLE && t->n == 2 && t->meta && strcmp(t->meta, optional_name) == 0;
}

bool py__is_optional(const expr *e) { return is_optional(e->type); }

/* The type of what is one of the two, of which one may be None at times or always; NULL: there is none. */
type *py__optional(lower *l, type *a, type *b) {
  type *x = is_optional(a) ? a->item[1] : a, *y = is_optional(b) ? b->item[1] : b;
  type *value = x->tag == TT_T_NONE ? y : y->tag == TT_T_NONE ? x : py__unify(l, x, y);
  bool good = value && (value->tag == TT_T_SCALAR || value->tag == TT_T_ARRAY || value->tag == TT_T_TUPLE ||
                        (value->tag == TT_T_LIST && py__is_complete(value)));
  if (!good || (value->tag == TT_T_ARRAY && value->layout == 'E')) return NULL;
  type *item[2] = {py__scalar(l, TT_BOOL), value};
  return py__named(l, item, 2, optional_name);
}

bool py__may_be_none(const type *a, const type *b) {
  return is_optional(a) || is_optional(b) || a->tag == TT_T_NONE || b->tag == TT_T_NONE;
}

/* What stands for the value where there is none: nobody reads it, but it crosses to the host. */
static expr *zero_of(lower *l, type *t) {
  expr *part[TT_PROGRAM_RANK];
  if (t->tag == TT_T_SCALAR) return py__cast(l, py__int(l, 0), (tt_dtype)t->dtype);
  if (t == py__text_type(l)) {
    expr *word = py__meta(l, "str", "");
    word->op = TT_X_STRING;
    return py__text(l, word);
  }
  if (t->tag == TT_T_LIST) {
    l->f->func->can_fail = true;
    return py__keep(l, py__expr(l, TT_X_LIST, t, 0));
  }
  if (t->tag == TT_T_ARRAY) {
    for (int k = 0; k < t->rank; k++) part[k] = py__int(l, 0);
    return py__convert(l, py__keep(l, py__allocate(l, (tt_dtype)t->dtype, part, t->rank, false)), t);
  }
  if (t->tag != TT_T_TUPLE) return py__nothing(l);
  expr *e = py__expr(l, TT_X_TUPLE, t, t->n);
  for (int k = 0; k < t->n; k++) e->arg[k] = zero_of(l, t->item[k]);
  return e;
}

expr *py__to_optional(lower *l, expr *e, type *to) {
  expr *made = py__expr(l, TT_X_TUPLE, to, 2);
  if (py__is_optional(e)) e = py__keep(l, e);
  bool none = e->type->tag == TT_T_NONE;
  made->arg[0] = py__is_optional(e) ? py__item(l, e, 0) : py__bool(l, !none);
  made->arg[1] = none                 ? zero_of(l, to->item[1])
                 : py__is_optional(e) ? py__convert(l, py__item(l, e, 1), to->item[1])
                                      : py__convert(l, e, to->item[1]);
  return made;
}

expr *py__is_there(lower *l, expr *e) { return py__item(l, py__keep(l, e), 0); }

expr *py__if_there(lower *l, expr *e) { return py__is_optional(e) ? py__item(l, py__keep(l, e), 1) : e; }

expr *py__present(lower *l, expr *e) {
  if (!py__is_optional(e)) return e;
  e = py__keep(l, e);
  char *says = py__alloc(l, 120);
  snprintf(says, 120, "expected %.90s, got None", py__type_name(l, e->type->item[1]));
  if (l->f->func->kind != TT_X_KERNEL || l->options.check) py__raise_unless(l, py__item(l, e, 0), TT_ETYPE, says);
  return py__keep(l, py__item(l, e, 1));
}

/* The truth of one: None is false. */
expr *py__optional_truth(lower *l, expr *e) {
  e = py__keep(l, e);
  return py__elem(l, TT_AND, py__item(l, e, 0), py__truth(l, py__item(l, e, 1)));
}

/* a == b, of which at least one is optional: None is equal to None alone. */
expr *py__optional_equal(lower *l, expr *a, expr *b) {
  if (!py__is_optional(a)) return py__optional_equal(l, b, a);
  a = py__keep(l, a);
  b = py__keep(l, b);
  expr *there = py__item(l, a, 0), *value = py__item(l, a, 1);
  if (b->type->tag == TT_T_NONE) return py__elem(l, TT_LNOT, there, NULL);
  bool both = py__is_optional(b);
  expr *same = py__compare(l, "==", value, both ? py__item(l, b, 1) : b);
  if (!py__is_scalar(same)) py__fail(l, TT_ETYPE, "'==' of what may be None and an array");
  same = py__truth(l, same);
  if (!both) return py__elem(l, TT_AND, there, same);
  expr *alike = py__elem(l, TT_EQ, there, py__item(l, b, 0));
  return py__elem(l, TT_AND, alike, py__elem(l, TT_OR, py__elem(l, TT_LNOT, there, NULL), same));
}
