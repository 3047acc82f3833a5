/*
** Draws of whole vectors: shares, trials, colours, normal vectors.
*/
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/random/draw.h"
#include "fn/linalg/linalg.h"
#include "fn/linalg/matrix.h"

/* The axes asked for in argument `size`, none by default, and a last one of n. */
static bool vector_shape(tt_draw *d, int size, int64_t n) {
  int64_t len[TT_MAX_RANK];
  int rank = tt__arg_given(d->f, d->base + size) ? tt__arg_ints(d->c, d->f, d->base + size, len, TT_MAX_RANK - 1) : 0;
  len[rank] = n;
  return tt__draw_shape_fixed(d, rank + 1, len);
}

static tt_array *real_param(tt_draw *d, int k) {
  tt_array *a = tt__arg_array(d->c, d->f, d->base + k);
  if (a && tt__is_complex((tt_dtype)a->dtype))
    return tt__compose_fail(d->c, TT_ETYPE, "mean and cov must not be complex");
  return a ? tt__compose_cast(d->c, a, TT_F64) : NULL;
}

/* Gamma numbers over their sum, by their logarithms: those of small shapes are too small for themselves. */
static tt_array *dirichlet(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  tt_array *alpha = real_param(d, 0);
  if (!alpha) return NULL;
  tt_tag tag = f->arg[d->base].tag;
  if (tag != TT_V_ARRAY && tag != TT_V_TUPLE && alpha->rank == 0)
    return tt__compose_fail(c, TT_ETYPE, "object of type '%s' has no len()", tag == TT_V_FLOAT ? "float" : "int");
  if (alpha->rank != 1)
    return tt__compose_fail(
        c, TT_EVALUE,
        "setting an array element with a sequence. The requested array would exceed the maximum number "
        "of dimension of 1.");
  bool zero = d->base && !d->legacy; /* a Generator draws 0 for a share of 0 */
  if (tt__draw_any(d, tt__compose_opi(c, zero ? TT_LT : TT_LE, alpha, 0)))
    return tt__compose_fail(c, TT_EVALUE, zero ? "alpha < 0" : "alpha <= 0");
  if (!vector_shape(d, 1, alpha->size)) return NULL;
  if (d->size == 0) return tt__compose_empty(c, TT_F64, d->rank, d->len);
  if (d->bits) return tt__draw_exact_shares(d, alpha);
  tt_value v = tt_v_array(alpha);
  tt_array *more = tt__compose_opi(c, TT_ADD, alpha, 1),
           *u = tt__compose_opf(c, TT_ADD, tt__draw_uniform(d, TT_F64), 0x1p-54);
  tt_array *power = tt__compose_op1(c, TT_LOG, u);
  power = power ? tt__draw_op(d, TT_DIV, tt_v_array(power), v) : NULL;
  tt_array *x =
      more ? tt__compose_op2(c, TT_ADD,
                             tt__compose_op1(c, TT_LOG,
                                             tt__draw_rejected(d, TT_DRAW_GAMMA, TT_F64,
                                                               &(tt_value){.tag = TT_V_ARRAY, .as.array = more}, 1)),
                             power)
           : NULL;
  uint64_t last = UINT64_C(1) << (d->rank - 1);
  tt_array *most = x ? tt__compose_reduce(c, TT_RED_MAX, x, last, true) : NULL;
  tt_array *none = tt__compose_opf(c, TT_EQ, most, -INFINITY); /* all shares are 0 */
  most = none ? tt__compose_where(c, none, tt_v_float(0), tt_v_array(most)) : NULL;
  x = most ? tt__compose_op1(c, TT_EXP, tt__compose_op2(c, TT_SUB, x, most)) : NULL;
  tt_array *sum = x ? tt__compose_reduce(c, TT_RED_SUM, x, last, true) : NULL;
  sum = sum ? tt__compose_where(c, none, tt_v_float(1), tt_v_array(sum)) : NULL;
  return tt__compose_op2(c, TT_DIV, x, sum);
}
TT_DRAW(dirichlet, 2)

