/* Singular values, eigenvalues and least squares on devices. */
#include <float.h>

#include "lib/linalg/cusolver.h"
#include "lib/linalg/device_matrix.h"
#include "lib/linalg/device.h"
#include "lib/linalg/device_int.h"
#include "lib/product/device.h"

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static void *matrix_at(void *a, tt_dtype t, int64_t at, int64_t count) {
  return a ? (char *)a + (size_t)(at * count) * tt__dtype_size(t) : NULL;
}

static tt_code check_finite(const tt_lib_device *on, const tt_operand *a, tt_triangle part, const char *words,
                            tt_error *err) {
  sizes z = sizes_of(a);
  bool finite;
  TT_TRY(tt__device_finite(on, a->dtype, z.batch, z.m, z.n, a->data, part, &finite, err));
  return finite ? TT_OK : tt__fail(err, TT_ELINALG, "%s", words);
}

/* ---- singular values */

/*
** Matrices with m <= n: their memory read by columns is the transpose W = A' [n, m], and A' = U1 S V1^H says that
** u = conj(V1) and vh = U1', which by rows is just what the library writes by columns. Nothing is moved.
*/
static tt_code svd_flat(tt_solver *s, const tt_operand *a, bool full, void *u, void *values, void *vh, tt_error *err) {
  sizes z = sizes_of(a);
  tt_dtype real = tt__real_of(s->type);
  int64_t rows = full ? z.n : z.m;
  void *w;
  TT_TRY(temp(s->on, s->type, z.batch * z.m * z.n, &w, err));
  TT_TRY(tt__device_move(s->on, s->type, z.batch, z.m, z.n, tt__by_rows(a->data, z.m, z.n), tt__by_rows(w, z.m, z.n),
                         TT_WHOLE, false, err));
  for (int64_t i = 0; i < z.batch; i++)
    TT_TRY(tt__solver_svd(s, i,
                          !u     ? 'N'
                          : full ? 'A'
                                 : 'S',
                          z.n, z.m, matrix_at(w, s->type, i, z.m * z.n), matrix_at(values, real, i, z.m),
                          matrix_at(vh, s->type, i, rows * z.n), matrix_at(u, s->type, i, z.m * z.m), err));
  return TT_OK;
}

/* Matrices with m > n go by columns and back. */
static tt_code svd_tall(tt_solver *s, const tt_operand *a, bool full, void *u, void *values, void *vh, tt_error *err) {
  sizes z = sizes_of(a);
  tt_dtype t = s->type, real = tt__real_of(t);
  int64_t cols = full ? z.m : z.n;
  void *w, *left = NULL, *right = NULL;
  TT_TRY(temp(s->on, t, z.batch * z.m * z.n, &w, err));
  TT_TRY(tt__device_move(s->on, t, z.batch, z.m, z.n, tt__by_rows(a->data, z.m, z.n), tt__by_columns(w, z.m, z.n),
                         TT_WHOLE, false, err));
  if (u) TT_TRY(temp(s->on, t, z.batch * z.m * cols, &left, err));
  if (u) TT_TRY(temp(s->on, t, z.batch * z.n * z.n, &right, err));
  for (int64_t i = 0; i < z.batch; i++)
    TT_TRY(tt__solver_svd(s, i,
                          !u     ? 'N'
                          : full ? 'A'
                                 : 'S',
                          z.m, z.n, matrix_at(w, t, i, z.m * z.n), matrix_at(values, real, i, z.n),
                          matrix_at(left, t, i, z.m * cols), matrix_at(right, t, i, z.n * z.n), err));
  if (!u) return TT_OK;
  TT_TRY(tt__device_move(s->on, t, z.batch, z.m, cols, tt__by_columns(left, z.m, cols), tt__by_rows(u, z.m, cols),
                         TT_WHOLE, false, err));
  return tt__device_move(s->on, t, z.batch, z.n, z.n, tt__by_columns(right, z.n, z.n), tt__by_rows(vh, z.n, z.n),
                         TT_WHOLE, false, err);
}

static bool is_small(sizes z) { return z.batch > 1 && z.m <= TT_SVD_SMALL && z.n <= TT_SVD_SMALL; }

