/*
** The interpreter against plain loops: each mode, layout and part, bit for bit where the
** kernel contract fixes the arithmetic. Kernels are written in their text form.
*/
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "device/cpu/vm.h"

enum { MAX_AXES = 64, MAX_ACCESS = 8 };

/* ---- a launch, filled in by hand */

typedef struct launch {
  tt_vm_program *p;
  tt_kernel *k;
  void *buf[MAX_ACCESS];
  int64_t buf_len[MAX_ACCESS];
  int64_t len[MAX_AXES], off[MAX_ACCESS], step[MAX_ACCESS * MAX_AXES];
  tt_scalar scalar[8];
  void *scratch[2];
  void *partial[8];
  tt_kfault fault;
  tt_kargs args;
} launch;

static launch make(const char *text) {
  launch l;
  tt_error err = {0};
  memset(&l, 0, sizeof l);
  if (tt__kernel_parse(text, &l.k, &err) != TT_OK || tt__vm_build(l.k, &l.p, &err) != TT_OK) {
    printf("%s\n%s\n", text, err.message);
    assert(!"kernel");
  }
  return l;
}

static void drop(launch *l) {
  tt__vm_free(l->p);
  tt__kernel_free(l->k);
}

static void bind(launch *l) {
  l->args = (tt_kargs){.buf = l->buf,
                       .buf_len = l->buf_len,
                       .len = l->len,
                       .off = l->off,
                       .step = l->step,
                       .scalar = l->scalar,
                       .scratch = l->scratch,
                       .partial = l->partial,
                       .fault = &l->fault};
}

static void set_len(launch *l, int n, const int64_t *len) { memcpy(l->len, len, (size_t)n * sizeof *len); }

static void set_step(launch *l, int access, int64_t off, const int64_t *step) {
  l->off[access] = off;
  memcpy(l->step + access * l->k->naxes, step, l->k->naxes * sizeof *step);
}

static int lane_axis(const launch *l) { return l->k->mode == TT_MODE_COL ? l->k->nouter - 1 : l->k->naxes - 1; }

/* Outer points of the range: all outer axes, in MAP and COL without the lane. */
static int64_t outer_points(const launch *l) {
  int64_t n = 1;
  for (int k = 0; k < l->k->nouter; k++)
    if (l->k->mode == TT_MODE_ROW || k != lane_axis(l)) n *= l->len[k];
  return n;
}

static tt_krange whole(const launch *l) {
  tt_krange r = {.lo = 0, .hi = outer_points(l), .lane_lo = 0, .lane_hi = 1, .part = TT_PART_WHOLE};
  if (l->k->mode != TT_MODE_ROW && l->k->naxes) r.lane_hi = l->len[lane_axis(l)];
  return r;
}

static void run(launch *l) {
  bind(l);
  tt_krange r = whole(l);
  tt__vm_run(l->p, &l->args, &r);
}

/* CHUNK in pieces, backwards, then FINISH in pieces. */
static void run_split(launch *l, int64_t chunks, int64_t points) {
  size_t cells = (size_t)(chunks * points);
  int nred = l->k->nred;
  for (int i = 0; i < 2 * nred; i++) l->partial[i] = malloc(cells * 8);
  bind(l);
  l->args.npartial = chunks;
  tt_krange r = whole(l);
  r.part = TT_PART_CHUNK;
  for (int64_t c = chunks; c > 0; c -= 3) {
    r.chunk_hi = c;
    r.chunk_lo = c < 3 ? 0 : c - 3;
    tt__vm_run(l->p, &l->args, &r);
  }
  r = whole(l);
  r.part = TT_PART_FINISH;
  tt__vm_run(l->p, &l->args, &r);
  for (int i = 0; i < 2 * nred; i++) free(l->partial[i]);
}

static uint32_t seed = 1;
static uint32_t next(void) { return (seed = seed * 1664525u + 1013904223u) >> 8; }

