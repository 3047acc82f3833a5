/*
** A value that a library row's derivative reads, as the way back should get it. Under the session lock.
*/
#ifndef TT_FN_GRAD_KEEP_H
#define TT_FN_GRAD_KEEP_H

#include "graph/build.h"

/*
** The node itself, or another with the same value, whose elementwise operations are recorded once more: where that
** reads fewer bytes, beside what the derivatives of these operations read, than the value takes. One hold for the
** caller; NULL: out of memory.
*/
TT_HIDDEN tt_node *tt__keep_or_recompute(tt_node *n, tt_error *err);

#endif
