/*
** Recording one elementwise op over arrays and scalars: types, broadcasting, the special answers NumPy gives
** before any arithmetic, out= and where=. It must not evaluate, but for the exponents that it has to see.
*/
#include "graph/build.h"

#include <assert.h>
#include <string.h>

#include "base/warn.h"
#include "graph/eager/apply.h"
#include "graph/eager/compute.h"
#include "graph/eager/eager.h"
#include "graph/index/alias.h"
#include "graph/order.h"
#include "graph/promote.h"
#include "graph/session.h"
#include "graph/tape.h"

typedef struct frame {
  tt_op op;
  const tt_value *arg;
  int n;
  tt_types types;
  bool unsafe; /* casting="unsafe": Python's numbers are cut to fit */
  int rank;
  int64_t len[TT_MAX_RANK];
} frame;

/* ---- consuming constructors: they take the holds, NULL in is NULL out */

tt_node *tt__node_take1(tt_op op, tt_dtype dtype, tt_node *a, tt_error *err) {
  tt_node *out = a ? tt__node_op(op, dtype, &a, 1, err) : NULL;
  tt__node_release(a);
  return out;
}

tt_node *tt__node_take2(tt_op op, tt_dtype dtype, tt_node *a, tt_node *b, tt_error *err) {
  tt_node *src[2] = {a, b};
  tt_node *out = a && b ? tt__node_op(op, dtype, src, 2, err) : NULL;
  tt__node_release(a);
  tt__node_release(b);
  return out;
}

tt_node *tt__node_take_where(tt_node *mask, tt_node *a, tt_node *b, tt_error *err) {
  tt_node *src[3] = {mask, a, b};
  tt_node *out = mask && a && b ? tt__node_op(TT_WHERE, (tt_dtype)a->dtype, src, 3, err) : NULL;
  for (int k = 0; k < 3; k++) tt__node_release(src[k]);
  return out;
}

tt_node *tt__node_take_cast(tt_node *a, tt_dtype dtype, tt_error *err) {
  tt_node *out = a ? tt__node_cast(a, dtype, err) : NULL;
  tt__node_release(a);
  return out;
}

/* ---- operands */

static bool is_scalar(const tt_value *v) { return v->tag != TT_V_ARRAY; }
static bool is_weak_int(const tt_value *v) { return v->tag == TT_V_INT || v->tag == TT_V_UINT; }

static tt_node *constant(const frame *f, tt_dtype dtype, tt_scalar value, tt_error *err) {
  return tt__node_const(dtype, value, f->rank, f->len, err);
}

static tt_node *constant_bool(const frame *f, bool value, tt_error *err) {
  return constant(f, TT_BOOL, (tt_scalar){.b8 = value}, err);
}

/* Operand k in the frame's shape, converted. `wrap`: integers out of range wrap (where() and truth values do not
 * check). */
static tt_node *operand_as(const frame *f, int k, tt_dtype dtype, bool wrap, tt_error *err) {
  const tt_value *v = &f->arg[k];
  if (!is_scalar(v)) return tt__node_take_cast(tt__array_node_as(v->as.array, f->rank, f->len, err), dtype, err);
  tt_scalar s;
  if (wrap)
    s = tt__scalar_from(v, dtype);
  else if (tt__value_scalar(v, dtype, &s, err) != TT_OK)
    return NULL;
  return constant(f, dtype, s, err);
}

/* The operands' type where all have one: of WHERE, its values'. */
static tt_dtype operand_type(const frame *f) { return tt__op_operand(f->op, f->types.compute, f->n - 1); }

/* A Python number on its own is an array of its type, and cast as one. */
static tt_node *operand(const frame *f, int k, tt_error *err) {
  bool whole = is_weak_int(&f->arg[k]), wrap = f->n == 1 ? whole || f->unsafe : f->unsafe && !whole;
  tt_dtype dtype = operand_type(f);
  if (wrap && f->arg[k].tag == TT_V_COMPLEX && !tt__is_complex(dtype) && dtype != TT_BOOL) tt__warn_discarded();
  return operand_as(f, k, dtype, wrap, err);
}

