/*
** What follows a product and could be done by it: layers as people write them, and everything that only looks like one.
*/
#define TEST_KEEPS_MEMORY
#include "sched/epilogue.h"

#include "graph/build.h"
#include "graph/session.h"
#include "ir/library.h"
#include "run/realize.h"
#include "test.h"
#include "tutti/tutti.h"

static tt_error err;
static tt_array *owned[200];
static int nowned;

static tt_array *own(tt_array *a) {
  CHECK(a != NULL);
  return owned[nowned++] = a;
}
static void forget_all(void) {
  while (nowned) tt_release(&owned[--nowned]);
}

static tt_array *op(tt_op o, tt_array *a, tt_value b) {
  tt_value v[2] = {tt_v_array(a), b};
  tt_array *out = NULL;
  CHECK_INT(tt_apply(o, v, b.tag == TT_V_NONE ? 1 : 2, NULL, &out, &err), TT_OK);
  return own(out);
}
static tt_value none(void) { return (tt_value){.tag = TT_V_NONE}; }
static tt_value num(double x) { return tt_v_float(x); }
static tt_value arr(tt_array *a) { return tt_v_array(a); }

/* An evaluated array of this shape. */
static tt_array *input(tt_dtype t, int rank, const int64_t *len) {
  tt_array *a = NULL;
  CHECK_INT(tt_full(t, rank, len, tt_v_int(1), &a, &err), TT_OK);
  tt_array *b = op(TT_ADD, a, tt_v_int(0));
  CHECK_INT(tt_eval(&b, 1, &err), TT_OK);
  tt_release(&a);
  return b;
}

enum { M = 4, N = 6 };
static tt_array *product(tt_dtype t) {
  tt_array *x = input(t, 2, (int64_t[]){M, 5}), *w = input(t, 2, (int64_t[]){5, N}), *y = NULL;
  CHECK_INT(tt_matmul(x, w, &y, &err), TT_OK);
  return own(y);
}

/* 0.5 y (1 + tanh(a (y + b y^3))) */
static tt_array *gelu(tt_array *y, double a, double b) {
  tt_array *cube = op(TT_MUL, op(TT_MUL, op(TT_MUL, y, num(b)), arr(y)), arr(y));
  tt_array *t = op(TT_TANH, op(TT_MUL, op(TT_ADD, y, arr(cube)), num(a)), none());
  return op(TT_MUL, op(TT_MUL, y, num(0.5)), arr(op(TT_ADD, t, num(1))));
}

/* The epilogue of the one product below `z`; -1: none. Only z and `kept` are held meanwhile. */
static int match_of(tt_array *z, tt_array *kept, tt_epilogue_match *f) {
  for (int i = 0; i < nowned; i++)
    if (owned[i] && owned[i] != z && owned[i] != kept) tt_release(&owned[i]);
  const tt_plan *plan;
  const tt_walk *walk;
  bool found;
  int got = -1;
  tt__session_lock();
  tt_node *n = tt__array_node(z, &err);
  CHECK_INT(tt__realize_plan(&n, 1, &plan, &walk, &found, &err), TT_OK);
  for (int i = 0; i < plan->n; i++)
    if (plan->step[i].kind == TT_STEP_LIB && tt__sched_epilogue(walk, plan, i, f)) {
      got = f->epilogue;
      CHECK(f->step > i && plan->step[f->step].root[0].node == n->slot);
      if (got & TT_EPILOGUE_BIAS) CHECK(walk->node[f->term]->op == TT_N_BUFFER);
    }
  tt__node_release(n);
  tt__session_unlock();
  forget_all();
  return got;
}

TEST(layers) {
  static const tt_dtype types[] = {TT_F32, TT_F16, TT_BF16};
  tt_epilogue_match f;
  for (int i = 0; i < 3; i++) {
    tt_dtype t = types[i];
    tt_array *b = input(t, 1, (int64_t[]){N});
    CHECK_INT(match_of(op(TT_ADD, product(t), arr(b)), NULL, &f), TT_EPILOGUE_BIAS);
    CHECK_INT(match_of(op(TT_MAXIMUM, product(t), num(0)), NULL, &f), TT_EPILOGUE_RELU);
    b = input(t, 1, (int64_t[]){N});
    CHECK_INT(match_of(op(TT_MAXIMUM, op(TT_ADD, product(t), arr(b)), num(0)), NULL, &f),
              TT_EPILOGUE_BIAS | TT_EPILOGUE_RELU);
    CHECK_INT(match_of(gelu(product(t), 0.7978845608, 0.044715), NULL, &f), TT_EPILOGUE_GELU);
    b = input(t, 1, (int64_t[]){N});
    CHECK_INT(match_of(gelu(op(TT_ADD, product(t), arr(b)), 0.7978845608, 0.044715), NULL, &f),
              TT_EPILOGUE_BIAS | TT_EPILOGUE_GELU);
    b = input(t, 2, (int64_t[]){M, N});
    CHECK_INT(match_of(op(TT_ADD, product(t), arr(b)), NULL, &f), TT_EPILOGUE_ADD);
    b = input(t, 2, (int64_t[]){1, N});
    CHECK_INT(match_of(op(TT_ADD, product(t), arr(b)), NULL, &f), TT_EPILOGUE_BIAS);
  }
}

