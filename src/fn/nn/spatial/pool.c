/*
** The largest and the mean of windows over 1 to 3 axes of space, with PyTorch's parameters, spelled in slices.
*/
#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "fn/fn.h"
#include "fn/nn/spatial/window.h"
#include "graph/tape.h"
#include "ir/convolution.h"

/* input [images, channels, S...], or without the first. */
typedef struct pool {
  const char *name;
  int n; /* axes of space, the last */
  tt_array *x;
  int64_t kernel[TT_CONV_AXES], stride[TT_CONV_AXES], pad[TT_CONV_AXES], dilation[TT_CONV_AXES];
  int64_t out[TT_CONV_AXES], need[TT_CONV_AXES]; /* lengths of the result, and of what its windows see */
} pool;

/* Arguments: input, kernel_size, stride, padding; then max's dilation. */
static bool read_pool(tt_composer *c, const tt_call_frame *f, pool *p, bool dilated) {
  p->x = tt__arg_array(c, f, 0);
  if (!p->x) return false;
  if (p->x->rank != p->n + 1 && p->x->rank != p->n + 2) {
    char shape[160];
    tt__window_shape(p->x->rank, tt__array_len(p->x), shape, sizeof shape);
    tt__compose_fail(c, TT_EVALUE, "%s: Expected %dD or %dD input, but got input of size: %s", p->name, p->n + 1,
                     p->n + 2, shape);
    return false;
  }
  tt__window_ints(c, f, 1, "kernel_size", p->n, 1, p->kernel);
  tt__window_ints(c, f, 2, "stride", p->n, 0, p->stride);
  tt__window_ints(c, f, 3, "padding", p->n, 0, p->pad);
  for (int d = 0; d < p->n; d++) p->dilation[d] = 1;
  if (dilated) tt__window_ints(c, f, 4, "dilation", p->n, 1, p->dilation);
  for (int d = 0; d < p->n && c->code == TT_OK; d++) {
    if (!tt__arg_given(f, 2)) p->stride[d] = p->kernel[d];
    if (p->kernel[d] < 1) tt__compose_fail(c, TT_EVALUE, "kernel size should be greater than zero");
    if (p->stride[d] < 1) tt__compose_fail(c, TT_EVALUE, "stride should not be zero");
    if (p->dilation[d] < 1) tt__compose_fail(c, TT_EVALUE, "dilation should be greater than zero");
    if (p->pad[d] < 0 || p->pad[d] > p->kernel[d] / 2)
      tt__compose_fail(c, TT_EVALUE, "pad should be at most half of effective kernel size, but got pad=%lld",
                       (long long)p->pad[d]);
  }
  return c->code == TT_OK;
}

/* Lengths of the result; with `ceil` also windows that reach beyond the padding, if they begin before it. */
static bool measure(tt_composer *c, pool *p, bool ceil) {
  const int64_t *len = tt__array_len(p->x) + p->x->rank - p->n;
  for (int d = 0; d < p->n; d++) {
    int64_t s = p->stride[d], reach = p->dilation[d] * (p->kernel[d] - 1) + 1;
    int64_t room = len[d] + 2 * p->pad[d] - reach, whole = room + (ceil ? s - 1 : 0);
    p->out[d] = whole >= 0 ? whole / s + 1 : 0;
    if (ceil && (p->out[d] - 1) * s >= len[d] + p->pad[d]) p->out[d]--;
    p->need[d] = (p->out[d] - 1) * s + reach;
    if (len[d] > 0 && room >= (ceil ? 1 - reach : 0) && p->out[d] > 0) continue;
    return tt__compose_fail(c, TT_EVALUE, "%s: Output size is too small", p->name) != NULL;
  }
  return true;
}

/* x with `fill` around it where windows reach beyond. */
static tt_array *padded(tt_composer *c, const pool *p, tt_array *x, tt_value fill) {
  int lead = x->rank - p->n;
  int64_t len[TT_MAX_RANK], *have = tt__array_len(x);
  memcpy(len, have, (size_t)x->rank * sizeof *len);
  bool same = true;
  for (int d = 0; d < p->n; d++) {
    len[lead + d] = p->need[d];
    same &= p->pad[d] == 0 && p->need[d] <= have[lead + d];
  }
  if (same) return x;
  tt_array *wide = tt__compose_full(c, (tt_dtype)x->dtype, x->rank, len, fill), *to = wide;
  if (wide && x->storage->node->device > 0) wide->storage->node->device = x->storage->node->device;
  for (int d = 0; d < p->n && x && to; d++) {
    int64_t n = tt__min64(have[lead + d], len[lead + d] - p->pad[d]);
    x = tt__compose_slice(c, x, lead + d, 0, n, 1);
    to = tt__compose_slice(c, to, lead + d, p->pad[d], n, 1);
  }
  return x && to && tt__compose_set(c, to, tt_v_array(x)) ? wide : NULL;
}

