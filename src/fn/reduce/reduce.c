/*
** Reductions over axes, spelled in core reductions: accumulator types, empty axes, `where`
** and `initial` are decided here.
*/

#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"
#include "graph/eager/compute.h"
#include "graph/order.h"

/* NumPy's accumulator of a sum or product: integers at least 64 bits wide. */
tt_dtype tt__fn_sum_type(tt_dtype t) {
  if (t == TT_BOOL) return TT_I64;
  if (!tt__is_int(t)) return t;
  return tt__is_unsigned(t) ? TT_U64 : TT_I64;
}

static bool is_half(tt_dtype t) { return t == TT_F16 || t == TT_BF16; }

static int64_t points(tt_array *a, uint64_t axes) {
  int64_t n = 1;
  for (int d = 0; d < a->rank; d++)
    if (axes >> d & 1) n *= tt__array_len(a)[d];
  return n;
}

/* Elements that `where` excludes become the neutral value. */
static tt_array *masked(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, tt_value neutral) {
  tt_array *mask = tt__arg_mask(c, f, k);
  if (!a || !mask) return a;
  tt_array *full = tt__compose_where(c, mask, tt_v_array(a), neutral);
  if (full && (full->rank != a->rank || !tt__shape_same(a->rank, tt__array_len(full), tt__array_len(a))))
    return tt__compose_fail(c, TT_EVALUE, "the `where` mask has a shape that the array does not broadcast to");
  return tt__compose_cast(c, full, (tt_dtype)a->dtype);
}

/* r in the order in which its axes, the kept ones of `a`, lie there. */
static tt_array *laid_like(tt_composer *c, tt_array *r, tt_array *a, const int *kept) {
  int lie[TT_MAX_RANK], axes[TT_MAX_RANK], n = 0;
  bool same = true;
  tt__order_of(a, 'W', lie);
  for (int i = 0; i < a->rank; i++)
    for (int d = 0; d < r->rank; d++)
      if (kept[d] == lie[i]) axes[n++] = d;
  for (int d = 0; d < r->rank; d++) same &= axes[d] == d;
  if (same) return r;
  tt_node *value = tt__array_node(r, c->err);
  tt_array *out = value ? tt__array_laid(value, axes, c->err) : NULL;
  tt__node_release(value);
  return tt__compose_keep(c, out ? TT_OK : TT_ENOMEM, &out);
}

/* Complex values have no reduction but the sum in kernels: the library's plain loop does the others. */
static tt_array *fold_complex(tt_composer *c, tt_red red, tt_array *a, uint64_t axes, bool keepdims) {
  int order[TT_MAX_RANK], n = 0, kept;
  int64_t len[TT_MAX_RANK], keep[TT_MAX_RANK], row = 1, outer = 1;
  for (int d = 0; d < a->rank; d++)
    if (!(axes >> d & 1)) order[n++] = d;
  kept = n;
  for (int d = 0; d < a->rank; d++)
    if (axes >> d & 1) order[n++] = d;
  for (int i = 0; i < n; i++) {
    int64_t l = tt__array_len(a)[order[i]];
    if (i < kept)
      len[i] = l, outer *= l;
    else
      row *= l;
  }
  for (int d = 0; d < a->rank; d++) keep[d] = axes >> d & 1 ? 1 : tt__array_len(a)[d];
  int64_t flat[2] = {outer, row};
  tt_array *rows = tt__compose_reshape(c, tt__compose_transpose(c, a, order), 2, flat);
  tt_lib_attr attr = {.row = tt__lib_row("reduce_complex"), .i = {red}};
  bool places = red == TT_RED_ARGMAX || red == TT_RED_ARGMIN; /* which lie in C's order */
  tt_dtype type = places ? TT_I64 : (tt_dtype)a->dtype;
  tt_array *r = tt__compose_library(c, &attr, &rows, 1, type, keepdims ? a->rank : kept, keepdims ? keep : len);
  return r && !places && !keepdims && kept > 1 ? laid_like(c, r, a, order) : r;
}

