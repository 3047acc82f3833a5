/*
** See gemm_direct.h. AVX2 and AVX-512; fused multiply-add is spelled with intrinsics, so that it does not hang on
** -ffp-contract.
*/
#include "lib/product/gemm_direct.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TT_WIDE)
#include <immintrin.h>

enum { ROWS = 8, MOST_K = 64, MOST_WORK = 1 << 16 };

#define DIRECT_PASTE(name, what) name##_##what
#define DIRECT_NAMED(name, what) DIRECT_PASTE(name, what)
#define DIRECT(what) DIRECT_NAMED(DIRECT_NAME, what)
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

#define DIRECT_NAME f32_3
#define DIRECT_T float
#define DIRECT_BYTES 32
#define DIRECT_TARGET AVX2
#define DIRECT_FMA(c, x, y) _mm256_fmadd_ps(_mm256_set1_ps(x), y, c)
#include "lib/product/gemm_direct.inc"

#define DIRECT_NAME f64_3
#define DIRECT_T double
#define DIRECT_BYTES 32
#define DIRECT_TARGET AVX2
#define DIRECT_FMA(c, x, y) _mm256_fmadd_pd(_mm256_set1_pd(x), y, c)
#include "lib/product/gemm_direct.inc"

#define DIRECT_NAME f32_4
#define DIRECT_T float
#define DIRECT_BYTES 64
#define DIRECT_TARGET AVX512
#define DIRECT_FMA(c, x, y) _mm512_fmadd_ps(_mm512_set1_ps(x), y, c)
#include "lib/product/gemm_direct.inc"

#define DIRECT_NAME f64_4
#define DIRECT_T double
#define DIRECT_BYTES 64
#define DIRECT_TARGET AVX512
#define DIRECT_FMA(c, x, y) _mm512_fmadd_pd(_mm512_set1_pd(x), y, c)
#include "lib/product/gemm_direct.inc"

bool tt__gemm_direct(const tt_gemm *g) {
  static void (*const product[2][2])(const tt_gemm *) = {{f32_3_product, f64_3_product},
                                                         {f32_4_product, f64_4_product}};
  assert(g->m >= 0 && g->n >= 0 && g->k >= 0);
  int level = tt__vector_level();
  bool is_float = g->type == TT_F32 || g->type == TT_F64;
  if (level < 3 || !is_float || g->put != TT_GEMM_SET || g->csb != 1 || g->csc != 1 || g->k > MOST_K) return false;
  if (g->m < 4 || g->n < 4 || (double)g->m * (double)g->n * (double)g->k > MOST_WORK) return false;
  product[level >= 4][g->type == TT_F64](g);
  return true;
}
#else
bool tt__gemm_direct(const tt_gemm *g) {
  (void)g;
  return false;
}
#endif
