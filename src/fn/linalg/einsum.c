/*
** einsum: subscripts to labelled axes, then products of pairs, the cheapest pair first.
**
** A label is the letter; the axes of an ellipsis are counted from the right, so that broadcasting is agreement of
** labels.
*/
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fn/fn.h"
#include "fn/linalg/matrix.h"

enum { MOST_OPERANDS = 64, ELLIPSIS = 1000 /* label of an ellipsis' last axis */, LABELS = ELLIPSIS + TT_MAX_RANK };

typedef struct terms {
  int n, nout, broadcast; /* operands, axes of the result, axes of the widest ellipsis */
  tt_labelled op[MOST_OPERANDS];
  int raw[MOST_OPERANDS][TT_MAX_RANK]; /* a label per axis as written, repeats included */
  int out[TT_MAX_RANK];
  int count[128]; /* how often a letter stands in the operands */
  int64_t len[LABELS];
} terms;

static bool bad(tt_composer *c, const char *fmt, ...) TT_PRINTF(2, 3);
static bool bad(tt_composer *c, const char *fmt, ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  tt__compose_fail(c, TT_EVALUE, "%s", text);
  return false;
}

/* One term's characters to labels; *dots: where the ellipsis stands, or -1. `which` < 0: the output. */
static int read_term(tt_composer *c, const char *s, size_t size, int which, int *label, int *dots) {
  int n = 0;
  *dots = -1;
  for (size_t i = 0; i < size; i++) {
    if (s[i] == ' ') continue;
    if (s[i] == '.' && *dots < 0 && i + 2 < size && s[i + 1] == '.' && s[i + 2] == '.') {
      *dots = n;
      i += 2;
      continue;
    }
    if (s[i] == '.' && which >= 0)
      return bad(c,
                 "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') in operand %d",
                 which),
             -1;
    if (s[i] == '.')
      return bad(c,
                 "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') in the output"),
             -1;
    if (!isalpha((unsigned char)s[i]) || (unsigned char)s[i] > 127)
      return bad(c, "invalid subscript '%c' in einstein sum subscripts string, subscripts must be letters", s[i]), -1;
    if (n == TT_MAX_RANK) return bad(c, "einstein sum subscripts string contains too many subscripts"), -1;
    label[n++] = s[i];
  }
  return n;
}

/* The labels of operand i from its term: the ellipsis takes the axes that are left over. */
static bool place_term(tt_composer *c, terms *t, int i, const int *label, int n, int dots) {
  int rank = t->op[i].a->rank, spare = rank - n, at = 0;
  if (spare < 0) return bad(c, "einstein sum subscripts string contains too many subscripts for operand %d", i);
  if (spare > 0 && dots < 0)
    return bad(c,
               "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
               "broadcast "
               "the extra dimensions.");
  for (int k = 0; k <= n; k++) {
    for (int e = 0; k == dots && e < spare; e++) t->raw[i][at++] = ELLIPSIS + spare - 1 - e;
    if (k == n) break;
    t->raw[i][at++] = label[k];
    t->count[label[k]]++;
  }
  if (spare > t->broadcast) t->broadcast = spare;
  return true;
}

static void implicit_output(terms *t) {
  for (int e = t->broadcast; e-- > 0;) t->out[t->nout++] = ELLIPSIS + e;
  for (int l = 0; l < 128; l++)
    if (t->count[l] == 1 && t->nout < TT_MAX_RANK) t->out[t->nout++] = l;
}

static bool explicit_output(tt_composer *c, terms *t, const int *label, int n, int dots) {
  if (dots < 0 && t->broadcast > 0)
    return bad(
        c,
        "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to broadcast "
        "the extra dimensions.");
  if (n + t->broadcast > TT_MAX_RANK)
    return bad(c, "einstein sum subscripts string contains too many subscripts in the output");
  for (int k = 0; k <= n; k++) {
    for (int e = t->broadcast; k == dots && e-- > 0;) t->out[t->nout++] = ELLIPSIS + e;
    if (k == n) break;
    if (t->count[label[k]] == 0)
      return bad(c, "einstein sum subscripts string included output subscript '%c' which never appeared in an input",
                 label[k]);
    for (int j = 0; j < k; j++)
      if (label[j] == label[k])
        return bad(c, "einstein sum subscripts string includes output subscript '%c' multiple times", label[k]);
    t->out[t->nout++] = label[k];
  }
  return true;
}

