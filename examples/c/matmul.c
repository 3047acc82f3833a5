/*
** A product of two matrices, then a bias and max(x, 0), as a layer of a network does.
**
**   cc matmul.c $(pkg-config --cflags --libs tutti) && ./a.out
**
** The product goes to OpenBLAS where there is one, else to code of ours; bias and max are one kernel after it. The
** matrices hold small whole numbers, so every order of summation gives the same answer, bit for bit.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

enum { M = 300, K = 200, N = 250 };

static float a[M][K], b[K][N], bias[N], got[M][N], want[M][N];

static void check(tt_code code, const tt_error *err) {
  if (code == TT_OK) return;
  fprintf(stderr, "%s: %s\n", tt_code_name(code), err->message);
  exit(1);
}

static tt_array *apply(tt_op op, tt_array *x, tt_value y) {
  const tt_value arg[2] = {tt_v_array(x), y};
  tt_array *result;
  tt_error err;
  check(tt_apply(op, arg, 2, NULL, &result, &err), &err);
  return result;
}

static void fill(void) {
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++) a[i][k] = (float)((i * 7 + k * 3) % 11 - 5);
  for (int k = 0; k < K; k++)
    for (int j = 0; j < N; j++) b[k][j] = (float)((k * 5 + j) % 7 - 3);
  for (int j = 0; j < N; j++) bias[j] = (float)(j % 5);
}

static void reference(void) {
  for (int i = 0; i < M; i++) {
    memcpy(want[i], bias, sizeof bias);
    for (int k = 0; k < K; k++)
      for (int j = 0; j < N; j++) want[i][j] += a[i][k] * b[k][j];
    for (int j = 0; j < N; j++) want[i][j] = want[i][j] > 0 ? want[i][j] : 0;
  }
}

int main(void) {
  const int64_t la[2] = {M, K}, lb[2] = {K, N}, lbias[1] = {N};
  tt_array *x, *w, *c, *product;
  tt_error err;
  fill();

  check(tt_from_data(TT_F32, 2, la, a, NULL, &x, &err), &err);
  check(tt_from_data(TT_F32, 2, lb, b, NULL, &w, &err), &err);
  check(tt_from_data(TT_F32, 1, lbias, bias, NULL, &c, &err), &err); /* a row: broadcast over the rows */
  check(tt_matmul(x, w, &product, &err), &err);
  tt_array *shifted = apply(TT_ADD, product, tt_v_array(c));
  tt_array *layer = apply(TT_MAXIMUM, shifted, tt_v_float(0));
  check(tt_read(layer, got, sizeof got, &err), &err);

  reference();
  int wrong = memcmp(got, want, sizeof got) != 0;
  printf("(%d, %d) x (%d, %d): %s\n", M, K, K, N, wrong ? "wrong" : "right");

  tt_array *done[] = {layer, shifted, product, c, w, x};
  for (int i = 0; i < 6; i++) tt_release(&done[i]);
  return wrong;
}
