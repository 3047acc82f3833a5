/*
** The vector loops of attention for each level of vectors; see attention_vector.h.
*/
#include "lib/nn/attention/attention_vector.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/nn/vector_exp.h"
#include "lib/nn/vector_level.h"
#include "scalar/prelude.h"

enum { DROP_LANES = 16 };

#define TARGET
#define LEVEL(x) LEVEL_0(x)
#define LEVEL_0(x) x##_0
#define FUSED_F32(a, b, c) ((a) * (b) + (c))
#define FUSED_F64(a, b, c) ((a) * (b) + (c))
#include "lib/nn/attention/attention_vector_level.inc"
#if TT_NN_LEVELS > 1
#define TARGET TT_NN_TARGET_1
#define LEVEL(x) LEVEL_1(x)
#define LEVEL_1(x) x##_1
#define FUSED_F32(a, b, c) __builtin_fmaf(a, b, c)
#define FUSED_F64(a, b, c) __builtin_fma(a, b, c)
#include "lib/nn/attention/attention_vector_level.inc"
#define TARGET TT_NN_TARGET_2
#define LEVEL(x) LEVEL_2(x)
#define LEVEL_2(x) x##_2
#define FUSED_F32(a, b, c) __builtin_fmaf(a, b, c)
#define FUSED_F64(a, b, c) __builtin_fma(a, b, c)
#include "lib/nn/attention/attention_vector_level.inc"
#endif

#define LOOPS(t, n)                                                                                   \
  {                                                                                                   \
    softmax_panel_##t##_##n, softmax_panel_back_##t##_##n, add_panel_##t##_##n, turn_panel_##t##_##n, \
        drop_panel_##t##_##n, multiply_panel_##t##_##n                                                \
  }
static const tt_attention_vector loops[TT_NN_LEVELS][2] = {
    {LOOPS(f32, 0), LOOPS(f64, 0)},
#if TT_NN_LEVELS > 1
    {LOOPS(f32, 1), LOOPS(f64, 1)},
    {LOOPS(f32, 2), LOOPS(f64, 2)},
#endif
};

const tt_attention_vector *tt__attention_vector(tt_dtype sums) {
  int level = tt__nn_level();
  assert(level < TT_NN_LEVELS && (sums == TT_F32 || sums == TT_F64));
  return &loops[level][sums == TT_F64];
}
