/*
** What the library rows "convolution" and "convolution_bias" are told, and in which order their axes lie.
**
** Operands are x [images, groups, channels, S...], w [groups, outputs, channels, K...] and, of the second row, a bias
** [groups, outputs], S and K of 1 to 3 axes. The result is y [images, groups * outputs, P...], or with `turned`
** [groups * outputs, images, P...]. Along each of the axes S
**
**   y[p] = sum over k of x'[p * stride + k * dilation - pad] * w[k]
**
** where x' is x with `spread` - 1 zeros between its elements, and 0 outside. With `spread` the family is closed: the
** derivatives to x and w, and theirs, are convolutions too (fn/grad/convolution.c).
*/
#ifndef TT_IR_CONVOLUTION_H
#define TT_IR_CONVOLUTION_H

#include "ir/node.h"

enum { TT_CONV_AXES = 3 };

/* Along one axis. stride, dilation and spread are 1 or more, pad has any sign; all fit in 31 bits. */
typedef struct tt_conv_axis {
  int64_t stride, dilation, spread, pad;
} tt_conv_axis;

/* The integers of the row's attribute: two for each axis, then whether the result is turned. */
static inline void tt__conv_tell(tt_lib_attr *attr, const tt_conv_axis *axis, int n, bool turned) {
  for (int d = 0; d < n; d++) {
    attr->i[2 * d] = axis[d].stride | axis[d].spread << 32;
    attr->i[2 * d + 1] = axis[d].dilation | (int64_t)((uint64_t)axis[d].pad << 32);
  }
  attr->i[2 * TT_CONV_AXES] = turned;
}

static inline tt_conv_axis tt__conv_axis(const tt_lib_attr *attr, int d) {
  int64_t a = attr->i[2 * d], b = attr->i[2 * d + 1];
  return (tt_conv_axis){.stride = a & INT32_MAX, .spread = a >> 32, .dilation = b & INT32_MAX, .pad = b >> 32};
}

static inline bool tt__conv_turned(const tt_lib_attr *attr) { return attr->i[2 * TT_CONV_AXES] != 0; }

#endif
