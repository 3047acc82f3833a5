/*
** Normalisation: elements less their mean, over their spread, along axes that batch, layer, group and instance norm
** choose; halves are computed in float32.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"
#include "graph/session.h"

/* The moments along axes, which stay. */
typedef struct moments {
  tt_array *mean, *var; /* the mean of squared distances */
} moments;

static uint64_t last_axes(int rank, int n) { return n == 0 ? 0 : (~UINT64_C(0) >> (64 - n)) << (rank - n); }

/* All axes but the channels', the second; none of an array of channels alone. */
static uint64_t but_channels(const tt_array *x) { return last_axes(x->rank, x->rank) & ~UINT64_C(2); }

static moments measured(tt_composer *c, tt_array *x, uint64_t axes) {
  moments m = {.mean = tt__nn_mean(c, x, axes)};
  m.var = tt__nn_mean(c, tt__compose_op1(c, TT_SQUARE, tt__compose_op2(c, TT_SUB, x, m.mean)), axes);
  return m;
}

static tt_array *over_spread(tt_composer *c, tt_array *x, tt_array *var, double eps) {
  return tt__compose_op2(c, TT_DIV, x, tt__compose_op1(c, TT_SQRT, tt__compose_opf(c, TT_ADD, var, eps)));
}

static tt_array *normalised(tt_composer *c, tt_array *x, const moments *m, double eps) {
  return over_spread(c, tt__compose_op2(c, TT_SUB, x, m->mean), m->var, eps);
}

/* y times a weight, plus a bias, where they are given. */
static tt_array *scaled(tt_composer *c, tt_array *y, tt_array *weight, tt_array *bias) {
  if (weight) y = tt__compose_op2(c, TT_MUL, y, weight);
  return bias ? tt__compose_op2(c, TT_ADD, y, bias) : y;
}

/* Argument k, if it is given: as many numbers as there are channels, in the type of x, beside them. */
static tt_array *of_channels(tt_composer *c, const tt_call_frame *f, int k, const char *name, tt_array *x) {
  if (!x || !tt__arg_given(f, k)) return NULL;
  tt_array *a = tt__arg_array(c, f, k);
  int64_t channels = tt__array_len(x)[1];
  if (!a || a->rank != 1 || a->size != channels)
    return a ? tt__compose_fail(c, TT_EVALUE, "%s should contain %lld elements not %lld", name, (long long)channels,
                                (long long)a->size)
             : NULL;
  return tt__nn_along(c, tt__compose_cast(c, a, (tt_dtype)x->dtype), x->rank, 1);
}

/* running = (1 - momentum) * running + momentum * now, in place: no part of any history. */
static bool run_on(tt_composer *c, tt_array *running, tt_array *now, double factor, double momentum) {
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *old = tt__compose_opf(c, TT_MUL, running, 1 - momentum), *flat = tt__compose_ravel(c, now);
  tt_array *more = tt__compose_opf(c, TT_MUL, flat, momentum * factor), *next = tt__compose_op2(c, TT_ADD, old, more);
  bool ok = next && tt__compose_set(c, running, tt_v_array(tt__compose_cast(c, next, (tt_dtype)running->dtype)));
  tt__session_tape = before;
  return ok;
}

/* The running moments, arguments 1 and 2, take n elements' moments in. */
static bool remember(tt_composer *c, const tt_call_frame *f, const moments *m, double n, double momentum) {
  bool ok = m->mean && m->var;
  if (ok && tt__arg_given(f, 1)) ok = run_on(c, tt__arg_array(c, f, 1), m->mean, 1, momentum);
  if (ok && tt__arg_given(f, 2)) ok = run_on(c, tt__arg_array(c, f, 2), m->var, n / (n - 1), momentum);
  return ok;
}

static bool has_channels(tt_composer *c, const tt_array *x, const char *name) {
  if (x->rank >= 2) return true;
  tt__compose_fail(c, TT_EVALUE, "%s: expected at least 2D input (got %dD input)", name, x->rank);
  return false;
}

static bool of_several(tt_composer *c, tt_array *x, int from, const char *words) {
  int64_t n = 1;
  for (int d = 0; d < x->rank; d++) n *= d == 1 || d < from ? 1 : tt__array_len(x)[d];
  if (n > 1) return true;
  char shape[160];
  tt__window_shape(x->rank, tt__array_len(x), shape, sizeof shape);
  tt__compose_fail(c, TT_EVALUE, "Expected more than 1 %s when training, got input size %s", words, shape);
  return false;
}

/* Moments of each channel: of all images, or of each image by itself. */
typedef struct channel_norm {
  const char *name, *flag; /* whether moments are measured, argument 5 */
  bool each, measures;     /* `measures`: unless the flag says otherwise */
  const char *several;     /* what there has to be more than one of */
} channel_norm;

