/*
** Picking, searching and counting on devices, run by an emulated one, against the host: the same bits.
*/
#define TEST_KEEPS_MEMORY
#include "lib/device_call.h"
#include "lib/rows.h"
#include "lib/sort/host.h"
#include "lib/sort/unique.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

/* Random numbers of `kinds` values from -kinds / 4 on (from 0 for kinds < 0), now and then a NaN or a zero with a
 * sign. */
static void fill(tt_dtype t, int64_t kinds, void *p, int64_t n) {
  size_t size = tt__dtype_size(t);
  bool wild = kinds > 0;
  uint64_t k = (uint64_t)(wild ? kinds : -kinds);
  for (int64_t i = 0; i < n; i++) {
    uint64_t r = draw(), v = r % k - (wild && !tt__is_unsigned(t) ? k / 4 : 0), z = draw();
    double d[2] = {(double)(int64_t)v, (double)(z % 3)};
    if (wild && r >> 50 == 0) d[0] = __builtin_nan("");
    if (wild && z >> 55 == 0) d[1] = __builtin_nan("");
    if (wild && r >> 60 == 1) d[0] = -d[0];
    tt_scalar x = {.u64 = v};
    if (t == TT_BOOL) x.b8 = v & 1;
    if (t == TT_F16) x.f16 = (uint16_t)(d[0] != d[0] ? 0x7e01 : (v & 7) << 10 | (z & 1) << 15);
    if (t == TT_BF16) x.bf16 = (uint16_t)(d[0] != d[0] ? 0xffc0 : (v & 7) << 7 | (z & 1) << 15);
    if (t == TT_F32) x.f32 = (float)d[0];
    if (t == TT_F64) x.f64 = d[0];
    if (t == TT_C64) x.c64 = (tt_c64){(float)d[0], (float)d[1]};
    if (t == TT_C128) x.c128 = (tt_c128){d[0], d[1]};
    memcpy((char *)p + (size_t)i * size, &x, size);
  }
}

static tt_operand vector(tt_dtype t, const void *data, const int64_t *n) {
  static const int64_t one = 1;
  return (tt_operand){.data = data, .dtype = t, .rank = 1, .len = n, .step = &one, .size = *n};
}

static void check_maker(const char *name, tt_lib_attr attr, const tt_operand *src) {
  const tt_lib_maker *m = tt__lib_maker(name);
  tt_made want[4] = {{0}}, got[4] = {{0}};
  CHECK_INT(m->run(&attr, src, want, NULL), TT_OK);
  CHECK_INT(call_maker(m, &attr, src, got), TT_OK);
  for (int k = 0; k < m->nout; k++) {
    size_t size = tt__dtype_size(want[k].dtype);
    CHECK_INT(got[k].dtype, want[k].dtype);
    CHECK_INT(got[k].n, want[k].n);
    if (got[k].n == want[k].n && want[k].n && memcmp(got[k].data, want[k].data, (size_t)want[k].n * size) != 0) {
      fprintf(stderr, "%s of %lld %s: result %d differs\n", name, (long long)src->size, tt__dtypes[src->dtype].name, k);
      test_failures++;
    }
    tt__mem_free_data(want[k].data, (size_t)want[k].n * size);
    free(got[k].data);
  }
}

static void check_row(const char *name, tt_lib_attr attr, const tt_operand *src, tt_dtype t, int64_t n) {
  const tt_lib_row *row = attr.row = tt__lib_row(name);
  size_t size = (size_t)n * tt__dtype_size(t);
  tt_block out = {.data = calloc(1, size + 1), .dtype = t, .rank = 1, .len = &n, .size = n};
  void *want = out.data;
  CHECK_INT(row->run(&attr, src, &out, NULL), TT_OK);
  out.data = calloc(1, size + 1);
  CHECK_INT(call_row(row, &attr, src, &out), TT_OK);
  if (memcmp(out.data, want, size) != 0) {
    fprintf(stderr, "%s of %lld %s differs\n", name, (long long)src->size, tt__dtypes[src->dtype].name);
    test_failures++;
  }
  free(want), free(out.data);
}

static const int64_t lengths[] = {0, 1, 300, 4096, 4097, 30000};
enum { LENGTHS = sizeof lengths / sizeof *lengths, N = 140000 };
static char memory[3][N * 16];

TEST(what_is_not_zero) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    for (int k = 0; k < LENGTHS; k++) {
      fill((tt_dtype)t, 3, memory[0], lengths[k]);
      tt_operand src = vector((tt_dtype)t, memory[0], &lengths[k]);
      check_maker("nonzero", (tt_lib_attr){0}, &src);
    }
}

