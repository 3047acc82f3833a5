/*
** Sorting on the host. Elements become unsigned keys of the same order (sort/key.c), keys are sorted
** (sort/radix.c), and become elements again; argsort carries the places along. Many short rows go to the threads
** whole; a few long ones are cut. It must not know arrays or graphs.
*/
#include "lib/sort/host.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/sort/sort_int.h"

/* Rows shared out to workers, each with its own scratch. */
typedef struct row_job {
  tt_dtype t;
  const char *in;
  char *out;
  int64_t n;
  bool descending, wide;
  size_t scratch; /* bytes of a worker */
  char *scratch_of[1 + 256];
  tt_code (*one)(const struct row_job *j, const char *in, char *out, void *scratch);
  atomic_bool failed; /* memory was out for some row */
  size_t out_size;    /* bytes of an element of the output */
  const int64_t *kth; /* the places to select, ascending */
  int64_t kths;
} row_job;

enum { MAX_WORKERS = 256, PIECES = 1 << 17 };

static void run_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  row_job *j = ctx;
  size_t in_row = (size_t)j->n * tt__dtype_size(j->t), out_row = (size_t)j->n * j->out_size;
  for (int64_t i = lo; i < hi; i++)
    if (j->one(j, j->in + (size_t)i * in_row, j->out + (size_t)i * out_row, j->scratch_of[worker]) != TT_OK)
      atomic_store(&j->failed, true);
}

/* Long rows one after the other, each by all threads; else rows side by side. */
static tt_code run_job(row_job *j, int64_t rows, tt_error *err) {
  if (rows == 0 || j->n == 0) return TT_OK;
  int workers = tt__pool_size();
  if (workers > MAX_WORKERS) workers = MAX_WORKERS;
  j->wide = workers > 1 && j->n >= 2 * TT_SORT_GRAIN && rows < 2 * workers && !tt__pool_inside();
  if (j->wide || rows * j->n < TT_SORT_GRAIN || tt__pool_inside()) workers = 1;
  size_t all = 0;
  if (j->scratch && __builtin_mul_overflow(j->scratch, (size_t)workers, &all)) return tt__fail_memory(err, j->scratch);
  char *mem = NULL;
  if (all && !(mem = tt__mem_alloc_data(all))) return tt__fail_memory(err, all);
  for (int i = 0; i < workers; i++) j->scratch_of[i] = mem ? mem + (size_t)i * j->scratch : NULL;
  if (workers == 1) {
    run_rows(j, 0, rows, 0);
  } else {
    int64_t grain = TT_SORT_GRAIN / j->n;
    tt__pool_run_numbered(workers, rows, grain > 0 ? grain : 1, run_rows, j);
  }
  tt__mem_free_data(mem, all);
  return atomic_load(&j->failed) ? tt__fail_memory(err, (size_t)j->n * j->out_size) : TT_OK;
}

/* ---- values */

static void *radix_keys(int width, void *a, void *tmp, int64_t n, tt_key_view v, bool wide) {
  switch (width) {
    case 1:
      return tt__radix_u8(a, tmp, n, v, wide);
    case 2:
      return tt__radix_u16(a, tmp, n, v, wide);
    case 4:
      return tt__radix_u32(a, tmp, n, v, wide);
    default:
      return tt__radix_u64(a, tmp, n, v, wide);
  }
}

