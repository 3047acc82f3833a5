/*
** A cuSOLVER (and the batched part of cuBLAS) that a test plays with the host's factorizations: the same parameters,
** the same layouts by columns, the same info.
*/
#ifndef FAKE_CUSOLVER_H
#define FAKE_CUSOLVER_H

#include <complex.h>

#include "lib/linalg/cusolver.h"
#include "lib/linalg/lapack.h"
#include "lib/linalg/move.h"

enum { FAKE_WORK = 4096 };
static int fake_handle, fake_streams, fake_solver_calls, fake_jacobi_fails;
static bool fake_lacks_eig; /* as releases before 12.6 do */

static const tt_lapack *fake_lapack(void) { return tt__lapack_host() ? tt__lapack_host() : tt__fallback_lapack(); }
static tt_dtype fake_type(int code) { return code == 0 ? TT_F32 : code == 1 ? TT_F64 : code == 4 ? TT_C64 : TT_C128; }
static const tt_dtype fake_letters[4] = {TT_F32, TT_F64, TT_C64, TT_C128};

static double complex fake_get(tt_dtype t, const void *a, int64_t i) {
  tt_c128 x = tt__matrix_get(t, a, i);
  return x.re + I * x.im;
}
static void fake_set(tt_dtype t, void *a, int64_t i, double complex x) {
  tt__matrix_set(t, a, i, (tt_c128){creal(x), cimag(x)});
}

static int fake_create(void **handle) {
  *handle = &fake_handle;
  return 0;
}
static int fake_stream(void *handle, void *stream) {
  (void)stream;
  fake_streams++;
  return handle == &fake_handle ? 0 : 1;
}
static int fake_params(void **params) {
  *params = &fake_streams;
  return 0;
}
static int fake_room(size_t *device, size_t *host) {
  *device = FAKE_WORK;
  *host = 100;
  return 0;
}
static int fake_call(void *handle, const void *work, size_t device, const void *host_work, size_t host) {
  fake_solver_calls++;
  return handle == &fake_handle && work && device >= FAKE_WORK && host_work && host >= 100 ? 0 : 7;
}

static int fake_lu(tt_dtype t, int64_t n, void *a, int64_t *pivot) {
  int status = fake_lapack()->lu(t, n, a, pivot);
  for (int64_t i = 0; i < n; i++) pivot[i]++;
  for (int64_t i = 0; i < n && !status; i++)
    if (fake_get(t, a, i * (n + 1)) == 0) return (int)i + 1;
  return status;
}

static void fake_lu_solve(tt_dtype t, int64_t n, int64_t k, const void *lu, const int64_t *pivot, void *b) {
  for (int64_t c = 0; c < k; c++) {
    for (int64_t i = 0; i < n; i++) {
      int64_t p = pivot[i] - 1;
      double complex x = fake_get(t, b, i + c * n), y = fake_get(t, b, p + c * n);
      fake_set(t, b, i + c * n, y);
      fake_set(t, b, p + c * n, p == i ? y : x);
    }
    for (int64_t i = 0; i < n; i++) {
      double complex x = fake_get(t, b, i + c * n);
      for (int64_t j = 0; j < i; j++) x -= fake_get(t, lu, i + j * n) * fake_get(t, b, j + c * n);
      fake_set(t, b, i + c * n, x);
    }
    for (int64_t i = n - 1; i >= 0; i--) {
      double complex x = fake_get(t, b, i + c * n);
      for (int64_t j = i + 1; j < n; j++) x -= fake_get(t, lu, i + j * n) * fake_get(t, b, j + c * n);
      fake_set(t, b, i + c * n, x / fake_get(t, lu, i * (n + 1)));
    }
  }
}

