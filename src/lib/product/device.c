/* Products on devices; see device.h. */
#include "lib/product/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/product/cublas.h"
#include "lib/product/cublas_layout.h"
#include "lib/device_call.h"

extern const char tt__text_product[];

enum { AXES = 8, THREADS = 256, MOST_BLOCKS = 65536 };

static atomic_bool is_fast;
void tt__product_set_fast(bool fast) { atomic_store(&is_fast, fast); }
bool tt__product_is_fast(void) { return atomic_load(&is_fast); }

/* ---- packing */

/* As product.text.h has it. */
typedef struct pack_args {
  const char *from;
  char *to;
  int64_t size;
  int32_t naxes, pad;
  int64_t len[AXES], step[AXES];
} pack_args;

static const char *word_of_size(size_t size) {
  return size == 1 ? "tt_u8" : size == 2 ? "tt_u16" : size == 4 ? "tt_u32" : size == 8 ? "tt_u64" : "c128";
}

tt_code tt__device_pack(const tt_lib_device *on, const tt_operand *a, void *to, tt_error *err) {
  int64_t step[TT_MAX_RANK];
  pack_args args = {.from = a->data, .to = to, .size = tt__gemm_packed(a, step)};
  for (int d = 0; d < a->rank; d++) { /* neighbours that go on in one step are one axis */
    if (a->len[d] == 1 || step[d] == 0) continue;
    int n = args.naxes;
    if (n && args.step[n - 1] == a->step[d] * a->len[d]) {
      args.len[n - 1] *= a->len[d];
      args.step[n - 1] = a->step[d];
      continue;
    }
    if (n == AXES) return tt__fail(err, TT_ENOTIMPL, "too many axes to pack");
    args.len[n] = a->len[d];
    args.step[n] = a->step[d];
    args.naxes++;
  }
  if (args.naxes == 0) args.naxes = 1, args.len[0] = 1;
  tt_device_text text = {.on = on, .text = tt__text_product, .pointers = 2};
  tt__device_define(&text, "T", "%s", word_of_size(tt__dtype_size(a->dtype)));
  tt__device_define(&text, "TO", "T");
  tt__device_define(&text, "STORE(x)", "(x)");
  tt__device_define(&text, "PACK", "1");
  int64_t blocks = tt_ceil_div(args.size, THREADS);
  if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
  tt_code code = tt__device_launch(&text, "pack", blocks, THREADS, &args, sizeof args, err);
  tt__device_done(&text);
  return code;
}

/* ---- kernels of ours */

typedef struct product_args {
  const char *a, *b;
  char *c;
  int64_t m, n, k;
  int64_t a_row, a_col, b_row, b_col;
  int64_t tiles_m, tiles_n, tiles;
  int32_t naxes, goes_on;
  int64_t len[AXES], a_step[AXES], b_step[AXES];
} product_args;

/* What a product of a type sums, and how its elements come and go. */
typedef struct sum_type {
  const char *name, *load, *store, *add_mul, *zero;
} sum_type;

static sum_type sum_of(tt_dtype t) {
  static const char plain[] = "((s) = (s) + (x) * (y))";
  static const char fused[] = "((s) = TT_MULTIPLY_ADD(x, y, s))";
  static const char pair[] =
      "((s).re = (s).re + ((x).re * (y).re - (x).im * (y).im), (s).im = (s).im + ((x).re * (y).im + (x).im * (y).re))";
  switch (t) {
    case TT_BOOL:
      return (sum_type){"tt_u32", "(tt_u32)((x) != 0)", "(tt_u8)(x)", "((s) = (s) | ((x) & (y)))", "0u"};
    case TT_F16:
      return (sum_type){"tt_f32", "tt_cast_f16_f32(x)", "tt_cast_f32_f16(x)", fused, "0.0f"};
    case TT_BF16:
      return (sum_type){"tt_f32", "tt_cast_bf16_f32(x)", "tt_cast_f32_bf16(x)", fused, "0.0f"};
    case TT_F32:
      return (sum_type){"tt_f32", "(x)", "(x)", fused, "0.0f"};
    case TT_F64:
      return (sum_type){"tt_f64", "(x)", "(x)", fused, "0.0"};
    case TT_C64:
      return (sum_type){"c64", "(x)", "(x)", pair, "{0, 0}"};
    case TT_C128:
      return (sum_type){"c128", "(x)", "(x)", pair, "{0, 0}"};
    case TT_I64:
    case TT_U64:
      return (sum_type){"tt_u64", "(tt_u64)(x)", "(T)(x)", plain, "0"};
    default: /* whatever is above the type's own bits is cut off at the end */
      return (sum_type){"tt_u32", "(tt_u32)(x)", "(T)(x)", plain, "0u"};
  }
}

