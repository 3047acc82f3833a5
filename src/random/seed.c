/*
** SeedSequence's arithmetic: a hash that brings every bit of the entropy to every word of a pool, and words made of the
** pool by another.
*/
#include "random/bits.h"

#include <assert.h>

/* Each value is hashed with a constant that moves on. */
typedef struct hash {
  uint32_t constant, factor;
} hash;

static uint32_t hashed(hash *h, uint32_t x) {
  x ^= h->constant;
  h->constant *= h->factor;
  x *= h->constant;
  return x ^ x >> 16;
}

static uint32_t mixed(uint32_t x, uint32_t y) {
  x = x * 0xca01f9ddu - y * 0x4973f715u;
  return x ^ x >> 16;
}

void tt__seed_mix(uint32_t *pool, int64_t n, const uint32_t *entropy, int64_t words) {
  assert(n > 0 && words >= 0);
  assert(n > 0 && words >= 0);
  hash h = {0x43b0d7e5u, 0x931e8875u};
  for (int64_t i = 0; i < n; i++) pool[i] = hashed(&h, i < words ? entropy[i] : 0);
  for (int64_t from = 0; from < n; from++)
    for (int64_t to = 0; to < n; to++)
      if (from != to) pool[to] = mixed(pool[to], hashed(&h, pool[from]));
  for (int64_t from = n; from < words; from++) /* what did not fit */
    for (int64_t to = 0; to < n; to++) pool[to] = mixed(pool[to], hashed(&h, entropy[from]));
}

void tt__seed_state(const uint32_t *pool, int64_t n, uint32_t *out, int64_t words) {
  assert(n > 0 && words >= 0);
  assert(n > 0 && words >= 0);
  hash h = {0x8b51f9ddu, 0x58f38dedu};
  for (int64_t i = 0; i < words; i++) out[i] = hashed(&h, pool[i % n]);
}
