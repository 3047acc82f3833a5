/*
** Random generators and the distributions that others are made of; see draw.h.
*/
#include <string.h>

#include "base/os.h"
#include "graph/draw.h"

/* ---- generators */

/* The generator of the process; under the session lock. */
static struct {
  uint64_t key, counter;
  bool is_seeded;
} shared;

/* One step of SplitMix64: every bit of the seed reaches every bit of the key. */
static uint64_t mixed(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static uint64_t entropy(void) {
  uint64_t x = 0;
  tt__entropy(&x, sizeof x);
  return x;
}

static bool absorb(tt_calc *c, const tt_value *v, uint64_t *key) {
  switch (v->tag) {
    case TT_V_INT:
      if (v->as.i < 0) tt__calc_fail(c, TT_EVALUE, "expected non-negative integer");
      *key = mixed(*key ^ (uint64_t)v->as.i);
      return c->code == TT_OK;
    case TT_V_UINT:
      *key = mixed(*key ^ v->as.u);
      return true;
    case TT_V_BOOL:
      *key = mixed(*key ^ v->as.b);
      return true;
    case TT_V_TUPLE:
      for (int64_t i = 0; i < v->as.tuple.n; i++)
        if (!absorb(c, &v->as.tuple.item[i], key)) return false;
      return true;
    case TT_V_ARRAY: {
      tt_array *a = v->as.array;
      if (!tt__is_int((tt_dtype)a->dtype) && a->dtype != TT_BOOL) break;
      const uint64_t *data = tt__calc_peek(c, tt__calc_cast(c, a, TT_U64));
      for (int64_t i = 0; data && i < a->size; i++) *key = mixed(*key ^ data[i]);
      return data != NULL;
    }
    default:
      break;
  }
  tt__calc_fail(c, TT_ETYPE, "SeedSequence expects int or sequence of ints for entropy");
  return false;
}

static uint64_t key_of(tt_calc *c, const tt_call_frame *f, int k) {
  uint64_t key = 0;
  if (!tt__arg_given(f, k)) return entropy();
  absorb(c, &f->arg[k], &key);
  return key;
}

static tt_array *random_seed(tt_calc *c, tt_call_frame *f) {
  uint64_t key = key_of(c, f, 0);
  f->none = true;
  if (c->code != TT_OK) return NULL;
  shared.key = key;
  shared.counter = 0;
  shared.is_seeded = true;
  return NULL;
}
TT_HANDLER(random_seed)

static tt_array *generator_new(tt_calc *c, tt_call_frame *f) {
  void *data;
  int64_t two = 2;
  uint64_t key = key_of(c, f, 0);
  tt_array *state = tt__calc_block(c, TT_U64, 1, &two, &data);
  if (state) memcpy(data, (uint64_t[2]){key, 0}, 2 * sizeof key);
  return state;
}
TT_HANDLER(generator_new)

/* Take `n` blocks: the key and the first of them. */
static bool take_blocks(tt_draw *d, uint64_t n, uint64_t *key, uint64_t *first) {
  tt_calc *c = d->c;
  if (c->code != TT_OK) return false;
  if (d->base == 0) {
    if (!shared.is_seeded) {
      shared.key = mixed(entropy());
      shared.is_seeded = true;
    }
    *key = shared.key;
    *first = shared.counter;
    shared.counter += n;
    return true;
  }
  const tt_value *v = &d->f->arg[0];
  int64_t two = 2;
  void *data;
  if (v->tag != TT_V_ARRAY || v->as.array->dtype != TT_U64 || v->as.array->size != 2) {
    tt__calc_fail(c, TT_ETYPE, "a generator is an array of two uint64");
    return false;
  }
  const uint64_t *state = tt__calc_peek(c, v->as.array);
  tt_array *next = state ? tt__calc_block(c, TT_U64, 1, &two, &data) : NULL;
  if (!next) return false;
  *key = state[0];
  *first = state[1];
  memcpy(data, (uint64_t[2]){*key, *first + n}, sizeof(uint64_t[2]));
  return tt__calc_set(c, v->as.array, tt_v_array(next));
}

/* ---- shapes and parameters */

bool tt__draw_shape_fixed(tt_draw *d, int rank, const int64_t *len) {
  tt_calc *c = d->c;
  if (c->code != TT_OK) return false;
  d->rank = rank;
  memmove(d->len, len, sizeof *len * (size_t)rank);
  c->code = tt__shape_size(rank, len, TT_F64, &d->size, c->err);
  return c->code == TT_OK;
}

bool tt__draw_shape(tt_draw *d, int size, const tt_value *param, int n) {
  tt_calc *c = d->c;
  int ranks[4], rank;
  const int64_t *lens[4];
  int64_t len[TT_MAX_RANK], asked[TT_MAX_RANK];
  bool arrays = false;
  for (int k = 0; k < n && c->code == TT_OK; k++) {
    tt_array *a = param[k].tag == TT_V_ARRAY ? param[k].as.array : NULL;
    ranks[k] = a ? a->rank : 0;
    lens[k] = a ? tt__array_len(a) : NULL;
    arrays |= a != NULL;
  }
  if (c->code != TT_OK || (c->code = tt__shape_broadcast(n, ranks, lens, &rank, len, c->err)) != TT_OK) return false;
  if (!tt__arg_given(d->f, d->base + size)) {
    tt__draw_shape_fixed(d, rank, len);
    return !arrays;
  }
  int m = tt__arg_ints(c, d->f, d->base + size, asked, TT_MAX_RANK);
  bool fits = m >= rank;
  for (int k = 0; k < rank && fits; k++) fits = len[k] == 1 || len[k] == asked[m - rank + k];
  if (!fits && c->code == TT_OK) {
    char have[200], want[200];
    tt__shape_text(m, asked, have, sizeof have);
    tt__shape_text(rank, len, want, sizeof want);
    tt__calc_fail(c, TT_EVALUE, "Output size %s is not compatible with broadcast dimensions of inputs %s.", have, want);
  }
  tt__draw_shape_fixed(d, m, asked);
  return false;
}

tt_value tt__draw_param(tt_draw *d, int k, double fallback) {
  if (!tt__arg_given(d->f, d->base + k)) return tt_v_float(fallback);
  tt_value v = tt__arg_value(d->c, d->f, d->base + k);
  if (v.tag == TT_V_INT) return tt_v_float((double)v.as.i);
  if (v.tag == TT_V_BOOL) return tt_v_float(v.as.b);
  if (v.tag == TT_V_ARRAY && !tt__is_complex((tt_dtype)v.as.array->dtype)) {
    tt_array *a = tt__calc_cast(d->c, v.as.array, TT_F64);
    return a ? tt_v_array(a) : tt_v_float(fallback);
  }
  if (v.tag != TT_V_FLOAT) tt__calc_fail(d->c, TT_ETYPE, "a parameter must be a real number");
  return v;
}

tt_array *tt__draw_op(tt_draw *d, tt_op op, tt_value a, tt_value b) {
  if (d->c->code != TT_OK) return NULL;
  return tt__calc_apply(d->c, op, (tt_value[2]){a, b}, tt__ops[op].arity, TT_DTYPE_NONE);
}

/* ---- bits */

static tt_value v_u64(uint64_t u) {
  tt_value v = {.tag = TT_V_UINT, .as.u = u};
  return u <= INT64_MAX ? tt_v_int((int64_t)u) : v;
}

/* Draw `op` of 4 or 8 bytes for each place of the shape. */
static tt_array *drawn(tt_draw *d, tt_op op, tt_dtype dtype) {
  enum { BLOCK = 16 };
  uint64_t key, first, each = BLOCK / tt__dtype_size(dtype);
  tt_calc *c = d->c;
  if (!take_blocks(d, ((uint64_t)d->size + each - 1) / each, &key, &first)) return NULL;
  tt_array *place = tt__calc_of_node(c, tt__node_iota(d->rank, d->len, c->err));
  if (!place) return NULL;
  return tt__calc_apply(c, op, (tt_value[3]){tt_v_array(place), v_u64(first), v_u64(key)}, 3, dtype);
}

tt_array *tt__draw_bits(tt_draw *d) { return drawn(d, TT_PHILOX, TT_U64); }

tt_array *tt__draw_uniform(tt_draw *d, tt_dtype dtype) { return drawn(d, TT_UNIFORM, dtype); }

tt_array *tt__draw_normal(tt_draw *d, tt_dtype dtype) { return drawn(d, TT_NORMAL, dtype); }

/* high(word * range): exact 64 by 64 bits from 32-bit halves. `low`, `high`: the halves of the range. */
static tt_array *scaled_down(tt_calc *c, tt_array *word, tt_value low, tt_value high, bool is_short) {
  const tt_dtype none = TT_DTYPE_NONE;
  tt_array *w1 = tt__calc_opi(c, TT_SHR, word, 32), *w0 = tt__calc_opi(c, TT_AND, word, UINT32_MAX);
  if (!w0 || !w1) return NULL;
  tt_array *p00 = tt__calc_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w0), low}, 2, none);
  tt_array *p10 = tt__calc_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w1), low}, 2, none);
  tt_array *mid = tt__calc_op2(c, TT_ADD, p10, tt__calc_opi(c, TT_SHR, p00, 32));
  if (is_short) return tt__calc_opi(c, TT_SHR, mid, 32);
  tt_array *p01 = tt__calc_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w0), high}, 2, none);
  tt_array *p11 = tt__calc_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w1), high}, 2, none);
  tt_array *carry = tt__calc_op2(c, TT_ADD, p01, tt__calc_opi(c, TT_AND, mid, UINT32_MAX));
  tt_array *top = tt__calc_op2(c, TT_ADD, p11, tt__calc_opi(c, TT_SHR, mid, 32));
  return tt__calc_op2(c, TT_ADD, top, tt__calc_opi(c, TT_SHR, carry, 32));
}

