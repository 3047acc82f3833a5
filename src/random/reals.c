/*
** Real numbers: the distributions of Generator first, then those that RandomState draws in another way. The order in
** which words are taken and sums are rounded is NumPy's.
*/
#include <math.h>

#include "random/draws.h"

/* ---- sources */

double tt__bits_unit(tt_bits *b, const double *p) {
  (void)p;
  return tt__bits_double(b);
}
double tt__bits_unit_float(tt_bits *b, const double *p) {
  (void)p;
  return (double)tt__bits_float(b);
}
double tt__bits_standard_normal(tt_bits *b, const double *p) {
  (void)p;
  return tt__bits_normal(b);
}
double tt__bits_standard_normal_float(tt_bits *b, const double *p) {
  (void)p;
  return (double)tt__bits_normal_float(b);
}
double tt__bits_standard_exponential(tt_bits *b, const double *p) {
  (void)p;
  return tt__bits_exponential(b);
}
double tt__bits_standard_exponential_float(tt_bits *b, const double *p) {
  (void)p;
  return (double)tt__bits_exponential_float(b);
}
double tt__bits_exponential_inverse(tt_bits *b, const double *p) {
  (void)p;
  return -log1p(-tt__bits_double(b));
}
double tt__bits_exponential_log(tt_bits *b, const double *p) {
  (void)p;
  return -log(1 - tt__bits_double(b));
}
double tt__bits_exponential_inverse_float(tt_bits *b, const double *p) {
  (void)p;
  return (double)(float)-log1p(-(double)tt__bits_float(b));
}

/* The second of a pair in a disk (Marsaglia); the first waits. */
double tt__bits_gauss(tt_bits *b, const double *p) {
  double x, y, r;
  (void)p;
  if (b->has_gauss) {
    double kept = b->gauss;
    b->has_gauss = 0;
    b->gauss = 0;
    return kept;
  }
  do {
    x = 2 * tt__bits_double(b) - 1;
    y = 2 * tt__bits_double(b) - 1;
    r = x * x + y * y;
  } while (r >= 1 || r == 0);
  double scale = sqrt(-2 * log(r) / r);
  b->gauss = scale * x;
  b->has_gauss = 1;
  return scale * y;
}

static double gauss(tt_bits *b) { return tt__bits_gauss(b, NULL); }
static double exponential_log(tt_bits *b) { return tt__bits_exponential_log(b, NULL); }

/* ---- gamma, and what is made of it */

/* Below 1 by rejection from two pieces (Ahrens and Dieter), else by a cube of a normal number (Marsaglia and Tsang). */
double tt__bits_gamma_of(tt_bits *b, double shape, tt_source_fn normal, tt_source_fn exponential) {
  if (shape == 1) return exponential(b);
  if (shape == 0) return 0;
  while (shape < 1) {
    double u = tt__bits_double(b), e = exponential(b), x;
    if (u <= 1 - shape) {
      x = pow(u, 1 / shape);
      if (x <= e) return x;
    } else {
      double y = -log((1 - u) / shape);
      x = pow(1 - shape + shape * y, 1 / shape);
      if (x <= e + y) return x;
    }
  }
  double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d), x, v;
  for (;;) {
    do {
      x = normal(b);
      v = 1 + c * x;
    } while (v <= 0);
    v = v * v * v;
    double u = tt__bits_double(b);
    if (u < 1 - 0.0331 * (x * x) * (x * x)) return d * v;
    if (log(u) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
  }
}

static double gamma_of(tt_bits *b, double shape) {
  return tt__bits_gamma_of(b, shape, tt__bits_normal, tt__bits_exponential);
}
static double gamma_legacy(tt_bits *b, double shape) { return tt__bits_gamma_of(b, shape, gauss, exponential_log); }

double tt__bits_standard_gamma(tt_bits *b, const double *p) { return gamma_of(b, p[0]); }
double tt__bits_standard_gamma_legacy(tt_bits *b, const double *p) { return gamma_legacy(b, p[0]); }

