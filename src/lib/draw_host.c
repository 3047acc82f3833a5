/* Drawing until accepted; see draw_host.h. */
#include "lib/draw_host.h"

#include <math.h>

/* Philox-4x32-10: 128 bits for each counter. */
static uint64_t next(tt_random *r) {
  if (r->has_spare) {
    r->has_spare = 0;
    return r->spare;
  }
  uint32_t a = (uint32_t)r->counter, b = (uint32_t)(r->counter >> 32), c = 0, d = 0;
  uint32_t k0 = (uint32_t)r->key, k1 = (uint32_t)(r->key >> 32);
  r->counter++;
  for (int round = 0; round < 10; round++) {
    uint64_t p = (uint64_t)0xD2511F53u * a, q = (uint64_t)0xCD9E8D57u * c;
    a = (uint32_t)(q >> 32) ^ b ^ k0;
    b = (uint32_t)q;
    c = (uint32_t)(p >> 32) ^ d ^ k1;
    d = (uint32_t)p;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  r->spare = (uint64_t)c << 32 | d;
  r->has_spare = 1;
  return (uint64_t)a << 32 | b;
}

/* In the open interval (0, 1). */
static double uniform(tt_random *r) { return (double)(next(r) >> 11) * 0x1p-53 + 0x1p-54; }

static double normal(tt_random *r) {
  double radius = sqrt(-2 * log(uniform(r)));
  return radius * cos(6.283185307179586477 * uniform(r));
}

/* The cube of a shifted normal is nearly gamma distributed (Marsaglia and Tsang); below shape 1 a power of a uniform
** number takes the result down from shape + 1. */
double tt__random_gamma(tt_random *r, double shape) {
  if (shape == 0 || isnan(shape)) return shape;
  if (shape < 1) {
    double root = log(uniform(r)) / shape;
    return tt__random_gamma(r, shape + 1) * exp(root);
  }
  double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x = normal(r), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    if (log(uniform(r)) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
  }
}

/* log(k!) */
static double log_factorial(double k) {
  static const double few[] = {0,
                               0,
                               0.69314718055994530942,
                               1.79175946922805500081,
                               3.17805383034794561965,
                               4.78749174278204599425,
                               6.57925121201010099506,
                               8.52516136106541430017,
                               10.6046029027452502284,
                               12.8018274800814696112};
  if (k < 10) return few[(int)k];
  double x = k + 1, i = 1 / (x * x);
  double rest = (1.0 / 12 - i * (1.0 / 360 - i * (1.0 / 1260 - i * (1.0 / 1680)))) / x; /* Stirling's series */
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 + rest;
}

/* Below 10 by multiplying uniform numbers; above by transformed rejection (Hormann 1993): a table mountain around the
** mode, most draws accepted without a logarithm. */
int64_t tt__random_poisson(tt_random *r, double lam) {
  if (lam < 10) {
    double limit = exp(-lam), product = uniform(r);
    int64_t k = 0;
    for (; product > limit; k++) product *= uniform(r);
    return k;
  }
  double b = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * b, loglam = log(lam);
  double inverse = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = uniform(r) - 0.5, v = uniform(r), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + lam + 0.43);
    if (us >= 0.07 && v <= sure && k >= 0) return (int64_t)k;
    if (k < 0 || k > 9.2e18 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse) - log(a / (us * us) + b) <= k * loglam - lam - log_factorial(k)) return (int64_t)k;
  }
}

/* By walking up the distribution when that is short; else as above. p <= 1/2. */
static int64_t binomial(tt_random *r, int64_t n, double p) {
  double q = 1 - p, size = (double)n;
  if (size * p < 10) {
    double odds = p / q, chance = exp(size * log1p(-p)), u = uniform(r);
    int64_t k = 0;
    for (; u > chance && k < n; k++) {
      u -= chance;
      chance *= odds * (double)(n - k) / (double)(k + 1);
    }
    return k;
  }
  double spread = sqrt(size * p * q), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  double center = size * p + 0.5, sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread, odds = log(p / q);
  double mode = floor((size + 1) * p), top = log_factorial(mode) + log_factorial(size - mode);
  for (;;) {
    double u = uniform(r) - 0.5, v = uniform(r), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + center);
    if (k < 0 || k > size) continue;
    if (us >= 0.07 && v <= sure) return (int64_t)k;
    v = log(v * alpha / (a / (us * us) + b));
    if (v <= top - log_factorial(k) - log_factorial(size - k) + (k - mode) * odds) return (int64_t)k;
  }
}

int64_t tt__random_binomial(tt_random *r, int64_t n, double p) {
  if (n == 0 || p == 0) return 0;
  return p > 0.5 ? n - binomial(r, n, 1 - p) : binomial(r, n, p);
}
