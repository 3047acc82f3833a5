/*
** Calls by name: Python's builtins, math, NumPy's scalar functions. One table row where a row is enough.
*/
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lang/python/py_int.h"

int py__positional(const tt_tree *call) {
  int n = 0;
  for (int k = 2; k < call->n; k++) n += !tt__tree_is(call->item[k], "kw");
  return n;
}

const tt_tree *py__keyword(lower *l, const tt_tree *call, const char *name) {
  for (int k = 2; k < call->n; k++)
    if (tt__tree_is(call->item[k], "kw") && strcmp(py__word(l, py__at(l, call->item[k], 1)), name) == 0)
      return py__at(l, call->item[k], 2);
  return NULL;
}

tt_dtype py__dtype_of(lower *l, const tt_tree *t) {
  expr *e = py__expression(l, t);
  const char *name = py__is_meta(e, "dtype") || py__is_meta(e, "str") ? e->name : NULL;
  tt_dtype d = name ? tt__dtype_named(name) : TT_DTYPE_NONE;
  if (d == TT_DTYPE_NONE && py__is_meta(e, "str"))
    py__fail(l, TT_ETYPE, "Invalid NumPy dtype specified: '%s': this is no data type", e->name);
  if (d == TT_DTYPE_NONE) py__fail(l, TT_ETYPE, "this is no data type");
  return d;
}

/* NumPy's and Python's second names of operations; C names, as math has them, are in ops.def. */
static const struct {
  const char *name;
  tt_op op;
} second_names[] = {{"abs", TT_ABS}, {"mod", TT_MOD}, {"conj", TT_CONJ}, {"gamma", TT_GAMMA}};

static tt_op op_named(const char *name) {
  for (size_t k = 0; k < sizeof second_names / sizeof *second_names; k++)
    if (strcmp(second_names[k].name, name) == 0) return second_names[k].op;
  tt_op op = tt__op_named(name);
  return op < TT_OP_COUNT ? op : tt__op_named_in_c(name);
}

typedef struct call {
  const tt_tree *tree;
  const char *name;
  int n;
  expr *arg[TT_PROGRAM_ARGS];
  bool missing;
} call;

static void want(lower *l, const call *c, int least, int most) {
  if (c->n < least || c->n > most) py__fail(l, TT_ETYPE, "%s() does not take %d arguments", c->name, c->n);
}

/* An argument that is a number; an array without axes counts as one, and stands there as one from here on. */
static expr *scalar(lower *l, call *c, int k) {
  expr *e = py__without_axes(l, c->arg[k]);
  bool text = e->type->tag == TT_T_LIST && e->type->layout == 'w'; /* Python reads numbers out of them */
  if (!py__is_scalar(e)) py__fail(l, text ? TT_ENOTIMPL : TT_ETYPE, "%s() of %s", c->name, py__type_name(l, e->type));
  return c->arg[k] = e;
}

static bool is_whole(const expr *e) { return tt__is_int((tt_dtype)e->type->dtype) || e->type->dtype == TT_BOOL; }

/* ---- builtins */

static expr *extreme(lower *l, call *c, bool low) {
  expr *best = NULL;
  if (c->n == 1 && c->arg[0]->type->tag == TT_T_TUPLE) {
    expr *t = py__keep(l, c->arg[0]);
    c->n = t->type->n;
    for (int k = 0; k < c->n; k++) c->arg[k] = py__item(l, t, k);
  } else if (c->n == 1 && py__is_array(c->arg[0])) {
    return py__method(l, c->arg[0], low ? "min" : "max", NULL);
  } else if (c->n == 1 && c->arg[0]->type->tag == TT_T_LIST) {
    return py__list_fold(l, low ? "min" : "max", c->arg[0]);
  }
  want(l, c, 1, TT_PROGRAM_ARGS);
  tt_dtype t = TT_BOOL;
  for (int k = 0; k < c->n; k++) t = tt__promote(t, (tt_dtype)scalar(l, c, k)->type->dtype);
  if (tt__is_complex(t)) py__fail(l, TT_ETYPE, "%s() of complex numbers", c->name);
  for (int k = 0; k < c->n; k++) {
    expr *e = py__cast(l, c->arg[k], t);
    if (!best) {
      best = e;
    } else if (!tt__is_float(t)) {
      best = py__elem(l, low ? TT_MINIMUM : TT_MAXIMUM, best, e);
    } else { /* Python's: the first stays unless a later one is beyond it */
      best = py__keep(l, best);
      e = py__keep(l, e);
      expr *pick = py__expr(l, TT_X_SELECT, e->type, 3);
      pick->arg[0] = py__elem(l, low ? TT_LT : TT_GT, e, best);
      pick->arg[1] = e;
      pick->arg[2] = best;
      best = pick;
    }
  }
  return best;
}

