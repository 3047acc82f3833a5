/* The allocator: counting, the limit, kept blocks, faults. */
#include "test.h"

#include <pthread.h>

#include "base/copy.h"
#include "base/fault.h"
#include "base/mem.h"
#include "base/os/os.h"

#if defined(__SANITIZE_ADDRESS__)
#define KEEPS_BLOCKS false
#else
#define KEEPS_BLOCKS true
#endif

TEST(counts_metadata) {
  tt_mem_stats before = tt__mem_stats();
  void *p = tt__mem_alloc(100);
  CHECK_INT(tt__mem_stats().live - before.live, 100);
  p = tt__mem_realloc(p, 100, 300);
  CHECK_INT(tt__mem_stats().live - before.live, 300);
  CHECK_INT(tt__mem_stats().allocs - before.allocs, 2);
  char *z = tt__mem_zalloc(50);
  for (int i = 0; i < 50; i++) CHECK(z[i] == 0);
  char *d = tt__mem_dup("hello", 6);
  CHECK_STR(d, "hello");
  tt__mem_free(d, 6);
  tt__mem_free(z, 50);
  tt__mem_free(p, 300);
  tt__mem_free(NULL, 5);
  CHECK(tt__mem_alloc(0) == NULL);
  CHECK(tt__mem_alloc(SIZE_MAX) == NULL);
  CHECK(tt__mem_realloc(NULL, 0, 0) == NULL);
}

TEST(realloc_failure_keeps_the_block) {
  char *p = tt__mem_alloc(10);
  memcpy(p, "123456789", 10);
  tt__fault_arm(TT_FAULT_MEMORY, 0, false);
  CHECK(tt__mem_realloc(p, 10, 1000) == NULL);
  bool fired = false;
  CHECK_INT(tt__fault_calls(TT_FAULT_MEMORY, &fired), 1);
  CHECK(fired);
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  CHECK_STR(p, "123456789");
  tt__mem_free(p, 10);
}

TEST(faults_hit_the_nth_call) {
  tt__fault_arm(TT_FAULT_MEMORY, 2, false);
  void *a = tt__mem_alloc(1), *b = tt__mem_alloc_data(1), *c = tt__mem_alloc(1), *d = tt__mem_alloc(1);
  tt__fault_arm(TT_FAULT_MEMORY, 1, true);
  void *e = tt__mem_alloc(1), *f = tt__mem_alloc(1), *g = tt__mem_alloc_data(1);
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  CHECK(a && b && !c && d && e && !f && !g);
  tt__mem_free(a, 1);
  tt__mem_free_data(b, 1);
  tt__mem_free(d, 1);
  tt__mem_free(e, 1);
}

TEST(data_is_aligned_and_whole_at_every_size) {
  for (size_t size = 1; size < 200000; size += size / 7 + 1) {
    char *p = tt__mem_alloc_data(size);
    CHECK(p && ((uintptr_t)p & 63) == 0);
    memset(p, 1, size);
    CHECK_INT(tt__mem_stats().live_data, size);
    tt__mem_free_data(p, size);
  }
  CHECK_INT(tt__mem_stats().live_data, 0);
  CHECK(tt__mem_alloc_data(0) == NULL);
  CHECK(tt__mem_alloc_data(SIZE_MAX) == NULL);
  CHECK(tt__mem_alloc_data((size_t)1 << 60) == NULL);
  CHECK_INT(tt__mem_stats().live_data, 0);
}

TEST(freed_data_is_kept_and_trimmed) {
  size_t size = 9 << 20;
  char *p = tt__mem_alloc_data(size);
  memset(p, 7, size);
  tt__mem_free_data(p, size);
  CHECK((tt__mem_stats().cached >= (int64_t)size) == KEEPS_BLOCKS);
  char *q = tt__mem_alloc_data(size - 1000); /* the same class */
  CHECK((q == p) == KEEPS_BLOCKS || !KEEPS_BLOCKS);
  tt__mem_free_data(q, size - 1000);
  tt__mem_trim();
  CHECK_INT(tt__mem_stats().cached, 0);
}

TEST(the_limit_holds) {
  tt__mem_trim();
  tt__mem_set_limit(10 << 20);
  void *a = tt__mem_alloc_data(6 << 20);
  CHECK(a != NULL);
  CHECK(tt__mem_alloc_data(6 << 20) == NULL);
  tt__mem_free_data(a, 6 << 20);
  void *b = tt__mem_alloc_data(7 << 20); /* the kept block of 6 MiB has to go for it */
  CHECK(b != NULL);
  CHECK(tt__mem_stats().cached <= 3 << 20);
  tt__mem_free_data(b, 7 << 20);
  tt__mem_set_limit(0);
  void *c = tt__mem_alloc_data(20 << 20);
  CHECK(c != NULL);
  tt__mem_free_data(c, 20 << 20);
  tt__mem_trim();
}