static tt_array *fold(tt_composer *c, tt_red red, tt_array *a, uint64_t axes, bool keepdims) {
  if (!a) return NULL;
  bool places = red == TT_RED_ARGMAX || red == TT_RED_ARGMIN;
  if (tt__is_complex((tt_dtype)a->dtype) && axes == 0 && !places) return tt__compose_copy_in(c, a, 'W');
  if (!tt__is_complex((tt_dtype)a->dtype) || red == TT_RED_SUM) return tt__compose_reduce(c, red, a, axes, keepdims);
  int64_t count;
  tt_array *few = tt__compose_once(c, red, a, axes, &count),
           *one = few ? fold_complex(c, red, few, axes, keepdims) : NULL;
  return count > 1 ? tt__compose_of_all(c, red, one, a, axes) : one;
}

/* Where the dtype, out and keepdims of a reduction stand in its signature. */
typedef struct places {
  int dtype, out, keepdims, initial, where;
} places;

/* `initial` is of the result's type; a whole number that does not fit there is an error of the operation with it. */
static tt_value initial_of(tt_composer *c, const tt_call_frame *f, int k, tt_dtype type) {
  tt_value v = f->arg[k];
  if (v.tag == TT_V_TUPLE || (v.tag == TT_V_ARRAY && v.as.array->rank > 0))
    return tt__compose_fail(c, TT_EVALUE, "setting an array element with a sequence."), v;
  if (v.tag == TT_V_COMPLEX && !tt__is_complex(type) && type != TT_BOOL)
    return tt__compose_fail(c, TT_ETYPE, "float() argument must be a string or a real number, not 'complex'"), v;
  bool endless = v.tag == TT_V_FLOAT && !(fabs(v.as.f) < 0x1p64);
  if (endless && tt__is_int(type)) {
    bool nan = v.as.f != v.as.f;
    tt__compose_fail(c, nan ? TT_EVALUE : TT_EOVERFLOW, "cannot convert float %s to integer", nan ? "NaN" : "infinity");
  }
  if (v.tag == TT_V_FLOAT && tt__is_int(type) && !endless) { /* cut to a whole number, which must fit */
    bool big = v.as.f >= 0x1p63;
    tt_value whole =
        big ? (tt_value){.tag = TT_V_UINT, .as.u = (uint64_t)v.as.f} : tt_v_int((int64_t)fmax(v.as.f, -0x1p63));
    return whole;
  }
  if ((v.tag == TT_V_INT || v.tag == TT_V_UINT) && type != TT_BOOL) return v;
  tt_array *a = tt__compose_cast(c, tt__value_as_array(c, &v), type);
  return a ? tt_v_array(a) : v;
}

static tt_array *with_initial(tt_composer *c, const tt_call_frame *f, int k, tt_op op, tt_array *r) {
  if (!r || !tt__arg_given(f, k)) return r;
  tt_value v[2] = {tt_v_array(r), initial_of(c, f, k, (tt_dtype)r->dtype)};
  return tt__compose_cast(c, tt__compose_apply(c, op, v, 2, TT_DTYPE_NONE), (tt_dtype)r->dtype);
}

static tt_array *total(tt_composer *c, tt_call_frame *f, tt_red red, tt_op op, int64_t neutral) {
  static const places at = {2, 3, 4, 5, 6};
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  tt_dtype type = tt__arg_dtype(c, f, at.dtype, tt__fn_sum_type((tt_dtype)a->dtype));
  bool keep = tt__arg_bool(c, f, at.keepdims, false);
  tt_array *wide = tt__compose_cast(c, a, is_half(type) ? TT_F32 : type);
  wide = masked(c, f, at.where, wide, tt_v_int(neutral));
  tt_array *r = tt__compose_cast(c, fold(c, red, wide, axes, keep), type);
  return tt__arg_out_any(c, f, at.out, with_initial(c, f, at.initial, op, r));
}

static tt_array *sum(tt_composer *c, tt_call_frame *f) { return total(c, f, TT_RED_SUM, TT_ADD, 0); }
static tt_array *prod(tt_composer *c, tt_call_frame *f) { return total(c, f, TT_RED_PROD, TT_MUL, 1); }
TT_HANDLER(sum)
TT_HANDLER(prod)