/* The first place in a sorted row whose key is not below (or, with `above`, is above) k. */
static int64_t key_bound(tt_key_rule r, const void *row, int64_t n, uint64_t k, bool above) {
  int64_t lo = 0, hi = n;
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    uint64_t x = tt_key_at(r, row, mid);
    if (x < k || (above && x == k))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Put the row's elements of one kind (NaNs, or zeros of both signs) in out[lo, hi), in order of appearance. */
static void refill(tt_key_rule r, const char *in, char *out, int64_t lo, int64_t hi, bool nan) {
  uint64_t sign = (uint64_t)1 << (r.width * 8 - 1);
  tt_key_rule bits = {.width = r.width};
  size_t w = (size_t)r.width;
  for (int64_t i = 0; lo < hi; i++) {
    uint64_t size = tt_key_at(bits, in, i) & (sign - 1);
    if (nan ? size > r.inf : size == 0) memcpy(out + (size_t)lo++ * w, in + (size_t)i * w, w);
  }
}

/*
** Where NaNs and zeros lie in a row that was sorted by keys. Keys do not remember which NaN it was, and keep -0.0
** before 0.0; NumPy's order takes them as equal, so they return in order of appearance.
*/
typedef struct special {
  int64_t nan_lo, nan_hi, zero_lo, zero_hi;
} special;

static special find_special(tt_key_rule r, const void *row, int64_t n) {
  special s = {0, 0, 0, 0};
  if (!r.inf) return s;
  uint64_t full = r.width == 8 ? UINT64_MAX : ((uint64_t)1 << (r.width * 8)) - 1;
  uint64_t nan = (full ^ r.flip) & full, zero = (full / 2 + 1) ^ (r.flip & full), minus = (full / 2) ^ (r.flip & full);
  if (tt_key_at(r, row, r.flip ? 0 : n - 1) == nan) {
    s.nan_lo = key_bound(r, row, n, nan, false);
    s.nan_hi = key_bound(r, row, n, nan, true);
  }
  uint64_t first = zero < minus ? zero : minus;
  int64_t lo = key_bound(r, row, n, first, false), mid = key_bound(r, row, n, first, true);
  int64_t hi = key_bound(r, row, n, first + 1, true);
  if (lo < mid && mid < hi) s.zero_lo = lo, s.zero_hi = hi;
  return s;
}

/* From `PIECES` elements on, vectors sort in pieces: the threads share the work, and it stays in the cache. */
static bool in_pieces(int width, int64_t n) { return width >= 4 && n >= PIECES && tt__sort_has_vectors(); }

/* Zeros and NaNs are left in the order of their keys; false: there are none whose order is another. */
static bool sort_by_keys(const row_job *j, tt_key_rule r, const char *in, char *out, void *scratch) {
  bool odd = r.inf != 0;
  if (r.width == 4 && tt__sort_has_vectors()) {
    odd = tt__vector_keys_u32(r, (const uint32_t *)in, (uint32_t *)out, j->n);
    tt__vector_sort_u32((uint32_t *)out, j->n);
    tt__vector_back_u32(r, (uint32_t *)out, (uint32_t *)out, j->n);
  } else if (r.width == 8 && tt__sort_has_vectors()) {
    odd = tt__vector_keys_u64(r, (const uint64_t *)in, (uint64_t *)out, j->n);
    tt__vector_sort_u64((uint64_t *)out, j->n);
    tt__vector_back_u64(r, (uint64_t *)out, (uint64_t *)out, j->n);
  } else {
    tt_key_span span = tt__keys_make(r, in, out, j->n, j->wide);
    void *keys = radix_keys(r.width, out, scratch, j->n, tt__key_view(span), j->wide);
    tt__keys_back(r, keys, out, j->n, j->wide);
  }
  return odd;
}

static tt_code sort_one(const row_job *j, const char *in, char *out, void *scratch) {
  tt_key_rule r = tt__key_rule(j->t, j->descending, false);
  if (in_pieces(r.width, j->n))
    TT_TRY(tt__samplesort(r, in, out, scratch, j->n, j->wide, NULL));
  else if (tt__count_can(r.width, j->n))
    TT_TRY(tt__count_sort(r, in, out, j->n, j->wide, NULL));
  else if (!sort_by_keys(j, r, in, out, scratch))
    return TT_OK;
  special s = find_special(r, out, j->n);
  if (s.nan_lo < s.nan_hi) refill(r, in, out, s.nan_lo, s.nan_hi, true);
  if (s.zero_lo < s.zero_hi) refill(r, in, out, s.zero_lo, s.zero_hi, false);
  return TT_OK;
}

/* Of keys in place, from the least k on: what lies before a selected key needs no second look. */
static tt_code select_one(const row_job *j, const char *in, char *out, void *scratch) {
  tt_key_rule r = tt__key_rule(j->t, false, false);
  (void)scratch;
  if (r.width == 4)
    tt__vector_keys_u32(r, (const uint32_t *)in, (uint32_t *)out, j->n);
  else
    tt__vector_keys_u64(r, (const uint64_t *)in, (uint64_t *)out, j->n);
  for (int64_t i = 0, from = 0; i < j->kths; i++) {
    int64_t k = j->kth[i];
    assert(k >= 0 && k < j->n);
    if (k < from) continue; /* named twice */
    if (r.width == 4)
      tt__vector_select_u32((uint32_t *)out + from, j->n - from, k - from);
    else
      tt__vector_select_u64((uint64_t *)out + from, j->n - from, k - from);
    from = k + 1;
  }
  if (r.width == 4)
    tt__vector_back_u32(r, (uint32_t *)out, (uint32_t *)out, j->n);
  else
    tt__vector_back_u64(r, (uint64_t *)out, (uint64_t *)out, j->n);
  return TT_OK;
}

/* The places of one selected element: of those below it, of its equals, of those above, each in their order. */
static tt_code argselect_one(const row_job *j, const char *in, char *out, void *scratch) {
  tt_key_rule r = tt__key_rule(j->t, false, true);
  int64_t k = j->kth[0], less, equal, *place = (int64_t *)(void *)out;
  uint32_t *narrow = scratch;
  uint64_t *wide = scratch, border;
  assert(k >= 0 && k < j->n && j->kths == 1);
  if (r.width == 4) {
    tt__vector_keys_u32(r, (const uint32_t *)in, narrow, j->n);
    tt__vector_select_u32(narrow, j->n, k);
    tt__vector_count_u32(narrow, j->n, narrow[k], &less, &equal);
    border = narrow[k];
  } else {
    tt__vector_keys_u64(r, (const uint64_t *)in, wide, j->n);
    tt__vector_select_u64(wide, j->n, k);
    tt__vector_count_u64(wide, j->n, wide[k], &less, &equal);
    border = wide[k];
  }
  tt__vector_places(r, in, j->n, border, place, place + less, place + less + equal);
  return TT_OK;
}

/* ---- places */

typedef struct pack_job {
  tt_key_rule r;
  const void *in;
  void *out;
  uint64_t min;
  int shift;
} pack_job;

/* (key, place) in one word. */
static void pack_words(void *ctx, int64_t lo, int64_t hi, int worker) {
  const pack_job *j = ctx;
  tt_key_rule r = j->r;
  uint64_t *out = j->out;
  (void)worker;
  switch (r.width) {
    case 1:
    case 2:
      for (int64_t i = lo; i < hi; i++) out[i] = (tt_key_at(r, j->in, i) - j->min) << 32 | (uint64_t)i;
      break;
    case 4:
      for (int64_t i = lo; i < hi; i++)
        out[i] = (tt_key32(((const uint32_t *)j->in)[i], r) - j->min) << 32 | (uint64_t)i;
      break;
    default:
      for (int64_t i = lo; i < hi; i++)
        out[i] = (tt_key64(((const uint64_t *)j->in)[i], r) - j->min) >> j->shift << 32 | (uint64_t)i;
  }
}

static void unpack_words(void *ctx, int64_t lo, int64_t hi, int worker) {
  const pack_job *j = ctx;
  const uint64_t *in = j->in;
  int64_t *out = j->out;
  (void)worker;
  for (int64_t i = lo; i < hi; i++) out[i] = (int64_t)(in[i] & UINT32_MAX);
}

static void pack_pairs(void *ctx, int64_t lo, int64_t hi, int worker) {
  const pack_job *j = ctx;
  tt_sort_pair *out = j->out;
  (void)worker;
  for (int64_t i = lo; i < hi; i++) out[i] = (tt_sort_pair){tt_key_at(j->r, j->in, i), (uint64_t)i};
}

static void unpack_pairs(void *ctx, int64_t lo, int64_t hi, int worker) {
  const pack_job *j = ctx;
  const tt_sort_pair *in = j->in;
  int64_t *out = j->out;
  (void)worker;
  for (int64_t i = lo; i < hi; i++) out[i] = (int64_t)in[i].at;
}

static void run_wide(bool wide, int64_t n, tt_pool_fn fn, void *ctx) {
  if (wide)
    tt__pool_run(n, TT_SORT_GRAIN, fn, ctx);
  else
    fn(ctx, 0, n, 0);
}

/* Keys that fit `bits`, at most 32 of them, once moved and shifted: the output serves as one of the two buffers of
 * words. */
static void argsort_words(pack_job pack, int64_t *out, uint64_t *scratch, int64_t n, uint64_t bits, bool wide) {
  pack.out = out;
  run_wide(wide, n, pack_words, &pack);
  uint64_t *words = (uint64_t *)out;
  if (tt__sort_has_vectors() && !wide && bits > UINT8_MAX)
    tt__vector_sort_u64(words, n);
  else
    words = tt__radix_u64(words, scratch, n, (tt_key_view){0, bits << 32}, wide);
  pack_job unpack = {.in = words, .out = out};
  run_wide(wide, n, unpack_words, &unpack);
}

/*
** The stable order of few keys, by words of a key's leading bits and its place. What these bits leave equal is put
** right one by one; false where that is much, or there are no vectors: `place` is spoiled then.
*/
enum { FEW_KEYS = 1 << 15, MOVES_EACH = 4 };

static bool order_few(const uint64_t *key, int64_t *place, int64_t n) {
  uint64_t *word = (uint64_t *)place, low = 1;
  int64_t moves = MOVES_EACH * n;
  if (n > FEW_KEYS || !tt__sort_has_vectors()) return false;
  while (low < (uint64_t)n) low *= 2;
  low--;
  for (int64_t i = 0; i < n; i++) word[i] = (key[i] & ~low) | (uint64_t)i;
  tt__vector_sort_u64(word, n);
  for (int64_t i = 0; i < n; i++) word[i] &= low;
  for (int64_t i = 1; i < n; i++) {
    int64_t at = place[i], k = i;
    for (; k > 0 && key[place[k - 1]] > key[at]; k--) place[k] = place[k - 1];
    place[k] = at;
    moves -= i - k;
    if (moves < 0) return false;
  }
  return true;
}

static uint64_t ones_below(uint64_t max) { return max == 0 ? 0 : UINT64_MAX >> __builtin_clzll(max); }

/* Bytes that carry a key and its place through a split. */
static size_t pair_or_word(int width, int64_t n) {
  return width < 8 && n <= UINT32_MAX ? sizeof(uint64_t) : sizeof(tt_sort_pair);
}

static tt_code argsort_one(const row_job *j, const char *in, char *out, void *scratch) {
  tt_key_rule r = tt__key_rule(j->t, j->descending, true);
  int64_t n = j->n, *place = (int64_t *)out;
  pack_job pack = {.r = r, .in = in};
  bool small = n <= UINT32_MAX;
  if (tt__count_can(r.width, n)) return tt__count_argsort(r, in, place, n, j->wide, NULL);
  if (small && r.width == 4 && in_pieces(4, n)) return tt__samplesort_places(r, in, place, scratch, n, j->wide, NULL);
  tt_sort_pair *pairs = scratch;
  uint64_t *words = tt__sort_has_vectors() ? NULL : (uint64_t *)(pairs + n);
  if (tt__split_can(r.width, n)) return tt__split_argsort(r, in, place, pairs, words, n, j->wide, NULL);
  tt_key_span span = tt__keys_make(r, in, scratch, n, j->wide);
  uint64_t vary = span.any ^ span.all;
  if (r.width == 8 && vary) pack.shift = __builtin_ctzll(vary);
  pack.min = span.min;
  if (small && (span.max - span.min) >> pack.shift <= UINT32_MAX) {
    argsort_words(pack, place, scratch, n, ones_below((span.max - span.min) >> pack.shift), j->wide);
    return TT_OK;
  }
  if (r.width == 8 && order_few(scratch, place, n)) return TT_OK;
  pack.out = pairs;
  run_wide(j->wide, n, pack_pairs, &pack);
  pack_job unpack = {.in = tt__radix_pair(pairs, pairs + n, n, tt__key_view(span), j->wide), .out = place};
  run_wide(j->wide, n, unpack_pairs, &unpack);
  return TT_OK;
}

/* ---- records: complex numbers and lexsort */

/* Put the keys of a column (element i at in + i * step) in the pairs, in the pairs' order, and sort by them. */
static void sort_by_column(tt_key_rule r, const char *in, int64_t step, tt_sort_pair **a, tt_sort_pair **tmp, int64_t n,
                           bool wide) {
  uint64_t any = 0, all = UINT64_MAX;
  tt_sort_pair *p = *a;
  for (int64_t i = 0; i < n; i++) {
    p[i].key = tt_key_at(r, in + (int64_t)p[i].at * step, 0);
    any |= p[i].key;
    all &= p[i].key;
  }
  if (n <= FEW_KEYS && any != all) {
    uint64_t *key = (uint64_t *)*tmp;
    int64_t *place = (int64_t *)key + n;
    for (int64_t i = 0; i < n; i++) key[i] = p[i].key;
    if (order_few(key, place, n)) {
      for (int64_t i = 0; i < n; i++) (*tmp)[i] = p[place[i]]; /* over places that were read */
      *a = *tmp;
      *tmp = p;
      return;
    }
  }
  *a = tt__radix_pair(p, *tmp, n, (tt_key_view){0, any ^ all}, wide);
  if (*a != p) *tmp = p;
}

/*
** NumPy's order of complex numbers: all without a NaN, then (R, nan), (nan, R), (nan, nan); in each kind by the
** real, then by the imaginary part.
*/
static void sort_by_nan_kind(tt_dtype t, const char *in, bool descending, tt_sort_pair **a, tt_sort_pair **tmp,
                             int64_t n, bool wide) {
  uint64_t any = 0;
  tt_sort_pair *p = *a;
  for (int64_t i = 0; i < n; i++) {
    uint64_t at = p[i].at, kind;
    if (t == TT_C64) {
      const tt_c64 *c = (const tt_c64 *)in + at;
      kind = (uint64_t)(c->re != c->re) * 2 + (uint64_t)(c->im != c->im);
    } else {
      const tt_c128 *c = (const tt_c128 *)in + at;
      kind = (uint64_t)(c->re != c->re) * 2 + (uint64_t)(c->im != c->im);
    }
    any |= kind;
    p[i].key = descending ? 3 - kind : kind;
  }
  if (!any) return;
  *a = tt__radix_pair(p, *tmp, n, (tt_key_view){0, 3}, wide);
  if (*a != p) *tmp = p;
}

static void number_pairs(tt_sort_pair *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) a[i] = (tt_sort_pair){0, (uint64_t)i};
}

