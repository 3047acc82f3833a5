/*
** Dictionaries and sets: lists of entries, each with a mark that it is there, its key, and its value; and an index that
** finds a key's entry (render/proc/proc_text.h). Entries keep the order in which their keys came.
*/
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lang/python/py_int.h"

static bool has_kind(const expr *e, const char *kinds) {
  return e->type->tag == TT_T_LIST && strchr(kinds, e->type->layout) != NULL;
}
bool py__is_dict(const expr *e) { return has_kind(e, "de"); }
bool py__is_set(const expr *e) { return has_kind(e, "su"); }

static type *entry_of(const expr *d) { return d->type->item[0]; }

static expr *entry(lower *l, expr *key, expr *value) {
  type *item[3] = {py__scalar(l, TT_BOOL), key->type, value ? value->type : NULL};
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, value ? 3 : 2), value ? 3 : 2);
  e->arg[0] = py__bool(l, true);
  e->arg[1] = key;
  if (value) e->arg[2] = value;
  return e;
}

static expr *new_container(lower *l, type *entries, char kind) {
  if (l->options.kernel) py__fail(l, TT_ENOTIMPL, "a dictionary or a set in a kernel");
  l->f->func->can_fail = true;
  return py__expr(l, TT_X_LIST, py__list_type(l, entries, kind), 0);
}

/* Below zero: keys are strings. */
static expr *words_of(lower *l, const expr *d) {
  int n = tt__ptype_words(entry_of(d));
  return py__int(l, entry_of(d)->item[1]->tag == TT_T_LIST ? -n : n);
}

static expr *helper(lower *l, const char *name, tt_dtype t, expr *const *arg, int n) {
  l->f->func->can_fail = true;
  return py__keep(l, py__helper(l, name, py__scalar(l, t), true, arg, n));
}

/* A key as its bits; of the zeros there is one. */
static expr *key_bits(lower *l, const expr *d, expr *key) {
  type *t = entry_of(d)->item[1];
  if (t == py__text_type(l)) {
    key = py__text(l, key);
    if (!py__is_text(key)) py__fail(l, TT_ETYPE, "a key that is %s, among str", py__type_name(l, key->type));
    return py__helper(l, "tt_word_text", py__scalar(l, TT_I64), false, &key, 1);
  }
  if (t->tag != TT_T_SCALAR || tt__is_complex((tt_dtype)t->dtype) || t->dtype == TT_F16 || t->dtype == TT_BF16)
    py__fail(l, TT_ENOTIMPL, "a key that is %s: keys are real numbers and str here", py__type_name(l, t));
  type *both = py__is_scalar(key) ? py__unify(l, t, key->type) : NULL;
  bool whole =
      d->type->layout == 'e' && both && tt__is_int((tt_dtype)t->dtype) && tt__is_int((tt_dtype)key->type->dtype);
  if (both != t && !whole)
    py__fail(l, TT_ETYPE, "cannot safely cast %s to %s: a key among others of one type", py__type_name(l, key->type),
             py__type_name(l, t));
  key = py__cast(l, key, (tt_dtype)t->dtype);
  if (tt__is_float((tt_dtype)t->dtype))
    key = py__elem(l, TT_ADD, key, py__cast(l, py__float(l, 0), (tt_dtype)t->dtype));
  char *name = py__alloc(l, 24);
  snprintf(name, 24, "tt_word_%s", tt__dtypes[t->dtype].suffix);
  return py__helper(l, name, py__scalar(l, TT_I64), false, &key, 1);
}

/* The place of a key's entry; -1: there is none. */
static expr *find(lower *l, expr *d, expr *key) {
  expr *arg[3] = {d, key_bits(l, d, key), words_of(l, d)};
  return helper(l, "tt_dict_find", TT_I64, arg, 3);
}

static expr *found(lower *l, expr *d, expr *key) {
  expr *at = find(l, d, key);
  py__raise_unless(l, py__elem(l, TT_GE, at, py__int(l, 0)), TT_X_KEY, "there is no such key");
  return at;
}

