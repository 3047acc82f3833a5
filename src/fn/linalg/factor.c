/*
** numpy.linalg: solvers and decompositions over the library's rows. What can fail is evaluated by the call, which
** raises, unless the caller lets checks wait; so is what the data decides: whether eigenvalues are real, and how long
** the residuals of a least squares solution are. Determinants and QR are recorded.
*/
#include <float.h>
#include <string.h>

#include "fn/fn.h"
#include "fn/linalg/linalg.h"
#include "fn/linalg/matrix.h"

tt_dtype tt__linalg_type(tt_composer *c, tt_array *const *a, int n) {
  tt_dtype type = TT_F32;
  for (int i = 0; i < n; i++) {
    if (!a[i]) return TT_F64;
    tt_dtype t = (tt_dtype)a[i]->dtype;
    if (t == TT_F16 || t == TT_BF16) {
      tt__compose_fail(c, TT_ETYPE, "array type %s is unsupported in linalg", tt__dtypes[t].name);
      return TT_F64;
    }
    type = tt__promote(type, tt__is_float(t) || tt__is_complex(t) ? t : TT_F64);
  }
  return type;
}

tt_array *tt__linalg_operand(tt_composer *c, tt_array *a, bool square) {
  if (square ? !tt__compose_is_square(c, a) : !tt__compose_is_matrix(c, a)) return NULL;
  tt_dtype type = tt__linalg_type(c, &a, 1);
  return c->code == TT_OK ? tt__compose_cast(c, a, type) : NULL;
}

static tt_array *operand(tt_composer *c, const tt_call_frame *f, int k, bool square) {
  return tt__linalg_operand(c, tt__arg_array(c, f, k), square);
}

tt_compose_want tt__linalg_want(tt_array *a, tt_dtype t, int tail, int64_t m, int64_t n) {
  tt_compose_want w = {.dtype = t, .rank = a->rank - 2 + tail};
  memcpy(w.len, tt__array_len(a), sizeof(int64_t) * (size_t)(a->rank - 2));
  if (tail > 0) w.len[a->rank - 2] = m;
  if (tail > 1) w.len[a->rank - 1] = n;
  return w;
}

static int64_t rows(tt_array *a) { return tt__array_len(a)[a->rank - 2]; }
static int64_t columns(tt_array *a) { return tt__array_len(a)[a->rank - 1]; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* One result of a row that may fail. */
static tt_array *settled(tt_composer *c, tt_array *a) { return a && tt__compose_settle(c, &a, 1) ? a : NULL; }

/* ---- solve, inv, det */

static tt_array *mismatch(tt_composer *c, bool vector, int64_t got, int64_t n) {
  return tt__compose_fail(
      c, TT_EVALUE,
      "%s: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature %s (size %lld is different "
      "from %lld)",
      vector ? "solve1" : "solve", vector ? "(m,m),(m)->(m)" : "(m,m),(m,n)->(m,n)", (long long)got, (long long)n);
}

static tt_array *solve_of(tt_composer *c, tt_array *a, tt_array *b) {
  if (!tt__compose_is_square(c, a) || !b) return NULL;
  tt_array *both[2] = {a, b};
  tt_dtype type = tt__linalg_type(c, both, 2);
  if (c->code != TT_OK) return NULL;
  if (b->rank == 0)
    return tt__compose_fail(c, TT_EVALUE,
                            "solve: Input operand 1 does not have enough dimensions (has 0, gufunc core with signature "
                            "(m,m),(m,n)->(m,n) requires 2)");
  bool vector = b->rank == 1;
  int64_t n = rows(a), m = tt__array_len(b)[vector ? 0 : b->rank - 2];
  if (m != n) return mismatch(c, vector, m, n);
  both[1] = vector ? tt__compose_expand(c, b, 1) : b;
  if (!both[1]) return NULL;
  int ranks[2] = {a->rank - 2, both[1]->rank - 2}, nb;
  const int64_t *lens[2] = {tt__array_len(a), tt__array_len(both[1])};
  int64_t len[TT_MAX_RANK + 2];
  if ((c->code = tt__shape_broadcast(2, ranks, lens, &nb, len, c->err)) != TT_OK) return NULL;
  for (int i = 0; i < 2; i++) {
    len[nb] = rows(both[i]);
    len[nb + 1] = columns(both[i]);
    both[i] = tt__compose_broadcast(c, tt__compose_cast(c, both[i], type), nb + 2, len);
    if (!both[i]) return NULL;
  }
  /* Without a right-hand side nothing would be factored, and a singular matrix not be seen. */
  bool none = both[0]->size > 0 && both[1]->size == 0;
  if (none && !tt__fn_call(c, "linalg.inv", (tt_value[1]){tt_v_array(both[0])}, 1)) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("solve")};
  tt_array *x = settled(c, tt__compose_library(c, &attr, both, 2, type, nb + 2, len));
  return x && vector ? tt__compose_reshape(c, x, nb + 1, len) : x;
}

