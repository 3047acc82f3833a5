/*
** Cotangents through convolutions: convolutions again, so that they can be differentiated in turn.
*/
#include "fn/grad/networks.h"

#include "fn/linalg/matrix.h"
#include "fn/nn/convolution.h"

void tt__rule_convolution(const tt_rule *r) {
  const tt_lib_attr *attr = r->t->attr.lib;
  tt_array *g = r->g[0];
  int n = g->rank - 3, order[3 + TT_CONV_AXES] = {2, 0, 1};
  tt_conv_axis axis[TT_CONV_AXES];
  for (int d = 0; d < n; d++) {
    axis[d] = tt__conv_axis(attr, d);
    order[3 + d] = 3 + d;
  }
  if (tt__conv_turned(attr)) g = tt__compose_transpose(r->c, g, order);
  if (!g) return;
  if (tt__rule_wants(r, 0))
    r->out[0] = tt__compose_convolution_to_x(r->c, g, tt__rule_operand(r, 1), axis, r->t->parent[0]->dim + 3);
  if (tt__rule_wants(r, 1))
    r->out[1] = tt__compose_convolution_to_w(r->c, g, tt__rule_operand(r, 0), axis, r->t->parent[1]->dim + 3);
  if (r->t->n > 2 && tt__rule_wants(r, 2))
    r->out[2] = tt__compose_sum(r->c, g, ((UINT64_C(1) << g->rank) - 1) & ~UINT64_C(6), false);
}
