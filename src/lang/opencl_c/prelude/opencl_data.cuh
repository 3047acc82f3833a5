/*
** OpenCL C's conversions, reads and writes of vectors, atomic operations, work-groups and printf for programs that run
** on the CPU. Behind opencl_math.cuh.
*/
typedef unsigned long cl_mem_fence_flags;
typedef int event_t, memory_order, memory_scope;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define CLK_IMAGE_MEM_FENCE 4

/* ---- conversions: MODE is 0 (by the types), or to the nearest even, towards zero, up, down */
#define TT_ROUND_NEAREST 1
#define TT_ROUND_ZERO 2
#define TT_ROUND_UP 3
#define TT_ROUND_DOWN 4
template <int MODE, class T>
TT_INLINE T tt_rounded(T x) {
  if constexpr (MODE == TT_ROUND_NEAREST)
    return rint(x);
  else if constexpr (MODE == TT_ROUND_UP)
    return ceil(x);
  else if constexpr (MODE == TT_ROUND_DOWN)
    return floor(x);
  else
    return trunc(x);
}
/* The float beside r on the side that MODE wants, where rounding to the nearest went to the other. */
template <class R, int MODE>
TT_INLINE R tt_nudged(R r, bool above, bool below) {
  const R inf = (R)__builtin_inf();
  if constexpr (MODE == TT_ROUND_ZERO)
    return (above && r > 0) || (below && r < 0) ? nextafter(r, (R)0) : r;
  else if constexpr (MODE == TT_ROUND_UP)
    return below ? nextafter(r, inf) : r;
  else if constexpr (MODE == TT_ROUND_DOWN)
    return above ? nextafter(r, -inf) : r;
  else
    return r;
}
template <class R, bool SAT, int MODE, class T>
TT_INLINE R tt_convert_one(T x) {
  if constexpr (tt_integral<R> && tt_integral<T> && SAT) {
    typedef tt_ends<R> ends;
    if constexpr (tt_ends<T>::is_signed && !ends::is_signed)
      return x < 0 ? (R)0 : (typename tt_whole<T>::without)x > ends::top ? ends::top : (R)x;
    else if constexpr (!tt_ends<T>::is_signed)
      return x > (typename tt_whole<R>::without)ends::top ? ends::top : (R)x;
    else
      return (long)x > (long)ends::top ? ends::top : (long)x < (long)ends::low ? ends::low : (R)x;
  } else if constexpr (tt_integral<R> && tt_float<T>) {
    const T y = tt_rounded<MODE>(x);
    if constexpr (SAT) {
      typedef tt_ends<R> ends;
      constexpr T above = (T)(1ul << (ends::bits - 1)) * 2;
      return y != y ? (R)0 : y >= above ? ends::top : y <= (T)ends::low ? ends::low : (R)y;
    }
    return sizeof(R) < 4 ? (R)(int)y : (R)y;
  } else if constexpr (tt_float<R> && MODE != 0 && MODE != TT_ROUND_NEAREST && tt_float<T>) {
    const R r = (R)x;
    return tt_nudged<R, MODE>(r, (T)r > x, (T)r < x);
  } else if constexpr (tt_float<R> && MODE != 0 && MODE != TT_ROUND_NEAREST && sizeof(T) >= sizeof(R)) {
    const R r = (R)x;
    return tt_nudged<R, MODE>(r, (__int128)r > (__int128)x, (__int128)r < (__int128)x);
  } else {
    return (R)x;
  }
}
template <class R, bool SAT, int MODE, class T>
TT_INLINE R tt_convert(T x) {
  if constexpr (__is_class(T) && __is_class(R)) {
    static_assert(R::n == T::n, "a conversion keeps the number of components");
    R r;
    TT_EACH(R::n) r.tt_s[k] = tt_convert_one<typename R::cell, SAT, MODE>(x.tt_s[k]);
    return r;
  } else {
    return tt_convert_one<R, SAT, MODE>(x);
  }
}
template <class R, class T>
TT_INLINE R tt_as(T x) {
  return __builtin_bit_cast(R, x);
}

