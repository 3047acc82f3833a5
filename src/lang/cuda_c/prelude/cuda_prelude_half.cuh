/*
** 16-bit floats of CUDA C, alone and in pairs, for programs that run on the CPU: kept as bits, computed as float, which
** has digits enough that the second rounding changes nothing; where it has not, it gets an odd last digit first.
** Behind cuda_prelude_word.cuh.
*/
#ifdef TT_HALF /* the program names them */
TT_INLINE unsigned short tt_bfloat_bits(float f) {
  unsigned u = __builtin_bit_cast(unsigned, f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(u >> 16 | 0x40u);
  return (unsigned short)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
TT_INLINE float tt_bfloat_float(unsigned short h) { return __builtin_bit_cast(float, (unsigned)h << 16); }

#define TT_SHORT_FROM(type, to_bits, T) \
  TT_MEMBER type(T f) : bits(to_bits(tt_odd_float((double)f))) {}
#define TT_SHORT_OP(type, op)                                                                     \
  TT_INLINE type operator op(type a, type b) { return type((float)a op(float) b); }               \
  TT_INLINE type &operator op##=(type &a, type b) { return a = a op b; }                          \
  TT_INLINE type##2 operator op(type##2 a, type##2 b) { return type##2(a.x op b.x, a.y op b.y); } \
  TT_INLINE type##2 &operator op##=(type##2 & a, type##2 b) { return a = a op b; }
/* One comparison: of numbers, and "or one of them is no number"; of pairs, as numbers, as masks, of both. */
#define TT_SHORT_COMPARE(type, name, op)                                      \
  TT_INLINE bool operator op(type a, type b) { return (float)a op(float) b; } \
  TT_INLINE bool operator op(type##2 a, type##2 b) { return __hb##name##2(a, b); }
#define TT_SHORT_ORDER(type, name, op)                                                                             \
  TT_INLINE bool __h##name(type a, type b) { return (float)a op(float) b; }                                        \
  TT_INLINE bool __h##name##u(type a, type b) { return __h##name(a, b) || __hisnan(a) || __hisnan(b); }            \
  TT_INLINE type##2 __h##name##2(type##2 a, type##2 b) {                                                           \
    return type##2(type(__h##name(a.x, b.x) ? 1.0f : 0.0f), type(__h##name(a.y, b.y) ? 1.0f : 0.0f));              \
  }                                                                                                                \
  TT_INLINE type##2 __h##name##u2(type##2 a, type##2 b) {                                                          \
    return type##2(type(__h##name##u(a.x, b.x) ? 1.0f : 0.0f), type(__h##name##u(a.y, b.y) ? 1.0f : 0.0f));        \
  }                                                                                                                \
  TT_INLINE unsigned __h##name##2_mask(type##2 a, type##2 b) {                                                     \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                        \
  }                                                                                                                \
  TT_INLINE unsigned __h##name##u2_mask(type##2 a, type##2 b) {                                                    \
    return (__h##name##u(a.x, b.x) ? 0xffffu : 0u) | (__h##name##u(a.y, b.y) ? 0xffff0000u : 0u);                  \
  }                                                                                                                \
  TT_INLINE bool __hb##name##2(type##2 a, type##2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }        \
  TT_INLINE bool __hb##name##u2(type##2 a, type##2 b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); } \
  TT_SHORT_COMPARE(type, name, op)
#define TT_SHORT_MATH(type, name, expr) \
  TT_INLINE type h##name(type a) {      \
    float x = (float)a;                 \
    return type(expr);                  \
  }                                     \
  TT_INLINE type##2 h2##name(type##2 a) { return type##2(h##name(a.x), h##name(a.y)); }
#define TT_SHORT_ARITHMETIC(type, name, expr)                                                                        \
  TT_INLINE type __h##name(type a, type b) { return expr; }                                                          \
  TT_INLINE type __h##name##_rn(type a, type b) { return expr; }                                                     \
  TT_INLINE type __h##name##_sat(type a, type b) { return tt_saturate(expr); }                                       \
  TT_INLINE type##2 __h##name##2(type##2 p, type##2 q) { return type##2(__h##name(p.x, q.x), __h##name(p.y, q.y)); } \
  TT_INLINE type##2 __h##name##2_rn(type##2 p, type##2 q) { return __h##name##2(p, q); }                             \
  TT_INLINE type##2 __h##name##2_sat(type##2 p, type##2 q) {                                                         \
    return type##2(__h##name##_sat(p.x, q.x), __h##name##_sat(p.y, q.y));                                            \
  }
#define TT_SHORT_BOTH1(type, name) \
  TT_INLINE type##2 name##2(type##2 a) { return type##2(name(a.x), name(a.y)); }