static expr *value_at(lower *l, expr *d, expr *at) { return py__keep(l, py__item(l, py__list_item(l, d, at), 2)); }

/* A library's dictionary keeps the width of its whole numbers. */
static expr *as_wide(lower *l, const expr *d, int item, expr *e) {
  type *t = e && d->type->layout == 'e' && py__is_complete(d->type) ? entry_of(d)->item[item] : NULL;
  bool whole = t && t->tag == TT_T_SCALAR && py__is_scalar(e) && tt__is_int((tt_dtype)t->dtype) &&
               tt__is_int((tt_dtype)e->type->dtype);
  return whole ? py__cast(l, e, (tt_dtype)t->dtype) : e;
}

static void refuse_none(lower *l, const expr *e, const char *what) {
  if (e && (e->type->tag == TT_T_NONE || py__is_optional(e)))
    py__fail(l, TT_ETYPE, "Dict.%s cannot be of type %s", what, py__type_name(l, e->type));
}

static void put(lower *l, expr *d, expr *key, expr *value) {
  refuse_none(l, key, py__is_set(d) ? "item, a set's," : "key_type");
  if (d->type->layout == 'd') refuse_none(l, value, "value_type");
  key = as_wide(l, d, 1, py__text(l, key));
  value = as_wide(l, d, 2, value);
  expr *e = entry(l, key, value);
  if (!(d = py__list_taking(l, d, e))) return;
  expr *arg[3] = {d, key_bits(l, d, key), words_of(l, d)}, *at = helper(l, "tt_dict_put", TT_I64, arg, 3);
  py__raise_unless(l, py__elem(l, TT_GE, at, py__int(l, 0)), TT_ENOMEM, "out of memory");
  py__list_write(l, d, at, e);
}

static void drop(lower *l, expr *d, expr *at) {
  expr *arg[3] = {d, at, words_of(l, d)};
  py__stmt(l, TT_X_EVAL)->a = py__helper(l, "tt_dict_drop", py__scalar(l, TT_I64), true, arg, 3);
  py__changed(l, d);
}

expr *py__dict_count(lower *l, expr *d) { return helper(l, "tt_dict_live", TT_I64, &d, 1); }

expr *py__dict_contains(lower *l, expr *d, expr *key) {
  d = py__keep(l, d);
  if (!py__is_complete(d->type) || py__is_unknown(key)) return py__missing(l);
  return py__elem(l, TT_GE, find(l, d, py__keep(l, key)), py__int(l, 0));
}

expr *py__dict_index(lower *l, expr *d, const tt_tree *at) {
  expr *key = py__value(l, at);
  d = py__keep(l, d);
  if (!py__is_complete(d->type) || py__is_unknown(key)) return py__missing(l);
  if (py__is_set(d)) py__fail(l, TT_ETYPE, "a set has no items by index");
  return value_at(l, d, found(l, d, py__keep(l, key)));
}

void py__dict_assign(lower *l, expr *d, const tt_tree *at, expr *value, const char *op) {
  expr *key = py__value(l, at);
  d = py__keep(l, d);
  value = py__keep(l, py__listed(l, py__materialise(l, value)));
  if (py__is_unknown(key) || py__is_unknown(value)) return;
  key = py__keep(l, key);
  if (op) {
    if (!py__is_complete(d->type)) return;
    expr *old = value_at(l, d, found(l, d, key));
    if (py__is_array(old)) {
      py__fill(l, old, value, op, false);
      return;
    }
    value = py__keep(l, py__binary(l, op, old, value));
  }
  put(l, d, key, value);
}

/* Keys (1), values (2) or both (0) as a list. */
static expr *listed(lower *l, expr *d, int which) {
  if (!py__is_complete(d->type)) return py__missing(l);
  type *const *item = entry_of(d)->item;
  type *t = which ? item[which] : py__tuple(l, item + 1, 2);
  expr *made = py__keep(l, py__new_list(l, t)), *n = py__count_of(l, d), *at;
  block loop, inner;
  stmt *s = py__count_begin(l, n, &loop, &at);
  expr *e = py__list_item(l, d, at);
  stmt *there = py__stmt(l, TT_X_IF);
  there->a = py__item(l, e, 0);
  py__block_begin(l, &inner);
  expr *both = py__expr(l, TT_X_TUPLE, t, 2);
  if (!which) both->arg[0] = py__item(l, e, 1), both->arg[1] = py__item(l, e, 2);
  py__list_append(l, made, which ? py__item(l, e, which) : both);
  there->body = py__block_end(l, &inner);
  py__count_end(l, s, &loop);
  return made;
}

