/*
** Products with weights, and rows of a table: linear, bilinear, embedding, one_hot.
*/
#include <string.h>

#include "fn/grad/leaf.h"
#include "fn/linalg/matrix.h"
#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"
#include "graph/eager/compute.h"
#include "graph/eager/product.h"
#include "graph/session.h"
#include "graph/tape.h"

static bool same_type(tt_composer *c, const tt_array *a, const tt_array *b) {
  if (a->dtype == b->dtype) return true;
  tt__compose_fail(c, TT_ETYPE, "expected m1 and m2 to have the same dtype, but got: %s != %s",
                   tt__dtypes[a->dtype].name, tt__dtypes[b->dtype].name);
  return false;
}

/*
** Few rows at hand are multiplied at the call. Product and bias then have one entry of the tape, where the spelling
** has four; the weight's view keeps its own, at which cotangents of higher orders meet. NULL without a failure: they
** are not at hand.
*/
static tt_array *linear_at_hand(tt_composer *c, tt_array *x, tt_array *w, tt_array *b) {
  if (x->rank != 2 || w->rank != 2 || !tt__nn_is_whole(x) || !tt__nn_is_whole(w)) return NULL;
  int64_t rows = tt__array_len(x)[0], out = tt__array_len(w)[0];
  if (!tt__eager_few(rows * out) || (b && (b->rank != 1 || tt__array_len(b)[0] != out || !tt__nn_is_whole(b))))
    return NULL;
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *turned = tt__compose_swap(c, w), *y = turned ? tt__eager_product(x, turned) : NULL,
           *src[3] = {x, turned, b};
  if (y) y = tt__compose_keep(c, TT_OK, &y);
  if (y && b) y = tt__compose_op2(c, TT_ADD, y, b);
  tt__session_tape = before;
  return tt__compose_derived(c, "linear", src, b ? 3 : 2, y);
}

/* input [..., in], weight [out, in] or [in], bias [out] */
static tt_array *nn_linear(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *w = tt__arg_array(c, f, 1);
  tt_array *b = tt__arg_given(f, 2) ? tt__arg_array(c, f, 2) : NULL;
  if (!x || !w || c->code != TT_OK || !same_type(c, x, w) || (b && !same_type(c, x, b))) return NULL;
  bool fits = x->rank > 0 && w->rank > 0 && w->rank <= 2;
  int64_t n = fits ? tt__array_len(x)[x->rank - 1] : 0;
  if (!fits || tt__array_len(w)[w->rank - 1] != n) {
    int64_t rows = fits && n ? x->size / n : 0;
    if (!fits || w->rank == 1)
      return tt__compose_fail(c, TT_EVALUE, "linear: the last axes of input and weight do not agree");
    return tt__compose_fail(c, TT_EVALUE, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                            (long long)rows, (long long)n, (long long)tt__array_len(w)[1],
                            (long long)tt__array_len(w)[0]);
  }
  tt_array *y = tt__session_tape ? linear_at_hand(c, x, w, b) : NULL;
  if (y || c->code != TT_OK) return y;
  y = tt__compose_matmul(c, x, w->rank == 2 ? tt__compose_swap(c, w) : w);
  return b ? tt__compose_op2(c, TT_ADD, y, b) : y;
}
TT_HANDLER(nn_linear)

