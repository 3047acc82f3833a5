/*
** Running launches of users' kernels as steps: operands brought to where the kernel runs, memory that it may write made
** its own, then the kernel. Private to run/.
*/
#ifndef TT_RUN_EXEC_CALL_H
#define TT_RUN_EXEC_CALL_H

#include "ir/device.h"
#include "ir/plan.h"

/*
** Run the step's CALL node on the device (NULL: the CPU): it and its PICKs are buffers afterwards. When the kernel
** failed on its way too: what it wrote stays written, and it does not run again. When it could not begin, everything
** is as it was. Session lock held; given up while a kernel runs on the CPU.
*/
TT_HIDDEN tt_code tt__exec_call(const tt_walk *walk, const tt_step *step, tt_device *d, tt_error *err);

/* Can this grid, whose blocks wait for each other, run there? TT_EVALUE: it is not under way as a whole at once. */
TT_HIDDEN tt_code tt__call_together(tt_device *d, tt_routine *f, const tt_grid *g, const char *name, tt_error *err);

/* A failure inside a kernel that nobody waited for; then it is forgotten. */
TT_HIDDEN tt_code tt__call_late(tt_error *err);

/* What kernels on the CPU print gathers until somebody takes it. */
TT_HIDDEN void tt__call_print(const char *text, size_t n);
/* malloc'ed by tt__mem_dup, to be freed by its length; NULL: nothing. */
TT_HIDDEN char *tt__call_printed(void);

#endif
