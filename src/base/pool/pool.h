/*
** The thread pool: parallel loops over an index range, and one background lane.
**
** Size: TUTTI_NUM_THREADS, else OMP_NUM_THREADS, else the smallest of the affinity mask, the cgroup
** quota and the online cores. Workers start at the first loop that needs them,
** spin shortly and then sleep on a futex. A loop started inside a loop runs
** serially. After fork() the child starts with no workers and makes its own.
*/
#ifndef TT_BASE_POOL_POOL_H
#define TT_BASE_POOL_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Called with disjoint ranges [lo, hi) that cover [0, n); `worker` is -1, or a number that the loop asked for. */
typedef void (*tt_pool_fn)(void *ctx, int64_t lo, int64_t hi, int worker);

/* Threads a loop may use, the caller included; at least 1. */
TT_HIDDEN int tt__pool_size(void);
/* n <= 0: back to the default. Takes effect at the next loop. */
TT_HIDDEN void tt__pool_resize(int n);

/*
** Run fn over [0, n) in pieces of a multiple of `grain` (the last may be shorter; serially it is one piece); returns
** when all are done. Each thread begins with its own part of the range, the same again and again, and then helps
** others, so fn must not depend on who runs what. Runs on the caller's thread alone when n <= grain, when nested, or
** when no thread can be started. Several threads may call at once (the second one runs serially).
*/
TT_HIDDEN void tt__pool_run(int64_t n, int64_t grain, tt_pool_fn fn, void *ctx);

/*
** The same on at most `most` threads, and each has a number of its own in [0, most): for bodies with memory by worker.
** Ask for as many as that memory was made for. (tt__pool_size() may be another by then, and any thread may take part.)
*/
TT_HIDDEN void tt__pool_run_numbered(int most, int64_t n, int64_t grain, tt_pool_fn fn, void *ctx);

/* True in a loop body. */
TT_HIDDEN bool tt__pool_inside(void);

/*
** Run job(ctx) on the background thread, later, in order. False: it could not be
** queued (no thread, no memory) and job will not be called. A forked child runs the jobs that
** had not begun; the one that was running stays the parent's alone.
*/
TT_HIDDEN bool tt__pool_background(void (*job)(void *ctx), void *ctx);
/* Wait until the background lane is empty. */
TT_HIDDEN void tt__pool_background_wait(void);
/* Stop and join every thread; the next use starts them anew. For tests and unload. */
TT_HIDDEN void tt__pool_shutdown(void);

/* Let the processor's other thread go on while this one waits in a loop. */
static inline void tt__relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
