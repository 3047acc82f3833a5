/*
** Distributions out of a uniform or normal draw, elementwise: parameters broadcast, everything fuses.
*/
#include <math.h>

#include "fn/random/draw.h"

static tt_value value(tt_array *a) { return a ? tt_v_array(a) : tt_v_int(0); }

/* a + b * x */
static tt_array *moved(tt_draw *d, tt_value a, tt_value b, tt_array *x) {
  tt_array *s = x ? tt__draw_op(d, TT_MUL, tt_v_array(x), b) : NULL;
  return s ? tt__draw_op(d, TT_ADD, a, tt_v_array(s)) : NULL;
}

/* -log(1 - u): a standard exponential. */
static tt_array *exponential_of(tt_draw *d) {
  tt_composer *c = d->c;
  tt_array *u = tt__draw_uniform(d, d->real);
  return tt__compose_op1(c, TT_NEG, tt__compose_op1(c, TT_LOG1P, tt__compose_op1(c, TT_NEG, u)));
}

/* ---- low and high, loc and scale */

static tt_array *uniform(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM_OR("low", TT_RULE_NONE, 0), TT_PARAM_OR("high", TT_RULE_NONE, 1)};
  tt_composer *c = d->c;
  tt_value p[2], range;
  if (!tt__draw_read(d, param, 2, p)) return NULL;
  if (p[0].tag == TT_V_FLOAT && p[1].tag == TT_V_FLOAT) {
    range = tt_v_float(p[1].as.f - p[0].as.f);
    if (!isfinite(range.as.f))
      return tt__compose_fail(
          c, TT_EOVERFLOW, "%s",
          d->base && !d->legacy ? "high - low range exceeds valid bounds" : "Range exceeds valid bounds");
    if (d->base && !d->legacy && signbit(range.as.f)) return tt__compose_fail(c, TT_EVALUE, "high - low < 0");
  } else {
    range = value(tt__draw_op(d, TT_SUB, p[1], p[0]));
    if (c->code != TT_OK) return NULL;
    tt_array *fine = tt__compose_op1(c, TT_ISFINITE, range.as.array);
    if (tt__draw_any(d, tt__compose_op1(c, TT_LNOT, fine)))
      return tt__compose_fail(c, TT_EOVERFLOW, "Range exceeds valid bounds");
    if (d->base && !d->legacy && tt__draw_any(d, tt__compose_op1(c, TT_SIGNBIT, range.as.array)))
      return tt__compose_fail(c, TT_EVALUE, "high - low < 0");
  }
  p[1] = range;
  f->scalar = tt__draw_shape(d, 2, p, 2);
  if (c->code != TT_OK) return NULL;
  if (d->bits) return tt__draw_exact(d, TT_DIST_UNIFORM, TT_F64, p, 2);
  return moved(d, p[0], range, tt__draw_uniform(d, d->real));
}
TT_DRAW(uniform, 3)

static const tt_draw_param loc_scale[] = {TT_PARAM_OR("loc", TT_RULE_NONE, 0),
                                          TT_PARAM_OR("scale", TT_RULE_NON_NEGATIVE, 1)};
static const tt_draw_param scale_alone[] = {TT_PARAM_OR("scale", TT_RULE_NON_NEGATIVE, 1)};

static tt_array *normal(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, loc_scale, 2, p, TT_DIST_NORMAL, &out)) return out;
  return moved(d, p[0], p[1], tt__draw_normal(d, d->real));
}
TT_DRAW(normal, 3)

static tt_array *lognormal(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM_OR("mean", TT_RULE_NONE, 0),
                                        TT_PARAM_OR("sigma", TT_RULE_NON_NEGATIVE, 1)};
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 2, p, TT_DIST_LOGNORMAL, &out)) return out;
  return tt__compose_op1(d->c, TT_EXP, moved(d, p[0], p[1], tt__draw_normal(d, d->real)));
}
TT_DRAW(lognormal, 3)

static tt_array *exponential(tt_draw *d, tt_call_frame *f) {
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, scale_alone, 1, p, TT_DIST_EXPONENTIAL, &out)) return out;
  tt_array *e = exponential_of(d);
  return e ? tt__draw_op(d, TT_MUL, tt_v_array(e), p[0]) : NULL;
}
TT_DRAW(exponential, 2)

