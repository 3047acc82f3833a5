/*
** Thread kernels in CUDA's words compile, for every chip that matters, with no header in sight. An argument is the
** first seed, a second one the number of kernels, a third one a file for the machine code of the last.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "kernel_random.h"
#include "kernel_texts.h"
#include "nvrtc.h"
#include "render/trim.h"
#include "threads_emulate.h"

static uint64_t first = 1, count = 24;

/* All passes of a launch, as a device of kind `way` runs it. */
static void put_passes(const tt_kernel *k, ref_launch *l, int way, int number, tt_str *source) {
  tt_lowered low = emu_lowered(k, l);
  size_t align[REF_ACCESS];
  tt_target t = emu_target(way);
  tt_cut cut;
  tt_error err = {0};
  emu_align(l, align);
  CHECK_INT(tt__gpu_schedule(k, &low, &t, align, l->buf_len, &cut, &err), TT_OK);
  for (int p = 0; p < cut.npass; p++) {
    char name[40];
    snprintf(name, sizeof name, "k%d_%d", number, p);
    CHECK_INT(tt__threads_render(k, &tt__dialect_cuda, &cut.pass[p].variant, name, source, &err), TT_OK);
  }
  tt_pass pass;
  for (int far = 0; far < 2 && tt__threads_joins(k, &low, &cut, &pass); far++) { /* and by a table */
    char name[40];
    snprintf(name, sizeof name, "k%d_many%d", number, far);
    pass.variant.many = far ? 1 : 3;
    pass.variant.far = (uint8_t)far;
    CHECK_INT(tt__threads_render(k, &tt__dialect_cuda, &pass.variant, name, source, &err), TT_OK);
  }
}

static void put_random(uint64_t seed, int way, tt_str *source) {
  maker m = {.seed = seed};
  tt_str text = {0};
  tt_kernel *k = make_kernel(&m, &text);
  int64_t len[REF_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
  make_lengths(&m, len);
  ref_launch *l = ref_launch_new(k, len, seed);
  put_passes(k, l, way, (int)seed, source);
  ref_launch_free(l);
  tt__kernel_free(k);
  tt__str_free(&text);
}

/* A kernel by hand at one size; a map's operands of any step become transposes. */
static void put_text(const char *text, const int64_t *size, int number, tt_str *source) {
  tt_kernel *k = NULL;
  tt_error err = {0};
  int64_t len[REF_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
  CHECK_INT(tt__kernel_parse(text, &k, &err), TT_OK);
  if (!k) fprintf(stderr, "%s\n%s\n", err.message, text);
  if (!k) return;
  for (int x = 0; x < k->naxes; x++) len[x] = size[x];
  ref_launch *l = ref_launch_new(k, len, 1);
  for (int a = 0; a < k->naccess && k->mode == TT_MODE_MAP && k->naxes > 1; a++)
    if (k->access[a].lane == TT_LANE_ANY) l->step[a * k->naxes] = 1, l->step[a * k->naxes + k->naxes - 1] = 64;
  put_passes(k, l, 1, number, source);
  ref_launch_free(l);
  tt__kernel_free(k);
}

static nvrtc_api api;

/* The chips that this compiler knows, of those that matter. */
static int chips(int *out) {
  static const int wanted[] = {80, 90, 100};
  int n = 0, count = 0, list[64] = {0};
  if (!nvrtc_find(&api)) {
    printf("skipped: NVRTC is not on this machine\n");
    return 0;
  }
  if (api.archs(&n) == 0 && n <= 64) api.arch_list(list);
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < n; i++)
      if (list[i] == wanted[a]) out[count++] = wanted[a];
  return count;
}

static bool compiles(const tt_str *source, int arch, const char *what, int number) {
  double ms;
  bool ok = nvrtc_compile(&api, source->data, arch, &ms, NULL);
  CHECK(ok);
  if (getenv("SHOW")) printf("sm_%d, %s %d: %.0f ms\n", arch, what, number, ms);
  return ok;
}

TEST(random_kernels_compile_for_cuda) {
  int arch[3], n = chips(arch);
  for (int a = 0; a < n; a++)
    for (uint64_t seed = first; seed < first + count; seed += 8) {
      tt_str source = {0};
      tt__render_header(&tt__dialect_cuda, TT_SCALAR_MATH, &source);
      for (uint64_t i = 0; i < 8; i++) put_random(seed + i, (int)(i % 3), &source);
      bool ok = compiles(&source, arch[a], "kernels", (int)seed);
      tt__str_free(&source);
      if (!ok) return;
    }
}

TEST(kernels_by_hand_compile_for_cuda) {
  int arch[3], n = chips(arch);
  for (int a = 0; a < n; a++) {
    tt_str source = {0};
    int number = 0;
    tt__render_header(&tt__dialect_cuda, TT_SCALAR_MATH, &source);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
      static const int64_t small[4] = {40, 40, 40, 40}, large[4] = {2, 5000, 40, 40};
      put_text(texts[i].text, small, number++, &source);
      put_text(texts[i].text, large, number++, &source);
    }
    for (size_t i = 0; i < sizeof fold_texts / sizeof *fold_texts; i++)
      for (int s = 0; s < 6 && fold_texts[i].len[s][0]; s++)
        put_text(fold_texts[i].text, fold_texts[i].len[s], number++, &source);
    compiles(&source, arch[a], "kernels by hand", number);
    tt__str_free(&source);
  }
}