static const tt_sort_pair *sort_complex(const row_job *j, const char *in, void *scratch) {
  tt_sort_pair *a = scratch, *tmp = a + j->n;
  tt_dtype part = tt__real_of(j->t);
  int64_t step = (int64_t)tt__dtype_size(j->t);
  tt_key_rule r = tt__key_rule(part, j->descending, true);
  number_pairs(a, j->n);
  sort_by_column(r, in + step / 2, step, &a, &tmp, j->n, j->wide);
  sort_by_column(r, in, step, &a, &tmp, j->n, j->wide);
  sort_by_nan_kind(j->t, in, j->descending, &a, &tmp, j->n, j->wide);
  return a;
}

/* complex64 without a NaN is in the order of one word, made of the keys of its parts. */
typedef struct fuse_job {
  tt_key_rule r;
  const uint32_t *in;
  uint64_t *out;
  atomic_bool nan;
} fuse_job;

static void fuse_keys(void *ctx, int64_t lo, int64_t hi, int worker) {
  fuse_job *j = ctx;
  const tt_key_rule r = j->r;
  const uint32_t nan_key = ~(uint32_t)r.flip;
  uint32_t nan = 0;
  (void)worker;
  for (int64_t i = lo; i < hi; i++) {
    uint32_t re = tt_key32(j->in[2 * i], r), im = tt_key32(j->in[2 * i + 1], r);
    nan |= (uint32_t)(re == nan_key) | (uint32_t)(im == nan_key);
    j->out[i] = (uint64_t)re << 32 | im;
  }
  if (nan) atomic_store(&j->nan, true);
}

