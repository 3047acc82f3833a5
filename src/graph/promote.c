/*
** Result types: NumPy 2's rules for arrays and weak Python scalars (NEP 50), by the class of the op.
** It must not make nodes.
**
** A Python int, float or complex is weak: it takes the arrays' type unless its kind is higher; a Python bool is
** a strong bool. Scalars among themselves are int64, float64 and complex128.
*/
#include "graph/promote.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Arrays only: "same_kind" lets a value go down within its kind or up to a higher one; unsigned goes to signed. */
bool tt__can_cast_same_kind(tt_dtype from, tt_dtype to) {
  assert((unsigned)from < TT_DTYPE_COUNT && (unsigned)to < TT_DTYPE_COUNT);
  static const char order[] = "buifc"; /* bool, unsigned, signed, float, complex */
  int rank[2] = {0, 0};
  for (int k = 0; k < 5; k++) {
    if (order[k] == tt__dtypes[from].kind) rank[0] = k;
    if (order[k] == tt__dtypes[to].kind) rank[1] = k;
  }
  return rank[0] <= rank[1];
}

tt_code tt__can_cast(tt_dtype from, tt_dtype to, const char *rule, bool *ok, tt_error *err) {
  bool same = from == to, safe = tt__promote(from, to) == to;
  if (strcmp(rule, "no") == 0 || strcmp(rule, "equiv") == 0)
    *ok = same;
  else if (strcmp(rule, "safe") == 0)
    *ok = safe;
  else if (strcmp(rule, "same_kind") == 0)
    *ok = safe || tt__can_cast_same_kind(from, to);
  else if (strcmp(rule, "unsafe") == 0)
    *ok = true;
  else
    return tt__fail(err, TT_EVALUE, "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '%s')",
                    rule);
  return TT_OK;
}

tt_code tt__result_type(const tt_value *arg, int n, tt_dtype *out, tt_error *err) {
  assert(n >= 0);
  tt_dtype strong = TT_DTYPE_NONE;
  bool is_uint = false;
  int weak = 0; /* 1 int, 2 float, 3 complex */
  for (int k = 0; k < n; k++) {
    int kind = 0;
    tt_dtype t = TT_DTYPE_NONE;
    switch (arg[k].tag) {
      case TT_V_INT:
        kind = 1;
        break;
      case TT_V_UINT:
        kind = 1;
        is_uint = true;
        break;
      case TT_V_FLOAT:
        kind = 2;
        break;
      case TT_V_COMPLEX:
        kind = 3;
        break;
      case TT_V_DTYPE:
        t = arg[k].as.dtype;
        break;
      default:
        t = tt__value_dtype(&arg[k]);
    }
    if (kind > weak) weak = kind;
    if (kind) continue;
    if (t == TT_DTYPE_NONE) return tt__fail(err, TT_ETYPE, "Cannot interpret argument %d as an array or a number", k);
    strong = strong == TT_DTYPE_NONE ? t : tt__promote(strong, t);
  }
  bool lower = strong == TT_DTYPE_NONE || strong == TT_BOOL || tt__is_int(strong);
  switch (weak) {
    case 0:
      *out = strong == TT_DTYPE_NONE ? TT_F64 : strong;
      break;
    case 1:
      *out = strong == TT_DTYPE_NONE ? (is_uint && n == 1 ? TT_U64 : TT_I64) : strong == TT_BOOL ? TT_I64 : strong;
      break;
    case 2:
      *out = lower ? TT_F64 : strong;
      break;
    default:
      *out = lower ? TT_C128 : tt__complex_of(strong);
  }
  return TT_OK;
}

/* ---- by class */

static bool has_complex_loop(tt_op op) { return tt__ops[op].flags & TT_OPF_CPLX; }

static tt_code fail_unsupported(tt_op op, tt_error *err) {
  return tt__fail(err, TT_ETYPE,
                  "ufunc '%s' not supported for the input types, and the inputs could not be safely coerced to any "
                  "supported types according to the casting rule ''safe''",
                  tt__op_word(op));
}

/*
** The smallest float that an integer's ufunc loop takes: float16 for one byte (SPECIAL: float32), float32 for two,
** float64 above.
*/
static tt_dtype float_of(tt_op op, tt_dtype t) {
  if (t != TT_BOOL && !tt__is_int(t)) return t;
  if (tt__dtype_size(t) == 1 && tt__ops[op].cls == TT_CLASS_SPECIAL) return TT_F32;
  return tt__dtype_size(t) == 1 ? TT_F16 : tt__dtype_size(t) == 2 ? TT_F32 : TT_F64;
}