enum { SPELLED = 32 }; /* so many elements of a window are spelled one by one */

/* Windows along one axis, each an axis behind all others, and that reduced. */
static tt_array *along(tt_composer *c, const pool *p, tt_array *x, int d, tt_red red) {
  int axis = x->rank - p->n + d;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK], by = tt__array_step(x)[axis];
  memcpy(len, tt__array_len(x), (size_t)x->rank * sizeof *len);
  memcpy(step, tt__array_step(x), (size_t)x->rank * sizeof *step);
  len[axis] = p->out[d];
  step[axis] = by * p->stride[d];
  len[x->rank] = p->kernel[d];
  step[x->rank] = by * p->dilation[d];
  tt_array *windows = tt__compose_view(c, x, x->rank + 1, len, step, x->off);
  return tt__compose_reduce(c, red, windows, UINT64_C(1) << x->rank, false);
}

/* Over the elements of each window, axis by axis: the first elements with the second ones and so on. */
static tt_array *reduced(tt_composer *c, const pool *p, tt_array *x, bool largest) {
  for (int d = 0; d < p->n && x; d++) {
    if (p->kernel[d] > SPELLED) {
      x = along(c, p, x, d, largest ? TT_RED_MAX : TT_RED_SUM);
      continue;
    }
    tt_array *y = NULL;
    for (int64_t k = 0; k < p->kernel[d]; k++) {
      tt_array *one = tt__compose_slice(c, x, x->rank - p->n + d, k * p->dilation[d], p->out[d], p->stride[d]);
      y = k == 0 ? one : tt__compose_op2(c, largest ? TT_MAXIMUM : TT_ADD, y, one);
    }
    x = y;
  }
  return x;
}

/* ---- the largest */

/* Elements, and where in the axes of space they lie, in C order. */
typedef struct found {
  tt_array *value, *place;
} found;

/* The larger ones: of equal ones the first, of NaN the last, as a scan has it that takes what is larger or NaN. */
static found larger(tt_composer *c, found a, found b) {
  tt_array *first = tt__compose_op2(c, TT_LT, b.place, a.place), *last = tt__compose_op2(c, TT_GT, b.place, a.place);
  tt_array *is_number = tt__compose_op2(c, TT_EQ, a.value, a.value);
  tt_array *is_nan = tt__compose_op2(c, TT_NE, b.value, b.value);
  tt_array *above = tt__compose_op2(c, TT_GT, b.value, a.value), *equal = tt__compose_op2(c, TT_EQ, b.value, a.value);
  tt_array *wins = tt__compose_op2(c, TT_OR, above, tt__compose_op2(c, TT_AND, equal, first));
  wins =
      tt__compose_op2(c, TT_OR, wins, tt__compose_op2(c, TT_AND, is_nan, tt__compose_op2(c, TT_OR, is_number, last)));
  if (c->code != TT_OK) return (found){NULL, NULL};
  return (found){tt__compose_where(c, wins, tt_v_array(b.value), tt_v_array(a.value)),
                 tt__compose_where(c, wins, tt_v_array(b.place), tt_v_array(a.place))};
}

/* Places of the largest; those of the padding come last. */
static tt_array *places(tt_composer *c, const pool *p, tt_array *wide) {
  int64_t *space = tt__array_len(p->x) + p->x->rank - p->n, all = 1;
  for (int d = 0; d < p->n; d++) all *= space[d];
  tt_array *place = tt__compose_reshape(c, tt__compose_iota(c, all), p->n, space);
  found f = {wide, place ? padded(c, p, place, tt_v_int(INT64_MAX)) : NULL};
  for (int d = 0; d < p->n && f.value && f.place; d++) {
    found y = {NULL, NULL};
    for (int64_t k = 0; k < p->kernel[d]; k++) {
      int64_t from = k * p->dilation[d], n = p->out[d], by = p->stride[d];
      found one = {tt__compose_slice(c, f.value, f.value->rank - p->n + d, from, n, by),
                   tt__compose_slice(c, f.place, f.place->rank - p->n + d, from, n, by)};
      y = k == 0 ? one : larger(c, y, one);
    }
    f = y;
  }
  if (!f.value || !f.place) return NULL;
  return tt__compose_broadcast(c, f.place, f.value->rank, tt__array_len(f.value)); /* windows of one element */
}

