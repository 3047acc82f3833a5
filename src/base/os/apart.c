/*
** A process that ends does not wait for such work: whoever exits under it would take its library's memory away, and a
** library that joins its threads then would never come back. So the process leaves at once, behind everybody else's
** handlers.
*/
#include "base/os/apart.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/interrupt.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/pool/pool_int.h"

/* OpenBLAS keeps a table of its threads by its threads on the stack, 2 MB of a build for 128 cores. A main thread has
 * usually 8. */
enum { LOOK_NS = 20000000, STACK = 16 << 20 };

typedef enum state { RUNNING, DONE, LEFT } state;

typedef struct work {
  void (*job)(void *ctx);
  void (*end)(void *ctx);
  void *ctx;
  atomic_uint state;
} work;

static atomic_int under_way, left;

static void *run(void *arg) {
  work *w = arg;
  tt__interrupt_deaf();
  w->job(w->ctx);
  bool was_left = atomic_exchange(&w->state, DONE) == LEFT;
  if (was_left) {
    w->end(w->ctx);
    tt__mem_free(w, sizeof *w);
    atomic_fetch_sub(&left, 1);
  } else { /* its memory may be gone by now: then nobody sleeps there */
    syscall(SYS_futex, &w->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
  atomic_fetch_sub(&under_way, 1);
  return NULL;
}

/* False: it goes on without us. */
static bool wait_for(work *w) {
  const struct timespec look = {.tv_nsec = LOOK_NS};
  unsigned now;
  while ((now = atomic_load(&w->state)) == RUNNING) {
    syscall(SYS_futex, &w->state, FUTEX_WAIT_PRIVATE, RUNNING, &look, NULL, 0);
    if (atomic_load(&w->state) != RUNNING || !tt__interrupt_waiting()) continue;
    atomic_fetch_add(&left, 1);
    if (atomic_compare_exchange_strong(&w->state, &now, LEFT)) return false;
    atomic_fetch_sub(&left, 1);
  }
  return true;
}

tt_code tt__apart_run(void (*job)(void *ctx), void (*end)(void *ctx), void *ctx, tt_error *err) {
  pthread_t thread;
  work *w = tt__mem_alloc(sizeof *w);
  if (!w) return tt__fail_memory(err, sizeof *w);
  *w = (work){.job = job, .end = end, .ctx = ctx};
  atomic_fetch_add(&under_way, 1);
  if (!tt__thread_start(&thread, STACK, run, w)) {
    atomic_fetch_sub(&under_way, 1);
    job(ctx);
  } else {
    pthread_detach(thread);
    if (!wait_for(w)) return tt__interrupt_told(err);
  }
  tt__mem_free(w, sizeof *w);
  return TT_OK;
}

bool tt__apart_goes_on(void) { return atomic_load(&left) > 0; }

/* ---- fork and exit */

static void in_child(void) {
  atomic_store(&under_way, 0);
  atomic_store(&left, 0);
}

#if defined(__GLIBC__)
static void at_exit(int status, void *unused) {
  (void)unused;
  if (atomic_load(&under_way) == 0) return;
  fflush(NULL);
  _exit(status);
}
#endif

TT_AT_LOAD(0) static void at_load(void) {
  pthread_atfork(NULL, NULL, in_child); /* no TT_LOCK_FORKS: a count, no lock */
#if defined(__GLIBC__)
  on_exit(at_exit, NULL); /* registered early, it comes late */
#endif
}
