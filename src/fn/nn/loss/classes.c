/*
** Losses of classes: cross entropy and negative log likelihood. What a target picks is found by comparison, as part of
** the pass over all classes that softmax makes anyway: nothing is gathered, and no gradient scattered.
*/
#include <math.h>
#include <string.h>

#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"

/* input [images, classes, ...] or [classes], target [images, ...] of classes, or as input of chances */
typedef struct classed {
  const char *name;
  tt_array *x, *target, *weight; /* the weight lies along the axis of classes, or is NULL */
  tt_dtype type;
  int axis;
  int64_t n; /* classes */
  int64_t ignored;
  bool unseen; /* nobody has looked whether each target is a class */
  double smoothing;
  tt_nn_reduction how;
} classed;

static bool fail_shapes(tt_composer *c, const classed *k) {
  char x[160], y[160];
  tt__window_shape(k->x->rank, tt__array_len(k->x), x, sizeof x);
  tt__window_shape(k->target->rank, tt__array_len(k->target), y, sizeof y);
  if (k->x->rank >= 1 && k->x->rank <= 2 && k->target->rank <= 1 && k->target->rank == k->x->rank - 1)
    tt__compose_fail(c, TT_EVALUE, "Expected input batch_size (%lld) to match target batch_size (%lld).",
                     (long long)tt__array_len(k->x)[0], (long long)tt__array_len(k->target)[0]);
  else
    tt__compose_fail(c, TT_EVALUE, "%s: the target's shape %s does not fit the input's, %s", k->name, y, x);
  return false;
}

/*
** Each target is a class, or the ignored one. What was computed on a device is not looked at: each step of a training
** would wait for it. There a target out of range makes its loss NaN.
*/
static bool check_targets(tt_composer *c, classed *k) {
  if (!tt__is_int((tt_dtype)k->target->dtype)) {
    tt__compose_fail(c, TT_ETYPE, "expected scalar type Long but found %s", tt__dtypes[k->target->dtype].name);
    return false;
  }
  bool fits = k->target->rank == k->x->rank - 1;
  for (int d = 0; fits && d < k->target->rank; d++)
    fits = tt__array_len(k->target)[d] == tt__array_len(k->x)[d + (d >= k->axis)];
  if (!fits) return fail_shapes(c, k);
  k->unseen = !tt__compose_at_hand(k->target);
  k->target = tt__compose_cast(c, k->target, TT_I64);
  if (k->unseen) return k->target != NULL;
  const int64_t *data = tt__compose_peek(c, k->target);
  for (int64_t i = 0; data && i < k->target->size; i++) {
    if ((data[i] >= 0 && data[i] < k->n) || data[i] == k->ignored) continue;
    tt__compose_fail(c, TT_EINDEX, "Target %lld is out of bounds. (row %lld, %lld classes)", (long long)data[i],
                     (long long)i, (long long)k->n);
    return false;
  }
  return data != NULL;
}

static bool read_weight(tt_composer *c, const tt_call_frame *f, classed *k) {
  if (!tt__arg_given(f, 2)) return c->code == TT_OK;
  tt_array *w = tt__arg_array(c, f, 2);
  if (!w) return false;
  if (w->rank != 1 || w->size != k->n) {
    char shape[160];
    tt__window_shape(w->rank, tt__array_len(w), shape, sizeof shape);
    tt__compose_fail(
        c, TT_EVALUE,
        "weight tensor should be defined either for all %lld classes or no classes but got weight tensor of "
        "shape: %s",
        (long long)k->n, shape);
    return false;
  }
  k->weight = tt__nn_along(c, tt__compose_cast(c, w, (tt_dtype)k->x->dtype), k->x->rank, k->axis);
  return k->weight != NULL;
}

