/* Calls of cuSOLVER and of the batched part of cuBLAS; see cusolver.h. */
#include "lib/linalg/cusolver.h"

#include <assert.h>

#include "base/mem.h"
#include "lib/device_call.h"
#include "lib/linalg/device_matrix.h"

enum { OP_N = 0, LOWER = 0, UPPER = 1 };
enum { STATUS_NO_MEMORY = 2, STATUS_INVALID = 3, STATUS_TYPE = 8, STATUS_NOT_SUPPORTED = 9 };

static const char *const solver_names[] = {
#define TT_CUSOLVER_FN(field, symbol, params) symbol,
#define TT_CUSOLVER_FN4(field, s, d, c, z, params) s, d, c, z,
#include "lib/linalg/cusolver_api.def"
#undef TT_CUSOLVER_FN
#undef TT_CUSOLVER_FN4
};
static const char *const batch_names[] = {
#define TT_CUBLAS_FN(field, symbol, params) symbol,
#define TT_CUBLAS_FN4(field, s, d, c, z, params) s, d, c, z,
#include "lib/product/cublas_batch_api.def"
#undef TT_CUBLAS_FN
#undef TT_CUBLAS_FN4
};
enum { SOLVER_NAMES = sizeof solver_names / sizeof *solver_names };
enum { BATCH_NAMES = sizeof batch_names / sizeof *batch_names };
_Static_assert(sizeof(tt_cusolver) == SOLVER_NAMES * sizeof(tt_vendor_fn), "one pointer a name");
_Static_assert(sizeof(tt_cublas_batch) == BATCH_NAMES * sizeof(tt_vendor_fn), "one pointer a name");

static tt_cusolver api;
static tt_cublas_batch many;
tt_vendor tt__vendor_cusolver = {.stem = "libcusolver.so",
                                 .name = solver_names,
                                 .n = SOLVER_NAMES,
                                 .fn = (tt_vendor_fn *)&api,
                                 .lock = TT_LOCK_INIT};
tt_vendor tt__vendor_cublas = {
    .stem = "libcublas.so", .name = batch_names, .n = BATCH_NAMES, .fn = (tt_vendor_fn *)&many, .lock = TT_LOCK_INIT};

/* cuSOLVER's choices, the default ones, for most functions and for Jacobi's method: the vendor's `extra`. */
static void *defaults(void) { return tt__vendor_cusolver.extra[0]; }
static void *jacobi(void) { return tt__vendor_cusolver.extra[1]; }

static int type_of(tt_dtype t) { return t == TT_F32 ? 0 : t == TT_F64 ? 1 : t == TT_C64 ? 4 : 5; }
static int letter_of(tt_dtype t) { return t == TT_F32 ? 0 : t == TT_F64 ? 1 : t == TT_C64 ? 2 : 3; }
static char *matrix_at(const tt_solver *s, void *a, int64_t at, int64_t count) {
  return a ? (char *)a + (size_t)(at * count) * tt__dtype_size(s->type) : NULL;
}

static tt_code status_code(int status, const char *what, tt_error *err) {
  if (status == 0) return TT_OK;
  if (status == STATUS_NO_MEMORY) return tt__fail(err, TT_ENOMEM, "%s: the device has no memory left", what);
  if (status == STATUS_INVALID || status == STATUS_TYPE || status == STATUS_NOT_SUPPORTED)
    return tt__fail(err, TT_ENOTIMPL, "%s does not take this (status %d)", what, status);
  return tt__fail(err, TT_EDEVICE, "%s failed with status %d", what, status);
}

/* The library has taken the work, or has it not? */
static tt_code asked(const tt_solver *s, int status, const char *what, tt_error *err) {
  TT_TRY(status_code(status, what, err));
  return tt__device_asked(s->on, what, err);
}

/* ---- begin, check, end */

