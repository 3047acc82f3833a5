/* Users' streams; see streams.h. */
#include "device/streams.h"

#include <assert.h>

#include "base/lock.h"
#include "base/mem.h"

/* ---- the current one: a short list per thread, for few threads use streams of their own on more than one device */

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

/* ---- all that there are */

typedef struct user_stream user_stream;
struct user_stream {
  user_stream *next;
  tt_device *device;
  tt_stream *stream;
  void *handle; /* another library's; NULL: a stream of ours */
  int priority;
  int taken; /* how often; -1: another library's that was given back */
};

TT_LOCK(lock, 1);
static user_stream *streams;

/* One that is free, or the one of a handle. */
static user_stream *find_kept(const tt_device *d, void *handle, int priority) {
  for (user_stream *u = streams; u; u = u->next) {
    if (u->device != d || u->handle != handle || u->taken < 0) continue;
    if (handle || (u->taken == 0 && u->priority == priority)) return u;
  }
  return NULL;
}

static tt_code make(tt_device *d, void *handle, int priority, user_stream **out, tt_error *err) {
  user_stream *u = tt__mem_alloc(sizeof *u);
  if (!u) return tt__fail_memory(err, sizeof *u);
  *u = (user_stream){.next = streams, .device = d, .handle = handle, .priority = priority};
  tt_code code =
      handle ? d->ops->interop->adopt(d, handle, &u->stream, err) : d->ops->stream_new(d, priority, &u->stream, err);
  if (code != TT_OK) {
    tt__mem_free(u, sizeof *u);
    return code;
  }
  *out = streams = u;
  return TT_OK;
}

static tt_code take(tt_device *d, void *handle, int priority, tt_stream **out, tt_error *err) {
  *out = NULL;
  tt__lock(&lock);
  user_stream *u = find_kept(d, handle, priority);
  tt_code code = u ? TT_OK : make(d, handle, priority, &u, err);
  if (code == TT_OK) {
    u->taken++;
    *out = u->stream;
  }
  tt__unlock(&lock);
  return code;
}

tt_code tt__stream_take(tt_device *d, int priority, tt_stream **out, tt_error *err) {
  assert(out);
  return take(d, NULL, priority, out, err);
}

tt_code tt__stream_of(tt_device *d, void *handle, tt_stream **out, tt_error *err) {
  *out = NULL;
  if (!d->ops->interop || !handle)
    return tt__fail(err, TT_EVALUE, "%s takes no stream of another library%s", d->name, handle ? "" : " by handle 0");
  return take(d, handle, 0, out, err);
}

void tt__stream_give(tt_device *d, tt_stream *s) {
  assert(s);
  tt__lock(&lock);
  user_stream *u = streams;
  while (u && (u->device != d || u->stream != s)) u = u->next;
  bool last = u && --u->taken == 0 && u->handle;
  if (last) u->taken = -1; /* nobody finds it from here on */
  tt__unlock(&lock);
  if (!last) return;
  tt_error ignored;                     /* what failed is told where its results are looked at */
  (void)!d->ops->wait_all(d, &ignored); /* of the stream itself nothing is known: it may be gone already */
  d->ops->interop->turn(d, s, d->work);
}

void tt__stream_close(tt_device *d) {
  tt__lock(&lock);
  for (user_stream **at = &streams; *at;) {
    user_stream *u = *at;
    if (u->device != d) {
      at = &u->next;
      continue;
    }
    *at = u->next;
    d->ops->stream_free(d, u->stream);
    tt__mem_free(u, sizeof *u);
  }
  tt__unlock(&lock);
}
