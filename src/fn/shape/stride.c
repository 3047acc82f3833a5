/*
** Views by strides: as_strided and sliding windows.
*/
#include <string.h>

#include "fn/fn.h"

/* The tuple or number at parameter k as int64; how many, -1 for a failure. */
static int numbers(tt_composer *c, const tt_call_frame *f, int k, int64_t *out) {
  int n = tt__arg_ints(c, f, k, out, TT_MAX_RANK);
  return c->code == TT_OK ? n : -1;
}

/*
** as_strided(x, shape, strides, subok, writeable). Every element must lie in the memory that x is a view of: reading
** beyond it, which NumPy leaves to its caller, is an error.
*/
static tt_array *as_strided(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  if (!x) return NULL;
  int64_t size = (int64_t)tt__dtype_size((tt_dtype)x->dtype);
  int rank = x->rank, nstep = x->rank;
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)rank);
  memcpy(step, tt__array_step(x), sizeof *step * (size_t)rank);
  if (tt__arg_given(f, 1)) rank = numbers(c, f, 1, len);
  if (tt__arg_given(f, 2)) {
    nstep = numbers(c, f, 2, step);
    for (int d = 0; d < nstep; d++) {
      if (step[d] % size) return tt__compose_fail(c, TT_EVALUE, "strides must be multiples of the size of an element");
      step[d] /= size;
    }
  }
  if (c->code != TT_OK) return NULL;
  if (rank != nstep) return tt__compose_fail(c, TT_EVALUE, "mismatch in length of strides and shape");
  int64_t low = x->off, high = x->off, count = 1;
  for (int d = 0; d < rank; d++) {
    int64_t reach;
    if (len[d] < 0) return tt__compose_fail(c, TT_EVALUE, "negative dimensions are not allowed");
    count = count && len[d] ? 1 : 0;
    if (len[d] == 0) continue;
    if (__builtin_mul_overflow(len[d] - 1, step[d], &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
      return tt__compose_fail(c, TT_EVALUE, "array is too big");
  }
  if (count && (low < 0 || high >= x->storage->node->size))
    return tt__compose_fail(c, TT_EVALUE, "strides would make array larger than the memory that it is a view of");
  tt_array *view = tt__compose_view(c, x, rank, len, step, x->off);
  if (view && !tt__arg_bool(c, f, 4, true)) view->readonly = true;
  return view;
}
TT_HANDLER(as_strided)

/* sliding_window_view(x, window_shape, axis, subok, writeable) */
static tt_array *sliding_window_view(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  int64_t window[TT_MAX_RANK], given[TT_MAX_RANK], len[TT_MAX_RANK], step[TT_MAX_RANK];
  int n = numbers(c, f, 1, window), naxis = n, axis[TT_MAX_RANK];
  if (!x || n < 0) return NULL;
  for (int k = 0; k < n; k++)
    if (window[k] < 0) return tt__compose_fail(c, TT_EVALUE, "`window_shape` cannot contain negative values");
  if (tt__arg_given(f, 2)) {
    naxis = numbers(c, f, 2, given);
    for (int k = 0; k < naxis && c->code == TT_OK; k++) c->code = tt__shape_axis(given[k], x->rank, &axis[k], c->err);
    if (c->code == TT_OK && naxis != n)
      return tt__compose_fail(
          c, TT_EVALUE,
          "Must provide matching length window_shape and axis; got %d window_shape elements and %d axes elements.", n,
          naxis);
  } else {
    if (n != x->rank)
      return tt__compose_fail(c, TT_EVALUE,
                              "Since axis is `None`, must provide window_shape for all dimensions of `x`; got %d "
                              "window_shape elements and `x.ndim` is %d.",
                              n, x->rank);
    for (int k = 0; k < n; k++) axis[k] = k;
  }
  if (c->code != TT_OK) return NULL;
  if (x->rank + n > TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "too many axes");
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)x->rank);
  memcpy(step, tt__array_step(x), sizeof *step * (size_t)x->rank);
  for (int k = 0; k < n; k++) {
    int d = axis[k];
    if (len[d] < window[k])
      return tt__compose_fail(c, TT_EVALUE, "window shape cannot be larger than input array shape");
    len[d] -= window[k] - 1;
    len[x->rank + k] = window[k];
    step[x->rank + k] = tt__array_step(x)[d];
  }
  tt_array *view = tt__compose_view(c, x, x->rank + n, len, step, x->off);
  if (view && !tt__arg_bool(c, f, 4, false)) view->readonly = true;
  return view;
}
TT_HANDLER(sliding_window_view)
