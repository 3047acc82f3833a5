/*
** Carries a batch of row-major matrices through tt_lapack: columns by columns into work memory (widened where our own
** code needs it), one factorization, and back.
*/
#include "lib/linalg/host.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/product/blas_host.h"
#include "lib/linalg/lanes.h"
#include "lib/linalg/lapack.h"
#include "lib/linalg/move.h"

enum {
  BATCH_GRAIN = 1 << 14, /* n^3 that a task should have */
  DETERMINANTS = 256,    /* a whole number of TT_MATRIX_LANES that a call computes in one go */
  OWN_SIDE = 32,         /* of matrices that our own triangular factors are sooner made of than a call of LAPACK */
  MAX_PARTS = 6
};

/* What a call's work on one matrix needs: rooms for matrices in the work type, then the call's own arguments. */
typedef struct job {
  tt_code (*one)(const struct job *j, int64_t at, char *const *room); /* work on matrix `at` of the batch */
  /* NULL, or for small real ones: the same of the only matrix, and of `valid` from `at`, one in each lane of vectors:
  ** of up to `together` */
  tt_code (*alone)(const struct job *j, int64_t at, char *const *room);
  tt_code (*many)(const struct job *j, int64_t at, int64_t valid, char *const *room);
  const char *words; /* of a numerical failure */
  const tt_lapack *lapack;
  tt_dtype type, real, work, work_real; /* of the user's data and of the work memory */
  int64_t batch, m, n, k, together;
  bool flag;  /* upper or full */
  int choice; /* a mode */
  const void *a, *b;
  void *out[3];
  double rcond;
  int64_t *rank;
  size_t room_size[MAX_PARTS]; /* bytes of each room, 0: none */
  atomic_int code;
} job;

static size_t total_room(const job *j) {
  size_t sum = 64;
  for (int i = 0; i < MAX_PARTS; i++) sum += (j->room_size[i] + 63) / 64 * 64;
  return sum;
}

/* The numbers of tt_lapack as status codes. */
static tt_code code_of(int linalg) {
  if (linalg == LINALG_OK) return TT_OK;
  return linalg == LINALG_NO_MEMORY ? TT_ENOMEM : linalg == LINALG_TOO_LARGE ? TT_EOVERFLOW : TT_ELINALG;
}

static void run_range(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  job *j = ctx;
  size_t size = total_room(j);
  char *block = tt__mem_alloc_data(size), *room[MAX_PARTS];
  if (!block) {
    atomic_store(&j->code, TT_ENOMEM);
    return;
  }
  char *at = block;
  for (int i = 0; i < MAX_PARTS; i++) {
    room[i] = at;
    at += (j->room_size[i] + 63) / 64 * 64;
  }
  for (int64_t i = lo; i < hi && atomic_load(&j->code) == TT_OK; i++) {
    int64_t first = i * j->together;
    tt_code code = j->many ? j->many(j, first, tt__min64(j->together, j->batch - first), room) : j->one(j, i, room);
    if (code != TT_OK) atomic_store(&j->code, (int)code);
  }
  tt__mem_free_data(block, size);
}

/* Who works on it, and the types that follow. */
static void set_lapack(job *j, const tt_lapack *lapack) {
  j->lapack = lapack;
  j->work = !lapack->is_wide ? j->type : tt__is_complex(j->type) ? TT_C128 : TT_F64;
  j->work_real = tt__real_of(j->work);
}

/* Every call begins here. */
static tt_code prepare(job *j, tt_dtype t, tt_error *err) {
  if (t < TT_F32 || t > TT_C128)
    return tt__fail(err, TT_ETYPE, "array type %s is unsupported in linalg",
                    t >= 0 && t < TT_DTYPE_COUNT ? tt__dtypes[t].name : "unknown");
  j->type = t;
  j->real = tt__real_of(t);
  const tt_lapack *host = tt__lapack_host();
  set_lapack(j, host ? host : tt__fallback_lapack());
  if (!j->together) j->together = TT_MATRIX_LANES;
  atomic_init(&j->code, TT_OK);
  return TT_OK;
}

