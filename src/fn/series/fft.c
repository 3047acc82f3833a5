/*
** numpy.fft: lengths, axes and norms here, the transforms themselves as library rows. Rows: "fft" transforms a complex
** array along a set of axes, "rfft" and "irfft" the last axis from and to real numbers.
*/
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"

typedef enum norm { BACKWARD, ORTHO, FORWARD } norm;

/* What one transform along one axis is. */
typedef struct transform {
  bool real, inverse;
  norm norm;
} transform;

/* `swapped`: how NumPy words it where the directions have been exchanged. */
static norm norm_of(tt_composer *c, const tt_call_frame *f, int k, bool swapped) {
  const char *s = tt__arg_string(c, f, k, "backward");
  if (strcmp(s, "backward") == 0) return BACKWARD;
  if (strcmp(s, "ortho") == 0) return ORTHO;
  if (strcmp(s, "forward") == 0) return FORWARD;
  tt__compose_fail(c, TT_EVALUE, "Invalid norm value %s; should be \"backward\",%s\"ortho\" or \"forward\".", s,
                   swapped ? " " : "");
  return BACKWARD;
}

/* The transforms are in the precision of a real type: float32 also for the 16-bit ones, float64 for integers. */
static tt_dtype real_type(tt_dtype t) {
  if (tt__is_complex(t)) return tt__real_of(t);
  return tt__is_float(t) && t != TT_F64 ? TT_F32 : TT_F64;
}

static double factor(const transform *t, int64_t n) {
  if (t->norm == ORTHO) return 1 / sqrt((double)n);
  return (t->norm == FORWARD) != t->inverse ? 1 / (double)n : 1;
}

/* Cut or filled up with zeros to n elements along an axis. */
static tt_array *fitted(tt_composer *c, tt_array *a, int axis, int64_t n) {
  if (!a || tt__array_len(a)[axis] == n) return a;
  if (tt__array_len(a)[axis] > n) return tt__compose_slice(c, a, axis, 0, n, 1);
  int64_t len[TT_MAX_RANK];
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  len[axis] = n;
  tt_array *wide = tt__compose_full(c, (tt_dtype)a->dtype, a->rank, len, tt_v_int(0));
  tt_array *part = wide ? tt__compose_slice(c, wide, axis, 0, tt__array_len(a)[axis], 1) : NULL;
  return part && tt__compose_set(c, part, tt_v_array(a)) ? wide : NULL;
}

static bool check_points(tt_composer *c, int64_t n) {
  if (n < 1) tt__compose_fail(c, TT_EVALUE, "Invalid number of FFT data points (%lld) specified.", (long long)n);
  return n >= 1;
}

/* Real rows (the last axis) and complex ones. */
static tt_array *over_real(tt_composer *c, tt_array *a, const char *row, const tt_lib_attr *what, int axis,
                           tt_dtype type, int64_t points) {
  if (!a) return NULL;
  tt_lib_attr attr = *what;
  attr.row = tt__lib_row(row);
  int last = a->rank - 1;
  int64_t len[TT_MAX_RANK];
  if (axis != last) a = tt__compose_move(c, a, axis, last);
  if (!a) return NULL;
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  len[last] = points;
  a = tt__compose_library(c, &attr, &a, 1, type, a->rank, len);
  return a && axis != last ? tt__compose_move(c, a, last, axis) : a;
}

/* A complex array along a set of axes whose lengths are right. */
static tt_array *over_axes(tt_composer *c, tt_array *a, uint64_t axes, const transform *t) {
  if (!a || axes == 0) return a;
  tt_lib_attr attr = {.row = tt__lib_row("fft"), .i = {(int64_t)axes, t->inverse}, .f = {1}};
  for (int d = 0; d < a->rank; d++)
    if (axes >> d & 1) attr.f[0] *= factor(t, tt__array_len(a)[d]);
  return tt__compose_library(c, &attr, &a, 1, (tt_dtype)a->dtype, a->rank, tt__array_len(a));
}

