/*
** Transposing copies in squares that fit a cache, and loops over whole matrices.
*/
#include "lib/linalg/move.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SQUARE = 16 };

/* dst[j * ld + i] = src[i * step + j], i < rows, j < cols; both directions are this one. */
#define TRANSPOSE(name, S, D, CONVERT)                                                           \
  static void name(const S *src, int64_t step, D *dst, int64_t ld, int64_t rows, int64_t cols) { \
    for (int64_t i0 = 0; i0 < rows; i0 += SQUARE) {                                              \
      int64_t i1 = i0 + SQUARE < rows ? i0 + SQUARE : rows;                                      \
      for (int64_t j0 = 0; j0 < cols; j0 += SQUARE) {                                            \
        int64_t j1 = j0 + SQUARE < cols ? j0 + SQUARE : cols;                                    \
        for (int64_t j = j0; j < j1; j++) {                                                      \
          for (int64_t i = i0; i < i1; i++) dst[j * ld + i] = CONVERT(D, src[i * step + j]);     \
        }                                                                                        \
      }                                                                                          \
    }                                                                                            \
  }
#define SAME(D, x) (x)
#define CAST(D, x) ((D)(x))
#define CAST_BOTH(D, x) ((D){(x).re, (x).im})
#define NARROW_BOTH(D, x) ((D){(float)(x).re, (float)(x).im})
TRANSPOSE(copy_f32, float, float, SAME)
TRANSPOSE(copy_f64, double, double, SAME)
TRANSPOSE(copy_c64, tt_c64, tt_c64, SAME)
TRANSPOSE(copy_c128, tt_c128, tt_c128, SAME)
TRANSPOSE(widen_f32, float, double, CAST)
TRANSPOSE(narrow_f64, double, float, CAST)
TRANSPOSE(widen_c64, tt_c64, tt_c128, CAST_BOTH)
TRANSPOSE(narrow_c128, tt_c128, tt_c64, NARROW_BOTH)

static void transpose(tt_dtype from, tt_dtype to, const void *src, int64_t step, void *dst, int64_t ld, int64_t rows,
                      int64_t cols) {
  switch (from) {
    case TT_F32:
      to == TT_F32 ? copy_f32(src, step, dst, ld, rows, cols) : widen_f32(src, step, dst, ld, rows, cols);
      break;
    case TT_F64:
      to == TT_F64 ? copy_f64(src, step, dst, ld, rows, cols) : narrow_f64(src, step, dst, ld, rows, cols);
      break;
    case TT_C64:
      to == TT_C64 ? copy_c64(src, step, dst, ld, rows, cols) : widen_c64(src, step, dst, ld, rows, cols);
      break;
    case TT_C128:
      to == TT_C128 ? copy_c128(src, step, dst, ld, rows, cols) : narrow_c128(src, step, dst, ld, rows, cols);
      break;
    default:
      assert(false && "a float or complex type");
  }
}

void tt__matrix_load(tt_dtype from, tt_dtype to, const void *src, int64_t rows, int64_t cols, void *dst, int64_t ld) {
  assert(rows >= 0 && cols >= 0 && ld >= rows);
  transpose(from, to, src, cols, dst, ld, rows, cols);
}

void tt__matrix_store(tt_dtype from, tt_dtype to, const void *src, int64_t ld, void *dst, int64_t rows, int64_t cols) {
  assert(rows >= 0 && cols >= 0 && ld >= rows);
  transpose(from, to, src, ld, dst, cols, cols, rows);
}

tt_c128 tt__matrix_get(tt_dtype t, const void *m, int64_t at) {
  assert(at >= 0 && t >= TT_F32 && t <= TT_C128);
  switch (t) {
    case TT_F32:
      return (tt_c128){((const float *)m)[at], 0};
    case TT_F64:
      return (tt_c128){((const double *)m)[at], 0};
    case TT_C64:
      return (tt_c128){((const tt_c64 *)m)[at].re, ((const tt_c64 *)m)[at].im};
    default:
      return ((const tt_c128 *)m)[at];
  }
}

void tt__matrix_set(tt_dtype t, void *m, int64_t at, tt_c128 value) {
  assert(at >= 0 && t >= TT_F32 && t <= TT_C128);
  switch (t) {
    case TT_F32:
      ((float *)m)[at] = (float)value.re;
      break;
    case TT_F64:
      ((double *)m)[at] = value.re;
      break;
    case TT_C64:
      ((tt_c64 *)m)[at] = (tt_c64){(float)value.re, (float)value.im};
      break;
    default:
      ((tt_c128 *)m)[at] = value;
      break;
  }
}

void tt__matrix_identity(tt_dtype t, int64_t n, void *m) {
  assert(n >= 0);
  memset(m, 0, (size_t)(n * n) * tt__dtype_size(t));
  for (int64_t i = 0; i < n; i++) tt__matrix_set(t, m, i * (n + 1), (tt_c128){1, 0});
}

void tt__matrix_adjoint(tt_dtype t, int64_t n, void *m) {
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i <= j; i++) {
      tt_c128 x = tt__matrix_get(t, m, i + j * n), y = tt__matrix_get(t, m, j + i * n);
      tt__matrix_set(t, m, i + j * n, (tt_c128){y.re, -y.im});
      tt__matrix_set(t, m, j + i * n, (tt_c128){x.re, -x.im});
    }
  }
}

void tt__matrix_zero_above(tt_dtype t, int64_t rows, int64_t cols, void *m) {
  size_t size = tt__dtype_size(t);
  for (int64_t j = 1; j < cols; j++)
    memset((char *)m + (size_t)(j * rows) * size, 0, (size_t)(j < rows ? j : rows) * size);
}

void tt__matrix_zero_below(tt_dtype t, int64_t rows, int64_t cols, void *m) {
  size_t size = tt__dtype_size(t);
  for (int64_t j = 0; j < cols && j + 1 < rows; j++) {
    memset((char *)m + (size_t)(j * rows + j + 1) * size, 0, (size_t)(rows - j - 1) * size);
  }
}

bool tt__matrix_finite(tt_dtype t, int64_t count, const void *m) {
  assert(count >= 0 && t >= TT_F32 && t <= TT_C128);
  bool is_double = tt__real_of(t) == TT_F64;
  int64_t numbers = tt__is_complex(t) ? 2 * count : count;
  double sum = 0; /* 0 * x is NaN exactly when x is not finite, and NaN stays */
  if (is_double) {
    for (int64_t i = 0; i < numbers; i++) sum += 0 * ((const double *)m)[i];
  } else {
    for (int64_t i = 0; i < numbers; i++) sum += 0 * ((const float *)m)[i];
  }
  return !isnan(sum);
}

bool tt__matrix_finite_lower(tt_dtype t, int64_t n, bool upper, const void *m) {
  assert(n >= 0 && t >= TT_F32 && t <= TT_C128);
  int64_t size = (int64_t)tt__dtype_size(t);
  for (int64_t j = 0; j < n; j++) {
    int64_t lo = upper ? 0 : j, hi = upper ? j + 1 : n;
    if (!tt__matrix_finite(t, hi - lo, (const char *)m + (j * n + lo) * size)) return false;
  }
  return true;
}
