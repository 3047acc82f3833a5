/*
** Cotangents through what moves elements: views, reductions, writes into parts, places.
*/
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fn/grad/folds.h"
#include "fn/grad/rules.h"
#include "fn/linalg/matrix.h"
#include "graph/session.h"
#include "ir/grad.h"
#include "ir/reach.h"

/* ---- tools */

tt_array *tt__rule_zeros(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len, int device) {
  return tt__compose_of_node(c, tt__node_const_at(device, dtype, (tt_scalar){.bits = {0, 0}}, rank, len, c->err));
}

tt_array *tt__rule_spread(tt_composer *c, tt_array *a, const tt_tape *like, uint64_t axes) {
  int64_t step[TT_MAX_RANK];
  if (!a) return NULL;
  for (int k = 0, at = 0; k < like->rank; k++) step[k] = axes >> k & 1 ? 0 : tt__array_step(a)[at++];
  return tt__compose_view(c, a, like->rank, like->dim, step, a->off);
}

tt_array *tt__rule_scattered(tt_composer *c, tt_array *old, tt_array *place, tt_array *value) {
  tt_node *src[3] = {old ? tt__compose_node(c, old) : NULL, tt__compose_node(c, place),
                     value ? tt__compose_node(c, value) : NULL};
  tt_node *n = src[0] && src[1] && src[2] ? tt__node_scatter(src[0], src[1], src[2], c->err) : NULL;
  for (int k = 0; k < 3; k++) tt__node_release(src[k]);
  return tt__compose_of_node(c, n);
}

/* Zeros with `value` added up by a row of the library, in float32 if that is wider; i[0] is `width`. */
static tt_array *added_by(tt_composer *c, const char *row, int64_t size, tt_array *place, int64_t width,
                          tt_array *value) {
  tt_dtype dtype = (tt_dtype)value->dtype, own = dtype == TT_F16 || dtype == TT_BF16 ? TT_F32 : dtype;
  tt_array *src[2] = {tt__compose_ravel(c, place), tt__compose_cast(c, tt__compose_ravel(c, value), own)};
  if (!src[0] || !src[1]) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row(row), .i = {width}};
  return tt__compose_cast(c, tt__compose_library(c, &attr, src, 2, own, 1, &size), dtype);
}

tt_array *tt__rule_add_at(tt_composer *c, int64_t size, tt_array *place, int64_t row, tt_array *value, int device) {
  if (!value || !place) return NULL;
  if (value->size == 0) return tt__rule_zeros(c, (tt_dtype)value->dtype, 1, &size, device);
  return added_by(c, "sums_at", size, place, row, value);
}

static tt_array *stored_over(tt_composer *c, tt_node *to, tt_array *value, const int64_t *step, int64_t off) {
  tt_node *from = value ? tt__compose_node(c, value) : NULL;
  tt_node *n = to && from ? tt__node_store(to, from, step, off, c->err) : NULL;
  tt__node_release(from);
  return tt__compose_of_node(c, n);
}

/* `old` with `value` written through a view. */
static tt_array *stored(tt_composer *c, tt_array *old, tt_array *value, const int64_t *step, int64_t off) {
  tt_node *to = old && value ? tt__compose_node(c, old) : NULL;
  tt_array *out = to ? stored_over(c, to, value, step, off) : NULL;
  tt__node_release(to);
  return out;
}

/* ---- views */

/* A view's axes that move, the farthest step first. */
typedef struct mover {
  int64_t len, step, own; /* own: the step in the view's own block */
} mover;

typedef struct movers {
  mover axis[TT_MAX_RANK];
  int n;
  int64_t off;
} movers;

static movers movers_of(int rank, const int64_t *len, const int64_t *step, int64_t off) {
  movers m;
  int64_t own[TT_MAX_RANK];
  m.n = 0;
  m.off = off;
  tt__shape_steps(rank, len, own);
  for (int k = 0; k < rank; k++) {
    if (len[k] <= 1) continue;
    int at = m.n++;
    for (; at > 0 && llabs(m.axis[at - 1].step) < llabs(step[k]); at--) m.axis[at] = m.axis[at - 1];
    m.axis[at] = (mover){len[k], step[k], own[k]};
  }
  return m;
}

