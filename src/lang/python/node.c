/*
** Makers of nodes. Constants fold here where the loops below would be slower for not knowing them.
*/
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/python/py_int.h"

void py__fail(lower *l, tt_code code, const char *fmt, ...) {
  assert(code != TT_OK);
  char what[600];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  l->code = code;
  if (l->f)
    tt__fail(l->err, code, "%s\nin %s, %s line %d", what, l->f->tree->item[1]->text, l->file, l->f->line);
  else
    tt__fail(l->err, code, "%s", what);
  longjmp(l->out, 1);
}

void *py__alloc(lower *l, size_t size) {
  void *p = tt__arena_alloc(&l->p->arena, size);
  if (!p) py__fail(l, TT_ENOMEM, "out of memory");
  return p;
}

const char *py__type_name(lower *l, type *t) {
  char *text = py__alloc(l, 200);
  tt__ptype_text(t, text, 200);
  return text;
}

expr *py__expr(lower *l, tt_pop op, type *t, int n) {
  assert(n >= 0);
  expr *e = py__alloc(l, sizeof *e);
  e->op = (uint8_t)op;
  e->type = t;
  e->n = n;
  e->line = l->f ? l->f->line : 0;
  e->arg = n ? py__alloc(l, (size_t)n * sizeof *e->arg) : NULL;
  return e;
}

expr *py__int(lower *l, int64_t i) {
  expr *e = py__expr(l, TT_X_CONST, py__scalar(l, TT_I64), 0);
  e->i = i;
  e->nonneg = i >= 0;
  if (e->nonneg) e->limit = (uint64_t)i + 1;
  return e;
}

expr *py__float(lower *l, double f) {
  expr *e = py__expr(l, TT_X_CONST, py__scalar(l, TT_F64), 0);
  e->f[0] = f;
  return e;
}

expr *py__bool(lower *l, bool b) {
  expr *e = py__expr(l, TT_X_CONST, py__scalar(l, TT_BOOL), 0);
  e->i = b;
  e->nonneg = true;
  e->limit = 2;
  return e;
}

expr *py__nothing(lower *l) { return py__expr(l, TT_X_CONST, py__none(l), 0); }
expr *py__missing(lower *l) { return py__expr(l, TT_X_CONST, py__unknown(l), 0); }

expr *py__meta(lower *l, const char *what, const char *name) {
  type *t = tt__ptype_tag(l->p, TT_T_META, what);
  if (!t) py__fail(l, TT_ENOMEM, "out of memory");
  expr *e = py__expr(l, TT_X_CONST, t, 0);
  e->name = name;
  return e;
}

bool py__is_meta(const expr *e, const char *what) {
  return e->type->tag == TT_T_META && strcmp(e->type->meta, what) == 0;
}

expr *py__local(lower *l, int32_t local) {
  assert(local >= 0 && local < l->f->func->locals.n);
  tt_plocal *v = &l->f->func->locals.data[local];
  expr *e = py__expr(l, TT_X_LOCAL, v->type, 0);
  e->k = local;
  e->nonneg = v->nonneg;
  e->limit = v->limit;
  return e;
}

/* ---- conversions */

static bool fold_cast(expr *e, const expr *from, tt_dtype to) {
  tt_dtype t = (tt_dtype)from->type->dtype;
  if (tt__is_complex(t)) return false;
  double f = tt__is_float(t) ? from->f[0] : tt__is_unsigned(t) ? (double)(uint64_t)from->i : (double)from->i;
  if (to == TT_F64 || to == TT_C128) {
    e->f[0] = f;
  } else if (to == TT_F32 || to == TT_C64) {
    e->f[0] = (double)(float)f;
  } else if (to == TT_I64 && (tt__is_int(t) || t == TT_BOOL)) {
    e->i = from->i;
    e->nonneg = from->nonneg && !(tt__is_unsigned(t) && from->i < 0);
    e->limit = e->nonneg ? (uint64_t)e->i + 1 : 0;
  } else {
    return false;
  }
  return true;
}

