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

#include "base/fault.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/product/blas_host.h"
#include "lib/product/gemm.h"
#include "lib/linalg/host.h"
#include "check.h"

static double uniform(void) { return draw_unit() * 2 - 1; }

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
  static const int64_t shapes[][3] = {{0, 3, 2},    {3, 2, 0},     {1, 1, 1},     {2, 3, 4},     {1, 1, 300},
                                      {1, 70, 40},  {70, 1, 40},   {33, 29, 1},   {17, 19, 23},  {64, 64, 64},
                                      {7, 130, 65}, {65, 31, 530}, {131, 67, 40}, {1, 300, 150}, {1, 9, 3000},
                                      {2050, 3, 9}, {3, 2050, 9},  {300, 40, 30}, {9, 7, 2600}};
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
  static const int64_t shapes[][3] = {{190, 190, 190}, {1, 90, 5000}, {1, 3000, 40}, {3000, 20, 30}, {30, 30, 3000}};
  for (int q = 0; q < 10; q++) {
    tt_dtype t = q % 2 ? TT_F64 : TT_F32;
    int64_t m = shapes[q / 2][0], n = shapes[q / 2][1], k = shapes[q / 2][2];
    size_t size = (size_t)(m * n) * tt__dtype_size(t);
    view a = make(t, m, k, ROWS), b = make(t, k, n, ROWS);
    void *one = malloc(size), *many = malloc(size);
    tt__pool_resize(1);
    CHECK(tt__gemm(t, m, n, k, a.block, k, 1, b.block, n, 1, one, n, 1, NULL) == TT_OK, "gemm failed");
    tt__pool_resize(3);
    CHECK(tt__gemm(t, m, n, k, a.block, k, 1, b.block, n, 1, many, n, 1, NULL) == TT_OK, "gemm failed");
    CHECK(!memcmp(one, many, size), "threads change the result of shape %d", q / 2);
    tt__pool_resize(0);
    free(a.block), free(b.block), free(one), free(many);
  }
}

/* A system this small is solved by one thread, of whatever library. */
static void test_system_threads(void) {
  enum { N = 300 };
  view a = make(TT_F64, N, N, ROWS), b = make(TT_F64, N, 1, ROWS);
  double x[2][N];
  for (int i = 0; i < 2; i++) {
    tt__pool_resize(1 + i);
    CHECK(tt__linalg_solve(TT_F64, 1, N, 1, a.block, b.block, x[i], NULL) == TT_OK, "solve failed");
  }
  CHECK(!memcmp(x[0], x[1], sizeof x[0]), "threads change a small system's solution");
  tt__pool_resize(0);
  free(a.block), free(b.block);
}

/* ---- factorizations: everything is checked in complex double, by rows */

static const tt_dtype float_types[] = {TT_F32, TT_F64, TT_C64, TT_C128};
static const int64_t sides[] = {0, 1, 2, 3, 5, 17, 64, 65, 130};
enum { SIDES = sizeof sides / sizeof sides[0] };

static double tolerance(tt_dtype t, int64_t n) { return (tt__real_of(t) == TT_F64 ? 2e-14 : 1e-5) * (double)(n + 4); }

typedef double complex num;

static num *widen(tt_dtype t, const void *m, int64_t count) {
  num *w = malloc((size_t)(count + 1) * sizeof *w);
  for (int64_t i = 0; i < count; i++) w[i] = get(t, m, i);
  return w;
}

static void *random_matrix(tt_dtype t, int64_t count) {
  void *m = malloc((size_t)(count + 1) * 16);
  for (int64_t i = 0; i < count; i++) set_random(t, m, i);
  return m;
}

static void *results(int64_t count) {
  void *m = malloc((size_t)(count + 1) * 16);
  memset(m, 0xff, (size_t)(count + 1) * 16); /* NaN: what is not written shows */
  return m;
}

