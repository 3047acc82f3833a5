/*
** A block of threads that wait for each other: each is a fiber, all on one processor thread, in order of their numbers
** as far as they can go. It knows nothing of kernels.
*/
#ifndef TT_LANG_CUDA_C_TEAM_H
#define TT_LANG_CUDA_C_TEAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define TT_TEAM_MAX 1024

/* The calling processor thread's team, made at first use and kept until it ends. NULL: no memory for stacks. */
typedef struct tt_team tt_team;
TT_HIDDEN tt_team *tt__team(void);

/* TUTTI_KERNEL_STACK: bytes of a thread's stack; 0: nobody told. */
TT_HIDDEN size_t tt__team_stack_told(void);
/* Has the calling processor thread as much left of its own stack as a thread of a kernel has? */
TT_HIDDEN bool tt__team_has_room(void);

/* Several blocks under way on one processor thread: teams of up to `threads` threads (NULL: no memory), of which the
 * calling processor thread's is the one that it was told to use last. */
TT_HIDDEN tt_team *tt__team_new(int threads);
TT_HIDDEN void tt__team_free(tt_team *t); /* NULL is allowed */
TT_HIDDEN void tt__team_use(tt_team *t);

/* Make n threads ready to run, each with a stack that faults when it is full. False: no memory for these. */
TT_HIDDEN bool tt__team_make(tt_team *t, int n);

/*
** Run body(ctx, k) for k in [0, n), which tt__team_make made, each a thread of the team; returns when all have ended,
** or all that have not pause. False: some wait for ever, for others that have gone another way; how many wait is in
** *waiting. They are gone then, without having ended.
*/
TT_HIDDEN bool tt__team_run(tt_team *t, int n, void (*body)(void *ctx, unsigned k), void *ctx, int *waiting);

/* Do the team's threads pause? They go on as at tt__team_run. */
TT_HIDDEN bool tt__team_pauses(const tt_team *t);
TT_HIDDEN bool tt__team_go_on(tt_team *t, int *waiting);

/* Forget all threads, after a jump out of one. */
TT_HIDDEN void tt__team_forget(tt_team *t);

/* From inside a thread: as tt_cudac_core says. */
TT_HIDDEN void tt__team_barrier(tt_team *t, int value, int *sum, int *threads);
TT_HIDDEN void tt__team_warp(tt_team *t, unsigned mask, unsigned long long value, unsigned long long *out,
                             unsigned *came, unsigned *yes);
/* A barrier that opens when the team is told to go on. */
TT_HIDDEN void tt__team_pause(tt_team *t);
/* Wait until no lane of this warp can come any more: those that came to the same `site`. */
TT_HIDDEN unsigned tt__team_active(tt_team *t, const void *site);
/* The number of the thread that runs. */
TT_HIDDEN unsigned tt__team_current(const tt_team *t);
/* How many barriers have opened since tt__team_run began. */
TT_HIDDEN unsigned tt__team_opened(const tt_team *t);

/* The memory of the team, all its stacks included. */
TT_HIDDEN void tt__team_memory(tt_team *t, void **base, size_t *size);

#endif
