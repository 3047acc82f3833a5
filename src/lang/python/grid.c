/*
** Loops over all places of a shape: np.ndindex and numba's pndindex, np.ndenumerate, and .flat of an array. One counter
** goes over all of them, so that break leaves the loop and threads may share it; places are taken apart from it.
*/
#include <string.h>

#include "lang/python/py_int.h"

static bool is_call(const tt_tree *t, const char *name) {
  return tt__tree_is(t, "call") && t->n > 2 && t->item[1]->tag == TT_TREE_STRING && strcmp(t->item[1]->text, name) == 0;
}

static bool is_flat(const tt_tree *t) {
  return tt__tree_is(t, "attr") && t->n == 3 && t->item[2]->tag == TT_TREE_STRING &&
         strcmp(t->item[2]->text, "flat") == 0;
}

bool py__is_grid(const tt_tree *iter) {
  return is_call(iter, "np.ndindex") || is_call(iter, "np.ndenumerate") || is_flat(iter) || is_call(iter, "pndindex");
}

static expr *whole_length(lower *l, expr *e) {
  if (!py__is_scalar(e) || !tt__is_int((tt_dtype)e->type->dtype))
    py__fail(l, TT_ETYPE, "ndindex() of %s", py__type_name(l, e->type));
  return py__keep(l, py__elem(l, TT_MAXIMUM, py__cast(l, e, TT_I64), py__int(l, 0)));
}

/* The lengths that ndindex is given, one by one or as a tuple; -1: they are not known yet. */
static int read_lengths(lower *l, const tt_tree *call, expr **len) {
  int n = 0;
  for (int k = 2; k < call->n; k++) {
    expr *e = py__value(l, call->item[k]);
    if (py__is_unknown(e)) return -1;
    bool tuple = e->type->tag == TT_T_TUPLE;
    if (tuple) e = py__keep(l, e);
    for (int i = 0; i < (tuple ? e->type->n : 1); i++) {
      if (n == TT_PROGRAM_RANK) py__fail(l, TT_ENOTIMPL, "ndindex() of more than %d axes", TT_PROGRAM_RANK);
      len[n++] = whole_length(l, tuple ? py__item(l, e, i) : e);
    }
  }
  return n;
}

static expr *product_of(lower *l, expr *const *len, int n) {
  expr *all = py__int(l, 1);
  for (int k = 0; k < n; k++) all = k ? py__elem(l, TT_MUL, all, len[k]) : len[k];
  all = py__keep(l, all);
  if (all->op == TT_X_LOCAL) all->nonneg = l->f->func->locals.data[all->k].nonneg = true;
  return all;
}

/* The place that number `at` has, last axis first. */
static void place_of(lower *l, expr *at, expr *const *len, int n, expr **place) {
  for (int k = n - 1; k >= 0; k--) {
    place[k] = k ? py__keep(l, py__elem(l, TT_MOD, at, len[k])) : at;
    if (k) at = py__keep(l, py__elem(l, TT_FLOORDIV, at, len[k]));
    place[k]->nonneg = true;
    place[k]->limit = TT_PROGRAM_LONGEST;
    if (place[k]->op != TT_X_LOCAL) continue;
    l->f->func->locals.data[place[k]->k].nonneg = true;
    l->f->func->locals.data[place[k]->k].limit = TT_PROGRAM_LONGEST;
  }
}

/* What the loop gives for a place: the place, the element, or both. */
static expr *value_at(lower *l, const tt_tree *iter, expr *array, expr *const *place, int n) {
  if (!array) return py__tuple_of(l, place, n);
  expr *value = py__keep(l, py__load(l, array, place, n));
  if (is_flat(iter)) return value;
  expr *both[2] = {py__tuple_of(l, place, n), value};
  return py__tuple_of(l, both, 2);
}

void py__for_grid(lower *l, const tt_tree *t, const tt_tree *iter, bool counted, expr *first) {
  expr *len[TT_PROGRAM_RANK], *place[TT_PROGRAM_RANK], *array = NULL, *at;
  const tt_tree *target = py__at(l, t, 2);
  bool indices = is_call(iter, "np.ndindex") || is_call(iter, "pndindex");
  int n;
  if (indices) {
    n = read_lengths(l, iter, len);
    if (n < 0) return;
  } else {
    array = py__keep(l, py__materialise(l, py__value(l, py__at(l, iter, is_flat(iter) ? 1 : 2))));
    if (py__is_unknown(array)) return;
    if (!py__is_array(array)) py__fail(l, TT_ETYPE, "a loop over the elements of %s", py__type_name(l, array->type));
    n = array->type->rank;
    for (int k = 0; k < n; k++) len[k] = py__len(l, array, k);
  }
  block b;
  bool parallel = is_call(iter, "pndindex") && py__may_be_parallel(l, py__at(l, t, 4));
  stmt *s = py__count_begin(l, product_of(l, len, n), &b, &at);
  place_of(l, at, len, n, place);
  expr *value = value_at(l, iter, array, place, n);
  if (counted) {
    if (!tt__tree_is(target, "tup") || target->n != 3) py__fail(l, TT_ENOTIMPL, "enumerate() without two targets");
    py__assign(l, target->item[1], py__elem(l, TT_ADD, at, first));
    target = target->item[2];
  }
  py__assign(l, target, value);
  if (parallel)
    py__parallel_body(l, s, &b, py__at(l, t, 4));
  else
    py__statements(l, py__at(l, t, 4), 0), py__count_end(l, s, &b);
}
