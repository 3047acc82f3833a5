/*
** The register-tile kernels of every packed type, for the build's baseline, AVX2+FMA and AVX-512.
** Fused multiply-add is spelled with intrinsics, so that it does not hang on -ffp-contract.
*/
#include "lib/product/gemm_tile.h"

#include "base/os/os.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma")))
#ifdef TT_WIDE /* the same text for processors with half of these vectors, for tests */
#define AVX512 AVX2
#else
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#endif
#else
#define HAS_X86 0
#endif

#define PLAIN_FMA(c, x, y) ((c) + (x) * (y))
#define PLAIN_FNMA(c, x, y) ((c) - (x) * (y))

#define TILE_NAME tile_f32_0
#define TILE_T float
#define TILE_BYTES 16
#define TILE_MR 4
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_f64_0
#define TILE_T double
#define TILE_BYTES 16
#define TILE_MR 4
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_c64_0
#define TILE_T float
#define TILE_BYTES 16
#define TILE_MR 2
#define TILE_NV 2
#define TILE_COMPLEX 1
#define TILE_TARGET
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_c128_0
#define TILE_T double
#define TILE_BYTES 16
#define TILE_MR 2
#define TILE_NV 2
#define TILE_COMPLEX 1
#define TILE_TARGET
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u16_0
#define TILE_T uint16_t
#define TILE_BYTES 16
#define TILE_MR 4
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u32_0
#define TILE_T uint32_t
#define TILE_BYTES 16
#define TILE_MR 4
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u64_0
#define TILE_T uint64_t
#define TILE_BYTES 16
#define TILE_MR 4
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#if HAS_X86
#define FMA_PS256(c, x, y) _mm256_fmadd_ps(_mm256_set1_ps(x), y, c)
#define FNMA_PS256(c, x, y) _mm256_fnmadd_ps(_mm256_set1_ps(x), y, c)
#define FMA_PD256(c, x, y) _mm256_fmadd_pd(_mm256_set1_pd(x), y, c)
#define FNMA_PD256(c, x, y) _mm256_fnmadd_pd(_mm256_set1_pd(x), y, c)
#ifdef TT_WIDE
#define FMA_PS512(c, x, y) PLAIN_FMA(c, x, y)
#define FNMA_PS512(c, x, y) PLAIN_FNMA(c, x, y)
#define FMA_PD512(c, x, y) PLAIN_FMA(c, x, y)
#define FNMA_PD512(c, x, y) PLAIN_FNMA(c, x, y)
#else
#define FMA_PS512(c, x, y) _mm512_fmadd_ps(_mm512_set1_ps(x), y, c)
#define FNMA_PS512(c, x, y) _mm512_fnmadd_ps(_mm512_set1_ps(x), y, c)
#define FMA_PD512(c, x, y) _mm512_fmadd_pd(_mm512_set1_pd(x), y, c)
#define FNMA_PD512(c, x, y) _mm512_fnmadd_pd(_mm512_set1_pd(x), y, c)
#endif

#define TILE_NAME tile_f32_3
#define TILE_T float
#define TILE_BYTES 32
#define TILE_MR 6
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX2
#define TILE_FMA(c, x, y) FMA_PS256(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PS256(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_f64_3
#define TILE_T double
#define TILE_BYTES 32
#define TILE_MR 6
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX2
#define TILE_FMA(c, x, y) FMA_PD256(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PD256(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_c64_3
#define TILE_T float
#define TILE_BYTES 32
#define TILE_MR 3
#define TILE_NV 2
#define TILE_COMPLEX 1
#define TILE_TARGET AVX2
#define TILE_FMA(c, x, y) FMA_PS256(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PS256(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_c128_3
#define TILE_T double
#define TILE_BYTES 32
#define TILE_MR 3
#define TILE_NV 2
#define TILE_COMPLEX 1
#define TILE_TARGET AVX2
#define TILE_FMA(c, x, y) FMA_PD256(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PD256(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u16_3
#define TILE_T uint16_t
#define TILE_BYTES 32
#define TILE_MR 6
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX2
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u32_3
#define TILE_T uint32_t
#define TILE_BYTES 32
#define TILE_MR 6
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX2
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u64_3
#define TILE_T uint64_t
#define TILE_BYTES 32
#define TILE_MR 4
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX2
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_f32_4
#define TILE_T float
#define TILE_BYTES 64
#define TILE_MR 8
#define TILE_NV 3
#define TILE_COMPLEX 0
#define TILE_TARGET AVX512
#define TILE_FMA(c, x, y) FMA_PS512(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PS512(c, x, y)
#include "lib/product/gemm_tile.inc"

