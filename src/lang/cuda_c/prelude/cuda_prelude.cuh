/*
** What CUDA C takes for granted, for programs that run on the CPU: built-in variables, barriers and warps, how a
** kernel becomes an entry. C++17 text behind cudac_abi.h, in front of the user's; it includes nothing, so that a
** program compiles fast. The words __global__, __device__, __shared__ and __constant__ are not macros: the scanner
** replaces them.
*/
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
typedef unsigned long uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;

#define TT_INLINE static inline __attribute__((always_inline))
#define TT_MEMBER __attribute__((always_inline)) inline
#define TT_UNUSED __attribute__((unused))

/* 0, 1, ... N - 1 as a pack. */
template <int... I>
struct tt_numbers {};
template <int N, int... I>
struct tt_count : tt_count<N - 1, N - 1, I...> {};
template <int... I>
struct tt_count<0, I...> {
  typedef tt_numbers<I...> type;
};

static const tt_cudac_core *tt_core;

/* ---- where a thread is. Nobody takes the address of these, so that they become registers in a loop over threads. */

struct tt_uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(tt_uint3 u) : x(u.x), y(u.y), z(u.z) {}
  constexpr operator tt_uint3() const { return tt_uint3{x, y, z}; }
};
#ifdef TT_CHECK /* one launch at a time, and they lie apart from shared memory */
#define TT_PLACE static
#else
#define TT_PLACE static __thread
#endif
TT_PLACE tt_uint3 threadIdx, blockIdx, blockDim, gridDim; /* (dim3 has a constructor, these must not) */
TT_PLACE int tt_global_x; /* blockIdx.x * blockDim.x + threadIdx.x, when it is below 2^31: tt_index_x */
TT_PLACE void *tt_dynamic_shared;
static constexpr int warpSize = 32;
/* `extern __shared__ T name[];` outside functions. */
template <class T>
struct tt_dynamic {
  __attribute__((always_inline)) operator T *() const { return (T *)tt_dynamic_shared; }
};

#ifdef TT_WIDE /* grids that reach beyond it */
TT_INLINE unsigned tt_index_x(int, unsigned thread, unsigned block, unsigned size) { return block * size + thread; }
TT_INLINE int tt_first_x() { return 0; }
static constexpr bool tt_strips = false;
#else
static constexpr bool tt_strips = true; /* blocks side by side in x may be one loop */
TT_INLINE int tt_first_x() { return (int)(blockIdx.x * blockDim.x); }
TT_INLINE unsigned tt_index_x(int x, unsigned, unsigned, unsigned) { return (unsigned)x; }
#endif
/*
** Ask for what the threads of a block need of `p` in a later turn of a loop with the stride of the grid, about 1 KiB
** ahead: it lies a grid away, where the processor does not look by itself.
*/
template <class T>
TT_INLINE void tt_ahead(const T *p, long at, long step, unsigned threads) {
  const unsigned long bytes = threads * sizeof(T);
  const char *next = (const char *)p + (at + step * (long)(1 + 1023 / bytes)) * (long)sizeof(T);
  for (unsigned long k = 0; k < bytes && k < 4096; k += 64) __builtin_prefetch(next + k);
}
/* The end of the threads of [start, end) whose index in the block, a T, is less than a limit. */
template <class T, class L>
TT_INLINE int tt_guard(int start, int end, L limit) {
  typedef decltype(T() + L()) C;
  const C most = (C)limit;
  return most < (C)1 ? start : most < (C)(end - start) ? start + (int)most : end;
}
TT_INLINE unsigned tt_thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

/* ---- barriers: another thread may run until they return */

/* Two of them on two lines are not made one: checks tell them apart. */
#if defined(TT_CHECK) && defined(__clang__)
#define TT_ONE_BY_ONE __attribute__((nomerge))
#else
#define TT_ONE_BY_ONE
#endif

