/*
** See mask.h.
*/
#include "base/mask.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { WORD = 64, FEW = 6 };

/* ---- 64 bytes as bits */

static uint64_t bits_of_word(const uint8_t *m) {
  uint64_t word = 0;
#if defined(__x86_64__)
  for (int i = 0; i < WORD / 16; i++) {
    __m128i none = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(m + 16 * i)), _mm_setzero_si128());
    word |= (uint64_t)(uint32_t)(_mm_movemask_epi8(none) ^ 0xffff) << (16 * i);
  }
#else
  for (int i = 0; i < WORD; i++) word |= (uint64_t)(m[i] != 0) << i;
#endif
  return word;
}

/* Those of n that are there, from m on. */
static uint64_t bits_at(const uint8_t *m, int64_t n) {
  uint8_t part[WORD] = {0};
  if (n >= WORD) return bits_of_word(m);
  memcpy(part, m, (size_t)n);
  return bits_of_word(part);
}

/* ---- how many */

int64_t tt__mask_count(const uint8_t *mask, int64_t n) {
  int64_t count = 0, i = 0;
  assert(n >= 0);
#if defined(__x86_64__)
  const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi8(1);
  __m128i sum = zero;
  for (; i + 16 <= n; i += 16) { /* sums of 8 bytes each: one is added for what is not zero */
    __m128i none = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(mask + i)), zero);
    sum = _mm_add_epi64(sum, _mm_sad_epu8(_mm_andnot_si128(none, one), zero));
  }
  count = _mm_cvtsi128_si64(sum) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(sum, sum));
#endif
  for (; i < n; i++) count += mask[i] != 0;
  return count;
}

/* ---- where */

static int64_t places_of_word(uint64_t word, int64_t at, int64_t step, int64_t *out) {
  int64_t n = 0;
  for (; word; word &= word - 1) out[n++] = at + step * __builtin_ctzll(word);
  return n;
}

static int64_t places(const uint8_t *mask, int64_t n, int64_t at, int64_t step, int64_t *out) {
  int64_t k = 0;
  for (int64_t i = 0; i < n; i += WORD) k += places_of_word(bits_at(mask + i, n - i), at + step * i, step, out + k);
  return k;
}

#if defined(__x86_64__)
/* Eight places at a time: whole registers are written, so 8 more than are true must have room. */
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,popcnt"))) static int64_t places_v4(
    const uint8_t *mask, int64_t n, int64_t at, int64_t step, int64_t *out, int64_t room) {
  const __m512i first = _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(step));
  int64_t k = 0;
  for (int64_t i = 0; i < n; i += WORD, at += WORD * step) {
    __mmask64 there = n - i >= WORD ? ~(__mmask64)0 : ((__mmask64)1 << (n - i)) - 1;
    __m512i m = _mm512_maskz_loadu_epi8(there, mask + i);
    uint64_t word = _mm512_test_epi8_mask(m, m);
    int some = __builtin_popcountll(word);
    if (some <= FEW || room - k < WORD + 8) {
      k += places_of_word(word, at, step, out + k);
      continue;
    }
    for (int part = 0; part < WORD; part += 8) {
      __mmask8 in = (__mmask8)(word >> part);
      __m512i place = _mm512_add_epi64(first, _mm512_set1_epi64(at + step * part));
      _mm512_storeu_si512(out + k, _mm512_maskz_compress_epi64(in, place));
      k += __builtin_popcount(in);
    }
  }
  return k;
}
#endif

int64_t tt__mask_places(const uint8_t *mask, int64_t n, int64_t at, int64_t step, int64_t *out, int64_t room) {
  assert(n >= 0 && room >= 0);
#if defined(__x86_64__)
  if (tt__cpu_level() >= 4) return places_v4(mask, n, at, step, out, room);
#endif
  (void)room;
  return places(mask, n, at, step, out);
}

/* ---- what stands there */

/* A copy of a fixed size is an instruction or two. */
#define PICK(size)                                                           \
  for (int64_t i = 0; i < n; i += WORD)                                      \
    for (uint64_t w = bits_at(mask + i, n - i); w; w &= w - 1, to += (size)) \
      memcpy(to, from + (size_t)(i + __builtin_ctzll(w)) * (size), (size));

void tt__mask_pick(const uint8_t *mask, int64_t n, const void *source, size_t item, void *target) {
  const char *from = source;
  char *to = target;
  assert(n >= 0 && item > 0);
  switch (item) {
    case 1:
      PICK(1) return;
    case 2:
      PICK(2) return;
    case 4:
      PICK(4) return;
    case 8:
      PICK(8) return;
    case 16:
      PICK(16) return;
    default:
      PICK(item)
  }
}
