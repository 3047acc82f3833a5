/*
** The interpreter against the reference executor over kernels made up at random: any op of any
** type, any mode, several phases and reductions, layouts of all kinds, launches cut into pieces. An
** argument is the first seed, a second one the number of kernels.
*/
#define TEST_KEEPS_MEMORY /* this thread's workspace */
#include "test.h"

#include "device/cpu/vm.h"
#include "kernel_random.h"

static const tt_vm_program *program;
static void run_program(const tt_kargs *args, const tt_krange *range) { tt__vm_run(program, args, range); }

static bool check_kernel(uint64_t seed) {
  maker m = {.seed = seed};
  tt_str text = {0};
  tt_vm_program *p = NULL;
  tt_kernel *k = make_kernel(&m, &text);
  int64_t len[REF_AXES] = {1}, at = 0;
  make_lengths(&m, len);
  int differs = -1;
  if (k && tt__vm_build(k, &p, NULL) == TT_OK) {
    program = p;
    ref_launch *want = ref_launch_new(k, len, seed);
    ref_run(k, &want->a);
    for (int way = 0; differs < 0 && way < (may_split(k) ? 4 : 2); way++) {
      ref_launch *got = ref_launch_new(k, len, seed);
      ref_cover(got, run_program, way & 1, way & 2);
      differs = ref_differ(want, got, &at);
      ref_launch_free(got);
    }
    ref_launch_free(want);
  }
  CHECK(p);
  CHECK_INT(differs, -1);
  if (differs >= 0)
    fprintf(stderr, "seed %llu, len %lld %lld %lld %lld: buffer %d element %lld\n%s", (unsigned long long)seed,
            (long long)len[0], (long long)len[1], (long long)len[2], (long long)len[3], differs, (long long)at,
            text.data);
  tt__vm_free(p);
  tt__kernel_free(k);
  tt__str_free(&text);
  return k && differs < 0;
}

static uint64_t first = 1, count = 400;

TEST(random_kernels) {
  for (uint64_t n = 0; n < count; n++)
    if (!check_kernel(first + n)) break;
}

int main(int argc, char **argv) {
  if (argc > 1) first = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  return test_main(1, argv);
}
