/*
** C's types and conversions over steps of a formula. Equal steps are made once.
**
** What C leaves open is what CUDA's instructions do: signed arithmetic wraps, a float beyond an integer type gives the
** type's end and NaN gives 0 (from double, and to 64 bits: the lowest bit pattern), x / 0 has all bits set and x % 0
** is x.
*/
#include <math.h>
#include <string.h>

#include "lang/expr/expr_int.h"

/* ---- names */

static const struct {
  const char *name;
  uint8_t dtype;
} type_names[] = {
    {"bool", TT_BOOL},        {"float", TT_F32},    {"double", TT_F64},    {"half", TT_F16},
    {"__half", TT_F16},       {"float16", TT_F16},  {"bfloat16", TT_BF16}, {"__nv_bfloat16", TT_BF16},
    {"nv_bfloat16", TT_BF16}, {"size_t", TT_U64},   {"ptrdiff_t", TT_I64}, {"int8_t", TT_I8},
    {"int16_t", TT_I16},      {"int32_t", TT_I32},  {"int64_t", TT_I64},   {"uint8_t", TT_U8},
    {"uint16_t", TT_U16},     {"uint32_t", TT_U32}, {"uint64_t", TT_U64},  {"auto", CX_AUTO},
    {"void", CX_VOID},        {"uchar", TT_U8},     {"ushort", TT_U16},    {"uint", TT_U32},
    {"ulong", TT_U64},        {"longlong", TT_I64}, {"ulonglong", TT_U64}, {"intptr_t", TT_I64},
    {"uintptr_t", TT_U64},
};

const char *cx__type_name(uint8_t dtype) {
  static const char *const name[] = {[TT_BOOL] = "bool",
                                     [TT_I8] = "signed char",
                                     [TT_I16] = "short",
                                     [TT_I32] = "int",
                                     [TT_I64] = "long long",
                                     [TT_U8] = "unsigned char",
                                     [TT_U16] = "unsigned short",
                                     [TT_U32] = "unsigned int",
                                     [TT_U64] = "unsigned long long",
                                     [TT_F16] = "__half",
                                     [TT_BF16] = "__nv_bfloat16",
                                     [TT_F32] = "float",
                                     [TT_F64] = "double",
                                     [TT_C64] = "complex<float>",
                                     [TT_C128] = "complex<double>"};
  return dtype < TT_DTYPE_COUNT ? name[dtype] : dtype == CX_AUTO ? "auto" : "void";
}

/* char, short, int, long, signed and unsigned in any order. */
static bool integer_words(const cx_reader *r, int64_t *w, uint8_t *dtype) {
  int64_t from = *w;
  int longs = 0;
  bool is_unsigned = false, is_char = false, is_short = false;
  for (;; ++*w) {
    if (cx__is(r, *w, "long"))
      longs++;
    else if (cx__is(r, *w, "unsigned"))
      is_unsigned = true;
    else if (cx__is(r, *w, "char"))
      is_char = true;
    else if (cx__is(r, *w, "short"))
      is_short = true;
    else if (!cx__is(r, *w, "int") && !cx__is(r, *w, "signed") && !(*w > from && cx__is(r, *w, "const")))
      break;
  }
  *dtype = is_char ? TT_I8 : is_short ? TT_I16 : longs ? TT_I64 : TT_I32;
  if (is_unsigned) *dtype = is_char ? TT_U8 : is_short ? TT_U16 : longs ? TT_U64 : TT_U32;
  return *w > from;
}

