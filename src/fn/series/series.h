/*
** Series of orthogonal polynomials: coefficients of p_0, p_1, ... of one family, the lowest first. A family is its
** recurrence, all in whole numbers:
**   s x p_k = u p_{k+1} + m p_k + d p_{k-1},   p_0 = 1
** Products, quotients, conversions, values, roots and quadratures follow from it; derivatives and integrals have their
** own rules.
*/
#ifndef TT_FN_SERIES_SERIES_H
#define TT_FN_SERIES_SERIES_H

#include "fn/fn.h"

typedef enum tt_family {
  TT_SERIES_POLY,
  TT_SERIES_CHEB,
  TT_SERIES_LEG,
  TT_SERIES_HERM,
  TT_SERIES_HERME,
  TT_SERIES_LAG,
  TT_FAMILY_COUNT
} tt_family;

typedef struct tt_recurrence {
  double s, u, m, d;
} tt_recurrence;

TT_HIDDEN tt_recurrence tt__series_step(tt_family family, int64_t k);
/* The family that parameter k names ("chebyshev", ...); a name that is none is recorded as a failure. */
TT_HIDDEN tt_family tt__series_family(tt_composer *c, const tt_call_frame *f, int k);
/* The type coefficients are computed with: integers become float64. */
TT_HIDDEN tt_dtype tt__series_type(tt_dtype t);
/* A parameter as one axis of coefficients in that type, as NumPy's as_series; without zeros at its end (one stays). */
TT_HIDDEN tt_array *tt__series_whole(tt_composer *c, const tt_call_frame *f, int k);
TT_HIDDEN tt_array *tt__series_of(tt_composer *c, const tt_call_frame *f, int k);
/* Coefficient k of a series as an array without axes. */
TT_HIDDEN tt_array *tt__series_at(tt_composer *c, tt_array *series, int64_t k);
/* Can a series be fitted to y over x? A failure is recorded. */
TT_HIDDEN bool tt__series_fits(tt_composer *c, tt_array *x, tt_array *y);

#endif
