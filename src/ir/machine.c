/*
** Costs of moves; see machine.h.
*/
#include "ir/machine.h"

#include <assert.h>

const size_t tt__move_sizes[TT_MOVE_SIZES] = {1 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};

double tt__move_ns(const double *took, double bytes) {
  assert(bytes >= 0);
  int k = 1; /* on the line through the two sizes around it; beyond the last, in proportion to that */
  const int last = TT_MOVE_SIZES - 1;
  if (bytes >= (double)tt__move_sizes[last]) return took[last] / (double)tt__move_sizes[last] * bytes;
  while (k < last && bytes > (double)tt__move_sizes[k]) k++;
  double from = (double)tt__move_sizes[k - 1], to = (double)tt__move_sizes[k];
  double at = bytes > from ? (bytes - from) / (to - from) : 0;
  return took[k - 1] + at * (took[k] - took[k - 1]);
}
