/*
** The walk back from outputs to inputs.
*/
#ifndef TT_FN_GRAD_BACKWARD_H
#define TT_FN_GRAD_BACKWARD_H

#include "graph/build.h"
#include "tutti/grad.h"

typedef struct tt_walk_back {
  tt_array *const *output, *const *gradient; /* gradient: NULL, or n of them or NULL */
  int n;
  tt_array *const *input; /* none: all leaves */
  int ninput;
  int flags;      /* TT_GRAD_* */
  tt_array **out; /* ninput: gradients are given back (holds); NULL: they are added to those of the inputs */
} tt_walk_back;

TT_HIDDEN tt_code tt__walk_back(const tt_walk_back *b, tt_error *err);
/* tt_detect_anomaly */
TT_HIDDEN extern bool tt__grad_anomaly;

#endif
