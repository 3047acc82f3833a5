/*
** Arithmetic of a few complex elements: the formulas of kernel/complex.c by the interpreter's loops over real and
** imaginary parts, a block at a time, so the bits are those of kernels. The common ones; others are left to kernels.
*/
#include "run/elements_complex.h"

#include <assert.h>
#include <string.h>

enum { BLOCK = 128 };

typedef struct part {
  _Alignas(64) double v[BLOCK]; /* or floats */
} part;
typedef struct parts {
  part re, im;
} parts;

typedef struct maker {
  const tt_vm_table *table;
  tt_dtype real; /* of the parts */
  int64_t n;
} maker;

static void op2(const maker *m, tt_op op, void *out, const void *a, const void *b) {
  m->table->op[op][m->real](out, a, b, NULL, m->n);
}

static void pick(const maker *m, part *out, const part *mask, const part *a, const part *b) {
  m->table->op[TT_WHERE][m->real](out, mask, a, b, m->n);
}

static void split(const maker *m, const void *v, parts *out) {
  m->table->split[m->real == TT_F64 ? 3 : 2](&out->re, &out->im, v, m->n);
}

static void join(const maker *m, const parts *v, void *out) {
  m->table->join[m->real == TT_F64 ? 3 : 2](out, &v->re, &v->im, m->n);
}

static void multiply(const maker *m, const parts *a, const parts *b, parts *out) {
  part x, y;
  op2(m, TT_MUL, &x, &a->re, &b->re);
  op2(m, TT_MUL, &y, &a->im, &b->im);
  op2(m, TT_SUB, &out->re, &x, &y);
  op2(m, TT_MUL, &x, &a->re, &b->im);
  op2(m, TT_MUL, &y, &a->im, &b->re);
  op2(m, TT_ADD, &out->im, &x, &y);
}

static void spread(const maker *m, double value, part *out) {
  tt_scalar s = {.bits = {0, 0}};
  if (m->real == TT_F64)
    s.f64 = value;
  else
    s.f32 = (float)value;
  m->table->splat[m->real == TT_F64 ? 3 : 2](out, &s, m->n);
}

/* Smith's quotient: see c_div of kernel/complex.c. */
static void divide(const maker *m, const parts *a, const parts *b, parts *out) {
  part abr, abi, wide, big, small, zero, ratio, scale, x, y, none;
  parts w, n;
  op2(m, TT_ABS, &abr, &b->re, NULL);
  op2(m, TT_ABS, &abi, &b->im, NULL);
  op2(m, TT_GE, &wide, &abr, &abi);
  pick(m, &big, &wide, &b->re, &b->im);
  pick(m, &small, &wide, &b->im, &b->re);
  spread(m, 0, &none);
  op2(m, TT_MAXIMUM, &x, &abr, &abi);
  op2(m, TT_EQ, &zero, &x, &none);
  op2(m, TT_DIV, &ratio, &small, &big);
  op2(m, TT_MUL, &x, &small, &ratio);
  op2(m, TT_ADD, &x, &big, &x);
  spread(m, 1, &y);
  op2(m, TT_DIV, &scale, &y, &x);
  op2(m, TT_MUL, &x, &a->im, &ratio);
  op2(m, TT_ADD, &w.re, &a->re, &x);
  op2(m, TT_SUB, &n.im, &x, &a->re);
  op2(m, TT_MUL, &y, &a->re, &ratio);
  op2(m, TT_SUB, &w.im, &a->im, &y);
  op2(m, TT_ADD, &n.re, &y, &a->im);
  pick(m, &x, &wide, &w.re, &n.re);
  pick(m, &y, &wide, &w.im, &n.im);
  op2(m, TT_MUL, &x, &x, &scale);
  op2(m, TT_MUL, &y, &y, &scale);
  op2(m, TT_DIV, &w.re, &a->re, &abr);
  op2(m, TT_DIV, &w.im, &a->im, &abr);
  pick(m, &out->re, &zero, &w.re, &x);
  pick(m, &out->im, &zero, &w.im, &y);
}

