/*
** Products and views of matrices; see matrix.h.
*/
#include "fn/linalg/matrix.h"

#include <string.h>

#include "graph/eager/product.h"

static bool is_half(tt_dtype t) { return t == TT_F16 || t == TT_BF16; }

static int place_of(const int *label, int n, int which) {
  for (int k = 0; k < n; k++)
    if (label[k] == which) return k;
  return -1;
}

tt_array *tt__compose_sum(tt_composer *c, tt_array *a, uint64_t axes, bool keepdims) {
  if (!a || axes == 0) return a;
  tt_dtype type = (tt_dtype)a->dtype;
  if (type == TT_BOOL) return tt__compose_reduce(c, TT_RED_ANY, a, axes, keepdims);
  tt_array *wide = is_half(type) ? tt__compose_cast(c, a, TT_F32) : a;
  return tt__compose_cast(c, tt__compose_reduce(c, TT_RED_SUM, wide, axes, keepdims), type);
}

/* x with the axes of `label`, in that order and of those lengths; axes it lacks are broadcast. */
static tt_array *arranged(tt_composer *c, const tt_labelled *x, const int *label, const int64_t *len, int n) {
  int64_t step[TT_MAX_RANK];
  if (!x->a) return NULL;
  for (int k = 0; k < n; k++) {
    int at = place_of(x->label, x->a->rank, label[k]);
    step[k] = at < 0 || tt__array_len(x->a)[at] != len[k] ? 0 : tt__array_step(x->a)[at];
  }
  return tt__compose_view(c, x->a, n, len, step, x->a->off);
}

tt_array *tt__compose_marginal(tt_composer *c, const tt_labelled *x, const int *out, int nout) {
  uint64_t gone = 0;
  if (!x->a) return NULL;
  tt_labelled kept;
  int n = 0;
  for (int k = 0; k < x->a->rank; k++) {
    if (place_of(out, nout, x->label[k]) < 0)
      gone |= UINT64_C(1) << k;
    else
      kept.label[n++] = x->label[k];
  }
  kept.a = tt__compose_sum(c, x->a, gone, false);
  int64_t len[TT_MAX_RANK];
  for (int k = 0; k < nout && kept.a; k++) len[k] = tt__array_len(kept.a)[place_of(kept.label, n, out[k])];
  return arranged(c, &kept, out, len, nout);
}

/* ---- pairs */

/* The labels of a product, in four runs: both operands and the result, x alone, y alone, both and summed. */
typedef struct parts {
  int label[2 * TT_MAX_RANK];
  int64_t len[2 * TT_MAX_RANK];
  int batch, row, col, sum;
} parts;

static int64_t common_length(const tt_labelled *x, const tt_labelled *y, int label) {
  int i = place_of(x->label, x->a->rank, label), j = place_of(y->label, y->a->rank, label);
  int64_t a = i < 0 ? 1 : tt__array_len(x->a)[i], b = j < 0 ? 1 : tt__array_len(y->a)[j];
  return a == 1 ? b : a;
}

static void sort_labels(const tt_labelled *x, const tt_labelled *y, const int *out, int nout, parts *p) {
  int n = 0;
  memset(p, 0, sizeof *p);
  for (int kind = 0; kind < 3; kind++) {
    int *count = kind == 0 ? &p->batch : kind == 1 ? &p->row : &p->col;
    for (int k = 0; k < nout; k++) {
      bool in_x = place_of(x->label, x->a->rank, out[k]) >= 0, in_y = place_of(y->label, y->a->rank, out[k]) >= 0;
      if (kind == (in_x && in_y ? 0 : in_x ? 1 : 2)) p->label[n++] = out[k], ++*count;
    }
  }
  for (int k = 0; k < x->a->rank; k++)
    if (place_of(out, nout, x->label[k]) < 0) p->label[n++] = x->label[k], p->sum++;
  for (int k = 0; k < n; k++) p->len[k] = common_length(x, y, p->label[k]);
}

