/*
** First values of parameters, with PyTorch's names: written in place, no part of any history. Draws come of the
** process's generator.
*/
#include <math.h>
#include <string.h>

#include "fn/linalg/matrix.h"
#include "fn/nn/nn.h"
#include "fn/random/draw.h"
#include "graph/session.h"

/* The array that argument 0 is; NULL: a failure. */
static tt_array *written(tt_composer *c, const tt_call_frame *f) {
  if (f->arg[0].tag == TT_V_ARRAY) return f->arg[0].as.array;
  return tt__compose_fail(c, TT_ETYPE, "argument 1 must be an array");
}

/* Written, and computed at the call: who reads a parameter finds memory that lies as the parameter does, whatever asks
 * first. */
static tt_array *write(tt_composer *c, tt_array *to, tt_value v) {
  bool before = tt__session_tape;
  tt__session_tape = false;
  bool ok = c->code == TT_OK && to && tt__compose_set(c, to, v) && tt__compose_settle(c, &to, 1);
  tt__session_tape = before;
  return ok ? to : NULL;
}

static tt_array *write_array(tt_composer *c, tt_array *to, tt_array *a) {
  return a ? write(c, to, tt_v_array(a)) : NULL;
}

/* Uniform in [0, 1) or standard normal, in the shape of an array. */
static tt_array *drawn(tt_composer *c, const tt_call_frame *f, int rank, const int64_t *len, tt_dtype t, bool normal) {
  tt_draw d = {.c = c, .f = f, .real = t == TT_F64 ? TT_F64 : TT_F32};
  if (c->code != TT_OK || !tt__draw_shape_fixed(&d, rank, len)) return NULL;
  return normal ? tt__draw_normal(&d, d.real) : tt__draw_uniform(&d, d.real);
}

/* factor * draw + more */
static tt_array *spread(tt_composer *c, const tt_call_frame *f, tt_array *to, bool normal, double factor, double more) {
  if (!to) return NULL;
  tt_array *x = drawn(c, f, to->rank, tt__array_len(to), (tt_dtype)to->dtype, normal);
  return write_array(c, to, tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, x, factor), more));
}

/* tensor, a, b */
static tt_array *init_uniform(tt_composer *c, tt_call_frame *f) {
  double a = tt__arg_float(c, f, 1, 0), b = tt__arg_float(c, f, 2, 1);
  if (!(a <= b))
    return tt__compose_fail(c, TT_EVALUE, "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", a,
                            b);
  return spread(c, f, written(c, f), false, b - a, a);
}
TT_HANDLER(init_uniform)

/* tensor, mean, std */
static tt_array *init_normal(tt_composer *c, tt_call_frame *f) {
  double mean = tt__arg_float(c, f, 1, 0), std = tt__arg_float(c, f, 2, 1);
  if (std < 0) return tt__compose_fail(c, TT_EVALUE, "normal expects std >= 0.0, but found std %g", std);
  return spread(c, f, written(c, f), true, std, mean);
}
TT_HANDLER(init_normal)

/* The share of the normal distribution below x. */
static double below(double x) { return erfc(-x / sqrt(2)) / 2; }

/* tensor, mean, std, a, b: by the inverse of the distribution between a and b. */
static tt_array *init_trunc_normal(tt_composer *c, tt_call_frame *f) {
  tt_array *to = written(c, f);
  double mean = tt__arg_float(c, f, 1, 0), std = tt__arg_float(c, f, 2, 1);
  double a = tt__arg_float(c, f, 3, -2), b = tt__arg_float(c, f, 4, 2);
  if (!to || c->code != TT_OK) return NULL;
  double low = below((a - mean) / std), high = below((b - mean) / std);
  tt_array *u = drawn(c, f, to->rank, tt__array_len(to), TT_F64, false);
  u = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, u, high - low), low);
  tt_array *x = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, tt__compose_op1(c, TT_NDTRI, u), std), mean);
  return write_array(c, to, tt__compose_opf(c, TT_MINIMUM, tt__compose_opf(c, TT_MAXIMUM, x, a), b));
}
TT_HANDLER(init_trunc_normal)

/* tensor, val */
static tt_array *init_constant(tt_composer *c, tt_call_frame *f) {
  return write(c, written(c, f), tt_v_float(tt__arg_float(c, f, 1, 0)));
}
TT_HANDLER(init_constant)
static tt_array *init_ones(tt_composer *c, tt_call_frame *f) { return write(c, written(c, f), tt_v_int(1)); }
TT_HANDLER(init_ones)
static tt_array *init_zeros(tt_composer *c, tt_call_frame *f) { return write(c, written(c, f), tt_v_int(0)); }
TT_HANDLER(init_zeros)

/* ---- by how many numbers meet in an output */