/* x = loc - scale * log(-log(u)) with u in (0, 1) */
static tt_array *gumbel(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, loc_scale, 2, p, TT_DIST_GUMBEL, &out)) return out;
  tt_composer *c = d->c;
  d->real = TT_F64;
  return moved(d, p[0], p[1], tt__compose_op1(c, TT_NEG, tt__compose_op1(c, TT_LOG, exponential_of(d))));
}
TT_DRAW(gumbel, 3)

/* A uniform in the open interval (0, 1). */
static tt_array *open_uniform(tt_draw *d) {
  return tt__compose_opf(d->c, TT_ADD, tt__draw_uniform(d, TT_F64), 0x1p-54);
}

static tt_array *laplace(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, loc_scale, 2, p, TT_DIST_LAPLACE, &out)) return out;
  tt_composer *c = d->c;
  tt_array *u = open_uniform(d), *low = tt__compose_op1(c, TT_LOG, tt__compose_opf(c, TT_MUL, u, 2));
  tt_array *rest = u ? tt__draw_op(d, TT_SUB, tt_v_int(1), tt_v_array(u)) : NULL;
  tt_array *high = tt__compose_op1(c, TT_NEG, tt__compose_op1(c, TT_LOG, tt__compose_opf(c, TT_MUL, rest, 2)));
  if (!low || !high) return NULL;
  return moved(d, p[0], p[1],
               tt__compose_where(c, tt__compose_opf(c, TT_LT, u, 0.5), tt_v_array(low), tt_v_array(high)));
}
TT_DRAW(laplace, 3)

/* log(u / (1 - u)) */
static tt_array *logistic(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, loc_scale, 2, p, TT_DIST_LOGISTIC, &out)) return out;
  tt_composer *c = d->c;
  tt_array *u = open_uniform(d);
  tt_array *rest = u ? tt__draw_op(d, TT_SUB, tt_v_int(1), tt_v_array(u)) : NULL;
  return moved(d, p[0], p[1], tt__compose_op1(c, TT_LOG, tt__compose_op2(c, TT_DIV, u, rest)));
}
TT_DRAW(logistic, 3)

static tt_array *standard_cauchy(tt_draw *d, tt_call_frame *f) {
  tt_array *out;
  if (!tt__draw_begin(d, f, NULL, 0, NULL, TT_DIST_STANDARD_CAUCHY, &out)) return out;
  tt_array *u = tt__compose_opf(d->c, TT_SUB, open_uniform(d), 0.5);
  return tt__compose_op1(d->c, TT_TAN, tt__compose_opf(d->c, TT_MUL, u, M_PI));
}
TT_DRAW(standard_cauchy, 1)

static tt_array *rayleigh(tt_draw *d, tt_call_frame *f) {
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, scale_alone, 1, p, TT_DIST_RAYLEIGH, &out)) return out;
  tt_array *r = tt__compose_op1(d->c, TT_SQRT, tt__compose_opf(d->c, TT_MUL, exponential_of(d), 2));
  return r ? tt__draw_op(d, TT_MUL, tt_v_array(r), p[0]) : NULL;
}
TT_DRAW(rayleigh, 2)

/* ---- a shape */

static const tt_draw_param positive_a[] = {TT_PARAM("a", TT_RULE_POSITIVE)};

/* e^(1/a) */
static tt_array *weibull(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("a", TT_RULE_NON_NEGATIVE)};
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 1, p, TT_DIST_WEIBULL, &out)) return out;
  tt_composer *c = d->c;
  tt_array *zero = tt__draw_op(d, TT_EQ, p[0], tt_v_float(0)), *root = tt__draw_op(d, TT_DIV, tt_v_float(1), p[0]);
  tt_array *x = tt__compose_op2(c, TT_POW, exponential_of(d), root);
  return x && zero ? tt__compose_where(c, zero, tt_v_float(0), tt_v_array(x)) : NULL;
}
TT_DRAW(weibull, 2)

