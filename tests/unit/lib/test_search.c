/*
** Binary search, counting, histograms and distinct elements on the host against plain loops.
*/
#include "lib/pick/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/scan/host.h"
#include "lib/scan/select.h"
#include "lib/pick/search_count.h"
#include "lib/sort/host.h"
#include "lib/sort/unique.h"
#include "check.h"

static const int64_t lengths[] = {0,    1,     2,     31,    32,    33,    255,   256,   257,
                                  1000, 32767, 32768, 32769, 65535, 65536, 65537, 200003};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Elements with many equals; one in seven floats is special. */
static void fill(tt_dtype t, void *out, int64_t n, uint64_t values) {
  static const uint64_t special[][3] = {{0x0000, 0x8000, 0x7c00}, {0xfc00, 0x7e00, 0xfe01}};
  size_t size = tt__dtype_size(t), part = tt__is_complex(t) ? size / 2 : size;
  bool real = tt__is_float(t) || tt__is_complex(t);
  for (int64_t i = 0; i < n * (int64_t)(size / part); i++) {
    char *p = (char *)out + (size_t)i * part;
    uint64_t r = draw(), v = draw() % values - (tt__is_unsigned(t) || t == TT_BOOL ? 0 : values / 2);
    if (t == TT_BOOL) v &= 1;
    if (real && r % 7 == 0) { /* the top 16 bits say it all: zeros, infinities, NaNs */
      uint64_t h = special[r >> 8 & 1][(r >> 16) % 3];
      if (t != TT_F16) h = (h & 0x8000) | (h & 0x7fff ? 0x7f80 | ((h & 0x0201) ? 0x60 : 0) : 0);
      if (t == TT_F64 || t == TT_C128) h |= (h & 0x7f80) == 0x7f80 ? 0x7ff0 : 0, h &= (h & 0x60) ? 0xffff : 0xfff0;
      memset(p, 0, part);
      memcpy(p + part - 2, &h, 2);
    } else if (real && part == 4) {
      float f = (float)(int64_t)v;
      memcpy(p, &f, 4);
    } else if (real && part == 8) {
      double f = (double)(int64_t)v;
      memcpy(p, &f, 8);
    } else if (real) {
      uint16_t h = (uint16_t)((v & 0x83ff) | 0x3c00);
      memcpy(p, &h, 2);
    } else {
      memcpy(p, &v, part);
    }
  }
}

/* ---- binary search: sort elements and queries together; the order of the sort is tested elsewhere */

/*
** The place of each query by counting. argsort is stable, so with the queries in front an equal query comes before
** the elements (left), with the queries behind it comes after them (right).
*/
static void check_search(tt_dtype t, int64_t n, int64_t m, bool right) {
  size_t size = tt__dtype_size(t);
  char *both = need((size_t)(n + m) * size), *sorted = need((size_t)n * size);
  int64_t *place = need((size_t)(n + m) * 8), *want = need((size_t)m * 8), *got = need((size_t)m * 8), before = 0,
          bad = 0;
  fill(t, both, n + m, 3000);
  const char *elements = both + (right ? 0 : (size_t)m * size), *queries = both + (right ? (size_t)n * size : 0);
  CHECK(tt__sort_rows(t, elements, sorted, 1, n, false, NULL) == TT_OK, "sort failed");
  CHECK(tt__argsort_rows(t, both, place, 1, n + m, false, NULL) == TT_OK, "argsort failed");
  for (int64_t i = 0; i < n + m; i++) {
    int64_t q = right ? place[i] - n : place[i];
    if (q >= 0 && q < m)
      want[q] = before;
    else
      before++;
  }
  tt__searchsorted(t, sorted, n, queries, m, right, got);
  for (int64_t i = 0; i < m; i++) bad += got[i] != want[i];
  CHECK(bad == 0, "searchsorted %s n %ld m %ld right %d: %ld wrong", tt__dtypes[t].name, (long)n, (long)m, right,
        (long)bad);
  free(both), free(sorted), free(place), free(want), free(got);
}

/* ---- bincount */

