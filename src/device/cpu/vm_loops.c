/*
** The interpreter's vector loops. This file is compiled once per instruction set
** (TT_VM_LEVEL 0, 3, 4), each time into its own table; level 0 also has the choice
** between them. The loops are made from the rows of ops.def and dtype.def. It
** includes scalar/prelude.h, the text of the scalar functions: that header is shared
** by the two CPU tiers by design and is the one such include of this folder.
*/
#include "device/cpu/vm_loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "ir/op_types.h"
#ifdef __AVX512DQ__
#define TT_VECTOR_QUOTIENT
#endif
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "scalar/prelude_f32.h"
#include "scalar/special_tables.h"
#include "scalar/special.h"
#include "scalar/incomplete.h"
#include "scalar/quantiles.h"
#include "scalar/bessel_tables.h"
#include "scalar/bessel.h"
#include "scalar/integral_tables.h"
#include "scalar/integrals.h"
#include "scalar/bessel_order.h"
#include "scalar/special_complex.h"

#ifndef TT_VM_LEVEL
#define TT_VM_LEVEL 0
#endif

/* Lanes do not depend on one another: an operand is the output exactly, or apart from it. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop it cannot turn into vector code is not an error */
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = 0; i < n; i++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++)
#endif

/* ---- elementwise --------------------------------------------------------- */
#define LOOP_HEAD(name) static void name(void *out, const void *a, const void *b, const void *c, int64_t n)
#define PLAIN_1(lower, cls, s)               \
  LOOP_HEAD(lower##_##s) {                   \
    RESULT_##cls(s) *o = out;                \
    const tt_##s *x = a;                     \
    (void)b;                                 \
    (void)c;                                 \
    EACH_LANE o[i] = tt_##lower##_##s(x[i]); \
  }
#define PLAIN_2(lower, cls, s)                     \
  LOOP_HEAD(lower##_##s) {                         \
    RESULT_##cls(s) *o = out;                      \
    const tt_##s *x = a, *y = b;                   \
    (void)c;                                       \
    EACH_LANE o[i] = tt_##lower##_##s(x[i], y[i]); \
  }
/* Ops with far arguments: look at the block first, then run over it without branches if there are none. */
#define FAR_1(lower, cls, s)                        \
  LOOP_HEAD(lower##_##s) {                          \
    tt_##s *o = out;                                \
    const tt_##s *x = a;                            \
    tt_u32 far = 0;                                 \
    (void)b;                                        \
    (void)c;                                        \
    EACH_LANE far |= tt_far_##lower##_##s(x[i]);    \
    if (far == 0)                                   \
      EACH_LANE o[i] = tt_near_##lower##_##s(x[i]); \
    else                                            \
      EACH_LANE o[i] = tt_##lower##_##s(x[i]);      \
  }
#define FAR_2(lower, cls, s)                              \
  LOOP_HEAD(lower##_##s) {                                \
    tt_##s *o = out;                                      \
    const tt_##s *x = a, *y = b;                          \
    tt_u32 far = 0;                                       \
    (void)c;                                              \
    EACH_LANE far |= tt_far_##lower##_##s(x[i], y[i]);    \
    if (far == 0)                                         \
      EACH_LANE o[i] = tt_near_##lower##_##s(x[i], y[i]); \
    else                                                  \
      EACH_LANE o[i] = tt_##lower##_##s(x[i], y[i]);      \
  }
/* The types of which an op with FAR has a tt_far_ function: two arguments where others are one that means nothing. */
#define IS_FLOAT_f32 ~, ~
#define IS_FLOAT_f64 ~, ~
#define PICK_2(a0, a1, x, ...) x
#define IF_FLOAT(far, plain, ...) PICK_2(__VA_ARGS__, far, plain, ~)
#define LOOP_FAR_1(E, lower, cls, D, s) IF_FLOAT(FAR_1, PLAIN_1, IS_FLOAT_##s)(lower, cls, s)
#define LOOP_FAR_2(E, lower, cls, D, s) IF_FLOAT(FAR_2, PLAIN_2, IS_FLOAT_##s)(lower, cls, s)
#define LOOP_1(E, lower, cls, D, s) PLAIN_1(lower, cls, s)
#define LOOP_2(E, lower, cls, D, s) PLAIN_2(lower, cls, s)
#define LOOP_3(E, lower, cls, D, s)                      \
  LOOP_HEAD(lower##_##s) {                               \
    RESULT_##cls(s) *o = out;                            \
    const tt_##s *x = a, *y = b, *z = c;                 \
    EACH_LANE o[i] = tt_##lower##_##s(x[i], y[i], z[i]); \
  }