/* Does no element of the source show twice? True for sure only. */
static bool shows_once(const movers *m) {
  int64_t reach = 0;
  for (int k = m->n; k-- > 0; reach += llabs(m->axis[k].step) * (m->axis[k].len - 1))
    if (llabs(m->axis[k].step) <= reach) return false;
  return true;
}

/*
** The inverse of a view that shows each element once: the cotangent's elements where they come from. False: it shows a
** part only.
*/
static tt_array *turned_back(tt_composer *c, tt_array *g, movers m, const tt_tape *of) {
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK], back[TT_MAX_RANK], off = 0, first = m.off;
  for (int k = 0; k < m.n; k++) {
    len[k] = m.axis[k].len;
    step[k] = m.axis[k].step < 0 ? -m.axis[k].own : m.axis[k].own;
    if (m.axis[k].step >= 0) continue;
    off += (len[k] - 1) * m.axis[k].own;
    first += (len[k] - 1) * m.axis[k].step;
  }
  assert(first == 0);
  (void)first;
  tt_node *n = tt__compose_node(c, g);
  tt_node *flat = n ? tt__node_view(n, m.n, len, step, off, c->err) : NULL;
  tt__shape_steps(of->rank, of->dim, back);
  tt_node *shaped = flat ? tt__node_view(flat, of->rank, of->dim, back, 0, c->err) : NULL;
  tt__node_release(n);
  tt__node_release(flat);
  return tt__compose_of_node(c, shaped);
}

/* Sum over the axes along which one element is shown again and again. */
static tt_array *without_repeats(tt_composer *c, tt_array *g, const int64_t *step, int *rank, int64_t *len,
                                 int64_t *left) {
  uint64_t axes = 0;
  *rank = 0;
  for (int k = 0; k < g->rank; k++) {
    if (step[k] == 0 && g->dim[k] > 1) {
      axes |= UINT64_C(1) << k;
      continue;
    }
    len[*rank] = g->dim[k];
    left[(*rank)++] = step[k];
  }
  return axes ? tt__compose_reduce(c, TT_RED_SUM, g, axes, false) : g;
}

/* How many elements of a view lie side by side, again and again. */
static int64_t run_of(int rank, const int64_t *len, const int64_t *step) {
  int64_t run = 1;
  for (int k = rank - 1; k >= 0 && (step[k] == run || len[k] == 1); k--) run *= len[k];
  return run;
}

/* Elements that show more than once: each at its place, added up. */
static tt_array *added_up(tt_composer *c, tt_array *g, const int64_t *step, int64_t off, const tt_tape *of) {
  int64_t size = 1, back[TT_MAX_RANK];
  for (int k = 0; k < of->rank; k++) size *= of->dim[k];
  tt_node *iota = tt__node_iota(1, &size, c->err);
  tt_node *place = iota ? tt__node_view(iota, g->rank, g->dim, step, off, c->err) : NULL;
  tt__node_release(iota);
  int64_t row = run_of(g->rank, g->dim, step);
  tt_array *sum = tt__rule_add_at(c, size, tt__compose_of_node(c, place), row, g, of->device);
  tt__shape_steps(of->rank, of->dim, back);
  return sum ? tt__compose_view(c, sum, of->rank, of->dim, back, 0) : NULL;
}

