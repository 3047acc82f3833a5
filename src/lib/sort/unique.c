/*
** Distinct elements. Integers of a small range are counted in a table. All others are sorted (with their places when
** an index or the inverse is wanted), and the first of each run of equals is found in two rounds over blocks of fixed
** size: count, then fill. It must not know arrays or graphs.
*/
#include "lib/sort/unique.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/pick/search_count.h"
#include "lib/sort/host.h"

enum { BLOCK = 32768, SMALL_RANGE = 65536 };

typedef struct unique_job {
  tt_dtype t;
  size_t size;
  const char *in;
  char *sorted;
  int64_t *place; /* of the sorted elements in the input, or NULL */
  int64_t n, first_nan;
  bool all_differ; /* the sorted elements are the values: they go to the output as they are */
  int64_t *start;  /* of each block: how many values begin in it, then the rank of its first */
  tt_unique *out;
  int64_t min; /* of the table */
  const int64_t *rank;
} unique_job;

void tt__unique_free(tt_unique *u) {
  assert(u->n >= 0);
  size_t n = (size_t)u->n;
  if (u->values) tt__mem_free_data(u->values, n * u->size);
  if (u->index) tt__mem_free_data(u->index, n * sizeof *u->index);
  if (u->inverse) tt__mem_free_data(u->inverse, (size_t)u->n_in * sizeof *u->inverse);
  if (u->counts) tt__mem_free_data(u->counts, n * sizeof *u->counts);
  *u = (tt_unique){0};
}

/* The blocks of `n` values that are wanted. */
static tt_code make_output(tt_unique *u, int64_t n, int want, tt_error *err) {
  u->n = n;
  if (n == 0) return TT_OK;
  size_t count = (size_t)n, in = (size_t)u->n_in;
  if (!u->values && !(u->values = tt__mem_alloc_data(count * u->size))) goto fail;
  if (want & TT_UNIQUE_INDEX && !(u->index = tt__mem_alloc_data(count * sizeof *u->index))) goto fail;
  if (want & TT_UNIQUE_COUNTS && !(u->counts = tt__mem_alloc_data(count * sizeof *u->counts))) goto fail;
  if (want & TT_UNIQUE_INVERSE && !(u->inverse = tt__mem_alloc_data(in * sizeof *u->inverse))) goto fail;
  return TT_OK;
fail:
  tt__unique_free(u);
  return tt__fail_memory(err, count * u->size);
}

/* ---- by sorting */

static bool is_nan(tt_dtype t, const char *p) {
  tt_scalar s;
  memcpy(&s, p, tt__dtype_size(t));
  switch (t) {
    case TT_F16:
      return (s.f16 & 0x7fff) > 0x7c00;
    case TT_BF16:
      return (s.bf16 & 0x7fff) > 0x7f80;
    case TT_F32:
      return s.f32 != s.f32;
    case TT_F64:
      return s.f64 != s.f64;
    case TT_C64:
      return s.c64.re != s.c64.re || s.c64.im != s.c64.im;
    case TT_C128:
      return s.c128.re != s.c128.re || s.c128.im != s.c128.im;
    default:
      return false;
  }
}

static int64_t find_first_nan(const unique_job *j) {
  int64_t lo = 0, hi = j->n;
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    if (is_nan(j->t, j->sorted + (size_t)mid * j->size))
      hi = mid;
    else
      lo = mid + 1;
  }
  return lo;
}

/* mark[i - lo] = sorted element i begins a run, for i in [lo, hi). */
#define MARK(T, DIFFERS)                                          \
  {                                                               \
    const T *x = (const T *)j->sorted;                            \
    for (int64_t i = from; i < hi; i++) mark[i - lo] = (DIFFERS); \
    break;                                                        \
  }

static void mark_starts(const unique_job *j, int64_t lo, int64_t hi, uint8_t *mark) {
  int64_t from = lo > 0 ? lo : 1;
  if (lo == 0) mark[0] = 1;
  switch (j->t) {
    case TT_F16:
    case TT_BF16: /* zeros of both signs are one value; a NaN differs from itself */
      MARK(uint16_t, (x[i] != x[i - 1] && ((x[i] | x[i - 1]) & 0x7fff)) || i >= j->first_nan)
    case TT_F32:
      MARK(float, x[i] != x[i - 1])
    case TT_F64:
      MARK(double, x[i] != x[i - 1])
    case TT_C64:
      MARK(tt_c64, (x[i].re != x[i - 1].re) | (x[i].im != x[i - 1].im))
    case TT_C128:
      MARK(tt_c128, (x[i].re != x[i - 1].re) | (x[i].im != x[i - 1].im))
    default:
      switch (j->size) {
        case 1:
          MARK(uint8_t, x[i] != x[i - 1])
        case 2:
          MARK(uint16_t, x[i] != x[i - 1])
        case 4:
          MARK(uint32_t, x[i] != x[i - 1])
        default:
          MARK(uint64_t, x[i] != x[i - 1])
      }
  }
}
#undef MARK

