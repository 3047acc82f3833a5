/*
** What an op computes in and what comes out.
*/
#ifndef TT_GRAPH_PROMOTE_H
#define TT_GRAPH_PROMOTE_H

#include "graph/build.h"

typedef struct tt_types {
  tt_dtype compute; /* operands are converted to this */
  tt_dtype result;
} tt_types;

/* NumPy's loop for these operands; dtype is dtype= or TT_DTYPE_NONE. TT_ETYPE in NumPy's words when there is none. */
TT_HIDDEN tt_code tt__op_types(tt_op op, const tt_value *arg, int n, tt_dtype dtype, tt_types *out, tt_error *err);
/* "Cannot cast ufunc 'add' output from ..." */
TT_HIDDEN tt_code tt__fail_cast(tt_op op, const char *what, tt_dtype from, tt_dtype to, tt_error *err);

#endif
