/*
** Thread kernels on a CUDA device against the reference executor, bit for bit; skipped where there is none. With
** TUTTI_TEST_SPEED=1 also how long some kernels of full size take. Arguments: the first seed, the number of random
** kernels.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include "cuda_driver.h"
#include "kernel_random.h"
#include "kernel_texts.h"
#include "nvrtc.h"
#include "threads_emulate.h"

static uint64_t first = 1, count = 64;
static nvrtc_api nvrtc;

static bool ready(void) {
  static int state = -1;
  if (state < 0) {
    state = cuda_open() && nvrtc_find(&nvrtc);
    if (!state) printf("skipped: no CUDA device, driver and compiler on this machine\n");
  }
  return state;
}

static tt_target device_target(void) {
  tt_target t = {.kind = TT_DEVICE_CUDA,
                 .arch = cuda_arch(),
                 .units = cuda_attribute(16),
                 .warp = 32,
                 .block_threads = 1024,
                 .unit_threads = cuda_attribute(39),
                 .shared_block = cuda_attribute(97),
                 .shared_unit = cuda_attribute(81),
                 .param_bytes = 4096,
                 .grid_max = {INT32_MAX, 65535, 65535}};
  return t;
}

typedef struct pass_code {
  void *module, *f;
} pass_code;

static bool build(const tt_kernel *k, const tt_variant *v, pass_code *out, bool show) {
  tt_str text = {0}, code = {0};
  tt_error err = {0};
  double ms;
  tt__render_header(&tt__dialect_cuda, tt__render_scalar_text(k), &text);
  CHECK_INT(tt__threads_render(k, &tt__dialect_cuda, v, "k", &text, &err), TT_OK);
  bool ok = nvrtc_compile(&nvrtc, text.data, cuda_arch(), &ms, &code) && cuda.load(&out->module, code.data) == 0 &&
            cuda.function(&out->f, out->module, "k") == 0;
  CHECK(ok);
  if (ok && show) {
    int regs = 0, local = 0, shared = 0;
    cuda.get(&regs, 4, out->f);
    cuda.get(&local, 3, out->f);
    cuda.get(&shared, 1, out->f);
    printf("    compiled in %.0f ms: %d registers, %d bytes local, %d shared\n", ms, regs, local, shared);
  }
  tt__str_free(&text);
  tt__str_free(&code);
  return ok;
}

/* A launch with device memory bound. */
typedef struct bound {
  cuda_ptr work, fault, far, buf[REF_ACCESS];
  char args[TT_MOST_PASSES][4096];
  size_t size;
} bound;

static bool start(const bound *b, const tt_pass *p, int i, const pass_code *c) {
  void *params[] = {p->variant.far ? (void *)&b->far : (void *)b->args[i]};
  const tt_grid *g = &p->grid;
  if (g->shared > 48 * 1024) cuda.set(c->f, 8, (int)g->shared);
  return cuda.launch(c->f, g->grid[0], g->grid[1], 1, g->block[0], g->block[1], 1, g->shared, NULL, params, NULL) == 0;
}

/* ---- the same bits */

