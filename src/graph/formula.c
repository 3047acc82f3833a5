/*
** Formulas into the graph; see formula.h. It must not know text.
*/
#include "graph/formula.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* An integer step that is `by` * (number of the element) + `at`, and never leaves its type. */
typedef struct line {
  bool is;
  int64_t by, at;
} line;

typedef struct record {
  const tt_formula_call *c;
  int rank;
  int64_t len[TT_MAX_RANK], count;
  TT_VEC(tt_node *) node;
  TT_VEC(line) line;
  tt_error *err;
} record;

/* ---- the shape of the call */

static tt_array *array_of(const tt_formula_call *c, int k) {
  return c->arg[k].tag == TT_V_ARRAY ? c->arg[k].as.array : NULL;
}

static tt_code check_types(const tt_formula_call *c, tt_error *err) {
  for (int k = 0; k < c->nparam; k++) {
    const tt_array *a = array_of(c, k);
    const tt_formula_param *p = &c->param[k];
    if (c->arg[k].tag == TT_V_MISSING && !p->is_out)
      return tt__fail(err, TT_ETYPE, "argument '%s' is missing", p->name);
    if (a && p->is_text) return tt__fail(err, TT_ETYPE, "parameter '%s' is a number, an array is given", p->name);
    if (!a && p->is_raw && c->arg[k].tag != TT_V_MISSING)
      return tt__fail(err, TT_ETYPE, "parameter '%s' is an array, a number is given", p->name);
    if (a && a->dtype != p->dtype)
      return tt__fail(err, TT_ETYPE, "parameter '%s' is %s, the array given is %s", p->name, tt__dtypes[p->dtype].name,
                      tt__dtypes[a->dtype].name);
  }
  return TT_OK;
}

static tt_code shape_of_first(record *r) {
  const tt_formula_call *c = r->c;
  for (int k = 0; k < c->nparam; k++) {
    tt_array *a = array_of(c, k);
    if (!a) continue;
    r->rank = a->rank;
    memcpy(r->len, a->dim, a->rank * sizeof *r->len);
    r->count = a->size;
    return TT_OK;
  }
  return tt__fail(r->err, TT_EVALUE, "no argument is an array");
}

static tt_code find_shape(record *r) {
  const tt_formula_call *c = r->c;
  int rank[64], n = 0;
  const int64_t *len[64];
  bool plain = false, raw = false;
  if (c->c_form) return shape_of_first(r);
  for (int k = 0; k < c->nparam && n < 64; k++) {
    tt_array *a = array_of(c, k);
    raw = raw || (c->param[k].is_raw && a);
    if (c->param[k].is_raw || c->arg[k].tag == TT_V_MISSING) continue;
    plain = true;
    if (!a) continue;
    rank[n] = a->rank;
    len[n++] = a->dim;
  }
  if (c->size >= 0) {
    for (int k = 0; k < n; k++)
      if (rank[k])
        return tt__fail(r->err, TT_EVALUE, "Specified 'size' can be used only if all of the ndarray are 'raw'.");
    r->rank = 1;
    r->len[0] = r->count = c->size;
    return TT_OK;
  }
  if (!plain || (raw && n == 0)) return tt__fail(r->err, TT_EVALUE, "Loop size is undecided.");
  TT_TRY(tt__shape_broadcast(n, rank, len, &r->rank, r->len, r->err));
  return tt__shape_size(r->rank, r->len, TT_C128, &r->count, r->err);
}

/* Outputs that are given have the shape of the call; those written by index have room for all. */
static tt_code check_outputs(const record *r) {
  char have[200], want[200];
  for (int k = 0; k < r->c->nparam; k++) {
    const tt_formula_param *p = &r->c->param[k];
    tt_array *a = array_of(r->c, k);
    if (!a || !p->is_out || (p->is_raw && r->c->f->result.data[k] < 0)) continue;
    TT_TRY(tt__array_check_writable(a, r->err));
    if (p->is_raw && a->size < r->count)
      return tt__fail(r->err, TT_EINDEX, "'%s' has %lld elements, element %lld is written", p->name, (long long)a->size,
                      (long long)r->count - 1);
    if (p->is_raw && a->size > r->count && !tt__array_is_c(a))
      return tt__fail(r->err, TT_EVALUE, "'%s' is written in part, and not in C order", p->name);
    if (p->is_raw || (a->rank == r->rank && tt__shape_same(r->rank, a->dim, r->len))) continue;
    tt__shape_text(a->rank, a->dim, have, sizeof have);
    tt__shape_text(r->rank, r->len, want, sizeof want);
    return tt__fail(r->err, TT_EVALUE, "output '%s' has shape %s, not %s", p->name, have, want);
  }
  return TT_OK;
}

/* ---- integers that are affine in the element's number */

static bool fits(tt_dtype t, int64_t v) {
  tt_value x = tt_v_int(v);
  return t == TT_BOOL ? v == 0 || v == 1 : tt__int_fits(&x, t);
}