expr *py__dict_keys(lower *l, expr *d) { return listed(l, py__keep(l, d), 1); }

/* Entry number `at` of another dictionary goes into this one, where it is there. */
static void put_entry(lower *l, expr *d, expr *from, expr *at) {
  block b;
  expr *e = py__list_item(l, from, at);
  stmt *there = py__stmt(l, TT_X_IF);
  there->a = py__item(l, e, 0);
  py__block_begin(l, &b);
  put(l, d, py__item(l, e, 1), e->type->n > 2 ? py__item(l, e, 2) : NULL);
  there->body = py__block_end(l, &b);
}

/* The pairs of a dictionary, a list or a tuple become entries. */
static void put_all(lower *l, expr *d, expr *from, const char *name) {
  bool dict = py__is_dict(from), list = from->type->tag == TT_T_LIST && strchr("lt", from->type->layout);
  if (from->type->tag == TT_T_TUPLE && !from->type->meta) {
    for (int k = 0; k < from->type->n; k++) {
      expr *both = py__item(l, from, k);
      if (both->type->tag != TT_T_TUPLE || both->type->n != 2)
        py__fail(l, TT_ETYPE,
                 "No implementation of function Dict for this: dictionary update sequence element #%d is no pair", k);
      put(l, d, py__keep(l, py__item(l, both, 0)), py__keep(l, py__item(l, both, 1)));
      d = d->op == TT_X_LOCAL ? py__local(l, d->k) : d;
    }
    return;
  }
  if (list && from->type->item[0]->tag == TT_T_TUPLE && from->type->item[0]->n != 2)
    py__fail(l, TT_ETYPE, "dictionary update sequence element #0 has length %d; 2 is required", from->type->item[0]->n);
  if (!dict && (!list || from->type->item[0]->tag != TT_T_TUPLE))
    py__fail(l, TT_ETYPE, "%s of %s: it takes a dictionary or pairs", name, py__type_name(l, from->type));
  block b;
  expr *at;
  stmt *s = py__count_begin(l, py__count_of(l, from), &b, &at);
  if (dict) {
    put_entry(l, d, from, at);
  } else {
    expr *both = py__list_item(l, from, at);
    put(l, d, py__item(l, both, 0), py__item(l, both, 1));
  }
  py__count_end(l, s, &b);
}

/* Have two dictionaries the same keys with the same values, two sets the same items? */
expr *py__dict_equal(lower *l, expr *a, expr *b) {
  if (a->type->tag != TT_T_LIST || b->type->tag != TT_T_LIST || py__is_dict(a) != py__is_dict(b) ||
      py__is_set(a) != py__is_set(b))
    return py__bool(l, false);
  a = py__keep(l, a), b = py__keep(l, b);
  if (!py__is_complete(a->type) || !py__is_complete(b->type)) return py__missing(l);
  int32_t same = py__temp(l, py__scalar(l, TT_BOOL));
  block loop, there;
  expr *at;
  py__set(l, same, py__elem(l, TT_EQ, py__dict_count(l, a), py__dict_count(l, b)));
  stmt *s = py__count_begin(l, py__count_of(l, a), &loop, &at);
  expr *e = py__list_item(l, a, at);
  stmt *test = py__stmt(l, TT_X_IF);
  test->a = py__elem(l, TT_AND, py__item(l, e, 0), py__local(l, same));
  py__block_begin(l, &there);
  expr *place = find(l, b, py__item(l, e, 1));
  expr *found_one = py__elem(l, TT_GE, place, py__int(l, 0));
  py__set(l, same, found_one);
  if (py__is_dict(a)) {
    block inner;
    stmt *values = py__stmt(l, TT_X_IF);
    values->a = py__local(l, same);
    py__block_begin(l, &inner);
    expr *equal = py__compare(l, "==", py__item(l, e, 2), value_at(l, b, place));
    if (py__is_array(equal)) py__fail(l, TT_ENOTIMPL, "a comparison of dictionaries of arrays");
    py__set(l, same, py__truth(l, equal));
    values->body = py__block_end(l, &inner);
  }
  test->body = py__block_end(l, &there);
  py__count_end(l, s, &loop);
  return py__local(l, same);
}

