/*
** Scans of devices, run by an emulated one, against those of the host: the same bits where the order of the operations
** is the same or does not matter, else close to them and the same each time.
*/
#define TEST_KEEPS_MEMORY
#include <math.h>

#include "lib/rows.h"
#include "lib/device_call.h"
#include "lib/scan/host.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

static void fill(tt_dtype t, tt_scan op, void *p, int64_t n) {
  size_t size = tt__dtype_size(t);
  for (int64_t i = 0; i < n; i++) {
    uint64_t r = draw();
    double v = (double)(int64_t)(r % 2001 - 1000) / 1000;
    if (op == TT_SCAN_PROD) v = 1 + v / 4096;
    tt_scalar x = {.bits = {r, draw()}};
    if (t == TT_BOOL) x.b8 = op == TT_SCAN_PROD || op == TT_SCAN_MIN ? r % 97 != 0 : r % 97 == 0;
    if (op == TT_SCAN_SUM || op == TT_SCAN_PROD) switch (t) {
        case TT_F16:
          x.f16 = (uint16_t)(op == TT_SCAN_PROD ? 0x3c00 + (r & 1) : r & 0x9fff);
          break;
        case TT_BF16:
          x.bf16 = (uint16_t)(op == TT_SCAN_PROD ? 0x3f80 : r & 0xbfff);
          break;
        case TT_F32:
          x.f32 = (float)v;
          break;
        case TT_F64:
          x.f64 = v;
          break;
        case TT_C64:
          x.c64 = (tt_c64){(float)v, op == TT_SCAN_PROD ? 0.001f : -(float)v};
          break;
        case TT_C128:
          x.c128 = (tt_c128){v, op == TT_SCAN_PROD ? 0.001 : 1 - v};
          break;
        default:;
      }
    memcpy((char *)p + (size_t)i * size, &x, size);
  }
}

static double part(tt_dtype t, const void *p, int64_t i) {
  switch (t) {
    case TT_F32:
    case TT_C64:
      return ((const float *)p)[i];
    case TT_F64:
    case TT_C128:
      return ((const double *)p)[i];
    default:
      return 0;
  }
}

/* The largest distance of two results next to the largest size of one. */
static double distance(tt_dtype t, const void *a, const void *b, int64_t n) {
  double most = 0, size = 1e-30;
  if (tt__is_complex(t)) n *= 2;
  for (int64_t i = 0; i < n; i++) {
    double x = part(t, a, i), y = part(t, b, i);
    most = fmax(most, fabs(x - y));
    size = fmax(size, fabs(x));
  }
  return most / size;
}

static void check(tt_scan op, tt_dtype t, int64_t outer, int64_t n, int64_t inner, bool initial, int64_t shift,
                  bool same) {
  size_t size = tt__dtype_size(t);
  int64_t in_n = outer * n * inner, out_n = outer * (n + initial) * inner;
  char *in = malloc((size_t)(in_n + shift + 1) * size), *want = malloc((size_t)(out_n + 1) * size);
  char *got = calloc((size_t)(out_n + 1), size), *again = calloc((size_t)(out_n + 1), size);
  char *from = in + (size_t)shift * size;
  fill(t, op, from, in_n);
  CHECK_INT(tt__scan_rows(op, t, from, want, outer, n, inner, initial, NULL), TT_OK);
  const tt_lib_row *row = tt__lib_row("scan");
  tt_lib_attr attr = {.row = row, .i = {op, n, inner, initial}};
  tt_operand src = {.data = from, .dtype = t, .rank = 1, .len = &in_n, .size = in_n};
  for (int k = 0; k < 2; k++) {
    tt_block out = {.data = k ? again : got, .dtype = t, .rank = 1, .len = &out_n, .size = out_n};
    CHECK_INT(call_row(row, &attr, &src, &out), TT_OK);
  }
  size_t bytes = (size_t)(out_n)*size;
  bool equal = memcmp(got, want, bytes) == 0;
  if (memcmp(got, again, bytes + size) != 0 || (same && !equal)) {
    size_t at = 0;
    while (at < bytes && got[at] == want[at]) at++;
    fprintf(stderr, "scan %d of %s, %lld x %lld x %lld, initial %d: differs at byte %zu of %zu\n", op,
            tt__dtypes[t].name, (long long)outer, (long long)n, (long long)inner, initial, at, bytes);
    test_failures++;
  }
  if (!same && !tt__is_float(t) && !tt__is_complex(t)) CHECK(equal);
  if (!same && size >= 4) CHECK(distance(t, got, want, out_n) < (t == TT_F32 || t == TT_C64 ? 1e-5 : 1e-13));
  free(in), free(want), free(got), free(again);
}