/* The element of an array without axes: a constant, or one that was computed and lies in memory. */
static bool element(const tt_array *a, tt_scalar *out) {
  const tt_node *n = a->storage->node;
  bool known = n->op == TT_N_CONST || (n->op == TT_N_BUFFER && a->rank == 0 && tt__eager_on());
  return known && !tt__is_taped(n) && n->device == TT_ANYWHERE && tt__eager_element(n, a->off, out);
}

/* Operand k as the number it is; false: it is none, or its type refuses it. */
static bool number(const frame *f, int k, tt_scalar *out) {
  const tt_value *v = &f->arg[k];
  tt_dtype dtype = operand_type(f);
  if (is_scalar(v)) return tt__value_scalar(v, dtype, out, NULL) == TT_OK;
  tt_scalar own;
  const void *from = &own;
  if (v->as.array->dtype == dtype) return element(v->as.array, out);
  return element(v->as.array, &own) &&
         tt__session_elements(TT_CAST, (tt_dtype)v->as.array->dtype, dtype, &from, 1, out, 1);
}

/* An op of numbers alone is a number: no operand need be recorded. NULL: it is another op. */
static tt_node *of_numbers(const frame *f, tt_error *err) {
  tt_scalar s[3], result = {.bits = {0, 0}};
  const void *arg[3] = {&s[0], &s[1], &s[2]};
  if (f->rank > 0 || !tt__session_elements) return NULL;
  for (int k = 0; k < f->n; k++)
    if (!number(f, k, &s[k])) return NULL;
  if (!tt__session_elements(f->op, f->types.compute, f->types.result, arg, f->n, &result, 1)) return NULL;
  return constant(f, f->types.result, result, err);
}

/*
** "v += 1" where v is a number that nobody else holds (an element that was taken, mostly): the number is changed where
** it lies, and nothing is recorded. False: it is another case.
*/
static bool change_number(const frame *f, const tt_apply_options *o) {
  tt_scalar s[2], result = {.bits = {0, 0}};
  const void *arg[2] = {&s[0], &s[1]};
  tt_array *into = o->out;
  tt_node *n = into ? into->storage->node : NULL;
  bool four = f->op == TT_ADD || f->op == TT_SUB || f->op == TT_MUL || f->op == TT_DIV;
  bool plain = !o->where && !o->casting && o->dtype == TT_DTYPE_NONE;
  if (!n || !four || !plain || into->rank > 0 || f->types.result != (tt_dtype)into->dtype) return false;
  if (n->op != TT_N_CONST || n->refs > 1 || n->size != 1 || n->device != TT_ANYWHERE) return false;
  if (into->readonly || into->storage->readonly || into->storage->cached || tt__storage_aliased(into->storage) ||
      !tt__session_elements)
    return false;
  for (int k = 0; k < 2; k++)
    if ((!is_scalar(&f->arg[k]) && f->arg[k].as.array->rank > 0) || !number(f, k, &s[k])) return false;
  if (!tt__session_elements(f->op, f->types.compute, f->types.result, arg, 2, &result, 1)) return false;
  n->attr.scalar = result;
  return true;
}

/* The first `n` operands, few and at hand: op of them is done now. */
static tt_node *small(const frame *f, tt_op op, int n) {
  tt_dtype t = operand_type(f);
  if (f->unsafe) return NULL;
  tt_eager_op e = {.op = op, .arg = f->arg, .n = n, .from = {t, t, t}, .rank = f->rank, .len = f->len};
  e.to = f->types.result;
  return tt__eager_apply(&e);
}

static tt_node *choose(const frame *f, tt_dtype t, tt_error *err) {
  tt_eager_op e = {.op = TT_WHERE, .arg = f->arg, .n = 3, .from = {TT_BOOL, t, t}, .to = t, .wrap = true};
  e.rank = f->rank;
  e.len = f->len;
  tt_node *out = tt__eager_apply(&e);
  if (out) return out;
  return tt__node_take_where(operand_as(f, 0, TT_BOOL, true, err), operand_as(f, 1, t, true, err),
                             operand_as(f, 2, t, true, err), err);
}

