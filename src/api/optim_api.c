/*
** The functions of tutti/optim.h: check arguments, take the lock, call src/fn/grad.
*/
#include "tutti/optim.h"

#include "api/enter.h"
#include "fn/grad/optim.h"

static tt_code check(tt_array *const *param, int n, tt_error *err) {
  for (int k = 0; k < n; k++)
    if (!param[k]) return tt__fail(err, TT_EVALUE, "the array is NULL");
  return TT_OK;
}

tt_code tt_sgd_step(const tt_sgd *o, tt_array *const *param, tt_array **velocity, int n, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(param, n, err);
  return tt__leave(&c, code == TT_OK ? tt__sgd_step(o, param, velocity, n, err) : code);
}

tt_code tt_adam_step(const tt_adam *o, int64_t step, tt_array *const *param, tt_array **state, int n, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(param, n, err);
  return tt__leave(&c, code == TT_OK ? tt__adam_step(o, step, param, state, n, err) : code);
}

tt_code tt_optimizer_step(const tt_optimizer *o, int64_t step, tt_array *const *param, tt_array **state, int n,
                          tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(param, n, err);
  return tt__leave(&c, code == TT_OK ? tt__optimizer_step(o, step, param, state, n, err) : code);
}

tt_code tt_steps_skip(tt_array *skip, tt_error *err) {
  if (skip && (tt_array_size(skip) != 1 || tt_array_dtype(skip) != TT_BOOL))
    return tt__fail(err, TT_EVALUE, "whether to skip is one truth value");
  tt__session_lock();
  tt__steps_skip(skip);
  tt__session_unlock();
  return TT_OK;
}

void tt_steps_begin(void) {
  tt__session_lock();
  tt__steps_begin();
  tt__session_unlock();
}

tt_code tt_steps_end(tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__steps_end(err));
}

int tt_steps_undo(void) {
  tt__session_lock();
  bool undone = tt__steps_undo();
  tt__session_unlock();
  return undone;
}

double tt_nadam_momentum(const tt_optimizer *o, int64_t step) { return tt__nadam_momentum(o, step); }
