/*
** Arrays: indexing, views, assignment to parts, attributes and the loops of array expressions.
*/
#include <string.h>

#include "lang/python/py_int.h"

static const char *no_array(const expr *e) {
  return py__is_scalar(e) ? "it is a number, not an array" : "it is no array";
}

/* ---- index lists */

typedef struct index {
  expr *arg[3 * TT_PROGRAM_RANK];
  char form[2 * TT_PROGRAM_RANK + 1];
  int nform, narg, axes; /* axes of the array that are used up */
  bool scalars;          /* nothing but whole numbers */
  expr *picks;           /* a mask or an array of places, which is all there is */
  bool missing;
} index_list;

static expr *slice_part(lower *l, expr *e, index_list *x) {
  if (e->type->tag == TT_T_NONE) return e;
  if (py__is_unknown(e)) {
    x->missing = true;
    return e;
  }
  if (!py__is_scalar(e) || !tt__is_int((tt_dtype)e->type->dtype))
    py__fail(l, TT_ETYPE, "a slice by %s", py__type_name(l, e->type));
  return py__cast(l, e, TT_I64);
}

/* `part` NULL: all of an axis. */
static void add_slice(lower *l, index_list *x, expr *const *part) {
  if (x->axes == TT_PROGRAM_RANK) py__fail(l, TT_EINDEX, "too many indices");
  const expr *step = part ? part[2] : NULL;
  if (step && py__is_scalar(step) && !(step->op == TT_X_CONST && step->i) && !l->options.kernel) {
    expr *one = py__keep(l, part[2]);
    py__raise_unless(l, py__truth(l, one), TT_EVALUE, "slice step cannot be zero");
  }
  for (int k = 0; k < 3; k++) x->arg[x->narg++] = part ? slice_part(l, part[k], x) : py__nothing(l);
  x->form[x->nform++] = 's';
  x->axes++;
  x->scalars = false;
}

static void add_index(lower *l, index_list *x, expr *e) {
  if (py__is_unknown(e)) {
    x->missing = true;
    return;
  }
  expr *part[3];
  if (py__slice_parts(l, NULL, e, part)) {
    add_slice(l, x, part);
    return;
  }
  if (e->type->tag == TT_T_TUPLE) {
    e = py__keep(l, e);
    for (int k = 0; k < e->type->n; k++) add_index(l, x, py__item(l, e, k));
    return;
  }
  e = py__without_axes(l, e);
  if (!py__is_scalar(e) || !tt__is_int((tt_dtype)e->type->dtype))
    py__fail(l, py__is_array(e) ? TT_ENOTIMPL : TT_ETYPE, "an index that is %s", py__type_name(l, e->type));
  if (x->axes == TT_PROGRAM_RANK) py__fail(l, TT_EINDEX, "too many indices");
  bool nonneg = e->nonneg;
  e = py__cast(l, e, TT_I64);
  e->nonneg = e->nonneg || nonneg;
  x->arg[x->narg++] = e;
  x->form[x->nform++] = 'i';
  x->axes++;
}

static index_list read_index(lower *l, const expr *array, const tt_tree *const *item, int n) {
  index_list x = {.scalars = true};
  for (int k = 0; k < n; k++) {
    expr *part[3];
    if (tt__tree_is(item[k], "sl") && py__slice_parts(l, item[k], NULL, part)) {
      add_slice(l, &x, part);
    } else if (tt__tree_is(item[k], "none")) {
      if (x.nform >= 2 * TT_PROGRAM_RANK) py__fail(l, TT_EINDEX, "too many indices");
      x.form[x.nform++] = 'n';
      x.scalars = false;
    } else if (tt__tree_is(item[k], "el")) {
      int later = 0;
      for (int j = k + 1; j < n; j++) later += !tt__tree_is(item[j], "none");
      while (x.axes + later < array->type->rank) add_slice(l, &x, NULL);
      x.scalars = x.scalars && n - 1 == array->type->rank;
    } else {
      expr *e = py__value(l, item[k]);
      if (n == 1 && py__picks(e))
        x.picks = e;
      else
        add_index(l, &x, e);
    }
  }
  return x;
}