static int fake_getrf_size(void *h, void *p, int64_t m, int64_t n, int type, const void *a, int64_t lda, int compute,
                           size_t *device, size_t *host) {
  (void)h, (void)a;
  return p == &fake_streams && m == n && lda == m && type == compute ? fake_room(device, host) : 3;
}
static int fake_getrf(void *h, void *p, int64_t m, int64_t n, int type, void *a, int64_t lda, int64_t *pivot,
                      int compute, void *work, size_t device, void *host_work, size_t host, int *info) {
  (void)p, (void)m, (void)lda, (void)compute;
  *info = fake_lu(fake_type(type), n, a, pivot);
  return fake_call(h, work, device, host_work, host);
}
static int fake_getrs(void *h, void *p, int op, int64_t n, int64_t k, int type, const void *a, int64_t lda,
                      const int64_t *pivot, int type_b, void *b, int64_t ldb, int *info) {
  (void)h, (void)p;
  if (op != 0 || lda != n || ldb != n || type != type_b) return 3;
  fake_lu_solve(fake_type(type), n, k, a, pivot, b);
  fake_solver_calls++;
  *info = 0;
  return 0;
}
static int fake_potrf_size(void *h, void *p, int uplo, int64_t n, int type, const void *a, int64_t lda, int compute,
                           size_t *device, size_t *host) {
  (void)h, (void)p, (void)a;
  return uplo == 0 && lda == n && type == compute ? fake_room(device, host) : 3;
}
static int fake_potrf(void *h, void *p, int uplo, int64_t n, int type, void *a, int64_t lda, int compute, void *work,
                      size_t device, void *host_work, size_t host, int *info) {
  (void)p, (void)uplo, (void)lda, (void)compute;
  *info = fake_lapack()->cholesky(fake_type(type), n, a);
  return fake_call(h, work, device, host_work, host);
}
static int fake_geqrf_size(void *h, void *p, int64_t m, int64_t n, int type, const void *a, int64_t lda, int type_tau,
                           const void *tau, int compute, size_t *device, size_t *host) {
  (void)h, (void)p, (void)n, (void)a;
  return lda == m && type_tau == type && type == compute && tau ? fake_room(device, host) : 3;
}
static int fake_geqrf(void *h, void *p, int64_t m, int64_t n, int type, void *a, int64_t lda, int type_tau, void *tau,
                      int compute, void *work, size_t device, void *host_work, size_t host, int *info) {
  (void)p, (void)lda, (void)type_tau, (void)compute;
  *info = fake_lapack()->qr(fake_type(type), m, n, a, tau);
  return fake_call(h, work, device, host_work, host);
}
static int fake_gesvd_size(void *h, void *p, signed char ju, signed char jv, int64_t m, int64_t n, int type,
                           const void *a, int64_t lda, int type_s, const void *s, int type_u, const void *u,
                           int64_t ldu, int type_vt, const void *vt, int64_t ldvt, int compute, size_t *device,
                           size_t *host) {
  (void)h, (void)p, (void)a, (void)s, (void)u, (void)vt;
  bool ok = m >= n && ju == jv && lda == m && ldu == m && ldvt == n && type_u == type && type_vt == type &&
            compute == type && fake_type(type_s) == tt__real_of(fake_type(type));
  return ok ? fake_room(device, host) : 3;
}
static int fake_gesvd(void *h, void *p, signed char ju, signed char jv, int64_t m, int64_t n, int type, void *a,
                      int64_t lda, int type_s, void *s, int type_u, void *u, int64_t ldu, int type_vt, void *vt,
                      int64_t ldvt, int compute, void *work, size_t device, void *host_work, size_t host, int *info) {
  (void)p, (void)jv, (void)lda, (void)type_s, (void)type_u, (void)ldu, (void)type_vt, (void)ldvt, (void)compute;
  tt_svd_vectors want = ju == 'N' ? TT_SVD_NONE : ju == 'S' ? TT_SVD_SOME : TT_SVD_ALL;
  *info = fake_lapack()->svd(fake_type(type), m, n, want, a, s, u, vt);
  return fake_call(h, work, device, host_work, host);
}

