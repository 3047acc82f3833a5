/*
** Steps of optimisers as recorded work; see tutti/optim.h. Under the session lock.
*/
#ifndef TT_FN_GRAD_OPTIM_H
#define TT_FN_GRAD_OPTIM_H

#include "graph/build.h"
#include "tutti/optim.h"

TT_HIDDEN tt_code tt__sgd_step(const tt_sgd *o, tt_array *const *param, tt_array **velocity, int n, tt_error *err);
TT_HIDDEN tt_code tt__adam_step(const tt_adam *o, int64_t step, tt_array *const *param, tt_array **state, int n,
                                tt_error *err);
TT_HIDDEN tt_code tt__optimizer_step(const tt_optimizer *o, int64_t step, tt_array *const *param, tt_array **state,
                                     int n, tt_error *err);
TT_HIDDEN void tt__steps_skip(tt_array *skip);
TT_HIDDEN void tt__steps_begin(void);
TT_HIDDEN tt_code tt__steps_end(tt_error *err);
TT_HIDDEN bool tt__steps_undo(void);
TT_HIDDEN double tt__nadam_momentum(const tt_optimizer *o, int64_t step);

#endif
