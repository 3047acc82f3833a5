/*
** How wide the bins of a histogram should be: NumPy's rules, by their names.
*/
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"

/* What the rules look at: elements in ascending order, and the ends between which they lie. */
typedef struct sample {
  const double *x;
  int64_t n; /* at least 1 */
  double first, last, span, mean, deviation;
} sample;

static double by_sqrt(const sample *s) { return s->span / sqrt((double)s->n); }
static double by_sturges(const sample *s) { return s->span / (log2((double)s->n) + 1); }
static double by_rice(const sample *s) { return s->span / (2 * pow((double)s->n, 1.0 / 3)); }
static double by_scott(const sample *s) { return cbrt(24 * sqrt(M_PI) / (double)s->n) * s->deviation; }

/* A quantile, linear between neighbours. */
static double quantile_of(const sample *s, double q) {
  double at = q * (double)(s->n - 1), low = floor(at);
  int64_t i = (int64_t)low, j = i + 1 < s->n ? i + 1 : i;
  return s->x[i] + (s->x[j] - s->x[i]) * (at - low);
}

static double by_fd(const sample *s) {
  return 2 * (quantile_of(s, 0.75) - quantile_of(s, 0.25)) * pow((double)s->n, -1.0 / 3);
}

static double by_auto(const sample *s) { return fmin(fmax(by_fd(s), by_sqrt(s) / 2), by_sturges(s)); }

static double by_doane(const sample *s) {
  double n = (double)s->n, skew = 0;
  if (s->n <= 2 || !(s->deviation > 0)) return 0;
  for (int64_t i = 0; i < s->n; i++) skew += pow((s->x[i] - s->mean) / s->deviation, 3) / n;
  double usual = sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
  return s->span / (1 + log2(n) + log2(1 + fabs(skew) / usual));
}

/* How many elements lie below a bound. */
static int64_t below(const sample *s, double bound) {
  int64_t low = 0, high = s->n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (s->x[middle] < bound)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The loss that leave-one-out cross-validation sees in so many bins. */
static double loss(const sample *s, int64_t bins) {
  double n = (double)s->n, squares = 0;
  int64_t before = 0;
  for (int64_t k = 1; k <= bins; k++) {
    int64_t up = k == bins ? s->n : below(s, s->first + (double)k * ((s->last - s->first) / (double)bins));
    double share = (double)(up - before) / n;
    squares += share * share;
    before = up;
  }
  return (2 - (n + 1) * squares) / (s->span / (double)bins);
}

static double by_stone(const sample *s) {
  int64_t most = (int64_t)fmax(100, floor(sqrt((double)s->n))), best = 1;
  if (s->n <= 1 || s->span == 0) return 0;
  double least = loss(s, 1);
  for (int64_t bins = 2; bins <= most; bins++) {
    double here = loss(s, bins);
    if (here < least) best = bins, least = here;
  }
  if (best == most) tt__warn(TT_WARN_RUNTIME, "The number of bins estimated may be suboptimal.");
  return s->span / (double)best;
}

static const struct {
  const char *name;
  double (*width)(const sample *s);
} rules[] = {{"auto", by_auto},   {"doane", by_doane}, {"fd", by_fd},       {"rice", by_rice},
             {"scott", by_scott}, {"sqrt", by_sqrt},   {"stone", by_stone}, {"sturges", by_sturges}};

/* The elements between the ends, with what the rules ask about them. False: there is none, or c has failed. */
static bool look(tt_composer *c, tt_array *a, sample *s) {
  tt_array *x = tt__compose_cast(c, a, TT_F64);
  tt_lib_attr attr = {.row = tt__lib_row("sort")};
  s->x = x ? tt__compose_peek(c, tt__compose_library(c, &attr, &x, 1, TT_F64, 1, &x->size)) : NULL;
  if (!s->x) return false;
  s->n = x->size;
  int64_t from = below(s, s->first), to = below(s, nextafter(s->last, (double)INFINITY));
  s->x += from;
  s->n = to - from; /* NaN stands behind everything */
  if (s->n < 1) return false;
  s->span = s->x[s->n - 1] - s->x[0];
  for (int64_t i = 0; i < s->n; i++) s->mean += s->x[i];
  s->mean /= (double)s->n; /* at the end: the mean of equal elements is one of them */
  double squares = 0;
  for (int64_t i = 0; i < s->n; i++) squares += (s->x[i] - s->mean) * (s->x[i] - s->mean);
  s->deviation = sqrt(squares / (double)s->n);
  return true;
}

int64_t tt__fn_bins_by_rule(tt_composer *c, const char *rule, tt_array *a, double first, double last) {
  size_t k = 0;
  while (k < sizeof rules / sizeof *rules && strcmp(rule, rules[k].name) != 0) k++;
  if (k == sizeof rules / sizeof *rules) {
    tt__compose_fail(c, TT_EVALUE, "'%s' is not a valid estimator for `bins`", rule);
    return 1;
  }
  sample s = {.first = first, .last = last};
  double width = a->size > 0 && look(c, a, &s) ? rules[k].width(&s) : 0;
  if (width > 0 && tt__is_int((tt_dtype)a->dtype) && width < 1) width = 1;
  double count = width > 0 ? ceil((last - first) / width) : 1;
  if (count > 0x1p62) tt__compose_fail(c, TT_EVALUE, "array is too big");
  return c->code != TT_OK || count < 1 ? 1 : (int64_t)count;
}
