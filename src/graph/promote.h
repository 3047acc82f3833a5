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

/* NumPy's loop for these operands; dtype is dtype= or TT_DTYPE_NONE. TT_ETYPE in NumPy's words when there is none.
 * Whether the operands may be cast to it, tt__check_casts says. */
TT_HIDDEN tt_code tt__op_types(tt_op op, const tt_value *arg, int n, tt_dtype dtype, tt_types *out, tt_error *err);
/* "Cannot cast ufunc 'add' output from ..." */
TT_HIDDEN tt_code tt__fail_cast(tt_op op, const char *what, tt_dtype from, tt_dtype to, const char *rule,
                                tt_error *err);
/* May one operand be cast to `to`? Python's numbers beside other operands take any type of their kind. */
TT_HIDDEN tt_code tt__operand_casts(const tt_value *v, bool alone, tt_dtype to, const char *rule, bool *ok,
                                    tt_error *err);
/* May the operands be cast to what is computed under NumPy's rule? `asked`: as dtype of tt__op_types. */
TT_HIDDEN tt_code tt__check_casts(tt_op op, const tt_value *arg, int n, tt_dtype asked, const tt_types *t,
                                  const char *rule, tt_error *err);

#endif