/* FLOAT ops look for the first loop that every operand fits, so each operand becomes a float before they meet. */
static tt_code float_type(tt_op op, const tt_value *arg, int n, tt_dtype *out, tt_error *err) {
  tt_dtype both, strong = TT_DTYPE_NONE;
  TT_TRY(tt__result_type(arg, n, &both, err));
  bool weak = false;
  for (int k = 0; k < n; k++) {
    if (arg[k].tag == TT_V_INT || arg[k].tag == TT_V_UINT || arg[k].tag == TT_V_FLOAT || arg[k].tag == TT_V_COMPLEX) {
      weak = true;
      continue;
    }
    tt_dtype t = float_of(op, tt__value_dtype(&arg[k]));
    strong = strong == TT_DTYPE_NONE ? t : tt__promote(strong, t);
  }
  *out = weak || strong == TT_DTYPE_NONE ? float_of(op, both) : strong;
  if (both == TT_BF16 && tt__ops[op].cls == TT_CLASS_FLOAT) *out = TT_BF16; /* what one byte holds fits there too */
  return TT_OK;
}

static tt_code fail_bool(tt_op op, tt_error *err) {
  switch (op) {
    case TT_SUB:
      return tt__fail(
          err, TT_ETYPE,
          "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or "
          "the logical_xor function instead.");
    case TT_NEG:
      return tt__fail(err, TT_ETYPE,
                      "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the "
                      "logical_not function instead.");
    default:
      return tt__fail(err, TT_ETYPE,
                      "ufunc '%s' did not contain a loop with signature matching types <class "
                      "'numpy.dtypes.BoolDType'> -> None",
                      tt__op_word(op));
  }
}

static tt_code arith_bool(tt_op op, tt_types *t, tt_error *err) {
  if (tt__ops[op].flags & TT_OPF_NOBOOL) return fail_bool(op, err);
  if (tt__ops[op].flags & TT_OPF_BOOL8) t->compute = TT_I8;
  t->result = t->compute;
  return TT_OK;
}

static tt_code fail_no_loop(tt_op op, tt_error *err) {
  return tt__fail(err, TT_ETYPE, "ufunc '%s' did not contain a loop with signature matching types", tt__op_word(op));
}

static tt_code by_class(tt_op op, const tt_value *arg, int n, tt_types *t, tt_error *err) {
  TT_TRY(tt__result_type(arg, n, &t->compute, err));
  bool is_bool = t->compute == TT_BOOL, is_whole = is_bool || tt__is_int(t->compute);
  t->result = t->compute;
  switch (tt__ops[op].cls) {
    case TT_CLASS_ARITH:
      return is_bool ? arith_bool(op, t, err) : TT_OK;
    case TT_CLASS_ABS:
      t->result = tt__real_of(t->compute);
      return TT_OK;
    case TT_CLASS_DIVIDE:
      if (is_whole) t->compute = t->result = TT_F64;
      return TT_OK;
    case TT_CLASS_FLOAT:
    case TT_CLASS_SPECIAL:
      TT_TRY(float_type(op, arg, n, &t->compute, err));
      t->result = t->compute;
      return TT_OK;
    case TT_CLASS_COMPARE:
      t->result = TT_BOOL;
      return TT_OK;
    case TT_CLASS_LOGIC:
      t->compute = t->result = TT_BOOL;
      return TT_OK;
    case TT_CLASS_BITS:
      return is_whole ? TT_OK : fail_unsupported(op, err);
    case TT_CLASS_WHOLE:
      return tt__is_int(t->compute) ? TT_OK : fail_no_loop(op, err);
    case TT_CLASS_SHIFT:
      if (is_bool) t->compute = t->result = TT_I8;
      return is_whole ? TT_OK : fail_unsupported(op, err);
    case TT_CLASS_TEST:
      if (op == TT_SIGNBIT) t->compute = float_of(op, t->compute);
      t->result = TT_BOOL;
      return TT_OK;
    case TT_CLASS_PART:
      t->result = tt__real_of(t->compute);
      return TT_OK;
    default:
      return TT_OK;
  }
}

/* ---- dtype= */

static bool has_loop(tt_op op, tt_dtype t) {
  bool whole = t == TT_BOOL || tt__is_int(t);
  if (tt__is_complex(t) && !has_complex_loop(op)) return false;
  switch (tt__ops[op].cls) {
    case TT_CLASS_COMPARE:
    case TT_CLASS_LOGIC:
    case TT_CLASS_TEST:
      return t == TT_BOOL;
    case TT_CLASS_FLOAT:
    case TT_CLASS_SPECIAL:
    case TT_CLASS_DIVIDE:
      return !whole;
    case TT_CLASS_BITS:
      return whole;
    case TT_CLASS_SHIFT:
    case TT_CLASS_WHOLE:
      return tt__is_int(t);
    case TT_CLASS_ABS:
      return !tt__is_complex(t);
    default:
      return true;
  }
}

tt_code tt__fail_cast(tt_op op, const char *what, tt_dtype from, tt_dtype to, const char *rule, tt_error *err) {
  return tt__fail(err, TT_ETYPE, "Cannot cast ufunc '%s' %s from dtype('%s') to dtype('%s') with casting rule '%s'",
                  tt__op_word(op), what, tt__dtypes[from].name, tt__dtypes[to].name, rule);
}

