/*
** Lists: an address of their items, so that whoever has one sees what others do to it. What changes a list is spelled
** in three operations: how many items it has, making it longer or shorter, and the place of an item.
**
** What is read of a list is kept at once, because a later part of the same expression may change it.
*/
#include <stdio.h>
#include <string.h>

#include "lang/python/py_int.h"

type *py__list_type(lower *l, type *item, char kind) {
  type *t = tt__ptype_list(l->p, item, kind);
  if (!t) py__fail(l, TT_ENOMEM, "out of memory");
  return t;
}

bool py__is_complete(const type *t) {
  if (t->tag == TT_T_UNKNOWN) return false;
  for (int k = 0; (t->tag == TT_T_LIST || t->tag == TT_T_TUPLE || t->tag == TT_T_GENERATOR) && k < t->n; k++)
    if (!py__is_complete(t->item[k])) return false;
  return true;
}

static type *item_of(const expr *list) { return list->type->item[0]; }

/* Arrays in a list may have any steps. */
type *py__plain_item(lower *l, type *item) {
  if (item->tag != TT_T_ARRAY || item->layout == 'P') return item;
  return tt__ptype_array(l->p, (tt_dtype)item->dtype, item->rank, 'A', item->readonly);
}

static expr *new_list(lower *l, type *item, char kind) {
  item = py__plain_item(l, item);
  if (l->options.kernel) py__fail(l, TT_ENOTIMPL, "a list in a kernel: use cuda.local.array");
  l->f->func->can_fail = true;
  return py__expr(l, TT_X_LIST, py__list_type(l, item, kind), 0);
}

expr *py__new_list(lower *l, type *item) { return new_list(l, item, 'l'); }

/* ---- the three operations */

static expr *count(lower *l, expr *list) {
  expr *e = py__expr(l, TT_X_COUNT, py__scalar(l, TT_I64), 1);
  e->arg[0] = list;
  e->nonneg = true;
  e->limit = TT_PROGRAM_LONGEST;
  return e;
}

static void refuse_object(lower *l, const expr *e) {
  if (py__is_object(e)) py__fail(l, TT_ETYPE, "%s is no list", py__type_name(l, e->type));
}

expr *py__count_of(lower *l, expr *list) {
  refuse_object(l, list);
  return py__keep(l, count(l, py__keep(l, list)));
}

void py__list_resize(lower *l, expr *list, expr *n) {
  expr *e = py__expr(l, TT_X_RESIZE, py__scalar(l, TT_BOOL), 2);
  e->arg[0] = list;
  e->arg[1] = n;
  py__raise_unless(l, e, TT_ENOMEM, "out of memory");
  py__changed(l, list);
}

static expr *place(lower *l, expr *list, expr *at) {
  expr *e = py__expr(l, TT_X_AT, item_of(list), 2);
  e->arg[0] = list;
  e->arg[1] = at;
  return e;
}

expr *py__list_item(lower *l, expr *list, expr *at) {
  return item_of(list)->tag == TT_T_UNKNOWN ? py__missing(l) : py__keep(l, place(l, list, at));
}

/* As the field says of a value that a container does not take. */
static void refuse_item(lower *l, const expr *list, const expr *value) {
  type *item = item_of(list), *other = value->type;
  const char *to = py__type_name(l, item), *from = py__type_name(l, other);
  if (list->type->layout == 't')
    py__fail(l, TT_ETYPE,
             "Cannot refine type: a list of %s takes no %s: its items have one type, which the first one gives", to,
             from);
  if (list->type->layout == 'l')
    py__fail(
        l, TT_ETYPE,
        "invalid setitem with value of %s to element of %s: a list of %s takes no %s: its items have one type, which "
        "the first one gives",
        from, to, to, from);
  for (int k = 1; k < item->n && other->tag == TT_T_TUPLE && k < other->n; k++)
    if (py__unify(l, item->item[k], other->item[k]) != item->item[k])
      py__fail(l, TT_ETYPE, "%s %s to %s: the %ss of a dictionary or a set have one type, which the first one gives",
               list->type->layout == 'e' ? "cannot safely cast" : "Cannot cast", py__type_name(l, other->item[k]),
               item->item[k] == py__text_type(l) ? "unicode_type" : py__type_name(l, item->item[k]),
               k == 1 ? "key" : "value");
  py__fail(l, TT_ETYPE, "%s takes no %s", py__type_name(l, list->type), from);
}

