/*
** Whole numbers: the distributions of Generator, and those that RandomState draws in another way. The order in which
** words are taken and sums are rounded is NumPy's.
*/
#include <assert.h>
#include <math.h>

#include "random/draws.h"

#define TOO_LARGE 9.223372036854775807e18 /* the largest int64, rounded */

int64_t tt__bits_positive(tt_bits *b, const double *p) {
  (void)p;
  return (int64_t)(tt__bits_64(b) >> 1);
}

/* ---- Poisson */

/* Stirling's series, moved up to 7 first. */
double tt__bits_log_gamma(double x) {
  static const double series[] = {8.333333333333333e-02,  -2.777777777777778e-03, 7.936507936507937e-04,
                                  -5.952380952380952e-04, 8.417508417508418e-04,  -1.917526917526918e-03,
                                  6.410256410256410e-03,  -2.955065359477124e-02, 1.796443723688307e-01,
                                  -1.39243221690590e+00};
  if (x == 1 || x == 2) return 0;
  int64_t up = x < 7 ? (int64_t)(7 - x) : 0;
  double at = x + (double)up, inverse = 1 / (at * at), sum = series[9];
  for (int k = 8; k >= 0; k--) sum = sum * inverse + series[k];
  double out = sum / at + 0.5 * log(2 * M_PI) + (at - 0.5) * log(at) - at;
  for (int64_t k = 0; k < up; k++) {
    out -= log(at - 1);
    at -= 1;
  }
  return out;
}

static int64_t poisson_by_product(tt_bits *b, double lam) {
  double limit = exp(-lam), product = 1;
  for (int64_t k = 0;; k++) {
    product *= tt__bits_double(b);
    if (!(product > limit)) return k;
  }
}

/* A table mountain (Hormann). */
static int64_t poisson_by_rejection(tt_bits *b, double lam) {
  double loglam = log(lam), spread = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * spread;
  double inverse = 1.1239 + 1.1328 / (spread - 3.4), sure = 0.9277 - 3.6224 / (spread - 2);
  for (;;) {
    double u = tt__bits_double(b) - 0.5, v = tt__bits_double(b), us = 0.5 - fabs(u);
    double at = floor((2 * a / us + spread) * u + lam + 0.43);
    if (us >= 0.07 && v <= sure) return (int64_t)at;
    if (at < 0 || !(at < TOO_LARGE) || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse) - log(a / (us * us) + spread) <= -lam + at * loglam - tt__bits_log_gamma(at + 1))
      return (int64_t)at;
  }
}

int64_t tt__bits_poisson_of(tt_bits *b, double lam) {
  assert(!(lam < 0));
  if (lam >= 10) return poisson_by_rejection(b, lam);
  return lam == 0 ? 0 : poisson_by_product(b, lam);
}

int64_t tt__bits_poisson(tt_bits *b, const double *p) { return tt__bits_poisson_of(b, p[0]); }

int64_t tt__bits_negative_binomial(tt_bits *b, const double *p) {
  return tt__bits_poisson_of(b, tt__bits_gamma_scaled(b, (double[2]){p[0], (1 - p[1]) / p[1]}));
}
int64_t tt__bits_negative_binomial_legacy(tt_bits *b, const double *p) {
  return tt__bits_poisson_of(b, tt__bits_gamma_legacy(b, (double[2]){p[0], (1 - p[1]) / p[1]}));
}

/* ---- geometric, Zipf, logarithmic series */

static int64_t geometric_by_search(tt_bits *b, double p) {
  double sum = p, term = p, u = tt__bits_double(b);
  int64_t k = 1;
  for (; u > sum; k++) {
    term *= 1 - p;
    sum += term;
  }
  return k;
}

int64_t tt__bits_geometric(tt_bits *b, const double *p) {
  if (p[0] >= 1.0 / 3) return geometric_by_search(b, p[0]);
  double k = ceil(-tt__bits_exponential(b) / log1p(-p[0]));
  return k < TOO_LARGE ? (int64_t)k : INT64_MAX;
}
int64_t tt__bits_geometric_legacy(tt_bits *b, const double *p) {
  if (p[0] >= 1.0 / 3) return geometric_by_search(b, p[0]);
  double k = ceil(log1p(-tt__bits_double(b)) / log(1 - p[0]));
  return k < TOO_LARGE ? (int64_t)k : INT64_MIN; /* what the conversion of a processor gives */
}

/* From a power of a uniform number (Devroye); `least`: below it every power would be too large. */
static int64_t zipf_of(tt_bits *b, double a, double least) {
  double power = a - 1, scale = pow(2, power);
  for (;;) {
    double u = tt__bits_double(b);
    u = least > 0 ? u * least + (1 - u) : 1 - u;
    double v = tt__bits_double(b), x = floor(pow(u, -1 / power));
    if (x > TOO_LARGE || !(x >= 1)) continue;
    double t = pow(1 + 1 / x, power);
    if (v * x * (t - 1) / (scale - 1) <= t / scale) return x < TOO_LARGE ? (int64_t)x : INT64_MAX;
  }
}
int64_t tt__bits_zipf(tt_bits *b, const double *p) {
  return p[0] >= 1025 ? 1 : zipf_of(b, p[0], pow(TOO_LARGE, -(p[0] - 1)));
}
int64_t tt__bits_zipf_legacy(tt_bits *b, const double *p) { return zipf_of(b, p[0], 0); }

/* `rest`: log(1 - p) */
static int64_t logseries_of(tt_bits *b, double p, double rest, bool legacy) {
  for (;;) {
    double v = tt__bits_double(b);
    if (v >= p) return 1;
    double u = tt__bits_double(b), q = legacy ? 1 - exp(rest * u) : -expm1(rest * u);
    if (v > q * q) return v >= q ? 1 : 2;
    double k = floor(1 + log(v) / log(q));
    if (k >= 1 && k < TOO_LARGE && v != 0) return (int64_t)k;
  }
}
int64_t tt__bits_logseries(tt_bits *b, const double *p) { return logseries_of(b, p[0], log1p(-p[0]), false); }
int64_t tt__bits_logseries_legacy(tt_bits *b, const double *p) { return logseries_of(b, p[0], log(1 - p[0]), true); }
