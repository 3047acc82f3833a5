/*
** Bounded integers of any type, between numbers or arrays.
*/
#include "fn/random/draw.h"
#include "graph/host.h"

typedef __int128 wide;

typedef struct bounds {
  wide low, high; /* of the type */
} bounds;

static bounds bounds_of(tt_dtype t) {
  int bits = t == TT_BOOL ? 1 : (int)tt__dtype_size(t) * 8;
  if (t == TT_BOOL || tt__is_unsigned(t)) return (bounds){0, ((wide)1 << bits) - 1};
  return (bounds){-((wide)1 << (bits - 1)), ((wide)1 << (bits - 1)) - 1};
}

static wide whole(const tt_value *v) {
  switch (v->tag) {
    case TT_V_UINT:
      return v->as.u;
    case TT_V_BOOL:
      return v->as.b;
    case TT_V_FLOAT:
      return (wide)v->as.f;
    default:
      return v->as.i;
  }
}

static tt_value v_u64(uint64_t u) { return (tt_value){.tag = TT_V_UINT, .as.u = u}; }

/* NumPy names the argument that a caller of one bound gave. */
static tt_array *refuse_order(tt_draw *d, bool closed, bool from_zero) {
  const char *words = closed ? (from_zero ? "high < 0" : "low > high") : (from_zero ? "high <= 0" : "low >= high");
  return tt__compose_fail(d->c, TT_EVALUE, "%s", words);
}

static tt_array *refuse_bound(tt_draw *d, const char *which, tt_dtype t) {
  return tt__compose_fail(d->c, TT_EVALUE, "%s is out of bounds for %s", which, tt__dtypes[t].name);
}

static tt_array *between_numbers(tt_draw *d, wide low, wide high, tt_dtype type, bool closed) {
  tt_composer *c = d->c;
  bounds t = bounds_of(type);
  bool from_zero = low == 0;
  high -= !closed;
  if (low < t.low) return refuse_bound(d, "low", type);
  if (high > t.high) return refuse_bound(d, "high", type);
  if (low > high) return refuse_order(d, closed, from_zero);
  uint64_t range = (uint64_t)(high - low);
  if (d->bits) return tt__draw_exact_integers(d, type, v_u64((uint64_t)low), v_u64(range));
  tt_array *x = tt__draw_below(d, range + 1);
  if (low != 0 && x) x = tt__draw_op(d, TT_ADD, tt_v_array(x), v_u64((uint64_t)low));
  return type == TT_BOOL ? tt__compose_opi(c, TT_NE, x, 0) : tt__compose_cast(c, x, type);
}

/* ---- arrays of bounds: looked at, then as lows and ranges */

typedef struct bound {
  const void *data;
  bool is_unsigned;
} bound;

static wide bound_at(const bound *b, int64_t i) {
  return b->is_unsigned ? (wide)((const uint64_t *)b->data)[i] : (wide)((const int64_t *)b->data)[i];
}

static bool look(tt_draw *d, tt_array *a, int rank, const int64_t *len, bound *out) {
  if (tt__is_float((tt_dtype)a->dtype) &&
      tt__draw_amiss(d, TT_LT, tt_v_array(tt__compose_op1(d->c, TT_ABS, a)), 0x1p63))
    return tt__compose_fail(d->c, TT_EVALUE, "a bound is out of bounds for int64") != NULL;
  out->is_unsigned = a->dtype == TT_U64;
  a = tt__compose_cast(d->c, tt__compose_broadcast(d->c, a, rank, len), out->is_unsigned ? TT_U64 : TT_I64);
  out->data = tt__compose_peek(d->c, a);
  return out->data != NULL;
}

/* What is wrong with n pairs of bounds, in NumPy's order: the lows, the highs, the pairs. */
static bool are_fair(tt_draw *d, const bound *low, const bound *high, int64_t n, tt_dtype type, bool closed) {
  bounds t = bounds_of(type);
  bool all_zero = true;
  for (int64_t i = 0; i < n; i++) {
    all_zero &= bound_at(low, i) == 0;
    if (bound_at(low, i) < t.low || (bound_at(low, i) > t.high && t.high >= INT64_MAX))
      return refuse_bound(d, "low", type) != NULL;
  }
  for (int64_t i = 0; i < n; i++)
    if (bound_at(high, i) - !closed > t.high) return refuse_bound(d, "high", type) != NULL;
  for (int64_t i = 0; i < n; i++)
    if (bound_at(low, i) > bound_at(high, i) - !closed) return refuse_order(d, closed, all_zero) != NULL;
  return true;
}

