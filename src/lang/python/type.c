/*
** Typing rules of scalars and variables, and the types of a signature.
*/
#include <assert.h>
#include <string.h>

#include "lang/python/py_int.h"

static type *checked(lower *l, type *t) {
  if (!t) py__fail(l, TT_ENOMEM, "out of memory");
  return t;
}

type *py__scalar(lower *l, tt_dtype t) { return checked(l, tt__ptype_scalar(l->p, t)); }
type *py__array(lower *l, tt_dtype t, int rank, char layout) {
  assert((unsigned)t < TT_DTYPE_COUNT && rank >= 0);
  if (rank > TT_PROGRAM_RANK) py__fail(l, TT_ENOTIMPL, "arrays of more than %d axes", TT_PROGRAM_RANK);
  return checked(l, tt__ptype_array(l->p, t, rank, layout, false));
}
type *py__tuple(lower *l, type *const *item, int n) {
  assert(n >= 0);
  if (n > TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "tuples of more than %d items", TT_PROGRAM_ARGS);
  return checked(l, tt__ptype_tuple(l->p, item, n));
}
type *py__named(lower *l, type *const *item, int n, const char *meta) {
  if (n > TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "tuples of more than %d items", TT_PROGRAM_ARGS);
  return checked(l, tt__ptype_named(l->p, item, n, meta));
}
bool py__same_names(const type *a, const type *b) {
  return (a->meta == NULL) == (b->meta == NULL) && (!a->meta || strcmp(a->meta, b->meta) == 0);
}
type *py__none(lower *l) { return checked(l, tt__ptype_tag(l->p, TT_T_NONE, NULL)); }
type *py__unknown(lower *l) { return checked(l, tt__ptype_tag(l->p, TT_T_UNKNOWN, NULL)); }

type *py__unify(lower *l, type *a, type *b) {
  assert(a && b);
  if (a == b || b->tag == TT_T_UNKNOWN) return a;
  if (a->tag == TT_T_UNKNOWN) return b;
  if (py__may_be_none(a, b)) return py__optional(l, a, b);
  if (a->tag != b->tag) return NULL;
  if (a->tag == TT_T_SCALAR) return py__scalar(l, tt__promote((tt_dtype)a->dtype, (tt_dtype)b->dtype));
  if (a->tag == TT_T_ARRAY) {
    if (a->dtype != b->dtype || a->rank != b->rank) return NULL;
    bool bytes = a->layout == 'P' || b->layout == 'P';
    char layout = a->layout == b->layout ? a->layout : bytes ? 'P' : 'A';
    return checked(l, tt__ptype_array(l->p, (tt_dtype)a->dtype, a->rank, layout, a->readonly || b->readonly));
  }
  if (a->tag == TT_T_LIST) {
    type *item = a->layout == b->layout ? py__unify(l, a->item[0], b->item[0]) : NULL;
    bool known = item && py__is_complete(a->item[0]) && py__is_complete(b->item[0]);
    return !item || (known && a != b) ? NULL : py__list_type(l, item, a->layout);
  }
  if (a->tag != TT_T_TUPLE || a->n != b->n || !py__same_names(a, b)) return NULL;
  type *item[TT_PROGRAM_ARGS];
  for (int k = 0; k < a->n; k++)
    if (!(item[k] = py__unify(l, a->item[k], b->item[k]))) return NULL;
  return py__named(l, item, a->n, a->meta);
}

/* Arithmetic on whole numbers stays whole: where one of them has a sign, modulo 2**64 with a sign, as in Numba. */
tt_dtype py__arith(tt_dtype a, tt_dtype b) {
  assert((unsigned)a < TT_DTYPE_COUNT && (unsigned)b < TT_DTYPE_COUNT);
  tt_dtype t = tt__promote(a, b);
  if (tt__is_int(a) && tt__is_int(b) && !tt__is_int(t)) return TT_I64;
  if (t == TT_BOOL) return TT_I64;
  if (tt__is_int(t)) return tt__is_unsigned(t) ? TT_U64 : TT_I64;
  return t;
}

