/*
** A unit test program in one header:
**
**   #include "test.h"
**   TEST(adds_small_numbers) { CHECK(1 + 1 == 2); CHECK_INT(f(3), 9); }
**   TEST_MAIN()
**
** Each TEST runs in its own turn with a 240 s alarm; afterwards no byte of the
** allocator may be live that was not before (caches: say TEST_KEEPS_MEMORY before
** the include). An argument on the command line runs only the tests that contain it.
*/
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

typedef struct test_case {
  const char *name;
  void (*run)(void);
  struct test_case *next;
} test_case;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SECONDS 230
#else
#define TEST_SECONDS 240
#endif

static test_case *test_list;
static int test_failures;

#define TEST(NAME)                                                 \
  static void test_##NAME(void);                                   \
  __attribute__((constructor)) static void test_add_##NAME(void) { \
    static test_case self = {#NAME, test_##NAME, NULL};            \
    self.next = test_list;                                         \
    test_list = &self;                                             \
  }                                                                \
  static void test_##NAME(void)

#define CHECK(x)                                                        \
  do {                                                                  \
    if (!(x)) {                                                         \
      test_failures++;                                                  \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
    }                                                                   \
  } while (0)

#define CHECK_INT(got, want)                                                                                \
  do {                                                                                                      \
    int64_t test_got = (int64_t)(got), test_want = (int64_t)(want);                                         \
    if (test_got != test_want) {                                                                            \
      test_failures++;                                                                                      \
      fprintf(stderr, "%s:%d: %s is %" PRId64 ", wanted %" PRId64 "\n", __FILE__, __LINE__, #got, test_got, \
              test_want);                                                                                   \
    }                                                                                                       \
  } while (0)

#define CHECK_STR(got, want)                                                            \
  do {                                                                                  \
    const char *test_got = (got), *test_want = (want);                                  \
    if (!test_got || strcmp(test_got, test_want) != 0) {                                \
      test_failures++;                                                                  \
      fprintf(stderr, "%s:%d: %s is \"%s\", wanted \"%s\"\n", __FILE__, __LINE__, #got, \
              test_got ? test_got : "(null)", test_want);                               \
    }                                                                                   \
  } while (0)

static inline bool test_run(const test_case *t) {
  int before = test_failures;
  int64_t live = tt__mem_stats().live;
  alarm(TEST_SECONDS);
  t->run();
  alarm(0);
#ifndef TEST_KEEPS_MEMORY
  CHECK_INT(tt__mem_stats().live, live);
#endif
  (void)live;
  if (test_failures != before) fprintf(stderr, "FAIL %s\n", t->name);
  return test_failures == before;
}

static inline int test_main(int argc, char **argv) {
  int ran = 0, failed = 0;
  test_case *ordered = NULL; /* constructors prepended: turn the list round */
  for (test_case *t = test_list, *next; t; t = next) {
    next = t->next;
    t->next = ordered;
    ordered = t;
  }
  for (test_case *t = ordered; t; t = t->next) {
    if (argc > 1 && !strstr(t->name, argv[1])) continue;
    ran++;
    failed += !test_run(t);
  }
  printf("%d tests, %d failed\n", ran, failed);
  return failed || !ran;
}

#define TEST_MAIN() \
  int main(int argc, char **argv) { return test_main(argc, argv); }

#endif