static bool parse_text(tt_composer *c, terms *t, const char *s) {
  int label[TT_MAX_RANK], dots, n;
  for (int i = 0; i < t->n; i++) {
    size_t size = strcspn(s, ",-");
    if (i == t->n - 1 && s[size] == ',')
      return bad(c, "more operands provided to einstein sum function than specified in the subscripts string");
    if (i < t->n - 1 && s[size] != ',')
      return bad(c, "fewer operands provided to einstein sum function than specified in the subscripts string");
    if ((n = read_term(c, s, size, i, label, &dots)) < 0 || !place_term(c, t, i, label, n, dots)) return false;
    s += size + (i < t->n - 1);
  }
  if (!*s) return implicit_output(t), true;
  if (s[0] != '-' || s[1] != '>')
    return bad(c, "einstein sum subscript string does not contain proper '->' output specified");
  s += 2;
  n = read_term(c, s, strlen(s), -1, label, &dots);
  return n >= 0 && explicit_output(c, t, label, n, dots);
}

/* ---- the other form: einsum(a, [0, 1], b, [1, 2], [0, 2]) */

static bool sublist(tt_composer *c, const tt_value *v, int *label, int *n, int *dots) {
  *n = 0;
  *dots = -1;
  if (v->tag == TT_V_ARRAY && v->as.array->rank == 1 && tt__is_int((tt_dtype)v->as.array->dtype)) {
    const int64_t *at = tt__compose_peek(c, tt__compose_cast(c, v->as.array, TT_I64));
    tt_value *item = at ? tt__compose_scratch(c, v->as.array->size, sizeof *item) : NULL;
    for (int64_t k = 0; item && k < v->as.array->size; k++) item[k] = tt_v_int(at[k]);
    tt_value listed = {.tag = TT_V_TUPLE};
    listed.as.tuple.item = item;
    listed.as.tuple.n = v->as.array->size;
    return item && sublist(c, &listed, label, n, dots);
  }
  if (v->tag != TT_V_TUPLE) {
    tt__compose_fail(c, TT_ETYPE, "subscripts for each operand must be a list or tuple");
    return false;
  }
  for (int64_t k = 0; k < v->as.tuple.n; k++) {
    const tt_value *x = &v->as.tuple.item[k];
    if (x->tag == TT_V_ELLIPSIS) {
      if (*dots >= 0) return bad(c, "each subscripts list may have only one ellipsis");
      *dots = *n;
      continue;
    }
    if (x->tag != TT_V_INT) {
      tt__compose_fail(c, TT_ETYPE, "each subscript must be either an integer or an ellipsis");
      return false;
    }
    if (x->as.i < 0 || x->as.i >= 52) return bad(c, "subscript is not within the valid range [0, 52)");
    if (*n == TT_MAX_RANK) return bad(c, "subscripts list is too long");
    label[(*n)++] = (int)(x->as.i < 26 ? 'A' + x->as.i : 'a' + x->as.i - 26);
  }
  return true;
}

static bool parse_lists(tt_composer *c, terms *t, const tt_call_frame *f) {
  const tt_value *rest = f->arg[1].as.tuple.item;
  int64_t n = 1 + f->arg[1].as.tuple.n;
  int label[TT_MAX_RANK], count, dots;
  t->n = (int)(n / 2 < MOST_OPERANDS ? n / 2 : MOST_OPERANDS);
  for (int i = 0; i < t->n; i++) {
    t->op[i].a = tt__value_as_array(c, i == 0 ? &f->arg[0] : &rest[2 * i - 1]);
    if (!t->op[i].a || !sublist(c, &rest[2 * i], label, &count, &dots) || !place_term(c, t, i, label, count, dots))
      return false;
  }
  if (n % 2 == 0) return implicit_output(t), true;
  return sublist(c, &rest[n - 2], label, &count, &dots) && explicit_output(c, t, label, count, dots);
}

static bool parse(tt_composer *c, terms *t, const tt_call_frame *f) {
  int64_t n = f->narg > 1 && f->arg[1].tag == TT_V_TUPLE ? f->arg[1].as.tuple.n : 0;
  if (n == 0 || !tt__arg_given(f, 0))
    return bad(
        c,
        "must specify the einstein sum subscripts string and at least one operand, or at least one operand and its "
        "corresponding subscripts list");
  if (f->arg[0].tag != TT_V_STRING) return parse_lists(c, t, f);
  if (n > MOST_OPERANDS) return bad(c, "too many operands");
  t->n = (int)n;
  for (int i = 0; i < t->n; i++)
    if (!(t->op[i].a = tt__value_as_array(c, &f->arg[1].as.tuple.item[i]))) return false;
  return parse_text(c, t, f->arg[0].as.s);
}

