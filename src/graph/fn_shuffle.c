/*
** Random orders and choices: the sorted order of random keys, and what is built on it.
*/
#include <string.h>

#include "graph/draw.h"

/* x in a random order along an axis. */
static tt_array *in_order(tt_draw *d, tt_array *a, int axis) {
  tt_array *order = tt__draw_order(d, tt__array_len(a)[axis]);
  return order ? tt__calc_take(d->c, a, order, axis) : NULL;
}

static tt_array *permutation(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_array *a = tt__arg_array(c, f, d->base);
  if (!a) return NULL;
  if (a->rank == 0) {
    if (!tt__is_int((tt_dtype)a->dtype))
      return tt__calc_fail(c, TT_EAXIS, "x must be an integer or at least 1-dimensional");
    int64_t n = tt__arg_int(c, f, d->base, 0);
    return n < 0 ? tt__calc_fail(c, TT_EVALUE, "negative dimensions are not allowed") : tt__draw_order(d, n);
  }
  int axis = tt__arg_axis(c, f, d->base + 1, a->rank, 0);
  return c->code == TT_OK ? in_order(d, a, axis) : NULL;
}
TT_DRAW(permutation)

static tt_array *shuffle(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  f->none = true;
  if (f->narg <= d->base || f->arg[d->base].tag != TT_V_ARRAY) return tt__calc_fail(c, TT_ETYPE, "x must be an array");
  tt_array *a = f->arg[d->base].as.array;
  if (a->rank == 0) return tt__calc_fail(c, TT_ETYPE, "Array must be at least 1-dimensional");
  int axis = tt__arg_axis(c, f, d->base + 1, a->rank, 0);
  tt_array *mixed = c->code == TT_OK ? in_order(d, a, axis) : NULL;
  if (mixed) tt__calc_set(c, a, tt_v_array(mixed));
  return NULL;
}
TT_DRAW(shuffle)

/* Each line along an axis in an order of its own: sorted by keys of its own. */
static tt_array *permuted(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_array *a = tt__arg_array(c, f, d->base), *key = NULL;
  if (!a) return NULL;
  bool all = !tt__arg_given(f, d->base + 1);
  tt_array *w = all ? tt__calc_ravel(c, a) : a;
  int axis = all || !w ? 0 : tt__arg_axis(c, f, d->base + 1, a->rank, 0);
  if (!w || c->code != TT_OK) return NULL;
  w = tt__calc_move(c, w, axis, w->rank - 1);
  if (w && tt__draw_shape_fixed(d, w->rank, tt__array_len(w))) key = tt__draw_bits(d);
  if (!key) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("argsort")};
  tt_array *order = tt__calc_library(c, &attr, &key, 1, TT_I64, w->rank, tt__array_len(w));
  tt_array *out = tt__calc_take_lines(c, w, order, w->rank - 1, false);
  if (!out) return NULL;
  out = all ? tt__calc_reshape(c, out, a->rank, tt__array_len(a)) : tt__calc_move(c, out, w->rank - 1, axis);
  return tt__arg_out(c, f, d->base + 2, out);
}
static tt_array *generator_permuted(tt_calc *c, tt_call_frame *f) {
  return permuted(&(tt_draw){.c = c, .f = f, .base = 1}, f);
}
TT_HANDLER(generator_permuted)

/* ---- choice */

static bool weights_are_fair(tt_calc *c, tt_array *p, int64_t n) {
  if (p->rank != 1)
    tt__calc_fail(c, TT_EVALUE, "p must be 1-dimensional");
  else if (p->size != n)
    tt__calc_fail(c, TT_EVALUE, "a and p must have same size");
  const double *w = tt__calc_peek(c, p);
  double sum = 0, lost = 0;
  for (int64_t i = 0; w && i < n; i++) {
    if (!(w[i] >= 0))
      tt__calc_fail(c, TT_EVALUE, w[i] < 0 ? "Probabilities are not non-negative" : "Probabilities contain NaN");
    double x = w[i] - lost, t = sum + x;
    lost = (t - sum) - x;
    sum = t;
  }
  if (w && !(sum > 1 - 1.5e-8 && sum < 1 + 1.5e-8))
    tt__calc_fail(c, TT_EVALUE, "Probabilities do not sum to 1. See Notes section of docstring for more information.");
  return c->code == TT_OK;
}

