/*
** Arithmetic of series of polynomials, on the host: their coefficients are few.
*/
#include <math.h>
#include <string.h>

#include "graph/promote.h"
#include "fn/series/series.h"

tt_recurrence tt__series_step(tt_family family, int64_t k) {
  double n = (double)k;
  switch (family) {
    case TT_SERIES_POLY:
      return (tt_recurrence){1, 1, 0, 0};
    case TT_SERIES_CHEB:
      return k ? (tt_recurrence){2, 1, 0, 1} : (tt_recurrence){1, 1, 0, 0};
    case TT_SERIES_LEG:
      return (tt_recurrence){2 * n + 1, n + 1, 0, n};
    case TT_SERIES_HERM:
      return (tt_recurrence){2, 1, 0, 2 * n};
    case TT_SERIES_HERME:
      return (tt_recurrence){1, 1, 0, n};
    default:
      return (tt_recurrence){1, -(n + 1), 2 * n + 1, -n};
  }
}

tt_family tt__series_family(tt_composer *c, const tt_call_frame *f, int k) {
  static const char *const names[TT_FAMILY_COUNT] = {"polynomial", "chebyshev", "legendre",
                                                     "hermite",    "hermite_e", "laguerre"};
  const char *name = tt__arg_string(c, f, k, "");
  for (int i = 0; i < TT_FAMILY_COUNT; i++)
    if (strcmp(name, names[i]) == 0) return (tt_family)i;
  tt__compose_fail(c, TT_EVALUE, "'%s' is no family of polynomials", name);
  return TT_SERIES_POLY;
}

tt_dtype tt__series_type(tt_dtype t) { return tt__is_float(t) || tt__is_complex(t) ? t : TT_F64; }

tt_array *tt__series_at(tt_composer *c, tt_array *series, int64_t k) {
  return tt__compose_reshape(c, tt__compose_slice(c, series, 0, k, 1, 1), 0, NULL);
}

/* How many coefficients are left once those at the end that are not above `tol` are gone. */
static int64_t kept(tt_composer *c, tt_array *a, double tol) {
  tt_array *big = tt__compose_opf(c, TT_GT, tt__compose_op1(c, TT_ABS, a), tol);
  if (tol == 0) big = tt__compose_opi(c, TT_NE, a, 0); /* NaN is no zero */
  const bool *on = big ? tt__compose_peek(c, big) : NULL;
  int64_t n = a->size;
  while (on && n > 0 && !on[n - 1]) n--;
  return on ? n : -1;
}

tt_array *tt__series_whole(tt_composer *c, const tt_call_frame *f, int k) {
  tt_array *a = tt__arg_array(c, f, k);
  if (!a) return NULL;
  if (a->rank == 0) a = tt__compose_ravel(c, a);
  if (a && a->size == 0) return tt__compose_fail(c, TT_EVALUE, "Coefficient array is empty");
  if (a && a->rank != 1) return tt__compose_fail(c, TT_EVALUE, "Coefficient array is not 1-d");
  if (a && a->dtype == TT_BOOL) return tt__compose_fail(c, TT_EVALUE, "Coefficient arrays have no common type");
  return a ? tt__compose_cast(c, a, tt__series_type((tt_dtype)a->dtype)) : NULL;
}

tt_array *tt__series_of(tt_composer *c, const tt_call_frame *f, int k) {
  tt_array *a = tt__series_whole(c, f, k);
  int64_t n = a ? kept(c, a, 0) : -1;
  return n < 0 ? NULL : tt__compose_slice(c, a, 0, 0, n ? n : 1, 1);
}

/* ---- on the host: a coefficient is `width` numbers in a row, two for a complex one, `lines` of them side by side */

typedef struct series {
  int64_t n, width;
  double *v;
} series;

static double *line_of(const series *s, int64_t k) { return s->v + k * s->width; }

static series series_new(tt_composer *c, int64_t n, int64_t width) {
  return (series){n, width, tt__compose_scratch(c, n * width + 1, sizeof(double))};
}

