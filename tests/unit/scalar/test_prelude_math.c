/*
** Accuracy of the prelude's functions, in units in the last place against the C library in a wider type, and their
** special values. The printed table is the record; the bound of each row is asserted.
**   TUTTI_TEST_EXHAUSTIVE=1   every float32 for functions of one argument (minutes)
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "scalar/prelude_f32.h"
#include "random.h"

static int failures;

/* Distance of got from want in ulps of the result type with `mant` bits and least exponent `emin`. */
static double ulps(long double got, long double want, int mant, int emin) {
  int e;
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : INFINITY;
  if (got == want) return 0;
  if (isinf(want) || isinf(got)) {
    /* An overflow at the edge: the largest finite value's neighbour stands for infinity. */
    long double top = ldexpl(1, -emin + 2 == 1024 ? 1024 : 128);
    if (isinf(want)) want = copysignl(top, want);
    if (isinf(got)) got = copysignl(top, got);
    if (fabsl(want) >= top && fabsl(got) >= top && (want > 0) == (got > 0)) return 0;
  }
  frexpl(want, &e);
  e = e - mant < emin - mant + 1 ? emin - mant + 1 : e - mant;
  if (want == 0) e = emin - mant + 1;
  return (double)fabsl((got - want) / ldexpl(1, e));
}
static double ulps64(double got, long double want) { return ulps(got, want, 53, -1022); }
static double ulps32(float got, double want) { return ulps(got, want, 24, -126); }

/* ---- the rows: function, C library in long double, sampled range (0, 0: every bit pattern), bounds */
typedef struct {
  const char *name;
  double (*f64)(double);
  float (*f32)(float);
  long double (*want)(long double);
  double (*wantf)(double);
  double low, high, bound64, bound32;
} row1;
typedef struct {
  const char *name;
  double (*f64)(double, double);
  float (*f32)(float, float);
  long double (*want)(long double, long double);
  double (*wantf)(double, double);
  double low, high, bound64, bound32;
} row2;

#define ONE(name)                                                 \
  static double name##_d(double x) { return tt_##name##_f64(x); } \
  static float name##_s(float x) { return tt_##name##_f32(x); }
#define TWO(name)                                                              \
  static double name##_d(double x, double y) { return tt_##name##_f64(x, y); } \
  static float name##_s(float x, float y) { return tt_##name##_f32(x, y); }
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
ONE(sin)
ONE(cos)
ONE(tan)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)
ONE(cbrt)
ONE(sqrt)
TWO(pow)
TWO(atan2)
TWO(hypot)
TWO(logaddexp)
TWO(fmod)

static long double logaddexp_l(long double a, long double b) {
  long double m = a > b ? a : b, d = a > b ? b - a : a - b;
  return a == b ? a + logl(2) : m + log1pl(expl(d));
}
static double logaddexp_w(double a, double b) { return (double)logaddexp_l(a, b); }

