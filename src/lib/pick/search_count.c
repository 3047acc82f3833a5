/*
** One engine counts: a source turns a stretch of elements into bin numbers, the engine adds them up. Each worker counts
** in a table of its own when that is cheap next to the elements; few bins get four tables, so that equal neighbours do
** not wait for each other. Bin number `bins` is for elements that are left out.
** It must not know arrays or graphs.
*/
#include "lib/pick/search_count.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "lib/pick/search.h"

enum {
  STRETCH = 1024, /* elements whose bin numbers are made at once */
  BLOCK = 65536,  /* weights are added up in blocks of this size, as NumPy does */
  BATCH = 16,     /* blocks between two ordered additions to the output */
  GRAIN = 32768,
  SLICE = INT32_MAX,
  FEW_BINS = 1024,
  WEIGHTED_BINS = 16384 /* from here on a table for each block costs more than a second thread brings */
};

typedef struct count_job count_job;
struct count_job {
  void (*number)(const count_job *j, int64_t lo, int64_t hi, int64_t *bin);
  tt_dtype t;
  const void *in;
  const double *weights;
  int64_t n, bins;
  int64_t min;               /* of bincount */
  double first, last, denom; /* of equal bins */
  const void *edge;
  bool direct;           /* the elements are bin numbers, as int64 */
  uint32_t *counts;      /* bins + 1 for each worker */
  bool *used;            /* whether a worker's table is in use: zeroed at its first stretch */
  int64_t workers, from; /* from: the first element of the slice */
  int64_t *out;
  double *sums;  /* bins + 1 for each block of a batch */
  int64_t batch; /* the first block of the batch */
};

/* ---- counts */

/* The bin numbers of a stretch: the elements themselves where they are, else made in `buffer`. */
static const int64_t *numbers(const count_job *j, int64_t lo, int64_t hi, int64_t *buffer) {
  if (j->direct) return (const int64_t *)j->in + lo;
  j->number(j, lo, hi, buffer);
  return buffer;
}

static void count_few(const count_job *j, int64_t lo, int64_t hi, uint32_t *table) {
  uint32_t few[4][FEW_BINS + 1];
  int64_t buffer[STRETCH];
  memset(few, 0, sizeof few);
  for (int64_t at = lo; at < hi; at += STRETCH) {
    int64_t n = hi - at < STRETCH ? hi - at : STRETCH, i = 0;
    const int64_t *bin = numbers(j, at, at + n, buffer);
    for (; i + 4 <= n; i += 4)
      for (int k = 0; k < 4; k++) few[k][bin[i + k]]++;
    for (; i < n; i++) few[0][bin[i]]++;
  }
  for (int64_t b = 0; b <= j->bins; b++) table[b] += few[0][b] + few[1][b] + few[2][b] + few[3][b];
}

static void count_many(const count_job *j, int64_t lo, int64_t hi, uint32_t *table) {
  int64_t buffer[STRETCH];
  for (int64_t at = lo; at < hi; at += STRETCH) {
    int64_t n = hi - at < STRETCH ? hi - at : STRETCH;
    const int64_t *bin = numbers(j, at, at + n, buffer);
    for (int64_t i = 0; i < n; i++) table[bin[i]]++;
  }
}

static void count_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  const count_job *j = ctx;
  uint32_t *table = j->counts + worker * (j->bins + 1);
  if (!j->used[worker]) memset(table, 0, (size_t)(j->bins + 1) * sizeof *table);
  j->used[worker] = true;
  if (j->bins <= FEW_BINS)
    count_few(j, j->from + lo, j->from + hi, table);
  else
    count_many(j, j->from + lo, j->from + hi, table);
}

static void add_tables(void *ctx, int64_t lo, int64_t hi, int worker) {
  const count_job *j = ctx;
  (void)worker;
  for (int64_t w = 0; w < j->workers; w++) {
    const uint32_t *table = j->counts + w * (j->bins + 1);
    if (j->used[w])
      for (int64_t b = lo; b < hi; b++) j->out[b] += table[b];
  }
}

