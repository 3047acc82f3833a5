/*
** Optimisers: a step over all parameters at once. The new values, the optimiser's states and what was differentiated
** are one evaluation; learning rates and other numbers are arguments of its kernels, not parts of their text.
**
** A step that fails on a device changes nothing: parameters and states are those of before. On the host, what a failed
** step has recorded is computed when somebody looks, and states that have been replaced say so.
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

typedef enum tt_optimizer_kind { TT_RMSPROP, TT_ADAGRAD, TT_ADADELTA, TT_ADAMAX, TT_NADAM, TT_RADAM } tt_optimizer_kind;

typedef struct tt_optimizer {
  tt_optimizer_kind kind;
  double lr, eps, weight_decay;
  double beta1, beta2; /* how slowly running means forget; RMSprop's alpha and Adadelta's rho are beta2 */
  double momentum;     /* RMSprop's; NAdam's momentum_decay */
  double lr_decay;     /* Adagrad's */
  double initial;      /* Adagrad's first sum */
  double product;      /* NAdam's momenta of the steps before, multiplied: 1 before the first */
  int maximize;
  int centered;  /* RMSprop's */
  int decoupled; /* NAdam, RAdam: weights decay by themselves */
  int inside;    /* RMSprop, Adagrad: eps is added below the root, as Keras does */
} tt_optimizer;

/*
** Step number `step` (1 for the first) of another optimiser. state holds 3 arrays for each parameter, NULL before the
** first step or where the kind has none, then holds of the caller's: RMSprop's running mean of squares, momentum,
** running mean; Adagrad's sum of squares; Adadelta's running means of squares of gradients and of steps; Adamax'
** running mean and largest size; NAdam's and RAdam's running means of gradients and of squares.
*/
TT_API tt_code tt_optimizer_step(const tt_optimizer *o, int64_t step, tt_array *const *param, tt_array **state, int n,
                                 tt_error *err);

/* From here to tt_steps_end, steps of this thread are recorded, to be one. */
TT_API void tt_steps_begin(void);
/* All of them are computed, together. */
TT_API tt_code tt_steps_end(tt_error *err);
/* After a failure of one of them or of the end: all parameters have the values of before, and 1 is returned; the states
 * are to be those that the caller has kept holds of. 0: the steps stay recorded, as one that fails on the host. */
TT_API int tt_steps_undo(void);

/* The factor for tt_optimizer's `product` that step number `step` of NAdam leaves behind. */
TT_API double tt_nadam_momentum(const tt_optimizer *o, int64_t step);

#ifdef __cplusplus
}
#endif

#endif
