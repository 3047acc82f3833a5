/*
** Expressions: operators, comparisons, conditions, with Numba's typing.
*/
#include <string.h>

#include "lang/python/py_int.h"

const char *py__word(lower *l, const tt_tree *t) {
  if (t->tag != TT_TREE_WORD && t->tag != TT_TREE_STRING) py__fail(l, TT_EVALUE, "the program text is malformed");
  return t->text;
}

static _Noreturn void refuse(lower *l, const char *op, const expr *a, const expr *b) {
  if (b) py__fail(l, TT_ETYPE, "no '%s' between %s and %s", op, py__type_name(l, a->type), py__type_name(l, b->type));
  py__fail(l, TT_ETYPE, "no '%s' of %s", op, py__type_name(l, a->type));
}

/* ---- array expressions: kept as trees until something needs their elements */

bool py__is_lazy(const expr *e) { return e->type->tag == TT_T_ARRAY && e->type->layout == 'E'; }

static expr *dummy(lower *l, const expr *e) {
  expr *d = py__expr(l, TT_X_LOCAL, py__is_array(e) ? py__scalar(l, (tt_dtype)e->type->dtype) : e->type, 0);
  d->k = -1;
  return d;
}

static bool has_array(const expr *a, const expr *b) { return py__is_array(a) || (b && py__is_array(b)); }

/* Operators of arrays alone keep whole numbers as narrow as NumPy does; with a number beside it is int64 (Numba). */
static tt_dtype result_dtype(const char *form, tt_dtype found, const expr *a, const expr *b) {
  bool narrow = (*form == 'b' || *form == 'u') && tt__is_int(found) && py__is_array(a) && (!b || py__is_array(b));
  if (!narrow) return found;
  tt_dtype t = (tt_dtype)a->type->dtype;
  if (b) t = tt__promote(t, (tt_dtype)b->type->dtype);
  return tt__is_int(t) ? t : found;
}

/* `form` says who computes an element: 'b' py__binary, 'c' py__compare, 'u' py__unary, 'o' py__apply, 'w' py__where. */
static expr *lazy(lower *l, const char *form, const char *name, tt_op op, const expr *sample, expr *a, expr *b) {
  if (!py__is_array(a) && !py__is_scalar(a)) refuse(l, name, a, b);
  if (b && !py__is_array(b) && !py__is_scalar(b)) refuse(l, name, a, b);
  int ra = py__is_array(a) ? a->type->rank : 0, rb = b && py__is_array(b) ? b->type->rank : 0;
  tt_dtype d = result_dtype(form, (tt_dtype)sample->type->dtype, a, b);
  expr *e = py__expr(l, TT_X_ELEM, py__array(l, d, ra > rb ? ra : rb, 'E'), b ? 2 : 1);
  e->form = form;
  e->name = name;
  e->elem = (uint8_t)op;
  e->arg[0] = a;
  if (b) e->arg[1] = b;
  return e;
}

expr *py__where(lower *l, expr *cond, expr *a, expr *b) {
  static const char *const says[] = {"The argument \"condition\" must be array-like",
                                     "The argument \"x\" must be array-like if provided",
                                     "The argument \"y\" must be array-like if provided"};
  expr *side[] = {cond, a, b};
  int rank = 0;
  for (int k = 0; k < 3; k++) {
    side[k] = py__without_axes(l, py__listed(l, side[k]));
    bool list = side[k]->type->tag == TT_T_LIST && side[k]->type->layout == 'l' && py__is_complete(side[k]->type);
    if (list && side[k]->type->item[0]->tag == TT_T_SCALAR) side[k] = py__list_array(l, side[k], TT_DTYPE_NONE);
    if (k && side[k]->type->tag == TT_T_NONE)
      py__fail(l, TT_ETYPE, "Argument \"x\" or \"y\" cannot be None in np.where()");
    if (py__is_array(side[k])) rank = side[k]->type->rank > rank ? side[k]->type->rank : rank;
    if (!py__is_array(side[k]) && !py__is_scalar(side[k]))
      py__fail(l, TT_ETYPE, "%s: np.where() of %s", says[k], py__type_name(l, side[k]->type));
  }
  a = side[1];
  b = side[2];
  cond = side[0];
  type *t = py__unify(l, py__scalar(l, (tt_dtype)a->type->dtype), py__scalar(l, (tt_dtype)b->type->dtype));
  if (!t || t->tag != TT_T_SCALAR) refuse(l, "where", a, b);
  tt_dtype d = (tt_dtype)t->dtype;
  expr *e = py__expr(l, rank ? TT_X_ELEM : TT_X_SELECT, rank ? py__array(l, d, rank, 'E') : t, 3);
  e->form = "w";
  e->name = "where";
  for (int k = 0; k < 3; k++) e->arg[k] = rank ? side[k] : k ? py__cast(l, side[k], d) : py__truth(l, cond);
  return e;
}

