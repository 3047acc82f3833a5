/*
** Strings: lists of characters, as code points, that nobody changes. What is written out is a constant of its own in
** the code; what an operation makes is memory of the call.
*/
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "lang/python/py_int.h"

type *py__text_type(lower *l) { return py__list_type(l, py__scalar(l, TT_U32), 'w'); }
type *py__bytes_type(lower *l) { return py__list_type(l, py__scalar(l, TT_I64), 'y'); }
bool py__is_bytes(const expr *e) { return e->type->tag == TT_T_LIST && e->type->layout == 'y'; }
bool py__is_text(const expr *e) { return e->type->tag == TT_T_LIST && e->type->layout == 'w'; }
static bool is_word(const expr *e) { return e->op == TT_X_STRING && e->type->tag == TT_T_META; }

/* The next character of UTF-8, which Python wrote. */
static uint32_t decode(const unsigned char **at) {
  const unsigned char *s = *at;
  int more = *s < 0x80 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
  uint32_t c = more ? *s & (0x3fu >> more) : *s;
  for (s++; more && *s; more--, s++) c = c << 6 | (*s & 0x3f);
  *at = s;
  return c;
}

/* A string that is written out, as C's text of a static list. */
static expr *constant_of(lower *l, const char *word, type *t) {
  tt_str text = {0};
  long long n = 0;
  tt__str_add(&text, "({ static tt_i64 w[] = {");
  for (const unsigned char *s = (const unsigned char *)word; *s; n++)
    tt__str_addf(&text, "%s%u", n ? ", " : "", (unsigned)decode(&s));
  tt__str_addf(&text, "%s}; static tt_list s = {w, %lld, %lld}; &s; })", n ? "" : "0", n, n);
  char *kept = text.failed ? NULL : py__alloc(l, text.len + 1);
  if (kept) memcpy(kept, text.data, text.len + 1);
  tt__str_free(&text);
  if (!kept) py__fail(l, TT_ENOMEM, "out of memory");
  expr *e = py__expr(l, TT_X_STRING, t, 0);
  e->name = kept;
  return e;
}

static expr *constant(lower *l, const char *word) { return constant_of(l, word, py__text_type(l)); }

expr *py__text(lower *l, expr *e) { return is_word(e) && !l->options.kernel ? constant(l, e->name) : e; }

bool py__has_text(const expr *a, const expr *b) {
  return py__is_text(a) || is_word(a) || (b && (py__is_text(b) || is_word(b)));
}

static expr *make(lower *l, const char *helper, type *t, bool context, expr *const *arg, int n) {
  if (context) l->f->func->can_fail = true;
  return py__keep(l, py__helper(l, helper, t, context, arg, n));
}

/* What a helper makes of memory, which may not be there. */
static expr *made(lower *l, const char *helper, expr *const *arg, int n) {
  expr *e = make(l, helper, py__text_type(l), true, arg, n);
  py__raise_unless(l, make(l, "tt_text_there", py__scalar(l, TT_BOOL), false, &e, 1), TT_ENOMEM, "out of memory");
  return e;
}

expr *py__text_char(lower *l, expr *code) {
  code = py__cast(l, code, TT_I64);
  return made(l, "tt_text_char", &code, 1);
}

expr *py__text_binary(lower *l, const char *op, expr *a, expr *b) {
  a = py__text(l, a), b = py__text(l, b);
  if (strcmp(op, "+") == 0 && py__is_text(a) && py__is_text(b)) {
    expr *arg[2] = {a, b};
    return made(l, "tt_text_join", arg, 2);
  }
  expr *text = py__is_text(a) ? a : b, *times = text == a ? b : a;
  bool whole = py__is_scalar(times) && (tt__is_int((tt_dtype)times->type->dtype) || times->type->dtype == TT_BOOL);
  if (strcmp(op, "*") != 0 || !whole) return NULL;
  expr *arg[2] = {text, py__cast(l, times, TT_I64)};
  return made(l, "tt_text_repeat", arg, 2);
}

expr *py__text_compare(lower *l, tt_op op, expr *a, expr *b) {
  expr *arg[2] = {py__text(l, a), py__text(l, b)};
  bool both = py__is_text(arg[0]) && py__is_text(arg[1]);
  if (!both) return op == TT_EQ || op == TT_NE ? py__bool(l, op == TT_NE) : NULL;
  return py__elem(l, op, make(l, "tt_text_compare", py__scalar(l, TT_I64), false, arg, 2), py__int(l, 0));
}