/* The op in its plain form. */
static tt_node *plain(const frame *f, tt_error *err) {
  tt_node *src[3] = {NULL, NULL, NULL}, *out = of_numbers(f, err);
  int k = 0;
  if (!out) out = small(f, f->op, f->n);
  if (out) return out;
  while (k < f->n && (src[k] = operand(f, k, err))) k++;
  if (k == f->n) out = tt__node_op(f->op, f->types.result, src, f->n, err);
  while (k-- > 0) tt__node_release(src[k]);
  return out;
}

/* ---- comparisons */

/* A Python int beyond the arrays' type: the answer is the same for every element. */
static bool is_beyond(const frame *f, int k) {
  return is_weak_int(&f->arg[k]) && tt__is_int(f->types.compute) && !tt__int_fits(&f->arg[k], f->types.compute);
}

static bool answer_beyond(tt_op op, bool array_first, bool above) {
  bool array_less = array_first == above; /* the left operand is the smaller one */
  switch (op) {
    case TT_EQ:
      return false;
    case TT_NE:
      return true;
    case TT_LT:
    case TT_LE:
      return array_less;
    default:
      return !array_less;
  }
}

/*
** int64 against uint64, exactly: a negative number is below every unsigned one, else both are compared as uint64.
** `a` is signed, `b` unsigned (holds taken); `op` reads "a op b".
*/
static tt_node *compare_mixed(const frame *f, tt_op op, tt_node *a, tt_node *b, tt_error *err) {
  bool below = op == TT_NE || op == TT_LT || op == TT_LE; /* the answer where a is negative */
  tt_node *zero = constant(f, TT_I64, (tt_scalar){.i64 = 0}, err);
  tt_node *side = tt__node_take2(below ? TT_LT : TT_GE, TT_BOOL, a ? tt__node_retain(a) : NULL, zero, err);
  tt_node *same = tt__node_take2(op, TT_BOOL, tt__node_take_cast(a, TT_U64, err), b, err);
  return tt__node_take2(below ? TT_LOR : TT_LAND, TT_BOOL, side, same, err);
}

static tt_op mirrored(tt_op op) {
  return op == TT_LT ? TT_GT : op == TT_LE ? TT_GE : op == TT_GT ? TT_LT : op == TT_GE ? TT_LE : op;
}

static tt_node *compare(frame *f, tt_error *err) {
  const tt_value *a = &f->arg[0], *b = &f->arg[1];
  tt_dtype ta = tt__value_dtype(a), tb = tt__value_dtype(b);
  if (is_weak_int(a) && is_weak_int(b) && ta != tb) {
    bool above = ta == TT_U64; /* the unsigned one is above INT64_MAX */
    return constant_bool(f, answer_beyond(f->op, !above, true), err);
  }
  if (is_weak_int(a) && is_weak_int(b)) f->types.compute = ta;
  for (int k = 0; k < 2; k++)
    if (is_beyond(f, k)) {
      bool above = f->arg[k].tag == TT_V_UINT || f->arg[k].as.i > 0;
      return constant_bool(f, answer_beyond(f->op, k == 1, above), err);
    }
  if (f->types.compute == TT_F64 && tt__is_int(ta) && tt__is_int(tb)) {
    int s = tt__is_unsigned(ta) ? 1 : 0;
    tt_node *x = operand_as(f, s, TT_I64, false, err), *y = operand_as(f, 1 - s, TT_U64, false, err);
    return compare_mixed(f, s ? mirrored(f->op) : f->op, x, y, err);
  }
  return plain(f, err);
}

/* ---- power */