/* d.pop(key) or d.pop(key, otherwise), d.get(key, otherwise), d.setdefault(key, otherwise) */
static expr *value_or(lower *l, expr *d, const char *name, expr *const *arg, int n) {
  bool pops = name[0] == 'p', sets = name[0] == 's';
  expr *key = py__keep(l, arg[0]);
  if (n == 1 && sets) py__fail(l, TT_ENOTIMPL, "a dictionary's %s() without a value for keys that are not there", name);
  if (n == 1 && pops) {
    expr *at = found(l, d, key), *value = value_at(l, d, at);
    drop(l, d, at);
    return value;
  }
  type *t = entry_of(d)->item[2];
  expr *nothing[2] = {key, py__nothing(l)};
  if (n == 1 && !(t = py__optional(l, t, nothing[1]->type)))
    py__fail(l, TT_ENOTIMPL, "a dictionary's get() without a value for keys that are not there, of %s",
             py__type_name(l, entry_of(d)->item[2]));
  if (n == 1) arg = nothing;
  if (py__unify(l, t, arg[1]->type) != t)
    py__fail(l, TT_ETYPE, "%s() gives %s or %s", name, py__type_name(l, t), py__type_name(l, arg[1]->type));
  int32_t got = py__temp(l, t);
  l->f->func->locals.data[got].nonneg = false;
  l->f->func->locals.data[got].limit = 0;
  py__set(l, got, py__convert(l, py__keep(l, arg[1]), t));
  expr *at = find(l, d, key);
  stmt *s = py__stmt(l, TT_X_IF);
  block b;
  s->a = py__elem(l, TT_GE, at, py__int(l, 0));
  py__block_begin(l, &b);
  py__set(l, got, value_at(l, d, at));
  if (pops) drop(l, d, at);
  s->body = py__block_end(l, &b);
  if (!sets) return py__local(l, got);
  py__block_begin(l, &b);
  put(l, d, key, py__local(l, got));
  s->other = py__block_end(l, &b);
  return py__local(l, got);
}

static expr *set_method(lower *l, expr *d, const char *name, expr *const *arg, int n) {
  if (strcmp(name, "add") == 0 && n == 1) return put(l, d, py__keep(l, arg[0]), NULL), py__nothing(l);
  if (!py__is_complete(d->type)) return py__missing(l);
  if (strcmp(name, "remove") == 0 && n == 1) return drop(l, d, found(l, d, py__keep(l, arg[0]))), py__nothing(l);
  if (strcmp(name, "discard") != 0 || n != 1)
    py__fail(l, TT_ENOTIMPL, "a set's method '%s' with %d arguments", name, n);
  expr *at = find(l, d, py__keep(l, arg[0]));
  stmt *s = py__stmt(l, TT_X_IF);
  block b;
  s->a = py__elem(l, TT_GE, at, py__int(l, 0));
  py__block_begin(l, &b);
  drop(l, d, at);
  s->body = py__block_end(l, &b);
  return py__nothing(l);
}

