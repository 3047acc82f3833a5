/*
** C that is rendered from functions of Python and from fused expressions, on the processor's threads: parallel loops
** with reductions, vectorize and guvectorize, kernels with and without barriers, several threads that call. Its main
** use is under ThreadSanitizer with a TUTTI_CC that adds -fsanitize=thread (.ci/run), so that it sees the accesses of
** that C. The trees are what python/tutti/_jit makes of the source above them.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <tutti/tutti.h>

enum { BLOCKS = 60, SIZE = 64, N = BLOCKS * SIZE, ROUNDS = 5, CALLERS = 3, ROWS = 50, WIDTH = 30, BIG = 300000 };

/*
** for i in prange(x.size):
**     own = np.zeros(4); own[i % 4] = x[i]; total += own.sum(); most = max(most, x[i]); out[i] = x[i] * 2.0
**     if i % 2 == 1: odd += 1
** return total + most + odd
*/
static const char reductions[] =
    "(module (file \"f.py\") (fn \"reductions\" 16 (\"x\" \"out\") ((set 5 (n \"total\") (f 0x0.0p+0)) (set 6 (n "
    "\"most\") "
    "(f -0x1.0p+0)) (set 7 (n \"odd\") (i 0)) (for 8 (n \"i\") (call \"prange\" (attr (n \"x\") \"size\")) ((set 9 (n "
    "\"own\") (call \"np.zeros\" (i 4))) (set 10 (idx (n \"own\") (bin % (n \"i\") (i 4))) (idx (n \"x\") (n \"i\"))) "
    "(aug "
    "11 + (n \"total\") (meth (n \"own\") \"sum\" )) (set 12 (n \"most\") (call \"max\" (n \"most\") (idx (n \"x\") (n "
    "\"i\")))) (if 13 (cmp \"==\" (bin % (n \"i\") (i 2)) (i 1)) ((aug 14 + (n \"odd\") (i 1))) ()) (set 15 (idx (n "
    "\"out\") (n \"i\")) (bin * (idx (n \"x\") (n \"i\")) (f 0x1.0p+1))))) (ret 16 (bin + (bin + (n \"total\") (n "
    "\"most\")) (n \"odd\"))))))";
/* vectorize: (a * a + b * b) ** 0.5 */
static const char hypot_loop[] =
    "(module (file \"f.py\") (fn \"hypot_loop\" 1 (\"a0\" \"a1\" \"out\") ((for 1 (n \"i0\") (call \"prange\" (idx "
    "(attr (n "
    "\"out\") \"shape\") (i 0))) ((set 1 (idx (n \"out\") (n \"i0\")) (call 1 (idx (n \"a0\") (n \"i0\")) (idx (n "
    "\"a1\") (n "
    "\"i0\")))))))) (fn \"hypot\" 24 (\"a\" \"b\") ((ret 24 (bin ** (bin + (bin * (n \"a\") (n \"a\")) (bin * (n "
    "\"b\") (n "
    "\"b\"))) (f 0x1.0p-1))))))";
/* guvectorize "(n)->(n)": a running sum of each row */
static const char running_loop[] =
    "(module (file \"f.py\") (fn \"running_loop\" 1 (\"a0\" \"a1\") ((for 1 (n \"i0\") (call \"prange\" (idx (attr (n "
    "\"a1\") \"shape\") (i 0))) ((expr 1 (call 1 (idx (n \"a0\") (n \"i0\")) (idx (n \"a1\") (n \"i0\")))))))) (fn "
    "\"running\" 30 (\"a\" \"out\") ((set 27 (n \"s\") (f 0x0.0p+0)) (for 28 (n \"i\") (call \"range\" (idx (attr (n "
    "\"a\") "
    "\"shape\") (i 0))) ((aug 29 + (n \"s\") (idx (n \"a\") (n \"i\"))) (set 30 (idx (n \"out\") (n \"i\")) (n "
    "\"s\")))))))";