/* The same in floats throughout. */
double tt__bits_standard_gamma_float(tt_bits *b, const double *p) {
  float shape = (float)p[0];
  if (shape == 1) return (double)tt__bits_exponential_float(b);
  if (shape == 0) return 0;
  while (shape < 1) {
    float u = tt__bits_float(b), e = tt__bits_exponential_float(b), x;
    if (u <= 1 - shape) {
      x = powf(u, 1 / shape);
      if (x <= e) return (double)x;
    } else {
      float y = -logf((1 - u) / shape);
      x = powf(1 - shape + shape * y, 1 / shape);
      if (x <= e + y) return (double)x;
    }
  }
  float d = shape - 1.0f / 3, c = 1 / sqrtf(9 * d), x, v;
  for (;;) {
    do {
      x = tt__bits_normal_float(b);
      v = 1 + c * x;
    } while (v <= 0);
    v = v * v * v;
    float u = tt__bits_float(b);
    if (u < 1 - 0.0331f * (x * x) * (x * x)) return (double)(d * v);
    if (logf(u) < 0.5f * x * x + d * (1 - v + logf(v))) return (double)(d * v);
  }
}

double tt__bits_gamma_scaled(tt_bits *b, const double *p) { return p[1] * gamma_of(b, p[0]); }
double tt__bits_gamma_legacy(tt_bits *b, const double *p) { return p[1] * gamma_legacy(b, p[0]); }

static double chi_square(tt_bits *b, double df) { return 2 * gamma_of(b, df / 2); }
static double chi_square_legacy(tt_bits *b, double df) { return 2 * gamma_legacy(b, df / 2); }
double tt__bits_chisquare(tt_bits *b, const double *p) { return chi_square(b, p[0]); }
double tt__bits_chisquare_legacy(tt_bits *b, const double *p) { return chi_square_legacy(b, p[0]); }

double tt__bits_f(tt_bits *b, const double *p) {
  double x = chi_square(b, p[0]) * p[1], y = chi_square(b, p[1]) * p[0];
  return x / y;
}
double tt__bits_f_legacy(tt_bits *b, const double *p) {
  double x = chi_square_legacy(b, p[0]) * p[1], y = chi_square_legacy(b, p[1]) * p[0];
  return x / y;
}

double tt__bits_noncentral_chisquare(tt_bits *b, const double *p) {
  double df = p[0], nonc = p[1];
  if (isnan(nonc)) return NAN;
  if (nonc == 0) return chi_square(b, df);
  if (df > 1) {
    double x = chi_square(b, df - 1), n = tt__bits_normal(b) + sqrt(nonc);
    return x + n * n;
  }
  return chi_square(b, df + (double)(2 * tt__bits_poisson_of(b, nonc / 2)));
}
double tt__bits_noncentral_chisquare_legacy(tt_bits *b, const double *p) {
  double df = p[0], nonc = p[1];
  if (nonc == 0) return chi_square_legacy(b, df);
  if (df > 1) {
    double x = chi_square_legacy(b, df - 1), n = gauss(b) + sqrt(nonc);
    return x + n * n;
  }
  double x = chi_square_legacy(b, df + (double)(2 * tt__bits_poisson_of(b, nonc / 2)));
  return isnan(nonc) ? NAN : x;
}

double tt__bits_noncentral_f(tt_bits *b, const double *p) {
  double x = tt__bits_noncentral_chisquare(b, (double[2]){p[0], p[2]}) * p[1];
  return x / (chi_square(b, p[1]) * p[0]);
}
double tt__bits_noncentral_f_legacy(tt_bits *b, const double *p) {
  double x = tt__bits_noncentral_chisquare_legacy(b, (double[2]){p[0], p[2]}) * p[1];
  return x / (chi_square_legacy(b, p[1]) * p[0]);
}

double tt__bits_standard_t(tt_bits *b, const double *p) {
  double x = tt__bits_normal(b), y = gamma_of(b, p[0] / 2);
  return sqrt(p[0] / 2) * x / sqrt(y);
}
double tt__bits_standard_t_legacy(tt_bits *b, const double *p) {
  double x = gauss(b), y = gamma_legacy(b, p[0] / 2);
  return sqrt(p[0] / 2) * x / sqrt(y);
}

