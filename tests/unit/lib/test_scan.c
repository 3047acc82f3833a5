/*
** Scans and selections on the host against plain loops, for every type, with lengths around every block size.
*/
#include "lib/scan/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/scan/scan_int.h"
#include "lib/scan/select.h"
#include "scalar/prelude.h"
#include "check.h"

static const int64_t lengths[] = {0,    1,     2,     31,    32,    33,    63,    64,    65,    255,   256,
                                  257,  495,   496,   497,   1000,  3967,  3968,  3969,  4095,  4096,  4097,
                                  8000, 31743, 31744, 31745, 32767, 32768, 32769, 65535, 65536, 65537, 200001};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- integers: exact, against a plain loop in 64 bits */

static uint64_t combine(tt_scan op, uint64_t a, uint64_t b, tt_dtype t) {
  int shift = 64 - 8 * (int)tt__dtype_size(t);
  if (t == TT_BOOL) return op == TT_SCAN_SUM || op == TT_SCAN_MAX ? a | b : a & b;
  bool less = tt__is_unsigned(t) ? a << shift < b << shift : (int64_t)(a << shift) < (int64_t)(b << shift);
  switch (op) {
    case TT_SCAN_SUM:
      return a + b;
    case TT_SCAN_PROD:
      return a * b;
    case TT_SCAN_MAX:
      return less ? b : a;
    default:
      return less ? a : b;
  }
}

static uint64_t load(const char *p, size_t size) {
  uint64_t x = 0;
  memcpy(&x, p, size);
  return x;
}

static void check_ints(tt_scan op, tt_dtype t, int64_t outer, int64_t n, int64_t inner, bool initial) {
  size_t size = tt__dtype_size(t);
  int64_t count = outer * n * inner, n_out = n + initial;
  char *in = need((size_t)count * size), *out = need((size_t)(outer * n_out * inner) * size);
  for (int64_t i = 0; i < count; i++) {
    uint64_t r = draw() | (op == TT_SCAN_PROD);
    if (t == TT_BOOL) r = op == TT_SCAN_PROD || op == TT_SCAN_MIN ? r % 500 != 0 : r % 500 == 0;
    memcpy(in + (size_t)i * size, &r, size);
  }
  CHECK(tt__scan_rows(op, t, in, out, outer, n, inner, initial, NULL) == TT_OK, "scan failed");
  int64_t bad = 0;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < inner; k++) {
      uint64_t acc = op == TT_SCAN_PROD;
      for (int64_t i = 0; i < n_out; i++) {
        char want[8];
        if (i >= initial) {
          uint64_t x = load(in + (size_t)((o * n + i - initial) * inner + k) * size, size);
          acc = i == 0 ? x : combine(op, acc, x, t);
        }
        memcpy(want, &acc, 8);
        bad += memcmp(want, out + (size_t)((o * n_out + i) * inner + k) * size, size) != 0;
      }
    }
  CHECK(bad == 0, "op %d %s [%ld][%ld][%ld] initial %d: %ld wrong", op, tt__dtypes[t].name, (long)outer, (long)n,
        (long)inner, initial, (long)bad);
  if (!initial) { /* in place, and by several threads */
    tt__pool_resize(3);
    CHECK(tt__scan_rows(op, t, in, in, outer, n, inner, false, NULL) == TT_OK, "scan failed");
    tt__pool_resize(0);
    CHECK(memcmp(in, out, (size_t)count * size) == 0, "op %d %s n %ld in place differs", op, tt__dtypes[t].name,
          (long)n);
  }
  free(in), free(out);
}

/* ---- floats: near a long double loop, bit for bit NumPy's order when short, the same for any number of threads */

static void check_float(tt_scan op, int64_t outer, int64_t n, int64_t inner) {
  int64_t count = outer * n * inner;
  double *in = need((size_t)count * 8), *out = need((size_t)count * 8), *one = need((size_t)count * 8);
  for (int64_t i = 0; i < count; i++) {
    in[i] = (double)(draw() >> 11) * 0x1p-53;
    if (op == TT_SCAN_PROD) in[i] = 1 + (in[i] - 0.5) * 1e-4;
  }
  CHECK(tt__scan_rows(op, TT_F64, in, out, outer, n, inner, false, NULL) == TT_OK, "scan failed");
  tt__pool_resize(1);
  CHECK(tt__scan_rows(op, TT_F64, in, one, outer, n, inner, false, NULL) == TT_OK, "scan failed");
  tt__pool_resize(3);
  CHECK(memcmp(one, out, (size_t)count * 8) == 0, "f64 op %d n %ld depends on the threads", op, (long)n);
  CHECK(tt__scan_rows(op, TT_F64, in, one, outer, n, inner, false, NULL) == TT_OK, "scan failed");
  tt__pool_resize(0);
  CHECK(memcmp(one, out, (size_t)count * 8) == 0, "f64 op %d n %ld depends on the threads", op, (long)n);
  int64_t bad = 0;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < inner; k++) {
      long double exact = op == TT_SCAN_PROD;
      double plain = op == TT_SCAN_PROD, last = 0;
      for (int64_t i = 0; i < n; i++) {
        int64_t at = (o * n + i) * inner + k;
        exact = op == TT_SCAN_PROD ? exact * in[at] : exact + in[at];
        plain = op == TT_SCAN_PROD ? plain * in[at] : plain + in[at];
        if (fabsl(out[at] - exact) > 1e-12L * exact) bad++;
        if (n <= 4096 && out[at] != plain) bad++;
        if (op == TT_SCAN_SUM && out[at] < last) bad++;
        last = out[at];
      }
    }
  CHECK(bad == 0, "f64 op %d [%ld][%ld][%ld]: %ld wrong", op, (long)outer, (long)n, (long)inner, (long)bad);
  free(in), free(out), free(one);
}

