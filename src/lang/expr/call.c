/*
** Calls: CUDA's and CuPy's functions as operations. What is not in the table here is for a compiler.
*/
#include <string.h>

#include "lang/expr/expr_int.h"

typedef enum cx_kind {
  FLOATS, /* of floats; integers are taken as double; the name's f makes it float */
  TESTS,  /* the same, to bool */
  COMMON, /* two numbers of one type, the usual conversions */
  MAGNITUDE,
  PARTS,   /* of complex numbers */
  SPECIAL, /* spelled below */
  FINISHES /* SPECIAL over floats */
} cx_kind;

typedef struct row {
  const char *name;
  uint8_t kind, n;
  uint8_t op;
  bool complex;
} row;

enum { ROUND, RSQRT, FMA, FDIM, NORM, ARG, SATURATE, ASIS, TO_FLOAT, TO_HALF, POW };

/* Functions that are more than an operation; the others are found by the C names of ops.def. */
static const row rows[] = {
    {"min", COMMON, 2, TT_FMIN, false},
    {"max", COMMON, 2, TT_FMAX, false},
    {"abs", MAGNITUDE, 1, TT_ABS, false},
    {"labs", MAGNITUDE, 1, TT_ABS, false},
    {"llabs", MAGNITUDE, 1, TT_ABS, false},
    {"real", PARTS, 1, TT_REAL, false},
    {"imag", PARTS, 1, TT_IMAG, false},
    {"conj", PARTS, 1, TT_CONJ, false},
    {"norm", SPECIAL, 1, NORM, true},
    {"arg", SPECIAL, 1, ARG, true},
    {"pow", FINISHES, 2, POW, true},
    {"round", FINISHES, 1, ROUND, false},
    {"rsqrt", FINISHES, 1, RSQRT, false},
    {"fma", FINISHES, 3, FMA, false},
    {"fdim", FINISHES, 2, FDIM, false},
    {"__saturatef", FINISHES, 1, SATURATE, false},
    {"__half2float", SPECIAL, 1, TO_FLOAT, false},
    {"__float2half", SPECIAL, 1, TO_HALF, false},
    {"__float2half_rn", SPECIAL, 1, TO_HALF, false},
};

/* CUDA's intrinsics that are faster and less exact there: the exact function. A second name. */
static const struct {
  const char *name, *plain;
} fast[] = {{"__expf", "exp"},     {"__logf", "log"},        {"__log2f", "log2"},    {"__log10f", "log10"},
            {"__sinf", "sin"},     {"__cosf", "cos"},        {"__tanf", "tan"},      {"__powf", "pow"},
            {"__exp10f", "exp10"}, {"__frsqrt_rn", "rsqrt"}, {"__fsqrt_rn", "sqrt"}, {"__dsqrt_rn", "sqrt"},
            {"__fmaf_rn", "fma"},  {"nearbyint", "rint"},    {"nearbyintf", "rint"}};

/* Operators written as functions. */
static const struct {
  const char *name, *op;
  uint8_t dtype;
} plain_ops[] = {{"__fadd_rn", "+", TT_F32}, {"__fsub_rn", "-", TT_F32},  {"__fmul_rn", "*", TT_F32},
                 {"__fdiv_rn", "/", TT_F32}, {"__fdividef", "/", TT_F32}, {"__dadd_rn", "+", TT_F64},
                 {"__dsub_rn", "-", TT_F64}, {"__dmul_rn", "*", TT_F64},  {"__ddiv_rn", "/", TT_F64}};

/* Complex operands where the result is complex too: what a magnitude or an order is in C needs another word. */
static row row_of(tt_op op) {
  const tt_op_info *o = &tt__ops[op];
  bool floats = o->cls == TT_CLASS_FLOAT || o->cls == TT_CLASS_SPECIAL;
  return (row){o->c, o->cls == TT_CLASS_TEST ? TESTS : FLOATS, o->arity, (uint8_t)op, floats && o->flags & TT_OPF_CPLX};
}

/* The row that has this very name. */
static bool find_exact(const char *name, uint32_t len, row *out) {
  char word[32];
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (cx__same(rows[k].name, (uint32_t)strlen(rows[k].name), name, len)) {
      *out = rows[k];
      return true;
    }
  if (len >= sizeof word) return false;
  memcpy(word, name, len);
  word[len] = 0;
  tt_op op = tt__op_named_in_c(word);
  if (op < TT_OP_COUNT) *out = row_of(op);
  return op < TT_OP_COUNT;
}

