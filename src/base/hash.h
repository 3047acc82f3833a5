/*
** Content digests (XXH3) and one mixing step for incremental keys.
*/
#ifndef TT_BASE_HASH_H
#define TT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct tt_digest {
  uint64_t lo, hi;
} tt_digest;

TT_HIDDEN uint64_t tt__hash64(const void *data, size_t size);
TT_HIDDEN tt_digest tt__digest(const void *data, size_t size);
TT_HIDDEN void tt__digest_hex(tt_digest d, char out[33]); /* lower case, NUL-terminated */

/* The XXH3 of 64 bits of bytes that come in pieces. Plain data. */
typedef struct tt_hash {
  _Alignas(64) unsigned char state[576];
} tt_hash;
TT_HIDDEN void tt__hash_begin(tt_hash *h);
TT_HIDDEN void tt__hash_add(tt_hash *h, const void *data, size_t size);
TT_HIDDEN uint64_t tt__hash_end(const tt_hash *h); /* of all that was added; tt__hash64's of the bytes in a row */

/* Fold `x` into the running key `h`. */
static inline uint64_t tt__hash_mix(uint64_t h, uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdu;
  return h ^ (h >> 32);
}

#endif