static float *floats(int64_t n) {
  float *x = malloc((size_t)(n ? n : 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = (float)(next() % 20011) / 1009.0f - 9.5f;
  return x;
}

/* ---- maps */

/* out = (a * s + b) < a ? a : a * s + b : three layouts of its operands */
static const char *const chain =
    "kernel map outer=%d axes=%d phases=1 bufs=3 reds=0\n"
    "s0: f32\n"
    "a0: read f32 buf0 any\na1: read f32 buf1 %s\na2: write f32 buf2 any\n"
    "%%0 = const.f32 s0\n"
    "%%1 = load.f32 a0 @row0\n"
    "%%2 = load.f32 a1 @row0\n"
    "%%3 = mul.f32 %%1 %%0 @row0\n"
    "%%4 = add.f32 %%3 %%2 @row0\n"
    "%%5 = lt.f32 %%4 %%1 @row0\n"
    "%%6 = where.f32 %%5 %%1 %%4 @row0\n"
    "%%7 = store.f32 a2 %%6 @row0\n";

static float chain_of(float a, float b) {
  float t = a * 1.5f;
  t = t + b;
  return t < a ? a : t;
}

/* Any layout: offsets by hand, one point at a time. */
static void check_map(int n, const int64_t *len, int64_t a_off, const int64_t *a_step, int64_t b_off,
                      const int64_t *b_step, int64_t o_off, const int64_t *o_step, const char *b_lane) {
  enum { ROOM = 40000 };
  char text[1024];
  snprintf(text, sizeof text, chain, n, n, b_lane);
  launch l = make(text);
  float *a = floats(ROOM), *b = floats(ROOM), *out = floats(ROOM), *want = malloc(ROOM * sizeof *want);
  memcpy(want, out, ROOM * sizeof *want);
  l.scalar[0].f32 = 1.5f;
  l.buf[0] = a, l.buf[1] = b, l.buf[2] = out;
  set_len(&l, n, len);
  set_step(&l, 0, a_off, a_step);
  set_step(&l, 1, b_off, b_step);
  set_step(&l, 2, o_off, o_step);
  int64_t points = 1;
  for (int k = 0; k < n; k++) points *= len[k];
  for (int64_t q = 0; q < points; q++) {
    int64_t rest = q, x = a_off, y = b_off, z = o_off;
    for (int k = n - 1; k >= 0; k--) {
      int64_t at = rest % len[k];
      rest /= len[k];
      x += at * a_step[k], y += at * b_step[k], z += at * o_step[k];
    }
    assert(x >= 0 && x < ROOM && y >= 0 && y < ROOM && z >= 0 && z < ROOM);
    want[z] = chain_of(a[x], b[y]);
  }
  run(&l);
  assert(memcmp(out, want, ROOM * sizeof *want) == 0);
  /* The same in two ranges of points and two of lanes. */
  memset(out, 0, ROOM * sizeof *out);
  for (int64_t z = 0; z < ROOM; z++) out[z] = want[z];
  if (n > 0) {
    tt_krange r = whole(&l), full = r;
    for (int half = 0; half < 4; half++) {
      r.lo = half & 1 ? full.hi / 3 : 0;
      r.hi = half & 1 ? full.hi : full.hi / 3;
      r.lane_lo = half & 2 ? full.lane_hi / 2 : 0;
      r.lane_hi = half & 2 ? full.lane_hi : full.lane_hi / 2;
      tt__vm_run(l.p, &l.args, &r);
    }
  }
  assert(memcmp(out, want, ROOM * sizeof *want) == 0);
  free(a), free(b), free(out), free(want);
  drop(&l);
}

#define AXES(...) \
  (const int64_t[]) { __VA_ARGS__ }

static void test_maps(void) {
  static const int64_t sizes[] = {1, 2, 31, 63, 64, 65, 255, 256, 257, 1000, 1023, 1024, 1025, 5000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int64_t n = sizes[i];
    check_map(1, &n, 3, AXES(1), 0, AXES(1), 5, AXES(1), "unit");
    check_map(1, &n, 3 * n, AXES(-2), 1, AXES(3), n - 1, AXES(-1), "any");
    check_map(1, &n, 0, AXES(1), 7, AXES(0), 0, AXES(2), "none");
  }
  check_map(0, AXES(1), 3, AXES(1), 4, AXES(1), 5, AXES(1), "unit"); /* one point */
  for (int64_t lanes = 1; lanes < 80; lanes += lanes < 9 ? 1 : 13) {
    int64_t rows = 2500 / lanes + 1;
    check_map(2, AXES(rows, lanes), 0, AXES(lanes, 1), 0, AXES(0, 1), 0, AXES(lanes, 1), "unit");
    check_map(2, AXES(rows, lanes), 0, AXES(1, rows), 9, AXES(1, 0), 0, AXES(lanes + 2, 1), "none");
    check_map(2, AXES(rows, lanes), rows * lanes * 2, AXES(-lanes, -1), 0, AXES(0, 0), 1, AXES(1, rows), "any");
    check_map(2, AXES(rows, lanes), 0, AXES(2 * lanes, 2), 0, AXES(1, 1), 1, AXES(2 * lanes, 2), "any");
    check_map(3, AXES(rows / 3 + 1, 3, lanes), 0, AXES(3 * lanes, lanes, 1), 0, AXES(1, 0, 1), 0,
              AXES(3 * lanes, lanes, 1), "unit");
  }
  check_map(3, AXES(3, 4, 700), 0, AXES(1, 3, 12), 50, AXES(0, 700, 1), 0, AXES(2800, 700, 1), "any");
  check_map(5, AXES(2, 3, 1, 5, 7), 300, AXES(105, 35, 0, -7, 1), 0, AXES(0, 5, 3, 1, 0), 0, AXES(105, 35, 35, 7, 1),
            "none");
}

/* 64 axes, most of length one. */
static void test_many_axes(void) {
  int64_t len[MAX_AXES], a[MAX_AXES], b[MAX_AXES], o[MAX_AXES], at = 1;
  for (int k = MAX_AXES - 1; k >= 0; k--) {
    len[k] = k % 7 == 0 ? 2 : 1;
    o[k] = at;
    a[k] = k % 2 ? 11 : at;
    b[k] = k % 3 ? 0 : at;
    at *= len[k];
  }
  check_map(MAX_AXES, len, 0, a, 0, b, 0, o, "any");
}

/* In place: the output is the input, and another value still needs the old one. */
static void test_in_place(void) {
  enum { N = 3000 };
  launch l = make(
      "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0\n"
      "a0: read f32 buf0 unit\na1: write f32 buf1 unit\na2: write f32 buf2 unit\n"
      "%0 = load.f32 a0 @row0\n"
      "%1 = add.f32 %0 %0 @row0\n"
      "%2 = store.f32 a1 %1 @row0\n"
      "%3 = mul.f32 %0 %1 @row0\n"
      "%4 = store.f32 a2 %3 @row0\n");
  float *x = floats(N), *y = malloc(N * sizeof *y), *old = malloc(N * sizeof *old);
  memcpy(old, x, N * sizeof *old);
  l.buf[0] = l.buf[1] = x, l.buf[2] = y;
  l.len[0] = N;
  l.step[0] = l.step[1] = l.step[2] = 1;
  run(&l);
  for (int i = 0; i < N; i++) assert(x[i] == old[i] + old[i] && y[i] == old[i] * x[i]);
  free(x), free(y), free(old);
  drop(&l);
}

/* More lanes than 32 bits count, all in one place. */
static void test_beyond_int32(void) {
  launch l = make(
      "kernel map outer=2 axes=2 phases=1 bufs=1 reds=0\n"
      "a0: index any\na1: write i64 buf0 none\n"
      "%0 = index.i64 a0 @row0\n"
      "%1 = store.i64 a1 %0 @row0\n");
  int64_t last = 0;
  l.buf[0] = &last;
  set_len(&l, 2, AXES(5, INT64_C(3000000000)));
  set_step(&l, 0, -7, AXES(INT64_C(3000000000), 1));
  set_step(&l, 1, 0, AXES(0, 0));
  bind(&l);
  tt_krange r = {.lo = 4, .hi = 5, .lane_lo = INT64_C(3000000000) - 5000, .lane_hi = INT64_C(3000000000)};
  tt__vm_run(l.p, &l.args, &r);
  assert(last == INT64_C(15000000000) - 8);
  drop(&l);
}

static void test_ints_and_casts(void) {
  enum { N = 777 };
  launch l = make(
      "kernel map outer=1 axes=1 phases=1 bufs=4 reds=0\n"
      "s0: i8\n"
      "a0: read i8 buf0 any\na1: read u64 buf1 any\na2: write i8 buf2 any\na3: write f64 buf3 any\n"
      "%0 = const.i8 s0\n"
      "%1 = load.i8 a0 @row0\n"
      "%2 = mul.i8 %1 %0 @row0\n"
      "%3 = add.i8 %2 %1 @row0\n"
      "%4 = store.i8 a2 %3 @row0\n"
      "%5 = load.u64 a1 @row0\n"
      "%6 = cast.i8.u64 %3 @row0\n"
      "%7 = mul.u64 %5 %6 @row0\n"
      "%8 = cast.u64.f64 %7 @row0\n"
      "%9 = store.f64 a3 %8 @row0\n");
  int8_t a[N], out[N];
  uint64_t b[N];
  double d[N];
  for (int i = 0; i < N; i++) a[i] = (int8_t)next(), b[i] = ((uint64_t)next() << 40) ^ next();
  l.buf[0] = a, l.buf[1] = b, l.buf[2] = out, l.buf[3] = d;
  l.scalar[0].i8 = 37;
  l.len[0] = N;
  for (int i = 0; i < 4; i++) l.step[i] = 1;
  run(&l);
  for (int i = 0; i < N; i++) {
    int8_t want = (int8_t)((uint8_t)(a[i] * 37) + (uint8_t)a[i]);
    assert(out[i] == want && d[i] == (double)(b[i] * (uint64_t)(int64_t)want));
  }
  drop(&l);
}

/* Half floats in memory, dense, strided and in short lines; rounding after an op. */
static void test_halves(void) {
  static const int64_t shapes[][2] = {{1, 2000}, {500, 4}, {300, 7}, {3, 100}};
  for (size_t s = 0; s < 4; s++) {
    for (int strided = 0; strided < 2; strided++) {
      launch l = make(
          "kernel map outer=2 axes=2 phases=1 bufs=3 reds=0\n"
          "a0: read f16 buf0 any\na1: read bf16 buf1 none\na2: write f16 buf2 any\n"
          "%0 = load.f32 a0 @row0\n"
          "%1 = load.f32 a1 @row0\n"
          "%2 = mul.f32 %0 %1 @row0\n"
          "%3 = round.f16 %2 @row0\n"
          "%4 = add.f32 %3 %3 @row0\n"
          "%5 = store.f32 a2 %4 @row0\n");
      int64_t rows = shapes[s][0], lanes = shapes[s][1], gap = 1 + strided;
      uint16_t *x = calloc((size_t)(rows * lanes * 2), 2), *out = calloc((size_t)(rows * lanes * 2), 2);
      uint16_t *y = calloc((size_t)rows, 2);
      for (int64_t i = 0; i < rows * lanes * 2; i++) x[i] = (uint16_t)(0x3c00 + (i % 3) * 0x400); /* 1, 2, 4 */
      for (int64_t i = 0; i < rows; i++) y[i] = i % 2 ? 0x4040 : 0x3f80;                          /* 3, 1 */
      l.buf[0] = x, l.buf[1] = y, l.buf[2] = out;
      set_len(&l, 2, shapes[s]);
      set_step(&l, 0, 0, AXES(lanes * gap, gap));
      set_step(&l, 1, 0, AXES(1, 0));
      set_step(&l, 2, 0, AXES(lanes * gap, gap));
      run(&l);
      for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < lanes; c++) {
          int64_t at = (r * lanes + c) * gap;
          float want = (float)(1 << (at % 3)) * (r % 2 ? 6.0f : 2.0f);
          uint16_t h = out[at];
          assert(ldexpf((float)(1024 + (h & 1023)), (h >> 10) - 25) == want);
        }
      }
      free(x), free(y), free(out);
      drop(&l);
    }
  }
}

