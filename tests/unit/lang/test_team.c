/*
** Teams of threads on one processor thread: they wait for each other; each stack ends in a page that faults, however
** many there are.
*/
#define TEST_KEEPS_MEMORY
#include <setjmp.h>
#include <signal.h>

#include "base/os/os.h"
#include "lang/cuda_c/team.h"

#include "test.h"

enum { TEAMS = 18, THREADS = TT_TEAM_MAX }; /* more stacks than a mapping can be split for */

static int order[64], orders, sums[64];
static void wait_twice(void *ctx, unsigned k) {
  int sum, threads;
  (void)ctx;
  if (k == 5) return;
  order[orders++] = (int)k;
  tt__team_barrier(tt__team(), (int)k, &sum, &threads);
  sums[k] = sum * 100 + threads;
  tt__team_barrier(tt__team(), 1, &sum, &threads);
  sums[k] += sum;
}
static void wait_for_ever(void *ctx, unsigned k) {
  unsigned came, yes;
  int sum, threads;
  (void)ctx;
  if (k == 0)
    tt__team_barrier(tt__team(), 0, &sum, &threads);
  else
    tt__team_warp(tt__team(), 3, 0, NULL, &came, &yes);
}

TEST(threads_of_a_block_wait) {
  int waiting;
  for (int again = 0; again < 3; again++) {
    orders = 0;
    CHECK(tt__team_make(tt__team(), 40) && tt__team_run(tt__team(), 40, wait_twice, NULL, &waiting));
    CHECK_INT(orders, 39);
    CHECK_INT(order[38], 39);
    CHECK_INT(sums[0], (780 - 5) * 100 + 39 + 39);
    CHECK(!tt__team_run(tt__team(), 2, wait_for_ever, NULL, &waiting));
    CHECK_INT(waiting, 2);
  }
}

/* Thread k of two teams that take turns: it pauses k times. */
static void pause_often(void *ctx, unsigned k) {
  int *count = ctx;
  for (unsigned i = 0; i < k; i++) {
    count[0]++;
    tt__team_pause(tt__team());
  }
}

TEST(blocks_take_turns) {
  tt_team *before = tt__team(), *team[2] = {tt__team_new(4), tt__team_new(4)};
  int count[2] = {0, 0}, waiting;
  for (int k = 0; k < 2; k++) {
    tt__team_use(team[k]);
    CHECK(tt__team_make(team[k], 3 + k));
    CHECK(tt__team_run(team[k], 3 + k, pause_often, &count[k], &waiting) && tt__team_pauses(team[k]));
  }
  CHECK(count[0] == 2 && count[1] == 3);
  for (int round = 1; round <= 3; round++)
    for (int k = 0; k < 2; k++) {
      if (!tt__team_pauses(team[k])) continue;
      tt__team_use(team[k]);
      CHECK(tt__team_go_on(team[k], &waiting));
      CHECK(tt__team_pauses(team[k]) == (round < 2 + k));
    }
  CHECK(count[0] == 3 && count[1] == 6);
  tt__team_use(team[0]);
  CHECK(!tt__team_run(team[0], 2, wait_for_ever, NULL, &waiting) && waiting == 2); /* and they can be left */
  tt__team_use(before);
  tt__team_free(team[0]);
  tt__team_free(team[1]);
}

/* ---- stacks that are full */

static sigjmp_buf out;
static char signal_stack[64 << 10];
static volatile int ran;

static void on_fault(int number) { siglongjmp(out, number); }

static void catch_faults(void) {
  stack_t own = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  struct sigaction act = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER};
  CHECK_INT(sigaltstack(&own, NULL), 0);
  sigaction(SIGSEGV, &act, NULL);
  sigaction(SIGBUS, &act, NULL);
}

static void counts(void *ctx, unsigned k) {
  (void)ctx;
  (void)k;
  ran++;
}

/* Writes a byte of each page below its frame, until one faults: `ctx` is how many are no fault. */
static void goes_down(void *ctx, unsigned k) {
  volatile char *here = (volatile char *)__builtin_frame_address(0);
  int most = *(int *)ctx;
  if (k != THREADS - 1) return;
  for (ran = 0; ran < most; ran++) here[-(long)tt__page_size() * (ran + 1)] = 1;
}

TEST(the_last_stack_of_many_ends_in_a_fault) {
  tt_team *team[TEAMS], *before = tt__team();
  int waiting, most = 512;
  catch_faults();
  for (int i = 0; i < TEAMS; i++) {
    team[i] = tt__team_new(THREADS);
    CHECK(team[i] && tt__team_make(team[i], THREADS));
    tt__team_use(team[i]);
    ran = 0;
    CHECK(tt__team_run(team[i], THREADS, counts, NULL, &waiting));
    CHECK_INT(ran, THREADS);
  }
  if (sigsetjmp(out, 1) == 0) (void)tt__team_run(team[TEAMS - 1], THREADS, goes_down, &most, &waiting);
  CHECK(ran > 100 && ran < 200); /* 768 KB */
  tt__team_forget(team[TEAMS - 1]);
  CHECK(tt__team_make(team[TEAMS - 1], THREADS));
  tt__team_use(before);
  for (int i = 0; i < TEAMS; i++) tt__team_free(team[i]);
}

TEST_MAIN()