/* Two powers of uniform numbers whose sum is at most 1 (Johnk). False: they do not fit, draw again. */
static bool johnk(tt_bits *b, double a, double c, double *u, double *v, double *x, double *y) {
  *u = tt__bits_double(b);
  *v = tt__bits_double(b);
  *x = pow(*u, 1 / a);
  *y = pow(*v, 1 / c);
  return *x + *y <= 1;
}

double tt__bits_beta(tt_bits *b, const double *p) {
  const double tiny = 3e-103; /* below, nothing but 0 and 1 comes out */
  double u, v, x, y;
  if (p[0] > 1 || p[1] > 1 || isnan(p[0]) || isnan(p[1])) {
    x = gamma_of(b, p[0]);
    y = gamma_of(b, p[1]);
    return x / (x + y);
  }
  if (p[0] < tiny && p[1] < tiny) return (p[0] + p[1]) * tt__bits_double(b) < p[0];
  while (!johnk(b, p[0], p[1], &u, &v, &x, &y) || !(u + v > 0)) continue;
  if (x > 0 && y > 0) return x / (x + y);
  double apart = log(u) / p[0] - log(v) / p[1]; /* a power is too small for itself */
  return apart > 0 ? exp(-log1p(exp(-apart))) : exp(apart - log1p(exp(apart)));
}
double tt__bits_beta_legacy(tt_bits *b, const double *p) {
  double u, v, x, y;
  if (p[0] > 1 || p[1] > 1 || isnan(p[0]) || isnan(p[1])) {
    x = gamma_legacy(b, p[0]);
    y = gamma_legacy(b, p[1]);
    return x / (x + y);
  }
  while (!johnk(b, p[0], p[1], &u, &v, &x, &y)) continue;
  if (x + y > 0) return x / (x + y);
  x = log(u) / p[0];
  y = log(v) / p[1];
  double most = x > y ? x : y;
  x -= most;
  y -= most;
  return exp(x - log(exp(x) + exp(y)));
}

/* ---- transforms of one or two numbers */

double tt__bits_uniform(tt_bits *b, const double *p) { return p[0] + p[1] * tt__bits_double(b); }

double tt__bits_normal_scaled(tt_bits *b, const double *p) { return p[0] + p[1] * tt__bits_normal(b); }
double tt__bits_normal_legacy(tt_bits *b, const double *p) { return p[0] + p[1] * gauss(b); }
double tt__bits_lognormal(tt_bits *b, const double *p) { return exp(p[0] + p[1] * tt__bits_normal(b)); }
double tt__bits_lognormal_legacy(tt_bits *b, const double *p) { return exp(p[0] + p[1] * gauss(b)); }

double tt__bits_exponential_scaled(tt_bits *b, const double *p) { return p[0] * tt__bits_exponential(b); }
double tt__bits_exponential_legacy(tt_bits *b, const double *p) { return p[0] * exponential_log(b); }

double tt__bits_standard_cauchy(tt_bits *b, const double *p) {
  (void)p;
  double x = tt__bits_normal(b), y = tt__bits_normal(b);
  return x / y;
}
double tt__bits_standard_cauchy_legacy(tt_bits *b, const double *p) {
  (void)p;
  double x = gauss(b), y = gauss(b);
  return x / y;
}

double tt__bits_pareto(tt_bits *b, const double *p) { return expm1(tt__bits_exponential(b) / p[0]); }
double tt__bits_pareto_legacy(tt_bits *b, const double *p) { return exp(exponential_log(b) / p[0]) - 1; }

double tt__bits_weibull(tt_bits *b, const double *p) { return p[0] == 0 ? 0 : pow(tt__bits_exponential(b), 1 / p[0]); }
double tt__bits_weibull_legacy(tt_bits *b, const double *p) {
  return p[0] == 0 ? 0 : pow(exponential_log(b), 1 / p[0]);
}

