/*
** Convolution, attention and recurrent networks on devices, by kernels of ours (convolve*.text.h, attention*.text.h,
** recurrent.text.h). Operands lie in the device's memory; otherwise as convolve.h, attention.h and recurrent.h have it.
** TT_ENOTIMPL, with nothing done: sizes that these kernels do not count to.
*/
#ifndef TT_LIB_NN_DEVICE_H
#define TT_LIB_NN_DEVICE_H

#include "ir/library.h"
#include "lib/nn/attention/attention.h"
#include "lib/nn/convolve/convolve.h"
#include "lib/nn/recurrent/recurrent.h"

/* Does a device multiply matrices of 16-bit floats as our kernels for them ask it to? */
static inline bool tt__nn_multiplies_halves(const tt_lib_device *on, tt_dtype t) {
  enum { AMPERE = 80 };
  return (t == TT_F16 || t == TT_BF16) && on->device->target.arch >= AMPERE;
}

TT_HIDDEN tt_code tt__convolve_device(const tt_lib_device *on, const tt_conv *c, tt_error *err);
TT_HIDDEN tt_code tt__attention_device(const tt_lib_device *on, const tt_attention *a, void *o, void *lse,
                                       tt_error *err);
TT_HIDDEN tt_code tt__attention_back_device(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g,
                                            void *dq, void *dk, void *dv, tt_error *err);

TT_HIDDEN tt_code tt__recurrent_device(const tt_lib_device *on, const tt_recurrent *r, const void *x, const void *h,
                                       const void *memory, void *y, void *kept, tt_error *err);
TT_HIDDEN tt_code tt__recurrent_back_device(const tt_lib_device *on, const tt_recurrent *r, const void *kept,
                                            const void *g, void *sums, void *x, void *h, void *memory, tt_error *err);

/* The `g` of attention's way back, dense in temporary memory, from cotangents and results of 16 bits and dense lse. */
TT_HIDDEN tt_code tt__attention_sums_device(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *g,
                                            const tt_attention_side *o, const void *lse, void **out, tt_error *err);

#endif