/*
** The same for triangular factors: of small matrices a call of LAPACK costs more than the work. Vectors lie along the
** rows of a real one alone, and across those of a batch; the bits are the same.
*/
static tt_code prepare_triangular(job *j, tt_dtype t, int64_t side, tt_error *err) {
  TT_TRY(prepare(j, t, err));
  bool is_small = side <= OWN_SIDE && side > 0;
  if (is_small) set_lapack(j, tt__fallback_lapack());
  if (!is_small || tt__is_complex(t)) j->alone = NULL, j->many = NULL;
  if (j->batch > 1) j->alone = NULL;
  if (j->alone) j->many = NULL, j->one = j->alone;
  return TT_OK;
}

/* ... and ends here. `side` is what the cost grows with. */
static tt_code run(job *j, int64_t batch, int64_t side, tt_error *err) {
  int64_t count = j->many ? tt_ceil_div(batch, j->together) : batch;
  if (batch > 1 && side <= TT_SERIAL_SIDE && !tt__pool_inside()) {
    int64_t cube = side * side * side + 1, grain = BATCH_GRAIN / cube * TT_MATRIX_LANES / j->together + 1;
    bool shared = count > grain && tt__pool_size() > 1;
    if (shared) tt__blas_serial(true);
    tt__pool_run(count, grain, run_range, j);
    if (shared) tt__blas_serial(false);
  } else if (batch > 0) {
    run_range(j, 0, count, 0);
  }
  switch (atomic_load(&j->code)) {
    case TT_OK:
      return TT_OK;
    case TT_ELINALG:
      return tt__fail(err, TT_ELINALG, "%s", j->words);
    case TT_EOVERFLOW:
      return tt__fail(err, TT_ELINALG, "the matrix is too large for a LAPACK with 32-bit integers");
    default:
      return tt__fail(err, TT_ENOMEM, "out of memory in linalg");
  }
}

/* Bytes of a matrix in the work type; saturates, so that the allocation fails and not the product. */
static size_t room_for(const job *j, int64_t rows, int64_t cols) {
  int64_t count, bytes;
  if (__builtin_mul_overflow(rows, cols, &count)) return SIZE_MAX / 16;
  if (__builtin_mul_overflow(count, (int64_t)tt__dtype_size(j->work), &bytes)) return SIZE_MAX / 16;
  return (size_t)bytes;
}

/* Bytes of a matrix in lanes; saturates too. */
static size_t lanes_room(int64_t rows, int64_t cols) {
  int64_t bytes;
  return __builtin_mul_overflow(rows * TT_MATRIX_LANES, cols * (int64_t)sizeof(double), &bytes) ? SIZE_MAX / 16
                                                                                                : (size_t)bytes;
}

static const void *matrix_of(const job *j, const void *base, int64_t at, int64_t count) {
  return (const char *)base + (size_t)(at * count) * tt__dtype_size(j->type);
}
static void *result_of(const job *j, int part, int64_t at, int64_t count) {
  return (char *)j->out[part] + (size_t)(at * count) * tt__dtype_size(j->type);
}
static void *real_result_of(const job *j, int part, int64_t at, int64_t count) {
  return (char *)j->out[part] + (size_t)(at * count) * tt__dtype_size(j->real);
}

static void load(const job *j, const void *src, int64_t rows, int64_t cols, void *dst) {
  tt__matrix_load(j->type, j->work, src, rows, cols, dst, rows);
}
static void store(const job *j, const void *src, int64_t ld, void *dst, int64_t rows, int64_t cols) {
  tt__matrix_store(j->work, j->type, src, ld, dst, rows, cols);
}
static void store_real(const job *j, const void *src, void *dst, int64_t count) {
  tt__matrix_store(j->work_real, j->real, src, count, dst, count, 1);
}

/* ---- systems */