static void check_nan(int64_t n) {
  float *in = need((size_t)n * 4), *out = need((size_t)n * 4);
  for (int op = TT_SCAN_MAX; op <= TT_SCAN_MIN; op++) {
    for (int64_t i = 0; i < n; i++) in[i] = (float)(int32_t)draw();
    in[n / 2] = NAN;
    CHECK(tt__scan_rows((tt_scan)op, TT_F32, in, out, 1, n, 1, false, NULL) == TT_OK, "scan failed");
    float acc = in[0];
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
      if (i < n / 2) acc = (op == TT_SCAN_MAX ? in[i] > acc : in[i] < acc) ? in[i] : acc;
      bad += i < n / 2 ? out[i] != acc : out[i] == out[i];
    }
    CHECK(bad == 0, "op %d with a NaN, n %ld: %ld wrong", op, (long)n, (long)bad);
  }
  free(in), free(out);
}

static void check_half(tt_dtype t, int64_t outer, int64_t n, int64_t inner) {
  int64_t count = outer * n * inner;
  uint16_t *in = need((size_t)count * 2), *out = need((size_t)count * 2);
  for (int64_t i = 0; i < count; i++) {
    float f = (float)(draw() % 16) / 1024.0f;
    in[i] = t == TT_F16 ? tt_cast_f32_f16(f) : tt_cast_f32_bf16(f);
  }
  CHECK(tt__scan_rows(TT_SCAN_SUM, t, in, out, outer, n, inner, false, NULL) == TT_OK, "scan failed");
  int64_t bad = 0;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < inner; k++) {
      float acc = 0; /* sums of multiples of 2^-10 below 2^14: exact in float32 */
      for (int64_t i = 0; i < n; i++) {
        int64_t at = (o * n + i) * inner + k;
        acc += t == TT_F16 ? tt_cast_f16_f32(in[at]) : tt_cast_bf16_f32(in[at]);
        bad += out[at] != (t == TT_F16 ? tt_cast_f32_f16(acc) : tt_cast_f32_bf16(acc));
      }
    }
  CHECK(bad == 0, "%s [%ld][%ld][%ld]: %ld wrong", tt__dtypes[t].name, (long)outer, (long)n, (long)inner, (long)bad);
  free(in), free(out);
}

static void check_complex(int64_t n) {
  tt_c64 *in = need((size_t)n * 8), *out = need((size_t)n * 8);
  for (int64_t i = 0; i < n; i++) in[i] = (tt_c64){(float)(draw() % 8), (float)(draw() % 8)};
  CHECK(tt__scan_rows(TT_SCAN_SUM, TT_C64, in, out, 1, n, 1, false, NULL) == TT_OK, "scan failed");
  float re = 0, im = 0;
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++) {
    re += in[i].re, im += in[i].im;
    bad += out[i].re != re || out[i].im != im;
  }
  CHECK(bad == 0, "complex sum, n %ld: %ld wrong", (long)n, (long)bad);
  tt_error err;
  CHECK(tt__scan_rows(TT_SCAN_MAX, TT_C64, in, out, 1, n, 1, false, &err) == TT_ETYPE, "complex maximum must fail");
  free(in), free(out);
}

static void check_initial_float(void) {
  float in[] = {2, 3, 4}, out[4];
  CHECK(tt__scan_rows(TT_SCAN_SUM, TT_F32, in, out, 1, 3, 1, true, NULL) == TT_OK, "scan failed");
  CHECK(out[0] == 0 && out[1] == 2 && out[3] == 9, "sum with an initial 0");
  CHECK(tt__scan_rows(TT_SCAN_PROD, TT_F32, in, out, 1, 3, 1, true, NULL) == TT_OK, "scan failed");
  CHECK(out[0] == 1 && out[1] == 2 && out[3] == 24, "product with an initial 1");
}

