/*
** Convolutions in a calculation: what the functions users call and the rules of differentiation share.
*/
#ifndef TT_FN_NN_CONVOLUTION_H
#define TT_FN_NN_CONVOLUTION_H

#include "fn/compose.h"
#include "ir/convolution.h"

/*
** The convolution of ir/convolution.h: x [images, groups, channels, S...], w [groups, outputs, channels, K...], bias
** [groups, outputs] or NULL, all of one type, over places of lengths `out`: y [images, groups * outputs, P...], or
** `turned` [groups * outputs, images, P...]. A library row for real floats on the host;
** complex numbers by their parts; elsewhere a product over a view of windows.
*/
TT_HIDDEN tt_array *tt__compose_convolution(tt_composer *c, tt_array *x, tt_array *w, tt_array *bias,
                                            const tt_conv_axis *axis, const int64_t *out, bool turned);

/* The convolutions that are its derivatives, of the cotangent g [images, groups, outputs, P...]: to x and w, with the
 * lengths of these. */
TT_HIDDEN tt_array *tt__compose_convolution_to_x(tt_composer *c, tt_array *g, tt_array *w, const tt_conv_axis *axis,
                                                 const int64_t *len);
TT_HIDDEN tt_array *tt__compose_convolution_to_w(tt_composer *c, tt_array *g, tt_array *x, const tt_conv_axis *axis,
                                                 const int64_t *len);

#endif
