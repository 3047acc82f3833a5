/*
** Scans on a device (scan.text.h). Which way depends on sizes alone, so a scan has the same bits whenever it is
** run. Rows up to STRICT elements, and columns when there are many, go element after element: the bits of
** the host. Longer rows of floating-point numbers have an order of their own: slices of 16 bytes, 32 of them, chunks,
** warps, tiles, groups of tiles. Everything else is exact, in any order.
*/
#include <stdint.h>

#include "lib/device_call.h"
#include "lib/device_rows.h"
#include "lib/scan/host.h"

enum { STRICT = 4096, COLUMNS = 4096, ROW_THREADS = 128, COLUMN_THREADS = 64, MANY = 32, ROW_ROOM = 32768 };

/* As scan.text.h has it. */
typedef struct scan_args {
  const char *in;
  char *out;
  void *ticket, *sum, *before;
  int64_t rows, n, inner, n_out;
  int64_t tiles, all, ahead;
  int32_t initial, in_aligned, out_aligned;
  int32_t per_block, width;
} scan_args;

/* What is added up, and how it comes from memory and goes there. */
typedef struct sum_type {
  const char *name, *load, *store;
  int words;
  bool exact;
} sum_type;

static sum_type sum_of(tt_scan op, tt_dtype t) {
  bool order = op == TT_SCAN_MAX || op == TT_SCAN_MIN, exact = order;
  switch (t) {
    case TT_F16:
      return (sum_type){"tt_f32", "tt_cast_f16_f32(x)", "tt_cast_f32_f16(x)", 1, exact};
    case TT_BF16:
      return (sum_type){"tt_f32", "tt_cast_bf16_f32(x)", "tt_cast_f32_bf16(x)", 1, exact};
    case TT_F32:
      return (sum_type){"tt_f32", "(x)", "(x)", 1, exact};
    case TT_F64:
      return (sum_type){"tt_f64", "(x)", "(x)", 2, exact};
    case TT_C64:
      return (sum_type){"c64", "(x)", "(x)", 2, false};
    case TT_C128:
      return (sum_type){"c128", "(x)", "(x)", 4, false};
    case TT_I64:
      if (order) return (sum_type){"tt_i64", "(x)", "(x)", 2, true};
      return (sum_type){"tt_u64", "(tt_u64)(x)", "(tt_i64)(x)", 2, true};
    case TT_U64:
      return (sum_type){"tt_u64", "(x)", "(x)", 2, true};
    default: /* small integers wrap when they are stored */
      if (order && tt__dtypes[t].kind == 'i') return (sum_type){"tt_i32", "(tt_i32)(x)", "(T)(x)", 1, true};
      return (sum_type){"tt_u32", "(tt_u32)(x)", "(T)(x)", 1, true};
  }
}

/* As lib/scan/ops.c has them. */
static const char *op_of(tt_scan op, tt_dtype t) {
  if (tt__is_complex(t)) return op == TT_SCAN_SUM ? "complex_add(x, y)" : "complex_mul(x, y)";
  if (t == TT_BOOL && op == TT_SCAN_SUM) return "((x) | (y))";
  if (t == TT_BOOL && op == TT_SCAN_PROD) return "((x) & (y))";
  switch (op) {
    case TT_SCAN_SUM:
      return "((x) + (y))";
    case TT_SCAN_PROD:
      return "((x) * (y))";
    case TT_SCAN_MAX:
      return tt__is_float(t) ? "((x) >= (y) || (x) != (x) ? (x) : (y))" : "((x) > (y) ? (x) : (y))";
    default:
      return tt__is_float(t) ? "((x) <= (y) || (x) != (x) ? (x) : (y))" : "((x) < (y) ? (x) : (y))";
  }
}

static void define(tt_device_text *d, tt_scan op, tt_dtype t, int vec, int chunks, int threads) {
  sum_type s = sum_of(op, t);
  int start = op == TT_SCAN_PROD;
  tt__device_define_type(d, t);
  tt__device_define(d, "A", "%s", s.name);
  tt__device_define(d, "WORDS", "%d", s.words);
  tt__device_define(d, "LOAD(x)", "%s", s.load);
  tt__device_define(d, "STORE(x)", "%s", s.store);
  tt__device_define(d, "OP(x, y)", "%s", op_of(op, t));
  if (tt__is_complex(t)) tt__device_define(d, "COMPLEX", "%s", t == TT_C64 ? "tt_f32" : "tt_f64");
  tt__device_define(d, "START", tt__is_complex(t) ? "complex_make(%d)" : "((A)%d)", start);
  tt__device_define(d, "VEC", "%d", vec);
  tt__device_define(d, "CHUNKS", "%d", chunks);
  tt__device_define(d, "THREADS", "%d", threads);
}

static bool is_aligned(const void *base, int64_t rows, int64_t step, size_t size) {
  return (uintptr_t)base % 16 == 0 && (rows == 1 || (size_t)step * size % 16 == 0);
}

/* Messages that wait in registers: rounds of a warp. */
static int rounds_of(const tt_device_shape *shape, int words) { return words > 2 ? 2 : shape->scan_rounds; }

/* Larger tiles are faster where there are many. Sums of 8 bytes have no room for them in registers. */
static bool is_long(const tt_device_shape *shape, const scan_args *a, size_t size, int words) {
  return words == 1 && size == 4 && a->n >= (int64_t)shape->scan_long << 18;
}