/* ---- operators */

static expr *divide(lower *l, tt_op op, const char *name, expr *a, expr *b) {
  tt_dtype t = py__arith((tt_dtype)a->type->dtype, (tt_dtype)b->type->dtype);
  if (op == TT_DIV && tt__is_int(t)) t = TT_F64;
  if (tt__is_complex(t) && op != TT_DIV) refuse(l, name, a, b);
  bool known = b->op == TT_X_CONST && (tt__is_int((tt_dtype)b->type->dtype) ? b->i != 0 : b->f[0] != 0);
  expr *e = py__elem(l, op, py__cast(l, a, t), py__cast(l, b, t));
  if (e->op != TT_X_ELEM || l->options.numpy_errors || known || tt__is_complex(t)) return e;
  e->op = TT_X_DIVIDE;
  l->f->func->can_fail = true;
  return e;
}

static bool is_whole_constant(const expr *e) { return e->op == TT_X_CONST && tt__is_int((tt_dtype)e->type->dtype); }

/* x to a whole constant power is a product; others go to pow. */
static expr *power(lower *l, expr *a, expr *b) {
  tt_dtype ta = (tt_dtype)a->type->dtype, t = py__arith(ta, (tt_dtype)b->type->dtype);
  bool whole = is_whole_constant(b);
  if (whole && b->i >= 0 && b->i <= 16) {
    if (!tt__is_int(ta) && ta != TT_BOOL) t = ta;
    if (tt__is_int(ta)) t = py__arith(ta, ta);
    expr *x = py__keep(l, py__cast(l, a, t)), *r = NULL;
    for (int64_t n = b->i; n; n >>= 1) {
      if (n & 1) r = r ? py__elem(l, TT_MUL, r, x) : x;
      if (n > 1) x = py__keep(l, py__elem(l, TT_MUL, x, x));
    }
    return r ? r : py__cast(l, py__int(l, 1), t);
  }
  if (whole && b->i == -1 && !tt__is_int(ta)) return py__binary(l, "/", py__int(l, 1), a);
  if (whole && tt__is_int(ta) && b->i < 0) t = TT_F64;
  return py__elem(l, TT_POW, py__cast(l, a, t), py__cast(l, b, t));
}

static expr *bits(lower *l, tt_op op, const char *name, expr *a, expr *b) {
  tt_dtype ta = (tt_dtype)a->type->dtype, tb = (tt_dtype)b->type->dtype, t = py__arith(ta, tb);
  if (ta == TT_BOOL && tb == TT_BOOL) return py__elem(l, op, a, b);
  if (tt__is_int(ta) && tt__is_int(tb) && tt__is_float(tt__promote(ta, tb))) t = TT_U64; /* int64 with uint64 */
  if (!tt__is_int(t)) refuse(l, name, a, b);
  return py__elem(l, op, py__cast(l, a, t), py__cast(l, b, t));
}

static expr *shift(lower *l, tt_op op, const char *name, expr *a, expr *b) {
  tt_dtype ta = (tt_dtype)a->type->dtype, tb = (tt_dtype)b->type->dtype;
  if ((!tt__is_int(ta) && ta != TT_BOOL) || (!tt__is_int(tb) && tb != TT_BOOL)) refuse(l, name, a, b);
  tt_dtype t = tt__is_unsigned(ta) ? TT_U64 : TT_I64;
  return py__elem(l, op, py__cast(l, a, t), py__cast(l, b, t));
}

static expr *join_tuples(lower *l, expr *a, expr *b) {
  type *item[TT_PROGRAM_ARGS];
  int n = a->type->n + b->type->n;
  if (n > TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "tuples of more than %d items", TT_PROGRAM_ARGS);
  a = py__keep(l, a);
  b = py__keep(l, b);
  for (int k = 0; k < n; k++) item[k] = k < a->type->n ? a->type->item[k] : b->type->item[k - a->type->n];
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, n), n);
  for (int k = 0; k < n; k++) e->arg[k] = k < a->type->n ? py__item(l, a, k) : py__item(l, b, k - a->type->n);
  return e;
}