/* Above a single kernel stands only what it calls. */
static void compiles_alone(const char *text, int arch, const char *what, int number) {
  static const int64_t size[4] = {1000, 1, 1, 1};
  tt_str header = {0}, body = {0}, source = {0};
  tt_kernel *k = NULL;
  tt_error err = {0};
  CHECK_INT(tt__kernel_parse(text, &k, &err), TT_OK);
  if (k) tt__render_header_for(&tt__dialect_cuda, k, &header);
  tt__kernel_free(k);
  put_text(text, size, 0, &body);
  tt__trim(header.data, body.data, &source);
  CHECK(source.len < header.len / 2);
  tt__str_add(&source, body.data);
  compiles(&source, arch, what, number);
  tt__str_free(&header);
  tt__str_free(&body);
  tt__str_free(&source);
}

TEST(short_headers_hold_what_is_called) {
  int arch[3], n = chips(arch);
  for (int i = 0; n > 0 && i < 2 * TT_OP_COUNT; i++) {
    const tt_op_info *o = &tt__ops[i / 2];
    const char *type = i % 2 ? "i32" : "f32";
    if (!(o->flags & TT_OPF_SLOW) || !(o->types & (i % 2 ? TT_OPT_I : TT_OPT_F))) continue;
    if (o->cls == TT_CLASS_DRAW) continue;              /* whose operands are places: below */
    if (o->cls == TT_CLASS_SPECIAL && i % 16) continue; /* each takes a second */
    tt_str text = {0};
    tt__str_addf(&text, "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0\na0: read %s buf0 unit\n", type);
    tt__str_addf(&text, "a1: write %s buf1 unit\n%%0 = load.%s a0 @row0\n", type, type);
    tt__str_addf(&text, "%%1 = %s.%s %%0%s @row0\n", o->lower, type,
                 o->arity == 3   ? " %0 %0"
                 : o->arity == 2 ? " %0"
                                 : "");
    tt__str_addf(&text, "%%2 = store.%s a1 %%1 @row0\n", type);
    compiles_alone(text.data, arch[0], o->lower, i % 2);
    tt__str_free(&text);
  }
  static const char *const draws[] = {DRAWS_STORED("1 axes=1", F32_DRAWS), DRAWS_STORED("1 axes=1", F64_DRAWS),
                                      DRAWS_STORED("1 axes=1", U64_DRAWS)};
  for (int i = 0; n > 0 && i < 3; i++) compiles_alone(draws[i], arch[0], "draws", i);
}

int main(int argc, char **argv) {
  if (argc > 1) first = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  return test_main(1, argv);
}