/* input, target, weight, size_average, ignore_index, reduce, reduction, (label_smoothing) */
static bool read_classed(tt_composer *c, const tt_call_frame *f, classed *k) {
  tt_array *x = tt__arg_array(c, f, 0);
  k->target = tt__arg_array(c, f, 1);
  k->ignored = tt__arg_int(c, f, 4, -100);
  if (!x || !k->target || c->code != TT_OK) return false;
  if (x->rank == 0) return fail_shapes(c, (k->x = x, k));
  k->type = (tt_dtype)x->dtype;
  k->axis = x->rank == 1 ? 0 : 1;
  k->n = tt__array_len(x)[k->axis];
  k->x = tt__nn_floats(c, x, k->name);
  if (tt__arg_given(f, 3) || tt__arg_given(f, 5)) { /* size_average and reduce are not side by side here */
    bool mean = tt__arg_bool(c, f, 3, true), some = tt__arg_bool(c, f, 5, true);
    k->how = !some ? TT_NN_EACH : mean ? TT_NN_MEAN : TT_NN_SUM;
  } else {
    k->how = tt__nn_reduction(c, f, -1, 6);
  }
  return k->x && read_weight(c, f, k);
}

/* Of each target's class what `a` has there; 0 where there is none. The axis of classes goes. */
static tt_array *at_target(tt_composer *c, const classed *k, tt_array *a) {
  tt_array *all = tt__nn_along(c, tt__compose_iota(c, k->n), k->x->rank, k->axis);
  tt_array *is = tt__compose_op2(c, TT_EQ, all, tt__compose_expand(c, k->target, k->axis));
  tt_array *there = is && a ? tt__compose_where(c, is, tt_v_array(a), tt_v_int(0)) : NULL;
  return tt__compose_reduce(c, TT_RED_SUM, there, UINT64_C(1) << k->axis, false);
}

/* 0 where the target is ignored. */
static tt_array *counted(tt_composer *c, const classed *k, tt_array *a) {
  tt_array *gone = tt__compose_opi(c, TT_EQ, k->target, k->ignored);
  return gone && a ? tt__compose_where(c, gone, tt_v_int(0), tt_v_array(a)) : NULL;
}

/* NaN where the target is no class. */
static tt_array *of_classes(tt_composer *c, const classed *k, tt_array *a) {
  tt_array *below = tt__compose_opi(c, TT_LT, k->target, 0), *above = tt__compose_opi(c, TT_GE, k->target, k->n);
  tt_array *none = tt__compose_op2(c, TT_OR, below, above);
  return none && a ? tt__compose_where(c, none, tt_v_float(NAN), tt_v_array(a)) : NULL;
}

/* How much each target counts: its class's weight, or 1; 0 if it is ignored. */
static tt_array *shares(tt_composer *c, const classed *k) {
  if (k->weight) return counted(c, k, at_target(c, k, k->weight));
  return tt__compose_cast(c, tt__compose_opi(c, TT_NE, k->target, k->ignored), (tt_dtype)k->x->dtype);
}

static tt_array *total(tt_composer *c, tt_array *a) {
  return a && a->rank > 0 ? tt__compose_reduce(c, TT_RED_SUM, a, ~UINT64_C(0) >> (64 - a->rank), false) : a;
}

/* Losses by class; `log` is of chances. A mean is over what counts. */
static tt_array *by_class(tt_composer *c, const classed *k, tt_array *log) {
  if (!log) return NULL;
  tt_array *share = shares(c, k),
           *each = tt__compose_op2(c, TT_MUL, tt__compose_op1(c, TT_NEG, at_target(c, k, log)), share);
  if (k->unseen) each = of_classes(c, k, each);
  /* a chance of 0 costs infinity, but nothing where it does not count */
  each = counted(c, k, each);
  if (k->smoothing > 0) {
    tt_array *all = k->weight ? tt__compose_op2(c, TT_MUL, log, k->weight) : log;
    all = counted(c, k, tt__compose_reduce(c, TT_RED_SUM, all, UINT64_C(1) << k->axis, false));
    each = tt__compose_op2(c, TT_SUB, tt__compose_opf(c, TT_MUL, each, 1 - k->smoothing),
                           tt__compose_opf(c, TT_MUL, all, k->smoothing / (double)k->n));
  }
  if (k->how != TT_NN_MEAN) return tt__nn_reduced(c, each, k->how, k->type);
  return tt__compose_cast(c, tt__compose_op2(c, TT_DIV, total(c, each), total(c, share)), k->type);
}

