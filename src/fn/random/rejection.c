/*
** Distributions whose numbers are drawn until one is accepted, by a library row over random words, and what follows
** from them.
*/
#include <math.h>

#include "fn/random/draw.h"

/* ---- the row */

tt_array *tt__draw_rejected(tt_draw *d, tt_draw_kind kind, tt_dtype type, const tt_value *p, int n) {
  tt_composer *c = d->c;
  tt_array *word = c->code == TT_OK ? tt__draw_bits(d) : NULL;
  if (!word) return NULL;
  tt_array *src[4] = {word, word, word, word}; /* what is a number is in the attributes; any operand stands for it */
  tt_lib_attr attr = {.row = tt__lib_row("draw"), .i = {kind, 7}};
  for (int k = 0; k < n; k++) {
    if (p[k].tag == TT_V_FLOAT) {
      attr.f[k] = p[k].as.f;
      continue;
    }
    attr.i[1] &= ~(1 << k);
    src[k + 1] = tt__compose_broadcast(c, p[k].as.array, d->rank, d->len);
  }
  if (c->code != TT_OK) return NULL;
  return tt__compose_library(c, &attr, src, 4, type, d->rank, d->len);
}

static tt_array *gamma_of(tt_draw *d, tt_value shape) { return tt__draw_rejected(d, TT_DRAW_GAMMA, TT_F64, &shape, 1); }

/* The logarithm of a gamma number, of one more shape times a power of a uniform number. */
static tt_array *log_gamma_of(tt_draw *d, tt_value shape) {
  tt_composer *c = d->c;
  tt_array *more = tt__draw_op(d, TT_ADD, shape, tt_v_float(1));
  tt_array *u = tt__compose_opf(c, TT_ADD, tt__draw_uniform(d, TT_F64), 0x1p-54),
           *power = tt__compose_op1(c, TT_LOG, u);
  power = power ? tt__draw_op(d, TT_DIV, tt_v_array(power), shape) : NULL;
  return more ? tt__compose_op2(c, TT_ADD, tt__compose_op1(c, TT_LOG, gamma_of(d, tt_v_array(more))), power) : NULL;
}

/* half of a parameter: a number stays one */
static tt_value halved(tt_draw *d, tt_value v) {
  if (v.tag == TT_V_FLOAT) return tt_v_float(v.as.f / 2);
  tt_array *a = tt__compose_opf(d->c, TT_MUL, v.as.array, 0.5);
  return a ? tt_v_array(a) : v;
}

static tt_array *times(tt_draw *d, tt_array *a, tt_value v) {
  return a ? tt__draw_op(d, TT_MUL, tt_v_array(a), v) : NULL;
}
static tt_array *over(tt_draw *d, tt_array *a, tt_value v) {
  return a ? tt__draw_op(d, TT_DIV, tt_v_array(a), v) : NULL;
}

/* ---- distributions */

static tt_array *gamma_scaled(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("shape", TT_RULE_NON_NEGATIVE),
                                        TT_PARAM_OR("scale", TT_RULE_NON_NEGATIVE, 1)};
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 2, p, TT_DIST_GAMMA, &out)) return out;
  return times(d, gamma_of(d, p[0]), p[1]);
}
TT_DRAW(gamma_scaled, 3)

/* x / (x + y) of two gamma numbers, by their logarithms: those of small shapes are too small for themselves. */
static tt_array *beta(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("a", TT_RULE_POSITIVE), TT_PARAM("b", TT_RULE_POSITIVE)};
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 2, p, TT_DIST_BETA, &out)) return out;
  tt_array *x = log_gamma_of(d, p[0]), *y = log_gamma_of(d, p[1]);
  tt_array *apart = tt__compose_op1(d->c, TT_EXP, tt__compose_op2(d->c, TT_SUB, y, x));
  return tt__compose_op1(d->c, TT_RECIPROCAL, tt__compose_opf(d->c, TT_ADD, apart, 1));
}
TT_DRAW(beta, 3)

static tt_array *chi_square(tt_draw *d, tt_value df) {
  return tt__compose_opf(d->c, TT_MUL, gamma_of(d, halved(d, df)), 2);
}

static tt_array *chisquare(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("df", TT_RULE_POSITIVE)};
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 1, p, TT_DIST_CHISQUARE, &out)) return out;
  return chi_square(d, p[0]);
}
TT_DRAW(chisquare, 2)

