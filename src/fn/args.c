/*
** Reading the arguments of a call; see compose.h.
*/
#include <assert.h>
#include <string.h>

#include "fn/compose.h"
#include "graph/host.h"

bool tt__arg_given(const tt_call_frame *f, int k) {
  return k >= 0 && k < f->narg && f->arg[k].tag != TT_V_MISSING && f->arg[k].tag != TT_V_NONE;
}

/* A sequence of array-likes of one shape, stacked along a new first axis. */
static tt_array *stacked(tt_composer *c, const tt_value *v) {
  int64_t n = v->as.tuple.n, len[TT_MAX_RANK + 1] = {n};
  if (n == 0) return tt__compose_empty(c, TT_F64, 1, len);
  tt_dtype dtype = TT_DTYPE_NONE;
  tt_array *whole = NULL;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < n; i++) {
      tt_array *a = tt__value_as_array(c, &v->as.tuple.item[i]);
      if (!a) return NULL;
      if (pass == 0) {
        if (i == 0) memcpy(len + 1, tt__array_len(a), sizeof *len * a->rank);
        dtype = i == 0 ? (tt_dtype)a->dtype : tt__promote(dtype, (tt_dtype)a->dtype);
        if (i + 1 == n) whole = tt__compose_empty(c, dtype, a->rank + 1, len);
        continue;
      }
      if (!whole) return NULL;
      if (a->rank + 1 != whole->rank || memcmp(tt__array_len(a), len + 1, sizeof *len * a->rank) != 0)
        return tt__compose_fail(
            c, TT_EVALUE,
            "setting an array element with a sequence. The requested array has an inhomogeneous shape "
            "after 1 dimensions.");
      tt_array *part = tt__compose_slice(c, whole, 0, i, 1, 1);
      if (!tt__compose_set(c, part, tt_v_array(a))) return NULL;
    }
  }
  return whole;
}

tt_array *tt__value_as_array(tt_composer *c, const tt_value *v) {
  if (c->code != TT_OK) return NULL;
  if (v->tag == TT_V_ARRAY) return v->as.array;
  if (v->tag == TT_V_TUPLE) return stacked(c, v);
  tt_array *a = NULL;
  return tt__compose_keep(c, tt__value_array(v, TT_DTYPE_NONE, &a, c->err), &a);
}

tt_array *tt__arg_array(tt_composer *c, const tt_call_frame *f, int k) {
  assert(k >= 0);
  if (k >= f->narg || f->arg[k].tag == TT_V_MISSING)
    return tt__compose_fail(c, TT_ETYPE, "missing required argument %d", k + 1);
  return tt__value_as_array(c, &f->arg[k]);
}

tt_array *tt__arg_array_of(tt_composer *c, const tt_call_frame *f, int k, tt_dtype dtype) {
  tt_array *a = tt__arg_array(c, f, k), *made = NULL;
  if (!a || f->arg[k].tag == TT_V_ARRAY || f->arg[k].tag == TT_V_TUPLE) return tt__compose_cast(c, a, dtype);
  return tt__compose_keep(c, tt__value_array(&f->arg[k], dtype, &made, c->err), &made);
}

tt_value tt__arg_value(tt_composer *c, const tt_call_frame *f, int k) {
  assert(k >= 0);
  if (k >= f->narg || f->arg[k].tag == TT_V_MISSING)
    tt__compose_fail(c, TT_ETYPE, "missing required argument %d", k + 1);
  if (c->code == TT_OK && f->arg[k].tag != TT_V_TUPLE) return f->arg[k];
  tt_array *a = c->code == TT_OK ? tt__value_as_array(c, &f->arg[k]) : NULL;
  return a ? tt_v_array(a) : tt_v_int(0);
}

/* `plain`: not a truth value, which counts nothing. */
static bool int_of(tt_composer *c, const tt_value *v, bool plain, int64_t *out) {
  tt_value item;
  if (plain && (v->tag == TT_V_BOOL || (v->tag == TT_V_ARRAY && v->as.array->dtype == TT_BOOL)))
    return tt__compose_fail(c, TT_ETYPE, "an integer is required"), false;
  if (v->tag == TT_V_ARRAY && v->as.array->rank > 0)
    return tt__compose_fail(c, TT_ETYPE, "only integer scalar arrays can be converted to a scalar index"), false;
  if (v->tag == TT_V_ARRAY && (tt__is_int((tt_dtype)v->as.array->dtype) || v->as.array->dtype == TT_BOOL)) {
    if ((c->code = tt__item(v->as.array, &item, c->err)) != TT_OK) return false;
    v = &item;
  }
  switch (v->tag) {
    case TT_V_INT:
      *out = v->as.i;
      return true;
    case TT_V_BOOL:
      *out = v->as.b;
      return true;
    case TT_V_UINT:
      tt__compose_fail(c, TT_EOVERFLOW, "Python int too large to convert to C long");
      return false;
    case TT_V_FLOAT:
      tt__compose_fail(c, TT_ETYPE, "'float' object cannot be interpreted as an integer");
      return false;
    default:
      tt__compose_fail(c, TT_ETYPE, "an integer is required");
      return false;
  }
}

