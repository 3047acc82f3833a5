/*
** Bounded integers, without bias: bits under a mask until they fit, or a product of which the low part tells whether it
** fits (Lemire). Which words are taken for which type is NumPy's.
*/
#include "random/draws.h"

#include <assert.h>

static uint64_t mask_of(uint64_t range) { return range ? UINT64_MAX >> __builtin_clzll(range) : 0; }

/* The next `bits` bits of a word of 32. */
static uint32_t piece(tt_bits *b, tt_spare *spare, int bits) {
  if (bits == 32) return tt__bits_32(b);
  if (spare->left == 0) {
    spare->word = tt__bits_32(b);
    spare->left = 32 / bits;
  } else {
    spare->word >>= bits;
  }
  spare->left--;
  return spare->word & ((1u << bits) - 1);
}

static uint64_t below_64(tt_bits *b, uint64_t range, bool masked) {
  if (range == UINT64_MAX) return tt__bits_64(b);
  if (masked) {
    uint64_t mask = mask_of(range), x;
    do x = tt__bits_64(b) & mask;
    while (x > range);
    return x;
  }
  uint64_t n = range + 1;
  unsigned __int128 m = (unsigned __int128)tt__bits_64(b) * n;
  if ((uint64_t)m < n) {
    uint64_t least = (UINT64_MAX - range) % n;
    while ((uint64_t)m < least) m = (unsigned __int128)tt__bits_64(b) * n;
  }
  return (uint64_t)(m >> 64);
}

/* The same for pieces of at most 32 bits. */
static uint64_t below_piece(tt_bits *b, tt_spare *spare, int bits, uint64_t range, bool masked) {
  const uint64_t all = (UINT64_C(1) << bits) - 1;
  if (range == all) return piece(b, spare, bits);
  if (masked) {
    uint64_t mask = mask_of(range), x;
    do x = piece(b, spare, bits) & mask;
    while (x > range);
    return x;
  }
  uint64_t n = range + 1, m = piece(b, spare, bits) * n;
  if ((m & all) < n) {
    uint64_t least = (all - range) % n;
    while ((m & all) < least) m = piece(b, spare, bits) * n;
  }
  return m >> bits;
}

uint64_t tt__bits_integer(tt_bits *b, tt_spare *spare, int bytes, uint64_t range, bool masked) {
  assert(bytes >= 0 && bytes <= 8);
  if (range == 0) return 0;
  if (bytes == 0) return piece(b, spare, 1);
  if (bytes < 8) return below_piece(b, spare, 8 * bytes, range, masked);
  return range <= UINT32_MAX ? below_piece(b, spare, 32, range, masked) : below_64(b, range, masked);
}

/* ---- many at a time */

enum { CHUNK = 128 };

/*
** Each word gives one or none; as many are asked for as numbers are missing, so no word is taken that would not be. `n`
** words from `in` on, how many numbers came of them. 2^bits - 1 is `all`.
*/
typedef struct limits {
  uint64_t range, n, least, mask;
  bool masked;
} limits;

static limits limits_of(uint64_t range, uint64_t all, bool masked) {
  limits l = {.range = range, .n = range + 1, .mask = mask_of(range), .masked = masked};
  l.least = l.n ? (all - range) % l.n : 0;
  return l;
}

static int64_t fit_32(const limits *l, const uint32_t *in, int64_t n, uint64_t *out) {
  int64_t k = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t m = l->masked ? in[i] & l->mask : in[i] * l->n;
    out[k] = l->masked ? m : m >> 32;
    k += l->masked ? m <= l->range : (uint32_t)m >= l->least;
  }
  return k;
}

static int64_t fit_64(const limits *l, const uint64_t *in, int64_t n, uint64_t *out) {
  int64_t k = 0;
  for (int64_t i = 0; i < n; i++) {
    unsigned __int128 m = (unsigned __int128)in[i] * l->n;
    uint64_t x = in[i] & l->mask;
    out[k] = l->masked ? x : (uint64_t)(m >> 64);
    k += l->masked ? x <= l->range : (uint64_t)m >= l->least;
  }
  return k;
}

static void fill_32(tt_bits *b, const limits *l, uint64_t *out, int64_t n) {
  uint32_t word[CHUNK];
  while (n > 0) {
    int64_t m = n < CHUNK ? n : CHUNK, got;
    tt__bits_fill_32(b, word, m);
    got = fit_32(l, word, m, out);
    out += got;
    n -= got;
  }
}

static void fill_64(tt_bits *b, const limits *l, uint64_t *out, int64_t n) {
  uint64_t word[CHUNK];
  while (n > 0) {
    int64_t m = n < CHUNK ? n : CHUNK, got;
    tt__bits_fill_64(b, word, m);
    got = fit_64(l, word, m, out);
    out += got;
    n -= got;
  }
}

void tt__bits_integers(tt_bits *b, tt_spare *spare, int bytes, uint64_t range, bool masked, uint64_t *out, int64_t n) {
  uint64_t all = bytes == 8 && range > UINT32_MAX ? UINT64_MAX : UINT32_MAX;
  if (bytes < 4 || range == 0 || range == all) {
    for (int64_t i = 0; i < n; i++) out[i] = tt__bits_integer(b, spare, bytes, range, masked);
    return;
  }
  limits l = limits_of(range, all, masked);
  if (all == UINT64_MAX)
    fill_64(b, &l, out, n);
  else
    fill_32(b, &l, out, n);
}

uint64_t tt__bits_interval(tt_bits *b, uint64_t range) {
  tt_spare none = {0};
  return tt__bits_integer(b, &none, 8, range, true);
}
