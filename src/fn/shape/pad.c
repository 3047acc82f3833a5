/*
** numpy.pad: room is made once, the middle is copied, and axis by axis the borders are written through views; later
** axes see the borders of earlier ones, which fills the corners.
*/
#include <math.h>
#include <string.h>

#include "fn/fn.h"
#include "graph/host.h"
#include "graph/tape.h"

typedef enum mode {
  CONSTANT,
  EDGE,
  LINEAR_RAMP,
  MAXIMUM,
  MEAN,
  MEDIAN,
  MINIMUM,
  REFLECT,
  SYMMETRIC,
  WRAP,
  EMPTY,
  MODES
} mode;
static const char *const mode_names[MODES] = {"constant", "edge",    "linear_ramp", "maximum", "mean", "median",
                                              "minimum",  "reflect", "symmetric",   "wrap",    "empty"};

/* What is padded, and how wide on each side of each axis. */
typedef struct padding {
  tt_array *a, *out;
  mode mode;
  bool odd;
  int64_t width[TT_MAX_RANK][2];
  tt_value value[TT_MAX_RANK][2]; /* constants, end values or lengths of statistics, by mode */
} padding;

/* ---- pairs: x, (before, after), ((before, after), ...) */

static int64_t length_of(const tt_value *v) {
  if (v->tag == TT_V_TUPLE) return v->as.tuple.n;
  return v->tag == TT_V_ARRAY && v->as.array->rank > 0 ? tt__array_len(v->as.array)[0] : -1;
}

static tt_value item_of(tt_composer *c, const tt_value *v, int64_t i) {
  if (v->tag == TT_V_TUPLE) return v->as.tuple.item[i];
  tt_value index = tt_v_int(i);
  return tt_v_array(tt__compose_get(c, v->as.array, &index));
}

static tt_value number_of(tt_composer *c, tt_value v) {
  if (v.tag != TT_V_ARRAY || !v.as.array || c->code != TT_OK) return v;
  if (tt__is_taped(v.as.array->storage->node)) return v; /* it has a slope */
  tt_value out = v;
  c->code = tt__item(v.as.array, &out, c->err);
  return out;
}

static void fail_pairs(tt_composer *c, int rank, int64_t n, int64_t m) {
  char shape[64];
  int64_t len[2] = {n, m};
  tt__shape_text(m < 0 ? 1 : 2, len, shape, sizeof shape);
  tt__compose_fail(
      c, TT_EVALUE,
      "operands could not be broadcast together with remapped shapes [original->remapped]: %s  and requested "
      "shape (%d,2)",
      shape, rank);
}

/* One pair from a number, (x,) or (x, y). */
static void read_pair(tt_composer *c, tt_value v, tt_value *out) {
  int64_t n = length_of(&v);
  out[0] = number_of(c, n < 0 ? v : item_of(c, &v, 0));
  out[1] = n == 2 ? number_of(c, item_of(c, &v, 1)) : out[0];
}

static bool read_pairs(tt_composer *c, const tt_value *v, int rank, tt_value out[][2]) {
  int64_t n = length_of(v), inner = -1;
  tt_value first = n > 0 ? item_of(c, v, 0) : *v;
  if (n > 0) inner = length_of(&first);
  bool flat = n < 0 || inner < 0;
  if (flat ? n == 0 || n > 2 : (n != 1 && n != rank) || inner == 0 || inner > 2)
    return fail_pairs(c, rank, n, inner), false;
  for (int d = 0; d < rank && c->code == TT_OK; d++) {
    tt_value of_axis = flat ? *v : item_of(c, v, n == 1 ? 0 : d);
    if (length_of(&of_axis) > 2) return fail_pairs(c, rank, n, length_of(&of_axis)), false;
    read_pair(c, of_axis, out[d]);
  }
  return c->code == TT_OK;
}

static bool read_widths(tt_composer *c, const tt_value *v, int rank, int64_t out[][2], bool lengths) {
  tt_value pair[TT_MAX_RANK][2];
  if (!lengths && length_of(v) == 0) /* an empty list is an array of floats */
    return tt__compose_fail(c, TT_ETYPE, "`pad_width` must be of integral type."), false;
  if (!read_pairs(c, v, rank, pair)) return false;
  for (int d = 0; d < rank; d++) {
    for (int side = 0; side < 2; side++) {
      if (lengths && pair[d][side].tag == TT_V_NONE) {
        out[d][side] = INT64_MAX;
        continue;
      }
      if (pair[d][side].tag != TT_V_INT && pair[d][side].tag != TT_V_BOOL)
        return tt__compose_fail(c, TT_ETYPE, "`pad_width` must be of integral type."), false;
      out[d][side] = pair[d][side].tag == TT_V_INT ? pair[d][side].as.i : pair[d][side].as.b;
      if (out[d][side] < 0) return tt__compose_fail(c, TT_EVALUE, "index can't contain negative values"), false;
    }
  }
  return true;
}