/* Where all NaNs are one value, only the first one begins a run. */
static void join_nans(const unique_job *j, int64_t lo, int64_t hi, uint8_t *mark, bool equal_nan) {
  if (!equal_nan || j->first_nan >= hi) return;
  for (int64_t i = lo > j->first_nan ? lo : j->first_nan; i < hi; i++) mark[i - lo] = i == j->first_nan;
}

typedef struct mark_job {
  unique_job *j;
  bool equal_nan;
} mark_job;

static int64_t block_end(const unique_job *j, int64_t b) { return (b + 1) * BLOCK < j->n ? (b + 1) * BLOCK : j->n; }

static void count_starts(void *ctx, int64_t lo, int64_t hi, int worker) {
  const mark_job *m = ctx;
  unique_job *j = m->j;
  uint8_t mark[BLOCK];
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t from = b * BLOCK, to = block_end(j, b), count = 0;
    mark_starts(j, from, to, mark);
    join_nans(j, from, to, mark, m->equal_nan);
    for (int64_t i = 0; i < to - from; i++) count += mark[i];
    j->start[b] = count;
  }
}

static void copy_values(const unique_job *j, int64_t from, int64_t to, int64_t r, const uint8_t *mark) {
  tt_unique *u = j->out;
  switch (j->size) {
#define COPY(T)                                                            \
  for (int64_t i = from; i < to; i++)                                      \
    if (mark[i - from]) ((T *)u->values)[r++] = ((const T *)j->sorted)[i]; \
  break;
    case 1:
      COPY(uint8_t)
    case 2:
      COPY(uint16_t)
    case 4:
      COPY(uint32_t)
    case 8:
      COPY(uint64_t)
    default:
      COPY(tt_c128)
#undef COPY
  }
}

/* The marked elements of a block, the first of which has rank `rank`. Counts hold, for now, where their run begins. */
static void fill_block(const unique_job *j, int64_t from, int64_t to, int64_t rank, const uint8_t *mark) {
  tt_unique *u = j->out;
  int64_t r = rank;
  if (!j->all_differ) copy_values(j, from, to, rank, mark);
  for (int64_t i = from; u->counts && i < to; i++)
    if (mark[i - from]) u->counts[r++] = i;
  r = rank;
  for (int64_t i = from; u->index && i < to; i++)
    if (mark[i - from]) u->index[r++] = j->place[i];
  r = rank - 1;
  for (int64_t i = from; u->inverse && i < to; i++) u->inverse[j->place[i]] = r += mark[i - from];
}

static void fill_starts(void *ctx, int64_t lo, int64_t hi, int worker) {
  const mark_job *m = ctx;
  const unique_job *j = m->j;
  uint8_t mark[BLOCK];
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t from = b * BLOCK, to = block_end(j, b);
    mark_starts(j, from, to, mark);
    join_nans(j, from, to, mark, m->equal_nan);
    fill_block(j, from, to, j->start[b], mark);
  }
}

static void gather_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  const unique_job *j = ctx;
  (void)worker;
  switch (j->size) {
#define GATHER(T)                                                                          \
  for (int64_t i = lo; i < hi; i++) ((T *)j->sorted)[i] = ((const T *)j->in)[j->place[i]]; \
  break;
    case 1:
      GATHER(uint8_t)
    case 2:
      GATHER(uint16_t)
    case 4:
      GATHER(uint32_t)
    case 8:
      GATHER(uint64_t)
    default:
      GATHER(tt_c128)
#undef GATHER
  }
}

static tt_code sort_elements(unique_job *j, tt_error *err) {
  if (!j->place) return tt__sort_rows(j->t, j->in, j->sorted, 1, j->n, false, err);
  TT_TRY(tt__argsort_rows(j->t, j->in, j->place, 1, j->n, false, err));
  tt__pool_run(j->n, BLOCK, gather_part, j);
  return TT_OK;
}

static tt_code find_runs(unique_job *j, int want, bool equal_nan, tt_error *err) {
  int64_t blocks = (j->n + BLOCK - 1) / BLOCK, rank = 0;
  mark_job m = {j, equal_nan};
  j->first_nan = find_first_nan(j);
  tt__pool_run(blocks, 1, count_starts, &m);
  for (int64_t b = 0; b < blocks; b++) {
    int64_t c = j->start[b];
    j->start[b] = rank;
    rank += c;
  }
  j->all_differ = rank == j->n;
  if (j->all_differ) j->out->values = j->sorted;
  TT_TRY(make_output(j->out, rank, want, err));
  if (!j->all_differ || want) tt__pool_run(blocks, 1, fill_starts, &m);
  if (want & TT_UNIQUE_COUNTS) { /* from where runs begin to how long they are */
    int64_t *c = j->out->counts;
    for (int64_t i = 0; i + 1 < rank; i++) c[i] = c[i + 1] - c[i];
    c[rank - 1] = j->n - c[rank - 1];
  }
  return TT_OK;
}

