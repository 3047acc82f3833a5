/* The figures behind placement: what launches of kernels were seen to take, and moves of so many bytes. */
#include <math.h>

#include "run/calibrate.h"
#include "run/unit.h"
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

int main(int argc, char **argv) { return test_main(argc, argv); }
