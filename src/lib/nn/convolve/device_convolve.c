/*
** Convolutions on devices: which kernel, and how sums are cut so that all units have work. That is decided by sizes and
** the device alone, so equal calls give equal bits.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/device_call.h"
#include "lib/nn/convolve/convolve_int.h"
#include "lib/nn/device.h"

extern const char tt__text_convolve_above[], tt__text_convolve[], tt__text_convolve_half[], tt__text_convolve_few[];

enum {
  AXES = TT_CONV_AXES,
  FEW = 4,         /* outputs, or channels, a group that are not worth a tile */
  FEW_TAPS = 128,  /* written out one by one */
  FEW_PLACES = 32, /* sums of a thread */
  LONG = 1024,     /* terms of a sum that a block has something to do with */
  FEW_THREADS = 128,
  RUN = 4,        /* places of a thread, side by side */
  RESIDENT = 512, /* threads of a unit that have registers for tiles */
  PART = 256,     /* terms of a part of a sum, at least */
  MOST = 1 << 28  /* coordinates, with what is outside */
};

/* What is summed, and how elements come and go. */
typedef struct sum_type {
  const char *name, *load, *store, *fma;
  size_t size;
} sum_type;

static sum_type sum_of(tt_dtype t) {
  switch (t) {
    case TT_F16:
      return (sum_type){"tt_f32", "tt_cast_f16_f32(x)", "tt_cast_f32_f16(x)", "TT_FMA_F32(a, b, c)", 4};
    case TT_BF16:
      return (sum_type){"tt_f32", "tt_cast_bf16_f32(x)", "tt_cast_f32_bf16(x)", "TT_FMA_F32(a, b, c)", 4};
    case TT_F64:
      return (sum_type){"tt_f64", "(x)", "(x)", "TT_FMA_F64(a, b, c)", 8};
    default:
      return (sum_type){"tt_f32", "(x)", "(x)", "TT_FMA_F32(a, b, c)", 4};
  }
}

static void define_types(tt_device_text *text, const tt_conv *c, bool is_wide) {
  sum_type s = sum_of(c->type);
  tt__device_define_type(text, c->type);
  tt__device_define(text, "S", "%s", s.name);
  tt__device_define(text, "LOAD(x)", "%s", s.load);
  tt__device_define(text, "STORE(x)", "%s", s.store);
  tt__device_define(text, "FMA(a, b, c)", "%s", s.fma);
  tt__device_define(text, "INDEX", "%s", is_wide ? "tt_i64" : "tt_i32");
}

/* ---- sizes */

static int64_t taps_of(const tt_conv *c) { return c->kernel[0] * c->kernel[1] * c->kernel[2]; }
static int64_t places_of(const tt_conv *c) { return c->out[0] * c->out[1] * c->out[2]; }

static double reach(int64_t n, int64_t step) { return (double)n * (double)llabs(step); }

/* Do elements, and the steps over them, take 64 bits? */
static bool is_wide(const tt_conv *c) {
  double x = reach(c->images, c->x_image) + reach(c->groups, c->x_group) + reach(c->channels, c->x_channel);
  double w = reach(c->groups, c->w_group) + reach(c->outputs, c->w_output) + reach(c->channels, c->w_channel);
  double y = reach(c->images, c->y_image) + reach(c->groups, c->y_group) + reach(c->outputs, c->y_output);
  for (int d = 0; d < AXES; d++) {
    const tt_conv_axis *a = &c->axis[d];
    x += reach(c->out[d] * a->stride + c->kernel[d] * a->dilation + llabs(a->pad), c->x_at[d]);
    w += reach(c->kernel[d], c->w_at[d]);
    y += reach(c->out[d], c->y_at[d]);
  }
  double places = (double)c->images * (double)places_of(c), terms = (double)c->channels * (double)taps_of(c);
  const double most = INT32_MAX - 4096; /* the last tile is counted whole */
  return x > most || w > most || y > most || places > most || terms > most;
}

/* Coordinates have 32 bits on the device. */
static bool has_room(const tt_conv *c) {
  for (int d = 0; d < AXES; d++) {
    const tt_conv_axis *a = &c->axis[d];
    if (reach(c->out[d], a->stride) > MOST || reach(c->kernel[d], a->dilation) > MOST || llabs(a->pad) > MOST ||
        c->in[d] > MOST)
      return false;
  }
  return c->outputs < MOST && c->channels < MOST && c->groups < MOST && c->images < MOST;
}

