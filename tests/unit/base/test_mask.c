/* Masks beside loops over their bytes: random ones of every length, density and place, with and without vectors. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mask.h"
#include "random.h"

enum { MOST = 700, GUARD = 0x5a };

static uint8_t mask[MOST + 64];

static void fill_mask(uint8_t *m, int64_t n, int density) {
  for (int64_t i = 0; i < n; i++) m[i] = draw_below(100) < density ? (uint8_t)(1 + draw_below(255)) : 0;
}

static void check_places(const uint8_t *m, int64_t n, int64_t at, int64_t step) {
  static int64_t out[MOST + 1], want[MOST];
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++)
    if (m[i]) want[count++] = at + step * i;
  CHECK_INT(tt__mask_count(m, n), count);
  for (int more = 0; more < 2; more++) {
    int64_t room = more ? n : count;
    out[room] = GUARD;
    CHECK_INT(tt__mask_places(m, n, at, step, out, room), count);
    CHECK(memcmp(out, want, (size_t)count * sizeof *want) == 0);
    CHECK_INT(out[room], GUARD);
  }
}

static void check_pick(const uint8_t *m, int64_t n, size_t item) {
  static char from[MOST * 24], out[MOST * 24 + 1], want[MOST * 24];
  size_t size = 0;
  for (size_t i = 0; i < (size_t)n * item; i++) from[i] = (char)draw_below(256);
  for (int64_t i = 0; i < n; i++) {
    if (!m[i]) continue;
    memcpy(want + size, from + (size_t)i * item, item);
    size += item;
  }
  out[size] = GUARD;
  tt__mask_pick(m, n, from, item, out);
  CHECK(memcmp(out, want, size) == 0);
  CHECK_INT(out[size], GUARD);
}

static void check_all(void) {
  static const int density[] = {0, 1, 10, 50, 90, 100};
  static const size_t item[] = {1, 2, 4, 8, 16, 24};
  for (int64_t n = 0; n <= MOST; n += n < 140 ? 1 : 37) {
    for (size_t d = 0; d < sizeof density / sizeof *density; d++) {
      uint8_t *m = mask + draw_below(64);
      fill_mask(m, n, density[d]);
      check_places(m, n, draw_below(1000) - 500, draw_below(9) - 4);
      check_pick(m, n, item[draw_below(6)]);
    }
  }
}

/* The level is read once in a process, so a child has the lowest. */
TEST(masks_without_wide_vectors) {
  int status = 0;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    setenv("TUTTI_CPU_LEVEL", "0", 1);
    check_all();
    _exit(test_failures != 0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_INT(status, 0);
}

TEST(masks_with_all_vectors) { check_all(); }

TEST_MAIN()