/* An item's value as the list has it: numbers become wider ones of their kind, and whole numbers floats. */
static expr *fitting(lower *l, expr *list, expr *value) {
  type *item = item_of(list), *both = py__unify(l, item, value->type);
  bool truth = item->tag == TT_T_SCALAR && (item->dtype == TT_BOOL) != (value->type->dtype == TT_BOOL);
  bool whole = list->type->layout == 't' && item->tag == TT_T_SCALAR && py__is_scalar(value) &&
               tt__is_int((tt_dtype)item->dtype) && tt__is_int((tt_dtype)value->type->dtype);
  if (whole) return py__cast(l, value, (tt_dtype)item->dtype); /* a library's list keeps its width */
  if (both != item || (truth && py__is_scalar(value))) refuse_item(l, list, value);
  return py__convert(l, value, item);
}

void py__list_write(lower *l, expr *list, expr *at, expr *value) {
  value = fitting(l, list, value);
  stmt *s = py__stmt(l, TT_X_STORE);
  s->a = place(l, list, at);
  s->b = value;
  py__changed(l, list);
}

/* ---- making lists */

/* The list of which `value` is to be an item, whose type may be learnt from it. NULL: not now. */
expr *py__list_taking(lower *l, expr *list, const expr *value) {
  if (py__is_unknown(value)) return NULL;
  if (py__is_complete(list->type)) return list;
  type *item = py__unify(l, item_of(list), value->type);
  if (!item || !py__is_complete(item) || list->op != TT_X_LOCAL) return NULL;
  tt_plocal *v = &l->f->func->locals.data[list->k];
  v->type = py__list_type(l, py__plain_item(l, item), list->type->layout);
  l->f->changed = true;
  return py__local(l, list->k);
}

void py__list_append(lower *l, expr *list, expr *value) {
  value = py__keep(l, py__listed(l, py__materialise(l, value)));
  if (!(list = py__list_taking(l, list, value))) return;
  expr *n = py__keep(l, count(l, list));
  py__list_resize(l, list, py__elem(l, TT_ADD, n, py__int(l, 1)));
  py__list_write(l, list, n, value);
}

bool py__is_display(const expr *e) { return e->op == TT_X_TUPLE && e->form != NULL; }

/* What the items of a display have in common. */
static bool have_common_item(lower *l, expr *const *item, int n) {
  type *t = py__unknown(l);
  for (int k = 0; k < n; k++) {
    bool truth = t->tag == TT_T_SCALAR && (t->dtype == TT_BOOL) != (item[k]->type->dtype == TT_BOOL);
    bool none = k > 0 && (t->tag == TT_T_NONE) != (item[k]->type->tag == TT_T_NONE);
    type *both = none ? NULL : py__unify(l, t, item[k]->type);
    if (!both || truth) return false;
    t = both;
  }
  return true;
}

static type *common_item(lower *l, expr *const *item, int n) {
  type *t = py__unknown(l);
  for (int k = 0; k < n; k++) {
    type *both = py__unify(l, t, item[k]->type);
    bool truth = t->tag == TT_T_SCALAR && (t->dtype == TT_BOOL) != (item[k]->type->dtype == TT_BOOL);
    if (!both || truth)
      py__fail(l, TT_ETYPE, "a list of %s and %s: its items have one type", py__type_name(l, t),
               py__type_name(l, item[k]->type));
    t = both;
  }
  return t;
}

/* A tuple that was written out, with lists for the displays in it. */
static expr *tuple_of_listed(lower *l, expr *e) {
  type *item[TT_PROGRAM_ARGS];
  bool any = false;
  expr *made = py__expr(l, TT_X_TUPLE, e->type, e->n);
  for (int k = 0; k < e->n; k++) {
    made->arg[k] = py__listed(l, e->arg[k]);
    any |= made->arg[k] != e->arg[k];
    item[k] = made->arg[k]->type;
  }
  if (!any) return e;
  made->type = py__named(l, item, e->n, e->type->meta);
  return made;
}

expr *py__listed(lower *l, expr *e) {
  if (e->op == TT_X_STRING) return py__text(l, e);
  if (e->op != TT_X_TUPLE || l->options.kernel) return e;
  if (!py__is_display(e)) return tuple_of_listed(l, e);
  expr *item[TT_PROGRAM_ARGS];
  if (e->n == 0) return new_list(l, py__unknown(l), 'l');
  for (int k = 0; k < e->n; k++) item[k] = py__keep(l, py__listed(l, e->arg[k]));
  if (!have_common_item(l, item, e->n)) return py__literal_list(l, item, e->n);
  expr *list = py__keep(l, new_list(l, common_item(l, item, e->n), 'l'));
  py__list_resize(l, list, py__int(l, e->n));
  for (int k = 0; k < e->n; k++) py__list_write(l, list, py__int(l, k), item[k]);
  return list;
}

