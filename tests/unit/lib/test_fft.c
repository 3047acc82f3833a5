/*
** Transforms on the host against their definition in long double: every set of vector instructions, layouts, lengths of
** every kind, real rows, threads, kept plans. Nothing beside the result is written.
*/
#include "lib/fft/host.h"

#include <math.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"

#include "test.h"

enum { ROOM = 40000, GUARD = 8 };

static double a[2 * ROOM], b[2 * ROOM + GUARD], want[2 * ROOM];
static float af[2 * ROOM], bf[2 * ROOM + GUARD];

static void fill(void) {
  uint64_t seed = 88172645463325252u;
  for (int64_t i = 0; i < 2 * ROOM; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    a[i] = (double)(float)((double)(seed >> 40) / (1 << 24) - 0.5);
    af[i] = (float)a[i];
  }
}

/* want = the transforms of [outer, n, inner] in `a`. */
static void define(int64_t outer, int64_t n, int64_t inner, bool backward, double scale) {
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++)
      for (int64_t k = 0; k < n; k++) {
        long double re = 0, im = 0;
        for (int64_t j = 0; j < n; j++) {
          double c, s;
          int64_t at = 2 * ((o * n + j) * inner + i);
          tt__fft_root(j * k % n, n, &c, &s);
          if (backward) s = -s;
          re += (long double)a[at] * c - (long double)a[at + 1] * s;
          im += (long double)a[at] * s + (long double)a[at + 1] * c;
        }
        int64_t to = 2 * ((o * n + k) * inner + i);
        want[to] = (double)re * scale;
        want[to + 1] = (double)im * scale;
      }
}

static double number(bool wide, int64_t i) { return wide ? b[i] : (double)bf[i]; }

static bool close_to(bool wide, int64_t numbers, int64_t n) {
  double most = 0, size = 0, eps = wide ? 2.3e-16 : 1.2e-7;
  for (int64_t i = 0; i < numbers; i++) {
    most = fmax(most, fabs(number(wide, i) - want[i]));
    size += want[i] * want[i];
  }
  bool guards = true;
  for (int i = 0; i < GUARD; i++) guards = guards && number(wide, numbers + i) == 7;
  return guards && most <= 4 * eps * sqrt(size / (double)(numbers ? numbers : 1)) * fmax(1, log2((double)n)) + 1e-30;
}

static void prepare(bool wide, int64_t numbers) {
  for (int i = 0; i < GUARD; i++) {
    if (wide)
      b[numbers + i] = 7;
    else
      bf[numbers + i] = 7;
  }
}

static void check(int64_t outer, int64_t n, int64_t inner, bool backward, double scale) {
  tt_error err = {0};
  int64_t numbers = 2 * outer * n * inner;
  CHECK(numbers <= 2 * ROOM);
  define(outer, n, inner, backward, scale);
  for (int wide = 0; wide < 2; wide++) {
    tt_dtype t = wide ? TT_C128 : TT_C64;
    void *from = wide ? (void *)a : (void *)af, *to = wide ? (void *)b : (void *)bf;
    prepare(wide, numbers);
    CHECK_INT(tt__fft_complex(t, outer, n, inner, backward, scale, from, to, &err), TT_OK);
    if (!close_to(wide, numbers, n)) {
      CHECK(!"close to the definition");
      fprintf(stderr, "[%d, %d, %d] wide %d backward %d\n", (int)outer, (int)n, (int)inner, wide, backward);
    }
    memcpy(to, from, (size_t)numbers * (wide ? 8 : 4)); /* and in place */
    CHECK_INT(tt__fft_complex(t, outer, n, inner, backward, scale, to, to, &err), TT_OK);
    CHECK(close_to(wide, numbers, n));
  }
}

/* Rows of n real numbers, there and back. */
static void check_real(int64_t rows, int64_t n) {
  static double keep[2 * ROOM];
  tt_error err = {0};
  int64_t half = n / 2 + 1;
  memcpy(keep, a, sizeof keep);
  for (int64_t i = rows * n - 1; i >= 0; i--) a[2 * i] = keep[i], a[2 * i + 1] = 0;
  define(rows, n, 1, false, 0.5);
  memcpy(a, keep, sizeof keep);
  for (int wide = 0; wide < 2; wide++) {
    tt_dtype t = wide ? TT_C128 : TT_C64;
    void *from = wide ? (void *)a : (void *)af, *to = wide ? (void *)b : (void *)bf;
    prepare(wide, 2 * rows * n);
    CHECK_INT(tt__fft_from_real(t, rows, n, false, true, 0.5, from, to, &err), TT_OK);
    CHECK(close_to(wide, 2 * rows * n, n));
  }
  for (int64_t r = 0; r < rows; r++) memmove(want + 2 * r * half, want + 2 * r * n, 16 * (size_t)half);
  for (int wide = 0; wide < 2; wide++) {
    tt_dtype t = wide ? TT_C128 : TT_C64;
    void *from = wide ? (void *)a : (void *)af, *to = wide ? (void *)b : (void *)bf;
    static double spectrum[2 * ROOM];
    prepare(wide, 2 * rows * half);
    CHECK_INT(tt__fft_from_real(t, rows, n, false, false, 0.5, from, to, &err), TT_OK);
    CHECK(close_to(wide, 2 * rows * half, n));
    memcpy(spectrum, to, (size_t)(2 * rows * half) * (wide ? 8 : 4));
    prepare(wide, rows * n);
    CHECK_INT(tt__fft_to_real(t, rows, n, 2 / (double)n, spectrum, to, &err), TT_OK);
    double most = 0;
    for (int64_t i = 0; i < rows * n; i++) most = fmax(most, fabs(number(wide, i) - a[i]));
    CHECK(most <= (wide ? 2e-15 : 2e-6) && number(wide, rows * n) == 7);
  }
}

