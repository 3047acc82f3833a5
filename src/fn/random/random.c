/*
** Random generators and the distributions that others are made of; see draw.h.
*/
#include <string.h>

#include "base/os/os.h"
#include "fn/random/draw.h"

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

static bool absorb(tt_composer *c, const tt_value *v, uint64_t *key) {
  switch (v->tag) {
    case TT_V_INT:
      if (v->as.i < 0) tt__compose_fail(c, TT_EVALUE, "expected non-negative integer");
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
      const uint64_t *data = tt__compose_peek(c, tt__compose_cast(c, a, TT_U64));
      for (int64_t i = 0; data && i < a->size; i++) *key = mixed(*key ^ data[i]);
      return data != NULL;
    }
    default:
      break;
  }
  tt__compose_fail(c, TT_ETYPE, "SeedSequence expects int or sequence of ints for entropy");
  return false;
}

static uint64_t key_of(tt_composer *c, const tt_call_frame *f, int k) {
  uint64_t key = 0;
  if (!tt__arg_given(f, k)) return entropy();
  absorb(c, &f->arg[k], &key);
  return key;
}

static tt_array *random_seed(tt_composer *c, tt_call_frame *f) {
  uint64_t key = key_of(c, f, 0);
  f->none = true;
  if (c->code != TT_OK) return NULL;
  shared.key = key;
  shared.counter = 0;
  shared.is_seeded = true;
  return NULL;
}
TT_HANDLER(random_seed)

static tt_array *generator_new(tt_composer *c, tt_call_frame *f) {
  void *data;
  int64_t two = 2;
  uint64_t key = key_of(c, f, 0);
  tt_array *state = tt__compose_block(c, TT_U64, 1, &two, &data);
  if (state) memcpy(data, (uint64_t[2]){key, 0}, 2 * sizeof key);
  return state;
}
TT_HANDLER(generator_new)

static void seed_shared(void) {
  if (shared.is_seeded) return;
  shared.key = mixed(entropy());
  shared.is_seeded = true;
}

static tt_array *generator_shared(tt_composer *c, tt_call_frame *f) {
  void *data;
  int64_t two = 2;
  seed_shared();
  if (tt__arg_given(f, 0)) {
    tt_array *a = tt__arg_array(c, f, 0);
    const uint64_t *state = a ? tt__compose_peek(c, tt__compose_cast(c, a, TT_U64)) : NULL;
    if (state && a->size != 2) return tt__compose_fail(c, TT_EVALUE, "a state has two words");
    if (!state) return NULL;
    shared.key = state[0];
    shared.counter = state[1];
  }
  tt_array *out = tt__compose_block(c, TT_U64, 1, &two, &data);
  if (out) memcpy(data, (uint64_t[2]){shared.key, shared.counter}, sizeof(uint64_t[2]));
  return out;
}
TT_HANDLER(generator_shared)

/* Take `n` blocks: the key and the first of them. */
static bool take_blocks(tt_draw *d, uint64_t n, uint64_t *key, uint64_t *first) {
  tt_composer *c = d->c;
  if (c->code != TT_OK) return false;
  if (d->base == 0) {
    seed_shared();
    *key = shared.key;
    *first = shared.counter;
    shared.counter += n;
    return true;
  }
  tt_array *a = d->f->arg[0].as.array;
  uint64_t *word = tt__draw_words(a);
  if (word) {
    *key = word[0];
    *first = word[1];
    word[1] += n;
    return true;
  }
  const uint64_t *state = tt__compose_peek(c, a);
  if (!state) return false;
  *key = state[0];
  *first = state[1];
  return tt__draw_store(c, a, (uint64_t[2]){*key, *first + n});
}

tt_array *tt__draw_op(tt_draw *d, tt_op op, tt_value a, tt_value b) {
  if (d->c->code != TT_OK) return NULL;
  return tt__compose_apply(d->c, op, (tt_value[2]){a, b}, tt__ops[op].arity, TT_DTYPE_NONE);
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
  tt_composer *c = d->c;
  if (!take_blocks(d, ((uint64_t)d->size + each - 1) / each, &key, &first)) return NULL;
  tt_array *place = tt__compose_of_node(c, tt__node_iota(d->rank, d->len, c->err));
  if (!place) return NULL;
  return tt__compose_apply(c, op, (tt_value[3]){tt_v_array(place), v_u64(first), v_u64(key)}, 3, dtype);
}