/* for at in range(n): put(at) */
typedef struct turns {
  block b;
  stmt *s;
  expr *at;
} turns;

static void each(lower *l, expr *n, turns *t) { t->s = py__count_begin(l, n, &t->b, &t->at); }
static void done(lower *l, turns *t) { py__count_end(l, t->s, &t->b); }

/* n items of `from` from `start` on, every `step`-th, behind the items of `to` or over those from `at` on. */
void py__list_copy(lower *l, expr *to, expr *at, expr *from, expr *start, expr *step, expr *n) {
  turns t;
  each(l, n, &t);
  expr *source = py__keep(l, py__elem(l, TT_ADD, start, py__elem(l, TT_MUL, t.at, step)));
  expr *target = py__keep(l, py__elem(l, TT_ADD, at, t.at));
  py__list_write(l, to, target, py__list_item(l, from, source));
  done(l, &t);
}

expr *py__list_taken(lower *l, expr *list, expr *start, expr *step, expr *n) {
  expr *made = py__keep(l, new_list(l, item_of(list), list->type->layout));
  if (!py__is_complete(list->type)) return made;
  py__list_resize(l, made, n);
  py__list_copy(l, made, py__int(l, 0), list, start, step, n);
  return made;
}

static expr *copy(lower *l, expr *list) {
  return py__list_taken(l, list, py__int(l, 0), py__int(l, 1), py__count_of(l, list));
}

void py__list_extend(lower *l, expr *list, expr *with) {
  with = py__keep(l, py__sequence(l, py__listed(l, py__materialise(l, with))));
  if (py__is_unknown(with)) return;
  bool array = py__is_array(with) && with->type->rank > 0;
  if (with->type->tag == TT_T_TUPLE) {
    for (int k = 0; k < with->type->n; k++) {
      py__list_append(l, list, py__item(l, with, k));
      list = list->op == TT_X_LOCAL ? py__local(l, list->k) : list;
    }
    return;
  }
  if (!array && with->type->tag != TT_T_LIST) py__fail(l, TT_ENOTIMPL, "a list of %s", py__type_name(l, with->type));
  turns t;
  each(l, array ? py__len(l, with, 0) : py__count_of(l, with), &t);
  py__list_append(l, list, py__turn(l, with, t.at));
  done(l, &t);
}

/* ---- indices */

static expr *select_of(lower *l, expr *test, expr *yes, expr *no) {
  expr *e = py__expr(l, TT_X_SELECT, yes->type, 3);
  e->arg[0] = test;
  e->arg[1] = yes;
  e->arg[2] = no;
  return py__keep(l, e);
}

/* An index that may count from the end as one that does not; a failure where the list has no such item. */
expr *py__list_checked(lower *l, expr *list, expr *at, const char *message) {
  if (!py__is_scalar(at) || !tt__is_int((tt_dtype)at->type->dtype))
    py__fail(l, TT_ETYPE, "a list's index that is %s", py__type_name(l, at->type));
  bool nonneg = at->nonneg;
  at = py__keep(l, py__cast(l, at, TT_I64));
  expr *n = py__keep(l, count(l, list));
  if (!nonneg) at = select_of(l, py__elem(l, TT_LT, at, py__int(l, 0)), py__keep(l, py__elem(l, TT_ADD, at, n)), at);
  expr *inside = py__elem(l, TT_LT, py__cast(l, at, TT_U64), py__cast(l, n, TT_U64));
  py__raise_unless(l, inside, TT_EINDEX, message);
  return at;
}

expr *py__list_index(lower *l, expr *list, const tt_tree *at) {
  refuse_object(l, list);
  if (py__is_dict(list) || py__is_set(list)) return py__dict_index(l, list, at);
  list = py__keep(l, list);
  expr *part[3], *index = tt__tree_is(at, "sl") ? NULL : py__value(l, at);
  if (index && py__is_unknown(index)) return index;
  if (py__slice_parts(l, at, index, part)) return py__list_part(l, list, part);
  if (py__is_text(list))
    return py__text_char(l, py__list_item(l, list, py__list_checked(l, list, index, "string index out of range")));
  return py__list_item(l, list, py__list_checked(l, list, index, "list index out of range"));
}

void py__refuse_bytes(lower *l, const expr *e, const char *what) {
  if (py__is_bytes(e))
    py__fail(l, TT_ETYPE, "'%s' of bytes in a compiled function: they are compared and stored", what);
}

