/*
** ndarray.view, real and imag: the memory of an array as elements of another type (graph/index/alias.h).
*/
#include <string.h>

#include "graph/index/alias.h"
#include "fn/fn.h"

/* (a, dtype, type) */
static tt_array *array_view(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *out;
  if (!a) return NULL;
  tt_dtype type = tt__arg_dtype(c, f, 1, (tt_dtype)a->dtype);
  return c->code == TT_OK ? tt__compose_keep(c, tt__array_as(a, type, &out, c->err), &out) : NULL;
}
TT_HANDLER(array_view)

/* (val) */
static tt_array *real(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *out;
  if (!a || !tt__is_complex((tt_dtype)a->dtype)) return a;
  return tt__compose_keep(c, tt__array_part(a, false, &out, c->err), &out);
}
TT_HANDLER(real)

static tt_array *imag(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *out;
  if (!a) return NULL;
  if (tt__is_complex((tt_dtype)a->dtype)) return tt__compose_keep(c, tt__array_part(a, true, &out, c->err), &out);
  int64_t len[TT_MAX_RANK];
  bool fortran = tt__array_is_f(a) && !tt__array_is_c(a);
  memcpy(len, a->dim, sizeof *len * a->rank);
  if (fortran) tt__reverse_axes(a->rank, len);
  out = tt__compose_turned(c, fortran, tt__compose_full(c, (tt_dtype)a->dtype, a->rank, len, tt_v_int(0)));
  if (out) out->readonly = true;
  return out;
}
TT_HANDLER(imag)
