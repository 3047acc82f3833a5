/*
** Elementwise functions spelled in ops, and comparisons of whole arrays.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "graph/order.h"
#include "graph/promote.h"
#include "graph/session.h"
#include "graph/tape.h"

static bool is_complex(const tt_array *a) { return tt__is_complex((tt_dtype)a->dtype); }
static bool is_exact(const tt_array *a) { return tt__is_int((tt_dtype)a->dtype) || a->dtype == TT_BOOL; }

/* Integers in the smallest float that NumPy's functions take them in; floats as they are. */
static tt_array *as_float(tt_composer *c, tt_array *a) {
  if (!a || !is_exact(a)) return a;
  size_t size = tt__dtype_size((tt_dtype)a->dtype);
  return tt__compose_cast(c, a, size == 1 ? TT_F16 : size == 2 ? TT_F32 : TT_F64);
}

/* ---- clip, round */

/* A Python int beyond the end of an integer type that it bounds has no effect. */
static bool binds(const tt_value *a, const tt_value *bound, bool low) {
  if (a->tag != TT_V_ARRAY || !is_exact(a->as.array) || a->as.array->dtype == TT_BOOL) return true;
  if ((bound->tag != TT_V_INT && bound->tag != TT_V_UINT) || tt__int_fits(bound, (tt_dtype)a->as.array->dtype))
    return true;
  return low != (bound->tag == TT_V_INT && bound->as.i < 0);
}

/* An argument as dtype= wants it; Python's numbers become that anyway. */
static tt_value bound_in(tt_composer *c, const tt_call_frame *f, int k, tt_dtype type, const char *rule) {
  tt_value v = tt__arg_value(c, f, k);
  bool ok = true;
  if (type == TT_DTYPE_NONE || c->code != TT_OK) return v;
  tt_array *a = tt__value_as_array(c, &v);
  bool typed = v.tag == TT_V_ARRAY || v.tag == TT_V_BOOL || v.tag == TT_V_FLOAT || v.tag == TT_V_COMPLEX;
  if (a && typed && !(v.tag != TT_V_ARRAY && tt__is_float(type)))
    c->code = tt__can_cast((tt_dtype)a->dtype, type, rule, &ok, c->err);
  if (!ok)
    tt__compose_fail(c, TT_ETYPE,
                     "Cannot cast ufunc 'clip' input %d from dtype('%s') to dtype('%s') with casting rule '%s'", k,
                     tt__dtypes[a->dtype].name, tt__dtypes[type].name, rule);
  a = c->code == TT_OK ? tt__compose_cast(c, a, type) : NULL;
  return a ? tt_v_array(a) : v;
}

/* The result in the type of out=, if the rule allows that. */
static tt_array *cast_for_out(tt_composer *c, const tt_call_frame *f, tt_array *a, const char *rule) {
  if (!a || !tt__arg_given(f, 3) || f->arg[3].tag != TT_V_ARRAY) return a;
  tt_dtype to = (tt_dtype)f->arg[3].as.array->dtype;
  bool ok = true;
  c->code = tt__can_cast((tt_dtype)a->dtype, to, rule, &ok, c->err);
  if (!ok)
    tt__compose_fail(c, TT_ETYPE,
                     "Cannot cast ufunc 'clip' output from dtype('%s') to dtype('%s') with casting rule '%s'",
                     tt__dtypes[a->dtype].name, tt__dtypes[to].name, rule);
  return c->code == TT_OK ? tt__compose_cast(c, a, to) : NULL;
}

