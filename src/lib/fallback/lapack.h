/*
** The part of our own LAPACK that has a file to itself: eigenvalues of general matrices.
*/
#ifndef TT_LIB_FALLBACK_LAPACK_H
#define TT_LIB_FALLBACK_LAPACK_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* x * y without C's repair of infinities, which costs a call. */
static inline double _Complex tt__complex_mul(double _Complex x, double _Complex y) {
  double a = __real__ x, b = __imag__ x, c = __real__ y, d = __imag__ y;
  double _Complex r;
  __real__ r = a * c - b * d;
  __imag__ r = a * d + b * c;
  return r;
}

/*
** A X = X diag(w), A [n, n] column-major and destroyed; x NULL: values only. `is_real`: A has no imaginary part,
** so values come out real or in conjugate pairs. Codes as in lapack.h.
*/
TT_HIDDEN int tt__eig_own(int64_t n, bool is_real, double _Complex *a, double _Complex *w, double _Complex *x);

#endif