/* The chances of the outcomes [..., k], checked. */
static tt_array *chances(tt_draw *d) {
  tt_composer *c = d->c;
  tt_array *p = real_param(d, 1);
  if (!p) return NULL;
  int last = p->rank - 1;
  if (p->rank == 0 || tt__array_len(p)[last] == 0)
    return tt__compose_fail(
        c, TT_EVALUE, "pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.");
  tt_array *fine = tt__compose_op2(c, TT_AND, tt__compose_opi(c, TT_GE, p, 0), tt__compose_opi(c, TT_LE, p, 1));
  if (tt__draw_any(d, tt__compose_op1(c, TT_LNOT, fine)))
    return tt__compose_fail(c, TT_EVALUE, "pvals < 0, pvals > 1 or pvals contains NaNs");
  tt_array *most = tt__compose_slice(c, p, last, 0, tt__array_len(p)[last] - 1, 1);
  most = most ? tt__compose_reduce(c, TT_RED_SUM, most, UINT64_C(1) << last, false) : NULL;
  if (tt__draw_any(d, tt__compose_opf(c, TT_GT, most, 1 + 1e-12)))
    return tt__compose_fail(c, TT_EVALUE, last > 0 ? "sum(pvals[...,:-1]) > 1.0" : "sum(pvals[:-1]) > 1.0");
  return c->code == TT_OK ? p : NULL;
}

/* One outcome after the other: binomial among the trials that are left, by its share of the chance that is left. */
static tt_array *shared_out(tt_draw *d, tt_array *trials, tt_array *p) {
  tt_composer *c = d->c;
  int last = p->rank - 1;
  int64_t k = tt__array_len(p)[last];
  tt_array **part = tt__compose_scratch(c, k, sizeof *part),
           *rest = tt__compose_full(c, TT_F64, 0, NULL, tt_v_float(1));
  if (!part) return NULL;
  for (int64_t j = 0; j < k; j++) {
    tt_array *chance = tt__compose_reshape(c, tt__compose_slice(c, p, last, j, 1, 1), last, tt__array_len(p));
    tt_array *share = tt__compose_opf(c, TT_MINIMUM, tt__compose_op2(c, TT_DIV, chance, rest), 1);
    tt_array *some = tt__compose_opi(c, TT_GT, rest, 0);
    share = share && some ? tt__compose_where(c, some, tt_v_array(share), tt_v_float(0)) : NULL;
    if (!share || !trials) return NULL;
    tt_value v[2] = {tt_v_array(trials), tt_v_array(share)};
    part[j] = j < k - 1 ? tt__draw_rejected(d, TT_DRAW_BINOMIAL, TT_I64, v, 2)
                        : tt__compose_cast(c, tt__compose_broadcast(c, trials, d->rank, d->len), TT_I64);
    trials = tt__compose_op2(c, TT_SUB, trials, tt__compose_cast(c, part[j], TT_F64));
    rest = tt__compose_op2(c, TT_SUB, rest, chance);
    part[j] = part[j] ? tt__compose_expand(c, part[j], d->rank) : NULL;
    if (!part[j]) return NULL;
  }
  return tt__compose_concat(c, part, k, d->rank);
}

static tt_array *multinomial(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param = TT_PARAM_WHOLE("n", TT_RULE_NON_NEGATIVE);
  tt_composer *c = d->c;
  tt_array *p = chances(d);
  tt_value v[2];
  (void)f;
  if (!p || !tt__draw_read(d, &param, 1, v)) return NULL;
  int last = p->rank - 1;
  tt_array *trials = v[0].tag == TT_V_ARRAY ? v[0].as.array : tt__compose_full(c, TT_F64, 0, NULL, v[0]);
  /* the shape of the trials and the lines of chances, broadcast: any one outcome's chances have it */
  tt_array *one = tt__compose_reshape(c, tt__compose_slice(c, p, last, 0, 1, 1), last, tt__array_len(p));
  if (!trials || !one) return NULL;
  v[0] = tt_v_array(trials);
  v[1] = tt_v_array(one);
  tt__draw_shape(d, 2, v, 2);
  if (c->code != TT_OK || d->rank == TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "too many axes");
  return d->bits ? tt__draw_exact_trials(d, trials, p) : shared_out(d, trials, p);
}
TT_DRAW(multinomial, 3)

/* ---- multivariate hypergeometric */