/* Between arguments lo and hi, either of which may be missing; dtype= and casting= stand from argument `more` on. */
static tt_array *clipped(tt_composer *c, tt_call_frame *f, int lo, int hi, int more) {
  tt_dtype type = tt__arg_dtype(c, f, more, TT_DTYPE_NONE);
  const char *rule = tt__arg_string(c, f, more + 1, "same_kind");
  tt_value a = bound_in(c, f, 0, type, rule);
  tt_array *out = NULL;
  bool below = tt__arg_given(f, lo) && binds(&a, &f->arg[lo], true);
  bool above = tt__arg_given(f, hi) && binds(&a, &f->arg[hi], false);
  if (below) {
    tt_value v[2] = {a, bound_in(c, f, lo, type, rule)};
    out = tt__compose_apply(c, TT_MAXIMUM, v, 2, TT_DTYPE_NONE);
    if (out) a = tt_v_array(out);
  }
  if (above) {
    tt_value v[2] = {a, bound_in(c, f, hi, type, rule)};
    out = tt__compose_apply(c, TT_MINIMUM, v, 2, TT_DTYPE_NONE);
  }
  if (!below && !above) {
    tt_array *all = tt__value_as_array(c, &a), *copy = NULL;
    out = all ? tt__compose_keep(c, tt__copy_as(all, (tt_dtype)all->dtype, 'K', &copy, c->err), &copy) : NULL;
  }
  return tt__arg_out_spread(c, f, 3, cast_for_out(c, f, out, rule));
}

static bool said(const tt_call_frame *f, int k) { return k < f->narg && f->arg[k].tag != TT_V_MISSING; }

/* clip(a, a_min, a_max, out, *, min, max, dtype, casting): both of the first, or some of the others. */
static tt_array *clip(tt_composer *c, tt_call_frame *f) {
  bool old = said(f, 1) || said(f, 2);
  if (old && !(said(f, 1) && said(f, 2)))
    return tt__compose_fail(c, TT_ETYPE, "clip() missing 1 required positional argument: '%s'",
                            said(f, 1) ? "a_max" : "a_min");
  if (old && (said(f, 4) || said(f, 5)))
    return tt__compose_fail(
        c, TT_EVALUE, "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.");
  return old ? clipped(c, f, 1, 2, 6) : clipped(c, f, 4, 5, 6);
}
TT_HANDLER(clip)

static tt_array *clip_method(tt_composer *c, tt_call_frame *f) { return clipped(c, f, 1, 2, 4); }
TT_HANDLER(clip_method)

/* Integers are only touched left of the point: there through float64, ties to even. */
static tt_array *rounded(tt_composer *c, tt_array *a, int64_t decimals) {
  if (!a) return NULL;
  if (a->dtype == TT_BOOL && decimals != 0)
    return tt__compose_fail(
        c, TT_ETYPE,
        "Cannot cast ufunc '%s' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'",
        decimals > 0 ? "multiply" : "divide");
  if (a->dtype == TT_BOOL) return tt__compose_cast(c, a, TT_F16);
  if (is_exact(a) && decimals >= 0) return tt__compose_copy_in(c, a, 'K');
  tt_array *w = is_exact(a) ? tt__compose_cast(c, a, TT_F64) : a;
  if (decimals == 0) return tt__compose_op1(c, TT_RINT, w);
  double by = pow(10, fabs((double)decimals));
  tt_op to = decimals > 0 ? TT_MUL : TT_DIV, back = decimals > 0 ? TT_DIV : TT_MUL;
  w = tt__compose_opf(c, back, tt__compose_op1(c, TT_RINT, tt__compose_opf(c, to, w, by)), by);
  return tt__compose_cast(c, w, (tt_dtype)a->dtype);
}

static tt_array *round_to(tt_composer *c, tt_call_frame *f) {
  int64_t decimals = tt__arg_int(c, f, 1, 0);
  return tt__arg_out(c, f, 2, rounded(c, tt__arg_array(c, f, 0), decimals));
}

/* Parts of complex numbers are rounded in a copy, what is rounded beside the point in an array that NumPy makes in C's
 * or Fortran's order. */
TT_HIDDEN tt_code tt__fn_round_to(tt_call_frame *f, tt_error *err);
tt_code tt__fn_round_to(tt_call_frame *f, tt_error *err) {
  const tt_value *a = &f->arg[0], *at = f->narg > 1 ? &f->arg[1] : NULL;
  bool whole = a->tag == TT_V_ARRAY && is_exact(a->as.array);
  bool beside = at && at->tag == TT_V_INT && (whole ? at->as.i < 0 : at->as.i != 0);
  if (a->tag == TT_V_ARRAY && is_complex(a->as.array)) return tt__fn_run_laid(f, round_to, "round", 'K', err);
  return beside ? tt__fn_run_laid(f, round_to, "round", 'A', err) : tt__fn_run(f, round_to, "round", err);
}

