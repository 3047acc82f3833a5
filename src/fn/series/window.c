/*
** Windows, phases, powers and grids of counts: smaller functions over others.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "graph/promote.h"

/* ---- windows of M points: a sum of cosines, or a triangle, over -1 ... 1 */

/* pi * n / (M - 1) with n = 1 - M, 3 - M, ... M - 1; *M is 1 where there is one point or none, and `out` the answer. */
static tt_array *phases(tt_composer *c, const tt_call_frame *f, int64_t *m, tt_array **out) {
  double asked = tt__arg_float(c, f, 0, 0);
  if (c->code != TT_OK) return NULL;
  if (!(asked < 9e15)) return tt__compose_fail(c, TT_EVALUE, "Maximum allowed size exceeded");
  *m = asked < 1 ? 0 : (int64_t)ceil(asked);
  if (*m <= 1) {
    *out = tt__compose_full(c, TT_F64, 1, m, tt_v_int(1));
    return NULL;
  }
  tt_array *n = tt__compose_opi(c, TT_MUL, tt__compose_iota(c, *m), 2);
  return tt__compose_cast(c, tt__compose_opi(c, TT_SUB, n, *m - 1), TT_F64);
}

/* a + b cos(pi x) + d cos(2 pi x) */
static tt_array *cosines(tt_composer *c, tt_call_frame *f, double a, double b, double d) {
  int64_t m;
  tt_array *out = NULL, *n = phases(c, f, &m, &out);
  if (!n) return out;
  tt_array *turn = tt__compose_opf(c, TT_DIV, tt__compose_opf(c, TT_MUL, n, M_PI), (double)(m - 1));
  out = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, tt__compose_op1(c, TT_COS, turn), b), a);
  if (d == 0) return out;
  tt_array *twice = tt__compose_opf(c, TT_DIV, tt__compose_opf(c, TT_MUL, n, 2 * M_PI), (double)(m - 1));
  return tt__compose_op2(c, TT_ADD, out, tt__compose_opf(c, TT_MUL, tt__compose_op1(c, TT_COS, twice), d));
}

static tt_array *hanning(tt_composer *c, tt_call_frame *f) { return cosines(c, f, 0.5, 0.5, 0); }
static tt_array *hamming(tt_composer *c, tt_call_frame *f) { return cosines(c, f, 0.54, 0.46, 0); }
static tt_array *blackman(tt_composer *c, tt_call_frame *f) { return cosines(c, f, 0.42, 0.5, 0.08); }
TT_HANDLER(hanning)
TT_HANDLER(hamming)
TT_HANDLER(blackman)

static tt_array *bartlett(tt_composer *c, tt_call_frame *f) {
  int64_t m;
  tt_array *out = NULL, *n = phases(c, f, &m, &out);
  if (!n) return out;
  tt_array *slope = tt__compose_op1(c, TT_ABS, tt__compose_opf(c, TT_DIV, n, (double)(m - 1)));
  return slope ? tt__compose_apply(c, TT_SUB, (tt_value[2]){tt_v_int(1), tt_v_array(slope)}, 2, TT_DTYPE_NONE) : NULL;
}
TT_HANDLER(bartlett)

/* ---- phases without jumps: differences beyond half a period go the other way round */

/* period / 2 in the arithmetic of the differences, which is whole where both are. */
static tt_value half_of(const tt_value *period, bool whole, bool *even, tt_value *low) {
  *even = true;
  if (!whole) {
    double half = period->as.f / 2;
    *low = tt_v_float(-half);
    return tt_v_float(half);
  }
  int64_t p = period->as.i, half = p >= 0 || p % 2 == 0 ? p / 2 : p / 2 - 1;
  *even = p % 2 == 0;
  *low = tt_v_int(-half);
  return tt_v_int(half);
}

static tt_array *by_value(tt_composer *c, tt_op op, tt_array *a, tt_value v) {
  tt_value both[2] = {tt_v_array(a), v};
  return a ? tt__compose_apply(c, op, both, 2, TT_DTYPE_NONE) : NULL;
}

