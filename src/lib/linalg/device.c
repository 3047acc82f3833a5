/*
** Systems, determinants, Cholesky and QR on devices. Matrices come and go by rows; each is moved once into columns and
** once back, which costs nothing beside the factorization and keeps NumPy's pivots.
*/
#include "lib/linalg/device.h"

#include "lib/linalg/cusolver.h"
#include "lib/linalg/device_matrix.h"
#include "lib/linalg/device_int.h"
#include "lib/linalg/host.h"

/* A copy by columns of all matrices of an operand. */
static tt_code columns_of(const tt_lib_device *on, const tt_operand *a, void **out, tt_error *err) {
  sizes s = sizes_of(a);
  TT_TRY(temp(on, a->dtype, s.batch * s.m * s.n, out, err));
  return tt__device_move(on, a->dtype, s.batch, s.m, s.n, tt__by_rows(a->data, s.m, s.n),
                         tt__by_columns(*out, s.m, s.n), TT_WHOLE, false, err);
}

/* ---- LU: all of it between begin and end */

static tt_code factor(tt_solver *s, const tt_operand *a, void **lu, void **pivot, bool *wide, tt_error *err) {
  sizes z = sizes_of(a);
  TT_TRY(columns_of(s->on, a, lu, err));
  TT_TRY(s->on->temp(s->on, (size_t)(z.batch * z.n) * sizeof(int64_t), pivot, err));
  return tt__solver_lu(s, z.n, *lu, *pivot, wide, err);
}

/* b NULL: the identity. x is by columns. */
static tt_code solve_columns(tt_solver *s, const tt_operand *a, const void *b, int64_t k, void *x, tt_error *err) {
  int64_t n = sizes_of(a).n;
  void *lu, *pivot;
  bool wide;
  TT_TRY(factor(s, a, &lu, &pivot, &wide, err));
  TT_TRY(tt__device_move(s->on, s->type, s->batch, n, k, tt__by_rows(b, n, k), tt__by_columns(x, n, k), TT_WHOLE, false,
                         err));
  return tt__solver_lu_solve(s, n, k, lu, pivot, wide, x, err);
}

static tt_code solve_rows(tt_solver *s, const tt_operand *a, const void *b, int64_t k, void *out, tt_error *err) {
  int64_t n = sizes_of(a).n;
  void *x = out;
  if (k > 1) TT_TRY(temp(s->on, s->type, s->batch * n * k, &x, err)); /* one column is a row */
  TT_TRY(solve_columns(s, a, b, k, x, err));
  if (k == 1) return TT_OK;
  return tt__device_move(s->on, s->type, s->batch, n, k, tt__by_columns(x, n, k), tt__by_rows(out, n, k), TT_WHOLE,
                         false, err);
}

/* Small systems need no library. `quiet`: the solution of a singular one is NaN. */
static tt_code solve_small(const tt_lib_device *on, const tt_operand *a, const void *b, int64_t k, void *x, bool quiet,
                           tt_error *err) {
  sizes z = sizes_of(a);
  void *info;
  TT_TRY(on->temp(on, (size_t)z.batch * sizeof(int32_t), &info, err));
  TT_TRY(tt__device_small(on, a->dtype, z.batch, z.n, k, a->data, b, x, NULL, NULL, info, err));
  return quiet ? TT_OK : tt__device_check(on, info, z.batch, "Singular matrix", err);
}

tt_code tt__device_solve(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                         tt_error *err) {
  (void)attr;
  sizes z = sizes_of(&src[0]);
  int64_t k = src[1].len[src[1].rank - 1];
  if (out->size == 0) return nothing(err);
  if (z.n <= TT_SMALL && k <= TT_SMALL) return solve_small(on, &src[0], src[1].data, k, out->data, false, err);
  tt_solver s;
  tt_code code = tt__solver_begin(on, out->dtype, z.batch, &s, err);
  if (code == TT_OK) code = solve_rows(&s, &src[0], src[1].data, k, out->data, err);
  if (code == TT_OK) code = tt__solver_check(&s, "Singular matrix", err);
  tt__solver_end(&s);
  return code;
}

/* attr.i[0]: the inverse of a singular matrix is NaN, no error. */
tt_code tt__device_inv(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                       tt_error *err) {
  sizes z = sizes_of(src);
  if (out->size == 0) return nothing(err);
  if (z.n <= TT_SMALL) return solve_small(on, src, NULL, z.n, out->data, attr->i[0] != 0, err);
  tt_solver s;
  tt_code code = tt__solver_begin(on, out->dtype, z.batch, &s, err);
  if (code == TT_OK) code = solve_rows(&s, src, NULL, z.n, out->data, err);
  if (code == TT_OK)
    code = attr->i[0] ? tt__device_spoil(on, out->dtype, z.batch, z.n * z.n, out->data, s.info, err)
                      : tt__solver_check(&s, "Singular matrix", err);
  tt__solver_end(&s);
  return code;
}

static tt_code determinant(const tt_lib_device *on, const tt_operand *a, void *sign, void *logabs, tt_error *err) {
  sizes z = sizes_of(a);
  void *lu, *pivot, *info;
  bool wide;
  if (a->size == 0) return nothing(err);
  if (z.n <= TT_SMALL) {
    TT_TRY(on->temp(on, (size_t)z.batch * sizeof(int32_t), &info, err));
    return tt__device_small(on, a->dtype, z.batch, z.n, 0, a->data, NULL, NULL, sign, logabs, info, err);
  }
  tt_solver s;
  tt_code code = tt__solver_begin(on, a->dtype, z.batch, &s, err);
  if (code == TT_OK) code = factor(&s, a, &lu, &pivot, &wide, err); /* a zero pivot is an answer here */
  if (code == TT_OK) code = tt__device_determinant(on, a->dtype, z.batch, z.n, lu, pivot, wide, sign, logabs, err);
  tt__solver_end(&s);
  return code;
}

