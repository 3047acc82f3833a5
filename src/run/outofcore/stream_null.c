/* Tiles on the simulated device; see stream_null.h. Its memory is the host's: the row's host function does the work. */
#include "run/outofcore/stream_null.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "run/elements.h"
#include "scalar/prelude.h"
#include "sched/cut_library.h"

/* A launch's arguments, by value but for what outlives it. */
typedef struct tile_args {
  tt_null_launch head;
  const tt_lib_attr *attr;
  tt_operand src[TT_NODE_SRC];
  tt_block out;
  int64_t len[TT_TILE_SIDES][TT_TILE_LEVELS], step[TT_NODE_SRC][TT_TILE_LEVELS];
  tt_null_tile tile;
  tt_code *failed;
} tile_args;

static bool is_half(tt_dtype t) { return t == TT_F16 || t == TT_BF16; }

static float widened(tt_dtype t, uint16_t x) { return t == TT_F16 ? tt_cast_f16_f32(x) : tt_cast_bf16_f32(x); }
static uint16_t narrowed(tt_dtype t, float x) { return t == TT_F16 ? tt_cast_f32_f16(x) : tt_cast_f32_bf16(x); }

/* A dense copy of an operand of halves, as float32. */
static tt_code widen(const tt_operand *a, int64_t *step, tt_operand *out, tt_error *err) {
  float *to = tt__mem_alloc_data(sizeof *to * (size_t)a->size);
  *out = *a;
  out->data = to;
  if (!to) return tt__fail_memory(err, sizeof *to * (size_t)a->size);
  for (int64_t i = 0; i < a->size; i++) {
    int64_t rest = i, at = 0;
    for (int d = a->rank - 1; d >= 0; rest /= a->len[d--]) at += rest % a->len[d] * a->step[d];
    to[i] = widened(a->dtype, ((const uint16_t *)a->data)[at]);
  }
  int64_t dense = 1;
  for (int d = a->rank - 1; d >= 0; dense *= a->len[d--]) step[d] = dense;
  out->dtype = TT_F32;
  out->step = step;
  return TT_OK;
}

static void free_wide(const tt_operand *a) {
  if (a->data) tt__mem_free_data((void *)(uintptr_t)a->data, sizeof(float) * (size_t)a->size);
}

/* The product of this part of the inner axis, in the type of the sums. */
static tt_code product(const tile_args *a, const tt_block *out, tt_error *err) {
  if (!is_half(a->src[0].dtype)) return a->attr->row->run(a->attr, a->src, out, err);
  int64_t step[2][TT_TILE_LEVELS];
  tt_operand wide[2] = {{0}};
  tt_code code = widen(&a->src[0], step[0], &wide[0], err);
  if (code == TT_OK) code = widen(&a->src[1], step[1], &wide[1], err);
  if (code == TT_OK) code = a->attr->row->run(a->attr, wide, out, err);
  free_wide(&wide[1]);
  free_wide(&wide[0]);
  return code;
}

static void add(tt_dtype t, void *sums, const void *more, int64_t n) {
  bool pairs = tt__is_complex(t);
  tt_dtype real = t == TT_C64 ? TT_F32 : t == TT_C128 ? TT_F64 : t;
  tt__elements_loop(t == TT_BOOL ? TT_LOR : TT_ADD, real, real)(sums, sums, more, NULL, pairs ? 2 * n : n);
}

static tt_code go_on(const tile_args *a, tt_error *err) {
  tt_block out = a->out;
  out.dtype = a->tile.type;
  out.data = a->tile.sums;
  if (a->tile.is_first) return product(a, &out, err);
  size_t size = tt__dtype_size(a->tile.type) * (size_t)out.size;
  out.data = tt__mem_alloc_data(size);
  if (!out.data) return tt__fail_memory(err, size);
  tt_code code = product(a, &out, err);
  if (code == TT_OK) add(a->tile.type, a->tile.sums, out.data, out.size);
  tt__mem_free_data(out.data, size);
  return code;
}

/* The epilogue, in float32. */
static void follow(const tile_args *a) {
  const int what = a->tile.epilogue;
  const int64_t cols = a->out.len[a->out.rank - 1];
  const tt_dtype t = a->out.dtype;
  for (int64_t i = 0; i < a->out.size; i++) {
    int64_t at = what & TT_EPILOGUE_BIAS ? i % cols : i;
    uint16_t *half = (uint16_t *)a->out.data + i;
    float x = is_half(t) ? widened(t, *half) : ((float *)a->out.data)[i];
    if (a->tile.term)
      x += is_half(t) ? widened(t, ((const uint16_t *)a->tile.term)[at]) : ((const float *)a->tile.term)[at];
    if ((what & TT_EPILOGUE_RELU) && x < 0) x = 0;
    if (what & TT_EPILOGUE_GELU) x = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    if (is_half(t))
      *half = narrowed(t, x);
    else
      ((float *)a->out.data)[i] = x;
  }
}

static void run_tile(const void *args) {
  tile_args a;
  tt_error err = {0};
  memcpy(&a, args, sizeof a);
  for (int i = 0; i < a.attr->row->nsrc; i++) a.src[i].len = a.len[i], a.src[i].step = a.step[i];
  a.out.len = a.len[TT_TILE_SIDES - 1];
  tt_code code = a.tile.sums ? go_on(&a, &err) : a.attr->row->run(a.attr, a.src, &a.out, &err);
  for (int64_t i = 0; a.tile.sums && a.tile.is_last && is_half(a.out.dtype) && i < a.out.size; i++)
    ((uint16_t *)a.out.data)[i] = narrowed(a.out.dtype, ((const float *)a.tile.sums)[i]);
  if (a.tile.epilogue && code == TT_OK) follow(&a);
  if (code != TT_OK) *a.failed = code;
}

tt_code tt__stream_null(tt_device *d, tt_stream *s, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                        const tt_null_tile *tile, tt_code *failed, tt_error *err) {
  tile_args a = {.head = {.run = run_tile, .us = 10}, .attr = attr, .out = *out, .tile = *tile, .failed = failed};
  const tt_grid grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  for (int i = 0; i < attr->row->nsrc; i++) {
    a.src[i] = src[i];
    memcpy(a.len[i], src[i].len, sizeof *src[i].len * (size_t)src[i].rank);
    memcpy(a.step[i], src[i].step, sizeof *src[i].step * (size_t)src[i].rank);
  }
  memcpy(a.len[TT_TILE_SIDES - 1], out->len, sizeof *out->len * (size_t)out->rank);
  return d->ops->launch(d, s, NULL, &grid, &a, sizeof a, err);
}