/* The coefficients along the first axis, as real numbers or (parts == 2) complex ones. */
static series series_read(tt_composer *c, tt_array *a, int parts) {
  int64_t n = a ? tt__array_len(a)[0] : 0;
  tt_array *same = a ? tt__compose_cast(c, a, parts == 2 ? TT_C128 : TT_F64) : NULL;
  series s = series_new(c, n, n ? a->size / n * parts : 0);
  const void *from = same && a->size ? tt__compose_peek(c, same) : NULL;
  if (from && s.v) memcpy(s.v, from, sizeof(double) * (size_t)(s.n * s.width));
  return s;
}

/* As an array of that type: [n] and the lengths behind the first axis of `like` (NULL: none). */
static tt_array *series_array(tt_composer *c, const series *s, tt_dtype type, tt_array *like) {
  int64_t len[TT_MAX_RANK] = {s->n};
  int rank = like ? like->rank : 1;
  void *data;
  for (int d = 1; d < rank; d++) len[d] = tt__array_len(like)[d];
  if (!s->v || c->code != TT_OK) return NULL;
  tt_array *out = tt__compose_block(c, tt__is_complex(type) ? TT_C128 : TT_F64, rank, len, &data);
  if (!out) return NULL;
  if (s->n > 0 && s->width > 0) memcpy(data, s->v, sizeof(double) * (size_t)(s->n * s->width));
  return tt__compose_cast(c, out, type);
}

static int parts_of(tt_dtype t) { return tt__is_complex(t) ? 2 : 1; }

/* to += factor * from, line by line. */
static void add_line(double *to, const double *from, int64_t width, double factor) {
  for (int64_t i = 0; i < width; i++) to[i] += factor * from[i];
}

/* out[0..n] = x times b[0..n-1], in a family's own terms, and times `factor`, added. */
static void add_times_x(tt_family ring, const series *out, const series *b, double factor) {
  for (int64_t k = 0; k + 1 < out->n; k++) {
    tt_recurrence r = tt__series_step(ring, k);
    const double *from = line_of(b, k);
    add_line(line_of(out, k + 1), from, b->width, factor * r.u / r.s);
    if (r.m != 0) add_line(line_of(out, k), from, b->width, factor * r.m / r.s);
    if (k > 0 && r.d != 0) add_line(line_of(out, k - 1), from, b->width, factor * r.d / r.s);
  }
}

/*
** Clenshaw's rule with series of the family `ring` in the place of numbers: the series c of `family` where x is x,
** times the series `one` of the ring. A product where both are the same family, a change of basis where `one` is 1.
*/
static series evaluate(tt_composer *c, tt_family family, const series *a, tt_family ring, const series *one) {
  int64_t n = a->n + one->n - 1, width = one->width;
  series b[3] = {series_new(c, n, width), series_new(c, n, width), series_new(c, n, width)};
  for (int64_t k = a->n - 1; k >= 0 && b[0].v && b[1].v && b[2].v; k--) {
    tt_recurrence r = tt__series_step(family, k), next = tt__series_step(family, k + 1);
    series now = b[2];
    memset(now.v, 0, sizeof(double) * (size_t)(n * width));
    for (int64_t j = 0; j < one->n; j++) {
      const double *z = line_of(a, k), *x = line_of(one, j);
      double *to = line_of(&now, j);
      to[0] += width == 2 ? z[0] * x[0] - z[1] * x[1] : z[0] * x[0]; /* 0 + -0 is 0, as in a convolution */
      if (width == 2) to[1] += z[0] * x[1] + z[1] * x[0];
    }
    add_times_x(ring, &now, &b[0], r.s / r.u);
    if (r.m != 0) add_line(now.v, b[0].v, n * width, -r.m / r.u);
    if (next.d != 0) add_line(now.v, b[1].v, n * width, -next.d / next.u);
    b[2] = b[1];
    b[1] = b[0];
    b[0] = now;
  }
  return b[0];
}

static void trim(series *s) {
  for (; s->n > 1; s->n--)
    for (int64_t i = 0; i < s->width; i++)
      if (line_of(s, s->n - 1)[i] != 0) return;
}

