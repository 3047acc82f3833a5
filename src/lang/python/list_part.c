/*
** Parts of lists and strings: slices, which are written out or values; reading such a part, taking it away and
** assigning it.
*/
#include <string.h>

#include "lang/python/py_int.h"

/* ---- slices as values: tuples with these names */

static const char slice_names[] = "Sslice:start:stop:step";

bool py__is_slice(const expr *e) {
  return e->type->tag == TT_T_TUPLE && e->type->meta && strcmp(e->type->meta, slice_names) == 0 && e->type->n == 3;
}

/* slice(stop), slice(start, stop), slice(start, stop, step) */
expr *py__new_slice(lower *l, expr *const *arg, int n) {
  type *item[3];
  if (n < 1 || n > 3) py__fail(l, TT_ETYPE, "slice() takes 1 to 3 arguments, not %d", n);
  expr *e = py__expr(l, TT_X_TUPLE, NULL, 3);
  for (int k = 0; k < 3; k++) {
    int from = n == 1 ? (k == 1 ? 0 : -1) : k < n ? k : -1;
    expr *part = from < 0 ? py__nothing(l) : arg[from];
    bool good = part->type->tag == TT_T_NONE || (py__is_scalar(part) && tt__is_int((tt_dtype)part->type->dtype));
    if (!good) py__fail(l, TT_ETYPE, "a slice by %s", py__type_name(l, part->type));
    e->arg[k] = part->type->tag == TT_T_NONE ? part : py__cast(l, part, TT_I64);
    item[k] = e->arg[k]->type;
  }
  e->type = py__named(l, item, 3, slice_names);
  return e;
}

bool py__slice_parts(lower *l, const tt_tree *t, expr *value, expr **part) {
  if (!value && !tt__tree_is(t, "sl")) return false;
  if (value && !py__is_slice(value)) return false;
  value = value ? py__keep(l, value) : NULL;
  for (int k = 0; k < 3; k++) part[k] = value ? py__item(l, value, k) : py__value(l, py__at(l, t, k + 1));
  return true;
}

/* ---- which items a slice means */

typedef struct stretch_of {
  expr *start, *step, *n;
  bool plain; /* every item in turn */
} stretch_of;

/* A bound as Python cuts it: from the end where it is negative, and inside the list. */
static expr *cut(lower *l, expr *e, expr *n, expr *low, expr *high, expr *otherwise) {
  if (e->type->tag == TT_T_NONE || py__is_unknown(e)) return otherwise;
  if (!py__is_scalar(e) || !tt__is_int((tt_dtype)e->type->dtype))
    py__fail(l, TT_ETYPE, "slice indices must be integers or None or have an __index__ method, not %s",
             py__type_name(l, e->type));
  e = py__keep(l, py__cast(l, e, TT_I64));
  expr *turned = py__keep(l, py__elem(l, TT_ADD, e, n));
  e = py__keep(l, py__choose(l, py__elem(l, TT_LT, e, py__int(l, 0)), turned, e));
  return py__keep(l, py__elem(l, TT_MINIMUM, py__elem(l, TT_MAXIMUM, e, low), high));
}

static stretch_of read_slice(lower *l, expr *list, expr *const *part) {
  expr *n = py__count_of(l, list), *zero = py__int(l, 0), *one = py__int(l, 1), *step = part[2];
  bool none = step->type->tag == TT_T_NONE || py__is_unknown(step);
  if (!none && (!py__is_scalar(step) || !tt__is_int((tt_dtype)step->type->dtype)))
    py__fail(l, TT_ETYPE, "a slice whose step is %s", py__type_name(l, step->type));
  step = none ? one : py__keep(l, py__cast(l, step, TT_I64));
  expr *last = py__keep(l, py__elem(l, TT_SUB, n, one)), *least = py__int(l, -1);
  bool known = step->op == TT_X_CONST, down = known && step->i < 0;
  if (!known || step->i == 0)
    py__raise_unless(l, py__elem(l, TT_NE, step, zero), TT_EVALUE, "slice step cannot be zero");
  expr *low = down ? least : zero, *high = down ? last : n, *first = down ? high : zero, *end = down ? low : high;
  if (!known) {
    expr *turned = py__keep(l, py__elem(l, TT_LT, step, zero));
    low = py__keep(l, py__choose(l, turned, least, zero));
    high = py__keep(l, py__choose(l, turned, last, n));
    first = py__keep(l, py__choose(l, turned, high, zero));
    end = py__keep(l, py__choose(l, turned, low, high));
  }
  expr *arg[3] = {cut(l, part[0], n, low, high, first), cut(l, part[1], n, low, high, end), step};
  expr *some = py__keep(l, py__helper(l, "tt_range_i64", py__scalar(l, TT_I64), false, arg, 3));
  return (stretch_of){arg[0], step, some, known && step->i == 1};
}

expr *py__list_part(lower *l, expr *list, expr *const *part) {
  stretch_of s = read_slice(l, list, part);
  py__refuse_bytes(l, list, "a slice");
  return py__list_taken(l, list, s.start, s.step, s.n);
}

/* ---- taking away, and assigning */

static expr *sum(lower *l, expr *a, expr *b) { return py__keep(l, py__elem(l, TT_ADD, a, b)); }
static expr *less(lower *l, expr *a, expr *b) { return py__keep(l, py__elem(l, TT_SUB, a, b)); }

/* What is behind items number [from, to) moves to `at`; the list ends behind it. */
static void close_gap(lower *l, expr *list, expr *at, expr *to) {
  expr *behind = less(l, py__count_of(l, list), to), *one = py__int(l, 1);
  py__list_copy(l, list, at, list, to, one, behind);
  py__list_resize(l, list, sum(l, at, behind));
}

