/*
** Warnings that wait; see warn.h. A program without a binding never asks: the first few are kept, no more.
*/
#include "base/warn.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4 };

static __thread tt_warning waiting[MOST];
static __thread int count;

void tt__warn(tt_warning_kind kind, const char *fmt, ...) {
  assert(count >= 0 && count <= MOST);
  if (count == MOST) return;
  tt_warning *w = &waiting[count];
  va_list args;
  va_start(args, fmt);
  int written = vsnprintf(w->message, sizeof w->message, fmt, args);
  va_end(args);
  if (written < 0) return;
  w->kind = kind;
  for (int k = 0; k < count; k++)
    if (waiting[k].kind == kind && strcmp(waiting[k].message, w->message) == 0) return;
  count++;
}

void tt__warn_discarded(void) {
  tt__warn(TT_WARN_COMPLEX, "Casting complex values to real discards the imaginary part");
}

bool tt_warning_waits(void) { return count > 0; }

bool tt_warning_next(tt_warning *out) {
  if (count == 0) return false;
  *out = waiting[0];
  memmove(waiting, waiting + 1, sizeof *waiting * (size_t)--count);
  return true;
}