/*
** Windows that overlap along one axis: one shifted write for each place in the window, as long as these are few. They
** fuse, and nothing is sorted.
*/
static tt_array *by_windows(tt_composer *c, tt_array *g, const int64_t *step, int64_t off, const tt_tape *of) {
  enum { MOST_WINDOWS = 32 };
  int best = -1;
  for (int k = 0; k < g->rank; k++) {
    int64_t len[TT_MAX_RANK], left[TT_MAX_RANK];
    int n = 0;
    for (int d = 0; d < g->rank; d++) {
      if (d == k) continue;
      len[n] = g->dim[d];
      left[n++] = step[d];
    }
    movers m = movers_of(n, len, left, 0);
    if (shows_once(&m) && (best < 0 || g->dim[k] < g->dim[best])) best = k;
  }
  if (best < 0 || g->dim[best] > MOST_WINDOWS) return added_up(c, g, step, off, of);
  tt_array *sum = tt__rule_zeros(c, (tt_dtype)of->dtype, of->rank, of->dim, of->device);
  int64_t left[TT_MAX_RANK];
  for (int d = 0, n = 0; d < g->rank; d++)
    if (d != best) left[n++] = step[d];
  for (int64_t w = 0; sum && w < g->dim[best]; w++) {
    tt_array *part = tt__compose_slice(c, g, best, w, 1, 1);
    int64_t len[TT_MAX_RANK], own[TT_MAX_RANK], at = off + w * step[best];
    int n = 0;
    for (int d = 0; part && d < g->rank; d++) {
      if (d == best) continue;
      len[n] = g->dim[d];
      own[n++] = tt__array_step(part)[d];
    }
    if (part) part = tt__compose_view(c, part, n, len, own, part->off);
    tt_node *whole = tt__compose_node(c, sum);
    tt_array *old = whole ? tt__compose_of_node(c, tt__node_view(whole, n, len, left, at, c->err)) : NULL;
    tt__node_release(whole);
    sum = stored(c, sum, tt__compose_op2(c, TT_ADD, old, part), left, at);
  }
  return sum;
}

/* What a node shows as it is: a view on the way would be a copy where something is written over it. */
static tt_node *as_it_is(tt_node *n) {
  int64_t step[TT_MAX_RANK];
  while (n->op == TT_N_VIEW && n->attr.off == 0 && n->rank == n->src[0]->rank &&
         tt__shape_same(n->rank, n->dim, n->src[0]->dim)) {
    tt__shape_steps(n->rank, n->dim, step);
    if (memcmp(step, n->dim + n->rank, n->rank * sizeof *step) != 0) break;
    n = n->src[0];
  }
  return n;
}

/* Is a sum still zero where a view shows it, because what was written into zeros so far lies elsewhere? */
static bool is_untouched(const tt_node *sum, const tt_reach *view) {
  enum { MOST_WRITES = 16 }; /* looked at: each part of an array would look at all before it */
  for (int k = 0; k < MOST_WRITES && sum->op == TT_N_STORE; k++, sum = as_it_is(sum->src[0])) {
    const tt_reach wrote = {
        .naxes = sum->nstep, .off = sum->attr.off, .len = sum->src[1]->dim, .step = sum->dim + sum->rank};
    if (!tt__reach_apart(&wrote, view)) return false;
  }
  return sum->op == TT_N_CONST && sum->attr.scalar.bits[0] == 0 && sum->attr.scalar.bits[1] == 0;
}

/* Does a view show a whole matrix, transposed? */
static bool is_transposed(const tt_tape *view, const tt_tape *of) {
  const int64_t *step = tt__tape_step(view);
  return view->rank == 2 && of->rank == 2 && view->attr.off == 0 && view->dim[0] == of->dim[1] &&
         view->dim[1] == of->dim[0] && step[0] == 1 && step[1] == of->dim[1];
}

