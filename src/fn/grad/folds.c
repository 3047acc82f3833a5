/* Cotangents through running results and folds; see folds.h. */
#include "fn/grad/folds.h"

#include <string.h>

#include "fn/linalg/matrix.h"
#include "lib/scan/host.h"

/* ---- scans over the middle of three axes */

static tt_array *in_three(tt_composer *c, tt_array *a, int64_t n, int64_t inner) {
  int64_t len[3] = {n && inner ? a->size / n / inner : 0, n, inner};
  return tt__compose_reshape(c, a, 3, len);
}

static tt_array *scanned(tt_composer *c, tt_scan kind, tt_array *a) {
  if (!a) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("scan"), .i = {kind, a->dim[1], a->dim[2], 0}};
  return tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, 3, tt__array_len(a));
}

static tt_array *along(tt_composer *c, tt_array *a, int64_t from, int64_t n) {
  return a ? tt__compose_slice(c, a, 1, from, n, 1) : NULL;
}

static tt_array *joined(tt_composer *c, tt_array *a, tt_array *b) {
  tt_array *part[2] = {a, b};
  return a && b ? tt__compose_concat(c, part, 2, 1) : NULL;
}

/* n rows of zeros beside a. */
static tt_array *no_rows(tt_composer *c, tt_array *a, int64_t n) {
  return a ? tt__rule_zeros(c, (tt_dtype)a->dtype, 3, (int64_t[3]){a->dim[0], n, a->dim[2]}, TT_ANYWHERE) : NULL;
}

/*
** s[k] = g[k] + a[k] * s[k + 1], a having one row less than g: with steps of 1, 2, 4 ... rows, so that nothing is
** divided, and everything can be differentiated in turn.
*/
static tt_array *recurrence(tt_composer *c, tt_array *a, tt_array *g) {
  if (!a || !g) return NULL;
  int64_t n = g->dim[1];
  for (int64_t step = 1; step < n && a && g; step *= 2) {
    int64_t left = n - step; /* rows that still meet another one: of `a` there are as many */
    tt_array *more = tt__compose_op2(c, TT_MUL, a, along(c, g, step, left));
    g = joined(c, tt__compose_op2(c, TT_ADD, along(c, g, 0, left), more), along(c, g, left, step));
    if (left > step) a = tt__compose_op2(c, TT_MUL, along(c, a, 0, left - step), along(c, a, step, left - step));
  }
  return g;
}

/* Products of all before, itself left out. */
static tt_array *products_before(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  int64_t n = a->dim[1], len[3] = {a->dim[0], n + 1, a->dim[2]};
  tt_lib_attr attr = {.row = tt__lib_row("scan"), .i = {TT_SCAN_PROD, n, a->dim[2], 1}};
  return along(c, tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, 3, len), 0, n);
}

tt_array *tt__rule_products_of_others(tt_composer *c, tt_array *a, uint64_t axes) {
  int order[TT_MAX_RANK], back[TT_MAX_RANK], n = 0;
  int64_t row = 1, len[TT_MAX_RANK];
  if (!a) return NULL;
  for (int pass = 0; pass < 2; pass++)
    for (int d = 0; d < a->rank; d++) {
      if ((int)(axes >> d & 1) != pass) continue;
      if (pass) row *= tt__array_len(a)[d];
      len[n] = tt__array_len(a)[d];
      back[d] = n;
      order[n++] = d;
    }
  tt_array *x = tt__compose_transpose(c, a, order), *behind, *others;
  if (!x || !(x = in_three(c, x, row, 1))) return NULL;
  if (!(behind = products_before(c, tt__compose_flip(c, x, 1)))) return NULL;
  others = tt__compose_op2(c, TT_MUL, products_before(c, x), tt__compose_flip(c, behind, 1));
  others = others ? tt__compose_reshape(c, others, n, len) : NULL;
  return others ? tt__compose_transpose(c, others, back) : NULL;
}

/* Sums of all that follows, itself included. */
static tt_array *summed_back(tt_composer *c, tt_array *a) {
  tt_array *sum = a ? scanned(c, TT_SCAN_SUM, tt__compose_flip(c, a, 1)) : NULL;
  return sum ? tt__compose_flip(c, sum, 1) : NULL;
}

/* Of running products, to be differentiated in turn. */
static tt_array *of_products_again(tt_composer *c, tt_array *x, tt_array *g) {
  tt_array *conj = x ? tt__compose_conj(c, x) : NULL;
  tt_array *sum = conj ? recurrence(c, along(c, conj, 1, conj->dim[1] - 1), g) : NULL;
  return tt__compose_op2(c, TT_MUL, sum, products_before(c, conj));
}

