/*
** Compiled code against the reference executor over kernels made up at random, batches of them in one run of
** the compiler. An argument is the first seed, a second one the number of kernels.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "device/cpu/cc.h"
#include "kernel_random.h"
#include "render/render.h"

enum { BATCH = 16 };

static bool same_everywhere(const tt_kernel *k, tt_kernel_fn fn, const int64_t *len, uint64_t seed) {
  ref_launch *want = ref_launch_new(k, len, seed);
  int differs = -1;
  int64_t at = 0;
  ref_run(k, &want->a);
  for (int way = 0; differs < 0 && way < (may_split(k) ? 4 : 2); way++) {
    ref_launch *got = ref_launch_new(k, len, seed);
    ref_cover(got, fn, way & 1, way & 2);
    differs = ref_differ(want, got, &at);
    ref_launch_free(got);
  }
  ref_launch_free(want);
  CHECK_INT(differs, -1);
  if (differs >= 0)
    fprintf(stderr, "len %lld %lld %lld %lld: buffer %d element %lld\n", (long long)len[0], (long long)len[1],
            (long long)len[2], (long long)len[3], differs, (long long)at);
  return differs < 0;
}

static bool check_batch(uint64_t first, int n) {
  maker m[BATCH];
  tt_str text[BATCH] = {{0}}, source = {0};
  tt_kernel *k[BATCH];
  tt_kernel_fn fn[BATCH];
  char symbol[BATCH][16];
  const char *names[BATCH];
  tt_error err = {0};
  tt__render_header(&tt__dialect_c, TT_SCALAR_MATH, &source);
  for (int i = 0; i < n; i++) {
    m[i] = (maker){.seed = first + (uint64_t)i};
    k[i] = make_kernel(&m[i], &text[i]);
    snprintf(symbol[i], sizeof symbol[i], "k%d", i);
    names[i] = symbol[i];
    CHECK_INT(tt__render_kernel(k[i], &tt__dialect_c, symbol[i], &source, &err), TT_OK);
  }
  tt_code c = tt__cc_compile(source.data, names, n, fn, NULL, &err);
  bool ok = c == TT_OK;
  CHECK(ok);
  if (!ok) fprintf(stderr, "%s\n", err.message);
  for (int i = 0; i < n; i++) {
    int64_t len[REF_AXES] = {1};
    make_lengths(&m[i], len);
    if (ok && !same_everywhere(k[i], fn[i], len, first + (uint64_t)i)) {
      fprintf(stderr, "seed %llu\n%s", (unsigned long long)first + (unsigned long long)i, text[i].data);
      ok = false;
    }
    tt__kernel_free(k[i]);
    tt__str_free(&text[i]);
  }
  tt__str_free(&source);
  return ok;
}

static uint64_t first = 1, count = 48;

TEST(random_kernels_compiled) {
  for (uint64_t n = 0; n < count; n += BATCH)
    if (!check_batch(first + n, count - n < BATCH ? (int)(count - n) : BATCH)) break;
}

int main(int argc, char **argv) {
  setenv("TUTTI_CC_TIMEOUT", "300", 0); /* on a busy machine a compiler may take its time */
  if (argc > 1) first = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  return test_main(1, argv);
}