static int64_t total(const int64_t *len, int n) {
  int64_t t = 1;
  for (int k = 0; k < n; k++) t *= len[k];
  return t;
}

/* One kernel: multiply and, in the same walk, sum. */
static tt_array *multiply_reduce(tt_composer *c, const tt_labelled *x, const tt_labelled *y, const int *out, int nout,
                                 const parts *p, tt_dtype type) {
  int label[2 * TT_MAX_RANK], n = nout + p->sum;
  int64_t len[2 * TT_MAX_RANK];
  if (n > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found %d", n);
  memcpy(label, out, sizeof *label * (size_t)nout);
  memcpy(label + nout, p->label + p->batch + p->row + p->col, sizeof *label * (size_t)p->sum);
  uint64_t axes = 0;
  for (int k = 0; k < n; k++) len[k] = common_length(x, y, label[k]);
  for (int k = nout; k < n; k++) axes |= UINT64_C(1) << k;
  tt_dtype work = is_half(type) && axes ? TT_F32 : type;
  tt_labelled wx = *x, wy = *y;
  wx.a = tt__compose_cast(c, x->a, work);
  wy.a = tt__compose_cast(c, y->a, work);
  tt_array *both = tt__compose_op2(c, TT_MUL, arranged(c, &wx, label, len, n), arranged(c, &wy, label, len, n));
  return tt__compose_cast(c, tt__compose_sum(c, both, axes, false), type);
}

static tt_array *library_product(tt_composer *c, tt_array *a, tt_array *b, tt_dtype type, int rank,
                                 const int64_t *len) {
  tt_array *src[2] = {a, b};
  if (!a || !b) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("matmul")};
  return tt__compose_library(c, &attr, src, 2, type, rank, len);
}

/* Batches of matrices: [batch..., rows, sum] @ [batch..., sum, columns]. */
static tt_array *matrix_product(tt_composer *c, const tt_labelled *x, const tt_labelled *y, const int *out, int nout,
                                const parts *p, tt_dtype type) {
  int label[TT_MAX_RANK];
  int64_t len[TT_MAX_RANK + 2];
  const int *row = p->label + p->batch, *col = row + p->row, *sum = col + p->col;
  const int64_t *row_len = p->len + p->batch, *col_len = row_len + p->row, *sum_len = col_len + p->col;
  tt_labelled wx = *x, wy = *y, made;
  wx.a = tt__compose_cast(c, x->a, type);
  wy.a = tt__compose_cast(c, y->a, type);
  int nb = p->batch;
  memcpy(label, p->label, sizeof *label * (size_t)nb);
  memcpy(len, p->len, sizeof *len * (size_t)nb);
  memcpy(label + nb, row, sizeof *label * (size_t)p->row);
  memcpy(len + nb, row_len, sizeof *len * (size_t)p->row);
  memcpy(label + nb + p->row, sum, sizeof *label * (size_t)p->sum);
  memcpy(len + nb + p->row, sum_len, sizeof *len * (size_t)p->sum);
  tt_array *a = arranged(c, &wx, label, len, nb + p->row + p->sum);
  memcpy(label + nb, sum, sizeof *label * (size_t)p->sum);
  memcpy(len + nb, sum_len, sizeof *len * (size_t)p->sum);
  memcpy(label + nb + p->sum, col, sizeof *label * (size_t)p->col);
  memcpy(len + nb + p->sum, col_len, sizeof *len * (size_t)p->col);
  tt_array *b = arranged(c, &wy, label, len, nb + p->sum + p->col);
  int64_t m = total(row_len, p->row), k = total(sum_len, p->sum), n = total(col_len, p->col);
  len[nb] = m, len[nb + 1] = k;
  a = tt__compose_reshape(c, a, nb + 2, len);
  len[nb] = k, len[nb + 1] = n;
  b = tt__compose_reshape(c, b, nb + 2, len);
  len[nb] = m;
  tt_array *r = library_product(c, a, b, type, nb + 2, len);
  made.a = tt__compose_reshape(c, r, nout, p->len);
  memcpy(made.label, p->label, sizeof *label * (size_t)nout);
  for (int i = 0; i < nout; i++) len[i] = p->len[place_of(p->label, nout, out[i])];
  return arranged(c, &made, out, len, nout);
}