/* The shape of the draw, where the bounds have that shape; NumPy names what was asked for last. */
static bool fit(tt_draw *d, int rank, const int64_t *len) {
  if (!tt__arg_given(d->f, d->base + 2)) return tt__draw_shape_fixed(d, rank, len);
  int ranks[2] = {rank, d->rank}, all;
  const int64_t *lens[2] = {len, d->len};
  int64_t common[TT_MAX_RANK];
  d->c->code = tt__shape_common(2, ranks, lens, &all, common, d->c->err);
  if (d->c->code == TT_OK && (all != d->rank || !tt__shape_same(all, common, d->len)))
    tt__compose_fail(d->c, TT_EVALUE, "size does not fit the bounds");
  return d->c->code == TT_OK;
}

static tt_array *between_arrays(tt_draw *d, tt_array *a, tt_array *b, tt_dtype type, bool closed) {
  tt_composer *c = d->c;
  if (!a || !b) return NULL;
  int ranks[2] = {a->rank, b->rank}, rank;
  const int64_t *lens[2] = {tt__array_len(a), tt__array_len(b)};
  int64_t len[TT_MAX_RANK];
  bound low, high;
  void *lows, *ranges;
  if ((c->code = tt__shape_common(2, ranks, lens, &rank, len, c->err)) != TT_OK) return NULL;
  if (!look(d, a, rank, len, &low) || !look(d, b, rank, len, &high)) return NULL;
  tt_array *from = tt__compose_block(c, TT_U64, rank, len, &lows),
           *range = tt__compose_block(c, TT_U64, rank, len, &ranges);
  if (!from || !range || !are_fair(d, &low, &high, from->size, type, closed)) return NULL;
  if (!fit(d, rank, len)) return NULL;
  for (int64_t i = 0; i < from->size; i++) {
    ((uint64_t *)lows)[i] = (uint64_t)bound_at(&low, i);
    ((uint64_t *)ranges)[i] = (uint64_t)(bound_at(&high, i) - !closed - bound_at(&low, i));
  }
  if (d->bits) return tt__draw_exact_integers(d, type, tt_v_array(from), tt_v_array(range));
  tt_array *x = tt__compose_op2(c, TT_ADD, tt__draw_below_each(d, range), from);
  return type == TT_BOOL ? tt__compose_opi(c, TT_NE, x, 0) : tt__compose_cast(c, x, type);
}

/* A bound: a number as a value, else an array. */
static tt_value bound_of(tt_draw *d, int k) {
  tt_composer *c = d->c;
  tt_value v = tt__arg_value(c, d->f, d->base + k);
  if (v.tag == TT_V_ARRAY && v.as.array->rank == 0 && c->code == TT_OK) c->code = tt__item(v.as.array, &v, c->err);
  if (v.tag == TT_V_COMPLEX || (v.tag == TT_V_ARRAY && tt__is_complex((tt_dtype)v.as.array->dtype)))
    tt__compose_fail(c, TT_ETYPE,
                     "int() argument must be a string, a bytes-like object or a real number, not 'complex'");
  return v;
}

/* Arguments: low, high, size, dtype, endpoint. */
static tt_array *integers(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  tt_dtype type = tt__arg_dtype(c, f, d->base + 3, TT_I64);
  bool closed = tt__arg_bool(c, f, d->base + 4, false), two = tt__arg_given(f, d->base + 1);
  if (!tt__arg_given(f, d->base))
    tt__compose_fail(c, TT_ETYPE,
                     "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'");
  if (c->code != TT_OK) return NULL;
  if (!tt__is_int(type) && type != TT_BOOL)
    return tt__compose_fail(c, TT_ETYPE, "Unsupported dtype dtype('%s') for %s", tt__dtypes[type].name,
                            d->legacy || !d->base ? "randint" : "integers");
  tt_value v[2] = {two ? bound_of(d, 0) : tt_v_int(0), bound_of(d, two)};
  f->scalar = tt__draw_shape(d, 2, NULL, 0);
  if (c->code != TT_OK) return NULL;
  if (d->size == 0) return tt__compose_empty(c, type, d->rank, d->len);
  f->scalar &= v[0].tag != TT_V_ARRAY && v[1].tag != TT_V_ARRAY;
  if (v[0].tag != TT_V_ARRAY && v[1].tag != TT_V_ARRAY)
    return between_numbers(d, whole(&v[0]), whole(&v[1]), type, closed);
  return between_arrays(d, tt__value_as_array(c, &v[0]), tt__value_as_array(c, &v[1]), type, closed);
}
TT_DRAW(integers, -1)
