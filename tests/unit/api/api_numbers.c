/*
** Single elements on their own: taken, written and computed with from several threads, against the same of arrays.
** Under ThreadSanitizer above all: what ops compute in is remembered without a lock.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <pthread.h>
#include <tutti/tutti.h>

enum { N = 64, CALLERS = 4, ROUNDS = 50 };

static tt_array *numbers(tt_dtype dtype) {
  tt_array *a = NULL, *cast = NULL;
  CHECK_INT(tt_arange(TT_I64, tt_v_int(-3), tt_v_int(1), N, &a, NULL), TT_OK);
  CHECK_INT(tt_cast(a, dtype, true, &cast, NULL), TT_OK);
  CHECK_INT(tt_eval(&cast, 1, NULL), TT_OK);
  tt_release(&a);
  return cast;
}

/* The op of arrays of rank 0, as a number. */
static bool by_arrays(tt_op op, const tt_value *arg, int n, tt_number *out) {
  tt_value v[2];
  tt_array *made = NULL, *held[2] = {NULL, NULL};
  for (int k = 0; k < n; k++) {
    v[k] = arg[k];
    if (arg[k].tag != TT_V_NUMBER) continue;
    CHECK_INT(tt_number_array(arg[k].as.number, &held[k], NULL), TT_OK);
    v[k] = tt_v_array(held[k]);
  }
  bool ok = tt_apply(op, v, n, NULL, &made, NULL) == TT_OK && tt_eval(&made, 1, NULL) == TT_OK;
  *out = (tt_number){.bits = {0, 0}};
  if (ok) out->dtype = tt_array_dtype(made);
  if (ok) CHECK_INT(tt_read(made, out->bits, sizeof out->bits, NULL), TT_OK);
  tt_release(&made);
  for (int k = 0; k < n; k++) tt_release(&held[k]);
  return ok;
}

static int compare(tt_op op, const tt_value *arg, int n) {
  tt_number got, want;
  if (!tt_number_apply(op, arg, n, &got)) return 0;
  CHECK(by_arrays(op, arg, n, &want));
  CHECK_INT(got.dtype, want.dtype);
  CHECK_INT(memcmp(got.bits, want.bits, sizeof got.bits), 0);
  return 1;
}

TEST(ops_of_numbers_are_those_of_arrays) {
  static const tt_op ops[] = {TT_ADD, TT_SUB, TT_MUL, TT_DIV, TT_FLOORDIV, TT_MOD,     TT_POW,   TT_AND,
                              TT_OR,  TT_SHL, TT_LT,  TT_EQ,  TT_GE,       TT_MAXIMUM, TT_HYPOT, TT_WHERE};
  int done = 0;
  for (int l = 0; l < TT_DTYPE_COUNT; l++) {
    tt_array *a = numbers((tt_dtype)l);
    for (int r = 0; r < TT_DTYPE_COUNT; r++) {
      tt_array *b = numbers((tt_dtype)r);
      for (int64_t k = 0; k < 8; k++) {
        tt_number x, y;
        int64_t other = 7 - k;
        CHECK(tt_number_get(a, 1, &k, &x) && tt_number_get(b, 1, &other, &y));
        const tt_value both[] = {tt_v_number(&x), tt_v_number(&y)};
        const tt_value whole[] = {tt_v_number(&x), tt_v_int(k - 3)}, real[] = {tt_v_float(1.5), tt_v_number(&x)};
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
          done += compare(ops[o], both, 2) + compare(ops[o], whole, 2) + compare(ops[o], real, 2);
        done += compare(TT_NEG, both, 1) + compare(TT_ABS, both, 1) + compare(TT_SQRT, both, 1);
      }
      tt_release(&b);
    }
    tt_release(&a);
  }
  CHECK(done > 10000);
}

TEST(elements_that_are_not_there_are_declined) {
  tt_array *a = numbers(TT_I8), *pending = NULL, *view = NULL;
  tt_number x, nothing = {.dtype = TT_I8};
  int64_t at[2] = {N - 1, 0}, below = -N, far = N, past = -N - 1;
  CHECK(tt_number_get(a, 1, at, &x) && tt_number_value(&x).as.i == N - 4);
  CHECK(tt_number_get(a, 1, &below, &x) && tt_number_value(&x).as.i == -3);
  CHECK(!tt_number_get(a, 1, &far, &x) && !tt_number_get(a, 1, &past, &x));
  CHECK(!tt_number_get(a, 2, at, &x) && !tt_number_get(a, 0, at, &x) && !tt_number_get(NULL, 1, at, &x));
  tt_value v[2] = {tt_v_array(a), tt_v_int(1)}, big = tt_v_int(200), one = tt_v_int(1), real = tt_v_float(2.9);
  tt_set_eager(0);
  CHECK_INT(tt_apply(TT_ADD, v, 2, NULL, &pending, NULL), TT_OK);
  tt_set_eager(-1);
  CHECK(!tt_number_get(pending, 1, at, &x));
  CHECK(!tt_number_set(a, 1, at, &big) && !tt_number_set(a, 1, &far, &one) && !tt_number_set(a, 1, at, v));
  CHECK(tt_number_get(a, 1, at, &x) && tt_number_value(&x).as.i == N - 4); /* nothing has been written */
  tt_release(&pending);
  CHECK(tt_number_set(a, 1, at, &real) && tt_number_get(a, 1, at, &x) && tt_number_value(&x).as.i == 2);
  CHECK_INT(tt_broadcast_to(a, 2, (int64_t[]){2, N}, &view, NULL), TT_OK);
  CHECK(!tt_number_set(view, 2, (int64_t[]){0, 0}, &one));
  tt_release(&view);
  CHECK_INT(tt_number_array(&nothing, &view, NULL), TT_OK);
  CHECK(tt_array_is_readonly(view) && tt_array_rank(view) == 0);
  CHECK_INT(tt_set(view, (tt_value){.tag = TT_V_ELLIPSIS}, one, NULL), TT_EVALUE);
  tt_release(&view);
  nothing.dtype = TT_DTYPE_COUNT;
  CHECK_INT(tt_number_array(&nothing, &view, NULL), TT_ETYPE);
  tt_release(&a);
}

static void *sum_up(void *ctx) {
  tt_array *a = ctx;
  for (int round = 0; round < ROUNDS; round++) {
    tt_number sum = {.dtype = TT_F64};
    for (int64_t k = 0; k < N; k++) {
      tt_number x, next;
      CHECK(tt_number_get(a, 1, &k, &x));
      tt_value v[2] = {tt_v_number(&sum), tt_v_number(&x)};
      CHECK(tt_number_apply(TT_ADD, v, 2, &next));
      sum = next;
      tt_value same = tt_v_number(&x);
      CHECK(tt_number_set(a, 1, &k, &same));
    }
    CHECK(tt_number_value(&sum).as.f == N * (N - 1) / 2 - 3 * N);
  }
  return NULL;
}

TEST(threads_share_elements) {
  tt_array *a = numbers(TT_F32);
  pthread_t thread[CALLERS];
  for (int k = 0; k < CALLERS; k++) pthread_create(&thread[k], NULL, sum_up, a);
  for (int k = 0; k < CALLERS; k++) pthread_join(thread[k], NULL);
  tt_release(&a);
}

TEST_MAIN()
