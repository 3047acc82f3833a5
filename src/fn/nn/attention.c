/*
** Scaled dot product attention, with PyTorch's parameters. The library's rows do the work; dropout beside a mask, few
** scores that a gradient goes through and few queries on a device have it spelled: scores, softmax, product.
*/
#include "fn/nn/attention.h"

#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "fn/linalg/matrix.h"
#include "fn/random/draw.h"
#include "graph/tape.h"

tt_array *tt__compose_beside(tt_composer *c, tt_array *a, tt_array *b) {
  tt_array *part[2] = {a, b};
  return a && b ? tt__compose_concat(c, part, 2, a->rank - 1) : NULL;
}

/* ---- spelled */

/* Where query i sees key j: j up to i. */
static tt_array *lower(tt_composer *c, int64_t queries, int64_t keys) {
  tt_array *i = tt__compose_iota(c, queries), *j = tt__compose_iota(c, keys);
  i = i ? tt__compose_expand(c, i, 1) : NULL;
  return i && j ? tt__compose_op2(c, TT_GE, i, j) : NULL;
}

static tt_array *scores(tt_composer *c, const tt_attending *a) {
  tt_dtype t = tt__attention_sums((tt_dtype)a->q->dtype);
  tt_array *q = tt__compose_opf(c, TT_MUL, tt__compose_cast(c, a->q, t), a->scale);
  tt_array *s = tt__compose_matmul(c, q, tt__compose_swap(c, tt__compose_cast(c, a->k, t)));
  const tt_value never = tt_v_float(-INFINITY);
  if (s && a->causal) {
    const int64_t *len = tt__array_len(s) + s->rank - 2;
    s = tt__compose_where(c, lower(c, len[0], len[1]), tt_v_array(s), never);
  }
  if (!s || !a->mask) return s;
  if (a->mask->dtype == TT_BOOL) return tt__compose_where(c, a->mask, tt_v_array(s), never);
  return tt__compose_op2(c, TT_ADD, s, tt__compose_cast(c, a->mask, t));
}

/* The largest of each row, 0 where there is none above -infinity. The shares do not depend on it: it is no part of
 * their history. */
static tt_array *largest(tt_composer *c, tt_array *s) {
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *most = tt__compose_reduce(c, TT_RED_MAX, s, UINT64_C(1) << (s->rank - 1), true);
  tt_array *none = most ? tt__compose_opf(c, TT_EQ, most, -INFINITY) : NULL;
  most = none ? tt__compose_where(c, none, tt_v_float(0), tt_v_array(most)) : NULL;
  tt__session_tape = before;
  return most;
}

tt_array *tt__compose_shares(tt_composer *c, const tt_attending *a) {
  tt_array *s = scores(c, a);
  if (!s || tt__array_len(s)[s->rank - 1] == 0) return s;
  tt_array *e = tt__compose_op1(c, TT_EXP, tt__compose_op2(c, TT_SUB, s, largest(c, s)));
  tt_array *sum = e ? tt__compose_reduce(c, TT_RED_SUM, e, UINT64_C(1) << (e->rank - 1), true) : NULL;
  tt_array *none = sum ? tt__compose_opi(c, TT_EQ, sum, 0) : NULL;
  sum = none ? tt__compose_where(c, none, tt_v_int(1), tt_v_array(sum)) : NULL;
  return tt__compose_op2(c, TT_DIV, e, sum);
}

tt_array *tt__compose_thinned(tt_composer *c, const tt_attending *a, tt_array *p) {
  if (!p || !a->key) return p;
  int64_t len[TT_MAX_RANK], last = p->rank - 1;
  memcpy(len, tt__array_len(p), sizeof *len * (size_t)p->rank);
  len[last] = (len[last] + 3) / 4 * 4; /* whole blocks of random numbers */
  tt_array *place = tt__compose_of_node(c, tt__node_iota(p->rank, len, c->err));
  place = tt__compose_slice(c, place, (int)last, 0, tt__array_len(p)[last], 1);
  if (!place) return NULL;
  const tt_value from[3] = {tt_v_array(place), tt_v_int(0), tt_v_array(a->key)};
  tt_array *stays = tt__compose_opf(c, TT_GE, tt__compose_apply(c, TT_UNIFORM, from, 3, TT_F32), a->chance);
  tt_array *more = a->chance < 1 ? tt__compose_opf(c, TT_MUL, p, 1 / (1 - a->chance)) : p;
  return stays && more ? tt__compose_where(c, stays, tt_v_array(more), tt_v_int(0)) : NULL;
}

static tt_array *spelled(tt_composer *c, const tt_attending *a) {
  tt_array *p = tt__compose_thinned(c, a, tt__compose_shares(c, a));
  tt_dtype t = (tt_dtype)a->q->dtype;
  return tt__compose_cast(c, tt__compose_matmul(c, p, tt__compose_cast(c, a->v, tt__attention_sums(t))), t);
}

/* ---- by a row of the library */

