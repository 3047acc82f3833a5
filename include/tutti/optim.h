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

typedef enum tt_optimizer_kind {
  TT_RMSPROP,
  TT_ADAGRAD,
  TT_ADADELTA,
  TT_ADAMAX,
  TT_NADAM,
  TT_RADAM,
  TT_RPROP,
  TT_ASGD,
  TT_ADAFACTOR,
  TT_MUON
} tt_optimizer_kind;

/* What Muon's learning rate is multiplied by, of a matrix of m rows and n columns. */
typedef enum tt_muon_rate {
  TT_MUON_ORIGINAL, /* sqrt(max(1, m / n)) */
  TT_MUON_AS_ADAM,  /* 0.2 * sqrt(max(m, n)) */
  TT_MUON_SPECTRAL  /* sqrt(m / n) */
} tt_muon_rate;

typedef struct tt_optimizer {
  tt_optimizer_kind kind;
  double lr, eps, weight_decay;
  double beta1, beta2; /* how slowly running means forget; RMSprop's alpha and Adadelta's rho are beta2, Rprop's factors
                        * both; Adafactor's beta2_decay is beta2 */
  double momentum;     /* RMSprop's, Muon's; NAdam's momentum_decay */
  double lr_decay;     /* Adagrad's; ASGD's lambd, by which weights decay */
  double initial;      /* Adagrad's first sum */
  double product;   /* NAdam's momenta of the steps before, multiplied: 1 before the first; ASGD's share of the mean */
  double low, high; /* Rprop's least and largest step; Adafactor's second epsilon, and the largest update in its usual
                        * size (its first epsilon is eps: below 0, that of the type) */
  double curve[3];  /* Muon's a * x + b * x^3 + c * x^5, which brings singular values to 1 */
  int maximize;
  int centered;  /* RMSprop's */
  int decoupled; /* weights decay by themselves */
  int inside;    /* RMSprop, Adagrad: eps is added below the root, as Keras does */
  int nesterov;  /* Muon's */
  int turns;     /* how often Muon applies its curve */
  tt_muon_rate rate;
} tt_optimizer;

/*
** Step number `step` (1 for the first) of another optimiser. state holds 3 arrays for each parameter, NULL before the
** first step or where the kind has none, then holds of the caller's: RMSprop's running mean of squares, momentum,
** running mean; Adagrad's sum of squares; Adadelta's running means of squares of gradients and of steps; Adamax'
** running mean and largest size; NAdam's and RAdam's running means of gradients and of squares; Rprop's last gradient
** and its steps; ASGD's mean of parameters; Adafactor's running means of squares of rows and of columns, and of a
** vector the third; Muon's running mean.
*/
TT_API tt_code tt_optimizer_step(const tt_optimizer *o, int64_t step, tt_array *const *param, tt_array **state, int n,
                                 tt_error *err);

/*
** The next steps of this thread, up to the next tt_steps_end, change nothing where this array of one truth value is
** true, which need not be computed: it becomes part of the step, and nobody looks at it on the way. NULL: they do.
*/
TT_API tt_code tt_steps_skip(tt_array *skip, tt_error *err);
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
