/* Showing memory of devices; see share.h. */
#include "run/device/share.h"

#include <string.h>

#include "base/mem.h"
#include "device/streams.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/session.h"
#include "run/device/batch.h"
#include "run/residency.h"

typedef struct shown {
  tt_device *device;
  tt_buffer *buffer;
} shown;

/* What is asked of `later` from now on begins after what was asked of `first` until now. */
static tt_code order(tt_device *d, tt_stream *first, tt_stream *later, tt_error *err) {
  tt_event *e;
  TT_TRY(d->ops->event_new(d, false, &e, err));
  tt_code code = d->ops->event_record(d, e, first, err);
  if (code == TT_OK) code = d->ops->stream_wait(d, later, e, err);
  d->ops->event_free(d, e);
  return code;
}

/* A device without others' streams has nobody on them: waiting serves them all. */
static tt_code before_theirs(tt_device *d, void *reader, tt_error *err) {
  tt_stream *ours = tt__stream_current(d), *theirs;
  if (reader == TT_NO_STREAM) return TT_OK;
  if (!d->ops->interop) return d->ops->stream_wait_idle(d, ours, err);
  if (reader == d->ops->interop->handle(d, ours)) return TT_OK;
  TT_TRY(d->ops->interop->adopt(d, reader, &theirs, err));
  tt_code code = order(d, ours, theirs, err);
  d->ops->stream_free(d, theirs);
  return code;
}

tt_code tt__share_after(tt_device *d, void *writer, tt_error *err) {
  tt_stream *ours = tt__stream_current(d), *theirs;
  if (writer == TT_NO_STREAM || !d->ops->interop || writer == d->ops->interop->handle(d, ours)) return TT_OK;
  TT_TRY(d->ops->interop->adopt(d, writer, &theirs, err));
  tt_code code = order(d, theirs, ours, err);
  d->ops->stream_free(d, theirs);
  return code;
}

tt_code tt__share_peek(tt_array *a, tt_device *d, void *reader, const void **data, void **hold, tt_error *err) {
  *data = NULL;
  *hold = NULL;
  if (a->size == 0) return TT_OK;
  void *at = NULL;
  shown *s = tt__mem_alloc(sizeof *s);
  if (!s) return tt__fail_memory(err, sizeof *s);
  tt_node *n = tt__node_retain(a->storage->node);
  tt_code code = tt__evaluate(&n, 1, err);
  tt_buffer *b = code == TT_OK ? n->attr.buf : NULL;
  if (code == TT_OK) {
    tt__resident_step(false);
    code = tt__resident(d, tt__stream_current(d), b, &at, err);
  }
  tt__batch_hurry();
  if (code == TT_OK) code = tt__batch_flush(err);
  if (code == TT_OK) code = before_theirs(d, reader, err);
  if (code == TT_OK) {
    tt__resident_keep(d, b);
    *s = (shown){d, tt__buffer_retain(b)};
    *data = (char *)at + a->off * (int64_t)tt__dtype_size((tt_dtype)a->dtype);
    *hold = s;
  } else {
    tt__mem_free(s, sizeof *s);
  }
  tt__node_release(n);
  return code;
}

void tt__share_unpeek(void *hold) {
  shown *s = hold;
  tt_error ignored; /* a lost device: nothing is left to be ordered */
  (void)!tt__share_after(s->device, TT_CUDA_LEGACY_STREAM, &ignored);
  tt__resident_let_go(s->device, s->buffer);
  tt__buffer_release(s->buffer);
  tt__mem_free(s, sizeof *s);
}

/* The same bytes in a new buffer: on `d`, or on the host where that is NULL. */
static tt_code copy_bytes(tt_device *d, tt_buffer *b, tt_buffer **out, tt_error *err) {
  void *from, *to;
  if (!d) {
    TT_TRY(tt__buffer_host(b, err));
    if (!(*out = tt__buffer_new(b->size, err))) return TT_ENOMEM;
    if (b->size) memcpy((*out)->data, b->data, b->size);
    return TT_OK;
  }
  tt_stream *s = tt__stream_current(d);
  tt__resident_step(false);
  TT_TRY(tt__resident(d, s, b, &from, err));
  TT_TRY(tt__resident_new(d, s, b->size, NULL, out, &to, err));
  tt_code code = tt__batch_flush(err);
  if (code == TT_OK && b->size) code = d->ops->copy_within(d, s, to, from, b->size, err);
  if (code != TT_OK) tt__buffer_release(*out);
  return code;
}

tt_code tt__share_detach(tt_array *a, tt_array **out, tt_error *err) {
  tt_device *d;
  tt_buffer *b;
  *out = NULL;
  TT_TRY(tt__device_open(tt__array_device(a), &d, err));
  tt_node *n = tt__node_retain(a->storage->node), *copy = NULL;
  tt_array *whole = NULL;
  tt_code code = tt__evaluate(&n, 1, err);
  if (code == TT_OK) code = copy_bytes(d, n->attr.buf, &b, err);
  if (code != TT_OK) goto done;
  copy = tt__node_new(TT_N_BUFFER, (tt_dtype)n->dtype, n->rank, n->dim, 0, err);
  if (copy) {
    copy->attr.buf = b;
    copy->device = n->device;
    whole = tt__array_of(copy, err);
  } else {
    tt__buffer_release(b);
  }
  *out = whole ? tt__array_view(whole, a->rank, a->dim, tt__array_step(a), a->off, err) : NULL;
  if (!*out) code = TT_ENOMEM;
done:
  tt__array_release(whole);
  tt__node_release(copy);
  tt__node_release(n);
  return code;
}