static tt_array *fix(tt_composer *c, tt_call_frame *f) {
  return tt__arg_out_spread(c, f, 1, tt__compose_op1(c, TT_TRUNC, tt__arg_array(c, f, 0)));
}
TT_HANDLER(fix)

/* ---- what is not finite */

static double largest(tt_dtype t) {
  switch (t) {
    case TT_F16:
      return 65504;
    case TT_BF16:
      return 0x1.fep127;
    case TT_F32:
    case TT_C64:
      return FLT_MAX;
    default:
      return DBL_MAX;
  }
}

/* a with a value at some places, as copyto puts it there: of the array's kind and shape. */
static tt_array *put_where(tt_composer *c, tt_array *mask, tt_value v, tt_array *a) {
  if (!mask || !a) return NULL;
  tt_dtype type = (tt_dtype)a->dtype;
  tt_array *x = tt__value_as_array(c, &v);
  if (!x || !tt__compose_may_cast(c, (tt_dtype)x->dtype, v.tag == TT_V_ARRAY ? type : TT_F64, "same_kind")) return NULL;
  if (v.tag == TT_V_ARRAY && !tt__broadcasts_to(x, a)) {
    char from[200], to[200];
    tt__shape_text(x->rank, tt__array_len(x), from, sizeof from);
    tt__shape_text(a->rank, tt__array_len(a), to, sizeof to);
    return tt__compose_fail(c, TT_EVALUE, "could not broadcast input array from shape %s into shape %s", from, to);
  }
  return tt__compose_cast(c, tt__compose_where(c, mask, v, tt_v_array(a)), type);
}

static tt_array *real_to_num(tt_composer *c, const tt_call_frame *f, tt_array *a) {
  if (!a) return NULL;
  double most = largest((tt_dtype)a->dtype);
  tt_value nan = tt__arg_given(f, 2) ? f->arg[2] : tt_v_float(0);
  tt_value high = tt__arg_given(f, 3) ? f->arg[3] : tt_v_float(most),
           low = tt__arg_given(f, 4) ? f->arg[4] : tt_v_float(-most);
  tt_array *out = put_where(c, tt__compose_op1(c, TT_ISNAN, a), nan, a);
  out = put_where(c, tt__compose_opf(c, TT_EQ, a, INFINITY), high, out);
  return put_where(c, tt__compose_opf(c, TT_EQ, a, -INFINITY), low, out);
}

static tt_array *nan_to_num(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *out;
  bool copy = tt__arg_bool(c, f, 1, true);
  if (!a) return NULL;
  if (is_exact(a))
    out = copy ? tt__compose_copy(c, a) : a;
  else if (!is_complex(a))
    out = real_to_num(c, f, a);
  else
    out = tt__compose_complex(c, real_to_num(c, f, tt__compose_op1(c, TT_REAL, a)),
                              real_to_num(c, f, tt__compose_op1(c, TT_IMAG, a)));
  if (copy || !out || out == a) return out;
  return tt__compose_set(c, a, tt_v_array(out)) ? a : NULL;
}
TT_HANDLER_LAID(nan_to_num, 'K')

static tt_array *infinite(tt_composer *c, tt_call_frame *f, double sign) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && is_complex(a))
    return tt__compose_fail(c, TT_ETYPE, "This operation is not supported for %s values because it would be ambiguous.",
                            tt__dtypes[a->dtype].name);
  tt_array *out = a && is_exact(a) ? tt__compose_full(c, TT_BOOL, a->rank, tt__array_len(a), tt_v_int(0))
                                   : tt__compose_opf(c, TT_EQ, a, sign * (double)INFINITY);
  return tt__arg_out_spread(c, f, 1, out);
}

static tt_array *isposinf(tt_composer *c, tt_call_frame *f) { return infinite(c, f, 1); }
static tt_array *isneginf(tt_composer *c, tt_call_frame *f) { return infinite(c, f, -1); }
TT_HANDLER_LAID(isposinf, 'W')
TT_HANDLER_LAID(isneginf, 'W')

/* ---- comparing arrays */

