/*
** The host sorts against an insertion-free plain reference (merge sort with a comparison written from NumPy's
** definition of the order), for every data type, sizes around every threshold, special values and duplicates.
*/
#include "lib/sort/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/sort/sort_int.h"
#include "check.h"

/* ---- the reference */

static double half_value(uint16_t h, int mantissa) {
  int e_bits = 15 - mantissa, bias = (1 << (e_bits - 1)) - 1;
  int e = (h >> mantissa) & ((1 << e_bits) - 1), m = h & ((1 << mantissa) - 1);
  double v;
  if (e == (1 << e_bits) - 1)
    v = m ? __builtin_nan("") : __builtin_inf();
  else if (e == 0)
    v = __builtin_ldexp(m, 1 - bias - mantissa);
  else
    v = __builtin_ldexp(m + (1 << mantissa), e - bias - mantissa);
  return h & 0x8000 ? -v : v;
}

static bool less_real(double a, double b) { return a < b || (b != b && a == a); }

static bool less_complex(tt_c128 a, tt_c128 b) {
  if (a.re < b.re) return a.im == a.im || b.im != b.im;
  if (a.re > b.re) return b.im != b.im && a.im == a.im;
  if (a.re == b.re || (a.re != a.re && b.re != b.re)) return a.im < b.im || (b.im != b.im && a.im == a.im);
  return b.re != b.re;
}

static bool less(tt_dtype t, const void *in, int64_t i, int64_t k) {
  switch (t) {
    case TT_BOOL:
    case TT_U8:
      return ((const uint8_t *)in)[i] < ((const uint8_t *)in)[k];
    case TT_I8:
      return ((const int8_t *)in)[i] < ((const int8_t *)in)[k];
    case TT_I16:
      return ((const int16_t *)in)[i] < ((const int16_t *)in)[k];
    case TT_U16:
      return ((const uint16_t *)in)[i] < ((const uint16_t *)in)[k];
    case TT_I32:
      return ((const int32_t *)in)[i] < ((const int32_t *)in)[k];
    case TT_U32:
      return ((const uint32_t *)in)[i] < ((const uint32_t *)in)[k];
    case TT_I64:
      return ((const int64_t *)in)[i] < ((const int64_t *)in)[k];
    case TT_U64:
      return ((const uint64_t *)in)[i] < ((const uint64_t *)in)[k];
    case TT_F16:
      return less_real(half_value(((const uint16_t *)in)[i], 10), half_value(((const uint16_t *)in)[k], 10));
    case TT_BF16:
      return less_real(half_value(((const uint16_t *)in)[i], 7), half_value(((const uint16_t *)in)[k], 7));
    case TT_F32:
      return less_real((double)((const float *)in)[i], (double)((const float *)in)[k]);
    case TT_F64:
      return less_real(((const double *)in)[i], ((const double *)in)[k]);
    case TT_C64: {
      tt_c64 a = ((const tt_c64 *)in)[i], b = ((const tt_c64 *)in)[k];
      return less_complex((tt_c128){(double)a.re, (double)a.im}, (tt_c128){(double)b.re, (double)b.im});
    }
    default:
      return less_complex(((const tt_c128 *)in)[i], ((const tt_c128 *)in)[k]);
  }
}

/* Stable merge sort of places. */
static void reference(tt_dtype t, const void *in, int64_t *a, int64_t *tmp, int64_t n, bool down) {
  if (n < 2) return;
  int64_t half = n / 2, i = 0, k = half;
  reference(t, in, a, tmp, half, down);
  reference(t, in, a + half, tmp, n - half, down);
  for (int64_t o = 0; o < n; o++) {
    bool right = i == half || (k < n && (down ? less(t, in, a[i], a[k]) : less(t, in, a[k], a[i])));
    tmp[o] = right ? a[k++] : a[i++];
  }
  memcpy(a, tmp, (size_t)n * sizeof *a);
}

/* ---- data */

enum { RANDOM, FEW_VALUES, SPECIAL, SORTED, REVERSED, EQUAL, NARROW, FINITE, PATTERNS };

