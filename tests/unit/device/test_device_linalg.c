/*
** Products and linear algebra on devices against the host's rows and against what defines a factorization: on an
** emulated device whose cuSOLVER is played by the host, and on cuda:0 where there is one. Every kernel of ours is also
** compiled by NVRTC where that is found.
*/
#define TEST_KEEPS_MEMORY
#include <complex.h>
#include <math.h>

#include "lib/product/cublas.h"
#include "lib/linalg/device_matrix.h"
#include "lib/linalg/device.h"
#include "lib/linalg/host.h"
#include "lib/product/device.h"
#include "lib/rows.h"

#include "fake_device.h"
#include "random.h"
#include "test.h"

#include "fake_cusolver.h"
#include "real_device.h"

enum { MOST = 4 };
static tt_lib_device on;
static bool is_real;

/* ---- running a row */

static void *to_device(const void *p, size_t size) {
  void *out = NULL;
  tt_error err = {0};
  CHECK_INT(on.temp(&on, size, &out, &err), TT_OK);
  if (!is_real && p) memcpy(out, p, size);
  if (is_real && p) CHECK_INT(on.device->ops->copy_in(on.device, on.stream, out, p, size, &err), TT_OK);
  return out;
}

/* Run a row on the device; operands and results are host memory, results NULL are not wanted. */
static tt_code run_on(const char *name, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                      tt_error *err) {
  const tt_lib_row *row = tt__lib_row(name);
  tt_operand moved[2];
  tt_block given[MOST] = {{0}};
  for (int i = 0; i < row->nsrc; i++) {
    moved[i] = src[i];
    moved[i].data = to_device(src[i].data, (size_t)src[i].size * tt__dtype_size(src[i].dtype));
  }
  for (int k = 0; k < row->nout; k++) {
    given[k] = out[k];
    if (out[k].data) given[k].data = to_device(NULL, (size_t)out[k].size * tt__dtype_size(out[k].dtype));
  }
  tt_code code = row->run_on(&on, attr, moved, given, err);
  for (int k = 0; k < row->nout && code == TT_OK; k++)
    if (out[k].data)
      CHECK_INT(on.read(&on, out[k].data, given[k].data, (size_t)out[k].size * tt__dtype_size(out[k].dtype), err),
                TT_OK);
  if (is_real)
    real_end(&on);
  else
    fake_end();
  return code;
}

/* ---- numbers */

static double uniform(void) { return draw_unit() * 2 - 1; }

static double tolerance(tt_dtype t) { return t == TT_F32 || t == TT_C64 ? 2e-4 : 1e-10; }

/* A matrix or a batch of them, row by row, as complex numbers and in its own type. */
typedef struct stack {
  tt_dtype t;
  int rank;
  int64_t len[3], step[3], size;
  void *data;
} stack;

static stack make(tt_dtype t, int64_t batch, int64_t m, int64_t n) {
  stack s = {.t = t, .rank = 3, .len = {batch, m, n}, .step = {m * n, n, 1}, .size = batch * m * n};
  s.data = calloc((size_t)s.size + 1, 16);
  return s;
}
static void fill(stack *s) {
  for (int64_t i = 0; i < s->size; i++) {
    double re = uniform(), im = tt__is_complex(s->t) ? uniform() : 0;
    tt__matrix_set(s->t, s->data, i, (tt_c128){re, im});
  }
}
static double complex at(const stack *s, int64_t b, int64_t i, int64_t j) {
  return fake_get(s->t, s->data, (b * s->len[1] + i) * s->len[2] + j);
}
static void put(stack *s, int64_t b, int64_t i, int64_t j, double complex x) {
  fake_set(s->t, s->data, (b * s->len[1] + i) * s->len[2] + j, x);
}
static tt_operand operand(const stack *s) {
  return (tt_operand){s->data, s->t, s->rank, s->len + 3 - s->rank, s->step + 3 - s->rank, s->size};
}
static tt_block block(const stack *s) { return (tt_block){s->data, s->t, s->rank, s->len, s->size}; }