/* The largest element of A - B C, A [m, n], B [m, k], C [k, n] or the adjoint of [n, k]. NaN when any is NaN. */
static double distance(int64_t m, int64_t n, int64_t k, const num *a, const num *b, const num *c, bool adjoint) {
  double worst = 0;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      num sum = a[i * n + j];
      for (int64_t p = 0; p < k; p++) sum -= b[i * k + p] * (adjoint ? conj(c[j * k + p]) : c[p * n + j]);
      if (!(cabs(sum) <= worst)) worst = cabs(sum);
    }
  }
  return worst;
}

static num *identity(int64_t n) {
  num *m = calloc((size_t)(n * n + 1), sizeof *m);
  for (int64_t i = 0; i < n; i++) m[i * n + i] = 1;
  return m;
}

/* How far the rows (columns) of Q [m, n] are from orthonormal. */
static double not_orthonormal(int64_t m, int64_t n, const num *q, bool columns) {
  int64_t side = columns ? n : m, len = columns ? m : n;
  num *rows = malloc((size_t)(m * n + 1) * sizeof *rows), *one = identity(side);
  for (int64_t i = 0; i < side; i++) {
    for (int64_t p = 0; p < len; p++) rows[i * len + p] = columns ? conj(q[p * n + i]) : q[i * n + p];
  }
  double d = distance(side, side, len, one, rows, rows, true);
  free(rows), free(one);
  return d;
}

#define NEAR(value, t, n, what) \
  CHECK((value) <= tolerance(t, n), "%s %s, side %lld: off by %g", tt__dtypes[t].name, what, (long long)(n), (value))

static void test_solve(tt_dtype t, int64_t n, int64_t batch) {
  int64_t k = n / 2 + 1, nn = n * n;
  void *a = random_matrix(t, batch * nn), *b = random_matrix(t, batch * n * k), *x = results(batch * n * k),
       *inv = results(batch * nn);
  void *det = results(batch), *sign = results(batch), *logabs = results(batch);
  for (int64_t q = 0; q < batch; q++) { /* a heavy diagonal keeps the condition number out of the bounds */
    for (int64_t i = 0; i < n; i++) {
      int64_t at = q * nn + i * (n + 1);
      num d = get(t, a, at) + (double)(n + 1) * (i % 2 ? -1 : 1);
      if (t == TT_F32) ((float *)a)[at] = (float)creal(d);
      if (t == TT_F64) ((double *)a)[at] = creal(d);
      if (t == TT_C64) ((tt_c64 *)a)[at] = (tt_c64){(float)creal(d), (float)cimag(d)};
      if (t == TT_C128) ((tt_c128 *)a)[at] = (tt_c128){creal(d), cimag(d)};
    }
  }
  CHECK(tt__linalg_solve(t, batch, n, k, a, b, x, NULL) == TT_OK, "solve failed");
  CHECK(tt__linalg_inv(t, batch, n, a, inv, NULL) == TT_OK, "inv failed");
  CHECK(tt__linalg_det(t, batch, n, a, det, NULL) == TT_OK, "det failed");
  CHECK(tt__linalg_slogdet(t, batch, n, a, sign, logabs, NULL) == TT_OK, "slogdet failed");
  num *wa = widen(t, a, batch * nn), *wb = widen(t, b, batch * n * k), *wx = widen(t, x, batch * n * k);
  num *wi = widen(t, inv, batch * nn), *one = identity(n);
  for (int64_t q = 0; q < batch; q++) {
    NEAR(distance(n, k, n, wb + q * n * k, wa + q * nn, wx + q * n * k, false), t, n, "solve");
    NEAR(distance(n, n, n, one, wa + q * nn, wi + q * nn, false), t, n, "inv");
    num log_det = 0; /* elimination without pivots: the diagonal is heavy */
    num *lu = wa + q * nn;
    for (int64_t p = 0; p < n; p++) {
      log_det += clog(lu[p * (n + 1)]);
      for (int64_t i = p + 1; i < n; i++) {
        num f = lu[i * n + p] / lu[p * (n + 1)];
        for (int64_t j = p; j < n; j++) lu[i * n + j] -= f * lu[p * n + j];
      }
    }
    num s = get(t, sign, q);
    double l = creal(get(tt__real_of(t), logabs, q));
    NEAR(fabs(l - creal(log_det)) / (1 + fabs(l)), t, n, "logabs");
    NEAR(cabs(s - cexp(I * cimag(log_det))), t, n, "sign");
    if (l < 80) NEAR(cabs(get(t, det, q) / exp(creal(log_det)) - s), t, n * 10, "det");
  }
  free(a), free(b), free(x), free(inv), free(det), free(sign), free(logabs), free(wa), free(wb), free(wx), free(wi),
      free(one);
}

