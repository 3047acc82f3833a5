/*
** Elements on their own; see number.h. It must not make nodes, but for the array of a number.
*/
#include "graph/eager/number.h"

#include <string.h>

#include "graph/eager/eager.h"
#include "graph/promote.h"
#include "graph/session.h"
#include "graph/tape.h"

/* ---- out of arrays and into them */

bool tt__number_find(tt_array *a, int64_t n, const int64_t *at, int64_t *off) {
  if (a->rank != n) return false;
  const int64_t *step = tt__array_step(a);
  *off = a->off;
  for (int k = 0; k < a->rank; k++) {
    int64_t i = at[k] < 0 ? at[k] + a->dim[k] : at[k];
    if (i < 0 || i >= a->dim[k]) return false;
    *off += i * step[k];
  }
  return true;
}

/* A number in another type, as the loops cast elements. */
static const void *cast(const tt_number *x, tt_dtype dtype, tt_scalar *room) {
  const void *arg = x->bits;
  bool ok = tt__session_elements && tt__session_elements(TT_CAST, x->dtype, dtype, &arg, 1, room, 1);
  return ok ? room : NULL;
}

/* The bytes of a value in a type: its own, or in `room`. NULL: the other way says what is wrong. */
static inline const void *bytes_of(const tt_value *v, tt_dtype dtype, tt_scalar *room) {
  bool is_int = v->tag == TT_V_INT;
  if (v->tag == TT_V_NUMBER && tt__is_complex(v->as.number->dtype) && !tt__is_complex(dtype)) return NULL; /* warns */
  if (v->tag == TT_V_NUMBER) return v->as.number->dtype == dtype ? v->as.number->bits : cast(v->as.number, dtype, room);
  if (dtype == TT_F64 && (is_int || v->tag == TT_V_FLOAT)) /* no look at its range is needed */
    room->f64 = is_int ? (double)v->as.i : v->as.f;
  else if (dtype == TT_I64 && is_int)
    room->i64 = v->as.i;
  else if (tt__value_scalar(v, dtype, room, NULL) != TT_OK)
    return NULL;
  return room;
}

bool tt__number_store(tt_array *a, int64_t off, const tt_value *value) {
  tt_scalar room;
  tt_dtype dtype = (tt_dtype)a->dtype;
  const void *bytes = &room;
  for (int k = 0; k < a->rank; k++)
    if (a->dim[k] > 1 && tt__array_step(a)[k] == 0) return false; /* one cell, many writers */
  if (value->tag == TT_V_ARRAY) {
    const tt_array *from = value->as.array;
    if (from->rank != 0 || from->dtype != a->dtype || tt__is_taped(from->storage->node) ||
        !tt__eager_element(from->storage->node, from->off, &room))
      return false;
  } else if (!(bytes = bytes_of(value, dtype, &room))) {
    return false;
  }
  return tt__eager_set(a->storage, off, bytes);
}

tt_code tt__number_array(const tt_number *x, tt_array **out, tt_error *err) {
  tt_scalar s = {.bits = {x->bits[0], x->bits[1]}};
  tt_node *n = tt__node_const(x->dtype, s, 0, NULL, err);
  *out = n ? tt__array_of(n, err) : NULL;
  tt__node_release(n);
  if (*out) (*out)->readonly = true;
  return *out ? TT_OK : TT_ENOMEM;
}

/* ---- arithmetic */

/* What a pair of operands is computed in; Python's own numbers stand behind the types. */
enum { WEAK_INT = TT_DTYPE_COUNT, WEAK_FLOAT, WEAK_COMPLEX, NO_KIND };

static int kind_of(const tt_value *v) {
  switch (v->tag) {
    case TT_V_NUMBER:
      return (int)v->as.number->dtype;
    case TT_V_BOOL:
      return TT_BOOL;
    case TT_V_INT:
      return WEAK_INT;
    case TT_V_FLOAT:
      return WEAK_FLOAT;
    case TT_V_COMPLEX:
      return WEAK_COMPLEX;
    default:
      return NO_KIND;
  }
}

/* Ops whose result is what their loop gives, and nothing else: what tt__apply decides by itself is left to it. */
static bool is_plain(tt_op op, const tt_types *t, const int *kind, int n) {
  bool inexact = tt__is_float(t->compute);
  switch (tt__ops[op].cls) {
    case TT_CLASS_COMPARE: /* int64 against uint64 is compared exactly */
      return !(inexact && kind[0] < TT_DTYPE_COUNT && kind[1] < TT_DTYPE_COUNT && tt__is_int((tt_dtype)kind[0]) &&
               tt__is_int((tt_dtype)kind[1]));
    case TT_CLASS_ABS:
      return inexact || tt__dtypes[t->compute].kind == 'i' || tt__is_complex(t->compute);
    case TT_CLASS_TEST:
    case TT_CLASS_ROUND:
      return inexact;
    case TT_CLASS_ARITH:
      return op != TT_CONJ && (op != TT_POW || inexact || kind[n - 1] == WEAK_INT);
    case TT_CLASS_DIVIDE:
    case TT_CLASS_FLOAT:
    case TT_CLASS_SPECIAL:
    case TT_CLASS_BITS:
    case TT_CLASS_SHIFT:
      return true;
    default:
      return false;
  }
}

