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

/* ---- the rule of memory: texts that a plan must not have, beside the ones that it may */

/* n0 and n1 are there before; n2 = n0 + n1 by step 0, n3 the store of n0 into n2 by step 1, which outlives the plan. */
static const char good_plan[] =
    "plan steps=2 nodes=4\n"
    "value n0: memory=0 version=0 from=-1 until=1\n"
    "value n1: memory=1 version=0 from=-1 until=0\n"
    "value n2: memory=2 version=0 from=0 until=1\n"
    "value n3: memory=2 version=1 from=1 until=2\n"
    "step 0: kernel outer=1 space=8\n"
    "  operand 0: n0 read\n"
    "  operand 1: n1 read\n"
    "  operand 2: n2 write\n"
    "  access 0: int64 operand=0 read off=0 step=1\n"
    "  access 1: int64 operand=1 read off=0 step=1\n"
    "  access 2: int64 operand=2 write off=0 step=1\n"
    "  %0 = load int64 ref=0\n"
    "  %1 = load int64 ref=1\n"
    "  %2 = add int64 ref=-1 %0 %1\n"
    "  %3 = store int64 ref=2 %2\n"
    "  root 0: n2 operand=2 base=-1 in_place=0 donor=1\n"
    "step 1: kernel outer=1 space=4\n"
    "  operand 0: n0 read\n"
    "  operand 1: n2 read\n"
    "  operand 2: n3 write\n"
    "  access 0: int64 operand=0 read off=4 step=1\n"
    "  access 1: int64 operand=1 read off=0 step=2\n"
    "  access 2: int64 operand=2 write off=0 step=2\n"
    "  %0 = load int64 ref=0\n"
    "  %1 = load int64 ref=1\n"
    "  %2 = add int64 ref=-1 %0 %1\n"
    "  %3 = store int64 ref=2 %2\n"
    "  root 0: n3 operand=2 base=2 in_place=1 donor=-1\n";

/* The text with the `which`-th `old` (from 0) replaced. */
static char *with(const char *text, const char *old, int which, const char *new) {
  static char out[4096];
  const char *at = strstr(text, old);
  while (at && which-- > 0) at = strstr(at + 1, old);
  CHECK(at != NULL);
  if (!at) return out;
  snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  return out;
}

static void refuses(const char *text, const char *says) {
  tt_plan *plan;
  tt_error err = {0};
  CHECK_INT(tt__plan_parse(text, &plan, &err), TT_EVALUE);
  if (!strstr(err.message, says)) CHECK_STR(err.message, says);
  tt__plan_free(plan);
}

TEST(what_is_read_is_there) {
  tt_plan *plan;
  CHECK_INT(tt__plan_parse(good_plan, &plan, NULL), TT_OK);
  CHECK_INT(plan->step[0].nend, 1);
  CHECK(tt__step_ends(&plan->step[0], 1) && !tt__step_ends(&plan->step[0], 0) && tt__step_ends(&plan->step[1], 0));
  CHECK_INT(tt__plan_value(plan, 3)->version, 1);
  CHECK(tt__plan_value(plan, 4) == NULL);
  tt__plan_free(plan);
  /* What step 1 computes from goes back after step 0, which stored the same. */
  refuses(with(good_plan, "from=-1 until=1", 0, "from=-1 until=0"), "read after its end");
  char text[4096];
  snprintf(text, sizeof text, "%s", with(good_plan, "donor=1", 0, "donor=-1"));
  refuses(with(text, "from=-1 until=0", 0, "from=-1 until=1"), "kept longer");
  refuses(with(good_plan, "value n1: memory=1 version=0 from=-1 until=0\n", 0, ""), "not listed");
  refuses(with(good_plan, "operand 1: n1 read", 0, "operand 1: n2 read"), "read before it is written");
  refuses(with(good_plan, "n1: memory=1", 0, "n1: memory=-1"), "what has no memory");
  refuses(with(good_plan, "from=0 until=1", 0, "from=-1 until=1"), "not listed as written here");
  refuses(with(good_plan, "n1: memory=1", 0, "n1: memory=0"), "nobody wrote");
}