/* A Hermitian matrix G G^H + 1 (definite) or G + G^H, in type t. */
static void *hermitian(tt_dtype t, int64_t n, bool definite) {
  void *g = random_matrix(t, n * n), *a = results(n * n);
  num *w = widen(t, g, n * n);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      num sum = definite ? (i == j) : w[i * n + j] + conj(w[j * n + i]);
      for (int64_t p = 0; definite && p < n; p++) sum += w[i * n + p] * conj(w[j * n + p]) / (double)n;
      int64_t at = i * n + j;
      if (t == TT_F32) ((float *)a)[at] = (float)creal(sum);
      if (t == TT_F64) ((double *)a)[at] = creal(sum);
      if (t == TT_C64) ((tt_c64 *)a)[at] = (tt_c64){(float)creal(sum), (float)cimag(sum)};
      if (t == TT_C128) ((tt_c128 *)a)[at] = (tt_c128){creal(sum), cimag(sum)};
    }
  }
  free(g), free(w);
  return a;
}

static void test_hermitian(tt_dtype t, int64_t n, bool upper) {
  int64_t nn = n * n;
  void *a = hermitian(t, n, true), *l = results(nn), *h = hermitian(t, n, false), *w = results(n), *v = results(nn),
       *w2 = results(n);
  num *wa = widen(t, a, nn), *wh = widen(t, h, nn);
  size_t size = tt__dtype_size(t);
  for (int64_t i = 0; i < n; i++) { /* the other triangle must not be read */
    for (int64_t j = 0; j < n; j++) {
      if (upper ? i <= j : i >= j) continue;
      memset((char *)a + (size_t)(i * n + j) * size, 0xff, size);
      memset((char *)h + (size_t)(i * n + j) * size, 0xff, size);
    }
  }
  CHECK(tt__linalg_cholesky(t, 1, n, upper, a, l, NULL) == TT_OK, "cholesky failed");
  num *wl = widen(t, l, nn), *wu = widen(t, l, nn);
  for (int64_t i = 0; i < nn; i++) wu[i] = upper ? conj(wl[i % n * n + i / n]) : wl[i];
  NEAR(distance(n, n, n, wa, wu, wu, true), t, n, "cholesky");
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n; j++) CHECK(wu[i * n + j] == 0, "a triangle is not zero");
  }
  CHECK(tt__linalg_eigh(t, 1, n, upper, h, w, v, NULL) == TT_OK, "eigh failed");
  CHECK(tt__linalg_eigh(t, 1, n, upper, h, w2, NULL, NULL) == TT_OK, "eigvalsh failed");
  num *wv = widen(t, v, nn), *ww = widen(tt__real_of(t), w, n), *ww2 = widen(tt__real_of(t), w2, n),
      *vw = widen(t, v, nn);
  for (int64_t i = 0; i < nn; i++) vw[i] *= ww[i % n];
  NEAR(distance(n, n, n, wh, vw, wv, true), t, 2 * n, "eigh");
  NEAR(not_orthonormal(n, n, wv, true), t, n, "eigenvectors");
  for (int64_t i = 0; i < n; i++) {
    CHECK(i == 0 || creal(ww[i]) >= creal(ww[i - 1]), "eigenvalues must ascend");
    NEAR(cabs(ww[i] - ww2[i]), t, 2 * n, "eigvalsh");
  }
  free(a), free(l), free(h), free(w), free(v), free(w2), free(wa), free(wh), free(wl), free(wu), free(wv), free(ww),
      free(ww2), free(vw);
}