/* True and the places in `place`, when that is how the row can be sorted; *c is then the outcome. */
static bool argsort_fused(const row_job *j, const char *in, int64_t *place, void *scratch, tt_code *c) {
  if (j->t != TT_C64 || !tt__split_can(8, j->n)) return false;
  tt_sort_pair *pairs = scratch; /* of the two pairs a row has: one moves, half of the other is keys, half words */
  uint64_t *keys = (uint64_t *)(pairs + j->n), *words = tt__sort_has_vectors() ? NULL : keys + j->n;
  fuse_job fuse = {.r = tt__key_rule(TT_F32, j->descending, true), .in = (const uint32_t *)in, .out = keys};
  run_wide(j->wide, j->n, fuse_keys, &fuse);
  if (atomic_load(&fuse.nan)) return false;
  *c = tt__split_argsort(tt__key_rule(TT_U64, false, false), keys, place, pairs, words, j->n, j->wide, NULL);
  return true;
}

typedef struct gather_job {
  const tt_c64 *in;
  char *out; /* places, which become elements */
} gather_job;

static void gather_c64(void *ctx, int64_t lo, int64_t hi, int worker) {
  const gather_job *j = ctx;
  (void)worker;
  for (int64_t i = lo; i < hi; i++) {
    int64_t place;
    memcpy(&place, j->out + i * 8, 8);
    memcpy(j->out + i * 8, &j->in[place], 8);
  }
}

