/*
** Convolution of strided host memory as a blocked product, without a buffer of windows: the matrix of windows is a view
** of seven axes (image, place; channel, tap), and panels of the product's right side are packed from it block by block.
** Places outside of x are zeros that the packer writes. Knows no arrays.
**
**   f32 f64    as they are
**   f16 bf16   widened to f32 in the panels, summed in f32, rounded once
**
** Each element is summed in one order, whatever the number of threads.
*/
#ifndef TT_LIB_NN_CONVOLVE_H
#define TT_LIB_NN_CONVOLVE_H

#include "base/err.h"
#include "ir/convolution.h"

/* x [images, groups, channels, in], w [groups, outputs, channels, kernel], y [images, groups, outputs, out]; steps in
 * elements. */
typedef struct tt_conv {
  tt_dtype type;
  int64_t images, groups, outputs, channels;
  int64_t in[TT_CONV_AXES], kernel[TT_CONV_AXES], out[TT_CONV_AXES];
  tt_conv_axis axis[TT_CONV_AXES];
  const void *x, *w, *bias; /* bias [groups, outputs], or NULL */
  void *y;
  int64_t x_image, x_group, x_channel, x_at[TT_CONV_AXES];
  int64_t w_group, w_output, w_channel, w_at[TT_CONV_AXES];
  int64_t bias_group, bias_output;
  int64_t y_image, y_group, y_output, y_at[TT_CONV_AXES];
} tt_conv;

/* Any sizes, also 0. Failure: TT_ENOMEM. */
TT_HIDDEN tt_code tt__convolve(const tt_conv *c, tt_error *err);

#endif