/* exp(e / a) - 1 */
static tt_array *pareto(tt_draw *d, tt_call_frame *f) {
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, positive_a, 1, p, TT_DIST_PARETO, &out)) return out;
  tt_array *e = exponential_of(d);
  return tt__compose_op1(d->c, TT_EXPM1, e ? tt__draw_op(d, TT_DIV, tt_v_array(e), p[0]) : NULL);
}
TT_DRAW(pareto, 2)

/* u^(1/a) */
static tt_array *power(tt_draw *d, tt_call_frame *f) {
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, positive_a, 1, p, TT_DIST_POWER, &out)) return out;
  tt_array *u = open_uniform(d), *root = tt__draw_op(d, TT_DIV, tt_v_float(1), p[0]);
  return tt__compose_op2(d->c, TT_POW, u, root);
}
TT_DRAW(power, 2)

/* The smaller root of a quadratic equation, or what its product with the other is (Michael, Schucany and Haas). */
static tt_array *wald(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("mean", TT_RULE_POSITIVE), TT_PARAM("scale", TT_RULE_POSITIVE)};
  tt_composer *c = d->c;
  tt_value p[2];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 2, p, TT_DIST_WALD, &out)) return out;
  tt_array *y = tt__compose_op1(c, TT_SQUARE, tt__draw_normal(d, TT_F64));
  y = y ? tt__draw_op(d, TT_MUL, tt_v_array(y), p[0]) : NULL;
  /* mean (1 - 2 / (1 + sqrt(1 + 4 scale / y))), without the difference that cancels */
  tt_array *ratio = y ? tt__draw_op(d, TT_DIV, p[1], tt_v_array(y)) : NULL;
  tt_array *root = tt__compose_op1(c, TT_SQRT, tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, ratio, 4), 1));
  tt_array *part = tt__compose_op2(c, TT_DIV, tt__compose_opf(c, TT_SUB, root, 1), tt__compose_opf(c, TT_ADD, root, 1));
  tt_array *x = part ? tt__draw_op(d, TT_MUL, tt_v_array(part), p[0]) : NULL;
  tt_array *u = tt__draw_uniform(d, TT_F64), *sum = x ? tt__draw_op(d, TT_ADD, tt_v_array(x), p[0]) : NULL;
  tt_array *limit = sum ? tt__draw_op(d, TT_DIV, p[0], tt_v_array(sum)) : NULL,
           *other = part ? tt__draw_op(d, TT_DIV, p[0], tt_v_array(part)) : NULL;
  tt_array *take = tt__compose_op2(c, TT_LE, u, limit);
  return take && x && other ? tt__compose_where(c, take, tt_v_array(x), tt_v_array(other)) : NULL;
}
TT_DRAW(wald, 3)

/* ---- counts */

/* ceil(log(1 - u) / log(1 - p)) */
static tt_array *geometric(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("p", TT_RULE_CHANCE_POSITIVE)};
  tt_composer *c = d->c;
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 1, p, TT_DIST_GEOMETRIC, &out)) return out;
  d->real = TT_F64;
  tt_array *e = exponential_of(d), *rate = tt__draw_op(d, TT_NEG, p[0], p[0]);
  rate = tt__compose_op1(c, TT_NEG, tt__compose_op1(c, TT_LOG1P, rate));
  tt_array *x = tt__compose_opf(c, TT_MAXIMUM, tt__compose_op1(c, TT_CEIL, tt__compose_op2(c, TT_DIV, e, rate)), 1);
  tt_array *far = tt__compose_opf(c, TT_GE, x, 0x1p63), *k = tt__compose_cast(c, x, TT_I64);
  return far && k ? tt__compose_where(c, far, tt_v_int(INT64_MAX), tt_v_array(k)) : NULL;
}
TT_DRAW(geometric, 2)

