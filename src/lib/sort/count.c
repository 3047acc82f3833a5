/*
** Sorting elements of one or two bytes by counting each key. It must not know what the keys stand for.
*/
#include "lib/sort/sort_int.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"

enum { MAX_PARTS = 32 };

typedef struct tally_job {
  tt_key_rule r;
  const void *in;
  void *out;
  int64_t n, part, keys; /* part: elements counted by one thread; keys: how many there are */
  int parts;
  uint32_t *count; /* parts x keys */
  int64_t *start;  /* keys + 1: where each key's run begins */
} tally_job;

static void count_parts(void *ctx, int64_t lo, int64_t hi, int worker) {
  tally_job *j = ctx;
  (void)worker;
  for (int64_t p = lo; p < hi; p++) {
    uint32_t *count = j->count + p * j->keys;
    int64_t end = (p + 1) * j->part < j->n ? (p + 1) * j->part : j->n;
    memset(count, 0, (size_t)j->keys * sizeof *count);
    /* of raw bits: a key costs less per value than per element */
    if (j->r.width == 1)
      for (int64_t i = p * j->part; i < end; i++) count[((const uint8_t *)j->in)[i]]++;
    else
      for (int64_t i = p * j->part; i < end; i++) count[((const uint16_t *)j->in)[i]]++;
  }
}

/* The totals by key. Values that share a key (NaNs) come out as the first bits that have it. */
static void place_keys(tally_job *j) {
  tt_key_rule r = j->r;
  memset(j->start, 0, (size_t)(j->keys + 1) * sizeof *j->start);
  for (int64_t bits = 0; bits < j->keys; bits++) {
    uint64_t key = r.width == 1 ? tt_key8((uint8_t)bits, r) : tt_key16((uint16_t)bits, r);
    for (int p = 0; p < j->parts; p++) j->start[key] += j->count[p * j->keys + bits];
  }
  int64_t place = 0;
  for (int64_t k = 0; k <= j->keys; k++) {
    int64_t c = k < j->keys ? j->start[k] : 0;
    j->start[k] = place;
    place += c;
  }
}

static void fill_keys(void *ctx, int64_t lo, int64_t hi, int worker) {
  const tally_job *j = ctx;
  (void)worker;
  for (int64_t k = lo; k < hi; k++) {
    int64_t at = j->start[k], end = j->start[k + 1];
    if (j->r.width == 1) {
      memset((uint8_t *)j->out + at, tt_unkey8((uint8_t)k, j->r), (size_t)(end - at));
    } else {
      uint16_t value = tt_unkey16((uint16_t)k, j->r), *out = j->out;
      for (; at < end; at++) out[at] = value;
    }
  }
}

/* Places go where their key has room, part by part, so equal keys keep their order. */
static void count_part_keys(void *ctx, int64_t lo, int64_t hi, int worker) {
  tally_job *j = ctx;
  const tt_key_rule r = j->r;
  (void)worker;
  for (int64_t p = lo; p < hi; p++) {
    uint32_t *count = j->count + p * j->keys;
    int64_t end = (p + 1) * j->part < j->n ? (p + 1) * j->part : j->n;
    memset(count, 0, (size_t)j->keys * sizeof *count);
    if (r.width == 1)
      for (int64_t i = p * j->part; i < end; i++) count[tt_key8(((const uint8_t *)j->in)[i], r)]++;
    else
      for (int64_t i = p * j->part; i < end; i++) count[tt_key16(((const uint16_t *)j->in)[i], r)]++;
  }
}

static void move_part_places(void *ctx, int64_t lo, int64_t hi, int worker) {
  tally_job *j = ctx;
  const tt_key_rule r = j->r;
  int64_t *out = j->out;
  (void)worker;
  for (int64_t p = lo; p < hi; p++) {
    uint32_t *place = j->count + p * j->keys;
    int64_t end = (p + 1) * j->part < j->n ? (p + 1) * j->part : j->n;
    if (r.width == 1)
      for (int64_t i = p * j->part; i < end; i++) out[place[tt_key8(((const uint8_t *)j->in)[i], r)]++] = i;
    else
      for (int64_t i = p * j->part; i < end; i++) out[place[tt_key16(((const uint16_t *)j->in)[i], r)]++] = i;
  }
}

static void cut_parts(tally_job *j, bool wide) {
  int threads = wide && !tt__pool_inside() ? tt__pool_size() : 1;
  j->keys = (int64_t)1 << (8 * j->r.width);
  j->parts = threads < MAX_PARTS ? threads : MAX_PARTS;
  j->part = (j->n + j->parts - 1) / j->parts;
}

tt_code tt__count_argsort(tt_key_rule r, const void *in, int64_t *out, int64_t n, bool wide, tt_error *err) {
  assert(tt__count_can(r.width, n));
  tally_job j = {.r = r, .in = in, .out = out, .n = n};
  cut_parts(&j, wide);
  size_t counts = (size_t)(j.parts * j.keys) * sizeof *j.count;
  if (!(j.count = tt__mem_alloc_data(counts))) return tt__fail_memory(err, counts);
  tt__pool_run(j.parts, 1, count_part_keys, &j);
  uint32_t place = 0;
  for (int64_t k = 0; k < j.keys; k++)
    for (int p = 0; p < j.parts; p++) {
      uint32_t c = j.count[p * j.keys + k];
      j.count[p * j.keys + k] = place;
      place += c;
    }
  tt__pool_run(j.parts, 1, move_part_places, &j);
  tt__mem_free_data(j.count, counts);
  return TT_OK;
}

bool tt__count_can(int width, int64_t n) {
  return n <= UINT32_MAX && (width == 1 ? n >= 256 : width == 2 && n >= 32768);
}

tt_code tt__count_sort(tt_key_rule r, const void *in, void *out, int64_t n, bool wide, tt_error *err) {
  assert(tt__count_can(r.width, n));
  tally_job j = {.r = r, .in = in, .out = out, .n = n};
  cut_parts(&j, wide);
  size_t counts = (size_t)(j.parts * j.keys) * sizeof *j.count, starts = (size_t)(j.keys + 1) * sizeof *j.start;
  tt_code c = TT_OK;
  if (!(j.count = tt__mem_alloc_data(counts))) return tt__fail_memory(err, counts);
  if (!(j.start = tt__mem_alloc_data(starts))) {
    c = tt__fail_memory(err, starts);
    goto fail_start;
  }
  tt__pool_run(j.parts, 1, count_parts, &j);
  place_keys(&j);
  if (wide)
    tt__pool_run(j.keys, j.keys / 64, fill_keys, &j);
  else
    fill_keys(&j, 0, j.keys, 0);
  tt__mem_free_data(j.start, starts);
fail_start:
  tt__mem_free_data(j.count, counts);
  return c;
}
