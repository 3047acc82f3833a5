/* Shared by the two halves of the pool: loops (pool.c) and the background lane (pool/background.c). */
#ifndef TT_BASE_POOL_POOL_INT_H
#define TT_BASE_POOL_POOL_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { TT_THREAD_STACK = 2 << 20 };

/* A thread of ours: signals blocked (they are the host's), so many bytes of stack. False: none could be started. */
TT_HIDDEN bool tt__thread_start(pthread_t *thread, size_t stack, void *(*body)(void *), void *ctx);

/* Finish the queued jobs, then stop and join the background thread. */
TT_HIDDEN void tt__background_stop(void);

#endif
