/* Plans as text: what the scheduler makes reads back to the same text and the same kernels, damaged text to an
 * error. */
#define TEST_KEEPS_MEMORY /* sessions and slabs keep some */
#include "test.h"

#include <limits.h>

#include "graph/build.h"
#include "graph/session.h"
#include "kernel/lower.h"
#include "run/walk.h"
#include "sched/sched.h"
#include "tutti/tutti.h"

/* ---- plans of small programs */

static tt_array *input(tt_dtype dtype, int64_t rows, int64_t columns) {
  static const double zeros[64];
  const int64_t len[2] = {rows, columns};
  tt_array *a;
  CHECK(tt_from_data(dtype, 2, len, zeros, NULL, &a, NULL) == TT_OK);
  return a;
}

/* op(x, y); both are given back. */
static tt_array *apply(tt_op op, tt_array *x, tt_array *y) {
  const tt_value arg[2] = {tt_v_array(x), y ? tt_v_array(y) : tt_v_float(2.5)};
  tt_array *out;
  CHECK(tt_apply(op, arg, op == TT_SIN ? 1 : 2, NULL, &out, NULL) == TT_OK);
  tt_release(&x);
  tt_release(&y);
  return out;
}

static tt_array *elementwise(void) {
  return apply(TT_MUL, apply(TT_SIN, input(TT_F32, 4, 5), NULL), input(TT_F64, 1, 5));
}

static tt_array *softmax_like(void) {
  tt_array *e = apply(TT_SIN, input(TT_F64, 4, 5), NULL), *sum;
  CHECK(tt_sum(e, 1, &sum, NULL) == TT_OK);
  const int64_t len[2] = {4, 1};
  tt_array *column;
  CHECK(tt_reshape(sum, 2, len, &column, NULL) == TT_OK);
  tt_release(&sum);
  return apply(TT_DIV, e, column);
}

static tt_array *store(void) {
  tt_array *a = apply(TT_ADD, input(TT_C64, 4, 5), NULL);
  tt_value index = {.tag = TT_V_SLICE};
  index.as.slice.has_start = true;
  index.as.slice.start = 1;
  CHECK(tt_set(a, index, tt_v_float(3), NULL) == TT_OK);
  return a;
}

static tt_array *gather(void) {
  static const int64_t place[3] = {0, 2, 3}, len[1] = {3};
  tt_array *a = input(TT_F16, 4, 5), *at, *out;
  CHECK(tt_from_data(TT_I64, 1, len, place, NULL, &at, NULL) == TT_OK);
  CHECK(tt_get(a, tt_v_array(at), &out, NULL) == TT_OK);
  tt_release(&at);
  tt_release(&a);
  return apply(TT_ADD, out, NULL);
}

static tt_array *product(void) {
  tt_array *a = input(TT_F64, 4, 4), *b = input(TT_F64, 4, 4), *out, *view;
  CHECK(tt_transpose(b, NULL, &view, NULL) == TT_OK);
  CHECK(tt_matmul(a, view, &out, NULL) == TT_OK);
  tt_release(&view);
  tt_release(&a);
  tt_release(&b);
  return apply(TT_ADD, out, NULL);
}

static tt_array *nothing(void) { return apply(TT_ADD, input(TT_I32, 0, 5), NULL); }

static tt_array *(*const programs[])(void) = {elementwise, softmax_like, store, gather, product, nothing};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static tt_plan *plan_of(tt_array *a, bool fuse) {
  tt_plan *plan = NULL;
  tt_walker w = {0};
  tt_sched_options options = {.fuse = fuse};
  tt__session_lock();
  tt_node *node = tt__array_node(a, NULL);
  CHECK(node != NULL);
  CHECK(tt__walk_make(&w, &node, 1, NULL) == TT_OK);
  CHECK(tt__schedule(&w.walk, &options, &plan, NULL) == TT_OK);
  tt__walk_free(&w);
  tt__node_release(node);
  tt__session_unlock();
  return plan;
}