static const channel_norm batch_norm = {"batch_norm", "training", false, false, "value per channel"};
static const channel_norm instance_norm = {"instance_norm", "use_input_stats", true, true, "spatial element"};

/* The moments of x, which the running ones take in. */
static moments own_moments(tt_composer *c, const tt_call_frame *f, const channel_norm *k, tt_array *x,
                           double momentum) {
  moments m = measured(c, x, k->each ? last_axes(x->rank, x->rank - 2) : but_channels(x)), all = m;
  double n = (double)x->size / (double)tt__array_len(x)[1];
  if (k->each) {
    all = (moments){tt__nn_mean(c, m.mean, 1), tt__nn_mean(c, m.var, 1)};
    n /= (double)tt__array_len(x)[0];
  }
  return remember(c, f, &all, n, momentum) ? m : (moments){0};
}

/* input, running_mean, running_var, weight, bias, the flag, momentum, eps */
static tt_array *over_channels(tt_composer *c, tt_call_frame *f, const channel_norm *k) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, k->name);
  bool measures = tt__arg_bool(c, f, 5, k->measures);
  double momentum = tt__arg_float(c, f, 6, 0.1), eps = tt__arg_float(c, f, 7, 1e-5);
  if (!x || c->code != TT_OK || !has_channels(c, x, k->name)) return NULL;
  if (measures && !of_several(c, x, k->each, k->several)) return NULL;
  moments m = {of_channels(c, f, 1, "running_mean", x), of_channels(c, f, 2, "running_var", x)};
  tt_array *weight = of_channels(c, f, 3, "weight", x), *bias = of_channels(c, f, 4, "bias", x);
  if (c->code != TT_OK) return NULL;
  if (!measures && (!m.mean || !m.var))
    return tt__compose_fail(c, TT_EVALUE, "Expected running_mean and running_var to be defined when %s=False", k->flag);
  if (measures && !(m = own_moments(c, f, k, x, momentum)).mean) return NULL;
  return tt__nn_result(c, f, scaled(c, normalised(c, x, &m, eps), weight, bias), given, -1);
}

static tt_array *nn_batch_norm(tt_composer *c, tt_call_frame *f) { return over_channels(c, f, &batch_norm); }
TT_HANDLER(nn_batch_norm)

static tt_array *nn_instance_norm(tt_composer *c, tt_call_frame *f) { return over_channels(c, f, &instance_norm); }
TT_HANDLER(nn_instance_norm)

/* ---- over the last axes */

/* How many last axes argument 1 names; they must be those of x. 0: they are not, or none. */
static int named_axes(tt_composer *c, const tt_call_frame *f, tt_array *x) {
  int64_t len[TT_MAX_RANK];
  int n = tt__arg_ints(c, f, 1, len, TT_MAX_RANK);
  if (c->code != TT_OK) return 0;
  if (n == 0) {
    tt__compose_fail(c, TT_EVALUE,
                     "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
                     "one element, but got normalized_shape = []");
    return 0;
  }
  if (n <= x->rank && memcmp(tt__array_len(x) + x->rank - n, len, sizeof *len * (size_t)n) == 0) return n;
  char want[160], have[160];
  tt__window_shape(n, len, want, sizeof want);
  tt__window_shape(x->rank, tt__array_len(x), have, sizeof have);
  tt__compose_fail(c, TT_EVALUE, "Given normalized_shape=%s, expected input with shape [*, %s, but got input of size%s",
                   want, want + 1, have);
  return 0;
}

/* Argument k, if it is given: numbers of the shape of the last n axes. */
static tt_array *of_axes(tt_composer *c, const tt_call_frame *f, int k, const char *name, tt_array *x, int n) {
  if (!tt__arg_given(f, k)) return NULL;
  tt_array *a = tt__arg_array(c, f, k);
  if (!a ||
      (a->rank == n && memcmp(tt__array_len(a), tt__array_len(x) + x->rank - n, sizeof(int64_t) * (size_t)n) == 0))
    return tt__compose_cast(c, a, (tt_dtype)x->dtype);
  char want[160], have[160];
  tt__window_shape(n, tt__array_len(x) + x->rank - n, want, sizeof want);
  tt__window_shape(a->rank, tt__array_len(a), have, sizeof have);
  return tt__compose_fail(c, TT_EVALUE,
                          "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and "
                          "normalized_shape = %s",
                          name, name, have, want);
}