void py__list_assign(lower *l, expr *list, const tt_tree *at, expr *value, const char *op) {
  py__refuse_bytes(l, list, "an assignment to an item");
  refuse_object(l, list);
  if (py__is_dict(list)) {
    py__dict_assign(l, list, at, value, op);
    return;
  }
  if (py__is_set(list)) py__fail(l, TT_ETYPE, "a set takes no assignment");
  if (py__is_text(list)) py__fail(l, TT_ETYPE, "'str' object does not support item assignment");
  expr *part[3], *index = tt__tree_is(at, "sl") ? NULL : py__value(l, at);
  list = py__keep(l, list);
  value = py__keep(l, py__listed(l, py__materialise(l, value)));
  if ((!index || !py__is_unknown(index)) && !py__is_unknown(value) && py__slice_parts(l, at, index, part)) {
    if (op) py__fail(l, TT_ENOTIMPL, "'%s=' of a slice of a list: assign the slice", op);
    py__list_assign_part(l, list, part, value);
    return;
  }
  if (!index || py__is_unknown(index) || py__is_unknown(value) || !py__is_complete(list->type)) return;
  index = py__list_checked(l, list, index, "list assignment index out of range");
  if (op) value = py__keep(l, py__materialise(l, py__binary(l, op, py__list_item(l, list, index), value)));
  py__list_write(l, list, index, value);
}

/* ---- methods */

static expr *pop(lower *l, expr *list, expr *at) {
  if (!py__is_complete(list->type)) return py__missing(l);
  expr *n = py__keep(l, count(l, list));
  py__raise_unless(l, py__elem(l, TT_GT, n, py__int(l, 0)), TT_EINDEX, "pop from empty list");
  expr *last = py__keep(l, py__elem(l, TT_SUB, n, py__int(l, 1)));
  expr *from = at ? py__list_checked(l, list, at, "pop index out of range") : last,
       *value = py__list_item(l, list, from);
  if (at) {
    expr *behind = py__keep(l, py__elem(l, TT_ADD, from, py__int(l, 1)));
    py__list_copy(l, list, from, list, behind, py__int(l, 1), py__keep(l, py__elem(l, TT_SUB, last, from)));
  }
  py__list_resize(l, list, last);
  return value;
}

static void insert(lower *l, expr *list, expr *at, expr *value) {
  value = py__keep(l, py__listed(l, py__materialise(l, value)));
  if (!(list = py__list_taking(l, list, value))) return;
  expr *n = py__keep(l, count(l, list)), *zero = py__int(l, 0);
  at = py__keep(l, py__cast(l, at, TT_I64));
  at = select_of(l, py__elem(l, TT_LT, at, zero), py__keep(l, py__elem(l, TT_ADD, at, n)), at);
  at = py__keep(l, py__elem(l, TT_MINIMUM, py__elem(l, TT_MAXIMUM, at, zero), n));
  py__list_resize(l, list, py__elem(l, TT_ADD, n, py__int(l, 1)));
  turns t;
  each(l, py__keep(l, py__elem(l, TT_SUB, n, at)), &t); /* from the end on, so that none is overwritten */
  expr *to = py__keep(l, py__elem(l, TT_SUB, n, t.at));
  py__list_write(l, list, to, py__list_item(l, list, py__keep(l, py__elem(l, TT_SUB, to, py__int(l, 1)))));
  done(l, &t);
  py__list_write(l, list, at, value);
}

static void reverse(lower *l, expr *list) {
  expr *n = py__keep(l, count(l, list));
  turns t;
  each(l, py__keep(l, py__elem(l, TT_FLOORDIV, n, py__int(l, 2))), &t);
  expr *other = py__keep(l, py__elem(l, TT_SUB, py__elem(l, TT_SUB, n, py__int(l, 1)), t.at));
  expr *value = py__list_item(l, list, t.at);
  py__list_write(l, list, t.at, py__list_item(l, list, other));
  py__list_write(l, list, other, value);
  done(l, &t);
}

