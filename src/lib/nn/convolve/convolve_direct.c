/*
** Plain convolutions with few outputs and channels a group (depthwise ones have one of each), element by element: where
** rows of places are long, a tap after the other is added to a row; where they are short and those of taps are long, as
** in the derivative to w, an element after the other is a dot product. A task is the places of one output of one image.
*/
#include <assert.h>
#include <string.h>

#include "base/pool/pool.h"
#include "lib/nn/convolve/convolve_int.h"
#include "lib/nn/vector_level.h"
#include "scalar/prelude.h"

enum {
  ROW = 256,      /* places of a row at a time */
  LANES = 16,     /* sums of a dot product, in a fixed order */
  FEW = 3,        /* outputs a group: a tile of the product has 4 rows or more */
  GRAIN = 1 << 15 /* products of a task */
};

typedef struct direct_job {
  const tt_conv *c;
  void (*plane)(const tt_conv *c, int64_t n, int64_t g, int64_t o);
} direct_job;

/* Which of n elements, that lie `by` apart from `first`, are in [0, in). */
static inline void inside(int64_t first, int64_t by, int64_t in, int64_t *lo, int64_t *hi) {
  if (first < 0) *lo = tt__min64(tt_ceil_div(-first, by), *hi);
  *hi = tt__min64(*hi, first < in ? tt_ceil_div(in - first, by) : 0);
}

#define PLAIN(x) (x)
#define TARGET
#define LEVEL(x) LEVEL_0(x)
#define LEVEL_0(x) x##_0
#include "lib/nn/convolve/convolve_direct.inc"
#if TT_NN_LEVELS > 1
#define TARGET TT_NN_TARGET_1
#define LEVEL(x) LEVEL_1(x)
#define LEVEL_1(x) x##_1
#include "lib/nn/convolve/convolve_direct.inc"
#define TARGET TT_NN_TARGET_2
#define LEVEL(x) LEVEL_2(x)
#define LEVEL_2(x) x##_2
#include "lib/nn/convolve/convolve_direct.inc"
#endif

#define PLANES(n) \
  { [TT_F32] = plane_f32_##n, [TT_F64] = plane_f64_##n, [TT_F16] = plane_f16_##n, [TT_BF16] = plane_bf16_##n }
static void (*const planes_of[TT_NN_LEVELS][TT_DTYPE_COUNT])(const tt_conv *c, int64_t n, int64_t g, int64_t o) = {
    PLANES(0),
#if TT_NN_LEVELS > 1
    PLANES(1),
    PLANES(2),
#endif
};

static void planes(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const direct_job *j = ctx;
  const tt_conv *c = j->c;
  for (int64_t at = lo; at < hi; at++)
    j->plane(c, at / (c->groups * c->outputs), at / c->outputs % c->groups, at % c->outputs);
}

bool tt__convolve_is_direct(const tt_conv *c) {
  bool dots = c->kernel[2] > c->out[2];
  return c->outputs <= FEW && (dots ? c->images : c->channels) <= FEW;
}

void tt__convolve_direct(const tt_conv *c) {
  int level = tt__nn_level();
  assert(level < TT_NN_LEVELS);
  direct_job j = {.c = c, .plane = planes_of[level][c->type]};
  assert(j.plane);
  double each =
      (double)(c->out[0] * c->out[1] * c->out[2] * c->channels) * (double)(c->kernel[0] * c->kernel[1] * c->kernel[2]);
  int64_t n = c->images * c->groups * c->outputs, grain = each < GRAIN ? (int64_t)(GRAIN / each) + 1 : 1;
  tt__pool_run(n, grain, planes, &j);
}
