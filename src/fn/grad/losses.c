/*
** Cotangents through losses whose spelling has infinite slopes, or that are computed at the call.
*/
#include "fn/grad/networks.h"

/* Of an input x and a target y: (x - y) / (x * (1 - x)), with 1e-12 for what is less below the line, as PyTorch has it;
 * and by y the difference of the clamped logarithms. */
void tt__rule_binary_cross_entropy(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *x = tt__rule_operand(r, 0), *y = tt__rule_operand(r, 1), *minus = tt__compose_op1(c, TT_NEG, x);
  if (tt__rule_wants(r, 0)) {
    tt_array *both = tt__compose_op2(c, TT_MUL, x, tt__compose_opf(c, TT_ADD, minus, 1));
    tt_array *apart = tt__compose_op2(c, TT_MUL, r->g[0], tt__compose_op2(c, TT_SUB, x, y));
    r->out[0] = tt__compose_op2(c, TT_DIV, apart, tt__compose_opf(c, TT_MAXIMUM, both, 1e-12));
  }
  if (tt__rule_wants(r, 1)) {
    tt_array *yes = tt__compose_opf(c, TT_MAXIMUM, tt__compose_op1(c, TT_LOG, x), -100);
    tt_array *no = tt__compose_opf(c, TT_MAXIMUM, tt__compose_op1(c, TT_LOG1P, minus), -100);
    r->out[1] = tt__compose_op2(c, TT_MUL, r->g[0], tt__compose_op2(c, TT_SUB, no, yes));
  }
}

/* Done at the call: of square(x) divided by how many there are and summed, to the bit. */
void tt__rule_mean_square(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *x = tt__rule_operand(r, 0);
  if (!x) return;
  tt_value part[2] = {tt_v_int(1), tt_v_array(tt__compose_full(c, (tt_dtype)x->dtype, 0, NULL, tt_v_int(x->size)))};
  tt_array *g = tt__compose_op2(c, TT_MUL, r->g[0], tt__compose_apply(c, TT_DIV, part, 2, TT_DTYPE_NONE));
  g = tt__rule_spread(c, g, r->t->parent[0], ~UINT64_C(0));
  r->out[0] = tt__compose_op2(c, TT_MUL, g, tt__compose_opf(c, TT_MUL, x, 2));
}

/* Of [steps, images, classes]: the slopes came with the loss, one for each image. */
void tt__rule_ctc_loss(const tt_rule *r) {
  tt_array *slope = tt__rule_operand(r, 1), *g = r->g[0], *src[2] = {tt__rule_operand(r, 0), g};
  if (!slope || !src[0]) return;
  bool before = tt__session_tape;
  tt__session_tape = false;
  g = tt__compose_expand(r->c, tt__compose_expand(r->c, g, 1), 0);
  r->out[0] = tt__compose_op2(r->c, TT_MUL, slope, g);
  tt__session_tape = before;
  /* The slopes are numbers: who asks for the second derivative is told that there is none, as PyTorch does. */
  if (r->taped) r->out[0] = tt__compose_derived(r->c, "ctc_loss_backward", src, 2, r->out[0]);
}
