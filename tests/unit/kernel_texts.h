/*
** Kernels by hand, with launches at the boundaries of lanes, blocks and chunks: what every executor of kernels is
** tried on.
*/
#ifndef KERNEL_TEXTS_H
#define KERNEL_TEXTS_H

#include <stdint.h>

#include "base/str.h"
#include "ir/kernel.h"

typedef struct kernel_text {
  const char *text;
  int64_t len[6][4]; /* axis lengths of some launches, ended by 0 */
} kernel_text;

#define CHAIN                      \
  "s0: f32\n"                      \
  "a0: read f32 buf0 unit\n"       \
  "a1: read f32 buf1 any\n"        \
  "a2: read f32 buf2 none\n"       \
  "a3: write f32 buf3 unit\n"      \
  "%0 = const.f32 s0\n"            \
  "%1 = load.f32 a0 @row0\n"       \
  "%2 = load.f32 a1 @row0\n"       \
  "%3 = load.f32 a2 @row0\n"       \
  "%4 = mul.f32 %1 %0 @row0\n"     \
  "%5 = add.f32 %4 %2 @row0\n"     \
  "%6 = sub.f32 %5 %3 @row0\n"     \
  "%7 = maximum.f32 %6 %1 @row0\n" \
  "%8 = store.f32 a3 %7 @row0\n"

#define SOFTMAX                                        \
  "kernel row outer=1 axes=2 phases=3 bufs=2 reds=2\n" \
  "s0: f32\n"                                          \
  "t0: f32\n"                                          \
  "a0: read f16 buf0 unit\n"                           \
  "a1: write f32 scratch0 unit\n"                      \
  "a2: read f32 scratch0 unit\n"                       \
  "a3: write f16 buf1 any\n"                           \
  "%0 = const.f32 s0\n"                                \
  "%1 = load.f32 a0 @row0\n"                           \
  "%2 = max.f32 r0 %1 @row0\n"                         \
  "%3 = load.f32 a0 @row1\n"                           \
  "%4 = sub.f32 %3 %2 @row1\n"                         \
  "%5 = exp.f32 %4 @row1\n"                            \
  "%6 = round.f16 %5 @row1\n"                          \
  "%7 = store.f32 a1 %6 @row1\n"                       \
  "%8 = sum.f32 r1 %6 @row1\n"                         \
  "%9 = mul.f32 %8 %0 @outer2\n"                       \
  "%10 = load.f32 a2 @row2\n"                          \
  "%11 = div.f32 %10 %9 @row2\n"                       \
  "%12 = store.f32 a3 %11 @row2\n"

/* Two kinds of draws at places along the lane, which make whole blocks where the places allow it. */
#define DRAWS(head, one, two, type, kind)                           \
  "kernel " head                                                    \
  "s0: u64\n"                                                       \
  "s1: u64\n"                                                       \
  "a0: index unit\n"                                                \
  "a1: write " type " buf0 " kind "\na2: write " type " buf1 " kind \
  "\n"                                                              \
  "%0 = const.u64 s0\n"                                             \
  "%1 = const.u64 s1\n"                                             \
  "%2 = index.i64 a0 @row0\n"                                       \
  "%3 = cast.i64.u64 %2 @row0\n"                                    \
  "%4 = " one "." type                                              \
  " %3 %0 %1 @row0\n"                                               \
  "%5 = " two "." type " %3 %0 %1 @row0\n"
#define DRAWS_STORED_(axes, one, two, type)                                    \
  DRAWS("map outer=" axes " phases=1 bufs=2 reds=0\n", one, two, type, "unit") \
  "%6 = store." type " a1 %4 @row0\n%7 = store." type " a2 %5 @row0\n"
#define DRAWS_SUMMED_(mode, axes, one, two, type)                               \
  DRAWS(mode " outer=" axes " phases=1 bufs=2 reds=2\n", one, two, type, "any") \
  "%6 = sum." type " r0 %4 @row0\n%7 = sum." type                               \
  " r1 %5 @row0\n"                                                              \
  "%8 = store." type " a1 %6 @outer1\n%9 = store." type " a2 %7 @outer1\n"