#ifndef TT_WIDE
#define PAIRS_PS512(c, x, y) (vec) _mm512_dpbf16_ps((__m512)(c), (__m512bh)_mm512_set1_ps(x), (__m512bh)(y))
#define TILE_NAME tile_bf16_4
#define TILE_T float
#define TILE_BYTES 64
#define TILE_MR 8
#define TILE_NV 3
#define TILE_COMPLEX 0
#define TILE_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")))
#define TILE_FMA(c, x, y) PAIRS_PS512(c, x, y)
#define TILE_FNMA(c, x, y) PAIRS_PS512(c, x, y)
#include "lib/product/gemm_tile.inc"
#endif

#define TILE_NAME tile_f64_4
#define TILE_T double
#define TILE_BYTES 64
#define TILE_MR 8
#define TILE_NV 3
#define TILE_COMPLEX 0
#define TILE_TARGET AVX512
#define TILE_FMA(c, x, y) FMA_PD512(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PD512(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_c64_4
#define TILE_T float
#define TILE_BYTES 64
#define TILE_MR 6
#define TILE_NV 2
#define TILE_COMPLEX 1
#define TILE_TARGET AVX512
#define TILE_FMA(c, x, y) FMA_PS512(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PS512(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_c128_4
#define TILE_T double
#define TILE_BYTES 64
#define TILE_MR 6
#define TILE_NV 2
#define TILE_COMPLEX 1
#define TILE_TARGET AVX512
#define TILE_FMA(c, x, y) FMA_PD512(c, x, y)
#define TILE_FNMA(c, x, y) FNMA_PD512(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u16_4
#define TILE_T uint16_t
#define TILE_BYTES 64
#define TILE_MR 8
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX512
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u32_4
#define TILE_T uint32_t
#define TILE_BYTES 64
#define TILE_MR 8
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX512
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"

#define TILE_NAME tile_u64_4
#define TILE_T uint64_t
#define TILE_BYTES 64
#define TILE_MR 8
#define TILE_NV 2
#define TILE_COMPLEX 0
#define TILE_TARGET AVX512
#define TILE_FMA(c, x, y) PLAIN_FMA(c, x, y)
#define TILE_FNMA(c, x, y) PLAIN_FNMA(c, x, y)
#include "lib/product/gemm_tile.inc"
#endif

static const tt_gemm_tile *tile_of_pairs(void) {
#if HAS_X86 && !defined(TT_WIDE)
  static const tt_gemm_tile pairs = {8, 48, tile_bf16_4};
  return tt__cpu_pairs_bf16() ? &pairs : NULL;
#else
  return NULL;
#endif
}

const tt_gemm_tile *tt__gemm_tile(tt_tile_type type) {
  /* ORDER tt_tile_type */
  static const tt_gemm_tile tiles[][TT_TILE_BF16] = {
    {
        {4, 8, tile_f32_0},
        {4, 4, tile_f64_0},
        {2, 8, tile_c64_0},
        {2, 4, tile_c128_0},
        {4, 16, tile_u16_0},
        {4, 8, tile_u32_0},
        {4, 4, tile_u64_0},
    },
#if HAS_X86
    {
        {6, 16, tile_f32_3},
        {6, 8, tile_f64_3},
        {3, 16, tile_c64_3},
        {3, 8, tile_c128_3},
        {6, 32, tile_u16_3},
        {6, 16, tile_u32_3},
        {4, 8, tile_u64_3},
    },
    {
        {8, 48, tile_f32_4},
        {8, 24, tile_f64_4},
        {6, 32, tile_c64_4},
        {6, 16, tile_c128_4},
        {8, 64, tile_u16_4},
        {8, 32, tile_u32_4},
        {8, 16, tile_u64_4},
    },
#endif
  };
  int level = HAS_X86 ? tt__vector_level() : 0;
  if (type == TT_TILE_BF16) return tile_of_pairs();
  return &tiles[level >= 4 ? 2 : level >= 3 ? 1 : 0][type];
}
