/*
** Many random numbers by rejection at once. Elements that are drawn in one way go together as a batch: guesses are made
** for all of it by vector code, what is not sure is looked at one by one, and those that are left guess again. The file
** is compiled once per instruction set (TT_VM_LEVEL, as device/cpu/vm_loops.c).
*/
#include "lib/pick/draw_loops.h"

#include <stdbool.h>
#include <string.h>

#include "base/os/os.h"
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "lib/pick/draw.text.h" /* below its words */

#ifndef TT_VM_LEVEL
#define TT_VM_LEVEL 0
#endif

#if defined(__clang__)
#define EACH_ELEMENT(n) _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < (n); i++)
#else
#define EACH_ELEMENT(n) _Pragma("GCC ivdep") for (int i = 0; i < (n); i++)
#endif

enum { BATCH = 128, CONSTANTS = 9 };

/* Elements that still want a number. */
typedef struct batch {
  int n;
  bool share;        /* their parameters, and so their constants */
  int64_t at[BATCH]; /* which elements */
  tt_u64 key[BATCH];
  tt_f64 param[3][BATCH];
  tt_f64 constant[CONSTANTS][BATCH];
  tt_u64 word[4][BATCH]; /* of up to two blocks */
  tt_f64 guess[3][BATCH];
  tt_i64 sure[BATCH];
} batch;

/* Block `place` of each element's stream; `second`: as the second of an attempt. */
static void deal(batch *b, tt_u64 place, bool second) {
  tt_u64(*word)[BATCH] = b->word + (second ? 2 : 0);
#ifdef TT__LANES
  for (int i = 0; i < b->n; i += TT__LANES) { /* rests of a batch are words of nobody */
    tt__lanes at = {0}, key, x, y;
    at += place;
    memcpy(&key, b->key + i, sizeof key);
    tt__philox_wide(at, key, &x, &y);
    memcpy(word[0] + i, &x, sizeof x);
    memcpy(word[1] + i, &y, sizeof y);
  }
#else
  for (int i = 0; i < b->n; i++) {
    tt_u64 two[2];
    tt_block_philox_u64(two, place, b->key[i]);
    word[0][i] = two[0];
    word[1][i] = two[1];
  }
#endif
}

static inline tt__block block_at(const batch *b, int first, int i) {
  tt_u64 x = b->word[first][i], y = b->word[first + 1][i];
  return (tt__block){(tt_u32)x, (tt_u32)(x >> 32), (tt_u32)y, (tt_u32)(y >> 32)};
}

/* Element i of the batch is done with; what it leaves behind is filled from the end by `compact`. */
static void move_to(batch *b, int to, int from, int constants) {
  b->at[to] = b->at[from];
  b->key[to] = b->key[from];
  for (int c = 0; c < constants && !b->share; c++) b->constant[c][to] = b->constant[c][from];
}

/* How many elements have constants of their own to compute. */
static int own(const batch *b) { return b->share && b->n > 1 ? 1 : b->n; }
static void spread(batch *b, int constants) {
  for (int c = 0; c < constants && b->share; c++) EACH_ELEMENT(b->n) b->constant[c][i] = b->constant[c][0];
}

/* ---- gamma numbers: constants d, c and the power that takes a small shape down */

static void gamma_constants_of(batch *b) {
  tt_i64 small = 0;
  EACH_ELEMENT(own(b)) {
    gamma_constants r = gamma_ready(b->param[0][i]);
    b->constant[0][i] = r.d;
    b->constant[1][i] = r.c;
    b->constant[2][i] = 1;
  }
  spread(b, 3);
  EACH_ELEMENT(b->n) small |= b->param[0][i] < 1;
  if (!small) return;
  b->share = false; /* the powers differ */
  deal(b, 1, true);
  EACH_ELEMENT(b->n) {
    tt_f64 shape = b->param[0][i], down = gamma_down(block_at(b, 2, i), shape);
    b->constant[2][i] = shape < 1 ? down : 1;
  }
}