static tt_array *solve(tt_composer *c, tt_call_frame *f) {
  return solve_of(c, tt__arg_array(c, f, 0), tt__arg_array(c, f, 1));
}
TT_HANDLER(solve)

tt_array *tt__linalg_inv_of(tt_composer *c, tt_array *a, bool quiet) {
  a = tt__linalg_operand(c, a, true);
  tt_lib_attr attr = {.row = tt__lib_row("inv"), .i = {quiet}};
  if (a) a = tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, a->rank, tt__array_len(a));
  return quiet ? a : settled(c, a);
}

static tt_array *inv(tt_composer *c, tt_call_frame *f) { return tt__linalg_inv_of(c, tt__arg_array(c, f, 0), false); }
TT_HANDLER(inv)

static tt_array *det(tt_composer *c, tt_call_frame *f) {
  tt_array *a = operand(c, f, 0, true);
  tt_lib_attr attr = {.row = tt__lib_row("det")};
  return a ? tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, a->rank - 2, tt__array_len(a)) : NULL;
}
TT_HANDLER(det)

/* Results 0..n-1 of a row over one operand, given to the caller in order. */
static tt_array *give(tt_composer *c, tt_call_frame *f, const tt_lib_attr *attr, tt_array *a, const tt_compose_want *w,
                      int n) {
  tt_array *out[TT_LIB_PICKS];
  if (!tt__compose_library_many(c, attr, &a, 1, w, n, out)) return NULL;
  for (int k = 0; k < n; k++)
    if (!tt__fn_give(c, f, out[k])) return NULL;
  return out[0];
}

static tt_array *slogdet(tt_composer *c, tt_call_frame *f) {
  tt_array *a = operand(c, f, 0, true);
  if (!a) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("slogdet")};
  tt_compose_want w[2] = {tt__linalg_want(a, (tt_dtype)a->dtype, 0, 0, 0),
                          tt__linalg_want(a, tt__real_of((tt_dtype)a->dtype), 0, 0, 0)};
  return give(c, f, &attr, a, w, 2);
}
TT_HANDLER(slogdet)

/* ---- decompositions */

static tt_array *cholesky(tt_composer *c, tt_call_frame *f) {
  tt_array *a = operand(c, f, 0, true);
  tt_lib_attr attr = {.row = tt__lib_row("cholesky"), .i = {tt__arg_bool(c, f, 1, false)}};
  if (a) a = tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, a->rank, tt__array_len(a));
  return settled(c, a);
}
TT_HANDLER(cholesky)

static tt_array *qr(tt_composer *c, tt_call_frame *f) {
  const char *mode = tt__arg_string(c, f, 1, "reduced");
  bool complete = strcmp(mode, "complete") == 0, triangle = strcmp(mode, "r") == 0;
  if (strcmp(mode, "raw") == 0)
    return tt__compose_fail(c, TT_ENOTIMPL, "qr: mode 'raw' shows LAPACK's own storage, which is not kept here");
  if (!complete && !triangle && strcmp(mode, "reduced") != 0)
    return tt__compose_fail(c, TT_EVALUE, "Unrecognized mode '%s'", mode);
  tt_array *a = operand(c, f, 0, false);
  if (!a) return NULL;
  tt_dtype t = (tt_dtype)a->dtype;
  int64_t m = rows(a), n = columns(a), k = complete ? m : least(m, n);
  tt_compose_want w[2] = {tt__linalg_want(a, t, 2, m, k), tt__linalg_want(a, t, 2, k, n)};
  tt_lib_attr attr = {.row = tt__lib_row(triangle ? "qr_r" : "qr"),
                      .i = {complete}}; /* tt_qr_mode: 0 reduced, 1 complete */
  return triangle ? tt__compose_library(c, &attr, &a, 1, t, w[1].rank, w[1].len) : give(c, f, &attr, a, w, 2);
}
TT_HANDLER(qr)