int64_t tt__arg_int(tt_composer *c, const tt_call_frame *f, int k, int64_t fallback) {
  int64_t i = fallback;
  if (c->code == TT_OK && tt__arg_given(f, k)) int_of(c, &f->arg[k], false, &i);
  return i;
}

double tt__arg_float(tt_composer *c, const tt_call_frame *f, int k, double fallback) {
  if (c->code != TT_OK || !tt__arg_given(f, k)) return fallback;
  tt_scalar s;
  tt_value item, *v = (tt_value *)&f->arg[k];
  if (v->tag == TT_V_ARRAY) {
    if (v->as.array->size != 1)
      return tt__compose_fail(c, TT_ETYPE, "only 0-dimensional arrays can be converted to Python scalars"), fallback;
    if (!tt__compose_look(c, v->as.array)) return fallback;
    if ((c->code = tt__item(v->as.array, &item, c->err)) != TT_OK) return fallback;
    v = &item;
  }
  c->code = tt__value_scalar(v, TT_F64, &s, c->err);
  return c->code == TT_OK ? s.f64 : fallback;
}

tt_array *tt__arg_mask(tt_composer *c, const tt_call_frame *f, int k) {
  if (k >= f->narg || f->arg[k].tag == TT_V_MISSING || (f->arg[k].tag == TT_V_BOOL && f->arg[k].as.b)) return NULL;
  tt_array *a = tt__arg_array(c, f, k);
  return a && tt__compose_may_cast(c, (tt_dtype)a->dtype, TT_BOOL, "safe") ? a : NULL;
}

bool tt__arg_bool(tt_composer *c, const tt_call_frame *f, int k, bool fallback) {
  tt_value item;
  bool one = c->code == TT_OK && tt__arg_given(f, k) && f->arg[k].tag == TT_V_ARRAY && f->arg[k].as.array->size == 1;
  if (!one) return tt__arg_int(c, f, k, fallback) != 0;
  c->code = tt__item(f->arg[k].as.array, &item, c->err); /* whatever its axes */
  tt_call_frame g = {.arg = &item, .narg = 1};
  return c->code == TT_OK && tt__arg_int(c, &g, 0, fallback) != 0;
}

tt_dtype tt__arg_dtype(tt_composer *c, const tt_call_frame *f, int k, tt_dtype fallback) {
  if (c->code != TT_OK || !tt__arg_given(f, k)) return fallback;
  const tt_value *v = &f->arg[k];
  if (v->tag == TT_V_DTYPE) return v->as.dtype;
  tt_dtype t = v->tag == TT_V_STRING ? tt__dtype_named(v->as.s) : TT_DTYPE_NONE;
  if (t == TT_DTYPE_NONE)
    tt__compose_fail(c, TT_ETYPE, "data type '%s' not understood", v->tag == TT_V_STRING ? v->as.s : "?");
  return t;
}

const char *tt__arg_string(tt_composer *c, const tt_call_frame *f, int k, const char *fallback) {
  if (c->code != TT_OK || !tt__arg_given(f, k)) return fallback;
  if (f->arg[k].tag == TT_V_STRING) return f->arg[k].as.s;
  tt__compose_fail(c, TT_ETYPE, "argument %d must be a string", k + 1);
  return fallback;
}

bool tt__compose_may_cast(tt_composer *c, tt_dtype from, tt_dtype to, const char *rule) {
  bool ok = false;
  if (c->code == TT_OK) c->code = tt__can_cast(from, to, rule, &ok, c->err);
  if (c->code == TT_OK && !ok)
    tt__compose_fail(c, TT_ETYPE, "Cannot cast array data from dtype('%s') to dtype('%s') according to the rule '%s'",
                     tt__dtypes[from].name, tt__dtypes[to].name, rule);
  return ok;
}

char tt__arg_order(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, const char *fallback) {
  const char *s = tt__arg_string(c, f, k, fallback);
  char o = (char)(s[0] & ~32);
  if (!s[0] || s[1] || !strchr("CFAK", o)) {
    tt__compose_fail(c, TT_EVALUE, "order must be one of 'C', 'F', 'A', or 'K' (got '%s')", s);
    return 'C';
  }
  if (o == 'A' && a) return tt__array_is_f(a) && !tt__array_is_c(a) ? 'F' : 'C';
  return o;
}

int tt__arg_ints(tt_composer *c, const tt_call_frame *f, int k, int64_t *out, int most) {
  assert(most >= 0);
  if (c->code != TT_OK || !tt__arg_given(f, k)) return 0;
  const tt_value *v = &f->arg[k];
  if (v->tag == TT_V_ARRAY && v->as.array->rank == 1) { /* a shape or axes in an array */
    if (v->as.array->size > 0 && !tt__is_int((tt_dtype)v->as.array->dtype)) {
      tt__compose_fail(c, TT_ETYPE, "'%s' object cannot be interpreted as an integer",
                       tt__dtypes[v->as.array->dtype].name);
      return 0;
    }
    tt_array *a = tt__compose_cast(c, v->as.array, TT_I64);
    if (a && a->size <= most)
      c->code = tt__read(a, out, sizeof *out * (size_t)most, c->err);
    else
      tt__compose_fail(c, TT_EVALUE, "too many values: %lld", (long long)v->as.array->size);
    return c->code == TT_OK ? (int)a->size : 0;
  }
  if (v->tag != TT_V_TUPLE) return int_of(c, v, true, out) ? 1 : 0;
  if (v->as.tuple.n > most) {
    tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found %lld",
                     (long long)v->as.tuple.n);
    return 0;
  }
  for (int64_t i = 0; i < v->as.tuple.n; i++)
    if (!int_of(c, &v->as.tuple.item[i], true, &out[i])) return 0;
  return (int)v->as.tuple.n;
}

