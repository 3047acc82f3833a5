/*
** The rows of ops.def as functions of the host.
*/
#ifndef TT_SCALAR_FUNCTIONS_H
#define TT_SCALAR_FUNCTIONS_H

#include "base/err.h"
#include "ir/ops.h"

typedef void (*tt_scalar_function)(void);

/*
** The function of a row for operands of `of`: as many of them as the row has (WHERE: a truth value first), by value. It
** is the text of prelude.h, so it has the bits that kernels have. NULL: the row has none of this type.
*/
TT_HIDDEN tt_scalar_function tt__scalar_function(tt_op op, tt_dtype of);
/* A row of float64 for numbers, as many as it has operands; truth values are 0 and 1. NaN where it has no function. */
TT_HIDDEN double tt__scalar_f64(tt_op op, double a, double b, double c);

#endif