static tt_code solve_one(const job *j, int64_t at, char *const *room) {
  load(j, matrix_of(j, j->a, at, j->n * j->n), j->n, j->n, room[0]);
  if (j->b) {
    load(j, matrix_of(j, j->b, at, j->n * j->k), j->n, j->k, room[1]);
  } else {
    tt__matrix_identity(j->work, j->n, room[1]);
  }
  tt_code code = code_of(j->lapack->solve(j->work, j->n, j->k, room[0], room[1]));
  if (code == TT_OK) store(j, room[1], j->n, result_of(j, 0, at, j->n * j->k), j->n, j->k);
  return code;
}

static tt_code solve_alone(const job *j, int64_t at, char *const *room) {
  int64_t n = j->n, k = j->k, cols = n + k;
  double *ab = (double *)room[0];
  tt__rows_load(j->type, matrix_of(j, j->a, at, n * n), n, n, ab, cols);
  if (j->b) {
    tt__rows_load(j->type, matrix_of(j, j->b, at, n * k), n, k, ab + n, cols);
  } else {
    for (int64_t i = 0; i < n; i++) memset(ab + i * cols + n, 0, (size_t)k * sizeof *ab);
    for (int64_t i = 0; i < n; i++) ab[i * (cols + 1) + n] = 1;
  }
  tt__matrix_lanes()->eliminate_one(n, cols, ab);
  for (int64_t i = 0; i < n; i++)
    if (ab[i * (cols + 1)] == 0) return TT_ELINALG;
  tt__matrix_lanes()->substitute_one(n, cols, ab);
  tt__rows_store(j->type, ab + n, cols, n, k, result_of(j, 0, at, n * k));
  return TT_OK;
}

static tt_code solve_many(const job *j, int64_t at, int64_t valid, char *const *room) {
  const tt_matrix_lanes *lanes = tt__matrix_lanes();
  int64_t n = j->n, k = j->k, cols = n + k;
  double *ab = (double *)room[0], *b = ab + n * TT_MATRIX_LANES, *sign = (double *)room[1];
  tt__lanes_load(j->type, matrix_of(j, j->a, at, n * n), valid, n, n, false, ab, cols);
  if (j->b) {
    tt__lanes_load(j->type, matrix_of(j, j->b, at, n * k), valid, n, k, false, b, cols);
  } else {
    for (int64_t i = 0; i < n; i++)
      memset(b + i * cols * TT_MATRIX_LANES, 0, (size_t)k * sizeof(double[TT_MATRIX_LANES]));
    for (int64_t i = 0; i < n * TT_MATRIX_LANES; i++)
      b[i / TT_MATRIX_LANES * (cols + 1) * TT_MATRIX_LANES + i % TT_MATRIX_LANES] = 1;
  }
  lanes->eliminate(n, cols, ab, sign);
  for (int64_t i = 0; i < n * TT_MATRIX_LANES; i++) {
    if (ab[i / TT_MATRIX_LANES * (cols + 1) * TT_MATRIX_LANES + i % TT_MATRIX_LANES] == 0) return TT_ELINALG;
  }
  lanes->substitute(n, cols, ab);
  tt__lanes_store(j->type, b, cols, valid, n, k, false, result_of(j, 0, at, n * k));
  return TT_OK;
}

/* b NULL: the identity. */
static tt_code solve(tt_dtype t, int64_t batch, int64_t n, int64_t k, const void *a, const void *b, void *x,
                     tt_error *err) {
  job j = {.one = solve_one,
           .alone = solve_alone,
           .many = solve_many,
           .words = "Singular matrix",
           .batch = batch,
           .n = n,
           .k = k,
           .a = a,
           .b = b,
           .out = {x}};
  assert(n >= 0 && k >= 0);
  TT_TRY(prepare_triangular(&j, t, n, err));
  if (n == 0 || k == 0) return TT_OK;
  j.room_size[0] = j.many ? lanes_room(n, n + k) : room_for(&j, n, j.alone ? n + k : n);
  j.room_size[1] = j.many ? lanes_room(1, 1) : room_for(&j, n, k);
  return run(&j, batch, n, err);
}

