/*
** The functions of tutti/expression.h: take the lock, call.
*/
#include "tutti/expression.h"

#include "api/enter.h"
#include "base/mem.h"
#include "launch/expression/expression.h"

tt_code tt_expression_new(const tt_expression_source *source, tt_expression **out, tt_error *err) {
  *out = NULL;
  if (!source || !source->operation) return tt__fail(err, TT_EVALUE, "an expression needs its text");
  return tt__expression_new(source, out, err); /* text is nobody else's: no lock */
}

char *tt_expression_text(const tt_expression *e) {
  tt_str text = {0};
  tt__expression_print(e, &text);
  char *kept = text.failed ? NULL : tt__mem_dup(text.data ? text.data : "", text.len + 1);
  tt__str_free(&text);
  return kept;
}

void tt_expression_release(tt_expression **e) {
  if (!e) return;
  tt__expression_free(*e);
  *e = NULL;
}

int tt_expression_parameters(const tt_expression *e) { return tt__expression_parameters(e); }
unsigned tt_expression_flags(const tt_expression *e, int k) { return tt__expression_flags(e, k); }

tt_code tt_expression_call(const tt_expression *e, const tt_value *arg, int64_t size, tt_array **out, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  tt_code code = tt__expression_call(e, arg, size, out, err);
  if (code == TT_OK) code = tt__expression_placed(arg, tt__expression_parameters(e), out, err);
  return tt__leave(&c, code);
}

tt_code tt_expression_reduce(const tt_expression *e, const tt_value *arg, uint64_t axes, bool keepdims, tt_array **out,
                             tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__expression_reduce(e, arg, axes, keepdims, out, err));
}
