/*
** Creation functions.
*/
#include <math.h>

#include "fn/fn.h"
#include "graph/host.h"

/* order='F': what is made has its axes the other way round, and the result is its transpose. */
static bool is_fortran(tt_composer *c, const tt_call_frame *f, int k) {
  char order = tt__arg_order(c, f, k, NULL, "C");
  if (order != 'C' && order != 'F') tt__compose_fail(c, TT_EVALUE, "only 'C' or 'F' order is permitted");
  return order == 'F';
}

static int lengths(tt_composer *c, const tt_call_frame *f, bool fortran, int64_t *len) {
  if (f->arg[0].tag == TT_V_NONE) tt__compose_fail(c, TT_ETYPE, "Use () not None as shape arguments");
  int rank = tt__arg_ints(c, f, 0, len, TT_MAX_RANK);
  if (fortran) tt__reverse_axes(rank, len);
  return rank;
}

static tt_array *filled(tt_composer *c, tt_call_frame *f, int64_t with) {
  int64_t len[TT_MAX_RANK];
  bool fortran = is_fortran(c, f, 2);
  int rank = lengths(c, f, fortran, len);
  return tt__compose_turned(c, fortran, tt__compose_full(c, tt__arg_dtype(c, f, 1, TT_F64), rank, len, tt_v_int(with)));
}

static tt_array *zeros(tt_composer *c, tt_call_frame *f) { return filled(c, f, 0); }
static tt_array *ones(tt_composer *c, tt_call_frame *f) { return filled(c, f, 1); }
TT_HANDLER(zeros)
TT_HANDLER(ones)

static tt_array *empty(tt_composer *c, tt_call_frame *f) {
  int64_t len[TT_MAX_RANK];
  bool fortran = is_fortran(c, f, 2);
  int rank = lengths(c, f, fortran, len);
  return tt__compose_turned(c, fortran, tt__compose_empty(c, tt__arg_dtype(c, f, 1, TT_F64), rank, len));
}
TT_HANDLER(empty)

static tt_array *full(tt_composer *c, tt_call_frame *f) {
  int64_t len[TT_MAX_RANK];
  bool fortran = is_fortran(c, f, 3);
  int rank = lengths(c, f, fortran, len);
  const tt_value *v = &f->arg[1];
  if (v->tag == TT_V_ARRAY || v->tag == TT_V_TUPLE) {
    tt_array *a = tt__value_as_array(c, v);
    tt_array *out = a ? tt__compose_empty(c, tt__arg_dtype(c, f, 2, (tt_dtype)a->dtype), rank, len) : NULL;
    out = tt__compose_turned(c, fortran, out);
    return tt__compose_set(c, out, tt_v_array(a)) ? out : NULL;
  }
  tt_dtype own = tt__value_dtype(v);
  if (own == TT_DTYPE_NONE) return tt__compose_fail(c, TT_ETYPE, "fill_value must be a number");
  tt_dtype type = tt__arg_dtype(c, f, 2, own);
  return tt__compose_turned(c, fortran, tt__compose_full(c, type, rank, len, tt__fn_fill_value(*v, type)));
}
TT_HANDLER(full)

/* How many steps fit, with NumPy's words for those that do not. */
static int64_t arange_count(tt_composer *c, double start, double stop, double step) {
  if (step == 0) {
    tt__compose_fail(c, TT_EZERODIV, "division by zero");
    return 0;
  }
  double n = ceil((stop - start) / step);
  if (!(n < 9.2e18)) {
    tt__compose_fail(c, TT_EVALUE, isnan(n) ? "arange: cannot compute length" : "Maximum allowed size exceeded");
    return 0;
  }
  return n > 0 ? (int64_t)n : 0;
}

static tt_value number(tt_composer *c, const tt_call_frame *f, int k, int64_t fallback) {
  if (!tt__arg_given(f, k)) return tt_v_int(fallback);
  tt_value v = f->arg[k];
  if (v.tag == TT_V_ARRAY && c->code == TT_OK && tt__compose_look(c, v.as.array))
    c->code = tt__item(f->arg[k].as.array, &v, c->err);
  if (v.tag == TT_V_BOOL) v = tt_v_int(v.as.b);
  if (v.tag != TT_V_INT && v.tag != TT_V_UINT && v.tag != TT_V_FLOAT)
    tt__compose_fail(c, TT_ETYPE, "arange() not supported for inputs that are not real numbers");
  return v;
}

static double as_double(const tt_value *v) {
  return v->tag == TT_V_INT ? (double)v->as.i : v->tag == TT_V_UINT ? (double)v->as.u : v->as.f;
}

static tt_array *arange(tt_composer *c, tt_call_frame *f) {
  bool one = !tt__arg_given(f, 1);
  if (one && !tt__arg_given(f, 0)) return tt__compose_fail(c, TT_ETYPE, "arange() requires stop to be specified.");
  tt_value start = one ? tt_v_int(0) : number(c, f, 0, 0), stop = number(c, f, one ? 0 : 1, 0),
           step = number(c, f, 2, 1);
  if (c->code != TT_OK) return NULL;
  bool whole = start.tag == TT_V_INT && stop.tag == TT_V_INT && step.tag == TT_V_INT;
  tt_dtype type = tt__arg_dtype(c, f, 3, whole ? TT_I64 : TT_F64);
  int64_t n;
  if (whole && step.as.i != 0) {
    __int128 span = (__int128)stop.as.i - start.as.i, by = step.as.i;
    __int128 count = by > 0 ? (span + by - 1) / by : (span + by + 1) / by;
    if (count > INT64_MAX) return tt__compose_fail(c, TT_EVALUE, "Maximum allowed size exceeded");
    n = count > 0 ? (int64_t)count : 0;
  } else {
    n = arange_count(c, as_double(&start), as_double(&stop), as_double(&step));
  }
  if (type == TT_BOOL && n > 2)
    tt__compose_fail(c, TT_ETYPE, "arange() is only supported for booleans when the result has at most length 2.");
  if (c->code != TT_OK) return NULL;
  tt_array *out = NULL;
  return tt__compose_keep(c, tt__arange(type, &start, &step, n, &out, c->err), &out);
}
TT_HANDLER(arange)