tt_code tt__linalg_solve(tt_dtype t, int64_t batch, int64_t n, int64_t k, const void *a, const void *b, void *x,
                         tt_error *err) {
  assert(n >= 0 && k >= 0 && batch >= 0);
  assert(b || n == 0 || k == 0 || batch == 0);
  return solve(t, batch, n, k, a, b, x, err);
}

tt_code tt__linalg_inv(tt_dtype t, int64_t batch, int64_t n, const void *a, void *out, tt_error *err) {
  assert(batch >= 0 && n >= 0);
  assert(n >= 0 && batch >= 0);
  return solve(t, batch, n, n, a, NULL, out, err);
}

/* ---- determinants */

/*
** Sign and logarithm, or the number, of a determinant from the diagonal of U, `step` apart, and the sign of P. The
** number is the product where no step of that comes near the end of double's range.
*/
static void finish_det(const job *j, int64_t at, tt_dtype from, const void *u, int64_t step, double of_rows) {
  tt_c128 sign = {of_rows, 0};
  double logabs = 0;
  for (int64_t i = 0; i < j->n; i++) {
    tt_c128 d = tt__matrix_get(from, u, i * step);
    double size = tt__is_complex(j->type) ? hypot(d.re, d.im) : fabs(d.re);
    logabs += log(size); /* 0 gives -inf and NaN stays */
    if (size == 0) {
      sign = (tt_c128){0, 0};
      logabs = -INFINITY;
      break;
    }
    double re = d.re / size, im = d.im / size;
    if (!tt__is_complex(j->type)) re = d.re < 0 ? -1 : 1, im = 0; /* infinity and NaN have a sign too */
    sign = (tt_c128){sign.re * re - sign.im * im, sign.re * im + sign.im * re};
  }
  if (j->out[1]) {
    tt__matrix_set(j->type, result_of(j, 0, at, 1), 0, sign);
    tt__matrix_set(j->real, real_result_of(j, 1, at, 1), 0, (tt_c128){logabs, 0});
  } else {
    double size = exp(logabs);
    tt_c128 det = {sign.re * size, tt__is_complex(j->type) ? sign.im * size : 0};
    tt__matrix_set(j->type, result_of(j, 0, at, 1), 0, det);
  }
}

/* A whole matrix's determinant from its factors. */
static void det_of(const job *j, int64_t at, tt_dtype from, const void *u, double of_rows) {
  double product = of_rows;
  bool safe = from == TT_F64 && !j->out[1] && j->n > 0;
  for (int64_t i = 0; safe && i < j->n; i++) {
    product *= ((const double *)u)[i * (j->n + 1)];
    safe = fabs(product) > TT_LEAST_PRODUCT && fabs(product) < TT_MOST_PRODUCT;
  }
  if (safe)
    tt__matrix_set(j->type, result_of(j, 0, at, 1), 0, (tt_c128){product, 0});
  else
    finish_det(j, at, from, u, j->n + 1, of_rows);
}

static tt_code det_one(const job *j, int64_t at, char *const *room) {
  int64_t n = j->n, *pivot = (int64_t *)room[1];
  load(j, matrix_of(j, j->a, at, n * n), n, n, room[0]);
  if (n > 0) {
    tt_code code = code_of(j->lapack->lu(j->work, n, room[0], pivot));
    if (code != TT_OK) return code;
  }
  bool odd = false;
  for (int64_t i = 0; i < n; i++) odd ^= pivot[i] != i;
  det_of(j, at, j->work, room[0], odd ? -1 : 1);
  return TT_OK;
}

static tt_code det_alone(const job *j, int64_t at, char *const *room) {
  int64_t n = j->n;
  double *a = (double *)room[0];
  tt__rows_load(j->type, matrix_of(j, j->a, at, n * n), n, n, a, n);
  det_of(j, at, TT_F64, a, tt__matrix_lanes()->eliminate_one(n, n, a));
  return TT_OK;
}

