/*
** Derivatives of elementwise operations: the expressions of tutti/grad.def. One that names g is the cotangent itself,
** not a factor of it.
*/
#include <string.h>

#include "fn/term.h"
#include "fn/grad/rules.h"
#include "ir/grad.h"

static const tt_term *term_of(int op, int k) {
  static const tt_term *known[TT_OP_COUNT][3];
  if (!known[op][k]) known[op][k] = tt__term_read(tt__grad_text(op, k));
  return known[op][k];
}

static tt_array *times(tt_composer *c, tt_array *g, tt_value factor) {
  if (factor.tag == TT_V_FLOAT && factor.as.f == 1) return g;
  if (factor.tag == TT_V_FLOAT && factor.as.f == -1) return tt__compose_op1(c, TT_NEG, g);
  if (factor.tag == TT_V_ARRAY && tt__is_complex((tt_dtype)factor.as.array->dtype))
    factor = tt_v_array(tt__compose_op1(c, TT_CONJ, factor.as.array));
  if (factor.tag == TT_V_ARRAY && !factor.as.array) return NULL;
  tt_value v[2] = {tt_v_array(g), factor};
  return tt__compose_apply(c, TT_MUL, v, 2, TT_DTYPE_NONE);
}

/* An exponent that is a number is one again: its power may have a name, as a square has, and one less is known too. */
static tt_value exponent(tt_composer *c, tt_array *y) {
  tt_node *n = y ? tt__compose_node(c, y) : NULL;
  tt_value v = tt_v_array(y);
  if (n && n->op == TT_N_CONST && tt__dtypes[n->dtype].kind == 'f')
    v = tt__scalar_load((tt_dtype)n->dtype, &n->attr.scalar);
  tt__node_release(n);
  return v;
}

bool tt__rule_slopes(tt_composer *c, tt_op op, tt_array *const *operand, tt_array *result, tt_array *g, unsigned wanted,
                     tt_array **out) {
  tt_value value[TT_TERM_VALUES]; /* a derivative names no others */
  value[TT_TERM_R] = tt_v_array(result);
  value[TT_TERM_G] = tt_v_array(g);
  for (int k = 0; k < tt__ops[op].arity; k++) value[TT_TERM_X + k] = tt_v_array(operand[k]);
  if (op == TT_POW) value[TT_TERM_Y] = exponent(c, operand[1]);
  for (int k = 0; k < tt__ops[op].arity; k++) {
    const char *text = tt__grad_text(op, k);
    out[k] = NULL;
    if (!(wanted >> k & 1) || strcmp(text, "0") == 0) continue;
    if (!*text || *text == '?') {
      tt__compose_fail(c, TT_ENOTIMPL, "the derivative of '%s' by its operand %d is not implemented", tt__op_word(op),
                       k + 1);
      return false;
    }
    const tt_term *e = term_of(op, k);
    tt_value v;
    if (!e) return tt__compose_fail(c, TT_ENOMEM, "out of memory") != NULL;
    if (!tt__term_record(c, e, value, &v)) return false;
    out[k] = tt__term_names(e, TT_TERM_G) ? v.as.array : times(c, g, v);
    if (!out[k]) return false;
  }
  return true;
}

void tt__rule_op(const tt_rule *r) {
  tt_array *operand[TT_NODE_SRC] = {NULL}, *result = NULL;
  unsigned wanted = 0;
  for (int k = 0; k < r->t->n; k++) {
    wanted |= tt__rule_wants(r, k) ? 1u << k : 0;
    if (r->t->keeps & TT_GRAD_OPERAND(k) && !(operand[k] = tt__rule_operand(r, k))) return;
  }
  if (r->t->keeps & TT_GRAD_RESULT && !(result = tt__rule_result(r))) return;
  tt__rule_slopes(r->c, (tt_op)r->t->op, operand, result, r->g[0], wanted, r->out);
}