/* A number of Python's, which takes the type of what it meets. */
static bool is_plain(const tt_value *v) {
  return v->tag == TT_V_BOOL || v->tag == TT_V_INT || v->tag == TT_V_UINT || v->tag == TT_V_FLOAT;
}
static double plain(const tt_value *v) {
  return v->tag == TT_V_FLOAT  ? v->as.f
         : v->tag == TT_V_UINT ? (double)v->as.u
         : v->tag == TT_V_INT  ? (double)v->as.i
                               : v->as.b;
}

static tt_value apply(tt_composer *c, tt_op op, tt_value a, tt_value b) {
  if (c->code != TT_OK) return tt_v_array(NULL);
  return tt_v_array(tt__compose_apply(c, op, (tt_value[2]){a, b}, tt__ops[op].arity, TT_DTYPE_NONE));
}

/* The same, but numbers among themselves stay numbers. */
static tt_value meet(tt_composer *c, tt_op op, tt_value a, tt_value b) {
  if (!is_plain(&a) || !is_plain(&b)) return apply(c, op, a, b);
  double x = plain(&a), y = plain(&b);
  return tt_v_float(op == TT_ABS ? fabs(x) : op == TT_MUL ? x * y : op == TT_SUB ? x - y : x + y);
}

static tt_array *is_close(tt_composer *c, tt_call_frame *f) {
  tt_value x = tt__arg_value(c, f, 0), y = tt__arg_value(c, f, 1), met[2] = {y, tt_v_float(1)};
  tt_dtype type = TT_F64;
  if (c->code != TT_OK || (c->code = tt__result_type(met, 2, &type, c->err)) != TT_OK) return NULL;
  if (!is_plain(&x) && x.tag != TT_V_COMPLEX) x = tt_v_array(tt__arg_array(c, f, 0));
  if (is_plain(&y))
    y = tt_v_float(plain(&y));
  else if (y.tag != TT_V_COMPLEX)
    y = tt_v_array(tt__compose_cast(c, tt__arg_array(c, f, 1), type));
  tt_value rtol = tt__arg_given(f, 2) ? f->arg[2] : tt_v_float(1e-5);
  tt_value atol = tt__arg_given(f, 3) ? f->arg[3] : tt_v_float(1e-8);
  if (c->code != TT_OK) return NULL;
  tt_value room = meet(c, TT_ADD, atol, meet(c, TT_MUL, rtol, meet(c, TT_ABS, y, y)));
  tt_value away = meet(c, TT_SUB, x, y);
  tt_value near = apply(c, TT_LE, meet(c, TT_ABS, away, away), room);
  near = apply(c, TT_AND, near, apply(c, TT_ISFINITE, y, y));
  near = apply(c, TT_OR, near, apply(c, TT_EQ, x, y));
  if (!tt__arg_bool(c, f, 4, false)) return near.as.array;
  return apply(c, TT_OR, near, apply(c, TT_AND, apply(c, TT_ISNAN, x, x), apply(c, TT_ISNAN, y, y))).as.array;
}
static tt_array *isclose(tt_composer *c, tt_call_frame *f) { return is_close(c, f); }
TT_HANDLER(isclose)

/* "Are all true" as a plain bool. */
static tt_array *all_true(tt_composer *c, tt_call_frame *f, tt_array *mask) {
  f->scalar = true;
  if (!mask) return NULL;
  uint64_t axes = mask->rank ? ~UINT64_C(0) >> (64 - mask->rank) : 0;
  return axes ? tt__compose_reduce(c, TT_RED_ALL, mask, axes, false) : mask;
}

static tt_array *allclose(tt_composer *c, tt_call_frame *f) { return all_true(c, f, is_close(c, f)); }
TT_HANDLER(allclose)

static tt_array *no(tt_composer *c, tt_call_frame *f) {
  f->scalar = true;
  return tt__compose_full(c, TT_BOOL, 0, NULL, tt_v_int(0));
}

