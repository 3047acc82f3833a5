/*
** Transforms on devices: our kernels by an emulated device, and the calls that we make of cuFFT heard by a library of
** our own that sums up the definition. Against the host's rows; layouts, kept plans and failures.
*/
#define TEST_KEEPS_MEMORY
#include <math.h>

#include "lib/fft/cuda.h"
#include "lib/rows.h"
#include "render/dialect.h"
#include "render/render.h"

#include "fake_device.h"
#include "test.h"
#include "nvrtc.h" /* after test.h */

enum { ROOM = 20000, PLANS = 4096 };

/* ---- the library */

typedef struct fake_plan {
  bool alive;
  int rank, type;
  long long n[3], in_box[3], out_box[3], in_step, in_apart, out_step, out_apart, batch;
  void *work;
} fake_plan;

static fake_plan plans[PLANS];
static int made, alive, called, fail_with, own_works, streams;

static int fake_create(int *plan) {
  static int next;
  *plan = next++ % PLANS;
  CHECK(!plans[*plan].alive);
  plans[*plan] = (fake_plan){.alive = true};
  alive++;
  return 0;
}
static int fake_destroy(int plan) {
  CHECK(plans[plan].alive);
  plans[plan].alive = false;
  alive--;
  return 0;
}
static int fake_version(int *v) { return *v = 12000, 0; }
static int fake_own_work(int plan, int automatic) {
  CHECK(plans[plan].alive && !automatic);
  own_works++;
  return 0;
}
static int fake_make_plan(int plan, int rank, long long *n, long long *in_box, long long in_step, long long in_apart,
                          long long *out_box, long long out_step, long long out_apart, int type, long long batch,
                          size_t *work) {
  fake_plan *p = &plans[plan];
  if (fail_with) return fail_with;
  made++;
  p->rank = rank;
  p->type = type;
  for (int k = 0; k < 3; k++) { /* outer axes of one point in front */
    int at = k - (3 - rank);
    p->n[k] = at < 0 ? 1 : n[at];
    p->in_box[k] = at < 0 ? 1 : in_box[at];
    p->out_box[k] = at < 0 ? 1 : out_box[at];
  }
  p->in_step = in_step, p->in_apart = in_apart, p->out_step = out_step, p->out_apart = out_apart, p->batch = batch;
  *work = 64;
  return 0;
}
static int fake_set_work(int plan, void *work) {
  memset(work, 0x33, 64);
  plans[plan].work = work;
  return 0;
}
static int fake_set_stream(int plan, void *stream) {
  CHECK(plans[plan].alive && !stream);
  streams++;
  return 0;
}

static double number(const void *p, bool wide, int64_t i) {
  return wide ? ((const double *)p)[i] : (double)((const float *)p)[i];
}
static void put(void *p, bool wide, int64_t i, double v) {
  if (wide)
    ((double *)p)[i] = v;
  else
    ((float *)p)[i] = (float)v;
}

/* One transform by the definition. `from`/`to`: real numbers on that side. Half spectra are completed first. */
static void define(const fake_plan *p, bool wide, bool from, bool to, int sign, void *in, void *out, int64_t batch) {
  int64_t n0 = p->n[0], n1 = p->n[1], n2 = p->n[2], size = n0 * n1 * n2;
  double *x = calloc((size_t)size * 4, sizeof *x), *y = x + 2 * size;
  for (int64_t i = 0; i < size; i++) {
    int64_t a = i / (n1 * n2), b = i / n2 % n1, c = i % n2;
    bool mirrored = to && c > n2 / 2;
    if (mirrored) a = (n0 - a) % n0, b = (n1 - b) % n1, c = n2 - c;
    int64_t at = batch * p->in_apart + ((a * p->in_box[1] + b) * p->in_box[2] + c) * p->in_step;
    x[2 * i] = number(in, wide, from ? at : 2 * at);
    x[2 * i + 1] = from ? 0 : number(in, wide, 2 * at + 1) * (mirrored ? -1 : 1);
    if (to && !mirrored && (c == 0 || 2 * c == n2) && n0 * n1 == 1) CHECK(x[2 * i + 1] == 0);
  }
  for (int64_t i = 0; i < size; i++)
    for (int64_t k = 0; k < size; k++) {
      double turn = (double)((i / (n1 * n2)) * (k / (n1 * n2)) % n0) / (double)n0 +
                    (double)((i / n2 % n1) * (k / n2 % n1) % n1) / (double)n1 +
                    (double)((i % n2) * (k % n2) % n2) / (double)n2;
      double re = cos(2 * M_PI * turn), im = sign * sin(2 * M_PI * turn);
      y[2 * i] += x[2 * k] * re - x[2 * k + 1] * im;
      y[2 * i + 1] += x[2 * k] * im + x[2 * k + 1] * re;
    }
  for (int64_t i = 0; i < size; i++) {
    int64_t a = i / (n1 * n2), b = i / n2 % n1, c = i % n2;
    int64_t at = batch * p->out_apart + ((a * p->out_box[1] + b) * p->out_box[2] + c) * p->out_step;
    if (from && c > n2 / 2) continue;
    put(out, wide, to ? at : 2 * at, y[2 * i]);
    if (!to) put(out, wide, 2 * at + 1, y[2 * i + 1]);
    if (to && c <= n2 / 2) put(in, wide, 2 * (batch * p->in_apart + c * p->in_step), -1e30); /* as cuFFT may */
  }
  free(x);
}

