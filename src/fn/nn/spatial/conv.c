/*
** Convolutions and transposed ones over 1 to 3 axes of space, with PyTorch's parameters and words.
*/
#include <stdio.h>
#include <string.h>

#include "fn/fn.h"
#include "fn/nn/spatial/convolution.h"
#include "fn/nn/spatial/window.h"

/* What both take, in PyTorch's order of axes: input [N, C, S...], weight [O, C / groups, K...] or, transposed,
 * [C, O / groups, K...]. */
typedef struct conv {
  const char *name;
  int n;                   /* axes of space */
  bool transposed, single; /* single: the input has no axis of images */
  tt_array *x, *w, *bias;
  int64_t groups, stride[TT_CONV_AXES], dilation[TT_CONV_AXES], pad[TT_CONV_AXES], more[TT_CONV_AXES];
  int64_t out[TT_CONV_AXES];
  bool same; /* padding='same' */
} conv;

/* ---- arguments */

static void read_padding(tt_composer *c, const tt_call_frame *f, conv *v) {
  const tt_value *p = &f->arg[4];
  if (v->transposed || p->tag != TT_V_STRING) {
    tt__window_ints(c, f, 4, "padding", v->n, 0, v->pad);
    for (int d = 0; d < v->n; d++)
      if (v->pad[d] < 0) tt__compose_fail(c, TT_EVALUE, "negative padding is not supported");
    return;
  }
  v->same = strcmp(p->as.s, "same") == 0;
  if (!v->same && strcmp(p->as.s, "valid") != 0)
    tt__compose_fail(c, TT_EVALUE, "Invalid padding string: '%s', should be one of {'valid', 'same'}", p->as.s);
  for (int d = 0; d < v->n && v->same; d++)
    if (v->stride[d] != 1) tt__compose_fail(c, TT_EVALUE, "padding='same' is not supported for strided convolutions");
  for (int d = 0; d < v->n; d++) /* of an odd number of zeros the last is behind */
    v->pad[d] = v->same ? v->dilation[d] * (tt__array_len(v->w)[2 + d] - 1) / 2 : 0;
}

static bool check_ranks(tt_composer *c, conv *v) {
  char shape[160];
  int n = v->n;
  if (v->x->rank != n + 1 && v->x->rank != n + 2) {
    tt__window_shape(v->x->rank, tt__array_len(v->x), shape, sizeof shape);
    tt__compose_fail(c, TT_EVALUE, "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s",
                     n + 1, n + 2, v->name, shape);
  } else if (v->w->rank != n + 2) {
    tt__window_shape(v->w->rank, tt__array_len(v->w), shape, sizeof shape);
    tt__compose_fail(c, TT_EVALUE, "Expected %d-dimensional weight for %s, but got weight of size: %s", n + 2, v->name,
                     shape);
  }
  return c->code == TT_OK;
}

/* PyTorch promotes nothing here. */
static bool check_types(tt_composer *c, const conv *v) {
  const tt_array *with[2] = {v->bias, v->w};
  for (int k = 0; k < 2; k++)
    if (with[k] && with[k]->dtype != v->x->dtype)
      tt__compose_fail(c, TT_ETYPE, "Input type (%s) and %s type (%s) should be the same", tt__dtypes[v->x->dtype].name,
                       k ? "weight" : "bias", tt__dtypes[with[k]->dtype].name);
  return c->code == TT_OK;
}

static bool read_conv(tt_composer *c, const tt_call_frame *f, conv *v) {
  v->x = tt__arg_array(c, f, 0);
  v->w = tt__arg_array(c, f, 1);
  v->bias = tt__arg_given(f, 2) ? tt__arg_array(c, f, 2) : NULL;
  if (c->code != TT_OK || !check_types(c, v) || !check_ranks(c, v)) return false;
  v->groups = tt__arg_int(c, f, 6, 1);
  if (v->groups < 1) tt__compose_fail(c, TT_EVALUE, "non-positive groups is not supported");
  tt__window_ints(c, f, 3, "stride", v->n, 1, v->stride);
  tt__window_ints(c, f, v->transposed ? 7 : 5, "dilation", v->n, 1, v->dilation);
  if (v->transposed) tt__window_ints(c, f, 5, "output_padding", v->n, 0, v->more);
  read_padding(c, f, v);
  for (int d = 0; d < v->n; d++) {
    if (v->stride[d] < 1) tt__compose_fail(c, TT_EVALUE, "non-positive stride is not supported");
    if (v->dilation[d] < 1) tt__compose_fail(c, TT_EVALUE, "dilation should be greater than zero");
    if (v->more[d] < 0 || (v->more[d] >= v->stride[d] && v->more[d] >= v->dilation[d] && v->more[d] > 0))
      tt__compose_fail(c, TT_EVALUE, "output padding must be smaller than either stride or dilation");
  }
  return c->code == TT_OK;
}

