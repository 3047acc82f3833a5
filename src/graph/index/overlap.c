/*
** Overlap of strided arrays, exactly.
**
** A byte of both is a choice of an index along each axis of either array, and of a byte within each element, that leads
** to one address. With the second array walked from its end this is one equation with positive coefficients,
**   sum(coef[k] * x[k]) = distance from a's first byte to b's last,  0 <= x[k] <= most[k],
** a bounded knapsack. It is searched from the largest coefficient down. What can be left is bounded by the coefficients
** that follow, and divisible by what divides all of them; where those reach every multiple up to their sum, as the axes
** of dense arrays do, the search ends at once.
*/
#include "graph/index/overlap.h"

#include "base/integer.h"
#include "graph/index/alias.h"

enum { MOST_TERMS = 2 * TT_MAX_RANK + 1 };
typedef enum answer { NO, YES, TOO_HARD } answer;

typedef struct term {
  int64_t coef, most;
} term;

typedef struct problem {
  term t[MOST_TERMS];
  int n;
  /* of the terms from k on: the largest sum, the greatest common divisor, whether every multiple of that is a sum */
  int64_t sum[MOST_TERMS + 1], divisor[MOST_TERMS + 1];
  bool all[MOST_TERMS + 1];
  int64_t work; /* steps left; negative: any number */
} problem;

/* ---- posing it */

/* Keep the terms by falling coefficient, equal ones as one. */
static void add_term(problem *p, int64_t coef, int64_t most) {
  if (coef == 0 || most == 0) return;
  int at = p->n;
  while (at > 0 && p->t[at - 1].coef < coef) at--;
  if (at > 0 && p->t[at - 1].coef == coef) {
    p->t[at - 1].most += most;
    return;
  }
  for (int k = p->n++; k > at; k--) p->t[k] = p->t[k - 1];
  p->t[at] = (term){coef, most};
}

/* An array's axes as terms; its first byte and the one behind its last. */
static void add_array(problem *p, const tt_array *a, int64_t *first, int64_t *end) {
  int64_t off, stride[TT_MAX_RANK];
  tt__array_place(a, &off, stride);
  *first = off;
  *end = off + (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  for (int k = 0; k < a->rank; k++) {
    int64_t far = stride[k] * (a->dim[k] - 1);
    *(far < 0 ? first : end) += far;
    add_term(p, stride[k] < 0 ? -stride[k] : stride[k], a->dim[k] - 1);
  }
}

static void sum_up(problem *p) {
  p->sum[p->n] = p->divisor[p->n] = 0;
  p->all[p->n] = true;
  for (int k = p->n - 1; k >= 0; k--) {
    const term *t = &p->t[k];
    int64_t rest = p->sum[k + 1], d = p->divisor[k + 1];
    p->sum[k] = rest + t->coef * t->most;
    p->divisor[k] = tt__gcd(t->coef, d);
    p->all[k] = d == 0 || (p->all[k + 1] && t->coef % d == 0 && t->coef <= rest + d);
  }
}

/* ---- solving it */

/* x with coef * x = value modulo m, the smallest one; *step: from one such x to the next. It exists. */
static int64_t congruent(int64_t coef, int64_t value, int64_t m, int64_t *step) {
  int64_t d = tt__gcd(coef, m), r0 = m / d, r1 = coef / d % r0, s0 = 0, s1 = 1;
  *step = r0;
  if (r0 == 1) return 0;
  while (r1) { /* s1 becomes the inverse of coef / d modulo m / d */
    int64_t q = r0 / r1, r = r0 - q * r1, s = s0 - q * s1;
    r0 = r1, r1 = r, s0 = s1, s1 = s;
  }
  __int128 x = (__int128)(value / d % *step) * (s0 < 0 ? s0 + *step : s0) % *step;
  return (int64_t)x;
}

static answer search(problem *p, int k, int64_t value) {
  if (value < 0 || value > p->sum[k] || (k < p->n && value % p->divisor[k] != 0)) return NO;
  if (value == 0 || p->all[k]) return YES;
  if (p->work == 0) return TOO_HARD;
  p->work--;
  const term *t = &p->t[k];
  int64_t step, least = value > p->sum[k + 1] ? (value - p->sum[k + 1] + t->coef - 1) / t->coef : 0;
  int64_t most = t->most < value / t->coef ? t->most : value / t->coef;
  int64_t x = congruent(t->coef, value, p->divisor[k + 1], &step);
  if (x < least) x += (least - x + step - 1) / step * step;
  for (; x <= most; x += step) {
    answer found = search(p, k + 1, value - x * t->coef);
    if (found != NO) return found;
    if (most - x < step) break;
  }
  return NO;
}

tt_code tt__arrays_overlap(tt_array *a, tt_array *b, int64_t max_work, bool *out, tt_error *err) {
  problem p = {.n = 0, .work = max_work};
  int64_t first[2], end[2];
  *out = false;
  if (a->size == 0 || b->size == 0 || tt__storage_root(a->storage) != tt__storage_root(b->storage)) return TT_OK;
  add_array(&p, a, &first[0], &end[0]);
  add_array(&p, b, &first[1], &end[1]);
  if (first[0] >= end[1] || first[1] >= end[0]) return TT_OK;
  *out = true;
  if (max_work == 0) return TT_OK;
  int64_t bytes = (int64_t)tt__dtype_size((tt_dtype)a->dtype) + (int64_t)tt__dtype_size((tt_dtype)b->dtype) - 2;
  int64_t item = bytes / 2 + 1, value = end[1] - 1 - first[0];
  bool aligned = a->dtype == b->dtype && (first[0] - first[1]) % item == 0;
  for (int k = 0; k < p.n; k++) aligned &= p.t[k].coef % item == 0;
  if (aligned)
    value -= item - 1; /* whole elements meet or none */
  else
    add_term(&p, 1, bytes);
  sum_up(&p);
  answer found = search(&p, 0, value);
  *out = found != NO;
  return found == TOO_HARD ? tt__fail(err, TT_EHARD, "Exceeded max_work") : TT_OK;
}
