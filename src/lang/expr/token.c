/*
** C text cut into words, with directives and macros without parameters. Numbers, and messages that show the line.
*/
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/expr/expr_int.h"

enum { MOST_WORDS = 1 << 16, MOST_MACROS_DEEP = 32, SHOWN = 200 };

/* ---- failing */

_Noreturn static void leave(cx_reader *r, tt_code code) {
  r->code = code;
  longjmp(r->out, 1);
}

_Noreturn void cx__no_memory(cx_reader *r) {
  tt__fail_memory(r->err, 0);
  leave(r, TT_ENOMEM);
}

/* Line of a word, and where it begins and ends. */
static int line_of(const cx_reader *r, const cx_word *w, const char **begin, const char **end) {
  const char *text = w->of_preamble ? r->s->preamble : r->s->text, *at = text + w->place;
  int line = 1;
  for (const char *p = text; p < at; p++)
    if (*p == '\n') line = strncmp(p + 1, "#line 1\n", 8) == 0 ? 0 : line + 1;
  *begin = at;
  while (*begin > text && (*begin)[-1] != '\n') (*begin)--;
  *end = at + strcspn(at, "\n");
  return line;
}

/* A text that is wrong is shown as compilers do; of one that is for a compiler a line says where and why. */
static void say_at(cx_reader *r, tt_code code, int64_t at, const char *fmt, va_list args) {
  const cx_word *w = cx__word(r, at);
  const char *begin, *end;
  char what[400];
  vsnprintf(what, sizeof what, fmt, args);
  int line = line_of(r, w, &begin, &end);
  int column = (int)((w->of_preamble ? r->s->preamble : r->s->text) + w->place - begin);
  int shown = end - begin < SHOWN ? (int)(end - begin) : SHOWN;
  if (code == TT_ENOTIMPL)
    tt__fail(r->err, code, "%sline %d: %s", w->of_preamble ? "preamble, " : "", line, what);
  else
    tt__fail(r->err, code, "%s%s:%d:%d: error: %s\n%5d | %.*s\n      | %*s^", r->s->file,
             w->of_preamble ? " (preamble)" : "", line, column + 1, what, line, shown, begin,
             column < SHOWN ? column : SHOWN, "");
}

_Noreturn void cx__wrong(cx_reader *r, int64_t at, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say_at(r, TT_EVALUE, at, fmt, args);
  va_end(args);
  leave(r, TT_EVALUE);
}

_Noreturn void cx__beyond(cx_reader *r, int64_t at, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say_at(r, TT_ENOTIMPL, at, fmt, args);
  va_end(args);
  leave(r, TT_ENOTIMPL);
}

/* ---- cutting */

