/*
** Distributions whose numbers are drawn until one is accepted: gamma, Poisson and binomial by a library row over random
** words, and what follows from them.
*/
#include "graph/draw.h"

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
  tt_array *word = NULL;
  if (c->code != TT_OK || !tt__draw_bits(d, 1, &word)) return NULL;
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