/* Matrices that registers hold. false: a logarithm is needed. */
static bool det_few(const job *j, int64_t at, int64_t groups) {
  const tt_matrix_lanes *lanes = tt__matrix_lanes();
  const void *a = matrix_of(j, j->a, at, j->n * j->n);
  void *det = result_of(j, 0, at, 1);
  return j->type == TT_F32 ? lanes->few_f32(j->n, a, groups, det) : lanes->few_f64(j->n, a, groups, det);
}

static void det_lanes(const job *j, int64_t at, int64_t valid, char *const *room) {
  const tt_matrix_lanes *lanes = tt__matrix_lanes();
  int64_t n = j->n, *safe = (int64_t *)room[3];
  double *a = (double *)room[0], *sign = (double *)room[1], *product = (double *)room[2];
  tt__lanes_load(j->type, matrix_of(j, j->a, at, n * n), valid, n, n, false, a, n);
  lanes->eliminate(n, n, a, sign);
  memcpy(product, sign, sizeof(double[TT_MATRIX_LANES]));
  if (!j->out[1]) lanes->product(n, n, a, product, safe);
  if (!j->out[1]) tt__lanes_store(j->type, product, 1, valid, 1, 1, false, result_of(j, 0, at, 1));
  for (int64_t w = 0; w < valid; w++) {
    if (j->out[1] || !safe[w]) finish_det(j, at + w, TT_F64, a + w, (n + 1) * TT_MATRIX_LANES, sign[w]);
  }
}

static tt_code det_many(const job *j, int64_t at, int64_t valid, char *const *room) {
  int64_t whole = j->together == DETERMINANTS ? valid / TT_MATRIX_LANES : 0;
  if (whole && det_few(j, at, whole)) at += whole * TT_MATRIX_LANES, valid -= whole * TT_MATRIX_LANES;
  for (; valid > 0; at += TT_MATRIX_LANES, valid -= TT_MATRIX_LANES)
    det_lanes(j, at, tt__min64(TT_MATRIX_LANES, valid), room);
  return TT_OK;
}

tt_code tt__linalg_slogdet(tt_dtype t, int64_t batch, int64_t n, const void *a, void *sign, void *logabs,
                           tt_error *err) {
  job j = {.one = det_one,
           .alone = det_alone,
           .many = det_many,
           .words = "Singular matrix",
           .batch = batch,
           .n = n,
           .together = logabs || n > TT_FEW_ROWS ? TT_MATRIX_LANES : DETERMINANTS,
           .a = a,
           .out = {sign, logabs}};
  assert(n >= 0);
  TT_TRY(prepare_triangular(&j, t, n, err));
  j.room_size[0] = j.many ? lanes_room(n, n) : room_for(&j, n, n);
  j.room_size[1] = j.many ? lanes_room(1, 1) : (size_t)n * sizeof(int64_t);
  j.room_size[2] = j.room_size[3] = j.many ? lanes_room(1, 1) : 0;
  return run(&j, batch, n, err);
}

tt_code tt__linalg_det(tt_dtype t, int64_t batch, int64_t n, const void *a, void *det, tt_error *err) {
  assert(batch >= 0 && n >= 0);
  return tt__linalg_slogdet(t, batch, n, a, det, NULL, err);
}

/* ---- Cholesky and QR */

static tt_code cholesky_one(const job *j, int64_t at, char *const *room) {
  const void *a = matrix_of(j, j->a, at, j->n * j->n);
  load(j, a, j->n, j->n, room[0]);
  if (j->flag) tt__matrix_adjoint(j->work, j->n, room[0]); /* U is the adjoint of the L of the adjoint */
  tt_code code = code_of(j->lapack->cholesky(j->work, j->n, room[0]));
  if (code != TT_OK) return code;
  tt__matrix_zero_above(j->work, j->n, j->n, room[0]);
  if (j->flag) tt__matrix_adjoint(j->work, j->n, room[0]);
  store(j, room[0], j->n, result_of(j, 0, at, j->n * j->n), j->n, j->n);
  return TT_OK;
}

