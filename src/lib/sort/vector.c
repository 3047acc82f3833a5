/*
** Quicksort of unsigned keys with 512-bit vectors: partition by compressing the lesser and the other lanes of a vector
** to the two ends of what was already read, and sort what fits in sixteen registers by a network. In place, serial,
** not stable (equal keys are equal bits). It must not know what the keys stand for.
*/
#include "lib/sort/sort_int.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"

static bool vectors_off;

void tt__sort_without_vectors(bool off) { vectors_off = off; }

#if defined(__x86_64__)

#include <immintrin.h>

#define V4 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,lzcnt,popcnt")))
#define V4_INLINE V4 __attribute__((always_inline)) static inline

enum { REGISTERS = 16, UNROLL = 8, MANY = 2048, FEW = 64 };

/* For each mask of eight lanes: the numbers of those in it, then of the others. */
static const uint8_t lesser_first[256][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
    {2, 0, 1, 3, 4, 5, 6, 7}, {0, 2, 1, 3, 4, 5, 6, 7}, {1, 2, 0, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
    {3, 0, 1, 2, 4, 5, 6, 7}, {0, 3, 1, 2, 4, 5, 6, 7}, {1, 3, 0, 2, 4, 5, 6, 7}, {0, 1, 3, 2, 4, 5, 6, 7},
    {2, 3, 0, 1, 4, 5, 6, 7}, {0, 2, 3, 1, 4, 5, 6, 7}, {1, 2, 3, 0, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
    {4, 0, 1, 2, 3, 5, 6, 7}, {0, 4, 1, 2, 3, 5, 6, 7}, {1, 4, 0, 2, 3, 5, 6, 7}, {0, 1, 4, 2, 3, 5, 6, 7},
    {2, 4, 0, 1, 3, 5, 6, 7}, {0, 2, 4, 1, 3, 5, 6, 7}, {1, 2, 4, 0, 3, 5, 6, 7}, {0, 1, 2, 4, 3, 5, 6, 7},
    {3, 4, 0, 1, 2, 5, 6, 7}, {0, 3, 4, 1, 2, 5, 6, 7}, {1, 3, 4, 0, 2, 5, 6, 7}, {0, 1, 3, 4, 2, 5, 6, 7},
    {2, 3, 4, 0, 1, 5, 6, 7}, {0, 2, 3, 4, 1, 5, 6, 7}, {1, 2, 3, 4, 0, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
    {5, 0, 1, 2, 3, 4, 6, 7}, {0, 5, 1, 2, 3, 4, 6, 7}, {1, 5, 0, 2, 3, 4, 6, 7}, {0, 1, 5, 2, 3, 4, 6, 7},
    {2, 5, 0, 1, 3, 4, 6, 7}, {0, 2, 5, 1, 3, 4, 6, 7}, {1, 2, 5, 0, 3, 4, 6, 7}, {0, 1, 2, 5, 3, 4, 6, 7},
    {3, 5, 0, 1, 2, 4, 6, 7}, {0, 3, 5, 1, 2, 4, 6, 7}, {1, 3, 5, 0, 2, 4, 6, 7}, {0, 1, 3, 5, 2, 4, 6, 7},
    {2, 3, 5, 0, 1, 4, 6, 7}, {0, 2, 3, 5, 1, 4, 6, 7}, {1, 2, 3, 5, 0, 4, 6, 7}, {0, 1, 2, 3, 5, 4, 6, 7},
    {4, 5, 0, 1, 2, 3, 6, 7}, {0, 4, 5, 1, 2, 3, 6, 7}, {1, 4, 5, 0, 2, 3, 6, 7}, {0, 1, 4, 5, 2, 3, 6, 7},
    {2, 4, 5, 0, 1, 3, 6, 7}, {0, 2, 4, 5, 1, 3, 6, 7}, {1, 2, 4, 5, 0, 3, 6, 7}, {0, 1, 2, 4, 5, 3, 6, 7},
    {3, 4, 5, 0, 1, 2, 6, 7}, {0, 3, 4, 5, 1, 2, 6, 7}, {1, 3, 4, 5, 0, 2, 6, 7}, {0, 1, 3, 4, 5, 2, 6, 7},
    {2, 3, 4, 5, 0, 1, 6, 7}, {0, 2, 3, 4, 5, 1, 6, 7}, {1, 2, 3, 4, 5, 0, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
    {6, 0, 1, 2, 3, 4, 5, 7}, {0, 6, 1, 2, 3, 4, 5, 7}, {1, 6, 0, 2, 3, 4, 5, 7}, {0, 1, 6, 2, 3, 4, 5, 7},
    {2, 6, 0, 1, 3, 4, 5, 7}, {0, 2, 6, 1, 3, 4, 5, 7}, {1, 2, 6, 0, 3, 4, 5, 7}, {0, 1, 2, 6, 3, 4, 5, 7},
    {3, 6, 0, 1, 2, 4, 5, 7}, {0, 3, 6, 1, 2, 4, 5, 7}, {1, 3, 6, 0, 2, 4, 5, 7}, {0, 1, 3, 6, 2, 4, 5, 7},
    {2, 3, 6, 0, 1, 4, 5, 7}, {0, 2, 3, 6, 1, 4, 5, 7}, {1, 2, 3, 6, 0, 4, 5, 7}, {0, 1, 2, 3, 6, 4, 5, 7},
    {4, 6, 0, 1, 2, 3, 5, 7}, {0, 4, 6, 1, 2, 3, 5, 7}, {1, 4, 6, 0, 2, 3, 5, 7}, {0, 1, 4, 6, 2, 3, 5, 7},
    {2, 4, 6, 0, 1, 3, 5, 7}, {0, 2, 4, 6, 1, 3, 5, 7}, {1, 2, 4, 6, 0, 3, 5, 7}, {0, 1, 2, 4, 6, 3, 5, 7},
    {3, 4, 6, 0, 1, 2, 5, 7}, {0, 3, 4, 6, 1, 2, 5, 7}, {1, 3, 4, 6, 0, 2, 5, 7}, {0, 1, 3, 4, 6, 2, 5, 7},
    {2, 3, 4, 6, 0, 1, 5, 7}, {0, 2, 3, 4, 6, 1, 5, 7}, {1, 2, 3, 4, 6, 0, 5, 7}, {0, 1, 2, 3, 4, 6, 5, 7},
    {5, 6, 0, 1, 2, 3, 4, 7}, {0, 5, 6, 1, 2, 3, 4, 7}, {1, 5, 6, 0, 2, 3, 4, 7}, {0, 1, 5, 6, 2, 3, 4, 7},
    {2, 5, 6, 0, 1, 3, 4, 7}, {0, 2, 5, 6, 1, 3, 4, 7}, {1, 2, 5, 6, 0, 3, 4, 7}, {0, 1, 2, 5, 6, 3, 4, 7},
    {3, 5, 6, 0, 1, 2, 4, 7}, {0, 3, 5, 6, 1, 2, 4, 7}, {1, 3, 5, 6, 0, 2, 4, 7}, {0, 1, 3, 5, 6, 2, 4, 7},
    {2, 3, 5, 6, 0, 1, 4, 7}, {0, 2, 3, 5, 6, 1, 4, 7}, {1, 2, 3, 5, 6, 0, 4, 7}, {0, 1, 2, 3, 5, 6, 4, 7},
    {4, 5, 6, 0, 1, 2, 3, 7}, {0, 4, 5, 6, 1, 2, 3, 7}, {1, 4, 5, 6, 0, 2, 3, 7}, {0, 1, 4, 5, 6, 2, 3, 7},
    {2, 4, 5, 6, 0, 1, 3, 7}, {0, 2, 4, 5, 6, 1, 3, 7}, {1, 2, 4, 5, 6, 0, 3, 7}, {0, 1, 2, 4, 5, 6, 3, 7},
    {3, 4, 5, 6, 0, 1, 2, 7}, {0, 3, 4, 5, 6, 1, 2, 7}, {1, 3, 4, 5, 6, 0, 2, 7}, {0, 1, 3, 4, 5, 6, 2, 7},
    {2, 3, 4, 5, 6, 0, 1, 7}, {0, 2, 3, 4, 5, 6, 1, 7}, {1, 2, 3, 4, 5, 6, 0, 7}, {0, 1, 2, 3, 4, 5, 6, 7},
    {7, 0, 1, 2, 3, 4, 5, 6}, {0, 7, 1, 2, 3, 4, 5, 6}, {1, 7, 0, 2, 3, 4, 5, 6}, {0, 1, 7, 2, 3, 4, 5, 6},
    {2, 7, 0, 1, 3, 4, 5, 6}, {0, 2, 7, 1, 3, 4, 5, 6}, {1, 2, 7, 0, 3, 4, 5, 6}, {0, 1, 2, 7, 3, 4, 5, 6},
    {3, 7, 0, 1, 2, 4, 5, 6}, {0, 3, 7, 1, 2, 4, 5, 6}, {1, 3, 7, 0, 2, 4, 5, 6}, {0, 1, 3, 7, 2, 4, 5, 6},
    {2, 3, 7, 0, 1, 4, 5, 6}, {0, 2, 3, 7, 1, 4, 5, 6}, {1, 2, 3, 7, 0, 4, 5, 6}, {0, 1, 2, 3, 7, 4, 5, 6},
    {4, 7, 0, 1, 2, 3, 5, 6}, {0, 4, 7, 1, 2, 3, 5, 6}, {1, 4, 7, 0, 2, 3, 5, 6}, {0, 1, 4, 7, 2, 3, 5, 6},
    {2, 4, 7, 0, 1, 3, 5, 6}, {0, 2, 4, 7, 1, 3, 5, 6}, {1, 2, 4, 7, 0, 3, 5, 6}, {0, 1, 2, 4, 7, 3, 5, 6},
    {3, 4, 7, 0, 1, 2, 5, 6}, {0, 3, 4, 7, 1, 2, 5, 6}, {1, 3, 4, 7, 0, 2, 5, 6}, {0, 1, 3, 4, 7, 2, 5, 6},
    {2, 3, 4, 7, 0, 1, 5, 6}, {0, 2, 3, 4, 7, 1, 5, 6}, {1, 2, 3, 4, 7, 0, 5, 6}, {0, 1, 2, 3, 4, 7, 5, 6},
    {5, 7, 0, 1, 2, 3, 4, 6}, {0, 5, 7, 1, 2, 3, 4, 6}, {1, 5, 7, 0, 2, 3, 4, 6}, {0, 1, 5, 7, 2, 3, 4, 6},
    {2, 5, 7, 0, 1, 3, 4, 6}, {0, 2, 5, 7, 1, 3, 4, 6}, {1, 2, 5, 7, 0, 3, 4, 6}, {0, 1, 2, 5, 7, 3, 4, 6},
    {3, 5, 7, 0, 1, 2, 4, 6}, {0, 3, 5, 7, 1, 2, 4, 6}, {1, 3, 5, 7, 0, 2, 4, 6}, {0, 1, 3, 5, 7, 2, 4, 6},
    {2, 3, 5, 7, 0, 1, 4, 6}, {0, 2, 3, 5, 7, 1, 4, 6}, {1, 2, 3, 5, 7, 0, 4, 6}, {0, 1, 2, 3, 5, 7, 4, 6},
    {4, 5, 7, 0, 1, 2, 3, 6}, {0, 4, 5, 7, 1, 2, 3, 6}, {1, 4, 5, 7, 0, 2, 3, 6}, {0, 1, 4, 5, 7, 2, 3, 6},
    {2, 4, 5, 7, 0, 1, 3, 6}, {0, 2, 4, 5, 7, 1, 3, 6}, {1, 2, 4, 5, 7, 0, 3, 6}, {0, 1, 2, 4, 5, 7, 3, 6},
    {3, 4, 5, 7, 0, 1, 2, 6}, {0, 3, 4, 5, 7, 1, 2, 6}, {1, 3, 4, 5, 7, 0, 2, 6}, {0, 1, 3, 4, 5, 7, 2, 6},
    {2, 3, 4, 5, 7, 0, 1, 6}, {0, 2, 3, 4, 5, 7, 1, 6}, {1, 2, 3, 4, 5, 7, 0, 6}, {0, 1, 2, 3, 4, 5, 7, 6},
    {6, 7, 0, 1, 2, 3, 4, 5}, {0, 6, 7, 1, 2, 3, 4, 5}, {1, 6, 7, 0, 2, 3, 4, 5}, {0, 1, 6, 7, 2, 3, 4, 5},
    {2, 6, 7, 0, 1, 3, 4, 5}, {0, 2, 6, 7, 1, 3, 4, 5}, {1, 2, 6, 7, 0, 3, 4, 5}, {0, 1, 2, 6, 7, 3, 4, 5},
    {3, 6, 7, 0, 1, 2, 4, 5}, {0, 3, 6, 7, 1, 2, 4, 5}, {1, 3, 6, 7, 0, 2, 4, 5}, {0, 1, 3, 6, 7, 2, 4, 5},
    {2, 3, 6, 7, 0, 1, 4, 5}, {0, 2, 3, 6, 7, 1, 4, 5}, {1, 2, 3, 6, 7, 0, 4, 5}, {0, 1, 2, 3, 6, 7, 4, 5},
    {4, 6, 7, 0, 1, 2, 3, 5}, {0, 4, 6, 7, 1, 2, 3, 5}, {1, 4, 6, 7, 0, 2, 3, 5}, {0, 1, 4, 6, 7, 2, 3, 5},
    {2, 4, 6, 7, 0, 1, 3, 5}, {0, 2, 4, 6, 7, 1, 3, 5}, {1, 2, 4, 6, 7, 0, 3, 5}, {0, 1, 2, 4, 6, 7, 3, 5},
    {3, 4, 6, 7, 0, 1, 2, 5}, {0, 3, 4, 6, 7, 1, 2, 5}, {1, 3, 4, 6, 7, 0, 2, 5}, {0, 1, 3, 4, 6, 7, 2, 5},
    {2, 3, 4, 6, 7, 0, 1, 5}, {0, 2, 3, 4, 6, 7, 1, 5}, {1, 2, 3, 4, 6, 7, 0, 5}, {0, 1, 2, 3, 4, 6, 7, 5},
    {5, 6, 7, 0, 1, 2, 3, 4}, {0, 5, 6, 7, 1, 2, 3, 4}, {1, 5, 6, 7, 0, 2, 3, 4}, {0, 1, 5, 6, 7, 2, 3, 4},
    {2, 5, 6, 7, 0, 1, 3, 4}, {0, 2, 5, 6, 7, 1, 3, 4}, {1, 2, 5, 6, 7, 0, 3, 4}, {0, 1, 2, 5, 6, 7, 3, 4},
    {3, 5, 6, 7, 0, 1, 2, 4}, {0, 3, 5, 6, 7, 1, 2, 4}, {1, 3, 5, 6, 7, 0, 2, 4}, {0, 1, 3, 5, 6, 7, 2, 4},
    {2, 3, 5, 6, 7, 0, 1, 4}, {0, 2, 3, 5, 6, 7, 1, 4}, {1, 2, 3, 5, 6, 7, 0, 4}, {0, 1, 2, 3, 5, 6, 7, 4},
    {4, 5, 6, 7, 0, 1, 2, 3}, {0, 4, 5, 6, 7, 1, 2, 3}, {1, 4, 5, 6, 7, 0, 2, 3}, {0, 1, 4, 5, 6, 7, 2, 3},
    {2, 4, 5, 6, 7, 0, 1, 3}, {0, 2, 4, 5, 6, 7, 1, 3}, {1, 2, 4, 5, 6, 7, 0, 3}, {0, 1, 2, 4, 5, 6, 7, 3},
    {3, 4, 5, 6, 7, 0, 1, 2}, {0, 3, 4, 5, 6, 7, 1, 2}, {1, 3, 4, 5, 6, 7, 0, 2}, {0, 1, 3, 4, 5, 6, 7, 2},
    {2, 3, 4, 5, 6, 7, 0, 1}, {0, 2, 3, 4, 5, 6, 7, 1}, {1, 2, 3, 4, 5, 6, 7, 0}, {0, 1, 2, 3, 4, 5, 6, 7},
};

bool tt__sort_has_vectors(void) { return !vectors_off && tt__cpu_level() >= 4; }

/* The lesser of each lane goes to a, the greater to b. */
#define ORDER(a, b)           \
  do {                        \
    __m512i low = VMIN(a, b); \
    b = VMAX(a, b);           \
    a = low;                  \
  } while (0)

/* Lanes in `high` take the greater of themselves and their partner, the others the lesser. */
#define EXCHANGE(v, high, partner)                 \
  do {                                             \
    __m512i other = (partner);                     \
    v = VMASK_MAX(VMIN(v, other), high, v, other); \
  } while (0)

#define KEY uint32_t
#define TO_KEY tt_key32
#define FROM_KEY tt_unkey32
#define LANES 16
#define MASK __mmask16
#define NAME(x) x##_u32
#define VMIN _mm512_min_epu32
#define VMAX _mm512_max_epu32
#define VMASK_MAX _mm512_mask_max_epu32
#define VSET1(x) _mm512_set1_epi32((int)(x))
#define VLESS _mm512_cmplt_epu32_mask
#define VCOMPRESS _mm512_maskz_compress_epi32
#define VMASK_LOAD _mm512_mask_loadu_epi32
#define VMASK_STORE _mm512_mask_storeu_epi32
#include "lib/sort/vector_body.h"

#define KEY uint64_t
#define TO_KEY tt_key64
#define FROM_KEY tt_unkey64
#define LANES 8
#define MASK __mmask8
#define NAME(x) x##_u64
#define VMIN _mm512_min_epu64
#define VMAX _mm512_max_epu64
#define VMASK_MAX _mm512_mask_max_epu64
#define VSET1(x) _mm512_set1_epi64((long long)(x))
#define VLESS _mm512_cmplt_epu64_mask
#define VCOMPRESS _mm512_maskz_compress_epi64
#define VMASK_LOAD _mm512_mask_loadu_epi64
#define VMASK_STORE _mm512_mask_storeu_epi64
#include "lib/sort/vector_body.h"

V4 void tt__vector_count_u32(const uint32_t *key, int64_t n, uint32_t border, int64_t *less, int64_t *equal) {
  const __m512i limit = _mm512_set1_epi32((int)border);
  *less = *equal = 0;
  for (int64_t i = 0; i < n; i += 16) {
    __mmask16 here = lanes_u32(n - i);
    __m512i v = _mm512_maskz_loadu_epi32(here, key + i);
    *less += __builtin_popcount(_mm512_mask_cmplt_epu32_mask(here, v, limit));
    *equal += __builtin_popcount(_mm512_mask_cmpeq_epu32_mask(here, v, limit));
  }
}

V4 void tt__vector_count_u64(const uint64_t *key, int64_t n, uint64_t border, int64_t *less, int64_t *equal) {
  const __m512i limit = _mm512_set1_epi64((long long)border);
  *less = *equal = 0;
  for (int64_t i = 0; i < n; i += 8) {
    __mmask8 here = lanes_u64(n - i);
    __m512i v = _mm512_maskz_loadu_epi64(here, key + i);
    *less += __builtin_popcount(_mm512_mask_cmplt_epu64_mask(here, v, limit));
    *equal += __builtin_popcount(_mm512_mask_cmpeq_epu64_mask(here, v, limit));
  }
}

/* The places of keys, eight at a time, each to the end of its list. */
V4_INLINE int64_t *put_places(int64_t *to, __m512i place, __mmask8 some) {
  _mm512_mask_compressstoreu_epi64(to, some, place);
  return to + __builtin_popcount(some);
}

V4 void tt__vector_places(tt_key_rule r, const void *in, int64_t n, uint64_t border, int64_t *less, int64_t *equal,
                          int64_t *more) {
  enum { STRETCH = 256 };
  _Alignas(64) uint64_t keys[STRETCH];
  const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), limit = _mm512_set1_epi64((long long)border);
  for (int64_t from = 0; from < n; from += STRETCH) {
    int64_t few = n - from < STRETCH ? n - from : STRETCH;
    if (r.width == 4)
      tt__vector_keys_u32(r, (const uint32_t *)in + from, (uint32_t *)keys, few);
    else
      tt__vector_keys_u64(r, (const uint64_t *)in + from, keys, few);
    for (int64_t i = 0; i < few; i += 8) {
      __mmask8 here = (__mmask8)(few - i >= 8 ? 255 : (1u << (few - i)) - 1);
      __m512i key = r.width == 4 ? _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)((uint32_t *)keys + i)))
                                 : _mm512_loadu_si512(keys + i);
      __m512i place = _mm512_add_epi64(lane, _mm512_set1_epi64(from + i));
      __mmask8 under = _mm512_mask_cmplt_epu64_mask(here, key, limit);
      __mmask8 same = _mm512_mask_cmpeq_epu64_mask(here, key, limit);
      less = put_places(less, place, under);
      equal = put_places(equal, place, same);
      more = put_places(more, place, (__mmask8)(here & ~(under | same)));
    }
  }
}