static bool check_channels(tt_composer *c, const conv *v) {
  char size[160], given[160];
  const int64_t *w = tt__array_len(v->w), *x = tt__array_len(v->x);
  long long groups = v->groups, first = w[0], have = x[v->single ? 0 : 1];
  long long want = v->transposed ? first : w[1] * groups, outputs = v->transposed ? w[1] * groups : first;
  tt__window_shape(v->w->rank, w, size, sizeof size);
  tt__window_shape(v->x->rank, x, given, sizeof given);
  if (first < groups) {
    tt__compose_fail(c, TT_EVALUE,
                     "Given groups=%lld, expected weight to be at least %lld at dimension 0, but got weight of size "
                     "%s instead",
                     groups, groups, size);
  } else if (first % groups != 0) {
    tt__compose_fail(c, TT_EVALUE,
                     "Given groups=%lld, expected weight to be divisible by %lld at dimension 0, but got weight of "
                     "size %s instead",
                     groups, groups, size);
  } else if (have != want) {
    char how[40] = "transposed=1";
    if (!v->transposed) snprintf(how, sizeof how, "groups=%lld", groups);
    tt__compose_fail(
        c, TT_EVALUE,
        "Given %s, weight of size %s, expected input%s to have %lld channels, but got %lld channels instead", how, size,
        given, want, have);
  } else if (v->bias && (v->bias->rank != 1 || v->bias->size != outputs)) {
    tt__window_shape(v->bias->rank, tt__array_len(v->bias), given, sizeof given);
    tt__compose_fail(c, TT_EVALUE,
                     "Given %sweight of size %s, expected bias to be 1-dimensional with %lld elements, but got bias of "
                     "size %s instead",
                     v->transposed ? "transposed=1, " : "", size, outputs, given);
  }
  return c->code == TT_OK;
}

/* Lengths of the result. */
static bool measure(tt_composer *c, conv *v) {
  const int64_t *x = tt__array_len(v->x) + v->x->rank - v->n, *k = tt__array_len(v->w) + 2;
  int64_t wide[TT_CONV_AXES], reach[TT_CONV_AXES];
  bool fits = true;
  for (int d = 0; d < v->n; d++) {
    int64_t window = v->dilation[d] * (k[d] - 1) + 1, all = v->same ? window - 1 : 2 * v->pad[d];
    wide[d] = x[d] + all;
    reach[d] = window;
    v->out[d] = v->transposed       ? (x[d] - 1) * v->stride[d] - all + window + v->more[d]
                : wide[d] >= window ? (wide[d] - window) / v->stride[d] + 1
                                    : 0;
    fits &= v->transposed ? v->out[d] > 0 : wide[d] >= window;
    if (k[d] < 1)
      return tt__compose_fail(c, TT_EVALUE, "%s: kernels without elements are not supported", v->name), false;
    if (wide[d] > INT32_MAX || window > INT32_MAX || v->out[d] > INT32_MAX)
      return tt__compose_fail(c, TT_EVALUE, "%s: an axis of space is longer than 2^31 - 1", v->name), false;
  }
  if (fits) return true;
  char padded[160], kernel[160];
  tt__window_product(v->n, v->transposed ? v->out : wide, padded, sizeof padded);
  tt__window_product(v->n, reach, kernel, sizeof kernel);
  if (v->transposed)
    tt__compose_fail(c, TT_EVALUE, "Calculated output size: (%s). Output size is too small", padded);
  else
    tt__compose_fail(c, TT_EVALUE,
                     "Calculated padded input size per channel: (%s). Kernel size: (%s). Kernel size can't be greater "
                     "than actual input size",
                     padded, kernel);
  return false;
}

/* ---- the convolution */

