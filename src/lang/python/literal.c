/*
** Displays whose items have several types, ["a", 1] and {"a": 1, "b": 2.5}: tuples under a name of their own, whose
** types say each item's. Nobody can change them, they are read by what is known beforehand, and they stay in compiled
** code.
*/
#include <string.h>

#include "base/str.h"
#include "lang/python/py_int.h"

static const char list_name[] = "Klist";

static bool is_literal(const type *t) { return t->tag == TT_T_TUPLE && t->meta && t->meta[0] == 'K'; }

bool py__is_literal_list(const expr *e) { return is_literal(e->type) && strcmp(e->type->meta, list_name) == 0; }

/* Holds a type such a display, at any depth? */
bool py__holds_literal(const type *t) {
  if (is_literal(t)) return true;
  for (int k = 0; k < t->n && t->tag == TT_T_TUPLE; k++)
    if (py__holds_literal(t->item[k])) return true;
  return t->tag == TT_T_LIST && t->layout != 'w' && py__holds_literal(t->item[0]);
}

void py__refuse_change(lower *l, const expr *e) {
  if (is_literal(e->type))
    py__fail(l, TT_ETYPE, "Cannot mutate a literal %s: its items have several types, %s",
             py__is_literal_list(e) ? "list" : "dictionary", py__type_name(l, e->type));
}

expr *py__literal_list(lower *l, expr *const *item, int n) {
  type *part[TT_PROGRAM_ARGS];
  for (int k = 0; k < n; k++) part[k] = item[k]->type;
  expr *e = py__expr(l, TT_X_TUPLE, py__named(l, part, n, list_name), n);
  memcpy(e->arg, item, (size_t)n * sizeof *item);
  return e;
}

/* The methods of Python's that change what they are of. */
static bool changes(const char *name) {
  static const char *const names[] = {"append", "extend",  "insert",  "remove", "pop",       "clear",
                                      "sort",   "reverse", "popitem", "update", "setdefault"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(names[k], name) == 0) return true;
  return false;
}

/* A method of such a list; NULL: it is a tuple's as well. */
expr *py__literal_list_method(lower *l, expr *list, const char *name) {
  if (changes(name)) py__refuse_change(l, list);
  if (strcmp(name, "copy") == 0) return list;
  if (strcmp(name, "index") == 0) py__fail(l, TT_ETYPE, "list.index is unsupported for literal lists");
  return NULL;
}

/* {"a": 1, "b": 2.5}: keys that are words and values of several types: a tuple whose items have these names. */
expr *py__named_values(lower *l, const tt_tree *t) {
  type *item[TT_PROGRAM_ARGS];
  tt_str meta = {0};
  int n = (t->n - 1) / 2;
  if (n > TT_PROGRAM_ARGS) return NULL;
  expr *e = py__expr(l, TT_X_TUPLE, py__none(l), n);
  tt__str_add(&meta, "Kdict");
  bool good = true;
  for (int k = 0; k < n && good; k++) {
    const tt_tree *key = t->item[2 * k + 1];
    good = tt__tree_is(key, "s") && !strpbrk(key->item[1]->text, ":;#,()@") && key->item[1]->text[0];
    if (good) tt__str_addf(&meta, ":%s", key->item[1]->text);
  }
  char *kept = good && !meta.failed ? memcpy(py__alloc(l, meta.len + 1), meta.data, meta.len + 1) : NULL;
  tt__str_free(&meta);
  if (!kept) return NULL;
  for (int k = 0; k < n; k++) {
    e->arg[k] = py__keep(l, py__listed(l, py__materialise(l, py__value(l, py__at(l, t, 2 * k + 2)))));
    item[k] = e->arg[k]->type;
    if (py__is_unknown(e->arg[k])) return e->arg[k];
  }
  e->type = py__named(l, item, n, kept);
  return e;
}

bool py__is_named_values(const expr *e) { return is_literal(e->type) && !py__is_literal_list(e); }

/* The name of item number k. */
static expr *name_of(lower *l, const expr *d, int k) {
  const char *at = strchr(d->type->meta, ':') + 1;
  for (; k > 0; k--) at = strchr(at, ':') + 1;
  size_t n = strcspn(at, ":");
  char *word = memcpy(py__alloc(l, n + 1), at, n);
  word[n] = 0;
  expr *e = py__meta(l, "str", word);
  e->op = TT_X_STRING;
  return py__text(l, e);
}

/* Its keys, values or items as a tuple. */
expr *py__named_values_method(lower *l, expr *d, const char *name) {
  expr *part[TT_PROGRAM_ARGS];
  if (changes(name)) py__refuse_change(l, d);
  if (strcmp(name, "copy") == 0) return d;
  if (strcmp(name, "get") == 0)
    py__fail(l, TT_ETYPE,
             "Cannot get{item}() on a literal dictionary, whose values have several types: d[\"a\"] with a constant");
  bool keys = strcmp(name, "keys") == 0, items = strcmp(name, "items") == 0;
  if (!keys && !items && strcmp(name, "values") != 0)
    py__fail(l, TT_ENOTIMPL, "a dictionary's method '%s' where its values have several types", name);
  d = py__keep(l, d);
  for (int k = 0; k < d->type->n; k++) {
    expr *both[2] = {name_of(l, d, k), py__item(l, d, k)};
    part[k] = keys ? both[0] : items ? py__tuple_of(l, both, 2) : both[1];
  }
  return py__tuple_of(l, part, d->type->n);
}

expr *py__named_values_have(lower *l, const expr *d, const expr *key) {
  if (key->op != TT_X_STRING || key->type->tag != TT_T_META)
    py__fail(l, TT_ENOTIMPL, "a key that is no constant, where values have several types");
  return py__bool(l, py__field(d->type, key->name) >= 0);
}
