/*
** OpenCL C's vectors for programs that run on the CPU: a class of cells, so that a loop over work-items may keep each
** component in a lane. C++17 text behind cuda_prelude.cuh, in front of the user's. The translation of the text
** (opencl_c/translate.c) has made components of several letters calls: v.xz is v.tt_get<0, 2>(), where it is assigned
** v.tt_at<0, 2>().
*/
#define TT_EACH(n) _Pragma("GCC unroll 16") for (int k = 0; k < (n); k++)

/* Whole numbers with and without sign, as wide as a type: comparisons give the former. */
template <class T, int SIZE = sizeof(T)>
struct tt_whole;
template <class T>
struct tt_whole<T, 1> {
  typedef char with;
  typedef unsigned char without;
};
template <class T>
struct tt_whole<T, 2> {
  typedef short with;
  typedef unsigned short without;
};
template <class T>
struct tt_whole<T, 4> {
  typedef int with;
  typedef unsigned without;
};
template <class T>
struct tt_whole<T, 8> {
  typedef long with;
  typedef unsigned long without;
};

template <class R>
struct tt_ends {
  typedef typename tt_whole<R>::without U;
  static constexpr bool is_signed = (R)-1 < (R)0;
  static constexpr int bits = (int)sizeof(R) * 8 - is_signed;
  static constexpr R top = (R)((U) ~(U)0 >> is_signed), low = is_signed ? (R)(-top - 1) : (R)0;
};

/*
** The cells under their names. Three take the room of four. None asks for more than 16 bytes of alignment, which is
** what memory of the caller has.
*/
#define TT_CELLS_ALIGN(T, N) alignas(sizeof(T) * (N) < 16 ? sizeof(T) * (N) : 16)
template <class T, int N>
struct tt_cells;
template <class T>
struct TT_CELLS_ALIGN(T, 2) tt_cells<T, 2> {
  union {
    T tt_s[2];
    struct {
      T x, y;
    };
    struct {
      T s0, s1;
    };
    struct {
      T r, g;
    };
  };
};
template <class T>
struct TT_CELLS_ALIGN(T, 4) tt_cells<T, 3> {
  union {
    T tt_s[4];
    struct {
      T x, y, z;
    };
    struct {
      T s0, s1, s2;
    };
    struct {
      T r, g, b;
    };
  };
};
template <class T>
struct TT_CELLS_ALIGN(T, 4) tt_cells<T, 4> {
  union {
    T tt_s[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T s0, s1, s2, s3;
    };
    struct {
      T r, g, b, a;
    };
  };
};
template <class T>
struct TT_CELLS_ALIGN(T, 8) tt_cells<T, 8> {
  union {
    T tt_s[8];
    struct {
      T s0, s1, s2, s3, s4, s5, s6, s7;
    };
    struct {
      T x, y, z, w;
    };
  };
};
template <class T>
struct TT_CELLS_ALIGN(T, 16) tt_cells<T, 16> {
  union {
    T tt_s[16];
    struct {
      T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf;
    };
    struct {
      T x, y, z, w, tt_4, tt_5, tt_6, tt_7, tt_8, tt_9, sA, sB, sC, sD, sE, sF;
    };
  };
};

/* What cells are computed in: whole numbers wrap around, with a sign, too. */
template <class T, bool WHOLE = tt_integral<T>, bool WIDE = sizeof(T) == 8>
struct tt_wraps {
  typedef T type;
};
template <class T>
struct tt_wraps<T, true, false> {
  typedef unsigned type;
};
template <class T>
struct tt_wraps<T, true, true> {
  typedef unsigned long type;
};

template <class V, int... I>
struct tt_swizzle;

template <class T, int N>
struct tt_vec : tt_cells<T, N> {
  typedef T cell;
  typedef tt_vec<typename tt_whole<T>::with, N> truth;
  typedef typename tt_wraps<T>::type wrap;
  static constexpr int n = N;
  static constexpr int half = (N + 1) / 2;