static int exec(int plan, int type, int sign, void *in, void *out) {
  fake_plan *p = &plans[plan];
  CHECK(p->alive && p->type == type && p->work);
  called++;
  bool wide = type >= 0x69;
  for (int64_t b = 0; b < p->batch; b++)
    define(p, wide, type == 0x2a || type == 0x6a, type == 0x2c || type == 0x6c, sign, in, out, b);
  return 0;
}
static int fake_c2c(int plan, void *in, void *out, int direction) { return exec(plan, 0x29, direction, in, out); }
static int fake_z2z(int plan, void *in, void *out, int direction) { return exec(plan, 0x69, direction, in, out); }
static int fake_r2c(int plan, void *in, void *out) { return exec(plan, 0x2a, -1, in, out); }
static int fake_d2z(int plan, void *in, void *out) { return exec(plan, 0x6a, -1, in, out); }
static int fake_c2r(int plan, void *in, void *out) { return exec(plan, 0x2c, 1, in, out); }
static int fake_z2d(int plan, void *in, void *out) { return exec(plan, 0x6c, 1, in, out); }

/* ---- the device: CUDA by its kind, so that the library is asked; its kernels' words are the emulation's */

extern const char tt__text_words_cuda[];

static tt_code routine(const tt_lib_device *on, const char *source, tt_scalar_text math, const char *name,
                       tt_routine **out, tt_error *err) {
  size_t words = strlen(tt__text_words_cuda);
  CHECK(strncmp(source, tt__text_words_cuda, words) == 0);
  return fake_routine(on, source + words, math, name, out, err);
}
static void *no_stream(tt_device *d, tt_stream *s) {
  (void)d, (void)s;
  return NULL;
}

static const tt_interop_ops interop = {.handle = no_stream, .asked = fake_asked};
static tt_device_ops ops;
static tt_device gpu;
static tt_lib_device on;

static void play(void) {
  static const tt_cufft fns = {fake_create,   fake_destroy,    fake_version, fake_own_work, fake_make_plan,
                               fake_set_work, fake_set_stream, fake_c2c,     fake_z2z,      fake_r2c,
                               fake_d2z,      fake_c2r,        fake_z2d};
  memcpy(tt__vendor_cufft.fn, &fns, sizeof fns);
  tt__vendor_cufft.found = true;
  ops = fake_ops;
  ops.interop = &interop;
  gpu = fake_gpu;
  gpu.ops = &ops;
  gpu.target.kind = TT_DEVICE_CUDA;
  on = fake;
  on.device = &gpu;
  on.routine = routine;
  fail_with = 0;
}

/* ---- the tests */

static double memory[ROOM * 2], got[ROOM * 2], want[ROOM * 2];

static void fill(bool wide) {
  uint64_t seed = 1;
  for (int64_t i = 0; i < ROOM * 2; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    put(memory, wide, i, (double)(seed >> 40) / (1 << 24) - 0.5);
  }
}

static int64_t size_of(int rank, const int64_t *len) {
  int64_t n = 1;
  for (int d = 0; d < rank; d++) n *= len[d];
  return n;
}

/* A row on the host and on the device: the same but for rounding, and nothing beside the result. */
static void check(int row, const tt_lib_attr *attr, tt_dtype from, int rank, const int64_t *in, tt_dtype to,
                  const int64_t *len) {
  int64_t step[4], run = 1, n = size_of(rank, len);
  bool wide = to == TT_C128 || to == TT_F64;
  for (int d = rank - 1; d >= 0; run *= in[d--]) step[d] = run;
  CHECK(run <= ROOM && n <= ROOM);
  tt_operand src = {.data = memory, .dtype = from, .rank = rank, .len = in, .step = step, .size = run};
  tt_block out = {.data = want, .dtype = to, .rank = rank, .len = len, .size = n};
  tt_error err = {0};
  fill(wide);
  memset(got, 0x44, sizeof got);
  memset(want, 0x44, sizeof want);
  CHECK_INT(tt__rows_fft[row].run(attr, &src, &out, &err), TT_OK);
  out.data = got;
  CHECK_INT(tt__rows_fft[row].run_on(&on, attr, &src, &out, &err), TT_OK);
  fake_end();
  double most = 0, limit = wide ? 1e-12 : 1e-3;
  int64_t numbers = tt__is_complex(to) ? 2 * n : n;
  for (int64_t i = 0; i < numbers; i++) most = fmax(most, fabs(number(got, wide, i) - number(want, wide, i)));
  CHECK(most < limit);
  size_t used = (size_t)numbers * (wide ? 8 : 4);
  CHECK(memcmp((char *)got + used, (char *)want + used, sizeof got - used) == 0);
}

