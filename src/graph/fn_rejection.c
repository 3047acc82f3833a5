/*
** Distributions whose numbers are drawn until one is accepted: gamma, Poisson and binomial by a library row over random
** words, and what follows from them; draws of whole vectors.
*/
#include <string.h>

#include "graph/draw.h"
#include "graph/linalg.h"
#include "graph/matrix.h"

enum { GAMMA, POISSON, BINOMIAL }; /* as the row "draw" has it */

/* ---- parameters */

/* Is `op(v, than)` untrue anywhere? NaN makes every comparison untrue. */
static bool is_amiss(tt_draw *d, tt_op op, tt_value v, double than) {
  tt_calc *c = d->c;
  if (c->code != TT_OK) return false;
  if (v.tag == TT_V_FLOAT) return !(op == TT_GE ? v.as.f >= than : op == TT_GT ? v.as.f > than : v.as.f <= than);
  tt_array *bad = tt__calc_op1(c, TT_LNOT, tt__calc_opf(c, op, v.as.array, than));
  uint64_t axes = bad && bad->rank ? ~UINT64_C(0) >> (64 - bad->rank) : 0;
  const uint8_t *found = tt__calc_peek(c, axes ? tt__calc_reduce(c, TT_RED_ANY, bad, axes, false) : bad);
  return found && *found;
}

static void demand(tt_draw *d, tt_op op, tt_value v, double than, const char *words) {
  if (is_amiss(d, op, v, than)) tt__calc_fail(d->c, TT_EVALUE, "%s", words);
}

/* How a generator words it for one number, and everything else for many. */
static const char *nan_words(const tt_draw *d, tt_value v) {
  return v.tag == TT_V_FLOAT && d->base ? "is NaN" : "contains NaNs";
}

static void demand_chance(tt_draw *d, tt_value p) {
  if (is_amiss(d, TT_GE, p, 0) || is_amiss(d, TT_LE, p, 1))
    tt__calc_fail(d->c, TT_EVALUE, "p < 0, p > 1 or p %s", nan_words(d, p));
}

/* n parameters and the shape of the draw. */
static void params(tt_draw *d, tt_call_frame *f, int n, tt_value *p) {
  static const double fallback[2] = {1, 1};
  for (int k = 0; k < n; k++) p[k] = tt__draw_param(d, k, fallback[k]);
  f->scalar = tt__draw_shape(d, n, p, n);
}

/* ---- the row */

static tt_array *drawn(tt_draw *d, int what, tt_dtype type, const tt_value *p, int n) {
  tt_calc *c = d->c;
  tt_array *word = c->code == TT_OK ? tt__draw_bits(d) : NULL;
  if (!word) return NULL;
  tt_array *src[3] = {word, word, word}; /* what is a number is in the attributes; any operand stands in its place */
  tt_lib_attr attr = {.row = tt__lib_row("draw"), .i = {what, 3}};
  for (int k = 0; k < n; k++) {
    if (p[k].tag == TT_V_FLOAT) {
      attr.f[k] = p[k].as.f;
      continue;
    }
    attr.i[1] &= ~(1 << k);
    src[k + 1] = tt__calc_broadcast(c, p[k].as.array, d->rank, d->len);
  }
  if (c->code != TT_OK) return NULL;
  return tt__calc_library(c, &attr, src, 3, type, d->rank, d->len);
}

static tt_array *gamma_of(tt_draw *d, tt_value shape) { return drawn(d, GAMMA, TT_F64, &shape, 1); }

/* half of a parameter: a number stays one */
static tt_value halved(tt_draw *d, tt_value v) {
  if (v.tag == TT_V_FLOAT) return tt_v_float(v.as.f / 2);
  tt_array *a = tt__calc_opf(d->c, TT_MUL, v.as.array, 0.5);
  return a ? tt_v_array(a) : v;
}

static tt_array *times(tt_draw *d, tt_array *a, tt_value v) {
  return a ? tt__draw_op(d, TT_MUL, tt_v_array(a), v) : NULL;
}
static tt_array *over(tt_draw *d, tt_array *a, tt_value v) {
  return a ? tt__draw_op(d, TT_DIV, tt_v_array(a), v) : NULL;
}

/* ---- distributions */

static tt_array *standard_gamma(tt_draw *d, tt_call_frame *f) {
  tt_value p[1];
  params(d, f, 1, p);
  demand(d, TT_GE, p[0], 0, "shape < 0");
  return gamma_of(d, p[0]);
}
TT_DRAW(standard_gamma)

static tt_array *gamma_scaled(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  params(d, f, 2, p);
  demand(d, TT_GE, p[0], 0, "shape < 0");
  demand(d, TT_GE, p[1], 0, "scale < 0");
  return times(d, gamma_of(d, p[0]), p[1]);
}
TT_DRAW(gamma_scaled)