static void test_gather_scatter(void) {
  enum { N = 5000, M = 97 };
  launch l = make(
      "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0 serial\n"
      "a0: read i64 buf0 unit\na1: read f64 buf1 any\na2: write f64 buf2 any\na3: index any\n"
      "%0 = load.i64 a0 @row0\n"
      "%1 = loadx.f64 a1 %0 @row0\n"
      "%2 = index.i64 a3 @row0\n"
      "%3 = cast.i64.f64 %2 @row0\n"
      "%4 = add.f64 %1 %3 @row0\n"
      "%5 = storex.f64 a2 %0 %4 @row0\n");
  static int64_t at[N];
  double table[M], out[M] = {0}, want[M] = {0};
  for (int i = 0; i < M; i++) table[i] = i * 0.25;
  for (int i = 0; i < N; i++) at[i] = next() % M;
  for (int i = 0; i < N; i++) want[at[i]] = table[at[i]] + (10 + 3 * i);
  l.buf[0] = at, l.buf[1] = table, l.buf[2] = out;
  l.len[0] = N;
  l.step[0] = 1;
  set_step(&l, 3, 10, AXES(3));
  run(&l);
  assert(memcmp(out, want, sizeof out) == 0);
  drop(&l);
}

/* A scatter that reads what it wrote: a count of occurrences. */
static void test_scatter_in_order(void) {
  enum { N = 1000, M = 7 };
  launch l = make(
      "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0 serial\n"
      "s0: i32\n"
      "a0: read i64 buf0 unit\na1: read i32 buf1 any\na2: write i32 buf1 any\n"
      "%0 = const.i32 s0\n"
      "%1 = load.i64 a0 @row0\n"
      "%2 = loadx.i32 a1 %1 @row0\n"
      "%3 = add.i32 %2 %0 @row0\n"
      "%4 = storex.i32 a2 %1 %3 @row0\n");
  int64_t at[N];
  int32_t out[M] = {0}, want[M] = {0};
  for (int i = 0; i < N; i++) want[at[i] = next() % M]++;
  l.buf[0] = at, l.buf[1] = out;
  l.scalar[0].i32 = 1;
  l.len[0] = N;
  l.step[0] = 1;
  run(&l);
  assert(memcmp(out, want, sizeof out) == 0);
  drop(&l);
}

