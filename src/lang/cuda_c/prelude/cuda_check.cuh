/*
** (TUTTI_CHECK=1) What the compiler calls for each access to memory that threads may share: it thinks of a thread
** sanitizer, whose library is not there; these tell the core instead. They are not instrumented themselves.
*/
#ifdef TT_CHECK
#define TT_HOOK extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"), noinline, used))
#define TT_HERE __builtin_return_address(0)
#define TT_ACCESS(name, size, kind) \
  TT_HOOK void __tsan_##name##size(void *p) { tt_core->touch(p, size, kind, TT_HERE); }
#define TT_ACCESSES(size)                                                                    \
  TT_ACCESS(read, size, TT_CUDAC_READ)                                                       \
  TT_ACCESS(write, size, TT_CUDAC_WRITE)                                                     \
  TT_ACCESS(unaligned_read, size, TT_CUDAC_READ)                                             \
  TT_ACCESS(unaligned_write, size, TT_CUDAC_WRITE)                                           \
  TT_ACCESS(volatile_read, size, TT_CUDAC_READ | TT_CUDAC_VOLATILE)                          \
  TT_ACCESS(volatile_write, size, TT_CUDAC_WRITE | TT_CUDAC_VOLATILE)                        \
  TT_ACCESS(unaligned_volatile_read, size, TT_CUDAC_READ | TT_CUDAC_VOLATILE)                \
  TT_ACCESS(unaligned_volatile_write, size, TT_CUDAC_WRITE | TT_CUDAC_VOLATILE)              \
  TT_HOOK void __tsan_read_write##size(void *p) { /* one that is read first, then written */ \
    tt_core->touch(p, size, TT_CUDAC_READ, TT_HERE);                                         \
    tt_core->touch(p, size, TT_CUDAC_WRITE, TT_HERE);                                        \
  }                                                                                          \
  TT_HOOK void __tsan_unaligned_read_write##size(void *p) {                                  \
    tt_core->touch(p, size, TT_CUDAC_READ, TT_HERE);                                         \
    tt_core->touch(p, size, TT_CUDAC_WRITE, TT_HERE);                                        \
  }
TT_ACCESSES(1)
TT_ACCESSES(2)
TT_ACCESSES(4)
TT_ACCESSES(8)
TT_ACCESSES(16)

static __attribute__((no_sanitize("thread"), noinline)) void tt_touch_range(const void *p, unsigned long size,
                                                                            unsigned kind, void *pc) {
  const char *at = (const char *)p;
  for (; size > 16; size -= 16, at += 16) tt_core->touch(at, 16, kind, pc);
  if (size) tt_core->touch(at, size, kind, pc);
}
TT_HOOK void __tsan_read_range(void *p, unsigned long n) { tt_touch_range(p, n, TT_CUDAC_READ, TT_HERE); }
TT_HOOK void __tsan_write_range(void *p, unsigned long n) { tt_touch_range(p, n, TT_CUDAC_WRITE, TT_HERE); }
#ifdef __clang__
/*
** Some versions of Clang take the C library's names for copies, in code that is not watched, too: what the core hands
** over is copied before a thread is watched.
*/
#define TT_COPY TT_HOOK __attribute__((no_builtin))
TT_COPY void *memmove(void *to, const void *from, unsigned long n) {
  volatile char *a = (volatile char *)to;
  const volatile char *b = (const volatile char *)from;
  if (tt_watching) {
    tt_touch_range(from, n, TT_CUDAC_READ, TT_HERE);
    tt_touch_range(to, n, TT_CUDAC_WRITE, TT_HERE);
  }
  if (a < b)
    for (unsigned long k = 0; k < n; k++) a[k] = b[k];
  else
    for (unsigned long k = n; k-- > 0;) a[k] = b[k];
  return to;
}
TT_COPY void *memcpy(void *to, const void *from, unsigned long n) {
  volatile char *a = (volatile char *)to;
  const volatile char *b = (const volatile char *)from;
  if (tt_watching) {
    tt_touch_range(from, n, TT_CUDAC_READ, TT_HERE);
    tt_touch_range(to, n, TT_CUDAC_WRITE, TT_HERE);
  }
  for (unsigned long k = 0; k < n; k++) a[k] = b[k];
  return to;
}
TT_COPY void *memset(void *to, int byte, unsigned long n) {
  volatile char *a = (volatile char *)to;
  if (tt_watching) tt_touch_range(to, n, TT_CUDAC_WRITE, TT_HERE);
  for (unsigned long k = 0; k < n; k++) a[k] = (char)byte;
  return to;
}
TT_HOOK void *__tsan_memmove(void *to, const void *from, unsigned long n) __attribute__((alias("memmove")));
TT_HOOK void *__tsan_memcpy(void *to, const void *from, unsigned long n) __attribute__((alias("memcpy")));
TT_HOOK void *__tsan_memset(void *to, int byte, unsigned long n) __attribute__((alias("memset")));
#endif
TT_HOOK void __tsan_vptr_update(void **p, void *) { tt_core->touch(p, sizeof *p, TT_CUDAC_WRITE, TT_HERE); }
TT_HOOK void __tsan_vptr_read(void **p) { tt_core->touch(p, sizeof *p, TT_CUDAC_READ, TT_HERE); }
/* What the sanitizers of bounds and of objects hand over. */
struct tt_ub_type {
  unsigned short kind, info; /* info of an integer: the logarithm of its bits above a bit that says it has a sign */
  char name[1];
};
struct tt_ub_place {
  const char *file;
  unsigned line, column;
};
struct tt_ub_bounds {
  tt_ub_place place;
  const tt_ub_type *array, *index;
};
struct tt_ub_access {
  tt_ub_place place;
  const tt_ub_type *type;
  unsigned char align, kind;
};
TT_HOOK void __ubsan_handle_out_of_bounds(void *told, void *value) {
  const tt_ub_bounds *t = (const tt_ub_bounds *)told;
  int unused = 64 - (1 << (t->index->info >> 1)); /* bits: the value may stand there without its sign */
  long index = (long)value;
  if (unused > 0 && (t->index->info & 1)) index = (long)((unsigned long)index << unused) >> unused;
  tt_core->beyond(t->array->name, index, TT_HERE);
}
TT_HOOK void __ubsan_handle_type_mismatch_v1(void *told, void *at) {
  const tt_ub_access *t = (const tt_ub_access *)told;
  tt_core->strays(t->type->name, at, t->kind == 1 ? TT_CUDAC_WRITE : TT_CUDAC_READ, TT_HERE);
}