bool tt__linalg_svd_of(tt_composer *c, tt_array *a, bool full, tt_array **out) {
  if (!a) return false;
  tt_dtype t = (tt_dtype)a->dtype;
  int64_t m = rows(a), n = columns(a), k = least(m, n);
  tt_compose_want w[3] = {tt__linalg_want(a, t, 2, m, full ? m : k), tt__linalg_want(a, tt__real_of(t), 1, k, 0),
                          tt__linalg_want(a, t, 2, full ? n : k, n)};
  tt_lib_attr attr = {.row = tt__lib_row("svd"), .i = {full}};
  return tt__compose_library_many(c, &attr, &a, 1, w, 3, out) && tt__compose_settle(c, out, 3);
}

tt_array *tt__linalg_svdvals_of(tt_composer *c, tt_array *a) {
  a = tt__linalg_operand(c, a, false);
  if (!a) return NULL;
  tt_compose_want w = tt__linalg_want(a, tt__real_of((tt_dtype)a->dtype), 1, least(rows(a), columns(a)), 0);
  tt_lib_attr attr = {.row = tt__lib_row("svdvals")};
  return settled(c, tt__compose_library(c, &attr, &a, 1, w.dtype, w.rank, w.len));
}

/* `hermitian` is a promise that the matrix is its own adjoint; the general decomposition serves it. */
static tt_array *svd(tt_composer *c, tt_call_frame *f) {
  bool full = tt__arg_bool(c, f, 1, true);
  tt_array *out[3];
  if (!tt__arg_bool(c, f, 2, true)) return tt__linalg_svdvals_of(c, tt__arg_array(c, f, 0));
  if (!tt__linalg_svd_of(c, operand(c, f, 0, tt__arg_bool(c, f, 3, false)), full, out)) return NULL;
  for (int k = 0; k < 3; k++)
    if (!tt__fn_give(c, f, out[k])) return NULL;
  return out[0];
}
TT_HANDLER(svd)

static tt_array *svdvals(tt_composer *c, tt_call_frame *f) { return tt__linalg_svdvals_of(c, tt__arg_array(c, f, 0)); }
TT_HANDLER(svdvals)

/* ---- eigenvalues */

static tt_array *hermitian(tt_composer *c, tt_call_frame *f, bool vectors) {
  const char *side = tt__arg_string(c, f, 1, "L");
  bool upper = strcmp(side, "U") == 0 || strcmp(side, "u") == 0;
  if (!upper && strcmp(side, "L") != 0 && strcmp(side, "l") != 0)
    return tt__compose_fail(c, TT_EVALUE, "UPLO argument must be 'L' or 'U'");
  tt_array *a = operand(c, f, 0, true);
  if (!a) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("eigh"), .i = {upper}};
  tt_compose_want w[2] = {tt__linalg_want(a, tt__real_of((tt_dtype)a->dtype), 1, rows(a), 0),
                          tt__linalg_want(a, (tt_dtype)a->dtype, 2, rows(a), rows(a))};
  if (!vectors) return settled(c, tt__compose_library(c, &attr, &a, 1, w[0].dtype, w[0].rank, w[0].len));
  return give(c, f, &attr, a, w, 2) && tt__compose_settle(c, f->out.data, 2) ? f->out.data[0] : NULL;
}

static tt_array *eigh(tt_composer *c, tt_call_frame *f) { return hermitian(c, f, true); }
static tt_array *eigvalsh(tt_composer *c, tt_call_frame *f) { return hermitian(c, f, false); }
TT_HANDLER(eigh)
TT_HANDLER(eigvalsh)

