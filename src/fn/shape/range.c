/*
** Arrays out of numbers: likes, ranges, grids and triangles. Spelled with the flat index, so that they cost no memory
** until somebody looks.
*/
#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "graph/order.h"

/* ---- likes */

/*
** What a "like" function makes: shape and type of the prototype unless given, and memory that goes as its does. It is
** made with its axes in that order. The parameters are dtype, order, subok, shape, from `first` on.
*/
typedef struct mould {
  tt_dtype type;
  int rank, axes[TT_MAX_RANK];
  int64_t len[TT_MAX_RANK];
} mould;

static mould like(tt_composer *c, const tt_call_frame *f, int first) {
  mould m = {.type = TT_F64};
  int64_t given[TT_MAX_RANK];
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return m;
  m.type = tt__arg_dtype(c, f, first, (tt_dtype)a->dtype);
  char order = tt__arg_order(c, f, first + 1, a, "K");
  bool other = tt__arg_given(f, first + 3);
  m.rank = other ? tt__arg_ints(c, f, first + 3, given, TT_MAX_RANK) : a->rank;
  const int64_t *len = other ? given : tt__array_len(a);
  if (m.rank == a->rank)
    tt__order_of(a, order, m.axes);
  else
    for (int d = 0; d < m.rank; d++) m.axes[d] = order == 'F' ? m.rank - 1 - d : d;
  for (int d = 0; d < m.rank; d++) m.len[d] = len[m.axes[d]];
  return m;
}

static tt_array *restored(tt_composer *c, const mould *m, tt_array *made) {
  tt_array *out = made && c->code == TT_OK ? tt__array_restored(made, m->axes, c->err) : NULL;
  return made ? tt__compose_keep(c, out ? TT_OK : TT_ENOMEM, &out) : NULL;
}

static tt_array *made_like(tt_composer *c, const mould *m, const tt_value *with) {
  if (c->code != TT_OK) return NULL;
  return restored(
      c, m,
      with ? tt__compose_full(c, m->type, m->rank, m->len, *with) : tt__compose_empty(c, m->type, m->rank, m->len));
}

static tt_array *filled_like(tt_composer *c, tt_call_frame *f, int64_t with) {
  mould m = like(c, f, 1);
  tt_value v = tt_v_int(with);
  return made_like(c, &m, &v);
}

static tt_array *zeros_like(tt_composer *c, tt_call_frame *f) { return filled_like(c, f, 0); }
static tt_array *ones_like(tt_composer *c, tt_call_frame *f) { return filled_like(c, f, 1); }
TT_HANDLER(zeros_like)
TT_HANDLER(ones_like)

static tt_array *empty_like(tt_composer *c, tt_call_frame *f) {
  mould m = like(c, f, 1);
  return made_like(c, &m, NULL);
}
TT_HANDLER(empty_like)

static tt_array *full_like(tt_composer *c, tt_call_frame *f) {
  mould m = like(c, f, 2);
  const tt_value *v = &f->arg[1];
  if (c->code != TT_OK) return NULL;
  if (v->tag != TT_V_ARRAY && v->tag != TT_V_TUPLE) {
    tt_value with = tt__fn_fill_value(*v, m.type);
    return made_like(c, &m, &with);
  }
  tt_array *out = made_like(c, &m, NULL), *a = tt__value_as_array(c, v);
  return a && tt__compose_set(c, out, tt_v_array(a)) ? out : NULL;
}
TT_HANDLER(full_like)

/* ---- ranges */

/* The parts of linspace: `dtype` is the type of the work, `wanted` that of the result. */
typedef struct line {
  tt_array *start, *stop, *step; /* step: an array of the difference between neighbours */
  int64_t n;
  bool endpoint;
  tt_dtype dtype;
} line;