/* The jumps d, brought into half a period around 0, less d: what mends each. */
static tt_array *wrapped_steps(tt_composer *c, const tt_call_frame *f, tt_array *d, tt_value period, bool whole) {
  bool even;
  tt_value low, high = half_of(&period, whole, &even, &low);
  tt_array *near = by_value(c, TT_ADD, by_value(c, TT_MOD, by_value(c, TT_SUB, d, low), period), low);
  if (even && near) {
    tt_array *edge = tt__compose_op2(c, TT_LAND, by_value(c, TT_EQ, near, low), tt__compose_opi(c, TT_GT, d, 0));
    near = edge ? tt__compose_where(c, edge, high, tt_v_array(near)) : NULL;
  }
  tt_value jump = tt__arg_given(f, 1) ? tt__arg_value(c, f, 1) : whole ? tt_v_float((double)period.as.i / 2) : high;
  tt_array *fix = tt__compose_op2(c, TT_SUB, near, d), *small = by_value(c, TT_LT, tt__compose_op1(c, TT_ABS, d), jump);
  return fix && small ? tt__compose_where(c, small, tt_v_int(0), tt_v_array(fix)) : NULL;
}

static tt_array *unwrap(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  tt_value period =
      tt__arg_given(f, 3) && f->arg[3].tag == TT_V_INT ? f->arg[3] : tt_v_float(tt__arg_float(c, f, 3, 2 * M_PI));
  if (!a) return NULL;
  if (a->rank == 0) return tt__compose_fail(c, TT_EVALUE, "diff requires input that is at least one dimensional");
  int axis = tt__arg_axis(c, f, 2, a->rank, a->rank - 1);
  tt_array *d = tt__fn_call(c, "diff", (tt_value[3]){tt_v_array(a), tt_v_int(1), tt_v_int(axis)}, 3);
  if (!d) return NULL;
  tt_dtype type;
  bool typed = tt__arg_given(f, 3) && f->arg[3].tag == TT_V_ARRAY; /* with a type of its own */
  if (typed && !tt__is_float((tt_dtype)f->arg[3].as.array->dtype)) period = tt_v_int(tt__arg_int(c, f, 3, 0));
  tt_value both[2] = {tt_v_array(d), typed ? f->arg[3] : period};
  if (c->code == TT_OK) c->code = tt__result_type(both, 2, &type, c->err);
  if (c->code != TT_OK) return NULL;
  if (!tt__is_int(type) && period.tag == TT_V_INT) period = tt_v_float((double)period.as.i);
  tt_array *fix = wrapped_steps(c, f, tt__compose_cast(c, d, type), period, tt__is_int(type)),
           *out = tt__compose_copy(c, tt__compose_cast(c, a, type));
  int64_t n = tt__array_len(a)[axis];
  tt_array *sum = fix ? tt__fn_call(c, "cumsum", (tt_value[2]){tt_v_array(fix), tt_v_int(axis)}, 2) : NULL;
  if (!sum || n < 2) return c->code == TT_OK ? out : NULL;
  tt_array *rest = tt__compose_op2(c, TT_ADD, tt__compose_slice(c, a, axis, 1, n - 1, 1), sum);
  return rest && tt__compose_set(c, tt__compose_slice(c, out, axis, 1, n - 1, 1), tt_v_array(rest)) ? out : NULL;
}
TT_HANDLER_LAID(unwrap, 'K')

/* ---- powers */

/* Columns 1, x, x*x ...: a running product. */
static tt_array *vander(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  if (!x) return NULL;
  if (x->rank != 1) return tt__compose_fail(c, TT_EVALUE, "x must be a one-dimensional array or sequence.");
  int64_t n = tt__arg_int(c, f, 1, x->size), len[2] = {x->size, n};
  bool up = tt__arg_bool(c, f, 2, false);
  tt_dtype type = tt__promote((tt_dtype)x->dtype, TT_I64);
  tt_array *out = tt__compose_full(c, type, 2, len, tt_v_int(1));
  if (!out || n <= 1) return out;
  int64_t more[2] = {x->size, n - 1};
  tt_array *wide =
      tt__compose_copy(c, tt__compose_broadcast(c, tt__compose_expand(c, tt__compose_cast(c, x, type), 1), 2, more));
  tt_array *powers = wide ? tt__fn_call(c, "cumprod", (tt_value[2]){tt_v_array(wide), tt_v_int(1)}, 2) : NULL;
  if (!powers || !tt__compose_set(c, tt__compose_slice(c, out, 1, 1, n - 1, 1), tt_v_array(powers))) return NULL;
  return up ? out : tt__compose_flip(c, out, 1);
}
TT_HANDLER_LAID(vander, 'C')

