/*
** Steps between tt_steps_begin and tt_steps_end are one: all of them or none.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <tutti/grad.h>
#include <tutti/optim.h>
#include <tutti/tutti.h>

static const tt_sgd sgd = {.lr = 0.5};

static tt_array *full(double value) {
  tt_array *a = NULL;
  int64_t two = 2;
  CHECK_INT(tt_full(TT_F64, 1, &two, tt_v_float(value), &a, NULL), TT_OK);
  return a;
}

/* A parameter of ones whose gradient is `slope`. */
static tt_array *parameter(double slope) {
  tt_array *a = full(1), *grad = full(slope);
  CHECK_INT(tt_set_requires_grad(a, 1, NULL), TT_OK);
  CHECK_INT(tt_set_grad(a, grad, NULL), TT_OK);
  tt_release(&grad);
  return a;
}

static void check_value(tt_array *a, double want) {
  double got[2];
  CHECK_INT(tt_read(a, got, sizeof got, NULL), TT_OK);
  CHECK(got[0] == want && got[1] == want);
}

TEST(steps_are_computed_together) {
  tt_array *p = parameter(1), *q = parameter(2), *none[1] = {NULL};
  tt_steps_begin();
  CHECK_INT(tt_sgd_step(&sgd, &p, none, 1, NULL), TT_OK);
  CHECK_INT(tt_sgd_step(&sgd, &q, none, 1, NULL), TT_OK);
  CHECK_INT(tt_steps_end(NULL), TT_OK);
  check_value(p, 0.5);
  check_value(q, 0);
  tt_release(&p);
  tt_release(&q);
}

TEST(one_that_fails_takes_the_others_back) {
  tt_array *p = parameter(1), *plain = full(1), *none[1] = {NULL};
  tt_error err;
  tt_steps_begin();
  CHECK_INT(tt_sgd_step(&sgd, &p, none, 1, NULL), TT_OK);
  CHECK_INT(tt_sgd_step(&sgd, &plain, none, 1, &err), TT_EVALUE);
  CHECK_STR(err.message, "can't optimize a non-leaf Tensor");
  CHECK_INT(tt_steps_undo(), 1);
  check_value(p, 1);
  CHECK_INT(tt_sgd_step(&sgd, &p, none, 1, NULL), TT_OK); /* by itself again */
  check_value(p, 0.5);
  tt_release(&p);
  tt_release(&plain);
}

TEST(states_of_before_are_the_callers) {
  tt_sgd heavy = {.lr = 0.5, .momentum = 0.5};
  tt_array *p = parameter(1), *velocity[1] = {NULL};
  CHECK_INT(tt_sgd_step(&heavy, &p, velocity, 1, NULL), TT_OK);
  tt_array *kept = tt_retain(velocity[0]);
  tt_steps_begin();
  CHECK_INT(tt_sgd_step(&heavy, &p, velocity, 1, NULL), TT_OK);
  check_value(velocity[0], 1.5);
  CHECK_INT(tt_steps_undo(), 1);
  check_value(p, 0.5);
  check_value(kept, 1);
  tt_release(&velocity[0]);
  tt_release(&kept);
  tt_release(&p);
}

TEST_MAIN()