static tt_code sort_complex_one(const row_job *j, const char *in, char *out, void *scratch) {
  tt_code c;
  if (argsort_fused(j, in, (int64_t *)out, scratch, &c)) {
    gather_job gather = {(const tt_c64 *)in, out};
    if (c == TT_OK) run_wide(j->wide, j->n, gather_c64, &gather);
    return c;
  }
  const tt_sort_pair *a = sort_complex(j, in, scratch);
  size_t size = tt__dtype_size(j->t);
  for (int64_t i = 0; i < j->n; i++) memcpy(out + (size_t)i * size, in + (size_t)a[i].at * size, size);
  return TT_OK;
}

static tt_code argsort_complex_one(const row_job *j, const char *in, char *out, void *scratch) {
  tt_code c;
  if (argsort_fused(j, in, (int64_t *)out, scratch, &c)) return c;
  pack_job unpack = {.in = sort_complex(j, in, scratch), .out = out};
  run_wide(j->wide, j->n, unpack_pairs, &unpack);
  return TT_OK;
}

/* ---- entries */

/* Bytes of `per` for each of n elements, or 0 with *over set when that overflows. */
static size_t bytes_for(int64_t n, size_t per, bool *over) {
  size_t size = 0;
  if (__builtin_mul_overflow((size_t)n, per, &size)) *over = true;
  return size;
}

