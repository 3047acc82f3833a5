/*
** The public way to the table of functions.
*/
#include <limits.h>
#include <string.h>

#include "graph/function.h"
#include "graph/session.h"
#include "tutti/array.h"

const tt_function_info *tt_function(int k) { return k >= 0 && k < tt__function_count ? &tt__functions[k].info : NULL; }

tt_code tt_call(const char *name, const tt_value *arg, int narg, tt_array **out, int room, tt_result *result, tt_error *err) {
  const tt_function_row *row = tt__function_named(name);
  for (int i = 0; i < room; i++) out[i] = NULL;
  if (result) *result = (tt_result){0};
  if (!row) return tt__fail(err, TT_EVALUE, "no function is named '%s'", name);
  tt_error local;
  if (!err) err = &local;
  err->code = TT_OK;
  tt_call_frame f = {.arg = arg, .narg = narg};
  tt__session_lock();
  tt_code code = row->run(&f, err);
  if (code == TT_OK && f.nout > room) {
    code = tt__fail(err, TT_EVALUE, "%s gives %d results, there is room for %d", name, f.nout, room);
    while (f.nout > 0) tt__array_release(f.out[--f.nout]);
  }
  tt__session_unlock();
  for (int i = 0; code == TT_OK && i < f.nout; i++) out[i] = f.out[i];
  if (code == TT_OK && result) *result = (tt_result){.n = f.nout, .scalar = f.scalar, .tuple = f.tuple};
  return code != TT_OK && err->code != TT_OK ? err->code : code; /* a NULL deep below became TT_ENOMEM on its way up */
}

tt_code tt_matmul(tt_array *a, tt_array *b, tt_array **out, tt_error *err) {
  tt_value v[2] = {tt_v_array(a), tt_v_array(b)};
  return tt_call("matmul", v, 2, out, 1, NULL, err);
}

tt_code tt_sum(tt_array *a, int axis, tt_array **out, tt_error *err) {
  tt_value v[2] = {tt_v_array(a), tt_v_int(axis)};
  return tt_call("sum", v, axis == INT_MIN ? 1 : 2, out, 1, NULL, err);
}
