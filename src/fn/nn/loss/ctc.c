/*
** Connectionist temporal classification: the chance of all ways to spread labels over a sequence, by the forward and
** backward sums in float64. It is computed at the call; its slope is minus the expected counts of classes.
*/
#include <math.h>
#include <string.h>

#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"
#include "graph/session.h"
#include "graph/tape.h"

/* One sequence: log chances [steps, classes] with a distance between steps, and labels. */
typedef struct sequence {
  const double *log;
  int64_t step, steps, classes, blank;
  const int64_t *label;
  int64_t n;       /* labels; with blanks around each there are 2 n + 1 places */
  double *forward; /* [steps, places] */
  double *backward;
} sequence;

/* The class of a place: blanks between labels. */
static int64_t class_of(const sequence *q, int64_t s) { return s % 2 == 0 ? q->blank : q->label[s / 2]; }

static double at(const sequence *q, int64_t t, int64_t s) { return q->log[t * q->step + class_of(q, s)]; }

static double log_sum(double a, double b) {
  double most = a > b ? a : b;
  return most == -INFINITY ? most : most + log1p(exp((a > b ? b : a) - most));
}

/* May a way skip the blank between labels s - 2 and s? */
static bool skips(const sequence *q, int64_t s) { return s % 2 == 1 && s >= 2 && class_of(q, s) != class_of(q, s - 2); }

static void sum_forward(const sequence *q) {
  int64_t places = 2 * q->n + 1;
  for (int64_t t = 0; t < q->steps; t++) {
    double *now = q->forward + t * places, *before = now - places;
    for (int64_t s = 0; s < places; s++) {
      double sum = t == 0 ? (s < 2 ? 0 : -INFINITY) : before[s];
      if (t > 0 && s > 0) sum = log_sum(sum, before[s - 1]);
      if (t > 0 && skips(q, s)) sum = log_sum(sum, before[s - 2]);
      now[s] = sum + at(q, t, s);
    }
  }
}

/* Of what comes behind a step. */
static void sum_backward(const sequence *q) {
  int64_t places = 2 * q->n + 1;
  for (int64_t t = q->steps - 1; t >= 0; t--) {
    double *now = q->backward + t * places, *next = now + places;
    for (int64_t s = 0; s < places; s++) {
      if (t == q->steps - 1) {
        now[s] = s >= places - 2 ? 0 : -INFINITY;
        continue;
      }
      double sum = next[s] + at(q, t + 1, s);
      if (s + 1 < places) sum = log_sum(sum, next[s + 1] + at(q, t + 1, s + 1));
      if (s + 2 < places && skips(q, s + 2)) sum = log_sum(sum, next[s + 2] + at(q, t + 1, s + 2));
      now[s] = sum;
    }
  }
}

static double log_chance(const sequence *q) {
  int64_t places = 2 * q->n + 1;
  if (q->steps == 0) return q->n == 0 ? 0 : -INFINITY;
  const double *last = q->forward + (q->steps - 1) * places;
  return places > 1 ? log_sum(last[places - 1], last[places - 2]) : last[0];
}

/* ---- the call */

typedef struct ctc {
  tt_array *x; /* [steps, images, classes] of floats */
  bool single;
  int64_t steps, images, classes, blank;
  const int64_t *label, *input, *target; /* labels, one after the other or a row each, and lengths */
  int64_t row;                           /* from an image's labels to the next's; 0: its length */
  bool zero;
} ctc;

static const int64_t *whole(tt_composer *c, const tt_call_frame *f, int k, const char *name, int64_t want,
                            tt_array **a) {
  *a = tt__arg_array(c, f, k);
  if (!*a) return NULL;
  if (!tt__is_int((tt_dtype)(*a)->dtype)) return tt__compose_fail(c, TT_ETYPE, "%s must be integral", name), NULL;
  if (want >= 0 && (*a)->size != want)
    return tt__compose_fail(c, TT_EVALUE, "%s must be of size batch_size", name), NULL;
  return tt__compose_peek(c, tt__compose_cast(c, *a, TT_I64));
}

static bool check_lengths(tt_composer *c, const ctc *k, const tt_array *labels) {
  int64_t all = 0, most = 0;
  for (int64_t n = 0; n < k->images && c->code == TT_OK; n++) {
    if (k->input[n] < 0 || k->target[n] < 0)
      tt__compose_fail(c, TT_EVALUE, "Expected input_lengths and target_lengths to have values at least 0");
    if (k->input[n] > k->steps)
      tt__compose_fail(c, TT_EVALUE, "Expected input_lengths to have value at most %lld, but got value %lld",
                       (long long)k->steps, (long long)k->input[n]);
    all += k->target[n];
    if (k->target[n] > most) most = k->target[n];
  }
  if (c->code == TT_OK && (k->row ? most > k->row : all > labels->size))
    tt__compose_fail(c, TT_EVALUE, "Expected targets to have as many labels as target_lengths say");
  return c->code == TT_OK;
}

