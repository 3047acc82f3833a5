/*
** Cotangents through rows of the library; those of linear algebra are in factorization.c.
*/
#include <assert.h>
#include <string.h>

#include "fn/grad/factorization.h"
#include "fn/grad/rules.h"
#include "fn/linalg/matrix.h"
#include "lib/scan/host.h"

/* ---- products */

static void rule_matmul(const tt_rule *r) {
  tt_array *g = r->g[0];
  if (tt__rule_wants(r, 0)) r->out[0] = tt__compose_matmul(r->c, g, tt__compose_adjoint(r->c, tt__rule_operand(r, 1)));
  if (tt__rule_wants(r, 1)) r->out[1] = tt__compose_matmul(r->c, tt__compose_adjoint(r->c, tt__rule_operand(r, 0)), g);
}

/* ---- transforms: the conjugate transpose of one is the other, with the same factor */

static tt_array *transform(const tt_rule *r, const char *name, tt_lib_attr attr, tt_array *a, tt_dtype dtype,
                           const int64_t *len) {
  attr.row = tt__lib_row(name);
  memset(attr.pick, 0, sizeof attr.pick);
  return a ? tt__compose_library(r->c, &attr, &a, 1, dtype, a->rank, len) : NULL;
}

static void rule_fft(const tt_rule *r) {
  tt_lib_attr attr = *r->t->attr.lib;
  attr.i[1] = !attr.i[1];
  r->out[0] = transform(r, "fft", attr, r->g[0], (tt_dtype)r->g[0]->dtype, tt__array_len(r->g[0]));
}

/* The elements of the last axis with zeros behind them, `n` in all. */
static tt_array *padded(tt_composer *c, tt_array *a, int64_t n) {
  int64_t len[TT_MAX_RANK], *have = tt__array_len(a);
  memcpy(len, have, (size_t)a->rank * sizeof *len);
  if (len[a->rank - 1] == n) return a;
  len[a->rank - 1] = n - len[a->rank - 1];
  tt_array *part[2] = {a, tt__rule_zeros(c, (tt_dtype)a->dtype, a->rank, len, TT_ANYWHERE)};
  return part[1] ? tt__compose_concat(c, part, 2, a->rank - 1) : NULL;
}

static void rule_rfft(const tt_rule *r) {
  const tt_lib_attr *own = r->t->attr.lib;
  tt_array *g = padded(r->c, r->g[0], own->i[0]);
  if (!g) return;
  tt_lib_attr attr = {.i = {INT64_C(1) << (g->rank - 1), !own->i[1]}, .f = {own->f[0]}};
  tt_array *whole = transform(r, "fft", attr, g, (tt_dtype)g->dtype, tt__array_len(g));
  if (whole) r->out[0] = tt__compose_op1(r->c, TT_REAL, whole);
}

/* Numbers of the half that stand for two of the whole count twice. */
static void rule_irfft(const tt_rule *r) {
  const tt_tape *of = r->t->parent[0];
  int64_t n = r->t->attr.lib->i[0], half = of->dim[of->rank - 1];
  tt_lib_attr attr = {.i = {n, 0, 0}, .f = {r->t->attr.lib->f[0]}};
  tt_array *g = transform(r, "rfft", attr, r->g[0], (tt_dtype)of->dtype, of->dim);
  tt_array *at = g ? tt__compose_iota(r->c, half) : NULL;
  tt_array *once = at ? tt__compose_opi(r->c, TT_EQ, at, 0) : NULL;
  if (once && n % 2 == 0) once = tt__compose_op2(r->c, TT_LOR, once, tt__compose_opi(r->c, TT_EQ, at, n / 2));
  if (once) r->out[0] = tt__compose_where(r->c, once, tt_v_array(g), tt_v_array(tt__compose_opi(r->c, TT_MUL, g, 2)));
}

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

