/*
** Linear algebra as library rows: batches of contiguous matrices, all axes but the last two are the batch.
**
** Results that nobody wants have no memory; where the host function cannot leave them out they go to scratch.
*/

#include "base/mem.h"
#include "lib/linalg/cusolver.h"
#include "lib/linalg/lapack.h"
#include "lib/linalg/device.h"
#include "lib/linalg/host.h"
#include "lib/rows.h"

static bool falls_back(const tt_operand *src) {
  (void)src;
  return !tt__lapack_host();
}

/* The sizes of an operand: a batch of matrices [m, n]. */
typedef struct sizes {
  int64_t batch, m, n;
} sizes;

static sizes sizes_of(const tt_operand *a) {
  sizes s = {.batch = 1, .m = a->len[a->rank - 2], .n = a->len[a->rank - 1]};
  for (int d = 0; d < a->rank - 2; d++) s.batch *= a->len[d];
  return s;
}

/* Memory for result k: its own, or scratch for `count` elements. */
typedef struct rooms {
  void *at[4];
  size_t scratch[4];
} rooms;

static tt_code room(rooms *r, const tt_block *out, int k, tt_dtype t, int64_t count, tt_error *err) {
  static char nothing; /* a result without elements is wanted all the same: NULL would say it is not */
  r->at[k] = out[k].data;
  size_t size = (size_t)count * tt__dtype_size(t);
  if (!r->at[k] && size == 0) r->at[k] = &nothing;
  if (r->at[k]) return TT_OK;
  r->at[k] = tt__mem_alloc_data(size);
  if (!r->at[k]) return tt__fail_memory(err, size);
  r->scratch[k] = size;
  return TT_OK;
}

static void drop_rooms(rooms *r) {
  for (int k = 0; k < 4; k++)
    if (r->scratch[k]) tt__mem_free_data(r->at[k], r->scratch[k]);
}

static tt_code solve(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  sizes a = sizes_of(&src[0]);
  return tt__linalg_solve(out->dtype, a.batch, a.n, src[1].len[src[1].rank - 1], src[0].data, src[1].data, out->data,
                          err);
}

static void fill_nan(tt_dtype t, void *out, int64_t n) {
  bool wide = t == TT_F64 || t == TT_C128;
  if (tt__is_complex(t)) n *= 2;
  for (int64_t i = 0; i < n; i++) {
    if (wide)
      ((double *)out)[i] = __builtin_nan("");
    else
      ((float *)out)[i] = __builtin_nanf("");
  }
}

/* attr.i[0]: the inverse of a singular matrix is NaN, no error. */
static tt_code inv(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  sizes a = sizes_of(src);
  tt_code code = tt__linalg_inv(out->dtype, a.batch, a.n, src->data, out->data, err);
  if (code != TT_ELINALG || !attr->i[0]) return code;
  size_t step = (size_t)(a.n * a.n) * tt__dtype_size(out->dtype);
  for (int64_t i = 0; i < a.batch; i++) {
    char *to = (char *)out->data + (size_t)i * step;
    code = tt__linalg_inv(out->dtype, 1, a.n, (const char *)src->data + (size_t)i * step, to, err);
    if (code == TT_ELINALG)
      fill_nan(out->dtype, to, a.n * a.n);
    else if (code != TT_OK)
      return code;
  }
  return TT_OK;
}

static tt_code det(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  sizes a = sizes_of(src);
  return tt__linalg_det(out->dtype, a.batch, a.n, src->data, out->data, err);
}

static tt_code slogdet(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  sizes a = sizes_of(src);
  rooms r = {0};
  tt_code code = room(&r, out, 0, src->dtype, a.batch, err);
  if (code == TT_OK) code = room(&r, out, 1, tt__real_of(src->dtype), a.batch, err);
  if (code == TT_OK) code = tt__linalg_slogdet(src->dtype, a.batch, a.n, src->data, r.at[0], r.at[1], err);
  drop_rooms(&r);
  return code;
}

