/*
** Random orders and choices: the sorted order of random keys, and what is built on it.
*/
#include <string.h>

#include "fn/random/draw.h"

static tt_array *order_of(tt_draw *d, int64_t n) { return d->bits ? tt__draw_exact_order(d, n) : tt__draw_order(d, n); }

/* x in a random order along an axis. */
static tt_array *in_order(tt_draw *d, tt_array *a, int axis) {
  tt_array *order = order_of(d, tt__array_len(a)[axis]);
  return order ? tt__compose_take(d->c, a, order, axis) : NULL;
}

static tt_array *permutation(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  tt_array *a = tt__arg_array(c, f, d->base);
  if (!a) return NULL;
  if (a->rank == 0) {
    if (!tt__is_int((tt_dtype)a->dtype))
      return tt__compose_fail(c, TT_EAXIS, "%s",
                              d->base && !d->legacy ? "axis 0 is out of bounds for array of dimension 0"
                                                    : "x must be an integer or at least 1-dimensional");
    int64_t n = tt__arg_int(c, f, d->base, 0);
    return order_of(d, n < 0 ? 0 : n);
  }
  int axis = tt__arg_axis(c, f, d->base + 1, a->rank, 0);
  return c->code == TT_OK ? in_order(d, a, axis) : NULL;
}
TT_DRAW(permutation, -1)

static tt_array *shuffle(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  f->none = true;
  if (f->narg <= d->base || f->arg[d->base].tag != TT_V_ARRAY)
    return tt__compose_fail(c, TT_ETYPE, "x must be an array");
  tt_array *a = f->arg[d->base].as.array;
  if (a->rank == 0) return tt__compose_fail(c, TT_ETYPE, "Array must be at least 1-dimensional");
  int axis = tt__arg_axis(c, f, d->base + 1, a->rank, 0);
  tt_array *mixed = c->code == TT_OK ? in_order(d, a, axis) : NULL;
  if (mixed) tt__compose_set(c, a, tt_v_array(mixed));
  return NULL;
}
TT_DRAW(shuffle, -1)

/* Each line along an axis in an order of its own: sorted by keys of its own. */
static tt_array *permuted(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  tt_array *a = tt__arg_array(c, f, d->base), *key = NULL;
  if (!a) return NULL;
  bool all = !tt__arg_given(f, d->base + 1);
  tt_array *w = all ? tt__compose_ravel(c, a) : a;
  int axis = all || !w ? 0 : tt__arg_axis(c, f, d->base + 1, a->rank, 0);
  if (!w || c->code != TT_OK) return NULL;
  w = tt__compose_move(c, w, axis, w->rank - 1);
  tt_lib_attr attr = {.row = tt__lib_row("argsort")};
  if (!w || !tt__draw_shape_fixed(d, w->rank, tt__array_len(w))) return NULL;
  if (!d->bits && !(key = tt__draw_bits(d))) return NULL;
  tt_array *order =
      d->bits ? tt__draw_exact_lines(d) : tt__compose_library(c, &attr, &key, 1, TT_I64, w->rank, tt__array_len(w));
  tt_array *out = tt__compose_take_lines(c, w, order, w->rank - 1, false);
  if (!out) return NULL;
  out = all ? tt__compose_reshape(c, out, a->rank, tt__array_len(a)) : tt__compose_move(c, out, w->rank - 1, axis);
  return tt__arg_out(c, f, d->base + 2, out);
}
TT_DRAW_ONE(generator, permuted, TT_DRAW_GENERATOR, -1)

/* ---- choice */

/* What NumPy's two kinds of generators say of the same fault. */
static tt_array *refuse(tt_draw *d, const char *modern, const char *old) {
  return tt__compose_fail(d->c, TT_EVALUE, "%s", d->legacy ? old : modern);
}

