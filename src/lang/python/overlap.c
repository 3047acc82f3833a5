/*
** Arrays that a store would change before they are read: where two may share memory, the program looks while it runs,
** and copies first.
*/
#include "lang/python/py_int.h"

typedef struct extent {
  expr *low, *high; /* addresses: of the first byte and behind the last one */
} extent;

static expr *address(lower *l, expr *a) {
  expr *e = py__expr(l, TT_X_ADDRESS, py__scalar(l, TT_I64), 1);
  e->arg[0] = a;
  return e;
}

static expr *step(lower *l, expr *a, int axis) {
  expr *e = py__expr(l, TT_X_STEP, py__scalar(l, TT_I64), 1);
  e->arg[0] = a;
  e->k = axis;
  return e;
}

static expr *kept(lower *l, tt_op op, expr *a, expr *b) { return py__keep(l, py__elem(l, op, a, b)); }

static extent extent_of(lower *l, expr *a) {
  expr *size = py__int(l, (int64_t)tt__dtype_size((tt_dtype)a->type->dtype)), *at = py__keep(l, address(l, a));
  int rank = a->type->rank;
  if (rank == 0) return (extent){at, kept(l, TT_ADD, at, size)};
  if (a->type->layout == 'C') {
    expr *n = py__len(l, a, 0);
    if (rank > 1) n = kept(l, TT_MUL, n, step(l, a, 0));
    return (extent){at, kept(l, TT_ADD, at, kept(l, TT_MUL, n, size))};
  }
  bool bytes = a->type->layout == 'P';
  expr *low = py__int(l, 0), *high = bytes ? size : py__int(l, 1);
  for (int k = 0; k < rank; k++) {
    expr *last = kept(l, TT_MUL, py__elem(l, TT_SUB, py__len(l, a, k), py__int(l, 1)), step(l, a, k));
    low = kept(l, TT_ADD, low, py__elem(l, TT_MINIMUM, last, py__int(l, 0)));
    high = kept(l, TT_ADD, high, py__elem(l, TT_MAXIMUM, last, py__int(l, 0)));
  }
  if (bytes) return (extent){kept(l, TT_ADD, at, low), kept(l, TT_ADD, at, high)};
  return (extent){kept(l, TT_ADD, at, py__elem(l, TT_MUL, low, size)),
                  kept(l, TT_ADD, at, py__elem(l, TT_MUL, high, size))};
}

/* Each element lies where the other array's is: it is read before it is written. */
static expr *differs(lower *l, expr *a, expr *b) {
  if (a->type->rank != b->type->rank || a->type->dtype != b->type->dtype) return py__bool(l, true);
  if ((a->type->layout == 'P') != (b->type->layout == 'P')) return py__bool(l, true);
  bool dense = a->type->layout == 'C' && b->type->layout == 'C';
  expr *any = kept(l, TT_NE, address(l, a), address(l, b));
  for (int k = 0; k < a->type->rank; k++) {
    any = kept(l, TT_OR, any, py__elem(l, TT_NE, py__len(l, a, k), py__len(l, b, k)));
    if (!dense) any = kept(l, TT_OR, any, py__elem(l, TT_NE, step(l, a, k), step(l, b, k)));
  }
  return any;
}

expr *py__apart(lower *l, expr *view, expr *a) {
  if (a->op == TT_X_LOCAL && view->op == TT_X_LOCAL && a->k == view->k) return a;
  int32_t local = py__temp(l, a->type);
  py__set(l, local, a);
  extent x = extent_of(l, view), y = extent_of(l, a);
  block outer, inner;
  stmt *meet = py__stmt(l, TT_X_IF);
  meet->a = py__elem(l, TT_AND, py__elem(l, TT_LT, x.low, y.high), py__elem(l, TT_LT, y.low, x.high));
  py__block_begin(l, &outer);
  expr *away = differs(l, view, a);
  stmt *copy = py__stmt(l, TT_X_IF);
  copy->a = away;
  py__block_begin(l, &inner);
  py__set(l, local, py__copied(l, a));
  copy->body = py__block_end(l, &inner);
  meet->body = py__block_end(l, &outer);
  return py__local(l, local);
}