expr *py__dict_method(lower *l, expr *d, const char *name, const tt_tree *t) {
  expr *arg[2] = {NULL, NULL};
  int n = t->n - 3;
  d = py__keep(l, d);
  for (int k = 0; k < n && k < 2; k++) {
    arg[k] = py__text(l, py__value(l, t->item[k + 3]));
    if (py__is_unknown(arg[k])) return arg[k];
  }
  if (strcmp(name, "clear") == 0 && n == 0) {
    py__stmt(l, TT_X_EVAL)->a = py__helper(l, "tt_dict_clear", py__scalar(l, TT_I64), true, &d, 1);
    py__changed(l, d);
    return py__nothing(l);
  }
  if (py__is_set(d)) return set_method(l, d, name, arg, n);
  if (strcmp(name, "update") == 0 && n == 1) {
    expr *from = py__keep(l, py__listed(l, arg[0]));
    if (py__is_complete(from->type)) put_all(l, d, from, "update()");
    return py__nothing(l);
  }
  /* Of a dictionary that nothing was put into yet, the other value tells what it will be. */
  if (!py__is_complete(d->type)) return n == 2 ? arg[1] : py__missing(l);
  if (strcmp(name, "keys") == 0 && n == 0) return listed(l, d, 1);
  if (strcmp(name, "values") == 0 && n == 0) return listed(l, d, 2);
  if (strcmp(name, "items") == 0 && n == 0) return listed(l, d, 0);
  if (strcmp(name, "copy") == 0 && n == 0) {
    expr *made = py__keep(l, new_container(l, entry_of(d), d->type->layout));
    return put_all(l, made, d, "copy()"), made;
  }
  bool gets = strcmp(name, "get") == 0 || strcmp(name, "pop") == 0 || strcmp(name, "setdefault") == 0;
  if (gets && (n == 1 || n == 2)) return value_or(l, d, name, arg, n);
  py__fail(l, TT_ENOTIMPL, "a dictionary's method '%s' with %d arguments", name, n);
}

void py__dict_delete(lower *l, const tt_tree *target) {
  expr *d = py__keep(l, py__listed(l, py__value(l, py__at(l, target, 1)))), *key;
  py__refuse_change(l, d);
  if (d->type->tag == TT_T_LIST && !py__is_dict(d) && !py__is_set(d) && !py__is_object(d)) {
    py__list_delete(l, d, py__at(l, target, 2));
    return;
  }
  key = py__value(l, py__at(l, target, 2));
  if (py__is_unknown(d) || py__is_unknown(key) || !py__is_complete(d->type)) return;
  if (!py__is_dict(d)) py__fail(l, TT_ENOTIMPL, "del of a part of %s", py__type_name(l, d->type));
  drop(l, d, found(l, d, py__keep(l, key)));
}

expr *py__tuple_of(lower *l, expr *const *part, int n) {
  type *item[TT_PROGRAM_ARGS] = {0};
  for (int k = 0; k < n; k++) item[k] = part[k]->type;
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, n), n);
  for (int k = 0; k < n; k++) e->arg[k] = part[k];
  return e;
}

/* Have the values of a display one type? Nothing of it is kept. */
static bool values_agree(lower *l, const tt_tree *t) {
  block b;
  type *both = py__unknown(l);
  py__block_begin(l, &b);
  for (int k = 1; k < t->n && both; k += 2) {
    expr *value = py__listed(l, py__materialise(l, py__text(l, py__value(l, py__at(l, t, k + 1)))));
    bool truth = both->tag == TT_T_SCALAR && (both->dtype == TT_BOOL) != (value->type->dtype == TT_BOOL);
    type *wide = truth ? NULL : py__unify(l, both, py__plain_item(l, value->type));
    bool first = both->tag == TT_T_UNKNOWN || !py__is_complete(both);
    both = first || wide == both ? wide : NULL; /* the first one says what all are */
  }
  (void)py__block_end(l, &b);
  return both != NULL;
}

