/*
** Where and how the steps of a plan run, on machines that are made up: no device is asked.
*/
#define TEST_KEEPS_MEMORY
#include "sched/place.h"

#include <string.h>

#include "base/mem.h"
#include "graph/build.h"
#include "graph/session.h"
#include "ir/library.h"
#include "run/realize.h"
#include "sched/cost.h"
#include "test.h"
#include "tutti/tutti.h"

enum { MOST_VALUES = 64, MOST_STEPS = 8, GPU = 0 };

static tt_error err;
static tt_residence value[MOST_VALUES];
static tt_step_facts facts[MOST_STEPS];
static tt_machine machine;
static tt_situation s;
static tt_decisions decided;
static tt_array *owned[40];
static int nowned;

static tt_array *own(tt_array *a) {
  CHECK(a != NULL);
  return owned[nowned++] = a;
}

static tt_array *add(tt_array *a, tt_array *b) {
  tt_value v[2] = {tt_v_array(a), b ? tt_v_array(b) : tt_v_int(1)};
  tt_array *out = NULL;
  CHECK_INT(tt_apply(TT_ADD, v, 2, NULL, &out, &err), TT_OK);
  return own(out);
}

/* An evaluated array of float32. */
static tt_array *input(int rank, int64_t rows, int64_t cols) {
  tt_array *a = NULL;
  CHECK_INT(tt_full(TT_F32, rank, (int64_t[]){rows, cols}, tt_v_int(1), &a, &err), TT_OK);
  tt_array *b = add(own(a), NULL);
  CHECK_INT(tt_eval(&b, 1, &err), TT_OK);
  return b;
}

static tt_array *product(tt_array *a, tt_array *b) {
  tt_array *y = NULL;
  CHECK_INT(tt_matmul(a, b, &y, &err), TT_OK);
  return own(y);
}

static tt_array *total(tt_array *a) {
  tt_value v[1] = {tt_v_array(a)};
  tt_array *y = NULL;
  CHECK_INT(tt_call("sum", v, 1, &y, 1, NULL, &err), TT_OK);
  return own(y);
}

/* A device of 10 times the host's rates, behind a link of 10 bytes a nanosecond. */
static void make_machine(double room) {
  machine = (tt_machine){.host = {.bytes_per_ns = 10, .ns_per_op = 0.1, .ns_per_flop = 0.02, .launch_ns = 5000},
                         .threads = 2,
                         .host_room = 1e12,
                         .ndevice = 1};
  tt_machine_device *d = &machine.device[GPU];
  *d = (tt_machine_device){.id = tt__device_id(TT_DEVICE_CUDA, 0), .room = room};
  d->rates = (tt_device_rates){
      .bytes_per_ns = 100, .ns_per_op = 0.001, .ns_per_flop = 1e-4, .launch_ns = 4000, .both_bytes_per_ns = 20};
  for (int i = 0; i < TT_MOVE_SIZES; i++)
    d->rates.up_ns[i] = d->rates.down_ns[i] = 10000 + (double)tt__move_sizes[i] / 10;
}

/* The plan of `target`; all that is computed lies on the host. The session lock is held until end_with. */
static void begin_with(tt_array *target, double room) {
  const tt_plan *plan;
  const tt_walk *walk;
  bool found;
  make_machine(room);
  tt__session_lock();
  tt_node *n = tt__array_node(target, &err);
  CHECK_INT(tt__realize_plan(&n, 1, &plan, &walk, &found, &err), TT_OK);
  tt__node_release(n);
  CHECK(walk->n <= MOST_VALUES && plan->n <= MOST_STEPS);
  s = (tt_situation){.machine = &machine, .walk = walk, .plan = plan, .value = value, .facts = facts, .fuse = true};
  for (int i = 0; i < walk->n; i++) {
    const tt_node *v = walk->node[i];
    value[i] = (tt_residence){.bytes = (double)v->size * (double)tt__dtype_size((tt_dtype)v->dtype)};
    if (v->op == TT_N_BUFFER) value[i].on = tt__where_bit(TT_HOST);
  }
  for (int i = 0; i < plan->n; i++) facts[i] = (tt_step_facts){.share = 1};
}