/* Of running products: before the first 0 by division, at it by products without it; behind it all are 0. */
static tt_array *of_products(tt_composer *c, tt_array *x, tt_array *g) {
  tt_array *conj = x ? tt__compose_conj(c, x) : NULL;
  tt_array *zero = conj ? tt__compose_opi(c, TT_EQ, conj, 0) : NULL;
  tt_array *count = zero ? scanned(c, TT_SCAN_SUM, tt__compose_cast(c, zero, TT_I64)) : NULL;
  tt_array *before = count ? tt__compose_opi(c, TT_EQ, count, 0) : NULL;
  tt_array *first = before ? tt__compose_op2(c, TT_LAND, zero, tt__compose_opi(c, TT_EQ, count, 1)) : NULL;
  tt_array *rest = first ? tt__compose_where(c, first, tt_v_int(1), tt_v_array(conj)) : NULL;
  tt_array *all = scanned(c, TT_SCAN_PROD, conj), *others = scanned(c, TT_SCAN_PROD, rest);
  if (!all || !others) return NULL;
  tt_array *here = summed_back(c, tt__compose_op2(c, TT_MUL, g, others));
  tt_array *safe = tt__compose_where(c, zero, tt_v_int(1), tt_v_array(conj));
  tt_array *sum = summed_back(c, tt__compose_op2(c, TT_MUL, g, all));
  tt_array *there = sum && safe ? tt__compose_op2(c, TT_DIV, sum, safe) : NULL;
  tt_array *none = there ? tt__compose_where(c, before, tt_v_array(there), tt_v_int(0)) : NULL;
  return here && none ? tt__compose_where(c, first, tt_v_array(here), tt_v_array(none)) : NULL;
}

/* a.flat[place[i]] of [outer, n, inner] for places along n, flat. */
static tt_array *flat_places(tt_composer *c, tt_array *at) {
  int64_t outer = at->dim[0], n = at->dim[1], inner = at->dim[2];
  tt_array *row = tt__compose_reshape(c, tt__compose_iota(c, outer), 3, (int64_t[3]){outer, 1, 1});
  tt_array *column = tt__compose_reshape(c, tt__compose_iota(c, inner), 3, (int64_t[3]){1, 1, inner});
  tt_array *flat = tt__compose_op2(c, TT_ADD, tt__compose_opi(c, TT_MUL, at, inner), column);
  return tt__compose_op2(c, TT_ADD, flat, tt__compose_opi(c, TT_MUL, row, n * inner));
}

/* Of running extremes: what came to each place where a new extreme came first. */
static tt_array *of_extremes(tt_composer *c, tt_array *best, tt_array *g, int device) {
  if (!best) return NULL;
  int64_t n = best->dim[1], size = best->size, column[3] = {1, n, 1}, len[3];
  memcpy(len, tt__array_len(best), sizeof len);
  tt_array *fresh = tt__compose_op2(c, TT_NE, along(c, best, 1, n - 1), along(c, best, 0, n - 1));
  tt_array *number = tt__compose_reshape(c, tt__compose_iota(c, n), 3, column);
  if (!fresh || !number) return NULL;
  tt_array *place = tt__compose_where(c, fresh, tt_v_array(along(c, number, 1, n - 1)), tt_v_int(0));
  if (!place || !(place = joined(c, no_rows(c, place, 1), place))) return NULL;
  tt_array *at = scanned(c, TT_SCAN_MAX, place);
  tt_array *sum = at ? tt__rule_add_at(c, size, flat_places(c, at), at->dim[2], g, device) : NULL;
  return sum ? tt__compose_reshape(c, sum, 3, len) : NULL;
}

/* attr.i: tt_scan, elements along the axis, behind it, whether a neutral value comes first */
void tt__rule_scan(const tt_rule *r) {
  const int64_t *i = r->t->attr.lib->i;
  const tt_tape *of = r->t->parent[0];
  tt_composer *c = r->c;
  tt_array *g = in_three(c, r->g[0], i[1] + (i[3] != 0), i[2]), *out, *x;
  if (i[3]) g = along(c, g, 1, i[1]);
  if (!g) return;
  if (i[0] == TT_SCAN_SUM) {
    out = summed_back(c, g);
  } else if (i[0] == TT_SCAN_PROD) {
    x = tt__rule_operand(r, 0);
    x = x ? in_three(c, x, i[1], i[2]) : NULL;
    out = r->taped ? of_products_again(c, x, g) : of_products(c, x, g);
  } else {
    x = tt__rule_pick(r, 0);
    out = of_extremes(c, x ? in_three(c, x, i[1], i[2]) : NULL, g, of->device);
  }
  if (out) r->out[0] = tt__compose_reshape(c, out, of->rank, of->dim);
}

