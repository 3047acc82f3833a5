/*
** The places of long rows: one pass moves each key with its place into one of up to 256 buckets of neighbouring keys,
** about equal in size, and each bucket is then sorted in the cache by one thread. The buckets come from a histogram of
** all keys over 4096 cells of the range that a sample spans, so neither skew nor outliers matter. The outcome is
** unique, by key and place. It must not know what the keys stand for.
*/
#include "lib/sort/sort_int.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"

enum {
  CELL_BITS = 12,
  CELLS = 1 << CELL_BITS,
  BUCKETS = 256,
  MAX_PARTS = 32,
  SAMPLE = 512,
  LEAST_BUCKET = 4096,
  LEAST = 65536
};

/* A stretch of the input, counted and moved by one thread. */
typedef struct part {
  uint32_t cell[CELLS];
  int64_t place[BUCKETS]; /* where the next element of each bucket goes */
} part;

typedef struct split_job split_job;
struct split_job {
  tt_key_rule r;
  const uint64_t *in;
  int64_t n;
  uint64_t low; /* the least key of the sample */
  int shift;    /* of (key - low), to cells */
  int64_t part_size;
  part *parts;
  int n_parts, buckets;
  uint8_t bucket_of[CELLS];
  int64_t start[BUCKETS + 1];
  tt_sort_pair *moved; /* by bucket */
  int64_t *out;
  uint64_t *scratch; /* NULL where vectors sort */
};

static inline int cell_of(uint64_t key, uint64_t low, int shift) {
  uint64_t cell = key > low ? (key - low) >> shift : 0;
  return (int)(cell < CELLS ? cell : CELLS - 1);
}

static void choose_cells(split_job *j) {
  uint64_t low = UINT64_MAX, high = 0;
  int64_t step = j->n / SAMPLE;
  for (int64_t i = 0; i < SAMPLE; i++) {
    uint64_t k = tt_key_at(j->r, j->in, i * step + (i * 37 & 63) * step / 64);
    low = k < low ? k : low;
    high = k > high ? k : high;
  }
  int bits = high > low ? 64 - __builtin_clzll(high - low) : 0;
  j->low = low;
  j->shift = bits > CELL_BITS ? bits - CELL_BITS : 0;
}

/* Neighbouring cells fill a bucket until it has its share; then each part learns where its elements go. */
static void choose_buckets(split_job *j) {
  int64_t share = j->n / (BUCKETS - 1) + 1, place = 0, filled = 0;
  int64_t count[BUCKETS] = {0};
  int b = 0;
  if (share < LEAST_BUCKET) share = LEAST_BUCKET;
  for (int c = 0; c < CELLS; c++) {
    int64_t cell = 0;
    for (int p = 0; p < j->n_parts; p++) cell += j->parts[p].cell[c];
    if (filled > 0 && filled + cell / 2 > share && b < BUCKETS - 1) b++, filled = 0;
    j->bucket_of[c] = (uint8_t)b;
    count[b] += cell;
    filled += cell;
  }
  j->buckets = b + 1;
  for (b = 0; b < j->buckets; b++) {
    j->start[b] = place;
    place += count[b];
  }
  j->start[b] = place;
  assert(place == j->n);
  memset(count, 0, sizeof count);
  for (int p = 0; p < j->n_parts; p++) {
    for (b = 0; b < j->buckets; b++) j->parts[p].place[b] = j->start[b] + count[b];
    for (int c = 0; c < CELLS; c++) count[j->bucket_of[c]] += j->parts[p].cell[c];
  }
}

static int64_t part_end(const split_job *j, int64_t p) {
  return (p + 1) * j->part_size < j->n ? (p + 1) * j->part_size : j->n;
}

static void count_parts(void *ctx, int64_t lo, int64_t hi, int worker) {
  split_job *j = ctx;
  const tt_key_rule r = j->r;
  const uint64_t low = j->low;
  const int shift = j->shift;
  (void)worker;
  for (int64_t p = lo; p < hi; p++) {
    uint32_t *cell = j->parts[p].cell;
    int64_t end = part_end(j, p);
    memset(cell, 0, sizeof j->parts[p].cell);
    for (int64_t i = p * j->part_size; i < end; i++) cell[cell_of(tt_key64(j->in[i], r), low, shift)]++;
  }
}

