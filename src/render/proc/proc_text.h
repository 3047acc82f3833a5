/*
** What rendered programs call, as text: it stands below prelude.h and includes nothing. Complex numbers, words,
** atomics, random numbers, what C makes of NumPy's slices.
*/
/* clang-format off: rows of macros without semicolons are beyond it */
#ifndef TT_RENDER_PROC_PROC_TEXT_H
#define TT_RENDER_PROC_PROC_TEXT_H

enum { TT_EDEVICE = 13, TT_EZERODIV = 7, TT_ENOMEM = 1, TT_EVALUE = 2, TT_CHUNKS = 256, TT_THREADS = 1024 };
#if defined(TT_PROGRAM_GPU)
#define TT_RARELY(x) (x)
#elif defined(__clang__)
#define TT_UNROLL4
#define TT_RARELY(x) __builtin_expect(!!(x), 0)
#else
#define TT_UNROLL4 _Pragma("GCC unroll 4")
#define TT_RARELY(x) __builtin_expect(!!(x), 0)
#endif
#ifndef TT_PRODUCT /* the dialect's, where its compiler is another than this text's */
#define TT_PRODUCT(x) (x)
#endif
/* One of two whole numbers, both of them computed. */
#define TT_CHOOSE(c, a, b)             \
  ({                                   \
    tt_i64 yes = (a), no = (b);        \
    __asm__("" : "+r"(yes), "+r"(no)); \
    (c) ? yes : no;                    \
  })
/* In a block: it is jumped to, however cheap a move by the condition seems. */
#define TT_JUMPED_TO __asm__ volatile("")
#if defined(TT_PROGRAM_GPU) || defined(__clang__)
#define TT_SELDOM(x) (x)
#else
#define TT_SELDOM(x) __builtin_expect_with_probability(!!(x), 0, 0.995)
#endif

typedef struct {
  tt_f32 re, im;
} tt_c64;
typedef struct {
  tt_f64 re, im;
} tt_c128;

#ifndef TT_PROGRAM_GPU
typedef struct tt_pcall tt_pcall;
struct tt_pcall {
  tt_i32 *failed;
  const char **message;
  tt_i32 *line;
  const tt_i64 *hidden;
  char *shared, *local;
  void *host;
  tt_u64 random[2];
  void *(*alloc)(tt_pcall *call, tt_i64 bytes, tt_i32 zero);
  void (*print)(tt_pcall *call, const char *kinds, const tt_i64 *word);
  void (*parallel)(tt_pcall *call, tt_i64 n, void (*body)(tt_pcall *, void *, tt_i64, tt_i64), void *env);
  tt_i32 (*poll)(tt_pcall *call);
  void (*outside)(tt_pcall *call, const char *array, tt_i64 axis, tt_i64 index, tt_i64 len, tt_i64 line,
                  const tt_i64 *place);
  char *const *slot;
  void (*touch)(const void *at, unsigned long size, unsigned kind, const void *line);
  void (*barrier)(int value, int *sum, int *threads, const void *line);
  void (*warp)(unsigned mask, unsigned long long value, unsigned long long *out, unsigned *came, unsigned *yes);
  unsigned (*active)(void);
  void (*fence)(void);
  void (*leaves)(void);
  void (*grid)(const void *line);
  void (*reseed)(tt_pcall *call, tt_i64 seed);
  tt_f64 (*draw)(tt_pcall *call, tt_i64 normal);
  tt_i64 (*draw_below)(tt_pcall *call, tt_i64 low, tt_i64 high);
  tt_i32 (*function)(tt_pcall *call, const char *name, const tt_i64 *word, tt_i64 *out, tt_i64 line);
  char *room, *room_end;
  const char *(*format)(tt_pcall *call, tt_i64 dtype, const tt_i64 *word);
  tt_i64 (*letter)(tt_i64 code, tt_i64 what, tt_u32 *out);
  const char *floor;
};
/* ---- what the one thread of a checked kernel calls; `t` is its number */
#define TT_TOUCH(place, kind, line)                                  \
  (*({                                                               \
    __typeof__(place) at = (place);                                  \
    call->touch(at, sizeof *at, kind, (const void *)(tt_i64)(line)); \
    at;                                                              \
  }))
/* `result` of how many gave true (sum) and how many there are (threads). */
#define TT_MEET(p, line, result)                                           \
  ({                                                                       \
    int sum, threads;                                                      \
    call->barrier((p) != 0, &sum, &threads, (const void *)(tt_i64)(line)); \
    (result);                                                              \
  })
#define tt_sync_count(p, line) TT_MEET(p, line, sum)
#define tt_sync_and(p, line) TT_MEET(p, line, sum == threads)
#define tt_sync_or(p, line) TT_MEET(p, line, sum != 0)
/* `result` of the lanes that came, those of them that gave something else than zero, and what each gave, as bits. */
#define TT_WARP(x, m, result)                          \
  ({                                                   \
    __typeof__(x) mine = (x);                          \
    unsigned long long bits = 0, all[32];              \
    unsigned came, yes;                                \
    __builtin_memcpy(&bits, &mine, sizeof mine);       \
    call->warp((unsigned)(m), bits, all, &came, &yes); \
    (void)yes;                                         \
    (result);                                          \
  })