static tt_code cholesky_many(const job *j, int64_t at, int64_t valid, char *const *room) {
  int64_t n = j->n;
  double *a = (double *)room[0];
  tt__lanes_load(j->type, matrix_of(j, j->a, at, n * n), valid, n, n, j->flag, a, n);
  if (!tt__matrix_lanes()->cholesky(n, a)) return TT_ELINALG;
  for (int64_t i = 0; i + 1 < n; i++)
    memset(a + (i * n + i + 1) * TT_MATRIX_LANES, 0, (size_t)(n - i - 1) * sizeof(double[TT_MATRIX_LANES]));
  tt__lanes_store(j->type, a, n, valid, n, n, j->flag, result_of(j, 0, at, n * n));
  return TT_OK;
}

tt_code tt__linalg_cholesky(tt_dtype t, int64_t batch, int64_t n, bool upper, const void *a, void *out, tt_error *err) {
  job j = {.one = cholesky_one,
           .many = cholesky_many,
           .words = "Matrix is not positive definite",
           .batch = batch,
           .n = n,
           .flag = upper,
           .a = a,
           .out = {out}};
  assert(n >= 0);
  TT_TRY(prepare_triangular(&j, t, n, err));
  if (n == 0) return TT_OK;
  j.room_size[0] = j.many ? lanes_room(n, n) : room_for(&j, n, n);
  return run(&j, batch, n, err);
}

static tt_code qr_one(const job *j, int64_t at, char *const *room) {
  int64_t m = j->m, n = j->n, k = tt__min64(m, n), cols = j->choice == TT_QR_COMPLETE ? m : k;
  load(j, matrix_of(j, j->a, at, m * n), m, n, room[0]);
  tt_code code = k ? code_of(j->lapack->qr(j->work, m, n, room[0], room[1])) : TT_OK;
  if (code != TT_OK) return code;
  if (j->choice != TT_QR_R && cols > 0) {
    memcpy(room[2], room[0], room_for(j, m, k));
    if (k) {
      code = code_of(j->lapack->form_q(j->work, m, cols, k, room[2], room[1]));
    } else {
      tt__matrix_identity(j->work, m, room[2]);
    }
    if (code == TT_OK) store(j, room[2], m, result_of(j, 0, at, m * cols), m, cols);
  }
  tt__matrix_zero_below(j->work, m, n, room[0]);
  store(j, room[0], m, result_of(j, 1, at, cols * n), cols, n);
  return code;
}

tt_code tt__linalg_qr(tt_dtype t, int64_t batch, int64_t m, int64_t n, tt_qr_mode mode, const void *a, void *q, void *r,
                      tt_error *err) {
  job j = {.one = qr_one, .words = "QR failed", .m = m, .n = n, .choice = (int)mode, .a = a, .out = {q, r}};
  int64_t k = tt__min64(m, n);
  assert(m >= 0 && n >= 0 && (mode == TT_QR_R) == (q == NULL));
  TT_TRY(prepare(&j, t, err));
  j.room_size[0] = room_for(&j, m, n);
  j.room_size[1] = room_for(&j, k, 1);
  j.room_size[2] = mode == TT_QR_R ? 0 : room_for(&j, m, mode == TT_QR_COMPLETE ? m : k);
  return run(&j, batch, tt__max64(m, n), err);
}

/* ---- singular values and least squares */

