/*
** Linear algebra in a calculation: what the rows of numpy.linalg and of polynomials share.
*/
#ifndef TT_FN_LINALG_LINALG_H
#define TT_FN_LINALG_LINALG_H

#include "fn/compose.h"

/* The type linalg computes these in: float32 stays, integers become float64; float16 is a TypeError. */
TT_HIDDEN tt_dtype tt__linalg_type(tt_composer *c, tt_array *const *a, int n);
/* a as a (stack of) matrices in that type, checked; NULL: failure. */
TT_HIDDEN tt_array *tt__linalg_operand(tt_composer *c, tt_array *a, bool square);

/* A result of type `t` shaped as the batch of `a` and `tail` axes more, of m and n. */
TT_HIDDEN tt_compose_want tt__linalg_want(tt_array *a, tt_dtype t, int tail, int64_t m, int64_t n);

/* quiet: NaN where a matrix is singular. */
TT_HIDDEN tt_array *tt__linalg_inv_of(tt_composer *c, tt_array *a, bool quiet);
/* u, s, vh of an operand. */
TT_HIDDEN bool tt__linalg_svd_of(tt_composer *c, tt_array *a, bool full, tt_array **out);
TT_HIDDEN tt_array *tt__linalg_svdvals_of(tt_composer *c, tt_array *a);
/* x, residuals, rank, singular values of two matrices. Evaluates. */
TT_HIDDEN bool tt__linalg_lstsq_of(tt_composer *c, tt_array *a, tt_array *b, double rcond, tt_array **out,
                                   int64_t *rank);

#endif
