/*
** Stable radix sort by the least significant digit, in parallel: each part of the input
** counts its digits, the counts become places, each part moves its elements. The outcome
** of a stable sort is unique, so it does not depend on the number of parts.
** It must not know what the keys stand for.
*/
#include "lib/sort/sort_int.h"

#include <assert.h>

#include "base/pool/pool.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, MAX_PARTS = 32, FEW = 48 };

/* One pass, shared by its parts. */
typedef struct radix_pass {
  const void *src;
  void *dst;
  int64_t n, part; /* part: elements of a part */
  uint64_t base;
  int shift;
  int64_t (*count)[DIGITS]; /* of each part; then the next place of each digit */
} radix_pass;

/* Counts become the first place of each digit of each part: by digit, then by part. */
static void counts_to_places(radix_pass *p, int parts) {
  int64_t place = 0;
  for (int d = 0; d < DIGITS; d++)
    for (int i = 0; i < parts; i++) {
      int64_t c = p->count[i][d];
      p->count[i][d] = place;
      place += c;
    }
  assert(place == p->n);
}

static int parts_of(int64_t n, bool wide) {
  if (!wide || tt__pool_inside()) return 1;
  int64_t most = n / TT_SORT_GRAIN;
  int threads = tt__pool_size();
  if (threads > MAX_PARTS) threads = MAX_PARTS;
  return most < 1 ? 1 : most < threads ? (int)most : threads;
}

/* The digits that are not constant, lowest first: *bits loses the one whose shift is returned. */
static int next_digit(uint64_t *bits) {
  int shift = __builtin_ctzll(*bits);
  *bits &= shift + DIGIT_BITS >= 64 ? 0 : ~(uint64_t)0 << (shift + DIGIT_BITS);
  return shift;
}

tt_key_view tt__key_view(tt_key_span s) {
  uint64_t width = s.max - s.min;
  tt_key_view whole = {0, s.any ^ s.all}, moved = {s.min, width ? UINT64_MAX >> __builtin_clzll(width) : 0};
  int whole_passes = 0, moved_passes = 0;
  for (uint64_t b = whole.bits; b; whole_passes++) next_digit(&b);
  for (uint64_t b = moved.bits; b; moved_passes++) next_digit(&b);
  return moved_passes < whole_passes ? moved : whole;
}

#define ELEM uint8_t
#define NAME(x) x##_u8
#define KEY_OF(e) (e)
#include "lib/sort/radix_body.h"

#define ELEM uint16_t
#define NAME(x) x##_u16
#define KEY_OF(e) (e)
#include "lib/sort/radix_body.h"

#define ELEM uint32_t
#define NAME(x) x##_u32
#define KEY_OF(e) (e)
#include "lib/sort/radix_body.h"

#define ELEM uint64_t
#define NAME(x) x##_u64
#define KEY_OF(e) (e)
#include "lib/sort/radix_body.h"

#define ELEM tt_sort_pair
#define NAME(x) x##_pair
#define KEY_OF(e) ((e).key)
#include "lib/sort/radix_body.h"