/* Tables count up to 2^32: longer inputs are counted in slices. */
static void count_slices(count_job *j) {
  for (int64_t n; j->from < j->n; j->from += n) {
    n = j->n - j->from < SLICE ? j->n - j->from : SLICE;
    memset(j->used, 0, (size_t)j->workers);
    if (j->workers > 1)
      tt__pool_run_numbered((int)j->workers, n, GRAIN, count_part, j);
    else
      count_part(j, 0, n, 0);
    tt__pool_run(j->bins, GRAIN, add_tables, j);
  }
}

static tt_code count(count_job *j, int64_t *out, tt_error *err) {
  j->workers = j->n >= 2 * GRAIN && !tt__pool_inside() ? tt__pool_size() : 1;
  if (j->workers > 1 && j->bins > j->n / (2 * j->workers)) j->workers = 1;
  size_t table = 0, all = 0;
  if (__builtin_mul_overflow((size_t)j->bins + 1, sizeof *j->counts, &table)) return tt__fail_memory(err, SIZE_MAX);
  if (__builtin_mul_overflow(table, (size_t)j->workers, &all)) return tt__fail_memory(err, SIZE_MAX);
  j->counts = tt__mem_alloc_data(all);
  j->used = tt__mem_alloc((size_t)j->workers);
  tt_code c = TT_OK;
  if (j->counts && j->used) {
    j->out = out;
    memset(out, 0, (size_t)j->bins * sizeof *out);
    count_slices(j);
  } else {
    c = tt__fail_memory(err, all);
  }
  tt__mem_free(j->used, (size_t)j->workers);
  tt__mem_free_data(j->counts, all);
  return c;
}

/* ---- sums of weights */

static void number_ints(const count_job *j, int64_t lo, int64_t hi, int64_t *bin);

static void sum_range(const count_job *j, int64_t lo, int64_t hi, double *table) {
  int64_t buffer[STRETCH];
  for (int64_t at = lo; at < hi; at += STRETCH) {
    int64_t n = hi - at < STRETCH ? hi - at : STRETCH;
    const int64_t *bin = numbers(j, at, at + n, buffer);
    for (int64_t i = 0; i < n; i++) table[bin[i]] += j->weights[at + i];
  }
}

static void sum_blocks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const count_job *j = ctx;
  (void)worker;
  for (int64_t k = lo; k < hi; k++) {
    double *table = j->sums + k * (j->bins + 1);
    int64_t from = (j->batch + k) * BLOCK, to = from + BLOCK < j->n ? from + BLOCK : j->n;
    memset(table, 0, (size_t)(j->bins + 1) * sizeof *table);
    sum_range(j, from, to, table);
  }
}

static tt_code sum(count_job *j, double *out, tt_error *err) {
  int64_t blocks = (j->n + BLOCK - 1) / BLOCK, tables = j->bins <= WEIGHTED_BINS && blocks > 1 ? BATCH : 1;
  size_t size = 0;
  memset(out, 0, (size_t)j->bins * sizeof *out);
  if (tables == 1 && j->number == number_ints) { /* nothing is left out: no table has to be longer than the output */
    sum_range(j, 0, j->n, out);
    return TT_OK;
  }
  if (__builtin_mul_overflow((size_t)j->bins + 1, sizeof(double) * (size_t)tables, &size))
    return tt__fail_memory(err, SIZE_MAX);
  j->sums = tt__mem_alloc_data(size);
  if (!j->sums) return tt__fail_memory(err, size);
  if (tables == 1) {
    memset(j->sums, 0, size);
    sum_range(j, 0, j->n, j->sums);
    memcpy(out, j->sums, (size_t)j->bins * sizeof *out);
  } else {
    for (j->batch = 0; j->batch < blocks; j->batch += BATCH) {
      int64_t now = blocks - j->batch < BATCH ? blocks - j->batch : BATCH;
      tt__pool_run(now, 1, sum_blocks, j);
      for (int64_t k = 0; k < now; k++)
        for (int64_t b = 0; b < j->bins; b++) out[b] += j->sums[k * (j->bins + 1) + b];
    }
  }
  tt__mem_free_data(j->sums, size);
  return TT_OK;
}