/* C order survives whole numbers, then at most one plain slice, then whole axes. */
static char view_layout(const index_list *x, char layout) {
  int at = 0, k = 0;
  if (layout != 'C') return layout == 'P' ? 'P' : 'A';
  while (k < x->nform && x->form[k] == 'i') k++, at++;
  for (bool cut = false; k < x->nform; k++, at += 3) {
    if (x->form[k] != 's') return 'A';
    const expr *const *part = (const expr *const *)&x->arg[at];
    if (part[2]->type->tag != TT_T_NONE && !(part[2]->op == TT_X_CONST && part[2]->i == 1)) return 'A';
    bool whole = part[0]->type->tag == TT_T_NONE && part[1]->type->tag == TT_T_NONE;
    if (!whole && cut) return 'A';
    cut = true;
  }
  return 'C';
}

/* An element or a view. `whole`: what has no axes left is a view, too. */
static expr *view_of(lower *l, expr *array, const index_list *x, bool whole) {
  int rank = array->type->rank;
  if (x->axes > rank) py__fail(l, TT_EINDEX, "%d indices for an array of %d axes", x->axes, rank);
  if (x->scalars && x->axes == rank && rank > 0 && !whole) return py__load(l, array, x->arg, x->axes);
  int made = rank - x->axes;
  for (int k = 0; k < x->nform; k++) made += x->form[k] != 'i';
  type *t = py__array(l, (tt_dtype)array->type->dtype, made, view_layout(x, array->type->layout));
  if (array->type->readonly) t = tt__ptype_array(l->p, (tt_dtype)t->dtype, made, t->layout, true);
  expr *v = py__expr(l, TT_X_VIEW, t, x->narg + 1);
  char *form = py__alloc(l, (size_t)x->nform + 1);
  memcpy(form, x->form, (size_t)x->nform);
  v->form = form;
  v->arg[0] = array;
  for (int k = 0; k < x->narg; k++) v->arg[k + 1] = x->arg[k];
  return v;
}

static expr *records_part(lower *l, expr *records, const index_list *x, int left) {
  if (!records->type->meta || left < 0 || left > TT_PROGRAM_RANK) py__fail(l, TT_EINDEX, "too many indices of records");
  type *part[TT_PROGRAM_ARGS];
  expr *made = py__expr(l, TT_X_TUPLE, records->type, records->type->n);
  for (int k = 0; k < made->n; k++) {
    expr *field = py__item(l, records, k);
    bool inner = field->type->tag == TT_T_TUPLE;
    if (inner && !field->type->meta) py__fail(l, TT_EVALUE, "the program text is malformed");
    int more = inner ? field->type->meta[1] - records->type->meta[1] : 0; /* axes of a field that is an array */
    if (!inner && !py__is_array(field)) py__fail(l, TT_EVALUE, "the program text is malformed");
    made->arg[k] = inner ? records_part(l, field, x, left + more) : py__keep(l, view_of(l, field, x, true));
    part[k] = made->arg[k]->type;
  }
  size_t size = strlen(records->type->meta) + 1;
  char *meta = memcpy(py__alloc(l, size), records->type->meta, size);
  meta[1] = (char)('0' + left);
  made->type = py__named(l, part, made->n, meta);
  return py__keep(l, made);
}

/* The same part of the array of each field. */
expr *py__records_index(lower *l, expr *records, const tt_tree *const *item, int n) {
  const expr *first = records;
  int rank = records->type->meta[1] - '0';
  while (first->type->tag == TT_T_TUPLE && first->type->n) first = py__item(l, (expr *)(uintptr_t)first, 0);
  if (!py__is_array(first)) py__fail(l, TT_EVALUE, "the program text is malformed");
  expr stand_in = *first;
  stand_in.type = py__array(l, (tt_dtype)first->type->dtype, rank, 'A');
  index_list x = read_index(l, &stand_in, item, n);
  if (x.missing) return py__missing(l);
  if (x.picks)
    py__fail(l, TT_ENOTIMPL, "records picked by %s: pick from their fields", py__type_name(l, x.picks->type));
  if (x.axes > rank) py__fail(l, TT_EINDEX, "%d indices for an array of %d axes", x.axes, rank);
  for (int k = 0; k < x.narg; k++) x.arg[k] = py__keep(l, x.arg[k]);
  int left = rank - x.axes;
  for (int k = 0; k < x.nform; k++) left += x.form[k] != 'i';
  return records_part(l, records, &x, left);
}

