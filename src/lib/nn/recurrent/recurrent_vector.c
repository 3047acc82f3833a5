/*
** The vector loops of recurrent networks for each level of vectors; see recurrent_vector.h. Fused multiply-add is
** spelled, so that it does not hang on -ffp-contract.
*/
#include "lib/nn/recurrent/recurrent_vector.h"

#include <assert.h>
#include <string.h>

#include "lib/nn/vector_exp.h"
#include "lib/nn/vector_level.h"
#if TT_NN_LEVELS > 1
#include <immintrin.h>
#endif

enum { ROWS = 4, VECTORS = 2 }; /* of a block that stays in registers */

/* What a step reads and writes is the same element or apart; more pointers than a compiler likes to compare. */
#if defined(__clang__)
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (int64_t j = 0; j < n; j++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (int64_t j = 0; j < n; j++)
#endif

#define PLAIN_FMA(c, x, y) ((c) + (x) * (y))
#define PLAIN_FUSED(a, b, c) ((a) * (b) + (c))

#define TARGET
#define LEVEL(x) LEVEL_0(x)
#define LEVEL_0(x) x##_0
#define VECTOR_BYTES 16
#define FMA_F32 PLAIN_FMA
#define FMA_F64 PLAIN_FMA
#define FUSED_F32 PLAIN_FUSED
#define FUSED_F64 PLAIN_FUSED
#include "lib/nn/recurrent/recurrent_level.inc"
#if TT_NN_LEVELS > 1
#define FMA_256_F32(c, x, y) _mm256_fmadd_ps(_mm256_set1_ps(x), y, c)
#define FMA_256_F64(c, x, y) _mm256_fmadd_pd(_mm256_set1_pd(x), y, c)
#define TARGET TT_NN_TARGET_1
#define LEVEL(x) LEVEL_1(x)
#define LEVEL_1(x) x##_1
#define VECTOR_BYTES 32
#define FMA_F32 FMA_256_F32
#define FMA_F64 FMA_256_F64
#define FUSED_F32 __builtin_fmaf
#define FUSED_F64 __builtin_fma
#include "lib/nn/recurrent/recurrent_level.inc"
#define TARGET TT_NN_TARGET_2
#define LEVEL(x) LEVEL_2(x)
#define LEVEL_2(x) x##_2
#ifdef TT_WIDE
#define VECTOR_BYTES 32
#define FMA_F32 FMA_256_F32
#define FMA_F64 FMA_256_F64
#else
#define VECTOR_BYTES 64
#define FMA_F32(c, x, y) _mm512_fmadd_ps(_mm512_set1_ps(x), y, c)
#define FMA_F64(c, x, y) _mm512_fmadd_pd(_mm512_set1_pd(x), y, c)
#endif
#define FUSED_F32 __builtin_fmaf
#define FUSED_F64 __builtin_fma
#include "lib/nn/recurrent/recurrent_level.inc"
#endif

static const tt_recurrent_loops *const loops[TT_NN_LEVELS][2] = {
    {&loops_f32_0, &loops_f64_0},
#if TT_NN_LEVELS > 1
    {&loops_f32_1, &loops_f64_1},
    {&loops_f32_2, &loops_f64_2},
#endif
};

const tt_recurrent_loops *tt__recurrent_loops(tt_dtype t) {
  int level = tt__nn_level();
  assert(level < TT_NN_LEVELS && (t == TT_F32 || t == TT_F64));
  return loops[level][t == TT_F64];
}
