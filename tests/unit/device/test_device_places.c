/*
** Sums at places on devices, run by an emulated one, against the host's: the same bits, whether places are those of
** rows or not.
*/
#define TEST_KEEPS_MEMORY
#include "lib/device_call.h"
#include "lib/rows.h"
#include "lib/scan/fold.h"
#include "run/elements.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

enum { MOST = 6000 };

static int64_t place[MOST];
static double value[2 * MOST], want[2 * MOST], got[2 * MOST];

/* Registered by the driver elsewhere. */
__attribute__((constructor)) static void register_loops(void) { tt__fold_find = tt__elements_loop; }

static void check(tt_dtype t, int64_t n, int64_t len, int64_t width) {
  const tt_lib_row *row = tt__lib_row("sums_at");
  size_t size = tt__dtype_size(t);
  for (int64_t i = 0; i < 2 * n; i++) {
    double x = (double)(int64_t)draw_below(2000001) / 1e5 - 10;
    if (tt__real_of(t) == TT_F32)
      ((float *)value)[i] = (float)x;
    else
      value[i] = x;
  }
  tt_lib_attr attr = {.row = row, .i = {width}};
  tt_operand src[2] = {{.data = place, .dtype = TT_I64, .rank = 1, .len = &n, .size = n},
                       {.data = value, .dtype = t, .rank = 1, .len = &n, .size = n}};
  tt_block out = {.data = want, .dtype = t, .rank = 1, .len = &len, .size = len};
  memset(want, 0x55, sizeof want);
  memset(got, 0x55, sizeof got);
  CHECK_INT(row->run(&attr, src, &out, NULL), TT_OK);
  out.data = got;
  CHECK_INT(call_row(row, &attr, src, &out), TT_OK);
  CHECK(memcmp(got, want, (size_t)len * size) == 0);
}

/* Rows whose beginnings are told: the bits of the row that looks for them. */
static void check_known(tt_dtype t, int64_t rows, int64_t len, int64_t width) {
  int64_t n = rows * width;
  static int64_t first[MOST];
  check(t, n, len, width);
  for (int64_t r = 0; r < rows; r++) first[r] = place[r * width];
  tt_lib_attr attr = {.row = tt__lib_row("sums_at_rows"), .i = {width}};
  tt_operand src[2] = {{.data = first, .dtype = TT_I64, .rank = 1, .len = &rows, .size = rows},
                       {.data = value, .dtype = t, .rank = 1, .len = &n, .size = n}};
  tt_block out = {.data = got, .dtype = t, .rank = 1, .len = &len, .size = len};
  for (int on = 0; on < 2; on++) {
    memset(got, 0x55, sizeof got);
    CHECK_INT(on ? call_row(attr.row, &attr, src, &out) : attr.row->run(&attr, src, &out, NULL), TT_OK);
    CHECK(memcmp(got, want, (size_t)len * tt__dtype_size(t)) == 0);
  }
}

static const tt_dtype types[] = {TT_F32, TT_F64, TT_C64, TT_C128};

TEST(rows_that_come_once_or_often) {
  for (int k = 0; k < 4; k++)
    for (int64_t width = 1; width < 40; width += 13)
      for (int64_t rows = 1; rows < 100; rows = rows * 3 + 1) {
        for (int64_t i = 0; i < rows * width; i++)
          place[i] = i % width ? place[i - 1] + 1 : (int64_t)draw_below(20) * width;
        check(types[k], rows * width, 20 * width, width);
      }
}

TEST(rows_that_are_known) {
  for (int k = 0; k < 2; k++)
    for (int64_t width = 2; width < 40; width += 13)
      for (int64_t rows = 1; rows < 100; rows = rows * 3 + 1) {
        for (int64_t i = 0; i < rows * width; i++)
          place[i] = i % width ? place[i - 1] + 1 : (int64_t)draw_below(20) * width;
        check_known(types[k], rows, 20 * width, width);
      }
}

TEST(rows_that_reach_into_each_other) {
  for (int k = 0; k < 4; k++) {
    for (int64_t i = 0; i < 300; i++) place[i] = i % 10 + i / 10; /* windows */
    check(types[k], 300, 40, 10);
    for (int64_t i = 0; i < 300; i++) place[i] = i % 10 ? place[i - 1] + 1 : (int64_t)draw_below(31);
    check(types[k], 300, 40, 10);
  }
}

TEST(places_in_no_order) {
  for (int k = 0; k < 4; k++)
    for (int64_t n = 1; n < 3000; n = n * 3 + 2) {
      for (int64_t i = 0; i < n; i++) place[i] = (int64_t)draw_below(50) - 25; /* some from the end */
      check(types[k], n, 25, n % 4 == 0 ? 4 : 3);
      for (int64_t i = 0; i < n; i++) place[i] = 7; /* all the same */
      check(types[k], n, 25, 1);
    }
}

TEST(a_place_that_is_not_there_is_told) {
  const tt_lib_row *row = tt__lib_row("sums_at");
  int64_t n = 6, len = 5;
  tt_lib_attr attr = {.row = row, .i = {3}};
  tt_operand src[2] = {{.data = place, .dtype = TT_I64, .rank = 1, .len = &n, .size = n},
                       {.data = value, .dtype = TT_F64, .rank = 1, .len = &n, .size = n}};
  tt_block out = {.data = got, .dtype = TT_F64, .rank = 1, .len = &len, .size = len};
  for (int64_t bad = -7; bad < 8; bad += 14) {
    for (int64_t i = 0; i < n; i++) place[i] = i % 3;
    place[4] = bad;
    CHECK_INT(call_row(row, &attr, src, &out), TT_EINTERNAL);
  }
}

TEST_MAIN()