static void test_qr(tt_dtype t, int64_t m, int64_t n, tt_qr_mode mode) {
  int64_t k = m < n ? m : n, cols = mode == TT_QR_COMPLETE ? m : k;
  void *a = random_matrix(t, m * n), *q = results(m * cols), *r = results(cols * n), *only = results(k * n);
  CHECK(tt__linalg_qr(t, 1, m, n, mode, a, q, r, NULL) == TT_OK, "qr failed");
  CHECK(tt__linalg_qr(t, 1, m, n, TT_QR_R, a, NULL, only, NULL) == TT_OK, "qr failed");
  num *wa = widen(t, a, m * n), *wq = widen(t, q, m * cols), *wr = widen(t, r, cols * n), *wo = widen(t, only, k * n);
  NEAR(distance(m, n, cols, wa, wq, wr, false), t, m + n, "qr");
  NEAR(not_orthonormal(m, cols, wq, true), t, m + n, "q");
  for (int64_t i = 0; i < k * n; i++) CHECK(wr[i] == wo[i] && (i % n >= i / n || wr[i] == 0), "r differs without q");
  free(a), free(q), free(r), free(only), free(wa), free(wq), free(wr), free(wo);
}

/* `rank` columns are random, the others copies of them. */
static void test_svd(tt_dtype t, int64_t m, int64_t n, bool full, int64_t rank) {
  int64_t k = m < n ? m : n, cols = full ? m : k, rows = full ? n : k;
  tt_dtype real = tt__real_of(t);
  size_t size = tt__dtype_size(t);
  void *a = random_matrix(t, m * n), *u = results(m * cols), *s = results(k), *vh = results(rows * n), *s2 = results(k);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = rank; j < n; j++) {
      memcpy((char *)a + (size_t)(i * n + j) * size, (char *)a + (size_t)(i * n + (rank ? j % rank : 0)) * size, size);
      if (rank == 0) memset((char *)a + (size_t)(i * n + j) * size, 0, size);
    }
  }
  CHECK(tt__linalg_svd(t, 1, m, n, full, a, u, s, vh, NULL) == TT_OK, "svd failed");
  CHECK(tt__linalg_svd(t, 1, m, n, false, a, NULL, s2, NULL, NULL) == TT_OK, "svdvals failed");
  num *wa = widen(t, a, m * n), *wu = widen(t, u, m * cols), *ws = widen(real, s, k), *wv = widen(t, vh, rows * n),
      *ws2 = widen(real, s2, k);
  num *us = malloc((size_t)(m * k + 1) * sizeof *us);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < k; j++) us[i * k + j] = wu[i * cols + j] * ws[j];
  }
  NEAR(distance(m, n, k, wa, us, wv, false), t, m + n, "svd");
  NEAR(not_orthonormal(m, cols, wu, true), t, m + n, "u");
  NEAR(not_orthonormal(rows, n, wv, false), t, m + n, "vh");
  for (int64_t i = 0; i < k; i++) {
    CHECK(creal(ws[i]) >= 0 && (i == 0 || creal(ws[i]) <= creal(ws[i - 1])), "singular values must descend");
    NEAR(cabs(ws[i] - ws2[i]), t, m + n, "svdvals");
    if (i >= rank) NEAR(cabs(ws[i]), t, m + n, "values beyond the rank");
  }
  free(a), free(u), free(s), free(vh), free(s2), free(wa), free(wu), free(ws), free(wv), free(ws2), free(us);
}

