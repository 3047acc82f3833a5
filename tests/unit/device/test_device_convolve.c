/*
** Our own convolutions on devices, run by an emulated device, against the host's rows: types, strided operands, groups,
** strides, dilations, zeros between elements, the derivatives' shapes, sums that are cut into parts.
*/
#define TEST_KEEPS_MEMORY
#include "ir/convolution.h"
#include "lib/rows.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

enum { ROOM = 300000, VECTOR = 256, MOST = 6 };

static char memory[2][ROOM * 8], vector[VECTOR * 8], got[ROOM * 8], want[ROOM * 8];

/* Small whole numbers: their products and sums are exact in every type, so results are compared as bits. */
static void fill(tt_dtype t, void *p, int64_t n) {
  static const uint16_t f16[3] = {0xbc00, 0, 0x3c00}, bf16[3] = {0xbf80, 0, 0x3f80};
  for (int64_t i = 0; i < n; i++) {
    int v = (int)draw_below(3);
    tt_scalar x = {.bits = {0, 0}};
    if (t == TT_F16) x.f16 = f16[v];
    if (t == TT_BF16) x.bf16 = bf16[v];
    if (t == TT_F32) x.f32 = (float)(v - 1);
    if (t == TT_F64) x.f64 = v - 1;
    memcpy((char *)p + (size_t)i * tt__dtype_size(t), &x, tt__dtype_size(t));
  }
}

/* Axes in any order in memory, some reversed, where it is twisted. */
static tt_operand view(tt_dtype t, char *base, int rank, const int64_t *len, int64_t *step, bool twisted) {
  int order[MOST] = {0, 1, 2, 3, 4, 5};
  int64_t run = 1, off = 0, n = 1;
  for (int i = rank - 1; i > 0 && twisted; i--) {
    int j = (int)draw_below(i + 1), x = order[i];
    order[i] = order[j], order[j] = x;
  }
  for (int i = rank - 1; i >= 0; i--) {
    int d = order[i];
    step[d] = run;
    run *= len[d] ? len[d] : 1;
    n *= len[d];
    if (twisted && len[d] && draw_below(4) == 0) off += step[d] * (len[d] - 1), step[d] = -step[d];
  }
  CHECK(run <= ROOM);
  return (tt_operand){
      .data = base + off * (int64_t)tt__dtype_size(t), .dtype = t, .rank = rank, .len = len, .step = step, .size = n};
}

typedef struct convolution {
  int n; /* axes of space */
  int64_t images, groups, channels, outputs, in[3], kernel[3];
  tt_conv_axis axis[3];
  bool turned, bias;
} convolution;

static int64_t places_along(const convolution *c, int d) {
  const tt_conv_axis *a = &c->axis[d];
  int64_t seen = (c->in[d] - 1) * a->spread + 1 + 2 * a->pad - (c->kernel[d] - 1) * a->dilation;
  return seen > 0 ? (seen - 1) / a->stride + 1 : 0;
}

