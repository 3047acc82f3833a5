/* Transforms on devices; see device.h. */
#include "lib/fft/device.h"

#include "lib/device_call.h"
#include "lib/fft/cuda.h"

extern const char tt__text_fft[];

enum { THREADS = 256, MOST_BLOCKS = 65536, MOST_CALLS = 1024 };

/* As fft.text.h has it. */
typedef struct fft_args {
  const void *from;
  void *to;
  int64_t size, n, half;
  double factor;
  int32_t flag, pad;
} fft_args;

/* Run one of our kernels over `size` complex numbers. */
static tt_code run(const tt_lib_device *on, const char *name, tt_dtype t, const fft_args *args, tt_error *err) {
  tt_device_text text = {.on = on, .text = tt__text_fft};
  tt__device_define(&text, "R", "%s", t == TT_C128 ? "tt_f64" : "tt_f32");
  tt__device_define(&text, "C", "%s", t == TT_C128 ? "c128" : "c64");
  int64_t blocks = tt_ceil_div(args->size, THREADS);
  if (blocks > MOST_BLOCKS) blocks = MOST_BLOCKS;
  tt_code code = tt__device_launch(&text, name, blocks, THREADS, args, sizeof *args, err);
  tt__device_done(&text);
  return code;
}

static tt_code scale(const tt_lib_device *on, const tt_block *out, double factor, tt_error *err) {
  if (factor == 1) return TT_OK;
  fft_args args = {.from = out->data, .to = out->data, .size = out->size, .factor = factor};
  return run(on, "fft_scale", out->dtype, &args, err);
}

/* ---- complex: axes that lie side by side go together, three at most */

typedef struct axes {
  tt_cufft_shape shape;
  int64_t calls, hop;
} axes;

/* The next axes from *d downwards to be transformed; false: none is left. Axes of length 1 stay as they are. */
static bool next_axes(const tt_operand *a, int64_t set, int *d, axes *out) {
  int64_t inner = 1, outer = 1, whole = 1;
  int last = *d;
  for (; last >= 0 && (!(set >> last & 1) || a->len[last] == 1); last--) inner *= a->len[last];
  if (last < 0) return false;
  *out = (axes){.calls = 1, .shape = {.kind = TT_CUFFT_COMPLEX, .wide = a->dtype == TT_C128}};
  int first = last + 1;
  for (int e = *d + 1; e < a->rank; e++) inner *= a->len[e];
  for (int e = last; e >= 0 && out->shape.rank < 3; e--) {
    if (a->len[e] != 1 && !(set >> e & 1)) break;
    first = e;
    if (a->len[e] == 1) continue;
    for (int k = out->shape.rank++; k > 0; k--) out->shape.n[k] = out->shape.n[k - 1];
    out->shape.n[0] = a->len[e];
    whole *= a->len[e];
  }
  for (int e = 0; e < first; e++) outer *= a->len[e];
  out->shape.in_step = inner;
  bool rows = inner == 1 || outer > inner; /* what goes into one call, and what is a call each */
  out->shape.in_apart = rows ? whole * inner : 1;
  out->shape.batch = rows ? outer : inner;
  out->calls = rows ? inner : outer;
  out->hop = rows ? 1 : whole * inner;
  out->shape.out_step = out->shape.in_step;
  out->shape.out_apart = out->shape.in_apart;
  *d = first - 1;
  return true;
}

tt_code tt__fft_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                   tt_error *err) {
  const void *from = src->data;
  axes x;
  if (on->device->target.kind != TT_DEVICE_CUDA) return tt__fail(err, TT_ENOTIMPL, "no transforms on this device");
  if (out->size == 0) return TT_OK;
  for (int d = src->rank - 1; next_axes(src, attr->i[0], &d, &x);)
    if (x.calls > MOST_CALLS) return tt__fail(err, TT_ENOTIMPL, "the axes lie too far apart");
  for (int d = src->rank - 1; next_axes(src, attr->i[0], &d, &x);) {
    TT_TRY(tt__cufft_run(on, &x.shape, attr->i[1] != 0, x.calls, x.hop, from, out->data, err));
    from = out->data;
  }
  if (from != out->data) {
    size_t size = (size_t)out->size * tt__dtype_size(out->dtype);
    TT_TRY(on->device->ops->copy_within(on->device, on->stream, out->data, from, size, err));
  }
  return scale(on, out, attr->f[0], err);
}

/* ---- real rows */

static tt_cufft_shape rows_shape(tt_cufft_kind kind, tt_dtype t, int64_t n, int64_t rows) {
  int64_t half = n / 2 + 1;
  bool from = kind == TT_CUFFT_FROM_REAL;
  return (tt_cufft_shape){.kind = (int32_t)kind,
                          .wide = t == TT_C128,
                          .rank = 1,
                          .n = {n},
                          .in_step = 1,
                          .in_apart = from ? n : half,
                          .out_step = 1,
                          .out_apart = from ? half : n,
                          .batch = rows};
}

tt_code tt__rfft_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                    tt_error *err) {
  tt_dtype t = out->dtype;
  int64_t n = attr->i[0], half = n / 2 + 1, rows = out->size / out->len[out->rank - 1];
  bool full = attr->i[2] != 0;
  void *to = out->data;
  if (on->device->target.kind != TT_DEVICE_CUDA || n < 2)
    return tt__fail(err, TT_ENOTIMPL, "no such transforms on this device");
  if (out->size == 0) return TT_OK;
  if (full) TT_TRY(on->temp(on, (size_t)(rows * half) * tt__dtype_size(t), &to, err));
  tt_cufft_shape s = rows_shape(TT_CUFFT_FROM_REAL, t, n, rows);
  TT_TRY(tt__cufft_run(on, &s, false, 1, 0, src->data, to, err));
  if (!full) return scale(on, out, attr->f[0], err);
  fft_args args = {.from = to, .to = out->data, .size = out->size, .n = n, .half = half};
  args.factor = attr->f[0];
  args.flag = attr->i[1] != 0;
  return run(on, "fft_whole", t, &args, err);
}

tt_code tt__irfft_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                     tt_error *err) {
  tt_dtype t = src->dtype;
  int64_t n = attr->i[0], half = n / 2 + 1, rows = out->size / n;
  void *copy;
  if (on->device->target.kind != TT_DEVICE_CUDA || n < 2)
    return tt__fail(err, TT_ENOTIMPL, "no such transforms on this device");
  if (out->size == 0) return TT_OK;
  TT_TRY(on->temp(on, (size_t)(rows * half) * tt__dtype_size(t), &copy, err));
  fft_args args = {.from = src->data, .to = copy, .size = rows * half, .n = n, .half = half, .factor = attr->f[0]};
  TT_TRY(run(on, "fft_half", t, &args, err));
  tt_cufft_shape s = rows_shape(TT_CUFFT_TO_REAL, t, n, rows);
  return tt__cufft_run(on, &s, true, 1, 0, copy, out->data, err);
}