int tt__arg_axis(tt_composer *c, const tt_call_frame *f, int k, int rank, int fallback) {
  assert(rank >= 0);
  if (c->code != TT_OK || !tt__arg_given(f, k)) return fallback;
  int axis = 0;
  int64_t raw = 0;
  if (int_of(c, &f->arg[k], false, &raw)) c->code = tt__shape_axis(raw, rank, &axis, c->err);
  return axis;
}

uint64_t tt__arg_axes(tt_composer *c, const tt_call_frame *f, int k, int rank) {
  assert(rank >= 0 && rank <= TT_MAX_RANK);
  uint64_t all = rank == 64 ? ~UINT64_C(0) : (UINT64_C(1) << rank) - 1, set = 0;
  if (c->code != TT_OK || !tt__arg_given(f, k)) return all;
  int64_t raw[TT_MAX_RANK];
  int n = tt__arg_ints(c, f, k, raw, TT_MAX_RANK);
  if (rank == 0 && n == 1 && f->arg[k].tag != TT_V_TUPLE && (raw[0] == 0 || raw[0] == -1)) return 0; /* as ufuncs do */
  for (int i = 0; i < n && c->code == TT_OK; i++) {
    int axis = 0;
    c->code = tt__shape_axis(raw[i], rank, &axis, c->err);
    if (c->code == TT_OK && set >> axis & 1) tt__compose_fail(c, TT_EVALUE, "duplicate value in 'axis'");
    set |= UINT64_C(1) << axis;
  }
  return set;
}

tt_array *tt__arg_out(tt_composer *c, const tt_call_frame *f, int k, tt_array *result) {
  if (!result || c->code != TT_OK || !tt__arg_given(f, k)) return result;
  if (f->arg[k].tag != TT_V_ARRAY) return tt__compose_fail(c, TT_ETYPE, "return arrays must be of ArrayType");
  tt_array *out = f->arg[k].as.array;
  if (out->readonly) return tt__compose_fail(c, TT_EVALUE, "output array is read-only");
  if (out->rank != result->rank ||
      memcmp(tt__array_len(out), tt__array_len(result), sizeof(int64_t) * out->rank) != 0) {
    char have[200], want[200];
    tt__shape_text(out->rank, tt__array_len(out), have, sizeof have);
    tt__shape_text(result->rank, tt__array_len(result), want, sizeof want);
    return tt__compose_fail(c, TT_EVALUE, "output array has wrong shape: expected %s, got %s", want, have);
  }
  if (!tt__can_cast_same_kind((tt_dtype)result->dtype, (tt_dtype)out->dtype))
    return tt__compose_fail(c, TT_ETYPE,
                            "Cannot cast output from dtype('%s') to dtype('%s') with casting rule 'same_kind'",
                            tt__dtypes[result->dtype].name, tt__dtypes[out->dtype].name);
  return tt__compose_set(c, out, tt_v_array(result)) ? out : NULL;
}

tt_array *tt__arg_out_spread(tt_composer *c, const tt_call_frame *f, int k, tt_array *result) {
  if (result && tt__arg_given(f, k) && f->arg[k].tag == TT_V_ARRAY)
    result = tt__compose_broadcast(c, result, f->arg[k].as.array->rank, tt__array_len(f->arg[k].as.array));
  return tt__arg_out(c, f, k, result);
}

tt_array *tt__arg_out_any(tt_composer *c, const tt_call_frame *f, int k, tt_array *result) {
  if (result && tt__arg_given(f, k) && f->arg[k].tag == TT_V_ARRAY)
    result = tt__compose_cast(c, result, (tt_dtype)f->arg[k].as.array->dtype);
  return tt__arg_out(c, f, k, result);
}

tt_array **tt__arg_arrays(tt_composer *c, const tt_call_frame *f, int k, int64_t *n) {
  assert(k >= 0);
  *n = 0;
  if (c->code != TT_OK) return NULL;
  if (k >= f->narg || f->arg[k].tag != TT_V_TUPLE) {
    tt__compose_fail(c, TT_ETYPE, "a sequence of arrays is required");
    return NULL;
  }
  int64_t count = f->arg[k].as.tuple.n;
  tt_array **list = tt__compose_scratch(c, count, sizeof *list);
  for (int64_t i = 0; list && i < count; i++)
    if (!(list[i] = tt__value_as_array(c, &f->arg[k].as.tuple.item[i]))) return NULL;
  *n = list ? count : 0;
  return list;
}
