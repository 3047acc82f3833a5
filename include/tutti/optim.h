/*
** Optimisers: a step over all parameters at once. The new values, the optimiser's states and what was differentiated
** are one evaluation; learning rates and other numbers are arguments of its kernels, not parts of their text.
**
** Formulas and defaults are PyTorch's. Parameters are leaves with a gradient (grad.h); those without one stay.
*/
#ifndef TUTTI_OPTIM_H
#define TUTTI_OPTIM_H

#include "tutti/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_sgd {
  double lr, momentum, dampening, weight_decay;
  int nesterov, maximize;
} tt_sgd;

/* param[k] -= lr * gradient. With momentum, velocity[k] is the running sum: NULL before the first step, then (and
 * afterwards) a hold of the caller's on it. TT_EVALUE: a parameter that is no leaf. */
TT_API tt_code tt_sgd_step(const tt_sgd *o, tt_array *const *param, tt_array **velocity, int n, tt_error *err);

typedef struct tt_adam {
  double lr, beta1, beta2, eps, weight_decay;
  int amsgrad, maximize;
  int decoupled; /* weights decay by themselves, not through the gradient (AdamW) */
} tt_adam;

/*
** Adam's step number `step` (1 for the first). state holds 3 arrays for each parameter: the running means of gradients
** and of their squares, and with amsgrad the largest of those; NULL before the first step, then holds of the caller's.
*/
TT_API tt_code tt_adam_step(const tt_adam *o, int64_t step, tt_array *const *param, tt_array **state, int n,
                            tt_error *err);

#ifdef __cplusplus
}
#endif

#endif
