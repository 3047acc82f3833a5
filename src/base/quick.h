/*
** A lock for what is held for moments and taken by every call. Where nobody waits it is one atomic exchange and a
** store, 5 ns; a mutex takes 11 as soon as the process has threads. Who finds it taken spins, then sleeps. As giving
** it back has no fence, a sleeper may miss that, and looks again after a while.
**
** Locks of this kind have ranks and survive fork() as those of lock.h do.
*/
#ifndef TT_BASE_QUICK_H
#define TT_BASE_QUICK_H

#include "base/lock.h"

typedef struct tt_quick {
  int taken, waiting; /* `waiting`: threads that sleep, or are about to */
  tt_lock lock;       /* they sleep under it; its rank is this lock's */
  pthread_cond_t freed;
} tt_quick;

#define TT_QUICK_RANKED(rank) \
  { .lock = TT_LOCK_RANKED(rank), .freed = PTHREAD_COND_INITIALIZER }

TT_HIDDEN void tt__quick_wait(tt_quick *q);
TT_HIDDEN void tt__quick_wake(tt_quick *q);
/* In the child of a fork, by the thread that took it before: nobody waits there. */
TT_HIDDEN void tt__quick_forget(tt_quick *q);

static inline bool tt__quick_try(tt_quick *q) {
  int is_free = 0;
  return __atomic_compare_exchange_n(&q->taken, &is_free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* For handlers of fork: without ranks. */
static inline void tt__quick_take(tt_quick *q) {
  if (!tt__quick_try(q)) tt__quick_wait(q);
}
static inline void tt__quick_give(tt_quick *q) {
  __atomic_store_n(&q->taken, 0, __ATOMIC_RELEASE);
  if (__atomic_load_n(&q->waiting, __ATOMIC_RELAXED)) tt__quick_wake(q);
}

static inline void tt__quick_lock(tt_quick *q) {
  tt__lock_enters(&q->lock);
  tt__quick_take(q);
}
static inline void tt__quick_unlock(tt_quick *q) {
  tt__lock_leaves(&q->lock);
  tt__quick_give(q);
}

/* A lock of one file, taken around fork. */
#define TT_QUICK(name, rank)                                                 \
  static tt_quick name = TT_QUICK_RANKED(rank);                              \
  static void name##_fork_takes(void) { tt__quick_take(&(name)); }           \
  static void name##_fork_gives(void) { tt__quick_give(&(name)); }           \
  static void name##_fork_child(void) {                                      \
    tt__quick_forget(&(name));                                               \
    tt__quick_give(&(name));                                                 \
  }                                                                          \
  TT_AT_LOAD(rank) static void name##_at_load(void) {                        \
    pthread_atfork(name##_fork_takes, name##_fork_gives, name##_fork_child); \
  }                                                                          \
  _Static_assert((rank) >= 0 && (rank) <= 3, "a rank of locks")

#endif
