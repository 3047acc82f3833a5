/*
** Arguments of functions over windows; see window.h.
*/
#include "fn/nn/spatial/window.h"

#include <stdio.h>

static void join(int n, const int64_t *len, const char *between, char *out, size_t size) {
  size_t at = 0;
  out[0] = 0;
  for (int d = 0; d < n && at + 24 < size; d++)
    at += (size_t)snprintf(out + at, size - at, "%s%lld", d ? between : "", (long long)len[d]);
}

void tt__window_product(int n, const int64_t *len, char *out, size_t size) { join(n, len, " x ", out, size); }

void tt__window_shape(int n, const int64_t *len, char *out, size_t size) {
  out[0] = '[';
  join(n, len, ", ", out + 1, size - 2);
  size_t at = 0;
  while (out[at]) at++;
  out[at] = ']';
  out[at + 1] = 0;
}

bool tt__window_ints(tt_composer *c, const tt_call_frame *f, int k, const char *name, int n, int64_t fallback,
                     int64_t *out) {
  int64_t given[TT_MAX_RANK];
  int count = tt__arg_ints(c, f, k, given, TT_MAX_RANK);
  if (c->code != TT_OK) return false;
  if (tt__arg_given(f, k) && count != 1 && count != n) {
    char text[160];
    tt__window_shape(count, given, text, sizeof text);
    tt__compose_fail(c, TT_EVALUE,
                     "expected %s to be a single integer value or a list of %d values to match the convolution "
                     "dimensions, but got %s=%s",
                     name, n, name, text);
    return false;
  }
  for (int d = 0; d < n; d++) {
    out[d] = count == 0 ? fallback : given[count == 1 ? 0 : d];
    if (out[d] > INT32_MAX || out[d] < -(int64_t)INT32_MAX)
      return tt__compose_fail(c, TT_EOVERFLOW, "%s is beyond 32 bits", name), false;
  }
  return true;
}
