/*
** Users' streams, and which one a thread's work on a device is asked of: the device's own, unless it chose another.
** Thread-safe.
*/
#ifndef TT_DEVICE_STREAMS_H
#define TT_DEVICE_STREAMS_H

#include "ir/device.h"

/* The calling thread's stream on a device; d->work unless it chose one. */
TT_HIDDEN tt_stream *tt__stream_current(const tt_device *d);
/* Choose (NULL or d->work: none). Returns what tt__stream_current said before. */
TT_HIDDEN tt_stream *tt__stream_use(const tt_device *d, tt_stream *s);

/*
** Streams for users. They are never destroyed while the device is open, for memory and events refer to the streams that
** used them: ours are kept and handed out again, as they are; another library's, when it was given back as often as it
** was taken, is waited for and means the device's own stream afterwards.
*/
TT_HIDDEN tt_code tt__stream_take(tt_device *d, int priority, tt_stream **out, tt_error *err);
/* Ours for a vendor's handle. */
TT_HIDDEN tt_code tt__stream_of(tt_device *d, void *handle, tt_stream **out, tt_error *err);
TT_HIDDEN void tt__stream_give(tt_device *d, tt_stream *s);
/* (registry) The device is being closed: destroy them. */
TT_HIDDEN void tt__stream_close(tt_device *d);

#endif