/* Are they the same, near enough? */
static void same(const stack *a, const stack *b, const char *what) {
  double worst = 0;
  for (int64_t i = 0; i < a->size; i++) {
    double complex x = fake_get(a->t, a->data, i), y = fake_get(b->t, b->data, i);
    double d = cabs(x - y) / (1 + cabs(y));
    if (!(d <= worst)) worst = x == y || (x != x && y != y) ? worst : d;
  }
  if (worst <= tolerance(a->t)) return;
  CHECK(!"the same");
  fprintf(stderr, "%s of %s [%d, %d, %d]: off by %g\n", what, tt__dtypes[a->t].name, (int)a->len[0], (int)a->len[1],
          (int)a->len[2], worst);
}

/* c = op(a) b, by hand. */
static stack times(const stack *a, bool adjoint, const stack *b) {
  int64_t m = adjoint ? a->len[2] : a->len[1], k = adjoint ? a->len[1] : a->len[2], n = b->len[2];
  stack c = make(a->t, a->len[0], m, n);
  for (int64_t x = 0; x < a->len[0]; x++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) {
        double complex sum = 0;
        for (int64_t p = 0; p < k; p++) sum += (adjoint ? conj(at(a, x, p, i)) : at(a, x, i, p)) * at(b, x, p, j);
        put(&c, x, i, j, sum);
      }
  return c;
}
static void orthogonal(const stack *q, const char *what) {
  stack one = make(q->t, q->len[0], q->len[2], q->len[2]), got = times(q, true, q);
  for (int64_t b = 0; b < q->len[0]; b++)
    for (int64_t i = 0; i < q->len[2]; i++) put(&one, b, i, i, 1);
  same(&got, &one, what);
  free(one.data);
  free(got.data);
}

/* A row with one operand and one result on device and host. */
static void as_host(const char *name, int64_t flag, const stack *src, int nsrc, stack *out) {
  tt_lib_attr attr = {.i = {flag}};
  tt_operand in[2] = {operand(&src[0]), operand(&src[nsrc - 1])};
  stack want = make(out->t, out->len[0], out->len[1], out->len[2]);
  tt_block got_block = block(out), want_block = block(&want);
  tt_error err = {0};
  tt_code host = tt__lib_row(name)->run(&attr, in, &want_block, NULL);
  CHECK_INT(run_on(name, &attr, in, &got_block, &err), host);
  if (host == TT_OK) same(out, &want, name);
  free(want.data);
}

/* ---- the checks, for one type and shape */

static void check_lu(tt_dtype t, int64_t batch, int64_t n, int64_t k) {
  stack a[2] = {make(t, batch, n, n), make(t, batch, n, k)}, x = make(t, batch, n, k), y = make(t, batch, n, n);
  fill(&a[0]);
  fill(&a[1]);
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < n; i++) { /* well conditioned, and every step has rows to swap */
      int64_t j = (i + 1) % n;
      put(&a[0], b, i, j, at(&a[0], b, i, j) + 6);
    }
  as_host("solve", 0, a, 2, &x);
  as_host("inv", 0, a, 1, &y);
  stack d = make(t, batch, 1, 1), s = make(t, batch, 1, 1), l = make(tt__real_of(t), batch, 1, 1);
  as_host("det", 0, a, 1, &d);
  tt_operand in = operand(&a[0]);
  tt_block out[2] = {block(&s), block(&l)};
  tt_error err = {0};
  CHECK_INT(run_on("slogdet", NULL, &in, out, &err), TT_OK);
  for (int64_t b = 0; b < batch; b++) put(&s, b, 0, 0, at(&s, b, 0, 0) * cexp(at(&l, b, 0, 0)));
  same(&s, &d, "slogdet");
  free(a[0].data), free(a[1].data), free(x.data), free(y.data), free(d.data), free(s.data), free(l.data);
}