static bool all_real(tt_composer *c, tt_array *w) {
  const void *data = tt__compose_peek(c, w);
  bool real = data != NULL || w->size == 0;
  for (int64_t i = 0; i < w->size && real; i++)
    real = w->dtype == TT_C64 ? ((const tt_c64 *)data)[i].im == 0 : ((const tt_c128 *)data)[i].im == 0;
  return real;
}

/* The result of a real matrix is real when every eigenvalue is: one has to look. */
static tt_array *eigen(tt_composer *c, tt_call_frame *f, bool vectors) {
  tt_array *a = operand(c, f, 0, true), *out[2];
  if (!a) return NULL;
  tt_dtype type = (tt_dtype)a->dtype, wide = tt__complex_of(type);
  tt_lib_attr attr = {.row = tt__lib_row("eig")};
  tt_compose_want w[2] = {tt__linalg_want(a, wide, 1, rows(a), 0), tt__linalg_want(a, wide, 2, rows(a), rows(a))};
  int n = vectors ? 2 : 1;
  if (!tt__compose_library_many(c, &attr, &a, 1, w, n, out) || !tt__compose_settle(c, out, n)) return NULL;
  bool narrow = !tt__is_complex(type) && all_real(c, out[0]);
  for (int k = 0; k < n && c->code == TT_OK; k++) {
    if (narrow) out[k] = tt__compose_op1(c, TT_REAL, out[k]);
    if (!tt__fn_give(c, f, out[k])) return NULL;
  }
  return out[0];
}

static tt_array *eig(tt_composer *c, tt_call_frame *f) { return eigen(c, f, true); }
static tt_array *eigvals(tt_composer *c, tt_call_frame *f) { return eigen(c, f, false); }
TT_HANDLER(eig)
TT_HANDLER(eigvals)

/* ---- least squares */

static bool is_plain(tt_composer *c, tt_array *a) {
  if (!a) return false;
  if (a->rank != 2)
    tt__compose_fail(c, TT_ELINALG, "%d-dimensional array given. Array must be two-dimensional", a->rank);
  return a->rank == 2;
}

/* In double precision, as NumPy does: the rank is decided by singular values next to nothing. */
bool tt__linalg_lstsq_of(tt_composer *c, tt_array *a, tt_array *b, double rcond, tt_array **out, int64_t *rank) {
  if (!is_plain(c, a) || !is_plain(c, b)) return false;
  tt_array *src[2] = {a, b};
  tt_dtype type = tt__linalg_type(c, src, 2), wide = tt__is_complex(type) ? TT_C128 : TT_F64, real = tt__real_of(type);
  int64_t m = rows(a), n = columns(a), k = columns(b);
  if (rows(b) != m) tt__compose_fail(c, TT_ELINALG, "Incompatible dimensions");
  int64_t one[2] = {m, k > 0 ? k : 1}; /* the library has no answer for no right-hand side: one of zeros */
  if (k == 0) src[1] = tt__compose_full(c, wide, 2, one, tt_v_int(0));
  for (int i = 0; i < 2; i++) src[i] = tt__compose_cast(c, src[i], wide);
  tt_lib_attr attr = {.row = tt__lib_row("lstsq"), .f = {rcond}};
  tt_compose_want w[4] = {{wide, 2, {n, one[1]}}, {TT_F64, 1, {one[1]}}, {TT_I64, 0, {0}}, {TT_F64, 1, {least(m, n)}}};
  if (c->code != TT_OK || !tt__compose_library_many(c, &attr, src, 2, w, 4, out)) return false;
  const int64_t *found = tt__compose_peek(c, out[2]);
  if (!found) return false;
  *rank = *found;
  int64_t none = 0;
  if (k == 0) out[0] = tt__compose_slice(c, out[0], 1, 0, 0, 1);
  if (k == 0) out[1] = tt__compose_slice(c, out[1], 0, 0, 0, 1);
  if (*rank != n || m <= n) out[1] = tt__compose_empty(c, real, 1, &none);
  out[0] = tt__compose_cast(c, out[0], type);
  out[1] = tt__compose_cast(c, out[1], real);
  out[2] = tt__compose_cast(c, out[2], TT_I32); /* LAPACK's integer, in NumPy too */
  out[3] = tt__compose_cast(c, out[3], real);
  return c->code == TT_OK;
}

