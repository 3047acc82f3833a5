/*
** Cotangents through rows of the library; those of linear algebra are in factorization.c, those of
** networks in convolution.c, attention.c, recurrent.c and losses.c.
*/
#include <assert.h>
#include <string.h>

#include "fn/fn.h"
#include "fn/grad/factorization.h"
#include "fn/grad/folds.h"
#include "fn/grad/networks.h"
#include "fn/grad/rules.h"
#include "fn/linalg/matrix.h"

/* ---- products */

/* Is the operand a view of a matrix by its columns, such as a layer's weight? */
static bool lies_by_columns(const tt_tape *t) {
  if (!t || t->op != TT_N_VIEW || t->rank < 2) return false;
  const int64_t *len = t->dim + t->rank - 2, *step = tt__tape_step(t) + t->rank - 2;
  return step[0] == 1 && step[1] >= len[0] && len[0] > 1 && len[1] > 1;
}

/* x @ y, the cotangent of operand k, so as that lies: what reads both walks memory in one order. */
static tt_array *product_as(const tt_rule *r, int k, tt_array *x, tt_array *y) {
  tt_composer *c = r->c;
  if (!lies_by_columns(r->t->parent[k])) return tt__compose_matmul(c, x, y);
  tt_array *turned = tt__compose_matmul(c, tt__compose_swap(c, y), tt__compose_swap(c, x));
  return turned ? tt__compose_swap(c, turned) : NULL;
}

static void rule_matmul(const tt_rule *r) {
  tt_array *g = r->g[0];
  if (tt__rule_wants(r, 0)) r->out[0] = product_as(r, 0, g, tt__compose_adjoint(r->c, tt__rule_operand(r, 1)));
  if (tt__rule_wants(r, 1)) r->out[1] = product_as(r, 1, tt__compose_adjoint(r->c, tt__rule_operand(r, 0)), g);
}

/*
** x [rows, in], a weight [in, out] and a bias [out], done at the call: of x @ weight + bias, in the order of its rules,
** so that what meets in cotangents of higher orders is added up to the same bits.
*/
static void rule_linear(const tt_rule *r) {
  tt_array *g = r->g[0], *few = NULL;
  if (r->t->n > 2 && tt__rule_wants(r, 2)) {
    bool many = tt__array_len(g)[0] > 1;
    few = many ? tt__compose_reduce(r->c, TT_RED_SUM, g, 1, false) : tt__compose_ravel(r->c, g);
    r->out[2] = tt__compose_of_node(r->c, tt__compose_node(r->c, few)); /* a view is recorded now */
  }
  rule_matmul(r);
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

/* ---- order and places */

/* The flat places that sort each row, all on one axis. */
static tt_array *sorting(const tt_rule *r, tt_array *x, bool descending) {
  tt_composer *c = r->c;
  if (!x) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("argsort"), .i = {descending}};
  int64_t n = x->dim[x->rank - 1], flat[2] = {x->size / n, n}, column[2] = {x->size / n, 1};
  tt_array *place = tt__compose_library(c, &attr, &x, 1, TT_I64, x->rank, tt__array_len(x));
  tt_array *row = place ? tt__compose_reshape(c, tt__compose_iota(c, flat[0]), 2, column) : NULL;
  tt_array *at = row ? tt__compose_reshape(c, place, 2, flat) : NULL;
  return at ? tt__compose_ravel(c, tt__compose_op2(c, TT_ADD, at, tt__compose_opi(c, TT_MUL, row, n))) : NULL;
}

static void put_back(const tt_rule *r, tt_array *place, tt_array *values) {
  const tt_tape *of = r->t->parent[0];
  if (!place || !values) return;
  int64_t size = 1;
  for (int d = 0; d < of->rank; d++) size *= of->dim[d];
  tt_array *zeros = tt__rule_zeros(r->c, (tt_dtype)of->dtype, 1, &size, of->device);
  tt_array *back = tt__rule_scattered(r->c, zeros, place, values);
  if (back) r->out[0] = tt__compose_reshape(r->c, back, of->rank, of->dim);
}

