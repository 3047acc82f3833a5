/*
** Attention on devices: what the kernels are specialised by, and how many blocks do it. The way back is two kernels,
** one for tiles of queries and one for tiles of keys, so that each sum has one block and one order.
*/
#include <stdlib.h>

#include "lib/device_call.h"
#include "lib/nn/device.h"

extern const char tt__text_attention_above[], tt__text_attention[], tt__text_attention_half[],
    tt__text_attention_sums[], tt__text_attention_parts[];

enum {
  AXES = 8,
  THREADS = 128,
  SIDE = 64,
  HALF_COLUMNS = 128 /* most that the registers of attention_half.text.h have room for */
};

/* As attention_above.text.h has it. */
typedef struct matrices {
  const void *data;
  int64_t row, column, batch[AXES];
} matrices;

typedef struct attention_args {
  matrices q, k, v, mask, g;
  void *o, *dq, *dk, *dv, *lse, *numbers;
  int64_t len[AXES];
  int64_t queries, keys, tiles, all;
  int32_t width, deep, sides;
  int32_t naxes, causal, parts;
  double scale, chance;
  void *part;
  const uint64_t *key;
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
                         .all = a->batches * a->queries,
                         .width = (int32_t)a->width,
                         .deep = (int32_t)a->deep,
                         .causal = a->causal,
                         .parts = 1,
                         .scale = a->scale,
                         .chance = a->chance,
                         .key = a->key};
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

/* Do rows come apart into vectors of n elements, that lie as such do? */
static bool is_in_vectors(const tt_attention *a, const tt_attention_side *m, int64_t columns, int n) {
  int64_t steps = columns | m->row;
  for (int d = 0; d < a->rank; d++) steps |= a->len[d] > 1 ? m->batch[d] : 0;
  return m->column == 1 && steps % n == 0 && (uintptr_t)m->data % tt__vector_align(n, tt__dtype_size(a->type)) == 0;
}