static void check_singular(tt_dtype t, int64_t batch, int64_t n) {
  stack a[2] = {make(t, batch, n, n), make(t, batch, n, 2)}, x = make(t, batch, n, 2), y = make(t, batch, n, n);
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < n; i++) put(&a[0], b, i, i, 2), put(&a[1], b, i, 0, 1);
  put(&a[0], batch - 1, 1, 1, 0);
  tt_operand in[2] = {operand(&a[0]), operand(&a[1])};
  tt_block out[2] = {block(&x), block(&x)};
  tt_error err = {0};
  CHECK_INT(run_on("solve", NULL, in, out, &err), TT_ELINALG);
  CHECK_STR(err.message, "Singular matrix");
  as_host("inv", 1, a, 1, &y);
  CHECK(isnan(creal(at(&y, batch - 1, 0, 1))) && (batch == 1 || at(&y, 0, 0, 0) == 0.5));
  stack d = make(t, batch, 1, 1);
  as_host("det", 0, a, 1, &d);
  out[0] = block(&y);
  CHECK_INT(run_on("cholesky", &(tt_lib_attr){.i = {0}}, in, out, &err), TT_ELINALG);
  CHECK_STR(err.message, "Matrix is not positive definite");
  free(a[0].data), free(a[1].data), free(x.data), free(y.data), free(d.data);
}

/* A = G^H G + 1; the triangle that is not named is rubbish. */
static stack definite(tt_dtype t, int64_t batch, int64_t n, bool upper) {
  stack g = make(t, batch, n, n), a;
  fill(&g);
  a = times(&g, true, &g);
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < n; i++) {
      put(&a, b, i, i, creal(at(&a, b, i, i)) + 1);
      for (int64_t j = 0; j < n; j++)
        if (upper ? i > j : i < j) put(&a, b, i, j, 77);
    }
  free(g.data);
  return a;
}

static void check_hermitian(tt_dtype t, int64_t batch, int64_t n, bool upper) {
  stack a = definite(t, batch, n, upper), l = make(t, batch, n, n);
  as_host("cholesky", upper, &a, 1, &l);
  stack v = make(t, batch, n, n), w = make(tt__real_of(t), batch, n, 1), only = make(tt__real_of(t), batch, n, 1);
  tt_operand in = operand(&a);
  tt_block out[2] = {block(&w), block(&v)}, values[2] = {block(&only)}, vectors[2] = {{0}, block(&v)};
  tt_error err = {0};
  tt_lib_attr attr = {.i = {upper}};
  CHECK_INT(run_on("eigh", &attr, &in, out, &err), TT_OK);
  CHECK_INT(run_on("eigh", &attr, &in, values, &err), TT_OK);
  CHECK_INT(run_on("eigh", &attr, &in, vectors, &err), TT_OK);
  same(&only, &w, "eigvalsh");
  orthogonal(&v, "eigh");
  for (int64_t b = 0; b < batch; b++) /* the whole matrix */
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < i; j++)
        put(&a, b, upper ? i : j, upper ? j : i, conj(at(&a, b, upper ? j : i, upper ? i : j)));
  stack av = times(&a, false, &v);
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) put(&v, b, i, j, at(&v, b, i, j) * at(&w, b, j, 0));
  same(&av, &v, "eigh");
  put(&a, batch - 1, n - 1, n - 1, NAN);
  CHECK_INT(run_on("eigh", &attr, &in, out, &err), TT_ELINALG);
  free(a.data), free(l.data), free(v.data), free(w.data), free(only.data), free(av.data);
}

static void check_qr(tt_dtype t, int64_t batch, int64_t m, int64_t n, bool complete) {
  int64_t k = complete || m < n ? m : n;
  stack a = make(t, batch, m, n), q = make(t, batch, m, k), r = make(t, batch, k, n), only = make(t, batch, k, n);
  fill(&a);
  tt_operand in = operand(&a);
  tt_block out[2] = {block(&q), block(&r)}, half[2] = {block(&only)};
  tt_error err = {0};
  CHECK_INT(run_on("qr", &(tt_lib_attr){.i = {complete}}, &in, out, &err), TT_OK);
  orthogonal(&q, "qr");
  stack back = times(&q, false, &r);
  same(&back, &a, "qr");
  for (int64_t i = 0; i < k; i++)
    for (int64_t j = 0; j < i && j < n; j++) CHECK(at(&r, batch - 1, i, j) == 0);
  if (!complete) CHECK_INT(run_on("qr_r", NULL, &in, half, &err), TT_OK);
  if (!complete) same(&only, &r, "qr_r");
  free(a.data), free(q.data), free(r.data), free(only.data), free(back.data);
}