static void end_with(void) {
  tt__arena_free(&decided.arena);
  decided = (tt_decisions){0};
  tt__session_unlock();
  while (nowned) tt_release(&owned[--nowned]);
}

static const tt_decision *place(void) {
  CHECK_INT(tt__place_steps(&s, GPU, 0, &decided, &err), TT_OK);
  return decided.step;
}

/* The same from where the values lay before. */
static const tt_decision *place_anew(void) {
  for (int i = 0; i < s.walk->n; i++) value[i].on = s.walk->node[i]->op == TT_N_BUFFER ? tt__where_bit(TT_HOST) : 0;
  return place();
}

static void put_all_there(void) {
  for (int i = 0; i < s.walk->n; i++)
    if (value[i].on) value[i].on |= tt__where_bit(GPU);
}

static int32_t result_of(int step) { return s.plan->step[step].root[0].node; }

enum { MANY = 4 << 20 }; /* elements: 16 MB */

TEST(what_moves_and_is_looked_at_comes_in_pieces) {
  tt_array *a = input(1, MANY, 0);
  begin_with(add(a, NULL), 1e12);
  CHECK_INT(place()->way, TT_WAY_WHOLE); /* nobody looks: moving and working at once saves nothing */
  s.looked_at = true;
  const tt_decision *d = place_anew();
  CHECK_INT(d->way, TT_WAY_STREAM_KERNEL);
  CHECK(!d->cut.kernel->windows && d->cut.kernel->down);
  CHECK_INT(d->cut.kernel->up_bytes, 4 * MANY);
  CHECK_INT(value[result_of(0)].on, tt__where_bit(TT_HOST) | tt__where_bit(GPU));
  CHECK(d->cut.kernel->ns < d->cut.kernel->up_ns + d->cut.kernel->work_ns + d->cut.kernel->down_ns);
  end_with();
}

TEST(what_lies_there_runs_whole) {
  tt_array *a = input(1, MANY, 0);
  begin_with(add(a, NULL), 1e12);
  put_all_there();
  CHECK_INT(place()->way, TT_WAY_WHOLE);
  CHECK_INT(place()->where, GPU);
  CHECK_INT(value[result_of(0)].on, tt__where_bit(GPU));
  end_with();
}

TEST(what_has_no_room_runs_in_windows) {
  tt_array *a = input(1, MANY, 0);
  begin_with(add(a, NULL), 8e6);
  const tt_decision *d = place();
  CHECK_INT(d->way, TT_WAY_STREAM_KERNEL);
  CHECK(d->cut.kernel->windows);
  CHECK_INT(value[result_of(0)].on, tt__where_bit(TT_HOST));
  facts[0].not_so = TT_NOT_STREAMED | TT_NOT_WINDOWED; /* and if that is found not to go: whole, then the host */
  CHECK_INT(place_anew()->way, TT_WAY_WHOLE);
  CHECK(!decided.step[0].falls_back);
  facts[0].not_so |= TT_NOT_WHOLE | TT_NO_ROOM;
  CHECK(place_anew()->falls_back);
  CHECK_INT(decided.step[0].where, TT_HOST);
  end_with();
}

TEST(room_that_is_found_missing_leads_to_windows) {
  tt_array *a = input(1, MANY, 0);
  begin_with(add(a, NULL), 1e12);
  put_all_there();
  CHECK_INT(place()->way, TT_WAY_WHOLE);
  facts[0].not_so = TT_NOT_WHOLE | TT_NO_ROOM;
  machine.device[GPU].room = 1e8; /* as the device says by then */
  CHECK_INT(place_anew()->way, TT_WAY_STREAM_KERNEL);
  CHECK(decided.step[0].cut.kernel->windows);
  machine.host_room = 1e6;
  value[result_of(0)].on = 0;
  CHECK(!tt__place_fits_host(&s, 0)); /* nor has the host room for the result */
  end_with();
}

