/*
** Memory of devices shared with other libraries: shown to them while it stays where it is, or theirs taken into a
** buffer. Order between their streams and ours is made by events, both ways.
*/
#ifndef TT_RUN_DEVICE_SHARE_H
#define TT_RUN_DEVICE_SHARE_H

#include "ir/device.h"
#include "ir/node.h"
#include "tutti/stream.h"

/* See tt_peek_on; session lock held. *hold is NULL for an array without elements. */
TT_HIDDEN tt_code tt__share_peek(tt_array *a, tt_device *d, void *reader, const void **data, void **hold,
                                 tt_error *err);
TT_HIDDEN void tt__share_unpeek(void *hold);

/* See tt_detach; session lock held. */
TT_HIDDEN tt_code tt__share_detach(tt_array *a, tt_array **out, tt_error *err);

/* Our work on `d`, of this thread, begins after what was asked of the stream `writer` (a vendor's handle) until now. */
TT_HIDDEN tt_code tt__share_after(tt_device *d, void *writer, tt_error *err);

#endif