/* log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity */
static bool read_ctc(tt_composer *c, const tt_call_frame *f, ctc *k) {
  tt_array *a, *labels;
  k->x = tt__nn_floats(c, tt__arg_array(c, f, 0), "ctc_loss");
  if (!k->x) return false;
  if (k->x->rank != 2 && k->x->rank != 3)
    return tt__compose_fail(c, TT_EVALUE, "log_probs must have 2 or 3 axes, but has %d", k->x->rank) != NULL;
  k->single = k->x->rank == 2;
  if (k->single) k->x = tt__compose_expand(c, k->x, 1);
  if (!k->x) return false;
  const int64_t *len = tt__array_len(k->x);
  k->steps = len[0];
  k->images = len[1];
  k->classes = len[2];
  k->label = whole(c, f, 1, "targets", -1, &labels);
  k->input = whole(c, f, 2, "input_lengths", k->images, &a);
  k->target = whole(c, f, 3, "target_lengths", k->images, &a);
  k->blank = tt__arg_int(c, f, 4, 0);
  k->zero = tt__arg_bool(c, f, 6, false);
  if (c->code != TT_OK) return false;
  k->row = labels->rank == 2 ? tt__array_len(labels)[1] : 0;
  if (k->blank < 0 || k->blank >= k->classes)
    return tt__compose_fail(c, TT_EVALUE, "blank must be in label range") != NULL;
  for (int64_t i = 0; i < labels->size; i++)
    if (k->label[i] < 0 || k->label[i] >= k->classes)
      return tt__compose_fail(c, TT_EINDEX, "Target %lld is out of bounds. (place %lld, %lld classes)",
                              (long long)k->label[i], (long long)i, (long long)k->classes) != NULL;
  return check_lengths(c, k, labels);
}

static void put(tt_dtype t, void *data, int64_t i, double v) {
  if (t == TT_F64)
    ((double *)data)[i] = v;
  else
    ((float *)data)[i] = (float)v;
}

/* Minus the share of each class at each step, among all ways; NaN where there is none. */
static void count(const ctc *k, const sequence *q, int64_t image, double total, double *slope) {
  int64_t places = 2 * q->n + 1;
  for (int64_t t = 0; t < q->steps; t++) {
    double *row = slope + (t * k->images + image) * k->classes;
    for (int64_t s = 0; s < places; s++) {
      if (total == -INFINITY)
        row[class_of(q, s)] = k->zero ? 0 : NAN;
      else
        row[class_of(q, s)] -= exp(q->forward[t * places + s] + q->backward[t * places + s] - total);
    }
  }
}

/* The losses of all images, and with `slope` those slopes. */
static bool sums(tt_composer *c, const ctc *k, const double *log, void *loss, double *slope) {
  int64_t first = 0;
  for (int64_t n = 0; n < k->images; n++) {
    sequence q = {.log = log + n * k->classes,
                  .step = k->images * k->classes,
                  .steps = k->input[n],
                  .classes = k->classes,
                  .blank = k->blank,
                  .label = k->label + (k->row ? n * k->row : first),
                  .n = k->target[n]};
    int64_t room = q.steps * (2 * q.n + 1);
    q.forward = tt__compose_scratch(c, room + 1, sizeof(double));
    q.backward = tt__compose_scratch(c, slope ? room + 1 : 1, sizeof(double));
    if (!q.forward || !q.backward) return false;
    sum_forward(&q);
    double total = log_chance(&q);
    put((tt_dtype)k->x->dtype, loss, n, total == -INFINITY && k->zero ? 0 : -total);
    if (slope) {
      sum_backward(&q);
      count(k, &q, n, total, slope);
    }
    first += k->target[n];
  }
  return true;
}

/* A loss for each image. */
static tt_array *each(tt_composer *c, const ctc *k) {
  void *loss, *slope = NULL;
  tt_array *y = NULL, *src[2] = {k->x, NULL};
  bool before = tt__session_tape, followed = tt__is_taped(k->x->storage->node);
  tt__session_tape = false;
  const double *log = tt__compose_peek(c, tt__compose_cast(c, k->x, TT_F64));
  if (log) y = tt__compose_block(c, (tt_dtype)k->x->dtype, 1, &k->images, &loss);
  if (y && followed) src[1] = tt__compose_block(c, TT_F64, 3, tt__array_len(k->x), &slope);
  if (slope) memset(slope, 0, (size_t)src[1]->size * sizeof(double));
  bool ok = y && (!followed || slope) && sums(c, k, log, loss, slope);
  tt__session_tape = before;
  if (!ok || !followed) return ok ? y : NULL;
  src[1] = tt__compose_cast(c, src[1], (tt_dtype)k->x->dtype);
  return src[1] ? tt__compose_derived(c, "ctc_loss", src, 2, y) : NULL;
}

static tt_array *nn_ctc_loss(tt_composer *c, tt_call_frame *f) {
  ctc k = {0};
  tt_nn_reduction how = tt__nn_reduction(c, f, -1, 5);
  tt_dtype t = f->arg[0].tag == TT_V_ARRAY ? (tt_dtype)f->arg[0].as.array->dtype : TT_F64;
  if (!read_ctc(c, f, &k)) return NULL;
  tt_array *y = each(c, &k);
  if (how == TT_NN_MEAN && y) { /* over labels first */
    tt_array *n = tt__compose_reshape(c, tt__compose_cast(c, tt__arg_array(c, f, 3), (tt_dtype)y->dtype), 1, &k.images);
    y = tt__compose_op2(c, TT_DIV, y, tt__compose_opi(c, TT_MAXIMUM, n, 1));
  }
  if (k.single && y) y = tt__compose_reshape(c, y, 0, NULL);
  return tt__nn_reduced(c, y, how, t);
}
TT_HANDLER(nn_ctc_loss)
