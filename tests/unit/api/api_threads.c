/*
** The public interface from several threads at once: a shared array is read by all while each has a graph of
** its own, evaluations overlap, the compiler swaps kernels in behind them, and a child is forked in the middle.
** Its main use is under ThreadSanitizer.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <tutti/tutti.h>

enum { THREADS = 4, ROUNDS = 25, N = 20000 };

/* sum((shared * k + 1)[::2] ** 2) in int64: exact, so every thread knows the answer. */
static bool one_round(tt_array *shared, int64_t k) {
  tt_error err;
  tt_array *scaled = NULL, *moved = NULL, *half = NULL, *square = NULL, *sum = NULL;
  tt_value mul[] = {tt_v_array(shared), tt_v_int(k)};
  bool ok = tt_apply(TT_MUL, mul, 2, NULL, &scaled, &err) == TT_OK;
  tt_value add[] = {tt_v_array(scaled), tt_v_int(1)};
  ok = ok && tt_apply(TT_ADD, add, 2, NULL, &moved, &err) == TT_OK;
  tt_value slice = {.tag = TT_V_SLICE};
  slice.as.slice.step = 2;
  slice.as.slice.has_step = true;
  ok = ok && tt_get(moved, slice, &half, &err) == TT_OK;
  tt_value twice[] = {tt_v_array(half), tt_v_array(half)};
  ok = ok && tt_apply(TT_MUL, twice, 2, NULL, &square, &err) == TT_OK;
  ok = ok && tt_sum(square, 0, &sum, &err) == TT_OK;
  tt_value got = {0};
  ok = ok && tt_item(sum, &got, &err) == TT_OK;
  if (!ok) fprintf(stderr, "%s: %s\n", tt_code_name(err.code), err.message);
  int64_t want = 0;
  for (int64_t i = 0; i < N; i += 2) want += (i * k + 1) * (i * k + 1);
  tt_release(&scaled);
  tt_release(&moved);
  tt_release(&half);
  tt_release(&square);
  tt_release(&sum);
  return ok && got.as.i == want;
}

typedef struct task {
  tt_array *shared;
  int64_t k;
  int wrong;
} task;

static void *rounds(void *arg) {
  task *t = arg;
  for (int i = 0; i < ROUNDS; i++) t->wrong += !one_round(t->shared, t->k + i);
  return NULL;
}

static tt_array *make_shared(void) {
  tt_array *a = NULL, *doubled = NULL;
  tt_error err;
  CHECK_INT(tt_arange(TT_I64, tt_v_int(0), tt_v_int(1), N, &a, &err), TT_OK);
  /* Not yet evaluated when the threads meet it: the first one there does it. */
  tt_value add[] = {tt_v_array(a), tt_v_int(0)};
  CHECK_INT(tt_apply(TT_ADD, add, 2, NULL, &doubled, &err), TT_OK);
  tt_release(&a);
  return doubled;
}

TEST(threads_share_an_array) {
  tt_set_threads(3);
  tt_array *shared = make_shared();
  task work[THREADS];
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    work[i] = (task){.shared = tt_retain(shared), .k = i + 1};
    pthread_create(&thread[i], NULL, rounds, &work[i]);
  }
  for (int i = 0; i < 5; i++) { /* readers of the figures must not disturb */
    tt_ledger l;
    tt_memory m;
    tt_ledger_read(&l);
    tt_memory_read(&m);
    usleep(1000);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    CHECK_INT(work[i].wrong, 0);
    tt_release(&work[i].shared);
  }
  tt_release(&shared);
  tt_set_threads(0);
}

TEST(a_child_computes_while_the_parent_does) {
  tt_array *shared = make_shared();
  task work = {.shared = shared, .k = 100};
  pthread_t thread;
  pthread_create(&thread, NULL, rounds, &work);
  fflush(NULL);
  for (int i = 0; i < 5; i++) {
    usleep(500);
    pid_t pid = fork();
    if (pid == 0) {
      alarm(30);
      _exit(one_round(shared, 7) ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
  }
  pthread_join(thread, NULL);
  CHECK_INT(work.wrong, 0);
  tt_release(&shared);
}

typedef struct writer {
  tt_array *base;
  int row, wrong;
} writer;

/* Each thread writes its own row through a view of its own, again and again, and reads it back. */
static void *write_row(void *arg) {
  writer *w = arg;
  tt_error err;
  static _Thread_local double got[1000];
  for (int i = 0; i < ROUNDS; i++) {
    tt_array *row = NULL;
    double value = w->row * 100 + i;
    bool ok = tt_set(w->base, tt_v_int(w->row), tt_v_float(value), &err) == TT_OK &&
              tt_get(w->base, tt_v_int(w->row), &row, &err) == TT_OK && tt_read(row, got, sizeof got, &err) == TT_OK;
    w->wrong += !ok || got[0] != value || got[999] != value;
    tt_release(&row);
  }
  return NULL;
}

TEST(threads_write_rows_of_one_array) {
  tt_error err;
  const int64_t len[] = {THREADS, 1000};
  tt_array *a = NULL;
  CHECK_INT(tt_full(TT_F64, 2, len, tt_v_float(0), &a, &err), TT_OK);
  writer work[THREADS];
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    work[i] = (writer){.base = a, .row = i};
    pthread_create(&thread[i], NULL, write_row, &work[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    CHECK_INT(work[i].wrong, 0);
  }
  static double got[THREADS * 1000];
  CHECK_INT(tt_read(a, got, sizeof got, &err), TT_OK);
  int wrong = 0;
  for (int i = 0; i < THREADS * 1000; i++) wrong += got[i] != i / 1000 * 100 + ROUNDS - 1;
  CHECK_INT(wrong, 0);
  tt_release(&a);
}

TEST_MAIN()