tt_array *tt__compose_contract(tt_composer *c, const tt_labelled *x, const tt_labelled *y, const int *out, int nout) {
  if (!x->a || !y->a) return NULL;
  tt_labelled side[2] = {*x, *y};
  for (int i = 0; i < 2; i++) { /* what one operand alone has to sum, it sums first */
    int keep[TT_MAX_RANK], n = 0;
    tt_labelled *s = &side[i], *o = &side[1 - i];
    for (int k = 0; k < s->a->rank; k++)
      if (place_of(out, nout, s->label[k]) >= 0 || place_of(o->label, o->a->rank, s->label[k]) >= 0)
        keep[n++] = s->label[k];
    if (n == s->a->rank) continue;
    s->a = tt__compose_marginal(c, s, keep, n);
    if (!s->a) return NULL;
    memcpy(s->label, keep, sizeof *keep * (size_t)n);
  }
  parts p;
  sort_labels(&side[0], &side[1], out, nout, &p);
  tt_dtype type = tt__promote((tt_dtype)x->a->dtype, (tt_dtype)y->a->dtype);
  const int64_t *len = p.len + p.batch;
  int64_t m = total(len, p.row), n = total(len + p.row, p.col), k = total(len + p.row + p.col, p.sum);
  bool matrices = k > 1 && (m > 1 || n > 1) && nout <= TT_MAX_RANK - 2 && p.batch + p.row + p.sum <= TT_MAX_RANK &&
                  p.batch + p.col + p.sum <= TT_MAX_RANK;
  return matrices ? matrix_product(c, &side[0], &side[1], out, nout, &p, type)
                  : multiply_reduce(c, &side[0], &side[1], out, nout, &p, type);
}

/* ---- matmul and dot */

static tt_array *matmul_mismatch(tt_composer *c, int64_t want, int64_t got) {
  return tt__compose_fail(c, TT_EVALUE,
                          "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                          "(n?,k),(k,m?)->(n?,m?) (size %lld is different from %lld)",
                          (long long)got, (long long)want);
}

/* a with its vector made a matrix (a row in front, a column behind) and its batch axes broadcast. */
static tt_array *as_matrices(tt_composer *c, tt_array *a, bool column, int rank, const int64_t *batch) {
  int64_t len[TT_MAX_RANK + 1], step[TT_MAX_RANK + 1];
  if (!a || (a->rank == 2 && rank == 2)) return a;
  int n = a->rank;
  memcpy(len, tt__array_len(a), sizeof *len * (size_t)n);
  memcpy(step, tt__array_step(a), sizeof *step * (size_t)n);
  if (n == 1) {
    len[column ? 1 : 0] = 1;
    step[column ? 1 : 0] = 0;
    len[column ? 0 : 1] = tt__array_len(a)[0];
    step[column ? 0 : 1] = tt__array_step(a)[0];
    n = 2;
  }
  tt_array *m = tt__compose_view(c, a, n, len, step, a->off);
  int64_t whole[TT_MAX_RANK];
  memcpy(whole, batch, sizeof *whole * (size_t)(rank - 2));
  whole[rank - 2] = len[n - 2];
  whole[rank - 1] = len[n - 1];
  return tt__compose_broadcast(c, m, rank, whole);
}

/* Are the axes of `a` before the last one run of rows, and `b` one matrix for them all? */
static bool is_rows(tt_array *a, const tt_array *b) {
  const int64_t *len = tt__array_len(a), *step = tt__array_step(a);
  int64_t run = 0;
  if (a->rank < 3 || b->rank < 1 || b->rank > 2 || a->size == 0) return false;
  for (int d = a->rank - 2; d >= 0; d--) {
    if (len[d] == 1) continue;
    if (run && step[d] != run) return false;
    run = step[d] * len[d];
    if (run == 0) return false;
  }
  return run != 0;
}