/* attr.i[0]: upper */
static tt_code cholesky(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  sizes a = sizes_of(src);
  return tt__linalg_cholesky(out->dtype, a.batch, a.n, attr->i[0] != 0, src->data, out->data, err);
}

/* attr.i[0]: tt_qr_mode; results q, r */
static tt_code qr(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  sizes a = sizes_of(src);
  tt_qr_mode mode = (tt_qr_mode)attr->i[0];
  int64_t k = mode == TT_QR_COMPLETE ? a.m : a.m < a.n ? a.m : a.n;
  rooms r = {0};
  tt_code code = room(&r, out, 0, src->dtype, a.batch * a.m * k, err);
  if (code == TT_OK) code = room(&r, out, 1, src->dtype, a.batch * k * a.n, err);
  if (code == TT_OK) code = tt__linalg_qr(src->dtype, a.batch, a.m, a.n, mode, src->data, r.at[0], r.at[1], err);
  drop_rooms(&r);
  return code;
}

/* results: r alone */
static tt_code qr_r(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  sizes a = sizes_of(src);
  return tt__linalg_qr(src->dtype, a.batch, a.m, a.n, TT_QR_R, src->data, NULL, out->data, err);
}

/* attr.i[0]: full; results u, s, vh */
static tt_code svd(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  sizes a = sizes_of(src);
  bool full = attr->i[0] != 0;
  int64_t k = a.m < a.n ? a.m : a.n;
  bool values = !out[0].data && !out[2].data;
  rooms r = {0};
  tt_code code = room(&r, out, 1, tt__real_of(src->dtype), a.batch * k, err);
  if (code == TT_OK && !values) code = room(&r, out, 0, src->dtype, a.batch * a.m * (full ? a.m : k), err);
  if (code == TT_OK && !values) code = room(&r, out, 2, src->dtype, a.batch * a.n * (full ? a.n : k), err);
  if (code == TT_OK)
    code = tt__linalg_svd(src->dtype, a.batch, a.m, a.n, full, src->data, r.at[0], r.at[1], r.at[2], err);
  drop_rooms(&r);
  return code;
}

static tt_code svdvals(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  sizes a = sizes_of(src);
  return tt__linalg_svd(src->dtype, a.batch, a.m, a.n, false, src->data, NULL, out->data, NULL, err);
}

/* attr.i[0]: upper; results w, v */
static tt_code eigh(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  sizes a = sizes_of(src);
  rooms r = {0};
  tt_code code = room(&r, out, 0, tt__real_of(src->dtype), a.batch * a.n, err);
  if (code == TT_OK)
    code = tt__linalg_eigh(src->dtype, a.batch, a.n, attr->i[0] != 0, src->data, r.at[0], out[1].data, err);
  drop_rooms(&r);
  return code;
}

/* results w, v: complex, also for real matrices */
static tt_code eig(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  sizes a = sizes_of(src);
  rooms r = {0};
  tt_code code = room(&r, out, 0, tt__complex_of(src->dtype), a.batch * a.n, err);
  if (code == TT_OK) code = tt__linalg_eig(src->dtype, a.batch, a.n, src->data, r.at[0], out[1].data, err);
  drop_rooms(&r);
  return code;
}

/* attr.f[0]: rcond; results x, sums of squares, rank, singular values */
static tt_code lstsq(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  int64_t m = src[0].len[0], n = src[0].len[1], k = src[1].len[1], rank = 0;
  tt_dtype t = src[0].dtype, real = tt__real_of(t);
  rooms r = {0};
  tt_code code = room(&r, out, 0, t, n * k, err);
  if (code == TT_OK) code = room(&r, out, 1, real, k, err);
  if (code == TT_OK) code = room(&r, out, 3, real, m < n ? m : n, err);
  if (code == TT_OK)
    code = tt__linalg_lstsq(t, m, n, k, src[0].data, src[1].data, attr->f[0], r.at[0], r.at[1], &rank, r.at[3], err);
  if (out[2].data) *(int64_t *)out[2].data = rank;
  drop_rooms(&r);
  return code;
}