/* ---- tiles */

/* As convolve.text.h has it. */
typedef struct convolve_args {
  const void *x, *w, *bias;
  void *y, *terms;
  int64_t x_image, x_group, x_channel, x_at[AXES];
  int64_t w_group, w_output, w_channel, w_at[AXES];
  int64_t bias_group, bias_output;
  int64_t y_image, y_group, y_output, y_at[AXES];
  int64_t places, depth, part;
  int64_t tiles_n;
  int32_t tiles_m, groups, parts, outputs;
  int32_t in[AXES], kernel[AXES], out[AXES], stride[AXES], dilation[AXES], pad[AXES];
  int32_t slab_at[AXES + 1];
  int32_t unused;
} convolve_args;

#define STEPS_OF(c)                                                                                                 \
  .x = (c)->x, .w = (c)->w, .bias = (c)->bias, .y = (c)->y, .x_image = (c)->x_image, .x_group = (c)->x_group,       \
  .x_channel = (c)->x_channel, .w_group = (c)->w_group, .w_output = (c)->w_output, .w_channel = (c)->w_channel,     \
  .bias_group = (c)->bias_group, .bias_output = (c)->bias_output, .y_image = (c)->y_image, .y_group = (c)->y_group, \
  .y_output = (c)->y_output, .groups = (int32_t)(c)->groups, .outputs = (int32_t)(c)->outputs

typedef struct tile {
  const char *text;
  bool is_half; /* by the units that multiply matrices of 16-bit floats */
  int m, n, slab;
  int threads, resident; /* of a unit at the same time */
} tile;

static tile tile_of(const tt_lib_device *on, const tt_conv *c) {
  const bool is_double = c->type == TT_F64;
  tile t = {.text = tt__text_convolve, .m = c->outputs > 64 ? 128 : c->outputs > 32 ? 64 : 32, .n = 128};
  if (tt__nn_multiplies_halves(on, c->type)) {
    t.is_half = true;
    t.text = tt__text_convolve_half;
    t.slab = 32;
    t.threads = 256;
  } else {
    if (c->images * places_of(c) <= 64) t.n = 64;
    t.slab = t.m == 32 ? 4 : 8;
    t.threads = t.m * t.n / 64;
  }
  t.resident = RESIDENT / (is_double ? 2 : 1) / t.threads;
  return t;
}

static convolve_args tile_args(const tt_conv *c, tile t) {
  convolve_args a = {STEPS_OF(c)};
  int64_t slab = t.slab;
  for (int d = AXES - 1; d >= 0; d--) {
    a.x_at[d] = c->x_at[d];
    a.w_at[d] = c->w_at[d];
    a.y_at[d] = c->y_at[d];
    a.in[d] = (int32_t)c->in[d];
    a.kernel[d] = (int32_t)tt__max64(c->kernel[d], 1);
    a.out[d] = (int32_t)c->out[d];
    a.stride[d] = (int32_t)c->axis[d].stride;
    a.dilation[d] = (int32_t)c->axis[d].dilation;
    a.pad[d] = (int32_t)c->axis[d].pad;
    a.slab_at[d] = (int32_t)(slab % a.kernel[d]);
    slab /= a.kernel[d];
  }
  a.slab_at[AXES] = (int32_t)slab;
  a.places = c->images * places_of(c);
  a.depth = c->channels * taps_of(c);
  a.tiles_m = (int32_t)tt_ceil_div(c->outputs, t.m);
  a.tiles_n = tt_ceil_div(a.places, t.n);
  return a;
}

/* Where tiles are few, sums are cut so that all units have some. */
static void cut_sums(const tt_lib_device *on, tile t, convolve_args *a) {
  int64_t tiles = a->tiles_m * a->tiles_n * a->groups, slots = t.resident * (int64_t)on->device->target.units;
  int64_t slabs = tt_ceil_div(a->depth, t.slab), parts = tt__min64(slots / tiles, a->depth / PART);
  a->part = tt_ceil_div(slabs, tt__max64(parts, 1)) * t.slab;
  a->parts = (int32_t)tt__max64(1, tt_ceil_div(a->depth, tt__max64(a->part, 1)));
}

