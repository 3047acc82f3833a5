/*
** Recurrent networks in a calculation: what the functions users call and the rule of differentiation share.
*/
#ifndef TT_FN_NN_RECURRENT_H
#define TT_FN_NN_RECURRENT_H

#include "fn/compose.h"
#include "ir/recurrent.h"

/* The library's row "recurrent" (ir/recurrent.h) in core operations, step by step. */
TT_HIDDEN tt_array *tt__recurrent_spelled(tt_composer *c, const tt_lib_attr *attr, tt_array *x, tt_array *w,
                                          tt_array *state);

#endif
