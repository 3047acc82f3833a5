/* The pool: coverage of the range, nesting, resizing, many callers, fork, the background lane. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "base/os/apart.h"
#include "base/fault.h"
#include "base/os/os.h"
#include "base/pool/pool.h"

enum { N = 100000 };

typedef struct sweep {
  atomic_uchar hit[N];
  int64_t n, grain;
  int most; /* numbers that were asked for */
  atomic_int bad;
} sweep;

static sweep shared;

static void mark(void *ctx, int64_t lo, int64_t hi, int worker) {
  sweep *s = ctx;
  if (lo < 0 || hi > s->n || lo >= hi || lo % s->grain) atomic_fetch_add(&s->bad, 1);
  if (s->most ? worker < 0 || worker >= s->most : worker != -1) atomic_fetch_add(&s->bad, 1);
  if (hi != s->n && (hi - lo) % s->grain) atomic_fetch_add(&s->bad, 1);
  if (!tt__pool_inside()) atomic_fetch_add(&s->bad, 1);
  for (int64_t i = lo; i < hi; i++) atomic_fetch_add_explicit(&s->hit[i], 1, memory_order_relaxed);
}

static void sweep_by(sweep *s, int most, int64_t n, int64_t grain) {
  memset(s, 0, sizeof *s);
  s->n = n;
  s->grain = grain;
  s->most = most;
  if (most)
    tt__pool_run_numbered(most, n, grain, mark, s);
  else
    tt__pool_run(n, grain, mark, s);
  CHECK_INT(atomic_load(&s->bad), 0);
  int64_t wrong = 0;
  for (int64_t i = 0; i < N; i++) wrong += atomic_load(&s->hit[i]) != (i < n);
  CHECK_INT(wrong, 0);
}

static void sweep_once(sweep *s, int64_t n, int64_t grain) { sweep_by(s, 0, n, grain); }

TEST(every_index_once) {
  static const int64_t n[] = {0, 1, 2, 3, 7, 64, 1000, 4097, N};
  static const int64_t grain[] = {1, 2, 7, 100, 4096, 1 << 20};
  for (int threads = 1; threads <= 5; threads++) {
    tt__pool_resize(threads);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (size_t g = 0; g < sizeof grain / sizeof *grain; g++) sweep_once(&shared, n[i], grain[g]);
  }
  tt__pool_resize(0);
  CHECK(!tt__pool_inside());
}

/* Pieces that take a while, so that every worker that may comes for some. */
static void mark_slowly(void *ctx, int64_t lo, int64_t hi, int worker) {
  mark(ctx, lo, hi, worker);
  usleep(100);
}

TEST(numbers_stay_below_what_was_asked_for) {
  sweep *s = &shared;
  for (int threads = 1; threads <= 16; threads += 5) {
    tt__pool_resize(threads);
    for (int most = 1; most <= 20; most += 3) {
      memset(s, 0, sizeof *s);
      s->n = 64;
      s->grain = 1;
      s->most = most;
      tt__pool_run_numbered(most, 64, 1, mark_slowly, s);
      CHECK_INT(atomic_load(&s->bad), 0);
      sweep_by(s, most, 1000, 7);
    }
    sweep_once(s, 1000, 7); /* the others take part again */
  }
  tt__pool_resize(0);
}

static void count_one(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  atomic_fetch_add((atomic_llong *)ctx, hi - lo);
}

TEST(many_short_loops) {
  tt__pool_resize(3);
  atomic_llong sum = 0;
  for (int i = 0; i < 20000; i++) {
    tt__pool_run(16, 1, count_one, &sum);
    if (i % 5000 == 0) usleep(2000); /* let the workers fall asleep */
  }
  CHECK_INT(atomic_load(&sum), 320000);
  tt__pool_resize(0);
}

static atomic_llong begins[2];

/* Wait for the other thread, so that each takes what it takes first. */
static void begin(void *ctx, int64_t lo, int64_t hi, int worker) {
  int64_t none = -1, end = tt__clock_ns() + 2000000000;
  (void)ctx, (void)hi;
  if (!atomic_compare_exchange_strong(&begins[worker], &none, lo)) return;
  while (atomic_load(&begins[1 - worker]) < 0 && tt__clock_ns() < end) sched_yield();
}