static tt_code svd_one(const job *j, int64_t at, char *const *room) {
  int64_t m = j->m, n = j->n, k = tt__min64(m, n), rows = j->flag ? n : k, cols = j->flag ? m : k;
  bool want = j->out[0] != NULL;
  if (k == 0) { /* no values; the bases are identities */
    if (!want) return TT_OK;
    tt__matrix_identity(j->work, cols, room[2]);
    store(j, room[2], cols, result_of(j, 0, at, m * cols), cols ? m : 0, cols);
    tt__matrix_identity(j->work, rows, room[3]);
    store(j, room[3], rows, result_of(j, 2, at, rows * n), rows, rows ? n : 0);
    return TT_OK;
  }
  load(j, matrix_of(j, j->a, at, m * n), m, n, room[0]);
  if (!tt__matrix_finite(j->work, m * n, room[0])) return TT_ELINALG;
  tt_svd_vectors vectors = !want ? TT_SVD_NONE : j->flag ? TT_SVD_ALL : TT_SVD_SOME;
  tt_code code = code_of(j->lapack->svd(j->work, m, n, vectors, room[0], room[1], room[2], room[3]));
  if (code != TT_OK) return code;
  store_real(j, room[1], real_result_of(j, 1, at, k), k);
  if (want) store(j, room[2], m, result_of(j, 0, at, m * cols), m, cols);
  if (want) store(j, room[3], rows, result_of(j, 2, at, rows * n), rows, n);
  return TT_OK;
}

tt_code tt__linalg_svd(tt_dtype t, int64_t batch, int64_t m, int64_t n, bool full, const void *a, void *u, void *s,
                       void *vh, tt_error *err) {
  job j = {.one = svd_one, .words = "SVD did not converge", .m = m, .n = n, .flag = full, .a = a, .out = {u, s, vh}};
  int64_t k = tt__min64(m, n);
  assert(m >= 0 && n >= 0 && (u == NULL) == (vh == NULL));
  TT_TRY(prepare(&j, t, err));
  j.room_size[0] = room_for(&j, m, n);
  j.room_size[1] = room_for(&j, k, 1);
  j.room_size[2] = u ? room_for(&j, m, full ? m : k) : 0;
  j.room_size[3] = u ? room_for(&j, full ? n : k, n) : 0;
  return run(&j, batch, tt__max64(m, n), err);
}

/* Sums of squares of B - A x, by columns. gelsd leaves them in rows it does not need, our own code does not. */
static void residuals(const job *j, const void *x, int64_t ldx, void *resid) {
  for (int64_t c = 0; c < j->k; c++) {
    double sum = 0;
    for (int64_t i = 0; i < j->m; i++) {
      tt_c128 r = tt__matrix_get(j->type, j->b, i * j->k + c);
      for (int64_t p = 0; p < j->n; p++) {
        tt_c128 e = tt__matrix_get(j->type, j->a, i * j->n + p), y = tt__matrix_get(j->work, x, p + c * ldx);
        r.re -= e.re * y.re - e.im * y.im;
        r.im -= e.re * y.im + e.im * y.re;
      }
      sum += r.re * r.re + r.im * r.im;
    }
    tt__matrix_set(j->real, resid, c, (tt_c128){sum, 0});
  }
}

static tt_code lstsq_one(const job *j, int64_t at, char *const *room) {
  (void)at;
  int64_t m = j->m, n = j->n, k = j->k, ldb = tt__max64(m, n), small = tt__min64(m, n);
  load(j, j->a, m, n, room[0]);
  tt__matrix_load(j->type, j->work, j->b, m, k, room[1], ldb);
  if (!tt__matrix_finite(j->work, m * n, room[0])) return TT_ELINALG;
  int64_t *rank = (int64_t *)room[3];
  tt_code code = code_of(j->lapack->lstsq(j->work, m, n, k, room[0], room[1], j->rcond, room[2], rank));
  if (code != TT_OK) return code;
  store(j, room[1], ldb, j->out[0], n, k);
  store_real(j, room[2], j->out[2], small);
  if (j->out[1] && *rank == n && m > n) residuals(j, room[1], ldb, j->out[1]);
  *j->rank = *rank;
  return TT_OK;
}

