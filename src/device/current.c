/* A short list per thread: few threads use streams of their own on more than one device. */
#include "device/current.h"

#include <assert.h>

enum { MOST = 16 }; /* a thread that chose on more devices than these evaluates on the others' own streams */

typedef struct choice {
  const tt_device *device;
  tt_stream *stream;
} choice;

static __thread choice chosen[MOST];
static __thread int n_chosen;

static choice *find(const tt_device *d) {
  for (int k = 0; k < n_chosen; k++) {
    if (chosen[k].device == d) return &chosen[k];
  }
  return NULL;
}

tt_stream *tt__stream_current(const tt_device *d) {
  const choice *c = find(d);
  return c ? c->stream : d->work;
}

tt_stream *tt__stream_use(const tt_device *d, tt_stream *s) {
  assert(n_chosen <= MOST);
  choice *c = find(d);
  tt_stream *before = c ? c->stream : d->work;
  if (!s || s == d->work) {
    if (c) *c = chosen[--n_chosen];
  } else if (c) {
    c->stream = s;
  } else if (n_chosen < MOST) {
    chosen[n_chosen++] = (choice){d, s};
  }
  return before;
}