static tt_array *no_points(tt_composer *c, const char *name) {
  return tt__compose_fail(c, TT_EVALUE, "zero-size array to reduction operation %s which has no identity", name);
}

static tt_array *extreme(tt_composer *c, tt_call_frame *f, tt_red red, tt_op op) {
  static const places at = {-1, 2, 3, 4, 5};
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  bool keep = tt__arg_bool(c, f, at.keepdims, false), start = tt__arg_given(f, at.initial);
  bool is_masked = tt__arg_mask(c, f, at.where) != NULL;
  const char *name = red == TT_RED_MAX ? "maximum" : "minimum";
  if (!start && is_masked)
    return tt__compose_fail(
        c, TT_EVALUE,
        "reduction operation '%s' does not have an identity, so to use a where mask one has to specify 'initial'",
        name);
  if (!start && points(a, axes) == 0) return no_points(c, name);
  if (start) a = masked(c, f, at.where, a, initial_of(c, f, at.initial, (tt_dtype)a->dtype));
  tt_array *r;
  if (a && points(a, axes) == 0) {
    int64_t len[TT_MAX_RANK];
    int n = 0;
    for (int d = 0; d < a->rank; d++) {
      if (!(axes >> d & 1))
        len[n++] = tt__array_len(a)[d];
      else if (keep)
        len[n++] = 1;
    }
    tt_value v = initial_of(c, f, at.initial, (tt_dtype)a->dtype);
    tt_array *all = v.tag == TT_V_ARRAY ? tt__compose_copy(c, tt__compose_broadcast(c, v.as.array, n, len))
                                        : tt__compose_full(c, (tt_dtype)a->dtype, n, len, v);
    return tt__arg_out_any(c, f, at.out, all);
  }
  r = fold(c, red, a, axes, keep);
  return tt__arg_out_any(c, f, at.out, with_initial(c, f, at.initial, op, r));
}

static tt_array *max(tt_composer *c, tt_call_frame *f) { return extreme(c, f, TT_RED_MAX, TT_MAXIMUM); }
static tt_array *min(tt_composer *c, tt_call_frame *f) { return extreme(c, f, TT_RED_MIN, TT_MINIMUM); }
TT_HANDLER(max)
TT_HANDLER(min)

static tt_array *ptp(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  bool keep = tt__arg_bool(c, f, 3, false);
  if (c->code == TT_OK && points(a, axes) == 0) return no_points(c, "maximum");
  return tt__arg_out(
      c, f, 2, tt__compose_op2(c, TT_SUB, fold(c, TT_RED_MAX, a, axes, keep), fold(c, TT_RED_MIN, a, axes, keep)));
}
TT_HANDLER(ptp)

static tt_array *truth(tt_composer *c, tt_call_frame *f, tt_red red) {
  tt_array *a = tt__compose_cast(c, tt__arg_array(c, f, 0), TT_BOOL);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  tt_value neutral = {.tag = TT_V_BOOL, .as.b = red == TT_RED_ALL};
  a = masked(c, f, 4, a, neutral);
  return tt__arg_out(c, f, 2, fold(c, red, a, axes, tt__arg_bool(c, f, 3, false)));
}

static tt_array *any(tt_composer *c, tt_call_frame *f) { return truth(c, f, TT_RED_ANY); }
static tt_array *all(tt_composer *c, tt_call_frame *f) { return truth(c, f, TT_RED_ALL); }
TT_HANDLER(any)
TT_HANDLER(all)

/* out= of a position: an int64 array, or one that every position can be read from and written to. */
static bool fits_position(tt_composer *c, const tt_call_frame *f, tt_array *r, const char *name) {
  if (!r || !tt__arg_given(f, 2) || f->arg[2].tag != TT_V_ARRAY) return r != NULL;
  tt_array *out = f->arg[2].as.array;
  if (out->rank != r->rank || memcmp(tt__array_len(out), tt__array_len(r), sizeof(int64_t) * r->rank) != 0)
    tt__compose_fail(c, TT_EVALUE, "output array does not match result of np.%s.", name);
  return tt__compose_may_cast(c, (tt_dtype)out->dtype, TT_I64, "safe");
}