static void move_parts(void *ctx, int64_t lo, int64_t hi, int worker) {
  split_job *j = ctx;
  const tt_key_rule r = j->r;
  const uint64_t low = j->low;
  const int shift = j->shift;
  tt_sort_pair *to = j->moved;
  (void)worker;
  for (int64_t p = lo; p < hi; p++) {
    int64_t *place = j->parts[p].place, end = part_end(j, p);
    for (int64_t i = p * j->part_size; i < end; i++) {
      uint64_t k = tt_key64(j->in[i], r);
      to[place[j->bucket_of[cell_of(k, low, shift)]]++] = (tt_sort_pair){k, (uint64_t)i};
    }
  }
}

/* ---- buckets */

static void sort_words(const split_job *j, uint64_t *words, int64_t n, uint64_t *scratch) {
  if (!j->scratch) {
    tt__vector_sort_u64(words, n);
    return;
  }
  uint64_t any = 0, all = UINT64_MAX;
  for (int64_t i = 0; i < n; i++) any |= words[i], all &= words[i];
  uint64_t *sorted = tt__radix_u64(words, scratch, n, (tt_key_view){0, (any ^ all) >> 32 << 32}, false);
  if (sorted != words) memcpy(words, sorted, (size_t)n * sizeof *words);
}

static bool pair_before(const tt_sort_pair *a, const tt_sort_pair *b) {
  return a->key < b->key || (a->key == b->key && a->at < b->at);
}

/*
** Words whose keys agree in the 32 bits that were sorted by, w[0 .. n), in the order of their places: order them by
** whole keys. A merge sort would want memory; the pairs themselves are in the cache, so a shell sort serves.
*/
static void order_ties(const tt_sort_pair *pair, uint64_t *w, int64_t n) {
  int64_t gap = 1;
  while (gap < n / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3)
    for (int64_t i = gap; i < n; i++) {
      uint64_t e = w[i];
      int64_t k = i;
      for (; k >= gap && pair_before(&pair[e & UINT32_MAX], &pair[w[k - gap] & UINT32_MAX]); k -= gap)
        w[k] = w[k - gap];
      w[k] = e;
    }
}

/* Sort a bucket of pairs by words of the 32 leading bits that vary, with the place in the bucket below. */
static void finish_pairs(void *ctx, int64_t lo, int64_t hi, int worker) {
  split_job *j = ctx;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t at = j->start[b], n = j->start[b + 1] - at;
    const tt_sort_pair *pair = j->moved + at;
    uint64_t *w = (uint64_t *)j->out + at, min = UINT64_MAX, max = 0;
    for (int64_t i = 0; i < n; i++) {
      min = pair[i].key < min ? pair[i].key : min;
      max = pair[i].key > max ? pair[i].key : max;
    }
    if (n == 0) continue;
    int bits = max > min ? 64 - __builtin_clzll(max - min) : 0, shift = bits > 32 ? bits - 32 : 0;
    for (int64_t i = 0; i < n; i++) w[i] = (pair[i].key - min) >> shift << 32 | (uint64_t)i;
    sort_words(j, w, n, j->scratch ? j->scratch + at : NULL);
    for (int64_t i = 0, k; shift && i < n; i = k) {
      for (k = i + 1; k < n && w[k] >> 32 == w[i] >> 32;) k++;
      if (k - i > 1) order_ties(pair, w + i, k - i);
    }
    for (int64_t i = 0; i < n; i++) w[i] = pair[w[i] & UINT32_MAX].at;
  }
}

/* ---- the entry */

bool tt__split_can(int width, int64_t n) { return width == 8 && n >= LEAST && n <= INT32_MAX; }

tt_code tt__split_argsort(tt_key_rule r, const void *in, int64_t *out, tt_sort_pair *moved, uint64_t *scratch,
                          int64_t n, bool wide, tt_error *err) {
  split_job j = {.r = r, .in = in, .n = n, .moved = moved, .out = out, .scratch = scratch};
  int threads = wide && !tt__pool_inside() ? tt__pool_size() : 1;
  j.n_parts = threads < MAX_PARTS ? threads : MAX_PARTS;
  j.part_size = (n + j.n_parts - 1) / j.n_parts;
  size_t size = (size_t)j.n_parts * sizeof *j.parts;
  j.parts = tt__mem_alloc_data(size);
  if (!j.parts) return tt__fail_memory(err, size);
  choose_cells(&j);
  tt__pool_run(j.n_parts, 1, count_parts, &j);
  choose_buckets(&j);
  tt__pool_run(j.n_parts, 1, move_parts, &j);
  if (wide)
    tt__pool_run(j.buckets, 1, finish_pairs, &j);
  else
    finish_pairs(&j, 0, j.buckets, 0);
  tt__mem_free_data(j.parts, size);
  return TT_OK;
}