static expr *rounded(lower *l, call *c) {
  want(l, c, 1, 2);
  expr *x = scalar(l, c, 0);
  if (c->n == 1) return is_whole(x) ? x : py__cast(l, py__elem(l, TT_RINT, x, NULL), TT_I64);
  if (!is_whole(scalar(l, c, 1))) py__fail(l, TT_ETYPE, "round() needs a whole number of digits");
  expr *arg[2] = {py__cast(l, x, TT_F64), py__cast(l, c->arg[1], TT_I64)};
  expr *e = py__helper(l, "tt_round_f64", arg[0]->type, false, arg, 2);
  return py__cast(l, e, is_whole(x) ? TT_F64 : (tt_dtype)x->type->dtype);
}

static expr *pair(lower *l, expr *a, expr *b) {
  type *item[2] = {a->type, b->type};
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, 2), 2);
  e->arg[0] = a;
  e->arg[1] = b;
  return e;
}

static expr *total(lower *l, call *c) {
  want(l, c, 1, 1);
  if (py__is_array(c->arg[0])) return py__method(l, c->arg[0], "sum", NULL);
  if (c->arg[0]->type->tag == TT_T_LIST) return py__list_fold(l, "sum", c->arg[0]);
  if (c->arg[0]->type->tag != TT_T_TUPLE) py__fail(l, TT_ETYPE, "sum() of %s", py__type_name(l, c->arg[0]->type));
  expr *t = py__keep(l, c->arg[0]), *sum = py__int(l, 0);
  for (int k = 0; k < t->type->n; k++) sum = py__binary(l, "+", sum, py__item(l, t, k));
  return sum;
}

static expr *complex_of(lower *l, call *c) {
  want(l, c, 1, 2);
  if (c->n == 1) return py__cast(l, scalar(l, c, 0), TT_C128);
  expr *part[2] = {py__cast(l, scalar(l, c, 0), TT_F64), py__cast(l, scalar(l, c, 1), TT_F64)};
  return py__helper(l, "tt_complex_c128", py__scalar(l, TT_C128), false, part, 2);
}