static void test_lstsq(tt_dtype t, int64_t m, int64_t n, int64_t k) {
  tt_dtype real = tt__real_of(t);
  void *a = random_matrix(t, m * n), *b = random_matrix(t, m * k), *x = results(n * k), *resid = results(k),
       *s = results(m + n);
  int64_t rank = -1;
  CHECK(tt__linalg_lstsq(t, m, n, k, a, b, -1, x, resid, &rank, s, NULL) == TT_OK, "lstsq failed");
  CHECK(rank == (m < n ? m : n), "rank %lld of [%lld, %lld]", (long long)rank, (long long)m, (long long)n);
  num *wa = widen(t, a, m * n), *wb = widen(t, b, m * k), *wx = widen(t, x, n * k), *wr = widen(real, resid, k);
  double worst = 0;
  for (int64_t c = 0; c < k; c++) { /* the residual is orthogonal to every column, and its size is as told */
    num *r = malloc((size_t)(m + 1) * sizeof *r);
    double sum = 0;
    for (int64_t i = 0; i < m; i++) {
      r[i] = wb[i * k + c];
      for (int64_t p = 0; p < n; p++) r[i] -= wa[i * n + p] * wx[p * k + c];
      sum += creal(r[i] * conj(r[i]));
    }
    for (int64_t p = 0; p < n; p++) {
      num dot = 0;
      for (int64_t i = 0; i < m; i++) dot += conj(wa[i * n + p]) * r[i];
      worst = fmax(worst, cabs(dot));
    }
    if (m > n) worst = fmax(worst, fabs(sum - creal(wr[c])));
    free(r);
  }
  NEAR(worst, t, 20 * (m + n), "lstsq");
  free(a), free(b), free(x), free(resid), free(s), free(wa), free(wb), free(wx), free(wr);
}

static void test_eig(tt_dtype t, int64_t n) {
  tt_dtype ct = tt__complex_of(t);
  void *a = random_matrix(t, n * n), *w = results(n), *v = results(n * n), *w2 = results(n);
  CHECK(tt__linalg_eig(t, 1, n, a, w, v, NULL) == TT_OK, "eig failed");
  CHECK(tt__linalg_eig(t, 1, n, a, w2, NULL, NULL) == TT_OK, "eigvals failed");
  num *wa = widen(t, a, n * n), *wv = widen(ct, v, n * n), *ww = widen(ct, w, n), *vw = widen(ct, v, n * n),
      *ww2 = widen(ct, w2, n);
  num trace = 0, trace2 = 0;
  for (int64_t i = 0; i < n * n; i++) vw[i] *= ww[i % n];
  NEAR(distance(n, n, n, vw, wa, wv, false), t, 10 * n, "eig");
  for (int64_t j = 0; j < n; j++) {
    double norm = 0;
    for (int64_t i = 0; i < n; i++) norm += creal(wv[i * n + j] * conj(wv[i * n + j]));
    NEAR(fabs(norm - 1), t, n, "length of an eigenvector");
    trace += ww[j] - wa[j * (n + 1)];
    trace2 += ww2[j] - wa[j * (n + 1)];
    if (!tt__is_complex(t) && cimag(ww[j]) > 0) CHECK(j + 1 < n && ww[j + 1] == conj(ww[j]), "pairs must be conjugate");
  }
  NEAR(cabs(trace) + cabs(trace2), t, 10 * n, "trace");
  free(a), free(w), free(v), free(w2), free(wa), free(wv), free(ww), free(vw), free(ww2);
}

#define ALONE(what, count, batch_bits, call)                                                         \
  for (int64_t q = 0; q < BATCH; q++) {                                                              \
    const char *m = (const char *)a + (size_t)(q * nn) * size;                                       \
    (void)m;                                                                                         \
    CHECK((call) == TT_OK, "%s alone failed", what);                                                 \
    CHECK(!memcmp((char *)(batch_bits) + (size_t)(q * (count)) * size, alone, (size_t)(count)*size), \
          "%s %s of side %lld: other bits in a batch", tt__dtypes[t].name, what, (long long)n);      \
  }

