/* Cotangents through linear algebra; see factorization.h. X^H is the adjoint of X, gX the cotangent of X. */
#include "fn/grad/factorization.h"

#include <string.h>

#include "fn/fn.h"
#include "fn/linalg/linalg.h"
#include "fn/linalg/matrix.h"

/* ---- matrices of a calculation; NULL operands give NULL */

static int64_t rows(tt_array *a) { return tt__array_len(a)[a->rank - 2]; }
static int64_t columns(tt_array *a) { return tt__array_len(a)[a->rank - 1]; }

static tt_array *minus(tt_composer *c, tt_array *a, tt_array *b) { return tt__compose_op2(c, TT_SUB, a, b); }
static tt_array *plus(tt_composer *c, tt_array *a, tt_array *b) { return tt__compose_op2(c, TT_ADD, a, b); }
static tt_array *negative(tt_composer *c, tt_array *a) { return tt__compose_op1(c, TT_NEG, a); }
static tt_array *adjoint(tt_composer *c, tt_array *a) { return tt__compose_adjoint(c, a); }
static tt_array *product(tt_composer *c, tt_array *a, tt_array *b) { return tt__compose_matmul(c, a, b); }

/* The first term of a sum that may have none yet. */
static tt_array *added(tt_composer *c, tt_array *sum, tt_array *a) { return sum ? plus(c, sum, a) : a; }

/* x * s, a number of s for each column of x, or for each row. */
static tt_array *columns_times(tt_composer *c, tt_array *x, tt_array *s) {
  return x && s ? tt__compose_op2(c, TT_MUL, x, tt__compose_expand(c, s, s->rank - 1)) : NULL;
}

static tt_array *rows_times(tt_composer *c, tt_array *s, tt_array *x) {
  return x && s ? tt__compose_op2(c, TT_MUL, tt__compose_expand(c, s, s->rank), x) : NULL;
}

static tt_array *diagonal(tt_composer *c, tt_array *x) {
  return x ? tt__compose_diagonal(c, x, 0, x->rank - 2, x->rank - 1) : NULL;
}

/* x with another diagonal (NULL: zeros). */
static tt_array *with_diagonal(tt_composer *c, tt_array *x, tt_array *d) {
  if (!x) return NULL;
  tt_array *mask = tt__compose_identities(c, TT_BOOL, x->rank, tt__array_len(x));
  tt_array *row = d ? tt__compose_expand(c, d, d->rank - 1) : NULL;
  if (!mask || (d && !row)) return NULL;
  return tt__compose_where(c, mask, row ? tt_v_array(row) : tt_v_int(0), tt_v_array(x));
}

/* A number for each matrix, to be multiplied with it. */
static tt_array *for_matrix(tt_composer *c, tt_array *a) {
  tt_array *column = a ? tt__compose_expand(c, a, a->rank) : NULL;
  return column ? tt__compose_expand(c, column, column->rank) : NULL;
}

static tt_array *triangle(tt_composer *c, const char *name, tt_array *x, int64_t k) {
  return x ? tt__fn_call(c, name, (tt_value[2]){tt_v_array(x), tt_v_int(k)}, 2) : NULL;
}

/* a^-1 b, and b a^-1. Recorded, not evaluated: what failed with this matrix has failed before. */
static tt_array *solved(tt_composer *c, tt_array *a, tt_array *b) {
  tt_array *src[2] = {a, b};
  tt_lib_attr attr = {.row = tt__lib_row("solve")};
  return a && b ? tt__compose_library(c, &attr, src, 2, (tt_dtype)b->dtype, b->rank, tt__array_len(b)) : NULL;
}

static tt_array *divided(tt_composer *c, tt_array *b, tt_array *a) {
  return adjoint(c, solved(c, adjoint(c, a), adjoint(c, b)));
}

static tt_array *inverse(tt_composer *c, tt_array *a, bool quiet) {
  tt_lib_attr attr = {.row = tt__lib_row("inv"), .i = {quiet}};
  return a ? tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, a->rank, tt__array_len(a)) : NULL;
}