static tt_code check_exponents(const frame *f, tt_error *err) {
  const tt_value *v = &f->arg[1];
  bool negative = v->tag == TT_V_INT && v->as.i < 0;
  if (v->tag == TT_V_ARRAY && v->as.array->size > 0 && tt__dtypes[v->as.array->dtype].kind == 'i') {
    tt_node *all = tt__array_node(v->as.array, err);
    tt_node *least =
        all ? tt__node_reduce(TT_RED_MIN, all, all->rank ? ~UINT64_C(0) >> (64 - all->rank) : 0, err) : NULL;
    tt__node_release(all);
    tt_code code = least ? tt__evaluate_home(least, err) : TT_ENOMEM;
    if (code == TT_OK) negative = tt__scalar_load((tt_dtype)least->dtype, least->attr.buf->data).as.i < 0;
    tt__node_release(least);
    if (code != TT_OK) return code;
  }
  return negative ? tt__fail(err, TT_EVALUE, "Integers to negative integer powers are not allowed.") : TT_OK;
}

/*
** Two products are exact in whole numbers, and within a unit and a half of the last place in floats; halves would be
** rounded twice.
*/
bool tt__power_is_products(double exponent, tt_dtype t) {
  return (exponent == 3 || exponent == 4) && (tt__is_int(t) || t == TT_F32 || t == TT_F64);
}

/* x * x * x, or the square of the square. */
static tt_node *products(frame *f, tt_dtype t, bool fourth, tt_error *err) {
  tt_node *square = tt__node_take1(TT_SQUARE, t, operand(f, 0, err), err);
  if (fourth) return tt__node_take1(TT_SQUARE, t, square, err);
  return square ? tt__node_take2(TT_MUL, t, square, operand(f, 0, err), err) : NULL;
}

/* Of whole numbers any order of products is exact; beyond this exponent the loop of the operation is as good. */
enum { MOST_PRODUCTS = 32 };

static tt_node *whole_products(frame *f, tt_dtype t, int exponent, tt_error *err) {
  tt_node *x = operand(f, 0, err), *power = NULL;
  for (int e = exponent; x && e; e >>= 1) {
    if (e & 1) power = power ? tt__node_take2(TT_MUL, t, power, tt__node_retain(x), err) : tt__node_retain(x);
    if ((e & 1) && !power) break;
    if (e > 1) x = tt__node_take1(TT_SQUARE, t, x, err);
  }
  if (x) tt__node_release(x);
  if (!x) tt__node_release(power);
  return x ? power : NULL;
}

/* The exponents that NumPy's operator spells otherwise: 2, and for inexact types 1, -1 and 0.5; and small ones. */
static tt_node *power(frame *f, tt_error *err) {
  tt_dtype t = f->types.compute;
  if (tt__dtypes[t].kind == 'i' && check_exponents(f, err) != TT_OK) return NULL;
  const tt_value *v = &f->arg[1];
  double e = v->tag == TT_V_INT ? (double)v->as.i : v->tag == TT_V_FLOAT ? v->as.f : 0;
  bool inexact = !tt__is_int(t);
  tt_op short_op = e == 2 ? TT_SQUARE : inexact && e == -1 ? TT_RECIPROCAL : inexact && e == 0.5 ? TT_SQRT : TT_POW;
  if (tt__power_is_products(e, t)) return products(f, t, e == 4, err);
  if (!inexact && e > 4 && e <= MOST_PRODUCTS && e == (int)e) return whole_products(f, t, (int)e, err);
  tt_node *done = short_op == TT_POW ? NULL : small(f, short_op, 1);
  if (done) return done;
  if (e == 2) return tt__node_take1(TT_SQUARE, t, operand(f, 0, err), err);
  if (inexact && e == 1) return operand(f, 0, err);
  if (inexact && e == -1) return tt__node_take1(TT_RECIPROCAL, t, operand(f, 0, err), err);
  if (inexact && e == 0.5) return tt__node_take1(TT_SQRT, t, operand(f, 0, err), err);
  return plain(f, err);
}

/* ---- by class */

static tt_node *logic(const frame *f, tt_error *err) {
  tt_node *a = operand_as(f, 0, TT_BOOL, true, err);
  if (f->n == 1) return tt__node_take1(f->op, TT_BOOL, a, err);
  return tt__node_take2(f->op, TT_BOOL, a, operand_as(f, 1, TT_BOOL, true, err), err);
}

