/*
** Rendered and compiled kernels, and interpreted ones, against the reference executor, bit for bit (any two NaN
** are equal), over random layouts, sizes at the boundaries of lanes, blocks and chunks, and launches cut into pieces.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <xmmintrin.h>

#include "device/cpu/cc.h"
#include "device/cpu/vm.h"
#include "kernel_ref.h"
#include "kernel_texts.h"
#include "render/render.h"

/* ---- compile and compare */

enum { MOST = 128 };

static tt_kernel *parse(const char *text) {
  tt_kernel *k = NULL;
  tt_error err = {0};
  if (tt__kernel_parse(text, &k, &err) != TT_OK) fprintf(stderr, "%s\n%s\n", err.message, text);
  if (!k) exit(1);
  return k;
}

static bool compile(tt_kernel *const *k, int n, tt_kernel_fn *fn) {
  tt_str source = {0};
  tt_error err = {0};
  char names[MOST][TT_RENDER_NAME];
  const char *name[MOST];
  tt__render_header(&tt__dialect_c, TT_SCALAR_SPECIAL, &source);
  for (int i = 0; i < n; i++) {
    tt__render_name(k[i], names[i]);
    name[i] = names[i];
    CHECK_INT(tt__render_kernel(k[i], &tt__dialect_c, name[i], &source, &err), TT_OK);
  }
  tt_code c = tt__cc_compile(source.data, name, n, fn, NULL, &err);
  if (c != TT_OK) fprintf(stderr, "%s\n", err.message);
  CHECK_INT(c, TT_OK);
  tt__str_free(&source);
  return c == TT_OK;
}

static bool splits(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_STORE && k->inst[i].scope == TT_SCOPE_ROW) return false;
  return k->nphase == 1 && k->nred > 0;
}

static tt_vm_program *program;
static void interpret(const tt_kargs *a, const tt_krange *r) { tt__vm_run(program, a, r); }

static void complain(const char *who, const tt_kernel *k, const int64_t *len, int way, int b, int64_t at) {
  tt_str s = {0};
  tt__kernel_print(k, &s);
  fprintf(stderr, "%s, way %d, len %lld %lld %lld %lld, buffer %d element %lld\n%s", who, way, (long long)len[0],
          (long long)len[1], (long long)len[2], (long long)len[3], b, (long long)at, s.data);
  tt__str_free(&s);
}

/* The launch done whole, cut into pieces, and chunk by chunk, by compiled code and by the interpreter. */
static void compare(const tt_kernel *k, tt_kernel_fn fn, const int64_t *len, uint64_t seed) {
  ref_launch *want = ref_launch_new(k, len, seed);
  CHECK_INT(tt__vm_build(k, &program, NULL), TT_OK);
  ref_run(k, &want->a);
  for (int way = 0; way < (splits(k) ? 4 : 2); way++)
    for (int vm = 0; vm < 2; vm++) {
      ref_launch *got = ref_launch_new(k, len, seed);
      ref_cover(got, vm ? interpret : fn, way & 1, way & 2);
      int64_t at;
      int b = ref_differ(want, got, &at);
      CHECK_INT(b, -1);
      if (b >= 0) complain(vm ? "interpreted" : "compiled", k, len, way, b, at);
      ref_launch_free(got);
    }
  ref_launch_free(want);
  tt__vm_free(program);
}

static void check_texts(const kernel_text *t, int n) {
  tt_kernel *k[MOST];
  tt_kernel_fn fn[MOST];
  for (int i = 0; i < n; i++) k[i] = parse(t[i].text);
  if (compile(k, n, fn))
    for (int i = 0; i < n; i++)
      for (int s = 0; s < 6 && t[i].len[s][0]; s++)
        for (uint64_t seed = 1; seed <= 2; seed++) compare(k[i], fn[i], t[i].len[s], seed * 977 + (uint64_t)s);
  for (int i = 0; i < n; i++) tt__kernel_free(k[i]);
}

TEST(maps_and_softmax) { check_texts(texts, sizeof texts / sizeof *texts); }
TEST(folds) { check_texts(fold_texts, sizeof fold_texts / sizeof *fold_texts); }

/* ---- every reduction of every type, rows and columns */