/* A result computed again, with the history of the one that is gone: cotangents of all results meet in one entry. */
static tt_array *in_place_of(const tt_rule *r, int k, tt_array *value) {
  tt_node *n = tt__compose_node(r->c, value), *out = n ? tt__tape_result(r->t, k, n, r->c->err) : NULL;
  tt__node_release(n);
  return tt__compose_of_node(r->c, out);
}

/* The results that the rule needs; where one is gone all are computed again. */
static bool results(const tt_rule *r, tt_array *a, const tt_compose_want *w, int n, tt_array **out) {
  bool all = a != NULL, before = tt__session_tape;
  tt_array *again[TT_LIB_PICKS];
  for (int k = 0; k < n && a; k++) all &= (out[k] = tt__rule_pick(r, k)) != NULL;
  if (all || !a || r->c->code != TT_OK) return all;
  tt_lib_attr attr = *r->t->attr.lib;
  memset(attr.pick, 0, sizeof attr.pick);
  tt__session_tape = false;
  all = tt__compose_library_many(r->c, &attr, &a, 1, w, n, again);
  tt__session_tape = before;
  for (int k = 0; k < n && all; k++)
    if (!out[k]) all = (out[k] = r->taped ? in_place_of(r, k, again[k]) : again[k]) != NULL;
  return all;
}

/* Vectors are given up to a factor of absolute value 1, which nobody may see: `d` has what he would see of it. */
static bool phase_is_free(const tt_rule *r, tt_array *d, const char *words) {
  tt_composer *c = r->c;
  if (!d || !tt__is_complex((tt_dtype)d->dtype)) return d != NULL;
  tt_array *size = tt__compose_op1(c, TT_ABS, tt__compose_op1(c, TT_IMAG, d));
  tt_array *seen = tt__compose_opf(c, TT_GT, size, 0.01);
  seen = seen ? tt__compose_reduce(c, TT_RED_ANY, seen, ~UINT64_C(0) >> (64 - seen->rank), false) : NULL;
  const bool *flag = seen ? tt__compose_peek(c, seen) : NULL;
  if (flag && *flag)
    tt__compose_fail(c, TT_EGRAD,
                     "%s in the complex case are specified up to multiplication by e^{i phi}. The specified loss "
                     "function depends on this phase term, making it ill-defined.",
                     words);
  return flag && !*flag;
}

/* ---- solve, inv, det */

/* X = A^-1 B: gB = A^-H gX, gA = -gB X^H */
void tt__rule_solve(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *b = solved(c, adjoint(c, tt__rule_operand(r, 0)), r->g[0]);
  if (tt__rule_wants(r, 0)) r->out[0] = negative(c, product(c, b, adjoint(c, tt__rule_pick(r, 0))));
  r->out[1] = b;
}

/* Y = A^-1: gA = -Y^H gY Y^H */
void tt__rule_inv(const tt_rule *r) {
  tt_array *y = adjoint(r->c, tt__rule_pick(r, 0));
  r->out[0] = negative(r->c, product(r->c, product(r->c, y, r->g[0]), y));
}

/* For each s[..., i] the product of the others. */
static tt_array *products_of_others(tt_composer *c, tt_array *s) {
  int64_t len[TT_MAX_RANK + 1];
  tt_array *all = s ? tt__compose_expand(c, s, s->rank - 1) : NULL; /* row i is to lack s[i] */
  if (!all) return NULL;
  memcpy(len, tt__array_len(all), (size_t)all->rank * sizeof *len);
  len[all->rank - 2] = len[all->rank - 1];
  all = tt__compose_broadcast(c, all, all->rank, len);
  tt_array *one = s ? tt__compose_full(c, (tt_dtype)s->dtype, s->rank, tt__array_len(s), tt_v_int(1)) : NULL;
  tt_array *rest = one ? with_diagonal(c, all, one) : NULL;
  return rest ? tt__compose_reduce(c, TT_RED_PROD, rest, UINT64_C(1) << (rest->rank - 1), false) : NULL;
}

static tt_array *determinant(tt_composer *c, tt_array *a) {
  tt_lib_attr attr = {.row = tt__lib_row("det")};
  return a ? tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, a->rank - 2, tt__array_len(a)) : NULL;
}