static bool reaches_out(const tt_conv *c, int d) {
  const tt_conv_axis *a = &c->axis[d];
  return a->pad > 0 || (c->out[d] - 1) * a->stride + (c->kernel[d] - 1) * a->dilation - a->pad >= c->in[d] ||
         a->pad < 0;
}

/* Of the axes of `len` the last with a length, or that of what is outside of them all. */
static int64_t last_step(const int64_t *len, const int64_t *step, int64_t outside) {
  for (int d = AXES - 1; d >= 0; d--)
    if (len[d] > 1) return llabs(step[d]);
  return llabs(outside);
}

static void define_units(tt_device_text *text, tt_dtype t) {
  const char *name = t == TT_F16 ? "F16" : "BF16";
  tt__device_define(text, "MULTIPLY(c, a, b)", "TT_MULTIPLY_%s(c, a, b)", name);
  tt__device_define(text, "PAIR(low, high)", "TT_PAIR_%s(low, high)", name);
}

static tt_code by_tiles(const tt_lib_device *on, const tt_conv *c, tt_error *err) {
  tile t = tile_of(on, c);
  convolve_args a = tile_args(c, t);
  cut_sums(on, t, &a);
  sum_type s = sum_of(c->type);
  int64_t all = c->groups * c->outputs * a.places;
  if (a.parts > 1) TT_TRY(on->temp(on, (size_t)(a.parts * all) * s.size, &a.terms, err));
  tt_device_text text = {.on = on, .text = t.text, .above = tt__text_convolve_above};
  define_types(&text, c, is_wide(c));
  if (t.is_half) define_units(&text, c->type);
  tt__device_define(&text, "THREADS", "%d", t.threads);
  tt__device_define(&text, "TILE_M", "%d", t.m);
  tt__device_define(&text, "TILE_N", "%d", t.n);
  tt__device_define(&text, "SLAB", "%d", t.slab);
  tt__device_define(&text, "RESIDENT", "%d", t.resident);
  tt__device_define(&text, "CHECK_0", "%d", reaches_out(c, 0));
  tt__device_define(&text, "CHECK_1", "%d", reaches_out(c, 1));
  tt__device_define(&text, "W_BY_DEPTH", "%d", last_step(c->kernel, c->w_at, c->w_channel) < llabs(c->w_output));
  tt__device_define(&text, "X_BY_DEPTH", "%d", c->kernel[2] > c->out[2]);
  int64_t blocks = a.tiles_m * a.tiles_n * a.groups * a.parts;
  tt_code code = tt__device_launch(&text, "convolve", blocks, t.threads, &a, sizeof a, err);
  if (code == TT_OK && a.parts > 1)
    code = tt__device_launch(&text, "convolve_end", tt__device_blocks(on, all, 256), 256, &a, sizeof a, err);
  tt__device_done(&text);
  return code;
}

/* ---- few outputs and channels */

/* As convolve_few.text.h has it. */
typedef struct convolve_few_args {
  const void *x, *w, *bias;
  void *y, *terms;
  int64_t x_image, x_group, x_channel, x_at[AXES];
  int64_t w_group, w_output, w_channel, w_at[AXES];
  int64_t bias_group, bias_output;
  int64_t y_image, y_group, y_output, y_at[AXES];
  int64_t count, depth, part;
  int32_t images, groups, outputs, channels;
  int32_t in[AXES], kernel[AXES], out[AXES], pad[AXES];
} convolve_few_args;

static convolve_few_args few_args(const tt_conv *c) {
  convolve_few_args a = {STEPS_OF(c), .images = (int32_t)c->images, .channels = (int32_t)c->channels};
  for (int d = 0; d < AXES; d++) {
    a.x_at[d] = c->x_at[d];
    a.w_at[d] = c->w_at[d];
    a.y_at[d] = c->y_at[d];
    a.in[d] = (int32_t)c->in[d];
    a.kernel[d] = (int32_t)c->kernel[d];
    a.out[d] = (int32_t)c->out[d];
    a.pad[d] = (int32_t)c->axis[d].pad;
  }
  a.depth = c->channels * taps_of(c);
  return a;
}