tt_array *tt__draw_bits(tt_draw *d) { return drawn(d, TT_PHILOX, TT_U64); }

tt_array *tt__draw_uniform(tt_draw *d, tt_dtype dtype) { return drawn(d, TT_UNIFORM, dtype); }

tt_array *tt__draw_normal(tt_draw *d, tt_dtype dtype) { return drawn(d, TT_NORMAL, dtype); }

/* high(word * range): exact 64 by 64 bits from 32-bit halves. `low`, `high`: the halves of the range. */
static tt_array *scaled_down(tt_composer *c, tt_array *word, tt_value low, tt_value high, bool is_short) {
  const tt_dtype none = TT_DTYPE_NONE;
  tt_array *w1 = tt__compose_opi(c, TT_SHR, word, 32), *w0 = tt__compose_opi(c, TT_AND, word, UINT32_MAX);
  if (!w0 || !w1) return NULL;
  tt_array *p00 = tt__compose_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w0), low}, 2, none);
  tt_array *p10 = tt__compose_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w1), low}, 2, none);
  tt_array *mid = tt__compose_op2(c, TT_ADD, p10, tt__compose_opi(c, TT_SHR, p00, 32));
  if (is_short) return tt__compose_opi(c, TT_SHR, mid, 32);
  tt_array *p01 = tt__compose_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w0), high}, 2, none);
  tt_array *p11 = tt__compose_apply(c, TT_MUL, (tt_value[2]){tt_v_array(w1), high}, 2, none);
  tt_array *carry = tt__compose_op2(c, TT_ADD, p01, tt__compose_opi(c, TT_AND, mid, UINT32_MAX));
  tt_array *top = tt__compose_op2(c, TT_ADD, p11, tt__compose_opi(c, TT_SHR, mid, 32));
  return tt__compose_op2(c, TT_ADD, top, tt__compose_opi(c, TT_SHR, carry, 32));
}

tt_array *tt__draw_below(tt_draw *d, uint64_t range) {
  tt_array *word = tt__draw_bits(d);
  if (range == 0 || !word) return word;
  return scaled_down(d->c, word, v_u64(range & UINT32_MAX), v_u64(range >> 32), range <= UINT32_MAX);
}

tt_array *tt__draw_below_each(tt_draw *d, tt_array *range) {
  tt_composer *c = d->c;
  tt_array *n = tt__compose_opi(c, TT_ADD, range, 1), *all = tt__compose_opi(c, TT_EQ, n, 0); /* 2^64 has no room */
  tt_array *low = tt__compose_opi(c, TT_AND, n, UINT32_MAX), *high = tt__compose_opi(c, TT_SHR, n, 32);
  tt_array *word = high ? tt__draw_bits(d) : NULL;
  if (!word || !low || !all) return NULL;
  tt_array *x = scaled_down(c, word, tt_v_array(low), tt_v_array(high), false);
  return x ? tt__compose_where(c, all, tt_v_array(word), tt_v_array(x)) : NULL;
}

/* ---- base distributions */

/* The type of a draw that `dtype` says, float64 or float32. */
static tt_dtype float_type(tt_draw *d, int k, const char *name) {
  tt_dtype t = tt__arg_dtype(d->c, d->f, d->base + k, TT_F64);
  if (t != TT_F32 && t != TT_F64)
    tt__compose_fail(d->c, TT_ETYPE, "Unsupported dtype dtype('%s') for %s", tt__dtypes[t].name, name);
  return t;
}

