/* Growable text over the one allocator. Knows nothing of what the text means. */
#include "base/str.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Room for n more bytes and the NUL. On failure the string stays as it was, marked. */
static bool reserve(tt_str *s, size_t n) {
  if (s->failed) return false;
  size_t need;
  if (__builtin_add_overflow(s->len, n, &need) || need >= SIZE_MAX / 2) return !(s->failed = true);
  need++;
  if (need <= s->cap) return true;
  size_t cap = s->cap + s->cap / 2;
  if (cap < need) cap = need;
  if (cap < 64) cap = 64;
  char *data = tt__mem_realloc(s->data, s->cap, cap);
  if (!data) return !(s->failed = true);
  s->data = data;
  s->cap = cap;
  return true;
}

void tt__str_add_n(tt_str *s, const char *text, size_t n) {
  assert(s->failed || s->len <= s->cap);
  if (!reserve(s, n)) return;
  if (n) memcpy(s->data + s->len, text, n);
  s->len += n;
  s->data[s->len] = 0;
}

void tt__str_add(tt_str *s, const char *text) { tt__str_add_n(s, text, strlen(text)); }

void tt__str_addf(tt_str *s, const char *fmt, ...) {
  char small[256];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(small, sizeof small, fmt, args);
  va_end(args);
  if (n < 0) {
    s->failed = true;
  } else if ((size_t)n < sizeof small) {
    tt__str_add_n(s, small, (size_t)n);
  } else if (reserve(s, (size_t)n)) {
    va_start(args, fmt);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, args);
    va_end(args);
    s->len += (size_t)n;
  }
}

void tt__str_clear(tt_str *s) {
  s->len = 0;
  s->failed = false;
  if (s->data) s->data[0] = 0;
}

void tt__str_free(tt_str *s) {
  tt__mem_free(s->data, s->cap);
  *s = (tt_str){0};
}
