/*
** Binomial numbers: by walking up the distribution where the mean is small, else by rejection from a triangle, two
** parallelograms and two exponential tails (Kachitvichyanukul and Schmeiser, BTPE). p <= 1/2 in both.
**
** `legacy`: RandomState's numbers, which stay as they once were: log(1 - p) loses a small p, and the rests of
** Stirling's formula are all added, as the paper has it, where two are to be subtracted (NumPy 2.5's Generator does).
*/
#include <math.h>

#include "random/draws.h"

/* What a walk starts with; kept, because mostly a thread's next number has the same parameters. */
typedef struct walk {
  int64_t n, bound;
  double p, first;
  bool legacy;
} walk;

static const walk *walk_of(int64_t n, double p, bool legacy) {
  static __thread walk kept;
  if (kept.n == n && kept.p == p && kept.legacy == legacy) return &kept;
  double size = (double)n, q = 1 - p, mean = size * p, most = mean + 10 * sqrt(mean * q + 1);
  kept = (walk){.n = n, .p = p, .legacy = legacy, .bound = (int64_t)(size < most ? size : most)};
  kept.first = exp(size * (legacy ? log(q) : log1p(-p)));
  return &kept;
}

static int64_t by_inversion(tt_bits *b, int64_t n, double p, bool legacy) {
  const walk *w = walk_of(n, p, legacy);
  double q = 1 - p, first = w->first, chance = first, u = tt__bits_double(b);
  int64_t bound = w->bound, k = 0;
  while (u > chance) {
    if (++k > bound) {
      k = 0;
      chance = first;
      u = tt__bits_double(b);
    } else {
      u -= chance;
      chance = ((double)(n - k + 1) * p * chance) / ((double)k * q);
    }
  }
  return k;
}

typedef struct btpe {
  int64_t n, mode;
  double p, q, middle, left, right, height, left_rate, right_rate, edge[4]; /* edges of the four regions */
} btpe;

static double tail_rate(double a) { return a * (1 + a / 2); }

static btpe prepared(int64_t n, double p) {
  btpe s = {.n = n, .p = p, .q = 1 - p};
  double size = (double)n, top = size * p + p;
  s.mode = (int64_t)floor(top);
  double width = floor(2.195 * sqrt(size * p * s.q) - 4.6 * s.q) + 0.5;
  s.middle = (double)s.mode + 0.5;
  s.left = s.middle - width;
  s.right = s.middle + width;
  s.height = 0.134 + 20.5 / (15.3 + (double)s.mode);
  s.left_rate = tail_rate((top - s.left) / (top - s.left * p));
  s.right_rate = tail_rate((s.right - top) / (s.right * s.q));
  s.edge[0] = width;
  s.edge[1] = width * (1 + 2 * s.height);
  s.edge[2] = s.edge[1] + s.height / s.left_rate;
  s.edge[3] = s.edge[2] + s.height / s.right_rate;
  return s;
}

/* A place in one of the regions, and how high in it. False: outside; *sure: no need to look at the curve. */
static bool proposed(tt_bits *b, const btpe *s, double *y, double *v, bool *sure) {
  double u = tt__bits_double(b) * s->edge[3];
  *v = tt__bits_double(b);
  *sure = u <= s->edge[0];
  if (*sure) {
    *y = floor(s->middle - s->edge[0] * *v + u);
  } else if (u <= s->edge[1]) {
    double x = s->left + (u - s->edge[0]) / s->height;
    *v = *v * s->height + 1 - fabs((double)s->mode - x + 0.5) / s->edge[0];
    if (*v > 1) return false;
    *y = floor(x);
  } else if (u <= s->edge[2]) {
    *y = floor(s->left + log(*v) / s->left_rate);
    if (*y < 0 || *v == 0) return false;
    *v = *v * (u - s->edge[1]) * s->left_rate;
  } else {
    *y = floor(s->right - log(*v) / s->right_rate);
    if (*y > (double)s->n || *v == 0) return false;
    *v = *v * (u - s->edge[2]) * s->right_rate;
  }
  return true;
}

/* Near the mode, or far from it: the ratio of chances, factor by factor. */
static bool below_product(const btpe *s, int64_t y, double v) {
  double odds = s->p / s->q, a = odds * (double)(s->n + 1), f = 1;
  for (int64_t i = s->mode + 1; i <= y; i++) f *= a / (double)i - odds;
  for (int64_t i = y + 1; i <= s->mode; i++) f /= a / (double)i - odds;
  return !(v > f);
}

static double stirling_rest(double x) {
  double x2 = x * x;
  return (13860. - (462. - (132. - (99. - 140. / x2) / x2) / x2) / x2) / x / 166320.;
}

/* Between: bounds by a parabola, else Stirling's formula. */
static bool below_curve(const btpe *s, int64_t y, int64_t k, double v, bool legacy) {
  double size = (double)s->n, spread = size * s->p * s->q, far = (double)k, n_mode = (double)s->mode, at = (double)y;
  double rho = (far / spread) * ((far * (far / 3 + 0.625) + 0.16666666666666666) / spread + 0.5);
  double t = (double)(-k * k) / (2 * spread), a = log(v);
  if (a < t - rho) return true;
  if (a > t + rho) return false;
  double x1 = at + 1, f1 = n_mode + 1, z = size + 1 - n_mode, w = size - at + 1;
  double sign = legacy ? 1 : -1;
  return !(a > s->middle * log(f1 / x1) + (size - n_mode + 0.5) * log(z / w) +
                   (at - n_mode) * log(w * s->p / (x1 * s->q)) + stirling_rest(f1) + stirling_rest(z) +
                   sign * stirling_rest(x1) + sign * stirling_rest(w));
}

static int64_t by_rejection(tt_bits *b, int64_t n, double p, bool legacy) {
  btpe s = prepared(n, p);
  double y, v;
  bool sure;
  for (;;) {
    if (!proposed(b, &s, &y, &v, &sure)) continue;
    int64_t at = (int64_t)y, k = at > s.mode ? at - s.mode : s.mode - at;
    if (sure) return at;
    bool between = k > 20 && (double)k < (double)n * p * s.q / 2 - 1;
    if (between ? below_curve(&s, at, k, v, legacy) : below_product(&s, at, v)) return at;
  }
}

static int64_t half(tt_bits *b, int64_t n, double p, bool legacy) {
  return p * (double)n <= 30 ? by_inversion(b, n, p, legacy) : by_rejection(b, n, p, legacy);
}

static int64_t binomial(tt_bits *b, int64_t n, double p, bool legacy) {
  return p <= 0.5 ? half(b, n, p, legacy) : n - half(b, n, 1 - p, legacy);
}

int64_t tt__bits_binomial(tt_bits *b, const double *p) {
  return p[0] == 0 || p[1] == 0 ? 0 : binomial(b, (int64_t)p[0], p[1], false);
}
/* RandomState takes a word where there is nothing to draw. */
int64_t tt__bits_binomial_legacy(tt_bits *b, const double *p) { return binomial(b, (int64_t)p[0], p[1], true); }
