/*
** float16 and bfloat16 to float32 and back, rounding to nearest even; NaNs stay NaNs.
*/
#ifndef TT_LIB_PRODUCT_HALF_H
#define TT_LIB_PRODUCT_HALF_H

#include <stdint.h>
#include <string.h>

static inline float tt_bits_to_f32(uint32_t b) {
  float f;
  memcpy(&f, &b, sizeof f);
  return f;
}

static inline uint32_t tt_f32_to_bits(float f) {
  uint32_t b;
  memcpy(&b, &f, sizeof b);
  return b;
}

static inline float tt_half_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
  if (rest >= 0x0f800000) return tt_bits_to_f32(sign | 0x7f800000 | rest); /* infinity, NaN */
  if (rest < 0x00800000) { /* below the least normal: the float unit does the shifting */
    float f = tt_bits_to_f32(rest + 0x38800000) - tt_bits_to_f32(0x38800000);
    return tt_bits_to_f32(sign | tt_f32_to_bits(f));
  }
  return tt_bits_to_f32(sign | (rest + 0x38000000));
}

static inline uint16_t tt_f32_to_half(float f) {
  uint32_t b = tt_f32_to_bits(f), size = b & 0x7fffffff;
  uint16_t sign = (uint16_t)(b >> 16 & 0x8000);
  if (size > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x1ff));
  if (size >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
  if (size < 0x38800000) { /* a denormal: adding 0.5 leaves the rounded bits at the bottom */
    float r = tt_bits_to_f32(size) + 0.5f;
    return (uint16_t)(sign | (tt_f32_to_bits(r) - 0x3f000000));
  }
  size += 0xfff + (size >> 13 & 1);
  return (uint16_t)(sign | ((size - 0x38000000) >> 13));
}

static inline float tt_bf16_to_f32(uint16_t h) { return tt_bits_to_f32((uint32_t)h << 16); }

static inline uint16_t tt_f32_to_bf16(float f) {
  uint32_t b = tt_f32_to_bits(f);
  if ((b & 0x7fffffff) > 0x7f800000) return (uint16_t)(b >> 16 | 0x40);
  return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

#endif
