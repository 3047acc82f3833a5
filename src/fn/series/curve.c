/*
** Sampled curves: differences, integrals, interpolation, convolution.
*/
#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "fn/linalg/matrix.h"
#include "graph/eager/compute.h"

static tt_array *inexact(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  return tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype) ? a : tt__compose_cast(c, a, TT_F64);
}

/* Numbers along one axis of an array of `rank` axes. */
static tt_array *along(tt_composer *c, tt_array *v, int rank, int axis) {
  int64_t len[TT_MAX_RANK];
  if (!v) return NULL;
  for (int d = 0; d < rank; d++) len[d] = d == axis ? v->size : 1;
  return tt__compose_reshape(c, v, rank, len);
}

static tt_array *part(tt_composer *c, tt_array *a, int axis, int64_t start, int64_t n) {
  return tt__compose_slice(c, a, axis, start, n, 1);
}

/* ---- gradient */

/* The distances along an axis: NULL for one everywhere, else [n - 1] of them, the first, and are all of them `one`? */
typedef struct spacing {
  double even;
  tt_array *steps, *one, *same;
} spacing;

/* Where the distances turn out to be one, the formula for one: the other rounds otherwise, and an infinite neighbour
** times a weight of 0 would be NaN. */
static tt_array *where_even(tt_composer *c, const spacing *h, tt_array *even, tt_array *uneven) {
  return even && uneven ? tt__compose_where(c, h->same, tt_v_array(even), tt_v_array(uneven)) : NULL;
}

static tt_array *three_points(tt_composer *c, tt_array *a, int axis, int64_t at, tt_array *const *factor) {
  tt_array *s = NULL;
  for (int k = 0; k < 3; k++) {
    tt_array *term = tt__compose_op2(c, TT_MUL, part(c, a, axis, at + k, 1), factor[k]);
    s = k == 0 ? term : tt__compose_op2(c, TT_ADD, s, term);
  }
  return s;
}

/* The difference of three points at an end, of one distance. */
static tt_array *even_end(tt_composer *c, tt_array *a, int axis, const spacing *h, bool last) {
  static const double front[3] = {-1.5, 2, -0.5}, back[3] = {0.5, -2, 1.5};
  const double *weight = last ? back : front;
  int64_t at = last ? tt__array_len(a)[axis] - 3 : 0;
  tt_array *s = NULL;
  for (int k = 0; k < 3; k++) {
    tt_array *point = part(c, a, axis, at + k, 1), *term;
    if (h->steps) {
      tt_value v[2] = {tt_v_float(weight[k]), tt_v_array(h->one)};
      term = tt__compose_op2(c, TT_MUL, tt__compose_apply(c, TT_DIV, v, 2, TT_DTYPE_NONE), point);
    } else {
      term = tt__compose_opf(c, TT_MUL, point, weight[k] / h->even);
    }
    s = k == 0 ? term : tt__compose_op2(c, TT_ADD, s, term);
  }
  return s;
}