/* ---- rows */

/* The contract's sum of one row of `n` elements. */
static float sum_of(const float *x, int64_t step, int64_t n) {
  float total = 0, group = 0;
  for (int64_t lo = 0, chunk = 0; lo < n; lo += TT_CHUNK, chunk++) {
    float acc[TT_LANES] = {0};
    for (int64_t i = lo; i < n && i < lo + TT_CHUNK; i++) acc[(i - lo) % TT_LANES] += x[i * step];
    for (int w = TT_LANES / 2; w; w /= 2)
      for (int j = 0; j < w; j++) acc[j] += acc[j + w];
    group = chunk % TT_GROUP ? group + acc[0] : acc[0];
    if (chunk % TT_GROUP == TT_GROUP - 1 || lo + TT_CHUNK >= n) total = chunk < TT_GROUP ? group : total + group;
  }
  return total;
}

static void test_row_sum(void) {
  static const int64_t sizes[] = {1, 63, 64, 65, 1000, 65536, 65537, 200000, 64 * 65536, 130 * 65536 + 7};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (int gap = 1; gap < 3; gap++) {
      for (int split = 0; split < 2; split++) {
        int64_t n = sizes[s], rows = 3;
        launch l = make(
            "kernel row outer=1 axes=2 phases=1 bufs=2 reds=1\n"
            "a0: read f32 buf0 any\na1: write f32 buf1 any\n"
            "%0 = load.f32 a0 @row0\n"
            "%1 = sum.f32 r0 %0 @row0\n"
            "%2 = store.f32 a1 %1 @outer1\n");
        float *x = floats(rows * n * gap), out[3];
        l.buf[0] = x, l.buf[1] = out;
        set_len(&l, 2, AXES(rows, n));
        set_step(&l, 0, 0, AXES(n * gap, gap));
        set_step(&l, 1, 0, AXES(1, 0));
        if (split)
          run_split(&l, (n + TT_CHUNK - 1) / TT_CHUNK, rows);
        else
          run(&l);
        for (int64_t r = 0; r < rows; r++) {
          float want = sum_of(x + r * n * gap, gap, n);
          assert(memcmp(&out[r], &want, 4) == 0);
        }
        free(x);
        drop(&l);
      }
    }
  }
}

/* A row of several axes: lines are chunked whole, lanes restart with each line. */
static void test_row_of_lines(void) {
  static const int64_t shapes[][3] = {{2, 5, 70}, {7, 3, 20000}, {40, 50, 33}, {2, 2, 70000}};
  for (size_t s = 0; s < 4; s++) {
    int64_t rows = shapes[s][0] * shapes[s][1], len = shapes[s][2], per = tt__chunk_lines(len);
    launch l = make(
        "kernel row outer=0 axes=3 phases=1 bufs=3 reds=2\n"
        "a0: read f32 buf0 unit\na1: write f32 buf1 any\na2: write i64 buf2 any\n"
        "%0 = load.f32 a0 @row0\n"
        "%1 = square.f32 %0 @row0\n"
        "%2 = sum.f32 r0 %1 @row0\n"
        "%3 = argmax.f32 r1 %0 @row0\n"
        "%4 = store.f32 a1 %2 @outer1\n"
        "%5 = store.i64 a2 %3 @outer1\n");
    float *x = floats(rows * len), out, want = 0;
    int64_t at, best = 0;
    l.buf[0] = x, l.buf[1] = &out, l.buf[2] = &at;
    set_len(&l, 3, shapes[s]);
    set_step(&l, 0, 0, AXES(shapes[s][1] * len, len, 1));
    for (int64_t lo = 0; lo < rows; lo += per) {
      float acc[TT_LANES] = {0};
      for (int64_t r = lo; r < rows && r < lo + per; r++)
        for (int64_t i = 0; i < len; i++) acc[i % TT_LANES] += x[r * len + i] * x[r * len + i];
      for (int w = TT_LANES / 2; w; w /= 2)
        for (int j = 0; j < w; j++) acc[j] += acc[j + w];
      want = lo ? want + acc[0] : acc[0];
    }
    for (int64_t i = 0; i < rows * len; i++)
      if (x[i] > x[best]) best = i;
    run(&l);
    assert(memcmp(&out, &want, 4) == 0 && at == best);
    out = 0, at = -5;
    run_split(&l, (rows + per - 1) / per, 1);
    assert(memcmp(&out, &want, 4) == 0 && at == best);
    free(x);
    drop(&l);
  }
}