/*
** ---- what they cost: the textbook's operations for one matrix. Shares and steps fit sides of 64 to 8192 and batches
** of 100 and 1000, float32 and float64, on 2 and on 16 threads with OpenBLAS, and on an H200.
*/

typedef enum turns { TOGETHER, ONE_BY_ONE } turns; /* how a device takes a batch */

static double least(const tt_operand *a) {
  sizes z = sizes_of(a);
  return (double)(z.m < z.n ? z.m : z.n);
}
static double most(const tt_operand *a) {
  sizes z = sizes_of(a);
  return (double)(z.m < z.n ? z.n : z.m);
}

static tt_lib_work matrices(const tt_operand *a, double flops, turns how) {
  double batch = (double)sizes_of(a).batch, side = least(a), steps = side;
  if (how == ONE_BY_ONE || side > TT_BATCH_SIDE) steps = batch <= TT_MOST_TURNS ? batch * side : -1;
  return (tt_lib_work){.flops = (tt__is_complex(a->dtype) ? 4 : 1) * batch * flops,
                       .side = side,
                       .tasks = most(a) <= TT_SERIAL_SIDE ? batch : 1,
                       .steps = batch > 0 ? steps : 0};
}

static tt_lib_work solve_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double n = least(src), k = (double)src[1].len[src[1].rank - 1];
  return matrices(src, 2 * n * n * (n / 3 + k), TOGETHER);
}

static tt_lib_work inv_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double n = least(src);
  return matrices(src, 8 * n * n * n / 3, TOGETHER);
}

static tt_lib_work det_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double n = least(src);
  return matrices(src, 2 * n * n * n / 3, TOGETHER);
}

static tt_lib_work cholesky_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double n = least(src);
  return matrices(src, n * n * n / 3, TOGETHER);
}

static tt_lib_work qr_r_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double k = least(src);
  return matrices(src, 2 * k * k * (most(src) - k / 3), ONE_BY_ONE);
}

static tt_lib_work qr_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)wanted;
  double k = least(src), m = (double)sizes_of(src).m, r = 2 * k * k * (most(src) - k / 3);
  double q = attr->i[0] == TT_QR_COMPLETE ? 4 * (m * m * k - m * k * k + k * k * k / 3) : 2 * k * k * (m - k / 3);
  return matrices(src, r + q, ONE_BY_ONE);
}

/* QR steps on a device, for large matrices, take several times as many as Jacobi's method, for small ones. */
static tt_lib_work svd_of(const tt_operand *a, double flops) {
  tt_lib_work w = matrices(a, flops, most(a) <= TT_SVD_SMALL ? TOGETHER : ONE_BY_ONE);
  if (w.steps > 0 && most(a) > TT_JACOBI_SIDE) w.steps *= 4;
  return w;
}

static double vectors_flops(const tt_operand *a) {
  double k = least(a);
  return k * k * (14 * most(a) + 8 * k);
}

/* attr.i[0]: full */
static tt_lib_work svd_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)wanted;
  double more = attr->i[0] ? most(src) - least(src) : 0; /* vectors that stand for nothing */
  return svd_of(src, vectors_flops(src) + 4 * more * most(src) * least(src));
}

static tt_lib_work svdvals_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double k = least(src);
  return svd_of(src, 4 * k * k * (most(src) - k / 3));
}

static tt_lib_work lstsq_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  return svd_of(src, vectors_flops(src) + 4 * most(src) * least(src) * (double)src[1].len[1]);
}

/* Values alone are 4/3 n^3, half of them bound by memory: they take as long as three times as many would. */
static tt_lib_work eigh_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr;
  double n = least(src);
  return matrices(src, (wanted & 2 ? 9 : 4) * n * n * n, TOGETHER);
}

static tt_lib_work eig_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr;
  double n = least(src);
  return matrices(src, (wanted & 2 ? 25 : 10) * n * n * n, ONE_BY_ONE);
}