#define DRAWS_STORED(axes, ...) DRAWS_STORED_(axes, __VA_ARGS__)
#define DRAWS_SUMMED(mode, axes, ...) DRAWS_SUMMED_(mode, axes, __VA_ARGS__)
#define F32_DRAWS "uniform", "normal", "f32"
#define F64_DRAWS "uniform", "normal", "f64"
#define U64_DRAWS "philox", "philox", "u64"

static const kernel_text texts[] = {
    {"kernel map outer=1 axes=1 phases=1 bufs=4 reds=0\n" CHAIN, {{1}, {7}, {64}, {1000}}},
    {"kernel map outer=3 axes=3 phases=1 bufs=4 reds=0\n" CHAIN, {{1, 1, 1}, {3, 4, 5}, {2, 7, 65}, {9, 1, 33}}},
    {"kernel map outer=0 axes=0 phases=1 bufs=2 reds=0\n"
     "a0: read i32 buf0 none\n"
     "a1: write i32 buf1 none\n"
     "%0 = load.i32 a0 @row0\n"
     "%1 = neg.i32 %0 @row0\n"
     "%2 = store.i32 a1 %1 @row0\n",
     {{1}}},
    /* in place, halves, rounding, a broadcast store of a truth value */
    {"kernel map outer=2 axes=2 phases=1 bufs=4 reds=0\n"
     "a0: read f16 buf0 unit\n"
     "a1: read bf16 buf1 any\n"
     "a2: write f16 buf0 unit\n"
     "a3: write bf16 buf2 any\n"
     "a4: write b8 buf3 any\n"
     "%0 = load.f32 a0 @row0\n"
     "%1 = load.f32 a1 @row0\n"
     "%2 = mul.f32 %0 %1 @row0\n"
     "%3 = round.f16 %2 @row0\n"
     "%4 = round.bf16 %2 @row0\n"
     "%5 = add.f32 %3 %0 @row0\n"
     "%6 = store.f32 a2 %5 @row0\n"
     "%7 = store.f32 a3 %4 @row0\n"
     "%8 = lt.f32 %0 %1 @row0\n"
     "%9 = store.b8 a4 %8 @row0\n",
     {{3, 50}, {1, 129}, {200, 2}}},
    /* gather: an index folded into range, through LOADX */
    {"kernel map outer=2 axes=2 phases=1 bufs=3 reds=0\n"
     "s0: i64\n"
     "a0: index any\n"
     "a1: read i64 buf0 unit\n"
     "a2: read f64 buf1 none\n"
     "a3: write f64 buf2 unit\n"
     "%0 = load.i64 a1 @row0\n"
     "%1 = index.i64 a0 @row0\n"
     "%2 = xor.i64 %0 %0 @row0\n"
     "%3 = loadx.f64 a2 %2 @row0\n"
     "%4 = cast.i64.f64 %1 @row0\n"
     "%5 = add.f64 %3 %4 @row0\n"
     "%6 = store.f64 a3 %5 @row0\n",
     {{3, 50}, {1, 129}}},
    /* scatter in order: many lanes write few places */
    {"kernel map outer=2 axes=2 phases=1 bufs=2 reds=0 serial\n"
     "a0: read f64 buf0 unit\n"
     "a1: index unit\n"
     "a2: write f64 buf1 unit\n"
     "%0 = index.i64 a1 @row0\n"
     "%1 = load.f64 a0 @row0\n"
     "%2 = shr.i64 %0 %0 @row0\n"
     "%3 = abs.i64 %2 @row0\n"
     "%4 = shl.i64 %3 %3 @row0\n"
     "%5 = sub.i64 %4 %4 @row0\n"
     "%6 = storex.f64 a2 %5 %1 @row0\n",
     {{3, 50}, {1, 129}}},
    /* softmax: three phases and a scratch */
    {SOFTMAX, {{1, 1}, {5, 63}, {3, 64}, {2, 1000}}},
    {DRAWS_STORED("1 axes=1", F32_DRAWS), {{1}, {1000}, {4099}}},
    {DRAWS_STORED("1 axes=1", F64_DRAWS), {{1}, {1000}, {4099}}},
    {DRAWS_STORED("1 axes=1", U64_DRAWS), {{1}, {1000}, {4099}}},
    {DRAWS_STORED("2 axes=2", F32_DRAWS), {{3, 400}, {5, 131}}},
    {DRAWS_STORED("2 axes=2", F64_DRAWS), {{3, 400}, {5, 131}}},
};