/* Part `which` of a special value: zeros of both signs, infinities, NaNs of both signs with payloads, denormals. */
static uint64_t special_bits(int bits, int mantissa, uint64_t r) {
  uint64_t sign = (uint64_t)1 << (bits - 1), inf = (sign - 1) >> mantissa << mantissa;
  switch (r % 11) {
    case 0:
      return 0;
    case 1:
      return sign;
    case 2:
      return inf;
    case 3:
      return inf | sign;
    case 4:
      return inf | 1;
    case 5:
      return inf | sign | 3;
    case 6:
      return sign - 1;
    case 7:
      return 1;
    case 8:
      return sign | 1;
    default:
      return (r >> 8) & (sign | (sign - 1));
  }
}

static void fill(tt_dtype t, void *out, int64_t n, int pattern) {
  size_t size = tt__dtype_size(t), part = size;
  int mantissa = t == TT_F16                   ? 10
                 : t == TT_BF16                ? 7
                 : t == TT_F32 || t == TT_C64  ? 23
                 : t == TT_F64 || t == TT_C128 ? 52
                                               : 0;
  if (tt__is_complex(t)) part /= 2;
  char *p = out;
  for (int64_t i = 0; i < n * (int64_t)(size / part); i++) {
    uint64_t r = draw();
    if (pattern == FEW_VALUES) r = (r % 7) << (mantissa ? mantissa : 0);
    if (pattern == SPECIAL)
      r = mantissa ? special_bits((int)part * 8, mantissa, r) : r % 2 ? (uint64_t)0 - r % 3 : r % 5;
    if (pattern == EQUAL) r = mantissa ? 0 : 5;
    if (pattern == NARROW) r = (uint64_t)(int64_t)(int)(r % 2000) - 1000;
    if (pattern == FINITE && mantissa) r &= ~((uint64_t)1 << mantissa);
    if (t == TT_BOOL) r &= 1;
    memcpy(p + (size_t)i * part, &r, part);
  }
}

/* ---- the comparison */

static void check(tt_dtype t, int64_t rows, int64_t n, int pattern, bool down) {
  size_t size = tt__dtype_size(t), all = (size_t)(rows * n) * size;
  char *in = need(all), *out = need(all), *want = need(all);
  int64_t *place = need((size_t)(rows * n) * 8), *got = need((size_t)(rows * n) * 8), *tmp = need((size_t)n * 8);
  fill(t, in, rows * n, pattern);
  for (int64_t r = 0; r < rows; r++) {
    int64_t *p = place + r * n;
    const char *row = in + (size_t)(r * n) * size;
    for (int64_t i = 0; i < n; i++) p[i] = i;
    reference(t, row, p, tmp, n,
              (pattern == REVERSED) != down && pattern >= SORTED && pattern <= REVERSED ? !down : down);
    for (int64_t i = 0; i < n; i++) memcpy(want + (size_t)(r * n + i) * size, row + (size_t)p[i] * size, size);
  }
  if (pattern == SORTED || pattern == REVERSED) { /* the input is a sorted one; sort it again */
    memcpy(in, want, all);
    for (int64_t r = 0; r < rows; r++) {
      int64_t *p = place + r * n;
      for (int64_t i = 0; i < n; i++) p[i] = i;
      reference(t, in + (size_t)(r * n) * size, p, tmp, n, down);
      for (int64_t i = 0; i < n; i++)
        memcpy(want + (size_t)(r * n + i) * size, in + (size_t)(r * n + p[i]) * size, size);
    }
  }
  memset(out, 0xAA, all);
  CHECK(tt__sort_rows(t, in, out, rows, n, down, NULL) == TT_OK, "sort failed");
  CHECK(memcmp(out, want, all) == 0, "sort %s rows %ld n %ld pattern %d down %d", tt__dtypes[t].name, (long)rows,
        (long)n, pattern, down);
  CHECK(tt__argsort_rows(t, in, got, rows, n, down, NULL) == TT_OK, "argsort failed");
  CHECK(memcmp(got, place, (size_t)(rows * n) * 8) == 0, "argsort %s rows %ld n %ld pattern %d down %d",
        tt__dtypes[t].name, (long)rows, (long)n, pattern, down);
  if (rows == 1 && !down) {
    const void *column = in;
    CHECK(tt__lexsort(&t, &column, 1, n, got, NULL) == TT_OK, "lexsort failed");
    CHECK(memcmp(got, place, (size_t)n * 8) == 0, "lexsort %s n %ld pattern %d", tt__dtypes[t].name, (long)n, pattern);
  }
  free(in), free(out), free(want), free(place), free(got), free(tmp);
}

