/*
** Residency; see residency.h.
*/
#include "run/residency.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "device/cache_alloc.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/build.h"
#include "graph/session.h"
#include "graph/slab.h"
#include "run/outofcore/double_buffer.h"
#include "run/place.h"
#include "run/device/batch.h"

#define MOST_OWNERS 10

struct tt_replica {
  tt_replica *next;          /* of the same buffer, on another device */
  tt_replica *newer, *older; /* of all, by last use */
  tt_buffer *buffer;
  tt_device *device;
  tt_dmem *block; /* NULL: somebody else's memory */
  void *at;
  tt_stream *stream; /* of its last use */
  uint64_t used;     /* step of its last use */
  int busy;          /* copies under way that gave up the lock, and others who read it */
  uint32_t line;     /* of what it holds, for the list of owners */
  uint8_t dtype;
  bool crossed;     /* more than one stream used it */
  bool fleeting;    /* the bytes' owner may change them on the host: good for one evaluation */
  bool broken;      /* a launch that was to write it could not be asked for */
  uint64_t written; /* the turn of launches that writes it; 0: it holds what it should */
  uint64_t border; /* names what a store leaves of it (outofcore/double_buffer.h), until it is written again; 0: none */
};

static tt_replica *newest, *oldest;
static uint64_t step = 1;
static uint64_t evaluating; /* the step of the evaluation under way (there is one at a time); 0: none */
static int nfleeting;
static uint64_t turn = 1;    /* grows when what was gathered has been asked for */
static char broken_why[300]; /* of the last turn that failed */

/* ---- the list */

static void unlink_replica(tt_replica *r) {
  *(r->newer ? &r->newer->older : &newest) = r->older;
  *(r->older ? &r->older->newer : &oldest) = r->newer;
  r->newer = r->older = NULL;
}

static void link_newest(tt_replica *r) {
  r->older = newest;
  if (newest) newest->newer = r;
  newest = r;
  if (!oldest) oldest = r;
}

static tt_replica *find(const tt_device *d, const tt_buffer *b) {
  tt_replica *r = b->replicas;
  while (r && r->device != d) r = r->next;
  return r;
}

/* Does a later store find its border in the block of a value that dies within an evaluation? */
static bool is_kept(const tt_replica *r) {
  if (!r->border || !evaluating || !r->block || r->crossed || r->broken) return false;
  return tt__double_buffer_keep(r->border, r->device, r->stream, r->block);
}

static void destroy(tt_replica *r) {
  tt_replica **at = &r->buffer->replicas;
  while (*at != r) at = &(*at)->next;
  *at = r->next;
  unlink_replica(r);
  nfleeting -= r->fleeting;
  /* What says when another stream is done with it must come after the launches that use it. */
  if (r->crossed || !r->block) (void)!tt__batch_flush(NULL);
  bool kept = is_kept(r);
  if (r->block && !kept)
    tt__dmem_free(r->device, r->block);
  else if (!kept)
    r->device->ops->stream_wait_idle(r->device, r->stream, NULL); /* its owner may free it once we say so */
  tt__slab_free(r, sizeof *r);
}

uint64_t tt__resident_border(const tt_device *d, const tt_buffer *b) { return find(d, b)->border; }
void tt__resident_set_border(const tt_device *d, const tt_buffer *b, uint64_t border) {
  tt_replica *r = find(d, b);
  r->border = r->block ? border : 0; /* others may write what is theirs */
}

static void drop_replicas(tt_buffer *b) {
  assert(tt__session_is_held());
  while (b->replicas) destroy(b->replicas);
}

/* ---- launches that failed after their results were handed over */

void tt__resident_launched(const tt_device *d, tt_code code, const tt_error *why) {
  for (tt_replica *r = newest; r && code != TT_OK; r = r->older) r->broken |= r->device == d && r->written == turn;
  for (tt_replica *r = newest; r && code != TT_OK; r = r->older) r->border = 0; /* copies of it may be missing */
  if (code != TT_OK) snprintf(broken_why, sizeof broken_why, "%.250s", why->message);
  turn++;
}

static tt_code check_whole(const tt_replica *r, tt_error *err) {
  if (!r->broken) return TT_OK;
  return tt__fail(err, TT_EDEVICE, "these values were lost when a launch failed: %s", broken_why);
}

/* ---- order between streams */

