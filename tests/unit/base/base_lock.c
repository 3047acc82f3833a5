/* Locks by rank: a child of fork finds them free, and where asserts are on the wrong order ends the program. */
#include <signal.h>
#include <sys/wait.h>

#include "base/lock.h"
#include "base/quick.h"
#include "test.h"

TT_LOCK(inner, 0);
static tt_lock middle = TT_LOCK_RANKED(1), outer = TT_LOCK_RANKED(2), other = TT_LOCK_RANKED(1), plain = TT_LOCK_INIT;

static int status_of(void (*job)(void)) {
  int status = -1;
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) {
    (void)!freopen("/dev/null", "w", stderr);
    job();
    _exit(0);
  }
  CHECK(waitpid(pid, &status, 0) == pid);
  return status;
}

static void in_order(void) {
  tt__lock(&outer);
  tt__lock(&middle);
  tt__lock(&plain);
  tt__lock(&inner);
  tt__unlock(&middle); /* in any order */
  tt__unlock(&inner);
  tt__unlock(&plain);
  tt__unlock(&outer);
  tt__lock(&other);
  tt__unlock(&other);
}

static void *hold(void *gate) {
  int *pipes = gate;
  char c = 0;
  tt__lock(&inner);
  (void)!write(pipes[1], &c, 1);
  usleep(50000);
  tt__unlock(&inner);
  return NULL;
}

static void take_inner(void) {
  alarm(10);
  tt__lock(&inner);
  tt__unlock(&inner);
}

TEST(locks_nest_by_rank) { CHECK(status_of(in_order) == 0); }

TEST(a_child_finds_a_lock_free_that_another_thread_held) {
  int pipes[2];
  char c;
  pthread_t thread;
  CHECK(pipe(pipes) == 0);
  CHECK(pthread_create(&thread, NULL, hold, pipes) == 0);
  CHECK(read(pipes[0], &c, 1) == 1);
  CHECK(status_of(take_inner) == 0);
  pthread_join(thread, NULL);
  close(pipes[0]);
  close(pipes[1]);
}

/* ---- quick locks */

enum { THREADS = 4, TURNS = 20000 };
TT_QUICK(quick, 0);
static int64_t counted;

static void *count_up(void *unused) {
  for (int k = 0; k < TURNS; k++) {
    tt__quick_lock(&quick);
    counted++;
    if (k % 1000 == 0) usleep(100); /* so that others sleep, too */
    tt__quick_unlock(&quick);
  }
  return unused;
}

static void take_quick(void) {
  tt__quick_lock(&quick);
  counted++;
  tt__quick_unlock(&quick);
}

TEST(a_quick_lock_lets_one_in_and_wakes_the_others) {
  pthread_t thread[THREADS];
  counted = 0;
  for (int k = 0; k < THREADS; k++) CHECK(pthread_create(&thread[k], NULL, count_up, NULL) == 0);
  for (int k = 0; k < 10; k++) { /* a child finds it free, whoever waited in the parent */
    int status = status_of(take_quick);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
  CHECK_INT(counted, THREADS * TURNS);
  CHECK_INT(quick.waiting, 0);
}

#ifdef TT_LOCK_CHECK
static void outwards(void) {
  tt__lock(&middle);
  tt__lock(&outer);
}
static void sideways(void) {
  tt__lock(&middle);
  tt__lock(&other);
}
static void again(void) {
  tt__lock(&plain);
  tt__lock(&plain);
}
static void not_held(void) { tt__unlock(&plain); }

TEST(any_other_order_ends_the_program) {
  void (*const wrong[])(void) = {outwards, sideways, again, not_held};
  for (int k = 0; k < 4; k++) {
    int status = status_of(wrong[k]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  }
}
#endif

TEST_MAIN()
