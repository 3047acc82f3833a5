/*
** The host's LAPACK behind tt_lapack: Fortran's integers, workspace queries and the four type letters end here.
*/
#include "lib/linalg/lapack.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "lib/product/blas_host.h"

/* The calls whose real and complex forms differ (blas_host.h). */
typedef void (*gesdd_real)(const char *job, tt_blas_n m, tt_blas_n n, void *a, tt_blas_n lda, void *s, void *u,
                           tt_blas_n ldu, void *vt, tt_blas_n ldvt, void *work, tt_blas_n lwork, void *iwork,
                           tt_blas_int *info, size_t);
typedef void (*gesdd_complex)(const char *job, tt_blas_n m, tt_blas_n n, void *a, tt_blas_n lda, void *s, void *u,
                              tt_blas_n ldu, void *vt, tt_blas_n ldvt, void *work, tt_blas_n lwork, void *rwork,
                              void *iwork, tt_blas_int *info, size_t);
typedef void (*syevd_real)(const char *job, const char *uplo, tt_blas_n n, void *a, tt_blas_n lda, void *w, void *work,
                           tt_blas_n lwork, void *iwork, tt_blas_n liwork, tt_blas_int *info, size_t, size_t);
typedef void (*syevd_complex)(const char *job, const char *uplo, tt_blas_n n, void *a, tt_blas_n lda, void *w,
                              void *work, tt_blas_n lwork, void *rwork, tt_blas_n lrwork, void *iwork, tt_blas_n liwork,
                              tt_blas_int *info, size_t, size_t);
typedef void (*gelsd_real)(tt_blas_n m, tt_blas_n n, tt_blas_n nrhs, void *a, tt_blas_n lda, void *b, tt_blas_n ldb,
                           void *s, const void *rcond, tt_blas_int *rank, void *work, tt_blas_n lwork, void *iwork,
                           tt_blas_int *info);
typedef void (*gelsd_complex)(tt_blas_n m, tt_blas_n n, tt_blas_n nrhs, void *a, tt_blas_n lda, void *b, tt_blas_n ldb,
                              void *s, const void *rcond, tt_blas_int *rank, void *work, tt_blas_n lwork, void *rwork,
                              void *iwork, tt_blas_int *info);
typedef void (*geev_real)(const char *left, const char *right, tt_blas_n n, void *a, tt_blas_n lda, void *wr, void *wi,
                          void *vl, tt_blas_n ldvl, void *vr, tt_blas_n ldvr, void *work, tt_blas_n lwork,
                          tt_blas_int *info, size_t, size_t);
typedef void (*geev_complex)(const char *left, const char *right, tt_blas_n n, void *a, tt_blas_n lda, void *w,
                             void *vl, tt_blas_n ldvl, void *vr, tt_blas_n ldvr, void *work, tt_blas_n lwork,
                             void *rwork, tt_blas_int *info, size_t, size_t);

/* One call in the making: the library, the type, and workspaces in one block. */
typedef struct call {
  const tt_blas *bl;
  tt_blas_type type;
  size_t size, real_size; /* of an element and of its real type */
  tt_blas_int info;
  char *room;
  size_t room_size;
} call;

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* Operations of a QR of m x n, in which those of the other factorizations are counted. */
static double qr_flops(int64_t m, int64_t n) {
  double small = (double)min64(m, n), large = (double)max64(m, n);
  return 2 * small * small * (large - small / 3);
}

/*
** Threads of a library wait for each other in loops at each step of a factorization. Below these operations they gain
** less than that costs, and where another library's threads spin on a core a step waits until those give up.
*/
#define SHARED_WORK 2e8

/* `work` is multiplications and additions, roughly. */
static call begin(tt_dtype t, double work) {
  bool is_shared = work * (tt__is_complex(t) ? 4 : 1) >= SHARED_WORK;
  call c = {.bl = tt__blas_enter(is_shared), .type = (tt_blas_type)(t - TT_F32), .size = tt__dtype_size(t)};
  assert(t >= TT_F32 && c.bl && c.bl->has_lapack);
  c.real_size = tt__dtype_size(tt__real_of(t));
  return c;
}

static bool is_complex(const call *c) { return c->type >= TT_BLAS_C; }
static tt_blas_int int_of(const call *c, int64_t v) { return tt__blas_int(c->bl, v); }