expr *py__cast(lower *l, expr *e, tt_dtype to) {
  tt_dtype from = (tt_dtype)e->type->dtype;
  if (e->type->tag != TT_T_SCALAR) return e;
  if (from == to) return e;
  if (tt__is_complex(from) && !tt__is_complex(to))
    py__fail(l, TT_ETYPE, "cannot make %s of %s", tt__dtypes[to].name, tt__dtypes[from].name);
  if (e->op == TT_X_CONST) {
    expr *folded = py__expr(l, TT_X_CONST, py__scalar(l, to), 0);
    if (fold_cast(folded, e, to)) return folded;
  }
  expr *c = py__expr(l, TT_X_CAST, py__scalar(l, to), 1);
  c->arg[0] = e;
  if (tt__is_int(to) && (tt__is_int(from) || from == TT_BOOL)) py__range_of_cast(c, e);
  return c;
}

expr *py__convert(lower *l, expr *e, type *to) {
  if (e->type == to || to->tag == TT_T_UNKNOWN || py__is_unknown(e)) return e;
  expr like = {.type = to};
  if (py__is_optional(&like)) return py__to_optional(l, e, to);
  if (to->tag == TT_T_SCALAR && e->type->tag == TT_T_SCALAR) return py__cast(l, e, (tt_dtype)to->dtype);
  if (e->op == TT_X_LIST) return py__expr(l, TT_X_LIST, to, 0);
  if (to->tag == TT_T_ARRAY || to->tag == TT_T_LIST) { /* the same struct; only what is known of it differs */
    expr *c = py__expr(l, TT_X_CAST, to, 1);
    c->arg[0] = e;
    return c;
  }
  if (to->tag != TT_T_TUPLE || e->type->tag != TT_T_TUPLE) return e;
  e = py__keep(l, e);
  expr *t = py__expr(l, TT_X_TUPLE, to, to->n);
  for (int k = 0; k < to->n; k++) t->arg[k] = py__convert(l, py__item(l, e, k), to->item[k]);
  return t;
}

expr *py__truth(lower *l, expr *e) {
  if (py__is_unknown(e)) return e;
  if (e->type->tag == TT_T_NONE) return py__bool(l, false);
  if (py__is_optional(e)) return py__optional_truth(l, e);
  if (py__is_generator(e)) return py__bool(l, true);
  if (e->type->tag == TT_T_TUPLE) return py__bool(l, e->type->n > 0);
  if (e->op == TT_X_STRING && e->type->tag == TT_T_META) return py__bool(l, e->name[0] != 0);
  if (py__is_object(e)) return py__bool(l, true);
  if (e->type->tag == TT_T_LIST) {
    expr *n = py__is_dict(e) || py__is_set(e) ? py__dict_count(l, py__keep(l, e)) : py__count_of(l, e);
    return py__elem(l, TT_GT, n, py__int(l, 0));
  }
  if (e->type->tag != TT_T_SCALAR) py__fail(l, TT_ETYPE, "the truth of %s is ambiguous", py__type_name(l, e->type));
  if (e->type->dtype == TT_BOOL) return e;
  expr *zero = py__cast(l, py__int(l, 0), (tt_dtype)e->type->dtype);
  return py__elem(l, TT_NE, e, zero);
}

/* ---- arithmetic */

static bool is_compare(tt_op op) { return tt__ops[op].cls == TT_CLASS_COMPARE || tt__ops[op].cls == TT_CLASS_TEST; }

/* Whole numbers in int64; what would overflow is left to run time. */
static bool fold_ints(tt_op op, int64_t a, int64_t b, int64_t *out) {
  switch (op) {
    case TT_ADD:
      return !__builtin_add_overflow(a, b, out);
    case TT_SUB:
      return !__builtin_sub_overflow(a, b, out);
    case TT_MUL:
      return !__builtin_mul_overflow(a, b, out);
    case TT_NEG:
      return !__builtin_sub_overflow((int64_t)0, a, out);
    case TT_FLOORDIV:
      if (b <= 0) return false;
      *out = a / b - (a % b < 0);
      return true;
    case TT_MOD:
      if (b <= 0) return false;
      *out = a % b + (a % b < 0 ? b : 0);
      return true;
    default:
      return false;
  }
}

/* Of complex numbers there is the text of these (proc_text.h, program_math.h). */
static bool has_complex_text(tt_op op) {
  static const uint8_t there[] = {TT_ADD,    TT_SUB,  TT_MUL,  TT_DIV,   TT_NEG,   TT_CONJ, TT_REAL, TT_IMAG,
                                  TT_SQUARE, TT_EQ,   TT_NE,   TT_ABS,   TT_EXP,   TT_LOG,  TT_LOG2, TT_LOG10,
                                  TT_SQRT,   TT_POW,  TT_SIN,  TT_COS,   TT_TAN,   TT_SINH, TT_COSH, TT_TANH,
                                  TT_ASIN,   TT_ACOS, TT_ATAN, TT_ASINH, TT_ACOSH, TT_ATANH};
  return memchr(there, op, sizeof there) != NULL;
}