static expr *find_from(lower *l, const char *helper, expr *text, expr *part, expr *from, expr *to) {
  expr *arg[4] = {text, part, from ? py__cast(l, from, TT_I64) : py__int(l, 0),
                  to ? py__cast(l, to, TT_I64) : py__int(l, INT64_MAX)};
  expr *e = make(l, helper, py__scalar(l, TT_I64), false, arg, 4);
  return e;
}

expr *py__text_contains(lower *l, expr *text, expr *part) {
  part = py__text(l, part);
  if (!py__is_text(part))
    py__fail(l, TT_ETYPE, "'in <string>' requires string as left operand, not %s", py__type_name(l, part->type));
  return py__elem(l, TT_GE, find_from(l, "tt_text_find", py__text(l, text), part, NULL, NULL), py__int(l, 0));
}

/* str(value) */
expr *py__text_of(lower *l, expr *e) {
  e = py__text(l, e);
  if (py__is_text(e) || py__is_unknown(e)) return e;
  if (e->type->tag == TT_T_NONE) return constant(l, "None");
  if (py__is_bytes(e)) return made(l, "tt_text_of_bytes", &e, 1);
  tt_dtype d = py__is_scalar(e) ? (tt_dtype)e->type->dtype : TT_DTYPE_NONE;
  if (d == TT_DTYPE_NONE || (tt__is_float(d) && d != TT_F64) || (tt__is_complex(d) && d != TT_C128))
    py__fail(l, TT_ENOTIMPL, "str() of %s in a compiled function", py__type_name(l, e->type));
  if (tt__is_complex(d)) {
    expr *part[2] = {py__apply(l, TT_REAL, py__keep(l, e), NULL), py__apply(l, TT_IMAG, e, NULL)};
    return made(l, "tt_text_of_c128", part, 2);
  }
  bool truth = d == TT_BOOL, plain = tt__is_unsigned(d) ? true : false;
  e = tt__is_float(d) ? e : py__cast(l, e, plain ? TT_U64 : TT_I64);
  return made(l,
              tt__is_float(d) ? "tt_text_of_f64"
              : truth         ? "tt_text_of_b8"
              : plain         ? "tt_text_of_u64"
                              : "tt_text_of_i64",
              &e, 1);
}

static expr *joined(lower *l, expr *a, const char *b) { return py__text_binary(l, "+", a, constant(l, b)); }

static expr *literal(lower *l, expr *e) {
  e = py__listed(l, py__materialise(l, e));
  if (py__is_unknown(e)) return e;
  if (py__is_text(e)) return made(l, "tt_text_quoted", &e, 1);
  e = py__without_axes(l, e);
  if (py__is_scalar(e) && tt__is_float((tt_dtype)e->type->dtype)) e = py__cast(l, e, TT_F64);
  if (e->type->tag != TT_T_TUPLE || e->type->meta) return py__text_of(l, e);
  expr *out = constant(l, "(");
  e = py__keep(l, e);
  for (int k = 0; k < e->type->n; k++)
    out = joined(l, py__text_binary(l, "+", out, literal(l, py__item(l, e, k))), ", ");
  return joined(l, out, ")");
}

expr *py__text_literal(lower *l, const tt_tree *t, int from) {
  expr *out = constant(l, "(");
  for (int k = from; k < t->n; k++) {
    expr *e = literal(l, py__value(l, t->item[k]));
    if (py__is_unknown(e)) return e;
    out = joined(l, py__text_binary(l, "+", out, e), ", ");
  }
  return joined(l, out, ")");
}