static expr *builtin(lower *l, call *c, bool *known) {
  const char *w = c->name;
  *known = true;
  if (strcmp(w, "next") == 0 || strcmp(w, "iter") == 0) {
    want(l, c, 1, 1);
    if (!py__is_generator(c->arg[0]))
      py__fail(l, TT_ENOTIMPL, "%s() of %s: of a generator only", w, py__type_name(l, c->arg[0]->type));
    return w[0] == 'n' ? py__next(l, c->arg[0]) : c->arg[0];
  }
  bool folds = strcmp(w, "sum") == 0 || strcmp(w, "min") == 0 || strcmp(w, "max") == 0;
  if (folds && c->n == 1 && py__is_generator(c->arg[0])) c->arg[0] = py__drained(l, c->arg[0]);
  if (strcmp(w, "len") == 0) {
    want(l, c, 1, 1);
    c->arg[0] = py__text(l, c->arg[0]);
    if (py__is_records(c->arg[0])) return py__item(l, py__attribute(l, c->arg[0], "shape"), 0);
    if (c->arg[0]->type->tag == TT_T_TUPLE) return py__int(l, c->arg[0]->type->n);
    if (py__is_dict(c->arg[0]) || py__is_set(c->arg[0])) return py__dict_count(l, py__keep(l, c->arg[0]));
    if (c->arg[0]->type->tag == TT_T_LIST) return py__count_of(l, c->arg[0]);
    if (!py__is_array(c->arg[0])) py__fail(l, TT_ETYPE, "len() of %s", py__type_name(l, c->arg[0]->type));
    return py__len(l, py__keep(l, py__materialise(l, c->arg[0])), 0);
  }
  if (strcmp(w, "int") == 0) {
    if (c->n == 0) return py__int(l, 0);
    want(l, c, 1, 1);
    return py__cast(l, scalar(l, c, 0), c->arg[0]->type->dtype == TT_U64 ? TT_U64 : TT_I64);
  }
  if (strcmp(w, "float") == 0) {
    if (c->n == 0) return py__float(l, 0);
    want(l, c, 1, 1);
    return c->arg[0]->type->dtype == TT_F32 && py__is_scalar(c->arg[0]) ? c->arg[0]
                                                                        : py__cast(l, scalar(l, c, 0), TT_F64);
  }
  if (strcmp(w, "bool") == 0) {
    want(l, c, 1, 1);
    return py__truth(l, c->arg[0]);
  }
  if (strcmp(w, "slice") == 0) return py__new_slice(l, c->arg, c->n);
  if (strcmp(w, "complex") == 0) return complex_of(l, c);
  if (strcmp(w, "abs") == 0) {
    want(l, c, 1, 1);
    return py__apply(l, TT_ABS, c->arg[0], NULL);
  }
  if (strcmp(w, "min") == 0) return extreme(l, c, true);
  if (strcmp(w, "max") == 0) return extreme(l, c, false);
  if (strcmp(w, "round") == 0) return rounded(l, c);
  if (strcmp(w, "sum") == 0) return total(l, c);
  if (strcmp(w, "pow") == 0) {
    want(l, c, 2, 2);
    return py__binary(l, "**", c->arg[0], c->arg[1]);
  }
  if (strcmp(w, "divmod") == 0) {
    want(l, c, 2, 2);
    expr *a = py__keep(l, c->arg[0]), *b = py__keep(l, c->arg[1]);
    return pair(l, py__binary(l, "//", a, b), py__binary(l, "%", a, b));
  }
  return py__text_call(l, w, c->arg, c->n, known);
}

/* ---- math */

static expr *to_float(lower *l, expr *e) { return is_whole(e) ? py__cast(l, e, TT_F64) : e; }

/* frexp and modf take a number apart; ldexp puts it together. */
static expr *parts_of_float(lower *l, call *c, const char *w) {
  bool together = w[0] == 'l', modf = w[0] == 'm';
  want(l, c, together ? 2 : 1, together ? 2 : 1);
  expr *x = py__keep(l, py__cast(l, scalar(l, c, 0), TT_F64));
  if (together) {
    if (!is_whole(scalar(l, c, 1))) py__fail(l, TT_ETYPE, "math.ldexp() needs a whole number as its second argument");
    expr *arg[2] = {x, py__cast(l, c->arg[1], TT_I64)};
    return py__helper(l, "tt_ldexp_f64", x->type, false, arg, 2);
  }
  if (modf) return pair(l, py__helper(l, "tt_modf_part_f64", x->type, false, &x, 1), py__elem(l, TT_TRUNC, x, NULL));
  return pair(l, py__helper(l, "tt_frexp_part_f64", x->type, false, &x, 1),
              py__helper(l, "tt_frexp_exponent_f64", py__scalar(l, TT_I64), false, &x, 1));
}

/* IEEE's remainder, to the nearest multiple; NumPy's function of that name is Python's %. */
static expr *remainder_of(lower *l, call *c) {
  want(l, c, 2, 2);
  expr *x = to_float(l, scalar(l, c, 0)), *y = to_float(l, scalar(l, c, 1));
  tt_dtype t = tt__promote((tt_dtype)x->type->dtype, (tt_dtype)y->type->dtype);
  if (tt__is_complex(t)) py__fail(l, TT_ETYPE, "math.remainder() of complex numbers");
  expr *arg[2] = {py__cast(l, x, TT_F64), py__cast(l, y, TT_F64)};
  return py__cast(l, py__helper(l, "tt_remainder_f64", arg[0]->type, false, arg, 2), t);
}

