/*
** cuda.fp16: arithmetic of 16-bit floats by name. Operands are rounded to float16 first; each result is computed wider
** and rounded to float16 once.
*/
#include <string.h>

#include "lang/python/py_int.h"

enum { COMPARES = 1, OVER = 2 }; /* OVER: one divided by it */

/* In the names that CUDA has for them. `op` of operators is Python's. */
static const struct {
  const char *name, *op;
  tt_op f;
  int n, how;
} half_rows[] = {
    {"hadd", "+", 0, 2, 0},
    {"hsub", "-", 0, 2, 0},
    {"hmul", "*", 0, 2, 0},
    {"hdiv", "/", 0, 2, 0},
    {"heq", "==", 0, 2, COMPARES},
    {"hne", "!=", 0, 2, COMPARES},
    {"hlt", "<", 0, 2, COMPARES},
    {"hle", "<=", 0, 2, COMPARES},
    {"hgt", ">", 0, 2, COMPARES},
    {"hge", ">=", 0, 2, COMPARES},
    {"hmax", NULL, TT_FMAX, 2, 0},
    {"hmin", NULL, TT_FMIN, 2, 0},
    {"hneg", NULL, TT_NEG, 1, 0},
    {"habs", NULL, TT_ABS, 1, 0},
    {"hsin", NULL, TT_SIN, 1, 0},
    {"hcos", NULL, TT_COS, 1, 0},
    {"hlog", NULL, TT_LOG, 1, 0},
    {"hlog2", NULL, TT_LOG2, 1, 0},
    {"hlog10", NULL, TT_LOG10, 1, 0},
    {"hexp", NULL, TT_EXP, 1, 0},
    {"hexp2", NULL, TT_EXP2, 1, 0},
    {"hexp10", NULL, TT_EXP10, 1, 0},
    {"hsqrt", NULL, TT_SQRT, 1, 0},
    {"hrsqrt", NULL, TT_SQRT, 1, OVER},
    {"hrcp", NULL, TT_RECIPROCAL, 1, 0},
    {"hceil", NULL, TT_CEIL, 1, 0},
    {"hfloor", NULL, TT_FLOOR, 1, 0},
    {"htrunc", NULL, TT_TRUNC, 1, 0},
    {"hrint", NULL, TT_RINT, 1, 0},
    {"hfma", NULL, TT_ADD, 3, 0},
};

/* Exact in 64 bits but for what no rounding to 16 sees: a sum of a product of 22 bits and a number of 11. */
static expr *half_fused(lower *l, expr *const *a) {
  expr *wide[3];
  for (int k = 0; k < 3; k++) wide[k] = py__cast(l, a[k], TT_F64);
  return py__helper(l, "tt_fma_f64", py__scalar(l, TT_F64), false, wide, 3);
}

static expr *half_applied(lower *l, int row, expr *const *a) {
  if (half_rows[row].n == 3) return half_fused(l, a);
  expr *x = py__cast(l, a[0], TT_F32), *y = half_rows[row].n == 2 ? py__cast(l, a[1], TT_F32) : NULL;
  if (half_rows[row].how == COMPARES) return py__compare(l, half_rows[row].op, x, y);
  if (half_rows[row].op) return py__binary(l, half_rows[row].op, x, y);
  expr *e = py__apply(l, half_rows[row].f, x, y);
  return half_rows[row].how == OVER ? py__apply(l, TT_RECIPROCAL, e, NULL) : e;
}

expr *py__half(lower *l, const char *name, const tt_tree *t) {
  int row = 0, rows = (int)(sizeof half_rows / sizeof *half_rows), n = py__positional(t);
  expr *a[3] = {NULL};
  while (row < rows && strcmp(half_rows[row].name, name) != 0) row++;
  if (row == rows) py__fail(l, TT_ENOTIMPL, "cuda.fp16.%s()", name);
  if (n != half_rows[row].n) py__fail(l, TT_ETYPE, "cuda.fp16.%s() does not take %d arguments", name, n);
  for (int k = 0; k < n; k++) {
    a[k] = py__value(l, t->item[2 + k]);
    if (py__is_unknown(a[k])) return a[k];
    if (!py__is_scalar(a[k]) || tt__is_complex((tt_dtype)a[k]->type->dtype))
      py__fail(l, TT_ETYPE, "cuda.fp16.%s() of %s", name, py__type_name(l, a[k]->type));
    a[k] = py__cast(l, a[k], TT_F16);
  }
  expr *e = half_applied(l, row, a);
  return half_rows[row].how == COMPARES ? e : py__cast(l, e, TT_F16);
}