#define TT_FROM_LANE(x, m, lane)                                                                    \
  ({                                                                                                \
    const tt_i64 from = (lane);                                                                     \
    TT_WARP(x, m, (came >> from & 1 ? __builtin_memcpy(&mine, &all[from], sizeof mine) : 0, mine)); \
  })
#define tt_shfl(x, to, m) TT_FROM_LANE(x, m, (to)&31)
#define tt_shfl_up(x, by, m) TT_FROM_LANE(x, m, (t & 31) >= (by) ? (t & 31) - (by) : (t & 31))
#define tt_shfl_down(x, by, m) TT_FROM_LANE(x, m, (t & 31) + (by) < 32 ? (t & 31) + (by) : (t & 31))
#define tt_shfl_xor(x, by, m) TT_FROM_LANE(x, m, (t & 31) ^ ((by)&31))
#define tt_ballot(p, m) TT_WARP((tt_b8)((p) != 0), m, yes)
#define tt_any(p, m) (tt_ballot(p, m) != 0)
#define tt_all(p, m) TT_WARP((tt_b8)((p) != 0), m, yes == came)
#define tt_match(x, m) TT_WARP(x, m, tt_same(all, came, bits))
#define tt_active(p) ((p) ? call->active() : 0)
static inline __attribute__((unused)) tt_u32 tt_same(const unsigned long long *all, unsigned came,
                                                     unsigned long long bits) {
  tt_u32 same = 0;
  for (int k = 0; k < 32; k++) same |= (tt_u32)(came >> k & 1 && all[k] == bits) << k;
  return same;
}
#define TT_HIDDEN_WORDS call->hidden
/* The first failure of all threads wins. */
static __attribute__((cold, noinline, unused)) void tt_fail(tt_pcall *call, tt_i32 kind, const char *message,
                                                            tt_i32 line) {
  tt_i32 none = 0;
  if (__atomic_compare_exchange_n(call->failed, &none, kind, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    *call->message = message;
    *call->line = line;
  }
}
/* Where failures are noted. */
typedef struct {
  tt_i32 *failed;
  const char **message;
  tt_i32 *line;
} tt_place;
TT_FN void tt_caught(tt_pcall *call, const tt_place *before) {
  call->failed = before->failed;
  call->message = before->message;
  call->line = before->line;
}
#define TT_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#elif defined(TT_PROGRAM_CUDA)
typedef const tt_i64 tt_pcall; /* the words of the hidden arrays */
#define TT_HIDDEN_WORDS call
#define TT_FENCE() __threadfence()
#endif

#ifndef TT_PROGRAM_GPU
/* ---- lists, whose memory is the call's: what a list outgrows stays until the call is over */
typedef struct {
  tt_i64 *w;
  tt_i64 n, room;
} tt_list;
/* Small parts come from larger ones that the thread has for itself. */
enum { TT_LIST_PART = 4096, TT_LIST_CHUNK = 1 << 16, TT_LIST_FIRST = 5 };
static __attribute__((noinline, cold, unused)) void *tt_list_chunk(tt_pcall *call, tt_i64 bytes) {
  char *p = (char *)call->alloc(call, bytes > TT_LIST_PART ? bytes : TT_LIST_CHUNK, 0);
  if (p && bytes <= TT_LIST_PART) {
    call->room = p + bytes;
    call->room_end = p + TT_LIST_CHUNK;
  }
  return p;
}
TT_FN void *tt_list_memory(tt_pcall *call, tt_i64 bytes) {
  char *p = call->room;
  if (TT_RARELY(bytes > call->room_end - p)) return tt_list_chunk(call, bytes);
  call->room = p + bytes;
  return p;
}
static __attribute__((unused)) tt_list *tt_list_new(tt_pcall *call, tt_i64 words) {
  static tt_list none; /* without memory: the call has failed, and this one never grows */
  tt_list *l = (tt_list *)tt_list_memory(call, (tt_i64)sizeof *l + TT_LIST_FIRST * 8);
  if (TT_RARELY(!l)) {
    tt_fail(call, TT_ENOMEM, "out of memory", 0);
    return &none;
  }
  l->w = (tt_i64 *)(l + 1);
  l->n = 0;
  l->room = words ? TT_LIST_FIRST / words : TT_LIST_FIRST; /* items of no words: None, () */
  return l;
}
static __attribute__((noinline, cold, unused)) tt_b8 tt_list_grow(tt_pcall *call, tt_list *l, tt_i64 n, tt_i64 words) {
  tt_i64 room = n < l->room * 2 ? l->room * 2 : n + 3;
  tt_i64 *w = *call->failed || n > TT_I64(0x1000000000000) ? 0 : (tt_i64 *)tt_list_memory(call, room * words * 8);
  if (!w) return 0;
  if (l->n) __builtin_memcpy(w, l->w, (unsigned long)(l->n * words) * 8);
  l->w = w;
  l->room = room;
  l->n = n;
  return 1;
}
TT_FN tt_b8 tt_list_resize(tt_pcall *call, tt_list *l, tt_i64 n, tt_i64 words) {
  if (TT_RARELY(n > l->room)) return tt_list_grow(call, l, n, words);
  l->n = n;
  return 1;
}
/* A function under way, of so many words; NULL: the call has failed. */
static __attribute__((unused)) tt_list *tt_generator_new(tt_pcall *call, tt_i64 words, tt_i64 code) {
  tt_list *l = (tt_list *)tt_list_memory(call, (tt_i64)sizeof *l + words * 8);
  if (TT_RARELY(!l)) {
    tt_fail(call, TT_ENOMEM, "out of memory", 0);
    return 0;
  }
  l->w = (tt_i64 *)(l + 1);
  l->n = l->room = 1;
  __builtin_memset(l->w, 0, (unsigned long)words * 8);
  l->w[1] = code;
  return l;
}
#endif

/* ---- words: whole numbers as int64, floats as their bits */
TT_FN tt_f64 tt_of_words_f64(const tt_i64 *w) { return tt__from_f64((tt_u64)w[0]); }
TT_FN tt_f32 tt_of_words_f32(const tt_i64 *w) { return tt__from_f32((tt_u32)w[0]); }
TT_FN void tt_to_words_f64(tt_i64 *w, tt_f64 x) { w[0] = (tt_i64)tt__bits_f64(x); }
TT_FN void tt_to_words_f32(tt_i64 *w, tt_f32 x) { w[0] = (tt_i64)tt__bits_f32(x); }
#define TT__WORD(S)                                                      \
  TT_FN tt_##S tt_of_words_##S(const tt_i64 *w) { return (tt_##S)w[0]; } \
  TT_FN void tt_to_words_##S(tt_i64 *w, tt_##S x) { w[0] = (tt_i64)x; }  \
  TT_FN tt_i64 tt_word_##S(tt_##S x) { return (tt_i64)x; }
TT__WORD(b8)
TT__WORD(i8)
TT__WORD(i16)
TT__WORD(i32)
TT__WORD(i64) TT__WORD(u8) TT__WORD(u16) TT__WORD(u32) TT__WORD(u64) TT_FN tt_f16 tt_of_words_f16(const tt_i64 *w) {
  return (tt_f16)w[0];
}
TT_FN void tt_to_words_f16(tt_i64 *w, tt_f16 x) { w[0] = x; }
TT_FN tt_bf16 tt_of_words_bf16(const tt_i64 *w) { return (tt_bf16)w[0]; }
TT_FN void tt_to_words_bf16(tt_i64 *w, tt_bf16 x) { w[0] = x; }
TT_FN tt_i64 tt_word_f64(tt_f64 x) { return (tt_i64)tt__bits_f64(x); }
TT_FN tt_i64 tt_word_f32(tt_f32 x) { return (tt_i64)tt__bits_f32(x); }
TT_FN tt_c128 tt_of_words_c128(const tt_i64 *w) {
  tt_c128 z;
  z.re = tt_of_words_f64(w);
  z.im = tt_of_words_f64(w + 1);
  return z;
}
TT_FN void tt_to_words_c128(tt_i64 *w, tt_c128 z) {
  tt_to_words_f64(w, z.re);
  tt_to_words_f64(w + 1, z.im);
}
TT_FN tt_c64 tt_of_words_c64(const tt_i64 *w) {
  tt_c64 z;
  z.re = tt__from_f32((tt_u32)w[0]);
  z.im = tt__from_f32((tt_u32)((tt_u64)w[0] >> 32));
  return z;
}
TT_FN void tt_to_words_c64(tt_i64 *w, tt_c64 z) {
  w[0] = (tt_i64)((tt_u64)tt__bits_f32(z.re) | (tt_u64)tt__bits_f32(z.im) << 32);
}

/* Do two arrays begin at one place? */
#define tt_same_place(a, b) ((tt_b8)((const void *)(a).p == (const void *)(b).p))

#ifndef TT_PROGRAM_GPU
/* Items in order, equal ones as they were: runs of twice the length each time, from one half of the memory to the
 * other. KEY(i): where the key of the item at `i` lies. */
#define TT__MERGES(NAME, PARAMETERS, S, LACKS, KEY)                                         \
  static __attribute__((unused)) tt_b8 NAME PARAMETERS {                                    \
    tt_i64 n = l->n, *from = l->w, *to = n > 1 ? (tt_i64 *)call->alloc(call, n * 8, 0) : 0; \
    if (n < 2) return 1;                                                                    \
    if (!to || (LACKS)) return 0;                                                           \
    for (tt_i64 run = 1; run < n; run *= 2) {                                               \
      for (tt_i64 low = 0; low < n; low += 2 * run) {                                       \
        tt_i64 half = low + run < n ? low + run : n, end = half + run < n ? half + run : n; \
        for (tt_i64 at = low, a = low, b = half; at < end; at++) {                          \
          tt_b8 second = a == half;                                                         \
          if (a < half && b < end) {                                                        \
            tt_##S x = tt_of_words_##S(KEY(a)), y = tt_of_words_##S(KEY(b));                \
            second = down ? x < y : y < x;                                                  \
          }                                                                                 \
          to[at] = from[second ? b++ : a++];                                                \
        }                                                                                   \
      }                                                                                     \
      tt_i64 *other = from;                                                                 \
      from = to;                                                                            \
      to = other;                                                                           \
    }                                                                                       \
    if (from != l->w) __builtin_memcpy(l->w, from, (unsigned long)n * 8);                   \
    return 1;                                                                               \
  }
#define TT__ITSELF(i) (from + (i))
#define TT__ITS_KEY(i) (keys->w + from[i])
#define TT__SORT(S) TT__MERGES(tt_list_sort_##S, (tt_pcall * call, tt_list * l, tt_b8 down), S, 0, TT__ITSELF)
/* Places 0, 1 ... in the order of the keys there. */
#define TT__ORDER(S) \
  TT__MERGES(tt_list_order_##S, (tt_pcall * call, tt_list * l, tt_list * keys, tt_b8 down), S, keys->n < n, TT__ITS_KEY)
#define TT__SORTS(S) TT__SORT(S) TT__ORDER(S)
TT__SORTS(b8)
TT__SORTS(i8)
TT__SORTS(i16)
TT__SORTS(i32)
TT__SORTS(i64)
TT__SORTS(u8)
TT__SORTS(u16)
TT__SORTS(u32)
TT__SORTS(u64)
TT__SORTS(f32)
TT__SORTS(f64)
#endif

/* ---- indices */
#ifdef TT_PROGRAM_GPU
TT_FN tt_i64 tt_wrap(tt_i64 i, tt_i64 n) { return i < 0 ? i + n : i; }
#else
/* A jump that is guessed right does not wait for the index. */
TT_FN tt_i64 tt_wrap(tt_i64 i, tt_i64 n) { return TT_SELDOM(i < 0) ? i + n : i; }
#endif
TT_FN tt_i64 tt_cut(tt_i64 n, tt_i64 k, tt_i64 of) { return n / of * k + n % of * k / of; }
TT_FN tt_i64 tt_range_i64(tt_i64 a, tt_i64 b, tt_i64 c) {
  return c > 0 ? (a < b ? (b - a - 1) / c + 1 : 0) : c < 0 ? (b < a ? (a - b - 1) / -c + 1 : 0) : 0;
}
TT_FN tt_i64 tt_range_f64(tt_f64 a, tt_f64 b, tt_f64 c) {
  tt_f64 n = (b - a) / c;
  tt_i64 whole = n > 0 && n < 0x1p62 ? (tt_i64)n : 0;
  return whole + (n > (tt_f64)whole);
}
/* The product of sizes; -1 when one is negative or it overflows. */
TT_FN tt_i64 tt_extent(tt_i64 c, tt_i64 n) {
  return c < 0 || n < 0 || n > TT_I64(0x1000000000000) || (n > 0 && c > TT_I64(0x7fffffffffffffff) / n) ? -1 : c * n;
}
typedef struct {
  tt_i64 start, n, step;
} tt_slice;
TT_FN tt_i64 tt_clamp(tt_i64 i, tt_i64 n, tt_i64 lo, tt_i64 hi) {
  i = i < 0 ? i + n : i;
  return i < lo ? lo : i > hi ? hi : i;
}
TT_FN tt_slice tt_slice_of(tt_i64 n, int has_a, tt_i64 a, int has_b, tt_i64 b, int has_c, tt_i64 c) {
  tt_slice s;
  s.step = has_c && c != 0 ? c : 1;
  tt_i64 lo = s.step < 0 ? -1 : 0, hi = s.step < 0 ? n - 1 : n;
  s.start = has_a ? tt_clamp(a, n, lo, hi) : s.step < 0 ? hi : 0;
  b = has_b ? tt_clamp(b, n, lo, hi) : s.step < 0 ? -1 : n;
  s.n = tt_range_i64(s.start, b, s.step);
  return s;
}

/* ---- whole numbers from floats: one instruction where its result is NumPy's */
/* kept: of numbers that may become floats again. Without -ftrapping-math gcc would make one trunc() of both steps, and
 * -0.0 of -0.5; it looks through no signs. */
#if defined(__x86_64__) && !defined(TT_PROGRAM_GPU)
TT_FN tt_i64 tt_whole_f64_i64(tt_f64 x) { return (tt_i64)x; }
TT_FN tt_i64 tt_whole_f32_i64(tt_f32 x) { return (tt_i64)x; }
TT_FN tt_i32 tt_whole_f64_i32(tt_f64 x) { return (tt_i32)x; }
TT_FN tt_i32 tt_whole_f32_i32(tt_f32 x) { return (tt_i32)x; }
TT_FN tt_i64 tt_kept_f64_i64(tt_f64 x) { return -(tt_i64)(-x); }
TT_FN tt_i64 tt_kept_f32_i64(tt_f32 x) { return -(tt_i64)(-x); }
TT_FN tt_i32 tt_kept_f64_i32(tt_f64 x) { return -(tt_i32)(-x); }
TT_FN tt_i32 tt_kept_f32_i32(tt_f32 x) { return -(tt_i32)(-x); }
#else
TT_FN tt_i64 tt_whole_f64_i64(tt_f64 x) { return tt_cast_f64_i64(x); }
TT_FN tt_i64 tt_whole_f32_i64(tt_f32 x) { return tt_cast_f32_i64(x); }
TT_FN tt_i32 tt_whole_f64_i32(tt_f64 x) { return tt_cast_f64_i32(x); }
TT_FN tt_i32 tt_whole_f32_i32(tt_f32 x) { return tt_cast_f32_i32(x); }
TT_FN tt_i64 tt_kept_f64_i64(tt_f64 x) { return tt_cast_f64_i64(x); }
TT_FN tt_i64 tt_kept_f32_i64(tt_f32 x) { return tt_cast_f32_i64(x); }
TT_FN tt_i32 tt_kept_f64_i32(tt_f64 x) { return tt_cast_f64_i32(x); }
TT_FN tt_i32 tt_kept_f32_i32(tt_f32 x) { return tt_cast_f32_i32(x); }
#endif
#define TT__WHOLE(S)                                                     \
  TT_FN tt_##S tt_whole_f64_##S(tt_f64 x) { return tt_cast_f64_##S(x); } \
  TT_FN tt_##S tt_whole_f32_##S(tt_f32 x) { return tt_cast_f32_##S(x); } \
  TT_FN tt_##S tt_kept_f64_##S(tt_f64 x) { return tt_cast_f64_##S(x); }  \
  TT_FN tt_##S tt_kept_f32_##S(tt_f32 x) { return tt_cast_f32_##S(x); }
TT__WHOLE(u64)
TT__WHOLE(i8)
TT__WHOLE(i16)
TT__WHOLE(u8)
TT__WHOLE(u16)
TT__WHOLE(u32)

TT_FN tt_i64 tt_popc_u64(tt_u64 x) {
  tt_i64 n = 0;
  for (; x; x &= x - 1) n++;
  return n;
}
TT_FN tt_i64 tt_popc_u32(tt_u32 x) { return tt_popc_u64(x); }
TT_FN tt_i64 tt_clz_u64(tt_u64 x) {
  tt_i64 n = 0;
  for (; n < 64 && !(x >> (63 - n) & 1); n++) {
  }
  return n;
}
TT_FN tt_i64 tt_clz_u32(tt_u32 x) { return tt_clz_u64(x) - 32; }
TT_FN tt_i64 tt_ffs_u64(tt_u64 x) { return x ? 64 - tt_clz_u64(x & (0 - x)) : 0; }
TT_FN tt_i64 tt_ffs_u32(tt_u32 x) { return tt_ffs_u64(x); }
TT_FN tt_u64 tt_brev_u64(tt_u64 x) {
  tt_u64 r = 0;
  for (tt_i64 k = 0; k < 64; k++) r = r << 1 | (x >> k & 1);
  return r;
}
TT_FN tt_u32 tt_brev_u32(tt_u32 x) { return (tt_u32)(tt_brev_u64(x) >> 32); }

/* ---- what the C library and CUDA both have */
#ifdef TT_PROGRAM_GPU
#define TT__LIBRARY(NAME) NAME
#ifdef TT_PROGRAM_OPENCL /* overloaded, without the letter of a type */
#define fmaf fma
#endif
#else
#define TT__LIBRARY(NAME) __builtin_##NAME
#endif
TT_FN tt_f32 tt_fma_f32(tt_f32 a, tt_f32 b, tt_f32 c) { return TT__LIBRARY(fmaf)(a, b, c); }
TT_FN tt_f64 tt_fma_f64(tt_f64 a, tt_f64 b, tt_f64 c) { return TT__LIBRARY(fma)(a, b, c); }
TT_FN tt_f64 tt_ldexp_f64(tt_f64 x, tt_i64 by) {
  return TT__LIBRARY(ldexp)(x, (int)(by < -3000 ? -3000 : by > 3000 ? 3000 : by));
}
TT_FN tt_i64 tt_frexp_exponent_f64(tt_f64 x) {
  int e = 0;
  (void)TT__LIBRARY(frexp)(x, &e);
  return x - x == 0 ? e : 0;
}
TT_FN tt_f64 tt_frexp_part_f64(tt_f64 x) {
  int e;
  return x - x == 0 ? TT__LIBRARY(frexp)(x, &e) : x;
}
TT_FN tt_f64 tt_modf_part_f64(tt_f64 x) { /* of an infinity: 0, with its sign */
  tt_f64 whole;
  return TT__LIBRARY(modf)(x, &whole);
}
TT_FN tt_f64 tt_remainder_f64(tt_f64 x, tt_f64 y) { return TT__LIBRARY(remainder)(x, y); }
TT_FN tt_f64 tt__tens(tt_i64 n) { /* exact up to 22 */
  tt_f64 p = 1, ten = 10;
  for (; n > 0; n >>= 1, ten *= ten)
    if (n & 1) p *= ten;
  return p;
}
/* To n digits behind the point, the decimal nearest to x as it is: what is lost of x * 10**n or of x - y * 10**-n is
 * looked at where that is half way. Exact while 10**|n| is, as Python's; beyond, as NumPy's. */
TT_FN tt_f64 tt_round_f64(tt_f64 x, tt_i64 n) {
  if (x - x != 0 || n > 323) return x;
  if (n < -308) return 0 * x;
  if (n < 0) {
    tt_f64 p = tt__tens(-n), y = TT__LIBRARY(rint)(x / p), rest = tt_fma_f64(-y, p, x), middle = p / 2;
    return (rest > middle ? y + 1 : rest < -middle ? y - 1 : y) * p;
  }
  tt_f64 p = tt__tens(n < 22 ? n : 22), q = n > 22 ? tt__tens(n - 22) : 1, scaled = x * q, up = scaled * p;
  tt_f64 y = TT__LIBRARY(rint)(up), lost = tt_fma_f64(scaled, p, -up), off = up - y;
  if (up - up != 0 || up >= 0x1p53 || up <= -0x1p53) return x;
  if (off == 0.5 && lost > 0) y += 1;
  if (off == 0.5 && lost < 0) y = up - 0.5;
  if (off == -0.5 && lost < 0) y -= 1;
  if (off == -0.5 && lost > 0) y = up + 0.5;
  return y / p / q;
}

/* ---- complex numbers: plain operations here, functions where the prelude has the real ones (program_math.h) */
#define TT__COMPLEX(S, Z, F, R)                                                                             \
  TT_FN Z tt_complex_##S(tt_f64 re, tt_f64 im) {                                                            \
    Z z;                                                                                                    \
    z.re = (F)re;                                                                                           \
    z.im = (F)im;                                                                                           \
    return z;                                                                                               \
  }                                                                                                         \
  TT_FN Z tt__pair_##S(F re, F im) {                                                                        \
    Z z;                                                                                                    \
    z.re = re;                                                                                              \
    z.im = im;                                                                                              \
    return z;                                                                                               \
  }                                                                                                         \
  TT_FN Z tt_add_##S(Z a, Z b) { return tt__pair_##S(a.re + b.re, a.im + b.im); }                           \
  TT_FN Z tt_sub_##S(Z a, Z b) { return tt__pair_##S(a.re - b.re, a.im - b.im); }                           \
  TT_FN Z tt_mul_##S(Z a, Z b) {                                                                            \
    F re = TT_PRODUCT(a.re * b.re) - TT_PRODUCT(a.im * b.im);                                               \
    return tt__pair_##S(re, TT_PRODUCT(a.re * b.im) + TT_PRODUCT(a.im * b.re));                             \
  }                                                                                                         \
  TT_FN Z tt_neg_##S(Z a) { return tt__pair_##S(-a.re, -a.im); }                                            \
  TT_FN Z tt_conj_##S(Z a) { return tt__pair_##S(a.re, -a.im); }                                            \
  TT_FN F tt_real_##S(Z a) { return a.re; }                                                                 \
  TT_FN F tt_imag_##S(Z a) { return a.im; }                                                                 \
  TT_FN Z tt_square_##S(Z a) { return tt_mul_##S(a, a); }                                                   \
  TT_FN tt_b8 tt_eq_##S(Z a, Z b) { return (a.re == b.re) & (a.im == b.im); }                               \
  TT_FN tt_b8 tt_ne_##S(Z a, Z b) { return (a.re != b.re) | (a.im != b.im); }                               \
  /* Smith's way: the larger part of the divisor scales. The formulas of kernel/complex.c. */               \
  TT_FN Z tt_div_##S(Z a, Z b) {                                                                            \
    F p = tt_abs_##R(b.re), q = tt_abs_##R(b.im), big = p >= q ? b.re : b.im, small = p >= q ? b.im : b.re; \
    F ratio = small / big, scale = 1 / (big + small * ratio);                                               \
    F re = TT_PRODUCT(a.re * ratio), im = TT_PRODUCT(a.im * ratio);                                         \
    if (p == 0 && q == 0) return tt__pair_##S(a.re / p, a.im / p);                                          \
    if (p >= q) return tt__pair_##S((a.re + im) * scale, (a.im - re) * scale);                              \
    return tt__pair_##S((re + a.im) * scale, (im - a.re) * scale);                                          \
  }
