/*
** NumPy's array makers and whole-array functions inside compiled functions: memory, and loops over it.
*/
#include <string.h>

#include "lang/python/py_int.h"

expr *py__allocate(lower *l, tt_dtype d, expr *const *len, int rank, bool zero) {
  expr *e = py__expr(l, TT_X_ALLOC, py__array(l, d, rank, 'C'), rank);
  for (int k = 0; k < rank; k++) e->arg[k] = len[k];
  e->k = zero;
  l->f->func->can_fail = true;
  return e;
}

/* A shape: a whole number or a tuple of them. False: not known yet. */
bool py__read_shape(lower *l, expr *e, expr **len, int *rank) {
  if (py__is_unknown(e)) return false;
  bool tuple = e->type->tag == TT_T_TUPLE;
  e = tuple ? py__keep(l, e) : e;
  *rank = tuple ? e->type->n : 1;
  if (*rank > TT_PROGRAM_RANK) py__fail(l, TT_ENOTIMPL, "arrays of more than %d axes", TT_PROGRAM_RANK);
  for (int k = 0; k < *rank; k++) {
    expr *n = tuple ? py__item(l, e, k) : e;
    if (!py__is_scalar(n) || !tt__is_int((tt_dtype)n->type->dtype))
      py__fail(l, TT_ETYPE, "a shape of %s", py__type_name(l, e->type));
    len[k] = py__keep(l, py__cast(l, n, TT_I64));
  }
  return true;
}

static tt_dtype dtype_argument(lower *l, const tt_tree *t, int at, tt_dtype other) {
  const tt_tree *d = py__keyword(l, t, "dtype");
  if (!d && at >= 0 && py__positional(t) > at) d = t->item[at + 2];
  return d ? py__dtype_of(l, d) : other;
}

static expr *full(lower *l, expr *made, expr *value) {
  made = py__keep(l, made);
  py__fill(l, made, value, NULL, true);
  return made;
}

static expr *make(lower *l, const char *w, const tt_tree *t) {
  expr *len[TT_PROGRAM_RANK];
  int rank, at = strcmp(w, "full") == 0 ? 2 : 1;
  if (py__positional(t) < at) py__fail(l, TT_ETYPE, "np.%s() lacks an argument", w);
  expr *value = at == 2 ? py__value(l, t->item[3]) : NULL;
  if (!py__read_shape(l, py__value(l, t->item[2]), len, &rank) || (value && py__is_unknown(value)))
    return py__missing(l);
  tt_dtype d = dtype_argument(l, t, at, value ? (tt_dtype)value->type->dtype : TT_F64);
  expr *made = py__allocate(l, d, len, rank, strcmp(w, "zeros") == 0);
  if (strcmp(w, "ones") == 0) return full(l, made, py__int(l, 1));
  return value ? full(l, made, value) : made;
}

static expr *make_like(lower *l, const char *w, const tt_tree *t) {
  expr *len[TT_PROGRAM_RANK], *value = NULL;
  int at = strcmp(w, "full_like") == 0 ? 2 : 1;
  if (py__positional(t) < at) py__fail(l, TT_ETYPE, "np.%s() lacks an argument", w);
  expr *a = py__value(l, t->item[2]);
  if (at == 2) value = py__value(l, t->item[3]);
  if (py__is_unknown(a) || (value && py__is_unknown(value))) return py__missing(l);
  if (!py__is_array(a)) py__fail(l, TT_ETYPE, "np.%s() of %s", w, py__type_name(l, a->type));
  a = py__keep(l, py__materialise(l, a));
  for (int k = 0; k < a->type->rank; k++) len[k] = py__len(l, a, k);
  tt_dtype d = dtype_argument(l, t, at, (tt_dtype)a->type->dtype);
  expr *made = py__allocate(l, d, len, a->type->rank, strcmp(w, "zeros_like") == 0);
  if (strcmp(w, "ones_like") == 0) return full(l, made, py__int(l, 1));
  return value ? full(l, made, value) : made;
}

