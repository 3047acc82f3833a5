/*
** Random numbers in compiled functions: the context holds a state for each thread. Arrays of them are loops of draws
** in the order of their elements, as NumPy's.
*/
#include <string.h>

#include "lang/python/py_int.h"

typedef struct draw {
  const char *word; /* without the module */
  bool np;          /* np.random's state is another than random's */
  const tt_tree *tree;
  expr *arg[3]; /* parameters of the distribution; NULL: not given */
} draw;

/* What each distribution takes, before size. */
static const struct {
  const char *name, *param[3];
} laws[] = {{"random", {NULL}},
            {"random_sample", {NULL}},
            {"ranf", {NULL}},
            {"sample", {NULL}},
            {"rand", {NULL}},
            {"randn", {NULL}},
            {"standard_normal", {NULL}},
            {"standard_exponential", {NULL}},
            {"exponential", {"scale", NULL}},
            {"uniform", {"low", "high", NULL}},
            {"normal", {"loc", "scale", NULL}},
            {"gauss", {"mu", "sigma", NULL}},
            {"normalvariate", {"mu", "sigma", NULL}},
            {"randint", {"low", "high", NULL}}};

static int law_of(const char *word) {
  for (int k = 0; k < (int)(sizeof laws / sizeof *laws); k++)
    if (strcmp(laws[k].name, word) == 0) return k;
  return -1;
}

static expr *number(lower *l, const draw *d, expr *e, tt_dtype t) {
  e = py__without_axes(l, e);
  if (!py__is_scalar(e)) py__fail(l, TT_ETYPE, "%s() of %s", d->word, py__type_name(l, e->type));
  return py__keep(l, py__cast(l, e, t));
}

static expr *unit(lower *l, bool np) {
  return py__keep(l, py__helper(l, np ? "tt_random_np_f64" : "tt_random_f64", py__scalar(l, TT_F64), true, NULL, 0));
}

static expr *bell(lower *l, bool np) {
  py__needs(l, TT_SCALAR_MATH);
  return py__keep(l,
                  py__helper(l, np ? "tt_random_np_normal" : "tt_random_normal", py__scalar(l, TT_F64), true, NULL, 0));
}

/* Whole numbers from arg[0] below arg[1], or below arg[0]. */
static expr *whole(lower *l, const draw *d) {
  expr *a[2] = {py__int(l, 0), d->arg[0]};
  if (d->arg[1]) a[0] = d->arg[0], a[1] = d->arg[1];
  return py__keep(l, py__helper(l, d->np ? "tt_random_np_int" : "tt_random_int", py__scalar(l, TT_I64), true, a, 2));
}

/* One number; the parameters are in locals. */
static expr *one(lower *l, const draw *d) {
  const char *w = d->word;
  expr *f1 = py__float(l, 1);
  if (strcmp(w, "randint") == 0) return whole(l, d);
  if (strcmp(w, "uniform") == 0) {
    expr *low = d->arg[0] ? d->arg[0] : py__float(l, 0), *high = d->arg[1] ? d->arg[1] : f1;
    return py__elem(l, TT_ADD, low, py__elem(l, TT_MUL, unit(l, d->np), py__elem(l, TT_SUB, high, low)));
  }
  if (strstr(w, "exponential")) { /* the inverse of the distribution */
    py__needs(l, TT_SCALAR_MATH);
    expr *e = py__elem(l, TT_NEG, py__elem(l, TT_LOG, py__elem(l, TT_SUB, f1, unit(l, d->np)), NULL), NULL);
    return d->arg[0] ? py__elem(l, TT_MUL, e, d->arg[0]) : e;
  }
  bool normal = strstr(w, "norm") || strcmp(w, "gauss") == 0 || strcmp(w, "randn") == 0;
  if (!normal) return unit(l, d->np);
  expr *z = bell(l, d->np);
  if (d->arg[1]) z = py__elem(l, TT_MUL, z, d->arg[1]);
  return d->arg[0] ? py__elem(l, TT_ADD, d->arg[0], z) : z;
}

/* An array of them: a vector of all, in the shape that is asked for. */
static expr *many(lower *l, const draw *d, expr *const *len, int rank) {
  expr *n = py__int(l, 1), *at;
  for (int k = 0; k < rank; k++) {
    py__raise_unless(l, py__elem(l, TT_GE, len[k], py__int(l, 0)), TT_EVALUE, "negative dimensions are not allowed");
    n = k ? py__elem(l, TT_MUL, n, len[k]) : len[k];
  }
  n = py__keep(l, n);
  tt_dtype t = strcmp(d->word, "randint") == 0 ? TT_I64 : TT_F64;
  expr *made = py__keep(l, py__allocate(l, t, &n, 1, false));
  block b;
  stmt *s = py__count_begin(l, n, &b, &at);
  py__put(l, made, &at, 1, one(l, d));
  py__count_end(l, s, &b);
  return rank == 1 ? made : py__shaped(l, made, len, rank);
}

/* The parameters and the size of a call. False: one is not known yet. */
static bool read_draw(lower *l, draw *d, int law, expr **size) {
  const char *const *param = laws[law].param;
  int n = 0;
  *size = NULL;
  for (; param[n]; n++) {
    const tt_tree *word = py__positional(d->tree) > n ? d->tree->item[n + 2] : py__keyword(l, d->tree, param[n]);
    expr *e = word ? py__value(l, word) : NULL;
    if (e && py__is_unknown(e)) return false;
    if (e && e->type->tag == TT_T_NONE) e = NULL;
    bool count = strcmp(d->word, "randint") == 0;
    d->arg[n] = e ? number(l, d, e, count ? TT_I64 : TT_F64) : NULL;
  }
  const tt_tree *word = py__positional(d->tree) > n ? d->tree->item[n + 2] : py__keyword(l, d->tree, "size");
  if (py__positional(d->tree) > n + 1)
    py__fail(l, TT_ETYPE, "%s() takes no %d arguments", d->word, py__positional(d->tree));
  *size = word ? py__value(l, word) : NULL;
  return !*size || !py__is_unknown(*size);
}

