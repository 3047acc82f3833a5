/*
** Losses between an input and a target, element by element, with PyTorch's parameters; halves are computed in float32.
*/
#include <string.h>

#include "fn/term.h"
#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"
#include "graph/eager/compute.h"
#include "graph/session.h"

/* ---- of one expression: x the input, y the target, a a number */

typedef struct loss {
  const char *name, *text;
  int before, how, weight; /* where size_average, reduction and a weight stand; -1: nowhere */
  int number;              /* where a stands; -1: nowhere */
  double otherwise;
  const tt_term *known;
} loss;

static tt_array *loss_of(tt_composer *c, tt_call_frame *f, loss *l) {
  tt_array *a[2];
  tt_dtype t;
  if (!tt__nn_meet(c, f, l->name, 2, a, &t)) return NULL;
  tt_nn_reduction how = tt__nn_reduction(c, f, l->before, l->how);
  double number = l->number >= 0 ? tt__arg_float(c, f, l->number, l->otherwise) : 0;
  if (c->code != TT_OK) return NULL;
  if (!l->known && !(l->known = tt__term_read(l->text))) return tt__compose_fail(c, TT_ENOMEM, "out of memory");
  tt_value y, value[TT_TERM_VALUES] = {
                  [TT_TERM_X] = tt_v_array(a[0]), [TT_TERM_Y] = tt_v_array(a[1]), [TT_TERM_A] = tt_v_float(number)};
  if (!tt__term_record(c, l->known, value, &y)) return NULL;
  return tt__nn_reduced(c, tt__nn_weighted(c, f, l->weight, y.as.array), how, t);
}

