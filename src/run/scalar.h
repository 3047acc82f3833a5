/*
** One element at once, for who records (graph/session.h: tt_scalar_op_fn).
*/
#ifndef TT_RUN_SCALAR_H
#define TT_RUN_SCALAR_H

#include "base/err.h"
#include "ir/dtype.h"
#include "ir/ops.h"

TT_HIDDEN bool tt__scalar_op(tt_op op, tt_dtype from, tt_dtype to, const tt_scalar *const *arg, int n, tt_scalar *out);

#endif