TT__COMPLEX(c64, tt_c64, tt_f32, f32)
TT__COMPLEX(c128, tt_c128, tt_f64, f64)
TT_FN tt_c128 tt_cast_c64_c128(tt_c64 a) { return tt__pair_c128(a.re, a.im); }
TT_FN tt_c64 tt_cast_c128_c64(tt_c128 a) { return tt__pair_c64((tt_f32)a.re, (tt_f32)a.im); }

/* ---- atomics of the CPU: each gives the old value */
#ifndef TT_PROGRAM_GPU
#define TT__ATOMIC_LOOP(NAME, S, T, NEW)                                                      \
  static inline __attribute__((unused)) T tt_atomic_##NAME##_##S(T *p, T v) {                 \
    T old, x;                                                                                 \
    __atomic_load(p, &old, __ATOMIC_RELAXED);                                                 \
    do {                                                                                      \
      x = (NEW);                                                                              \
    } while (!__atomic_compare_exchange(p, &old, &x, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    return old;                                                                               \
  }                                                                                           \
  TT__PLAIN(NAME, S, T, NEW)
/* The same where nobody else can reach the memory: shared memory of a block, which one host thread runs. */
#define TT__PLAIN(NAME, S, T, NEW)           \
  TT_FN T tt_plain_##NAME##_##S(T *p, T v) { \
    T old = *p;                              \
    *p = (NEW);                              \
    return old;                              \
  }