/* The adjugate's adjoint, of singular matrices too: A = U S V^H has det U det V^H U (products of the other s) V^H. */
static tt_array *cofactors(tt_composer *c, tt_array *a) {
  int64_t n = rows(a);
  tt_compose_want w[3] = {tt__linalg_want(a, (tt_dtype)a->dtype, 2, n, n),
                          tt__linalg_want(a, tt__real_of((tt_dtype)a->dtype), 1, n, 0),
                          tt__linalg_want(a, (tt_dtype)a->dtype, 2, n, n)};
  tt_lib_attr attr = {.row = tt__lib_row("svd")};
  tt_array *f[3];
  if (!tt__compose_library_many(c, &attr, &a, 1, w, 3, f)) return NULL;
  tt_array *unit = tt__compose_conj(c, tt__compose_op2(c, TT_MUL, determinant(c, f[0]), determinant(c, f[2])));
  tt_array *m = product(c, columns_times(c, f[0], products_of_others(c, f[1])), f[2]);
  return tt__compose_op2(c, TT_MUL, for_matrix(c, unit), m);
}

/*
** gA = conj(det A) gdet A^-H, which are the cofactors. What is differentiated in turn goes by the inverse, because
** equal singular values have vectors without a derivative.
*/
void tt__rule_det(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *g = r->g[0], *m;
  if (!a) return;
  if (r->taped) {
    g = tt__compose_op2(c, TT_MUL, g, tt__compose_conj(c, tt__rule_pick(r, 0)));
    m = adjoint(c, inverse(c, a, false));
  } else {
    m = cofactors(c, a);
  }
  r->out[0] = tt__compose_op2(c, TT_MUL, for_matrix(c, g), m);
}

/*
** With t = tr(A^-1 dA): d log|det| = Re t and d sign = i sign Im t, so gA = (glog - i Im(conj(gsign) sign)) A^-H.
** Singular matrices have none: NaN.
*/
void tt__rule_slogdet(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *g = r->g[1];
  if (!a) return;
  if (r->g[0] && tt__is_complex((tt_dtype)a->dtype)) {
    tt_array *turn = tt__compose_op2(c, TT_MUL, tt__compose_conj(c, r->g[0]), tt__rule_pick(r, 0));
    tt_array *im = negative(c, tt__compose_op1(c, TT_IMAG, turn));
    if (!g && im) g = tt__rule_zeros(c, (tt_dtype)im->dtype, im->rank, tt__array_len(im), r->t->device);
    g = g && im ? tt__compose_complex(c, g, im) : NULL;
  }
  if (!g) /* of real matrices the sign alone: no slope */
    r->out[0] = tt__rule_zeros(c, (tt_dtype)a->dtype, a->rank, tt__array_len(a), r->t->device);
  else
    r->out[0] = tt__compose_op2(c, TT_MUL, for_matrix(c, g), adjoint(c, inverse(c, a, true)));
}

/* ---- decompositions */

/*
** A = L L^H: gA = L^-H P L^-1, where P is the Hermitian part of the lower triangle of L^H gL with half its diagonal. It
** is Hermitian: the one of a function of Hermitian matrices.
*/
void tt__rule_cholesky(const tt_rule *r) {
  tt_composer *c = r->c;
  bool upper = r->t->attr.lib->i[0] != 0;
  tt_array *l = tt__rule_pick(r, 0), *g = r->g[0];
  tt_array *lh = upper ? l : adjoint(c, l);
  tt_array *y = product(c, lh, upper ? adjoint(c, g) : g);
  tt_array *half = tt__compose_opf(c, TT_MUL, diagonal(c, y), 0.5);
  tt_array *low = half ? with_diagonal(c, triangle(c, "tril", y, 0), half) : NULL;
  tt_array *p = tt__compose_opf(c, TT_MUL, plus(c, low, adjoint(c, low)), 0.5);
  r->out[0] = adjoint(c, solved(c, lh, adjoint(c, solved(c, lh, p))));
}

