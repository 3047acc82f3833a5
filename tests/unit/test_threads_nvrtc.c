/*
** Thread kernels in CUDA's words compile, for every chip that matters, with no header in sight. An argument is the
*first
** seed, a second one the number of kernels, a third one a file for the machine code of the last.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "kernel_random.h"
#include "nvrtc.h"
#include "threads_emulate.h"

static uint64_t first = 1, count = 24;

static void put_kernel(uint64_t seed, int way, tt_str *source) {
  maker m = {.seed = seed};
  tt_str text = {0};
  tt_kernel *k = make_kernel(&m, &text);
  int64_t len[REF_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
  make_lengths(&m, len);
  ref_launch *l = ref_launch_new(k, len, seed);
  tt_lowered low = emu_lowered(k, l);
  size_t align[REF_ACCESS];
  tt_target t = emu_target(way);
  tt_cut cut;
  tt_error err = {0};
  emu_align(l, align);
  CHECK_INT(tt__threads_cut(k, &low, &t, align, l->buf_len, &cut, &err), TT_OK);
  for (int p = 0; p < cut.npass; p++) {
    char name[40];
    snprintf(name, sizeof name, "k%llu_%d", (unsigned long long)seed, p);
    CHECK_INT(tt__threads_render(k, &tt__dialect_cuda, &cut.pass[p].variant, name, source, &err), TT_OK);
  }
  ref_launch_free(l);
  tt__kernel_free(k);
  tt__str_free(&text);
}

TEST(random_kernels_compile_for_cuda) {
  static const int arch[] = {80, 90, 100};
  nvrtc_api api;
  if (!nvrtc_find(&api)) {
    printf("skipped: NVRTC is not on this machine\n");
    return;
  }
  int n = 0, list[64] = {0};
  if (api.archs(&n) == 0 && n <= 64) api.arch_list(list);
  for (int a = 0; a < 3; a++) {
    bool known = false;
    for (int i = 0; i < n; i++) known |= list[i] == arch[a];
    if (!known) continue;
    for (uint64_t seed = first; seed < first + count; seed += 8) {
      tt_str source = {0};
      double ms;
      tt__render_header(&tt__dialect_cuda, true, &source);
      for (uint64_t i = 0; i < 8; i++) put_kernel(seed + i, (int)(i % 3), &source);
      bool ok = nvrtc_compile(&api, source.data, arch[a], &ms, NULL);
      CHECK(ok);
      if (getenv("SHOW")) printf("sm_%d, kernels %d: %.0f ms\n", arch[a], (int)seed, ms);
      tt__str_free(&source);
      if (!ok) return;
    }
  }
}

int main(int argc, char **argv) {
  if (argc > 1) first = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  return test_main(1, argv);
}