double tt__bits_power(tt_bits *b, const double *p) { return pow(-expm1(-tt__bits_exponential(b)), 1 / p[0]); }
double tt__bits_power_legacy(tt_bits *b, const double *p) { return pow(1 - exp(-exponential_log(b)), 1 / p[0]); }

double tt__bits_rayleigh(tt_bits *b, const double *p) { return p[0] * sqrt(2 * tt__bits_exponential(b)); }
double tt__bits_rayleigh_legacy(tt_bits *b, const double *p) { return p[0] * sqrt(-2 * log1p(-tt__bits_double(b))); }

double tt__bits_laplace(tt_bits *b, const double *p) {
  for (;;) {
    double u = tt__bits_double(b);
    if (u >= 0.5) return p[0] - p[1] * log(2 - u - u);
    if (u > 0) return p[0] + p[1] * log(u + u);
  }
}
double tt__bits_gumbel(tt_bits *b, const double *p) {
  for (;;) {
    double u = 1 - tt__bits_double(b);
    if (u < 1) return p[0] - p[1] * log(-log(u));
  }
}
double tt__bits_logistic(tt_bits *b, const double *p) {
  for (;;) {
    double u = tt__bits_double(b);
    if (u > 0) return p[0] + p[1] * log(u / (1 - u));
  }
}

double tt__bits_triangular(tt_bits *b, const double *p) {
  double span = p[2] - p[0], left = p[1] - p[0], u = tt__bits_double(b);
  if (u <= left / span) return p[0] + sqrt(u * (left * span));
  return p[2] - sqrt((1 - u) * ((p[2] - p[1]) * span));
}

/* The root of a quadratic equation, or what its product with the other is (Michael, Schucany and Haas). */
static double one_of_two(tt_bits *b, double mean, double x) {
  return tt__bits_double(b) <= mean / (mean + x) ? x : mean * mean / x;
}
double tt__bits_wald(tt_bits *b, const double *p) {
  double y = tt__bits_normal(b);
  y = p[0] * y * y;
  double d = 1 + sqrt(1 + 4 * p[1] / y);
  return one_of_two(b, p[0], p[0] * (1 - 2 / d));
}
double tt__bits_wald_legacy(tt_bits *b, const double *p) {
  double y = gauss(b);
  y = p[0] * y * y;
  return one_of_two(b, p[0], p[0] + p[0] / (2 * p[1]) * (y - sqrt(4 * p[1] * y + y * y)));
}

/* ---- von Mises, by rejection from a wrapped Cauchy number (Best and Fisher) */

static double wrapped(double x) {
  double size = fmod(fabs(x) + M_PI, 2 * M_PI) - M_PI;
  return x < 0 ? -size : size;
}

static double vonmises_of(tt_bits *b, double mu, double kappa) {
  double s = 1 / kappa + kappa, w, y, v;
  if (kappa >= 1e-5) {
    double r = 1 + sqrt(1 + 4 * kappa * kappa), rho = (r - sqrt(2 * r)) / (2 * kappa);
    s = (1 + rho * rho) / (2 * rho);
  }
  do {
    double z = cos(M_PI * tt__bits_double(b));
    w = (1 + s * z) / (s + z);
    y = kappa * (s - w);
    v = tt__bits_double(b);
  } while (!(y * (2 - y) - v >= 0) && !(log(y / v) + 1 - y >= 0));
  double u = tt__bits_double(b), angle = acos(w);
  return wrapped((u < 0.5 ? -angle : angle) + mu);
}

double tt__bits_vonmises_legacy(tt_bits *b, const double *p) {
  if (isnan(p[1])) return NAN;
  if (p[1] < 1e-8) return M_PI * (2 * tt__bits_double(b) - 1);
  return vonmises_of(b, p[0], p[1]);
}
double tt__bits_vonmises(tt_bits *b, const double *p) {
  if (!(p[1] > 1e6)) return tt__bits_vonmises_legacy(b, p);
  double x = p[0] + sqrt(1 / p[1]) * tt__bits_normal(b); /* too narrow to be rejected: a normal number */
  if (x < -M_PI) x += 2 * M_PI;
  if (x > M_PI) x -= 2 * M_PI;
  return x;
}
