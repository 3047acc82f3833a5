/*
** The short transforms for the build's baseline, AVX2 with FMA, and AVX-512. Fused multiply-add is spelled with
** intrinsics, so that it does not hang on -ffp-contract.
*/
#include "lib/fft/lanes.h"

#include "base/os/os.h"

/* The largest radix whose butterfly is written out. */
enum { MOST_WRITTEN = 13 };

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNROLL /* what watches each access would be written out too, and compile for a minute */
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(enable)")
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define EVEN_2 0, 2
#define ODD_2 1, 3
#define LOW_2 0, 2
#define HIGH_2 1, 3
#define TURNED_2 1, 0
#define EVEN_4 0, 2, 4, 6
#define ODD_4 1, 3, 5, 7
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define TURNED_4 3, 2, 1, 0
#define EVEN_8 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_8 1, 3, 5, 7, 9, 11, 13, 15
#define LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define TURNED_8 7, 6, 5, 4, 3, 2, 1, 0
#define EVEN_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_16 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define TURNED_16 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0

/* Vectors without instructions for some of their lanes. */
#define SOME(real, suffix, bytes)                                         \
  typedef real vec_##suffix __attribute__((vector_size(bytes)));          \
  static inline vec_##suffix some_##suffix(const real *at, int n) {       \
    vec_##suffix v = {0};                                                 \
    for (int i = 0; i < (int)((bytes) / sizeof(real)); i++)               \
      if (i < n) v[i] = at[i];                                            \
    return v;                                                             \
  }                                                                       \
  static inline void put_some_##suffix(real *at, vec_##suffix v, int n) { \
    for (int i = 0; i < (int)((bytes) / sizeof(real)); i++)               \
      if (i < n) at[i] = v[i];                                            \
  }
SOME(float, f32_0, 16)
SOME(double, f64_0, 16)

#define NAME(x) x##_f32_0
#define REAL float
#define BYTES 16
#define LANES 4
#define TARGET
#define FMA(c, x, y) ((c) + (x) * (y))
#define FNMA(c, x, y) ((c) - (x) * (y))
#define SPREAD(x) ((vec_f32_0){0} + (x))
#define LOAD_SOME(at, n) some_f32_0(at, n)
#define STORE_SOME(at, v, n) put_some_f32_0(at, v, n)
#include "lib/fft/lanes.inc"

#define NAME(x) x##_f64_0
#define REAL double
#define BYTES 16
#define LANES 2
#define TARGET
#define FMA(c, x, y) ((c) + (x) * (y))
#define FNMA(c, x, y) ((c) - (x) * (y))
#define SPREAD(x) ((vec_f64_0){0} + (x))
#define LOAD_SOME(at, n) some_f64_0(at, n)
#define STORE_SOME(at, v, n) put_some_f64_0(at, v, n)
#include "lib/fft/lanes.inc"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define NAME(x) x##_f32_3
#define REAL float
#define BYTES 32
#define LANES 8
#define TARGET __attribute__((target("avx2,fma")))
#define FMA(c, x, y) ((vec_f32_3)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(c)))
#define FNMA(c, x, y) ((vec_f32_3)_mm256_fnmadd_ps((__m256)(x), (__m256)(y), (__m256)(c)))
#define SPREAD(x) ((vec_f32_3)_mm256_set1_ps(x))
#define FIRST(n) _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LOAD_SOME(at, n) ((vec_f32_3)_mm256_maskload_ps(at, FIRST(n)))
#define STORE_SOME(at, v, n) _mm256_maskstore_ps(at, FIRST(n), (__m256)(v))
#include "lib/fft/lanes.inc"

#define NAME(x) x##_f64_3
#define REAL double
#define BYTES 32
#define LANES 4
#define TARGET __attribute__((target("avx2,fma")))
#define FMA(c, x, y) ((vec_f64_3)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(c)))
#define FNMA(c, x, y) ((vec_f64_3)_mm256_fnmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(c)))
#define SPREAD(x) ((vec_f64_3)_mm256_set1_pd(x))
#define FIRST_WIDE(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))
#define LOAD_SOME(at, n) ((vec_f64_3)_mm256_maskload_pd(at, FIRST_WIDE(n)))
#define STORE_SOME(at, v, n) _mm256_maskstore_pd(at, FIRST_WIDE(n), (__m256d)(v))
#include "lib/fft/lanes.inc"