/* Three phases with a scratch, and a value of the outer scope in between. */
static void test_softmax(void) {
  static const int64_t sizes[] = {1, 3, 64, 1000, 5000};
  for (size_t s = 0; s < 5; s++) {
    int64_t n = sizes[s], rows = 7;
    launch l = make(
        "kernel row outer=1 axes=2 phases=3 bufs=2 reds=2\n"
        "s0: f32\n"
        "t0: f32\n"
        "a0: read f32 buf0 unit\na1: write f32 scratch0 unit\na2: read f32 scratch0 unit\na3: write f32 buf1 unit\n"
        "%0 = load.f32 a0 @row0\n"
        "%1 = max.f32 r0 %0 @row0\n"
        "%2 = load.f32 a0 @row1\n"
        "%3 = sub.f32 %2 %1 @row1\n"
        "%4 = exp.f32 %3 @row1\n"
        "%5 = store.f32 a1 %4 @row1\n"
        "%6 = sum.f32 r1 %4 @row1\n"
        "%7 = const.f32 s0\n"
        "%8 = div.f32 %7 %6 @outer2\n"
        "%9 = load.f32 a2 @row2\n"
        "%10 = mul.f32 %9 %8 @row2\n"
        "%11 = store.f32 a3 %10 @row2\n");
    float *x = floats(rows * n), *out = malloc((size_t)(rows * n) * 4), *scratch = malloc((size_t)n * 4);
    l.buf[0] = x, l.buf[1] = out, l.scratch[0] = scratch;
    l.scalar[0].f32 = 1;
    set_len(&l, 2, AXES(rows, n));
    set_step(&l, 0, 0, AXES(n, 1));
    set_step(&l, 3, 0, AXES(n, 1));
    run(&l);
    for (int64_t r = 0; r < rows; r++) {
      double sum = 0, top = -1e30;
      for (int64_t i = 0; i < n; i++) top = fmax(top, (double)x[r * n + i]);
      for (int64_t i = 0; i < n; i++) sum += exp((double)x[r * n + i] - top);
      for (int64_t i = 0; i < n; i++)
        assert(fabs((double)out[r * n + i] - exp((double)x[r * n + i] - top) / sum) < 1e-6);
    }
    free(x), free(out), free(scratch);
    drop(&l);
  }
}

/* Two reductions in a phase; weights along the row, a bias per row. */
static void test_layer_norm(void) {
  int64_t n = 700, rows = 5;
  launch l = make(
      "kernel row outer=1 axes=2 phases=3 bufs=4 reds=3\n"
      "s0: f64\n"
      "a0: read f64 buf0 unit\na1: read f64 buf1 unit\na2: read f64 buf2 none\na3: write f64 buf3 unit\n"
      "%0 = const.f64 s0\n"
      "%1 = load.f64 a0 @row0\n"
      "%2 = sum.f64 r0 %1 @row0\n"
      "%3 = min.f64 r2 %1 @row0\n"
      "%4 = mul.f64 %2 %0 @outer1\n"
      "%5 = load.f64 a0 @row1\n"
      "%6 = sub.f64 %5 %4 @row1\n"
      "%7 = square.f64 %6 @row1\n"
      "%8 = sum.f64 r1 %7 @row1\n"
      "%9 = mul.f64 %8 %0 @outer2\n"
      "%10 = sqrt.f64 %9 @outer2\n"
      "%11 = load.f64 a0 @row2\n"
      "%12 = sub.f64 %11 %4 @row2\n"
      "%13 = div.f64 %12 %10 @row2\n"
      "%14 = load.f64 a1 @row2\n"
      "%15 = mul.f64 %13 %14 @row2\n"
      "%16 = load.f64 a2 @row2\n"
      "%17 = add.f64 %15 %16 @row2\n"
      "%18 = add.f64 %17 %3 @row2\n"
      "%19 = store.f64 a3 %18 @row2\n");
  double *x = malloc((size_t)(rows * n) * 8), *out = malloc((size_t)(rows * n) * 8), *gain = malloc((size_t)n * 8),
         bias[5];
  for (int64_t i = 0; i < rows * n; i++) x[i] = (double)(next() % 1000) / 77.0;
  for (int64_t i = 0; i < n; i++) gain[i] = (double)(next() % 10);
  for (int i = 0; i < 5; i++) bias[i] = i;
  l.buf[0] = x, l.buf[1] = gain, l.buf[2] = bias, l.buf[3] = out;
  l.scalar[0].f64 = 1.0 / (double)n;
  set_len(&l, 2, AXES(rows, n));
  set_step(&l, 0, 0, AXES(n, 1));
  set_step(&l, 1, 0, AXES(0, 1));
  set_step(&l, 2, 0, AXES(1, 0));
  set_step(&l, 3, 0, AXES(n, 1));
  run(&l);
  for (int64_t r = 0; r < rows; r++) {
    double mean = 0, var = 0, low = 1e30;
    for (int64_t i = 0; i < n; i++) mean += x[r * n + i] / (double)n, low = fmin(low, x[r * n + i]);
    for (int64_t i = 0; i < n; i++) var += (x[r * n + i] - mean) * (x[r * n + i] - mean) / (double)n;
    for (int64_t i = 0; i < n; i++)
      assert(fabs(out[r * n + i] - ((x[r * n + i] - mean) / sqrt(var) * gain[i] + bias[r] + low)) < 1e-9);
  }
  free(x), free(out), free(gain);
  drop(&l);
}