static void check_bincount(tt_dtype t, int64_t n, uint64_t values) {
  size_t size = tt__dtype_size(t);
  char *in = need((size_t)n * size);
  double *weight = need((size_t)n * 8);
  int64_t bins = 0, bad = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t v = draw() % values;
    memcpy(in + (size_t)i * size, &v, size);
    weight[i] = (double)(draw() % 1024) / 64; /* sums are exact */
  }
  CHECK(tt__bincount_size(t, in, n, 5, &bins, NULL) == TT_OK, "size failed");
  int64_t *got = need((size_t)bins * 8), *want = need((size_t)bins * 8);
  double *got_sum = need((size_t)bins * 8), *want_sum = need((size_t)bins * 8);
  memset(want, 0, (size_t)bins * 8);
  memset(want_sum, 0, (size_t)bins * 8);
  for (int64_t i = 0; i < n; i++) {
    uint64_t v = 0;
    memcpy(&v, in + (size_t)i * size, size);
    bad += (int64_t)v >= bins;
    want[v]++;
    want_sum[v] += weight[i];
  }
  CHECK(bad == 0 && bins >= 5 && (bins == 5 || want[bins - 1] > 0), "size of the bincount");
  CHECK(tt__bincount(t, in, n, 0, NULL, bins, got, NULL) == TT_OK, "bincount failed");
  CHECK(memcmp(got, want, (size_t)bins * 8) == 0, "bincount %s n %ld values %ld", tt__dtypes[t].name, (long)n,
        (long)values);
  CHECK(tt__bincount(t, in, n, 0, weight, bins, got_sum, NULL) == TT_OK, "bincount failed");
  CHECK(memcmp(got_sum, want_sum, (size_t)bins * 8) == 0, "weighted bincount %s n %ld values %ld", tt__dtypes[t].name,
        (long)n, (long)values);
  if (n > 2 && t == TT_I64) {
    int64_t minus = -1;
    memcpy(in + 8, &minus, 8);
    tt_error err;
    CHECK(tt__bincount_size(t, in, n, 0, &bins, &err) == TT_EVALUE, "a negative element must fail");
  }
  free(in), free(weight), free(got), free(want), free(got_sum), free(want_sum);
}

/* ---- histograms: a bin is found by looking at every edge */

static int64_t bin_of(double x, const double *edge, int64_t bins) {
  if (!(x >= edge[0] && x <= edge[bins])) return -1;
  for (int64_t b = 0; b < bins; b++)
    if (x < edge[b + 1]) return b;
  return bins - 1;
}

static void check_histogram(int64_t n, int64_t bins, bool weighted) {
  double *in = need((size_t)n * 8), *weight = need((size_t)n * 8), edge[64];
  int64_t got[64], want[64] = {0};
  double got_sum[64], want_sum[64] = {0}, first = -0.7, last = 1.3;
  for (int64_t b = 0; b <= bins; b++) edge[b] = b == bins ? last : first + (double)b * ((last - first) / (double)bins);
  for (int64_t i = 0; i < n; i++) {
    uint64_t r = draw();
    in[i] = (double)(int64_t)r * 0x1p-62;
    if (r % 5 == 0) in[i] = edge[r / 5 % (uint64_t)(bins + 1)];
    if (r % 11 == 0) in[i] = nextafter(edge[r / 11 % (uint64_t)(bins + 1)], r & 1 << 20 ? 2.0 : -2.0);
    if (r % 101 == 0) in[i] = r & 1 << 20 ? NAN : INFINITY;
    weight[i] = (double)(r >> 20 & 0xff);
    int64_t b = bin_of(in[i], edge, bins);
    if (b >= 0) want[b]++, want_sum[b] += weight[i];
  }
  void *out = weighted ? (void *)got_sum : got;
  const void *expect = weighted ? (void *)want_sum : want;
  const double *w = weighted ? weight : NULL;
  CHECK(tt__histogram_uniform(TT_F64, in, n, w, first, last, last - first, edge, bins, out, NULL) == TT_OK, "failed");
  CHECK(memcmp(out, expect, (size_t)bins * 8) == 0, "equal bins, n %ld bins %ld", (long)n, (long)bins);
  edge[bins / 2] = nextafter(edge[bins / 2], 2.0); /* no longer equal */
  memset(want, 0, sizeof want);
  memset(want_sum, 0, sizeof want_sum);
  for (int64_t i = 0; i < n; i++) {
    int64_t b = bin_of(in[i], edge, bins);
    if (b >= 0) want[b]++, want_sum[b] += weight[i];
  }
  CHECK(tt__histogram_edges(TT_F64, in, n, w, edge, bins, out, NULL) == TT_OK, "failed");
  CHECK(memcmp(out, expect, (size_t)bins * 8) == 0, "given edges, n %ld bins %ld", (long)n, (long)bins);
  free(in), free(weight);
}