static bool run_launch(const tt_kernel *k, ref_launch *l, const tt_cut *cut, const pass_code *code) {
  bound b = {.size = tt__threads_args_size(k)};
  tt_lowered low = emu_lowered(k, l);
  void *bufs[REF_ACCESS];
  bool ok = b.size <= sizeof b.args[0];
  for (int i = 0; i < k->nbuf; i++) {
    size_t size = l->size[i] + 2 * REF_GUARD;
    ok &= cuda.alloc(&b.buf[i], size) == 0 && cuda.in(b.buf[i], l->base[i], size) == 0;
    bufs[i] = (void *)(uintptr_t)(b.buf[i] + REF_GUARD);
  }
  ok &= cuda.alloc(&b.work, cut->work_bytes + 256) == 0 && cuda.alloc(&b.fault, 64) == 0 &&
        cuda.fill(b.fault, 0, 64) == 0;
  ok &= cuda.fill(b.work, 0xa5, cut->work_bytes + 1) == 0 && cuda.fill(b.work, 0, cut->zero_bytes + 1) == 0;
  for (int p = 0; ok && p < cut->npass; p++) {
    tt__threads_args(k, &low, &cut->pass[p], bufs, l->buf_len, l->scalar, (void *)(uintptr_t)b.work,
                     (void *)(uintptr_t)b.fault, b.args[p]);
    ok = start(&b, &cut->pass[p], p, &code[p]);
  }
  ok = ok && cuda.wait() == 0;
  for (int i = 0; i < k->nbuf; i++) {
    ok = ok && cuda.out(l->base[i], b.buf[i], l->size[i] + 2 * REF_GUARD) == 0;
    cuda.free(b.buf[i]);
  }
  cuda.free(b.work);
  cuda.free(b.fault);
  return ok;
}

static bool same(const tt_kernel *k, const int64_t *len, uint64_t seed) {
  tt_target t = device_target();
  tt_cut cut;
  tt_error err = {0};
  size_t align[REF_ACCESS];
  pass_code code[TT_MOST_PASSES];
  ref_launch *want = ref_launch_new(k, len, seed), *got = ref_launch_new(k, len, seed);
  tt_lowered low = emu_lowered(k, got);
  for (int b = 0; b < k->nbuf; b++) align[b] = REF_GUARD;
  CHECK_INT(tt__gpu_schedule(k, &low, &t, align, got->buf_len, &cut, &err), TT_OK);
  bool ok = true;
  int64_t at = 0;
  for (int p = 0; ok && p < cut.npass; p++) ok = build(k, &cut.pass[p].variant, &code[p], false);
  ok = ok && run_launch(k, got, &cut, code);
  ref_run(k, &want->a);
  int differs = ok ? ref_differ(want, got, &at) : 1000;
  CHECK_INT(differs, -1);
  if (differs >= 0) {
    tt_str text = {0};
    tt__kernel_print(k, &text);
    fprintf(stderr, "len %lld %lld %lld %lld, seed %llu: buffer %d element %lld\n%s", (long long)len[0],
            (long long)len[1], (long long)len[2], (long long)len[3], (unsigned long long)seed, differs, (long long)at,
            text.data);
    tt__str_free(&text);
  }
  for (int p = 0; ok && p < cut.npass; p++) cuda.unload(code[p].module);
  ref_launch_free(want);
  ref_launch_free(got);
  return differs < 0;
}

static void same_sizes(const char *text, const int64_t (*len)[4], int n) {
  tt_kernel *k = NULL;
  tt_error err = {0};
  CHECK_INT(tt__kernel_parse(text, &k, &err), TT_OK);
  for (int i = 0; k && !k->serial && i < n && (i == 0 || len[i][0]); i++) {
    int64_t full[REF_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int x = 0; x < k->naxes; x++) full[x] = len[i][x];
    if (!same(k, full, 977 + (uint64_t)i)) break;
  }
  tt__kernel_free(k);
}

TEST(kernels_by_hand_on_cuda) {
  static const int64_t rows[][4] = {{3, 16}, {2, 33}, {3, 300}, {2, 513}, {1, 2048}, {1, 3000}, {1, 9001}, {1, 33000}};
  if (!ready()) return;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) same_sizes(texts[i].text, texts[i].len, 6);
  for (size_t i = 0; i < sizeof fold_texts / sizeof *fold_texts; i++)
    same_sizes(fold_texts[i].text, fold_texts[i].len, 6);
  same_sizes(texts[6].text, rows, 8);
  same_sizes(VARIANCE("row", "1 axes=2"), rows, 8);
  same_sizes(FOLDS("row", "1 axes=2"), rows, 8);
}