/* Axis `axis` as groups and what each has of it. */
static tt_array *in_groups(tt_composer *c, tt_array *a, int axis, int64_t groups) {
  int64_t len[TT_MAX_RANK], *have = tt__array_len(a);
  memcpy(len, have, sizeof *len * (size_t)axis);
  len[axis] = groups;
  len[axis + 1] = have[axis] / groups;
  memcpy(len + axis + 2, have + axis + 1, sizeof *len * (size_t)(a->rank - axis - 1));
  return tt__compose_reshape(c, a, a->rank + 1, len);
}

/* The weight of a transposed convolution as that of one over an input with zeros between its elements. */
static tt_array *turned_weight(tt_composer *c, tt_array *w) {
  int order[TT_MAX_RANK];
  for (int d = 0; d < w->rank; d++) order[d] = d == 1 ? 2 : d == 2 ? 1 : d;
  tt_array *t = tt__compose_transpose(c, w, order);
  for (int d = 3; t && d < t->rank; d++) t = tt__compose_flip(c, t, d);
  return t;
}

static tt_array *convolved(tt_composer *c, conv *v) {
  tt_conv_axis axis[TT_CONV_AXES];
  const int64_t *kernel = tt__array_len(v->w) + 2;
  for (int d = 0; d < v->n; d++) {
    axis[d] = (tt_conv_axis){v->stride[d], v->dilation[d], 1, v->pad[d]};
    if (v->transposed)
      axis[d] = (tt_conv_axis){1, v->dilation[d], v->stride[d], (kernel[d] - 1) * v->dilation[d] - v->pad[d]};
  }
  tt_array *x = v->x, *w = v->w;
  if (v->single) x = tt__compose_expand(c, x, 0);
  x = x ? in_groups(c, x, 1, v->groups) : NULL;
  w = w ? in_groups(c, w, 0, v->groups) : NULL;
  if (w && v->transposed) w = turned_weight(c, w);
  tt_array *bias = v->bias ? in_groups(c, v->bias, 0, v->groups) : NULL;
  tt_array *y = tt__compose_convolution(c, x, w, bias, axis, v->out, false);
  return y && v->single ? tt__compose_reshape(c, y, v->n + 1, tt__array_len(y) + 1) : y;
}

static tt_array *conv_of(tt_composer *c, const tt_call_frame *f, int n, bool transposed) {
  static const char *const names[2][TT_CONV_AXES] = {{"conv1d", "conv2d", "conv3d"},
                                                     {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"}};
  conv v = {.name = names[transposed][n - 1], .n = n, .transposed = transposed};
  if (!read_conv(c, f, &v)) return NULL;
  v.single = v.x->rank == n + 1;
  return check_channels(c, &v) && measure(c, &v) ? convolved(c, &v) : NULL;
}

#define CONV(n)                                                                                              \
  static tt_array *conv##n##d(tt_composer *c, tt_call_frame *f) { return conv_of(c, f, n, false); }          \
  TT_HANDLER(conv##n##d)                                                                                     \
  static tt_array *conv_transpose##n##d(tt_composer *c, tt_call_frame *f) { return conv_of(c, f, n, true); } \
  TT_HANDLER(conv_transpose##n##d)
CONV(1)
CONV(2)
CONV(3)

/* input [steps, images, channels], weight [window, channels, outputs], bias, pad: conv1d with the axes turned. */
static tt_array *nn_conv_tbc(tt_composer *c, tt_call_frame *f) {
  static const int ahead[] = {1, 2, 0}, back[] = {2, 1, 0}, turn[] = {2, 0, 1};
  tt_array *x = tt__arg_array(c, f, 0), *w = tt__arg_array(c, f, 1);
  if (!x || !w) return NULL;
  if (x->rank != 3 || w->rank != 3)
    return tt__compose_fail(
        c, TT_EVALUE, "Input and weight must have 3 dims: time, batch, in_channel and window, in_channel, out_channel");
  x = tt__compose_transpose(c, x, ahead);
  w = tt__compose_transpose(c, w, back);
  const tt_value arg[] = {tt_v_array(x), tt_v_array(w), f->arg[2], tt_v_int(1), tt_v_int(tt__arg_int(c, f, 3, 0))};
  return x && w ? tt__compose_transpose(c, tt__fn_call(c, "nn.functional.conv1d", arg, 5), turn) : NULL;
}
TT_HANDLER(nn_conv_tbc)