#define FOLDS(mode, axes)           \
  "kernel " mode " outer=" axes     \
  " phases=1 bufs=7 reds=4\n"       \
  "a0: read f32 buf0 unit\n"        \
  "a1: read f64 buf1 any\n"         \
  "a2: read f32 buf2 any\n"         \
  "a3: write f32 buf3 any\n"        \
  "a4: write f64 buf4 any\n"        \
  "a5: write i64 buf5 any\n"        \
  "a6: write f32 buf6 any\n"        \
  "%0 = load.f32 a2 @outer0\n"      \
  "%1 = load.f32 a0 @row0\n"        \
  "%2 = mul.f32 %1 %0 @row0\n"      \
  "%3 = sum.f32 r0 %2 @row0\n"      \
  "%4 = load.f64 a1 @row0\n"        \
  "%5 = min.f64 r1 %4 @row0\n"      \
  "%6 = argmax.f32 r2 %1 @row0\n"   \
  "%7 = prod.f32 r3 %1 @row0\n"     \
  "%8 = add.f32 %3 %0 @outer1\n"    \
  "%9 = store.f32 a3 %8 @outer1\n"  \
  "%10 = store.f64 a4 %5 @outer1\n" \
  "%11 = store.i64 a5 %6 @outer1\n" \
  "%12 = store.f32 a6 %7 @outer1\n"

#define VARIANCE(mode, axes)       \
  "kernel " mode " outer=" axes    \
  " phases=3 bufs=3 reds=2\n"      \
  "s0: f64\n"                      \
  "a0: read f64 buf0 unit\n"       \
  "a1: write f64 buf1 any\n"       \
  "a2: write f64 buf2 any\n"       \
  "%0 = const.f64 s0\n"            \
  "%1 = load.f64 a0 @row0\n"       \
  "%2 = sum.f64 r0 %1 @row0\n"     \
  "%3 = mul.f64 %2 %0 @outer1\n"   \
  "%4 = load.f64 a0 @row1\n"       \
  "%5 = sub.f64 %4 %3 @row1\n"     \
  "%6 = square.f64 %5 @row1\n"     \
  "%7 = sum.f64 r1 %6 @row1\n"     \
  "%8 = sqrt.f64 %7 @outer2\n"     \
  "%9 = store.f64 a2 %8 @outer2\n" \
  "%10 = load.f64 a0 @row2\n"      \
  "%11 = sub.f64 %10 %3 @row2\n"   \
  "%12 = div.f64 %11 %8 @row2\n"   \
  "%13 = store.f64 a1 %12 @row2\n"

static const kernel_text fold_texts[] = {
    {FOLDS("row", "0 axes=1"), {{1}, {63}, {64}, {130}, {65536}, {140000}}},
    {FOLDS("row", "1 axes=2"), {{5, 1}, {4, 65}, {1, 64}, {2, 70000}}},
    {FOLDS("row", "2 axes=4"), {{1, 1, 1, 1}, {3, 2, 5, 7}, {2, 1, 300, 260}, {1, 2, 3, 65537}}},
    {FOLDS("col", "1 axes=2"), {{1, 1}, {5, 9}, {130, 17}, {1030, 3}, {70, 5000}}},
    {FOLDS("col", "2 axes=4"), {{1, 1, 1, 1}, {3, 5, 2, 7}, {2, 700, 3, 5}, {2, 3, 100, 90}}},
    {DRAWS_SUMMED("row", "0 axes=1", F32_DRAWS), {{63}, {5000}, {140003}}},
    {DRAWS_SUMMED("row", "1 axes=2", F64_DRAWS), {{3, 65}, {2, 70000}}},
    {DRAWS_SUMMED("row", "1 axes=3", F32_DRAWS), {{3, 10, 20}, {2, 300, 300}}},
    {DRAWS_SUMMED("col", "1 axes=2", F32_DRAWS), {{5, 9}, {130, 17}}},
    {DRAWS_SUMMED("col", "2 axes=3", F64_DRAWS), {{2, 300, 3}, {3, 33, 9}}},
    {VARIANCE("row", "1 axes=2"), {{3, 100}, {1, 66000}}},
    {VARIANCE("row", "1 axes=3"), {{3, 10, 20}, {2, 300, 300}}},
    {VARIANCE("col", "1 axes=2"), {{100, 3}, {7, 5000}}},
    {VARIANCE("col", "2 axes=3"), {{4, 100, 3}, {1, 1100, 9}}},
};