static tt_array *array_equal(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (!a || !b) return NULL;
  if (a->rank != b->rank || memcmp(tt__array_len(a), tt__array_len(b), sizeof(int64_t) * a->rank) != 0) return no(c, f);
  tt_array *same = tt__compose_op2(c, TT_EQ, a, b);
  if (tt__arg_bool(c, f, 2, false)) {
    tt_array *both = tt__compose_op2(c, TT_AND, tt__compose_op1(c, TT_ISNAN, a), tt__compose_op1(c, TT_ISNAN, b));
    same = tt__compose_op2(c, TT_OR, same, both);
  }
  return all_true(c, f, same);
}
TT_HANDLER(array_equal)

static tt_array *array_equiv(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (!a || !b) return NULL;
  int ranks[2] = {a->rank, b->rank}, rank;
  const int64_t *lens[2] = {tt__array_len(a), tt__array_len(b)};
  int64_t len[TT_MAX_RANK];
  tt_error unfit;
  if (tt__shape_broadcast(2, ranks, lens, &rank, len, &unfit) != TT_OK) return no(c, f);
  return all_true(c, f, tt__compose_op2(c, TT_EQ, a, b));
}
TT_HANDLER(array_equiv)

/* ---- complex numbers */

static tt_array *part_is_zero(tt_composer *c, tt_call_frame *f, bool zero) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  if (!is_complex(a)) return tt__compose_full(c, TT_BOOL, a->rank, tt__array_len(a), tt_v_int(zero));
  return tt__compose_opi(c, zero ? TT_EQ : TT_NE, tt__compose_op1(c, TT_IMAG, a), 0);
}

static tt_array *iscomplex(tt_composer *c, tt_call_frame *f) { return part_is_zero(c, f, false); }
static tt_array *isreal(tt_composer *c, tt_call_frame *f) { return part_is_zero(c, f, true); }

/* NumPy compares x.imag with 0, which for numbers without that part are zeros in C's or Fortran's order. */
static char order_of_part(const tt_call_frame *f, char of_zeros) {
  return f->arg[0].tag == TT_V_ARRAY && is_complex(f->arg[0].as.array) ? 'W' : of_zeros;
}

TT_HIDDEN tt_code tt__fn_iscomplex(tt_call_frame *f, tt_error *err);
tt_code tt__fn_iscomplex(tt_call_frame *f, tt_error *err) {
  return tt__fn_run_laid(f, iscomplex, "iscomplex", order_of_part(f, 'C'), err);
}
TT_HIDDEN tt_code tt__fn_isreal(tt_call_frame *f, tt_error *err);
tt_code tt__fn_isreal(tt_call_frame *f, tt_error *err) {
  return tt__fn_run_laid(f, isreal, "isreal", order_of_part(f, 'A'), err);
}

static tt_array *angle(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *out;
  bool degrees = tt__arg_bool(c, f, 1, false);
  if (!a) return NULL;
  if (is_complex(a))
    out = tt__compose_op2(c, TT_ATAN2, tt__compose_op1(c, TT_IMAG, a), tt__compose_op1(c, TT_REAL, a));
  else
    out = tt__compose_apply(c, TT_ATAN2, (tt_value[2]){tt_v_int(0), tt_v_array(a)}, 2, TT_DTYPE_NONE);
  return degrees ? tt__compose_opf(c, TT_MUL, out, 180 / M_PI) : out;
}
TT_HANDLER(angle)

/* ---- ops that are others in disguise */

static tt_array *refuse(tt_composer *c, const char *name) {
  return tt__compose_fail(
      c, TT_ETYPE,
      "ufunc '%s' not supported for the input types, and the inputs could not be safely coerced to any "
      "supported types according to the casting rule ''safe''",
      name);
}

/* `narrow`: the factor as NumPy rounds it for float32, a unit away from the nearest one for degrees. */
static tt_array *scaled_float(tt_composer *c, tt_call_frame *f, const char *name, double by, float narrow) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && is_complex(a)) return refuse(c, name);
  a = as_float(c, a);
  if (!a) return NULL;
  bool half = a->dtype == TT_F16 || a->dtype == TT_BF16; /* the factor needs more digits */
  tt_array *wide = half ? tt__compose_cast(c, a, TT_F32) : a;
  tt_array *scaled = wide ? tt__compose_opf(c, TT_MUL, wide, wide->dtype == TT_F32 ? narrow : by) : NULL;
  return tt__arg_out(c, f, 1, tt__compose_cast(c, scaled, (tt_dtype)a->dtype));
}