/* ---- reads and writes that are aligned as a cell is */
template <class T>
struct tt_plain {
  typedef T type;
};
template <class T>
struct tt_plain<const T> {
  typedef T type;
};
template <class T>
struct tt_plain<volatile T> {
  typedef T type;
};
template <class T>
struct tt_plain<const volatile T> {
  typedef T type;
};
template <int N, class T>
TT_INLINE auto tt_vload(size_t at, T *p) {
  tt_vec<typename tt_plain<T>::type, N> r;
  TT_EACH(N) r.tt_s[k] = p[at * N + k];
  return r;
}
template <int N, class T, class P>
TT_INLINE void tt_vstore(tt_vec<T, N> v, size_t at, P *p) {
  TT_EACH(N) p[at * N + k] = v.tt_s[k];
}
#ifdef TT_HALF /* the program names them */
struct half {
  unsigned short bits;
  half() = default;
  TT_MEMBER half(float f) : bits(tt_half_bits(f)) {}
  TT_MEMBER operator float() const { return tt_half_float(bits); }
};
TT_ONE_CELL(half)
TT_VECTORS(half, half)
/* Not to the nearest: the neighbour on the side that is wanted. */
template <int MODE>
TT_INLINE half tt_half_of(double x) {
  half h((float)x);
  const double r = (double)(float)h;
  bool away = MODE == TT_ROUND_ZERO ? __builtin_fabs(r) > __builtin_fabs(x) : MODE == TT_ROUND_UP ? false : r > x;
  if (MODE == TT_ROUND_UP) away = r < x;
  if (MODE == 0 || MODE == TT_ROUND_NEAREST) {
    h = half(tt_odd_float(x));
  } else if (away) {
    const bool grows = MODE == TT_ROUND_UP, negative = h.bits & 0x8000;
    if ((h.bits & 0x7fff) == 0)
      h.bits = grows ? 1 : 0x8001;
    else
      h.bits = (unsigned short)(h.bits + (MODE != TT_ROUND_ZERO && grows != negative ? 1 : -1));
  }
  return h;
}
template <int N, class T>
TT_INLINE auto tt_vload_half(size_t at, T *p) {
  if constexpr (N == 1) {
    return (float)p[at];
  } else {
    tt_vec<float, N> r;
    TT_EACH(N) r.tt_s[k] = (float)p[at * N + k];
    return r;
  }
}
template <int N, class T>
TT_INLINE auto tt_vloada_half(size_t at, T *p) {
  tt_vec<float, N> r;
  TT_EACH(N) r.tt_s[k] = (float)p[at * (N == 3 ? 4 : N) + k];
  return r;
}
template <int N, int MODE, class V, class T>
TT_INLINE void tt_vstore_half(V v, size_t at, T *p) {
  if constexpr (N == 1)
    p[at] = tt_half_of<MODE>((double)v);
  else
    TT_EACH(N) p[at * N + k] = tt_half_of<MODE>((double)v.tt_s[k]);
}
template <int N, int MODE, class V, class T>
TT_INLINE void tt_vstorea_half(V v, size_t at, T *p) {
  TT_EACH(N) p[at * (N == 3 ? 4 : N) + k] = tt_half_of<MODE>((double)v.tt_s[k]);
}
#endif

/* ---- synchronization and atomic operations */
template <class... A>
TT_INLINE void mem_fence(A...) {
  __threadfence_block();
}
template <class... A>
TT_INLINE void read_mem_fence(A...) {
  __threadfence_block();
}
template <class... A>
TT_INLINE void write_mem_fence(A...) {
  __threadfence_block();
}
template <class... A>
TT_INLINE void atomic_work_item_fence(A...) {
  __threadfence();
}
#define TT_ATOMIC_VOLATILE(name)                                 \
  template <class T>                                             \
  TT_INLINE T name(volatile T *p, typename tt_same<T>::type v) { \
    return name((T *)p, v);                                      \
  }