/* One product of all rows: derivatives are then sums over all of them, where a batch gives as many matrices to add. */
static tt_array *rows_product(tt_composer *c, tt_array *a, tt_array *b) {
  int64_t len[TT_MAX_RANK], *own = tt__array_len(a), *step = tt__array_step(a);
  int n = a->rank, last = n - 2;
  while (own[last] == 1) last--;
  int64_t flat[2] = {a->size / own[n - 1], own[n - 1]}, by[2] = {step[last], step[n - 1]};
  tt_array *out = tt__compose_matmul(c, tt__compose_view(c, a, 2, flat, by, a->off), b);
  memcpy(len, own, sizeof *len * (size_t)(n - 1));
  if (b->rank == 2) len[n - 1] = tt__array_len(b)[1];
  return tt__compose_reshape(c, out, b->rank == 2 ? n : n - 1, len);
}

tt_array *tt__compose_matmul(tt_composer *c, tt_array *a, tt_array *b) {
  if (!a || !b || c->code != TT_OK) return NULL;
  if (a->rank == 0 || b->rank == 0)
    return tt__compose_fail(
        c, TT_EVALUE,
        "matmul: Input operand %d does not have enough dimensions (has 0, gufunc core with signature "
        "(n?,k),(k,m?)->(n?,m?) requires 1)",
        a->rank == 0 ? 0 : 1);
  tt_dtype type = tt__promote((tt_dtype)a->dtype, (tt_dtype)b->dtype);
  bool row = a->rank == 1, column = b->rank == 1;
  int64_t k = tt__array_len(a)[a->rank - 1], kb = tt__array_len(b)[column ? 0 : b->rank - 2];
  if (k != kb) return matmul_mismatch(c, k, kb);
  if (row && column) return tt__compose_dot(c, a, b);
  if (is_rows(a, b)) return rows_product(c, a, b);
  tt_array *small = tt__eager_product(a, b);
  if (small) return tt__compose_keep(c, TT_OK, &small);
  const int64_t *lens[2] = {tt__array_len(a), tt__array_len(b)};
  int ranks[2] = {row ? 0 : a->rank - 2, column ? 0 : b->rank - 2}, nbatch;
  int64_t len[TT_MAX_RANK + 2];
  if ((c->code = tt__shape_broadcast(2, ranks, lens, &nbatch, len, c->err)) != TT_OK) return NULL;
  tt_array *src[2] = {as_matrices(c, tt__compose_cast(c, a, type), false, nbatch + 2, len),
                      as_matrices(c, tt__compose_cast(c, b, type), true, nbatch + 2, len)};
  if (!src[0] || !src[1]) return NULL;
  len[nbatch] = tt__array_len(src[0])[nbatch];
  len[nbatch + 1] = tt__array_len(src[1])[nbatch + 1];
  tt_array *out = library_product(c, src[0], src[1], type, nbatch + 2, len);
  if (!out || (!row && !column)) return out;
  int rank = nbatch;
  if (!row) len[rank++] = len[nbatch];
  if (!column) len[rank++] = len[nbatch + 1];
  return tt__compose_reshape(c, out, rank, len);
}