/* The type of what is multiplied together here, where NumPy begins with its own numbers. */
static tt_dtype wide(tt_dtype t) { return tt__is_complex(t) ? TT_C128 : TT_F64; }

static tt_dtype constant_type(tt_family family, tt_dtype t) { return family >= TT_SERIES_LEG ? wide(t) : t; }

static series unit(tt_composer *c, int64_t width) {
  series one = series_new(c, 1, width);
  if (one.v) one.v[0] = 1;
  return one;
}

/* ---- sums */

static tt_array *trimmed_sum(tt_composer *c, tt_call_frame *f, tt_op op) {
  tt_array *a[2] = {tt__series_of(c, f, 0), tt__series_of(c, f, 1)};
  if (!a[0] || !a[1]) return NULL;
  tt_dtype type = tt__promote((tt_dtype)a[0]->dtype, (tt_dtype)a[1]->dtype);
  int64_t n = a[0]->size > a[1]->size ? a[0]->size : a[1]->size;
  for (int i = 0; i < 2; i++) {
    if (a[i]->size == n) continue;
    int64_t more = n - a[i]->size;
    tt_array *part[2] = {a[i], tt__compose_full(c, (tt_dtype)a[i]->dtype, 1, &more, tt_v_int(0))};
    if (!part[1] || !(a[i] = tt__compose_concat(c, part, 2, 0))) return NULL;
  }
  tt_array *sum = tt__compose_cast(c, tt__compose_op2(c, op, a[0], a[1]), type);
  int64_t left = sum ? kept(c, sum, 0) : -1;
  return left < 0 ? NULL : tt__compose_slice(c, sum, 0, 0, left ? left : 1, 1);
}

static tt_array *series_add(tt_composer *c, tt_call_frame *f) { return trimmed_sum(c, f, TT_ADD); }
static tt_array *series_sub(tt_composer *c, tt_call_frame *f) { return trimmed_sum(c, f, TT_SUB); }
TT_HANDLER(series_add)
TT_HANDLER(series_sub)

/* trim(c, tol): without the small coefficients at the end. */
static tt_array *series_trim(tt_composer *c, tt_call_frame *f) {
  double tol = tt__arg_float(c, f, 1, 0);
  if (tol < 0) return tt__compose_fail(c, TT_EVALUE, "tol must be non-negative");
  tt_array *a = tt__series_whole(c, f, 0);
  int64_t n = a ? kept(c, a, tol) : -1;
  if (n < 0) return NULL;
  return n ? tt__compose_copy(c, tt__compose_slice(c, a, 0, 0, n, 1))
           : tt__compose_opi(c, TT_MUL, tt__compose_slice(c, a, 0, 0, 1, 1), 0);
}
TT_HANDLER(series_trim)

/* ---- products */

/* Two series in one type, read on the host. */
static bool read_two(tt_composer *c, const tt_call_frame *f, int k, series *s, tt_dtype *type) {
  tt_array *a = tt__series_of(c, f, k), *b = a ? tt__series_of(c, f, k + 1) : NULL;
  if (!b) return false;
  *type = tt__promote((tt_dtype)a->dtype, (tt_dtype)b->dtype);
  s[0] = series_read(c, a, parts_of(*type));
  s[1] = series_read(c, b, parts_of(*type));
  return c->code == TT_OK && s[0].v && s[1].v;
}

/* mulx(family, c) */
static tt_array *series_mulx(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *a = tt__series_of(c, f, 1);
  if (!a || c->code != TT_OK) return NULL;
  tt_dtype type = (tt_dtype)a->dtype;
  series s = series_read(c, a, parts_of(type));
  bool zero = s.n == 1 && kept(c, a, 0) == 0;
  series out = series_new(c, zero ? 1 : s.n + 1, s.width);
  if (out.v && s.v && !zero) add_times_x(family, &out, &s, 1);
  for (int64_t k = 0; out.v && s.v && !zero && k < s.width; k++)
    out.v[k] += s.v[k] * 0; /* infinity leaves a NaN there */
  return series_array(c, &out, type, NULL);
}
TT_HANDLER(series_mulx)

