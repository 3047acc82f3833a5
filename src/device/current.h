/*
** The stream that a thread's work on a device is asked of: the device's own, unless the user chose another.
*/
#ifndef TT_DEVICE_CURRENT_H
#define TT_DEVICE_CURRENT_H

#include "ir/device.h"

/* The calling thread's stream on a device; d->work unless it chose one. */
TT_HIDDEN tt_stream *tt__stream_current(const tt_device *d);
/* Choose (NULL or d->work: none). Returns what tt__stream_current said before. */
TT_HIDDEN tt_stream *tt__stream_use(const tt_device *d, tt_stream *s);

#endif