#define TT__ATOMIC_ANY(S, T)                                                       \
  TT__ATOMIC_LOOP(max, S, T, v > old ? v : old)                                    \
  TT__ATOMIC_LOOP(min, S, T, v < old ? v : old)                                    \
  TT__ATOMIC_LOOP(nanmax, S, T, v != v || old > v ? old : v)                       \
  TT__ATOMIC_LOOP(nanmin, S, T, v != v || old < v ? old : v)                       \
  TT__ATOMIC_LOOP(exch, S, T, v)                                                   \
  static inline __attribute__((unused)) T tt_atomic_cas_##S(T *p, T old, T v) {    \
    __atomic_compare_exchange(p, &old, &v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return old;                                                                    \
  }                                                                                \
  TT_FN T tt_plain_cas_##S(T *p, T want, T v) {                                    \
    T old = *p;                                                                    \
    if (old == want) *p = v;                                                       \
    return old;                                                                    \
  }
#define TT__ATOMIC_INT(S, T)                                                                  \
  TT__ATOMIC_ANY(S, T)                                                                        \
  TT_FN T tt_atomic_add_##S(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); } \
  TT_FN T tt_atomic_sub_##S(T *p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); } \
  TT_FN T tt_atomic_and_##S(T *p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); } \
  TT_FN T tt_atomic_or_##S(T *p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }   \
  TT_FN T tt_atomic_xor_##S(T *p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); } \
  TT__PLAIN(add, S, T, old + v)                                                               \
  TT__PLAIN(sub, S, T, old - v)                                                               \
  TT__PLAIN(and, S, T, old &v)                                                                \
  TT__PLAIN(or, S, T, old | v)                                                                \
  TT__PLAIN(xor, S, T, old ^ v)                                                               \
  TT__ATOMIC_LOOP(inc, S, T, old >= v ? 0 : old + 1)                                          \
  TT__ATOMIC_LOOP(dec, S, T, old == 0 || old > v ? v : old - 1)
