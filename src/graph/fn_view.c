/*
** ndarray.view: the same bytes as another type. Views of the same type share memory, as everywhere. A view of another
** type is what the bytes are when it is asked for: a storage has one type, so it is made read-only rather than let
** writes part from the array unseen.
*/
#include <string.h>

#include "graph/fn.h"

/* The shape in elements of `size` bytes, or a failure in NumPy's words. */
static bool view_shape(tt_calc *c, tt_array *a, int64_t size, int64_t *len) {
  int64_t item = (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  int last = a->rank - 1;
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  if (item == size) return true;
  if (a->rank == 0) {
    tt__calc_fail(c, TT_EVALUE, "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
    return false;
  }
  if (len[last] != 1 && a->size != 0 && tt__array_step(a)[last] != 1) {
    tt__calc_fail(c, TT_EVALUE, "To change to a dtype of a different size, the last axis must be contiguous");
    return false;
  }
  if (item < size && len[last] * item % size != 0) {
    tt__calc_fail(c, TT_EVALUE,
                  "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last "
                  "axis of the array.");
    return false;
  }
  len[last] = len[last] * item / size;
  return true;
}

/* (a, dtype, type) */
static tt_array *array_view(tt_calc *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0);
  if (!a) return NULL;
  tt_dtype type = tt__arg_dtype(c, f, 1, (tt_dtype)a->dtype);
  int64_t len[TT_MAX_RANK];
  int order[TT_MAX_RANK];
  if (c->code != TT_OK || !view_shape(c, a, (int64_t)tt__dtype_size(type), len)) return NULL;
  if (type == (tt_dtype)a->dtype) {
    for (int d = 0; d < a->rank; d++) order[d] = d;
    return tt__calc_transpose(c, a, order);
  }
  tt_lib_attr attr = {.row = tt__lib_row("bits")};
  a = tt__calc_library(c, &attr, &a, 1, type == TT_BOOL ? TT_U8 : type, a->rank, len);
  if (type == TT_BOOL) a = tt__calc_opi(c, TT_NE, a, 0); /* a bool is 0 or 1, whatever the byte */
  if (a) a->readonly = true;
  return a;
}
TT_HANDLER(array_view)