static void check_svd(tt_dtype t, int64_t batch, int64_t m, int64_t n, bool full) {
  int64_t k = m < n ? m : n;
  stack a = make(t, batch, m, n), u = make(t, batch, m, full ? m : k), v = make(t, batch, full ? n : k, n);
  stack s = make(tt__real_of(t), batch, k, 1), only = make(tt__real_of(t), batch, k, 1);
  fill(&a);
  tt_operand in = operand(&a);
  tt_block out[3] = {block(&u), block(&s), block(&v)}, left[3] = {block(&u)}, value[3] = {block(&only)};
  tt_error err = {0};
  tt_lib_attr attr = {.i = {full}};
  CHECK_INT(run_on("svd", &attr, &in, out, &err), TT_OK);
  CHECK_INT(run_on("svd", &attr, &in, left, &err), TT_OK);
  CHECK_INT(run_on("svd", &attr, &in, (tt_block[]){{0}, block(&only), {0}}, &err), TT_OK);
  same(&only, &s, "singular values alone");
  CHECK_INT(run_on("svdvals", &attr, &in, value, &err), TT_OK);
  same(&only, &s, "svdvals");
  orthogonal(&u, "svd");
  stack us = make(t, batch, m, v.len[1]);
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < k; j++) put(&us, b, i, j, at(&u, b, i, j) * at(&s, b, j, 0));
  stack back = times(&us, false, &v);
  same(&back, &a, "svd");
  put(&a, 0, 0, 0, INFINITY);
  CHECK_INT(run_on("svdvals", &attr, &in, value, &err), TT_ELINALG);
  CHECK_STR(err.message, "SVD did not converge");
  free(a.data), free(u.data), free(v.data), free(s.data), free(only.data), free(us.data), free(back.data);
}

static void check_eig(tt_dtype t, int64_t batch, int64_t n) {
  tt_dtype wide = tt__complex_of(t);
  stack a = make(t, batch, n, n), c = make(wide, batch, n, n), w = make(wide, batch, n, 1), v = make(wide, batch, n, n);
  fill(&a);
  for (int64_t i = 0; i < a.size; i++) fake_set(wide, c.data, i, fake_get(t, a.data, i));
  tt_operand in = operand(&a);
  tt_block out[2] = {block(&w), block(&v)};
  tt_error err = {0};
  tt_code code = run_on("eig", NULL, &in, out, &err);
  CHECK(code == (fake_lacks_eig ? TT_ENOTIMPL : TT_OK) || (is_real && code == TT_ENOTIMPL)); /* an old library */
  CHECK((code == TT_OK) == (tt__device_eig_missing(on.device) == NULL));
  if (code == TT_OK) {
    int64_t pairs = 0;
    for (int64_t i = 0; i < w.size; i++) pairs += cimag(fake_get(wide, w.data, i)) > 0;
    CHECK(n < 5 || pairs > 0); /* complex vectors of real matrices are among them */
    stack only = make(wide, batch, n, 1);
    tt_block values[2] = {block(&only), {.data = NULL}};
    CHECK_INT(run_on("eig", NULL, &in, values, &err), TT_OK);
    same(&only, &w, "eigvals");
    free(only.data);
    stack av = times(&c, false, &v);
    for (int64_t b = 0; b < batch; b++)
      for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) put(&v, b, i, j, at(&v, b, i, j) * at(&w, b, j, 0));
    same(&av, &v, "eig");
    free(av.data);
    put(&a, 0, 0, 0, NAN);
    CHECK_INT(run_on("eig", NULL, &in, out, &err), TT_ELINALG);
  }
  free(a.data), free(c.data), free(w.data), free(v.data);
}

