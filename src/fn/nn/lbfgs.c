/*
** The direction of limited-memory BFGS: a gradient seen through changes of gradients and of parameters, in two loops.
*/
#include "fn/linalg/matrix.h"
#include "fn/nn/nn.h"

/* gradient, gradient_changes, steps: vectors, the oldest first. */
static tt_array *nn_lbfgs_direction(tt_composer *c, tt_call_frame *f) {
  int64_t n, m;
  tt_array *q = tt__compose_op1(c, TT_NEG, tt__arg_array(c, f, 0));
  tt_array **y = tt__arg_arrays(c, f, 1, &n), **s = tt__arg_arrays(c, f, 2, &m);
  tt_array **share = tt__compose_scratch(c, n + 1, sizeof *share),
           **curve = tt__compose_scratch(c, n + 1, sizeof *curve);
  if (!q || !y || !s || !share || !curve) return NULL;
  if (n != m)
    return tt__compose_fail(c, TT_EVALUE, "%lld changes of gradients, %lld steps", (long long)n, (long long)m);
  for (int64_t k = n - 1; k >= 0; k--) {
    curve[k] = tt__compose_dot(c, y[k], s[k]);
    share[k] = tt__compose_op2(c, TT_DIV, tt__compose_dot(c, s[k], q), curve[k]);
    q = tt__compose_op2(c, TT_SUB, q, tt__compose_op2(c, TT_MUL, y[k], share[k]));
  }
  if (n > 0) {
    tt_array *last = tt__compose_dot(c, y[n - 1], y[n - 1]);
    q = tt__compose_op2(c, TT_MUL, q, tt__compose_op2(c, TT_DIV, curve[n - 1], last));
  }
  for (int64_t k = 0; k < n; k++) {
    tt_array *back = tt__compose_op2(c, TT_DIV, tt__compose_dot(c, y[k], q), curve[k]);
    q = tt__compose_op2(c, TT_ADD, q, tt__compose_op2(c, TT_MUL, s[k], tt__compose_op2(c, TT_SUB, share[k], back)));
  }
  return q;
}
TT_HANDLER(nn_lbfgs_direction)
