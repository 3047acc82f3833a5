/*
** A mutex under one short name, and the rule that keeps locks sound across fork().
**
** A child has one thread; a lock that another thread of the parent held would stay locked in it. So the owner of
** a lock takes it around fork, by pthread_atfork; TT_LOCK does that for who needs no more. The handlers must take the
** locks in the order in which threads nest them, outermost first, or fork itself deadlocks with a thread; the system
** calls them newest first. Hence they are registered when the library is loaded, innermost first, by rank: 0 for locks
** under which none other is taken (base), 1 for those of device, lib, run and launch, 2 for the session's.
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

/*
** `lock` is taken around fork, and free in the child: for the one lock of a file that needs no more than this.
** TT_LOCK makes the lock, too.
*/
#define TT_LOCK_FORKS(lock, rank)                                                                         \
  static void fork_takes(void) { tt__lock(&(lock)); }                                                     \
  static void fork_gives(void) { tt__unlock(&(lock)); }                                                   \
  TT_AT_LOAD(rank) static void fork_at_load(void) { pthread_atfork(fork_takes, fork_gives, fork_gives); } \
  _Static_assert((rank) >= 0 && (rank) <= 2, "a rank of locks")
#define TT_LOCK(name, rank)           \
  static tt_lock name = TT_LOCK_INIT; \
  TT_LOCK_FORKS(name, rank)

static inline void tt__lock(tt_lock *l) { pthread_mutex_lock(&l->mutex); }
static inline void tt__unlock(tt_lock *l) { pthread_mutex_unlock(&l->mutex); }

#endif