TT_ATOMIC_VOLATILE(atomicAdd)
TT_ATOMIC_VOLATILE(atomicSub)
TT_ATOMIC_VOLATILE(atomicMin)
TT_ATOMIC_VOLATILE(atomicMax)
TT_ATOMIC_VOLATILE(atomicExch)
TT_ATOMIC_VOLATILE(atomicAnd)
TT_ATOMIC_VOLATILE(atomicOr)
TT_ATOMIC_VOLATILE(atomicXor)
template <class T>
TT_INLINE T atomicCAS(volatile T *p, typename tt_same<T>::type want, typename tt_same<T>::type v) {
  return atomicCAS((T *)p, want, v);
}
/* Those of version 2.0: the order and the scope that they are given is the strongest. */
typedef int atomic_int, atomic_flag;
typedef unsigned atomic_uint;
typedef long atomic_long, atomic_intptr_t, atomic_ptrdiff_t;
typedef unsigned long atomic_ulong, atomic_uintptr_t, atomic_size_t;
typedef float atomic_float;
typedef double atomic_double;
#define ATOMIC_VAR_INIT(x) (x)
#define ATOMIC_FLAG_INIT 0
enum {
  memory_order_relaxed,
  memory_order_acquire = 2,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum {
  memory_scope_work_item,
  memory_scope_work_group,
  memory_scope_device,
  memory_scope_all_svm_devices,
  memory_scope_sub_group,
  memory_scope_all_devices = 3
};
#define TT_ATOMIC_FETCH(name, how)                                       \
  template <class T, class V, class... A>                                \
  TT_INLINE T atomic_fetch_##name##_explicit(volatile T *p, V v, A...) { \
    return how(p, (T)v);                                                 \
  }                                                                      \
  template <class T, class V>                                            \
  TT_INLINE T atomic_fetch_##name(volatile T *p, V v) {                  \
    return how(p, (T)v);                                                 \
  }
TT_ATOMIC_FETCH(add, atomicAdd)
TT_ATOMIC_FETCH(sub, atomicSub)
TT_ATOMIC_FETCH(min, atomicMin)
TT_ATOMIC_FETCH(max, atomicMax)
TT_ATOMIC_FETCH(and, atomicAnd)
TT_ATOMIC_FETCH(or, atomicOr)
TT_ATOMIC_FETCH(xor, atomicXor)
template <class T, class V, class... A>
TT_INLINE T atomic_exchange_explicit(volatile T *p, V v, A...) {
  return atomicExch(p, (T)v);
}
template <class T, class V>
TT_INLINE T atomic_exchange(volatile T *p, V v) {
  return atomicExch(p, (T)v);
}
template <class T, class... A>
TT_INLINE T atomic_load_explicit(volatile T *p, A...) {
  typedef typename tt_word<sizeof(T)>::type word;
  return tt_from_bits<T>(__atomic_load_n((word *)p, __ATOMIC_SEQ_CST));
}
template <class T>
TT_INLINE T atomic_load(volatile T *p) {
  return atomic_load_explicit(p);
}
template <class T, class V, class... A>
TT_INLINE void atomic_store_explicit(volatile T *p, V v, A...) {
  typedef typename tt_word<sizeof(T)>::type word;
  __atomic_store_n((word *)p, (word)tt_bits((T)v), __ATOMIC_SEQ_CST);
}
template <class T, class V>
TT_INLINE void atomic_store(volatile T *p, V v) {
  atomic_store_explicit(p, v);
}
template <class T, class V>
TT_INLINE void atomic_init(volatile T *p, V v) {
  *p = (T)v;
}
template <class T, class V, class... A>
TT_INLINE bool tt_exchange_if(volatile T *p, T *want, V v, A...) {
  const T was = atomicCAS(p, *want, (T)v);
  const bool same = was == *want;
  *want = was;
  return same;
}
#define atomic_compare_exchange_strong tt_exchange_if
#define atomic_compare_exchange_weak tt_exchange_if
#define atomic_compare_exchange_strong_explicit tt_exchange_if
#define atomic_compare_exchange_weak_explicit tt_exchange_if
template <class... A>
TT_INLINE bool atomic_flag_test_and_set(volatile atomic_flag *p, A...) {
  return atomicExch(p, 1) != 0;
}
template <class... A>
TT_INLINE void atomic_flag_clear(volatile atomic_flag *p, A...) {
  (void)atomicExch(p, 0);
}