static tt_array *degrees(tt_composer *c, tt_call_frame *f) {
  return scaled_float(c, f, "degrees", 180 / M_PI, 180.0f / (float)M_PI);
}
static tt_array *radians(tt_composer *c, tt_call_frame *f) {
  return scaled_float(c, f, "radians", M_PI / 180, (float)M_PI / 180.0f);
}
TT_HANDLER(degrees)
TT_HANDLER(radians)

static tt_array *positive(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && a->dtype == TT_BOOL)
    return tt__compose_fail(c, TT_ETYPE,
                            "ufunc 'positive' did not contain a loop with signature matching types <class "
                            "'numpy.dtypes.BoolDType'> -> None");
  return tt__arg_out(c, f, 1, tt__compose_copy_in(c, a, 'W'));
}
TT_HANDLER(positive)

static tt_array *fabs_of(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && is_complex(a)) return refuse(c, "fabs");
  a = as_float(c, a);
  return tt__arg_out(c, f, 1, tt__compose_op1(c, TT_ABS, a));
}
TT_HANDLER(fabs_of)

/* Both operands in the type NumPy computes with, float64 at least (float_power), or what division gives. */
static bool pair_of(tt_composer *c, const tt_call_frame *f, tt_value *v) {
  v[0] = tt__arg_value(c, f, 0);
  v[1] = tt__arg_value(c, f, 1);
  return c->code == TT_OK;
}

static tt_array *float_power(tt_composer *c, tt_call_frame *f) {
  tt_value v[3];
  tt_dtype type;
  if (!pair_of(c, f, v)) return NULL;
  v[2] = (tt_value){.tag = TT_V_DTYPE, .as.dtype = TT_F64};
  if ((c->code = tt__result_type(v, 3, &type, c->err)) != TT_OK) return NULL;
  return tt__arg_out(c, f, 2, tt__compose_apply(c, TT_POW, v, 2, type));
}
TT_HANDLER(float_power)

static tt_array *divmod(tt_composer *c, tt_call_frame *f) {
  tt_value v[2];
  if (!pair_of(c, f, v)) return NULL;
  if (tt__fn_give(c, f, tt__compose_apply(c, TT_FLOORDIV, v, 2, TT_DTYPE_NONE)))
    tt__fn_give(c, f, tt__compose_apply(c, TT_MOD, v, 2, TT_DTYPE_NONE));
  return NULL;
}
TT_HANDLER(divmod)

/* Fraction and whole part, both with the sign of x; an infinity has the fraction 0. */
static tt_array *modf_of(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  a = as_float(c, a);
  tt_array *whole = tt__compose_op1(c, TT_TRUNC, a), *rest = tt__compose_op2(c, TT_SUB, a, whole);
  if (!rest) return NULL;
  rest = tt__compose_where(c, tt__compose_op1(c, TT_ISINF, a), tt_v_float(0), tt_v_array(rest));
  if (tt__fn_give(c, f, tt__compose_op2(c, TT_COPYSIGN, rest, a))) tt__fn_give(c, f, whole);
  return NULL;
}
TT_HANDLER(modf_of)

/* Both operands in the float type in which an op like logaddexp computes. */
static bool floats_of(tt_composer *c, const tt_call_frame *f, const char *name, tt_value *v) {
  tt_types t;
  if (!pair_of(c, f, v)) return false;
  for (int k = 0; k < 2; k++)
    if (tt__is_complex(tt__value_dtype(&v[k]))) return refuse(c, name), false;
  if ((c->code = tt__op_types(TT_LOGADDEXP, v, 2, TT_DTYPE_NONE, &t, c->err)) != TT_OK) return false;
  for (int k = 0; k < 2; k++) {
    tt_array *a = tt__compose_cast(c, tt__value_as_array(c, &v[k]), t.compute);
    if (!a) return false;
    v[k] = tt_v_array(a);
  }
  return true;
}