/* NaN wins, the first of equals wins, whatever lane it falls in. */
static int64_t best_of(const float *x, int64_t n, int64_t step, bool max) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; i++) {
    float a = x[best * step], b = x[i * step];
    if (isnan(a)) break;
    if (isnan(b) || (max ? b > a : b < a)) best = i;
  }
  return best;
}

static void test_arg(void) {
  static const int64_t sizes[] = {1, 2, 64, 130, 5000, 66000, 140000};
  static const char *const text =
      "kernel %s outer=1 axes=2 phases=1 bufs=3 reds=2\n"
      "a0: read f32 buf0 any\na1: write i64 buf1 any\na2: write i64 buf2 any\n"
      "%%0 = load.f32 a0 @row0\n"
      "%%1 = argmax.f32 r0 %%0 @row0\n"
      "%%2 = argmin.f32 r1 %%0 @row0\n"
      "%%3 = store.i64 a1 %%1 @outer1\n"
      "%%4 = store.i64 a2 %%2 @outer1\n";
  for (int turn = 0; turn < 7 * 2 * 2 * 2; turn++) {
    bool col = turn & 1, split = turn & 2, nan = turn & 4;
    int64_t n = sizes[turn / 8], rows = 3;
    char full[512];
    snprintf(full, sizeof full, text, col ? "col" : "row");
    launch l = make(full);
    float *x = floats(rows * n);
    int64_t hi[3], lo[3];
    for (int64_t i = 0; i < rows * n; i++) x[i] = (float)(int)x[i]; /* many ties */
    if (nan) x[rows * n / 2] = x[rows * n - 1] = NAN;
    l.buf[0] = x, l.buf[1] = hi, l.buf[2] = lo;
    set_len(&l, 2, AXES(rows, n));
    set_step(&l, 0, 0, col ? AXES(1, rows) : AXES(n, 1));
    set_step(&l, 1, 0, AXES(1, 0));
    set_step(&l, 2, 0, AXES(1, 0));
    int64_t chunk = col ? TT_CHUNK_COL : TT_CHUNK;
    if (split)
      run_split(&l, (n + chunk - 1) / chunk, rows);
    else
      run(&l);
    for (int64_t r = 0; r < rows; r++) {
      const float *row = col ? x + r : x + r * n;
      assert(hi[r] == best_of(row, n, col ? rows : 1, true));
      assert(lo[r] == best_of(row, n, col ? rows : 1, false));
    }
    free(x);
    drop(&l);
  }
}

/* ---- columns */

static void test_col(void) {
  static const int64_t shapes[][2] = {{1, 5}, {3, 2500}, {4096, 3}, {4097, 70}, {10000, 1}, {9000, 300}};
  for (size_t s = 0; s < 6; s++) {
    for (int split = 0; split < 2; split++) {
      int64_t rows = shapes[s][0], lanes = shapes[s][1], outer = 2;
      launch l = make(
          "kernel col outer=2 axes=3 phases=1 bufs=3 reds=2\n"
          "a0: read f32 buf0 unit\na1: read f32 buf1 any\na2: write f32 buf2 any\n"
          "%0 = load.f32 a1 @outer0\n"
          "%1 = load.f32 a0 @row0\n"
          "%2 = mul.f32 %1 %0 @row0\n"
          "%3 = sum.f32 r0 %2 @row0\n"
          "%4 = max.f32 r1 %1 @row0\n"
          "%5 = add.f32 %3 %4 @outer1\n"
          "%6 = store.f32 a2 %5 @outer1\n");
      float *x = floats(outer * rows * lanes), *y = floats(lanes), *out = floats(outer * lanes);
      l.buf[0] = x, l.buf[1] = y, l.buf[2] = out;
      set_len(&l, 3, AXES(outer, lanes, rows));
      set_step(&l, 0, 0, AXES(rows * lanes, 1, lanes));
      set_step(&l, 1, lanes - 1, AXES(0, -1, 0));
      set_step(&l, 2, 0, AXES(lanes, 1, 0));
      if (split)
        run_split(&l, (rows + TT_CHUNK_COL - 1) / TT_CHUNK_COL, outer * lanes);
      else
        run(&l);
      for (int64_t q = 0; q < outer; q++) {
        for (int64_t c = 0; c < lanes; c++) {
          float total = 0, top = -INFINITY;
          for (int64_t lo = 0; lo < rows; lo += TT_CHUNK_COL) {
            float part = 0;
            for (int64_t r = lo; r < rows && r < lo + TT_CHUNK_COL; r++) {
              float v = x[(q * rows + r) * lanes + c];
              float t = v * y[lanes - 1 - c];
              part += t;
              top = v > top ? v : top;
            }
            total = lo ? total + part : part;
          }
          float want = total + top;
          assert(memcmp(&out[q * lanes + c], &want, 4) == 0);
        }
      }
      free(x), free(y), free(out);
      drop(&l);
    }
  }
}