static void delete_part(lower *l, expr *list, expr *const *part) {
  stretch_of s = read_slice(l, list, part);
  if (s.plain) {
    close_gap(l, list, s.start, sum(l, s.start, s.n));
    return;
  }
  /* Items that stay move down; `gone` counts those that do not. From the lowest place on, whatever the direction. */
  expr *zero = py__int(l, 0), *one = py__int(l, 1), *n = py__count_of(l, list), *at;
  expr *down = py__keep(l, py__elem(l, TT_LT, s.step, zero));
  expr *last = sum(l, s.start, py__elem(l, TT_MUL, s.step, less(l, s.n, one)));
  expr *first = py__keep(l, py__choose(l, down, last, s.start)), *by = py__keep(l, py__elem(l, TT_ABS, s.step, NULL));
  int32_t gone = py__temp(l, py__scalar(l, TT_I64));
  l->f->func->locals.data[gone].nonneg = false;
  l->f->func->locals.data[gone].limit = 0;
  py__set(l, gone, zero);
  block b, inner;
  stmt *loop = py__count_begin(l, n, &b, &at);
  expr *off = less(l, at, first);
  expr *hit = py__elem(l, TT_AND, py__elem(l, TT_GE, off, zero), py__elem(l, TT_LT, py__local(l, gone), s.n));
  hit = py__keep(l, py__elem(l, TT_AND, hit, py__elem(l, TT_EQ, py__elem(l, TT_MOD, off, by), zero)));
  stmt *either = py__stmt(l, TT_X_IF);
  either->a = hit;
  py__block_begin(l, &inner);
  py__set(l, gone, py__elem(l, TT_ADD, py__local(l, gone), one));
  either->body = py__block_end(l, &inner);
  py__block_begin(l, &inner);
  py__list_write(l, list, less(l, at, py__local(l, gone)), py__list_item(l, list, at));
  either->other = py__block_end(l, &inner);
  py__count_end(l, loop, &b);
  py__list_resize(l, list, less(l, n, py__local(l, gone)));
}

void py__list_delete(lower *l, expr *list, const tt_tree *at) {
  expr *part[3], *one = py__int(l, 1);
  py__refuse_bytes(l, list, "del of an item");
  if (py__is_text(list)) py__fail(l, TT_ETYPE, "'str' object doesn't support item deletion");
  expr *index = tt__tree_is(at, "sl") ? NULL : py__value(l, at);
  if (!py__is_complete(list->type) || (index && py__is_unknown(index))) return;
  if (py__slice_parts(l, at, index, part)) {
    delete_part(l, list, part);
    return;
  }
  index = py__list_checked(l, list, index, "list assignment index out of range");
  close_gap(l, list, index, sum(l, index, one));
}

/* list[start:stop] = other: what is behind makes room or closes up. */
static void replace_part(lower *l, expr *list, const stretch_of *s, expr *other) {
  expr *n = py__count_of(l, list), *more = py__count_of(l, other), *one = py__int(l, 1), *zero = py__int(l, 0);
  expr *end = sum(l, s->start, s->n), *behind = less(l, n, end), *to = sum(l, s->start, more);
  expr *rest = py__list_taken(l, list, end, one, behind);
  py__list_resize(l, list, sum(l, to, behind));
  py__list_copy(l, list, s->start, other, zero, one, more);
  py__list_copy(l, list, to, rest, zero, one, behind);
}

void py__list_assign_part(lower *l, expr *list, expr *const *part, expr *other) {
  other = py__keep(l, py__sequence(l, other));
  if (py__is_array(other) || other->type->tag == TT_T_TUPLE) {
    expr *made = py__keep(l, py__new_list(l, list->type->item[0]));
    py__list_extend(l, made, other);
    other = made;
  }
  if (!py__is_complete(list->type) || !py__is_complete(other->type)) return;
  if (other->type->tag != TT_T_LIST) py__fail(l, TT_ETYPE, "can only assign an iterable");
  stretch_of s = read_slice(l, list, part);
  expr *zero = py__int(l, 0), *n = py__count_of(l, other);
  other = py__list_taken(l, other, zero, py__int(l, 1), n); /* it may be the same list */
  if (s.plain) {
    replace_part(l, list, &s, other);
    return;
  }
  block b;
  expr *one_by_one = py__keep(l, py__elem(l, TT_EQ, s.step, py__int(l, 1))), *at;
  stmt *either = py__stmt(l, TT_X_IF);
  either->a = one_by_one;
  py__block_begin(l, &b);
  replace_part(l, list, &s, other);
  either->body = py__block_end(l, &b);
  py__block_begin(l, &b);
  py__raise_unless(l, py__elem(l, TT_EQ, n, s.n), TT_EVALUE, "cannot resize extended list slice with step != 1");
  block turns;
  stmt *loop = py__count_begin(l, s.n, &turns, &at);
  py__list_write(l, list, sum(l, s.start, py__elem(l, TT_MUL, at, s.step)), py__list_item(l, other, at));
  py__count_end(l, loop, &turns);
  either->other = py__block_end(l, &b);
}

/* list.index(value, start, stop): the first place from start on, before stop. */
expr *py__list_index_in(lower *l, expr *list, expr *value, expr *start, expr *stop) {
  expr *part[3] = {start, stop ? stop : py__nothing(l), py__nothing(l)};
  stretch_of s = read_slice(l, list, part);
  return sum(l, s.start, py__list_found(l, py__list_taken(l, list, s.start, s.step, s.n), value));
}