/* ---- regions of the result */

static int64_t length(const padding *p, int axis) { return tt__array_len(p->a)[axis]; }

/* n places of `axis` from `start`; earlier axes whole, later ones only where the array itself lies. */
static tt_array *region(tt_composer *c, const padding *p, int axis, int64_t start, int64_t n) {
  tt_array *r = tt__compose_slice(c, p->out, axis, start, n, 1);
  for (int d = axis + 1; d < p->a->rank && r; d++) r = tt__compose_slice(c, r, d, p->width[d][0], length(p, d), 1);
  return r;
}

/* A border: side 0 before, 1 behind. */
static tt_array *border(tt_composer *c, const padding *p, int axis, int side) {
  int64_t start = side ? p->width[axis][0] + length(p, axis) : 0;
  return region(c, p, axis, start, p->width[axis][side]);
}

static tt_array *edge(tt_composer *c, const padding *p, int axis, int side) {
  return region(c, p, axis, p->width[axis][0] + (side ? length(p, axis) - 1 : 0), 1);
}

/* Numbers along one axis of the result. */
static tt_array *along(tt_composer *c, const padding *p, int axis, tt_array *numbers) {
  int64_t len[TT_MAX_RANK];
  if (!numbers) return NULL;
  for (int d = 0; d < p->a->rank; d++) len[d] = d == axis ? numbers->size : 1;
  return tt__compose_reshape(c, numbers, p->a->rank, len);
}

/* ---- where a place outside comes from */

/* Place i of an axis of n, counted from the array's first: x[from] * sign + first * x[0] + last * x[n - 1]. */
typedef struct source {
  int64_t from, sign, first, last;
} source;

static source trace(const padding *p, int64_t n, int64_t i) {
  bool reflect = p->mode == REFLECT;
  int64_t period = p->mode == WRAP ? n : reflect ? 2 * (n - 1) : 2 * n;
  if (period == 0) return (source){0, 1, 0, 0};
  int64_t turns = i / period - (i % period < 0), r = i - turns * period;
  source s = {r, 1, 0, 0};
  if (r >= n) {
    s.from = reflect ? period - r : period - 1 - r;
    if (p->odd) s.sign = -1, s.last = 2;
  }
  if (p->odd) {
    s.last += 2 * turns;
    s.first -= 2 * turns;
  }
  return s;
}

static tt_array *host_numbers(tt_composer *c, const padding *p, int64_t n, int64_t start, int64_t count, int which) {
  void *data;
  tt_array *out = tt__compose_block(c, TT_I64, 1, &count, &data);
  for (int64_t k = 0; out && k < count; k++) {
    source s = trace(p, n, start + k);
    ((int64_t *)data)[k] = which == 0 ? s.from : which == 1 ? s.sign : which == 2 ? s.first : s.last;
  }
  return out;
}

/* The places as a slice of the axis, or, when they turn round on the way, gathered. */
static tt_array *gathered(tt_composer *c, const padding *p, int axis, int64_t start, int64_t count) {
  int64_t n = length(p, axis), first = trace(p, n, start).from,
          step = count > 1 ? trace(p, n, start + 1).from - first : 1;
  bool straight = step == 1 || step == -1;
  for (int64_t k = 2; k < count && straight; k++) straight = trace(p, n, start + k).from == first + k * step;
  tt_array *whole = region(c, p, axis, p->width[axis][0], n);
  if (straight) return tt__compose_slice(c, whole, axis, first, count, step);
  return tt__compose_take(c, whole, host_numbers(c, p, n, start, count, 0), axis);
}

static tt_array *continued(tt_composer *c, const padding *p, int axis, int side) {
  int64_t n = length(p, axis), count = p->width[axis][side], start = side ? n : -count;
  tt_array *v = gathered(c, p, axis, start, count);
  if (!p->odd || p->mode == WRAP || n == 1) return v;
  tt_array *part[3];
  for (int k = 0; k < 3; k++)
    part[k] = along(c, p, axis, tt__compose_cast(c, host_numbers(c, p, n, start, count, k + 1), (tt_dtype)p->a->dtype));
  v = tt__compose_op2(c, TT_MUL, v, part[0]);
  v = tt__compose_op2(c, TT_ADD, v, tt__compose_op2(c, TT_MUL, edge(c, p, axis, 0), part[1]));
  return tt__compose_op2(c, TT_ADD, v, tt__compose_op2(c, TT_MUL, edge(c, p, axis, 1), part[2]));
}

/* ---- statistics and ramps */

