/*
** Random numbers for tests (xorshift): the same in every run of a program.
*/
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

static inline uint64_t draw(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

/* Below n. */
static inline int64_t draw_below(int64_t n) { return (int64_t)((draw() >> 16) % (uint64_t)n); }

/* In [0, 1). */
static inline double draw_unit(void) { return (double)(draw() >> 11) * 0x1p-53; }

#endif
