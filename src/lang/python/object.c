/*
** Objects of classes that numba's jitclass made: lists, of kind 'j', of one item, which is a tuple with the fields'
** names. Their methods are functions that the package adds to the text when a call asks for one:
** (method class "name" function static (default ...)).
*/
#include <stdlib.h>
#include <string.h>

#include "lang/python/py_int.h"

bool py__is_object(const expr *e) { return e->type->tag == TT_T_LIST && e->type->layout == 'j'; }

static type *fields_of(const expr *object) { return object->type->item[0]; }

static const char *number_of(const type *fields) { return strchr(fields->meta, '#') + 1; }

/* A method, or "get name" and "set name" of a property. NULL: the class has none; asks the package where it may. */
static const tt_tree *method_of(lower *l, const type *fields, const char *name) {
  long number = atol(number_of(fields));
  for (int k = 0; k < l->module->n; k++) {
    const tt_tree *m = l->module->item[k];
    if (!tt__tree_is(m, "method") || py__at(l, m, 1)->i != number || strcmp(py__word(l, py__at(l, m, 2)), name) != 0)
      continue;
    return py__at(l, m, 3)->i < 0 ? NULL : m;
  }
  py__fail(l, TT_ENOTIMPL, "overload class %ld %s", number, name); /* the binding finds it and comes again */
}

static expr *called(lower *l, const tt_tree *method, expr *object, expr *const *arg, int n) {
  expr *all[TT_PROGRAM_ARGS];
  int have = 0, source = (int)py__at(l, method, 3)->i, want = py__parameters(l, source);
  const tt_tree *defaults = py__at(l, method, 5);
  if (defaults->tag != TT_TREE_LIST) py__fail(l, TT_EVALUE, "the program text is malformed");
  if (!py__at(l, method, 4)->i) all[have++] = py__keep(l, object);
  for (int k = 0; k < n && have < TT_PROGRAM_ARGS; k++)
    all[have++] = py__keep(l, py__listed(l, py__materialise(l, arg[k])));
  while (have < want && want - have <= defaults->n && have < TT_PROGRAM_ARGS) {
    expr *e = py__keep(l, py__text(l, py__value(l, defaults->item[defaults->n - (want - have)])));
    all[have++] = e;
  }
  return py__call_user(l, source, all, have);
}

expr *py__object_method(lower *l, expr *object, const char *name, const tt_tree *t) {
  expr *arg[TT_PROGRAM_ARGS];
  int n = 0;
  const tt_tree *method = method_of(l, fields_of(object), name);
  if (!method) py__fail(l, TT_ETYPE, "%s has no method '%s'", py__type_name(l, object->type), name);
  for (int k = 3; k < t->n; k++) {
    if (tt__tree_is(t->item[k], "kw")) py__fail(l, TT_ENOTIMPL, "keyword arguments of a method");
    if (n == TT_PROGRAM_ARGS - 1) py__fail(l, TT_ENOTIMPL, "more than %d arguments", n);
    arg[n] = py__text(l, py__value(l, t->item[k]));
    if (py__is_unknown(arg[n++])) return py__missing(l);
  }
  return called(l, method, object, arg, n);
}

static const char *joined_name(lower *l, const char *what, const char *name) {
  size_t a = strlen(what), b = strlen(name);
  char *both = py__alloc(l, a + b + 1);
  memcpy(both, what, a);
  memcpy(both + a, name, b + 1);
  return both;
}

expr *py__object_attribute(lower *l, expr *object, const char *name) {
  object = py__keep(l, object);
  int k = py__field(fields_of(object), name);
  if (k >= 0) return py__keep(l, py__item(l, py__list_item(l, object, py__int(l, 0)), k));
  const tt_tree *get = method_of(l, fields_of(object), joined_name(l, "get ", name));
  if (!get) py__fail(l, TT_ETYPE, "%s has no attribute '%s'", py__type_name(l, object->type), name);
  return called(l, get, object, NULL, 0);
}

/* A value as a field has it. */
static expr *as_field(lower *l, type *t, const char *name, expr *value) {
  value = py__keep(l, py__listed(l, py__materialise(l, value)));
  bool numbers = t->tag == TT_T_SCALAR && py__is_scalar(value);
  bool lists = t->tag == TT_T_LIST && value->type->tag == TT_T_LIST && t->layout == 't' && value->type->layout == 'l' &&
               t->item[0] == value->type->item[0];
  type *both = numbers || lists ? t : py__unify(l, t, value->type);
  if (both != t)
    py__fail(l, TT_ETYPE, "the field '%s' is %s and takes no %s", name, py__type_name(l, t),
             py__type_name(l, value->type));
  return numbers ? py__cast(l, value, (tt_dtype)t->dtype) : py__convert(l, value, t);
}