static tt_array *position(tt_composer *c, tt_call_frame *f, tt_red red) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  if (tt__arg_given(f, 1) && f->arg[1].tag == TT_V_TUPLE)
    return tt__compose_fail(c, TT_ETYPE, "'tuple' object cannot be interpreted as an integer");
  if (c->code == TT_OK && points(a, axes) == 0)
    return tt__compose_fail(c, TT_EVALUE, "attempt to get %s of an empty sequence",
                            red == TT_RED_ARGMAX ? "argmax" : "argmin");
  tt_array *r = fold(c, red, a, axes, tt__arg_bool(c, f, 3, false));
  return fits_position(c, f, r, red == TT_RED_ARGMAX ? "argmax" : "argmin") ? tt__arg_out(c, f, 2, r) : NULL;
}

static tt_array *argmax(tt_composer *c, tt_call_frame *f) { return position(c, f, TT_RED_ARGMAX); }
static tt_array *argmin(tt_composer *c, tt_call_frame *f) { return position(c, f, TT_RED_ARGMIN); }
TT_HANDLER(argmax)
TT_HANDLER(argmin)

enum { COUNTED_TIMES = 16 }; /* of the elements that other work is done on */

/* The sum of bytes that are 0 or 1, eight at a time; the sums of 31 words fit into one byte. */
static int64_t count_bytes(const uint8_t *x, int64_t n) {
  enum { WORD = sizeof(uint64_t), GROUP = 31 };
  int64_t count = 0, i = 0;
  while (i + WORD <= n) {
    uint64_t sum = 0, word;
    for (int k = 0; k < GROUP && i + WORD <= n; k++, i += WORD) {
      memcpy(&word, x + i, WORD);
      sum += word;
    }
    count += (int64_t)(sum * UINT64_C(0x0101010101010101) >> 56);
  }
  for (; i < n; i++) count += x[i];
  return count;
}

/* All that is true among few elements at hand. NULL: the other way. */
static tt_array *count_few(tt_composer *c, tt_array *a) {
  static uint8_t room[TT_EAGER_MOST]; /* under the session's lock */
  const uint8_t *x = tt__eager_few(a->size / COUNTED_TIMES) ? tt__eager_elements(a, room) : NULL;
  tt_node *n = x ? tt__eager_room(TT_I64, 0, NULL) : NULL;
  if (!n) return NULL;
  *(int64_t *)n->attr.buf->data = count_bytes(x, a->size);
  return tt__compose_of_node(c, n);
}

static tt_array *count_nonzero(tt_composer *c, tt_call_frame *f) {
  tt_array *truth = tt__compose_cast(c, tt__arg_array(c, f, 0), TT_BOOL);
  bool plain = truth && !tt__arg_given(f, 1) && !tt__arg_given(f, 2);
  tt_array *few = plain ? count_few(c, truth) : NULL;
  if (few) return few;
  tt_array *a = tt__compose_cast(c, truth, TT_I64);
  return a ? tt__compose_reduce(c, TT_RED_SUM, a, tt__arg_axes(c, f, 1, a->rank), tt__arg_bool(c, f, 2, false)) : NULL;
}
TT_HANDLER(count_nonzero)

/* ---- moments */

/*
** How many elements go into each mean: a number, or, with a mask, an array. `words` (or NULL) warn of a count that
** leaves nothing; a mask is looked at for it.
*/
static tt_array *divide_by_count(tt_composer *c, const tt_call_frame *f, int where, tt_array *a, tt_array *s,
                                 uint64_t axes, bool keep, double less, const char *words) {
  if (!s) return NULL;
  tt_array *mask = tt__compose_cast(c, tt__arg_mask(c, f, where), TT_I64);
  if (!mask) {
    double n = (double)points(a, axes) - less;
    if (words && n <= 0) tt__warn(TT_WARN_RUNTIME, "%s", words);
    return tt__compose_opf(c, TT_DIV, s, n > 0 ? n : 0);
  }
  mask = tt__compose_broadcast(c, mask, a->rank, tt__array_len(a));
  tt_array *n = tt__compose_opf(c, TT_SUB, tt__compose_reduce(c, TT_RED_SUM, mask, axes, keep), less);
  tt_array *r = tt__compose_op2(c, TT_DIV, s, tt__compose_opf(c, TT_MAXIMUM, n, 0));
  r = tt__compose_cast(c, r, (tt_dtype)s->dtype);
  return words ? tt__compose_warn_where(c, tt__compose_opf(c, TT_LE, n, 0), r, words) : r;
}