#define TT__ATOMIC_FLOAT(S, T)        \
  TT__ATOMIC_ANY(S, T)                \
  TT__ATOMIC_LOOP(add, S, T, old + v) \
  TT__ATOMIC_LOOP(sub, S, T, old - v)
TT__ATOMIC_INT(i32, tt_i32)
TT__ATOMIC_INT(u32, tt_u32)
TT__ATOMIC_INT(i64, tt_i64)
TT__ATOMIC_INT(u64, tt_u64)
TT__ATOMIC_FLOAT(f32, tt_f32)
TT__ATOMIC_FLOAT(f64, tt_f64)

/* ---- random numbers: xoroshiro128+ */
TT_FN tt_u64 tt_random_u64(tt_pcall *call) {
  tt_u64 a = call->random[0], b = call->random[1], r = a + b;
  b ^= a;
  call->random[0] = (a << 24 | a >> 40) ^ b ^ b << 16;
  call->random[1] = b << 37 | b >> 27;
  return r;
}
TT_FN tt_f64 tt_random_f64(tt_pcall *call) { return (tt_f64)(tt_random_u64(call) >> 11) * 0x1p-53; }
TT_FN tt_i64 tt_random_int(tt_pcall *call, tt_i64 lo, tt_i64 hi) {
  return hi > lo ? lo + (tt_i64)(tt_random_u64(call) % (tt_u64)(hi - lo)) : lo;
}
TT_FN tt_u64 tt__spread(tt_u64 x) {
  x ^= x >> 30;
  x *= TT_U64(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= TT_U64(0x94d049bb133111eb);
  return x ^ x >> 31;
}
TT_FN tt_i64 tt_random_seed(tt_pcall *call, tt_i64 seed) {
  call->random[0] = tt__spread((tt_u64)seed + TT_U64(0x9e3779b97f4a7c15));
  call->random[1] = tt__spread((tt_u64)seed + TT_U64(0x3c6ef372fe94f82a)) | 1;
  return 0;
}
/* np.random's: of its own state once that is seeded. */
TT_FN tt_f64 tt_random_np_f64(tt_pcall *call) {
  return TT_RARELY(call->draw != 0) ? call->draw(call, 0) : tt_random_f64(call);
}
TT_FN tt_i64 tt_random_np_int(tt_pcall *call, tt_i64 lo, tt_i64 hi) {
  return TT_RARELY(call->draw != 0) && hi > lo ? call->draw_below(call, lo, hi) : tt_random_int(call, lo, hi);
}
TT_FN tt_i64 tt_random_np_seed(tt_pcall *call, tt_i64 seed) {
  if (call->reseed) call->reseed(call, seed);
  return tt_random_seed(call, seed);
}
#elif defined(TT_PROGRAM_CUDA)
/* ---- atomics and exchanges of a GPU */
#define TT__ATOMIC_CAS(S, T, U, TO, FROM)                                                    \
  TT_FN T tt__swap_##S(T *p, T old, T v) { return FROM(atomicCAS((U *)p, TO(old), TO(v))); } \
  TT_FN T tt_atomic_cas_##S(T *p, T old, T v) { return tt__swap_##S(p, old, v); }
#define TT__SAME(x) x
#define TT__ATOMIC_LOOP(NAME, S, T, NEW)                       \
  TT_FN T tt_atomic_##NAME##_##S(T *p, T v) {                  \
    T old = *p, seen;                                          \
    for (;;) {                                                 \
      seen = tt__swap_##S(p, old, (NEW));                      \
      if (tt__words_equal(&seen, &old, sizeof(T))) return old; \
      old = seen;                                              \
    }                                                          \
  }
