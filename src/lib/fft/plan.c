/*
** Tables of transforms and the choice among the ways to do one. It must not know of arrays or axes.
*/
#include "lib/fft/plan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "lib/fft/host.h"

enum {
  LONGEST = 4096,      /* points of a short transform */
  IN_CACHE = 256,      /* of which two copies of a vector of each stay in the first-level cache */
  ALL_TURNS = 1 << 14, /* points of a split one whose turns are all kept */
  KEPT_PLANS = 64
};
static const size_t kept_bytes = (size_t)256 << 20;

static struct {
  tt_lock lock;
  tt_fft_plan *first; /* latest use first */
} cache = {.lock = TT_LOCK_RANKED(1)};

TT_LOCK_FORKS(cache.lock, 1);

/* In the first octant, where the sine and cosine of a rounded angle are right to the last bit but one; the rest of the
** circle by symmetry, in whole numbers. */
void tt__fft_root(int64_t k, int64_t n, double *re, double *im) {
  assert(n > 0);
  assert(n > 0 && k >= 0 && k < n);
  const long double quarter_pi = 0.785398163397448309615660845819875721L;
  int64_t u = 8 * k;
  bool lower = u > 4 * n, left = false, steep = false;
  if (lower) u = 8 * n - u;
  if ((left = u > 2 * n)) u = 4 * n - u;
  if ((steep = u > n)) u = 2 * n - u;
  long double angle = (long double)u * quarter_pi / (long double)n;
  double high = (double)angle, low = (double)(angle - (long double)high), s = sin(high), c = cos(high);
  double sine = s + low * c, cosine = c - low * s;
  *re = (left ? -1 : 1) * (steep ? sine : cosine);
  *im = (lower ? 1 : -1) * (steep ? cosine : sine);
}

/* ---- memory */

static void *table(tt_fft_plan *p, tt_fft_table *t, size_t size, tt_error *err) {
  t->at = tt__mem_alloc_data(size);
  if (!t->at) {
    tt__fail_memory(err, size);
    return NULL;
  }
  t->size = size;
  p->bytes += size;
  return t->at;
}

static void plan_free(tt_fft_plan *p) {
  tt_fft_table *all[] = {&p->whole_turns, &p->first_turns, &p->second_turns, &p->lane_turns, &p->coarse,
                         &p->fine,        &p->chirp,       &p->kernel,       &p->real_turns};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tt__mem_free_data(all[i]->at, all[i]->size);
  if (p->rows) tt__fft_plan_give_back(p->rows);
  if (p->longer) tt__fft_plan_give_back(p->longer);
  tt__mem_free(p, sizeof *p);
}

static bool is_wide(const tt_fft_plan *p) { return p->dtype == TT_C128; }
static size_t real_size(const tt_fft_plan *p) { return is_wide(p) ? sizeof(double) : sizeof(float); }

static void set(const tt_fft_plan *p, void *at, int64_t i, double v) {
  if (is_wide(p))
    ((double *)at)[i] = v;
  else
    ((float *)at)[i] = (float)v;
}

static void set_root(const tt_fft_plan *p, void *at, int64_t i, int64_t step, int64_t k, int64_t n) {
  double re, im;
  tt__fft_root(k, n, &re, &im);
  set(p, at, i, re);
  set(p, at, i + step, im);
}

/* ---- passes */

/* Radices of n, the even ones first; 0 when a prime is too large for a pass. */
static int radices(int64_t n, int *out) {
  int count = 0, twos = 0;
  for (; n % 2 == 0; n /= 2) twos++;
  for (; twos >= 3 && twos != 4; twos -= 3) out[count++] = 8;
  for (; twos >= 2; twos -= 2) out[count++] = 4;
  if (twos) out[count++] = 2;
  for (int r = 3; r <= TT_FFT_PRIME && n > 1; r += 2)
    for (; n % r == 0 && count < TT_FFT_PASSES; n /= r) out[count++] = r;
  return n > 1 ? 0 : count;
}

double tt__fft_flops(int64_t n) {
  int r[TT_FFT_PASSES];
  double one = n > 1 ? 5 * (double)n * log2((double)n) : 1;
  /* two transforms of more than twice the length, and what stands between them */
  return n > 1 && radices(n, r) == 0 ? 10 * one : one;
}

static double cost(int64_t n) {
  static const double pass[] = {0, 0, 3, 4, 4, 6, 0, 8, 5.5, 0, 0, 12, 0, 14};
  int r[TT_FFT_PASSES], count = radices(n, r);
  double sum = 5; /* bringing it in and out */
  for (int k = 0; k < count; k++) sum += r[k] <= 13 ? pass[r[k]] : 2.0 * r[k];
  return (double)n * sum * (n > 4 * IN_CACHE ? 2 : n > IN_CACHE ? 1.6 : 1);
}