/* The one-sided difference at an end: two points, or three weighted ones. */
static tt_array *end_difference(tt_composer *c, tt_array *a, int axis, const spacing *h, bool last, bool second) {
  int64_t n = tt__array_len(a)[axis];
  tt_array *factor[3];
  if (!second) {
    tt_array *d =
        tt__compose_op2(c, TT_SUB, part(c, a, axis, last ? n - 1 : 1, 1), part(c, a, axis, last ? n - 2 : 0, 1));
    if (!h->steps) return tt__compose_opf(c, TT_DIV, d, h->even);
    return tt__compose_op2(c, TT_DIV, d, along(c, part(c, h->steps, 0, last ? n - 2 : 0, 1), a->rank, axis));
  }
  tt_array *even = even_end(c, a, axis, h, last);
  if (!h->steps) return even;
  tt_array *u = along(c, part(c, h->steps, 0, last ? n - 3 : 0, 1), a->rank, axis);
  tt_array *v = along(c, part(c, h->steps, 0, last ? n - 2 : 1, 1), a->rank, axis);
  tt_array *sum = tt__compose_op2(c, TT_ADD, u, v), *uv = tt__compose_op2(c, TT_MUL, u, v);
  tt_array *near = last ? v : u, *far = last ? u : v; /* the distances next to the end, and beyond */
  tt_array *wide = tt__compose_op2(c, TT_ADD, tt__compose_opf(c, TT_MUL, near, 2), far);
  factor[1] = tt__compose_op2(c, TT_DIV, sum, uv);
  factor[last ? 2 : 0] = tt__compose_op2(c, TT_DIV, wide, tt__compose_op2(c, TT_MUL, near, sum));
  factor[last ? 0 : 2] = tt__compose_op2(c, TT_DIV, near, tt__compose_op2(c, TT_MUL, far, sum));
  if (last)
    factor[1] = tt__compose_op1(c, TT_NEG, factor[1]);
  else
    factor[0] = tt__compose_op1(c, TT_NEG, factor[0]), factor[2] = tt__compose_op1(c, TT_NEG, factor[2]);
  return where_even(c, h, even, three_points(c, a, axis, last ? n - 3 : 0, factor));
}

static tt_array *inner_difference(tt_composer *c, tt_array *a, int axis, const spacing *h) {
  int64_t n = tt__array_len(a)[axis];
  tt_array *before = part(c, a, axis, 0, n - 2), *here = part(c, a, axis, 1, n - 2),
           *behind = part(c, a, axis, 2, n - 2);
  tt_array *between = tt__compose_op2(c, TT_SUB, behind, before);
  if (!h->steps) return tt__compose_opf(c, TT_DIV, between, 2 * h->even);
  tt_array *u = along(c, part(c, h->steps, 0, 0, n - 2), a->rank, axis),
           *v = along(c, part(c, h->steps, 0, 1, n - 2), a->rank, axis);
  tt_array *sum = tt__compose_op2(c, TT_ADD, u, v);
  tt_array *fu = tt__compose_op1(c, TT_NEG, tt__compose_op2(c, TT_DIV, v, tt__compose_op2(c, TT_MUL, u, sum)));
  tt_array *fh = tt__compose_op2(c, TT_DIV, tt__compose_op2(c, TT_SUB, v, u), tt__compose_op2(c, TT_MUL, u, v));
  tt_array *fv = tt__compose_op2(c, TT_DIV, u, tt__compose_op2(c, TT_MUL, v, sum));
  tt_array *s =
      tt__compose_op2(c, TT_ADD, tt__compose_op2(c, TT_MUL, fu, before), tt__compose_op2(c, TT_MUL, fh, here));
  tt_array *uneven = tt__compose_op2(c, TT_ADD, s, tt__compose_op2(c, TT_MUL, fv, behind));
  return where_even(c, h, tt__compose_op2(c, TT_DIV, between, tt__compose_opf(c, TT_MUL, h->one, 2)), uneven);
}

static tt_array *gradient_along(tt_composer *c, tt_array *a, int axis, const spacing *h, bool second) {
  int64_t n = tt__array_len(a)[axis];
  tt_array *out = tt__compose_empty(c, (tt_dtype)a->dtype, a->rank, tt__array_len(a)), *piece[3];
  piece[0] = end_difference(c, a, axis, h, false, second);
  piece[1] = n > 2 ? inner_difference(c, a, axis, h) : NULL;
  piece[2] = end_difference(c, a, axis, h, true, second);
  static const int64_t none = 0;
  int64_t start[3] = {none, 1, n - 1}, len[3] = {1, n - 2, 1};
  for (int k = 0; k < 3; k++) {
    if (len[k] <= 0) continue;
    if (!piece[k] || !tt__compose_set(c, part(c, out, axis, start[k], len[k]),
                                      tt_v_array(tt__compose_cast(c, piece[k], (tt_dtype)a->dtype))))
      return NULL;
  }
  return out;
}