static tt_code run(count_job *j, void *out, tt_error *err) {
  return j->weights ? sum(j, out, err) : count(j, out, err);
}

/* ---- integers */

#define FOR_INTS(X)   \
  X(TT_BOOL, uint8_t) \
  X(TT_I8, int8_t)    \
  X(TT_I16, int16_t)  \
  X(TT_I32, int32_t)  \
  X(TT_I64, int64_t)  \
  X(TT_U8, uint8_t)   \
  X(TT_U16, uint16_t) \
  X(TT_U32, uint32_t) \
  X(TT_U64, uint64_t)

static void number_ints(const count_job *j, int64_t lo, int64_t hi, int64_t *bin) {
  uint64_t min = (uint64_t)j->min;
  switch (j->t) {
#define NUMBER(E, T)                                                                                  \
  case E:                                                                                             \
    for (int64_t i = lo; i < hi; i++) bin[i - lo] = (int64_t)((uint64_t)((const T *)j->in)[i] - min); \
    break;
    FOR_INTS(NUMBER)
#undef NUMBER
    default:
      assert(false);
  }
}

typedef struct range_job {
  tt_dtype t;
  const void *in;
  _Atomic int64_t min, max; /* of uint64, the order of int64 after moving by 2^63 */
} range_job;

__attribute__((always_inline)) static inline void find_range(range_job *j, int64_t lo, int64_t hi) {
  int64_t min = INT64_MAX, max = INT64_MIN;
  switch (j->t) {
#define RANGE(E, T)                                      \
  case E: {                                              \
    T low = ((const T *)j->in)[lo], high = low;          \
    for (int64_t i = lo; i < hi; i++) {                  \
      T x = ((const T *)j->in)[i];                       \
      low = x < low ? x : low;                           \
      high = x > high ? x : high;                        \
    }                                                    \
    uint64_t move = E == TT_U64 ? (uint64_t)1 << 63 : 0; \
    min = (int64_t)((uint64_t)low ^ move);               \
    max = (int64_t)((uint64_t)high ^ move);              \
    break;                                               \
  }
    FOR_INTS(RANGE)
#undef RANGE
    default:
      assert(false);
  }
  int64_t seen = atomic_load(&j->min);
  while (min < seen && !atomic_compare_exchange_weak(&j->min, &seen, min)) continue;
  seen = atomic_load(&j->max);
  while (max > seen && !atomic_compare_exchange_weak(&j->max, &seen, max)) continue;
}

/* The baseline of x86-64 has no minimum of 64-bit integers. */
#if defined(__x86_64__)
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static void range_part_v4(range_job *j, int64_t lo,
                                                                                        int64_t hi) {
  find_range(j, lo, hi);
}
#endif

static void range_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
#if defined(__x86_64__)
  if (tt__cpu_level() >= 4) {
    range_part_v4(ctx, lo, hi);
    return;
  }
#endif
  find_range(ctx, lo, hi);
}

void tt__int_range(tt_dtype t, const void *in, int64_t n, int64_t *min, int64_t *max) {
  range_job j = {.t = t, .in = in, .min = INT64_MAX, .max = INT64_MIN};
  assert(n > 0);
  tt__pool_run(n, GRAIN, range_part, &j);
  uint64_t move = t == TT_U64 ? (uint64_t)1 << 63 : 0;
  *min = (int64_t)((uint64_t)j.min ^ move);
  *max = (int64_t)((uint64_t)j.max ^ move);
}

tt_code tt__bincount_size(tt_dtype t, const void *in, int64_t n, int64_t minlength, int64_t *bins, tt_error *err) {
  assert(n >= 0 && minlength >= 0);
  assert(n >= 0);
  int64_t min = 0, max = -1;
  if (n > 0) tt__int_range(t, in, n, &min, &max);
  if (n > 0 && t == TT_U64 && max < 0) return tt__fail_memory(err, SIZE_MAX);
  if (min < 0) return tt__fail(err, TT_EVALUE, "'list' argument must have no negative elements");
  if (max == INT64_MAX) return tt__fail_memory(err, SIZE_MAX);
  *bins = max + 1 > minlength ? max + 1 : minlength;
  return TT_OK;
}