/* log2(2^a + 2^b), scaled so that neither overflows; of halves in float32: near 0 the digits of its parts cancel. */
static tt_array *log_of_powers(tt_composer *c, tt_value *v) {
  tt_dtype own = (tt_dtype)v[0].as.array->dtype;
  if (own == TT_F16 || own == TT_BF16) {
    tt_array *a = tt__compose_cast(c, v[0].as.array, TT_F32), *b = tt__compose_cast(c, v[1].as.array, TT_F32);
    return a && b ? tt__compose_cast(c, log_of_powers(c, (tt_value[2]){tt_v_array(a), tt_v_array(b)}), own) : NULL;
  }
  tt_array *most = tt__compose_apply(c, TT_MAXIMUM, v, 2, TT_DTYPE_NONE),
           *apart = tt__compose_apply(c, TT_SUB, v, 2, TT_DTYPE_NONE);
  tt_array *small = tt__compose_op1(c, TT_EXP2, tt__compose_op1(c, TT_NEG, tt__compose_op1(c, TT_ABS, apart)));
  tt_array *sum = tt__compose_op2(c, TT_ADD, most,
                                  tt__compose_opf(c, TT_MUL, tt__compose_op1(c, TT_LOG1P, small), 1.4426950408889634));
  tt_array *same = tt__compose_apply(c, TT_EQ, v, 2, TT_DTYPE_NONE); /* equal infinities among them */
  tt_array *twice = tt__compose_opi(c, TT_ADD, most, 1);
  return sum && twice ? tt__compose_where(c, same, tt_v_array(twice), tt_v_array(sum)) : NULL;
}

/* Its derivative is its own: where the operands are equal that of the above has no second one. */
static tt_array *logaddexp2(tt_composer *c, tt_call_frame *f) {
  tt_value v[2];
  if (!floats_of(c, f, "logaddexp2", v)) return NULL;
  tt_array *src[2] = {v[0].as.array, v[1].as.array};
  bool before = tt__session_tape, own = tt__is_taped(src[0]->storage->node) || tt__is_taped(src[1]->storage->node);
  tt__session_tape = false;
  tt_array *r = log_of_powers(c, v);
  tt__session_tape = before;
  for (int k = 0; own && r && k < 2; k++) src[k] = tt__compose_broadcast(c, src[k], r->rank, tt__array_len(r));
  if (own) r = src[0] && src[1] ? tt__compose_derived(c, "logaddexp2", src, 2, r) : NULL;
  return tt__arg_out(c, f, 2, r);
}
TT_HANDLER_LAID(logaddexp2, 'W')

/* The distance to the next number away from zero; of -0 as of 0. Of float16 NumPy gives the distance to the next number
 * above, which has no sign. */
static tt_array *spacing(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (x && is_complex(x)) return refuse(c, "spacing");
  x = tt__compose_opi(c, TT_ADD, as_float(c, x), 0);
  if (!x) return NULL;
  tt_array *side = x->dtype == TT_F16 ? tt__compose_op1(c, TT_ABS, x) : x;
  if (!side) return NULL;
  tt_array *far =
      tt__compose_apply(c, TT_COPYSIGN, (tt_value[2]){tt_v_float(INFINITY), tt_v_array(side)}, 2, TT_DTYPE_NONE);
  tt_array *next = tt__compose_op2(c, TT_NEXTAFTER, x, far);
  tt_array *step = tt__compose_op2(c, TT_SUB, next, x);
  if (side != x) step = tt__compose_op2(c, TT_ADD, step, tt__compose_op2(c, TT_SUB, x, x)); /* NaN of both infinities */
  return tt__arg_out(c, f, 1, step);
}
TT_HANDLER(spacing)

static tt_array *heaviside(tt_composer *c, tt_call_frame *f) {
  tt_value v[2];
  if (!floats_of(c, f, "heaviside", v)) return NULL;
  tt_array *x = v[0].as.array, *at = v[1].as.array;
  tt_array *step = tt__compose_cast(c, tt__compose_opi(c, TT_GT, x, 0), (tt_dtype)x->dtype);
  tt_array *out = step ? tt__compose_where(c, tt__compose_opi(c, TT_EQ, x, 0), tt_v_array(at), tt_v_array(step)) : NULL;
  return tt__arg_out(
      c, f, 2, out ? tt__compose_where(c, tt__compose_op1(c, TT_ISNAN, x), tt_v_array(x), tt_v_array(out)) : NULL);
}
TT_HANDLER_LAID(heaviside, 'W')