/* A mask, and values that need not begin where vectors do. */
static void check_compress(tt_dtype t, int64_t n, int64_t shift) {
  tt_operand src[2] = {vector(TT_BOOL, memory[0] + shift, &n),
                       vector(t, memory[1] + (size_t)shift * tt__dtype_size(t), &n)};
  fill(TT_BOOL, -2, memory[0], n + shift);
  fill(t, 3000, memory[1], n + shift);
  check_maker("compress", (tt_lib_attr){0}, src);
}

TEST(values_beside_a_mask) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    for (int k = 0; k < LENGTHS; k++) check_compress((tt_dtype)t, lengths[k], (k + t) % 2);
  int64_t n = 20000;
  memset(memory[0], 0, (size_t)n);
  tt_operand src[2] = {vector(TT_BOOL, memory[0], &n), vector(TT_F32, memory[1], &n)};
  check_maker("compress", (tt_lib_attr){0}, src); /* none */
  memset(memory[0], 1, (size_t)n);
  check_maker("compress", (tt_lib_attr){0}, src);
}

/* Sums ahead of the rest, and more tiles than a group has. */
TEST(many_tiles_in_two_turns) {
  const tt_device_shape was = tt__device_shape;
  if (call_gpu()) return;
  fake_gpu.target.cache_bytes = (int64_t)1 << 26;
  for (int ahead = 0; ahead < 8; ahead = 2 * ahead + 1) {
    tt__device_shape.pick_items = 4;
    tt__device_shape.pick_ahead = ahead;
    check_compress(TT_F32, N - 3, 0);
    int64_t n = N - 3, few = 5000;
    tt_operand src = vector(TT_BOOL, memory[0], &n);
    check_maker("nonzero", (tt_lib_attr){0}, &src);
    fill(TT_I32, 700, memory[0], few);
    src = vector(TT_I32, memory[0], &few);
    check_maker("unique", (tt_lib_attr){.i = {7, 0}}, &src);
  }
  fake_gpu.target.cache_bytes = 0;
  tt__device_shape = was;
}

TEST(without_room_for_all_it_counts_first) {
  if (call_gpu()) return;
  fake_longest = 160000;
  check_compress(TT_F32, 30000, 0);
  check_compress(TT_F64, 30000, 1);
  int64_t n = 30000;
  fill(TT_I32, 300, memory[0], n);
  tt_operand src = vector(TT_I32, memory[0], &n);
  check_maker("unique", (tt_lib_attr){.i = {1, 0}}, &src);
  fake_longest = 1000;
  tt_made made;
  tt_operand none[2] = {vector(TT_BOOL, memory[2], &n), vector(TT_F32, memory[1], &n)};
  memset(memory[2], 0, (size_t)n);
  check_maker("compress", (tt_lib_attr){0}, none);
  memset(memory[2], 1, (size_t)n);
  CHECK_INT(call_maker(tt__lib_maker("compress"), NULL, none, &made), TT_ENOMEM);
  fake_longest = SIZE_MAX;
}

static const char produce_text[] =
    "typedef struct { const tt_f32 *x; tt_i64 limit; } produce_args;\n"
    "typedef struct { tt_b8 keep[4]; tt_f32 value[4]; } produce_four;\n"
    "typedef struct { tt_b8 keep[1]; tt_f32 value[1]; } produce_single;\n"
    "TT_FN produce_four produce_4(const produce_args *a, tt_i64 i) {\n"
    "  produce_four e;\n"
    "  for (int u = 0; u < 4; u++) { e.keep[u] = a->x[i + u] > (tt_f32)a->limit; e.value[u] = -a->x[i + u]; }\n"
    "  return e;\n"
    "}\n"
    "TT_FN produce_single produce_1(const produce_args *a, tt_i64 i) {\n"
    "  produce_single e;\n"
    "  e.keep[0] = a->x[i] > (tt_f32)a->limit;\n"
    "  e.value[0] = -a->x[i];\n"
    "  return e;\n"
    "}\n"
    "#define PRODUCE_ARGS produce_args\n#define PRODUCE produce_4\n#define PRODUCE_VALUE produce_four\n"
    "#define PRODUCE_ONE produce_1\n#define PRODUCE_VALUE_ONE produce_single\n"
    "#define PRODUCE_0(e, u) (e).keep[u]\n#define PRODUCE_1(e, u) (e).value[u]\n";