/* A block's tile, and what its threads have of it. */
typedef struct product_shape {
  int threads, side_m, side_n, deep, down, across, lanes;
  char v[32];
} product_shape;

/* Where a block's threads take turns there is one, whose pieces are what a core's registers hold. */
static product_shape product_shape_of(const tt_lib_device *on, const sum_type *s, tt_dtype t) {
  product_shape p = {.threads = THREADS, .side_m = 64, .side_n = 64, .deep = 16, .down = 4, .across = 4, .lanes = 1};
  snprintf(p.v, sizeof p.v, "A");
  if (!on->device->target.serial) return p;
  p.threads = 1;
  p.deep = 32;
  if (tt__is_complex(t)) return p;
  bool wide = strstr(s->name, "64") != NULL;
  p.side_m = 96;
  p.side_n = wide ? 64 : 128;
  p.down = 6;
  p.across = 2;
  p.lanes = wide ? 8 : 16;
  const char *kind = strstr(s->name, "_f") ? (wide ? "double" : "float") : wide ? "ulong" : "uint";
  snprintf(p.v, sizeof p.v, "%s%d", kind, p.lanes);
  return p;
}

static void define_product_shape(tt_device_text *text, const product_shape *p) {
  tt__device_define(text, "THREADS", "%d", p->threads);
  tt__device_define(text, "SIDE_M", "%d", p->side_m);
  tt__device_define(text, "SIDE_N", "%d", p->side_n);
  tt__device_define(text, "DEEP", "%d", p->deep);
  tt__device_define(text, "DOWN", "%d", p->down);
  tt__device_define(text, "ACROSS", "%d", p->across);
  tt__device_define(text, "LANES", "%d", p->lanes);
  tt__device_define(text, "V", "%s", p->v);
}

/* The batch, neighbours merged; false: too many axes. */
static bool batch_of(const tt_operand *a, const tt_operand *b, product_args *args) {
  for (int d = 0; d < a->rank - 2; d++) {
    int n = args->naxes;
    if (a->len[d] == 1) continue;
    if (n && args->a_step[n - 1] == a->step[d] * a->len[d] && args->b_step[n - 1] == b->step[d] * b->len[d]) {
      n--;
      args->len[n] *= a->len[d];
    } else {
      if (n == AXES) return false;
      args->len[n] = a->len[d];
      args->naxes++;
    }
    args->a_step[n] = a->step[d];
    args->b_step[n] = b->step[d];
  }
  return true;
}

/* `sums`: c holds sums, as they are; `goes_on`: of what comes before. */
static tt_code own_product(const tt_lib_device *on, const tt_operand *a, const tt_operand *b, void *c, bool sums,
                           bool goes_on, tt_error *err) {
  int r = a->rank;
  product_args args = {.a = a->data,
                       .b = b->data,
                       .c = c,
                       .m = a->len[r - 2],
                       .n = b->len[r - 1],
                       .k = a->len[r - 1],
                       .a_row = a->step[r - 2],
                       .a_col = a->step[r - 1],
                       .b_row = b->step[r - 2],
                       .b_col = b->step[r - 1],
                       .goes_on = goes_on};
  if (!batch_of(a, b, &args)) return tt__fail(err, TT_ENOTIMPL, "too many axes for a product on a device");
  sum_type s = sum_of(a->dtype);
  product_shape shape = product_shape_of(on, &s, a->dtype);
  args.tiles_m = tt_ceil_div(args.m, shape.side_m);
  args.tiles_n = tt_ceil_div(args.n, shape.side_n);
  args.tiles = args.tiles_m * args.tiles_n;
  for (int d = 0; d < args.naxes; d++) args.tiles *= args.len[d];
  tt_device_text text = {.on = on, .text = tt__text_product, .pointers = 3};
  define_product_shape(&text, &shape);
  tt__device_define(&text, "T", "%s", tt__device_type(a->dtype));
  tt__device_define(&text, "A", "%s", s.name);
  tt__device_define(&text, "LOAD(x)", "%s", s.load);
  bool is_wide = sums && (a->dtype == TT_F16 || a->dtype == TT_BF16);
  tt__device_define(&text, "C", "%s", is_wide ? s.name : "T");
  tt__device_define(&text, "STORE(x)", "%s", is_wide ? "(x)" : s.store);
  tt__device_define(&text, "SUM(x)", "%s", is_wide ? "(x)" : s.load);
  tt__device_define(&text, "ADD_MUL(s, x, y)", "%s", s.add_mul);
  tt__device_define(&text, "ZERO", "%s", s.zero);
  int64_t blocks = args.tiles < MOST_BLOCKS ? args.tiles : MOST_BLOCKS;
  tt_code code = tt__device_launch(&text, "product", blocks, shape.threads, &args, sizeof args, err);
  tt__device_done(&text);
  return code;
}