/* An element or a view; where a mask or places stand as the index, NULL and those in *picks (NULL: refused). */
static expr *access(lower *l, expr *array, const tt_tree *const *item, int n, expr **picks) {
  index_list x = read_index(l, array, item, n);
  if (x.missing) return py__missing(l);
  if (x.picks) {
    if (!picks) py__fail(l, TT_ENOTIMPL, "an index that is %s", py__type_name(l, x.picks->type));
    *picks = x.picks;
    return NULL;
  }
  return view_of(l, array, &x, false);
}

expr *py__target(lower *l, expr *array, const tt_tree *const *index, int n) { return access(l, array, index, n, NULL); }

expr *py__choose(lower *l, expr *test, expr *yes, expr *no) {
  expr *e = py__expr(l, TT_X_SELECT, yes->type, 3);
  e->arg[0] = test;
  e->arg[1] = yes;
  e->arg[2] = no;
  return e;
}

/* The item of a tuple that an index says, where all are of one type. */
static expr *pick(lower *l, expr *tuple, expr *at) {
  int n = tuple->type->n;
  bool alike = n > 0 && py__is_scalar(at) && tt__is_int((tt_dtype)at->type->dtype);
  type *both = n > 0 ? tuple->type->item[0] : NULL;
  for (int k = 0; k < n && alike; k++) {
    both = py__unify(l, both, tuple->type->item[k]);
    alike &= both && both->tag == tuple->type->item[k]->tag && both->tag != TT_T_META;
    alike = alike && (both->tag != TT_T_SCALAR || tuple->type->item[k] == tuple->type->item[0]);
  }
  if (!alike) py__fail(l, TT_ENOTIMPL, "an index into %s that is not a constant", py__type_name(l, tuple->type));
  tuple = py__keep(l, tuple);
  at = py__keep(l, py__cast(l, at, TT_I64));
  expr *turned = py__elem(l, TT_ADD, at, py__int(l, n));
  at = py__keep(l, py__choose(l, py__elem(l, TT_LT, at, py__int(l, 0)), turned, at));
  expr *low = py__elem(l, TT_GE, at, py__int(l, 0)), *high = py__elem(l, TT_LT, at, py__int(l, n));
  py__raise_unless(l, py__elem(l, TT_AND, low, high), TT_EINDEX, "tuple index out of range");
  expr *e = py__convert(l, py__item(l, tuple, n - 1), both);
  for (int k = n - 2; k >= 0; k--)
    e = py__choose(l, py__elem(l, TT_EQ, at, py__int(l, k)), py__convert(l, py__item(l, tuple, k), both), e);
  return e;
}

/* tuple.count(x), tuple.index(x); of a list whose items have several types also copy(). NULL: none of these. */
expr *py__tuple_method(lower *l, expr *tuple, const char *name, const tt_tree *t) {
  bool count = strcmp(name, "count") == 0, literal = py__is_literal_list(tuple);
  expr *of_list = literal && t ? py__literal_list_method(l, tuple, name) : NULL;
  if (of_list) return of_list;
  if ((tuple->type->meta && !literal) || !t) return NULL;
  if (strcmp(name, "copy") == 0 && t->n == 3) return tuple;
  if ((!count && strcmp(name, "index") != 0) || t->n != 4) return NULL;
  expr *value = py__value(l, t->item[3]), *total = py__int(l, 0), *place = py__int(l, -1);
  if (py__is_unknown(value)) return value;
  tuple = py__keep(l, tuple);
  value = py__keep(l, py__listed(l, py__materialise(l, value)));
  for (int k = tuple->type->n - 1; k >= 0; k--) {
    expr *same = py__compare(l, "==", py__item(l, tuple, k), value);
    if (!py__is_scalar(same)) py__fail(l, TT_ETYPE, "%s() of %s", name, py__type_name(l, tuple->type));
    same = py__keep(l, py__truth(l, same));
    total = count ? py__elem(l, TT_ADD, total, py__cast(l, same, TT_I64)) : total;
    place = count ? place : py__keep(l, py__choose(l, same, py__int(l, k), place));
  }
  if (count) return total;
  py__raise_unless(l, py__elem(l, TT_GE, place, py__int(l, 0)), TT_EVALUE, "tuple.index(x): x not in tuple");
  return place;
}