#define LOOP_WHERE(E, lower, cls, D, s)                  \
  LOOP_HEAD(lower##_##s) {                               \
    RESULT_##cls(s) *o = out;                            \
    const tt_b8 *w = a;                                  \
    const tt_##s *x = b, *y = c;                         \
    EACH_LANE o[i] = tt_##lower##_##s(w[i], x[i], y[i]); \
  }
/* CAST is in a table of its own; in ops.def it is the one row of class NONUM with one operand. */
#define SKIP(E, lower, cls, D, s)
#define KIND_ARITH(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_DIVIDE(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_FLOAT(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_SPECIAL(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_ROUND(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_ABS(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_BITS(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_SHIFT(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_WHOLE(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_COMPARE(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_LOGIC(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_TEST(arity, far) PASTE(PASTE(LOOP_, far), arity)
#define KIND_PART(arity, far) SKIP
#define KIND_DRAW(arity, far) SKIP /* below */
#define KIND_NONUM_1 SKIP
#define KIND_NONUM_3 LOOP_WHERE
#define KIND_NONUM(arity, far) KIND_NONUM_##arity
#define EXPAND(M, bits, ...) PASTE(OF_, bits)(M, __VA_ARGS__)

/* An empty FAR flag is one argument; FAR itself is a comma and so makes two. So with RED below. */
#define COMM ~
#define ASSOC ~
#define SLOW ~
#define RED ~
#define FAR ~, ~
#define IF_FAR(...) PICK_2(__VA_ARGS__, FAR_, , ~)
#define TT_OP(E, lower, arity, cls, types, flags, ...) \
  EXPAND(KIND_##cls(arity, IF_FAR(flags)), TYPE_BITS(types), E, lower, cls)
#include "tutti/ops.def"
#undef TT_OP
#undef RED
#undef FAR

/* Draws at places that follow one another share what is computed for a block of them. */
#define DRAW(E, lower, D, s)                                                                          \
  LOOP_HEAD(lower##_##s) {                                                                            \
    tt_##s *o = out;                                                                                  \
    const tt_u64 *place = a, *start = b, *key = c;                                                    \
    tt_u64 other = 0;                                                                                 \
    EACH_LANE other |= (place[i] - place[0] - (tt_u64)i) | (start[i] ^ start[0]) | (key[i] ^ key[0]); \
    if (other == 0 && n > 0)                                                                          \
      tt_run_##lower##_##s(o, place[0], start[0], key[0], n);                                         \
    else                                                                                              \
      EACH_LANE o[i] = tt_##lower##_##s(place[i], start[i], key[i]);                                  \
  }
#define DRAWS(M)                \
  M(PHILOX, philox, U64, u64)   \
  M(UNIFORM, uniform, F32, f32) \
  M(UNIFORM, uniform, F64, f64) \
  M(NORMAL, normal, F32, f32)   \
  M(NORMAL, normal, F64, f64)
DRAWS(DRAW)

/* ---- casts --------------------------------------------------------------- */
#define CAST(from, D, to)                         \
  LOOP_HEAD(cast_##from##_##to) {                 \
    tt_##to *o = out;                             \
    const tt_##from *x = a;                       \
    (void)b;                                      \
    (void)c;                                      \
    EACH_LANE o[i] = tt_cast_##from##_##to(x[i]); \
  }
#define OF_REAL(M, ...) OF_7(M, __VA_ARGS__) M(__VA_ARGS__, F16, f16) M(__VA_ARGS__, BF16, bf16)
#define CAST_FROM(from) OF_REAL(CAST_TO, from)
#define CAST_TO(from, D, to) CAST(from, D, to)
CAST_FROM(b8)
CAST_FROM(i8)
CAST_FROM(i16)
CAST_FROM(i32)
CAST_FROM(i64)
CAST_FROM(u8)
CAST_FROM(u16)
CAST_FROM(u32)
CAST_FROM(u64)
CAST_FROM(f16)
CAST_FROM(bf16)
CAST_FROM(f32)
CAST_FROM(f64)

/* ---- moves, by element size ---------------------------------------------- */
#define MOVES(bits, T)                                                                    \
  static void load_##bits(void *dst, const void *src, int64_t step, int64_t n) {          \
    T *restrict o = dst;                                                                  \
    const T *restrict x = src;                                                            \
    if (step == 1) {                                                                      \
      memcpy(dst, src, (size_t)n * sizeof(T));                                            \
    } else if (step == 0) {                                                               \
      T v = *x;                                                                           \
      for (int64_t i = 0; i < n; i++) o[i] = v;                                           \
    } else if (step == -1) {                                                              \
      for (int64_t i = 0; i < n; i++) o[i] = x[-i];                                       \
    } else {                                                                              \
      for (int64_t i = 0; i < n; i++) o[i] = x[i * step];                                 \
    }                                                                                     \
  }                                                                                       \
  static void store_##bits(void *dst, int64_t step, const void *src, int64_t n) {         \
    T *o = dst;                                                                           \
    const T *x = src;                                                                     \
    if (step == 1)                                                                        \
      memcpy(dst, src, (size_t)n * sizeof(T));                                            \
    else                                                                                  \
      for (int64_t i = 0; i < n; i++) o[i * step] = x[i];                                 \
  }                                                                                       \
  static void gather_##bits(void *dst, const void *src, const int64_t *idx, int64_t n) {  \
    T *restrict o = dst;                                                                  \
    const T *restrict x = src;                                                            \
    for (int64_t i = 0; i < n; i++) o[i] = x[idx[i]];                                     \
  }                                                                                       \
  static void scatter_##bits(void *dst, const int64_t *idx, const void *src, int64_t n) { \
    T *o = dst;                                                                           \
    const T *x = src;                                                                     \
    for (int64_t i = 0; i < n; i++) o[idx[i]] = x[i];                                     \
  }                                                                                       \
  static void splat_##bits(void *dst, const void *value, int64_t n) {                     \
    T *o = dst, v;                                                                        \
    memcpy(&v, value, sizeof v);                                                          \
    for (int64_t i = 0; i < n; i++) o[i] = v;                                             \
  }