static void check(tt_dtype t, const convolution *c, bool twisted) {
  int64_t lx[MOST] = {c->images, c->groups, c->channels}, lw[MOST] = {c->groups, c->outputs, c->channels};
  int64_t lb[2] = {c->groups, c->outputs}, sx[MOST], sw[MOST], sb[2] = {c->outputs, 1}, ly[MOST], size = 1;
  ly[c->turned] = c->images;
  ly[!c->turned] = c->groups * c->outputs;
  for (int d = 0; d < c->n; d++) {
    lx[3 + d] = c->in[d];
    lw[3 + d] = c->kernel[d];
    ly[2 + d] = places_along(c, d);
  }
  for (int d = 0; d < c->n + 2; d++) size *= ly[d];
  CHECK(size <= ROOM && lb[0] * lb[1] <= VECTOR);
  tt_operand src[3] = {view(t, memory[0], 3 + c->n, lx, sx, twisted),
                       view(t, memory[1], 3 + c->n, lw, sw, twisted),
                       {.data = vector, .dtype = t, .rank = 2, .len = lb, .step = sb, .size = lb[0] * lb[1]}};
  tt_lib_attr attr = {.row = tt__lib_row(c->bias ? "convolution_bias" : "convolution")};
  tt__conv_tell(&attr, c->axis, c->n, c->turned);
  tt_block out = {.data = want, .dtype = t, .rank = 2 + c->n, .len = ly, .size = size};
  tt_error err = {0};
  memset(want, 0x77, sizeof want);
  memset(got, 0x77, sizeof got);
  CHECK_INT(attr.row->run(&attr, src, &out, &err), TT_OK);
  out.data = got;
  CHECK_INT(call_row(attr.row, &attr, src, &out), TT_OK);
  size_t each = tt__dtype_size(t);
  for (int64_t i = 0; i < size; i++) /* zeros of either sign */
    if (t == TT_F32)
      ((float *)got)[i] += 0.0f, ((float *)want)[i] += 0.0f;
    else if (t == TT_F64)
      ((double *)got)[i] += 0.0, ((double *)want)[i] += 0.0;
  int64_t at = 0;
  while (at < size && memcmp(got + (size_t)at * each, want + (size_t)at * each, each) == 0) at++;
  CHECK_INT(at, size);
  CHECK(memcmp(got + (size_t)size * each, want + (size_t)size * each, 64) == 0);
  if (at < size)
    fprintf(stderr,
            "%s: axes %d, %d images %d groups %d channels %d outputs, in %d kernel %d, at %d of %d (bits %02x%02x, not "
            "%02x%02x, at the end; stride %d dilation %d spread %d pad %d bias %d turned %d)\n",
            tt__dtypes[t].name, c->n, (int)c->images, (int)c->groups, (int)c->channels, (int)c->outputs,
            (int)c->in[c->n - 1], (int)c->kernel[c->n - 1], (int)at, (int)size,
            (unsigned char)got[(size_t)(at + 1) * each - 1], (unsigned char)got[(size_t)(at + 1) * each - 2],
            (unsigned char)want[(size_t)(at + 1) * each - 1], (unsigned char)want[(size_t)(at + 1) * each - 2],
            (int)c->axis[c->n - 1].stride, (int)c->axis[c->n - 1].dilation, (int)c->axis[c->n - 1].spread,
            (int)c->axis[c->n - 1].pad, c->bias, c->turned);
}

static const tt_dtype types[] = {TT_F32, TT_F64, TT_F16, TT_BF16};

static void fill_all(tt_dtype t) {
  fill(t, memory[0], ROOM);
  fill(t, memory[1], ROOM);
  fill(t, vector, VECTOR);
}

#define SAME(p)                  \
  {                              \
    {1, 1, 1, p}, { 1, 1, 1, p } \
  }

TEST(convolutions_are_the_hosts) {
  const convolution some[] = {
      {.n = 2, .images = 2, .groups = 1, .channels = 5, .outputs = 9, .in = {7, 10}, .kernel = {3, 3}, .axis = SAME(1)},
      {.n = 2,
       .images = 3,
       .groups = 2,
       .channels = 3,
       .outputs = 33,
       .in = {5, 6},
       .kernel = {2, 3},
       .axis = SAME(0),
       .bias = true},
      {.n = 1,
       .images = 1,
       .groups = 1,
       .channels = 17,
       .outputs = 70,
       .in = {140},
       .kernel = {5},
       .axis = {{2, 3, 1, 4}}},
      {.n = 3,
       .images = 2,
       .groups = 1,
       .channels = 2,
       .outputs = 6,
       .in = {4, 5, 6},
       .kernel = {2, 3, 2},
       .axis = {{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 0}}},
      {.n = 2,
       .images = 2,
       .groups = 1,
       .channels = 40,
       .outputs = 130,
       .in = {6, 6},
       .kernel = {1, 1},
       .axis = SAME(0),
       .turned = true,
       .bias = false},
      /* zeros in between: the derivative to x */
      {.n = 2,
       .images = 2,
       .groups = 1,
       .channels = 6,
       .outputs = 8,
       .in = {4, 5},
       .kernel = {3, 3},
       .axis = {{1, 1, 2, 1}, {2, 1, 3, 2}},
       .bias = true},
      /* a long sum: the derivative to w */
      {.n = 2,
       .images = 5,
       .groups = 1,
       .channels = 9,
       .outputs = 20,
       .in = {18, 18},
       .kernel = {16, 16},
       .axis = SAME(0),
       .turned = true},
  };
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    fill_all(types[k]);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check(types[k], &some[i], false);
  }
}