/* Work asked of `s` from now on comes after what was asked of the replica's last stream until now. */
static tt_code follow(tt_replica *r, tt_stream *s, tt_error *err) {
  assert(r->buffer && r->device && s);
  r->used = step;
  unlink_replica(r);
  link_newest(r);
  if (r->stream == s) return TT_OK;
  TT_TRY(tt__batch_flush(err));
  tt_device *d = r->device;
  tt_event *e;
  TT_TRY(d->ops->event_new(d, false, &e, err));
  tt_code code = d->ops->event_record(d, e, r->stream, err);
  if (code == TT_OK) code = d->ops->stream_wait(d, s, e, err);
  d->ops->event_free(d, e);
  if (code != TT_OK) return code;
  r->stream = s;
  r->crossed = true;
  if (r->block) tt__dmem_used_on(d, r->block, s);
  return TT_OK;
}

/* ---- to the host */

static tt_code fetch(tt_buffer *b, tt_replica *r, tt_error *err) {
  assert(b->refs > 0 && r->buffer == b && tt__session_is_held());
  TT_TRY(tt__batch_flush(err));
  TT_TRY(check_whole(r, err));
  void *to = b->data ? b->data : tt__mem_alloc_data(b->size);
  if (!to) return tt__fail_memory(err, b->size);
  r->busy++;
  tt__buffer_retain(b);
  int depth = tt__session_suspend();
  tt_code code = tt__staging_out(r->device, r->stream, to, r->at, b->size, err);
  tt__session_resume(depth);
  r->busy--;
  TT_COUNT(syncs, 1);
  if (code == TT_OK && !b->data) {
    TT_COUNT(downloads, 1);
    TT_COUNT(download_bytes, b->size);
    b->data = to;
  } else if (b->data != to) {
    tt__mem_free_data(to, b->size);
  }
  tt__buffer_release(b);
  return code;
}

tt_code tt__resident_peek(tt_buffer *b, void *to, size_t size, tt_error *err) {
  assert(size <= b->size && (b->data || b->replicas));
  tt_replica *r = b->replicas;
  if (b->data) {
    memcpy(to, b->data, size);
    return TT_OK;
  }
  TT_TRY(tt__batch_flush(err));
  TT_TRY(check_whole(r, err));
  TT_COUNT(syncs, 1);
  return tt__staging_out(r->device, r->stream, to, r->at, size, err);
}

static tt_code to_host(tt_buffer *b, tt_error *err) {
  assert(b->replicas);
  return fetch(b, b->replicas, err);
}

static tt_code read_bytes(tt_buffer *b, size_t from, void *to, size_t size, tt_error *err) {
  assert(b->replicas && from + size <= b->size);
  tt_replica *r = b->replicas;
  TT_TRY(tt__batch_flush(err));
  TT_TRY(check_whole(r, err));
  r->busy++;
  tt__buffer_retain(b);
  int depth = tt__session_suspend();
  tt_code code = tt__staging_out(r->device, r->stream, to, (char *)r->at + from, size, err);
  tt__session_resume(depth);
  r->busy--;
  tt__buffer_release(b);
  TT_COUNT(syncs, 1);
  TT_COUNT(downloads, 1);
  TT_COUNT(download_bytes, size);
  return code;
}

/* ---- room */

/* Move what was used longest ago to the host until `need` bytes of the device are free. */
static bool make_room(tt_device *d, size_t need, void *ctx) {
  (void)ctx;
  if (tt__batch_flush(NULL) != TT_OK) return false;
  size_t freed = tt__double_buffer_drop(d);
  for (tt_replica *r = oldest, *next; r && freed < need; r = next) {
    next = r->newer;
    if (r->device != d || !r->block || r->busy || r->broken || r->used == step) continue;
    if (evaluating && r->used >= evaluating) continue; /* another thread's, which gave up the lock on its way */
    tt_buffer *b = r->buffer;
    if (!b->data && b->replicas->next == NULL) {
      void *to = tt__mem_alloc_data(b->size);
      if (!to) continue;
      if (tt__staging_out(d, r->stream, to, r->at, b->size, NULL) != TT_OK) {
        tt__mem_free_data(to, b->size);
        continue;
      }
      b->data = to;
    }
    TT_COUNT(evictions, 1);
    TT_COUNT(evicted_bytes, b->size);
    freed += b->size;
    r->border = 0; /* its memory is not to be kept */
    destroy(r);
  }
  return freed > 0;
}