/* input1 [..., n], input2 [..., m], weight [out, n, m], bias [out]: each output is a form of both. */
static tt_array *nn_bilinear(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *y = tt__arg_array(c, f, 1), *w = tt__arg_array(c, f, 2);
  tt_array *b = tt__arg_given(f, 3) ? tt__arg_array(c, f, 3) : NULL;
  if (!x || !y || !w || c->code != TT_OK) return NULL;
  bool fits = x->rank > 0 && x->rank == y->rank && w->rank == 3 &&
              memcmp(tt__array_len(x), tt__array_len(y), sizeof(int64_t) * (size_t)(x->rank - 1)) == 0;
  if (!fits) return tt__compose_fail(c, TT_EVALUE, "bilinear(): input batch dimensions do not match");
  const int64_t *own = tt__array_len(w), n = tt__array_len(x)[x->rank - 1], m = tt__array_len(y)[y->rank - 1];
  if (own[1] != n || own[2] != m)
    return tt__compose_fail(
        c, TT_EVALUE, "bilinear(): input%d size does not match weight size: got %lld but expected %lld",
        own[1] != n ? 1 : 2, (long long)(own[1] != n ? n : m), (long long)(own[1] != n ? own[1] : own[2]));
  if (!same_type(c, x, y) || !same_type(c, x, w)) return NULL;
  int64_t rows = n ? x->size / n : 0, flat[2] = {rows, n}, other[3] = {rows, 1, m}, wide[2] = {n, own[0] * m};
  int64_t parts[3] = {rows, own[0], m}, len[TT_MAX_RANK];
  static const int turn[3] = {1, 0, 2};
  tt_array *by = tt__compose_reshape(c, tt__compose_transpose(c, w, turn), 2, wide);
  tt_array *half = tt__compose_reshape(c, tt__compose_matmul(c, tt__compose_reshape(c, x, 2, flat), by), 3, parts);
  tt_array *both = tt__compose_op2(c, TT_MUL, half, tt__compose_reshape(c, y, 3, other));
  tt_array *out = tt__compose_sum(c, both, 4, false);
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)x->rank);
  len[x->rank - 1] = own[0];
  out = tt__compose_reshape(c, out, x->rank, len);
  return b && out ? tt__compose_op2(c, TT_ADD, out, b) : out;
}
TT_HANDLER(nn_bilinear)

/* ---- rows of a table */

/* Whole numbers in [0, n) as int64; `words` with two numbers say which one is not, and where. */
static tt_array *classes(tt_composer *c, tt_array *at, int64_t n, const char *words) {
  if (!at) return NULL;
  if (!tt__is_int((tt_dtype)at->dtype))
    return tt__compose_fail(c, TT_ETYPE,
                            "Expected tensor for argument #1 'indices' to have an integer type; but got %s",
                            tt__dtypes[at->dtype].name);
  at = tt__compose_cast(c, at, TT_I64);
  const int64_t *data = tt__compose_peek(c, at);
  for (int64_t i = 0; data && i < at->size; i++)
    if (data[i] < 0 || data[i] >= n)
      return tt__compose_fail(c, TT_EINDEX, words, (long long)data[i], (long long)i, (long long)n);
  return data ? at : NULL;
}

/* The rows no gradient goes to are read from a table without a history, all others from the table. */
static tt_array *without_slope(tt_composer *c, tt_array *w, int64_t row) {
  tt_array *at = tt__compose_opi(c, TT_EQ, tt__compose_iota(c, tt__array_len(w)[0]), row);
  tt_array *still = NULL;
  if (!at || !tt__compose_keep(c, tt__leaf_detach(w, &still, c->err), &still)) return NULL;
  return tt__compose_where(c, tt__compose_expand(c, at, 1), tt_v_array(still), tt_v_array(w));
}

/* Which rows of the table somebody asks for, [rows, 1], and how often. */
static tt_array *asked(tt_composer *c, tt_array *at, int64_t n) {
  int64_t all = at->size;
  const tt_value arg[] = {tt_v_array(tt__compose_reshape(c, at, 1, &all)), {.tag = TT_V_NONE}, tt_v_int(n)};
  tt_array *count = all ? tt__fn_call(c, "bincount", arg, 3) : NULL;
  return count ? tt__compose_expand(c, count, 1) : NULL;
}

/* The rows that are asked for, if they are longer than `most`, made as short, in the table itself; no part of any
 * history. */
static bool shorten(tt_composer *c, tt_array *w, tt_array *count, double most, double p) {
  bool before = tt__session_tape;
  tt__session_tape = false;
  const tt_value arg[] = {tt_v_array(w), tt_v_float(p), tt_v_int(1), {.tag = TT_V_BOOL, .as.b = true}};
  tt_array *length = tt__fn_call(c, "linalg.norm", arg, 4);
  tt_array *asked_for = tt__compose_opi(c, TT_GT, count, 0), *longer = tt__compose_opf(c, TT_GT, length, most);
  tt_array *by = tt__compose_opf(c, TT_ADD, length, 1e-7), *both = tt__compose_op2(c, TT_AND, asked_for, longer);
  by = by ? tt__compose_op2(c, TT_DIV, tt__compose_full(c, (tt_dtype)w->dtype, 0, NULL, tt_v_float(most)), by) : NULL;
  tt_array *less = tt__compose_op2(c, TT_MUL, w, by);
  less = both && less ? tt__compose_where(c, both, tt_v_array(less), tt_v_array(w)) : NULL;
  bool ok = less && tt__compose_set(c, w, tt_v_array(less));
  tt__session_tape = before;
  return ok;
}

