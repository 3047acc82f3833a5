/*
** The rows of fft/rows.c on a device: which axes go to its library together, and the small kernels of ours around it.
*/
#ifndef TT_LIB_FFT_DEVICE_H
#define TT_LIB_FFT_DEVICE_H

#include "ir/library.h"

TT_HIDDEN tt_code tt__fft_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                             const tt_block *out, tt_error *err);
TT_HIDDEN tt_code tt__rfft_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                              const tt_block *out, tt_error *err);
TT_HIDDEN tt_code tt__irfft_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                               const tt_block *out, tt_error *err);

#endif