/* Sorted along the last axis (attr.i[0]: descending): each back to where it was. */
static void rule_sort(const tt_rule *r) {
  tt_array *place = sorting(r, tt__rule_operand(r, 0), r->t->attr.lib->i[0] != 0);
  put_back(r, place, place ? tt__compose_ravel(r->c, r->g[0]) : NULL);
}

/* In part sorted: the k-th largest of the result was the k-th largest of the operand. */
static void rule_select(const tt_rule *r) {
  tt_array *from = sorting(r, tt__rule_pick(r, 0), false), *to = sorting(r, tt__rule_operand(r, 0), false);
  tt_array *g = from && to ? tt__compose_ravel(r->c, r->g[0]) : NULL;
  put_back(r, to, g ? tt__compose_take(r->c, g, from, 0) : NULL);
}

/* ---- counting: sums of weights by bins; elements and edges have no slope */

/* g at a bin for each weight; a bin behind the last is none. */
static tt_array *from_bins(const tt_rule *r, tt_array *bin) {
  tt_composer *c = r->c;
  int64_t one = 1;
  tt_array *part[2] = {r->g[0], tt__rule_zeros(c, (tt_dtype)r->g[0]->dtype, 1, &one, TT_ANYWHERE)};
  return bin && part[1] ? tt__compose_take(c, tt__compose_concat(c, part, 2, 0), bin, 0) : NULL;
}

static void rule_histogram(const tt_rule *r) {
  tt_array *x = tt__rule_operand(r, 0), *edge = tt__rule_operand(r, 1);
  if (!x || !edge) return;
  for (int k = 0; k < 2; k++) {
    const tt_tape *of = r->t->parent[k];
    if (of) r->out[k] = tt__rule_zeros(r->c, (tt_dtype)of->dtype, of->rank, of->dim, of->device);
  }
  if (tt__rule_wants(r, 2)) r->out[2] = from_bins(r, tt__fn_cell(r->c, x, edge));
}

static void rule_bincount(const tt_rule *r) {
  tt_array *x = tt__rule_operand(r, 0);
  r->out[1] = from_bins(r, x ? tt__compose_cast(r->c, x, TT_I64) : NULL);
}

/* Values added up at places: each had the slope of its place. */
static void rule_sums_at(const tt_rule *r) {
  tt_array *place = tt__rule_operand(r, 0);
  if (place) r->out[1] = tt__rule_gathered(r->c, r->g[0], place);
}

/* The elements where a mask is true. */
static void rule_compress(const tt_rule *r) {
  const tt_tape *of = r->t->parent[1];
  tt_array *mask = tt__rule_operand(r, 0), *place;
  tt_lib_attr none = {0};
  if (!mask || !tt__compose_make(r->c, "nonzero", &none, &mask, 1, &place)) return;
  r->out[1] =
      tt__rule_scattered(r->c, tt__rule_zeros(r->c, (tt_dtype)of->dtype, 1, of->dim, of->device), place, r->g[0]);
}

/* The distinct elements, sorted: each is the first of its equals. NaNs differ here, and are the last. */
static void rule_unique(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *x = tt__rule_operand(r, 0), *first, *g = r->g[0];
  x = x ? tt__compose_ravel(c, x) : NULL;
  tt_array *place = sorting(r, x, false), *sorted = place ? tt__compose_take(c, x, place, 0) : NULL;
  if (!sorted) return;
  int64_t n = x->size, one = 1;
  tt_array *part[2] = {tt__compose_full(c, TT_BOOL, 1, &one, tt_v_int(1)),
                       tt__compose_op2(c, TT_NE, tt__compose_slice(c, sorted, 0, 1, n - 1, 1),
                                       tt__compose_slice(c, sorted, 0, 0, n - 1, 1))};
  tt_array *fresh = part[0] && part[1] ? tt__compose_concat(c, part, 2, 0) : NULL;
  tt_lib_attr none = {0};
  if (!fresh || !tt__compose_make(c, "nonzero", &none, &fresh, 1, &first)) return;
  put_back(r, tt__compose_take(c, place, tt__compose_slice(c, first, 0, 0, g->size, 1), 0), g);
}

