/*
** What stores on a device leave as it is. A stencil's sweep reads one block of memory and writes another, and what it
** does not write, its border, is copied. The sweep after the next one finds that border in a block that died on the
** way, and writes there without a copy. A border has a number: all bytes on devices that bear it are the same outside
** of what the store writes. Private to run/, under the session lock.
*/
#ifndef TT_RUN_OUTOFCORE_DOUBLE_BUFFER_H
#define TT_RUN_OUTOFCORE_DOUBLE_BUFFER_H

#include "ir/device.h"
#include "run/memory.h"
#include "run/residency.h"

/* Elements of `item` bytes that a store writes into `size` bytes: the others are its border. */
typedef struct tt_stored {
  tt_runs runs;
  int64_t item;
  size_t size;
} tt_stored;

/* The number of what `stored` leaves of the base's bytes, which are on the device. */
TT_HIDDEN uint64_t tt__double_buffer_of(tt_device *d, tt_stream *s, const tt_buffer *base, const tt_stored *stored);
/* Memory that has this border already, the caller's from now on; NULL: there is none. */
TT_HIDDEN tt_dmem *tt__double_buffer_take(uint64_t border);
/* A block with this border dies, after work on `s`: true if it is kept for the next store. */
TT_HIDDEN bool tt__double_buffer_keep(uint64_t border, tt_device *d, tt_stream *s, tt_dmem *block);
/* Give back what is kept of the device; how many bytes that is. */
TT_HIDDEN size_t tt__double_buffer_drop(const tt_device *d);
/* The end of an evaluation: borders that no store met in the last two are forgotten. */
TT_HIDDEN void tt__double_buffer_age(void);

#endif