static bool line_of(tt_composer *c, const tt_call_frame *f, int num, int endpoint, line *l) {
  tt_value v[3] = {f->arg[0], f->arg[1], tt_v_float(0)};
  l->n = tt__arg_int(c, f, num, 50);
  l->endpoint = tt__arg_bool(c, f, endpoint, true);
  if (c->code != TT_OK) return false;
  if (l->n < 0) {
    tt__compose_fail(c, TT_EVALUE, "Number of samples, %lld, must be non-negative.", (long long)l->n);
    return false;
  }
  if ((c->code = tt__result_type(v, 3, &l->dtype, c->err)) != TT_OK) return false;
  if (tt__is_int(l->dtype) || l->dtype == TT_BOOL) l->dtype = TT_F64;
  l->start = tt__compose_cast(c, tt__arg_array(c, f, 0), l->dtype);
  l->stop = tt__compose_cast(c, tt__arg_array(c, f, 1), l->dtype);
  return c->code == TT_OK;
}

/* start + i * step with i on a new first axis. */
static tt_array *along_line(tt_composer *c, line *l) {
  tt_array *delta = tt__compose_op2(c, TT_SUB, l->stop, l->start), *i = tt__compose_iota(c, l->n);
  if (!delta || !i) return NULL;
  int64_t parts = l->endpoint ? l->n - 1 : l->n;
  for (int d = 0; d < delta->rank && i; d++) i = tt__compose_expand(c, i, 1 + d);
  tt_array *x = tt__compose_cast(c, i, (tt_dtype)delta->dtype);
  if (parts > 0) {
    l->step = tt__compose_opf(c, TT_DIV, delta, (double)parts);
    /* Where the difference underflows, dividing first keeps what is left of it. */
    tt_array *flat = tt__compose_opi(c, TT_EQ, l->step, 0);
    tt_array *slow = tt__compose_op2(c, TT_MUL, tt__compose_opf(c, TT_DIV, x, (double)parts), delta);
    tt_array *quick = tt__compose_op2(c, TT_MUL, x, l->step);
    if (!slow || !quick) return NULL;
    x = tt__compose_where(c, flat, tt_v_array(slow), tt_v_array(quick));
  } else {
    l->step = tt__compose_full(c, (tt_dtype)delta->dtype, 0, NULL, (tt_value){.tag = TT_V_FLOAT, .as.f = NAN});
    x = tt__compose_op2(c, TT_MUL, x, delta);
  }
  tt_array *y = tt__compose_op2(c, TT_ADD, x, l->start);
  if (!y || !l->endpoint || l->n < 2) return y;
  tt_array *last = tt__compose_opi(c, TT_EQ, i, l->n - 1);
  return tt__compose_where(c, last, tt_v_array(l->stop), tt_v_array(y));
}

/* The step is a number where both ends are: the kernel then has two constants instead of views. */
static tt_array *number_line(tt_composer *c, const tt_call_frame *f, line *l) {
  tt_scalar a, b;
  if ((c->code = tt__value_scalar(&f->arg[0], TT_F64, &a, c->err)) != TT_OK) return NULL;
  if ((c->code = tt__value_scalar(&f->arg[1], TT_F64, &b, c->err)) != TT_OK) return NULL;
  int64_t parts = l->endpoint ? l->n - 1 : l->n;
  double delta = b.f64 - a.f64, step = parts > 0 ? delta / (double)parts : NAN;
  tt_array *i = tt__compose_iota(c, l->n), *x = tt__compose_cast(c, i, TT_F64);
  l->step = tt__compose_full(c, TT_F64, 0, NULL, tt_v_float(step));
  if (parts > 0 && step == 0)
    x = tt__compose_opf(c, TT_MUL, tt__compose_opf(c, TT_DIV, x, (double)parts), delta);
  else
    x = tt__compose_opf(c, TT_MUL, x, parts > 0 ? step : delta);
  x = tt__compose_opf(c, TT_ADD, x, a.f64);
  if (!x || !l->endpoint || l->n < 2) return x;
  return tt__compose_where(c, tt__compose_opi(c, TT_EQ, i, l->n - 1), tt_v_float(b.f64), tt_v_array(x));
}

static bool is_real_number(const tt_value *v) { return v->tag >= TT_V_BOOL && v->tag <= TT_V_FLOAT; }

/* A line in the type of the work, its points on the first axis. */
static tt_array *points_of(tt_composer *c, const tt_call_frame *f, line *l) {
  if (is_real_number(&f->arg[0]) && is_real_number(&f->arg[1])) return number_line(c, f, l);
  return along_line(c, l);
}