TEST(a_sum_without_room_is_cut_along_its_row) {
  tt_array *a = input(1, MANY, 0);
  begin_with(total(a), 6e6);
  const tt_decision *d = place();
  CHECK_INT(d->way, TT_WAY_STREAM_KERNEL);
  CHECK(d->cut.kernel->windows && d->cut.kernel->parts.folds);
  end_with();
}

TEST(a_product_without_room_is_cut_in_tiles_and_the_step_behind_it_comes_up) {
  tt_array *a = input(2, 1024, 1024), *b = input(2, 1024, 1024);
  begin_with(total(product(a, b)), 4e6);
  CHECK_INT(s.plan->n, 2);
  const tt_decision *d = place();
  CHECK_INT(d[0].way, TT_WAY_STREAM_LIBRARY);
  CHECK(tt__tiles_turns(d[0].cut.tiles) > 1);
  CHECK_INT(value[result_of(0)].on & tt__where_bit(TT_HOST), tt__where_bit(TT_HOST));
  int64_t turns = tt__tiles_turns(d[0].cut.tiles);
  facts[0].share = 0.5F; /* less room than it says */
  CHECK(tt__tiles_turns(place_anew()[0].cut.tiles) > turns);
  facts[0].not_so = TT_NOT_STREAMED | TT_NOT_WHOLE;
  CHECK(place_anew()[0].falls_back);
  CHECK_INT(decided.step[1].where, GPU);
  end_with();
}

TEST(a_library_does_what_follows_until_it_declines) {
  tt_array *a = input(2, 64, 64), *b = input(2, 64, 64), *bias = input(1, 64, 0);
  tt_array *z = add(product(a, b), bias);
  for (int i = 0; i < nowned; i++)
    if (owned[i] != z) tt_release(&owned[i]);
  nowned = 1;
  owned[0] = z;
  begin_with(z, 1e12);
  const tt_decision *d = place();
  CHECK_INT(d[0].way, TT_WAY_EPILOGUE);
  CHECK_INT(d[0].match.step, 1);
  CHECK_INT(d[1].way, TT_WAY_DONE);
  CHECK_INT(value[result_of(1)].on, tt__where_bit(GPU));
  facts[0].not_so = TT_NOT_FOLLOWED;
  d = place_anew();
  CHECK_INT(d[0].way, TT_WAY_WHOLE);
  CHECK_INT(d[1].way, TT_WAY_WHOLE);
  machine.device[GPU].is_simulated = true; /* it has no libraries */
  d = place_anew();
  CHECK(d[0].falls_back && d[0].where == TT_HOST && d[1].where == GPU);
  tt_str text = {0};
  for (int i = 0; i < s.plan->n; i++) tt__decision_print(&decided.step[i], &text);
  char want[128];
  int32_t sum = s.plan->step[1].operand[0].node, term = s.plan->step[1].operand[1].node;
  snprintf(want, sizeof want, "  place host fallback\n  move n%d host to device 0\n  move n%d host to device 0\n%s",
           sum, term, "  place device 0 whole\n");
  CHECK_STR(text.data, want);
  tt__str_free(&text);
  end_with();
}

TEST(work_moves_when_it_pays) {
  tt_array *x = input(1, MANY, 0);
  for (int i = 0; i < 20; i++) {
    tt_value v[1] = {tt_v_array(x)};
    CHECK_INT(tt_apply(TT_SIN, v, 1, NULL, &x, &err), TT_OK);
    own(x);
  }
  begin_with(x, 1e12);
  tt_prices p;
  double host_ns = tt__place_host_ns(&s);
  CHECK_INT(tt__place_prices(&s, GPU, host_ns, &decided, &p, &err), TT_OK);
  CHECK(tt__place_pays(&p)); /* much work for each byte */
  machine.device[GPU].rates.ns_per_op = 10;
  place_anew();
  CHECK_INT(tt__place_prices(&s, GPU, host_ns, &decided, &p, &err), TT_OK);
  CHECK(!tt__place_pays(&p)); /* a slow device */
  end_with();
}

