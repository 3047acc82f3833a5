/*
** One scan of one type, as the driver (scan/host.c) sees it. A row is scanned in groups: `local` does what
** a group can do on its own, `finish` what depends on the groups before.
*/
#ifndef TT_LIB_SCAN_SCAN_INT_H
#define TT_LIB_SCAN_SCAN_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"
#include "lib/scan/host.h"

enum { TT_SCAN_LANE = 496, TT_SCAN_LANES = 8, TT_SCAN_GROUP = 8 * TT_SCAN_LANES * TT_SCAN_LANE };

typedef struct tt_scan_ops {
  /* A whole row, element after element. */
  void (*row)(const void *in, void *out, int64_t n);
  /* What n <= TT_SCAN_GROUP elements need no neighbours for: their lanes, or their sum, left in `sum`. */
  void (*local)(const void *in, void *out, int64_t n, void *sum);
  /* After `local`: from what is before the group (NULL: nothing is), to the total at its end; `total` held the sum. */
  void (*total)(const void *out, int64_t n, const void *before, void *total);
  /* After `local`: the final elements. */
  void (*finish)(const void *in, void *out, int64_t n, const void *before);
  /* Columns [lo, hi) of n rows of `inner` elements. */
  void (*columns)(const void *in, void *out, int64_t n, int64_t inner, int64_t lo, int64_t hi);
  bool exact; /* rows of any length may take `row` */
} tt_scan_ops;

/* NULL when there is no such scan. float16 and bfloat16 have none of their own. */
TT_HIDDEN const tt_scan_ops *tt__scan_ops(tt_scan op, tt_dtype t);

#endif