static tt_code unique_by_sorting(unique_job *j, int want, bool equal_nan, tt_error *err) {
  size_t sorted = (size_t)j->n * j->size, place = (size_t)j->n * sizeof *j->place;
  size_t start = (size_t)((j->n + BLOCK - 1) / BLOCK) * sizeof *j->start;
  tt_code c = TT_ENOMEM;
  if (!(want & (TT_UNIQUE_INDEX | TT_UNIQUE_INVERSE))) place = 0;
  if (!(j->sorted = tt__mem_alloc_data(sorted))) goto fail_sorted;
  if (place && !(j->place = tt__mem_alloc_data(place))) goto fail_place;
  if (!(j->start = tt__mem_alloc(start))) goto fail_start;
  c = sort_elements(j, err);
  if (c == TT_OK) c = find_runs(j, want, equal_nan, err);
  tt__mem_free(j->start, start);
fail_start:
  if (place) tt__mem_free_data(j->place, place);
fail_place:
  if (!j->all_differ) tt__mem_free_data(j->sorted, sorted);
fail_sorted:
  return c == TT_ENOMEM ? tt__fail_memory(err, sorted + place) : c;
}

/* ---- by a table */

static int64_t int_at(const unique_job *j, int64_t i) {
  switch (j->t) {
    case TT_I8:
      return ((const int8_t *)j->in)[i];
    case TT_I16:
      return ((const int16_t *)j->in)[i];
    case TT_I32:
      return ((const int32_t *)j->in)[i];
    case TT_U16:
      return ((const uint16_t *)j->in)[i];
    case TT_U32:
      return ((const uint32_t *)j->in)[i];
    case TT_I64:
    case TT_U64:
      return ((const int64_t *)j->in)[i];
    default:
      return ((const uint8_t *)j->in)[i];
  }
}

static void rank_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  const unique_job *j = ctx;
  (void)worker;
  for (int64_t i = lo; i < hi; i++) j->out->inverse[i] = j->rank[(uint64_t)int_at(j, i) - (uint64_t)j->min];
}

/* The first place of each value; stops when all were seen. */
static void find_first(const unique_job *j, const int64_t *rank) {
  int64_t *index = j->out->index, left = j->out->n;
  for (int64_t k = 0; k < left; k++) index[k] = -1;
  for (int64_t i = 0; left > 0; i++) {
    int64_t *first = &index[rank[(uint64_t)int_at(j, i) - (uint64_t)j->min]];
    if (*first < 0) *first = i, left--;
  }
}

/* table[b] counts min + b; on return it holds ranks. */
static tt_code unique_of_table(unique_job *j, int64_t *table, int64_t bins, int want, tt_error *err) {
  int64_t n = 0, rank = 0;
  for (int64_t b = 0; b < bins; b++) n += table[b] != 0;
  TT_TRY(make_output(j->out, n, want, err));
  for (int64_t b = 0; b < bins; b++) {
    if (!table[b]) continue;
    uint64_t value = (uint64_t)j->min + (uint64_t)b; /* its low bytes are the element */
    memcpy((char *)j->out->values + (size_t)rank * j->size, &value, j->size);
    if (want & TT_UNIQUE_COUNTS) j->out->counts[rank] = table[b];
    table[b] = rank++;
  }
  j->rank = table;
  if (want & TT_UNIQUE_INDEX) find_first(j, table);
  if (want & TT_UNIQUE_INVERSE) tt__pool_run(j->n, BLOCK, rank_part, j);
  return TT_OK;
}

/* Sets *done when the elements were integers of a range that is small next to their number. */
static tt_code unique_by_table(unique_job *j, int want, bool *done, tt_error *err) {
  int64_t max;
  *done = false;
  if (j->t != TT_BOOL && !tt__is_int(j->t)) return TT_OK;
  tt__int_range(j->t, j->in, j->n, &j->min, &max);
  uint64_t bins = (uint64_t)max - (uint64_t)j->min + 1;
  if (bins == 0 || bins > (uint64_t)(j->n / 4 > SMALL_RANGE ? j->n / 4 : SMALL_RANGE) || bins / 16 > (uint64_t)j->n)
    return TT_OK;
  size_t size = (size_t)bins * sizeof(int64_t);
  int64_t *table = tt__mem_alloc_data(size);
  if (!table) return tt__fail_memory(err, size);
  tt_code c = tt__bincount(j->t, j->in, j->n, j->min, NULL, (int64_t)bins, table, err);
  if (c == TT_OK) c = unique_of_table(j, table, (int64_t)bins, want, err);
  tt__mem_free_data(table, size);
  *done = true;
  return c;
}

tt_code tt__unique(tt_dtype t, const void *in, int64_t n, int want, bool equal_nan, tt_unique *out, tt_error *err) {
  assert(n >= 0 && out);
  assert(n >= 0);
  bool done;
  *out = (tt_unique){.n_in = n, .size = tt__dtype_size(t)};
  unique_job j = {.t = t, .size = out->size, .in = in, .n = n, .out = out};
  if (n == 0) return TT_OK;
  TT_TRY(unique_by_table(&j, want, &done, err));
  return done ? TT_OK : unique_by_sorting(&j, want, equal_nan, err);
}