static bool is_start(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_part(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool cx__same(const char *a, uint32_t len, const char *b, uint32_t blen) {
  return len == blen && memcmp(a, b, len) == 0;
}

static void add_word(cx_reader *r, cx_word w) {
  if (r->word.n >= MOST_WORDS) {
    r->word.data[r->word.n - 1] = w;
    cx__beyond(r, r->word.n - 1, "the text is long");
  }
  if (!TT_VEC_PUSH(&r->word, w)) cx__no_memory(r);
}

static uint32_t number_length(const char *at) {
  uint32_t n = 1;
  bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  for (; is_part(at[n]) || at[n] == '.' || (at[n] == '\'' && is_part(at[n + 1])) ||
         ((at[n] == '+' || at[n] == '-') && strchr(hex ? "pP" : "eE", at[n - 1]));
       n++)
    continue;
  return n;
}

static uint32_t operator_length(const char *at) {
  static const char *const longer[] = {"<<=", ">>=", "...", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=",
                                       "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "++", "--", "->", "::"};
  for (size_t k = 0; k < sizeof longer / sizeof *longer; k++)
    if (strncmp(at, longer[k], strlen(longer[k])) == 0) return (uint32_t)strlen(longer[k]);
  return 1;
}

static cx_macro *macro_named(cx_reader *r, const char *name, uint32_t len) {
  for (int64_t k = r->macro.n; k-- > 0;)
    if (cx__same(r->macro.data[k].name, r->macro.data[k].name_len, name, len)) return &r->macro.data[k];
  return NULL;
}

/* Words of [at, end); `origin`: the word whose place they all have, or NULL. */
static void cut(cx_reader *r, const char *at, const char *end, const char *text, bool of_preamble,
                const cx_word *origin, int deep);

static void add_identifier(cx_reader *r, cx_word w, int deep) {
  cx_macro *m = macro_named(r, w.at, w.len);
  if (!m || m->open) {
    add_word(r, w);
    return;
  }
  if (m->has_params || deep >= MOST_MACROS_DEEP) {
    add_word(r, w);
    cx__beyond(r, r->word.n - 1, "'%.*s' is a macro with parameters", (int)w.len, w.at);
  }
  int64_t index = m - r->macro.data;
  m->open = true;
  cut(r, m->body, m->body + m->body_len, NULL, w.of_preamble, &w, deep + 1);
  r->macro.data[index].open = false;
}

static const char *skip_space(const char *at, const char *end) {
  while (at < end) {
    if (isspace((unsigned char)*at)) {
      at++;
    } else if (*at == '\\' && at + 1 < end && at[1] == '\n') {
      at += 2;
    } else if (*at == '/' && at + 1 < end && at[1] == '/') {
      while (at < end && *at != '\n') at++;
    } else if (*at == '/' && at + 1 < end && at[1] == '*') {
      const char *close = strstr(at + 2, "*/");
      at = close && close + 2 <= end ? close + 2 : end;
    } else {
      break;
    }
  }
  return at;
}

static void define(cx_reader *r, const char *at, const char *end, cx_word w) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  cx_macro m = {.name = at};
  while (at < end && is_part(*at)) at++;
  m.name_len = (uint32_t)(at - m.name);
  m.has_params = at < end && *at == '(';
  m.body = at;
  m.body_len = (uint32_t)(end - at);
  if (m.name_len == 0) {
    add_word(r, w);
    cx__wrong(r, r->word.n - 1, "no macro name given in #define directive");
  }
  if (!TT_VEC_PUSH(&r->macro, m)) cx__no_memory(r);
}

/* Headers whose words are known here anyway. */
static bool is_known_header(const char *at, const char *end) {
  static const char *const known[] = {"cupy/complex.cuh", "cupy/math_constants.h", "math.h",   "cmath",  "cuda_fp16.h",
                                      "cuda_bf16.h",      "cupy/carray.cuh",       "stdint.h", "cstdint"};
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  for (size_t k = 0; at < end && k < sizeof known / sizeof *known; k++)
    if (strncmp(at + 1, known[k], strlen(known[k])) == 0 && strchr(">\"", at[1 + strlen(known[k])])) return true;
  return false;
}

/* A directive at `#`: gives its end. */
static const char *directive(cx_reader *r, const char *at, const char *end, cx_word w) {
  const char *stop = at;
  while (stop < end && *stop != '\n') stop += *stop == '\\' && stop + 1 < end && stop[1] == '\n' ? 2 : 1;
  const char *word = at + 1;
  while (word < stop && (*word == ' ' || *word == '\t')) word++;
  if (strncmp(word, "define", 6) == 0 && word + 6 < stop && !is_part(word[6])) {
    define(r, word + 6, stop, w);
  } else if (!(strncmp(word, "include", 7) == 0 && is_known_header(word + 7, stop)) && word < stop &&
             strncmp(word, "line 1\n", 7) != 0) {
    add_word(r, w);
    cx__beyond(r, r->word.n - 1, "a directive of the preprocessor");
  }
  return stop;
}

static void cut(cx_reader *r, const char *at, const char *end, const char *text, bool of_preamble,
                const cx_word *origin, int deep) {
  for (at = skip_space(at, end); at < end; at = skip_space(at, end)) {
    cx_word w = {.at = at, .len = 1, .kind = 'o', .of_preamble = of_preamble};
    w.place = origin ? origin->place : (uint32_t)(at - text);
    if (*at == '#' && !origin) {
      w.len = 1;
      at = directive(r, at, end, w);
      continue;
    }
    if (is_start(*at)) {
      while (is_part(at[w.len])) w.len++;
      w.kind = 'i';
    } else if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
      w.len = number_length(at);
      w.kind = 'n';
    } else {
      w.len = operator_length(at);
      while (((unsigned char)at[w.len] & 0xc0) == 0x80) w.len++; /* messages show whole characters */
    }
    if (w.len > (uint32_t)(end - at)) w.len = (uint32_t)(end - at);
    at += w.len;
    if (w.kind == 'i')
      add_identifier(r, w, deep);
    else
      add_word(r, w);
  }
}

void cx__cut(cx_reader *r, const char *text, bool of_preamble) {
  size_t size = strlen(text);
  cut(r, text, text + size, text, of_preamble, NULL, 0);
  cx_word end = {.at = text + size, .place = (uint32_t)size, .of_preamble = of_preamble};
  while (end.place > 0 && isspace((unsigned char)text[end.place - 1])) end.place--; /* messages show what stands last */
  add_word(r, end);
}

bool cx__is(const cx_reader *r, int64_t w, const char *spelling) {
  const cx_word *x = cx__word(r, w);
  return x->kind && cx__same(x->at, x->len, spelling, (uint32_t)strlen(spelling));
}

bool cx__take(cx_reader *r, const char *spelling) {
  if (!cx__is(r, r->at, spelling)) return false;
  r->at++;
  return true;
}

void cx__expect(cx_reader *r, const char *spelling) {
  if (cx__take(r, spelling)) return;
  const cx_word *w = cx__word(r, r->at);
  if (!w->kind) cx__wrong(r, r->at, "expected '%s' at end of input", spelling);
  cx__wrong(r, r->at, "expected '%s' before '%.*s'", spelling, (int)w->len, w->at);
}

int64_t cx__close(const cx_reader *r, int64_t w) {
  int depth = 0;
  for (; cx__word(r, w)->kind; w++) {
    char c = cx__word(r, w)->len == 1 ? *cx__word(r, w)->at : 0;
    if (c && strchr("([{", c)) depth++;
    if (c && strchr(")]}", c) && --depth == 0) return w + 1;
  }
  return w;
}

/* ---- numbers */

static cx_value float_number(cx_reader *r, const char *text, size_t n) {
  bool single = text[n - 1] == 'f' || text[n - 1] == 'F';
  char *end;
  double d = strtod(text, &end);
  if (*end && !(end + 1 == text + n && strchr("fFlL", *end)))
    cx__wrong(r, r->at, "unable to find numeric literal operator 'operator\"\"%s'", end);
  /* A second rounding of the digits would be one too many. */
  return single ? cx__const_float(r, TT_F32, (double)strtof(text, NULL)) : cx__const_float(r, TT_F64, d);
}

static cx_value int_number(cx_reader *r, const char *text) {
  char *rest;
  bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
  uint64_t u = strtoull(binary ? text + 2 : text, &rest, binary ? 2 : 0);
  bool decimal = text[0] != '0', is_unsigned = false, is_long = false;
  for (; *rest; rest++) {
    if (*rest == 'u' || *rest == 'U')
      is_unsigned = true;
    else if (*rest == 'l' || *rest == 'L')
      is_long = true;
    else
      cx__wrong(r, r->at, "unable to find numeric literal operator 'operator\"\"%s'", rest);
  }
  uint8_t t = u > INT64_MAX || (is_unsigned && (is_long || u > UINT32_MAX))               ? TT_U64
              : is_unsigned || (!decimal && !is_long && u > INT32_MAX && u <= UINT32_MAX) ? TT_U32
              : is_long || u > INT32_MAX                                                  ? TT_I64
                                                                                          : TT_I32;
  return cx__const_int(r, t, (int64_t)u);
}

cx_value cx__number(cx_reader *r) {
  const cx_word *w = cx__word(r, r->at);
  char text[128];
  size_t n = 0;
  if (w->len >= sizeof text) cx__beyond(r, r->at, "a number of %u digits", w->len);
  for (uint32_t k = 0; k < w->len; k++)
    if (w->at[k] != '\'') text[n++] = w->at[k];
  text[n] = 0;
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  bool is_float = strchr(text, '.') || strpbrk(text, hex ? "pP" : "eE");
  cx_value v = is_float ? float_number(r, text, n) : int_number(r, text);
  r->at++;
  return v;
}