static bool ends(const record *r, line l, int64_t *first, int64_t *last) {
  int64_t far;
  *first = l.at;
  if (__builtin_mul_overflow(l.by, r->count > 0 ? r->count - 1 : 0, &far)) return false;
  return !__builtin_add_overflow(far, l.at, last);
}

/* `l`, if it never leaves the type. */
static line within(const record *r, line l, tt_dtype t) {
  int64_t first, last;
  bool ok = l.is && ends(r, l, &first, &last) && fits(t, first) && fits(t, last);
  return ok ? l : (line){false, 0, 0};
}

static line of_number(tt_dtype t, const tt_scalar *s) {
  tt_value v = tt__scalar_load(t, s);
  if (v.tag == TT_V_BOOL) return (line){true, 0, v.as.b};
  return v.tag == TT_V_INT ? (line){true, 0, v.as.i} : (line){false, 0, 0};
}

static line of_op(const record *r, const tt_formula_step *s) {
  line a = r->line.data[s->src[0]], b = s->src[1] >= 0 ? r->line.data[s->src[1]] : a, out = {a.is && b.is, 0, 0};
  if (!out.is) return out;
  bool over = false;
  switch (s->op) {
    case TT_CAST:
      out = a;
      break;
    case TT_NEG:
      over = __builtin_sub_overflow(0, a.by, &out.by) || __builtin_sub_overflow(0, a.at, &out.at);
      break;
    case TT_ADD:
      over = __builtin_add_overflow(a.by, b.by, &out.by) || __builtin_add_overflow(a.at, b.at, &out.at);
      break;
    case TT_SUB:
      over = __builtin_sub_overflow(a.by, b.by, &out.by) || __builtin_sub_overflow(a.at, b.at, &out.at);
      break;
    case TT_MUL:
      if (a.by != 0 && b.by != 0) return (line){false, 0, 0};
      if (a.by == 0) {
        line swap = a;
        a = b;
        b = swap;
      }
      over = __builtin_mul_overflow(a.by, b.at, &out.by) || __builtin_mul_overflow(a.at, b.at, &out.at);
      break;
    default:
      return (line){false, 0, 0};
  }
  return over ? (line){false, 0, 0} : within(r, out, (tt_dtype)s->dtype);
}

/* ---- steps */

static tt_node *number(const record *r, tt_dtype t, tt_scalar value) {
  return tt__node_const(t, value, r->rank, r->len, r->err);
}

static tt_node *element(record *r, const tt_formula_step *s, line *l) {
  const tt_value *v = &r->c->arg[s->param];
  tt_dtype t = (tt_dtype)s->dtype;
  tt_scalar value;
  if (v->tag == TT_V_MISSING) return tt__node_new(TT_N_EMPTY, t, r->rank, r->len, 0, r->err);
  if (v->tag == TT_V_ARRAY) return tt__array_node_as(v->as.array, r->rank, r->len, r->err);
  if (tt__value_scalar(v, t, &value, r->err) != TT_OK) return NULL;
  if (tt__is_int(t) || t == TT_BOOL) *l = of_number(t, &value);
  return number(r, t, value);
}

static tt_node *length(record *r, const tt_formula_step *s, line *l) {
  const tt_array *a = array_of(r->c, s->param);
  const char *name = r->c->param[s->param].name;
  if (!a || s->axis >= a->rank) {
    tt__fail(r->err, TT_EINDEX, "'%s' has no axis %d", name, s->axis);
    return NULL;
  }
  int64_t n = s->axis == TT_F_SIZE ? a->size : s->axis == TT_F_RANK ? a->rank : a->dim[s->axis];
  *l = (line){true, 0, n};
  return number(r, TT_I64, (tt_scalar){.i64 = n});
}

static tt_node *clamped(record *r, tt_node *index, int64_t size) {
  tt_node *n =
      tt__node_take2(TT_MAXIMUM, TT_I64, tt__node_retain(index), number(r, TT_I64, (tt_scalar){.i64 = 0}), r->err);
  return tt__node_take2(TT_MINIMUM, TT_I64, n, number(r, TT_I64, (tt_scalar){.i64 = size - 1}), r->err);
}

static tt_node *load_from(record *r, const tt_formula_step *s, tt_node *whole) {
  line l = r->line.data[s->src[0]];
  int64_t first, last, step[TT_MAX_RANK];
  bool known = l.is && ends(r, l, &first, &last);
  if (known && r->count > 0 && first >= 0 && last >= 0 && first < whole->size && last < whole->size) {
    tt__shape_steps(r->rank, r->len, step);
    for (int k = 0; k < r->rank; k++) step[k] *= l.by;
    return tt__node_view(whole, r->rank, r->len, step, l.at, r->err);
  }
  if (r->count == 0 || (s->guarded && whole->size == 0))
    return number(r, (tt_dtype)s->dtype, (tt_scalar){.bits = {0, 0}});
  if ((known && !s->guarded) || whole->size == 0) {
    int64_t bad = known && first >= 0 && first < whole->size ? last : known ? first : 0;
    tt__fail(r->err, TT_EINDEX, "'%s' has %lld elements, element %lld is read", r->c->param[s->param].name,
             (long long)whole->size, (long long)bad);
    return NULL;
  }
  tt_node *index = clamped(r, r->node.data[s->src[0]], whole->size);
  tt_node *out = index ? tt__node_gather(whole, index, r->err) : NULL;
  tt__node_release(index);
  return out;
}