/* From the triangle that was named: the other one is spoilt first. */
static int fake_one_eigh(tt_dtype t, int job, int uplo, int64_t n, void *a, void *w) {
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < j; i++) {
      if (uplo == 1) fake_set(t, a, j + i * n, conj(fake_get(t, a, i + j * n)));
      fake_set(t, a, i + j * n, 1e30);
    }
  return fake_lapack()->eigh(t, n, job != 0, a, w);
}
static int fake_syevd_size(void *h, void *p, int job, int uplo, int64_t n, int type, const void *a, int64_t lda,
                           int type_w, const void *w, int compute, size_t *device, size_t *host) {
  (void)h, (void)p, (void)job, (void)uplo, (void)a, (void)w;
  return lda == n && compute == type && fake_type(type_w) == tt__real_of(fake_type(type)) ? fake_room(device, host) : 3;
}
static int fake_syevd(void *h, void *p, int job, int uplo, int64_t n, int type, void *a, int64_t lda, int type_w,
                      void *w, int compute, void *work, size_t device, void *host_work, size_t host, int *info) {
  (void)p, (void)lda, (void)type_w, (void)compute;
  *info = fake_one_eigh(fake_type(type), job, uplo, n, a, w);
  return fake_call(h, work, device, host_work, host);
}
static int fake_syevs_size(void *h, void *p, int job, int uplo, int64_t n, int type, const void *a, int64_t lda,
                           int type_w, const void *w, int compute, size_t *device, size_t *host, int64_t batch) {
  return batch > 1 ? fake_syevd_size(h, p, job, uplo, n, type, a, lda, type_w, w, compute, device, host) : 3;
}
static int fake_syevs(void *h, void *p, int job, int uplo, int64_t n, int type, void *a, int64_t lda, int type_w,
                      void *w, int compute, void *work, size_t device, void *host_work, size_t host, int *info,
                      int64_t batch) {
  (void)p, (void)lda, (void)type_w, (void)compute;
  tt_dtype t = fake_type(type);
  for (int64_t i = 0; i < batch; i++)
    info[i] = fake_one_eigh(t, job, uplo, n, (char *)a + (size_t)(i * n * n) * tt__dtype_size(t),
                            (char *)w + (size_t)(i * n) * tt__dtype_size(tt__real_of(t)));
  return fake_call(h, work, device, host_work, host);
}
static int fake_geev_size(void *h, void *p, int left, int right, int64_t n, int type, const void *a, int64_t lda,
                          int type_w, const void *w, int type_l, const void *l, int64_t ldl, int type_r, const void *r,
                          int64_t ldr, int compute, size_t *device, size_t *host) {
  (void)h, (void)p, (void)a, (void)w, (void)type_l, (void)ldl;
  bool ok = !left && !l && (right != 0) == (r != NULL) && lda == n && ldr == n && compute == type &&
            fake_type(type_w) == tt__complex_of(fake_type(type)) && type_r == type && type_l == type;
  return ok ? fake_room(device, host) : 3;
}
/* Vectors of a real matrix share their columns: the real part of a pair, then its imaginary part. */
static void fake_pack(tt_dtype t, int64_t n, const void *w, const void *x, void *r) {
  tt_dtype wide = tt__complex_of(t);
  for (int64_t j = 0; j < n; j++) {
    double im = cimag(fake_get(wide, w, j));
    for (int64_t i = 0; i < n; i++) {
      if (im >= 0) fake_set(t, r, i + j * n, creal(fake_get(wide, x, i + j * n)));
      if (im > 0) fake_set(t, r, i + (j + 1) * n, cimag(fake_get(wide, x, i + j * n)));
    }
  }
}

static int fake_geev(void *h, void *p, int left, int right, int64_t n, int type, void *a, int64_t lda, int type_w,
                     void *w, int type_l, void *l, int64_t ldl, int type_r, void *r, int64_t ldr, int compute,
                     void *work, size_t device, void *host_work, size_t host, int *info) {
  (void)p, (void)left, (void)right, (void)lda, (void)type_w, (void)type_l, (void)l, (void)ldl, (void)type_r, (void)ldr,
      (void)compute;
  tt_dtype t = fake_type(type);
  void *x = r && !tt__is_complex(t) ? malloc((size_t)(n * n) * 16) : r;
  *info = fake_lapack()->eig(t, n, a, w, x);
  if (x != r) {
    fake_pack(t, n, w, x, r);
    free(x);
  }
  return fake_call(h, work, device, host_work, host);
}