/* x / (x + y) of two gamma numbers */
static tt_array *beta(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  params(d, f, 2, p);
  demand(d, TT_GT, p[0], 0, "a <= 0");
  demand(d, TT_GT, p[1], 0, "b <= 0");
  tt_array *x = gamma_of(d, p[0]), *y = gamma_of(d, p[1]);
  return tt__calc_op2(d->c, TT_DIV, x, tt__calc_op2(d->c, TT_ADD, x, y));
}
TT_DRAW(beta)

static tt_array *chi_square(tt_draw *d, tt_value df) {
  return tt__calc_opf(d->c, TT_MUL, gamma_of(d, halved(d, df)), 2);
}

static tt_array *chisquare(tt_draw *d, tt_call_frame *f) {
  tt_value p[1];
  params(d, f, 1, p);
  demand(d, TT_GT, p[0], 0, "df <= 0");
  return chi_square(d, p[0]);
}
TT_DRAW(chisquare)

/* A normal number over the root of a mean of squares. */
static tt_array *standard_t(tt_draw *d, tt_call_frame *f) {
  tt_value p[1];
  params(d, f, 1, p);
  demand(d, TT_GT, p[0], 0, "df <= 0");
  tt_array *z = tt__draw_normal(d, TT_F64), *mean = over(d, chi_square(d, p[0]), p[0]);
  return tt__calc_op2(d->c, TT_DIV, z, tt__calc_op1(d->c, TT_SQRT, mean));
}
TT_DRAW(standard_t)

static tt_array *f_ratio(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  params(d, f, 2, p);
  demand(d, TT_GT, p[0], 0, "dfnum <= 0");
  demand(d, TT_GT, p[1], 0, "dfden <= 0");
  tt_array *x = over(d, chi_square(d, p[0]), p[0]), *y = over(d, chi_square(d, p[1]), p[1]);
  return tt__calc_op2(d->c, TT_DIV, x, y);
}
TT_DRAW(f_ratio)

static tt_array *poisson(tt_draw *d, tt_call_frame *f) {
  const double most = 9.2233720064847708e18; /* so that no count is beyond int64 */
  tt_value p[1];
  params(d, f, 1, p);
  if (p[0].tag != TT_V_FLOAT) demand(d, TT_LE, p[0], most, "lam value too large"); /* NumPy's order for arrays */
  if (is_amiss(d, TT_GE, p[0], 0)) return tt__calc_fail(d->c, TT_EVALUE, "lam < 0 or lam %s", nan_words(d, p[0]));
  demand(d, TT_LE, p[0], most, "lam value too large");
  return drawn(d, POISSON, TT_I64, p, 1);
}
TT_DRAW(poisson)

static tt_array *binomial(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  params(d, f, 2, p);
  demand(d, TT_GE, p[0], 0, "n < 0");
  demand_chance(d, p[1]);
  return drawn(d, BINOMIAL, TT_I64, p, 2);
}
TT_DRAW(binomial)

/* Poisson with a rate that is gamma distributed. */
static tt_array *negative_binomial(tt_draw *d, tt_call_frame *f) {
  tt_value p[2], odds;
  params(d, f, 2, p);
  demand(d, TT_GT, p[0], 0, "n <= 0");
  if (is_amiss(d, TT_GT, p[1], 0) || is_amiss(d, TT_LE, p[1], 1))
    return tt__calc_fail(d->c, TT_EVALUE, "p <= 0, p > 1 or p contains NaNs");
  tt_array *rest = p[1].tag == TT_V_FLOAT ? NULL : tt__draw_op(d, TT_SUB, tt_v_float(1), p[1]);
  rest = over(d, rest, p[1]);
  if (p[1].tag == TT_V_FLOAT)
    odds = tt_v_float((1 - p[1].as.f) / p[1].as.f);
  else if (rest)
    odds = tt_v_array(rest);
  else
    return NULL;
  tt_array *rate = times(d, gamma_of(d, p[0]), odds);
  tt_value lam = tt_v_array(rate);
  return rate ? drawn(d, POISSON, TT_I64, &lam, 1) : NULL;
}
TT_DRAW(negative_binomial)

/* ---- whole vectors at once */

/* The axes asked for in argument `size`, none by default, and a last one of n. */
static bool vector_shape(tt_draw *d, int size, int64_t n) {
  int64_t len[TT_MAX_RANK];
  int rank = tt__arg_given(d->f, d->base + size) ? tt__arg_ints(d->c, d->f, d->base + size, len, TT_MAX_RANK - 1) : 0;
  len[rank] = n;
  return tt__draw_shape_fixed(d, rank + 1, len);
}