/* Any array along one axis. Real ones get the second half of their spectrum from the first. */
static tt_array *complex_1d(tt_composer *c, tt_array *a, int axis, int64_t n, const transform *t) {
  if (!a || !check_points(c, n)) return NULL;
  tt_dtype real = real_type((tt_dtype)a->dtype);
  a = fitted(c, a, axis, n);
  if (!a) return NULL;
  if (tt__is_complex((tt_dtype)a->dtype)) return over_axes(c, a, (uint64_t)1 << axis, t);
  tt_lib_attr attr = {.i = {n, t->inverse, true}, .f = {factor(t, n)}};
  return over_real(c, tt__compose_cast(c, a, real), "rfft", &attr, axis, tt__complex_of(real), n);
}

static tt_array *real_1d(tt_composer *c, tt_array *a, int axis, int64_t n, const transform *t) {
  if (!a || !check_points(c, n)) return NULL;
  tt_dtype given = (tt_dtype)a->dtype, real = real_type(given);
  tt_lib_attr attr = {.i = {n}, .f = {factor(t, n)}};
  if (!t->inverse && tt__is_complex(given))
    return tt__compose_fail(c, TT_ETYPE,
                            "ufunc 'rfft_n_%s' not supported for the input types, and the inputs could not be safely "
                            "coerced to any supported types according to the casting rule ''safe''",
                            n % 2 ? "odd" : "even");
  a = fitted(c, a, axis, t->inverse ? n / 2 + 1 : n);
  if (!t->inverse)
    return a ? over_real(c, tt__compose_cast(c, a, real), "rfft", &attr, axis, tt__complex_of(real), n / 2 + 1) : NULL;
  a = a ? over_real(c, tt__compose_cast(c, a, tt__complex_of(real)), "irfft", &attr, axis, real, n) : NULL;
  return given == TT_F16 || given == TT_BF16 ? tt__compose_cast(c, a, given) : a;
}

/* ---- one axis: (a, n, axis, norm, out) */

static tt_array *given_out(tt_composer *c, const tt_call_frame *f, tt_array *r) {
  enum { k = 4 };
  if (!r || !tt__arg_given(f, k)) return r;
  tt_array *out = f->arg[k].tag == TT_V_ARRAY ? f->arg[k].as.array : NULL;
  if (out && (out->rank != r->rank || memcmp(tt__array_len(out), tt__array_len(r), sizeof(int64_t) * r->rank) != 0))
    return tt__compose_fail(c, TT_EVALUE, "output array has wrong shape.");
  return tt__arg_out(c, f, k, r);
}

static tt_array *along(tt_composer *c, tt_call_frame *f, tt_array *a, transform t, bool halves) {
  if (!a) return NULL;
  int64_t axis = tt__arg_int(c, f, 2, -1), n = tt__arg_int(c, f, 1, 0);
  int at = 0;
  if (c->code != TT_OK) return NULL;
  if (!tt__arg_given(f, 1)) {
    if (axis < -a->rank || axis >= a->rank) return tt__compose_fail(c, TT_EINDEX, "tuple index out of range");
    n = tt__array_len(a)[axis < 0 ? axis + a->rank : axis];
    if (halves) n = 2 * (n - 1);
  }
  if (!check_points(c, n)) return NULL;
  if ((c->code = tt__shape_axis(axis, a->rank, &at, c->err)) != TT_OK) return NULL;
  return t.real ? real_1d(c, a, at, n, &t) : complex_1d(c, a, at, n, &t);
}

#define ALONG(name, is_real, is_inverse)                                                          \
  static tt_array *name(tt_composer *c, tt_call_frame *f) {                                       \
    transform t = {.real = is_real, .inverse = is_inverse, .norm = norm_of(c, f, 3, is_inverse)}; \
    return given_out(c, f, along(c, f, tt__arg_array(c, f, 0), t, is_real && is_inverse));        \
  }                                                                                               \
  TT_HANDLER_LAID(name, 'K')
ALONG(fft, false, false)
ALONG(ifft, false, true)
ALONG(rfft, true, false)
ALONG(irfft, true, true)
#undef ALONG

static norm opposite(norm n) { return n == BACKWARD ? FORWARD : n == FORWARD ? BACKWARD : ORTHO; }

