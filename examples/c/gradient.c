/*
** A line through points by gradient descent: a leaf, a loss, a walk back, a step, all from C; and a function with a
** derivative of its own.
**
**   cc gradient.c $(pkg-config --cflags --libs tutti) && ./a.out
*/
#include <math.h>
#include <stdio.h>
#include <tutti/tutti.h>

enum { STEPS = 300 };

static tt_array *op2(tt_op op, tt_array *a, tt_array *b) {
  tt_value v[2] = {tt_v_array(a), tt_v_array(b)};
  tt_array *out = NULL;
  return a && b && tt_apply(op, v, 2, NULL, &out, NULL) == TT_OK ? out : NULL;
}

/* Sum of (slope * x + offset - y) squared; `line` holds slope and offset. */
static tt_array *loss_of(tt_array *line, tt_array *x, tt_array *y) {
  tt_array *slope = NULL, *offset = NULL, *at = NULL, *off = NULL, *square = NULL, *loss = NULL, *fit = NULL;
  if (tt_get(line, tt_v_int(0), &slope, NULL) == TT_OK && tt_get(line, tt_v_int(1), &offset, NULL) == TT_OK)
    at = op2(TT_MUL, x, slope);
  fit = op2(TT_ADD, at, offset);
  off = op2(TT_SUB, fit, y);
  square = op2(TT_MUL, off, off);
  if (square) tt_sum(square, 0, &loss, NULL);
  tt_array *made[] = {slope, offset, at, fit, off, square};
  for (int k = 0; k < 6; k++)
    if (made[k]) tt_release(&made[k]);
  return loss;
}

/* The cotangent of a result that is twice its operand, told otherwise: three times. */
static tt_code thrice(void *ctx, tt_array *const *g, int ng, tt_array **out, int nout, tt_error *err) {
  (void)ng, (void)nout;
  tt_value v[2] = {tt_v_array(g[0]), tt_v_float(3)};
  ++*(int *)ctx;
  return tt_apply(TT_MUL, v, 2, NULL, &out[0], err);
}

static int own_function(tt_array *line) {
  int called = 0;
  tt_array *twice = NULL, *made = NULL, *sum = NULL, *grad = NULL;
  tt_value v[2] = {tt_v_array(line), tt_v_float(2)}, item = {.tag = TT_V_NONE};
  int before = tt_grad_mode(0);
  bool ok = tt_apply(TT_MUL, v, 2, NULL, &twice, NULL) == TT_OK;
  tt_grad_mode(before);
  ok = ok && tt_custom_gradient(&line, 1, &twice, 1, thrice, NULL, &called, &made, NULL) == TT_OK;
  ok = ok && tt_sum(made, 0, &sum, NULL) == TT_OK && tt_gradients(&sum, NULL, 1, &line, 1, 0, &grad, NULL) == TT_OK;
  ok = ok && tt_get_item(grad, tt_v_int(0), &item, NULL) == TT_OK && item.as.f == 3 && called == 1;
  tt_array *all[] = {twice, made, sum, grad};
  for (int k = 0; k < 4; k++)
    if (all[k]) tt_release(&all[k]);
  return ok;
}

int main(void) {
  tt_array *x = NULL, *y = NULL, *line = NULL, *velocity[1] = {NULL};
  tt_error err;
  int64_t n = 2;
  tt_sgd sgd = {.lr = 0.002, .momentum = 0.8};
  double points[8] = {0, 1, 2, 3, 4, 5, 6, 7}, values[8] = {1, 3, 5, 7, 9, 11, 13, 15}, found[2];
  int64_t eight = 8;
  if (tt_from_data(TT_F64, 1, &eight, points, NULL, &x, &err) != TT_OK ||
      tt_from_data(TT_F64, 1, &eight, values, NULL, &y, &err) != TT_OK ||
      tt_full(TT_F64, 1, &n, tt_v_float(0), &line, &err) != TT_OK || tt_set_requires_grad(line, 1, &err) != TT_OK)
    return fprintf(stderr, "%s\n", err.message), 1;
  for (int k = 0; k < STEPS; k++) {
    tt_array *loss = loss_of(line, x, y);
    if (!loss || tt_backward(&loss, NULL, 1, NULL, 0, 0, &err) != TT_OK ||
        tt_sgd_step(&sgd, &line, velocity, 1, &err) != TT_OK || tt_set_grad(line, NULL, &err) != TT_OK)
      return fprintf(stderr, "%s\n", loss ? err.message : "no loss"), 1;
    tt_release(&loss);
  }
  if (tt_read(line, found, sizeof found, &err) != TT_OK) return fprintf(stderr, "%s\n", err.message), 1;
  printf("y = %.4f x + %.4f\n", found[0], found[1]);
  bool right = fabs(found[0] - 2) < 1e-3 && fabs(found[1] - 1) < 1e-3 && own_function(line);
  tt_array *all[] = {x, y, line, velocity[0]};
  for (int k = 0; k < 4; k++) tt_release(&all[k]);
  printf("%s\n", right ? "right" : "wrong");
  return !right;
}
