/*
** Elements that a mask or an array of places picks, and reductions along one axis: loops around what is there for
** single elements and whole arrays.
*/
#include <string.h>

#include "lang/python/py_int.h"

/* Loops over the axes of an array, whose body is made between the two calls. */
typedef struct nest {
  block b[TT_PROGRAM_RANK];
  stmt *s[TT_PROGRAM_RANK];
  expr *at[TT_PROGRAM_RANK];
  int n;
} nest;

static void add_loop(lower *l, nest *w, expr *len) {
  w->s[w->n] = py__count_begin(l, len, &w->b[w->n], &w->at[w->n]);
  w->n++;
}
static void end_loops(lower *l, nest *w) {
  while (w->n > 0) {
    w->n--;
    py__count_end(l, w->s[w->n], &w->b[w->n]);
  }
}

/* A counter stays a length, which its own sum would not tell. */
static void set_counter(lower *l, int32_t counter, expr *value) {
  stmt *s = py__stmt(l, TT_X_SET);
  s->local = counter;
  s->a = value;
}

static int32_t counter_from_zero(lower *l) {
  int32_t k = py__temp(l, py__scalar(l, TT_I64));
  l->f->func->locals.data[k].nonneg = true;
  l->f->func->locals.data[k].limit = TT_PROGRAM_LONGEST;
  set_counter(l, k, py__int(l, 0));
  return k;
}

static stmt *begin_if(lower *l, expr *cond, block *b) {
  stmt *s = py__stmt(l, TT_X_IF);
  s->a = cond;
  py__block_begin(l, b);
  return s;
}

bool py__picks(const expr *index) {
  tt_dtype t = (tt_dtype)index->type->dtype;
  return py__is_array(index) && index->type->rank > 0 && (t == TT_BOOL || tt__is_int(t));
}

/* ---- masks: the first axes of the array are the mask's */

static void check_mask(lower *l, expr *array, expr *mask) {
  expr *same = NULL;
  if (mask->type->rank > array->type->rank)
    py__fail(l, TT_EINDEX, "too many indices: a mask of %d axes for an array of %d", mask->type->rank,
             array->type->rank);
  for (int k = 0; k < mask->type->rank; k++) {
    expr *one = py__elem(l, TT_EQ, py__len(l, array, k), py__len(l, mask, k));
    same = same ? py__elem(l, TT_AND, same, one) : one;
  }
  py__raise_unless(l, same, TT_EINDEX, "boolean index did not match indexed array");
}

static expr *count_true(lower *l, expr *mask) {
  int32_t count = counter_from_zero(l);
  nest w = {.n = 0};
  for (int k = 0; k < mask->type->rank; k++) add_loop(l, &w, py__len(l, mask, k));
  expr *one = py__cast(l, py__load(l, mask, w.at, w.n), TT_I64);
  set_counter(l, count, py__elem(l, TT_ADD, py__local(l, count), one));
  end_loops(l, &w);
  return py__local(l, count);
}

/* Copy what the true elements pick from the array to `other`; or into it, from an array or a number. */
static void each_true(lower *l, expr *array, expr *mask, expr *other, bool into) {
  int32_t row = counter_from_zero(l);
  nest w = {.n = 0}, rest = {.n = 0};
  int m = mask->type->rank, r = array->type->rank;
  for (int k = 0; k < m; k++) add_loop(l, &w, py__len(l, mask, k));
  block b;
  stmt *s = begin_if(l, py__load(l, mask, w.at, m), &b);
  for (int k = m; k < r; k++) add_loop(l, &rest, py__len(l, array, k));
  expr *at[TT_PROGRAM_RANK], *picked[TT_PROGRAM_RANK] = {py__local(l, row)};
  for (int k = 0; k < r; k++) at[k] = k < m ? w.at[k] : rest.at[k - m];
  for (int k = m; k < r; k++) picked[k - m + 1] = rest.at[k - m];
  if (!into)
    py__put(l, other, picked, r - m + 1, py__load(l, array, at, r));
  else
    py__put(l, array, at, r, py__is_array(other) ? py__load(l, other, picked, r - m + 1) : other);
  end_loops(l, &rest);
  set_counter(l, row, py__elem(l, TT_ADD, py__local(l, row), py__int(l, 1)));
  s->body = py__block_end(l, &b);
  end_loops(l, &w);
}

static expr *by_mask(lower *l, expr *array, expr *mask) {
  expr *len[TT_PROGRAM_RANK] = {py__keep(l, count_true(l, mask))};
  int m = mask->type->rank, rank = array->type->rank - m + 1;
  for (int k = 1; k < rank; k++) len[k] = py__len(l, array, m + k - 1);
  expr *made = py__keep(l, py__allocate(l, (tt_dtype)array->type->dtype, len, rank, false));
  each_true(l, array, mask, made, false);
  return made;
}

/* ---- places along the first axis */

static void each_place(lower *l, expr *array, expr *places, expr *other, bool into) {
  nest w = {.n = 0};
  int q = places->type->rank, r = array->type->rank;
  for (int k = 0; k < q; k++) add_loop(l, &w, py__len(l, places, k));
  expr *n = py__len(l, array, 0), *place = py__keep(l, py__cast(l, py__load(l, places, w.at, q), TT_I64));
  expr *inside =
      py__elem(l, TT_AND, py__elem(l, TT_LT, place, n), py__elem(l, TT_GE, place, py__elem(l, TT_NEG, n, NULL)));
  py__raise_unless(l, inside, TT_EINDEX, "index is out of bounds");
  for (int k = 1; k < r; k++) add_loop(l, &w, py__len(l, array, k));
  expr *at[TT_PROGRAM_RANK] = {place};
  for (int k = 1; k < r; k++) at[k] = w.at[q + k - 1];
  if (!into)
    py__put(l, other, w.at, w.n, py__load(l, array, at, r));
  else
    py__put(l, array, at, r, py__is_array(other) ? py__load(l, other, w.at, w.n) : other);
  end_loops(l, &w);
}