static tt_array *conjugate(tt_composer *c, tt_array *a) {
  tt_value v = tt_v_array(a);
  return a ? tt__compose_apply(c, TT_CONJ, &v, 1, TT_DTYPE_NONE) : NULL;
}

/* The spectrum of a signal that is its own conjugate when reversed is real: `a` is half of the signal. */
static tt_array *hfft(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  transform t = {.real = true, .inverse = true, .norm = opposite(norm_of(c, f, 3, true))};
  if (a && tt__is_complex((tt_dtype)a->dtype)) a = conjugate(c, a);
  return given_out(c, f, along(c, f, a, t, true));
}
TT_HANDLER_LAID(hfft, 'K')

static tt_array *ihfft(tt_composer *c, tt_call_frame *f) {
  transform t = {.real = true, .norm = opposite(norm_of(c, f, 3, true))};
  return given_out(c, f, conjugate(c, along(c, f, tt__arg_array(c, f, 0), t, false)));
}
TT_HANDLER_LAID(ihfft, 'K')

/* ---- several axes: (a, s, axes, norm, out) */

typedef struct grid {
  int n;
  int axis[TT_MAX_RANK];
  int64_t len[TT_MAX_RANK];
  uint64_t set; /* of the axes; 0 when one comes twice */
} grid;

/* A length None is the default for its axis, -1 is all of it. */
#define NOT_SAID INT64_MIN

static int read_lengths(tt_composer *c, const tt_call_frame *f, int64_t *out) {
  const tt_value *v = &f->arg[1];
  tt_value item[TT_MAX_RANK], whole = {.tag = TT_V_TUPLE};
  if (v->tag == TT_V_INT) tt__compose_fail(c, TT_ETYPE, "'int' object is not iterable");
  if (v->tag != TT_V_TUPLE || v->as.tuple.n > TT_MAX_RANK) return tt__arg_ints(c, f, 1, out, TT_MAX_RANK);
  for (int64_t i = 0; i < v->as.tuple.n; i++)
    item[i] = v->as.tuple.item[i].tag == TT_V_NONE ? tt_v_int(NOT_SAID) : v->as.tuple.item[i];
  whole.as.tuple.n = v->as.tuple.n;
  whole.as.tuple.item = item;
  tt_call_frame g = {.arg = &whole, .narg = 1};
  return tt__arg_ints(c, &g, 0, out, TT_MAX_RANK);
}

/* NumPy's warnings of what it once took. */
static void warn_of_lengths(const tt_composer *c, const grid *g, int n, bool axes) {
  if (!axes)
    tt__warn(
        TT_WARN_OLD,
        "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, "
        "this will raise an error and `s[i]` will correspond to the size along the transformed axis specified by "
        "`axes[i]`.");
  for (int i = 0; i < n && c->code == TT_OK; i++)
    if (g->len[i] == NOT_SAID)
      return tt__warn(TT_WARN_OLD,
                      "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an "
                      "error in a future version of NumPy. To use the default behaviour of the corresponding 1-D "
                      "transform, pass the value matching the default for its `n` parameter. To use the default "
                      "behaviour for every axis, the `s` argument can be omitted.");
}