TT_FN bool tt__words_equal(const void *a, const void *b, int size) {
  return size == 4 ? *(const tt_u32 *)a == *(const tt_u32 *)b : *(const tt_u64 *)a == *(const tt_u64 *)b;
}
#define TT__TO_U64(x) ((unsigned long long)(x))
#define TT__TO_U32(x) ((unsigned)(x))
TT__ATOMIC_CAS(i32, tt_i32, int, TT__SAME, TT__SAME)
TT__ATOMIC_CAS(u32, tt_u32, unsigned, TT__SAME, TT__SAME)
TT__ATOMIC_CAS(i64, tt_i64, unsigned long long, TT__TO_U64, (tt_i64))
TT__ATOMIC_CAS(u64, tt_u64, unsigned long long, TT__SAME, TT__SAME)
TT__ATOMIC_CAS(f32, tt_f32, unsigned, __float_as_uint, __uint_as_float)
TT__ATOMIC_CAS(f64, tt_f64, unsigned long long, (unsigned long long)__double_as_longlong, __longlong_as_double)
#define TT__ATOMIC_ANY(S, T)                                 \
  TT__ATOMIC_LOOP(nanmax, S, T, v != v || old > v ? old : v) \
  TT__ATOMIC_LOOP(nanmin, S, T, v != v || old < v ? old : v) \
  TT__ATOMIC_LOOP(exch, S, T, v)
