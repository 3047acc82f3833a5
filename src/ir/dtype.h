/*
** What every stage may ask about a data type. The rows are in tutti/dtype.def.
*/
#ifndef TT_IR_DTYPE_H
#define TT_IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tutti/types.h"

typedef struct tt_dtype_info {
  const char *name;    /* "float32" */
  const char *suffix;  /* "f32" */
  const char *typestr; /* NumPy's "<f4" */
  const char *format;  /* of the buffer protocol */
  char kind;           /* b i u f c */
  uint8_t size;        /* bytes of an element */
} tt_dtype_info;

TT_HIDDEN extern const tt_dtype_info tt__dtypes[TT_DTYPE_COUNT];

static inline size_t tt__dtype_size(tt_dtype t) { return tt__dtypes[t].size; }
static inline bool tt__is_int(tt_dtype t) { return tt__dtypes[t].kind == 'i' || tt__dtypes[t].kind == 'u'; }
static inline bool tt__is_unsigned(tt_dtype t) { return tt__dtypes[t].kind == 'u'; }
static inline bool tt__is_float(tt_dtype t) { return tt__dtypes[t].kind == 'f'; }
static inline bool tt__is_complex(tt_dtype t) { return tt__dtypes[t].kind == 'c'; }
/* float32 for complex64, float64 for complex128, else the type itself. */
static inline tt_dtype tt__real_of(tt_dtype t) { return t == TT_C64 ? TT_F32 : t == TT_C128 ? TT_F64 : t; }
/* complex64 for float16, bfloat16 and float32, complex128 for float64 and all integers; complex types themselves. */
TT_HIDDEN tt_dtype tt__complex_of(tt_dtype t);
/* The row whose name, NumPy type string or character code is `name`; TT_DTYPE_NONE when there is none. */
TT_HIDDEN tt_dtype tt__dtype_named(const char *name);
/* NumPy's promotion of two array types (NEP 50 without the weak scalars). */
TT_HIDDEN tt_dtype tt__promote(tt_dtype a, tt_dtype b);

/* One scalar of any type, as bytes in the type's own layout. */
typedef union tt_scalar {
  uint8_t b8;
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  uint8_t u8;
  uint16_t u16, f16, bf16;
  uint32_t u32;
  uint64_t u64;
  float f32;
  double f64;
  tt_c64 c64;
  tt_c128 c128;
  uint64_t bits[2];
} tt_scalar;

/* The number 1 (True). */
TT_HIDDEN tt_scalar tt__dtype_one(tt_dtype t);

#endif
