/* Shared by the two halves of the pool: loops (pool.c) and the background lane (pool_background.c). */
#ifndef TT_BASE_POOL_INT_H
#define TT_BASE_POOL_INT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"

/* A thread of ours: signals blocked (they are the host's), 2 MiB of stack. False: none could be started. */
TT_HIDDEN bool tt__thread_start(pthread_t *thread, void *(*body)(void *), void *ctx);

/* Finish the queued jobs, then stop and join the background thread. */
TT_HIDDEN void tt__background_stop(void);

#endif