static tt_dtype moment_type(tt_composer *c, const tt_call_frame *f, tt_array *a) {
  tt_dtype own = tt__is_int((tt_dtype)a->dtype) || a->dtype == TT_BOOL ? TT_F64 : (tt_dtype)a->dtype;
  return tt__arg_dtype(c, f, 2, own);
}

/* Moments count along their axes, which what has none does not have; sums do not look. */
static bool has_axes(tt_composer *c, const tt_call_frame *f, const tt_array *a, int where) {
  bool asked = tt__arg_given(f, 1) && f->arg[1].tag == TT_V_INT && !tt__arg_mask(c, f, where);
  if (a->rank == 0 && asked)
    tt__compose_fail(c, TT_EAXIS, "axis %lld is out of bounds for array of dimension 0", (long long)f->arg[1].as.i);
  return c->code == TT_OK;
}

static tt_array *mean(tt_composer *c, tt_call_frame *f) {
  static const char *const words = "Mean of empty slice";
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a || !has_axes(c, f, a, 5)) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  bool keep = tt__arg_bool(c, f, 4, false);
  tt_dtype type = moment_type(c, f, a);
  tt_array *w = masked(c, f, 5, tt__compose_cast(c, a, is_half(type) ? TT_F32 : type), tt_v_int(0));
  tt_array *s = tt__compose_reduce(c, TT_RED_SUM, w, axes, keep);
  return tt__arg_out_any(c, f, 3, tt__compose_cast(c, divide_by_count(c, f, 5, a, s, axes, keep, 0, words), type));
}
TT_HANDLER(mean)

static const char no_freedom[] = "Degrees of freedom <= 0 for slice";

/* Fewer elements than this stay in a cache between two passes. */
#define ONE_PASS (1 << 20)
/* Rows of neighbours up to here do so too, one after the other. */
#define NEAR_ROW 65536

/* Are two passes over the elements two trips through memory? */
static bool is_far(tt_array *a, uint64_t axes) {
  bool inner = true; /* no kept axis follows a reduced one */
  for (int d = 0; d + 1 < a->rank; d++) inner &= !(axes >> d & 1) || (axes >> (d + 1) & 1);
  return a->size >= ONE_PASS && !(inner && points(a, axes) <= NEAR_ROW);
}

/* The first element of each row, with all axes; NULL: an expression's would have to be computed apart. */
static tt_array *first_of_rows(tt_composer *c, tt_array *a, uint64_t axes) {
  tt_array *first = a->storage->node->op == TT_N_BUFFER ? a : NULL;
  for (int d = 0; first && d < a->rank; d++)
    if (axes >> d & 1) first = tt__compose_slice(c, first, d, 0, 1, 1);
  return first;
}

/*
** Sums of the elements and of their squares, in float64, meet in one pass: (sum(d^2) - sum(d)^2 / n) / (n - ddof).
** float64 loses less to the difference than float32 does to its mean. Distances from the first element, where there is
** one, make a constant row exactly 0.
*/
static tt_array *variance_in_one(tt_composer *c, tt_array *a, uint64_t axes, bool keep, double less) {
  double n = (double)points(a, axes);
  tt_array *d = tt__compose_cast(c, a, TT_F64), *first = first_of_rows(c, a, axes);
  if (first) d = tt__compose_op2(c, TT_SUB, d, tt__compose_cast(c, first, TT_F64));
  tt_array *s = tt__compose_reduce(c, TT_RED_SUM, d, axes, keep);
  tt_array *q = tt__compose_reduce(c, TT_RED_SUM, tt__compose_op1(c, TT_SQUARE, d), axes, keep);
  tt_array *rest = tt__compose_op2(c, TT_SUB, q, tt__compose_opf(c, TT_DIV, tt__compose_op1(c, TT_SQUARE, s), n));
  if (n <= less) tt__warn(TT_WARN_RUNTIME, "%s", no_freedom);
  return tt__compose_opf(c, TT_DIV, tt__compose_opf(c, TT_MAXIMUM, rest, 0), n > less ? n - less : 0);
}

