/* Every block of a launch is run once, whatever was expected of its kernel; small ones stay on their thread. */
#include <stdatomic.h>

#include "base/pool/cut.h"
#include "base/os/os.h"
#include "test.h"

enum { MOST = 5000 };
static atomic_int ran[MOST];
static atomic_int others;

static void block(void *ctx, int64_t lo, int64_t hi, int worker) {
  const int64_t *ns = ctx;
  if (worker) atomic_fetch_add(&others, 1);
  for (int64_t k = lo; k < hi; k++) {
    atomic_fetch_add(&ran[k], 1);
    for (int64_t end = tt__clock_ns() + *ns; *ns && tt__clock_ns() < end;) tt__relax();
  }
}

static char kernel[3]; /* their addresses are kernels' */

static void launch(int which, int64_t n, int64_t ns) {
  tt__cut_run(&kernel[which], tt__pool_size(), n, 32, block, &ns);
  for (int64_t k = 0; k < n; k++) {
    CHECK(atomic_load(&ran[k]) == 1);
    atomic_store(&ran[k], 0);
  }
}

TEST(every_block_runs_once) {
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 63, 64, 65, 1000, MOST};
  tt__pool_resize(4);
  for (int said = 0; said < 3; said++) { /* nothing, little, much */
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      if (said) tt__cut_note(&kernel[0], 1000, 32, said == 1 ? 1 : 1000000000);
      launch(0, sizes[k], 0);
    }
  }
  tt__pool_shutdown();
}

TEST(what_was_expected_may_be_wrong) {
  tt__pool_resize(4);
  int alone = 0;
  for (int k = 0; k < 40; k++) { /* expected to take 3 us, and takes less, unless something comes between */
    tt__cut_note(&kernel[1], 8, 32, 3000);
    atomic_store(&others, 0);
    launch(1, 8, 0);
    alone += atomic_load(&others) == 0;
  }
  CHECK(alone > 0);
  tt__cut_note(&kernel[2], 100, 32, 1000);
  atomic_store(&others, 0);
  launch(2, 100, 1000000); /* but then each block takes a millisecond: the others help with what is left */
  CHECK(atomic_load(&others) > 0);
  tt__pool_shutdown();
}

TEST_MAIN()