#define TT__ATOMIC_FLOAT(S, T)                                     \
  TT__ATOMIC_ANY(S, T)                                             \
  TT__ATOMIC_LOOP(max, S, T, v > old ? v : old)                    \
  TT__ATOMIC_LOOP(min, S, T, v < old ? v : old)                    \
  TT_FN T tt_atomic_add_##S(T *p, T v) { return atomicAdd(p, v); } \
  TT_FN T tt_atomic_sub_##S(T *p, T v) { return atomicAdd(p, -v); }
#define TT__ATOMIC_INT(S, T, U)                                                      \
  TT__ATOMIC_ANY(S, T)                                                               \
  TT_FN T tt_atomic_max_##S(T *p, T v) { return atomicMax(p, v); }                   \
  TT_FN T tt_atomic_min_##S(T *p, T v) { return atomicMin(p, v); }                   \
  TT_FN T tt_atomic_add_##S(T *p, T v) { return (T)atomicAdd((U *)p, (U)v); }        \
  TT_FN T tt_atomic_sub_##S(T *p, T v) { return (T)atomicAdd((U *)p, (U)0 - (U)v); } \
  TT_FN T tt_atomic_and_##S(T *p, T v) { return (T)atomicAnd((U *)p, (U)v); }        \
  TT_FN T tt_atomic_or_##S(T *p, T v) { return (T)atomicOr((U *)p, (U)v); }          \
  TT_FN T tt_atomic_xor_##S(T *p, T v) { return (T)atomicXor((U *)p, (U)v); }        \
  TT__ATOMIC_LOOP(inc, S, T, old >= v ? 0 : old + 1)                                 \
  TT__ATOMIC_LOOP(dec, S, T, old == 0 || old > v ? v : old - 1)