static tt_node *load(record *r, const tt_formula_step *s) {
  tt_array *a = array_of(r->c, s->param);
  if (!a) return tt__node_new(TT_N_EMPTY, (tt_dtype)s->dtype, r->rank, r->len, 0, r->err); /* an output to be made */
  tt_node *whole = tt__array_node(a, r->err), *out = whole ? load_from(r, s, whole) : NULL;
  tt__node_release(whole);
  return out;
}

static tt_node *operate(record *r, const tt_formula_step *s, line *l) {
  tt_node *src[3];
  int n = tt__ops[s->op].arity;
  tt_dtype t = (tt_dtype)s->dtype;
  if (tt__is_int(t)) *l = of_op(r, s);
  for (int k = 0; k < n; k++) src[k] = r->node.data[s->src[k]];
  return s->op == TT_CAST ? tt__node_cast(src[0], t, r->err) : tt__node_op((tt_op)s->op, t, src, n, r->err);
}

static tt_node *step_node(record *r, const tt_formula_step *s, line *l) {
  switch (s->kind) {
    case TT_F_CONST:
      if (tt__is_int((tt_dtype)s->dtype) || s->dtype == TT_BOOL) *l = of_number((tt_dtype)s->dtype, &s->value);
      return number(r, (tt_dtype)s->dtype, s->value);
    case TT_F_ELEMENT:
      return element(r, s, l);
    case TT_F_INDEX:
      *l = (line){true, 1, 0};
      return tt__node_iota(r->rank, r->len, r->err);
    case TT_F_COUNT:
      *l = (line){true, 0, r->count};
      return number(r, TT_I64, (tt_scalar){.i64 = r->count});
    case TT_F_LEN:
      return length(r, s, l);
    case TT_F_LOAD:
      return load(r, s);
    default:
      return operate(r, s, l);
  }
}

static bool record_steps(record *r) {
  for (int64_t k = 0; k < r->c->f->step.n; k++) {
    line l = {false, 0, 0};
    tt_node *n = step_node(r, &r->c->f->step.data[k], &l);
    if (!n) return false;
    bool kept = TT_VEC_PUSH(&r->node, n);
    if (kept && TT_VEC_PUSH(&r->line, l)) continue;
    if (!kept) tt__node_release(n);
    tt__fail_memory(r->err, sizeof n);
    return false;
  }
  return true;
}

/* ---- results */

/* The elements of n, in C order, in another shape of as many. */
static tt_node *reshaped(tt_node *n, int rank, const int64_t *len, tt_error *err) {
  int64_t step[TT_MAX_RANK];
  tt__shape_steps(rank, len, step);
  return tt__node_view(n, rank, len, step, 0, err);
}

static tt_code write_given(record *r, tt_array *a, tt_node *n) {
  int64_t one = 1;
  tt_array *part = a;
  tt_code code = TT_OK;
  if (a->size > r->count) {
    part = tt__array_view(a, 1, &r->count, &one, a->off, r->err);
    if (!part) return TT_ENOMEM;
  }
  tt_node *value = reshaped(n, part->rank, part->dim, r->err);
  code = value ? tt__array_store(part, value, r->err) : TT_ENOMEM;
  tt__node_release(value);
  if (part != a) tt__array_release(part);
  return code;
}

static tt_code give(record *r, int k, tt_array **out) {
  int32_t result = r->c->f->result.data[k];
  tt_array *a = array_of(r->c, k);
  tt_node *n = result >= 0 ? r->node.data[result] : NULL;
  if (a) {
    if (n) TT_TRY(write_given(r, a, n));
    *out = tt__array_retain(a);
    return TT_OK;
  }
  if (!n) return tt__empty((tt_dtype)r->c->param[k].dtype, r->rank, r->len, out, r->err);
  *out = tt__array_of(n, r->err);
  return *out ? TT_OK : TT_ENOMEM;
}

tt_code tt__formula_call(const tt_formula_call *call, tt_array **out, tt_error *err) {
  record r = {.c = call, .err = err};
  assert(tt__formula_ok(call->f, call->param, call->nparam));
  for (int k = 0; k < call->nparam; k++) out[k] = NULL;
  TT_TRY(check_types(call, err));
  TT_TRY(find_shape(&r));
  TT_TRY(check_outputs(&r));
  tt_code code = record_steps(&r) ? TT_OK : err->code;
  for (int k = 0; k < call->nparam && code == TT_OK; k++)
    if (call->param[k].is_out) code = give(&r, k, &out[k]);
  for (int k = 0; k < call->nparam && code != TT_OK; k++) {
    if (out[k]) tt__array_release(out[k]);
    out[k] = NULL;
  }
  for (int64_t k = 0; k < r.node.n; k++) tt__node_release(r.node.data[k]);
  TT_VEC_FREE(&r.node);
  TT_VEC_FREE(&r.line);
  return code;
}
