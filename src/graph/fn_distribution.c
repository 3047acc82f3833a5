/*
** Distributions out of a uniform or normal draw, elementwise: parameters broadcast, everything fuses.
*/
#include <math.h>

#include "graph/draw.h"

static tt_value value(tt_array *a) { return a ? tt_v_array(a) : tt_v_int(0); }

static bool is_any(tt_draw *d, tt_op op, tt_value v, double than) {
  tt_calc *c = d->c;
  if (c->code != TT_OK) return false;
  if (v.tag == TT_V_FLOAT) return op == TT_LT ? v.as.f < than : op == TT_LE ? v.as.f <= than : v.as.f > than;
  tt_array *bad = tt__calc_opf(c, op, v.as.array, than);
  uint64_t axes = bad && bad->rank ? ~UINT64_C(0) >> (64 - bad->rank) : 0;
  const uint8_t *found = tt__calc_peek(c, axes ? tt__calc_reduce(c, TT_RED_ANY, bad, axes, false) : bad);
  return found && *found;
}

static void refuse_negative(tt_draw *d, tt_value v, const char *name) {
  if (is_any(d, TT_LT, v, 0)) tt__calc_fail(d->c, TT_EVALUE, "%s < 0", name);
}

static void refuse_zero(tt_draw *d, tt_value v, const char *name) {
  if (is_any(d, TT_LE, v, 0)) tt__calc_fail(d->c, TT_EVALUE, "%s <= 0", name);
}

/* a + b * x */
static tt_array *moved(tt_draw *d, tt_value a, tt_value b, tt_array *x) {
  tt_array *s = x ? tt__draw_op(d, TT_MUL, tt_v_array(x), b) : NULL;
  return s ? tt__draw_op(d, TT_ADD, a, tt_v_array(s)) : NULL;
}

/* Two parameters with defaults, and the shape of the draw. */
static void two(tt_draw *d, tt_call_frame *f, double a, double b, tt_value *p) {
  p[0] = tt__draw_param(d, 0, a);
  p[1] = tt__draw_param(d, 1, b);
  f->scalar = tt__draw_shape(d, 2, p, 2);
}

static tt_value one(tt_draw *d, tt_call_frame *f, double a) {
  tt_value p = tt__draw_param(d, 0, a);
  f->scalar = tt__draw_shape(d, 1, &p, 1);
  return p;
}

/* -log(1 - u): a standard exponential. */
static tt_array *exponential_of(tt_draw *d) {
  tt_calc *c = d->c;
  tt_array *u = tt__draw_uniform(d, TT_F64);
  return tt__calc_op1(c, TT_NEG, tt__calc_op1(c, TT_LOG1P, tt__calc_op1(c, TT_NEG, u)));
}

static tt_array *uniform(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  two(d, f, 0, 1, p);
  if (d->c->code != TT_OK) return NULL;
  tt_value range = p[0].tag == TT_V_FLOAT && p[1].tag == TT_V_FLOAT ? tt_v_float(p[1].as.f - p[0].as.f)
                                                                    : value(tt__draw_op(d, TT_SUB, p[1], p[0]));
  if (is_any(d, TT_LT, range, 0)) return tt__calc_fail(d->c, TT_EVALUE, "high - low < 0");
  if (range.tag == TT_V_FLOAT && !isfinite(range.as.f))
    return tt__calc_fail(d->c, TT_EOVERFLOW, "high - low range exceeds valid bounds");
  return moved(d, p[0], range, tt__draw_uniform(d, TT_F64));
}
TT_DRAW(uniform)

static tt_array *normal(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  two(d, f, 0, 1, p);
  refuse_negative(d, p[1], "scale");
  return moved(d, p[0], p[1], tt__draw_normal(d, TT_F64));
}
TT_DRAW(normal)