static bool is_number(const tt_value *v) {
  return v->tag != TT_V_TUPLE && (v->tag != TT_V_ARRAY || v->as.array->rank == 0);
}

static bool read_spacing(tt_composer *c, const tt_value *v, int64_t n, spacing *out) {
  *out = (spacing){1, NULL, NULL, NULL};
  if (!v) return true;
  tt_call_frame one = {.arg = v, .narg = 1};
  tt_array *x = tt__arg_array(c, &one, 0);
  if (!x) return false;
  if (x->rank == 0) return out->even = tt__arg_float(c, &one, 0, 1), c->code == TT_OK;
  if (x->rank != 1) return tt__compose_fail(c, TT_EVALUE, "distances must be either scalars or 1d"), false;
  if (x->size != n)
    return tt__compose_fail(c, TT_EVALUE, "when 1d, distances must match the length of the corresponding dimension"),
           false;
  if (x->dtype == TT_BOOL || tt__is_int((tt_dtype)x->dtype)) x = tt__compose_cast(c, x, TT_F64);
  out->steps = tt__compose_op2(c, TT_SUB, part(c, x, 0, 1, n - 1), part(c, x, 0, 0, n - 1));
  if (!out->steps || n < 3) return out->steps != NULL; /* one distance serves two points */
  out->one = tt__compose_reshape(c, part(c, out->steps, 0, 0, 1), 0, NULL);
  tt_array *equal = tt__compose_op2(c, TT_EQ, out->steps, out->one);
  tt_value all = tt_v_array(equal);
  out->same = equal ? tt__fn_call(c, "all", &all, 1) : NULL;
  return out->same != NULL;
}

/* gradient(f, *varargs, axis, edge_order) */
static tt_array *gradient(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *r = NULL;
  if (!a) return NULL;
  if (a->dtype == TT_BOOL) return tt__compose_op2(c, TT_SUB, a, a); /* NumPy's words for no such difference */
  a = inexact(c, a);
  int64_t given = f->narg > 1 && f->arg[1].tag == TT_V_TUPLE ? f->arg[1].as.tuple.n : 0, raw[TT_MAX_RANK],
          order = tt__arg_int(c, f, 3, 1);
  int axis[TT_MAX_RANK], n = a->rank;
  for (int d = 0; d < n; d++) axis[d] = d;
  if (tt__arg_given(f, 2)) {
    n = tt__arg_ints(c, f, 2, raw, TT_MAX_RANK);
    uint64_t seen = 0;
    for (int k = 0; k < n && c->code == TT_OK; k++) {
      c->code = tt__shape_axis(raw[k], a->rank, &axis[k], c->err);
      if (c->code == TT_OK && seen >> axis[k] & 1) tt__compose_fail(c, TT_EVALUE, "repeated axis");
      seen |= UINT64_C(1) << axis[k];
    }
  }
  bool for_all = given == 1 && is_number(&f->arg[1].as.tuple.item[0]);
  if (c->code == TT_OK && given > 0 && given != n && !for_all)
    tt__compose_fail(c, TT_ETYPE, "invalid number of arguments");
  if (c->code == TT_OK && order > 2) tt__compose_fail(c, TT_EVALUE, "'edge_order' greater than 2 not supported");
  for (int k = 0; k < n && c->code == TT_OK; k++) {
    spacing h;
    const tt_value *v = given == 0 ? NULL : &f->arg[1].as.tuple.item[given == 1 ? 0 : k];
    int64_t len = tt__array_len(a)[axis[k]];
    if (!read_spacing(c, v, len, &h)) return NULL;
    if (len < order + 1)
      return tt__compose_fail(c, TT_EVALUE,
                              "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
                              "elements are required.");
    if (len < (order == 1 ? 2 : 3)) /* an order below 1 is taken for 2 */
      return tt__compose_fail(c, TT_EINDEX, "index 1 is out of bounds for axis %d with size %lld", axis[k],
                              (long long)len);
    if (!(r = gradient_along(c, a, axis[k], &h, order != 1)) || !tt__fn_give(c, f, r)) return NULL;
  }
  f->tuple = n != 1;
  return r;
}
TT_HANDLER_LAID(gradient, 'K')