/*
** A = Q R, no more columns than rows: gA = (gQ + Q M) R^-H, where M is the upper triangle of gR R^H - Q^H gQ and, below
** the diagonal, its adjoint; the diagonal is real.
*/
static tt_array *of_tall_qr(tt_composer *c, tt_array *q, tt_array *rr, tt_array *gq, tt_array *gr) {
  tt_array *n = gr ? product(c, gr, adjoint(c, rr)) : NULL;
  tt_array *turn = gq ? negative(c, product(c, adjoint(c, q), gq)) : NULL;
  if ((gr && !n) || (gq && !turn)) return NULL;
  n = turn ? added(c, n, turn) : n;
  tt_array *d = tt__compose_op1(c, TT_REAL, diagonal(c, n)), *up = triangle(c, "triu", n, 1);
  tt_array *m = d ? with_diagonal(c, plus(c, up, adjoint(c, up)), tt__compose_cast(c, d, (tt_dtype)n->dtype)) : NULL;
  tt_array *sum = product(c, q, m);
  return divided(c, sum && gq ? plus(c, gq, sum) : sum, adjoint(c, rr));
}

static tt_array *first(tt_composer *c, tt_array *a, int back, int64_t from, int64_t n) {
  return a ? tt__compose_slice(c, a, a->rank - back, from, n, 1) : NULL;
}

/* More columns than rows: A = [X Y] = Q [U V], X = Q U and V = Q^H Y. */
static tt_array *of_wide_qr(tt_composer *c, tt_array *a, tt_array *q, tt_array *rr, tt_array *gq, tt_array *gr) {
  int64_t m = rows(a), n = columns(a);
  if (!gr) gr = tt__compose_full(c, (tt_dtype)rr->dtype, rr->rank, tt__array_len(rr), tt_v_int(0));
  tt_array *gv = first(c, gr, 1, m, n - m), *part[2];
  tt_array *more = product(c, first(c, a, 1, m, n - m), adjoint(c, gv));
  part[0] = more ? of_tall_qr(c, q, first(c, rr, 1, 0, m), gq ? plus(c, gq, more) : more, first(c, gr, 1, 0, m)) : NULL;
  part[1] = product(c, q, gv);
  return part[0] && part[1] ? tt__compose_concat(c, part, 2, a->rank - 1) : NULL;
}

/* attr.i[0]: complete. Q's further columns may be turned, so they have no slope; R's further rows are 0. */
void tt__rule_qr(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *f[2], *gq = r->g[0], *gr = r->g[1];
  if (!a) return;
  int64_t m = rows(a), n = columns(a), k = r->t->attr.lib->i[0] || m < n ? m : n;
  tt_compose_want w[2] = {tt__linalg_want(a, (tt_dtype)a->dtype, 2, m, k),
                          tt__linalg_want(a, (tt_dtype)a->dtype, 2, k, n)};
  if (!results(r, a, w, 2, f)) return;
  if (k > n) {
    if (gq) {
      tt__compose_fail(c, TT_ENOTIMPL,
                       "The QR decomposition is not differentiable when mode='complete' and nrows > ncols");
      return;
    }
    f[0] = first(c, f[0], 1, 0, n);
    f[1] = first(c, f[1], 2, 0, n);
    gr = first(c, gr, 2, 0, n);
  }
  if (!f[0] || !f[1]) return;
  r->out[0] = m < n ? of_wide_qr(c, a, f[0], f[1], gq, gr) : of_tall_qr(c, f[0], f[1], gq, gr);
}

/* R alone. */
void tt__rule_qr_r(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *f[2];
  if (!a) return;
  int64_t m = rows(a), n = columns(a), k = m < n ? m : n;
  tt_compose_want w[2] = {tt__linalg_want(a, (tt_dtype)a->dtype, 2, m, k),
                          tt__linalg_want(a, (tt_dtype)a->dtype, 2, k, n)};
  tt_lib_attr attr = {.row = tt__lib_row("qr")};
  if (!tt__compose_library_many(c, &attr, &a, 1, w, 2, f)) return;
  r->out[0] = m < n ? of_wide_qr(c, a, f[0], f[1], NULL, r->g[0]) : of_tall_qr(c, f[0], f[1], NULL, r->g[0]);
}

/* ---- singular values: A = U S V^H */

/* The singular values alone: gA = U gS V^H. */
static tt_array *of_values(tt_composer *c, tt_array *u, tt_array *gs, tt_array *vh) {
  return u && vh && rows(u) < columns(vh) ? product(c, columns_times(c, u, gs), vh)
                                          : product(c, u, rows_times(c, gs, vh));
}