static void check_lstsq(tt_dtype t, int64_t m, int64_t n, int64_t k, bool deficient) {
  int64_t small = m < n ? m : n, rank[2] = {0};
  tt_dtype real = tt__real_of(t);
  stack a = make(t, 1, m, n), b = make(t, 1, m, k), x[2], r[2], s[2];
  fill(&a);
  fill(&b);
  for (int64_t i = 0; i < m && deficient; i++) put(&a, 0, i, 1, at(&a, 0, i, 0) * 2);
  a.rank = b.rank = 2;
  tt_operand in[2] = {operand(&a), operand(&b)};
  tt_lib_attr attr = {.f = {1e-13}};
  tt_error err = {0};
  for (int i = 0; i < 2; i++) {
    x[i] = make(t, 1, n, k), r[i] = make(real, 1, k, 1), s[i] = make(real, 1, small, 1);
    tt_block out[4] = {block(&x[i]), block(&r[i]), {&rank[i], TT_I64, 0, NULL, 1}, block(&s[i])};
    CHECK_INT(i ? tt__lib_row("lstsq")->run(&attr, in, out, &err) : run_on("lstsq", &attr, in, out, &err), TT_OK);
  }
  CHECK_INT(rank[0], rank[1]);
  CHECK_INT(rank[0], deficient ? small - 1 : small);
  same(&x[0], &x[1], "lstsq");
  same(&s[0], &s[1], "lstsq values");
  if (rank[0] == n && m > n) same(&r[0], &r[1], "residuals");
  for (int i = 0; i < 2; i++) free(x[i].data), free(r[i].data), free(s[i].data);
  free(a.data), free(b.data);
}

static void check_product(tt_dtype t, int64_t batch, int64_t m, int64_t k, int64_t n, bool turned) {
  stack a = make(t, batch, m, k), b = make(t, batch, k, n), c = make(t, batch, m, n), d = make(t, batch, m, n);
  if (t >= TT_F32) fill(&a), fill(&b);
  for (int64_t i = 0; i < batch * k * (m + n) && t < TT_F32; i++) { /* small numbers, exact in every type */
    static const uint16_t one[2] = {0x3c00, 0x3f80};
    bool left = i < batch * k * m;
    int v = uniform() > 0.5;
    char *to = (char *)(left ? a.data : b.data) + (size_t)(left ? i : i - batch * k * m) * tt__dtype_size(t);
    if (t == TT_F16 || t == TT_BF16)
      memcpy(to, &(uint16_t){v ? one[t == TT_BF16] : 0}, 2);
    else
      *to = (char)v;
  }
  if (turned) {
    a.step[1] = 1, a.step[2] = m;
    b.step[1] = 1, b.step[2] = k;
  }
  tt_operand in[2] = {operand(&a), operand(&b)};
  tt_block got = block(&c), want = block(&d);
  tt_error err = {0};
  CHECK_INT(run_on("matmul", NULL, in, &got, &err), TT_OK);
  CHECK_INT(tt__lib_row("matmul")->run(NULL, in, &want, &err), TT_OK);
  if (t >= TT_F32) same(&c, &d, "matmul");
  if (t < TT_F32) CHECK(memcmp(c.data, d.data, (size_t)c.size * tt__dtype_size(t)) == 0);
  free(a.data), free(b.data), free(c.data), free(d.data);
}

/* ---- the tests */

static void stop_playing(void) {
  tt__vendor_cusolver.played = tt__vendor_cublas.played = false;
  tt__vendor_cusolver.extra[0] = tt__vendor_cusolver.extra[1] = NULL;
}

static void *no_stream(tt_device *d, tt_stream *s) {
  (void)d, (void)s;
  return NULL;
}
static const tt_interop_ops interop = {.handle = no_stream, .asked = fake_asked};
static tt_code no_wait(tt_device *d, tt_stream *s, tt_error *err) {
  (void)d, (void)s, (void)err;
  return TT_OK;
}

static void check_type(tt_dtype t, int64_t big) {
  static const int64_t batches[] = {1, 3};
  for (int i = 0; i < 2; i++) {
    int64_t batch = batches[i], n = i ? 7 : big;
    check_lu(t, batch, n, 5);
    check_lu(t, batch, 4, 1);
    check_lu(t, batch, 32, 32);
    check_lu(t, batch, 35, 3); /* more than TT_SMALL */
    check_lu(t, batch, 1, 1);
    check_singular(t, batch, 3);
    check_singular(t, batch, 35);
    check_hermitian(t, batch, n, false);
    check_hermitian(t, batch, n, true);
    check_qr(t, batch, n + 5, n, false);
    check_qr(t, batch, n + 5, n, true);
    check_qr(t, batch, n, n + 5, false);
    check_svd(t, batch, n, 40, false); /* more than TT_SVD_SMALL */
    check_svd(t, batch, 40, n, true);
    check_svd(t, batch, n, n + 5, false);
    check_svd(t, batch, n + 5, n, false);
    check_svd(t, batch, n, n + 5, true);
    check_svd(t, batch, n + 5, n, true);
    check_eig(t, batch, n);
  }
  if (t == TT_F64 || t == TT_C128) {
    check_lstsq(t, big + 20, big, 3, false);
    check_lstsq(t, big, big + 20, 3, false);
    check_lstsq(t, big + 20, big, 3, true);
  }
}