/* Places drawn with probability p: where uniform numbers fall in the running sum. */
static tt_array *weighted(tt_draw *d, tt_array *p) {
  tt_calc *c = d->c;
  tt_lib_attr scan = {.row = tt__lib_row("scan"), .i = {0, p->size, 1}},
              find = {.row = tt__lib_row("searchsorted"), .i = {1}};
  tt_array *sum = tt__calc_library(c, &scan, &p, 1, TT_F64, 1, &p->size), *u = tt__draw_uniform(d, TT_F64);
  if (!sum || !u) return NULL;
  sum = tt__calc_op2(c, TT_DIV, sum, tt__calc_slice(c, sum, 0, p->size - 1, 1, 1));
  tt_array *src[2] = {sum, u};
  tt_array *at = tt__calc_library(c, &find, src, 2, TT_I64, d->rank, d->len);
  return tt__calc_opi(c, TT_MINIMUM, at, p->size - 1);
}

/* The first m places of a random order; with weights, of the order of log(p) + Gumbel noise. */
static tt_array *without_replacement(tt_draw *d, tt_array *p, int64_t n) {
  tt_calc *c = d->c;
  int rank = d->rank;
  int64_t len[TT_MAX_RANK], m = d->size;
  memcpy(len, d->len, sizeof *len * (size_t)rank);
  tt_array *order;
  if (p) {
    if (!tt__draw_shape_fixed(d, 1, &n)) return NULL;
    tt_array *e = tt__draw_uniform(d, TT_F64);
    e = tt__calc_op1(c, TT_NEG, tt__calc_op1(c, TT_LOG1P, tt__calc_op1(c, TT_NEG, e)));
    tt_array *key = tt__calc_op2(c, TT_DIV, e, p); /* the smallest exponentials of rate p come first */
    const double *w = tt__calc_peek(c, p);
    int64_t possible = 0;
    for (int64_t i = 0; w && i < n; i++) possible += w[i] > 0;
    if (w && possible < m) return tt__calc_fail(c, TT_EVALUE, "Fewer non-zero entries in p than size");
    tt_lib_attr attr = {.row = tt__lib_row("argsort")};
    order = key ? tt__calc_library(c, &attr, &key, 1, TT_I64, 1, &n) : NULL;
  } else {
    order = tt__draw_order(d, n);
  }
  return tt__calc_reshape(c, tt__calc_slice(c, order, 0, 0, m, 1), rank, len);
}

static tt_array *choice(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_array *a = tt__arg_array(c, f, d->base), *p = NULL, *at;
  bool again = tt__arg_bool(c, f, d->base + 2, true);
  if (!a) return NULL;
  bool numbers = a->rank == 0;
  int axis = numbers ? 0 : tt__arg_axis(c, f, d->base + 4, a->rank, 0);
  int64_t n = numbers ? tt__arg_int(c, f, d->base, 0) : c->code == TT_OK ? tt__array_len(a)[axis] : 0;
  bool single = tt__draw_shape(d, 1, NULL, 0);
  if (c->code != TT_OK) return NULL;
  if (n <= 0 && d->size > 0)
    return tt__calc_fail(c, TT_EVALUE,
                         numbers ? "a must be a positive integer unless no samples are taken"
                                 : "a cannot be empty unless no samples are taken");
  if (tt__arg_given(f, d->base + 3)) {
    p = tt__calc_cast(c, tt__arg_array(c, f, d->base + 3), TT_F64);
    if (!p || !weights_are_fair(c, p, n)) return NULL;
  }
  if (!again && d->size > n)
    return tt__calc_fail(c, TT_EVALUE, "Cannot take a larger sample than population when replace is False");
  if (!again)
    at = without_replacement(d, p, n);
  else if (p)
    at = weighted(d, p);
  else
    at = tt__calc_cast(c, tt__draw_below(d, (uint64_t)n), TT_I64);
  f->scalar = single && (numbers || a->rank == 1);
  return numbers ? at : tt__calc_take(c, a, at, axis);
}
TT_DRAW(choice)
