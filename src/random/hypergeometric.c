/*
** Hypergeometric numbers: one item after the other where few are drawn, else by a ratio of uniforms (Stadlober).
*/
#include <assert.h>
#include <math.h>
#include <pthread.h>

#include "random/draws.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

enum { TABLED = 126 };

static double tabled[TABLED];
static pthread_once_t tabled_once = PTHREAD_ONCE_INIT;
static void make_table(void) {
  for (int k = 0; k < TABLED; k++) tabled[k] = (double)lgammal((long double)k + 1);
}

/* log(k!) */
static double log_factorial(int64_t k) {
  if (k < TABLED) return tabled[k];
  double x = (double)k;
  return (x + 0.5) * log(x) - x + (0.9189385332046728 + (1 / x) * (1 / 12.0 - 1 / (360.0 * x * x)));
}
static double log_factorial_legacy(int64_t k) { return tt__bits_log_gamma((double)(k + 1)); }

static int64_t one_by_one(tt_bits *b, int64_t good, int64_t bad, int64_t sample) {
  int64_t total = good + bad, drawn = sample > total / 2 ? total - sample : sample, all = total, rest = good;
  while (drawn > 0 && rest > 0 && all > rest) {
    if ((int64_t)tt__bits_interval(b, (uint64_t)--all) < rest) rest--;
    drawn--;
  }
  if (all == rest) rest -= drawn; /* only good ones are left */
  return sample > total / 2 ? rest : good - rest;
}

/* The rejection itself; `item` drawn of `few` and `many`, mean `a`. */
typedef struct urn {
  int64_t few, many, item;
  double a, h, top, bound;
  double (*log_factorial)(int64_t k);
} urn;

static double chance(const urn *s, int64_t k) {
  return s->log_factorial(k) + s->log_factorial(s->few - k) + s->log_factorial(s->item - k) +
         s->log_factorial(s->many - s->item + k);
}

static int64_t rejected(tt_bits *b, const urn *s) {
  for (;;) {
    double u = tt__bits_double(b), v = tt__bits_double(b), x = s->a + s->h * (v - 0.5) / u;
    if (!(x >= 0 && x < s->bound)) continue;
    int64_t k = (int64_t)floor(x);
    double t = s->top - chance(s, k);
    if (u * (4 - u) - 3 <= t) return k;
    if (u * (u - t) >= 1) continue;
    if (2 * log(u) <= t) return k;
  }
}

/* 2 sqrt(2/e) and 3 - 2 sqrt(3/e) */
static double hat(double c) { return 1.7155277699214135 * c + 0.8989161620588988; }

static int64_t by_ratio(tt_bits *b, int64_t good, int64_t bad, int64_t sample, bool legacy) {
  int64_t total = good + bad;
  urn s = {.few = smaller(good, bad), .many = larger(good, bad), .item = smaller(sample, total - sample)};
  double all = (double)total, p = (double)s.few / all, q = legacy ? 1 - p : (double)s.many / all;
  double times = legacy ? (double)sample : (double)s.item;
  double c = sqrt((double)(total - s.item) * times * p * q / (all - 1) + 0.5);
  pthread_once(&tabled_once, make_table);
  s.log_factorial = legacy ? log_factorial_legacy : log_factorial;
  s.a = (double)s.item * p + 0.5;
  s.h = hat(c);
  int64_t mode = (int64_t)floor((double)(s.item + 1) * (double)(s.few + 1) / (double)(total + 2));
  s.top = chance(&s, mode);
  s.bound = fmin((double)smaller(s.item, s.few) + 1, floor(s.a + 16 * c));
  int64_t k = rejected(b, &s);
  if (good > bad) k = s.item - k;
  return s.item < sample ? good - k : k;
}

int64_t tt__bits_hypergeometric(tt_bits *b, const double *p) {
  assert(p[0] >= 0 && p[1] >= 0 && p[2] >= 0);
  int64_t good = (int64_t)p[0], bad = (int64_t)p[1], sample = (int64_t)p[2];
  if (sample >= 10 && sample <= good + bad - 10) return by_ratio(b, good, bad, sample, false);
  return one_by_one(b, good, bad, sample);
}

static int64_t by_uniform_numbers(tt_bits *b, int64_t good, int64_t bad, int64_t sample) {
  double most = (double)smaller(good, bad), left = most;
  int64_t rest = bad + good - sample;
  for (int64_t k = sample; left > 0 && k > 0; k--) left -= floor(tt__bits_double(b) + left / (double)(rest + k));
  int64_t out = (int64_t)(most - left);
  return good > bad ? sample - out : out;
}

int64_t tt__bits_hypergeometric_legacy(tt_bits *b, const double *p) {
  int64_t good = (int64_t)p[0], bad = (int64_t)p[1], sample = (int64_t)p[2];
  if (sample > 10) return by_ratio(b, good, bad, sample, true);
  return sample > 0 ? by_uniform_numbers(b, good, bad, sample) : 0;
}