static void over_axes(int rank, const int64_t *len, int64_t axes) {
  for (int wide = 0; wide < 2; wide++) {
    tt_dtype t = wide ? TT_C128 : TT_C64;
    tt_lib_attr attr = {.i = {axes, wide}, .f = {wide ? 0.25 : 1}};
    check(0, &attr, t, rank, len, t, len);
  }
}

TEST(axes_together_and_apart) {
  play();
  over_axes(1, (int64_t[]){30}, 1);
  over_axes(1, (int64_t[]){1}, 1);
  over_axes(2, (int64_t[]){7, 12}, 1);
  over_axes(2, (int64_t[]){7, 12}, 2);
  over_axes(2, (int64_t[]){7, 12}, 3);
  for (int64_t axes = 1; axes < 16; axes++) {
    over_axes(4, (int64_t[]){2, 3, 4, 5}, axes);
    over_axes(4, (int64_t[]){5, 1, 3, 2}, axes);
    over_axes(4, (int64_t[]){1, 4, 1, 6}, axes);
  }
  int before = called;
  over_axes(3, (int64_t[]){3, 4, 5}, 7);
  CHECK_INT(called - before, 2); /* three axes, one call for each type */
  before = called;
  over_axes(3, (int64_t[]){3, 4, 50}, 2);
  CHECK_INT(called - before, 6);
  before = called;
  over_axes(3, (int64_t[]){50, 4, 3}, 2);
  CHECK_INT(called - before, 6);
  CHECK(fake_asked_for > 0);
  CHECK_STR(fake_last_asked, "a transform of cuFFT");
}

TEST(real_rows) {
  play();
  for (int64_t n = 2; n < 12; n++)
    for (int wide = 0; wide < 2; wide++) {
      tt_dtype t = wide ? TT_C128 : TT_C64, real = wide ? TT_F64 : TT_F32;
      int64_t rows[3] = {2, 3, n}, halves[3] = {2, 3, n / 2 + 1};
      for (int backward = 0; backward < 2; backward++) {
        tt_lib_attr attr = {.i = {n, backward, 1}, .f = {backward ? 0.5 : 1}};
        check(1, &attr, real, 3, rows, t, rows);
      }
      tt_lib_attr attr = {.i = {n}, .f = {wide ? 1 : 3}};
      check(1, &attr, real, 3, rows, t, halves);
      check(2, &attr, t, 3, halves, real, rows);
    }
}

TEST(plans_are_kept) {
  play();
  int before = made;
  for (int i = 0; i < 5; i++) over_axes(2, (int64_t[]){3, 20}, 2);
  CHECK_INT(made - before, 2);
  for (int64_t n = 2; n < 200; n++) over_axes(1, (int64_t[]){n}, 1);
  CHECK(alive <= 64 + 1); /* and the handle by which the library was tried */
  CHECK(own_works >= made && streams >= made);
}

TEST(what_the_library_refuses) {
  static const struct {
    int status;
    tt_code code;
  } cases[] = {{2, TT_ENOMEM}, {8, TT_ENOTIMPL}, {16, TT_ENOTIMPL}, {5, TT_ENOTIMPL}};
  play();
  for (int i = 0; i < 4; i++) {
    int before = alive;
    int64_t len = 301, step = 1;
    tt_lib_attr attr = {.i = {1}, .f = {1}};
    tt_operand src = {.data = memory, .dtype = TT_C64, .rank = 1, .len = &len, .step = &step, .size = len};
    tt_block out = {.data = got, .dtype = TT_C64, .rank = 1, .len = &len, .size = len};
    tt_error err = {0};
    fail_with = cases[i].status;
    CHECK_INT(tt__rows_fft[0].run_on(&on, &attr, &src, &out, &err), cases[i].code);
    CHECK(strstr(err.message, "cuFFT"));
    CHECK(alive <= before);
    gpu.target.kind = TT_DEVICE_NULL;
    CHECK_INT(tt__rows_fft[0].run_on(&on, &attr, &src, &out, &err), TT_ENOTIMPL);
    gpu.target.kind = TT_DEVICE_CUDA;
  }
  fake_end();
}

/* What CUDA compiles: the kernels in its own words. */
TEST(kernels_compile_for_cuda) {
  extern const char tt__text_common[], tt__text_fft[];
  nvrtc_api nvrtc;
  if (!nvrtc_find(&nvrtc)) return;
  for (int wide = 0; wide < 2; wide++) {
    tt_str source = {0};
    double ms;
    tt__render_header(&tt__dialect_cuda, false, &source);
    tt__str_add(&source, tt__text_words_cuda);
    tt__str_add(&source, wide ? "#define R tt_f64\n#define C c128\n" : "#define R tt_f32\n#define C c64\n");
    tt__str_add(&source, tt__text_common);
    tt__str_add(&source, tt__text_fft);
    CHECK(!source.failed && nvrtc_compile(&nvrtc, source.data, 90, &ms, NULL));
    tt__str_free(&source);
  }
}

TEST_MAIN()