/* An angle in degrees, or in radians. */
static expr *turned(lower *l, expr *x, bool degrees) {
  double by = degrees ? 57.295779513082320877 : 0.017453292519943295769;
  return py__elem(l, TT_MUL, x, py__cast(l, py__float(l, by), (tt_dtype)x->type->dtype));
}

/* NumPy's names of that, for numbers; of arrays the library does it. */
static bool turns(const char *w, bool *degrees) {
  *degrees = strcmp(w, "degrees") == 0 || strcmp(w, "rad2deg") == 0;
  return *degrees || strcmp(w, "radians") == 0 || strcmp(w, "deg2rad") == 0;
}

static expr *math_call(lower *l, call *c, const char *w, bool *known) {
  *known = true;
  if (strcmp(w, "floor") == 0 || strcmp(w, "ceil") == 0 || strcmp(w, "trunc") == 0) {
    want(l, c, 1, 1);
    expr *x = scalar(l, c, 0);
    tt_op op = w[0] == 'f' ? TT_FLOOR : w[0] == 'c' ? TT_CEIL : TT_TRUNC;
    return is_whole(x) ? py__cast(l, x, TT_I64) : py__cast(l, py__elem(l, op, x, NULL), TT_I64);
  }
  if (strcmp(w, "log") == 0 && c->n == 2)
    return py__binary(l, "/", py__apply(l, TT_LOG, scalar(l, c, 0), NULL), py__apply(l, TT_LOG, scalar(l, c, 1), NULL));
  if (strcmp(w, "degrees") == 0 || strcmp(w, "radians") == 0) {
    want(l, c, 1, 1);
    return turned(l, to_float(l, scalar(l, c, 0)), w[0] == 'd');
  }
  if (strcmp(w, "pow") == 0) {
    want(l, c, 2, 2);
    return py__binary(l, "**", to_float(l, scalar(l, c, 0)), scalar(l, c, 1));
  }
  if (strcmp(w, "frexp") == 0 || strcmp(w, "modf") == 0 || strcmp(w, "ldexp") == 0) return parts_of_float(l, c, w);
  if (strcmp(w, "remainder") == 0) return remainder_of(l, c);
  tt_op op = op_named(w);
  if (op < TT_OP_COUNT && tt__ops[op].arity <= 2 && c->n == tt__ops[op].arity) {
    bool whole = op == TT_GCD || op == TT_LCM; /* all others compute floats, of whole numbers too */
    for (int k = 0; k < c->n; k++) c->arg[k] = whole ? scalar(l, c, k) : to_float(l, scalar(l, c, k));
    return py__apply(l, op, c->arg[0], c->n > 1 ? c->arg[1] : NULL);
  }
  *known = false;
  return NULL;
}

static expr *numpy_call(lower *l, call *c, const char *w, bool *known) {
  bool degrees;
  *known = true;
  if (c->n == 1 && py__is_scalar(c->arg[0]) && turns(w, &degrees) && !tt__is_complex((tt_dtype)c->arg[0]->type->dtype))
    return turned(l, to_float(l, c->arg[0]), degrees);
  if (strcmp(w, "where") == 0 && c->n == 3) return py__where(l, c->arg[0], c->arg[1], c->arg[2]);
  bool asks = strcmp(w, "shape") == 0 || strcmp(w, "ndim") == 0 || strcmp(w, "size") == 0;
  if (asks && c->n == 1 && py__is_array(c->arg[0])) return py__attribute(l, c->arg[0], w);
  if (strcmp(w, "power") == 0 && c->n == 2) return py__binary(l, "**", c->arg[0], c->arg[1]);
  tt_op op = op_named(w);
  if (op < TT_OP_COUNT && tt__ops[op].arity <= 2 && c->n == tt__ops[op].arity)
    return py__apply(l, op, c->arg[0], c->n > 1 ? c->arg[1] : NULL);
  if (op < TT_OP_COUNT && tt__ops[op].arity <= 2 && c->n == tt__ops[op].arity + 1 && py__is_array(c->arg[c->n - 1])) {
    expr *out = c->arg[c->n - 1]; /* f(x, out) */
    py__fill(l, out, py__apply(l, op, c->arg[0], c->n > 2 ? c->arg[1] : NULL), NULL, false);
    return out;
  }
  *known = false;
  return NULL;
}