/* ord(), chr(), str() */
expr *py__text_call(lower *l, const char *name, expr *const *arg, int n, bool *known) {
  *known = true;
  if (strcmp(name, "str") == 0 && n <= 1) return n ? py__text_of(l, arg[0]) : constant(l, "");
  if (strcmp(name, "ord") == 0 && n == 1 && py__has_text(arg[0], NULL)) {
    expr *text = py__keep(l, py__text(l, arg[0])), *one = py__elem(l, TT_EQ, py__count_of(l, text), py__int(l, 1));
    py__raise_unless(l, one, TT_ETYPE, "ord() expected a character");
    return py__cast(l, py__list_item(l, text, py__int(l, 0)), TT_I64);
  }
  if (strcmp(name, "chr") == 0 && n == 1 && py__is_scalar(arg[0]) && tt__is_int((tt_dtype)arg[0]->type->dtype)) {
    expr *code = py__keep(l, py__cast(l, arg[0], TT_I64));
    expr *fits = py__elem(l, TT_LT, py__cast(l, code, TT_U64), py__cast(l, py__int(l, 0x110000), TT_U64));
    py__raise_unless(l, fits, TT_EVALUE, "chr() arg not in range(0x110000)");
    return py__text_char(l, code);
  }
  *known = false;
  return NULL;
}

/* ---- methods */

/* An argument that is None or missing: NULL. */
static expr *argument(lower *l, const tt_tree *t, int k) {
  if (t->n <= k + 3 || tt__tree_is(t->item[k + 3], "kw")) return NULL;
  expr *e = py__text(l, py__value(l, t->item[k + 3]));
  return e->type->tag == TT_T_NONE ? NULL : e;
}