void py__needs(lower *l, tt_scalar_text scalar) {
  if (scalar > l->p->scalar) l->p->scalar = scalar;
}

expr *py__elem(lower *l, tt_op op, expr *a, expr *b) {
  assert((unsigned)op < TT_OP_COUNT && a);
  tt_dtype t = (tt_dtype)a->type->dtype, r = is_compare(op) ? TT_BOOL : t;
  if ((op == TT_ABS || op == TT_REAL || op == TT_IMAG) && tt__is_complex(t)) r = tt__real_of(t);
  int64_t folded;
  if (t == TT_F16 || t == TT_BF16) { /* computed in float32, rounded after each operation */
    expr *wide = py__elem(l, op, py__cast(l, a, TT_F32), b ? py__cast(l, b, TT_F32) : NULL);
    return wide->type->dtype == TT_F32 ? py__cast(l, wide, t) : wide;
  }
  if (t == TT_I64 && a->op == TT_X_CONST && (!b || b->op == TT_X_CONST) && fold_ints(op, a->i, b ? b->i : 0, &folded))
    return py__int(l, folded);
  if (op == TT_NEG && t == TT_F64 && a->op == TT_X_CONST) return py__float(l, -a->f[0]);
  if (tt__is_complex(t) && !has_complex_text(op)) py__fail(l, TT_ENOTIMPL, "%s of complex numbers", tt__ops[op].lower);
  expr *e = py__expr(l, TT_X_ELEM, py__scalar(l, r), b ? 2 : 1);
  e->elem = (uint8_t)op;
  e->arg[0] = a;
  if (b) e->arg[1] = b;
  if (tt__is_int((tt_dtype)r)) py__range_of_elem(e, op, a, b);
  if (tt__is_complex(t) && op != TT_ADD && op != TT_SUB && op != TT_MUL) py__needs(l, TT_SCALAR_MATH);
  py__needs(l, tt__op_scalar_text(op, t));
  return e;
}

expr *py__len(lower *l, expr *array, int axis) {
  assert(py__is_array(array) && axis >= 0 && axis < array->type->rank);
  expr *e = py__expr(l, TT_X_LEN, py__scalar(l, TT_I64), 1);
  e->arg[0] = array;
  e->k = axis;
  e->nonneg = true;
  e->limit = (uint64_t)TT_PROGRAM_LONGEST + 1;
  return e;
}

expr *py__load(lower *l, expr *array, expr *const *index, int n) {
  expr *e = py__expr(l, TT_X_LOAD, py__scalar(l, (tt_dtype)array->type->dtype), n + 1);
  e->arg[0] = array;
  for (int k = 0; k < n; k++) {
    e->arg[k + 1] = index[k];
    if (py__may_wrap(index[k])) e->wraps |= 1u << k;
  }
  e->nonneg = tt__is_unsigned((tt_dtype)array->type->dtype);
  return e;
}

expr *py__item(lower *l, expr *tuple, int k) {
  assert(tuple->type->tag == TT_T_TUPLE && k >= 0 && k < tuple->type->n);
  if (tuple->op == TT_X_TUPLE) return tuple->arg[k];
  expr *e = py__expr(l, TT_X_ITEM, tuple->type->item[k], 1);
  e->arg[0] = tuple;
  e->k = k;
  return e;
}

expr *py__helper(lower *l, const char *name, type *t, bool context, expr *const *arg, int n) {
  expr *e = py__expr(l, TT_X_HELPER, t, n);
  e->name = name;
  e->k = context;
  for (int k = 0; k < n; k++) e->arg[k] = arg[k];
  return e;
}

/* ---- statements */

stmt *py__stmt(lower *l, tt_pstmt_op op) {
  stmt *s = py__alloc(l, sizeof *s);
  s->op = (uint8_t)op;
  s->line = l->f->line;
  s->local = -1;
  *l->f->tail = s;
  l->latest = s;
  l->f->tail = &s->next;
  return s;
}