/* Workspaces of these many elements, reals and integers; false when memory is out. */
static bool take(call *c, int64_t elements, int64_t reals, int64_t ints, void **work, void **rwork, void **iwork) {
  size_t a = (size_t)elements * c->size, b = (size_t)reals * c->real_size, d = (size_t)ints * sizeof(int64_t);
  size_t at_b = (a + 15) / 16 * 16, at_d = at_b + (b + 15) / 16 * 16;
  c->room_size = at_d + d + 16; /* never empty */
  c->room = tt__mem_alloc_data(c->room_size);
  if (!c->room) return false;
  *work = c->room, *rwork = c->room + at_b, *iwork = c->room + at_d;
  return true;
}

static int finish(call *c) {
  if (c->room) tt__mem_free_data(c->room, c->room_size);
  int64_t info = tt__blas_get(c->bl, c->info);
  if (info > INT32_MAX) return INT32_MAX;
  return info < 0 ? 1 : (int)info; /* negative: an argument it does not like, which for us is a NaN in the matrix */
}

/* What a workspace query left in a number; a float may have rounded it down. */
static int64_t asked(const call *c, const void *number) {
  if (c->real_size == sizeof(double)) {
    double d;
    memcpy(&d, number, sizeof d);
    return (int64_t)d + 1;
  }
  float f;
  memcpy(&f, number, sizeof f);
  return (int64_t)((double)f * (1 + 1e-6)) + 1;
}

static int64_t asked_int(const call *c, const void *number) {
  tt_blas_int i = {.i64 = 0};
  memcpy(&i, number, (size_t)c->bl->int_bytes);
  return tt__blas_get(c->bl, i);
}

/* Whether sizes, and the workspaces that grow with their product, can be counted in the library's integers. */
static bool fits(const call *c, int64_t m, int64_t n) {
  return tt__blas_fits(c->bl, m) && tt__blas_fits(c->bl, n) &&
         (c->bl->int_bytes == 8 || 7.0 * (double)min64(m, n) * (double)max64(m, n) < 2e9);
}
static bool fits_side(const call *c, int64_t n) { return tt__blas_fits(c->bl, n); }

static int host_lu(tt_dtype t, int64_t n, void *a, int64_t *pivot) {
  call c = begin(t, qr_flops(n, n) / 2);
  if (!fits_side(&c, n)) return LINALG_TOO_LARGE;
  void *work, *rwork, *ipiv;
  if (!take(&c, 0, 0, n, &work, &rwork, &ipiv)) return LINALG_NO_MEMORY;
  tt_blas_int bn = int_of(&c, n);
  c.bl->getrf[c.type](&bn, &bn, a, &bn, ipiv, &c.info);
  for (int64_t i = 0; i < n; i++) pivot[i] = asked_int(&c, (char *)ipiv + i * c.bl->int_bytes) - 1;
  int failed = finish(&c);
  (void)failed; /* a zero pivot: the factors are still right */
  return LINALG_OK;
}

static int host_solve(tt_dtype t, int64_t n, int64_t k, void *a, void *b) {
  call c = begin(t, qr_flops(n, n) / 2 + 2.0 * (double)n * (double)n * (double)k);
  if (!fits_side(&c, n) || !fits_side(&c, k)) return LINALG_TOO_LARGE;
  void *work, *rwork, *ipiv;
  if (!take(&c, 0, 0, n, &work, &rwork, &ipiv)) return LINALG_NO_MEMORY;
  tt_blas_int bn = int_of(&c, n), bk = int_of(&c, k);
  c.bl->gesv[c.type](&bn, &bk, a, &bn, ipiv, b, &bn, &c.info);
  return finish(&c);
}

static int host_cholesky(tt_dtype t, int64_t n, void *a) {
  call c = begin(t, qr_flops(n, n) / 4);
  if (!fits_side(&c, n)) return LINALG_TOO_LARGE;
  tt_blas_int bn = int_of(&c, n);
  c.bl->potrf[c.type]("L", &bn, a, &bn, &c.info, 1);
  return finish(&c);
}

static int host_qr(tt_dtype t, int64_t m, int64_t n, void *a, void *tau) {
  call c = begin(t, qr_flops(m, n));
  if (!fits_side(&c, m) || !fits_side(&c, n)) return LINALG_TOO_LARGE;
  tt_blas_int bm = int_of(&c, m), bn = int_of(&c, n), lwork = int_of(&c, -1);
  double number[2];
  void *work, *rwork, *iwork;
  c.bl->geqrf[c.type](&bm, &bn, a, &bm, tau, number, &lwork, &c.info);
  int64_t size = max64(asked(&c, number), n);
  if (!take(&c, size, 0, 0, &work, &rwork, &iwork)) return LINALG_NO_MEMORY;
  lwork = int_of(&c, size);
  c.bl->geqrf[c.type](&bm, &bn, a, &bm, tau, work, &lwork, &c.info);
  return finish(&c);
}