static void guess_gammas(batch *b, tt_u64 place) {
  deal(b, place, false);
  deal(b, place + 1, true);
  EACH_ELEMENT(b->n) {
    gamma_guess g = gamma_guess_of(block_at(b, 0, i), block_at(b, 2, i), b->constant[1][i]);
    b->guess[0][i] = g.x;
    b->guess[1][i] = g.v;
    b->guess[2][i] = g.u;
    b->sure[i] = g.sure;
  }
}

static void draw_gammas(batch *b, tt_f64 *out) {
  gamma_constants_of(b);
  for (tt_u64 place = 0; b->n > 0; place += 2) {
    int left = 0;
    guess_gammas(b, place);
    for (int i = 0; i < b->n; i++) {
      gamma_guess g = {b->guess[0][i], b->guess[1][i], b->guess[2][i], b->sure[i]};
      if (g.sure || gamma_is_right(g, b->constant[0][i]))
        out[b->at[i]] = b->constant[0][i] * g.v * b->constant[2][i];
      else
        move_to(b, left++, i, 3);
    }
    b->n = left;
  }
}

/* ---- counts by walking: the steps of all elements together */

/* One step of each element that walks: false if none does. A number that has arrived is below every chance. */
#define WALK(b, k, RATIO, MOST)                                    \
  tt_i64 walking = 0;                                              \
  tt_f64 inverse = 1.0 / ((k) + 1);                                \
  EACH_ELEMENT((b)->n) {                                           \
    tt_f64 chance = (b)->guess[1][i], u = (b)->guess[0][i];        \
    tt_i64 goes = (tt_i64)((u > chance) & ((tt_f64)(k) < (MOST))); \
    walking |= goes;                                               \
    (b)->guess[0][i] = goes ? u - chance : -1;                     \
    (b)->guess[1][i] = chance * (RATIO);                           \
    (b)->guess[2][i] += goes ? 1.0 : 0.0;                          \
  }                                                                \
  return walking != 0

static bool walk_poisson(batch *b, int k) { WALK(b, k, poisson_ratio(b->param[0][i], inverse), MOST_WALKED); }
static bool walk_binomial(batch *b, int k) {
  WALK(b, k, binomial_ratio(b->constant[0][i], b->param[0][i], k, inverse), b->param[0][i]);
}

static void start_walk(batch *b) {
  deal(b, 0, false);
  EACH_ELEMENT(b->n) {
    b->guess[0][i] = fraction_of((tt_u32)b->word[0][i], (tt_u32)(b->word[0][i] >> 32));
    b->guess[2][i] = 0;
  }
}

static void draw_few_poisson(batch *b, tt_i64 *out) {
  start_walk(b);
  EACH_ELEMENT(b->n) b->guess[1][i] = tt_exp_f64(-b->param[0][i]);
  for (int k = 0; k < MOST_WALKED && walk_poisson(b, k); k++) continue;
  for (int i = 0; i < b->n; i++) out[b->at[i]] = (tt_i64)b->guess[2][i];
}

static tt_i64 turned(tt_f64 k, tt_f64 n, bool from_above) { return from_above ? (tt_i64)n - (tt_i64)k : (tt_i64)k; }

static void draw_few_binomial(batch *b, tt_i64 *out) {
  start_walk(b);
  EACH_ELEMENT(b->n) {
    tt_f64 p = b->param[1][i] > 0.5 ? 1 - b->param[1][i] : b->param[1][i];
    b->guess[1][i] = binomial_first(b->param[0][i], p);
    b->constant[0][i] = p / (1 - p);
  }
  for (int k = 0; k < MOST_WALKED && walk_binomial(b, k); k++) continue;
  for (int i = 0; i < b->n; i++) out[b->at[i]] = turned(b->guess[2][i], b->param[0][i], b->param[1][i] > 0.5);
}

/* ---- counts by rejection: constants a, b, center and sure first */