static void check_histogram_types(void) {
  int32_t in[] = {0, 1, 2, 3, 4, 4, -1, 5};
  double edge[] = {0, 2, 4};
  float f[] = {0.1f, 0.2f, 0.3f, 0.4f}, f_edge[] = {0.1f, 0.25f, 0.4f};
  int64_t got[2];
  tt_error err;
  CHECK(tt__histogram_uniform(TT_I32, in, 8, NULL, 0, 4, 4, edge, 2, got, NULL) == TT_OK, "failed");
  CHECK(got[0] == 2 && got[1] == 4, "int32 bins");
  CHECK(tt__histogram_uniform(TT_F32, f, 4, NULL, (double)f[0], (double)f[3], (double)(f[3] - f[0]), f_edge, 2, got,
                              NULL) == TT_OK,
        "failed");
  CHECK(got[0] == 2 && got[1] == 2, "float32 bins");
  CHECK(tt__histogram_uniform(TT_C64, f, 1, NULL, 0, 1, 1, edge, 2, got, &err) == TT_ETYPE, "complex must fail");
}

/* The same bits for any number of threads, with weights whose sums round. */
static void check_threads(void) {
  enum { N = 400000, BINS = 100 };
  int64_t *in = need(N * 8);
  double *weight = need(N * 8), one[BINS], many[BINS];
  for (int i = 0; i < N; i++) in[i] = (int64_t)(draw() % BINS), weight[i] = (double)draw() * 1e-20;
  tt__pool_resize(1);
  CHECK(tt__bincount(TT_I64, in, N, 0, weight, BINS, one, NULL) == TT_OK, "bincount failed");
  tt__pool_resize(3);
  CHECK(tt__bincount(TT_I64, in, N, 0, weight, BINS, many, NULL) == TT_OK, "bincount failed");
  tt__pool_resize(0);
  CHECK(memcmp(one, many, sizeof one) == 0, "weighted sums depend on the number of threads");
  free(in), free(weight);
}

/* ---- distinct elements: rebuilt from the inverse, counted, and strictly ordered by rank */

/* Equal for unique: bits apart from the sign of zero; NaNs as `equal_nan` has it. */
static bool same(tt_dtype t, const char *a, const char *b, bool equal_nan) {
  char pair[32];
  int64_t order[2], back[2];
  size_t size = tt__dtype_size(t);
  uint64_t inf = t == TT_F16                  ? 0x7c00
                 : t == TT_BF16               ? 0x7f80
                 : t == TT_F32 || t == TT_C64 ? 0x7f800000
                                              : 0x7ff0000000000000;
  if (tt__is_float(t) || tt__is_complex(t)) {
    size_t part = tt__is_complex(t) ? size / 2 : size;
    int nan_a = 0, nan_b = 0;
    for (size_t k = 0; k < size / part; k++) {
      uint64_t x = 0, y = 0, sign = (uint64_t)1 << (8 * part - 1);
      memcpy(&x, a + k * part, part);
      memcpy(&y, b + k * part, part);
      nan_a |= (x & ~sign) > inf;
      nan_b |= (y & ~sign) > inf;
    }
    if (nan_a || nan_b) return nan_a && nan_b && equal_nan;
  }
  memcpy(pair, a, size), memcpy(pair + size, b, size); /* equal if a stable sort keeps them in both orders */
  if (tt__argsort_rows(t, pair, order, 1, 2, false, NULL) != TT_OK) return false;
  memcpy(pair, b, size), memcpy(pair + size, a, size);
  if (tt__argsort_rows(t, pair, back, 1, 2, false, NULL) != TT_OK) return false;
  return order[0] == 0 && back[0] == 0;
}

static void check_unique(tt_dtype t, int64_t n, uint64_t values, bool equal_nan) {
  size_t size = tt__dtype_size(t);
  char *in = need((size_t)n * size);
  fill(t, in, n, values);
  tt_unique u, plain;
  int all = TT_UNIQUE_INDEX | TT_UNIQUE_INVERSE | TT_UNIQUE_COUNTS;
  CHECK(tt__unique(t, in, n, all, equal_nan, &u, NULL) == TT_OK, "unique failed");
  CHECK(tt__unique(t, in, n, TT_UNIQUE_COUNTS, equal_nan, &plain, NULL) == TT_OK, "unique failed");
  CHECK(u.n == plain.n && (n == 0) == (u.n == 0), "two counts of distinct elements");
  if (n > 0 && u.n == plain.n) {
    int64_t bad = 0, *count = need((size_t)u.n * 8), *first = need((size_t)u.n * 8), *order = need((size_t)u.n * 8);
    bad += memcmp(u.values, plain.values, (size_t)u.n * size) != 0;
    bad += memcmp(u.counts, plain.counts, (size_t)u.n * 8) != 0;
    for (int64_t r = 0; r < u.n; r++) count[r] = 0, first[r] = -1;
    const char *v = u.values;
    for (int64_t i = 0; i < n; i++) {
      int64_t r = u.inverse[i];
      if (r < 0 || r >= u.n) {
        bad++;
        continue;
      }
      if (count[r]++ == 0) first[r] = i;
      if (n < 3000) bad += !same(t, v + (size_t)r * size, in + (size_t)i * size, true);
    }
    for (int64_t r = 0; r < u.n; r++) {
      bad += count[r] != u.counts[r];
      /* NumPy's one complex NaN is the first in the order of kinds, not of places. */
      if (tt__is_complex(t) && !same(t, v + (size_t)r * size, v + (size_t)r * size, false)) continue;
      bad += first[r] != u.index[r];
      if (first[r] >= 0) bad += memcmp(v + (size_t)r * size, in + (size_t)first[r] * size, size) != 0;
      if (r && n < 3000) bad += same(t, v + (size_t)(r - 1) * size, v + (size_t)r * size, equal_nan);
    }
    CHECK(tt__argsort_rows(t, v, order, 1, u.n, false, NULL) == TT_OK, "argsort failed");
    for (int64_t r = 0; r < u.n; r++) bad += order[r] != r;
    CHECK(bad == 0, "unique %s n %ld values %ld equal_nan %d: %ld wrong", tt__dtypes[t].name, (long)n, (long)values,
          equal_nan, (long)bad);
    free(count), free(first), free(order);
  }
  tt__unique_free(&u);
  tt__unique_free(&plain);
  free(in);
}