static tt_code long_rows(tt_device_text *d, scan_args *a, size_t size, int words, int tile, tt_error *err) {
  const tt_device_shape *shape = tt__device_shape_of(d->on);
  bool wide = is_long(shape, a, size, words);
  int64_t groups, messages, blocks;
  tt__device_define(d, "BY_TILES", "1");
  tt__device_define(d, "ROUNDS", "%d", rounds_of(shape, words));
  int resident = words > 1 ? 768 : wide ? shape->long_resident : shape->scan_resident;
  tt__device_define(d, "RESIDENT", "%d", resident / shape->scan_threads);
  a->tiles = tt_ceil_div(a->n, tile);
  groups = tt_ceil_div(a->tiles, tt__device_warp(d->on) * rounds_of(shape, words));
  if (__builtin_mul_overflow(a->rows, a->tiles, &a->all) || a->all > INT32_MAX / 2)
    return tt__fail(err, TT_ENOTIMPL, "scan: too many tiles");
  a->ahead = a->tiles > 1
                 ? tt__device_ahead(d->on, a->all, tile * (int64_t)size, wide ? shape->long_ahead : shape->scan_ahead)
                 : 0;
  blocks = a->ahead ? 2 * a->all : a->all;
  messages = a->tiles > 1 ? a->rows * (a->tiles + groups) * words : 0;
  size_t bytes = (size_t)(messages + 1) * sizeof(uint64_t);
  void *scratch;
  TT_TRY(d->on->temp(d->on, bytes, &scratch, err));
  TT_TRY(tt__device_fill(d->on, scratch, 0, bytes, err));
  a->ticket = scratch;
  a->sum = (char *)scratch + sizeof(uint64_t);
  a->before = (char *)a->sum + (size_t)(a->rows * a->tiles * words) * sizeof(uint64_t);
  a->in_aligned = a->inner == 1 && is_aligned(a->in, a->rows, a->n, size);
  a->out_aligned = a->inner == 1 && is_aligned(a->out + (size_t)a->initial * size, a->rows, a->n_out, size);
  return tt__device_launch(d, "scan_tiles", blocks, shape->scan_threads, a, sizeof *a, err);
}

/* A few rows a block where there are few, so that many units have work. */
static tt_code short_rows(tt_device_text *d, scan_args *a, int words, tt_error *err) {
  int64_t per = tt_ceil_div(a->rows, 4 * (int64_t)d->on->device->target.units), room = ROW_ROOM / (4 * words);
  tt__device_define(d, "BY_ROWS", "1");
  if (per >= MANY / 4)
    return tt__device_launch(d, "scan_many", tt_ceil_div(a->rows, MANY), ROW_THREADS, a, sizeof *a, err);
  a->per_block = (int32_t)per;
  int64_t width = room / a->per_block - 1;
  a->width = (int32_t)(width < a->n ? width : a->n);
  return tt__device_launch(d, "scan_rows", tt_ceil_div(a->rows, a->per_block), ROW_THREADS, a, sizeof *a, err);
}

static tt_code columns(tt_device_text *d, scan_args *a, tt_error *err) {
  tt__device_define(d, "BY_COLUMNS", "1");
  return tt__device_launch(d, "scan_columns", tt_ceil_div(a->rows, COLUMN_THREADS), COLUMN_THREADS, a, sizeof *a, err);
}

tt_code tt__device_scan(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                        tt_error *err) {
  tt_scan op = (tt_scan)attr->i[0];
  tt_dtype t = src->dtype;
  int64_t n = attr->i[1], inner = attr->i[2], initial = attr->i[3] != 0;
  if (!tt__device_words(on)) return TT_ENOTIMPL;
  if (tt__is_complex(t) && op != TT_SCAN_SUM && op != TT_SCAN_PROD)
    return TT_ENOTIMPL; /* the host says what is wrong */
  if (out->size == 0) return TT_OK;
  sum_type s = sum_of(op, t);
  size_t size = tt__dtype_size(t);
  const tt_device_shape *shape = tt__device_shape_of(on);
  int vec = (int)(16 / size), chunks;
  scan_args a = {.in = src->data, .out = out->data, .rows = out->size / (n + initial), .n = n, .inner = inner};
  a.n_out = n + initial;
  a.initial = (int32_t)initial;
  chunks = (is_long(shape, &a, size, s.words) ? shape->long_bytes : shape->scan_bytes) / 16;
  if (size < 4) chunks = size == 1 ? 2 : 4; /* what is added up has 4 bytes */
  if (on->device->target.serial) {          /* one element after the other */
    vec *= shape->scan_bytes / 16;
    chunks = 1;
  }
  tt_device_text d = {.on = on, .text = tt__text_scan, .above = tt__text_back, .pointers = 5};
  define(&d, op, t, vec, chunks, shape->scan_threads);
  tt_code code;
  if (n == 0 || (inner > 1 && (n <= STRICT || a.rows >= COLUMNS)))
    code = columns(&d, &a, err);
  else if (n <= STRICT && (!s.exact || a.rows >= COLUMNS || !tt__device_has_tiles(on)))
    code = short_rows(&d, &a, s.words, err);
  else if (!tt__device_has_tiles(on))
    code = TT_ENOTIMPL;
  else
    code = long_rows(&d, &a, size, s.words, shape->scan_threads * vec * chunks, err);
  tt__device_done(&d);
  return code;
}
