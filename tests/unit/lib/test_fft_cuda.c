/*
** Transforms on a CUDA device against those of the host, and with TUTTI_TEST_SPEED their times. Skipped where there is
** no device.
*/
#define TEST_KEEPS_MEMORY /* devices stay open */
#include <math.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "lib/rows.h"

#include "test.h"
#include "real_device.h" /* after test.h */

static tt_lib_device on;

static bool is_there(void) {
  tt_error err = {0};
  if (on.device || real_open(&on, &err)) return true;
  printf("skipped: %s\n", err.message);
  return false;
}

static int64_t size_of(int rank, const int64_t *len) {
  int64_t n = 1;
  for (int d = 0; d < rank; d++) n *= len[d];
  return n;
}

static double number(const void *p, tt_dtype t, int64_t i) {
  return t == TT_C128 || t == TT_F64 ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

/* `row` of tt__rows_fft from an array of one shape and type to another one, on both. */
static void check(int row, const tt_lib_attr *attr, tt_dtype from, int rank, const int64_t *in, tt_dtype to,
                  const int64_t *len) {
  int64_t step[4], run = 1, n = size_of(rank, len), numbers = n * (tt__is_complex(to) ? 2 : 1);
  for (int d = rank - 1; d >= 0; run *= in[d--]) step[d] = run;
  size_t in_size = (size_t)run * tt__dtype_size(from), out_size = (size_t)n * tt__dtype_size(to);
  char *x = malloc(in_size), *want = malloc(out_size), *got = malloc(out_size), *kept = malloc(in_size);
  uint64_t seed = 1;
  for (int64_t i = 0; i < run * (tt__is_complex(from) ? 2 : 1); i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double v = (double)(seed >> 40) / (1 << 24) - 0.5;
    if (from == TT_C128 || from == TT_F64)
      ((double *)x)[i] = v;
    else
      ((float *)x)[i] = (float)v;
  }
  tt_operand src = {.data = x, .dtype = from, .rank = rank, .len = in, .step = step, .size = run};
  tt_block out = {.data = want, .dtype = to, .rank = rank, .len = len, .size = n};
  tt_error err = {0};
  void *d_in, *d_out;
  CHECK_INT(tt__rows_fft[row].run(attr, &src, &out, &err), TT_OK);
  CHECK_INT(real_take(&on, in_size, &d_in, &err), TT_OK);
  CHECK_INT(real_take(&on, out_size, &d_out, &err), TT_OK);
  CHECK_INT(on.device->ops->copy_in(on.device, on.stream, d_in, x, in_size, &err), TT_OK);
  src.data = d_in;
  out.data = d_out;
  tt_code code = tt__rows_fft[row].run_on(&on, attr, &src, &out, &err);
  if (code != TT_OK) fprintf(stderr, "%s\n", err.message);
  CHECK_INT(code, TT_OK);
  CHECK_INT(real_read(&on, got, d_out, out_size, &err), TT_OK);
  CHECK_INT(real_read(&on, kept, d_in, in_size, &err), TT_OK);
  CHECK(memcmp(kept, x, in_size) == 0); /* operands are read only */
  double most = 0, sum = 0, eps = to == TT_C128 || to == TT_F64 ? 2.3e-16 : 1.2e-7;
  for (int64_t i = 0; i < numbers; i++) {
    most = fmax(most, fabs(number(got, to, i) - number(want, to, i)));
    sum += number(want, to, i) * number(want, to, i);
  }
  if (!(most <= 10 * eps * sqrt(sum / (double)numbers) * fmax(1, log2((double)numbers)))) {
    CHECK(!"what the host gives");
    fprintf(stderr, "row %d, %s, rank %d, last axis %d, axes %d: off by %g\n", row, tt__dtypes[to].name, rank,
            (int)len[rank - 1], (int)attr->i[0], most);
  }
  real_end(&on);
  free(x), free(want), free(got), free(kept);
}

TEST(complex_axes) {
  if (!is_there()) return;
  for (int wide = 0; wide < 2; wide++) {
    tt_dtype t = wide ? TT_C128 : TT_C64;
    static const int64_t lengths[] = {1, 2, 3, 16, 100, 131, 1000, 4096, 10007, 65536, 1000003};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      tt_lib_attr attr = {.i = {1, i % 2}, .f = {i % 2 ? 0.5 : 1}};
      check(0, &attr, t, 1, &lengths[i], t, &lengths[i]);
    }
    for (int64_t axes = 1; axes < 16; axes++) {
      tt_lib_attr attr = {.i = {axes, axes & 1}, .f = {0.25}};
      check(0, &attr, t, 4, (int64_t[]){6, 5, 8, 7}, t, (int64_t[]){6, 5, 8, 7});
      check(0, &attr, t, 4, (int64_t[]){1, 33, 1, 20}, t, (int64_t[]){1, 33, 1, 20});
    }
  }
}