TEST(each_thread_begins_in_the_same_place) {
  tt__pool_resize(2);
  for (int k = 0; k < 50; k++) {
    atomic_store(&begins[0], -1);
    atomic_store(&begins[1], -1);
    tt__pool_run_numbered(2, 1000, 1, begin, NULL);
    CHECK_INT(atomic_load(&begins[0]), 0);
    CHECK_INT(atomic_load(&begins[1]), 496); /* 17 pieces of 62 */
    if (k % 10 == 0) usleep(2000);
  }
  tt__pool_resize(0);
}

static cpu_set_t cores;
static void look_at_cores(void *ctx, int64_t lo, int64_t hi, int worker) {
  cpu_set_t mine;
  (void)lo, (void)hi, (void)worker;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0 || !CPU_EQUAL(&mine, &cores))
    atomic_fetch_add((atomic_llong *)ctx, 1);
}

TEST(threads_may_use_the_cores_that_we_may_use) {
  atomic_llong others = 0;
  CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0);
  tt__pool_resize(tt__cpu_count() > 1 ? 2 : 1);
  for (int i = 0; i < 200; i++) { /* some wake on the core of who wakes them, and leave it */
    tt__pool_run(16, 1, look_at_cores, &others);
    if (i % 4 == 0) usleep(400);
  }
  CHECK_INT(atomic_load(&others), 0);
  tt__pool_resize(0);
}

static void nest(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  for (int64_t i = lo; i < hi; i++) tt__pool_run(10, 1, count_one, ctx);
  if (!tt__pool_inside()) atomic_fetch_add((atomic_llong *)ctx, 1000000);
}

TEST(nested_loops_run_serially) {
  tt__pool_resize(4);
  atomic_llong sum = 0;
  tt__pool_run(1000, 1, nest, &sum);
  CHECK_INT(atomic_load(&sum), 10000);
  tt__pool_resize(0);
}

static void *caller(void *arg) {
  (void)arg;
  atomic_llong sum = 0;
  for (int i = 0; i < 500; i++) tt__pool_run(1000, 10, count_one, &sum);
  return (void *)(intptr_t)(atomic_load(&sum) == 500000);
}

TEST(many_callers_and_a_resizer) {
  pthread_t t[6];
  for (int i = 0; i < 6; i++) pthread_create(&t[i], NULL, caller, NULL);
  for (int i = 0; i < 40; i++) {
    tt__pool_resize(1 + i % 4);
    usleep(500);
  }
  for (int i = 0; i < 6; i++) {
    void *ok = NULL;
    pthread_join(t[i], &ok);
    CHECK(ok != NULL);
  }
  tt__pool_resize(0);
}

TEST(no_thread_to_be_had) {
  tt__pool_shutdown();
  tt__pool_resize(4);
  tt__fault_arm(TT_FAULT_SPAWN, 0, true);
  sweep_once(&shared, 1000, 1);
  CHECK(!tt__pool_background((void (*)(void *))abort, NULL));
  tt__fault_arm(TT_FAULT_SPAWN, 1, true); /* one starts, the others do not */
  sweep_once(&shared, 1000, 1);
  tt__fault_arm(TT_FAULT_SPAWN, -1, false);
  sweep_once(&shared, 1000, 1);
  tt__pool_resize(0);
}

static atomic_int order, in_order;

static void step(void *ctx) {
  if (atomic_fetch_add(&order, 1) == (int)(intptr_t)ctx) atomic_fetch_add(&in_order, 1);
  if (tt__pool_inside()) atomic_fetch_sub(&in_order, 1);
}

TEST(background_keeps_the_order) {
  atomic_store(&order, 0);
  atomic_store(&in_order, 0);
  for (int i = 0; i < 200; i++) CHECK(tt__pool_background(step, (void *)(intptr_t)i));
  tt__pool_background_wait();
  CHECK_INT(atomic_load(&in_order), 200);
  tt__fault_arm(TT_FAULT_MEMORY, 0, false);
  CHECK(!tt__pool_background(step, NULL));
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
}

static void loop_in_background(void *ctx) {
  tt__pool_run(1000, 10, count_one, ctx);
  tt__pool_background_wait(); /* returns at once: a job does not wait for itself */
}