/* Rows whose slope is divided by how often they are asked for: the same values. */
static tt_array *by_frequency(tt_composer *c, tt_array *w, tt_array *at, tt_array *count) {
  tt_array *still = NULL;
  if (!tt__compose_keep(c, tt__leaf_detach(w, &still, c->err), &still)) return NULL;
  tt_array *rows = tt__compose_take(c, w, at, 0), *plain = tt__compose_take(c, still, at, 0);
  tt_array *often = tt__compose_cast(c, tt__compose_take(c, count, at, 0), (tt_dtype)w->dtype);
  tt_array *part = tt__compose_op2(c, TT_DIV, tt__compose_op2(c, TT_SUB, rows, plain), often);
  return tt__compose_op2(c, TT_ADD, plain, part);
}

/* input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse */
static tt_array *nn_embedding(tt_composer *c, tt_call_frame *f) {
  tt_array *at = tt__arg_array(c, f, 0), *w = tt__arg_array(c, f, 1), *count = NULL;
  if (!at || !w) return NULL;
  if (w->rank != 2) return tt__compose_fail(c, TT_EVALUE, "'weight' must be 2-D");
  int64_t n = tt__array_len(w)[0], idle = tt__arg_int(c, f, 2, 0);
  double most = tt__arg_float(c, f, 3, 0), p = tt__arg_float(c, f, 4, 2);
  bool scaled = tt__arg_bool(c, f, 5, false);
  if (c->code != TT_OK) return NULL;
  if (tt__arg_bool(c, f, 6, false)) return tt__compose_fail(c, TT_ENOTIMPL, "embedding: there are no sparse gradients");
  if (tt__arg_given(f, 2) && (idle < -n || idle >= n))
    return tt__compose_fail(c, TT_EVALUE, "Padding_idx must be within num_embeddings");
  at = classes(c, at, n, "index out of range in self: index %lld at position %lld is out of bounds for %lld rows");
  if (!at) return NULL;
  if ((scaled || tt__arg_given(f, 3)) && at->size && !(count = asked(c, at, n))) return NULL;
  if (count && tt__arg_given(f, 3) && !shorten(c, w, count, most, p)) return NULL;
  if (tt__arg_given(f, 2)) w = without_slope(c, w, idle < 0 ? idle + n : idle);
  if (!w) return NULL;
  return scaled && count ? by_frequency(c, w, at, count) : tt__compose_take(c, w, at, 0);
}
TT_HANDLER(nn_embedding)

/* tensor, num_classes (-1: one more than the largest) */
static tt_array *nn_one_hot(tt_composer *c, tt_call_frame *f) {
  tt_array *at = tt__arg_array(c, f, 0);
  int64_t n = tt__arg_int(c, f, 1, -1), most = -1;
  if (!at || c->code != TT_OK) return NULL;
  if (!tt__is_int((tt_dtype)at->dtype))
    return tt__compose_fail(c, TT_ETYPE, "one_hot is only applicable to index tensor of type LongTensor.");
  if (n == 0 || n < -1 || (n == -1 && at->size == 0))
    return tt__compose_fail(c, TT_EVALUE,
                            at->size == 0 && n == -1 ? "Can not infer total number of classes from empty tensor."
                                                     : "num_classes should be positive");
  at = tt__compose_cast(c, at, TT_I64);
  const int64_t *data = tt__compose_peek(c, at);
  for (int64_t i = 0; data && i < at->size; i++) {
    if (data[i] < 0) return tt__compose_fail(c, TT_EVALUE, "Class values must be non-negative.");
    if (data[i] > most) most = data[i];
  }
  if (data && n >= 0 && most >= n)
    return tt__compose_fail(c, TT_EVALUE, "Class values must be smaller than num_classes.");
  tt_array *each = tt__compose_expand(c, at, at->rank), *all = tt__compose_iota(c, n < 0 ? most + 1 : n);
  return data ? tt__compose_cast(c, tt__compose_op2(c, TT_EQ, each, all), TT_I64) : NULL;
}
TT_HANDLER(nn_one_hot)
