/*
** Pi as the area under 4 / (1 + x*x) from 0 to 1, by the midpoint rule.
**
**   cc pi.c $(pkg-config --cflags --libs tutti) -lm && ./a.out
**
** Six operations are recorded: the numbers 0, 1, 2 ..., the midpoints, the curve and the sum. They run as one
** kernel that keeps every value in registers, so ten million points take no memory: see what is printed.
*/
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { N = 10000000 };

static void check(tt_code code, const tt_error *err) {
  if (code == TT_OK) return;
  fprintf(stderr, "%s: %s\n", tt_code_name(code), err->message);
  exit(1);
}

/* *a = op(x, y); what *a was before is given back, so that a chain needs one variable. */
static void apply(tt_array **a, tt_op op, tt_value x, tt_value y) {
  const tt_value arg[2] = {x, y};
  tt_array *result;
  tt_error err;
  check(tt_apply(op, arg, 2, NULL, &result, &err), &err);
  tt_release(a);
  *a = result;
}

int main(void) {
  tt_array *x, *area;
  tt_value pi;
  tt_error err;

  check(tt_arange(TT_F64, tt_v_float(0.5 / N), tt_v_float(1.0 / N), N, &x, &err), &err); /* midpoints */
  apply(&x, TT_MUL, tt_v_array(x), tt_v_array(x));
  apply(&x, TT_ADD, tt_v_array(x), tt_v_float(1));
  apply(&x, TT_DIV, tt_v_float(4.0 / N), tt_v_array(x));
  check(tt_sum(x, INT_MIN, &area, &err), &err);
  tt_release(&x);

  char *plan = tt_explain(&area, 1);
  if (plan) fputs(plan, stdout);
  tt_text_free(plan);
  tt_memory_reset_peak(); /* explaining measures the machine once, which takes memory */

  check(tt_item(area, &pi, &err), &err);
  tt_release(&area);

  tt_ledger ledger;
  tt_memory memory;
  tt_ledger_read(&ledger);
  tt_memory_read(&memory);
  printf("pi is about %.15f, from %lld kernel(s) and at most %lld bytes of array memory\n", pi.as.f,
         (long long)ledger.launches, (long long)memory.max_allocated);
  return fabs(pi.as.f - acos(-1)) > 1e-12;
}
