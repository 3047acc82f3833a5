/*
** A few complex elements at once (run/elements.h).
*/
#ifndef TT_RUN_ELEMENTS_COMPLEX_H
#define TT_RUN_ELEMENTS_COMPLEX_H

#include "base/err.h"
#include "device/cpu/vm_loops.h"
#include "ir/dtype.h"
#include "ir/ops.h"

/* As tt__elements_op, where operands or the result are complex. False: the op is left to kernels. */
TT_HIDDEN bool tt__elements_complex(const tt_vm_table *table, tt_op op, tt_dtype from, tt_dtype to,
                                    const void *const *arg, int n, void *out, int64_t count);

#endif
