/* Digests: the one place that sees the vendored xxHash. */
#include "base/hash.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include "xxhash/xxhash.h"

uint64_t tt__hash64(const void *data, size_t size) { return XXH3_64bits(data, size); }

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