static tt_code make_passes(tt_fft_plan *p, int64_t n, tt_fft_passes *out, tt_fft_table *turns, tt_error *err) {
  out->n = n;
  out->count = radices(n, out->radix);
  int64_t left = n, numbers = 0, at = 0;
  for (int k = 0; k < out->count; k++) {
    int r = out->radix[k];
    numbers += left / r * (r - 1) * 2 + 2 * r;
    left /= r;
  }
  char *room = table(p, turns, (size_t)(numbers + 1) * real_size(p), err);
  if (!room) return TT_ENOMEM;
  left = n;
  for (int k = 0; k < out->count; k++) {
    int r = out->radix[k];
    out->turns[k] = room + (size_t)at * real_size(p);
    for (int64_t block = 0; block < left / r; block++)
      for (int j = 1; j < r; j++, at += 2) set_root(p, room, at, 1, block * j, left);
    out->roots[k] = room + (size_t)at * real_size(p);
    for (int j = 0; j < r; j++) {
      double re, im;
      tt__fft_root(j, r, &re, &im);
      set(p, room, at + j, re);
      set(p, room, at + r + j, -im);
    }
    at += 2 * r;
    left /= r;
  }
  return TT_OK;
}

/* ---- split */

static int64_t blocks(int64_t n, int lanes) { return (n + lanes - 1) / lanes; }

static double split_cost(int64_t a, int64_t b, int lanes) {
  double columns = (double)blocks(b, lanes) * (cost(a) + 3.0 * (double)a);
  return columns + (double)blocks(a, lanes) * cost(b);
}

/* The best divisor of n for columns, 0 if there is none; *least: what the work costs. */
static int64_t best_split(int64_t n, int lanes, double *least) {
  int64_t best = 0;
  *least = 0;
  for (int64_t a = 2; a <= LONGEST && a <= n / 2; a++) {
    int64_t b = n / a;
    if (n % a != 0) continue;
    double c = split_cost(a, b, lanes);
    if (b > LONGEST) c *= 1.5; /* b rows are split again */
    if (best && c >= *least) continue;
    best = a;
    *least = c;
  }
  return best;
}

/* The factors by which whole blocks of columns turn, for any column: w^(i << shift) and w^i. */
static tt_code make_factors(tt_fft_plan *p, tt_error *err) {
  while ((int64_t)1 << (2 * p->shift) < p->n) p->shift++;
  int64_t low = (int64_t)1 << p->shift, high = p->n / low + 1;
  double *coarse = table(p, &p->coarse, sizeof(double) * 2 * (size_t)high, err);
  double *fine = coarse ? table(p, &p->fine, sizeof(double) * 2 * (size_t)low, err) : NULL;
  if (!fine) return TT_ENOMEM;
  for (int64_t i = 0; i < high; i++) tt__fft_root(i * low % p->n, p->n, &coarse[2 * i], &coarse[2 * i + 1]);
  for (int64_t i = 0; i < low; i++) tt__fft_root(i % p->n, p->n, &fine[2 * i], &fine[2 * i + 1]);
  return TT_OK;
}

static tt_code make_split(tt_fft_plan *p, int64_t a, tt_error *err) {
  int lanes = p->lanes->lanes;
  int64_t b = p->b = p->n / a;
  p->all_turns = p->n <= ALL_TURNS;
  int64_t n = p->all_turns ? blocks(b, lanes) : 1;
  TT_TRY(make_passes(p, a, &p->first, &p->first_turns, err));
  if (b <= LONGEST)
    TT_TRY(make_passes(p, b, &p->second, &p->second_turns, err));
  else
    TT_TRY(tt__fft_plan_get(p->dtype, b, false, &p->rows, err));
  char *at = table(p, &p->lane_turns, (size_t)(n * a * 2) * (size_t)p->lanes->bytes, err);
  if (!at) return TT_ENOMEM;
  for (int64_t i = 0; i < n * lanes; i++) /* column i */
    for (int64_t k = 0; k < a; k++)
      set_root(p, at, (i / lanes * a + k) * 2 * lanes + i % lanes, lanes, k * i % p->n, p->n);
  p->is_split = true;
  return p->all_turns ? TT_OK : make_factors(p, err);
}

/* ---- prime */

/* The smallest length from n on whose primes are 2, 3, 5 and 7, and that splits well. */
static int64_t good_length(int64_t n) {
  int64_t best = 0, grain = n >= 4096 ? 256 : n >= 256 ? 16 : 1;
  double least = 0;
  int lanes = tt__fft_lanes(TT_C64)->lanes;
  for (int64_t a = 1; a < 2 * n; a *= 7)
    for (int64_t b = a; b < 2 * n; b *= 5)
      for (int64_t c = b; c < 2 * n; c *= 3) {
        int64_t m = c;
        while (m < n || m % grain) m *= 2;
        double work = cost(m);
        if (m > IN_CACHE) best_split(m, lanes, &work);
        if (best && (work >= least || m > 2 * n)) continue;
        best = m;
        least = work;
      }
  return best;
}