  tt_vec() = default;
  TT_MEMBER tt_vec(T all) { TT_EACH(N) this->tt_s[k] = all; }
  template <class A, class B, class... C>
  TT_MEMBER tt_vec(A a, B b, C... c) {
    static_assert(cells<A>() + cells<B>() + (0 + ... + cells<C>()) == N,
                  "a vector literal has as many components as the vector, or one");
    int at = 0;
    put(at, a), put(at, b);
    (put(at, c), ...);
  }
  template <class A>
  static constexpr int cells() {
    if constexpr (__is_class(A) && requires_cells<A>(0))
      return A::n;
    else
      return 1;
  }
  template <class A>
  static constexpr bool requires_cells(decltype(A::n)) {
    return true;
  }
  template <class A>
  static constexpr bool requires_cells(...) {
    return false;
  }
  template <class A>
  TT_MEMBER void put(int &at, A a) {
    this->tt_s[at++] = (T)a;
  }
  template <class U, int M>
  TT_MEMBER void put(int &at, tt_vec<U, M> v) {
    static_assert(tt_is<T, U>, "the parts of a vector literal have the vector's type");
    TT_EACH(M) this->tt_s[at + k] = v.tt_s[k];
    at += M;
  }

  template <int... I>
  TT_MEMBER tt_vec<T, (int)sizeof...(I)> tt_get() const {
    static_assert(((I < N) && ...), "the vector has no such component");
    return tt_vec<T, (int)sizeof...(I)>(this->tt_s[I]...);
  }
  template <int... I>
  TT_MEMBER tt_swizzle<tt_vec<T, (int)sizeof...(I)>, I...> tt_at() {
    static_assert(((I < N) && ...), "the vector has no such component");
    return {this->tt_s};
  }
  /* lo, hi, even, odd: every `step`-th cell from `from` on. A scalar where that is one. */
  template <int FROM, int STEP>
  TT_MEMBER auto tt_part() const {
    if constexpr (N == 2) {
      return this->tt_s[FROM];
    } else {
      tt_vec<T, half> r;
      TT_EACH(half) r.tt_s[k] = FROM + k * STEP < N ? this->tt_s[FROM + k * STEP] : T();
      return r;
    }
  }
  TT_MEMBER auto tt_lo() const { return tt_part<0, 1>(); }
  TT_MEMBER auto tt_hi() const { return tt_part<half, 1>(); }
  TT_MEMBER auto tt_even() const { return tt_part<0, 2>(); }
  TT_MEMBER auto tt_odd() const { return tt_part<1, 2>(); }
  template <int FROM, int STEP>
  TT_MEMBER auto tt_part_at() {
    if constexpr (N == 2)
      return tt_swizzle<T, FROM>{this->tt_s};
    else if constexpr (N <= 4)
      return tt_swizzle<tt_vec<T, 2>, FROM, FROM + STEP>{this->tt_s};
    else if constexpr (N == 8)
      return tt_swizzle<tt_vec<T, 4>, FROM, FROM + STEP, FROM + 2 * STEP, FROM + 3 * STEP>{this->tt_s};
    else
      return tt_swizzle<tt_vec<T, 8>, FROM, FROM + STEP, FROM + 2 * STEP, FROM + 3 * STEP, FROM + 4 * STEP,
                        FROM + 5 * STEP, FROM + 6 * STEP, FROM + 7 * STEP>{this->tt_s};
  }
  TT_MEMBER auto tt_lo_at() { return tt_part_at<0, 1>(); }
  TT_MEMBER auto tt_hi_at() { return tt_part_at<half, 1>(); }
  TT_MEMBER auto tt_even_at() { return tt_part_at<0, 2>(); }
  TT_MEMBER auto tt_odd_at() { return tt_part_at<1, 2>(); }
  TT_MEMBER T &operator[](long k) { return this->tt_s[k]; }
  TT_MEMBER const T &operator[](long k) const { return this->tt_s[k]; }

#define TT_BINARY(op, expr)                                 \
  friend TT_MEMBER tt_vec operator op(tt_vec a, tt_vec b) { \
    tt_vec r;                                               \
    TT_EACH(N) {                                            \
      const T x = a.tt_s[k], y = b.tt_s[k];                 \
      r.tt_s[k] = (T)(expr);                                \
    }                                                       \
    return r;                                               \
  }                                                         \
  TT_MEMBER tt_vec &operator op##=(tt_vec b) { return *this = *this op b; }
  TT_BINARY(+, (wrap)x + (wrap)y)
  TT_BINARY(-, (wrap)x - (wrap)y)
  TT_BINARY(*, (wrap)x *(wrap)y)
  TT_BINARY(/, x / y)
  TT_BINARY(%, x % y)
  TT_BINARY(&, x &y)
  TT_BINARY(|, x | y)
  TT_BINARY(^, x ^ y)
#undef TT_BINARY
  /* The count is taken modulo the width, and may be of another type. */
#define TT_SHIFT(op)                                                           \
  template <class U>                                                           \
  friend TT_MEMBER tt_vec operator op(tt_vec a, tt_vec<U, N> b) {              \
    tt_vec r;                                                                  \
    TT_EACH(N) r.tt_s[k] = (T)(a.tt_s[k] op(b.tt_s[k] & (sizeof(T) * 8 - 1))); \
    return r;                                                                  \
  }                                                                            \
  friend TT_MEMBER tt_vec operator op(tt_vec a, long b) {                      \
    tt_vec r;                                                                  \
    TT_EACH(N) r.tt_s[k] = (T)(a.tt_s[k] op(b & (long)(sizeof(T) * 8 - 1)));   \
    return r;                                                                  \
  }                                                                            \
  template <class U>                                                           \
  TT_MEMBER tt_vec &operator op##=(U b) {                                      \
    return *this = *this op b;                                                 \
  }
  TT_SHIFT(<<)
  TT_SHIFT(>>)
