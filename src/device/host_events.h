/*
** Streams and events of the CPU, for programs that ask it as they ask devices: a stream is a name, an event a moment.
*/
#ifndef TT_DEVICE_HOST_EVENTS_H
#define TT_DEVICE_HOST_EVENTS_H

#include "ir/device.h"

TT_HIDDEN tt_code tt__host_stream_new(tt_stream **out, tt_error *err);
TT_HIDDEN void tt__host_stream_free(tt_stream *s);
TT_HIDDEN tt_code tt__host_event_new(tt_event **out, tt_error *err);
TT_HIDDEN void tt__host_event_free(tt_event *e);
TT_HIDDEN void tt__host_event_record(tt_event *e);
/* TT_EVALUE where one of them was never recorded. */
TT_HIDDEN tt_code tt__host_event_ms(const tt_event *from, const tt_event *to, double *ms, tt_error *err);

#endif