static tt_array *lstsq(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1), *out[4];
  if (!a || !b) return NULL;
  bool vector = b->rank == 1;
  if (vector) b = tt__compose_expand(c, b, 1);
  int64_t rank, m = a->rank == 2 ? rows(a) : 0, n = a->rank == 2 ? columns(a) : 0;
  double rcond = tt__arg_float(c, f, 2, DBL_EPSILON * (double)(m > n ? m : n));
  if (!tt__linalg_lstsq_of(c, a, b, rcond, out, &rank)) return NULL;
  if (vector) out[0] = tt__compose_reshape(c, out[0], 1, &n);
  for (int k = 0; k < 4; k++)
    if (!tt__fn_give(c, f, out[k])) return NULL;
  return out[0];
}
TT_HANDLER(lstsq)

/* ---- powers and tensors */

static tt_array *matrix_power(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *r = NULL;
  if (!tt__compose_is_square(c, a)) return NULL;
  const tt_value *v = &f->arg[1];
  if (v->tag != TT_V_INT && v->tag != TT_V_BOOL &&
      !(v->tag == TT_V_ARRAY && v->as.array->rank == 0 && tt__is_int((tt_dtype)v->as.array->dtype)))
    return tt__compose_fail(c, TT_ETYPE, "exponent must be an integer");
  int64_t n = tt__arg_int(c, f, 1, 0);
  if (n == 0) return tt__compose_copy(c, tt__compose_identities(c, (tt_dtype)a->dtype, a->rank, tt__array_len(a)));
  if (n < 0) a = tt__linalg_inv_of(c, a, false);
  uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  if (left == 1) return n < 0 ? a : tt__compose_copy(c, a);
  for (tt_array *square = a; left && square; left >>= 1) {
    if (left & 1) r = r ? tt__compose_matmul(c, r, square) : square;
    if (left > 1) square = tt__compose_matmul(c, square, square);
  }
  return r;
}
TT_HANDLER(matrix_power)

static tt_array *tensorinv(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  int64_t ind = tt__arg_int(c, f, 1, 2), len[TT_MAX_RANK], square[2] = {1, 1};
  if (ind <= 0) return tt__compose_fail(c, TT_EVALUE, "Invalid ind argument.");
  int n = 0, cut = ind < a->rank ? (int)ind : a->rank;
  for (int d = cut; d < a->rank; d++) square[1] *= len[n++] = tt__array_len(a)[d];
  for (int d = 0; d < cut; d++) square[0] *= len[n++] = tt__array_len(a)[d];
  square[0] = square[1];
  if (square[1] != 0 && a->size % square[1] == 0) square[0] = a->size / square[1];
  return tt__compose_reshape(c, tt__linalg_inv_of(c, tt__compose_reshape(c, a, 2, square), false), n, len);
}
TT_HANDLER(tensorinv)

static tt_array *tensorsolve(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (!a || !b) return NULL;
  int64_t axes[TT_MAX_RANK], len[TT_MAX_RANK], side = 1;
  int moved = tt__arg_ints(c, f, 2, axes, TT_MAX_RANK), n = 0, order[TT_MAX_RANK];
  for (int d = 0; d < a->rank; d++) order[d] = d;
  for (int k = 0; k < moved && c->code == TT_OK; k++) {
    int axis = 0;
    c->code = tt__shape_axis(axes[k], a->rank, &axis, c->err);
    if (c->code != TT_OK) return NULL;
    int at = 0; /* where earlier moves have left it */
    while (at < a->rank && order[at] != axis) at++;
    memmove(order + at, order + at + 1, sizeof *order * (size_t)(a->rank - 1 - at));
    order[a->rank - 1] = axis;
    if (!(a = tt__compose_move(c, a, at, a->rank - 1))) return NULL;
  }
  int first = a->rank > b->rank ? b->rank : 0;
  for (int d = first; d < a->rank; d++) side *= len[n++] = tt__array_len(a)[d];
  if (a->size != side * side)
    return tt__compose_fail(
        c, TT_ELINALG,
        "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])");
  int64_t square[2] = {side, side};
  return tt__compose_reshape(c, solve_of(c, tt__compose_reshape(c, a, 2, square), tt__compose_ravel(c, b)), n, len);
}
TT_HANDLER(tensorsolve)