/* Elements of an array are combined with a whole number in their own type, as in NumPy. */
static expr *as_elements(lower *l, const expr *array, expr *e) {
  tt_dtype t = (tt_dtype)array->type->dtype;
  bool weak = py__is_array(array) && py__is_scalar(e) && (tt__is_float(t) || tt__is_complex(t)) &&
              (tt__is_int((tt_dtype)e->type->dtype) || e->type->dtype == TT_BOOL);
  return weak ? py__cast(l, e, t) : e;
}

static expr *array_binary(lower *l, const char *op, expr *a, expr *b) {
  if ((!py__is_array(a) && !py__is_scalar(a)) || (!py__is_array(b) && !py__is_scalar(b))) refuse(l, op, a, b);
  /* The exponent's value decides; nothing is computed for a type. */
  if (strcmp(op, "**") == 0 && is_whole_constant(b)) {
    tt_dtype t = (tt_dtype)a->type->dtype;
    if (tt__is_int(t) || t == TT_BOOL) t = b->i < 0 ? TT_F64 : py__arith(t, t);
    expr *sample = dummy(l, b);
    sample->type = py__scalar(l, t);
    return lazy(l, "b", op, TT_POW, sample, a, b);
  }
  a = as_elements(l, b, a);
  b = as_elements(l, a, b);
  return lazy(l, "b", op, TT_ADD, py__binary(l, op, dummy(l, a), dummy(l, b)), a, b);
}

static bool of_lists(const expr *a, const expr *b) {
  return a->type->tag == TT_T_LIST || b->type->tag == TT_T_LIST || py__is_display(a) || py__is_display(b);
}

expr *py__binary(lower *l, const char *op, expr *a, expr *b) {
  if (py__is_unknown(a) || py__is_unknown(b)) return py__missing(l);
  a = py__present(l, a);
  b = py__present(l, b);
  if (py__has_text(a, b)) {
    expr *e = py__text_binary(l, op, a, b);
    if (!e) refuse(l, op, a, b);
    return e;
  }
  if (of_lists(a, b)) {
    expr *e = py__list_binary(l, op, a, b);
    if (!e) refuse(l, op, a, b);
    return e;
  }
  if (strcmp(op, "+") == 0 && a->type->tag == TT_T_TUPLE && b->type->tag == TT_T_TUPLE) return join_tuples(l, a, b);
  if (has_array(a, b)) return array_binary(l, op, a, b);
  if (!py__is_scalar(a) || !py__is_scalar(b)) refuse(l, op, a, b);
  tt_dtype t = py__arith((tt_dtype)a->type->dtype, (tt_dtype)b->type->dtype);
  if (strcmp(op, "+") == 0) return py__elem(l, TT_ADD, py__cast(l, a, t), py__cast(l, b, t));
  if (strcmp(op, "-") == 0) return py__elem(l, TT_SUB, py__cast(l, a, t), py__cast(l, b, t));
  if (strcmp(op, "*") == 0) return py__elem(l, TT_MUL, py__cast(l, a, t), py__cast(l, b, t));
  if (strcmp(op, "/") == 0) return divide(l, TT_DIV, op, a, b);
  if (strcmp(op, "//") == 0) return divide(l, TT_FLOORDIV, op, a, b);
  if (strcmp(op, "%") == 0) return divide(l, TT_MOD, op, a, b);
  if (strcmp(op, "**") == 0) return power(l, a, b);
  if (strcmp(op, "&") == 0) return bits(l, TT_AND, op, a, b);
  if (strcmp(op, "|") == 0) return bits(l, TT_OR, op, a, b);
  if (strcmp(op, "^") == 0) return bits(l, TT_XOR, op, a, b);
  if (strcmp(op, "<<") == 0) return shift(l, TT_SHL, op, a, b);
  if (strcmp(op, ">>") == 0) return shift(l, TT_SHR, op, a, b);
  py__fail(l, TT_ENOTIMPL, "the operator '%s'", op);
}

/* What narrow numbers without a sign give by - and ~ keeps their width, as NumPy's scalars do. */
static expr *within(lower *l, expr *e, tt_dtype narrow) {
  return tt__is_unsigned(narrow) ? py__cast(l, py__cast(l, e, narrow), TT_U64) : e;
}

