/*
** Pools beside those of pool.c: what undoes the largest of windows, norms of windows, and windows at places by chance.
*/
#include <math.h>
#include <string.h>

#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"
#include "fn/random/draw.h"
#include "ir/convolution.h"

/* ---- max_unpool: input, indices, kernel_size, stride, padding, output_size */

/* The lengths of the result: what was pooled, or those that are named and could have been. */
static bool lengths(tt_composer *c, const tt_call_frame *f, tt_array *x, int n, int64_t *out) {
  int64_t kernel[TT_CONV_AXES], stride[TT_CONV_AXES], pad[TT_CONV_AXES], named[TT_MAX_RANK];
  const int64_t *len = tt__array_len(x) + x->rank - n;
  tt__window_ints(c, f, 2, "kernel_size", n, 1, kernel);
  tt__window_ints(c, f, 3, "stride", n, 0, stride);
  tt__window_ints(c, f, 4, "padding", n, 0, pad);
  int count = tt__arg_given(f, 5) ? tt__arg_ints(c, f, 5, named, TT_MAX_RANK) : 0;
  if (c->code != TT_OK) return false;
  bool wanted = tt__arg_given(f, 5);
  if (wanted && count != n && count != n + 2)
    return tt__compose_fail(
               c, TT_EVALUE,
               "output_size should be a sequence containing %d or %d elements, but it has a length of '%d'", n, n + 2,
               count),
           false;
  for (int d = 0; d < n; d++) {
    int64_t step = tt__arg_given(f, 3) ? stride[d] : kernel[d];
    int64_t usual = (len[d] - 1) * step + kernel[d] - 2 * pad[d], want = wanted ? named[count - n + d] : usual;
    if (wanted && (want <= usual - step || want >= usual + step))
      return tt__compose_fail(c, TT_EVALUE,
                              "invalid output_size %lld along dimension %d: it should be between %lld and %lld",
                              (long long)want, d, (long long)(usual - step), (long long)(usual + step)),
             false;
    if (want < 1) return tt__compose_fail(c, TT_EVALUE, "max_unpool%dd: the result has no elements", n), false;
    out[d] = want;
  }
  return true;
}

static tt_array *max_unpool(tt_composer *c, tt_call_frame *f, const char *name, int n) {
  tt_array *x = tt__arg_array(c, f, 0), *at = tt__arg_array(c, f, 1);
  int64_t out[TT_CONV_AXES], len[TT_MAX_RANK], whole = 1, part = 1;
  if (!x || !at) return NULL;
  if (x->rank != n + 1 && x->rank != n + 2)
    return tt__compose_fail(c, TT_EVALUE, "%s: Input to %s should be a %dd or %dd Tensor, but got a %dd one", name,
                            name, n + 1, n + 2, x->rank);
  bool same = at->rank == x->rank && memcmp(tt__array_len(at), tt__array_len(x), sizeof *len * (size_t)x->rank) == 0;
  if (!same) return tt__compose_fail(c, TT_EVALUE, "Expected shape of indices to be same as that of the input tensor");
  if (at->dtype != TT_I64)
    return tt__compose_fail(c, TT_ETYPE, "elements in indices should be type int64 but got: %s",
                            tt__dtypes[at->dtype].name);
  if (!lengths(c, f, x, n, out)) return NULL;
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)x->rank);
  for (int d = 0; d < n; d++) {
    part *= len[x->rank - n + d];
    whole *= len[x->rank - n + d] = out[d];
  }
  int64_t rows = part ? x->size / part : 0, wide[2] = {rows, whole}, flat[2] = {rows, part};
  tt_array *y = tt__compose_full(c, (tt_dtype)x->dtype, 2, wide, tt_v_int(0));
  tt_array *places = tt__compose_reshape(c, at, 2, flat), *row = tt__compose_expand(c, tt__compose_iota(c, rows), 1);
  x = tt__compose_reshape(c, x, 2, flat);
  if (!y || !x || !places || !row) return NULL;
  const int64_t *data = tt__compose_peek(c, places);
  for (int64_t i = 0; data && i < places->size; i++)
    if (data[i] < 0 || data[i] >= whole)
      return tt__compose_fail(c, TT_EINDEX, "Found an invalid max index: %lld (output volumes are of size %lld)",
                              (long long)data[i], (long long)whole);
  tt_value index[2] = {tt_v_array(row), tt_v_array(places)};
  const tt_value all = {.tag = TT_V_TUPLE, .as.tuple = {.item = index, .n = 2}};
  if (!tt__compose_set_at(c, y, &all, tt_v_array(x))) return NULL;
  return tt__compose_reshape(c, y, f->arg[0].as.array->rank, len);
}