tt_code tt__solver_begin(const tt_lib_device *on, tt_dtype t, int64_t batch, tt_solver *s, tt_error *err) {
  *s = (tt_solver){.on = on, .type = t, .batch = batch};
  void *info, *stream = on->device->ops->interop->handle(on->device, on->stream);
  if (t < TT_F32 || t > TT_C128) return tt__fail(err, TT_ENOTIMPL, "no library has this type");
  TT_TRY(tt__vendor_enter(&tt__vendor_cusolver, on->device, &s->handle, err));
  s->entered = true;
  if (!defaults()) TT_TRY(status_code(api.params(&tt__vendor_cusolver.extra[0]), "cuSOLVER", err));
  TT_TRY(status_code(api.set_stream(s->handle, stream), "cuSOLVER", err));
  TT_TRY(on->temp(on, (size_t)batch * sizeof(int32_t), &info, err));
  s->info = info;
  return tt__device_fill(on, info, 0, (size_t)batch * sizeof(int32_t), err);
}

tt_code tt__solver_check(tt_solver *s, const char *words, tt_error *err) {
  return tt__device_check(s->on, s->info, s->batch, words, err);
}

void tt__solver_end(tt_solver *s) {
  if (s->host_work) { /* the library may still be writing there */
    s->on->device->ops->stream_wait_idle(s->on->device, s->on->stream, NULL);
    tt__mem_free_data(s->host_work, s->host_size);
  }
  if (s->batch_entered) tt__vendor_leave(&tt__vendor_cublas);
  if (s->entered) tt__vendor_leave(&tt__vendor_cusolver);
}

/* Memory for a call to work in. */
static tt_code room(tt_solver *s, size_t device, size_t host, tt_error *err) {
  if (device > s->work_size) {
    TT_TRY(s->on->temp(s->on, device, &s->work, err));
    s->work_size = device;
  }
  if (host <= s->host_size) return TT_OK;
  if (s->host_work) {
    TT_TRY(s->on->device->ops->stream_wait_idle(s->on->device, s->on->stream, err));
    tt__mem_free_data(s->host_work, s->host_size);
    s->host_size = 0;
  }
  s->host_work = tt__mem_alloc_data(host);
  if (!s->host_work) return tt__fail_memory(err, host);
  s->host_size = host;
  return TT_OK;
}

/* cuBLAS beside cuSOLVER, for batches. */
static tt_code enter_batch(tt_solver *s, tt_error *err) {
  if (s->batch_entered) return TT_OK;
  TT_TRY(tt__vendor_enter(&tt__vendor_cublas, s->on->device, &s->batch_handle, err));
  s->batch_entered = true;
  void *stream = s->on->device->ops->interop->handle(s->on->device, s->on->stream);
  return status_code(many.set_stream(s->batch_handle, stream), "cuBLAS", err);
}

static tt_code addresses(tt_solver *s, const void *a, int64_t count, void ***out, tt_error *err) {
  void *to;
  TT_TRY(s->on->temp(s->on, (size_t)s->batch * sizeof(void *), &to, err));
  *out = to;
  return tt__device_addresses(s->on, s->type, (void *)(uintptr_t)a, count, s->batch, to, err);
}

static bool in_one_call(const tt_solver *s, int64_t n, int64_t k) {
  return s->batch > 1 && s->batch <= INT32_MAX && n <= TT_BATCH_SIDE && k <= INT32_MAX;
}

static tt_code one_by_one(const tt_solver *s, tt_error *err) {
  if (s->batch <= TT_MOST_TURNS) return TT_OK;
  return tt__fail(err, TT_ENOTIMPL, "so many matrices are sooner done by the host");
}

/* ---- LU */