static tt_array *finish_line(tt_composer *c, const tt_call_frame *f, tt_array *y, int dtype, int axis, tt_dtype own) {
  tt_dtype type = tt__arg_dtype(c, f, dtype, own);
  if (!y) return NULL;
  int to = tt__arg_axis(c, f, axis, y->rank, 0);
  if (tt__is_int(type)) y = tt__compose_op1(c, TT_FLOOR, y);
  if (c->code != TT_OK) return NULL;
  return tt__compose_move(c, tt__compose_cast(c, y, type), 0, to);
}

static tt_array *linspace(tt_composer *c, tt_call_frame *f) {
  line l = {0};
  if (!line_of(c, f, 2, 3, &l)) return NULL;
  tt_array *y = finish_line(c, f, points_of(c, f, &l), 5, 6, l.dtype);
  if (!tt__arg_bool(c, f, 4, false)) return y;
  tt__fn_give(c, f, y);
  tt__fn_give(c, f, tt__compose_cast(c, l.step, l.dtype));
  return NULL;
}
TT_HANDLER(linspace)

static tt_array *logspace(tt_composer *c, tt_call_frame *f) {
  line l = {0};
  if (!line_of(c, f, 2, 3, &l)) return NULL;
  tt_array *y = points_of(c, f, &l);
  if (!y) return NULL;
  tt_value v[2] = {tt__arg_given(f, 4) ? f->arg[4] : tt_v_float(10), tt_v_array(y)};
  if (v[0].tag == TT_V_INT) v[0] = tt_v_float((double)v[0].as.i);
  tt_array *base = v[0].tag == TT_V_ARRAY || v[0].tag == TT_V_TUPLE ? tt__value_as_array(c, &v[0]) : NULL;
  if (base) v[0] = tt_v_array(base);
  for (int d = y->rank - 1; base && y && d < base->rank; d++) y = tt__compose_expand(c, y, 1);
  if (!y) return NULL;
  v[1] = tt_v_array(y);
  y = tt__compose_apply(c, TT_POW, v, 2, TT_DTYPE_NONE);
  if (!y) return NULL;
  tt_dtype type = tt__arg_dtype(c, f, 5, (tt_dtype)y->dtype);
  return tt__compose_move(c, tt__compose_cast(c, y, type), 0, tt__arg_axis(c, f, 6, y->rank, 0));
}
TT_HANDLER(logspace)

static tt_array *any_zero(tt_composer *c, tt_array *a) {
  tt_array *zero = tt__compose_opi(c, TT_EQ, a, 0);
  return zero && zero->rank ? tt__compose_reduce(c, TT_RED_ANY, zero, ~UINT64_C(0) >> (64 - zero->rank), false) : zero;
}

/* start * 10^(line from 0 to log10(stop/start)), the ends exact; negative ranges with the sign taken out. */
static tt_array *geomspace(tt_composer *c, tt_call_frame *f) {
  line l = {0};
  if (!line_of(c, f, 2, 3, &l)) return NULL;
  l.dtype = tt__promote(l.dtype, tt__arg_dtype(c, f, 4, TT_F64)); /* which NumPy asks as well: float64 is the least */
  l.start = tt__compose_cast(c, l.start, l.dtype);
  l.stop = tt__compose_cast(c, l.stop, l.dtype);
  tt_array *zero = tt__compose_op2(c, TT_LOR, any_zero(c, l.start), any_zero(c, l.stop));
  const uint8_t *found = tt__compose_peek(c, zero);
  if (found && *found) return tt__compose_fail(c, TT_EVALUE, "Geometric sequence cannot include zero");
  tt_array *sign = tt__compose_op1(c, TT_SIGN, l.start), *a = tt__compose_op2(c, TT_DIV, l.start, sign);
  tt_array *b = tt__compose_op2(c, TT_DIV, l.stop, sign);
  if (c->code != TT_OK) return NULL;
  line inner = {.start = tt__compose_op1(c, TT_LOG10, a),
                .stop = tt__compose_op1(c, TT_LOG10, b),
                .n = l.n,
                .endpoint = l.endpoint};
  tt_array *x = along_line(c, &inner);
  if (!x) return NULL;
  tt_value v[2] = {tt_v_float(10), tt_v_array(x)};
  tt_array *y = tt__compose_apply(c, TT_POW, v, 2, TT_DTYPE_NONE), *i = tt__compose_iota(c, l.n);
  for (int d = 1; y && d < y->rank; d++) i = tt__compose_expand(c, i, d);
  if (y && a && l.n > 0) y = tt__compose_where(c, tt__compose_opi(c, TT_EQ, i, 0), tt_v_array(a), tt_v_array(y));
  if (y && b && l.n > 1 && l.endpoint)
    y = tt__compose_where(c, tt__compose_opi(c, TT_EQ, i, l.n - 1), tt_v_array(b), tt_v_array(y));
  y = tt__compose_op2(c, TT_MUL, y, sign);
  if (!y) return NULL;
  tt_dtype type = tt__arg_dtype(c, f, 4, l.dtype);
  return tt__compose_move(c, tt__compose_cast(c, y, type), 0, tt__arg_axis(c, f, 5, y->rank, 0));
}
TT_HANDLER(geomspace)