TEST(sums_of_integers) {
  check(TT_SCAN_SUM, TT_I32, 1, 300000, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_I32, 1, 300001, 1, true, 1, true);
  check(TT_SCAN_SUM, TT_I32, 3, 40000, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_I32, 7, 1000, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_I32, 5000, 3, 1, true, 0, true);
  check(TT_SCAN_SUM, TT_I32, 2, 9000, 3, true, 0, true);
  check(TT_SCAN_SUM, TT_I32, 2, 90, 300, true, 0, true);
  check(TT_SCAN_SUM, TT_I32, 3, 0, 2, true, 0, true);
  check(TT_SCAN_SUM, TT_I32, 1, 1, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_I64, 1, 1200000, 1, false, 0, true); /* more than one group of tiles */
  check(TT_SCAN_SUM, TT_I8, 2, 50003, 1, false, 3, true);
  check(TT_SCAN_PROD, TT_U64, 1, 10000, 1, true, 0, true);
  check(TT_SCAN_PROD, TT_U16, 5, 10000, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_BOOL, 1, 30000, 1, false, 0, true);
  check(TT_SCAN_PROD, TT_BOOL, 1, 30000, 1, false, 0, true);
}

TEST(extremes) {
  check(TT_SCAN_MAX, TT_F32, 1, 100000, 1, false, 0, true);
  check(TT_SCAN_MIN, TT_F64, 3, 30000, 1, false, 1, true);
  check(TT_SCAN_MAX, TT_F16, 2, 30000, 1, false, 0, false);
  check(TT_SCAN_MIN, TT_I8, 2, 30000, 1, false, 0, true);
  check(TT_SCAN_MAX, TT_I64, 2, 30000, 1, false, 0, true);
  check(TT_SCAN_MIN, TT_U32, 2, 30000, 1, false, 0, true);
}

/* With sums ahead of the scan, and without: the same bits. */
TEST(sums_ahead_change_no_bit) {
  enum { N = 150000 };
  const tt_device_shape was = tt__device_shape;
  static double x[N], y[2][N];
  int64_t n = N;
  if (call_gpu()) return;
  fill(TT_F64, TT_SCAN_SUM, (char *)x, n);
  const tt_lib_row *row = tt__lib_row("scan");
  tt_operand src = {.data = x, .dtype = TT_F64, .rank = 1, .len = &n, .size = n};
  tt__device_shape.scan_threads = 64;
  for (int k = 0; k < 2; k++) {
    tt_lib_attr attr = {.row = row, .i = {TT_SCAN_SUM, n / 2, 1, 0}};
    tt_block out = {.data = y[k], .dtype = TT_F64, .rank = 1, .len = &n, .size = n};
    fake_gpu.target.cache_bytes = k ? (int64_t)1 << 26 : 0;
    tt__device_shape.scan_ahead = 7;
    CHECK_INT(call_row(row, &attr, &src, &out), TT_OK);
  }
  CHECK(memcmp(y[0], y[1], sizeof y[0]) == 0);
  check(TT_SCAN_SUM, TT_I32, 1, 300001, 1, true, 1, true);
  check(TT_SCAN_MAX, TT_F32, 3, 100000, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_I64, 1, 140000, 1, false, 0, true); /* more than one group of tiles */
  fake_gpu.target.cache_bytes = 0;
  tt__device_shape = was;
}

TEST(short_rows_have_the_bits_of_the_host) {
  check(TT_SCAN_SUM, TT_F32, 1, 4096, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_F32, 700, 33, 1, true, 0, true);
  check(TT_SCAN_SUM, TT_F32, 40, 3000, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_F32, 1, 50, 5000, false, 0, true);
  check(TT_SCAN_SUM, TT_F32, 2, 5000, 2500, true, 0, true);
  check(TT_SCAN_PROD, TT_F64, 9, 1000, 1, true, 0, true);
  check(TT_SCAN_SUM, TT_F16, 9, 1000, 1, true, 0, true);
  check(TT_SCAN_SUM, TT_BF16, 1, 100, 7, true, 0, true);
  check(TT_SCAN_PROD, TT_C64, 9, 1000, 1, true, 0, true);
  check(TT_SCAN_SUM, TT_C128, 9, 1000, 1, true, 0, true);
}

TEST(long_rows_are_close_to_the_host) {
  check(TT_SCAN_SUM, TT_F32, 1, 2000001, 1, false, 0, false);
  check(TT_SCAN_SUM, TT_F32, 3, 70000, 1, true, 2, false);
  check(TT_SCAN_SUM, TT_F32, 1, 20000, 3, true, 2, false);
  check(TT_SCAN_PROD, TT_F64, 1, 30000, 1, true, 0, false);
  check(TT_SCAN_SUM, TT_F16, 1, 10000, 1, true, 0, false);
  check(TT_SCAN_PROD, TT_C64, 1, 10000, 1, false, 0, false);
  check(TT_SCAN_SUM, TT_C128, 1, 100000, 1, true, 0, false);
}

/* The larger tiles of very long rows, here of all. */
TEST(larger_tiles_scan_as_well) {
  const tt_device_shape was = tt__device_shape;
  tt__device_shape.scan_long = 0;
  check(TT_SCAN_SUM, TT_I32, 1, 300001, 1, true, 1, true);
  check(TT_SCAN_SUM, TT_F32, 1, 300001, 1, false, 0, false);
  check(TT_SCAN_MAX, TT_F32, 3, 100000, 1, false, 0, true);
  check(TT_SCAN_SUM, TT_U32, 1, 20000, 3, true, 2, true);
  tt__device_shape = was;
}

TEST_MAIN()