/* trapezoid(y, x, dx, axis) */
static tt_array *trapezoid(tt_composer *c, tt_call_frame *f) {
  tt_array *y = tt__arg_array(c, f, 0), *d = NULL;
  if (!y) return NULL;
  int axis = tt__arg_axis(c, f, 3, y->rank, y->rank - 1);
  if (c->code != TT_OK) return NULL;
  if (y->rank == 0) return tt__compose_fail(c, TT_EAXIS, "axis -1 is out of bounds for array of dimension 0");
  int64_t n = tt__array_len(y)[axis], m = n > 0 ? n - 1 : 0, told = tt__arg_int(c, f, 3, -1);
  if (tt__arg_given(f, 1)) {
    tt_array *x = tt__arg_array(c, f, 1);
    if (!x) return NULL;
    int64_t at = x->rank == 1 ? 0 : told; /* of each array its own, counted from the end where it was told so */
    if (at >= x->rank || at < -x->rank)
      return tt__compose_fail(c, TT_EAXIS, "axis %d is out of bounds for array of dimension %d", (int)at, x->rank);
    d = tt__fn_call(c, "diff", (tt_value[3]){tt_v_array(x), tt_v_int(1), tt_v_int(at)}, 3);
    if (d && x->rank == 1) d = along(c, d, y->rank, axis);
  }
  tt_array *s = tt__compose_op2(c, TT_ADD, part(c, y, axis, 1, m), part(c, y, axis, 0, m));
  tt_value step = d ? tt_v_array(d) : tt__arg_given(f, 2) ? f->arg[2] : tt_v_float(1);
  s = s ? tt__compose_apply(c, TT_MUL, (tt_value[2]){step, tt_v_array(s)}, 2, TT_DTYPE_NONE) : NULL;
  s = tt__compose_opf(c, TT_DIV, s, 2);
  return s ? tt__compose_sum(c, s, UINT64_C(1) << (told < 0 ? s->rank + told : told), false) : NULL;
}
TT_HANDLER(trapezoid)

/*
** ---- convolution: windows over the longer one, which is laid between zeros. The windows are columns: all sums take a
** step at a time, side by side, where each by itself would be a short row.
*/

typedef enum extent { VALID, SAME, FULL, EXTENTS } extent;

static extent read_extent(tt_composer *c, const tt_call_frame *f, int k, extent fallback, const char *complaint) {
  static const char *const name[EXTENTS] = {"valid", "same", "full"};
  const char *s = tt__arg_string(c, f, k, name[fallback]);
  for (int e = 0; e < EXTENTS; e++)
    if (strcmp(s, name[e]) == 0) return (extent)e;
  tt__compose_fail(c, TT_EVALUE, complaint, s);
  return FULL;
}

/* Products with the zeros around `n` elements that begin at `left` count as 0, also of infinities and NaN. */
static tt_array *within(tt_composer *c, tt_array *both, int64_t left, int64_t n) {
  if (!both) return NULL;
  int64_t window[2] = {tt__array_len(both)[0], tt__array_len(both)[1]}, room = window[0] + window[1] - 1;
  tt_array *mark = tt__compose_full(c, TT_BOOL, 1, &room, tt_v_int(0));
  if (!mark || !tt__compose_set(c, part(c, mark, 0, left, n), tt_v_int(1))) return NULL;
  tt_array *inside = tt__compose_view(c, mark, 2, window, (int64_t[2]){1, 1}, mark->off);
  return inside ? tt__compose_where(c, inside, tt_v_array(both), tt_v_int(0)) : NULL;
}