TT_INLINE void tt_wait(int value, int *sum, int *threads) {
  tt_uint3 mine = threadIdx;
  int x = tt_global_x;
  TT_ONE_BY_ONE tt_core->barrier(value, sum, threads);
  threadIdx = mine;
  tt_global_x = x;
}
TT_INLINE void __syncthreads() {
  int sum, threads;
  tt_wait(0, &sum, &threads);
}
TT_INLINE int __syncthreads_count(int yes) {
  int sum, threads;
  tt_wait(yes != 0, &sum, &threads);
  return sum;
}
TT_INLINE int __syncthreads_and(int yes) {
  int sum, threads;
  tt_wait(yes != 0, &sum, &threads);
  return sum == threads;
}
TT_INLINE int __syncthreads_or(int yes) {
  int sum, threads;
  tt_wait(yes != 0, &sum, &threads);
  return sum != 0;
}
TT_INLINE void tt_grid_barrier() {
  tt_uint3 mine = threadIdx;
  int x = tt_global_x;
#ifdef TT_CHECK /* other blocks run on the same processor thread */
  tt_uint3 block = blockIdx;
#endif
  TT_ONE_BY_ONE tt_core->grid();
#ifdef TT_CHECK
  blockIdx = block;
#endif
  threadIdx = mine;
  tt_global_x = x;
}
TT_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TT_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
TT_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TT_INLINE void __nanosleep(unsigned) {}

/* ---- warps */

TT_INLINE void tt_warp(unsigned mask, unsigned long long value, unsigned long long *out, unsigned *came,
                       unsigned *yes) {
  tt_uint3 mine = threadIdx;
  int x = tt_global_x;
  tt_core->warp(mask, value, out, came, yes);
  threadIdx = mine;
  tt_global_x = x;
}
TT_INLINE unsigned tt_lane() { return tt_thread_number() & 31; }
TT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) {
  unsigned came, yes;
  tt_warp(mask, 0, nullptr, &came, &yes);
}
TT_INLINE unsigned __activemask() {
  tt_uint3 mine = threadIdx;
  int x = tt_global_x;
  unsigned lanes;
  TT_ONE_BY_ONE lanes = tt_core->active();
  threadIdx = mine;
  tt_global_x = x;
  return lanes;
}
TT_INLINE unsigned __ballot_sync(unsigned mask, int p) {
  unsigned came, yes;
  tt_warp(mask, p != 0, nullptr, &came, &yes);
  return yes;
}
TT_INLINE int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
TT_INLINE int __all_sync(unsigned mask, int p) {
  unsigned came, yes;
  tt_warp(mask, p != 0, nullptr, &came, &yes);
  return yes == came;
}
TT_INLINE int __uni_sync(unsigned mask, int p) {
  unsigned came, yes;
  tt_warp(mask, p != 0, nullptr, &came, &yes);
  return yes == came || yes == 0;
}
TT_INLINE unsigned __ballot(int p) { return __ballot_sync(~0u, p); }
TT_INLINE int __any(int p) { return __any_sync(~0u, p); }
TT_INLINE int __all(int p) { return __all_sync(~0u, p); }

