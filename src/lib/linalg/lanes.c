/*
** The elimination of many small matrices side by side, for the build's baseline, AVX2 and AVX-512; and how they come
** into that form and back.
*/
#include "lib/linalg/lanes.h"

#include <assert.h>
#include <math.h>

#include "base/os/os.h"

#define NAME(x) matrix_##x##_0
#define TARGET
#include "lib/linalg/lanes.inc"

#if defined(__x86_64__) && defined(__GNUC__)
#define NAME(x) matrix_##x##_3
#define TARGET __attribute__((target("avx2")))
#include "lib/linalg/lanes.inc"

#define NAME(x) matrix_##x##_4
#ifdef TT_WIDE /* the same text for processors with half of these vectors, for tests */
#define TARGET __attribute__((target("avx2")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#endif
#include "lib/linalg/lanes.inc"

const tt_matrix_lanes *tt__matrix_lanes(void) {
  int level = tt__vector_level();
  return level >= 4 ? &matrix_lanes_4 : level >= 3 ? &matrix_lanes_3 : &matrix_lanes_0;
}
#else
const tt_matrix_lanes *tt__matrix_lanes(void) { return &matrix_lanes_0; }
#endif

/*
** Element (i, j) of matrix w is at src[w * rows * cols + i * down + j * along]; `flat`: all elements of a matrix are
** neighbours on both sides.
*/
#define MOVES(name, number)                                                                                  \
  static void to_lanes_##name(const number *src, int64_t valid, int64_t rows, int64_t cols, int64_t down,    \
                              int64_t along, double *to, int64_t step) {                                     \
    const number *m[TT_MATRIX_LANES];                                                                        \
    for (int64_t w = 0; w < TT_MATRIX_LANES; w++) m[w] = src + (w < valid ? w : valid - 1) * rows * cols;    \
    bool flat = along == 1 && step == cols;                                                                  \
    if (flat) cols *= rows, rows = 1;                                                                        \
    for (int64_t i = 0; i < rows; i++) {                                                                     \
      for (int64_t j = 0; j < cols; j++) {                                                                   \
        double *v = to + (i * step + j) * TT_MATRIX_LANES;                                                   \
        for (int64_t w = 0; w < TT_MATRIX_LANES; w++) v[w] = m[w][i * down + j * along];                     \
      }                                                                                                      \
    }                                                                                                        \
  }                                                                                                          \
  static void from_lanes_##name(const double *from, int64_t step, int64_t valid, int64_t rows, int64_t cols, \
                                int64_t down, int64_t along, number *dst) {                                  \
    for (int64_t w = 0; w < valid; w++) {                                                                    \
      number *m = dst + w * rows * cols;                                                                     \
      for (int64_t i = 0; i < rows; i++) {                                                                   \
        for (int64_t j = 0; j < cols; j++)                                                                   \
          m[i * down + j * along] = (number)from[(i * step + j) * TT_MATRIX_LANES + w];                      \
      }                                                                                                      \
    }                                                                                                        \
  }
MOVES(f32, float)
MOVES(f64, double)

void tt__lanes_load(tt_dtype t, const void *src, int64_t valid, int64_t rows, int64_t cols, bool transposed, double *to,
                    int64_t step) {
  assert(valid > 0 && valid <= TT_MATRIX_LANES && (t == TT_F32 || t == TT_F64));
  int64_t down = transposed ? 1 : cols, along = transposed ? rows : 1;
  if (t == TT_F32)
    to_lanes_f32(src, valid, rows, cols, down, along, to, step);
  else
    to_lanes_f64(src, valid, rows, cols, down, along, to, step);
}

void tt__lanes_store(tt_dtype t, const double *from, int64_t step, int64_t valid, int64_t rows, int64_t cols,
                     bool transposed, void *dst) {
  assert(valid > 0 && valid <= TT_MATRIX_LANES && (t == TT_F32 || t == TT_F64));
  int64_t down = transposed ? 1 : cols, along = transposed ? rows : 1;
  if (t == TT_F32)
    from_lanes_f32(from, step, valid, rows, cols, down, along, dst);
  else
    from_lanes_f64(from, step, valid, rows, cols, down, along, dst);
}

void tt__rows_load(tt_dtype t, const void *src, int64_t rows, int64_t cols, double *to, int64_t step) {
  assert(t == TT_F32 || t == TT_F64);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++)
      to[i * step + j] = t == TT_F32 ? ((const float *)src)[i * cols + j] : ((const double *)src)[i * cols + j];
  }
}

void tt__rows_store(tt_dtype t, const double *from, int64_t step, int64_t rows, int64_t cols, void *dst) {
  assert(t == TT_F32 || t == TT_F64);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) {
      if (t == TT_F32)
        ((float *)dst)[i * cols + j] = (float)from[i * step + j];
      else
        ((double *)dst)[i * cols + j] = from[i * step + j];
    }
  }
}