/* By Jacobi's method; many small matrices at once. That gives all of U and V, of which the first columns may do. */
static tt_code svd_jacobi(tt_solver *s, const tt_operand *a, bool full, void *u, void *values, void *vh,
                          tt_error *err) {
  sizes z = sizes_of(a);
  tt_dtype t = s->type, real = tt__real_of(t);
  int64_t k = min64(z.m, z.n), cols = full ? z.m : k, rows = full ? z.n : k;
  int64_t wide_u = is_small(z) ? z.m : cols, wide_v = is_small(z) ? z.n : rows;
  void *w, *left = NULL, *right = NULL;
  TT_TRY(temp(s->on, t, z.batch * z.m * z.n, &w, err));
  TT_TRY(tt__device_move(s->on, t, z.batch, z.m, z.n, tt__by_rows(a->data, z.m, z.n), tt__by_columns(w, z.m, z.n),
                         TT_WHOLE, false, err));
  TT_TRY(temp(s->on, t, z.batch * z.m * wide_u, &left, err)); /* also for values alone: the library works there */
  TT_TRY(temp(s->on, t, z.batch * z.n * wide_v, &right, err));
  if (is_small(z)) TT_TRY(tt__solver_svd_small(s, u != NULL, z.m, z.n, w, values, left, right, err));
  for (int64_t i = 0; i < z.batch && !is_small(z); i++)
    TT_TRY(tt__solver_svd_jacobi(s, i, u != NULL, !full, z.m, z.n, matrix_at(w, t, i, z.m * z.n),
                                 matrix_at(values, real, i, k), matrix_at(left, t, i, z.m * wide_u),
                                 matrix_at(right, t, i, z.n * wide_v), err));
  if (!u) return TT_OK;
  TT_TRY(tt__device_move(s->on, t, z.batch, z.m, cols, tt__by_columns(left, z.m, wide_u), tt__by_rows(u, z.m, cols),
                         TT_WHOLE, false, err));
  tt_matrices adjoint = {.data = right, .row = z.n, .col = 1, .step = z.n * wide_v};
  return tt__device_move(s->on, t, z.batch, rows, z.n, adjoint, tt__by_rows(vh, rows, z.n), TT_WHOLE, true, err);
}

typedef tt_code (*svd_fn)(tt_solver *s, const tt_operand *a, bool full, void *u, void *values, void *vh, tt_error *err);

static tt_code svd_by(svd_fn fn, const tt_lib_device *on, const tt_operand *a, bool full, void *u, void *values,
                      void *vh, const char *words, tt_error *err) {
  tt_solver s;
  tt_code code = tt__solver_begin(on, a->dtype, sizes_of(a).batch, &s, err);
  if (code == TT_OK) code = fn(&s, a, full, u, values, vh, err);
  if (code == TT_OK) code = tt__solver_check(&s, words, err);
  tt__solver_end(&s);
  return code;
}

/* u and vh both NULL: values alone. Jacobi's method where it is quicker; what it cannot do is done by QR steps. */
static tt_code svd_of(const tt_lib_device *on, const tt_operand *a, bool full, void *u, void *values, void *vh,
                      const char *words, tt_error *err) {
  sizes z = sizes_of(a);
  svd_fn steps = z.m <= z.n ? svd_flat : svd_tall;
  if (a->size == 0) return nothing(err);
  TT_TRY(check_finite(on, a, TT_WHOLE, words, err));
  tt_code code = TT_ELINALG;
  if (z.m <= TT_JACOBI_SIDE && z.n <= TT_JACOBI_SIDE) code = svd_by(svd_jacobi, on, a, full, u, values, vh, words, err);
  if (code != TT_ELINALG && code != TT_ENOTIMPL) return code;
  return svd_by(steps, on, a, full, u, values, vh, words, err);
}