static int rank_of_places(lower *l, const expr *array, const expr *places) {
  int rank = places->type->rank + array->type->rank - 1;
  if (rank > TT_PROGRAM_RANK) py__fail(l, TT_ENOTIMPL, "arrays of more than %d axes", TT_PROGRAM_RANK);
  return rank;
}

static expr *by_places(lower *l, expr *array, expr *places) {
  expr *len[TT_PROGRAM_RANK];
  int q = places->type->rank, rank = rank_of_places(l, array, places);
  for (int k = 0; k < rank; k++) len[k] = k < q ? py__len(l, places, k) : py__len(l, array, k - q + 1);
  expr *made = py__keep(l, py__allocate(l, (tt_dtype)array->type->dtype, len, rank, false));
  each_place(l, array, places, made, false);
  return made;
}

/* ---- both */

static expr *ready(lower *l, expr *array, expr *index) {
  if (l->options.kernel) py__fail(l, TT_ENOTIMPL, "an index that is %s in a kernel", py__type_name(l, index->type));
  if (array->type->rank == 0) py__fail(l, TT_EINDEX, "too many indices for an array without axes");
  index = py__keep(l, py__materialise(l, index));
  if (index->type->dtype == TT_BOOL) check_mask(l, array, index);
  return index;
}

expr *py__picked(lower *l, expr *array, expr *index) {
  index = ready(l, array, index);
  return index->type->dtype == TT_BOOL ? by_mask(l, array, index) : by_places(l, array, index);
}

/* `value` has the picked shape, all of it: as many elements as are picked. */
static void check_shape(lower *l, expr *array, expr *index, expr *value) {
  bool mask = index->type->dtype == TT_BOOL;
  int used = mask ? 1 : index->type->rank, first = mask ? index->type->rank : 1;
  int rank = mask ? array->type->rank - index->type->rank + 1 : rank_of_places(l, array, index);
  if (value->type->rank != rank)
    py__fail(l, TT_ENOTIMPL, "%s in place of %d picked axes", py__type_name(l, value->type), rank);
  expr *fits = NULL;
  for (int k = 0; k < rank; k++) {
    expr *len = k >= used ? py__len(l, array, first + k - used) : mask ? count_true(l, index) : py__len(l, index, k);
    expr *one = py__elem(l, TT_EQ, py__len(l, value, k), len);
    fits = fits ? py__elem(l, TT_AND, fits, one) : one;
  }
  py__raise_unless(l, fits, TT_EVALUE, "the values do not have the shape of what is picked");
}

void py__assign_picked(lower *l, expr *array, expr *index, expr *value, const char *op) {
  index = ready(l, array, index);
  if (op) value = py__binary(l, op, py__picked(l, array, index), value);
  if (py__is_array(value)) { /* as it was before the first store */
    bool fresh = py__is_lazy(value);
    value = py__keep(l, fresh ? py__materialise(l, value) : py__copied(l, value));
    check_shape(l, array, index, value);
  } else if (!py__is_scalar(value)) {
    py__fail(l, TT_ETYPE, "cannot store %s in an array", py__type_name(l, value->type));
  } else {
    value = py__keep(l, value);
  }
  py__wrote(l, array);
  if (index->type->dtype == TT_BOOL)
    each_true(l, array, index, value, true);
  else
    each_place(l, array, index, value, true);
}

/* ---- one axis */

expr *py__along(lower *l, expr *array, int axis, expr *(*fold)(lower *l, expr *lane, const void *how),
                const void *how) {
  int rank = array->type->rank;
  if (l->options.kernel) py__fail(l, TT_ENOTIMPL, "a reduction along an axis in a kernel");
  array = py__keep(l, py__materialise(l, array));
  nest w = {.n = 0};
  expr *len[TT_PROGRAM_RANK];
  for (int k = 0, kept = 0; k < rank; k++)
    if (k != axis) len[kept++] = py__len(l, array, k);
  /* What an element is of is known from its fold, which is made inside the loops: memory for it is made before them. */
  block probe;
  py__block_begin(l, &probe);
  expr *lane = py__lane(l, array, axis, NULL);
  tt_dtype t = (tt_dtype)fold(l, lane, how)->type->dtype;
  (void)py__block_end(l, &probe);
  expr *made = py__keep(l, py__allocate(l, t, len, rank - 1, false));
  for (int k = 0; k < rank - 1; k++) add_loop(l, &w, len[k]);
  expr *value = fold(l, py__keep(l, py__lane(l, array, axis, w.at)), how);
  py__put(l, made, w.at, rank - 1, value);
  end_loops(l, &w);
  return made;
}

expr *py__lane(lower *l, expr *array, int axis, expr *const *at) {
  int rank = array->type->rank, n = 1;
  char *form = py__alloc(l, (size_t)rank + 1);
  expr *v = py__expr(l, TT_X_VIEW, py__array(l, (tt_dtype)array->type->dtype, 1, py__any_steps(array)), rank + 3);
  v->form = form;
  v->arg[0] = array;
  for (int k = 0, kept = 0; k < rank; k++) {
    form[k] = k == axis ? 's' : 'i';
    for (int part = 0; part < (k == axis ? 3 : 1); part++)
      v->arg[n++] = k == axis ? py__nothing(l) : at ? at[kept] : py__int(l, 0);
    kept += k != axis;
  }
  form[rank] = 0;
  return v;
}