static tt_array *lognormal(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  two(d, f, 0, 1, p);
  refuse_negative(d, p[1], "sigma");
  return tt__calc_op1(d->c, TT_EXP, moved(d, p[0], p[1], tt__draw_normal(d, TT_F64)));
}
TT_DRAW(lognormal)

static tt_array *exponential(tt_draw *d, tt_call_frame *f) {
  tt_value scale = one(d, f, 1);
  refuse_negative(d, scale, "scale");
  tt_array *e = exponential_of(d);
  return e ? tt__draw_op(d, TT_MUL, tt_v_array(e), scale) : NULL;
}
TT_DRAW(exponential)

/* x = loc - scale * log(-log(u)) with u in (0, 1) */
static tt_array *gumbel(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  two(d, f, 0, 1, p);
  refuse_negative(d, p[1], "scale");
  tt_calc *c = d->c;
  return moved(d, p[0], p[1], tt__calc_op1(c, TT_NEG, tt__calc_op1(c, TT_LOG, exponential_of(d))));
}
TT_DRAW(gumbel)

/* A uniform in the open interval (0, 1). */
static tt_array *open_uniform(tt_draw *d) { return tt__calc_opf(d->c, TT_ADD, tt__draw_uniform(d, TT_F64), 0x1p-54); }

static tt_array *laplace(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  two(d, f, 0, 1, p);
  refuse_negative(d, p[1], "scale");
  tt_calc *c = d->c;
  tt_array *u = open_uniform(d), *low = tt__calc_op1(c, TT_LOG, tt__calc_opf(c, TT_MUL, u, 2));
  tt_array *rest = u ? tt__draw_op(d, TT_SUB, tt_v_int(1), tt_v_array(u)) : NULL;
  tt_array *high = tt__calc_op1(c, TT_NEG, tt__calc_op1(c, TT_LOG, tt__calc_opf(c, TT_MUL, rest, 2)));
  if (!low || !high) return NULL;
  return moved(d, p[0], p[1], tt__calc_where(c, tt__calc_opf(c, TT_LT, u, 0.5), tt_v_array(low), tt_v_array(high)));
}
TT_DRAW(laplace)

/* log(u / (1 - u)) */
static tt_array *logistic(tt_draw *d, tt_call_frame *f) {
  tt_value p[2];
  two(d, f, 0, 1, p);
  refuse_negative(d, p[1], "scale");
  tt_calc *c = d->c;
  tt_array *u = open_uniform(d);
  tt_array *rest = u ? tt__draw_op(d, TT_SUB, tt_v_int(1), tt_v_array(u)) : NULL;
  return moved(d, p[0], p[1], tt__calc_op1(c, TT_LOG, tt__calc_op2(c, TT_DIV, u, rest)));
}
TT_DRAW(logistic)

static tt_array *standard_cauchy(tt_draw *d, tt_call_frame *f) {
  f->scalar = tt__draw_shape(d, 0, NULL, 0);
  tt_array *u = tt__calc_opf(d->c, TT_SUB, open_uniform(d), 0.5);
  return tt__calc_op1(d->c, TT_TAN, tt__calc_opf(d->c, TT_MUL, u, M_PI));
}
TT_DRAW(standard_cauchy)

static tt_array *rayleigh(tt_draw *d, tt_call_frame *f) {
  tt_value scale = one(d, f, 1);
  refuse_negative(d, scale, "scale");
  tt_array *r = tt__calc_op1(d->c, TT_SQRT, tt__calc_opf(d->c, TT_MUL, exponential_of(d), 2));
  return r ? tt__draw_op(d, TT_MUL, tt_v_array(r), scale) : NULL;
}
TT_DRAW(rayleigh)

/* e^(1/a) */
static tt_array *weibull(tt_draw *d, tt_call_frame *f) {
  tt_value a = one(d, f, 1);
  refuse_negative(d, a, "a");
  tt_array *e = exponential_of(d), *root = tt__draw_op(d, TT_DIV, tt_v_float(1), a);
  return tt__calc_op2(d->c, TT_POW, e, root);
}
TT_DRAW(weibull)