static void check_sizes(tt_dtype t) {
  static const int64_t sizes[] = {0, 1, 2, 3, 7, 16, 31, 32, 33, 48, 49, 64, 127, 128, 129, 255, 256, 257, 511, 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
      check(t, 1, sizes[i], pattern, false);
      check(t, 1, sizes[i], pattern, true);
      check(t, 5, sizes[i], pattern, false);
    }
  check(t, 0, 5, RANDOM, false);
  check(t, 3000, 33, SPECIAL, false);
  check(t, 2, 65535, SPECIAL, false);
  check(t, 1, 65536, FEW_VALUES, false);
  check(t, 1, 65537, RANDOM, true);
  check(t, 1, 100003, SPECIAL, false);
  check(t, 1, 100003, NARROW, false);
  check(t, 1, 80001, FINITE, false);
  check(t, 3, 65536, FINITE, true);
  check(t, 1, 300001, FINITE, false);
  check(t, 1, 70000, EQUAL, false);
  check(t, 1, 70000, SORTED, false);
  check(t, 1, 70000, REVERSED, false);
}

/* Sorted output is an ordered permutation: cheap enough for a million. */
static void check_million(void) {
  int64_t n = 1000003;
  float *in = need((size_t)n * 4), *out = need((size_t)n * 4);
  int64_t *place = need((size_t)n * 8);
  for (int64_t i = 0; i < n; i++) in[i] = (float)(int64_t)draw() * 1e-12f;
  CHECK(tt__sort_rows(TT_F32, in, out, 1, n, false, NULL) == TT_OK, "sort failed");
  CHECK(tt__argsort_rows(TT_F32, in, place, 1, n, false, NULL) == TT_OK, "argsort failed");
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++) {
    if (in[place[i]] != out[i]) bad++;
    if (i && (out[i - 1] > out[i] || (out[i - 1] == out[i] && place[i - 1] >= place[i]))) bad++;
  }
  CHECK(bad == 0, "%ld places of a million are wrong", (long)bad);
  free(in), free(out), free(place);
}

/* The same bytes for one thread and for several. */
static void check_threads(void) {
  int64_t n = 300000;
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    size_t size = tt__dtype_size((tt_dtype)t) * (size_t)n;
    void *in = need(size), *one = need(size), *many = need(size);
    fill((tt_dtype)t, in, n, SPECIAL);
    tt__pool_resize(1);
    CHECK(tt__sort_rows((tt_dtype)t, in, one, 1, n, false, NULL) == TT_OK, "sort failed");
    tt__pool_resize(3);
    CHECK(tt__sort_rows((tt_dtype)t, in, many, 1, n, false, NULL) == TT_OK, "sort failed");
    CHECK(memcmp(one, many, size) == 0, "%s depends on the number of threads", tt__dtypes[t].name);
    tt__pool_resize(0);
    free(in), free(one), free(many);
  }
}

static void check_lexsort(void) {
  enum { N = 5000 };
  static int32_t a[N];
  static float b[N];
  static int64_t got[N];
  for (int i = 0; i < N; i++) a[i] = (int32_t)(draw() % 10), b[i] = (float)(draw() % 10);
  tt_dtype types[] = {TT_I32, TT_F32};
  const void *columns[] = {a, b};
  CHECK(tt__lexsort(types, columns, 2, N, got, NULL) == TT_OK, "lexsort failed");
  for (int i = 1; i < N; i++) {
    int64_t p = got[i - 1], q = got[i];
    bool ok = b[p] < b[q] || (b[p] == b[q] && (a[p] < a[q] || (a[p] == a[q] && p < q)));
    CHECK(ok, "lexsort: places %d and %d are out of order", i - 1, i);
    if (!ok) break;
  }
}

