/*
** cuDNN on cuda:0, where both are, beside the host's rows: convolutions of every kind and type, attention and its way
** back in float16 and bfloat16.
*/
#define TEST_KEEPS_MEMORY
#include "lib/nn/cudnn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scalar/prelude.h"

#include "conv_layer.h"
#include "random.h"
#include "real_device.h"
#include "test.h"

static tt_lib_device on;
static const char *why = "TUTTI_TEST_DEVICE is not set";

static bool open_gpu(void) {
  static tt_error err;
  const char *wanted = getenv("TUTTI_TEST_DEVICE");
  if (on.device) return true;
  if (!wanted) return false;
  why = err.message;
  return real_open(&on, &err);
}

static double get(tt_dtype t, const void *p, int64_t i) {
  if (t == TT_F64) return ((const double *)p)[i];
  if (t == TT_F32) return (double)((const float *)p)[i];
  uint16_t h = ((const uint16_t *)p)[i];
  return t == TT_F16 ? (double)tt_cast_f16_f32(h) : (double)tt_cast_bf16_f32(h);
}

static void set(tt_dtype t, void *p, int64_t i, double x) {
  if (t == TT_F64) ((double *)p)[i] = x;
  if (t == TT_F32) ((float *)p)[i] = (float)x;
  if (t == TT_F16) ((uint16_t *)p)[i] = tt_cast_f32_f16((float)x);
  if (t == TT_BF16) ((uint16_t *)p)[i] = tt_cast_f32_bf16((float)x);
}

static void *random_array(tt_dtype t, int64_t n) {
  void *p = malloc((size_t)n * tt__dtype_size(t) + 1);
  for (int64_t i = 0; i < n; i++) set(t, p, i, 2 * draw_unit() - 1);
  return p;
}

static void *on_gpu(const void *p, size_t size) {
  void *to = NULL;
  tt_error err;
  CHECK_INT(on.temp(&on, size, &to, &err), TT_OK);
  if (p) CHECK_INT(on.device->ops->copy_in(on.device, on.stream, to, p, size, &err), TT_OK);
  return to;
}

static double unit_of(tt_dtype t) { return t == TT_F64 ? 1e-12 : t == TT_F32 ? 2e-5 : t == TT_F16 ? 4e-3 : 3e-2; }

/* Largest difference, as a share of the largest element. */
static double worst(tt_dtype t, const void *a, const void *b, int64_t n) {
  double most = 0, size = 1e-300;
  for (int64_t i = 0; i < n; i++) {
    double x = get(t, a, i), y = get(t, b, i);
    if (!(fabs(x - y) <= most)) most = fabs(x - y);
    if (fabs(y) > size) size = fabs(y);
  }
  return most / size;
}

/* ---- convolution */

static const conv_layer layers[] = {
    {2, 1, 3, 4, {1, 7, 8}, {1, 3, 3}, 2, 1, 1},     {4, 1, 16, 32, {1, 17, 16}, {1, 3, 3}, 1, 1, 1},
    {3, 1, 8, 8, {1, 1, 50}, {1, 1, 5}, 1, 2, 2},    {2, 8, 1, 1, {1, 14, 14}, {1, 3, 3}, 1, 1, 1},
    {2, 2, 8, 16, {1, 9, 9}, {1, 1, 1}, 1, 1, 0},    {2, 1, 4, 8, {6, 7, 8}, {3, 3, 3}, 1, 1, 1},
    {3, 2, 6, 3, {1, 1, 5}, {1, 1, 3}, 1, 2, 0},     {3, 2, 6, 3, {1, 5, 5}, {1, 3, 3}, 1, 1, 0},
    {1, 1, 64, 64, {1, 32, 32}, {1, 3, 3}, 1, 1, 1}, {2, 1, 16, 24, {1, 15, 15}, {1, 5, 5}, 2, 1, 2},
};

