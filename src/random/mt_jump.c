/*
** MT19937 far ahead: 2^128 steps at once.
**
** The state is linear over bits, so the far step is a polynomial in the single step: x^(2^128) modulo the generator's
** characteristic polynomial, of degree 19937. That one is found from the generator's own bits (Berlekamp and Massey);
** both are computed once, when somebody jumps first, in some tenths of a second.
*/
#include <string.h>

#include "base/mem.h"
#include "random/bits.h"

enum { LEN = TT_MT_LEN, AHEAD = 397, DEGREE = 19937, POLY = DEGREE / 64 + 1, TWICE = 2 * POLY };

static uint64_t far_step[POLY]; /* under the session lock, like every draw */
static bool has_far_step;

static void flip_bit(uint64_t *a, int k) { a[k >> 6] ^= UINT64_C(1) << (k & 63); }
static int bit_of(const uint64_t *a, int k) { return (int)(a[k >> 6] >> (k & 63) & 1); }

/* a ^= b * x^shift, of words */
static void add_shifted(uint64_t *a, const uint64_t *b, int words, int shift) {
  int skip = shift >> 6, turn = shift & 63;
  for (int i = 0; i + skip < words; i++) {
    a[i + skip] ^= b[i] << turn;
    if (turn && i + skip + 1 < words) a[i + skip + 1] ^= b[i] >> (64 - turn);
  }
}

typedef struct work {
  uint64_t next[POLY], last[POLY], kept[POLY], seen[POLY]; /* recurrences, and the bits seen, the newest lowest */
  uint64_t characteristic[64][POLY + 1];                   /* times x^0 ... x^63 */
  uint64_t square[TWICE];
} work;

/* The shortest recurrence of 2 * 19937 bits of the stream: bit = sum of next[i] * (the bit i before it). */
static void find_recurrence(work *w) {
  tt_bits b = {.kind = TT_MT19937};
  int length = 0, since = 1;
  tt__mt_seed_number(&b, 1);
  w->next[0] = w->last[0] = 1;
  for (int n = 0; n < 2 * DEGREE; n++, since++) {
    uint64_t odd = 0;
    for (int i = POLY - 1; i > 0; i--) w->seen[i] = w->seen[i] << 1 | w->seen[i - 1] >> 63;
    w->seen[0] = w->seen[0] << 1 | (tt__mt_next32(&b) & 1);
    for (int i = 0; i < POLY; i++) odd ^= w->next[i] & w->seen[i];
    if (!__builtin_parityll(odd)) continue;
    memcpy(w->kept, w->next, sizeof w->kept);
    add_shifted(w->next, w->last, POLY, since);
    if (2 * length > n) continue;
    length = n + 1 - length;
    memcpy(w->last, w->kept, sizeof w->last);
    since = 0;
  }
}

static void square_modulo(work *w, uint64_t *p) {
  memset(w->square, 0, sizeof w->square);
  for (int k = 0; k < DEGREE; k++)
    if (bit_of(p, k)) flip_bit(w->square, 2 * k);
  for (int k = 2 * DEGREE - 2; k >= DEGREE; k--) {
    if (!bit_of(w->square, k)) continue;
    const uint64_t *c = w->characteristic[(k - DEGREE) & 63];
    uint64_t *s = w->square + ((k - DEGREE) >> 6);
    for (int i = 0; i <= POLY; i++) s[i] ^= c[i];
  }
  memcpy(p, w->square, POLY * sizeof *p);
}

static bool find_far_step(void) {
  work *w = tt__mem_zalloc(sizeof *w);
  if (!w) return false;
  find_recurrence(w);
  for (int k = 0; k <= DEGREE; k++)
    if (bit_of(w->next, DEGREE - k)) flip_bit(w->characteristic[0], k);
  for (int k = 1; k < 64; k++) add_shifted(w->characteristic[k], w->characteristic[0], POLY + 1, k);
  far_step[0] = 2; /* x */
  for (int k = 0; k < 128; k++) square_modulo(w, far_step);
  tt__mem_free(w, sizeof *w);
  has_far_step = true;
  return true;
}

/* One step of a state that is a ring, `at` its oldest word. */
static int ring_step(uint64_t *ring, int at) {
  int next = at + 1 < LEN ? at + 1 : 0, ahead = at + AHEAD < LEN ? at + AHEAD : at + AHEAD - LEN;
  ring[at] = tt__mt_twisted((uint32_t)ring[at], (uint32_t)ring[next], (uint32_t)ring[ahead]);
  return next;
}

/*
** Horner's scheme over states. NumPy takes the words from the place of the next draw on for a ring, wherever that place
** is, and so does this.
*/
bool tt__mt_jump(tt_bits *b) {
  if (!has_far_step && !find_far_step()) return false;
  uint64_t ring[LEN];
  int from = b->word[LEN] >= LEN ? 0 : (int)b->word[LEN], at = from, k = DEGREE - 1;
  while (!bit_of(far_step, k)) k--;
  memcpy(ring, b->word, sizeof ring);
  while (k-- > 0) {
    at = ring_step(ring, at);
    if (!bit_of(far_step, k)) continue;
    for (int i = 0, to = at, own = from; i < LEN; i++) {
      ring[to] ^= b->word[own];
      to = to + 1 < LEN ? to + 1 : 0;
      own = own + 1 < LEN ? own + 1 : 0;
    }
  }
  memcpy(b->word, ring, sizeof ring);
  b->word[LEN] = (uint64_t)at;
  return true;
}