/* A loop over [0, n) whose body is made between the two calls. */
stmt *py__count_begin(lower *l, expr *n, block *b, expr **at) {
  int32_t i = py__temp(l, py__scalar(l, TT_I64));
  l->f->func->locals.data[i].nonneg = true;
  l->f->func->locals.data[i].limit = TT_PROGRAM_LONGEST;
  stmt *s = py__stmt(l, TT_X_FOR);
  s->local = i;
  s->a = py__int(l, 0);
  s->b = n;
  s->c = py__int(l, 1);
  py__block_begin(l, b);
  *at = py__local(l, i);
  return s;
}
void py__count_end(lower *l, stmt *s, block *b) { s->body = py__block_end(l, b); }

void py__put(lower *l, expr *array, expr *const *at, int n, expr *value) {
  stmt *s = py__stmt(l, TT_X_STORE);
  s->a = py__load(l, array, at, n);
  s->b = py__cast(l, value, (tt_dtype)array->type->dtype);
}

/* start + i * step for n elements. */
static expr *ramp(lower *l, tt_dtype d, expr *n, expr *start, expr *step) {
  block b;
  expr *at, *made = py__keep(l, py__allocate(l, d, &n, 1, false));
  stmt *s = py__count_begin(l, n, &b, &at);
  py__put(l, made, &at, 1, py__binary(l, "+", start, py__binary(l, "*", at, step)));
  py__count_end(l, s, &b);
  return made;
}

expr *py__ramp(lower *l, expr *n) { return ramp(l, TT_I64, n, py__int(l, 0), py__int(l, 1)); }

static expr *arange(lower *l, const tt_tree *t) {
  expr *a[3] = {py__int(l, 0), NULL, py__int(l, 1)};
  int n = py__positional(t);
  if (n < 1 || n > 3) py__fail(l, TT_ETYPE, "np.arange() takes 1 to 3 arguments");
  for (int k = 0; k < n; k++) a[n == 1 ? 1 : k] = py__keep(l, py__value(l, t->item[k + 2]));
  tt_dtype d = TT_I64;
  for (int k = 0; k < 3; k++) {
    if (py__is_unknown(a[k])) return a[k];
    if (k == 1 && a[k]->type->tag == TT_T_NONE) a[1] = a[0], a[0] = py__int(l, 0); /* arange(stop, None) */
    if (k == 2 && a[k]->type->tag == TT_T_NONE) a[2] = py__int(l, 1);
    if (!py__is_scalar(a[k])) py__fail(l, TT_ETYPE, "np.arange() of %s", py__type_name(l, a[k]->type));
    d = py__arith(d, (tt_dtype)a[k]->type->dtype);
  }
  expr *part[3];
  for (int k = 0; k < 3; k++) part[k] = py__cast(l, a[k], tt__is_int(d) ? TT_I64 : TT_F64);
  const char *name = tt__is_int(d) ? "tt_range_i64" : "tt_range_f64";
  expr *len = py__helper(l, name, py__scalar(l, TT_I64), false, part, 3);
  len->nonneg = true;
  return ramp(l, dtype_argument(l, t, -1, d), py__keep(l, len), a[0], a[2]);
}

static expr *linspace(lower *l, const tt_tree *t) {
  int n = py__positional(t);
  if (n < 2 || n > 3) py__fail(l, TT_ETYPE, "np.linspace() takes 2 or 3 arguments");
  expr *a = py__value(l, t->item[2]), *b = py__value(l, t->item[3]),
       *c = n > 2 ? py__value(l, t->item[4]) : py__int(l, 50);
  if (py__is_unknown(a) || py__is_unknown(b) || py__is_unknown(c)) return py__missing(l);
  a = py__keep(l, py__cast(l, a, TT_F64));
  b = py__keep(l, py__cast(l, b, TT_F64));
  c = py__keep(l, py__cast(l, c, TT_I64));
  expr *less = py__elem(l, TT_MAXIMUM, py__elem(l, TT_SUB, c, py__int(l, 1)), py__int(l, 1));
  expr *step = py__keep(l, py__elem(l, TT_DIV, py__elem(l, TT_SUB, b, a), py__cast(l, less, TT_F64)));
  return ramp(l, TT_F64, c, a, step);
}

static expr *copy_as(lower *l, expr *a, tt_dtype d) {
  expr *len[TT_PROGRAM_RANK];
  a = py__keep(l, py__materialise(l, a));
  for (int k = 0; k < a->type->rank; k++) len[k] = py__len(l, a, k);
  expr *made = py__keep(l, py__allocate(l, d, len, a->type->rank, false));
  py__fill(l, made, a, NULL, true);
  return made;
}