TEST(a_bias_in_the_middle_of_an_array) {
  tt_epilogue_match f;
  tt_array *all = input(TT_F32, 1, (int64_t[]){3 * N}), *b = NULL;
  int64_t start = N;
  tt_value index = {.tag = TT_V_SLICE};
  index.as.slice.start = start, index.as.slice.stop = 2 * N, index.as.slice.step = 1;
  index.as.slice.has_start = index.as.slice.has_stop = index.as.slice.has_step = true;
  CHECK_INT(tt_get(all, index, &b, &err), TT_OK);
  CHECK_INT(match_of(op(TT_ADD, product(TT_F32), arr(own(b))), NULL, &f), TT_EPILOGUE_BIAS);
  CHECK_INT(f.offset, N);
}

TEST(what_only_looks_like_a_layer) {
  tt_epilogue_match f;
  tt_dtype t = TT_F32;
  CHECK_INT(match_of(gelu(product(t), 0.7978845608, 0.05), NULL, &f), -1);
  CHECK_INT(match_of(gelu(product(t), 0.85, 0.044715), NULL, &f), -1);
  CHECK_INT(match_of(op(TT_MAXIMUM, product(t), num(0.25)), NULL, &f), -1);
  CHECK_INT(match_of(op(TT_MUL, product(t), num(2)), NULL, &f), -1);
  CHECK_INT(match_of(op(TT_MINIMUM, product(t), num(0)), NULL, &f), -1);
  tt_array *b = input(t, 2, (int64_t[]){M, 1}); /* along the rows */
  CHECK_INT(match_of(op(TT_ADD, product(t), arr(b)), NULL, &f), -1);
  b = input(t, 2, (int64_t[]){M, N});
  CHECK_INT(match_of(op(TT_MAXIMUM, op(TT_ADD, product(t), arr(b)), num(0)), NULL, &f), -1);
  b = input(t, 2, (int64_t[]){N, M}); /* it lies across */
  tt_array *across = NULL;
  CHECK_INT(tt_transpose(b, NULL, &across, &err), TT_OK);
  CHECK_INT(match_of(op(TT_ADD, product(t), arr(own(across))), NULL, &f), -1);
  b = input(t, 1, (int64_t[]){N});
  CHECK_INT(match_of(op(TT_SUB, product(t), arr(b)), NULL, &f), -1);
  b = input(TT_F64, 1, (int64_t[]){N});
  CHECK_INT(match_of(op(TT_ADD, product(t), arr(b)), NULL, &f), -1);
  CHECK_INT(match_of(op(TT_MAXIMUM, product(TT_F64), num(0)), NULL, &f), -1);
  tt_array *y = product(t); /* somebody keeps the product */
  CHECK_INT(match_of(op(TT_MAXIMUM, y, num(0)), y, &f), -1);
  b = input(t, 1, (int64_t[]){N}); /* or what is made of it on the way */
  y = op(TT_ADD, product(t), arr(b));
  CHECK_INT(match_of(op(TT_MAXIMUM, y, num(0)), y, &f), -1);
  y = product(t); /* or somebody else reads it */
  tt_array *z = op(TT_MAXIMUM, y, num(0)), *sum = NULL;
  tt_value v[1] = {arr(y)};
  CHECK_INT(tt_call("sum", v, 1, &sum, 1, NULL, &err), TT_OK);
  CHECK_INT(match_of(op(TT_ADD, z, arr(own(sum))), NULL, &f), -1);
}

int main(int argc, char **argv) {
  tt_set_eager(0); /* its arrays are small, and what is made of a product is to be seen in the plan */
  return test_main(argc, argv);
}