/* ---- folds of any operation over [n][inner]; in three axes: [1, n, inner] */

/*
** With y[k] = op(y[k - 1], x[k]): what comes back to y[k] is s[k] = g[k] + s[k + 1] times the slope of y[k + 1] by
** y[k], and x[k] gets s[k] times the slope by x[k].
*/
static tt_array *of_fold(tt_composer *c, tt_op op, tt_array *x, tt_array *y, tt_array *g) {
  if (!x || !y || !g) return NULL;
  int64_t n = x->dim[1];
  if (n == 1) return g;
  tt_array *operand[2] = {along(c, y, 0, n - 1), along(c, x, 1, n - 1)}, *result = along(c, y, 1, n - 1), *slope[2];
  if (!operand[0] || !operand[1] || !result) return NULL;
  tt_array *one = tt__compose_full(c, (tt_dtype)x->dtype, 3, tt__array_len(result), tt_v_int(1));
  if (!tt__rule_slopes(c, op, operand, result, one, 3, slope)) return NULL;
  for (int k = 0; k < 2; k++)
    if (!slope[k]) slope[k] = no_rows(c, x, n - 1);
  tt_array *sum = recurrence(c, slope[0], g);
  return joined(c, along(c, sum, 0, 1), tt__compose_op2(c, TT_MUL, along(c, sum, 1, n - 1), slope[1]));
}

/* Every step of a fold. */
static tt_array *running(tt_composer *c, tt_op op, tt_array *x) {
  if (!x) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("fold"), .i = {op, x->dim[1], x->dim[2], 1}};
  int64_t flat[2] = {x->dim[1], x->dim[2]};
  tt_array *y = tt__compose_reshape(c, x, 2, flat);
  y = y ? tt__compose_library(c, &attr, &y, 1, (tt_dtype)x->dtype, 2, flat) : NULL;
  return y ? tt__compose_reshape(c, y, 3, tt__array_len(x)) : NULL;
}

static void missing(const tt_rule *r, const char *method) {
  tt__compose_fail(r->c, TT_ENOTIMPL, "the derivative of %s.%s is not implemented",
                   tt__op_word((tt_op)r->t->attr.lib->i[0]), method);
}

/* attr.i: the op, n, inner, every step is a result */
void tt__rule_fold(const tt_rule *r) {
  tt_composer *c = r->c;
  const int64_t *i = r->t->attr.lib->i;
  if (r->t->n == 2) {
    missing(r, "reduce with where=");
    return;
  }
  tt_array *x = tt__rule_operand(r, 0), *g = r->g[0];
  x = x ? tt__compose_reshape(c, x, 3, (int64_t[3]){1, i[1], i[2]}) : NULL;
  g = x ? tt__compose_reshape(c, g, 3, (int64_t[3]){1, i[3] ? i[1] : 1, i[2]}) : NULL;
  if (g && !i[3] && i[1] > 1) g = joined(c, no_rows(c, g, i[1] - 1), g);
  tt_array *out = of_fold(c, (tt_op)i[0], x, running(c, (tt_op)i[0], x), g);
  if (out) r->out[0] = tt__compose_reshape(c, out, r->t->parent[0]->rank, r->t->parent[0]->dim);
}

/* ---- folds of parts: part k of [n][inner] goes from at[k] to at[k + 1], or is one row */

typedef struct parts {
  const int64_t *at;
  int64_t count, n, inner, total; /* total: rows of all parts */
  bool once;                      /* from the first part on each row is in one part, in order */
} parts;

static int64_t part_rows(const parts *p, int64_t k) {
  int64_t end = k + 1 < p->count ? p->at[k + 1] : p->n;
  return end > p->at[k] ? end - p->at[k] : 1;
}

static bool find_parts(const tt_rule *r, parts *p) {
  tt_array *at = tt__rule_operand(r, 1);
  if (!at || !(p->at = tt__compose_peek(r->c, at))) return false;
  *p = (parts){.at = p->at, .count = at->size, .n = r->t->attr.lib->i[1], .inner = r->t->attr.lib->i[2], .once = true};
  for (int64_t k = 0; k < p->count; k++) {
    p->total += part_rows(p, k);
    p->once &= k + 1 == p->count || p->at[k + 1] > p->at[k];
  }
  return true;
}