/* rand(d0, d1 ...), randn(d0, d1 ...) */
static expr *by_axes(lower *l, const draw *d) {
  expr *len[TT_PROGRAM_RANK];
  int n = py__positional(d->tree);
  if (n > TT_PROGRAM_RANK) py__fail(l, TT_ENOTIMPL, "arrays of more than %d axes", TT_PROGRAM_RANK);
  for (int k = 0; k < n; k++) {
    expr *e = py__value(l, d->tree->item[k + 2]);
    if (py__is_unknown(e)) return e;
    if (!py__is_scalar(e) || !tt__is_int((tt_dtype)e->type->dtype))
      py__fail(l, TT_ETYPE, "%s() of %s", d->word, py__type_name(l, e->type));
    len[k] = py__keep(l, py__cast(l, e, TT_I64));
  }
  return n ? many(l, d, len, n) : one(l, d);
}

/* shuffle(x), permutation(x), choice(x): places by random whole numbers. */
static expr *of_array(lower *l, draw *d) {
  if (py__positional(d->tree) != 1 || d->tree->n != 3)
    py__fail(l, TT_ENOTIMPL, "np.random.%s() with more than one argument", d->word);
  expr *a = py__value(l, d->tree->item[2]), *zero = py__int(l, 0), *i1 = py__int(l, 1), *at;
  if (py__is_unknown(a)) return a;
  d->word = d->word[0] == 'c' ? "choice" : d->word;
  bool choice = d->word[0] == 'c', copies = d->word[0] == 'p';
  if (py__is_scalar(a) && (choice || copies)) { /* of the numbers below it */
    d->arg[0] = number(l, d, a, TT_I64);
    if (choice) return whole(l, d);
    a = py__ramp(l, d->arg[0]);
  }
  if (!py__is_array(a) || a->type->rank != 1)
    py__fail(l, TT_ENOTIMPL, "np.random.%s() of %s", d->word, py__type_name(l, a->type));
  a = copies ? py__keep(l, py__copied(l, py__keep(l, py__materialise(l, a)))) : py__keep(l, py__materialise(l, a));
  expr *n = py__keep(l, py__len(l, a, 0));
  d->arg[0] = n;
  if (choice) {
    py__raise_unless(l, py__elem(l, TT_GT, n, zero), TT_EVALUE, "a cannot be empty unless no samples are taken");
    expr *place = whole(l, d);
    return py__keep(l, py__load(l, a, &place, 1));
  }
  py__wrote(l, a);
  block b; /* from the last element on: each changes places with one before it or itself */
  stmt *s = py__count_begin(l, py__keep(l, py__elem(l, TT_MAXIMUM, py__elem(l, TT_SUB, n, i1), zero)), &b, &at);
  expr *last = py__keep(l, py__elem(l, TT_SUB, py__elem(l, TT_SUB, n, i1), at));
  d->arg[0] = py__keep(l, py__elem(l, TT_ADD, last, i1));
  expr *other = whole(l, d), *x = py__keep(l, py__load(l, a, &last, 1)), *y = py__keep(l, py__load(l, a, &other, 1));
  py__put(l, a, &last, 1, y);
  py__put(l, a, &other, 1, x);
  py__count_end(l, s, &b);
  return copies ? a : py__nothing(l);
}

expr *py__random(lower *l, const char *name, const tt_tree *t, bool *known) {
  draw d = {.np = name[0] == 'n', .tree = t};
  expr *size, *len[TT_PROGRAM_RANK];
  int rank;
  d.word = name + strlen(d.np ? "np.random." : "random.");
  *known = true;
  l->f->func->can_fail = true; /* it takes the context along */
  if (strcmp(d.word, "seed") == 0 && py__positional(t) == 1) {
    expr *e = py__value(l, t->item[2]);
    if (py__is_unknown(e)) return e;
    e = number(l, &d, e, TT_I64);
    return py__helper(l, d.np ? "tt_random_np_seed" : "tt_random_seed", py__scalar(l, TT_I64), true, &e, 1);
  }
  bool axes = d.np && (strcmp(d.word, "rand") == 0 || strcmp(d.word, "randn") == 0);
  if (axes) return by_axes(l, &d);
  bool places = strcmp(d.word, "shuffle") == 0 || strcmp(d.word, "permutation") == 0 || strcmp(d.word, "choice") == 0;
  if (d.np && places) return of_array(l, &d);
  bool ranged = !d.np && strcmp(d.word, "randrange") == 0;
  int law = law_of(ranged ? "randint" : d.word);
  if (law < 0 || (!d.np && strcmp(d.word, "sample") == 0)) return *known = false, NULL;
  if (ranged) d.word = "randint";
  if (!read_draw(l, &d, law, &size)) return py__missing(l);
  bool counts = strcmp(d.word, "randint") == 0;
  if (counts && !d.arg[0]) py__fail(l, TT_ETYPE, "%s() needs a bound", d.word);
  if (counts && !d.np && !ranged && d.arg[1]) d.arg[1] = py__keep(l, py__elem(l, TT_ADD, d.arg[1], py__int(l, 1)));
  if (!size || size->type->tag == TT_T_NONE) return one(l, &d);
  if (!d.np) py__fail(l, TT_ETYPE, "random.%s() takes no size", d.word);
  return py__read_shape(l, size, len, &rank) ? many(l, &d, len, rank) : py__missing(l);
}