/* log2(2^a + 2^b): each has its share of the sum. */
static void rule_logaddexp2(const tt_rule *r) {
  tt_composer *c = r->c;
  for (int k = 0; k < 2; k++) {
    if (!tt__rule_wants(r, k)) continue;
    tt_array *x = tt__rule_operand(r, k), *sum = tt__rule_pick(r, 0);
    tt_array *same = sum ? tt__compose_op2(c, TT_EQ, x, sum) : NULL; /* infinities */
    tt_array *less = same ? tt__compose_op2(c, TT_SUB, x, sum) : NULL;
    less = less ? tt__compose_where(c, same, tt_v_int(0), tt_v_array(less)) : NULL;
    r->out[k] = tt__compose_op2(c, TT_MUL, r->g[0], tt__compose_op1(c, TT_EXP2, less));
  }
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

static const struct {
  const char *name;
  void (*rule)(const tt_rule *r);
} rules[] = {
    {"matmul", rule_matmul},
    {"linear", rule_linear},
    {"mean_square", tt__rule_mean_square},
    {"convolution", tt__rule_convolution},
    {"convolution_bias", tt__rule_convolution},
    {"attention", tt__rule_attention},
    {"attention_masked", tt__rule_attention},
    {"attention_dropped", tt__rule_attention},
    {"recurrent", tt__rule_recurrent},
    {"fft", rule_fft},
    {"rfft", rule_rfft},
    {"irfft", rule_irfft},
    {"scan", tt__rule_scan},
    {"sums_at", rule_sums_at},
    {"fold", tt__rule_fold},
    {"fold_where", tt__rule_fold},
    {"fold_segments", tt__rule_fold_segments},
    {"fold_at", tt__rule_fold_at},
    {"fold_at_one", tt__rule_fold_at},
    {"reduce_complex", tt__rule_reduce_complex},
    {"sort", rule_sort},
    {"select", rule_select},
    {"histogram_uniform_weighted", rule_histogram},
    {"histogram_edges_weighted", rule_histogram},
    {"bincount_weighted", rule_bincount},
    {"compress", rule_compress},
    {"unique", rule_unique},
    {"solve", tt__rule_solve},
    {"inv", tt__rule_inv},
    {"det", tt__rule_det},
    {"slogdet", tt__rule_slogdet},
    {"cholesky", tt__rule_cholesky},
    {"qr", tt__rule_qr},
    {"qr_r", tt__rule_qr_r},
    {"svd", tt__rule_svd},
    {"svdvals", tt__rule_svdvals},
    {"eigh", tt__rule_eigh},
    {"eig", tt__rule_eig},
    {"lstsq", tt__rule_lstsq},
    {"pinv", tt__rule_pinv},
    {"binary_cross_entropy", tt__rule_binary_cross_entropy},
    {"logaddexp2", rule_logaddexp2},
    {"ctc_loss", tt__rule_ctc_loss},
};

void tt__rule_library(const tt_rule *r) {
  const char *name = r->t->op == TT_TAPE_MADE ? r->t->attr.made : r->t->attr.lib->row->name;
  bool known = r->t->op != TT_TAPE_MADE || r->t->keeps; /* functions are called as rows are */
  for (size_t k = 0; known && k < sizeof rules / sizeof *rules; k++) {
    if (strcmp(rules[k].name, name) != 0) continue;
    if (of_nothing(r)) return;
    rules[k].rule(r);
    for (int i = 0; i < r->t->n; i++) assert(r->c->code != TT_OK || !tt__rule_wants(r, i) || r->out[i]);
    return;
  }
  tt__compose_fail(r->c, TT_ENOTIMPL, "the derivative of '%s' is not implemented", name);
}
