/*
** What rendered programs call, as text: it stands below prelude.h and includes nothing. Complex numbers, words,
** atomics, random numbers, what C makes of NumPy's slices.
*/
/* clang-format off: rows of macros without semicolons are beyond it */
#ifndef TT_RENDER_PROC_PROC_TEXT_H
#define TT_RENDER_PROC_PROC_TEXT_H

enum { TT_EDEVICE = 13, TT_EZERODIV = 7, TT_ENOMEM = 1, TT_EVALUE = 2, TT_CHUNKS = 256, TT_THREADS = 1024 };
#if defined(TT_PROGRAM_CUDA)
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
#if defined(TT_PROGRAM_CUDA) || defined(__clang__)
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

#ifndef TT_PROGRAM_CUDA
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
#else
typedef const tt_i64 tt_pcall; /* the words of the hidden arrays */
#define TT_HIDDEN_WORDS call
#define TT_FENCE() __threadfence()
#endif

#ifndef TT_PROGRAM_CUDA
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
  l->room = TT_LIST_FIRST / words;
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

#ifndef TT_PROGRAM_CUDA
/* ---- strings: lists of code points that nobody changes */
enum {
  TT_TEXT_BOOL = 0,
  TT_TEXT_I64 = 4,
  TT_TEXT_U64 = 8,
  TT_TEXT_F64 = 12,
  TT_TEXT_C128 = 14
};                           /* types for `format` */
static tt_list tt_text_none; /* where there is no memory */
TT_FN tt_b8 tt_text_there(const tt_list *s) { return s != &tt_text_none; }
TT_FN tt_i64 tt_word_text(const tt_list *s) { return (tt_i64)s; }
static __attribute__((unused)) tt_list *tt_text_new(tt_pcall *call, tt_i64 n) {
  tt_list *l = n < 0 || n > TT_I64(0x1000000000000) ? 0 : (tt_list *)tt_list_memory(call, (tt_i64)sizeof *l + n * 8);
  if (TT_RARELY(!l)) return &tt_text_none;
  l->w = (tt_i64 *)(l + 1);
  l->n = l->room = n;
  return l;
}
/* Fields of records: code points in n places of so many bytes, the last ones zero. */
static __attribute__((unused)) tt_list *tt_text_of_chars(tt_pcall *call, tt_i64 at, tt_i64 n, tt_i64 step) {
  tt_u32 code = 0;
  for (; n > 0; n--) {
    __builtin_memcpy(&code, (const char *)at + (n - 1) * step, 4);
    if (code) break;
  }
  tt_list *l = tt_text_new(call, n);
  if (l == &tt_text_none) tt_fail(call, TT_ENOMEM, "out of memory", 0);
  for (tt_i64 k = 0; k < l->n; k++) {
    __builtin_memcpy(&code, (const char *)at + k * step, 4);
    l->w[k] = code;
  }
  return l;
}
static __attribute__((unused)) tt_i64 tt_chars_put(tt_i64 at, tt_i64 n, tt_i64 step, const tt_list *s) {
  for (tt_i64 k = 0; k < n; k++) {
    const tt_u32 code = k < s->n ? (tt_u32)s->w[k] : 0;
    __builtin_memcpy((char *)at + k * step, &code, 4);
  }
  return 0;
}
TT_FN void tt_text_put(tt_i64 *to, const tt_list *s) {
  if (s->n) __builtin_memcpy(to, s->w, (unsigned long)s->n * 8);
}
static __attribute__((unused)) tt_list *tt_text_part(tt_pcall *call, const tt_list *s, tt_i64 lo, tt_i64 hi) {
  tt_list *l = tt_text_new(call, hi - lo);
  if (l->n) __builtin_memcpy(l->w, s->w + lo, (unsigned long)l->n * 8);
  return l;
}
static __attribute__((unused)) tt_list *tt_text_char(tt_pcall *call, tt_i64 code) {
  tt_list *l = tt_text_new(call, 1);
  if (l->n) l->w[0] = code;
  return l;
}
static __attribute__((unused)) tt_list *tt_text_join(tt_pcall *call, const tt_list *a, const tt_list *b) {
  tt_list *l = tt_text_new(call, a->n + b->n);
  if (!l->n) return l;
  tt_text_put(l->w, a);
  tt_text_put(l->w + a->n, b);
  return l;
}
static __attribute__((unused)) tt_list *tt_text_repeat(tt_pcall *call, const tt_list *s, tt_i64 times) {
  tt_i64 n = 0;
  if (times > 0 && __builtin_mul_overflow(s->n, times, &n)) return &tt_text_none;
  tt_list *l = tt_text_new(call, n);
  for (tt_i64 k = 0; k < l->n; k += s->n) tt_text_put(l->w + k, s);
  return l;
}
TT_FN tt_i64 tt_text_compare(const tt_list *a, const tt_list *b) {
  for (tt_i64 k = 0; k < a->n && k < b->n; k++)
    if (a->w[k] != b->w[k]) return a->w[k] < b->w[k] ? -1 : 1;
  return (a->n > b->n) - (a->n < b->n);
}
TT_FN tt_u64 tt_text_turn(const tt_list *s) {
  tt_u64 x = TT_U64(0xcbf29ce484222325);
  for (tt_i64 k = 0; k < s->n; k++) x = (x ^ (tt_u64)s->w[k]) * TT_U64(0x100000001b3);
  return x ^ x >> 29;
}
TT_FN tt_b8 tt_text_at(const tt_list *s, const tt_list *part, tt_i64 at) {
  for (tt_i64 k = 0; k < part->n; k++)
    if (s->w[at + k] != part->w[k]) return 0;
  return 1;
}
/* Bounds as Python cuts them. */
TT_FN tt_i64 tt_text_bound(tt_i64 at, tt_i64 n) { return at < 0 ? (at + n < 0 ? 0 : at + n) : at > n ? n : at; }
/* The first place of a part in [lo, hi), or the last one; -1: there is none. */
TT_FN tt_i64 tt_text_find(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi) {
  if (lo > s->n) return -1;
  hi = tt_text_bound(hi, s->n);
  for (tt_i64 k = tt_text_bound(lo, s->n); k + part->n <= hi; k++)
    if (tt_text_at(s, part, k)) return k;
  return -1;
}
TT_FN tt_i64 tt_text_rfind(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi) {
  if (lo > s->n) return -1;
  lo = tt_text_bound(lo, s->n);
  for (tt_i64 k = tt_text_bound(hi, s->n) - part->n; k >= lo; k--)
    if (tt_text_at(s, part, k)) return k;
  return -1;
}
TT_FN tt_i64 tt_text_count(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi) {
  if (lo > s->n) return 0;
  lo = tt_text_bound(lo, s->n);
  hi = tt_text_bound(hi, s->n);
  if (!part->n) return hi < lo ? 0 : hi - lo + 1;
  tt_i64 n = 0;
  for (tt_i64 k = lo; (k = tt_text_find(s, part, k, hi)) >= 0; k += part->n) n++;
  return n;
}
TT_FN tt_b8 tt_text_starts(const tt_list *s, const tt_list *part) { return part->n <= s->n && tt_text_at(s, part, 0); }
TT_FN tt_b8 tt_text_ends(const tt_list *s, const tt_list *part) {
  return part->n <= s->n && tt_text_at(s, part, s->n - part->n);
}
/* Does the part begin (end: at_end) what lies in [lo, hi)? */
static __attribute__((unused)) tt_b8 tt_text_edge(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi,
                                                  tt_b8 at_end) {
  if (lo < 0) lo = lo + s->n < 0 ? 0 : lo + s->n;
  if (hi < 0) hi = hi + s->n < 0 ? 0 : hi + s->n;
  if (hi > s->n) hi = s->n;
  if (lo > hi || part->n > hi - lo) return 0;
  return tt_text_at(s, part, at_end ? hi - part->n : lo);
}
TT_FN tt_b8 tt_text_has(const tt_list *set, tt_i64 code) {
  for (tt_i64 k = 0; k < set->n; k++)
    if (set->w[k] == code) return 1;
  return 0;
}
/* Without characters of the set at the beginning (ends & 1) and at the end (ends & 2). */
static __attribute__((unused)) tt_list *tt_text_strip(tt_pcall *call, const tt_list *s, const tt_list *set,
                                                      tt_i64 ends) {
  tt_i64 lo = 0, hi = s->n;
  while (ends & 1 && lo < hi && tt_text_has(set, s->w[lo])) lo++;
  while (ends & 2 && lo < hi && tt_text_has(set, s->w[hi - 1])) hi--;
  return tt_text_part(call, s, lo, hi);
}
/* As wide as asked: filled at the end (0), at the beginning (1), on both sides (2), behind a sign (3). */
static __attribute__((unused)) tt_list *tt_text_pad(tt_pcall *call, const tt_list *s, tt_i64 width, const tt_list *with,
                                                    tt_i64 how) {
  tt_i64 more = width > s->n ? width - s->n : 0;
  tt_i64 before = how == 0 ? 0 : how == 2 ? more / 2 + (more & width & 1) : more;
  tt_list *l = tt_text_new(call, s->n + more);
  if (!l->n) return l;
  for (tt_i64 k = 0; k < l->n; k++) l->w[k] = with->w[0];
  tt_text_put(l->w + before, s);
  if (how == 3 && more && s->n && (s->w[0] == '-' || s->w[0] == '+')) {
    l->w[before] = '0';
    l->w[0] = s->w[0];
  }
  return l;
}
TT_FN tt_b8 tt_text_is_space(tt_i64 c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}
TT_FN tt_b8 tt_text_add(tt_pcall *call, tt_list *to, const tt_list *s, tt_i64 lo, tt_i64 hi) {
  tt_list *part = tt_text_part(call, s, lo, hi);
  if (!tt_text_there(part) || !tt_list_resize(call, to, to->n + 1, 1)) return 0;
  to->w[to->n - 1] = (tt_i64)part;
  return 1;
}
/* At most so many cuts, where that is not below zero; an empty `by` is white space. */
static __attribute__((unused)) tt_list *tt_text_split(tt_pcall *call, const tt_list *s, const tt_list *by,
                                                      tt_i64 most) {
  tt_list *l = tt_list_new(call, 1);
  tt_i64 lo = 0, cuts = 0;
  for (;;) {
    if (!by->n)
      while (lo < s->n && tt_text_is_space(s->w[lo])) lo++;
    if (!by->n && lo == s->n) return l;
    tt_i64 hi = lo;
    if (most >= 0 && cuts == most)
      hi = s->n;
    else if (by->n)
      hi = tt_text_find(s, by, lo, s->n);
    else
      while (hi < s->n && !tt_text_is_space(s->w[hi])) hi++;
    const tt_b8 last = hi < 0 || hi == s->n;
    if (hi < 0) hi = s->n;
    tt_i64 end = hi;
    if (!by->n && most >= 0 && cuts == most)
      while (end > lo && tt_text_is_space(s->w[end - 1])) end--;
    if (!tt_text_add(call, l, s, lo, end)) return &tt_text_none;
    if (last && (!by->n || hi == s->n) && (!by->n || tt_text_find(s, by, lo, s->n) < 0 || (most >= 0 && cuts == most)))
      return l;
    lo = hi + (by->n ? by->n : 1);
    cuts++;
  }
}
/* As split, from the end on; the pieces are found last first. */
static __attribute__((unused)) tt_list *tt_text_rsplit(tt_pcall *call, const tt_list *s, const tt_list *by,
                                                       tt_i64 most) {
  tt_list *l = tt_list_new(call, 1);
  tt_i64 hi = s->n;
  while (1) {
    tt_i64 at, lo;
    if (by->n == 0) {
      while (hi > 0 && tt_text_is_space(s->w[hi - 1])) hi--;
      if (hi == 0) break;
      for (lo = hi; lo > 0 && !tt_text_is_space(s->w[lo - 1]);) lo--;
      if (most >= 0 && l->n >= most) lo = 0;
      at = lo - 1;
    } else {
      at = most >= 0 && l->n >= most ? -1 : tt_text_rfind(s, by, 0, hi);
      lo = at < 0 ? 0 : at + by->n;
    }
    if (!tt_text_add(call, l, s, lo, hi)) return &tt_text_none;
    if (at < 0) break;
    hi = at;
  }
  for (tt_i64 k = 0; k < l->n / 2; k++) {
    const tt_i64 w = l->w[k];
    l->w[k] = l->w[l->n - 1 - k];
    l->w[l->n - 1 - k] = w;
  }
  return l;
}
/* ---- what letters are: bits of call->letter(code, 0, 0) */
enum {
  TT_IS_ALPHA = 1, TT_IS_DECIMAL = 2, TT_IS_DIGIT = 4, TT_IS_NUMERIC = 8, TT_IS_SPACE = 16, TT_IS_LOWER = 32,
  TT_IS_UPPER = 64, TT_IS_TITLE = 128, TT_IS_PRINTABLE = 256, TT_IS_FIRST = 512, TT_IS_LATER = 1024,
  TT_IS_CASED = 2048, TT_IS_SEEN_THROUGH = 4096
};
/* Is each letter of one of these kinds, and is there one? */
static __attribute__((unused)) tt_b8 tt_text_all(tt_pcall *call, const tt_list *s, tt_i64 kinds, tt_b8 empty) {
  for (tt_i64 k = 0; k < s->n; k++)
    if (!(call->letter(s->w[k], 0, 0) & kinds)) return 0;
  return s->n > 0 || empty;
}
static __attribute__((unused)) tt_b8 tt_text_ascii(const tt_list *s) {
  for (tt_i64 k = 0; k < s->n; k++)
    if (s->w[k] > 127) return 0;
  return 1;
}
static __attribute__((unused)) tt_b8 tt_text_name(tt_pcall *call, const tt_list *s) {
  for (tt_i64 k = 0; k < s->n; k++)
    if (!(call->letter(s->w[k], 0, 0) & (k ? TT_IS_LATER : TT_IS_FIRST))) return 0;
  return s->n > 0;
}
/* All that has case has this one; the others are `never`. */
static __attribute__((unused)) tt_b8 tt_text_cased(tt_pcall *call, const tt_list *s, tt_i64 is, tt_i64 never) {
  tt_b8 any = 0;
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_i64 kinds = call->letter(s->w[k], 0, 0);
    if (kinds & never) return 0;
    any |= (kinds & is) != 0;
  }
  return any;
}
static __attribute__((unused)) tt_b8 tt_text_titled(tt_pcall *call, const tt_list *s) {
  tt_b8 any = 0, cased = 0;
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_i64 kinds = call->letter(s->w[k], 0, 0);
    if (kinds & (TT_IS_UPPER | TT_IS_TITLE)) {
      if (cased) return 0;
      any = cased = 1;
    } else if (kinds & TT_IS_LOWER) {
      if (!cased) return 0;
      any = 1;
    } else {
      cased = 0;
    }
  }
  return any;
}
/* Sigma at the end of a word is another letter. */
static __attribute__((unused)) tt_b8 tt_text_final(tt_pcall *call, const tt_list *s, tt_i64 at) {
  tt_i64 k = at - 1;
  while (k >= 0 && call->letter(s->w[k], 0, 0) & TT_IS_SEEN_THROUGH) k--;
  if (k < 0 || !(call->letter(s->w[k], 0, 0) & TT_IS_CASED)) return 0;
  for (k = at + 1; k < s->n && call->letter(s->w[k], 0, 0) & TT_IS_SEEN_THROUGH;) k++;
  return k == s->n || !(call->letter(s->w[k], 0, 0) & TT_IS_CASED);
}
enum { TT_LOWER = 1, TT_UPPER, TT_TITLE, TT_FOLD, TT_CAPITALIZE, TT_SWAPCASE };
static __attribute__((unused)) tt_list *tt_text_case(tt_pcall *call, const tt_list *s, tt_i64 how) {
  tt_list *l = 0;
  for (int writes = 0; writes < 2; writes++) {
    tt_i64 n = 0;
    tt_b8 cased = 0;
    for (tt_i64 k = 0; k < s->n; k++) {
      tt_u32 out[3];
      const tt_i64 c = s->w[k], kinds = how == TT_TITLE || how == TT_SWAPCASE ? call->letter(c, 0, 0) : 0;
      tt_i64 what = how, one;
      if (how == TT_CAPITALIZE) what = k ? TT_LOWER : TT_TITLE;
      if (how == TT_TITLE) what = cased ? TT_LOWER : TT_TITLE;
      if (how == TT_SWAPCASE) what = kinds & TT_IS_UPPER ? TT_LOWER : kinds & TT_IS_LOWER ? TT_UPPER : 0;
      cased = (kinds & TT_IS_CASED) != 0;
      if (what == TT_LOWER && c == 0x3a3 && tt_text_final(call, s, k))
        one = 1, out[0] = 0x3c2;
      else if (what)
        one = call->letter(c, what, out);
      else
        one = 1, out[0] = (tt_u32)c;
      for (tt_i64 i = 0; writes && i < one; i++) l->w[n + i] = out[i];
      n += one;
    }
    if (!writes && !tt_text_there(l = tt_text_new(call, n))) return l;
  }
  return l;
}
TT_FN tt_b8 tt_text_ends_line(tt_i64 c) {
  return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}