/* mul(family, c1, c2) */
static tt_array *series_mul(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_dtype type;
  series s[2];
  if (c->code != TT_OK || !read_two(c, f, 1, s, &type)) return NULL;
  series out = evaluate(c, family, &s[0], family, &s[1]);
  if (out.v) trim(&out);
  if (s[0].n == 1 || s[1].n == 1) type = constant_type(family, type);
  return series_array(c, &out, type, NULL);
}
TT_HANDLER(series_mul)

/* The quotient of two numbers of one or two parts. */
static void divide(double *out, const double *a, const double *b, int64_t width) {
  if (width == 1) {
    out[0] = a[0] / b[0];
    return;
  }
  double size = b[0] * b[0] + b[1] * b[1];
  out[0] = (a[0] * b[0] + a[1] * b[1]) / size;
  out[1] = (a[1] * b[0] - a[0] * b[1]) / size;
}

/* Long division: the highest term of what is left, by that of the divisor times p_i. */
static bool divide_out(tt_composer *c, tt_family family, series *rem, const series *by, const series *quotient) {
  series p = series_new(c, quotient->n, by->width);
  for (int64_t i = quotient->n - 1; i >= 0 && p.v; i--) {
    double q[2], minus[2] = {0, 0};
    p.n = i + 1;
    memset(p.v, 0, sizeof(double) * (size_t)(p.n * p.width));
    line_of(&p, i)[0] = 1;
    series term = evaluate(c, family, &p, family, by);
    if (!term.v) return false;
    divide(q, line_of(rem, rem->n - 1), line_of(&term, term.n - 1), by->width);
    memcpy(line_of(quotient, i), q, sizeof(double) * (size_t)by->width);
    rem->n--;
    for (int64_t j = 0; j < rem->n; j++) {
      const double *t = line_of(&term, j);
      minus[0] = by->width == 2 ? q[0] * t[0] - q[1] * t[1] : q[0] * t[0];
      if (by->width == 2) minus[1] = q[0] * t[1] + q[1] * t[0];
      add_line(line_of(rem, j), minus, by->width, -1);
    }
  }
  return p.v != NULL;
}

/* div(family, c1, c2): quotient and remainder. */
static tt_array *series_div(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_dtype type;
  series s[2], quotient;
  if (c->code != TT_OK || !read_two(c, f, 1, s, &type)) return NULL;
  tt_dtype left = type; /* the remainder's */
  const double *top = line_of(&s[1], s[1].n - 1);
  if (top[0] == 0 && (s[1].width == 1 || top[1] == 0)) return tt__compose_fail(c, TT_EZERODIV, "division by zero");
  if (s[0].n < s[1].n) {
    quotient = series_new(c, 1, s[0].width);
  } else if (s[1].n == 1) {
    quotient = series_new(c, s[0].n, s[0].width);
    for (int64_t k = 0; quotient.v && k < s[0].n; k++)
      divide(line_of(&quotient, k), line_of(&s[0], k), top, s[0].width);
    s[0] = series_new(c, 1, s[0].width);
  } else {
    quotient = series_new(c, s[0].n - s[1].n + 1, s[0].width);
    if (!quotient.v || !divide_out(c, family, &s[0], &s[1], &quotient)) return NULL;
    trim(&s[0]);
    left = constant_type(family, type);
  }
  if (tt__fn_give(c, f, series_array(c, &quotient, type, NULL))) tt__fn_give(c, f, series_array(c, &s[0], left, NULL));
  return NULL;
}
TT_HANDLER(series_div)

/* The coefficients of a polynomial, the highest power first, in the other order. */
static tt_array *turned(tt_composer *c, const tt_call_frame *f, int k, tt_dtype *type) {
  tt_array *a = tt__arg_array(c, f, k);
  if (a && a->rank == 0) a = tt__compose_ravel(c, a);
  if (a && a->rank != 1) return tt__compose_fail(c, TT_EVALUE, "polynomials are arrays of one axis");
  if (a && a->size == 0) return tt__compose_fail(c, TT_EINDEX, "index 0 is out of bounds for axis 0 with size 0");
  if (!a) return NULL;
  *type = tt__promote(*type, tt__series_type((tt_dtype)a->dtype));
  return tt__compose_flip(c, a, 0);
}