/* a[...]: the items of one tuple, or the one index. */
static void split_index(const tt_tree *t, const tt_tree *const **item, int *n) {
  bool tuple = t->n == 3 && tt__tree_is(t->item[2], "tup");
  const tt_tree *list = tuple ? t->item[2] : t;
  *item = (const tt_tree *const *)&list->item[tuple ? 1 : 2];
  *n = list->n - (tuple ? 1 : 2);
}

/* A bound of a tuple's slice, which is known beforehand; `otherwise` where none is written. */
static int bound_of(lower *l, const tt_tree *t, int n, int otherwise) {
  expr *e = py__value(l, t);
  if (e->type->tag == TT_T_NONE) return otherwise;
  if (e->op != TT_X_CONST || !py__is_scalar(e))
    py__fail(l, TT_ENOTIMPL, "a slice of a tuple by what is not a constant");
  int64_t at = e->i < 0 ? e->i + n : e->i;
  return (int)(at < 0 ? 0 : at > n ? n : at);
}

static expr *part_of_tuple(lower *l, expr *tuple, const tt_tree *slice) {
  int n = tuple->type->n, from = bound_of(l, py__at(l, slice, 1), n, 0), to = bound_of(l, py__at(l, slice, 2), n, n);
  if (py__value(l, py__at(l, slice, 3))->type->tag != TT_T_NONE)
    py__fail(l, TT_ENOTIMPL, "a slice of a tuple with a step");
  int count = to > from ? to - from : 0;
  type *item[TT_PROGRAM_ARGS];
  for (int k = 0; k < count; k++) item[k] = tuple->type->item[from + k];
  tuple = py__keep(l, tuple);
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, count), count);
  for (int k = 0; k < count; k++) e->arg[k] = py__item(l, tuple, from + k);
  return e;
}

expr *py__index(lower *l, const tt_tree *t) {
  const tt_tree *const *item;
  int n;
  expr *base = py__value(l, py__at(l, t, 1));
  split_index(t, &item, &n);
  if (py__is_unknown(base)) return base;
  if (base->type->tag == TT_T_TUPLE && base->type->meta && n == 1 && tt__tree_is(item[0], "s"))
    return py__attribute(l, base, py__word(l, py__at(l, item[0], 1)));
  if (py__is_records(base)) return py__records_index(l, py__keep(l, base), item, n);
  if (py__is_chars(base)) return py__chars_index(l, py__keep(l, base), item, n);
  if (base->type->tag == TT_T_TUPLE) {
    if (n == 1 && tt__tree_is(item[0], "sl") && py__is_literal_list(base))
      py__fail(l, TT_ETYPE, "Cannot __getitem__ on a literal list by a slice: its items have several types");
    if (n == 1 && tt__tree_is(item[0], "sl")) return part_of_tuple(l, base, item[0]);
    expr *k = n == 1 ? py__value(l, item[0]) : py__missing(l);
    if (py__is_unknown(k)) return k;
    expr *part[3];
    if (py__is_display(base) && py__slice_parts(l, NULL, k, part)) return py__list_part(l, py__listed(l, base), part);
    int64_t at = k->op == TT_X_CONST && py__is_scalar(k) ? k->i : INT64_MIN;
    if (at == INT64_MIN && py__is_literal_list(base))
      py__fail(l, TT_ETYPE,
               "Cannot __getitem__ on a literal list by what is no constant: its items have several types");
    if (at == INT64_MIN && py__is_named_values(base))
      py__fail(l, TT_ETYPE,
               "Cannot get{item}() on a literal dictionary by what is no constant: its values have several types");
    if (at == INT64_MIN) return pick(l, base, k);
    if (at < 0) at += base->type->n;
    bool inside = at >= 0 && at < base->type->n;
    if (!inside && py__is_record(base)) py__fail(l, TT_ETYPE, "Requested index %lld is out of range", (long long)k->i);
    if (!inside) py__fail(l, TT_EINDEX, "tuple index out of range");
    return py__is_record(base) ? py__field_value(l, base, (int)at) : py__item(l, base, (int)at);
  }
  if (n == 1 && py__has_text(base, NULL)) base = py__text(l, base);
  if (base->type->tag == TT_T_LIST && n == 1) return py__list_index(l, base, item[0]);
  if (base->type->tag != TT_T_ARRAY)
    py__fail(l, TT_ETYPE, "%s has no elements: %s", py__type_name(l, base->type), no_array(base));
  base = py__materialise(l, base);
  if (base->op != TT_X_LOCAL && base->op != TT_X_GLOBAL && base->op != TT_X_SHARED && base->op != TT_X_PRIVATE)
    base = py__keep(l, base);
  expr *picks, *e = access(l, base, item, n, &picks);
  return e ? e : py__picked(l, base, picks);
}