/* 16-bit floats by the units that multiply matrices of them. */
TEST(halves_have_units) {
  const convolution small = {
      .n = 2, .images = 2, .groups = 1, .channels = 5, .outputs = 9, .in = {7, 10}, .kernel = {3, 3}, .axis = SAME(1)};
  convolution c = small;
  fake_gpu.target.arch = 80;
  for (int k = 2; k < 4; k++) {
    fill_all(types[k]);
    check(types[k], &small, false);
    check(types[k], &small, true);
    c = (convolution){.n = 2,
                      .images = 2,
                      .groups = 2,
                      .channels = 9,
                      .outputs = 65,
                      .in = {8, 9},
                      .kernel = {2, 3},
                      .axis = {{2, 1, 1, 1}, {1, 2, 1, 2}},
                      .bias = true};
    check(types[k], &c, false);
    c = (convolution){.n = 2,
                      .images = 9,
                      .groups = 1,
                      .channels = 5,
                      .outputs = 40,
                      .in = {18, 18},
                      .kernel = {16, 16},
                      .axis = SAME(0),
                      .turned = true};
    check(types[k], &c, false);
    c = (convolution){.n = 1,
                      .images = 2,
                      .groups = 1,
                      .channels = 0,
                      .outputs = 7,
                      .in = {6},
                      .kernel = {3},
                      .axis = {{1, 1, 1, 0}},
                      .bias = true};
    check(types[k], &c, false);
  }
  fake_gpu.target.arch = 0;
}

TEST(few_outputs_are_the_hosts) {
  const convolution some[] = {
      {.n = 2,
       .images = 2,
       .groups = 6,
       .channels = 1,
       .outputs = 1,
       .in = {7, 11},
       .kernel = {3, 3},
       .axis = SAME(1),
       .bias = true},
      {.n = 2,
       .images = 2,
       .groups = 3,
       .channels = 2,
       .outputs = 3,
       .in = {9, 6},
       .kernel = {2, 5},
       .axis = {{2, 1, 1, 0}, {1, 3, 1, 6}}},
      {.n = 1,
       .images = 2,
       .groups = 5,
       .channels = 1,
       .outputs = 2,
       .in = {30},
       .kernel = {4},
       .axis = {{3, 1, 2, 1}}},
      {.n = 2,
       .images = 1,
       .groups = 4,
       .channels = 8,
       .outputs = 1,
       .in = {18, 18},
       .kernel = {16, 16},
       .axis = SAME(1),
       .turned = true,
       .bias = true},
      {.n = 1,
       .images = 2,
       .groups = 2,
       .channels = 3,
       .outputs = 4,
       .in = {700},
       .kernel = {699},
       .axis = {{1, 1, 1, 0}}},
      /* no tap at most places, and a tap far from the next */
      {.n = 1, .images = 2, .groups = 3, .channels = 1, .outputs = 1, .in = {9}, .kernel = {1}, .axis = {{1, 7, 3, 0}}},
      /* many channels, and places enough for all units */
      {.n = 2,
       .images = 3,
       .groups = 1,
       .channels = 9,
       .outputs = 3,
       .in = {20, 20},
       .kernel = {3, 3},
       .axis = SAME(1)},
  };
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    fill_all(types[k]);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check(types[k], &some[i], false);
  }
}

TEST(nothing_to_sum_is_the_bias) {
  fill_all(TT_F32);
  convolution c = {.n = 1,
                   .images = 2,
                   .groups = 1,
                   .channels = 0,
                   .outputs = 7,
                   .in = {6},
                   .kernel = {3},
                   .axis = {{1, 1, 1, 0}},
                   .bias = true};
  check(TT_F32, &c, false);
  c.outputs = 2;
  check(TT_F32, &c, false);
  c = (convolution){.n = 1,
                    .images = 2,
                    .groups = 1,
                    .channels = 3,
                    .outputs = 7,
                    .in = {4},
                    .kernel = {1},
                    .axis = {{1, 1, 3, 2}},
                    .bias = true};
  check(TT_F32, &c, false);
  c.images = 0;
  check(TT_F32, &c, false);
}

TEST(any_sizes_and_steps) {
  for (int round = 0; round < 30; round++) {
    tt_dtype t = types[round % 4];
    convolution c = {.n = 1 + (int)draw_below(3),
                     .images = 1 + draw_below(3),
                     .groups = 1 + draw_below(3),
                     .channels = 1 + draw_below(6),
                     .outputs = 1 + draw_below(12),
                     .turned = draw_below(2),
                     .bias = draw_below(2)};
    for (int d = 0; d < c.n; d++) {
      c.axis[d] = (tt_conv_axis){.stride = 1 + draw_below(3),
                                 .dilation = 1 + draw_below(2),
                                 .spread = 1 + draw_below(2),
                                 .pad = draw_below(4) - 1};
      c.in[d] = 4 + draw_below(6);
      c.kernel[d] = 1 + draw_below(3);
    }
    fill_all(t);
    check(t, &c, true);
  }
}

TEST_MAIN()