int32_t py__temp(lower *l, type *t) {
  char name[24];
  snprintf(name, sizeof name, "$%d", (int)l->f->temps++);
  int32_t k = py__local_named(l, name, true);
  tt_plocal *v = &l->f->func->locals.data[k];
  if (v->type != t) {
    v->type = t;
    l->f->changed = true;
  }
  return k;
}

uint64_t py__origin(lower *l, const expr *e) {
  uint64_t from = 0;
  if (e->type->tag != TT_T_ARRAY && e->type->tag != TT_T_TUPLE && e->type->tag != TT_T_LIST &&
      e->type->tag != TT_T_GENERATOR)
    return 0;
  if (e->op == TT_X_LOCAL) return e->k >= 0 ? l->f->func->locals.data[e->k].from : 0;
  for (int k = 0; k < e->n; k++) from |= py__origin(l, e->arg[k]);
  return from;
}

uint8_t py__space(lower *l, const expr *e) {
  if (e->op == TT_X_SHARED || e->op == TT_X_PRIVATE) return 1;
  if (e->op == TT_X_LOCAL) return e->k >= 0 ? l->f->func->locals.data[e->k].space : 2;
  if (e->op == TT_X_VIEW || e->op == TT_X_CAST) return py__space(l, e->arg[0]);
  return 2;
}

void py__set(lower *l, int32_t local, expr *value) {
  assert(local >= 0 && local < l->f->func->locals.n && value);
  tt_plocal *v = &l->f->func->locals.data[local];
  type *t = py__unify(l, v->type, value->type);
  if (!t)
    py__fail(l, TT_ETYPE, "Cannot unify %s and %s for '%s'", py__type_name(l, v->type), py__type_name(l, value->type),
             v->name);
  if (l->f->final && t->tag == TT_T_LIST && !py__is_complete(t))
    py__fail(l, TT_ETYPE, "nothing tells what the items of '%s' are, an imprecise type: nothing is put into it",
             v->name);
  if (t != v->type && local < l->f->func->nparam) {
    local = py__beside_parameter(l, local);
    v = &l->f->func->locals.data[local];
  }
  if (t != v->type || (t != value->type && !py__is_unknown(value))) {
    bool numbers = v->type->tag == TT_T_SCALAR && !v->several;
    if (numbers || t != v->type) l->f->changed = true;
    v->several |= numbers;
    v->type = t;
  }
  if (v->nonneg && !value->nonneg && !py__is_unknown(value)) {
    v->nonneg = false;
    l->f->changed = true;
  }
  l->f->changed |= py__raise_limit(v, value);
  uint8_t space = value->type->tag == TT_T_ARRAY ? py__space(l, value) : 0;
  if (space > v->space) {
    v->space = space;
    l->f->changed = true;
  }
  uint64_t from = py__origin(l, value);
  if ((v->from | from) != v->from) {
    v->from |= from;
    l->f->changed = true;
  }
  value = py__convert(l, value, t);
  stmt *s = py__stmt(l, TT_X_SET);
  s->local = local;
  s->a = value;
}

expr *py__keep(lower *l, expr *e) {
  if (e->op == TT_X_CONST || e->op == TT_X_LOCAL || e->op == TT_X_STRING || py__is_unknown(e)) return e;
  if (e->type->tag == TT_T_META) return e;
  int32_t k = py__temp(l, e->type);
  l->f->func->locals.data[k].nonneg = e->nonneg;
  l->f->func->locals.data[k].limit = e->limit;
  l->f->func->locals.data[k].from |= py__origin(l, e);
  if (py__space(l, e) > l->f->func->locals.data[k].space) l->f->func->locals.data[k].space = py__space(l, e);
  stmt *s = py__stmt(l, TT_X_SET);
  s->local = k;
  s->a = e;
  return py__local(l, k);
}

void py__block_begin(lower *l, block *b) {
  b->first = NULL;
  b->outer = l->f->tail;
  l->f->depth++;
  l->f->tail = &b->first;
}

stmt *py__block_end(lower *l, block *b) {
  l->f->tail = b->outer;
  l->f->depth--;
  return b->first;
}

void py__raise_unless(lower *l, expr *cond, tt_code kind, const char *message) {
  stmt *s = py__stmt(l, TT_X_RAISE);
  s->a = cond;
  s->k = kind;
  s->name = message;
  for (frame *f = l->f; f; f = f->up)
    if (!f->inlined) {
      f->func->can_fail = true;
      break;
    }
}
