/*
** Tier 0: the interpreter. It walks a kernel's instructions over blocks of lanes that
** stay in the first-level cache, with loops compiled ahead (vm_loops.h). It needs no
** compiler, starts at once and gives the same bits as compiled kernels. It knows nothing
** of arrays, devices or threads: callers split the work and bind the memory.
*/
#ifndef TT_DEVICE_CPU_VM_H
#define TT_DEVICE_CPU_VM_H

#include "base/err.h"
#include "ir/kernel.h"
#include "ir/library.h"

typedef struct tt_vm_program tt_vm_program;

/* Make `*out` from a kernel that passes tt__kernel_ok; keeps nothing of `k`. A program never changes: share it. */
TT_HIDDEN tt_code tt__vm_build(const tt_kernel *k, tt_vm_program **out, tt_error *err);
/*
** Run `range` of a launch. Never fails and never waits for memory: the workspace is this thread's own, and where it
** cannot be had, one that tt__vm_build set aside, in turn.
*/
TT_HIDDEN void tt__vm_run(const tt_vm_program *p, const tt_kargs *args, const tt_krange *range);
/* A reduction of few elements, as a kernel folds them. False: not this one. */
TT_HIDDEN bool tt__vm_small_fold(const tt_small_fold *f, void *out);
TT_HIDDEN void tt__vm_free(tt_vm_program *p); /* NULL is allowed */
/* Give back this thread's workspace (threads do it when they end). */
TT_HIDDEN void tt__vm_trim(void);
/* Bytes of all threads' workspaces. Which worker gets its first piece when is chance, so leak checks leave them out. */
TT_HIDDEN int64_t tt__vm_kept(void);

#endif