TEST(what_is_written_over_is_read_no_more) {
  char text[4096];
  snprintf(text, sizeof text, "%s", with(good_plan, "from=0 until=1", 0, "from=0 until=2"));
  refuses(text, "written over that is read later");
  /* With memory of its own it may: the old version outlives the plan, and a copy is written. */
  snprintf(text, sizeof text, "%s", with(text, "n3: memory=2 version=1", 0, "n3: memory=3 version=0"));
  refuses(text, "written over that is read later");
  tt_plan *plan;
  CHECK_INT(tt__plan_parse(with(text, "base=2 in_place=1", 0, "base=2 in_place=0"), &plan, NULL), TT_OK);
  tt__plan_free(plan);
  refuses(with(good_plan, "in_place=1", 0, "in_place=0"), "without memory of its own");
  refuses(with(good_plan, "n3: memory=2 version=1", 0, "n3: memory=2 version=2"), "not the next version");
  refuses(with(good_plan, "base=2", 0, "base=-1"), "in place of nothing");
  /* It reads neighbours that it writes; what lies between those it may read. */
  refuses(with(good_plan, "operand=1 read off=0 step=2", 0, "operand=1 read off=2 step=2"), "reads elsewhere");
  CHECK_INT(
      tt__plan_parse(with(good_plan, "operand=1 read off=0 step=2", 0, "operand=1 read off=1 step=2"), &plan, NULL),
      TT_OK);
  tt__plan_free(plan);
  refuses(with(good_plan, "operand=1 read off=0 step=1", 0, "operand=1 read off=7 step=-1"),
          "the memory that it takes");
  refuses(with(good_plan, "donor=1", 0, "donor=0"), "taken of what is read later");
  refuses(with(good_plan, "donor=1", 0, "donor=2"), "taken of what is read later");
}

/* n2 = -n0 and n3 = -n1 by one launch; n2 takes the memory of n0. */
static const char joint_plan[] =
    "plan steps=2 nodes=4\n"
    "value n0: memory=0 version=0 from=-1 until=0\n"
    "value n1: memory=1 version=0 from=-1 until=1\n"
    "value n2: memory=2 version=0 from=0 until=2\n"
    "value n3: memory=3 version=0 from=1 until=2\n"
    "step 0: kernel many=2 outer=1 space=8\n"
    "  operand 0: n0 read\n"
    "  operand 1: n2 write\n"
    "  access 0: int64 operand=0 read off=0 step=1\n"
    "  access 1: int64 operand=1 write off=0 step=1\n"
    "  %0 = load int64 ref=0\n"
    "  %1 = neg int64 ref=-1 %0\n"
    "  %2 = store int64 ref=1 %1\n"
    "  root 0: n2 operand=1 base=-1 in_place=0 donor=0\n"
    "step 1: kernel outer=1 space=4\n"
    "  operand 0: n1 read\n"
    "  operand 1: n3 write\n"
    "  access 0: int64 operand=0 read off=0 step=1\n"
    "  access 1: int64 operand=1 write off=0 step=1\n"
    "  %0 = load int64 ref=0\n"
    "  %1 = neg int64 ref=-1 %0\n"
    "  %2 = store int64 ref=1 %1\n"
    "  root 0: n3 operand=1 base=-1 in_place=0 donor=-1\n";

TEST(steps_of_one_launch_may_run_at_once) {
  tt_plan *plan;
  tt_str again = {0};
  char text[4096];
  CHECK_INT(tt__plan_parse(joint_plan, &plan, NULL), TT_OK);
  CHECK_INT(plan->step[0].many, 2);
  tt__plan_print(plan, &again);
  CHECK_STR(again.data, joint_plan);
  tt__str_free(&again);
  tt__plan_free(plan);
  refuses(with(joint_plan, "many=2", 0, "many=1"), "bad number of steps");
  refuses(with(joint_plan, "step 1: kernel outer", 0, "step 1: kernel many=2 outer"), "a launch of different steps");
  refuses(with(joint_plan, "neg int64", 1, "abs int64"), "a launch of different steps");
  /* Step 1 needs what step 0 writes. */
  snprintf(text, sizeof text, "%s", with(joint_plan, "value n1: memory=1 version=0 from=-1 until=1\n", 0, ""));
  refuses(with(text, "n1 read", 0, "n2 read"), "needs what another of its launch writes");
  /* n0 is read by both, and the second takes its memory. */
  snprintf(text, sizeof text, "%s", with(joint_plan, "from=-1 until=0", 0, "from=-1 until=1"));
  snprintf(text, sizeof text, "%s", with(text, "value n1: memory=1 version=0 from=-1 until=1\n", 0, ""));
  snprintf(text, sizeof text, "%s", with(text, "n1 read", 0, "n0 read"));
  snprintf(text, sizeof text, "%s", with(text, "donor=0", 0, "donor=-1"));
  CHECK_INT(tt__plan_parse(text, &plan, NULL), TT_OK);
  tt__plan_free(plan);
  refuses(with(text, "donor=-1", 1, "donor=0"), "needs what another of its launch writes over");
}

TEST_MAIN()