/* The largest replicas of a device, largest first; how many. */
static int largest(const tt_device *d, const tt_replica **top) {
  int n = 0;
  for (const tt_replica *r = newest; r; r = r->older) {
    if (r->device != d) continue;
    int at = n;
    while (at > 0 && top[at - 1]->buffer->size < r->buffer->size) at--;
    if (at == MOST_OWNERS) continue;
    if (n < MOST_OWNERS) n++;
    for (int i = n - 1; i > at; i--) top[i] = top[i - 1];
    top[at] = r;
  }
  return n;
}

/* The message of a device that is full names who holds most. */
static tt_code fail_full(tt_device *d, size_t size, tt_error *err) {
  const tt_replica *top[MOST_OWNERS];
  const double mib = 1048576.0;
  tt_dmem_stats s = tt__dmem_stats(d);
  tt_str text = {0};
  tt__str_addf(&text, "Unable to allocate %.1f MiB on %s: %.1f MiB in use", (double)size / mib, d->name,
               (double)s.allocated / mib);
  if (s.limit > 0) tt__str_addf(&text, " of a limit of %.1f MiB", (double)s.limit / mib);
  int n = largest(d, top);
  for (int i = 0; i < n; i++) {
    char line[120] = "";
    tt__session_line_name(top[i]->line, line, sizeof line);
    tt__str_addf(&text, "%s %.1f MiB of %s%s%s", i ? "," : "; the largest:", (double)top[i]->buffer->size / mib,
                 tt__dtypes[top[i]->dtype].name, line[0] ? " from " : "", line);
  }
  tt_code code = tt__fail(err, TT_ENOMEM, "%.1000s", text.data && !text.failed ? text.data : "out of device memory");
  tt__str_free(&text);
  return code;
}

static tt_code take_block(tt_device *d, tt_stream *s, size_t size, tt_dmem **out, tt_error *err) {
  tt_code code = tt__dmem_alloc(d, s, size, out, err);
  return code == TT_ENOMEM ? fail_full(d, size, err) : code;
}

static void attach(tt_replica *r, tt_device *d, tt_stream *s, tt_buffer *b, tt_dmem *block) {
  assert(s && block && b->refs > 0);
  *r = (tt_replica){.next = b->replicas, .buffer = b, .device = d, .block = block, .stream = s, .used = step};
  r->at = tt__dmem_at(block);
  r->dtype = TT_U8;
  b->replicas = r;
  link_newest(r);
}

static tt_code add_replica(tt_device *d, tt_stream *s, tt_buffer *b, tt_replica **out, tt_error *err) {
  tt_dmem *block;
  tt_replica *r = tt__slab_alloc(sizeof *r);
  if (!r) return tt__fail_memory(err, sizeof *r);
  tt_code code = take_block(d, s, b->size ? b->size : 1, &block, err);
  if (code != TT_OK) {
    tt__slab_free(r, sizeof *r);
    return code;
  }
  attach(r, d, s, b, block);
  *out = r;
  return TT_OK;
}

/* What it is, for the list of owners. */
static void label_replica(tt_replica *r, const tt_node *label) {
  r->line = label ? label->line : 0;
  r->dtype = label ? label->dtype : TT_U8;
}

tt_code tt__resident_adopt(tt_device *d, tt_stream *s, tt_dmem *block, size_t size, const tt_node *label,
                           tt_buffer **out, tt_error *err) {
  assert(d && s && block);
  tt_replica *r = tt__slab_alloc(sizeof *r);
  *out = r ? tt__buffer_new_elsewhere(size, err) : NULL;
  if (!*out) {
    if (!r) tt__fail_memory(err, sizeof *r);
    tt__slab_free(r, sizeof *r);
    tt__dmem_free(d, block);
    return TT_ENOMEM;
  }
  attach(r, d, s, *out, block);
  label_replica(r, label);
  return TT_OK;
}

/* ---- to a device */

/* From another device of the same kind. */
static tt_code fill_from_peer(tt_replica *r, tt_replica *from, tt_error *err) {
  assert(from != r && from->buffer == r->buffer && from->device != r->device);
  tt_device *d = r->device;
  TT_TRY(check_whole(from, err));
  TT_TRY(from->device->ops->stream_wait_idle(from->device, from->stream, err));
  TT_COUNT(peer_copies, 1);
  TT_TRY(d->ops->copy_peer(d, r->stream, r->at, from->device, from->at, r->buffer->size, err));
  return d->ops->stream_wait_idle(d, r->stream, err); /* the other device may reuse its memory from now on */
}