static tt_array *nn_nll_loss(tt_composer *c, tt_call_frame *f) {
  classed k = {.name = "nll_loss"};
  return read_classed(c, f, &k) && check_targets(c, &k) ? by_class(c, &k, k.x) : NULL;
}
TT_HANDLER(nn_nll_loss)

/* The target has a chance for each class. */
static tt_array *by_chances(tt_composer *c, const classed *k, tt_array *log) {
  tt_array *y = tt__compose_cast(c, k->target, (tt_dtype)k->x->dtype);
  if (k->smoothing > 0)
    y = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, y, 1 - k->smoothing), k->smoothing / (double)k->n);
  if (k->weight) y = tt__compose_op2(c, TT_MUL, y, k->weight);
  tt_array *both = tt__compose_op2(c, TT_MUL, log, y);
  tt_array *sum = tt__compose_reduce(c, TT_RED_SUM, both, UINT64_C(1) << k->axis, false);
  return tt__nn_reduced(c, tt__compose_op1(c, TT_NEG, sum), k->how, k->type);
}

static tt_array *nn_cross_entropy(tt_composer *c, tt_call_frame *f) {
  classed k = {.name = "cross_entropy", .smoothing = tt__arg_float(c, f, 7, 0)};
  if (!read_classed(c, f, &k)) return NULL;
  if (!(k.smoothing >= 0 && k.smoothing <= 1))
    return tt__compose_fail(c, TT_EVALUE, "label_smoothing must be between 0.0 and 1.0. Got: %g", k.smoothing);
  bool chances = k.target->rank == k.x->rank && tt__is_float((tt_dtype)k.target->dtype) &&
                 memcmp(tt__array_len(k.target), tt__array_len(k.x), sizeof(int64_t) * (size_t)k.x->rank) == 0;
  if (!chances && !check_targets(c, &k)) return NULL;
  tt_array *log = tt__nn_log_softmax(c, k.x, k.axis);
  return chances ? by_chances(c, &k, log) : by_class(c, &k, log);
}
TT_HANDLER(nn_cross_entropy)

/* input [..., n], linear_weight [classes, ..., n], target, linear_bias, weight, reduction, ignore_index,
 * label_smoothing, options: cross entropy of a product. */
static tt_array *nn_linear_cross_entropy(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0), *w = tt__arg_array(c, f, 1), *b = NULL;
  if (tt__arg_given(f, 3)) b = tt__arg_array(c, f, 3);
  if (!x || !w || c->code != TT_OK) return NULL;
  if (tt__arg_given(f, 8)) return tt__compose_fail(c, TT_ENOTIMPL, "linear_cross_entropy: options are not implemented");
  if (x->rank < 1 || w->rank < 2 || x->rank - 1 + w->rank - 1 > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE,
                            "linear_cross_entropy: expected an input of 1 or more axes and a weight of 2 or more");
  int64_t n = tt__array_len(w)[w->rank - 1], flat[2] = {n ? w->size / n : 0, n}, len[TT_MAX_RANK];
  w = tt__compose_reshape(c, w, 2, flat);
  if (b) b = tt__compose_reshape(c, b, 1, flat);
  if (!w || c->code != TT_OK) return NULL;
  const tt_value product[] = {tt_v_array(x), tt_v_array(w), b ? tt_v_array(b) : (tt_value){.tag = TT_V_NONE}};
  tt_array *y = tt__fn_call(c, "nn.functional.linear", product, 3);
  tt_array *own = f->arg[1].as.array;
  int lead = x->rank - 1, more = own->rank - 1;
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)lead);
  memcpy(len + lead, tt__array_len(own), sizeof *len * (size_t)more);
  y = tt__compose_reshape(c, y, lead + more, len);
  const tt_value missing = {.tag = TT_V_MISSING};
  const tt_value arg[] = {tt_v_array(y), f->arg[2], f->arg[4], missing, tt__arg_given(f, 6) ? f->arg[6] : missing,
                          missing,       f->arg[5], f->arg[7]};
  return y ? tt__fn_call(c, "nn.functional.cross_entropy", arg, 8) : NULL;
}
TT_HANDLER(nn_linear_cross_entropy)
