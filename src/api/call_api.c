/*
** The public way to the table of functions.
*/
#include <assert.h>
#include <limits.h>
#include <string.h>

#include "fn/autocast.h"
#include "fn/function.h"
#include "graph/eager/product.h"
#include "graph/session.h"
#include "run/wanted.h"
#include "tutti/device.h"

const tt_function_info *tt_function(int k) { return k >= 0 && k < tt__function_count ? &tt__functions[k].info : NULL; }

static bool has_array(const tt_value *arg, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    if (arg[k].tag == TT_V_ARRAY) return true;
    if (arg[k].tag == TT_V_TUPLE && has_array(arg[k].as.tuple.item, arg[k].as.tuple.n)) return true;
  }
  return false;
}

/* Does the row make arrays out of nothing that lies anywhere? Then they go where the thread wants new ones. */
static bool is_maker(const tt_function_info *row, const tt_value *arg, int narg) {
  if (strncmp(row->name, "generator.", 10) == 0) return strcmp(row->name + 10, "new") != 0;
  if (strncmp(row->name, "random.", 7) != 0 && !strstr(row->signature, "device") && !strstr(row->signature, ":dtype"))
    return false;
  return !has_array(arg, narg);
}

/* Where the row's results are to live: what looks like another array lives where that one was put. */
static int place_of(const tt_function_info *row, const tt_value *arg, int narg) {
  if (narg > 0 && arg[0].tag == TT_V_ARRAY && arg[0].as.array->storage->node->device >= 0) {
    const char *like = strstr(row->name, "_like");
    if (like && !like[5]) return arg[0].as.array->storage->node->device;
  }
  return tt__wanted() != TT_AUTO && is_maker(row, arg, narg) ? tt__wanted() : TT_AUTO;
}

/* Put a result there unless it was put somewhere already. */
static tt_code place(tt_array **a, int device, tt_error *err) {
  return (*a)->storage->node->device == TT_ANYWHERE ? tt__wanted_put(a, device, err) : TT_OK;
}

/* The function, of what enters it under mixed precision. */
static tt_code run_cast(const tt_function_row *row, tt_call_frame *f, tt_error *err) {
  tt_cast_call cast = {0};
  const tt_value *given = f->arg;
  tt_code code = tt__cast_row(&cast, row, f->arg, f->narg, err);
  f->arg = cast.arg;
  if (code == TT_OK) code = row->run(f, err);
  f->arg = given;
  tt__cast_end(&cast);
  return code;
}

static tt_code run_row(const tt_function_row *row, tt_call_frame *f, tt_error *err) {
  tt_code code = tt__autocast_on() ? run_cast(row, f, err) : row->run(f, err);
  int device = code == TT_OK && !f->scalar ? place_of(&row->info, f->arg, f->narg) : TT_AUTO;
  if (device == TT_AUTO) return code;
  for (int i = 0; code == TT_OK && i < f->out.n; i++) code = place(&f->out.data[i], device, err);
  while (code != TT_OK && f->out.n > 0) tt__array_release(f->out.data[--f->out.n]);
  return code;
}

enum { MOST_PARAMS = 32, MOST_KNOWN = 2048 };

/* A signature's words between commas, without the marks of those that are given by name or by place alone. */
static int count_params(const char *signature) {
  int n = 0, depth = 0;
  bool quoted = false, is_mark = true, is_empty = true;
  for (const char *s = signature;; s++) {
    if (*s == '\'') quoted = !quoted;
    if (!quoted) depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    if (*s == 0 || (*s == ',' && depth == 0 && !quoted)) {
      n += !is_empty && !is_mark;
      is_mark = is_empty = true;
      if (*s == 0) return n;
    } else if (*s != ' ') {
      is_mark = is_empty && (*s == '*' || *s == '/');
      is_empty = false;
    }
  }
}

/* How many arguments the function has. Under the session lock. */
static int params_of(const tt_function_row *row) {
  static uint8_t known[MOST_KNOWN]; /* one more; 0: nobody has counted */
  int64_t k = row - tt__functions;
  if (k >= MOST_KNOWN) return count_params(row->info.signature);
  if (!known[k]) known[k] = (uint8_t)(count_params(row->info.signature) + 1);
  return known[k] - 1;
}

/* What is left out at the end is missing: functions look at all their arguments, and at no more. */
static void fill_up(tt_call_frame *f, int n, tt_value *all) {
  assert(n <= MOST_PARAMS);
  if (f->narg >= n) return;
  if (f->narg) memcpy(all, f->arg, sizeof *all * (size_t)f->narg);
  for (int k = f->narg; k < n; k++) all[k] = (tt_value){.tag = TT_V_MISSING};
  f->arg = all;
  f->narg = n;
}

static tt_code call(const tt_function_row *row, const tt_value *arg, int narg, tt_array **out, int room,
                    tt_result *result, tt_error *err) {
  tt_error local;
  if (!err) err = &local;
  err->code = TT_OK;
  tt_call_frame f = {.arg = arg, .narg = narg};
  tt_value all[MOST_PARAMS];
  tt__session_lock();
  int most = params_of(row);
  fill_up(&f, most, all);
  tt_code code = narg > most
                     ? tt__fail(err, TT_ETYPE, "%s takes %d arguments but %d were given", row->info.name, most, narg)
                     : run_row(row, &f, err);
  int64_t n = f.out.n;
  if (code == TT_OK && n > room) {
    code = tt__fail(err, TT_EVALUE, "%s gives %lld results, there is room for %d", row->info.name, (long long)n, room);
    while (f.out.n > 0) tt__array_release(f.out.data[--f.out.n]);
  }
  for (int i = 0; i < f.out.n; i++) out[i] = f.out.data[i];
  if (result) *result = (tt_result){.n = (int)n, .scalar = f.scalar, .tuple = f.tuple};
  TT_VEC_FEW_FREE(&f.out);
  tt__session_unlock();
  return code != TT_OK && err->code != TT_OK ? err->code : code; /* a NULL deep below became TT_ENOMEM on its way up */
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
