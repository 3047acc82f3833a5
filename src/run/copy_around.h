/*
** What a store leaves of the value it writes over, on a device. Private to run/.
*/
#ifndef TT_RUN_COPY_AROUND_H
#define TT_RUN_COPY_AROUND_H

#include "ir/device.h"
#include "run/memory.h"

/* Copy `total` bytes but for the runs (elements of `item` bytes) from one block of device memory to another. */
TT_HIDDEN tt_code tt__copy_around(tt_device *d, tt_stream *s, const tt_runs *v, int64_t item, int64_t total, char *to,
                                  const char *from, tt_error *err);

#endif