/* ---- matrices of zeros and ones */

/* Row and column numbers compared: op(row, column - k), rows x columns. */
static tt_array *by_place(tt_composer *c, tt_op op, int64_t rows, int64_t columns, int64_t k) {
  if (rows < 0 || columns < 0) return tt__compose_fail(c, TT_EVALUE, "negative dimensions are not allowed");
  tt_array *i = tt__compose_expand(c, tt__compose_iota(c, rows), 1), *j = tt__compose_iota(c, columns);
  return tt__compose_op2(c, op, k <= 0 ? tt__compose_opi(c, TT_ADD, i, k) : i,
                         k > 0 ? tt__compose_opi(c, TT_SUB, j, k) : j);
}

static tt_array *eye(tt_composer *c, tt_call_frame *f) {
  int64_t rows = tt__arg_int(c, f, 0, 0), columns = tt__arg_int(c, f, 1, rows), k = tt__arg_int(c, f, 2, 0);
  tt_dtype type = tt__arg_dtype(c, f, 3, TT_F64);
  char order = tt__arg_order(c, f, 4, NULL, "C");
  if (order != 'C' && order != 'F') return tt__compose_fail(c, TT_EVALUE, "only 'C' or 'F' order is permitted");
  if (k < -rows) k = -rows; /* outside, but not so far that places beside it wrap */
  if (k > columns) k = columns;
  bool turned = order == 'F';
  tt_array *a = turned ? by_place(c, TT_EQ, columns, rows, -k) : by_place(c, TT_EQ, rows, columns, k);
  return tt__compose_turned(c, turned, tt__compose_cast(c, a, type));
}
TT_HANDLER(eye)

static tt_array *identity(tt_composer *c, tt_call_frame *f) {
  int64_t n = tt__arg_int(c, f, 0, 0);
  return tt__compose_cast(c, by_place(c, TT_EQ, n, n, 0), tt__arg_dtype(c, f, 1, TT_F64));
}
TT_HANDLER(identity)

static tt_array *tri(tt_composer *c, tt_call_frame *f) {
  int64_t rows = tt__arg_int(c, f, 0, 0), columns = tt__arg_int(c, f, 1, rows), k = tt__arg_int(c, f, 2, 0);
  if (rows < 0) rows = 0; /* a range of fewer than no numbers, in NumPy's words */
  if (columns < 0) columns = 0;
  return tt__compose_cast(c, by_place(c, TT_GE, rows, columns, k), tt__arg_dtype(c, f, 3, TT_F64));
}
TT_HANDLER(tri)