/* polydiv(u, v): the remainder loses what is close to zero at its front. */
static tt_array *polydiv(tt_composer *c, tt_call_frame *f) {
  tt_dtype type = TT_F16;
  tt_array *u = turned(c, f, 0, &type), *v = u ? turned(c, f, 1, &type) : NULL;
  if (!v) return NULL;
  int parts = parts_of(type);
  series rem = series_read(c, u, parts), by = series_read(c, v, parts);
  series quotient = series_new(c, rem.n >= by.n ? rem.n - by.n + 1 : 1, rem.width);
  if (c->code != TT_OK || !rem.v || !by.v || !quotient.v) return NULL;
  if (rem.n >= by.n && by.n == 1) {
    for (int64_t k = 0; k < rem.n; k++) divide(line_of(&quotient, k), line_of(&rem, k), by.v, rem.width);
    rem = series_new(c, 1, rem.width);
  } else if (rem.n >= by.n && !divide_out(c, TT_SERIES_POLY, &rem, &by, &quotient)) {
    return NULL;
  }
  for (; rem.v && rem.n > 1; rem.n--) {
    const double *top = line_of(&rem, rem.n - 1);
    if (!(hypot(top[0], parts == 2 ? top[1] : 0) <= 1e-8)) break;
  }
  tt_array *out[2] = {series_array(c, &quotient, type, NULL), series_array(c, &rem, type, NULL)};
  for (int k = 0; k < 2; k++)
    if (!out[k] || !tt__fn_give(c, f, tt__compose_copy(c, tt__compose_flip(c, out[k], 0)))) return NULL;
  return NULL;
}
TT_HANDLER(polydiv)

/* pow(family, c, pow, maxpower) */
static tt_array *series_pow(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *a = tt__series_of(c, f, 1);
  double asked = tt__arg_float(c, f, 2, 0), most = tt__arg_float(c, f, 3, INFINITY);
  if (!a || c->code != TT_OK) return NULL;
  if (!(asked >= 0) || asked != floor(asked))
    return tt__compose_fail(c, TT_EVALUE, "Power must be a non-negative integer.");
  if (asked > most) return tt__compose_fail(c, TT_EVALUE, "Power is too large");
  tt_dtype type = (tt_dtype)a->dtype;
  series s = series_read(c, a, parts_of(type)), out = unit(c, s.width);
  if (asked > 1e7 / (double)s.n) return tt__compose_fail(c, TT_EVALUE, "Power is too large");
  for (int64_t k = 0; k < (int64_t)asked && s.v && out.v; k++) out = evaluate(c, family, &s, family, &out);
  if (s.n == 1 && asked > 1) type = constant_type(family, type);
  return series_array(c, &out, type, NULL);
}
TT_HANDLER(series_pow)

/* ---- changes of basis */

static tt_array *in_basis(tt_composer *c, tt_call_frame *f, bool to_powers) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *a = tt__series_of(c, f, 1);
  if (!a || c->code != TT_OK) return NULL;
  tt_dtype type = (tt_dtype)a->dtype;
  series s = series_read(c, a, parts_of(type)), one = unit(c, s.width);
  if (!s.v || !one.v) return NULL;
  if (!to_powers) type = wide(type);
  series out =
      to_powers ? evaluate(c, family, &s, TT_SERIES_POLY, &one) : evaluate(c, TT_SERIES_POLY, &s, family, &one);
  return series_array(c, &out, type, NULL);
}

static tt_array *series_to_powers(tt_composer *c, tt_call_frame *f) { return in_basis(c, f, true); }
static tt_array *series_of_powers(tt_composer *c, tt_call_frame *f) { return in_basis(c, f, false); }
TT_HANDLER(series_to_powers)
TT_HANDLER(series_of_powers)