/* Every half, there and back, and rounding at the middle between two. */
static void check_conversion(void) {
  int bad = 0;
  for (uint32_t h = 0; h < 65536; h++) {
    float f = tt_cast_f16_f32((uint16_t)h), b = tt_cast_bf16_f32((uint16_t)h);
    bad += f == f ? tt_cast_f32_f16(f) != h : (tt_cast_f32_f16(f) & 0x7fff) <= 0x7c00;
    bad += b == b ? tt_cast_f32_bf16(b) != h : (tt_cast_f32_bf16(b) & 0x7fff) <= 0x7f80;
    if ((h & 0x7fff) < 0x7bff) {
      float next = tt_cast_f16_f32((uint16_t)(h + 1)), mid = (float)(((double)f + (double)next) / 2);
      bad += tt_cast_f32_f16(mid) != (h & 1 ? h + 1 : h);
    }
  }
  CHECK(bad == 0, "%d halves are converted wrong", bad);
}

/* ---- selection */

static void check_select(tt_dtype t, int64_t n, uint64_t of) {
  size_t size = tt__dtype_size(t);
  char *in = need((size_t)n * size);
  uint8_t *mask = need((size_t)n);
  int64_t want = 0, got, *place = need((size_t)n * 8), *out;
  memset(in, 0, (size_t)n * size);
  for (int64_t i = 0; i < n; i++) {
    mask[i] = draw() % of == 0 || (of > 100 && i > n / 2);
    if (mask[i]) in[(size_t)i * size + (size - 1) * (t != TT_BOOL && draw() % 2)] = 1;
    if (!mask[i] && t == TT_F32) in[(size_t)i * 4 + 3] = (char)0x80; /* -0.0 is zero */
    if (mask[i]) place[want++] = i;
  }
  got = tt__count_nonzero(t, in, n);
  CHECK(got == want, "%s n %ld: counted %ld of %ld", tt__dtypes[t].name, (long)n, (long)got, (long)want);
  out = need((size_t)want * 8);
  CHECK(tt__nonzero(t, in, n, out, NULL) == TT_OK, "nonzero failed");
  CHECK(memcmp(out, place, (size_t)want * 8) == 0, "nonzero %s n %ld", tt__dtypes[t].name, (long)n);
  free(in), free(mask), free(place), free(out);
}

static void check_repeat(int64_t n) {
  int64_t *count = need((size_t)n * 8), total, k = 0, bad = 0;
  for (int64_t i = 0; i < n; i++) count[i] = (int64_t)(draw() % 4);
  CHECK(tt__repeat_total(count, n, &total, NULL) == TT_OK, "total failed");
  int64_t *out = need((size_t)total * 8);
  CHECK(tt__repeat_index(count, n, out, NULL) == TT_OK, "repeat failed");
  for (int64_t i = 0; i < n; i++)
    for (int64_t c = 0; c < count[i]; c++) bad += out[k++] != i;
  CHECK(bad == 0 && k == total, "repeat n %ld", (long)n);
  if (n > 0) {
    count[n - 1] = -1;
    CHECK(tt__repeat_total(count, n, &total, NULL) == TT_EVALUE, "a negative count must fail");
  }
  free(count), free(out);
}

int main(void) {
  int64_t live = tt__mem_stats().live;
  check_conversion();
  check_initial_float();
  for (int op = 0; op < TT_SCAN_COUNT; op++)
    for (int t = TT_BOOL; t <= TT_U64; t++) {
      for (int l = 0; l < LENGTHS; l++) check_ints((tt_scan)op, (tt_dtype)t, 1, lengths[l], 1, l % 3 == 0 && op < 2);
      check_ints((tt_scan)op, (tt_dtype)t, 7, 1000, 3, op < 2);
      check_ints((tt_scan)op, (tt_dtype)t, 3, 5, 1000, false);
      check_ints((tt_scan)op, (tt_dtype)t, 100, 4097, 1, false);
    }
  for (int op = 0; op <= TT_SCAN_PROD; op++) {
    for (int l = 0; l < LENGTHS; l++) check_float((tt_scan)op, 1, lengths[l], 1);
    check_float((tt_scan)op, 1, 1000000, 1);
    check_float((tt_scan)op, 50, 5000, 1);
    check_float((tt_scan)op, 3, 100, 513);
    check_float((tt_scan)op, 2, 30, 4099);
  }
  for (int l = 1; l < LENGTHS; l++) check_nan(lengths[l]), check_complex(lengths[l]);
  for (tt_dtype t = TT_F16; t <= TT_BF16; t++) {
    for (int l = 0; l < LENGTHS; l++) check_half(t, 1, lengths[l], 1);
    check_half(t, 3, 100, 600);
    check_half(t, 2, 20, 2500);
    check_half(t, 20, 300, 2);
  }
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    for (int l = 0; l < LENGTHS; l++) check_select((tt_dtype)t, lengths[l], l % 2 ? 2 : 1000);
  for (int l = 0; l < LENGTHS; l++) check_repeat(lengths[l]);
  CHECK(tt__mem_stats().live == live, "%ld bytes leaked", (long)(tt__mem_stats().live - live));
  printf("%s\n", failures ? "FAILED" : "ok");
  return failures != 0;
}