#define UNPOOL(n)                                                          \
  static tt_array *nn_max_unpool##n##d(tt_composer *c, tt_call_frame *f) { \
    return max_unpool(c, f, "max_unpool" #n "d", n);                       \
  }                                                                        \
  TT_HANDLER(nn_max_unpool##n##d)
UNPOOL(1)
UNPOOL(2)
UNPOOL(3)

/* ---- lp_pool: input, norm_type, kernel_size, stride, ceil_mode */

/* The root of the sum of powers, which PyTorch makes of the mean: windows that reach beyond count as full ones. */
static tt_array *lp_pool(tt_composer *c, const tt_call_frame *f, const char *mean, int n) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "lp_pool");
  double p = tt__arg_float(c, f, 1, 2), area = 1;
  int64_t kernel[TT_CONV_AXES];
  if (!x || !tt__window_ints(c, f, 2, "kernel_size", n, 1, kernel)) return NULL;
  for (int d = 0; d < n; d++) area *= (double)kernel[d];
  const tt_value none = {.tag = TT_V_NONE}, ceil = {.tag = TT_V_BOOL, .as.b = tt__arg_bool(c, f, 4, false)};
  tt_array *power = p == 2 ? tt__compose_op1(c, TT_SQUARE, x) : p == 1 ? x : tt__compose_opf(c, TT_POW, x, p);
  if (!power) return NULL;
  const tt_value arg[] = {tt_v_array(power), f->arg[2], tt__arg_given(f, 3) ? f->arg[3] : none, tt_v_int(0), ceil};
  tt_array *y = tt__fn_call(c, mean, arg, 5);
  y = tt__compose_opf(c, TT_MUL, y, area);
  if (p == 2) return tt__nn_result(c, f, y ? tt__fn_root(c, y) : NULL, given, -1);
  return tt__nn_result(c, f, p == 1 ? y : tt__compose_opf(c, TT_POW, y, 1 / p), given, -1);
}

