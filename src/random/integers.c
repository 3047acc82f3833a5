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

uint64_t tt__bits_interval(tt_bits *b, uint64_t range) {
  tt_spare none = {0};
  return tt__bits_integer(b, &none, 8, range, true);
}