/* Which axes and how long. `plane`: the default is the last two; `halves`: the last axis comes as half a spectrum. */
static bool read_grid(tt_composer *c, const tt_call_frame *f, tt_array *a, bool plane, bool halves, grid *g) {
  bool named = f->narg > 2 && f->arg[2].tag != TT_V_MISSING;
  bool lengths = tt__arg_given(f, 1), axes = named ? tt__arg_given(f, 2) : plane;
  int64_t at[TT_MAX_RANK] = {-2, -1};
  *g = (grid){0};
  if (!a) return false;
  int ns = lengths ? read_lengths(c, f, g->len) : 0;
  g->n = axes ? 2 : lengths ? ns : a->rank;
  if (axes && named) g->n = tt__arg_ints(c, f, 2, at, TT_MAX_RANK);
  if (!axes)
    for (int i = 0; i < g->n; i++) at[i] = i - g->n;
  if (c->code == TT_OK && lengths && ns != g->n)
    tt__compose_fail(c, TT_EVALUE, "Shape and axes have different lengths.");
  if (lengths) warn_of_lengths(c, g, ns, axes);
  for (int i = 0; i < g->n && c->code == TT_OK; i++) {
    if (!lengths && (at[i] < -a->rank || at[i] >= a->rank))
      tt__compose_fail(c, TT_EINDEX, "index %lld is out of bounds for axis 0 with size %d", (long long)at[i], a->rank);
    else
      c->code = tt__shape_axis(at[i], a->rank, &g->axis[i], c->err);
    if (c->code != TT_OK) return false;
    int64_t n = tt__array_len(a)[g->axis[i]];
    if (!lengths || g->len[i] == NOT_SAID) g->len[i] = halves && i == g->n - 1 ? 2 * (n - 1) : n;
    if (lengths && g->len[i] == -1) g->len[i] = n;
    g->set |= (uint64_t)1 << g->axis[i];
  }
  if (c->code == TT_OK && __builtin_popcountll(g->set) != g->n) g->set = 0;
  for (int i = g->n - 1; i >= 0 && c->code == TT_OK; i--) check_points(c, g->len[i]);
  return c->code == TT_OK;
}

/* The first `n` axes of a grid, the last of them first. */
static tt_array *complex_axes(tt_composer *c, tt_array *a, const grid *g, int n, const transform *t) {
  if (g->set == 0 || n < 2) {
    for (int i = n - 1; i >= 0; i--) a = complex_1d(c, a, g->axis[i], g->len[i], t);
    return a;
  }
  uint64_t set = 0;
  for (int i = 0; i < n; i++) a = fitted(c, a, g->axis[i], g->len[i]);
  if (a && !tt__is_complex((tt_dtype)a->dtype)) {
    n--;
    a = complex_1d(c, a, g->axis[n], g->len[n], t);
  }
  for (int i = 0; i < n; i++) set |= (uint64_t)1 << g->axis[i];
  return over_axes(c, a, set, t);
}

static tt_array *complex_grid(tt_composer *c, tt_call_frame *f, bool inverse, bool plane) {
  tt_array *a = tt__arg_array(c, f, 0);
  transform t = {.inverse = inverse, .norm = norm_of(c, f, 3, inverse)};
  grid g;
  if (!read_grid(c, f, a, plane, false, &g)) return NULL;
  a = complex_axes(c, a, &g, g.n, &t);
  return g.n ? given_out(c, f, a) : a;
}

static tt_array *real_grid(tt_composer *c, tt_call_frame *f, bool plane) {
  tt_array *a = tt__arg_array(c, f, 0);
  transform t = {.real = true, .norm = norm_of(c, f, 3, false)};
  grid g;
  if (!read_grid(c, f, a, plane, false, &g)) return NULL;
  if (g.n == 0) return tt__compose_fail(c, TT_EINDEX, "list index out of range");
  int last = g.n - 1;
  for (int i = 0; i < last && g.set; i++) a = fitted(c, a, g.axis[i], g.len[i]);
  return given_out(c, f, complex_axes(c, real_1d(c, a, g.axis[last], g.len[last], &t), &g, last, &t));
}

static tt_array *real_grid_back(tt_composer *c, tt_call_frame *f, bool plane) {
  tt_array *a = tt__arg_array(c, f, 0);
  transform t = {.real = true, .inverse = true, .norm = norm_of(c, f, 3, true)};
  grid g;
  if (!read_grid(c, f, a, plane, true, &g)) return NULL;
  if (g.n == 0) return tt__compose_fail(c, TT_EINDEX, "list index out of range");
  int last = g.n - 1;
  if (g.set) a = fitted(c, a, g.axis[last], g.len[last] / 2 + 1);
  return given_out(c, f, real_1d(c, complex_axes(c, a, &g, last, &t), g.axis[last], g.len[last], &t));
}

#define OVER_GRID(name, call)                                              \
  static tt_array *name(tt_composer *c, tt_call_frame *f) { return call; } \
  TT_HANDLER_LAID(name, 'K')
