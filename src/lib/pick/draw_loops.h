/*
** The host's loops of the library row "draw": numbers for a stretch of elements, compiled once per instruction set, as
** the interpreter's loops are. The bits are those of draw.text.h, element by element, at every level.
*/
#ifndef TT_LIB_PICK_DRAW_LOOPS_H
#define TT_LIB_PICK_DRAW_LOOPS_H

#include <stdint.h>

#include "base/err.h"

/* As attr.i[0] of the row numbers them. */
enum { TT_DRAWS_GAMMA, TT_DRAWS_POISSON, TT_DRAWS_BINOMIAL, TT_DRAWS_HYPERGEOMETRIC, TT_DRAWS_ZIPF, TT_DRAWS_VONMISES };

typedef struct tt_draw_job {
  int64_t kind;
  const uint64_t *word;   /* one for each element: the key of its stream */
  const double *param[3]; /* of each element; NULL: `all` has what all share */
  double all[3];
  void *out; /* float64 for gamma and von Mises, else int64 */
} tt_draw_job;

typedef void (*tt_draw_loop)(const tt_draw_job *j, int64_t lo, int64_t hi);

/* The loops for this processor. */
TT_HIDDEN tt_draw_loop tt__draw_loop(void);
/* Those of exactly this level (0, 3 or 4, as tt__vector_level), or NULL when build or processor lack it: for tests. */
TT_HIDDEN tt_draw_loop tt__draw_loop_at(int level);

#endif
