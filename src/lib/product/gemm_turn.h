/*
** Squares turned over by vectors, for what packs panels: 4 by 4 floats, 2 by 2 doubles. Only where there is SSE2.
*/
#ifndef TT_LIB_PRODUCT_GEMM_TURN_H
#define TT_LIB_PRODUCT_GEMM_TURN_H

#ifdef __SSE2__
#include <immintrin.h>
#include <stdint.h>

static inline void tt__turn_f32(float *to, int to_step, const float *from, int64_t from_step) {
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_step);
  __m128 c = _mm_loadu_ps(from + 2 * from_step), d = _mm_loadu_ps(from + 3 * from_step);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + to_step, b);
  _mm_storeu_ps(to + 2 * to_step, c);
  _mm_storeu_ps(to + 3 * to_step, d);
}

static inline void tt__turn_f64(double *to, int to_step, const double *from, int64_t from_step) {
  __m128d a = _mm_loadu_pd(from), b = _mm_loadu_pd(from + from_step);
  _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
  _mm_storeu_pd(to + to_step, _mm_unpackhi_pd(a, b));
}
#endif

#endif
