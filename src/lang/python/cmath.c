/*
** cmath: functions of complex numbers, whatever numbers they are given. Of float32 they are computed in complex64.
*/
#include <string.h>

#include "lang/python/py_int.h"

static bool is_single(const expr *e) { return e->type->dtype == TT_F32 || e->type->dtype == TT_C64; }

static expr *as_complex(lower *l, expr *e) { return py__cast(l, e, is_single(e) ? TT_C64 : TT_C128); }

static expr *part_of(lower *l, tt_op part, expr *z) { return py__elem(l, part, z, NULL); }

static expr *phase_of(lower *l, expr *z) {
  return py__elem(l, TT_ATAN2, part_of(l, TT_IMAG, z), part_of(l, TT_REAL, z));
}

static expr *polar_of(lower *l, expr *z) {
  expr *size = py__elem(l, TT_ABS, z, NULL), *phase = phase_of(l, z);
  type *item[2] = {size->type, phase->type};
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, 2), 2);
  e->arg[0] = size;
  e->arg[1] = phase;
  return e;
}

static expr *rect_of(lower *l, expr *size, expr *phase) {
  bool single = is_single(size) && is_single(phase);
  size = py__keep(l, py__cast(l, size, TT_F64));
  phase = py__keep(l, py__cast(l, phase, TT_F64));
  expr *part[2] = {py__elem(l, TT_MUL, size, py__elem(l, TT_COS, phase, NULL)),
                   py__elem(l, TT_MUL, size, py__elem(l, TT_SIN, phase, NULL))};
  expr *z = py__helper(l, "tt_complex_c128", py__scalar(l, TT_C128), false, part, 2);
  return single ? py__cast(l, z, TT_C64) : z;
}

/* Is a part of it so, or both? */
static expr *parts_are(lower *l, tt_op op, expr *z) {
  expr *re = py__elem(l, op, part_of(l, TT_REAL, z), NULL), *im = py__elem(l, op, part_of(l, TT_IMAG, z), NULL);
  return py__binary(l, op == TT_ISFINITE ? "&" : "|", re, im);
}

expr *py__cmath_call(lower *l, const char *w, expr *const *arg, int n) {
  static const struct {
    const char *name;
    tt_op op;
  } rows[] = {{"exp", TT_EXP},   {"log10", TT_LOG10}, {"sqrt", TT_SQRT},   {"sin", TT_SIN},
              {"cos", TT_COS},   {"tan", TT_TAN},     {"sinh", TT_SINH},   {"cosh", TT_COSH},
              {"tanh", TT_TANH}, {"asin", TT_ASIN},   {"acos", TT_ACOS},   {"atan", TT_ATAN},
              {"log", TT_LOG},   {"asinh", TT_ASINH}, {"acosh", TT_ACOSH}, {"atanh", TT_ATANH}};
  for (int k = 0; k < n; k++)
    if (!py__is_scalar(arg[k])) py__fail(l, TT_ETYPE, "cmath.%s() of %s", w, py__type_name(l, arg[k]->type));
  if (n == 2 && strcmp(w, "rect") == 0) return rect_of(l, arg[0], arg[1]);
  if (n == 2 && strcmp(w, "log") == 0)
    return py__binary(l, "/", py__elem(l, TT_LOG, as_complex(l, arg[0]), NULL),
                      py__elem(l, TT_LOG, as_complex(l, arg[1]), NULL));
  if (n != 1) return NULL;
  expr *z = py__keep(l, as_complex(l, arg[0]));
  if (strcmp(w, "phase") == 0) return phase_of(l, z);
  if (strcmp(w, "polar") == 0) return polar_of(l, z);
  if (strcmp(w, "isfinite") == 0) return parts_are(l, TT_ISFINITE, z);
  if (strcmp(w, "isinf") == 0) return parts_are(l, TT_ISINF, z);
  if (strcmp(w, "isnan") == 0) return parts_are(l, TT_ISNAN, z);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (strcmp(rows[k].name, w) == 0) return py__elem(l, rows[k].op, z, NULL);
  return NULL;
}