expr *py__unary(lower *l, const char *op, expr *a) {
  if (py__is_unknown(a)) return a;
  if (strcmp(op, "not") == 0) {
    expr *t = py__truth(l, a);
    return py__is_unknown(t) ? t : py__elem(l, TT_LNOT, t, NULL);
  }
  if (py__is_array(a)) return lazy(l, "u", op, TT_NEG, py__unary(l, op, dummy(l, a)), a, NULL);
  if (!py__is_scalar(a)) refuse(l, op, a, NULL);
  tt_dtype t = (tt_dtype)a->type->dtype;
  if (strcmp(op, "~") == 0) {
    if (t == TT_BOOL) return py__elem(l, TT_LNOT, a, NULL);
    if (!tt__is_int(t)) refuse(l, op, a, NULL);
    return within(l, py__elem(l, TT_NOT, py__cast(l, a, py__arith(t, t)), NULL), t);
  }
  a = py__cast(l, a, py__arith(t, t));
  return strcmp(op, "-") == 0 ? within(l, py__elem(l, TT_NEG, a, NULL), t) : a;
}

static tt_op compare_op(const char *op) {
  static const struct {
    const char *name;
    tt_op op;
  } rows[] = {{"==", TT_EQ}, {"!=", TT_NE}, {"<", TT_LT}, {"<=", TT_LE}, {">", TT_GT}, {">=", TT_GE}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (strcmp(rows[k].name, op) == 0) return rows[k].op;
  return TT_OP_COUNT;
}

/* Is `value` an item of the list or the tuple, or an element of the array? */
static expr *contains(lower *l, expr *value, expr *in) {
  if (py__is_named_values(in)) return py__named_values_have(l, in, value);
  if (py__has_text(in, NULL)) return py__text_contains(l, in, value);
  if (in->type->tag == TT_T_LIST) value = py__text(l, value);
  if (in->type->tag == TT_T_LIST) return py__list_contains(l, in, value);
  if (py__is_array(in) && py__is_scalar(value)) return py__method(l, py__compare(l, "==", in, value), "any", NULL);
  if (in->type->tag != TT_T_TUPLE) refuse(l, "in", value, in);
  in = py__keep(l, in);
  value = py__keep(l, value);
  expr *any = py__bool(l, false);
  for (int k = 0; k < in->type->n; k++) {
    expr *same = py__compare(l, "==", py__item(l, in, k), value);
    if (!py__is_scalar(same)) refuse(l, "in", value, in);
    any = py__elem(l, TT_OR, any, same);
  }
  return any;
}

/* Are two lists, arrays or truths the same one? */
static expr *same_object(lower *l, const char *name, expr *a, expr *b, bool is) {
  expr *same = NULL;
  bool truths = py__is_scalar(a) && py__is_scalar(b) && a->type->dtype == TT_BOOL && b->type->dtype == TT_BOOL;
  if (truths) same = py__elem(l, TT_EQ, a, b);
  if (a->type->tag == TT_T_LIST && a->type == b->type && !py__is_text(a)) {
    expr *at[2] = {py__keep(l, a), py__keep(l, b)};
    for (int k = 0; k < 2; k++) at[k] = py__helper(l, "tt_word_text", py__scalar(l, TT_I64), false, &at[k], 1);
    same = py__elem(l, TT_EQ, at[0], at[1]);
  }
  if (py__is_array(a) && a->type == b->type) { /* the same memory in the same shape */
    expr *at[2] = {py__keep(l, py__materialise(l, a)), py__keep(l, py__materialise(l, b))};
    same = py__helper(l, "tt_same_place", py__scalar(l, TT_BOOL), false, at, 2);
    for (int k = 0; k < a->type->rank; k++)
      same = py__elem(l, TT_AND, same, py__elem(l, TT_EQ, py__len(l, at[0], k), py__len(l, at[1], k)));
  }
  if (!same) refuse(l, name, a, b);
  return is ? same : py__elem(l, TT_LNOT, same, NULL);
}

/* Tuples by the first items that differ, else by their lengths. */
static expr *tuple_order(lower *l, const char *op, expr *a, expr *b) {
  int na = a->type->n, nb = b->type->n, n = na < nb ? na : nb;
  a = py__keep(l, a), b = py__keep(l, b);
  bool ends = op[0] == '<' ? na < nb || (na == nb && op[1]) : na > nb || (na == nb && op[1]);
  expr *answer = py__bool(l, ends);
  for (int k = n - 1; k >= 0; k--) {
    expr *x = py__item(l, a, k), *y = py__item(l, b, k), *differ = py__truth(l, py__compare(l, "!=", x, y));
    answer = py__choose(l, py__keep(l, differ), py__keep(l, py__truth(l, py__compare(l, op, x, y))), answer);
  }
  return answer;
}

expr *py__compare(lower *l, const char *name, expr *a, expr *b) {
  if (py__is_unknown(a) || py__is_unknown(b)) return py__missing(l);
  bool is = strcmp(name, "is") == 0, is_not = strcmp(name, "is not") == 0;
  if (py__is_optional(a) || py__is_optional(b)) {
    bool none = a->type->tag == TT_T_NONE || b->type->tag == TT_T_NONE, same = strcmp(name, "==") == 0;
    if (is || is_not) {
      if (!none) refuse(l, name, a, b);
      expr *there = py__is_there(l, py__is_optional(a) ? a : b);
      return is ? py__elem(l, TT_LNOT, there, NULL) : there;
    }
    if (same) return py__optional_equal(l, a, b);
    if (strcmp(name, "!=") == 0) return py__elem(l, TT_LNOT, py__optional_equal(l, a, b), NULL);
    a = py__present(l, a);
    b = py__present(l, b);
  }
  if (is || is_not) {
    if (a->type->tag != TT_T_NONE && b->type->tag != TT_T_NONE) return same_object(l, name, a, b, is);
    return py__bool(l, (a->type->tag == b->type->tag) == is);
  }
  if (strcmp(name, "in") == 0) return contains(l, a, b);
  if (strcmp(name, "not in") == 0) return py__unary(l, "not", contains(l, a, b));
  tt_op op = compare_op(name);
  if (op == TT_OP_COUNT) refuse(l, name, a, b);
  if (a->type->tag == TT_T_NONE || b->type->tag == TT_T_NONE)
    return py__bool(l, (a->type->tag == b->type->tag) == (op == TT_EQ));
  if (py__has_text(a, b)) {
    expr *e = py__text_compare(l, op, a, b);
    if (!e) refuse(l, name, a, b);
    return e;
  }
  if ((a->type->tag == TT_T_LIST || b->type->tag == TT_T_LIST) && (op == TT_EQ || op == TT_NE)) {
    expr *same = py__list_equal(l, a, b);
    return op == TT_EQ ? same : py__elem(l, TT_LNOT, same, NULL);
  }
  bool lists = a->type->tag == TT_T_LIST && b->type->tag == TT_T_LIST && strchr("lt", a->type->layout) &&
               a->type->layout == b->type->layout;
  if (lists && op != TT_EQ && op != TT_NE) return py__list_order(l, name, a, b);
  if (a->type->tag == TT_T_TUPLE && b->type->tag == TT_T_TUPLE && op != TT_EQ && op != TT_NE)
    return tuple_order(l, name, a, b);
  if (a->type->tag == TT_T_TUPLE && b->type->tag == TT_T_TUPLE && (op == TT_EQ || op == TT_NE)) {
    bool same_kind = py__same_names(a->type, b->type) || !(py__holds_literal(a->type) || py__holds_literal(b->type));
    expr *all = py__bool(l, same_kind && a->type->n == b->type->n);
    for (int k = 0; same_kind && a->type->n == b->type->n && k < a->type->n; k++)
      all = py__elem(l, TT_AND, all, py__compare(l, "==", py__item(l, a, k), py__item(l, b, k)));
    return op == TT_EQ ? all : py__elem(l, TT_LNOT, all, NULL);
  }
  if (has_array(a, b)) return lazy(l, "c", name, op, py__compare(l, name, dummy(l, a), dummy(l, b)), a, b);
  if (!py__is_scalar(a) || !py__is_scalar(b)) refuse(l, name, a, b);
  tt_dtype ta = (tt_dtype)a->type->dtype, tb = (tt_dtype)b->type->dtype, t = py__arith(ta, tb);
  if (ta == TT_BOOL && tb == TT_BOOL) t = TT_BOOL;
  if (tt__is_float(tt__promote(ta, tb))) t = tt__promote(ta, tb); /* also of uint64 and a sign: neither would wrap */
  if (tt__is_complex(t) && op != TT_EQ && op != TT_NE) refuse(l, name, a, b);
  return py__elem(l, op, py__cast(l, a, t), py__cast(l, b, t));
}

/* ---- rows of ops.def, called by name */

/* What stands for an element of an operation's result. */
static expr *sample_of(lower *l, tt_op op, const expr *a, const expr *b) {
  expr *x = dummy(l, a), *y = b ? dummy(l, b) : NULL;
  if (!y || !py__is_scalar(x) || !py__is_scalar(y)) return py__apply(l, op, x, y);
  tt_dtype t = tt__promote((tt_dtype)x->type->dtype, (tt_dtype)y->type->dtype);
  if (!tt__is_complex(t) || !py__orders_complex(op)) return py__apply(l, op, x, y);
  x->type =
      py__scalar(l, tt__ops[op].cls == TT_CLASS_COMPARE ? TT_BOOL : t); /* several statements, for real elements */
  return x;
}

expr *py__apply(lower *l, tt_op op, expr *a, expr *b) {
  a = py__present(l, a);
  b = b ? py__present(l, b) : NULL;
  const tt_op_info *info = &tt__ops[op];
  if (py__is_unknown(a) || (b && py__is_unknown(b))) return py__missing(l);
  if (has_array(a, b)) return lazy(l, "o", info->numpy, op, sample_of(l, op, a, b), a, b);
  if (!py__is_scalar(a) || (b && !py__is_scalar(b))) refuse(l, info->numpy, a, b);
  tt_dtype t = (tt_dtype)a->type->dtype;
  if (b) t = tt__promote(t, (tt_dtype)b->type->dtype);
  switch (info->cls) {
    case TT_CLASS_FLOAT:
    case TT_CLASS_SPECIAL:
    case TT_CLASS_DIVIDE:
      if (tt__is_int(t) || t == TT_BOOL) t = TT_F64;
      break;
    case TT_CLASS_LOGIC:
      return py__elem(l, op, py__truth(l, a), b ? py__truth(l, b) : NULL);
    case TT_CLASS_TEST:
      if (tt__is_int(t) || t == TT_BOOL) t = TT_F64;
      break;
    case TT_CLASS_ROUND:
    case TT_CLASS_PART:
      if (!tt__is_complex(t) && (info->cls == TT_CLASS_PART || !tt__is_float(t)))
        return op == TT_IMAG ? py__cast(l, py__int(l, 0), t) : a;
      break;
    case TT_CLASS_SHIFT:
    case TT_CLASS_BITS:
      if (!tt__is_int(t) && t != TT_BOOL) refuse(l, info->numpy, a, b);
      break;
    default:
      if (t == TT_BOOL && !(info->types & TT_OPT_B)) t = TT_I64;
      break;
  }
  if (t == TT_F16 || t == TT_BF16) t = TT_F32;
  if (op == TT_CONJ && !tt__is_complex(t)) return a;
  if (b && tt__is_complex(t) && py__orders_complex(op))
    return py__complex_ordered(l, op, py__cast(l, a, t), py__cast(l, b, t));
  return py__elem(l, op, py__cast(l, a, t), b ? py__cast(l, b, t) : NULL);
}

/* ---- what is computed only when needed */

/* Evaluate a tree whose hidden statements must not run by themselves. */
static expr *guarded(lower *l, const tt_tree *t, block *b, stmt **hidden) {
  py__block_begin(l, b);
  expr *e = py__expression(l, t);
  *hidden = py__block_end(l, b);
  return e;
}

static void append(lower *l, stmt *list) {
  if (!list) return;
  *l->f->tail = list;
  while (list->next) list = list->next;
  l->f->tail = &list->next;
}

/* SELECT, or an IF around what the two sides need. */
static expr *choose(lower *l, expr *cond, expr *a, stmt *before_a, expr *b, stmt *before_b) {
  if (py__is_unknown(a) && py__is_unknown(b)) return a;
  a = py__text(l, a), b = py__text(l, b);
  type *t = py__unify(l, a->type, b->type);
  if (!t) refuse(l, "if else", a, b);
  bool optional = py__may_be_none(a->type, b->type);
  if (!optional && !before_a && !before_b && !py__is_unknown(a) && !py__is_unknown(b)) {
    expr *e = py__expr(l, TT_X_SELECT, t, 3);
    e->arg[0] = cond;
    e->arg[1] = py__convert(l, a, t);
    e->arg[2] = py__convert(l, b, t);
    e->nonneg = a->nonneg && b->nonneg;
    if (py__is_scalar(e) && tt__is_int((tt_dtype)t->dtype)) e->limit = py__higher(e->arg[1], e->arg[2]);
    return e;
  }
  int32_t local = py__temp(l, t);
  stmt *s = py__stmt(l, TT_X_IF);
  block inner;
  s->a = cond;
  py__block_begin(l, &inner);
  append(l, before_a);
  py__set(l, local, a);
  s->body = py__block_end(l, &inner);
  py__block_begin(l, &inner);
  append(l, before_b);
  py__set(l, local, b);
  s->other = py__block_end(l, &inner);
  return py__local(l, local);
}

static expr *also_or_else(lower *l, const tt_tree *t, bool also) {
  expr *a = py__expression(l, py__at(l, t, 1));
  for (int k = 2; k < t->n; k++) {
    block inner;
    stmt *hidden;
    expr *b = guarded(l, t->item[k], &inner, &hidden);
    if (py__is_unknown(a) || py__is_unknown(b)) {
      a = py__missing(l);
      continue;
    }
    bool plain = a->type->tag == TT_T_SCALAR && a->type->dtype == TT_BOOL && py__is_scalar(b) &&
                 b->type->dtype == TT_BOOL && !hidden;
    if (plain) {
      expr *e = py__expr(l, also ? TT_X_ALSO : TT_X_ELSE, a->type, 2);
      e->arg[0] = a;
      e->arg[1] = b;
      a = e;
    } else {
      a = py__keep(l, a);
      a = also ? choose(l, py__truth(l, a), b, hidden, a, NULL)
               : choose(l, py__truth(l, a), py__if_there(l, a), NULL, b, hidden);
    }
  }
  return a;
}

static expr *ternary(lower *l, const tt_tree *t) {
  block inner;
  stmt *before_a, *before_b;
  expr *cond = py__truth(l, py__expression(l, py__at(l, t, 1)));
  if (cond->op == TT_X_CONST && !py__is_unknown(cond)) return py__expression(l, py__at(l, t, cond->i ? 2 : 3));
  expr *a = guarded(l, py__at(l, t, 2), &inner, &before_a), *b = guarded(l, py__at(l, t, 3), &inner, &before_b);
  return choose(l, cond, a, before_a, b, before_b);
}

/* ---- dispatch */

static expr *tuple(lower *l, const tt_tree *t) {
  type *item[TT_PROGRAM_ARGS];
  int n = t->n - 1;
  if (n > TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "tuples of more than %d items", TT_PROGRAM_ARGS);
  expr *e = py__expr(l, TT_X_TUPLE, py__none(l), n);
  bool missing = false;
  for (int k = 0; k < n; k++) {
    e->arg[k] = py__ahead(l, t->item[k + 1], (const tt_tree *const *)&t->item[k + 2], n - 1 - k);
    e->arg[k] = py__text(l, py__materialise(l, e->arg[k]));
    item[k] = e->arg[k]->type;
    missing |= py__is_unknown(e->arg[k]);
  }
  if (missing) return py__missing(l);
  e->type = py__tuple(l, item, n);
  return e;
}

static expr *complex_constant(lower *l, const tt_tree *t) {
  expr *e = py__expr(l, TT_X_CONST, py__scalar(l, TT_C128), 0);
  e->f[0] = py__at(l, t, 1)->f;
  e->f[1] = py__at(l, t, 2)->f;
  return e;
}

static expr *name(lower *l, const char *word) {
  int k = py__local_named(l, word, false);
  if (k < 0) {
    if (l->f->final) py__fail(l, TT_EVALUE, "'%s' is read before anything is assigned to it", word);
    return py__missing(l);
  }
  expr *e = py__local(l, k);
  bool open = l->f->open < l->f->deep; /* it hangs on a function that is being typed, and is typed again */
  if (py__is_unknown(e) && l->f->final && !open) py__fail(l, TT_ETYPE, "the type of '%s' cannot be told", word);
  return e;
}

/* [a, b]: a tuple as long as nobody needs a list. */
static expr *display(lower *l, const tt_tree *t) {
  expr *e = tuple(l, t);
  if (!py__is_unknown(e)) e->form = "list";
  return e;
}

/* (named "meta" item ...) */
static expr *named_tuple(lower *l, const tt_tree *t) {
  const tt_tree rest = {.tag = TT_TREE_LIST, .n = t->n - 1, .item = t->item + 1};
  expr *e = py__listed(l, tuple(l, &rest));
  if (!py__is_unknown(e)) e->type = py__named(l, e->type->item, e->type->n, py__word(l, py__at(l, t, 1)));
  return e;
}

/* (comp "name" (statement ...)): statements that make a list of that name */
static expr *comprehension(lower *l, const tt_tree *t) {
  int32_t line = l->f->line;
  py__statements(l, py__at(l, t, 2), 0);
  l->f->line = line;
  return name(l, py__word(l, py__at(l, t, 1)));
}

static expr *global(lower *l, int64_t k) {
  if (k < 0 || k >= l->p->globals.n) py__fail(l, TT_EVALUE, "the program text is malformed");
  expr *e = py__expr(l, TT_X_GLOBAL, l->p->globals.data[k], 0);
  e->k = (int32_t)k;
  return e;
}

expr *py__expression(lower *l, const tt_tree *t) {
  if (t->tag != TT_TREE_LIST || t->n == 0) py__fail(l, TT_EVALUE, "the program text is malformed");
  const char *w = py__word(l, t->item[0]);
  if (strcmp(w, "n") == 0) return name(l, py__variable(l, t));
  if (strcmp(w, "i") == 0) {
    expr *e = py__int(l, py__at(l, t, 1)->i);
    if (t->item[1]->big) e->type = py__scalar(l, TT_U64), e->nonneg = true, e->limit = 0;
    return e;
  }
  if (strcmp(w, "f") == 0) return py__float(l, py__at(l, t, 1)->f);
  if (strcmp(w, "z") == 0) return complex_constant(l, t);
  if (strcmp(w, "b") == 0) return py__bool(l, py__at(l, t, 1)->i != 0);
  if (strcmp(w, "none") == 0) return py__nothing(l);
  if (strcmp(w, "s") == 0) {
    expr *e = py__meta(l, "str", py__word(l, py__at(l, t, 1)));
    e->op = TT_X_STRING;
    return e;
  }
  if (strcmp(w, "type") == 0) return py__meta(l, "dtype", py__word(l, py__at(l, t, 1)));
  if (strcmp(w, "kept") == 0) return py__kept(l, t);
  if (strcmp(w, "g") == 0) return global(l, py__at(l, t, 1)->i);
  if (strcmp(w, "bin") == 0) {
    const tt_tree *second = py__at(l, t, 3);
    expr *a = py__present(l, py__ahead(l, py__at(l, t, 2), &second, 1)), *b = py__value(l, second);
    return py__binary(l, py__word(l, t->item[1]), a, b);
  }
  if (strcmp(w, "un") == 0) {
    expr *a = py__expression(l, py__at(l, t, 2));
    const char *op = py__word(l, py__at(l, t, 1));
    return py__unary(l, op, strcmp(op, "not") == 0 ? a : py__present(l, a));
  }
  if (strcmp(w, "cmp") == 0) {
    const tt_tree *second = py__at(l, t, 3);
    expr *a = py__ahead(l, py__at(l, t, 2), &second, 1), *b = py__expression(l, second);
    return py__compare(l, py__word(l, t->item[1]), a, b);
  }
  if (strcmp(w, "and") == 0) return also_or_else(l, t, true);
  if (strcmp(w, "or") == 0) return also_or_else(l, t, false);
  if (strcmp(w, "kind") == 0) return py__meta(l, "kind", py__word(l, py__at(l, t, 1)));
  if (strcmp(w, "sel") == 0) return ternary(l, t);
  if (strcmp(w, "tup") == 0) return tuple(l, t);
  if (strcmp(w, "named") == 0) return named_tuple(l, t);
  if (strcmp(w, "new") == 0) return py__new_object(l, t);
  if (strcmp(w, "gu") == 0) return py__generalised(l, t);
  if (strcmp(w, "list") == 0) return display(l, t);
  if (strcmp(w, "dict") == 0 || strcmp(w, "setof") == 0) return py__dict_display(l, t, w[0] == 's');
  if (strcmp(w, "comp") == 0) return comprehension(l, t);
  if (strcmp(w, "idx") == 0) return py__index(l, t);
  if (strcmp(w, "call") == 0) return py__call(l, t);
  if (strcmp(w, "meth") == 0) {
    expr *self = py__value(l, py__at(l, t, 1));
    const tt_tree *whole = py__unstarred(l, t, 3);
    return whole ? py__method(l, self, py__word(l, py__at(l, t, 2)), whole) : py__missing(l);
  }
  if (strcmp(w, "attr") == 0) return py__attribute(l, py__value(l, py__at(l, t, 1)), py__word(l, py__at(l, t, 2)));
  py__fail(l, TT_ENOTIMPL, "'%s' in a compiled function", w);
}

expr *py__value(lower *l, const tt_tree *t) { return py__present(l, py__expression(l, t)); }
