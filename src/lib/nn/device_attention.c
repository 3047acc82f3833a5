/*
** Attention on devices: what the kernels are specialised by, and how many blocks do it. The way back is two kernels,
** one for tiles of queries and one for tiles of keys, so that each sum has one block and one order.
*/
#include <stdlib.h>

#include "lib/device_call.h"
#include "lib/nn/device.h"

extern const char tt__text_attention[], tt__text_attention_sums[];

enum { AXES = 8, THREADS = 128, SIDE = 64 };

/* As attention.text.h has it. */
typedef struct matrices {
  const void *data;
  int64_t row, column, batch[AXES];
} matrices;

typedef struct attention_args {
  matrices q, k, v, mask, g;
  void *o, *dq, *dk, *dv, *lse;
  int64_t len[AXES];
  int64_t queries, keys, tiles;
  int32_t width, deep, sides;
  int32_t naxes, causal, unused;
  double scale;
} attention_args;

static matrices matrices_of(const tt_attention *a, const tt_attention_side *m) {
  matrices to = {.data = m->data, .row = m->row, .column = m->column};
  int n = 0;
  for (int d = 0; d < a->rank && m->batch; d++)
    if (a->len[d] > 1) to.batch[n++] = m->batch[d];
  return to;
}

static attention_args args_of(const tt_attention *a) {
  attention_args args = {.q = matrices_of(a, &a->q),
                         .k = matrices_of(a, &a->k),
                         .v = matrices_of(a, &a->v),
                         .mask = matrices_of(a, &a->mask),
                         .queries = a->queries,
                         .keys = a->keys,
                         .width = (int32_t)a->width,
                         .deep = (int32_t)a->deep,
                         .causal = a->causal,
                         .scale = a->scale};
  for (int d = 0; d < a->rank; d++)
    if (a->len[d] > 1) args.len[args.naxes++] = a->len[d];
  return args;
}

/* ---- sizes */

static double reach(int64_t rows, int64_t columns, const tt_attention_side *m) {
  return m->data ? (double)rows * (double)llabs(m->row) + (double)columns * (double)llabs(m->column) : 0;
}

/* Do elements of a matrix, and the steps over them, take 64 bits? */
static bool is_wide(const tt_attention *a, const tt_attention_side *g) {
  const int64_t queries = a->queries + SIDE, keys = a->keys + SIDE, width = a->width + SIDE, deep = a->deep + SIDE;
  const double most = INT32_MAX;
  return reach(queries, width, &a->q) > most || reach(keys, width, &a->k) > most || reach(keys, deep, &a->v) > most ||
         reach(queries, keys, &a->mask) > most || (g && reach(queries, deep, g) > most) || (double)queries > most ||
         (double)keys > most;
}

static bool has_room(const tt_attention *a) {
  int n = 0;
  for (int d = 0; d < a->rank; d++) n += a->len[d] > 1;
  return n <= AXES && a->width < INT32_MAX / 2 && a->deep < INT32_MAX / 2;
}

/* Do rows come apart into fours that lie as vectors do? */
static bool is_in_fours(const tt_attention *a, const tt_attention_side *m, int64_t columns) {
  const size_t size = tt__dtype_size(a->type), all = 4 * size < 16 ? 4 * size : 16;
  int64_t steps = columns | m->row;
  for (int d = 0; d < a->rank; d++) steps |= a->len[d] > 1 ? m->batch[d] : 0;
  return m->column == 1 && steps % 4 == 0 && (uintptr_t)m->data % all == 0;
}

/* ---- the text */

/* What is summed, and how elements come and go. */
typedef struct sum_type {
  const char *name, *load, *store, *fma, *exp, *log;
} sum_type;

static sum_type sum_of(tt_dtype t) {
  sum_type s = {.name = "tt_f32",
                .load = "(x)",
                .store = "(x)",
                .fma = "TT_FMA_F32(a, b, c)",
                .exp = "TT_EXP2_F32((x)*0x1.715476p0f)",
                .log = "(tt_f32) tt_log_f64((tt_f64)(x))"};
  if (t == TT_F64) s = (sum_type){"tt_f64", "(x)", "(x)", "TT_FMA_F64(a, b, c)", "tt_exp_f64(x)", "tt_log_f64(x)"};
  if (t == TT_F16) s.load = "tt_cast_f16_f32(x)", s.store = "tt_cast_f32_f16(x)";
  if (t == TT_BF16) s.load = "tt_cast_bf16_f32(x)", s.store = "tt_cast_f32_bf16(x)";
  return s;
}

typedef enum direction { FORWARD, TO_Q, TO_KEYS } direction;
static const char *const name_of[] = {"attention", "attention_dq", "attention_dkv"};