/* exp(e / a) - 1 */
static tt_array *pareto(tt_draw *d, tt_call_frame *f) {
  tt_value a = one(d, f, 1);
  refuse_zero(d, a, "a");
  tt_array *e = exponential_of(d);
  return tt__calc_op1(d->c, TT_EXPM1, e ? tt__draw_op(d, TT_DIV, tt_v_array(e), a) : NULL);
}
TT_DRAW(pareto)

/* u^(1/a) */
static tt_array *power(tt_draw *d, tt_call_frame *f) {
  tt_value a = one(d, f, 1);
  refuse_zero(d, a, "a");
  tt_array *u = open_uniform(d), *root = tt__draw_op(d, TT_DIV, tt_v_float(1), a);
  return tt__calc_op2(d->c, TT_POW, u, root);
}
TT_DRAW(power)

/* ceil(log(1 - u) / log(1 - p)) */
static tt_array *geometric(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_value p = one(d, f, 1);
  if (is_any(d, TT_LE, p, 0) || is_any(d, TT_GT, p, 1))
    return tt__calc_fail(c, TT_EVALUE, "p <= 0, p > 1 or p contains NaNs");
  tt_array *e = exponential_of(d), *rate = tt__draw_op(d, TT_NEG, p, p);
  rate = tt__calc_op1(c, TT_NEG, tt__calc_op1(c, TT_LOG1P, rate));
  tt_array *x = tt__calc_op1(c, TT_CEIL, tt__calc_op2(c, TT_DIV, e, rate));
  return tt__calc_cast(c, tt__calc_opf(c, TT_MAXIMUM, x, 1), TT_I64);
}
TT_DRAW(geometric)

/* The inverse of a piecewise quadratic distribution: left of the mode and right of it. */
static tt_array *triangular(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_value p[3] = {tt__draw_param(d, 0, 0), tt__draw_param(d, 1, 0.5), tt__draw_param(d, 2, 1)};
  f->scalar = tt__draw_shape(d, 3, p, 3);
  tt_array *span = tt__draw_op(d, TT_SUB, p[2], p[0]), *left = tt__draw_op(d, TT_SUB, p[1], p[0]),
           *right = tt__draw_op(d, TT_SUB, p[2], p[1]);
  if (!span || !left || !right) return NULL;
  if (is_any(d, TT_LT, tt_v_array(left), 0)) return tt__calc_fail(c, TT_EVALUE, "left > mode");
  if (is_any(d, TT_LT, tt_v_array(right), 0)) return tt__calc_fail(c, TT_EVALUE, "mode > right");
  if (is_any(d, TT_LE, tt_v_array(span), 0)) return tt__calc_fail(c, TT_EVALUE, "left == right");
  tt_array *u = tt__draw_uniform(d, TT_F64);
  tt_array *low = tt__calc_op1(c, TT_SQRT, tt__calc_op2(c, TT_MUL, u, tt__calc_op2(c, TT_MUL, span, left)));
  tt_array *rest = u ? tt__draw_op(d, TT_SUB, tt_v_int(1), tt_v_array(u)) : NULL;
  tt_array *high = tt__calc_op1(c, TT_SQRT, tt__calc_op2(c, TT_MUL, rest, tt__calc_op2(c, TT_MUL, span, right)));
  if (!low || !high) return NULL;
  low = tt__draw_op(d, TT_ADD, p[0], tt_v_array(low));
  high = tt__draw_op(d, TT_SUB, p[2], tt_v_array(high));
  tt_array *before = tt__calc_op2(c, TT_LE, u, tt__calc_op2(c, TT_DIV, left, span));
  return low && high && before ? tt__calc_where(c, before, tt_v_array(low), tt_v_array(high)) : NULL;
}
TT_DRAW(triangular)