/* A column mean, then its deviations: two phases, several row axes. */
static void check_col_phases(int64_t lanes) {
  int64_t a = 6, b = 11;
  launch l = make(
      "kernel col outer=1 axes=3 phases=2 bufs=3 reds=2\n"
      "s0: i64\n"
      "a0: read i64 buf0 any\na1: write i64 buf1 unit\na2: write i64 buf2 any\n"
      "%0 = const.i64 s0\n"
      "%1 = load.i64 a0 @row0\n"
      "%2 = sum.i64 r0 %1 @row0\n"
      "%3 = floordiv.i64 %2 %0 @outer1\n"
      "%4 = load.i64 a0 @row1\n"
      "%5 = sub.i64 %4 %3 @row1\n"
      "%6 = store.i64 a2 %5 @row1\n"
      "%7 = abs.i64 %5 @row1\n"
      "%8 = max.i64 r1 %7 @row1\n"
      "%9 = store.i64 a1 %8 @outer2\n");
  int64_t *x = malloc((size_t)(lanes * a * b) * 8), *out = malloc((size_t)lanes * 8),
          *dev = malloc((size_t)(lanes * a * b) * 8);
  for (int64_t i = 0; i < lanes * a * b; i++) x[i] = next() % 5000;
  l.buf[0] = x, l.buf[1] = out, l.buf[2] = dev;
  l.scalar[0].i64 = a * b;
  set_len(&l, 3, AXES(lanes, a, b));
  set_step(&l, 0, 0, AXES(1, b * lanes, lanes));
  set_step(&l, 1, 0, AXES(1, 0, 0));
  set_step(&l, 2, 0, AXES(a * b, b, 1));
  run(&l);
  for (int64_t c = 0; c < lanes; c++) {
    int64_t sum = 0, most = 0;
    for (int64_t r = 0; r < a * b; r++) sum += x[r * lanes + c];
    for (int64_t r = 0; r < a * b; r++) {
      int64_t d = x[r * lanes + c] - sum / (a * b);
      assert(dev[c * a * b + r] == d);
      most = llabs(d) > most ? llabs(d) : most;
    }
    assert(out[c] == most);
  }
  free(x), free(out), free(dev);
  drop(&l);
}

static void test_col_phases(void) {
  check_col_phases(1);
  check_col_phases(13); /* row points share blocks */
  check_col_phases(130);
  check_col_phases(3000);
}

/* Every reduction of every type it has, against a plain fold of exact values. */
static void test_all_reductions(void) {
  static const struct {
    const char *name, *type;
  } rows[] = {{"sum", "i8"}, {"prod", "i32"}, {"max", "u8"},  {"min", "i16"},  {"any", "b8"},  {"all", "b8"},
              {"max", "b8"}, {"sum", "u64"},  {"min", "f64"}, {"prod", "f64"}, {"max", "i64"}, {"sum", "b8"}};
  for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {
    for (int col = 0; col < 2; col++) {
      char text[512];
      snprintf(text, sizeof text,
               "kernel %s outer=1 axes=2 phases=1 bufs=2 reds=1\n"
               "a0: read %s buf0 any\na1: write %s buf1 any\n"
               "%%0 = load.%s a0 @row0\n%%1 = %s.%s r0 %%0 @row0\n%%2 = store.%s a1 %%1 @outer1\n",
               col ? "col" : "row", rows[t].type, rows[t].type, rows[t].type, rows[t].name, rows[t].type, rows[t].type);
      launch l = make(text);
      uint64_t in[200], out[2] = {0, 0}, none[2];
      memset(in, 1, sizeof in); /* 0x01 bytes: a small value of every type, true */
      if (strcmp(rows[t].type, "f64") == 0)
        for (int i = 0; i < 200; i++) ((double *)in)[i] = i == 77 ? -3.5 : 1.0;
      l.buf[0] = in, l.buf[1] = out;
      set_len(&l, 2, AXES(1, 100));
      set_step(&l, 0, 0, AXES(0, 1));
      run(&l);
      memcpy(none, out, sizeof none);
      if (strcmp(rows[t].name, "sum") == 0 && strcmp(rows[t].type, "i8") == 0) assert(*(int8_t *)out == 100);
      if (strcmp(rows[t].name, "prod") == 0 && strcmp(rows[t].type, "f64") == 0) assert(*(double *)out == -3.5);
      if (strcmp(rows[t].name, "min") == 0 && strcmp(rows[t].type, "f64") == 0) assert(*(double *)out == -3.5);
      if (strcmp(rows[t].name, "min") == 0 && strcmp(rows[t].type, "i16") == 0) assert(*(int16_t *)out == 0x101);
      if (strcmp(rows[t].name, "max") == 0) assert(*(uint8_t *)out == 1);
      if (strcmp(rows[t].type, "b8") == 0) assert(*(uint8_t *)out == 1);
      if (strcmp(rows[t].type, "u64") == 0) assert(out[0] == 100 * UINT64_C(0x0101010101010101));
      drop(&l);
    }
  }
}

/* ---- checked kernels */