static tt_array *sinc(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__compose_opf(c, TT_MUL, tt__arg_array(c, f, 0), M_PI);
  if (!a) return NULL;
  tt_array *out = tt__compose_op2(c, TT_DIV, tt__compose_op1(c, TT_SIN, a), a);
  return out ? tt__compose_where(c, tt__compose_opi(c, TT_EQ, a, 0), tt_v_float(1), tt_v_array(out)) : NULL;
}
TT_HANDLER(sinc)

/* n & mask, and the fields beside them, summed. */
static tt_array *sum_fields(tt_composer *c, tt_array *n, int width, int64_t mask) {
  return tt__compose_op2(c, TT_ADD, tt__compose_opi(c, TT_AND, n, mask),
                         tt__compose_opi(c, TT_AND, tt__compose_opi(c, TT_SHR, n, width), mask));
}

/* The set bits of unsigned integers: summed in fields of 2, 4 and 8 bits, then all bytes by one product. */
static tt_array *count_bits(tt_composer *c, tt_array *a) {
  int bits = 8 * (int)tt__dtype_size((tt_dtype)a->dtype);
  const int64_t ones = (int64_t)(0x0101010101010101 >> (64 - bits)); /* of each byte */
  tt_array *n = sum_fields(c, a, 1, ones * 0x55);
  n = sum_fields(c, n, 2, ones * 0x33);
  n = tt__compose_opi(c, TT_AND, tt__compose_op2(c, TT_ADD, n, tt__compose_opi(c, TT_SHR, n, 4)), ones * 0x0f);
  return bits == 8 ? n : tt__compose_opi(c, TT_SHR, tt__compose_opi(c, TT_MUL, n, ones), bits - 8);
}

static tt_array *bitwise_count(tt_composer *c, tt_call_frame *f) {
  static const tt_dtype as[9] = {[1] = TT_U8, [2] = TT_U16, [4] = TT_U32, [8] = TT_U64};
  tt_array *a = tt__arg_array(c, f, 0);
  if (a && !is_exact(a))
    return tt__compose_fail(
        c, TT_ETYPE,
        "ufunc 'bitwise_count' not supported for the input types, and the inputs could not be safely "
        "coerced to any supported types according to the casting rule ''safe''");
  if (a && tt__dtypes[a->dtype].kind == 'i') a = tt__compose_op1(c, TT_ABS, a);
  /* The most negative number stays negative: its own bits, then. */
  if (a) a = tt__compose_cast(c, a, as[tt__dtype_size((tt_dtype)a->dtype)]);
  return a ? tt__arg_out(c, f, 1, tt__compose_cast(c, count_bits(c, a), TT_U8)) : NULL;
}
TT_HANDLER(bitwise_count)

/* ---- types */

/* The type that values have together, as an empty array of it. */
static tt_array *result_type(tt_composer *c, tt_call_frame *f) {
  int64_t n = f->narg ? f->arg[0].as.tuple.n : 0, none = 0;
  if (n == 0) return tt__compose_fail(c, TT_EVALUE, "at least one array or dtype is required");
  tt_value *v = tt__compose_scratch(c, n, sizeof *v);
  for (int64_t i = 0; v && i < n; i++) {
    v[i] = f->arg[0].as.tuple.item[i];
    if (v[i].tag == TT_V_TUPLE) v[i] = tt__arg_value(c, &(tt_call_frame){.arg = &v[i], .narg = 1}, 0);
    if (v[i].tag == TT_V_STRING)
      v[i] = (tt_value){.tag = TT_V_DTYPE,
                        .as.dtype = tt__arg_dtype(c, &(tt_call_frame){.arg = &v[i], .narg = 1}, 0, TT_F64)};
  }
  tt_dtype type;
  if (c->code != TT_OK || (c->code = tt__result_type(v, (int)n, &type, c->err)) != TT_OK) return NULL;
  f->tuple = true;
  return tt__compose_empty(c, type, 1, &none);
}
TT_HANDLER(result_type)
