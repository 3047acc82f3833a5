/*
** Waiting for a quick lock; see quick.h.
*/
#include "base/quick.h"

#include <time.h>

enum { SPINS = 200, LOOK_AGAIN_NS = 100000 };

static void sleep_a_while(tt_quick *q) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += LOOK_AGAIN_NS;
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  pthread_cond_timedwait(&q->freed, &q->lock.mutex, &end);
}

void tt__quick_wait(tt_quick *q) {
  for (int k = 0; k < SPINS; k++)
    if (__atomic_load_n(&q->taken, __ATOMIC_RELAXED) == 0 && tt__quick_try(q)) return;
  pthread_mutex_lock(&q->lock.mutex);
  __atomic_fetch_add(&q->waiting, 1, __ATOMIC_SEQ_CST);
  while (!tt__quick_try(q)) sleep_a_while(q);
  __atomic_fetch_sub(&q->waiting, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&q->lock.mutex);
}

void tt__quick_wake(tt_quick *q) {
  pthread_mutex_lock(&q->lock.mutex);
  pthread_cond_signal(&q->freed);
  pthread_mutex_unlock(&q->lock.mutex);
}

void tt__quick_forget(tt_quick *q) {
  q->waiting = 0;
  pthread_mutex_init(&q->lock.mutex, NULL);
  pthread_cond_init(&q->freed, NULL);
}