/* The row of a name; *single: its f asks for float. */
static bool find_row(const char *name, uint32_t len, bool *single, row *out) {
  *single = false;
  for (size_t k = 0; k < sizeof fast / sizeof *fast; k++)
    if (cx__same(fast[k].name, (uint32_t)strlen(fast[k].name), name, len)) {
      *single = fast[k].name[2] == 'f' || name[len - 1] == 'f';
      name = fast[k].plain;
      len = (uint32_t)strlen(name);
      break;
    }
  if (find_exact(name, len, out)) return true;
  if (len < 2 || name[len - 1] != 'f' || !find_exact(name, len - 1, out)) return false;
  *single = out->kind == FLOATS || out->kind == FINISHES;
  return *single;
}

static cx_value finish(cx_reader *r, int what, cx_value *v, int64_t w) {
  uint8_t t = v[0].dtype;
  bool is_complex = tt__is_complex((tt_dtype)t);
  switch (what) {
    case POW: {
      const tt_formula_step *e = &r->f->step.data[v[1].id];
      bool two = e->kind == TT_F_CONST && (t == TT_F32 ? e->value.f32 == 2 : t == TT_F64 && e->value.f64 == 2);
      return two ? cx__op1(r, TT_SQUARE, v[0]) : cx__op2(r, TT_POW, v[0], v[1]);
    }
    case ROUND: { /* halves away from zero */
      cx_value whole = cx__op1(r, TT_TRUNC, v[0]), rest = cx__op1(r, TT_ABS, cx__op2(r, TT_SUB, v[0], whole));
      cx_value far = cx__op2(r, TT_GE, rest, cx__const_float(r, t, 0.5));
      cx_value one = cx__op2(r, TT_COPYSIGN, cx__const_float(r, t, 1), v[0]);
      return cx__where(r, far, cx__op2(r, TT_ADD, whole, one), whole);
    }
    case RSQRT:
      return cx__op1(r, TT_RECIPROCAL, cx__op1(r, TT_SQRT, v[0]));
    case FMA: {
      /* The product of two floats is exact in double; that of two doubles is nowhere. */
      if (t != TT_F32) cx__beyond(r, w, "fma of doubles");
      for (int k = 0; k < 3; k++) v[k] = cx__convert(r, v[k], TT_F64, w);
      return cx__convert(r, cx__op2(r, TT_ADD, cx__op2(r, TT_MUL, v[0], v[1]), v[2]), TT_F32, w);
    }
    case FDIM: {
      cx_value less = cx__op2(r, TT_LE, v[0], v[1]);
      return cx__where(r, less, cx__const_float(r, t, 0), cx__op2(r, TT_SUB, v[0], v[1]));
    }
    case SATURATE:
      return cx__op2(r, TT_FMIN, cx__op2(r, TT_FMAX, v[0], cx__const_float(r, t, 0)), cx__const_float(r, t, 1));
    case NORM: {
      uint8_t part = (uint8_t)tt__real_of((tt_dtype)t);
      if (!is_complex) return cx__op1(r, TT_SQUARE, v[0]);
      cx_value re = cx__op(r, TT_REAL, part, v[0], NULL, NULL), im = cx__op(r, TT_IMAG, part, v[0], NULL, NULL);
      return cx__op2(r, TT_ADD, cx__op1(r, TT_SQUARE, re), cx__op1(r, TT_SQUARE, im));
    }
    case ARG: {
      uint8_t part = (uint8_t)tt__real_of((tt_dtype)t);
      if (!is_complex) cx__beyond(r, w, "arg of a real number");
      cx_value re = cx__op(r, TT_REAL, part, v[0], NULL, NULL), im = cx__op(r, TT_IMAG, part, v[0], NULL, NULL);
      return cx__op2(r, TT_ATAN2, im, re);
    }
    case TO_HALF:
      return cx__convert(r, cx__convert(r, v[0], TT_F32, w), TT_F16, w);
    default:
      return cx__convert(r, v[0], TT_F32, w);
  }
}

