/* The launch log; see launch_log.h. */
#include "device/launch_log.h"

#include <assert.h>
#include <stdio.h>

enum { TOLD = 4 }; /* launches of a stream that are named */

TT_LOCK(list_lock, 0); /* guards the list; taken before a log's own */
static tt_launch_log *logs;
static _Thread_local const tt_origin *origin;

const tt_origin *tt__origin_use(const tt_origin *o) {
  const tt_origin *before = origin;
  origin = o;
  return before;
}

const tt_origin *tt__origin_now(void) { return origin; }

void tt__launch_log_open(tt_device *d, tt_launch_log *t) {
  *t = (tt_launch_log){.lock = TT_LOCK_INIT, .device = d};
  tt__lock(&list_lock);
  t->next = logs;
  logs = t;
  tt__unlock(&list_lock);
}

void tt__launch_log_close(tt_launch_log *t) {
  tt__lock(&list_lock);
  tt_launch_log **at = &logs;
  while (*at != t) at = &(*at)->next;
  *at = t->next;
  tt__unlock(&list_lock);
}

uint64_t tt__launch_log_note(tt_launch_log *t, const char *kernel) {
  tt__lock(&t->lock);
  tt_origin *o = &t->last[t->launched++ % TT_LAUNCH_LOG_MOST];
  uint64_t n = t->launched;
  if (origin)
    *o = *origin;
  else
    o->what[0] = o->where[0] = 0;
  if (!o->what[0]) snprintf(o->what, sizeof o->what, "%s", kernel ? kernel : "a kernel");
  tt__unlock(&t->lock);
  return n;
}

uint64_t tt__launch_log_mark(tt_launch_log *t) {
  tt__lock(&t->lock);
  uint64_t n = t->launched;
  tt__unlock(&t->lock);
  return n;
}

void tt__launch_log_done(tt_launch_log *t, uint64_t mark) {
  assert(mark <= t->launched);
  tt__lock(&t->lock);
  if (mark > t->done) t->done = mark;
  tt__unlock(&t->lock);
}

static size_t add(char *out, size_t size, size_t at, const char *text) {
  int n = at < size ? snprintf(out + at, size - at, "%s", text) : 0;
  return n > 0 ? at + (size_t)n : at;
}

static size_t add_entries(tt_launch_log *t, char *out, size_t size, size_t at) {
  char more[200];
  tt__lock(&t->lock);
  uint64_t n = t->launched - t->done, first = n > TT_LAUNCH_LOG_MOST ? t->launched - TT_LAUNCH_LOG_MOST : t->done;
  for (uint64_t i = first; i < t->launched && i < first + TOLD; i++) {
    const tt_origin *o = &t->last[i % TT_LAUNCH_LOG_MOST];
    snprintf(more, sizeof more, "%s'%s'%s%s", at ? ", " : "; not known to be done: ", o->what,
             o->where[0] ? " at " : "", o->where);
    at = add(out, size, at, more);
  }
  if (n > TOLD) {
    snprintf(more, sizeof more, " (and %llu %s)", (unsigned long long)(n - TOLD),
             n > TT_LAUNCH_LOG_MOST ? "others, of which the first are not known any more" : "more");
    at = add(out, size, at, more);
  }
  tt__unlock(&t->lock);
  return at;
}

void tt__launch_log_suspects(const tt_device *d, char *out, size_t size) {
  size_t at = 0;
  out[0] = 0;
  tt__lock(&list_lock);
  for (tt_launch_log *t = logs; t; t = t->next)
    if (t->device == d) at = add_entries(t, out, size, at);
  tt__unlock(&list_lock);
}