#define R1(name, low, high, b64, b32) \
  { #name, name##_d, name##_s, name##l, name, low, high, b64, b32 }
static const row1 rows1[] = {
    R1(exp, -750, 715, 1, 1.1),  R1(exp2, -1080, 1030, 1.1, 1.1), R1(expm1, -60, 715, 2, 1.5), R1(log, 0, 0, 1, 1),
    R1(log2, 0, 0, 2, 1.5),      R1(log10, 0, 0, 2, 1.5),         R1(log1p, -1, 5, 2, 1.5),    R1(sin, -100, 100, 1, 1),
    R1(cos, -100, 100, 1, 1),    R1(tan, -100, 100, 2, 2),        R1(asin, -1, 1, 2, 1.5),     R1(acos, -1, 1, 2, 1.5),
    R1(atan, -10, 10, 2, 1.5),   R1(sinh, -711, 711, 2, 2),       R1(cosh, -711, 711, 2, 1.5), R1(tanh, -20, 20, 2, 2),
    R1(asinh, -10, 10, 2, 1.5),  R1(acosh, 1, 10, 2, 1.5),        R1(atanh, -1, 1, 2, 1.5),    R1(cbrt, 0, 0, 1, 1),
    R1(sqrt, 0, 0, 0.5, 0.5001),
};
static const row2 rows2[] = {
    R1(pow, 0, 30, 1, 1.5),
    R1(atan2, -5, 5, 2, 1.5),
    R1(hypot, -5, 5, 2, 1.5),
    R1(fmod, -5, 5, 0, 0),
    {"logaddexp", logaddexp_d, logaddexp_s, logaddexp_l, logaddexp_w, -20, 20, 2, 2},
};

static double any64(void) {
  uint64_t u = draw();
  double x;
  memcpy(&x, &u, 8);
  return x;
}
static float any32(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
/* A third each: every bit pattern, uniform over the interesting range, log-uniform small values. */
static double sample(const double low, const double high, long i) {
  if (i % 3 == 0 || low == high) return any64();
  if (i % 3 == 1) return low + draw_unit() * (high - low);
  return ldexp(draw_unit() * 2 - (low < 0), (int)(draw() % 40) - 36);
}

static void check1(const row1 *r, long count) {
  double worst64 = 0, worst32 = 0, at64 = 0, at32 = 0;
  for (long i = 0; i < count; i++) {
    double x = sample(r->low, r->high, i), e = ulps64(r->f64(x), r->want(x));
    if (e > worst64) worst64 = e, at64 = x;
  }
  int all = getenv("TUTTI_TEST_EXHAUSTIVE") != NULL;
  for (uint64_t i = 0; i < (all ? 1ull << 32 : (uint64_t)count); i++) {
    float x = all ? any32((uint32_t)i) : i % 2 ? any32((uint32_t)draw()) : (float)sample(r->low, r->high, (long)i);
    double e = ulps32(r->f32(x), r->wantf(x));
    if (e > worst32) worst32 = e, at32 = x;
  }
  int bad = !(worst64 <= r->bound64) || !(worst32 <= r->bound32);
  printf("%-10s f64 %6.3f at %-24a f32 %6.3f at %-16a%s\n", r->name, worst64, at64, worst32, at32, bad ? " FAIL" : "");
  failures += bad;
}
/* logaddexp may cancel: what is left is the rounding of the larger argument and of their difference, as in NumPy. */
static double larger_term(const row2 *r, double x, double y, double want) {
  double m = fmax(x, y), d = -fabs(x - y);
  return strcmp(r->name, "logaddexp") == 0 ? fmax(fabs(want), fmax(fabs(m), exp(d) * (1 - d))) : fabs(want);
}
static void check2(const row2 *r, long count) {
  double worst64 = 0, worst32 = 0, at[4] = {0};
  for (long i = 0; i < count; i++) {
    double x = sample(r->low, r->high, i), y = sample(r->low, r->high, i % 6 < 3 ? i : i + 1);
    long double want = r->want(x, y);
    double e = ulps64(r->f64(x, y), want);
    if (e > 1) e *= fabs((double)want) / larger_term(r, x, y, (double)want);
    if (e > worst64) worst64 = e, at[0] = x, at[1] = y;
    float xf = i % 3 ? (float)x : any32((uint32_t)draw()), yf = i % 3 ? (float)y : any32((uint32_t)draw());
    e = ulps32(r->f32(xf, yf), r->wantf(xf, yf));
    if (e > 1) e *= fabs(r->wantf(xf, yf)) / larger_term(r, xf, yf, r->wantf(xf, yf));
    if (e > worst32) worst32 = e, at[2] = xf, at[3] = yf;
  }
  int bad = !(worst64 <= r->bound64) || !(worst32 <= r->bound32);
  printf("%-10s f64 %6.3f at %a, %a  f32 %6.3f at %a, %a%s\n", r->name, worst64, at[0], at[1], worst32, at[2], at[3],
         bad ? " FAIL" : "");
  failures += bad;
}

/* A fused multiply-add is the C library's, to the bit, where it is an instruction and where it is spelled. */
static void check_fma(long count) {
  long wrong = 0;
  for (long i = 0; i < count; i++) {
    uint32_t r = (uint32_t)draw(), s = (uint32_t)draw(), t = (uint32_t)draw();
    float a = any32(r), b = any32(s), c = any32(t);
    if (i % 4 == 1) c = -a * b;                                    /* what is left is the rounding of the product */
    if (i % 4 == 2) c = ldexpf(a * b, (int)(draw() % 60) - 30);    /* all overlaps */
    if (i % 4 == 3) a = ldexpf(a, -90), b = ldexpf(b, -30), c = 0; /* too small to be normal */
    float got = TT_FMA_F32(a, b, c), want = fmaf(a, b, c);
    wrong += memcmp(&got, &want, 4) != 0 && (got == got || want == want);
  }
  printf("fma        %ld of %ld are wrong\n", wrong, count);
  failures += wrong != 0;
}

/* A number with an exponent from -reach to reach. */
static double moderate(int reach) {
  double x = 1 + (double)(draw() >> 12) * 0x1p-52;
  return ldexp(draw() & 1 ? -x : x, (int)(draw() % (2 * (unsigned)reach + 1)) - reach);
}

/* The same of doubles, which promises it for what neither overflows nor vanishes, and for infinities and NaN. */
static void check_fma_f64(long count) {
  static const double edges[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, -3};
  long wrong = 0;
  for (long i = 0; i < count; i++) {
    double a = moderate(300), b = moderate(300), c = moderate(300);
    if (i % 5 == 1) c = -a * b;
    if (i % 5 == 2) c = ldexp(a * b, (int)(draw() % 120) - 60);
    if (i % 5 == 3) a = rint(moderate(20)), b = rint(moderate(20)), c = ldexp(rint(moderate(20)), 40); /* ties */
    if (i % 5 == 4) a = edges[draw() % 7], b = edges[draw() % 7], c = edges[draw() % 7];
    double got = TT_FMA_F64(a, b, c), want = fma(a, b, c);
    wrong += memcmp(&got, &want, 8) != 0 && (got == got || want == want);
  }
  printf("fma f64    %ld of %ld are wrong\n", wrong, count);
  failures += wrong != 0;
}

int main(int argc, char **argv) {
  long count = getenv("TUTTI_TEST_COUNT") ? atol(getenv("TUTTI_TEST_COUNT")) : 1500000;
  for (size_t i = 0; i < sizeof rows1 / sizeof *rows1; i++)
    if (argc < 2 || strcmp(argv[1], rows1[i].name) == 0) check1(&rows1[i], count);
  for (size_t i = 0; i < sizeof rows2 / sizeof *rows2; i++)
    if (argc < 2 || strcmp(argv[1], rows2[i].name) == 0) check2(&rows2[i], count);
  check_fma(count);
  check_fma_f64(count);
  printf("%d failures\n", failures);
  return failures != 0;
}
