/* The queues of the null device, and the random order in which they run. Knows nothing of how commands got there. */
#include "device/null/null_int.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "device/device.h"

/* ---- queues */

tt_null_command *tt__null_command(tt_null_kind kind, size_t behind) {
  tt_null_command *c = tt__mem_zalloc(sizeof *c + behind);
  if (!c) return NULL;
  c->kind = kind;
  c->bytes = sizeof *c + behind;
  return c;
}

void tt__null_push(tt_null_queue *q, tt_null_command *c) {
  assert((q->first == NULL) == (q->last == NULL));
  c->next = NULL;
  *(q->last ? &q->last->next : &q->first) = c;
  q->last = c;
  q->n++;
}

void tt__null_forget(tt_null *n, tt_event *e) {
  assert(e->users >= 0);
  if (!e->is_freed || e->users > 0) return;
  tt_event **at = &n->events;
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  tt__mem_free(e, sizeof *e);
}

static void pop(tt_null *n, tt_null_queue *q) {
  tt_null_command *c = q->first;
  q->first = c->next;
  if (!q->first) q->last = NULL;
  q->n--;
  if (c->event) {
    c->event->users--;
    tt__null_forget(n, c->event);
  }
  tt__mem_free(c, c->bytes);
}

void tt__null_drop(tt_null *n, tt_null_queue *q) {
  while (q->first) pop(n, q);
}

/* ---- chance */

static uint64_t draw(tt_null *n, uint64_t below) {
  n->random ^= n->random << 13;
  n->random ^= n->random >> 7;
  n->random ^= n->random << 17;
  return (n->random >> 11) % below;
}

/* ---- running */

static bool can_run(const tt_stream *s) {
  const tt_null_command *c = s->queue.first;
  return c && (c->kind != TT_NULL_WAIT || c->event->done >= c->turn);
}

static void run_launch(const tt_null_command *c) {
  if (c->args_size < sizeof(tt_null_launch)) return;
  const tt_null_launch *l = (const void *)(c + 1);
  if (l->run) l->run(l);
}

/* As a driver: it knows that a launch failed, not which. */
static tt_code lose(tt_device *d, tt_error *err) {
  char suspects[400];
  tt__launch_log_suspects(d, suspects, sizeof suspects);
  return tt__device_lose(d, err, "%s is lost: a launch failed: told to fail%s", d->name, suspects);
}

/* The first command of a stream that can run. */
static tt_code run_one(tt_device *d, tt_stream *s, tt_error *err) {
  tt_null *n = tt__null_of(d);
  tt_null_command *c = s->queue.first;
  double start = s->us > c->asked_us ? s->us : c->asked_us;
  if (c->kind == TT_NULL_WAIT && c->event->us > start) start = c->event->us;
  s->us = start + c->us;
  switch (c->kind) {
    case TT_NULL_FILL:
      memset(c->to, c->byte, c->size);
      break;
    case TT_NULL_COPY:
      memmove(c->to, c->from, c->size);
      break;
    case TT_NULL_LAUNCH:
      if (c->is_fatal) return lose(d, err);
      run_launch(c);
      break;
    case TT_NULL_RECORD:
      if (c->turn > c->event->done) c->event->done = c->turn;
      c->event->us = s->us;
      break;
    case TT_NULL_WAIT:
      break;
  }
  pop(n, &s->queue);
  return TT_OK;
}

/* A stream that can run, by chance; NULL when there is none. */
static tt_stream *any_stream(tt_null *n) {
  uint64_t can = 0;
  for (tt_stream *s = n->streams; s; s = s->next) can += can_run(s);
  if (can == 0) return NULL;
  uint64_t pick = draw(n, can);
  for (tt_stream *s = n->streams; s; s = s->next)
    if (can_run(s) && pick-- == 0) return s;
  return NULL;
}

/* The stream that must go on so that `s` can: itself, or the one whose event it waits for, and so on. NULL: a ring. */
static tt_stream *needed_stream(tt_null *n, tt_stream *s) {
  int64_t links = 0;
  for (const tt_stream *i = n->streams; i; i = i->next) links++;
  while (s && s->queue.first && !can_run(s) && links-- > 0) s = s->queue.first->event->stream;
  return s && can_run(s) ? s : NULL;
}

/* `want`: the stream that must go on; it is alone half of the time (`is_lazy`). */
static tt_code advance(tt_device *d, tt_stream *want, bool is_lazy, tt_error *err) {
  tt_null *n = tt__null_of(d);
  tt_stream *s = is_lazy && want ? needed_stream(n, want) : NULL;
  if (!s) s = any_stream(n);
  if (!s) return tt__device_lose(d, err, "%s is lost: its streams wait for each other", d->name);
  return run_one(d, s, err);
}

static void catch_up(tt_null *n, double us) {
  if (us > n->us) n->us = us;
}

tt_code tt__null_run_stream(tt_device *d, tt_stream *s, tt_error *err) {
  tt_null *n = tt__null_of(d);
  bool is_lazy = draw(n, 2);
  while (s->queue.first) TT_TRY(advance(d, s, is_lazy, err));
  tt__launch_log_done(&s->log, tt__launch_log_mark(&s->log));
  catch_up(n, s->us);
  return TT_OK;
}

tt_code tt__null_run_event(tt_device *d, tt_event *e, int64_t turn, tt_error *err) {
  assert(turn >= 0);
  tt_null *n = tt__null_of(d);
  bool is_lazy = draw(n, 2);
  while (e->done < turn) TT_TRY(advance(d, e->stream, is_lazy, err));
  if (e->stream && turn == e->asked) tt__launch_log_done(&e->stream->log, e->mark);
  catch_up(n, e->us);
  return TT_OK;
}

tt_code tt__null_run_all(tt_device *d, tt_error *err) {
  tt_null *n = tt__null_of(d);
  for (tt_stream *s = n->streams; s; s = s->next) TT_TRY(tt__null_run_stream(d, s, err));
  return TT_OK;
}

tt_code tt__null_run_some(tt_device *d, tt_error *err) {
  tt_null *n = tt__null_of(d);
  for (uint64_t i = draw(n, 4); i > 0; i--) {
    tt_stream *s = any_stream(n);
    if (!s) return TT_OK;
    TT_TRY(run_one(d, s, err));
  }
  return TT_OK;
}