/* ---- lengths and diagonals */

/* A label that stands twice in one operand is its diagonal: a view whose step is the sum of the steps. */
static bool take_diagonals(tt_composer *c, terms *t, int i, bool single) {
  tt_labelled *o = &t->op[i];
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  int n = 0;
  for (int d = 0; d < o->a->rank; d++) {
    int k = 0;
    int64_t here = tt__array_len(o->a)[d], by = tt__array_step(o->a)[d];
    while (k < n && o->label[k] != t->raw[i][d]) k++;
    if (k == n) {
      o->label[n] = t->raw[i][d];
      len[n] = here;
      step[n++] = by;
    } else if (here == len[k]) {
      step[k] += by;
    } else {
      return single ? bad(c, "dimensions in single operand for collapsing index '%c' don't match (%lld != %lld)",
                          t->raw[i][d], (long long)len[k], (long long)here)
                    : bad(c, "dimensions in operand %d for collapsing index '%c' don't match (%lld != %lld)", i,
                          t->raw[i][d], (long long)len[k], (long long)here);
    }
  }
  if (n == o->a->rank) return true;
  o->a = tt__compose_view(c, o->a, n, len, step, o->a->off);
  return o->a != NULL;
}

static void remapped(const terms *t, int i, char *out, size_t size) {
  int order[LABELS], n = 0;
  memcpy(order, t->out, sizeof *order * (size_t)t->nout);
  n = t->nout;
  for (int l = 0; l < 128; l++) {
    bool shown = t->count[l] == 0;
    for (int k = 0; k < t->nout; k++) shown |= t->out[k] == l;
    if (!shown) order[n++] = l;
  }
  size_t at = (size_t)snprintf(out, size, "(");
  bool any = false;
  for (int k = 0; k < n && at < size; k++) {
    int d = 0;
    while (d < t->op[i].a->rank && t->op[i].label[d] != order[k]) d++;
    if (d == t->op[i].a->rank && !any) continue;
    at += (size_t)(d == t->op[i].a->rank ? snprintf(out + at, size - at, "%snewaxis", any ? "," : "")
                                         : snprintf(out + at, size - at, "%s%lld", any ? "," : "",
                                                    (long long)tt__array_len(t->op[i].a)[d]));
    any = true;
  }
  if (at < size) snprintf(out + at, size - at, ")");
}

static bool mismatch(tt_composer *c, const terms *t, tt_array *const *given) {
  char text[400] = "", whole[128], mapped[128];
  size_t at = 0;
  for (int i = 0; i < t->n && at < sizeof text; i++) {
    tt__shape_text(given[i]->rank, tt__array_len(given[i]), whole, sizeof whole);
    remapped(t, i, mapped, sizeof mapped);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s->%s ", whole, mapped);
  }
  return bad(c, "operands could not be broadcast together with remapped shapes [original->remapped]: %s", text);
}

static bool check_lengths(tt_composer *c, terms *t, tt_array *const *given) {
  for (int l = 0; l < LABELS; l++) t->len[l] = 1;
  for (int i = 0; i < t->n; i++) {
    for (int d = 0; d < t->op[i].a->rank; d++) {
      int64_t here = tt__array_len(t->op[i].a)[d], *len = &t->len[t->op[i].label[d]];
      if (here != 1 && *len != 1 && here != *len) return mismatch(c, t, given);
      if (here != 1) *len = here;
    }
  }
  return true;
}

/* ---- the order of the products */

static bool has(const tt_labelled *x, int label) {
  for (int d = 0; d < x->a->rank; d++)
    if (x->label[d] == label) return true;
  return false;
}

/* Labels of the product of operands i and j that somebody needs after it. */
static int needed(const terms *t, int i, int j, int *label) {
  int n = 0;
  for (int side = 0; side < 2; side++) {
    const tt_labelled *x = &t->op[side ? j : i];
    for (int d = 0; d < x->a->rank; d++) {
      int l = x->label[d];
      if (side && has(&t->op[i], l)) continue;
      bool keep = false;
      for (int k = 0; k < t->nout; k++) keep |= t->out[k] == l;
      for (int o = 0; o < t->n && !keep; o++) keep = o != i && o != j && has(&t->op[o], l);
      if (keep && n < TT_MAX_RANK) label[n++] = l;
    }
  }
  return n;
}

