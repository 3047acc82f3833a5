/*
** NumPy's functions of whole arrays that are no loops of their own: memory read as another type, dense copies, and
** elementwise functions with a place for their results.
*/
#include <string.h>

#include "lang/python/py_int.h"

/* Argument number k of (call "np.name" ...), or of that name; NULL: there is none, or it is None. */
static expr *argument_of(lower *l, const tt_tree *t, int first, int k, const char *name) {
  int n = 0;
  for (int i = first; i < t->n; i++) n += !tt__tree_is(t->item[i], "kw");
  const tt_tree *word = k < n ? t->item[first + k] : NULL;
  for (int i = first; i < t->n && !word; i++)
    if (tt__tree_is(t->item[i], "kw") && strcmp(py__word(l, py__at(l, t->item[i], 1)), name) == 0)
      word = py__at(l, t->item[i], 2);
  expr *e = word ? py__value(l, word) : NULL;
  return e && e->type->tag == TT_T_NONE ? NULL : e;
}

/* The first of what is given whose type is not known yet; NULL: all are. */
static expr *unknown_of(expr *const *given, int n) {
  for (int k = 0; k < n; k++)
    if (given[k] && py__is_unknown(given[k])) return given[k];
  return NULL;
}

/* ---- memory as another type */

/* The memory of a dense array as elements of another type, with these lengths. */
static expr *recast(lower *l, expr *array, tt_dtype d, expr *const *len, int rank, char layout) {
  expr *arg[TT_PROGRAM_RANK + 1] = {array};
  for (int k = 0; k < rank; k++) arg[k + 1] = len[k];
  type *t = tt__ptype_array(l->p, d, rank, layout, array->type->readonly);
  if (!t) py__fail(l, TT_ENOMEM, "out of memory");
  return py__keep(l, py__helper(l, "recast", t, false, arg, rank + 1));
}

static expr *size_as_i64(lower *l, tt_dtype d) { return py__int(l, (int64_t)tt__dtype_size(d)); }

