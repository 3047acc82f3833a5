/*
** Our own attention on devices, run by an emulated device, against the host's rows, there and back: types, masks, sizes
** around the tiles, strided operands, queries without a key, dropped shares.
*/
#define TEST_KEEPS_MEMORY
#include <math.h>

#include "lib/rows.h"
#include "scalar/prelude.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

enum { ROOM = 120000, MOST = 4 };

typedef struct attending {
  int64_t batch[2], queries, keys, width, deep;
  int mask; /* 0 none, 1 truth values, 2 added */
  bool causal, twisted, dropped;
} attending;

static char operands[4][ROOM * 8], got[3][ROOM * 8], want[3][ROOM * 8];

static void put(tt_dtype t, void *p, int64_t i, double x) {
  if (t == TT_BOOL) ((uint8_t *)p)[i] = x > -0.5;
  if (t == TT_F16) ((uint16_t *)p)[i] = tt_cast_f32_f16((float)x);
  if (t == TT_BF16) ((uint16_t *)p)[i] = tt_cast_f32_bf16((float)x);
  if (t == TT_F32) ((float *)p)[i] = (float)x;
  if (t == TT_F64) ((double *)p)[i] = x;
}

static double get(tt_dtype t, const void *p, int64_t i) {
  return t == TT_F16    ? (double)tt_cast_f16_f32(((const uint16_t *)p)[i])
         : t == TT_BF16 ? (double)tt_cast_bf16_f32(((const uint16_t *)p)[i])
         : t == TT_F32  ? (double)((const float *)p)[i]
                        : ((const double *)p)[i];
}

static void fill(tt_dtype t, void *p) {
  for (int64_t i = 0; i < ROOM; i++) put(t, p, i, ((double)draw_below(2001) - 1000) / 600);
}

/* A view with the axes in any order in memory, where it is twisted. */
static tt_operand view(tt_dtype t, void *base, int64_t *len, int64_t *step, const attending *a, int64_t rows,
                       int64_t columns) {
  int order[MOST] = {0, 1, 2, 3};
  int64_t run = 1;
  for (int i = MOST - 1; i > 0 && a->twisted; i--) {
    int j = (int)draw_below(i + 1), x = order[i];
    order[i] = order[j], order[j] = x;
  }
  memcpy(len, (int64_t[]){a->batch[0], a->batch[1], rows, columns}, sizeof(int64_t) * MOST);
  for (int i = MOST - 1; i >= 0; i--) {
    step[order[i]] = run;
    run *= len[order[i]];
  }
  CHECK(run <= ROOM);
  return (tt_operand){.data = base, .dtype = t, .rank = MOST, .len = len, .step = step, .size = run};
}

static tt_block block(tt_dtype t, void *base, int64_t *len, const attending *a, int64_t rows, int64_t columns) {
  memcpy(len, (int64_t[]){a->batch[0], a->batch[1], rows, columns}, sizeof(int64_t) * MOST);
  return (tt_block){.data = base, .dtype = t, .rank = MOST, .len = len, .size = len[0] * len[1] * rows * columns};
}

static tt_dtype sums_of(tt_dtype t) { return t == TT_F64 ? t : TT_F32; }

static void compare(const char *what, tt_dtype t, const attending *a, const tt_block *out, int k) {
  double most = 1, worst = 0, tolerance = t == TT_F64 ? 1e-12 : t == TT_F32 ? 1e-5 : t == TT_F16 ? 4e-3 : 3e-2;
  bool alike = true;
  size_t size = (size_t)out->size * tt__dtype_size(out->dtype);
  for (int64_t i = 0; i < out->size; i++) {
    double x = get(out->dtype, got[k], i), y = get(out->dtype, want[k], i);
    alike &= isnan(x) == isnan(y) && isinf(x) == isinf(y);
    if (isfinite(y)) most = fmax(most, fabs(y));
    if (isfinite(x) && isfinite(y)) worst = fmax(worst, fabs(x - y));
  }
  CHECK(alike && worst <= tolerance * most);
  CHECK(memcmp(got[k] + size, want[k] + size, 64) == 0); /* nothing behind it is touched */
  if (!alike || worst > tolerance * most)
    fprintf(stderr, "%s %d of %s: %d queries %d keys %d wide %d deep, mask %d, causal %d: off by %g of %g\n", what, k,
            tt__dtypes[t].name, (int)a->queries, (int)a->keys, (int)a->width, (int)a->deep, a->mask, a->causal, worst,
            most);
}

