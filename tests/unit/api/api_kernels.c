/*
** Kernels in CUDA C on the processor's threads: blocks side by side, barriers of blocks and of the whole grid, warps,
** atomic operations, several threads that launch. Its main use is under ThreadSanitizer, which watches what stands
** around the kernels; their own accesses are TUTTI_CHECK's business.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <pthread.h>
#include <tutti/tutti.h>

/* So many blocks of so many threads are shared out over the pool, whatever they cost. */
enum { BLOCKS = 48, SIZE = 64, N = BLOCKS * SIZE, ROUNDS = 6, CALLERS = 3 };

static const char source[] =
    "#include <cooperative_groups.h>\n"
    "namespace cg = cooperative_groups;\n"
    "__device__ int tally;\n"
    /* a barrier that splits the block's loop */
    "__global__ void reverse(int *a) {\n"
    "  __shared__ int s[64];\n"
    "  int i = threadIdx.x, at = blockIdx.x * 64;\n"
    "  s[i] = a[at + i];\n"
    "  __syncthreads();\n"
    "  a[at + i] = s[63 - i];\n"
    "}\n"
    /* barriers where only some blocks come, so that threads are fibers */
    "__global__ void sums(int *a, int odd) {\n"
    "  __shared__ int s[64];\n"
    "  int i = threadIdx.x, at = blockIdx.x * 64;\n"
    "  s[i] = a[at + i];\n"
    "  if (blockIdx.x % 2 == odd)\n"
    "    for (int step = 32; step; step /= 2) {\n"
    "      __syncthreads();\n"
    "      if (i < step) s[i] += s[i + step];\n"
    "      if (step == 1 && i == 5) return;\n"
    "    }\n"
    "  if (i == 0 && blockIdx.x % 2 == odd) a[at] = s[0];\n"
    "}\n"
    "__global__ void warps(int *a) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i];\n"
    "  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);\n"
    "  if (__any_sync(0xffffffffu, v == -1)) v = 0;\n"
    "  a[i] = v;\n"
    "}\n"
    "__global__ void count(int *a, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  atomicAdd(&a[i % n], 1);\n"
    "  atomicMax(&tally, i);\n"
    "  if (i % 700 == 3) printf(\"thread %d\\n\", i);\n"
    "}\n"
    /* each round needs what all blocks wrote in the one before */
    "__global__ void around(int *a, int n, int rounds) {\n"
    "  cg::grid_group grid = cg::this_grid();\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  for (int k = 0; k < rounds; k++) {\n"
    "    int next = a[(i + 64) % n];\n"
    "    grid.sync();\n"
    "    a[i] = next;\n"
    "    grid.sync();\n"
    "  }\n"
    "}\n";

/* LeakSanitizer looks for thread-local memory of loaded libraries by a header that the C library no longer writes, and
 * here finds other bytes in its place. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static tt_program *program;
static tt_entry *entry_of(const char *name) {
  tt_entry *e = NULL;
  tt_error err;
  if (tt_program_find(program, name, &e, &err) != TT_OK) fprintf(stderr, "%s\n", err.message);
  return e;
}

static bool launch(const char *name, tt_array *a, const int *number, int n) {
  tt_argument arg[3] = {{TT_ARG_ARRAY, {.array = a}}};
  tt_error err;
  const tt_launch_options grid = {.grid = {.grid = {BLOCKS, 1, 1}, .block = {SIZE, 1, 1}}};
  tt_entry *e = entry_of(name);
  for (int k = 0; k < n; k++) arg[k + 1] = (tt_argument){TT_ARG_VALUE, {.value = tt_v_int(number[k])}};
  tt_code c = e ? tt_entry_launch(e, &grid, arg, n + 1, &err) : TT_EVALUE;
  if (e && c != TT_OK) fprintf(stderr, "%s: %s\n", name, err.message);
  return c == TT_OK;
}

static bool made(tt_array **a, int *got, const char *name, const int *number, int n) {
  tt_error err = {0};
  bool ok = tt_arange(TT_I32, tt_v_int(0), tt_v_int(1), N, a, &err) == TT_OK && launch(name, *a, number, n) &&
            tt_read(*a, got, sizeof(int) * N, &err) == TT_OK;
  if (!ok) fprintf(stderr, "%s: %s\n", name, err.message);
  tt_release(a);
  return ok;
}

/* Each kernel once, against what it must give; number of those that are wrong. */
static int all_kernels(void) {
  int got[N], wrong = 0;
  tt_array *a = NULL;
  bool right = made(&a, got, "reverse", NULL, 0);
  for (int i = 0; right && i < N; i++) right = got[i] == i / SIZE * SIZE + SIZE - 1 - i % SIZE;
  wrong += !right;
  right = made(&a, got, "sums", (const int[]){1}, 1);
  for (int i = 0; right && i < N; i++) {
    int first = i / SIZE * SIZE, sum = SIZE * first + SIZE * (SIZE - 1) / 2;
    right = got[i] == (i == first && i / SIZE % 2 == 1 ? sum : i);
  }
  wrong += !right;
  right = made(&a, got, "warps", NULL, 0);
  for (int i = 0; right && i < N; i++) right = got[i] == 32 * (i / 32 * 32) + 16 * 31;
  wrong += !right;
  right = made(&a, got, "count", (const int[]){7}, 1);
  for (int i = 0; right && i < N; i++) right = got[i] == i + (i < 7 ? N / 7 + (i < N % 7) : 0);
  wrong += !right;
  right = made(&a, got, "around", (const int[]){N, ROUNDS}, 2);
  for (int i = 0; right && i < N; i++) right = got[i] == (i + 64 * ROUNDS) % N;
  return wrong + !right;
}