/* As many degrees of freedom more as twice a Poisson number says; NaN for NaN. */
static tt_array *noncentral(tt_draw *d, tt_value df, tt_value nonc) {
  tt_composer *c = d->c;
  tt_value half = halved(d, nonc);
  tt_array *more = c->code == TT_OK ? tt__draw_rejected(d, TT_DRAW_POISSON, TT_I64, &half, 1) : NULL;
  more = tt__compose_cast(c, more, TT_F64);
  half = halved(d, df);
  more = more && c->code == TT_OK ? tt__draw_op(d, TT_ADD, half, tt_v_array(more)) : NULL;
  tt_array *x = more ? tt__compose_opf(c, TT_MUL, gamma_of(d, tt_v_array(more)), 2) : NULL;
  tt_array *nan = tt__draw_op(d, TT_MUL, nonc, tt_v_float(0));
  return tt__compose_op2(c, TT_ADD, x, nan);
}

static tt_array *noncentral_chisquare(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("df", TT_RULE_POSITIVE), TT_PARAM("nonc", TT_RULE_NON_NEGATIVE)};
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 2, p, TT_DIST_NONCENTRAL_CHISQUARE, &out)) return out;
  return noncentral(d, p[0], p[1]);
}
TT_DRAW(noncentral_chisquare, 3)

/* A normal number over the root of a mean of squares. */
static tt_array *standard_t(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("df", TT_RULE_POSITIVE)};
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 1, p, TT_DIST_STANDARD_T, &out)) return out;
  tt_array *z = tt__draw_normal(d, TT_F64), *mean = over(d, chi_square(d, p[0]), p[0]);
  return tt__compose_op2(d->c, TT_DIV, z, tt__compose_op1(d->c, TT_SQRT, mean));
}
TT_DRAW(standard_t, 2)

static tt_array *f_ratio(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("dfnum", TT_RULE_POSITIVE), TT_PARAM("dfden", TT_RULE_POSITIVE)};
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 2, p, TT_DIST_F, &out)) return out;
  tt_array *x = over(d, chi_square(d, p[0]), p[0]), *y = over(d, chi_square(d, p[1]), p[1]);
  return tt__compose_op2(d->c, TT_DIV, x, y);
}
TT_DRAW(f_ratio, 3)

static tt_array *noncentral_f(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("dfnum", TT_RULE_POSITIVE), TT_PARAM("dfden", TT_RULE_POSITIVE),
                                        TT_PARAM("nonc", TT_RULE_NON_NEGATIVE)};
  tt_value p[3];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 3, p, TT_DIST_NONCENTRAL_F, &out)) return out;
  tt_array *x = over(d, noncentral(d, p[0], p[2]), p[0]), *y = over(d, chi_square(d, p[1]), p[1]);
  return tt__compose_op2(d->c, TT_DIV, x, y);
}
TT_DRAW(noncentral_f, 4)

static tt_array *vonmises(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("mu", TT_RULE_NONE), TT_PARAM("kappa", TT_RULE_NON_NEGATIVE)};
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 2, p, TT_DIST_VONMISES, &out)) return out;
  return tt__draw_rejected(d, TT_DRAW_VONMISES, TT_F64, p, 2);
}
TT_DRAW(vonmises, 3)

/* ---- counts */

static tt_array *poisson(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM_OR("lam", TT_RULE_RATE, 1)};
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 1, p, TT_DIST_POISSON, &out)) return out;
  return tt__draw_rejected(d, TT_DRAW_POISSON, TT_I64, p, 1);
}
TT_DRAW(poisson, 2)

static tt_array *zipf(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("a", TT_RULE_ABOVE_ONE)};
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 1, p, TT_DIST_ZIPF, &out)) return out;
  return tt__draw_rejected(d, TT_DRAW_ZIPF, TT_I64, p, 1);
}
TT_DRAW(zipf, 2)

static tt_array *binomial(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM_WHOLE("n", TT_RULE_NON_NEGATIVE), TT_PARAM("p", TT_RULE_CHANCE)};
  tt_value p[2];
  if (!tt__draw_read(d, param, 2, p)) return NULL;
  f->scalar = tt__draw_shape(d, 2, (tt_value[2]){p[1], p[0]}, 2); /* NumPy names p first where they do not fit */
  if (d->c->code != TT_OK) return NULL;
  return d->bits ? tt__draw_exact(d, TT_DIST_BINOMIAL, TT_I64, p, 2)
                 : tt__draw_rejected(d, TT_DRAW_BINOMIAL, TT_I64, p, 2);
}
TT_DRAW(binomial, 3)

