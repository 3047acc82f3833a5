/*
** Selection in two rounds over blocks of a fixed size: count each block, add the counts up, fill each block's part of
** the output. A block is looked at 64 elements at a time, as the bits of a word.
** It must not know arrays or graphs.
*/
#include "lib/scan/select.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK = 32768, WORD = 64 };

typedef struct pick_job {
  tt_dtype t;
  const char *in;
  int64_t *out;
  int64_t n;
  int64_t *start; /* of each block: its count, then the place of its first; behind them the total */
  atomic_llong total;
} pick_job;

/* ---- 64 elements as bits */

/* 64 bytes, each 0 or 1, to the bits of a word. */
static uint64_t bits_of_bytes(const uint8_t *b) {
  uint64_t word = 0;
#if defined(__x86_64__)
  for (int i = 0; i < WORD / 16; i++) {
    __m128i x = _mm_cmpgt_epi8(_mm_loadu_si128((const __m128i *)(b + 16 * i)), _mm_setzero_si128());
    word |= (uint64_t)(uint32_t)_mm_movemask_epi8(x) << (16 * i);
  }
#else
  for (int i = 0; i < WORD / 8; i++) {
    uint64_t x;
    memcpy(&x, b + 8 * i, 8);
    word |= (x * 0x0102040810204080u >> 56) << (8 * i);
  }
#endif
  return word;
}

#define TEST(T, IS)                                       \
  {                                                       \
    const T *x = (const T *)in;                           \
    for (int64_t i = 0; i < n; i++) b[i] = (uint8_t)(IS); \
  }

/* b[i] = element i is not zero, for n elements from `in` on. */
static void test_elements(tt_dtype t, const char *in, int64_t n, uint8_t *b) {
  switch (t) {
    case TT_F16:
    case TT_BF16:
      TEST(uint16_t, (x[i] & 0x7fff) != 0) break;
    case TT_F32:
      TEST(float, x[i] != 0) break;
    case TT_F64:
      TEST(double, x[i] != 0) break;
    case TT_C64:
      TEST(tt_c64, (x[i].re != 0) | (x[i].im != 0)) break;
    case TT_C128:
      TEST(tt_c128, (x[i].re != 0) | (x[i].im != 0)) break;
    default:
      switch (tt__dtype_size(t)) {
        case 1:
          TEST(uint8_t, x[i] != 0) break;
        case 2:
          TEST(uint16_t, x[i] != 0) break;
        case 4:
          TEST(uint32_t, x[i] != 0) break;
        default:
          TEST(uint64_t, x[i] != 0)
      }
  }
}
#undef TEST

/* The truth of elements [at, at + 64) or up to `end`. */
static uint64_t word_at(const pick_job *j, int64_t at, int64_t end) {
  uint8_t b[WORD];
  int64_t n = end - at;
  if (j->t == TT_BOOL && n >= WORD) return bits_of_bytes((const uint8_t *)j->in + at);
  if (n < WORD) memset(b, 0, sizeof b);
  test_elements(j->t, j->in + (size_t)at * tt__dtype_size(j->t), n < WORD ? n : WORD, b);
  return bits_of_bytes(b);
}

/* ---- counting */

static int64_t count_range(const pick_job *j, int64_t from, int64_t to) {
  uint8_t b[4096];
  int64_t count = 0;
  size_t size = tt__dtype_size(j->t);
  for (int64_t i = from; i < to; i += (int64_t)sizeof b) {
    int64_t n = to - i < (int64_t)sizeof b ? to - i : (int64_t)sizeof b;
    test_elements(j->t, j->in + (size_t)i * size, n, b);
    uint32_t part = 0;
    for (int64_t k = 0; k < n; k++) part += b[k];
    count += part;
  }
  return count;
}

static void count_blocks(void *ctx, int64_t lo, int64_t hi, int worker) {
  pick_job *j = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++)
    j->start[b] = count_range(j, b * BLOCK, (b + 1) * BLOCK < j->n ? (b + 1) * BLOCK : j->n);
}

static void count_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  pick_job *j = ctx;
  (void)worker;
  atomic_fetch_add(&j->total, count_range(j, lo, hi));
}

int64_t tt__count_nonzero(tt_dtype t, const void *in, int64_t n) {
  assert(n >= 0 && (unsigned)t < TT_DTYPE_COUNT);
  assert(n >= 0);
  pick_job j = {.t = t, .in = in, .n = n};
  tt__pool_run(n, BLOCK, count_part, &j);
  return atomic_load(&j.total);
}

static int64_t blocks_of(int64_t n) { return (n + BLOCK - 1) / BLOCK; }

/* ---- places */