static void *caller(void *wrong) {
  for (int k = 0; k < ROUNDS; k++) *(int *)wrong += all_kernels();
  return NULL;
}

static bool compiled(void) {
  tt_error err;
  if (program || tt_program_cuda(source, NULL, &program, &err) == TT_OK) return true;
  fprintf(stderr, "%s\n", err.message);
  CHECK(strstr(err.message, "needs a C++ compiler")); /* without one nothing is to be seen here */
  return false;
}

TEST(blocks_run_side_by_side) {
  if (!compiled()) return;
  for (int k = 0; k < ROUNDS; k++) CHECK_INT(all_kernels(), 0);
  int tally = 0;
  tt_error err;
  CHECK_INT(tt_program_get(program, "tally", &tally, sizeof tally, &err), TT_OK);
  CHECK_INT(tally, N - 1);
}

TEST(threads_launch_at_once) {
  if (!compiled()) return;
  pthread_t thread[CALLERS];
  int wrong[CALLERS] = {0};
  for (int k = 0; k < CALLERS; k++) CHECK(pthread_create(&thread[k], NULL, caller, &wrong[k]) == 0);
  for (int k = 0; k < CALLERS; k++) pthread_join(thread[k], NULL);
  for (int k = 0; k < CALLERS; k++) CHECK_INT(wrong[k], 0);
}

TEST(a_kernel_that_fails_leaves_the_others) {
  tt_error err;
  tt_program *bad = NULL;
  tt_entry *e = NULL;
  if (!compiled()) return;
  CHECK_INT(
      tt_program_cuda(
          "__global__ void f(int *a) { if (blockIdx.x == 5) __trap(); __syncthreads(); a[blockIdx.x] = threadIdx.x; }",
          NULL, &bad, &err),
      TT_OK);
  CHECK_INT(tt_program_find(bad, "f", &e, &err), TT_OK);
  for (int k = 0; k < 3; k++) {
    tt_array *a = NULL;
    int got[N];
    CHECK_INT(tt_arange(TT_I32, tt_v_int(0), tt_v_int(1), N, &a, &err), TT_OK);
    const tt_argument arg = {TT_ARG_ARRAY, {.array = a}};
    const tt_launch_options grid = {.grid = {.grid = {BLOCKS, 1, 1}, .block = {SIZE, 1, 1}}};
    tt_code c = tt_entry_launch(e, &grid, &arg, 1, &err);
    if (c == TT_OK) c = tt_read(a, got, sizeof got, &err);
    CHECK(c != TT_OK);
    tt_release(&a);
  }
  tt_program_release(&bad);
  CHECK_INT(all_kernels(), 0);
}

int main(int argc, char **argv) {
  setenv("TUTTI_NUM_THREADS", "4", 0);
  setenv("TUTTI_DEVICE", "cpu", 1);
  int failed = test_main(argc, argv);
  tt_text_free(tt_printed());
  tt_program_release(&program);
  return failed;
}