template <class T>
TT_INLINE unsigned long long tt_bits(T v) {
  static_assert(sizeof(T) <= 8, "a shuffled value has at most 8 bytes");
  unsigned long long b = 0;
  __builtin_memcpy(&b, &v, sizeof v);
  return b;
}
template <class T>
TT_INLINE T tt_from_bits(unsigned long long b) {
  T v;
  __builtin_memcpy(&v, &b, sizeof v);
  return v;
}
template <class T>
TT_INLINE T tt_shuffle(unsigned mask, T v, int from, bool inside) {
  unsigned long long all[32];
  unsigned came, yes;
  tt_warp(mask, tt_bits(v), all, &came, &yes);
  return inside && (came >> (from & 31) & 1) ? tt_from_bits<T>(all[from & 31]) : v;
}
template <class T>
TT_INLINE T __shfl_sync(unsigned mask, T v, int from, int width = 32) {
  int lane = (int)tt_lane();
  return tt_shuffle(mask, v, (lane & ~(width - 1)) | (from & (width - 1)), true);
}
template <class T>
TT_INLINE T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  int lane = (int)tt_lane(), from = lane - (int)delta;
  return tt_shuffle(mask, v, from, from >= (lane & ~(width - 1)));
}
template <class T>
TT_INLINE T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  int lane = (int)tt_lane(), from = lane + (int)delta;
  return tt_shuffle(mask, v, from, from < (lane & ~(width - 1)) + width);
}
template <class T>
TT_INLINE T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32) {
  int lane = (int)tt_lane(), from = lane ^ bits;
  return tt_shuffle(mask, v, from, from < (lane & ~(width - 1)) + width);
}
template <class T>
TT_INLINE T __shfl(T v, int from, int width = 32) {
  return __shfl_sync(~0u, v, from, width);
}
template <class T>
TT_INLINE T __shfl_up(T v, unsigned delta, int width = 32) {
  return __shfl_up_sync(~0u, v, delta, width);
}
template <class T>
TT_INLINE T __shfl_down(T v, unsigned delta, int width = 32) {
  return __shfl_down_sync(~0u, v, delta, width);
}
template <class T>
TT_INLINE T __shfl_xor(T v, int bits, int width = 32) {
  return __shfl_xor_sync(~0u, v, bits, width);
}
/*
** The same between all `n` threads of a block, whose warps move in step: `to` and `from` have an element a thread. What
** no thread of the warp has is a lane's own. Lanes that follow each other are copied together first, those at the end of
** their segment are mended.
*/
template <class T>
TT_INLINE void tt_exchange_down(T *to, const T *from, int n, unsigned by, int width) {
  const int far = by < (unsigned)width ? (int)by : width;
  for (int t = 0; t < n - far; t++) to[t] = from[t + far];
  for (int end = width; end < n + width; end += width)
    for (int t = end - far; t < end && t < n; t++) to[t] = from[t];
  for (int t = n - far > 0 ? n - far : 0; t < n; t++) to[t] = from[t];
}
template <class T>
TT_INLINE void tt_exchange_up(T *to, const T *from, int n, unsigned by, int width) {
  const int far = by < (unsigned)width ? (int)by : width;
  for (int t = far; t < n; t++) to[t] = from[t - far];
  for (int start = 0; start < n; start += width)
    for (int t = start; t < start + far && t < n; t++) to[t] = from[t];
}
template <class T>
TT_INLINE void tt_exchange_xor(T *to, const T *from, int n, int bits, int width) {
  for (int t = 0; t < n; t++) {
    const int lane = t & 31, other = lane ^ bits, at = (t & ~31) | (other & 31);
    to[t] = from[other < (lane & ~(width - 1)) + width && at < n ? at : t];
  }
}
template <class T>
TT_INLINE void tt_exchange_from(T *to, const T *from, int n, int lane, int width) {
  for (int t = 0; t < n; t++) {
    const int at = (t & ~(width - 1)) | (lane & (width - 1));
    to[t] = from[at < n ? at : t];
  }
}
template <class T>
TT_INLINE unsigned __match_any_sync(unsigned mask, T v) {
  unsigned long long all[32];
  unsigned came, yes, same = 0;
  tt_warp(mask, tt_bits(v), all, &came, &yes);
  for (int k = 0; k < 32; k++) same |= (unsigned)((came >> k & 1) && all[k] == tt_bits(v)) << k;
  return same;
}
template <class T>
TT_INLINE unsigned __match_all_sync(unsigned mask, T v, int *pred) {
  unsigned came = 0, yes;
  unsigned long long all[32];
  tt_warp(mask, tt_bits(v), all, &came, &yes);
  bool same = true;
  for (int k = 0; k < 32; k++) same &= !(came >> k & 1) || all[k] == tt_bits(v);
  *pred = same;
  return same ? came : 0;
}
#define TT_WARP_REDUCE(name, T, OP)              \
  TT_INLINE T name(unsigned mask, T v) {         \
    unsigned long long all[32];                  \
    unsigned came, yes;                          \
    tt_warp(mask, tt_bits(v), all, &came, &yes); \
    bool first = true;                           \
    T r = v;                                     \
    for (int k = 0; k < 32; k++) {               \
      if (!(came >> k & 1)) continue;            \
      T o = tt_from_bits<T>(all[k]);             \
      r = first ? o : OP;                        \
      first = false;                             \
    }                                            \
    return r;                                    \
  }