TEST(the_definition_on_every_level) {
  static const int64_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  16,  17,  20,  21,  32,
                                    33, 35, 49, 60, 64, 77, 91, 96, 97, 100, 128, 131, 143, 169, 211, 240, 256, 300};
  static const int levels[] = {0, 3, 4};
  fill();
  for (int l = 0; l < 3; l++) {
    tt__fft_plans_drop();
    tt__fft_limit(levels[l]);
    if (levels[l] > tt__vector_level()) continue;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      int64_t n = lengths[i];
      check(1, n, 1, i % 2, 1);
      check(n > 100 ? 3 : 19, n, 1, i % 2 == 0, 0.25);
      check(2, n, n > 100 ? 5 : 18, i % 3 == 0, 2);
      check_real(n > 100 ? 2 : 20, n);
    }
    check(1, 1009, 1, false, 1);
    check(1, 2048, 1, true, 1);
    check_real(1, 1024);
    check(2, 500, 3, false, 1);
    check(1, 1024, 2, true, 1);
    check(200, 3, 1, false, 1);
    check_real(90, 301);
  }
  tt__fft_plans_drop();
  tt__fft_limit(4);
}

/* Rows and columns of 2^16 and more points: what goes forth comes back, and a tone is one line. */
TEST(long_transforms) {
  static const int64_t lengths[] = {65536, 5000 * 8, 3 * 3 * 3 * 5 * 7 * 11, 262144, 65537, 1 << 23};
  tt_error err = {0};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    int64_t n = lengths[i], tone = n / 3 + 1;
    double *x = tt__mem_alloc_data(16 * (size_t)n);
    CHECK(x != NULL);
    if (!x) return;
    for (int64_t k = 0; k < n; k++) {
      double c, s;
      tt__fft_root(k * tone % n, n, &c, &s);
      x[2 * k] = c;
      x[2 * k + 1] = -s;
    }
    CHECK_INT(tt__fft_complex(TT_C128, 1, n, 1, false, 1 / (double)n, x, x, &err), TT_OK);
    double most = 0;
    for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(x[2 * k] - (k == tone ? 1 : 0)) + fabs(x[2 * k + 1]));
    CHECK(most < 1e-14);
    tt__mem_free_data(x, 16 * (size_t)n);
  }
  tt__fft_plans_drop();
}

TEST(threads_change_no_bit) {
  static double first[2 * ROOM];
  tt_error err = {0};
  fill();
  for (int threads = 1; threads <= 3; threads++) {
    tt__pool_resize(threads);
    CHECK_INT(tt__fft_complex(TT_C128, 1, ROOM, 1, false, 1, a, b, &err), TT_OK);
    if (threads == 1) memcpy(first, b, sizeof first);
    CHECK(memcmp(first, b, sizeof first) == 0);
    CHECK_INT(tt__fft_complex(TT_C128, 10, 40, 100, false, 1, a, b, &err), TT_OK);
  }
  tt__pool_resize(0);
  tt__fft_plans_drop();
}

TEST(roots_are_right) {
  for (int64_t n = 1; n < 400; n++)
    for (int64_t k = 0; k < n; k++) {
      double re, im;
      long double angle = 2 * 3.14159265358979323846264338327950288L * (long double)k / (long double)n;
      tt__fft_root(k, n, &re, &im);
      CHECK(fabsl(cosl(angle) - re) < 1.2e-16L && fabsl(-sinl(angle) - im) < 1.2e-16L);
    }
}

TEST(plans_are_bounded) {
  tt_error err = {0};
  fill();
  int64_t before = tt__mem_stats().live;
  for (int64_t n = 1; n < 600; n++) {
    tt_fft_plan *p;
    CHECK_INT(tt__fft_plan_get(TT_C64, n, n % 2, &p, &err), TT_OK);
    tt__fft_plan_give_back(p);
  }
  CHECK(tt__mem_stats().live - before < 8 << 20);
  tt__fft_plans_drop();
  CHECK_INT(tt__mem_stats().live, before);
}

/* Fewer vectors of columns than threads: memory is made for as many, and more threads are there. */
TEST(more_threads_than_vectors_of_columns) {
  static const int threads[] = {1, 3, 16, 64};
  static const int64_t shape[][2] = {{200, 200}, {224, 40}, {1000, 24}, {97, 200}, {17, 900}};
  static float once[2 * ROOM];
  tt_error err = {0};
  fill();
  for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
    int64_t n = shape[s][0], inner = shape[s][1];
    for (int k = 0; k < 4; k++) {
      tt__pool_resize(threads[k]);
      for (int again = 0; again < 20; again++)
        CHECK_INT(tt__fft_complex(TT_C64, 1, n, inner, false, 1, af, bf, &err), TT_OK);
      if (k == 0) memcpy(once, bf, sizeof once);
      CHECK(memcmp(once, bf, (size_t)(2 * n * inner) * sizeof *once) == 0);
    }
  }
  tt__pool_resize(0);
  tt__fft_plans_drop();
}

TEST_MAIN()