/*
** The cotangent of a view's source. With a sum so far (or NULL), a part is added in its place: that costs what the part
** has, where zeros around it would cost the whole.
*/
static tt_array *unviewed(tt_composer *c, tt_array *g, const tt_tape *view, const tt_tape *of, tt_array **sum) {
  int64_t len[TT_MAX_RANK], left[TT_MAX_RANK], size = 1, off = view->attr.off;
  int rank;
  if (g->size == 0) return NULL;
  if (!tt__session_tape && is_transposed(view, of)) return tt__compose_swap(c, g); /* without a node of its own */
  tt_array *few = without_repeats(c, g, tt__tape_step(view), &rank, len, left);
  if (!few) return NULL;
  for (int k = 0; k < of->rank; k++) size *= of->dim[k];
  movers m = movers_of(rank, len, left, off);
  if (!shows_once(&m)) return by_windows(c, few, left, off, of);
  if (few->size == size) return turned_back(c, few, m, of);
  if (!*sum) return stored(c, tt__rule_zeros(c, (tt_dtype)of->dtype, of->rank, of->dim, of->device), few, left, off);
  tt_node *shown = tt__compose_node(c, *sum), *whole = shown ? as_it_is(shown) : NULL;
  if (whole && !is_untouched(whole, &(tt_reach){.naxes = rank, .off = off, .len = len, .step = left}))
    few = tt__compose_op2(c, TT_ADD, tt__compose_of_node(c, tt__node_view(whole, rank, len, left, off, c->err)), few);
  *sum = stored_over(c, whole, few, left, off);
  tt__node_release(shown);
  return NULL;
}

/* ---- reductions */

/* Where the operand is the extreme one, shared among equals. */
static tt_array *of_extreme(const tt_rule *r, tt_array *g, uint64_t axes) {
  const tt_tape *like = r->t->parent[0];
  tt_composer *c = r->c;
  tt_array *x = tt__rule_operand(r, 0), *best = tt__rule_spread(c, tt__rule_result(r), like, axes);
  tt_array *mask = x && best ? tt__compose_op2(c, TT_EQ, x, best) : NULL;
  tt_array *flag = mask ? tt__compose_cast(c, mask, (tt_dtype)like->dtype) : NULL;
  tt_array *count = flag ? tt__compose_reduce(c, TT_RED_SUM, flag, axes, false) : NULL;
  tt_array *share = count ? tt__rule_spread(c, tt__compose_op2(c, TT_DIV, g, count), like, axes) : NULL;
  return share ? tt__compose_where(c, mask, tt_v_array(share), tt_v_int(0)) : NULL;
}

/* The product of the others: where one factor is 0, that of the rest; where two are, 0. */
static tt_array *of_product(const tt_rule *r, tt_array *g, uint64_t axes) {
  const tt_tape *like = r->t->parent[0];
  tt_composer *c = r->c;
  tt_array *x = tt__rule_operand(r, 0);
  if (r->taped) /* what is chosen below would have no slope */
    return tt__compose_op2(c, TT_MUL, tt__rule_spread(c, g, like, axes), tt__rule_products_of_others(c, x, axes));
  tt_array *zero = x ? tt__compose_opi(c, TT_EQ, x, 0) : NULL;
  tt_array *rest = zero ? tt__compose_where(c, zero, tt_v_int(1), tt_v_array(x)) : NULL;
  tt_array *all = rest ? tt__rule_spread(c, tt__compose_reduce(c, TT_RED_PROD, rest, axes, false), like, axes) : NULL;
  tt_array *count = all ? tt__compose_reduce(c, TT_RED_SUM, tt__compose_cast(c, zero, TT_I64), axes, false) : NULL;
  tt_array *zeros = count ? tt__rule_spread(c, count, like, axes) : NULL;
  tt_array *flag = zeros ? tt__compose_cast(c, zero, TT_I64) : NULL;
  tt_array *others = flag ? tt__compose_opi(c, TT_EQ, tt__compose_op2(c, TT_SUB, zeros, flag), 0) : NULL;
  tt_array *slope = others ? tt__compose_op2(c, TT_DIV, all, rest) : NULL;
  tt_array *wide = slope ? tt__rule_spread(c, g, like, axes) : NULL;
  return wide ? tt__compose_where(c, others, tt_v_array(tt__compose_op2(c, TT_MUL, wide, slope)), tt_v_int(0)) : NULL;
}

