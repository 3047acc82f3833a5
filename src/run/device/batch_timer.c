/* When launches are asked of a device; see batch_timer.h. */
#include "run/device/batch_timer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/os/os.h"
#include "graph/call.h"
#include "graph/session.h"
#include "run/device/batch.h"

enum { QUICK_NS = 20000, LOOK_NS = 100000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t last_ns; /* when the last launch came */
static _Atomic bool waiting;    /* launches wait that nobody has asked for */
static bool started, sleeping;  /* the thread; under the lock */

/* What is recorded for devices alone; kernels for the CPU wait until somebody looks. */
static void ask(void) {
  tt_error ignored; /* what cannot begin stays recorded and fails again where somebody looks */
  pthread_mutex_lock(&asking);
  tt__session_lock();
  if (tt__calls_on_devices()) (void)!tt__calls_run(&ignored);
  (void)!tt__batch_flush(&ignored);
  tt__session_unlock();
  pthread_mutex_unlock(&asking);
}

/* The process ends: nothing is asked of drivers that are on their way out. */
static void stop(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec++;
  (void)!pthread_mutex_timedlock(&asking, &until); /* and never given back */
}

static void *look(void *unused) {
  const struct timespec pause = {.tv_nsec = LOOK_NS};
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!atomic_load(&waiting)) {
      sleeping = true;
      pthread_cond_wait(&wake, &lock);
      sleeping = false;
    }
    pthread_mutex_unlock(&lock);
    int64_t seen = atomic_load(&last_ns);
    nanosleep(&pause, NULL);
    if (atomic_load(&last_ns) != seen) continue;
    atomic_store(&waiting, false);
    ask();
  }
  return unused;
}

static bool start(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  if (!started && (started = pthread_create(&thread, NULL, look, NULL) == 0)) {
    pthread_detach(thread);
    atexit(stop);
  }
  bool there = started;
  if (there && sleeping) pthread_cond_signal(&wake);
  pthread_mutex_unlock(&lock);
  return there;
}

bool tt__batch_timer_ends(void) {
  int64_t now = tt__clock_ns(), before = atomic_exchange(&last_ns, now);
  if (now - before > QUICK_NS) return true;
  return !atomic_exchange(&waiting, true) && !start();
}

/* A forked child has this thread alone: no TT_LOCK_FORKS, since the timer is to be started again. */
static void after_fork_child(void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  static const pthread_cond_t calm = PTHREAD_COND_INITIALIZER;
  lock = asking = fresh;
  wake = calm;
  started = sleeping = false;
  atomic_store(&waiting, false);
}

__attribute__((constructor)) static void register_fork(void) { pthread_atfork(NULL, NULL, after_fork_child); }