/*
** Of two uniform numbers (Kemp): 1 where the first is p or more, else a power of what the second makes of p. The first
** is never 0 here, so nothing is drawn again.
*/
static tt_array *logseries(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("p", TT_RULE_CHANCE_BELOW_ONE)};
  tt_composer *c = d->c;
  tt_value p[1];
  tt_array *out;
  if (!tt__draw_begin(d, f, param, 1, p, TT_DIST_LOGSERIES, &out)) return out;
  tt_array *v = open_uniform(d), *u = open_uniform(d), *rest = tt__draw_op(d, TT_NEG, p[0], p[0]);
  tt_array *q = tt__compose_op1(
      c, TT_NEG, tt__compose_op1(c, TT_EXPM1, tt__compose_op2(c, TT_MUL, u, tt__compose_op1(c, TT_LOG1P, rest))));
  tt_array *far = tt__compose_op1(
      c, TT_FLOOR,
      tt__compose_opf(c, TT_ADD,
                      tt__compose_op2(c, TT_DIV, tt__compose_op1(c, TT_LOG, v), tt__compose_op1(c, TT_LOG, q)), 1));
  far = tt__compose_cast(c, tt__compose_opf(c, TT_MAXIMUM, far, 1), TT_I64);
  tt_array *high = v ? tt__draw_op(d, TT_GE, tt_v_array(v), p[0]) : NULL;
  tt_array *some = tt__compose_op2(c, TT_LE, v, tt__compose_op1(c, TT_SQUARE, q)),
           *one = tt__compose_op2(c, TT_OR, high, tt__compose_op2(c, TT_GE, v, q));
  tt_array *low = one ? tt__compose_where(c, one, tt_v_int(1), tt_v_int(2)) : NULL;
  tt_array *more = tt__compose_op2(c, TT_AND, some, tt__compose_op1(c, TT_LNOT, high));
  low = tt__compose_cast(c, low, TT_I64);
  return more && far && low ? tt__compose_where(c, more, tt_v_array(far), tt_v_array(low)) : NULL;
}
TT_DRAW(logseries, 2)

/* ---- triangular */

/* The inverse of a piecewise quadratic distribution: left of the mode and right of it. */
static tt_array *triangular(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param param[] = {TT_PARAM("left", TT_RULE_NONE), TT_PARAM("mode", TT_RULE_NONE),
                                        TT_PARAM("right", TT_RULE_NONE)};
  tt_composer *c = d->c;
  tt_value p[3];
  if (!tt__draw_params(d, f, param, 3, p)) return NULL;
  tt_array *span = tt__draw_op(d, TT_SUB, p[2], p[0]), *left = tt__draw_op(d, TT_SUB, p[1], p[0]),
           *right = tt__draw_op(d, TT_SUB, p[2], p[1]);
  if (!span || !left || !right) return NULL;
  if (tt__draw_any(d, tt__compose_opf(c, TT_LT, left, 0))) return tt__compose_fail(c, TT_EVALUE, "left > mode");
  if (tt__draw_any(d, tt__compose_opf(c, TT_LT, right, 0))) return tt__compose_fail(c, TT_EVALUE, "mode > right");
  if (tt__draw_any(d, tt__compose_opf(c, TT_EQ, span, 0))) return tt__compose_fail(c, TT_EVALUE, "left == right");
  if (d->bits) return tt__draw_exact(d, TT_DIST_TRIANGULAR, TT_F64, p, 3);
  tt_array *u = tt__draw_uniform(d, TT_F64);
  tt_array *low = tt__compose_op1(c, TT_SQRT, tt__compose_op2(c, TT_MUL, u, tt__compose_op2(c, TT_MUL, span, left)));
  tt_array *rest = u ? tt__draw_op(d, TT_SUB, tt_v_int(1), tt_v_array(u)) : NULL;
  tt_array *high =
      tt__compose_op1(c, TT_SQRT, tt__compose_op2(c, TT_MUL, rest, tt__compose_op2(c, TT_MUL, span, right)));
  if (!low || !high) return NULL;
  low = tt__draw_op(d, TT_ADD, p[0], tt_v_array(low));
  high = tt__draw_op(d, TT_SUB, p[2], tt_v_array(high));
  tt_array *before = tt__compose_op2(c, TT_LE, u, tt__compose_op2(c, TT_DIV, left, span));
  return low && high && before ? tt__compose_where(c, before, tt_v_array(low), tt_v_array(high)) : NULL;
}
TT_DRAW(triangular, 4)