#undef TT_SHIFT
#define TT_COMPARE(op)                                                        \
  friend TT_MEMBER truth operator op(tt_vec a, tt_vec b) {                    \
    truth r;                                                                  \
    TT_EACH(N) r.tt_s[k] = (typename truth::cell) - (a.tt_s[k] op b.tt_s[k]); \
    return r;                                                                 \
  }
  TT_COMPARE(==)
  TT_COMPARE(!=)
  TT_COMPARE(<)
  TT_COMPARE(<=)
  TT_COMPARE(>)
  TT_COMPARE(>=)
  TT_COMPARE(&&)
  TT_COMPARE(||)
#undef TT_COMPARE
  TT_MEMBER tt_vec operator+() const { return *this; }
  TT_MEMBER tt_vec operator-() const {
    tt_vec r;
    TT_EACH(N) r.tt_s[k] = (T) - this->tt_s[k];
    return r;
  }
  TT_MEMBER tt_vec operator~() const {
    tt_vec r;
    TT_EACH(N) r.tt_s[k] = (T) ~this->tt_s[k];
    return r;
  }
  TT_MEMBER truth operator!() const {
    truth r;
    TT_EACH(N) r.tt_s[k] = (typename truth::cell) - !this->tt_s[k];
    return r;
  }
  TT_MEMBER tt_vec &operator++() { return *this = *this + tt_vec((T)1); }
  TT_MEMBER tt_vec &operator--() { return *this = *this - tt_vec((T)1); }
  TT_MEMBER tt_vec operator++(int) {
    tt_vec was = *this;
    ++*this;
    return was;
  }
  TT_MEMBER tt_vec operator--(int) {
    tt_vec was = *this;
    --*this;
    return was;
  }
};

/* Components that are assigned; V is a scalar where it is one. */
template <class V>
struct tt_cell_of {
  typedef typename V::cell type;
  static constexpr bool one = false;
};
#define TT_ONE_CELL(T)                \
  template <>                         \
  struct tt_cell_of<T> {              \
    typedef T type;                   \
    static constexpr bool one = true; \
  };
