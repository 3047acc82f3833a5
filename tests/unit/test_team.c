/*
** Teams of threads on one processor thread: each stack ends in a page that faults, however many there are.
*/
#define TEST_KEEPS_MEMORY
#include <setjmp.h>
#include <signal.h>

#include "base/os/os.h"
#include "lang/cuda_c/team.h"

#include "test.h"

enum { TEAMS = 18, THREADS = TT_TEAM_MAX }; /* more stacks than a mapping can be split for */

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