static tt_node *record(frame *f, tt_error *err) {
  tt_dtype t = f->types.compute;
  bool inexact = tt__is_float(t) || tt__is_complex(t);
  switch (tt__ops[f->op].cls) {
    case TT_CLASS_COMPARE:
      return compare(f, err);
    case TT_CLASS_LOGIC:
      return logic(f, err);
    case TT_CLASS_TEST:
      return inexact ? plain(f, err) : constant_bool(f, f->op == TT_ISFINITE, err);
    case TT_CLASS_ROUND:
      return inexact ? plain(f, err) : operand(f, 0, err);
    case TT_CLASS_ABS:
      return t == TT_BOOL || tt__is_unsigned(t) ? operand(f, 0, err) : plain(f, err);
    case TT_CLASS_PART:
      if (tt__is_complex(t)) return plain(f, err);
      return f->op == TT_REAL ? operand(f, 0, err) : constant(f, t, (tt_scalar){.bits = {0, 0}}, err);
    default:
      break;
  }
  if (f->op == TT_POW) return power(f, err);
  if (f->op == TT_CONJ && !tt__is_complex(t)) return operand(f, 0, err);
  if (f->op == TT_WHERE) return choose(f, t, err);
  if (f->op == TT_CAST) return operand_as(f, 0, t, true, err);
  return plain(f, err);
}

/* ---- the frame */

static tt_code find_types(frame *f, const tt_apply_options *o, tt_error *err) {
  tt_dtype asked = o ? o->dtype : TT_DTYPE_NONE;
  bool by_rule = tt__ops[f->op].cls != TT_CLASS_NONUM && tt__ops[f->op].cls != TT_CLASS_DRAW;
  if (by_rule) return tt__op_types(f->op, f->arg, f->n, asked, &f->types, err);
  if (asked != TT_DTYPE_NONE)
    f->types.compute = asked;
  else if (f->op == TT_WHERE)
    TT_TRY(tt__result_type(f->arg + 1, 2, &f->types.compute, err));
  else
    TT_TRY(tt__result_type(f->arg, 1, &f->types.compute, err));
  f->types.result = f->types.compute;
  return TT_OK;
}

static tt_code find_shape(frame *f, const tt_apply_options *o, tt_error *err) {
  int rank[5], n = 0;
  const int64_t *len[5];
  for (int k = 0; k < f->n; k++, n++) {
    tt_array *a = f->arg[k].tag == TT_V_ARRAY ? f->arg[k].as.array : NULL;
    rank[n] = a ? a->rank : 0;
    len[n] = a ? a->dim : NULL;
  }
  tt_array *more[2] = {o ? o->out : NULL, o ? o->where : NULL};
  for (int k = 0; k < 2; k++) {
    if (!more[k]) continue;
    rank[n] = more[k]->rank;
    len[n++] = more[k]->dim;
  }
  bool same = true; /* one shape, scalars aside: nothing to broadcast */
  int lead = rank[0] || n == 1 ? 0 : 1;
  for (int k = 0; k < n && same; k++)
    same = rank[k] != rank[lead] ? k < f->n && !len[k] : tt__shape_same(rank[k], len[k], len[lead]);
  if (same) {
    f->rank = rank[lead];
    if (f->rank) memcpy(f->len, len[lead], (size_t)f->rank * sizeof(int64_t));
    return TT_OK;
  }
  int64_t size;
  TT_TRY(tt__shape_broadcast(n, rank, len, &f->rank, f->len, err));
  TT_TRY(tt__shape_size(f->rank, f->len, f->types.result, &size, err));
  tt_array *out = more[0];
  if (!out || (out->rank == f->rank && tt__shape_same(f->rank, out->dim, f->len))) return TT_OK;
  char have[256], want[256];
  tt__shape_text(out->rank, out->dim, have, sizeof have);
  tt__shape_text(f->rank, f->len, want, sizeof want);
  return tt__fail(err, TT_EVALUE, "non-broadcastable output operand with shape %s doesn't match the broadcast shape %s",
                  have, want);
}

