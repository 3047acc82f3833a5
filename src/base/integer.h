/*
** Whole numbers: what C leaves to everybody to write again.
*/
#ifndef TT_BASE_INTEGER_H
#define TT_BASE_INTEGER_H

#include <stdint.h>

static inline int64_t tt__min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tt__max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* How often `part` fits into n >= 0, rounded up. */
static inline int64_t tt_ceil_div(int64_t n, int64_t part) { return n / part + (n % part != 0); }

static inline int64_t tt__round_up(int64_t n, int64_t to) { return tt_ceil_div(n, to) * to; }

/* The greatest common divisor of two that are not negative; of 0 and a number it is that. */
static inline int64_t tt__gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

#endif