void py__assign_index(lower *l, const tt_tree *t, expr *value, const char *op) {
  const tt_tree *const *item;
  int n;
  expr *base = py__value(l, py__at(l, t, 1));
  split_index(t, &item, &n);
  if (py__is_unknown(base) || py__is_unknown(value)) return;
  if (base->type->tag == TT_T_LIST && n == 1) {
    py__list_assign(l, base, item[0], value, op);
    return;
  }
  if (py__is_record(base) && n == 1 && tt__tree_is(item[0], "s")) {
    py__set_field(l, base, py__word(l, py__at(l, item[0], 1)), value, op);
    return;
  }
  if (py__is_record(base) && n == 1) {
    expr *k = py__value(l, item[0]);
    int64_t at = k->op == TT_X_CONST && py__is_scalar(k) ? k->i : INT64_MIN;
    if (py__is_unknown(k)) return;
    if (at == INT64_MIN) py__fail(l, TT_ENOTIMPL, "a field by a number that is not a constant");
    if (at < 0) at += base->type->n;
    if (at < 0 || at >= base->type->n) py__fail(l, TT_ETYPE, "Requested index %lld is out of range", (long long)k->i);
    py__set_field_at(l, base, (int)at, value, op);
    return;
  }
  if (py__is_records(base) && n == 1 && tt__tree_is(item[0], "s")) {
    py__fill(l, py__attribute(l, base, py__word(l, py__at(l, item[0], 1))), value, op, false);
    return;
  }
  if (py__is_records(base) && !op) {
    py__set_record(l, py__records_index(l, py__keep(l, base), item, n), value);
    return;
  }
  py__refuse_change(l, base);
  if (base->type->tag != TT_T_ARRAY) py__fail(l, TT_ETYPE, "%s takes no assignment", py__type_name(l, base->type));
  if (py__is_lazy(base)) py__fail(l, TT_ENOTIMPL, "an assignment into what is computed, or .real or .imag");
  base = py__keep(l, py__materialise(l, base));
  bool fresh = py__is_array(value) && py__is_lazy(value);
  if (!py__is_scalar(value)) value = py__keep(l, py__materialise(l, value));
  expr *picks, *target = access(l, base, item, n, &picks);
  if (!target) {
    py__assign_picked(l, base, picks, value, op);
    return;
  }
  if (py__is_unknown(target)) return;
  py__wrote(l, base);
  if (target->op == TT_X_VIEW) {
    py__fill(l, target, value, op, fresh);
    return;
  }
  if (op) {
    for (int k = 1; k < target->n; k++) target->arg[k] = py__keep(l, target->arg[k]);
    value = py__binary(l, op, target, value);
  }
  value = py__without_axes(l, value);
  if (!py__is_scalar(value))
    py__fail(l, TT_ETYPE, "cannot store %s in an element of %s", py__type_name(l, value->type),
             py__type_name(l, base->type));
  value = py__cast(l, value, (tt_dtype)base->type->dtype);
  stmt *s = py__stmt(l, TT_X_STORE);
  s->a = target;
  s->b = value;
}

/* ---- array expressions */