static void run_both(const char *what, tt_dtype t, const attending *a, const tt_lib_attr *attr, const tt_operand *src,
                     tt_block *out) {
  tt_error err = {0};
  memset(want, 0x77, sizeof want);
  memset(got, 0x77, sizeof got);
  for (int k = 0; k < attr->row->nout; k++) out[k].data = want[k];
  CHECK_INT(attr->row->run(attr, src, out, &err), TT_OK);
  for (int k = 0; k < attr->row->nout; k++) out[k].data = got[k];
  CHECK_INT(call_row(attr->row, attr, src, out), TT_OK);
  for (int k = 0; k < attr->row->nout; k++) compare(what, t, a, &out[k], k);
}

/* The numbers that the way back is told of each query. */
static void tell_numbers(const tt_operand *g, const attending *a, void *base) {
  for (int64_t b = 0; b < a->batch[0]; b++)
    for (int64_t h = 0; h < a->batch[1]; h++)
      for (int64_t i = 0; i < a->queries; i++) {
        int64_t at = b * g->step[0] + h * g->step[1] + i * g->step[2] + a->deep * g->step[3];
        put(g->dtype, base, at, get(g->dtype, want[1], (b * a->batch[1] + h) * a->queries + i));
      }
}

static void check(tt_dtype t, const attending *a) {
  const bool joined = a->mask || a->dropped;
  uint64_t word = 77 + (uint64_t)a->keys;
  int64_t one = 1;
  const tt_operand key = {.data = &word, .dtype = TT_U64, .rank = 1, .len = &one, .step = &one, .size = 1};
  const tt_dtype sums = sums_of(t), mask = a->mask == 1 ? TT_BOOL : sums;
  int64_t len[4][MOST], step[4][MOST], lo[3][MOST];
  for (int k = 0; k < 3; k++) fill(t, operands[k]);
  tt_operand q = view(t, operands[0], len[0], step[0], a, a->queries, a->width), k, v, m = {0}, g;
  if (joined) {
    fill(mask, operands[2]);
    k = view(t, operands[1], len[1], step[1], a, a->keys, a->width + a->deep);
    m = a->dropped ? key : view(mask, operands[2], len[2], step[2], a, a->queries, a->keys);
  } else {
    k = view(t, operands[1], len[1], step[1], a, a->keys, a->width);
    v = view(t, operands[2], len[2], step[2], a, a->keys, a->deep);
  }
  const char *row = a->dropped ? "attention_dropped" : a->mask ? "attention_masked" : "attention";
  tt_lib_attr attr = {.row = tt__lib_row(row), .i = {a->causal}, .f = {0.4, 0.25}};
  tt_operand src[4] = {q, k, joined ? m : v};
  tt_block out[3] = {block(t, NULL, lo[0], a, a->queries, a->deep), block(sums, NULL, lo[1], a, a->queries, 1)};
  run_both("forward", t, a, &attr, src, out);
  fill(sums, operands[3]);
  g = view(sums, operands[3], len[3], step[3], a, a->queries, a->deep + 2);
  tell_numbers(&g, a, operands[3]);
  attr.row = tt__lib_row(a->dropped ? "attention_dropped_back" : a->mask ? "attention_masked_back" : "attention_back");
  src[2] = joined ? g : v;
  src[3] = joined ? m : g;
  out[0] = block(t, NULL, lo[0], a, a->queries, a->width);
  out[1] = block(t, NULL, lo[1], a, a->keys, a->width);
  out[2] = block(t, NULL, lo[2], a, a->keys, a->deep);
  run_both("back", t, a, &attr, src, out);
}