/* (dict key value ...) and (setof key ...) */
expr *py__dict_display(lower *l, const tt_tree *t, bool set) {
  expr *made = NULL;
  if (!set && t->n > 3 && tt__tree_is(t->item[1], "s") && !values_agree(l, t)) {
    expr *named = py__named_values(l, t);
    if (named) return named;
  }
  for (int k = 1; k < t->n; k += set ? 1 : 2) {
    expr *key = py__keep(l, py__text(l, py__expression(l, t->item[k])));
    expr *value = set ? NULL : py__keep(l, py__listed(l, py__materialise(l, py__expression(l, py__at(l, t, k + 1)))));
    if (py__is_unknown(key) || (value && !py__is_complete(value->type))) return py__missing(l);
    if (!made) {
      type *item[3] = {py__scalar(l, TT_BOOL), key->type, value ? py__plain_item(l, value->type) : NULL};
      made = py__keep(l, new_container(l, py__tuple(l, item, set ? 2 : 3), set ? 's' : 'd'));
    }
    put(l, made, key, value);
  }
  return made ? made : new_container(l, py__unknown(l), set ? 's' : 'd');
}

/* dict(pairs), Dict(pairs) */
static expr *dict_of(lower *l, expr *from, char kind, const char *name) {
  static const char *const none =
      "No implementation of function Dict for this: The argument to %s() is no mapping and no iterable of pairs but %s";
  type *one = from->type->tag == TT_T_LIST                         ? entry_of(from)
              : from->type->tag == TT_T_TUPLE && from->type->n > 0 ? from->type->item[0]
                                                                   : NULL;
  bool dict = py__is_dict(from);
  if (!one || py__is_text(from) || (!dict && one->tag != TT_T_TUPLE))
    py__fail(l, TT_ETYPE, none, name, py__type_name(l, from->type));
  if (!dict && one->n != 2)
    py__fail(l, TT_ETYPE, "dictionary update sequence element #0 has length %d; 2 is required", one->n);
  type *item[3] = {py__scalar(l, TT_BOOL), one->item[dict], py__plain_item(l, one->item[1 + dict])};
  expr *made = py__keep(l, new_container(l, py__tuple(l, item, 3), kind));
  return put_all(l, made, from, name), made;
}

/* dict(), set(), set(x), Dict(), Dict.empty(key, value) */
expr *py__dict_call(lower *l, const char *name, const tt_tree *t) {
  bool set = strcmp(name, "set") == 0;
  char kind = set ? 's' : name[0] == 't' ? 'e' : 'd';
  if (strcmp(name, "typed.Dict.empty") == 0) {
    const tt_tree *key = py__keyword(l, t, "key_type"), *value = py__keyword(l, t, "value_type");
    expr *k = py__value(l, key ? key : py__at(l, t, 2)), *v = py__value(l, value ? value : py__at(l, t, 3));
    type *item[3] = {py__scalar(l, TT_BOOL), py__type_meant(l, k), py__type_meant(l, v)};
    if (!item[1] || !item[2]) py__fail(l, TT_ENOTIMPL, "a dictionary of types that are not known here");
    return py__keep(l, new_container(l, py__tuple(l, item, 3), kind));
  }
  if (!py__positional(t)) return new_container(l, py__unknown(l), kind);
  if (py__positional(t) > 1) py__fail(l, TT_ETYPE, "Dict expect at most 1 argument, got %d", py__positional(t));
  expr *from = py__keep(l, py__listed(l, py__materialise(l, py__value(l, t->item[2])))), *at;
  if (!py__is_complete(from->type)) return py__missing(l);
  if (!set) return dict_of(l, from, kind, name);
  if (py__is_generator(from)) from = py__drained(l, from);
  bool array = py__is_array(from) && from->type->rank == 1, text = py__is_text(from);
  from = text ? from : py__keep(l, py__sequence(l, from));
  if (!array && from->type->tag != TT_T_LIST) py__fail(l, TT_ENOTIMPL, "a set of %s", py__type_name(l, from->type));
  type *item[2] = {py__scalar(l, TT_BOOL), text    ? from->type
                                           : array ? py__scalar(l, (tt_dtype)from->type->dtype)
                                                   : from->type->item[0]};
  expr *made = py__keep(l, new_container(l, py__tuple(l, item, 2), 's'));
  block b;
  stmt *s = py__count_begin(l, array ? py__len(l, from, 0) : py__count_of(l, from), &b, &at);
  put(l, made, py__keep(l, py__turn(l, from, at)), NULL);
  py__count_end(l, s, &b);
  return made;
}