/* Is the window at hand and finite? Then products with the zeros around are zeros, and need no mark. */
static bool is_finite(tt_array *v, tt_dtype type) {
  static double room[TT_EAGER_MOST]; /* under the session's lock */
  const void *at = type == TT_F32 || type == TT_F64 ? tt__eager_elements(v, room) : NULL;
  const double *wide = at;
  const float *narrow = at;
  bool ok = at && v->dtype == type;
  for (int64_t i = 0; ok && i < v->size; i++) ok = isfinite(type == TT_F64 ? wide[i] : (double)narrow[i]);
  return ok;
}

/* Short sequences of one type, both at hand, in one step, which folds as the kernel below would: columns where there
** are enough beside each other. NULL: the other way. */
static tt_array *slide_few(tt_composer *c, tt_array *a, tt_array *v, int64_t left, int64_t total) {
  enum { LANES = 32, SOME = 24, SHORT = 32 };
  static double room[2][TT_EAGER_MOST]; /* under the session's lock */
  int64_t m = v->size;
  bool real = a->dtype == v->dtype && (a->dtype == TT_F32 || a->dtype == TT_F64);
  if (!real || !tt__eager_few(total / 4) || a->size > TT_EAGER_MOST || m > TT_EAGER_MOST) return NULL;
  if (!tt__eager_elements(a, room[0]) || !tt__eager_elements(v, room[1])) return NULL;
  bool columns = total >= LANES || (m < SHORT && total >= SOME && 4 * m <= total);
  tt_lib_attr attr = {.row = tt__lib_row("correlate"), .i = {left, columns}};
  tt_array *src[2] = {a, v};
  return tt__compose_library(c, &attr, src, 2, (tt_dtype)a->dtype, 1, &total);
}

/* sum_k a[i + k] v[k] for all i of the extent; v is not longer than a. */
static tt_array *slide(tt_composer *c, tt_array *a, tt_array *v, extent e) {
  if (!a || !v) return NULL;
  int64_t n = a->size, m = v->size;
  int64_t left = e == VALID ? 0 : e == FULL ? m - 1 : m / 2, total = e == VALID ? n - m + 1 : e == FULL ? n + m - 1 : n;
  tt_array *few = slide_few(c, a, v, left, total);
  if (few || c->code != TT_OK) return few;
  int64_t room = total + m - 1, window[2] = {m, total}, step[2] = {1, 1};
  tt_dtype type = tt__promote((tt_dtype)a->dtype, (tt_dtype)v->dtype);
  a = tt__compose_cast(c, a, type);
  v = tt__compose_reshape(c, tt__compose_cast(c, v, type), 2, (int64_t[2]){m, 1});
  if (!v) return NULL;
  bool marked = e != VALID && !tt__is_int(type) && type != TT_BOOL && !is_finite(v, type);
  tt_array *laid = a;
  if (e != VALID) {
    laid = tt__compose_full(c, type, 1, &room, tt_v_int(0));
    if (!tt__compose_set(c, part(c, laid, 0, left, n), tt_v_array(a))) return NULL;
  }
  if (!laid) return NULL;
  step[0] = step[1] = tt__array_step(laid)[0];
  tt_array *both = tt__compose_view(c, laid, 2, window, step, laid->off);
  bool half = type == TT_F16 || type == TT_BF16;
  if (half) both = tt__compose_cast(c, both, TT_F32);
  both = tt__compose_op2(c, TT_MUL, both, v);
  if (marked) both = within(c, both, left, n);
  return tt__compose_cast(c, tt__compose_sum(c, both, 1, false), type);
}

static tt_array *vector(tt_composer *c, const tt_call_frame *f, int k) {
  tt_array *a = tt__arg_array(c, f, k);
  if (a && a->rank != 1)
    return tt__compose_fail(c, TT_EVALUE, "object %s for desired array", a->rank ? "too deep" : "of too small depth");
  return a;
}

