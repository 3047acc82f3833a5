/*
** The public way to the table of functions.
*/
#include <limits.h>

#include "api/enter.h"
#include "fn/autocast.h"
#include "fn/function.h"
#include "graph/eager/product.h"
#include "run/wanted.h"
#include "tutti/device.h"

const tt_function_info *tt_function(int k) { return k >= 0 && k < tt__function_count ? &tt__functions[k].info : NULL; }

static tt_code call(const tt_function_row *row, const tt_value *arg, int narg, tt_array **out, int room,
                    tt_result *result, tt_error *err) {
  tt_entered c;
  tt_call_frame f = {.arg = arg, .narg = narg};
  err = tt__enter(&c, err);
  tt_code code = tt__function_call(row, &f, err);
  if (code == TT_OK) code = tt__wanted_results(&row->info, &f, err);
  int64_t n = f.out.n;
  if (code == TT_OK && n > room) {
    code = tt__fail(err, TT_EVALUE, "%s gives %lld results, there is room for %d", row->info.name, (long long)n, room);
    while (f.out.n > 0) tt__array_release(f.out.data[--f.out.n]);
  }
  for (int i = 0; i < f.out.n; i++) out[i] = f.out.data[i];
  if (result) *result = (tt_result){.n = (int)n, .scalar = f.scalar, .tuple = f.tuple};
  TT_VEC_FEW_FREE(&f.out);
  return tt__leave(&c, code);
}

tt_code tt_call(const char *name, const tt_value *arg, int narg, tt_array **out, int room, tt_result *result,
                tt_error *err) {
  const tt_function_row *row = tt__function_named(name);
  for (int i = 0; i < room; i++) out[i] = NULL;
  if (result) *result = (tt_result){0};
  return row ? call(row, arg, narg, out, room, result, err)
             : tt__fail(err, TT_EVALUE, "no function is named '%s'", name);
}

tt_code tt_call_row(int k, const tt_value *arg, int narg, tt_array **out, int room, tt_result *result, tt_error *err) {
  for (int i = 0; i < room; i++) out[i] = NULL;
  if (result) *result = (tt_result){0};
  return k >= 0 && k < tt__function_count ? call(&tt__functions[k], arg, narg, out, room, result, err)
                                          : tt__fail(err, TT_EVALUE, "no function has the number %d", k);
}

tt_code tt_matmul(tt_array *a, tt_array *b, tt_array **out, tt_error *err) {
  tt_value v[2] = {tt_v_array(a), tt_v_array(b)};
  *out = NULL;
  if (!tt__autocast_on()) {
    tt__session_lock();
    *out = tt__eager_product(a, b);
    tt__session_unlock();
  }
  return *out ? TT_OK : tt_call("matmul", v, 2, out, 1, NULL, err);
}

tt_code tt_sum(tt_array *a, int axis, tt_array **out, tt_error *err) {
  tt_value v[2] = {tt_v_array(a), tt_v_int(axis)};
  return tt_call("sum", v, axis == INT_MIN ? 1 : 2, out, 1, NULL, err);
}
