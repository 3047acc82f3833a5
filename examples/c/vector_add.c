/*
** Add two vectors, the smallest complete program.
**
**   cc vector_add.c $(pkg-config --cflags --libs tutti) && ./a.out
**
** Data of the program's own goes in with tt_from_data, the sum is recorded by tt_apply, and
** nothing is computed until tt_read looks.
*/
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { N = 1000000 };

/* Every call says whether it worked; the message names what was wrong. */
static void check(tt_code code, const tt_error *err) {
  if (code == TT_OK) return;
  fprintf(stderr, "%s: %s\n", tt_code_name(code), err->message);
  exit(1);
}

int main(void) {
  const int64_t len[1] = {N};
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  tt_array *a, *b, *sum;
  tt_error err;
  if (!x || !y) return 1;
  for (int i = 0; i < N; i++) {
    x[i] = i;
    y[i] = 0.5 * i;
  }

  check(tt_from_data(TT_F64, 1, len, x, NULL, &a, &err), &err);
  check(tt_from_data(TT_F64, 1, len, y, NULL, &b, &err), &err);
  const tt_value arg[2] = {tt_v_array(a), tt_v_array(b)};
  check(tt_apply(TT_ADD, arg, 2, NULL, &sum, &err), &err);
  check(tt_read(sum, x, N * sizeof *x, &err), &err);

  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += x[i] != i + 0.5 * i;
  printf("%d sums, %d of them wrong, the last is %g\n", N, wrong, x[N - 1]);

  tt_release(&sum);
  tt_release(&b);
  tt_release(&a);
  free(y);
  free(x);
  return wrong != 0;
}
