/*
** Matrix products against the plain triple loop, and factorizations against what defines them, once with the
** machine's BLAS and LAPACK and once with our own code.
*/
#include <assert.h>
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "lib/blas_host.h"
#include "lib/gemm.h"

static int failures;

#define CHECK(cond, ...)                              \
  do {                                                \
    if (!(cond)) {                                    \
      failures++;                                     \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                   \
      fprintf(stderr, "\n");                          \
    }                                                 \
  } while (0)

static uint64_t seed = 88172645463325252u;
static uint64_t draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}
static double uniform(void) { return (double)(draw() >> 11) / 9007199254740992.0 * 2 - 1; }

/* One element as a complex number (floats) or as 64 wrapped bits (integers). */
static double complex get(tt_dtype t, const void *base, int64_t i) {
  switch (t) {
    case TT_F32:
      return ((const float *)base)[i];
    case TT_F64:
      return ((const double *)base)[i];
    case TT_C64:
      return ((const tt_c64 *)base)[i].re + I * (double)((const tt_c64 *)base)[i].im;
    case TT_C128:
      return ((const tt_c128 *)base)[i].re + I * ((const tt_c128 *)base)[i].im;
    case TT_BF16: {
      uint32_t u = (uint32_t)((const uint16_t *)base)[i] << 16;
      float f;
      memcpy(&f, &u, 4);
      return f;
    }
    case TT_F16: {
      uint16_t h = ((const uint16_t *)base)[i];
      int e = h >> 10 & 31, m = h & 1023;
      double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
      return h >> 15 ? -v : v;
    }
    default:
      return 0;
  }
}

static uint64_t get_int(tt_dtype t, const void *base, int64_t i) {
  uint64_t v = 0;
  memcpy(&v, (const char *)base + i * (int64_t)tt__dtype_size(t), tt__dtype_size(t));
  return v;
}

static void set_random(tt_dtype t, void *base, int64_t i) {
  switch (t) {
    case TT_F32:
      ((float *)base)[i] = (float)uniform();
      break;
    case TT_F64:
      ((double *)base)[i] = uniform();
      break;
    case TT_C64:
      ((tt_c64 *)base)[i] = (tt_c64){(float)uniform(), (float)uniform()};
      break;
    case TT_C128:
      ((tt_c128 *)base)[i] = (tt_c128){uniform(), uniform()};
      break;
    case TT_BF16:
      ((uint16_t *)base)[i] = (uint16_t)(0x3f00 + draw() % 256 + (draw() & 1) * 0x8000);
      break;
    case TT_F16:
      ((uint16_t *)base)[i] = (uint16_t)(0x3800 + draw() % 2048 + (draw() & 1) * 0x8000);
      break;
    case TT_BOOL:
      ((uint8_t *)base)[i] = draw() % 8 == 0;
      break;
    default: {
      uint64_t v = draw();
      memcpy((char *)base + i * (int64_t)tt__dtype_size(t), &v, tt__dtype_size(t));
    }
  }
}

static double eps_of(tt_dtype t) {
  return t == TT_F64 || t == TT_C128 ? 1e-15 : t == TT_F16 ? 6e-4 : t == TT_BF16 ? 5e-3 : 3e-7;
}

/* A matrix inside a bigger block: strides of any sign around `origin`. */
typedef struct view {
  void *block;
  int64_t count, origin, rs, cs;
} view;

enum { ROWS, COLUMNS, GAPS, REVERSED, BROADCAST, LAYOUTS };

static view make(tt_dtype t, int64_t rows, int64_t cols, int layout) {
  view v = {0};
  switch (layout) {
    case COLUMNS:
      v.rs = 1, v.cs = rows + 3;
      break;
    case GAPS:
      v.rs = 2 * cols + 1, v.cs = 2;
      break;
    case REVERSED:
      v.rs = -cols, v.cs = -1;
      break;
    case BROADCAST:
      v.rs = 0, v.cs = 1;
      break;
    default:
      v.rs = cols, v.cs = 1;
      break;
  }
  v.count = (rows + 4) * (2 * cols + 4) + 8;
  if (layout == REVERSED && rows * cols > 0) v.origin = rows * cols - 1;
  v.block = malloc((size_t)v.count * tt__dtype_size(t));
  for (int64_t i = 0; i < v.count; i++) set_random(t, v.block, i);
  return v;
}
static void *start(tt_dtype t, view v) { return (char *)v.block + v.origin * (int64_t)tt__dtype_size(t); }

static void check_product(tt_dtype t, int64_t m, int64_t n, int64_t k, view a, view b, view c) {
  double worst = 0, bound = eps_of(t) * (double)(k + 8) * 2;
  uint64_t mask = tt__dtype_size(t) >= 8 ? ~0ull : (1ull << 8 * tt__dtype_size(t)) - 1;
  int64_t wrong = 0;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      int64_t at = c.origin + i * c.rs + j * c.cs;
      double complex sum = 0;
      uint64_t isum = 0;
      for (int64_t p = 0; p < k; p++) {
        int64_t ia = a.origin + i * a.rs + p * a.cs, ib = b.origin + p * b.rs + j * b.cs;
        if (t == TT_BOOL)
          isum |= get_int(t, a.block, ia) & get_int(t, b.block, ib);
        else if (t < TT_F16)
          isum += get_int(t, a.block, ia) * get_int(t, b.block, ib);
        else
          sum += get(t, a.block, ia) * get(t, b.block, ib);
      }
      if (t < TT_F16)
        wrong += (isum & mask) != get_int(t, c.block, at);
      else
        worst = fmax(worst, cabs(sum - get(t, c.block, at)) / (t == TT_F16 || t == TT_BF16 ? 1 + cabs(sum) * 4 : 1));
    }
  }
  CHECK(wrong == 0 && worst <= bound,
        "%s [%lld,%lld,%lld] strides a %lld %lld b %lld %lld c %lld %lld: %lld wrong, off by %g > %g",
        tt__dtypes[t].name, (long long)m, (long long)n, (long long)k, (long long)a.rs, (long long)a.cs, (long long)b.rs,
        (long long)b.cs, (long long)c.rs, (long long)c.cs, (long long)wrong, worst, bound);
}