/* A batch of small matrices is worked on side by side: each has the bits that it has alone. */
static void test_side_by_side(tt_dtype t, int64_t n) {
  enum { BATCH = 11 };
  int64_t k = n / 3 + 1, nn = n * n;
  size_t size = tt__dtype_size(t);
  void *a = random_matrix(t, BATCH * nn), *b = random_matrix(t, BATCH * n * k), *x = results(BATCH * n * n * 2),
       *alone = results(nn * 2 + 2), *logs = results(BATCH), *l = results(nn);
  CHECK(tt__linalg_solve(t, BATCH, n, k, a, b, x, NULL) == TT_OK, "solve failed");
  ALONE("solve", n * k, x, tt__linalg_solve(t, 1, n, k, m, (char *)b + (size_t)(q * n * k) * size, alone, NULL));
  CHECK(tt__linalg_inv(t, BATCH, n, a, x, NULL) == TT_OK, "inv failed");
  ALONE("inv", nn, x, tt__linalg_inv(t, 1, n, m, alone, NULL));
  CHECK(tt__linalg_det(t, BATCH, n, a, x, NULL) == TT_OK, "det failed");
  ALONE("regular det", 1, x, tt__linalg_det(t, 1, n, m, alone, NULL));
  for (int64_t i = 0; i < n; i++) memcpy((char *)a + (size_t)(3 * nn + i) * size, a, size); /* one is singular */
  for (int64_t i = 0; i < n; i++) memset((char *)a + (size_t)(4 * nn + i * n) * size, 0, size);
  memset((char *)a + (size_t)(5 * nn) * size, 0xff, size); /* NaN */
  CHECK(tt__linalg_det(t, BATCH, n, a, x, NULL) == TT_OK, "det failed");
  ALONE("det", 1, x, tt__linalg_det(t, 1, n, m, alone, NULL));
  CHECK(tt__linalg_slogdet(t, BATCH, n, a, x, logs, NULL) == TT_OK, "slogdet failed");
  ALONE("sign", 1, x, tt__linalg_slogdet(t, 1, n, m, alone, l, NULL));
  ALONE("logarithm", 1, logs, tt__linalg_slogdet(t, 1, n, m, l, alone, NULL));
  for (int64_t q = 0; q < BATCH; q++) {
    void *h = hermitian(t, n, true);
    memcpy((char *)a + (size_t)(q * nn) * size, h, (size_t)nn * size);
    free(h);
  }
  for (int upper = 0; upper < 2; upper++) {
    CHECK(tt__linalg_cholesky(t, BATCH, n, upper, a, x, NULL) == TT_OK, "cholesky failed");
    ALONE("cholesky", nn, x, tt__linalg_cholesky(t, 1, n, upper, m, alone, NULL));
  }
  free(a), free(b), free(x), free(alone), free(logs), free(l);
}

/* A determinant is exact where its factors are, also where a product of the first of them leaves the range. */
static void test_determinants(void) {
  double a[2 * 9] = {0}, det[2];
  for (int i = 0; i < 3; i++) a[4 * i] = ldexp(1, 30 * (i + 1)), a[9 + 4 * i] = i < 2 ? 1e-200 : 1e300;
  CHECK(tt__linalg_det(TT_F64, 2, 3, a, det, NULL) == TT_OK, "det failed");
  CHECK(det[0] == ldexp(1, 180) && fabs(det[1] * 1e100 - 1) < 1e-10, "dets %g and %g", det[0], det[1]);
}

static void test_factorizations(void) {
  for (int q = 0; q < 4; q++) {
    tt_dtype t = float_types[q];
    for (int s = 0; s < SIDES; s++) {
      int64_t n = sides[s], other = sides[(s + 3) % SIDES] % 100;
      test_solve(t, n, n <= 17 ? 40 : 1);
      test_hermitian(t, n, false);
      test_hermitian(t, n, true);
      test_eig(t, n);
      for (int way = 0; way < 3; way++) {
        int64_t m = way == 1 ? other : n, c = way == 2 ? other : n;
        test_qr(t, m, c, TT_QR_REDUCED);
        test_qr(t, m, c, TT_QR_COMPLETE);
        test_svd(t, m, c, false, c);
        test_svd(t, m, c, true, c / 2);
        if (way > 0 && m != c) test_lstsq(t, m, c, 1 + n % 3);
      }
    }
    for (int64_t n = 1; n <= 32 && !tt__is_complex(t); n += n < 6 ? 1 : 13) test_side_by_side(t, n);
    test_solve(t, 0, 0);
    test_svd(t, 5, 5, true, 0);
  }
}

static void check_error(tt_code code, const tt_error *err, const char *words) {
  CHECK(code == TT_ELINALG && !strcmp(err->message, words), "wanted \"%s\", got %s \"%s\"", words, tt_code_name(code),
        code == TT_OK ? "" : err->message);
}

