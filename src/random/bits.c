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

/* ---- many at a time, out of words of 64 bits */

enum { FEW_WORDS = 128 };

static void fill_halves(tt_bits *b, uint32_t *out, int64_t n) {
  uint64_t word[FEW_WORDS];
  if (n > 0 && b->has_half) {
    *out++ = half_of(b);
    n--;
  }
  for (int64_t m; n > 1; n -= 2 * m) {
    m = n / 2 < FEW_WORDS ? n / 2 : FEW_WORDS;
    tt__bits_fill_64(b, word, m);
    for (int64_t i = 0; i < m; i++, out += 2) {
      out[0] = (uint32_t)word[i];
      out[1] = (uint32_t)(word[i] >> 32);
    }
  }
  if (n > 0) *out = half_of(b);
}

static void fill_fractions(tt_bits *b, double *out, int64_t n) {
  uint64_t word[FEW_WORDS];
  for (int64_t m; n > 0; n -= m, out += m) {
    m = n < FEW_WORDS ? n : FEW_WORDS;
    tt__bits_fill_64(b, word, m);
    for (int64_t i = 0; i < m; i++) out[i] = (double)(int64_t)(word[i] >> 11) * 0x1p-53;
  }
}

/* The loop that has a generator's step in itself. */
#define FILL(name, next)                                   \
  static void name(tt_bits *b, uint64_t *out, int64_t n) { \
    for (int64_t i = 0; i < n; i++) out[i] = next(b);      \
  }

/* ---- PCG: a linear congruence of 128 bits. Words: state, increment, each the high half first. */

#define PCG_MULTIPLIER ((wide)UINT64_C(2549297995355413924) << 64 | UINT64_C(4865540595714422341))
#define PCG_CHEAP UINT64_C(0xda942042e4dd58b5)

static wide pcg_multiplier(const tt_bits *b) { return b->kind == TT_PCG64 ? PCG_MULTIPLIER : (wide)PCG_CHEAP; }

/* Fold the halves together and rotate by the highest bits, after the step. */
static uint64_t pcg_folded(wide s) {
  uint64_t x = (uint64_t)(s >> 64) ^ (uint64_t)s;
  unsigned turn = (unsigned)(s >> 122);
  return x >> turn | x << (-turn & 63);
}
static uint64_t pcg_next(tt_bits *b) {
  wide s = joined(b->word) * PCG_MULTIPLIER + joined(b->word + 2);
  split(s, b->word);
  return pcg_folded(s);
}

/* Two walks side by side, each by two steps at once: neither waits for the other's product. */
static void pcg_fill(tt_bits *b, uint64_t *out, int64_t n) {
  const wide plus = joined(b->word + 2), twice = PCG_MULTIPLIER * PCG_MULTIPLIER, plus2 = PCG_MULTIPLIER * plus + plus;
  wide s = joined(b->word), even = s * PCG_MULTIPLIER + plus, odd = even * PCG_MULTIPLIER + plus;
  for (int64_t i = 0; i + 1 < n; i += 2) {
    out[i] = pcg_folded(even);
    out[i + 1] = pcg_folded(odd);
    s = odd;
    even = even * twice + plus2;
    odd = odd * twice + plus2;
  }
  split(s, b->word);
  if (n & 1) out[n - 1] = pcg_next(b);
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

FILL(pcg_dxsm_fill, pcg_dxsm_next)

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

FILL(philox_fill, philox_next)

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

FILL(sfc_fill, sfc_next)

static void sfc_seed(tt_bits *b, const uint64_t *w) {
  for (int i = 0; i < 3; i++) b->word[i] = w[i];
  b->word[3] = 1;
  for (int i = 0; i < 12; i++) sfc_next(b);
}

/* ---- the table */

static uint64_t mt_raw(tt_bits *b) { return tt__mt_next32(b); }

#define BY_WORDS(name, words, seeds, next, fill, seed, advance, jump) \
  { name, words, seeds, 8, next, half_of, fraction_of, next, fill, fill_halves, fill_fractions, seed, advance, jump }

const tt_bits_row tt__bits_rows[TT_BITS_KINDS] = {
    [TT_PCG64] = BY_WORDS("PCG64", 4, 4, pcg_next, pcg_fill, pcg_seed, pcg_advance, pcg_jump),
    [TT_PCG64DXSM] = BY_WORDS("PCG64DXSM", 4, 4, pcg_dxsm_next, pcg_dxsm_fill, pcg_seed, pcg_advance, pcg_jump),
    [TT_MT19937] = {"MT19937", TT_MT_LEN + 1, TT_MT_LEN, 4, tt__mt_next64, tt__mt_next32, tt__mt_next_double, mt_raw,
                    tt__mt_fill64, tt__mt_fill32, tt__mt_fill_double, tt__mt_seed, NULL, tt__mt_jump},
    [TT_PHILOX4X64] = BY_WORDS("Philox", 11, 2, philox_next, philox_fill, philox_seed, philox_advance, philox_jump),
    [TT_SFC64] = BY_WORDS("SFC64", 4, 3, sfc_next, sfc_fill, sfc_seed, NULL, NULL),
};
