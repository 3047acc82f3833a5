/*
** What functions of networks share: their arguments in PyTorch's words, and the types in which they compute.
*/
#ifndef TT_FN_NN_NN_H
#define TT_FN_NN_NN_H

#include "fn/fn.h"

/* Floats to compute with: halves as float32. NULL: the type has no such function, which `name` says. */
TT_HIDDEN tt_array *tt__nn_floats(tt_composer *c, tt_array *x, const char *name);
/* A result in the type of an argument; with argument `inplace` of the call true it is written there. */
TT_HIDDEN tt_array *tt__nn_result(tt_composer *c, const tt_call_frame *f, tt_array *y, tt_array *x, int inplace);

/* One axis among `rank` of them (argument k), in PyTorch's words; `fallback` where it is not given. */
TT_HIDDEN int tt__nn_axis(tt_composer *c, const tt_call_frame *f, int k, int rank, int fallback);
/* The axis that softmax takes where none is given. */
TT_HIDDEN int tt__nn_softmax_axis(int rank);
/* The largest along an axis, which stays, 0 where it is infinite: no part of any history. */
TT_HIDDEN tt_array *tt__nn_largest(tt_composer *c, tt_array *x, int axis);
/* Exponentials over their sum along an axis, and its logarithm; of floats. */
TT_HIDDEN tt_array *tt__nn_softmax(tt_composer *c, tt_array *x, int axis);
TT_HIDDEN tt_array *tt__nn_log_softmax(tt_composer *c, tt_array *x, int axis);

/* The mean along axes, which stay. */
TT_HIDDEN tt_array *tt__nn_mean(tt_composer *c, tt_array *x, uint64_t axes);
/* Numbers of one axis (or none: NULL) as an array that broadcasts against others of `rank` along `axis`. */
TT_HIDDEN tt_array *tt__nn_along(tt_composer *c, tt_array *a, int rank, int axis);

/* Arguments 0 to n-1 (3 at most) as floats of one shape, in the type that they promote to (`t`; they come wider where
 * it is half a float). */
TT_HIDDEN bool tt__nn_meet(tt_composer *c, const tt_call_frame *f, const char *name, int n, tt_array **a, tt_dtype *t);
/* Losses times a weight for each, if argument k is one. */
TT_HIDDEN tt_array *tt__nn_weighted(tt_composer *c, const tt_call_frame *f, int k, tt_array *loss);

/* All of a storage, as it lies? What it is made of then has one entry of the tape. */
TT_HIDDEN bool tt__nn_is_whole(tt_array *a);
/* How a loss is reduced: the mean, the sum, or not at all. */
typedef enum tt_nn_reduction { TT_NN_MEAN, TT_NN_SUM, TT_NN_EACH } tt_nn_reduction;
/* What argument k says of it; `before` is where the older size_average and reduce stand, or -1. */
TT_HIDDEN tt_nn_reduction tt__nn_reduction(tt_composer *c, const tt_call_frame *f, int before, int k);
/* Losses of type t, reduced so. */
TT_HIDDEN tt_array *tt__nn_reduced(tt_composer *c, tt_array *loss, tt_nn_reduction how, tt_dtype t);

/* true where an element stays that others leave with a chance: a draw from the process's generator. */
TT_HIDDEN tt_array *tt__nn_stays(tt_composer *c, const tt_call_frame *f, int rank, const int64_t *len, double chance);

#endif