/* How many items equal `value`, and in *first the place of the first; -1: none does. */
static expr *equal_items(lower *l, expr *list, expr *value, expr **first) {
  int32_t number = py__temp(l, py__scalar(l, TT_I64)), place_of = py__temp(l, py__scalar(l, TT_I64));
  l->f->func->locals.data[place_of].nonneg = false;
  for (int k = 0; k < 2; k++) l->f->func->locals.data[k ? number : place_of].limit = 0;
  value = py__keep(l, value);
  py__set(l, number, py__int(l, 0));
  py__set(l, place_of, py__int(l, -1));
  turns t;
  each(l, py__count_of(l, list), &t);
  expr *same = py__compare(l, "==", py__list_item(l, list, t.at), value);
  if (!py__is_unknown(same)) {
    block b;
    stmt *s = py__stmt(l, TT_X_IF);
    s->a = same;
    py__block_begin(l, &b);
    expr *new_place = py__local(l, place_of), *none = py__elem(l, TT_LT, new_place, py__int(l, 0));
    py__set(l, place_of, select_of(l, none, t.at, new_place));
    py__set(l, number, py__elem(l, TT_ADD, py__local(l, number), py__int(l, 1)));
    s->body = py__block_end(l, &b);
  }
  done(l, &t);
  if (first) *first = py__local(l, place_of);
  return py__local(l, number);
}

expr *py__list_contains(lower *l, expr *list, expr *value) {
  if (py__is_dict(list) || py__is_set(list)) return py__dict_contains(l, list, value);
  return py__elem(l, TT_GT, equal_items(l, py__keep(l, list), value, NULL), py__int(l, 0));
}

static expr *found_at(lower *l, expr *list, expr *value, const char *message) {
  expr *at;
  equal_items(l, list, value, &at);
  py__raise_unless(l, py__elem(l, TT_GE, at, py__int(l, 0)), TT_EVALUE, message);
  return at;
}

expr *py__list_found(lower *l, expr *list, expr *value) { return found_at(l, list, value, "value not in list"); }

static void sort(lower *l, expr *list, bool down) {
  static const char *const no_number = "a list is sorted here where its items are real numbers, not %s";
  type *item = item_of(list);
  if (item->tag != TT_T_SCALAR || tt__is_complex((tt_dtype)item->dtype) || item->dtype == TT_F16 ||
      item->dtype == TT_BF16)
    py__fail(l, TT_ENOTIMPL, no_number, py__type_name(l, item));
  char *name = py__alloc(l, 32);
  snprintf(name, 32, "tt_list_sort_%s", tt__dtypes[item->dtype].suffix);
  expr *arg[2] = {list, py__bool(l, down)};
  py__raise_unless(l, py__helper(l, name, py__scalar(l, TT_BOOL), true, arg, 2), TT_ENOMEM, "out of memory");
  py__changed(l, list);
}

/* list.sort(key=...): the front end made the list of the keys. */
static void sort_by(lower *l, expr *list, expr *keys, bool down) {
  expr *zero = py__int(l, 0), *one = py__int(l, 1), *n = py__count_of(l, list);
  keys = py__keep(l, py__listed(l, keys));
  if (!py__is_complete(keys->type) || keys->type->tag != TT_T_LIST) return;
  type *item = item_of(keys);
  if (item->tag != TT_T_SCALAR || tt__is_complex((tt_dtype)item->dtype) || item->dtype == TT_F16 ||
      item->dtype == TT_BF16)
    py__fail(l, TT_ENOTIMPL, "a list is sorted here by keys that are real numbers, not %s", py__type_name(l, item));
  expr *places = py__keep(l, new_list(l, py__scalar(l, TT_I64), 'l'));
  py__list_resize(l, places, n);
  turns t;
  each(l, n, &t);
  py__list_write(l, places, t.at, t.at);
  done(l, &t);
  char *name = py__alloc(l, 32);
  snprintf(name, 32, "tt_list_order_%s", tt__dtypes[item->dtype].suffix);
  expr *arg[3] = {places, keys, py__bool(l, down)};
  py__raise_unless(l, py__helper(l, name, py__scalar(l, TT_BOOL), true, arg, 3), TT_ENOMEM, "out of memory");
  expr *old = py__list_taken(l, list, zero, one, n);
  each(l, n, &t);
  py__list_write(l, list, t.at, py__list_item(l, old, py__list_item(l, places, t.at)));
  done(l, &t);
}

/* By keys, if the call has some. */
static void sort_as(lower *l, expr *list, const tt_tree *t, bool down) {
  const tt_tree *word = t ? py__keyword(l, t, "key") : NULL;
  expr *keys = word ? py__value(l, word) : NULL;
  if (keys && keys->type->tag != TT_T_NONE)
    sort_by(l, list, keys, down);
  else
    sort(l, list, down);
}

static bool is_down(lower *l, const tt_tree *t) {
  const tt_tree *word = t ? py__keyword(l, t, "reverse") : NULL;
  if (!word) return false;
  expr *e = py__value(l, word);
  if (e->op != TT_X_CONST) py__fail(l, TT_ENOTIMPL, "sort() whose 'reverse' is not a constant");
  return e->i != 0;
}