/* See c_exp and rise of kernel/complex.c. */
static void exponential(const maker *m, const parts *a, parts *out) {
  part e, zero, flat, end, mask, x, y;
  const tt_vm_table *t = m->table;
  op2(m, TT_EXP, &e, &a->re, NULL);
  spread(m, 0, &zero);
  op2(m, TT_EQ, &flat, &a->im, &zero);
  op2(m, TT_ISFINITE, &mask, &a->im, NULL);
  t->op[TT_LNOT][TT_BOOL](&mask, &mask, NULL, NULL, m->n);
  op2(m, TT_ISINF, &end, &a->re, NULL);
  t->op[TT_LAND][TT_BOOL](&end, &mask, &end, NULL, m->n);
  t->op[TT_LOR][TT_BOOL](&mask, &flat, &end, NULL, m->n);
  op2(m, TT_COS, &x, &a->im, NULL);
  op2(m, TT_MUL, &x, &e, &x);
  pick(m, &out->re, &mask, &e, &x);
  op2(m, TT_LT, &mask, &a->re, &zero);
  t->op[TT_LAND][TT_BOOL](&end, &end, &mask, NULL, m->n);
  op2(m, TT_ISNAN, &mask, &a->im, NULL);
  pick(m, &y, &mask, &zero, &a->im);
  op2(m, TT_COPYSIGN, &y, &zero, &y);
  op2(m, TT_SIN, &x, &a->im, NULL);
  op2(m, TT_MUL, &x, &e, &x);
  pick(m, &x, &end, &y, &x);
  pick(m, &out->im, &flat, &y, &x);
}

static bool to_complex(const maker *m, tt_op op, const parts *a, const parts *b, parts *out) {
  switch (op) {
    case TT_CONJ:
      out->re = a->re;
      op2(m, TT_NEG, &out->im, &a->im, NULL);
      return true;
    case TT_MUL:
      multiply(m, a, b, out);
      return true;
    case TT_DIV:
      divide(m, a, b, out);
      return true;
    case TT_SQUARE:
      multiply(m, a, a, out);
      return true;
    case TT_EXP:
      exponential(m, a, out);
      return true;
    default:
      return false;
  }
}

static bool to_real(const maker *m, tt_op op, const parts *a, const parts *b, void *out) {
  part x, y;
  switch (op) {
    case TT_ABS:
      op2(m, TT_HYPOT, out, &a->re, &a->im);
      return true;
    case TT_REAL:
    case TT_IMAG:
      memcpy(out, op == TT_REAL ? &a->re : &a->im, (size_t)m->n * tt__dtype_size(m->real));
      return true;
    case TT_EQ:
    case TT_NE:
      op2(m, op, &x, &a->re, &b->re);
      op2(m, op, &y, &a->im, &b->im);
      m->table->op[op == TT_EQ ? TT_LAND : TT_LOR][TT_BOOL](out, &x, &y, NULL, m->n);
      return true;
    default:
      return false;
  }
}

/* A real block as complex numbers of the same precision or another. */
static bool cast(const maker *m, tt_dtype from, const void *v, void *out) {
  parts z;
  if (tt__is_complex(from) || !m->table->cast[from][m->real]) return false;
  m->table->cast[from][m->real](&z.re, v, NULL, NULL, m->n);
  spread(m, 0, &z.im);
  join(m, &z, out);
  return true;
}

static bool block(const maker *m, tt_op op, tt_dtype from, tt_dtype to, const void *const *at, int n, void *out) {
  parts a, b, z;
  if (op == TT_CAST) return cast(m, from, at[0], out);
  split(m, at[op == TT_WHERE ? 1 : 0], &a);
  if (n > 1) split(m, at[n - 1], &b);
  if (!tt__is_complex(to)) return to_real(m, op, &a, &b, out);
  if (op == TT_WHERE) {
    m->table->op[TT_WHERE][m->real](&z.re, at[0], &a.re, &b.re, m->n);
    m->table->op[TT_WHERE][m->real](&z.im, at[0], &a.im, &b.im, m->n);
  } else if (!to_complex(m, op, &a, &b, &z)) {
    return false;
  }
  join(m, &z, out);
  return true;
}

bool tt__elements_complex(const tt_vm_table *table, tt_op op, tt_dtype from, tt_dtype to, const void *const *arg, int n,
                          void *out, int64_t count) {
  tt_dtype complex = tt__is_complex(to) ? to : from;
  assert(tt__is_complex(complex) && n <= 3);
  if (count == 0) return false;                       /* who asks so wants to know of a loop for the whole type */
  if (op == TT_ADD || op == TT_SUB || op == TT_NEG) { /* of parts by themselves */
    table->op[op][tt__real_of(complex)](out, arg[0], n > 1 ? arg[1] : NULL, NULL, 2 * count);
    return true;
  }
  for (int64_t i = 0; i < count; i += BLOCK) {
    maker m = {
        .table = table, .real = complex == TT_C128 ? TT_F64 : TT_F32, .n = count - i < BLOCK ? count - i : BLOCK};
    const void *at[3];
    for (int k = 0; k < n; k++) {
      size_t item = op == TT_WHERE && k == 0 ? 1 : tt__dtype_size(from);
      at[k] = (const char *)arg[k] + (size_t)i * item;
    }
    if (!block(&m, op, from, to, at, n, (char *)out + (size_t)i * tt__dtype_size(to))) return false;
  }
  return true;
}
