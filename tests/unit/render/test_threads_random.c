/*
** Thread kernels, emulated, against the reference executor over kernels made up at random, bit for bit. An
** argument is the first seed, a second one the number of kernels.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "kernel_random.h"
#include "threads_emulate.h"

enum { BATCH = 8 };

/* Every third batch for cores instead of threads. */
static bool check_batch(uint64_t first, int n) {
  static emu_suite s;
  static emu_job jobs[BATCH];
  memset(&s, 0, sizeof s);
  emu_serial = first / BATCH % 3 == 2;
  for (int i = 0; i < n; i++) {
    maker m = {.seed = first + (uint64_t)i};
    tt_str text = {0};
    jobs[i] = (emu_job){.k = make_kernel(&m, &text), .len = {1, 1, 1, 1, 1, 1, 1, 1}, .seed = first + (uint64_t)i};
    make_lengths(&m, jobs[i].len);
    emu_add(&s, &jobs[i]);
    tt__str_free(&text);
  }
  bool ok = emu_compile(&s);
  for (int i = 0; i < n; i++) {
    ok = ok && emu_same(&s, &jobs[i]);
    tt__kernel_free(jobs[i].k);
  }
  return ok;
}

static uint64_t first = 1, count = 48;

TEST(random_kernels_in_threads) {
  for (uint64_t n = 0; n < count; n += BATCH)
    if (!check_batch(first + n, count - n < BATCH ? (int)(count - n) : BATCH)) break;
}

int main(int argc, char **argv) {
  if (!emu_usable()) return 0;
  setenv("TUTTI_CC_TIMEOUT", "300", 0); /* on a busy machine a compiler may take its time */
  if (argc > 1) first = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  return test_main(1, argv);
}