/* Columns of m from `first` on; `len` has room for lengths. */
static tt_operand columns(tt_operand m, int64_t *len, int64_t first, int64_t count) {
  memcpy(len, m.len, sizeof *len * (size_t)m.rank);
  len[m.rank - 1] = count;
  m.data = (const char *)m.data + (size_t)first * tt__dtype_size(m.dtype);
  m.len = len;
  return m;
}

/* Cotangents and results are what the other way back is told, in another form. Operands lie beside each other. */
static void check_whole(tt_dtype t, attending a) {
  int64_t len[5][MOST], step[5][MOST], lo[3][MOST], of[4][MOST];
  a.twisted = false;
  for (int k = 0; k < 3; k++) fill(t, operands[k]);
  fill(TT_F32, operands[3]);
  tt_operand kv = view(t, operands[1], len[1], step[1], &a, a.keys, a.width + a.deep);
  tt_operand go = view(t, operands[2], len[2], step[2], &a, a.queries, 2 * a.deep);
  tt_operand lse = view(TT_F32, operands[3], len[3], step[3], &a, a.queries, 1);
  tt_operand src[6] = {view(t, operands[0], len[0], step[0], &a, a.queries, a.width),
                       columns(kv, of[0], 0, a.width),
                       columns(kv, of[1], a.width, a.deep),
                       columns(go, of[2], 0, a.deep),
                       columns(go, of[3], a.deep, a.deep),
                       lse};
  tt_lib_attr attr = {.row = tt__lib_row("attention_whole_back"), .i = {a.causal}, .f = {0.4}};
  tt_block out[3] = {block(t, NULL, lo[0], &a, a.queries, a.width), block(t, NULL, lo[1], &a, a.keys, a.width),
                     block(t, NULL, lo[2], &a, a.keys, a.deep)};
  run_both("whole", t, &a, &attr, src, out);
  static float g[ROOM];
  for (int64_t i = 0; i < a.batch[0] * a.batch[1] * a.queries; i++) {
    float *row = g + i * (a.deep + 2), sum = 0;
    for (int64_t j = 0; j < a.deep; j++) {
      row[j] = (float)get(t, operands[2], i * 2 * a.deep + j);
      sum += row[j] * (float)get(t, operands[2], i * 2 * a.deep + a.deep + j);
    }
    row[a.deep] = (float)get(TT_F32, operands[3], i);
    row[a.deep + 1] = sum;
  }
  tt_operand told[4] = {src[0], src[1], src[2], view(TT_F32, g, len[4], step[4], &a, a.queries, a.deep + 2)};
  attr.row = tt__lib_row("attention_back");
  for (int i = 0; i < 3; i++) out[i].data = got[i];
  CHECK_INT(attr.row->run(&attr, told, out, NULL), TT_OK);
  for (int i = 0; i < 3; i++) CHECK(memcmp(got[i], want[i], (size_t)out[i].size * tt__dtype_size(t)) == 0);
}

static const tt_dtype types[] = {TT_F32, TT_F64, TT_F16, TT_BF16};

TEST(attention_is_the_hosts) {
  const attending some[] = {
      {.batch = {1, 2}, .queries = 70, .keys = 130, .width = 24, .deep = 40},
      {.batch = {2, 1}, .queries = 129, .keys = 65, .width = 16, .deep = 8, .causal = true},
      {.batch = {1, 2}, .queries = 40, .keys = 100, .width = 17, .deep = 5, .mask = 1},
      {.batch = {1, 2}, .queries = 64, .keys = 64, .width = 64, .deep = 64, .mask = 2, .twisted = true},
      {.batch = {1, 1}, .queries = 63, .keys = 1, .width = 1, .deep = 130, .causal = true},
  };
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
      check(types[k], &some[i]);
      if (!some[i].mask && tt__dtype_size(types[k]) == 2) check_whole(types[k], some[i]);
    }
}