TEST(operands_that_a_function_gives) {
  int64_t n = 30001, m = 0;
  float *x = (float *)memory[0], *want = (float *)memory[1];
  struct {
    const float *x;
    int64_t limit;
  } args = {x, 100};
  tt_lib_producer producer = {.text = produce_text, .args = &args, .size = sizeof args, .vec = 4};
  tt_operand src[2] = {vector(TT_BOOL, NULL, &n), vector(TT_F32, NULL, &n)};
  if (call_gpu()) return;
  fill(TT_F32, 1000, x, n);
  for (int64_t i = 0; i < n; i++)
    if (x[i] > 100) want[m++] = -x[i];
  fake.producer = &producer;
  for (int math = 0; math < 2; math++) {
    tt_made made = {0};
    producer.scalar = math ? TT_SCALAR_MATH : TT_SCALAR_PLAIN;
    CHECK_INT(call_maker(tt__lib_maker("compress"), NULL, src, &made), TT_OK);
    CHECK_INT(made.n, m);
    CHECK(made.n == m && memcmp(made.data, want, (size_t)m * sizeof *want) == 0);
    free(made.data);
  }
  fake.producer = NULL;
}

TEST(repetitions) {
  int64_t *count = (int64_t *)memory[0];
  for (int k = 0; k < LENGTHS; k++) {
    fill(TT_I64, -4, count, lengths[k]);
    tt_operand src = vector(TT_I64, count, &lengths[k]);
    check_maker("repeat_index", (tt_lib_attr){0}, &src);
  }
  memset(count, 0, 5000 * sizeof *count);
  int64_t n = 5000;
  tt_operand src = vector(TT_I64, count, &n);
  tt_made made;
  check_maker("repeat_index", (tt_lib_attr){0}, &src);
  const tt_lib_maker *m = tt__lib_maker("repeat_index");
  count[4500] = -1;
  CHECK_INT(call_maker(m, NULL, &src, &made), TT_ENOTIMPL);
  count[4500] = INT64_MAX;
  count[7] = 1;
  CHECK_INT(call_maker(m, NULL, &src, &made), TT_ENOTIMPL);
}

TEST(distinct_elements) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    for (int want = 0; want < 8; want += t % 3 ? 7 : 5) {
      int64_t n = want == 7 ? 9000 : lengths[t % LENGTHS];
      fill((tt_dtype)t, want == 7 ? 40 : 3000, memory[0], n);
      tt_operand src = vector((tt_dtype)t, memory[0], &n);
      check_maker("unique", (tt_lib_attr){.i = {want, t / 2 % 2}}, &src);
    }
  int64_t n = 20000;
  fill(TT_F64, 1000, memory[0], n);
  tt_operand src = vector(TT_F64, memory[0], &n);
  check_maker("unique", (tt_lib_attr){.i = {7, 0}}, &src);
  check_maker("unique", (tt_lib_attr){.i = {7, 1}}, &src);
}

TEST(counts) {
  for (int t = TT_BOOL; t <= TT_U64; t++) {
    int64_t n = lengths[t % LENGTHS];
    fill((tt_dtype)t, -100, memory[0], n);
    tt_operand src = vector((tt_dtype)t, memory[0], &n);
    check_maker("bincount", (tt_lib_attr){.i = {t * 5}}, &src);
  }
  int64_t n = 30000;
  fill(TT_I32, -20000, memory[0], n);
  tt_operand src = vector(TT_I32, memory[0], &n);
  check_maker("bincount", (tt_lib_attr){.i = {0}}, &src);
  ((int32_t *)memory[0])[77] = -3;
  tt_made made;
  tt_lib_attr attr = {.i = {0}};
  CHECK_INT(call_maker(tt__lib_maker("bincount"), &attr, &src, &made), TT_ENOTIMPL);
}

static void fill_weights(double *w, int64_t n) {
  for (int64_t i = 0; i < n; i++) w[i] = (double)(int64_t)draw() / 1e15;
}

TEST(sums_of_weights_have_the_bits_of_the_host) {
  int64_t n = N, few = 1000;
  fill_weights((double *)memory[1], n);
  fill(TT_I64, -7, memory[0], n);
  tt_operand src[2] = {vector(TT_I64, memory[0], &n), vector(TT_F64, memory[1], &n)};
  check_maker("bincount_weighted", (tt_lib_attr){.i = {9}}, src);
  fill(TT_U16, -20000, memory[0], n);
  src[0].dtype = TT_U16;
  check_maker("bincount_weighted", (tt_lib_attr){.i = {9}}, src);
  src[0].size = src[1].size = few;
  check_maker("bincount_weighted", (tt_lib_attr){.i = {9}}, src);
}