TT__ATOMIC_INT(i32, tt_i32, unsigned)
TT__ATOMIC_INT(u32, tt_u32, unsigned)
TT__ATOMIC_INT(i64, tt_i64, unsigned long long)
TT__ATOMIC_INT(u64, tt_u64, unsigned long long)
TT__ATOMIC_FLOAT(f32, tt_f32)
TT__ATOMIC_FLOAT(f64, tt_f64)

#define TT__SHUFFLE(T, U)                                                                          \
  TT_FN T tt_shfl(T x, tt_i64 lane, tt_u32 m) { return (T)__shfl_sync(m, (U)x, (int)lane); }       \
  TT_FN T tt_shfl_up(T x, tt_i64 by, tt_u32 m) { return (T)__shfl_up_sync(m, (U)x, (int)by); }     \
  TT_FN T tt_shfl_down(T x, tt_i64 by, tt_u32 m) { return (T)__shfl_down_sync(m, (U)x, (int)by); } \
  TT_FN T tt_shfl_xor(T x, tt_i64 by, tt_u32 m) { return (T)__shfl_xor_sync(m, (U)x, (int)by); }   \
  TT_FN tt_u32 tt_match(T x, tt_u32 m) { return __match_any_sync(m, (U)x); }
TT__SHUFFLE(tt_u8, unsigned)
TT__SHUFFLE(tt_i8, int)
TT__SHUFFLE(tt_u16, unsigned)
TT__SHUFFLE(tt_i16, int)
TT__SHUFFLE(tt_u32, unsigned)
TT__SHUFFLE(tt_i32, int)
TT__SHUFFLE(tt_u64, unsigned long long)
TT__SHUFFLE(tt_i64, long long)
TT__SHUFFLE(tt_f32, float)
TT__SHUFFLE(tt_f64, double)
TT_FN tt_u32 tt_ballot(tt_b8 p, tt_u32 m) { return __ballot_sync(m, p); }
TT_FN tt_b8 tt_any(tt_b8 p, tt_u32 m) { return __any_sync(m, p) != 0; }
TT_FN tt_b8 tt_all(tt_b8 p, tt_u32 m) { return __all_sync(m, p) != 0; }
TT_FN tt_u32 tt_active(tt_b8 p) { return p ? __activemask() : 0; }
TT_FN tt_i64 tt_sync_count(tt_b8 p) { return __syncthreads_count(p); }
TT_FN tt_b8 tt_sync_and(tt_b8 p) { return __syncthreads_and(p) != 0; }
TT_FN tt_b8 tt_sync_or(tt_b8 p) { return __syncthreads_or(p) != 0; }
TT_FN tt_i64 tt_lane() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31; }
#endif

#endif