/* compose(family, c, ring, x): the series where x is a series of another family. Clenshaw's rule again. */
static tt_array *series_compose(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0), ring = tt__series_family(c, f, 2);
  tt_array *a = tt__series_of(c, f, 1), *x = a ? tt__series_of(c, f, 3) : NULL;
  if (!x || c->code != TT_OK) return NULL;
  tt_dtype type = tt__promote((tt_dtype)a->dtype, (tt_dtype)x->dtype);
  series s = series_read(c, a, parts_of(type)), g = series_read(c, x, parts_of(type));
  series b[2] = {series_new(c, 1, s.width), series_new(c, 1, s.width)};
  for (int64_t k = s.n - 1; k >= 0 && c->code == TT_OK; k--) {
    tt_recurrence r = tt__series_step(family, k), next = tt__series_step(family, k + 1);
    series now = k == s.n - 1 ? series_new(c, 1, s.width) : evaluate(c, ring, &g, ring, &b[0]);
    if (!now.v || c->code != TT_OK) return NULL;
    for (int64_t i = 0; i < now.n * now.width; i++) now.v[i] *= r.s / r.u;
    add_line(now.v, line_of(&s, k), s.width, 1);
    add_line(now.v, b[0].v, b[0].n * s.width, -r.m / r.u);
    add_line(now.v, b[1].v, b[1].n * s.width, -next.d / next.u);
    b[1] = b[0];
    b[0] = now;
  }
  if (b[0].v) trim(&b[0]);
  return series_array(c, &b[0], type, NULL);
}
TT_HANDLER(series_compose)

/* fromroots(family, roots): the factors are multiplied in pairs, which loses less than one after the other. */
static tt_array *series_fromroots(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  tt_array *r = tt__arg_array(c, f, 1);
  int64_t one = 1;
  if (!r || c->code != TT_OK) return NULL;
  if (r->size == 0) return tt__compose_full(c, TT_F64, 1, &one, tt_v_int(1));
  if (!(r = tt__series_whole(c, f, 1))) return NULL;
  r = tt__compose_cast(c, r, wide((tt_dtype)r->dtype));
  r = r ? tt__fn_call(c, "sort", (tt_value[1]){tt_v_array(r)}, 1) : NULL;
  if (!r) return NULL;
  tt_dtype type = (tt_dtype)r->dtype;
  series z = series_read(c, r, parts_of(type)), *p = tt__compose_scratch(c, z.n, sizeof *p);
  tt_recurrence x = tt__series_step(family, 0);
  for (int64_t k = 0; p && k < z.n; k++) { /* x - z */
    p[k] = series_new(c, 2, z.width);
    if (!p[k].v || !z.v) return NULL;
    add_line(p[k].v, line_of(&z, k), z.width, -1);
    p[k].v[0] += x.m / x.s;
    p[k].v[z.width] = x.u / x.s;
  }
  for (int64_t n = z.n; p && n > 1 && c->code == TT_OK;) {
    int64_t half = n / 2;
    for (int64_t k = 0; k < half && c->code == TT_OK; k++) p[k] = evaluate(c, family, &p[k], family, &p[k + half]);
    if (n % 2 && c->code == TT_OK) p[0] = evaluate(c, family, &p[0], family, &p[n - 1]);
    n = half;
  }
  return p ? series_array(c, &p[0], type, NULL) : NULL;
}
TT_HANDLER(series_fromroots)

/* ---- derivatives and integrals, of series along an axis */

static void derive(tt_family family, const series *c, const series *out) {
  int64_t w = c->width;
  for (int64_t j = c->n - 1; j > 0; j--) {
    double n = (double)j, *here = line_of(c, j), *to = line_of(out, j - 1);
    switch (family) {
      case TT_SERIES_CHEB:
        add_line(to, here, w, j == 1 ? 1 : 2 * n);
        if (j > 2) add_line(line_of(c, j - 2), here, w, n / (n - 2));
        break;
      case TT_SERIES_LEG:
        add_line(to, here, w, 2 * n - 1);
        if (j > 2) add_line(line_of(c, j - 2), here, w, 1);
        break;
      case TT_SERIES_HERM:
        add_line(to, here, w, 2 * n);
        break;
      case TT_SERIES_LAG:
        add_line(to, here, w, -1);
        if (j > 1) add_line(line_of(c, j - 1), here, w, 1);
        break;
      default:
        add_line(to, here, w, n);
        break;
    }
  }
}

