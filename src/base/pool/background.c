/*
** The background lane: one thread, jobs in order. Its thread has a low priority,
** so that a compiler started from it yields to the work it is meant to speed up.
**
** After fork() the child keeps the jobs that had not begun; the one that ran
** in the parent is the parent's.
*/
#include "base/pool/pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/os/interrupt.h"
#include "base/mem.h"
#include "base/pool/pool_int.h"

typedef struct job {
  struct job *next;
  void (*run)(void *ctx);
  void *ctx;
} job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static job *first, **last = &first;
static bool running, stopping, has_thread;
static pthread_t thread;
static _Thread_local bool is_lane;

/* No TT_LOCK_FORKS: a child has no thread for jobs. */
static void fork_prepare(void) { pthread_mutex_lock(&lock); }
static void fork_parent(void) { pthread_mutex_unlock(&lock); }

static void fork_child(void) {
  pthread_cond_init(&changed, NULL); /* who waited is not here */
  running = stopping = has_thread = false;
  is_lane = false;
  pthread_mutex_unlock(&lock);
}

TT_AT_LOAD(0) static void at_load(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

/* With the lock held; it is let go while the job runs. */
static void run_first(void) {
  job *j = first;
  first = j->next;
  if (!first) last = &first;
  running = true;
  pthread_mutex_unlock(&lock);
  j->run(j->ctx);
  tt__mem_free(j, sizeof *j);
  pthread_mutex_lock(&lock);
  running = false;
  pthread_cond_broadcast(&changed);
}

static void *lane(void *ctx) {
  (void)ctx;
  is_lane = true;
  tt__interrupt_deaf();
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!first && !stopping) pthread_cond_wait(&changed, &lock);
    if (!first) break;
    run_first();
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static bool ensure_thread(void) {
  if (!has_thread) has_thread = tt__thread_start(&thread, TT_THREAD_STACK, lane, NULL);
  return has_thread;
}

bool tt__pool_background(void (*run)(void *ctx), void *ctx) {
  job *j = tt__mem_alloc(sizeof *j);
  if (!j) return false;
  *j = (job){.run = run, .ctx = ctx};
  pthread_mutex_lock(&lock);
  bool ok = !stopping && ensure_thread();
  if (ok) {
    *last = j;
    last = &j->next;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  if (!ok) tt__mem_free(j, sizeof *j);
  return ok;
}

void tt__pool_background_wait(void) {
  if (is_lane) return; /* a job cannot wait for itself */
  pthread_mutex_lock(&lock);
  while (first || running) {
    if (running || ensure_thread())
      pthread_cond_wait(&changed, &lock);
    else
      run_first(); /* no thread to be had: the promise to run it stands */
  }
  pthread_mutex_unlock(&lock);
}

void tt__background_stop(void) {
  tt__pool_background_wait();
  pthread_mutex_lock(&lock);
  bool joins = has_thread && !stopping;
  if (joins) stopping = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  if (!joins) return;
  pthread_join(thread, NULL);
  pthread_mutex_lock(&lock);
  has_thread = stopping = false;
  pthread_mutex_unlock(&lock);
}
