/*
** What the files of the ufuncs' methods share.
*/
#ifndef TT_FN_UFUNC_METHODS_H
#define TT_FN_UFUNC_METHODS_H

#include "fn/fn.h"
#include "fn/ufunc/ufunc.h"

/* The ufunc that argument 0 names. */
TT_HIDDEN const tt_ufunc_info *tt__ufunc_arg(tt_composer *c, const tt_call_frame *f);
/* The (first) result for u->nin operands. */
TT_HIDDEN tt_array *tt__ufunc_apply(tt_composer *c, const tt_ufunc_info *u, const tt_value *arg);

/* Where the core axes of a call lie: of operands, then of the result. */
typedef struct tt_core_axes {
  int n[3];  /* how many */
  int given; /* of how many operands and results the caller says where; 0: at the end, all of them */
  bool kept; /* the result keeps an axis of length 1 */
  int64_t axis[3][TT_MAX_RANK];
} tt_core_axes;

/* Arguments k, k + 1, k + 2 are axes=, axis= and keepdims= of a ufunc with a signature: arg[] as arrays whose core axes
 * are the last. */
TT_HIDDEN bool tt__ufunc_axes_in(tt_composer *c, const tt_ufunc_info *u, const tt_call_frame *f, int k, tt_value *arg,
                                 tt_core_axes *x);
/* The result with its core axes where they belong. */
TT_HIDDEN tt_array *tt__ufunc_axes_out(tt_composer *c, const tt_ufunc_info *u, tt_core_axes *x, tt_array *made);

#endif
