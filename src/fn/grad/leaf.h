/*
** What users ask of an array's gradient, and functions with a derivative of their own. Under the session lock.
*/
#ifndef TT_FN_GRAD_LEAF_H
#define TT_FN_GRAD_LEAF_H

#include "graph/build.h"
#include "tutti/grad.h"

/* See tutti/grad.h, function by function. */
TT_HIDDEN tt_code tt__leaf_set(tt_array *a, bool on, tt_error *err);
TT_HIDDEN bool tt__leaf_is(const tt_array *a);
TT_HIDDEN tt_code tt__leaf_retain_grad(tt_array *a, tt_error *err);
TT_HIDDEN tt_code tt__leaf_grad(tt_array *a, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__leaf_set_grad(tt_array *a, tt_array *grad, tt_error *err);
TT_HIDDEN tt_code tt__leaf_detach(tt_array *a, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__leaf_same(tt_array *a, tt_array **out, tt_error *err);

/* What stands in for the caller's ctx: its drop() runs without the lock. NULL: no memory, and drop() was called. */
TT_HIDDEN tt_buffer *tt__leaf_owner(void (*drop)(void *ctx), void *ctx, tt_error *err);
typedef struct tt_own_rule {
  tt_array *const *input, *const *result;
  int n, nresult;
  tt_backward_fn backward;
  void *ctx;
  tt_buffer *owner; /* borrowed */
} tt_own_rule;
TT_HIDDEN tt_code tt__leaf_custom(const tt_own_rule *f, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__leaf_hook(tt_array *a, tt_hook_fn call, void *ctx, tt_buffer *owner, int64_t *id, tt_error *err);
TT_HIDDEN tt_code tt__leaf_unhook(tt_array *a, int64_t id, tt_error *err);

#endif