tt_array *tt__draw_below(tt_draw *d, uint64_t range) {
  tt_array *word = tt__draw_bits(d);
  if (range == 0 || !word) return word;
  return scaled_down(d->c, word, v_u64(range & UINT32_MAX), v_u64(range >> 32), range <= UINT32_MAX);
}

/* ---- base distributions */

static tt_dtype float_type(tt_draw *d, int k) {
  tt_dtype t = tt__arg_dtype(d->c, d->f, d->base + k, TT_F64);
  if (t != TT_F32 && t != TT_F64)
    tt__calc_fail(d->c, TT_ETYPE, "Unsupported dtype dtype('%s') for random", tt__dtypes[t].name);
  return t;
}

/* size=None draws one number; `out` gives the shape where size does not. */
static void plain_shape(tt_draw *d, tt_call_frame *f, int size, int out) {
  bool into = out >= 0 && tt__arg_given(f, d->base + out) && f->arg[d->base + out].tag == TT_V_ARRAY;
  if (into && !tt__arg_given(f, d->base + size)) {
    tt_array *a = f->arg[d->base + out].as.array;
    tt__draw_shape_fixed(d, a->rank, tt__array_len(a));
  } else {
    f->scalar = tt__draw_shape(d, size, NULL, 0) && !into;
  }
}