/* What the field says of an argument that is no str, by the method. */
static const char *wants_text(const char *name, int k) {
  static const struct {
    const char *name, *says;
  } rows[] = {{"count", "The substring must be a UnicodeType"},
              {"find", "must be UnicodeType"},
              {"rfind", "must be UnicodeType"},
              {"replace", "The object must be a UnicodeType."},
              {"partition", "\"sep\" must be (UnicodeType, UnicodeCharSeq)"},
              {"rpartition", "\"sep\" must be (UnicodeType, UnicodeCharSeq)"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].says;
  return k == 1 && name[0] != 's' ? "The fillchar must be a UnicodeType" : "a str is needed";
}

static expr *text_argument(lower *l, const tt_tree *t, const char *name, int k, bool must) {
  expr *e = argument(l, t, k);
  if ((!e && must) || (e && !py__is_text(e) && !py__is_unknown(e)))
    py__fail(l, TT_ETYPE, "%s, not %s: %s()", wants_text(name, k), e ? py__type_name(l, e->type) : "none", name);
  return e;
}

/* `must`: what the field says of an argument of another type. */
static expr *whole_argument(lower *l, const tt_tree *t, const char *name, int k, const char *must) {
  expr *e = argument(l, t, k);
  bool whole = e && py__is_scalar(e) && (tt__is_int((tt_dtype)e->type->dtype) || e->type->dtype == TT_BOOL);
  if (e && !py__is_unknown(e) && !whole)
    py__fail(l, TT_ETYPE, "%s, not %s: %s() needs a whole number", must, py__type_name(l, e->type), name);
  return e;
}

static expr *number_argument(lower *l, const tt_tree *t, const char *name, int k) {
  static const char *const places[] = {"\"start\" must be (Integer, NoneType)", "\"end\" must be (Integer, NoneType)"};
  static const char *const edges[] = {"When specified, the arg 'start' must be an Integer or None",
                                      "When specified, the arg 'end' must be an Integer or None"};
  const char *says = "The slice indices must be an Integer or None";
  if (strstr(name, "find") || strstr(name, "index")) says = places[k == 2];
  if (strstr(name, "swith")) says = edges[k == 2];
  if (strstr(name, "split")) says = "\"maxsplit\" must be (Integer, <class 'int'>)";
  if (strcmp(name, "expandtabs") == 0) says = "\"tabsize\" must be (Integer, <class 'int'>)";
  return whole_argument(l, t, name, k, says);
}

/* find, rfind, count, index, rindex: with the part of the string that they look at. */
static expr *look(lower *l, expr *self, const char *name, const tt_tree *t) {
  expr *part = text_argument(l, t, name, 0, true), *from = number_argument(l, t, name, 1);
  expr *to = number_argument(l, t, name, 2);
  if (py__is_unknown(part)) return py__missing(l);
  bool index = strstr(name, "index") != NULL, back = name[0] == 'r';
  const char *helper = strcmp(name, "count") == 0 ? "tt_text_count" : back ? "tt_text_rfind" : "tt_text_find";
  expr *at = find_from(l, helper, self, part, from, to);
  if (index) py__raise_unless(l, py__elem(l, TT_GE, at, py__int(l, 0)), TT_EVALUE, "substring not found");
  return at;
}

/* startswith, endswith: of one part or any of a tuple of them. */
static expr *ends(lower *l, expr *self, const char *name, const tt_tree *t) {
  expr *part = argument(l, t, 0), *from = number_argument(l, t, name, 1), *to = number_argument(l, t, name, 2);
  if (!part) py__fail(l, TT_ETYPE, "%s() needs a str", name);
  if (py__is_unknown(part)) return py__missing(l);
  bool many = part->type->tag == TT_T_TUPLE;
  part = many ? py__keep(l, part) : part;
  expr *any = py__bool(l, false);
  for (int k = 0; k < (many ? part->type->n : 1); k++) {
    expr *one = py__text(l, many ? py__item(l, part, k) : part);
    if (!py__is_text(one))
      py__fail(l, TT_ETYPE, "The arg 'prefix' should be a string or a tuple of strings: %s() of %s", name,
               py__type_name(l, one->type));
    expr *arg[5] = {self, one, from ? py__cast(l, from, TT_I64) : py__int(l, 0),
                    to ? py__cast(l, to, TT_I64) : py__int(l, INT64_MAX), py__bool(l, name[0] == 'e')};
    expr *same = make(l, "tt_text_edge", py__scalar(l, TT_BOOL), false, arg, 5);
    any = many ? py__elem(l, TT_OR, any, same) : same;
  }
  return any;
}

/* strip, lstrip, rstrip: of these characters or of white space. */
static expr *strip(lower *l, expr *self, const char *name, const tt_tree *t) {
  expr *set = argument(l, t, 0);
  if (set && py__is_unknown(set)) return set;
  if (set && !py__is_text(set))
    py__fail(l, TT_ETYPE, "The arg must be a UnicodeType or None: %s() of %s", name, py__type_name(l, set->type));
  expr *arg[3] = {
      self,
      set ? set
          : constant(l,
                     " \t\n\r\v\f\x1c\x1d\x1e\x1f\xc2\x85\xc2\xa0\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x81"
                     "\xe2\x80\x82\xe2\x80\x83\xe2\x80\x84\xe2\x80\x85\xe2\x80\x86\xe2\x80\x87\xe2\x80\x88"
                     "\xe2\x80\x89\xe2\x80\x8a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\x9f\xe3\x80\x80"),
      py__int(l, name[0] == 'l'   ? 1
                 : name[0] == 'r' ? 2
                                  : 3)};
  return made(l, "tt_text_strip", arg, 3);
}

static expr *pad(lower *l, expr *self, const char *name, const tt_tree *t) {
  expr *width = whole_argument(l, t, name, 0,
                               name[0] == 'z' ? "<width> must be an Integer" : "The width must be an Integer"),
       *with = text_argument(l, t, name, 1, false);
  if (!width) py__fail(l, TT_ETYPE, "%s() needs a width", name);
  if (py__is_unknown(width)) return py__missing(l);
  bool zeros = name[0] == 'z';
  with = with ? with : constant(l, zeros ? "0" : " ");
  expr *one = py__elem(l, TT_EQ, py__count_of(l, with), py__int(l, 1));
  py__raise_unless(l, one, TT_EVALUE, "The fill character must be exactly one character long");
  expr *arg[4] = {self, py__cast(l, width, TT_I64), with,
                  py__int(l, zeros            ? 3
                             : name[0] == 'l' ? 0
                             : name[0] == 'r' ? 1
                                              : 2)};
  return made(l, "tt_text_pad", arg, 4);
}

/* split(sep): pieces as a list; each is found from where the last one ended. */
static expr *split(lower *l, expr *self, const char *name, const tt_tree *t) {
  expr *sep = text_argument(l, t, name, 0, false), *most = number_argument(l, t, name, 1);
  const tt_tree *word = py__keyword(l, t, "sep"), *limit = py__keyword(l, t, "maxsplit");
  if (word && !sep) sep = py__text(l, py__value(l, word));
  if (sep && sep->type->tag == TT_T_NONE) sep = NULL;
  if (limit && !most) most = py__value(l, limit);
  if (sep) py__raise_unless(l, py__elem(l, TT_GT, py__count_of(l, sep), py__int(l, 0)), TT_EVALUE, "empty separator");
  expr *arg[3] = {self, sep ? sep : constant(l, ""), most ? py__cast(l, most, TT_I64) : py__int(l, -1)};
  expr *e = make(l, name[0] == 'r' ? "tt_text_rsplit" : "tt_text_split", py__list_type(l, py__text_type(l), 'l'), true,
                 arg, 3);
  py__raise_unless(l, make(l, "tt_text_there", py__scalar(l, TT_BOOL), false, &e, 1), TT_ENOMEM, "out of memory");
  return e;
}

static expr *part_of(lower *l, expr *text, expr *lo, expr *hi) {
  expr *arg[3] = {text, lo, hi};
  return made(l, "tt_text_part", arg, 3);
}

/* partition, rpartition: what stands before, the separator, what stands behind. */
static expr *partition(lower *l, expr *self, const char *name, const tt_tree *t) {
  expr *sep = text_argument(l, t, name, 0, true), *zero = py__int(l, 0);
  if (py__is_unknown(sep)) return py__missing(l);
  expr *n = py__count_of(l, self), *own = py__count_of(l, sep);
  bool back = name[0] == 'r';
  py__raise_unless(l, py__elem(l, TT_GT, own, zero), TT_EVALUE, "empty separator");
  expr *at = py__keep(l, find_from(l, back ? "tt_text_rfind" : "tt_text_find", self, sep, NULL, NULL));
  expr *there = py__keep(l, py__elem(l, TT_GE, at, zero)), *behind = py__keep(l, py__elem(l, TT_ADD, at, own));
  expr *part[3] = {part_of(l, self, zero, py__keep(l, py__choose(l, there, at, back ? zero : n))),
                   part_of(l, sep, zero, py__keep(l, py__choose(l, there, own, zero))),
                   part_of(l, self, py__keep(l, py__choose(l, there, behind, back ? zero : n)), n)};
  type *item[3] = {part[0]->type, part[0]->type, part[0]->type};
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, 3), 3);
  memcpy(e->arg, part, sizeof part);
  return e;
}

