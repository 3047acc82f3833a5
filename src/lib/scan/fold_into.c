/*
** Values folded into memory at places, one after the other: what is wanted most has loops of its own, without a call
** for each element.
*/
#include "lib/scan/fold.h"

static bool are_inside(const tt_fold_into *f) {
  const uint64_t len = (uint64_t)f->len;
  uint64_t outside = 0;
  for (int64_t i = 0; i < f->n; i++) outside |= (uint64_t)f->place[i] + len >= 2 * len;
  return !outside;
}

static inline int64_t offset(const tt_fold_into *f, int64_t i) {
  int64_t place = f->place[i];
  return (place < 0 ? place + f->len : place) * f->step;
}

/* A case for each real type; integers with a sign are computed as the types that are named. */
#define REAL_CASES(CASE, I8, I16, I32, I64) \
  CASE(TT_I8, I8)                           \
  CASE(TT_U8, uint8_t)                      \
  CASE(TT_I16, I16)                         \
  CASE(TT_U16, uint16_t)                    \
  CASE(TT_I32, I32)                         \
  CASE(TT_U32, uint32_t)                    \
  CASE(TT_I64, I64)                         \
  CASE(TT_U64, uint64_t) CASE(TT_F32, float) CASE(TT_F64, double)

/* One number for all places is read once. */
#define INTO_LOOP(T, OP)                                                                             \
  do {                                                                                               \
    const tt_fold_into g = *f; /* what is written might be f */                                      \
    T *a = g.a;                                                                                      \
    const T *b = g.b;                                                                                \
    if (g.b_step == 0) {                                                                             \
      const T one = *b;                                                                              \
      for (int64_t i = 0; i < g.n; i++) a[offset(&g, i)] = (T)(a[offset(&g, i)] OP one);             \
    } else {                                                                                         \
      for (int64_t i = 0; i < g.n; i++) a[offset(&g, i)] = (T)(a[offset(&g, i)] OP b[i * g.b_step]); \
    }                                                                                                \
    return true;                                                                                     \
  } while (0)
#define INTO_CASE(E, T)                   \
  case E:                                 \
    if (f->op == TT_ADD) INTO_LOOP(T, +); \
    if (f->op == TT_SUB) INTO_LOOP(T, -); \
    if (f->op == TT_MUL) INTO_LOOP(T, *); \
    return false;

/* What is wanted most, without a call for each element. */
static bool do_arithmetic(const tt_fold_into *f) {
  switch (f->dtype) {
    REAL_CASES(INTO_CASE, uint8_t, uint16_t, uint32_t, uint64_t)
    default:
      return false;
  }
}

/* As tt_maximum_ and tt_minimum_ have it: a NaN stays, of equals the second is taken. */
#define INTO_EXTREME(T, CMP)                                   \
  do {                                                         \
    const tt_fold_into g = *f;                                 \
    T *a = g.a;                                                \
    const T *b = g.b;                                          \
    for (int64_t i = 0; i < g.n; i++) {                        \
      T *at = a + offset(&g, i), x = *at, y = b[i * g.b_step]; \
      *at = x != x || x CMP y ? x : y;                         \
    }                                                          \
    return true;                                               \
  } while (0)
#define EXTREME_CASE(E, T)                       \
  case E:                                        \
    if (f->op == TT_MAXIMUM) INTO_EXTREME(T, >); \
    if (f->op == TT_MINIMUM) INTO_EXTREME(T, <); \
    return false;

static bool do_extremes(const tt_fold_into *f) {
  switch (f->dtype) {
    REAL_CASES(EXTREME_CASE, int8_t, int16_t, int32_t, int64_t)
    default:
      return false;
  }
}

/* Real and imaginary parts of complex sums by themselves. */
static bool do_complex(const tt_fold_into *f) {
  bool is_add = f->op == TT_ADD;
  if (!is_add && f->op != TT_SUB) return false;
  for (int64_t i = 0; i < f->n; i++) {
    if (f->dtype == TT_C64) {
      tt_c64 *a = (tt_c64 *)f->a + offset(f, i), b = ((const tt_c64 *)f->b)[i * f->b_step];
      *a = is_add ? (tt_c64){a->re + b.re, a->im + b.im} : (tt_c64){a->re - b.re, a->im - b.im};
    } else {
      tt_c128 *a = (tt_c128 *)f->a + offset(f, i), b = ((const tt_c128 *)f->b)[i * f->b_step];
      *a = is_add ? (tt_c128){a->re + b.re, a->im + b.im} : (tt_c128){a->re - b.re, a->im - b.im};
    }
  }
  return true;
}

bool tt__fold_into_places(const tt_fold_into *f) {
  if (!are_inside(f)) return false;
  if (f->dtype == TT_C64 || f->dtype == TT_C128) return f->width == 1 && do_complex(f);
  if (f->width == 1 && (do_arithmetic(f) || do_extremes(f))) return true;
  tt_fold_loop loop = tt__fold_find ? tt__fold_find(f->op, f->dtype, f->dtype) : NULL;
  if (!loop) return false;
  int64_t size = (int64_t)tt__dtype_size(f->dtype);
  for (int64_t i = 0; i < f->n; i++) {
    char *at = (char *)f->a + offset(f, i) * size;
    loop(at, at, (const char *)f->b + i * f->b_step * size, NULL, f->width);
  }
  return true;
}