#define COST(NAME, ...) static const tt_lib_cost NAME##_cost = {.work = NAME##_work, .host_few = true, __VA_ARGS__}
COST(solve, .host_share = 0.95, .host_half = 125, .device_share = 0.25, .step_ns = 2000);
COST(inv, .host_share = 2.5, .host_half = 125, .device_share = 0.25, .step_ns = 2000);
COST(det, .host_share = 1.5, .host_half = 150, .device_share = 0.25, .step_ns = 1700);
COST(cholesky, .host_share = 1.5, .host_half = 250, .device_share = 0.65, .step_ns = 350);
COST(qr, .host_share = 1.2, .host_half = 150, .device_share = 0.13, .step_ns = 3500);
COST(qr_r, .host_share = 1.2, .host_half = 150, .device_share = 0.13, .step_ns = 3000);
COST(svd, .host_share = 1.5, .host_half = 100, .device_share = 0.024, .step_ns = 19000);
COST(svdvals, .host_share = 0.35, .host_half = 80, .device_share = 0.024, .step_ns = 19000);
COST(lstsq, .host_share = 1.7, .host_half = 125, .device_share = 0.024, .step_ns = 25000);
COST(eigh, .host_share = 1.7, .host_half = 130, .device_share = 0.19, .step_ns = 9000);
COST(eig, .host_share = 0.15, .host_half = 15, .device_share = 0.004, .step_ns = 120000);
#undef COST

const tt_lib_row tt__rows_linalg[] = {
    {.name = "solve",
     .nsrc = 2,
     .nout = 1,
     .run = solve,
     .cost = &solve_cost,
     .falls_back = falls_back,
     .run_on = tt__device_solve},
    {.name = "inv",
     .nsrc = 1,
     .nout = 1,
     .run = inv,
     .cost = &inv_cost,
     .falls_back = falls_back,
     .run_on = tt__device_inv},
    {.name = "det",
     .nsrc = 1,
     .nout = 1,
     .run = det,
     .cost = &det_cost,
     .falls_back = falls_back,
     .run_on = tt__device_det},
    {.name = "slogdet",
     .nsrc = 1,
     .nout = 2,
     .run = slogdet,
     .cost = &det_cost,
     .falls_back = falls_back,
     .run_on = tt__device_slogdet},
    {.name = "cholesky",
     .nsrc = 1,
     .nout = 1,
     .run = cholesky,
     .cost = &cholesky_cost,
     .falls_back = falls_back,
     .run_on = tt__device_cholesky},
    {.name = "qr",
     .nsrc = 1,
     .nout = 2,
     .run = qr,
     .cost = &qr_cost,
     .falls_back = falls_back,
     .run_on = tt__device_qr},
    {.name = "qr_r",
     .nsrc = 1,
     .nout = 1,
     .run = qr_r,
     .cost = &qr_r_cost,
     .falls_back = falls_back,
     .run_on = tt__device_qr_r},
    {.name = "svd",
     .nsrc = 1,
     .nout = 3,
     .run = svd,
     .cost = &svd_cost,
     .falls_back = falls_back,
     .run_on = tt__device_svd},
    {.name = "svdvals",
     .nsrc = 1,
     .nout = 1,
     .run = svdvals,
     .cost = &svdvals_cost,
     .falls_back = falls_back,
     .run_on = tt__device_svdvals},
    {.name = "eigh",
     .nsrc = 1,
     .nout = 2,
     .run = eigh,
     .cost = &eigh_cost,
     .falls_back = falls_back,
     .run_on = tt__device_eigh},
    {.name = "eig",
     .nsrc = 1,
     .nout = 2,
     .run = eig,
     .cost = &eig_cost,
     .falls_back = falls_back,
     .run_on = tt__device_eig,
     .missing_on = tt__device_eig_missing},
    {.name = "lstsq",
     .nsrc = 2,
     .nout = 4,
     .run = lstsq,
     .cost = &lstsq_cost,
     .falls_back = falls_back,
     .run_on = tt__device_lstsq},
    {.name = NULL},
};