/* NumPy's demands of an array to draw into, which may lie in Fortran order where there are no parameters; NULL: none is
** given, or it is none. */
static tt_array *drawn_into(tt_draw *d, int out, tt_dtype t, bool may_be_f) {
  tt_composer *c = d->c;
  if (out < 0 || !tt__arg_given(d->f, d->base + out)) return NULL;
  const tt_value *v = &d->f->arg[d->base + out];
  if (v->tag != TT_V_ARRAY) return tt__compose_fail(c, TT_ETYPE, "return arrays must be of ArrayType");
  tt_array *a = v->as.array;
  if (tt__array_check_writable(a, c->err) != TT_OK || !(tt__array_is_c(a) || (may_be_f && tt__array_is_f(a))))
    return tt__compose_fail(c, TT_EVALUE,
                            "Supplied output array must be %scontiguous, writable, aligned, and in machine byte-order.",
                            may_be_f ? "" : "C-");
  if (a->dtype != t)
    return tt__compose_fail(c, TT_ETYPE, "Supplied output array has the wrong type. Expected %s, got %s",
                            tt__dtypes[t].name, tt__dtypes[a->dtype].name);
  return a;
}

/* size=None draws one number; `out` gives the shape where size does not. */
static void plain_shape(tt_draw *d, tt_call_frame *f, int size, int out, tt_dtype t) {
  tt_array *a = d->c->code == TT_OK ? drawn_into(d, out, t, true) : NULL;
  if (a && !tt__arg_given(f, d->base + size)) {
    tt__draw_shape_fixed(d, a->rank, tt__array_len(a));
    return;
  }
  f->scalar = tt__draw_shape(d, size, NULL, 0) && !a;
  if (a && d->c->code == TT_OK && (d->rank != a->rank || !tt__shape_same(d->rank, d->len, tt__array_len(a))))
    tt__compose_fail(d->c, TT_EVALUE, "size must match out.shape when used together");
}

/* The drawn numbers, in `out` where it is given: in the order of its memory, as NumPy fills it. */
static tt_array *handed(tt_draw *d, tt_call_frame *f, int out, tt_array *drawn) {
  if (out < 0 || !tt__arg_given(f, d->base + out) || d->c->code != TT_OK) return drawn;
  tt_array *a = f->arg[d->base + out].as.array;
  if (!tt__array_is_c(a)) {
    int64_t len[TT_MAX_RANK];
    memcpy(len, tt__array_len(a), sizeof *len * (size_t)a->rank);
    tt__reverse_axes(a->rank, len);
    drawn = tt__compose_transpose(d->c, tt__compose_reshape(d->c, drawn, a->rank, len), NULL);
  }
  return tt__arg_out(d->c, f, d->base + out, drawn);
}

static tt_array *exact(tt_draw *d, tt_dtype t, tt_dist wide, tt_dist narrow) {
  return d->c->code == TT_OK ? tt__draw_exact(d, t == TT_F32 ? narrow : wide, t, NULL, 0) : NULL;
}

/* Arguments: size, dtype, out; a RandomState has the first alone. */
static tt_array *random_floats(tt_draw *d, tt_call_frame *f) {
  int out = d->legacy ? -1 : 2;
  tt_dtype t = d->legacy ? TT_F64 : float_type(d, 1, "random");
  plain_shape(d, f, 0, out, t);
  return handed(d, f, out, d->bits ? exact(d, t, TT_DIST_UNIT, TT_DIST_UNIT_FLOAT) : tt__draw_uniform(d, t));
}
TT_DRAW(random_floats, -1)

static tt_array *standard_normal(tt_draw *d, tt_call_frame *f) {
  int out = d->legacy ? -1 : 2;
  tt_dtype t = d->legacy ? TT_F64 : float_type(d, 1, "standard_normal");
  plain_shape(d, f, 0, out, t);
  if (d->bits) return handed(d, f, out, exact(d, t, TT_DIST_STANDARD_NORMAL, TT_DIST_STANDARD_NORMAL_FLOAT));
  return handed(d, f, out, tt__draw_normal(d, t));
}
TT_DRAW(standard_normal, -1)

/* Arguments: size, dtype, method, out. */
static tt_array *standard_exponential(tt_draw *d, tt_call_frame *f) {
  int out = d->legacy ? -1 : 3;
  tt_dtype t = d->legacy ? TT_F64 : float_type(d, 1, "standard_exponential");
  bool inverse = !d->legacy && strcmp(tt__arg_string(d->c, f, d->base + 2, "zig"), "zig") != 0;
  plain_shape(d, f, 0, out, t);
  if (d->bits && inverse)
    return handed(d, f, out, exact(d, t, TT_DIST_EXPONENTIAL_INVERSE, TT_DIST_EXPONENTIAL_INVERSE_FLOAT));
  if (d->bits) return handed(d, f, out, exact(d, t, TT_DIST_STANDARD_EXPONENTIAL, TT_DIST_STANDARD_EXPONENTIAL_FLOAT));
  tt_array *u = tt__draw_uniform(d, t);
  u = tt__compose_op1(d->c, TT_NEG, tt__compose_op1(d->c, TT_LOG1P, tt__compose_op1(d->c, TT_NEG, u)));
  return handed(d, f, out, u);
}
TT_DRAW(standard_exponential, -1)