/* np.array of a written list of numbers, or of lists of numbers; np.array(array) is a copy. */
static expr *literal(lower *l, const tt_tree *t) {
  if (py__positional(t) < 1) py__fail(l, TT_ETYPE, "np.array() lacks an argument");
  expr *e = py__value(l, t->item[2]);
  if (py__is_unknown(e)) return e;
  if (py__is_array(e)) {
    tt_dtype own = (tt_dtype)e->type->dtype, to = dtype_argument(l, t, 1, own);
    return to == own ? py__method(l, e, "copy", NULL) : copy_as(l, e, to);
  }
  if (py__is_scalar(e)) { /* an array without axes */
    expr *one = py__keep(l, py__allocate(l, dtype_argument(l, t, 1, (tt_dtype)e->type->dtype), NULL, 0, false));
    return py__put(l, one, NULL, 0, e), one;
  }
  bool of_parts = py__is_display(e) && e->n > 0 && e->arg[0]->type->tag != TT_T_TUPLE && !py__is_scalar(e->arg[0]);
  if (of_parts) e = py__listed(l, e); /* vectors, or lists that names stand for */
  if (e->type->tag == TT_T_LIST) return py__list_array(l, e, dtype_argument(l, t, 1, TT_DTYPE_NONE));
  if (e->type->tag != TT_T_TUPLE || e->type->n == 0)
    py__fail(l, TT_ENOTIMPL, "np.array() of %s", py__type_name(l, e->type));
  e = py__keep(l, e);
  bool rows = e->type->item[0]->tag == TT_T_TUPLE;
  int n = e->type->n, m = rows ? e->type->item[0]->n : 1;
  tt_dtype d = TT_BOOL;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      type *own = rows ? (e->type->item[i]->n == m ? e->type->item[i]->item[j] : NULL) : e->type->item[i];
      if (!own || own->tag != TT_T_SCALAR) py__fail(l, TT_ENOTIMPL, "np.array() of %s", py__type_name(l, e->type));
      d = tt__promote(d, (tt_dtype)own->dtype);
    }
  expr *len[2] = {py__int(l, n), py__int(l, m)};
  expr *made = py__keep(l, py__allocate(l, dtype_argument(l, t, 1, d), len, rows ? 2 : 1, false));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      expr *at[2] = {py__int(l, i), py__int(l, j)};
      py__put(l, made, at, rows ? 2 : 1, rows ? py__item(l, py__item(l, e, i), j) : py__item(l, e, i));
    }
  return made;
}

/* ---- reductions over a whole array */

typedef enum fold { SUM, PROD, LEAST, MOST, ARG_LEAST, ARG_MOST, ANY, ALL } fold;

/* The loops over an array; *value is its element, *flat its number in C order. */
typedef struct walk {
  block b[TT_PROGRAM_RANK];
  stmt *s[TT_PROGRAM_RANK];
  int rank;
} walk;

static void walk_begin(lower *l, walk *w, expr *a, expr **value, expr **flat) {
  expr *at[TT_PROGRAM_RANK];
  w->rank = a->type->rank;
  *flat = NULL;
  for (int k = 0; k < w->rank; k++) {
    w->s[k] = py__count_begin(l, py__len(l, a, k), &w->b[k], &at[k]);
    *flat = *flat ? py__elem(l, TT_ADD, py__elem(l, TT_MUL, *flat, py__len(l, a, k)), at[k]) : at[k];
  }
  if (!*flat) *flat = py__int(l, 0);
  *value = py__load(l, a, at, w->rank);
}
static void walk_end(lower *l, walk *w) {
  for (int k = w->rank - 1; k >= 0; k--) py__count_end(l, w->s[k], &w->b[k]);
}

static expr *first_element(lower *l, expr *a) {
  expr *at[TT_PROGRAM_RANK], *some = py__elem(l, TT_GT, py__attribute(l, a, "size"), py__int(l, 0));
  for (int k = 0; k < a->type->rank; k++) at[k] = py__int(l, 0);
  py__raise_unless(l, some, TT_EVALUE, "zero-size array to a reduction which has no identity");
  return py__load(l, a, at, a->type->rank);
}