TT_HOOK void __tsan_init() {}
TT_HOOK void __tsan_func_entry(void *) {}
TT_HOOK void __tsan_func_exit() {}
TT_HOOK void __tsan_atomic_thread_fence(int) { tt_core->fence(); }
TT_HOOK void __tsan_atomic_signal_fence(int) { tt_core->fence(); }

/* All threads of a checked launch run on one processor thread, so that what is told is done plainly. */
#define TT_UPDATE (TT_CUDAC_WRITE | TT_CUDAC_ATOMIC | TT_CUDAC_UPDATE)
#define TT_CHANGE(bits, T, name, expr)                              \
  TT_HOOK T __tsan_atomic##bits##_##name(volatile T *p, T v, int) { \
    tt_core->touch((const void *)p, sizeof v, TT_UPDATE, TT_HERE);  \
    T x = *p;                                                       \
    *p = (T)(expr);                                                 \
    return x;                                                       \
  }
#define TT_EXCHANGE(bits, T, name)                                                                   \
  TT_HOOK int __tsan_atomic##bits##_compare_exchange_##name(volatile T *p, T *want, T v, int, int) { \
    tt_core->touch((const void *)p, sizeof v, TT_UPDATE, TT_HERE);                                   \
    T x = *p;                                                                                        \
    bool same = x == *want;                                                                          \
    if (same) *p = v;                                                                                \
    *want = x;                                                                                       \
    return same;                                                                                     \
  }
#define TT_ATOMICS(bits, T)                                                                    \
  TT_CHANGE(bits, T, fetch_add, x + v)                                                         \
  TT_CHANGE(bits, T, fetch_sub, x - v)                                                         \
  TT_CHANGE(bits, T, fetch_and, x &v)                                                          \
  TT_CHANGE(bits, T, fetch_or, x | v)                                                          \
  TT_CHANGE(bits, T, fetch_xor, x ^ v)                                                         \
  TT_CHANGE(bits, T, fetch_nand, ~(x & v))                                                     \
  TT_HOOK T __tsan_atomic##bits##_exchange(volatile T *p, T v, int) {                          \
    tt_core->touch((const void *)p, sizeof v, TT_CUDAC_WRITE | TT_CUDAC_ATOMIC, TT_HERE);      \
    T x = *p;                                                                                  \
    *p = v;                                                                                    \
    return x;                                                                                  \
  }                                                                                            \
  TT_HOOK T __tsan_atomic##bits##_load(const volatile T *p, int) {                             \
    tt_core->touch((const void *)p, sizeof *p, TT_CUDAC_READ | TT_CUDAC_ATOMIC, TT_HERE);      \
    return *p;                                                                                 \
  }                                                                                            \
  TT_HOOK void __tsan_atomic##bits##_store(volatile T *p, T v, int) {                          \
    tt_core->touch((const void *)p, sizeof v, TT_CUDAC_WRITE | TT_CUDAC_ATOMIC, TT_HERE);      \
    *p = v;                                                                                    \
  }                                                                                            \
  TT_EXCHANGE(bits, T, strong)                                                                 \
  TT_EXCHANGE(bits, T, weak)                                                                   \
  TT_HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T want, T v, int, int) { \
    tt_core->touch((const void *)p, sizeof v, TT_UPDATE, TT_HERE);                             \
    T x = *p;                                                                                  \
    if (x == want) *p = v;                                                                     \
    return x;                                                                                  \
  }
TT_ATOMICS(8, unsigned char)
TT_ATOMICS(16, unsigned short)
TT_ATOMICS(32, unsigned)
TT_ATOMICS(64, unsigned long)

static __thread char tt_gap_here; /* shared memory lies round it */
static __attribute__((no_sanitize("thread"))) void *tt_where() { return &tt_gap_here; }
TT_INLINE void tt_leaves() { tt_core->leaves(); }
#else
TT_INLINE void *tt_where() { return nullptr; }
#endif
