/*
** Windows of images as columns, and columns added up to images.
*/
#include <string.h>

#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"

enum { SPACE = 2 };

typedef struct windows {
  int64_t kernel[SPACE], dilation[SPACE], pad[SPACE], stride[SPACE];
  int64_t size[SPACE], out[SPACE]; /* of the image, and how many windows fit */
} windows;

/* kernel_size, dilation, padding, stride from argument k on. */
static bool read_windows(tt_composer *c, const tt_call_frame *f, int k, windows *w) {
  tt__window_ints(c, f, k, "kernel_size", SPACE, 1, w->kernel);
  tt__window_ints(c, f, k + 1, "dilation", SPACE, 1, w->dilation);
  tt__window_ints(c, f, k + 2, "padding", SPACE, 0, w->pad);
  tt__window_ints(c, f, k + 3, "stride", SPACE, 1, w->stride);
  for (int d = 0; d < SPACE && c->code == TT_OK; d++) {
    if (w->kernel[d] < 1) tt__compose_fail(c, TT_EVALUE, "kernel size should be greater than zero");
    if (w->stride[d] < 1) tt__compose_fail(c, TT_EVALUE, "stride should be greater than zero");
    if (w->dilation[d] < 1) tt__compose_fail(c, TT_EVALUE, "dilation should be greater than zero");
    if (w->pad[d] < 0) tt__compose_fail(c, TT_EVALUE, "padding should be non-negative");
  }
  for (int d = 0; d < SPACE && c->code == TT_OK; d++) {
    int64_t room = w->size[d] + 2 * w->pad[d] - w->dilation[d] * (w->kernel[d] - 1) - 1;
    w->out[d] = room < 0 ? 0 : room / w->stride[d] + 1;
    if (w->out[d] < 1)
      tt__compose_fail(c, TT_EVALUE,
                       "Given spatial size (%lld, %lld), kernel_size=(%lld, %lld): the array of sliding blocks has no "
                       "elements, but its components must be at least one.",
                       (long long)w->size[0], (long long)w->size[1], (long long)w->kernel[0], (long long)w->kernel[1]);
  }
  return c->code == TT_OK;
}

/* input, kernel_size, dilation, padding, stride: [images, channels * height * width of windows, windows] */
static tt_array *nn_unfold(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return NULL;
  bool single = x->rank == 3;
  if (!single && x->rank != 4)
    return tt__compose_fail(c, TT_EVALUE, "Expected 3D or 4D (batch mode) tensor for input, but got a %dD input",
                            x->rank);
  if (single) x = tt__compose_expand(c, x, 0);
  windows w;
  memcpy(w.size, tt__array_len(x) + 2, sizeof w.size);
  if (!read_windows(c, f, 1, &w)) return NULL;
  const tt_value width[] = {tt_v_int(w.pad[1]), tt_v_int(w.pad[1]), tt_v_int(w.pad[0]), tt_v_int(w.pad[0])};
  const tt_value arg[] = {tt_v_array(x), {.tag = TT_V_TUPLE, .as.tuple = {.item = (tt_value *)width, .n = 4}}};
  if (w.pad[0] || w.pad[1]) x = tt__fn_call(c, "nn.functional.pad", arg, 2);
  if (!x) return NULL;
  const int64_t *len = tt__array_len(x), *by = tt__array_step(x);
  int64_t lens[6] = {len[0], len[1], w.kernel[0], w.kernel[1], w.out[0], w.out[1]};
  int64_t step[6] = {
      by[0], by[1], by[2] * w.dilation[0], by[3] * w.dilation[1], by[2] * w.stride[0], by[3] * w.stride[1]};
  int64_t flat[3] = {len[0], len[1] * w.kernel[0] * w.kernel[1], w.out[0] * w.out[1]};
  tt_array *all = tt__compose_view(c, x, 6, lens, step, x->off);
  return tt__compose_reshape(c, all, single ? 2 : 3, single ? flat + 1 : flat);
}
TT_HANDLER(nn_unfold)

/* Each element of windows is added to where it came from. */
static tt_array *added(tt_composer *c, tt_array *parts, const windows *w) {
  const int64_t *len = tt__array_len(parts);
  int64_t whole[4] = {len[0], len[1], w->size[0] + 2 * w->pad[0], w->size[1] + 2 * w->pad[1]};
  tt_array *image = tt__compose_full(c, (tt_dtype)parts->dtype, 4, whole, tt_v_int(0));
  for (int64_t k = 0; k < w->kernel[0] * w->kernel[1] && image; k++) {
    int64_t at[SPACE] = {k / w->kernel[1], k % w->kernel[1]};
    tt_array *to = image, *one = parts;
    for (int d = 0; d < SPACE; d++) {
      to = tt__compose_slice(c, to, 2 + d, at[d] * w->dilation[d], w->out[d], w->stride[d]);
      one = tt__compose_slice(c, one, 2 + d, at[d], 1, 1);
    }
    if (!to || !one) return NULL;
    one = tt__compose_reshape(c, one, 4, tt__array_len(to));
    tt_array *sum = tt__compose_op2(c, TT_ADD, to, one);
    if (!sum || !tt__compose_set(c, to, tt_v_array(sum))) return NULL;
  }
  for (int d = 0; d < SPACE; d++) image = tt__compose_slice(c, image, 2 + d, w->pad[d], w->size[d], 1);
  return image;
}

/* input [images, channels * height * width of windows, windows], output_size, kernel_size, dilation, padding, stride */
static tt_array *nn_fold(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "fold");
  windows w;
  if (!x || !tt__window_ints(c, f, 1, "output_size", SPACE, 1, w.size) || !read_windows(c, f, 2, &w)) return NULL;
  bool single = x->rank == 2;
  if (!single && x->rank != 3)
    return tt__compose_fail(c, TT_EVALUE, "Expected 2D or 3D (batch mode) tensor for input, but got a %dD input",
                            x->rank);
  if (single) x = tt__compose_expand(c, x, 0);
  const int64_t *len = tt__array_len(x), area = w.kernel[0] * w.kernel[1];
  if (len[1] % area != 0)
    return tt__compose_fail(
        c, TT_EVALUE,
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
        "input.size(1)=%lld and kernel_size=(%lld, %lld).",
        (long long)len[1], (long long)w.kernel[0], (long long)w.kernel[1]);
  if (len[2] != w.out[0] * w.out[1])
    return tt__compose_fail(
        c, TT_EVALUE,
        "Given output_size=(%lld, %lld), expected size of input's dimension 2 to match the calculated "
        "number of sliding blocks %lld * %lld = %lld, but got input.size(2)=%lld.",
        (long long)w.size[0], (long long)w.size[1], (long long)w.out[0], (long long)w.out[1],
        (long long)(w.out[0] * w.out[1]), (long long)len[2]);
  int64_t lens[6] = {len[0], len[1] / area, w.kernel[0], w.kernel[1], w.out[0], w.out[1]};
  tt_array *parts = tt__compose_reshape(c, x, 6, lens), *y = parts ? added(c, parts, &w) : NULL;
  if (single && y) y = tt__compose_reshape(c, y, 3, tt__array_len(y) + 1);
  return tt__nn_result(c, f, y, given, -1);
}
TT_HANDLER(nn_fold)