/* attr.i[0]: full; results u, s, vh */
tt_code tt__device_svd(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                       tt_error *err) {
  sizes z = sizes_of(src);
  bool full = attr->i[0] != 0, vectors = out[0].data || out[2].data;
  int64_t k = min64(z.m, z.n);
  void *u = NULL, *values, *vh = NULL;
  TT_TRY(room(on, out[1].data, tt__real_of(src->dtype), z.batch * k, &values, err));
  if (vectors) TT_TRY(room(on, out[0].data, src->dtype, z.batch * z.m * (full ? z.m : k), &u, err));
  if (vectors) TT_TRY(room(on, out[2].data, src->dtype, z.batch * z.n * (full ? z.n : k), &vh, err));
  return svd_of(on, src, full, u, values, vh, "SVD did not converge", err);
}

tt_code tt__device_svdvals(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                           tt_error *err) {
  (void)attr;
  return svd_of(on, src, false, NULL, out->data, NULL, "SVD did not converge", err);
}

/* ---- eigenvalues */

static tt_code eigh_of(tt_solver *s, const tt_operand *a, bool upper, void *w, void *v, tt_error *err) {
  int64_t n = sizes_of(a).n;
  void *columns;
  TT_TRY(temp(s->on, s->type, s->batch * n * n, &columns, err));
  TT_TRY(tt__device_move(s->on, s->type, s->batch, n, n, tt__by_rows(a->data, n, n), tt__by_columns(columns, n, n),
                         TT_WHOLE, false, err));
  TT_TRY(tt__solver_eigh(s, upper, v != NULL, n, columns, w, err));
  if (!v) return TT_OK;
  return tt__device_move(s->on, s->type, s->batch, n, n, tt__by_columns(columns, n, n), tt__by_rows(v, n, n), TT_WHOLE,
                         false, err);
}

/* attr.i[0]: upper; results w, v */
tt_code tt__device_eigh(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                        tt_error *err) {
  static const char words[] = "Eigenvalues did not converge";
  sizes z = sizes_of(src);
  bool upper = attr->i[0] != 0;
  void *w;
  if (src->size == 0) return nothing(err);
  TT_TRY(room(on, out[0].data, tt__real_of(src->dtype), z.batch * z.n, &w, err));
  tt_solver s;
  tt_code code = tt__solver_begin(on, src->dtype, z.batch, &s, err);
  if (code == TT_OK) code = check_finite(on, src, upper ? TT_UPPER : TT_LOWER, words, err);
  if (code == TT_OK) code = eigh_of(&s, src, upper, w, out[1].data, err);
  if (code == TT_OK) code = tt__solver_check(&s, words, err);
  tt__solver_end(&s);
  return code;
}

static tt_code eig_of(tt_solver *s, const tt_operand *a, void *w, void *v, tt_error *err) {
  sizes z = sizes_of(a);
  tt_dtype wide = tt__complex_of(s->type);
  int64_t all = z.batch * z.n * z.n;
  void *columns, *vectors = NULL, *unpacked;
  TT_TRY(temp(s->on, s->type, all, &columns, err));
  if (v) TT_TRY(temp(s->on, s->type, all, &vectors, err));
  TT_TRY(tt__device_move(s->on, s->type, z.batch, z.n, z.n, tt__by_rows(a->data, z.n, z.n),
                         tt__by_columns(columns, z.n, z.n), TT_WHOLE, false, err));
  for (int64_t i = 0; i < z.batch; i++)
    TT_TRY(tt__solver_eig(s, i, z.n, matrix_at(columns, s->type, i, z.n * z.n), matrix_at(w, wide, i, z.n),
                          matrix_at(vectors, s->type, i, z.n * z.n), err));
  if (!v) return TT_OK;
  unpacked = vectors;
  if (!tt__is_complex(s->type)) {
    TT_TRY(temp(s->on, wide, all, &unpacked, err));
    TT_TRY(tt__device_unpack(s->on, wide, z.batch, z.n, vectors, w, unpacked, err));
  }
  return tt__device_move(s->on, wide, z.batch, z.n, z.n, tt__by_columns(unpacked, z.n, z.n), tt__by_rows(v, z.n, z.n),
                         TT_WHOLE, false, err);
}