static bool fans(tt_composer *c, tt_array *to, double *in, double *out) {
  if (!to) return false;
  if (to->rank < 2) {
    tt__compose_fail(c, TT_EVALUE, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
    return false;
  }
  double field = 1;
  for (int d = 2; d < to->rank; d++) field *= (double)tt__array_len(to)[d];
  *in = (double)tt__array_len(to)[1] * field;
  *out = (double)tt__array_len(to)[0] * field;
  return c->code == TT_OK;
}

/* tensor, gain */
static tt_array *xavier(tt_composer *c, tt_call_frame *f, bool normal) {
  tt_array *to = written(c, f);
  double in, out, gain = tt__arg_float(c, f, 1, 1);
  if (!fans(c, to, &in, &out)) return NULL;
  double std = gain * sqrt(2 / (in + out)), bound = sqrt(3) * std;
  return normal ? spread(c, f, to, true, std, 0) : spread(c, f, to, false, 2 * bound, -bound);
}
static tt_array *init_xavier_uniform(tt_composer *c, tt_call_frame *f) { return xavier(c, f, false); }
TT_HANDLER(init_xavier_uniform)
static tt_array *init_xavier_normal(tt_composer *c, tt_call_frame *f) { return xavier(c, f, true); }
TT_HANDLER(init_xavier_normal)

/* What a nonlinearity takes of the spread, made up for. 0: a failure. */
static double gain_of(tt_composer *c, const char *word, double slope) {
  static const char *const plain[] = {"linear", "sigmoid",          "conv1d",           "conv2d",
                                      "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};
  for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
    if (strcmp(word, plain[k]) == 0) return 1;
  if (strcmp(word, "tanh") == 0) return 5.0 / 3;
  if (strcmp(word, "relu") == 0) return sqrt(2);
  if (strcmp(word, "leaky_relu") == 0) return sqrt(2 / (1 + slope * slope));
  if (strcmp(word, "selu") == 0) return 0.75;
  tt__compose_fail(c, TT_EVALUE, "Unsupported nonlinearity %s", word);
  return 0;
}

/* nonlinearity, param */
static tt_array *init_calculate_gain(tt_composer *c, tt_call_frame *f) {
  double gain = gain_of(c, tt__arg_string(c, f, 0, "linear"), tt__arg_float(c, f, 1, 0.01));
  f->scalar = true;
  return c->code == TT_OK ? tt__compose_full(c, TT_F64, 0, NULL, tt_v_float(gain)) : NULL;
}
TT_HANDLER(init_calculate_gain)

/* tensor, a, mode, nonlinearity */
static tt_array *kaiming(tt_composer *c, tt_call_frame *f, bool normal) {
  tt_array *to = written(c, f);
  double in, out, slope = tt__arg_float(c, f, 1, 0);
  const char *mode = tt__arg_string(c, f, 2, "fan_in");
  double gain = gain_of(c, tt__arg_string(c, f, 3, "leaky_relu"), slope);
  bool by_out = strcmp(mode, "fan_out") == 0;
  if (!by_out && strcmp(mode, "fan_in") != 0)
    return tt__compose_fail(c, TT_EVALUE, "Mode %s not supported, please use one of ['fan_in', 'fan_out']", mode);
  if (to && to->size == 0) return to;
  if (!fans(c, to, &in, &out)) return NULL;
  double std = gain / sqrt(by_out ? out : in), bound = sqrt(3) * std;
  return normal ? spread(c, f, to, true, std, 0) : spread(c, f, to, false, 2 * bound, -bound);
}
static tt_array *init_kaiming_uniform(tt_composer *c, tt_call_frame *f) { return kaiming(c, f, false); }
TT_HANDLER(init_kaiming_uniform)
static tt_array *init_kaiming_normal(tt_composer *c, tt_call_frame *f) { return kaiming(c, f, true); }
TT_HANDLER(init_kaiming_normal)

/* ---- matrices */

static tt_array *init_eye(tt_composer *c, tt_call_frame *f) {
  tt_array *to = written(c, f);
  if (to && to->rank != 2) return tt__compose_fail(c, TT_EVALUE, "Only tensors with 2 dimensions are supported");
  if (!to) return NULL;
  tt_array *i = tt__compose_expand(c, tt__compose_iota(c, tt__array_len(to)[0]), 1);
  return write_array(c, to, tt__compose_op2(c, TT_EQ, i, tt__compose_iota(c, tt__array_len(to)[1])));
}
TT_HANDLER(init_eye)

/* The factor Q of a draw, its columns' signs such that every orthogonal matrix is as likely. */
static tt_array *rotation(tt_composer *c, const tt_call_frame *f, const int64_t *len, tt_dtype t) {
  tt_array *draw = drawn(c, f, 2, len, t, true);
  if (!draw) return NULL;
  const tt_value arg = tt_v_array(draw);
  tt_call_frame qr = {.arg = &arg, .narg = 1};
  c->code = tt__function_named("linalg.qr")->run(&qr, c->err);
  tt_array *part[2] = {NULL, NULL};
  for (int k = 0; k < 2 && c->code == TT_OK; k++) part[k] = tt__compose_keep(c, TT_OK, &qr.out.data[k]);
  TT_VEC_FEW_FREE(&qr.out);
  tt_array *sign = tt__compose_op1(c, TT_SIGN, tt__compose_diagonal(c, part[1], 0, 0, 1));
  return tt__compose_op2(c, TT_MUL, part[0], sign);
}

/* tensor, gain: rows, or columns, at right angles. */
static tt_array *init_orthogonal(tt_composer *c, tt_call_frame *f) {
  tt_array *to = written(c, f);
  double gain = tt__arg_float(c, f, 1, 1);
  if (!to || c->code != TT_OK) return NULL;
  if (to->rank < 2) return tt__compose_fail(c, TT_EVALUE, "Only tensors with 2 or more dimensions are supported");
  if (to->size == 0) return to;
  int64_t rows = tt__array_len(to)[0], flat[2] = {rows, to->size / rows}, tall[2] = {flat[1], flat[0]};
  bool wide = flat[0] < flat[1];
  tt_array *q = rotation(c, f, wide ? tall : flat, to->dtype == TT_F64 ? TT_F64 : TT_F32);
  if (wide) q = tt__compose_swap(c, q);
  q = tt__compose_reshape(c, tt__compose_opf(c, TT_MUL, q, gain), to->rank, tt__array_len(to));
  return write_array(c, to, q);
}
TT_HANDLER(init_orthogonal)

/* tensor [outputs, channels, lengths...], groups: windows that give back their channel, as far as there are outputs. */
static tt_array *init_dirac(tt_composer *c, tt_call_frame *f) {
  tt_array *to = written(c, f);
  int64_t groups = tt__arg_int(c, f, 1, 1);
  if (!to || c->code != TT_OK) return NULL;
  if (to->rank < 3 || to->rank > 5)
    return tt__compose_fail(c, TT_EVALUE, "Only tensors with 3, 4, or 5 dimensions are supported");
  const int64_t *len = tt__array_len(to);
  if (groups < 1 || len[0] % groups != 0) return tt__compose_fail(c, TT_EVALUE, "dim 0 must be divisible by groups");
  tt_array *own = tt__compose_opi(c, TT_MOD, tt__compose_iota(c, len[0]), len[0] / groups), *is = NULL;
  for (int d = 1; d < to->rank; d++) {
    tt_array *i = tt__nn_along(c, tt__compose_iota(c, len[d]), to->rank, d);
    tt_array *one = d == 1 ? tt__compose_op2(c, TT_EQ, i, tt__nn_along(c, own, to->rank, 0))
                           : tt__compose_opi(c, TT_EQ, i, len[d] / 2);
    is = d == 1 ? one : tt__compose_op2(c, TT_AND, is, one);
  }
  return write_array(c, to, is);
}
TT_HANDLER(init_dirac)

/* tensor, sparsity, std: of each column so large a part is 0 (rounded up), by chance where. */
static tt_array *init_sparse(tt_composer *c, tt_call_frame *f) {
  tt_array *to = written(c, f);
  double sparsity = tt__arg_float(c, f, 1, 0.1), std = tt__arg_float(c, f, 2, 0.01);
  if (!to || c->code != TT_OK) return NULL;
  if (to->rank != 2) return tt__compose_fail(c, TT_EVALUE, "Only tensors with 2 dimensions are supported");
  int64_t rows = tt__array_len(to)[0], gone = (int64_t)ceil(sparsity * (double)rows);
  if (!(sparsity >= 0 && sparsity <= 1)) return tt__compose_fail(c, TT_EVALUE, "sparsity must be between 0 and 1");
  tt_array *chance = drawn(c, f, 2, tt__array_len(to), TT_F32, false);
  const tt_value by[] = {tt_v_array(chance), tt_v_int(0)};
  tt_array *order = chance ? tt__fn_call(c, "argsort", by, 2) : NULL;
  const tt_value again[] = {tt_v_array(order), tt_v_int(0)};
  tt_array *place = order ? tt__fn_call(c, "argsort", again, 2) : NULL; /* of each row among those of its column */
  tt_array *zero = tt__compose_opi(c, TT_LT, place, gone);
  tt_array *x = tt__compose_opf(c, TT_MUL, drawn(c, f, 2, tt__array_len(to), (tt_dtype)to->dtype, true), std);
  return zero && x ? write_array(c, to, tt__compose_where(c, zero, tt_v_int(0), tt_v_array(x))) : NULL;
}
TT_HANDLER(init_sparse)