tt_array *tt__compose_dot(tt_composer *c, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  if (a->rank == 0 || b->rank == 0) return tt__compose_op2(c, TT_MUL, a, b);
  int at = b->rank == 1 ? 0 : b->rank - 2, n = 0, out[2 * TT_MAX_RANK];
  int64_t k = tt__array_len(a)[a->rank - 1], kb = tt__array_len(b)[at];
  if (k != kb) {
    char one[256], two[256];
    tt__shape_text(a->rank, tt__array_len(a), one, sizeof one);
    tt__shape_text(b->rank, tt__array_len(b), two, sizeof two);
    return tt__compose_fail(c, TT_EVALUE, "shapes %s and %s not aligned: %lld (dim %d) != %lld (dim %d)", one, two,
                            (long long)k, a->rank - 1, (long long)kb, at);
  }
  bool matrices = k > 1 && (a->size > k || b->size > k), vectors = a->rank == 1 && b->rank == 1;
  tt_array *small = matrices || vectors ? tt__eager_product(a, b) : NULL;
  if (small) return tt__compose_keep(c, TT_OK, &small);
  tt_labelled x = {.a = a}, y = {.a = b};
  for (int d = 0; d < a->rank; d++) {
    x.label[d] = d;
    if (d + 1 < a->rank) out[n++] = d;
  }
  for (int d = 0; d < b->rank; d++) {
    y.label[d] = d == at ? a->rank - 1 : a->rank + d;
    if (d != at) out[n++] = y.label[d];
  }
  if (n > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found %d", n);
  return tt__compose_contract(c, &x, &y, out, n);
}

/* ---- views and identities */

tt_array *tt__compose_swap(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  int axes[TT_MAX_RANK];
  for (int d = 0; d < a->rank; d++) axes[d] = d;
  axes[a->rank - 2] = a->rank - 1;
  axes[a->rank - 1] = a->rank - 2;
  return tt__compose_transpose(c, a, axes);
}

tt_array *tt__compose_conj(tt_composer *c, tt_array *a) {
  return a && tt__is_complex((tt_dtype)a->dtype) ? tt__compose_op1(c, TT_CONJ, a) : a;
}

tt_array *tt__compose_adjoint(tt_composer *c, tt_array *a) { return tt__compose_conj(c, tt__compose_swap(c, a)); }

tt_array *tt__compose_diagonal(tt_composer *c, tt_array *a, int64_t offset, int axis1, int axis2) {
  if (!a) return NULL;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK], *alen = tt__array_len(a), *astep = tt__array_step(a);
  int n = 0;
  for (int d = 0; d < a->rank; d++) {
    if (d == axis1 || d == axis2) continue;
    len[n] = alen[d];
    step[n++] = astep[d];
  }
  int64_t rows = alen[axis1], cols = alen[axis2], off = a->off;
  if (offset > 0)
    cols = cols > offset ? cols - offset : 0;
  else
    rows = rows > -offset ? rows + offset : 0;
  len[n] = rows < cols ? rows : cols;
  step[n] = astep[axis1] + astep[axis2];
  if (len[n] > 0) off += offset > 0 ? offset * astep[axis2] : -offset * astep[axis1];
  return tt__compose_view(c, a, n + 1, len, step, off);
}

tt_array *tt__compose_identities(tt_composer *c, tt_dtype type, int rank, const int64_t *len) {
  int64_t n = len[rank - 1], square[2] = {n, n}, column[2] = {n, 1};
  tt_array *i = tt__compose_iota(c, n);
  tt_array *one = tt__compose_cast(c, tt__compose_op2(c, TT_EQ, i, tt__compose_reshape(c, i, 2, column)), type);
  return rank == 2 ? tt__compose_reshape(c, one, 2, square) : tt__compose_broadcast(c, one, rank, len);
}

bool tt__compose_is_matrix(tt_composer *c, tt_array *a) {
  if (!a) return false;
  if (a->rank >= 2) return true;
  tt__compose_fail(c, TT_ELINALG, "%d-dimensional array given. Array must be at least two-dimensional", a->rank);
  return false;
}

bool tt__compose_is_square(tt_composer *c, tt_array *a) {
  if (!tt__compose_is_matrix(c, a)) return false;
  if (tt__array_len(a)[a->rank - 1] == tt__array_len(a)[a->rank - 2]) return true;
  tt__compose_fail(c, TT_ELINALG, "Last 2 dimensions of the array must be square");
  return false;
}
