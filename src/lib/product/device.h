/*
** The library row "matmul" on devices: cuBLASLt where it is and has the type, kernels of ours elsewhere. Also how
** precise products of float32 are wanted there.
*/
#ifndef TT_LIB_PRODUCT_DEVICE_H
#define TT_LIB_PRODUCT_DEVICE_H

#include "ir/library.h"

TT_HIDDEN tt_code tt__product_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                 const tt_block *out, tt_error *err);

TT_HIDDEN tt_code tt__product_on_then(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                      const tt_block *out, int epilogue, const void *term, tt_error *err);

/* The end of TT_EPILOGUE_SUMS: float32 sums as halves. */
TT_HIDDEN tt_code tt__product_end_sums(const tt_lib_device *on, const void *sums, const tt_block *out, tt_error *err);

/* The same on raw operands, for rows that need products on the way. */
TT_HIDDEN tt_code tt__product_device(const tt_lib_device *on, const tt_operand *a, const tt_operand *b, void *c,
                                     tt_error *err);

/* May products of float32 and complex64 round their operands to 10 bits (tf32) where that is faster? Off at first. */
TT_HIDDEN void tt__product_set_fast(bool fast);
TT_HIDDEN bool tt__product_is_fast(void);

/* Dense copy of a view, in the order of `step` of tt__gemm_packed: `count` elements. */
TT_HIDDEN tt_code tt__device_pack(const tt_lib_device *on, const tt_operand *a, void *to, tt_error *err);

#endif