MOVES(8, uint8_t)
MOVES(16, uint16_t)
MOVES(32, uint32_t)
MOVES(64, uint64_t)

#define PAIRS(bits, T)                                                                   \
  static void split_##bits(void *first, void *second, const void *src, int64_t n) {      \
    T *restrict o = first, *restrict p = second;                                         \
    const T *restrict x = src;                                                           \
    for (int64_t i = 0; i < n; i++) {                                                    \
      o[i] = x[2 * i];                                                                   \
      p[i] = x[2 * i + 1];                                                               \
    }                                                                                    \
  }                                                                                      \
  static void join_##bits(void *dst, const void *first, const void *second, int64_t n) { \
    T *restrict o = dst;                                                                 \
    const T *restrict x = first, *restrict y = second;                                   \
    for (int64_t i = 0; i < n; i++) {                                                    \
      o[2 * i] = x[i];                                                                   \
      o[2 * i + 1] = y[i];                                                               \
    }                                                                                    \
  }
PAIRS(32, uint32_t)
PAIRS(64, uint64_t)

static void iota(int64_t *out, int64_t start, int64_t step, int64_t n) {
  uint64_t s = (uint64_t)start, d = (uint64_t)step;
  EACH_LANE out[i] = (int64_t)(s + (uint64_t)i * d);
}

/* ---- reductions ---------------------------------------------------------- */
#define REDUCTION(E, lower, cls, D, s)                                                     \
  static void red_##lower##_##s(void *acc, const void *v, int64_t n) {                     \
    tt_##s lane[TT_VM_LANES];                                                              \
    const tt_##s *x = v;                                                                   \
    int64_t i = 0;                                                                         \
    memcpy(lane, acc, sizeof lane);                                                        \
    for (; i + TT_VM_LANES <= n; i += TT_VM_LANES)                                         \
      for (int l = 0; l < TT_VM_LANES; l++) lane[l] = tt_##lower##_##s(lane[l], x[i + l]); \
    for (int l = 0; i + l < n; l++) lane[l] = tt_##lower##_##s(lane[l], x[i + l]);         \
    memcpy(acc, lane, sizeof lane);                                                        \
  }                                                                                        \
  static void fold_##lower##_##s(void *acc) {                                              \
    tt_##s *x = acc;                                                                       \
    for (int w = TT_VM_LANES / 2; w > 0; w /= 2)                                           \
      for (int l = 0; l < w; l++) x[l] = tt_##lower##_##s(x[l], x[l + w]);                 \
  }
#define FAR ~
#define RED ~, ~
#define IF_RED(...) PICK_2(__VA_ARGS__, REDUCTION, SKIP, ~)
#define TT_OP(E, lower, arity, cls, types, flags, ...) EXPAND(IF_RED(flags), TYPE_BITS(types), E, lower, cls)
#include "tutti/ops.def"
#undef TT_OP