static tt_code make_prime(tt_fft_plan *p, tt_error *err) {
  TT_TRY(tt__fft_plan_get(p->dtype, good_length(2 * p->n - 1), false, &p->longer, err));
  int64_t m = p->longer->n;
  size_t item = 2 * real_size(p);
  char *chirp = table(p, &p->chirp, (size_t)p->n * item, err);
  char *kernel = chirp ? table(p, &p->kernel, (size_t)m * item, err) : NULL;
  if (!kernel) return TT_ENOMEM;
  memset(kernel, 0, (size_t)m * item);
  int64_t square = 0; /* k * k modulo 2 n */
  for (int64_t k = 0; k < p->n; k++) {
    double re, im;
    tt__fft_root(square, 2 * p->n, &re, &im);
    set(p, chirp, 2 * k, re);
    set(p, chirp, 2 * k + 1, im);
    for (int64_t at = k;; at = m - k) {
      set(p, kernel, 2 * at, re);
      set(p, kernel, 2 * at + 1, -im);
      if (at != k || k == 0) break;
    }
    square = (square + 2 * k + 1) % (2 * p->n);
  }
  return tt__fft_row(p->longer, kernel, kernel, false, 1.0 / (double)m, err);
}

/* ---- all of it */

static tt_code make_real(tt_fft_plan *p, tt_error *err) {
  int64_t most = p->n / 2 + 1;
  p->real_span = (most + 15) / 16 * 16;
  void *at = table(p, &p->real_turns, 2 * (size_t)p->real_span * real_size(p), err);
  if (!at) return TT_ENOMEM;
  for (int64_t k = 0; k < most; k++) set_root(p, at, k, p->real_span, k, 2 * p->n);
  return TT_OK;
}

static tt_code make(tt_dtype t, int64_t n, tt_fft_plan **out, tt_error *err) {
  tt_fft_plan *p = tt__mem_zalloc(sizeof *p);
  if (!p) return tt__fail_memory(err, sizeof *p);
  *p = (tt_fft_plan){.n = n, .dtype = t, .lanes = tt__fft_lanes(t), .users = 1};
  int r[TT_FFT_PASSES];
  bool passes = n == 1 || radices(n, r) > 0;
  int64_t a = passes ? best_split(n, p->lanes->lanes, &p->cost_split) : 0;
  tt_code code = TT_OK;
  p->is_short = passes && n <= LONGEST;
  p->cost_whole = cost(n);
  if (p->is_short) code = make_passes(p, n, &p->whole, &p->whole_turns, err);
  if (code == TT_OK && a && (!p->is_short || p->cost_split < p->cost_whole)) code = make_split(p, a, err);
  if (code == TT_OK && !p->is_short && !p->is_split) code = make_prime(p, err);
  if (code != TT_OK) plan_free(p);
  *out = code == TT_OK ? p : NULL;
  return code;
}

/* Take what goes beyond the bound out of the list. */
static tt_fft_plan *surplus(int plans, size_t bytes) {
  tt_fft_plan *gone = NULL;
  size_t sum = 0;
  int count = 0;
  for (tt_fft_plan **at = &cache.first; *at;) {
    tt_fft_plan *p = *at;
    sum += p->bytes;
    count++;
    if (p->users || (count <= plans && sum <= bytes)) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    p->next = gone;
    gone = p;
  }
  return gone;
}

static void free_all(tt_fft_plan *p) {
  while (p) {
    tt_fft_plan *next = p->next;
    plan_free(p);
    p = next;
  }
}

static tt_fft_plan *find(tt_dtype t, int64_t n) {
  for (tt_fft_plan **at = &cache.first; *at; at = &(*at)->next) {
    tt_fft_plan *p = *at;
    if (p->n != n || p->dtype != t) continue;
    *at = p->next;
    p->next = cache.first;
    p->users++;
    return cache.first = p;
  }
  return NULL;
}

tt_code tt__fft_plan_get(tt_dtype t, int64_t n, bool real, tt_fft_plan **out, tt_error *err) {
  assert(n > 0 && (t == TT_C64 || t == TT_C128));
  tt_code code = TT_OK;
  tt__lock(&cache.lock);
  tt_fft_plan *p = find(t, n), *gone = NULL;
  tt__unlock(&cache.lock);
  if (!p) {
    TT_TRY(make(t, n, &p, err)); /* two threads may make the same one; both serve */
    tt__lock(&cache.lock);
    p->next = cache.first;
    cache.first = p;
    gone = surplus(KEPT_PLANS, kept_bytes);
    tt__unlock(&cache.lock);
    free_all(gone);
  }
  if (real) {
    tt__lock(&cache.lock);
    if (!p->real_turns.at) code = make_real(p, err);
    tt__unlock(&cache.lock);
  }
  if (code != TT_OK) tt__fft_plan_give_back(p);
  *out = code == TT_OK ? p : NULL;
  return code;
}

void tt__fft_plan_give_back(tt_fft_plan *p) {
  tt__lock(&cache.lock);
  assert(p->users > 0);
  p->users--;
  tt__unlock(&cache.lock);
}

void tt__fft_plans_drop(void) {
  for (;;) { /* a plan may be the last user of another one */
    tt__lock(&cache.lock);
    tt_fft_plan *gone = surplus(0, 0);
    tt__unlock(&cache.lock);
    if (!gone) return;
    free_all(gone);
  }
}