/* ---- work-groups */
static __thread unsigned tt_work_dim;
struct tt_place {
  unsigned long x, y, z;
};
static __thread tt_place tt_offset;
/* One of three by a number that is not in the text. */
template <class T>
TT_INLINE size_t tt_axis(size_t x, size_t y, size_t z, size_t otherwise, T d) {
  return d == 0 ? x : d == 1 ? y : d == 2 ? z : otherwise;
}
TT_INLINE size_t tt_linear(size_t x, size_t y, size_t z, size_t nx, size_t ny) { return x + nx * (y + ny * z); }
/* Where a __local argument is. */
typedef tt_cudac_local tt_local_at;
TT_INLINE void *tt_local_of(tt_local_at a) { return (char *)tt_dynamic_shared + a.at; }

/* Each thread of the block copies its share; wait_group_events is a barrier. */
template <class T, class S, class E>
TT_INLINE event_t tt_copy(unsigned t, unsigned nt, T *to, S *from, size_t n, E) {
  for (size_t k = t; k < n; k += nt) to[k] = from[k];
  return 1;
}
template <class T, class S, class E>
TT_INLINE event_t tt_copy_gather(unsigned t, unsigned nt, T *to, S *from, size_t n, size_t step, E) {
  for (size_t k = t; k < n; k += nt) to[k] = from[k * step];
  return 1;
}
template <class T, class S, class E>
TT_INLINE event_t tt_copy_scatter(unsigned t, unsigned nt, T *to, S *from, size_t n, size_t step, E) {
  for (size_t k = t; k < n; k += nt) to[k * step] = from[k];
  return 1;
}
template <class... A>
TT_INLINE void prefetch(A...) {}

/* All threads' values, one behind the other, between two barriers. */
template <class T, class F>
TT_INLINE T tt_group(T v, F f) {
  static __thread T all[1024];
  int sum, n;
  const int me = (int)tt_thread_number();
  all[me] = v;
  tt_wait(0, &sum, &n);
  const T r = f(all, me, n);
  tt_wait(0, &sum, &n);
  return r;
}
/* NAME(v): `start`, and those of the values from `from` to before `to` that are there, in order. */
#define TT_FOLD(name, around, params, start, from, to, there, expr) \
  template <class T>                                                \
  TT_INLINE T name(T v) {                                           \
    return around(v, [] params {                                    \
      T x = start;                                                  \
      for (int k = from; k < (to); k++) {                           \
        const T y = all[k];                                         \
        if (there) x = (T)(expr);                                   \
      }                                                             \
      return x;                                                     \
    });                                                             \
  }
#define TT_LANES_FOLD(name, first, to, expr) \
  TT_FOLD(name, tt_lanes, (const T *all, unsigned came), first, 0, to, came >> k & 1, expr)
