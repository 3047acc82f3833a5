/*
** The dtype table and NumPy's promotion lattice.
*/
#include "ir/dtype.h"

#include <assert.h>
#include <string.h>

const tt_dtype_info tt__dtypes[TT_DTYPE_COUNT] = {
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) {name, #suffix, typestr, format, kind, bytes},
#include "tutti/dtype.def"
#undef TT_DTYPE
};

tt_dtype tt__complex_of(tt_dtype t) {
  assert((unsigned)t < TT_DTYPE_COUNT);
  if (tt__is_complex(t)) return t;
  return t == TT_F16 || t == TT_BF16 || t == TT_F32 ? TT_C64 : TT_C128;
}

tt_dtype tt__dtype_named(const char *name) {
  static const struct {
    const char *name;
    tt_dtype type;
  } alias[] = {{"?", TT_BOOL},     {"b", TT_I8},       {"h", TT_I16},      {"i", TT_I32},        {"l", TT_I64},
               {"q", TT_I64},      {"B", TT_U8},       {"H", TT_U16},      {"I", TT_U32},        {"L", TT_U64},
               {"Q", TT_U64},      {"e", TT_F16},      {"f", TT_F32},      {"d", TT_F64},        {"F", TT_C64},
               {"D", TT_C128},     {"int", TT_I64},    {"float", TT_F64},  {"complex", TT_C128}, {"uint", TT_U64},
               {"half", TT_F16},   {"single", TT_F32}, {"double", TT_F64}, {"csingle", TT_C64},  {"cdouble", TT_C128},
               {"intp", TT_I64},   {"uintp", TT_U64},  {"byte", TT_I8},    {"ubyte", TT_U8},     {"short", TT_I16},
               {"ushort", TT_U16}, {"intc", TT_I32},   {"uintc", TT_U32},  {"bool_", TT_BOOL},   {"long", TT_I64},
               {"ulong", TT_U64}};
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    const tt_dtype_info *d = &tt__dtypes[t];
    if (strcmp(d->name, name) == 0 || strcmp(d->typestr, name) == 0) return (tt_dtype)t;
    if ((name[0] == '=' || name[0] == '<' || name[0] == '|') && strcmp(d->typestr + 1, name + 1) == 0)
      return (tt_dtype)t;
    if (strcmp(d->typestr + 1, name) == 0) return (tt_dtype)t;
  }
  for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
    if (strcmp(alias[i].name, name) == 0) return alias[i].type;
  return TT_DTYPE_NONE;
}

/* The float type that holds every value of an integer type, as NumPy's promotion has it. */
static tt_dtype float_for_int(tt_dtype t) {
  switch (tt__dtype_size(t)) {
    case 1:
      return TT_F16;
    case 2:
      return TT_F32;
    default:
      return TT_F64;
  }
}

static tt_dtype promote_ints(tt_dtype a, tt_dtype b) {
  bool ua = tt__is_unsigned(a), ub = tt__is_unsigned(b);
  if (ua == ub) return tt__dtype_size(a) >= tt__dtype_size(b) ? a : b;
  tt_dtype s = ua ? b : a, u = ua ? a : b;
  if (tt__dtype_size(s) > tt__dtype_size(u)) return s;
  switch (tt__dtype_size(u)) {
    case 1:
      return TT_I16;
    case 2:
      return TT_I32;
    case 4:
      return TT_I64;
    default:
      return TT_F64; /* uint64 with a signed type: NumPy's float64 */
  }
}

static tt_dtype promote_floats(tt_dtype a, tt_dtype b) {
  if (a == b) return a;
  if ((a == TT_F16 && b == TT_BF16) || (a == TT_BF16 && b == TT_F16)) return TT_F32;
  return a > b ? a : b; /* rows are in order of width */
}

tt_dtype tt__promote(tt_dtype a, tt_dtype b) {
  assert((unsigned)a < TT_DTYPE_COUNT && (unsigned)b < TT_DTYPE_COUNT);
  if (a == b) return a;
  if (a == TT_BOOL) return b;
  if (b == TT_BOOL) return a;
  if (tt__is_int(a) && tt__is_int(b)) return promote_ints(a, b);
  if (tt__is_complex(a) || tt__is_complex(b)) {
    tt_dtype ra = tt__is_int(a) ? float_for_int(a) : tt__real_of(a);
    tt_dtype rb = tt__is_int(b) ? float_for_int(b) : tt__real_of(b);
    return tt__complex_of(promote_floats(ra, rb));
  }
  /* bfloat16 takes 8-bit integers as float16 does; wider ones as float16 would. */
  if (tt__is_int(a)) a = float_for_int(a) == TT_F16 && b == TT_BF16 ? TT_BF16 : float_for_int(a);
  if (tt__is_int(b)) b = float_for_int(b) == TT_F16 && a == TT_BF16 ? TT_BF16 : float_for_int(b);
  return promote_floats(a, b);
}

tt_scalar tt__dtype_one(tt_dtype t) {
  assert((unsigned)t < TT_DTYPE_COUNT);
  tt_scalar one = {.bits = {0, 0}};
  switch (t) {
    case TT_F16:
      one.f16 = 0x3c00;
      break;
    case TT_BF16:
      one.bf16 = 0x3f80;
      break;
    case TT_F32:
      one.f32 = 1;
      break;
    case TT_F64:
      one.f64 = 1;
      break;
    case TT_C64:
      one.c64.re = 1;
      break;
    case TT_C128:
      one.c128.re = 1;
      break;
    default:
      one.u64 = 1; /* little endian: the low bytes of every width */
  }
  return one;
}