static void guess_counts(batch *b, tt_u64 place, const tt_f64 *most) {
  deal(b, place, false);
  EACH_ELEMENT(b->n) {
    table_guess g = table_guess_of(block_at(b, 0, i), b->constant[0][i], b->constant[1][i], b->constant[2][i],
                                   b->constant[3][i], most ? most[i] : MOST_COUNTED);
    b->guess[0][i] = g.k;
    b->guess[1][i] = g.us;
    b->guess[2][i] = g.v;
    b->sure[i] = g.sure;
  }
}

static table_guess guess_at(const batch *b, int i) {
  return (table_guess){b->guess[0][i], b->guess[1][i], b->guess[2][i], b->sure[i]};
}

static poisson_constants poisson_at(const batch *b, int i) {
  const tt_f64(*c)[BATCH] = b->constant;
  return (poisson_constants){c[0][i], c[1][i], c[2][i], c[3][i], c[4][i], c[5][i], c[6][i]};
}

static void draw_many_poisson(batch *b, tt_i64 *out) {
  enum { MANY = 7 };
  tt_f64(*c)[BATCH] = b->constant;
  EACH_ELEMENT(own(b)) {
    poisson_constants r = poisson_ready(b->param[0][i]);
    c[0][i] = r.a;
    c[1][i] = r.b;
    c[2][i] = r.center;
    c[3][i] = r.sure;
    c[4][i] = r.lam;
    c[5][i] = r.log_lam;
    c[6][i] = r.log_inverse;
  }
  spread(b, MANY);
  for (tt_u64 place = 0; b->n > 0; place++) {
    int left = 0;
    guess_counts(b, place, NULL);
    for (int i = 0; i < b->n; i++) {
      if (b->sure[i] || poisson_is_right(guess_at(b, i), poisson_at(b, i)))
        out[b->at[i]] = (tt_i64)b->guess[0][i];
      else
        move_to(b, left++, i, MANY);
    }
    b->n = left;
  }
}

static binomial_constants binomial_at(const batch *b, int i) {
  const tt_f64(*c)[BATCH] = b->constant;
  return (binomial_constants){c[0][i], c[1][i], c[2][i], c[3][i], c[4][i], c[5][i], c[6][i], c[7][i], c[8][i]};
}

static void draw_many_binomial(batch *b, tt_i64 *out) {
  tt_f64(*c)[BATCH] = b->constant;
  for (int i = 0; i < own(b); i++) {
    tt_f64 p = b->param[1][i];
    binomial_constants r = binomial_ready(b->param[0][i], p > 0.5 ? 1 - p : p);
    const tt_f64 value[CONSTANTS] = {r.a, r.b, r.center, r.sure, r.n, r.alpha, r.log_odds, r.mode, r.top};
    for (int k = 0; k < CONSTANTS; k++) c[k][i] = value[k];
  }
  spread(b, CONSTANTS);
  for (tt_u64 place = 0; b->n > 0; place++) {
    int left = 0;
    guess_counts(b, place, c[4]);
    for (int i = 0; i < b->n; i++) {
      if (b->sure[i] || binomial_is_right(guess_at(b, i), binomial_at(b, i))) {
        out[b->at[i]] = turned(b->guess[0][i], c[4][i], b->param[1][i] > 0.5);
      } else {
        b->param[1][left] = b->param[1][i]; /* says from which end it counts */
        move_to(b, left++, i, CONSTANTS);
      }
    }
    b->n = left;
  }
}

/* ---- one by one */

static void draw_alone(const tt_draw_job *j, const batch *b) {
  for (int i = 0; i < b->n; i++) {
    tt_f64 p = b->param[0][i], q = b->param[1][i], r = b->param[2][i], *real = (tt_f64 *)j->out + b->at[i];
    tt_i64 *count = (tt_i64 *)j->out + b->at[i];
    switch (j->kind) {
      case TT_DRAWS_HYPERGEOMETRIC:
        *count = draw_hypergeometric(b->key[i], p, q, r);
        break;
      case TT_DRAWS_ZIPF:
        *count = draw_zipf(b->key[i], p);
        break;
      case TT_DRAWS_VONMISES:
        *real = draw_vonmises(b->key[i], p, q);
        break;
      case TT_DRAWS_GAMMA:
        *real = p; /* the shape is trivial */
        break;
      default:
        *count = 0; /* nothing can hold it, or there is nothing to count */
    }
  }
}

