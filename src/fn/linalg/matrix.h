/*
** Matrices in a calculation: products by labelled axes, diagonals, identities. What the rows of products and of linear
** algebra share. Borrowed results and NULL operands as in compose.h.
*/
#ifndef TT_FN_LINALG_MATRIX_H
#define TT_FN_LINALG_MATRIX_H

#include "fn/compose.h"

/* An array and a name for each of its axes; no name twice. */
typedef struct tt_labelled {
  tt_array *a;
  int label[TT_MAX_RANK];
} tt_labelled;

/*
** Multiply x by y where labels agree and sum over the labels that are not in `out`. Every label of `out` is in x or y;
** lengths under one label are equal, or 1 (broadcast). The type is the promoted one; bool is any(x and y).
** A library product where it does the work, else one fused multiply-reduce.
*/
TT_HIDDEN tt_array *tt__compose_contract(tt_composer *c, const tt_labelled *x, const tt_labelled *y, const int *out,
                                         int nout);
/* Sum over the labels that are not in `out` and order the rest, in x's own type. A view when there is nothing to
 * sum. */
TT_HIDDEN tt_array *tt__compose_marginal(tt_composer *c, const tt_labelled *x, const int *out, int nout);
/* Sum in the array's own type (bool: any); float16 and bfloat16 through float32. */
TT_HIDDEN tt_array *tt__compose_sum(tt_composer *c, tt_array *a, uint64_t axes, bool keepdims);

/* numpy.matmul. */
TT_HIDDEN tt_array *tt__compose_matmul(tt_composer *c, tt_array *a, tt_array *b);
/* numpy.dot. */
TT_HIDDEN tt_array *tt__compose_dot(tt_composer *c, tt_array *a, tt_array *b);
/* The last two axes swapped: a view. */
TT_HIDDEN tt_array *tt__compose_swap(tt_composer *c, tt_array *a);
/* The same for complex arrays with their conjugate. */
TT_HIDDEN tt_array *tt__compose_adjoint(tt_composer *c, tt_array *a);
/* The conjugate; a itself when it is real. */
TT_HIDDEN tt_array *tt__compose_conj(tt_composer *c, tt_array *a);
/* The diagonal of two axes as a last axis: a view. */
TT_HIDDEN tt_array *tt__compose_diagonal(tt_composer *c, tt_array *a, int64_t offset, int axis1, int axis2);
/* Identity matrices [batch..., n, n] with the batch axes of `like` (rank - 2 of them). */
TT_HIDDEN tt_array *tt__compose_identities(tt_composer *c, tt_dtype type, int rank, const int64_t *len);
/* NumPy's complaints about arrays that are no (stacks of) matrices, or not square. */
TT_HIDDEN bool tt__compose_is_matrix(tt_composer *c, tt_array *a);
TT_HIDDEN bool tt__compose_is_square(tt_composer *c, tt_array *a);

#endif