static void test_failures(void) {
  double singular[8] = {1, 0, 0, 1, 1, 2, 2, 4}, x[64], w[8], indefinite[4] = {1, 2, 2, 1}, nan[16], out[5];
  tt_error err;
  for (int i = 0; i < 16; i++) nan[i] = NAN;
  check_error(tt__linalg_inv(TT_F64, 2, 2, singular, x, &err), &err, "Singular matrix");
  check_error(tt__linalg_solve(TT_F64, 2, 2, 1, singular, singular, x, &err), &err, "Singular matrix");
  CHECK(tt__linalg_slogdet(TT_F64, 2, 2, singular, out, out + 2, NULL) == TT_OK && out[0] == 1 && out[1] == 0 &&
            out[2] == 0 && out[3] == -INFINITY,
        "slogdet of a singular matrix");
  CHECK(tt__linalg_det(TT_F64, 2, 2, singular, out, NULL) == TT_OK && out[0] == 1 && out[1] == 0,
        "det of a singular matrix");
  check_error(tt__linalg_cholesky(TT_F64, 1, 2, false, indefinite, x, &err), &err, "Matrix is not positive definite");
  check_error(tt__linalg_svd(TT_F64, 1, 4, 4, true, nan, x, w, x + 32, &err), &err, "SVD did not converge");
  check_error(tt__linalg_eigh(TT_F64, 1, 4, false, nan, w, x, &err), &err, "Eigenvalues did not converge");
  check_error(tt__linalg_eig(TT_F64, 1, 2, nan, w, x, &err), &err, "Array must not contain infs or NaNs");
  int64_t rank;
  check_error(tt__linalg_lstsq(TT_F64, 4, 2, 1, nan, nan, -1, x, NULL, &rank, w, &err), &err,
              "SVD did not converge in Linear Least Squares");
  CHECK(tt__linalg_inv(TT_I32, 1, 1, singular, x, &err) == TT_ETYPE, "integers are not for linalg");
  CHECK(tt__linalg_solve(TT_F64, 1, 4, 1, nan, nan, x, NULL) != TT_ENOMEM, "NaN must not hang");
  CHECK(tt__linalg_qr(TT_F64, 1, 4, 4, TT_QR_REDUCED, nan, x, x + 16, NULL) == TT_OK && isnan(x[0]),
        "qr of NaN is NaN");
  CHECK(tt__linalg_det(TT_F64, 1, 4, nan, out, NULL) == TT_OK && isnan(out[0]), "det of NaN is NaN");
}

/* Far from 1 the squares leave the range of a double; the answers must not. */
static void test_scales(void) {
  enum { N = 20 };
  static const double factors[] = {1e-200, 1e200, 0};
  double *a = random_matrix(TT_F64, N * N), *h = hermitian(TT_F64, N, false);
  double b[N * N], s[N], s2[N], w[N], w2[N], q[N * N], r[N * N], r2[N * N], x[N * N], y[N * N];
  CHECK(tt__linalg_svd(TT_F64, 1, N, N, false, a, x, s, y, NULL) == TT_OK, "svd failed");
  CHECK(tt__linalg_eigh(TT_F64, 1, N, false, h, w, x, NULL) == TT_OK, "eigh failed");
  CHECK(tt__linalg_qr(TT_F64, 1, N, N, TT_QR_REDUCED, a, q, r, NULL) == TT_OK, "qr failed");
  for (int f = 0; f < 3; f++) {
    double by = factors[f];
    for (int i = 0; i < N * N; i++) b[i] = a[i] * by;
    CHECK(tt__linalg_svd(TT_F64, 1, N, N, false, b, x, s2, y, NULL) == TT_OK, "svd failed");
    CHECK(tt__linalg_qr(TT_F64, 1, N, N, TT_QR_REDUCED, b, q, r2, NULL) == TT_OK, "qr failed");
    for (int i = 0; i < N * N; i++) b[i] = h[i] * by;
    CHECK(tt__linalg_eigh(TT_F64, 1, N, false, b, w2, x, NULL) == TT_OK, "eigh failed");
    for (int i = 0; i < N; i++) {
      CHECK(fabs(s2[i] - by * s[i]) <= by * 1e-12 && fabs(w2[i] - by * w[i]) <= by * 1e-12, "scale %g", by);
      for (int j = 0; j < N; j++) CHECK(fabs(r2[i * N + j] - by * r[i * N + j]) <= by * 1e-12, "qr, scale %g", by);
    }
  }
  free(a), free(h);
}

