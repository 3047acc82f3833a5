/*
** Sums, means and largest elements of bags of rows of a table. Bags are laid side by side, the shorter ones filled up
** with rows that do not count.
*/
#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "fn/nn/nn.h"

/* input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights,
 * include_last_offset, padding_idx */
enum { INPUT, WEIGHT, OFFSETS, MAX_NORM, BY_FREQUENCY = 5, MODE, SPARSE, FACTORS, LAST, PADDING };

typedef enum way { SUM, MEAN, LARGEST } way;

typedef struct bags {
  way how;
  int64_t n, longest;
  int64_t *first, *count; /* of each bag, in the input */
  tt_array *row, *from,
      *part; /* [bags, longest]: which row, which element of the input, and whether, or how much, it counts */
} bags;

static bool read_mode(tt_composer *c, const tt_call_frame *f, way *how) {
  static const char *const words[] = {"sum", "mean", "max"};
  const char *mode = tt__arg_string(c, f, MODE, "mean");
  for (int k = 0; k < 3 && c->code == TT_OK; k++)
    if (strcmp(mode, words[k]) == 0) return *how = (way)k, true;
  return tt__compose_fail(c, TT_EVALUE, "mode has to be one of sum, mean or max"), false;
}

/* Where bags begin and how long they are: rows of a matrix, or parts of a vector. */
static bool measure(tt_composer *c, const tt_call_frame *f, tt_array *x, bags *b) {
  const int64_t *data = NULL;
  bool vector = x->rank == 1, given = tt__arg_given(f, OFFSETS);
  tt_array *offsets = given ? tt__arg_array(c, f, OFFSETS) : NULL;
  if (!vector && x->rank != 2)
    return tt__compose_fail(c, TT_EVALUE, "input has to be 1D or 2D Tensor, but got Tensor of dimension %d", x->rank),
           false;
  if (!vector && given)
    return tt__compose_fail(c, TT_EVALUE,
                            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                            "length sequences."),
           false;
  if (vector && (!offsets || offsets->rank != 1 || !tt__is_int((tt_dtype)offsets->dtype)))
    return tt__compose_fail(c, TT_EVALUE, "offsets has to be a 1D Tensor of whole numbers"), false;
  if (vector && !(data = tt__compose_peek(c, tt__compose_cast(c, offsets, TT_I64)))) return false;
  bool last = vector && tt__arg_bool(c, f, LAST, false);
  if (last && offsets->size == 0)
    return tt__compose_fail(c, TT_EVALUE, "include_last_offset: number of offsets should be at least 1"), false;
  b->n = vector ? offsets->size - last : tt__array_len(x)[0];
  b->first = tt__compose_scratch(c, b->n + 1, sizeof *b->first);
  b->count = tt__compose_scratch(c, b->n + 1, sizeof *b->count);
  if (!b->first || !b->count) return false;
  for (int64_t i = 0; i < b->n; i++) {
    int64_t per = vector ? 0 : tt__array_len(x)[1], end = vector && i + 1 < offsets->size ? data[i + 1] : x->size;
    b->first[i] = vector ? data[i] : i * per;
    b->count[i] = vector ? end - data[i] : per;
    if (i == 0 && vector && data[0] != 0)
      return tt__compose_fail(c, TT_EVALUE,
                              "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                              "position 0. However, got %lld",
                              (long long)data[0]),
             false;
    if (b->count[i] < 0 || end > x->size)
      return tt__compose_fail(c, TT_EVALUE,
                              "offsets[-1] can not be greater than input's length(%lld), and offsets do not fall; bag "
                              "%lld is from %lld to %lld",
                              (long long)x->size, (long long)i, (long long)b->first[i], (long long)end),
             false;
    b->longest = tt__max64(b->longest, b->count[i]);
  }
  return true;
}

static bool check_row(tt_composer *c, int64_t row, int64_t at, int64_t n) {
  if (row >= 0 && row < n) return true;
  tt__compose_fail(c, TT_EINDEX,
                   "Expected idx >= 0 && idx < num_embeddings but found idx to be %lld at position %lld of %lld rows",
                   (long long)row, (long long)at, (long long)n);
  return false;
}

