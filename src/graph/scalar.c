/*
** One element of any type: from a value and back. It must not know nodes or arrays.
*/
#include <assert.h>
#include <math.h>
#include <string.h>

#include "graph/build.h"
#include "scalar/prelude.h"

/* ---- reading an element */

tt_value tt__scalar_load(tt_dtype dtype, const void *p) {
  assert((unsigned)dtype < TT_DTYPE_COUNT);
  tt_scalar s = {.bits = {0, 0}};
  memcpy(&s, p, tt__dtype_size(dtype));
  tt_value v = {.tag = TT_V_INT};
  switch (dtype) {
    case TT_BOOL:
      v.tag = TT_V_BOOL;
      v.as.b = s.b8 != 0;
      return v;
    case TT_I8:
      return tt_v_int(s.i8);
    case TT_I16:
      return tt_v_int(s.i16);
    case TT_I32:
      return tt_v_int(s.i32);
    case TT_I64:
      return tt_v_int(s.i64);
    case TT_U8:
      return tt_v_int(s.u8);
    case TT_U16:
      return tt_v_int(s.u16);
    case TT_U32:
      return tt_v_int(s.u32);
    case TT_U64:
      if (s.u64 <= INT64_MAX) return tt_v_int((int64_t)s.u64);
      v.tag = TT_V_UINT;
      v.as.u = s.u64;
      return v;
    case TT_F16:
      return tt_v_float((double)tt_cast_f16_f32(s.f16));
    case TT_BF16:
      return tt_v_float((double)tt_cast_bf16_f32(s.bf16));
    case TT_F32:
      return tt_v_float((double)s.f32);
    case TT_F64:
      return tt_v_float(s.f64);
    case TT_C64:
      v.tag = TT_V_COMPLEX;
      v.as.z = (tt_c128){(double)s.c64.re, (double)s.c64.im};
      return v;
    default:
      v.tag = TT_V_COMPLEX;
      v.as.z = s.c128;
      return v;
  }
}

/* ---- writing one */

static double real_part(const tt_value *v) {
  switch (v->tag) {
    case TT_V_BOOL:
      return v->as.b;
    case TT_V_INT:
      return (double)v->as.i;
    case TT_V_UINT:
      return (double)v->as.u;
    case TT_V_FLOAT:
      return v->as.f;
    case TT_V_COMPLEX:
      return v->as.z.re;
    default:
      return 0;
  }
}

static bool truth(const tt_value *v) {
  if (v->tag == TT_V_COMPLEX) return v->as.z.re != 0 || v->as.z.im != 0;
  return v->tag == TT_V_INT ? v->as.i != 0 : v->tag == TT_V_UINT ? v->as.u != 0 : real_part(v) != 0;
}

/* The bits of the integer, two's complement; floats towards zero, INT64_MIN for what does not fit, as the x86 does. */
static uint64_t integer_bits(const tt_value *v) {
  if (v->tag == TT_V_INT) return (uint64_t)v->as.i;
  if (v->tag == TT_V_UINT) return v->as.u;
  double x = real_part(v);
  if (x >= -0x1p63 && x < 0x1p63) return (uint64_t)(int64_t)x;
  if (x >= 0x1p63 && x < 0x1p64) return (uint64_t)x;
  return (uint64_t)INT64_MIN;
}

tt_scalar tt__scalar_from(const tt_value *v, tt_dtype dtype) {
  assert((unsigned)dtype < TT_DTYPE_COUNT);
  tt_scalar s = {.bits = {0, 0}};
  switch (dtype) {
    case TT_BOOL:
      s.b8 = truth(v);
      break;
    case TT_I8:
    case TT_U8:
      s.u8 = (uint8_t)integer_bits(v);
      break;
    case TT_I16:
    case TT_U16:
      s.u16 = (uint16_t)integer_bits(v);
      break;
    case TT_I32:
    case TT_U32:
      s.u32 = (uint32_t)integer_bits(v);
      break;
    case TT_I64:
    case TT_U64:
      s.u64 = integer_bits(v);
      break;
    case TT_F16:
      s.f16 = tt_cast_f64_f16(real_part(v));
      break;
    case TT_BF16:
      s.bf16 = tt_cast_f64_bf16(real_part(v));
      break;
    case TT_F32:
      s.f32 = (float)real_part(v);
      break;
    case TT_F64:
      s.f64 = real_part(v);
      break;
    case TT_C64:
      s.c64.re = (float)real_part(v);
      s.c64.im = v->tag == TT_V_COMPLEX ? (float)v->as.z.im : 0;
      break;
    default:
      s.c128.re = real_part(v);
      s.c128.im = v->tag == TT_V_COMPLEX ? v->as.z.im : 0;
  }
  return s;
}

/* ---- Python's rules */