static tt_array *convolve(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *v = tt__arg_array(c, f, 1);
  if (!a || !v) return NULL;
  if (a->rank <= 1 && a->size == 0) return tt__compose_fail(c, TT_EVALUE, "a cannot be empty");
  if (v->rank <= 1 && v->size == 0) return tt__compose_fail(c, TT_EVALUE, "v cannot be empty");
  if (v->size > a->size) {
    tt_array *t = a;
    a = v;
    v = t;
  }
  extent e = read_extent(c, f, 2, FULL, "Use one of 'valid', 'same', or 'full' for convolve/correlate mode");
  if (a->rank > 1 || v->rank > 1) return tt__compose_fail(c, TT_EVALUE, "object too deep for desired array");
  a = tt__compose_ravel(c, a);
  v = tt__compose_ravel(c, v);
  if (!a || !v || c->code != TT_OK) return NULL;
  /* NumPy's "same" begins one later for windows of even length than a correlation does. */
  v = tt__compose_flip(c, v, 0);
  if (e != SAME) return slide(c, a, v, e);
  tt_array *full = slide(c, a, v, FULL);
  return full ? part(c, full, 0, (v->size - 1) / 2, a->size) : NULL;
}
TT_HANDLER(convolve)

static tt_array *correlate(tt_composer *c, tt_call_frame *f) {
  tt_array *a = vector(c, f, 0), *v = vector(c, f, 1);
  if (!a || !v) return NULL;
  if (a->size == 0) return tt__compose_fail(c, TT_EVALUE, "first array argument cannot be empty");
  if (v->size == 0) return tt__compose_fail(c, TT_EVALUE, "second array argument cannot be empty");
  extent e = read_extent(c, f, 2, VALID, "mode must be one of 'valid', 'same', or 'full' (got '%s')");
  if (c->code != TT_OK) return NULL;
  v = tt__compose_conj(c, v);
  if (a->size >= v->size) return slide(c, a, v, e);
  tt_array *r = slide(c, v, a, e); /* the other way round, backwards */
  return r ? tt__compose_flip(c, r, 0) : NULL;
}
TT_HANDLER_LAID(correlate, 'C')

/* ---- interp */

static tt_array *picked(tt_composer *c, tt_array *a, tt_array *at) {
  return tt__compose_take_lines(c, a, at, 0, false);
}

/* Points of one period, the last one put in front and the first one behind. */
static bool periodic(tt_composer *c, double period, tt_array **x, tt_array **xp, tt_array **fp) {
  period = fabs(period);
  *x = tt__compose_opf(c, TT_MOD, *x, period);
  *xp = tt__compose_opf(c, TT_MOD, *xp, period);
  if (!*x || !*xp) return false;
  tt_value v = tt_v_array(*xp);
  tt_array *order = tt__fn_call(c, "argsort", &v, 1);
  int64_t n = (*xp)->size;
  tt_array *sorted = picked(c, *xp, order), *values = picked(c, *fp, order);
  if (!sorted || !values) return false;
  tt_array *px[3] = {tt__compose_opf(c, TT_SUB, part(c, sorted, 0, n - 1, 1), period), sorted,
                     tt__compose_opf(c, TT_ADD, part(c, sorted, 0, 0, 1), period)};
  tt_array *pf[3] = {part(c, values, 0, n - 1, 1), values, part(c, values, 0, 0, 1)};
  if (!px[0] || !px[2] || !pf[0] || !pf[2]) return false;
  *xp = tt__compose_concat(c, px, 3, 0);
  *fp = tt__compose_concat(c, pf, 3, 0);
  return *xp && *fp;
}

/* An outside value: the argument, or the end of fp. */
static tt_array *outside(tt_composer *c, const tt_call_frame *f, int k, tt_array *fp, int64_t end) {
  tt_array *v = tt__arg_given(f, k) ? tt__arg_array(c, f, k) : part(c, fp, 0, end, 1);
  return v ? tt__compose_reshape(c, tt__compose_cast(c, v, (tt_dtype)fp->dtype), 0, tt__array_len(v)) : NULL;
}