/* i = cuda.grid(1); if i < x.size: out[i] = x[i] + 1.0 */
static const char guarded[] =
    "(module (file \"f.py\") (fn \"guarded\" 56 (\"x\" \"out\") ((set 54 (n \"i\") (call \"cuda.grid\" (i 1))) (if 55 "
    "(cmp "
    "\"<\" (n \"i\") (attr (n \"x\") \"size\")) ((set 56 (idx (n \"out\") (n \"i\")) (bin + (idx (n \"x\") (n \"i\")) "
    "(f "
    "0x1.0p+0)))) ()))))";
/* a tree of sums in shared memory, private memory, a device function, and atomic additions to 7 bins of all blocks */
static const char blocks[] =
    "(module (file \"f.py\") (fn \"blocks\" 51 (\"x\" \"out\" \"bins\") ((set 36 (n \"s\") (call \"cuda.shared.array\" "
    "(i "
    "64) (type \"float64\"))) (set 37 (n \"own\") (call \"cuda.local.array\" (i 2) (type \"float64\"))) (set 38 (n "
    "\"t\") "
    "(call \"cuda.threadIdx.x\")) (set 39 (n \"i\") (call \"cuda.grid\" (i 1))) (set 40 (idx (n \"own\") (i 0)) (call "
    "1 (n "
    "\"x\") (n \"i\"))) (set 41 (idx (n \"s\") (n \"t\")) (idx (n \"own\") (i 0))) (expr 42 (call \"cuda.syncthreads\" "
    ")) "
    "(set 43 (n \"k\") (i 32)) (while 44 (cmp \">\" (n \"k\") (i 0)) ((if 45 (cmp \"<\" (n \"t\") (n \"k\")) ((aug 46 "
    "+ "
    "(idx (n \"s\") (n \"t\")) (idx (n \"s\") (bin + (n \"t\") (n \"k\"))))) ()) (expr 47 (call \"cuda.syncthreads\" "
    ")) "
    "(aug 48 // (n \"k\") (i 2)))) (if 49 (cmp \"==\" (n \"t\") (i 0)) ((set 50 (idx (n \"out\") (call "
    "\"cuda.blockIdx.x\")) (idx (n \"s\") (i 0)))) ()) (expr 51 (call \"cuda.atomic.add\" (n \"bins\") (bin % (n "
    "\"i\") (i "
    "7)) (i 1))))) (fn \"third\" 33 (\"a\" \"i\") ((ret 33 (bin / (idx (n \"a\") (n \"i\")) (f 0x1.8p+1))))))";
/* All blocks write one element (a race), as a kernel and as a parallel loop. */
static const char clashing[] =
    "(module (file \"f.py\") (fn \"clashing\" 68 (\"x\") ((set 68 (idx (n \"x\") (i 0)) (call \"cuda.grid\" (i 1))))))";
static const char racing[] =
    "(module (file \"f.py\") (fn \"racing\" 21 (\"x\") ((for 19 (n \"i\") (call \"prange\" (attr (n \"x\") \"size\")) "
    "((set "
    "20 (idx (n \"x\") (i 0)) (bin * (n \"i\") (f 0x1.0p+0))))) (ret 21 (idx (n \"x\") (i 0))))))";

/* Argument arrays: what they are and, as words, where. */
typedef struct words {
  int64_t word[16];
  int n;
  tt_jit_argument arg[4];
  int narg;
} words;

static void add_array(words *w, void *data, int64_t item, int rank, const int64_t *len) {
  int64_t size = 1, at = w->n;
  w->word[w->n++] = (int64_t)(intptr_t)data;
  for (int k = 0; k < rank; k++) w->word[w->n++] = len[k];
  for (int k = rank; k-- > 0;) {
    w->word[at + 1 + rank + k] = size;
    size *= len[k];
  }
  w->n = (int)at + 1 + 2 * rank;
  w->arg[w->narg++] = (tt_jit_argument){.word = (int)at, .writes = true, .low = data, .size = size * item};
}

/* Compiled functions live as long as the process: held where a checker of leaks sees them. */
static tt_jit *held[1024];
static int nheld;

static bool compile(const char *text, const char *signature, uint32_t flags, tt_jit **out) {
  tt_error err = {0};
  tt_code c = tt_jit_compile(text, strlen(text), signature, flags, out, &err);
  if (c != TT_OK) fprintf(stderr, "%s\n", err.message);
  if (c == TT_OK) held[__atomic_fetch_add(&nheld, 1, __ATOMIC_RELAXED) % 1024] = *out;
  return c == TT_OK;
}

