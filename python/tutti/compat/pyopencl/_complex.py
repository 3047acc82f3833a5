"""pyopencl-complex.h: complex numbers in OpenCL C, as functions of structures (cfloat_t, cdouble_t)."""

# TYPE is cfloat or cdouble, REAL its parts. Division is Smith's: by the larger part, so that squares do not overflow.
_TEXT = """
typedef struct { REAL real, imag; } TYPE_t;
static inline TYPE_t TYPE_new(REAL re, REAL im) { TYPE_t r; r.real = re; r.imag = im; return r; }
static inline TYPE_t TYPE_fromreal(REAL a) { return TYPE_new(a, (REAL)0); }
static inline TYPE_t TYPE_neg(TYPE_t a) { return TYPE_new(-a.real, -a.imag); }
static inline TYPE_t TYPE_conj(TYPE_t a) { return TYPE_new(a.real, -a.imag); }
static inline REAL TYPE_real(TYPE_t a) { return a.real; }
static inline REAL TYPE_imag(TYPE_t a) { return a.imag; }
static inline REAL TYPE_abs(TYPE_t a) { return hypot(a.real, a.imag); }
static inline REAL TYPE_abs_squared(TYPE_t a) { return a.real * a.real + a.imag * a.imag; }
static inline TYPE_t TYPE_add(TYPE_t a, TYPE_t b) { return TYPE_new(a.real + b.real, a.imag + b.imag); }
static inline TYPE_t TYPE_addr(TYPE_t a, REAL b) { return TYPE_new(a.real + b, a.imag); }
static inline TYPE_t TYPE_radd(REAL a, TYPE_t b) { return TYPE_new(a + b.real, b.imag); }
static inline TYPE_t TYPE_sub(TYPE_t a, TYPE_t b) { return TYPE_new(a.real - b.real, a.imag - b.imag); }
static inline TYPE_t TYPE_subr(TYPE_t a, REAL b) { return TYPE_new(a.real - b, a.imag); }
static inline TYPE_t TYPE_rsub(REAL a, TYPE_t b) { return TYPE_new(a - b.real, -b.imag); }
static inline TYPE_t TYPE_mul(TYPE_t a, TYPE_t b) {
  return TYPE_new(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
}
static inline TYPE_t TYPE_fma(TYPE_t a, TYPE_t b, TYPE_t c) {
  return TYPE_new(fma(a.real, b.real, c.real - a.imag * b.imag), fma(a.real, b.imag, fma(a.imag, b.real, c.imag)));
}
static inline TYPE_t TYPE_mulr(TYPE_t a, REAL b) { return TYPE_new(a.real * b, a.imag * b); }
static inline TYPE_t TYPE_rmul(REAL a, TYPE_t b) { return TYPE_new(a * b.real, a * b.imag); }
static inline TYPE_t TYPE_divide(TYPE_t a, TYPE_t b) {
  REAL r, d;
  if (fabs(b.real) >= fabs(b.imag)) {
    r = b.imag / b.real;
    d = b.real + b.imag * r;
    return TYPE_new((a.real + a.imag * r) / d, (a.imag - a.real * r) / d);
  }
  r = b.real / b.imag;
  d = b.real * r + b.imag;
  return TYPE_new((a.real * r + a.imag) / d, (a.imag * r - a.real) / d);
}
static inline TYPE_t TYPE_divider(TYPE_t a, REAL b) { return TYPE_new(a.real / b, a.imag / b); }
static inline TYPE_t TYPE_rdivide(REAL a, TYPE_t b) { return TYPE_divide(TYPE_fromreal(a), b); }
static inline TYPE_t TYPE_reciprocal(TYPE_t a) { return TYPE_rdivide((REAL)1, a); }
static inline TYPE_t TYPE_exp(TYPE_t a) {
  REAL e = exp(a.real);
  return TYPE_new(e * cos(a.imag), e * sin(a.imag));
}
static inline TYPE_t TYPE_log(TYPE_t a) { return TYPE_new(log(TYPE_abs(a)), atan2(a.imag, a.real)); }
static inline TYPE_t TYPE_pow(TYPE_t a, TYPE_t b) {
  if (a.real == (REAL)0 && a.imag == (REAL)0) {
    return TYPE_fromreal(b.real == (REAL)0 && b.imag == (REAL)0 ? (REAL)1 : (REAL)0);
  }
  return TYPE_exp(TYPE_mul(b, TYPE_log(a)));
}
static inline TYPE_t TYPE_powr(TYPE_t a, REAL b) { return TYPE_pow(a, TYPE_fromreal(b)); }
static inline TYPE_t TYPE_rpow(REAL a, TYPE_t b) { return TYPE_pow(TYPE_fromreal(a), b); }
static inline TYPE_t TYPE_sqrt(TYPE_t a) {
  REAL h = TYPE_abs(a), s = sqrt((h + fabs(a.real)) / (REAL)2);
  if (h == (REAL)0) return TYPE_fromreal((REAL)0);
  if (a.real >= (REAL)0) return TYPE_new(s, a.imag / (2 * s));
  return TYPE_new(fabs(a.imag) / (2 * s), copysign(s, a.imag));
}
static inline TYPE_t TYPE_sinh(TYPE_t a) {
  return TYPE_new(sinh(a.real) * cos(a.imag), cosh(a.real) * sin(a.imag));
}
static inline TYPE_t TYPE_cosh(TYPE_t a) {
  return TYPE_new(cosh(a.real) * cos(a.imag), sinh(a.real) * sin(a.imag));
}
static inline TYPE_t TYPE_tanh(TYPE_t a) { return TYPE_divide(TYPE_sinh(a), TYPE_cosh(a)); }
static inline TYPE_t TYPE_sin(TYPE_t a) {
  return TYPE_new(sin(a.real) * cosh(a.imag), cos(a.real) * sinh(a.imag));
}
static inline TYPE_t TYPE_cos(TYPE_t a) {
  return TYPE_new(cos(a.real) * cosh(a.imag), -sin(a.real) * sinh(a.imag));
}
static inline TYPE_t TYPE_tan(TYPE_t a) { return TYPE_divide(TYPE_sin(a), TYPE_cos(a)); }
"""


def _of(name, real):
    return " ".join(_TEXT.replace("TYPE_", name + "_").replace("REAL", real).split())


# In one line and without directives, so that what follows it keeps the lines that errors tell.
HEADER = _of("cfloat", "float") + " " + _of("cdouble", "double")
OPTIONS = [  # macros, because they take both types
    f"-D{name}_cast(a)={name}_new(({real})(a).real,({real})(a).imag)"
    for name, real in (("cfloat", "float"), ("cdouble", "double"))
]