static bool is_qualifier(const cx_reader *r, int64_t w) {
  static const char *const words[] = {"const", "constexpr", "volatile", "static", "inline", "register", "typename"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (cx__is(r, w, words[k])) return true;
  return false;
}

static bool named_type(const cx_reader *r, const cx_word *w, uint8_t *dtype) {
  for (int64_t k = r->alias.n; k-- > 0;) {
    if (k >= r->alias_global && k < r->alias_base) continue; /* of a function that calls this one */
    if (cx__same(r->alias.data[k].name, r->alias.data[k].len, w->at, w->len)) {
      *dtype = r->alias.data[k].dtype;
      return true;
    }
  }
  for (int k = 0; k < r->s->nalias; k++)
    if (cx__same(r->s->alias[k].name, (uint32_t)strlen(r->s->alias[k].name), w->at, w->len)) {
      *dtype = (uint8_t)r->s->alias[k].dtype;
      return true;
    }
  for (size_t k = 0; k < sizeof type_names / sizeof *type_names; k++)
    if (cx__same(type_names[k].name, (uint32_t)strlen(type_names[k].name), w->at, w->len)) {
      *dtype = type_names[k].dtype;
      return true;
    }
  return false;
}

static bool complex_type(cx_reader *r, int64_t *w, uint8_t *dtype) {
  uint8_t part;
  int64_t end;
  if (!cx__is(r, *w, "complex") || !cx__is(r, *w + 1, "<")) return false;
  if (!cx__type_at(r, *w + 2, &part, &end) || !cx__is(r, end, ">") || (part != TT_F32 && part != TT_F64)) return false;
  *dtype = part == TT_F32 ? TT_C64 : TT_C128;
  *w = end + 1;
  return true;
}

bool cx__type_at(cx_reader *r, int64_t w, uint8_t *dtype, int64_t *end) {
  if (++r->depth > CX_MOST_DEPTH) cx__beyond(r, w, "brackets are nested deeply");
  int64_t from = w;
  while (is_qualifier(r, w)) w++;
  if ((cx__is(r, w, "std") || cx__is(r, w, "thrust")) && cx__is(r, w + 1, "::")) w += 2;
  bool found = cx__word(r, w)->kind == 'i';
  if (found && !integer_words(r, &w, dtype) && !complex_type(r, &w, dtype)) {
    found = named_type(r, cx__word(r, w), dtype);
    w++;
  }
  while (found && cx__is(r, w, "const")) w++;
  *end = w;
  r->depth--;
  return found && w > from;
}

/* ---- steps */

static bool same_step(const tt_formula_step *a, const tt_formula_step *b) {
  return a->kind == b->kind && a->op == b->op && a->dtype == b->dtype && a->guarded == b->guarded &&
         a->param == b->param && a->axis == b->axis && memcmp(a->src, b->src, sizeof a->src) == 0 &&
         memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

cx_value cx__step(cx_reader *r, tt_formula_step s) {
  for (int64_t k = r->f->step.n; k-- > 0;)
    if (same_step(&r->f->step.data[k], &s)) return (cx_value){(int32_t)k, s.dtype};
  if (r->f->step.n >= CX_MOST_STEPS) cx__beyond(r, r->at, "it has more than %d operations", CX_MOST_STEPS);
  if (!TT_VEC_PUSH(&r->f->step, s)) cx__no_memory(r);
  return (cx_value){(int32_t)r->f->step.n - 1, s.dtype};
}

static tt_formula_step blank(tt_formula_kind kind, uint8_t dtype) {
  return (tt_formula_step){.kind = (uint8_t)kind, .dtype = dtype, .param = -1, .src = {-1, -1, -1}};
}

cx_value cx__of_param(cx_reader *r, tt_formula_kind kind, int param, int axis, uint8_t dtype) {
  tt_formula_step s = blank(kind, dtype);
  s.param = (int16_t)param;
  s.axis = (int16_t)axis;
  return cx__step(r, s);
}

cx_value cx__op(cx_reader *r, tt_op op, uint8_t dtype, cx_value a, const cx_value *b, const cx_value *c) {
  tt_formula_step s = blank(TT_F_OP, dtype);
  s.op = (uint8_t)op;
  s.src[0] = a.id;
  if (b) s.src[1] = b->id;
  if (c) s.src[2] = c->id;
  return cx__step(r, s);
}

cx_value cx__op1(cx_reader *r, tt_op op, cx_value a) { return cx__op(r, op, a.dtype, a, NULL, NULL); }

cx_value cx__op2(cx_reader *r, tt_op op, cx_value a, cx_value b) {
  int cls = tt__ops[op].cls;
  bool truth = cls == TT_CLASS_COMPARE || cls == TT_CLASS_LOGIC;
  return cx__op(r, op, truth ? TT_BOOL : a.dtype, a, &b, NULL);
}

cx_value cx__where(cx_reader *r, cx_value mask, cx_value a, cx_value b) {
  bool is_mask = a.dtype == TT_BOOL && cx__is_const(r, a) && cx__is_const(r, b) && r->f->step.data[a.id].value.b8 &&
                 !r->f->step.data[b.id].value.b8;
  if (is_mask) return mask;
  return a.id == b.id ? a : cx__op(r, TT_WHERE, a.dtype, mask, &a, &b);
}

cx_value cx__const_int(cx_reader *r, uint8_t dtype, int64_t i) {
  tt_formula_step s = blank(TT_F_CONST, dtype);
  switch (dtype) {
    case TT_F32:
      s.value.f32 = (float)i;
      break;
    case TT_F64:
      s.value.f64 = (double)i;
      break;
    default:
      s.value.i64 = i; /* little-endian: the low bytes are the narrower types' */
      if (tt__dtype_size((tt_dtype)dtype) < 8) s.value.i64 &= (INT64_C(1) << 8 * tt__dtype_size((tt_dtype)dtype)) - 1;
  }
  return cx__step(r, s);
}

cx_value cx__const_float(cx_reader *r, uint8_t dtype, double d) {
  tt_formula_step s = blank(TT_F_CONST, dtype);
  if (dtype == TT_F32)
    s.value.f32 = (float)d;
  else
    s.value.f64 = d;
  return cx__step(r, s);
}

/* ---- conversions */

uint8_t cx__promoted(uint8_t t) { return cx__is_whole(t) && tt__dtype_size((tt_dtype)t) < 4 ? TT_I32 : t; }

uint8_t cx__common(uint8_t a, uint8_t b) {
  a = cx__promoted(a);
  b = cx__promoted(b);
  if (a == b) return a;
  if (tt__is_complex((tt_dtype)a) || tt__is_complex((tt_dtype)b)) /* a real number takes the complex one's type */
    return a == TT_C128 || b == TT_C128 ? TT_C128 : TT_C64;
  if (a == TT_F64 || b == TT_F64) return TT_F64;
  if (tt__is_float((tt_dtype)a) || tt__is_float((tt_dtype)b)) return TT_F32; /* halves among others, too */
  size_t size[2] = {tt__dtype_size((tt_dtype)a), tt__dtype_size((tt_dtype)b)};
  if (size[0] != size[1]) return size[0] > size[1] ? a : b;
  return tt__is_unsigned((tt_dtype)a) ? a : b;
}

static cx_value cast(cx_reader *r, cx_value v, uint8_t dtype) { return cx__op(r, TT_CAST, dtype, v, NULL, NULL); }

/* 2^k in a float type. */
static cx_value power_of_two(cx_reader *r, uint8_t dtype, int k) { return cx__const_float(r, dtype, ldexp(1, k)); }

static cx_value float_to_int(cx_reader *r, cx_value v, uint8_t to) {
  int bits = (int)tt__dtype_size((tt_dtype)to) * 8;
  bool is_unsigned = tt__is_unsigned((tt_dtype)to), wide = v.dtype == TT_F64 || bits == 64;
  cx_value x = cast(r, v, to), end = power_of_two(r, v.dtype, is_unsigned ? bits : bits - 1);
  cx_value most = cx__const_int(r, to, is_unsigned ? -1 : (int64_t)(~UINT64_C(0) >> (65 - bits)));
  cx_value least = cx__const_int(r, to, is_unsigned ? 0 : INT64_MIN >> (64 - bits));
  cx_value no_number = cx__const_int(r, to, wide ? INT64_MIN >> (64 - bits) : 0);
  if (is_unsigned) x = cx__where(r, cx__op2(r, TT_GT, v, cx__const_float(r, v.dtype, -1)), x, least);
  x = cx__where(r, cx__op2(r, TT_GE, v, end), most, x);
  if (wide != is_unsigned) return x; /* the cast itself gives the lowest value, and the comparison with -1 the 0 */
  return cx__where(r, cx__op(r, TT_ISNAN, TT_BOOL, v, NULL, NULL), no_number, x);
}

cx_value cx__convert(cx_reader *r, cx_value v, uint8_t dtype, int64_t w) {
  if (v.dtype == dtype) return v;
  if (tt__is_complex((tt_dtype)v.dtype) && !tt__is_complex((tt_dtype)dtype))
    cx__wrong(r, w, "cannot convert '%s' to '%s'", cx__type_name(v.dtype), cx__type_name(dtype));
  if (tt__is_float((tt_dtype)v.dtype) && tt__is_int((tt_dtype)dtype)) {
    if (cx__is_half(v.dtype)) v = cast(r, v, TT_F32);
    if (tt__dtype_size((tt_dtype)dtype) >= 4) return float_to_int(r, v, dtype);
    return cast(r, float_to_int(r, v, tt__is_unsigned((tt_dtype)dtype) ? TT_U32 : TT_I32), dtype);
  }
  if (cx__is_whole(v.dtype) && cx__is_half(dtype)) v = cx__convert(r, v, TT_F32, w);
  return cast(r, v, dtype);
}

cx_value cx__truth(cx_reader *r, cx_value v, int64_t w) { return cx__convert(r, v, TT_BOOL, w); }