static tt_array *unreduced(const tt_rule *r, tt_array *g) {
  uint64_t axes = r->t->attr.reduce.axes;
  switch (r->t->attr.reduce.red) {
    case TT_RED_SUM:
      return tt__rule_spread(r->c, g, r->t->parent[0], axes);
    case TT_RED_PROD:
      return of_product(r, g, axes);
    default:
      return of_extreme(r, g, axes);
  }
}

/* ---- writes */

static void rule_store(const tt_rule *r, tt_array *g) {
  const tt_tape *value = r->t->parent[1];
  const int64_t *step = tt__tape_step(r->t);
  int64_t still = r->t->attr.off;
  if (value) {
    tt_node *n = tt__compose_node(r->c, g);
    r->out[1] = tt__compose_of_node(r->c, n ? tt__node_view(n, value->rank, value->dim, step, still, r->c->err) : NULL);
    tt__node_release(n);
  }
  if (!tt__rule_wants(r, 0)) return;
  tt_array *zeros = tt__rule_zeros(r->c, (tt_dtype)r->t->dtype, r->t->nstep, r->t->wrote, r->t->device);
  r->out[0] = stored(r->c, g, zeros, step, still);
}

tt_array *tt__rule_gathered(tt_composer *c, tt_array *a, tt_array *place) {
  tt_node *from = tt__compose_node(c, a), *at = from ? tt__compose_node(c, place) : NULL;
  tt_node *n = at ? tt__node_gather(from, at, c->err) : NULL;
  tt__node_release(from);
  tt__node_release(at);
  return tt__compose_of_node(c, n);
}

/* Of values for one place the last was written: the others have no slope. */
static void rule_scatter(const tt_rule *r, tt_array *g) {
  tt_composer *c = r->c;
  tt_array *place = tt__rule_operand(r, 1);
  if (!place) return;
  if (tt__rule_wants(r, 0)) {
    tt_array *zeros = tt__rule_zeros(c, (tt_dtype)r->t->dtype, place->rank, place->dim, r->t->device);
    r->out[0] = tt__rule_scattered(c, g, place, zeros);
  }
  if (!tt__rule_wants(r, 2)) return;
  int64_t size = 1;
  for (int k = 0; k < r->t->rank; k++) size *= r->t->dim[k];
  tt_array *number = tt__compose_iota(c, place->size);
  if (number) number = tt__compose_reshape(c, number, place->rank, tt__array_len(place));
  tt_array *writer =
      number ? tt__rule_scattered(c, tt__rule_zeros(c, TT_I64, 1, &size, TT_ANYWHERE), place, number) : NULL;
  tt_array *last = writer ? tt__compose_op2(c, TT_EQ, tt__rule_gathered(c, writer, place), number) : NULL;
  tt_array *value = last ? tt__rule_gathered(c, g, place) : NULL;
  if (value) r->out[2] = tt__compose_where(c, last, tt_v_array(value), tt_v_int(0));
}

/* Of places in an array: as many axes as both end in are taken for whole ones, which who adds up will see. */
static int64_t row_of(const tt_tape *of, tt_array *place) {
  int64_t row = 1;
  for (int k = 1; k < of->rank && k <= place->rank && of->dim[of->rank - k] == tt__array_len(place)[place->rank - k];
       k++)
    row *= of->dim[of->rank - k];
  return row;
}

/* The axes at the end along which `n` counts 0, 1, 2, ... up to *width, and no other axis moves it; 0: none. */
static int counting_axes(const tt_node *n, int64_t *width) {
  if (n->op != TT_N_VIEW || n->src[0]->op != TT_N_IOTA || n->attr.off != 0) return 0;
  const int64_t *step = n->dim + n->rank;
  int first = n->rank;
  *width = 1;
  while (first > 0 && (step[first - 1] == *width || n->dim[first - 1] == 1)) *width *= n->dim[--first];
  for (int k = 0; k < first; k++)
    if (step[k] != 0) return 0;
  return *width > 1 ? n->rank - first : 0;
}