static bool are_in_vectors(const tt_attention *a, int n) {
  return is_in_vectors(a, &a->q, a->width, n) && is_in_vectors(a, &a->k, a->width, n) &&
         is_in_vectors(a, &a->v, a->deep, n);
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

typedef enum direction { FORWARD, TO_Q, TO_KEYS, SPLIT } direction;
static const char *const name_of[] = {"attention", "attention_dq", "attention_dkv", "attention_split"};

static void define_types(tt_device_text *text, tt_dtype t) {
  sum_type s = sum_of(t);
  text->scalar = TT_SCALAR_MATH;
  tt__device_define_type(text, t);
  tt__device_define(text, "S", "%s", s.name);
  tt__device_define(text, "LOAD(x)", "%s", s.load);
  tt__device_define(text, "STORE(x)", "%s", s.store);
  tt__device_define(text, "EXP(x)", "%s", s.exp);
  tt__device_define(text, "LOG(x)", "%s", s.log);
}

/* `resident`: blocks that a unit has registers for. */
static void open_text(tt_device_text *text, const char *kernels, const tt_attention *a, const tt_attention_side *g,
                      direction way, int resident) {
  text->text = kernels;
  text->above = tt__text_attention_above;
  define_types(text, a->type);
  tt__device_define(text, "FMA(a, b, c)", "%s", sum_of(a->type).fma);
  tt__device_define(text, "INDEX", "%s", is_wide(a, g) ? "tt_i64" : "tt_i32");
  tt__device_define(text, "MASK", "%d", !a->mask.data ? 0 : a->mask_type == TT_BOOL ? 1 : 2);
  tt__device_define(text, "DROP", "%d", a->key != NULL);
  tt__device_define(text, "WAY", "%d", way);
  tt__device_define(text, "RESIDENT", "%d", resident);
}

/* A block for each tile of rows, and of columns of results, of all batches. */
static tt_code launch(tt_device_text *text, const tt_attention *a, direction way, attention_args *args, tt_error *err) {
  int64_t blocks;
  args->tiles = tt_ceil_div(way == TO_KEYS ? a->keys : a->queries, SIDE);
  if (__builtin_mul_overflow(a->batches * args->sides * args->parts, args->tiles, &blocks) || blocks > INT32_MAX)
    return tt__fail(err, TT_ENOTIMPL, "attention: too many tiles");
  return tt__device_launch(text, name_of[way], blocks, THREADS, args, sizeof *args, err);
}

/* ---- walks in parts */

/* As attention_parts.text.h has it. */
typedef struct attention_parts_args {
  const void *part;
  void *to, *lse;
  int64_t rows, columns, step, first, parts;
} attention_parts_args;

/*
** How many parts a walk is cut into: where there are fewer tiles than the device has units, enough for three blocks a
** unit.
*/
static int32_t parts_of(const tt_lib_device *on, const tt_attention *a, direction way, int32_t sides) {
  enum { BLOCKS = 3 };
  int64_t rows = way == TO_KEYS ? a->keys : a->queries, others = way == TO_KEYS ? a->queries : a->keys;
  double blocks = (double)a->batches * sides * (double)tt_ceil_div(rows, SIDE);
  int64_t units = on->device->target.units, most = tt_ceil_div(others, SIDE);
  if (blocks >= (double)units || most < 2) return 1;
  int64_t parts = tt_ceil_div(BLOCKS * units, (int64_t)blocks);
  return (int32_t)(parts < most ? parts : most);
}

static tt_code put_together(tt_device_text *text, const char *name, const attention_parts_args *args, tt_error *err) {
  int64_t all = args->rows * tt__max64(args->columns, 1);
  return tt__device_launch(text, name, tt__device_blocks(text->on, all, THREADS), THREADS, args, sizeof *args, err);
}

/* What the parts of a walk left, as results. */
static tt_code finish(const tt_lib_device *on, const tt_attention *a, direction way, const attention_args *args,
                      tt_error *err) {
  tt_device_text text = {.on = on, .text = tt__text_attention_parts};
  attention_parts_args to = {.part = args->part, .parts = args->parts};
  tt_code code;
  define_types(&text, a->type);
  if (way == FORWARD) {
    to.to = args->o, to.lse = args->lse;
    to.rows = args->all, to.columns = a->deep, to.step = a->deep + 2;
    code = put_together(&text, "attention_meet", &to, err);
  } else if (way == TO_Q) {
    to.to = args->dq;
    to.rows = args->all, to.columns = to.step = a->width;
    code = put_together(&text, "attention_add", &to, err);
  } else {
    to.rows = a->batches * a->keys;
    to.step = (args->dk ? a->width : 0) + (args->dv ? a->deep : 0);
    to.to = args->dk, to.columns = a->width;
    code = to.to ? put_together(&text, "attention_add", &to, err) : TT_OK;
    to.first = args->dk ? a->width : 0;
    to.to = args->dv, to.columns = a->deep;
    if (code == TT_OK && to.to) code = put_together(&text, "attention_add", &to, err);
  }
  tt__device_done(&text);
  return code;
}

/* Memory for what the parts leave. */
static tt_code make_parts(const tt_lib_device *on, const tt_attention *a, direction way, attention_args *args,
                          tt_error *err) {
  int64_t rows = way == TO_KEYS ? a->batches * a->keys : args->all, elements;
  int64_t columns = way == FORWARD ? a->deep + 2
                    : way == TO_Q  ? a->width
                                   : (args->dk ? a->width : 0) + (args->dv ? a->deep : 0);
  size_t size = a->type == TT_F64 ? sizeof(double) : sizeof(float);
  args->parts = parts_of(on, a, way, args->sides);
  if (args->parts == 1) return TT_OK;
  elements = args->parts * rows * columns;
  return on->temp(on, (size_t)elements * size + 1, &args->part, err);
}

/* ---- any type */

static tt_code by_sums(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g, direction way,
                       int64_t columns, attention_args *args, tt_error *err) {
  const bool is_double = a->type == TT_F64;
  const int tile = columns <= 64 || is_double ? 64 : 128; /* as many sums as there are registers for */
  tt_device_text text = {.on = on};
  open_text(&text, tt__text_attention, a, g, way, is_double ? 1 : tile > 64 || way == TO_KEYS ? 2 : 3);
  tt__device_define(&text, "SLAB", "%d", is_double ? 8 : 16);
  tt__device_define(&text, "COLS", "%d", tile);
  tt__device_define(&text, "VEC", "%d", are_in_vectors(a, 4));
  args->sides = (int32_t)tt__max64(1, tt_ceil_div(columns, tile));
  tt_code code = make_parts(on, a, way, args, err);
  tt__device_define(&text, "PARTS", "%d", args->parts > 1);
  if (code == TT_OK) code = launch(&text, a, way, args, err);
  tt__device_done(&text);
  if (code == TT_OK && args->parts > 1) code = finish(on, a, way, args, err);
  return code;
}

static tt_code back_by_sums(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g,
                            attention_args *args, tt_error *err) {
  args->g = matrices_of(a, g);
  if (args->dq) TT_TRY(by_sums(on, a, g, TO_Q, a->width, args, err));
  if (!args->dk && !args->dv) return TT_OK;
  return by_sums(on, a, g, TO_KEYS, tt__max64(a->width, a->deep), args, err);
}

/* ---- 16-bit floats, by the units that multiply matrices of them */

/* Bytes of a tile of q or k with one of v or g. */
static size_t half_tiles(const tt_attention *a) {
  return SIDE * (size_t)(tt__round_up(a->width, 16) + 8 + tt__round_up(a->deep, 16) + 8) * sizeof(uint16_t);
}

static size_t half_shared(const tt_attention *a, direction way) {
  size_t of_queries = half_tiles(a) + 2 * SIDE * sizeof(float);
  return way == FORWARD ? half_tiles(a) : way == TO_Q ? 2 * half_tiles(a) : half_tiles(a) + 2 * of_queries;
}

static bool is_for_halves(const tt_lib_device *on, const tt_attention *a) {
  const tt_target *t = &on->device->target;
  if (a->key || !tt__nn_multiplies_halves(on, a->type)) return false;
  return a->width > 0 && a->deep > 0 && a->width <= HALF_COLUMNS && a->deep <= HALF_COLUMNS && are_in_vectors(a, 8) &&
         half_shared(a, TO_KEYS) <= (size_t)t->shared_block;
}

static tt_code by_halves(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g, direction way,
                         attention_args *args, tt_error *err) {
  const bool is_f16 = a->type == TT_F16, is_large = a->width > 64 || a->deep > 64;
  tt_device_text text = {.on = on, .shared = way == SPLIT ? 0 : half_shared(a, way)};
  open_text(&text, tt__text_attention_half, a, g, way, is_large ? 2 : way == FORWARD ? 4 : 3);
  tt__device_define(&text, "MULTIPLY(c, a, b)", "TT_MULTIPLY_%s(c, a, b)", is_f16 ? "F16" : "BF16");
  tt__device_define(&text, "PAIR(low, high)", "TT_PAIR_%s(low, high)", is_f16 ? "F16" : "BF16");
  tt__device_define(&text, "WIDE", "%d", (int)tt__round_up(a->width, 16));
  tt__device_define(&text, "DEEP", "%d", (int)tt__round_up(a->deep, 16));
  args->sides = 1;
  tt_code code;
  if (way == SPLIT)
    code = tt__device_launch(&text, name_of[way], tt__device_blocks(on, args->all * (a->deep + 2), 256), 256, args,
                             sizeof *args, err);
  else
    code = launch(&text, a, way, args, err);
  tt__device_done(&text);
  return code;
}

/* Cotangents come as sums, with two numbers of each query behind: they are taken apart first. */
static tt_code back_by_halves(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g,
                              attention_args *args, tt_error *err) {
  void *numbers;
  TT_TRY(on->temp(on, (size_t)(args->all * a->deep) * sizeof(uint16_t), &args->o, err));
  TT_TRY(on->temp(on, 2 * (size_t)args->all * sizeof(float), &numbers, err));
  args->numbers = numbers;
  args->g = matrices_of(a, g);
  TT_TRY(by_halves(on, a, g, SPLIT, args, err));
  args->g = (matrices){.data = args->o, .row = a->deep, .column = 1};
  int64_t step = a->queries * a->deep;
  for (int d = args->naxes - 1; d >= 0; d--) {
    args->g.batch[d] = step;
    step *= args->len[d];
  }
  if (args->dq) TT_TRY(by_halves(on, a, g, TO_Q, args, err));
  return args->dk || args->dv ? by_halves(on, a, g, TO_KEYS, args, err) : TT_OK;
}

/* ---- the calls */

tt_code tt__attention_device(const tt_lib_device *on, const tt_attention *a, void *o, void *lse, tt_error *err) {
  if (!has_room(a)) return tt__fail(err, TT_ENOTIMPL, "attention: too many axes, or columns");
  if (a->batches * a->queries == 0) return TT_OK;
  attention_args args = args_of(a);
  args.o = o;
  args.lse = lse;
  return is_for_halves(on, a) ? by_halves(on, a, NULL, FORWARD, &args, err)
                              : by_sums(on, a, NULL, FORWARD, a->deep, &args, err);
}

tt_code tt__attention_back_device(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g, void *dq,
                                  void *dk, void *dv, tt_error *err) {
  if (!has_room(a)) return tt__fail(err, TT_ENOTIMPL, "attention: too many axes, or columns");
  if (a->batches == 0) return TT_OK;
  attention_args args = args_of(a);
  args.dq = a->queries > 0 && a->width > 0 ? dq : NULL;
  args.dk = a->keys > 0 ? dk : NULL;
  args.dv = a->keys > 0 ? dv : NULL;
  return a->queries > 0 && is_for_halves(on, a) ? back_by_halves(on, a, g, &args, err)
                                                : back_by_sums(on, a, g, &args, err);
}

/* As attention_sums.text.h has it. */
typedef struct attention_sums_args {
  matrices g, o;
  const void *lse;
  void *to;
  int64_t rows, deep, queries, naxes, len[AXES];
} attention_sums_args;

tt_code tt__attention_sums_device(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g,
                                  const tt_attention_side *o, const void *lse, void **out, tt_error *err) {
  if (!has_room(a)) return tt__fail(err, TT_ENOTIMPL, "attention: too many axes, or columns");
  attention_sums_args args = {.g = matrices_of(a, g),
                              .o = matrices_of(a, o),
                              .lse = lse,
                              .rows = a->batches * a->queries,
                              .deep = a->deep,
                              .queries = a->queries};
  for (int d = 0; d < a->rank; d++)
    if (a->len[d] > 1) args.len[args.naxes++] = a->len[d];
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