static bool starts(const char *text, const char *with, const char **rest) {
  size_t n = strlen(with);
  if (strncmp(text, with, n) != 0) return false;
  *rest = text + n;
  return true;
}

static expr *convert_call(lower *l, call *c, const char *w) {
  tt_dtype d = tt__dtype_named(w);
  if (d == TT_DTYPE_NONE) py__fail(l, TT_ETYPE, "'%s' is no data type", w);
  if (c->n == 0) return py__cast(l, py__int(l, 0), d);
  want(l, c, 1, 1);
  if (py__is_array(c->arg[0])) py__fail(l, TT_ENOTIMPL, "%s() of an array: use astype", w);
  expr *e = scalar(l, c, 0);
  return d == TT_BOOL ? py__truth(l, e) : py__cast(l, e, d);
}

/* What a signature says of an argument: "float64", which numbers become, or "float64:2", which arrays must be. */
static expr *given_call(lower *l, call *c, const char *w) {
  char name[16];
  size_t n = strcspn(w, ":");
  if (n >= sizeof name || c->n != 1) py__fail(l, TT_EVALUE, "the program text is malformed");
  expr *e = py__is_array(c->arg[0]) && c->arg[0]->type->rank == 0 ? scalar(l, c, 0) : c->arg[0];
  memcpy(name, w, n);
  name[n] = 0;
  tt_dtype d = tt__dtype_named(name);
  int rank = w[n] ? w[n + 1] - '0' : 0;
  bool fits = rank ? py__is_array(e) && e->type->dtype == (int8_t)d && e->type->rank == rank : py__is_scalar(e);
  if (!fits && rank)
    py__fail(l, TT_ETYPE, "an argument is %s where the signature says array(%s, %dd)", py__type_name(l, e->type), name,
             rank);
  if (!fits) py__fail(l, TT_ETYPE, "an argument is %s where the signature says %s", py__type_name(l, e->type), name);
  return rank ? e : d == TT_BOOL ? py__truth(l, e) : py__cast(l, e, d);
}

static void add_argument(lower *l, call *c, expr *e) {
  if (c->n == TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "more than %d arguments", TT_PROGRAM_ARGS);
  c->missing |= py__is_unknown(e);
  c->arg[c->n++] = e;
}

/* The arguments from number `first` on as one, a tuple. */
static void pack_arguments(lower *l, call *c, int first) {
  type *item[TT_PROGRAM_ARGS];
  if (c->missing || first < 0 || first > c->n) return; /* of too few the call says so */
  for (int k = first; k < c->n; k++) {
    c->arg[k] = py__materialise(l, c->arg[k]);
    item[k - first] = c->arg[k]->type;
  }
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, c->n - first), c->n - first);
  for (int k = first; k < c->n; k++) e->arg[k - first] = c->arg[k];
  c->n = first;
  add_argument(l, c, e);
}

/* The values of the arguments: of (star x) a tuple's items; (rest k) makes a tuple of those so far from number k on. */
static void read_arguments(lower *l, call *c) {
  c->n = 0;
  for (int k = 2; k < c->tree->n; k++) {
    const tt_tree *t = c->tree->item[k];
    if (tt__tree_is(t, "kw")) break;
    bool all = tt__tree_is(t, "star");
    if (tt__tree_is(t, "rest")) {
      pack_arguments(l, c, (int)py__at(l, t, 1)->i);
      continue;
    }
    expr *e =
        py__ahead(l, all ? py__at(l, t, 1) : t, (const tt_tree *const *)&c->tree->item[k + 1], c->tree->n - k - 1);
    if (!all || py__is_unknown(e)) {
      add_argument(l, c, e);
      continue;
    }
    if (e->type->tag != TT_T_TUPLE) py__fail(l, TT_ENOTIMPL, "a call with * of %s", py__type_name(l, e->type));
    e = py__keep(l, e);
    for (int i = 0; i < e->type->n; i++) add_argument(l, c, py__item(l, e, i));
  }
}

