/*
** Signals of another length: interpolation, and pools whose windows follow from the length of the result. Places and
** weights are computed here, once an axis; elements are taken at places, axis by axis.
*/
#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"

enum { TAPS = 4 };

typedef enum way { NEAREST, NEAREST_EXACT, LINEAR, CUBIC, AREA, WAYS } way;

/* How one axis is read. */
typedef struct axis {
  int64_t in, out;
  double step; /* of places in the input */
  bool corners;
} axis;

/* Where an element of the result lies in the input. */
static double place_of(const axis *a, int64_t i, bool clamped) {
  if (a->corners) return a->step * (double)i;
  double at = a->step * ((double)i + 0.5) - 0.5;
  return clamped && at < 0 ? 0 : at;
}

/* The element that is nearest, in float32 as PyTorch computes it: ends of steps fall alike. */
static int64_t nearest(const axis *a, int64_t i, bool exact) {
  float step = (float)a->step, at = exact ? ((float)i + 0.5f) * step : (float)i * step;
  if (a->out == a->in) return i;
  if (!exact && a->out == 2 * a->in) return i >> 1;
  return tt__min64((int64_t)floorf(at), a->in - 1);
}

/* The taps of a result: places, and for more than one weights. */
static int taps_of(const axis *a, way w, int64_t i, int64_t *place, double *weight) {
  if (w == NEAREST || w == NEAREST_EXACT) {
    place[0] = nearest(a, i, w == NEAREST_EXACT);
    return 1;
  }
  double at = place_of(a, i, w == LINEAR), low = floor(at), t = at - low;
  if (w == LINEAR) {
    int64_t first = tt__min64((int64_t)low, a->in - 1);
    place[0] = first;
    place[1] = tt__min64(first + 1, a->in - 1);
    weight[1] = at - (double)first > 1 ? 1 : at - (double)first;
    weight[0] = 1 - weight[1];
    return 2;
  }
  const double bend = -0.75;
  for (int k = 0; k < TAPS; k++) {
    double x = fabs(t - (double)(k - 1));
    place[k] = tt__max64(0, tt__min64((int64_t)low + k - 1, a->in - 1));
    weight[k] =
        x <= 1 ? ((bend + 2) * x - (bend + 3)) * x * x + 1 : ((bend * x - 5 * bend) * x + 8 * bend) * x - 4 * bend;
  }
  return TAPS;
}

static void put_float(tt_dtype t, void *data, int64_t at, double v) {
  if (t == TT_F64)
    ((double *)data)[at] = v;
  else
    ((float *)data)[at] = (float)v;
}

/* The axis d of x (float32 or float64) in its new length. */
static tt_array *along(tt_composer *c, tt_array *x, int d, const axis *a, way w) {
  void *place[TAPS], *weight[TAPS];
  tt_array *at[TAPS], *by[TAPS], *y = NULL;
  int n = w == LINEAR ? 2 : w == CUBIC ? TAPS : 1;
  for (int k = 0; k < n; k++) {
    at[k] = tt__compose_block(c, TT_I64, 1, &a->out, &place[k]);
    by[k] = n > 1 ? tt__compose_block(c, (tt_dtype)x->dtype, 1, &a->out, &weight[k]) : NULL;
    if (!at[k] || (n > 1 && !by[k])) return NULL;
  }
  for (int64_t i = 0; i < a->out; i++) {
    int64_t p[TAPS];
    double v[TAPS];
    taps_of(a, w, i, p, v);
    for (int k = 0; k < n; k++) {
      ((int64_t *)place[k])[i] = p[k];
      if (n > 1) put_float((tt_dtype)x->dtype, weight[k], i, v[k]);
    }
  }
  for (int k = 0; k < n; k++) {
    tt_array *part = tt__compose_take(c, x, at[k], d);
    if (n > 1) part = tt__compose_op2(c, TT_MUL, part, tt__nn_along(c, by[k], x->rank, d));
    y = k == 0 ? part : tt__compose_op2(c, TT_ADD, y, part);
  }
  return y;
}

/* ---- pools by the length of the result */

static int64_t begins(int64_t i, int64_t in, int64_t out) { return i * in / out; }
static int64_t ends(int64_t i, int64_t in, int64_t out) { return ((i + 1) * in + out - 1) / out; }

/* Windows of axis d as one more axis behind it, from a gathered copy; what is beyond a window's end is its last
 * element again, and, for means, has weight 0. */