/* Every array a lazy tree reads, in hidden locals; scalars too: the loop reads them again and again. */
static expr *pin(lower *l, expr *e) {
  if (!py__is_lazy(e)) return py__keep(l, e);
  expr *copy = py__expr(l, (tt_pop)e->op, e->type, e->n);
  copy->elem = e->elem;
  copy->name = e->name;
  copy->form = e->form;
  for (int k = 0; k < e->n; k++) copy->arg[k] = pin(l, e->arg[k]);
  return copy;
}

/* The element of a pinned tree at `at` (of `rank` axes); axes of length 1 stretch. */
static expr *element(lower *l, expr *e, expr *const *at, int rank) {
  if (!py__is_array(e)) return e;
  if (py__is_lazy(e)) {
    expr *a = element(l, e->arg[0], at, rank), *b = e->n > 1 ? element(l, e->arg[1], at, rank) : NULL;
    switch (e->form[0]) {
      case 'b':
        return py__cast(l, py__binary(l, e->name, a, b), (tt_dtype)e->type->dtype);
      case 'c':
        return py__compare(l, e->name, a, b);
      case 'u':
        return py__cast(l, py__unary(l, e->name, a), (tt_dtype)e->type->dtype);
      case 'w':
        return py__where(l, a, b, element(l, e->arg[2], at, rank));
      default:
        return py__apply(l, (tt_op)e->elem, a, b);
    }
  }
  expr *index[TT_PROGRAM_RANK];
  int own = e->type->rank;
  for (int k = 0; k < own; k++) index[k] = at[rank - own + k];
  return py__load(l, e, index, own);
}

static void each_array(lower *l, expr *e, void (*see)(lower *l, expr *array, void *ctx), void *ctx) {
  if (!py__is_array(e)) return;
  if (!py__is_lazy(e)) {
    see(l, e, ctx);
    return;
  }
  for (int k = 0; k < e->n; k++) each_array(l, e->arg[k], see, ctx);
}

typedef struct shape {
  int rank;
  expr *len[TT_PROGRAM_RANK];
} shape;

/* Axis lengths: the first array's, or another's where that one has length 1. */
static void widen(lower *l, expr *array, void *ctx) {
  shape *s = ctx;
  int own = array->type->rank;
  for (int k = 0; k < own; k++) {
    expr **to = &s->len[s->rank - own + k], *len = py__len(l, array, k);
    if (!*to) {
      *to = len;
    } else {
      expr *pick = py__expr(l, TT_X_SELECT, py__scalar(l, TT_I64), 3);
      pick->arg[0] = py__elem(l, TT_EQ, *to, py__int(l, 1));
      pick->arg[1] = len;
      pick->arg[2] = *to;
      pick->nonneg = true;
      pick->limit = len->limit;
      *to = py__keep(l, pick);
    }
  }
}

/* A pinned array stretched to the shape: the same memory, step 0 where it repeats; fails where it does not fit. */
static expr *stretch(lower *l, expr *e, const shape *s) {
  if (!py__is_array(e)) return e;
  if (py__is_lazy(e)) {
    for (int k = 0; k < e->n; k++) e->arg[k] = stretch(l, e->arg[k], s);
    return e;
  }
  int own = e->type->rank;
  expr *fits = NULL;
  for (int k = 0; k < own; k++) {
    expr *same = py__elem(l, TT_EQ, py__len(l, e, k), s->len[s->rank - own + k]);
    expr *one = py__elem(l, TT_EQ, py__len(l, e, k), py__int(l, 1));
    same = py__elem(l, TT_OR, same, one);
    fits = fits ? py__elem(l, TT_AND, fits, same) : same;
  }
  if (fits)
    py__raise_unless(
        l, fits, TT_EVALUE,
        "operands could not be broadcast together: shape mismatch: objects cannot be broadcast to a single shape");
  type *t = py__array(l, (tt_dtype)e->type->dtype, own, py__any_steps(e));
  expr *a[TT_PROGRAM_RANK + 1] = {e};
  for (int k = 0; k < own; k++) a[k + 1] = s->len[s->rank - own + k];
  return py__keep(l, py__helper(l, "stretch", t, false, a, own + 1));
}

static void same_shape(lower *l, expr *array, void *ctx) {
  void **pair = ctx;
  const shape *s = pair[0];
  expr **all = (expr **)&pair[1];
  int own = array->type->rank;
  for (int k = 0; k < own; k++) {
    expr *same = py__elem(l, TT_EQ, py__len(l, array, k), s->len[s->rank - own + k]);
    *all = *all ? py__elem(l, TT_AND, *all, same) : same;
  }
}