/* It takes what comes as it is; signbit alone of the tests knows floats only. */
static bool keeps_types(tt_op op) {
  int cls = tt__ops[op].cls;
  return cls == TT_CLASS_LOGIC || (cls == TT_CLASS_TEST && op != TT_SIGNBIT) || cls == TT_CLASS_NONUM ||
         cls == TT_CLASS_DRAW;
}

/* Python's numbers become what is computed without a cast, where their kind allows it at all. */
static bool is_weak(const tt_value *v, tt_dtype to) {
  tt_dtype from = tt__value_dtype(v);
  if (v->tag == TT_V_ARRAY || v->tag == TT_V_BOOL) return false;
  return tt__can_cast_same_kind(from, to) || (tt__is_int(from) && tt__is_int(to));
}

tt_code tt__operand_casts(const tt_value *v, bool alone, tt_dtype to, const char *rule, bool *ok, tt_error *err) {
  *ok = !alone && is_weak(v, to);
  return *ok ? TT_OK : tt__can_cast(tt__value_dtype(v), to, rule, ok, err);
}

tt_code tt__check_casts(tt_op op, const tt_value *arg, int n, tt_dtype asked, const tt_types *t, const char *rule,
                        tt_error *err) {
  assert((unsigned)op < TT_OP_COUNT && n > 0);
  int cls = tt__ops[op].cls;
  bool strict = strcmp(rule, "same_kind") != 0;
  bool mixed = cls == TT_CLASS_COMPARE && t->compute == TT_F64 && tt__is_int(tt__value_dtype(&arg[0])) &&
               tt__is_int(tt__value_dtype(&arg[1])); /* int64 and uint64 are compared as they are */
  if (keeps_types(op) || mixed) return TT_OK;
  if (!strict && asked == TT_DTYPE_NONE) return TT_OK; /* promotion goes up */
  if (n > 1 && cls != TT_CLASS_COMPARE) TT_TRY(tt__check_whole_numbers(arg, n, t->compute, err));
  for (int k = 0; k < n; k++) {
    tt_dtype from = tt__value_dtype(&arg[k]);
    char what[24] = "input";
    if (n > 1) snprintf(what, sizeof what, "input %d", k);
    if (from == TT_DTYPE_NONE && strcmp(rule, "unsafe") != 0)
      return tt__fail(err, TT_ETYPE, "Cannot cast ufunc '%s' %s from dtype('O') to dtype('%s') with casting rule '%s'",
                      tt__op_word(op), what, tt__dtypes[t->compute].name, rule);
    bool ok = from == TT_DTYPE_NONE;
    if (!ok) TT_TRY(tt__operand_casts(&arg[k], n == 1, t->compute, rule, &ok, err));
    if (!ok) return tt__fail_cast(op, what, from, t->compute, rule, err);
  }
  return TT_OK;
}

static tt_code fail_no_match(tt_op op, tt_error *err) {
  return tt__fail(err, TT_ETYPE, "No loop matching the specified signature and casting was found for ufunc %s",
                  tt__op_word(op));
}

static tt_code forced(tt_op op, const tt_value *arg, tt_dtype dtype, tt_types *t, tt_error *err) {
  if (!has_loop(op, dtype)) return fail_no_match(op, err);
  int cls = tt__ops[op].cls;
  if (cls == TT_CLASS_COMPARE || cls == TT_CLASS_LOGIC || cls == TT_CLASS_TEST) return TT_OK;
  t->compute = t->result = dtype;
  tt_dtype own = tt__value_dtype(arg);
  if (cls == TT_CLASS_ABS && tt__is_complex(own) && (dtype == TT_F32 || dtype == TT_F64)) {
    tt_dtype wide =
        tt__complex_of(dtype); /* a complex number that would lose digits is cast to a real one, or refused */
    if (tt__promote(own, wide) == wide) t->compute = wide;
  }
  if (dtype != TT_BOOL || cls != TT_CLASS_ARITH) return TT_OK;
  TT_TRY(arith_bool(op, t, err));
  return t->compute == TT_BOOL ? TT_OK : fail_no_match(op, err);
}

tt_code tt__op_types(tt_op op, const tt_value *arg, int n, tt_dtype dtype, tt_types *out, tt_error *err) {
  assert((unsigned)op < TT_OP_COUNT && n > 0);
  int cls = tt__ops[op].cls;
  bool answers = cls == TT_CLASS_COMPARE || cls == TT_CLASS_LOGIC || cls == TT_CLASS_TEST;
  if (dtype != TT_DTYPE_NONE && !answers) return forced(op, arg, dtype, out, err); /* whatever the operands are */
  TT_TRY(by_class(op, arg, n, out, err));
  bool unknown = tt__is_complex(out->compute) && !has_complex_loop(op);
  if (dtype != TT_DTYPE_NONE) return unknown ? fail_no_match(op, err) : forced(op, arg, dtype, out, err);
  return unknown ? fail_unsupported(op, err) : TT_OK;
}
