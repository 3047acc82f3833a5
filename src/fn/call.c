/*
** A call of a row: as many arguments as its signature has, of the types that mixed precision says, then its function.
*/
#include <assert.h>
#include <string.h>

#include "fn/autocast.h"
#include "fn/function.h"

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

/* The function, of what enters it under mixed precision. */
static tt_code run_cast(const tt_function_row *row, tt_call_frame *f, tt_error *err) {
  tt_cast_call cast = {0};
  tt_code code = tt__cast_row(&cast, row, f->arg, f->narg, err);
  f->arg = cast.arg;
  if (code == TT_OK) code = row->run(f, err);
  tt__cast_end(&cast);
  return code;
}

tt_code tt__function_call(const tt_function_row *row, tt_call_frame *f, tt_error *err) {
  tt_value all[MOST_PARAMS];
  const tt_value *given = f->arg;
  int most = params_of(row), n = f->narg;
  assert(f->out.n == 0);
  if (n > most) return tt__fail(err, TT_ETYPE, "%s takes %d arguments but %d were given", row->info.name, most, n);
  fill_up(f, most, all);
  tt_code code = tt__autocast_on() ? run_cast(row, f, err) : row->run(f, err);
  f->arg = given;
  f->narg = n;
  return code;
}