static int host_form_q(tt_dtype t, int64_t m, int64_t cols, int64_t k, void *a, const void *tau) {
  call c = begin(t, qr_flops(m, cols));
  if (!fits_side(&c, m)) return LINALG_TOO_LARGE;
  tt_blas_int bm = int_of(&c, m), bn = int_of(&c, cols), bk = int_of(&c, k), lwork = int_of(&c, -1);
  double number[2];
  void *work, *rwork, *iwork;
  c.bl->orgqr[c.type](&bm, &bn, &bk, a, &bm, tau, number, &lwork, &c.info);
  int64_t size = max64(asked(&c, number), cols);
  if (!take(&c, size, 0, 0, &work, &rwork, &iwork)) return LINALG_NO_MEMORY;
  lwork = int_of(&c, size);
  c.bl->orgqr[c.type](&bm, &bn, &bk, a, &bm, tau, work, &lwork, &c.info);
  return finish(&c);
}

static int host_svd(tt_dtype t, int64_t m, int64_t n, tt_svd_vectors vectors, void *a, void *s, void *u, void *vh) {
  call c = begin(t, 2 * qr_flops(m, n));
  if (!fits(&c, m, n)) return LINALG_TOO_LARGE;
  static const char jobs[] = {'N', 'S', 'A'}; /* ORDER tt_svd_vectors */
  int64_t k = min64(m, n), big = max64(m, n);
  tt_blas_int bm = int_of(&c, m), bn = int_of(&c, n), lwork = int_of(&c, -1);
  tt_blas_int ldvt = int_of(&c, vectors == TT_SVD_ALL ? n : k);
  int64_t reals = !is_complex(&c) ? 0 : vectors == TT_SVD_NONE ? 7 * k : k * max64(5 * k + 7, 2 * big + 2 * k + 1);
  double number[2], rnumber[1];
  int64_t inumber[1];
  void *work = number, *rwork = rnumber, *iwork = inumber;
  for (int pass = 0; pass < 2; pass++) { /* ask for the workspace, then work */
    if (is_complex(&c)) {
      ((gesdd_complex)c.bl->gesdd[c.type])(&jobs[vectors], &bm, &bn, a, &bm, s, u, &bm, vh, &ldvt, work, &lwork, rwork,
                                           iwork, &c.info, 1);
    } else {
      ((gesdd_real)c.bl->gesdd[c.type])(&jobs[vectors], &bm, &bn, a, &bm, s, u, &bm, vh, &ldvt, work, &lwork, iwork,
                                        &c.info, 1);
    }
    if (pass == 1) break;
    int64_t size = asked(&c, number);
    if (!take(&c, size, reals, 8 * k, &work, &rwork, &iwork)) return LINALG_NO_MEMORY;
    lwork = int_of(&c, size);
  }
  return finish(&c);
}

static int host_eigh(tt_dtype t, int64_t n, bool vectors, void *a, void *w) {
  call c = begin(t, qr_flops(n, n));
  if (!fits(&c, n, n)) return LINALG_TOO_LARGE;
  const char *job = vectors ? "V" : "N";
  tt_blas_int bn = int_of(&c, n), lwork = int_of(&c, -1), lrwork = lwork, liwork = lwork;
  double number[2], rnumber[1] = {0};
  int64_t inumber[1];
  void *work = number, *rwork = rnumber, *iwork = inumber;
  for (int pass = 0; pass < 2; pass++) {
    if (is_complex(&c)) {
      ((syevd_complex)c.bl->syevd[c.type])(job, "L", &bn, a, &bn, w, work, &lwork, rwork, &lrwork, iwork, &liwork,
                                           &c.info, 1, 1);
    } else {
      ((syevd_real)c.bl->syevd[c.type])(job, "L", &bn, a, &bn, w, work, &lwork, iwork, &liwork, &c.info, 1, 1);
    }
    if (pass == 1) break;
    int64_t size = asked(&c, number), reals = is_complex(&c) ? asked(&c, rnumber) : 0, ints = asked_int(&c, inumber);
    if (!take(&c, size, reals, ints, &work, &rwork, &iwork)) return LINALG_NO_MEMORY;
    lwork = int_of(&c, size), lrwork = int_of(&c, reals), liwork = int_of(&c, ints);
  }
  return finish(&c);
}

