/*
** Kernel texts put together: the dialect's words, the lines that specialise, what all kernels share, the kernels.
*/
#include "lib/device_call.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

extern const char tt__text_words_cuda[], tt__text_words_opencl[];

tt_device_shape tt__device_shape = {.scan_threads = 256,
                                    .scan_bytes = 128,
                                    .scan_resident = 1024,
                                    .scan_rounds = 4,
                                    .scan_ahead = 256,
                                    .scan_long = 64,
                                    .long_bytes = 192,
                                    .long_resident = 768,
                                    .long_ahead = 192,
                                    .pick_threads = 256,
                                    .pick_items = 32,
                                    .pick_ahead = 256,
                                    .sort_threads = 512,
                                    .sort_items = 18,
                                    .place_threads = 256,
                                    .place_items = 20};

/* A block is one thread, which has a tile for itself. No sums are ahead: cores have caches of their own. */
static const tt_device_shape serial_shape = {.scan_threads = 1,
                                             .scan_bytes = 16384,
                                             .scan_resident = 1,
                                             .scan_rounds = 4,
                                             .scan_long = INT32_MAX >> 18,
                                             .long_bytes = 16384,
                                             .long_resident = 1,
                                             .pick_threads = 1,
                                             .pick_items = 4096,
                                             .sort_threads = 1,
                                             .sort_items = 8192,
                                             .place_threads = 1,
                                             .place_items = 8192};

const tt_device_shape *tt__device_shape_of(const tt_lib_device *on) {
  return on->device->target.serial ? &serial_shape : &tt__device_shape;
}

int tt__device_warp(const tt_lib_device *on) { return on->device->target.warp == 1 ? 1 : 32; }

bool tt__device_has_tiles(const tt_lib_device *on) {
  return tt__device_words(on) && (on->device->target.warp > 1 || on->device->target.serial);
}

const char *tt__device_words(const tt_lib_device *on) {
  switch (on->device->target.kind) {
    case TT_DEVICE_CUDA:
      return tt__text_words_cuda;
    case TT_DEVICE_OPENCL:
      return tt__text_words_opencl;
    case TT_DEVICE_NULL: /* runs nothing: whoever plays the device says the words */
      return "";
    default:
      return NULL;
  }
}

static void open_source(tt_device_text *d) {
  const char *words = tt__device_words(d->on);
  assert(!d->closed);
  if (d->source.len > 0 || !words) return;
  if (d->on->device->target.handles) tt__str_addf(&d->source, "#define POINTERS %d\n", d->pointers);
  tt__str_add(&d->source, words);
}

void tt__device_define(tt_device_text *d, const char *name, const char *value, ...) {
  char line[256];
  va_list list;
  va_start(list, value);
  int n = vsnprintf(line, sizeof line, value, list);
  va_end(list);
  assert(n >= 0 && (size_t)n < sizeof line);
  (void)n;
  open_source(d);
  tt__str_addf(&d->source, "#define %s %s\n", name, line);
}

void tt__device_add(tt_device_text *d, const char *lines) {
  open_source(d);
  tt__str_add(&d->source, lines);
}

const char *tt__device_type(tt_dtype t) {
  assert((unsigned)t < TT_DTYPE_COUNT);
  static const char *const names[TT_DTYPE_COUNT] = {
      [TT_BOOL] = "tt_b8",   [TT_I8] = "tt_i8",   [TT_I16] = "tt_i16", [TT_I32] = "tt_i32", [TT_I64] = "tt_i64",
      [TT_U8] = "tt_u8",     [TT_U16] = "tt_u16", [TT_U32] = "tt_u32", [TT_U64] = "tt_u64", [TT_F16] = "tt_f16",
      [TT_BF16] = "tt_bf16", [TT_F32] = "tt_f32", [TT_F64] = "tt_f64", [TT_C64] = "c64",    [TT_C128] = "c128"};
  return names[t];
}

void tt__device_define_type(tt_device_text *d, tt_dtype t) {
  tt__device_define(d, "T", "%s", tt__device_type(t));
  tt__device_define(d, "SIZE", "%d", (int)tt__dtype_size(t));
}

tt_code tt__device_routine(tt_device_text *d, const char *name, tt_routine **out, tt_error *err) {
  if (!tt__device_words(d->on) || (d->on->device->target.handles && d->pointers == 0))
    return tt__fail(err, TT_ENOTIMPL, "%s has no words for '%s'", d->on->device->name, name);
  if (!d->closed) {
    open_source(d);
    tt__str_add(&d->source, tt__text_common);
    if (d->above) tt__str_add(&d->source, d->above);
    tt__str_add(&d->source, d->text);
    d->closed = true;
  }
  if (d->source.failed) return tt__fail_memory(err, d->source.len);
  return d->on->routine(d->on, d->source.data, d->scalar, name, out, err);
}

tt_code tt__device_launch(tt_device_text *d, const char *name, int64_t blocks, int threads, const void *args,
                          size_t size, tt_error *err) {
  assert(blocks >= 0 && threads > 0 && size > 0);
  const tt_lib_device *on = d->on;
  tt_routine *routine;
  if (blocks == 0) return TT_OK;
  const tt_target *t = &on->device->target;
  if (blocks > t->grid_max[0] || threads > t->block_threads || (t->handles && (int64_t)size > t->param_bytes))
    return tt__fail(err, TT_ENOTIMPL, "%s: too much for one launch", name);
  TT_TRY(tt__device_routine(d, name, &routine, err));
  tt_grid grid = {.grid = {(uint32_t)blocks, 1, 1},
                  .block = {(uint32_t)threads, 1, 1},
                  .shared = (int64_t)d->shared,
                  .pointers = d->pointers};
  return on->device->ops->launch(on->device, on->stream, routine, &grid, args, size, err);
}

void tt__device_done(tt_device_text *d) { tt__str_free(&d->source); }

tt_code tt__device_asked(const tt_lib_device *on, const char *what, tt_error *err) {
  const tt_device_ops *ops = on->device->ops;
  return ops->interop && ops->interop->asked ? ops->interop->asked(on->device, on->stream, what, err) : TT_OK;
}

tt_code tt__device_fill(const tt_lib_device *on, void *p, int byte, size_t size, tt_error *err) {
  if (size == 0) return TT_OK;
  return on->device->ops->fill(on->device, on->stream, p, (uint8_t)byte, size, err);
}

int64_t tt__device_ahead(const tt_lib_device *on, int64_t tiles, int64_t bytes, int most) {
  assert(bytes > 0 && tiles >= 0);
  int64_t room = on->device->target.cache_bytes / 6 / bytes, ahead = room < most ? room : most;
  return tiles > 4 * ahead ? ahead : 0;
}

int64_t tt__device_blocks(const tt_lib_device *on, int64_t n, int threads) {
  assert(n >= 0 && threads > 0);
  int64_t blocks = tt_ceil_div(n, threads), most = 32 * (int64_t)on->device->target.units;
  return blocks < most ? blocks : most;
}