/* How far from 1 the sum of probabilities may be: the root of the type's rounding unit. */
static double slack(tt_dtype t) {
  return t == TT_F16 ? 0x1p-5 : t == TT_BF16 ? 0.0883883476483184 : t == TT_F32 ? 3.4526698300124393e-4 : 0x1p-26;
}

static bool weights_are_fair(tt_draw *d, tt_array *p, int64_t n, double off) {
  if (p->rank != 1) return refuse(d, "p must be 1-dimensional", "'p' must be 1-dimensional") != NULL;
  if (p->size != n) return refuse(d, "a and p must have same size", "'a' and 'p' must have same size") != NULL;
  const double *w = tt__compose_peek(d->c, p);
  double sum = 0, lost = 0;
  bool negative = false;
  for (int64_t i = 0; w && i < n; i++) {
    double x = w[i] - lost, t = sum + x;
    negative |= w[i] < 0;
    lost = (t - sum) - x;
    sum = t;
  }
  if (w && sum != sum)
    refuse(d, "Probabilities contain NaN", "probabilities contain NaN");
  else if (negative)
    refuse(d, "Probabilities are not non-negative", "probabilities are not non-negative");
  else if (w && !(sum >= 1 - off && sum <= 1 + off))
    refuse(d, "Probabilities do not sum to 1. See Notes section of docstring for more information.",
           "probabilities do not sum to 1");
  return d->c->code == TT_OK;
}

/* Places drawn with probability p: where uniform numbers fall in the running sum. */
static tt_array *weighted(tt_draw *d, tt_array *p) {
  tt_composer *c = d->c;
  if (d->bits) return tt__draw_exact_places(d, p);
  tt_lib_attr scan = {.row = tt__lib_row("scan"), .i = {0, p->size, 1}},
              find = {.row = tt__lib_row("searchsorted"), .i = {1}};
  tt_array *sum = tt__compose_library(c, &scan, &p, 1, TT_F64, 1, &p->size), *u = tt__draw_uniform(d, TT_F64);
  if (!sum || !u) return NULL;
  sum = tt__compose_op2(c, TT_DIV, sum, tt__compose_slice(c, sum, 0, p->size - 1, 1, 1));
  tt_array *src[2] = {sum, u};
  tt_array *at = tt__compose_library(c, &find, src, 2, TT_I64, d->rank, d->len);
  return tt__compose_opi(c, TT_MINIMUM, at, p->size - 1);
}

/* All places in a random order, in which the smallest exponentials of rate p come first. */
static tt_array *weighted_order(tt_draw *d, tt_array *p, int64_t n) {
  tt_composer *c = d->c;
  if (!tt__draw_shape_fixed(d, 1, &n)) return NULL;
  tt_array *e = tt__draw_uniform(d, TT_F64);
  e = tt__compose_op1(c, TT_NEG, tt__compose_op1(c, TT_LOG1P, tt__compose_op1(c, TT_NEG, e)));
  tt_array *key = tt__compose_op2(c, TT_DIV, e, p);
  tt_lib_attr attr = {.row = tt__lib_row("argsort")};
  return key ? tt__compose_library(c, &attr, &key, 1, TT_I64, 1, &n) : NULL;
}

/* The first m places of a random order. */
static tt_array *without_replacement(tt_draw *d, tt_array *p, int64_t n, bool shuffled) {
  tt_composer *c = d->c;
  int rank = d->rank;
  int64_t len[TT_MAX_RANK], m = d->size, possible = 0;
  memcpy(len, d->len, sizeof *len * (size_t)rank);
  const double *w = p ? tt__compose_peek(c, p) : NULL;
  for (int64_t i = 0; w && i < n; i++) possible += w[i] > 0;
  if (w && possible < m) return tt__compose_fail(c, TT_EVALUE, "Fewer non-zero entries in p than size");
  if (c->code != TT_OK) return NULL;
  tt_array *order;
  if (d->bits)
    order = p ? tt__draw_exact_weighted(d, p, m) : tt__draw_exact_some(d, n, m, shuffled);
  else
    order = p ? tt__compose_slice(c, weighted_order(d, p, n), 0, 0, m, 1) : tt__draw_some(d, n, m, shuffled);
  return tt__compose_reshape(c, order, rank, len);
}