#define TT_SHORT_BOTH2(type, name, pair) \
  TT_INLINE type##2 pair(type##2 a, type##2 b) { return type##2(name(a.x, b.x), name(a.y, b.y)); }
#define TT_SHORT_BOTH3(type, name, pair) \
  TT_INLINE type##2 pair(type##2 a, type##2 b, type##2 c) { return type##2(name(a.x, b.x, c.x), name(a.y, b.y, c.y)); }

#define TT_SHORT_FLOAT(type, to_bits, to_float)                                                                   \
  struct type##_raw {                                                                                             \
    unsigned short x;                                                                                             \
  };                                                                                                              \
  struct type##2_raw {                                                                                            \
    unsigned short x, y;                                                                                          \
  };                                                                                                              \
  struct type {                                                                                                   \
    unsigned short bits;                                                                                          \
    type() = default;                                                                                             \
    TT_MEMBER constexpr type(type##_raw r) : bits(r.x) {}                                                         \
    TT_MEMBER type(float f) : bits(to_bits(f)) {}                                                                 \
    TT_SHORT_FROM(type, to_bits, double)                                                                          \
    TT_SHORT_FROM(type, to_bits, int)                                                                             \
    TT_SHORT_FROM(type, to_bits, unsigned)                                                                        \
    TT_SHORT_FROM(type, to_bits, long)                                                                            \
    TT_SHORT_FROM(type, to_bits, unsigned long)                                                                   \
    TT_SHORT_FROM(type, to_bits, long long)                                                                       \
    TT_SHORT_FROM(type, to_bits, unsigned long long)                                                              \
    TT_MEMBER operator float() const { return to_float(bits); }                                                   \
    TT_MEMBER operator type##_raw() const { return type##_raw{bits}; }                                            \
    TT_MEMBER type operator-() const { return type(type##_raw{(unsigned short)(bits ^ 0x8000u)}); }               \
    TT_MEMBER type operator+() const { return *this; }                                                            \
    TT_MEMBER type &operator++() { return *this = type((float)*this + 1.0f); }                                    \
    TT_MEMBER type &operator--() { return *this = type((float)*this - 1.0f); }                                    \
    TT_MEMBER type operator++(int) {                                                                              \
      type old = *this;                                                                                           \
      return ++*this, old;                                                                                        \
    }                                                                                                             \
    TT_MEMBER type operator--(int) {                                                                              \
      type old = *this;                                                                                           \
      return --*this, old;                                                                                        \
    }                                                                                                             \
  };                                                                                                              \
  struct alignas(4) type##2 {                                                                                     \
    type x, y;                                                                                                    \
    type##2() = default;                                                                                          \
    TT_MEMBER type##2(type a, type b) : x(a), y(b) {}                                                             \
    TT_MEMBER constexpr type##2(type##2_raw r) : x(type##_raw{r.x}), y(type##_raw{r.y}) {}                        \
    TT_MEMBER operator type##2_raw() const { return type##2_raw {x.bits, y.bits}; }                               \
    TT_MEMBER type##2 operator-() const { return type##2(-x, -y); }                                               \
  };                                                                                                              \
  TT_SHORT_OP(type, +)                                                                                            \
  TT_SHORT_OP(type, -)                                                                                            \
  TT_SHORT_OP(type, *)                                                                                            \
  TT_SHORT_OP(type, /)                                                                                            \
  TT_INLINE type __habs(type a) { return type(type##_raw{(unsigned short)(a.bits & 0x7fffu)}); }                  \
  TT_INLINE bool __hisnan(type a) { return __builtin_isnan((float)a); }                                           \
  TT_INLINE int __hisinf(type a) { return __builtin_isinf((float)a) ? ((float)a < 0 ? -1 : 1) : 0; }              \
  TT_INLINE type tt_saturate(type a) { return type(__saturatef((float)a)); }                                      \
  TT_SHORT_ORDER(type, eq, ==)                                                                                    \
  TT_SHORT_ORDER(type, ne, !=)                                                                                    \
  TT_SHORT_ORDER(type, lt, <)                                                                                     \
  TT_SHORT_ORDER(type, le, <=)                                                                                    \
  TT_SHORT_ORDER(type, gt, >)                                                                                     \
  TT_SHORT_ORDER(type, ge, >=)                                                                                    \
  TT_SHORT_ARITHMETIC(type, add, a + b)                                                                           \
  TT_SHORT_ARITHMETIC(type, sub, a - b)                                                                           \
  TT_SHORT_ARITHMETIC(type, mul, a *b)                                                                            \
  TT_INLINE type __hdiv(type a, type b) { return a / b; }                                                         \
  TT_INLINE type __hneg(type a) { return -a; }                                                                    \
  TT_INLINE type __hfma(type a, type b, type c) {                                                                 \
    return type(tt_odd_sum((double)(float)a * (float)b, (double)(float)c));                                       \
  }                                                                                                               \
  TT_INLINE type __hfma_sat(type a, type b, type c) { return tt_saturate(__hfma(a, b, c)); }                      \
  TT_INLINE type __hmax(type a, type b) { return type(__builtin_fmaxf((float)a, (float)b)); }                     \
  TT_INLINE type __hmin(type a, type b) { return type(__builtin_fminf((float)a, (float)b)); }                     \
  TT_INLINE type __hmax_nan(type a, type b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }          \
  TT_INLINE type __hmin_nan(type a, type b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }          \
  TT_INLINE type __hfma_relu(type a, type b, type c) { return __hmax_nan(__hfma(a, b, c), type(type##_raw{0})); } \
  TT_INLINE type##2 __h2div(type##2 a, type##2 b) { return a / b; }                                               \
  TT_SHORT_BOTH1(type, __hneg)                                                                                    \
  TT_SHORT_BOTH1(type, __habs)                                                                                    \
  TT_INLINE type##2 __hisnan2(type##2 a) {                                                                        \
    return type##2(type(__hisnan(a.x) ? 1.0f : 0.0f), type(__hisnan(a.y) ? 1.0f : 0.0f));                         \
  }                                                                                                               \
  TT_SHORT_BOTH2(type, __hmax, __hmax2)                                                                           \
  TT_SHORT_BOTH2(type, __hmin, __hmin2)                                                                           \
  TT_SHORT_BOTH2(type, __hmax_nan, __hmax2_nan)                                                                   \
  TT_SHORT_BOTH2(type, __hmin_nan, __hmin2_nan)                                                                   \
  TT_SHORT_BOTH3(type, __hfma, __hfma2)                                                                           \
  TT_SHORT_BOTH3(type, __hfma_sat, __hfma2_sat)                                                                   \
  TT_SHORT_BOTH3(type, __hfma_relu, __hfma2_relu)                                                                 \
  TT_INLINE type##2 __hcmadd(type##2 a, type##2 b, type##2 c) {                                                   \
    return type##2(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));            \
  }                                                                                                               \
  TT_SHORT_MATH(type, sqrt, __builtin_sqrtf(x))                                                                   \
  TT_SHORT_MATH(type, rsqrt, 1.0f / __builtin_sqrtf(x))                                                           \
  TT_SHORT_MATH(type, rcp, 1.0f / x)                                                                              \
  TT_SHORT_MATH(type, exp, expf(x))                                                                               \
  TT_SHORT_MATH(type, exp2, exp2f(x))                                                                             \
  TT_SHORT_MATH(type, exp10, exp10f(x))                                                                           \
  TT_SHORT_MATH(type, log, logf(x))                                                                               \
  TT_SHORT_MATH(type, log2, log2f(x))                                                                             \
  TT_SHORT_MATH(type, log10, log10f(x))                                                                           \
  TT_SHORT_MATH(type, sin, sinf(x))                                                                               \
  TT_SHORT_MATH(type, cos, cosf(x))                                                                               \
  TT_SHORT_MATH(type, tanh, tanhf(x))                                                                             \
  TT_SHORT_MATH(type, tanh_approx, tanhf(x))                                                                      \
  TT_SHORT_MATH(type, floor, __builtin_floorf(x))                                                                 \
  TT_SHORT_MATH(type, ceil, __builtin_ceilf(x))                                                                   \
  TT_SHORT_MATH(type, trunc, __builtin_truncf(x))                                                                 \
  TT_SHORT_MATH(type, rint, __builtin_rintf(x))                                                                   \
  TT_INLINE float __low2float(type##2 a) { return (float)a.x; }                                                   \
  TT_INLINE float __high2float(type##2 a) { return (float)a.y; }

/* The nearest number on one side of `v`: -1 below, 1 above, 0 towards zero. */
template <class T>
TT_INLINE T tt_short_towards(double v, int side) {
  T r(v);
  double back = (double)(float)r;
  if (back != back) return r;
  if (side == 0) side = v < 0 ? 1 : -1;
  if (side < 0 ? back <= v : back >= v) return r;
  bool grows = (side > 0) == (back > 0); /* away from zero */
  if (back == 0) return __builtin_bit_cast(T, (unsigned short)(side > 0 ? 1 : 0x8001));
  return __builtin_bit_cast(T, (unsigned short)(__builtin_bit_cast(unsigned short, r) + (grows ? 1 : -1)));
}
#define TT_SHORT_WHOLE(type, h, R, r)                                                              \
  TT_INLINE R __##h##2##r##_rn(type x) { return tt_to_int<R>(__builtin_rint((double)(float)x)); }  \
  TT_INLINE R __##h##2##r##_rz(type x) { return tt_to_int<R>((double)(float)x); }                  \
  TT_INLINE R __##h##2##r##_rd(type x) { return tt_to_int<R>(__builtin_floor((double)(float)x)); } \
  TT_INLINE R __##h##2##r##_ru(type x) { return tt_to_int<R>(__builtin_ceil((double)(float)x)); }  \
  TT_INLINE type __##r##2##h##_rn(R x) { return type((double)x); }                                 \
  TT_INLINE type __##r##2##h##_rz(R x) { return tt_short_towards<type>((double)x, 0); }            \
  TT_INLINE type __##r##2##h##_rd(R x) { return tt_short_towards<type>((double)x, -1); }           \
  TT_INLINE type __##r##2##h##_ru(R x) { return tt_short_towards<type>((double)x, 1); }
/* h: the type's name within others. */
#define TT_SHORT_CONVERT(type, h)                                                                         \
  TT_SHORT_WHOLE(type, h, int, int)                                                                       \
  TT_SHORT_WHOLE(type, h, unsigned, uint)                                                                 \
  TT_SHORT_WHOLE(type, h, short, short)                                                                   \
  TT_SHORT_WHOLE(type, h, unsigned short, ushort)                                                         \
  TT_SHORT_WHOLE(type, h, long long, ll)                                                                  \
  TT_SHORT_WHOLE(type, h, unsigned long long, ull)                                                        \
  TT_INLINE signed char __##h##2char_rz(type x) { return tt_to_int<signed char>((double)(float)x); }      \
  TT_INLINE unsigned char __##h##2uchar_rz(type x) { return tt_to_int<unsigned char>((double)(float)x); } \
  TT_INLINE type __float2##h(float f) { return type(f); }                                                 \
  TT_INLINE type __float2##h##_rn(float f) { return type(f); }                                            \
  TT_INLINE type __float2##h##_rz(float f) { return tt_short_towards<type>(f, 0); }                       \
  TT_INLINE type __float2##h##_rd(float f) { return tt_short_towards<type>(f, -1); }                      \
  TT_INLINE type __float2##h##_ru(float f) { return tt_short_towards<type>(f, 1); }                       \
  TT_INLINE type __double2##h(double f) { return type(f); }                                               \
  TT_INLINE float __##h##2float(type x) { return (float)x; }                                              \
  TT_INLINE type##2 __floats2##h##2_rn(float x, float y) { return type##2(type(x), type(y)); }            \
  TT_INLINE type##2 __float22##h##2_rn(float2 f) { return type##2(type(f.x), type(f.y)); }                \
  TT_INLINE type##2 __float2##h##2_rn(float f) { return type##2(type(f), type(f)); }                      \
  TT_INLINE float2 __##h##22float2(type##2 x) { return float2{(float)x.x, (float)x.y}; }                  \
  TT_INLINE type##2 __##h##2##h##2(type x) { return type##2(x, x); }                                      \
  TT_INLINE type##2 __halves2##h##2(type x, type y) { return type##2(x, y); }                             \
  TT_INLINE type __low2##h(type##2 x) { return x.x; }                                                     \
  TT_INLINE type __high2##h(type##2 x) { return x.y; }                                                    \
  TT_INLINE type##2 __low2##h##2(type##2 x) { return type##2(x.x, x.x); }                                 \
  TT_INLINE type##2 __high2##h##2(type##2 x) { return type##2(x.y, x.y); }                                \
  TT_INLINE type##2 __lows2##h##2(type##2 x, type##2 y) { return type##2(x.x, y.x); }                     \
  TT_INLINE type##2 __highs2##h##2(type##2 x, type##2 y) { return type##2(x.y, y.y); }                    \
  TT_INLINE short __##h##_as_short(type x) { return (short)x.bits; }                                      \
  TT_INLINE unsigned short __##h##_as_ushort(type x) { return x.bits; }                                   \
  TT_INLINE type __short_as_##h(short x) { return __builtin_bit_cast(type, x); }                          \
  TT_INLINE type __ushort_as_##h(unsigned short x) { return __builtin_bit_cast(type, x); }
TT_SHORT_FLOAT(__half, tt_half_bits, tt_half_float)
TT_SHORT_FLOAT(__nv_bfloat16, tt_bfloat_bits, tt_bfloat_float)
TT_SHORT_CONVERT(__half, half)
TT_SHORT_CONVERT(__nv_bfloat16, bfloat16)
typedef __half half;
typedef __half2 half2;
typedef __half float16;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
TT_INLINE __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }
TT_INLINE __half2 make_half2(__half x, __half y) { return __half2(x, y); }
TT_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
#endif