static bool find_types(tt_op op, const int *kind, int n, tt_types *t) {
  tt_value v[2];
  for (int k = 0; k < n; k++) {
    v[k] = (tt_value){.tag = TT_V_DTYPE, .as.dtype = (tt_dtype)kind[k]};
    if (kind[k] == WEAK_INT) v[k] = tt_v_int(0);
    if (kind[k] == WEAK_FLOAT) v[k] = tt_v_float(0);
    if (kind[k] == WEAK_COMPLEX) v[k] = (tt_value){.tag = TT_V_COMPLEX};
  }
  return tt__op_types(op, v, n, TT_DTYPE_NONE, t, NULL) == TT_OK && is_plain(op, t, kind, n);
}

/* The types of ops met lately, each in a word, so that threads need no lock: key, compute, result, and whether it is
 * done here at all. */
static bool types_of(tt_op op, const int *kind, int n, tt_types *t) {
  static uint32_t met[256];
  uint32_t key = ((uint32_t)op << 10 | (uint32_t)kind[0] << 5 | (uint32_t)kind[n - 1]) + 1;
  uint32_t *slot = &met[(key ^ key >> 7) & 255];
  uint32_t word = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (word >> 11 == key) {
    t->compute = (tt_dtype)(word >> 6 & 31);
    t->result = (tt_dtype)(word >> 1 & 31);
    return word & 1;
  }
  bool ok = find_types(op, kind, n, t);
  word = key << 11 | (ok ? (uint32_t)t->compute << 6 | (uint32_t)t->result << 1 | 1 : 0);
  __atomic_store_n(slot, word, __ATOMIC_RELAXED);
  return ok;
}

/* The loop of an op, found once. NULL: there is none. */
static tt_elements_loop loop_of(tt_op op, const tt_types *t) {
  static tt_elements_loop known[TT_OP_COUNT][TT_DTYPE_COUNT]; /* the result's type follows from these two */
  tt_elements_loop *slot = &known[op][t->compute], loop = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (loop) return loop;
  if ((loop = tt__session_elements_loop(op, t->compute, t->result))) __atomic_store_n(slot, loop, __ATOMIC_RELAXED);
  return loop;
}

/* Exponents that are spelled otherwise (see build.c). False: such a one that is left to the way of arrays. */
static bool power(tt_op *op, double e, tt_dtype compute, int *n) {
  bool inexact = !tt__is_int(compute);
  if (e == 2 || tt__power_is_products(e, compute)) return *op = TT_SQUARE, *n = 1, true;
  if (!inexact) return e >= 0;
  if (e == -1) return *op = TT_RECIPROCAL, *n = 1, true;
  if (e == 0.5) return *op = TT_SQRT, *n = 1, true;
  return e != 1;
}

#define COMPARED(T)                                 \
  do {                                              \
    T x = *(const T *)at[0], y = *(const T *)at[1]; \
    return op == TT_EQ   ? x == y                   \
           : op == TT_NE ? x != y                   \
           : op == TT_LT ? x < y                    \
           : op == TT_LE ? x <= y                   \
           : op == TT_GT ? x > y                    \
                         : x >= y;                  \
  } while (0)

/* Two float64 or int64 compared, without a look at tables: the tests of most loops. -1: any others. */
static int compare(tt_op op, const tt_value *arg) {
  tt_scalar room[2];
  const void *at[2];
  tt_dtype dtype = arg[arg[0].tag != TT_V_NUMBER].as.number->dtype;
  if (dtype != TT_F64 && dtype != TT_I64) return -1;
  for (int k = 0; k < 2; k++) {
    bool own = arg[k].tag == TT_V_NUMBER ? arg[k].as.number->dtype == dtype
                                         : arg[k].tag == (dtype == TT_F64 ? TT_V_FLOAT : TT_V_INT);
    if (!own) return -1;
    at[k] = bytes_of(&arg[k], dtype, &room[k]);
  }
  if (dtype == TT_F64) COMPARED(double);
  COMPARED(int64_t);
}

static double exponent_of(const tt_value *v) {
  return v->tag == TT_V_INT ? (double)v->as.i : v->tag == TT_V_FLOAT ? v->as.f : 0;
}

bool tt__number_apply(tt_op op, const tt_value *arg, int n, tt_number *out) {
  int kind[2];
  tt_types t;
  tt_scalar room[2];
  const void *at[2];
  if (n != tt__ops[op].arity || n > 2 || n < 1 || !tt__session_elements_loop) return false;
  if (op >= TT_EQ && op <= TT_GE && (arg[0].tag == TT_V_NUMBER || arg[1].tag == TT_V_NUMBER)) {
    int yes = compare(op, arg);
    if (yes >= 0) return *out = (tt_number){{(uint64_t)yes, 0}, TT_BOOL}, true;
  }
  for (int k = 0; k < n; k++)
    if ((kind[k] = kind_of(&arg[k])) == NO_KIND) return false;
  if (!types_of(op, kind, n, &t)) return false;
  double exponent = op == TT_POW ? exponent_of(&arg[1]) : 0;
  if (op == TT_POW && !power(&op, exponent, t.compute, &n)) return false;
  for (int k = 0; k < n; k++)
    if (!(at[k] = bytes_of(&arg[k], t.compute, &room[k]))) return false;
  tt_elements_loop loop = tt__is_complex(t.compute) ? NULL : loop_of(op, &t);
  out->bits[0] = out->bits[1] = 0;
  out->dtype = t.result;
  if (!loop) return tt__is_complex(t.compute) && tt__session_elements(op, t.compute, t.result, at, n, out->bits, 1);
  loop(out->bits, at[0], n > 1 ? at[1] : NULL, NULL, 1);
  if (exponent == 4 && op == TT_SQUARE) loop(out->bits, out->bits, NULL, NULL, 1);
  if (exponent == 3 && op == TT_SQUARE) loop_of(TT_MUL, &t)(out->bits, out->bits, at[0], NULL, 1);
  return true;
}