static void define_axes(tt_device_text *text, const tt_conv *c, bool of_places) {
  for (int d = 0; d < AXES; d++) {
    char name[16];
    snprintf(name, sizeof name, "%s_%d", of_places ? "OUT" : "KERNEL", d);
    tt__device_define(text, name, "%d", (int)(of_places ? c->out[d] : c->kernel[d]));
    snprintf(name, sizeof name, "STRIDE_%d", d);
    tt__device_define(text, name, "%d", (int)c->axis[d].stride);
    snprintf(name, sizeof name, "DILATION_%d", d);
    tt__device_define(text, name, "%d", (int)c->axis[d].dilation);
  }
}

static int64_t run_of(const tt_conv *c) { return tt__min64(c->out[2], RUN); }
static int64_t runs_of(const tt_conv *c) {
  return c->images * c->groups * c->outputs * c->out[0] * c->out[1] * tt_ceil_div(c->out[2], run_of(c));
}

static tt_code few_taps(const tt_lib_device *on, const tt_conv *c, tt_error *err) {
  convolve_few_args a = few_args(c);
  int64_t run = run_of(c), stride = c->axis[2].stride, dilation = c->axis[2].dilation;
  int64_t span = c->kernel[2] ? (run - 1) * stride + (c->kernel[2] - 1) * dilation + 1 : 0;
  a.count = runs_of(c);
  tt_device_text text = {.on = on, .text = tt__text_convolve_few};
  define_types(&text, c, is_wide(c) || a.count > INT32_MAX - FEW_THREADS);
  define_axes(&text, c, false);
  tt__device_define(&text, "RUN", "%d", (int)run);
  tt__device_define(&text, "SPAN", "%d", span <= run * c->kernel[2] ? (int)span : 0);
  tt_code code =
      tt__device_launch(&text, "convolve_few", tt_ceil_div(a.count, FEW_THREADS), FEW_THREADS, &a, sizeof a, err);
  tt__device_done(&text);
  return code;
}

static tt_code few_places(const tt_lib_device *on, const tt_conv *c, tt_error *err) {
  enum { BLOCKS = 16, TERMS = 4 }; /* of a unit; of a thread, at least */
  convolve_few_args a = few_args(c);
  int64_t sums = c->images * c->groups * c->outputs;
  int64_t parts = tt__min64(BLOCKS * (int64_t)on->device->target.units / sums, a.depth / (TERMS * FEW_THREADS));
  a.part = tt_ceil_div(a.depth, tt__max64(parts, 1));
  parts = tt_ceil_div(a.depth, a.part);
  int64_t all = sums * places_of(c);
  TT_TRY(on->temp(on, (size_t)(parts * all) * sum_of(c->type).size, &a.terms, err));
  tt_device_text text = {.on = on, .text = tt__text_convolve_few};
  define_types(&text, c, is_wide(c));
  define_axes(&text, c, true);
  tt__device_define(&text, "LONG", "1");
  tt_code code = tt__device_launch(&text, "convolve_long", sums * parts, FEW_THREADS, &a, sizeof a, err);
  if (code == TT_OK)
    code = tt__device_launch(&text, "convolve_end", tt__device_blocks(on, all, FEW_THREADS), FEW_THREADS, &a, sizeof a,
                             err);
  tt__device_done(&text);
  return code;
}

static tt_code plain(const tt_conv *c, void *ctx, tt_error *err) {
  const tt_lib_device *on = ctx;
  if (c->outputs > FEW) return by_tiles(on, c, err);
  if (places_of(c) <= FEW_PLACES && c->channels * taps_of(c) >= LONG) return few_places(on, c, err);
  bool fills_units = runs_of(c) >= (int64_t)FEW_THREADS * on->device->target.units;
  bool is_few = taps_of(c) <= FEW_TAPS && (c->channels <= FEW || fills_units); /* else sums are cut */
  return is_few ? few_taps(on, c, err) : by_tiles(on, c, err);
}

tt_code tt__convolve_device(const tt_lib_device *on, const tt_conv *c, tt_error *err) {
  if (!has_room(c)) return tt__fail(err, TT_ENOTIMPL, "convolution: too many elements along an axis");
  return tt__convolve_apart(c, plain, (void *)(uintptr_t)on, err);
}