/* (1 - p) / p */
static bool odds_of(tt_draw *d, tt_value p, tt_value *odds) {
  if (p.tag == TT_V_FLOAT) {
    *odds = tt_v_float((1 - p.as.f) / p.as.f);
    return true;
  }
  tt_array *rest = over(d, tt__draw_op(d, TT_SUB, tt_v_float(1), p), p);
  if (rest) *odds = tt_v_array(rest);
  return rest != NULL;
}

/* Would the rate of the Poisson numbers be too large, ten standard deviations above its mean? */
static bool rate_is_too_large(tt_draw *d, tt_value n, tt_value odds) {
  if (n.tag == TT_V_FLOAT && odds.tag == TT_V_FLOAT)
    return odds.as.f * (n.as.f + 10 * sqrt(n.as.f)) > 9.2233720064847708e18;
  tt_array *more = tt__draw_op(d, TT_SQRT, n, n);
  more = tt__compose_opf(d->c, TT_MUL, more, 10);
  more = more ? tt__draw_op(d, TT_ADD, n, tt_v_array(more)) : NULL;
  tt_array *rate = more ? tt__draw_op(d, TT_MUL, odds, tt_v_array(more)) : NULL;
  return tt__draw_any(d, tt__compose_opf(d->c, TT_GT, rate, 9.2233720064847708e18));
}

/* Poisson with a rate that is gamma distributed. */
static tt_array *negative_binomial(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param modern[] = {TT_PARAM("n", TT_RULE_POSITIVE_NOT_NAN),
                                         TT_PARAM("p", TT_RULE_CHANCE_POSITIVE)};
  static const tt_draw_param old[] = {TT_PARAM("n", TT_RULE_POSITIVE), TT_PARAM("p", TT_RULE_CHANCE)};
  tt_value p[2], odds;
  if (!tt__draw_read(d, d->legacy ? old : modern, 2, p)) return NULL;
  if (!d->legacy && (!odds_of(d, p[1], &odds) || rate_is_too_large(d, p[0], odds)))
    return tt__compose_fail(d->c, TT_EVALUE, "n too large or p too small, see Generator.negative_binomial Notes");
  f->scalar = tt__draw_shape(d, 2, p, 2);
  if (d->c->code != TT_OK) return NULL;
  if (d->bits) return tt__draw_exact(d, TT_DIST_NEGATIVE_BINOMIAL, TT_I64, p, 2);
  tt_array *rate = times(d, gamma_of(d, p[0]), odds);
  tt_value lam = tt_v_array(rate);
  return rate ? tt__draw_rejected(d, TT_DRAW_POISSON, TT_I64, &lam, 1) : NULL;
}
TT_DRAW(negative_binomial, 3)

/* Is an urn too large, or emptier than what is drawn? */
static bool urn_is_amiss(tt_draw *d, const tt_value *p) {
  tt_composer *c = d->c;
  for (int k = 0; k < 2 && !d->legacy && c->code == TT_OK; k++)
    if (p[k].tag == TT_V_FLOAT ? p[k].as.f >= 1e9 : tt__draw_any(d, tt__compose_opf(c, TT_GE, p[k].as.array, 1e9)))
      tt__compose_fail(c, TT_EVALUE, "both ngood and nbad must be less than 1000000000");
  tt_array *all = tt__draw_op(d, TT_ADD, p[0], p[1]);
  tt_array *few = all ? tt__draw_op(d, TT_LT, tt_v_array(all), p[2]) : NULL;
  if (few && tt__draw_any(d, few)) tt__compose_fail(c, TT_EVALUE, "ngood + nbad < nsample");
  return c->code != TT_OK;
}

static tt_array *hypergeometric(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param plain[] = {TT_PARAM_WHOLE("ngood", TT_RULE_NONE), TT_PARAM_WHOLE("nbad", TT_RULE_NONE),
                                        TT_PARAM_WHOLE("nsample", TT_RULE_NONE)};
  tt_draw_param param[] = {TT_PARAM_WHOLE("ngood", TT_RULE_NON_NEGATIVE), TT_PARAM_WHOLE("nbad", TT_RULE_NON_NEGATIVE),
                           TT_PARAM_WHOLE("nsample", TT_RULE_NON_NEGATIVE)};
  tt_value p[3];
  if (d->legacy || !d->base) param[2].rule = TT_RULE_ONE_OR_MORE;
  if (!tt__draw_read(d, plain, 3, p) || urn_is_amiss(d, p)) return NULL;
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 3, p, TT_DIST_HYPERGEOMETRIC, &out)) return out;
  return tt__draw_rejected(d, TT_DRAW_HYPERGEOMETRIC, TT_I64, p, 3);
}
TT_DRAW(hypergeometric, 4)