/* The four of one name: F(letter, type). */
#define FAKE_FOUR(F) F(0, TT_F32) F(1, TT_F64) F(2, TT_C64) F(3, TT_C128)
#define FAKE_TYPED(L, T)                                                                                              \
  static int fake_orgqr_size_##L(void *h, int m, int n, int k, const void *a, int lda, const void *tau, int *size) {  \
    (void)h, (void)k, (void)a, (void)tau;                                                                             \
    *size = FAKE_WORK;                                                                                                \
    return m >= n && n >= k && lda == m ? 0 : 3;                                                                      \
  }                                                                                                                   \
  static int fake_orgqr_##L(void *h, int m, int n, int k, void *a, int lda, const void *tau, void *work, int size,    \
                            int *info) {                                                                              \
    (void)h, (void)lda;                                                                                               \
    fake_solver_calls++;                                                                                              \
    *info = fake_lapack()->form_q(T, m, n, k, a, tau);                                                                \
    return work && size == FAKE_WORK ? 0 : 7;                                                                         \
  }                                                                                                                   \
  static int fake_svds_size_##L(void *h, int job, int m, int n, const void *a, int lda, const void *s, const void *u, \
                                int ldu, const void *v, int ldv, int *size, void *choices, int batch) {               \
    (void)h, (void)job, (void)a, (void)s, (void)batch;                                                                \
    *size = FAKE_WORK;                                                                                                \
    return choices == &fake_handle && m <= 32 && n <= 32 && lda == m && ldu == m && ldv == n && u && v ? 0 : 3;       \
  }                                                                                                                   \
  static int fake_svds_##L(void *h, int job, int m, int n, void *a, int lda, void *s, void *u, int ldu, void *v,      \
                           int ldv, void *work, int size, int *info, void *choices, int batch) {                      \
    (void)h, (void)lda, (void)ldu, (void)ldv, (void)choices;                                                          \
    size_t one = tt__dtype_size(T), real = tt__dtype_size(tt__real_of(T));                                            \
    fake_solver_calls++;                                                                                              \
    for (int i = 0; i < batch; i++) {                                                                                 \
      char *at = (char *)v + (size_t)(i * n * n) * one;                                                               \
      info[i] = fake_lapack()->svd(T, m, n, job ? TT_SVD_ALL : TT_SVD_NONE, (char *)a + (size_t)(i * m * n) * one,    \
                                   (char *)s + (size_t)(i * (m < n ? m : n)) * real,                                  \
                                   (char *)u + (size_t)(i * m * m) * one, at);                                        \
      if (job) tt__matrix_adjoint(T, n, at);                                                                          \
    }                                                                                                                 \
    return work && size == FAKE_WORK ? 0 : 7;                                                                         \
  }                                                                                                                   \
  static int fake_svdj_size_##L(void *h, int job, int thin, int m, int n, const void *a, int lda, const void *s,      \
                                const void *u, int ldu, const void *v, int ldv, int *size, void *choices) {           \
    (void)thin;                                                                                                       \
    return fake_svds_size_##L(h, job, m > 32 ? 32 : m, n > 32 ? 32 : n, a, lda == m && m > 32 ? 32 : lda, s, u,       \
                              ldu == m && m > 32 ? 32 : ldu, v, ldv == n && n > 32 ? 32 : ldv, size, choices, 1);     \
  }                                                                                                                   \
  static int fake_svdj_##L(void *h, int job, int thin, int m, int n, void *a, int lda, void *s, void *u, int ldu,     \
                           void *v, int ldv, void *work, int size, int *info, void *choices) {                        \
    (void)h, (void)lda, (void)ldu, (void)ldv, (void)choices;                                                          \
    int k = thin && m < n ? m : n;                                                                                    \
    void *vh = malloc((size_t)(n * n) * 16);                                                                          \
    fake_solver_calls++;                                                                                              \
    *info = fake_jacobi_fails ? n + 1                                                                                 \
                              : fake_lapack()->svd(T, m, n,                                                           \
                                                   !job   ? TT_SVD_NONE                                               \
                                                   : thin ? TT_SVD_SOME                                               \
                                                          : TT_SVD_ALL,                                               \
                                                   a, s, u, vh);                                                      \
    for (int i = 0; i < n && job; i++)                                                                                \
      for (int j = 0; j < k; j++) fake_set(T, v, i + j * n, conj(fake_get(T, vh, j + i * k)));                        \
    free(vh);                                                                                                         \
    return work && size == FAKE_WORK ? 0 : 7;                                                                         \
  }                                                                                                                   \
  static int fake_potrfs_##L(void *h, int uplo, int n, void *const *a, int lda, int *info, int batch) {               \
    (void)h;                                                                                                          \
    fake_solver_calls++;                                                                                              \
    for (int i = 0; i < batch; i++) info[i] = fake_lapack()->cholesky(T, n, a[i]);                                    \
    return uplo == 0 && lda == n ? 0 : 3;                                                                             \
  }                                                                                                                   \
  static int fake_getrfs_##L(void *h, int n, void *const *a, int lda, int *pivot, int *info, int batch) {             \
    int64_t wide[64];                                                                                                 \
    fake_solver_calls++;                                                                                              \
    for (int i = 0; i < batch; i++) {                                                                                 \
      info[i] = fake_lu(T, n, a[i], wide);                                                                            \
      for (int j = 0; j < n; j++) pivot[i * n + j] = (int)wide[j];                                                    \
    }                                                                                                                 \
    return h == &fake_handle && lda == n && n <= 64 ? 0 : 7;                                                          \
  }                                                                                                                   \
  static int fake_getrss_##L(void *h, int op, int n, int k, const void *const *a, int lda, const int *pivot,          \
                             void *const *b, int ldb, int *info, int batch) {                                         \
    int64_t wide[64];                                                                                                 \
    fake_solver_calls++;                                                                                              \
    for (int i = 0; i < batch; i++) {                                                                                 \
      for (int j = 0; j < n; j++) wide[j] = pivot[i * n + j];                                                         \
      fake_lu_solve(T, n, k, a[i], wide, b[i]);                                                                       \
    }                                                                                                                 \
    *info = 0;                                                                                                        \
    return h == &fake_handle && op == 0 && lda == n && ldb == n ? 0 : 7;                                              \
  }
