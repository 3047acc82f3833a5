/*
** Expressions: one pass, that types and makes steps while it reads. Operands of ?:, && and || are all computed, which
** nobody sees: nothing in them has an effect, and reads out of range under a condition are marked.
*/
#include <string.h>

#include "lang/expr/expr_int.h"

static cx_value unary(cx_reader *r);

/* Constants that CUDA's headers define. */
static bool named_constant(cx_reader *r, const cx_word *w, cx_value *out) {
  static const struct {
    const char *name;
    uint8_t dtype;
    double value;
  } known[] = {
      {"M_PI", TT_F64, 3.14159265358979323846},        {"M_E", TT_F64, 2.7182818284590452354},
      {"M_PI_2", TT_F64, 1.57079632679489661923},      {"M_PI_4", TT_F64, 0.78539816339744830962},
      {"M_1_PI", TT_F64, 0.31830988618379067154},      {"M_2_PI", TT_F64, 0.63661977236758134308},
      {"M_SQRT2", TT_F64, 1.41421356237309504880},     {"M_SQRT1_2", TT_F64, 0.70710678118654752440},
      {"M_LN2", TT_F64, 0.69314718055994530942},       {"M_LN10", TT_F64, 2.30258509299404568402},
      {"M_LOG2E", TT_F64, 1.4426950408889634074},      {"M_LOG10E", TT_F64, 0.43429448190325182765},
      {"INFINITY", TT_F32, __builtin_inf()},           {"NAN", TT_F32, __builtin_nan("")},
      {"CUDART_INF", TT_F64, __builtin_inf()},         {"CUDART_INF_F", TT_F32, __builtin_inf()},
      {"CUDART_NAN", TT_F64, __builtin_nan("")},       {"CUDART_NAN_F", TT_F32, __builtin_nan("")},
      {"CUDART_PI", TT_F64, 3.14159265358979323846},   {"CUDART_PI_F", TT_F32, 3.14159265358979323846},
      {"FLT_MAX", TT_F32, 3.40282346638528859812e38},  {"FLT_MIN", TT_F32, 1.17549435082228750797e-38},
      {"FLT_EPSILON", TT_F32, 1.1920928955078125e-7},  {"DBL_MAX", TT_F64, 1.7976931348623157081e308},
      {"DBL_MIN", TT_F64, 2.2250738585072013831e-308}, {"DBL_EPSILON", TT_F64, 2.2204460492503130808e-16},
  };
  static const struct {
    const char *name;
    uint8_t dtype;
    int64_t value;
  } whole[] = {{"true", TT_BOOL, 1},
               {"false", TT_BOOL, 0},
               {"INT_MAX", TT_I32, INT32_MAX},
               {"INT_MIN", TT_I32, INT32_MIN},
               {"UINT_MAX", TT_U32, -1},
               {"LLONG_MAX", TT_I64, INT64_MAX},
               {"LLONG_MIN", TT_I64, INT64_MIN},
               {"LONG_MAX", TT_I64, INT64_MAX},
               {"LONG_MIN", TT_I64, INT64_MIN},
               {"ULLONG_MAX", TT_U64, -1},
               {"ULONG_MAX", TT_U64, -1},
               {"SHRT_MAX", TT_I32, INT16_MAX},
               {"CHAR_BIT", TT_I32, 8}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (cx__same(known[k].name, (uint32_t)strlen(known[k].name), w->at, w->len)) {
      *out = cx__const_float(r, known[k].dtype, known[k].value);
      return true;
    }
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
    if (cx__same(whole[k].name, (uint32_t)strlen(whole[k].name), w->at, w->len)) {
      *out = cx__const_int(r, whole[k].dtype, whole[k].value);
      return true;
    }
  return false;
}

/* ---- operators */

_Noreturn static void bad_operands(cx_reader *r, int64_t w, const char *op, uint8_t a, uint8_t b) {
  cx__wrong(r, w, "invalid operands of types '%s' and '%s' to binary 'operator%s'", cx__type_name(a), cx__type_name(b),
            op);
}

static cx_value divide(cx_reader *r, bool rest, cx_value a, cx_value b) {
  if (!rest) return cx__op2(r, TT_QUOTIENT, a, b);
  cx_value left = cx__op2(r, TT_FMOD, a, b);
  if (cx__is_const(r, b) && r->f->step.data[b.id].value.i64 != 0) return left;
  cx_value none = cx__op2(r, TT_EQ, b, cx__const_int(r, b.dtype, 0));
  return cx__where(r, none, a, left);
}

static cx_value shift(cx_reader *r, int64_t w, const char *op, cx_value a, cx_value b) {
  if (!cx__is_whole(a.dtype) || !cx__is_whole(b.dtype)) bad_operands(r, w, op, a.dtype, b.dtype);
  uint8_t t = cx__promoted(a.dtype);
  a = cx__convert(r, a, t, w);
  return cx__op2(r, *op == '<' ? TT_SHL : TT_SHR, a, cx__convert(r, b, t, w));
}

cx_value cx__binary(cx_reader *r, int64_t w, const char *op, cx_value a, cx_value b) {
  static const struct {
    const char *name;
    uint8_t op;
  } table[] = {{"+", TT_ADD}, {"-", TT_SUB}, {"*", TT_MUL}, {"/", TT_DIV}, {"%", TT_FMOD},
               {"&", TT_AND}, {"|", TT_OR},  {"^", TT_XOR}, {"<", TT_LT},  {">", TT_GT},
               {"<=", TT_LE}, {">=", TT_GE}, {"==", TT_EQ}, {"!=", TT_NE}};
  if (strcmp(op, "&&") == 0) return cx__op2(r, TT_LAND, cx__truth(r, a, w), cx__truth(r, b, w));
  if (strcmp(op, "||") == 0) return cx__op2(r, TT_LOR, cx__truth(r, a, w), cx__truth(r, b, w));
  if (strcmp(op, "<<") == 0 || strcmp(op, ">>") == 0) return shift(r, w, op, a, b);
  size_t k = 0;
  while (strcmp(table[k].name, op) != 0) k++;
  uint8_t from[2] = {a.dtype, b.dtype}, t = cx__common(a.dtype, b.dtype);
  bool whole = cx__is_whole(t), ordered = strchr("<>", *op) != NULL;
  if (!whole && strchr("%&|^", *op)) bad_operands(r, w, op, from[0], from[1]);
  if (tt__is_complex((tt_dtype)t) && ordered) bad_operands(r, w, op, from[0], from[1]);
  a = cx__convert(r, a, t, w);
  b = cx__convert(r, b, t, w);
  if (whole && (*op == '/' || *op == '%')) return divide(r, *op == '%', a, b);
  return cx__op2(r, (tt_op)table[k].op, a, b);
}

static int precedence(const cx_word *w, const char **op) {
  static const struct {
    const char *name;
    int level;
  } table[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
               {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
  if (w->kind != 'o') return 0;
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (cx__same(table[k].name, (uint32_t)strlen(table[k].name), w->at, w->len)) {
      *op = table[k].name;
      return table[k].level;
    }
  return 0;
}

static cx_value binary(cx_reader *r, int least) {
  cx_value a = unary(r);
  for (;;) {
    const char *op;
    int64_t w = r->at;
    int level = precedence(cx__word(r, w), &op);
    if (level < least || level == 0) return a;
    r->at++;
    bool lazy = level <= 2;
    r->guards += lazy;
    r->inside += lazy;
    cx_value b = binary(r, level + 1);
    r->guards -= lazy;
    r->inside -= lazy;
    a = cx__binary(r, w, op, a, b);
  }
}

static cx_value ternary(cx_reader *r) {
  cx_value mask = binary(r, 1);
  int64_t w = r->at;
  if (!cx__take(r, "?")) return mask;
  mask = cx__truth(r, mask, w);
  r->guards++;
  r->inside++;
  cx_value a = cx__expression(r);
  cx__expect(r, ":");
  cx_value b = cx__assignment(r);
  r->guards--;
  r->inside--;
  uint8_t t = a.dtype == b.dtype ? a.dtype : cx__common(a.dtype, b.dtype);
  a = cx__convert(r, a, t, w);
  return cx__where(r, mask, a, cx__convert(r, b, t, w));
}

/* ---- primaries */

bool cx__is_own(const cx_reader *r, int32_t index) {
  const tt_formula_step *s = &r->f->step.data[index];
  while (s->kind == TT_F_OP && s->op == TT_CAST && cx__is_whole(s->dtype)) s = &r->f->step.data[s->src[0]];
  return s->kind == TT_F_INDEX;
}

static cx_value index_in_brackets(cx_reader *r) {
  cx__expect(r, "[");
  int64_t w = r->at;
  cx_value index = cx__expression(r);
  if (!cx__is_whole(index.dtype)) cx__wrong(r, w, "invalid types '%s' for array subscript", cx__type_name(index.dtype));
  index = cx__convert(r, index, TT_I64, w);
  cx__expect(r, "]");
  return index;
}

static cx_value load(cx_reader *r, int param, cx_value index) {
  if (cx__is_own(r, index.id)) index = cx__of_param(r, TT_F_INDEX, -1, 0, TT_I64);
  tt_formula_step s = {.kind = TT_F_LOAD,
                       .dtype = r->s->param[param].dtype,
                       .guarded = r->guards > 0,
                       .param = (int16_t)param,
                       .src = {index.id, -1, -1}};
  return cx__step(r, s);
}

static cx_value array_member(cx_reader *r, int param) {
  int64_t w = r->at++;
  if (cx__take(r, "ndim")) return cx__convert(r, cx__of_param(r, TT_F_LEN, param, TT_F_RANK, TT_I64), TT_I32, w);
  if (cx__take(r, "size")) {
    cx__expect(r, "(");
    cx__expect(r, ")");
    return cx__of_param(r, TT_F_LEN, param, TT_F_SIZE, TT_I64);
  }
  if (!cx__take(r, "shape") || !cx__take(r, "(") || !cx__take(r, ")") || !cx__take(r, "["))
    cx__beyond(r, w, "a member of an array");
  const cx_word *n = cx__word(r, r->at);
  if (n->kind != 'n' || n->len > 2 || !cx__is(r, r->at + 1, "]")) cx__beyond(r, w, "a length along a computed axis");
  int axis = *n->at - '0';
  if (n->len == 2) axis = axis * 10 + n->at[1] - '0';
  if (axis < 0 || axis >= TT_MAX_RANK) cx__beyond(r, w, "a length along a computed axis");
  r->at += 2;
  return cx__of_param(r, TT_F_LEN, param, axis, TT_I64);
}

static cx_value array_use(cx_reader *r, int64_t var) {
  int param = r->var.data[var].param;
  if (cx__is(r, r->at, ".")) return array_member(r, param);
  if (!cx__is(r, r->at, "[")) cx__beyond(r, r->at - 1, "an array used as a pointer");
  int64_t w = r->at;
  cx_value index = index_in_brackets(r);
  if (cx__is(r, r->at, "[")) cx__beyond(r, w, "an array indexed twice");
  if (cx__is_own(r, index.id) && r->var.data[var].now >= 0) return cx__read(r, var);
  return load(r, param, index);
}

/* x.real() and x.imag() of a complex number. */
static cx_value members(cx_reader *r, cx_value v) {
  while (cx__is(r, r->at, ".")) {
    int64_t w = ++r->at;
    bool re = cx__is(r, w, "real");
    if (!tt__is_complex((tt_dtype)v.dtype) || (!re && !cx__is(r, w, "imag"))) cx__beyond(r, w, "a member of a value");
    r->at++;
    cx__expect(r, "(");
    if (!cx__take(r, ")")) cx__beyond(r, w, "a part of a complex number that is set");
    v = cx__op(r, re ? TT_REAL : TT_IMAG, (uint8_t)tt__real_of((tt_dtype)v.dtype), v, NULL, NULL);
  }
  return v;
}

/* Type(a). */
static cx_value construct(cx_reader *r, uint8_t dtype) {
  int64_t w = r->at;
  if (dtype >= TT_DTYPE_COUNT) cx__beyond(r, w, "a value of type %s", cx__type_name(dtype));
  if (!cx__is(r, w, "(") && !cx__is(r, w, "{")) cx__beyond(r, w, "a type in an expression");
  bool brace = cx__take(r, "{");
  if (!brace) cx__expect(r, "(");
  const char *close = brace ? "}" : ")";
  if (cx__take(r, close)) return cx__convert(r, cx__const_int(r, TT_I32, 0), dtype, w);
  cx_value a = cx__assignment(r);
  if (cx__is(r, r->at, ",")) cx__beyond(r, w, "a value made of several");
  cx__expect(r, close);
  return cx__convert(r, a, dtype, w);
}

/* A name that stands for nothing. CUDA's own words, and what looks like a macro, are for a compiler. */
_Noreturn static void unknown_name(cx_reader *r, int64_t w) {
  static const char *const cuda[] = {
      "threadIdx", "blockIdx", "blockDim", "gridDim",   "warpSize",         "this",   "sizeof",
      "new",       "delete",   "nullptr",  "decltype",  "operator",         "asm",    "throw",
      "typename",  "template", "cuda",     "namespace", "reinterpret_cast", "alignof"};
  const cx_word *x = cx__word(r, w);
  bool upper = true;
  for (uint32_t k = 0; k < x->len; k++) upper &= !(x->at[k] >= 'a' && x->at[k] <= 'z');
  for (size_t k = 0; k < sizeof cuda / sizeof *cuda; k++) upper |= cx__is(r, w, cuda[k]);
  if (upper || x->at[0] == '_' || cx__word(r, w + 1)->kind == 'i' || cx__is(r, w + 1, "::") || cx__is(r, w + 1, "<"))
    cx__beyond(r, w, "the name '%.*s' is not known", (int)x->len, x->at);
  cx__wrong(r, w, "'%.*s' was not declared in this scope", (int)x->len, x->at);
}

static cx_value static_cast(cx_reader *r) {
  uint8_t dtype;
  int64_t w = r->at, end;
  cx__expect(r, "<");
  if (!cx__type_at(r, r->at, &dtype, &end) || dtype >= TT_DTYPE_COUNT) cx__beyond(r, w, "a cast to another type");
  r->at = end;
  cx__expect(r, ">");
  cx__expect(r, "(");
  cx_value v = cx__expression(r);
  cx__expect(r, ")");
  return cx__convert(r, v, dtype, w);
}

static cx_value name(cx_reader *r) {
  int64_t w = r->at, end;
  uint8_t dtype;
  cx_value v;
  if (cx__take(r, "static_cast")) return static_cast(r);
  if (cx__is(r, w, "_ind") && cx__is(r, w + 1, ".") && cx__is(r, w + 2, "size") && cx__is(r, w + 3, "(") &&
      cx__is(r, w + 4, ")")) {
    r->at += 5;
    return cx__of_param(r, TT_F_COUNT, -1, 0, TT_I64);
  }
  if ((cx__is(r, w, "std") || cx__is(r, w, "thrust")) && cx__is(r, w + 1, "::")) {
    w = r->at += 2;
    if (cx__word(r, w)->kind != 'i') cx__beyond(r, w, "a qualified name");
  }
  cx_var *var = cx__var_named(r, cx__word(r, w)->at, cx__word(r, w)->len);
  if (var) {
    r->at++;
    if (cx__is(r, r->at, "++") || cx__is(r, r->at, "--")) cx__beyond(r, r->at, "a step inside an expression");
    if (var->is_array) return array_use(r, var - r->var.data);
    return members(r, cx__read(r, var - r->var.data));
  }
  if (cx__type_at(r, w, &dtype, &end)) {
    r->at = end;
    return construct(r, dtype);
  }
  r->at++;
  if (cx__is(r, w + 1, "(")) return cx__call(r, w);
  if (named_constant(r, cx__word(r, w), &v)) return v;
  unknown_name(r, w);
}

static cx_value primary(cx_reader *r) {
  const cx_word *w = cx__word(r, r->at);
  if (w->kind == 'n') return cx__number(r);
  if (w->kind == 'i') return name(r);
  if (cx__take(r, "(")) {
    cx_value v = cx__expression(r);
    cx__expect(r, ")");
    return v;
  }
  if (!w->kind) cx__wrong(r, r->at, "expected primary-expression at end of input");
  if (memchr(";)],}=<>?:/%|^", *w->at, 14) && w->len == 1)
    cx__wrong(r, r->at, "expected primary-expression before '%c' token", *w->at);
  cx__beyond(r, r->at, "'%.*s' in an expression", (int)w->len, w->at);
}

static cx_value signed_value(cx_reader *r) {
  int64_t w = r->at;
  char op = *cx__word(r, w)->at;
  r->at++;
  cx_value v = unary(r);
  if (op == '!') return cx__op1(r, TT_LNOT, cx__truth(r, v, w));
  v = cx__convert(r, v, cx__promoted(v.dtype), w);
  if (op == '~') {
    if (!cx__is_whole(v.dtype)) cx__wrong(r, w, "wrong type argument to bit-complement");
    return cx__op1(r, TT_NOT, v);
  }
  return op == '-' ? cx__op1(r, TT_NEG, v) : v;
}

static cx_value unary(cx_reader *r) {
  if (++r->depth > CX_MOST_DEPTH) cx__beyond(r, r->at, "brackets are nested deeply");
  const cx_word *w = cx__word(r, r->at);
  cx_value v;
  uint8_t dtype;
  int64_t end;
  if (w->kind == 'o' && w->len == 1 && memchr("!~-+", *w->at, 4)) {
    v = signed_value(r);
  } else if (cx__is(r, r->at, "(") && cx__type_at(r, r->at + 1, &dtype, &end) && cx__is(r, end, ")")) {
    int64_t at = r->at;
    if (dtype >= TT_DTYPE_COUNT) cx__beyond(r, at, "a cast to %s", cx__type_name(dtype));
    r->at = end + 1;
    v = cx__convert(r, unary(r), dtype, at);
  } else {
    v = members(r, primary(r));
  }
  r->depth--;
  return v;
}

/* ---- assignments */

static const char *assignment_operator(const cx_reader *r, int64_t w) {
  static const char *const ops[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
    if (cx__is(r, w, ops[k])) return ops[k];
  return NULL;
}

/* The place of the operator of an assignment that starts here, or -1. */
static int64_t find_assignment(const cx_reader *r) {
  int64_t w = r->at;
  if (cx__word(r, w)->kind != 'i') return -1;
  if (cx__is(r, ++w, "[")) w = cx__close(r, w);
  return assignment_operator(r, w) ? w : -1;
}

/* The variable on the left, its index checked. */
static int64_t target(cx_reader *r, int64_t op) {
  int64_t w = r->at;
  cx_var *var = cx__var_named(r, cx__word(r, w)->at, cx__word(r, w)->len);
  if (!var) unknown_name(r, w);
  int64_t found = var - r->var.data;
  if (r->inside) cx__beyond(r, w, "an assignment in an operand of ?:, && or ||");
  if (var->is_array != (op > w + 1)) cx__beyond(r, w, var->is_array ? "an array assigned to" : "an index of a value");
  r->at++;
  if (op > w + 1 && !cx__is_own(r, index_in_brackets(r).id))
    cx__beyond(r, w, "a write to another element than its own");
  if (r->at != op) cx__beyond(r, w, "an assignment to this");
  return found;
}

cx_value cx__assignment(cx_reader *r) {
  int64_t op = find_assignment(r);
  if (op < 0) return ternary(r);
  if (++r->depth > CX_MOST_DEPTH) cx__beyond(r, r->at, "assignments are nested deeply");
  int64_t w = r->at, var = target(r, op);
  if (r->var.data[var].fixed)
    cx__wrong(r, w, "assignment of read-only variable '%.*s'", (int)r->var.data[var].len, r->var.data[var].name);
  const char *how = assignment_operator(r, op);
  char binary_op[3] = {how[0], how[1] == '<' || how[1] == '>' ? how[1] : 0, 0};
  r->at++;
  cx_value v = cx__assignment(r);
  uint8_t t = r->var.data[var].dtype;
  if (*how != '=') {
    cx_value old = cx__read(r, var);
    bool half = cx__is_half(t); /* a half's operators take halves */
    v = cx__binary(r, op, binary_op, old, half ? cx__convert(r, v, t, op) : v);
  }
  v = cx__convert(r, v, t, op);
  cx__write(r, var, v);
  r->depth--;
  return v;
}

cx_value cx__expression(cx_reader *r) {
  cx_value v = cx__assignment(r);
  while (cx__take(r, ",")) v = cx__assignment(r);
  return v;
}