/* From how many is chosen; -1: a failure. A number stands for the numbers below it. */
static int64_t population(tt_draw *d, tt_array *a, int axis) {
  tt_composer *c = d->c;
  const tt_value *v = &d->f->arg[d->base];
  bool old = d->legacy || d->base == 0; /* the module's function has no `axis` */
  if (old && a->rank > 1) tt__compose_fail(c, TT_EVALUE, "a must be 1-dimensional");
  if (a->rank == 0 && !tt__is_int((tt_dtype)a->dtype))
    d->legacy ? refuse(d, NULL, "a must be 1-dimensional or an integer")
              : tt__compose_fail(c, TT_EVALUE, "a must be a sequence or an integer, not <class '%s'>",
                                 v->tag == TT_V_BOOL  ? "bool"
                                 : a->dtype == TT_F64 ? "float"
                                                      : tt__dtypes[a->dtype].name);
  int64_t n = a->rank ? tt__array_len(a)[axis] : tt__arg_int(c, d->f, d->base, 0);
  if (n <= 0 && d->size > 0 && a->rank == 0)
    refuse(d, "a must be a positive integer unless no samples are taken",
           "a must be greater than 0 unless no samples are taken");
  else if (n <= 0 && d->size > 0)
    refuse(d, "a cannot be empty unless no samples are taken", "'a' cannot be empty unless no samples are taken");
  return c->code == TT_OK ? n : -1;
}

/* Places among n, with or without probabilities. */
static tt_array *chosen(tt_draw *d, int64_t n, tt_array *p, bool again, bool shuffled) {
  tt_composer *c = d->c;
  if (!again && d->size > n)
    return refuse(d, "Cannot take a larger sample than population when replace is False",
                  "Cannot take a larger sample than population when 'replace=False'");
  if (!again) return without_replacement(d, p, n, shuffled);
  if (p) return weighted(d, p);
  if (n == 0) return tt__compose_empty(c, TT_I64, d->rank, d->len);
  if (!d->bits) return tt__compose_cast(c, tt__draw_below(d, (uint64_t)n), TT_I64);
  return tt__draw_exact_integers(d, TT_I64, tt_v_int(0), tt_v_int(n - 1));
}

/* Arguments: a, size, replace, p, axis, shuffle. */
static tt_array *choice(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  if (f->narg > d->base && f->arg[d->base].tag == TT_V_NONE)
    return refuse(d, "a must be a sequence or an integer, not <class 'NoneType'>",
                  "a must be 1-dimensional or an integer");
  tt_array *a = tt__arg_array(c, f, d->base), *p = NULL;
  bool again = tt__arg_bool(c, f, d->base + 2, true), shuffled = tt__arg_bool(c, f, d->base + 5, true);
  int axis = a && a->rank ? tt__arg_axis(c, f, d->base + 4, a->rank, 0) : 0;
  bool single = c->code == TT_OK && tt__draw_shape(d, 1, NULL, 0);
  int64_t n = c->code == TT_OK ? population(d, a, axis) : -1;
  if (n < 0) return NULL;
  if (tt__arg_given(f, d->base + 3)) {
    p = tt__arg_array(c, f, d->base + 3);
    double off = p ? slack((tt_dtype)p->dtype) : 0;
    p = tt__compose_cast(c, p, TT_F64);
    if (!p || !weights_are_fair(d, p, n, off)) return NULL;
  }
  tt_array *at = chosen(d, n, p, again, shuffled);
  f->scalar = single && a->rank <= 1;
  return a->rank ? tt__compose_take(c, a, at, axis) : at;
}
TT_DRAW(choice, -1)
