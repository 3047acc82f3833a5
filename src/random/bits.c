/*
** PCG64, PCG64DXSM, Philox 4x64-10 and SFC64, and the table of all generators.
*/
#include "random/bits.h"

typedef unsigned __int128 wide;

static wide joined(const uint64_t *w) { return (wide)w[0] << 64 | w[1]; }
static void split(wide x, uint64_t *w) {
  w[0] = (uint64_t)(x >> 64);
  w[1] = (uint64_t)x;
}

/* A draw of 32 bits is the lower half of a word; the upper one waits for the next. */
static uint32_t half_of(tt_bits *b) {
  if (b->has_half) {
    b->has_half = 0;
    return (uint32_t)b->half;
  }
  uint64_t w = tt__bits_64(b);
  b->has_half = 1;
  b->half = w >> 32;
  return (uint32_t)w;
}
static double fraction_of(tt_bits *b) { return (double)(tt__bits_64(b) >> 11) * 0x1p-53; }

/* ---- PCG: a linear congruence of 128 bits. Words: state, increment, each the high half first. */

#define PCG_MULTIPLIER ((wide)UINT64_C(2549297995355413924) << 64 | UINT64_C(4865540595714422341))
#define PCG_CHEAP UINT64_C(0xda942042e4dd58b5)

static wide pcg_multiplier(const tt_bits *b) { return b->kind == TT_PCG64 ? PCG_MULTIPLIER : (wide)PCG_CHEAP; }

/* Fold the halves together and rotate by the highest bits, after the step. */
static uint64_t pcg_next(tt_bits *b) {
  wide s = joined(b->word) * PCG_MULTIPLIER + joined(b->word + 2);
  split(s, b->word);
  uint64_t x = b->word[0] ^ b->word[1];
  unsigned turn = (unsigned)(b->word[0] >> 58);
  return x >> turn | x << (-turn & 63);
}

/* Shift and multiply twice, before the step. */
static uint64_t pcg_dxsm_next(tt_bits *b) {
  uint64_t high = b->word[0], low = b->word[1] | 1;
  high ^= high >> 32;
  high *= PCG_CHEAP;
  high ^= high >> 48;
  high *= low;
  split(joined(b->word) * PCG_CHEAP + joined(b->word + 2), b->word);
  return high;
}

/* A step from 0, the seed, a step: with the large factor, whatever the steps to come have. */
static void pcg_seed(tt_bits *b, const uint64_t *w) {
  wide inc = joined(w + 2) << 1 | 1;
  split(inc, b->word + 2);
  split((inc + joined(w)) * PCG_MULTIPLIER + inc, b->word);
}

/* n steps at once: x -> m^n x + (m^n - 1) / (m - 1) c, by squares. */
static void pcg_advance(tt_bits *b, const uint64_t *step) {
  wide n = (wide)step[1] << 64 | step[0], times = 1, plus = 0, m = pcg_multiplier(b), c = joined(b->word + 2);
  for (; n; n >>= 1) {
    if (n & 1) {
      times *= m;
      plus = plus * m + c;
    }
    c *= m + 1;
    m *= m;
  }
  split(times * joined(b->word) + plus, b->word);
  b->has_half = b->half = 0;
}

/* The golden ratio's part of the whole period. */
static bool pcg_jump(tt_bits *b) {
  const uint64_t step[4] = {UINT64_C(0xf39cc0605cedc835), UINT64_C(0x9e3779b97f4a7c15)};
  pcg_advance(b, step);
  return true;
}

/* ---- Philox. Words: counter (4), key (2), a block's words (4), how many of them are used. */

enum { KEY = 4, BLOCK = 6, USED = 10 };

static void philox_block(tt_bits *b) {
  uint64_t c[4] = {b->word[0], b->word[1], b->word[2], b->word[3]}, k0 = b->word[KEY], k1 = b->word[KEY + 1];
  for (int round = 0; round < 10; round++) {
    wide p = (wide)UINT64_C(0xD2E7470EE14C6C93) * c[0], q = (wide)UINT64_C(0xCA5A826395121157) * c[2];
    c[0] = (uint64_t)(q >> 64) ^ c[1] ^ k0;
    c[2] = (uint64_t)(p >> 64) ^ c[3] ^ k1;
    c[1] = (uint64_t)q;
    c[3] = (uint64_t)p;
    k0 += UINT64_C(0x9E3779B97F4A7C15);
    k1 += UINT64_C(0xBB67AE8584CAA73B);
  }
  for (int i = 0; i < 4; i++) b->word[BLOCK + i] = c[i];
}

static uint64_t philox_next(tt_bits *b) {
  if (b->word[USED] >= 4) {
    for (int i = 0; i < 4 && ++b->word[i] == 0; i++) continue;
    philox_block(b);
    b->word[USED] = 0;
  }
  return b->word[BLOCK + b->word[USED]++];
}

static void philox_forget(tt_bits *b) {
  b->has_half = b->half = 0;
  for (int i = 0; i < 4; i++) b->word[BLOCK + i] = 0;
  b->word[USED] = 4;
}

static void philox_seed(tt_bits *b, const uint64_t *w) {
  for (int i = 0; i < 4; i++) b->word[i] = 0;
  b->word[KEY] = w[0];
  b->word[KEY + 1] = w[1];
  philox_forget(b);
}

static void philox_advance(tt_bits *b, const uint64_t *step) {
  uint64_t carry = 0;
  for (int i = 0; i < 4; i++) {
    wide sum = (wide)b->word[i] + step[i] + carry;
    b->word[i] = (uint64_t)sum;
    carry = (uint64_t)(sum >> 64);
  }
  philox_forget(b);
}

static bool philox_jump(tt_bits *b) {
  const uint64_t step[4] = {0, 0, 1, 0}; /* 2^128 blocks */
  philox_advance(b, step);
  return true;
}

/* ---- SFC64: three words that mix and one that counts */

static uint64_t sfc_next(tt_bits *b) {
  uint64_t *s = b->word, out = s[0] + s[1] + s[3]++;
  s[0] = s[1] ^ s[1] >> 11;
  s[1] = s[2] + (s[2] << 3);
  s[2] = (s[2] << 24 | s[2] >> 40) + out;
  return out;
}

static void sfc_seed(tt_bits *b, const uint64_t *w) {
  for (int i = 0; i < 3; i++) b->word[i] = w[i];
  b->word[3] = 1;
  for (int i = 0; i < 12; i++) sfc_next(b);
}

/* ---- the table */

static uint64_t mt_raw(tt_bits *b) { return tt__mt_next32(b); }

const tt_bits_row tt__bits_rows[TT_BITS_KINDS] = {
    [TT_PCG64] = {"PCG64", 4, 4, 8, pcg_next, half_of, fraction_of, pcg_next, pcg_seed, pcg_advance, pcg_jump},
    [TT_PCG64DXSM] = {"PCG64DXSM", 4, 4, 8, pcg_dxsm_next, half_of, fraction_of, pcg_dxsm_next, pcg_seed, pcg_advance,
                      pcg_jump},
    [TT_MT19937] = {"MT19937", TT_MT_LEN + 1, TT_MT_LEN, 4, tt__mt_next64, tt__mt_next32, tt__mt_next_double, mt_raw,
                    tt__mt_seed, NULL, tt__mt_jump},
    [TT_PHILOX4X64] = {"Philox", 11, 2, 8, philox_next, half_of, fraction_of, philox_next, philox_seed, philox_advance,
                       philox_jump},
    [TT_SFC64] = {"SFC64", 4, 3, 8, sfc_next, half_of, fraction_of, sfc_next, sfc_seed, NULL, NULL},
};
