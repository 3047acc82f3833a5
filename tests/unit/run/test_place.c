/* The figures behind placement: what launches of kernels were seen to take, and moves of so many bytes. */
#include <math.h>

#include "ir/machine.h"
#include "run/unit.h"
#include "sched/cost.h"
#include "test.h"

static void code_of_it(const tt_kargs *args, const tt_krange *range) { (void)args, (void)range; }

static bool near(double got, double want) { return fabs(got - want) <= 1e-3 * fabs(want); }

TEST(launches_of_one_size_say_nothing_of_another) {
  tt_unit u = {.weight = 1};
  tt__unit_tier = 0;
  CHECK(tt__unit_ns(&u, 1000) == 0);
  for (int i = 0; i < 100; i++) tt__unit_ran(&u, NULL, 1e4, 8e3);
  tt__unit_ran(&u, NULL, 1e6, 200e3);
  CHECK(near(tt__unit_ns(&u, 1e4), 8e3));
  CHECK(near(tt__unit_ns(&u, 1e6), 200e3));
  CHECK(near(tt__unit_ns(&u, 1e8), 20e6)); /* in proportion to the nearest */
  CHECK(near(tt__unit_ns(&u, 10), 8));
  for (int i = 0; i < 1000; i++) tt__unit_ran(&u, NULL, 1e6, 0); /* nobody looked at the clock */
  CHECK(near(tt__unit_ns(&u, 1e6), 200e3));
  tt__unit_ran(&u, NULL, 0, 5e3); /* no points */
  tt__unit_ran(&u, NULL, 1e300, 1e300);
  CHECK(near(tt__unit_ns(&u, 1), 8e-1));
  CHECK(near(tt__unit_ns(&u, 1e6), 200e3));
  tt__unit_tier = 2;
}

TEST(a_disturbed_launch_counts_for_little) {
  tt_unit u = {.weight = 1};
  tt__unit_tier = 0;
  for (int i = 0; i < 49; i++) tt__unit_ran(&u, NULL, 1e6, i % 5 == 4 ? 9000e3 : 100e3);
  CHECK(tt__unit_ns(&u, 1e6) > 100e3 && tt__unit_ns(&u, 1e6) < 200e3);
  for (int i = 0; i < 50; i++) tt__unit_ran(&u, NULL, 1e6, 300e3); /* but it is slower from now on */
  CHECK(tt__unit_ns(&u, 1e6) > 290e3);
  tt__unit_tier = 2;
}

TEST(compiled_code_has_times_of_its_own) {
  tt_unit u = {.weight = 1};
  for (int i = 0; i < 10; i++) tt__unit_ran(&u, NULL, 1e4, 90e3);
  CHECK(tt__unit_improves(&u));
  tt__unit_ran(&u, code_of_it, 1e6, 50e3);
  CHECK(!tt__unit_improves(&u));
  CHECK(near(tt__unit_ns(&u, 1e4), 500)); /* what was interpreted is forgotten */
  tt_unit never = {.weight = 1};
  atomic_store(&never.queued, 2);
  CHECK(!tt__unit_improves(&never)); /* no compiler */
}

TEST(moves_are_not_in_proportion_to_their_bytes) {
  const double took[TT_MOVE_SIZES] = {8500, 14000, 30000, 70000, 330000, 1300000};
  for (int k = 0; k < TT_MOVE_SIZES; k++) CHECK(near(tt__move_ns(took, (double)tt__move_sizes[k]), took[k]));
  CHECK(near(tt__move_ns(took, 0), 8500));
  CHECK(near(tt__move_ns(took, 2.5 * (1 << 20)), 50000));
  CHECK(near(tt__move_ns(took, 10.0 * (double)tt__move_sizes[TT_MOVE_SIZES - 1]), 13e6));
  double before = 0;
  for (double bytes = 1; bytes < 1e10; bytes *= 1.3) {
    CHECK(tt__move_ns(took, bytes) >= before);
    before = tt__move_ns(took, bytes);
  }
}

TEST(float64_costs_what_the_device_says) {
  const tt_step_work narrow = {.weight = 100, .points = 1e9}, large = {.weight = 100, .wide = 100, .points = 1e9};
  tt_machine_device fast = {.double_ratio = 2}, slow, unknown;
  fast.rates = (tt_device_rates){.bytes_per_ns = 500, .ns_per_op = 3e-4, .ns_per_flop = 1.5e-4, .launch_ns = 4000};
  slow = unknown = fast;
  slow.double_ratio = 64;
  unknown.double_ratio = 0;
  CHECK(near(tt__cost_kernel_there(&large, &fast), 2 * tt__cost_kernel_there(&narrow, &fast)));
  CHECK(near(tt__cost_kernel_there(&large, &slow), 64 * tt__cost_kernel_there(&narrow, &slow)));
  CHECK(near(tt__cost_kernel_there(&large, &unknown), tt__cost_kernel_there(&narrow, &unknown)));
  CHECK(near(tt__cost_kernel_there(&narrow, &slow), tt__cost_kernel_there(&narrow, &fast)));

  static const tt_lib_cost product = {.host_share = 1, .device_share = 1};
  static const tt_lib_cost sort = {.host_share = 1, .device_share = 1, .no_arithmetic = true};
  tt_lib_row row = {.name = "product", .cost = &product}, sorts = {.name = "sort", .cost = &sort};
  tt_cost_call f32 = {.row = &row, .dtype = TT_F32, .bytes = 1, .work = {.flops = 1e13}}, f64 = f32, keys = f32;
  f64.dtype = keys.dtype = TT_F64;
  keys.row = &sorts;
  double one = tt__cost_call_there(&f32, &slow);
  CHECK(near(tt__cost_call_there(&f64, &slow), 32 * one)); /* shares hold for a ratio of 2 */
  CHECK(near(tt__cost_call_there(&f64, &fast), tt__cost_call_there(&f32, &fast)));
  CHECK(near(tt__cost_call_there(&keys, &slow), one));
}

int main(int argc, char **argv) { return test_main(argc, argv); }