static bool call(const char *text, const char *signature, words *w, double *result) {
  tt_jit *j;
  tt_jit_run *run = NULL;
  tt_error err = {0};
  int64_t out[4] = {0};
  if (!compile(text, signature, TT_JIT_PARALLEL, &j)) return false;
  tt_code c = tt_jit_call(j, w->word, NULL, out, &run, &err);
  if (c != TT_OK) fprintf(stderr, "%s\n", err.message);
  tt_jit_run_release(&run);
  memcpy(result, out, sizeof *result);
  return c == TT_OK;
}

static bool launch(const char *text, const char *signature, words *w) {
  tt_jit *j;
  tt_error err = {0};
  int where;
  const tt_launch_options how = {.grid = {.grid = {BLOCKS, 1, 1}, .block = {SIZE, 1, 1}}, .on_cpu = true};
  if (!compile(text, signature, TT_JIT_KERNEL, &j)) return false;
  tt_code c = tt_jit_launch(j, &how, w->word, w->n, 0, w->arg, w->narg, false, &where, &err);
  if (c != TT_OK) fprintf(stderr, "%s\n", err.message);
  return c == TT_OK;
}

static const int64_t all[1] = {N}, per_block[1] = {BLOCKS}, seven[1] = {7}, table[2] = {ROWS, WIDTH};

static bool reduces(double *x, double *out) {
  words w = {.n = 0};
  double got, sum = (double)N * (N - 1) / 2;
  add_array(&w, x, 8, 1, all);
  add_array(&w, out, 8, 1, all);
  if (!call(reductions, "Af64:1C,Af64:1C", &w, &got) || got != sum + (N - 1) + N / 2) return false;
  for (int i = 0; i < N; i++)
    if (out[i] != 2.0 * i) return false;
  return true;
}

static bool vectorizes(double *x, double *out) {
  words w = {.n = 0};
  double nothing, rows[ROWS * WIDTH], sums[ROWS * WIDTH];
  for (int k = 0; k < 2; k++) add_array(&w, x, 8, 1, all);
  add_array(&w, out, 8, 1, all);
  if (!call(hypot_loop, "Af64:1C,Af64:1C,Af64:1C", &w, &nothing)) return false;
  for (int i = 0; i < N; i++)
    if (fabs(out[i] - sqrt(2.0 * i * i)) > 1e-9 * N) return false;
  w = (words){.n = 0};
  for (int i = 0; i < ROWS * WIDTH; i++) rows[i] = i / WIDTH;
  add_array(&w, rows, 8, 2, table);
  add_array(&w, sums, 8, 2, table);
  if (!call(running_loop, "Af64:2C,Af64:2C", &w, &nothing)) return false;
  for (int i = 0; i < ROWS * WIDTH; i++)
    if (sums[i] != (i / WIDTH) * (i % WIDTH + 1)) return false;
  return true;
}

static bool launches(double *x, double *out) {
  words w = {.n = 0};
  int64_t bins[7] = {0};
  double sums[BLOCKS];
  add_array(&w, x, 8, 1, all);
  add_array(&w, out, 8, 1, all);
  if (!launch(guarded, "Af64:1C,Af64:1C", &w)) return false;
  for (int i = 0; i < N; i++)
    if (out[i] != i + 1.0) return false;
  w = (words){.n = 0};
  add_array(&w, x, 8, 1, all);
  add_array(&w, sums, 8, 1, per_block);
  add_array(&w, bins, 8, 1, seven);
  if (!launch(blocks, "Af64:1C,Af64:1C,Ai64:1C", &w)) return false;
  for (int b = 0; b < BLOCKS; b++)
    if (fabs(sums[b] - (64.0 * SIZE * b + 32 * 63) / 3) > 1e-6) return false;
  for (int k = 0; k < 7; k++)
    if (bins[k] != N / 7 + (k < N % 7)) return false;
  return true;
}