#define LOSS(function, ...)                                          \
  static tt_array *nn_##function(tt_composer *c, tt_call_frame *f) { \
    static loss l = {.name = #function, __VA_ARGS__};                \
    return loss_of(c, f, &l);                                        \
  }                                                                  \
  TT_HANDLER(nn_##function)

/*
** Few elements at hand: what follows the difference is done at the call and has one entry of the tape, where its
** spelling has three. At the difference cotangents of higher orders meet. NULL without a failure: they are not at hand.
*/
static tt_array *mse_at_hand(tt_composer *c, tt_call_frame *f, loss *l) {
  tt_array *x = tt__arg_array(c, f, 0), *y = tt__arg_array(c, f, 1);
  if (!x || !y || x->dtype != y->dtype || (x->dtype != TT_F32 && x->dtype != TT_F64)) return NULL;
  bool same = x->rank == y->rank && tt__shape_same(x->rank, tt__array_len(x), tt__array_len(y));
  if (!same || !x->size || !tt__eager_few(x->size) || tt__arg_given(f, l->weight)) return NULL;
  if (tt__nn_reduction(c, f, l->before, l->how) != TT_NN_MEAN) return NULL;
  tt_array *apart = tt__compose_op2(c, TT_SUB, x, y);
  if (!apart) return NULL;
  bool before = tt__session_tape, at_hand = apart->storage->node->op == TT_N_BUFFER && tt__nn_is_whole(apart);
  if (at_hand) tt__session_tape = false;
  tt_array *value = tt__nn_reduced(c, tt__compose_op1(c, TT_SQUARE, apart), TT_NN_MEAN, (tt_dtype)x->dtype);
  tt__session_tape = before;
  return at_hand ? tt__compose_derived(c, "mean_square", &apart, 1, value) : value;
}

/* input, target, size_average, reduce, reduction, weight */
static tt_array *nn_mse_loss(tt_composer *c, tt_call_frame *f) {
  static loss l = {.name = "mse_loss", .text = "square(x - y)", .before = 2, .how = 4, .weight = 5, .number = -1};
  tt_array *value = tt__session_tape ? mse_at_hand(c, f, &l) : NULL;
  return value || c->code != TT_OK ? value : loss_of(c, f, &l);
}
TT_HANDLER(nn_mse_loss)
LOSS(l1_loss, .text = "absolute(x - y)", .before = 2, .how = 4, .weight = 5, .number = -1)
/* input, target, reduction, delta, weight */
LOSS(huber_loss, .text = "where(absolute(x - y) <= a, 0.5 * square(x - y), a * (absolute(x - y) - 0.5 * a))",
     .before = -1, .how = 2, .weight = 4, .number = 3, .otherwise = 1)
/* input, target, size_average, reduce, reduction */
LOSS(soft_margin_loss, .text = "-log_expit(x * y)", .before = 2, .how = 4, .weight = -1, .number = -1)
/* input, target, margin, size_average, reduce, reduction */
LOSS(hinge_embedding_loss, .text = "where(y == 1, x, 0) + where(y == -1, where(x >= a, 0, a - x), 0)", .before = 3,
     .how = 5, .weight = -1, .number = 2, .otherwise = 1)
#define SMOOTH "where(absolute(x - y) < a, 0.5 * square(x - y) / a, absolute(x - y) - 0.5 * a)"

/* input, target, size_average, reduce, reduction, beta; a beta of 0 is l1_loss. */
static tt_array *nn_smooth_l1_loss(tt_composer *c, tt_call_frame *f) {
  static loss smooth = {.name = "smooth_l1_loss", .text = SMOOTH, .before = 2, .how = 4, .weight = -1, .number = 5};
  static loss plain = {
      .name = "smooth_l1_loss", .text = "absolute(x - y)", .before = 2, .how = 4, .weight = -1, .number = -1};
  smooth.otherwise = 1;
  double beta = tt__arg_float(c, f, 5, 1);
  if (beta < 0) return tt__compose_fail(c, TT_EVALUE, "smooth_l1_loss does not support negative values for beta.");
  return loss_of(c, f, beta == 0 ? &plain : &smooth);
}
TT_HANDLER(nn_smooth_l1_loss)

/* ---- of chances */

static bool same_shape(tt_composer *c, const tt_call_frame *f, const char *words) {
  tt_array *x = tt__arg_array(c, f, 0), *y = tt__arg_array(c, f, 1);
  if (!x || !y) return false;
  bool same = x->rank == y->rank;
  for (int d = 0; same && d < x->rank; d++) same = tt__array_len(x)[d] == tt__array_len(y)[d];
  char have[160], want[160];
  tt__window_shape(x->rank, tt__array_len(x), have, sizeof have);
  tt__window_shape(y->rank, tt__array_len(y), want, sizeof want);
  if (!same) tt__compose_fail(c, TT_EVALUE, words, want, have);
  return same;
}

/* input, target, weight, size_average, reduce, reduction. Logarithms are -100 at least. */
static tt_array *nn_binary_cross_entropy(tt_composer *c, tt_call_frame *f) {
  tt_array *a[2];
  tt_dtype t;
  tt_nn_reduction how = tt__nn_reduction(c, f, 3, 5);
  if (!same_shape(c, f,
                  "Using a target size (%s) that is different to the input size (%s) is deprecated. Please ensure "
                  "they have the same size.") ||
      !tt__nn_meet(c, f, "binary_cross_entropy", 2, a, &t))
    return NULL;
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *yes = tt__compose_opf(c, TT_MAXIMUM, tt__compose_op1(c, TT_LOG, a[0]), -100),
           *minus = tt__compose_op1(c, TT_NEG, a[0]);
  tt_array *no = tt__compose_opf(c, TT_MAXIMUM, tt__compose_op1(c, TT_LOG1P, minus), -100);
  /* y * yes + (1 - y) * no, as PyTorch adds it up */
  tt_array *less = tt__compose_opf(c, TT_SUB, a[1], 1);
  tt_array *each =
      tt__compose_op2(c, TT_SUB, tt__compose_op2(c, TT_MUL, less, no), tt__compose_op2(c, TT_MUL, a[1], yes));
  tt__session_tape = before;
  each = tt__compose_derived(c, "binary_cross_entropy", a, 2, each);
  return tt__nn_reduced(c, tt__nn_weighted(c, f, 2, each), how, t);
}
TT_HANDLER(nn_binary_cross_entropy)

/* input, target, weight, size_average, reduce, reduction, pos_weight */
static tt_array *nn_binary_cross_entropy_with_logits(tt_composer *c, tt_call_frame *f) {
  tt_array *a[2];
  tt_dtype t;
  tt_nn_reduction how = tt__nn_reduction(c, f, 3, 5);
  if (!same_shape(c, f, "Target size (%s) must be the same as input size (%s)") ||
      !tt__nn_meet(c, f, "binary_cross_entropy_with_logits", 2, a, &t))
    return NULL;
  /* (1 - y) * x + (1 + (pos_weight - 1) * y) * -log(expit(x)) */
  tt_array *rest = tt__compose_op2(c, TT_MUL, tt__compose_op1(c, TT_NEG, tt__compose_opf(c, TT_SUB, a[1], 1)), a[0]);
  tt_array *log = tt__compose_op1(c, TT_LOG_EXPIT, a[0]);
  if (tt__arg_given(f, 6)) {
    tt_array *more = tt__compose_cast(c, tt__arg_array(c, f, 6), (tt_dtype)a[0]->dtype);
    more = tt__compose_op2(c, TT_MUL, tt__compose_opf(c, TT_SUB, more, 1), a[1]);
    log = tt__compose_op2(c, TT_MUL, tt__compose_opf(c, TT_ADD, more, 1), log);
  }
  return tt__nn_reduced(c, tt__nn_weighted(c, f, 2, tt__compose_op2(c, TT_SUB, rest, log)), how, t);
}
TT_HANDLER(nn_binary_cross_entropy_with_logits)

/* input (logarithms), target, size_average, reduce, reduction, log_target */
static tt_array *nn_kl_div(tt_composer *c, tt_call_frame *f) {
  tt_array *a[2];
  tt_dtype t;
  const char *word = tt__arg_string(c, f, 4, "mean");
  bool logs = tt__arg_bool(c, f, 5, false);
  if (!tt__nn_meet(c, f, "kl_div", 2, a, &t) || c->code != TT_OK) return NULL;
  bool by_batch = strcmp(word, "batchmean") == 0;
  tt_nn_reduction how = by_batch ? TT_NN_SUM : tt__nn_reduction(c, f, 2, 4);
  tt_array *each;
  if (logs)
    each = tt__compose_op2(c, TT_MUL, tt__compose_op1(c, TT_EXP, a[1]), tt__compose_op2(c, TT_SUB, a[1], a[0]));
  else
    each = tt__compose_op2(c, TT_SUB, tt__compose_op2(c, TT_XLOGY, a[1], a[1]), tt__compose_op2(c, TT_MUL, a[1], a[0]));
  if (!by_batch) return tt__nn_reduced(c, each, how, t);
  double images = a[0]->rank > 0 ? (double)tt__array_len(a[0])[0] : 1;
  tt_array *sum = tt__nn_reduced(c, each, how, (tt_dtype)a[0]->dtype);
  return tt__compose_cast(c, tt__compose_opf(c, TT_DIV, sum, images), t);
}
TT_HANDLER(nn_kl_div)

/* ---- of distances */

/* What is above 0; at 0 the slope is 1, as PyTorch's. */
static tt_array *above_zero(tt_composer *c, tt_array *a) {
  tt_array *below = tt__compose_opi(c, TT_LT, a, 0);
  return below ? tt__compose_where(c, below, tt_v_int(0), tt_v_array(a)) : NULL;
}

static tt_array *products(tt_composer *c, tt_array *a, tt_array *b) {
  return tt__compose_reduce(c, TT_RED_SUM, tt__compose_op2(c, TT_MUL, a, b), UINT64_C(1) << (a->rank - 1), false);
}

/* input1, input2, target (1 or -1), margin, size_average, reduce, reduction */
static tt_array *nn_cosine_embedding_loss(tt_composer *c, tt_call_frame *f) {
  const double eps = 1e-12;
  tt_array *a[2], *y = tt__arg_array(c, f, 2);
  tt_dtype t;
  double margin = tt__arg_float(c, f, 3, 0);
  tt_nn_reduction how = tt__nn_reduction(c, f, 4, 6);
  if (!y || !tt__nn_meet(c, f, "cosine_embedding_loss", 2, a, &t) || c->code != TT_OK) return NULL;
  if (!(y->rank == 1 && a[0]->rank == 2) && !(y->rank == 0 && a[0]->rank == 1))
    return tt__compose_fail(c, TT_EVALUE, "%dD target tensor expects %dD input tensors, but found inputs with %d axes.",
                            y->rank, y->rank + 1, a[0]->rank);
  tt_array *na = tt__compose_opf(c, TT_ADD, products(c, a[0], a[0]), eps);
  tt_array *nb = tt__compose_opf(c, TT_ADD, products(c, a[1], a[1]), eps);
  tt_array *root = tt__compose_op1(c, TT_SQRT, tt__compose_op2(c, TT_MUL, na, nb));
  tt_array *cosine = tt__compose_op2(c, TT_DIV, products(c, a[0], a[1]), root);
  tt_array *apart = tt__compose_opf(c, TT_ADD, tt__compose_op1(c, TT_NEG, cosine), 1);
  tt_array *near = above_zero(c, tt__compose_opf(c, TT_SUB, cosine, margin));
  tt_array *alike = tt__compose_opi(c, TT_EQ, y, 1), *other = tt__compose_opi(c, TT_EQ, y, -1);
  if (!apart || !near || !alike || !other) return NULL;
  tt_array *neither = tt__compose_where(c, other, tt_v_array(near), tt_v_int(0));
  return neither ? tt__nn_reduced(c, tt__compose_where(c, alike, tt_v_array(apart), tt_v_array(neither)), how, t)
                 : NULL;
}
TT_HANDLER(nn_cosine_embedding_loss)

/* input1, input2, target, margin, size_average, reduce, reduction */
static tt_array *nn_margin_ranking_loss(tt_composer *c, tt_call_frame *f) {
  tt_array *a[3];
  tt_dtype t;
  double margin = tt__arg_float(c, f, 3, 0);
  tt_nn_reduction how = tt__nn_reduction(c, f, 4, 6);
  if (!tt__nn_meet(c, f, "margin_ranking_loss", 3, a, &t) || c->code != TT_OK) return NULL;
  tt_array *apart = tt__compose_op2(c, TT_MUL, a[2], tt__compose_op2(c, TT_SUB, a[1], a[0]));
  return tt__nn_reduced(c, above_zero(c, tt__compose_opf(c, TT_ADD, apart, margin)), how, t);
}
TT_HANDLER(nn_margin_ranking_loss)

/* The norm of a - b + eps along the last axis. */
static tt_array *distance(tt_composer *c, tt_array *a, tt_array *b, double p, double eps) {
  const tt_value arg[] = {tt_v_array(a), tt_v_array(b), tt_v_float(p), tt_v_float(eps)};
  return a && b ? tt__fn_call(c, "nn.functional.pairwise_distance", arg, 4) : NULL;
}

/* anchor, positive, negative, margin, p, eps, swap, size_average, reduce, reduction */
static tt_array *nn_triplet_margin_loss(tt_composer *c, tt_call_frame *f) {
  tt_array *a[3];
  tt_dtype t;
  double margin = tt__arg_float(c, f, 3, 1), p = tt__arg_float(c, f, 4, 2), eps = tt__arg_float(c, f, 5, 1e-6);
  bool swap = tt__arg_bool(c, f, 6, false);
  tt_nn_reduction how = tt__nn_reduction(c, f, 7, 9);
  if (!tt__nn_meet(c, f, "triplet_margin_loss", 3, a, &t) || c->code != TT_OK) return NULL;
  if (!(margin > 0)) return tt__compose_fail(c, TT_EVALUE, "margin must be greater than 0, got %g", margin);
  tt_array *near = distance(c, a[0], a[1], p, eps), *far = distance(c, a[0], a[2], p, eps);
  if (swap) far = tt__compose_op2(c, TT_MINIMUM, far, distance(c, a[1], a[2], p, eps));
  tt_array *more = tt__compose_opf(c, TT_ADD, tt__compose_op2(c, TT_SUB, near, far), margin);
  return tt__nn_reduced(c, above_zero(c, more), how, t);
}
TT_HANDLER(nn_triplet_margin_loss)