/* Rows that are vectors of 16 bytes: halves have a kernel of their own. */
TEST(vectors_of_halves) {
  const attending some[] = {
      {.batch = {2, 2}, .queries = 70, .keys = 130, .width = 24, .deep = 40},
      {.batch = {1, 2}, .queries = 130, .keys = 65, .width = 16, .deep = 8, .causal = true},
      {.batch = {2, 1}, .queries = 40, .keys = 100, .width = 64, .deep = 64, .mask = 1},
      {.batch = {1, 1}, .queries = 129, .keys = 129, .width = 128, .deep = 128, .mask = 2},
      {.batch = {1, 1}, .queries = 64, .keys = 192, .width = 8, .deep = 72},
  };
  fake_gpu.target.shared_block = 112 << 10;
  fake_gpu.target.arch = 80;
  for (int k = 2; k < 4; k++)
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check(types[k], &some[i]);
  fake_gpu.target.shared_block = 48 << 10;
  fake_gpu.target.arch = 0;
}

TEST(dropped_shares) {
  const attending some[] = {
      {.batch = {2, 1}, .queries = 70, .keys = 131, .width = 24, .deep = 40, .dropped = true},
      {.batch = {1, 2}, .queries = 129, .keys = 66, .width = 16, .deep = 8, .causal = true, .dropped = true},
      {.batch = {1, 2}, .queries = 3, .keys = 37, .width = 5, .deep = 3, .dropped = true, .twisted = true},
      {.batch = {1, 1}, .queries = 65, .keys = 1, .width = 1, .deep = 130, .dropped = true},
  };
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check(types[k], &some[i]);
}

/* Fewer tiles than the device has units, so a walk is cut. */
TEST(walks_in_parts) {
  const attending some[] = {
      {.batch = {1, 1}, .queries = 70, .keys = 450, .width = 8, .deep = 12},
      {.batch = {1, 1}, .queries = 460, .keys = 100, .width = 5, .deep = 66},
      {.batch = {1, 2}, .queries = 20, .keys = 390, .width = 4, .deep = 3, .mask = 1, .twisted = true},
      {.batch = {1, 1}, .queries = 64, .keys = 385, .width = 4, .deep = 4, .causal = true},
      {.batch = {1, 1}, .queries = 400, .keys = 65, .width = 3, .deep = 130, .causal = true},
      {.batch = {1, 1}, .queries = 3, .keys = 385, .width = 3, .deep = 0},
      {.batch = {1, 1}, .queries = 70, .keys = 386, .width = 4, .deep = 4, .dropped = true},
  };
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) check(types[i % 2], &some[i]);
  check(TT_BF16, &some[0]);
}

TEST(nothing_to_attend_to) {
  const attending some[] = {
      {.batch = {1, 2}, .queries = 3, .keys = 0, .width = 4, .deep = 5},
      {.batch = {1, 2}, .queries = 0, .keys = 3, .width = 4, .deep = 5},
      {.batch = {0, 2}, .queries = 2, .keys = 3, .width = 4, .deep = 5, .mask = 1},
      {.batch = {1, 1}, .queries = 2, .keys = 3, .width = 4, .deep = 0},
      {.batch = {1, 1}, .queries = 2, .keys = 3, .width = 0, .deep = 2},
  };
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) check(TT_F32, &some[i]);
}

TEST(any_sizes_and_steps) {
  for (int round = 0; round < 12; round++) {
    attending a = {.batch = {1 + draw_below(2), 1 + draw_below(2)},
                   .queries = 1 + draw_below(140),
                   .keys = 1 + draw_below(140),
                   .width = 1 + draw_below(20),
                   .deep = 1 + draw_below(20),
                   .mask = (int)draw_below(3),
                   .twisted = true};
    a.causal = !a.mask && draw_below(2);
    check(types[round % 4], &a);
  }
}

TEST_MAIN()