static double cost(const terms *t, int i, int j, double *work) {
  int label[TT_MAX_RANK], n = needed(t, i, j, label);
  double made = 1;
  for (int k = 0; k < n; k++) made *= (double)t->len[label[k]];
  *work = 1;
  for (int d = 0; d < t->op[i].a->rank; d++) *work *= (double)t->len[t->op[i].label[d]];
  for (int d = 0; d < t->op[j].a->rank; d++)
    if (!has(&t->op[i], t->op[j].label[d])) *work *= (double)t->len[t->op[j].label[d]];
  return made - (double)t->op[i].a->size - (double)t->op[j].a->size;
}

static void cheapest(const terms *t, int *bi, int *bj) {
  double best = 0, best_work = 0;
  *bi = *bj = -1;
  for (int i = 0; i < t->n; i++) {
    for (int j = i + 1; j < t->n; j++) {
      double work, q = cost(t, i, j, &work);
      if (*bi >= 0 && (q > best || (q == best && work >= best_work))) continue;
      best = q;
      best_work = work;
      *bi = i;
      *bj = j;
    }
  }
}

static tt_array *multiply(tt_composer *c, terms *t) {
  while (t->n > 2) {
    tt_labelled made;
    int i, j;
    cheapest(t, &i, &j);
    int n = needed(t, i, j, made.label);
    made.a = tt__compose_contract(c, &t->op[i], &t->op[j], made.label, n);
    if (!made.a) return NULL;
    t->op[i] = made;
    t->op[j] = t->op[--t->n];
  }
  return t->n == 2 ? tt__compose_contract(c, &t->op[0], &t->op[1], t->out, t->nout)
                   : tt__compose_marginal(c, &t->op[0], t->out, t->nout);
}

/* ---- einsum(subscripts, *operands, out, dtype, order, casting, optimize) */

static bool convert(tt_composer *c, terms *t, const tt_call_frame *f) {
  tt_dtype type = (tt_dtype)t->op[0].a->dtype;
  for (int i = 1; i < t->n; i++) type = tt__promote(type, (tt_dtype)t->op[i].a->dtype);
  type = tt__arg_dtype(c, f, 3, type);
  const char *rule = tt__arg_string(c, f, 5, "safe");
  for (int i = 0; i < t->n && c->code == TT_OK; i++) {
    tt_dtype from = (tt_dtype)t->op[i].a->dtype;
    bool fits = false;
    c->code = tt__can_cast(from, type, rule, &fits, c->err);
    if (c->code == TT_OK && !fits)
      tt__compose_fail(
          c, TT_ETYPE,
          "Iterator operand %d dtype could not be cast from dtype('%s') to dtype('%s') according to the rule '%s'", i,
          tt__dtypes[from].name, tt__dtypes[type].name, rule);
    t->op[i].a = tt__compose_cast(c, t->op[i].a, type);
  }
  return c->code == TT_OK;
}

static tt_array *einsum(tt_composer *c, tt_call_frame *f) {
  terms t;
  tt_array *given[MOST_OPERANDS];
  memset(&t, 0, sizeof t);
  if (!parse(c, &t, f)) return NULL;
  bool view = t.n == 1 && !tt__arg_given(f, 2);
  for (int l = 0; l < 128 && view; l++) {
    bool shown = t.count[l] == 0;
    for (int k = 0; k < t.nout; k++) shown |= t.out[k] == l;
    view = shown;
  }
  if (!view && !convert(c, &t, f)) return NULL; /* a view is of the operand's type, whatever is asked for */
  for (int i = 0; i < t.n; i++) {
    given[i] = t.op[i].a;
    if (!take_diagonals(c, &t, i, view)) return NULL;
  }
  if (!check_lengths(c, &t, given)) return NULL;
  if (tt__arg_given(f, 2) && f->arg[2].tag == TT_V_ARRAY && f->arg[2].as.array->rank != t.nout)
    return tt__compose_fail(c, TT_EVALUE,
                            "out parameter does not have the correct number of dimensions, has %d but should have %d",
                            f->arg[2].as.array->rank, t.nout);
  return tt__arg_out(c, f, 2, multiply(c, &t));
}
TT_HANDLER(einsum)