TEST(all_reductions) {
  tt_kernel *k[MOST];
  tt_kernel_fn fn[MOST];
  int n = 0;
  for (int type = 0; type < TT_DTYPE_COUNT; type++) {
    if (type == TT_F16 || type == TT_BF16 || tt__is_complex((tt_dtype)type)) continue;
    for (int col = 0; col < 2; col++) {
      static const char *const red[] = {"sum", "prod", "max", "min", "argmax", "argmin", "any", "all"};
      const char *s = tt__dtypes[type].suffix;
      int count = type == TT_BOOL ? 8 : 6;
      tt_str text = {0};
      tt__str_addf(&text, "kernel %s outer=1 axes=2 phases=1 bufs=%d reds=%d\na0: read %s buf0 unit\n",
                   col ? "col" : "row", count + 1, count, s);
      for (int r = 0; r < count; r++)
        tt__str_addf(&text, "a%d: write %s buf%d any\n", r + 1, r == 4 || r == 5 ? "i64" : s, r + 1);
      tt__str_addf(&text, "%%0 = load.%s a0 @row0\n", s);
      for (int r = 0; r < count; r++) tt__str_addf(&text, "%%%d = %s.%s r%d %%0 @row0\n", r + 1, red[r], s, r);
      for (int r = 0; r < count; r++)
        tt__str_addf(&text, "%%%d = store.%s a%d %%%d @outer1\n", count + 1 + r, r == 4 || r == 5 ? "i64" : s, r + 1,
                     r + 1);
      k[n++] = parse(text.data);
      tt__str_free(&text);
    }
  }
  const int64_t len[4] = {3, 200}, small[4] = {70, 2};
  if (compile(k, n, fn))
    for (int i = 0; i < n; i++)
      for (uint64_t seed = 1; seed <= 2; seed++) compare(k[i], fn[i], seed & 1 ? len : small, seed);
  for (int i = 0; i < n; i++) tt__kernel_free(k[i]);
}

/* ---- every op and cast of every type */

static tt_kernel *op_kernel(int type, bool slow) {
  tt_str text = {0};
  tt_kernel *k = put_op_kernel(type, slow, &text) ? parse(text.data) : NULL;
  tt__str_free(&text);
  return k;
}

static void check_ops(bool slow) {
  tt_kernel *k[MOST];
  tt_kernel_fn fn[MOST];
  int n = 0;
  for (int type = 0; type <= TT_F64; type++) {
    if (type == TT_F16 || type == TT_BF16) continue;
    if ((k[n] = op_kernel(type, slow)) != NULL) n++;
  }
  const int64_t len[4] = {4099}, tame[4] = {3}; /* so few that most launches have no wild value */
  if (compile(k, n, fn))
    for (int i = 0; i < n; i++) {
      compare(k[i], fn[i], len, 5);
      for (uint64_t seed = 0; seed < 30; seed++) compare(k[i], fn[i], tame, seed);
    }
  for (int i = 0; i < n; i++) tt__kernel_free(k[i]);
}

TEST(all_quick_ops) { check_ops(false); }
TEST(all_slow_ops) { check_ops(true); }

/* ---- bounds */

TEST(checked_kernels_touch_nothing_outside) {
  tt_kernel *k[2];
  tt_kernel_fn fn[2];
  k[0] = parse(
      "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0 checked\n"
      "a0: read f32 buf0 unit\n"
      "a1: write f32 buf1 unit\n"
      "%0 = load.f32 a0 @row0\n"
      "%1 = store.f32 a1 %0 @row0\n");
  k[1] = parse(
      "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0 serial checked\n"
      "a0: read i64 buf0 unit\n"
      "a1: read f32 buf1 none\n"
      "a2: write f16 buf2 none\n"
      "%0 = load.i64 a0 @row0\n"
      "%1 = loadx.f32 a1 %0 @row0\n"
      "%2 = storex.f32 a2 %0 %1 @row0\n");
  if (compile(k, 2, fn)) {
    const int64_t len[1] = {100};
    for (int i = 0; i < 2; i++) {
      ref_launch *l = ref_launch_new(k[i], len, 3);
      l->off[0] -= i == 0 ? 3 : 0; /* k[1] has wild indices as it is */
      ref_launch *got = ref_launch_copy(l);
      ref_cover(got, fn[i], false, false);
      ref_run(k[i], &l->a);
      int64_t at;
      CHECK_INT(ref_differ(l, got, &at), -1);
      CHECK(l->fault.access != 0);
      CHECK_INT(got->fault.access, l->fault.access);
      CHECK_INT(got->fault.index, l->fault.index);
      CHECK_INT(got->fault.len, l->fault.len);
      ref_launch_free(l);
      ref_launch_free(got);
    }
    compare(k[0], fn[0], len, 9);
  }
  tt__kernel_free(k[0]);
  tt__kernel_free(k[1]);
}

TEST(denormals_and_modes_survive) {
  unsigned before = _mm_getcsr() & 0xffc0u;
  tt_kernel *k = parse(texts[0].text);
  tt_kernel_fn fn;
  if (compile(&k, 1, &fn)) compare(k, fn, texts[0].len[3], 1);
  CHECK_INT(_mm_getcsr() & 0xffc0u, before);
  tt__kernel_free(k);
}

int main(int argc, char **argv) {
  setenv("TUTTI_CC_TIMEOUT", "300", 0); /* on a busy machine a compiler may take its time */
  return test_main(argc, argv);
}