void py__set_object_field(lower *l, expr *object, const char *name, expr *value, const char *op) {
  type *fields = fields_of(object);
  object = py__keep(l, object);
  int at = py__field(fields, name);
  if (py__is_unknown(value)) return;
  if (op) {
    expr *old = py__object_attribute(l, object, name);
    if (py__is_unknown(old)) return;
    if (py__is_array(old)) {
      py__fill(l, old, value, op, false);
      return;
    }
    value = py__binary(l, op, old, value);
  }
  if (at < 0) {
    const tt_tree *set = method_of(l, fields, joined_name(l, "set ", name));
    if (!set) py__fail(l, TT_ETYPE, "%s has no attribute '%s'", py__type_name(l, object->type), name);
    py__stmt(l, TT_X_EVAL)->a = called(l, set, object, &value, 1);
    return;
  }
  value = py__keep(l, as_field(l, fields->item[at], name, value));
  expr *whole = py__list_item(l, object, py__int(l, 0)), *fresh = py__expr(l, TT_X_TUPLE, fields, fields->n);
  for (int k = 0; k < fields->n; k++) fresh->arg[k] = k == at ? value : py__item(l, whole, k);
  py__list_write(l, object, py__int(l, 0), py__keep(l, fresh));
}

static expr *blank(lower *l, type *t);

static expr *blank_object(lower *l, type *t) {
  l->f->func->can_fail = true;
  expr *made = py__keep(l, py__expr(l, TT_X_LIST, t, 0));
  py__list_append(l, made, blank(l, t->item[0]));
  return made;
}

/* What a field is before anything is put into it. */
static expr *blank(lower *l, type *t) {
  expr *len[TT_PROGRAM_RANK];
  if (t->tag == TT_T_SCALAR) return py__cast(l, py__int(l, 0), (tt_dtype)t->dtype);
  if (t->tag == TT_T_ARRAY) {
    for (int k = 0; k < t->rank; k++) len[k] = py__int(l, 0);
    return py__convert(l, py__keep(l, py__allocate(l, (tt_dtype)t->dtype, len, t->rank, true)), t);
  }
  if (t->tag == TT_T_LIST && t->layout == 'j') return blank_object(l, t);
  if (t == py__text_type(l)) return py__text_of(l, py__nothing(l));
  if (t->tag == TT_T_LIST) return l->f->func->can_fail = true, py__keep(l, py__expr(l, TT_X_LIST, t, 0));
  if (t->tag != TT_T_TUPLE) return py__nothing(l);
  expr *e = py__expr(l, TT_X_TUPLE, t, t->n);
  for (int k = 0; k < t->n; k++) e->arg[k] = blank(l, t->item[k]);
  return py__keep(l, e);
}

/* (new "type" argument ...): an object of a class, whose __init__ is a method. */
expr *py__new_object(lower *l, const tt_tree *t) {
  expr *arg[TT_PROGRAM_ARGS], *kind = py__meta(l, "kind", py__word(l, py__at(l, t, 1)));
  int n = 0;
  if (l->options.kernel) py__fail(l, TT_ENOTIMPL, "an object of a class in a kernel");
  for (int k = 2; k < t->n; k++) {
    if (n == TT_PROGRAM_ARGS - 1) py__fail(l, TT_ENOTIMPL, "more than %d arguments", n);
    arg[n] = py__text(l, py__value(l, t->item[k]));
    if (py__is_unknown(arg[n++])) return py__missing(l);
  }
  type *meant = py__type_meant(l, kind);
  if (meant->tag != TT_T_LIST || meant->layout != 'j') py__fail(l, TT_EVALUE, "the program text is malformed");
  expr *made = blank_object(l, meant);
  const tt_tree *init = method_of(l, fields_of(made), "__init__");
  if (!init) return made;
  expr *done = called(l, init, made, arg, n);
  if (!py__is_unknown(done) && done->op == TT_X_CALL) py__stmt(l, TT_X_EVAL)->a = done;
  return made;
}