TT_ONE_CELL(char)
TT_ONE_CELL(unsigned char)
TT_ONE_CELL(short)
TT_ONE_CELL(unsigned short)
TT_ONE_CELL(int)
TT_ONE_CELL(unsigned)
TT_ONE_CELL(long)
TT_ONE_CELL(unsigned long)
TT_ONE_CELL(float)
TT_ONE_CELL(double)
TT_ONE_CELL(bool)
template <class V, int... I>
struct tt_swizzle {
  typename tt_cell_of<V>::type *s;
  TT_MEMBER operator V() const {
    if constexpr (tt_cell_of<V>::one)
      return (s[I], ...);
    else
      return V(s[I]...);
  }
  TT_MEMBER V operator=(V v) const {
    if constexpr (tt_cell_of<V>::one) {
      ((s[I] = v), ...);
    } else {
      int k = 0;
      ((s[I] = v.tt_s[k++]), ...);
    }
    return v;
  }
  TT_MEMBER V operator=(const tt_swizzle &o) const { return *this = (V)o; }
#define TT_CHANGE(op)                     \
  template <class U>                      \
  TT_MEMBER V operator op##=(U v) const { \
    return *this = (V)((V) * this op v);  \
  }
  TT_CHANGE(+)
  TT_CHANGE(-)
  TT_CHANGE(*)
  TT_CHANGE(/)
  TT_CHANGE(%)
  TT_CHANGE(&)
  TT_CHANGE(|)
  TT_CHANGE(^)
  TT_CHANGE(<<)
  TT_CHANGE(>>)
#undef TT_CHANGE
};

#define TT_VECTORS(T, name)     \
  typedef tt_vec<T, 2> name##2; \
  typedef tt_vec<T, 3> name##3; \
  typedef tt_vec<T, 4> name##4; \
  typedef tt_vec<T, 8> name##8; \
  typedef tt_vec<T, 16> name##16;
TT_VECTORS(char, char)
TT_VECTORS(unsigned char, uchar)
TT_VECTORS(short, short)
TT_VECTORS(unsigned short, ushort)
TT_VECTORS(int, int)
TT_VECTORS(unsigned, uint)
TT_VECTORS(long, long)
TT_VECTORS(unsigned long, ulong)
TT_VECTORS(float, float)
TT_VECTORS(double, double)

/* ---- functions, cell by cell */

/* The first vector among types, or pointers to vectors. */
template <class... A>
struct tt_first {};
template <class T, int N, class... A>
struct tt_first<tt_vec<T, N>, A...> {
  typedef tt_vec<T, N> type;
};
template <class T, int N, class... A>
struct tt_first<tt_vec<T, N> *, A...> {
  typedef tt_vec<T, N> type;
};
template <class A, class... B>
struct tt_first<A, B...> : tt_first<B...> {};

template <class V, class T, int N>
TT_INLINE T tt_cell(const tt_vec<T, N> &v, int k) {
  static_assert(N == V::n, "vectors of two lengths");
  return v.tt_s[k];
}
template <class V, class T, int N>
TT_INLINE T *tt_cell(tt_vec<T, N> *v, int k) {
  return &v->tt_s[k];
}
/* A scalar stands for all; of the vector's kind, it has its type. */
template <class V, class S, typename tt_if<tt_number<S>>::type = 0>
TT_INLINE auto tt_cell(S s, int) {
  if constexpr (tt_integral<S> == tt_integral<typename V::cell>)
    return (typename V::cell)s;
  else
    return s;
}
#define TT_MAP(name)                                             \
  template <class... A, class V = typename tt_first<A...>::type> \
  TT_INLINE auto name(A... a) {                                  \
    tt_vec<decltype(name(tt_cell<V>(a, 0)...)), V::n> r;         \
    TT_EACH(V::n) r.tt_s[k] = name(tt_cell<V>(a, k)...);         \
    return r;                                                    \
  }
/* Of a scalar 1 is yes, of a vector -1, in whole numbers as wide as its cells. */
#define TT_MAP_TRUTH(name)                                                           \
  template <class... A, class V = typename tt_first<A...>::type>                     \
  TT_INLINE typename V::truth name(A... a) {                                         \
    typename V::truth r;                                                             \
    TT_EACH(V::n) r.tt_s[k] = (typename V::truth::cell) - name(tt_cell<V>(a, k)...); \
    return r;                                                                        \
  }