/* input, kernel_size, stride, padding, dilation, ceil_mode, return_indices */
static tt_array *max_pool(tt_composer *c, tt_call_frame *f, const char *name, int n, bool with_places) {
  pool p = {.name = name, .n = n};
  if (!read_pool(c, f, &p, true) || !measure(c, &p, tt__arg_bool(c, f, 5, false))) return NULL;
  if (!tt__is_float((tt_dtype)p.x->dtype))
    return tt__compose_fail(c, TT_ETYPE, "%s: not implemented for %s", name, tt__dtypes[p.x->dtype].name);
  tt_array *wide = padded(c, &p, p.x, tt_v_float(-INFINITY)), *most = reduced(c, &p, wide, true);
  if (!most || (!with_places && !tt__arg_bool(c, f, 6, false))) return most;
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *where = places(c, &p, wide);
  tt__session_tape = before;
  return where && tt__fn_give(c, f, most) && tt__fn_give(c, f, where) ? most : NULL;
}

/* ---- the mean */

/* How many elements a window has along an axis: within the padding, or within x alone. */
static tt_array *counts(tt_composer *c, const pool *p, int d, bool with_padding) {
  int64_t len = tt__array_len(p->x)[p->x->rank - p->n + d], more = with_padding ? p->pad[d] : 0;
  tt_array *first =
      tt__compose_opi(c, TT_SUB, tt__compose_opi(c, TT_MUL, tt__compose_iota(c, p->out[d]), p->stride[d]), p->pad[d]);
  tt_array *end =
      first ? tt__compose_opi(c, TT_MINIMUM, tt__compose_opi(c, TT_ADD, first, p->kernel[d]), len + more) : NULL;
  return end ? tt__compose_op2(c, TT_SUB, end, tt__compose_opi(c, TT_MAXIMUM, first, -more)) : NULL;
}

/* input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override */
static tt_array *avg_pool(tt_composer *c, const tt_call_frame *f, const char *name, int n) {
  pool p = {.name = name, .n = n};
  if (!read_pool(c, f, &p, false) || !measure(c, &p, tt__arg_bool(c, f, 4, false))) return NULL;
  tt_dtype t = (tt_dtype)p.x->dtype, sums = t == TT_F16 || t == TT_BF16 ? TT_F32 : t;
  if (!tt__is_float(t)) return tt__compose_fail(c, TT_ETYPE, "%s: not implemented for %s", name, tt__dtypes[t].name);
  tt_array *x = tt__compose_cast(c, p.x, sums), *y = reduced(c, &p, padded(c, &p, x, tt_v_int(0)), false);
  bool with_padding = tt__arg_bool(c, f, 5, true);
  if (tt__arg_given(f, 6)) {
    int64_t by = tt__arg_int(c, f, 6, 1);
    if (by == 0) return tt__compose_fail(c, TT_EVALUE, "divisor must be not zero");
    return tt__compose_cast(c, tt__compose_opf(c, TT_DIV, y, (double)by), t);
  }
  for (int d = 0; d < n && y; d++) {
    tt_array *count = tt__compose_cast(c, counts(c, &p, d, with_padding), sums);
    for (int k = d + 1; k < n && count; k++) count = tt__compose_expand(c, count, count->rank);
    y = count ? tt__compose_op2(c, TT_DIV, y, count) : NULL;
  }
  return tt__compose_cast(c, y, t);
}

#define POOL(n)                                                                                                      \
  static tt_array *max_pool##n##d(tt_composer *c, tt_call_frame *f) {                                                \
    return max_pool(c, f, "max_pool" #n "d", n, false);                                                              \
  }                                                                                                                  \
  TT_HANDLER(max_pool##n##d)                                                                                         \
  static tt_array *max_pool##n##d_with_indices(tt_composer *c, tt_call_frame *f) {                                   \
    return max_pool(c, f, "max_pool" #n "d", n, true);                                                               \
  }                                                                                                                  \
  TT_HANDLER(max_pool##n##d_with_indices)                                                                            \
  static tt_array *avg_pool##n##d(tt_composer *c, tt_call_frame *f) { return avg_pool(c, f, "avg_pool" #n "d", n); } \
  TT_HANDLER(avg_pool##n##d)
POOL(1)
POOL(2)
POOL(3)
