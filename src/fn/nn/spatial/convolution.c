/*
** The convolution in a calculation; see convolution.h.
*/
#include "fn/nn/spatial/convolution.h"

#include <assert.h>
#include <string.h>

#include "base/integer.h"
#include "fn/linalg/matrix.h"

enum { LEAD = 3 }; /* axes before those of space */

static int64_t ceil_of(int64_t n, int64_t d) { return n > 0 ? (n + d - 1) / d : 0; } /* 0 for negative n */

static tt_array *by_row(tt_composer *c, tt_array *x, tt_array *w, tt_array *bias, const tt_conv_axis *axis, int n,
                        const int64_t *len, bool turned) {
  tt_lib_attr attr = {.row = tt__lib_row(bias ? "convolution_bias" : "convolution")};
  tt__conv_tell(&attr, axis, n, turned);
  tt_array *src[3] = {x, w, bias};
  return tt__compose_library(c, &attr, src, bias ? 3 : 2, (tt_dtype)x->dtype, LEAD - 1 + n, len);
}

/* ---- complex numbers: four convolutions of parts */

static tt_array *of_parts(tt_composer *c, tt_array *x, tt_array *w, tt_array *bias, const tt_conv_axis *axis,
                          const int64_t *out, bool turned) {
  tt_array *part[2][2];
  tt_array *of[2] = {x, w};
  for (int i = 0; i < 2; i++) {
    part[i][0] = tt__compose_op1(c, TT_REAL, of[i]);
    part[i][1] = tt__compose_op1(c, TT_IMAG, of[i]);
    if (!part[i][0] || !part[i][1]) return NULL;
  }
  tt_array *b[2] = {bias ? tt__compose_op1(c, TT_REAL, bias) : NULL, bias ? tt__compose_op1(c, TT_IMAG, bias) : NULL};
  tt_array *y[2][2];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      y[i][j] = tt__compose_convolution(c, part[0][i], part[1][j], i == 0 ? b[j] : NULL, axis, out, turned);
  return tt__compose_complex(c, tt__compose_op2(c, TT_SUB, y[0][0], y[1][1]),
                             tt__compose_op2(c, TT_ADD, y[0][1], y[1][0]));
}

/* ---- windows, for types without the row */

/* Where x lies. */
static tt_array *zeros(tt_composer *c, const tt_array *x, int rank, const int64_t *len) {
  tt_array *a = tt__compose_full(c, (tt_dtype)x->dtype, rank, len, tt_v_int(0));
  if (a && x->storage->node->device > 0) a->storage->node->device = x->storage->node->device;
  return a;
}

/* x with zeros between and around its elements: what the windows of `out` places can see. */
static tt_array *seen(tt_composer *c, tt_array *x, const tt_conv_axis *axis, int n, const int64_t *out,
                      const int64_t *kernel) {
  int64_t len[TT_MAX_RANK], *have = tt__array_len(x);
  memcpy(len, have, sizeof *len * x->rank);
  bool same = true;
  for (int d = 0; d < n; d++) {
    const tt_conv_axis *a = &axis[d];
    len[LEAD + d] = (out[d] - 1) * a->stride + (kernel[d] - 1) * a->dilation + 1;
    same &= a->spread == 1 && a->pad == 0 && len[LEAD + d] == have[LEAD + d];
  }
  if (same) return x;
  tt_array *wide = zeros(c, x, x->rank, len), *to = wide;
  for (int d = 0; d < n && x && to; d++) {
    const tt_conv_axis *a = &axis[d];
    int64_t first = ceil_of(-a->pad, a->spread), at = first * a->spread + a->pad;
    int64_t count = tt__min64(have[LEAD + d] - first, ceil_of(len[LEAD + d] - at, a->spread));
    if (count <= 0) return wide;
    x = tt__compose_slice(c, x, LEAD + d, first, count, 1);
    to = tt__compose_slice(c, to, LEAD + d, at, count, a->spread);
  }
  return x && to && tt__compose_set(c, to, tt_v_array(x)) ? wide : NULL;
}

static tt_array *of_windows(tt_composer *c, tt_array *x, tt_array *w, const tt_conv_axis *axis, const int64_t *out,
                            bool turned, const int64_t *result) {
  int n = x->rank - LEAD, to[LEAD + TT_CONV_AXES] = {turned ? 1 : 0, turned ? 2 : 1, turned ? 0 : 2};
  const int64_t *kernel = tt__array_len(w) + LEAD;
  tt_array *wide = seen(c, x, axis, n, out, kernel);
  if (!wide) return NULL;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  tt_labelled a = {.label = {0, 1, 3}}, b = {.a = w, .label = {1, 2, 3}};
  for (int d = 0; d < LEAD; d++) {
    len[d] = tt__array_len(wide)[d];
    step[d] = tt__array_step(wide)[d];
  }
  for (int d = 0; d < n; d++) {
    int64_t by = tt__array_step(wide)[LEAD + d];
    len[LEAD + d] = out[d];
    step[LEAD + d] = by * axis[d].stride;
    len[LEAD + n + d] = kernel[d];
    step[LEAD + n + d] = by * axis[d].dilation;
    a.label[LEAD + d] = to[LEAD + d] = 10 + d;
    a.label[LEAD + n + d] = b.label[LEAD + d] = 20 + d;
  }
  a.a = tt__compose_view(c, wide, LEAD + 2 * n, len, step, wide->off);
  return tt__compose_reshape(c, tt__compose_contract(c, &a, &b, to, LEAD + n), LEAD - 1 + n, result);
}

