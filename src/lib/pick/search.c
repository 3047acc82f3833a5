/*
** Binary search without branches, sixteen queries side by side so that their cache misses overlap.
** It must not know arrays or graphs.
*/
#include "lib/pick/search.h"

#include <assert.h>

#include "base/pool/pool.h"
#include "lib/sort/sort_int.h"

enum { SIDE_BY_SIDE = 16, GRAIN = 2048 };

typedef struct search_job {
  const void *sorted, *query;
  int64_t n, numbers; /* how many of the table there are, and are no NaNs */
  bool right;
  tt_key_rule half; /* 16-bit floats are compared by their keys */
  int64_t *out;
} search_job;

/*
** NumPy's order, NaNs last. Of a table's element x and a query q that is a number, BEFORE says x < q and UPTO x <= q;
** a NaN in the table is neither. What is no number is placed apart, so the loops have one comparison.
*/
#define BEFORE_PLAIN(x, q) ((x) < (q))
#define UPTO_PLAIN(x, q) ((x) <= (q))
#define BEFORE_HALF(x, q) (tt_key16(x, j->half) < tt_key16(q, j->half))
#define UPTO_HALF(x, q) (tt_key16(x, j->half) <= tt_key16(q, j->half))
#define LESS_FLOAT(a, b) (((a) < (b)) | (((b) != (b)) & ((a) == (a))))
#define LESS_COMPLEX(a, b)                                                                             \
  ((a).re < (b).re                                              ? (a).im == (a).im || (b).im != (b).im \
   : (a).re > (b).re                                            ? (b).im != (b).im && (a).im == (a).im \
   : (a).re == (b).re || ((a).re != (a).re && (b).re != (b).re) ? LESS_FLOAT((a).im, (b).im)           \
                                                                : (b).re != (b).re)
#define UPTO_COMPLEX(x, q) (!LESS_COMPLEX(q, x))
#define NEVER(q) false
#define IS_NAN(q) ((q) != (q))

/*
** The queries from i on: `base` is where each is, BEHIND whether its place is behind x. The half is masked, not chosen:
** a choice would be a jump that nobody foretells.
*/
#define WALK(T, BEHIND)                                     \
  for (int64_t len = j->n; len > 1; len -= len / 2)         \
    for (int64_t k = 0; k < m; k++) {                       \
      T x = a[base[k] + len / 2 - 1];                       \
      base[k] += -(int64_t)BEHIND(x, q[i + k]) & (len / 2); \
    }                                                       \
  for (int64_t k = 0; k < m; k++) {                         \
    T x = a[base[k]];                                       \
    j->out[i + k] = base[k] + (int64_t)BEHIND(x, q[i + k]); \
  }

#define SEARCH(NAME, T, BEFORE, UPTO, NO_NUMBER)                                           \
  static void search_##NAME(void *ctx, int64_t lo, int64_t hi, int worker) {               \
    const search_job *j = ctx;                                                             \
    const T *a = j->sorted, *q = j->query;                                                 \
    (void)worker;                                                                          \
    for (int64_t i = lo; i < hi; i += SIDE_BY_SIDE) {                                      \
      int64_t m = hi - i < SIDE_BY_SIDE ? hi - i : SIDE_BY_SIDE, base[SIDE_BY_SIDE] = {0}; \
      bool apart = false;                                                                  \
      for (int64_t k = 0; k < m; k++) apart |= NO_NUMBER(q[i + k]);                        \
      if (j->right) {                                                                      \
        WALK(T, UPTO)                                                                      \
      } else {                                                                             \
        WALK(T, BEFORE)                                                                    \
      }                                                                                    \
      for (int64_t k = 0; k < m && apart; k++)                                             \
        if (NO_NUMBER(q[i + k])) j->out[i + k] = j->right ? j->n : j->numbers;             \
    }                                                                                      \
  }

/* How many elements of a table are numbers: NaNs are last. */
#define NUMBERS(NAME, T)                                         \
  static int64_t numbers_##NAME(const void *sorted, int64_t n) { \
    const T *a = sorted;                                         \
    while (n > 0 && IS_NAN(a[n - 1])) n--;                       \
    return n;                                                    \
  }

NUMBERS(f32, float)
NUMBERS(f64, double)

SEARCH(u8, uint8_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(i8, int8_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(u16, uint16_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(i16, int16_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(u32, uint32_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(i32, int32_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(u64, uint64_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(i64, int64_t, BEFORE_PLAIN, UPTO_PLAIN, NEVER)
SEARCH(half, uint16_t, BEFORE_HALF, UPTO_HALF, NEVER)
SEARCH(f32, float, BEFORE_PLAIN, UPTO_PLAIN, IS_NAN)
SEARCH(f64, double, BEFORE_PLAIN, UPTO_PLAIN, IS_NAN)
SEARCH(c64, tt_c64, LESS_COMPLEX, UPTO_COMPLEX, NEVER)
SEARCH(c128, tt_c128, LESS_COMPLEX, UPTO_COMPLEX, NEVER)

static const tt_pool_fn search[TT_DTYPE_COUNT] = {
    [TT_BOOL] = search_u8, [TT_I8] = search_i8,    [TT_I16] = search_i16,   [TT_I32] = search_i32,
    [TT_I64] = search_i64, [TT_U8] = search_u8,    [TT_U16] = search_u16,   [TT_U32] = search_u32,
    [TT_U64] = search_u64, [TT_F16] = search_half, [TT_BF16] = search_half, [TT_F32] = search_f32,
    [TT_F64] = search_f64, [TT_C64] = search_c64,  [TT_C128] = search_c128};

void tt__searchsorted(tt_dtype t, const void *sorted, int64_t n, const void *query, int64_t queries, bool right,
                      int64_t *out) {
  assert(n >= 0 && queries >= 0);
  search_job j = {.sorted = sorted, .query = query, .n = n, .right = right, .out = out};
  if (n == 0) {
    for (int64_t i = 0; i < queries; i++) out[i] = 0;
    return;
  }
  j.numbers = t == TT_F32 ? numbers_f32(sorted, n) : t == TT_F64 ? numbers_f64(sorted, n) : n;
  if (t == TT_F16 || t == TT_BF16) j.half = tt__key_rule(t, false, true);
  tt__pool_run(queries, GRAIN, search[t], &j);
}
