/*
** Kernels given as expressions from C: operations of the graph where the text is straight-line, compiled where it has a
** loop.
**
**   cc elementwise.c $(pkg-config --cflags --libs tutti) && ./a.out
*/
#include <stdio.h>
#include <tutti/tutti.h>

enum { N = 1000 };

static const tt_custom_source distance = {
    .inputs = "T x, T y", .outputs = "T z", .operation = "T t = x - y; z = t * t", .name = "distance"};
static const tt_custom_source largest = {
    .inputs = "T x", .outputs = "T y", .operation = "x", .reduce = "max(a, b)", .post = "y = a", .name = "largest"};
static const tt_custom_source powers = {.inputs = "T x, int32 n",
                                        .outputs = "T y",
                                        .operation = "y = 1; for (int k = 0; k < n; k++) y *= x",
                                        .name = "powers"};

static int failed(const tt_error *err) { return fprintf(stderr, "%s\n", err->message), 1; }

int main(void) {
  tt_custom *between = NULL, *most = NULL, *power = NULL;
  tt_array *x = NULL, *z = NULL, *top = NULL, *cubes = NULL;
  tt_value value;
  tt_error err;
  tt_code c = tt_elementwise_new(&distance, &between, &err);
  if (c == TT_OK) c = tt_reduction_new(&largest, &most, &err);
  if (c == TT_OK) c = tt_elementwise_new(&powers, &power, &err);
  if (c == TT_OK) c = tt_arange(TT_F32, tt_v_float(0), tt_v_float(1), N, &x, &err);
  if (c != TT_OK) return failed(&err);

  tt_custom_argument arg[2] = {tt_custom_array(x), tt_custom_value(tt_v_int(1))};
  c = tt_elementwise_call(between, arg, 2, -1, NULL, &z, &err); /* recorded: nothing runs yet */
  arg[0] = tt_custom_array(z);
  if (c == TT_OK) c = tt_reduction_call(most, arg, 1, NULL, 0, false, NULL, &top, &err);
  if (c == TT_OK) c = tt_item(top, &value, &err);
  if (c != TT_OK) return failed(&err);
  printf("the largest square is %g\n", value.as.f);

  arg[0] = tt_custom_array(x);
  arg[1] = tt_custom_value(tt_v_int(3));
  c = tt_elementwise_call(power, arg, 2, -1, NULL, &cubes, &err);
  if (c == TT_OK) {
    static float cube[N];
    c = tt_read(cubes, cube, sizeof cube, &err);
    printf("10 to the third is %g\n", cube[10]);
  } else if (c == TT_ECOMPILE) { /* there may be no compiler */
    printf("%s\n", err.message);
    c = TT_OK;
  }
  char *told = tt_custom_explain(power);
  if (told) printf("%s\n", told);
  tt_text_free(told);
  tt_release(&cubes);
  tt_release(&top);
  tt_release(&z);
  tt_release(&x);
  tt_custom_release(&power);
  tt_custom_release(&most);
  tt_custom_release(&between);
  return c == TT_OK ? 0 : failed(&err);
}