static void integrate(tt_family family, const series *c, const series *out) {
  int64_t w = c->width;
  for (int64_t j = 0; j < c->n; j++) {
    double n = (double)j, *here = line_of(c, j), *to = line_of(out, j + 1);
    switch (family) {
      case TT_SERIES_CHEB:
        add_line(to, here, w, j == 0 ? 1 : 1 / (2 * (n + 1)));
        if (j > 1) add_line(line_of(out, j - 1), here, w, -1 / (2 * (n - 1)));
        break;
      case TT_SERIES_LEG:
        add_line(to, here, w, 1 / (2 * n + 1));
        if (j > 0) add_line(line_of(out, j - 1), here, w, -1 / (2 * n + 1));
        break;
      case TT_SERIES_HERM:
        add_line(to, here, w, 1 / (2 * (n + 1)));
        break;
      case TT_SERIES_LAG:
        add_line(line_of(out, j), here, w, 1);
        add_line(to, here, w, -1);
        break;
      default:
        add_line(to, here, w, 1 / (n + 1));
        break;
    }
  }
}

/* The value of a series at a number, into at[width]. */
static void value_at(tt_composer *c, tt_family family, const series *s, const double *x, int parts, double *at) {
  int64_t w = s->width;
  double *b = tt__compose_scratch(c, 2 * w, sizeof *b);
  if (!b) return;
  memset(at, 0, sizeof *at * (size_t)w);
  for (int64_t k = s->n - 1; k >= 0; k--) {
    tt_recurrence r = tt__series_step(family, k), next = tt__series_step(family, k + 1);
    for (int64_t i = 0; i < w; i += parts) {
      double im = parts == 2 ? at[i + 1] : 0, re = at[i], xi = parts == 2 ? x[1] : 0;
      double turned[2] = {re * x[0] - im * xi, re * xi + im * x[0]}, was[2] = {re, im};
      for (int q = 0; q < parts; q++) {
        double v = line_of(s, k)[i + q] + turned[q] * (r.s / r.u) - was[q] * (r.m / r.u) - b[i + q] * (next.d / next.u);
        b[i + q] = was[q];
        at[i + q] = v;
      }
    }
  }
}

/* The operand of both: the axis first, in a type of its own; *times how often. */
static tt_array *along_axis(tt_composer *c, const tt_call_frame *f, int axis_at, const char *what, int64_t *times,
                            int *axis) {
  tt_array *a = tt__arg_array(c, f, 1);
  if (a && a->rank == 0) a = tt__compose_ravel(c, a);
  a = a ? tt__compose_cast(c, a, tt__series_type((tt_dtype)a->dtype)) : NULL;
  if (!a) return NULL;
  *times = tt__arg_int(c, f, 2, 1);
  if (*times < 0) return tt__compose_fail(c, TT_EVALUE, "The order of %s must be non-negative", what);
  *axis = tt__arg_axis(c, f, axis_at, a->rank, 0);
  return c->code == TT_OK ? tt__compose_move(c, a, *axis, 0) : NULL;
}

/* A number of one part or two. */
static void number_of(tt_composer *c, const tt_call_frame *f, int k, double fallback, double *z) {
  z[0] = fallback;
  z[1] = 0;
  if (!tt__arg_given(f, k)) return;
  tt_array *a = tt__compose_cast(c, tt__arg_array(c, f, k), TT_C128);
  const double *v = a && a->size == 1 ? tt__compose_peek(c, a) : NULL;
  if (v) memcpy(z, v, 2 * sizeof *z);
}