static bool convolves(const conv_layer *l, tt_dtype t, int kind) {
  int64_t size[3];
  layer_sizes(l, size);
  int a = kind == LAYER_BACK_DATA ? 2 : 0, b = kind == LAYER_BACK_FILTER ? 2 : 1, c = 3 - a - b;
  size_t bytes = (size_t)size[c] * tt__dtype_size(t);
  void *x = random_array(t, size[a]), *w = random_array(t, size[b]), *want = malloc(bytes), *got = malloc(bytes);
  void *y = on_gpu(NULL, bytes);
  tt_error err;
  tt_conv call = layer_call(l, t, kind, x, w, want);
  CHECK_INT(tt__convolve(&call, NULL), TT_OK);
  call = layer_call(l, t, kind, on_gpu(x, (size_t)size[a] * tt__dtype_size(t)),
                    on_gpu(w, (size_t)size[b] * tt__dtype_size(t)), y);
  tt_code code = tt__cudnn_convolve(&on, &call, true, &err);
  if (code == TT_OK) {
    CHECK_INT(on.read(&on, got, y, bytes, &err), TT_OK);
    double off = worst(t, got, want, size[c]);
    if (!(off <= unit_of(t))) fprintf(stderr, "kind %d of %s: off by %g\n", kind, tt__dtypes[t].name, off);
    CHECK(off <= unit_of(t));
  } else if (code != TT_ENOTIMPL) {
    fprintf(stderr, "%s\n", err.message);
    CHECK(false);
  }
  if (code == TT_ENOTIMPL && getenv("TT_TEST_VERBOSE"))
    fprintf(stderr, "layer %d kind %d of %s: %s\n", (int)(l - layers), kind, tt__dtypes[t].name, err.message);
  real_end(&on);
  free(x), free(w), free(want), free(got);
  return code == TT_OK;
}

TEST(convolutions) {
  if (!open_gpu()) {
    printf("skipped: %s\n", why);
    return;
  }
  static const tt_dtype types[] = {TT_F16, TT_BF16, TT_F32, TT_F64};
  for (int t = 0; t < 4; t++)
    for (int kind = 0; kind < 3; kind++) {
      int done = 0;
      for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) done += convolves(&layers[i], types[t], kind);
      CHECK(done >= 5);
    }
}

/* ---- attention */

typedef struct attending {
  tt_dtype type;
  int64_t len[2], queries, keys, width, deep;
  bool causal;
} attending;

enum { Q, K, V, O, G, DQ, DK, DV, LSE, WANTED, SIDES = WANTED };

typedef struct matrices {
  void *host[SIDES], *gpu[SIDES];
  int64_t rows[SIDES], columns[SIDES], batch[SIDES][2];
  int64_t batches;
} matrices;

static size_t bytes_of(const matrices *m, const attending *a, int i) {
  return (size_t)(m->batches * m->rows[i] * m->columns[i]) * (i == LSE ? 4 : tt__dtype_size(a->type));
}

static void fill_matrices(matrices *m, const attending *a) {
  m->batches = a->len[0] * a->len[1];
  for (int i = 0; i < SIDES; i++) {
    bool by_key = i == K || i == V || i == DK || i == DV;
    m->rows[i] = by_key ? a->keys : a->queries;
    m->columns[i] = i == LSE ? 1 : i == V || i == O || i == G || i == DV ? a->deep : a->width;
    m->batch[i][1] = m->rows[i] * m->columns[i];
    m->batch[i][0] = a->len[1] * m->batch[i][1];
    int64_t n = m->batches * m->rows[i] * m->columns[i];
    m->host[i] = random_array(i == LSE ? TT_F32 : a->type, n);
    m->gpu[i] = on_gpu(m->host[i], bytes_of(m, a, i));
  }
}

static tt_attention call_of(const matrices *m, const attending *a, bool gpu) {
  tt_attention c = {.type = a->type,
                    .rank = 2,
                    .len = a->len,
                    .batches = m->batches,
                    .queries = a->queries,
                    .keys = a->keys,
                    .width = a->width,
                    .deep = a->deep,
                    .scale = 0.25,
                    .causal = a->causal};
  tt_attention_side *side[3] = {&c.q, &c.k, &c.v};
  for (int i = 0; i < 3; i++)
    *side[i] = (tt_attention_side){gpu ? m->gpu[i] : m->host[i], m->batch[i], m->columns[i], 1};
  return c;
}

