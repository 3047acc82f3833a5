/*
** A mutex that survives fork when its owner registers it with pthread_atfork; a thin name over pthread.
*/
#ifndef TT_BASE_LOCK_H
#define TT_BASE_LOCK_H

#include <pthread.h>

typedef struct tt_lock {
  pthread_mutex_t mutex;
} tt_lock;

#define TT_LOCK_INIT \
  { PTHREAD_MUTEX_INITIALIZER }

static inline void tt__lock(tt_lock *l) { pthread_mutex_lock(&l->mutex); }
static inline void tt__unlock(tt_lock *l) { pthread_mutex_unlock(&l->mutex); }

#endif
