/*
** Activations: functions of single elements, a row each, and those that are made of parts or of a weight. Halves are
** computed in float32 and rounded once.
*/
#include <math.h>
#include <string.h>

#include "fn/term.h"
#include "fn/nn/nn.h"
#include "fn/random/draw.h"

/*
** ROW(name, expression of x, integers too, what stays when it is not given of the numbers a and b)
** Numbers follow the input among the parameters, then `inplace`. An expression passes NaN on, and no branch that is
** not taken overflows: its slope would be infinity times 0.
*/
#define ACTIVATIONS                                                                      \
  ROW(relu, "where(x <= 0, 0, x)", true, 0, 0, 0)                                        \
  ROW(relu6, "where(x <= 0, 0, where(x >= 6, 6, x))", true, 0, 0, 0)                     \
  ROW(hardtanh, "where(x <= a, a, where(x >= b, b, x))", true, 2, -1, 1)                 \
  ROW(threshold, "where(x <= a, b, x)", true, 2, 0, 0)                                   \
  ROW(leaky_relu, "where(x <= 0, x * a, x)", false, 1, 0.01, 0)                          \
  ROW(elu, "where(x > 0, x, a * expm1(where(x > 0, 0, x)))", false, 1, 1, 0)             \
  ROW(celu, "where(x > 0, x, a * expm1(where(x > 0, 0, x) / a))", false, 1, 1, 0)        \
  ROW(selu,                                                                              \
      "1.0507009873554804934193349852946 * where(x > 0, x,"                              \
      "1.6732632423543772848170429916717 * expm1(where(x > 0, 0, x)))",                  \
      false, 0, 0, 0)                                                                    \
  ROW(silu, "x * expit(x)", false, 0, 0, 0)                                              \
  ROW(mish, "x * tanh(-log_expit(-x))", false, 0, 0, 0)                                  \
  ROW(softplus, "where(x * a > b, x, -log_expit(-(x * a)) / a)", false, 2, 1, 20)        \
  ROW(softsign, "x / (1 + absolute(x))", false, 0, 0, 0)                                 \
  ROW(logsigmoid, "log_expit(x)", false, 0, 0, 0)                                        \
  ROW(sigmoid, "expit(x)", false, 0, 0, 0)                                               \
  ROW(tanh, "tanh(x)", false, 0, 0, 0)                                                   \
  ROW(hardsigmoid, "where(x <= -3, 0, where(x >= 3, 1, x / 6 + 0.5))", false, 0, 0, 0)   \
  ROW(hardswish, "where(x <= -3, 0, where(x >= 3, x, x * (x + 3) / 6))", false, 0, 0, 0) \
  ROW(tanhshrink, "x - tanh(x)", false, 0, 0, 0)                                         \
  ROW(hardshrink, "where(logical_and(x >= -a, x <= a), 0, x)", false, 1, 0.5, 0)         \
  ROW(softshrink, "where(x > a, x - a, where(x < -a, x + a, x * 0))", false, 1, 0.5, 0)

typedef enum activation {
#define ROW(name, text, integers, n, a, b) ACTIVATION_##name,
  ACTIVATIONS
#undef ROW
      ACTIVATION_COUNT
} activation;

static const struct {
  const char *name, *text;
  bool integers;
  int n;
  double number[2];
} rows[] = {
#define ROW(name, text, integers, n, a, b) {#name, text, integers, n, {a, b}},
    ACTIVATIONS
#undef ROW
};

static tt_array *recorded(tt_composer *c, activation which, tt_array *x, const double *number) {
  static const tt_term *known[ACTIVATION_COUNT];
  if (!known[which]) known[which] = tt__term_read(rows[which].text);
  if (!x || !known[which]) return x ? tt__compose_fail(c, TT_ENOMEM, "out of memory") : NULL;
  tt_value y,
      value[TT_TERM_VALUES] = {
          [TT_TERM_X] = tt_v_array(x), [TT_TERM_A] = tt_v_float(number[0]), [TT_TERM_B] = tt_v_float(number[1])};
  return tt__term_record(c, known[which], value, &y) ? y.as.array : NULL;
}

static tt_array *activated(tt_composer *c, const tt_call_frame *f, activation which) {
  const char *name = rows[which].name;
  tt_array *x = tt__arg_array(c, f, 0);
  double number[2] = {0, 0};
  for (int k = 0; k < rows[which].n; k++) number[k] = tt__arg_float(c, f, 1 + k, rows[which].number[k]);
  if (!x || c->code != TT_OK) return NULL;
  if (which == ACTIVATION_hardtanh && number[0] > number[1])
    return tt__compose_fail(c, TT_EVALUE, "min_val cannot be greater than max_val");
  if (which == ACTIVATION_softshrink && !(number[0] >= 0))
    return tt__compose_fail(c, TT_EVALUE, "lambda must be greater or equal to 0, but found to be %g.", number[0]);
  if (which == ACTIVATION_celu && number[0] == 0)
    return tt__compose_fail(c, TT_EVALUE, "ZeroDivisionError: alpha cannot be 0 for CELU");
  bool whole = rows[which].integers && tt__is_int((tt_dtype)x->dtype);
  tt_array *y = recorded(c, which, whole ? x : tt__nn_floats(c, x, name), number);
  return tt__nn_result(c, f, y, x, 1 + rows[which].n);
}