/* target[at...] = the tree's element, for all places. */
static void loops(lower *l, expr *target, expr *e, const shape *s, const char *op) {
  expr *at[TT_PROGRAM_RANK];
  block b[TT_PROGRAM_RANK];
  stmt *loop[TT_PROGRAM_RANK];
  for (int k = 0; k < s->rank; k++) {
    int32_t i = py__temp(l, py__scalar(l, TT_I64));
    l->f->func->locals.data[i].nonneg = true;
    l->f->func->locals.data[i].limit = TT_PROGRAM_LONGEST;
    loop[k] = py__stmt(l, TT_X_FOR);
    loop[k]->local = i;
    loop[k]->a = py__int(l, 0);
    loop[k]->b = s->len[k];
    loop[k]->c = py__int(l, 1);
    py__block_begin(l, &b[k]);
    at[k] = py__local(l, i);
  }
  expr *to = py__load(l, target, at, s->rank), *value = element(l, e, at, s->rank);
  if (op) value = py__binary(l, op, to, value);
  value = py__cast(l, value, (tt_dtype)target->type->dtype);
  stmt *store = py__stmt(l, TT_X_STORE);
  store->a = to;
  store->b = value;
  for (int k = s->rank - 1; k >= 0; k--) loop[k]->body = py__block_end(l, &b[k]);
}

/* One set of loops where all shapes agree, which vectorises; another where axes stretch. */
static void fill_pinned(lower *l, expr *target, expr *e, const shape *s, const char *op) {
  expr *all = NULL;
  void *pair[2] = {(void *)(uintptr_t)s, NULL};
  each_array(l, e, same_shape, pair);
  all = pair[1];
  if (!all) {
    loops(l, target, e, s, op);
    return;
  }
  stmt *either = py__stmt(l, TT_X_IF);
  block b;
  either->a = all;
  py__block_begin(l, &b);
  loops(l, target, e, s, op);
  either->body = py__block_end(l, &b);
  py__block_begin(l, &b);
  loops(l, target, stretch(l, e, s), s, op);
  either->other = py__block_end(l, &b);
}

expr *py__without_axes(lower *l, expr *e) {
  return py__is_array(e) && e->type->rank == 0 ? py__load(l, py__keep(l, py__materialise(l, e)), NULL, 0) : e;
}

expr *py__materialise(lower *l, expr *e) {
  if (!py__is_lazy(e)) return e;
  shape s = {.rank = e->type->rank};
  e = pin(l, e);
  each_array(l, e, widen, &s);
  expr *made = py__expr(l, TT_X_ALLOC, py__array(l, (tt_dtype)e->type->dtype, s.rank, 'C'), s.rank);
  for (int k = 0; k < s.rank; k++) made->arg[k] = s.len[k] = py__keep(l, s.len[k]);
  l->f->func->can_fail = true;
  made = py__keep(l, made);
  fill_pinned(l, made, e, &s, NULL);
  return made;
}

expr *py__copied(lower *l, expr *array) {
  expr *one = py__expr(l, TT_X_ELEM, py__array(l, (tt_dtype)array->type->dtype, array->type->rank, 'E'), 1);
  one->form = "u";
  one->name = "+";
  one->arg[0] = array;
  return py__materialise(l, one);
}

enum { MOST_APART = 8 };

/* Arrays of one expression and what stands for them. */
typedef struct stand_ins {
  int32_t of[MOST_APART];
  expr *is[MOST_APART];
  int n;
} stand_ins;

/* A pinned tree that reads nothing that a store into `view` changes before. */
static expr *apart(lower *l, expr *view, expr *e, stand_ins *s) {
  if (!py__is_array(e)) return e;
  if (py__is_lazy(e)) {
    for (int k = 0; k < e->n; k++) e->arg[k] = apart(l, view, e->arg[k], s);
    return e;
  }
  for (int k = 0; k < s->n; k++)
    if (e->op == TT_X_LOCAL && s->of[k] == e->k) return s->is[k];
  expr *is = py__apart(l, view, e);
  if (e->op == TT_X_LOCAL && s->n < MOST_APART) {
    s->of[s->n] = e->k;
    s->is[s->n++] = is;
  }
  return is;
}