tt_code tt__solver_lu(tt_solver *s, int64_t n, void *a, void *pivot, bool *wide, tt_error *err) {
  assert(n > 0);
  int type = type_of(s->type);
  *wide = !in_one_call(s, n, 0);
  if (!*wide) {
    void **each;
    TT_TRY(enter_batch(s, err));
    TT_TRY(addresses(s, a, n * n, &each, err));
    int status = many.getrf[letter_of(s->type)](s->batch_handle, (int)n, each, (int)n, pivot, s->info, (int)s->batch);
    return asked(s, status, "cublasgetrfBatched", err);
  }
  TT_TRY(one_by_one(s, err));
  for (int64_t i = 0; i < s->batch; i++) {
    size_t device = 0, host = 0;
    void *at = matrix_at(s, a, i, n * n);
    TT_TRY(
        status_code(api.getrf_size(s->handle, defaults(), n, n, type, at, n, type, &device, &host), "cuSOLVER", err));
    TT_TRY(room(s, device, host, err));
    int status = api.getrf(s->handle, defaults(), n, n, type, at, n, (int64_t *)pivot + i * n, type, s->work,
                           s->work_size, s->host_work, s->host_size, s->info + i);
    TT_TRY(asked(s, status, "cusolverDnXgetrf", err));
  }
  return TT_OK;
}

tt_code tt__solver_lu_solve(tt_solver *s, int64_t n, int64_t k, const void *lu, const void *pivot, bool wide, void *b,
                            tt_error *err) {
  int type = type_of(s->type), host_info = 0;
  if (!wide) {
    void **left, **right;
    TT_TRY(enter_batch(s, err));
    TT_TRY(addresses(s, lu, n * n, &left, err));
    TT_TRY(addresses(s, b, n * k, &right, err));
    int status = many.getrs[letter_of(s->type)](s->batch_handle, OP_N, (int)n, (int)k, (const void *const *)left,
                                                (int)n, pivot, right, (int)n, &host_info, (int)s->batch);
    return asked(s, status, "cublasgetrsBatched", err);
  }
  void *info; /* getrs says only what is wrong with its arguments: the factorization's info stays */
  TT_TRY(s->on->temp(s->on, sizeof(int32_t), &info, err));
  for (int64_t i = 0; i < s->batch; i++) {
    int status = api.getrs(s->handle, defaults(), OP_N, n, k, type, matrix_at(s, (void *)(uintptr_t)lu, i, n * n), n,
                           (const int64_t *)pivot + i * n, type, matrix_at(s, b, i, n * k), n, info);
    TT_TRY(asked(s, status, "cusolverDnXgetrs", err));
  }
  return TT_OK;
}

/* ---- Cholesky and QR */

tt_code tt__solver_cholesky(tt_solver *s, int64_t n, void *a, tt_error *err) {
  int type = type_of(s->type);
  if (in_one_call(s, n, 0)) {
    void **each;
    TT_TRY(addresses(s, a, n * n, &each, err));
    int status = api.potrf_batched[letter_of(s->type)](s->handle, LOWER, (int)n, each, (int)n, s->info, (int)s->batch);
    return asked(s, status, "cusolverDnpotrfBatched", err);
  }
  TT_TRY(one_by_one(s, err));
  for (int64_t i = 0; i < s->batch; i++) {
    size_t device = 0, host = 0;
    void *at = matrix_at(s, a, i, n * n);
    TT_TRY(status_code(api.potrf_size(s->handle, defaults(), LOWER, n, type, at, n, type, &device, &host), "cuSOLVER",
                       err));
    TT_TRY(room(s, device, host, err));
    int status = api.potrf(s->handle, defaults(), LOWER, n, type, at, n, type, s->work, s->work_size, s->host_work,
                           s->host_size, s->info + i);
    TT_TRY(asked(s, status, "cusolverDnXpotrf", err));
  }
  return TT_OK;
}