/* The n-th allocation fails, for every n: a clean error, nothing leaked, and the next call works. */
static void check_memory(tt_dtype t) {
  enum { N = 140000 };
  char *in = need(N * tt__dtype_size(t)), *out = need((N + 1) * 16);
  double *weight = need(N * 8);
  int64_t live = tt__mem_stats().live;
  fill(t, in, N, 200000);
  for (int i = 0; i < N; i++) weight[i] = 1;
  for (int what = 0; what < 6; what++)
    for (int64_t nth = 0;; nth++) {
      tt_error err;
      tt_unique u = {0};
      tt_code c = TT_OK;
      bool fired;
      tt__fault_arm(TT_FAULT_MEMORY, nth, false);
      switch (what) {
        case 0:
          c = tt__unique(t, in, N, TT_UNIQUE_INDEX | TT_UNIQUE_INVERSE | TT_UNIQUE_COUNTS, true, &u, &err);
          break;
        case 1:
          c = tt__unique(t, in, N, 0, true, &u, &err);
          break;
        case 2:
          c = tt__scan_rows(TT_SCAN_SUM, t, in, out, 1, N, 1, false, &err);
          break;
        case 3:
          c = tt__nonzero(t, in, N, (int64_t *)out, &err);
          break;
        case 4:
          c = tt__histogram_edges(t, in, N, NULL, in, 1, out, &err);
          break;
        default:
          c = tt__histogram_edges(t, in, N, weight, in, 1, out, &err);
      }
      tt__fault_calls(TT_FAULT_MEMORY, &fired);
      tt__fault_arm(TT_FAULT_MEMORY, -1, false);
      CHECK(c == (fired ? TT_ENOMEM : TT_OK), "call %d of %s: code %d", what, tt__dtypes[t].name, (int)c);
      tt__unique_free(&u);
      CHECK(tt__mem_stats().live == live, "call %d of %s leaks", what, tt__dtypes[t].name);
      if (!fired) break;
    }
  free(in), free(out), free(weight);
}

int main(void) {
  int64_t live = tt__mem_stats().live;
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    for (int l = 0; l < LENGTHS; l++) {
      check_search((tt_dtype)t, lengths[l], 1000, l % 2);
      check_search((tt_dtype)t, 1000, lengths[l], l % 2 == 0);
      check_unique((tt_dtype)t, lengths[l], 500, l % 2);
      check_unique((tt_dtype)t, lengths[l], (uint64_t)1 << 40, l % 2 == 0);
    }
  for (int l = 0; l < LENGTHS; l++) {
    check_bincount(TT_U8, lengths[l], 100);
    check_bincount(TT_I16, lengths[l], 3);
    check_bincount(TT_I32, lengths[l], 2000);
    check_bincount(TT_I64, lengths[l], 30000);
    check_bincount(TT_U64, lengths[l], 500000);
    for (int64_t bins = 1; bins < 60; bins = bins * 3 + 1) {
      check_histogram(lengths[l], bins, false);
      check_histogram(lengths[l], bins, true);
    }
  }
  check_histogram_types();
  for (int t = 0; t < TT_DTYPE_COUNT; t++) check_memory((tt_dtype)t);
  check_threads();
  CHECK(tt__mem_stats().live == live, "%ld bytes leaked", (long)(tt__mem_stats().live - live));
  printf("%s\n", failures ? "FAILED" : "ok");
  return failures != 0;
}