OVER_GRID(fftn, complex_grid(c, f, false, false))
OVER_GRID(fft2, complex_grid(c, f, false, true))
OVER_GRID(ifftn, complex_grid(c, f, true, false))
OVER_GRID(ifft2, complex_grid(c, f, true, true))
OVER_GRID(rfftn, real_grid(c, f, false))
OVER_GRID(rfft2, real_grid(c, f, true))
OVER_GRID(irfftn, real_grid_back(c, f, false))
OVER_GRID(irfft2, real_grid_back(c, f, true))
#undef OVER_GRID

/* ---- frequencies, shifts */

static tt_array *frequencies(tt_composer *c, tt_call_frame *f, bool half) {
  const tt_value *v = &f->arg[0];
  bool whole = v->tag == TT_V_INT || v->tag == TT_V_BOOL ||
               (v->tag == TT_V_ARRAY && v->as.array->rank == 0 && tt__is_int((tt_dtype)v->as.array->dtype));
  if (!whole) return tt__compose_fail(c, TT_EVALUE, "n should be an integer");
  int64_t n = tt__arg_int(c, f, 0, 0);
  double length = (double)n * tt__arg_float(c, f, 1, 1);
  if (c->code != TT_OK) return NULL;
  if (length == 0) return tt__compose_fail(c, TT_EZERODIV, "float division by zero");
  if (n < 0 && !half) return tt__compose_fail(c, TT_EVALUE, "negative dimensions are not allowed");
  tt_array *k = tt__compose_iota(c, half ? (n < 0 ? 0 : n / 2 + 1) : n);
  if (!half) /* 0, 1, ... and then the negative ones up to -1 */
    k = tt__compose_opi(c, TT_SUB, tt__compose_opi(c, TT_MOD, tt__compose_opi(c, TT_ADD, k, n / 2), n), n / 2);
  bool single = f->narg > 1 && f->arg[1].tag == TT_V_ARRAY && f->arg[1].as.array->dtype == TT_F32;
  double unit =
      single ? (double)(1 / (float)length) : 1 / length; /* the step of a spacing that has a type has it, too */
  tt_dtype type = tt__arg_dtype(c, f, 3, TT_F64);
  if (c->code == TT_OK && !tt__is_float(type) && !tt__is_complex(type))
    return tt__compose_fail(c, TT_ETYPE, "frequencies are no integers: dtype must be a float type");
  return tt__compose_cast(c, tt__compose_opf(c, TT_MUL, k, unit), type);
}

static tt_array *fftfreq(tt_composer *c, tt_call_frame *f) { return frequencies(c, f, false); }
static tt_array *rfftfreq(tt_composer *c, tt_call_frame *f) { return frequencies(c, f, true); }
TT_HANDLER(fftfreq)
TT_HANDLER(rfftfreq)

static tt_array *shifted(tt_composer *c, tt_call_frame *f, bool back) {
  tt_array *a = tt__arg_array(c, f, 0), *r = a;
  int64_t axis[TT_MAX_RANK];
  if (!a) return NULL;
  int n = tt__arg_given(f, 1) ? tt__arg_ints(c, f, 1, axis, TT_MAX_RANK) : a->rank;
  for (int i = 0; i < n && r && c->code == TT_OK; i++) {
    if (!tt__arg_given(f, 1)) axis[i] = i;
    if (axis[i] < -a->rank || axis[i] >= a->rank) return tt__compose_fail(c, TT_EINDEX, "tuple index out of range");
    int64_t half = tt__array_len(a)[axis[i] < 0 ? axis[i] + a->rank : axis[i]] / 2;
    tt_value v[3] = {tt_v_array(r), tt_v_int(back ? -half : half), tt_v_int(axis[i])};
    r = tt__fn_call(c, "roll", v, 3);
  }
  return r == a ? tt__compose_copy(c, r) : r;
}

static tt_array *fftshift(tt_composer *c, tt_call_frame *f) { return shifted(c, f, false); }
static tt_array *ifftshift(tt_composer *c, tt_call_frame *f) { return shifted(c, f, true); }
TT_HANDLER_LAID(fftshift, 'K')
TT_HANDLER_LAID(ifftshift, 'K')