TEST(rows_with_a_library_that_the_host_plays) {
  static tt_device gpu;
  static tt_device_ops ops;
  ops = *fake.device->ops;
  gpu = *fake.device;
  gpu.ops = &ops;
  on = fake;
  on.device = &gpu;
  ops.interop = &interop;
  ops.stream_wait_idle = no_wait;
  fake_cusolver();
  for (tt_dtype t = TT_F32; t <= TT_C128; t++)
    if (!fake_lapack()->is_wide || t == TT_F64 || t == TT_C128) {
      check_type(t, 6);
      fake_jacobi_fails = 1;
      check_svd(t, 1, 7, 9, true);
      check_svd(t, 2, 7, 9, false);
      check_svd(t, 3, 40, 9, false);
      check_svd(t, 3, 40, 9, true);
      fake_jacobi_fails = 0;
      ((tt_cusolver *)(void *)tt__vendor_cusolver.fn)->geev = NULL;
      fake_lacks_eig = true;
      check_eig(t, 1, 6);
      ((tt_cusolver *)(void *)tt__vendor_cusolver.fn)->geev = fake_geev;
      fake_lacks_eig = false;
    }
  CHECK(fake_solver_calls > 100);
  CHECK_INT(fake_asked_for, fake_solver_calls);
  stop_playing();
}

/* The n-th request for memory of the device fails, for every n: the row says so, holds no lock and keeps nothing. */
static int temps_left;
static tt_code scarce_temp(const tt_lib_device *o, size_t size, void **out, tt_error *err) {
  if (temps_left-- == 0) return tt__fail(err, TT_ENOMEM, "the device is full");
  return fake_temp(o, size, out, err);
}

TEST(rows_on_a_device_that_is_full) {
  static tt_device gpu;
  static tt_device_ops ops;
  ops = *fake.device->ops;
  ops.interop = &interop;
  ops.stream_wait_idle = no_wait;
  gpu = *fake.device;
  gpu.ops = &ops;
  on = fake;
  on.device = &gpu;
  on.temp = scarce_temp;
  fake_cusolver();
  static char room[4][4096];
  stack a = definite(TT_F64, 2, 5, false);
  tt_operand in[2] = {operand(&a), operand(&a)};
  for (const tt_lib_row *row = tt__rows_linalg; row->name; row++) {
    bool flat = strcmp(row->name, "lstsq") == 0;
    for (int i = 0; i < 2; i++) in[i].rank = flat ? 2 : 3, in[i].len = a.len + flat, in[i].step = a.step + flat;
    tt_block out[4];
    for (int k = 0; k < 4; k++) out[k] = (tt_block){room[k], TT_F64, 3, a.len, 50};
    int64_t live = tt__mem_stats().live;
    tt_code code = TT_ENOMEM;
    for (int n = 0; code != TT_OK && n < 40; n++) {
      tt_error err = {0};
      temps_left = n;
      code = row->run_on(&on, &(tt_lib_attr){.i = {0}}, in, out, &err);
      CHECK(code == TT_OK || code == TT_ENOMEM);
      CHECK_INT(tt__mem_stats().live, live);
      fake_end();
    }
    CHECK_INT(code, TT_OK);
  }
  free(a.data);
  stop_playing();
}

/* Vendors' libraries stay out of what is compiled and not run, also where they could serve. */
static tt_code no_vendor(tt_device *d, tt_error *err) {
  return tt__fail(err, TT_ENOTIMPL, "%s runs nothing", d->ops->name);
}
static const tt_interop_ops closed = {.enter = no_vendor, .asked = fake_asked};