static tt_array *choose(tt_composer *c, tt_array *mask, tt_array *a, tt_array *b) {
  return mask && a && b ? tt__compose_where(c, mask, tt_v_array(a), tt_v_array(b)) : NULL;
}

/* Between neighbours; where that is NaN (infinite slopes) from the right one, and where both are equal, they. */
static tt_array *on_segment(tt_composer *c, tt_array *x, tt_array *xp, tt_array *fp, tt_array *j) {
  tt_array *k = tt__compose_opi(c, TT_ADD, j, 1);
  tt_array *x0 = picked(c, xp, j), *x1 = picked(c, xp, k), *f0 = picked(c, fp, j), *f1 = picked(c, fp, k);
  tt_array *slope = tt__compose_op2(c, TT_DIV, tt__compose_op2(c, TT_SUB, f1, f0), tt__compose_op2(c, TT_SUB, x1, x0));
  tt_array *r = tt__compose_op2(c, TT_ADD, tt__compose_op2(c, TT_MUL, slope, tt__compose_op2(c, TT_SUB, x, x0)), f0);
  tt_array *right =
      tt__compose_op2(c, TT_ADD, tt__compose_op2(c, TT_MUL, slope, tt__compose_op2(c, TT_SUB, x, x1)), f1);
  r = choose(c, tt__compose_op1(c, TT_ISNAN, r), right, r);
  tt_array *flat = tt__compose_op2(c, TT_AND, tt__compose_op1(c, TT_ISNAN, r), tt__compose_op2(c, TT_EQ, f0, f1));
  r = choose(c, flat, f0, r);
  return choose(c, tt__compose_op2(c, TT_EQ, x, x0), f0, r);
}

/* The parts of complex values each by themselves: an infinite one leaves the other as it is. */
static tt_array *on_complex_segment(tt_composer *c, tt_array *x, tt_array *xp, tt_array *fp, tt_array *j) {
  tt_array *re = on_segment(c, x, xp, tt__compose_op1(c, TT_REAL, fp), j);
  tt_array *im = on_segment(c, x, xp, tt__compose_op1(c, TT_IMAG, fp), j);
  return tt__compose_complex(c, re, im);
}

/* How many points lie at or before each place. */
static tt_array *behind_places(tt_composer *c, tt_array *xp, tt_array *x) {
  if (!x) return NULL;
  tt_value v[3] = {tt_v_array(xp), tt_v_array(x), {.tag = TT_V_STRING, .as.s = "right"}};
  return tt__fn_call(c, "searchsorted", v, 3);
}

/*
** What on_segment and the choices after it say, of one element: x between the points from j on. The outside values and
** the last point are the caller's.
*/
static double at_element(double x, const double *xp, const double *fp, int64_t j) {
  double x0 = xp[j], x1 = xp[j + 1], f0 = fp[j], f1 = fp[j + 1];
  double slope = (f1 - f0) / (x1 - x0), r = slope * (x - x0) + f0;
  if (r != r) r = slope * (x - x1) + f1;
  if (r != r && f0 == f1) r = f0;
  return x == x0 ? f0 : r;
}

/* Real values at few places, all of them at hand: a pass over the places, where recorded it is twenty steps. NULL: the
 * other way. */