static void test_checked(void) {
  enum { N = 10 };
  launch l = make(
      "kernel map outer=1 axes=1 phases=1 bufs=3 reds=0 checked\n"
      "a0: read f32 buf0 unit\na1: read i64 buf1 unit\na2: write f32 buf2 unit\n"
      "%0 = load.i64 a1 @row0\n"
      "%1 = loadx.f32 a0 %0 @row0\n"
      "%2 = load.f32 a0 @row0\n"
      "%3 = add.f32 %1 %2 @row0\n"
      "%4 = store.f32 a2 %3 @row0\n");
  float x[N], out[N + 1];
  int64_t at[N];
  for (int i = 0; i < N; i++) x[i] = (float)i, at[i] = N - 1 - i;
  for (int turn = 0; turn < 4; turn++) {
    at[4] = turn == 1 ? N : turn == 2 ? -1 : 5;
    l.fault = (tt_kfault){0};
    memset(out, 0, sizeof out);
    out[N] = out[N - 1] = 77;
    l.buf[0] = x, l.buf[1] = at, l.buf[2] = out;
    l.buf_len[0] = l.buf_len[1] = N;
    l.buf_len[2] = turn == 3 ? N - 1 : N;
    l.len[0] = N;
    l.step[0] = l.step[1] = l.step[2] = 1;
    run(&l);
    if (turn == 0) assert(l.fault.access == 0);
    if (turn == 1) assert(l.fault.access == 1 && l.fault.index == N && l.fault.len == N);
    if (turn == 2) assert(l.fault.access == 1 && l.fault.index == -1);
    if (turn == 3) assert(l.fault.access == 3 && l.fault.index == N - 1 && l.fault.len == N - 1);
    for (int i = 0; i < N; i++) {
      bool bad = turn == 1 || turn == 2;
      float want = turn == 3 && i == N - 1 ? 77 : (i == 4 && bad ? 0 : x[at[i]]) + x[i];
      assert(out[i] == want);
    }
    assert(out[N] == 77);
  }
  drop(&l);
}

/* ---- memory and threads */

static const char *const two_sums =
    "kernel row outer=1 axes=2 phases=1 bufs=2 reds=1\n"
    "a0: read f32 buf0 any\na1: write f32 buf1 any\n"
    "%0 = load.f32 a0 @row0\n"
    "%1 = square.f32 %0 @row0\n"
    "%2 = exp.f32 %1 @row0\n"
    "%3 = sum.f32 r0 %2 @row0\n"
    "%4 = store.f32 a1 %3 @outer1\n";

/* A build that is refused memory leaks nothing; a run that is refused memory runs in the reserve. */
static void test_no_memory(void) {
  tt_kernel *k;
  assert(tt__kernel_parse(two_sums, &k, NULL) == TT_OK);
  tt__vm_trim();
  for (int64_t n = 0;; n++) {
    int64_t live = tt__mem_stats().live;
    tt_vm_program *p = NULL;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code c = tt__vm_build(k, &p, NULL);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    tt__vm_free(p);
    assert(tt__mem_stats().live == live);
    if (c == TT_OK) break;
    assert(c == TT_ENOMEM && !p);
  }
  tt__kernel_free(k);
  launch l = make(two_sums);
  float *x = floats(1000), out = 0, again = 0;
  l.buf[0] = x, l.buf[1] = &out;
  set_len(&l, 2, AXES(1, 1000));
  set_step(&l, 0, 0, AXES(0, 1));
  run(&l);
  tt__vm_trim();
  l.buf[1] = &again;
  tt__fault_arm(TT_FAULT_MEMORY, 0, true);
  run(&l);
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  assert(out == again && out != 0);
  free(x);
  drop(&l);
}

typedef struct worker {
  launch *l;
  float out[64];
  bool starve;
} worker;

static void *work(void *arg) {
  worker *w = arg;
  void *buf[2] = {w->l->buf[0], w->out};
  tt_kargs args = w->l->args;
  args.buf = buf;
  for (int turn = 0; turn < 50; turn++) {
    tt_krange r = {.lo = turn % 3, .hi = 64, .part = TT_PART_WHOLE};
    tt__vm_run(w->l->p, &args, &r);
    if (turn == 25 && w->starve) tt__vm_trim();
  }
  return NULL;
}

/* One program in many threads, some of them sharing the reserve. */
static void test_threads(void) {
  enum { THREADS = 6 };
  launch l = make(two_sums);
  float *x = floats(64 * 500), want[64];
  l.buf[0] = x, l.buf[1] = want;
  set_len(&l, 2, AXES(64, 500));
  set_step(&l, 0, 0, AXES(500, 1));
  set_step(&l, 1, 0, AXES(1, 0));
  run(&l);
  for (int starve = 0; starve < 2; starve++) {
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    if (starve) tt__fault_arm(TT_FAULT_MEMORY, 0, true);
    for (int t = 0; t < THREADS; t++) {
      workers[t] = (worker){.l = &l, .starve = starve};
      assert(pthread_create(&threads[t], NULL, work, &workers[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
      pthread_join(threads[t], NULL);
      assert(memcmp(workers[t].out, want, sizeof want) == 0);
    }
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  }
  free(x);
  drop(&l);
}

int main(void) {
  int64_t live = tt__mem_stats().live;
  test_maps();
  test_many_axes();
  test_in_place();
  test_beyond_int32();
  test_ints_and_casts();
  test_halves();
  test_gather_scatter();
  test_scatter_in_order();
  test_row_sum();
  test_row_of_lines();
  test_softmax();
  test_layer_norm();
  test_arg();
  test_col();
  test_col_phases();
  test_all_reductions();
  test_checked();
  test_no_memory();
  test_threads();
  tt__vm_trim();
  assert(tt__mem_stats().live == live);
  printf("vm: ok\n");
  return 0;
}
