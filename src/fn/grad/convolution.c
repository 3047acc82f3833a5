/*
** Cotangents through convolutions: convolutions again, so that they can be differentiated in turn.
*/
#include <string.h>

#include "fn/grad/networks.h"
#include "fn/linalg/matrix.h"
#include "fn/nn/spatial/convolution.h"

/* The cotangent as [images, groups, outputs, P...]. */
static tt_array *in_groups(tt_composer *c, tt_array *g, const tt_array *w, bool turned) {
  static const int turn[3 + TT_CONV_AXES] = {2, 0, 1, 3, 4, 5};
  int64_t len[3 + TT_CONV_AXES], *have = tt__array_len(g);
  const int64_t *parts = tt__array_len((tt_array *)w);
  memcpy(len + (turned ? 0 : 1), parts, 2 * sizeof *len);
  len[turned ? 2 : 0] = have[turned];
  memcpy(len + 3, have + 2, sizeof *len * (size_t)(g->rank - 2));
  g = tt__compose_reshape(c, g, g->rank + 1, len);
  return turned ? tt__compose_transpose(c, g, turn) : g;
}

void tt__rule_convolution(const tt_rule *r) {
  const tt_lib_attr *attr = r->t->attr.lib;
  tt_array *x = tt__rule_operand(r, 0), *w = tt__rule_operand(r, 1);
  if (!x || !w) return;
  tt_array *g = in_groups(r->c, r->g[0], w, tt__conv_turned(attr));
  if (!g) return;
  tt_conv_axis axis[TT_CONV_AXES];
  for (int d = 0; d < g->rank - 3; d++) axis[d] = tt__conv_axis(attr, d);
  if (tt__rule_wants(r, 0)) r->out[0] = tt__compose_convolution_to_x(r->c, g, w, axis, tt__array_len(x));
  if (tt__rule_wants(r, 1)) r->out[1] = tt__compose_convolution_to_w(r->c, g, x, axis, tt__array_len(w));
  if (r->t->n > 2 && tt__rule_wants(r, 2))
    r->out[2] = tt__compose_sum(r->c, g, ((UINT64_C(1) << g->rank) - 1) & ~UINT64_C(6), false);
}