static tt_array *interp_few(tt_composer *c, tt_array *x, tt_array *xp, tt_array *fp, tt_array *after) {
  static double room[3][TT_EAGER_MOST]; /* under the session's lock */
  static int64_t places[TT_EAGER_MOST];
  if (!after || fp->dtype != TT_F64 || !tt__eager_few(x->size) || x->size == 0) return NULL;
  const double *at = tt__eager_elements(x, room[0]), *px = tt__eager_elements(xp, room[1]),
               *pf = tt__eager_elements(fp, room[2]);
  const int64_t *behind = tt__eager_elements(after, places);
  tt_node *n = at && px && pf && behind ? tt__eager_room(TT_F64, 1, &x->size) : NULL;
  if (!n) return NULL;
  double *out = n->attr.buf->data;
  int64_t last = xp->size - 1;
  for (int64_t i = 0; i < x->size; i++) {
    int64_t j = behind[i] - 1;
    out[i] = at[i] == px[last] ? pf[last] : at_element(at[i], px, pf, j < 0 ? 0 : j > last - 1 ? last - 1 : j);
    if (at[i] < px[0]) out[i] = pf[0];
    if (at[i] > px[last]) out[i] = pf[last];
    if (at[i] != at[i]) out[i] = at[i];
  }
  return tt__compose_of_node(c, n);
}

/* interp(x, xp, fp, left, right, period) */
static tt_array *interp(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__compose_cast(c, tt__arg_array(c, f, 0), TT_F64), *xp = tt__compose_cast(c, vector(c, f, 1), TT_F64),
           *fp = vector(c, f, 2);
  if (!x || !xp || !fp) return NULL;
  fp = tt__compose_cast(c, fp, tt__is_complex((tt_dtype)fp->dtype) ? TT_C128 : TT_F64);
  bool turns = tt__arg_given(f, 5);
  double period = tt__arg_float(c, f, 5, 1);
  if (turns && period == 0) return tt__compose_fail(c, TT_EVALUE, "period must be a non-zero value");
  if (xp->size == 0) return tt__compose_fail(c, TT_EVALUE, "array of sample points is empty");
  if (xp->size != fp->size) return tt__compose_fail(c, TT_EVALUE, "fp and xp are not of the same length.");
  if (turns && !periodic(c, period, &x, &xp, &fp)) return NULL;
  int64_t n = xp->size, len[TT_MAX_RANK];
  int rank = x->rank;
  memcpy(len, tt__array_len(x), sizeof *len * x->rank);
  x = tt__compose_ravel(c, x);
  tt_array *after = n > 1 ? behind_places(c, xp, x) : NULL;
  bool plain = !tt__arg_given(f, 3) && !tt__arg_given(f, 4);
  tt_array *done = plain && x ? interp_few(c, x, xp, fp, after) : NULL;
  if (done) return tt__compose_reshape(c, done, rank, len);
  tt_array *left = outside(c, f, turns ? 99 : 3, fp, 0), *right = outside(c, f, turns ? 99 : 4, fp, n - 1), *r;
  tt_array *first = tt__compose_reshape(c, part(c, xp, 0, 0, 1), 0, len),
           *last = tt__compose_reshape(c, part(c, xp, 0, n - 1, 1), 0, len);
  tt_array *end = tt__compose_reshape(c, part(c, fp, 0, n - 1, 1), 0, len);
  if (!x || !left || !right || !end) return NULL;
  if (n == 1) {
    r = end;
    x = choose(c, tt__compose_op1(c, TT_ISNAN, x), last, x); /* with one point, everything is that point */
  } else {
    tt_array *j = tt__compose_opi(c, TT_SUB, after, 1);
    j = tt__compose_opi(c, TT_MINIMUM, tt__compose_opi(c, TT_MAXIMUM, j, 0), n - 2);
    r = tt__is_complex((tt_dtype)fp->dtype) ? on_complex_segment(c, x, xp, fp, j) : on_segment(c, x, xp, fp, j);
    r = choose(c, tt__compose_op2(c, TT_EQ, x, last), end, r);
  }
  r = choose(c, tt__compose_op2(c, TT_LT, x, first), left, r);
  r = choose(c, tt__compose_op2(c, TT_GT, x, last), right, r);
  r = choose(c, tt__compose_op1(c, TT_ISNAN, x), tt__compose_cast(c, x, (tt_dtype)fp->dtype), r);
  return tt__compose_reshape(c, r, rank, len);
}
TT_HANDLER(interp)