TEST(peak_is_the_highest) {
  tt__mem_reset_peak();
  int64_t base = tt__mem_stats().live;
  void *a = tt__mem_alloc_data(5000), *b = tt__mem_alloc_data(6000);
  tt__mem_free_data(a, 5000);
  tt__mem_free_data(b, 6000);
  CHECK_INT(tt__mem_stats().peak - base, 11000);
  CHECK_INT(tt__mem_stats().peak_data, 11000);
  tt__mem_reset_peak();
  CHECK_INT(tt__mem_stats().peak_data, 0);
}

static void *churn(void *seed) {
  unsigned x = (unsigned)(uintptr_t)seed;
  unsigned char *held[16] = {0};
  size_t size[16] = {0};
  for (int i = 0; i < 4000; i++) {
    x = x * 1664525u + 1013904223u;
    int k = (int)(x >> 28);
    if (held[k]) {
      CHECK(held[k][0] == k && held[k][size[k] - 1] == k);
      tt__mem_free_data(held[k], size[k]);
    }
    size[k] = (x >> 8) % (i % 50 ? 5000 : 300000) + 1;
    held[k] = tt__mem_alloc_data(size[k]);
    if (held[k]) held[k][0] = held[k][size[k] - 1] = (unsigned char)k;
  }
  for (int k = 0; k < 16; k++) tt__mem_free_data(held[k], size[k]);
  return NULL;
}

TEST(threads_never_share_a_block) {
  pthread_t t[4];
  for (uintptr_t i = 0; i < 4; i++) pthread_create(&t[i], NULL, churn, (void *)(i + 1));
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  CHECK_INT(tt__mem_stats().live_data, 0);
  tt__mem_trim();
  CHECK_INT(tt__mem_stats().cached, 0);
}

/* ---- the environment, read once: each case is a process of its own */

static int run_self(const char *setting, const char *test) {
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n < 0) return -1;
  self[n] = 0;
  const char *const argv[] = {"env", "TEST_PROBE=1", setting, self, test, NULL};
  int status = -1;
  return tt__spawn(argv, 30, &status, NULL, NULL) == TT_OK ? status : -1;
}

TEST(probe_third_allocation_fails) {
  if (!getenv("TEST_PROBE")) return;
  void *p[4];
  for (int i = 0; i < 4; i++) p[i] = tt__mem_alloc(8);
  CHECK(p[0] && p[1] && !p[2] && p[3]);
  for (int i = 0; i < 4; i++) tt__mem_free(p[i], 8);
}

TEST(probe_limit_is_two_mebibytes) {
  if (!getenv("TEST_PROBE")) return;
  CHECK_INT(tt__mem_stats().limit, 2 << 20);
  CHECK(tt__mem_alloc_data(3 << 20) == NULL);
}

TEST(environment_is_understood) {
  if (getenv("TEST_PROBE")) return;
  CHECK_INT(run_self("TUTTI_TEST_FAULT=memory:2", "probe_third"), 0);
  CHECK_INT(run_self("TUTTI_TEST_FAULT=memory:2:sticky", "probe_third"), 1);
  CHECK_INT(run_self("TUTTI_TEST_FAULT=memory:", "probe_third"), 1);
  CHECK_INT(run_self("TUTTI_MEM_LIMIT=2M", "probe_limit"), 0);
  CHECK_INT(run_self("TUTTI_MEM_LIMIT=2048k", "probe_limit"), 0);
  CHECK_INT(run_self("TUTTI_MEM_LIMIT=2097152", "probe_limit"), 0);
  CHECK_INT(run_self("TUTTI_MEM_LIMIT=2X", "probe_limit"), 1);
  CHECK_INT(run_self("TUTTI_MEM_LIMIT=", "probe_limit"), 1);
}

/* Every length up to some lines and every place of the source; nothing beside it is touched. */
TEST(copies_out_of_caches) {
  enum { MOST = 300 };
  _Alignas(16) unsigned char to[MOST + 32], from[MOST + 32];
  for (int i = 0; i < MOST + 32; i++) from[i] = (unsigned char)(i * 7 + 1);
  for (int n = 0; n <= MOST; n++) {
    for (int at = 0; at < 17; at++) {
      memset(to, 0xee, sizeof to);
      tt__copy_out_of_caches(to + 16, from + at, (size_t)n);
      CHECK(memcmp(to + 16, from + at, (size_t)n) == 0);
      CHECK_INT(to[15], 0xee);
      CHECK_INT(to[16 + n], 0xee);
    }
  }
}

TEST_MAIN()