static tt_code peer_replica(tt_device *d, tt_stream *s, tt_buffer *b, tt_replica **out, tt_error *err) {
  TT_TRY(add_replica(d, s, b, out, err));
  tt_code code = fill_from_peer(*out, (*out)->next, err);
  if (code != TT_OK) destroy(*out);
  return code;
}

/* The lock was given up while the bytes came: who wanted a replica meanwhile made its own, and the first that is there
 * stays. */
tt_code tt__resident_arrived(tt_device *d, tt_stream *s, tt_buffer *b, tt_dmem *block, tt_error *err) {
  assert(block && tt__session_is_held());
  tt_replica *known = find(d, b), *r = known ? NULL : tt__slab_alloc(sizeof *r);
  TT_COUNT(uploads, b->size != 0);
  TT_COUNT(upload_bytes, b->size);
  if (r) {
    attach(r, d, s, b, block);
    r->fleeting = b->drop && b->data && !b->readonly;
    nfleeting += r->fleeting;
    return TT_OK;
  }
  tt__dmem_free(d, block);
  return known ? follow(known, s, err) : tt__fail_memory(err, sizeof *r);
}

static tt_code upload(tt_device *d, tt_stream *s, tt_buffer *b, tt_replica **out, tt_error *err) {
  tt_dmem *block;
  TT_TRY(take_block(d, s, b->size ? b->size : 1, &block, err));
  tt__buffer_retain(b);
  int depth = tt__session_suspend();
  tt_code code = b->size ? tt__staging_in(d, s, tt__dmem_at(block), b->data, b->size, err) : TT_OK;
  tt__session_resume(depth);
  if (code == TT_OK)
    code = tt__resident_arrived(d, s, b, block, err);
  else
    tt__dmem_free(d, block);
  *out = code == TT_OK ? find(d, b) : NULL;
  tt__buffer_release(b);
  return code;
}

tt_code tt__resident(tt_device *d, tt_stream *s, tt_buffer *b, void **out, tt_error *err) {
  assert(tt__session_is_held() && b->refs > 0);
  tt_replica *r = find(d, b);
  if (r) {
    TT_TRY(check_whole(r, err));
    *out = r->at;
    return follow(r, s, err);
  }
  TT_TRY(tt__batch_flush(err));
  tt_replica *from = b->replicas;
  tt_code code;
  if (!b->data && from && from->device->ops == d->ops) {
    code = peer_replica(d, s, b, &r, err);
  } else {
    if (!b->data && b->size) TT_TRY(fetch(b, from, err));
    code = upload(d, s, b, &r, err);
  }
  if (code == TT_OK) *out = r->at;
  return code;
}

tt_code tt__resident_new(tt_device *d, tt_stream *s, size_t size, const tt_node *label, tt_buffer **out, void **at,
                         tt_error *err) {
  assert(tt__session_is_held() && d && s);
  tt_replica *r;
  tt_buffer *b = tt__buffer_new_elsewhere(size, err);
  if (!b) return TT_ENOMEM;
  tt_code code = add_replica(d, s, b, &r, err);
  if (code != TT_OK) {
    tt__buffer_release(b);
    return code;
  }
  label_replica(r, label);
  *out = b;
  *at = r->at;
  return TT_OK;
}

void tt__resident_written(tt_device *d, tt_buffer *b) {
  assert(find(d, b));
  b->ranged = false;
  tt_replica *mine = find(d, b);
  mine->written = turn;
  mine->border = 0;
  for (tt_replica *r = b->replicas, *next; r; r = next) {
    next = r->next;
    if (r != mine) destroy(r);
  }
  if (!b->data) return;
  assert(!b->drop);
  tt__mem_free_data(b->data, b->size);
  b->data = NULL;
}

bool tt__is_resident(int id, const tt_buffer *b) {
  assert(id >= 0);
  if (id == 0) return b->data != NULL || b->size == 0;
  for (const tt_replica *r = b->replicas; r; r = r->next)
    if (r->device->id == id) return true;
  return b->size == 0;
}

tt_device *tt__resident_first(const tt_buffer *b) { return b->replicas ? b->replicas->device : NULL; }

/* ---- what graph/ asks for */

/* What is put on a device that has no room for it, now or ever, stays on the host, as if it had been moved out at once:
 * work that needs it takes what room there is (sched/cut_kernel.h). */
static tt_code count_staying(size_t size) {
  TT_COUNT(evictions, 1);
  TT_COUNT(evicted_bytes, size);
  return TT_OK;
}

