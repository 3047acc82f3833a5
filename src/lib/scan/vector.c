/*
** Each register is summed up inside itself by shifting and adding; only one addition waits for the register before.
** The scalar loop waits for every element.
*/
#include "lib/scan/vector.h"

#include "base/os/os.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define V4 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

V4 static void run_u64(const uint64_t *in, uint64_t *out, int64_t n, uint64_t before) {
  const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(7);
  __m512i sum = _mm512_set1_epi64((long long)before);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m512i v = _mm512_loadu_si512(in + i);
    v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 7));
    v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 6));
    v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 4));
    _mm512_storeu_si512(out + i, _mm512_add_epi64(v, sum));
    sum = _mm512_add_epi64(sum, _mm512_permutexvar_epi64(last, v));
  }
  before = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(sum));
  for (; i < n; i++) out[i] = before += in[i];
}

V4 static void run_u32(const uint32_t *in, uint32_t *out, int64_t n, uint32_t before) {
  const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi32(15);
  __m512i sum = _mm512_set1_epi32((int)before);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    __m512i v = _mm512_loadu_si512(in + i);
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 15));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 14));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 12));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 8));
    _mm512_storeu_si512(out + i, _mm512_add_epi32(v, sum));
    sum = _mm512_add_epi32(sum, _mm512_permutexvar_epi32(last, v));
  }
  before = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(sum));
  for (; i < n; i++) out[i] = before += in[i];
}

bool tt__vector_run_u64(const uint64_t *in, uint64_t *out, int64_t n, uint64_t before) {
  if (tt__cpu_level() < 4) return false;
  run_u64(in, out, n, before);
  return true;
}

bool tt__vector_run_u32(const uint32_t *in, uint32_t *out, int64_t n, uint32_t before) {
  if (tt__cpu_level() < 4) return false;
  run_u32(in, out, n, before);
  return true;
}

#else

bool tt__vector_run_u64(const uint64_t *in, uint64_t *out, int64_t n, uint64_t before) {
  (void)in, (void)out, (void)n, (void)before;
  return false;
}

bool tt__vector_run_u32(const uint32_t *in, uint32_t *out, int64_t n, uint32_t before) {
  (void)in, (void)out, (void)n, (void)before;
  return false;
}

#endif