/* results w, v: complex, also of real matrices, whose real eigenvalues have an imaginary part of 0. */
tt_code tt__device_eig(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                       tt_error *err) {
  (void)attr;
  sizes z = sizes_of(src);
  void *w;
  if (src->size == 0) return nothing(err);
  TT_TRY(room(on, out[0].data, tt__complex_of(src->dtype), z.batch * z.n, &w, err));
  tt_solver s;
  tt_code code = tt__solver_begin(on, src->dtype, z.batch, &s, err);
  if (code == TT_OK) code = check_finite(on, src, TT_WHOLE, "Array must not contain infs or NaNs", err);
  if (code == TT_OK) code = eig_of(&s, src, w, out[1].data, err);
  if (code == TT_OK) code = tt__solver_check(&s, "Eigenvalues did not converge", err);
  tt__solver_end(&s);
  return code;
}

const char *tt__device_eig_missing(tt_device *d) { return tt__solver_eig_missing(d); }

/* ---- least squares */

/* c = a^H b for matrices by rows: a [rows, cols], b [rows, k]. */
static tt_code adjoint_product(const tt_lib_device *on, tt_dtype t, int64_t rows, int64_t cols, int64_t k,
                               const void *a, const void *b, void *c, tt_error *err) {
  const void *left = a;
  if (tt__is_complex(t)) {
    void *copy;
    TT_TRY(temp(on, t, rows * cols, &copy, err));
    TT_TRY(tt__device_move(on, t, 1, rows, cols, tt__by_rows(a, rows, cols), tt__by_rows(copy, rows, cols), TT_WHOLE,
                           true, err));
    left = copy;
  }
  tt_operand x = {left, t, 2, (int64_t[]){cols, rows}, (int64_t[]){1, cols}, rows * cols};
  tt_operand y = {b, t, 2, (int64_t[]){rows, k}, (int64_t[]){k, 1}, rows * k};
  return tt__product_device(on, &x, &y, c, err);
}

/* x = V (U^H b / s), without the directions in which A is next to nothing. */
static tt_code least_squares(const tt_lib_device *on, const tt_operand *src, double rcond, void *const *u_s_vh, void *x,
                             void *rank, void *resid, tt_error *err) {
  tt_dtype t = src[0].dtype;
  int64_t m = src[0].len[0], n = src[0].len[1], k = src[1].len[1], small = min64(m, n);
  void *c, *ax;
  TT_TRY(temp(on, t, small * k, &c, err));
  TT_TRY(adjoint_product(on, t, m, small, k, u_s_vh[0], src[1].data, c, err));
  TT_TRY(tt__device_divide(on, t, small, k, c, u_s_vh[1], rcond < 0 ? DBL_EPSILON : rcond, rank, err));
  TT_TRY(adjoint_product(on, t, small, n, k, u_s_vh[2], c, x, err));
  if (!resid) return TT_OK;
  TT_TRY(temp(on, t, m * k, &ax, err));
  tt_operand right = {x, t, 2, (int64_t[]){n, k}, (int64_t[]){k, 1}, n * k};
  TT_TRY(tt__product_device(on, &src[0], &right, ax, err));
  return tt__device_residual(on, t, m, k, ax, src[1].data, resid, err);
}

/* attr.f[0]: rcond; results x, sums of squares, rank, singular values */
tt_code tt__device_lstsq(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                         tt_error *err) {
  tt_dtype t = src[0].dtype;
  int64_t m = src[0].len[0], n = src[0].len[1], k = src[1].len[1], small = min64(m, n);
  void *x, *rank, *u_s_vh[3];
  if (src[0].size == 0 || k == 0) return nothing(err);
  TT_TRY(room(on, out[0].data, t, n * k, &x, err));
  TT_TRY(room(on, out[2].data, TT_I64, 1, &rank, err));
  TT_TRY(temp(on, t, m * small, &u_s_vh[0], err));
  TT_TRY(room(on, out[3].data, tt__real_of(t), small, &u_s_vh[1], err));
  TT_TRY(temp(on, t, small * n, &u_s_vh[2], err));
  TT_TRY(svd_of(on, src, false, u_s_vh[0], u_s_vh[1], u_s_vh[2], "SVD did not converge in Linear Least Squares", err));
  return least_squares(on, src, attr->f[0], u_s_vh, x, rank, out[1].data, err);
}