#define LP_POOL(n)                                                      \
  static tt_array *nn_lp_pool##n##d(tt_composer *c, tt_call_frame *f) { \
    return lp_pool(c, f, "nn.functional.avg_pool" #n "d", n);           \
  }                                                                     \
  TT_HANDLER(nn_lp_pool##n##d)
LP_POOL(1)
LP_POOL(2)
LP_POOL(3)

/* ---- fractional_max_pool: input, kernel_size, output_size, output_ratio, return_indices, _random_samples */

static bool measure(tt_composer *c, const tt_call_frame *f, tt_array *x, int n, int64_t *out) {
  bool by_size = tt__arg_given(f, 2), by_ratio = tt__arg_given(f, 3);
  if (!by_size && !by_ratio)
    return tt__compose_fail(c, TT_EVALUE,
                            "fractional_max_pool%dd requires specifying either an output_size or an output_ratio", n),
           false;
  if (by_size) return tt__window_ints(c, f, 2, "output_size", n, 1, out);
  const tt_value *v = &f->arg[3];
  for (int d = 0; d < n; d++) {
    const tt_call_frame one = {.arg = v->tag == TT_V_TUPLE && d < v->as.tuple.n ? &v->as.tuple.item[d] : v, .narg = 1};
    double ratio = tt__arg_float(c, &one, 0, 1);
    if (c->code == TT_OK && !(ratio > 0 && ratio < 1))
      return tt__compose_fail(c, TT_EVALUE, "output_ratio must be between 0 and 1 (got %g)", ratio), false;
    out[d] = (int64_t)((double)tt__array_len(x)[x->rank - n + d] * ratio);
  }
  return c->code == TT_OK;
}

/* Where windows along an axis begin, for each channel (the rows of u, one number each): steps of a length that is no
 * whole number, begun at a place by chance; the last one ends where the input does. */
static tt_array *starts(tt_composer *c, tt_array *u, int64_t in, int64_t out, int64_t kernel) {
  tt_array *i = tt__compose_cast(c, tt__compose_iota(c, out), TT_F64);
  u = tt__compose_cast(c, u, TT_F64);
  if (!u || !i) return NULL;
  double alpha = out > 1 ? (double)(in - kernel) / (double)(out - 1) : 0;
  tt_array *far = tt__compose_opf(c, TT_MUL, tt__compose_op2(c, TT_ADD, u, i), alpha);
  tt_array *first = tt__compose_op1(c, TT_FLOOR, tt__compose_opf(c, TT_MUL, u, alpha));
  tt_array *at = tt__compose_op2(c, TT_SUB, tt__compose_op1(c, TT_FLOOR, far), first);
  tt_array *last = tt__compose_opi(c, TT_EQ, tt__compose_iota(c, out), out - 1);
  at = last && at ? tt__compose_where(c, last, tt_v_int(in - kernel), tt_v_array(at)) : NULL;
  return tt__compose_cast(c, at, TT_I64);
}

/* a [rows, n, m] with more places: a * in + (start + offset), as [rows, n * out, m * kernel]. */
static tt_array *further(tt_composer *c, tt_array *a, tt_array *start, int64_t in, int64_t kernel) {
  tt_array *one = tt__compose_op2(c, TT_ADD, tt__compose_expand(c, start, 2), tt__compose_iota(c, kernel));
  if (!a || !one) return a ? NULL : one;
  const int64_t *own = tt__array_len(a), *more = tt__array_len(one);
  int64_t wide[5] = {own[0], own[1], 1, own[2], 1}, beside[5] = {more[0], 1, more[1], 1, more[2]};
  int64_t joined[3] = {own[0], own[1] * more[1], own[2] * more[2]};
  tt_array *far = tt__compose_opi(c, TT_MUL, tt__compose_reshape(c, a, 5, wide), in);
  return tt__compose_reshape(c, tt__compose_op2(c, TT_ADD, far, tt__compose_reshape(c, one, 5, beside)), 3, joined);
}

/* A number in [0, 1) for each channel and axis of space: [images, channels, n] that is given, or drawn. */
static tt_array *samples(tt_composer *c, const tt_call_frame *f, int64_t rows, int n) {
  const int64_t len[2] = {rows, n};
  if (tt__arg_given(f, 5)) {
    tt_array *u = tt__arg_array(c, f, 5);
    if (u && u->size != rows * n)
      return tt__compose_fail(c, TT_EVALUE, "Expect _random_samples to have %lld elements, but got %lld",
                              (long long)(rows * n), (long long)u->size);
    return tt__compose_reshape(c, u, 2, len);
  }
  tt_draw d = {.c = c, .f = f, .real = TT_F32};
  return tt__draw_shape_fixed(&d, 2, len) ? tt__draw_uniform(&d, TT_F32) : NULL;
}

static tt_array *fractional(tt_composer *c, tt_call_frame *f, int n, bool always) {
  tt_array *x = tt__arg_array(c, f, 0);
  int64_t kernel[TT_CONV_AXES], out[TT_CONV_AXES], space = 1, len[TT_MAX_RANK];
  if (!x || !tt__window_ints(c, f, 1, "kernel_size", n, 1, kernel)) return NULL;
  if (x->rank != n + 1 && x->rank != n + 2)
    return tt__compose_fail(c, TT_EVALUE, "fractional_max_pool%dd: Expected %dD or %dD tensor, but got a %dD input", n,
                            n + 1, n + 2, x->rank);
  if (!measure(c, f, x, n, out)) return NULL;
  const int64_t *own = tt__array_len(x) + x->rank - n;
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)x->rank);
  for (int d = 0; d < n; d++) {
    if (out[d] < 1 || kernel[d] < 1 || out[d] + kernel[d] - 1 > own[d])
      return tt__compose_fail(c, TT_EVALUE,
                              "fractional_max_pool%dd(): pool size (%lld) too large relative to input size (%lld)", n,
                              (long long)kernel[d], (long long)own[d]);
    space *= own[d];
    len[x->rank - n + d] = out[d];
  }
  int64_t flat[2] = {space ? x->size / space : 0, space};
  tt_array *u = samples(c, f, flat[0], n), *at = NULL;
  for (int d = 0; d < n && u; d++) /* with two axes PyTorch's samples have the last one first */
    at = further(c, at, starts(c, tt__compose_slice(c, u, 1, n == 2 ? 1 - d : d, 1, 1), own[d], out[d], kernel[d]),
                 own[d], kernel[d]);
  if (!at) return NULL;
  int64_t *wide = tt__array_len(at), lines[2] = {wide[0], wide[1] * wide[2]}, windows[3] = {wide[0], wide[1], wide[2]};
  tt_array *values =
      tt__compose_take_lines(c, tt__compose_reshape(c, x, 2, flat), tt__compose_reshape(c, at, 2, lines), 1, false);
  values = tt__compose_reshape(c, values, 3, windows);
  tt_array *most = tt__compose_reshape(c, tt__compose_reduce(c, TT_RED_MAX, values, 4, false), x->rank, len);
  if (!most || (!always && !tt__arg_bool(c, f, 4, false))) return most;
  const tt_value arg[] = {tt_v_array(values), tt_v_int(2), {.tag = TT_V_NONE}, {.tag = TT_V_BOOL, .as.b = true}};
  tt_array *place = tt__compose_take_lines(c, at, tt__fn_call(c, "argmax", arg, 4), 2, false);
  place = tt__compose_reshape(c, place, x->rank, len);
  return place && tt__fn_give(c, f, most) && tt__fn_give(c, f, place) ? most : NULL;
}

#define FRACTIONAL(n)                                                                            \
  static tt_array *nn_fractional_max_pool##n##d(tt_composer *c, tt_call_frame *f) {              \
    return fractional(c, f, n, false);                                                           \
  }                                                                                              \
  TT_HANDLER(nn_fractional_max_pool##n##d)                                                       \
  static tt_array *nn_fractional_max_pool##n##d_with_indices(tt_composer *c, tt_call_frame *f) { \
    return fractional(c, f, n, true);                                                            \
  }                                                                                              \
  TT_HANDLER(nn_fractional_max_pool##n##d_with_indices)
FRACTIONAL(2)
FRACTIONAL(3)