static void fill_block(const pick_job *j, int64_t from, int64_t end, int64_t *out) {
  for (int64_t i = from; i < end; i += WORD)
    for (uint64_t w = word_at(j, i, end); w; w &= w - 1) *out++ = i + __builtin_ctzll(w);
}

#if defined(__x86_64__)
/* Eight places at a time; a whole register is written while that stays inside the block's part of the output. */
__attribute__((target("avx512f,avx512dq,avx512vl,popcnt"))) static void fill_block_v4(const pick_job *j, int64_t from,
                                                                                      int64_t end, int64_t *out,
                                                                                      const int64_t *out_end) {
  const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  for (int64_t i = from; i < end; i += WORD) {
    int64_t at = i;
    for (uint64_t w = word_at(j, i, end); w; w >>= 8, at += 8) {
      __mmask8 some = (__mmask8)w;
      __m512i place = _mm512_add_epi64(_mm512_set1_epi64(at), _mm512_maskz_compress_epi64(some, lane));
      int n = __builtin_popcount(some);
      if (out_end - out >= 8)
        _mm512_storeu_si512(out, place);
      else
        _mm512_mask_storeu_epi64(out, (__mmask8)((1u << n) - 1), place);
      out += n;
    }
  }
}
#endif

static void fill_places(void *ctx, int64_t lo, int64_t hi, int worker) {
  const pick_job *j = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t end = (b + 1) * BLOCK < j->n ? (b + 1) * BLOCK : j->n;
    int64_t *out = j->out + j->start[b];
#if defined(__x86_64__)
    if (tt__cpu_level() >= 4) {
      fill_block_v4(j, b * BLOCK, end, out, j->out + j->start[b + 1]);
      continue;
    }
#endif
    fill_block(j, b * BLOCK, end, out);
  }
}

tt_code tt__nonzero(tt_dtype t, const void *in, int64_t n, int64_t *out, tt_error *err) {
  assert(n >= 0 && (unsigned)t < TT_DTYPE_COUNT);
  assert(n >= 0);
  if (n == 0) return TT_OK;
  int64_t blocks = blocks_of(n), place = 0;
  size_t size = (size_t)(blocks + 1) * sizeof(int64_t);
  pick_job j = {.t = t, .in = in, .n = n, .out = out, .start = tt__mem_alloc(size)};
  if (!j.start) return tt__fail_memory(err, size);
  tt__pool_run(blocks, 1, count_blocks, &j);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t c = j.start[b];
    j.start[b] = place;
    place += c;
  }
  j.start[blocks] = place;
  tt__pool_run(blocks, 1, fill_places, &j);
  tt__mem_free(j.start, size);
  return TT_OK;
}

/* ---- repetition */

tt_code tt__repeat_total(const int64_t *count, int64_t n, int64_t *total, tt_error *err) {
  assert(n >= 0);
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    if (count[i] < 0) return tt__fail(err, TT_EVALUE, "repeats may not contain negative values.");
    if (__builtin_add_overflow(sum, count[i], &sum)) return tt__fail(err, TT_EVALUE, "the repeats add up to too many");
  }
  *total = sum;
  return TT_OK;
}

typedef struct repeat_job {
  const int64_t *count;
  int64_t n, *out, *start;
} repeat_job;

static void sum_blocks(void *ctx, int64_t lo, int64_t hi, int worker) {
  repeat_job *j = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t end = (b + 1) * BLOCK < j->n ? (b + 1) * BLOCK : j->n, sum = 0;
    for (int64_t i = b * BLOCK; i < end; i++) sum += j->count[i];
    j->start[b] = sum;
  }
}

static void repeat_blocks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const repeat_job *j = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t end = (b + 1) * BLOCK < j->n ? (b + 1) * BLOCK : j->n, *out = j->out + j->start[b];
    for (int64_t i = b * BLOCK; i < end; i++)
      for (int64_t k = j->count[i]; k > 0; k--) *out++ = i;
  }
}

tt_code tt__repeat_index(const int64_t *count, int64_t n, int64_t *out, tt_error *err) {
  assert(n >= 0);
  if (n == 0) return TT_OK;
  int64_t blocks = blocks_of(n), place = 0;
  size_t size = (size_t)blocks * sizeof(int64_t);
  repeat_job j = {.count = count, .n = n, .out = out, .start = tt__mem_alloc(size)};
  if (!j.start) return tt__fail_memory(err, size);
  tt__pool_run(blocks, 1, sum_blocks, &j);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t c = j.start[b];
    j.start[b] = place;
    place += c;
  }
  tt__pool_run(blocks, 1, repeat_blocks, &j);
  tt__mem_free(j.start, size);
  return TT_OK;
}