/* `take` says whether (v, at) replaces (m, mi). NaN is the one value that differs from itself. */
#define TAKE(cmp, v, at, m, mi)                               \
  (((mi) < 0) | ((v)cmp(m)) | (((v) != (v)) & ((m) == (m))) | \
   (((at) < (mi)) & (((v) == (m)) | (((v) != (v)) & ((m) != (m))))))
#define ARG(name, cmp, D, s)                                                                                       \
  static void arg##name##_##s(void *accv, int64_t *acci, const void *v, int64_t base, int64_t step, int64_t lanes, \
                              int64_t count) {                                                                     \
    tt_##s *m = accv;                                                                                              \
    for (int64_t at = 0; at < count; at += lanes) {                                                                \
      const tt_##s *x = (const tt_##s *)v + at;                                                                    \
      int64_t n = count - at < lanes ? count - at : lanes, first = base + at * step;                               \
      EACH_LANE {                                                                                                  \
        int64_t mine = first + i * step;                                                                           \
        int take = TAKE(cmp, x[i], mine, m[i], acci[i]);                                                           \
        m[i] = take ? x[i] : m[i];                                                                                 \
        acci[i] = take ? mine : acci[i];                                                                           \
      }                                                                                                            \
    }                                                                                                              \
  }                                                                                                                \
  static void argfold_##name##_##s(void *accv, int64_t *acci) {                                                    \
    tt_##s *m = accv;                                                                                              \
    for (int w = TT_VM_LANES / 2; w > 0; w /= 2)                                                                   \
      for (int l = 0; l < w; l++) {                                                                                \
        int take = acci[l + w] >= 0 && TAKE(cmp, m[l + w], acci[l + w], m[l], acci[l]);                            \
        m[l] = take ? m[l + w] : m[l];                                                                             \
        acci[l] = take ? acci[l + w] : acci[l];                                                                    \
      }                                                                                                            \
  }
OF_7(ARG, max, >)
OF_7(ARG, min, <)

/* ---- places of extrema in rows ------------------------------------------- */
#if defined(__AVX512F__)
#define PLACE_BYTES 64
#elif defined(__AVX2__)
#define PLACE_BYTES 32
#else
#define PLACE_BYTES 16
#endif
enum { PLACE_NEAR = 64 };
#define EACH_NEAR(s, count)                                                \
  for (int l = 0; l < (count); l++) {                                      \
    place_##s k = x[i + l] == what ? (place_##s)l : (place_##s)PLACE_NEAR; \
    at = k < at ? k : at;                                                  \
  }