TEST(background_jobs_may_loop) {
  atomic_llong sum = 0;
  CHECK(tt__pool_background(loop_in_background, &sum));
  tt__pool_background_wait();
  CHECK_INT(atomic_load(&sum), 1000);
}

TEST(shutdown_finishes_what_was_promised) {
  atomic_store(&order, 0);
  for (int i = 0; i < 50; i++) CHECK(tt__pool_background(step, NULL));
  tt__pool_shutdown();
  CHECK_INT(atomic_load(&order), 50);
  tt__pool_shutdown();
  sweep_once(&shared, 5000, 10);
  CHECK(tt__pool_background(step, NULL));
  tt__pool_background_wait();
  CHECK_INT(atomic_load(&order), 51);
}

/* ---- fork */

static atomic_bool release_job;

static void long_job(void *ctx) {
  (void)ctx;
  while (!atomic_load(&release_job)) usleep(100);
}

static void *looper(void *arg) {
  atomic_llong sum = 0;
  while (!atomic_load((atomic_bool *)arg)) tt__pool_run(4096, 1, count_one, &sum);
  return NULL;
}

/* In the child: loops and the lane work, whatever the parent's threads were doing. */
static int child_works(void) {
  atomic_llong sum = 0;
  atomic_store(&release_job, true);
  for (int i = 0; i < 50; i++) tt__pool_run(1000, 1, count_one, &sum);
  if (atomic_load(&sum) != 50000) return 2;
  atomic_store(&order, 0);
  if (!tt__pool_background(step, NULL)) return 3;
  tt__pool_background_wait();
  return atomic_load(&order) >= 1 ? 0 : 4;
}

TEST(fork_in_the_middle_of_everything) {
  tt__pool_resize(3);
  atomic_bool quit = false;
  pthread_t t;
  pthread_create(&t, NULL, looper, &quit);
  atomic_store(&release_job, false);
  CHECK(tt__pool_background(long_job, NULL));
  CHECK(tt__pool_background(step, NULL)); /* waits behind it; the child runs it too */
  fflush(NULL);
  for (int i = 0; i < 20; i++) {
    usleep(300);
    pid_t pid = fork();
    if (pid == 0) {
      alarm(20);
      _exit(child_works());
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
  }
  atomic_store(&release_job, true);
  atomic_store(&quit, true);
  pthread_join(t, NULL);
  tt__pool_background_wait();
  tt__pool_resize(0);
  sweep_once(&shared, 5000, 1);
}

static void fork_inside(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)hi;
  if (lo != 0) return;
  pid_t pid = fork();
  if (pid == 0) _exit(worker != -1);
  int status = -1;
  waitpid(pid, &status, 0);
  if (status == 0) atomic_store((atomic_int *)ctx, 1);
}

TEST(fork_in_a_loop_body) {
  atomic_int ok = 0;
  tt__pool_resize(2);
  tt__pool_run(8, 1, fork_inside, &ok);
  CHECK_INT(atomic_load(&ok), 1);
  tt__pool_resize(0);
}

static void take_stack(void *ctx) {
  volatile char room[6 << 20];
  for (size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
  *(int *)ctx = room[0];
}

static void no_end(void *ctx) { (void)ctx; }

TEST(work_apart_has_the_stack_of_a_main_thread) {
  int done = 0;
  CHECK_INT(tt__apart_run(take_stack, no_end, &done, NULL), TT_OK);
  CHECK_INT(done, 1);
}

TEST(size_comes_from_the_environment) {
  setenv("OMP_NUM_THREADS", "3,2", 1);
  unsetenv("TUTTI_NUM_THREADS");
  tt__pool_resize(0);
  CHECK_INT(tt__pool_size(), 3);
  setenv("TUTTI_NUM_THREADS", "5", 1);
  tt__pool_resize(0);
  CHECK_INT(tt__pool_size(), 5);
  setenv("TUTTI_NUM_THREADS", "nonsense", 1);
  unsetenv("OMP_NUM_THREADS");
  tt__pool_resize(0);
  CHECK_INT(tt__pool_size(), tt__cpu_count());
  unsetenv("TUTTI_NUM_THREADS");
}

TEST_MAIN()