static tt_array *by_row(tt_composer *c, const tt_attending *a) {
  const char *row = a->key ? "attention_dropped" : a->mask ? "attention_masked" : "attention";
  tt_lib_attr attr = {.row = tt__lib_row(row), .i = {a->causal}, .f = {a->scale, a->chance}};
  tt_dtype t = (tt_dtype)a->q->dtype, sums = tt__attention_sums(t);
  tt_array *mask = a->mask && a->mask->dtype != TT_BOOL ? tt__compose_cast(c, a->mask, sums) : a->mask;
  tt_array *third = a->key ? a->key : mask;
  tt_array *src[4] = {a->q, third ? tt__compose_beside(c, a->k, a->v) : a->k, third ? third : a->v};
  if (!src[1] || !src[2]) return NULL;
  int rank = a->q->rank;
  tt_compose_want want[2] = {{.dtype = t, .rank = rank}, {.dtype = sums, .rank = rank - 1}};
  for (int k = 0; k < 2; k++) memcpy(want[k].len, tt__array_len(a->q), sizeof *want[k].len * (size_t)(rank - 1));
  want[0].len[rank - 1] = tt__array_len(a->v)[rank - 1];
  tt_array *out[2];
  bool before = tt__session_tape;
  tt__session_tape = false;
  bool done = tt__compose_library_many(c, &attr, src, 3, want, 2, out);
  tt__session_tape = before;
  src[3] = done ? out[1] : NULL;
  return done ? tt__compose_derived_call(c, &attr, src, 4, out[0]) : NULL;
}

/* ---- the call */

/* Matrices with the axes of batches `len`. */
static tt_array *in_batches(tt_composer *c, tt_array *a, int rank, int64_t *len) {
  memcpy(len + rank, tt__array_len(a) + a->rank - 2, 2 * sizeof *len);
  return tt__compose_broadcast(c, a, rank + 2, len);
}

static bool check(tt_composer *c, const tt_attending *a) {
  if (a->q->rank < 2 || a->k->rank < 2 || a->v->rank < 2) {
    tt__compose_fail(
        c, TT_EVALUE,
        "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: %d, key.dim: "
        "%d and value.dim: %d instead.",
        a->q->rank, a->k->rank, a->v->rank);
    return false;
  }
  const int64_t *q = tt__array_len(a->q) + a->q->rank - 2, *k = tt__array_len(a->k) + a->k->rank - 2;
  const int64_t *v = tt__array_len(a->v) + a->v->rank - 2;
  if (q[1] != k[1])
    tt__compose_fail(c, TT_EVALUE, "Expected query and key to have the same last dimension, but got %lld and %lld",
                     (long long)q[1], (long long)k[1]);
  else if (k[0] != v[0])
    tt__compose_fail(c, TT_EVALUE, "Expected key and value to have the same sequence length, but got %lld and %lld",
                     (long long)k[0], (long long)v[0]);
  return c->code == TT_OK;
}

/* ---- heads that share keys */

/* Each head as often as there are heads of queries for it. */
static tt_array *repeated(tt_composer *c, tt_array *a, int64_t heads) {
  int64_t len[TT_MAX_RANK];
  int axis = a->rank - 3;
  int64_t own = tt__array_len(a)[axis];
  tt_array *each = own == heads ? a : tt__compose_expand(c, a, axis + 1);
  if (!each || own == heads) return each;
  memcpy(len, tt__array_len(each), sizeof *len * (size_t)each->rank);
  len[axis + 1] = heads / own;
  each = tt__compose_broadcast(c, each, each->rank, len);
  memcpy(len, tt__array_len(a), sizeof *len * (size_t)a->rank);
  len[axis] = heads;
  return each ? tt__compose_reshape(c, each, a->rank, len) : NULL;
}

static bool share_heads(tt_composer *c, tt_attending *a) {
  tt_array **side[3] = {&a->q, &a->k, &a->v};
  int64_t heads[3];
  for (int i = 0; i < 3; i++) {
    int rank = (*side[i])->rank;
    if (rank < 3)
      return tt__compose_fail(c, TT_EINDEX,
                              "Dimension out of range (expected to be in range of [-2, 1], but got -3)") != NULL;
    heads[i] = tt__array_len(*side[i])[rank - 3];
  }
  for (int i = 1; i < 3; i++)
    if (heads[i] != heads[0] && (heads[i] == 0 || heads[0] % heads[i] != 0))
      return tt__compose_fail(c, TT_EVALUE,
                              "Number of heads in key and value must divide the number of heads in query, but got %lld "
                              "and %lld for %lld",
                              (long long)heads[1], (long long)heads[2], (long long)heads[0]) != NULL;
  a->k = repeated(c, a->k, heads[0]);
  a->v = repeated(c, a->v, heads[0]);
  return a->k && a->v;
}

