/*
** Reading the text of a tree. Total: whatever the bytes, it ends with a tree or an error.
*/
#include "lang/python/tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

enum { DEEPEST = 200, LONGEST_ATOM = 512 };

typedef struct reader {
  const char *at, *end, *start;
  tt_arena *arena;
  tt_error *err;
  int depth;
} reader;

static tt_code bad(reader *r, const char *what) {
  return tt__fail(r->err, TT_EVALUE, "program text, byte %lld: %s", (long long)(r->at - r->start), what);
}

static void skip_space(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n')) r->at++;
}

static tt_tree *new_tree(reader *r, tt_tree_tag tag) {
  tt_tree *t = tt__arena_alloc(r->arena, sizeof *t);
  if (t) t->tag = (uint8_t)tag;
  return t;
}

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

/* "..." with \" \\ and \xHH. */
static tt_code read_string(reader *r, tt_tree **out) {
  const char *from = ++r->at;
  while (r->at < r->end && *r->at != '"') r->at += *r->at == '\\' ? 2 : 1;
  if (r->at >= r->end) return r->at = r->end, bad(r, "a string does not end");
  size_t room = (size_t)(r->at - from);
  tt_tree *t = new_tree(r, TT_TREE_STRING);
  char *text = tt__arena_alloc(r->arena, room + 1), *to = text;
  if (!t || !text) return tt__fail_memory(r->err, room);
  for (const char *p = from; p < r->at; p++) {
    if (*p != '\\') {
      *to++ = *p;
    } else if (*++p == 'x') {
      int hi = p + 2 < r->at ? hex_digit(p[1]) : -1, lo = p + 2 < r->at ? hex_digit(p[2]) : -1;
      if (hi < 0 || lo < 0) return bad(r, "a string has a broken escape");
      *to++ = (char)(hi * 16 + lo);
      p += 2;
    } else {
      *to++ = *p;
    }
  }
  r->at++;
  t->text = text;
  t->n = (int32_t)(to - text);
  *out = t;
  return TT_OK;
}

static tt_code read_number(reader *r, const char *text, tt_tree *t) {
  char *end;
  errno = 0;
  if (strpbrk(text, ".xpn")) { /* hexadecimal floats, inf, nan */
    t->tag = TT_TREE_FLOAT;
    t->f = strtod(text, &end);
  } else {
    t->tag = TT_TREE_INT;
    t->i = strtoll(text, &end, 10);
    if (errno == ERANGE && text[0] != '-') {
      errno = 0;
      t->i = (int64_t)strtoull(text, &end, 10);
      t->big = true;
    }
    if (errno == ERANGE) return bad(r, "a whole number is beyond 64 bits");
  }
  return *end ? bad(r, "a number is malformed") : TT_OK;
}

static tt_code read_atom(reader *r, tt_tree **out) {
  const char *from = r->at;
  while (r->at < r->end && !strchr(" \n()\"", *r->at)) r->at++;
  size_t n = (size_t)(r->at - from);
  if (n == 0 || n > LONGEST_ATOM) return bad(r, "an atom is empty or too long");
  tt_tree *t = new_tree(r, TT_TREE_WORD);
  char *text = tt__arena_alloc(r->arena, n + 1);
  if (!t || !text) return tt__fail_memory(r->err, n);
  memcpy(text, from, n);
  t->text = text;
  t->n = (int32_t)n;
  *out = t;
  bool number = (text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && n > 1);
  return number ? read_number(r, text, t) : TT_OK;
}

static tt_code read_tree(reader *r, tt_tree **out);

static tt_code read_list(reader *r, tt_tree **out) {
  TT_VEC(tt_tree *) items = {0};
  tt_code c = TT_OK;
  r->at++;
  if (++r->depth > DEEPEST) return bad(r, "the program is nested too deeply");
  for (skip_space(r); c == TT_OK && r->at < r->end && *r->at != ')'; skip_space(r)) {
    tt_tree *one;
    c = read_tree(r, &one);
    if (c == TT_OK && !TT_VEC_PUSH(&items, one)) c = tt__fail_memory(r->err, sizeof one);
  }
  if (c == TT_OK && r->at >= r->end) c = bad(r, "a list does not end");
  r->at++;
  r->depth--;
  tt_tree *t = c == TT_OK ? new_tree(r, TT_TREE_LIST) : NULL;
  if (t) {
    t->n = (int32_t)items.n;
    t->item = tt__arena_dup(r->arena, items.data, (size_t)items.n * sizeof *items.data);
  }
  if (c == TT_OK && (!t || !t->item)) c = tt__fail_memory(r->err, sizeof *t);
  TT_VEC_FREE(&items);
  *out = t;
  return c;
}

static tt_code read_tree(reader *r, tt_tree **out) {
  skip_space(r);
  if (r->at >= r->end) return bad(r, "it ends too early");
  if (*r->at == '(') return read_list(r, out);
  if (*r->at == '"') return read_string(r, out);
  return read_atom(r, out);
}

tt_code tt__tree_parse(const char *text, size_t size, tt_arena *arena, tt_tree **out, tt_error *err) {
  assert(arena && out);
  reader r = {.at = text, .start = text, .end = text + size, .arena = arena, .err = err};
  *out = NULL;
  TT_TRY(read_tree(&r, out));
  skip_space(&r);
  return r.at == r.end ? TT_OK : bad(&r, "something follows its end");
}

bool tt__tree_is(const tt_tree *t, const char *word) {
  return t->tag == TT_TREE_LIST && t->n > 0 && t->item[0]->tag == TT_TREE_WORD && strcmp(t->item[0]->text, word) == 0;
}
