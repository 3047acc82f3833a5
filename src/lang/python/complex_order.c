/*
** Complex numbers in NumPy's order, as its ufuncs compare them: by their real parts, equal ones by their imaginary
** parts; nothing is before or behind what is not a number. Python's own operators refuse them.
*/
#include "lang/python/py_int.h"

static expr *both_hold(lower *l, expr *a, expr *b) { return py__elem(l, TT_LAND, a, b); }
static expr *either_holds(lower *l, expr *a, expr *b) { return py__elem(l, TT_LOR, a, b); }
static expr *part_of(lower *l, tt_op which, expr *a) { return py__keep(l, py__elem(l, which, a, NULL)); }
static expr *is_number(lower *l, expr *part) { return py__elem(l, TT_EQ, part, part); }

/* `op`: LT, LE, GT or GE. */
static expr *ordered(lower *l, tt_op op, expr *a, expr *b) {
  tt_op strict = op == TT_LE ? TT_LT : op == TT_GE ? TT_GT : op;
  expr *ar = part_of(l, TT_REAL, a), *ai = part_of(l, TT_IMAG, a);
  expr *br = part_of(l, TT_REAL, b), *bi = part_of(l, TT_IMAG, b);
  expr *apart = both_hold(l, py__elem(l, strict, ar, br), both_hold(l, is_number(l, ai), is_number(l, bi)));
  expr *same = both_hold(l, py__elem(l, TT_EQ, ar, br), py__elem(l, op, ai, bi));
  return either_holds(l, apart, same);
}

bool py__orders_complex(tt_op op) {
  return op == TT_LT || op == TT_LE || op == TT_GT || op == TT_GE || op == TT_MAXIMUM || op == TT_MINIMUM ||
         op == TT_FMAX || op == TT_FMIN;
}

expr *py__complex_ordered(lower *l, tt_op op, expr *a, expr *b) {
  if (op == TT_LT || op == TT_LE || op == TT_GT || op == TT_GE) return ordered(l, op, a, b);
  bool high = op == TT_MAXIMUM || op == TT_FMAX, skips = op == TT_FMAX || op == TT_FMIN;
  a = py__keep(l, a);
  b = py__keep(l, b);
  expr *asked = skips ? b : a; /* of fmax and fmin the other one is taken where one is missing */
  expr *missing = py__elem(l, TT_NE, asked, asked);
  expr *e = py__expr(l, TT_X_SELECT, a->type, 3);
  e->arg[0] = py__keep(l, either_holds(l, ordered(l, high ? TT_GE : TT_LE, a, b), missing));
  e->arg[1] = a;
  e->arg[2] = b;
  return e;
}