/* sqrt(a * a + a) and its sum, fused and compiled, over several threads. */
static bool fuses(void) {
  tt_array *a = NULL, *b = NULL, *c = NULL, *d = NULL;
  tt_error err = {0};
  double *got = malloc(BIG * sizeof *got);
  bool ok = got && tt_arange(TT_F64, tt_v_float(0), tt_v_float(1), BIG, &a, &err) == TT_OK;
  if (ok) {
    const tt_value square[2] = {tt_v_array(a), tt_v_array(a)};
    ok = tt_apply(TT_MUL, square, 2, NULL, &b, &err) == TT_OK;
    const tt_value sum[2] = {tt_v_array(b), tt_v_array(a)};
    ok = ok && tt_apply(TT_ADD, sum, 2, NULL, &c, &err) == TT_OK;
    const tt_value root[1] = {tt_v_array(c)};
    ok = ok && tt_apply(TT_SQRT, root, 1, NULL, &d, &err) == TT_OK;
  }
  ok = ok && tt_read(d, got, BIG * sizeof *got, &err) == TT_OK;
  for (int i = 0; ok && i < BIG; i++) ok = fabs(got[i] - sqrt((double)i * i + i)) <= 1e-9 * BIG;
  if (!ok) fprintf(stderr, "%s\n", err.message);
  tt_release(&a);
  tt_release(&b);
  tt_release(&c);
  tt_release(&d);
  free(got);
  return ok;
}

static void *caller(void *wrong) {
  double *x = malloc(N * sizeof *x), *out = malloc(N * sizeof *out);
  for (int i = 0; i < N; i++) x[i] = i;
  for (int k = 0; k < ROUNDS; k++)
    *(int *)wrong += !reduces(x, out) + !vectorizes(x, out) + !launches(x, out) + !fuses();
  free(x);
  free(out);
  return NULL;
}

TEST(loops_kernels_and_expressions_are_right) {
  int wrong = 0;
  if (!tt_jit_usable()) return;
  caller(&wrong);
  CHECK_INT(wrong, 0);
}

TEST(threads_call_at_once) {
  pthread_t thread[CALLERS];
  int wrong[CALLERS] = {0};
  if (!tt_jit_usable()) return;
  for (int k = 0; k < CALLERS; k++) CHECK(pthread_create(&thread[k], NULL, caller, &wrong[k]) == 0);
  for (int k = 0; k < CALLERS; k++) pthread_join(thread[k], NULL);
  for (int k = 0; k < CALLERS; k++) CHECK_INT(wrong[k], 0);
}

/* ---- a race is seen, where somebody looks: in a program of its own, which ThreadSanitizer ends with this status */

enum { SEEN = 66 };

static int race(bool kernel) {
  static double x[N];
  words w = {.n = 0};
  double got;
  add_array(&w, x, 8, 1, all);
  bool ran = true;
  for (int k = 0; k < 20; k++) ran &= kernel ? launch(clashing, "Af64:1C", &w) : call(racing, "Af64:1C", &w, &got);
  return ran ? 0 : 1;
}

TEST(a_race_is_seen) {
#ifdef __SANITIZE_THREAD__
  if (!getenv("TUTTI_CC") || !tt_jit_usable()) return; /* the C tells nobody of its accesses */
  for (int kernel = 0; kernel < 2; kernel++) {
    pid_t child = fork();
    if (child == 0) {
      setenv("TUTTI_TEST_RACE", kernel ? "kernel" : "loop", 1);
      setenv("TSAN_OPTIONS", "log_path=/dev/null exitcode=66", 1);
      execl("/proc/self/exe", "race", (char *)NULL);
      _exit(1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), SEEN);
  }
#endif
}

int main(int argc, char **argv) {
  setenv("TUTTI_NUM_THREADS", "4", 0);
  setenv("TUTTI_DEVICE", "cpu", 1);
  tt_set_tier(1);                          /* compiled at once, */
  setenv("TUTTI_JIT_TIER", "compiled", 1); /* and functions not run by other code before */
  const char *asked = getenv("TUTTI_TEST_RACE");
  if (asked) return race(strcmp(asked, "kernel") == 0);
  return test_main(argc, argv);
}