/* Horner's rule, the highest power first. */
static tt_array *polyval(tt_composer *c, tt_call_frame *f) {
  tt_array *p = tt__arg_array(c, f, 0), *x = tt__arg_array(c, f, 1);
  if (!p || !x) return NULL;
  if (p->rank == 0) return tt__compose_fail(c, TT_ETYPE, "iteration over a 0-d array");
  tt_array *y = tt__fn_call(c, "zeros_like", (tt_value[1]){tt_v_array(x)}, 1); /* in x's order */
  for (int64_t i = 0; i < tt__array_len(p)[0] && y; i++) {
    tt_array *k = tt__compose_view(c, p, p->rank - 1, tt__array_len(p) + 1, tt__array_step(p) + 1,
                                   p->off + i * tt__array_step(p)[0]);
    y = tt__compose_op2(c, TT_ADD, tt__compose_op2(c, TT_MUL, y, x), k);
  }
  return y;
}
TT_HANDLER(polyval)

/* x * 2^i in two steps: neither factor leaves the range where the result does not. */
static tt_array *ldexp_of(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *i = tt__arg_array(c, f, 1);
  if (!x || !i) return NULL;
  if ((!tt__is_int((tt_dtype)i->dtype) && i->dtype != TT_BOOL) || i->dtype == TT_U64 ||
      tt__is_complex((tt_dtype)x->dtype))
    return tt__compose_fail(
        c, TT_ETYPE,
        "ufunc 'ldexp' not supported for the input types, and the inputs could not be safely coerced "
        "to any supported types according to the casting rule ''safe''");
  tt_dtype t = (tt_dtype)x->dtype, own = t == TT_BOOL || tt__is_int(t) ? (tt__dtype_size(t) == 1   ? TT_F16
                                                                          : tt__dtype_size(t) == 2 ? TT_F32
                                                                                                   : TT_F64)
                                                                       : t;
  i = tt__compose_opi(c, TT_MAXIMUM, tt__compose_opi(c, TT_MINIMUM, tt__compose_cast(c, i, TT_I64), 2100), -2100);
  tt_array *first = tt__compose_opi(c, TT_FLOORDIV, i, 2), *second = tt__compose_op2(c, TT_SUB, i, first);
  x = tt__compose_cast(c, x, TT_F64);
  x = tt__compose_op2(c, TT_MUL, x, tt__compose_op1(c, TT_EXP2, tt__compose_cast(c, first, TT_F64)));
  x = tt__compose_op2(c, TT_MUL, x, tt__compose_op1(c, TT_EXP2, tt__compose_cast(c, second, TT_F64)));
  return tt__arg_out(c, f, 2, tt__compose_cast(c, x, own));
}
TT_HANDLER_LAID(ldexp_of, 'W')

/* ---- order and ends */

static tt_array *sort_complex(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  a = tt__fn_call(c, "sort", (tt_value[1]){tt_v_array(a)}, 1);
  if (!a || tt__is_complex((tt_dtype)a->dtype)) return a;
  size_t size = tt__dtype_size((tt_dtype)a->dtype);
  bool single = tt__is_int((tt_dtype)a->dtype) && size <= 2;
  return tt__compose_cast(c, a, single ? TT_C64 : TT_C128);
}
TT_HANDLER_LAID(sort_complex, 'K')

/* A view without the zeros at the ends of each axis. */
static tt_array *trim_zeros(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  const char *trim = tt__arg_string(c, f, 1, "fb");
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 2, a->rank);
  bool front = strpbrk(trim, "fF") != NULL, back = strpbrk(trim, "bB") != NULL;
  if (strspn(trim, "fFbB") != strlen(trim) || (!front && !back))
    return tt__compose_fail(c, TT_EVALUE, "unexpected character(s) in `trim`: '%s'", trim);
  for (int d = 0; d < a->rank && c->code == TT_OK; d++) {
    if (!(axes >> d & 1) || a->rank == 0) continue;
    uint64_t others = ((a->rank == 64 ? 0 : UINT64_C(1) << a->rank) - 1) & ~(UINT64_C(1) << d);
    tt_array *mask = tt__compose_cast(c, a, TT_BOOL);
    if (others) mask = tt__compose_reduce(c, TT_RED_ANY, mask, others, false);
    const uint8_t *on = tt__compose_peek(c, mask);
    int64_t n = tt__array_len(a)[d], lo = 0, hi = n;
    if (!on) return NULL;
    while (front && lo < n && !on[lo]) lo++;
    while (back && hi > lo && !on[hi - 1]) hi--;
    a = tt__compose_slice(c, a, d, lo, hi - lo, 1);
  }
  return a;
}
TT_HANDLER(trim_zeros)

/* ---- histogram of two variables: one number per element says which cell it falls in */

