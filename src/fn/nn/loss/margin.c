/*
** Losses of classes by margins: how far what belongs to a target must be above what does not. As in classes.c what a
** target picks is found by comparison.
*/
#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"

/* What is above 0, which ends there with slope 0. */
static tt_array *above_zero(tt_composer *c, tt_array *a) {
  tt_array *above = tt__compose_opi(c, TT_GT, a, 0);
  return above ? tt__compose_where(c, above, tt_v_array(a), tt_v_int(0)) : NULL;
}

/* Rows of classes: [images, classes], of one image [1, classes]. NULL: another rank, or no classes. */
static tt_array *rows_of(tt_composer *c, tt_array *x, const char *name) {
  if (!x) return NULL;
  bool fits = (x->rank == 1 || x->rank == 2) && tt__array_len(x)[x->rank - 1] > 0;
  char shape[160];
  tt__window_shape(x->rank, tt__array_len(x), shape, sizeof shape);
  if (!fits)
    return tt__compose_fail(c, TT_EVALUE,
                            "%s: Expected non-empty vector or matrix with optional 0-dim batch size, but got: %s", name,
                            shape);
  return x->rank == 1 ? tt__compose_expand(c, x, 0) : x;
}

/* Losses of images: one number, or as many as there were images. */
static tt_array *by_image(tt_composer *c, tt_array *each, bool single, tt_nn_reduction how, tt_dtype t) {
  if (each && single && how == TT_NN_EACH) each = tt__compose_reshape(c, each, 0, NULL);
  return tt__nn_reduced(c, each, how, t);
}

/* A class for each image, in range. */
static tt_array *classes(tt_composer *c, const tt_call_frame *f, tt_array *rows, bool single) {
  tt_array *y = tt__arg_array(c, f, 1);
  if (!y) return NULL;
  if (!tt__is_int((tt_dtype)y->dtype))
    return tt__compose_fail(c, TT_ETYPE, "expected scalar type Long but found %s", tt__dtypes[y->dtype].name);
  int64_t images = tt__array_len(rows)[0], n = tt__array_len(rows)[1];
  char shape[160];
  tt__window_shape(y->rank, tt__array_len(y), shape, sizeof shape);
  if (y->rank > 1 || (y->rank == 0 && !single) || y->size != images)
    return tt__compose_fail(c, TT_EVALUE, "inconsistent target size, expected %lld but got %s", (long long)images,
                            shape);
  y = tt__compose_cast(c, tt__compose_reshape(c, y, 1, &images), TT_I64);
  const int64_t *data = tt__compose_peek(c, y);
  for (int64_t i = 0; data && i < images; i++)
    if (data[i] < 0 || data[i] >= n)
      return tt__compose_fail(c, TT_EINDEX, "target out of range: class %lld in row %lld, of %lld classes",
                              (long long)data[i], (long long)i, (long long)n);
  return data ? y : NULL;
}

/* input [images, classes] or [classes], target, p, margin, weight, size_average, reduce, reduction */
static tt_array *nn_multi_margin_loss(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "multi_margin_loss");
  double p = tt__arg_float(c, f, 2, 1), margin = tt__arg_float(c, f, 3, 1);
  tt_nn_reduction how = tt__nn_reduction(c, f, 5, 7);
  if (!x || c->code != TT_OK || !(x = rows_of(c, x, "multi_margin_loss"))) return NULL;
  if (p != 1 && p != 2) return tt__compose_fail(c, TT_EVALUE, "only p == 1 and p == 2 supported");
  bool single = given->rank == 1;
  int64_t n = tt__array_len(x)[1];
  tt_array *y = classes(c, f, x, single);
  tt_array *is = tt__compose_op2(c, TT_EQ, tt__compose_expand(c, y, 1), tt__compose_iota(c, n));
  if (!is) return NULL;
  tt_array *own = tt__compose_reduce(c, TT_RED_SUM, tt__compose_where(c, is, tt_v_array(x), tt_v_int(0)), 2, true);
  tt_array *less = tt__compose_opf(c, TT_ADD, tt__compose_op2(c, TT_SUB, x, own), margin), *miss = above_zero(c, less);
  if (p == 2) miss = tt__compose_op1(c, TT_SQUARE, miss);
  if (tt__arg_given(f, 4)) {
    tt_array *w = tt__compose_cast(c, tt__arg_array(c, f, 4), (tt_dtype)x->dtype);
    if (w && (w->rank != 1 || w->size != n))
      return tt__compose_fail(c, TT_EVALUE, "inconsistent weight size, expected %lld but got %lld", (long long)n,
                              (long long)w->size);
    miss = tt__compose_op2(c, TT_MUL, miss, tt__compose_expand(c, tt__compose_take(c, w, y, 0), 1));
  }
  if (!miss) return NULL;
  tt_array *each = tt__compose_reduce(c, TT_RED_SUM, tt__compose_where(c, is, tt_v_int(0), tt_v_array(miss)), 2, false);
  return by_image(c, tt__compose_opf(c, TT_DIV, each, (double)n), single, how, (tt_dtype)given->dtype);
}
TT_HANDLER(nn_multi_margin_loss)