static int host_lstsq(tt_dtype t, int64_t m, int64_t n, int64_t k, void *a, void *b, double rcond, void *s,
                      int64_t *rank) {
  call c = begin(t, 2 * qr_flops(m, n));
  if (!fits(&c, m, n) || !fits_side(&c, k)) return LINALG_TOO_LARGE;
  tt_blas_int bm = int_of(&c, m), bn = int_of(&c, n), bk = int_of(&c, k), ldb = int_of(&c, max64(m, n));
  tt_blas_int lwork = int_of(&c, -1), brank = int_of(&c, 0);
  float rcond_f = (float)rcond;
  const void *cond = c.real_size == sizeof(float) ? (const void *)&rcond_f : &rcond;
  double number[2], rnumber[1] = {0};
  int64_t inumber[1];
  void *work = number, *rwork = rnumber, *iwork = inumber;
  for (int pass = 0; pass < 2; pass++) {
    if (is_complex(&c)) {
      ((gelsd_complex)c.bl->gelsd[c.type])(&bm, &bn, &bk, a, &bm, b, &ldb, s, cond, &brank, work, &lwork, rwork, iwork,
                                           &c.info);
    } else {
      ((gelsd_real)c.bl->gelsd[c.type])(&bm, &bn, &bk, a, &bm, b, &ldb, s, cond, &brank, work, &lwork, iwork, &c.info);
    }
    if (pass == 1) break;
    int64_t size = asked(&c, number), reals = is_complex(&c) ? asked(&c, rnumber) : 0, ints = asked_int(&c, inumber);
    if (!take(&c, size, reals, ints, &work, &rwork, &iwork)) return LINALG_NO_MEMORY;
    lwork = int_of(&c, size);
  }
  *rank = tt__blas_get(c.bl, brank);
  return finish(&c);
}

/* Real geev keeps a conjugate pair as two real columns: the real part and the imaginary part of the first. */
#define SPREAD(name, number)                                                              \
  static void name(int64_t n, const number *wr, const number *vr, number *w, number *x) { \
    const number *wi = wr + n;                                                            \
    for (int64_t j = 0; j < n; j++) w[2 * j] = wr[j], w[2 * j + 1] = wi[j];               \
    for (int64_t j = 0; x && j < n; j++) {                                                \
      bool is_pair = wi[j] != 0 && j + 1 < n;                                             \
      const number *re = vr + j * n, *im = re + n;                                        \
      number *one = x + 2 * j * n, *two = one + 2 * n;                                    \
      for (int64_t i = 0; i < n; i++) {                                                   \
        one[2 * i] = re[i], one[2 * i + 1] = is_pair ? im[i] : 0;                         \
        if (is_pair) two[2 * i] = re[i], two[2 * i + 1] = -im[i];                         \
      }                                                                                   \
      if (is_pair) j++;                                                                   \
    }                                                                                     \
  }
SPREAD(spread_f32, float)
SPREAD(spread_f64, double)

static int host_eig(tt_dtype t, int64_t n, void *a, void *w, void *x) {
  call c = begin(t, 8 * qr_flops(n, n));
  if (!fits(&c, n, n)) return LINALG_TOO_LARGE;
  const char *job = x ? "V" : "N";
  tt_blas_int bn = int_of(&c, n), one = int_of(&c, 1), lwork = int_of(&c, -1);
  double number[2], dummy[2];
  void *work = number, *rwork = dummy, *iwork = dummy, *vr = x;
  for (int pass = 0; pass < 2; pass++) {
    if (is_complex(&c)) {
      ((geev_complex)c.bl->geev[c.type])("N", job, &bn, a, &bn, w, dummy, &one, vr, &bn, work, &lwork, rwork, &c.info,
                                         1, 1);
    } else {
      ((geev_real)c.bl->geev[c.type])("N", job, &bn, a, &bn, rwork, (char *)rwork + (size_t)n * c.size, dummy, &one, vr,
                                      &bn, work, &lwork, &c.info, 1, 1);
    }
    if (pass == 1) break;
    int64_t size = asked(&c, number), reals = is_complex(&c) ? 2 * n : 2 * n + (x ? n * n : 0);
    if (!take(&c, size, reals, 0, &work, &rwork, &iwork)) return LINALG_NO_MEMORY;
    if (!is_complex(&c)) vr = (char *)rwork + 2 * (size_t)n * c.size;
    lwork = int_of(&c, size);
  }
  if (t == TT_F32) spread_f32(n, rwork, vr, w, x);
  if (t == TT_F64) spread_f64(n, rwork, vr, w, x);
  return finish(&c);
}

const tt_lapack *tt__lapack_host(void) {
  static const tt_lapack host = {false,       host_lu,  host_solve, host_cholesky, host_qr,
                                 host_form_q, host_svd, host_eigh,  host_lstsq,    host_eig};
  const tt_blas *bl = tt__blas_find();
  return bl && bl->has_lapack ? &host : NULL;
}
