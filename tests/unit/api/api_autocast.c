/* Mixed precision from C: what is cast and what is held for how long; each name of the list is a function's. */
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <pthread.h>
#include <tutti/autocast.h>
#include <tutti/grad.h>
#include <tutti/tutti.h>

#include "base/fault.h"
#include "fn/function.h"

static tt_array *ones(tt_dtype dtype) {
  tt_array *a = NULL;
  int64_t len[2] = {40, 40};
  CHECK_INT(tt_full(dtype, 2, len, tt_v_float(1), &a, NULL), TT_OK);
  return a;
}

static void turn(tt_dtype low) { CHECK_INT(tt_autocast_set((tt_autocast){low, true}, NULL, NULL), TT_OK); }

TEST(names_are_functions) {
  static const char *const name[] = {
#define TT_AUTOCAST(rule, name) name,
#define TT_AUTOCAST_OP(op)
#include "fn/autocast.def"
#undef TT_AUTOCAST
#undef TT_AUTOCAST_OP
  };
  for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
    if (!tt__function_named(name[k])) fprintf(stderr, "%s\n", name[k]);
    CHECK(tt__function_named(name[k]));
  }
}

static void *look(void *seen) {
  *(tt_dtype *)seen = tt_autocast_get().low;
  return NULL;
}

TEST(it_holds_on_one_thread) {
  tt_autocast before;
  tt_dtype seen = TT_F16;
  pthread_t other;
  CHECK_INT(tt_autocast_set((tt_autocast){TT_BF16, false}, &before, NULL), TT_OK);
  CHECK(before.low == TT_DTYPE_NONE && before.caches);
  CHECK(tt_autocast_get().low == TT_BF16 && !tt_autocast_get().caches);
  CHECK_INT(pthread_create(&other, NULL, look, &seen), 0);
  pthread_join(other, NULL);
  CHECK(seen == TT_DTYPE_NONE);
  CHECK_INT(tt_autocast_set(before, NULL, NULL), TT_OK);
  CHECK_INT(tt_autocast_set((tt_autocast){TT_F32, true}, NULL, NULL), TT_ETYPE);
}

TEST(products_and_powers) {
  tt_array *a = ones(TT_F32), *out = NULL, *power = NULL;
  turn(TT_BF16);
  CHECK_INT(tt_matmul(a, a, &out, NULL), TT_OK);
  CHECK(tt_array_dtype(out) == TT_BF16);
  tt_value v[2] = {tt_v_array(out), tt_v_float(3)};
  CHECK_INT(tt_apply(TT_POW, v, 2, NULL, &power, NULL), TT_OK);
  CHECK(tt_array_dtype(power) == TT_F32);
  turn(TT_DTYPE_NONE);
  tt_release(&a);
  tt_release(&out);
  tt_release(&power);
}

/* Products of a parameter before and after it is written, which have a cast of it each. */
static void use_parameter(void) {
  tt_array *a = ones(TT_F32), *one = NULL, *two = NULL;
  tt_value all = {.tag = TT_V_ELLIPSIS}, at[2] = {tt_v_int(0), tt_v_int(0)}, index = {.tag = TT_V_TUPLE}, x, y;
  index.as.tuple.item = at;
  index.as.tuple.n = 2;
  CHECK_INT(tt_set_requires_grad(a, 1, NULL), TT_OK);
  turn(TT_F16);
  CHECK_INT(tt_matmul(a, a, &one, NULL), TT_OK);
  int mode = tt_grad_mode(0);
  CHECK_INT(tt_set(a, all, tt_v_float(2), NULL), TT_OK);
  tt_grad_mode(mode);
  CHECK_INT(tt_matmul(a, a, &two, NULL), TT_OK);
  CHECK_INT(tt_get_item(one, index, &x, NULL), TT_OK);
  CHECK_INT(tt_get_item(two, index, &y, NULL), TT_OK);
  CHECK(x.as.f == 40 && y.as.f == 160);
  turn(TT_DTYPE_NONE);
  tt_release(&one);
  tt_release(&two);
  tt_release(&a);
}

/* They are held until casting ends, and no longer. */
TEST(casts_of_parameters) {
  use_parameter();
  int64_t live = tt__mem_stats().live_data;
  use_parameter();
  CHECK_INT(tt__mem_stats().live_data, live);
}

TEST(memory_that_runs_out) {
  tt_array *a = ones(TT_F32), *out = NULL;
  CHECK_INT(tt_set_requires_grad(a, 1, NULL), TT_OK);
  tt_value item[2] = {tt_v_array(a), tt_v_array(a)}, arrays = {.tag = TT_V_TUPLE};
  arrays.as.tuple.item = item;
  arrays.as.tuple.n = 2;
  for (int64_t n = 0;; n++) {
    turn(TT_BF16);
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code c = tt_call("linalg.multi_dot", &arrays, 1, &out, 1, NULL, NULL);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    turn(TT_DTYPE_NONE);
    if (c == TT_OK) break;
    CHECK_INT(c, TT_ENOMEM);
    CHECK(!out);
    if (n > 500) break;
  }
  CHECK(out && tt_array_dtype(out) == TT_BF16);
  tt_release(&out);
  tt_release(&a);
}

TEST_MAIN()
