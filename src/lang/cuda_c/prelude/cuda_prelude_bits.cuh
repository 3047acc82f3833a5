/*
** Bits of 16-bit floats and back, for CUDA C and OpenCL C on the CPU. Behind cuda_prelude.cuh.
*/
#ifdef TT_HALF /* the program names them */
TT_INLINE unsigned short tt_half_bits(float f) {
  unsigned u = __builtin_bit_cast(unsigned, f), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u >= 0x47800000u) return (unsigned short)(sign | (u > 0x7f800000u ? 0x7e00u : 0x7c00u)); /* NaN, too big */
  if (u < 0x38800000u) { /* the addition rounds to a multiple of the least subnormal */
    float tiny = __builtin_bit_cast(float, u) + 0.5f;
    return (unsigned short)(sign | (__builtin_bit_cast(unsigned, tiny) - 0x3f000000u));
  }
  return (unsigned short)(sign | ((u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13));
}
TT_INLINE float tt_half_float(unsigned short h) {
  unsigned sign = (unsigned)(h & 0x8000) << 16, e = h >> 10 & 31u, m = h & 0x3ffu;
  if (e == 31) return __builtin_bit_cast(float, sign | 0x7f800000u | m << 13);
  if (e == 0) return __builtin_bit_cast(float, sign | __builtin_bit_cast(unsigned, (float)m * 0x1p-24f));
  return __builtin_bit_cast(float, sign | (e + 112) << 23 | m << 13);
}
/* The same number but for its last digit, which says whether something was cut off: it can be rounded again. */
TT_INLINE float tt_odd_float(double d) {
  float f = (float)d;
  if ((double)f == d || d != d || (__builtin_bit_cast(unsigned, f) & 1)) return f;
  bool beyond = __builtin_fabs((double)f) > __builtin_fabs(d);
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, f) + (beyond ? ~0u : 1u));
}
#endif