/* For each row of all parts its part, or where it stands. */
static tt_array *numbers(tt_composer *c, const parts *p, bool places) {
  void *data;
  tt_array *out = tt__compose_block(c, TT_I64, 1, &p->total, &data);
  int64_t *to = data;
  for (int64_t k = 0; out && k < p->count; k++)
    for (int64_t i = 0; i < part_rows(p, k); i++) *to++ = places ? p->at[k] + i : k;
  return out;
}

/* Rows of all parts back to where they stand. */
static tt_array *put_back(const tt_rule *r, const parts *p, tt_array *rows) {
  tt_composer *c = r->c;
  if (!rows) return NULL;
  if (p->once) return p->at[0] > 0 ? joined(c, no_rows(c, rows, p->at[0]), rows) : rows;
  tt_array *at = numbers(c, p, true), *wide = NULL;
  int64_t len[3] = {1, p->total, p->inner};
  at = at ? tt__compose_reshape(c, at, 3, (int64_t[3]){1, p->total, 1}) : NULL;
  if (at) wide = tt__compose_broadcast(c, at, 3, len);
  return wide ? tt__rule_add_at(c, p->n * p->inner, flat_places(c, wide), p->inner, rows, r->t->parent[0]->device)
              : NULL;
}

/* Part by part. */
static tt_array *of_parts(const tt_rule *r, const parts *p, tt_array *g) {
  tt_composer *c = r->c;
  tt_op op = (tt_op)r->t->attr.lib->i[0];
  tt_array *x = tt__rule_operand(r, 0), **part = tt__compose_scratch(c, p->count, sizeof *part);
  x = x ? tt__compose_reshape(c, x, 3, (int64_t[3]){1, p->n, p->inner}) : NULL;
  for (int64_t k = 0; part && x && k < p->count; k++) {
    int64_t m = part_rows(p, k);
    tt_array *some = along(c, x, p->at[k], m), *own = along(c, g, k, 1);
    if (own && m > 1) own = joined(c, no_rows(c, own, m - 1), own);
    if (!(part[k] = of_fold(c, op, some, running(c, op, some), own))) return NULL;
  }
  return part && x ? tt__compose_concat(c, part, p->count, 1) : NULL;
}

void tt__rule_fold_segments(const tt_rule *r) {
  tt_composer *c = r->c;
  parts p;
  if (!find_parts(r, &p)) return;
  tt_array *g = tt__compose_reshape(c, r->g[0], 3, (int64_t[3]){1, p.count, p.inner}), *rows;
  rows = r->t->attr.lib->i[0] == TT_ADD && g ? tt__compose_take(c, g, numbers(c, &p, false), 1) : of_parts(r, &p, g);
  tt_array *out = put_back(r, &p, rows);
  if (out) r->out[0] = tt__compose_reshape(c, out, r->t->parent[0]->rank, r->t->parent[0]->dim);
}

/* ---- ufunc.at: values v[i] at equal places are equal; b[i] meet them in order; so are the results */

typedef struct meeting {
  const tt_rule *r;
  tt_array *v, *place, *b, *g; /* g: what came to the results */
} meeting;

/* For each i: op between `first` and all b[j] of its place. */
static tt_array *met(const meeting *m, tt_op op, int64_t first, tt_array *b) {
  tt_composer *c = m->r->c;
  if (!b) return NULL;
  tt_dtype t = (tt_dtype)b->dtype;
  tt_array *src[3] = {tt__compose_full(c, t, 1, &b->size, tt_v_int(first)), m->place, b};
  tt_lib_attr attr = {.row = tt__lib_row("fold_at"), .i = {op, t, t}};
  return src[0] ? tt__compose_library(c, &attr, src, 3, t, 1, &b->size) : NULL;
}

static void of_sums(const meeting *m, bool minus) {
  m->r->out[0] = m->g;
  tt_array *sum = tt__rule_wants(m->r, 2) ? met(m, TT_ADD, 0, m->g) : NULL;
  m->r->out[2] = minus ? tt__compose_op1(m->r->c, TT_NEG, sum) : sum;
}