tt_code tt__solver_qr(tt_solver *s, int64_t at, int64_t m, int64_t n, void *a, void *tau, tt_error *err) {
  assert(m > 0 && n > 0);
  int type = type_of(s->type);
  size_t device = 0, host = 0;
  TT_TRY(one_by_one(s, err));
  TT_TRY(status_code(api.geqrf_size(s->handle, defaults(), m, n, type, a, m, type, tau, type, &device, &host),
                     "cuSOLVER", err));
  TT_TRY(room(s, device, host, err));
  int status = api.geqrf(s->handle, defaults(), m, n, type, a, m, type, tau, type, s->work, s->work_size, s->host_work,
                         s->host_size, s->info + at);
  return asked(s, status, "cusolverDnXgeqrf", err);
}

tt_code tt__solver_form_q(tt_solver *s, int64_t at, int64_t m, int64_t cols, int64_t k, void *a, const void *tau,
                          tt_error *err) {
  int letter = letter_of(s->type), size = 0;
  if (m > INT32_MAX || cols > INT32_MAX) return tt__fail(err, TT_ENOTIMPL, "too large for orgqr");
  TT_TRY(status_code(api.orgqr_size[letter](s->handle, (int)m, (int)cols, (int)k, a, (int)m, tau, &size), "cuSOLVER",
                     err));
  TT_TRY(room(s, (size_t)size * tt__dtype_size(s->type), 0, err));
  int status = api.orgqr[letter](s->handle, (int)m, (int)cols, (int)k, a, (int)m, tau, s->work, size, s->info + at);
  return asked(s, status, "cusolverDnorgqr", err);
}

/* ---- singular values and eigenvalues */

tt_code tt__solver_svd(tt_solver *s, int64_t at, char job, int64_t m, int64_t n, void *a, void *values, void *u,
                       void *vt, tt_error *err) {
  int type = type_of(s->type), real = type_of(tt__real_of(s->type));
  signed char j = (signed char)job;
  size_t device = 0, host = 0;
  TT_TRY(one_by_one(s, err));
  TT_TRY(status_code(api.gesvd_size(s->handle, defaults(), j, j, m, n, type, a, m, real, values, type, u, m, type, vt,
                                    n, type, &device, &host),
                     "cuSOLVER", err));
  TT_TRY(room(s, device, host, err));
  int status = api.gesvd(s->handle, defaults(), j, j, m, n, type, a, m, real, values, type, u, m, type, vt, n, type,
                         s->work, s->work_size, s->host_work, s->host_size, s->info + at);
  return asked(s, status, "cusolverDnXgesvd", err);
}

static tt_code jacobi_begins(tt_error *err) {
  if (jacobi()) return TT_OK;
  return status_code(api.jacobi(&tt__vendor_cusolver.extra[1]), "cuSOLVER", err);
}

tt_code tt__solver_svd_small(tt_solver *s, bool vectors, int64_t m, int64_t n, void *a, void *values, void *u, void *v,
                             tt_error *err) {
  int letter = letter_of(s->type), size = 0, rows = (int)m, cols = (int)n, batch = (int)s->batch, job = vectors;
  if (s->batch > INT32_MAX) return tt__fail(err, TT_ENOTIMPL, "too many matrices for one call");
  TT_TRY(jacobi_begins(err));
  TT_TRY(status_code(api.gesvdj_batched_size[letter](s->handle, job, rows, cols, a, rows, values, u, rows, v, cols,
                                                     &size, jacobi(), batch),
                     "cuSOLVER", err));
  TT_TRY(room(s, (size_t)size * tt__dtype_size(s->type), 0, err));
  int status = api.gesvdj_batched[letter](s->handle, job, rows, cols, a, rows, values, u, rows, v, cols, s->work, size,
                                          s->info, jacobi(), batch);
  return asked(s, status, "cusolverDngesvdjBatched", err);
}

