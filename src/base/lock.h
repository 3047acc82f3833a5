/*
** A mutex under one short name, and the rule that keeps locks sound across fork().
**
** A child has one thread; a lock that another thread of the parent held would stay locked in it. So the owner of
** a lock takes it around fork, by pthread_atfork. The handlers must take the locks in the order in which threads
** nest them, outermost first, or fork itself deadlocks with a thread; the system calls them newest first. Hence
** they are registered when the library is loaded, innermost first: TT_AT_LOAD(0) for locks under which none other
** is taken (base), TT_AT_LOAD(1) for those of device, lib and run, TT_AT_LOAD(2) for the session's.
*/
#ifndef TT_BASE_LOCK_H
#define TT_BASE_LOCK_H

#include <pthread.h>

#define TT_AT_LOAD(rank) __attribute__((constructor(101 + (rank))))

typedef struct tt_lock {
  pthread_mutex_t mutex;
} tt_lock;

#define TT_LOCK_INIT \
  { PTHREAD_MUTEX_INITIALIZER }

static inline void tt__lock(tt_lock *l) { pthread_mutex_lock(&l->mutex); }
static inline void tt__unlock(tt_lock *l) { pthread_mutex_unlock(&l->mutex); }

#endif