void py__fill(lower *l, expr *view, expr *value, const char *op, bool fresh) {
  view = py__keep(l, view);
  py__wrote(l, view);
  value = pin(l, value);
  if (!py__is_scalar(value) && !py__is_array(value))
    py__fail(l, TT_ETYPE, "cannot store %s in an array", py__type_name(l, value->type));
  if (py__is_array(value) && value->type->rank > view->type->rank)
    py__fail(l, TT_EVALUE, "cannot store an array of %d axes in one of %d", value->type->rank, view->type->rank);
  stand_ins none = {.n = 0};
  if (!fresh && !l->options.kernel) value = apart(l, view, value, &none); /* threads have no memory to copy to */
  shape s = {.rank = view->type->rank};
  for (int k = 0; k < s.rank; k++) s.len[k] = py__len(l, view, k);
  fill_pinned(l, view, value, &s, op);
}

/* ---- attributes */

static expr *shape_of(lower *l, expr *array) {
  type *item[TT_PROGRAM_RANK];
  int rank = array->type->rank;
  for (int k = 0; k < rank; k++) item[k] = py__scalar(l, TT_I64);
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, rank), rank);
  for (int k = 0; k < rank; k++) e->arg[k] = py__len(l, array, k);
  return e;
}

static expr *size_of(lower *l, expr *array) {
  expr *n = py__int(l, 1);
  for (int k = 0; k < array->type->rank; k++) {
    expr *len = py__len(l, array, k);
    n = k ? py__elem(l, TT_MUL, n, len) : len;
    n->nonneg = true; /* whoever made the array saw to it */
  }
  return n;
}

static expr *turned(lower *l, expr *array) {
  if (array->type->rank < 2) return array;
  expr *e = py__expr(l, TT_X_TURN, NULL, 1);
  e->type = py__array(l, (tt_dtype)array->type->dtype, array->type->rank, py__any_steps(array));
  e->arg[0] = array;
  return e;
}

expr *py__attribute(lower *l, expr *self, const char *name) {
  if (py__is_unknown(self)) return self;
  if (py__is_object(self)) return py__object_attribute(l, self, name);
  if (self->type->tag == TT_T_TUPLE && self->type->meta) {
    int k = py__field(self->type, name);
    if (k >= 0) return py__field_value(l, self, k);
    if (!py__is_records(self)) py__no_field(l, self, name);
    while (self->type->tag == TT_T_TUPLE) self = py__item(l, py__keep(l, self), 0); /* shape, size ... */
  }
  if (py__is_scalar(self)) {
    if (strcmp(name, "real") == 0) return py__apply(l, TT_REAL, self, NULL);
    if (strcmp(name, "imag") == 0) return py__apply(l, TT_IMAG, self, NULL);
    if (strcmp(name, "T") == 0) return self;
  }
  if (self->type->tag == TT_T_ARRAY) {
    if (strcmp(name, "dtype") == 0) return py__meta(l, "dtype", tt__dtypes[self->type->dtype].name);
    if (strcmp(name, "ndim") == 0) return py__int(l, self->type->rank);
    if (strcmp(name, "itemsize") == 0) return py__int(l, (int64_t)tt__dtype_size((tt_dtype)self->type->dtype));
    if (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0)
      return py__apply(l, name[0] == 'r' ? TT_REAL : TT_IMAG, self, NULL);
    self = py__keep(l, py__materialise(l, self));
    if (strcmp(name, "shape") == 0) return shape_of(l, self);
    if (strcmp(name, "size") == 0) return size_of(l, self);
    if (strcmp(name, "T") == 0) return turned(l, self);
    if (strcmp(name, "flat") == 0 && self->type->layout == 'C') return py__method(l, self, "ravel", NULL);
  }
  if (py__is_array(self)) py__fail(l, TT_ENOTIMPL, "%s has no attribute '%s' here", py__type_name(l, self->type), name);
  py__fail(l, TT_ETYPE, "%s has no attribute '%s': %s", py__type_name(l, self->type), name, no_array(self));
}