tt_code tt__linalg_lstsq(tt_dtype t, int64_t m, int64_t n, int64_t k, const void *a, const void *b, double rcond,
                         void *x, void *resid, int64_t *rank, void *s, tt_error *err) {
  job j = {.one = lstsq_one,
           .words = "SVD did not converge in Linear Least Squares",
           .m = m,
           .n = n,
           .k = k,
           .a = a,
           .b = b,
           .out = {x, resid, s},
           .rcond = rcond,
           .rank = rank};
  assert(m >= 0 && n >= 0 && k >= 0 && rank);
  TT_TRY(prepare(&j, t, err));
  *rank = 0;
  if (resid) memset(resid, 0, (size_t)k * tt__dtype_size(j.real));
  if (m == 0 || n == 0) {
    if (n > 0) memset(x, 0, (size_t)(n * k) * tt__dtype_size(t));
    if (resid && m > 0) residuals(&j, NULL, 0, resid);
    return TT_OK;
  }
  j.room_size[0] = room_for(&j, m, n);
  j.room_size[1] = room_for(&j, tt__max64(m, n), tt__max64(k, 1));
  j.room_size[2] = room_for(&j, tt__min64(m, n), 1);
  j.room_size[3] = sizeof(int64_t);
  return run(&j, 1, tt__max64(m, n), err);
}

/* ---- eigenvalues */

static tt_code eigh_one(const job *j, int64_t at, char *const *room) {
  int64_t n = j->n;
  load(j, matrix_of(j, j->a, at, n * n), n, n, room[0]);
  if (!tt__matrix_finite_lower(j->work, n, j->flag, room[0])) return TT_ELINALG;
  if (j->flag) tt__matrix_adjoint(j->work, n, room[0]);
  tt_code code = code_of(j->lapack->eigh(j->work, n, j->out[1] != NULL, room[0], room[1]));
  if (code != TT_OK) return code;
  store_real(j, room[1], real_result_of(j, 0, at, n), n);
  if (j->out[1]) store(j, room[0], n, result_of(j, 1, at, n * n), n, n);
  return TT_OK;
}

tt_code tt__linalg_eigh(tt_dtype t, int64_t batch, int64_t n, bool upper, const void *a, void *w, void *v,
                        tt_error *err) {
  job j = {.one = eigh_one, .words = "Eigenvalues did not converge", .n = n, .flag = upper, .a = a, .out = {w, v}};
  assert(n >= 0);
  TT_TRY(prepare(&j, t, err));
  if (n == 0) return TT_OK;
  j.room_size[0] = room_for(&j, n, n);
  j.room_size[1] = room_for(&j, n, 1);
  return run(&j, batch, n, err);
}

static tt_code eig_one(const job *j, int64_t at, char *const *room) {
  int64_t n = j->n;
  tt_dtype out = tt__complex_of(j->type), work = tt__complex_of(j->work);
  size_t size = tt__dtype_size(out);
  load(j, matrix_of(j, j->a, at, n * n), n, n, room[0]);
  tt_code code = code_of(j->lapack->eig(j->work, n, room[0], room[1], j->out[1] ? room[2] : NULL));
  if (code != TT_OK) return code;
  tt__matrix_store(work, out, room[1], n, (char *)j->out[0] + (size_t)(at * n) * size, n, 1);
  if (j->out[1]) tt__matrix_store(work, out, room[2], n, (char *)j->out[1] + (size_t)(at * n * n) * size, n, n);
  return TT_OK;
}

tt_code tt__linalg_eig(tt_dtype t, int64_t batch, int64_t n, const void *a, void *w, void *v, tt_error *err) {
  assert(batch >= 0 && n >= 0);
  job j = {.one = eig_one, .words = "Eigenvalues did not converge", .n = n, .a = a, .out = {w, v}};
  assert(n >= 0);
  TT_TRY(prepare(&j, t, err));
  if (n == 0) return TT_OK;
  if (!tt__matrix_finite(t, batch * n * n, a)) return tt__fail(err, TT_ELINALG, "Array must not contain infs or NaNs");
  j.room_size[0] = room_for(&j, n, n);
  j.room_size[1] = 2 * room_for(&j, n, 1);
  j.room_size[2] = v ? 2 * room_for(&j, n, n) : 0;
  return run(&j, batch, n, err);
}
