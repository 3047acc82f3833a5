/*
** A kernel in CUDA C from C: the same text on the processor's cores and on a GPU.
**
**   cc kernel.c $(pkg-config --cflags --libs tutti) && ./a.out
*/
#include <stdio.h>
#include <tutti/tutti.h>

static const char source[] =
    "__global__ void scale(float *a, float f, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) a[i] *= f;\n"
    "}\n";

enum { N = 1000 };

int main(void) {
  float got[N];
  tt_program *program;
  tt_entry *scale;
  tt_array *a;
  tt_error err;
  if (tt_program_cuda(source, NULL, &program, &err) != TT_OK) {
    printf("%s\n", err.message); /* there may be no compiler */
    return 0;
  }
  tt_code c = tt_program_find(program, "scale", &scale, &err);
  if (c == TT_OK) c = tt_arange(TT_F32, tt_v_float(0), tt_v_float(1), N, &a, &err);
  if (c != TT_OK) return fprintf(stderr, "%s\n", err.message), 1;
  const tt_argument arg[3] = {
      {TT_ARG_ARRAY, {.array = a}}, {TT_ARG_VALUE, {.value = tt_v_float(2.5)}}, {TT_ARG_VALUE, {.value = tt_v_int(N)}}};
  const tt_launch_options grid = {.grid = {.grid = {(N + 255) / 256, 1, 1}, .block = {256, 1, 1}}};
  c = tt_entry_launch(scale, &grid, arg, 3, &err);
  if (c == TT_OK) c = tt_read(a, got, sizeof got, &err);
  if (c != TT_OK) fprintf(stderr, "%s\n", err.message);
  int wrong = 0;
  for (int i = 0; c == TT_OK && i < N; i++) wrong += got[i] != 2.5f * (float)i;
  printf("%d of %d elements are wrong\n", wrong, N);
  tt_release(&a);
  tt_program_release(&program);
  return c != TT_OK || wrong != 0;
}