TT_WARP_REDUCE(__reduce_add_sync, unsigned, (r + o))
TT_WARP_REDUCE(__reduce_add_sync, int, ((int)((unsigned)r + (unsigned)o)))
TT_WARP_REDUCE(__reduce_min_sync, unsigned, (r < o ? r : o))
TT_WARP_REDUCE(__reduce_min_sync, int, (r < o ? r : o))
TT_WARP_REDUCE(__reduce_max_sync, unsigned, (r > o ? r : o))
TT_WARP_REDUCE(__reduce_max_sync, int, (r > o ? r : o))
TT_WARP_REDUCE(__reduce_and_sync, unsigned, (r & o))
TT_WARP_REDUCE(__reduce_or_sync, unsigned, (r | o))
TT_WARP_REDUCE(__reduce_xor_sync, unsigned, (r ^ o))

/* ---- saying and stopping */

static int tt_printf(const char *format, ...) TT_UNUSED;
static int tt_printf(const char *format, ...) {
  __builtin_va_list arg;
  __builtin_va_start(arg, format);
  int n = tt_core->print(format, arg);
  __builtin_va_end(arg);
  return n;
}
#define printf tt_printf
static void tt_stop(const char *file, int line, const char *what) TT_UNUSED;
static __attribute__((noinline, noreturn, cold)) void tt_stop(const char *file, int line, const char *what) {
  unsigned t[3] = {threadIdx.x, threadIdx.y, threadIdx.z}, b[3] = {blockIdx.x, blockIdx.y, blockIdx.z};
  tt_core->stop(file, line, what, t, b);
  __builtin_unreachable();
}
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : tt_stop(__FILE__, __LINE__, "assertion failed: " #e))
#endif
TT_INLINE void __trap() { tt_stop("", 0, "__trap()"); }
TT_INLINE void __brkpt() {}
#define __prof_trigger(n) ((void)0)
#ifndef __clang__
#define __builtin_assume(e) ((void)0)
#endif
#define __assume(e) __builtin_assume(e)
TT_INLINE long long clock64() { return tt_core->clock(); }
typedef long clock_t;
TT_INLINE int clock() { return (int)tt_core->clock(); }
TT_INLINE unsigned long long globaltimer() { return (unsigned long long)tt_core->clock(); }

/* ---- atomics: on the memory itself, sequentially consistent where CUDA says relaxed */

template <class T>
struct tt_same {
  typedef T type;
};
#define TT_ATOMIC_INT(name, fetch)                      \
  template <class T>                                    \
  TT_INLINE T name(T *p, typename tt_same<T>::type v) { \
    return fetch(p, v, __ATOMIC_RELAXED);               \
  }
/* Any change of a value of 2, 4 or 8 bytes. */
template <int N>
struct tt_word;
template <>
struct tt_word<2> {
  typedef unsigned short type;
};
template <>
struct tt_word<4> {
  typedef unsigned type;
};
template <>
struct tt_word<8> {
  typedef unsigned long long type;
};
template <class T, class F>
TT_INLINE T tt_atomic(T *p, F change) {
  typedef typename tt_word<sizeof(T)>::type word;
  word *w = (word *)(void *)p, old = __atomic_load_n(w, __ATOMIC_RELAXED), fresh;
  T was, now;
  do {
    __builtin_memcpy(&was, &old, sizeof was);
    now = change(was);
    __builtin_memcpy(&fresh, &now, sizeof fresh);
    if (fresh == old) break;
  } while (!__atomic_compare_exchange_n(w, &old, fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return was;
}
template <class T>
constexpr bool tt_is_int = T(1) / T(2) == T(0);
template <class T>
TT_INLINE T atomicAdd(T *p, typename tt_same<T>::type v) {
  if constexpr (__is_class(T))
    return tt_atomic(p, [v](T x) { return T(x + v); });
  else if constexpr (tt_is_int<T>)
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
  else
    return tt_atomic(p, [v](T x) { return T(x + v); });
}
template <class T>
TT_INLINE T atomicSub(T *p, typename tt_same<T>::type v) {
  return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
}
template <class T>
TT_INLINE T atomicMin(T *p, typename tt_same<T>::type v) {
  return tt_atomic(p, [v](T x) { return v < x ? v : x; });
}
template <class T>
TT_INLINE T atomicMax(T *p, typename tt_same<T>::type v) {
  return tt_atomic(p, [v](T x) { return x < v ? v : x; });
}
template <class T>
TT_INLINE T atomicExch(T *p, typename tt_same<T>::type v) {
  typedef typename tt_word<sizeof(T)>::type word;
  return tt_from_bits<T>(__atomic_exchange_n((word *)(void *)p, (word)tt_bits(v), __ATOMIC_RELAXED));
}
template <class T>
TT_INLINE T atomicCAS(T *p, typename tt_same<T>::type want, typename tt_same<T>::type v) {
  __atomic_compare_exchange_n(p, &want, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return want;
}
TT_ATOMIC_INT(atomicAnd, __atomic_fetch_and)
TT_ATOMIC_INT(atomicOr, __atomic_fetch_or)
TT_ATOMIC_INT(atomicXor, __atomic_fetch_xor)
TT_INLINE unsigned atomicInc(unsigned *p, unsigned top) {
  return tt_atomic(p, [top](unsigned x) { return x >= top ? 0u : x + 1u; });
}
TT_INLINE unsigned atomicDec(unsigned *p, unsigned top) {
  return tt_atomic(p, [top](unsigned x) { return x == 0u || x > top ? top : x - 1u; });
}
#define TT_ATOMIC_SCOPES(name)           \
  template <class... A>                  \
  TT_INLINE auto name##_block(A... a) {  \
    return name(a...);                   \
  }                                      \
  template <class... A>                  \
  TT_INLINE auto name##_system(A... a) { \
    return name(a...);                   \
  }
TT_ATOMIC_SCOPES(atomicAdd)
TT_ATOMIC_SCOPES(atomicSub)
TT_ATOMIC_SCOPES(atomicMin)
TT_ATOMIC_SCOPES(atomicMax)
TT_ATOMIC_SCOPES(atomicExch)
TT_ATOMIC_SCOPES(atomicCAS)
TT_ATOMIC_SCOPES(atomicAnd)
TT_ATOMIC_SCOPES(atomicOr)
TT_ATOMIC_SCOPES(atomicXor)
TT_ATOMIC_SCOPES(atomicInc)
TT_ATOMIC_SCOPES(atomicDec)

/* On memory of the block: its threads run on one processor thread, one at a time. (The empty assembly keeps the
 * compiler from doing several at once.) */
#define TT_BLOCK_ATOMIC(name, expr)                                \
  template <class T>                                               \
  TT_INLINE T tt_block_##name(T *p, typename tt_same<T>::type v) { \
    T x = *p;                                                      \
    *p = T(expr);                                                  \
    __asm__ volatile("" : "+m"(*p));                               \
    return x;                                                      \
  }
TT_BLOCK_ATOMIC(atomicAdd, x + v)
TT_BLOCK_ATOMIC(atomicSub, x - v)
TT_BLOCK_ATOMIC(atomicMin, v < x ? v : x)
TT_BLOCK_ATOMIC(atomicMax, x < v ? v : x)
TT_BLOCK_ATOMIC(atomicExch, v)
TT_BLOCK_ATOMIC(atomicAnd, x &v)
TT_BLOCK_ATOMIC(atomicOr, x | v)
TT_BLOCK_ATOMIC(atomicXor, x ^ v)

/* ---- what kind of type T is */
template <bool B, class T = int>
struct tt_if {};
template <class T>
struct tt_if<true, T> {
  typedef T type;
};
template <class A, class B>
constexpr bool tt_is = false;
template <class A>
constexpr bool tt_is<A, A> = true;
template <class T>
constexpr bool tt_integral =
    tt_is<T, int> || tt_is<T, unsigned> || tt_is<T, long> || tt_is<T, unsigned long> || tt_is<T, long long> ||
    tt_is<T, unsigned long long> || tt_is<T, short> || tt_is<T, unsigned short> || tt_is<T, signed char> ||
    tt_is<T, unsigned char> || tt_is<T, char> || tt_is<T, bool>;
template <class T>
constexpr bool tt_float = tt_is<T, float> || tt_is<T, double>;
template <class T>
constexpr bool tt_number = tt_integral<T> || tt_float<T>;
