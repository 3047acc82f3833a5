/*
** Normal and exponential numbers by ziggurats: a random strip and a random place in it, which nearly always lies under
** the curve. The tables for floats follow from those for doubles but for four roundings.
*/
#include <math.h>
#include <string.h>

#include "random/draws.h"
#include "random/ziggurat_tables.h"

static const double normal_end = 3.6541528853610087963519472518, normal_end_inverse = 0.27366123732975827203338247596;
static const double exponential_end = 7.6971174701310497140446280481;

static double from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Below the curve in the strip's part that sticks out of it? */
static bool is_under(tt_bits *b, const uint64_t *curve, int strip, double height) {
  double low = from_bits(curve[strip]);
  return (from_bits(curve[strip - 1]) - low) * tt__bits_double(b) + low < height;
}

/* Beyond the last strip. */
static double tail(tt_bits *b) {
  for (;;) {
    double x = -normal_end_inverse * log1p(-tt__bits_double(b)), y = -log1p(-tt__bits_double(b));
    if (y + y > x * x) return normal_end + x;
  }
}

double tt__bits_normal(tt_bits *b) {
  for (;;) {
    uint64_t w = tt__bits_64(b), place = w >> 9 & UINT64_C(0x000fffffffffffff);
    int strip = (int)(w & 255);
    double x = (double)place * from_bits(normal_w[strip]);
    if (w & 256) x = -x;
    if (place < normal_k[strip]) return x;
    if (strip == 0) return place >> 8 & 1 ? -tail(b) : tail(b);
    if (is_under(b, normal_f, strip, exp(-0.5 * x * x))) return x;
  }
}

double tt__bits_exponential(tt_bits *b) {
  for (;;) {
    uint64_t w = tt__bits_64(b) >> 3, place = w >> 8;
    int strip = (int)(w & 255);
    double x = (double)place * from_bits(exponential_w[strip]);
    if (place < exponential_k[strip]) return x;
    if (strip == 0) return exponential_end - log1p(-tt__bits_double(b));
    if (is_under(b, exponential_f, strip, exp(-x))) return x;
  }
}

/* ---- floats: places of 23 bits */

static float narrow_width(const uint64_t *w, int strip, double scale) {
  if (w == exponential_w && strip == 226) return 0x1.d87948p-22f;
  return (float)(from_bits(w[strip]) * scale);
}

static float narrow_curve(const uint64_t *f, int strip) {
  if (f == exponential_f && strip == 128) return 0x1.816524p-3f;
  if (f == exponential_f && strip == 154) return 0x1.0f3f8p-3f;
  if (f == exponential_f && strip == 171) return 0x1.9f04dcp-4f;
  return (float)from_bits(f[strip]);
}

static float tail_float(tt_bits *b) {
  const float end = (float)normal_end, inverse = (float)normal_end_inverse;
  for (;;) {
    float x = -inverse * log1pf(-tt__bits_float(b)), y = -log1pf(-tt__bits_float(b));
    if (y + y > x * x) return end + x;
  }
}

static float height_float(tt_bits *b, const uint64_t *curve, int strip) {
  float low = narrow_curve(curve, strip);
  return (narrow_curve(curve, strip - 1) - low) * tt__bits_float(b) + low;
}

float tt__bits_normal_float(tt_bits *b) {
  for (;;) {
    uint32_t w = tt__bits_32(b), place = w >> 9;
    int strip = (int)(w & 255);
    float x = (float)place * narrow_width(normal_w, strip, 0x1p29);
    if (w & 256) x = -x;
    if (place < (normal_k[strip] + (1u << 28)) >> 29) return x;
    if (strip == 0) return place >> 8 & 1 ? -tail_float(b) : tail_float(b);
    if ((double)height_float(b, normal_f, strip) < exp(-0.5 * (double)x * (double)x)) return x;
  }
}

float tt__bits_exponential_float(tt_bits *b) {
  for (;;) {
    uint32_t w = tt__bits_32(b) >> 1, place = w >> 8;
    int strip = (int)(w & 255);
    float x = (float)place * narrow_width(exponential_w, strip, 0x1p30);
    if (place < (exponential_k[strip] + (1u << 29)) >> 30) return x;
    if (strip == 0) return (float)exponential_end - log1pf(-tt__bits_float(b));
    if (height_float(b, exponential_f, strip) < expf(-x)) return x;
  }
}
