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
  int64_t n;
  bool right;
  tt_key_rule half; /* 16-bit floats are compared by their keys */
  int64_t *out;
} search_job;

/* NumPy's order, NaNs last. */
#define LESS_INT(a, b) ((a) < (b))
#define LESS_FLOAT(a, b) (((a) < (b)) | (((b) != (b)) & ((a) == (a))))
#define LESS_HALF(a, b) (tt_key16(a, j->half) < tt_key16(b, j->half))
#define LESS_COMPLEX(a, b)                                                                             \
  ((a).re < (b).re                                              ? (a).im == (a).im || (b).im != (b).im \
   : (a).re > (b).re                                            ? (b).im != (b).im && (a).im == (a).im \
   : (a).re == (b).re || ((a).re != (a).re && (b).re != (b).re) ? LESS_FLOAT((a).im, (b).im)           \
                                                                : (b).re != (b).re)

/* `goes_on`: whether the query's place is behind element x. */
#define SEARCH(NAME, T, LESS)                                                                          \
  static void search_##NAME(void *ctx, int64_t lo, int64_t hi, int worker) {                           \
    const search_job *j = ctx;                                                                         \
    const T *a = j->sorted, *q = j->query;                                                             \
    bool right = j->right;                                                                             \
    (void)worker;                                                                                      \
    for (int64_t i = lo; i < hi; i += SIDE_BY_SIDE) {                                                  \
      int64_t m = hi - i < SIDE_BY_SIDE ? hi - i : SIDE_BY_SIDE, base[SIDE_BY_SIDE] = {0}, len = j->n; \
      for (; len > 1; len -= len / 2)                                                                  \
        for (int64_t k = 0; k < m; k++) {                                                              \
          T x = a[base[k] + len / 2 - 1];                                                              \
          bool goes_on = right ? !LESS(q[i + k], x) : LESS(x, q[i + k]);                               \
          base[k] += goes_on ? len / 2 : 0;                                                            \
        }                                                                                              \
      for (int64_t k = 0; k < m; k++) {                                                                \
        T x = a[base[k]];                                                                              \
        bool goes_on = right ? !LESS(q[i + k], x) : LESS(x, q[i + k]);                                 \
        j->out[i + k] = base[k] + goes_on;                                                             \
      }                                                                                                \
    }                                                                                                  \
  }

SEARCH(u8, uint8_t, LESS_INT)
SEARCH(i8, int8_t, LESS_INT)
SEARCH(u16, uint16_t, LESS_INT)
SEARCH(i16, int16_t, LESS_INT)
SEARCH(u32, uint32_t, LESS_INT)
SEARCH(i32, int32_t, LESS_INT)
SEARCH(u64, uint64_t, LESS_INT)
SEARCH(i64, int64_t, LESS_INT)
SEARCH(half, uint16_t, LESS_HALF)
SEARCH(f32, float, LESS_FLOAT)
SEARCH(f64, double, LESS_FLOAT)
SEARCH(c64, tt_c64, LESS_COMPLEX)
SEARCH(c128, tt_c128, LESS_COMPLEX)

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
  if (t == TT_F16 || t == TT_BF16) j.half = tt__key_rule(t, false, true);
  tt__pool_run(queries, GRAIN, search[t], &j);
}