/* One type, and one shape of batches for all. */
static bool meet(tt_composer *c, tt_attending *a) {
  tt_array **side[3] = {&a->q, &a->k, &a->v};
  tt_dtype t = tt__promote(tt__promote((tt_dtype)a->q->dtype, (tt_dtype)a->k->dtype), (tt_dtype)a->v->dtype);
  if (tt__is_complex(t))
    return tt__compose_fail(c, TT_ETYPE, "scaled_dot_product_attention: complex values have no largest one") != NULL;
  if (!tt__is_float(t)) t = TT_F64;
  int64_t len[TT_MAX_RANK], rank = 0;
  for (int i = 0; i < 3; i++)
    if ((*side[i])->rank - 2 > rank) rank = (*side[i])->rank - 2;
  for (int d = 0; d < rank; d++) len[d] = 1;
  for (int i = 0; i < 3; i++) {
    const tt_array *m = *side[i];
    int off = (int)rank - (m->rank - 2);
    for (int d = 0; d < m->rank - 2; d++)
      if (tt__array_len((tt_array *)m)[d] != 1) len[off + d] = tt__array_len((tt_array *)m)[d];
  }
  for (int i = 0; i < 3 && c->code == TT_OK; i++)
    *side[i] = tt__compose_cast(c, in_batches(c, *side[i], (int)rank, len), t);
  if (c->code != TT_OK || !a->mask) return c->code == TT_OK;
  len[rank] = tt__array_len(a->q)[rank];
  len[rank + 1] = tt__array_len(a->k)[rank];
  a->mask = tt__compose_broadcast(c, a->mask, (int)rank + 2, len);
  return a->mask != NULL;
}

static bool has_history(const tt_attending *a) {
  return tt__is_taped(a->q->storage->node) || tt__is_taped(a->k->storage->node) || tt__is_taped(a->v->storage->node);
}

/* Scores that take no more memory than what attends and is attended to (floats; doubles a half of it). */
static bool has_few_scores(const tt_attending *a) {
  const int64_t *q = tt__array_len(a->q) + a->q->rank - 2, *v = tt__array_len(a->v) + a->v->rank - 2;
  int64_t size = (int64_t)tt__dtype_size((tt_dtype)a->q->dtype) / 4;
  return (double)q[0] * (double)v[0] * (double)size <= (double)(q[0] + v[0]) * (double)(q[1] + v[1]);
}

/*
** On a device, queries that leave most of a tile's rows empty: their scores take less memory than the keys. On the
** host, few scores that a gradient will go through: there the row multiplies seven times in tiles of which few queries
** fill a part, products five times. Not where scores are computed in another type, nor where the row passes over keys
** that nobody sees: of a triangle up to two tiles wide it does not.
*/
static bool is_for_products(const tt_attending *a) {
  enum { FEW = 8, TRIANGLE = 96 };
  int64_t queries = tt__array_len(a->q)[a->q->rank - 2], keys = tt__array_len(a->k)[a->k->rank - 2];
  bool there = a->q->storage->node->device > 0 || a->k->storage->node->device > 0 || a->v->storage->node->device > 0;
  if (there) return queries <= FEW;
  if (a->key || (a->causal && (keys > queries || queries > TRIANGLE))) return false;
  bool as_is = tt__attention_sums((tt_dtype)a->q->dtype) == (tt_dtype)a->q->dtype;
  return as_is && has_history(a) && has_few_scores(a);
}

/* What says which shares are dropped is one random number, drawn where it is used. */
static bool draw_key(tt_composer *c, const tt_call_frame *f, tt_attending *a) {
  const int64_t one = 1;
  tt_draw d = {.c = c, .f = f};
  if (a->chance == 0) return true;
  a->key = tt__draw_shape_fixed(&d, 1, &one) ? tt__draw_bits(&d) : NULL;
  return a->key != NULL;
}

static tt_array *scaled_dot_product_attention(tt_composer *c, tt_call_frame *f) {
  tt_attending a = {.q = tt__arg_array(c, f, 0), .k = tt__arg_array(c, f, 1), .v = tt__arg_array(c, f, 2)};
  if (tt__arg_given(f, 3)) a.mask = tt__arg_array(c, f, 3);
  a.chance = tt__arg_float(c, f, 4, 0);
  a.causal = tt__arg_bool(c, f, 5, false);
  if (c->code != TT_OK || !check(c, &a)) return NULL;
  a.scale = tt__arg_float(c, f, 6, 1 / sqrt((double)tt__array_len(a.q)[a.q->rank - 1]));
  if (!(a.chance >= 0 && a.chance <= 1))
    return tt__compose_fail(c, TT_EVALUE, "dropout probability has to be between 0 and 1, but got %g", a.chance);
  if (a.mask && a.causal)
    return tt__compose_fail(c, TT_EVALUE,
                            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  if (a.mask && a.mask->dtype != TT_BOOL && !tt__is_float((tt_dtype)a.mask->dtype))
    return tt__compose_fail(c, TT_ETYPE,
                            "Expected attn_mask dtype to be bool or float or to match query dtype, but got %s",
                            tt__dtypes[a.mask->dtype].name);
  if (tt__arg_bool(c, f, 7, false) && !share_heads(c, &a)) return NULL;
  if (!meet(c, &a) || !draw_key(c, f, &a)) return NULL;
  return is_for_products(&a) || (a.key && a.mask) ? spelled(c, &a) : by_row(c, &a);
}
TT_HANDLER(scaled_dot_product_attention)
