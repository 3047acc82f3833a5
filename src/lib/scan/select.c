/*
** Selection in two rounds over blocks of a fixed size: count each block, add the counts up, fill each block's part of
** the output.
** It must not know arrays or graphs.
*/
#include "lib/scan/select.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mask.h"
#include "base/mem.h"
#include "base/pool/pool.h"

enum { BLOCK = 32768, CHUNK = 4096 };

typedef struct pick_job {
  tt_dtype t;
  const char *in;
  int64_t *out;
  int64_t n;
  int64_t *start; /* of each block: its count, then the place of its first; behind them the total */
  atomic_llong total;
} pick_job;

/* ---- what is not zero */

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

/* ---- counting */

/* The truths of n elements from `from` on: where they lie, or in `room` (n up to CHUNK). */
static const uint8_t *truth(const pick_job *j, int64_t from, int64_t n, uint8_t *room) {
  const char *in = j->in + (size_t)from * tt__dtype_size(j->t);
  if (j->t == TT_BOOL) return (const uint8_t *)in;
  test_elements(j->t, in, n, room);
  return room;
}

static int64_t chunk(const pick_job *j, int64_t left) { return j->t == TT_BOOL || left < CHUNK ? left : CHUNK; }

static int64_t count_range(const pick_job *j, int64_t from, int64_t to) {
  uint8_t room[CHUNK];
  int64_t count = 0;
  for (int64_t n; from < to; from += n) {
    n = chunk(j, to - from);
    count += tt__mask_count(truth(j, from, n, room), n);
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

static void fill_block(const pick_job *j, int64_t from, int64_t to, int64_t *out, const int64_t *out_end) {
  uint8_t room[CHUNK];
  for (int64_t n; from < to; from += n) {
    n = chunk(j, to - from);
    out += tt__mask_places(truth(j, from, n, room), n, from, 1, out, out_end - out);
  }
}

static void fill_places(void *ctx, int64_t lo, int64_t hi, int worker) {
  const pick_job *j = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t end = (b + 1) * BLOCK < j->n ? (b + 1) * BLOCK : j->n;
    fill_block(j, b * BLOCK, end, j->out + j->start[b], j->out + j->start[b + 1]);
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

/* The number i, `count` times; few are written whole while there is room, so that nothing hangs on the count. */
static int64_t *put_repeated(int64_t i, int64_t count, int64_t *out, const int64_t *end) {
  enum { FEW = 4 };
  if (count <= FEW && end - out >= FEW) {
    for (int k = 0; k < FEW; k++) out[k] = i;
    return out + count;
  }
  for (; count > 0; count--) *out++ = i;
  return out;
}

static void repeat_blocks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const repeat_job *j = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t last = (b + 1) * BLOCK < j->n ? (b + 1) * BLOCK : j->n, *out = j->out + j->start[b];
    const int64_t *end = j->out + j->start[b + 1];
    for (int64_t i = b * BLOCK; i < last; i++) out = put_repeated(i, j->count[i], out, end);
  }
}

tt_code tt__repeat_index(const int64_t *count, int64_t n, int64_t *out, tt_error *err) {
  assert(n >= 0);
  if (n == 0) return TT_OK;
  int64_t blocks = blocks_of(n), place = 0; /* and behind the blocks' places the total */
  size_t size = (size_t)(blocks + 1) * sizeof(int64_t);
  repeat_job j = {.count = count, .n = n, .out = out, .start = tt__mem_alloc(size)};
  if (!j.start) return tt__fail_memory(err, size);
  tt__pool_run(blocks, 1, sum_blocks, &j);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t c = j.start[b];
    j.start[b] = place;
    place += c;
  }
  j.start[blocks] = place;
  tt__pool_run(blocks, 1, repeat_blocks, &j);
  tt__mem_free(j.start, size);
  return TT_OK;
}
