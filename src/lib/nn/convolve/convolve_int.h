/*
** Shared by the files that convolve: plain convolutions, of x without zeros in between.
*/
#ifndef TT_LIB_NN_CONVOLVE_INT_H
#define TT_LIB_NN_CONVOLVE_INT_H

#include "base/integer.h"
#include "lib/nn/convolve/convolve.h"

/* What does a plain convolution; channels, taps and lengths of x may be 0, what is stored has elements. */
typedef tt_code (*tt_conv_plain_fn)(const tt_conv *c, void *ctx, tt_error *err);
/* The plain convolutions that make c, one after the other. */
TT_HIDDEN tt_code tt__convolve_apart(const tt_conv *c, tt_conv_plain_fn run, void *ctx, tt_error *err);

/* c, of x with its images last; that is laid into `room`: as large as the elements of x. */
TT_HIDDEN tt_conv tt__convolve_turned(const tt_conv *c, char *room);

/* `spread` is 1 everywhere, nothing has length 0. By blocked products. */
TT_HIDDEN tt_code tt__convolve_blocked(const tt_conv *c, tt_error *err);
/* The same element by element: for so few outputs and channels a group that a product's tiles would stay empty. */
TT_HIDDEN bool tt__convolve_is_direct(const tt_conv *c);
TT_HIDDEN tt_code tt__convolve_direct(const tt_conv *c, tt_error *err);

static inline const char *tt__conv_element(const void *base, int64_t at, tt_dtype t) {
  return (const char *)base + at * (int64_t)tt__dtype_size(t);
}

#endif
