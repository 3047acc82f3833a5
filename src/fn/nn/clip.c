/*
** Gradients kept short, many arrays together: their norm is a number that nobody looks at, and all are scaled by it.
*/
#include <math.h>

#include "fn/nn/nn.h"
#include "graph/session.h"

/* The norm of an array; an infinite order is the largest. */
static tt_array *norm_of(tt_composer *c, tt_array *a, double p) {
  a = tt__compose_ravel(c, tt__nn_floats(c, a, "get_total_norm"));
  const tt_value arg[] = {tt_v_array(a), tt_v_float(p)};
  return a ? tt__fn_call(c, "linalg.norm", arg, 2) : NULL;
}

/* tensors, norm_type, error_if_nonfinite, foreach */
static tt_array *nn_get_total_norm(tt_composer *c, tt_call_frame *f) {
  int64_t n, one = 1;
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  double p = tt__arg_float(c, f, 1, 2);
  bool check = tt__arg_bool(c, f, 2, false);
  if (!a || c->code != TT_OK) return NULL;
  if (n == 0) return tt__compose_full(c, TT_F32, 0, NULL, tt_v_int(0));
  tt_array **each = tt__compose_scratch(c, n, sizeof(tt_array *));
  for (int64_t k = 0; k < n && each; k++) {
    each[k] = tt__compose_reshape(c, norm_of(c, a[k], p), 1, &one);
    if (!each[k]) return NULL;
    if (k > 0) each[k] = tt__compose_cast(c, each[k], (tt_dtype)each[0]->dtype);
  }
  tt_array *all = each ? norm_of(c, tt__compose_concat(c, each, n, 0), p) : NULL;
  if (!check || !all) return all;
  const bool *finite = tt__compose_peek(c, tt__compose_op1(c, TT_ISFINITE, all));
  if (finite && !*finite)
    return tt__compose_fail(c, TT_EGRAD,
                            "The total norm of order %g for gradients from `parameters` is non-finite, so it cannot be "
                            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                            "`error_if_nonfinite=False`",
                            p);
  return finite ? all : NULL;
}
TT_HANDLER(nn_get_total_norm)

/* gradients, max_norm, total_norm: each is multiplied by max_norm over the norm, at most 1. */
static tt_array *nn_clip_grads_with_norm(tt_composer *c, tt_call_frame *f) {
  int64_t n;
  tt_array **a = tt__arg_arrays(c, f, 0, &n), *norm = tt__arg_array(c, f, 2);
  double most = tt__arg_float(c, f, 1, 0);
  f->none = true;
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *limit = norm ? tt__compose_full(c, (tt_dtype)norm->dtype, 0, NULL, tt_v_float(most)) : NULL;
  tt_array *by = tt__compose_op2(c, TT_DIV, limit, tt__compose_opf(c, TT_ADD, norm, 1e-6));
  by = tt__compose_opf(c, TT_MINIMUM, by, 1);
  for (int64_t k = 0; k < n && by && c->code == TT_OK; k++) {
    tt_array *less = tt__compose_op2(c, TT_MUL, a[k], tt__compose_cast(c, by, (tt_dtype)a[k]->dtype));
    if (less) tt__compose_set(c, a[k], tt_v_array(less));
  }
  tt__session_tape = before;
  return NULL;
}
TT_HANDLER(nn_clip_grads_with_norm)

/* gradients, clip_value */
static tt_array *nn_clip_grad_value(tt_composer *c, tt_call_frame *f) {
  int64_t n;
  tt_array **a = tt__arg_arrays(c, f, 0, &n);
  double most = tt__arg_float(c, f, 1, 0);
  f->none = true;
  bool before = tt__session_tape;
  tt__session_tape = false;
  for (int64_t k = 0; k < n && c->code == TT_OK; k++) {
    tt_array *less = tt__compose_opf(c, TT_MAXIMUM, tt__compose_opf(c, TT_MINIMUM, a[k], most), -most);
    if (less) tt__compose_set(c, a[k], tt_v_array(less));
  }
  tt__session_tape = before;
  return NULL;
}
TT_HANDLER(nn_clip_grad_value)