TEST(all_ops_on_cuda) {
  static const int64_t len[][4] = {{4099}, {100000}};
  if (!ready()) return;
  for (int n = 0; n < 2 * TT_F64 + 2; n++) {
    int type = n / 2;
    tt_str text = {0};
    if (type != TT_F16 && type != TT_BF16 && put_op_kernel(type, n % 2, &text)) same_sizes(text.data, len, 2);
    tt__str_free(&text);
  }
}

TEST(random_kernels_on_cuda) {
  if (!ready()) return;
  for (uint64_t seed = first; seed < first + count; seed++) {
    maker m = {.seed = seed};
    tt_str text = {0};
    tt_kernel *k = make_kernel(&m, &text);
    int64_t len[REF_AXES] = {1, 1, 1, 1, 1, 1, 1, 1};
    make_lengths(&m, len);
    same(k, len, seed);
    tt__kernel_free(k);
    tt__str_free(&text);
  }
}

/* ---- how long: kernels of full size, with the bytes that must move */

typedef struct speed_case {
  const char *name, *text;
  int64_t len[4];
  int64_t step[8][4]; /* elements, per access */
  double bytes;
  double goal_ms;
  int64_t off[8];
} speed_case;

#define M 1000000.0

static const speed_case speeds[] = {
    {"copy 1e8 f32",
     "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0\na0: read f32 buf0 unit\na1: write f32 buf1 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = store.f32 a1 %0 @row0\n",
     {100000000},
     {{1}, {1}},
     800 * M,
     0.19,
     {0}},
    {"add of 3 1e8 f32",
     "kernel map outer=1 axes=1 phases=1 bufs=4 reds=0\na0: read f32 buf0 unit\na1: read f32 buf1 unit\n"
     "a2: read f32 buf2 unit\na3: write f32 buf3 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = load.f32 a1 @row0\n%2 = load.f32 a2 @row0\n%3 = add.f32 %0 %1 @row0\n"
     "%4 = add.f32 %3 %2 @row0\n%5 = store.f32 a3 %4 @row0\n",
     {100000000},
     {{1}, {1}, {1}, {1}},
     1600 * M,
     0.40,
     {0}},
    {"add, misaligned by one, 1e8 f32",
     "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\na0: read f32 buf0 unit\na1: read f32 buf1 unit\n"
     "a2: write f32 buf2 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = load.f32 a1 @row0\n%2 = add.f32 %0 %1 @row0\n%3 = store.f32 a2 %2 @row0\n",
     {99999999},
     {{1}, {1}, {1}},
     1200 * M,
     0.30,
     {1, 0, 1}},
    {"compare f32 < f32 to bool 1e8",
     "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\na0: read f32 buf0 unit\na1: read f32 buf1 unit\n"
     "a2: write b8 buf2 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = load.f32 a1 @row0\n%2 = lt.f32 %0 %1 @row0\n%3 = store.b8 a2 %2 @row0\n",
     {100000000},
     {{1}, {1}, {1}},
     900 * M,
     0.23,
     {0}},
    {"add u8 4e8",
     "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\na0: read u8 buf0 unit\na1: read u8 buf1 unit\n"
     "a2: write u8 buf2 unit\n"
     "%0 = load.u8 a0 @row0\n%1 = load.u8 a1 @row0\n%2 = add.u8 %0 %1 @row0\n%3 = store.u8 a2 %2 @row0\n",
     {400000000},
     {{1}, {1}, {1}},
     1200 * M,
     0.30,
     {0}},
    {"mul f64 5e7",
     "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\na0: read f64 buf0 unit\na1: read f64 buf1 unit\n"
     "a2: write f64 buf2 unit\n"
     "%0 = load.f64 a0 @row0\n%1 = load.f64 a1 @row0\n%2 = mul.f64 %0 %1 @row0\n%3 = store.f64 a2 %2 @row0\n",
     {50000000},
     {{1}, {1}, {1}},
     1200 * M,
     0.30,
     {0}},
    {"log, exp, sqrt chain of 3 inputs, 2 outputs, 5e7 f32",
     "kernel map outer=1 axes=1 phases=1 bufs=5 reds=0\na0: read f32 buf0 unit\na1: read f32 buf1 unit\n"
     "a2: read f32 buf2 unit\na3: write f32 buf3 unit\na4: write f32 buf4 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = load.f32 a1 @row0\n%2 = load.f32 a2 @row0\n%3 = div.f32 %0 %1 @row0\n"
     "%4 = log.f32 %3 @row0\n%5 = sqrt.f32 %2 @row0\n%6 = div.f32 %4 %5 @row0\n%7 = square.f32 %6 @row0\n"
     "%8 = exp.f32 %7 @row0\n%9 = mul.f32 %8 %6 @row0\n%10 = exp.f32 %2 @row0\n%11 = mul.f32 %10 %1 @row0\n"
     "%12 = sub.f32 %9 %11 @row0\n%13 = add.f32 %12 %0 @row0\n%14 = store.f32 a3 %12 @row0\n"
     "%15 = store.f32 a4 %13 @row0\n",
     {50000000},
     {{1}, {1}, {1}, {1}, {1}},
     1000 * M,
     0.27,
     {0}},
    {"Jacobi 4096x4096 f32",
     "kernel map outer=2 axes=2 phases=1 bufs=2 reds=0\ns0: f32\na0: read f32 buf0 unit\na1: read f32 buf0 unit\n"
     "a2: read f32 buf0 unit\na3: read f32 buf0 unit\na4: write f32 buf1 unit\n%0 = const.f32 s0\n"
     "%1 = load.f32 a0 @row0\n%2 = load.f32 a1 @row0\n%3 = load.f32 a2 @row0\n%4 = load.f32 a3 @row0\n"
     "%5 = add.f32 %1 %2 @row0\n%6 = add.f32 %5 %3 @row0\n%7 = add.f32 %6 %4 @row0\n%8 = mul.f32 %7 %0 @row0\n"
     "%9 = store.f32 a4 %8 @row0\n",
     {4094, 4094},
     {{4096, 1}, {4096, 1}, {4096, 1}, {4096, 1}, {4096, 1}},
     134.2 * M,
     0.036,
     {1, 8193, 4096, 4098, 4097}},
    {"transpose 16384x16384 f32",
     "kernel map outer=2 axes=2 phases=1 bufs=2 reds=0\na0: read f32 buf0 any\na1: write f32 buf1 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = store.f32 a1 %0 @row0\n",
     {16384, 16384},
     {{1, 16384}, {16384, 1}},
     2147.5 * M,
     0.55,
     {0}},
    {"norm of 1e8 f32",
     "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 none\n"
     "%0 = load.f32 a0 @row0\n%1 = square.f32 %0 @row0\n%2 = sum.f32 r0 %1 @row0\n%3 = sqrt.f32 %2 @outer1\n"
     "%4 = store.f32 a1 %3 @outer1\n",
     {100000000},
     {{1}, {0}},
     400 * M,
     0.100,
     {0}},
    {"one row of 65536 f32",
     "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 none\n"
     "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n",
     {65536},
     {{1}, {0}},
     0.262 * M,
     0.010,
     {0}},
    {"sums of rows 20000x20000 f32",
     "kernel row outer=1 axes=2 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n",
     {20000, 20000},
     {{20000, 1}, {1, 0}},
     1600 * M,
     0.38,
     {0}},
    {"sums of short rows 4e6x25 f32",
     "kernel row outer=1 axes=2 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n",
     {4000000, 25},
     {{25, 1}, {1, 0}},
     416 * M,
     0.15,
     {0}},
    {"sums of columns 20000x20000 f32",
     "kernel col outer=1 axes=2 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n",
     {20000, 20000},
     {{1, 20000}, {1, 0}},
     1600 * M,
     0.38,
     {0}},
    {"sums of 10 columns of 1e6 f32",
     "kernel col outer=1 axes=2 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n",
     {10, 1000000},
     {{1, 10}, {1, 0}},
     40 * M,
     0.05,
     {0}},
    {"softmax 8192x8192 f32",
     "kernel row outer=1 axes=2 phases=3 bufs=2 reds=2\nt0: f32\na0: read f32 buf0 unit\na1: write f32 scratch0 unit\n"
     "a2: read f32 scratch0 unit\na3: write f32 buf1 unit\n%0 = load.f32 a0 @row0\n%1 = max.f32 r0 %0 @row0\n"
     "%2 = load.f32 a0 @row1\n%3 = sub.f32 %2 %1 @row1\n%4 = exp.f32 %3 @row1\n%5 = store.f32 a1 %4 @row1\n"
     "%6 = sum.f32 r1 %4 @row1\n%7 = load.f32 a2 @row2\n%8 = div.f32 %7 %6 @row2\n%9 = store.f32 a3 %8 @row2\n",
     {8192, 8192},
     {{8192, 1}, {0, 0}, {0, 0}, {8192, 1}},
     537 * M,
     0.15,
     {0}},
    {"layer norm 8192x8192 f32",
     "kernel row outer=1 axes=2 phases=3 bufs=2 reds=2\ns0: f32\na0: read f32 buf0 unit\na1: write f32 buf1 unit\n"
     "%0 = const.f32 s0\n%1 = load.f32 a0 @row0\n%2 = sum.f32 r0 %1 @row0\n%3 = mul.f32 %2 %0 @outer1\n"
     "%4 = load.f32 a0 @row1\n%5 = sub.f32 %4 %3 @row1\n%6 = square.f32 %5 @row1\n%7 = sum.f32 r1 %6 @row1\n"
     "%8 = mul.f32 %7 %0 @outer2\n%9 = sqrt.f32 %8 @outer2\n%10 = load.f32 a0 @row2\n%11 = sub.f32 %10 %3 @row2\n"
     "%12 = div.f32 %11 %9 @row2\n%13 = store.f32 a1 %12 @row2\n",
     {8192, 8192},
     {{8192, 1}, {8192, 1}},
     537 * M,
     0.15,
     {0}},
    {"product of complex64 5e7",
     "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\na0: read f32 buf0 any\na1: read f32 buf0 any\n"
     "a2: read f32 buf1 any\na3: read f32 buf1 any\na4: write f32 buf2 any\na5: write f32 buf2 any\n"
     "%0 = load.f32 a0 @row0\n%1 = load.f32 a1 @row0\n%2 = load.f32 a2 @row0\n%3 = load.f32 a3 @row0\n"
     "%4 = mul.f32 %0 %2 @row0\n%5 = mul.f32 %1 %3 @row0\n%6 = sub.f32 %4 %5 @row0\n%7 = mul.f32 %0 %3 @row0\n"
     "%8 = mul.f32 %1 %2 @row0\n%9 = add.f32 %7 %8 @row0\n%10 = store.f32 a4 %6 @row0\n%11 = store.f32 a5 %9 @row0\n",
     {50000000},
     {{2}, {2}, {2}, {2}, {2}, {2}},
     1200 * M,
     0.30,
     {0, 1, 0, 1, 0, 1}},
    {"add f16 2e8",
     "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\na0: read f16 buf0 unit\na1: read f16 buf1 unit\n"
     "a2: write f16 buf2 unit\n"
     "%0 = load.f32 a0 @row0\n%1 = load.f32 a1 @row0\n%2 = add.f32 %0 %1 @row0\n%3 = store.f32 a2 %2 @row0\n",
     {200000000},
     {{1}, {1}, {1}},
     1200 * M,
     0.30,
     {0}},
    {"argmax of 1e8 f32",
     "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write i64 buf1 none\n"
     "%0 = load.f32 a0 @row0\n%1 = argmax.f32 r0 %0 @row0\n%2 = store.i64 a1 %1 @outer1\n",
     {100000000},
     {{1}, {0}},
     400 * M,
     0.100,
     {0}},
    {"max of 1e8 f32",
     "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\na0: read f32 buf0 unit\na1: write f32 buf1 none\n"
     "%0 = load.f32 a0 @row0\n%1 = max.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n",
     {100000000},
     {{1}, {0}},
     400 * M,
     0.100,
     {0}},
    {"count of 4e8 bools",
     "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\na0: read b8 buf0 unit\na1: write i64 buf1 none\n"
     "%0 = load.b8 a0 @row0\n%1 = cast.b8.i64 %0 @row0\n%2 = sum.i64 r0 %1 @row0\n%3 = store.i64 a1 %2 @outer1\n",
     {400000000},
     {{1}, {0}},
     400 * M,
     0.110,
     {0}},
    {"gather 1e8 of 4e8 f32, int64 in order",
     "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\na0: index unit\na1: read f32 buf1 none\n"
     "a2: write f32 buf2 unit\n"
     "%0 = index.i64 a0 @row0\n%1 = loadx.f32 a1 %0 @row0\n%2 = store.f32 a2 %1 @row0\n",
     {100000000},
     {{3}, {0}, {1}},
     2000 * M,
     0.50,
     {0}},
    {"normal draws of 1e8, summed",
     "kernel row outer=0 axes=1 phases=1 bufs=1 reds=1\ns0: u64\ns1: u64\na0: index unit\na1: write f32 buf0 none\n"
     "%0 = const.u64 s0\n%1 = const.u64 s1\n%2 = index.i64 a0 @row0\n%3 = cast.i64.u64 %2 @row0\n"
     "%4 = normal.f32 %3 %0 %1 @row0\n%5 = sum.f32 r0 %4 @row0\n%6 = store.f32 a1 %5 @outer1\n",
     {100000000},
     {{1}, {0}},
     1 * M,
     0.38,
     {0}},
};