/* Of several faults NumPy names the first of these: memory that is read-only, types, shapes. */
static tt_code check_options(const frame *f, const tt_apply_options *o, tt_error *err) {
  if (o->where && o->where->dtype != TT_BOOL)
    return tt__fail(err, TT_ETYPE,
                    "Cannot cast array data from dtype('%s') to dtype('bool') according to the rule 'safe'",
                    tt__dtypes[o->where->dtype].name);
  const char *rule = o->casting ? o->casting : "same_kind";
  bool fits;
  TT_TRY(tt__can_cast(TT_BOOL, TT_BOOL, rule, &fits, err)); /* is there such a rule? */
  TT_TRY(tt__check_casts(f->op, f->arg, f->n, o->dtype, &f->types, rule, err));
  if (o->out) TT_TRY(tt__can_cast(f->types.result, (tt_dtype)o->out->dtype, rule, &fits, err));
  if (!fits) return tt__fail_cast(f->op, "output", f->types.result, (tt_dtype)o->out->dtype, rule, err);
  return TT_OK;
}

/* value where the mask is true, elsewhere what `out` holds (anything without out). Takes the hold on value. */
static tt_node *masked(const frame *f, tt_node *value, tt_array *out, tt_array *where, tt_error *err) {
  if (!value) return NULL;
  tt_node *mask = tt__array_node_as(where, f->rank, f->len, err);
  tt_node *rest =
      out ? tt__array_node(out, err) : tt__node_new(TT_N_EMPTY, (tt_dtype)value->dtype, f->rank, f->len, 0, err);
  return tt__node_take_where(mask, value, rest, err);
}

/* The result's memory goes as the operands' does. */
static tt_array *result_array(const frame *f, tt_node *n, tt_error *err) {
  tt_array *a[3];
  int axes[TT_MAX_RANK], count = 0;
  bool in_c = true;
  if (f->rank < 2) return tt__array_of(n, err);
  for (int k = 0; k < f->n; k++) {
    if (f->arg[k].tag != TT_V_ARRAY || f->arg[k].as.array->rank < 2) continue;
    a[count] = f->arg[k].as.array;
    in_c = tt__array_is_c(a[count++]) && in_c;
  }
  return in_c || !tt__order_walk(a, count, f->rank, axes) ? tt__array_of(n, err) : tt__array_laid(n, axes, err);
}

/*
** Arithmetic on arrays of one float type and shape, and Python's floats: the result has that type and shape, and no
** rule need be asked. Functions record mostly such steps, one after the other.
*/
static bool is_uniform(frame *f, const tt_apply_options *o) {
  const tt_op_info *op = &tt__ops[f->op];
  bool keeps = op->cls == TT_CLASS_ARITH || op->cls == TT_CLASS_DIVIDE || op->cls == TT_CLASS_FLOAT;
  tt_array *a = f->arg[0].tag == TT_V_ARRAY ? f->arg[0].as.array : NULL;
  if (!keeps || !a || !tt__is_float((tt_dtype)a->dtype) || !(op->types & TT_OPT_F) || f->n > 2) return false;
  if (o && (o->out || o->where || o->casting || o->dtype != TT_DTYPE_NONE)) return false;
  if (f->n == 2 && f->arg[1].tag == TT_V_ARRAY) {
    const tt_array *b = f->arg[1].as.array;
    if (b->dtype != a->dtype || b->rank != a->rank || !tt__shape_same(a->rank, a->dim, b->dim)) return false;
  } else if (f->n == 2 && f->arg[1].tag != TT_V_FLOAT) {
    return false;
  }
  f->types.compute = f->types.result = (tt_dtype)a->dtype;
  f->rank = a->rank;
  memcpy(f->len, a->dim, sizeof *f->len * a->rank);
  return true;
}