/* ---- every op and cast of every type */

static inline int put_ops(tt_str *loads, tt_str *accesses, int type, bool slow) {
  int inst = 3, access = 3;
  const char *s = tt__dtypes[type].suffix;
  int bit = type == TT_BOOL ? TT_OPT_B : tt__is_int((tt_dtype)type) ? TT_OPT_I : TT_OPT_F;
  for (int op = 0; op < TT_OP_COUNT; op++) {
    const tt_op_info *o = &tt__ops[op];
    /* draws are above; special functions are too many for one kernel: tests/oracle/test_special.py has them */
    bool fits = op != TT_CAST && o->cls != TT_CLASS_DRAW && o->cls != TT_CLASS_SPECIAL && (o->types & bit);
    if (!fits || slow != ((o->flags & TT_OPF_SLOW) != 0)) continue;
    const char *result = tt__dtypes[tt__kernel_result((tt_op)op, (tt_dtype)type)].suffix;
    tt__str_addf(loads, "%%%d = %s.%s %s %s %s @row0\n", inst, o->lower, s, op == TT_WHERE ? "%2" : "%0",
                 o->arity < 2     ? ""
                 : op == TT_WHERE ? "%0"
                                  : "%1",
                 o->arity < 3 ? "" : "%1");
    tt__str_addf(loads, "%%%d = store.%s a%d %%%d @row0\n", inst + 1, result, access, inst);
    tt__str_addf(accesses, "a%d: write %s buf%d unit\n", access, result, access);
    inst += 2;
    access++;
  }
  if (!slow)
    for (int to = 0; to < TT_F64 + 1; to++) {
      if (to == TT_F16 || to == TT_BF16) continue;
      tt__str_addf(loads, "%%%d = cast.%s.%s %%0 @row0\n", inst, s, tt__dtypes[to].suffix);
      tt__str_addf(loads, "%%%d = store.%s a%d %%%d @row0\n", inst + 1, tt__dtypes[to].suffix, access, inst);
      tt__str_addf(accesses, "a%d: write %s buf%d unit\n", access, tt__dtypes[to].suffix, access);
      inst += 2;
      access++;
    }
  return access;
}

/* A map with every op (the costly ones or the others) and cast of a type, each stored; false when there is none. */
static inline bool put_op_kernel(int type, bool slow, tt_str *text) {
  tt_str loads = {0}, accesses = {0};
  const char *s = tt__dtypes[type].suffix;
  int n = put_ops(&loads, &accesses, type, slow);
  tt__str_addf(text,
               "kernel map outer=1 axes=1 phases=1 bufs=%d reds=0\na0: read %s buf0 unit\na1: read %s buf1 unit\n"
               "a2: read b8 buf2 unit\n",
               n, s, s);
  tt__str_add(text, accesses.data ? accesses.data : "");
  tt__str_addf(text, "%%0 = load.%s a0 @row0\n%%1 = load.%s a1 @row0\n%%2 = load.b8 a2 @row0\n", s, s);
  tt__str_add(text, loads.data ? loads.data : "");
  tt__str_free(&loads);
  tt__str_free(&accesses);
  return n > 3;
}

#endif