tt_array *tt__fn_cell(tt_composer *c, tt_array *x, tt_array *edge) {
  if (!x || !edge) return NULL;
  tt_value v[3] = {tt_v_array(edge), tt_v_array(x), {.tag = TT_V_STRING, .as.s = "right"}};
  tt_array *at = tt__compose_opi(c, TT_SUB, tt__fn_call(c, "searchsorted", v, 3), 1);
  int64_t n = edge->size - 1;
  tt_array *top = tt__compose_slice(c, edge, 0, n, 1, 1), *on_top = tt__compose_op2(c, TT_EQ, x, top);
  at = on_top ? tt__compose_where(c, on_top, tt_v_int(n - 1), tt_v_array(at)) : NULL;
  tt_array *out = tt__compose_op2(c, TT_LOR, tt__compose_opi(c, TT_LT, at, 0), tt__compose_opi(c, TT_GE, at, n));
  return out ? tt__compose_where(c, out, tt_v_int(n), tt_v_array(at)) : NULL;
}

/* The k-th of a pair, or the value itself for both; missing stays missing. */
static tt_value of_pair(const tt_call_frame *f, int at, int k, bool sequences) {
  if (!tt__arg_given(f, at)) return (tt_value){.tag = TT_V_MISSING};
  const tt_value *v = &f->arg[at];
  bool pair = v->tag == TT_V_TUPLE && v->as.tuple.n == 2 && (sequences || v->as.tuple.item[k].tag != TT_V_NONE);
  return pair ? v->as.tuple.item[k] : *v;
}

static tt_array *histogram2d(tt_composer *c, tt_call_frame *f) {
  tt_array *x[2] = {tt__arg_array(c, f, 0), tt__arg_array(c, f, 1)}, *edge[2], *cell[2], *w = NULL;
  bool density = tt__arg_bool(c, f, 4, false);
  if (!x[0] || !x[1]) return NULL;
  if (x[0]->size != x[1]->size) return tt__compose_fail(c, TT_EVALUE, "x and y must have the same length.");
  int64_t len[2];
  tt_dtype type = tt__promote((tt_dtype)x[0]->dtype, (tt_dtype)x[1]->dtype); /* points are an array of pairs */
  for (int k = 0; k < 2; k++) {
    if (!(x[k] = tt__compose_cast(c, x[k], type == TT_BOOL ? TT_U8 : type))) return NULL;
    tt_value v[3] = {tt_v_array(x[k]), of_pair(f, 2, k, false), of_pair(f, 3, k, true)};
    bool counted = v[1].tag == TT_V_MISSING || v[1].tag == TT_V_INT;
    if (counted && v[2].tag != TT_V_MISSING && v[2].tag != TT_V_NONE) /* edges of a range are float64 */
      v[0] = tt_v_array(tt__compose_cast(c, x[k], TT_F64));
    if (c->code != TT_OK) return NULL;
    edge[k] = tt__fn_call(c, "histogram_bin_edges", v, 3);
    cell[k] = edge[k] ? tt__fn_cell(c, tt__compose_cast(c, x[k], TT_F64), tt__compose_cast(c, edge[k], TT_F64)) : NULL;
    len[k] = edge[k] ? edge[k]->size : 0;
  }
  tt_array *flat = tt__compose_op2(c, TT_ADD, tt__compose_opi(c, TT_MUL, cell[0], len[1]), cell[1]);
  if (tt__arg_given(f, 5)) w = tt__compose_cast(c, tt__arg_array(c, f, 5), TT_F64);
  if (!flat || c->code != TT_OK) return NULL;
  tt_value v[3] = {tt_v_array(flat), {.tag = TT_V_MISSING}, tt_v_int(len[0] * len[1])};
  if (w) v[1] = tt_v_array(w);
  tt_array *n = tt__compose_reshape(c, tt__compose_cast(c, tt__fn_call(c, "bincount", v, 3), TT_F64), 2, len);
  n = tt__compose_slice(c, tt__compose_slice(c, n, 0, 0, len[0] - 1, 1), 1, 0, len[1] - 1, 1);
  if (density && n) {
    tt_array *sum = tt__compose_reduce(c, TT_RED_SUM, n, 3, false);
    for (int k = 0; k < 2 && n; k++) {
      tt_array *width = tt__fn_call(c, "diff", (tt_value[1]){tt_v_array(edge[k])}, 1);
      n = tt__compose_op2(c, TT_DIV, n, k ? width : tt__compose_expand(c, width, 1));
    }
    n = tt__compose_op2(c, TT_DIV, n, sum);
  }
  if (tt__fn_give(c, f, n) && tt__fn_give(c, f, edge[0])) tt__fn_give(c, f, edge[1]);
  return NULL;
}
TT_HANDLER(histogram2d)