#else /* nothing calls these where tt__sort_has_vectors() is false */

void tt__vector_places(tt_key_rule r, const void *in, int64_t n, uint64_t border, int64_t *less, int64_t *equal,
                       int64_t *more) {
  (void)r, (void)in, (void)n, (void)border, (void)less, (void)equal, (void)more;
}

bool tt__sort_has_vectors(void) { return false; }

#define NONE(BITS)                                                                                                     \
  void tt__vector_sort_u##BITS(uint##BITS##_t *a, int64_t n) { (void)a, (void)n; }                                     \
  void tt__vector_select_u##BITS(uint##BITS##_t *a, int64_t n, int64_t k) { (void)a, (void)n, (void)k; }               \
  void tt__vector_count_u##BITS(const uint##BITS##_t *key, int64_t n, uint##BITS##_t border, int64_t *less,            \
                                int64_t *equal) {                                                                      \
    (void)key, (void)n, (void)border, (void)less, (void)equal;                                                         \
  }                                                                                                                    \
  void tt__vector_partition_u##BITS(uint##BITS##_t *a, int64_t at, int64_t n, const uint##BITS##_t *pivot, int pivots, \
                                    int64_t *end) {                                                                    \
    (void)a, (void)at, (void)n, (void)pivot, (void)pivots, (void)end;                                                  \
  }                                                                                                                    \
  bool tt__vector_keys_u##BITS(tt_key_rule r, const uint##BITS##_t *in, uint##BITS##_t *out, int64_t n) {              \
    return (void)r, (void)in, (void)out, (void)n, false;                                                               \
  }                                                                                                                    \
  void tt__vector_back_u##BITS(tt_key_rule r, const uint##BITS##_t *in, uint##BITS##_t *out, int64_t n) {              \
    (void)r, (void)in, (void)out, (void)n;                                                                             \
  }
NONE(32)
NONE(64)

#endif