/* The counts of the colours and their sum. */
static const int64_t *colors_of(tt_draw *d, int64_t *n, int64_t *total) {
  tt_composer *c = d->c;
  tt_array *a = tt__arg_array(c, d->f, d->base);
  bool fine = a && a->rank == 1 && (a->size == 0 || tt__is_int((tt_dtype)a->dtype));
  const int64_t *color = fine ? tt__compose_peek(c, tt__compose_cast(c, a, TT_I64)) : NULL;
  for (int64_t k = 0; color && k < a->size; k++) fine &= color[k] >= 0;
  if (c->code == TT_OK && !fine)
    tt__compose_fail(
        c, TT_EVALUE,
        "colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807.");
  *total = 0;
  for (int64_t k = 0; color && fine && k < a->size; k++)
    if (__builtin_add_overflow(*total, color[k], total)) {
      tt__compose_fail(
          c, TT_EVALUE,
          "sum(colors) must not exceed the maximum value of a 64 bit signed integer (9223372036854775807)");
      return NULL;
    }
  *n = a ? a->size : 0;
  return color;
}

/* Arguments: colors, nsample, size, method; NumPy's demands of the last two and of the sum. */
static bool sample_of(tt_draw *d, int64_t *sample, bool *by_count) {
  tt_composer *c = d->c;
  const char *method = tt__arg_string(c, d->f, d->base + 3, "marginals");
  const tt_value *v = d->base + 1 < d->f->narg ? &d->f->arg[d->base + 1] : NULL;
  *by_count = strcmp(method, "count") == 0;
  if (!*by_count && strcmp(method, "marginals") != 0)
    return tt__compose_fail(c, TT_EVALUE, "method must be \"count\" or \"marginals\".") != NULL;
  if (!v || v->tag == TT_V_FLOAT || v->tag == TT_V_NONE || v->tag == TT_V_TUPLE || v->tag == TT_V_STRING)
    return tt__compose_fail(c, TT_EVALUE, "nsample must be an integer") != NULL;
  *sample = tt__arg_int(c, d->f, d->base + 1, 0);
  if (c->code == TT_OK && *sample < 0) tt__compose_fail(c, TT_EVALUE, "nsample must be nonnegative.");
  return c->code == TT_OK;
}

/* One colour after the other, each against all that follow. */
static tt_array *colored(tt_draw *d, const int64_t *color, int64_t n, int64_t total, int64_t sample) {
  tt_composer *c = d->c;
  tt_array **part = tt__compose_scratch(c, n, sizeof *part);
  tt_array *left = tt__compose_full(c, TT_F64, d->rank, d->len, tt_v_float((double)sample));
  for (int64_t j = 0; part && left && j < n; j++) {
    total -= color[j];
    tt_value v[3] = {tt_v_float((double)color[j]), tt_v_float((double)total), tt_v_array(left)};
    part[j] =
        j < n - 1 ? tt__draw_rejected(d, TT_DRAW_HYPERGEOMETRIC, TT_I64, v, 3) : tt__compose_cast(c, left, TT_I64);
    left = tt__compose_op2(c, TT_SUB, left, tt__compose_cast(c, part[j], TT_F64));
    part[j] = part[j] ? tt__compose_expand(c, part[j], d->rank) : NULL;
    if (!part[j]) return NULL;
  }
  return part ? tt__compose_concat(c, part, n, d->rank) : NULL;
}

static tt_array *multivariate_hypergeometric(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  int64_t n = 0, total = 0, sample = 0;
  bool by_count;
  (void)f;
  if (!sample_of(d, &sample, &by_count)) return NULL;
  const int64_t *color = colors_of(d, &n, &total);
  if (c->code != TT_OK) return NULL;
  if (!by_count && total >= 1000000000)
    return tt__compose_fail(c, TT_EVALUE, "When method is \"marginals\", sum(colors) must be less than 1000000000.");
  if (by_count && total > INT64_MAX / 8)
    return tt__compose_fail(c, TT_EVALUE, "When method is 'count', sum(colors) must not exceed %lld",
                            (long long)(INT64_MAX / 8));
  if (sample > total) return tt__compose_fail(c, TT_EVALUE, "nsample > sum(colors)");
  if (!vector_shape(d, 2, n)) return NULL;
  if (d->size == 0) return tt__compose_empty(c, TT_I64, d->rank, d->len);
  if (d->bits) return tt__draw_exact_colors(d, color, n, total, sample, by_count);
  tt__draw_shape_fixed(d, d->rank - 1, d->len);
  return colored(d, color, n, total, sample);
}
TT_DRAW_ONE(random, multivariate_hypergeometric, TT_DRAW_PROCESS, -1)
TT_DRAW_ONE(generator, multivariate_hypergeometric, TT_DRAW_GENERATOR, -1)