tt_code tt__bincount(tt_dtype t, const void *in, int64_t n, int64_t min, const double *weights, int64_t bins, void *out,
                     tt_error *err) {
  assert(n >= 0 && bins >= 0);
  count_job j = {.number = number_ints, .t = t, .in = in, .weights = weights, .n = n, .bins = bins, .min = min};
  j.direct = min == 0 && (t == TT_I64 || t == TT_U64);
  return run(&j, out, err);
}

/* ---- histograms */

/*
** One stretch of equal bins. The quotient can be off by one next to an edge; comparing with the edges mends it.
** The order of the operations is NumPy's, in the precision of the edges.
*/
#define UNIFORM(T, X)                                                \
  {                                                                  \
    const T *edge = j->edge, first = (T)j->first, last = (T)j->last; \
    const T denom = (T)j->denom, scale = (T)j->bins;                 \
    for (int64_t i = lo; i < hi; i++) {                              \
      T x = (T)((const X *)j->in)[i];                                \
      bool keep = (x >= first) & (x <= last);                        \
      T place = (x - first) / denom * scale;                         \
      int64_t b = keep ? (int64_t)place : 0;                         \
      b -= b >= j->bins;                                             \
      b -= x < edge[b];                                              \
      b += (b != j->bins - 1) & (x >= edge[b + 1]);                  \
      bin[i - lo] = keep ? b : j->bins;                              \
    }                                                                \
    break;                                                           \
  }

static void number_uniform(const count_job *j, int64_t lo, int64_t hi, int64_t *bin) {
  switch (j->t) {
    case TT_F32:
      UNIFORM(float, float)
    case TT_F64:
      UNIFORM(double, double)
#define INTS(E, X) \
  case E:          \
    UNIFORM(double, X)
      FOR_INTS(INTS)
#undef INTS
    default:
      assert(false);
  }
}

tt_code tt__histogram_uniform(tt_dtype t, const void *in, int64_t n, const double *weights, double first, double last,
                              double denom, const void *edge, int64_t bins, void *out, tt_error *err) {
  count_job j = {.number = number_uniform, .t = t, .in = in, .weights = weights, .n = n, .bins = bins};
  char kind = tt__dtypes[t].kind;
  if (kind == 'c' || t == TT_F16 || t == TT_BF16)
    return tt__fail(err, TT_ETYPE, "no histogram of %s over equal bins", tt__dtypes[t].name);
  j.first = first;
  j.last = last;
  j.denom = denom;
  j.edge = edge;
  return run(&j, out, err);
}

static void number_edges(const count_job *j, int64_t lo, int64_t hi, int64_t *bin) {
  int64_t n = hi - lo, reached[STRETCH], passed[STRETCH];
  size_t size = tt__dtype_size(j->t);
  const char *in = (const char *)j->in + (size_t)lo * size, *last = (const char *)j->edge + (size_t)j->bins * size;
  tt__searchsorted(j->t, j->edge, j->bins + 1, in, n, true, bin);
  tt__searchsorted(j->t, last, 1, in, n, true, reached);
  tt__searchsorted(j->t, last, 1, in, n, false, passed);
  for (int64_t i = 0; i < n; i++) {
    if (reached[i]) /* what lies on the last edge belongs to the last bin */
      bin[i] = passed[i] ? j->bins : j->bins - 1;
    else
      bin[i] = bin[i] == 0 ? j->bins : bin[i] - 1;
  }
}

tt_code tt__histogram_edges(tt_dtype t, const void *in, int64_t n, const double *weights, const void *edge,
                            int64_t bins, void *out, tt_error *err) {
  assert(n >= 0);
  count_job j = {.number = number_edges, .t = t, .in = in, .weights = weights, .n = n, .edge = edge, .bins = bins};
  if (bins <= 0) return TT_OK;
  return run(&j, out, err);
}
