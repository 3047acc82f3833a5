/*
** The library rows of networks: convolutions. ir/convolution.h has their operands.
*/
#include "lib/nn/convolve.h"
#include "lib/rows.h"

/* Axes between the first three and TT_CONV_AXES that are not there have length 1. */
static void space_of(const int64_t *len, const int64_t *step, int rank, int64_t *to_len, int64_t *to_step) {
  for (int d = 0; d < TT_CONV_AXES; d++) {
    int axis = rank - TT_CONV_AXES + d;
    to_len[d] = axis < 3 ? 1 : len[axis];
    to_step[d] = axis < 3 ? 0 : step[axis];
  }
}

static tt_code convolution(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const tt_operand *x = &src[0], *w = &src[1], *bias = attr->row->nsrc > 2 ? &src[2] : NULL;
  bool turned = tt__conv_turned(attr);
  int64_t y[TT_MAX_RANK], run = 1;
  for (int d = out->rank - 1; d >= 0; d--) {
    y[d] = run;
    run *= out->len[d];
  }
  tt_conv c = {.type = out->dtype,
               .images = x->len[0],
               .groups = x->len[1],
               .channels = x->len[2],
               .outputs = w->len[1],
               .x = x->data,
               .w = w->data,
               .y = out->data,
               .x_image = x->step[0],
               .x_group = x->step[1],
               .x_channel = x->step[2],
               .w_group = w->step[0],
               .w_output = w->step[1],
               .w_channel = w->step[2],
               .y_image = y[turned ? 2 : 0],
               .y_group = y[turned ? 0 : 1],
               .y_output = y[turned ? 1 : 2]};
  if (bias) {
    c.bias = bias->data;
    c.bias_group = bias->step[0];
    c.bias_output = bias->step[1];
  }
  space_of(x->len, x->step, x->rank, c.in, c.x_at);
  space_of(w->len, w->step, w->rank, c.kernel, c.w_at);
  space_of(out->len, y, out->rank, c.out, c.y_at);
  for (int d = 0; d < TT_CONV_AXES; d++) {
    int at = x->rank - 3 - TT_CONV_AXES + d;
    c.axis[d] = at < 0 ? (tt_conv_axis){.stride = 1, .dilation = 1, .spread = 1} : tt__conv_axis(attr, at);
  }
  return tt__convolve(&c, err);
}

/* Products, each with a sum, of all taps that do not meet a zero between elements; as if x ended like it begins. */
static tt_lib_work work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)wanted;
  double n = 2 * (double)src[0].len[0];
  for (int d = 0; d < 3; d++) n *= (double)src[1].len[d];
  for (int d = 3; d < src[0].rank; d++) {
    tt_conv_axis a = tt__conv_axis(attr, d - 3);
    double taps = (double)src[1].len[d], reach = (taps - 1) * (double)a.dilation;
    double places = ((double)((src[0].len[d] - 1) * a.spread + 2 * a.pad) - reach) / (double)a.stride + 1;
    n *= taps / (double)a.spread * (places > 1 ? places : 1);
  }
  return (tt_lib_work){.flops = n};
}

static const tt_lib_cost cost = {.work = work, .host_share = 0.8, .device_share = 0.8};

const tt_lib_row tt__rows_nn[] = {
    {.name = "convolution", .nsrc = 2, .nout = 1, .strided = true, .run = convolution, .cost = &cost},
    {.name = "convolution_bias", .nsrc = 3, .nout = 1, .strided = true, .run = convolution, .cost = &cost},
    {.name = NULL},
};