static tt_array *variance_in_two(tt_composer *c, tt_call_frame *f, tt_array *a, uint64_t axes, bool keep, double less,
                                 tt_dtype type) {
  tt_array *w = tt__compose_cast(c, a, is_half(type) ? TT_F32 : type);
  tt_array *m = tt__arg_given(f, 7) ? tt__arg_array(c, f, 7) : NULL;
  if (!m)
    m = divide_by_count(c, f, 6, a, tt__compose_reduce(c, TT_RED_SUM, masked(c, f, 6, w, tt_v_int(0)), axes, true),
                        axes, true, 0, NULL);
  bool whole = tt__is_int(type); /* their mean is cut to one, as NumPy's is */
  if (whole) m = tt__compose_cast(c, m, type);
  bool real = !tt__is_complex(type) && tt__is_complex((tt_dtype)a->dtype); /* the distances are complex all the same */
  tt_array *d = tt__compose_op2(c, TT_SUB, real ? a : w, m);
  if (d && tt__is_complex((tt_dtype)d->dtype)) {
    tt_array *re = tt__compose_op1(c, TT_SQUARE, tt__compose_op1(c, TT_REAL, d)),
             *im = tt__compose_op1(c, TT_SQUARE, tt__compose_op1(c, TT_IMAG, d));
    d = tt__compose_op2(c, TT_ADD, re, im);
  } else {
    d = tt__compose_op1(c, TT_SQUARE, d);
  }
  uint64_t spread = d && d->rank > a->rank ? tt__arg_axes(c, f, 1, d->rank) : axes; /* a mean of more axes */
  tt_array *s = tt__compose_reduce(c, TT_RED_SUM, masked(c, f, 6, d, tt_v_int(0)), spread, keep);
  return divide_by_count(c, f, 6, a, s, axes, keep, less, no_freedom);
}

static tt_array *variance(tt_composer *c, tt_call_frame *f, bool root) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a || !has_axes(c, f, a, 6)) return NULL;
  uint64_t axes = tt__arg_axes(c, f, 1, a->rank);
  bool keep = tt__arg_bool(c, f, 5, false);
  double less = tt__arg_float(c, f, 4, 0);
  if (tt__arg_given(f, 8) && less != 0)
    return tt__compose_fail(c, TT_EVALUE, "ddof and correction can't be provided simultaneously.");
  if (tt__arg_given(f, 8)) less = tt__arg_float(c, f, 8, 0);
  tt_dtype type = moment_type(c, f, a);
  if (!tt__arg_given(f, 2) && tt__arg_given(f, 7) && f->arg[7].tag == TT_V_ARRAY)
    type = tt__promote(type, (tt_dtype)f->arg[7].as.array->dtype);
  bool plain = a->dtype == type && (type == TT_F32 || is_half(type)) && !tt__arg_mask(c, f, 6) && !tt__arg_given(f, 7);
  tt_array *v = plain && is_far(a, axes) ? variance_in_one(c, a, axes, keep, less)
                                         : variance_in_two(c, f, a, axes, keep, less, type);
  if (root && v && v->rank > 0 && tt__arg_given(f, 2) && tt__is_int(type))
    return tt__compose_fail(
        c, TT_ETYPE, "Cannot cast ufunc 'sqrt' output from dtype('%s') to dtype('%s') with casting rule 'same_kind'",
        tt__dtypes[tt__dtype_size(type) == 1   ? TT_F16
                   : tt__dtype_size(type) == 2 ? TT_F32
                                               : TT_F64]
            .name,
        tt__dtypes[type].name);
  if (root) v = tt__fn_root(c, v);
  return tt__arg_out(c, f, 3, tt__compose_cast(c, v, tt__arg_given(f, 2) ? type : tt__real_of(type)));
}

static tt_array *var(tt_composer *c, tt_call_frame *f) { return variance(c, f, false); }
static tt_array *std(tt_composer *c, tt_call_frame *f) { return variance(c, f, true); }
TT_HANDLER(var)
TT_HANDLER(std)