/* Labels of images, each row up to its first -1: the class at each place (0 where there is none), whether there is one,
 * and which classes are among them. */
typedef struct labels {
  tt_array *at, *there, *is;
} labels;

static bool read_labels(tt_composer *c, const tt_call_frame *f, tt_array *x, int rank, labels *l) {
  tt_array *y = tt__arg_array(c, f, 1);
  const int64_t *len = tt__array_len(x);
  if (!y) return false;
  if (!tt__is_int((tt_dtype)y->dtype))
    return tt__compose_fail(c, TT_ETYPE, "expected scalar type Long but found %s", tt__dtypes[y->dtype].name), false;
  if (y->rank != rank || y->size != x->size || (rank == 2 && tt__array_len(y)[0] != len[0]))
    return tt__compose_fail(c, TT_EVALUE, "inconsistent target size for a multi-label margin loss"), false;
  void *at, *there, *is;
  const int64_t *data = tt__compose_peek(c, tt__compose_cast(c, y, TT_I64));
  l->at = tt__compose_block(c, TT_I64, 2, len, &at);
  l->there = tt__compose_block(c, TT_BOOL, 2, len, &there);
  l->is = tt__compose_block(c, TT_BOOL, 2, len, &is);
  if (!data || !l->at || !l->there || !l->is) return false;
  for (int64_t i = 0; i < x->size; i++) ((bool *)is)[i] = false;
  for (int64_t i = 0; i < len[0]; i++) {
    bool more = true;
    for (int64_t k = i * len[1]; k < (i + 1) * len[1]; k++) {
      more = more && data[k] >= 0;
      ((bool *)there)[k] = more;
      ((int64_t *)at)[k] = more ? data[k] : 0;
      if (data[k] < -1 || data[k] >= len[1])
        return tt__compose_fail(c, TT_EINDEX, "argument #2 'target' is out of range: class %lld in row %lld",
                                (long long)data[k], (long long)i),
               false;
      if (more) ((bool *)is)[i * len[1] + data[k]] = true;
    }
  }
  return true;
}

/* input [images, classes] or [classes], target (classes, then -1), size_average, reduce, reduction */
static tt_array *nn_multilabel_margin_loss(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "multilabel_margin_loss");
  tt_nn_reduction how = tt__nn_reduction(c, f, 2, 4);
  labels l;
  if (!x || c->code != TT_OK || !(x = rows_of(c, x, "multilabel_margin_loss")) ||
      !read_labels(c, f, x, given->rank, &l))
    return NULL;
  /* [images, labels, classes]: each label against each class that is none */
  tt_array *own = tt__compose_expand(c, tt__compose_take_lines(c, x, l.at, 1, false), 2);
  tt_array *less = tt__compose_opi(c, TT_ADD, tt__compose_op2(c, TT_SUB, tt__compose_expand(c, x, 1), own), 1);
  tt_array *other = tt__compose_op1(c, TT_NOT, tt__compose_expand(c, l.is, 1));
  tt_array *counts = tt__compose_op2(c, TT_AND, tt__compose_expand(c, l.there, 2), other), *miss = above_zero(c, less);
  if (!counts || !miss) return NULL;
  miss = tt__compose_where(c, counts, tt_v_array(miss), tt_v_int(0));
  tt_array *each = tt__compose_reduce(c, TT_RED_SUM, miss, 6, false);
  each = tt__compose_opf(c, TT_DIV, each, (double)tt__array_len(x)[1]);
  return by_image(c, each, given->rank == 1, how, (tt_dtype)given->dtype);
}
TT_HANDLER(nn_multilabel_margin_loss)

/* input, target (0 or 1), weight, size_average, reduce, reduction: the mean over classes, the last axis. */
static tt_array *nn_multilabel_soft_margin_loss(tt_composer *c, tt_call_frame *f) {
  tt_array *a[2];
  tt_dtype t;
  tt_nn_reduction how = tt__nn_reduction(c, f, 3, 5);
  if (!tt__nn_meet(c, f, "multilabel_soft_margin_loss", 2, a, &t) || c->code != TT_OK) return NULL;
  if (a[0]->rank == 0)
    return tt__compose_fail(c, TT_EVALUE, "multilabel_soft_margin_loss: there is no axis of classes");
  tt_array *yes = tt__compose_op1(c, TT_LOG_EXPIT, a[0]);
  tt_array *no = tt__compose_op1(c, TT_LOG_EXPIT, tt__compose_op1(c, TT_NEG, a[0]));
  tt_array *rest = tt__compose_op2(c, TT_MUL, tt__compose_opi(c, TT_SUB, a[1], 1), no);
  tt_array *each = tt__compose_op2(c, TT_SUB, rest, tt__compose_op2(c, TT_MUL, a[1], yes));
  each = tt__nn_weighted(c, f, 2, each);
  if (!each) return NULL;
  int last = each->rank - 1;
  int64_t n = tt__array_len(each)[last];
  each = tt__compose_reduce(c, TT_RED_SUM, each, UINT64_C(1) << last, false);
  return tt__nn_reduced(c, tt__compose_opf(c, TT_DIV, each, (double)n), how, t);
}
TT_HANDLER(nn_multilabel_soft_margin_loss)
