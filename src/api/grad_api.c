/*
** The functions of tutti/grad.h: check arguments, take the lock, call src/fn/grad.
*/
#include "tutti/grad.h"

#include "api/enter.h"
#include "fn/grad/backward.h"
#include "fn/grad/leaf.h"
#include "graph/session.h"
#include "graph/tape.h"

static tt_code check(tt_array *const *a, int n, tt_error *err) {
  if (n < 0 || (n > 0 && !a)) return tt__fail(err, TT_EVALUE, "there are no arrays");
  for (int k = 0; k < n; k++)
    if (!a[k]) return tt__fail(err, TT_EVALUE, "the array is NULL");
  return TT_OK;
}

int tt_grad_mode(int on) {
  int before = tt__session_tape;
  tt__session_tape = on != 0;
  return before;
}

int tt_grad_mode_is_on(void) { return tt__session_tape; }

int tt_detect_anomaly(int on) {
  int before = tt__grad_anomaly;
  tt__grad_anomaly = on != 0;
  return before;
}

tt_code tt_set_requires_grad(tt_array *a, int on, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(&a, 1, err);
  return tt__leave(&c, code == TT_OK ? tt__leaf_set(a, on != 0, err) : code);
}

int tt_requires_grad(tt_array *a) {
  if (!a) return 0;
  tt__session_lock();
  int out = a->storage->node->tape != NULL;
  tt__session_unlock();
  return out;
}

int tt_is_leaf(tt_array *a) {
  if (!a) return 1;
  tt__session_lock();
  int out = tt__leaf_is(a);
  tt__session_unlock();
  return out;
}

tt_code tt_retain_grad(tt_array *a, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(&a, 1, err);
  return tt__leave(&c, code == TT_OK ? tt__leaf_retain_grad(a, err) : code);
}

tt_code tt_get_grad(tt_array *a, tt_array **out, tt_error *err) {
  tt_entered c;
  *out = NULL;
  err = tt__enter(&c, err);
  tt_code code = check(&a, 1, err);
  return tt__leave(&c, code == TT_OK ? tt__leaf_grad(a, out, err) : code);
}

tt_code tt_set_grad(tt_array *a, tt_array *grad, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(&a, 1, err);
  return tt__leave(&c, code == TT_OK ? tt__leaf_set_grad(a, grad, err) : code);
}

tt_code tt_detached(tt_array *a, tt_array **out, tt_error *err) {
  tt_entered c;
  *out = NULL;
  err = tt__enter(&c, err);
  tt_code code = check(&a, 1, err);
  return tt__leave(&c, code == TT_OK ? tt__leaf_detach(a, out, err) : code);
}

tt_code tt_variable_of(tt_array *a, tt_array **out, tt_error *err) {
  tt_entered c;
  *out = NULL;
  err = tt__enter(&c, err);
  tt_code code = check(&a, 1, err);
  return tt__leave(&c, code == TT_OK ? tt__leaf_same(a, out, err) : code);
}

static tt_code walk_back(const tt_walk_back *b, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(b->output, b->n, err);
  if (code == TT_OK) code = check(b->input, b->ninput, err);
  return tt__leave(&c, code == TT_OK ? tt__walk_back(b, err) : code);
}

tt_code tt_backward(tt_array *const *output, tt_array *const *gradient, int n, tt_array *const *input, int ninput,
                    int flags, tt_error *err) {
  tt_walk_back b = {output, gradient, n, input, ninput, flags, NULL};
  return walk_back(&b, err);
}

tt_code tt_gradients(tt_array *const *output, tt_array *const *gradient, int n, tt_array *const *input, int ninput,
                     int flags, tt_array **out, tt_error *err) {
  tt_walk_back b = {output, gradient, n, input, ninput, flags, out};
  for (int k = 0; k < ninput; k++) out[k] = NULL;
  return walk_back(&b, err);
}

tt_code tt_custom_gradient(tt_array *const *input, int n, tt_array *const *result, int nresult, tt_backward_fn backward,
                           void (*drop)(void *ctx), void *ctx, tt_array **out, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_buffer *owner = tt__leaf_owner(drop, ctx, err);
  tt_own_rule f = {input, result, n, nresult, backward, ctx, owner};
  tt_code code = owner ? check(input, n, err) : TT_ENOMEM;
  if (code == TT_OK) code = check(result, nresult, err);
  if (code == TT_OK) code = tt__leaf_custom(&f, out, err);
  tt__buffer_release(owner);
  return tt__leave(&c, code);
}

tt_code tt_register_hook(tt_array *a, tt_hook_fn hook, void (*drop)(void *ctx), void *ctx, int64_t *id, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_buffer *owner = tt__leaf_owner(drop, ctx, err);
  tt_code code = owner ? check(&a, 1, err) : TT_ENOMEM;
  if (code == TT_OK) code = tt__leaf_hook(a, hook, ctx, owner, id, err);
  tt__buffer_release(owner);
  return tt__leave(&c, code);
}

tt_code tt_remove_hook(tt_array *a, int64_t id, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = check(&a, 1, err);
  return tt__leave(&c, code == TT_OK ? tt__leaf_unhook(a, id, err) : code);
}