/* Does each kernel step lower to the same kernel? */
static bool same_kernels(const tt_plan *a, const tt_plan *b) {
  bool same = a->n == b->n;
  tt_lower_options options = {0};
  for (int i = 0; i < a->n && same; i++) {
    if (a->step[i].kind != TT_STEP_KERNEL) continue;
    tt_lowered *x = NULL, *y = NULL;
    same = tt__lower_step(&a->step[i], &options, &x, NULL) == TT_OK &&
           tt__lower_step(&b->step[i], &options, &y, NULL) == TT_OK;
    same = same && memcmp(&x->kernel->key, &y->kernel->key, sizeof x->kernel->key) == 0 && x->row == y->row;
    tt__lowered_free(x);
    tt__lowered_free(y);
  }
  return same;
}

TEST(plans_read_back) {
  for (int i = 0; i < 2 * PROGRAMS; i++) {
    tt_array *a = programs[i / 2]();
    tt_plan *plan = plan_of(a, i % 2), *again;
    tt_str text = {0}, second = {0};
    tt_error err = {0};
    tt__plan_print(plan, &text);
    CHECK(strstr(text.data, "why ") != NULL);
    CHECK_INT(tt__plan_parse(text.data, &again, &err), TT_OK);
    if (!again) {
      fprintf(stderr, "%s\n%s", err.message, text.data);
      return;
    }
    tt__plan_print(again, &second);
    CHECK_STR(second.data, text.data);
    CHECK_INT(again->nnode, plan->nnode);
    CHECK(same_kernels(plan, again));
    tt__str_free(&text);
    tt__str_free(&second);
    tt__plan_free(again);
    tt__plan_free(plan);
    tt_release(&a);
  }
}

/* Any text: an error, or a plan whose text is its own. */
static void try_text(const char *text) {
  tt_plan *plan, *again;
  tt_error err = {0};
  tt_code code = tt__plan_parse(text, &plan, &err);
  CHECK(code == TT_OK || code == TT_EVALUE);
  if (code != TT_OK) {
    CHECK(plan == NULL && strstr(err.message, "line ") != NULL);
    return;
  }
  tt_str first = {0}, second = {0};
  tt__plan_print(plan, &first);
  CHECK(tt__plan_parse(first.data, &again, NULL) == TT_OK);
  if (again) tt__plan_print(again, &second);
  CHECK_STR(second.data, first.data);
  tt__str_free(&first);
  tt__str_free(&second);
  tt__plan_free(again);
  tt__plan_free(plan);
}

TEST(damaged_text_is_an_error_or_another_plan) {
  static const char with[] = {' ', '\n', '0', '9', '-', ',', 'n', '%', '=', 'a', '\x80'};
  for (int i = 0; i < PROGRAMS; i++) {
    tt_array *a = programs[i]();
    tt_plan *plan = plan_of(a, true);
    tt_str text = {0};
    tt__plan_print(plan, &text);
    for (size_t at = 0; at < text.len; at++) {
      char kept = text.data[at];
      for (size_t k = 0; k < sizeof with; k++) {
        text.data[at] = with[k];
        try_text(text.data);
      }
      text.data[at] = '\0';
      try_text(text.data);
      text.data[at] = kept;
    }
    tt__str_free(&text);
    tt__plan_free(plan);
    tt_release(&a);
  }
}

TEST(lines_are_named) {
  static const struct {
    const char *text, *says;
  } row[] = {
      {"", "line 1: no plan"},
      {"plan steps=1 nodes=1\n", "steps are missing"},
      {"plan steps=1 nodes=1\nstep 0: empty\n", "a step without a root"},
      {"plan steps=1 nodes=1\n\n# note\nstep 0: spoon\n", "line 4: unknown kind"},
      {"plan steps=1 nodes=1\nstep 0: empty\n  operand 0: n0 read\n", "line 3: unknown line"},
      {"plan steps=1 nodes=1\n  why not\n", "line 2: a part of no step"},
      {"plan steps=1 nodes=1\nstep 0: empty\n  root 0: n1 operand=0 base=-1 in_place=0 donor=-1\n", "outside the walk"},
      {"plan steps=1 nodes=1\nstep 0: kernel outer=0 space=99999999999999999999\n", "line 2: bad space"},
      {"plan steps=0 nodes=-9223372036854775808\n", "line 1: expected"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tt_plan *plan;
    tt_error err = {0};
    CHECK_INT(tt__plan_parse(row[i].text, &plan, &err), TT_EVALUE);
    CHECK(plan == NULL);
    if (!strstr(err.message, row[i].says)) CHECK_STR(err.message, row[i].says);
  }
}

TEST_MAIN()