/* s[j] - s[i] in row i, column j; 1 on the diagonal. */
static tt_array *distances(tt_composer *c, tt_array *s) {
  tt_array *row = s ? tt__compose_expand(c, s, s->rank - 1) : NULL;
  tt_array *e = row ? minus(c, row, tt__compose_expand(c, s, s->rank)) : NULL;
  tt_array *one = e ? tt__compose_full(c, (tt_dtype)s->dtype, s->rank, tt__array_len(s), tt_v_int(1)) : NULL;
  return one ? with_diagonal(c, e, one) : NULL;
}

typedef struct svd_parts {
  tt_array *u, *s, *vh, *gu, *gs, *gvh; /* reduced; cotangents: NULL for none */
} svd_parts;

/* X - X^H */
static tt_array *skew(tt_composer *c, tt_array *x) { return minus(c, x, adjoint(c, x)); }

/* What stands between U and V^H: ((skew(U^H gU) S + S skew(V^H gV)) / E, E[i, j] = s[j]^2 - s[i]^2; gS on the diagonal,
 * and of complex matrices what the phase of both vectors together does. */
static tt_array *svd_core(const tt_rule *r, const svd_parts *p) {
  tt_composer *c = r->c;
  tt_array *of_u = p->gu ? skew(c, product(c, adjoint(c, p->u), p->gu)) : NULL;
  tt_array *of_v = p->gvh ? skew(c, product(c, p->vh, adjoint(c, p->gvh))) : NULL;
  if ((p->gu && !of_u) || (p->gvh && !of_v)) return NULL;
  tt_array *both = of_u && of_v ? plus(c, of_u, of_v) : of_u ? of_u : of_v;
  if (!phase_is_free(r, diagonal(c, both), "svd_backward: The singular vectors")) return NULL;
  tt_array *sum = of_u ? columns_times(c, of_u, p->s) : NULL;
  if (of_v) sum = added(c, sum, rows_times(c, p->s, of_v));
  tt_array *core = tt__compose_op2(c, TT_DIV, sum, distances(c, tt__compose_op1(c, TT_SQUARE, p->s)));
  tt_array *d = p->gs;
  if (of_u && of_v && tt__is_complex((tt_dtype)p->u->dtype)) {
    tt_array *phase = tt__compose_op2(c, TT_DIV, diagonal(c, of_u), tt__compose_opi(c, TT_MUL, p->s, 2));
    d = d ? plus(c, d, phase) : phase;
    if (!d) return NULL;
  }
  return with_diagonal(c, core, d);
}

/* x (I - V V^H): what is outside of the space of V's columns. */
static tt_array *outside(tt_composer *c, tt_array *x, tt_array *vh) {
  return minus(c, x, product(c, product(c, x, adjoint(c, vh)), vh));
}

static tt_array *of_svd(const tt_rule *r, const svd_parts *p, int64_t m, int64_t n) {
  tt_composer *c = r->c;
  if (!p->gu && !p->gvh) return of_values(c, p->u, p->gs, p->vh);
  tt_array *core = svd_core(r, p), *per = tt__compose_op1(c, TT_RECIPROCAL, p->s);
  if (m > n && p->gu) {
    tt_array *x = adjoint(c, outside(c, adjoint(c, columns_times(c, p->gu, per)), adjoint(c, p->u)));
    return product(c, plus(c, product(c, p->u, core), x), p->vh);
  }
  tt_array *right = product(c, core, p->vh);
  if (m < n && p->gvh) right = plus(c, right, outside(c, rows_times(c, per, p->gvh), p->vh));
  return product(c, p->u, right);
}

/* Vectors that belong to no singular value may be turned: as in PyTorch they have no slope. */
void tt__rule_svd(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *f[3];
  if (!a) return;
  int64_t m = rows(a), n = columns(a), k = m < n ? m : n;
  bool full = r->t->attr.lib->i[0] != 0;
  tt_dtype t = (tt_dtype)a->dtype;
  tt_compose_want w[3] = {tt__linalg_want(a, t, 2, m, full ? m : k), tt__linalg_want(a, tt__real_of(t), 1, k, 0),
                          tt__linalg_want(a, t, 2, full ? n : k, n)};
  if (!results(r, a, w, 3, f)) return;
  svd_parts p = {first(c, f[0], 1, 0, k),    f[1],    first(c, f[2], 2, 0, k),
                 first(c, r->g[0], 1, 0, k), r->g[1], first(c, r->g[2], 2, 0, k)};
  if (p.u && p.vh) r->out[0] = of_svd(r, &p, m, n);
}