static void agree(const matrices *m, const attending *a, int i) {
  tt_error err;
  void *got = malloc(bytes_of(m, a, i));
  CHECK_INT(on.read(&on, got, m->gpu[i], bytes_of(m, a, i), &err), TT_OK);
  tt_dtype t = i == LSE ? TT_F32 : a->type;
  double off = worst(t, got, m->host[i], m->batches * m->rows[i] * m->columns[i]);
  if (!(off <= unit_of(a->type))) fprintf(stderr, "%s, matrix %d: off by %g\n", tt__dtypes[t].name, i, off);
  CHECK(off <= unit_of(a->type));
  free(got);
}

/* The cotangent of o, lse, and the sum of the cotangent times o, side by side. */
static float *beside(const matrices *m, const attending *a) {
  int64_t n = m->batches * a->queries, width = a->deep + 2;
  float *all = malloc((size_t)(n * width) * sizeof *all);
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
    for (int64_t j = 0; j < a->deep; j++) {
      double g = get(a->type, m->host[G], i * a->deep + j);
      sum += g * get(a->type, m->host[O], i * a->deep + j);
      all[i * width + j] = (float)g;
    }
    all[i * width + a->deep] = ((const float *)m->host[LSE])[i];
    all[i * width + a->deep + 1] = (float)sum;
  }
  return all;
}

static bool attends(const attending *a) {
  matrices m;
  tt_error err;
  fill_matrices(&m, a);
  tt_attention host = call_of(&m, a, false), gpu = call_of(&m, a, true);
  CHECK_INT(tt__attention(&host, m.host[O], m.host[LSE], NULL), TT_OK);
  tt_code code = tt__cudnn_attention(&on, &gpu, m.gpu[O], m.gpu[LSE], &err);
  if (code != TT_OK) fprintf(stderr, "forward: %s\n", err.message);
  if (code == TT_OK) agree(&m, a, O), agree(&m, a, LSE);
  bool done = code == TT_OK;
  float *g = beside(&m, a);
  int64_t width = a->deep + 2, step[2] = {a->len[1] * a->queries * width, a->queries * width};
  tt_attention_side by_host = {g, step, width, 1};
  CHECK_INT(tt__attention_back(&host, &by_host, m.host[DQ], m.host[DK], m.host[DV], NULL), TT_OK);
  tt_attention_side o = {m.gpu[O], m.batch[O], a->deep, 1}, go = {m.gpu[G], m.batch[G], a->deep, 1};
  if (done) code = tt__cudnn_attention_back(&on, &gpu, &o, &go, m.gpu[LSE], m.gpu[DQ], m.gpu[DK], m.gpu[DV], &err);
  if (done && code != TT_OK) fprintf(stderr, "back: %s\n", err.message);
  for (int i = DQ; i <= DV && code == TT_OK; i++) agree(&m, a, i);
  real_end(&on);
  for (int i = 0; i < SIDES; i++) free(m.host[i]);
  free(g);
  return done && code == TT_OK;
}

TEST(attention) {
  if (!open_gpu()) {
    printf("skipped: %s\n", why);
    return;
  }
  static const attending cases[] = {
      {TT_BF16, {2, 3}, 128, 128, 64, 64, false}, {TT_BF16, {2, 3}, 128, 128, 64, 64, true},
      {TT_F16, {1, 2}, 100, 77, 64, 64, false},   {TT_F16, {2, 1}, 65, 65, 128, 128, true},
      {TT_BF16, {1, 1}, 256, 192, 32, 32, false}, {TT_BF16, {1, 4}, 64, 64, 128, 128, false},
  };
  int done = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) done += attends(&cases[i]);
  CHECK(done >= 5);
}

TEST_MAIN()