static tt_array *gathered(tt_composer *c, tt_array *x, int d, int64_t in, int64_t out, bool mean) {
  int64_t len[2] = {out, 0};
  for (int64_t i = 0; i < out; i++) len[1] = tt__max64(len[1], ends(i, in, out) - begins(i, in, out));
  void *place, *weight = NULL;
  tt_array *at = tt__compose_block(c, TT_I64, 2, len, &place);
  tt_array *by = mean ? tt__compose_block(c, (tt_dtype)x->dtype, 2, len, &weight) : NULL;
  if (!at || (mean && !by)) return NULL;
  for (int64_t i = 0; i < out; i++) {
    int64_t from = begins(i, in, out), n = ends(i, in, out) - from;
    for (int64_t k = 0; k < len[1]; k++) {
      ((int64_t *)place)[i * len[1] + k] = from + tt__min64(k, n - 1);
      if (mean) put_float((tt_dtype)x->dtype, weight, i * len[1] + k, k < n ? 1 / (double)n : 0);
    }
  }
  tt_array *windows = tt__compose_take(c, x, at, d);
  if (!mean || !windows) return windows;
  int64_t beside[TT_MAX_RANK + 1];
  for (int e = 0; e < windows->rank; e++) beside[e] = e == d ? out : e == d + 1 ? len[1] : 1;
  return tt__compose_op2(c, TT_MUL, windows, tt__compose_reshape(c, by, windows->rank, beside));
}

static tt_array *pooled(tt_composer *c, tt_array *x, int d, int64_t out, bool mean) {
  int64_t in = tt__array_len(x)[d], len[TT_MAX_RANK + 1];
  if (in == out) return x;
  if (out == 0 || in % out != 0) {
    x = gathered(c, x, d, in, out, mean);
    return tt__compose_reduce(c, mean ? TT_RED_SUM : TT_RED_MAX, x, UINT64_C(1) << (d + 1), false);
  }
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)(d + 1));
  len[d] = out;
  len[d + 1] = in / out;
  memcpy(len + d + 2, tt__array_len(x) + d + 1, sizeof *len * (size_t)(x->rank - d - 1));
  x = tt__compose_reshape(c, x, x->rank + 1, len);
  tt_array *y = tt__compose_reduce(c, mean ? TT_RED_SUM : TT_RED_MAX, x, UINT64_C(1) << (d + 1), false);
  return mean ? tt__compose_opf(c, TT_DIV, y, (double)(in / out)) : y;
}

/* The lengths of the result along the last n axes of x: output_size, where None is the input's. */
static bool sizes(tt_composer *c, const tt_call_frame *f, const char *name, tt_array *x, int n, int64_t *out) {
  const tt_value *v = &f->arg[1];
  if (x->rank != n + 1 && x->rank != n + 2)
    return tt__compose_fail(c, TT_EVALUE, "%s(): Expected %dD or %dD tensor, but got a %dD input", name, n + 1, n + 2,
                            x->rank),
           false;
  if (v->tag == TT_V_TUPLE && v->as.tuple.n != n)
    return tt__compose_fail(c, TT_EVALUE, "%s: output_size must be %d", name, n), false;
  for (int k = 0; k < n; k++) {
    const tt_value one = v->tag == TT_V_TUPLE ? v->as.tuple.item[k] : *v;
    const tt_call_frame size = {.arg = &one, .narg = 1};
    int64_t in = tt__array_len(x)[x->rank - n + k];
    out[k] = tt__arg_int(c, &size, 0, in);
    if (c->code == TT_OK && out[k] < 0)
      tt__compose_fail(c, TT_EVALUE, "%s: elements of output_size must be greater than or equal to 0", name);
    if (c->code == TT_OK && in == 0)
      tt__compose_fail(c, TT_EVALUE, "%s(): Expected input to have non-zero size for non-batch dimensions", name);
  }
  return c->code == TT_OK;
}

/* input [images, channels, n axes], or without images; output_size */
static tt_array *adaptive(tt_composer *c, const tt_call_frame *f, const char *name, int n, bool mean) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, name);
  int64_t out[3];
  if (!x || !sizes(c, f, name, x, n, out)) return NULL;
  for (int k = 0; k < n && x; k++) x = pooled(c, x, x->rank - n + k, out[k], mean);
  return tt__nn_result(c, f, x, given, -1);
}

/* The elements of windows over n axes of space by their numbers, [windows, elements]; beyond the end of a window along
 * an axis its last one again. */