static tt_array *of_svdvals(tt_composer *c, tt_array *a, tt_array *gs) {
  if (!a) return NULL;
  int64_t m = rows(a), n = columns(a), k = m < n ? m : n;
  tt_dtype t = (tt_dtype)a->dtype;
  tt_compose_want w[3] = {tt__linalg_want(a, t, 2, m, k), tt__linalg_want(a, tt__real_of(t), 1, k, 0),
                          tt__linalg_want(a, t, 2, k, n)};
  tt_lib_attr attr = {.row = tt__lib_row("svd")};
  tt_array *f[3];
  return tt__compose_library_many(c, &attr, &a, 1, w, 3, f) ? of_values(c, f[0], gs, f[2]) : NULL;
}

void tt__rule_svdvals(const tt_rule *r) { r->out[0] = of_svdvals(r->c, tt__rule_operand(r, 0), r->g[0]); }

/* ---- eigenvalues */

/*
** A = V W V^H: gA = V (gW on the diagonal, beside it the Hermitian part of (V^H gV)[i, j] / (w[j] - w[i])) V^H. Only a
** Hermitian A has a meaning, so its gradient is Hermitian, whichever triangle was read.
*/
void tt__rule_eigh(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *f[2], *core;
  if (!a) return;
  tt_dtype t = (tt_dtype)a->dtype;
  tt_compose_want w[2] = {tt__linalg_want(a, tt__real_of(t), 1, rows(a), 0),
                          tt__linalg_want(a, t, 2, rows(a), rows(a))};
  if (!results(r, a, w, 2, f)) return;
  tt_array *vh = adjoint(c, f[1]);
  if (!r->g[1]) {
    r->out[0] = product(c, columns_times(c, f[1], r->g[0]), vh);
    return;
  }
  tt_array *turn = product(c, vh, r->g[1]);
  if (!phase_is_free(r, diagonal(c, turn), "linalg_eigh_backward: The eigenvectors")) return;
  core = tt__compose_op2(c, TT_DIV, turn, distances(c, f[0]));
  core = core ? tt__compose_op2(c, TT_ADD, core, adjoint(c, core)) : NULL;
  core = core ? with_diagonal(c, tt__compose_opf(c, TT_MUL, core, 0.5), r->g[0]) : NULL;
  r->out[0] = core ? product(c, f[1], product(c, core, vh)) : NULL;
}

/*
** A = V W V^-1, columns of V of length 1: gA = V^-H (gW on the diagonal, beside it (V^H gV - V^H V D)[i, j] /
** conj(w[j] - w[i])) V^H, where D is the real part of the diagonal of V^H gV.
*/
void tt__rule_eig(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *f[2];
  if (!a) return;
  tt_dtype t = tt__complex_of((tt_dtype)a->dtype);
  tt_compose_want w[2] = {tt__linalg_want(a, t, 1, rows(a), 0), tt__linalg_want(a, t, 2, rows(a), rows(a))};
  if (!results(r, a, w, 2, f)) return;
  tt_array *vh = adjoint(c, f[1]), *core;
  if (!r->g[1]) {
    r->out[0] = solved(c, vh, rows_times(c, r->g[0], vh));
    return;
  }
  tt_array *turn = product(c, vh, r->g[1]), *d = diagonal(c, turn);
  if (!phase_is_free(r, d, "linalg_eig_backward: The eigenvectors")) return;
  turn = minus(c, turn, product(c, vh, columns_times(c, f[1], tt__compose_op1(c, TT_REAL, d))));
  core = tt__compose_op2(c, TT_DIV, turn, tt__compose_conj(c, distances(c, f[0])));
  r->out[0] = solved(c, vh, product(c, with_diagonal(c, core, r->g[0]), vh));
}

/* ---- least squares */