static void test_gemm(void) {
  static const int64_t shapes[][3] = {{0, 3, 2},    {3, 2, 0},     {1, 1, 1},    {2, 3, 4},    {1, 1, 300},
                                      {1, 70, 40},  {70, 1, 40},   {33, 29, 1},  {17, 19, 23}, {64, 64, 64},
                                      {7, 130, 65}, {65, 31, 530}, {131, 67, 40}};
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
      for (int l = 0; l < 9; l++) {
        int la = l < 5 ? l : (int)(draw() % LAYOUTS), lb = l < 5 ? (l * 2 + 1) % LAYOUTS : (int)(draw() % LAYOUTS);
        view a = make(t, m, k, la), b = make(t, k, n, lb), c = make(t, m, n, l % BROADCAST);
        if (t >= TT_F32 && l % 2) memset(c.block, 0xff, (size_t)c.count * tt__dtype_size(t)); /* NaN must not survive */
        tt_code code =
            tt__gemm(t, m, n, k, start(t, a), a.rs, a.cs, start(t, b), b.rs, b.cs, start(t, c), c.rs, c.cs, NULL);
        CHECK(code == TT_OK, "gemm failed");
        check_product(t, m, n, k, a, b, c);
        free(a.block), free(b.block), free(c.block);
      }
    }
  }
}

static void test_batch(void) {
  static const struct {
    int64_t batch, m, n, k;
    bool share_b;
  } cases[] = {{0, 2, 2, 2, false},    {100, 3, 4, 5, false}, {40, 20, 20, 20, false},
               {3, 70, 70, 70, false}, {50, 7, 9, 11, true},  {50, 1, 9, 11, true}};
  static const tt_dtype types[] = {TT_F32, TT_F64, TT_C64, TT_C128, TT_I32, TT_U8, TT_F16};
  for (size_t q = 0; q < sizeof types / sizeof types[0]; q++) {
    for (size_t s = 0; s < sizeof cases / sizeof cases[0]; s++) {
      tt_dtype t = types[q];
      int64_t batch = cases[s].batch, m = cases[s].m, n = cases[s].n, k = cases[s].k,
              bsb = cases[s].share_b ? 0 : k * n;
      view a = make(t, batch * m, k, ROWS), b = make(t, bsb ? batch * k : k, n, ROWS), c = make(t, batch * m, n, ROWS);
      CHECK(tt__gemm_batch(t, batch, m, n, k, a.block, m * k, k, 1, b.block, bsb, n, 1, c.block, m * n, n, 1, NULL) ==
                TT_OK,
            "batch failed");
      for (int64_t i = 0; i < batch; i++) {
        view ai = a, bi = b, ci = c;
        ai.origin = i * m * k, bi.origin = i * bsb, ci.origin = i * m * n;
        check_product(t, m, n, k, ai, bi, ci);
      }
      free(a.block), free(b.block), free(c.block);
    }
  }
}

static void test_special_values(void) {
  double a[40 * 40] = {0}, b[40 * 40] = {0}, c[40 * 40];
  b[0] = NAN, b[41] = INFINITY; /* zeros of A times them are NaN */
  CHECK(tt__gemm(TT_F64, 40, 40, 40, a, 40, 1, b, 40, 1, c, 40, 1, NULL) == TT_OK, "gemm failed");
  CHECK(isnan(c[0]) && isnan(c[39 * 40]) && isnan(c[1]) && c[2] == 0, "NaN and infinity must propagate");
  tt_error err;
  CHECK(tt__gemm(TT_F64, -1, 1, 1, a, 1, 1, b, 1, 1, c, 1, 1, &err) == TT_EVALUE, "a negative size is an error");
}

/* Our own code gives the same bits on one thread and on many. */
static void test_threads(void) {
  enum { N = 190 };
  view a = make(TT_F64, N, N, ROWS), b = make(TT_F64, N, N, ROWS);
  double *one = malloc(N * N * sizeof *one), *many = malloc(N * N * sizeof *many);
  tt__pool_resize(1);
  CHECK(tt__gemm(TT_F64, N, N, N, a.block, N, 1, b.block, N, 1, one, N, 1, NULL) == TT_OK, "gemm failed");
  tt__pool_resize(3);
  CHECK(tt__gemm(TT_F64, N, N, N, a.block, N, 1, b.block, N, 1, many, N, 1, NULL) == TT_OK, "gemm failed");
  CHECK(!memcmp(one, many, N * N * sizeof *one), "threads change the result");
  tt__pool_resize(0);
  free(a.block), free(b.block), free(one), free(many);
}

static int run(bool own) {
  char info[256];
  tt__blas_info(info, sizeof info);
  printf("%s\n", info);
  CHECK(!own || !strncmp(info, "own fallback", 12), "TUTTI_BLAS=none is not honoured");
  test_gemm();
  test_batch();
  test_special_values();
  if (own) test_threads();
  tt__pool_shutdown();
  return failures ? 1 : 0;
}

int main(void) {
  pid_t child = fork(); /* the choice of BLAS is made once in a process */
  if (child == 0) {
    setenv("TUTTI_BLAS", "none", 1);
    exit(run(true));
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  int mine = run(false);
  return status == 0 && mine == 0 ? 0 : 1;
}