expr *py__list_method(lower *l, expr *list, const char *name, const tt_tree *t) {
  int n = t->n - 3;
  expr *arg[3] = {NULL, NULL, NULL};
  if (py__is_dict(list) || py__is_set(list)) return py__dict_method(l, list, name, t);
  py__refuse_bytes(l, list, name);
  list = py__keep(l, list);
  bool nones = list->type->layout == 't' && item_of(list)->tag == TT_T_NONE;
  if (nones && strcmp(name, "append") != 0)
    py__fail(l, TT_ETYPE, "method support for List[None] is limited, '%s' is not supported.", name);
  if (strcmp(name, "sort") == 0 && n <= 2) {
    if (py__is_complete(list->type)) sort_as(l, list, t, is_down(l, t));
    return py__nothing(l);
  }
  for (int k = 0; k < n && k < 3; k++) {
    arg[k] = py__value(l, t->item[k + 3]);
    if (py__is_unknown(arg[k])) return py__missing(l);
  }
  if (strcmp(name, "append") == 0 && n == 1) return py__list_append(l, list, arg[0]), py__nothing(l);
  if (strcmp(name, "extend") == 0 && n == 1) return py__list_extend(l, list, arg[0]), py__nothing(l);
  if (strcmp(name, "insert") == 0 && n == 2) return insert(l, list, arg[0], arg[1]), py__nothing(l);
  if (strcmp(name, "pop") == 0 && n <= 1) return pop(l, list, arg[0]);
  if (strcmp(name, "copy") == 0 && n == 0) return copy(l, list);
  if (strcmp(name, "clear") == 0 && n == 0) return py__list_resize(l, list, py__int(l, 0)), py__nothing(l);
  if (!py__is_complete(list->type)) return py__missing(l);
  if (strcmp(name, "reverse") == 0 && n == 0) return reverse(l, list), py__nothing(l);
  if (strcmp(name, "count") == 0 && n == 1) return py__keep(l, equal_items(l, list, arg[0], NULL));
  if (strcmp(name, "index") == 0 && n == 1) return py__list_found(l, list, arg[0]);
  if (strcmp(name, "index") == 0 && (n == 2 || n == 3)) return py__list_index_in(l, list, arg[0], arg[1], arg[2]);
  if (strcmp(name, "remove") == 0 && n == 1) {
    (void)pop(l, list, found_at(l, list, arg[0], "list.remove(x): x not in list"));
    return py__nothing(l);
  }
  py__fail(l, TT_ENOTIMPL, "a list's method '%s' with %d arguments", name, n);
}

/* ---- operators and functions */

static expr *repeated(lower *l, expr *list, expr *times) {
  if (!py__is_scalar(times) || !tt__is_int((tt_dtype)times->type->dtype)) return NULL;
  expr *made = py__keep(l, new_list(l, item_of(list), list->type->layout)), *n = py__count_of(l, list);
  times = py__keep(l, py__elem(l, TT_MAXIMUM, py__cast(l, times, TT_I64), py__int(l, 0)));
  if (!py__is_complete(list->type)) return made;
  py__list_resize(l, made, py__elem(l, TT_MUL, n, times));
  turns t;
  each(l, times, &t);
  py__list_copy(l, made, py__keep(l, py__elem(l, TT_MUL, t.at, n)), list, py__int(l, 0), py__int(l, 1), n);
  done(l, &t);
  return made;
}

expr *py__list_binary(lower *l, const char *op, expr *a, expr *b) {
  if (py__is_dict(a) || py__is_dict(b) || py__is_set(a) || py__is_set(b)) return NULL;
  if (py__is_bytes(a) || py__is_bytes(b)) return NULL;
  a = py__keep(l, py__listed(l, a));
  b = py__keep(l, py__listed(l, b));
  bool first = a->type->tag == TT_T_LIST, second = b->type->tag == TT_T_LIST;
  if (op[0] == '*' && !op[1]) return first ? repeated(l, a, b) : repeated(l, b, a);
  if (op[0] != '+' || !first || !second) return NULL;
  if (!py__is_complete(a->type)) return copy(l, b);
  if (!py__is_complete(b->type)) return copy(l, a);
  type *x = item_of(a), *y = item_of(b), *wide = x == y ? x : py__unify(l, x, y);
  bool numbers = x->tag == TT_T_SCALAR && y->tag == TT_T_SCALAR && a->type->layout == 'l' && b->type->layout == 'l';
  if (numbers && wide != x && x->dtype != TT_BOOL && y->dtype != TT_BOOL) { /* [1] + [2.0] is a list of floats */
    expr *wider = py__keep(l, new_list(l, wide, 'l'));
    py__list_extend(l, wider, a);
    py__list_extend(l, wider, b);
    return wider;
  }
  expr *made = copy(l, a);
  py__list_extend(l, made, b);
  return made;
}