/* P b, P the pseudo-inverse of a: the solution with the same cut as the rule's own. */
static tt_array *least_squares(const tt_rule *r, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  tt_array *src[2] = {a, b};
  int64_t len[2] = {columns(a), columns(b)};
  tt_lib_attr attr = {.row = tt__lib_row("lstsq"), .f = {r->t->attr.lib->f[0]}};
  return tt__compose_library(r->c, &attr, src, 2, (tt_dtype)b->dtype, 2, len);
}

/*
** X = P B with the residuals R = B - A X. From dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P:
** gB = P^H gX, gA = -gB X^H + R (P gB)^H + P^H X (gX - P A gX)^H.
*/
static bool of_solution(const tt_rule *r, tt_array *a, tt_array *x, tt_array *rest, tt_array *gx) {
  tt_composer *c = r->c;
  int64_t k = columns(x);
  tt_array *pair[2] = {gx, x};
  tt_array *one = least_squares(r, adjoint(c, a), tt__compose_concat(c, pair, 2, 1));
  tt_array *gb = first(c, one, 1, 0, k), *px = first(c, one, 1, k, k);
  r->out[1] = gb;
  if (!gb || !px) return false;
  if (!tt__rule_wants(r, 0)) return true;
  pair[0] = gb;
  pair[1] = product(c, a, gx);
  tt_array *two = pair[1] ? least_squares(r, a, tt__compose_concat(c, pair, 2, 1)) : NULL;
  tt_array *inside = minus(c, gx, first(c, two, 1, k, k));
  tt_array *sum = minus(c, product(c, rest, adjoint(c, first(c, two, 1, 0, k))), product(c, gb, adjoint(c, x)));
  r->out[0] = plus(c, sum, product(c, px, adjoint(c, inside)));
  return r->out[0] != NULL;
}

/* Results: X, the sums of squares of R's columns (2 R each, by B - A X), the rank, the singular values. */
void tt__rule_lstsq(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *b = tt__rule_operand(r, 1), *x;
  if (!a || !b) return;
  if (!(x = tt__rule_pick(r, 0)) && !(x = least_squares(r, a, b))) return;
  tt_array *rest = minus(c, b, product(c, a, x)), *gs = r->g[3];
  if (r->g[0] && !of_solution(r, a, x, rest, r->g[0])) return;
  if (r->g[1]) {
    tt_array *g = columns_times(c, tt__compose_opi(c, TT_MUL, rest, 2), r->g[1]);
    tt_array *ga = negative(c, product(c, g, adjoint(c, x)));
    r->out[1] = g ? added(c, r->out[1], g) : NULL;
    r->out[0] = ga ? added(c, r->out[0], ga) : NULL;
  }
  tt_array *ga = gs ? of_svdvals(c, a, gs) : NULL;
  if (ga) r->out[0] = added(c, r->out[0], ga);
  if (!r->out[1]) r->out[1] = tt__rule_zeros(c, (tt_dtype)b->dtype, 2, tt__array_len(b), r->t->device);
}

/*
** P of A, whatever its rank (see of_solution for dP): gA = -P^H gP P^H + (I - A P) gP^H P P^H + P^H P gP^H (I - P A),
** in an order that makes the smaller matrices.
*/
void tt__rule_pinv(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *a = tt__rule_operand(r, 0), *p = tt__rule_pick(r, 0), *ph = adjoint(c, p), *gh = adjoint(c, r->g[0]);
  tt_array *first_term, *second, *third;
  if (!a || !ph || !gh) return;
  if (rows(a) <= columns(a)) {
    tt_array *k = product(c, gh, p), *kp = product(c, k, ph);
    first_term = adjoint(c, product(c, p, k));
    second = minus(c, kp, product(c, product(c, a, p), kp));
    third = product(c, product(c, ph, p), minus(c, gh, product(c, k, a)));
  } else {
    tt_array *k = product(c, p, gh), *pk = product(c, ph, k);
    first_term = adjoint(c, product(c, k, p));
    second = product(c, product(c, minus(c, gh, product(c, a, k)), p), ph);
    third = minus(c, pk, product(c, product(c, pk, p), a));
  }
  r->out[0] = minus(c, plus(c, second, third), first_term);
}