/* Does an element take the place of the least or the most so far? The first NaN stays. */
static expr *beyond(lower *l, tt_op op, expr *value, expr *old) {
  expr *more = py__elem(l, op, value, old);
  if (!tt__is_float((tt_dtype)value->type->dtype)) return more;
  expr *nan = py__elem(l, TT_AND, py__elem(l, TT_NE, value, value), py__elem(l, TT_EQ, old, old));
  return py__elem(l, TT_OR, more, nan);
}

static expr *reduce(lower *l, expr *a, fold kind) {
  tt_dtype d = (tt_dtype)a->type->dtype,
           t = kind <= PROD && !tt__is_float(d) && !tt__is_complex(d) ? py__arith(d, d) : d;
  bool arg = kind == ARG_LEAST || kind == ARG_MOST, logic = kind >= ANY;
  a = py__keep(l, py__materialise(l, a));
  int32_t acc = py__temp(l, py__scalar(l, logic ? TT_BOOL : t)), place = arg ? py__temp(l, py__scalar(l, TT_I64)) : -1;
  l->f->func->locals.data[acc].nonneg = false;
  l->f->func->locals.data[acc].limit = 0;
  expr *start = kind == SUM    ? py__cast(l, py__int(l, 0), t)
                : kind == PROD ? py__cast(l, py__int(l, 1), t)
                : logic        ? py__bool(l, kind == ALL)
                               : first_element(l, a);
  expr *value, *flat;
  walk w;
  py__set(l, acc, start);
  if (arg) py__set(l, place, py__int(l, 0));
  walk_begin(l, &w, a, &value, &flat);
  expr *old = py__local(l, acc);
  if (arg) {
    value = py__keep(l, value);
    block b;
    stmt *s = py__stmt(l, TT_X_IF);
    s->a = beyond(l, kind == ARG_LEAST ? TT_LT : TT_GT, value, old);
    py__block_begin(l, &b);
    py__set(l, acc, value);
    py__set(l, place, flat);
    s->body = py__block_end(l, &b);
  } else if (logic) {
    py__set(l, acc, py__elem(l, kind == ANY ? TT_OR : TT_AND, old, py__truth(l, value)));
  } else {
    static const tt_op ops[] = {TT_ADD, TT_MUL, TT_MINIMUM, TT_MAXIMUM};
    py__set(l, acc, py__elem(l, ops[kind], old, py__cast(l, value, t)));
  }
  walk_end(l, &w);
  return py__local(l, arg ? place : acc);
}

static expr *spread(lower *l, expr *a, bool root) {
  a = py__keep(l, py__materialise(l, a));
  expr *n = py__cast(l, py__attribute(l, a, "size"), TT_F64);
  expr *mean = py__keep(l, py__elem(l, TT_DIV, py__cast(l, reduce(l, a, SUM), TT_F64), n));
  expr *off = py__keep(l, py__materialise(l, py__binary(l, "-", a, mean)));
  expr *v = py__elem(l, TT_DIV, py__cast(l, reduce(l, py__binary(l, "*", off, off), SUM), TT_F64), n);
  return root ? py__elem(l, TT_SQRT, v, NULL) : v;
}

static expr *mean(lower *l, expr *a) {
  a = py__keep(l, py__materialise(l, a));
  expr *n = py__attribute(l, a, "size"), *s = reduce(l, a, SUM);
  tt_dtype t = tt__is_int((tt_dtype)s->type->dtype) ? TT_F64 : (tt_dtype)s->type->dtype;
  return py__elem(l, TT_DIV, py__cast(l, s, t), py__cast(l, n, t));
}

/* Of a vector or, as NumPy's "fro", of a matrix. */
static expr *norm(lower *l, expr *a) {
  if (!py__is_array(a)) py__fail(l, TT_ETYPE, "np.linalg.norm() of %s", py__type_name(l, a->type));
  a = py__keep(l, py__materialise(l, py__apply(l, TT_ABS, a, NULL)));
  expr *s = reduce(l, py__binary(l, "*", a, a), SUM);
  return py__elem(l, TT_SQRT, tt__is_int((tt_dtype)s->type->dtype) ? py__cast(l, s, TT_F64) : s, NULL);
}

/* ---- products: plain loops, the innermost along memory */

/* Multiplications from which on the library is sooner done than loops, its call included (docs/decisions.md). */
enum { LIBRARY_PRODUCT = 16384 };