static void open_text(tt_device_text *text, const tt_attention *a, const tt_attention_side *g, direction way,
                      int columns) {
  sum_type s = sum_of(a->type);
  const bool is_double = a->type == TT_F64;
  text->text = tt__text_attention;
  text->scalar = TT_SCALAR_MATH;
  tt__device_define_type(text, a->type);
  tt__device_define(text, "S", "%s", s.name);
  tt__device_define(text, "LOAD(x)", "%s", s.load);
  tt__device_define(text, "STORE(x)", "%s", s.store);
  tt__device_define(text, "FMA(a, b, c)", "%s", s.fma);
  tt__device_define(text, "EXP(x)", "%s", s.exp);
  tt__device_define(text, "LOG(x)", "%s", s.log);
  tt__device_define(text, "INDEX", "%s", is_wide(a, g) ? "tt_i64" : "tt_i32");
  tt__device_define(text, "SLAB", "%d", is_double ? 8 : 16);
  tt__device_define(text, "COLS", "%d", columns);
  tt__device_define(text, "RESIDENT", "%d", is_double ? 1 : columns > 64 || way == TO_KEYS ? 2 : 3);
  tt__device_define(text, "WAY", "%d", way);
  tt__device_define(
      text, "VEC", "%d",
      is_in_fours(a, &a->q, a->width) && is_in_fours(a, &a->k, a->width) && is_in_fours(a, &a->v, a->deep));
  tt__device_define(text, "MASK", "%d", !a->mask.data ? 0 : a->mask_type == TT_BOOL ? 1 : 2);
}

/* A block for each tile of rows, and of columns of results, of all batches. */
static tt_code launch(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g, direction way,
                      int64_t rows, int64_t columns, attention_args *args, tt_error *err) {
  const int tile = columns <= 64 || a->type == TT_F64 ? 64 : 128; /* as many sums as there are registers for */
  int64_t blocks;
  args->tiles = tt_ceil_div(rows, SIDE);
  args->sides = (int32_t)tt__max64(1, tt_ceil_div(columns, tile));
  if (__builtin_mul_overflow(a->batches * args->sides, args->tiles, &blocks) || blocks > INT32_MAX)
    return tt__fail(err, TT_ENOTIMPL, "attention: too many tiles");
  tt_device_text text = {.on = on};
  open_text(&text, a, g, way, tile);
  tt_code code = tt__device_launch(&text, name_of[way], blocks, THREADS, args, sizeof *args, err);
  tt__device_done(&text);
  return code;
}

/* ---- the calls */

tt_code tt__attention_device(const tt_lib_device *on, const tt_attention *a, void *o, void *lse, tt_error *err) {
  if (!has_room(a)) return tt__fail(err, TT_ENOTIMPL, "attention: too many axes, or columns");
  if (a->batches * a->queries == 0) return TT_OK;
  attention_args args = args_of(a);
  args.o = o;
  args.lse = lse;
  return launch(on, a, NULL, FORWARD, a->queries, a->deep, &args, err);
}

tt_code tt__attention_back_device(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g, void *dq,
                                  void *dk, void *dv, tt_error *err) {
  if (!has_room(a)) return tt__fail(err, TT_ENOTIMPL, "attention: too many axes, or columns");
  if (a->batches == 0) return TT_OK;
  attention_args args = args_of(a);
  args.g = matrices_of(a, g);
  args.dq = dq;
  args.dk = dk;
  args.dv = dv;
  if (dq && a->queries > 0 && a->width > 0) TT_TRY(launch(on, a, g, TO_Q, a->queries, a->width, &args, err));
  if (!(dk || dv) || a->keys == 0) return TT_OK;
  return launch(on, a, g, TO_KEYS, a->keys, tt__max64(a->width, a->deep), &args, err);
}

/* As attention_sums.text.h has it. */
typedef struct attention_sums_args {
  const void *go, *lse;
  void *to;
  int64_t rows, deep;
} attention_sums_args;

tt_code tt__attention_sums_device(const tt_lib_device *on, const tt_attention *a, const void *go, const void *lse,
                                  void **out, tt_error *err) {
  attention_sums_args args = {.go = go, .lse = lse, .rows = a->batches * a->queries, .deep = a->deep};
  TT_TRY(on->temp(on, (size_t)(args.rows * (a->deep + 2)) * sizeof(float) + 1, out, err));
  args.to = *out;
  tt_device_text text = {.on = on, .text = tt__text_attention_sums};
  tt__device_define_type(&text, a->type);
  tt__device_define(&text, "LOAD(x)", "%s", sum_of(a->type).load);
  tt_code code = tt__device_launch(&text, "attention_sums", tt__device_blocks(on, args.rows, THREADS), THREADS, &args,
                                   sizeof args, err);
  tt__device_done(&text);
  return code;
}