static tt_array *random_floats(tt_draw *d, tt_call_frame *f) {
  tt_dtype t = float_type(d, 1);
  plain_shape(d, f, 0, 2);
  return tt__arg_out(d->c, f, d->base + 2, tt__draw_uniform(d, t));
}
TT_DRAW(random_floats)

static tt_array *standard_normal(tt_draw *d, tt_call_frame *f) {
  tt_dtype t = float_type(d, 1);
  plain_shape(d, f, 0, 2);
  return tt__arg_out(d->c, f, d->base + 2, tt__draw_normal(d, t));
}
TT_DRAW(standard_normal)

static tt_array *standard_exponential(tt_draw *d, tt_call_frame *f) {
  tt_dtype t = float_type(d, 1);
  plain_shape(d, f, 0, 3);
  tt_array *u = tt__draw_uniform(d, t);
  u = tt__calc_op1(d->c, TT_NEG, tt__calc_op1(d->c, TT_LOG1P, tt__calc_op1(d->c, TT_NEG, u)));
  return tt__arg_out(d->c, f, d->base + 3, u);
}
TT_DRAW(standard_exponential)

/* rand(d0, d1, ...), randn(d0, d1, ...) */
static tt_array *rand_shape(tt_draw *d, tt_call_frame *f, bool normal) {
  int64_t len[TT_MAX_RANK];
  int rank = f->narg ? tt__arg_ints(d->c, f, 0, len, TT_MAX_RANK) : 0;
  f->scalar = rank == 0;
  if (!tt__draw_shape_fixed(d, rank, len)) return NULL;
  return normal ? tt__draw_normal(d, TT_F64) : tt__draw_uniform(d, TT_F64);
}

static tt_array *rand_uniform(tt_calc *c, tt_call_frame *f) { return rand_shape(&(tt_draw){.c = c, .f = f}, f, false); }
static tt_array *rand_normal(tt_calc *c, tt_call_frame *f) { return rand_shape(&(tt_draw){.c = c, .f = f}, f, true); }
TT_HANDLER(rand_uniform)
TT_HANDLER(rand_normal)

/* ---- integers */

typedef struct bounds {
  __int128 low, high; /* of the type */
} bounds;

static bounds bounds_of(tt_dtype t) {
  int bits = t == TT_BOOL ? 1 : (int)tt__dtype_size(t) * 8;
  if (t == TT_BOOL || tt__is_unsigned(t)) return (bounds){0, ((__int128)1 << bits) - 1};
  return (bounds){-((__int128)1 << (bits - 1)), ((__int128)1 << (bits - 1)) - 1};
}