static expr *product_loops(lower *l, expr *a, expr *b) {
  int ra = a->type->rank, rb = b->type->rank;
  tt_dtype d = tt__promote((tt_dtype)a->type->dtype, (tt_dtype)b->type->dtype);
  expr *len[2] = {ra == 2 ? py__len(l, a, 0) : py__len(l, b, 1), py__len(l, b, rb - 1)};
  expr *made = py__keep(l, py__allocate(l, d, len, ra + rb - 2, true));
  block bi, bk, bj;
  expr *i = NULL, *k, *j = NULL;
  stmt *si = ra == 2 ? py__count_begin(l, py__len(l, a, 0), &bi, &i) : NULL;
  stmt *sk = py__count_begin(l, py__len(l, b, 0), &bk, &k);
  expr *ia[2] = {i ? i : k, k}, *x = py__keep(l, py__load(l, a, ia, ra));
  stmt *sj = rb == 2 ? py__count_begin(l, py__len(l, b, 1), &bj, &j) : NULL;
  expr *ib[2] = {k, j}, *io[2] = {i ? i : j, j};
  expr *old = py__load(l, made, io, ra + rb - 2);
  py__put(l, made, io, ra + rb - 2, py__binary(l, "+", old, py__binary(l, "*", x, py__load(l, b, ib, rb))));
  if (sj) py__count_end(l, sj, &bj);
  py__count_end(l, sk, &bk);
  if (si) py__count_end(l, si, &bi);
  return made;
}

static expr *dot(lower *l, expr *a, expr *b) {
  if (py__is_unknown(a) || py__is_unknown(b)) return py__missing(l);
  if (!py__is_array(a) || !py__is_array(b)) return py__binary(l, "*", a, b);
  a = py__keep(l, py__materialise(l, a));
  b = py__keep(l, py__materialise(l, b));
  int ra = a->type->rank, rb = b->type->rank;
  if (ra < 1 || ra > 2 || rb < 1 || rb > 2) py__fail(l, TT_ENOTIMPL, "products of arrays of %d and %d axes", ra, rb);
  py__raise_unless(l, py__elem(l, TT_EQ, py__len(l, a, ra - 1), py__len(l, b, 0)), TT_EVALUE,
                   "shapes do not fit a product");
  if (ra == 1 && rb == 1) return reduce(l, py__binary(l, "*", a, b), SUM);
  if (l->options.kernel || !l->options.ask) return product_loops(l, a, b);
  expr *work = py__len(l, a, ra - 1), *arg[2] = {a, b};
  if (ra == 2) work = py__elem(l, TT_MUL, work, py__len(l, a, 0));
  if (rb == 2) work = py__elem(l, TT_MUL, work, py__len(l, b, 1));
  tt_dtype d = tt__promote((tt_dtype)a->type->dtype, (tt_dtype)b->type->dtype);
  int32_t made = py__temp(l, py__array(l, d, ra + rb - 2, 'C'));
  stmt *either = py__stmt(l, TT_X_IF);
  block small, large;
  either->a = py__elem(l, TT_LT, work, py__int(l, LIBRARY_PRODUCT));
  py__block_begin(l, &small);
  py__set(l, made, product_loops(l, a, b));
  either->body = py__block_end(l, &small);
  py__block_begin(l, &large);
  py__set(l, made, py__host_call(l, "matmul", arg, 2, NULL));
  either->other = py__block_end(l, &large);
  return py__local(l, made);
}

/* ---- dispatch */

static const struct {
  const char *name;
  fold kind;
} folds[] = {{"sum", SUM},   {"prod", PROD},        {"min", LEAST},       {"max", MOST}, {"amin", LEAST},
             {"amax", MOST}, {"argmin", ARG_LEAST}, {"argmax", ARG_MOST}, {"any", ANY},  {"all", ALL}};

static bool fold_named(const char *w, fold *kind) {
  for (size_t k = 0; k < sizeof folds / sizeof *folds; k++)
    if (strcmp(folds[k].name, w) == 0) return *kind = folds[k].kind, true;
  return false;
}

static bool is_one_of(const char *w, const char *const *names) {
  for (; *names; names++)
    if (strcmp(w, *names) == 0) return true;
  return false;
}