TEST(kernels_compile_for_cuda) {
  static tt_device gpu;
  static tt_device_ops ops;
  if (!real_has_compiler()) {
    printf("skipped: no NVRTC\n");
    return;
  }
  ops = *fake.device->ops;
  ops.launch = no_launch;
  ops.interop = &closed;
  gpu = *fake.device;
  gpu.ops = &ops;
  gpu.target.kind = TT_DEVICE_CUDA;
  on = fake;
  on.device = &gpu;
  on.routine = compiled_routine;
  for (tt_dtype t = TT_BOOL; t <= TT_C128; t++) {
    stack a = make(TT_F64, 1, 4, 4);
    tt_operand x = operand(&a);
    x.dtype = t;
    tt_error err = {0};
    tt_code code = tt__product_device(&on, &x, &x, a.data, &err);
    CHECK_INT(code, TT_OK);
    if (code != TT_OK) fprintf(stderr, "%s: %s\n", tt__dtypes[t].name, err.message);
    CHECK_INT(tt__device_pack(&on, &x, a.data, &err), TT_OK);
    bool finite;
    if (t >= TT_F32) CHECK_INT(tt__device_finite(&on, t, 1, 4, 4, a.data, TT_WHOLE, &finite, &err), TT_OK);
    free(a.data);
  }
  CHECK(real_compiled > 25);
}

TEST(rows_on_cuda) {
  tt_error err = {0};
  if (!real_open(&on, &err)) {
    printf("skipped: %s\n", err.message);
    return;
  }
  is_real = true;
  for (tt_dtype t = TT_BOOL; t <= TT_C128; t++)
    for (int turned = 0; turned < 2; turned++) {
      check_product(t, 1, 100, 70, 130, turned);
      check_product(t, 5, 33, 64, 20, turned);
      check_product(t, 1, 1, 50, 40, turned);
      check_product(t, 1, 40, 50, 1, turned);
    }
  for (tt_dtype t = TT_F32; t <= TT_C128; t++) check_type(t, 150);
  is_real = false;
}

/* ---- speed: only when asked for by name */

/* Milliseconds of one product: the best of some runs of several each. */
static double product_ms(tt_dtype t, int64_t batch, int64_t m, int64_t k, int64_t n, bool turned, int epilogue) {
  size_t size = tt__dtype_size(t);
  tt_operand a = {NULL, t, 3, (int64_t[]){batch, m, k}, (int64_t[]){m * k, k, 1}, batch * m * k};
  tt_operand b = {NULL, t, 3, (int64_t[]){batch, k, n}, (int64_t[]){k * n, n, 1}, batch * k * n};
  if (turned) b.step = (int64_t[]){k * n, 1, k};
  void *pa, *pb, *c, *bias;
  tt_error err = {0};
  double best = INFINITY;
  tt_device *d = on.device;
  CHECK(on.temp(&on, (size_t)a.size * size, &pa, &err) == TT_OK &&
        on.temp(&on, (size_t)b.size * size, &pb, &err) == TT_OK);
  CHECK(on.temp(&on, (size_t)(batch * m * n) * size, &c, &err) == TT_OK &&
        on.temp(&on, (size_t)n * size, &bias, &err) == TT_OK);
  if (test_failures) return best;
  d->ops->fill(d, on.stream, pa, 0x3c, (size_t)a.size * size, &err); /* finite in every type */
  d->ops->fill(d, on.stream, pb, 0x3c, (size_t)b.size * size, &err);
  d->ops->fill(d, on.stream, bias, 0x3c, (size_t)n * size, &err);
  a.data = pa, b.data = pb;
  tt_event *from, *to;
  CHECK(d->ops->event_new(d, true, &from, &err) == TT_OK && d->ops->event_new(d, true, &to, &err) == TT_OK);
  tt_gemm_plan p;
  tt__gemm_plan(&a, &b, &p);
  for (int round = 0; round < 6; round++) {
    int runs = round ? 5 : 1;
    double ms = 0;
    d->ops->event_record(d, from, on.stream, &err);
    for (int i = 0; i < runs; i++) {
      tt_code code = epilogue ? tt__cublas_product(&on, &p, t, false, epilogue, pa, pb, bias, c, &err)
                              : tt__product_device(&on, &a, &b, c, &err);
      if (code != TT_OK) {
        printf("  (%s)", err.message);
        round = 6;
        break;
      }
    }
    d->ops->event_record(d, to, on.stream, &err);
    d->ops->event_wait(d, to, &err);
    d->ops->event_ms(d, from, to, &ms, &err);
    if (round && round < 6 && ms / runs < best) best = ms / runs;
  }
  d->ops->event_free(d, from);
  d->ops->event_free(d, to);
  real_end(&on);
  return best;
}