static tt_array *window_elements(tt_composer *c, int n, const int64_t *in, const int64_t *out) {
  int64_t longest[3], len[2] = {1, 1};
  for (int d = 0; d < n; d++) {
    longest[d] = 0;
    for (int64_t i = 0; i < out[d]; i++)
      longest[d] = tt__max64(longest[d], ends(i, in[d], out[d]) - begins(i, in[d], out[d]));
    len[0] *= out[d];
    len[1] *= longest[d];
  }
  void *data;
  tt_array *at = tt__compose_block(c, TT_I64, 2, len, &data);
  for (int64_t i = 0; at && i < len[0] * len[1]; i++) {
    int64_t window = i / len[1], element = i % len[1], flat = 0, step = 1;
    for (int d = n - 1; d >= 0; d--) {
      int64_t w = window % out[d], from = begins(w, in[d], out[d]), last = ends(w, in[d], out[d]) - 1;
      flat += step * tt__min64(from + element % longest[d], last);
      step *= in[d];
      window /= out[d];
      element /= longest[d];
    }
    ((int64_t *)data)[i] = flat;
  }
  return at;
}

/* The largest of windows, and where in the axes of space they lie. */
static tt_array *adaptive_places(tt_composer *c, tt_call_frame *f, const char *name, int n) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, name);
  int64_t out[3], len[TT_MAX_RANK], space = 1;
  if (!x || !sizes(c, f, name, x, n, out)) return NULL;
  const int64_t *in = tt__array_len(x) + x->rank - n;
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)x->rank);
  for (int d = 0; d < n; d++) {
    space *= in[d];
    len[x->rank - n + d] = out[d];
  }
  int64_t flat[2] = {x->size / space, space};
  tt_array *at = window_elements(c, n, in, out);
  tt_array *windows = at ? tt__compose_take(c, tt__compose_reshape(c, x, 2, flat), at, 1) : NULL;
  if (!windows) return NULL;
  const tt_value arg[] = {tt_v_array(windows), tt_v_int(2), {.tag = TT_V_NONE}, {.tag = TT_V_BOOL, .as.b = true}};
  tt_array *place = tt__compose_take_lines(c, tt__compose_expand(c, at, 0), tt__fn_call(c, "argmax", arg, 4), 2, false);
  tt_array *most = tt__compose_reshape(c, tt__compose_reduce(c, TT_RED_MAX, windows, 4, false), x->rank, len);
  place = tt__compose_reshape(c, place, x->rank, len);
  most = tt__nn_result(c, f, most, given, -1);
  return most && place && tt__fn_give(c, f, most) && tt__fn_give(c, f, place) ? most : NULL;
}

