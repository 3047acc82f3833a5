/* Reading and writing the pieces of JSON. Knows no file. */
#include "io/json.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

tt_code tt__json_fail(const tt_json *j, const char *expected) {
  return tt__fail(j->err, TT_EVALUE, "the header is no JSON of tensors: %s expected at byte %lld", expected,
                  (long long)(j->at - j->begin));
}

static void skip_blanks(tt_json *j) {
  while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\r' || *j->at == '\t')) j->at++;
}

bool tt__json_take(tt_json *j, char c) {
  skip_blanks(j);
  if (j->at == j->end || *j->at != c) return false;
  j->at++;
  return true;
}

tt_code tt__json_need(tt_json *j, char c) {
  char what[] = {'\'', c, '\'', 0};
  return tt__json_take(j, c) ? TT_OK : tt__json_fail(j, what);
}

tt_code tt__json_end(tt_json *j) {
  skip_blanks(j);
  return j->at == j->end ? TT_OK : tt__json_fail(j, "the end of the header");
}

tt_code tt__json_more(tt_json *j, char close, bool first, bool *more) {
  *more = false;
  if (tt__json_take(j, close)) return TT_OK;
  if (!first) TT_TRY(tt__json_need(j, ','));
  *more = true;
  return TT_OK;
}

tt_code tt__json_count(tt_json *j, int64_t *out) {
  skip_blanks(j);
  const char *start = j->at;
  int64_t n = 0;
  while (j->at < j->end && *j->at >= '0' && *j->at <= '9') {
    if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *j->at - '0', &n))
      return tt__json_fail(j, "a number of 64 bits");
    j->at++;
  }
  bool padded = j->at - start > 1 && *start == '0';
  bool goes_on = j->at < j->end && (*j->at == '.' || *j->at == 'e' || *j->at == 'E');
  if (j->at == start || padded || goes_on) return tt__json_fail(j, "a whole number that is not negative");
  *out = n;
  return TT_OK;
}

/* How many bytes the character of UTF-8 at p has; 0: it is none (too short, too long a form, a surrogate, no code). */
static int utf8_length(const unsigned char *p, const unsigned char *end) {
  if (p[0] < 0x80) return 1;
  int n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
  if (p[0] < 0xc2 || p[0] > 0xf4 || end - p < n) return 0;
  for (int k = 1; k < n; k++)
    if ((p[k] & 0xc0) != 0x80) return 0;
  if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
  if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
  return n;
}

static char *put_utf8(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char head[] = {0, 0xc0, 0xe0, 0xf0};
  *to++ = (char)(head[more] | (c >> (6 * more)));
  while (more--) *to++ = (char)(0x80 | ((c >> (6 * more)) & 0x3f));
  return to;
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(tt_json *j) {
  int32_t v = 0;
  if (j->end - j->at < 4) return -1;
  for (int k = 0; k < 4; k++) {
    char c = j->at[k];
    int d = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : -1;
    if (d < 0) return -1;
    v = v * 16 + d;
  }
  j->at += 4;
  return v;
}

/* What stands behind a backslash. */
static tt_code read_escape(tt_json *j, char **to) {
  static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
  char c = j->at < j->end ? *j->at++ : 0;
  const char *found = c ? strchr(from, c) : NULL;
  if (found) {
    *(*to)++ = means[found - from];
    return TT_OK;
  }
  int32_t v = c == 'u' ? hex4(j) : -1;
  if (v >= 0xd800 && v < 0xdc00) { /* half of a pair */
    bool pair = j->end - j->at >= 2 && j->at[0] == '\\' && j->at[1] == 'u';
    if (pair) j->at += 2;
    int32_t low = pair ? hex4(j) : -1;
    v = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00) : -1;
  }
  if (v <= 0 || (v >= 0xdc00 && v < 0xe000)) return tt__json_fail(j, "a character");
  *to = put_utf8(*to, (uint32_t)v);
  return TT_OK;
}

tt_code tt__json_string(tt_json *j, const char **out) {
  if (!tt__json_take(j, '"')) return tt__json_fail(j, "a string");
  const char *close = j->at; /* what it becomes is no longer than what is written */
  while (close < j->end && *close != '"') close += *close == '\\' && close + 1 < j->end ? 2 : 1;
  if (close == j->end) return tt__json_fail(j, "the end of a string");
  size_t room = (size_t)(close - j->at) + 1;
  char *text = tt__arena_alloc(j->arena, room), *to = text;
  if (!text) return tt__fail_memory(j->err, room);
  while (*j->at != '"') {
    const unsigned char *p = (const unsigned char *)j->at;
    if (*p == '\\') {
      j->at++;
      TT_TRY(read_escape(j, &to));
      continue;
    }
    int n = utf8_length(p, (const unsigned char *)j->end);
    if (n == 0 || *p < 0x20) return tt__json_fail(j, "text in UTF-8");
    memcpy(to, p, (size_t)n);
    to += n;
    j->at += n;
  }
  j->at++;
  assert((size_t)(to - text) < room);
  *out = text;
  return TT_OK;
}

bool tt__json_write(tt_str *out, const char *text) {
  const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
  tt__str_add_n(out, "\"", 1);
  while (p < end) {
    int n = utf8_length(p, end);
    if (n == 0) return false;
    if (*p == '"' || *p == '\\')
      tt__str_addf(out, "\\%c", *p);
    else if (*p < 0x20)
      tt__str_addf(out, "\\u%04x", *p);
    else
      tt__str_add_n(out, (const char *)p, (size_t)n);
    p += n;
  }
  tt__str_add_n(out, "\"", 1);
  return true;
}