/* Sums of all that follows, itself included. */
static tt_array *summed_back(tt_composer *c, tt_array *a) {
  tt_array *sum = a ? scanned(c, TT_SCAN_SUM, tt__compose_flip(c, a, 1)) : NULL;
  return sum ? tt__compose_flip(c, sum, 1) : NULL;
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

/* attr.i: tt_scan, elements along the axis, behind it, whether a neutral value comes first */
static void rule_scan(const tt_rule *r) {
  const int64_t *i = r->t->attr.lib->i;
  const tt_tape *of = r->t->parent[0];
  tt_composer *c = r->c;
  tt_array *g = in_three(c, r->g[0], i[1] + (i[3] != 0), i[2]), *out = NULL;
  if (g && i[3]) g = tt__compose_slice(c, g, 1, 1, i[1], 1);
  if (i[0] != TT_SCAN_SUM && i[0] != TT_SCAN_PROD) {
    tt__compose_fail(c, TT_ENOTIMPL, "the derivative of a running maximum or minimum is not implemented");
    return;
  }
  if (!g) return;
  if (i[0] == TT_SCAN_SUM) {
    out = summed_back(c, g);
  } else {
    tt_array *x = tt__rule_operand(r, 0);
    out = of_products(c, x ? in_three(c, x, i[1], i[2]) : NULL, g);
  }
  if (out) r->out[0] = tt__compose_reshape(c, out, of->rank, of->dim);
}

/* ---- order and places */

/* Sorted along the last axis: each back to where it was. */
static void rule_sort(const tt_rule *r) {
  tt_composer *c = r->c;
  const tt_tape *of = r->t->parent[0];
  tt_array *x = tt__rule_operand(r, 0);
  if (!x) return;
  tt_lib_attr attr = *r->t->attr.lib;
  attr.row = tt__lib_row("argsort");
  memset(attr.pick, 0, sizeof attr.pick);
  int64_t n = x->dim[x->rank - 1], flat[2] = {x->size / n, n}, column[2] = {x->size / n, 1}, size = x->size;
  tt_array *place = tt__compose_library(c, &attr, &x, 1, TT_I64, x->rank, tt__array_len(x));
  tt_array *row = place ? tt__compose_reshape(c, tt__compose_iota(c, flat[0]), 2, column) : NULL;
  tt_array *at =
      row ? tt__compose_op2(c, TT_ADD, tt__compose_reshape(c, place, 2, flat), tt__compose_opi(c, TT_MUL, row, n))
          : NULL;
  tt_array *line = at ? tt__compose_ravel(c, at) : NULL, *values = line ? tt__compose_ravel(c, r->g[0]) : NULL;
  if (!values) return;
  tt_array *back = tt__rule_scattered(c, tt__rule_zeros(c, (tt_dtype)of->dtype, 1, &size, of->device), line, values);
  if (back) r->out[0] = tt__compose_reshape(c, back, of->rank, of->dim);
}

/* Values with what was added at their places: equal places hold equal sums. */
static void rule_fold_at(const tt_rule *r) {
  if (r->t->attr.lib->i[0] != TT_ADD) {
    tt__compose_fail(r->c, TT_ENOTIMPL, "the derivative of %s.at is not implemented",
                     tt__op_word((tt_op)r->t->attr.lib->i[0]));
    return;
  }
  tt_array *g = r->g[0], *place = tt__rule_operand(r, 1);
  r->out[0] = g;
  if (!tt__rule_wants(r, 2) || !place) return;
  int64_t n = g->size;
  tt_dtype dtype = (tt_dtype)g->dtype;
  tt_array *src[3] = {tt__rule_zeros(r->c, dtype, 1, &n, r->t->device), place, g};
  tt_lib_attr attr = {.row = tt__lib_row("fold_at"), .i = {TT_ADD, dtype, dtype}};
  if (src[0]) r->out[2] = tt__compose_library(r->c, &attr, src, 3, dtype, 1, &n);
}

/* ---- all rows */

/* Operands without elements have such a cotangent; true: there are no others. */
static bool of_nothing(const tt_rule *r) {
  bool all = true;
  for (int k = 0; k < r->t->n; k++) {
    const tt_tape *of = r->t->parent[k];
    if (!of) continue;
    bool none = false;
    for (int d = 0; d < of->rank; d++) none |= of->dim[d] == 0;
    if (none)
      r->out[k] = tt__rule_zeros(r->c, (tt_dtype)of->dtype, of->rank, of->dim, of->device);
    else
      all = false;
  }
  return all;
}

void tt__rule_library(const tt_rule *r) {
  static const struct {
    const char *name;
    void (*rule)(const tt_rule *r);
  } row[] = {
      {"matmul", rule_matmul}, {"fft", rule_fft},       {"rfft", rule_rfft},           {"irfft", rule_irfft},
      {"scan", rule_scan},     {"sort", rule_sort},     {"fold_at", rule_fold_at},     {"solve", tt__rule_solve},
      {"inv", tt__rule_inv},   {"det", tt__rule_det},   {"slogdet", tt__rule_slogdet}, {"cholesky", tt__rule_cholesky},
      {"qr", tt__rule_qr},     {"qr_r", tt__rule_qr_r}, {"svd", tt__rule_svd},         {"svdvals", tt__rule_svdvals},
      {"eigh", tt__rule_eigh}, {"eig", tt__rule_eig},   {"lstsq", tt__rule_lstsq},
  };
  const char *name = r->t->attr.lib->row->name;
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    if (strcmp(row[k].name, name) != 0) continue;
    if (of_nothing(r)) return;
    row[k].rule(r);
    for (int i = 0; i < r->t->n; i++) assert(r->c->code != TT_OK || !tt__rule_wants(r, i) || r->out[i]);
    return;
  }
  tt__compose_fail(r->c, TT_ENOTIMPL, "the derivative of '%s' is not implemented", name);
}