tt_dtype tt__value_dtype(const tt_value *v) {
  switch (v->tag) {
    case TT_V_BOOL:
      return TT_BOOL;
    case TT_V_INT:
      return TT_I64;
    case TT_V_UINT:
      return TT_U64;
    case TT_V_FLOAT:
      return TT_F64;
    case TT_V_COMPLEX:
      return TT_C128;
    case TT_V_ARRAY:
      return v->as.array ? (tt_dtype)v->as.array->dtype : TT_DTYPE_NONE;
    case TT_V_DTYPE:
      return v->as.dtype;
    default:
      return TT_DTYPE_NONE;
  }
}

bool tt__int_fits(const tt_value *v, tt_dtype dtype) {
  assert(tt__is_int(dtype));
  int bits = (int)tt__dtype_size(dtype) * 8;
  if (tt__is_unsigned(dtype)) {
    uint64_t most = UINT64_MAX >> (64 - bits);
    return v->tag == TT_V_UINT ? v->as.u <= most : v->as.i >= 0 && (uint64_t)v->as.i <= most;
  }
  int64_t most = INT64_MAX >> (64 - bits);
  return v->tag == TT_V_UINT ? v->as.u <= (uint64_t)most : v->as.i <= most && v->as.i >= -most - 1;
}

static const char *type_name(const tt_value *v) {
  switch (v->tag) {
    case TT_V_STRING:
      return "str";
    case TT_V_TUPLE:
      return "tuple";
    case TT_V_SLICE:
      return "slice";
    case TT_V_ELLIPSIS:
      return "ellipsis";
    case TT_V_COMPLEX:
      return "complex";
    default:
      return "NoneType";
  }
}

static tt_code fail_int_range(const tt_value *v, tt_dtype dtype, tt_error *err) {
  if (v->tag == TT_V_UINT && dtype == TT_U32)
    return tt__fail(err, TT_EOVERFLOW, "Python integer %llu out of bounds for uint32", (unsigned long long)v->as.u);
  if (v->tag == TT_V_UINT) return tt__fail(err, TT_EOVERFLOW, "Python int too large to convert to C long");
  return tt__fail(err, TT_EOVERFLOW, "Python integer %lld out of bounds for %s", (long long)v->as.i,
                  tt__dtypes[dtype].name);
}

tt_code tt__check_whole_numbers(const tt_value *v, int n, tt_dtype dtype, tt_error *err) {
  if (!tt__is_int(dtype)) return TT_OK;
  for (int k = 0; k < n; k++) {
    bool whole = v[k].tag == TT_V_INT || v[k].tag == TT_V_UINT;
    if (whole && !tt__int_fits(&v[k], dtype)) return fail_int_range(&v[k], dtype, err);
  }
  return TT_OK;
}

tt_code tt__value_scalar(const tt_value *v, tt_dtype dtype, tt_scalar *out, tt_error *err) {
  assert((unsigned)dtype < TT_DTYPE_COUNT);
  tt_value whole;
  *out = (tt_scalar){.bits = {0, 0}};
  if (v->tag < TT_V_BOOL || v->tag > TT_V_COMPLEX ||
      (v->tag == TT_V_COMPLEX && !tt__is_complex(dtype) && dtype != TT_BOOL)) {
    if (tt__is_int(dtype))
      return tt__fail(err, TT_ETYPE, "int() argument must be a string, a bytes-like object or a real number, not '%s'",
                      type_name(v));
    return tt__fail(err, TT_ETYPE, "float() argument must be a string or a real number, not '%s'", type_name(v));
  }
  if (tt__is_int(dtype) && v->tag == TT_V_FLOAT) { /* int(x) first, as Python would */
    double x = v->as.f;
    if (isnan(x)) return tt__fail(err, TT_EVALUE, "cannot convert float NaN to integer");
    if (isinf(x)) return tt__fail(err, TT_EOVERFLOW, "cannot convert float infinity to integer");
    if (x >= 0x1p64 || x < -0x1p63) return tt__fail(err, TT_EOVERFLOW, "Python int too large to convert to C long");
    whole = x >= 0x1p63 ? (tt_value){.tag = TT_V_UINT, .as.u = (uint64_t)x} : tt_v_int((int64_t)x);
    v = &whole;
  }
  if (tt__is_int(dtype) && (v->tag == TT_V_INT || v->tag == TT_V_UINT) && !tt__int_fits(v, dtype))
    return fail_int_range(v, dtype, err);
  *out = tt__scalar_from(v, dtype);
  return TT_OK;
}

tt_code tt__value_array(const tt_value *v, tt_dtype hint, tt_array **out, tt_error *err) {
  *out = NULL;
  if (v->tag == TT_V_ARRAY && v->as.array) {
    *out = tt__array_retain(v->as.array);
    return TT_OK;
  }
  tt_dtype dtype = hint == TT_DTYPE_NONE ? tt__value_dtype(v) : hint;
  if (dtype == TT_DTYPE_NONE) return tt__fail(err, TT_ETYPE, "expected an array or a number, not '%s'", type_name(v));
  return tt__full(dtype, 0, NULL, v, out, err);
}