/* Lay the bags side by side; `idle`: a row that does not count, or -1. */
static bool fill(tt_composer *c, tt_array *x, tt_dtype t, int64_t rows, int64_t idle, bags *b) {
  const int64_t *data = tt__compose_peek(c, tt__compose_cast(c, x, TT_I64));
  int64_t len[2] = {b->n, b->longest = tt__max64(b->longest, 1)};
  void *row, *from, *part;
  b->row = tt__compose_block(c, TT_I64, 2, len, &row);
  b->from = tt__compose_block(c, TT_I64, 2, len, &from);
  b->part = tt__compose_block(c, t, 2, len, &part);
  if (!data || !b->row || !b->from || !b->part) return false;
  for (int64_t i = 0; i < b->n; i++) {
    int64_t counted = 0;
    for (int64_t k = 0; k < b->count[i]; k++) {
      if (!check_row(c, data[b->first[i] + k], b->first[i] + k, rows)) return false;
      counted += data[b->first[i] + k] != idle;
    }
    for (int64_t k = 0; k < b->longest; k++) {
      int64_t at = k < b->count[i] ? b->first[i] + k : 0, to = i * b->longest + k;
      bool counts = k < b->count[i] && data[at] != idle;
      double share = !counts ? 0 : b->how == MEAN ? 1 / (double)counted : 1;
      ((int64_t *)row)[to] = counts ? data[at] : 0;
      ((int64_t *)from)[to] = at;
      if (t == TT_F64)
        ((double *)part)[to] = share;
      else
        ((float *)part)[to] = (float)share;
    }
  }
  return true;
}

/* The largest of what counts; 0 of nothing. */
static tt_array *largest(tt_composer *c, tt_array *rows, tt_array *part) {
  tt_array *counts = tt__compose_opi(c, TT_NE, part, 0);
  tt_array *any = tt__compose_reduce(c, TT_RED_ANY, counts, 2, false);
  tt_array *some =
      counts ? tt__compose_where(c, tt__compose_expand(c, counts, 2), tt_v_array(rows), tt_v_float(-INFINITY)) : NULL;
  some = tt__compose_reduce(c, TT_RED_MAX, some, 2, false);
  return some && any ? tt__compose_where(c, tt__compose_expand(c, any, 1), tt_v_array(some), tt_v_int(0)) : NULL;
}

static tt_array *factors(tt_composer *c, const tt_call_frame *f, tt_array *x, const bags *b, tt_dtype t) {
  if (!tt__arg_given(f, FACTORS)) return b->part;
  tt_array *by = tt__arg_array(c, f, FACTORS);
  if (!by) return NULL;
  if (by->rank != x->rank || memcmp(tt__array_len(by), tt__array_len(x), sizeof(int64_t) * (size_t)x->rank) != 0)
    return tt__compose_fail(
        c, TT_EVALUE,
        "embedding_bag: If per_sample_weights is not None, then it must have the same shape as the input");
  if (b->how != SUM)
    return tt__compose_fail(
        c, TT_ENOTIMPL,
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum'");
  int64_t all = by->size;
  by = tt__compose_take(c, tt__compose_reshape(c, tt__compose_cast(c, by, t), 1, &all), b->from, 0);
  return tt__compose_op2(c, TT_MUL, b->part, by);
}

static tt_array *nn_embedding_bag(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, INPUT), *given = tt__arg_array(c, f, WEIGHT),
           *w = tt__nn_floats(c, given, "embedding_bag");
  bags b = {.n = 0};
  if (!x || !w || !read_mode(c, f, &b.how)) return NULL;
  if (!tt__is_int((tt_dtype)x->dtype))
    return tt__compose_fail(c, TT_ETYPE,
                            "Expected tensor for argument #1 'indices' to have an integer type; but got %s",
                            tt__dtypes[x->dtype].name);
  if (w->rank != 2) return tt__compose_fail(c, TT_EVALUE, "'weight' must be 2-D");
  if (tt__arg_given(f, MAX_NORM) || tt__arg_bool(c, f, BY_FREQUENCY, false) || tt__arg_bool(c, f, SPARSE, false))
    return tt__compose_fail(c, TT_ENOTIMPL,
                            "embedding_bag: max_norm, scale_grad_by_freq and sparse are not implemented");
  int64_t rows = tt__array_len(w)[0], idle = tt__arg_int(c, f, PADDING, -1);
  if (tt__arg_given(f, PADDING) && (idle < -rows || idle >= rows))
    return tt__compose_fail(c, TT_EVALUE, "padding_idx must be within the number of embeddings");
  if (tt__arg_given(f, PADDING) && idle < 0) idle += rows;
  if (c->code != TT_OK || !measure(c, f, x, &b)) return NULL;
  int64_t none[2] = {b.n, tt__array_len(w)[1]};
  if (x->size == 0) return tt__compose_full(c, (tt_dtype)given->dtype, 2, none, tt_v_int(0));
  if (!fill(c, x, (tt_dtype)w->dtype, rows, idle, &b)) return NULL;
  tt_array *by = factors(c, f, x, &b, (tt_dtype)w->dtype), *all = by ? tt__compose_take(c, w, b.row, 0) : NULL;
  if (!all) return NULL;
  if (b.how == LARGEST) return tt__nn_result(c, f, largest(c, all, b.part), given, -1);
  all = tt__compose_op2(c, TT_MUL, all, tt__compose_expand(c, by, 2));
  return tt__nn_result(c, f, tt__compose_reduce(c, TT_RED_SUM, all, 2, false), given, -1);
}
TT_HANDLER(nn_embedding_bag)