static tt_code to_device(tt_buffer *b, int id, tt_error *err) {
  tt_device *d;
  void *at;
  TT_TRY(tt__device_open(id, &d, err));
  step++;
  tt_error full = {0};
  tt_code code = tt__resident(d, tt__stream_current(d), b, &at, &full);
  if (code == TT_ENOMEM && b->data && !b->elsewhere) return count_staying(b->size);
  if (code != TT_OK && err) *err = full;
  return code;
}

/* A copy on the host, for a device without room. */
static tt_code keep_on_host(const void *data, size_t size, const tt_error *full, tt_buffer **out, tt_error *err) {
  bool fits = size < (size_t)tt__ram_bytes() / 2; /* the system would rather take memory that it has not than say no */
  *out = fits ? tt__buffer_new(size, NULL) : NULL;
  if (!*out) {
    if (err) *err = *full;
    return TT_ENOMEM;
  }
  int depth = tt__session_suspend();
  memcpy((*out)->data, data, size);
  tt__session_resume(depth);
  return count_staying(size);
}

/* Straight from the caller's memory, without a copy of ours in between. */
static tt_code from_host(const void *data, size_t size, int id, tt_buffer **out, tt_error *err) {
  tt_device *d;
  void *at;
  TT_TRY(tt__device_open(id, &d, err));
  step++;
  tt_error full = {0};
  tt_code code = tt__resident_new(d, tt__stream_current(d), size, NULL, out, &at, &full);
  if (code == TT_ENOMEM) return keep_on_host(data, size, &full, out, err);
  if (code != TT_OK && err) *err = full;
  if (code != TT_OK) return code;
  (void)!tt__batch_flush(NULL); /* launches that wait may use what the memory held before */
  (*out)->replicas->busy++;
  tt_stream *s = (*out)->replicas->stream;
  int depth = tt__session_suspend();
  code = size ? tt__staging_in(d, s, at, data, size, err) : TT_OK;
  tt__session_resume(depth);
  (*out)->replicas->busy--;
  TT_COUNT(uploads, 1);
  TT_COUNT(upload_bytes, size);
  if (code == TT_OK) return TT_OK;
  tt__buffer_release(*out);
  *out = NULL;
  return code;
}

static int where(const tt_buffer *b) { return b->replicas ? b->replicas->device->id : 0; }

static tt_code adopt(void *p, size_t size, int id, bool readonly, void (*drop)(void *ctx), void *ctx, tt_buffer **out,
                     tt_error *err) {
  tt_device *d;
  *out = NULL;
  TT_TRY(tt__device_open(id, &d, err));
  tt_replica *r = tt__slab_alloc(sizeof *r);
  if (!r) return tt__fail_memory(err, sizeof *r);
  tt_buffer *b = tt__buffer_adopt(NULL, size, readonly, drop, ctx, err);
  if (!b) {
    tt__slab_free(r, sizeof *r);
    return TT_ENOMEM;
  }
  *r = (tt_replica){.buffer = b, .device = d, .at = p, .stream = tt__stream_current(d), .used = step, .dtype = TT_U8};
  b->replicas = r;
  b->elsewhere = true;
  tt__batch_hurry();
  link_newest(r);
  *out = b;
  return TT_OK;
}

void tt__resident_keep(const tt_device *d, tt_buffer *b) { find(d, b)->busy++; }
void tt__resident_let_go(const tt_device *d, tt_buffer *b) { find(d, b)->busy--; }

static void flush(void) {
  tt_error ignored; /* a launch that cannot be asked for fails again where its results are looked at */
  (void)!tt__batch_flush(&ignored);
}

__attribute__((constructor)) static void register_residency(void) {
  static const tt_residency residency = {to_host, read_bytes,    to_device,        from_host,       adopt,
                                         where,   drop_replicas, tt__place_expect, tt__place_forget};
  tt__session_residency = &residency;
  tt__dmem_set_pressure(make_room, NULL);
  tt__dmem_set_flush(flush);
}

tt_code tt__resident_temp(tt_device *d, tt_stream *s, size_t size, tt_dmem **out, tt_error *err) {
  return take_block(d, s, size ? size : 1, out, err);
}

void tt__resident_step(bool of_evaluation) {
  step++;
  if (of_evaluation) evaluating = step;
}

void tt__resident_end(void) {
  evaluating = 0;
  tt__double_buffer_age();
  for (tt_replica *r = newest, *next; r && nfleeting; r = next) {
    next = r->older;
    if (r->fleeting && !r->busy) destroy(r);
  }
}