/* ---- the row */

static tt_code packed(const tt_lib_device *on, bool pack, const tt_operand *a, const void **data, tt_error *err) {
  *data = a->data;
  if (!pack) return TT_OK;
  int64_t step[TT_MAX_RANK];
  void *to;
  TT_TRY(on->temp(on, (size_t)tt__gemm_packed(a, step) * tt__dtype_size(a->dtype), &to, err));
  *data = to;
  return tt__device_pack(on, a, to, err);
}

static tt_code by_library(const tt_lib_device *on, const tt_gemm_plan *p, const tt_operand *a, const tt_operand *b,
                          int epilogue, const void *term, void *c, tt_error *err) {
  const void *pa, *pb;
  if (!tt__cublas_serves(on, a->dtype)) return tt__fail(err, TT_ENOTIMPL, "no library has this product");
  TT_TRY(packed(on, p->pack_a, a, &pa, err));
  TT_TRY(packed(on, p->pack_b, b, &pb, err));
  return tt__cublas_product(on, p, a->dtype, tt__product_is_fast(), epilogue, pa, pb, term, c, err);
}

tt_code tt__product_device(const tt_lib_device *on, const tt_operand *a, const tt_operand *b, void *c, tt_error *err) {
  tt_gemm_plan p;
  tt__gemm_plan(a, b, &p);
  if (p.empty) return TT_OK;
  if (p.k == 0) {
    size_t size = tt__dtype_size(a->dtype) * (size_t)b->len[b->rank - 1];
    for (int d = 0; d < a->rank - 1; d++) size *= (size_t)a->len[d];
    return tt__device_fill(on, c, 0, size, err);
  }
  tt_code code = by_library(on, &p, a, b, TT_EPILOGUE_NONE, NULL, c, err);
  return code == TT_ENOTIMPL ? own_product(on, a, b, c, false, false, err) : code;
}

tt_code tt__product_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                       tt_error *err) {
  (void)attr;
  return tt__product_device(on, &src[0], &src[1], out->data, err);
}

tt_code tt__product_on_then(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                            const tt_block *out, int epilogue, const void *term, tt_error *err) {
  (void)attr;
  tt_gemm_plan p;
  tt__gemm_plan(&src[0], &src[1], &p);
  if (p.empty || p.k == 0) return tt__fail(err, TT_ENOTIMPL, "there is no product to change");
  bool sums = epilogue & TT_EPILOGUE_SUMS, goes_on = sums && term;
  if (goes_on) epilogue |= TT_EPILOGUE_ADD;
  tt_code code = by_library(on, &p, &src[0], &src[1], epilogue, term, out->data, err);
  if (code != TT_ENOTIMPL || !sums || (term && term != out->data)) return code;
  return own_product(on, &src[0], &src[1], out->data, true, goes_on, err);
}

tt_code tt__product_end_sums(const tt_lib_device *on, const void *sums, const tt_block *out, tt_error *err) {
  pack_args args = {.from = sums, .to = out->data, .size = out->size, .naxes = 1, .len = {out->size}, .step = {1}};
  tt_device_text text = {.on = on, .text = tt__text_product, .pointers = 2};
  sum_type s = sum_of(out->dtype);
  tt__device_define(&text, "T", "%s", s.name);
  tt__device_define(&text, "TO", "%s", tt__device_type(out->dtype));
  tt__device_define(&text, "STORE(x)", "%s", s.store);
  tt__device_define(&text, "PACK", "1");
  tt_code code =
      tt__device_launch(&text, "pack", tt__device_blocks(on, out->size, THREADS), THREADS, &args, sizeof args, err);
  tt__device_done(&text);
  return code;
}