typedef struct lane_fold {
  const char *name;
  fold kind;
} lane_fold;

static expr *fold_lane(lower *l, expr *lane, const void *how) {
  const lane_fold *f = how;
  if (strcmp(f->name, "mean") == 0) return mean(l, lane);
  if (strcmp(f->name, "std") == 0 || strcmp(f->name, "var") == 0) return spread(l, lane, f->name[0] == 's');
  return reduce(l, lane, f->kind);
}

/* The axis that a reduction's call names, first behind the array or by keyword; false: none, or None. */
static bool axis_of(lower *l, const expr *a, const char *name, const tt_tree *t, int *axis) {
  if (!t || t->n <= 3) return false;
  const tt_tree *word = tt__tree_is(t->item[3], "kw") ? py__keyword(l, t, "axis") : t->item[3];
  if (!word || t->n != 4) py__fail(l, TT_ENOTIMPL, "%s() with more than the array and an axis", name);
  expr *e = py__value(l, word);
  if (e->type->tag == TT_T_NONE) return false;
  if (e->op != TT_X_CONST || !py__is_scalar(e) || !tt__is_int((tt_dtype)e->type->dtype))
    py__fail(l, TT_ENOTIMPL, "%s() along an axis that is not a constant", name);
  int rank = a->type->rank;
  if (e->i < -rank || e->i >= rank)
    py__fail(l, TT_EVALUE, "axis %lld is out of bounds for array of dimension %d", (long long)e->i, rank);
  *axis = (int)(e->i < 0 ? e->i + rank : e->i);
  return rank > 1; /* a vector's only axis is all of it */
}

static const char *const lane_folds[] = {"mean", "std", "var", NULL};

/* Along the axis that a number says while the program runs. */
static expr *fold_along_any(lower *l, expr *a, const lane_fold *f, expr *axis) {
  int rank = a->type->rank;
  int32_t local = -1;
  a = py__keep(l, py__materialise(l, a));
  axis = py__keep(l, py__cast(l, axis, TT_I64));
  expr *turned = py__elem(l, TT_ADD, axis, py__int(l, rank));
  axis = py__keep(l, py__choose(l, py__elem(l, TT_LT, axis, py__int(l, 0)), turned, axis));
  expr *inside = py__elem(l, TT_LT, py__cast(l, axis, TT_U64), py__cast(l, py__int(l, rank), TT_U64));
  py__raise_unless(l, inside, TT_EVALUE, "the axis is out of bounds");
  if (rank == 1) return fold_lane(l, a, f);
  for (int k = 0; k < rank; k++) {
    block b;
    stmt *s = py__stmt(l, TT_X_IF);
    s->a = py__elem(l, TT_EQ, axis, py__int(l, k));
    py__block_begin(l, &b);
    expr *e = py__along(l, a, k, fold_lane, f);
    if (k == 0) local = py__temp(l, e->type);
    py__set(l, local, e);
    s->body = py__block_end(l, &b);
  }
  return py__local(l, local);
}

/* The axis of a reduction's call that is no constant; NULL: there is none such. */
static expr *variable_axis(lower *l, const tt_tree *t) {
  if (!t || t->n != 4) return NULL;
  const tt_tree *word = tt__tree_is(t->item[3], "kw") ? py__keyword(l, t, "axis") : t->item[3];
  if (!word || (!tt__tree_is(word, "n") && !tt__tree_is(word, "idx"))) return NULL;
  expr *e = py__value(l, word);
  bool whole = py__is_scalar(e) && tt__is_int((tt_dtype)e->type->dtype);
  return whole && e->op != TT_X_CONST ? e : NULL;
}

/* A reduction by name, of all or along an axis; NULL: it is none. */
static expr *reduction(lower *l, expr *a, const char *name, const tt_tree *t) {
  lane_fold f = {.name = name};
  int axis;
  if (!fold_named(name, &f.kind) && !is_one_of(name, lane_folds)) return NULL;
  expr *any = a->type->rank ? variable_axis(l, t) : NULL;
  if (any) return fold_along_any(l, a, &f, any);
  return axis_of(l, a, name, t, &axis) ? py__along(l, a, axis, fold_lane, &f) : fold_lane(l, a, &f);
}

