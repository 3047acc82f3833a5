/*
** Reductions of complex numbers that kernels do not have: products, and extremes in
** lexicographic order with NaN first, as NumPy orders them.
*/
#include <math.h>

#include "lib/device_rows.h"
#include "lib/rows.h"

typedef tt_c128 z;

static z load(const tt_operand *a, int64_t i) {
  if (a->dtype == TT_C128) return ((const tt_c128 *)a->data)[i];
  tt_c64 v = ((const tt_c64 *)a->data)[i];
  return (z){v.re, v.im};
}

static void store(const tt_block *out, int64_t i, z v) {
  if (out->dtype == TT_C128)
    ((tt_c128 *)out->data)[i] = v;
  else
    ((tt_c64 *)out->data)[i] = (tt_c64){(float)v.re, (float)v.im};
}

static bool is_nan(z a) { return isnan(a.re) || isnan(a.im); }

/* Does `b` replace `a` as the extreme? A NaN replaces everything but a NaN. */
static bool replaces(z a, z b, bool largest) {
  if (is_nan(a) || is_nan(b)) return !is_nan(a);
  if (a.re != b.re) return largest ? b.re > a.re : b.re < a.re;
  return largest ? b.im > a.im : b.im < a.im;
}

static z times(z a, z b, tt_dtype t) {
  z r = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return t == TT_C64 ? (z){(float)r.re, (float)r.im} : r;
}

static tt_code reduce_complex(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)err;
  tt_red red = (tt_red)attr->i[0];
  int64_t rows = src->len[0], n = src->len[1];
  bool largest = red == TT_RED_MAX || red == TT_RED_ARGMAX;
  for (int64_t r = 0; r < rows; r++) {
    int64_t base = r * n, best = 0;
    z v = red == TT_RED_PROD ? (z){1, 0} : load(src, base);
    for (int64_t i = red == TT_RED_PROD ? 0 : 1; i < n; i++) {
      z x = load(src, base + i);
      if (red == TT_RED_PROD) {
        v = times(v, x, src->dtype);
      } else if (replaces(v, x, largest)) {
        v = x;
        best = i;
      }
    }
    if (red == TT_RED_ARGMAX || red == TT_RED_ARGMIN)
      ((int64_t *)out->data)[r] = best;
    else
      store(out, r, v);
  }
  return TT_OK;
}

const tt_lib_row tt__rows_reduce[] = {
    {.name = "reduce_complex", .nsrc = 1, .nout = 1, .run = reduce_complex, .run_on = tt__device_reduce_complex},
    {.name = NULL},
};