/* ---- which element goes which way */

enum { SINGLY, FEW, MANY, WAYS };

static int way_of(int64_t kind, const tt_f64 *p) {
  if (kind == TT_DRAWS_GAMMA) return gamma_is_trivial(p[0]) ? SINGLY : MANY;
  if (kind == TT_DRAWS_POISSON) return !rate_is_drawn(p[0]) ? SINGLY : p[0] < WALKS_BELOW ? FEW : MANY;
  if (kind != TT_DRAWS_BINOMIAL || !trials_are_drawn(p[0], p[1])) return SINGLY;
  return p[0] * (p[1] > 0.5 ? 1 - p[1] : p[1]) < WALKS_BELOW ? FEW : MANY;
}

static void draw_batch(const tt_draw_job *j, batch *b, int way) {
  if (b->n == 0) return;
  if (way == SINGLY)
    draw_alone(j, b);
  else if (j->kind == TT_DRAWS_GAMMA)
    draw_gammas(b, j->out);
  else if (j->kind == TT_DRAWS_POISSON)
    (way == FEW ? draw_few_poisson : draw_many_poisson)(b, j->out);
  else
    (way == FEW ? draw_few_binomial : draw_many_binomial)(b, j->out);
}

static void add_to(batch *b, const tt_draw_job *j, int64_t at, const tt_f64 *p) {
  b->at[b->n] = at;
  b->key[b->n] = j->word[at];
  for (int k = 0; k < 3; k++) b->param[k][b->n] = p[k];
  b->n++;
}

/* The elements [lo, hi), at most a batch, that go this way. */
static void draw_way(const tt_draw_job *j, int64_t lo, int64_t hi, int way) {
  batch b;
  tt_f64 p[3] = {j->all[0], j->all[1], j->all[2]};
  b.n = 0;
  b.share = !j->param[0] && !j->param[1] && !j->param[2];
  if (b.share && way_of(j->kind, p) != way) return;
  for (int64_t i = lo; i < hi; i++) {
    for (int k = 0; k < 3; k++)
      if (j->param[k]) p[k] = j->param[k][i];
    if (b.share || way_of(j->kind, p) == way) add_to(&b, j, i, p);
  }
  draw_batch(j, &b, way);
}

#define LOOP_NAMED(level) tt__draw_loop_##level
#define LOOP_OF(level) LOOP_NAMED(level)
TT_HIDDEN void LOOP_OF(TT_VM_LEVEL)(const tt_draw_job *j, int64_t lo, int64_t hi);
void LOOP_OF(TT_VM_LEVEL)(const tt_draw_job *j, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; i += BATCH)
    for (int way = 0; way < WAYS; way++) draw_way(j, i, hi - i < BATCH ? hi : i + BATCH, way);
}

/* ---- the choice */

#if TT_VM_LEVEL == 0
#if defined(__x86_64__) && !defined(TT_ONE_FILE)
TT_HIDDEN void tt__draw_loop_3(const tt_draw_job *j, int64_t lo, int64_t hi);
TT_HIDDEN void tt__draw_loop_4(const tt_draw_job *j, int64_t lo, int64_t hi);
#endif

tt_draw_loop tt__draw_loop_at(int level) {
#if defined(__x86_64__) && !defined(TT_ONE_FILE)
  if (level > 0 && level > tt__vector_level()) return NULL;
  if (level == 3) return tt__draw_loop_3;
  if (level == 4) return tt__draw_loop_4;
#endif
  return level == 0 ? tt__draw_loop_0 : NULL;
}

tt_draw_loop tt__draw_loop(void) {
  tt_draw_loop best = tt__draw_loop_at(tt__vector_level());
  return best ? best : tt__draw_loop_0;
}
#endif