/* The product of the other factors: without zeros by division, with one of them for that alone. */
static void of_factors(const meeting *m, bool divide) {
  tt_composer *c = m->r->c;
  tt_array *zero = tt__compose_opi(c, TT_EQ, m->b, 0);
  tt_array *rest = zero ? tt__compose_where(c, zero, tt_v_int(1), tt_v_array(m->b)) : NULL;
  m->r->out[0] = tt__compose_op2(c, TT_MUL, m->g, met(m, divide ? TT_DIV : TT_MUL, 1, m->b));
  if (!tt__rule_wants(m->r, 2)) return;
  tt_array *sum = tt__compose_op2(c, TT_MUL, met(m, TT_ADD, 0, m->g), m->v);
  if (divide) {
    tt_array *whole = tt__compose_op2(c, TT_MUL, sum, met(m, TT_DIV, 1, m->b));
    m->r->out[2] = tt__compose_op1(c, TT_NEG, tt__compose_op2(c, TT_DIV, whole, m->b));
    return;
  }
  tt_array *flag = tt__compose_cast(c, zero, (tt_dtype)m->b->dtype);
  tt_array *others = tt__compose_op2(c, TT_EQ, met(m, TT_ADD, 0, flag), flag);
  tt_array *slope = tt__compose_op2(c, TT_MUL, sum, tt__compose_op2(c, TT_DIV, met(m, TT_MUL, 1, rest), rest));
  m->r->out[2] = others && slope ? tt__compose_where(c, others, tt_v_array(slope), tt_v_int(0)) : NULL;
}

/* Shared among all that are the extreme. */
static void of_extreme(const meeting *m, tt_array *best) {
  tt_composer *c = m->r->c;
  tt_dtype t = (tt_dtype)m->b->dtype;
  tt_array *here = tt__compose_cast(c, tt__compose_op2(c, TT_EQ, m->v, best), t);
  tt_array *there = tt__compose_cast(c, tt__compose_op2(c, TT_EQ, m->b, best), t);
  tt_array *count = tt__compose_op2(c, TT_ADD, here, met(m, TT_ADD, 0, there));
  m->r->out[0] = tt__compose_op2(c, TT_MUL, m->g, tt__compose_op2(c, TT_DIV, here, count));
  if (!tt__rule_wants(m->r, 2)) return;
  m->r->out[2] = tt__compose_op2(c, TT_MUL, met(m, TT_ADD, 0, m->g), tt__compose_op2(c, TT_DIV, there, count));
}

/* attr.i: the op, the type of its operands, of its result; operands: values, places, (second operands) */
void tt__rule_fold_at(const tt_rule *r) {
  tt_op op = (tt_op)r->t->attr.lib->i[0];
  bool sums = op == TT_ADD || op == TT_SUB, factors = op == TT_MUL || op == TT_DIV;
  bool extreme = op == TT_MAXIMUM || op == TT_MINIMUM || op == TT_FMAX || op == TT_FMIN;
  if (r->t->n != 3 || !(sums || factors || extreme)) {
    missing(r, "at");
    return;
  }
  meeting m = {r, tt__rule_operand(r, 0), tt__rule_operand(r, 1), tt__rule_operand(r, 2), r->g[0]};
  tt_array *best = tt__rule_pick(r, 0);
  if (!m.v || !m.place || !m.b || !best) return;
  if (m.b->dtype != m.g->dtype) m.g = tt__compose_cast(r->c, m.g, (tt_dtype)r->t->attr.lib->i[1]);
  if (!m.g) return;
  if (sums)
    of_sums(&m, op == TT_SUB);
  else if (factors)
    of_factors(&m, op == TT_DIV);
  else
    of_extreme(&m, best);
}

/* ---- complex numbers: products and extremes of rows */

/* attr.i[0]: tt_red; [rows, n] to as many results */
void tt__rule_reduce_complex(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_red red = (tt_red)r->t->attr.lib->i[0];
  tt_array *x = tt__rule_operand(r, 0), *g, *slope;
  if (!x) return;
  int64_t rows = x->dim[0], n = x->dim[1], column[2] = {rows, 1};
  if (!(g = tt__compose_reshape(c, r->g[0], 2, column))) return;
  if (red == TT_RED_PROD) {
    slope = tt__compose_conj(c, tt__rule_products_of_others(c, x, 2));
    r->out[0] = tt__compose_op2(c, TT_MUL, g, slope);
    return;
  }
  tt_lib_attr attr = {.row = r->t->attr.lib->row, .i = {red == TT_RED_MAX ? TT_RED_ARGMAX : TT_RED_ARGMIN}};
  tt_array *place = tt__compose_library(c, &attr, &x, 1, TT_I64, 2, column);
  tt_array *mask = tt__compose_op2(c, TT_EQ, place, tt__compose_iota(c, n));
  if (mask) r->out[0] = tt__compose_where(c, mask, tt_v_array(g), tt_v_int(0));
}