static tt_array *real_param(tt_draw *d, int k) {
  tt_array *a = tt__arg_array(d->c, d->f, d->base + k);
  if (a && tt__is_complex((tt_dtype)a->dtype)) return tt__calc_fail(d->c, TT_ETYPE, "a parameter must be real");
  return a ? tt__calc_cast(d->c, a, TT_F64) : NULL;
}

/* Gamma numbers over their sum, by their logarithms: those of small shapes are too small for themselves. */
static tt_array *dirichlet(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_array *alpha = real_param(d, 0);
  (void)f;
  if (!alpha) return NULL;
  if (alpha->rank != 1) return tt__calc_fail(c, TT_EVALUE, "alpha must be 1 dimensional");
  tt_value v = tt_v_array(alpha);
  tt_array *bad = d->base ? tt__calc_opi(c, TT_LT, alpha, 0) : tt__calc_opi(c, TT_LE, alpha, 0);
  const uint8_t *found = tt__calc_peek(c, bad ? tt__calc_reduce(c, TT_RED_ANY, bad, 1, false) : NULL);
  if (found && *found) return tt__calc_fail(c, TT_EVALUE, d->base ? "alpha < 0" : "alpha <= 0");
  if (!found || !vector_shape(d, 1, alpha->size)) return NULL;
  if (d->size == 0) return tt__calc_empty(c, TT_F64, d->rank, d->len);
  tt_array *more = tt__calc_opi(c, TT_ADD, alpha, 1),
           *u = tt__calc_opf(c, TT_ADD, tt__draw_uniform(d, TT_F64), 0x1p-54);
  tt_array *power = tt__calc_op1(c, TT_LOG, u);
  power = power ? tt__draw_op(d, TT_DIV, tt_v_array(power), v) : NULL;
  tt_array *x = more ? tt__calc_op2(c, TT_ADD, tt__calc_op1(c, TT_LOG, gamma_of(d, tt_v_array(more))), power) : NULL;
  uint64_t last = UINT64_C(1) << (d->rank - 1);
  tt_array *most = x ? tt__calc_reduce(c, TT_RED_MAX, x, last, true) : NULL;
  x = most ? tt__calc_op1(c, TT_EXP, tt__calc_op2(c, TT_SUB, x, most)) : NULL;
  return x ? tt__calc_op2(c, TT_DIV, x, tt__calc_reduce(c, TT_RED_SUM, x, last, true)) : NULL;
}
TT_DRAW(dirichlet)

static bool any_in(tt_draw *d, tt_array *bad) {
  uint64_t axes = bad && bad->rank ? ~UINT64_C(0) >> (64 - bad->rank) : 0;
  const uint8_t *found = tt__calc_peek(d->c, axes ? tt__calc_reduce(d->c, TT_RED_ANY, bad, axes, false) : bad);
  return found && *found;
}

/* The chances of the outcomes [..., k], checked. */
static tt_array *chances(tt_draw *d) {
  tt_calc *c = d->c;
  tt_array *p = real_param(d, 1);
  if (!p) return NULL;
  int last = p->rank - 1;
  if (p->rank == 0 || tt__array_len(p)[last] == 0)
    return tt__calc_fail(
        c, TT_EVALUE, "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.");
  tt_array *fine = tt__calc_op2(c, TT_AND, tt__calc_opi(c, TT_GE, p, 0), tt__calc_opi(c, TT_LE, p, 1));
  if (any_in(d, tt__calc_op1(c, TT_LNOT, fine)))
    return tt__calc_fail(c, TT_EVALUE, "pvals < 0, pvals > 1 or pvals contains NaNs");
  tt_array *most = tt__calc_slice(c, p, last, 0, tt__array_len(p)[last] - 1, 1);
  most = most ? tt__calc_reduce(c, TT_RED_SUM, most, UINT64_C(1) << last, false) : NULL;
  if (any_in(d, tt__calc_opf(c, TT_GT, most, 1 + 1e-12))) return tt__calc_fail(c, TT_EVALUE, "sum(pvals[:-1]) > 1.0");
  return c->code == TT_OK ? p : NULL;
}