static expr *splitlines(lower *l, expr *self, const char *name, const tt_tree *t) {
  const tt_tree *word = py__keyword(l, t, "keepends");
  expr *keep = word ? py__value(l, word) : t->n > 3 ? py__text(l, py__value(l, t->item[3])) : NULL;
  if (keep && py__is_unknown(keep)) return keep;
  if (keep && !py__is_scalar(keep))
    py__fail(l, TT_ETYPE, "\"keepends\" must be (Integer, <class 'int'>, Boolean, <class 'bool'>), not %s: %s()",
             keep->type == py__text_type(l) ? "unicode_type" : py__type_name(l, keep->type), name);
  expr *arg[2] = {self, keep ? py__truth(l, keep) : py__bool(l, false)};
  expr *e = make(l, "tt_text_lines", py__list_type(l, py__text_type(l), 'l'), true, arg, 2);
  py__raise_unless(l, make(l, "tt_text_there", py__scalar(l, TT_BOOL), false, &e, 1), TT_ENOMEM, "out of memory");
  return e;
}

static expr *expandtabs(lower *l, expr *self, const char *name, const tt_tree *t) {
  const tt_tree *word = py__keyword(l, t, "tabsize");
  expr *size = word ? py__value(l, word) : number_argument(l, t, name, 0);
  if (size && py__is_unknown(size)) return size;
  expr *arg[2] = {self, size ? py__cast(l, size, TT_I64) : py__int(l, 8)};
  return made(l, "tt_text_expand", arg, 2);
}

static expr *join(lower *l, expr *self, const tt_tree *t) {
  expr *parts = argument(l, t, 0);
  parts = parts ? py__keep(l, py__sequence(l, py__listed(l, parts))) : py__nothing(l);
  if (py__is_unknown(parts)) return parts;
  if (py__is_text(parts)) {
    expr *arg[2] = {self, parts};
    return made(l, "tt_text_spread", arg, 2);
  }
  bool texts = parts->type->tag == TT_T_LIST && parts->type->item[0]->tag == TT_T_LIST;
  if (!texts && parts->type->tag == TT_T_TUPLE) {
    expr *all = NULL;
    for (int k = 0; k < parts->type->n; k++) {
      expr *one = py__item(l, parts, k);
      all = all ? py__text_binary(l, "+", py__text_binary(l, "+", all, self), one) : one;
    }
    return all ? all : constant(l, "");
  }
  if (!texts || parts->type->item[0]->layout != 'w')
    py__fail(l, TT_ETYPE, "join() of %s: it takes a list of str", py__type_name(l, parts->type));
  expr *arg[2] = {self, parts};
  return made(l, "tt_text_join_list", arg, 2);
}