/* The value that an array is, whole and as it lies; NULL: it is a part of one, or turned. */
static tt_node *whole_value(tt_array *a) {
  tt_node *n = a->storage->node;
  bool same = a->off == 0 && n->rank == a->rank && n->size == a->size && tt__shape_same(a->rank, n->dim, a->dim);
  return same && tt__array_is_c(a) ? n : NULL;
}

/*
** Of such arithmetic, what is recorded as it stands: op of whole values that are not all at hand, and of numbers. It is
** most of what a gradient or an optimiser's step is made of, on a device or of large arrays.
*/
static bool is_plain(const frame *f, tt_node **src) {
  bool waits = false; /* asked first: small work at hand is the more frequent case, and goes another way */
  for (int k = 0; k < f->n && !waits; k++)
    if (!is_scalar(&f->arg[k]))
      waits = !tt__eager_few(f->arg[k].as.array->size) || !tt__eager_ready(f->arg[k].as.array->storage->node);
  if (!waits || f->op == TT_POW || f->op == TT_CONJ || f->op == TT_CAST) return false;
  for (int k = 0; k < f->n; k++) {
    if (is_scalar(&f->arg[k])) continue;
    src[k] = whole_value(f->arg[k].as.array);
    if (!src[k] || src[k]->size == 0) return false;
  }
  return true;
}

/* `src`: the values; NULL for a number, which comes second. */
static tt_code record_plain(const frame *f, tt_node **src, tt_array **out, tt_error *err) {
  tt_dtype t = f->types.compute;
  tt_node *number = NULL, *n;
  if (f->n == 2 && !src[1]) {
    src[1] = number = constant(f, t, tt__scalar_from(&f->arg[1], t), err);
    if (!number) return TT_ENOMEM;
  }
  n = tt__node_op(f->op, t, src, f->n, err);
  tt__node_release(number);
  *out = n ? tt__array_of(n, err) : NULL;
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

/* Types and shape of the result; *done: a number was changed where it is, and there is nothing left to record. */
static tt_code find_result(frame *f, const tt_apply_options *options, bool *done, tt_error *err) {
  *done = false;
  TT_TRY(find_types(f, options, err));
  *done = options && change_number(f, options);
  if (*done) return TT_OK;
  if (options) TT_TRY(check_options(f, options, err));
  return find_shape(f, options, err);
}

tt_code tt__apply(tt_op op, const tt_value *arg, int narg, const tt_apply_options *options, tt_array **out,
                  tt_error *err) {
  assert((unsigned)op < TT_OP_COUNT && (out || (options && options->out)));
  if (out) *out = NULL;
  if (narg != tt__ops[op].arity)
    return tt__fail(err, TT_ETYPE, "%s() takes %d arguments but %d were given", tt__ops[op].numpy, tt__ops[op].arity,
                    narg);
  frame f; /* not cleared as a whole: half a kilobyte of lengths on the hottest path */
  f.op = op;
  f.arg = arg;
  f.n = narg;
  f.unsafe = options && options->casting && strcmp(options->casting, "unsafe") == 0;
  if (options && options->out && options->out->readonly) return tt__fail(err, TT_EVALUE, "output array is read-only");
  bool done = false, uniform = is_uniform(&f, options);
  tt_node *src[2] = {NULL, NULL};
  if (uniform && is_plain(&f, src)) return record_plain(&f, src, out, err);
  if (!uniform) TT_TRY(find_result(&f, options, &done, err));
  if (done) {
    if (out) *out = tt__array_retain(options->out);
    return TT_OK;
  }
  tt_array *into = options ? options->out : NULL, *where = options ? options->where : NULL;
  tt_node *n = record(&f, err);
  if (n && into) n = tt__node_take_cast(n, (tt_dtype)into->dtype, err);
  if (n && where) n = masked(&f, n, into, where, err);
  if (!n) return TT_ENOMEM;
  tt_code code = TT_OK;
  if (into) {
    code = tt__array_store(into, n, err);
    if (code == TT_OK && out) *out = tt__array_retain(into);
  } else {
    *out = result_array(&f, n, err);
    if (!*out) code = TT_ENOMEM;
  }
  tt__node_release(n);
  return code;
}