/* Is it a multiple of `width` that no axis from `first` on moves? */
static bool is_start(const tt_node *n, int first, int64_t width) {
  if (n->op != TT_N_VIEW || n->src[0]->op != TT_MUL) return false;
  const int64_t *step = n->dim + n->rank;
  for (int k = first; k < n->rank; k++)
    if (step[k] != 0 && n->dim[k] > 1) return false;
  for (int k = 0; k < 2; k++) {
    const tt_node *by = n->src[0]->src[k];
    if (by->op == TT_N_CONST && by->dtype == TT_I64 && by->attr.scalar.i64 % width == 0)
      return by->attr.scalar.i64 != 0;
  }
  return false;
}

/* Places that are whole rows of an array, as it was indexed along its first axes: where each begins; NULL: they are
 * not known to be so. */
static tt_array *whole_rows(tt_composer *c, tt_array *place, int64_t *width) {
  int64_t step[TT_MAX_RANK];
  tt_node *n = tt__compose_node(c, place), *start = NULL;
  for (int k = 0; n && k < 2 && n->op == TT_ADD && !start; k++) {
    int first = n->rank - counting_axes(n->src[k], width);
    if (first == 0 || first == n->rank || !is_start(n->src[1 - k], first, *width)) continue;
    tt__shape_steps(n->rank, n->dim, step);
    start = tt__node_view(n->src[1 - k], first, n->dim, step, 0, c->err);
  }
  tt__node_release(n);
  return start ? tt__compose_of_node(c, start) : NULL;
}

static void rule_gather(const tt_rule *r, tt_array *g) {
  const tt_tape *of = r->t->parent[0];
  int64_t size = 1, width, step[TT_MAX_RANK];
  for (int k = 0; k < of->rank; k++) size *= of->dim[k];
  tt_array *place = tt__rule_operand(r, 1);
  if (!place) return;
  bool is_plain = !r->taped && g->size > 0 && !tt__is_complex((tt_dtype)g->dtype);
  tt_array *start = is_plain ? whole_rows(r->c, place, &width) : NULL;
  tt_array *sum = start ? added_by(r->c, "sums_at_rows", size, start, width, g)
                        : tt__rule_add_at(r->c, size, place, row_of(of, place), g, of->device);
  tt__shape_steps(of->rank, of->dim, step);
  if (sum) r->out[0] = tt__compose_view(r->c, sum, of->rank, of->dim, step, 0);
}

/* A complex number as two real ones, or two as one. */
static void rule_bitcast(const tt_rule *r, tt_array *g) {
  const tt_tape *of = r->t->parent[0];
  tt_dtype a = (tt_dtype)of->dtype, b = (tt_dtype)r->t->dtype;
  bool pair = (a == TT_C64 && b == TT_F32) || (a == TT_C128 && b == TT_F64) || (b == TT_C64 && a == TT_F32) ||
              (b == TT_C128 && a == TT_F64);
  if (!pair) {
    tt__compose_fail(r->c, TT_ENOTIMPL, "the derivative of view() from %s to %s is not implemented", tt__dtypes[a].name,
                     tt__dtypes[b].name);
    return;
  }
  tt_node *n = tt__compose_node(r->c, g);
  r->out[0] = tt__compose_of_node(r->c, n ? tt__node_bitcast(n, a, of->rank, of->dim, r->c->err) : NULL);
  tt__node_release(n);
}

void tt__rule_structure(const tt_rule *r) {
  tt_array *g = r->g[0];
  switch (r->t->op) {
    case TT_N_VIEW:
      r->out[0] = unviewed(r->c, g, r->t, r->t->parent[0], r->sum);
      return;
    case TT_N_REDUCE:
      r->out[0] = unreduced(r, g);
      return;
    case TT_N_STORE:
      rule_store(r, g);
      return;
    case TT_N_GATHER:
      rule_gather(r, g);
      return;
    case TT_N_SCATTER:
      rule_scatter(r, g);
      return;
    default:
      assert(r->t->op == TT_N_BITCAST);
      rule_bitcast(r, g);
  }
}