/*
** A function that is written anew for each list of argument types: the package's makers are asked by a failure that
** names its number and the types, and what they gave stands in the next text, as (resolved number "types" function).
*/
static expr *overloaded(lower *l, call *c, const char *number) {
  tt_str types = {0};
  for (int k = 0; k < c->n; k++) {
    c->arg[k] = py__keep(l, py__listed(l, py__materialise(l, c->arg[k])));
    if (!py__is_complete(c->arg[k]->type)) return tt__str_free(&types), py__missing(l);
    if (k) tt__str_add(&types, ",");
    tt__ptype_code(c->arg[k]->type, &types);
  }
  char *text = py__alloc(l, types.len + 1);
  memcpy(text, types.data ? types.data : "", types.len + 1);
  tt__str_free(&types);
  for (int k = 0; k < l->module->n; k++) {
    const tt_tree *r = l->module->item[k];
    if (!tt__tree_is(r, "resolved") || r->item[1]->i != atol(number) || strcmp(py__word(l, r->item[2]), text) != 0)
      continue;
    return py__call_user(l, (int32_t)py__at(l, r, 3)->i, c->arg, c->n);
  }
  py__fail(l, TT_ENOTIMPL, "overload %s %s", number, text); /* the binding finds it and comes again */
}

expr *py__call(lower *l, const tt_tree *t) {
  const tt_tree *callee = py__at(l, t, 1);
  call c = {.tree = t, .n = py__positional(t)};
  bool known = false;
  expr *e = NULL;
  const char *w;
  if (callee->tag != TT_TREE_INT) {
    c.name = py__word(l, callee);
    if (starts(c.name, "cuda.", &w)) {
      e = py__cuda(l, c.name, t, &known);
      if (known) return e;
      py__fail(l, TT_ENOTIMPL, "%s in a compiled function", c.name);
    }
    if (strcmp(c.name, "list") == 0 || strcmp(c.name, "sorted") == 0 || starts(c.name, "typed.List", &w))
      return py__list_call(l, c.name, t);
    if (strcmp(c.name, "dict") == 0 || strcmp(c.name, "set") == 0 || starts(c.name, "typed.Dict", &w))
      return py__dict_call(l, c.name, t);
    e = py__array_call(l, c.name, t, &known);
    if (known) return e;
  }
  if (c.name && (starts(c.name, "random.", &w) || starts(c.name, "np.random.", &w))) {
    e = py__random(l, c.name, t, &known);
    if (known) return e;
  }
  bool keywords = t->n - 2 != c.n, of_numpy = starts(c.name ? c.name : "", "np.", &w);
  if (keywords && !of_numpy) py__fail(l, TT_ENOTIMPL, "keyword arguments in this call");
  read_arguments(l, &c);
  bool hands_on = callee->tag == TT_TREE_INT || starts(c.name, "overload:", &w); /* what may be None, too */
  for (int k = 0; k < c.n && !hands_on; k++) c.arg[k] = py__present(l, c.arg[k]);
  if (keywords) return py__host_call(l, c.name + 3, c.arg, c.n, t);
  if (callee->tag == TT_TREE_INT) {
    for (int k = 0; k < c.n; k++) c.arg[k] = py__keep(l, py__listed(l, py__materialise(l, c.arg[k])));
    return py__call_user(l, (int32_t)callee->i, c.arg, c.n);
  }
  if (c.missing) return py__missing(l);
  if (starts(c.name, "overload:", &w)) return overloaded(l, &c, w);
  if (starts(c.name, "cast:", &w)) return convert_call(l, &c, w);
  if (starts(c.name, "given:", &w)) return given_call(l, &c, w);
  if (starts(c.name, "math.", &w))
    e = math_call(l, &c, w, &known);
  else if (starts(c.name, "cmath.", &w))
    known = (e = py__cmath_call(l, w, c.arg, c.n)) != NULL;
  else if (starts(c.name, "np.", &w))
    e = numpy_call(l, &c, w, &known);
  else
    e = builtin(l, &c, &known);
  if (!known && of_numpy) return py__host_call(l, c.name + 3, c.arg, c.n, NULL);
  if (!known) py__fail(l, TT_ENOTIMPL, "%s() with %d arguments in a compiled function", c.name, c.n);
  return e;
}
