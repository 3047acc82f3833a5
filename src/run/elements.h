/*
** A few elements at once, for who records (graph/session.h: tt_elements_fn).
*/
#ifndef TT_RUN_ELEMENTS_H
#define TT_RUN_ELEMENTS_H

#include "base/err.h"
#include "device/cpu/vm_loops.h"
#include "ir/dtype.h"
#include "ir/library.h"
#include "ir/ops.h"

/* out[i] = op(arg[0][i], ...) for i < count; `from` is the operands' type, `to` the result's. False: no such loop. */
TT_HIDDEN bool tt__elements_op(tt_op op, tt_dtype from, tt_dtype to, const void *const *arg, int n, void *out,
                               int64_t count);
/* A reduction. False: no such loop, or too many elements. */
TT_HIDDEN bool tt__elements_fold(const tt_small_fold *f, void *out);
/* The loop that does it, for who folds rows (lib/scan/fold.h: tt_fold_find), or NULL. */
TT_HIDDEN tt_vm_loop tt__elements_loop(tt_op op, tt_dtype from, tt_dtype to);

#endif