/* Are they equal, item by item? */
expr *py__list_equal(lower *l, expr *a, expr *b) {
  if (py__is_dict(a) || py__is_dict(b) || py__is_set(a) || py__is_set(b)) return py__dict_equal(l, a, b);
  a = py__keep(l, py__listed(l, a));
  b = py__keep(l, py__listed(l, b));
  if (a->type->tag != TT_T_LIST || b->type->tag != TT_T_LIST) return py__bool(l, false);
  int32_t all = py__temp(l, py__scalar(l, TT_BOOL));
  expr *n = py__count_of(l, a);
  py__set(l, all, py__elem(l, TT_EQ, n, py__count_of(l, b)));
  if (!py__is_complete(a->type) || !py__is_complete(b->type)) return py__local(l, all);
  turns t;
  each(l, select_of(l, py__local(l, all), n, py__int(l, 0)), &t);
  expr *same = py__compare(l, "==", py__list_item(l, a, t.at), py__list_item(l, b, t.at));
  py__set(l, all, py__elem(l, TT_AND, py__local(l, all), py__truth(l, same)));
  done(l, &t);
  return py__local(l, all);
}

/* Is one before the other (op: <, <=, >, >=), by the first items that differ, else by their lengths? */
expr *py__list_order(lower *l, const char *op, expr *a, expr *b) {
  a = py__keep(l, py__listed(l, a));
  b = py__keep(l, py__listed(l, b));
  expr *na = py__count_of(l, a), *nb = py__count_of(l, b), *least = py__keep(l, py__elem(l, TT_MINIMUM, na, nb));
  int32_t answer = py__temp(l, py__scalar(l, TT_BOOL));
  py__set(l, answer, py__compare(l, op, na, nb));
  if (!py__is_complete(a->type) || !py__is_complete(b->type)) return py__local(l, answer);
  turns t;
  block inner;
  each(l, least, &t);
  expr *x = py__list_item(l, a, t.at), *y = py__list_item(l, b, t.at);
  expr *differ = py__keep(l, py__truth(l, py__compare(l, "!=", x, y)));
  stmt *s = py__stmt(l, TT_X_IF);
  s->a = differ;
  py__block_begin(l, &inner);
  py__set(l, answer, py__truth(l, py__compare(l, op, x, y)));
  py__stmt(l, TT_X_BREAK);
  s->body = py__block_end(l, &inner);
  done(l, &t);
  return py__local(l, answer);
}

/* sum(), min() and max() of a list. */
expr *py__list_fold(lower *l, const char *name, expr *list) {
  list = py__sequence(l, list);
  list = py__keep(l, list);
  if (!py__is_complete(list->type)) return py__missing(l);
  bool sum = name[0] == 's';
  expr *n = py__count_of(l, list), *start = py__int(l, 0);
  if (!sum) {
    py__raise_unless(l, py__elem(l, TT_GT, n, start), TT_EVALUE, "the list is empty");
    start = py__list_item(l, list, start);
  }
  if (item_of(list)->tag != TT_T_SCALAR) py__fail(l, TT_ENOTIMPL, "%s() of %s", name, py__type_name(l, list->type));
  tt_dtype d = (tt_dtype)item_of(list)->dtype;
  int32_t acc = py__temp(l, sum ? py__scalar(l, py__arith(d, TT_I64)) : start->type);
  l->f->func->locals.data[acc].nonneg = false;
  l->f->func->locals.data[acc].limit = 0;
  py__set(l, acc, py__cast(l, start, (tt_dtype)l->f->func->locals.data[acc].type->dtype));
  turns t;
  each(l, n, &t);
  expr *value = py__list_item(l, list, t.at), *so_far = py__local(l, acc);
  if (sum)
    py__set(l, acc, py__binary(l, "+", so_far, value));
  else
    py__set(l, acc, select_of(l, py__compare(l, name[1] == 'i' ? "<" : ">", value, so_far), value, so_far));
  done(l, &t);
  return py__local(l, acc);
}