/* One outcome after the other: binomial among the trials that are left, by its share of the chance that is left. */
static tt_array *multinomial(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_array *p = chances(d), *rest = NULL;
  tt_value v[2] = {tt__draw_param(d, 0, 0), tt_v_int(0)};
  (void)f;
  demand(d, TT_GE, v[0], 0, "n < 0");
  if (!p || c->code != TT_OK) return NULL;
  int last = p->rank - 1;
  int64_t k = tt__array_len(p)[last];
  tt_array **part = tt__calc_scratch(c, k, sizeof *part), *trials;
  trials = v[0].tag == TT_V_ARRAY ? v[0].as.array : tt__calc_full(c, TT_F64, 0, NULL, v[0]);
  trials = tt__calc_op1(c, TT_TRUNC, trials);
  for (int64_t j = 0; j < k && part && trials; j++) {
    tt_array *chance = tt__calc_reshape(c, tt__calc_slice(c, p, last, j, 1, 1), last, tt__array_len(p));
    v[0] = tt_v_array(trials);
    v[1] = tt_v_array(chance);
    if (!chance) return NULL;
    if (j == 0) {
      tt__draw_shape(d, 2, v, 2);
      rest = tt__calc_full(c, TT_F64, 0, NULL, tt_v_float(1));
    }
    tt_array *share = tt__calc_opf(c, TT_MINIMUM, tt__calc_op2(c, TT_DIV, chance, rest), 1);
    tt_array *some = tt__calc_opi(c, TT_GT, rest, 0);
    share = share && some ? tt__calc_where(c, some, tt_v_array(share), tt_v_float(0)) : NULL;
    v[1] = tt_v_array(share);
    part[j] = j < k - 1 && share ? drawn(d, BINOMIAL, TT_I64, v, 2)
                                 : tt__calc_cast(c, tt__calc_broadcast(c, trials, d->rank, d->len), TT_I64);
    trials = tt__calc_op2(c, TT_SUB, trials, tt__calc_cast(c, part[j], TT_F64));
    rest = tt__calc_op2(c, TT_SUB, rest, chance);
    part[j] = part[j] ? tt__calc_expand(c, part[j], d->rank) : NULL;
    if (!part[j]) return NULL;
  }
  return part && trials ? tt__calc_concat(c, part, k, d->rank) : NULL;
}
TT_DRAW(multinomial)

/* A matrix A with A^T A = cov: rows of normal numbers times A have that covariance. */
static tt_array *root_of(tt_draw *d, tt_array *cov, const char *method) {
  tt_calc *c = d->c;
  tt_value v[2] = {tt_v_array(cov)};
  if (strcmp(method, "cholesky") == 0) return tt__calc_swap(c, tt__fn_call(c, "linalg.cholesky", v, 1));
  tt_array *out[3];
  if (!tt__linalg_svd_of(c, cov, false, out)) return NULL;
  return tt__calc_op2(c, TT_MUL, tt__calc_expand(c, tt__calc_op1(c, TT_SQRT, out[1]), 1), out[2]);
}

static bool is_root(tt_draw *d, tt_array *root, tt_array *cov, double tol) {
  tt_calc *c = d->c;
  tt_array *off = tt__calc_op2(c, TT_SUB, tt__calc_matmul(c, tt__calc_swap(c, root), root), cov);
  tt_array *limit = tt__calc_opf(c, TT_ADD, tt__calc_opf(c, TT_MUL, tt__calc_op1(c, TT_ABS, cov), tol), tol);
  return !any_in(d, tt__calc_op1(c, TT_LNOT, tt__calc_op2(c, TT_LE, tt__calc_op1(c, TT_ABS, off), limit)));
}

/* multivariate_normal(mean, cov, size, check_valid, tol, method) */
static tt_array *multivariate_normal(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_array *mean = real_param(d, 0), *cov = real_param(d, 1);
  const char *check = tt__arg_string(c, f, d->base + 3, "warn"), *method = tt__arg_string(c, f, d->base + 5, "svd");
  double tol = tt__arg_float(c, f, d->base + 4, 1e-8);
  if (!mean || !cov || c->code != TT_OK) return NULL;
  if (strcmp(method, "svd") && strcmp(method, "eigh") && strcmp(method, "cholesky"))
    return tt__calc_fail(c, TT_EVALUE, "method must be one of {'eigh', 'svd', 'cholesky'}");
  if (mean->rank != 1) return tt__calc_fail(c, TT_EVALUE, "mean must be 1 dimensional");
  if (cov->rank != 2 || tt__array_len(cov)[0] != tt__array_len(cov)[1])
    return tt__calc_fail(c, TT_EVALUE, "cov must be 2 dimensional and square");
  if (mean->size != tt__array_len(cov)[0]) return tt__calc_fail(c, TT_EVALUE, "mean and cov must have same length");
  if (strcmp(check, "warn") && strcmp(check, "raise") && strcmp(check, "ignore"))
    return tt__calc_fail(c, TT_EVALUE, "check_valid must equal 'warn', 'raise', or 'ignore'");
  tt_array *root = root_of(d, cov, method);
  if (root && strcmp(check, "raise") == 0 && !is_root(d, root, cov, tol))
    return tt__calc_fail(c, TT_EVALUE, "covariance is not symmetric positive-semidefinite.");
  if (!root || !vector_shape(d, 2, mean->size)) return NULL;
  tt_array *z = tt__draw_normal(d, TT_F64);
  return z ? tt__calc_op2(c, TT_ADD, tt__calc_matmul(c, z, root), mean) : NULL;
}
TT_DRAW(multivariate_normal)