/* Each selected place holds the value that a sort puts there, with nothing greater before and nothing less behind. */
static void check_select(tt_dtype t, int64_t n, int pattern) {
  size_t size = tt__dtype_size(t);
  int64_t kth[] = {n / 2, 0, n - 1, n / 3, n / 2}, bad = 0, *place = need((size_t)n * 8);
  char *in = need((size_t)n * size), *out = need((size_t)n * size), *want = need((size_t)n * size);
  fill(t, in, n, pattern);
  CHECK(tt__sort_rows(t, in, want, 1, n, false, NULL) == TT_OK, "sort failed");
  for (int kths = 1; kths <= 5; kths += 4) {
    CHECK(tt__select_rows(t, in, out, 1, n, kth, kths, NULL) == TT_OK, "select failed");
    for (int i = 0; i < kths; i++) {
      char pair[32];
      memcpy(pair, out + (size_t)kth[i] * size, size), memcpy(pair + size, want + (size_t)kth[i] * size, size);
      bad += less(t, pair, 0, 1) || less(t, pair, 1, 0);
      for (int64_t k = 0; k < n; k++) bad += k < kth[i] ? less(t, out, kth[i], k) : less(t, out, k, kth[i]);
    }
    CHECK(tt__argsort_rows(t, out, place, 1, n, false, NULL) == TT_OK, "argsort failed");
    for (int64_t i = 0; i < n; i++) { /* still the same elements */
      char pair[32];
      memcpy(pair, out + (size_t)place[i] * size, size), memcpy(pair + size, want + (size_t)i * size, size);
      bad += less(t, pair, 0, 1) || less(t, pair, 1, 0);
    }
  }
  CHECK(bad == 0, "select %s n %ld pattern %d: %ld wrong", tt__dtypes[t].name, (long)n, pattern, (long)bad);
  free(in), free(out), free(want), free(place);
}

/* The n-th allocation fails, for every n: a clean error, nothing leaked, and the next call works. */
static void check_memory(tt_dtype t, int64_t n) {
  size_t size = tt__dtype_size(t);
  char *in = need((size_t)n * size), *out = need((size_t)n * size);
  int64_t *place = need((size_t)n * 8), k = n / 2, live = tt__mem_stats().live;
  const void *column = in;
  fill(t, in, n, FEW_VALUES);
  for (int what = 0; what < 4; what++)
    for (int64_t nth = 0;; nth++) {
      tt_error err;
      tt_code c;
      bool fired;
      tt__fault_arm(TT_FAULT_MEMORY, nth, false);
      switch (what) {
        case 0:
          c = tt__sort_rows(t, in, out, 1, n, false, &err);
          break;
        case 1:
          c = tt__argsort_rows(t, in, place, 1, n, false, &err);
          break;
        case 2:
          c = tt__select_rows(t, in, out, 1, n, &k, 1, &err);
          break;
        default:
          c = tt__lexsort(&t, &column, 1, n, place, &err);
      }
      tt__fault_calls(TT_FAULT_MEMORY, &fired);
      tt__fault_arm(TT_FAULT_MEMORY, -1, false);
      CHECK(c == (fired ? TT_ENOMEM : TT_OK), "call %d of %s: code %d", what, tt__dtypes[t].name, (int)c);
      CHECK(tt__mem_stats().live == live, "call %d of %s leaks", what, tt__dtypes[t].name);
      if (!fired) break;
    }
  free(in), free(out), free(place);
}

int main(void) {
  int64_t live = tt__mem_stats().live;
  for (int off = 0; off <= 1; off++) { /* with the vector sort where the processor has it, and without */
    tt__sort_without_vectors(off);
    for (int t = 0; t < TT_DTYPE_COUNT; t++) check_sizes((tt_dtype)t);
    check_million();
  }
  tt__sort_without_vectors(false);
  for (int t = 0; t < TT_DTYPE_COUNT; t++) check_memory((tt_dtype)t, 1000), check_memory((tt_dtype)t, 140000);
  check_threads();
  check_lexsort();
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
      check_select((tt_dtype)t, 100, pattern);
      check_select((tt_dtype)t, 4096, pattern);
      check_select((tt_dtype)t, 50001, pattern);
    }
  CHECK(tt__mem_stats().live == live, "%ld bytes leaked", (long)(tt__mem_stats().live - live));
  printf("%s\n", failures ? "FAILED" : "ok");
  return failures != 0;
}