/* array.view(dtype) */
expr *py__viewed(lower *l, expr *a, tt_dtype d) {
  tt_dtype own = (tt_dtype)a->type->dtype;
  int rank = a->type->rank;
  expr *len[TT_PROGRAM_RANK] = {NULL}, *zero = py__int(l, 0);
  if (own == d) return a;
  int64_t from = (int64_t)tt__dtype_size(own), to = (int64_t)tt__dtype_size(d);
  if (rank == 0 && from != to) {
    py__raise_unless(l, py__bool(l, false), TT_EVALUE,
                     "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
    return recast(l, a, d, len, 0, 'C');
  }
  if (rank && a->type->layout != 'C') {
    if (from == to) py__fail(l, TT_ENOTIMPL, "view() of %s: of a dense array", py__type_name(l, a->type));
    py__raise_unless(l, py__bool(l, false), TT_EVALUE,
                     "To change to a dtype of a different size, the last axis must be contiguous");
  }
  for (int k = 0; k < rank; k++) len[k] = py__keep(l, py__len(l, a, k));
  if (rank) {
    expr *bytes = py__keep(l, py__elem(l, TT_MUL, len[rank - 1], py__int(l, from)));
    expr *whole = py__elem(l, TT_EQ, py__elem(l, TT_MOD, bytes, py__int(l, to)), zero);
    if (from < to)
      py__raise_unless(l, whole, TT_EVALUE,
                       "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the "
                       "last axis of the array.");
    if (from > to && from % to)
      py__raise_unless(l, py__bool(l, false), TT_EVALUE,
                       "When changing to a smaller dtype, its size must be a divisor of the size of original dtype");
    len[rank - 1] = py__keep(l, py__elem(l, TT_FLOORDIV, bytes, py__int(l, to)));
  }
  return recast(l, a, d, len, rank, 'C');
}

/* np.frombuffer(buffer, dtype, count, offset) */
static expr *from_buffer(lower *l, const tt_tree *t) {
  expr *a = argument_of(l, t, 2, 0, "buffer"), *kind = argument_of(l, t, 2, 1, "dtype");
  expr *count = argument_of(l, t, 2, 2, "count"), *offset = argument_of(l, t, 2, 3, "offset");
  expr *unknown = unknown_of((expr *[]){a, kind, count, offset}, 4);
  if (unknown) return unknown;
  if (!a || !py__is_array(a))
    py__fail(l, TT_ETYPE, "Argument \"buffer\" must be buffer-like. Got %s", a ? py__type_name(l, a->type) : "none");
  bool word = kind && (py__is_meta(kind, "dtype") || py__is_meta(kind, "str"));
  if (kind && !word && py__is_text(kind))
    py__fail(l, TT_ETYPE, "If np.frombuffer dtype is a string it must be a string constant.");
  tt_dtype d = word ? tt__dtype_named(kind->name) : kind ? TT_DTYPE_NONE : TT_F64;
  if (d == TT_DTYPE_NONE) py__fail(l, TT_ETYPE, "this is no data type");
  a = py__keep(l, py__materialise(l, a));
  if (a->type->layout != 'C') py__fail(l, TT_ENOTIMPL, "np.frombuffer() of what is not dense");
  expr *zero = py__int(l, 0), *item = size_as_i64(l, d);
  expr *bytes = py__elem(l, TT_MUL, py__attribute(l, a, "size"), size_as_i64(l, (tt_dtype)a->type->dtype));
  bytes = py__keep(l, bytes);
  offset = py__keep(l, offset ? py__cast(l, offset, TT_I64) : zero);
  expr *inside = py__elem(l, TT_AND, py__elem(l, TT_GE, offset, zero), py__elem(l, TT_LE, offset, bytes));
  py__raise_unless(l, inside, TT_EVALUE, "offset must be non-negative and no greater than buffer length");
  expr *rest = py__keep(l, py__elem(l, TT_SUB, bytes, offset));
  count = py__keep(l, count ? py__cast(l, count, TT_I64) : py__int(l, -1));
  expr *all = py__keep(l, py__elem(l, TT_LT, count, zero));
  expr *whole = py__elem(l, TT_EQ, py__elem(l, TT_MOD, rest, item), zero);
  py__raise_unless(l, py__elem(l, TT_OR, py__elem(l, TT_LNOT, all, NULL), whole), TT_EVALUE,
                   "buffer size must be a multiple of element size");
  expr *n = py__keep(l, py__choose(l, all, py__elem(l, TT_FLOORDIV, rest, item), count));
  py__raise_unless(l, py__elem(l, TT_LE, n, py__elem(l, TT_FLOORDIV, rest, item)), TT_EVALUE,
                   "buffer is smaller than requested size");
  bool there = offset->op == TT_X_CONST && offset->i == 0;
  expr *flat = recast(l, a, TT_U8, &bytes, 1, 'C');
  if (!there) { /* elements lie where they may */
    expr *part[4] = {flat, offset, py__nothing(l), py__nothing(l)};
    expr *v = py__expr(l, TT_X_VIEW, flat->type, 4);
    v->form = "s";
    memcpy(v->arg, part, sizeof part);
    flat = py__keep(l, v);
  }
  return recast(l, flat, d, &n, 1, there || tt__dtype_size(d) == 1 ? 'C' : 'P');
}

/* ---- a place for results */

/* out = value, or the value where there is no place for it; `wrong`: what is said of another shape. */
static expr *into(lower *l, expr *out, expr *value, const char *wrong) {
  if (!out) return value;
  value = py__keep(l, py__materialise(l, value));
  for (int k = 0; py__is_array(value) && value->type->rank == out->type->rank && k < out->type->rank; k++)
    py__raise_unless(l, py__elem(l, TT_EQ, py__len(l, value, k), py__len(l, out, k)), TT_EVALUE, wrong);
  py__fill(l, out, value, NULL, false);
  return out;
}

/* A bound of clip(): a number, an array or None (NULL). */
static void want_bound(lower *l, const expr *e, const char *name) {
  if (e && !py__is_scalar(e) && !py__is_array(e)) py__fail(l, TT_ETYPE, "The argument \"%s\" must be a number", name);
}

static expr *clip(lower *l, expr *a, expr *low, expr *high, expr *out) {
  expr *unknown = unknown_of((expr *[]){a, low, high, out}, 4);
  if (unknown) return unknown;
  if (!a || (!py__is_array(a) && !py__is_scalar(a))) py__fail(l, TT_ETYPE, "The argument \"a\" must be array-like");
  want_bound(l, low, "a_min");
  want_bound(l, high, "a_max");
  if (out && !py__is_array(out)) py__fail(l, TT_ETYPE, "The argument \"out\" must be an array if it is provided");
  if (out && py__is_array(a) && out->type->rank != a->type->rank)
    py__fail(l, TT_ETYPE,
             "The argument \"out\" must have the same number of dimensions as the argument \"a\": %d and %d",
             out->type->rank, a->type->rank);
  if (!low && !high) py__raise_unless(l, py__bool(l, false), TT_EVALUE, "array_clip: must set either max or min");
  expr *e = a;
  if (low) e = py__apply(l, TT_MAXIMUM, e, low);
  if (high) e = py__apply(l, TT_MINIMUM, e, high);
  return into(l, out, e, "clip: the shape of the 'out' array does not match the shape of the result");
}

/* round() of a number or an array to so many digits; NULL: none are given. */
static expr *rounded_to(lower *l, expr *a, expr *digits, expr *out) {
  static const char wrong[] = "invalid output shape";
  expr *unknown = unknown_of((expr *[]){a, digits, out}, 3);
  if (unknown) return unknown;
  if (!a || (!py__is_array(a) && !py__is_scalar(a))) py__fail(l, TT_ETYPE, "The argument \"a\" must be array-like");
  if (out && !py__is_array(out)) py__fail(l, TT_ETYPE, "The argument \"out\" must be an array if it is provided");
  tt_dtype d = (tt_dtype)a->type->dtype;
  if (!digits && !tt__is_complex(d)) return into(l, out, py__apply(l, TT_RINT, a, NULL), wrong);
  expr *arg[2] = {a, digits ? digits : py__int(l, 0)};
  if (py__is_array(a) || tt__is_complex(d)) return into(l, out, py__host_call(l, "round", arg, 2, NULL), wrong);
  bool whole = tt__is_int(d) || d == TT_BOOL;
  arg[0] = py__cast(l, a, TT_F64);
  arg[1] = py__cast(l, arg[1], TT_I64);
  expr *e = py__helper(l, "tt_round_f64", arg[0]->type, false, arg, 2);
  return into(l, out, py__cast(l, e, whole ? (d == TT_BOOL ? TT_I64 : d) : d), wrong);
}

/* ---- by name */

/* A dense copy where the array is not known to be dense. */
static expr *dense(lower *l, const tt_tree *t) {
  expr *a = argument_of(l, t, 2, 0, "a");
  if (!a || py__is_unknown(a)) return a ? a : py__missing(l);
  if (py__is_scalar(a)) {
    expr *n = py__int(l, 1), *made = py__keep(l, py__allocate(l, (tt_dtype)a->type->dtype, &n, 1, false)),
         *zero = py__int(l, 0);
    return py__put(l, made, &zero, 1, a), made;
  }
  if (!py__is_array(a))
    py__fail(l, TT_ETYPE, "The argument \"a\" must be array-like: np.ascontiguousarray() of %s",
             py__type_name(l, a->type));
  return a->type->layout == 'C' ? a : py__method(l, a, "copy", NULL);
}

/* Does an array lie in Fortran's order, the first axis without gaps and each next one around it? */
static expr *lies_in_fortran(lower *l, expr *a) {
  expr *good = py__bool(l, true), *want = py__int(l, 1);
  for (int k = 0; k < a->type->rank; k++) {
    expr *step = py__expr(l, TT_X_STEP, py__scalar(l, TT_I64), 1), *len = py__len(l, a, k);
    step->arg[0] = a;
    step->k = k;
    expr *single = py__elem(l, TT_EQ, len, py__int(l, 1));
    good = py__elem(l, TT_AND, good, py__elem(l, TT_OR, single, py__elem(l, TT_EQ, step, want)));
    want = py__elem(l, TT_MUL, want, len);
  }
  return py__keep(l, good);
}

static expr *fortran_copy(lower *l, expr *a) {
  return py__attribute(l, py__keep(l, py__method(l, py__attribute(l, a, "T"), "copy", NULL)), "T");
}

/* Fortran's order: the array itself where it lies so, else a dense copy of the axes turned round, turned back. */
static expr *fortran(lower *l, const tt_tree *t) {
  expr *a = argument_of(l, t, 2, 0, "a");
  if (!a || py__is_unknown(a)) return a ? a : py__missing(l);
  if (!py__is_array(a) || a->type->rank < 2) return dense(l, t);
  a = py__keep(l, py__materialise(l, a));
  if (a->type->readonly || a->type->layout == 'P') return fortran_copy(l, a);
  int32_t local = py__temp(l, py__array(l, (tt_dtype)a->type->dtype, a->type->rank, 'A'));
  block b;
  py__set(l, local, a);
  expr *lies = lies_in_fortran(l, a);
  stmt *s = py__stmt(l, TT_X_IF);
  s->a = py__elem(l, TT_LNOT, lies, NULL);
  py__block_begin(l, &b);
  py__set(l, local, fortran_copy(l, a));
  s->body = py__block_end(l, &b);
  return py__local(l, local);
}

expr *py__whole_call(lower *l, const char *name, const tt_tree *t, bool *known) {
  *known = true;
  if (strcmp(name, "np.frombuffer") == 0) return from_buffer(l, t);
  if (strcmp(name, "np.clip") == 0)
    return clip(l, argument_of(l, t, 2, 0, "a"), argument_of(l, t, 2, 1, "a_min"), argument_of(l, t, 2, 2, "a_max"),
                argument_of(l, t, 2, 3, "out"));
  if (strcmp(name, "np.round") == 0 || strcmp(name, "np.around") == 0)
    return rounded_to(l, argument_of(l, t, 2, 0, "a"), argument_of(l, t, 2, 1, "decimals"),
                      argument_of(l, t, 2, 2, "out"));
  if (strcmp(name, "np.ascontiguousarray") == 0) return dense(l, t);
  if (strcmp(name, "np.asfortranarray") == 0) return fortran(l, t);
  *known = false;
  return NULL;
}

/* Methods of arrays; NULL: none of these. */
expr *py__whole_method(lower *l, expr *self, const char *name, const tt_tree *t) {
  if (strcmp(name, "view") == 0 && t->n == 4)
    return py__viewed(l, py__keep(l, py__materialise(l, self)), py__dtype_of(l, t->item[3]));
  if (strcmp(name, "clip") == 0)
    return clip(l, self, argument_of(l, t, 3, 0, "min"), argument_of(l, t, 3, 1, "max"),
                argument_of(l, t, 3, 2, "out"));
  if (strcmp(name, "round") == 0)
    return rounded_to(l, self, argument_of(l, t, 3, 0, "decimals"), argument_of(l, t, 3, 1, "out"));
  if (strcmp(name, "conj") == 0 || strcmp(name, "conjugate") == 0) return py__apply(l, TT_CONJ, self, NULL);
  if (strcmp(name, "item") != 0 || t->n != 3) return NULL;
  self = py__keep(l, py__materialise(l, self));
  expr *zero[TT_PROGRAM_RANK], *one = py__elem(l, TT_EQ, py__attribute(l, self, "size"), py__int(l, 1));
  py__raise_unless(l, one, TT_EVALUE, "item(): can only convert an array of size 1 to a Python scalar");
  for (int k = 0; k < self->type->rank; k++) zero[k] = py__int(l, 0);
  return py__keep(l, py__load(l, self, zero, self->type->rank));
}