static tt_code every_call(void) {
  enum { N = 40 };
  static double a[3 * N * N], b[N * N], x[N * N * 2], y[N * N * 2], w[N * 2];
  static uint16_t ha[N * N];
  int64_t rank;
  for (int i = 0; i < N * N; i++) a[i] = (i % (N + 1) == 0 ? N : 0) + uniform(), b[i] = uniform();
  TT_TRY(tt__gemm(TT_F64, N, N, N, a, 2 * N, 2, b + N, -1, 0, x, 2, 2 * N, NULL));
  TT_TRY(tt__gemm(TT_F16, N, N, N, ha, N, 1, ha, N, 1, x, N, 1, NULL));
  TT_TRY(tt__gemm_batch(TT_I32, 2, N / 2, N / 2, N / 2, a, 400, 20, 1, b, 400, 20, 1, x, 400, 20, 1, NULL));
  TT_TRY(tt__linalg_inv(TT_F64, 1, N, a, x, NULL));
  TT_TRY(tt__linalg_slogdet(TT_F64, 1, N, a, x, y, NULL));
  TT_TRY(tt__linalg_cholesky(TT_F64, 1, 1, false, a, x, NULL));
  TT_TRY(tt__linalg_qr(TT_F64, 1, N, N, TT_QR_COMPLETE, a, x, y, NULL));
  TT_TRY(tt__linalg_svd(TT_F64, 1, N / 2, N, true, a, x, w, y, NULL));
  TT_TRY(tt__linalg_eigh(TT_F64, 1, N, true, a, w, x, NULL));
  TT_TRY(tt__linalg_lstsq(TT_F64, N, N / 2, 2, a, b, -1, x, y, &rank, w, NULL));
  return tt__linalg_eig(TT_F64, 1, N, a, w, x, NULL);
}

/* Each allocation of each call fails once: a clean error, and nothing is left behind. */
static void test_memory(void) {
  int64_t live = tt__mem_stats().live;
  for (int64_t n = 0; n < 200; n++) {
    bool fired;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code code = every_call();
    tt__fault_calls(TT_FAULT_MEMORY, &fired);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    CHECK(tt__mem_stats().live == live, "allocation %lld: leaked", (long long)n);
    CHECK(code == (fired ? TT_ENOMEM : TT_OK), "allocation %lld: %s", (long long)n, tt_code_name(code));
    if (!fired) {
      CHECK(n > 10, "nothing was made to fail");
      return;
    }
  }
  CHECK(false, "too many allocations");
}

static int run(bool own) {
  char info[256];
  tt__blas_info(info, sizeof info);
  printf("%s\n", info);
  CHECK(!own || !strncmp(info, "own fallback", 12), "TUTTI_BLAS=none is not honoured");
  test_gemm();
  test_batch();
  test_special_values();
  test_factorizations();
  test_failures();
  test_scales();
  test_determinants();
  test_memory();
  test_system_threads();
  if (own) test_threads();
  tt__pool_shutdown();
  return failures ? 1 : 0;
}

/* The choice of BLAS is made once in a process, so each has its own. */
static int run_as(const char *blas) {
  pid_t child = fork();
  if (child == 0) {
    setenv("TUTTI_BLAS", blas, 1);
    exit(run(!strcmp(blas, "none")));
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return status;
}

#if defined(__SANITIZE_THREAD__)
#define SEES_THREADS true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SEES_THREADS true
#endif
#endif
#ifndef SEES_THREADS
#define SEES_THREADS false
#endif

int main(void) {
  if (run_as("none")) return 1;
  if (SEES_THREADS) return 0; /* the library's own threads were not built to be watched */
  if (!getenv("TUTTI_BLAS") && run_as("libopenblas.so.0")) return 1; /* asked for by name it also multiplies */
  return run(false);
}