/* The elements where the mask of rows and columns holds, zero elsewhere. */
static tt_array *triangle(tt_composer *c, tt_call_frame *f, tt_op op) {
  tt_array *a = tt__arg_array(c, f, 0);
  int64_t k = tt__arg_int(c, f, 1, 0);
  if (a && a->rank == 1) { /* a row, repeated: NumPy broadcasts it against a square mask */
    int64_t len[2] = {a->size, a->size};
    a = tt__compose_broadcast(c, a, 2, len);
  }
  if (!a) return NULL;
  if (a->rank == 0) return tt__compose_fail(c, TT_EINDEX, "tuple index out of range");
  const int64_t *len = tt__array_len(a) + a->rank - 2;
  tt_value zero = a->dtype == TT_BOOL ? (tt_value){.tag = TT_V_BOOL} : tt_v_int(0);
  return tt__compose_where(c, by_place(c, op, len[0], len[1], k), tt_v_array(a), zero);
}

static tt_array *tril(tt_composer *c, tt_call_frame *f) { return triangle(c, f, TT_GE); }
static tt_array *triu(tt_composer *c, tt_call_frame *f) { return triangle(c, f, TT_LE); }
TT_HANDLER(tril)
TT_HANDLER(triu)

/* ---- grids */

static tt_array *meshgrid(tt_composer *c, tt_call_frame *f) {
  int64_t n, len[TT_MAX_RANK];
  tt_array **x = tt__arg_arrays(c, f, 0, &n);
  bool copy = tt__arg_bool(c, f, 1, true), sparse = tt__arg_bool(c, f, 2, false);
  const char *indexing = tt__arg_string(c, f, 3, "xy");
  bool xy = strcmp(indexing, "xy") == 0;
  if (c->code != TT_OK) return NULL;
  if (!xy && strcmp(indexing, "ij") != 0)
    return tt__compose_fail(c, TT_EVALUE, "Valid values for `indexing` are 'xy' and 'ij'.");
  if (n > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found %lld",
                            (long long)n);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = xy && n > 1 && i < 2 ? 1 - i : i;
    if (!(x[i] = tt__compose_ravel(c, x[i]))) return NULL;
    len[at] = x[i]->size;
    for (int64_t d = 0; d < n && x[i]; d++)
      if (d != at) x[i] = tt__compose_expand(c, x[i], (int)(d < at ? 0 : x[i]->rank));
  }
  f->tuple = true;
  for (int64_t i = 0; i < n && c->code == TT_OK; i++) {
    tt_array *g = sparse ? x[i] : tt__compose_broadcast(c, x[i], (int)n, len);
    if (!tt__fn_give(c, f, copy ? tt__compose_copy(c, g) : g)) return NULL;
  }
  return NULL;
}
TT_HANDLER(meshgrid)

static tt_array *indices(tt_composer *c, tt_call_frame *f) {
  int64_t len[TT_MAX_RANK + 1];
  if (f->arg[0].tag == TT_V_INT || f->arg[0].tag == TT_V_BOOL)
    return tt__compose_fail(c, TT_ETYPE, "'int' object is not iterable");
  int rank = tt__arg_ints(c, f, 0, len, TT_MAX_RANK - 1);
  tt_dtype type = tt__arg_dtype(c, f, 1, f->narg > 1 && f->arg[1].tag == TT_V_NONE ? TT_F64 : TT_I64);
  bool sparse = tt__arg_bool(c, f, 2, false);
  for (int d = 0; d < rank; d++)
    if (type == TT_BOOL && len[d] > 2)
      tt__compose_fail(c, TT_ETYPE, "arange() is only supported for booleans when the result has at most length 2.");
  if (c->code != TT_OK) return NULL;
  memmove(len + 1, len, sizeof *len * (size_t)rank);
  len[0] = rank;
  tt_array *out = sparse ? NULL : tt__compose_empty(c, type, rank + 1, len);
  f->tuple = sparse;
  for (int d = 0; d < rank && c->code == TT_OK; d++) {
    tt_array *i = tt__compose_cast(c, tt__compose_iota(c, len[d + 1]), type);
    for (int e = 0; e < rank && i; e++)
      if (e != d) i = tt__compose_expand(c, i, e < d ? 0 : i->rank);
    if (sparse && !tt__fn_give(c, f, i)) return NULL;
    if (!sparse && i && !tt__compose_set(c, tt__compose_slice(c, out, 0, d, 1, 1), tt_v_array(i))) return NULL;
  }
  return out;
}
TT_HANDLER(indices)