/* The type in which a function of floats works: integers count as double, halves as float. */
static uint8_t float_type(const cx_value *v, int n) {
  uint8_t t = TT_DTYPE_COUNT;
  for (int k = 0; k < n; k++) {
    uint8_t own = cx__is_whole(v[k].dtype) ? TT_F64 : cx__is_half(v[k].dtype) ? TT_F32 : v[k].dtype;
    t = t == TT_DTYPE_COUNT ? own : cx__common(t, own);
  }
  return t;
}

static cx_value run_row(cx_reader *r, const row *f, bool single, cx_value *v, int64_t w) {
  bool whole_power = f->op == POW && f->kind == FINISHES && cx__is_whole(v[1].dtype) && !cx__is_whole(v[0].dtype);
  uint8_t t = single ? TT_F32 : float_type(v, whole_power ? 1 : f->n),
          kind = f->kind; /* CUDA's pow(float, int) is a float */
  bool is_complex = tt__is_complex((tt_dtype)t);
  if (is_complex && kind != PARTS && kind != MAGNITUDE && !f->complex)
    cx__beyond(r, w, "'%s' of a complex number", f->name);
  if (kind == COMMON || kind == MAGNITUDE) {
    t = v[0].dtype;
    for (int k = 1; k < f->n; k++) t = cx__common(t, v[k].dtype);
    t = cx__promoted(t);
    if (f->n == 2 && cx__is_half(t)) t = TT_F32;
    if (kind == MAGNITUDE && cx__is_half(t)) t = TT_F32;
  }
  if (kind == PARTS && !is_complex) cx__beyond(r, w, "'%s' of a real number", f->name);
  if (kind != SPECIAL)
    for (int k = 0; k < f->n; k++) v[k] = cx__convert(r, v[k], t, w);
  switch (kind) {
    case FLOATS:
      return cx__op(r, (tt_op)f->op, t, v[0], f->n > 1 ? &v[1] : NULL, f->n > 2 ? &v[2] : NULL);
    case TESTS:
      return cx__op(r, (tt_op)f->op, TT_BOOL, v[0], NULL, NULL);
    case COMMON:
      return cx__op2(r, (tt_op)f->op, v[0], v[1]);
    case MAGNITUDE:
      if (tt__is_unsigned((tt_dtype)t)) return v[0];
      return cx__op(r, TT_ABS, (uint8_t)tt__real_of((tt_dtype)t), v[0], NULL, NULL);
    case PARTS:
      return cx__op(r, (tt_op)f->op, f->op == TT_CONJ ? t : (uint8_t)tt__real_of((tt_dtype)t), v[0], NULL, NULL);
    default:
      return finish(r, f->op, v, w);
  }
}

static int arguments(cx_reader *r, cx_value *v) {
  int n = 0;
  cx__expect(r, "(");
  if (cx__take(r, ")")) return 0;
  do {
    if (n == CX_MOST_ARGS) cx__beyond(r, r->at, "a call with more than %d arguments", CX_MOST_ARGS);
    v[n++] = cx__assignment(r);
  } while (cx__take(r, ","));
  cx__expect(r, ")");
  return n;
}

cx_value cx__call(cx_reader *r, int64_t w) {
  const cx_word *name = cx__word(r, w);
  cx_value v[CX_MOST_ARGS];
  for (int64_t k = r->function.n; k-- > 0;)
    if (cx__same(r->function.data[k].name, r->function.data[k].len, name->at, name->len)) {
      int n = arguments(r, v);
      return cx__call_user(r, w, &r->function.data[k], v, n);
    }
  for (size_t k = 0; k < sizeof plain_ops / sizeof *plain_ops; k++)
    if (cx__same(plain_ops[k].name, (uint32_t)strlen(plain_ops[k].name), name->at, name->len)) {
      if (arguments(r, v) != 2) cx__wrong(r, w, "'%s' takes 2 arguments", plain_ops[k].name);
      for (int j = 0; j < 2; j++) v[j] = cx__convert(r, v[j], plain_ops[k].dtype, w);
      return cx__binary(r, w, plain_ops[k].op, v[0], v[1]);
    }
  bool single;
  row f;
  if (!find_row(name->at, name->len, &single, &f))
    cx__beyond(r, w, "the function '%.*s' is not known", (int)name->len, name->at);
  int n = arguments(r, v);
  if (n < f.n) cx__wrong(r, w, "too few arguments to function '%.*s'", (int)name->len, name->at);
  if (n > f.n) cx__wrong(r, w, "too many arguments to function '%.*s'", (int)name->len, name->at);
  return run_row(r, &f, single, v, w);
}