/* ---- signatures */

static tt_dtype suffix_dtype(const char *text, size_t n) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    if (strlen(tt__dtypes[t].suffix) == n && memcmp(tt__dtypes[t].suffix, text, n) == 0) return (tt_dtype)t;
  return TT_DTYPE_NONE;
}

static type *read_type(lower *l, const char **at, int depth) {
  const char *s = *at;
  if (depth > 8) py__fail(l, TT_ENOTIMPL, "tuples nested deeper than 8");
  if (*s == '(') {
    type *item[TT_PROGRAM_ARGS];
    int n = 0;
    char *meta = NULL;
    if (s[1] == '@') { /* (@meta;item,item) */
      size_t size = strcspn(s + 2, ";");
      meta = py__alloc(l, size + 1);
      memcpy(meta, s + 2, size);
      meta[size] = 0;
      s += size + 2;
    }
    for (s++; *s && *s != ')'; s += *s == ',') {
      if (n == TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "tuples of more than %d items", n);
      item[n++] = read_type(l, &s, depth + 1);
    }
    *at = s + (*s == ')');
    return py__named(l, item, n, meta);
  }
  if (*s && strchr("LTDESUJ", *s)) {
    char kind = (char)(*s - 'A' + 'a');
    *at = s + 1;
    type *item = read_type(l, at, depth + 1);
    bool object = item->tag == TT_T_TUPLE && item->meta && item->meta[0] == 'J' && strchr(item->meta, '#');
    if (kind == 'j' && !object) py__fail(l, TT_EVALUE, "a malformed signature");
    return py__list_type(l, item, kind);
  }
  if (*s == 'W') {
    *at = s + 1;
    return py__text_type(l);
  }
  if (*s == 'Y') {
    *at = s + 1;
    return py__bytes_type(l);
  }
  if (*s == 'N') {
    *at = s + 1;
    return py__none(l);
  }
  bool array = *s == 'A';
  if (array) s++;
  size_t n = strcspn(s, ",()|:");
  tt_dtype t = suffix_dtype(s, n);
  if (t == TT_DTYPE_NONE) py__fail(l, TT_ETYPE, "unknown type '%.*s' of an argument", (int)n, s);
  s += n;
  if (!array) {
    *at = s;
    return py__scalar(l, t);
  }
  /* Asuffix:rankLayout[R] */
  int rank = *s == ':' && s[1] >= '0' && s[1] <= '9' ? s[1] - '0' : -1;
  char layout = rank >= 0 ? s[2] : 0;
  if (rank < 0 || rank > TT_PROGRAM_RANK || (layout != 'C' && layout != 'A' && layout != 'P'))
    py__fail(l, TT_ENOTIMPL, "arrays of more than %d axes", TT_PROGRAM_RANK);
  bool readonly = s[3] == 'R';
  *at = s + 3 + readonly;
  return checked(l, tt__ptype_array(l->p, t, rank, layout, readonly));
}

type *py__type_meant(lower *l, const expr *e) {
  const char *name = e->name;
  if (py__is_meta(e, "kind")) return read_type(l, &name, 0);
  if (!py__is_meta(e, "dtype")) return NULL;
  return py__scalar(l, tt__dtype_named(name));
}

int py__signature(lower *l, const char *text, type **arg, int room, const char **rest) {
  int n = 0;
  while (*text && *text != '|') {
    if (n == room) py__fail(l, TT_ENOTIMPL, "more than %d arguments", room);
    const char *before = text;
    arg[n++] = read_type(l, &text, 0);
    if (*text == ',') text++;
    if (text == before) py__fail(l, TT_EVALUE, "a malformed signature");
  }
  *rest = *text == '|' ? text + 1 : text;
  return n;
}
