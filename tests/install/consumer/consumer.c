/* The least that proves a working link: something is recorded, evaluated and read. */
#include <stdio.h>
#include <tutti/tutti.h>

int main(void) {
  tt_array *a, *b;
  tt_error err;
  float got[3] = {0, 0, 0};
  tt_code c = tt_arange(TT_F32, tt_v_float(0), tt_v_float(1), 3, &a, &err);
  if (c != TT_OK) return fprintf(stderr, "%s\n", err.message), 1;
  tt_value twice[2] = {tt_v_array(a), tt_v_array(a)};
  c = tt_apply(TT_ADD, twice, 2, NULL, &b, &err);
  if (c == TT_OK) c = tt_read(b, got, sizeof got, &err);
  if (c != TT_OK) return fprintf(stderr, "%s\n", err.message), 1;
  printf("%g %g %g\n", (double)got[0], (double)got[1], (double)got[2]);
  tt_release(&a);
  tt_release(&b);
  return got[2] != 4;
}
