/*
** What a layer asks of convolutions: forward and both gradients, as fn/nn/spatial/convolution.c says them.
*/
#ifndef CONV_LAYER_H
#define CONV_LAYER_H

#include "lib/nn/convolve/convolve.h"

enum { LAYER_FORWARD, LAYER_BACK_DATA, LAYER_BACK_FILTER };

/* x [images, groups, channels, in], w [groups, outputs, channels, kernel]; the same along all axes of space. */
typedef struct conv_layer {
  int64_t images, groups, channels, outputs, in[TT_CONV_AXES], kernel[TT_CONV_AXES], stride, dilation, pad;
} conv_layer;

static int64_t layer_out(const conv_layer *l, int d) {
  if (l->in[d] == 1 && l->kernel[d] == 1) return 1;
  return (l->in[d] + 2 * l->pad - (l->kernel[d] - 1) * l->dilation - 1) / l->stride + 1;
}

/* Steps of dense axes of space, and how many elements they have. */
static int64_t layer_space(const int64_t *len, int64_t *step) {
  int64_t run = 1;
  for (int d = TT_CONV_AXES - 1; d >= 0; d--) {
    step[d] = run;
    run *= len[d];
  }
  return run;
}

static tt_conv layer_forward(const conv_layer *l, tt_dtype t) {
  tt_conv c = {.type = t, .images = l->images, .groups = l->groups, .channels = l->channels, .outputs = l->outputs};
  for (int d = 0; d < TT_CONV_AXES; d++) {
    bool used = l->in[d] > 1 || l->kernel[d] > 1;
    c.in[d] = l->in[d], c.kernel[d] = l->kernel[d], c.out[d] = layer_out(l, d);
    c.axis[d] = (tt_conv_axis){used ? l->stride : 1, used ? l->dilation : 1, 1, used ? l->pad : 0};
  }
  int64_t x = layer_space(c.in, c.x_at), w = layer_space(c.kernel, c.w_at), y = layer_space(c.out, c.y_at);
  c.x_channel = x, c.x_group = x * l->channels, c.x_image = c.x_group * l->groups;
  c.w_channel = w, c.w_output = w * l->channels, c.w_group = c.w_output * l->outputs;
  c.y_output = y, c.y_group = y * l->outputs, c.y_image = c.y_group * l->groups;
  return c;
}

/* The call whose operands are `first` (x; the cotangent of y for the way to x) and `second` (w; the cotangent of y for
 * the way to w), and whose result is `out`. */
static tt_conv layer_call(const conv_layer *l, tt_dtype t, int kind, const void *first, const void *second, void *out) {
  tt_conv f = layer_forward(l, t), c = f;
  int64_t before_first = 0;
  for (int d = 0; d < TT_CONV_AXES; d++) {
    const tt_conv_axis *a = &f.axis[d];
    if (kind == LAYER_BACK_DATA) {
      c.in[d] = f.out[d], c.out[d] = f.in[d], c.x_at[d] = f.y_at[d], c.y_at[d] = f.x_at[d], c.w_at[d] = -f.w_at[d];
      c.axis[d] = (tt_conv_axis){1, a->dilation, a->stride, (f.kernel[d] - 1) * a->dilation - a->pad};
      before_first += (f.kernel[d] - 1) * f.w_at[d];
    }
    if (kind == LAYER_BACK_FILTER) {
      c.kernel[d] = f.out[d], c.out[d] = f.kernel[d], c.w_at[d] = f.y_at[d], c.y_at[d] = f.w_at[d];
      c.axis[d] = (tt_conv_axis){a->dilation, a->stride, 1, a->pad};
    }
  }
  if (kind == LAYER_BACK_DATA) {
    c.channels = f.outputs, c.outputs = f.channels, c.w_channel = f.w_output, c.w_output = f.w_channel;
    c.x_image = f.y_image, c.x_group = f.y_group, c.x_channel = f.y_output;
    c.y_image = f.x_image, c.y_group = f.x_group, c.y_output = f.x_channel;
  }
  if (kind == LAYER_BACK_FILTER) {
    c.images = f.channels, c.channels = f.images, c.x_image = f.x_channel, c.x_channel = f.x_image;
    c.w_group = f.y_group, c.w_output = f.y_output, c.w_channel = f.y_image;
    c.y_image = f.w_channel, c.y_output = f.w_output, c.y_group = f.w_group;
  }
  c.x = first;
  c.w = (const char *)second + before_first * (int64_t)tt__dtype_size(t);
  c.y = out;
  return c;
}

/* Elements of x, w and y. */
static inline void layer_sizes(const conv_layer *l, int64_t *size) {
  tt_conv f = layer_forward(l, TT_F32);
  size[0] = f.images * f.x_image, size[1] = f.groups * f.w_group, size[2] = f.images * f.y_image;
}

#endif