#ifdef TT_WIDE /* the same text for processors with half of these vectors, for tests */
SOME(float, f32_4, 64)
SOME(double, f64_4, 64)
#define WIDE __attribute__((target("avx2,fma")))
#define FMA_PS512(c, x, y) ((c) + (x) * (y))
#define FNMA_PS512(c, x, y) ((c) - (x) * (y))
#define FMA_PD512(c, x, y) ((c) + (x) * (y))
#define FNMA_PD512(c, x, y) ((c) - (x) * (y))
#define SPREAD_PS512(x) ((vec_f32_4){0} + (x))
#define SPREAD_PD512(x) ((vec_f64_4){0} + (x))
#define LOAD_PS512(at, n) some_f32_4(at, n)
#define LOAD_PD512(at, n) some_f64_4(at, n)
#define STORE_PS512(at, v, n) put_some_f32_4(at, v, n)
#define STORE_PD512(at, v, n) put_some_f64_4(at, v, n)
#else
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#define FMA_PS512(c, x, y) ((vec_f32_4)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(c)))
#define FNMA_PS512(c, x, y) ((vec_f32_4)_mm512_fnmadd_ps((__m512)(x), (__m512)(y), (__m512)(c)))
#define FMA_PD512(c, x, y) ((vec_f64_4)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(c)))
#define FNMA_PD512(c, x, y) ((vec_f64_4)_mm512_fnmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(c)))
#define SPREAD_PS512(x) ((vec_f32_4)_mm512_set1_ps(x))
#define SPREAD_PD512(x) ((vec_f64_4)_mm512_set1_pd(x))
#define MASK(n, most) ((n) <= 0 ? 0u : (n) >= (most) ? (1u << (most)) - 1u : (1u << (n)) - 1u)
#define LOAD_PS512(at, n) ((vec_f32_4)_mm512_maskz_loadu_ps((__mmask16)MASK(n, 16), at))
#define LOAD_PD512(at, n) ((vec_f64_4)_mm512_maskz_loadu_pd((__mmask8)MASK(n, 8), at))
#define STORE_PS512(at, v, n) _mm512_mask_storeu_ps(at, (__mmask16)MASK(n, 16), (__m512)(v))
#define STORE_PD512(at, v, n) _mm512_mask_storeu_pd(at, (__mmask8)MASK(n, 8), (__m512d)(v))
#endif

#define NAME(x) x##_f32_4
#define REAL float
#define BYTES 64
#define LANES 16
#define TARGET WIDE
#define FMA(c, x, y) FMA_PS512(c, x, y)
#define FNMA(c, x, y) FNMA_PS512(c, x, y)
#define SPREAD(x) SPREAD_PS512(x)
#define LOAD_SOME(at, n) LOAD_PS512(at, n)
#define STORE_SOME(at, v, n) STORE_PS512(at, v, n)
#include "lib/fft/lanes.inc"

#define NAME(x) x##_f64_4
#define REAL double
#define BYTES 64
#define LANES 8
#define TARGET WIDE
#define FMA(c, x, y) FMA_PD512(c, x, y)
#define FNMA(c, x, y) FNMA_PD512(c, x, y)
#define SPREAD(x) SPREAD_PD512(x)
#define LOAD_SOME(at, n) LOAD_PD512(at, n)
#define STORE_SOME(at, v, n) STORE_PD512(at, v, n)
#include "lib/fft/lanes.inc"

static const tt_fft_lanes *wider(tt_dtype t, int level) {
  if (level >= 4) return t == TT_C64 ? &lanes_f32_4 : &lanes_f64_4;
  if (level >= 3) return t == TT_C64 ? &lanes_f32_3 : &lanes_f64_3;
  return NULL;
}
#else
static const tt_fft_lanes *wider(tt_dtype t, int level) {
  (void)t, (void)level;
  return NULL;
}
#endif

static int limit = 4;
void tt__fft_limit(int level) { limit = level; }

const tt_fft_lanes *tt__fft_lanes(tt_dtype t) {
  int level = tt__vector_level();
  const tt_fft_lanes *l = wider(t, level < limit ? level : limit);
  if (l) return l;
  return t == TT_C64 ? &lanes_f32_0 : &lanes_f64_0;
}