#define TT_GROUP_FOLD(name, first, expr)                                                                        \
  TT_FOLD(tt_group_reduce_##name, tt_group, (const T *all, int, int n), all[0], 1, n, true, expr)               \
  TT_FOLD(tt_group_scan_inclusive_##name, tt_group, (const T *all, int me, int), all[0], 1, me + 1, true, expr) \
  TT_FOLD(tt_group_scan_exclusive_##name, tt_group, (const T *all, int me, int), first, 0, me, true, expr)      \
  TT_LANES_FOLD(__reduce_tt_##name, first, 32, expr)                                                            \
  TT_LANES_FOLD(__reduce_tt_scan_inclusive_##name, first, (int)tt_lane() + 1, expr)                             \
  TT_LANES_FOLD(__reduce_tt_scan_exclusive_##name, first, (int)tt_lane(), expr)
template <class T, class F>
TT_INLINE T tt_lanes(T v, F f) {
  unsigned long long bits[32];
  unsigned came, yes;
  T all[32];
  tt_warp(~0u, tt_bits(v), bits, &came, &yes);
  for (int k = 0; k < 32; k++) all[k] = came >> k & 1 ? tt_from_bits<T>(bits[k]) : T();
  return f(all, came);
}
template <class T>
TT_INLINE T tt_lowest() {
  if constexpr (tt_float<T>)
    return (T)-__builtin_inf();
  else
    return tt_ends<T>::low;
}
template <class T>
TT_INLINE T tt_highest() {
  if constexpr (tt_float<T>)
    return (T)__builtin_inf();
  else
    return tt_ends<T>::top;
}
TT_GROUP_FOLD(add, (T)0, x + y)
TT_GROUP_FOLD(mul, (T)1, x *y)
TT_GROUP_FOLD(min, tt_highest<T>(), y < x ? y : x)
TT_GROUP_FOLD(max, tt_lowest<T>(), x < y ? y : x)
TT_INLINE int tt_group_all(int yes) {
  int sum, n;
  tt_wait(yes != 0, &sum, &n);
  return sum == n;
}
TT_INLINE int tt_group_any(int yes) {
  int sum, n;
  tt_wait(yes != 0, &sum, &n);
  return sum != 0;
}
template <class T>
TT_INLINE T tt_group_broadcast(T v, size_t x, size_t y = 0, size_t z = 0) {
  const size_t from = tt_linear(x, y, z, blockDim.x, blockDim.y);
  return tt_group(v, [from](const T *all, int, int n) { return all[from < (size_t)n ? from : 0]; });
}
/* Sub-groups are warps of 32. */
TT_INLINE unsigned tt_sub_group_size_of(unsigned thread, unsigned threads) {
  const unsigned left = threads - thread / 32 * 32;
  return left < 32 ? left : 32;
}

/* ---- printf: `%v4f` prints four values with commas between them */
#undef printf
TT_INLINE void tt_print_format(const char *from, char *to, int room) {
  int n = 0;
  while (*from && n < room - 1) {
    if (*from != '%') {
      to[n++] = *from++;
      continue;
    }
    char spec[32];
    int len = 0, count = 1;
    spec[len++] = *from++;
    while (*from && len < 24 &&
           ((*from >= '0' && *from <= '9') || *from == '-' || *from == '+' || *from == ' ' || *from == '#' ||
            *from == '.'))
      spec[len++] = *from++;
    if (*from == 'v') {
      from++;
      for (count = 0; *from >= '0' && *from <= '9'; from++) count = count * 10 + (*from - '0');
    }
    if (from[0] == 'h' && from[1] == 'l') from += 2; /* of 32 bits: as an int is */
    while ((*from == 'h' || *from == 'l') && len < 30) spec[len++] = *from++;
    if (*from && len < 31) spec[len++] = *from++;
    for (int c = 0; c < count; c++) {
      if (c && n < room - 1) to[n++] = ',';
      for (int k = 0; k < len && n < room - 1; k++) to[n++] = spec[k];
    }
  }
  to[n] = 0;
}
/* Take the first of K arguments, put it behind the others, a vector as its cells: after K turns all are in order. */
template <int K>
struct tt_printer {
  template <class T, int N, int... I, class... R>
  TT_INLINE int cells(const char *format, tt_numbers<I...>, tt_vec<T, N> v, R... rest) {
    return tt_printer<K - 1>::go(format, rest..., v.tt_s[I]...);
  }
  template <class T, int N, class... R>
  TT_INLINE int go(const char *format, tt_vec<T, N> v, R... rest) {
    return cells(format, typename tt_count<N>::type(), v, rest...);
  }
  template <class A, class... R>
  TT_INLINE int go(const char *format, A first, R... rest) {
    return tt_printer<K - 1>::go(format, rest..., first);
  }
};
template <>
struct tt_printer<0> {
  template <class... R>
  TT_INLINE int go(const char *format, R... all) {
    char plain[1024];
    tt_print_format(format, plain, (int)sizeof plain);
    return tt_printf(plain, all...) < 0 ? -1 : 0;
  }
};
template <class... A>
TT_INLINE int tt_print(const char *format, A... a) {
  return tt_printer<(int)sizeof...(A)>::go(format, a...);
}
#define printf tt_print