TEST(histograms) {
  int64_t n = 30000, edges = 38;
  for (int t = 0; t < TT_C64; t++) {
    if (t == TT_F16 || t == TT_BF16) continue;
    tt_dtype e = t == TT_F32 ? TT_F32 : TT_F64;
    fill((tt_dtype)t, 100, memory[0], n);
    double first = -3.5, last = 60.25, span = last - first;
    for (int i = 0; i < edges; i++) {
      double x = first + span * i / (double)(edges - 1);
      if (e == TT_F32)
        ((float *)memory[1])[i] = (float)x;
      else
        ((double *)memory[1])[i] = x;
    }
    tt_operand src[3] = {vector((tt_dtype)t, memory[0], &n), vector(e, memory[1], &edges),
                         vector(TT_F64, memory[2], &n)};
    tt_lib_attr attr = {.f = {first, last}};
    memcpy(attr.i, &span, sizeof span);
    check_row("histogram_uniform", attr, src, TT_I64, edges - 1);
    if (t != TT_F32) continue;
    fill_weights((double *)memory[2], n);
    check_row("histogram_uniform_weighted", attr, src, TT_F64, edges - 1);
  }
}

TEST(histograms_over_edges_and_searches) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    int64_t n = 5000, edges = 23;
    fill((tt_dtype)t, 100, memory[0], n);
    fill((tt_dtype)t, 100, memory[2], edges);
    CHECK_INT(tt__sort_rows((tt_dtype)t, memory[2], memory[1], 1, edges, false, NULL), TT_OK);
    tt_operand src[2] = {vector((tt_dtype)t, memory[0], &n), vector((tt_dtype)t, memory[1], &edges)};
    check_row("histogram_edges", (tt_lib_attr){0}, src, TT_I64, edges - 1);
    tt_operand back[2] = {src[1], src[0]};
    check_row("searchsorted", (tt_lib_attr){.i = {0}}, back, TT_I64, n);
    check_row("searchsorted", (tt_lib_attr){.i = {1}}, back, TT_I64, n);
    int64_t none = 0;
    back[0] = vector((tt_dtype)t, memory[1], &none);
    check_row("searchsorted", (tt_lib_attr){.i = {1}}, back, TT_I64, n);
  }
}

/* One text over one set of functions: one set of bits. */
TEST(random_numbers_by_rejection) {
  static const double first[6][2] = {{0.3, 7.5}, {2.5, 900}, {30, 5000}, {4, 3000}, {1.5, 3}, {0.5, 1e7}};
  static const double second[6] = {0, 0, 0.3, 50, 0, 2}, third = 20;
  int64_t n = 3000;
  uint64_t *word = (uint64_t *)memory[0];
  double *param = (double *)memory[1];
  for (int64_t i = 0; i < n; i++) word[i] = draw();
  for (int kind = 0; kind < 6; kind++)
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < n; i++)
        param[i] = i % 100 ? first[kind][k] + (double)(i % 7) : i % 200 ? 0 : __builtin_nan("");
      tt_lib_attr attr = {.row = tt__lib_row("draw"), .i = {kind, 6}, .f = {0, second[kind], third}};
      tt_operand src[4] = {vector(TT_U64, word, &n)};
      for (int s = 1; s < 4; s++) src[s] = vector(TT_F64, param, &n);
      tt_block out = {.data = memory[2], .dtype = kind % 5 ? TT_I64 : TT_F64, .rank = 1, .len = &n, .size = n};
      char *want = memory[2], *got = memory[2] + n * 8;
      CHECK_INT(attr.row->run(&attr, src, &out, NULL), TT_OK);
      out.data = got;
      CHECK_INT(call_row(attr.row, &attr, src, &out), TT_OK);
      int differ = 0;
      for (int64_t i = 0; i < n; i++) differ += memcmp(want + i * 8, got + i * 8, 8) != 0;
      CHECK_INT(differ, 0);
    }
}

TEST(reductions_of_complex_rows) {
  for (int t = TT_C64; t <= TT_C128; t++)
    for (int red = 0; red < TT_RED_COUNT; red++) {
      if (red != TT_RED_MAX && red != TT_RED_MIN && red != TT_RED_ARGMAX && red != TT_RED_ARGMIN && red != TT_RED_PROD)
        continue;
      int64_t len[2] = {3, red == TT_RED_PROD ? 11 : 9001};
      fill((tt_dtype)t, red % 2 ? 5000 : -50, memory[0], len[0] * len[1]);
      tt_operand src = {.data = memory[0], .dtype = (tt_dtype)t, .rank = 2, .len = len, .size = len[0] * len[1]};
      tt_dtype to = red == TT_RED_ARGMAX || red == TT_RED_ARGMIN ? TT_I64 : (tt_dtype)t;
      check_row("reduce_complex", (tt_lib_attr){.i = {red}}, &src, to, len[0]);
    }
}

TEST_MAIN()
