/*
** Random numbers that are drawn until one is accepted: as many uniform ones go into each as it takes. Every element has
** a random word of its own and makes a stream out of it, so the result does not depend on who computes what.
*/
#ifndef TT_LIB_DRAW_HOST_H
#define TT_LIB_DRAW_HOST_H

#include <stdint.h>

#include "base/err.h"

/* A stream of random bits out of one word. */
typedef struct tt_random {
  uint64_t key, counter;
  uint64_t spare;
  int has_spare;
} tt_random;

/* shape >= 0, scale 1. */
TT_HIDDEN double tt__random_gamma(tt_random *r, double shape);
/* 0 <= lam <= 9.2e18. */
TT_HIDDEN int64_t tt__random_poisson(tt_random *r, double lam);
/* n >= 0, 0 <= p <= 1. */
TT_HIDDEN int64_t tt__random_binomial(tt_random *r, int64_t n, double p);

#endif