#define ROW(name, text, integers, n, a, b)                                                                    \
  static tt_array *nn_##name(tt_composer *c, tt_call_frame *f) { return activated(c, f, ACTIVATION_##name); } \
  TT_HANDLER(nn_##name)
ACTIVATIONS
#undef ROW

/* ---- the normal distribution's: x times the share below x */

static tt_array *nn_gelu(tt_composer *c, tt_call_frame *f) {
  static const tt_term *known[2];
  static const char *const text[2] = {"x * ndtr(x)",
                                      "0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)))"};
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "gelu");
  const char *how = tt__arg_string(c, f, 1, "none");
  if (!x || c->code != TT_OK) return NULL;
  int which = strcmp(how, "tanh") == 0;
  if (!which && strcmp(how, "none") != 0)
    return tt__compose_fail(c, TT_EVALUE, "approximate argument must be either none or tanh.");
  if (!known[which] && !(known[which] = tt__term_read(text[which])))
    return tt__compose_fail(c, TT_ENOMEM, "out of memory");
  tt_value y, value[TT_TERM_VALUES] = {[TT_TERM_X] = tt_v_array(x)};
  return tt__term_record(c, known[which], value, &y) ? tt__nn_result(c, f, y.as.array, given, -1) : NULL;
}
TT_HANDLER(nn_gelu)

/* ---- with a slope left of 0 that is a weight, or drawn */

static tt_array *sloped(tt_composer *c, tt_array *x, tt_array *slope) {
  tt_array *left = tt__compose_opf(c, TT_LE, x, 0), *less = tt__compose_op2(c, TT_MUL, x, slope);
  return left && less ? tt__compose_where(c, left, tt_v_array(less), tt_v_array(x)) : NULL;
}

/* input, weight: one, or one for each channel. */
static tt_array *nn_prelu(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *w = tt__arg_array(c, f, 1);
  if (!x || !w) return NULL;
  if (w->rank > 1)
    return tt__compose_fail(c, TT_EVALUE, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = %d",
                            w->rank);
  int64_t channels = x->rank >= 2 ? tt__array_len(x)[1] : 1;
  if (w->size != 1 && (x->rank == 0 || w->size != channels))
    return tt__compose_fail(c, TT_EVALUE,
                            "Mismatch of parameter numbers and input channel size. Found parameter numbers = %lld and "
                            "channel size = %lld.",
                            (long long)w->size, (long long)channels);
  if (x->dtype != w->dtype)
    return tt__compose_fail(c, TT_ETYPE, "prelu: Type promoting not supported. Got %s and %s",
                            tt__dtypes[x->dtype].name, tt__dtypes[w->dtype].name);
  tt_array *wide = tt__nn_floats(c, x, "prelu"), *slope = tt__nn_floats(c, w, "prelu");
  slope = slope && slope->size != 1 ? tt__nn_along(c, slope, x->rank, 1) : tt__compose_reshape(c, slope, 0, NULL);
  return tt__nn_result(c, f, sloped(c, wide, slope), x, -1);
}
TT_HANDLER(nn_prelu)

/* input, lower, upper, training, inplace */
static tt_array *nn_rrelu(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *wide = tt__nn_floats(c, x, "rrelu");
  double lower = tt__arg_float(c, f, 1, 1.0 / 8), upper = tt__arg_float(c, f, 2, 1.0 / 3);
  bool training = tt__arg_bool(c, f, 3, false);
  if (!wide || c->code != TT_OK) return NULL;
  if (!(lower <= upper))
    return tt__compose_fail(c, TT_EVALUE, "Lower bound should be less than or equal to the upper bound");
  if (!training) {
    tt_array *mean = tt__compose_full(c, (tt_dtype)wide->dtype, 0, NULL, tt_v_float((lower + upper) / 2));
    return tt__nn_result(c, f, mean ? sloped(c, wide, mean) : NULL, x, 4);
  }
  tt_draw d = {.c = c, .f = f, .real = (tt_dtype)wide->dtype};
  if (!tt__draw_shape_fixed(&d, x->rank, tt__array_len(x))) return NULL;
  tt_array *slope = tt__compose_opf(c, TT_MUL, tt__draw_uniform(&d, d.real), upper - lower);
  return tt__nn_result(c, f, sloped(c, wide, tt__compose_opf(c, TT_ADD, slope, lower)), x, 4);
}
TT_HANDLER(nn_rrelu)

/* input, dim: one half times the gate of the other. */
static tt_array *nn_glu(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *wide = tt__nn_floats(c, x, "glu");
  if (!wide) return NULL;
  if (x->rank == 0) return tt__compose_fail(c, TT_EVALUE, "glu does not support 0-dimensional tensors");
  int axis = tt__nn_axis(c, f, 1, x->rank, x->rank - 1);
  if (c->code != TT_OK) return NULL;
  int64_t n = tt__array_len(x)[axis];
  if (n % 2 != 0)
    return tt__compose_fail(c, TT_EVALUE, "Halving dimension must be even, but dimension %d is size %lld", axis,
                            (long long)n);
  tt_array *a = tt__compose_slice(c, wide, axis, 0, n / 2, 1), *b = tt__compose_slice(c, wide, axis, n / 2, n / 2, 1);
  return tt__nn_result(c, f, tt__compose_op2(c, TT_MUL, a, tt__compose_op1(c, TT_EXPIT, b)), x, -1);
}
TT_HANDLER(nn_glu)