static __attribute__((unused)) tt_list *tt_text_lines(tt_pcall *call, const tt_list *s, tt_b8 keep) {
  tt_list *l = tt_list_new(call, 1);
  for (tt_i64 lo = 0, hi, next; lo < s->n; lo = next) {
    for (hi = lo; hi < s->n && !tt_text_ends_line(s->w[hi]);) hi++;
    next = hi < s->n ? hi + 1 : hi;
    if (next < s->n && s->w[hi] == 13 && s->w[next] == 10) next++;
    if (!tt_text_add(call, l, s, lo, keep ? next : hi)) return &tt_text_none;
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_expand(tt_pcall *call, const tt_list *s, tt_i64 size) {
  tt_i64 n = 0, column = 0;
  tt_list *l = 0;
  for (int writes = 0; writes < 2; writes++) {
    n = column = 0;
    for (tt_i64 k = 0; k < s->n; k++) {
      const tt_i64 c = s->w[k];
      const tt_i64 times = c != 9 ? 1 : size > 0 ? size - column % size : 0;
      for (tt_i64 i = 0; writes && i < times; i++) l->w[n + i] = c == 9 ? 32 : c;
      n += times;
      column = c == 10 || c == 13 ? 0 : column + times;
    }
    if (!writes && !tt_text_there(l = tt_text_new(call, n))) return l;
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_join_list(tt_pcall *call, const tt_list *between,
                                                          const tt_list *parts) {
  tt_i64 n = parts->n ? between->n * (parts->n - 1) : 0, at = 0;
  for (tt_i64 k = 0; k < parts->n; k++) n += ((const tt_list *)parts->w[k])->n;
  tt_list *l = tt_text_new(call, n);
  for (tt_i64 k = 0; k < parts->n && l->n; k++) {
    const tt_list *part = (const tt_list *)parts->w[k];
    if (k) tt_text_put(l->w + at, between), at += between->n;
    tt_text_put(l->w + at, part);
    at += part->n;
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_spread(tt_pcall *call, const tt_list *between, const tt_list *s) {
  tt_i64 at = 0;
  tt_list *l = tt_text_new(call, s->n ? s->n + between->n * (s->n - 1) : 0);
  for (tt_i64 k = 0; k < s->n && l->n; k++) {
    if (k) tt_text_put(l->w + at, between), at += between->n;
    l->w[at++] = s->w[k];
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_replace(tt_pcall *call, const tt_list *s, const tt_list *old,
                                                        const tt_list *by, tt_i64 most) {
  tt_i64 times = tt_text_count(s, old, 0, s->n), from = 0, at = 0;
  if (most >= 0 && times > most) times = most;
  tt_list *l = tt_text_new(call, s->n + times * (by->n - old->n));
  if (!l->n) return l;
  for (tt_i64 k = 0; k < times; k++) {
    tt_i64 hit = old->n ? tt_text_find(s, old, from, s->n) : k;
    for (; from < hit; from++) l->w[at++] = s->w[from];
    tt_text_put(l->w + at, by);
    at += by->n;
    from += old->n;
  }
  for (; from < s->n; from++) l->w[at++] = s->w[from];
  return l;
}
static __attribute__((unused)) tt_list *tt_text_of(tt_pcall *call, tt_i64 dtype, const tt_i64 *word) {
  const char *s = call->format(call, dtype, word);
  tt_list *l = s ? tt_text_new(call, (tt_i64)__builtin_strlen(s)) : &tt_text_none;
  for (tt_i64 k = 0; k < l->n; k++) l->w[k] = s[k];
  return l;
}
static __attribute__((unused)) tt_list *tt_text_of_i64(tt_pcall *call, tt_i64 x) {
  return tt_text_of(call, TT_TEXT_I64, &x);
}
static __attribute__((unused)) tt_list *tt_text_of_b8(tt_pcall *call, tt_i64 x) {
  return tt_text_of(call, TT_TEXT_BOOL, &x);
}
static __attribute__((unused)) tt_list *tt_text_of_u64(tt_pcall *call, tt_u64 x) {
  tt_i64 w = (tt_i64)x;
  return tt_text_of(call, TT_TEXT_U64, &w);
}
static __attribute__((unused)) tt_list *tt_text_of_f64(tt_pcall *call, tt_f64 x) {
  tt_i64 w;
  __builtin_memcpy(&w, &x, 8);
  return tt_text_of(call, TT_TEXT_F64, &w);
}
static __attribute__((unused)) tt_list *tt_text_of_c128(tt_pcall *call, tt_f64 re, tt_f64 im) {
  tt_i64 w[2];
  __builtin_memcpy(w, &re, 8);
  __builtin_memcpy(w + 1, &im, 8);
  return tt_text_of(call, TT_TEXT_C128, w);
}
/* As Python writes it, in plain letters. */
static __attribute__((unused)) tt_list *tt_text_quoted(tt_pcall *call, const tt_list *s) {
  tt_i64 n = 2, at = 0;
  for (tt_i64 k = 0; k < s->n; k++) n += s->w[k] > 31 && s->w[k] < 127 && s->w[k] != 39 && s->w[k] != 92 ? 1 : 10;
  tt_list *l = tt_text_new(call, n);
  if (!l->n) return l;
  l->w[at++] = 39;
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_i64 c = s->w[k];
    if (c > 31 && c < 127 && c != 39 && c != 92) {
      l->w[at++] = c;
      continue;
    }
    l->w[at++] = 92;
    l->w[at++] = 'U';
    for (int j = 28; j >= 0; j -= 4) l->w[at++] = "0123456789abcdef"[c >> j & 15];
  }
  l->w[at] = 39;
  return l;
}
/* As UTF-8 for the host. */
static __attribute__((unused)) const char *tt_text_bytes(tt_pcall *call, const tt_list *s) {
  unsigned char *out = (unsigned char *)tt_list_memory(call, s->n * 4 + 8), *p = out;
  if (!out) return "";
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_u32 c = (tt_u32)s->w[k];
    if (c < 0x80) {
      *p++ = (unsigned char)c;
    } else {
      const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      *p++ = (unsigned char)((0xff00 >> (more + 1) & 0xff) | c >> 6 * more);
      for (int j = more - 1; j >= 0; j--) *p++ = (unsigned char)(0x80 | (c >> 6 * j & 0x3f));
    }
  }
  *p = 0;
  return (const char *)out;
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

#ifndef TT_PROGRAM_CUDA
/* Items in order, equal ones as they were: runs of twice the length each time, from one half of the memory to the
 * other. */
#define TT__SORT(S)                                                                               \
  static __attribute__((unused)) tt_b8 tt_list_sort_##S(tt_pcall *call, tt_list *l, tt_b8 down) { \
    tt_i64 n = l->n, *from = l->w, *to = n > 1 ? (tt_i64 *)call->alloc(call, n * 8, 0) : 0;       \
    if (n < 2) return 1;                                                                          \
    if (!to) return 0;                                                                            \
    for (tt_i64 run = 1; run < n; run *= 2) {                                                     \
      for (tt_i64 low = 0; low < n; low += 2 * run) {                                             \
        tt_i64 half = low + run < n ? low + run : n, end = half + run < n ? half + run : n;       \
        for (tt_i64 at = low, a = low, b = half; at < end; at++) {                                \
          tt_b8 second = a == half;                                                               \
          if (a < half && b < end) {                                                              \
            tt_##S x = tt_of_words_##S(from + a), y = tt_of_words_##S(from + b);                  \
            second = down ? x < y : y < x;                                                        \
          }                                                                                       \
          to[at] = from[second ? b++ : a++];                                                      \
        }                                                                                         \
      }                                                                                           \
      tt_i64 *other = from;                                                                       \
      from = to;                                                                                  \
      to = other;                                                                                 \
    }                                                                                             \
    if (from != l->w) __builtin_memcpy(l->w, from, (unsigned long)n * 8);                         \
    return 1;                                                                                     \
  }
TT__SORT(b8)
TT__SORT(i8)
TT__SORT(i16)
TT__SORT(i32)
TT__SORT(i64)
TT__SORT(u8)
TT__SORT(u16)
TT__SORT(u32)
TT__SORT(u64)
TT__SORT(f32)
TT__SORT(f64)
#endif

/* ---- indices */
#ifdef TT_PROGRAM_CUDA
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
#if defined(__x86_64__) && !defined(TT_PROGRAM_CUDA)
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
#ifdef TT_PROGRAM_CUDA
#define TT__LIBRARY(NAME) NAME
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
    tt_f64 p = tt__tens(-n), y = TT__LIBRARY(rint)(x / p), rest = tt_fma_f64(-y, p, x), half = p / 2;
    return (rest > half ? y + 1 : rest < -half ? y - 1 : y) * p;
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
#ifndef TT_PROGRAM_CUDA
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
/* ---- dictionaries: entries in the order of their keys, (there, key, value words), and an index of twice their room */
typedef struct {
  tt_i64 *w;
  tt_i64 n, room;
  tt_i32 *slot; /* place + 1 of the entry whose key's turn is here; 0: of none */
  tt_i64 nslot, live;
} tt_dict;
static __attribute__((unused)) tt_list *tt_dict_new(tt_pcall *call, tt_i64 words) {
  static tt_dict none;
  tt_dict *d = (tt_dict *)tt_list_memory(call, (tt_i64)sizeof *d);
  (void)words;
  if (TT_RARELY(!d)) {
    tt_fail(call, TT_ENOMEM, "out of memory", 0);
    d = &none;
  }
  __builtin_memset(d, 0, sizeof *d);
  return (tt_list *)d;
}
/* Keys are words, or addresses of strings, which `words` below zero says. */
TT_FN tt_u64 tt_dict_turn(tt_i64 key, int text) {
  if (text) return tt_text_turn((const tt_list *)key);
  tt_u64 x = (tt_u64)key * TT_U64(0x9e3779b97f4a7c15);
  return x ^ x >> 32;
}
TT_FN void tt_dict_enter(tt_dict *d, tt_i64 place, tt_i64 key, int text) {
  tt_u64 at = tt_dict_turn(key, text);
  while (d->slot[at & (tt_u64)(d->nslot - 1)]) at++;
  d->slot[at & (tt_u64)(d->nslot - 1)] = (tt_i32)(place + 1);
}
/* Room for more entries, without those that are gone, and a new index. */
static __attribute__((noinline, unused)) tt_b8 tt_dict_grow(tt_pcall *call, tt_dict *d, tt_i64 words, int text) {
  tt_i64 room = d->live < 4 ? 8 : d->live * 2, nslot = 16, n = 0;
  while (nslot < room * 2) nslot *= 2;
  tt_i64 *w = *call->failed || room > 1 << 30 ? 0 : (tt_i64 *)tt_list_memory(call, room * words * 8);
  tt_i32 *slot = w ? (tt_i32 *)tt_list_memory(call, nslot * 4) : 0;
  if (!slot) {
    tt_fail(call, TT_ENOMEM, "out of memory", 0);
    return 0;
  }
  __builtin_memset(slot, 0, (unsigned long)nslot * 4);
  d->slot = slot;
  d->nslot = nslot;
  for (tt_i64 k = 0; k < d->n; k++) {
    if (!d->w[k * words]) continue;
    __builtin_memcpy(w + n * words, d->w + k * words, (unsigned long)words * 8);
    tt_dict_enter(d, n, w[n * words + 1], text);
    n++;
  }
  d->w = w;
  d->n = n;
  d->room = room;
  return 1;
}
TT_FN tt_i64 tt_dict_find(tt_pcall *call, tt_list *l, tt_i64 key, tt_i64 words) {
  tt_dict *d = (tt_dict *)l;
  const int text = words < 0;
  if (text) words = -words;
  if (TT_RARELY(!d->nslot) && (!d->n || !tt_dict_grow(call, d, words, text))) return -1;
  for (tt_u64 at = tt_dict_turn(key, text);; at++) {
    tt_i64 k = d->slot[at & (tt_u64)(d->nslot - 1)] - 1;
    if (k < 0) return -1;
    const tt_i64 there = d->w[k * words + 1];
    if ((text ? !tt_text_compare((const tt_list *)there, (const tt_list *)key) : there == key) && d->w[k * words])
      return k;
  }
}
TT_FN tt_i64 tt_dict_put(tt_pcall *call, tt_list *l, tt_i64 key, tt_i64 words) {
  tt_dict *d = (tt_dict *)l;
  tt_i64 k = tt_dict_find(call, l, key, words);
  const int text = words < 0;
  if (k >= 0) return k;
  if (text) words = -words;
  if (TT_RARELY(d->n == d->room) && !tt_dict_grow(call, d, words, text)) return -1;
  k = d->n++;
  d->w[k * words] = 1;
  d->w[k * words + 1] = key;
  d->live++;
  tt_dict_enter(d, k, key, text);
  return k;
}
TT_FN tt_i64 tt_dict_drop(tt_pcall *call, tt_list *l, tt_i64 k, tt_i64 words) {
  (void)call;
  if (words < 0) words = -words;
  l->w[k * words] = 0;
  return --((tt_dict *)l)->live;
}
TT_FN tt_i64 tt_dict_live(tt_pcall *call, tt_list *l) {
  (void)call;
  return ((tt_dict *)l)->live;
}
TT_FN tt_i64 tt_dict_clear(tt_pcall *call, tt_list *l) {
  (void)call;
  __builtin_memset(l, 0, sizeof(tt_dict));
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
#else
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