tt_code tt__sort_rows(tt_dtype t, const void *in, void *out, int64_t rows, int64_t n, bool descending, tt_error *err) {
  assert(rows >= 0 && n >= 0);
  size_t size = tt__dtype_size(t);
  bool over = false, complex = tt__is_complex(t);
  row_job j = {.t = t, .in = in, .out = out, .n = n, .descending = descending, .out_size = size};
  j.one = complex ? sort_complex_one : sort_one;
  bool in_place = size >= 4 ? tt__sort_has_vectors() && !in_pieces((int)size, n) : tt__count_can((int)size, n);
  j.scratch = bytes_for(n, complex ? 2 * sizeof(tt_sort_pair) : in_place ? 0 : size, &over);
  if (over) return tt__fail_memory(err, SIZE_MAX);
  return run_job(&j, rows, err);
}

tt_code tt__argsort_rows(tt_dtype t, const void *in, int64_t *out, int64_t rows, int64_t n, bool descending,
                         tt_error *err) {
  assert(rows >= 0 && n >= 0);
  bool over = false, complex = tt__is_complex(t);
  int width = (int)tt__dtype_size(t);
  size_t moved = pair_or_word(width, n), more = moved == sizeof(uint64_t) ? 0 : moved;
  if (tt__split_can(width, n)) more = tt__sort_has_vectors() ? 0 : sizeof(uint64_t);
  if (tt__count_can(width, n)) moved = more = 0;
  row_job j = {.t = t, .in = in, .out = (char *)out, .n = n, .descending = descending, .out_size = sizeof *out};
  j.one = complex ? argsort_complex_one : argsort_one;
  j.scratch = bytes_for(n, complex ? 2 * sizeof(tt_sort_pair) : moved + more, &over);
  if (over) return tt__fail_memory(err, SIZE_MAX);
  return run_job(&j, rows, err);
}

