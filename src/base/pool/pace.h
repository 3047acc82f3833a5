/*
** How long work takes, by what was measured of work like it: a running mean for each of some size classes.
*/
#ifndef TT_BASE_POOL_PACE_H
#define TT_BASE_POOL_PACE_H

#include "base/err.h"

#define TT_PACE_SIZES 16 /* powers of 4 of the amount */

/* All zero: nothing was measured. */
typedef struct tt_pace {
  float of[TT_PACE_SIZES]; /* nanoseconds for 1 of about this amount; 0: none were measured */
} tt_pace;

/* Work of this amount, at least 1, took so long. */
TT_HIDDEN void tt__pace_add(tt_pace *p, double amount, double ns);
/* Nanoseconds by what was measured of about that amount, or of the nearest one up to `far` classes away; 0: nothing. */
TT_HIDDEN double tt__pace_ns(const tt_pace *p, double amount, int far);

#endif