#define ADAPTIVE(n)                                                                                        \
  static tt_array *nn_adaptive_avg_pool##n##d(tt_composer *c, tt_call_frame *f) {                          \
    return adaptive(c, f, "adaptive_avg_pool" #n "d", n, true);                                            \
  }                                                                                                        \
  TT_HANDLER(nn_adaptive_avg_pool##n##d)                                                                   \
  static tt_array *nn_adaptive_max_pool##n##d(tt_composer *c, tt_call_frame *f) {                          \
    static const char name[] = "adaptive_max_pool" #n "d";                                                 \
    return tt__arg_bool(c, f, 2, false) ? adaptive_places(c, f, name, n) : adaptive(c, f, name, n, false); \
  }                                                                                                        \
  TT_HANDLER(nn_adaptive_max_pool##n##d)                                                                   \
  static tt_array *nn_adaptive_max_pool##n##d_with_indices(tt_composer *c, tt_call_frame *f) {             \
    return adaptive_places(c, f, "adaptive_max_pool" #n "d", n);                                           \
  }                                                                                                        \
  TT_HANDLER(nn_adaptive_max_pool##n##d_with_indices)
ADAPTIVE(1)
ADAPTIVE(2)
ADAPTIVE(3)

/* ---- interpolation */

static way way_of(tt_composer *c, const char *mode, int space) {
  static const struct {
    const char *word;
    way w;
    int space; /* 0: any */
  } known[] = {{"nearest", NEAREST, 0},  {"nearest-exact", NEAREST_EXACT, 0},
               {"linear", LINEAR, 1},    {"bilinear", LINEAR, 2},
               {"trilinear", LINEAR, 3}, {"bicubic", CUBIC, 2},
               {"area", AREA, 0}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(known[k].word, mode) != 0) continue;
    if (known[k].space == 0 || known[k].space == space) return known[k].w;
    tt__compose_fail(c, TT_ENOTIMPL, "Got %dD input, but %s mode needs %dD input", space + 2, mode, known[k].space + 2);
    return WAYS;
  }
  tt__compose_fail(
      c, TT_ENOTIMPL,
      "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: nearest | linear | "
      "bilinear | bicubic | trilinear | area | nearest-exact (got %s)",
      space + 2, mode);
  return WAYS;
}

/* Lengths of the result and the steps, out of a size or a factor for all axes or each. */
static bool lengths(tt_composer *c, const tt_call_frame *f, tt_array *x, int space, axis *a) {
  int64_t size[TT_MAX_RANK];
  bool by_size = tt__arg_given(f, 1), by_factor = tt__arg_given(f, 2), again = tt__arg_bool(c, f, 5, false);
  int n = by_size ? tt__arg_ints(c, f, 1, size, TT_MAX_RANK) : 1;
  if (by_size && by_factor) tt__compose_fail(c, TT_EVALUE, "only one of size or scale_factor should be defined");
  if (!by_size && !by_factor) tt__compose_fail(c, TT_EVALUE, "either size or scale_factor should be defined");
  const tt_value *v = by_factor ? &f->arg[2] : NULL;
  if (v && v->tag == TT_V_TUPLE) n = (int)v->as.tuple.n;
  if (c->code == TT_OK && n != 1 && n != space)
    tt__compose_fail(c, TT_EVALUE,
                     "Input and output must have the same number of spatial dimensions, but got input with spatial "
                     "dimensions of %d and %d numbers",
                     space, n);
  for (int k = 0; k < space && c->code == TT_OK; k++) {
    a[k].in = tt__array_len(x)[2 + k];
    double factor = 0;
    if (v) {
      const tt_call_frame one = {.arg = v->tag == TT_V_TUPLE ? &v->as.tuple.item[n == 1 ? 0 : k] : v, .narg = 1};
      factor = tt__arg_float(c, &one, 0, 1);
    }
    a[k].out = v ? (int64_t)floor((double)a[k].in * factor) : size[n == 1 ? 0 : k];
    if (c->code == TT_OK && (a[k].out < 1 || a[k].in < 1))
      tt__compose_fail(c, TT_EVALUE,
                       "Input and output sizes should be greater than 0, but got input %lld and output %lld",
                       (long long)a[k].in, (long long)a[k].out);
    if (c->code != TT_OK) return false;
    if (a[k].corners)
      a[k].step = a[k].out > 1 ? (double)(a[k].in - 1) / (double)(a[k].out - 1) : 0;
    else
      a[k].step = v && !again ? 1 / factor : (double)a[k].in / (double)a[k].out;
  }
  return c->code == TT_OK;
}

/* input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias */
static tt_array *nn_interpolate(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "interpolate");
  if (!x) return NULL;
  if (x->rank < 3 || x->rank > 5)
    return tt__compose_fail(c, TT_ENOTIMPL, "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD)",
                            x->rank);
  int space = x->rank - 2;
  way w = way_of(c, tt__arg_string(c, f, 3, "nearest"), space);
  bool corners = tt__arg_bool(c, f, 4, false), straight = w == LINEAR || w == CUBIC;
  if (c->code == TT_OK && tt__arg_given(f, 4) && !straight)
    tt__compose_fail(c, TT_EVALUE,
                     "align_corners option can only be set with the interpolating modes: linear | bilinear "
                     "| bicubic | trilinear");
  if (tt__arg_bool(c, f, 6, false)) tt__compose_fail(c, TT_ENOTIMPL, "interpolate: antialias is not implemented");
  axis a[3] = {{.corners = corners}, {.corners = corners}, {.corners = corners}};
  if (c->code != TT_OK || !lengths(c, f, x, space, a)) return NULL;
  for (int k = 0; k < space && x; k++) {
    bool same = a[k].in == a[k].out && a[k].step == 1;
    if (w == AREA)
      x = pooled(c, x, 2 + k, a[k].out, true);
    else if (!same)
      x = along(c, x, 2 + k, &a[k], w);
  }
  return tt__nn_result(c, f, x, given, -1);
}
TT_HANDLER(nn_interpolate)

/* ---- older names of interpolation */

static tt_array *interpolated(tt_composer *c, const tt_call_frame *f, const char *mode, bool corners) {
  const tt_value how = {.tag = TT_V_STRING, .as.s = mode},
                 ends = {.tag = corners ? TT_V_BOOL : TT_V_NONE, .as.b = corners};
  const tt_value arg[] = {f->arg[0], f->arg[1], f->arg[2], how, ends};
  return tt__fn_call(c, "nn.functional.interpolate", arg, 5);
}
static tt_array *nn_upsample_nearest(tt_composer *c, tt_call_frame *f) { return interpolated(c, f, "nearest", false); }
TT_HANDLER(nn_upsample_nearest)
/* Between the outer elements, in as many axes as there are. */
static tt_array *nn_upsample_bilinear(tt_composer *c, tt_call_frame *f) { return interpolated(c, f, "bilinear", true); }
TT_HANDLER(nn_upsample_bilinear)

/* input, size, scale_factor, mode, align_corners */
static tt_array *nn_upsample(tt_composer *c, tt_call_frame *f) {
  return tt__fn_call(c, "nn.functional.interpolate", f->arg, 5);
}
TT_HANDLER(nn_upsample)