/* Sums or products of all elements so far, in C order. */
static expr *running(lower *l, expr *a, bool sum) {
  tt_dtype d = (tt_dtype)a->type->dtype, t = tt__is_float(d) || tt__is_complex(d) ? d : py__arith(d, d);
  a = py__keep(l, py__materialise(l, a));
  expr *n = py__keep(l, py__attribute(l, a, "size")), *made = py__keep(l, py__allocate(l, t, &n, 1, false));
  int32_t acc = py__temp(l, py__scalar(l, t));
  l->f->func->locals.data[acc].nonneg = false;
  l->f->func->locals.data[acc].limit = 0;
  expr *value, *flat;
  walk w;
  py__set(l, acc, py__cast(l, py__int(l, !sum), t));
  walk_begin(l, &w, a, &value, &flat);
  py__set(l, acc, py__elem(l, sum ? TT_ADD : TT_MUL, py__local(l, acc), py__cast(l, value, t)));
  flat = py__keep(l, flat);
  py__put(l, made, &flat, 1, py__local(l, acc));
  walk_end(l, &w);
  return made;
}

expr *py__array_call(lower *l, const char *name, const tt_tree *t, bool *known) {
  static const char *const makers[] = {"zeros", "ones", "empty", "full", NULL};
  static const char *const likes[] = {"zeros_like", "ones_like", "empty_like", "full_like", NULL};
  static const char *const methods[] = {"mean",      "std",    "var",    "copy",    "ravel", "reshape",
                                        "transpose", "astype", "cumsum", "cumprod", NULL};
  fold kind;
  *known = strncmp(name, "np.", 3) == 0;
  const char *w = name + 3;
  if (!*known) return NULL;
  expr *e = py__whole_call(l, name, t, known);
  if (*known) return e;
  *known = true;
  if (is_one_of(w, makers)) return make(l, w, t);
  if (is_one_of(w, likes)) return make_like(l, w, t);
  if (strcmp(w, "arange") == 0) return arange(l, t);
  if (strcmp(w, "linspace") == 0) return linspace(l, t);
  if (strcmp(w, "array") == 0 || strcmp(w, "asarray") == 0) return literal(l, t);
  if (py__positional(t) == 2 && (strcmp(w, "dot") == 0 || strcmp(w, "matmul") == 0))
    return dot(l, py__value(l, t->item[2]), py__value(l, t->item[3]));
  if (strcmp(w, "norm") == 0 && t->n == 3) {
    expr *a = py__value(l, t->item[2]);
    return py__is_unknown(a) ? a : norm(l, a);
  }
  if (py__positional(t) >= 1 && (fold_named(w, &kind) || is_one_of(w, methods))) {
    expr *a = py__value(l, t->item[2]);
    if (py__is_unknown(a)) return a;
    if (py__is_array(a)) {
      return py__method(l, a, w, t);
    }
    if (py__is_scalar(a) && strcmp(w, "copy") == 0) return a;
  }
  *known = false;
  return NULL;
}

expr *py__shaped(lower *l, expr *a, expr *const *len, int rank) {
  if (a->type->layout != 'C') a = py__method(l, a, "copy", NULL);
  expr *e = py__expr(l, TT_X_RESHAPE, py__array(l, (tt_dtype)a->type->dtype, rank, 'C'), rank + 1);
  e->arg[0] = py__keep(l, a);
  for (int k = 0; k < rank; k++) e->arg[k + 1] = len[k];
  l->f->func->can_fail = true;
  return e;
}

/* A reduction with more than an axis that is known. */
static bool is_of_library(const char *name, const tt_tree *t) {
  fold kind;
  bool folds_all = fold_named(name, &kind) || is_one_of(name, lane_folds);
  if (!folds_all || !t || t->n < 4) return false;
  return t->n > 4 || (tt__tree_is(t->item[3], "kw") && strcmp(t->item[3]->item[1]->text, "axis") != 0);
}

static bool is_whole(const expr *number) {
  tt_dtype d = (tt_dtype)number->type->dtype;
  return d == TT_BOOL || tt__is_int(d);
}

/* Of the number without its sign. */
static expr *bits_set(lower *l, expr *a) {
  bool below = tt__dtypes[a->type->dtype].kind == 'i';
  expr *bits = py__cast(l, below ? py__apply(l, TT_ABS, py__cast(l, a, TT_I64), NULL) : a, TT_U64);
  return py__helper(l, "tt_popc_u64", py__scalar(l, TT_I64), false, &bits, 1);
}