tt_code tt__lexsort(const tt_dtype *t, const void *const *column, int keys, int64_t n, int64_t *out, tt_error *err) {
  assert(keys > 0 && n >= 0);
  assert(keys >= 0 && n >= 0);
  bool over = false;
  size_t size = bytes_for(n, 2 * sizeof(tt_sort_pair), &over);
  if (n == 0) return TT_OK;
  tt_sort_pair *mem = over ? NULL : tt__mem_alloc_data(size);
  if (!mem) return tt__fail_memory(err, size);
  tt_sort_pair *a = mem, *tmp = mem + n;
  bool wide = !tt__pool_inside();
  number_pairs(a, n);
  for (int k = 0; k < keys; k++) {
    const char *in = column[k];
    int64_t step = (int64_t)tt__dtype_size(t[k]);
    tt_key_rule r = tt__key_rule(tt__real_of(t[k]), false, true);
    if (tt__is_complex(t[k])) sort_by_column(r, in + step / 2, step, &a, &tmp, n, wide);
    sort_by_column(r, in, step, &a, &tmp, n, wide);
    if (tt__is_complex(t[k])) sort_by_nan_kind(t[k], in, false, &a, &tmp, n, wide);
  }
  pack_job unpack = {.in = a, .out = out};
  run_wide(wide, n, unpack_pairs, &unpack);
  tt__mem_free_data(mem, size);
  return TT_OK;
}

tt_code tt__select_rows(tt_dtype t, const void *in, void *out, int64_t rows, int64_t n, const int64_t *kth,
                        int64_t kths, tt_error *err) {
  assert(kths >= 0 && (kths == 0 || kth));
  size_t size = tt__dtype_size(t), want = (size_t)kths * sizeof *kth;
  if (tt__is_complex(t) || size < 4 || !tt__sort_has_vectors()) return tt__sort_rows(t, in, out, rows, n, false, err);
  if (kths == 0) {
    memcpy(out, in, (size_t)(rows * n) * size);
    return TT_OK;
  }
  int64_t *order = tt__mem_alloc_data(want);
  if (!order) return tt__fail_memory(err, want);
  tt_code c = tt__sort_rows(TT_I64, kth, order, 1, kths, false, err);
  row_job j = {.t = t, .in = in, .out = out, .n = n, .out_size = size, .one = select_one, .kth = order, .kths = kths};
  if (c == TT_OK) c = run_job(&j, rows, err);
  tt__mem_free_data(order, want);
  return c;
}

tt_code tt__argselect_rows(tt_dtype t, const void *in, int64_t *out, int64_t rows, int64_t n, const int64_t *kth,
                           int64_t kths, tt_error *err) {
  assert(kths >= 0 && (kths == 0 || kth));
  size_t size = tt__dtype_size(t);
  bool over = false;
  if (tt__is_complex(t) || size < 4 || kths != 1 || !tt__sort_has_vectors())
    return tt__argsort_rows(t, in, out, rows, n, false, err);
  row_job j = {.t = t, .in = in, .out = (char *)out, .n = n, .out_size = sizeof *out, .one = argselect_one};
  j.kth = kth;
  j.kths = kths;
  j.scratch = bytes_for(n, size, &over);
  return over ? tt__fail_memory(err, SIZE_MAX) : run_job(&j, rows, err);
}