static void speed(const char *what, tt_dtype t, int64_t batch, int64_t m, int64_t k, int64_t n, bool turned,
                  int epilogue) {
  double ms = product_ms(t, batch, m, k, n, turned, epilogue);
  double flop = (tt__is_complex(t) ? 8.0 : 2.0) * (double)batch * (double)m * (double)k * (double)n;
  double bytes = (double)(batch * (m * k + k * n + m * n)) * (double)tt__dtype_size(t);
  printf("%-34s %9.4f ms %8.1f Tflop/s %8.1f GB/s\n", what, ms, flop / ms / 1e9, bytes / ms / 1e6);
}

static bool is_asked;
TEST(speeds) {
  tt_error err = {0};
  if (!is_asked || !real_open(&on, &err)) return;
  speed("bf16 8192x4096x16384", TT_BF16, 1, 8192, 4096, 16384, true, 0);
  speed("  with bias", TT_BF16, 1, 8192, 4096, 16384, true, TT_EPILOGUE_BIAS);
  speed("  with bias and relu", TT_BF16, 1, 8192, 4096, 16384, true, TT_EPILOGUE_BIAS | TT_EPILOGUE_RELU);
  speed("  with gelu", TT_BF16, 1, 8192, 4096, 16384, true, TT_EPILOGUE_GELU);
  speed("  with bias and gelu", TT_BF16, 1, 8192, 4096, 16384, true, TT_EPILOGUE_BIAS | TT_EPILOGUE_GELU);
  speed("  second operand by rows", TT_BF16, 1, 8192, 4096, 16384, false, 0);
  speed("f16 8192", TT_F16, 1, 8192, 8192, 8192, false, 0);
  speed("f32 8192", TT_F32, 1, 8192, 8192, 8192, false, 0);
  speed("f32 4096", TT_F32, 1, 4096, 4096, 4096, false, 0);
  tt__product_set_fast(true);
  speed("f32 8192, tf32 allowed", TT_F32, 1, 8192, 8192, 8192, false, 0);
  tt__product_set_fast(false);
  speed("f64 8192", TT_F64, 1, 8192, 8192, 8192, false, 0);
  speed("f64 4096", TT_F64, 1, 4096, 4096, 4096, false, 0);
  speed("c64 4096", TT_C64, 1, 4096, 4096, 4096, false, 0);
  speed("c128 2048", TT_C128, 1, 2048, 2048, 2048, false, 0);
  speed("f32 matrix-vector 16384", TT_F32, 1, 16384, 16384, 1, false, 0);
  speed("f32 vector-matrix 16384", TT_F32, 1, 1, 16384, 16384, false, 0);
  speed("f64 matrix-vector 16384", TT_F64, 1, 16384, 16384, 1, false, 0);
  speed("bf16 matrix-vector 16384", TT_BF16, 1, 16384, 16384, 1, false, 0);
  speed("f32 1024 x 64x64x64", TT_F32, 1024, 64, 64, 64, false, 0);
  speed("f32 10000 x 16x16x16", TT_F32, 10000, 16, 16, 16, false, 0);
  speed("f32 64x64x64", TT_F32, 1, 64, 64, 64, false, 0);
  speed("bf16 8192x4096x16384 again", TT_BF16, 1, 8192, 4096, 16384, true, 0);
  speed("i32 2048 (own)", TT_I32, 1, 2048, 2048, 2048, false, 0);
  speed("i64 1024 (own)", TT_I64, 1, 1024, 1024, 1024, false, 0);
}

int main(int argc, char **argv) {
  is_asked = argc > 1 && strcmp(argv[1], "speeds") == 0;
  return test_main(argc, argv);
}