/* Arguments: shape, size, dtype, out. */
static tt_array *standard_gamma(tt_draw *d, tt_call_frame *f) {
  static const tt_draw_param shape = TT_PARAM("shape", TT_RULE_NON_NEGATIVE);
  int out = d->legacy ? -1 : 3;
  tt_dtype t = d->legacy ? TT_F64 : float_type(d, 2, "standard_gamma");
  tt_value p;
  if (!tt__draw_read(d, &shape, 1, &p)) return NULL;
  tt_array *a = drawn_into(d, out, t, false);
  if (a && !tt__arg_given(f, d->base + 1))
    tt__draw_shape_fixed(d, a->rank, tt__array_len(a));
  else
    f->scalar = tt__draw_shape(d, 1, &p, 1) && !a;
  if (d->c->code != TT_OK) return NULL;
  if (d->bits)
    return handed(d, f, out,
                  tt__draw_exact(d, t == TT_F32 ? TT_DIST_STANDARD_GAMMA_FLOAT : TT_DIST_STANDARD_GAMMA, t, &p, 1));
  return handed(d, f, out, tt__compose_cast(d->c, tt__draw_rejected(d, TT_DRAW_GAMMA, TT_F64, &p, 1), t));
}
TT_DRAW(standard_gamma, -1)

/* rand(d0, d1, ...), randn(d0, d1, ...) */
static tt_array *rand_shape(tt_draw *d, tt_call_frame *f, bool normal) {
  int64_t len[TT_MAX_RANK];
  int rank = f->narg > d->base ? tt__arg_ints(d->c, f, d->base, len, TT_MAX_RANK) : 0;
  tt_dtype t = d->legacy ? TT_F64 : float_type(d, 1, normal ? "standard_normal" : "random");
  f->scalar = rank == 0;
  if (!tt__draw_shape_fixed(d, rank, len)) return NULL;
  if (d->bits) return tt__draw_exact(d, normal ? TT_DIST_STANDARD_NORMAL : TT_DIST_UNIT, t, NULL, 0);
  return normal ? tt__draw_normal(d, t) : tt__draw_uniform(d, t);
}

static tt_array *rand_uniform(tt_draw *d, tt_call_frame *f) { return rand_shape(d, f, false); }
static tt_array *rand_normal(tt_draw *d, tt_call_frame *f) { return rand_shape(d, f, true); }
TT_DRAW_ONE(random, rand_uniform, TT_DRAW_PROCESS, -1)
TT_DRAW_ONE(legacy, rand_uniform, TT_DRAW_LEGACY, -1)
TT_DRAW_ONE(random, rand_normal, TT_DRAW_PROCESS, -1)
TT_DRAW_ONE(legacy, rand_normal, TT_DRAW_LEGACY, -1)

/* Integers from 0 to the largest that a long has. */
static tt_array *tomaxint(tt_draw *d, tt_call_frame *f) {
  f->scalar = tt__draw_shape(d, 0, NULL, 0);
  return d->c->code == TT_OK ? tt__draw_exact(d, TT_DIST_POSITIVE, TT_I64, NULL, 0) : NULL;
}
TT_DRAW_ONE(legacy, tomaxint, TT_DRAW_LEGACY, -1)

/* ---- orders */

tt_array *tt__draw_order(tt_draw *d, int64_t n) {
  tt_array *key = tt__draw_shape_fixed(d, 1, &n) ? tt__draw_bits(d) : NULL;
  if (!key) return NULL;
  tt_lib_attr attr = {.row = tt__lib_row("argsort")};
  return tt__compose_library(d->c, &attr, &key, 1, TT_I64, 1, &n);
}
