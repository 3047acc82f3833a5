/* Expressions through the public interface: elementwise, PyCUDA's form, reductions, bad arguments. */
#define TEST_KEEPS_MEMORY /* plans and kernels are cached */
#include <math.h>

#include "test.h"
#include "tutti/tutti.h"

static tt_array *ramp(int64_t n) {
  tt_array *a = NULL;
  CHECK_INT(tt_arange(TT_F32, tt_v_int(0), tt_v_int(1), n, &a, NULL), TT_OK);
  return a;
}

static void check_values(tt_array *a, int n, const float *want) {
  float got[16];
  CHECK_INT(tt_array_size(a), n);
  CHECK_INT(tt_read(a, got, sizeof got, NULL), TT_OK);
  for (int k = 0; k < n; k++) CHECK(got[k] == want[k]);
}

TEST(elementwise) {
  tt_expression_parameter p[] = {{"x", TT_F32, 0}, {"f", TT_F32, 0}, {"z", TT_F32, TT_EXPR_OUT}};
  tt_expression_source s = {.operation = "z = x * f + T(i)", .parameter = p, .nparameter = 3};
  tt_expression_type t = {"T", TT_F32};
  s.type = &t;
  s.ntype = 1;
  tt_expression *e;
  CHECK_INT(tt_expression_new(&s, &e, NULL), TT_OK);
  CHECK_INT(tt_expression_parameters(e), 3);
  CHECK_INT(tt_expression_flags(e, 2), TT_EXPR_OUT);
  CHECK_INT(tt_expression_flags(e, 3), 0);
  tt_array *x = ramp(4), *out[3];
  tt_value arg[3] = {tt_v_array(x), tt_v_float(0.5), {TT_V_MISSING, {0}}};
  tt_set_eager(0);
  CHECK_INT(tt_expression_call(e, arg, -1, out, NULL), TT_OK);
  tt_set_eager(-1);
  CHECK(!out[0] && !out[1] && !tt_array_is_evaluated(out[2]));
  check_values(out[2], 4, (float[]){0, 1.5f, 3, 4.5f});
  tt_release(&out[2]);
  tt_error err;
  arg[0] = (tt_value){TT_V_MISSING, {0}};
  CHECK_INT(tt_expression_call(e, arg, -1, out, &err), TT_ETYPE);
  CHECK_STR(err.message, "argument 'x' is missing");
  arg[0] = tt_v_array(x);
  CHECK_INT(tt_expression_reduce(e, arg, 1, false, out, &err), TT_ETYPE);
  char *text = tt_expression_text(e);
  CHECK(strstr(text, "z = %") != NULL);
  tt_text_free(text);
  tt_expression_release(&e);
  CHECK(!e);
  tt_release(&x);
}

TEST(declared_as_in_c) {
  tt_expression_source s = {.operation = "y[i] = a * x[n - 1 - i]",
                            .declaration = "float *y, const float *__restrict__ x, unsigned char a"};
  tt_expression *e;
  tt_error err;
  CHECK_INT(tt_expression_new(&s, &e, &err), TT_OK);
  CHECK_INT(tt_expression_flags(e, 0), TT_EXPR_OUT | TT_EXPR_RAW);
  CHECK_INT(tt_expression_flags(e, 1), TT_EXPR_RAW);
  CHECK_INT(tt_expression_flags(e, 2), TT_EXPR_NUMBER);
  tt_array *x = ramp(3), *y = ramp(3), *out[3];
  tt_value arg[3] = {tt_v_array(y), tt_v_array(x), tt_v_int(3)};
  CHECK_INT(tt_expression_call(e, arg, -1, out, &err), TT_OK);
  check_values(y, 3, (float[]){6, 3, 0});
  tt_release(&out[0]);
  arg[2] = tt_v_int(300);
  CHECK_INT(tt_expression_call(e, arg, -1, out, &err), TT_EOVERFLOW);
  tt_expression_release(&e);
  s.declaration = "float4 *y";
  CHECK_INT(tt_expression_new(&s, &e, &err), TT_ENOTIMPL);
  CHECK(!e);
  s.declaration = "";
  CHECK_INT(tt_expression_new(&s, &e, &err), TT_ENOTIMPL);
  s.declaration = "float x[2]";
  CHECK_INT(tt_expression_new(&s, &e, &err), TT_ENOTIMPL);
  tt_release(&x);
  tt_release(&y);
}

TEST(reductions) {
  tt_expression_parameter p[] = {{"x", TT_F32, 0}, {"s", TT_F32, TT_EXPR_OUT}};
  tt_expression_source s = {.operation = "x * x",
                            .reduce = "a + b",
                            .post = "s = sqrt(a)",
                            .identity = "0",
                            .accumulator = TT_F32,
                            .parameter = p,
                            .nparameter = 2};
  tt_expression *e;
  tt_array *x = ramp(4), *grid, *out;
  int64_t len[2] = {2, 2};
  tt_error err;
  CHECK_INT(tt_expression_new(&s, &e, &err), TT_OK);
  CHECK_INT(tt_reshape(x, 2, len, &grid, NULL), TT_OK);
  tt_value arg[2] = {tt_v_array(grid), {TT_V_MISSING, {0}}};
  CHECK_INT(tt_expression_reduce(e, arg, 2, true, &out, &err), TT_OK);
  CHECK_INT(tt_array_rank(out), 2);
  check_values(out, 2, (float[]){1, sqrtf(13)});
  tt_release(&out);
  CHECK_INT(tt_expression_reduce(e, arg, 8, false, &out, &err), TT_EAXIS);
  tt_array *many[2];
  CHECK_INT(tt_expression_call(e, arg, -1, many, &err), TT_ETYPE);
  tt_expression_release(&e);
  s.reduce = "a - b";
  CHECK_INT(tt_expression_new(&s, &e, &err), TT_ENOTIMPL);
  s.reduce = "a + b";
  s.post = "s = c";
  CHECK_INT(tt_expression_new(&s, &e, &err), TT_EVALUE);
  CHECK(strstr(err.message, "'c' was not declared in this scope") != NULL);
  tt_release(&grid);
  tt_release(&x);
}

TEST_MAIN()
