/*
** What the files of the ufuncs' methods share.
*/
#ifndef TT_GRAPH_FN_UFUNC_H
#define TT_GRAPH_FN_UFUNC_H

#include "graph/fn.h"
#include "graph/ufunc.h"

/* The ufunc that argument 0 names. */
TT_HIDDEN const tt_ufunc_info *tt__ufunc_arg(tt_calc *c, const tt_call_frame *f);
/* The (first) result for u->nin operands. */
TT_HIDDEN tt_array *tt__ufunc_apply(tt_calc *c, const tt_ufunc_info *u, const tt_value *arg);

#endif