/* An array of a list of numbers, of lists of them or of vectors: rows of one length. */
expr *py__list_array(lower *l, expr *list, tt_dtype d) {
  list = py__keep(l, list);
  if (!py__is_complete(list->type)) return py__missing(l);
  type *item = item_of(list), *inner = item;
  bool lists = item->tag == TT_T_LIST && strchr("lt", item->layout), rows = lists || item->tag == TT_T_ARRAY;
  if (lists) inner = item->item[0];
  bool good = (inner->tag == TT_T_SCALAR && (lists || inner == item)) || (item->tag == TT_T_ARRAY && item->rank == 1);
  if (!good) py__fail(l, TT_ENOTIMPL, "an array of %s", py__type_name(l, list->type));
  expr *len[2] = {py__count_of(l, list), NULL}, *zero = py__int(l, 0);
  int32_t width = rows ? py__temp(l, py__scalar(l, TT_I64)) : 0;
  if (rows) { /* as long as the first one */
    block b;
    py__set(l, width, zero);
    stmt *s = py__stmt(l, TT_X_IF);
    s->a = py__elem(l, TT_GT, len[0], zero);
    py__block_begin(l, &b);
    expr *first = py__list_item(l, list, zero);
    py__set(l, width, lists ? py__count_of(l, first) : py__len(l, first, 0));
    s->body = py__block_end(l, &b);
    len[1] = py__local(l, width);
  }
  d = d == TT_DTYPE_NONE ? (tt_dtype)inner->dtype : d;
  expr *made = py__keep(l, py__allocate(l, d, len, rows ? 2 : 1, false));
  turns t, u;
  each(l, len[0], &t);
  expr *row = py__list_item(l, list, t.at);
  if (rows) {
    expr *same = py__elem(l, TT_EQ, lists ? py__count_of(l, row) : py__len(l, row, 0), len[1]);
    py__raise_unless(l, same, TT_EVALUE, "setting an array element with a sequence: the rows differ in length");
    each(l, len[1], &u);
    expr *at[2] = {t.at, u.at};
    py__put(l, made, at, 2, py__turn(l, row, u.at));
    done(l, &u);
  } else {
    py__put(l, made, &t.at, 1, row);
  }
  done(l, &t);
  return made;
}

/* The type of what a loop over it gives. */
static type *item_in(lower *l, const expr *e) {
  expr *item[TT_PROGRAM_ARGS];
  if (py__is_text(e)) return e->type;
  if (e->type->tag == TT_T_LIST) return item_of(e);
  if (py__is_array(e) && e->type->rank == 1) return py__scalar(l, (tt_dtype)e->type->dtype);
  if (py__is_array(e) && e->type->rank > 1)
    return py__array(l, (tt_dtype)e->type->dtype, e->type->rank - 1, py__any_steps(e));
  if (e->type->tag != TT_T_TUPLE || e->type->meta)
    py__fail(l, TT_ETYPE, "List() argument must be iterable, not %s", py__type_name(l, e->type));
  for (int k = 0; k < e->type->n; k++) item[k] = py__item(l, (expr *)(uintptr_t)e, k);
  return common_item(l, item, e->type->n);
}

/* list(), list(x), List(), List(x), List.empty_list(type), sorted(x) */
expr *py__list_call(lower *l, const char *name, const tt_tree *t) {
  char kind = name[0] == 't' ? 't' : 'l';
  if (strcmp(name, "typed.List.empty_list") == 0) {
    type *item = py__type_meant(l, py__value(l, py__at(l, t, 2)));
    return py__keep(l, new_list(l, item ? item : py__scalar(l, py__dtype_of(l, py__at(l, t, 2))), kind));
  }
  if (kind == 't' && t->n - 2 != py__positional(t)) py__fail(l, TT_ETYPE, "List() takes no keyword arguments");
  if (kind == 't' && py__positional(t) > 1)
    py__fail(l, TT_ETYPE, "List() expected at most 1 argument, got %d", py__positional(t));
  if (!py__positional(t)) return new_list(l, py__unknown(l), kind);
  expr *from = py__keep(l, py__sequence(l, py__listed(l, py__materialise(l, py__value(l, t->item[2])))));
  if (!py__is_complete(from->type)) return py__missing(l);
  if (py__is_array(from) && from->type->rank == 0) { /* one element */
    from = py__load(l, from, NULL, 0);
    expr *one = py__keep(l, new_list(l, from->type, kind));
    return py__list_append(l, one, from), one;
  }
  expr *made = py__keep(l, new_list(l, item_in(l, from), kind));
  py__list_extend(l, made, from);
  if (strcmp(name, "sorted") == 0) sort_as(l, made, t, is_down(l, t));
  return made;
}