tt_code tt__solver_svd_jacobi(tt_solver *s, int64_t at, bool vectors, bool thin, int64_t m, int64_t n, void *a,
                              void *values, void *u, void *v, tt_error *err) {
  int letter = letter_of(s->type), size = 0, rows = (int)m, cols = (int)n, job = vectors;
  TT_TRY(one_by_one(s, err));
  TT_TRY(jacobi_begins(err));
  TT_TRY(status_code(
      api.gesvdj_size[letter](s->handle, job, thin, rows, cols, a, rows, values, u, rows, v, cols, &size, jacobi()),
      "cuSOLVER", err));
  TT_TRY(room(s, (size_t)size * tt__dtype_size(s->type), 0, err));
  int status = api.gesvdj[letter](s->handle, job, thin, rows, cols, a, rows, values, u, rows, v, cols, s->work, size,
                                  s->info + at, jacobi());
  return asked(s, status, "cusolverDngesvdj", err);
}

static const char no_eig[] = "this cuSOLVER has no general eigenvalues (12.6 and later ones have)";

const char *tt__solver_eig_missing(tt_device *d) {
  void *handle;
  if (tt__vendor_enter(&tt__vendor_cusolver, d, &handle, NULL) != TT_OK) return "there is no cuSOLVER for it";
  bool has = api.geev && api.geev_size;
  tt__vendor_leave(&tt__vendor_cusolver);
  return has ? NULL : no_eig;
}

tt_code tt__solver_eig(tt_solver *s, int64_t at, int64_t n, void *a, void *w, void *v, tt_error *err) {
  int type = type_of(s->type), wide = type_of(tt__complex_of(s->type)), right = v != NULL;
  size_t device = 0, host = 0;
  if (!api.geev || !api.geev_size) return tt__fail(err, TT_ENOTIMPL, "%s", no_eig);
  TT_TRY(one_by_one(s, err));
  TT_TRY(status_code(api.geev_size(s->handle, defaults(), 0, right, n, type, a, n, wide, w, type, NULL, n, type, v, n,
                                   type, &device, &host),
                     "cuSOLVER", err));
  TT_TRY(room(s, device, host, err));
  int status = api.geev(s->handle, defaults(), 0, right, n, type, a, n, wide, w, type, NULL, n, type, v, n, type,
                        s->work, s->work_size, s->host_work, s->host_size, s->info + at);
  return asked(s, status, "cusolverDnXgeev", err);
}

tt_code tt__solver_eigh(tt_solver *s, bool upper, bool vectors, int64_t n, void *a, void *w, tt_error *err) {
  int type = type_of(s->type), real = type_of(tt__real_of(s->type)), side = upper ? UPPER : LOWER;
  size_t device = 0, host = 0, size = tt__dtype_size(tt__real_of(s->type));
  if (s->batch > 1 && n <= TT_BATCH_SIDE && api.syev_batched && api.syev_batched_size) {
    TT_TRY(status_code(api.syev_batched_size(s->handle, defaults(), vectors, side, n, type, a, n, real, w, type,
                                             &device, &host, s->batch),
                       "cuSOLVER", err));
    TT_TRY(room(s, device, host, err));
    int status = api.syev_batched(s->handle, defaults(), vectors, side, n, type, a, n, real, w, type, s->work,
                                  s->work_size, s->host_work, s->host_size, s->info, s->batch);
    return asked(s, status, "cusolverDnXsyevBatched", err);
  }
  TT_TRY(one_by_one(s, err));
  for (int64_t i = 0; i < s->batch; i++) {
    void *at = matrix_at(s, a, i, n * n), *values = (char *)w + (size_t)(i * n) * size;
    TT_TRY(status_code(
        api.syevd_size(s->handle, defaults(), vectors, side, n, type, at, n, real, values, type, &device, &host),
        "cuSOLVER", err));
    TT_TRY(room(s, device, host, err));
    int status = api.syevd(s->handle, defaults(), vectors, side, n, type, at, n, real, values, type, s->work,
                           s->work_size, s->host_work, s->host_size, s->info + i);
    TT_TRY(asked(s, status, "cusolverDnXsyevd", err));
  }
  return TT_OK;
}
