/*
** A running mean of the logarithms: one time that something disturbed does not count for many.
*/
#include "base/pool/pace.h"

#include <assert.h>
#include <math.h>

/* How much the newest counts, and how far from the mean it may lie at most. */
#define NEWEST 0.25f
#define LEAST_RATIO 0.25f
#define MOST_RATIO 4.0f

static int size_class(double amount) {
  int k = amount > 1 ? ilogb(amount) / 2 : 0;
  return k < TT_PACE_SIZES ? k : TT_PACE_SIZES - 1;
}

void tt__pace_add(tt_pace *p, double amount, double ns) {
  assert(amount > 0 && ns >= 0);
  float *pace = &p->of[size_class(amount)], now = (float)(ns / amount);
  float ratio = *pace == 0 ? 1 : now / *pace;
  if (*pace == 0) *pace = now;
  *pace *= powf(ratio < LEAST_RATIO ? LEAST_RATIO : ratio > MOST_RATIO ? MOST_RATIO : ratio, NEWEST);
}

double tt__pace_ns(const tt_pace *p, double amount, int far) {
  assert(far >= 0);
  int k = size_class(amount);
  for (int d = 0; d <= far; d++) {
    if (k + d < TT_PACE_SIZES && p->of[k + d] > 0) return (double)p->of[k + d] * amount;
    if (k - d >= 0 && p->of[k - d] > 0) return (double)p->of[k - d] * amount;
  }
  return 0;
}
