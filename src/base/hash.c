/* Digests: the one place that sees the vendored xxHash. */
#include "base/hash.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include "xxhash/xxhash.h"

uint64_t tt__hash64(const void *data, size_t size) { return XXH3_64bits(data, size); }

_Static_assert(sizeof(tt_hash) == sizeof(XXH3_state_t), "a tt_hash is a state of XXH3");

void tt__hash_begin(tt_hash *h) {
  memset(h, 0, sizeof *h); /* XXH3 reads, without using it, what its reset does not write */
  XXH3_64bits_reset((XXH3_state_t *)h);
}

void tt__hash_add(tt_hash *h, const void *data, size_t size) { XXH3_64bits_update((XXH3_state_t *)h, data, size); }

uint64_t tt__hash_end(const tt_hash *h) { return XXH3_64bits_digest((const XXH3_state_t *)h); }

tt_digest tt__digest(const void *data, size_t size) {
  assert(data || size == 0);
  XXH128_hash_t h = XXH3_128bits(data, size);
  return (tt_digest){.lo = h.low64, .hi = h.high64};
}

void tt__digest_hex(tt_digest d, char out[33]) {
  static const char digit[] = "0123456789abcdef";
  for (int i = 0; i < 32; i++) {
    uint64_t word = i < 16 ? d.hi : d.lo;
    out[i] = digit[(word >> (60 - 4 * (i & 15))) & 15];
  }
  out[32] = 0;
}