static tt_array *with_bias(tt_composer *c, tt_array *y, tt_array *bias, bool turned) {
  if (!bias || !y) return y;
  int64_t len[TT_MAX_RANK];
  for (int d = 0; d < y->rank; d++) len[d] = 1;
  len[!turned] = bias->size;
  return tt__compose_op2(c, TT_ADD, y, tt__compose_reshape(c, bias, y->rank, len));
}

tt_array *tt__compose_convolution(tt_composer *c, tt_array *x, tt_array *w, tt_array *bias, const tt_conv_axis *axis,
                                  const int64_t *out, bool turned) {
  if (!x || !w || c->code != TT_OK) return NULL;
  assert(x->rank == w->rank && x->dtype == w->dtype && (!bias || (bias->dtype == x->dtype && bias->rank == 2)));
  int n = x->rank - LEAD;
  tt_dtype t = (tt_dtype)x->dtype;
  int64_t len[TT_MAX_RANK];
  len[turned] = tt__array_len(x)[0];
  len[!turned] = tt__array_len(w)[0] * tt__array_len(w)[1];
  memcpy(len + LEAD - 1, out, sizeof *len * (size_t)n);
  if (tt__is_complex(t)) return of_parts(c, x, w, bias, axis, out, turned);
  /* On a device an addition of its own joins what follows, and vendors' libraries have convolutions without. */
  bool on_device = x->storage->node->device > 0 || w->storage->node->device > 0;
  if (tt__is_float(t) && on_device) return with_bias(c, by_row(c, x, w, NULL, axis, n, len, turned), bias, turned);
  if (tt__is_float(t)) return by_row(c, x, w, bias, axis, n, len, turned);
  return with_bias(c, of_windows(c, x, w, axis, out, turned, len), bias, turned);
}

/* ---- derivatives */

/* w with outputs and channels exchanged and its taps in reverse. */
static tt_array *reversed(tt_composer *c, tt_array *w) {
  int order[TT_MAX_RANK];
  for (int d = 0; d < w->rank; d++) order[d] = d == 1 ? 2 : d == 2 ? 1 : d;
  w = tt__compose_transpose(c, w, order);
  for (int d = LEAD; w && d < w->rank; d++) w = tt__compose_flip(c, w, d);
  return w;
}

tt_array *tt__compose_convolution_to_x(tt_composer *c, tt_array *g, tt_array *w, const tt_conv_axis *axis,
                                       const int64_t *len) {
  if (!g || !w) return NULL;
  tt_conv_axis back[TT_CONV_AXES];
  for (int d = 0; d < g->rank - LEAD; d++)
    back[d] = (tt_conv_axis){.stride = axis[d].spread,
                             .dilation = axis[d].dilation,
                             .spread = axis[d].stride,
                             .pad = (tt__array_len(w)[LEAD + d] - 1) * axis[d].dilation - axis[d].pad};
  tt_array *d = tt__compose_convolution(c, g, reversed(c, w), NULL, back, len + LEAD, false);
  return tt__compose_reshape(c, d, g->rank, len);
}

tt_array *tt__compose_convolution_to_w(tt_composer *c, tt_array *g, tt_array *x, const tt_conv_axis *axis,
                                       const int64_t *len) {
  if (!g || !x) return NULL;
  int of_x[TT_MAX_RANK] = {2, 1, 0}, of_g[TT_MAX_RANK] = {1, 2, 0};
  tt_conv_axis back[TT_CONV_AXES];
  for (int d = 0; d < g->rank - LEAD; d++) {
    of_x[LEAD + d] = of_g[LEAD + d] = LEAD + d;
    back[d] = (tt_conv_axis){
        .stride = axis[d].dilation, .dilation = axis[d].stride, .spread = axis[d].spread, .pad = axis[d].pad};
  }
  tt_array *images = tt__compose_transpose(c, x, of_x), *windows = tt__compose_transpose(c, g, of_g);
  return tt__compose_reshape(c, tt__compose_convolution(c, images, windows, NULL, back, len + LEAD, true), g->rank,
                             len);
}