TEST(what_is_owed_pays_for_a_move) {
  tt_array *a = input(1, MANY, 0);
  begin_with(add(a, NULL), 1e12);
  for (int i = 0; i < TT_MOVE_SIZES; i++) machine.device[GPU].rates.up_ns[i] *= 5;
  tt_prices p;
  double host_ns = tt__place_host_ns(&s);
  CHECK_INT(tt__place_prices(&s, GPU, host_ns, &decided, &p, &err), TT_OK);
  CHECK(!tt__place_pays(&p)); /* one addition is not worth moving 16 MB */
  for (int i = 0; i < s.walk->n; i++) value[i] = (tt_residence){.bytes = value[i].bytes, .owed_ns = 1e9F};
  for (int i = 0; i < s.walk->n; i++)
    if (s.walk->node[i]->op == TT_N_BUFFER) value[i].on = tt__where_bit(TT_HOST);
  CHECK_INT(tt__place_prices(&s, GPU, host_ns, &decided, &p, &err), TT_OK);
  CHECK(p.lent_ns > 0 && tt__place_pays(&p));
  end_with();
}

TEST(what_a_device_has_no_type_for_is_the_hosts) {
  tt_array *a = input(1, MANY, 0);
  begin_with(add(a, NULL), 1e12);
  put_all_there();
  machine.device[GPU].lacks = 1u << TT_F64;
  CHECK(!place()->falls_back && decided.step[0].where == GPU);
  double there = tt__cost_there(&s, 0, GPU);
  machine.device[GPU].lacks |= 1u << TT_F32;
  const tt_decision *d = place_anew();
  CHECK(d->falls_back && d->where == TT_HOST);
  CHECK_INT(value[result_of(0)].on, tt__where_bit(TT_HOST));
  CHECK(tt__cost_there(&s, 0, GPU) > tt__cost_here(&s, 0) && tt__cost_here(&s, 0) > there); /* and there and back */
  end_with();
}

TEST(what_lies_elsewhere_moves_before_its_step) {
  tt_array *a = input(2, 64, 64), *b = input(2, 64, 64);
  begin_with(total(product(a, b)), 1e12);
  int32_t left = s.plan->step[0].src[0].node, right = s.plan->step[0].src[1].node;
  value[right].on |= tt__where_bit(GPU);
  const tt_decision *d = place();
  CHECK_INT(d[0].nmove, 1);
  CHECK(d[0].move[0].node == left && d[0].move[0].from == TT_HOST && d[0].move[0].to == GPU);
  CHECK_INT(d[1].nmove, 0); /* the step before has left it there */
  CHECK_INT(value[left].on, tt__where_bit(TT_HOST) | tt__where_bit(GPU));
  facts[0].not_so = TT_NOT_WHOLE;
  d = place_anew(); /* the host does the product, and its result comes up */
  CHECK(d[0].nmove == 0 && d[1].nmove == 1 && d[1].move[0].node == result_of(0) && d[1].move[0].to == GPU);
  end_with();
}

TEST(steps_are_scattered_over_all_places) {
  tt_array *x = input(1, 640, 0);
  for (int i = 0; i < 6; i++) x = total(add(x, x));
  begin_with(x, 1e12);
  machine.device[1] = machine.device[GPU];
  machine.ndevice = 2;
  int seen[3] = {0}, moves = 0;
  for (s.scatter = 1; s.scatter < 60; s.scatter++) {
    const tt_decision *d = place_anew();
    for (int i = 0; i < s.plan->n; i++) {
      seen[d[i].where + 1]++;
      moves += d[i].nmove;
    }
  }
  CHECK(seen[0] > 10 && seen[1] > 10 && seen[2] > 10 && moves > 20);
  end_with();
}

int main(int argc, char **argv) {
  tt_set_eager(0); /* its arrays are small, and their work is to be placed */
  return test_main(argc, argv);
}