FAKE_FOUR(FAKE_TYPED)
#define FAKE_LIST(NAME) \
  { NAME##_0, NAME##_1, NAME##_2, NAME##_3 }

/* From now on these are the libraries. */
static void fake_cusolver(void) {
  static const tt_cusolver solver = {
      .create = fake_create,
      .set_stream = fake_stream,
      .params = fake_params,
      .getrf_size = fake_getrf_size,
      .getrf = fake_getrf,
      .getrs = fake_getrs,
      .potrf_size = fake_potrf_size,
      .potrf = fake_potrf,
      .geqrf_size = fake_geqrf_size,
      .geqrf = fake_geqrf,
      .gesvd_size = fake_gesvd_size,
      .gesvd = fake_gesvd,
      .syevd_size = fake_syevd_size,
      .syevd = fake_syevd,
      .syev_batched_size = fake_syevs_size,
      .syev_batched = fake_syevs,
      .geev_size = fake_geev_size,
      .geev = fake_geev,
      .orgqr_size = FAKE_LIST(fake_orgqr_size),
      .orgqr = FAKE_LIST(fake_orgqr),
      .potrf_batched = FAKE_LIST(fake_potrfs),
      .jacobi = fake_create,
      .gesvdj_size = FAKE_LIST(fake_svdj_size),
      .gesvdj = FAKE_LIST(fake_svdj),
      .gesvdj_batched_size = FAKE_LIST(fake_svds_size),
      .gesvdj_batched = FAKE_LIST(fake_svds),
  };
  static const tt_cublas_batch batch = {.create = fake_create,
                                        .set_stream = fake_stream,
                                        .getrf = FAKE_LIST(fake_getrfs),
                                        .getrs = FAKE_LIST(fake_getrss)};
  memcpy(tt__vendor_cusolver.fn, &solver, sizeof solver);
  memcpy(tt__vendor_cublas.fn, &batch, sizeof batch);
  tt__vendor_cusolver.played = tt__vendor_cublas.played = true;
}

#endif