TEST(real_rows) {
  if (!is_there()) return;
  static const int64_t lengths[] = {2, 3, 4, 7, 10, 64, 101, 1000, 4099, 65536};
  for (int wide = 0; wide < 2; wide++)
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      tt_dtype t = wide ? TT_C128 : TT_C64, real = wide ? TT_F64 : TT_F32;
      int64_t n = lengths[i], rows[2] = {17, n}, halves[2] = {17, n / 2 + 1};
      tt_lib_attr half = {.i = {n}, .f = {0.5}}, full = {.i = {n, 1, 1}, .f = {2}}, plain = {.i = {n}, .f = {1}};
      check(1, &half, real, 2, rows, t, halves);
      check(1, &plain, real, 2, rows, t, halves);
      check(1, &full, real, 2, rows, t, rows);
      check(2, &half, t, 2, halves, real, rows);
    }
}

static void speed(const char *what, int row, tt_lib_attr attr, tt_dtype from, int rank, const int64_t *in, tt_dtype to,
                  const int64_t *len) {
  int64_t step[4], run = 1, n = size_of(rank, len);
  for (int d = rank - 1; d >= 0; run *= in[d--]) step[d] = run;
  tt_operand src = {.dtype = from, .rank = rank, .len = in, .step = step, .size = run};
  tt_block out = {.dtype = to, .rank = rank, .len = len, .size = n};
  tt_error err = {0};
  void *p;
  CHECK_INT(real_take(&on, (size_t)run * tt__dtype_size(from), &p, &err), TT_OK);
  CHECK_INT(on.device->ops->fill(on.device, on.stream, p, 0x3c, (size_t)run * tt__dtype_size(from), &err), TT_OK);
  src.data = p;
  CHECK_INT(real_take(&on, (size_t)n * tt__dtype_size(to), &out.data, &err), TT_OK);
  double best = 1e9;
  int before = real_temps;
  for (int i = 0; i < 10; i++) {
    int64_t start = tt__clock_ns();
    for (int k = 0; k < 4; k++) { /* scratch is used again: the stream keeps the order */
      tt_code code = tt__rows_fft[row].run_on(&on, &attr, &src, &out, &err);
      if (code != TT_OK) fprintf(stderr, "%s: %s\n", what, err.message);
      CHECK_INT(code, TT_OK);
      if (code != TT_OK) goto end;
      if (i == 0) break;
    }
    on.device->ops->stream_wait_idle(on.device, on.stream, &err);
    double ms = (double)(tt__clock_ns() - start) * 1e-6 / (i ? 4 : 1);
    if (i == 0) printf("%-28s first %8.3f ms", what, ms);
    if (i && ms < best) best = ms;
    while (real_temps > before) {
      real_temps--;
      on.device->ops->free(on.device, real_temp[real_temps].p, real_temp[real_temps].size);
    }
  }
  printf("  then %8.3f ms  %7.1f GB/s\n", best,
         ((double)run * (double)tt__dtype_size(from) + (double)n * (double)tt__dtype_size(to)) / best * 1e-6);
end:
  real_end(&on);
}

TEST(speeds) {
  if (!tt__env("TUTTI_TEST_SPEED") || !is_there()) return;
  tt_lib_attr one = {.i = {1, 0}, .f = {1}}, back = {.i = {1, 1}, .f = {1.0 / (1 << 26)}},
              rows = {.i = {2, 0}, .f = {1}};
  tt_lib_attr both = {.i = {3, 0}, .f = {1}}, cube = {.i = {7, 0}, .f = {1}}, columns = {.i = {1, 0}, .f = {1}};
  tt_lib_attr real = {.i = {1 << 27}, .f = {1}}, full = {.i = {1 << 26, 0, 1}, .f = {1}};
  int64_t n26[] = {1 << 26}, n27[] = {1 << 27}, h27[] = {(1 << 26) + 1}, prime[] = {1000003};
  int64_t batch[] = {65536, 1024}, square[] = {8192, 8192}, box[] = {512, 512, 512};
  speed("c64 2^26", 0, one, TT_C64, 1, n26, TT_C64, n26);
  speed("c64 2^26 back, scaled", 0, back, TT_C64, 1, n26, TT_C64, n26);
  speed("c128 2^26", 0, one, TT_C128, 1, n26, TT_C128, n26);
  speed("c64 65536 x 1024", 0, rows, TT_C64, 2, batch, TT_C64, batch);
  speed("c64 8192 x 8192, axis 0", 0, columns, TT_C64, 2, square, TT_C64, square);
  speed("c64 8192 x 8192, both", 0, both, TT_C64, 2, square, TT_C64, square);
  speed("c64 512^3", 0, cube, TT_C64, 3, box, TT_C64, box);
  speed("c64 1000003", 0, one, TT_C64, 1, prime, TT_C64, prime);
  speed("f32 2^27 to half", 1, real, TT_F32, 1, n27, TT_C64, h27);
  speed("f32 2^26 to whole", 1, full, TT_F32, 1, n26, TT_C64, n26);
  speed("half to f32 2^27", 2, real, TT_C64, 1, h27, TT_F32, n27);
}

TEST_MAIN()
