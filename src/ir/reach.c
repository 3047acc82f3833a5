/*
** Walks that do not meet; see reach.h. Rows, columns and blocks of an array are told apart digit by digit: with a pitch
** P, an element is q * P + r. Where neither walk carries from r into q, it is enough that they differ in q, or in r.
*/
#include "ir/reach.h"

#include <assert.h>

#include "base/integer.h"
#include "ir/map.h"

/* A walk whose steps are positive and whose axes all move it; it stays between off and `last`. */
typedef struct part {
  int naxes;
  int64_t off, last;
  int64_t len[TT_MAX_AXES], step[TT_MAX_AXES];
} part;

static void add_axis(part *p, int64_t len, int64_t step) {
  assert(p->naxes < TT_MAX_AXES && len > 1 && step > 0);
  p->len[p->naxes] = len;
  p->step[p->naxes++] = step;
  p->last += (len - 1) * step;
}

/* False: it leaves what can be counted, which no walk of an array does. */
static bool straighten(const tt_reach *r, part *out) {
  int64_t first = r->off, last = r->off;
  for (int k = 0; k < r->naxes; k++) {
    int64_t far, *end = r->step[k] < 0 ? &first : &last;
    if (r->len[k] < 2) continue;
    if (__builtin_mul_overflow(r->len[k] - 1, r->step[k], &far) || __builtin_add_overflow(*end, far, end)) return false;
  }
  if (first < 0) return false;
  *out = (part){.off = first, .last = first};
  for (int k = 0; k < r->naxes; k++)
    if (r->len[k] > 1 && r->step[k]) add_axis(out, r->len[k], r->step[k] < 0 ? -r->step[k] : r->step[k]);
  assert(out->last == last);
  return true;
}

/* One ends before the other begins, or both keep to a grid and lie beside each other on it. */
static bool beside(const part *a, const part *b) {
  if (a->last < b->off || b->last < a->off) return true;
  int64_t grid = 0;
  for (int k = 0; k < a->naxes; k++) grid = tt__gcd(grid, a->step[k]);
  for (int k = 0; k < b->naxes; k++) grid = tt__gcd(grid, b->step[k]);
  return grid > 1 && (a->off - b->off) % grid != 0;
}

/* Take a walk apart into its multiples of the pitch and the rest; false: the rest carries. */
static bool cut(const part *p, int64_t pitch, part *high, part *low) {
  *high = (part){.off = p->off / pitch, .last = p->off / pitch};
  *low = (part){.off = p->off % pitch, .last = p->off % pitch};
  for (int k = 0; k < p->naxes; k++) {
    if (p->step[k] < pitch)
      add_axis(low, p->len[k], p->step[k]);
    else if (p->step[k] % pitch == 0)
      add_axis(high, p->len[k], p->step[k] / pitch);
    else
      return false;
  }
  return low->last < pitch;
}

/* The longest step of both that is shorter than `than`, or 0. */
static int64_t next_pitch(const part *a, const part *b, int64_t than) {
  int64_t most = 0;
  for (int k = 0; k < a->naxes; k++)
    if (a->step[k] < than && a->step[k] > most) most = a->step[k];
  for (int k = 0; k < b->naxes; k++)
    if (b->step[k] < than && b->step[k] > most) most = b->step[k];
  return most;
}

bool tt__reach_apart(const tt_reach *a, const tt_reach *b) {
  assert(a->naxes <= TT_MAX_AXES && b->naxes <= TT_MAX_AXES);
  part x, y, high, low, other_high, other_low;
  if (!straighten(a, &x) || !straighten(b, &y)) return false;
  if (beside(&x, &y)) return true;
  for (int64_t pitch = INT64_MAX; (pitch = next_pitch(&x, &y, pitch)) > 1;) {
    if (!cut(&x, pitch, &high, &low) || !cut(&y, pitch, &other_high, &other_low)) continue;
    if (beside(&high, &other_high) || beside(&low, &other_low)) return true;
    x = low;
    y = other_low;
  }
  return false;
}

int64_t tt__reach_points(const tt_reach *r) {
  int64_t n = 1;
  for (int k = 0; k < r->naxes; k++)
    if (r->step[k] && __builtin_mul_overflow(n, r->len[k], &n)) return INT64_MAX;
  return n;
}
