/*
** The public functions of tutti/stream.h. On the CPU a stream is a name and an event a moment.
*/
#include "tutti/stream.h"

#include "launch/raw.h"
#include "base/mem.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/host_events.h"
#include "device/staging.h"
#include "graph/call.h"
#include "graph/session.h"
#include "run/exec_call.h"
#include "run/device/batch.h"

/* Kernels that were launched before what is asked for now are asked for before it. */
static tt_code open_in_order(int device, tt_device **d, tt_error *err) {
  TT_TRY(tt__device_open(device, d, err));
  return tt__calls_flush(err);
}

/* ---- streams */

tt_code tt_stream_new(int device, int priority, tt_stream **out, tt_error *err) {
  tt_device *d;
  *out = NULL;
  TT_TRY(tt__device_open(device, &d, err));
  return d ? tt__stream_take(d, priority, out, err) : tt__host_stream_new(out, err);
}

tt_code tt_stream_adopt(int device, void *handle, tt_stream **out, tt_error *err) {
  tt_device *d;
  *out = NULL;
  TT_TRY(tt__device_open(device, &d, err));
  if (!d) return tt__fail(err, TT_EVALUE, "the CPU has no streams of other libraries");
  return tt__stream_of(d, handle, out, err);
}

void tt_stream_free(int device, tt_stream *s) {
  if (!s) return;
  tt_device *d = tt__device_peek(device);
  if (device == TT_CPU) tt__host_stream_free(s);
  if (!d || s == d->work) return;
  tt_error ignored; /* launches that cannot be asked for fail again */
  (void)!tt__calls_flush(&ignored);
  tt__stream_give(d, s);
}

void *tt_stream_handle(int device, tt_stream *s) {
  tt_device *d = NULL;
  if (tt__device_open(device, &d, NULL) != TT_OK || !d || !d->ops->interop) return NULL;
  tt__session_lock();
  tt__batch_hurry();
  (void)!tt__batch_flush(NULL);
  tt__session_unlock();
  return d->ops->interop->handle(d, s ? s : d->work);
}

tt_stream *tt_stream_use(int device, tt_stream *s) {
  tt_device *d = NULL;
  if (tt__device_open(device, &d, NULL) != TT_OK || !d) return NULL;
  tt_stream *before = tt__stream_use(d, s);
  return before == d->work ? NULL : before;
}

tt_stream *tt_stream_current(int device) {
  tt_device *d = tt__device_peek(device);
  tt_stream *s = d ? tt__stream_current(d) : NULL;
  return d && s == d->work ? NULL : s;
}

tt_code tt_stream_done(int device, tt_stream *s, bool *done, tt_error *err) {
  tt_device *d;
  *done = true;
  TT_TRY(open_in_order(device, &d, err));
  return d ? d->ops->stream_done(d, s ? s : d->work, done, err) : TT_OK;
}

tt_code tt_stream_synchronize(int device, tt_stream *s, tt_error *err) {
  tt_device *d;
  TT_TRY(open_in_order(device, &d, err));
  if (d) TT_TRY(d->ops->stream_wait_idle(d, s ? s : d->work, err));
  return tt__call_late(err);
}

tt_code tt_stream_wait(int device, tt_stream *s, tt_event *e, tt_error *err) {
  tt_device *d;
  TT_TRY(open_in_order(device, &d, err));
  return d ? d->ops->stream_wait(d, s ? s : d->work, e, err) : TT_OK;
}

/* ---- events */

tt_code tt_event_new(int device, bool timed, tt_event **out, tt_error *err) {
  tt_device *d;
  *out = NULL;
  TT_TRY(tt__device_open(device, &d, err));
  return d ? d->ops->event_new(d, timed, out, err) : tt__host_event_new(out, err);
}

void tt_event_free(int device, tt_event *e) {
  if (!e) return;
  tt_device *d = tt__device_peek(device);
  if (device == TT_CPU) tt__host_event_free(e);
  if (d) d->ops->event_free(d, e);
}

tt_code tt_event_record(int device, tt_event *e, tt_stream *s, tt_error *err) {
  tt_device *d;
  TT_TRY(open_in_order(device, &d, err));
  if (d) return d->ops->event_record(d, e, s ? s : d->work, err);
  tt__host_event_record(e);
  return TT_OK;
}

tt_code tt_event_done(int device, tt_event *e, bool *done, tt_error *err) {
  tt_device *d;
  *done = true;
  TT_TRY(tt__device_open(device, &d, err));
  return d ? d->ops->event_done(d, e, done, err) : TT_OK;
}

tt_code tt_event_wait(int device, tt_event *e, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  return d ? d->ops->event_wait(d, e, err) : TT_OK;
}

tt_code tt_event_ms(int device, tt_event *from, tt_event *to, double *ms, tt_error *err) {
  tt_device *d;
  *ms = 0;
  TT_TRY(tt__device_open(device, &d, err));
  return d ? d->ops->event_ms(d, from, to, ms, err) : tt__host_event_ms(from, to, ms, err);
}

/* ---- pinned memory */

tt_code tt_pinned_new(int device, size_t size, void **out, tt_error *err) {
  tt_device *d;
  *out = NULL;
  TT_TRY(tt__device_open(device, &d, err));
  if (d) return tt__pinned_alloc(d, size, out, err);
  *out = tt__mem_alloc_data(size);
  return *out || size == 0 ? TT_OK : tt__fail_memory(err, size);
}

void tt_pinned_free(int device, void *p, size_t size) {
  if (!p) return;
  tt_device *d = tt__device_peek(device);
  if (d) tt__raw_settle(d);
  if (d) tt__pinned_free(d, p, size);
  if (device == TT_CPU) tt__mem_free_data(p, size);
}
