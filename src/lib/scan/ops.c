/*
** The scans of every operation and type. It must not know about threads.
*/
#include "lib/scan/scan_int.h"

#include <string.h>

#include "lib/scan/vector.h"

static inline tt_c64 add_c64(tt_c64 a, tt_c64 b) { return (tt_c64){a.re + b.re, a.im + b.im}; }
static inline tt_c128 add_c128(tt_c128 a, tt_c128 b) { return (tt_c128){a.re + b.re, a.im + b.im}; }
static inline tt_c64 mul_c64(tt_c64 a, tt_c64 b) {
  return (tt_c64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static inline tt_c128 mul_c128(tt_c128 a, tt_c128 b) {
  return (tt_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Small unsigned types compute in int; the cast is the wrapping that NumPy has. */
#define ADD_INT(a, b) (__typeof__(a))((a) + (b))
#define MUL_INT(a, b) (__typeof__(a))((uint64_t)(a) * (uint64_t)(b))
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define OR(a, b) (__typeof__(a))((a) | (b))
#define AND(a, b) (__typeof__(a))((a) & (b))
/* The comparison that is false for NaN keeps the other one; a NaN that came first stays. */
#define MAX(a, b) ((a) >= (b) || (a) != (a) ? (a) : (b))
#define MIN(a, b) ((a) <= (b) || (a) != (a) ? (a) : (b))
#define MAX_INT(a, b) ((a) > (b) ? (a) : (b))
#define MIN_INT(a, b) ((a) < (b) ? (a) : (b))

#define T uint8_t
#define NAME(x) sum_b8_##x
#define OP OR
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint8_t
#define NAME(x) prod_b8_##x
#define OP AND
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint8_t
#define NAME(x) sum_u8_##x
#define OP ADD_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint8_t
#define NAME(x) prod_u8_##x
#define OP MUL_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint16_t
#define NAME(x) sum_u16_##x
#define OP ADD_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint16_t
#define NAME(x) prod_u16_##x
#define OP MUL_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint32_t
#define NAME(x) sum_u32_##x
#define RUN tt__vector_run_u32
#define OP ADD_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint32_t
#define NAME(x) prod_u32_##x
#define OP MUL_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint64_t
#define NAME(x) sum_u64_##x
#define RUN tt__vector_run_u64
#define OP ADD_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint64_t
#define NAME(x) prod_u64_##x
#define OP MUL_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T float
#define NAME(x) sum_f32_##x
#define OP ADD
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T float
#define NAME(x) prod_f32_##x
#define OP MUL
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T double
#define NAME(x) sum_f64_##x
#define OP ADD
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T double
#define NAME(x) prod_f64_##x
#define OP MUL
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T tt_c64
#define NAME(x) sum_c64_##x
#define OP add_c64
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T tt_c64
#define NAME(x) prod_c64_##x
#define OP mul_c64
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T tt_c128
#define NAME(x) sum_c128_##x
#define OP add_c128
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T tt_c128
#define NAME(x) prod_c128_##x
#define OP mul_c128
#define EXACT 0
#include "lib/scan/ops_body.h"

#define T uint8_t
#define NAME(x) max_u8_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint8_t
#define NAME(x) min_u8_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint16_t
#define NAME(x) max_u16_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint16_t
#define NAME(x) min_u16_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint32_t
#define NAME(x) max_u32_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint32_t
#define NAME(x) min_u32_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint64_t
#define NAME(x) max_u64_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T uint64_t
#define NAME(x) min_u64_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int8_t
#define NAME(x) max_i8_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int8_t
#define NAME(x) min_i8_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int16_t
#define NAME(x) max_i16_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int16_t
#define NAME(x) min_i16_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int32_t
#define NAME(x) max_i32_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int32_t
#define NAME(x) min_i32_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int64_t
#define NAME(x) max_i64_##x
#define OP MAX_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T int64_t
#define NAME(x) min_i64_##x
#define OP MIN_INT
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T float
#define NAME(x) max_f32_##x
#define OP MAX
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T float
#define NAME(x) min_f32_##x
#define OP MIN
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T double
#define NAME(x) max_f64_##x
#define OP MAX
#define EXACT 1
#include "lib/scan/ops_body.h"

#define T double
#define NAME(x) min_f64_##x
#define OP MIN
#define EXACT 1
#include "lib/scan/ops_body.h"

/* Signed integers add and multiply as unsigned ones. */
static const tt_scan_ops *const table[TT_SCAN_COUNT][TT_DTYPE_COUNT] = {
    [TT_SCAN_SUM] = {[TT_BOOL] = &sum_b8_ops,
                     [TT_I8] = &sum_u8_ops,
                     [TT_U8] = &sum_u8_ops,
                     [TT_I16] = &sum_u16_ops,
                     [TT_U16] = &sum_u16_ops,
                     [TT_I32] = &sum_u32_ops,
                     [TT_U32] = &sum_u32_ops,
                     [TT_I64] = &sum_u64_ops,
                     [TT_U64] = &sum_u64_ops,
                     [TT_F32] = &sum_f32_ops,
                     [TT_F64] = &sum_f64_ops,
                     [TT_C64] = &sum_c64_ops,
                     [TT_C128] = &sum_c128_ops},
    [TT_SCAN_PROD] = {[TT_BOOL] = &prod_b8_ops,
                      [TT_I8] = &prod_u8_ops,
                      [TT_U8] = &prod_u8_ops,
                      [TT_I16] = &prod_u16_ops,
                      [TT_U16] = &prod_u16_ops,
                      [TT_I32] = &prod_u32_ops,
                      [TT_U32] = &prod_u32_ops,
                      [TT_I64] = &prod_u64_ops,
                      [TT_U64] = &prod_u64_ops,
                      [TT_F32] = &prod_f32_ops,
                      [TT_F64] = &prod_f64_ops,
                      [TT_C64] = &prod_c64_ops,
                      [TT_C128] = &prod_c128_ops},
    [TT_SCAN_MAX] = {[TT_BOOL] = &max_u8_ops,
                     [TT_I8] = &max_i8_ops,
                     [TT_U8] = &max_u8_ops,
                     [TT_I16] = &max_i16_ops,
                     [TT_U16] = &max_u16_ops,
                     [TT_I32] = &max_i32_ops,
                     [TT_U32] = &max_u32_ops,
                     [TT_I64] = &max_i64_ops,
                     [TT_U64] = &max_u64_ops,
                     [TT_F32] = &max_f32_ops,
                     [TT_F64] = &max_f64_ops},
    [TT_SCAN_MIN] = {[TT_BOOL] = &min_u8_ops,
                     [TT_I8] = &min_i8_ops,
                     [TT_U8] = &min_u8_ops,
                     [TT_I16] = &min_i16_ops,
                     [TT_U16] = &min_u16_ops,
                     [TT_I32] = &min_i32_ops,
                     [TT_U32] = &min_u32_ops,
                     [TT_I64] = &min_i64_ops,
                     [TT_U64] = &min_u64_ops,
                     [TT_F32] = &min_f32_ops,
                     [TT_F64] = &min_f64_ops},
};

const tt_scan_ops *tt__scan_ops(tt_scan op, tt_dtype t) { return table[op][t]; }