typedef struct map_extent {
  int64_t outer, lanes;
} map_extent;

/* Another shape of a map's blocks: `x` threads along the lane, `unroll` lanes each. */
static void reshape(const map_extent *o, tt_pass *p, int x, int unroll) {
  tt_grid *g = &p->grid;
  p->variant.unroll = (uint8_t)unroll;
  p->variant.block = (uint8_t)(x == 32 ? 5 : x == 64 ? 6 : x == 128 ? 7 : 8);
  g->block[0] = (uint32_t)x;
  g->block[1] = o->outer > 1 ? 256u / (uint32_t)x : 1;
  g->grid[0] = (uint32_t)((o->lanes + 32 + x * unroll - 1) / (x * unroll));
  g->grid[1] = (uint32_t)((o->outer + g->block[1] - 1) / g->block[1]);
}

static void time_case(const speed_case *s, int x, int unroll) {
  tt_kernel *k = NULL;
  tt_error err = {0};
  CHECK_INT(tt__kernel_parse(s->text, &k, &err), TT_OK);
  int64_t len[4], step[32], off[8];
  size_t align[8];
  for (int x = 0; x < k->naxes; x++) len[x] = s->len[x];
  for (int a = 0; a < k->naccess; a++) {
    off[a] = s->off[a];
    for (int x = 0; x < k->naxes; x++) step[a * k->naxes + x] = s->step[a][x];
  }
  tt_lowered low = {.kernel = k, .len = len, .off = off, .step = step};
  tt_target t = device_target();
  tt_cut cut;
  pass_code code[TT_MOST_PASSES];
  bound b = {.size = 0};
  void *bufs[8], *from, *to;
  int64_t buf_len[8] = {0};
  tt_scalar scalar[4] = {{.f32 = 1e-4f}};
  for (int i = 0; i < k->nbuf; i++) align[i] = 256;
  CHECK_INT(tt__gpu_schedule(k, &low, &t, align, NULL, &cut, &err), TT_OK);
  printf("%s\n", s->name);
  map_extent extent = {k->naxes > 1 ? len[0] : 1, len[k->naxes - 1]};
  if (x) reshape(&extent, &cut.pass[0], x, unroll);
  bool ok = true;
  for (int p = 0; ok && p < cut.npass; p++) {
    const tt_pass *q = &cut.pass[p];
    ok = build(k, &q->variant, &code[p], true);
    printf("    grid %u %u block %u %u shared %u; vec %d unroll %d group %d staged %d kept %d tiled %d wide %d\n",
           q->grid.grid[0], q->grid.grid[1], q->grid.block[0], q->grid.block[1], (unsigned)q->grid.shared,
           q->variant.vec, q->variant.unroll, 1 << q->variant.group, q->variant.staged, q->variant.kept,
           q->variant.tiled, q->variant.wide);
  }
  for (int i = 0; i < k->nbuf; i++) {
    ok = ok && cuda.alloc(&b.buf[i], 1700000000) == 0 && cuda.fill(b.buf[i], 0x3c, 1700000000) == 0;
    bufs[i] = (void *)(uintptr_t)b.buf[i];
  }
  ok = ok && cuda.alloc(&b.work, cut.work_bytes + 256) == 0;
  for (int p = 0; ok && p < cut.npass; p++)
    tt__threads_args(k, &low, &cut.pass[p], bufs, buf_len, scalar, (void *)(uintptr_t)b.work, NULL, b.args[p]);
  cuda.event(&from, 0);
  cuda.event(&to, 0);
  float best = 1e9f, each[TT_MOST_PASSES] = {1e9f, 1e9f, 1e9f}, ms;
  enum { REPEAT = 10 };
  for (int p = 0; ok && cut.npass > 1 && p < cut.npass; p++)
    for (int turn = 0; turn < 4; turn++) {
      cuda.record(from, NULL);
      for (int n = 0; n < REPEAT; n++) ok = ok && start(&b, &cut.pass[p], p, &code[p]);
      cuda.record(to, NULL);
      ok = ok && cuda.event_wait(to) == 0;
      if (cuda.elapsed(&ms, from, to) == 0 && ms / REPEAT < each[p]) each[p] = ms / REPEAT;
    }
  if (cut.npass > 1) printf("    passes alone: %.4f %.4f ms\n", (double)each[0], (double)each[1]);
  for (int turn = 0; ok && turn < 6; turn++) {
    cuda.record(from, NULL);
    for (int n = 0; n < REPEAT; n++)
      for (int p = 0; p < cut.npass; p++) ok = ok && start(&b, &cut.pass[p], p, &code[p]);
    cuda.record(to, NULL);
    ok = ok && cuda.event_wait(to) == 0;
    if (cuda.elapsed(&ms, from, to) == 0 && ms / REPEAT < best) best = ms / REPEAT;
  }
  CHECK(ok);
  printf("    %.4f ms, goal %.3f%s, %.2f TB/s\n", (double)best, s->goal_ms, (double)best <= s->goal_ms ? "" : " MISSED",
         s->bytes / (double)best * 1e-9);
  fflush(stdout);
  for (int p = 0; ok && p < cut.npass; p++) cuda.unload(code[p].module);
  for (int i = 0; i < k->nbuf; i++) cuda.free(b.buf[i]);
  cuda.free(b.work);
  tt__kernel_free(k);
}

TEST(speeds_on_cuda) {
  if (!getenv("TUTTI_TEST_SPEED") || !ready()) return;
  const char *only = getenv("TUTTI_TEST_ONLY"), *tune = getenv("TUTTI_TEST_TUNE");
  for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
    if (only && !strstr(speeds[i].name, only)) continue;
    time_case(&speeds[i], 0, 0);
    for (int x = 32; tune && strstr(speeds[i].name, tune) && x <= 256; x *= 2)
      for (int unroll = 2; unroll <= 8; unroll *= 2) time_case(&speeds[i], x, unroll);
  }
}

int main(int argc, char **argv) {
  if (argc > 1) first = strtoull(argv[1], NULL, 10);
  if (argc > 2) count = strtoull(argv[2], NULL, 10);
  return test_main(1, argv);
}