/* input, normalized_shape, weight, bias, eps */
static tt_array *nn_layer_norm(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "layer_norm");
  int n = x ? named_axes(c, f, x) : 0;
  if (n == 0) return NULL;
  tt_array *weight = of_axes(c, f, 2, "weight", x, n), *bias = of_axes(c, f, 3, "bias", x, n);
  double eps = tt__arg_float(c, f, 4, 1e-5);
  if (c->code != TT_OK) return NULL;
  moments m = measured(c, x, last_axes(x->rank, n));
  return tt__nn_result(c, f, scaled(c, normalised(c, x, &m, eps), weight, bias), given, -1);
}
TT_HANDLER(nn_layer_norm)

/* input, normalized_shape, weight, eps: over the root of the mean square. */
static tt_array *nn_rms_norm(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "rms_norm");
  int n = x ? named_axes(c, f, x) : 0;
  if (n == 0) return NULL;
  tt_array *weight = of_axes(c, f, 2, "weight", x, n);
  double eps = tt__arg_float(c, f, 3, x->dtype == TT_F64 ? DBL_EPSILON : FLT_EPSILON);
  if (c->code != TT_OK) return NULL;
  tt_array *squares = tt__nn_mean(c, tt__compose_op1(c, TT_SQUARE, x), last_axes(x->rank, n));
  return tt__nn_result(c, f, scaled(c, over_spread(c, x, squares, eps), weight, NULL), given, -1);
}
TT_HANDLER(nn_rms_norm)

/* input, num_groups, weight, bias, eps: over the channels of a group and their space. */
static tt_array *nn_group_norm(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "group_norm");
  int64_t groups = tt__arg_int(c, f, 1, 1);
  if (!x || c->code != TT_OK || !has_channels(c, x, "group_norm")) return NULL;
  const int64_t *own = tt__array_len(x);
  if (groups < 1 || own[1] % groups != 0) {
    char shape[160];
    tt__window_shape(x->rank, own, shape, sizeof shape);
    return tt__compose_fail(
        c, TT_EVALUE,
        "Expected number of channels in input to be divisible by num_groups, but got input of shape "
        "%s and num_groups=%lld",
        shape, (long long)groups);
  }
  tt_array *weight = of_channels(c, f, 2, "weight", x), *bias = of_channels(c, f, 3, "bias", x);
  double eps = tt__arg_float(c, f, 4, 1e-5);
  int64_t images = own[0], flat[3] = {images, groups, images ? x->size / (images * groups) : 0};
  tt_array *parts = tt__compose_reshape(c, x, 3, flat);
  if (!parts || c->code != TT_OK) return NULL;
  moments m = measured(c, parts, last_axes(3, 1));
  tt_array *y = tt__compose_reshape(c, normalised(c, parts, &m, eps), x->rank, tt__array_len(x));
  return tt__nn_result(c, f, scaled(c, y, weight, bias), given, -1);
}
TT_HANDLER(nn_group_norm)

/* input, size, alpha, beta, k: over a power of k and the mean square of the channels around. */
static tt_array *nn_local_response_norm(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "local_response_norm");
  int64_t size = tt__arg_int(c, f, 1, 1);
  double alpha = tt__arg_float(c, f, 2, 1e-4), beta = tt__arg_float(c, f, 3, 0.75), k = tt__arg_float(c, f, 4, 1);
  if (!x || c->code != TT_OK) return NULL;
  if (x->rank < 3)
    return tt__compose_fail(c, TT_EVALUE, "Expected 3D or higher dimensionality input (got %d dimensions)", x->rank);
  if (size < 1) return tt__compose_fail(c, TT_EVALUE, "kernel size should be greater than zero");
  if (x->size == 0) return given;
  int64_t images = tt__array_len(x)[0], channels = tt__array_len(x)[1];
  int64_t flat[4] = {images, 1, channels, x->size / (images * channels)};
  const tt_value around[] = {tt_v_int(0), tt_v_int(0), tt_v_int(size / 2), tt_v_int((size - 1) / 2)};
  const tt_value window[] = {tt_v_int(size), tt_v_int(1)};
  tt_array *squares = tt__compose_reshape(c, tt__compose_op1(c, TT_SQUARE, x), 4, flat);
  const tt_value pad[] = {tt_v_array(squares), {.tag = TT_V_TUPLE, .as.tuple = {around, 4}}};
  tt_array *wide = squares ? tt__fn_call(c, "nn.functional.pad", pad, 2) : NULL;
  const tt_value pool[] = {tt_v_array(wide), {.tag = TT_V_TUPLE, .as.tuple = {window, 2}}, tt_v_int(1)};
  tt_array *mean = wide ? tt__fn_call(c, "nn.functional.avg_pool2d", pool, 3) : NULL;
  mean = tt__compose_reshape(c, mean, x->rank, tt__array_len(x));
  tt_array *by = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, mean, alpha), k);
  return tt__nn_result(c, f, tt__compose_op2(c, TT_DIV, x, tt__compose_opf(c, TT_POW, by, beta)), given, -1);
}
TT_HANDLER(nn_local_response_norm)