static tt_array *statistic(tt_composer *c, const padding *p, int axis, int side) {
  static const char *const row[] = {[MAXIMUM] = "max", [MEAN] = "mean", [MEDIAN] = "median", [MINIMUM] = "min"};
  bool extreme = p->mode == MAXIMUM || p->mode == MINIMUM;
  int64_t n = length(p, axis), want = p->value[axis][side].as.i, count = want < n ? want : n;
  if (count == 0 && extreme) return tt__compose_fail(c, TT_EVALUE, "stat_length of 0 yields no value for padding");
  tt_array *chunk = region(c, p, axis, p->width[axis][0] + (side ? n - count : 0), count);
  if (!chunk) return NULL;
  tt_value v[5] = {tt_v_array(chunk), tt_v_int(axis)}, keep = {.tag = TT_V_BOOL, .as.b = true};
  v[extreme ? 3 : 4] = keep;
  tt_array *r = tt__fn_call(c, row[p->mode], v, extreme ? 4 : 5);
  if (!extreme && tt__is_int((tt_dtype)p->a->dtype)) r = tt__compose_op1(c, TT_RINT, r);
  return r;
}

/* From the end value at the outside evenly to the edge, which is not reached. */
static tt_array *ramp(tt_composer *c, const padding *p, int axis, int side) {
  int64_t count = p->width[axis][side];
  tt_dtype type = (tt_dtype)p->a->dtype, wide = tt__is_complex(type) ? TT_C128 : TT_F64;
  tt_array *i = tt__compose_iota(c, count);
  if (side && i) i = tt__compose_flip(c, i, 0);
  tt_array *share = along(c, p, axis, tt__compose_opf(c, TT_DIV, i, (double)count));
  tt_array *from = tt__value_as_array(c, &p->value[axis][side]);
  tt_array *far =
      tt__compose_op2(c, TT_SUB, tt__compose_cast(c, edge(c, p, axis, side), wide), tt__compose_cast(c, from, wide));
  tt_array *r = tt__compose_op2(c, TT_ADD, tt__compose_op2(c, TT_MUL, far, share), from);
  return tt__is_int(type) ? tt__compose_op1(c, TT_FLOOR, r) : r;
}

/* ---- the whole */

static tt_value border_value(tt_composer *c, const padding *p, int axis, int side) {
  switch (p->mode) {
    case CONSTANT:
      return p->value[axis][side];
    case EDGE:
      return tt_v_array(edge(c, p, axis, side));
    case LINEAR_RAMP:
      return tt_v_array(ramp(c, p, axis, side));
    case REFLECT:
    case SYMMETRIC:
    case WRAP:
      return tt_v_array(continued(c, p, axis, side));
    default:
      return tt_v_array(statistic(c, p, axis, side));
  }
}

static bool fill_border(tt_composer *c, const padding *p, int axis, int side) {
  tt_array *to = border(c, p, axis, side);
  tt_value v = border_value(c, p, axis, side);
  if (c->code != TT_OK || (v.tag == TT_V_ARRAY && !v.as.array)) return false;
  if (v.tag == TT_V_ARRAY) v = tt_v_array(tt__compose_cast(c, v.as.array, (tt_dtype)p->a->dtype));
  return tt__compose_set(c, to, v);
}

static bool check_keywords(tt_composer *c, const tt_call_frame *f, mode m) {
  static const char *const name[] = {"constant_values", "end_values", "stat_length", "reflect_type"};
  for (int k = 3; k < 7; k++) {
    bool given = k < f->narg && f->arg[k].tag != TT_V_MISSING;
    bool fits = k == 3   ? m == CONSTANT
                : k == 4 ? m == LINEAR_RAMP
                : k == 5 ? m >= MAXIMUM && m <= MINIMUM
                         : m == REFLECT || m == SYMMETRIC;
    if (given && !fits)
      return tt__compose_fail(c, TT_EVALUE, "unsupported keyword arguments for mode '%s': {'%s'}", mode_names[m],
                              name[k - 3]),
             false;
  }
  return true;
}

/* Are constants one number or two? NumPy takes those out of an array, so that they are cast; more are Python's own. */
static bool are_cast(const tt_value *v) {
  int64_t n = length_of(v), inner = -1;
  if (n <= 0) return n < 0;
  if (v->tag == TT_V_TUPLE) inner = length_of(&v->as.tuple.item[0]);
  if (v->tag == TT_V_ARRAY && v->as.array->rank > 1) inner = tt__array_len(v->as.array)[1];
  return inner < 0 ? n <= 2 : n == 1 && inner <= 2;
}