static void scale(const series *s, const double *by, int parts) {
  for (int64_t i = 0; i < s->n * s->width; i += parts) {
    double re = s->v[i], im = parts == 2 ? s->v[i + 1] : 0;
    s->v[i] = parts == 2 ? re * by[0] - im * by[1] : re * by[0];
    if (parts == 2) s->v[i + 1] = re * by[1] + im * by[0];
  }
}

/* der(family, c, m, scl, axis) */
static tt_array *series_der(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  int64_t times;
  int axis;
  double factor[2];
  tt_array *a = along_axis(c, f, 4, "derivation", &times, &axis);
  number_of(c, f, 3, 1, factor);
  if (!a || c->code != TT_OK) return NULL;
  tt_dtype type = (tt_dtype)a->dtype;
  if (times == 0) return tt__compose_move(c, a, 0, axis);
  int parts = parts_of(type);
  series s = series_read(c, a, parts);
  if (times >= s.n) {
    s.n = s.n ? 1 : 0;
    if (s.v) memset(s.v, 0, sizeof(double) * (size_t)(s.n * s.width));
  } else {
    for (; times > 0 && s.v; times--) {
      series out = series_new(c, s.n - 1, s.width);
      scale(&s, factor, parts);
      if (out.v) derive(family, &s, &out);
      s = out;
    }
  }
  tt_array *made = series_array(c, &s, type, a);
  return made ? tt__compose_move(c, made, 0, axis) : NULL;
}
TT_HANDLER(series_der)

/* int(family, c, m, k, lbnd, scl, axis) */
static tt_array *series_int(tt_composer *c, tt_call_frame *f) {
  tt_family family = tt__series_family(c, f, 0);
  int64_t times;
  int axis;
  double lower[2], factor[2], at[2];
  tt_array *a = along_axis(c, f, 6, "integration", &times, &axis), *k = NULL;
  if (tt__arg_given(f, 3)) k = tt__arg_array(c, f, 3);
  if (!a || c->code != TT_OK) return NULL;
  if (k && k->size > times) return tt__compose_fail(c, TT_EVALUE, "Too many integration constants");
  for (int p = 4; p < 6; p++) {
    tt_array *n = tt__arg_given(f, p) ? tt__arg_array(c, f, p) : NULL;
    if (n && n->rank != 0)
      return tt__compose_fail(c, TT_EVALUE, p == 4 ? "lbnd must be a scalar." : "scl must be a scalar.");
  }
  number_of(c, f, 4, 0, lower);
  number_of(c, f, 5, 1, factor);
  tt_dtype type = (tt_dtype)a->dtype;
  if (times == 0) return tt__compose_move(c, a, 0, axis);
  if (tt__array_len(a)[0] == 0)
    return tt__compose_fail(c, TT_EINDEX, "index 0 is out of bounds for axis 0 with size 0");
  int parts = parts_of(type);
  series s = series_read(c, a, parts);
  series constants = k && k->size ? series_read(c, tt__compose_ravel(c, k), parts) : (series){0, 0, NULL};
  double *value = tt__compose_scratch(c, s.width, sizeof *value);
  for (int64_t i = 0; i < times && s.v && value && c->code == TT_OK; i++) {
    bool zero = s.n == 1; /* nothing stays as short as it is */
    for (int64_t j = 0; j < s.width; j++) zero = zero && s.v[j] == 0;
    series out = series_new(c, s.n + !zero, s.width);
    if (!out.v) return NULL;
    scale(&s, factor, parts);
    if (!zero) integrate(family, &s, &out);
    value_at(c, family, &out, lower, parts, value);
    at[0] = i < constants.n ? line_of(&constants, i)[0] : 0;
    at[1] = parts == 2 && i < constants.n ? line_of(&constants, i)[1] : 0;
    for (int64_t j = 0; j < s.width; j++) out.v[j] += at[parts == 2 ? j & 1 : 0] - value[j];
    s = out;
  }
  tt_array *made = series_array(c, &s, type, a);
  return made ? tt__compose_move(c, made, 0, axis) : NULL;
}
TT_HANDLER(series_int)
