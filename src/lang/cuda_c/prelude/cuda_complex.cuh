/*
** Complex numbers as CuPy and PyCUDA give them to kernels, for programs on the CPU and on CUDA. TT_MEMBER: how a small function is
** declared there.
*/
/* A product that is rounded by itself: the sum that it goes into is not fused with it. */
#ifdef TT_CUDA_DEVICE
TT_MEMBER float tt__rounded_product(float a, float b) { return __fmul_rn(a, b); }
TT_MEMBER double tt__rounded_product(double a, double b) { return __dmul_rn(a, b); }
#else
template <class T>
TT_MEMBER T tt__rounded_product(T a, T b) {
#ifdef __x86_64__ /* compilers that are told to fuse look neither at their pragmas nor, in vectors, at barriers */
  T product = a * b;
  asm("" : "+x"(product));
  return product;
#elif defined __aarch64__
  T product = a * b;
  asm("" : "+w"(product));
  return product;
#else
  volatile T product = a * b;
  return product;
#endif
}
#endif
/* The size of a complex number, as our arrays have it, to its last bit; squares neither overflow nor vanish. */
TT_MEMBER float tt__complex_size(float x, float y) {
  float a = fabsf(x), b = fabsf(y), m = a > b ? a : b;
  /* 2 to the 60, -50, 70 and 90; hexadecimal numbers are C++17's, and a program may ask for less */
  const float far = 1.152921504606847e+18f, near = 8.881784197001252e-16f, less = 1.1805916207174113e+21f,
              more = 1.2379400392853803e+27f;
  float up = m > far ? 1 / less : m < near ? more : 1, down = m > far ? less : m < near ? 1 / more : 1;
  float u = a * up, v = b * up, h = ::sqrtf(::fmaf(u, u, v * v)) * down;
  return isinf(x) ? a : isinf(y) ? b : h;
}
TT_MEMBER double tt__complex_size(double x, double y) {
  double a = fabs(x), b = fabs(y), m = a > b ? a : b;
  /* 2 to the 500 and the 600 */
  const double far = 3.273390607896142e+150, more = 4.149515568880993e+180;
  double up = m > far ? 1 / more : m < 1 / far ? more : 1, down = 1 / up;
  a *= up;
  b *= up;
  double h = ::sqrt(tt__rounded_product(a, a) + tt__rounded_product(b, b)) * down;
  return isinf(x) ? a : isinf(y) ? b : h;
}
template <class T>
struct complex {
  T re, im;
  complex() = default;
  TT_MEMBER constexpr complex(T r, T i = T(0)) : re(r), im(i) {}
  template <class U>
  TT_MEMBER constexpr complex(const complex<U> &o) : re((T)o.re), im((T)o.im) {}
  TT_MEMBER constexpr T real() const { return re; }
  TT_MEMBER constexpr T imag() const { return im; }
  TT_MEMBER void real(T v) { re = v; }
  TT_MEMBER void imag(T v) { im = v; }
  TT_MEMBER complex &operator+=(complex o) { return re += o.re, im += o.im, *this; }
  TT_MEMBER complex &operator-=(complex o) { return re -= o.re, im -= o.im, *this; }
  TT_MEMBER complex &operator*=(complex o) { return *this = complex(re * o.re - im * o.im, re * o.im + im * o.re); }
  /* Smith's way, as NumPy and our arrays divide, to their last bit: squares of the parts may leave the type. */
  TT_MEMBER complex &operator/=(complex o) {
    T a = fabs(o.re), b = fabs(o.im);
    if (a == 0 && b == 0) return *this = complex(re / a, im / b);
    bool wide = a >= b;
    T ratio = wide ? o.im / o.re : o.re / o.im;
    T scale = T(1) / (wide ? o.re + tt__rounded_product(o.im, ratio) : o.im + tt__rounded_product(o.re, ratio));
    T x = wide ? re : im, y = wide ? im : re; /* the parts that are not and that are multiplied by the ratio */
    T u = (x + tt__rounded_product(y, ratio)) * scale, v = tt__rounded_product(x, ratio);
    return *this = complex(u, wide ? (y - v) * scale : (v - y) * scale);
  }
  friend TT_MEMBER complex operator+(complex a, complex b) { return a += b; }
  friend TT_MEMBER complex operator-(complex a, complex b) { return a -= b; }
  friend TT_MEMBER complex operator*(complex a, complex b) { return a *= b; }
  friend TT_MEMBER complex operator/(complex a, complex b) { return a /= b; }
  friend TT_MEMBER complex operator-(complex a) { return complex(-a.re, -a.im); }
  friend TT_MEMBER bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  friend TT_MEMBER bool operator!=(complex a, complex b) { return !(a == b); }
  friend TT_MEMBER T real(complex a) { return a.re; }
  friend TT_MEMBER T imag(complex a) { return a.im; }
  friend TT_MEMBER T norm(complex a) { return a.re * a.re + a.im * a.im; }
  friend TT_MEMBER T abs(complex a) { return tt__complex_size(a.re, a.im); }
  friend TT_MEMBER T arg(complex a) { return atan2(a.im, a.re); }
  friend TT_MEMBER complex conj(complex a) { return complex(a.re, -a.im); }
  friend TT_MEMBER complex exp(complex a) {
    T e = ::exp(a.re);
    return complex(e * cos(a.im), e * sin(a.im));
  }
  friend TT_MEMBER complex log(complex a) { return complex(::log(hypot(a.re, a.im)), atan2(a.im, a.re)); }
  /* Of the half that does not cancel: the other follows from it. */
  friend TT_MEMBER complex sqrt(complex a) {
    T h = ::sqrt((hypot(a.re, a.im) + fabs(a.re)) / 2);
    if (h == 0) return complex(T(0), a.im);
    T other = a.im / (2 * h);
    return a.re >= 0 ? complex(h, other) : complex(fabs(other), copysign(h, a.im));
  }
  friend TT_MEMBER complex pow(complex a, complex b) { return a == complex(T(0)) ? a : exp(b * log(a)); }
  friend TT_MEMBER complex sin(complex a) { return complex(::sin(a.re) * cosh(a.im), ::cos(a.re) * sinh(a.im)); }
  friend TT_MEMBER complex cos(complex a) { return complex(::cos(a.re) * cosh(a.im), -::sin(a.re) * sinh(a.im)); }
};
namespace std {
using ::complex;
}  // namespace std
namespace pycuda {
using ::complex;
}  // namespace pycuda