static __int128 whole(const tt_value *v) {
  switch (v->tag) {
    case TT_V_UINT:
      return v->as.u;
    case TT_V_BOOL:
      return v->as.b;
    case TT_V_FLOAT:
      return (__int128)v->as.f;
    default:
      return v->as.i;
  }
}

/* Bounds in arrays: checked by looking, then as two arrays of the same arithmetic. */
static tt_array *integers_between(tt_draw *d, tt_value low, tt_value high, bool closed, tt_dtype type) {
  tt_calc *c = d->c;
  tt_array *a = tt__calc_cast(c, tt__value_as_array(c, &low), TT_I64),
           *b = tt__calc_cast(c, tt__value_as_array(c, &high), TT_I64);
  if (!a || !b) return NULL;
  tt_array *bad = tt__calc_op2(c, closed ? TT_GT : TT_GE, a, b);
  uint64_t axes = bad && bad->rank ? ~UINT64_C(0) >> (64 - bad->rank) : 0;
  const uint8_t *found = tt__calc_peek(c, axes ? tt__calc_reduce(c, TT_RED_ANY, bad, axes, false) : bad);
  if (found && *found) return tt__calc_fail(c, TT_EVALUE, closed ? "low > high" : "low >= high");
  tt_array *range = tt__calc_cast(c, tt__calc_op2(c, TT_SUB, b, a), TT_U64), *word;
  if (closed) range = tt__calc_opi(c, TT_ADD, range, 1);
  tt_array *r0 = tt__calc_opi(c, TT_AND, range, UINT32_MAX), *r1 = tt__calc_opi(c, TT_SHR, range, 32);
  if (!r1 || !(word = tt__draw_bits(d))) return NULL;
  tt_array *x = scaled_down(c, word, tt_v_array(r0), tt_v_array(r1), false);
  return tt__calc_cast(c, tt__calc_op2(c, TT_ADD, x, tt__calc_cast(c, a, TT_U64)), type);
}

static tt_array *integers(tt_draw *d, tt_call_frame *f) {
  tt_calc *c = d->c;
  tt_value low = tt__arg_value(c, f, d->base), high = low;
  if (tt__arg_given(f, d->base + 1))
    high = tt__arg_value(c, f, d->base + 1);
  else
    low = tt_v_int(0);
  tt_dtype type = tt__arg_dtype(c, f, d->base + 3, TT_I64);
  bool closed = tt__arg_bool(c, f, d->base + 4, false);
  if (c->code != TT_OK) return NULL;
  if (!tt__is_int(type) && type != TT_BOOL)
    return tt__calc_fail(c, TT_ETYPE, "Unsupported dtype dtype('%s') for integers", tt__dtypes[type].name);
  tt_value param[2] = {low, high};
  f->scalar = tt__draw_shape(d, 2, param, 2);
  tt_value *v[2] = {&low, &high};
  for (int k = 0; k < 2 && c->code == TT_OK; k++) /* single numbers in arrays are numbers */
    if (v[k]->tag == TT_V_ARRAY && v[k]->as.array->size == 1) c->code = tt_item(v[k]->as.array, v[k], c->err);
  if (c->code != TT_OK) return NULL;
  if (low.tag == TT_V_ARRAY || high.tag == TT_V_ARRAY) return integers_between(d, low, high, closed, type);
  __int128 a = whole(&low), b = whole(&high) - !closed;
  bounds t = bounds_of(type);
  if (a < t.low) return tt__calc_fail(c, TT_EVALUE, "low is out of bounds for %s", tt__dtypes[type].name);
  if (b > t.high) return tt__calc_fail(c, TT_EVALUE, "high is out of bounds for %s", tt__dtypes[type].name);
  if (a > b && d->size == 0 && d->rank) return tt__calc_empty(c, type, d->rank, d->len);
  if (a > b)
    return tt__calc_fail(c, TT_EVALUE,
                         closed                          ? "low > high"
                         : tt__arg_given(f, d->base + 1) ? "low >= high"
                                                         : "high <= 0");
  tt_array *x = tt__draw_below(d, (uint64_t)(b - a + 1));
  if (a != 0 && x) x = tt__draw_op(d, TT_ADD, tt_v_array(x), v_u64((uint64_t)a));
  return type == TT_BOOL ? tt__calc_opi(c, TT_NE, x, 0) : tt__calc_cast(c, x, type);
}
TT_DRAW(integers)

/* ---- orders */

tt_array *tt__draw_order(tt_draw *d, int64_t n) {
  tt_array *key = tt__draw_shape_fixed(d, 1, &n) ? tt__draw_bits(d) : NULL;
  if (!key) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("argsort")};
  return tt__calc_library(d->c, &attr, &key, 1, TT_I64, 1, &n);
}
