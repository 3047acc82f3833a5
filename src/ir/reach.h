/*
** What an affine walk reaches: the flat elements off + sum(i[k] * step[k]) with 0 <= i[k] < len[k]. The one question of
** this file is whether two walks over one memory meet: what they do not share may be read by one while the other
** writes, in any order.
*/
#ifndef TT_IR_REACH_H
#define TT_IR_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef struct tt_reach {
  int naxes;
  int64_t off;
  const int64_t *len, *step; /* [naxes] */
} tt_reach;

/* Do they surely have no element in common? Of walks that lie across each other in odd ways nobody knows: false. */
TT_HIDDEN bool tt__reach_apart(const tt_reach *a, const tt_reach *b);
/* How many points the walk has along axes that move it: at least as many as it reaches elements. */
TT_HIDDEN int64_t tt__reach_points(const tt_reach *r);

#endif
