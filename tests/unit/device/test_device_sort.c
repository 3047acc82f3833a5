/*
** Sorts of devices, run by an emulated one, against those of the host: the same bits.
*/
#define TEST_KEEPS_MEMORY
#include "lib/device_call.h"
#include "lib/rows.h"
#include "lib/sort/host.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

/* How elements are spread: all bits, a few values (zeros and NaNs of several kinds among them), all equal. */
enum { ANY, FEW, EQUAL };

static void fill(tt_dtype t, int spread, void *p, int64_t n) {
  static const float few[8] = {0, -0.0f, 1, -1, 2.5f, 3, -7, 100};
  size_t size = tt__dtype_size(t), part = tt__dtype_size(tt__real_of(t));
  for (int64_t i = 0; i < n; i++) {
    tt_scalar x = {.bits = {draw(), draw()}};
    char *to = (char *)p + (size_t)i * size;
    if (t == TT_BOOL) x.b8 &= 1;
    if (spread == EQUAL) x.bits[0] = x.bits[1] = 0x3ff0000000000001u & (t == TT_BOOL ? 1 : -1);
    for (size_t at = 0; at < size; at += part) {
      uint64_t r = draw();
      memcpy(to + at, (const char *)&x + at, part);
      if (spread != FEW) continue;
      float f = few[r % 8];
      double d = f;
      uint64_t nan =
          part == 4 ? 0x7fc00000u | (r >> 20 & 0x80000003u) : 0x7ff8000000000000u | (r & 1) << 63 | (r >> 9 & 3);
      uint64_t few_int = r % 5;
      if (tt__real_of(t) == TT_F32)
        memcpy(to + at, r % 11 ? (void *)&f : (void *)&nan, 4);
      else if (tt__real_of(t) == TT_F64)
        memcpy(to + at, r % 11 ? (void *)&d : (void *)&nan, 8);
      else
        memcpy(to + at, &few_int, part);
    }
  }
}

static void check(tt_dtype t, int spread, int64_t rows, int64_t n, bool places, bool descending) {
  size_t size = tt__dtype_size(t), out_size = places ? 8 : size;
  int64_t all = rows * n, len[2] = {rows, n};
  char *in = malloc((size_t)all * size + 1), *want = malloc((size_t)all * out_size + 1);
  char *got = calloc((size_t)all + 1, out_size);
  fill(t, spread, in, all);
  if (places)
    CHECK_INT(tt__argsort_rows(t, in, (int64_t *)want, rows, n, descending, NULL), TT_OK);
  else
    CHECK_INT(tt__sort_rows(t, in, want, rows, n, descending, NULL), TT_OK);
  const tt_lib_row *row = tt__lib_row(places ? "argsort" : "sort");
  tt_lib_attr attr = {.row = row, .i = {descending}};
  tt_operand src = {.data = in, .dtype = t, .rank = 2, .len = len, .size = all};
  tt_block out = {.data = got, .dtype = places ? TT_I64 : t, .rank = 2, .len = len, .size = all};
  CHECK_INT(call_row(row, &attr, &src, &out), TT_OK);
  if (memcmp(got, want, (size_t)all * out_size) != 0) {
    size_t at = 0;
    while (got[at] == want[at]) at++;
    fprintf(stderr, "%s of %s, spread %d, %lld x %lld, %s: differs at element %zu\n", row->name, tt__dtypes[t].name,
            spread, (long long)rows, (long long)n, descending ? "descending" : "ascending", at / out_size);
    test_failures++;
  }
  free(in), free(want), free(got);
}

TEST(every_type_in_blocks) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    check((tt_dtype)t, ANY, 1, 1000, false, false);
    check((tt_dtype)t, FEW, 40, 33, true, t % 2);
  }
}

TEST(every_type_in_tiles) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    check((tt_dtype)t, FEW, 1, 20000, t % 2, t % 3 == 0);
    check((tt_dtype)t, ANY, 2, 9000, !(t % 2), t % 3 == 0);
  }
}

TEST(blocks_of_every_shape) {
  check(TT_F32, FEW, 1, 1, false, false);
  check(TT_F32, FEW, 1, 1, true, false);
  check(TT_F32, FEW, 3, 4096, false, false);
  check(TT_F32, FEW, 3, 4095, true, true);
  check(TT_F32, ANY, 9000, 2, false, false);
  check(TT_F32, FEW, 300, 17, true, false);
  check(TT_F32, EQUAL, 3, 300, false, false);
  check(TT_I64, EQUAL, 30, 300, true, false);
}

TEST(tiles_of_every_shape) {
  check(TT_F32, ANY, 1, 100000, false, false);
  check(TT_F32, FEW, 1, 100000, true, true);
  check(TT_F32, ANY, 5, 8448, false, true);
  check(TT_I64, FEW, 3, 10001, true, false);
  check(TT_I64, EQUAL, 2, 10001, true, false);
  check(TT_F64, EQUAL, 2, 10001, false, false);
}

TEST(tiles_of_other_sizes) {
  const tt_device_shape was = tt__device_shape;
  tt__device_shape.sort_threads = tt__device_shape.place_threads = 384;
  tt__device_shape.sort_items = tt__device_shape.place_items = 7;
  check(TT_F32, FEW, 2, 12345, true, false);
  check(TT_F32, ANY, 2, 12345, false, true);
  tt__device_shape = was;
}

TEST(keys_of_many_columns) {
  enum { KEYS = 3, ROWS = 2, N = 6000 };
  for (int k = 1; k <= KEYS; k++)
    for (int64_t n = 100; n <= N; n += N - 100) {
      int64_t len[3] = {k, ROWS, n};
      float *in = malloc(sizeof *in * (size_t)(KEYS * ROWS * N));
      int64_t *want = malloc(sizeof *want * ROWS * N), *got = malloc(sizeof *got * ROWS * N);
      fill(TT_F32, FEW, in, KEYS * ROWS * N);
      const tt_lib_row *row = tt__lib_row("lexsort");
      tt_lib_attr attr = {.row = row};
      tt_operand src = {.data = in, .dtype = TT_F32, .rank = 3, .len = len, .size = k * ROWS * n};
      tt_block out = {.data = want, .dtype = TT_I64, .rank = 2, .len = len + 1, .size = ROWS * n};
      CHECK_INT(row->run(&attr, &src, &out, NULL), TT_OK);
      out.data = got;
      CHECK_INT(call_row(row, &attr, &src, &out), TT_OK);
      CHECK(memcmp(got, want, sizeof *got * (size_t)(ROWS * n)) == 0);
      free(in), free(want), free(got);
    }
}

TEST_MAIN()