tt_code tt__device_det(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                       tt_error *err) {
  (void)attr;
  return determinant(on, src, out->data, NULL, err);
}

tt_code tt__device_slogdet(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                           tt_error *err) {
  (void)attr;
  void *sign, *logabs;
  int64_t batch = sizes_of(src).batch;
  TT_TRY(room(on, out[0].data, src->dtype, batch, &sign, err));
  TT_TRY(room(on, out[1].data, tt__real_of(src->dtype), batch, &logabs, err));
  return determinant(on, src, sign, logabs, err);
}

/* ---- Cholesky */

/* U is the adjoint of the L of the adjoint. */
static tt_code cholesky_of(tt_solver *s, const tt_operand *a, bool upper, void *out, tt_error *err) {
  int64_t n = sizes_of(a).n;
  tt_matrices from = upper ? tt__by_columns(a->data, n, n) : tt__by_rows(a->data, n, n);
  tt_matrices to = upper ? tt__by_columns(out, n, n) : tt__by_rows(out, n, n);
  void *l;
  TT_TRY(temp(s->on, s->type, s->batch * n * n, &l, err));
  TT_TRY(tt__device_move(s->on, s->type, s->batch, n, n, from, tt__by_columns(l, n, n), TT_WHOLE, upper, err));
  TT_TRY(tt__solver_cholesky(s, n, l, err));
  return tt__device_move(s->on, s->type, s->batch, n, n, tt__by_columns(l, n, n), to, TT_LOWER, upper, err);
}

/* attr.i[0]: upper */
tt_code tt__device_cholesky(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                            const tt_block *out, tt_error *err) {
  if (out->size == 0) return nothing(err);
  tt_solver s;
  tt_code code = tt__solver_begin(on, out->dtype, sizes_of(src).batch, &s, err);
  if (code == TT_OK) code = cholesky_of(&s, src, attr->i[0] != 0, out->data, err);
  if (code == TT_OK) code = tt__solver_check(&s, "Matrix is not positive definite", err);
  tt__solver_end(&s);
  return code;
}

/* ---- QR */

/* One matrix, already by columns in `a`: r gets [rows, n], q gets [m, rows] (both by rows; NULL: not wanted). */
static tt_code qr_of(tt_solver *s, int64_t at, sizes z, int64_t rows, char *a, void *tau, void *q, void *r,
                     tt_error *err) {
  int64_t k = z.m < z.n ? z.m : z.n;
  TT_TRY(tt__solver_qr(s, at, z.m, z.n, a, tau, err));
  if (r)
    TT_TRY(tt__device_move(s->on, s->type, 1, rows, z.n, tt__by_columns(a, z.m, z.n), tt__by_rows(r, rows, z.n),
                           TT_UPPER, false, err));
  if (!q) return TT_OK;
  void *wide = a;
  if (rows > z.n) { /* more columns of Q than the matrix has */
    TT_TRY(temp(s->on, s->type, z.m * rows, &wide, err));
    TT_TRY(tt__device_move(s->on, s->type, 1, z.m, z.n, tt__by_columns(a, z.m, z.n), tt__by_columns(wide, z.m, rows),
                           TT_WHOLE, false, err));
  }
  TT_TRY(tt__solver_form_q(s, at, z.m, rows, k, wide, tau, err));
  return tt__device_move(s->on, s->type, 1, z.m, rows, tt__by_columns(wide, z.m, rows), tt__by_rows(q, z.m, rows),
                         TT_WHOLE, false, err);
}

static tt_code qr_all(tt_solver *s, const tt_operand *a, int64_t rows, char *q, char *r, tt_error *err) {
  sizes z = sizes_of(a);
  size_t size = tt__dtype_size(a->dtype);
  void *columns, *tau;
  TT_TRY(columns_of(s->on, a, &columns, err));
  TT_TRY(temp(s->on, a->dtype, z.m < z.n ? z.m : z.n, &tau, err));
  for (int64_t i = 0; i < z.batch; i++)
    TT_TRY(qr_of(s, i, z, rows, (char *)columns + (size_t)(i * z.m * z.n) * size, tau,
                 q ? q + (size_t)(i * z.m * rows) * size : NULL, r ? r + (size_t)(i * rows * z.n) * size : NULL, err));
  return tt__solver_check(s, "QR failed", err);
}

static tt_code qr(const tt_lib_device *on, const tt_operand *a, bool complete, void *q, void *r, tt_error *err) {
  sizes z = sizes_of(a);
  if (a->size == 0) return nothing(err);
  tt_solver s;
  tt_code code = tt__solver_begin(on, a->dtype, z.batch, &s, err);
  if (code == TT_OK) code = qr_all(&s, a, complete || z.m < z.n ? z.m : z.n, q, r, err);
  tt__solver_end(&s);
  return code;
}

/* attr.i[0]: tt_qr_mode; results q, r */
tt_code tt__device_qr(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                      tt_error *err) {
  return qr(on, src, attr->i[0] == TT_QR_COMPLETE, out[0].data, out[1].data, err);
}

tt_code tt__device_qr_r(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                        tt_error *err) {
  (void)attr;
  return qr(on, src, false, NULL, out->data, err);
}