/* There is such an element: a NaN, or one that equals `what`, looked for together with its neighbours. */
#define FIRST_OF(none, D, s)                                                                         \
  static tt_##s first_odd_##s(const tt_##s *x, int64_t n) {                                          \
    for (int64_t i = 0; i < n; i++)                                                                  \
      if (x[i] != x[i]) return x[i];                                                                 \
    return x[0];                                                                                     \
  }                                                                                                  \
  typedef tt_##s pair_##s##_v __attribute__((vector_size(16)));                                      \
  typedef __typeof__(((pair_##s##_v){0} == (pair_##s##_v){0})[0]) place_##s;                         \
  /* Many in steps of which the last reaches back, few at once: without a branch at each element. */ \
  static int64_t first_equal_##s(const tt_##s *x, int64_t n, tt_##s what) {                          \
    const int near = n < PLACE_NEAR ? (int)n : PLACE_NEAR;                                           \
    for (int64_t i = 0;; i = i + 2 * PLACE_NEAR <= n ? i + PLACE_NEAR : n - PLACE_NEAR) {            \
      place_##s at = PLACE_NEAR;                                                                     \
      if (near == PLACE_NEAR)                                                                        \
        EACH_NEAR(s, PLACE_NEAR)                                                                     \
      else                                                                                           \
        EACH_NEAR(s, near)                                                                           \
      if (at < PLACE_NEAR || i >= n - near) return i + at;                                           \
    }                                                                                                \
  }
/*
** Blocks of a row are looked at for their extremum alone, and the first block that has the row's once more, for its
** place. NaN is above and below nothing, so it is looked for apart.
*/
enum { PLACE_BLOCK = 8192 }; /* bytes */
#define PLACES(name, cmp, D, s)                                                                                        \
  typedef tt_##s name##_##s##_v __attribute__((vector_size(PLACE_BYTES)));                                             \
  static int64_t place_in_few_##name##_##s(const tt_##s *x, int64_t n) {                                               \
    tt_##s most = x[0];                                                                                                \
    int64_t at = 0;                                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      if (x[i] != x[i]) return i;                                                                                      \
      int take = x[i] cmp most;                                                                                        \
      most = take ? x[i] : most;                                                                                       \
      at = take ? i : at;                                                                                              \
    }                                                                                                                  \
    return at;                                                                                                         \
  }                                                                                                                    \
  /* The extremum of n elements, at least k vectors of them, or a NaN if there is one; the last vectors reach back. */ \
  TT_FN tt_##s most_of_##name##_##s(const tt_##s *x, int64_t n, const int k) {                                         \
    enum { L = PLACE_BYTES / (int)sizeof(tt_##s), MOST = 4 };                                                          \
    name##_##s##_v m[MOST], v;                                                                                         \
    __typeof__(m[0] != m[0]) odd[MOST], take;                                                                          \
    tt_##s each[MOST * L], best;                                                                                       \
    for (int a = 0; a < k; a++) {                                                                                      \
      memcpy(&m[a], x + a * L, sizeof v);                                                                              \
      odd[a] = m[a] != m[a];                                                                                           \
    }                                                                                                                  \
    for (int64_t i = k * L; i < n; i += k * L)                                                                         \
      for (int a = 0; a < k; a++) {                                                                                    \
        memcpy(&v, x + (i + k * L <= n ? i : n - k * L) + a * L, sizeof v);                                            \
        take = v cmp m[a];                                                                                             \
        odd[a] |= v != v;                                                                                              \
        m[a] = (name##_##s##_v)((take & (__typeof__(take))v) | (~take & (__typeof__(take))m[a]));                      \
      }                                                                                                                \
    for (int a = 1; a < k; a++) {                                                                                      \
      take = m[a] cmp m[0];                                                                                            \
      odd[0] |= odd[a];                                                                                                \
      m[0] = (name##_##s##_v)((take & (__typeof__(take))m[a]) | (~take & (__typeof__(take))m[0]));                     \
    }                                                                                                                  \
    memcpy(each, &m[0], sizeof v);                                                                                     \
    for (int h = L / 2; h >= 1; h /= 2)                                                                                \
      for (int l = 0; l < h; l++) each[l] = each[l + h] cmp each[l] ? each[l + h] : each[l];                           \
    best = each[0];                                                                                                    \
    __typeof__(odd[0][0]) none = 0;                                                                                    \
    for (int l = 0; l < L; l++) none |= odd[0][l];                                                                     \
    if (none) return first_odd_##s(x, n);                                                                              \
    return best;                                                                                                       \
  }                                                                                                                    \
  static int64_t place_of_##name##_##s(const tt_##s *x, int64_t n) {                                                   \
    enum { ONE = PLACE_BYTES / (int)sizeof(tt_##s), FOUR = 4 * ONE, BLOCK = PLACE_BLOCK / (int)sizeof(tt_##s) };       \
    tt_##s best = x[0];                                                                                                \
    int64_t from = 0, end = n;                                                                                         \
    if (n < ONE) return place_in_few_##name##_##s(x, n);                                                               \
    for (int64_t i = 0; i < n; i += BLOCK) {                                                                           \
      int64_t few = n - i < BLOCK ? n - i : BLOCK, at = i;                                                             \
      if (few < FOUR && n >= FOUR) at = n - (few = FOUR);                                                              \
      tt_##s most = few < FOUR ? most_of_##name##_##s(x + at, few, 1) : most_of_##name##_##s(x + at, few, 4);          \
      if (most != most) return at + place_in_few_##name##_##s(x + at, few);                                            \
      if (i == 0 || most cmp best) {                                                                                   \
        best = most;                                                                                                   \
        from = at;                                                                                                     \
        end = at + few;                                                                                                \
      }                                                                                                                \
    }                                                                                                                  \
    return from + first_equal_##s(x + from, end - from, best);                                                         \
  }                                                                                                                    \
  static void place_##name##_##s(int64_t *out, int64_t out_step, const void *v, int64_t step, int64_t n,               \
                                 int64_t rows) {                                                                       \
    const tt_##s *x = v;                                                                                               \
    for (int64_t r = 0; r < rows; r++) out[r * out_step] = place_of_##name##_##s(x + r * step, n);                     \
  }
OF_7(FIRST_OF, )
OF_7(PLACES, max, >)
OF_7(PLACES, min, <)

/* ---- the table ----------------------------------------------------------- */
#define OP_ENTRY(E, lower, cls, D, s) .op[TT_##E][TT_##D] = lower##_##s,
#define ENTRY_1 OP_ENTRY
#define ENTRY_2 OP_ENTRY
#define ENTRY_LOOP_1 OP_ENTRY
#define ENTRY_LOOP_2 OP_ENTRY
#define ENTRY_LOOP_3 OP_ENTRY
#define ENTRY_LOOP_WHERE OP_ENTRY
#define ENTRY_SKIP SKIP
#define ENTRY_REDUCTION RED_ENTRY
#define ENTRY_OF(kind) PASTE(ENTRY_, kind)
#define RED_ENTRY(E, lower, cls, D, s) \
  .red[TT_##E][TT_##D] = red_##lower##_##s, .fold[TT_##E][TT_##D] = fold_##lower##_##s,
#define DRAW_ENTRY(E, lower, D, s) .op[TT_##E][TT_##D] = lower##_##s,
#define CAST_ENTRY(E, from, D, to) .cast[TT_##E][TT_##D] = cast_##from##_##to,
#define CAST_ROW(E, from) OF_REAL(CAST_ENTRY, E, from)
#define ARG_ENTRY(name, D, s) .arg##name[TT_##D] = arg##name##_##s, .argfold_##name[TT_##D] = argfold_##name##_##s,
#define PLACE_ENTRY(name, D, s) .place_##name[TT_##D] = place_##name##_##s,
#define TABLE PASTE(tt__vm_table_, TT_VM_LEVEL)

TT_HIDDEN extern const tt_vm_table TABLE;
const tt_vm_table TABLE = {.level = TT_VM_LEVEL,
#define TT_OP(E, lower, arity, cls, types, flags, ...)                   \
  EXPAND(ENTRY_OF(KIND_##cls(arity, )), TYPE_BITS(types), E, lower, cls) \
  EXPAND(ENTRY_OF(IF_RED(flags)), TYPE_BITS(types), E, lower, cls)
#include "tutti/ops.def"
#undef TT_OP
                           DRAWS(DRAW_ENTRY) CAST_ROW(BOOL, b8) CAST_ROW(I8, i8) CAST_ROW(I16, i16) CAST_ROW(I32, i32)
                               CAST_ROW(I64, i64) CAST_ROW(U8, u8) CAST_ROW(U16, u16) CAST_ROW(U32, u32)
                                   CAST_ROW(U64, u64) CAST_ROW(F16, f16) CAST_ROW(BF16, bf16) CAST_ROW(F32, f32)
                                       CAST_ROW(F64, f64)
                                           .load = {load_8, load_16, load_32, load_64},
                           .store = {store_8, store_16, store_32, store_64},
                           .gather = {gather_8, gather_16, gather_32, gather_64},
                           .scatter = {scatter_8, scatter_16, scatter_32, scatter_64},
                           .splat = {splat_8, splat_16, splat_32, splat_64},
                           .split = {NULL, NULL, split_32, split_64},
                           .join = {NULL, NULL, join_32, join_64},
                           .iota = iota,
                           OF_7(ARG_ENTRY, max) OF_7(ARG_ENTRY, min) OF_7(PLACE_ENTRY, max) OF_7(PLACE_ENTRY, min)};

/* ---- the choice ---------------------------------------------------------- */
#if TT_VM_LEVEL == 0
#if defined(__x86_64__) && !defined(TT_ONE_FILE)
TT_HIDDEN extern const tt_vm_table tt__vm_table_3, tt__vm_table_4;
#endif

const tt_vm_table *tt__vm_table_at(int level) {
  if (level == 0) return &tt__vm_table_0;
#if defined(__x86_64__) && !defined(TT_ONE_FILE)
  if (level == 3 && tt__vector_level() >= 3) return &tt__vm_table_3;
  if (level == 4 && tt__vector_level() >= 4) return &tt__vm_table_4;
#endif
  return NULL;
}

const tt_vm_table *tt__vm_table(void) {
  const char *env = tt__env("TUTTI_CPU_LEVEL");
  int level = tt__vector_level(), wanted = env ? atoi(env) : level;
  if (wanted < level) level = wanted;
#ifdef TT_ONE_FILE /* there is one, for the processor it is compiled for */
  level = 0;
#endif
  return tt__vm_table_at(level >= 4 ? 4 : level == 3 ? 3 : 0);
}
#endif
