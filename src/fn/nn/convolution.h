/*
** Convolutions in a calculation: what the functions users call and the rules of differentiation share.
*/
#ifndef TT_FN_NN_CONVOLUTION_H
#define TT_FN_NN_CONVOLUTION_H

#include "fn/compose.h"
#include "ir/convolution.h"

/*
** The convolution of ir/convolution.h: x [images, groups, channels, S...], w [groups, outputs, channels, K...], bias
** [groups, outputs] or NULL, all of one type, over places of lengths `out`. A library row for real floats on the host;
** complex numbers by their parts; elsewhere a product over a view of windows.
*/
TT_HIDDEN tt_array *tt__compose_convolution(tt_composer *c, tt_array *x, tt_array *w, tt_array *bias,
                                            const tt_conv_axis *axis, const int64_t *out, bool turned);

/* The convolutions that are its derivatives, of the cotangent g [images, groups, outputs, P...]: to x, with the given
 * lengths of S, and to w, with those of K. */
TT_HIDDEN tt_array *tt__compose_convolution_to_x(tt_composer *c, tt_array *g, tt_array *w, const tt_conv_axis *axis,
                                                 const int64_t *in);
TT_HIDDEN tt_array *tt__compose_convolution_to_w(tt_composer *c, tt_array *g, tt_array *x, const tt_conv_axis *axis,
                                                 const int64_t *kernel);

#endif
