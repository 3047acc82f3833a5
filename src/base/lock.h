/*
** A mutex under one short name, and the rule that keeps locks sound across fork().
**
** A child has one thread; a lock that another thread of the parent held would stay locked in it. So the owner of
** a lock takes it around fork, by pthread_atfork; TT_LOCK does that for who needs no more. The handlers must take the
** locks in the order in which threads nest them, outermost first, or fork itself deadlocks with a thread; the system
** calls them newest first. Hence they are registered when the library is loaded, innermost first, by rank: 0 for locks
** under which none other is taken (base), 1 for those of device, lib, run and launch, 2 for those of them that are held
** while one of these is taken (a device is opened, a launch is checked), 3 for the session's.
** Where asserts are on, tt__lock checks that a thread takes them in that order and none of a rank under another. Locks
** of single objects have no rank.
*/
#ifndef TT_BASE_LOCK_H
#define TT_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"

#define TT_AT_LOAD(rank) __attribute__((constructor(101 + (rank))))

typedef struct tt_lock {
  pthread_mutex_t mutex;
#ifdef TT_LOCK_CHECK /* set by the build: asserts are on */
  int ranked;        /* 1 + rank; 0: it has none */
#endif
} tt_lock;

#define TT_LOCK_INIT \
  { .mutex = PTHREAD_MUTEX_INITIALIZER }
#ifdef TT_LOCK_CHECK
#define TT_LOCK_RANKED(rank) \
  { .mutex = PTHREAD_MUTEX_INITIALIZER, .ranked = 1 + (rank) }
/* This thread is about to take it, or has just taken it without waiting for it; gives it back. */
TT_HIDDEN void tt__lock_enters(const tt_lock *l);
TT_HIDDEN void tt__lock_leaves(const tt_lock *l);
/* Does this thread hold it? Always true where nobody keeps count. */
TT_HIDDEN bool tt__lock_is_mine(const tt_lock *l);
#else
#define TT_LOCK_RANKED(rank) TT_LOCK_INIT
static inline void tt__lock_enters(const tt_lock *l) { (void)l; }
static inline void tt__lock_leaves(const tt_lock *l) { (void)l; }
static inline bool tt__lock_is_mine(const tt_lock *l) { return (void)l, true; }
#endif

static inline void tt__lock(tt_lock *l) {
  tt__lock_enters(l);
  pthread_mutex_lock(&l->mutex);
}
static inline void tt__unlock(tt_lock *l) {
  tt__lock_leaves(l);
  pthread_mutex_unlock(&l->mutex);
}

/* The same for handlers of fork, which take all locks there are, and so several of a rank. */
static inline void tt__fork_lock(tt_lock *l) { pthread_mutex_lock(&l->mutex); }
static inline void tt__fork_unlock(tt_lock *l) { pthread_mutex_unlock(&l->mutex); }

/*
** `lock` is taken around fork, and free in the child: for the one lock of a file that needs no more than this.
** TT_LOCK makes the lock, too.
*/
#define TT_LOCK_FORKS(lock, rank)                                                                         \
  static void fork_takes(void) { tt__fork_lock(&(lock)); }                                                \
  static void fork_gives(void) { tt__fork_unlock(&(lock)); }                                              \
  TT_AT_LOAD(rank) static void fork_at_load(void) { pthread_atfork(fork_takes, fork_gives, fork_gives); } \
  _Static_assert((rank) >= 0 && (rank) <= 3, "a rank of locks")
#define TT_LOCK(name, rank)                   \
  static tt_lock name = TT_LOCK_RANKED(rank); \
  TT_LOCK_FORKS(name, rank)

#endif