/* ---- multivariate normal */

/* A matrix A with A^T A = cov: rows of normal numbers times A have that covariance. */
static tt_array *root_of(tt_draw *d, tt_array *cov, const char *method) {
  tt_composer *c = d->c;
  tt_value v[2] = {tt_v_array(cov)};
  if (strcmp(method, "cholesky") == 0) return tt__compose_swap(c, tt__fn_call(c, "linalg.cholesky", v, 1));
  tt_array *out[3];
  if (!tt__linalg_svd_of(c, cov, false, out)) return NULL;
  return tt__compose_op2(c, TT_MUL, tt__compose_expand(c, tt__compose_op1(c, TT_SQRT, out[1]), 1), out[2]);
}

static bool is_root(tt_draw *d, tt_array *root, tt_array *cov, double tol) {
  tt_composer *c = d->c;
  tt_array *off = tt__compose_op2(c, TT_SUB, tt__compose_matmul(c, tt__compose_swap(c, root), root), cov);
  tt_array *limit = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, tt__compose_op1(c, TT_ABS, cov), tol), tol);
  return !tt__draw_any(d,
                       tt__compose_op1(c, TT_LNOT, tt__compose_op2(c, TT_LE, tt__compose_op1(c, TT_ABS, off), limit)));
}

/* multivariate_normal(mean, cov, size, check_valid, tol, method) */
static tt_array *multivariate_normal(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  tt_array *mean = real_param(d, 0), *cov = real_param(d, 1);
  const char *check = tt__arg_string(c, f, d->base + 3, "warn"), *method = tt__arg_string(c, f, d->base + 5, "svd");
  double tol = tt__arg_float(c, f, d->base + 4, 1e-8);
  if (!mean || !cov || c->code != TT_OK) return NULL;
  if (strcmp(method, "svd") && strcmp(method, "eigh") && strcmp(method, "cholesky"))
    return tt__compose_fail(c, TT_EVALUE, "method must be one of {'eigh', 'svd', 'cholesky'}");
  if (mean->rank != 1) return tt__compose_fail(c, TT_EVALUE, "mean must be 1 dimensional");
  if (cov->rank != 2 || tt__array_len(cov)[0] != tt__array_len(cov)[1])
    return tt__compose_fail(c, TT_EVALUE, "cov must be 2 dimensional and square");
  if (mean->size != tt__array_len(cov)[0]) return tt__compose_fail(c, TT_EVALUE, "mean and cov must have same length");
  if (strcmp(check, "warn") && strcmp(check, "raise") && strcmp(check, "ignore"))
    return tt__compose_fail(c, TT_EVALUE, "check_valid must equal 'warn', 'raise', or 'ignore'");
  tt_array *root = root_of(d, cov, method);
  /* (a decomposition of Cholesky's would have failed) */
  if (root && strcmp(check, "ignore") != 0 && strcmp(method, "cholesky") != 0 && !is_root(d, root, cov, tol)) {
    const char *words = "covariance is not symmetric positive-semidefinite.";
    if (strcmp(check, "raise") == 0) return tt__compose_fail(c, TT_EVALUE, "%s", words);
    tt__warn(TT_WARN_RUNTIME, "%s", words);
  }
  if (!root || !vector_shape(d, 2, mean->size)) return NULL;
  tt_array *z = d->bits ? tt__draw_exact(d, TT_DIST_STANDARD_NORMAL, TT_F64, NULL, 0) : tt__draw_normal(d, TT_F64);
  return z ? tt__compose_op2(c, TT_ADD, tt__compose_matmul(c, z, root), mean) : NULL;
}
TT_DRAW(multivariate_normal, -1)