static expr *replace(lower *l, expr *self, const char *name, const tt_tree *t) {
  expr *old = text_argument(l, t, name, 0, true), *by = text_argument(l, t, name, 1, true);
  expr *most = whole_argument(l, t, name, 2, "Unsupported parameters. The parameters must be Integer.");
  if (py__is_unknown(old) || py__is_unknown(by)) return py__missing(l);
  expr *arg[4] = {self, old, by, most ? py__cast(l, most, TT_I64) : py__int(l, -1)};
  return made(l, "tt_text_replace", arg, 4);
}

/* lower, upper ...: the number that the text knows each by (TT_LOWER ...). */
static expr *in_case(lower *l, expr *self, const char *name) {
  static const char *const ways[] = {"lower", "upper", "title", "casefold", "capitalize", "swapcase"};
  for (int k = 0; k < 6; k++) {
    if (strcmp(ways[k], name) != 0) continue;
    expr *arg[2] = {self, py__int(l, k + 1)};
    return made(l, "tt_text_case", arg, 2);
  }
  return NULL;
}

/* isalpha, isupper ...: a test with the kinds of letters that it asks for. */
static expr *is_of(lower *l, expr *self, const char *name) {
  static const struct {
    const char *name, *helper;
    int kinds, never;
  } rows[] = {{"isalpha", "tt_text_all", 1, 0},          {"isdecimal", "tt_text_all", 2, 0},
              {"isdigit", "tt_text_all", 4, 0},          {"isnumeric", "tt_text_all", 8, 0},
              {"isalnum", "tt_text_all", 15, 0},         {"isspace", "tt_text_all", 16, 0},
              {"isprintable", "tt_text_all", 256, 1},    {"islower", "tt_text_cased", 32, 64 | 128},
              {"isupper", "tt_text_cased", 64, 32 | 128}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (strcmp(rows[k].name, name) != 0) continue;
    bool all = strcmp(rows[k].helper, "tt_text_all") == 0;
    expr *arg[3] = {self, py__int(l, rows[k].kinds), all ? py__bool(l, rows[k].never) : py__int(l, rows[k].never)};
    return make(l, rows[k].helper, py__scalar(l, TT_BOOL), true, arg, 3);
  }
  if (strcmp(name, "isascii") == 0) return make(l, "tt_text_ascii", py__scalar(l, TT_BOOL), false, &self, 1);
  bool title = strcmp(name, "istitle") == 0;
  if (!title && strcmp(name, "isidentifier") != 0) return NULL;
  return make(l, title ? "tt_text_titled" : "tt_text_name", py__scalar(l, TT_BOOL), true, &self, 1);
}

expr *py__text_method(lower *l, expr *self, const char *name, const tt_tree *t) {
  static const struct {
    const char *name;
    expr *(*make)(lower *l, expr *self, const char *name, const tt_tree *t);
  } rows[] = {{"find", look},
              {"rfind", look},
              {"count", look},
              {"index", look},
              {"rindex", look},
              {"startswith", ends},
              {"endswith", ends},
              {"strip", strip},
              {"lstrip", strip},
              {"rstrip", strip},
              {"ljust", pad},
              {"rjust", pad},
              {"center", pad},
              {"zfill", pad},
              {"split", split},
              {"replace", replace},
              {"rsplit", split},
              {"partition", partition},
              {"rpartition", partition},
              {"splitlines", splitlines},
              {"expandtabs", expandtabs}};
  self = py__keep(l, py__text(l, self));
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (strcmp(rows[k].name, name) == 0) return rows[k].make(l, self, name, t);
  if (strcmp(name, "join") == 0) return join(l, self, t);
  if (t->n == 3) {
    expr *e = in_case(l, self, name);
    if (!e) e = is_of(l, self, name);
    if (e) return e;
  }
  py__fail(l, TT_ENOTIMPL, "a str's method '%s' in a compiled function", name);
}
