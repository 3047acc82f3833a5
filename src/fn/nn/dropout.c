/*
** Dropout: elements or channels that are left out by chance, the others grow to make up for them. The drops come of the
** process's generator; they are drawn where they are used, forward and backward.
*/
#include <math.h>

#include "base/warn.h"
#include "fn/nn/nn.h"

/* input, p, training, inplace */
typedef struct dropping {
  tt_array *x, *wide;
  double p;
  bool training;
} dropping;

static bool read_dropping(tt_composer *c, const tt_call_frame *f, const char *name, dropping *d) {
  d->x = tt__arg_array(c, f, 0);
  d->p = tt__arg_float(c, f, 1, 0.5);
  d->training = tt__arg_bool(c, f, 2, true);
  if (!d->x || c->code != TT_OK) return false;
  if (!(d->p >= 0 && d->p <= 1)) {
    tt__compose_fail(c, TT_EVALUE, "dropout probability has to be between 0 and 1, but got %g", d->p);
    return false;
  }
  d->wide = tt__nn_floats(c, d->x, name);
  return d->wide != NULL;
}

/* Where the drops are drawn: each element, or each channel. `axes` leading ones. */
static tt_array *stays(tt_composer *c, const tt_call_frame *f, const dropping *d, int axes) {
  int64_t len[TT_MAX_RANK];
  for (int k = 0; k < d->x->rank; k++) len[k] = k < axes ? tt__array_len(d->x)[k] : 1;
  return tt__nn_stays(c, f, d->x->rank, len, d->p);
}

static tt_array *dropped(tt_composer *c, const tt_call_frame *f, const dropping *d, int axes) {
  if (!d->training || d->p == 0) return d->wide;
  tt_array *more = d->p < 1 ? tt__compose_opf(c, TT_MUL, d->wide, 1 / (1 - d->p)) : d->wide;
  tt_array *mask = stays(c, f, d, axes);
  return more && mask ? tt__compose_where(c, mask, tt_v_array(more), tt_v_int(0)) : NULL;
}

/* What goes becomes what saturated units give, and all is brought back to mean 0 and variance 1. */
static tt_array *dropped_alpha(tt_composer *c, const tt_call_frame *f, const dropping *d, int axes) {
  const double alpha = -1.7580993408473766; /* selu at minus infinity */
  if (!d->training || d->p == 0) return d->wide;
  if (d->p == 1) return tt__compose_opf(c, TT_MUL, d->wide, 0);
  double a = 1 / sqrt((1 - d->p) * (1 + d->p * alpha * alpha)), b = -a * alpha * d->p;
  tt_array *mask = stays(c, f, d, axes);
  tt_array *y = mask ? tt__compose_where(c, mask, tt_v_array(d->wide), tt_v_float(alpha)) : NULL;
  return tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, y, a), b);
}

static tt_array *dropout_of(tt_composer *c, const tt_call_frame *f, const char *name, bool channels, bool alpha) {
  dropping d;
  if (!read_dropping(c, f, name, &d)) return NULL;
  int axes = !channels ? d.x->rank : d.x->rank < 2 ? d.x->rank : 2;
  tt_array *y = alpha ? dropped_alpha(c, f, &d, axes) : dropped(c, f, &d, axes);
  return tt__nn_result(c, f, y, d.x, 3);
}

static tt_array *nn_dropout(tt_composer *c, tt_call_frame *f) { return dropout_of(c, f, "dropout", false, false); }
TT_HANDLER(nn_dropout)
static tt_array *nn_alpha_dropout(tt_composer *c, tt_call_frame *f) {
  return dropout_of(c, f, "alpha_dropout", false, true);
}
TT_HANDLER(nn_alpha_dropout)
static tt_array *nn_feature_alpha_dropout(tt_composer *c, tt_call_frame *f) {
  return dropout_of(c, f, "feature_alpha_dropout", true, true);
}
TT_HANDLER(nn_feature_alpha_dropout)

/* Whole channels of [images, channels, n axes of space], or of one image alone. Other ranks PyTorch takes with a
 * warning where n is 2 or 3, the first two axes for images and channels. */
static tt_array *dropout_channels(tt_composer *c, const tt_call_frame *f, const char *name, int n) {
  dropping d;
  if (!read_dropping(c, f, name, &d)) return NULL;
  bool single = d.x->rank == n + 1;
  bool other = !single && d.x->rank != n + 2;
  if (other && (n == 1 || d.x->rank < 2))
    return tt__compose_fail(c, TT_EVALUE, "%s: Expected %dD or %dD input, but received a %dD input", name, n + 1, n + 2,
                            d.x->rank);
  if (other)
    tt__warn(TT_WARN_USER,
             "%s: Received a %d-D input to %s, which is deprecated and will result in an error in a future release. To "
             "retain the behavior and silence this warning, please use dropout instead.",
             name, d.x->rank, name);
  return tt__nn_result(c, f, dropped(c, f, &d, single ? 1 : 2), d.x, 3);
}

#define DROPOUT(n)                                                      \
  static tt_array *nn_dropout##n##d(tt_composer *c, tt_call_frame *f) { \
    return dropout_channels(c, f, "dropout" #n "d", n);                 \
  }                                                                     \
  TT_HANDLER(nn_dropout##n##d)
DROPOUT(1)
DROPOUT(2)
DROPOUT(3)