/* `t` is (meth self "name" argument...) or (call "np.name" self argument...): the arguments start at 3 in both. */
expr *py__method(lower *l, expr *self, const char *name, const tt_tree *t) {
  int n = t ? t->n - 3 : 0;
  if (py__is_unknown(self)) return self;
  if (py__is_scalar(self)) {
    if (strcmp(name, "conjugate") == 0 || strcmp(name, "conj") == 0) return py__apply(l, TT_CONJ, self, NULL);
    if (strcmp(name, "item") == 0 || strcmp(name, "copy") == 0 || strcmp(name, "transpose") == 0) return self;
    if (strcmp(name, "bit_count") == 0 && n == 0 && is_whole(self)) return bits_set(l, self);
  }
  if (py__is_meta(self, "grid") && strcmp(name, "sync") == 0) {
    py__stmt(l, TT_X_BARRIER)->k = 2;
    l->p->grid = true;
    return py__nothing(l);
  }
  self = py__listed(l, self);
  if (t && py__is_object(self)) return py__object_method(l, self, name, t);
  if (t && py__is_named_values(self)) return py__named_values_method(l, self, name);
  if (t && py__has_text(self, NULL)) return py__text_method(l, self, name, t);
  if (self->type->tag == TT_T_LIST && t) return py__list_method(l, self, name, t);
  expr *of_tuple = self->type->tag == TT_T_TUPLE ? py__tuple_method(l, self, name, t) : NULL;
  if (of_tuple) return of_tuple;
  if (!py__is_array(self)) py__fail(l, TT_ENOTIMPL, "%s has no method '%s' here", py__type_name(l, self->type), name);
  if (is_of_library(name, t)) return py__host_method(l, self, name, t);
  expr *whole = t && tt__tree_is(t, "meth") ? py__whole_method(l, self, name, t) : NULL;
  if (whole) return whole;
  expr *folded = reduction(l, self, name, t);
  if (folded) return folded;
  if ((strcmp(name, "cumsum") == 0 || strcmp(name, "cumprod") == 0) && n == 0) return running(l, self, name[3] == 's');
  if (strcmp(name, "copy") == 0) return copy_as(l, self, (tt_dtype)self->type->dtype);
  if (strcmp(name, "astype") == 0 && n == 1) return copy_as(l, self, py__dtype_of(l, t->item[3]));
  if (strcmp(name, "dot") == 0 && n == 1) return dot(l, self, py__value(l, t->item[3]));
  if (strcmp(name, "transpose") == 0 && n == 0) return py__attribute(l, self, "T");
  self = py__keep(l, py__materialise(l, self));
  if (strcmp(name, "ravel") == 0 || strcmp(name, "flatten") == 0) {
    expr *len = py__attribute(l, self, "size");
    if (name[0] == 'f') self = copy_as(l, self, (tt_dtype)self->type->dtype);
    return self->type->rank == 1 && name[0] == 'r' ? self : py__shaped(l, self, &len, 1);
  }
  if (strcmp(name, "fill") == 0 && n == 1) {
    expr *v = py__value(l, t->item[3]);
    if (!py__is_unknown(v)) py__fill(l, self, v, NULL, false);
    return py__nothing(l);
  }
  if (strcmp(name, "reshape") == 0 && n >= 1) {
    expr *len[TT_PROGRAM_RANK];
    int rank = n;
    if (n > TT_PROGRAM_RANK) py__fail(l, TT_ENOTIMPL, "arrays of more than %d axes", TT_PROGRAM_RANK);
    if (n == 1) {
      if (!py__read_shape(l, py__value(l, t->item[3]), len, &rank)) return py__missing(l);
    } else {
      for (int k = 0; k < n; k++) {
        expr *e = py__value(l, t->item[k + 3]);
        if (py__is_unknown(e)) return e;
        len[k] = py__keep(l, py__cast(l, e, TT_I64));
      }
    }
    return py__shaped(l, self, len, rank);
  }
  expr *e = py__host_method(l, self, name, t);
  if (!e) py__fail(l, TT_ENOTIMPL, "%s has no method '%s' here", py__type_name(l, self->type), name);
  return e;
}
