/*
** MT19937, the Mersenne Twister. Its words are 624 of 32 bits, each in a word of its own, then the place of the next.
*/
#include "random/bits.h"

#include <assert.h>

enum { LEN = TT_MT_LEN, AHEAD = 397 };

uint32_t tt__mt_twisted(uint32_t high, uint32_t low, uint32_t far) {
  uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
  return far ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
}

/* Three ranges, so that no place is asked on which side of the end it is. */
static void refill(uint64_t *key) {
  int i = 0;
  for (; i < LEN - AHEAD; i++)
    key[i] = tt__mt_twisted((uint32_t)key[i], (uint32_t)key[i + 1], (uint32_t)key[i + AHEAD]);
  for (; i < LEN - 1; i++)
    key[i] = tt__mt_twisted((uint32_t)key[i], (uint32_t)key[i + 1], (uint32_t)key[i + AHEAD - LEN]);
  key[i] = tt__mt_twisted((uint32_t)key[i], (uint32_t)key[0], (uint32_t)key[i + AHEAD - LEN]);
}

static inline uint32_t next_of(tt_bits *b) {
  assert(b->word[LEN] <= LEN);
  if (b->word[LEN] >= LEN) {
    refill(b->word);
    b->word[LEN] = 0;
  }
  uint32_t y = (uint32_t)b->word[b->word[LEN]++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

static inline uint64_t word_of(tt_bits *b) {
  uint64_t high = next_of(b);
  return high << 32 | next_of(b);
}
static inline double fraction_of_pair(tt_bits *b) {
  uint64_t high = next_of(b) >> 5, low = next_of(b) >> 6;
  return (double)(int64_t)(high << 26 | low) * 0x1p-53;
}

uint32_t tt__mt_next32(tt_bits *b) { return next_of(b); }
uint64_t tt__mt_next64(tt_bits *b) { return word_of(b); }
double tt__mt_next_double(tt_bits *b) { return fraction_of_pair(b); }

void tt__mt_fill64(tt_bits *b, uint64_t *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = word_of(b);
}
void tt__mt_fill32(tt_bits *b, uint32_t *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = next_of(b);
}
void tt__mt_fill_double(tt_bits *b, double *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = fraction_of_pair(b);
}

/* ---- seeds */

void tt__mt_seed(tt_bits *b, const uint64_t *word) {
  for (int i = 1; i < LEN; i++) b->word[i] = (uint32_t)word[i];
  b->word[0] = 0x80000000u; /* so that not all are zero */
  b->word[LEN] = LEN - 1;
}

void tt__mt_seed_number(tt_bits *b, uint32_t seed) {
  for (uint32_t i = 0; i < LEN; i++) {
    b->word[i] = seed;
    seed = 1812433253u * (seed ^ seed >> 30) + i + 1;
  }
  b->word[LEN] = LEN;
}

/* One round over the words, each from the one before. */
static int stirred(tt_bits *b, int i, uint32_t factor, uint32_t plus) {
  uint32_t before = (uint32_t)b->word[i - 1];
  b->word[i] = ((uint32_t)b->word[i] ^ (before ^ before >> 30) * factor) + plus;
  if (i + 1 < LEN) return i + 1;
  b->word[0] = b->word[LEN - 1];
  return 1;
}

void tt__mt_seed_array(tt_bits *b, const uint32_t *key, int64_t n) {
  assert(n > 0);
  assert(n > 0);
  int i = 1;
  tt__mt_seed_number(b, 19650218u);
  for (int64_t k = 0; k < (n > LEN ? n : LEN); k++) i = stirred(b, i, 1664525u, key[k % n] + (uint32_t)(k % n));
  for (int k = 1; k < LEN; k++) i = stirred(b, i, 1566083941u, -(uint32_t)i);
  b->word[0] = 0x80000000u;
}