/* A finite number as a cast to whole numbers leaves it. */
static tt_value constant_cast(tt_value v, tt_dtype type) {
  if (v.tag == TT_V_FLOAT && v.as.f < 0x1p63 && v.as.f >= -0x1p63) v = tt_v_int((int64_t)v.as.f);
  if ((v.tag != TT_V_INT && v.tag != TT_V_UINT) || tt__int_fits(&v, type)) return v;
  int rest = 64 - 8 * (int)tt__dtype_size(type);
  uint64_t high = (v.tag == TT_V_UINT ? v.as.u : (uint64_t)v.as.i) << rest;
  if (!tt__is_unsigned(type)) return tt_v_int((int64_t)high >> rest);
  return rest ? tt_v_int((int64_t)(high >> rest)) : (tt_value){.tag = TT_V_UINT, .as.u = high};
}

static bool read_values(tt_composer *c, const tt_call_frame *f, padding *p) {
  int k = p->mode == CONSTANT ? 3 : p->mode == LINEAR_RAMP ? 4 : 5;
  tt_value fallback = k == 5 ? (tt_value){.tag = TT_V_NONE} : tt_v_int(0);
  const tt_value *v = tt__arg_given(f, k) ? &f->arg[k] : &fallback;
  if (k < 5) {
    if (!read_pairs(c, v, p->a->rank, p->value)) return false;
    for (int d = 0; d < p->a->rank && k == 3 && tt__is_int((tt_dtype)p->a->dtype) && are_cast(v); d++)
      for (int side = 0; side < 2; side++) p->value[d][side] = constant_cast(p->value[d][side], (tt_dtype)p->a->dtype);
    return true;
  }
  if (p->mode < MAXIMUM || p->mode > MINIMUM) return true;
  int64_t len[TT_MAX_RANK][2];
  if (!read_widths(c, v, p->a->rank, len, true)) return false;
  for (int d = 0; d < p->a->rank; d++)
    for (int side = 0; side < 2; side++) p->value[d][side] = tt_v_int(len[d][side]);
  return true;
}

static bool read_mode(tt_composer *c, const tt_call_frame *f, padding *p) {
  const char *name = tt__arg_string(c, f, 2, "constant"), *type = tt__arg_string(c, f, 6, "even");
  while (p->mode < MODES && strcmp(mode_names[p->mode], name) != 0) p->mode = (mode)(p->mode + 1);
  if (c->code == TT_OK && p->mode == MODES) tt__compose_fail(c, TT_EVALUE, "mode '%s' is not supported", name);
  p->odd = strcmp(type, "odd") == 0;
  return c->code == TT_OK && check_keywords(c, f, p->mode);
}

/* pad(array, pad_width, mode, constant_values, end_values, stat_length, reflect_type) */
static tt_array *pad(tt_composer *c, tt_call_frame *f) {
  padding p = {.a = tt__arg_array(c, f, 0), .mode = CONSTANT};
  int64_t len[TT_MAX_RANK];
  if (!p.a || !read_widths(c, &f->arg[1], p.a->rank, p.width, false) || !read_mode(c, f, &p) || !read_values(c, f, &p))
    return NULL;
  for (int d = 0; d < p.a->rank; d++) {
    if (__builtin_add_overflow(p.width[d][0], p.width[d][1], &len[d]) ||
        __builtin_add_overflow(len[d], length(&p, d), &len[d]))
      return tt__compose_fail(c, TT_EVALUE, "Maximum allowed dimension exceeded");
    if (length(&p, d) == 0 && len[d] > 0 && p.mode != CONSTANT && p.mode != EMPTY)
      return tt__compose_fail(c, TT_EVALUE, "can't extend empty axis %d using modes other than 'constant' or 'empty'",
                              d);
  }
  p.out = tt__compose_empty(c, (tt_dtype)p.a->dtype, p.a->rank, len);
  bool same = p.mode == CONSTANT && p.a->rank > 0;
  for (int d = 0; d < p.a->rank && same; d++)
    for (int side = 0; side < 2; side++)
      same &= p.value[d][side].tag == p.value[0][0].tag &&
              memcmp(&p.value[d][side].as, &p.value[0][0].as, sizeof(int64_t)) == 0;
  if (same && p.value[0][0].tag != TT_V_COMPLEX) { /* one value all around: under everything */
    if (!tt__compose_set(c, p.out, p.value[0][0])) return NULL;
  } else {
    same = false;
  }
  tt_array *middle = p.out;
  for (int d = 0; d < p.a->rank; d++) middle = tt__compose_slice(c, middle, d, p.width[d][0], length(&p, d), 1);
  if (!tt__compose_set(c, middle, tt_v_array(p.a))) return NULL;
  for (int d = 0; d < p.a->rank && !same && p.mode != EMPTY; d++)
    for (int side = 0; side < 2; side++)
      if (p.width[d][side] > 0 && !fill_border(c, &p, d, side)) return NULL;
  return p.out;
}
TT_HANDLER_LAID(pad, 'A')
