/*
** Running handlers; see fn.h.
*/
#include "graph/fn.h"

bool tt__fn_give(tt_calc *c, tt_call_frame *f, tt_array *a) {
  if (!a || c->code != TT_OK) return false;
  if (!TT_VEC_PUSH(&f->out, a)) {
    tt__calc_fail(c, TT_ENOMEM, "out of memory");
    return false;
  }
  tt__array_retain(a);
  return true;
}

tt_code tt__fn_run(tt_call_frame *f, tt_array *(*body)(tt_calc *c, tt_call_frame *f), tt_error *err) {
  tt_error local = {0};
  tt_calc c = {.err = err ? err : &local};
  tt_array *a = body(&c, f);
  if (c.code == TT_OK && f->out.n == 0) {
    if (a)
      tt__fn_give(&c, f, a);
    else if (!f->tuple && !f->none)
      tt__calc_fail(&c, TT_EINTERNAL, "a function gave no result");
  }
  if (c.code != TT_OK)
    while (f->out.n > 0) tt__array_release(f->out.data[--f->out.n]);
  tt__calc_end(&c);
  return c.code;
}

tt_array *tt__fn_call(tt_calc *c, const char *name, const tt_value *arg, int n) {
  if (c->code != TT_OK) return NULL;
  tt_call_frame f = {.arg = arg, .narg = n};
  tt_array *a = NULL;
  tt_code code = tt__function_named(name)->run(&f, c->err);
  if (code == TT_OK) a = f.out.data[--f.out.n];
  while (f.out.n > 0) tt__array_release(f.out.data[--f.out.n]);
  TT_VEC_FREE(&f.out);
  return tt__calc_keep(c, code, &a);
}
